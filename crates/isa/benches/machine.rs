//! How many instructions of the machine one core carries out in a second.
//!
//! `cargo bench -p isa --bench machine [-- RUNS]` runs each reference program RUNS times (100 by
//! default) alone, with a cache of one kind that looks at each pc, with a sweep over one
//! cache that also says why it misses, and with a pipeline behind a cache, five times each, and prints the
//! median. What is counted is the CPU time of the one thread. It asserts
//! nothing: a time is no test.

#![expect(clippy::unwrap_used, reason = "a benchmark should stop where it fails")]

use isa::cache::{Fetch, Geometry, Sweep};
use isa::pipeline::Parameters;
use isa::system::{Config, System};
use isa::{Machine, Program, Setup, Step};

const RUNS: u32 = 100;
const TIMES: usize = 5;

const FILES: [(&str, &[u8]); 4] = [
    ("gcc14-rv32im", include_bytes!("../reference/gcc14-rv32im.elf")),
    ("gcc14-rv32imc", include_bytes!("../reference/gcc14-rv32imc.elf")),
    ("gcc12-rv32im", include_bytes!("../reference/gcc12-rv32im.elf")),
    ("gcc12-rv32imc", include_bytes!("../reference/gcc12-rv32imc.elf")),
];

/// Eight lines of eight bytes, each place in memory in one of them: as simple as a cache gets.
#[derive(Default)]
struct Cache {
    lines: [u32; 8],
    misses: u64,
}

impl Cache {
    fn fetch(&mut self, step: &Step) {
        let line = step.pc >> 3;
        let place = &mut self.lines[line as usize % 8];
        self.misses += u64::from(*place != line);
        *place = line;
    }
}

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let runs = words.first().map_or(RUNS, |word| word.parse().unwrap());
    println!("{runs} runs each; median of {TIMES}, one core\n");
    println!("{:<16} {:<12} {:>24}", "program", "observer", "M instructions/s");
    for (name, bytes) in FILES {
        let program = Program::from_elf(bytes).unwrap();
        row(name, "none", runs, || run(&program, |_| {}));
        row(name, "one cache", runs, || {
            let mut cache = Cache::default();
            let steps = run(&program, |step| cache.fetch(step));
            std::hint::black_box(cache.misses);
            steps
        });
        let small = Geometry::direct_mapped(64, 16).unwrap();
        row(name, "a sweep", runs, || {
            let mut sweep = Sweep::new(&[small], Fetch::Instruction);
            let steps = run(&program, |step| sweep.access(step.pc, step.size));
            std::hint::black_box(sweep.results());
            steps
        });
        row(name, "a system", runs, || {
            let core = Parameters { miss: 20, ..Parameters::textbook() };
            let instruction = Some(small.into());
            let config = Config { core, instruction, ..Config::default() };
            let mut system = System::new(&config).unwrap();
            let steps = run(&program, |step| {
                system.step(step);
            });
            std::hint::black_box(system.cycles().total());
            steps
        });
        row(name, "both", runs, || {
            let core = Parameters { miss: 20, ..Parameters::textbook() };
            let instruction = Some(small.into());
            let config = Config { core, instruction, ..Config::default() };
            let mut system = System::new(&config).unwrap();
            let mut sweep = Sweep::new(&[small], Fetch::Instruction);
            let steps = run(&program, |step| {
                sweep.access(step.pc, step.size);
                system.step(step);
            });
            std::hint::black_box((system.cycles().total(), sweep.results()));
            steps
        });
        row(name, "whole step", runs, || {
            run(&program, |step| {
                std::hint::black_box(step);
            })
        });
    }
}

fn run(program: &Program, observe: impl FnMut(&Step)) -> u64 {
    let mut machine = Machine::new(program, &Setup::default()).unwrap();
    machine.run(u64::MAX, observe);
    machine.steps()
}

fn row(name: &str, observer: &str, runs: u32, play: impl Fn() -> u64) {
    let mut rates = Vec::new();
    for _ in 0..TIMES {
        let start = cpu_seconds();
        let steps: u64 = (0..runs).map(|_| std::hint::black_box(play())).sum();
        rates.push(steps as f64 / (cpu_seconds() - start) / 1e6);
    }
    rates.sort_by(f64::total_cmp);
    println!("{name:<16} {observer:<12} {:>24.0}", rates[TIMES / 2]);
}

/// CPU time of this thread so far, as the scheduler counts it.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}
