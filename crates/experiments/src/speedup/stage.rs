//! What a crew does in a round, whichever the workload.

use super::arithmetic::{Arithmetic, Way};
use super::memory::{Borders, Stencil, Triad};
use super::output::{Output, Packer};
use crate::support::memory::Home;
use kit::Result;
use kit::workers::Repeated;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::usage::Usage;

/// What the workers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Workload {
    /// Steps of arithmetic.
    Arithmetic(Way),
    /// a = b + 3 c over arrays larger than the caches.
    Triad,
    /// A sweep over a grid larger than the caches.
    Stencil,
    /// Compressing blocks; `ordered` says that they are written one after the other.
    Compress {
        /// Into one file, each block when the one before is there.
        ordered: bool,
    },
}

/// How somebody waits who has nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// By looking: each worker has a CPU of its own.
    Looking,
    /// By giving the CPU to others.
    Yielding,
}

impl Wait {
    pub(super) fn until(self, mut done: impl FnMut() -> bool) {
        while !done() {
            match self {
                Wait::Looking => std::hint::spin_loop(),
                Wait::Yielding => std::thread::yield_now(),
            }
        }
    }
}

/// Returns the share of `all` that worker `index` of `workers` does: equal shares, and one more for
/// each of the first workers until nothing is left over.
pub(super) fn share(all: u64, index: usize, workers: u64) -> u64 {
    all / workers + u64::from((index as u64) < all % workers)
}

/// What all workers of a trial have in common.
#[derive(Debug)]
pub(super) struct Stage {
    shared: Shared,
    workers: usize,
    wait: Wait,
    /// Bytes of the arrays of the workloads that live on memory.
    footprint_bytes: u64,
    /// Switches in the round, of all workers.
    switches: AtomicU64,
    /// Time in which one was at work and no other might be, in the round, in ns.
    alone_ns: AtomicU64,
    /// Results that were looked at and are not what they should be.
    wrong: AtomicU64,
    /// Pages that were looked at and lie on another NUMA node than they should.
    elsewhere: AtomicU64,
}

#[derive(Debug)]
enum Shared {
    Arithmetic(Arithmetic),
    Triad,
    Stencil(Borders),
    Compress(Output),
}

/// One worker's own part of it.
#[derive(Debug)]
pub(super) struct Member<'a> {
    stage: &'a Stage,
    own: Own,
}

#[derive(Debug)]
enum Own {
    Nothing,
    Triad(Triad),
    Stencil(Stencil),
    Packer(Packer),
}

/// A round that was not carried out.
const NOT_DONE: u64 = u64::MAX;

impl Stage {
    /// `scale` times the usual work in a round (of the workloads of arithmetic), or arrays of so
    /// many bytes.
    pub(super) fn new(
        workload: Workload,
        workers: usize,
        wait: Wait,
        scale: u64,
        footprint_bytes: u64,
    ) -> Result<Self> {
        let shared = match workload {
            Workload::Arithmetic(way) => Shared::Arithmetic(Arithmetic::new(way, workers, scale)),
            Workload::Triad => Shared::Triad,
            Workload::Stencil => Shared::Stencil(Borders::new(workers)?),
            Workload::Compress { ordered } => Shared::Compress(Output::new(workers, ordered)?),
        };
        let zero = AtomicU64::default;
        Ok(Stage {
            shared,
            workers,
            wait,
            footprint_bytes,
            switches: zero(),
            alone_ns: zero(),
            wrong: zero(),
            elsewhere: zero(),
        })
    }

    /// A worker's own part: memory that it touches itself.
    pub(super) fn member(&self, index: usize) -> Member<'_> {
        let bytes = self.footprint_bytes;
        let own = match &self.shared {
            Shared::Arithmetic(_) => Own::Nothing,
            Shared::Triad => Own::Triad(Triad::new(bytes, index, self.workers)),
            Shared::Stencil(borders) => {
                Own::Stencil(Stencil::new(bytes, index, self.workers, borders))
            }
            Shared::Compress(_) => Own::Packer(Packer::new()),
        };
        Member { stage: self, own }
    }

    /// How many steps the first worker does in a round, where the work is arithmetic and nothing but
    /// the number of workers can slow it down.
    pub(super) fn independent_steps(&self) -> Option<u64> {
        match &self.shared {
            Shared::Arithmetic(work) => (work.way == Way::Independent).then(|| work.steps(0)),
            _ => None,
        }
    }

    /// The part of the work that only one may do at a time, as planted.
    pub(super) fn exclusive_part(&self) -> f64 {
        match &self.shared {
            Shared::Arithmetic(arithmetic) => arithmetic.exclusive_part(),
            _ => 0.0,
        }
    }

    /// Bytes that a round must move between memory and CPUs.
    pub(super) fn moved_bytes(&self) -> Option<u64> {
        use super::memory::{STENCIL_BYTES, TRIAD_BYTES};
        match self.shared {
            Shared::Triad => Some(Triad::elements(self.footprint_bytes) * TRIAD_BYTES),
            Shared::Stencil(_) => Some(Stencil::points(self.footprint_bytes) * STENCIL_BYTES),
            _ => None,
        }
    }

    /// How many of the pages that were looked at lie on another NUMA node than they should.
    pub(super) fn elsewhere(&self) -> f64 {
        self.elsewhere.load(Ordering::Relaxed) as f64
    }

    /// How many of the results that were looked at are wrong; to be asked when all are done.
    pub(super) fn wrong(&self) -> Result<u64> {
        let written =
            if let Shared::Compress(output) = &self.shared { output.wrong()? } else { 0 };
        Ok(written + self.wrong.load(Ordering::Relaxed))
    }
}

