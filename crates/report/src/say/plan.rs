//! Which model of concurrency sustains a load, with how many workers.

use super::load::{answer, bytes, rate, time};
use crate::chart::{response_by_load, shown};
use crate::doc::{Block, Doc, Role, Table, Text, Tone};
use model::{Advice, Load, MeasuredProgram, Refusal, Sensitivity, Staffing, Unit};
use wording::number::{Terms, estimate, or_dash, parts};
use wording::{capital, counted, sentences};

/// Returns which model of concurrency sustains a load: what to use, what it does and with which margin,
/// why other models fail, and the measured numbers behind it. What others wrote is made harmless.
pub fn advice(advice: &Advice) -> Doc<'static> {
    let mut doc = Doc::new(&advice.scruple, "a plan for a load", advice.session.clone());
    doc.push(Block::paragraph(Role::Lead, stated(&advice.load)));
    let best = advice.models.iter().find(|one| Some(&one.model) == advice.recommended.as_ref());
    doc.push(answer(best.is_some(), recommended(best, advice)));
    if let Some(best) = best {
        doc.push(Block::paragraph(Role::Further, behaviour(best, advice)));
    }
    for program in &advice.measured {
        doc.push(Block::paragraph(Role::Further, measured(program, &advice.load)));
    }
    if !advice.models.is_empty() {
        doc.push(Block::Table(models(&advice.models)));
    }
    for one in &advice.models {
        let why = one.refusal.as_ref().map(|refusal| why_not(refusal, one));
        let text = why.map(|why| format!("{}: {why}.", capital(name(&one.model))));
        doc.blocks.extend(text.map(|text| Block::note(Tone::Bad, text)));
    }
    for gap in &advice.gaps {
        let mut text = Text::from(format!("Not known: {}.", gap.what));
        if !gap.measure.is_empty() {
            text = text.then(" Measure it with ").then(Text::code(&gap.measure)).then(".");
        }
        doc.push(Block::note(Tone::Care, text));
    }
    doc.blocks.extend(figure(advice));
    // What cannot be answered for this load cannot be for another one.
    let is_answered = best.is_some() || advice.models.iter().all(|one| one.refusal.is_some());
    if is_answered && !advice.sensitivity.is_empty() {
        doc.push(Block::heading(2, "If the load were another one"));
        doc.push(Block::List(advice.sensitivity.iter().map(|one| other(one, advice)).collect()));
    }
    if !advice.costs.is_empty() {
        doc.push(Block::heading(
            2,
            format!("Measured in {}, with 95 % confidence intervals", advice.session),
        ));
        doc.push(Block::Table(costs(advice)));
    }
    doc.push(Block::small(assumptions(advice)));
    doc
}

