//! Memory bandwidth is taken by reading a buffer well past the last cache, cache by walking a buffer
//! of a cache's size, both on a CPU beside the program's.
//!
//! For the part of the time in which nothing is to be taken, the co-runner reads a buffer that stays in
//! its own first cache: its CPU executes the same instructions at every strength as at the level they are
//! compared with, so that a shared core or a common clock makes no difference between them. Hypervisors do
//! not always tell that two CPUs are the hyper-threads of one core, and change which are.

use super::Place;
use super::corunner::{CoRunner, Load};
use super::cpu::arithmetic;
use kit::{Result, Stop, Trial};
use sys::clock::now_ns;

/// The buffer that is streamed through, in sizes of the last cache, with bounds in bytes.
const STREAM_CACHES: u64 = 3;
const STREAM_BYTES: std::ops::RangeInclusive<u64> = (32 << 20)..=(192 << 20);

/// What is read between two looks at the clock, in bytes, and what of it stays in a first cache.
const CHUNK_BYTES: usize = 256 << 10;
const NEAR_BYTES: usize = 8 << 10;

/// What fits in the caches of a CPU's own, past the first of them, in bytes.
const OWN_BYTES: u64 = 128 << 10;

/// A line of a cache, in 8-byte words.
const LINE_WORDS: usize = 8;

/// Steps of a walk between two looks at the clock.
const WALK_STEPS: usize = 2048;

const ONE_CPU: &str = "needs a CPU beside the program's, and there is only one: allow two \
                       (--affinity), or use a machine that has them";

fn last_cache_bytes(cpu: u32) -> u64 {
    let caches = sys::topology::caches(cpu);
    caches.iter().filter(|cache| cache.holds_data()).map(|c| c.size_bytes).max().unwrap_or(8 << 20)
}

/// The size of the largest cache that the reference's CPU and one beside it share, in bytes.
///
/// # Errors
/// Unsupported: there is none.
pub(super) fn shared_cache(place: &Place) -> Result<u64> {
    let cpu = place.reference()?;
    if place.beside.is_empty() {
        return Err(Stop::unsupported(ONE_CPU));
    }
    let caches = sys::topology::caches(cpu);
    let shared = caches.iter().filter(|cache| {
        cache.holds_data() && place.beside.iter().any(|beside| cache.shared_by.contains(beside))
    });
    shared.map(|cache| cache.size_bytes).max().ok_or_else(|| {
        Stop::unsupported(
            "the program's CPU shares no cache with a CPU beside it, as far as the kernel knows",
        )
    })
}

/// Reads through a buffer, or through one in its first cache for the rest of the time.
struct Part<W> {
    percent: u32,
    work: W,
    near: Stream,
}

impl<W: FnMut() -> u64> Load for Part<W> {
    fn step(&mut self) -> Result<u64, String> {
        let began_ns = now_ns();
        let done = if self.percent > 0 { (self.work)() } else { 0 };
        let took_ns = (now_ns() - began_ns).max(1_000);
        let rest_ns = match self.percent {
            0 => took_ns,
            percent => took_ns * u64::from(100 - percent.min(100)) / u64::from(percent),
        };
        let from_ns = now_ns();
        while now_ns() - from_ns < rest_ns {
            self.near.chunk();
        }
        Ok(done)
    }
}

/// Reads a buffer from its beginning to its end, chunk by chunk, again and again; returns the bytes.
struct Stream {
    buffer: Vec<u64>,
    at: usize,
    chunk_bytes: usize,
}

impl Stream {
    fn of(bytes: u64, chunk_bytes: usize) -> Self {
        // Written, so that each page is a page of its own and not the kernel's page of zeros.
        let words = bytes as usize / 8;
        Stream { buffer: (0..words as u64).collect(), at: 0, chunk_bytes }
    }

    fn near() -> Self {
        Stream::of(NEAR_BYTES as u64, NEAR_BYTES)
    }

    fn chunk(&mut self) -> u64 {
        let words = self.chunk_bytes / 8;
        if self.at + words > self.buffer.len() {
            self.at = 0;
        }
        let chunk = &self.buffer[self.at..self.at + words];
        let sum: u64 = chunk.iter().fold(0, |sum, word| sum.wrapping_add(*word));
        sys::black_box(sum);
        self.at += words;
        self.chunk_bytes as u64
    }
}

fn stream_bytes(cpu: u32) -> u64 {
    (STREAM_CACHES * last_cache_bytes(cpu)).clamp(*STREAM_BYTES.start(), *STREAM_BYTES.end())
}

/// Starts one on each CPU beside the program's that works for `percent` of its time on `bytes`; `work`
/// makes what it does in the thread itself, where its memory is to be.
fn beside<W: FnMut() -> u64 + 'static>(
    place: &Place,
    (percent, bytes): (u32, u64),
    does: &'static str,
    work: fn(u64) -> W,
) -> Result<Vec<CoRunner>> {
    let one = |cpu: &u32| {
        CoRunner::start(&[*cpu], move || {
            let how = format!("{does} {} MB, {percent} % of the time", bytes >> 20);
            Ok((Part { percent, work: work(bytes), near: Stream::near() }, how))
        })
    };
    place.beside.iter().map(one).collect()
}

