//! How a load can be borne, in words.

use crate::format;
use crate::text::{
    BAD, BOLD, CARE, DIM, GOOD, bounded, columns, padded, paint, paragraph, wrapped,
};
use model::{Advice, Load, MeasuredProgram, Refusal, Simulated, Staffing, Unit};

/// What stands between two columns.
const GAP: &str = "  ";

/// See [`crate::advice_text`].
pub(crate) fn text(advice: &Advice, width: usize) -> String {
    let width = bounded(width);
    let mut out = paragraph(&stated(&advice.load), "", "", width);
    out.push('\n');
    out.push_str(&answer(advice, width));
    for program in &advice.measured {
        out.push_str(&paragraph(&measured(program, &advice.load), "", "", width));
    }
    if !advice.models.is_empty() {
        out.push('\n');
        out.push_str(&table(advice, width));
    }
    for one in &advice.models {
        if let Some(refusal) = &one.refusal {
            let (mark, why) = (paint(BAD, "✗"), why_not(refusal, one));
            let text = paragraph(&format!("{}: {why}", name(&one.model)), "", "  ", width - 2);
            out.push_str(&format!("{mark} {text}"));
        }
    }
    out.push_str(&evidence(advice, width));
    for gap in &advice.gaps {
        let measure = if gap.measure.is_empty() {
            String::new()
        } else {
            format!("; measure it by `{}`", gap.measure)
        };
        let text = paragraph(&format!("not known: {}{measure}", gap.what), "", "  ", width - 2);
        out.push_str(&format!("{} {text}", paint(CARE, "!")));
    }
    for line in wrapped(&assumptions(advice), width) {
        out.push_str(&format!("{}\n", paint(DIM, &line)));
    }
    out
}

fn time(ns: f64) -> String {
    format::value(ns, &Unit::Ns)
}

fn bytes(bytes: f64) -> String {
    format::value(bytes, &Unit::Bytes)
}

fn rate(per_s: f64) -> String {
    format!("{} requests per second", plain(per_s))
}

/// A number with three digits, as people write it.
fn plain(x: f64) -> String {
    if x >= 100.0 { format!("{x:.0}") } else { format::value(x, &Unit::Count) }
}

