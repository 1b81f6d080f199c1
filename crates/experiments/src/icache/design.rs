//! The experiment as data.

use super::claims::claims;
use super::play::{Build, Compiler, Mapping};
use super::responses::{accounts, responses};
use kit::declare::{
    FactorBuilder, Named, cell, difference, factor, finding, grid, ratio, remark, value,
};
use kit::model::{Cell, Design, Factor, Finding, Grid, Needs, Profile};

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
        question: "What do compressed instructions bring to an instruction cache?".into(),
        method: format!(
            "A C kernel of 1,024 rounds, called ten times, was compiled for rv32im and for rv32imc. \
             {METHOD}"
        ),
        factors: [
            factor("build", "which instructions the compiler may use", "rv32im").named(&BUILDS),
            factor("compiler", "who compiled the program", "gcc14").named(&COMPILERS),
        ]
        .map(FactorBuilder::build)
        .into_iter()
        .chain(caches(cache_bytes()))
        .collect(),
        grids: grids(),
        responses: responses("rv32im"),
        findings: findings(),
        accounts: accounts(
            BUILDS.map(|build| (build.name, sized(build.name, "direct", "32"))),
            "32 bytes of cache",
        ),
        claims: claims(),
        ..frame()
    }
}

/// What any design of it has, whatever programs it runs.
pub(super) fn frame() -> Design {
    Design {
        id: "icache".into(),
        version: 2,
        chapter: "Inside the core".into(),
        needs: Needs { cpus: 1, ..Needs::default() },
        precision: 0.05,
        time_limit_ms: TIME_LIMIT_MS,
        ..Design::default()
    }
}

/// The time for a trial of a small program, in milliseconds.
pub(super) const TIME_LIMIT_MS: u64 = 60_000;

/// What is done with a program, whosever it is.
pub(super) const METHOD: &str = "A RISC-V machine of our own carries the program out, instruction by \
    instruction, and shows each one's address and size to a cache with LRU replacement. A pipeline \
    of five stages with forwarding, which resolves branches in EX and waits for each missed line, \
    counts the cycles by their cause. Nothing is timed: the numbers are computed, and the same on \
    every machine. Each trial runs the program twice and fails if any number differs; a second way \
    to count the misses must agree. A miss is cold if its line was never accessed before, a capacity \
    miss if a fully associative cache of the same size would miss, too, and a conflict miss \
    otherwise (Hill and Smith 1989).";

/// Sizes around that of the loop.
fn cache_bytes() -> FactorBuilder {
    factor("cache_bytes", "how many bytes the cache holds", "64")
        .numbers(Profile::Smoke, "bytes", &[16, 32, 48, 64])
        .numbers(Profile::Quick, "bytes", &[24, 40, 56, 128])
        .numbers(Profile::Standard, "bytes", &[72, 80, 96, 104, 112, 256])
}

/// The factors of cache and core.
pub(super) fn caches(cache_bytes: FactorBuilder) -> [Factor; 5] {
    [
        cache_bytes,
        factor("mapping", "where in the cache a line may stand", "direct").named(&MAPPINGS),
        factor("line_bytes", "how many bytes a line has", "8")
            .numbers(Profile::Smoke, "bytes", &[8])
            .numbers(Profile::Quick, "bytes", &[4, 16, 32]),
        factor("penalty_cycles", "how many cycles a missed line takes", "20")
            .numbers(Profile::Smoke, "cycles", &[20])
            .numbers(Profile::Quick, "cycles", &[5, 50]),
        factor("fetch_bytes", "how many bytes the core fetches at once, an aligned word", "4")
            .numbers(Profile::Smoke, "bytes", &[4])
            .numbers(Profile::Quick, "bytes", &[2, 8])
            .numbers(Profile::Standard, "bytes", &[16]),
    ]
    .map(FactorBuilder::build)
}

/// The caches and cores before which every build runs.
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
        grid(Profile::Quick, &[builds, ("cache_bytes", &["32", "64"]), ("penalty_cycles", &[])]),
        grid(Profile::Quick, &[builds, ("fetch_bytes", &[])]),
        grid(Profile::Quick, &[builds, ("compiler", &[])]),
        grid(Profile::Standard, &of(direct, &["16", "32", "64", "128", "256"])),
        grid(Profile::Standard, &of(two_ways, &["16", "32", "64", "128", "256"])),
        grid(Profile::Standard, &of(full, &[])),
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
            "At 20 cycles a missed line it takes {} times the cycles in a cache of 32 bytes.",
            ratio("cycle_count", sized("rv32imc", "direct", "32"), sized("rv32im", "direct", "32")),
        ),
        remark(
            "straddle",
            "Fetched by aligned words of 4 bytes, compressed code waits {} per instruction for the \
             second word of those that lie in two.",
            value("straddle_cycles", imc.clone()),
        ),
        remark(
            "narrow",
            "Fetched by halves of words, as over a bus of 16 bits, each instruction takes {} less.",
            difference("cycles", im.with("fetch_bytes", "2"), imc.with("fetch_bytes", "2")),
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
