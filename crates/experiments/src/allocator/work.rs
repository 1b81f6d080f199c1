//! What the threads do: take blocks, use them, give them back; and find out whether any block was
//! changed by somebody else.

use super::level::Calls;
use crate::support::crowd::{Gate, Rounds, Shift};
use crate::support::random::Random;
use kit::declare::Named;
use kit::model::Profile;
use std::array::from_fn;
use sys::allocator::{Allocator, Block, Slot};

/// Blocks that each thread has at any time, in the pattern `same`; slots of a ring, in `handed`.
pub(super) const LIVE: usize = 256;

/// Pairs of malloc and free between two looks at the clock, which cost about 25 ns each. Under
/// contention a pair takes a microsecond and more, and all must see the end of a round.
const BATCH: u64 = 32;

/// Blocks that are handed over between two looks at the clock; each takes longer.
const HANDED_BATCH: u64 = 8;

/// How often a thread looks for its partner before it looks at the clock and lets others run: on
/// a CPU that both share, looking on would keep the partner from what is looked for.
const LOOKS: u32 = 64;

/// The sizes that are asked for, from `low_bytes` to `low_bytes` + `steps` − 1, all alike likely.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    low_bytes: u64,
    steps: u64,
}

/// The levels of the factor `size`.
pub(super) const SIZES: [Named<Sizes>; 3] = [
    Named::new("random", "16 to 1016 bytes, drawn at random", Sizes { low_bytes: 16, steps: 1001 }),
    Named::from("small", "64 bytes", Profile::Standard, Sizes { low_bytes: 64, steps: 1 }),
    Named::from("large", "64 KiB", Profile::Standard, Sizes { low_bytes: 65_536, steps: 1 }),
];

impl Sizes {
    /// The largest.
    pub(super) fn most_bytes(self) -> usize {
        (self.low_bytes + self.steps - 1) as usize
    }

    /// One of them, from the upper half of a random word.
    fn of(self, random: u64) -> usize {
        (self.low_bytes + (((random >> 32) * self.steps) >> 32)) as usize
    }
}

/// What one thread did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Blocks that were given back.
    pub(super) freed: u64,
    /// Blocks that were asked for.
    pub(super) asked: u64,
    /// Of these, refused.
    pub(super) refused: u64,
    /// Blocks that did not hold what was written in them.
    pub(super) changed: u64,
}

impl Counts {
    /// Blocks that came less those that went.
    pub(super) fn gained(&self) -> i64 {
        self.asked as i64 - self.refused as i64 - self.freed as i64
    }

    /// The sum of two.
    pub(super) fn plus(self, other: Counts) -> Counts {
        Counts {
            freed: self.freed + other.freed,
            asked: self.asked + other.asked,
            refused: self.refused + other.refused,
            changed: self.changed + other.changed,
        }
    }
}

/// One thread's life.
#[derive(Debug)]
pub(super) struct Tally {
    /// What it did in each round.
    pub(super) rounds: Rounds<Counts>,
    /// What it did in all: with the rounds that only warmed up, and with what it tidied up.
    pub(super) all: Counts,
    /// Blocks that it had more at the end than at the beginning, by looking.
    pub(super) kept: i64,
}

/// Where blocks come from and go to.
trait Heap {
    fn take(&mut self, bytes: usize, stamp: u64) -> Option<Block>;
    fn give(&mut self, block: Block);
}

impl Heap for Allocator {
    #[inline]
    fn take(&mut self, bytes: usize, stamp: u64) -> Option<Block> {
        Allocator::take(self, bytes, stamp)
    }

    #[inline]
    fn give(&mut self, block: Block) {
        Allocator::give(self, block);
    }
}

/// No allocator at all: the block given back last is the next one. It is used in the same way, and
/// what was allocated at first is as large as the largest that will be asked for.
struct Again {
    allocator: Allocator,
    most_bytes: usize,
    last: Option<Block>,
}

impl Heap for Again {
    #[inline]
    fn take(&mut self, bytes: usize, stamp: u64) -> Option<Block> {
        match self.last.take() {
            Some(mut block) => {
                block.mark(bytes, stamp);
                Some(block)
            }
            None => self.allocator.take(self.most_bytes, stamp),
        }
    }

    #[inline]
    fn give(&mut self, block: Block) {
        if let Some(earlier) = self.last.replace(block) {
            self.allocator.give(earlier);
        }
    }
}

/// The pattern `same`: a thread gives back what it took itself.
pub(super) fn alone(
    allocator: Allocator,
    calls: Calls,
    sizes: Sizes,
    random: Random,
    index: usize,
    gate: &Gate,
) -> Option<Tally> {
    match calls {
        Calls::Plain | Calls::BehindMutex => {
            replace_all_along(allocator, sizes, random, index, gate)
        }
        Calls::None => {
            let heap = Again { allocator, most_bytes: sizes.most_bytes(), last: None };
            replace_all_along(heap, sizes, random, index, gate)
        }
    }
}

/// A place for a block, with the stamp that was written in it.
type Place = Option<(Block, u64)>;

