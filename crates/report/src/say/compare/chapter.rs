//! One experiment: what differs, in which doubt, its charts, its verdicts, its numbers.

use super::around::verdicts;
use super::item::{Chapter, FINDINGS, Item, Size, Tally};
use super::opening::{Entry, MIXED, against_base, answer, replication, with_interval};
use super::ratios::Ratios;
use super::{Compared, Medium, said, slopes};
use crate::doc::{Block, Drawing, Figure, Role, Table, Text, Tone};
use crate::format::parts;
use crate::words::{counted, letter, short};
use model::Estimate;

/// Rows of a chart that are not folded away: differing ones at most, and all where few differ.
const DIFFERING_MAX: usize = 40;
const SHOWN_MIN: usize = 8;

/// Warnings and differences without a ratio that are listed.
const LISTED_MAX: usize = 20;

/// Marks on the whole page beyond which folded charts are cut, so that it stays light.
const MARKS_ON_PAGE: usize = 1_500;

/// Where the experiments of which nothing is compared stand on the page.
const BARE: &str = "not-compared";

impl Chapter<'_> {
    /// Returns its address on the page.
    pub(super) fn address(&self) -> &str {
        if self.is_bare() { BARE } else { &self.anchor }
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

    fn warnings(&self) -> impl Iterator<Item = String> {
        self.experiment.warnings.iter().take(LISTED_MAX).map(|text| said(text))
    }
}

