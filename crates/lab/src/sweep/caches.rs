//! The caches of a sweep, as people type them.

use crate::quantity;
use anyhow::ensure;
use model::{Caches, Replacement};

/// The sizes of the caches for which none are stated, in bytes.
const SIZES: [u32; 10] = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768];

/// Bytes of their lines, and their ways: direct-mapped, and fully associative.
const LINE_BYTES: u32 = 8;
const WAYS: [u32; 2] = [1, 0];

/// A property of the caches, with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Sizes(Vec<u32>),
    Lines(Vec<u32>),
    Ways(Vec<u32>),
    Policies(Vec<Replacement>),
    Cycles(bool),
}

impl Choice {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (name, values) = text.split_once('=').unwrap_or((text, ""));
        match name {
            "size" => list(values, quantity::cache_bytes).map(Choice::Sizes),
            "line" => list(values, quantity::cache_bytes).map(Choice::Lines),
            "ways" => list(values, quantity::ways).map(Choice::Ways),
            "policy" => list(values, quantity::policy).map(Choice::Policies),
            "cycles" => match values {
                "on" => Ok(Choice::Cycles(true)),
                "off" => Ok(Choice::Cycles(false)),
                _ => Err("expected cycles=on or cycles=off".into()),
            },
            _ => Err(
                "expected size=, line=, ways=, policy= or cycles=, such as size=1KiB,4KiB; files \
                      come before --sweep"
                    .into(),
            ),
        }
    }
}

fn list<T>(text: &str, parse: fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    text.split(',').map(parse).collect()
}

/// Returns the caches that are chosen; the last choice of a property counts.
///
/// # Errors
/// If no cache can be built of them.
pub(super) fn caches(chosen: &[Choice]) -> anyhow::Result<Caches> {
    let mut caches = Caches {
        bytes: SIZES.to_vec(),
        line_bytes: vec![LINE_BYTES],
        ways: WAYS.to_vec(),
        policies: vec![Replacement::Lru],
        cycles: true,
    };
    for choice in chosen.iter().cloned() {
        match choice {
            Choice::Sizes(sizes) => caches.bytes = sizes,
            Choice::Lines(lines) => caches.line_bytes = lines,
            Choice::Ways(ways) => caches.ways = ways,
            Choice::Policies(policies) => caches.policies = policies,
            Choice::Cycles(cycles) => caches.cycles = cycles,
        }
    }
    ensure!(
        experiments::is_any_cache(&caches),
        "no cache can be built of those sizes, lines and ways: a size is lines times ways times a power of \
         two, lines are powers of two of 4 to 4096 bytes, and plru has 1, 2, 4, … or 64 ways"
    );
    Ok(caches)
}