/// One after the other, blocks drawn at random are given back and others taken in their place.
fn replace_all_along(
    mut heap: impl Heap,
    sizes: Sizes,
    mut random: Random,
    index: usize,
    gate: &Gate,
) -> Option<Tally> {
    let mut kept: [Place; LIVE] = from_fn(|_| {
        let stamp = random.next();
        heap.take(sizes.of(stamp), stamp).map(|block| (block, stamp))
    });
    let held = kept.iter().flatten().count() as i64;
    let mut all = Counts::default();
    let rounds = gate.work(index, |shift| {
        let mut counts = Counts::default();
        loop {
            for _ in 0..BATCH {
                let stamp = random.next();
                let place = &mut kept[stamp as usize % LIVE];
                replace(&mut heap, place, sizes.of(stamp), stamp, &mut counts);
            }
            if shift.is_over() {
                break;
            }
        }
        all = all.plus(counts);
        counts
    })?;
    let gained = kept.iter().flatten().count() as i64 - held;
    for (block, stamp) in kept.into_iter().flatten() {
        all.changed += u64::from(block.stamp() != stamp);
        heap.give(block);
    }
    Some(Tally { rounds, all, kept: gained })
}

/// Gives back what is in a place, and takes another block for it.
#[inline]
fn replace(heap: &mut impl Heap, place: &mut Place, bytes: usize, stamp: u64, counts: &mut Counts) {
    if let Some((block, written)) = place.take() {
        counts.changed += u64::from(block.stamp() != written);
        counts.freed += 1;
        heap.give(block);
    }
    counts.asked += 1;
    match heap.take(bytes, stamp) {
        Some(block) => *place = Some((block, stamp)),
        None => counts.refused += 1,
    }
}

/// Where one thread leaves blocks for another, in order. A place says itself whether it is full,
/// so that the two share no counter.
#[derive(Debug)]
pub(super) struct Ring {
    slots: Vec<Slot>,
}

impl Ring {
    pub(super) fn new() -> Self {
        Ring { slots: (0..LIVE).map(|_| Slot::default()).collect() }
    }

    #[inline]
    fn slot(&self, index: u64) -> &Slot {
        &self.slots[index as usize % LIVE]
    }
}

/// The stamp of the block number `index` of a pair of threads: both sides know it.
#[inline]
fn stamp_of(seed: u64, index: u64) -> u64 {
    (seed ^ index).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Passes a moment of waiting for the other side; says whether the time is over.
#[inline]
fn wait_on(looks: &mut u32, shift: &Shift) -> bool {
    *looks += 1;
    if looks.is_multiple_of(LOOKS) {
        std::thread::yield_now();
        return shift.is_over();
    }
    std::hint::spin_loop();
    false
}

/// One side of the pattern `handed`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a> {
    pub(super) allocator: Allocator,
    pub(super) ring: &'a Ring,
    /// The same on both sides.
    pub(super) seed: u64,
}

impl Side<'_> {
    /// Takes blocks and leaves them for the other side.
    pub(super) fn produce(
        &self,
        sizes: Sizes,
        mut random: Random,
        index: usize,
        gate: &Gate,
    ) -> Option<Tally> {
        let mut all = Counts::default();
        let mut sent = 0;
        // The block that found its place full when the last round ended.
        let mut pending = None;
        let rounds = gate.work(index, |shift| {
            let mut counts = Counts::default();
            while !(counts.asked.is_multiple_of(HANDED_BATCH) && shift.is_over()) {
                let block = pending.take().or_else(|| {
                    counts.asked += 1;
                    let bytes = sizes.of(random.next());
                    self.allocator.take(bytes, stamp_of(self.seed, sent))
                });
                match block {
                    None => counts.refused += 1,
                    Some(block) => match self.leave(block, sent, shift) {
                        Ok(()) => sent += 1,
                        Err(block) => {
                            pending = Some(block);
                            break;
                        }
                    },
                }
            }
            all = all.plus(counts);
            counts
        })?;
        if let Some(block) = pending {
            all.freed += 1;
            self.allocator.give(block);
        }
        Some(Tally { rounds, all, kept: 0 })
    }

    /// Leaves a block in its place as soon as that is empty; gives it back when the time is over.
    #[inline]
    fn leave(&self, mut block: Block, number: u64, shift: &Shift) -> Result<(), Block> {
        let mut looks = 0;
        loop {
            match self.ring.slot(number).put(block) {
                Ok(()) => return Ok(()),
                Err(back) => block = back,
            }
            if wait_on(&mut looks, shift) {
                return Err(block);
            }
        }
    }

    /// Finds blocks and gives them back.
    pub(super) fn consume(&self, index: usize, gate: &Gate) -> Option<Tally> {
        let mut all = Counts::default();
        let rounds = gate.work(index, |shift| {
            let mut counts = Counts::default();
            let mut looks = 0;
            loop {
                if self.take_one(all.freed + counts.freed, &mut counts) {
                    if counts.freed.is_multiple_of(HANDED_BATCH) && shift.is_over() {
                        break;
                    }
                } else if wait_on(&mut looks, shift) {
                    break;
                }
            }
            all = all.plus(counts);
            counts
        })?;
        // The other side has left its last block by now.
        while self.take_one(all.freed, &mut all) {}
        Some(Tally { rounds, all, kept: 0 })
    }

    /// Gives back the block of that number, if it is there.
    #[inline]
    fn take_one(&self, number: u64, counts: &mut Counts) -> bool {
        let Some(block) = self.ring.slot(number).take() else {
            return false;
        };
        counts.changed += u64::from(block.stamp() != stamp_of(self.seed, number));
        counts.freed += 1;
        self.allocator.give(block);
        true
    }
}
