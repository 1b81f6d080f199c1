//! What a comparison holds: one item for each number that is compared.

use crate::format::{self, Parts, Terms, parts, rough};
use crate::words::{self, LABEL_CHARACTERS_MAX, short};
use model::{
    ComparedExperiment, ComparedQuantity, ComparedRow, Comparison, Estimate, SessionEffect,
    Treatment, Unit,
};
use std::collections::{BTreeMap, BTreeSet};

/// What the numbers of findings stand under.
pub(super) const FINDINGS: &str = "Findings";

/// The most characters shown of a finding's sentence.
const SENTENCE_CHARACTERS_MAX: usize = 300;

/// One side against the base.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub(super) effect: &'a SessionEffect,
    pub(super) size: Size<'a>,
    /// Whether the side is larger than the base.
    pub(super) larger: bool,
}

/// The terms in which one side is compared with the base.
#[derive(Clone, Copy, Debug)]
pub(super) enum Size<'a> {
    /// A multiple of it.
    Ratio(&'a Estimate),
    /// The side less the base, in the number's own terms: an exponent has no multiple.
    Difference(&'a Estimate),
    /// None: the base is 0.
    Unformed,
}

impl<'a> Found<'a> {
    /// Returns what one side (its place among the others) is against the base; `None` where nothing
    /// could be compared.
    fn of(
        values: &[Option<Estimate>],
        effects: &'a [Option<SessionEffect>],
        other: usize,
    ) -> Option<Self> {
        let effect = effects.get(other)?.as_ref()?;
        let size = match (&effect.ratio, &effect.difference) {
            (Some(ratio), _) => Size::Ratio(ratio),
            (None, Some(difference)) => Size::Difference(difference),
            (None, None) if effect.differs || effect.p_value.is_some() => Size::Unformed,
            (None, None) => return None,
        };
        let point = |side: usize| values.get(side).copied().flatten().map(|v| v.point);
        let larger = match size {
            Size::Ratio(ratio) => ratio.point > 1.0,
            Size::Difference(difference) => difference.point > 0.0,
            Size::Unformed => point(other + 1) > point(0),
        };
        Some(Found { effect, size, larger })
    }

    /// Returns the mark of a difference.
    pub(super) fn direction(&self) -> &'static str {
        if self.larger { "▲" } else { "▼" }
    }

    /// Returns how far the side surely lies from the base, as the logarithm of a ratio: the end of its
    /// interval that is nearer to 1. Least where the interval holds 1 and where there is no ratio, but
    /// not 0, since the verdict comes from elsewhere.
    pub(super) fn sure(&self) -> f64 {
        match self.size {
            Size::Ratio(ratio) if ratio.low > 1.0 => ratio.low.ln(),
            Size::Ratio(ratio) if ratio.high < 1.0 && ratio.high > 0.0 => -ratio.high.ln(),
            _ => f64::MIN_POSITIVE,
        }
    }

    /// Returns what one side is against the base, ready to be read: "1.31×", "+0.12", "+2.1 points".
    pub(super) fn parts(&self, terms: Terms<'_>) -> Parts {
        match self.size {
            Size::Ratio(ratio) => parts(ratio, Terms::Times),
            Size::Difference(difference) => {
                let Parts { point, interval } = parts(difference, terms);
                let sign = if difference.point > 0.0 { "+" } else { "" };
                Parts { point: in_points(&format!("{sign}{point}")), interval }
            }
            // 0 on both sides in all trials: no noise, and no ratio either.
            Size::Unformed if self.effect.p_value == Some(1.0) && self.effect.floor.is_none() => {
                Parts { point: "equal".into(), interval: String::new() }
            }
            Size::Unformed => Parts { point: "A is 0".into(), interval: String::new() },
        }
    }

    /// Returns a floor in the terms of what differs: relative for a ratio.
    pub(super) fn floor(&self, floor: f64, terms: Terms<'_>) -> String {
        match self.size {
            Size::Difference(_) => in_points(&rough(floor, terms)),
            Size::Ratio(_) | Size::Unformed => rough(floor, Terms::Share),
        }
    }
}

