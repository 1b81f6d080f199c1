//! What a comparison holds, as the page shows it: one item per number that is compared.

use super::found::Found;
use crate::format::{self, Terms};
use crate::page;
use crate::words::{self, LABEL_CHARACTERS_MAX, short};
use model::{
    ComparedExperiment, ComparedQuantity, ComparedRow, Comparison, Estimate, SessionEffect,
    Treatment, Unit,
};
use std::collections::{BTreeMap, BTreeSet};

/// What the numbers of findings stand under.
pub(super) const FINDINGS: &str = "Findings";

/// The most characters shown of a finding's sentence.
const SENTENCE_CHARACTERS_MAX: usize = 120;

/// A number that is compared: a finding's, or one response at one treatment.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    /// What it belongs to: its response in words, or [`FINDINGS`].
    pub(super) group: String,
    /// What it is within its group: the treatment, or the finding.
    pub(super) name: String,
    /// Its response.
    pub(super) response: &'a str,
    pub(super) values: &'a [Option<Estimate>],
    pub(super) effects: &'a [Option<SessionEffect>],
    unit: Option<&'a Unit>,
    finding: Option<&'a ComparedQuantity>,
}

impl<'a> Item<'a> {
    /// In what its values are read.
    pub(super) fn terms(&self) -> Terms<'a> {
        let plain = self.unit.map_or(Terms::Plain, Terms::In);
        self.finding.map_or(plain, |f| format::terms_of(&f.quantity, f.unit.as_ref()))
    }

    /// Whether it is the number of a finding.
    pub(super) fn is_finding(&self) -> bool {
        self.finding.is_some()
    }

    /// One side against the base, where that is a number.
    pub(super) fn ratio(&self, other: usize) -> Option<(&'a Estimate, &'a SessionEffect)> {
        let effect = self.effects.get(other)?.as_ref()?;
        Some((effect.ratio.as_ref()?, effect))
    }

    /// What one side is against the base, whether or not that is a ratio; `None` where nothing
    /// could be compared.
    pub(super) fn found(&self, other: usize) -> Option<Found<'a>> {
        Found::of(self.values, self.effects, other)
    }

    /// All sides that could be compared, by their place among the others.
    pub(super) fn all_found(&self) -> impl Iterator<Item = (usize, Found<'a>)> + '_ {
        (0..self.effects.len()).filter_map(|other| Some((other, self.found(other)?)))
    }

    /// All sides that have a ratio, by their place among the others.
    pub(super) fn ratios(
        &self,
    ) -> impl Iterator<Item = (usize, &'a Estimate, &'a SessionEffect)> + '_ {
        (0..self.effects.len())
            .filter_map(|other| self.ratio(other).map(|(ratio, effect)| (other, ratio, effect)))
    }

    /// Whether any side differs.
    pub(super) fn differs(&self) -> bool {
        self.all_found().any(|(_, found)| found.effect.differs)
    }

    /// How far any side that differs surely lies from the base: [`Found::sure`] of the farthest;
    /// 0 where none differs.
    pub(super) fn surest(&self) -> f64 {
        let differing = self.all_found().filter(|(_, found)| found.effect.differs);
        differing.map(|(_, found)| found.sure()).fold(0.0, f64::max)
    }

    /// Whether its numbers are not all one and the same.
    pub(super) fn moves(&self) -> bool {
        let mut points = self.values.iter().flatten().map(|value| value.point);
        let first = points.next();
        points.any(|point| Some(point) != first)
    }

    /// Response and treatment in one phrase.
    pub(super) fn full_name(&self) -> String {
        match self.is_finding() {
            true => self.name.clone(),
            false => format!("{}, {}", self.group, self.name),
        }
    }

    /// What follows "1.31 times": "as long" for times, and so on.
    pub(super) fn as_much(&self) -> &'static str {
        match self.unit {
            Some(Unit::Ns) => "as long",
            Some(Unit::Count) => "as many",
            Some(Unit::PerSecond) => "as fast",
            _ => "as large",
        }
    }
}

/// An experiment as the page shows it.
pub(super) struct Chapter<'a> {
    pub(super) experiment: &'a ComparedExperiment,
    /// Its place on the page; no two are the same.
    pub(super) anchor: String,
    /// Findings first, then rows by response, each in the order of the comparison.
    pub(super) items: Vec<Item<'a>>,
}

