//! What holds N threads back from being N times as fast?

mod arithmetic;
mod frequency;
mod lz;
mod memory;
mod output;
mod stage;

use crate::support::memory::Home;
use crate::support::party::Party;
use arithmetic::Way;
use kit::model::Profile;
use kit::workers::{Model, Pace, Refusal, Rounds, Span};
use kit::{Result, Trial};
use stage::{Found, Stage, Wait, Workload};

experiment!("speedup", "speedup.toml");

/// The levels of the factor `workload`.
const WORKLOADS: [(&str, Workload); 10] = [
    ("independent", Workload::Arithmetic(Way::Independent)),
    ("serial", Workload::Arithmetic(Way::Serial)),
    ("mutex", Workload::Arithmetic(Way::Mutex)),
    ("spin", Workload::Arithmetic(Way::Spin)),
    ("shared_line", Workload::Arithmetic(Way::SharedLine)),
    ("imbalanced", Workload::Arithmetic(Way::Imbalanced)),
    ("triad", Workload::Triad),
    ("stencil", Workload::Stencil),
    ("ordered", Workload::Compress { ordered: true }),
    ("unordered", Workload::Compress { ordered: false }),
];

/// The levels of the factor `cpus`: each worker must have its own, or this number at most is for all of them.
const CPUS: [(&str, Option<usize>); 3] =
    [("own", None), ("two", Some(2)), ("all", Some(usize::MAX))];

/// The levels of the factor `frequency`: as this machine does, or at most the one that the CPUs hold
/// without turbo.
const FREQUENCIES: [(&str, bool); 2] = [("free", false), ("nominal", true)];

/// How many times the usual work a round holds where workers share CPUs: then it lasts several time
/// slices of a scheduler.
const SHARED_SCALE: u64 = 24;

/// The arrays of the workloads that live on memory: three times a common last cache, and twice what
/// this machine has.
const FOOTPRINT_BYTES: u64 = 96 << 20;

/// The same in `quick`: twice a common last cache.
const FOOTPRINT_QUICK_BYTES: u64 = 64 << 20;
const CACHES: u64 = 2;

/// The same in `smoke`, which only sees that it works.
const FOOTPRINT_SMOKE_BYTES: u64 = 6 << 20;

/// Memory beside the arrays.
const SPARE_BYTES: u64 = 64 << 20;

/// How far the part of the time that was one worker's alone may lie from what was planted: the
/// reading of clocks, and the lock itself, are in it or beside it.
const EXCLUSIVE_MARGIN: f64 = 0.02;

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let workload = trial.pick("workload", &WORKLOADS)?;
    let workers = trial.number("count")? as usize;
    let cpus = trial.pick("cpus", &CPUS)?;
    if cpus.is_none() {
        trial.need_cpus(workers)?;
    }
    let party = Party::new(trial, Model::Thread, workers, cpus.unwrap_or(workers))?;
    let first_cpu = party.cpus.first().copied().unwrap_or(0);
    frequency::realise(trial.pick("frequency", &FREQUENCIES)?, first_cpu)?;
    let run = Run::new(trial, workload, &party)?;
    // Workers inherit it.
    run.home.settle()?;
    party.work(trial, |worker| {
        let mut own = run.stage.member(worker.index);
        run.rounds.run(worker, &mut own)?;
        own.look(run.home).map_err(|_| Refusal::Failed)?;
        Ok(())
    })?;
    run.record(trial);
    run.check(trial)?;
    party.record_overlap(trial, &run.rounds, true)
}

/// One trial's stage and its rounds.
#[derive(Debug)]
struct Run {
    stage: Stage,
    rounds: Rounds,
    scale: u64,
    workers: usize,
    home: Home,
}

impl Run {
    fn new(trial: &mut Trial<'_>, workload: Workload, party: &Party) -> Result<Self> {
        let shares_cpus = !party.is_parallel() || trial.pick("cpus", &CPUS)?.is_some();
        let wait = if party.is_parallel() { Wait::Looking } else { Wait::Yielding };
        let on_memory = matches!(workload, Workload::Triad | Workload::Stencil);
        let scale = if shares_cpus && !on_memory { SHARED_SCALE } else { 1 };
        let (warm_up, least) = match (shares_cpus, on_memory) {
            // One round holds several slices of each worker.
            (true, _) => (0, 1),
            (false, true) => (1, 3),
            (false, false) => (2, 8),
        };
        let limit_ns = trial.spec().timed_ns;
        let rounds = Rounds::new(party.workers, Pace { warm_up, least, limit_ns, round_ns: 0 })?;
        let mut footprint_bytes = 0;
        if on_memory {
            footprint_bytes = footprint(trial, &party.cpus);
            trial.need_memory(footprint_bytes + SPARE_BYTES)?;
            trial.observe("footprint_bytes", footprint_bytes);
        }
        if matches!(workload, Workload::Compress { .. }) {
            trial.need_disk(1 << 20)?;
        }
        let stage = Stage::new(workload, party.workers, wait, scale, footprint_bytes)?;
        Ok(Run {
            stage,
            rounds,
            scale,
            workers: party.workers,
            home: Home::of(trial, &party.cpus)?,
        })
    }