/// Returns the difference of two percentages, which is no percentage.
fn in_points(text: &str) -> String {
    match text.strip_suffix(" %") {
        Some(number) => format!("{number} points"),
        None => text.into(),
    }
}

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
    /// Returns the terms in which its values are read.
    pub(super) fn terms(&self) -> Terms<'a> {
        let plain = self.unit.map_or(Terms::Plain, Terms::In);
        self.finding.map_or(plain, |f| format::terms_of(&f.quantity, f.unit.as_ref()))
    }

    /// Reports whether it is the number of a finding.
    pub(super) fn is_finding(&self) -> bool {
        self.finding.is_some()
    }

    /// Returns the ratio of one side to the base, where there is one.
    pub(super) fn ratio(&self, other: usize) -> Option<(&'a Estimate, &'a SessionEffect)> {
        let effect = self.effects.get(other)?.as_ref()?;
        Some((effect.ratio.as_ref()?, effect))
    }

    /// Returns what one side is against the base, whether or not that is a ratio; `None` where nothing
    /// could be compared.
    pub(super) fn found(&self, other: usize) -> Option<Found<'a>> {
        Found::of(self.values, self.effects, other)
    }

    /// Returns all sides that could be compared, by their place among the others.
    pub(super) fn all_found(&self) -> impl Iterator<Item = (usize, Found<'a>)> + '_ {
        (0..self.effects.len()).filter_map(|other| Some((other, self.found(other)?)))
    }

    /// Returns all sides that have a ratio, by their place among the others.
    pub(super) fn ratios(
        &self,
    ) -> impl Iterator<Item = (usize, &'a Estimate, &'a SessionEffect)> + '_ {
        (0..self.effects.len())
            .filter_map(|other| self.ratio(other).map(|(ratio, effect)| (other, ratio, effect)))
    }

    /// Reports whether any side differs.
    pub(super) fn differs(&self) -> bool {
        self.all_found().any(|(_, found)| found.effect.differs)
    }

    /// Returns how far any side that differs surely lies from the base: [`Found::sure`] of the farthest;
    /// 0 where none differs.
    pub(super) fn surest(&self) -> f64 {
        let differing = self.all_found().filter(|(_, found)| found.effect.differs);
        differing.map(|(_, found)| found.sure()).fold(0.0, f64::max)
    }

    /// Returns a side's own number, without its interval.
    pub(super) fn value(&self, side: usize) -> String {
        let value = self.values.get(side).copied().flatten();
        value.map_or_else(|| "–".into(), |estimate| parts(&estimate, self.terms()).point)
    }

    /// Returns response and treatment in one phrase.
    pub(super) fn full_name(&self) -> String {
        match self.is_finding() {
            true => self.name.clone(),
            false => format!("{}, {}", self.group, self.name),
        }
    }

    /// Returns what follows "1.31 times": "as long" for times, and so on.
    pub(super) fn as_much(&self) -> &'static str {
        match self.unit {
            Some(Unit::Ns) => "as long",
            Some(Unit::Count) => "as many",
            Some(Unit::PerSecond) => "as fast",
            _ => "as large",
        }
    }
}

/// An experiment with its items.
pub(super) struct Chapter<'a> {
    pub(super) experiment: &'a ComparedExperiment,
    /// Its place on the page; no two are the same.
    pub(super) anchor: String,
    /// Findings first, then rows by response, each in the order of the comparison.
    pub(super) items: Vec<Item<'a>>,
}

impl Chapter<'_> {
    /// Reports whether there is nothing to show except why it was refused.
    pub(super) fn is_bare(&self) -> bool {
        self.items.is_empty() && self.experiment.verdicts.is_empty()
    }
}

/// What some numbers say of one side against the base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Numbers that could be compared.
    pub(super) compared: usize,
    /// Of these, those that differ and are larger than the base.
    pub(super) larger: usize,
    /// Of these, those that differ and are smaller.
    pub(super) smaller: usize,
    /// Numbers that could not.
    pub(super) without: usize,
}

impl Tally {
    /// Counts what numbers say of one side.
    pub(super) fn of<'a>(items: impl Iterator<Item = &'a Item<'a>>, other: usize) -> Tally {
        let mut tally = Tally::default();
        for item in items {
            match item.found(other) {
                None => tally.without += 1,
                Some(found) => {
                    tally.compared += 1;
                    tally.larger += usize::from(found.effect.differs && found.larger);
                    tally.smaller += usize::from(found.effect.differs && !found.larger);
                }
            }
        }
        tally
    }

    /// Returns how many differ.
    pub(super) fn differ(self) -> usize {
        self.larger + self.smaller
    }
}

/// Returns all experiments, refused ones included.
pub(super) fn chapters(comparison: &Comparison) -> Vec<Chapter<'_>> {
    let mut taken = BTreeSet::new();
    let mut chapters = Vec::new();
    for (index, experiment) in comparison.experiments.iter().enumerate() {
        let mut anchor = words::anchor(&experiment.id);
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

/// Returns the factors that have more than one level among the rows. A comparison holds no design, so
/// that their order is that of their names.
fn varying(rows: &[ComparedRow]) -> Vec<&str> {
    let factors: BTreeSet<&str> =
        rows.iter().flat_map(|row| row.treatment.0.keys().map(String::as_str)).collect();
    let varies = |factor: &&str| {
        let levels: BTreeSet<Option<&str>> =
            rows.iter().map(|row| row.treatment.level(factor)).collect();
        levels.len() > 1
    };
    factors.into_iter().filter(varies).collect()
}

/// Returns a treatment in the words of the factors that vary.
pub(super) fn treatment(treatment: &Treatment, varying: &[&str]) -> String {
    let words: Vec<String> = varying
        .iter()
        .filter_map(|factor| Some(words::level(factor, treatment.level(factor)?)))
        .collect();
    let text = if words.is_empty() { "all trials".into() } else { words.join(" · ") };
    short(&text, LABEL_CHARACTERS_MAX)
}

/// Returns the colour and mark of a side that is compared with the base.
pub(super) fn style(side: usize) -> usize {
    // The seventh is the palette's grey.
    side.saturating_sub(1) % 6
}
