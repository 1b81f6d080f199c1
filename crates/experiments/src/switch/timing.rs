//! The timed region of a trial: laps in batches.

use super::ring::{Count, Course};
use kit::{BATCH_PRECISION, OBSERVATIONS_MAX, Result, Trial};
use sys::clock::now_ns;

/// The laps of a fresh ring that are timed together, as LEBench does it.
pub(super) const FRESH_LAPS: u64 = 1000;

/// The shortest batch: long against the cost of reading the clock twice.
const BATCH_NS_MIN: u64 = 10_000;

/// Warm-up takes at least this number of laps…
const WARM_UP_LAPS_MIN: u64 = 3;

/// …and then this part of the time that the timed region may take.
const WARM_UP_PART: u64 = 8;

/// Laps after the tasks' sleep and before the first batch.
const SETTLING_LAPS: u64 = 2;

/// Fewest batches of a trial, however slow.
const BATCHES_MIN: usize = 3;

/// What was timed and counted.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// The first lap of all, in nanoseconds.
    pub(super) first_lap_ns: u64,
    /// The first [`FRESH_LAPS`] laps together, if they were asked for.
    pub(super) fresh_ns: Option<u64>,
    /// The batches' durations.
    pub(super) batches_ns: Vec<i64>,
    /// Laps in a batch.
    pub(super) batch_laps: u64,
    /// Hops in a lap.
    pub(super) lap_hops: u64,
    /// What each task counted, the measuring one first.
    pub(super) counts: Vec<Count>,
}

impl Tally {
    /// Hops in a batch.
    pub(super) fn batch_hops(&self) -> u64 {
        self.batch_laps * self.lap_hops
    }

    /// Laps in all batches.
    pub(super) fn laps(&self) -> u64 {
        self.batch_laps * self.batches_ns.len() as u64
    }

    /// A sum over the tasks.
    pub(super) fn sum(&self, of: impl Fn(&Count) -> u64) -> u64 {
        self.counts.iter().map(of).sum()
    }
}

/// Warms the course up and times it until the trial's time is over.
///
/// The first laps belong to the set-up: they are those of a fresh ring, and show how long a batch
/// must be. `fresh` asks for [`FRESH_LAPS`] of them.
pub(super) fn timed(trial: &mut Trial<'_>, course: &mut impl Course, fresh: bool) -> Result<Tally> {
    let limit_ns = trial.spec().timed_ns;
    course.enter()?;
    let begun_ns = now_ns();
    course.lap()?;
    let first_lap_ns = now_ns() - begun_ns;
    let mut fresh_ns = None;
    if fresh {
        for _ in 1..FRESH_LAPS {
            course.lap()?;
        }
        fresh_ns = Some(now_ns() - begun_ns);
    }
    let lap_ns = warm_up(course, limit_ns / WARM_UP_PART)?;
    course.leave()?;
    let batch_laps = laps_of_a_batch(lap_ns, limit_ns, sys::clock::step_ns());
    let mut batches_ns = Vec::with_capacity(OBSERVATIONS_MAX);
    trial.begin()?;
    course.enter()?;
    for _ in 0..SETTLING_LAPS {
        course.lap()?;
    }
    course.start()?;
    let begun_ns = now_ns();
    let mut start_ns = begun_ns;
    while batches_ns.len() < OBSERVATIONS_MAX {
        for _ in 0..batch_laps {
            course.lap()?;
        }
        let end_ns = now_ns();
        batches_ns.push((end_ns - start_ns) as i64);
        if end_ns - begun_ns >= limit_ns && batches_ns.len() >= BATCHES_MIN {
            break;
        }
        start_ns = end_ns;
    }
    let counts = course.leave()?;
    trial.end()?;
    let lap_hops = course.hops() as u64;
    Ok(Tally { first_lap_ns, fresh_ns, batches_ns, batch_laps, lap_hops, counts })
}

/// Goes on for so long; returns the shortest lap: one preemption must not make batches too short.
fn warm_up(course: &mut impl Course, for_ns: u64) -> Result<u64> {
    let begun_ns = now_ns();
    let (mut shortest_ns, mut laps) = (u64::MAX, 0);
    while laps < WARM_UP_LAPS_MIN || now_ns() - begun_ns < for_ns {
        let start_ns = now_ns();
        course.lap()?;
        shortest_ns = shortest_ns.min(now_ns() - start_ns);
        laps += 1;
    }
    Ok(shortest_ns)
}

/// Laps that last long enough for the clock, and fill the time with no more batches than are kept.
fn laps_of_a_batch(lap_ns: u64, limit_ns: u64, step_ns: u64) -> u64 {
    let kept_ns = limit_ns.div_ceil(OBSERVATIONS_MAX as u64);
    let goal_ns = BATCH_NS_MIN.max(BATCH_PRECISION * step_ns).max(kept_ns);
    goal_ns.div_ceil(lap_ns.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::laps_of_a_batch;

    #[test]
    fn a_batch_is_long_enough_for_the_clock_and_for_the_time() {
        assert_eq!(laps_of_a_batch(1_000, 2_000_000, 26), 10);
        assert_eq!(laps_of_a_batch(1_000, 2_000_000, 1_000), 100);
        assert_eq!(laps_of_a_batch(1_000, 50_000_000, 26), 196);
        assert_eq!(laps_of_a_batch(5_000_000, 10_000_000, 26), 1);
        assert_eq!(laps_of_a_batch(0, 0, 0), 10_000);
    }
}