fn percent(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

fn stated(load: &Load) -> String {
    let comes = match (load.rate_per_s.map(rate), load.think_ns) {
        (Some(per_s), _) => format!("{per_s} requests per second"),
        (None, think_ns) => {
            let connections = counted(load.connections.unwrap_or(0).into(), "connection");
            let next = if think_ns > 0.0 { time(think_ns) } else { "immediately".into() };
            format!("{connections}, each of which asks again {next} after its answer")
        }
    };
    let share = percent(load.cpu_share);
    let service = match load.service_p95_ns {
        Some(p95) => format!("{} (95 % of them within {})", time(load.service_ns), time(p95)),
        None => time(load.service_ns),
    };
    let whose = if load.cpus_stated { "as stated" } else { "those of the session's machine" };
    let each = match load.machines {
        Some(1) => " on one machine".into(),
        Some(machines) => format!(" on each of {machines} machines"),
        None => String::new(),
    };
    let cpus = counted(load.cpus.into(), "CPU");
    let load_is = format!(
        "Load: {comes}. A request holds a worker for {service}, {share} of it on a CPU. Available: {cpus}\
         {each} ({whose})."
    );
    let within = |p95| format!("Target: 95 % of responses within {}.", time(p95));
    let at_most = |most| format!("The server may use at most {} of memory.", bytes(most));
    let own = Some(load.worker_memory_bytes).filter(|own| *own > 0.0);
    let own = own.map(|own| format!("Each allocates {} itself.", bytes(own)));
    let grows = load.keeps_headroom();
    let grows =
        grows.then(|| format!("Headroom: the load may grow by {}.", percent(load.headroom)));
    let limits = [load.target_p95_ns.map(within), load.memory_bytes.map(at_most), own, grows];
    sentences([Some(load_is)].into_iter().chain(limits))
}

fn name(model: &str) -> &str {
    match model {
        "pool" => "a pool of threads",
        "thread" => "a thread for each request",
        "process" => "a process for each request",
        "event_loop" => "an event loop",
        "io_uring" => "an event loop with io_uring",
        "tokio" => "event loops (tokio)",
        "go" => "goroutines (Go)",
        "java_threads" => "a thread for each connection (Java)",
        "java_virtual" => "virtual threads (Java)",
        "node" => "an event loop (Node.js)",
        "python_threads" => "a thread for each connection (Python)",
        "python_asyncio" => "an event loop (Python)",
        other => other,
    }
}

/// Returns what to use if the load were another one: "Twice the load: a pool of threads, 26 workers."
fn other(one: &Sensitivity, advice: &Advice) -> Text {
    let change = capital(&one.change);
    let Some(model) = &one.recommended else {
        return format!("{change}: no model sustains it.").into();
    };
    let workers = one.workers.filter(|_| model == "pool");
    let workers = workers.map(|count| format!(" with {}", counted(count.into(), "worker")));
    let same = advice.recommended.as_ref() == Some(model);
    let still = if same { "still " } else { "" };
    format!("{change}: {still}{}{}.", name(model), workers.unwrap_or_default()).into()
}

/// Returns the response time of the models against the load.
fn figure(advice: &Advice) -> Option<Block<'static>> {
    let load = if advice.load.rate_per_s.is_some() { "requests per second" } else { "connections" };
    let title = "Response time against the load".into();
    let mut curves = advice.curves.clone();
    curves.sort_by_key(|curve| Some(&curve.model) != advice.recommended.as_ref());
    let drawn = response_by_load(&curves, |model| capital(name(model)), load, title)?;
    let mut captions = vec![Text::from(
        "Simulated mean response times, with the workers of the table. A curve ends where the queue \
             would grow without limit.",
    )];
    if drawn.left_out > 0 {
        let more = counted(drawn.left_out as u64, "more model");
        captions.push(format!("The table has {more}.").into());
    }
    let figure = shown(drawn, "response-by-load".into(), None, captions);
    // Points of a formula are no measurements.
    Some(Block::Figure(crate::doc::Figure { numbers: None, ..figure }))
}

/// Returns the time within which 95 % of requests are answered: between that of requests that all need
/// the same and that of exponential times.
fn p95(one: &Staffing) -> String {
    let most = or_dash(one.p95_ns, time);
    p95_least(one).map_or(most.clone(), |least| format!("{} to {most}", time(least)))
}

fn p95_least(one: &Staffing) -> Option<f64> {
    one.p95_least_ns.zip(one.p95_ns).filter(|(least, most)| *least < 0.95 * most).map(|it| it.0)
}

/// Returns what to use: "Use a pool of 14 threads."
fn recommended(best: Option<&Staffing>, advice: &Advice) -> String {
    let Some(best) = best else {
        let refused = advice.models.iter().all(|one| one.refusal.is_some());
        return match (advice.models.is_empty(), refused) {
            (true, _) => {
                "This session cannot answer: it measured no cost of a model of concurrency."
            }
            (_, true) => "No model sustains this load.",
            _ => "This session cannot answer: it measured no memory, and a memory limit is stated.",
        }
        .into();
    };
    let count = best.workers.unwrap_or(0);
    let stays_open = advice.load.connections.is_some() && advice.load.think_ns > 0.0;
    let what = match (best.model.as_str(), advice.load.connections) {
        ("pool", _) if stays_open => {
            let threads = counted(count.into(), "thread");
            format!("an event loop that hands requests to a pool of {threads}")
        }
        ("pool", _) => format!("a pool of {}", counted(count.into(), "thread")),
        (one @ ("thread" | "process"), None) => format!("{}, up to {count} at once", name(one)),
        (one @ ("thread" | "process"), _) => format!("a {one} for each connection, {count} in all"),
        (other, _) => name(other).into(),
    };
    let machines = advice.load.machines.unwrap_or(1);
    format!("Use {what}{}.", if machines > 1 { " on each machine" } else { "" })
}

