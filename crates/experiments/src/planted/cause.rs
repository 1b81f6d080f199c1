//! Is the cause that was planted the one that is named?

use super::busy::{RIGHT, Wait, divide, hold, record};
use crate::support::party::Party;
use crate::support::passes::leap;
use kit::model::Profile;
use kit::workers::{Model, Pace, Repeated, Rounds};
use kit::{Result, Stop, Trial};
use std::sync::atomic::{AtomicU64, Ordering};
use sys::increment;
use sys::pages::SharedWords;

experiment!("planted_cause", "cause.toml");

/// What may slow the two threads down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Nothing,
    Delay,
    Lock,
    Sharing,
    Serial,
}

/// The levels of the factor `planted`: the first is none.
const PLANTED: [(&str, Cause); 5] = causes("none");

/// The levels of the factor `removed`.
const REMOVED: [(&str, Cause); 5] = causes("nothing");

const fn causes(nothing: &str) -> [(&str, Cause); 5] {
    [
        (nothing, Cause::Nothing),
        ("delay", Cause::Delay),
        ("lock", Cause::Lock),
        ("sharing", Cause::Sharing),
        ("serial", Cause::Serial),
    ]
}

/// Steps of arithmetic in a chunk: some 10 microseconds.
const CHUNK_STEPS: u64 = 10_000;

/// What a round consists of, in chunks: work under a lock…
const HOLDS: u64 = 6;
const HELD_CHUNKS: u64 = 4;

/// …work that can be divided…
const DIVIDED_CHUNKS: u64 = 48;

/// …increments of each thread…
const INCREMENTS: u64 = 20_000;

/// …and the wait of each thread, where there is one, in nanoseconds.
///
/// Of the five hundred microseconds that a round lasts with nothing planted each cause adds some
/// two hundred and more: what one lock adds is the time of all holds of a thread, what the serial
/// work adds half of it.
const WAIT_NS: u64 = 250_000;

/// Words between two counters that share no line.
const APART_WORDS: usize = 32;

const THREADS: usize = 2;

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    increment::exact_or_why().map_err(Stop::unsupported)?;
    let planted = trial.pick("planted", &PLANTED)?;
    let removed = trial.pick("removed", &REMOVED)?;
    let party = Party::new(trial, Model::Thread, THREADS, THREADS)?;
    let rounds = Rounds::new(THREADS, pace(trial))?;
    let stage = Stage::new(planted, removed)?;
    party
        .work(trial, |worker| rounds.run(worker, &mut Part { stage: &stage, wait: stage.wait }))?;
    record(trial, &party, &rounds, "round_ns")
}

/// Half of a trial's usual time: there are many treatments.
fn pace(trial: &Trial<'_>) -> Pace {
    let least = if trial.spec().profile == Profile::Smoke { 3 } else { 8 };
    Pace { warm_up: 1, least, limit_ns: trial.spec().timed_ns / 2, round_ns: 0 }
}

/// What the two threads share, as planted and removed.
#[derive(Debug)]
struct Stage {
    wait: Wait,
    /// Chunks that the first thread does alone.
    serial_chunks: u64,
    /// Which lock and which counter each thread uses.
    locks: [usize; THREADS],
    counters: [usize; THREADS],
    words: SharedWords,
}

/// Where the words lie: all on cache lines of their own, except the counters' first two.
const HANDED_OVER_AT: usize = 0;
const LOCKS_AT: usize = APART_WORDS;
const STATES_AT: usize = 3 * APART_WORDS;
const COUNTERS_AT: usize = 5 * APART_WORDS;
const WORDS: usize = 7 * APART_WORDS;

impl Stage {
    /// What is removed is not planted; all else is the same.
    fn new(planted: Cause, removed: Cause) -> Result<Self> {
        let is = |cause| planted == cause && removed != cause;
        let second = |cause, near: usize, apart: usize| if is(cause) { near } else { apart };
        Ok(Stage {
            wait: Wait::of(if is(Cause::Delay) { WAIT_NS } else { 0 }),
            serial_chunks: if is(Cause::Serial) { DIVIDED_CHUNKS } else { 0 },
            locks: [LOCKS_AT, second(Cause::Lock, LOCKS_AT, LOCKS_AT + APART_WORDS)],
            counters: [
                COUNTERS_AT,
                second(Cause::Sharing, COUNTERS_AT + 1, COUNTERS_AT + APART_WORDS),
            ],
            words: sys::pages::shared(WORDS * size_of::<u64>())?,
        })
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        &self.words.words()[at]
    }

