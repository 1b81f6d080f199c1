//! One experiment: what differs, in which doubt, its charts, its verdicts, its numbers.

use super::around::{probability, verdicts};
use super::item::{Chapter, Entry, Item, Tally, foremost, value_cell};
use super::opening::{MIXED, answer, replication};
use super::strips::{ratios, values};
use super::{Compared, said};
use crate::doc::{Block, Drawing, Figure, Role, Table, Text, Tone};
use crate::words::letter;
use maud::html;
use std::collections::BTreeSet;
use wording::number::or_dash;
use wording::{counted, short};

/// Rows of a chart that are not folded away: differing ones at most, and all where few differ.
const DIFFERING_MAX: usize = 40;
const SHOWN_MIN: usize = 8;

/// Warnings and differences without a ratio that are listed.
const LISTED_MAX: usize = 20;

/// Marks on the whole page beyond which folded charts are cut, so that it stays light.
const MARKS_ON_PAGE: usize = 1_500;

impl<'a> Chapter<'a> {
    /// Returns its name, which leads to it.
    pub(super) fn link(&self) -> Text {
        Text::link(short(&self.experiment.id, 64), format!("#{}", self.anchor))
    }

    /// Returns all numbers of all sides that were measured on both.
    pub(super) fn entries(&self) -> impl Iterator<Item = (Option<&Chapter<'a>>, Entry<'_>)> {
        self.items.iter().flat_map(Item::entries).map(|entry| (None, entry))
    }

    /// Says which side measured which version.
    fn versions(&self) -> String {
        let versions = self.experiment.versions.iter().enumerate();
        let words = versions.map(|(side, version)| match version {
            Some(version) => format!("{}: version {version}", letter(side)),
            None => format!("{}: not measured", letter(side)),
        });
        format!("{}.", words.collect::<Vec<_>>().join("; "))
    }
}

