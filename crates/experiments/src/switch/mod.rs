//! What does it cost to switch from one task to another?
//!
//! Some tasks form a ring and hand a token round: a hop is one task's wait for the token, its walk
//! through its memory, and the hand-over. Beside the ring stand two controls without a switch: one
//! task that does all hops' system calls and walks all tasks' memory, and one that walks only its
//! own, as lmbench's control does.

mod footprint;
mod passing;
mod ring;
mod timing;

use crate::support::memory::PAGES;
use footprint::{Footprint, bytes_of, line_bytes};
use kit::model::Relation;
use kit::workers::{MODEL_LEVELS, Model};
use kit::{Result, Stop, Trial};
use passing::{Events, Futexes, Passing, Pipes, Turn};
use ring::{Alone, Order, with_ring};
use std::collections::BTreeSet;
use sys::pages::Huge;
use timing::{FRESH_LAPS, Tally, timed};

experiment!("switch", "switch.toml");

/// Faults per hop beyond which a trial's memory was not all there beforehand.
const FAULTS_MAX: f64 = 0.02;

/// Faults of a whole trial that say nothing: the kernel may take away a page of the trial at any time,
/// and the shortest trials hop less than twenty times.
const STRAY_FAULTS: f64 = 2.0;

/// Switches per hop beyond those of the treatment that are no surprise: others on the machine
/// interrupt now and then…
const STRAY_SWITCHES: f64 = 0.1;

/// …and more often the longer a hop is: once in this time, in nanoseconds (kernel threads of a busy
/// machine wake several times in a millisecond)…
const STRAY_EACH_NS: f64 = 1e5;

/// …but never so often that a hop with a switch and one without could be taken for each other.
const STRAY_MAX: f64 = 0.5;

/// Who makes the hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// All tasks, in turn.
    Ring,
    /// One task, with the memory of all.
    Single,
    /// One task, with the memory of one.
    Own,
}

/// The levels of the factor `kind`.
const KINDS: [(&str, Kind); 3] =
    [("ring", Kind::Ring), ("single", Kind::Single), ("self", Kind::Own)];

/// Where the tasks run: the levels of the factor `placement`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placement {
    Same,
    /// On two CPUs in turn, which have a relation.
    Other(Option<Relation>),
}

const PLACEMENTS: [(&str, Placement); 6] = [
    ("same", Placement::Same),
    ("other", Placement::Other(None)),
    ("siblings", Placement::Other(Some(Relation::Siblings))),
    ("shared_cache", Placement::Other(Some(Relation::SharedCache))),
    ("package", Placement::Other(Some(Relation::Package))),
    ("packages", Placement::Other(Some(Relation::Packages))),
];

/// The CPU of each task.
fn cpus(trial: &mut Trial<'_>, placement: Placement, tasks: usize) -> Result<Vec<u32>> {
    match placement {
        Placement::Same => Ok(vec![trial.one_cpu()?; tasks]),
        Placement::Other(relation) => {
            let pair = trial.pair(relation)?;
            Ok((0..tasks).map(|task| pair[task % 2]).collect())
        }
    }
}

/// What one treatment asks for.
#[derive(Clone, Debug)]
struct Asked {
    model: Model,
    kind: Kind,
    on_two: bool,
    footprint: Footprint,
    cpus: Vec<u32>,
    /// Whether this is the exercise that LEBench times.
    fresh: bool,
}

