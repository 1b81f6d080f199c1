//! What stands around the numbers: conditions, facts that differ, and the control across sessions.

use super::{Compared, Medium, said};
use crate::doc::{Block, Role, Table, Text, Tone};
use crate::format::{Terms, parts, ratio, rough, rounded};
use crate::words::{self, LABEL_CHARACTERS_MAX, counted, letter, mark, short};
use model::{
    ComparedExperiment, FactRow, GateLook, GateOutcome, GateResult, SessionEffect, Weight,
};

/// Comparisons that a page and a terminal list of each condition.
const LOOKS_MAX: usize = 20;
const LOOKS_SHORT: usize = 3;

/// Facts that are listed.
const FACTS_MAX: usize = 100;

impl Compared<'_> {
    /// Returns what became of the conditions, with what decided.
    pub(super) fn gates(&self, medium: Medium) -> Vec<Block<'static>> {
        let mut blocks = Vec::new();
        for gate in &self.comparison.gates {
            let (tone, word) = outcome(gate.outcome);
            let condition = Text::code(short(&gate.condition, 300));
            let text = condition.then(format!(": {word}. {}", said(&gate.reason)));
            blocks.push(Block::said(tone, word, vec![text]));
            blocks.extend(looks(gate, medium));
        }
        blocks
    }

    /// Returns the facts that are not the same on all sides, at most `most`, the most harmful first.
    pub(super) fn facts(&self, most: usize) -> Vec<Block<'static>> {
        let comparison = self.comparison;
        let mut facts: Vec<&FactRow> = comparison.facts.iter().collect();
        facts.sort_by_key(|fact| std::cmp::Reverse(fact.weight));
        let alike = comparison.alike.iter().take(FACTS_MAX).map(|text| said(text));
        let alike: Vec<String> = alike.collect();
        let mut blocks = vec![Block::heading(2, "Recorded facts that differ")];
        if !alike.is_empty() {
            blocks.push(Block::paragraph(Role::Plain, alike.join(" ")));
        }
        if facts.is_empty() {
            blocks
                .push(Block::paragraph(Role::Plain, "No recorded fact differs between the sides."));
            return blocks;
        }
        let letters: Vec<String> = (0..comparison.sides.len()).map(letter).collect();
        let heads: Vec<&str> = letters.iter().map(String::as_str).collect();
        let mut table = Table::of(&[&["fact"], &heads[..], &["effect"]].concat())
            .kind("differing-facts", "facts that differ");
        let most = most.min(FACTS_MAX);
        for fact in facts.iter().take(most) {
            let value = |side: usize| match fact.values.get(side).map(String::as_str) {
                None | Some("") => Text::quiet("not recorded"),
                Some(value) => short(value, 300).into(),
            };
            let what = match fact.weight {
                Weight::Invalid => "✗ makes numbers incomparable",
                Weight::Nuisance => "! changes numbers by itself",
                Weight::Subject => "· may be what is compared",
            };
            let values = (0..comparison.sides.len()).map(value);
            let name = Text::from(short(&fact.name, 80));
            table.row(std::iter::once(name).chain(values).chain([what.into()]));
        }
        blocks.push(Block::Table(table));
        if facts.len() > most {
            let more = counted((facts.len() - most) as u64, "more fact");
            blocks.push(Block::paragraph(Role::Small, format!("{more} differ.")));
        }
        blocks
    }

    /// Returns the same computation on all sides, under its heading.
    pub(super) fn controls(&self) -> Vec<Block<'static>> {
        let about = Text::from("The experiment ").then(Text::code("null")).then(
            " times one and the same computation. A difference in it says that the machine as a whole \
             was faster or slower, and every time below includes that.",
        );
        let mut blocks =
            vec![Block::heading(2, "The control"), Block::Paragraph(Role::Plain, about)];
        blocks.extend((0..self.others()).map(|other| self.control(other)));
        blocks
    }

    /// Returns the controls that were measured, alone.
    pub(super) fn brief_controls(&self) -> Vec<Block<'static>> {
        let known = |other: &usize| matches!(self.comparison.controls.get(*other), Some(Some(_)));
        (0..self.others()).filter(known).map(|other| self.control(other)).collect()
    }

    fn control(&self, other: usize) -> Block<'static> {
        let side = letter(other + 1);
        let effect = self.comparison.controls.get(other).and_then(Option::as_ref);
        let (tone, word, text) = match effect {
            None => {
                let text = format!("A or {side} did not measure the control.");
                (Tone::Open, "not known", text)
            }
            Some(effect) => control(effect, &side),
        };
        Block::said(tone, word, vec![text.into()])
    }
}

