//! What happens with more workers than CPUs.

use super::case::{At, Case, NOTABLE, lost};
use super::level::ratio;
use super::trials::ScaleTrial;
use super::words::{figure, percent_of, with_interval};
use model::{Bottleneck, Estimate, Grade, ScaleCause};

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
    Some(if falls || cpus == 1 {
        oversubscribed(most, falls, &change, evidence)
    } else {
        used_up(most, cpus, evidence)
    })
}

fn oversubscribed(
    most: At<'_>,
    falls: bool,
    change: &Estimate,
    evidence: Vec<String>,
) -> ScaleCause {
    let sentence = if falls {
        let change = Estimate {
            point: change.point - 1.0,
            low: change.low - 1.0,
            high: change.high - 1.0,
            ..*change
        };
        format!(
            "More workers than CPUs reduce the throughput ({}): they take turns, and a worker \
             without a CPU may hold a lock that others need",
            percent_of(&change)
        )
    } else {
        "There are more workers than CPUs at every n above 1, so they only take turns".into()
    };
    ScaleCause {
        cause: Bottleneck::Oversubscribed,
        at: most.described.n,
        lost: lost(most.described),
        grade: Grade::Software,
        sentence,
        evidence,
        remedy: "Use no more workers than CPUs.".into(),
    }
}

fn used_up(most: At<'_>, cpus: u32, evidence: Vec<String>) -> ScaleCause {
    ScaleCause {
        cause: Bottleneck::Cpus,
        at: most.described.n,
        lost: lost(most.described),
        grade: Grade::Software,
        sentence: format!(
            "Beyond n = {cpus}, all CPUs are in use: additional workers wait for a CPU"
        ),
        evidence,
        remedy: format!("Use more than {cpus} CPUs, or less CPU time per operation."),
    }
}
