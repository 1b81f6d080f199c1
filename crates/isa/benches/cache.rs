//! How long a sweep over 500 caches takes, and how many accesses of one cache a core plays in a
//! second.
//!
//! `cargo bench -p isa --bench cache [-- FETCHES]` makes traces of so many fetches (10,000,000 if not
//! told) before the clock starts, plays each three times, and prints the median. What is counted is
//! the CPU time of the one thread, so that a neighbour who takes the CPU away is not, but one who takes
//! the cache is. It asserts nothing: a time is no test.

#![expect(clippy::unwrap_used, reason = "a benchmark should stop where it fails")]

use isa::cache::{Cache, Config, Fetch, Fetcher, Geometry, Policy, Sweep};
use isa::{Machine, Program, Setup};
use std::hint::black_box;

const FETCHES: usize = 10_000_000;
const TIMES: usize = 3;

/// Where programs begin.
const START: u32 = 0x1_0000;

type Trace = Vec<(u32, u8)>;

/// A plain generator (G. Marsaglia, *Xorshift RNGs*, Journal of Statistical Software 8(14), 2003).
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * u64::from(bound)) >> 32) as u32
    }
}

/// A reference program, over and over: a loop of 36 bytes.
fn small_loop(fetches: usize) -> Trace {
    let program = Program::from_elf(include_bytes!("../reference/gcc14-rv32imc.elf")).unwrap();
    let mut machine = Machine::new(&program, &Setup::default()).unwrap();
    let mut trace = Trace::new();
    machine.run(u64::MAX, |step| trace.push((step.pc, step.size)));
    trace.into_iter().cycle().take(fetches).collect()
}

/// A program of 64 KiB with routines of 16 to 271 instructions of both sizes. It calls one after the
/// other, the lower ones more often, and each goes up to eight times through a loop of its own.
fn program(fetches: usize) -> Trace {
    let mut draws = Draws(1);
    let (mut routines, mut pc) = (Vec::new(), START);
    while pc < START + 65_536 {
        let mut routine: Trace = Vec::new();
        for _ in 0..16 + draws.below(256) {
            let size = if draws.below(10) < 7 { 2 } else { 4 };
            routine.push((pc, size));
            pc += u32::from(size);
        }
        routines.push(routine);
    }
    let mut trace = Trace::with_capacity(fetches + 4096);
    while trace.len() < fetches {
        let bound = 1 + draws.below(routines.len() as u32);
        let routine = &routines[draws.below(bound) as usize];
        let (from, to) = (draws.below(routine.len() as u32), draws.below(routine.len() as u32));
        let body = from.min(to) as usize..from.max(to) as usize;
        trace.extend(&routine[..body.start]);
        for _ in 0..1 + draws.below(8) {
            trace.extend(&routine[body.clone()]);
        }
        trace.extend(&routine[body.end..]);
    }
    trace.truncate(fetches);
    trace
}

/// A jump to anywhere in 256 KiB with every instruction: no locality to live on.
fn chaos(fetches: usize) -> Trace {
    let mut draws = Draws(2);
    (0..fetches).map(|_| (START + 2 * draws.below(131_072), 2)).collect()
}

/// Five sizes of a line, ten numbers of sets, ten numbers of ways.
fn geometries() -> Vec<Geometry> {
    let mut all = Vec::new();
    for line in 2..7 {
        for sets in 0..10 {
            all.extend((1..11).map(|ways| Geometry::new(1 << sets, ways, 1 << line).unwrap()));
        }
    }
    all
}

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let fetches = words.first().map_or(FETCHES, |word| word.parse().unwrap());
    println!("{fetches} fetches each (a tenth of that at random); median of {TIMES}, one core");
    for (name, trace) in [
        ("a loop of 36 bytes", small_loop(fetches)),
        ("a program of 64 KiB", program(fetches)),
        ("jumps at random in 256 KiB", chaos(fetches / 10)),
    ] {
        println!("\n{name}");
        sweeps(&trace);
        alone(&trace);
    }
}

/// One pass for all geometries, by each definition of an access.
fn sweeps(trace: &Trace) {
    let geometries = geometries();
    for fetch in Fetch::ALL {
        let seconds = median_seconds(|| {
            let mut sweep = Sweep::new(&geometries, fetch);
            trace.iter().for_each(|(pc, size)| sweep.access(*pc, *size));
            black_box(sweep.results());
        });
        let what = format!("a sweep over {} caches, {}", geometries.len(), fetch.name());
        println!("  {what:<48} {seconds:>8.2} s");
    }
}

/// One cache at a time.
fn alone(trace: &Trace) {
    for (sets, ways, policy) in [
        (8, 1, Policy::Lru),
        (64, 4, Policy::Lru),
        (64, 4, Policy::Fifo),
        (64, 4, Policy::Random { seed: 1 }),
        (1, 64, Policy::Lru),
    ] {
        let geometry = Geometry::new(sets, ways, 32).unwrap();
        let mut accesses = 0;
        let seconds = median_seconds(|| {
            let mut fetcher = Fetcher::new(Fetch::Lines, geometry);
            let mut cache = Cache::new(Config::new(geometry, policy).unwrap());
            for (pc, size) in trace {
                fetcher.accesses(*pc, *size).for_each(|address| {
                    black_box(cache.access(address));
                });
            }
            accesses = cache.tally().accesses;
        });
        let what = format!("{geometry}, {policy:?}");
        println!("  {what:<48} {:>8.1} M accesses/s", accesses as f64 / seconds / 1e6);
    }
}

fn median_seconds(mut play: impl FnMut()) -> f64 {
    let mut seconds: Vec<f64> = Vec::new();
    for _ in 0..TIMES {
        let start = cpu_seconds();
        play();
        seconds.push(cpu_seconds() - start);
    }
    seconds.sort_by(f64::total_cmp);
    seconds[TIMES / 2]
}

/// CPU time of this thread so far, as the scheduler counts it.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}
