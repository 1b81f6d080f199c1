//! What is compared, what makes it doubtful, and what differs.

use super::item::{Chapter, Entry, Item, Tally};
use super::{Compared, listed, said};
use crate::doc::{Block, Role, Table, Text, Tone};
use crate::words::letter;
use model::{Comparison, Estimate, Replication, SessionEffect, Side, Weight};
use wording::number::{Parts, Terms, count, rough, rounded};
use wording::{counted, sentences, short, uncapital};

/// The differences that the opening of a page lists, and the warnings and reasons at most.
pub(super) const LARGEST_MAX: usize = 10;
pub(super) const WARNINGS_MAX: usize = 12;

/// What intervals rest on where that is not the same for all.
pub(super) const MIXED: &str = "Intervals rest on sessions where both sides have two or more, else on trials: those leave out what \
     changes from session to session.";

impl<'a> Compared<'a> {
    /// Returns what is compared, the base first.
    pub(super) fn sides(&self) -> Block<'static> {
        let sides = self.comparison.sides.iter().enumerate();
        Block::List(sides.map(|(at, side)| described(at, side)).collect())
    }

    /// Returns what must be read before any number; of many warnings, at most `most`.
    pub(super) fn doubts(&self, most: usize) -> Vec<Block<'static>> {
        let Comparison { facts, warnings, sides, .. } = self.comparison;
        let mut blocks = Vec::new();
        let invalid = facts.iter().filter(|fact| fact.weight == Weight::Invalid);
        let invalid: Vec<String> = invalid.map(|fact| short(&fact.name, 80)).collect();
        if !invalid.is_empty() {
            let text = format!(
                "The sides did not measure the same thing. These facts make numbers incomparable: {}.",
                listed(&invalid)
            );
            blocks.push(Block::said(Tone::Bad, "invalid", vec![text.into()]));
        }
        let untrusted = sides.iter().enumerate().filter_map(|(at, side)| untrusted(at, side));
        let mut warnings: Vec<String> =
            warnings.iter().map(|text| said(text)).chain(untrusted).collect();
        let left = warnings.len().saturating_sub(most);
        warnings.truncate(most);
        if left > 0 {
            warnings.push(format!("{} more.", counted(left as u64, "warning")));
        }
        let doubtful = |text: String| Block::said(Tone::Care, "doubtful", vec![text.into()]);
        blocks.extend(warnings.into_iter().map(doubtful));
        let mut refused: Vec<(&str, Text)> = Vec::new();
        for chapter in &self.chapters {
            let Some(why) = chapter.experiment.refused.as_deref() else { continue };
            match refused.iter_mut().find(|(known, _)| *known == why) {
                Some((_, text)) => *text = text.clone().then(", ").then(chapter.link()),
                None => refused.push((why, Text::from("Not compared: ").then(chapter.link()))),
            }
        }
        blocks.extend(refused.into_iter().map(|(why, text)| {
            let text = text.then(format!(" ({}).", uncapital(&short(why, 400))));
            Block::said(Tone::Absent, "not compared", vec![text])
        }));
        blocks
    }

    /// Returns what all numbers say of each side, and how small a difference could have been found.
    pub(super) fn answers(&self) -> Vec<Block<'static>> {
        let mut blocks = Vec::new();
        for side in self.others() {
            let tally = Tally::of(self.items(), side);
            let findings = Tally::of(self.items().filter(|item| item.is_finding), side);
            let mut text = answer(tally, Some(findings), side);
            let entries = self.items().filter_map(|item| item.entry(side));
            let surest = entries.max_by(|a, b| a.sure().total_cmp(&b.sure()));
            if let Some(entry) =
                surest.filter(|entry| entry.sure() > 0.0 && entry.ratio().is_some())
            {
                text = text.then(" ").then(in_words(entry));
            }
            blocks.push(Block::Paragraph(Role::Answer, text));
            if tally.compared > 0 {
                let text = self.finest(side, tally.differ() == 0);
                blocks.push(Block::paragraph(Role::Further, text));
            }
            if tally.differ() > 0 && tally.short > 0 {
                let text = format!(
                    "{} too few trials for a verdict: it takes {} per side or more.",
                    numbers_have(tally.short),
                    tally.needed
                );
                blocks.push(Block::small(text));
            }
            if tally.without > 0 {
                let numbers = counted(tally.without as u64, "more number");
                let text = format!("{numbers} could not be compared: the tables say why.");
                blocks.push(Block::small(text));
            }
        }
        blocks
    }

    /// Says how small a difference could have been found, so that "no difference" is worth something.
    fn finest(&self, side: usize, none_differs: bool) -> String {
        let entries = self.items().filter_map(|item| item.entry(side));
        let ratios: Vec<_> =
            entries.filter_map(|entry| Some((entry.ratio()?, entry.effect))).collect();
        let alone = sorted(ratios.iter().filter_map(|(_, effect)| effect.floor));
        let corrected = sorted(ratios.iter().filter_map(|(_, effect)| effect.floor_of_verdict));
        let ends = sorted(ratios.iter().flat_map(|(ratio, _)| [ratio.low, ratio.high]));
        let share = |floor: f64| rough(floor, Terms::Share);
        let times = |ratio: f64| rounded(ratio, Terms::Times);
        let within = ends.first().zip(ends.last()).filter(|_| none_differs).map(|(low, high)| {
            // No ratio of positive numbers lies below 0, whatever a subtraction left.
            let (low, high) = (times(low.max(0.0)), times(*high));
            format!("All intervals of ratios lie between {low} and {high} of A.")
        });
        let found = match quartiles(&corrected) {
            Some([fine, middle, coarse]) => format!(
                "A difference of this size is found in four of five cases: {} in the median number, {} \
                 or less in the finest quarter, {} or more in the coarsest quarter.",
                share(middle),
                share(fine),
                share(coarse)
            ),
            None => "It is not known how small a difference could have been found.".into(),
        };
        let alone = quartiles(&alone).map(|[_, middle, _]| {
            format!("Compared alone, the median number needs {}.", share(middle))
        });
        sentences([within, Some(found), alone])
    }

    /// Returns all that differs, with the chapters where it stands.
    pub(super) fn differing(&self) -> impl Iterator<Item = (Option<&Chapter<'a>>, Entry<'_>)> {
        self.chapters.iter().flat_map(|chapter| {
            chapter
                .entries()
                .filter(|(_, entry)| entry.effect.differs)
                .map(move |(_, entry)| (Some(chapter), entry))
        })
    }

    /// Returns the `most` differences that are surest, findings apart from responses.
    pub(super) fn largest(&self, most: usize) -> Vec<Block<'static>> {
        let mut all: Vec<_> = self.differing().collect();
        if all.is_empty() {
            return Vec::new();
        }
        all.sort_by(|(_, a), (_, b)| b.sure().total_cmp(&a.sure()));
        let (findings, responses): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(_, entry)| entry.item.is_finding);
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
            blocks.push(Block::Table(self.table(shown.iter().copied())));
        }
        let order = "Ordered by the end of the interval that is nearer to 1.";
        blocks.push(Block::small(order));
        blocks
    }

    /// Returns entries as rows; each names the experiment that it is given with.
    pub(super) fn table<'c>(
        &self,
        entries: impl Iterator<Item = (Option<&'c Chapter<'c>>, Entry<'c>)>,
    ) -> Table {
        let several = self.comparison.sides.len() > 2;
        let heads = match several {
            true => ["number", "#A → other side", "#against A"],
            false => ["number", "#A → B", "#B against A"],
        };
        let mut table = Table::of(&heads).kind("largest", "differences");
        for (chapter, entry) in entries {
            let named = chapter.map(|chapter| chapter.link().then(": "));
            let mut name = named.unwrap_or_default().then(entry.item.full_name());
            if !entry.effect.remark.is_empty() {
                name = name.then(Text::quiet(format!(" ({})", short(&entry.effect.remark, 300))));
            }
            let side = if several { format!("{} ", letter(entry.side)) } else { String::new() };
            let [base, value] = [0, entry.side].map(|side| entry.item.point(side));
            table.row([name, format!("{base} → {side}{value}").into(), entry.cell()]);
        }
        table
    }

    /// Says what the intervals are made of and what the marks mean.
    pub(super) fn meaning(&self) -> Vec<Block<'static>> {
        let exact = self.items().flat_map(|item| item.values).flatten().any(Estimate::is_exact);
        let intervals = "In brackets: the 95 % confidence interval; a number without one was the same in \
                         every trial.";
        let exact = exact.then(|| "[exact] is a number that was computed, not measured.".into());
        let rest = Some(replication(self.items()).into());
        let text = sentences([Some(intervals.into()), exact, rest]);
        let marks = "▲ (larger) and ▼ (smaller) mark a significant difference: at the 5 % level after \
                     Hommel's correction over all findings, or over all responses, that are compared \
                     here. Without a mark the interval may still lie beside 1. The floor is the \
                     smallest difference that is found in four of five cases. Larger is not worse: \
                     what is better depends on the response.";
        vec![Block::small(text), Block::small(marks)]
    }

    /// Returns all experiments with what differs in each.
    pub(super) fn contents(&self) -> Vec<Block<'static>> {
        let heads = self.others().map(|side| format!("#{} against A", letter(side)));
        let heads: Vec<String> =
            ["experiment", "question"].map(String::from).into_iter().chain(heads).collect();
        let mut table = Table::of(&heads).kind("", "contents");
        for chapter in &self.chapters {
            let tallies = self.others().map(|side| match chapter.experiment.refused {
                Some(_) => "not compared".into(),
                None => in_brief(Tally::of(chapter.items.iter(), side)).into(),
            });
            let question = short(&chapter.experiment.question, 200).into();
            table.row([chapter.link(), question].into_iter().chain(tallies));
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
        wording::moment(side.started_unix_ms),
        counted(side.trials, "trial")
    ))
}

