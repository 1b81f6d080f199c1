//! What changes from session to session although nothing was changed, estimated from a comparison itself.
//!
//! Where things lie in memory, the clock and the host's guests give each session a level of its own, which
//! no trial within it shows. A comparison of one session a side has one difference per number, and most
//! numbers did not change by themselves. Their scatter about their common centre, beyond that of the
//! trials, is the scatter between sessions. That is the idea of genomic control (Devlin and Roeder,
//! *Genomic control for association studies*, Biometrics 55, 1999) with an added variance in the place of
//! a factor: what changes by 1 % moves a precise number far, and a noisy one hardly.
//!
//! The common centre takes out what moves all of them, so that a change of everything by one factor is
//! found. Where more than half of the numbers changed by factors of their own, that is taken for
//! scatter, and less is found.

use super::experiment::Compared;
use super::reading::{Reading, Scale};
use crate::stats::order::median;
use laws::roots::bisect;
use model::{Quantity, Replication};

/// The fewest numbers from which the scatter between sessions is estimated.
const NUMBERS_MIN: usize = 20;

/// The median of |t| of Student's t with 9 degrees of freedom; with 8 to 14 it is 0.71 to 0.69.
const MEDIAN_OF_T: f64 = 0.703;

/// Adds the scatter between sessions to all numbers of a side, the first after the base being 0. Levels
/// and what is formed within a session (ratios of two levels) scatter in their own ways; each response at
/// a treatment is a level.
pub(crate) fn allow_for(experiments: &mut [Compared<'_>], side: usize) {
    for is_level in [true, false] {
        let of_kind = experiments.iter().flat_map(|it| {
            let kinds = it.experiment.findings.iter().map(|finding| is_of_level(&finding.quantity));
            it.findings.iter().zip(kinds).filter(move |(_, found)| *found == is_level)
        });
        let readings = of_kind.filter_map(|(readings, _)| readings.get(side)?.as_ref());
        let Some(found) = between(readings) else { continue };
        for experiment in experiments.iter_mut() {
            let quantities = experiment.experiment.findings.iter();
            let findings = experiment.findings.iter_mut().zip(quantities);
            let findings = findings.filter(|(_, it)| is_of_level(&it.quantity) == is_level);
            let rows = experiment.rows.iter_mut().filter(|_| is_level);
            let all = findings.map(|(readings, _)| readings).chain(rows);
            all.filter_map(|it| it.get_mut(side)?.as_mut()).for_each(|it| it.widen(found));
        }
    }
}

fn is_of_level(quantity: &Quantity) -> bool {
    matches!(quantity, Quantity::Value { .. } | Quantity::Difference { .. })
}

/// Returns the standard deviation of logarithms between two sessions that the ratios of readings show beyond
/// their trials; `None` where there are too few of them. The more precise half counts: the others
/// scatter by their trials alone.
fn between<'a>(readings: impl Iterator<Item = &'a Reading>) -> Option<f64> {
    let of_trials = readings.filter(|it| {
        let is_of_trials = it.effect.unit_of_replication == Replication::Trials;
        is_of_trials && it.scale == Scale::Log && it.has_noise()
    });
    let contrasts = of_trials.filter_map(|it| it.contrast.as_ref());
    let known = contrasts.map(|it| (it.point, it.standard_error()));
    let mut known: Vec<(f64, f64)> = known.filter(|(_, error)| *error > 0.0).collect();
    if known.len() < NUMBERS_MIN {
        return None;
    }
    known.sort_by(|a, b| a.1.total_cmp(&b.1));
    known.truncate(known.len().div_ceil(2));
    Some(scatter_beyond(&known))
}

/// Returns the standard deviation beyond the standard errors of numbers about their median: 0 where their
/// errors explain the scatter.
fn scatter_beyond(known: &[(f64, f64)]) -> f64 {
    let points: Vec<f64> = known.iter().map(|(point, _)| *point).collect();
    let centre = median(&points).unwrap_or_default();
    let farthest = points.iter().map(|point| (point - centre).abs()).fold(0.0, f64::max);
    let exceeds = |between: f64| {
        let of_one = |(point, error): &(f64, f64)| (point - centre).abs() / error.hypot(between);
        let found: Vec<f64> = known.iter().map(of_one).collect();
        median(&found).is_some_and(|found| found > MEDIAN_OF_T)
    };
    if exceeds(0.0) { bisect(0.0, farthest / MEDIAN_OF_T, exceeds) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Draws;

    #[test]
    fn scatter_between_sessions_is_found_beside_that_of_trials_and_beside_a_common_change() {
        let mut draws = Draws::new(8100);
        for (planted, common) in [(0.0, 0.0), (0.03, 0.0), (0.03, 0.2)] {
            let mut numbers: Vec<(f64, f64)> = (0..200)
                .map(|place| {
                    let error = 0.002 + 0.0001 * f64::from(place);
                    let own = planted * draws.normal() + error * draws.normal();
                    (common + own, error)
                })
                .collect();
            // A tenth changed by themselves.
            numbers.iter_mut().step_by(10).for_each(|(point, _)| *point += 1.0);
            let found = scatter_beyond(&numbers[..100]);
            assert!((found - planted).abs() < 0.012, "{planted} {common}: {found}");
        }
    }
}
