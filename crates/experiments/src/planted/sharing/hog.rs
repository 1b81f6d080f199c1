//! A thread that walks through memory, alone or beside a hog.
//!
//! What is felt of a hog depends on what the two CPUs share. Two threads that both stream through
//! memory slow each other on a machine whose memory cannot serve two CPUs at full speed, and not at
//! all on a server with many channels: on a guest with two CPUs of an AMD EPYC copies of 24 GB/s
//! each took as long beside the other as alone. So the one that is to feel the hog walks through
//! what the last cache holds as long as nobody else uses it. The hog also takes that from it, and
//! the walk goes to memory: on the same guest it took eight times as long, and minutes later no
//! longer than alone, since the host had moved the two virtual CPUs to different caches. So the
//! trial looks, and what is not felt is not planted.

use crate::support::party::Party;
use kit::model::Profile;
use kit::workers::{Model, Refusal, Worker};
use kit::{OBSERVATIONS_MAX, Result, Stop, Trial};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use sys::black_box;
use sys::clock::now_ns;
use sys::pages::{Huge, Mapping};
use sys::topology::Cache;

/// Steps of a walk.
const STEPS: u32 = 4096;

/// The bytes that the hog copies between two looks at whether it is to go on.
const PART_BYTES: usize = 256 << 10;

/// How much larger than the last cache the hog's memory is.
const TIMES_THE_CACHE: u64 = 2;

/// How much smaller than the last cache the walker's memory is: hosts divide it among many.
const PART_OF_THE_CACHE: u64 = 8;

/// How much larger than a core's own cache the walker's memory is, for it must leave it.
const TIMES_THE_OWN: u64 = 2;

/// The caches that are supposed where the machine does not tell.
const LAST_BYTES_UNKNOWN: u64 = 32 << 20;
const OWN_BYTES_UNKNOWN: u64 = 1 << 20;

/// What a cache line is supposed to hold.
const LINE_BYTES: u64 = 64;

/// The most that the hog copies through, and the walker walks through.
pub(super) const BYTES_MAX: u64 = 256 << 20;

/// The smallest factor by which a hog that is felt lengthens a walk, in the trial's own look
/// beforehand.
pub(super) const FELT_MIN: f64 = 1.2;

/// How often the look goes to and fro, and how many walks are timed each way.
const LOOKS: usize = 4;
const WALKS_TIMED: usize = 8;

/// How many steps per cache line are made before walks are timed: four leave 2 % of the lines
/// untouched (e⁻⁴), so that the caches hold what they will.
const STEPS_PER_LINE: u64 = 4;

/// How long the walker waits at most until the hog has been through its memory.
const THROUGH_NS_MAX: u64 = 200_000_000;

/// How much memory each thread has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sizes {
    walker_bytes: u64,
    hog_bytes: u64,
}

fn sizes(caches: &[Cache], profile: Profile) -> Sizes {
    let data = || caches.iter().filter(|cache| cache.holds_data());
    let last = data().map(|cache| cache.size_bytes).max().unwrap_or(LAST_BYTES_UNKNOWN);
    // A cache that other CPUs also use is not a core's own.
    let own = data().filter(|cache| cache.shared_by.len() <= 1).map(|cache| cache.size_bytes);
    let own = own.max().filter(|own| *own < last).unwrap_or(OWN_BYTES_UNKNOWN);
    // `smoke` asks whether the trial works; making fresh memory takes most of its time.
    let times = if profile == Profile::Smoke { 1 } else { TIMES_THE_CACHE };
    let hog_bytes = (times * last).min(BYTES_MAX).next_multiple_of(2 * PART_BYTES as u64);
    let walker_bytes = (last / PART_OF_THE_CACHE).max(TIMES_THE_OWN * own).min(hog_bytes);
    Sizes { walker_bytes: walker_bytes.next_multiple_of(PART_BYTES as u64), hog_bytes }
}

/// Memory that is there: every page is written to.
fn there(bytes: u64) -> Result<Mapping> {
    // Large pages where there are some: addresses are not what is short here.
    let huge = if sys::pages::huge_page_bytes().is_some() { Huge::Always } else { Huge::Never };
    let mut memory = Mapping::new(bytes as usize, huge)?;
    memory.touch(sys::pages::page_bytes());
    Ok(memory)
}

