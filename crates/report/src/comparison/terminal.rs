//! What sessions say of each other, for a terminal: what differs first, the largest first.

use crate::comparison::found::{Found, Size, by_sureness, for_findings};
use crate::format::{self, Terms, terms_of};
use crate::text::{BAD, BOLD, CARE, DIM, GOOD, bounded, columns, padded, paint, wrapped};
use crate::words::{self, counted, letter, short};
use anstyle::Style;
use model::{
    ComparedExperiment, ComparedQuantity, ComparedRow, Comparison, Estimate, GateOutcome,
    GateResult, Replication, SessionEffect, Treatment, Weight,
};
use std::collections::BTreeSet;

/// Columns of "1.153× [1.102, 1.207]".
const EFFECT_COLUMNS: usize = 24;

/// Columns of "12.3 µs → 14.1 µs".
const VALUES_COLUMNS: usize = 24;

/// Below this a line about one effect is broken in two.
const ONE_LINE_WIDTH: usize = 96;

/// Lines that a gate tells of what it looked at.
const LOOKS_MAX: usize = 3;

/// Where a screen must do: the fewest effects that are told one by one.
const EFFECTS_MIN: usize = 6;

/// The most warnings and facts where a screen must do.
const TOLD_MAX: usize = 8;

/// See [`crate::comparison_text`].
pub(crate) fn text(comparison: &Comparison, width: usize, height: Option<usize>) -> String {
    let face = Face { comparison, width: bounded(width), whole: height.is_none() };
    let mut blocks = vec![face.sides(), face.gates(), face.warnings(), face.facts()];
    let last = [face.controls(), face.verdicts(), face.refused(), face.alike_and_meaning()];
    let used: usize = blocks.iter().chain(&last).map(|lines| lines.len() + 1).sum();
    let room = height.map_or(usize::MAX, |height| height.saturating_sub(used).max(EFFECTS_MIN));
    blocks.push(face.effects(room));
    blocks.extend(last);
    let blocks: Vec<String> =
        blocks.iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n")).collect();
    blocks.join("\n\n") + "\n"
}

/// One effect with where it comes from.
struct Told<'a> {
    experiment: &'a ComparedExperiment,
    what: What<'a>,
    /// Place among the sides.
    side: usize,
    effect: &'a SessionEffect,
    /// `None` where nothing could be compared.
    found: Option<Found<'a>>,
}

#[derive(Clone, Copy)]
enum What<'a> {
    Finding(&'a ComparedQuantity),
    Row(&'a ComparedRow),
}

impl Told<'_> {
    fn values(&self) -> (Option<Estimate>, Option<Estimate>) {
        let values = match self.what {
            What::Finding(finding) => &finding.values,
            What::Row(row) => &row.values,
        };
        let at = |at: usize| values.get(at).copied().flatten();
        (at(0), at(self.side))
    }

    fn terms(&self) -> Terms<'_> {
        match self.what {
            What::Row(row) => Terms::In(&row.unit),
            What::Finding(finding) => terms_of(&finding.quantity, finding.unit.as_ref()),
        }
    }
}

struct Face<'a> {
    comparison: &'a Comparison,
    width: usize,
    whole: bool,
}

impl<'a> Face<'a> {
    fn sides(&self) -> Vec<String> {
        let sides = self.comparison.sides.iter().enumerate();
        let told = sides.map(|(at, side)| {
            let sessions = match side.sessions.len() {
                1 => String::new(),
                many => format!("{many} sessions · "),
            };
            let rest = format!(
                "{sessions}{} · {} · {}",
                side.host,
                words::moment(side.started_unix_ms),
                counted(side.trials, "trial")
            );
            let base = if at == 0 { " (base)" } else { "" };
            let trusted = match side.trusted {
                Some(true) => "",
                Some(false) => "not trusted by its A/A control · ",
                None => "no A/A control · ",
            };
            let head = format!("{} {}{base}", letter(at), short(&side.name, self.width / 2));
            let room = self.width.saturating_sub(columns(&head) + 2);
            let rest = short(&format!("{trusted}{rest}"), room);
            format!("{}  {}", paint(BOLD, &head), paint(DIM, &rest))
        });
        told.collect()
    }

