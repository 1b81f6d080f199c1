//! Counting together: who counts where and for how long, and what is recorded of it.

use kit::declare::response;
use kit::model::{Center, Profile, Response, Unit};
use kit::workers::{Fate, Model, Placement, Repeated, Rounds, crew_placed};
use kit::{Stop, Trial};
use sys::clock::now_ns;

/// All workers must have run for this share of the time until the first of them was done.
const CONCURRENCY_MIN: f64 = 0.9;

/// How much one worker works in a round of really parallel work, in nanoseconds: long beside the
/// microsecond that beginning and reading clocks takes, short beside a scheduler's time slice, so
/// that few rounds hold a preemption.
const SHORT_NS: u64 = 500_000;

/// The same in `smoke`.
const SHORTEST_NS: u64 = 250_000;

/// How long a CPU that several workers share is busy in a round, in nanoseconds: several time
/// slices, which are as long as a timer tick (4 ms, or 10) where there is nothing to choose.
const SHARED_NS: u64 = 24_000_000;

/// The least that each worker of a shared CPU works in a round: two of the commoner ticks.
const SLICES_NS: u64 = 8_000_000;

/// How many times as long an increment takes where several CPUs write to one line: roughly, so that
/// such rounds are about as long as others.
const CONTENTION: u64 = 4;

/// How many times the usual limit rounds on a shared CPU may take, since each is long.
const SHARED_LIMIT: u64 = 4;

/// Rounds that are not kept: first touches, and the way of a CPU to its full speed.
const WARM_UP: usize = 2;

/// Increments that calibrate a loop.
const SOME: u64 = 10_000;

/// The fewest and the most increments of one worker in a round.
const COUNT_MIN: u64 = 1_000;
const COUNT_MAX: u64 = 100_000_000;

/// Who counts, where, and how long.
#[derive(Clone, Debug)]
pub(crate) struct Party {
    /// Threads or processes.
    pub(crate) model: Model,
    /// How many.
    pub(crate) workers: usize,
    /// The CPUs: each worker has one, counted round.
    pub(crate) cpus: Vec<u32>,
}

impl Party {
    /// Whether each worker has a CPU of its own.
    pub(crate) fn is_parallel(&self) -> bool {
        self.workers <= self.cpus.len()
    }

    /// Confines the calling thread to the party's CPUs, and so what it makes.
    pub(crate) fn confine(&self, trial: &mut Trial) -> Result<(), Stop> {
        let mut ascending = self.cpus.clone();
        ascending.sort_unstable();
        trial.pin(&ascending)
    }

    /// How many increments each worker makes in a round. `add` makes as many as it is told, alone:
    /// it tells how long one takes. `contended` says that the workers will write to one line.
    pub(crate) fn count(&self, profile: Profile, contended: bool, add: impl Fn(u64)) -> u64 {
        let worker_ns = match (self.is_parallel(), profile) {
            (true, Profile::Smoke) => SHORTEST_NS,
            (true, _) => SHORT_NS,
            (false, _) => (SHARED_NS * self.cpus.len() as u64 / self.workers as u64).max(SLICES_NS),
        };
        let at_once = self.workers.min(self.cpus.len());
        let slower = if contended && at_once > 1 { CONTENTION } else { 1 };
        let some_ns = (0..5)
            .map(|_| {
                let begun_ns = now_ns();
                add(SOME);
                now_ns() - begun_ns
            })
            .min()
            .unwrap_or(0);
        (worker_ns * SOME / slower / some_ns.max(1)).clamp(COUNT_MIN, COUNT_MAX)
    }

