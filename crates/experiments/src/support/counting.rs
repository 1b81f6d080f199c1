//! Counting together: how far the workers count in a round, and what is recorded of it.

use super::party::{Party, SHARED_NS};
use kit::model::Profile;
use kit::workers::{Repeated, Rounds};
use kit::{Result, Trial};
use std::sync::atomic::{AtomicU64, Ordering};
use sys::clock::now_ns;
use sys::increment::Loop;

/// The least that each worker of a shared CPU works in a round: two of the commoner ticks.
const SLICES_NS: u64 = 8_000_000;

/// How many times as long an increment takes where several CPUs write to one line: roughly, so that
/// such rounds are about as long as others.
pub(crate) const LINE_SHARED: u64 = 4;

/// The same where they also want one lock.
pub(crate) const LOCK_SHARED: u64 = 24;

/// Increments that calibrate a loop.
const SOME: u64 = 10_000;

/// The fewest and the most increments of one worker in a round.
const COUNT_MIN: u64 = 1_000;
const COUNT_MAX: u64 = 100_000_000;

/// What can be said beforehand of the sum that the workers find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// It is what they added; anything else is a fault of the trial.
    Exact,
    /// It may be anything: they race.
    Racing,
    /// They race, if that is the word where each makes a single addition: too short to overlap.
    Folded,
}

impl Party {
    /// Returns how many increments each worker makes in a round. `add` makes as many as it is
    /// given, alone, which shows how long one takes. Where workers run at once they take
    /// `contention` times as long.
    pub(crate) fn count(&self, profile: Profile, contention: u64, add: impl Fn(u64)) -> u64 {
        let worker_ns = if self.is_parallel() {
            self.round_ns(profile)
        } else {
            (SHARED_NS * self.cpus.len() as u64 / self.workers as u64).max(SLICES_NS)
        };
        let slower = if self.workers.min(self.cpus.len()) > 1 { contention } else { 1 };
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
        trial: &mut Trial<'_>,
        increments: u64,
        promise: Promise,
        task: impl Repeated + Clone + Sync,
    ) -> Result<Rounds> {
        let rounds = self.rounds(trial)?;
        self.work(trial, |worker| rounds.run(worker, &mut task.clone()))?;
        record(trial, &rounds, increments, promise);
        self.record_overlap(trial, &rounds, promise != Promise::Folded)?;
        Ok(rounds)
    }
}

/// Words that workers count in, which some of them may share.
pub(crate) struct Counters<'a> {
    /// Those of the first worker, then those of the second, and so on.
    pub(crate) words: Vec<&'a AtomicU64>,
    /// How many each has: it counts on one after the other.
    pub(crate) each: usize,
    pub(crate) add: Loop,
    /// Increments of each word in a round.
    pub(crate) count: u64,
}

impl Repeated for &Counters<'_> {
    fn work(&mut self, index: usize, _: u64) {
        for word in &self.words[index * self.each..][..self.each] {
            (self.add)(word, self.count);
        }
    }

    fn settle(&mut self) -> u64 {
        // A word that is there twice is found empty the second time.
        self.words.iter().map(|word| word.swap(0, Ordering::Relaxed)).sum()
    }
}

fn record(trial: &mut Trial<'_>, rounds: &Rounds, increments: u64, promise: Promise) {
    let lost: Vec<i64> =
        (0..rounds.count()).map(|round| increments as i64 - rounds.found(round) as i64).collect();
    let too_many = lost.iter().filter(|lost| **lost < 0).count();
    trial.check("rounds that found more than was added", too_many as f64, 0.0, 0.0);
    if promise == Promise::Exact {
        trial.check("increments lost", lost.iter().sum::<i64>() as f64, 0.0, 0.0);
    }
    trial.record_all("increment_ns", increments, rounds.walls_ns());
    trial.record_all("increment_cpu_ns", increments, rounds.cpus_ns());
    trial.record("wrong_count", 1, lost.iter().map(|lost| i64::from(*lost != 0)).collect());
    trial.record("lost_count", increments, lost);
}

#[cfg(test)]
mod tests {
    use super::Party;
    use kit::model::Profile;
    use kit::workers::Model;

    #[test]
    fn workers_that_share_a_cpu_work_for_several_slices() {
        let party =
            |workers, cpus: &[u32]| Party { model: Model::Thread, workers, cpus: cpus.into() };
        // An increment that takes a nanosecond: counts are then times.
        let add = |count| {
            let until_ns = sys::clock::now_ns() + count;
            while sys::clock::now_ns() < until_ns {}
        };
        let count = |party: Party, contention| party.count(Profile::Quick, contention, add);
        let (apart, shared) = (count(party(2, &[0, 1]), 1), count(party(2, &[0]), 1));
        assert!(apart <= 500_000 && apart > 0);
        assert!(shared > 5 * apart, "{shared} on one CPU, {apart} on two");
        assert!(count(party(2, &[0, 1]), 4) <= 125_000, "contention is allowed for");
    }
}