/// Says why a side need not be trusted; `None` where its own controls found nothing.
fn untrusted(at: usize, side: &Side) -> Option<String> {
    let why = match side.trusted {
        Some(true) => return None,
        Some(false) if side.sessions.len() > 1 => {
            "is not to be trusted: more of its sessions fail the A/A check than chance explains."
        }
        Some(false) => {
            "is not to be trusted: its own A/A check found a difference where there is none."
        }
        None => "has no A/A check of its own: it may be untrustworthy.",
    };
    Some(format!("{} {why}", letter(at)))
}

/// Says how many numbers of a side differ from the base, and in which direction; with what findings say
/// where those are a part of them.
pub(super) fn answer(all: Tally, findings: Option<Tally>, side: usize) -> Text {
    let side = letter(side);
    let numbers = counted(all.compared as u64, "number");
    let differ = match (all.compared, all.differ()) {
        (0, _) => return format!("No number of {side} could be compared with A.").into(),
        (_, 0) => return none_differs(all, &side, &numbers).into(),
        (_, 1) => "differs",
        _ => "differ",
    };
    // Each shares its error with its kind alone.
    let kinds = findings.filter(|findings| findings.compared > 0).map(|findings| {
        format!(
            "{} of {} and {} of {}; ",
            findings.differ(),
            counted(findings.compared as u64, "finding"),
            all.differ() - findings.differ(),
            counted((all.compared - findings.compared) as u64, "other number"),
        )
    });
    let directions = match (all.larger, all.smaller) {
        (_, 0) => format!("larger in {side}."),
        (0, _) => format!("smaller in {side}."),
        (larger, smaller) => format!("{larger} larger in {side}, {smaller} smaller."),
    };
    Text::strong(count(all.differ() as u64)).then(format!(
        " of {numbers} {differ} significantly between A and {side}: {}{directions}",
        kinds.unwrap_or_default()
    ))
}

