//! Loads against each other.

use super::load::{alike_with, number_alone};
use crate::doc::{Block, Doc, Role, Table, Tone};
use model::{GateOutcome, LoadComparison, LoadGate, LoadNumber, LoadRow};
use wording::number::ratio;
use wording::{counted, short};

/// Returns how loads differ: for each number both sides, their ratio, and whether that is more than noise.
/// What others wrote is made harmless.
pub fn loads(comparison: &LoadComparison) -> Doc<'static> {
    let base = comparison.sides.first().map_or(String::new(), |side| short(&side.name, 200));
    let mut doc = Doc::new(&comparison.scruple, "a comparison of loads", base.clone());
    doc.push(Block::heading(1, "Loads compared"));
    let sides = comparison.sides.iter().zip('A'..='Z');
    let side = |(side, letter): (&model::LoadSide, char)| {
        format!("{letter} {}: {}", short(&side.name, 200), alike_with(&side.plan))
    };
    doc.push(Block::list(sides.map(side)));
    for number in 1..comparison.sides.len() {
        let rows: Vec<&LoadRow> = comparison.rows.iter().filter(|it| it.side == number).collect();
        let name = short(&comparison.sides[number].name, 200);
        doc.push(Block::heading(2, format!("{name} against {base}")));
        doc.push(Block::paragraph(Role::Answer, answer(&rows)));
        doc.push(Block::Table(table(&rows)));
    }
    doc.blocks.extend(comparison.gates.iter().map(gate));
    let doubts = comparison.doubts.iter().map(|doubt| wording::sentence(doubt, 600));
    doc.blocks.extend(doubts.map(|doubt| Block::note(Tone::Care, doubt)));
    doc.push(Block::small(match comparison.blocks {
        Some(blocks) => format!(
            "The sides took turns in {}, in random order. A ratio is the median over blocks with its 95 % \
             interval.",
            counted(blocks.into(), "block")
        ),
        None => "A ratio is the side's number divided by the base's, with its 95 % interval. Each side is one \
                 load. The interval does not hold what differs from one run to the next. To include \
                 that, let the servers take turns: scruple load URL --against URL."
            .to_string(),
    }));
    doc
}

/// Returns which numbers differ, in a sentence.
fn answer(rows: &[&LoadRow]) -> String {
    let named = |differs| -> Vec<String> {
        let such = rows.iter().filter(|row| row.differs == differs);
        such.map(|row| name(row.number)).collect()
    };
    let differ = named(Some(true));
    match (differ.len(), named(Some(false)).len()) {
        (0, 0) => "The loads are too short to tell whether they differ.".into(),
        (0, _) => "No difference is significant.".into(),
        (1, _) => format!("Significantly different: {}.", differ[0]),
        _ => format!("Significantly different: {}.", wording::listed(&differ)),
    }
}

fn table(rows: &[&LoadRow]) -> Table {
    let mut table = Table::of(&["number", "#base", "#side", "#ratio", "difference"]);
    for row in rows {
        let value =
            |it: Option<f64>| it.map_or("unknown".into(), |it| number_alone(row.number, it));
        let verdict = match row.differs {
            Some(true) => "significant",
            Some(false) => "may be noise",
            None => "unknown",
        };
        let tone = if row.differs == Some(true) { Tone::Care } else { Tone::Plain };
        let ratio = row.ratio.as_ref().map_or("–".into(), ratio);
        let name = name(row.number);
        table.toned(tone, [name, value(row.base), value(row.value), ratio, verdict.into()]);
    }
    table
}

fn name(number: LoadNumber) -> String {
    match number {
        LoadNumber::Percentile(percent) => format!("p{percent}"),
        LoadNumber::Succeeded(percent) => format!("p{percent} of successes"),
        LoadNumber::Mean => "mean".into(),
        LoadNumber::Errors => "errors".into(),
        LoadNumber::Rate => "throughput".into(),
    }
}

fn gate(gate: &LoadGate) -> Block<'static> {
    let condition = short(&gate.condition, 80);
    let (tone, word, what) = match gate.outcome {
        GateOutcome::Fine => (Tone::Good, "fine", "fine: every interval ends before the limit"),
        GateOutcome::CannotTell => {
            (Tone::Open, "undecided", "undecided: an interval contains the limit, or is unknown")
        }
        GateOutcome::Regression => {
            (Tone::Bad, "regression", "regression: an interval lies beyond the limit")
        }
    };
    Block::said(tone, word, vec![format!("{condition}: {what}.").into()])
}
