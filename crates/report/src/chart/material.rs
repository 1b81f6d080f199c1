//! An experiment's data in the form that charts need.

use super::cell::Cell;
use crate::say::missing::Measured;
use crate::words;
use model::{Design, Environment, Estimate, ExperimentSummary, Factor, Level, Response, Treatment};
use std::collections::{BTreeMap, BTreeSet};
use wording::counted;

/// What stands behind the name of a treatment that is subtracted from the others.
const CONTROL: &str = " (subtracted)";

/// What was measured, by response and treatment.
pub(super) type Estimates<'a> = BTreeMap<(&'a str, &'a Treatment), Estimate>;

/// Block and value of each trial, by treatment.
type Samples = BTreeMap<Treatment, Vec<(u32, f64)>>;

/// The responses and treatments whose elapsed times are corrected, with the name of the corrected numbers.
type Carried<'a> = BTreeMap<(&'a str, &'a Treatment), &'a str>;

/// An experiment's estimates and trials.
pub(super) struct Material<'a, 'm> {
    pub(super) design: &'a Design,
    pub(super) measured: Measured<'m>,
    pub(super) environment: &'m Environment,
    pub(super) estimates: Estimates<'a>,
    samples: BTreeMap<&'a str, Samples>,
    carried: Carried<'a>,
}

impl<'a, 'm> Material<'a, 'm> {
    /// Returns the estimates of an experiment, without the trials of any response.
    pub(super) fn new(
        design: &'a Design,
        summary: &'a ExperimentSummary,
        measured: Measured<'m>,
        environment: &'m Environment,
    ) -> Self {
        let known = summary
            .estimates
            .iter()
            .filter_map(|row| Some(((row.response.as_str(), &row.treatment), row.estimate?)));
        let estimates: Estimates<'a> = known.collect();
        let carried = summary.estimates.iter().filter_map(|row| {
            Some(((row.response.as_str(), &row.treatment), row.carried_by.as_deref()?))
        });
        let carried = carried.collect();
        Material { design, measured, environment, estimates, samples: BTreeMap::new(), carried }
    }

    /// Gathers the trials of some responses.
    pub(super) fn gather(&mut self, responses: BTreeSet<&'a str>) {
        let records = self.measured.records;
        let of = |name: &str| analysis::samples(self.design, records.iter().copied(), name);
        let gathered = responses.into_iter().map(|name| {
            let mut samples: Samples = of(name);
            for ((_, treatment), corrected) in self.carried.iter().filter(|(at, _)| at.0 == name) {
                if let Some(corrected) = of(corrected).remove(*treatment) {
                    samples.insert((*treatment).clone(), corrected);
                }
            }
            (name, samples)
        });
        self.samples = gathered.collect();
    }

    /// Says of a response which of its numbers are corrected; `None` if none is.
    pub(super) fn clock_of(&self, response: &str) -> Option<String> {
        let carried = self.carried.keys().filter(|(name, _)| *name == response).count();
        (carried > 0).then(|| {
            let treatments = counted(carried as u64, "treatment");
            format!("The times of {treatments} are without what other programs took.")
        })
    }

    /// Reports whether a response has an estimate at all.
    pub(super) fn is_measured(&self, response: &Response) -> bool {
        self.estimates.keys().any(|(name, _)| *name == response.name)
    }

    /// Reports whether a treatment has a number of a response.
    pub(super) fn has(&self, response: &Response, treatment: &Treatment) -> bool {
        let name = response.name.as_str();
        self.estimates.contains_key(&(name, treatment))
            || self.samples.get(name).is_some_and(|samples| samples.contains_key(treatment))
    }

    /// Returns the trials of a response at a treatment.
    pub(super) fn trials(&self, response: &Response, treatment: &Treatment) -> &[(u32, f64)] {
        let samples = self.samples.get(response.name.as_str());
        samples.and_then(|samples| samples.get(treatment)).map_or(&[], Vec::as_slice)
    }

    /// Returns the factors that stand still in a figure but have other levels elsewhere.
    pub(super) fn held(&self, measured: &[&Treatment], varying: &[&Factor]) -> String {
        let repetition = self.design.repetition().map(|factor| factor.name.as_str());
        let still = self.design.factors.iter().filter(|factor| {
            repetition != Some(&factor.name)
                && factor.levels.len() > 1
                && !varying.iter().any(|other| other.name == factor.name)
        });
        let still: Vec<&Factor> = still.collect();
        measured.first().map_or(String::new(), |treatment| setting(&still, treatment))
    }

    /// Returns a treatment with its numbers of a response.
    pub(super) fn cell(
        &self,
        response: &Response,
        treatment: &Treatment,
        names: &[String],
    ) -> Cell {
        let name = response.name.as_str();
        let dots = self.trials(response, treatment).to_vec();
        let control = control_mark(response, treatment);
        Cell {
            label: format!("{}{control}", words::treatment(self.design, treatment, names)),
            treatment: Some(treatment.clone()),
            estimate: self.estimates.get(&(name, treatment)).copied(),
            trials: dots.len(),
            dots,
        }
    }
}

/// Returns what tells that a treatment is the control of a response: it is shown whole among numbers from
/// which it was subtracted.
pub(super) fn control_mark(response: &Response, treatment: &Treatment) -> &'static str {
    let control = response.subtract.as_ref();
    if control.is_some_and(|control| treatment.matches(control)) { CONTROL } else { "" }
}

/// Returns the levels of some factors in words: "worker cpu, files own".
pub(super) fn setting(factors: &[&Factor], treatment: &Treatment) -> String {
    let words = factors.iter().filter_map(|factor| {
        let name = treatment.level(&factor.name)?;
        let labelled = factor.level(name).is_some_and(|level| !level.label.is_empty());
        let level = if labelled { words::level_of(factor, name) } else { words::plain(name) };
        Some(if labelled { level } else { format!("{} {level}", words::factor(factor)) })
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Returns the levels of a factor that some treatments have.
pub(super) fn levels_of<'f>(factor: &'f Factor, measured: &[&Treatment]) -> Vec<&'f Level> {
    let is_there = |level: &&Level| {
        measured.iter().any(|treatment| treatment.level(&factor.name) == Some(&level.name))
    };
    factor.levels.iter().filter(is_there).collect()
}
