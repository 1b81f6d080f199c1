//! The table of a self-test: what was planted, and what was found.

use crate::Session;
use crate::format;
use crate::text::{BAD, BOLD, CARE, GOOD, bounded, paint, wrapped};
use crate::words::capital;

/// See [`crate::selftest_text`].
pub(crate) fn selftest_text(session: &Session<'_>, width: usize) -> String {
    let width = bounded(width);
    let mut out = paint(BOLD, "What was planted, and what was found");
    out.push('\n');
    for experiment in session.experiments() {
        for planted in &experiment.planted {
            let (mark, style) = match (planted.excluded, planted.holds) {
                (Some(true), _) => ("✗", BAD),
                (_, Some(true)) => ("✓", GOOD),
                _ => ("?", CARE),
            };
            let text = format!("{}: {}", capital(&planted.what), format::quantity(&planted.result));
            for (index, line) in wrapped(&text, width - 2).iter().enumerate() {
                let mark = if index == 0 { mark } else { " " };
                out.push_str(&format!("{} {line}\n", paint(style, mark)));
            }
        }
    }
    out.push_str(&crate::terminal::control_sentence(session));
    out
}
