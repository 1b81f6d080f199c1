//! Who was where, cycle by cycle: a window of a pipeline's work as data.

use super::engine::Fetcher;
use super::{Parameters, Stage, Times};
use crate::{Kind, Step, Trap};

/// An instruction as the caller can tell it from its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its bytes, 2 or 4.
    pub size: u8,
    /// What to call it.
    pub text: String,
}

/// What a window of cycles looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// The instructions in the order in which they were fetched.
    pub rows: Vec<Row>,
    /// What happened, in the order of the rows.
    pub notes: Vec<Note>,
}

/// An instruction on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where it lies.
    pub pc: u32,
    /// What the caller calls it.
    pub text: String,
    /// What becomes of it.
    pub fate: Fate,
    /// The cycle of the first cell.
    pub start: u64,
    /// One cell per cycle, without gaps.
    pub cells: Vec<Cell>,
}

/// What becomes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is carried out.
    Retires,
    /// A trap is taken in its place.
    Traps,
    /// It was fetched behind one that goes elsewhere, and is flushed.
    WrongPath,
}

/// One cycle of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// The redirect is on its way to the instruction memory; nothing is fetched.
    Waits,
    /// It enters a stage.
    In(Stage),
    /// It stays in a stage: it is held up, or not done.
    Held(Stage),
    /// It is not there any more: it was flushed at the end of the cycle before.
    Flushed,
}

impl Cell {
    /// Returns a letter for it: the stage's, small where it is held up; `.` where a redirect waits, `x` where
    /// it was flushed.
    pub fn letter(self) -> char {
        match self {
            Cell::Waits => '.',
            Cell::In(stage) => stage.letter(),
            Cell::Held(stage) => stage.letter().to_ascii_lowercase(),
            Cell::Flushed => 'x',
        }
    }
}

/// Something that happened in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The row, counted from 0.
    pub row: usize,
    /// The cycle, which is the last one of the row's instruction in its resolving stage.
    pub cycle: u64,
    /// What happened.
    pub what: What,
}

/// What happens where an instruction goes elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// mepc, mcause and mtval are written, and the pc becomes the handler's.
    Trap {
        /// What mepc holds: where the instruction lies.
        mepc: u32,
        /// What mcause and mtval hold.
        trap: Trap,
        /// Where execution goes on.
        handler: u32,
    },
    /// `mret`: execution resumes where mepc says.
    Resumes {
        /// What mepc held.
        at: u32,
    },
    /// A taken branch or a jump.
    Goes {
        /// The target.
        to: u32,
    },
}

impl Drawing {
    /// Draws steps that followed each other, with the times that
    /// [`Pipeline::step`](super::Pipeline::step) returned for them under the same parameters.
    /// `code` says what lies at an address, also on the wrong path.
    pub fn new(
        parameters: &Parameters,
        steps: &[(Step, Times)],
        code: impl FnMut(u32) -> Code,
    ) -> Self {
        let drawing = Self { rows: Vec::new(), notes: Vec::new() };
        let mut pen = Pen { parameters, code, drawing, resumes: None };
        for (step, times) in steps {
            pen.instruction(step, times);
        }
        pen.drawing
    }

    /// The first cycle that is drawn, and the one behind the last.
    pub fn cycles(&self) -> std::ops::Range<u64> {
        let start = self.rows.iter().map(|row| row.start).min().unwrap_or(0);
        let end = self.rows.iter().map(|row| row.start + row.cells.len() as u64).max();
        start..end.unwrap_or(start)
    }
}

impl Row {
    /// The cell of a cycle, if the instruction has one then.
    pub fn cell(&self, cycle: u64) -> Option<Cell> {
        let place = usize::try_from(cycle.checked_sub(self.start)?).ok()?;
        self.cells.get(place).copied()
    }
}

struct Pen<'a, F> {
    parameters: &'a Parameters,
    code: F,
    drawing: Drawing,
    /// The cycle in which the row before went elsewhere.
    resumes: Option<u64>,
}

