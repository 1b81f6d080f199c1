//! What is compared, what makes it doubtful, and what differs.

use super::item::{Chapter, Found, Item, Size, Tally};
use super::{Compared, listed, said};
use crate::doc::{Block, Role, Table, Text, Tone};
use crate::format::{Parts, Terms, count, parts, rough, rounded};
use crate::words::{self, counted, letter, short, uncapital};
use model::{Estimate, Replication, Side, Weight};

/// The differences that the opening of a page lists.
pub(super) const LARGEST_MAX: usize = 10;

/// The warnings and reasons that the opening lists at most.
const WARNINGS_MAX: usize = 12;

/// What intervals rest on where that is not the same for all.
pub(super) const MIXED: &str = "Intervals rest on sessions where both sides have two or more, else on trials: those leave out what \
     changes from session to session.";

/// One side against the base, in one number.
#[derive(Clone, Copy)]
pub(super) struct Entry<'c, 'a> {
    chapter: &'c Chapter<'a>,
    item: &'c Item<'a>,
    /// The side's place among the others.
    other: usize,
    /// What was found; `None` where nothing could be compared.
    pub(super) found: Option<Found<'a>>,
}

impl<'a> Chapter<'a> {
    /// Returns all numbers of all sides that were measured on both.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_, 'a>> {
        self.items.iter().flat_map(move |item| {
            let measured = (0..item.effects.len()).filter(|other| item.effects[*other].is_some());
            measured.map(move |other| Entry {
                chapter: self,
                item,
                other,
                found: item.found(other),
            })
        })
    }

    /// Returns what differs.
    pub(super) fn differing(&self) -> impl Iterator<Item = Entry<'_, 'a>> {
        self.entries().filter(|entry| entry.found.is_some_and(|found| found.effect.differs))
    }
}

