//! A claim's number in the claim's own words.

use super::{claimed, region};
use crate::doc::Text;
use model::{Claim, Design, Estimate, Quantity, QuantityResult, Reading, Region, Unit};
use wording::number::{self, CORRECTED, Parts, Terms};
use wording::short;

/// The most characters of a claim's words on either side of its number.
const WORDS_MAX: usize = 300;

/// How the number of a claim, and the ends of its region, are read.
pub(crate) struct Shown<'a> {
    design: &'a Design,
    before: String,
    after: String,
    reading: Reading,
    terms: Terms<'a>,
    has_words: bool,
}

impl<'a> Shown<'a> {
    /// Returns how the number of the claim of that name is read; of one without words of its own as it is.
    pub(crate) fn of(design: &'a Design, id: &str, terms: Terms<'a>) -> Shown<'a> {
        let claim = design.claims.iter().find(|claim| claim.id == id);
        let words = claim.and_then(Claim::shown);
        let (before, reading, after) = words.unwrap_or(("", Reading::Itself, ""));
        let [before, after] = [before, after].map(short_around);
        Shown { design, before, after, reading, terms, has_words: words.is_some() }
    }

    /// Returns the words around the number with it; `None` where the claim has none, or no number.
    pub(crate) fn sentence(&self, result: &QuantityResult) -> Option<Text> {
        let estimate = result.estimate.as_ref().filter(|_| self.has_words)?;
        let before = Text::from(self.before.clone());
        if let Some(word) = self.whole(&result.quantity, estimate) {
            let blocks = format!("{}, in each of {} blocks", self.after, estimate.samples);
            return Some(before.then(word).then(blocks));
        }
        let number = match self.reading {
            Reading::Itself => number::sentence_parts("{}", result).1?,
            _ => self.parts(estimate, result.carried_by.is_some()),
        };
        let aside = number::aside(result).map(|aside| format!(" ({aside})"));
        // The rate over all trials is another number.
        let is_median = matches!(result.quantity, Quantity::Value { .. })
            && self.design.is_frequency(result.quantity.response());
        let which = if is_median { ", in the median block" } else { "" };
        let after = format!("{}{}{which}", aside.unwrap_or_default(), self.after);
        Some(before.then(Text::number(number)).then(after))
    }

    /// Returns "none" or "all" of what was the same in every block.
    fn whole(&self, quantity: &Quantity, estimate: &Estimate) -> Option<&'static str> {
        let is_rate = matches!(quantity, Quantity::Value { .. }) && self.reading == Reading::Share;
        let is_same = number::is_exact(estimate) && !estimate.is_exact();
        match estimate.point {
            0.0 if is_rate && is_same => Some("none"),
            1.0 if is_rate && is_same => Some("all"),
            _ => None,
        }
    }

    fn parts(&self, estimate: &Estimate, is_corrected: bool) -> Parts {
        let read = estimate.map(|x| self.read(x));
        let (low, high) = (read.low.min(read.high), read.low.max(read.high));
        let mut parts = number::parts(&Estimate { low, high, ..read }, self.read_terms());
        if is_corrected {
            parts.interval = format!("{} {CORRECTED}", parts.interval).trim_start().into();
        }
        parts
    }

    /// Returns where the number must lie if the claim is true.
    pub(crate) fn region(&self, quantity: &Quantity, holds_if: Region) -> String {
        match self.reading {
            Reading::Itself => claimed(quantity, holds_if, self.terms, self.design),
            reading => {
                let [low, high] = [holds_if.low, holds_if.high].map(|end| Some(self.read(end?)));
                let turned = reading == Reading::Rest;
                let (low, high) = if turned { (high, low) } else { (low, high) };
                region(Region { low, high }, self.read_terms())
            }
        }
    }

    /// Returns an end of the region.
    pub(crate) fn end(&self, end: f64) -> String {
        number::limit(self.read(end), self.read_terms())
    }

    fn read(&self, x: f64) -> f64 {
        let is_ppm = self.terms == Terms::In(&Unit::Ppm);
        let whole = if is_ppm { 1e6 } else { 1.0 };
        match self.reading {
            Reading::Itself | Reading::Share => x,
            Reading::Rest => whole - x,
            Reading::Times(times) => times * x / whole,
        }
    }

    fn read_terms(&self) -> Terms<'a> {
        match (self.reading, self.terms) {
            (Reading::Times(_), _) => Terms::Times,
            (Reading::Share, Terms::In(Unit::Count) | Terms::Plain) => Terms::Frequency,
            (Reading::Rest, Terms::In(Unit::Count) | Terms::Plain | Terms::Times) => Terms::Share,
            (_, terms) => terms,
        }
    }
}

/// Returns a claim's words on one side of its number, bounded, with the spaces at their ends.
fn short_around(text: &str) -> String {
    let space = |has: bool| if has { " " } else { "" };
    let (before, after) = (text.starts_with(' '), text.ends_with(' ') && text.len() > 1);
    format!("{}{}{}", space(before), short(text.trim(), WORDS_MAX), space(after))
}
