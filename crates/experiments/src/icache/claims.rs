//! What a quiz says of compressed instructions, as numbers that could refute it.

use super::design::at;
use kit::declare::{claim, ratio, value};
use kit::model::{Claim, Region};

const QUIZ: &str = "a computer-architecture quiz";

/// How far a hit rate may lie from what the quiz says, in parts per million: it gives two digits.
const INEXACT_PPM: f64 = 5_000.0;

const LIMIT: &str = "0.50 and 0.75 are what code has that never comes back to a line: 1 − 4/8 and \
    1 − 2/8 for a line of 8 bytes. This program comes back to its lines, and its loop fits.";

pub(super) fn claims() -> Vec<Claim> {
    let about = |ppm: f64| Region::within(ppm - INEXACT_PPM, ppm + INEXACT_PPM);
    vec![
        claim(
            "text",
            QUIZ,
            "Compressed instructions shrink the program from 160 to 94 bytes, by 41 %.",
            "the frequent instructions take 16 bits instead of 32",
        )
        .note("Of the two versions of GCC, 14 gives these sizes; 12 gives 160 and 92.")
        .holds_if(ratio("text_bytes", at("rv32imc"), at("rv32im")), Region::within(0.585, 0.595)),
        claim(
            "hits_plain",
            QUIZ,
            "Without them the hit rate is 0.50 in a direct-mapped cache of 8 lines of two words.",
            "two instructions share a line, and the first of them misses",
        )
        .note(LIMIT)
        .holds_if(value("hit_ppm", at("rv32im")), about(500_000.0)),
        claim(
            "hits",
            QUIZ,
            "With them the hit rate is 0.75 in that cache.",
            "four instructions share a line, and the first of them misses",
        )
        .note(LIMIT)
        .holds_if(value("hit_ppm", at("rv32imc")), about(750_000.0)),
    ]
}