type Measure = fn(&mut Trial<'_>, &Asked) -> Result<Tally>;

/// The levels of the factor `mechanism`.
const MECHANISMS: [(&str, Measure); 4] = [
    ("pipe", |trial, asked| measure(trial, asked, &Pipes::new(asked.cpus.len())?)),
    ("eventfd", |trial, asked| measure(trial, asked, &Events::new(asked.cpus.len())?)),
    ("futex", |trial, asked| measure(trial, asked, &Futexes::new(asked.cpus.len())?)),
    ("yield", by_yield),
];

fn by_yield(trial: &mut Trial<'_>, asked: &Asked) -> Result<Tally> {
    kit::require!(
        !asked.on_two,
        "tasks on two CPUs that yield do not switch, they spin: choose another mechanism"
    );
    measure(trial, asked, &Turn::new(asked.cpus.len())?)
}

fn measure(trial: &mut Trial<'_>, asked: &Asked, passing: &impl Passing) -> Result<Tally> {
    let tasks = asked.cpus.len();
    let nothing = Footprint { bytes: 0, ..asked.footprint };
    let of_members = if asked.kind == Kind::Ring { asked.footprint } else { nothing };
    let order = Order { model: asked.model, cpus: asked.cpus.clone(), footprint: of_members };
    with_ring(&order, passing, |ring| match asked.kind {
        Kind::Ring => timed(trial, ring, asked.fresh),
        Kind::Single | Kind::Own => {
            let buffers = if asked.kind == Kind::Single { tasks } else { 1 };
            let mut alone = Alone::new(&order, passing, asked.footprint, buffers)?;
            timed(trial, &mut alone, false)
        }
    })
}

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let measure = trial.pick("mechanism", &MECHANISMS)?;
    let asked = asked(trial)?;
    let tally = measure(trial, &asked)?;
    record(trial, &asked, &tally);
    check(trial, &asked, &tally);
    Ok(())
}

/// Reads the treatment and refuses what this machine cannot realise.
fn asked(trial: &mut Trial<'_>) -> Result<Asked> {
    let kind = trial.pick("kind", &KINDS)?;
    let placement = trial.pick("placement", &PLACEMENTS)?;
    let on_two = placement != Placement::Same;
    let huge: Huge = trial.pick("pages", &PAGES)?;
    let tasks = trial.number("tasks")? as usize;
    let cpus = cpus(trial, placement, tasks)?;
    let caches = sys::topology::caches(cpus[0]);
    let bytes = bytes_of(trial.level("working_set")?, &caches).map_err(Stop::Unsupported)?;
    let line_bytes = line_bytes(&caches) as usize;
    let footprint = Footprint { bytes: bytes as usize, line_bytes, huge };
    trial.need_memory((footprint.mapped_bytes() * tasks) as u64)?;
    let fresh = kind == Kind::Ring
        && !on_two
        && tasks == 2
        && bytes == 0
        && trial.level("mechanism")? == "pipe";
    let model = trial.pick("model", &MODEL_LEVELS)?;
    trial.pin(&cpus[..1])?;
    trial.observe("working_set_bytes", bytes);
    if let Some(second) = caches.iter().find(|cache| cache.level == 2 && cache.holds_data()) {
        trial.observe("second_cache_shared_by", sys::affinity::format_list(&second.shared_by));
    }
    Ok(Asked { model, kind, on_two, footprint, cpus, fresh })
}

fn record(trial: &mut Trial<'_>, asked: &Asked, tally: &Tally) {
    let hops = tally.sum(|count| count.hops);
    // A definition is kept where it has a meaning: for the ring, and for its own control.
    let meant = [true, asked.kind != Kind::Own, asked.kind != Kind::Single];
    let walls = ["hop_ns", "switch_ns", "lat_ctx_ns"];
    let cpus = ["hop_cpu_ns", "switch_cpu_ns", "lat_ctx_cpu_ns"];
    let cpu_ns = tally.sum(|count| count.cpu_ns);
    for ((wall, cpu), _) in walls.into_iter().zip(cpus).zip(meant).filter(|(_, meant)| *meant) {
        trial.record(wall, tally.batch_hops(), tally.batches_ns.clone());
        trial.record(cpu, hops, vec![cpu_ns as i64]);
    }
    if asked.kind == Kind::Ring {
        if tally.lap_hops == 2 {
            trial.record("round_trip_ns", tally.batch_laps, tally.batches_ns.clone());
        }
        trial.record_one("first_trip_ns", tally.first_lap_ns as i64);
    }
    if let Some(fresh_ns) = tally.fresh_ns {
        trial.record("lebench_ns", FRESH_LAPS, vec![fresh_ns as i64]);
    }
    let per_hop = |trial: &mut Trial<'_>, name: &str, count: u64| {
        trial.record(name, hops, vec![count as i64]);
    };
    per_hop(trial, "switches_count", tally.sum(ring::Count::switches));
    per_hop(trial, "calls_count", tally.sum(|count| count.calls.all));
    per_hop(trial, "vain_calls_count", tally.sum(|count| count.calls.vain));
    trial.record_one("wrong_tokens_count", wrong_tokens(tally) as i64);
    trial.record_one("working_set_bytes", asked.footprint.bytes as i64);
    if asked.kind == Kind::Single && asked.footprint.bytes == 0 {
        // The unit cost of the accounts: without a walk, this control's hop is its system calls.
        let calls = tally.batch_laps * tally.sum(|count| count.calls.all) / tally.laps().max(1);
        trial.record("call_ns", calls.max(1), tally.batches_ns.clone());
    }
    if asked.kind == Kind::Ring && asked.model == Model::Process {
        complete_counters(trial, tally);
    }
}