impl Compared<'_> {
    /// Returns what is compared, the base first.
    pub(super) fn sides(&self) -> Block<'static> {
        let sides = self.comparison.sides.iter().enumerate();
        Block::List(sides.map(|(at, side)| described(at, side)).collect())
    }

    /// Returns what must be read before any number; of many warnings, at most `most`.
    pub(super) fn doubts(&self, most: usize) -> Vec<Block<'static>> {
        let comparison = self.comparison;
        let mut blocks = Vec::new();
        let invalid = comparison.facts.iter().filter(|fact| fact.weight == Weight::Invalid);
        let invalid: Vec<String> = invalid.map(|fact| short(&fact.name, 80)).collect();
        if !invalid.is_empty() {
            let text = format!(
                "The sides did not measure the same thing. These facts make numbers incomparable: {}.",
                listed(&invalid)
            );
            blocks.push(Block::said(Tone::Bad, "invalid", vec![text.into()]));
        }
        let most = most.min(WARNINGS_MAX);
        let mut warnings: Vec<String> = comparison.warnings.iter().map(|text| said(text)).collect();
        let trust = comparison.sides.iter().enumerate();
        warnings.extend(trust.filter_map(|(at, side)| untrusted(at, side)));
        let left = warnings.len().saturating_sub(most) as u64;
        warnings.truncate(most);
        if left > 0 {
            warnings.push(format!("{} more.", counted(left, "warning")));
        }
        blocks.extend(
            warnings.into_iter().map(|text| Block::said(Tone::Care, "doubtful", vec![text.into()])),
        );
        let refused = self.refused();
        blocks.extend(refused.iter().map(|(why, chapters)| {
            let mut text = Text::from("Not compared: ");
            for (index, chapter) in chapters.iter().enumerate() {
                let between = if index > 0 { ", " } else { "" };
                let to = format!("#{}", chapter.address());
                text = text.then(between).then(Text::link(short(&chapter.experiment.id, 64), to));
            }
            let text = text.then(format!(" ({})", uncapital(&short(why, 400))));
            Block::said(Tone::Absent, "not compared", vec![text.then(".")])
        }));
        blocks
    }

    /// Returns the refused experiments by their reasons, each as the comparison has it first.
    fn refused(&self) -> Vec<(&str, Vec<&Chapter<'_>>)> {
        let mut refused: Vec<(&str, Vec<&Chapter<'_>>)> = Vec::new();
        for chapter in &self.chapters {
            let Some(why) = chapter.experiment.refused.as_deref() else { continue };
            match refused.iter_mut().find(|(known, _)| *known == why) {
                Some((_, chapters)) => chapters.push(chapter),
                None => refused.push((why, vec![chapter])),
            }
        }
        refused
    }

    /// Returns what all numbers say of each side, and how small a difference could have been found.
    pub(super) fn answers(&self) -> Vec<Block<'static>> {
        let mut blocks = Vec::new();
        for other in 0..self.others() {
            let tally = Tally::of(self.items(), other);
            let findings = Tally::of(self.items().filter(|item| item.is_finding()), other);
            let mut text = answer(tally, Some(findings), other);
            if let Some((item, ratio)) = self.surest(other) {
                text = text.then(" ").then(in_words(item, ratio, other));
            }
            blocks.push(Block::Paragraph(Role::Answer, text));
            if tally.compared > 0 {
                let text = self.finest(other, tally.differ() == 0);
                blocks.push(Block::paragraph(Role::Further, text));
            }
            if tally.without > 0 {
                let numbers = counted(tally.without as u64, "more number");
                let text = format!("{numbers} could not be compared: the tables say why.");
                blocks.push(Block::paragraph(Role::Small, text));
            }
        }
        blocks
    }

    /// Returns the ratio of one side that is surely the farthest from 1.
    fn surest(&self, other: usize) -> Option<(&Item<'_>, &Estimate)> {
        let found = self.items().filter_map(|item| Some((item, item.found(other)?)));
        let farthest = found
            .filter(|(_, found)| found.effect.differs)
            .max_by(|(_, a), (_, b)| a.sure().total_cmp(&b.sure()));
        match farthest {
            Some((item, Found { size: Size::Ratio(ratio), .. })) => Some((item, ratio)),
            _ => None,
        }
    }

    /// Says how small a difference could have been found, so that "no difference" is worth something.
    fn finest(&self, other: usize, none_differs: bool) -> String {
        let ratios: Vec<_> = self.items().filter_map(|item| item.ratio(other)).collect();
        let alone = sorted(ratios.iter().filter_map(|(_, effect)| effect.floor));
        let corrected = sorted(ratios.iter().filter_map(|(_, effect)| effect.floor_of_verdict));
        let ends = sorted(ratios.iter().flat_map(|(ratio, _)| [ratio.low, ratio.high]));
        let share = |floor: f64| rough(floor, Terms::Share);
        let mut text = String::new();
        if let (true, Some(low), Some(high)) = (none_differs, ends.first(), ends.last()) {
            text = format!(
                "All intervals of ratios lie between {} and {} of A. ",
                rounded(*low, Terms::Times),
                rounded(*high, Terms::Times)
            );
        }
        let [Some(fine), Some(middle), Some(coarse)] = [1, 2, 3].map(|at| quartile(&alone, at))
        else {
            return text + "It is not known how small a difference could have been found.";
        };
        text.push_str(&format!(
            "A difference of this size is found in four of five cases: {} in the median number, {} or \
             less in the finest quarter, {} or more in the coarsest quarter.",
            share(middle),
            share(fine),
            share(coarse)
        ));
        if let (Some(least), Some(middle)) = (corrected.first(), quartile(&corrected, 2)) {
            text.push_str(&format!(
                " After Holm's correction it is {} in the median number and {} in the finest.",
                share(middle),
                share(*least)
            ));
        }
        text
    }

    /// Returns the `most` differences that are surest, findings apart from responses.
    pub(super) fn largest(&self, most: usize) -> Vec<Block<'static>> {
        let mut all: Vec<_> = self.chapters.iter().flat_map(Chapter::differing).collect();
        if all.is_empty() {
            return Vec::new();
        }
        let sure = |entry: &Entry<'_, '_>| entry.found.map_or(0.0, |found| found.sure());
        all.sort_by(|a, b| sure(b).total_cmp(&sure(a)));
        let (findings, responses): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|entry| entry.item.is_finding());
        // Half of the room at least, since findings are what the experiments ask.
        let room = most.saturating_sub(responses.len()).max(most.div_ceil(2));
        let first = findings.len().min(room);
        let mut blocks = vec![Block::heading(2, "The largest differences")];
        let families = [
            ("Findings", findings, first),
            ("Responses at each treatment", responses, most - first),
        ];
        for (name, entries, room) in families.iter().filter(|(_, entries, _)| !entries.is_empty()) {
            let shown = &entries[..entries.len().min(*room)];
            let head = format!("{name}: {} of {}", shown.len(), entries.len());
            blocks.push(Block::heading(3, head));
            blocks.push(Block::Table(self.table(shown.iter().copied(), true)));
        }
        let order = "Ordered by the end of the interval that is nearer to 1.";
        blocks.push(Block::paragraph(Role::Small, order));
        blocks
    }

    /// Returns entries as rows; `named` says whether each names its experiment.
    pub(super) fn table<'c>(
        &self,
        entries: impl Iterator<Item = Entry<'c, 'c>>,
        named: bool,
    ) -> Table {
        let several = self.others() > 1;
        let sides = if several { "#A → other side" } else { "#A → B" };
        let against = if several { "#against A" } else { "#B against A" };
        let mut table = Table::of(&["number", sides, against]).kind("largest", "differences");
        for entry in entries {
            let side =
                if several { format!("{} ", letter(entry.other + 1)) } else { String::new() };
            let mut name = Text::default();
            if named {
                let to = format!("#{}", entry.chapter.address());
                name = Text::link(short(&entry.chapter.experiment.id, 64), to).then(": ");
            }
            let [base, value] = [0, entry.other + 1].map(|side| entry.item.value(side));
            let effect = entry.item.effects[entry.other].as_ref();
            let remark = effect.map_or("", |effect| effect.remark.as_str());
            name = name.then(entry.item.full_name());
            if !remark.is_empty() {
                name = name.then(Text::quiet(format!(" ({})", short(remark, 300))));
            }
            table.row([
                name,
                format!("{base} → {side}{value}").into(),
                entry.found.map_or("no ratio".into(), |found| against_base(&found, entry.item)),
            ]);
        }
        table
    }

    /// Says what the intervals are made of and what the marks mean.
    pub(super) fn meaning(&self) -> Vec<Block<'static>> {
        let exact = self.items().flat_map(|item| item.values).flatten().any(Estimate::is_exact);
        let mut text =
            "In brackets: the 95 % confidence interval; a number without one was the same in \
                        every trial."
                .to_string();
        if exact {
            text.push_str(" [exact] is a number that was computed, not measured.");
        }
        text.push_str(&format!(" {}", replication(self.items())));
        let marks = "▲ (larger) and ▼ (smaller) mark a significant difference: at the 5 % level after \
                     Holm's correction over all findings, or over all responses, that are compared \
                     here. Without a mark the interval may still lie beside 1. The floor is the \
                     smallest difference that is found in four of five cases. Larger is not worse: \
                     what is better depends on the response.";
        vec![Block::paragraph(Role::Small, text), Block::paragraph(Role::Small, marks)]
    }

    /// Returns all experiments with what differs in each.
    pub(super) fn contents(&self) -> Vec<Block<'static>> {
        let others = self.others();
        let heads: Vec<String> =
            (1..=others).map(|at| format!("#{} against A", letter(at))).collect();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let mut table = Table::of(&[&["experiment", "question"], &heads[..]].concat());
        table.about = "contents".into();
        for chapter in &self.chapters {
            let id =
                Text::link(short(&chapter.experiment.id, 64), format!("#{}", chapter.address()));
            let tallies = (0..others).map(|other| match chapter.experiment.refused {
                Some(_) => "not compared".into(),
                None => in_brief(Tally::of(chapter.items.iter(), other)).into(),
            });
            let question = short(&chapter.experiment.question, 200).into();
            table.row([id, question].into_iter().chain(tallies));
        }
        vec![Block::heading(2, "Contents"), Block::Table(table)]
    }
}