/// Returns what the best model does under the load, and how far it is from its limits.
fn behaviour(best: &Staffing, advice: &Advice) -> String {
    let load = &advice.load;
    let (mean, most) = (or_dash(best.response_ns, time), or_dash(best.p95_ns, time));
    let share = |busy| if busy < 0.01 { "less than 1 %".into() } else { percent(busy) };
    let (present, busy) = (or_dash(best.present, rate), or_dash(best.cpu_busy, share));
    let within = match p95_least(best) {
        Some(least) if load.service_p95_ns.is_none() => format!(
            "95 % take at most {} if all requests need the same, and at most {most} if their times scatter \
             like exponential ones.",
            time(least)
        ),
        Some(least) => format!("95 % take at most {} to {most}.", time(least)),
        None => format!("95 % take at most {most}."),
    };
    let response = format!(
        "Responses take {mean} on average. {within} On average {present} requests are in progress, and the \
         CPUs are {busy} busy."
    );
    let throughput = load.machines.zip(best.throughput_per_s).map(|(machines, each)| {
        let (all, each) = (rate(f64::from(machines) * each), rate(each));
        let each = if machines > 1 { format!(" together, {each} each") } else { String::new() };
        format!("Throughput: {all} requests per second{each}.")
    });
    let margin = best.rate_most_per_s.zip(load.rate_per_s).map(|(most, per_s)| {
        let limit = match (load.target_p95_ns, load.workers) {
            (Some(_), _) => "responses come too late",
            (None, Some(_)) => "the queue grows without limit",
            (None, None) => "requests wait long for a worker",
        };
        let (most, more) = (rate(most), percent(most / per_s - 1.0));
        format!("It sustains up to {most} requests per second, {more} more, before {limit}.")
    });
    let workers = (best.model == "pool").then(|| workers(best, load)).into_iter().flatten();
    let all = [Some(response), throughput, margin].into_iter().chain(workers);
    sentences(all.chain([others(advice, best)]))
}

/// Returns the fewest workers of a pool, and how many more the width of the intervals requires.
fn workers(best: &Staffing, load: &Load) -> [Option<String>; 2] {
    let counts = (best.workers, best.workers_point, best.workers_least);
    let (Some(workers), Some(point), Some(least)) = counts else { return [None, None] };
    let grows = load.rate_per_s.is_some() && load.workers.is_none();
    let fewer = grows.then(|| counted(least.into(), "worker"));
    let ends = format!(
        "The worst ends of the measured intervals require {workers}, their middle {point}."
    );
    [
        fewer.map(|least| format!("With fewer than {least} the queue would grow without limit.")),
        (point != workers).then_some(ends),
    ]
}

/// Returns how the CPU time of other models compares.
fn others(advice: &Advice, best: &Staffing) -> Option<String> {
    let alike: Vec<&str> = advice.alike.iter().map(|model| name(model)).collect();
    if !alike.is_empty() {
        return Some(format!("CPU time is the same within 5 % with {}.", alike.join(" and ")));
    }
    let others = advice.models.iter().filter(|one| one.model != best.model);
    let most = others.max_by(|a, b| a.cpu_ns.total_cmp(&b.cpu_ns))?;
    let ([own, more], with) = ([best, most].map(|one| time(one.cpu_ns)), name(&most.model));
    Some(format!("A request takes {own} of CPU time, and {more} with {with}."))
}

/// Returns the memory of a server: from the ends of the intervals, where they are apart.
fn memory(one: &Staffing) -> String {
    let Some(most) = one.memory_bytes else { return or_dash(None, bytes) };
    match one.memory_least_bytes.filter(|least| *least < 0.97 * most) {
        Some(least) => format!("{} to {}", bytes(least), bytes(most)),
        None => bytes(most),
    }
}

fn models(models: &[Staffing]) -> Table {
    let rows = models.iter().map(|one| {
        let mark = if one.refusal.is_none() { Tone::Good.mark() } else { Tone::Bad.mark() };
        // Python's interpreter lock lets one of the threads run, whatever their number.
        let count = one.workers.filter(|_| one.model != "python_threads");
        let workers = or_dash(count, |count| count.to_string());
        let (p95, memory) = (p95(one), memory(one));
        [format!("{mark} {}", name(&one.model)), time(one.cpu_ns), workers, p95, memory]
    });
    Table::of(&["model", "#CPU time", "#workers", "#p95", "#memory"]).rows(rows)
}

