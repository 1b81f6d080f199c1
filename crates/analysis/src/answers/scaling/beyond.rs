//! What happens with more workers than CPUs.

use super::case::{At, Case, NOTABLE, lost};
use super::level::ratio;
use super::rows::{self, cause};
use super::trials::ScaleTrial;
use super::words::{figure, percent_of, with_interval};
use model::{Bottleneck, Grade, ScaleCause};

/// Returns the cause beyond the CPUs, if there were more workers than them and it cost something.
///
/// A program that rises on beyond the CPUs waits for something else than them, and one that a
/// quota, neighbours or a crowd on too few CPUs stopped before it ran out of CPUs has no cause here.
pub(super) fn beyond(
    case: &Case<'_>,
    one: At<'_>,
    found: Option<&ScaleCause>,
) -> Option<ScaleCause> {
    let most = case.most()?;
    let before = case.within().unwrap_or(one);
    let short = [Bottleneck::Quota, Bottleneck::Neighbour, Bottleneck::Oversubscribed];
    if found.is_some_and(|cause| short.contains(&cause.cause)) {
        return None;
    }
    let values = |at: At<'_>| at.level.values(ScaleTrial::throughput);
    let change = ratio(&values(most), &values(before))?;
    if change.low > 1.0 && change.point > 1.0 + NOTABLE {
        return None;
    }
    let cpus = case.cpus.unwrap_or(1);
    let falls = change.high < 1.0 && change.point < 1.0 - NOTABLE;
    let evidence = vec![format!(
        "throughput of {} workers is {} times that of {} (there {} {cpus} CPU{})",
        figure(most.described.n),
        with_interval(&change),
        figure(before.described.n),
        if cpus == 1 { "is" } else { "are" },
        if cpus == 1 { "" } else { "s" },
    )];
    // With a single CPU, every second worker is one too many.
    let (row, number) = match (falls, cpus) {
        (true, _) => (rows::FALLS, percent_of(&change.map(|times| times - 1.0))),
        (false, 1) => (rows::TURNS, String::new()),
        _ => (rows::CPUS, cpus.to_string()),
    };
    let at = (most.described.n, lost(most.described));
    Some(cause(row, &number, at, Grade::Software, evidence))
}
