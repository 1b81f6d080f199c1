//! Quantities that were asked of sessions.

use crate::doc::{Block, Doc, Tone};
use crate::words;
use model::{Asked, Quantity};
use wording::number;

/// Returns the answers to what was asked of sessions: a line for each, with its caveats below it.
pub fn asked(answers: &[Asked]) -> Doc<'static> {
    let mut doc = Doc::new("", "quantities", "quantities");
    let several = answers.iter().any(|answer| name(answer) != name(&answers[0]));
    for answer in answers {
        let result = &answer.result;
        let session = if several { format!("{}: ", name(answer)) } else { String::new() };
        let number = match &result.estimate {
            None => "no answer".to_string(),
            Some(estimate) if matches!(result.quantity, Quantity::Frequency { .. }) => {
                format!("{} of {} trials", number::quantity(result), estimate.samples)
            }
            Some(estimate) => format!("{}, {} blocks", number::quantity(result), estimate.samples),
        };
        let line = format!("{session}{} = {number}", answer.asked);
        doc.push(Block::plain(line));
        let above = result.estimate.is_some_and(|estimate| estimate.point > 1.0);
        let apart = result.likeness.and_then(|likeness| words::apart(likeness, above));
        let lost = result.lost.as_ref().map(words::lost);
        let remark = wording::stated(&result.remark).map(String::from);
        let notes = [apart, lost, remark].into_iter().flatten();
        doc.blocks.extend(notes.map(|note| Block::note(Tone::Quiet, note)));
    }
    doc
}

/// Returns what tells a session from the others that were asked.
fn name(answer: &Asked) -> &str {
    if answer.folder.is_empty() { &answer.session } else { &answer.folder }
}
