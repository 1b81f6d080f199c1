//! Thresholds of a load and whether they are met, and the answers that succeeded.

use super::{rate, share, time};
use crate::doc::{Block, Tone};
use model::{Estimate, Expectation, Expected, LoadNumber, LoadResult, Unit};
use wording::number::{Terms, count, estimate};
use wording::{counted, short};

/// Returns whether a threshold is met, and by which number. Where more of the requests ended without success than may lie
/// beyond a percentile, it may be that of refusals.
pub(super) fn expectation(expected: &Expectation, errors: Option<f64>) -> Block<'static> {
    let Expectation { number, outcome, text, .. } = expected;
    let found = match (expected.found, expected.point) {
        (Some(found), _) => number_with_interval(*number, &found),
        (None, Some(point)) => number_alone(*number, point),
        (None, None) => "unknown".into(),
    };
    let text = short(text, 80);
    let (tone, word, text) = match outcome {
        Expected::Met => (Tone::Good, "met", format!("{text}: met, {found}.")),
        Expected::NotMet => (Tone::Bad, "not met", format!("{text}: not met, {found}.")),
        Expected::Undecided => {
            let failed = errors.filter(|failed| match number {
                LoadNumber::Percentile(percent) => *failed > 1.0 - percent / 100.0,
                _ => false,
            });
            let more = match (failed, expected.requests) {
                (Some(failed), _) => format!(
                    "{} of the requests ended without success, and p50(ok), p99(ok) and errors decide what they hide",
                    share(failed)
                ),
                (_, Some(requests)) => {
                    format!("about {} requests like these decide it", count(requests))
                }
                _ => "it is too near to the limit for this load; measure longer".into(),
            };
            (Tone::Open, "undecided", format!("{text}: cannot be decided, {found}; {more}."))
        }
    };
    Block::said(tone, word, vec![text.into()])
}

/// Returns a number of a load with its unit.
pub(in crate::say) fn number_alone(number: LoadNumber, point: f64) -> String {
    match number {
        LoadNumber::Rate => format!("{} per second", rate(point)),
        LoadNumber::Errors => share(point),
        LoadNumber::Mean | LoadNumber::Percentile(_) | LoadNumber::Succeeded(_) => time(point),
    }
}

/// Returns the same with its interval.
pub(in crate::say) fn number_with_interval(number: LoadNumber, found: &Estimate) -> String {
    match number {
        LoadNumber::Rate => format!("{} per second", estimate(found, Terms::In(&Unit::Count))),
        LoadNumber::Errors => estimate(found, Terms::Share),
        LoadNumber::Mean | LoadNumber::Percentile(_) | LoadNumber::Succeeded(_) => {
            estimate(found, Terms::In(&Unit::Ns))
        }
    }
}

/// Says how long the answers took that succeeded, where others did not.
pub(super) fn succeeded(result: &LoadResult) -> Option<String> {
    let times = result.succeeded.as_ref().filter(|times| times.count > 0)?;
    let of = |percent| {
        let (point, found) = result.number(LoadNumber::Succeeded(percent));
        let number = LoadNumber::Succeeded(percent);
        let number = found.map(|found| number_with_interval(number, &found));
        let number = number.or_else(|| point.map(time))?;
        Some(format!("p{percent} {number}"))
    };
    let each = wording::clauses([50.0, 95.0, 99.0].map(of), ", ")?;
    Some(format!("The {} with a status below 400 alone: {each}.", counted(times.count, "answer")))
}
