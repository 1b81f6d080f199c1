//! Are a known serial fraction and a known share of time under a lock found?

use super::busy::{RIGHT, divide, hold, record};
use crate::support::Padded;
use crate::support::party::Party;
use crate::support::passes::leap;
use kit::workers::{Model, Repeated};
use kit::{Result, Trial};
use std::sync::atomic::Ordering;

experiment!("planted_parallel", "parallel.toml");

/// Steps of arithmetic in a chunk, the unit of work here: some 50 microseconds. A hand-over between
/// threads takes a few tenths of one (the waiting one looks up, and the line comes over), which
/// makes what goes from hand to hand longer than calculated, by about 0.2 % with chunks as long as
/// these; rounds must not be much longer, for few are to hold a preemption.
const CHUNK_STEPS: u64 = 50_000;

/// Chunks of a round that is divided between the threads.
const DIVIDED_CHUNKS: u64 = 8;

/// Those of them that one thread does alone in the level with a serial quarter.
const SERIAL_CHUNKS: u64 = 2;

/// How often each thread takes the lock in a round.
const HOLDS: u64 = 3;

/// Chunks under the lock, and chunks without it before it is taken again.
const HELD_CHUNKS: u64 = 3;
const FREE_CHUNKS: u64 = 1;

const THREADS: usize = 2;

/// What the two threads do in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    /// `serial_chunks` are one thread's; what is left is divided.
    Divided { serial_chunks: u64 },
    /// Both take a lock again and again: the same one, or each its own.
    Locked { same: bool },
}

/// The levels of the factor `plan`.
const PLANS: [(&str, Plan); 5] = [
    ("serial_all", Plan::Divided { serial_chunks: DIVIDED_CHUNKS }),
    ("serial_quarter", Plan::Divided { serial_chunks: SERIAL_CHUNKS }),
    ("serial_none", Plan::Divided { serial_chunks: 0 }),
    ("lock_each", Plan::Locked { same: false }),
    ("lock_one", Plan::Locked { same: true }),
];

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let plan = trial.pick("plan", &PLANS)?;
    let party = Party::new(trial, Model::Thread, THREADS, THREADS)?;
    let rounds = party.rounds(trial)?;
    let stage = Stage { plan, shared: Shared::default() };
    party.work(trial, |worker| rounds.run(worker, &mut &stage))?;
    record(trial, &party, &rounds, "round_ns")
}

/// What the two threads do, and with what.
#[derive(Debug)]
struct Stage {
    plan: Plan,
    shared: Shared,
}

/// What the two threads share.
#[derive(Debug, Default)]
struct Shared {
    /// 1 as soon as the serial part is done.
    handed_over: Padded,
    /// 1 while somebody has the lock.
    locks: [Padded; THREADS],
    /// Where each thread's arithmetic has come to.
    states: [Padded; THREADS],
}

impl Plan {
    /// How many chunks a thread does in a round.
    fn chunks(self, index: usize) -> u64 {
        match self {
            Plan::Divided { serial_chunks } => {
                let own = if index == 0 { serial_chunks } else { 0 };
                own + each(serial_chunks)
            }
            Plan::Locked { .. } => HOLDS * (HELD_CHUNKS + FREE_CHUNKS),
        }
    }
}

/// Chunks of each thread where this number is one thread's.
fn each(serial_chunks: u64) -> u64 {
    (DIVIDED_CHUNKS - serial_chunks) / THREADS as u64
}

impl Repeated for &Stage {
    fn work(&mut self, index: usize, _: u64) {
        let state = match self.plan {
            Plan::Divided { serial_chunks } => {
                let steps = [serial_chunks, each(serial_chunks)].map(|chunks| chunks * CHUNK_STEPS);
                divide(&self.shared.handed_over.0, index, steps, 1)
            }
            Plan::Locked { same } => {
                let lock = &self.shared.locks[if same { 0 } else { index }].0;
                hold(lock, HOLDS, [HELD_CHUNKS, FREE_CHUNKS].map(|chunks| chunks * CHUNK_STEPS), 1)
            }
        };
        self.shared.states[index].0.store(state, Ordering::Relaxed);
    }