/// Says why none of some numbers differs: no interval decides, there are too many numbers, or too few trials.
fn none_differs(all: Tally, side: &str, numbers: &str) -> String {
    let open = count(all.open as u64);
    match (all.open, all.short) {
        (0, 0) => format!("No significant difference between A and {side} in {numbers}."),
        (0, _) => format!(
            "No interval excludes that A and {side} are equal, in {numbers}. {} too few trials for a \
             verdict: it takes {} per side or more.",
            numbers_have(all.short),
            all.needed
        ),
        (_, 0) => format!(
            "No difference between A and {side} stands among {numbers}. Compared alone, {open} would be \
             significant."
        ),
        (_, _) => format!(
            "Too few trials to decide between A and {side}: alone, {open} of {numbers} would be \
             significant. Among all of them a verdict takes {} trials per side or more.",
            all.needed
        ),
    }
}

fn numbers_have(count: usize) -> String {
    let has = if count == 1 { "has" } else { "have" };
    format!("{} {has}", counted(count as u64, "number"))
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
fn in_words(entry: Entry<'_>) -> Text {
    let Parts { point, interval } = entry.parts();
    let point = point.trim_end_matches('×').to_string();
    let (item, side) = (entry.item, letter(entry.side));
    let name = item.full_name();
    let name = name.trim_end_matches('.');
    Text::from(format!("The largest: {}: ", uncapital(name)))
        .then(Text::number(Parts { point, interval }))
        .then(format!(" times {} in {side} as in A.", item.as_much()))
}

/// Returns the quartiles of ascending numbers: those of them that are nearest.
fn quartiles(ascending: &[f64]) -> Option<[f64; 3]> {
    let last = ascending.len().checked_sub(1)?;
    Some([1, 2, 3].map(|number| ascending[(last * number + 2) / 4]))
}

/// Returns the finite numbers in ascending order.
fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.filter(|x| x.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Says what intervals rest on, and what that leaves out.
pub(super) fn replication<'a>(items: impl Iterator<Item = &'a Item<'a>>) -> &'static str {
    let compared = items.flat_map(Item::entries).filter(Entry::is_compared);
    let compared: Vec<&SessionEffect> = compared.map(|entry| entry.effect).collect();
    let allows = compared.iter().any(|effect| effect.between.is_some());
    let compared = compared.into_iter();
    let units: Vec<Replication> = compared.map(|effect| effect.unit_of_replication).collect();
    match [Replication::Trials, Replication::Sessions].map(|unit| units.contains(&unit)) {
        [true, false] if allows => {
            "Intervals rest on the trials of one session per side. What changes from session to session is \
             estimated from the findings of this comparison, and included where these suffice."
        }
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
