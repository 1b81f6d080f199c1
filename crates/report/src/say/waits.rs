//! What a program's threads waited for, as `scruple waits` saw it.

use super::chapter::Chapter;
use crate::chart::Timelines;
use crate::doc::{Block, Doc, Figure, Role, Span, Table, Text, Tone};
use crate::text::Letters;
use crate::words;
use analysis::scaling::waited_for;
use model::{Estimate, ThreadTime, Treatment, Unit, WaitKind, Watched, WatchedWait, is_of_runtime};
use std::collections::BTreeMap;
use wording::number::{Terms, estimate, share, value};
use wording::{command_line, counted, short};

/// A wait below this share of the waiting time is left out of a text.
const NOTABLE: f64 = 0.005;

/// Looks that cost more than this share of one CPU may slow the program down.
const COST_MAX: f64 = 0.02;

/// A larger part of the threads' time that nobody looked at is stated.
const UNSEEN_MAX: f64 = 0.02;

/// Fewer looks than this say little, and less than a tenth of it nothing.
const LOOKS_MIN: u32 = 30;

/// Returns what threads did and waited for: the answer, the waits, the threads and their timeline. What others
/// wrote is made harmless.
pub fn waits(result: &Watched, letters: Letters) -> Doc<'static> {
    let name = short(&command_line(&result.command), 200);
    let mut doc = Doc::new(&result.scruple, "what a program waits for", name.clone());
    doc.push(Block::heading(1, name));
    doc.push(Block::paragraph(Role::Lead, lead(result)));
    let conditions = result.conditions.iter().map(|text| short(text, 400));
    doc.blocks.extend(conditions.map(|text| Block::note(Tone::Care, text)));
    doc.push(Block::paragraph(Role::Answer, answer(result)));
    doc.blocks.extend(notes(result).into_iter().map(|text| Block::note(Tone::Care, text)));
    doc.blocks.extend(table(result));
    doc.blocks.extend(threads(result, letters));
    let meaning = "A thread runs, is ready and waits for a CPU, or waits for something else. The kernel \
                   counts the first two of each thread that was looked at, and the first of all. What threads wait \
                   for was looked at while they waited; intervals (95 %, Clopper and Pearson) are those of such a \
                   sample.";
    doc.push(Block::small(meaning));
    let others = "scruple why -- COMMAND decides what limits it; scruple scale -- COMMAND with {n} in it shows what \
                  limits more workers.";
    doc.push(Block::small(others));
    doc
}

/// Returns in one line what was seen so far.
pub fn so_far(result: &Watched) -> String {
    answer(result).trim_end_matches('.').to_string()
}

fn lead(result: &Watched) -> String {
    let Watched { processes, threads_at_once, elapsed_ns, pid, .. } = result;
    let of = if *processes == 1 { "1 process".into() } else { format!("{processes} processes") };
    let at_least = counted(u64::from(*threads_at_once), "thread");
    let which = pid.map_or(String::new(), |pid| format!("Process {pid}, watched "));
    let first = if which.is_empty() { "Watched ".into() } else { which };
    let ended = match result.ended.as_str() {
        "" => "It goes on.".into(),
        ended => format!("It {}.", short(ended, 200)),
    };
    let time = time(*elapsed_ns);
    format!("{first}for {time}: at least {at_least} in {of} at once. {ended}")
}

/// Returns what a CPU quota did to a program; `None` where none held it back.
pub fn quota(result: &Watched) -> Option<String> {
    let limit =
        result.quota_percent.map(|percent| format!(" to {:.2} CPUs", f64::from(percent) / 100.0));
    let limit = limit.unwrap_or_default();
    let part = share(result.throttled_ns as f64 / result.elapsed_ns.max(1) as f64);
    (result.throttled_ns > 0).then(|| format!(
        "A CPU quota of its cgroup limits the program{limit}: it held threads back that were ready, for {part} of \
         the time, summed over CPUs. Raise cpu.max or cpu.cfs_quota_us of that cgroup."
    ))
}

