//! How many steps one core passes through a pipeline in a second.
//!
//! `cargo bench -p isa --bench pipeline [-- MILLIONS]` passes so many million steps (100 if not told)
//! of a loop with loads, stores, multiplications and branches, recorded before the clock starts,
//! three times through each pipeline, and prints the median; then the machine that makes the steps,
//! alone and with a pipeline behind it. What is counted is the CPU time of the one thread. It
//! asserts nothing: a time is no test.

#![expect(clippy::unwrap_used, reason = "a benchmark should stop where it fails")]

use isa::encode::{A0, A1, A2, SP, ZERO, add, addi, bne, jal, lw, mul, sw, xor};
use isa::pipeline::{Depth, Latency, Parameters, Pipeline, Stage};
use isa::{Machine, Program, Setup, Step, Stopped};

const MILLIONS: u64 = 100;
const TIMES: usize = 3;

/// A loop of ten instructions, and a jump around it for ever.
const PROGRAM: [u32; 12] = [
    addi(A0, ZERO, 100),
    addi(A1, A1, 3),
    lw(A2, -4, SP),
    add(A2, A2, A1),
    mul(A2, A2, A1),
    sw(A2, -4, SP),
    bne(A2, A2, 8),
    xor(A1, A1, A2),
    addi(A0, A0, -1),
    bne(A0, ZERO, -32),
    addi(A1, ZERO, 0),
    jal(ZERO, -44),
];

fn machine() -> Machine {
    Machine::new(&Program::from_words(0x1000, &PROGRAM), &Setup::default()).unwrap()
}

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let millions = words.first().map_or(MILLIONS, |word| word.parse().unwrap());
    let mut steps = Vec::new();
    assert_eq!(machine().run(4096, |step| steps.push(*step)), Stopped::Limit);
    let rounds = millions * 1_000_000 / steps.len() as u64;
    println!("{millions} million steps each; median of {TIMES}, one core\n");
    println!("{:<50} {:>12} {:>12}", "what", "M steps/s", "ns per step");
    let textbook = Parameters::textbook();
    let all = Parameters {
        depth: Depth::Five,
        branch: Stage::Decode,
        latency: Latency::all(2),
        multiply: 2,
        miss: 10,
        ..textbook
    };
    let pipelines = [
        ("textbook", textbook),
        ("cv32e40p", Parameters::cv32e40p()),
        ("without forwarding", Parameters { forwarding: false, ..textbook }),
        ("branches in ID, latency, multiplications, misses", all),
    ];
    for (name, parameters) in pipelines {
        row(name, rounds * steps.len() as u64, || pass(parameters, &steps, rounds));
    }
    let count = rounds * steps.len() as u64;
    row("the machine alone", count, || {
        let mut next = 0_u64;
        machine().run(count, |step| next = next.wrapping_add(u64::from(step.next)));
        next
    });
    row("the machine and textbook", count, || {
        let mut pipeline = Pipeline::new(textbook).unwrap();
        machine().run(count, |step| {
            pipeline.step(step, 0);
        });
        pipeline.cycles().total()
    });
}

fn pass(parameters: Parameters, steps: &[Step], rounds: u64) -> u64 {
    let mut pipeline = Pipeline::new(parameters).unwrap();
    for _ in 0..rounds {
        for step in steps {
            pipeline.step(step, u8::from(step.pc & 63 == 0));
        }
    }
    pipeline.cycles().total()
}

fn row(name: &str, steps: u64, play: impl Fn() -> u64) {
    let mut seconds = Vec::new();
    for _ in 0..TIMES {
        let start = cpu_seconds();
        std::hint::black_box(play());
        seconds.push(cpu_seconds() - start);
    }
    seconds.sort_by(f64::total_cmp);
    let median = seconds[TIMES / 2];
    println!(
        "{name:<50} {:>12.1} {:>12.2}",
        steps as f64 / median / 1e6,
        median * 1e9 / steps as f64
    );
}

/// CPU time of this thread so far, as the scheduler counts it.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}