pub(super) fn walk(trial: &mut Trial<'_>, hog: bool) -> Result<()> {
    let party = Party::new(trial, Model::Thread, 2, 2)?;
    let caches = party.cpus.first().map(|cpu| sys::topology::caches(*cpu)).unwrap_or_default();
    let sizes = sizes(&caches, trial.spec().profile);
    trial.need_memory(sizes.walker_bytes + sizes.hog_bytes)?;
    trial.observe("walked_through_bytes", sizes.walker_bytes);
    trial.observe("hog_copies_through_bytes", sizes.hog_bytes);
    let walker = Mutex::new(Walker { memory: there(sizes.walker_bytes)?, at: 1 });
    let copier = Mutex::new(Copier::new(there(sizes.hog_bytes)?));
    let stage = Stage {
        limit_ns: trial.spec().timed_ns,
        hog,
        hog_memory_bytes: sizes.hog_bytes,
        ..Stage::default()
    };
    party.work(trial, |worker| {
        // Nobody else takes these: the locks only tell the compiler so.
        if worker.index == 0 {
            stage.walk(worker, &mut *walker.lock().map_err(|_| Refusal::Failed)?)
        } else {
            stage.serve(worker, &mut *copier.lock().map_err(|_| Refusal::Failed)?)
        }
    })?;
    let walked = stage.walked.into_inner().map_err(|_| Stop::failed("a worker panicked"))?;
    trial.observe("walk_beside_a_hog_beforehand", format!("{:.2} times as long", walked.felt));
    kit::require!(
        !hog || walked.felt >= FELT_MIN,
        "a hog cannot be planted here and now: a walk beside one takes {:.2} times as long, as \
             if the two CPUs shared no cache and the memory served both. Choose CPUs that share \
             a cache by --affinity; on a virtual machine the host may have moved them apart",
        walked.felt
    );
    trial.record("walk_ns", 1, walked.walks_ns);
    let per_s = (walked.hog_bytes as f64 * 1e9 / walked.wall_ns.max(1) as f64) as i64;
    trial.record_one("hog_per_s", per_s);
    let (low, high) = if hog { (PART_BYTES as f64, f64::INFINITY) } else { (0.0, 0.0) };
    // Somebody who takes the hog's CPU for all of a short trial keeps it from copying.
    trial.check_cpus("bytes that the hog copied", walked.hog_bytes as f64, low, high);
    let copier = copier.into_inner().map_err(|_| Stop::failed("a worker panicked"))?;
    trial.check("copies that are not as their origin", copier.wrong as f64, 0.0, 0.0);
    Ok(())
}

/// Memory that is walked through at random.
struct Walker {
    memory: Mapping,
    at: u64,
}

impl Walker {
    /// Each step needs what the one before it read, so that no two are made at a time.
    fn walk(&mut self) {
        let words = self.memory.as_mut_words();
        let count = words.len() as u64;
        for _ in 0..STEPS {
            // The generator of Knuth's MMIX; its high bits are the random ones. The product of a
            // number of 32 bits with the count, divided by 2³², is a place.
            self.at = self.at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let place = ((self.at >> 32) * count) >> 32;
            self.at = self.at.wrapping_add(black_box(words[place as usize]) & 1);
        }
    }
}

/// Memory whose first half is copied into its second, part by part, again and again.
struct Copier {
    memory: Mapping,
    next: usize,
    /// Written into a part before it is copied, so that each copy is a new one.
    mark: u8,
    wrong: u64,
}

impl Copier {
    fn new(memory: Mapping) -> Self {
        Copier { memory, next: 0, mark: 0, wrong: 0 }
    }

    fn copy(&mut self) {
        self.mark = self.mark.wrapping_add(1);
        let at = self.next;
        let memory = self.memory.as_mut_slice();
        let half = memory.len() / 2;
        self.next = (at + PART_BYTES) % half;
        let (origins, copies) = memory.split_at_mut(half);
        let (origin, copy) = (&mut origins[at..at + PART_BYTES], &mut copies[at..at + PART_BYTES]);
        origin[PART_BYTES / 2] = self.mark;
        copy.copy_from_slice(origin);
        self.wrong += u64::from(copy[PART_BYTES / 2] != self.mark);
    }
}

/// What the two threads tell each other.
#[derive(Default)]
struct Stage {
    /// How long is timed.
    limit_ns: u64,
    /// Whether the second thread copies in the timed part, and through how much.
    hog: bool,
    hog_memory_bytes: u64,
    /// Whether the second thread is to copy now.
    copies: AtomicBool,
    /// Whether the first thread is done.
    over: AtomicBool,
    hog_bytes: AtomicU64,
    walked: Mutex<Walked>,
}

/// What the first thread measured.
#[derive(Default)]
struct Walked {
    /// How many times as long a walk takes beside the hog, in the look beforehand.
    felt: f64,
    walks_ns: Vec<i64>,
    hog_bytes: u64,
    wall_ns: u64,
}

impl Stage {
    fn walk(&self, worker: &Worker<'_>, own: &mut Walker) -> Result<(), Refusal> {
        let mut walked =
            Walked { walks_ns: Vec::with_capacity(OBSERVATIONS_MAX), ..Walked::default() };
        worker.meet()?;
        walked.felt = self.look(own);
        self.settle(own, self.hog);
        let (hog_began, began_ns) = (self.hog_bytes.load(Ordering::Acquire), now_ns());
        let mut last_ns = began_ns;
        while walked.walks_ns.len() < OBSERVATIONS_MAX && last_ns - began_ns < self.limit_ns {
            own.walk();
            let now_ns = now_ns();
            walked.walks_ns.push((now_ns - last_ns) as i64);
            last_ns = now_ns;
        }
        walked.wall_ns = last_ns - began_ns;
        walked.hog_bytes = self.hog_bytes.load(Ordering::Acquire) - hog_began;
        self.over.store(true, Ordering::Release);
        *self.walked.lock().map_err(|_| Refusal::Failed)? = walked;
        Ok(())
    }