/// Adds the members' part of the region's counters: the kernel adds that of a process only when it
/// has ended and was waited for, and the members live on.
fn complete_counters(trial: &mut Trial<'_>, tally: &Tally) {
    let counters = trial.counters_mut();
    let add = |to: &mut Option<u64>, what: u64| *to = to.map(|own| own + what);
    for count in tally.counts.iter().skip(1) {
        add(&mut counters.user_ns, count.usage.user_ns);
        add(&mut counters.system_ns, count.usage.system_ns);
        add(&mut counters.minor_faults, count.usage.minor_faults);
        add(&mut counters.major_faults, count.usage.major_faults);
        add(&mut counters.voluntary_switches, count.usage.voluntary_switches);
        add(&mut counters.involuntary_switches, count.usage.involuntary_switches);
    }
}

/// Tokens that were lost, came twice or came to the wrong task.
fn wrong_tokens(tally: &Tally) -> u64 {
    let laps = tally.laps();
    let each = |count: &ring::Count| {
        let due = if tally.counts.len() == 1 { laps * tally.lap_hops } else { laps };
        count.wrong + count.hops.abs_diff(due)
    };
    tally.counts.iter().map(each).sum()
}

/// What must be so if the treatment was realised.
fn check(trial: &mut Trial<'_>, asked: &Asked, tally: &Tally) {
    let hops = tally.sum(|count| count.hops) as f64;
    let per_hop = |count: u64| count as f64 / hops;
    let switches = per_hop(tally.sum(ring::Count::switches));
    let cpu_ns = per_hop(tally.sum(|count| count.cpu_ns));
    let stray = (STRAY_SWITCHES + cpu_ns / STRAY_EACH_NS).min(STRAY_MAX);
    // Other programs on these CPUs preempt the tasks: more switches than planned need not be ours.
    match (asked.kind, asked.on_two) {
        // A task may find the token before it slept, and hop again without a switch.
        (Kind::Ring, true) => trial.check_cpus("switches per hop", switches, 0.0, 1.1 + stray),
        (Kind::Ring, false) => {
            // Whom a wake-up preempts must be switched to once more, to go to sleep; of two tasks
            // each finds its token then, and nothing is lost.
            let resumed = if asked.cpus.len() == 2 { 0.0 } else { 1.0 };
            let vain = per_hop(tally.sum(|count| count.calls.vain));
            trial.check_cpus("switches per hop", switches, 0.95, 1.0 + resumed + vain + stray);
        }
        _ => trial.check_cpus("switches per hop", switches, 0.0, stray),
    }
    let faults = per_hop(tally.sum(ring::Count::faults));
    trial.check("faults per hop", faults, 0.0, FAULTS_MAX.max(STRAY_FAULTS / hops));
    trial.check("wrong tokens", wrong_tokens(tally) as f64, 0.0, 0.0);
    let escaped = tally.counts.iter().filter(|count| count.escaped).count();
    trial.check("tasks outside their CPU", escaped as f64, 0.0, 0.0);
    let processes: BTreeSet<_> = tally.counts.iter().map(|count| count.process).collect();
    let due = if asked.model == Model::Process { tally.counts.len() } else { 1 } as f64;
    trial.check("processes that hop", processes.len() as f64, due, due);
    let lines = asked.footprint.bytes / asked.footprint.line_bytes;
    let read = per_hop(tally.sum(|count| count.lines));
    trial.check("lines read per hop", read, lines as f64, lines as f64);
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
