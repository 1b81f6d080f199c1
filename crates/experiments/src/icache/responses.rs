//! What is counted of a program, with the definition of each number.

use kit::declare::{ResponseBuilder, account, cell, known, measured, part, response};
use kit::model::{Account, Cell, Limit, Response, Unit};

/// Begins the card of a number that is counted over a whole run.
fn counted(name: &str, label: &str, unit: Unit, corrected: &str) -> ResponseBuilder {
    response(name, label, unit)
        .card("the program's first instruction", "its last", corrected, "the simulated cache")
        .exact()
}

/// All of them; `beside` is the program that others are compared with.
pub(super) fn responses(beside: &str) -> Vec<Response> {
    let by_instruction = "one access for each instruction, at the word in which it begins";
    let of = |name, label, unit, rule| counted(name, label, unit, rule).build();
    let mut hits = of("hit_ppm", "hit rate", Unit::Ppm, by_instruction);
    hits.limits = limits();
    let text = response("text_bytes", "size of the program", Unit::Bytes)
        .card("its first instruction in memory", "its last", "", "the executable's .text")
        .exact()
        .build();
    let mut all = vec![hits, text];
    all.extend(accesses());
    all.extend([
        of("miss_count", "misses, each of which fetches a line", Unit::Count, by_instruction),
        of("cold_count", "misses of lines never accessed before", Unit::Count, by_instruction),
        of("conflict_count", "misses of the mapping", Unit::Count, by_instruction),
        of("capacity_count", "misses of the size", Unit::Count, by_instruction),
        of(
            "spared_count",
            "hits where a fully associative cache would miss",
            Unit::Count,
            by_instruction,
        ),
        of("fetched_bytes", "bytes fetched from memory", Unit::Bytes, "a whole line a miss"),
        of(
            "no_reuse_ppm",
            "hit rate of code that never comes back to a line",
            Unit::Ppm,
            "1 − the mean size of the instructions / the size of a line",
        ),
        of(
            "equal_bytes",
            &format!("smallest cache in which {beside} has as high a hit rate"),
            Unit::Bytes,
            "of the same mapping and line: any number of lines where fully associative, else a power \
             of two",
        ),
    ]);
    all.extend(cycles());
    all
}

/// What code that never comes back to a line hits, with the lines of the baseline.
fn limits() -> Vec<Limit> {
    let at = cell([("line_bytes", "8")]);
    let limit = |value, size: &str| Limit {
        value,
        label: format!("no reuse, instructions of {size}"),
        at: at.clone(),
    };
    vec![limit(500_000.0, "4 B"), limit(750_000.0, "2 B")]
}

/// What other definitions of an access count.
fn accesses() -> [Response; 8] {
    let count = |name, label, rule| counted(name, label, Unit::Count, rule).build();
    let rate = |name, label, rule| counted(name, label, Unit::Ppm, rule).build();
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

/// The causes of cycles: the response, its label in a table, and in an account.
const CAUSES: [(&str, &str, &str); 7] = [
    ("useful_cycles", "cycles of instructions that retired", "instructions that retired"),
    ("operand_cycles", "cycles of waiting for an operand", "waits for an operand"),
    ("redirect_cycles", "cycles lost behind taken branches and jumps", "taken branches and jumps"),
    ("trap_cycles", "cycles of traps and their returns", "traps and their returns"),
    ("straddle_cycles", "cycles of second fetches", "second fetches, of instructions in two words"),
    ("missing_cycles", "cycles of misses", "missed lines"),
    ("filling_cycles", "cycles until the pipeline was full", "filling the pipeline"),
];

/// The cycles of the pipeline, in all and by cause.
fn cycles() -> Vec<Response> {
    let card = |builder: ResponseBuilder, corrected| {
        let source = "the simulated pipeline's cycles by cause";
        builder.card("the first fetch", "the last write-back", corrected, source).exact().build()
    };
    let each = "divided by the instructions carried out; every line that an instruction touches is \
                looked for";
    let unit = || Unit::Other("cycles".into());
    let mut all = vec![
        card(response("cycles", "cycles per instruction", unit()), each),
        card(response("cycle_count", "cycles in all", Unit::Count), ""),
    ];
    all.extend(CAUSES.map(|(name, label, _)| card(response(name, label, unit()), each)));
    all
}

/// What the cycles of an instruction are made of, for programs at treatments.
pub(super) fn accounts<'p>(
    programs: impl IntoIterator<Item = (&'p str, Cell)>,
    before: &str,
) -> Vec<Account> {
    let one = |(number, (program, at)): (usize, (&str, Cell))| {
        let parts =
            CAUSES.map(|(name, _, label)| part(label, measured(name, at.clone()), known(1.0)));
        let title = format!("one instruction of {program} before {before}, in cycles");
        account(&format!("cycles_{number}"), &title, measured("cycles", at), parts.into())
    };
    programs.into_iter().enumerate().map(one).collect()
}