    /// Text under a mark, its further lines indented.
    fn marked(&self, style: Style, mark: &str, text: &str) -> Vec<String> {
        let lines = wrapped(text, self.width.saturating_sub(2));
        let mark = |at: usize| if at == 0 { mark } else { " " };
        lines
            .iter()
            .enumerate()
            .map(|(at, line)| paint(style, &format!("{} {line}", mark(at))))
            .collect()
    }

    fn gates(&self) -> Vec<String> {
        self.comparison.gates.iter().flat_map(|gate| self.gate(gate)).collect()
    }

    fn gate(&self, gate: &GateResult) -> Vec<String> {
        let (style, mark, word) = outcome(gate.outcome);
        let text = format!("{}: {word}. {}", gate.condition, words::capital(&gate.reason));
        let mut lines = self.marked(style, mark, &text);
        if gate.outcome == GateOutcome::Fine {
            return lines;
        }
        let worst: Vec<_> =
            gate.looked_at.iter().filter(|look| look.outcome == gate.outcome).collect();
        for look in worst.iter().take(LOOKS_MAX) {
            let ratio = look.ratio.map_or("no number".to_string(), |ratio| format::ratio(&ratio));
            let side = match self.comparison.sides.len() {
                2 => String::new(),
                _ => format!("{}: ", letter(look.side)),
            };
            let line = format!("    {side}{ratio}  {}", treatment(&look.treatment, None));
            lines.push(short(&line, self.width));
        }
        if worst.len() > LOOKS_MAX {
            lines.push(paint(DIM, &format!("    and {} more", worst.len() - LOOKS_MAX)));
        }
        lines
    }

    fn warnings(&self) -> Vec<String> {
        let all = &self.comparison.warnings;
        let most = if self.whole { usize::MAX } else { TOLD_MAX };
        let told = all.iter().take(most).flat_map(|text| self.marked(CARE, "!", text));
        told.chain(self.more(all.len(), most, "warning")).collect()
    }

    fn more(&self, all: usize, told: usize, what: &str) -> Option<String> {
        let left = all.saturating_sub(told) as u64;
        let text = match what {
            "" => format!("  and {} more (--all)", format::count(left)),
            _ => format!("  and {} (--all)", counted(left, &format!("more {what}"))),
        };
        (left > 0).then(|| paint(DIM, &text))
    }

    fn facts(&self) -> Vec<String> {
        let facts = &self.comparison.facts;
        if facts.is_empty() {
            return vec![paint(DIM, "No recorded fact differs.")];
        }
        let most = if self.whole { usize::MAX } else { TOLD_MAX };
        let name_columns = facts.iter().map(|row| columns(&row.name)).max().unwrap_or(0).min(24);
        let mut lines = vec![paint(BOLD, "What is known to differ")];
        for row in facts.iter().take(most) {
            let (style, mark) = match row.weight {
                Weight::Invalid => (BAD, "✗"),
                Weight::Nuisance => (CARE, "!"),
                Weight::Subject => (DIM, "·"),
            };
            let value = |text: &String| {
                if text.is_empty() { "not known".into() } else { words::cleaned(text) }
            };
            let values = row.values.iter().map(value).collect::<Vec<_>>().join(" → ");
            let name = padded(&short(&row.name, name_columns), name_columns);
            let room = self.width.saturating_sub(name_columns + 6);
            for (at, line) in wrapped(&values, room).iter().enumerate() {
                lines.push(match at {
                    0 => format!("  {} {name}  {line}", paint(style, mark)),
                    _ => format!("  {}{line}", " ".repeat(name_columns + 4)),
                });
            }
        }
        lines.extend(self.more(facts.len(), most, "fact"));
        lines
    }