impl<F: FnMut(u32) -> Code> Pen<'_, F> {
    fn instruction(&mut self, step: &Step, times: &Times) {
        let depth = self.parameters.depth;
        let flushed = times.turns.map(|stage| times.leaves(stage, depth));
        // What traps gets no further than the stage that says so; a branch does.
        let last = if step.trap.is_some() { flushed } else { None };
        let start = self.resumes.take().map_or(times.fetch, |redirected| redirected);
        let mut cells = vec![Cell::Waits; times.fetch.saturating_sub(start) as usize];
        self.cells(times, last, &mut cells);
        let fate = if step.trap.is_some() { Fate::Traps } else { Fate::Retires };
        let text = (self.code)(step.pc).text;
        self.drawing.rows.push(Row { pc: step.pc, text, fate, start, cells });
        if let Some(flushed) = flushed {
            let what = match (step.trap, step.kind) {
                (Some(trap), _) => What::Trap { mepc: step.pc, trap, handler: step.next },
                (None, Kind::Return) => What::Resumes { at: step.next },
                (None, _) => What::Goes { to: step.next },
            };
            let row = self.drawing.rows.len() - 1;
            self.drawing.notes.push(Note { row, cycle: flushed.saturating_sub(1), what });
            self.wrong_paths(step, times, flushed);
            self.resumes = Some(flushed);
        }
    }

    /// The cells of an instruction up to a cycle, or to the last stage.
    fn cells(&self, times: &Times, until: Option<u64>, cells: &mut Vec<Cell>) {
        let depth = self.parameters.depth;
        for stage in Stage::ALL.into_iter().filter(|stage| depth.index(*stage).is_some()) {
            let entered = times.enters(stage, depth);
            let left = times.leaves(stage, depth).min(until.unwrap_or(u64::MAX));
            let cell = |cycle| if cycle == entered { Cell::In(stage) } else { Cell::Held(stage) };
            cells.extend((entered..left).map(cell));
        }
    }

    /// What is fetched behind an instruction until it goes elsewhere: the following ones, and those at
    /// the target where that was predicted in vain.
    fn wrong_paths(&mut self, step: &Step, times: &Times, flushed: u64) {
        let mut fetcher = Fetcher::new(self.parameters);
        fetcher.words(step.pc, step.size);
        let follows = step.pc.wrapping_add(u32::from(step.size));
        if !times.guessed || step.redirects() {
            self.wrong_path(fetcher, follows, times, flushed);
            return;
        }
        let Parameters { predicted, depth, latency, .. } = *self.parameters;
        let turned = times.leaves(predicted, depth);
        self.wrong_path(fetcher, follows, times, turned);
        let latency = if predicted == Stage::Fetch { 0 } else { u64::from(latency.branch) };
        let before = Times { decode: turned + latency, ..*times };
        let target = step.pc.wrapping_add_signed(step.offset);
        self.wrong_path(Fetcher::new(self.parameters), target, &before, flushed);
    }

    /// What is fetched from an address on, behind an instruction, until it is flushed.
    fn wrong_path(&mut self, mut fetcher: Fetcher, mut pc: u32, before: &Times, flushed: u64) {
        let mut before = *before;
        while before.decode < flushed {
            let Code { size, text } = (self.code)(pc);
            let fetch = before.decode;
            let decode = (fetch + fetcher.words(pc, size).max(1)).max(before.execute);
            let execute = (decode + 1).max(before.after);
            let after = (execute + 1).max(before.memory);
            let memory = after + 1;
            let times = Times { fetch, decode, execute, after, memory, ..before };
            let mut cells = Vec::new();
            self.cells(&times, Some(flushed), &mut cells);
            cells.push(Cell::Flushed);
            self.drawing.rows.push(Row { pc, text, fate: Fate::WrongPath, start: fetch, cells });
            before = times;
            pc = pc.wrapping_add(u32::from(size));
        }
    }
}
