//! What the threads do: take blocks, use them, give them back; and find out whether any block was
//! changed by somebody else.

use super::level::Calls;
use crate::support::random::Random;
use kit::workers::Repeated;
use std::array::from_fn;
use std::sync::atomic::{AtomicU64, Ordering};
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
pub(super) const SIZES: [(&str, Sizes); 3] = [
    ("random", Sizes { low_bytes: 16, steps: 1001 }),
    ("small", Sizes { low_bytes: 64, steps: 1 }),
    ("large", Sizes { low_bytes: 65_536, steps: 1 }),
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

/// One thread's work with blocks. When it is dropped it gives back what it has.
pub(super) trait Work {
    /// Works until then; in fact a little longer, if it is late already.
    fn work(&mut self, until_ns: u64);

    /// What it did so far.
    fn counts(&mut self) -> &mut Counts;

    /// All have worked: looks at what is left.
    fn close(&mut self);

    /// Blocks that it has.
    fn held(&self) -> u64 {
        0
    }
}

/// One thread's part of all rounds.
pub(super) struct Part<'a> {
    pub(super) work: &'a mut dyn Work,
    /// Pairs of all threads in a round.
    pub(super) pairs: &'a AtomicU64,
    /// Blocks given back in the rounds before.
    pub(super) freed_before: u64,
}

impl Repeated for Part<'_> {
    fn work(&mut self, _: usize, until_ns: u64) {
        self.work.work(until_ns);
    }

    fn hand_in(&mut self, _: usize) {
        let freed = self.work.counts().freed;
        self.pairs.fetch_add(freed - self.freed_before, Ordering::Relaxed);
        self.freed_before = freed;
    }

    fn settle(&mut self) -> u64 {
        self.pairs.swap(0, Ordering::Relaxed)
    }
}

#[inline]
fn is_over(until_ns: u64) -> bool {
    sys::clock::now_ns() >= until_ns
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

/// A place for a block, with the stamp that was written in it.
type Place = Option<(Block, u64)>;

/// The pattern `same`: one after the other, blocks drawn at random are given back and others taken
/// in their place.
struct Replacing<H: Heap> {
    heap: H,
    sizes: Sizes,
    random: Random,
    kept: [Place; LIVE],
    counts: Counts,
}

/// Returns the work of a thread that gives back the blocks that it took itself.
pub(super) fn alone(
    allocator: Allocator,
    calls: Calls,
    sizes: Sizes,
    random: Random,
) -> Box<dyn Work> {
    match calls {
        Calls::Plain | Calls::BehindMutex => Box::new(Replacing::new(allocator, sizes, random)),
        Calls::None => {
            let heap = Again { allocator, most_bytes: sizes.most_bytes(), last: None };
            Box::new(Replacing::new(heap, sizes, random))
        }
    }
}

impl<H: Heap> Replacing<H> {
    fn new(mut heap: H, sizes: Sizes, mut random: Random) -> Self {
        let mut counts = Counts::default();
        let kept = from_fn(|_| {
            let (mut place, stamp) = (None, random.next());
            replace(&mut heap, &mut place, sizes.of(stamp), stamp, &mut counts);
            place
        });
        Replacing { heap, sizes, random, kept, counts }
    }
}

impl<H: Heap> Work for Replacing<H> {
    fn work(&mut self, until_ns: u64) {
        let Replacing { heap, sizes, random, kept, counts } = self;
        loop {
            for _ in 0..BATCH {
                let stamp = random.next();
                let place = &mut kept[stamp as usize % LIVE];
                replace(heap, place, sizes.of(stamp), stamp, counts);
            }
            if is_over(until_ns) {
                break;
            }
        }
    }

    fn counts(&mut self) -> &mut Counts {
        &mut self.counts
    }

    fn close(&mut self) {
        let changed = |(block, written): &&(Block, u64)| block.stamp() != *written;
        self.counts.changed += self.kept.iter().flatten().filter(changed).count() as u64;
    }

    fn held(&self) -> u64 {
        self.kept.iter().flatten().count() as u64
    }
}

impl<H: Heap> Drop for Replacing<H> {
    fn drop(&mut self) {
        for (block, _) in self.kept.iter_mut().filter_map(Option::take) {
            self.heap.give(block);
        }
    }
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
fn wait_on(looks: &mut u32, until_ns: u64) -> bool {
    *looks += 1;
    if looks.is_multiple_of(LOOKS) {
        std::thread::yield_now();
        return is_over(until_ns);
    }
    std::hint::spin_loop();
    false
}

/// What both sides of the pattern `handed` know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a> {
    pub(super) allocator: Allocator,
    pub(super) ring: &'a Ring,
    /// The same on both sides.
    pub(super) seed: u64,
}

/// Takes blocks and leaves them for the other side.
pub(super) struct Producer<'a> {
    side: Side<'a>,
    sizes: Sizes,
    random: Random,
    sent: u64,
    /// The block that found its place full when the last round ended.
    pending: Option<Block>,
    counts: Counts,
}

