//! A thread that copies through memory, alone or beside another one that does.

use crate::support::party::Party;
use kit::model::Profile;
use kit::workers::{Model, Refusal, Worker};
use kit::{OBSERVATIONS_MAX, Stop, Trial};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use sys::clock::now_ns;
use sys::pages::{Huge, Mapping};

/// The part that is copied and timed at a time. It is longer than any cache that a core has for
/// itself, and short enough that few are hit by an interrupt.
const PART_BYTES: usize = 1 << 20;

/// How much larger than the last cache the memory of each thread is.
const TIMES_THE_CACHE: u64 = 2;

/// The cache that is supposed where the machine does not tell.
const CACHE_BYTES_UNKNOWN: u64 = 32 << 20;

/// The most and the least that a thread copies through.
const BYTES_MAX: u64 = 512 << 20;
const BYTES_MIN: u64 = 16 << 20;

/// What both threads together need.
pub(super) const MEMORY_BYTES_MAX: u64 = 2 * BYTES_MAX;

/// The hog is felt where it makes a copy at least so many times as long, in the trial's own look
/// beforehand.
pub(super) const FELT_MIN: f64 = 1.05;

/// How often the look goes to and fro, and how many parts are copied each way.
const LOOKS: usize = 5;
const PARTS_PER_LOOK: usize = 8;

/// How long the pair works in the timed region, as a share of the profile's usual time.
fn timed_ns(trial: &Trial<'_>) -> u64 {
    trial.spec().timed_ns
}

/// How much memory each thread copies through.
fn bytes_for(last_cache_bytes: Option<u64>, profile: Profile) -> u64 {
    let cache = last_cache_bytes.unwrap_or(CACHE_BYTES_UNKNOWN);
    // `smoke` asks only whether the trial works; fresh memory takes most of its time.
    let bytes = if profile == Profile::Smoke { BYTES_MIN } else { TIMES_THE_CACHE * cache };
    bytes.clamp(BYTES_MIN, BYTES_MAX).next_multiple_of(2 * PART_BYTES as u64)
}

pub(super) fn stream(trial: &mut Trial<'_>, hog: bool) -> Result<(), Stop> {
    let party = Party::new(trial, Model::Thread, 2, 2)?;
    let caches = party.cpus.iter().flat_map(|cpu| sys::topology::caches(*cpu));
    let last = caches.filter(sys::topology::Cache::holds_data).map(|cache| cache.size_bytes).max();
    let bytes = bytes_for(last, trial.spec().profile);
    trial.need_memory(2 * bytes)?;
    trial.observe("copied_through_bytes", bytes);
    let both = [Stream::new(bytes)?, Stream::new(bytes)?].map(Mutex::new);
    let stage = Stage { limit_ns: timed_ns(trial), hog, ..Stage::default() };
    let looked = trial.spec().profile >= Profile::Quick && hog;
    party.work(
        trial,
        |worker| {
            // Nobody else takes it: the lock only tells the compiler so.
            let mut own = both[worker.index].lock().map_err(|_| Refusal::Failed)?;
            stage.work(worker, &mut own, looked)
        },
        || (),
    )?;
    let told = stage.told.into_inner().map_err(|_| Stop::failed("a worker panicked"))?;
    if told.felt < FELT_MIN && looked {
        return Err(Stop::unsupported(format!(
            "a hog cannot be planted here: beside one a copy takes {:.2} times as long, so that \
             the memory of this machine serves both; take more CPUs by --affinity",
            told.felt
        )));
    }
    trial.record("copy_ns", 1, told.parts_ns);
    let per_s = (told.hog_bytes as f64 * 1e9 / told.wall_ns.max(1) as f64) as i64;
    trial.record_one("hog_per_s", per_s);
    let (low, high) = if hog { (PART_BYTES as f64, f64::INFINITY) } else { (0.0, 0.0) };
    trial.check("bytes that the hog copied", told.hog_bytes as f64, low, high);
    trial.check("copies that are not as their origin", told.wrong as f64, 0.0, 0.0);
    Ok(())
}

/// Memory whose first half is copied into its second, part by part, again and again.
struct Stream {
    memory: Mapping,
    next: usize,
    /// Written into the part before it is copied, so that each copy is a new one.
    mark: u8,
    wrong: u64,
}

impl Stream {
    /// Memory that is there: every page is written to.
    fn new(bytes: u64) -> Result<Self, Stop> {
        // Large pages where there are some: addresses are not what is short here.
        let huge = if sys::pages::huge_page_bytes().is_some() { Huge::Always } else { Huge::Never };
        let mut memory = Mapping::new(bytes as usize, huge)?;
        memory.touch(sys::pages::page_bytes());
        Ok(Stream { memory, next: 0, mark: 0, wrong: 0 })
    }

