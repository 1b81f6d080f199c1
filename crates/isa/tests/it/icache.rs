//! Instruction caches before the reference programs: the figures that three independent simulators
//! agree on, and every figure of docs/icache.md.

use isa::cache::{
    Cache, Config, Fetch, Fetcher, Geometry, Policy, Sweep, Tally, no_reuse_hit_rate,
    smallest_reaching,
};
use isa::{Machine, Program, Setup, Stopped};

const PAGE: &str = include_str!("../../../../docs/icache.md");

const FILES: [(&str, &[u8]); 4] = [
    ("gcc14-rv32im", include_bytes!("../../reference/gcc14-rv32im.elf")),
    ("gcc14-rv32imc", include_bytes!("../../reference/gcc14-rv32imc.elf")),
    ("gcc12-rv32im", include_bytes!("../../reference/gcc12-rv32im.elf")),
    ("gcc12-rv32imc", include_bytes!("../../reference/gcc12-rv32imc.elf")),
];

/// The two programs that most figures speak of.
const IM: usize = 0;
const IMC: usize = 1;

/// A program's bytes of text, and the address and size of each instruction that it runs.
struct Run {
    text_bytes: u32,
    trace: Vec<(u32, u8)>,
}

fn run(file: usize) -> Run {
    let program = Program::from_elf(FILES[file].1).unwrap();
    let mut machine = Machine::new(&program, &Setup::default()).unwrap();
    let mut trace = Vec::new();
    let stopped = machine.run(1_000_000, |step| trace.push((step.pc, step.size)));
    assert_eq!(stopped, Stopped::Left { pc: isa::HOME });
    Run { text_bytes: program.text.end - program.text.start, trace }
}

impl Run {
    fn short(&self) -> usize {
        self.trace.iter().filter(|(_, size)| *size == 2).count()
    }

    fn mean_bytes(&self) -> f64 {
        let bytes: u64 = self.trace.iter().map(|(_, size)| u64::from(*size)).sum();
        bytes as f64 / self.trace.len() as f64
    }

    fn sweep(&self, fetch: Fetch, geometries: &[Geometry]) -> Vec<(Config, Tally)> {
        let mut sweep = Sweep::new(geometries, fetch);
        self.trace.iter().for_each(|(pc, size)| sweep.access(*pc, *size));
        sweep.results()
    }

    fn tally(&self, fetch: Fetch, geometry: Geometry, policy: Policy) -> Tally {
        let mut fetcher = Fetcher::new(fetch, geometry);
        let mut cache = Cache::new(Config::new(geometry, policy).unwrap());
        for (pc, size) in &self.trace {
            fetcher.accesses(*pc, *size).for_each(|address| {
                cache.access(address);
            });
        }
        cache.tally()
    }
}

fn direct_mapped(lines: u32) -> Geometry {
    Geometry::direct_mapped(lines, 8).unwrap()
}

fn fully_associative(lines: u32) -> Geometry {
    Geometry::fully_associative(lines, 8).unwrap()
}

fn rate(tally: &Tally, digits: usize) -> String {
    format!("{:.digits$}", tally.hit_rate().unwrap())
}

#[test]
fn the_programs_are_those_of_the_reference() {
    let runs = [IM, IMC].map(run);
    assert_eq!(runs.each_ref().map(|run| run.text_bytes), [160, 94]);
    assert_eq!([2, 3].map(|file| run(file).text_bytes), [160, 92]);
    assert_eq!(runs.each_ref().map(|run| run.trace.len()), [143_467; 2]);
    assert_eq!(runs.each_ref().map(Run::short), [0, 102_486]);
}

#[test]
fn accesses_are_those_of_the_reference() {
    for (file, word_buffer, line_buffer) in [(IM, 143_467, 71_759), (IMC, 92_229, 51_245)] {
        let run = run(file);
        let accesses = |fetch| run.tally(fetch, direct_mapped(8), Policy::Lru).accesses;
        assert_eq!(accesses(Fetch::Instruction), 143_467);
        assert_eq!(accesses(Fetch::WordBuffer), word_buffer);
        assert_eq!(accesses(Fetch::LineBuffer), line_buffer);
    }
}