    /// Has the task done by all, round after round, and records what every round took, what it
    /// cost, and what it lost of the `increments` that all workers make in it.
    pub(crate) fn count_together(
        &self,
        trial: &mut Trial,
        increments: u64,
        promise: Promise,
        task: &impl Repeated,
    ) -> Result<Rounds, Stop> {
        let timed_ns = trial.spec().timed_ns;
        let (warm_up, limit_ns) =
            if self.is_parallel() { (WARM_UP, timed_ns) } else { (0, SHARED_LIMIT * timed_ns) };
        let rounds = Rounds::new(self.workers, warm_up, limit_ns)?;
        self.observe(trial);
        trial.begin()?;
        let crew = crew_placed(
            self.model,
            self.workers,
            Placement::Apart(&self.cpus),
            |worker| rounds.run(worker, task),
            |_| (),
        )?;
        trial.end()?;
        let bad = crew.reports.iter().filter(|report| report.fate != Fate::Done).count();
        if bad > 0 {
            return Err(Stop::failed(format!("{bad} of {} workers failed", self.workers)));
        }
        let escaped = crew.reports.iter().filter(|report| report.escaped).count();
        trial.check("workers_outside_their_cpu", escaped as f64, 0.0, 0.0);
        record(trial, &rounds, increments, promise);
        if self.workers > 1 {
            trial.record("overlap_ppm", 1, rounds.overlaps_ppm());
            // Not in `smoke`, whose few rounds say nothing beside a busy neighbour.
            let enough = trial.spec().profile >= Profile::Quick;
            let always_busy = matches!(promise, Promise::Exact | Promise::Racing);
            if self.is_parallel() && enough && always_busy {
                let typical = median(rounds.concurrencies_ppm()) as f64 / 1e6;
                trial.check_cpus("all_ran_until_the_first_was_done", typical, CONCURRENCY_MIN, 1.0);
            }
        }
        Ok(rounds)
    }

    /// Keeps where they run: what their CPUs share decides what it costs.
    fn observe(&self, trial: &mut Trial) {
        trial.observe("cpus", sys::affinity::format_list(&self.cpus));
        let line_bytes = self.cpus.first().and_then(|cpu| line_bytes(*cpu));
        trial.observe("line_bytes", line_bytes.map_or("unknown".into(), |b| b.to_string()));
        if let [one, other, ..] = self.cpus[..] {
            let siblings = sys::topology::core_siblings(one).contains(&other);
            let cores =
                if siblings { "one core, by two of its threads (SMT)" } else { "two cores" };
            trial.observe("cores", cores);
            trial.observe("nearest_shared_cache", shared_cache(one, other));
        }
    }
}

/// What can be said beforehand of the sum that the workers find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// It is what they added; anything else is a fault of the trial.
    Exact,
    /// The same, because they wait for each other, and sleep if they have to: how much of a round
    /// all of them run is then no sign of whether they had their CPUs.
    Guarded,
    /// It may be anything: they race.
    Racing,
    /// They race, if that is the word where each makes a single addition: too short to overlap.
    Folded,
}

fn record(trial: &mut Trial, rounds: &Rounds, increments: u64, promise: Promise) {
    let walls: Vec<i64> = rounds.walls_ns().into_iter().map(|ns| ns as i64).collect();
    let cpus = rounds.cpus_ns().into_iter().map(|ns| ns as i64).collect();
    let lost: Vec<i64> =
        (0..rounds.count()).map(|round| increments as i64 - rounds.found(round) as i64).collect();
    trial.check("rounds", walls.len() as f64, 1.0, f64::INFINITY);
    trial.check(
        "increments_too_many",
        lost.iter().filter(|lost| **lost < 0).count() as f64,
        0.0,
        0.0,
    );
    if matches!(promise, Promise::Exact | Promise::Guarded) {
        trial.check("increments_lost", lost.iter().sum::<i64>() as f64, 0.0, 0.0);
    }
    trial.record("increment_ns", increments, walls);
    trial.record("increment_cpu_ns", increments, cpus);
    trial.record("wrong_count", 1, lost.iter().map(|lost| i64::from(*lost != 0)).collect());
    trial.record("lost_count", increments, lost);
}

