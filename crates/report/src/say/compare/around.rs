//! What stands around the numbers: conditions, facts that differ, and the control across sessions.

use super::item::open;
use super::{Compared, said};
use crate::doc::{Block, Role, Table, Text, Tone};
use crate::words::{self, LABEL_CHARACTERS_MAX, letter, mark};
use model::{ComparedExperiment, FactRow, GateLook, GateOutcome, Weight};
use wording::number::{Terms, or_dash, ratio, rough, rounded};
use wording::{counted, sentences, short};

/// Comparisons that a page and a terminal list of each condition.
const LOOKS_MAX: usize = 20;
const LOOKS_SHORT: usize = 3;

/// Facts that are listed.
pub(super) const FACTS_MAX: usize = 100;

impl Compared<'_> {
    /// Returns what became of the conditions, with what decided: all of it folded on a page; in a terminal
    /// only what decided against one.
    pub(super) fn gates(&self) -> Vec<Block<'static>> {
        let mut blocks = Vec::new();
        for gate in &self.comparison.gates {
            let (tone, word) = outcome(gate.outcome);
            let condition = Text::code(short(&gate.condition, 300));
            let text = condition.then(format!(": {word}. {}", said(&gate.reason)));
            blocks.push(Block::said(tone, word, vec![text]));
            let all: Vec<&GateLook> = gate.looked_at.iter().collect();
            if !all.is_empty() {
                let label = counted(all.len() as u64, "comparison");
                blocks.push(Block::details("behind", label, false, looks(&all, LOOKS_MAX)));
            }
            let worst = all.into_iter().filter(|look| look.outcome == gate.outcome);
            let worst: Vec<&GateLook> = worst.collect();
            if !worst.is_empty() && gate.outcome != GateOutcome::Fine {
                blocks.push(Block::InTerminal(looks(&worst, LOOKS_SHORT)));
            }
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
            blocks.push(Block::plain(alike.join(" ")));
        }
        if facts.is_empty() {
            let none = "No recorded fact differs between the sides.";
            blocks.push(Block::plain(none));
            return blocks;
        }
        let sides = 0..comparison.sides.len();
        let mut heads = vec!["fact".to_string()];
        heads.extend(sides.clone().map(letter));
        heads.push("effect".into());
        let mut table = Table::of(&heads).kind("differing-facts", "facts that differ");
        for fact in facts.iter().take(most) {
            let what = match fact.weight {
                Weight::Invalid => "✗ makes numbers incomparable",
                Weight::Nuisance => "! changes numbers by itself",
                Weight::Subject => "· may be what is compared",
            };
            let values =
                sides.clone().map(|side| match fact.values.get(side).map(String::as_str) {
                    None | Some("") => Text::quiet("not recorded"),
                    Some(value) => short(value, 300).into(),
                });
            let name = Text::from(short(&fact.name, 80));
            table.row(std::iter::once(name).chain(values).chain([what.into()]));
        }
        blocks.push(Block::Table(table));
        blocks.extend(Block::left_out(facts.len(), most, "more fact", " differ."));
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
        blocks.extend(self.others().map(|side| self.control(side)));
        blocks
    }

    /// Returns the controls that were measured, alone.
    pub(super) fn brief_controls(&self) -> Vec<Block<'static>> {
        let known = |side: &usize| matches!(self.comparison.controls.get(side - 1), Some(Some(_)));
        self.others().filter(known).map(|side| self.control(side)).collect()
    }

    fn control(&self, side: usize) -> Block<'static> {
        let effect = self.comparison.controls.get(side - 1).and_then(Option::as_ref);
        let side = letter(side);
        let unknown = |why: String| (Tone::Open, "not known", why);
        let (tone, word, text) = match effect.map(|effect| (effect, &effect.ratio)) {
            None => unknown(format!("A or {side} did not measure the control.")),
            Some((_, None)) => {
                unknown(format!("The same computation has no ratio of {side} to A."))
            }
            Some((effect, Some(found))) => {
                let why = open(effect).map(|why| format!(" {why}")).unwrap_or_default();
                let (tone, word, how) = match (effect.differs, why.as_str()) {
                    (true, _) => {
                        (Tone::Care, "differs", "differs significantly: the machine itself changed")
                    }
                    (false, "") => (Tone::Good, "no difference", "does not differ significantly"),
                    (false, _) => (Tone::Open, "undecided", "may differ"),
                };
                let floor =
                    effect.floor.map(|floor| format!(", floor {}", rough(floor, Terms::Share)));
                let number =
                    format!("{side} against A {}{why}{}", ratio(found), floor.unwrap_or_default());
                (tone, word, format!("The same computation {how}: {number}."))
            }
        };
        let remark = effect.map(|effect| said(&effect.remark)).filter(|remark| !remark.is_empty());
        Block::said(tone, word, vec![sentences([Some(text), remark]).into()])
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

/// Returns tone and word of an outcome.
fn outcome(outcome: GateOutcome) -> (Tone, &'static str) {
    match outcome {
        GateOutcome::Fine => (Tone::Good, "fine"),
        GateOutcome::CannotTell => (Tone::Open, "undecided"),
        GateOutcome::Regression => (Tone::Bad, "regression"),
    }
}

/// Returns what a condition looked at, at most `most`.
fn looks(all: &[&GateLook], most: usize) -> Vec<Block<'static>> {
    let heads = ["outcome", "response", "treatment", "side", "#against A", "#p"];
    let table = Table::of(&heads).rows(all.iter().take(most).map(|look| {
        let (tone, word) = outcome(look.outcome);
        [
            format!("{} {word}", tone.mark()),
            format!("{} {}", short(&look.experiment, 80), short(&look.response, 80)),
            short(&look.treatment.to_string(), LABEL_CHARACTERS_MAX),
            letter(look.side),
            or_dash(look.ratio.as_ref(), ratio),
            or_dash(look.p_value, probability),
        ]
    }));
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(Block::left_out(all.len(), most, "more comparison", " are less severe."));
    blocks
}

/// Returns a p-value; below a thousandth its size says nothing more.
pub(crate) fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { rounded(p, Terms::Plain) }
}