/// Starts co-runners that stream for `percent` of their time; at 0 they touch none of their memory.
pub(super) fn streamers(trial: &Trial<'_>, place: &Place, percent: u32) -> Result<Vec<CoRunner>> {
    let bytes = stream_bytes(place.reference()?);
    if place.beside.is_empty() {
        return Err(Stop::unsupported(ONE_CPU));
    }
    // And as much for the reference.
    trial.need_memory(bytes * (place.beside.len() as u64 + 1))?;
    beside(place, (percent, bytes), "reads", streaming)
}

/// Makes what reads a buffer of `bytes` chunk by chunk.
fn streaming(bytes: u64) -> impl FnMut() -> u64 {
    let mut stream = Stream::of(bytes, CHUNK_BYTES);
    move || stream.chunk()
}

/// The reference that is limited by memory bandwidth.
pub(super) fn stream() -> Result<impl FnMut() -> Result<u64>, Stop> {
    let mut chunk = streaming(stream_bytes(sys::affinity::current_cpu()));
    Ok(move || Ok(chunk()))
}

/// Lines in a random order, each of which names the next: one cycle through all of them.
struct Walk {
    lines: Vec<[u64; LINE_WORDS]>,
    at: usize,
}

impl Walk {
    fn of(bytes: u64) -> Self {
        let count = (bytes as usize / (8 * LINE_WORDS)).max(2);
        let mut order: Vec<usize> = (0..count).collect();
        // Sattolo's shuffle: what results is one cycle, whatever the numbers drawn.
        let mut state = 1;
        for last in (1..count).rev() {
            state = arithmetic(state, 1);
            order.swap(last, (state >> 33) as usize % last);
        }
        let mut lines = vec![[0; LINE_WORDS]; count];
        for (line, next) in lines.iter_mut().zip(order) {
            line[0] = next as u64;
        }
        Walk { lines, at: 0 }
    }

    fn steps(&mut self) -> u64 {
        for _ in 0..WALK_STEPS {
            self.at = self.lines[self.at][0] as usize;
        }
        sys::black_box(self.at as u64);
        WALK_STEPS as u64
    }
}

/// Starts co-runners that walk through as many bytes as a cache has, for `percent` of their time.
pub(super) fn walkers(
    trial: &Trial<'_>,
    place: &Place,
    percent: u32,
    bytes: u64,
) -> Result<Vec<CoRunner>> {
    trial.need_memory(2 * bytes * (place.beside.len() as u64 + 1))?;
    let each = bytes / place.beside.len().max(1) as u64;
    beside(place, (percent, each), "walks through", walking)
}

/// Starts co-runners that stay in their own first cache: what memory and cache are compared with.
pub(super) fn near(place: &Place) -> Result<Vec<CoRunner>> {
    beside(place, (0, NEAR_BYTES as u64), "reads", streaming)
}

/// Makes what walks through `bytes`.
fn walking(bytes: u64) -> impl FnMut() -> u64 {
    let mut walk = Walk::of(bytes);
    move || walk.steps()
}

/// Makes the reference that is limited by the cache: a walk through `bytes`.
pub(super) fn walk(bytes: u64) -> Result<impl FnMut() -> Result<u64>, Stop> {
    let mut steps = walking(bytes);
    Ok(move || Ok(steps()))
}

/// Makes the reference that stays in the caches of its CPU's own: it loses where the CPU beside shares those.
pub(super) fn own_walk() -> Result<impl FnMut() -> Result<u64>, Stop> {
    walk(OWN_BYTES)
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_BYTES, LINE_WORDS, Load, Part, Stream, Walk};

    #[test]
    fn a_walk_is_one_cycle_through_all_lines() {
        for lines in [2_u64, 3, 64, 1000] {
            let walk = Walk::of(lines * 8 * LINE_WORDS as u64);
            let (mut at, mut steps) = (0, 0);
            loop {
                (at, steps) = (walk.lines[at][0] as usize, steps + 1);
                if at == 0 {
                    break;
                }
            }
            assert_eq!(steps, lines);
        }
    }

    #[test]
    fn a_stream_goes_round_and_counts_its_bytes() {
        let mut stream = Stream::of(3 * CHUNK_BYTES as u64, CHUNK_BYTES);
        let read: u64 = (0..7).map(|_| stream.chunk()).sum();
        assert_eq!((read, stream.at), (7 * CHUNK_BYTES as u64, CHUNK_BYTES / 8));
    }

    #[test]
    fn at_no_percent_nothing_is_touched() {
        let mut touched = 0;
        let mut part = Part { percent: 0, work: || 1, near: Stream::near() };
        assert_eq!(part.step(), Ok(0));
        let mut part = Part {
            percent: 100,
            work: || {
                touched += 1;
                7
            },
            near: Stream::near(),
        };
        assert_eq!(part.step(), Ok(7));
        assert_eq!(touched, 1);
    }
}