/// The responses that [`Party::count_together`] records.
pub(crate) fn responses() -> Vec<Response> {
    let each = "divided by the increments of all workers together";
    vec![
        response("increment_ns", "time per increment", Unit::Ns)
            .card(
                "the first worker's first instant in a round, after all have met",
                "the last worker's last instant in it",
                each,
                "clock_gettime(CLOCK_MONOTONIC)",
            )
            .build(),
        response("increment_cpu_ns", "CPU time per increment", Unit::Ns)
            .card(
                "before a worker's first instant in a round",
                "after its last; the sum over the workers",
                each,
                "clock_gettime(CLOCK_THREAD_CPUTIME_ID)",
            )
            .build(),
        response("overlap_ppm", "time in which all workers ran at once", Unit::Ppm)
            .card(
                "the last worker's first instant in a round",
                "the first worker's last instant in it",
                "less all that any worker lacked of a CPU (its wall time less its CPU time), \
                 divided by the time from the first instant of any to the last of all",
                "both clocks above",
            )
            .build(),
        response("lost_count", "lost increments", Unit::Count)
            .center(Center::Mean)
            .card(
                "zero, before a round",
                "what the counters hold after it",
                "what was added less what is found, divided by what was added",
                "the counters",
            )
            .build(),
        response("wrong_count", "rounds that end with a wrong sum", Unit::Count)
            .center(Center::Mean)
            .card("as lost_count", "as lost_count", "1 if anything was lost", "the counters")
            .build(),
    ]
}

/// CPUs such that those of different cores come first, the last of the list before the others:
/// interrupts gather on the first.
pub(crate) fn apart(cpus: &[u32]) -> Vec<u32> {
    apart_by(cpus, sys::topology::core_siblings)
}

fn apart_by(cpus: &[u32], siblings: impl Fn(u32) -> Vec<u32>) -> Vec<u32> {
    let (mut first, mut rest): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    for cpu in cpus.iter().rev() {
        let taken = siblings(*cpu).iter().any(|sibling| first.contains(sibling));
        if taken { rest.push(*cpu) } else { first.push(*cpu) }
    }
    first.extend(rest);
    first
}

fn line_bytes(cpu: u32) -> Option<u64> {
    sys::topology::caches(cpu).into_iter().find_map(|cache| cache.line_bytes)
}

/// The cache nearest to both CPUs.
fn shared_cache(one: u32, other: u32) -> String {
    let caches = sys::topology::caches(one);
    let shared = caches.iter().find(|cache| cache.shared_by.contains(&other));
    shared.map_or("none is known".into(), |cache| format!("level {}", cache.level))
}

fn median(mut values: Vec<i64>) -> i64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Party, apart_by, median};
    use kit::model::Profile;
    use kit::workers::Model;

    #[test]
    fn cpus_of_different_cores_come_first() {
        // Neighbours share a core, as x86 often numbers them; then CPU n and n + 4.
        assert_eq!(apart_by(&[0, 1, 2, 3], |cpu| vec![cpu & !1, cpu | 1]), [3, 1, 2, 0]);
        assert_eq!(apart_by(&[0, 1, 4, 5], |cpu| vec![cpu % 4, cpu % 4 + 4]), [5, 4, 1, 0]);
        assert_eq!(apart_by(&[0, 1], |cpu| vec![cpu]), [1, 0]);
        assert_eq!(apart_by(&[], |cpu| vec![cpu]), Vec::<u32>::new());
    }

    #[test]
    fn workers_that_share_a_cpu_work_for_several_slices() {
        let party =
            |workers, cpus: &[u32]| Party { model: Model::Thread, workers, cpus: cpus.into() };
        // An increment that takes a nanosecond: counts are then times.
        let add = |count| {
            let until_ns = sys::clock::now_ns() + count;
            while sys::clock::now_ns() < until_ns {}
        };
        let count = |party: Party| party.count(Profile::Quick, false, add);
        let (apart, shared) = (count(party(2, &[0, 1])), count(party(2, &[0])));
        assert!(apart <= 500_000 && apart > 0);
        assert!(shared > 5 * apart, "{shared} on one CPU, {apart} on two");
    }

    #[test]
    fn the_middle_is_found() {
        assert_eq!(median(vec![9, 1, 5]), 5);
        assert_eq!(median(Vec::new()), 0);
    }
}