/// Returns letter, name, host, date, trials and sessions of a side.
fn described(at: usize, side: &Side) -> Text {
    let host = if side.host.is_empty() { "unknown host".into() } else { short(&side.host, 80) };
    let base = if at == 0 { " (base)" } else { "" };
    let sessions = match side.sessions.len() {
        0 | 1 => String::new(),
        many => format!(" in {}", counted(many as u64, "session")),
    };
    Text::strong(format!("{} {}", letter(at), short(&side.name, 120))).then(format!(
        "{base} · {host} · {} · {}{sessions}",
        words::moment(side.started_unix_ms),
        counted(side.trials, "trial")
    ))
}

/// Says why a side need not be trusted; `None` where its own controls found nothing.
fn untrusted(at: usize, side: &Side) -> Option<String> {
    let letter = letter(at);
    let why = match side.trusted {
        Some(true) => return None,
        Some(false) if side.sessions.len() > 1 => {
            "more of its sessions fail the A/A check than chance explains"
        }
        Some(false) => "its own A/A check found a difference where there is none",
        None => {
            return Some(format!("{letter} has no A/A check of its own: it may be untrustworthy."));
        }
    };
    Some(format!("{letter} is not to be trusted: {why}."))
}

/// Says how many numbers of a side differ from the base, and in which direction; with what findings say
/// where those are a part of them.
pub(super) fn answer(all: Tally, findings: Option<Tally>, other: usize) -> Text {
    let side = letter(other + 1);
    let numbers = counted(all.compared as u64, "number");
    if all.compared == 0 {
        return format!("No number of {side} could be compared with A.").into();
    }
    if all.differ() == 0 {
        return format!("No significant difference between A and {side} in {numbers}.").into();
    }
    let differ = if all.differ() == 1 { "differs" } else { "differ" };
    let mut text = format!(" of {numbers} {differ} significantly between A and {side}: ");
    if let Some(findings) = findings.filter(|findings| findings.compared > 0) {
        // Each shares its error with its kind alone.
        text.push_str(&format!(
            "{} of {} and {} of {}; ",
            findings.differ(),
            counted(findings.compared as u64, "finding"),
            all.differ() - findings.differ(),
            counted((all.compared - findings.compared) as u64, "other number"),
        ));
    }
    text.push_str(&match (all.larger, all.smaller) {
        (_, 0) => format!("larger in {side}."),
        (0, _) => format!("smaller in {side}."),
        (larger, smaller) => format!("{larger} larger in {side}, {smaller} smaller."),
    });
    Text::strong(count(all.differ() as u64)).then(text)
}