fn percent(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

/// The load, in a sentence.
fn stated(load: &Load) -> String {
    let mut text = match (load.rate_per_s, load.connections) {
        (Some(per_s), _) => rate(per_s),
        (None, connections) => {
            let count = connections.unwrap_or(0);
            let think = if load.think_ns > 0.0 {
                format!(" {} after its answer", time(load.think_ns))
            } else {
                " as soon as it is answered".into()
            };
            let s = if count == 1 { "" } else { "s" };
            format!("{count} connection{s}, each of which asks again{think}")
        }
    };
    text.push_str(&format!(
        "; each keeps a worker busy for {}, {} of it on a CPU",
        time(load.service_ns),
        percent(load.cpu_share)
    ));
    let whose = if load.cpus_stated { "as stated" } else { "of the session's machine" };
    let s = if load.cpus == 1 { "" } else { "s" };
    let each = match load.machines {
        Some(1) => " on one machine".into(),
        Some(machines) => format!(" on each of {machines} machines"),
        None => String::new(),
    };
    text.push_str(&format!("; {} CPU{s}{each} ({whose})", load.cpus));
    if let Some(target) = load.target_p95_ns {
        text.push_str(&format!("; 95 % of answers within {}", time(target)));
    }
    if let Some(memory) = load.memory_bytes {
        text.push_str(&format!("; at most {} for workers", bytes(memory)));
    }
    if load.worker_memory_bytes > 0.0 {
        text.push_str(&format!(", of which each allocates {}", bytes(load.worker_memory_bytes)));
    }
    text.push('.');
    text
}

fn name(model: &str) -> &str {
    match model {
        "pool" => "a pool of threads",
        "thread" => "a thread for each request",
        "process" => "a process for each request",
        "event_loop" => "an event loop",
        other => other,
    }
}

/// "a pool of 14 threads".
fn with_number(one: &Staffing, closed: bool) -> String {
    let count = one.workers.unwrap_or(0);
    let for_each = if closed { "connection" } else { "request" };
    match one.model.as_str() {
        "pool" if count == 1 => "a pool of one thread".into(),
        "pool" => format!("a pool of {count} threads"),
        "thread" if closed => format!("a thread for each connection, {count} in all"),
        "process" if closed => format!("a process for each connection, {count} in all"),
        "thread" => {
            format!("a thread for each {for_each}, of which up to {count} are there at once")
        }
        "process" => {
            format!("a process for each {for_each}, of which up to {count} are there at once")
        }
        other => name(other).into(),
    }
}

/// What to take, and what it does.
fn answer(advice: &Advice, width: usize) -> String {
    let best = advice.models.iter().find(|one| Some(&one.model) == advice.recommended.as_ref());
    let Some(best) = best else {
        let text = if advice.models.is_empty() {
            "This session cannot answer: it measured nothing of what a model of concurrency costs."
        } else if advice.models.iter().all(|one| one.refusal.is_some()) {
            "No model bears this load here."
        } else {
            "This session cannot answer: a limit of memory is stated, and it measured none."
        };
        return paragraph(text, &format!("{} ", paint(BAD, "✗")), "  ", width);
    };
    let closed = advice.load.connections.is_some();
    let each = match advice.load.machines {
        Some(machines) if machines > 1 => " on each machine",
        _ => "",
    };
    let mut text = format!("Take {}{each}: {}.", with_number(best, closed), does(best));
    text.push_str(&spread(best, &advice.load));
    if let Some(most) = best.rate_most_per_s.zip(advice.load.rate_per_s) {
        text.push_str(&margin(most, &advice.load));
    }
    if best.model == "pool" {
        text.push_str(&fewest(best, &advice.load));
    }
    text.push_str(&others(advice, best));
    let (mark, rest) = (paint(GOOD, "✓"), paragraph(&text, "", "  ", width - 2));
    let first = rest.lines().next().unwrap_or_default();
    format!("{mark} {}{}", paint(BOLD, first), &rest[first.len()..])
}

/// What a model does under the load.
fn does(one: &Staffing) -> String {
    let of = |part: Option<f64>| part.map_or("–".into(), percent);
    format!(
        "{} on average and {} for 95 % of answers, {} requests there at once, the CPUs {} busy",
        one.response_ns.map_or("–".into(), time),
        one.p95_ns.map_or("–".into(), time),
        one.present.map_or("–".into(), plain),
        of(one.cpu_busy),
    )
}

/// What all machines do together.
fn spread(best: &Staffing, load: &Load) -> String {
    match (load.machines, best.throughput_per_s) {
        (Some(machines), Some(each)) if machines > 1 => format!(
            " Together they answer {}, {} each; simulated, not measured.",
            rate(f64::from(machines) * each),
            plain(each)
        ),
        (Some(_), Some(each)) => format!(" It answers {}; simulated, not measured.", rate(each)),
        _ => String::new(),
    }
}

fn margin((most, rate_per_s): (f64, f64), load: &Load) -> String {
    let terms = match (load.target_p95_ns, load.workers) {
        (Some(_), _) => "before answers come too late",
        (None, Some(_)) => "before the queue grows for ever",
        (None, None) => "before requests wait long for a worker",
    };
    format!(" It bears up to {}, {} more, {terms}.", rate(most), percent(most / rate_per_s - 1.0))
}

fn fewest(best: &Staffing, load: &Load) -> String {
    let (Some(workers), Some(point), Some(least)) =
        (best.workers, best.workers_point, best.workers_least)
    else {
        return String::new();
    };
    let mut text = String::new();
    if load.rate_per_s.is_some() && load.workers.is_none() {
        let s = if least == 1 { "" } else { "s" };
        text.push_str(&format!(
            " With fewer than {least} worker{s} the queue would grow for ever."
        ));
    }
    if point != workers {
        text.push_str(&format!(
            " The worst ends of the measured intervals ask for {workers}, their middle for {point}."
        ));
    }
    text
}

fn others(advice: &Advice, best: &Staffing) -> String {
    let alike: Vec<&str> = advice.alike.iter().map(|model| name(model)).collect();
    let dearer = advice.models.iter().filter(|one| one.model != best.model);
    let dearest = dearer.max_by(|a, b| a.cpu_ns.total_cmp(&b.cpu_ns));
    match (alike.split_last(), dearest) {
        (Some((last, before)), _) => {
            let (list, does) = match before {
                [] => (last.to_string(), "does"),
                _ => (format!("{} and {last}", before.join(", ")), "do"),
            };
            format!(" For CPU time {list} {does} as well (to 5 %).")
        }
        (None, Some(dearest)) => format!(
            " A request takes {} of CPU time with it, {} with {}.",
            time(best.cpu_ns),
            time(dearest.cpu_ns),
            name(&dearest.model)
        ),
        (None, None) => String::new(),
    }
}

fn why_not(refusal: &Refusal, one: &Staffing) -> String {
    match refusal {
        Refusal::Cpus { rate_below_per_s, .. } if one.model == "event_loop" => format!(
            "the queue would grow for ever; one thread has one CPU, and a request takes {} of it: \
             fewer than {}",
            time(one.cpu_ns),
            rate(*rate_below_per_s)
        ),
        Refusal::Cpus { cpus_least, rate_below_per_s } => format!(
            "the queue would grow for ever; a request takes {} of CPU time: at least {cpus_least} \
             CPUs, or fewer than {}",
            time(one.cpu_ns),
            rate(*rate_below_per_s)
        ),
        Refusal::Workers { workers_least } => {
            format!("the queue would grow for ever: at least {workers_least} workers")
        }
        Refusal::Late { p95_ns, workers_enough } => format!(
            "95 % of answers would take up to {}: {workers_enough} workers would do",
            time(*p95_ns)
        ),
        Refusal::Target { p95_ns, cpus_least } => {
            let remedy = match cpus_least {
                Some(cpus) => format!("{cpus} CPUs would do"),
                None if one.model == "event_loop" => "more CPUs do not help one thread".into(),
                None => "more CPUs or workers do not help, a shorter service would".into(),
            };
            format!(
                "95 % of answers take up to {} with any number of workers; {remedy}",
                time(*p95_ns)
            )
        }
        Refusal::Memory { needed_bytes, workers_fit } => format!(
            "the workers need {}; {workers_fit} fit into what there is",
            bytes(*needed_bytes)
        ),
    }
}

/// One line for each model.
fn table(advice: &Advice, width: usize) -> String {
    let head = ["", "model", "CPU time", "workers", "95 % within", "memory"].map(String::from);
    let mut rows = vec![head];
    for one in &advice.models {
        let mark = if one.refusal.is_none() { "✓" } else { "✗" };
        let known = |text: Option<String>| text.unwrap_or("–".into());
        rows.push([
            mark.into(),
            name(&one.model).into(),
            time(one.cpu_ns),
            known(one.workers.map(|count| count.to_string())),
            known(one.p95_ns.map(time)),
            known(one.memory_bytes.map(bytes)),
        ]);
    }
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|at| rows.iter().map(|row| columns(&row[at])).max().unwrap_or(0))
        .collect();
    let mut out = String::new();
    for (index, row) in rows.iter().enumerate() {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| padded(cell, *width)).collect();
        let line = cells.join(GAP);
        let line = crate::text::cut(line.trim_end(), width);
        let line = match (index, row[0].as_str()) {
            (0, _) => paint(DIM, &line),
            (_, "✓") => line.replacen('✓', &paint(GOOD, "✓"), 1),
            _ => line.replacen('✗', &paint(BAD, "✗"), 1),
        };
        out.push_str(&format!("{line}\n"));
    }
    out
}

