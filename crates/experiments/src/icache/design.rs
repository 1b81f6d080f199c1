//! The experiment as data.

use super::claims::claims;
use super::play::{Build, Compiler, Mapping};
use kit::declare::{
    Named, cell, difference, factor, finding, grid, ratio, remark, response, value,
};
use kit::model::{Cell, Design, Factor, Finding, Grid, Needs, Profile, Response, Unit};

/// The levels of the factor `build`.
pub(super) const BUILDS: [Named<Build>; 2] = [
    Named::new("rv32im", "all instructions have 32 bits", Build::Im),
    Named::new("rv32imc", "the frequent ones have 16 bits", Build::Imc),
];

/// The levels of the factor `compiler`.
pub(super) const COMPILERS: [Named<Compiler>; 2] = [
    Named::new("gcc14", "GCC 14.2, -O2", Compiler::Gcc14),
    Named::from("gcc12", "GCC 12.2, -O2", Profile::Quick, Compiler::Gcc12),
];

/// The levels of the factor `mapping`.
pub(super) const MAPPINGS: [Named<Mapping>; 3] = [
    Named::new("direct", "in one place (direct-mapped)", Mapping::Direct),
    Named::from("two_ways", "in one of two (two ways)", Profile::Standard, Mapping::TwoWays),
    Named::new("full", "anywhere (fully associative)", Mapping::Full),
];

/// What a miss costs, in cycles, in the response of that.
pub(super) const MISS_CYCLES: u64 = 20;

/// A build in the cache of the baselines: 8 lines of 8 bytes, direct-mapped.
pub(super) fn at(build: &str) -> Cell {
    cell([("build", build)])
}

/// A build in a cache of so many bytes.
fn sized(build: &str, mapping: &str, bytes: &str) -> Cell {
    at(build).with("mapping", mapping).with("cache_bytes", bytes)
}

/// The declaration.
pub(super) fn design() -> Design {
    Design {
        id: "icache".into(),
        version: 1,
        chapter: "Inside the core".into(),
        question: "What do compressed instructions bring to an instruction cache?".into(),
        method: METHOD.into(),
        factors: factors(),
        grids: grids(),
        responses: responses(),
        findings: findings(),
        claims: claims(),
        needs: Needs { cpus: 1, ..Needs::default() },
        precision: 0.05,
        time_limit_ms: 60_000,
        ..Design::default()
    }
}

const METHOD: &str = "A C kernel of 1,024 rounds, called ten times, was compiled for rv32im and for \
    rv32imc. A RISC-V machine of our own carries the program out, instruction by instruction, and \
    shows each one's address and size to a cache with LRU replacement. Nothing is timed: the numbers \
    are computed, and the same on every machine. Each trial runs the program twice and fails if any \
    number differs; a second way to count the misses must agree. A miss is cold if its line was \
    never accessed before, a capacity miss if a fully associative cache of the same size would miss, \
    too, and a conflict miss otherwise (Hill and Smith 1989).";

fn factors() -> Vec<Factor> {
    vec![
        factor("build", "which instructions the compiler may use", "rv32im").named(&BUILDS).build(),
        factor("compiler", "who compiled the program", "gcc14").named(&COMPILERS).build(),
        factor("cache_bytes", "how many bytes the cache holds", "64")
            .numbers(Profile::Smoke, "bytes", &[16, 32, 48, 64])
            .numbers(Profile::Quick, "bytes", &[24, 40, 56, 128])
            .numbers(Profile::Standard, "bytes", &[72, 80, 96, 104, 112, 256])
            .build(),
        factor("mapping", "where in the cache a line may stand", "direct").named(&MAPPINGS).build(),
        factor("line_bytes", "how many bytes a line has", "8")
            .numbers(Profile::Smoke, "bytes", &[8])
            .numbers(Profile::Quick, "bytes", &[4, 16, 32])
            .build(),
    ]
}

fn grids() -> Vec<Grid> {
    let builds = ("build", &[][..]);
    let [direct, two_ways, full] = [&["direct"][..], &["two_ways"], &["full"]];
    let of = |mapping: &'static [&'static str], sizes: &'static [&'static str]| {
        [builds, ("mapping", mapping), ("cache_bytes", sizes)]
    };
    vec![
        grid(Profile::Smoke, &of(direct, &["16", "32", "64"])),
        grid(Profile::Smoke, &of(full, &["48", "64"])),
        grid(Profile::Quick, &of(direct, &["16", "32", "64", "128"])),
        grid(Profile::Quick, &of(full, &["16", "24", "32", "40", "48", "56", "64", "128"])),
        grid(Profile::Quick, &[builds, ("line_bytes", &[])]),
        grid(Profile::Quick, &[builds, ("compiler", &[])]),
        grid(Profile::Standard, &of(direct, &["16", "32", "64", "128", "256"])),
        grid(Profile::Standard, &of(two_ways, &["16", "32", "64", "128", "256"])),
        grid(Profile::Standard, &of(full, &[])),
    ]
}

