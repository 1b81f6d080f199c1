//! Plain text: wrapping, padding, and colours that a pipe can strip.

use crate::words;
use anstyle::{AnsiColor, Style};

/// Headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// What matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Supported; all is well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Refuted; something is wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// Undecided; look here.
pub(crate) const CARE: Style = AnsiColor::Yellow.on_default();

/// The narrowest text that is laid out; a narrower terminal wraps by itself.
pub(crate) const WIDTH_MIN: usize = 40;

/// The widest text: longer lines are hard to read.
pub(crate) const WIDTH_MAX: usize = 120;

/// A width within what is laid out.
pub(crate) fn bounded(width: usize) -> usize {
    width.clamp(WIDTH_MIN, WIDTH_MAX)
}

/// Text in a style.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// How many columns a text takes: its characters, for want of a font.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Text filled with spaces on the right up to a width.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// Text broken at spaces into lines of at most `width` columns. A longer word is cut.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in words::cleaned(text).split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        if !line.is_empty() && columns(&line) + 1 + word.len() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        while word.len() > width {
            lines.push(word.drain(..width).collect());
        }
        line.extend(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Wrapped text with every line indented, its first line by `first` instead; ends in a newline.
pub(crate) fn paragraph(text: &str, first: &str, indent: &str, width: usize) -> String {
    let inner = width.saturating_sub(columns(first).max(columns(indent)));
    let mut out = String::new();
    for (index, line) in wrapped(text, inner).iter().enumerate() {
        out.push_str(if index == 0 { first } else { indent });
        out.push_str(line);
        out.push('\n');
    }
    out
}