    fn told(&self) -> impl Iterator<Item = Told<'a>> {
        let comparison = self.comparison;
        comparison.experiments.iter().flat_map(|experiment| {
            let findings = experiment.findings.iter();
            let findings = findings.map(|it| (What::Finding(it), &it.values, &it.effects));
            let rows = experiment.rows.iter();
            let rows = rows.map(|it| (What::Row(it), &it.values, &it.effects));
            findings.chain(rows).flat_map(move |(what, values, effects)| {
                effects.iter().enumerate().filter_map(move |(at, effect)| {
                    let effect = effect.as_ref()?;
                    let found = Found::of(values, effects, at);
                    Some(Told { experiment, what, side: at + 1, effect, found })
                })
            })
        })
    }

    /// What differs, and what could have been found to.
    fn effects(&self, room: usize) -> Vec<String> {
        if self.whole {
            return self.everything();
        }
        let (findings, rows): (Vec<Told<'_>>, Vec<Told<'_>>) = self
            .told()
            .filter(|told| told.found.is_some())
            .partition(|told| matches!(told.what, What::Finding(_)));
        let compared = findings.len() + rows.len();
        if compared == 0 {
            return Vec::new();
        }
        let (of_findings, of_rows) = (findings.len(), rows.len());
        let (findings, rows) = (differing(findings), differing(rows));
        let numbers = counted(compared as u64, "number");
        if findings.len() + rows.len() == 0 {
            let text = format!(
                "None of {numbers} differs, as far as could be seen ({} among them).",
                counted(of_findings as u64, "finding")
            );
            let said = wrapped(&text, self.width);
            let mut lines: Vec<String> = said.iter().map(|line| paint(GOOD, line)).collect();
            lines.extend(self.floor());
            return lines;
        }
        let verb = if findings.len() + rows.len() == 1 { "differs" } else { "differ" };
        let head = format!(
            "{} of {numbers} {verb}, the largest first (by the end of the interval that is nearer to \
             1)",
            findings.len() + rows.len()
        );
        let head = wrapped(&head, self.width);
        let mut lines: Vec<String> = head.iter().map(|line| paint(BOLD, line)).collect();
        let room = (room.saturating_sub(4) / self.effect_lines()).max(EFFECTS_MIN);
        let most = for_findings(findings.len(), rows.len(), room);
        let head = format!("Findings: {} of {of_findings}", findings.len());
        lines.extend(self.list(&head, &findings, most));
        let head = format!("Responses at each treatment: {} of {of_rows}", rows.len());
        lines.extend(self.list(&head, &rows, room - most));
        lines.extend(self.floor());
        lines
    }

    fn effect_lines(&self) -> usize {
        if self.width < ONE_LINE_WIDTH { 2 } else { 1 }
    }

    fn list(&self, head: &str, told: &[Told<'_>], most: usize) -> Vec<String> {
        if told.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![format!("  {head}")];
        lines.extend(told.iter().take(most).flat_map(|told| self.effect(told)));
        lines.extend(self.more(told.len(), most, ""));
        lines
    }

    /// One effect in a line, or in two where the terminal is narrow.
    fn effect(&self, told: &Told<'_>) -> Vec<String> {
        let effect = told.effect;
        let side = match self.comparison.sides.len() {
            2 => String::new(),
            _ => format!("{} ", letter(told.side)),
        };
        let (arrow, style) = match told.found.filter(|_| effect.differs) {
            Some(found) => (found.direction(), BOLD),
            None => (" ", DIM),
        };
        let number = padded(&number(told), EFFECT_COLUMNS);
        let number = paint(style, &format!("{side}{arrow} {number}"));
        let values = values(told);
        if self.width >= ONE_LINE_WIDTH {
            let room =
                self.width.saturating_sub(4 + columns(&side) + EFFECT_COLUMNS + VALUES_COLUMNS + 4);
            let values = padded(&short(&values, VALUES_COLUMNS), VALUES_COLUMNS);
            return vec![format!("  {number}  {values}  {}", short(&what(told), room))];
        }
        let room = self.width.saturating_sub(4 + columns(&side) + EFFECT_COLUMNS + 2);
        if room < VALUES_COLUMNS {
            let text = format!("{values}  {}", what(told));
            let number = number.trim_end();
            return vec![
                format!("  {number}"),
                format!("      {}", short(&text, self.width.saturating_sub(6))),
            ];
        }
        vec![
            format!("  {number}  {}", short(&values, room)),
            format!("      {}", short(&what(told), self.width.saturating_sub(6))),
        ]
    }

    /// Every comparison, experiment by experiment.
    fn everything(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for experiment in &self.comparison.experiments {
            let told: Vec<Told<'_>> =
                self.told().filter(|it| it.experiment.id == experiment.id).collect();
            if told.is_empty() {
                continue;
            }
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let head = format!("{}  {}", experiment.id, experiment.question);
            lines.push(paint(BOLD, &short(&head, self.width)));
            for warning in &experiment.warnings {
                lines.extend(self.marked(CARE, "!", warning));
            }
            let mut said = "";
            for one in &told {
                lines.extend(self.effect(one));
                // What holds for many in a row is said at the first.
                let is_news = one.effect.remark != said;
                said = &one.effect.remark;
                if is_news && !said.is_empty() {
                    let room = self.width.saturating_sub(6);
                    let remark = wrapped(&one.effect.remark, room);
                    lines.extend(remark.iter().map(|line| paint(DIM, &format!("      {line}"))));
                }
            }
        }
        lines.extend(self.floor());
        lines
    }

    /// The smallest difference that would have been found.
    fn floor(&self) -> Vec<String> {
        let of = |pick: fn(&SessionEffect) -> Option<f64>| {
            let mut floors: Vec<f64> = self
                .told()
                .filter(|told| told.effect.ratio.is_some())
                .filter_map(|told| pick(told.effect))
                .collect();
            floors.sort_by(f64::total_cmp);
            floors
        };
        let (alone, among) = (of(|it| it.floor), of(|it| it.floor_of_verdict));
        let middle = |floors: &[f64]| floors.get(floors.len() / 2).copied();
        let (Some(least), Some(half), Some(alone)) =
            (among.first().copied(), middle(&among), middle(&alone))
        else {
            return Vec::new();
        };
        let share = |x: f64| format::rough(x, Terms::Share);
        let text = format!(
            "A difference that is smaller than these would have been missed more often than in one \
             case of five: {} in the sharpest comparison, {} in the middle one ({} if it had been \
             the only one).",
            share(least),
            share(half),
            share(alone)
        );
        wrapped(&text, self.width).iter().map(|line| paint(DIM, line)).collect()
    }

    fn controls(&self) -> Vec<String> {
        let controls = self.comparison.controls.iter().enumerate();
        let told = controls.filter_map(|(at, effect)| {
            let effect = effect.as_ref()?;
            let ratio = effect.ratio?;
            let (style, mark, word) = match effect.differs {
                true => (CARE, "!", "differs: the machine itself was another"),
                false => (GOOD, "✓", "does not differ"),
            };
            let what = match effect.remark.as_str() {
                "" => String::new(),
                remark => format!(" ({remark})"),
            };
            let text = format!(
                "The same computation in {} and {}: {}, {word}{what}.",
                letter(0),
                letter(at + 1),
                format::ratio(&ratio),
            );
            Some(self.marked(style, mark, &text))
        });
        told.flatten().collect()
    }

    fn verdicts(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for experiment in &self.comparison.experiments {
            for claim in &experiment.verdicts {
                let word =
                    |verdict: &Option<model::Verdict>| verdict.map_or("not judged", words::verdict);
                let verdicts: Vec<&str> = claim.verdicts.iter().map(word).collect();
                let text = format!("{}: {} ({})", verdicts.join(" → "), claim.text, experiment.id);
                lines.extend(self.marked(Style::new(), "·", &text));
            }
        }
        if !lines.is_empty() {
            lines.insert(0, paint(BOLD, "Claims that are not answered alike"));
        }
        lines
    }

    /// What is not compared, one line for all that have the same reason.
    fn refused(&self) -> Vec<String> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for experiment in &self.comparison.experiments {
            let Some(why) = experiment.refused.as_deref() else { continue };
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, ids)) => ids.push(&experiment.id),
                None => reasons.push((why, vec![&experiment.id])),
            }
        }
        let told =
            reasons.iter().map(|(why, ids)| format!("Not compared: {} ({why})", ids.join(", ")));
        told.flat_map(|text| self.marked(DIM, "–", &text)).collect()
    }

    fn alike_and_meaning(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.comparison.alike.iter().flat_map(|it| wrapped(it, self.width)).collect();
        if self.told().any(|told| told.effect.unit_of_replication == Replication::Sessions) {
            let text = "Intervals rest on sessions: they hold what changes from one to the next.";
            lines.extend(wrapped(text, self.width));
        }
        lines.iter().map(|line| paint(DIM, line)).collect()
    }
}