impl Chapter<'_> {
    /// Whether there is nothing to show of it but why it was refused.
    pub(super) fn is_bare(&self) -> bool {
        self.items.is_empty() && self.experiment.verdicts.is_empty()
    }

    /// What its numbers say of one side against the base.
    pub(super) fn tally(&self, other: usize) -> Tally {
        self.items.iter().map(|item| Tally::of(item.found(other))).sum()
    }

    /// What its findings alone say.
    pub(super) fn tally_of_findings(&self, other: usize) -> Tally {
        let findings = self.items.iter().filter(|item| item.is_finding());
        findings.map(|item| Tally::of(item.found(other))).sum()
    }
}

/// What some numbers say of one side against the base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Numbers that could be compared.
    pub(super) compared: usize,
    /// Of these: those that differ and are larger than the base.
    pub(super) larger: usize,
    /// Of these: those that differ and are smaller.
    pub(super) smaller: usize,
    /// Numbers that could not.
    pub(super) without: usize,
}

impl Tally {
    /// What one number says.
    fn of(found: Option<Found<'_>>) -> Self {
        match found {
            None => Tally { without: 1, ..Tally::default() },
            Some(Found { effect, larger, .. }) => Tally {
                compared: 1,
                larger: usize::from(effect.differs && larger),
                smaller: usize::from(effect.differs && !larger),
                without: 0,
            },
        }
    }

    pub(super) fn differ(self) -> usize {
        self.larger + self.smaller
    }
}

impl std::iter::Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(all: I) -> Tally {
        all.fold(Tally::default(), |a, b| Tally {
            compared: a.compared + b.compared,
            larger: a.larger + b.larger,
            smaller: a.smaller + b.smaller,
            without: a.without + b.without,
        })
    }
}

/// All experiments, refused ones included.
pub(super) fn chapters(comparison: &Comparison) -> Vec<Chapter<'_>> {
    let mut taken = BTreeSet::new();
    let mut chapters = Vec::new();
    for (index, experiment) in comparison.experiments.iter().enumerate() {
        let mut anchor = page::anchor(&experiment.id);
        while !taken.insert(anchor.clone()) {
            anchor = format!("{anchor}-{}", index + 1);
        }
        chapters.push(Chapter { experiment, anchor, items: items(experiment) });
    }
    chapters
}

fn items(experiment: &ComparedExperiment) -> Vec<Item<'_>> {
    let varying = varying(&experiment.rows);
    let mut items: Vec<Item<'_>> = experiment.findings.iter().map(answer).collect();
    let mut order: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &experiment.rows {
        let next = order.len();
        order.entry(&row.response).or_insert(next);
    }
    let mut rows: Vec<&ComparedRow> = experiment.rows.iter().collect();
    rows.sort_by_key(|row| order.get(row.response.as_str()));
    items.extend(rows.into_iter().map(|row| Item {
        group: short(&row.label, LABEL_CHARACTERS_MAX),
        name: treatment(&row.treatment, &varying),
        response: &row.response,
        values: &row.values,
        effects: &row.effects,
        unit: Some(&row.unit),
        finding: None,
    }));
    items
}

fn answer(finding: &ComparedQuantity) -> Item<'_> {
    let said = words::without_number(&finding.sentence);
    Item {
        group: FINDINGS.into(),
        name: words::capital(&short(&said, SENTENCE_CHARACTERS_MAX)),
        response: finding.quantity.response(),
        values: &finding.values,
        effects: &finding.effects,
        unit: finding.unit.as_ref(),
        finding: Some(finding),
    }
}

/// The factors that have more than one level among the rows: what tells treatments apart. A
/// comparison holds no design, so that their order is that of their names.
fn varying(rows: &[ComparedRow]) -> Vec<&str> {
    let mut levels: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
    let factors: BTreeSet<&str> =
        rows.iter().flat_map(|row| row.treatment.0.keys().map(String::as_str)).collect();
    for factor in factors {
        let seen = rows.iter().map(|row| row.treatment.level(factor)).collect();
        levels.insert(factor, seen);
    }
    levels.into_iter().filter(|(_, seen)| seen.len() > 1).map(|(factor, _)| factor).collect()
}

/// A treatment in the words of the factors that vary.
pub(super) fn treatment(treatment: &Treatment, varying: &[&str]) -> String {
    let words: Vec<String> = varying
        .iter()
        .filter_map(|factor| Some(words::level(factor, treatment.level(factor)?)))
        .collect();
    let text = if words.is_empty() { "all trials".into() } else { words.join(" · ") };
    short(&text, LABEL_CHARACTERS_MAX)
}

/// The colour and mark of a side; the base has none of the others'.
pub(super) fn style(side: usize) -> usize {
    // The seventh is the palette's grey.
    const BASE: usize = 6;
    match side {
        0 => BASE,
        _ => (side - 1) % BASE,
    }
}