/// Returns the claims of experiments that do not have the same verdict on all sides, under a heading.
pub(super) fn verdicts<'a>(
    level: u8,
    experiments: impl Iterator<Item = &'a ComparedExperiment>,
) -> Vec<Block<'static>> {
    let claims = experiments.flat_map(|one| one.verdicts.iter().map(move |claim| (one, claim)));
    let lines = claims.map(|(experiment, claim)| {
        let verdicts = claim.verdicts.iter().enumerate().map(|(side, verdict)| {
            let verdict = verdict.map(|one| format!("{} {}", mark(one), words::verdict(one)));
            format!("{} {}", letter(side), verdict.unwrap_or_else(|| "not judged".into()))
        });
        let verdicts = verdicts.collect::<Vec<_>>().join(", ");
        format!("{verdicts}: {} ({})", claim.text, experiment.id).into()
    });
    let lines: Vec<Text> = lines.collect();
    match lines.len() {
        0 => Vec::new(),
        _ => vec![Block::heading(level, "Claims with different verdicts"), Block::List(lines)],
    }
}

/// Returns a control in words, with its tone and word.
fn control(effect: &SessionEffect, side: &str) -> (Tone, &'static str, String) {
    let Some(found) = &effect.ratio else {
        let text =
            format!("The same computation has no ratio of {side} to A. {}", said(&effect.remark));
        return (Tone::Open, "not known", text);
    };
    let (tone, word, end) = match effect.differs {
        true => (Tone::Care, "differs", "differs significantly: the machine itself changed"),
        false => (Tone::Good, "no difference", "does not differ significantly"),
    };
    let number = crate::format::joined(&parts(found, Terms::Times));
    let floor = effect.floor.map(|floor| format!(", floor {}", rough(floor, Terms::Share)));
    let floor = floor.unwrap_or_default();
    let mut text = format!("The same computation {end}: {side} against A {number}{floor}.");
    if !effect.remark.is_empty() {
        text.push_str(&format!(" {}", said(&effect.remark)));
    }
    (tone, word, text)
}

/// Returns tone and word of an outcome.
fn outcome(outcome: GateOutcome) -> (Tone, &'static str) {
    match outcome {
        GateOutcome::Fine => (Tone::Good, "fine"),
        GateOutcome::CannotTell => (Tone::Open, "undecided"),
        GateOutcome::Regression => (Tone::Bad, "regression"),
    }
}

/// Returns what a condition looked at: folded on a page; in a terminal only what decided against it.
fn looks(gate: &GateResult, medium: Medium) -> Vec<Block<'static>> {
    let worst = |look: &&GateLook| medium == Medium::Page || look.outcome == gate.outcome;
    let all: Vec<&GateLook> = gate.looked_at.iter().filter(worst).collect();
    if all.is_empty() || (medium == Medium::Terminal && gate.outcome == GateOutcome::Fine) {
        return Vec::new();
    }
    let most = if medium == Medium::Page { LOOKS_MAX } else { LOOKS_SHORT };
    let heads = ["outcome", "response", "treatment", "side", "#against A", "#p"];
    let mut table = Table::of(&heads);
    for look in all.iter().take(most) {
        let (tone, word) = outcome(look.outcome);
        table.row([
            format!("{} {word}", tone.mark()),
            format!("{} {}", short(&look.experiment, 80), short(&look.response, 80)),
            short(&look.treatment.to_string(), LABEL_CHARACTERS_MAX),
            letter(look.side),
            look.ratio.as_ref().map_or_else(|| "–".into(), ratio),
            look.p_value.map_or_else(|| "–".into(), probability),
        ]);
    }
    let mut blocks = vec![Block::Table(table)];
    if all.len() > most {
        let more =
            format!("{} are less severe.", counted((all.len() - most) as u64, "more comparison"));
        blocks.push(Block::paragraph(Role::Small, more));
    }
    match medium {
        Medium::Terminal => blocks,
        Medium::Page => {
            let label = counted(all.len() as u64, "comparison");
            vec![Block::details("behind", label, false, blocks)]
        }
    }
}

/// Returns a p-value; below a thousandth its size says nothing more.
pub(crate) fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { rounded(p, Terms::Plain) }
}