fn time(ns: u64) -> String {
    value(ns as f64, &Unit::Ns)
}

/// Returns a number of threads, on average over the time.
fn threads_on_average(ns: u64, result: &Watched) -> String {
    let threads = ns as f64 / result.elapsed_ns.max(1) as f64;
    let digits = if threads < 100.0 { 2 } else { 0 };
    format!("{threads:.digits$}")
}

/// Returns a wait in words.
fn wait_words(wait: &WatchedWait, most: usize) -> String {
    short(&waited_for(wait.kind, &wait.what, &wait.place), most)
}

fn answer(result: &Watched) -> String {
    if result.looks < LOOKS_MIN / 10 {
        let used = time(result.cpu_ns);
        return format!("Too few looks to see what it waits for; it used {used} of CPU time.");
    }
    let ThreadTime { running_ns, ready_ns, .. } = result.time;
    let working_ns: u64 = result.waits.iter().map(|wait| wait.ns).sum();
    let idle_ns: u64 = result.waits.iter().map(|wait| wait.idle_ns).sum();
    let [running, ready, waiting, idle] = [running_ns, ready_ns, working_ns + idle_ns, idle_ns]
        .map(|ns| threads_on_average(ns, result));
    let is_notable = |ns: u64| ns as f64 > NOTABLE * result.elapsed_ns as f64;
    // Idle threads of a runtime wait for nothing of the program.
    let is_named = |wait: &&WatchedWait| wait.kind != WaitKind::Unknown || !wait.what.is_empty();
    let is_own = |wait: &&WatchedWait| !is_of_runtime(&wait.what) && is_named(wait);
    let most_of = |of: fn(&WatchedWait) -> u64| {
        let all_ns: u64 = result.waits.iter().filter(is_own).map(of).sum();
        let most = result.waits.iter().filter(is_own).max_by_key(|wait| of(wait));
        most.filter(|wait| is_notable(all_ns) && 2 * of(wait) > all_ns)
    };
    let of_all = most_of(|wait| wait.ns + wait.idle_ns);
    let of_working = most_of(|wait| wait.ns).filter(|wait| Some(*wait) != of_all);
    let mut mostly = String::new();
    if let Some(wait) = of_all {
        mostly += &format!(", mostly for {}", wait_words(wait, 200));
    }
    if let Some(wait) = of_working {
        mostly += &format!("; threads that ran waited mostly for {}", wait_words(wait, 200));
    }
    let idle = match is_notable(idle_ns) {
        true => format!(" ({idle} of them in threads that hardly ran)"),
        false => String::new(),
    };
    format!(
        "On average, {running} threads ran, {ready} were ready and waited for a CPU, and {waiting} waited for \
         something else{idle}{mostly}."
    )
}

fn notes(result: &Watched) -> Vec<String> {
    let cost = result.looking_ns as f64 / result.elapsed_ns.max(1) as f64;
    let costly =
        format!("Looking took {} of one CPU: the program may have been slowed down.", share(cost));
    let looks = counted(u64::from(result.looks), "look");
    let coarse = format!("There were only {looks}: the shares are rough.");
    let thread_s = |ns: u64| format!("{:.2}", ns as f64 / 1e9);
    let (all, unseen) = (result.time.all_ns(), result.unseen_ns);
    let brief = format!(
        "{} lived for less than about one look: about {} of {} thread-seconds were not looked at, and are estimated by \
         how often looks found such threads.",
        counted(result.brief_threads, "thread"),
        thread_s(unseen),
        thread_s(all)
    );
    let unseen_cpu = format!(
        "{} of {} CPU seconds were used by threads while no look saw them, as the kernel's sums show: how long these were \
         ready or waited was not counted.",
        thread_s(result.unseen_cpu_ns),
        thread_s(result.cpu_ns)
    );
    let crowd = format!(
        "Of many threads a sample was looked at: {} of {} thread-seconds were counted and not looked at. Their waits are \
         taken to be those of the sample.",
        thread_s(result.unread_ns),
        thread_s(all)
    );
    let least_ns = (UNSEEN_MAX * result.cpu_ns as f64).max(NOTABLE * result.elapsed_ns as f64);
    let is_unseen = result.unseen_cpu_ns as f64 > least_ns;
    let is_unasked = !result.unasked.is_empty();
    let all = [
        (is_unasked, format!("Some waits have no name: {}.", short(&result.unasked, 400))),
        (result.brief_threads > 1 && unseen as f64 > UNSEEN_MAX * all as f64, brief),
        (result.unread_ns > 0, crowd),
        (is_unseen, unseen_cpu),
        (cost > COST_MAX, costly),
        ((LOOKS_MIN / 10..LOOKS_MIN).contains(&result.looks), coarse),
    ];
    all.into_iter().filter(|(is_so, _)| *is_so).map(|(_, text)| text).collect()
}