impl<'a> Compared<'a> {
    /// Returns an experiment.
    pub(super) fn chapter<'c>(
        &'c self,
        chapter: &'c Chapter<'a>,
        medium: Medium,
    ) -> Vec<Block<'c>> {
        let experiment = chapter.experiment;
        let mut id = short(&experiment.id, 80);
        let versions: Vec<u32> = experiment.versions.iter().flatten().copied().collect();
        if let [version, rest @ ..] = versions.as_slice()
            && rest.iter().all(|other| other == version)
        {
            id.push_str(&format!(" · version {version}"));
        }
        let question = Text::from(said(&experiment.question));
        let mut blocks = vec![Block::heading(2, question.then(Text::quiet(format!("  {id}"))))];
        if let Some(why) = &experiment.refused {
            let text = vec![format!("Not compared. {} {}", said(why), chapter.versions()).into()];
            blocks.push(Block::said(Tone::Bad, "not compared", text));
        }
        blocks.extend(chapter.warnings().map(|text| Block::note(Tone::Care, text)));
        if chapter.items.is_empty() {
            blocks.extend(verdicts(3, std::iter::once(experiment)));
            return blocks;
        }
        let tallies =
            (0..self.others()).map(|other| (other, Tally::of(chapter.items.iter(), other)));
        let texts = tallies.map(|(other, tally)| answer(tally, None, other));
        blocks.extend(texts.map(|text| Block::Paragraph(Role::Answer, text)));
        // Where it is the same for all, the opening has said it.
        if replication(self.items()) == MIXED {
            blocks.push(Block::paragraph(Role::Small, replication(chapter.items.iter())));
        }
        if experiment.treatments_left_out > 0 {
            let left_out = counted(experiment.treatments_left_out, "treatment");
            let text = format!("Left out: {left_out} not measured on A and another side.");
            blocks.push(Block::paragraph(Role::Small, text));
        }
        blocks.extend(self.charts(chapter, medium));
        blocks.extend(self.without_ratio(chapter));
        blocks.extend(verdicts(3, std::iter::once(experiment)));
        blocks.extend(slopes::slopes(&chapter.items, self.comparison.sides.len()));
        match medium {
            Medium::Page => blocks.push(self.numbers(chapter)),
            Medium::Terminal => {
                blocks.push(Block::heading(3, "All numbers"));
                blocks.push(Block::Table(self.table(chapter.entries(), false)));
            }
        }
        blocks
    }

    /// Returns the experiments of which nothing is compared, with the reason of each.
    pub(super) fn bare(&self) -> Vec<Block<'static>> {
        let bare = self.chapters.iter().filter(|chapter| chapter.is_bare());
        let facts = bare.map(|chapter| {
            let why = chapter.experiment.refused.as_ref();
            let why =
                why.map_or("No number was measured on A and another side.".into(), |why| said(why));
            let mut text = vec![why, chapter.versions()];
            text.extend(chapter.warnings());
            (short(&chapter.experiment.id, 80), Text::from(text.join(" ")))
        });
        let facts: Vec<(String, Text)> = facts.collect();
        if facts.is_empty() {
            return Vec::new();
        }
        let blocks = vec![Block::heading(2, "Not compared"), Block::Facts(facts)];
        vec![Block::Section(BARE.into(), blocks)]
    }

    /// Returns the most important rows as a chart; on a page the others are folded behind it.
    fn charts<'c>(&'c self, chapter: &'c Chapter<'a>, medium: Medium) -> Vec<Block<'c>> {
        let sides = &self.comparison.sides;
        let (shown, folded) = split(&chapter.items);
        if shown.is_empty() {
            return Vec::new();
        }
        let without = chapter.items.iter().filter(|item| item.ratios().next().is_none()).count();
        let mut caption = Vec::new();
        if medium == Medium::Page {
            let text = "Filled: a significant difference; hollow: none was found. Bands about 1: the \
                        floor, and lighter the floor after Holm's correction.";
            caption.push(text.into());
        }
        if without > 0 {
            let text =
                format!("{} without a ratio: in the table.", counted(without as u64, "number"));
            caption.push(text.into());
        }
        let place = chapter.anchor.clone();
        let ratios = Ratios { items: shown, sides, place: format!("{place}-ratios") };
        let title = if sides.len() > 2 { "The other sides" } else { "B" };
        let title = format!("{title} as a multiple of A");
        let mut blocks = vec![Block::Figure(Figure::new(title, ratios, caption))];
        if !folded.is_empty() && medium == Medium::Page {
            let differs = folded.iter().any(|item| item.differs());
            let label = counted(folded.len() as u64, "more row");
            let label = if differs { label } else { format!("{label}, none of which differs") };
            let drawn = folded.len().min(self.folded_max());
            let left = folded.len() - drawn;
            let items = folded.into_iter().take(drawn).collect();
            let rest = Ratios { items, sides, place: format!("{place}-more-ratios") };
            let mut inner = Vec::new();
            if drawn > 0 {
                inner.push(Block::OnPage(rest.svg()));
            }
            if left > 0 {
                let text = format!("{left} more are in the table alone.");
                inner.push(Block::paragraph(Role::Small, text));
            }
            blocks.push(Block::details("behind folded", label, false, inner));
        }
        blocks
    }

    /// Returns the differences that a chart of ratios cannot show.
    fn without_ratio(&self, chapter: &Chapter<'_>) -> Vec<Block<'static>> {
        let unshown = |entry: &Entry<'_, '_>| {
            entry.found.is_some_and(|one| !matches!(one.size, Size::Ratio(_)))
        };
        let table = self.table(chapter.differing().filter(unshown).take(LISTED_MAX), false);
        match table.rows.len() {
            0 => Vec::new(),
            _ => vec![Block::heading(3, "Differences that are no ratios"), Block::Table(table)],
        }
    }

    /// Returns how many rows each chapter may fold behind its chart: all, unless the page would be too
    /// heavy.
    fn folded_max(&self) -> usize {
        let marks = |chapter: &Chapter<'_>| -> usize {
            chapter.items.iter().map(|item| item.ratios().count()).sum()
        };
        let each: Vec<usize> = self.chapters.iter().map(marks).filter(|marks| *marks > 0).collect();
        match each.iter().sum::<usize>() <= MARKS_ON_PAGE {
            true => usize::MAX,
            false => MARKS_ON_PAGE / (each.len().max(1) * self.others().max(1)),
        }
    }

    /// Returns all numbers of an experiment, for those who do not see the charts or want to sort.
    fn numbers(&self, chapter: &Chapter<'_>) -> Block<'static> {
        let sides = self.comparison.sides.len();
        let mut heads = vec!["number".to_string()];
        heads.extend((0..sides).map(|side| format!("#{}", letter(side))));
        for side in (1..sides).map(letter) {
            let of_side = ["against A", "floor", "floor, corrected", "p"];
            heads.extend(of_side.map(|head| match (sides, head) {
                (2, "floor" | "floor, corrected" | "p") => format!("#{head}"),
                _ => format!("#{side} {head}"),
            }));
        }
        heads.push("remark".into());
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let mut table = Table::of(&heads).kind("wide compared", "all numbers that are compared");
        for item in &chapter.items {
            let values = (0..sides).map(|side| value(item, side));
            let against = (0..sides.saturating_sub(1)).flat_map(|other| against(item, other));
            let cells = std::iter::once(item.full_name().into()).chain(values).chain(against);
            table.row(cells.chain([remarks(item).into()]));
        }
        let about = "p is two-sided and before Holm's correction; ▲ and ▼ are after it. The floor is \
                     the smallest difference that is found in four of five cases, alone and after the \
                     correction. A click on a heading sorts.";
        let label = format!("All numbers: {}", counted(chapter.items.len() as u64, "row"));
        let blocks = vec![Block::Table(table), Block::paragraph(Role::Small, about)];
        Block::details("behind", label, false, blocks)
    }
}

