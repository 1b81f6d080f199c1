//! Quantities that were asked of sessions, for the terminal.

use crate::{format, text};
use model::{Asked, Quantity};
use std::fmt::Write;

/// Writes one line for each answer, and its clock and its doubts below it.
pub(crate) fn asked_text(answers: &[Asked], width: usize) -> String {
    let several = answers.iter().any(|answer| answer.session != answers[0].session);
    let mut out = String::new();
    for answer in answers {
        let result = &answer.result;
        let session = if several { format!("{}: ", answer.session) } else { String::new() };
        let number = match &result.estimate {
            None => "no answer".to_string(),
            Some(estimate) if matches!(result.quantity, Quantity::Frequency { .. }) => {
                format!("{} of {} trials", format::quantity(result), estimate.samples)
            }
            Some(estimate) => format!("{}, {} blocks", format::quantity(result), estimate.samples),
        };
        let line = format!("{session}{} = {number}", answer.asked);
        let _ = writeln!(out, "{}", text::wrapped(&crate::harmless(&line), width).join("\n"));
        if !result.remark.is_empty() {
            let lines = text::wrapped(&crate::harmless(&result.remark), width.saturating_sub(2));
            let _ = writeln!(out, "  {}", lines.join("\n  "));
        }
    }
    out.trim_end().to_string()
}