/// Returns the share of the waiting time that went to a wait, with the interval of what was found at looks.
fn of_waiting(wait: &WatchedWait, result: &Watched) -> Estimate {
    let all_ns: u64 = result.waits.iter().map(|one| one.ns).sum();
    let all: u64 = result.waits.iter().map(|one| one.found).sum();
    let point = wait.ns as f64 / all_ns.max(1) as f64;
    let found = analysis::proportion(wait.found, all).unwrap_or(Estimate::exactly(point, 0));
    let (below, above) = (found.point - found.low, found.high - found.point);
    Estimate { point, low: (point - below).max(0.0), high: (point + above).min(1.0), ..found }
}

fn table<'a>(result: &Watched) -> Vec<Block<'a>> {
    let all_ns: u64 = result.waits.iter().map(|one| one.ns + one.idle_ns).sum();
    let is_notable =
        |wait: &WatchedWait| (wait.ns + wait.idle_ns) as f64 > NOTABLE * all_ns.max(1) as f64;
    let has_idle = result.waits.iter().any(|wait| wait.idle_ns > 0);
    let has_holder = result.waits.iter().any(|wait| !wait.holder.is_empty());
    let heads = ["waits for", "#threads", "#of the waiting time"].into_iter();
    let heads = heads.chain(has_idle.then_some("#idle threads"));
    let heads = heads.chain(has_holder.then_some("held by"));
    let mut table = Table::of(&heads.collect::<Vec<_>>());
    for (place, wait) in result.waits.iter().enumerate().filter(|(_, wait)| is_notable(wait)) {
        let key = Text(vec![Span::Key((2 + place).min(7))]);
        let cells: [Text; 3] = [
            key.then(Text::from(wait_words(wait, 160))),
            threads_on_average(wait.ns, result).into(),
            match wait.ns {
                0 => "–".into(),
                _ => estimate(&of_waiting(wait, result), Terms::Share).into(),
            },
        ];
        let idle = has_idle.then(|| threads_on_average(wait.idle_ns, result).into());
        let holder = has_holder.then(|| short(&wait.holder, 40).into());
        table.row(cells.into_iter().chain(idle).chain(holder));
    }
    if table.rows.is_empty() {
        return vec![Block::plain("No thread was seen to wait.")];
    }
    let about = "Idle threads ran for less than a twentieth of the time that the busiest thread ran or was \
                 ready. The share is that of the other threads.";
    let still = (result.still_ns as f64 > 0.01 * result.elapsed_ns as f64).then(|| {
        let part = share(result.still_ns as f64 / result.elapsed_ns as f64);
        format!("For {part} of the time, no thread ran or was ready.")
    });
    let mut blocks = vec![Block::heading(2, "Waits"), Block::Table(table)];
    blocks.extend(still.map(Block::plain));
    blocks.extend(has_idle.then(|| Block::small(about)));
    blocks
}