    /// Copies the next part.
    fn copy(&mut self) {
        self.mark = self.mark.wrapping_add(1);
        let (mark, at) = (self.mark, self.next);
        let (origins, copies) = {
            let memory = self.memory.as_mut_slice();
            let half = memory.len() / 2;
            self.next = (at + PART_BYTES) % half;
            memory.split_at_mut(half)
        };
        let (origin, copy) = (&mut origins[at..at + PART_BYTES], &mut copies[at..at + PART_BYTES]);
        origin[PART_BYTES / 2] = mark;
        copy.copy_from_slice(origin);
        self.wrong += u64::from(copy[PART_BYTES / 2] != mark);
    }
}

/// What the two threads tell each other.
#[derive(Default)]
struct Stage {
    /// How long is timed.
    limit_ns: u64,
    /// Whether the second thread copies in the timed part.
    hog: bool,
    /// Whether the second thread is to copy now.
    copies: AtomicBool,
    /// Whether the first thread is done.
    over: AtomicBool,
    hog_bytes: AtomicU64,
    told: Mutex<Told>,
}

/// What came of it.
#[derive(Default)]
struct Told {
    /// How many times as long a copy takes beside the hog, in the look beforehand.
    felt: f64,
    parts_ns: Vec<i64>,
    hog_bytes: u64,
    wall_ns: u64,
    wrong: u64,
}

impl Stage {
    fn work(&self, worker: &Worker<'_>, own: &mut Stream, looked: bool) -> Result<(), Refusal> {
        if worker.index > 0 {
            self.serve(own);
            return Ok(());
        }
        let mut told = Told { parts_ns: Vec::with_capacity(OBSERVATIONS_MAX), ..Told::default() };
        if looked {
            told.felt = self.look(own);
        }
        self.copies.store(self.hog, Ordering::Release);
        own.copy();
        let (hog_began, began_ns) = (self.hog_bytes.load(Ordering::Acquire), now_ns());
        let mut last_ns = began_ns;
        while told.parts_ns.len() < OBSERVATIONS_MAX && last_ns - began_ns < self.limit_ns {
            own.copy();
            let now_ns = now_ns();
            told.parts_ns.push((now_ns - last_ns) as i64);
            last_ns = now_ns;
        }
        told.wall_ns = last_ns - began_ns;
        told.hog_bytes = self.hog_bytes.load(Ordering::Acquire) - hog_began;
        self.over.store(true, Ordering::Release);
        told.wrong = own.wrong;
        *self.told.lock().map_err(|_| Refusal::Failed)? = told;
        Ok(())
    }

    /// The second thread's part.
    fn serve(&self, own: &mut Stream) {
        while !self.over.load(Ordering::Acquire) {
            if self.copies.load(Ordering::Acquire) {
                own.copy();
                self.hog_bytes.fetch_add(PART_BYTES as u64, Ordering::Release);
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// How many times as long a copy takes beside the hog: the median of some looks to and fro.
    fn look(&self, own: &mut Stream) -> f64 {
        let mut felt: [f64; LOOKS] = std::array::from_fn(|_| {
            let [without, with] = [false, true].map(|copies| {
                self.copies.store(copies, Ordering::Release);
                // What is under way may end first.
                own.copy();
                let began_ns = now_ns();
                for _ in 0..PARTS_PER_LOOK {
                    own.copy();
                }
                now_ns() - began_ns
            });
            with as f64 / without.max(1) as f64
        });
        felt.sort_by(f64::total_cmp);
        felt[LOOKS / 2]
    }
}

#[cfg(test)]
mod tests {
    use super::{BYTES_MAX, BYTES_MIN, PART_BYTES, Stream, bytes_for};
    use kit::model::Profile;

    #[test]
    fn no_cache_holds_what_is_copied_through() {
        let quick = |cache| bytes_for(cache, Profile::Quick);
        assert_eq!(quick(Some(32 << 20)), 64 << 20);
        assert_eq!(quick(None), 64 << 20);
        assert_eq!((quick(Some(1)), quick(Some(1 << 40))), (BYTES_MIN, BYTES_MAX));
        for cache in [1 << 20, 33_333_333] {
            assert!(quick(Some(cache)).is_multiple_of(2 * PART_BYTES as u64));
        }
    }

    #[test]
    fn copies_go_round_and_are_like_their_origin() {
        let mut stream = Stream::new(4 * PART_BYTES as u64).unwrap();
        for turn in 1..=5 {
            stream.copy();
            let memory = stream.memory.as_slice();
            let at = (turn + 1) % 2 * PART_BYTES + PART_BYTES / 2;
            assert_eq!([memory[at], memory[at + 2 * PART_BYTES]], [turn as u8; 2]);
        }
        assert_eq!(stream.wrong, 0);
    }
}
