//! A row of letters of which each has its place and its colour.

use crate::text::paint;
use anstyle::{AnsiColor, Style};

/// The marks of lines and rows; a ninth begins again.
const MARKS: [char; 8] = ['●', '■', '◆', '▲', '▼', '○', '□', '◇'];

/// The colours that go with them. Red and green are left to the verdicts.
const COLOURS: [AnsiColor; 4] =
    [AnsiColor::Blue, AnsiColor::Magenta, AnsiColor::Cyan, AnsiColor::Yellow];

/// The mark of a style.
pub(super) fn mark(style: usize) -> char {
    // Beyond the first styles marks are hollow.
    MARKS[(style % MARKS.len() + style / MARKS.len() * 5) % MARKS.len()]
}

/// The colour of a style.
pub(in crate::chart) fn colour(style: usize) -> Style {
    COLOURS[style % COLOURS.len()].on_default()
}

/// Letters in a row, each one column wide.
#[derive(Clone, Debug)]
pub(in crate::chart) struct Strip(Vec<(char, Style)>);

impl Strip {
    /// An empty one.
    pub(in crate::chart) fn new(columns: usize) -> Self {
        Strip::filled(columns, ' ', Style::new())
    }

    /// Returns one of the same letter everywhere.
    pub(super) fn filled(columns: usize, letter: char, style: Style) -> Self {
        Strip(vec![(letter, style); columns])
    }

    /// Puts a letter somewhere; beyond the ends it is lost.
    pub(in crate::chart) fn put(&mut self, at: usize, letter: char, style: Style) {
        if let Some(cell) = self.0.get_mut(at) {
            *cell = (letter, style);
        }
    }

    /// Puts a letter where nothing stands.
    pub(super) fn put_under(&mut self, at: usize, letter: char, style: Style) {
        if self.0.get(at).is_some_and(|(known, _)| *known == ' ') {
            self.put(at, letter, style);
        }
    }

    /// Puts a word so that it begins at a column.
    pub(super) fn write(&mut self, at: usize, word: &str, style: Style) {
        for (index, letter) in word.chars().enumerate() {
            self.put(at + index, letter, style);
        }
    }

    /// With its colours; spaces at the end stay.
    pub(in crate::chart) fn painted(&self) -> String {
        let mut out = String::new();
        for run in self.0.chunk_by(|a, b| a.1 == b.1) {
            let letters: String = run.iter().map(|(letter, _)| letter).collect();
            let style = run[0].1;
            out.push_str(&if style.is_plain() { letters } else { paint(style, &letters) });
        }
        out
    }
}
