//! What do compressed instructions bring to an instruction cache?
//!
//! The same program, compiled with and without them, runs on the small RISC-V machine of the room
//! [`isa`], before a cache of the treatment's geometry. Nothing is timed: the numbers are computed,
//! twice, and are the same on every machine.

mod claims;
mod design;
mod play;

use design::{BUILDS, COMPILERS, MAPPINGS, MISS_CYCLES};
use isa::cache::{Fetch, Tally, no_reuse_hit_rate};
use kit::{Experiment, Stop, Trial};
use play::{Build, Seen, as_good_without, geometry, play};

/// The experiment.
pub(crate) const EXPERIMENT: Experiment =
    Experiment { id: "icache", design: design::design, trial };

/// Parts per million of a whole.
const MILLION: u64 = 1_000_000;

fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let build = trial.realise("build", &BUILDS)?;
    let compiler = trial.realise("compiler", &COMPILERS)?;
    let mapping = trial.realise("mapping", &MAPPINGS)?;
    let number = |factor: &str| -> Result<u32, Stop> {
        u32::try_from(trial.number(factor)?).map_err(|error| Stop::failed(error.to_string()))
    };
    let (cache_bytes, line_bytes) = (number("cache_bytes")?, number("line_bytes")?);
    let geometry = geometry(cache_bytes, mapping, line_bytes)?;
    let program = build.program(compiler);
    let first = play(program, geometry)?;
    trial.observe("geometry", geometry);
    trial.begin()?;
    let seen = play(program, geometry)?;
    let plain = Build::Im.program(compiler);
    let equal = as_good_without(plain, geometry, mapping, seen.tally(Fetch::Instruction))?;
    trial.end()?;
    if first != seen {
        return Err(Stop::failed("the same program gave other numbers when it ran again"));
    }
    record(trial, &seen, geometry.line_bytes());
    match equal {
        Some(bytes) => trial.record_one("equal_bytes", signed(bytes)),
        None => trial.observe("equal_bytes", "no cache is large enough"),
    }
    let misses = seen.tally(Fetch::Instruction).misses() as f64;
    trial.check("misses of the same cache in a sweep", seen.swept_misses as f64, misses, misses);
    Ok(())
}

/// Keeps what was seen. Rates are stored as counts over their wholes, so that nothing is rounded.
fn record(trial: &mut Trial<'_>, seen: &Seen, line_bytes: u32) {
    let tally = |fetch| seen.tally(fetch);
    let own = tally(Fetch::Instruction);
    let (lines, word, change) =
        (tally(Fetch::Lines), tally(Fetch::WordBuffer), tally(Fetch::LineBuffer));
    for (name, count) in [
        ("text_bytes", u64::from(seen.text_bytes)),
        ("instruction_count", seen.instructions),
        ("short_count", seen.short),
        ("line_access_count", lines.accesses),
        ("word_access_count", word.accesses),
        ("line_change_count", change.accesses),
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
    hits("hit_lines_ppm", lines);
    hits("hit_word_ppm", word);
    hits("hit_change_ppm", change);
    let instructions = seen.instructions.max(1);
    let cycles = seen.instructions + MISS_CYCLES * own.misses();
    trial.record("cycles", instructions, vec![signed(cycles)]);
    let mean_bytes = seen.instruction_bytes as f64 / instructions as f64;
    if let Some(rate) = no_reuse_hit_rate(mean_bytes, line_bytes) {
        trial.record_one("no_reuse_ppm", (rate * MILLION as f64).round() as i64);
    }
}

/// No count of a run comes near the end of either.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
