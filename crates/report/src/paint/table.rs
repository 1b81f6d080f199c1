//! Tables in a terminal: in columns where they fit, a wide one as several tables under each other, else row by
//! row. Nothing is cut.

use super::styled::{plain_words, style};
use crate::doc::{Column, Row, Table, Text, Tone};
use crate::text::{BOLD, DIM, WRAPPED_MIN, columns, padded, paint, wrapped};

/// What stands between two columns.
const GAP: usize = 2;

/// The fewest columns that a column of words is given before rows are written one under the other.
const WORDS_MIN: usize = 12;

/// The fewest columns for a text in the place of a row's numbers; with fewer it gets lines of its own.
const INSTEAD_MIN: usize = 40;

/// Returns a table as lines of at most `width` columns.
pub(super) fn lines(table: &Table, width: usize) -> Vec<String> {
    let words = |cell: &Text| wording::cleaned(&plain_words(cell));
    let cells = |row: &Row| row.cells.iter().chain(&row.instead).map(words).collect();
    let rows = table.rows.iter().map(|row| (row, cells(row))).collect();
    let words = Words { columns: table.columns.iter().collect(), rows };
    let parts = if table.kind == "wide" { words.parts(width) } else { None };
    match words.widths(width) {
        Some(widths) => words.in_columns(&widths, width),
        None => parts.unwrap_or_else(|| words.one_under_the_other(width)),
    }
}

/// A table with its cells as words.
struct Words<'t> {
    columns: Vec<&'t Column>,
    rows: Vec<(&'t Row, Vec<String>)>,
}

impl<'t> Words<'t> {
    /// Returns how wide each column is; `None` where words would have too little room.
    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let columns_of = |column: &Column| {
            // A head of numbers may take several lines, numbers may not.
            let words = column.head.split_whitespace().map(columns);
            match column.number {
                true => words.max().unwrap_or(0).max(columns(&column.head).min(WRAPPED_MIN)),
                false => columns(&column.head),
            }
        };
        let mut widths: Vec<usize> = self.columns.iter().copied().map(columns_of).collect();
        for (row, cells) in &self.rows {
            let counted = if row.instead.is_some() { 1 } else { widths.len() };
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
            let words = (0..widths.len()).filter(|index| !self.columns[*index].number);
            let widest = words.max_by_key(|index| widths[*index])?;
            if widths[widest] <= WORDS_MIN {
                return None;
            }
            widths[widest] = widths[widest].saturating_sub(over).max(WORDS_MIN);
        }
    }

    /// Returns tables of some columns each under the first, which names the rows; `None` where not two others fit
    /// side by side.
    fn parts(&self, width: usize) -> Option<Vec<String>> {
        let (mut begin, all) = (1, self.columns.len());
        let mut lines = Vec::new();
        while begin < all {
            let fits = |end: &usize| Some((*end, self.part(begin, *end).widths(width)?));
            let (end, widths) = (begin + 1..=all).rev().find_map(|end| fits(&end))?;
            if begin == 1 && end < 3 {
                return None;
            }
            lines.extend((begin > 1).then(String::new));
            lines.extend(self.part(begin, end).in_columns(&widths, width));
            begin = end;
        }
        Some(lines)
    }

    /// Returns the first column with those from `begin` to before `end`. A row without cells is in the first part.
    fn part(&self, begin: usize, end: usize) -> Self {
        let columns = [&self.columns[..1], &self.columns[begin..end]].concat();
        let rows = self.rows.iter().filter(|(row, _)| row.instead.is_none() || begin == 1);
        let cells = |(row, cells): &(&Row, Vec<String>)| match row.instead {
            Some(_) => cells.clone(),
            None => [&cells[..1], &cells[begin..end]].concat(),
        };
        Words { columns, rows: rows.map(|row| (row.0, cells(row))).collect() }
    }

    fn in_columns(&self, widths: &[usize], width: usize) -> Vec<String> {
        let columns = &self.columns;
        let numbers: Vec<bool> = columns.iter().map(|column| column.number).collect();
        let heads: Vec<String> = columns.iter().map(|column| column.head.clone()).collect();
        let mut lines = Vec::new();
        if heads.iter().any(|head| !head.is_empty()) {
            lines.extend(row(&heads, widths, &numbers).iter().map(|line| paint(DIM, line)));
        }
        for (one, cells) in &self.rows {
            let rest = widths[1..].iter().sum::<usize>() + GAP * widths.len().saturating_sub(2);
            let cell_lines = match one.instead {
                Some(_) if rest < INSTEAD_MIN.min(longest(cells)) => below(cells, width),
                Some(_) => row(cells, &[widths[0], rest], &[false, false]),
                None => row(cells, widths, &numbers),
            };
            lines.extend(cell_lines.into_iter().map(|line| toned(one.tone, line)));
        }
        lines
    }

    fn one_under_the_other(&self, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for (row, cells) in &self.rows {
            let columns = self.columns.iter().copied().zip(cells).enumerate();
            for (index, (Column { head, .. }, cell)) in
                columns.filter(|(_, (_, it))| !it.is_empty())
            {
                let headed = !head.is_empty() && index > 0;
                let text = if headed { format!("{head}: {cell}") } else { cell.clone() };
                let indent = if index == 0 { "" } else { "  " };
                let broken = wrapped(&text, width.saturating_sub(indent.len()));
                let cell_lines = broken.iter().map(|line| format!("{indent}{line}"));
                lines.extend(cell_lines.map(|line| match index {
                    0 => toned(row.tone, paint(BOLD, &line)),
                    _ => line,
                }));
            }
        }
        lines
    }
}

/// Returns how many columns the longest cell behind a name takes.
fn longest(cells: &[String]) -> usize {
    cells.iter().skip(1).map(|cell| columns(cell)).max().unwrap_or(0)
}

/// Returns a name, and under it a text in the place of its numbers.
fn below(cells: &[String], width: usize) -> Vec<String> {
    let (name, rest) = cells.split_at(cells.len().min(1));
    let rest = rest.iter().flat_map(|cell| wrapped(cell, width.saturating_sub(2)));
    let rest = rest.map(|line| format!("  {line}"));
    name.iter().flat_map(|cell| wrapped(cell, width)).chain(rest).collect()
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
