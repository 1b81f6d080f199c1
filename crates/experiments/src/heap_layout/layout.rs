//! Where blocks lie, and what their neighbours share.

use super::heap::{Heap, Listed};
use kit::{Result, Stop};
use std::sync::atomic::AtomicU64;
use sys::allocator::{self, Allocator, Block};

/// How many blocks are taken one after the other.
pub(super) const BLOCKS: usize = 64;

/// Room for them all at the largest request, and a free block behind them.
const ARENA_BYTES: usize = 16 << 10;

/// What glibc puts in front of each payload: the size of the block (its malloc.c, "chunk").
const GLIBC_TAG_BYTES: usize = 8;

/// A table to be shown: title, columns, rows.
pub(super) type Shown = (String, [&'static str; 6], Vec<Vec<String>>);

const COLUMNS: [&str; 6] = ["block at", "bytes", "state", "payload at", "cache lines", "who"];

/// Blocks that were taken one after the other, each by the same request.
#[derive(Debug)]
pub(super) enum Taken {
    Own { heap: Heap, payloads: Vec<usize>, first_two: Vec<Listed> },
    Glibc { earlier: Vec<Block>, blocks: Vec<Block> },
}

impl Taken {
    /// Takes the blocks from the heap of [`super::heap`].
    pub(super) fn own(request_bytes: usize) -> Result<Self> {
        let mut heap = Heap::new(ARENA_BYTES);
        let mut payloads = Vec::with_capacity(BLOCKS);
        let mut first_two = Vec::new();
        while payloads.len() < BLOCKS {
            let payload = heap.allocate(request_bytes).ok_or_else(|| {
                let so_many = payloads.len();
                Stop::failed(format!("after {so_many} blocks of {request_bytes} bytes it is full"))
            })?;
            payloads.push(payload);
            if payloads.len() == 2 {
                first_two = heap.blocks().collect();
            }
        }
        Ok(Taken::Own { heap, payloads, first_two })
    }

    /// Takes them from the `malloc` of the C library: in a separate thread, whose arena is new, and
    /// after the same number of others. What was given back while the thread was made is used up by
    /// then.
    pub(super) fn glibc(request_bytes: usize) -> Result<Self> {
        sys::machine::glibc_version()?;
        // A static program has no libraries, and then glibc's malloc.
        let malloc = allocator::library_of(c"malloc");
        kit::require!(
            malloc.is_none() || malloc == allocator::library_of(c"gnu_get_libc_version"),
            "needs the malloc of glibc, and this program has another one"
        );
        let taken = std::thread::scope(|scope| {
            let take = || {
                let malloc = Allocator::of_process();
                // Room for all, so that the list that grows takes no block between two others.
                let mut blocks = Vec::with_capacity(2 * BLOCKS);
                while blocks.len() < 2 * BLOCKS {
                    blocks.push(malloc.take(request_bytes, 0)?);
                }
                Some(blocks)
            };
            std::thread::Builder::new()
                .spawn_scoped(scope, take)?
                .join()
                .map_err(|_| std::io::Error::other("the thread that takes the blocks panicked"))
        })?;
        let mut earlier =
            taken.ok_or_else(|| Stop::unsupported("malloc refused a few small blocks"))?;
        let blocks = earlier.split_off(BLOCKS);
        Ok(Taken::Glibc { earlier, blocks })
    }

    /// Returns where the payloads begin: addresses, or offsets that also identify cache lines.
    pub(super) fn payloads(&self) -> Vec<u64> {
        match self {
            Taken::Own { payloads, .. } => payloads.iter().map(|at| *at as u64).collect(),
            Taken::Glibc { blocks, .. } => blocks.iter().map(|b| b.address() as u64).collect(),
        }
    }

    /// The first word of a block.
    pub(super) fn counter(&self, index: usize) -> Option<&AtomicU64> {
        match self {
            Taken::Own { heap, payloads, .. } => heap.words(*payloads.get(index)?).next(),
            Taken::Glibc { blocks, .. } => blocks.get(index).map(Block::word),
        }
    }

    /// What the first block takes in all, in bytes.
    pub(super) fn block_bytes(&self) -> u64 {
        match self {
            Taken::Own { first_two, .. } => first_two.first().map_or(0, |b| b.bytes as u64),
            Taken::Glibc { blocks, .. } => blocks.first().map_or(0, glibc_bytes) as u64,
        }
    }

    /// Gives all blocks back, every other one first, so that there is something to merge. Returns
    /// into how many pieces the heap of our own is broken then, and how many requests or blocks it
    /// refused; `None` for malloc, which does not say.
    pub(super) fn give_back(self) -> Option<(usize, u64)> {
        match self {
            Taken::Own { mut heap, payloads, .. } => {
                let (even, odd): (Vec<_>, Vec<_>) =
                    payloads.into_iter().enumerate().partition(|(index, _)| index % 2 == 0);
                let mut refused = heap.refused();
                for (_, payload) in even.into_iter().chain(odd) {
                    refused += u64::from(heap.release(payload).is_err());
                }
                Some((heap.blocks().count(), refused))
            }
            Taken::Glibc { earlier, blocks } => {
                let malloc = Allocator::of_process();
                earlier.into_iter().chain(blocks).for_each(|block| malloc.give(block));
                None
            }
        }
    }

    /// The blocks as a table.
    pub(super) fn shown(&self, request_bytes: u64, line_bytes: u64) -> Shown {
        let (title, blocks): (String, Vec<Row>) = match self {
            Taken::Own { first_two, .. } => {
                let row = |block: &Listed| {
                    let all = [block.offset, block.bytes, block.payload(), block.payload_bytes()];
                    (block.in_use, all.map(|number| number as u64))
                };
                let title = format!("The heap after two requests of {request_bytes} bytes");
                (title, first_two.iter().map(row).collect())
            }
            Taken::Glibc { blocks, .. } => {
                let first = blocks.first().map_or(0, Block::address) as u64;
                let row = |block: &Block| {
                    let payload =
                        (block.address() as u64).abs_diff(first / line_bytes * line_bytes);
                    let at = payload.saturating_sub(GLIBC_TAG_BYTES as u64);
                    let bytes = glibc_bytes(block) as u64;
                    (true, [at, bytes, payload, block.usable_bytes() as u64])
                };
                let title = format!(
                    "Blocks of malloc({request_bytes}), counted from the first one's cache line"
                );
                (title, blocks.iter().take(4).map(row).collect())
            }
        };
        let row = |(index, (in_use, [at, bytes, payload, usable])): (usize, Row)| {
            let lines = match lines(payload, usable, line_bytes) {
                (first, last) if first == last => first.to_string(),
                (first, last) => format!("{first} to {last}"),
            };
            let (state, who) = match in_use {
                true => ("in use", format!("request {}", index + 1)),
                false => ("free", "–".into()),
            };
            vec![at.to_string(), bytes.to_string(), state.into(), payload.to_string(), lines, who]
        };
        (title, COLUMNS, blocks.into_iter().enumerate().map(row).collect())
    }
}

/// Whether a block is in use, where it begins and how many bytes it has, and the same of its payload.
type Row = (bool, [u64; 4]);

fn glibc_bytes(block: &Block) -> usize {
    block.usable_bytes() + GLIBC_TAG_BYTES
}

/// The first and the last line of some bytes.
fn lines(start: u64, bytes: u64, line_bytes: u64) -> (u64, u64) {
    (start / line_bytes, (start + bytes.max(1) - 1) / line_bytes)
}

/// How many neighbours share a line with their first words, and how many with any byte that was
/// asked for.
pub(super) fn sharing(payloads: &[u64], request_bytes: u64, line_bytes: u64) -> (u64, u64) {
    let count = |share: &dyn Fn(u64, u64) -> bool| {
        payloads.windows(2).filter(|pair| share(pair[0].min(pair[1]), pair[0].max(pair[1]))).count()
            as u64
    };
    let first_words = count(&|lower, upper| lower / line_bytes == upper / line_bytes);
    let any_bytes = count(&|lower, upper| {
        lines(lower, request_bytes, line_bytes).1 >= lines(upper, request_bytes, line_bytes).0
    });
    (first_words, any_bytes)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    fn own(request_bytes: usize) -> (Vec<u64>, u64) {
        let taken = Taken::own(request_bytes).unwrap();
        (taken.payloads(), taken.block_bytes())
    }

    #[test]
    fn neighbours_lie_where_arithmetic_puts_them() {
        for (request, block) in [(8, 32), (16, 32), (24, 48), (40, 64), (48, 64), (64, 80)] {
            let (payloads, block_bytes) = own(request);
            assert_eq!(block_bytes, block);
            let expected: Vec<u64> = (0..BLOCKS as u64).map(|index| 16 + index * block).collect();
            assert_eq!(payloads, expected, "request of {request}");
        }
    }

    #[test]
    fn eight_bytes_share_every_other_time_and_sixty_four_touch_all_the_same() {
        let pairs = BLOCKS as u64 - 1;
        let (eight, _) = own(8);
        // 16 and 48 on one line, 48 and 80 on two, and so on.
        assert_eq!(sharing(&eight, 8, 64), (pairs.div_ceil(2), pairs.div_ceil(2)));
        let (sixty_four, _) = own(64);
        let (first_words, any_bytes) = sharing(&sixty_four, 64, 64);
        assert_eq!(first_words, 0);
        // 16 to 79 and 96 to 159 meet on the line from 64 to 127. Only a payload that ends with
        // its line leaves the next one alone.
        assert!(any_bytes > pairs / 2 && any_bytes < pairs, "{any_bytes}");
        assert_eq!(sharing(&sixty_four[..2], 64, 64), (0, 1));
        assert_eq!(sharing(&[0, 64], 64, 64), (0, 0));
        assert_eq!(sharing(&[48, 16], 8, 64), (1, 1), "in whichever order");
    }

    #[test]
    fn the_table_shows_what_a_hand_would_draw() {
        let (title, columns, rows) = Taken::own(8).unwrap().shown(8, 64);
        assert_eq!(title, "The heap after two requests of 8 bytes");
        assert_eq!(rows[0], ["8", "32", "in use", "16", "0", "request 1"]);
        assert_eq!(rows[1], ["40", "32", "in use", "48", "0", "request 2"]);
        assert_eq!(rows[2][2], "free");
        assert!(rows.len() == 3 && rows.iter().all(|row| row.len() == columns.len()));
        let (_, _, rows) = Taken::own(64).unwrap().shown(64, 64);
        assert_eq!((&rows[0][4], &rows[1][4]), (&"0 to 1".into(), &"1 to 2".into()));
    }

    #[test]
    fn blocks_of_malloc_do_not_overlap_and_count() {
        let Ok(taken) = Taken::glibc(8) else {
            return; // Another C library.
        };
        let mut payloads = taken.payloads();
        payloads.sort_unstable();
        // What the first block takes is no bound: it may be a piece that another test gave back, and
        // larger than was asked for. No block of glibc is smaller than this.
        assert!(taken.block_bytes() >= 32);
        assert!(payloads.windows(2).all(|pair| pair[1] - pair[0] >= 32), "{payloads:?}");
        taken.counter(1).unwrap().fetch_add(3, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(taken.counter(1).unwrap().load(std::sync::atomic::Ordering::Relaxed), 3);
        assert_eq!(taken.shown(8, 64).2.len(), 4);
        assert!(taken.counter(BLOCKS).is_none());
        assert_eq!(taken.give_back(), None);
    }

    #[test]
    fn what_is_given_back_is_one_piece_again() {
        assert_eq!(Taken::own(24).unwrap().give_back(), Some((1, 0)));
    }
}
