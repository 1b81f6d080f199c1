//! Sessions compared with each other: what makes it doubtful, what differs, the facts, each experiment.

mod around;
mod chapter;
mod item;
mod opening;
mod strips;

use crate::doc::{Block, Doc};
use crate::paint::{self, Folds};
use crate::text::bounded;
use crate::words::letter;
use item::{Chapter, Item};
use model::Comparison;
use std::ops::Range;
pub(crate) use wording::listed;
use wording::{capital, counted, sentence, short};

pub(crate) use around::probability;
pub(crate) use item::value_cell;

/// What the pages of comparisons look like beyond the report.
pub(crate) const STYLE: &str = include_str!("compare.css");

/// Where lines are few, the fewest differences that are listed, and the most warnings and facts.
const DIFFERENCES_MIN: usize = 6;
const BRIEF_MAX: usize = 8;

/// The most characters of a sentence from outside.
const SENTENCE_CHARACTERS_MAX: usize = 600;

/// A comparison with its items.
pub(crate) struct Compared<'a> {
    comparison: &'a Comparison,
    chapters: Vec<Chapter<'a>>,
}

/// Returns sessions compared with each other as one self-contained page in the look of the report: what
/// makes the comparison doubtful, what differs, the facts, and each experiment with a chart of ratios.
/// What others wrote is escaped, as in the report.
pub fn page(comparison: &Comparison) -> String {
    let compared = Compared::new(comparison);
    let names = comparison.sides.iter().map(|side| short(&side.name, 60)).rev();
    let title = names.collect::<Vec<_>>().join(" against ");
    let mut doc = Doc::new(&comparison.scruple, "a comparison of sessions", title);
    doc.push(Block::heading(1, compared.heading()));
    doc.blocks.extend(compared.blocks());
    paint::page(&doc, STYLE)
}

/// Returns sessions compared with each other, for a terminal of `width` columns, with ANSI colours: with
/// a `height` the conditions, what makes the comparison doubtful, the answer and the largest differences
/// that fit; without one every number.
pub fn terminal(comparison: &Comparison, width: usize, height: Option<usize>) -> String {
    let compared = Compared::new(comparison);
    let mut doc = Doc::new(&comparison.scruple, "a comparison of sessions", "");
    doc.blocks = match height {
        None => compared.blocks(),
        Some(height) => compared.brief(bounded(width), height, "`scruple compare --all` shows"),
    };
    paint::text(&doc, width, Folds::Closed)
}

impl<'a> Compared<'a> {
    /// Returns a comparison with its items.
    pub(crate) fn new(comparison: &'a Comparison) -> Compared<'a> {
        Compared { comparison, chapters: item::chapters(comparison) }
    }

    /// Returns the places of the sides that are compared with the base.
    fn others(&self) -> Range<usize> {
        1..self.comparison.sides.len()
    }

    /// Returns all numbers that are compared.
    fn items(&self) -> impl Iterator<Item = &Item<'a>> {
        self.chapters.iter().flat_map(|chapter| &chapter.items)
    }

    /// Returns "B compared with A".
    pub(crate) fn heading(&self) -> String {
        let letters: Vec<String> = self.others().map(letter).collect();
        format!("{} compared with A", listed(&letters))
    }

    /// Returns everything.
    pub(crate) fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = vec![self.sides()];
        blocks.extend(self.doubts(opening::WARNINGS_MAX));
        blocks.extend(self.answers());
        blocks.extend(self.largest(opening::LARGEST_MAX));
        blocks.extend(self.meaning());
        if !self.comparison.gates.is_empty() {
            blocks.push(Block::heading(2, "The conditions"));
        }
        blocks.extend(self.gates());
        blocks.extend(self.facts(around::FACTS_MAX));
        blocks.extend(self.controls());
        blocks.extend(self.contents());
        for chapter in &self.chapters {
            blocks.push(Block::Section(chapter.anchor.clone(), self.chapter(chapter)));
        }
        blocks
    }

    /// Returns the answer, the caveats, and the largest differences that fit into `height` lines of
    /// `width` columns. `how` begins the sentence that says where the others are.
    pub(crate) fn brief(&self, width: usize, height: usize, how: &str) -> Vec<Block<'_>> {
        let mut blocks = vec![self.sides()];
        blocks.extend(self.gates());
        blocks.extend(self.doubts(BRIEF_MAX));
        blocks.extend(self.brief_controls());
        blocks.extend(self.answers());
        blocks.push(Block::small(opening::replication(self.items())));
        blocks.extend(self.facts(BRIEF_MAX));
        blocks.extend(around::verdicts(2, self.comparison.experiments.iter()));
        let all = self.differing().count();
        let used = paint::lines(&blocks, width, Folds::Closed).len() + 2;
        let room = height.saturating_sub(used);
        let mut shown = all.min(room.max(DIFFERENCES_MIN));
        let mut largest = self.largest(shown);
        while shown > DIFFERENCES_MIN && paint::lines(&largest, width, Folds::Closed).len() > room {
            shown -= 1;
            largest = self.largest(shown);
        }
        blocks.extend(largest);
        let more = match all - shown {
            0 => capital(&format!("{how} every number.")),
            more => format!("{} differ: {how} every number.", counted(more as u64, "more number")),
        };
        blocks.push(Block::small(more));
        blocks
    }
}

/// Returns a sentence from outside.
fn said(text: &str) -> String {
    sentence(text, SENTENCE_CHARACTERS_MAX)
}