#[test]
fn misses_are_those_of_the_reference() {
    let cases = [
        (direct_mapped(8), ["0.999", "1.000"]),
        (direct_mapped(2), ["0.500", "0.643"]),
        (direct_mapped(4), ["0.571", "0.857"]),
    ];
    for (column, file) in [IM, IMC].into_iter().enumerate() {
        let run = run(file);
        let tally = |geometry| run.tally(Fetch::Instruction, geometry, Policy::Lru);
        assert_eq!(tally(direct_mapped(8)).misses(), [104, 49][column]);
        assert_eq!(rate(&tally(fully_associative(6)), 4), ["0.4999", "0.9993"][column]);
        for (geometry, rates) in cases {
            assert_eq!(rate(&tally(geometry), 3), rates[column], "{geometry}");
            let swept = run.sweep(Fetch::Instruction, &[geometry]);
            assert_eq!(swept, [(geometry.into(), tally(geometry))]);
        }
    }
}

/// The rows of the page's table under this heading.
fn shown(heading: &str) -> Vec<&'static str> {
    let table = PAGE.lines().skip_while(|line| *line != heading).skip(2);
    table.take_while(|line| line.starts_with('|')).collect()
}

fn compare(heading: &str, computed: &[String]) {
    assert!(shown(heading) == computed, "docs/icache.md should say\n{}", computed.join("\n"));
}

/// With a comma between thousands.
fn number(count: u64) -> String {
    if count < 1000 {
        return count.to_string();
    }
    format!("{},{:03}", number(count / 1000), count % 1000)
}

#[test]
fn the_page_says_what_the_programs_run() {
    let row = |file: usize| {
        let run = run(file);
        let line = direct_mapped(8);
        let accesses = Fetch::ALL.map(|fetch| number(run.tally(fetch, line, Policy::Lru).accesses));
        let instructions = number(run.trace.len() as u64);
        format!(
            "| {} | {} | {instructions} | {:.2} | {} |",
            FILES[file].0,
            run.text_bytes,
            run.mean_bytes(),
            accesses.join(" | ")
        )
    };
    compare(
        "| program | text (B) | instructions | mean size (B) | instruction | lines | word_buffer | line_buffer |",
        &(0..FILES.len()).map(row).collect::<Vec<_>>(),
    );
}

#[test]
fn the_page_says_what_the_caches_miss() {
    let runs = [IM, IMC].map(run);
    let row = |(name, geometry): (&str, Geometry)| {
        let cells = runs.each_ref().map(|run| {
            let tally = run.tally(Fetch::Instruction, geometry, Policy::Lru);
            let Tally { cold, conflict, capacity, spared, .. } = tally;
            format!(
                "{} = {cold} + {conflict} + {} ({}) | {}",
                number(tally.misses()),
                number(capacity),
                number(spared),
                rate(&tally, 4)
            )
        });
        format!("| {name} | {} |", cells.join(" | "))
    };
    let cases = [
        ("16 B, direct-mapped", direct_mapped(2)),
        ("32 B, direct-mapped", direct_mapped(4)),
        ("48 B, fully associative", fully_associative(6)),
        ("64 B, direct-mapped", direct_mapped(8)),
        ("64 B, fully associative", fully_associative(8)),
        ("128 B, direct-mapped", direct_mapped(16)),
    ];
    compare(
        "| cache, lines of 8 B | rv32im: misses | hit rate | rv32imc: misses | hit rate |",
        &cases.map(row),
    );
}

/// Where a hit rate rises most.
#[derive(Clone, Copy, Debug)]
struct Cliff {
    /// The largest cache below it.
    below: Geometry,
    /// The smallest cache above it.
    above: Geometry,
    /// By how much the hit rate rises between the two.
    rise: f64,
}