fn threads<'a>(result: &Watched, letters: Letters) -> Vec<Block<'a>> {
    if result.threads.is_empty() {
        return Vec::new();
    }
    let mut table = Table::of(&["thread", "#ID", "#ran", "#ready", "#waited", "mostly for"]);
    for thread in &result.threads {
        let ThreadTime { running_ns, ready_ns, waiting_ns } = thread.time;
        let wait = thread.wait.and_then(|place| result.waits.get(place as usize));
        let wait = wait.filter(|_| waiting_ns > 0);
        let mostly = wait.map(|one| wait_words(one, 100));
        let times = [running_ns, ready_ns, waiting_ns].map(time);
        let id = if thread.pid == 0 { String::new() } else { thread.tid.to_string() };
        let cells = [name(&thread.name, thread.pid), id].into_iter().chain(times);
        table.row(cells.chain([mostly.unwrap_or_default()]));
    }
    let mut states = vec!["running".to_string(), "ready, without a CPU".into()];
    states.extend(result.waits.iter().map(|wait| wait_words(wait, 60)));
    let rows = result.threads.iter().map(|one| (name(&one.name, one.pid), one.cells.clone()));
    let cell = time(result.cell_ns);
    let drawing = Timelines { states, rows: rows.collect(), cell_ns: result.cell_ns, letters };
    let caption = format!(
        "From left to right: {} in cells of {cell}. Each cell is divided by what the thread did in it; what is \
         not known stays empty.",
        time(result.elapsed_ns)
    );
    let figure = Figure::new("What each thread did", drawing, vec![caption.into()]);
    let figure = Figure { numbers: Some(table), shown: true, ..figure };
    let mut blocks = vec![Block::heading(2, "Threads"), Block::Figure(figure)];
    let more = Block::left_out(
        result.threads.len() + result.other_threads as usize,
        result.threads.len(),
        "thread",
        " that ran less",
    );
    blocks.extend(more);
    blocks
}

/// The most waits that are shown of a treatment of a study.
const OF_TREATMENT_MAX: usize = 3;

/// Returns what the threads of a study's programs waited for, treatment by treatment; nothing where they hardly
/// waited.
pub(super) fn of_study<'a>(chapter: &Chapter<'_>) -> Vec<Block<'a>> {
    if !chapter.is_study() {
        return Vec::new();
    }
    let mut all: BTreeMap<&Treatment, (f64, BTreeMap<String, f64>)> = BTreeMap::new();
    for record in &chapter.records {
        let Some(measured) = &record.measured else { continue };
        let Some(waits) = measured.waits.as_deref() else { continue };
        let (elapsed_ns, sums) = all.entry(&record.treatment).or_default();
        *elapsed_ns += measured.counters.wall_ns as f64;
        for wait in &waits.waits {
            let words = waited_for(wait.kind, &wait.what, &wait.place);
            *sums.entry(words).or_default() += wait.ns as f64;
        }
    }
    let mut table = Table::of(&["treatment", "waits for", "#threads"]);
    for (treatment, (elapsed_ns, sums)) in all {
        let mut sums: Vec<(String, f64)> = sums.into_iter().collect();
        sums.retain(|(_, ns)| *ns > 0.01 * elapsed_ns);
        sums.sort_by(|a, b| b.1.total_cmp(&a.1));
        let name = words::treatment(chapter.design, treatment, &chapter.varying);
        for (wait, ns) in sums.into_iter().take(OF_TREATMENT_MAX) {
            table.row([name.clone(), short(&wait, 160), format!("{:.2}", ns / elapsed_ns)]);
        }
    }
    let about = "The number of threads that wait for it, on average over the trial. `scruple waits -- COMMAND` \
                 shows each thread.";
    match table.rows.is_empty() {
        true => Vec::new(),
        false => vec![Block::Table(table), Block::small(about)],
    }
}

fn name(name: &str, pid: u32) -> String {
    match (name, pid) {
        (_, 0) => "ended between two looks".into(),
        (name, _) => short(name, 20),
    }
}
