//! What a trial keeps.

use super::play::{Counts, Equals, Seen, Setting};
use isa::cache::{Fetch, Tally, no_reuse_hit_rate};
use isa::pipeline::Cycles;
use kit::Trial;

/// Parts per million of a whole.
const MILLION: u64 = 1_000_000;

/// The responses of the definitions that see every line which an instruction touches: accesses, and the
/// hit rate.
const BY_LINES: [(Fetch, &str, &str); 3] = [
    (Fetch::Lines, "line_access_count", "hit_lines_ppm"),
    (Fetch::WordBuffer, "word_access_count", "hit_word_ppm"),
    (Fetch::LineBuffer, "line_change_count", "hit_change_ppm"),
];

/// Keeps what was seen in a setting. Rates are stored as counts over their wholes, so that nothing is
/// rounded.
pub(super) fn record(
    trial: &mut Trial<'_>,
    seen: &Seen,
    setting: &Setting,
    counts: &Counts,
    equals: Option<&Equals>,
) {
    let line_bytes = setting.cache.geometry().line_bytes();
    let own = counts.tally(Fetch::Instruction).unwrap_or_default();
    for (name, count) in [
        ("text_bytes", u64::from(seen.text_bytes)),
        ("instruction_count", seen.instructions),
        ("short_count", seen.short),
        ("miss_count", own.misses()),
        ("cold_count", own.cold),
        ("conflict_count", own.conflict),
        ("capacity_count", own.capacity),
        ("spared_count", own.spared),
        ("fetched_bytes", own.misses() * u64::from(line_bytes)),
    ] {
        trial.record_one(name, signed(count));
    }
    let mut hits = |name: &str, tally: Tally| {
        trial.record(name, tally.accesses.max(1), vec![signed(tally.hits() * MILLION)]);
    };
    hits("hit_ppm", own);
    let lines = counts.tally(Fetch::Lines);
    for (fetch, count, rate) in BY_LINES {
        if let Some(tally) = counts.tally(fetch) {
            trial.record_one(count, signed(tally.accesses));
            let hits = vec![signed(tally.hits() * MILLION)];
            trial.record(rate, tally.accesses.max(1), hits);
        }
    }
    let mean_bytes = seen.instruction_bytes as f64 / seen.instructions.max(1) as f64;
    if let Some(rate) = no_reuse_hit_rate(mean_bytes, line_bytes) {
        trial.record_one("no_reuse_ppm", (rate * MILLION as f64).round() as i64);
    }
    match equals.map(|equals| equals.as_good(setting, own)) {
        Some(Some(bytes)) => trial.record_one("equal_bytes", signed(bytes)),
        Some(None) => trial.observe("equal_bytes", "no cache is large enough"),
        None => {}
    }
    if let Some(found) = &counts.cycles {
        cycles(trial, seen.instructions, found);
    }
    if let (Some(found), Some(lines)) = (counts.pipeline_misses, lines) {
        let [found, misses] = [found, lines.misses()].map(|count| count as f64);
        trial.check("misses of the cache before the pipeline", found, misses, misses);
    }
}

/// Keeps the cycles and their causes, each per instruction.
fn cycles(trial: &mut Trial<'_>, instructions: u64, cycles: &Cycles) {
    let total = cycles.total();
    trial.record_one("cycle_count", signed(total));
    for (name, count) in [
        ("cycles", total),
        ("useful_cycles", cycles.retired),
        ("operand_cycles", cycles.data),
        ("redirect_cycles", cycles.control),
        ("trap_cycles", cycles.trapped + cycles.trap + cycles.trap_return),
        ("straddle_cycles", cycles.fetch),
        ("missing_cycles", cycles.miss),
        ("filling_cycles", cycles.fill),
    ] {
        trial.record(name, instructions.max(1), vec![signed(count)]);
    }
}

/// No count of a run comes near the end of either.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
