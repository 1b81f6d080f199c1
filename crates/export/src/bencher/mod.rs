//! Bencher's own layout, the Bencher Metric Format.

use crate::cases::{LeftOut, each_case};
use crate::{Choice, Result, Session, write_json};
use analysis::median;
use model::Design;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;

/// The most bytes that Bencher allows in a benchmark's name.
const NAME_BYTES_MAX: usize = 1024;

/// Writes the estimates of the session as Bencher Metric Format: a benchmark per treatment, a
/// measure per response, the median over trials (or the frequency) and its 95 % interval, as in
/// summary.json.
///
/// A measure is called like its response with `-` for `_` (a slug), and is in the response's unit.
/// A single trial has no interval.
///
/// # Errors
/// If a name of the choice is not in the session, or if `out` fails.
pub fn bencher(session: &Session<'_>, choice: &Choice, out: impl Write) -> Result<LeftOut> {
    let mut all: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    let left_out = each_case(
        session,
        choice,
        |_, _, _| true,
        |case| {
            let values = case.values();
            let carrier = case.numbers.carrier(case.response, case.treatment);
            let estimate = case.numbers.estimate(case.response, carrier.as_deref(), case.treatment);
            let Some(value) = estimate.map(|it| it.point).or_else(|| median(&values)) else {
                return;
            };
            let metric = match estimate {
                Some(it) => {
                    json!({ "value": value, "lower_value": it.low, "upper_value": it.high })
                }
                None => json!({ "value": value }),
            };
            let name = shortened(&format!("{} {}", case.design.id, case.treatment));
            let measures = all.entry(name).or_default();
            measures.insert(measure(case.design, &case.response.name), metric);
        },
    )?;
    write_json(&all, out)?;
    Ok(left_out)
}

/// What a response is called as a measure. A study may call one response `a-b` and another `a_b`:
/// both then keep their names, which Bencher also takes.
fn measure(design: &Design, response: &str) -> String {
    let slug = |name: &str| name.replace('_', "-");
    let same = design.responses.iter().filter(|it| slug(&it.name) == slug(response)).count();
    if same == 1 { slug(response) } else { response.to_string() }
}

/// A name that Bencher takes. Only a study can have a longer one; two of them that differ beyond
/// the limit alone are distinguished by a number made from the whole.
fn shortened(name: &str) -> String {
    if name.len() <= NAME_BYTES_MAX {
        return name.to_string();
    }
    let mark = format!(" …{:016x}", fowler_noll_vo(name.as_bytes()));
    format!("{}{mark}", &name[..name.floor_char_boundary(NAME_BYTES_MAX - mark.len())])
}

/// The hash FNV-1a, which is the same in every version and on every machine.
fn fowler_noll_vo(bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    bytes
        .iter()
        .fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests;
