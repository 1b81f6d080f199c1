//! A [`Drawing`] in letters.

use super::{Cell, Drawing, Fate, Note, Operand, Row, Stage, What};
use crate::Cause;
use std::fmt::Write as _;
use std::ops::Range;

/// What a piece of the text is, for those who paint it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Captions, numbers of cycles, what is on the wrong path.
    Quiet,
    /// An instruction in a stage.
    In(Stage),
    /// An instruction that is held up in a stage.
    Held(Stage),
    /// What is flushed, and what traps.
    Lost,
    /// A mark beside a stage.
    Mark,
}

/// How a drawing is written.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    /// Columns of a line; as many cycles stand next to each other as there is room for.
    pub columns: usize,
    /// The cycles that are written; all where it is none.
    pub cycles: Option<(u64, u64)>,
    /// What is forwarded or waited for, with steps counted without those on the wrong path.
    pub operands: &'a [Operand],
    /// Paints a piece of text.
    pub paint: &'a dyn Fn(Ink, &str) -> String,
}

/// What the marks mean, for the reader of the text.
const LEGEND: &str = "\
F fetch, D decode, E execute, M memory, W write back; small: held there
<: operand forwarded   !: traps   >: goes elsewhere   .: redirect waits
x: flushed; x before an address: wrong path
";

/// The most names of instructions that are written out.
const NAME_COLUMNS_MAX: usize = 24;

/// The fewest.
const NAME_COLUMNS_MIN: usize = 10;

/// Columns of one cycle: a stage and a mark.
const CYCLE_COLUMNS: usize = 2;

impl Drawing {
    /// Returns what happened, by its cycles.
    pub fn said(&self, operands: &[Operand]) -> Vec<(u64, String)> {
        let look = Look { columns: 80, cycles: None, operands, paint: &|_, text| text.into() };
        Sheet::new(self, &look).said(&self.cycles())
    }

    /// Returns the drawing in lines: instructions below each other, cycles next to each other, in several panels
    /// where one is not wide enough, and below each what happened in it; then a legend.
    pub fn text(&self, look: &Look<'_>) -> String {
        let sheet = Sheet::new(self, look);
        let all = self.cycles();
        let (from, to) = look.cycles.unwrap_or((all.start, all.end));
        let cycles = from.max(all.start)..to.min(all.end);
        let mut text = String::new();
        let mut start = cycles.start;
        while start < cycles.end {
            let end = cycles.end.min(start.saturating_add(sheet.cycles));
            sheet.panel(&(start..end), &mut text);
            start = end;
        }
        let legend = LEGEND.lines().flat_map(|line| folded(line, look.columns));
        legend.for_each(|line| sheet.push(&mut text, Ink::Quiet, &line));
        text
    }
}

struct Sheet<'a> {
    drawing: &'a Drawing,
    look: &'a Look<'a>,
    /// Rows of the steps, without those on the wrong path.
    rows: Vec<usize>,
    address_columns: usize,
    name_columns: usize,
    /// Cycles next to each other.
    cycles: u64,
}

impl<'a> Sheet<'a> {
    fn new(drawing: &'a Drawing, look: &'a Look<'a>) -> Self {
        let steps = drawing.rows.iter().enumerate().filter(|(_, row)| row.fate != Fate::WrongPath);
        let longest = drawing.rows.iter().map(|row| row.text.chars().count()).max().unwrap_or(0);
        let address =
            drawing.rows.iter().map(|row| format!("{:x}", row.pc).len()).max().unwrap_or(1);
        // A narrow line has room for ten cycles at least.
        let room = look.columns.saturating_sub(address + 3 + 10 * CYCLE_COLUMNS);
        let name_columns = longest.min(NAME_COLUMNS_MAX).min(room).max(NAME_COLUMNS_MIN);
        let before = address + name_columns + 3;
        Self {
            drawing,
            look,
            rows: steps.map(|(at, _)| at).collect(),
            address_columns: address,
            name_columns,
            cycles: (look.columns.saturating_sub(before) / CYCLE_COLUMNS).max(4) as u64,
        }
    }

    fn push(&self, text: &mut String, ink: Ink, line: &str) {
        text.push_str(&(self.look.paint)(ink, line));
        text.push('\n');
    }

    /// The rows that have a cell in some cycles, under the numbers of the cycles.
    fn panel(&self, cycles: &Range<u64>, text: &mut String) {
        let columns = self.address_columns + self.name_columns + 3;
        let caption = format!("cycles {} to {}", cycles.start, cycles.end - 1);
        let mut tens = format!("{caption:columns$.columns$}");
        let mut units = " ".repeat(columns);
        for cycle in cycles.clone() {
            // The first of a panel says all that stands before its last digit.
            let ten = if cycle % 10 == 0 { (cycle / 10).to_string() } else { String::new() };
            let ten = ten.get(ten.len().saturating_sub(2)..).unwrap_or_default();
            let _ = write!(tens, "{ten:2}");
            let _ = write!(units, "{} ", cycle % 10);
        }
        self.push(text, Ink::Quiet, tens.trim_end());
        self.push(text, Ink::Quiet, units.trim_end());
        for (number, row) in self.drawing.rows.iter().enumerate() {
            if cycles.clone().any(|cycle| row.cell(cycle).is_some()) {
                text.push_str(self.line(number, row, cycles).trim_end());
                text.push('\n');
            }
        }
        let said = self.said(cycles);
        for (cycle, what) in said {
            for line in folded(&format!("cycle {cycle}: {what}"), self.look.columns) {
                self.push(text, Ink::Quiet, &line);
            }
        }
        text.push('\n');
    }

