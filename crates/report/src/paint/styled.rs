//! Texts as styled and wrapped lines of a terminal.

use crate::doc::{Span, Text, Tone};
use crate::text::{BAD, CARE, DIM, GOOD, columns, paint, wrapped};
use anstyle::Style;

/// Returns the colour of a tone.
pub(super) fn style(tone: Tone) -> Style {
    match tone {
        Tone::Good => GOOD,
        Tone::Bad => BAD,
        Tone::Care | Tone::Open | Tone::Absent => CARE,
        Tone::Plain | Tone::Quiet => DIM,
    }
}

/// Returns a text without style; what is typed stands in backquotes.
pub(super) fn plain_words(text: &Text) -> String {
    let words = |span: &Span| match span {
        Span::Code(code) => format!("`{code}`"),
        Span::Key(index) => format!("{} ", index + 1),
        other => other.words(),
    };
    text.0.iter().map(words).collect()
}

pub(super) fn plain(text: &str, indent: &str, width: usize) -> Vec<String> {
    let inner = width.saturating_sub(columns(indent));
    wrapped(text, inner).iter().map(|line| format!("{indent}{line}")).collect()
}

pub(super) fn styled(style: Style, text: &str, indent: &str, width: usize) -> Vec<String> {
    plain(text, indent, width).iter().map(|line| paint(style, line)).collect()
}

/// Returns a text behind a mark, its further lines under its first letter.
pub(super) fn marked(mark: &str, style: Style, text: &str, width: usize) -> Vec<String> {
    let mark = wording::cleaned(mark);
    let room = columns(&mark) + 1;
    let lines = wrapped(text, width.saturating_sub(room));
    let (first, further) = (format!("{} ", paint(style, &mark)), " ".repeat(room));
    let leads = std::iter::once(&first).chain(std::iter::repeat(&further));
    leads.zip(&lines).map(|(lead, line)| format!("{lead}{line}")).collect()
}