    /// The second thread's part.
    fn serve(&self, worker: &Worker<'_>, own: &mut Copier) -> Result<(), Refusal> {
        worker.meet()?;
        while !self.over.load(Ordering::Acquire) {
            if self.copies.load(Ordering::Acquire) {
                own.copy();
                self.hog_bytes.fetch_add(PART_BYTES as u64, Ordering::Release);
            } else {
                std::hint::spin_loop();
            }
        }
        Ok(())
    }

    /// Begins to walk with or without a hog, until the caches are as they then will be: a hog has
    /// been through its memory, and a walker through its own.
    fn settle(&self, own: &mut Walker, copies: bool) {
        self.copies.store(copies, Ordering::Release);
        let through = self.hog_bytes.load(Ordering::Acquire) + self.hog_memory_bytes;
        let give_up_ns = now_ns() + THROUGH_NS_MAX;
        let lines = own.memory.bytes() as u64 / LINE_BYTES;
        for _ in 0..STEPS_PER_LINE * lines / u64::from(STEPS) + 1 {
            own.walk();
        }
        while copies && self.hog_bytes.load(Ordering::Acquire) < through && now_ns() < give_up_ns {
            own.walk();
        }
    }

    /// How many times as long a walk takes beside the hog: the lower quartiles of some walks to and
    /// fro, since others who use the cache or the CPU only make walks longer. The look is made in
    /// both treatments, so that they differ in what follows alone.
    fn look(&self, own: &mut Walker) -> f64 {
        let mut walks_ns = [[0; LOOKS * WALKS_TIMED]; 2];
        for look in 0..LOOKS {
            for (copies, walks_ns) in [false, true].into_iter().zip(&mut walks_ns) {
                self.settle(own, copies);
                for walk_ns in &mut walks_ns[look * WALKS_TIMED..][..WALKS_TIMED] {
                    let began_ns = now_ns();
                    own.walk();
                    *walk_ns = now_ns() - began_ns;
                }
            }
        }
        let [without, with] = walks_ns.map(lower_quartile);
        with as f64 / without.max(1) as f64
    }
}

fn lower_quartile<const COUNT: usize>(mut numbers: [u64; COUNT]) -> u64 {
    numbers.sort_unstable();
    numbers[COUNT / 4]
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{BYTES_MAX, Copier, PART_BYTES, STEPS, Sizes, Walker, sizes, there};
    use kit::model::Profile;
    use sys::topology::{Cache, CacheKind};

    fn cache(level: u32, size_bytes: u64, shared_by: &[u32]) -> Cache {
        let shared_by = shared_by.to_vec();
        Cache { level, kind: CacheKind::Unified, size_bytes, line_bytes: Some(64), shared_by }
    }

    #[test]
    fn the_hog_leaves_every_cache_and_the_walker_only_its_own() {
        let of = |own: u64, last: u64| {
            sizes(&[cache(2, own, &[0]), cache(3, last, &[0, 1])], Profile::Quick)
        };
        let [small, large] = [4 << 20, 64 << 20];
        assert_eq!(of(1 << 20, 32 << 20), Sizes { walker_bytes: small, hog_bytes: large });
        assert_eq!(sizes(&[], Profile::Quick), of(1 << 20, 32 << 20), "where nothing is known");
        assert_eq!(of(2 << 20, 8 << 20).walker_bytes, 4 << 20, "twice the core's own");
        assert_eq!(of(1 << 20, 1 << 40).hog_bytes, BYTES_MAX);
        let one = sizes(&[cache(2, 1 << 20, &[])], Profile::Quick);
        assert!(one.walker_bytes <= one.hog_bytes);
    }

    #[test]
    fn copies_go_round_and_are_like_their_origin() {
        let mut copier = Copier::new(there(4 * PART_BYTES as u64).unwrap());
        for turn in 1..=5 {
            copier.copy();
            let memory = copier.memory.as_slice();
            let at = (turn + 1) % 2 * PART_BYTES + PART_BYTES / 2;
            assert_eq!([memory[at], memory[at + 2 * PART_BYTES]], [turn as u8; 2]);
        }
        assert_eq!(copier.wrong, 0);
    }

    #[test]
    fn a_quarter_is_as_small_as_the_lower_quartile() {
        assert_eq!(super::lower_quartile([9, 9, 1, 2, 9, 9, 3, 9]), 3);
    }

    #[test]
    fn a_walk_goes_everywhere() {
        let mut walker = Walker { memory: there(1 << 20).unwrap(), at: 1 };
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..1000 {
            walker.walk();
            seen.insert((walker.at >> 32) >> 26);
        }
        assert_eq!(seen.len(), 64, "the walks end all over the memory ({STEPS} steps each)");
    }
}
