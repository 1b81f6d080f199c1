use super::{Config, Error, Profile, System};
use crate::cache::{self, Geometry, Policy, Sweep, Writes};
use crate::cache::{Fetch, Tally};
use crate::encode::{A0, A1, A2, SP, ZERO, add, addi, bne, lw, ret, sw};
use crate::pipeline::{Parameters, Pipeline, Prediction};
use crate::{Machine, Program, Setup, Symbol};

/// A loop of ten rounds over ten words of the stack, each loaded, used and stored.
const LOOP: [u32; 9] = [
    addi(A0, ZERO, 10),
    addi(A1, SP, -40),
    lw(A2, 0, A1),
    add(A2, A2, A0),
    sw(A2, 0, A1),
    addi(A1, A1, 4),
    addi(A0, A0, -1),
    bne(A0, ZERO, -20),
    ret(),
];

fn program() -> Program {
    let mut program = Program::from_words(0x1000, &LOOP);
    let symbol = |name: &str, address, size| Symbol { name: name.into(), address, size };
    program.symbols = vec![symbol("start", 0x1000, 8), symbol("round", 0x1008, 24)];
    program
}

fn run(config: &Config) -> (System, Profile) {
    let mut machine = Machine::new(&program(), &Setup::default()).unwrap();
    let (mut system, mut profile) = (System::new(config).unwrap(), Profile::new());
    machine.run(1_000, |step| {
        let seen = system.step(step);
        profile.note(step, &seen);
    });
    (system, profile)
}

fn cache(sets: u32, ways: u32, line_bytes: u32) -> Option<cache::Config> {
    Some(Geometry::new(sets, ways, line_bytes).unwrap().into())
}

fn core(miss: u16) -> Parameters {
    Parameters { miss, ..Parameters::textbook() }
}

#[test]
fn without_caches_it_is_the_pipeline() {
    let mut pipeline = Pipeline::new(Parameters::textbook()).unwrap();
    let mut machine = Machine::new(&program(), &Setup::default()).unwrap();
    machine.run(1_000, |step| {
        pipeline.step(step, 0);
    });
    assert_eq!(run(&Config::default()).0.cycles(), pipeline.cycles());
}

#[test]
fn every_miss_holds_up_its_instruction_alone() {
    // The stack's top is a multiple of 16, so that ten words are in three lines.
    let config = Config { core: core(10), data: cache(4, 1, 16), ..Config::default() };
    let (system, _) = run(&config);
    let tally = system.data().unwrap().tally();
    assert_eq!((tally.accesses, tally.misses(), tally.writes, tally.write_misses), (20, 3, 10, 0));
    assert_eq!((system.cycles().memory, system.cycles().miss), (30, 0));
    // The load that waits is used by the next instruction, which waits for it as for any other.
    assert_eq!(system.cycles().data, 10);
    let instruction = cache(8, 1, 16);
    let (system, _) = run(&Config { instruction, ..config });
    // The second of three lines is fetched while the first load waits, which takes as long.
    assert_eq!(system.instruction().unwrap().tally().misses(), 3);
    assert_eq!((system.cycles().memory, system.cycles().miss), (30, 20));
    let plain = run(&Config::default()).0.cycles().total();
    assert_eq!(system.cycles().total(), plain + 50);
}

#[test]
fn a_second_level_is_asked_for_what_the_first_lacks_and_told_what_it_writes() {
    let data = cache(1, 1, 8);
    let second = cache(16, 2, 16);
    let config = Config { core: core(2), data, second, second_miss: 7, ..Config::default() };
    let (system, _) = run(&config);
    let (first, tally) = (system.data().unwrap().tally(), system.second().unwrap().tally());
    // Five lines of 8 bytes, each written back when the next one comes, the last one never.
    assert_eq!((first.misses(), first.written_back), (5, 4));
    // Without a first level for instructions, it has each of them as well.
    assert_eq!(tally.accesses, 63 + 5 + 4);
    assert_eq!((tally.writes, tally.write_misses), (4, 0));
    assert_eq!(tally.cold, 3 + 3);
    assert_eq!(system.cycles().memory, 5 * 2 + 3 * 7);
    assert_eq!(system.cycles().miss, 2 * 7);
    let instruction = cache(1, 1, 32);
    let refused = System::new(&Config { instruction, ..config }).unwrap_err();
    assert_eq!(refused, Error::Lines { first: 32, second: 16 });
}

#[test]
fn stores_without_a_fetch_wait_for_nothing() {
    let writes = Writes { back: false, allocate: false };
    let data = cache(4, 1, 16).map(|config| config.writing(writes));
    let (system, _) = run(&Config { core: core(10), data, ..Config::default() });
    let tally = system.data().unwrap().tally();
    assert_eq!((tally.misses(), tally.written_through, tally.written_back), (3, 10, 0));
    assert_eq!(system.cycles().memory, 30);
}

#[test]
fn a_profile_holds_every_cycle_at_its_address() {
    let prediction = Prediction::TwoBit { entries: 16 };
    let core = Parameters { prediction, miss: 10, ..Parameters::textbook() };
    let (data, instruction) = (cache(4, 1, 16), cache(2, 1, 16));
    let (system, profile) = run(&Config { core, data, instruction, ..Config::default() });
    let spots = profile.spots();
    assert_eq!(spots.len(), 9);
    let sum = |of: fn(&super::Spot) -> u64| spots.iter().map(|(_, spot)| of(spot)).sum::<u64>();
    let cycles = system.cycles();
    assert_eq!(sum(|spot| spot.cycles), cycles.total() - cycles.fill);
    assert_eq!(sum(|spot| spot.steps), 63);
    assert_eq!(sum(|spot| spot.data_misses), system.data().unwrap().tally().misses());
    let fetched = system.instruction().unwrap().tally().misses();
    assert_eq!(sum(|spot| spot.instruction_misses), fetched);
    // It is taken nine times and then not; the counter begins at 1.
    assert_eq!(sum(|spot| spot.mispredicted), 2);
    let program = program();
    let functions = profile.functions(&program);
    let names: Vec<_> = functions.iter().map(|(it, _)| it.map(|it| it.name.as_str())).collect();
    assert_eq!(names, [Some("round"), None, Some("start")]);
    assert_eq!(functions[0].1.steps, 60);
}

#[test]
fn a_curve_of_reuse_is_a_sweep_over_fully_associative_sizes() {
    let sizes: Vec<_> =
        (0..6).map(|size| Geometry::fully_associative(1 << size, 16).unwrap()).collect();
    let mut sweep = Sweep::new(&sizes, Fetch::Lines);
    let mut machine = Machine::new(&program(), &Setup::default()).unwrap();
    machine.run(1_000, |step| sweep.access(step.pc, step.size));
    let misses: Vec<u64> = sweep.results().iter().map(|(_, tally)| tally.misses()).collect();
    // A round of six instructions lies in two lines: each alone has two misses a round, both have none.
    assert_eq!(misses, [21, 3, 3, 3, 3, 3]);
    let fifo = cache::Config::new(sizes[1], Policy::Fifo).unwrap();
    let mut sweep = Sweep::new(&[fifo], Fetch::Lines);
    sweep.access(0x1000, 4);
    assert_eq!(sweep.results(), [(fifo, Tally { accesses: 1, cold: 1, ..Tally::default() })]);
}
