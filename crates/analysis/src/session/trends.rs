//! Whether a treatment of a user's program drifts over the session, or has two modes.

use crate::session::sample::observations;
use crate::stats::order::{self, median, sorted};
use model::{Design, Record, Response, Treatment};
use std::collections::BTreeMap;
use wording::number::value;

/// Fewer trials of a treatment show neither.
const TRIALS_MIN: usize = 8;

/// A drift is one that chance makes in one of a hundred sessions, over all treatments.
const CHANCE: f64 = 0.01;

/// Less change from the first half of the trials to the second, or between two modes, is not worth a word.
const NOTABLE: f64 = 0.05;

/// Two modes lie at least this multiple of their own widths apart, and each has this part of the trials. Of samples with
/// one mode (normal, exponential, lognormal), 8 to 40 trials, at most 1 % look so.
const APART: f64 = 2.0;
const PART: f64 = 0.25;

/// Returns what is to be known of the main response's treatments, one sentence each.
pub(crate) fn trends(design: &Design, records: &[&Record]) -> Vec<String> {
    let response = design.responses.first().filter(|_| design.subject.is_some());
    let Some(response) = response else { return Vec::new() };
    let mut order = records.to_vec();
    order.sort_by_key(|record| record.trial);
    let mut all: BTreeMap<&Treatment, Vec<f64>> = BTreeMap::new();
    for record in order {
        let found = observations(record, &response.name).first().copied();
        all.entry(&record.treatment).or_default().extend(found);
    }
    all.retain(|_, values| values.len() >= TRIALS_MIN);
    let chance = CHANCE / all.len().max(1) as f64;
    let one = |(treatment, values): (&&Treatment, &Vec<f64>)| {
        let name = format!("{} of {treatment}", response.label);
        drift(values, chance, response)
            .map(|change| {
                format!(
                    "{name} drifts over the session: {change}. If a trial leaves something behind that \\
                     changes the next one, let it begin anew (prepare, {{scratch}})"
                )
            })
            .or_else(|| Some(format!("{name} has two modes: {}", modes(values, response)?)))
    };
    all.iter().filter_map(one).collect()
}

/// Returns how the second half of the trials differs from the first if the trials rise or fall over the session.
fn drift(values: &[f64], chance: f64, response: &Response) -> Option<String> {
    let by_chance = order::trend(values);
    let (first, last) = values.split_at(values.len() / 2);
    let (before, after) = (median(first)?, median(last)?);
    (by_chance < chance && (after / before - 1.0).abs() > NOTABLE).then(|| {
        let [before, after] = [before, after].map(|one| value(one, &response.unit));
        format!("{before} in the first half of its trials, {after} in the second")
    })
}

/// Returns two modes as they are counted.
fn modes(values: &[f64], response: &Response) -> Option<String> {
    let sorted = sorted(values);
    let least = (PART * sorted.len() as f64).ceil() as usize;
    let gap = |split: &usize| sorted[*split] - sorted[*split - 1];
    let split = (least..=sorted.len() - least).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let (low, high) = sorted.split_at(split);
    let width = |mode: &[f64]| mode[mode.len() - 1] - mode[0];
    let is_apart = gap(&split) >= APART * width(low).max(width(high));
    let (below, above) = (median(low)?, median(high)?);
    (is_apart && above > below * (1.0 + NOTABLE)).then(|| {
        let of = |mode: &[f64], at: f64| {
            format!("{} trials around {}", mode.len(), value(at, &response.unit))
        };
        format!(
            "{}, {}; its median lies in one of them or between",
            of(low, below),
            of(high, above)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Trial;
    use model::{Card, Subject, Unit};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn found(values: &[f64]) -> Vec<String> {
        let design = Design {
            responses: vec![Response::new("wall_ns", "elapsed time", Unit::Ns, Card::default())],
            subject: Some(Subject::default()),
            ..Design::default()
        };
        let records: Vec<Record> = values
            .iter()
            .zip(0..)
            .map(|(ns, trial)| Trial::new(trial).series("wall_ns", 1, &[*ns as i64]).record())
            .collect();
        trends(&design, &records.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_drift_and_two_modes_are_said() {
        let rising: Vec<f64> = (0..12).map(|trial| 2e7 + 1e6 * f64::from(trial)).collect();
        assert!(found(&rising)[0].contains("drifts"), "{:?}", found(&rising));
        let modes: Vec<f64> = (0..12)
            .map(|trial| if trial % 3 == 0 { 3e7 } else { 2e7 } + 1e4 * f64::from(trial * 7 % 5))
            .collect();
        let two = found(&modes);
        assert!(
            two.len() == 1 && two[0].contains("4 trials") && two[0].contains("8 trials"),
            "{two:?}"
        );
        // One step of a machine is a drift, and a few outliers are no mode.
        let mut outliers: Vec<f64> =
            (0..12).map(|trial| 2e7 + 1e5 * f64::from(trial * 5 % 12)).collect();
        (outliers[3], outliers[8]) = (4e7, 4.1e7);
        assert_eq!(found(&outliers), [""; 0]);
        assert_eq!(found(&rising[..7]), [""; 0]);
    }

    /// Samples of one mode in random order, with relative standard deviations of some 5 to 50 %.
    #[test]
    fn chance_makes_neither() {
        let mut draws = ChaCha8Rng::seed_from_u64(5);
        let normal =
            |draws: &mut ChaCha8Rng| (0..12).map(|_| draws.random::<f64>()).sum::<f64>() - 6.0;
        let mut said = 0;
        for sample in 0..2000 {
            let trials = 8 + sample % 33;
            let one = |draws: &mut ChaCha8Rng| match sample % 3 {
                0 => 1e7 * (1.0 + 0.05 * normal(draws)),
                1 => 1e7 * (0.3 * normal(draws)).exp(),
                _ => 1e7 * (1.0 - 0.5 * draws.random::<f64>().max(1e-9).ln()),
            };
            let values: Vec<f64> = (0..trials).map(|_| one(&mut draws)).collect();
            said += found(&values).len();
        }
        assert!(said <= 40, "{said} of 2000");
    }
}