/// What a round came to that all did their part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Switches of all workers.
    pub(super) switches: u64,
    /// The time in which one was at work and no other might be, in ns.
    pub(super) alone_ns: u64,
}

/// The number of bits that hold the switches in the word that describes a round.
const SWITCH_BITS: u32 = 23;

impl Found {
    fn word(self) -> u64 {
        let switches = self.switches.min((1 << SWITCH_BITS) - 1);
        (self.alone_ns << SWITCH_BITS | switches).min(NOT_DONE - 1)
    }

    /// What the word says that `settle` returned; absent if somebody did not do its part.
    pub(super) fn of(word: u64) -> Option<Self> {
        let (switches, alone_ns) = (word & ((1 << SWITCH_BITS) - 1), word >> SWITCH_BITS);
        (word != NOT_DONE).then_some(Found { switches, alone_ns })
    }
}

impl Member<'_> {
    /// Looks at what this worker has made of its memory, and where that lies. Its last act.
    pub(super) fn look(&self, home: Home) -> sys::Result<()> {
        let wrong = match &self.own {
            Own::Triad(triad) => triad.wrong(),
            Own::Stencil(stencil) => stencil.wrong(),
            Own::Nothing | Own::Packer(_) => 0,
        };
        self.stage.wrong.fetch_add(wrong, Ordering::Relaxed);
        if let Own::Triad(triad) = &self.own {
            let elsewhere = home.elsewhere(triad.read())?.unwrap_or(0);
            self.stage.elsewhere.fetch_add(elsewhere as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    fn do_part(&mut self, index: usize) -> u64 {
        match (&self.stage.shared, &mut self.own) {
            (Shared::Arithmetic(arithmetic), _) => arithmetic.work(index, self.stage.wait),
            (Shared::Compress(output), Own::Packer(packer)) => {
                output.work(packer, index, self.stage.wait)
            }
            (Shared::Stencil(borders), Own::Stencil(stencil)) => stencil.work(borders),
            (_, Own::Triad(triad)) => triad.work(),
            // Made together, in `member`.
            _ => 0,
        }
    }
}

impl Repeated for Member<'_> {
    fn work(&mut self, index: usize, _: u64) {
        // Within the instants, which it moves apart by 0.4 µs: before the worker's last meeting
        // would count how others let it wait.
        let before = Usage::of_thread();
        let alone_ns = self.do_part(index);
        let used = Usage::of_thread().since(before);
        let switches = used.voluntary_switches + used.involuntary_switches;
        self.stage.switches.fetch_add(switches, Ordering::Relaxed);
        self.stage.alone_ns.fetch_add(alone_ns, Ordering::Relaxed);
    }

    fn hand_in(&mut self, _: usize) {
        if let (Shared::Stencil(borders), Own::Stencil(stencil)) = (&self.stage.shared, &self.own) {
            stencil.publish(borders);
        }
    }

    fn settle(&mut self) -> u64 {
        let switches = self.stage.switches.swap(0, Ordering::Relaxed);
        let alone_ns = self.stage.alone_ns.swap(0, Ordering::Relaxed);
        let done = match &self.stage.shared {
            Shared::Arithmetic(arithmetic) => arithmetic.settle(),
            Shared::Compress(output) => output.settle(),
            // What they hold is looked at afterwards.
            Shared::Triad | Shared::Stencil(_) => true,
        };
        if done { Found { switches, alone_ns }.word() } else { NOT_DONE }
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, NOT_DONE, share};

    #[test]
    fn a_word_tells_what_a_round_came_to() {
        let found = Found { switches: 12, alone_ns: 10_000_000_000 };
        assert_eq!(Found::of(found.word()), Some(found));
        let most = Found { switches: u64::MAX, alone_ns: (1 << 41) - 1 };
        assert!(Found::of(most.word()).is_some());
        assert_eq!(Found::of(NOT_DONE), None);
    }

    #[test]
    fn shares_are_equal_to_one_and_make_the_whole() {
        for (all, workers) in [(24, 5), (7, 8), (1_920_000, 7), (0, 3)] {
            let shares: Vec<u64> =
                (0..workers).map(|index| share(all, index as usize, workers)).collect();
            assert_eq!(shares.iter().sum::<u64>(), all);
            assert!(shares[0] - shares[shares.len() - 1] <= 1);
        }
    }
}
