//! Writes a [`Drawing`] in 80 columns, for the page and for tests.

use isa::pipeline::{Cell, Drawing, Fate, Note, Row, What};
use std::fmt::Write as _;
use std::ops::Range;

/// Columns of a line.
const COLUMNS: usize = 80;

/// Columns of one cycle: a stage and a mark.
const CYCLE_COLUMNS: usize = 2;

/// Columns of an address, and of the name of an instruction.
const ADDRESS_COLUMNS: usize = 8;
const NAME_COLUMNS: usize = 18;

/// Cycles that stand side by side: a mark, the address, a space, the name and a space come first.
const CYCLES: usize = (COLUMNS - ADDRESS_COLUMNS - NAME_COLUMNS - 3) / CYCLE_COLUMNS;

/// What the marks mean, for the reader of the text.
const LEGEND: &str = "\
capital: enters a stage   small: stays there   .: redirect waits   x: flushed
!: traps; mepc is written   >: goes elsewhere   x before an address: wrong path
";

/// Returns the drawing as lines of at most 80 columns: instructions below each other, cycles side by
/// side, in several panels where one is not wide enough; then what happened, and a legend.
pub(crate) fn text(drawing: &Drawing) -> String {
    let cycles = drawing.cycles();
    let mut text = String::new();
    let mut start = cycles.start;
    while start < cycles.end {
        let end = cycles.end.min(start.saturating_add(CYCLES as u64));
        panel(drawing, &(start..end), &mut text);
        start = end;
    }
    for note in &drawing.notes {
        say(note, &mut text);
    }
    text.push_str(LEGEND);
    text
}

/// The rows that have a cell in some cycles, under the numbers of the cycles.
fn panel(drawing: &Drawing, cycles: &Range<u64>, text: &mut String) {
    let caption = format!("cycles {} to {}", cycles.start, cycles.end - 1);
    let columns = ADDRESS_COLUMNS + NAME_COLUMNS + 3;
    let mut tens = format!("{caption:columns$.columns$}");
    let mut units = " ".repeat(columns);
    for cycle in cycles.clone() {
        let ten = (cycle / 10 % 10).to_string();
        let _ = write!(tens, "{:2}", if cycle % 10 == 0 { ten.as_str() } else { "" });
        let _ = write!(units, "{} ", cycle % 10);
    }
    push(text, &tens);
    push(text, &units);
    for (number, row) in drawing.rows.iter().enumerate() {
        if cycles.clone().any(|cycle| row.cell(cycle).is_some()) {
            push(text, &line(drawing, number, row, cycles));
        }
    }
    text.push('\n');
}

fn line(drawing: &Drawing, number: usize, row: &Row, cycles: &Range<u64>) -> String {
    let mark = match row.fate {
        Fate::Retires => ' ',
        Fate::Traps => '!',
        Fate::WrongPath => 'x',
    };
    let mut line = format!("{mark}{:08x} {:NAME_COLUMNS$} ", row.pc, clip(&row.text));
    for cycle in cycles.clone() {
        let cell = match row.cell(cycle) {
            None => ' ',
            Some(Cell::Waits) => '.',
            Some(Cell::In(stage)) => stage.letter(),
            Some(Cell::Held(stage)) => stage.letter().to_ascii_lowercase(),
            Some(Cell::Flushed) => 'x',
        };
        let note = drawing.notes.iter().find(|note| note.row == number && note.cycle == cycle);
        let mark = match note.map(|note| note.what) {
            None => ' ',
            Some(What::Trap { .. }) => '!',
            Some(What::Goes { .. } | What::Resumes { .. }) => '>',
        };
        line.extend([cell, mark]);
    }
    line
}

/// A line without the spaces at its end.
fn push(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

/// A name in its columns, with a mark where it goes on.
fn clip(name: &str) -> String {
    if name.chars().count() <= NAME_COLUMNS {
        return name.to_owned();
    }
    name.chars().take(NAME_COLUMNS - 1).chain(['…']).collect()
}

/// What happened, in a line.
fn say(note: &Note, text: &mut String) {
    let _ = match note.what {
        What::Trap { mepc, trap, handler } => {
            let (cause, value) = (trap.cause.code(), trap.value);
            let _ = writeln!(
                text,
                "cycle {}: mepc = {mepc:08x}, mcause = {cause:08x}, mtval = {value:08x};",
                note.cycle
            );
            writeln!(text, "    goes on in the handler at {handler:08x}")
        }
        What::Resumes { at } => writeln!(text, "cycle {}: mret resumes at {at:08x}", note.cycle),
        What::Goes { to } => writeln!(text, "cycle {}: goes to {to:08x}", note.cycle),
    };
}
