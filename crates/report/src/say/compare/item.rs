//! What a comparison holds: one item for each number that is compared.

use crate::doc::Text;
use crate::words::{self, LABEL_CHARACTERS_MAX};
use model::{ComparedExperiment, ComparedRow, Comparison, Estimate, SessionEffect, Unit};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use wording::number::{self, Parts, Terms, or_dash, parts, rough};
use wording::short;

/// What the numbers of findings stand under.
const FINDINGS: &str = "Findings";

/// The p-value of a single comparison that is significant: its 95 % interval excludes no difference.
const ALONE: f64 = 0.05;

/// The most characters shown of a finding's sentence.
const SENTENCE_CHARACTERS_MAX: usize = 300;

/// A number that is compared: a finding's, or one response at one treatment.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    /// What it belongs to: its response in words, or [`FINDINGS`].
    pub(super) group: String,
    /// What it is within its group: the treatment, or the finding.
    pub(super) name: String,
    /// Its response.
    pub(super) response: &'a str,
    /// Whether it is the number of a finding.
    pub(super) is_finding: bool,
    /// The terms in which its values are read.
    pub(super) terms: Terms<'a>,
    pub(super) values: &'a [Option<Estimate>],
    effects: &'a [Option<SessionEffect>],
}

impl<'a> Item<'a> {
    /// Returns a side's own number.
    pub(super) fn value(&self, side: usize) -> Option<&'a Estimate> {
        self.values.get(side)?.as_ref()
    }

    /// Returns a side's own number in words, without its interval.
    pub(super) fn point(&self, side: usize) -> String {
        or_dash(self.value(side), |value| parts(value, self.terms).point)
    }

    /// Returns one side against the base; `None` where not both were measured.
    pub(super) fn entry(&self, side: usize) -> Option<Entry<'_>> {
        let effect = self.effects.get(side.checked_sub(1)?)?.as_ref()?;
        Some(Entry { item: self, side, effect })
    }

    /// Returns all sides that were measured as well as the base.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        (1..=self.effects.len()).filter_map(|side| self.entry(side))
    }

    /// Returns how many sides have a ratio to the base.
    pub(super) fn ratios(&self) -> usize {
        self.entries().filter(|entry| entry.ratio().is_some()).count()
    }

    /// Returns how far any side that differs surely lies from the base: [`Entry::sure`] of the farthest;
    /// 0 where none differs.
    pub(super) fn surest(&self) -> f64 {
        self.entries().map(|entry| entry.sure()).fold(0.0, f64::max)
    }

    /// Returns response and treatment in one phrase.
    pub(super) fn full_name(&self) -> String {
        match self.is_finding {
            true => self.name.clone(),
            false => format!("{}, {}", self.group, self.name),
        }
    }

    /// Returns what follows "1.31 times": "as long" for times, and so on.
    pub(super) fn as_much(&self) -> &'static str {
        match self.terms {
            Terms::In(Unit::Ns) => "as long",
            Terms::In(Unit::Count) => "as many",
            Terms::In(Unit::PerSecond) => "as fast",
            _ => "as large",
        }
    }
}

/// One side against the base, in one number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'c> {
    pub(super) item: &'c Item<'c>,
    /// The side's place; that of the base is 0.
    pub(super) side: usize,
    pub(super) effect: &'c SessionEffect,
}