impl<'a> Producer<'a> {
    pub(super) fn new(side: Side<'a>, sizes: Sizes, random: Random) -> Self {
        Producer { side, sizes, random, sent: 0, pending: None, counts: Counts::default() }
    }

    fn next(&mut self) -> Option<Block> {
        self.pending.take().or_else(|| {
            self.counts.asked += 1;
            let bytes = self.sizes.of(self.random.next());
            self.side.allocator.take(bytes, stamp_of(self.side.seed, self.sent))
        })
    }
}

impl Work for Producer<'_> {
    fn work(&mut self, until_ns: u64) {
        loop {
            match self.next() {
                None => self.counts.refused += 1,
                Some(block) => match self.side.leave(block, self.sent, until_ns) {
                    Ok(()) => self.sent += 1,
                    Err(block) => {
                        self.pending = Some(block);
                        break;
                    }
                },
            }
            if self.counts.asked.is_multiple_of(HANDED_BATCH) && is_over(until_ns) {
                break;
            }
        }
    }

    fn counts(&mut self) -> &mut Counts {
        &mut self.counts
    }

    fn close(&mut self) {
        if let Some(block) = self.pending.take() {
            self.counts.freed += 1;
            self.side.allocator.give(block);
        }
    }
}

/// Finds blocks and gives them back.
pub(super) struct Consumer<'a> {
    side: Side<'a>,
    counts: Counts,
}

impl<'a> Consumer<'a> {
    pub(super) fn new(side: Side<'a>) -> Self {
        Consumer { side, counts: Counts::default() }
    }

    /// Gives back the next block, if it is there.
    #[inline]
    fn take_one(&mut self) -> bool {
        let number = self.counts.freed;
        let Some(block) = self.side.ring.slot(number).take() else { return false };
        self.counts.changed += u64::from(block.stamp() != stamp_of(self.side.seed, number));
        self.counts.freed += 1;
        self.side.allocator.give(block);
        true
    }
}

impl Work for Consumer<'_> {
    fn work(&mut self, until_ns: u64) {
        let mut looks = 0;
        loop {
            if self.take_one() {
                if self.counts.freed.is_multiple_of(HANDED_BATCH) && is_over(until_ns) {
                    break;
                }
            } else if wait_on(&mut looks, until_ns) {
                break;
            }
        }
    }

    fn counts(&mut self) -> &mut Counts {
        &mut self.counts
    }

    /// The other side has left its last block by now.
    fn close(&mut self) {
        while self.take_one() {}
    }
}

impl Side<'_> {
    /// Leaves a block in its place as soon as that is empty; gives it back when the time is over.
    #[inline]
    fn leave(&self, mut block: Block, number: u64, until_ns: u64) -> Result<(), Block> {
        let mut looks = 0;
        loop {
            match self.ring.slot(number).put(block) {
                Ok(()) => return Ok(()),
                Err(back) => block = back,
            }
            if wait_on(&mut looks, until_ns) {
                return Err(block);
            }
        }
    }
}