    fn record(&self, trial: &mut Trial<'_>) {
        let scale = self.scale;
        let spans: Vec<Vec<Span>> =
            (0..self.rounds.count()).map(|round| self.rounds.spans(round)).collect();
        let walls = self.rounds.walls_ns();
        self.record_rate(trial, &walls);
        trial.record_all("round_ns", scale, walls);
        trial.record_all("round_cpu_ns", scale, self.rounds.cpus_ns());
        let extremes: Vec<(u64, u64)> = spans
            .iter()
            .map(|spans| {
                let walls = spans.iter().map(Span::wall_ns);
                (walls.clone().max().unwrap_or(0), walls.min().unwrap_or(0))
            })
            .collect();
        trial.record_all("slowest_ns", scale, extremes.iter().map(|(slowest, _)| *slowest));
        if self.workers > 1 {
            let waits = extremes.iter().map(|(slow, fast)| slow - fast);
            trial.record_all("join_wait_ns", scale, waits);
        }
        if let Some(steps) = self.stage.independent_steps() {
            let firsts = spans.iter().filter_map(|spans| spans.first()).map(Span::wall_ns);
            trial.record_all("step_ns", steps, firsts);
        }
        let queue_waits: Option<Vec<u64>> = spans
            .iter()
            .map(|spans| spans.iter().map(|span| span.queue_wait_ns).sum::<Option<u64>>())
            .collect();
        if let Some(queue_waits) = queue_waits {
            trial.record_all("queue_wait_ns", scale, queue_waits);
        }
        let switches = self.found().flatten().map(|found| found.switches);
        trial.record_all("switches_count", scale, switches);
    }

    fn record_rate(&self, trial: &mut Trial<'_>, walls: &[u64]) {
        // In thousandths: a few hundred a second are no fine scale for whole numbers.
        let rounds_per_s = |ns: &u64| self.scale * 1_000_000_000_000 / (*ns).max(1);
        trial.record_all("throughput_per_s", 1000, walls.iter().map(rounds_per_s));
        if let Some(bytes) = self.stage.moved_bytes() {
            let moved = walls.iter().map(|ns| bytes * 1000 / (*ns).max(1));
            trial.record_all("moved_mb_per_s", 1, moved);
        }
    }

    fn found(&self) -> impl Iterator<Item = Option<Found>> {
        (0..self.rounds.count()).map(|round| Found::of(self.rounds.found(round)))
    }

    fn check(&self, trial: &mut Trial<'_>) -> Result<()> {
        let undone = self.found().filter(Option::is_none).count();
        trial.check("rounds in which somebody did not do its part", undone as f64, 0.0, 0.0);
        trial.check("results that are wrong", self.stage.wrong()? as f64, 0.0, 0.0);
        let elsewhere = self.stage.elsewhere();
        trial.check("pages on another NUMA node, of those looked at", elsewhere, 0.0, 0.0);
        let planted = self.stage.exclusive_part();
        // With one worker nobody waits, so that the part shows in its time.
        if self.workers == 1 && planted > 0.0 {
            let alone_ns: u64 = self.found().flatten().map(|found| found.alone_ns).sum();
            let all_ns = self.rounds.walls_ns().iter().sum::<u64>().max(1);
            let (low, high) = (planted - EXCLUSIVE_MARGIN, planted + EXCLUSIVE_MARGIN);
            let name = "part of the time in which only one may work";
            trial.check_cpus(name, alone_ns as f64 / all_ns as f64, low, high);
        }
        Ok(())
    }
}

/// The bytes of the arrays of a workload that is limited by memory.
fn footprint(trial: &Trial<'_>, cpus: &[u32]) -> u64 {
    let least = match trial.spec().profile {
        Profile::Smoke => return FOOTPRINT_SMOKE_BYTES,
        Profile::Quick => FOOTPRINT_QUICK_BYTES,
        Profile::Standard | Profile::Thorough => FOOTPRINT_BYTES,
    };
    let caches = cpus.iter().flat_map(|cpu| sys::topology::caches(*cpu));
    let largest = caches.map(|cache| cache.size_bytes).max().unwrap_or(0);
    least.max(CACHES * largest)
}

#[cfg(test)]
mod tests {
    use super::{CPUS, FREQUENCIES, WORKLOADS, design};

    #[test]
    fn every_level_has_its_code() {
        let design = design();
        crate::check_levels(&design, "workload", &WORKLOADS);
        crate::check_levels(&design, "cpus", &CPUS);
        crate::check_levels(&design, "frequency", &FREQUENCIES);
    }
}