impl<'c> Entry<'c> {
    /// Returns the side as a multiple of the base, where there is one.
    pub(super) fn ratio(&self) -> Option<&'c Estimate> {
        self.effect.ratio.as_ref()
    }

    /// Reports whether anything could be compared.
    pub(super) fn is_compared(&self) -> bool {
        let SessionEffect { ratio, difference, p_value, differs, .. } = self.effect;
        ratio.is_some() || difference.is_some() || p_value.is_some() || *differs
    }

    /// Returns whether the side is significantly larger or smaller than the base.
    pub(super) fn direction(&self) -> Ordering {
        let point = |side| self.item.value(side).map_or(0.0, |value| value.point);
        let by = match (&self.effect.ratio, &self.effect.difference) {
            (Some(ratio), _) => ratio.point - 1.0,
            (None, Some(difference)) => difference.point,
            (None, None) => point(self.side) - point(0),
        };
        match self.effect.differs {
            true if by > 0.0 => Ordering::Greater,
            true => Ordering::Less,
            false => Ordering::Equal,
        }
    }

    /// Returns the mark of a significant difference; empty where there is none.
    pub(super) fn mark(&self) -> &'static str {
        match self.direction() {
            Ordering::Greater => "▲",
            Ordering::Less => "▼",
            Ordering::Equal => "",
        }
    }

    /// Returns how far the side surely lies from the base, as the logarithm of a ratio: the end of its
    /// interval that is nearer to 1. It is 0 where the side does not differ; else least where the interval
    /// holds 1 and where there is no ratio, since the verdict comes from elsewhere.
    pub(super) fn sure(&self) -> f64 {
        match self.ratio() {
            _ if !self.effect.differs => 0.0,
            Some(ratio) if ratio.low > 1.0 => ratio.low.ln(),
            Some(ratio) if ratio.high < 1.0 && ratio.high > 0.0 => -ratio.high.ln(),
            _ => f64::MIN_POSITIVE,
        }
    }

    /// Returns what the side is against the base, ready to be read: "1.31×", "+0.12", "+2.1 points".
    pub(super) fn parts(&self) -> Parts {
        let alone = |point: &str| Parts { point: point.into(), interval: String::new() };
        match (&self.effect.ratio, &self.effect.difference) {
            (Some(ratio), _) => parts(ratio, Terms::Times),
            (None, Some(difference)) => {
                let Parts { point, interval } = parts(difference, self.item.terms);
                let sign = if difference.point > 0.0 { "+" } else { "" };
                Parts { point: in_points(format!("{sign}{point}")), interval }
            }
            _ if !self.is_compared() => alone("no ratio"),
            // 0 on both sides in all trials: no noise, and no ratio either.
            _ if self.effect.p_value == Some(1.0) && self.effect.floor.is_none() => alone("equal"),
            _ => alone("A is 0"),
        }
    }

    /// Returns why there is no verdict although the interval decides alone.
    pub(super) fn open(&self) -> Option<String> {
        open(self.effect)
    }

    /// Returns a floor in the terms of what differs: relative for a ratio.
    pub(super) fn floor(&self, floor: f64) -> String {
        match (&self.effect.ratio, &self.effect.difference) {
            (None, Some(_)) => in_points(rough(floor, self.item.terms)),
            _ => rough(floor, Terms::Share),
        }
    }

    /// Returns "▲ 1.31× [1.25, 1.36]"; a difference has its direction, anything else none. A difference that
    /// is no ratio is sorted with what is no number: it is in other terms.
    pub(super) fn cell(&self) -> Text {
        let Parts { point, interval } = self.parts();
        let point = match self.mark() {
            "" => point.into(),
            mark => Text::strong(format!("{mark} {point}")),
        };
        let interval = match self.open() {
            Some(why) => format!("{interval} {why}"),
            None => interval,
        };
        with_interval(point, &interval).sorted(self.ratio().map_or(f64::NAN, |ratio| ratio.point))
    }
}

/// Returns why an effect whose interval decides alone has no verdict; `None` where it has one, and where the
/// interval decides nothing.
pub(super) fn open(effect: &SessionEffect) -> Option<String> {
    let is_open = !effect.differs && effect.p_value.is_some_and(|p| p <= ALONE);
    is_open.then(|| match effect.trials_needed {
        Some(needed) => format!("(undecided: a verdict takes {needed} trials per side)"),
        None => "(significant alone, not among all that is compared)".into(),
    })
}

/// Returns a point with its interval behind it.
fn with_interval(point: Text, interval: &str) -> Text {
    if interval.is_empty() { point } else { point.then(" ").then(Text::quiet(interval)) }
}

/// Returns a number with its interval as a cell of a table.
pub(crate) fn value_cell(value: Option<&Estimate>, terms: Terms<'_>) -> Text {
    let Some(value) = value else { return "–".into() };
    let Parts { point, interval } = parts(value, terms);
    with_interval(point.into(), &interval).sorted(value.point)
}

/// Returns the difference of two percentages, which is no percentage.
fn in_points(text: String) -> String {
    match text.strip_suffix(" %") {
        Some(number) => format!("{number} points"),
        None => text,
    }
}