    /// Steps that the first thread does alone of the work that can be divided, and those of each.
    fn divided(&self) -> [u64; 2] {
        let each = (DIVIDED_CHUNKS - self.serial_chunks) / THREADS as u64;
        [self.serial_chunks, each].map(|chunks| chunks * CHUNK_STEPS)
    }

    fn is_right(&self) -> bool {
        self.word(HANDED_OVER_AT).store(0, Ordering::Relaxed);
        let right = |index: usize| {
            let [alone, each] = self.divided();
            let own = if index == 0 { alone } else { 0 };
            let steps = HOLDS * HELD_CHUNKS * CHUNK_STEPS + own + each;
            let state = self.word(STATES_AT + index * APART_WORDS).swap(0, Ordering::Relaxed);
            let counted = self.word(self.counters[index]).swap(0, Ordering::Relaxed);
            state == leap(1, steps) && counted == INCREMENTS
        };
        // Both are looked at, since looking makes ready for the next round.
        (0..THREADS).filter(|index| right(*index)).count() == THREADS
    }
}

/// One thread's part.
struct Part<'a> {
    stage: &'a Stage,
    wait: Wait,
}

impl Repeated for Part<'_> {
    fn work(&mut self, index: usize, _: u64) {
        let stage = self.stage;
        // Both count at the beginning, when they have just met.
        increment::atomic(stage.word(stage.counters[index]), INCREMENTS);
        self.wait.once();
        let lock = stage.word(stage.locks[index]);
        let state = hold(lock, HOLDS, [HELD_CHUNKS * CHUNK_STEPS, 0], 1);
        let state = divide(stage.word(HANDED_OVER_AT), index, stage.divided(), state);
        stage.word(STATES_AT + index * APART_WORDS).store(state, Ordering::Relaxed);
    }

    fn settle(&mut self) -> u64 {
        if self.stage.is_right() { RIGHT } else { 0 }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{Cause, PLANTED, Part, REMOVED, RIGHT, Stage, design};
    use kit::model::Profile;
    use kit::workers::Repeated;

    #[test]
    fn every_treatment_is_carried_out_and_seen_to_be() {
        for (planted_name, planted) in PLANTED {
            for (removed_name, removed) in REMOVED {
                let stage = Stage::new(planted, removed).unwrap();
                let part = || Part { stage: &stage, wait: stage.wait };
                std::thread::scope(|scope| {
                    for index in 0..2 {
                        scope.spawn(move || part().work(index, 0));
                    }
                });
                let name = format!("{planted_name} without {removed_name}");
                assert_eq!(part().settle(), RIGHT, "{name}");
                assert_ne!(part().settle(), RIGHT, "{name}: nobody worked");
            }
        }
    }

    #[test]
    fn what_is_removed_is_not_planted_and_nothing_else_changes() {
        let shown = |planted, removed| {
            let Stage { wait, serial_chunks, locks, counters, .. } =
                Stage::new(planted, removed).unwrap();
            format!("{wait:?} {serial_chunks} {locks:?} {counters:?}")
        };
        let base = shown(Cause::Nothing, Cause::Nothing);
        for (name, planted) in &PLANTED[1..] {
            let whole = shown(*planted, Cause::Nothing);
            assert_ne!(whole, base, "{name}");
            for (_, removed) in &PLANTED[1..] {
                let is_it = planted == removed;
                let left = shown(*planted, *removed);
                assert_eq!(left, if is_it { base.clone() } else { whole.clone() });
            }
        }
    }

    #[test]
    fn each_cause_is_looked_for_among_all() {
        let design = design();
        crate::check_levels(&design, "planted", &PLANTED);
        crate::check_levels(&design, "removed", &REMOVED);
        let causes = PLANTED.len() - 1;
        assert_eq!(design.diagnoses.len(), causes);
        let measured = design.treatments(Profile::Smoke);
        assert_eq!(measured.len(), 1 + 4 * 5);
        for diagnosis in &design.diagnoses {
            assert_eq!(diagnosis.suspects.len(), causes);
            let planted = diagnosis.planted.as_deref().unwrap();
            assert!(diagnosis.suspects.iter().any(|suspect| suspect.name == planted));
            for suspect in &diagnosis.suspects {
                assert!(measured.contains(&design.complete(&suspect.without)));
            }
        }
    }
}