/// Returns "▲ 11 ▼ 4 of 37".
fn in_brief(tally: Tally) -> String {
    match (tally.compared, tally.differ()) {
        (0, _) => "–".into(),
        (all, 0) => format!("none of {all}"),
        (all, _) => format!("▲ {} ▼ {} of {all}", tally.larger, tally.smaller),
    }
}

/// Returns "The largest: time to create, fork: 1.31 [1.25, 1.36] times as long in B as in A."
fn in_words(item: &Item<'_>, ratio: &Estimate, other: usize) -> Text {
    let Parts { point, interval } = parts(ratio, Terms::Times);
    let point = point.trim_end_matches('×').to_string();
    Text::from(format!("The largest: {}: ", uncapital(&item.full_name())))
        .then(Text::number(Parts { point, interval }))
        .then(format!(" times {} in {} as in A.", item.as_much(), letter(other + 1)))
}

/// Returns "▲ 1.31× [1.25, 1.36]"; a difference has its direction, anything else none.
pub(super) fn against_base(found: &Found<'_>, item: &Item<'_>) -> Text {
    let Parts { point, interval } = found.parts(item.terms());
    let point = match found.effect.differs {
        true => Text::strong(format!("{} {point}", found.direction())),
        false => point.into(),
    };
    with_interval(point, &interval)
}

/// Returns a point with its interval behind it.
pub(crate) fn with_interval(point: Text, interval: &str) -> Text {
    if interval.is_empty() { point } else { point.then(" ").then(Text::quiet(interval)) }
}

/// Returns the quartile (1 to 3) of ascending numbers: the one of them that is nearest.
fn quartile(ascending: &[f64], number: usize) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    ascending.get((last * number + 2) / 4).copied()
}

/// Returns the finite numbers in ascending order.
fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.filter(|x| x.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Says what intervals rest on, and what that leaves out.
pub(super) fn replication<'a>(items: impl Iterator<Item = &'a Item<'a>>) -> &'static str {
    let units: Vec<Replication> = items
        .flat_map(Item::all_found)
        .map(|(_, found)| found.effect.unit_of_replication)
        .collect();
    match [Replication::Trials, Replication::Sessions].map(|unit| units.contains(&unit)) {
        [true, false] => {
            "Intervals rest on the trials of one session per side: they leave out what changes from session \
             to session."
        }
        [false, true] => {
            "Intervals rest on sessions, two or more a side: they include what changes from session to \
             session."
        }
        [true, true] => MIXED,
        [false, false] => "",
    }
}
