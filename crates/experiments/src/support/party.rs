//! Workers that do the same at the same time, in rounds: on which CPUs, how long, and whether they
//! really did.

use kit::model::{Profile, Relation};
use kit::workers::{Fate, Model, Pace, Placement, Refusal, Rounds, Worker, crew_placed};
use kit::{Pmu, Result, Stop, Trial};

/// All workers must have had their CPUs for this share of the time until the first of them was
/// done, in the middle one of a trial's rounds: then fewer than half of them were disturbed, and
/// the median of what was measured is that of an undisturbed round.
const CONCURRENCY_MIN: f64 = 0.9;

/// How long a round of really parallel work lasts, in nanoseconds: long beside the microsecond that
/// beginning and reading clocks takes, short beside a scheduler's time slice, so that few rounds
/// hold a preemption.
const SHORT_NS: u64 = 500_000;

/// The same in `smoke`.
const SHORTEST_NS: u64 = 250_000;

/// What the levels of a factor that says where two workers run stand for.
pub(crate) const PAIRS: [(&str, Option<Relation>); 5] = [
    ("apart", None),
    ("siblings", Some(Relation::Siblings)),
    ("shared_cache", Some(Relation::SharedCache)),
    ("package", Some(Relation::Package)),
    ("packages", Some(Relation::Packages)),
];

/// How long a CPU that several workers share is busy in a round, in nanoseconds: several time
/// slices, which are as long as a timer tick (4 ms, or 10) where there is nothing to choose.
pub(crate) const SHARED_NS: u64 = 24_000_000;

/// How many times the usual limit rounds on a shared CPU may take, since each is long.
const SHARED_LIMIT: u64 = 3;

/// Rounds of parallel work that are not kept: first touches, and the way of a CPU to its full
/// speed.
const WARM_UP: usize = 2;

/// The fewest rounds of parallel work that are kept. Beside busy neighbours few fit in the time of
/// a trial, and a few disturbed ones must not make the median.
const LEAST: usize = 8;