    fn settle(&mut self) -> u64 {
        self.shared.handed_over.0.store(0, Ordering::Relaxed);
        let right = (0..THREADS).all(|index| {
            let steps = self.plan.chunks(index) * CHUNK_STEPS;
            self.shared.states[index].0.swap(0, Ordering::Relaxed) == leap(1, steps)
        });
        if right { RIGHT } else { 0 }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{
        DIVIDED_CHUNKS, FREE_CHUNKS, HELD_CHUNKS, HOLDS, PLANS, Plan, RIGHT, SERIAL_CHUNKS, Shared,
        Stage, THREADS, design,
    };
    use kit::model::Region;
    use kit::workers::Repeated;

    /// How far from its calculated value a ratio may lie in truth, as a share: in addition to the
    /// hand-overs, the threads begin a fraction of a microsecond apart, and an interrupt on either
    /// CPU holds up the one that the other waits for.
    const INEXACT: f64 = 0.015;

    /// How many times as long as with locks of their own two threads take with one lock.
    ///
    /// They take turns: while one works without the lock the other holds it, and since it is held for
    /// longer than it is not, the first then waits. So the lock is never free until both have held it
    /// as often as they will, and the last one works without it.
    fn one_lock_takes() -> f64 {
        let one = THREADS as u64 * HOLDS * HELD_CHUNKS + FREE_CHUNKS;
        one as f64 / (HOLDS * (HELD_CHUNKS + FREE_CHUNKS)) as f64
    }

    /// The serial fraction.
    fn serial_share() -> f64 {
        SERIAL_CHUNKS as f64 / DIVIDED_CHUNKS as f64
    }

    /// Returns the speed-up on [`THREADS`] threads by Amdahl's law ("Validity of the single
    /// processor approach", 1967).
    fn amdahl(serial_share: f64) -> f64 {
        1.0 / (serial_share + (1.0 - serial_share) / THREADS as f64)
    }

    fn together(stage: &Stage) {
        std::thread::scope(|scope| {
            for index in 0..2 {
                scope.spawn(move || {
                    let mut own = stage;
                    own.work(index, 0);
                });
            }
        });
    }

    #[test]
    fn every_plan_is_carried_out_and_seen_to_be() {
        for (name, plan) in PLANS {
            let stage = Stage { plan, shared: Shared::default() };
            for _ in 0..2 {
                together(&stage);
                assert_eq!((&stage).settle(), RIGHT, "{name}");
            }
            assert_ne!((&stage).settle(), RIGHT, "{name}: nobody worked");
        }
    }

    #[test]
    fn all_of_the_divided_work_is_done_however_it_is_divided() {
        for serial_chunks in [0, SERIAL_CHUNKS, DIVIDED_CHUNKS] {
            let plan = Plan::Divided { serial_chunks };
            assert_eq!(plan.chunks(0) + plan.chunks(1), DIVIDED_CHUNKS);
        }
    }

    #[test]
    fn truths_follow_from_the_plans() {
        assert!((amdahl(0.25) - 1.6).abs() < 1e-12 && (amdahl(0.0) - 2.0).abs() < 1e-12);
        assert!((one_lock_takes() - 19.0 / 12.0).abs() < 1e-12);
        let design = design();
        crate::check_levels(&design, "plan", &PLANS);
        for (id, calculated) in [
            ("serial_fraction", 1.0 - serial_share()),
            ("amdahl", amdahl(serial_share())),
            ("lock_hold", one_lock_takes()),
        ] {
            let planted = design.planted.iter().find(|it| it.id == id).unwrap();
            assert_eq!(planted.truth, Region::about(calculated, INEXACT), "{id}");
            assert!(!planted.truth.contains(planted.without), "{id}");
        }
        assert_eq!(design.planted.len(), 3);
    }

    /// The schedule of the two threads behind one lock, chunk by chunk, as a simulation.
    #[test]
    fn one_lock_takes_as_long_as_taking_turns_does() {
        let (held, free, holds) = (HELD_CHUNKS, FREE_CHUNKS, HOLDS);
        let (mut lock_free_at, mut ready_at) = (0, [0, 0]);
        for turn in 0..2 * holds as usize {
            let who = turn % 2;
            let taken_at = lock_free_at.max(ready_at[who]);
            lock_free_at = taken_at + held;
            ready_at[who] = lock_free_at + free;
        }
        let end = ready_at.into_iter().max().unwrap();
        assert!((one_lock_takes() - end as f64 / (holds * (held + free)) as f64).abs() < 1e-12);
    }
}