/// Splits into what is drawn at once and what is folded; each in the order of the chapter. Answers and
/// what differs are the most important; where that is little, the first answer's response is added.
fn split<'i, 'a>(items: &'i [Item<'a>]) -> (Vec<&'i Item<'a>>, Vec<&'i Item<'a>>) {
    let drawable: Vec<&Item<'_>> =
        items.iter().filter(|item| item.ratios().next().is_some()).collect();
    let (mut shown, mut rest): (Vec<usize>, Vec<usize>) =
        (0..drawable.len()).partition(|index| drawable[*index].differs());
    shown.sort_by(|a, b| drawable[*b].surest().total_cmp(&drawable[*a].surest()));
    shown.truncate(DIFFERING_MAX);
    let main = items.iter().find(|item| item.group == FINDINGS).map(|item| item.response);
    rest.sort_by_key(|index| match drawable[*index] {
        item if item.is_finding() => 0,
        item if Some(item.response) == main => 1,
        _ => 2,
    });
    // What differs but was too much stays folded: only the few are filled up.
    let room = SHOWN_MIN.saturating_sub(shown.len());
    shown.extend(rest.into_iter().take(room));
    let (shown, folded): (Vec<usize>, Vec<usize>) =
        (0..drawable.len()).partition(|index| shown.contains(index));
    let [shown, folded] =
        [shown, folded].map(|all| all.into_iter().map(|index| drawable[index]).collect());
    (shown, folded)
}

fn value(item: &Item<'_>, side: usize) -> Text {
    let Some(value) = item.values.get(side).copied().flatten() else {
        return "–".into();
    };
    let parts = parts(&value, item.terms());
    with_interval(parts.point.into(), &parts.interval).sorted(value.point)
}

/// Returns what a side is against the base, its floors, its p-value. A difference that is no ratio is
/// sorted with what is no number: it is in other terms.
fn against(item: &Item<'_>, other: usize) -> [Text; 4] {
    let Some(found) = item.found(other) else {
        return ["–"; 4].map(Text::from);
    };
    let key = match found.size {
        Size::Ratio(Estimate { point, .. }) => *point,
        Size::Difference(_) | Size::Unformed => f64::NAN,
    };
    let floor = |floor: Option<f64>| match floor {
        Some(floor) => Text::from(found.floor(floor, item.terms())).sorted(floor),
        None => "–".into(),
    };
    let effect = found.effect;
    let p = effect.p_value.map(|p| Text::from(super::probability(p)).sorted(p));
    [
        against_base(&found, item).sorted(key),
        floor(effect.floor),
        floor(effect.floor_of_verdict),
        p.unwrap_or_else(|| "–".into()),
    ]
}

/// Says why a number is missing or to be doubted; what several sides share is said once.
fn remarks(item: &Item<'_>) -> String {
    let mut all: Vec<(String, &str)> = Vec::new();
    for (other, effect) in item.effects.iter().enumerate() {
        let remark = effect.as_ref().map_or("not measured on both", |effect| &effect.remark);
        if remark.is_empty() {
            continue;
        }
        match all.iter_mut().find(|(_, known)| *known == remark) {
            Some((letters, _)) => letters.push_str(&format!(", {}", letter(other + 1))),
            None => all.push((letter(other + 1), remark)),
        }
    }
    let alone = item.effects.len() == 1;
    let texts = all.into_iter().map(|(letters, remark)| match alone {
        true => short(remark, 300),
        false => format!("{letters}: {}", short(remark, 300)),
    });
    texts.collect::<Vec<_>>().join("; ")
}