    fn line(&self, number: usize, row: &Row, cycles: &Range<u64>) -> String {
        let paint = self.look.paint;
        let (mark, ink) = match row.fate {
            Fate::Retires => (' ', None),
            Fate::Traps => ('!', Some(Ink::Lost)),
            Fate::WrongPath => ('x', Some(Ink::Quiet)),
        };
        let (address, names) = (self.address_columns, self.name_columns);
        let head = format!("{mark}{:0address$x} {:names$} ", row.pc, clip(&row.text, names));
        let mut line = ink.map_or(head.clone(), |ink| paint(ink, &head));
        // Spaces are written when something follows them, so that no line ends with painted ones.
        for cycle in cycles.clone() {
            let cell = row.cell(cycle);
            let ink = cell.map(|cell| match cell {
                Cell::Waits => Ink::Quiet,
                Cell::In(stage) => Ink::In(stage),
                Cell::Held(stage) => Ink::Held(stage),
                Cell::Flushed => Ink::Lost,
            });
            let cell = cell.map_or(' ', Cell::letter);
            let ink = if row.fate == Fate::WrongPath { ink.map(|_| Ink::Quiet) } else { ink };
            let cell = cell.to_string();
            line.push_str(&ink.map_or(cell.clone(), |ink| paint(ink, &cell)));
            match self.mark(number, cycle) {
                Some(mark) => line.push_str(&paint(Ink::Mark, mark)),
                None => line.push(' '),
            }
        }
        line
    }

    /// What stands beside a stage.
    fn mark(&self, row: usize, cycle: u64) -> Option<&'static str> {
        let note = self.drawing.notes.iter().find(|note| note.row == row && note.cycle == cycle);
        let forwarded = |operand: &&Operand| {
            operand.forwarded.is_some()
                && operand.cycle == cycle
                && self.rows.get(operand.user) == Some(&row)
        };
        match note.map(|note| note.what) {
            Some(What::Trap { .. }) => Some("!"),
            Some(What::Goes { .. } | What::Resumes { .. }) => Some(">"),
            None => self.look.operands.iter().find(forwarded).map(|_| "<"),
        }
    }

    /// What happened in some cycles, in their order.
    fn said(&self, cycles: &Range<u64>) -> Vec<(u64, String)> {
        let notes = self.drawing.notes.iter().filter(|note| cycles.contains(&note.cycle));
        let mut said: Vec<(u64, String)> =
            notes.map(|note| (note.cycle, self.note(note))).collect();
        let operands = self.look.operands.iter().filter(|operand| cycles.contains(&operand.cycle));
        said.extend(operands.map(|operand| (operand.cycle, self.operand(operand))));
        said.sort_by_key(|(cycle, _)| *cycle);
        said
    }

    fn name(&self, row: Option<&Row>) -> String {
        row.and_then(|row| row.text.split_whitespace().next()).unwrap_or("it").to_owned()
    }

    fn note(&self, note: &Note) -> String {
        let name = self.name(self.drawing.rows.get(note.row));
        match note.what {
            What::Trap { mepc, trap, handler } => {
                let (cause, code, value) = (trap.cause, trap.cause.code(), trap.value);
                let what = match cause {
                    Cause::Exception(_) => format!("{name} traps ({cause})"),
                    Cause::Interrupt(_) => format!("a {cause} comes before {name}"),
                };
                format!(
                    "{what}: mepc = {mepc:#x}, mcause = {code:#x}, mtval = {value:#x}; goes on in \
                     the handler at {handler:#x}"
                )
            }
            What::Resumes { at } => format!("{name} resumes at {at:#x}"),
            What::Goes { to } => format!("{name} goes to {to:#x}"),
        }
    }

    fn operand(&self, operand: &Operand) -> String {
        let row = |step: usize| self.rows.get(step).and_then(|row| self.drawing.rows.get(*row));
        let (user, maker) = (self.name(row(operand.user)), self.name(row(operand.maker)));
        let register = crate::assembly::register_name(operand.register);
        let from = match operand.forwarded {
            Some(stage) => format!("takes {register} from {} of {maker}", stage.name()),
            None => format!("reads {register}, which {maker} wrote"),
        };
        match operand.waited {
            0 => format!("{user} {from}"),
            1 => format!("{user} {from}, after waiting 1 cycle"),
            cycles => format!("{user} {from}, after waiting {cycles} cycles"),
        }
    }
}

/// A name in its columns, with a mark where it goes on.
fn clip(name: &str, columns: usize) -> String {
    if name.chars().count() <= columns {
        return name.to_owned();
    }
    name.chars().take(columns.saturating_sub(1)).chain(['…']).collect()
}

/// A sentence in lines; those behind the first are indented.
fn folded(sentence: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in sentence.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("    {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}