impl<'a> Compared<'a> {
    /// Returns an experiment.
    pub(super) fn chapter<'c>(&'c self, chapter: &'c Chapter<'a>) -> Vec<Block<'c>> {
        let (experiment, items) = (chapter.experiment, &chapter.items);
        let mut id = short(&experiment.id, 80);
        let versions: BTreeSet<u32> = experiment.versions.iter().copied().flatten().collect();
        if versions.len() == 1 {
            id.extend(versions.iter().map(|version| format!(" · version {version}")));
        }
        let question = Text::from(said(&experiment.question));
        let mut blocks = vec![Block::heading(2, question.then(Text::quiet(format!("  {id}"))))];
        let empty = items.is_empty().then_some("No number was measured on A and another side.");
        if let Some(why) = experiment.refused.as_deref().or(empty) {
            let text = format!("Not compared. {} {}", said(why), chapter.versions());
            blocks.push(Block::said(Tone::Bad, "not compared", vec![text.into()]));
        }
        let warnings = experiment.warnings.iter().take(LISTED_MAX);
        blocks.extend(warnings.map(|text| Block::note(Tone::Care, said(text))));
        let verdicts = verdicts(3, std::iter::once(experiment));
        if items.is_empty() {
            blocks.extend(verdicts);
            return blocks;
        }
        blocks.extend(self.others().map(|side| {
            Block::Paragraph(Role::Answer, answer(Tally::of(items.iter(), side), None, side))
        }));
        // Where it is the same for all, the opening has said it.
        if replication(self.items()) == MIXED {
            blocks.push(Block::small(replication(items.iter())));
        }
        if experiment.treatments_left_out > 0 {
            let left_out = counted(experiment.treatments_left_out, "treatment");
            let text = format!("Left out: {left_out} not measured on A and another side.");
            blocks.push(Block::small(text));
        }
        blocks.extend(self.charts(chapter));
        let unshown = |(_, entry): &(_, Entry<'_>)| entry.effect.differs && entry.ratio().is_none();
        let unshown = self.table(chapter.entries().filter(unshown).take(LISTED_MAX));
        if !unshown.rows.is_empty() {
            let heading = Block::heading(3, "Differences that are no ratios");
            blocks.extend([heading, Block::Table(unshown)]);
        }
        blocks.extend(verdicts);
        let place = format!("{}-values", chapter.anchor);
        blocks.extend(values(items, &self.comparison.sides, place));
        blocks.push(self.numbers(chapter));
        let heading = Block::heading(3, "All numbers");
        let table = Block::Table(self.table(chapter.entries()));
        blocks.push(Block::InTerminal(vec![heading, table]));
        blocks
    }

    /// Returns the most important rows as a chart; on a page the others are folded behind it.
    fn charts<'c>(&'c self, chapter: &'c Chapter<'a>) -> Vec<Block<'c>> {
        let sides = &self.comparison.sides;
        let (shown, mut folded) = split(&chapter.items);
        if shown.is_empty() {
            return Vec::new();
        }
        let side = if sides.len() > 2 { "the other side" } else { "B" };
        let mut caption = vec![Text::on_page(html! {
            "Left of 1: smaller in " (side) "; right of it: larger; equal factors are equally far. Filled: \
             a significant difference; hollow: none was found. Bands about 1: the floor, and lighter the \
             floor after Hommel's correction."
        })];
        let without = chapter.items.len() - shown.len() - folded.len();
        if without > 0 {
            let numbers = counted(without as u64, "number");
            caption.push(format!("{numbers} without a ratio: in the table.").into());
        }
        let title = if sides.len() > 2 { "The other sides" } else { "B" };
        let title = format!("{title} as a multiple of A");
        let chart = ratios(shown, sides, format!("{}-ratios", chapter.anchor));
        let mut blocks = vec![Block::Figure(Figure::new(title, chart, caption))];
        if !folded.is_empty() {
            let differs = folded.iter().any(|item| item.surest() > 0.0);
            let end = if differs { "" } else { ", none of which differs" };
            let label = format!("{}{end}", counted(folded.len() as u64, "more row"));
            let left = folded.len().saturating_sub(self.folded_max());
            folded.truncate(self.folded_max());
            let rest = ratios(folded, sides, format!("{}-more-ratios", chapter.anchor));
            let mut inner = vec![Block::OnPage(rest.svg())];
            if left > 0 {
                let text = format!("{left} more are in the table alone.");
                inner.push(Block::small(text));
            }
            blocks.push(Block::details("behind folded", label, false, inner));
        }
        blocks
    }

    /// Returns how many rows each chapter may fold behind its chart: all, unless the page would be too
    /// heavy.
    fn folded_max(&self) -> usize {
        let marks: usize = self.items().map(Item::ratios).sum();
        let drawn = |chapter: &&Chapter<'_>| chapter.items.iter().any(|item| item.ratios() > 0);
        let charts = self.chapters.iter().filter(drawn).count() * self.others().len();
        if marks <= MARKS_ON_PAGE { usize::MAX } else { (MARKS_ON_PAGE / charts.max(1)).max(1) }
    }

    /// Returns all numbers of an experiment, for those who do not see the charts or want to sort.
    fn numbers(&self, chapter: &Chapter<'_>) -> Block<'static> {
        let sides = 0..self.comparison.sides.len();
        let mut heads = vec!["number".to_string()];
        heads.extend(sides.clone().map(|side| format!("#{}", letter(side))));
        for side in self.others() {
            heads.push(format!("#{} against A", letter(side)));
            let of_side = if sides.len() > 2 { letter(side) + " " } else { String::new() };
            heads
                .extend(["floor", "floor, corrected", "p"].map(|head| format!("#{of_side}{head}")));
        }
        heads.push("remark".into());
        let mut table = Table::of(&heads).kind("wide compared", "all numbers that are compared");
        for item in &chapter.items {
            let mut cells = vec![item.full_name().into()];
            cells.extend(sides.clone().map(|side| value_cell(item.value(side), item.terms)));
            cells.extend(self.others().flat_map(|side| against(item, side)));
            cells.push(self.remarks(item).into());
            table.row(cells);
        }
        let about = "p is two-sided and before Hommel's correction; ▲ and ▼ are after it. The floor is \
                     the smallest difference that is found in four of five cases, alone and after the \
                     correction. A click on a heading sorts.";
        let label = format!("All numbers: {}", counted(chapter.items.len() as u64, "row"));
        let blocks = vec![Block::Table(table), Block::small(about)];
        Block::details("behind", label, false, blocks)
    }

    /// Says why a number is missing or to be doubted; what several sides share is said once.
    fn remarks(&self, item: &Item<'_>) -> String {
        let mut all: Vec<(String, &str)> = Vec::new();
        for side in self.others() {
            let entry = item.entry(side);
            let remark = entry.map_or("not measured on both", |entry| &entry.effect.remark);
            match all.iter_mut().find(|(_, known)| *known == remark) {
                Some((letters, _)) => letters.push_str(&format!(", {}", letter(side))),
                None => all.push((letter(side), remark)),
            }
        }
        let texts = all.into_iter().filter(|(_, remark)| !remark.is_empty());
        let texts = texts.map(|(letters, remark)| match self.others().len() {
            1 => short(remark, 300),
            _ => format!("{letters}: {}", short(remark, 300)),
        });
        texts.collect::<Vec<_>>().join("; ")
    }
}

/// Splits into what is drawn at once and what is folded; each in the order of the chapter. Answers and
/// what differs are the most important; where that is little, the first answer's response is added.
fn split<'i, 'a>(items: &'i [Item<'a>]) -> (Vec<&'i Item<'a>>, Vec<&'i Item<'a>>) {
    let drawable: Vec<&Item<'_>> = items.iter().filter(|item| item.ratios() > 0).collect();
    let main = items.iter().find(|item| item.is_finding).map(|item| item.response);
    let differing = drawable.iter().filter(|item| item.surest() > 0.0).count();
    foremost(drawable, differing.clamp(SHOWN_MIN, DIFFERING_MAX), |item| match item.surest() {
        sure if sure > 0.0 => sure,
        _ if item.is_finding => 0.0,
        _ if Some(item.response) == main => -1.0,
        _ => -2.0,
    })
}

/// Returns what a side is against the base, its floors, its p-value.
fn against(item: &Item<'_>, side: usize) -> [Text; 4] {
    let Some(entry) = item.entry(side).filter(Entry::is_compared) else {
        return ["–"; 4].map(Text::from);
    };
    let number = |known: Option<f64>, words: &dyn Fn(f64) -> String| {
        Text::from(or_dash(known, words)).sorted(known.unwrap_or(f64::NAN))
    };
    let floor = |floor| entry.floor(floor);
    let effect = entry.effect;
    [
        entry.cell(),
        number(effect.floor, &floor),
        number(effect.floor_of_verdict, &floor),
        number(effect.p_value, &probability),
    ]
}