/// Splits items into the `most` that rank highest and the others, each in the given order.
pub(super) fn foremost<'i, 'a>(
    items: Vec<&'i Item<'a>>,
    most: usize,
    rank: impl Fn(&Item<'a>) -> f64,
) -> (Vec<&'i Item<'a>>, Vec<&'i Item<'a>>) {
    let mut order = items.clone();
    order.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    order.truncate(most);
    items.into_iter().partition(|item| order.iter().any(|one| std::ptr::eq(*one, *item)))
}

/// An experiment with its items.
pub(super) struct Chapter<'a> {
    pub(super) experiment: &'a ComparedExperiment,
    /// Its place on the page; no two are the same.
    pub(super) anchor: String,
    /// Findings first, then rows by response, each in the order of the comparison.
    pub(super) items: Vec<Item<'a>>,
}

/// What some numbers say of one side against the base.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    /// Numbers that could be compared.
    pub(super) compared: usize,
    /// Of these, those that differ and are larger than the base.
    pub(super) larger: usize,
    /// Of these, those that differ and are smaller.
    pub(super) smaller: usize,
    /// Numbers that could not.
    pub(super) without: usize,
    /// Of the compared, those that do not differ although their interval decides alone.
    pub(super) open: usize,
    /// Of the compared, those that have too few trials for a verdict.
    pub(super) short: usize,
    /// The trials per side that verdicts on all of those take; 0 where there are none.
    pub(super) needed: u32,
}

impl Tally {
    /// Counts what numbers say of one side.
    pub(super) fn of<'a>(items: impl Iterator<Item = &'a Item<'a>>, side: usize) -> Tally {
        let all: Vec<&Item<'_>> = items.collect();
        let compared = all.iter().filter_map(|item| item.entry(side)).filter(Entry::is_compared);
        let compared: Vec<Entry<'_>> = compared.collect();
        let needed = compared.iter().filter_map(|entry| entry.effect.trials_needed);
        let found: Vec<Ordering> = compared.iter().map(Entry::direction).collect();
        let of = |direction| found.iter().filter(|one| **one == direction).count();
        let [larger, smaller] = [Ordering::Greater, Ordering::Less].map(of);
        Tally {
            compared: found.len(),
            larger,
            smaller,
            without: all.len() - found.len(),
            open: compared.iter().filter(|entry| entry.open().is_some()).count(),
            short: needed.clone().count(),
            needed: needed.max().unwrap_or_default(),
        }
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
    let findings = experiment.findings.iter().map(|finding| {
        let said = words::without_number(&finding.sentence);
        Item {
            group: FINDINGS.into(),
            name: wording::capital(&short(&said, SENTENCE_CHARACTERS_MAX)),
            response: finding.quantity.response(),
            is_finding: true,
            terms: number::terms_of(&finding.quantity, finding.unit.as_ref()),
            values: &finding.values,
            effects: &finding.effects,
        }
    });
    let mut items: Vec<Item<'_>> = findings.collect();
    let varying = varying(&experiment.rows);
    let mut rows: Vec<&ComparedRow> = experiment.rows.iter().collect();
    rows.sort_by_cached_key(|row| {
        experiment.rows.iter().position(|first| first.response == row.response)
    });
    items.extend(rows.into_iter().map(|row| Item {
        group: short(&row.label, LABEL_CHARACTERS_MAX),
        name: treatment(row, &varying),
        response: &row.response,
        is_finding: false,
        terms: Terms::In(&row.unit),
        values: &row.values,
        effects: &row.effects,
    }));
    items
}

/// Returns the factors that have more than one level among the rows. A comparison holds no design, so
/// that their order is that of their names.
fn varying(rows: &[ComparedRow]) -> Vec<&str> {
    let factors: BTreeSet<&str> =
        rows.iter().flat_map(|row| row.treatment.0.keys().map(String::as_str)).collect();
    let varies = |factor: &&str| {
        let mut levels = rows.iter().map(|row| row.treatment.level(factor));
        let first = levels.next();
        levels.any(|level| Some(level) != first)
    };
    factors.into_iter().filter(varies).collect()
}

/// Returns a row's treatment in the words of the factors that vary.
fn treatment(row: &ComparedRow, varying: &[&str]) -> String {
    let level = |factor: &&str| Some(words::level(factor, row.treatment.level(factor)?));
    let words: Vec<String> = varying.iter().filter_map(level).collect();
    let text = if words.is_empty() { "all trials".into() } else { words.join(" · ") };
    short(&text, LABEL_CHARACTERS_MAX)
}