/// The capacity at which a program begins to fit: of neighbours by bytes the two between which the
/// hit rate rises most, the smaller ones if several do. Meant for caches that differ in nothing else:
/// lines of the same size, and as many sets or as many ways.
///
/// `None` if it rises nowhere.
fn cliff(results: &[(Config, Tally)]) -> Option<Cliff> {
    let mut ordered: Vec<(Geometry, f64)> = results
        .iter()
        .filter_map(|(geometry, tally)| Some((geometry.geometry(), tally.hit_rate()?)))
        .collect();
    ordered.sort_by_key(|(geometry, _)| geometry.bytes());
    let mut steepest: Option<Cliff> = None;
    for pair in ordered.windows(2) {
        let &[(below, low), (above, high)] = pair else {
            continue;
        };
        let rise = high - low;
        if rise > steepest.map_or(0.0, |cliff| cliff.rise) {
            steepest = Some(Cliff { below, above, rise });
        }
    }
    steepest
}

#[test]
fn a_cliff_stands_where_the_rate_rises_most() {
    let result = |lines, hits: u64| {
        let tally = Tally { accesses: 100, capacity: 100 - hits, ..Tally::default() };
        (fully_associative(lines).into(), tally)
    };
    let results = [result(8, 92), result(2, 10), result(6, 90), result(4, 15)];
    let Some(Cliff { below, above, rise }) = cliff(&results) else {
        panic!("there is one");
    };
    assert_eq!((below.lines(), above.lines()), (4, 6));
    assert!((rise - 0.75).abs() < 1e-12);
    assert!(cliff(&[result(2, 50), result(4, 50)]).is_none());
}

#[test]
fn the_page_answers_by_computing() {
    let runs = [IM, IMC].map(run);
    let each = |say: &dyn Fn(&Run) -> String| runs.each_ref().map(say).join(" | ");
    let full: Vec<Geometry> = (1..=32).map(fully_associative).collect();
    let mapped: Vec<Geometry> = (0..8).map(|power| direct_mapped(1 << power)).collect();
    let fit = |run: &Run| {
        let cliff = cliff(&run.sweep(Fetch::Instruction, &full)).unwrap();
        format!("{} to {}", cliff.below.bytes(), cliff.above.bytes())
    };
    let worth = |list: &[Geometry], target: Geometry| {
        let (of, among) = (&runs[1], &runs[0]);
        let wanted = of.tally(Fetch::Instruction, target, Policy::Lru).hit_rate().unwrap();
        let found = smallest_reaching(&among.sweep(Fetch::Instruction, list), wanted);
        format!("{} | {}", found.unwrap().0.geometry().bytes(), target.bytes())
    };
    let small = |run: &Run| run.tally(Fetch::Instruction, direct_mapped(8), Policy::Lru);
    let limit = |run: &Run| format!("{:.4}", no_reuse_hit_rate(run.mean_bytes(), 8).unwrap());
    let cycles = |run: &Run| {
        // One cycle for each instruction and 20 more for each miss.
        let each = small(run).misses() as f64 / run.trace.len() as f64;
        format!("{:.4}", 1.0 + 20.0 * each)
    };
    let by_policy =
        |policy| each(&|run| number(run.tally(Fetch::Instruction, full[5], policy).misses()));
    let rows = [
        format!("| no-reuse limit at the mean size of its instructions | {} |", each(&limit)),
        format!(
            "| bytes fetched into the cache of 64 B, direct-mapped | {} |",
            each(&|run| number(small(run).fetched_bytes(direct_mapped(8))))
        ),
        format!("| CPI in that cache, 20 cycles a miss | {} |", each(&cycles)),
        format!("| between which sizes it begins to fit, fully associative (B) | {} |", each(&fit)),
        format!("| equally good, fully associative (B) | {} |", worth(&full, full[5])),
        format!("| equally good, direct-mapped (B) | {} |", worth(&mapped, mapped[3])),
        format!("| misses of 48 B, fully associative, LRU | {} |", by_policy(Policy::Lru)),
        format!("| the same, FIFO | {} |", by_policy(Policy::Fifo)),
        format!("| the same, random with the seed 1 | {} |", by_policy(Policy::Random { seed: 1 })),
    ];
    compare("| question | rv32im | rv32imc |", &rows);
}