/// Returns why a model does not sustain the load, without a full stop.
fn why_not(refusal: &Refusal, one: &Staffing) -> String {
    let grows = "the queue would grow without limit";
    let cpu = time(one.cpu_ns);
    match refusal {
        Refusal::Cpus { cpus_least, rate_below_per_s } => {
            let below = rate(*rate_below_per_s);
            let least = match cpus_least {
                None => "It uses one CPU: it sustains".into(),
                Some(cpus) => format!("Use at least {cpus} CPUs, or send"),
            };
            format!(
                "{grows}. A request takes {cpu} of CPU time. {least} fewer than {below} requests per second"
            )
        }
        Refusal::Workers { workers_least } => {
            format!("{grows} with fewer than {workers_least} workers")
        }
        Refusal::Late { p95_ns, workers_enough } => {
            let p95 = time(*p95_ns);
            format!(
                "95 % of responses would take up to {p95}. {workers_enough} workers would be enough"
            )
        }
        Refusal::Target { p95_ns, cpus_least } => {
            let remedy = match cpus_least {
                Some(cpus) => format!("{cpus} CPUs would be enough"),
                None => "Only a shorter service time would help".into(),
            };
            let p95 = time(*p95_ns);
            format!("95 % of responses take up to {p95} with any number of workers. {remedy}")
        }
        Refusal::Memory { needed_bytes, workers_fit } => {
            let needed = bytes(*needed_bytes);
            format!("the workers need {needed}, and {workers_fit} fit into the memory")
        }
    }
}

fn costs(advice: &Advice) -> Table {
    let rows = advice.costs.iter().map(|cost| {
        let number = Text::number(parts(&cost.estimate, Terms::In(&cost.unit)));
        [cost.what.as_str().into(), number, cost.experiment.as_str().into()]
    });
    Table::of(&["cost", "#estimate", "experiment"]).rows(rows)
}

fn measured(program: &MeasuredProgram, load: &Load) -> String {
    let MeasuredProgram { experiment, factor, best_level, .. } = program;
    let throughput = estimate(&program.throughput, Terms::In(&Unit::PerSecond));
    let asked = load.rate_per_s.map(rate).unwrap_or_default();
    match &program.level {
        Some(level) => format!(
            "Measured in {experiment}: {throughput} with {factor} {level}, the smallest {factor} whose \
             whole interval is above {asked} per second."
        ),
        None => format!(
            "Measured in {experiment}: no {factor} has its whole interval above {asked} per second. The \
             highest throughput is {throughput}, with {factor} {best_level}."
        ),
    }
}

/// Returns what the answer rests on beside the measurements.
fn assumptions(advice: &Advice) -> String {
    let load = &advice.load;
    let scatter = match load.service_p95_ns {
        Some(_) => "that service times are lognormal with the stated mean and 95th percentile",
        None => "that service times are exponential (the lower end of a p95: that all are equal)",
    };
    let who = load.connections.map_or("that requests arrive at random", |_| {
        "that connections send requests at random, and are spread evenly over machines that share nothing"
    });
    let own = match load.worker_memory_bytes > 0.0 {
        true => "",
        false => " A worker's own data is not in its memory (--worker-memory).",
    };
    let simulated = advice.simulated.as_ref().map_or(String::new(), |simulated| {
        format!(
            " One machine with {} is simulated, and {} for each model.",
            counted(simulated.connections.into(), "connection"),
            counted(simulated.requests, "request")
        )
    });
    format!(
        "The plan is simulated request by request, with the costs above at the worst ends of their \
         intervals.{simulated} It assumes {scatter}, {who}, that the stated service time and CPU share are \
         right, and that nothing else uses the CPUs. A pool gives each request, not each connection, to a free \
         worker. Memory per connection is that of the measured number of connections nearest to the load's, if \
         they differ by at most a factor of three; a tenth is added and subtracted for differences between \
         servers of the same kind.{own}"
    )
}