/// Begins the card of a number that is counted over a whole run.
fn counted(name: &str, label: &str, unit: Unit, corrected: &str) -> Response {
    response(name, label, unit)
        .card("the program's first instruction", "its last", corrected, "the simulated cache")
        .exact()
        .build()
}

fn responses() -> Vec<Response> {
    let by_instruction = "one access for each instruction, at the word in which it begins";
    let mut all = vec![
        counted("hit_ppm", "hit rate", Unit::Ppm, by_instruction),
        response("text_bytes", "size of the program", Unit::Bytes)
            .card("its first instruction in memory", "its last", "", "the executable's .text")
            .exact()
            .build(),
    ];
    all.extend(accesses());
    all.extend([
        counted("miss_count", "misses, each of which fetches a line", Unit::Count, by_instruction),
        counted("cold_count", "misses of lines never accessed before", Unit::Count, by_instruction),
        counted("conflict_count", "misses of the mapping", Unit::Count, by_instruction),
        counted("capacity_count", "misses of the size", Unit::Count, by_instruction),
        counted(
            "spared_count",
            "hits where a fully associative cache would miss",
            Unit::Count,
            by_instruction,
        ),
        counted("fetched_bytes", "bytes fetched from memory", Unit::Bytes, "a whole line a miss"),
        counted(
            "no_reuse_ppm",
            "hit rate of code that never comes back to a line",
            Unit::Ppm,
            "1 − the mean size of the instructions / the size of a line",
        ),
        counted(
            "equal_bytes",
            "smallest cache in which rv32im has as high a hit rate",
            Unit::Bytes,
            "of the same mapping and line: any number of lines where fully associative, else a power \
             of two",
        ),
        counted(
            "cycles",
            "cycles per instruction",
            Unit::Other("cycles".into()),
            "one for each instruction and 20 more for each miss; no other delay",
        ),
    ]);
    all
}

/// What other definitions of an access count.
fn accesses() -> [Response; 8] {
    let count = |name, label, rule| counted(name, label, Unit::Count, rule);
    let rate = |name, label, rule| counted(name, label, Unit::Ppm, rule);
    let lines = "one access for each line that the instruction's bytes touch";
    let word = "one access for each word, unless it is the one fetched last";
    let line = "one access for each line, unless it is the one accessed last";
    [
        count("instruction_count", "instructions", "all that were carried out"),
        count("short_count", "instructions of 16 bits", "of those carried out"),
        count("line_access_count", "accesses, line by line", lines),
        count("word_access_count", "accesses of a fetch unit that holds a word", word),
        count("line_change_count", "accesses of a fetch unit that holds a line", line),
        rate("hit_lines_ppm", "hit rate, line by line", lines),
        rate("hit_word_ppm", "hit rate of a fetch unit that holds a word", word),
        rate("hit_change_ppm", "hit rate of a fetch unit that holds a line", line),
    ]
}

fn findings() -> Vec<Finding> {
    let (im, imc) = (at("rv32im"), at("rv32imc"));
    vec![
        finding(
            "hits",
            "With compressed instructions the program hits {} of its accesses to 8 lines of 8 bytes.",
            value("hit_ppm", imc.clone()),
        ),
        finding("hits_plain", "Without, it hits {}.", value("hit_ppm", im.clone())),
        finding(
            "text",
            "Compressed, the program takes {} times as many bytes.",
            ratio("text_bytes", imc.clone(), im.clone()),
        ),
        remark(
            "misses",
            "Compressed, it misses {} times as often there.",
            ratio("miss_count", imc.clone(), im.clone()),
        ),
        remark(
            "cycles",
            "At 20 cycles a miss each instruction takes {} less.",
            difference("cycles", im, imc),
        ),
        remark(
            "near_the_edge",
            "In 48 bytes, fully associative, its loop fits if it is compressed: hits rise by {}.",
            difference("hit_ppm", sized("rv32imc", "full", "48"), sized("rv32im", "full", "48")),
        ),
        remark(
            "equal",
            "Without compression it takes {} to hit as often as compressed in those 48.",
            value("equal_bytes", sized("rv32imc", "full", "48")),
        ),
        remark(
            "word_buffer",
            "Read by words through a buffer of one word, the compressed program has {} accesses.",
            value("word_access_count", at("rv32imc")),
        ),
        remark(
            "no_reuse",
            "Code that never came back to a line would hit {} with the sizes of its instructions.",
            value("no_reuse_ppm", at("rv32imc")),
        ),
    ]
}
