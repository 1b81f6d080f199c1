//! Tables in a terminal: in columns where they fit, else row by row. Nothing is cut.

use super::terminal::{plain_words, style};
use crate::doc::{Table, Tone};
use crate::text::{BOLD, DIM, WRAPPED_MIN, columns, padded, paint, wrapped};
use crate::words;

/// What stands between two columns.
const GAP: usize = 2;

/// The fewest columns that a column of words is given before rows are written one under the other.
const WORDS_MIN: usize = 12;

/// Returns a table as lines of at most `width` columns.
pub(super) fn lines(table: &Table, width: usize) -> Vec<String> {
    let head = table.columns.iter().map(|column| column.head.clone()).collect();
    let mut rows = Rows { head, ..Rows::default() };
    for row in &table.rows {
        let cells = row.cells.iter().chain(&row.instead);
        rows.push(row.tone, cells.map(plain_words).collect());
        rows.instead.push(row.instead.is_some());
    }
    let numbers: Vec<bool> = table.columns.iter().map(|column| column.number).collect();
    rows.lines(&numbers, width)
}

/// The cells of a table as words.
#[derive(Default)]
pub(super) struct Rows {
    /// Empty where columns have no heads.
    head: Vec<String>,
    rows: Vec<(Tone, Vec<String>)>,
    /// Whether the second cell of a row stands in the place of all further ones.
    instead: Vec<bool>,
}

impl Rows {
    /// Appends a row.
    pub(super) fn push(&mut self, tone: Tone, cells: Vec<String>) {
        self.rows.push((tone, cells.iter().map(|cell| words::cleaned(cell)).collect()));
    }

    /// Returns the lines; `numbers` says which columns hold numbers.
    pub(super) fn lines(&self, numbers: &[bool], width: usize) -> Vec<String> {
        match self.widths(numbers, width) {
            Some(widths) => self.in_columns(&widths, numbers),
            None => self.one_under_the_other(width),
        }
    }

    /// Returns how wide each column is; `None` where words would have too little room.
    fn widths(&self, numbers: &[bool], width: usize) -> Option<Vec<usize>> {
        let mut widths = vec![0; numbers.len()];
        for (index, head) in self.head.iter().enumerate() {
            // A head of numbers may take several lines, numbers may not.
            let words = head.split_whitespace().map(columns);
            widths[index] = match numbers[index] {
                true => words.max().unwrap_or(0).max(columns(head).min(WRAPPED_MIN)),
                false => columns(head),
            };
        }
        for (row, (_, cells)) in self.rows.iter().enumerate() {
            let counted = if self.is_instead(row) { 1 } else { numbers.len() };
            for (index, cell) in cells.iter().enumerate().take(counted) {
                widths[index] = widths[index].max(columns(cell));
            }
        }
        let gaps = GAP * widths.len().saturating_sub(1);
        loop {
            let over = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
            if over == 0 {
                return Some(widths);
            }
            let words = (0..widths.len()).filter(|index| !numbers[*index]);
            let widest = words.max_by_key(|index| widths[*index])?;
            if widths[widest] <= WORDS_MIN {
                return None;
            }
            widths[widest] = widths[widest].saturating_sub(over).max(WORDS_MIN);
        }
    }

    fn is_instead(&self, row: usize) -> bool {
        self.instead.get(row).copied().unwrap_or(false)
    }

    fn in_columns(&self, widths: &[usize], numbers: &[bool]) -> Vec<String> {
        let head = row(&self.head, widths, numbers);
        let mut lines: Vec<String> = head.iter().map(|line| paint(DIM, line)).collect();
        if self.head.iter().all(String::is_empty) {
            lines.clear();
        }
        for (index, (tone, cells)) in self.rows.iter().enumerate() {
            let rest = widths[1..].iter().sum::<usize>() + GAP * widths.len().saturating_sub(2);
            let cell_lines = match self.is_instead(index) {
                true => row(cells, &[widths[0], rest], &[false, false]),
                false => row(cells, widths, numbers),
            };
            lines.extend(cell_lines.into_iter().map(|line| toned(*tone, line)));
        }
        lines
    }

    fn one_under_the_other(&self, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for (tone, cells) in &self.rows {
            for (index, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
                let head = self.head.get(index).filter(|head| !head.is_empty() && index > 0);
                let text = head.map_or(cell.clone(), |head| format!("{head}: {cell}"));
                let indent = if index == 0 { "" } else { "  " };
                let broken = wrapped(&text, width.saturating_sub(indent.len()));
                let cell_lines = broken.iter().map(|line| format!("{indent}{line}"));
                lines.extend(cell_lines.map(|line| match index {
                    0 => toned(*tone, paint(BOLD, &line)),
                    _ => line,
                }));
            }
        }
        lines
    }
}

fn toned(tone: Tone, line: String) -> String {
    if tone == Tone::Plain { line } else { paint(style(tone), &line) }
}

/// Returns the lines of one row: a cell of words may take several.
fn row(cells: &[String], widths: &[usize], numbers: &[bool]) -> Vec<String> {
    let broken: Vec<Vec<String>> =
        cells.iter().zip(widths).map(|(cell, width)| wrapped(cell, *width)).collect();
    let height = broken.iter().map(Vec::len).max().unwrap_or(0);
    let mut lines = Vec::new();
    for at in 0..height {
        let mut line = String::new();
        for (index, cell) in broken.iter().enumerate() {
            let text = cell.get(at).map_or("", String::as_str);
            if index > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            if numbers[index] {
                line.push_str(&" ".repeat(widths[index].saturating_sub(columns(text))));
                line.push_str(text);
            } else {
                line.push_str(&padded(text, widths[index]));
            }
        }
        lines.push(line.trim_end().to_string());
    }
    lines
}