/// Who works, and where.
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
    /// Makes workers on `cpus_most` CPUs at most, on two different ones at least if `cpus_most` is
    /// above 1. Also confines this thread to these CPUs.
    pub(crate) fn new(
        trial: &mut Trial<'_>,
        model: Model,
        workers: usize,
        cpus_most: usize,
    ) -> Result<Self> {
        trial.need_cpus(cpus_most.min(2))?;
        let spec = trial.spec();
        let mut cpus = spec.topology.in_order(&spec.cpus);
        cpus.truncate(cpus_most);
        Self::on(trial, model, workers, cpus)
    }

    /// Makes two workers on two CPUs that have a relation. Also confines this thread to these CPUs.
    pub(crate) fn of_two(
        trial: &mut Trial<'_>,
        model: Model,
        relation: Option<Relation>,
    ) -> Result<Self> {
        let cpus = trial.pair(relation)?;
        Self::on(trial, model, 2, cpus.into())
    }

    fn on(trial: &mut Trial<'_>, model: Model, workers: usize, cpus: Vec<u32>) -> Result<Self> {
        trial.need_tasks(workers)?;
        let mut ascending = cpus.clone();
        ascending.sort_unstable();
        trial.pin(&ascending)?;
        Ok(Party { model, workers, cpus })
    }

    /// Whether each worker has a CPU of its own.
    pub(crate) fn is_parallel(&self) -> bool {
        self.workers <= self.cpus.len()
    }

    /// How long a worker that has a CPU of its own works in a round, in nanoseconds.
    pub(crate) fn round_ns(&self, profile: Profile) -> u64 {
        match (self.is_parallel(), profile) {
            (true, Profile::Smoke) => SHORTEST_NS,
            (true, _) => SHORT_NS,
            (false, _) => SHARED_NS,
        }
    }

    /// Room for the rounds of a trial.
    pub(crate) fn rounds(&self, trial: &Trial<'_>) -> Result<Rounds> {
        let timed_ns = trial.spec().timed_ns;
        let round_ns = self.round_ns(trial.spec().profile);
        let pace = if self.is_parallel() {
            Pace { warm_up: WARM_UP, least: LEAST, limit_ns: timed_ns, round_ns }
        } else {
            Pace { warm_up: 0, least: 1, limit_ns: SHARED_LIMIT * timed_ns, round_ns }
        };
        Rounds::new(self.workers, pace)
    }

    /// Has all do `work`, which must go through `rounds`, as the timed region of the trial.
    pub(crate) fn work(
        &self,
        trial: &mut Trial<'_>,
        work: impl Fn(&Worker<'_>) -> Result<(), Refusal> + Sync,
    ) -> Result<()> {
        self.work_and_hold(trial, work, || ())
    }

    /// The same; calls `while_held` while they hold what they returned.
    pub(crate) fn work_and_hold<Kept>(
        &self,
        trial: &mut Trial<'_>,
        work: impl Fn(&Worker<'_>) -> Result<Kept, Refusal> + Sync,
        while_held: impl FnOnce(),
    ) -> Result<()> {
        self.observe(trial);
        trial.begin()?;
        let placement = Placement::Apart(&self.cpus);
        let counted = |worker: &Worker<'_>| {
            let mut pmu = Pmu::open();
            pmu.begin();
            let kept = work(worker);
            worker.counted(&pmu.end());
            kept
        };
        let crew = crew_placed(self.model, self.workers, placement, counted, |_| while_held())?;
        trial.end()?;
        trial.count_workers(&crew);
        let of = self.workers;
        match [crew.count(Fate::NotMade), crew.count(Fate::Refused), of - crew.count(Fate::Done)] {
            [0, 0, 0] => {}
            [0, 0, bad] => return Err(Stop::failed(format!("{bad} of {of} workers failed"))),
            [0, refused, _] => {
                return Err(Stop::unsupported(format!(
                    "{refused} of {of} workers could not be confined to their CPUs: choose others \
                     by --affinity"
                )));
            }
            [unmade, ..] => {
                return Err(Stop::unsupported(format!(
                    "{unmade} of {of} workers could not be made: a limit on threads or memory \
                     (ulimit -u, a cgroup) is too low"
                )));
            }
        }
        let escaped = crew.reports.iter().filter(|report| report.escaped).count();
        trial.check("workers outside their CPU", escaped as f64, 0.0, 0.0);
        Ok(())
    }

    /// Keeps for how much of each round all workers had their CPUs. `busy` says that nothing but a
    /// CPU could keep them from working.
    ///
    /// # Errors
    /// Where busy workers were not at work at the same time in half of the rounds or more: then the
    /// trial is none of its treatment, and neighbours could carry a verdict.
    pub(crate) fn record_overlap(
        &self,
        trial: &mut Trial<'_>,
        rounds: &Rounds,
        busy: bool,
    ) -> Result<()> {
        trial.check("rounds", rounds.count() as f64, 1.0, f64::INFINITY);
        if self.workers > 1 {
            trial.record("overlap_ppm", 1, rounds.overlaps_ppm());
        }
        // Not in `smoke`, whose few rounds say nothing beside a busy neighbour.
        if self.is_parallel() && busy && trial.spec().profile >= Profile::Quick {
            let typical = typical_concurrency(rounds.concurrencies_ppm())?;
            let name = "all workers had a CPU until the first was done (median round)";
            trial.check(name, typical, CONCURRENCY_MIN, 1.0);
        }
        Ok(())
    }

    /// Keeps the length of a line, which decides what shares one.
    fn observe(&self, trial: &mut Trial<'_>) {
        let line_bytes = self.cpus.first().and_then(|cpu| line_bytes(*cpu));
        trial.observe("line_bytes", line_bytes.map_or("unknown".into(), |b| b.to_string()));
    }
}

/// The length of a line of `cpu`'s first data cache, in bytes.
pub(crate) fn line_bytes(cpu: u32) -> Option<u64> {
    sys::topology::caches(cpu).into_iter().find_map(|cache| cache.line_bytes)
}

/// For how much of the time all workers had their CPUs, in the middle one of the rounds.
fn typical_concurrency(mut rounds_ppm: Vec<i64>) -> Result<f64> {
    rounds_ppm.sort_unstable();
    let middle_ppm = rounds_ppm.get(rounds_ppm.len() / 2).copied().unwrap_or(0);
    let typical = middle_ppm as f64 / 1e6;
    kit::ensure!(
        typical >= CONCURRENCY_MIN,
        "half of {} rounds or more did not have a CPU for every worker for {:.0} % of the \
             time: others use the CPUs; stop them, or choose free ones by --affinity",
        rounds_ppm.len(),
        100.0 * CONCURRENCY_MIN
    );
    Ok(typical)
}

#[cfg(test)]
mod tests {
    use super::typical_concurrency;

    #[test]
    fn a_trial_stands_while_fewer_than_half_of_its_rounds_were_disturbed() {
        let of = |rounds: &[i64]| typical_concurrency(rounds.to_vec()).ok();
        assert_eq!(of(&[0, 950_000, 1_000_000]), Some(0.95));
        assert_eq!(of(&[1_000_000, 0, 1_000_000, 0]), Some(1.0));
        assert_eq!(of(&[0, 1_000_000, 0]), None);
        assert_eq!(of(&[899_999]), None);
        assert_eq!(of(&[]), None);
    }
}