fn evidence(advice: &Advice, width: usize) -> String {
    if advice.costs.is_empty() {
        return String::new();
    }
    let mut out = String::from("\n");
    let title = format!("Measured in {}, each with its 95 % interval:", advice.session);
    out.push_str(&paragraph(&title, "", "", width));
    for cost in &advice.costs {
        let number = format::estimate(&cost.estimate, Some(&cost.unit));
        let text = format!("{}: {number} ({})", cost.what, cost.experiment);
        out.push_str(&paragraph(&text, "  ", "    ", width));
    }
    out
}

fn measured(program: &MeasuredProgram, load: &Load) -> String {
    let did = |estimate| format::estimate(estimate, Some(&Unit::PerSecond));
    let asked = load.rate_per_s.map(plain).unwrap_or_default();
    match &program.level {
        Some(level) => format!(
            "Seen in {}: with {} {level} it did {}, the fewest whose whole interval lies above \
             {asked}.",
            program.experiment,
            program.factor,
            did(&program.throughput)
        ),
        None => format!(
            "Seen in {}: no {} that was measured is sure to do {asked} per second; the most was {}, \
             with {}.",
            program.experiment,
            program.factor,
            did(&program.throughput),
            program.best_level
        ),
    }
}

/// What a simulated answer rests on.
fn simulation(simulated: &Simulated, advice: &Advice) -> String {
    let memory = if advice.load.worker_memory_bytes > 0.0 { "" } else { ", without its own data" };
    format!(
        "Simulated: one machine with {} connections, played request by request, {} requests of each \
         model, with the costs above at the worst ends of their intervals. It holds if connections are \
         spread evenly and their times to think and to be served scatter as exponential ones do, if the \
         machines are like the measured one and share nothing that one could wait for another at, \
         neither a database nor a network, if nothing else uses their CPUs, and if the stated service \
         time and CPU share are right. What a kernel does differently with so many connections was not \
         measured; a worker's memory is that of a small crew{memory}.",
        simulated.connections, simulated.requests
    )
}

/// What the answer rests on beside the measurements.
fn assumptions(advice: &Advice) -> String {
    if let Some(simulated) = &advice.simulated {
        return simulation(simulated, advice);
    }
    let comes = if advice.load.connections.is_some() { "connections ask" } else { "requests come" };
    let memory = if advice.load.worker_memory_bytes > 0.0 {
        ""
    } else {
        " A worker's own data are not in its memory (--worker-memory)."
    };
    format!(
        "Reckoned from the worst ends of the intervals. It holds if {comes} at random, if times \
         scatter as exponential ones do (steadier ones wait less; 95 % are then within three times \
         the mean), if nothing else uses these CPUs, and if the \
         stated service time and CPU share are right; and a thread or a process is made by a small \
         parent.{memory}"
    )
}