fn outcome(outcome: GateOutcome) -> (Style, &'static str, &'static str) {
    match outcome {
        GateOutcome::Fine => (GOOD, "✓", "fine"),
        GateOutcome::CannotTell => (CARE, "?", "cannot tell"),
        GateOutcome::Regression => (BAD, "✗", "regression"),
    }
}

/// What stands as a difference, the most that is sure first.
fn differing(told: Vec<Told<'_>>) -> Vec<Told<'_>> {
    let mut differing: Vec<(Found<'_>, Told<'_>)> =
        told.into_iter().filter_map(|told| Some((told.found?, told))).collect();
    differing.retain(|(found, _)| found.effect.differs);
    differing.sort_by(|(a, _), (b, _)| by_sureness(a, b));
    differing.into_iter().map(|(_, told)| told).collect()
}

fn number(told: &Told<'_>) -> String {
    let effect = told.effect;
    let within = |estimate: &Estimate, terms| {
        format::joined(&format::parts_within(estimate, terms, EFFECT_COLUMNS))
    };
    match told.found.map(|found| found.size) {
        Some(Size::Ratio(ratio)) => within(ratio, Terms::Times),
        Some(Size::Difference(difference)) => {
            let sign = if difference.point > 0.0 { "+" } else { "" };
            format!("{sign}{}", within(difference, told.terms()))
        }
        // 0 on both sides in all trials: no noise, and no ratio either.
        _ if effect.p_value == Some(1.0) && effect.floor.is_none() => "equal".into(),
        _ => "no ratio".into(),
    }
}

fn values(told: &Told<'_>) -> String {
    let one = |value: Option<Estimate>| match value {
        Some(value) => format::value_in(value.point, told.terms()),
        None => "–".into(),
    };
    let (base, side) = told.values();
    format!("{} → {}", one(base), one(side))
}

/// What is compared, in words.
fn what(told: &Told<'_>) -> String {
    let id = &told.experiment.id;
    match told.what {
        What::Finding(finding) => {
            let sentence = words::without_number(&finding.sentence);
            format!("{id}: {sentence}")
        }
        What::Row(row) => {
            let at = treatment(&row.treatment, Some(&varying(told.experiment)));
            format!("{id}: {}, {at}", row.label)
        }
    }
}

/// The factors that have more than one level among the rows of an experiment.
fn varying(experiment: &ComparedExperiment) -> BTreeSet<&str> {
    let mut known = std::collections::BTreeMap::new();
    let mut varying = BTreeSet::new();
    for (factor, level) in experiment.rows.iter().flat_map(|row| row.treatment.0.iter()) {
        if *known.entry(factor.as_str()).or_insert(level) != level {
            varying.insert(factor.as_str());
        }
    }
    varying
}

/// A treatment by the levels that tell it from others, or by all.
fn treatment(treatment: &Treatment, varying: Option<&BTreeSet<&str>>) -> String {
    let told = treatment
        .0
        .iter()
        .filter(|(factor, _)| varying.is_none_or(|all| all.contains(factor.as_str())));
    let levels: Vec<String> = told.map(|(factor, level)| words::level(factor, level)).collect();
    if levels.is_empty() { "all trials".into() } else { levels.join(" · ") }
}
