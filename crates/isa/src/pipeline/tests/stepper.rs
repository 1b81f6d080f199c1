//! A pipeline that is stepped cycle by cycle: what is in each stage, and who may go on. It shares no
//! arithmetic with the engine. Bubbles are tokens that carry their cause from IF to EX.

use super::super::{Cycles, Depth, Parameters, Prediction, Stage};
use super::Fed;
use crate::{Cause, Kind, Step};
use std::collections::HashMap;

/// Who is in a stage.
#[derive(Clone, Copy, Debug)]
struct Guest {
    /// The step; none on the wrong path.
    step: Option<usize>,
    /// The order of fetching.
    number: usize,
    /// Cycles that it has still to spend on its work here.
    left: u64,
}

/// Why nothing comes out of IF.
#[derive(Clone, Copy, Debug)]
enum Why {
    Control,
    Trap,
    Return,
    Miss,
    Fetch,
    Start,
}

/// What was fetched: where, whether in vain, and in which stage it was in which cycle.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    pub(super) pc: u32,
    pub(super) wrong: bool,
    pub(super) seen: Vec<(u64, Stage)>,
}

pub(super) struct Stepper<'a> {
    parameters: Parameters,
    steps: &'a [Fed],
    /// Which of them are predicted taken.
    guesses: Vec<bool>,
    size: &'a dyn Fn(u32) -> u8,
    stages: [Option<Guest>; 5],
    /// The bubble in ID, where there is no guest.
    bubble: Why,
    /// The next step to be fetched.
    next: usize,
    /// The pc on the wrong path, if it is being fetched.
    wrong: Option<u32>,
    /// Nothing is fetched before this cycle, and why.
    resumes: (u64, Why),
    kept: Option<u32>,
    /// The cycle after the last load or store left EX.
    accessed: u64,
    /// The words of the guest in IF, that come after its misses.
    words: u64,
    /// Somebody waits for data memory and does not go on in this cycle.
    held: bool,
    now: u64,
    pub(super) cycles: Cycles,
    pub(super) trails: Vec<Trail>,
}

const IF: usize = 0;
const ID: usize = 1;
const EX: usize = 2;
const MEM: usize = 3;
const WB: usize = 4;

fn place(stage: Stage) -> usize {
    Stage::ALL.iter().position(|known| *known == stage).unwrap()
}

impl<'a> Stepper<'a> {
    pub(super) fn new(
        parameters: Parameters,
        steps: &'a [Fed],
        size: &'a dyn Fn(u32) -> u8,
    ) -> Self {
        Stepper {
            parameters,
            steps,
            guesses: guesses(parameters.prediction, steps),
            size,
            stages: [None; 5],
            bubble: Why::Start,
            next: 0,
            wrong: None,
            resumes: (0, Why::Start),
            kept: None,
            accessed: 0,
            words: 0,
            held: false,
            now: 0,
            cycles: Cycles::default(),
            trails: Vec::new(),
        }
    }

    /// Steps until the last step has left.
    pub(super) fn run(mut self) -> Self {
        let mut gone = 0;
        while gone < self.steps.len() {
            assert!(self.now < 10_000_000, "the pipeline is stuck");
            self.fetch();
            self.note();
            gone += usize::from(self.cycle());
            self.now += 1;
        }
        self
    }

    /// The cycle that comes next.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// The stage in which data memory answers.
    fn data(&self) -> usize {
        if self.parameters.depth == Depth::Five { MEM } else { WB }
    }

    fn of(&self, guest: Guest) -> Option<&Step> {
        guest.step.map(|step| &self.steps[step].0)
    }

    /// The words that are fetched for an instruction, one after the other.
    fn fetched(&mut self, pc: u32, size: u8) -> u64 {
        let mut count = 0;
        for byte in 0..u32::from(size.max(1)) {
            let word = pc.wrapping_add(byte) / u32::from(self.parameters.fetch_bytes);
            if self.kept != Some(word) {
                count += 1;
                self.kept = Some(word);
            }
        }
        count
    }

    /// Somebody comes to an empty IF.
    fn fetch(&mut self) {
        if self.stages[IF].is_some() || self.now < self.resumes.0 {
            return;
        }
        let number = self.trails.len();
        let guest = if let Some(pc) = self.wrong {
            let size = (self.size)(pc);
            self.words = self.fetched(pc, size).max(1);
            self.wrong = Some(pc.wrapping_add(u32::from(size)));
            self.trails.push(Trail { pc, wrong: true, seen: Vec::new() });
            Guest { step: None, number, left: self.words }
        } else if let Some((step, missed, _)) = self.steps.get(self.next).copied() {
            self.words = self.fetched(step.pc, step.size).max(1);
            let miss = u64::from(missed) * u64::from(self.parameters.miss);
            self.trails.push(Trail { pc: step.pc, ..Trail::default() });
            let guest = Guest { step: Some(self.next), number, left: miss + self.words };
            let guessed = self.guesses[self.next];
            self.next += 1;
            if let Some((_, why)) = self.redirect(&step, guessed) {
                self.wrong = Some(step.pc.wrapping_add(u32::from(step.size)));
                // Whatever comes behind it, or does not, is lost to it.
                self.resumes.1 = why;
            }
            guest
        } else {
            return;
        };
        self.stages[IF] = Some(guest);
    }

    fn note(&mut self) {
        for stage in Stage::ALL {
            if let Some(guest) = self.stages[place(stage)] {
                self.trails[guest.number].seen.push((self.now, stage));
            }
        }
    }

    /// One cycle of work, and who goes on at its end. Whether a step left the pipeline.
    fn cycle(&mut self) -> bool {
        for stage in [IF, EX, self.data()] {
            if let Some(guest) = &mut self.stages[stage] {
                guest.left = guest.left.saturating_sub(1);
            }
        }
        let blocked = self.blocked();
        let mut left = Vec::new();
        let is_five = self.parameters.depth == Depth::Five;
        self.held = self.stages[self.data()].is_some_and(|guest| guest.left > 0);
        let done = if is_five || !self.held { self.stages[WB].take() } else { None };
        if let Some(guest) = done {
            left.push((WB, guest));
        }
        if is_five && !self.held {
            self.stages[WB] = self.stages[MEM].take();
            left.extend(self.stages[WB].map(|guest| (MEM, guest)));
        }
        self.leave_execute(&mut left);
        self.enter_execute(blocked, &mut left);
        self.leave_fetch(&mut left);
        // The oldest goes first: what it flushes goes nowhere.
        for (stage, guest) in left {
            self.redirects(stage, guest);
        }
        done.is_some_and(|guest| guest.step.is_some())
    }

    fn leave_execute(&mut self, left: &mut Vec<(usize, Guest)>) {
        let Some(guest) = self.stages[EX] else { return };
        if guest.left > 0 {
            self.cycles.execution += 1;
            return;
        }
        let data = self.data();
        if self.stages[data].is_some() {
            self.cycles.memory += 1;
            return;
        }
        self.stages[EX] = None;
        let wait = guest.step.map_or(0, |step| u64::from(self.steps[step].2));
        self.stages[data] = Some(Guest { left: 1 + wait, ..guest });
        left.push((EX, guest));
        let step = self.of(guest).copied();
        if step.is_some_and(|step| {
            step.trap.is_none() && matches!(step.kind, Kind::Load | Kind::Store)
        }) {
            self.accessed = self.now + 1;
        }
        match step {
            Some(step) if step.trap.is_some() => self.cycles.trapped += 1,
            Some(_) => self.cycles.retired += 1,
            None => {}
        }
    }

    fn enter_execute(&mut self, blocked: bool, left: &mut Vec<(usize, Guest)>) {
        if self.stages[EX].is_some() {
            return;
        }
        match self.stages[ID] {
            // As it was before anybody went on: a guest that came just now has not worked yet.
            Some(guest) if blocked || self.waits_for_memory(guest) => {
                let cause = if self.held { &mut self.cycles.memory } else { &mut self.cycles.data };
                *cause += 1;
            }
            Some(guest) => {
                let extra = self.of(guest).map_or(0, |step| self.extra(step));
                self.stages[EX] = Some(Guest { left: 1 + extra, ..guest });
                self.stages[ID] = None;
                left.push((ID, guest));
                if guest.step.is_none() {
                    self.book(self.resumes.1);
                }
            }
            None => self.book(self.bubble),
        }
    }

    /// Whether a guest may not follow the last load or store into EX yet.
    fn waits_for_memory(&self, guest: Guest) -> bool {
        let Some(step) = self.of(guest) else { return false };
        let interrupted = step.trap.is_some_and(|trap| matches!(trap.cause, Cause::Interrupt(_)));
        let waits = match step.kind {
            Kind::Alu | Kind::Load | Kind::Store => false,
            Kind::Branch | Kind::Jump | Kind::JumpRegister => false,
            _ => !interrupted,
        };
        waits && self.now + 1 < self.accessed + u64::from(self.parameters.behind_memory)
    }

    /// EX will be empty, or hold what is flushed: a cycle for its cause. Behind the last step it is
    /// nobody's.
    fn book(&mut self, why: Why) {
        let comes = self.next < self.steps.len()
            || self.stages[IF].is_some_and(|guest| guest.step.is_some());
        if !comes {
            self.cycles.memory += u64::from(self.held);
            return;
        }
        match why {
            Why::Control => self.cycles.control += 1,
            Why::Trap => self.cycles.trap += 1,
            Why::Return => self.cycles.trap_return += 1,
            Why::Miss => self.cycles.miss += 1,
            Why::Fetch => self.cycles.fetch += 1,
            Why::Start => {}
        }
    }

    fn leave_fetch(&mut self, left: &mut Vec<(usize, Guest)>) {
        if self.stages[ID].is_some() {
            return;
        }
        match self.stages[IF] {
            Some(guest) if guest.left == 0 => {
                self.stages[ID] = Some(guest);
                self.stages[IF] = None;
                left.push((IF, guest));
            }
            // The words come last: as many cycles are left as words beyond the first, or fewer.
            Some(guest) if guest.step.is_some() => {
                self.bubble = if guest.left < self.words { Why::Fetch } else { Why::Miss };
            }
            _ => self.bubble = self.resumes.1,
        }
    }

    /// The latency of a step that goes elsewhere.
    fn latency(&self, step: &Step) -> u16 {
        let latency = self.parameters.latency;
        match (step.trap.map(|trap| trap.cause), step.kind) {
            (Some(Cause::Exception(_)), _) => latency.trap,
            (Some(Cause::Interrupt(_)), _) => latency.interrupt,
            (None, Kind::Branch) => latency.branch,
            (None, Kind::Jump) => latency.jump,
            (None, Kind::Return) => latency.trap_return,
            (None, _) => latency.jump_register,
        }
    }

    /// Where a step goes elsewhere, and what its loss is booked under.
    fn redirect(&self, step: &Step, guessed: bool) -> Option<(Stage, Why)> {
        let parameters = &self.parameters;
        let elsewhere = step.next != step.pc.wrapping_add(u32::from(step.size));
        match (step.trap, step.kind) {
            (Some(_), _) => Some((parameters.trap, Why::Trap)),
            (None, Kind::Jump) => Some((parameters.jump, Why::Control)),
            (None, Kind::JumpRegister) => Some((parameters.jump_register, Why::Control)),
            (None, Kind::Return) => Some((parameters.trap_return, Why::Return)),
            (None, Kind::Branch) if elsewhere && guessed => {
                Some((parameters.predicted, Why::Control))
            }
            (None, Kind::Branch) if elsewhere || guessed => Some((parameters.branch, Why::Control)),
            _ => None,
        }
    }

    /// A guest has left a stage; if it is the one where it goes elsewhere, whoever is behind it is
    /// flushed.
    fn redirects(&mut self, stage: usize, guest: Guest) {
        let Some(number) = guest.step else { return };
        let (step, guessed) = (self.steps[number].0, self.guesses[number]);
        let Some((resolves, why)) = self.redirect(&step, guessed) else { return };
        let latency = self.latency(&step);
        let is_predicted = guessed && stage == place(self.parameters.predicted);
        if is_predicted && !step.redirects() {
            self.flush(guest, is_predicted, latency, why);
            self.wrong = Some(step.pc.wrapping_add_signed(step.offset));
        } else if place(resolves) == stage {
            self.flush(guest, is_predicted, latency, why);
            self.wrong = None;
        }
    }

    /// The instructions behind a guest are flushed, and fetch goes elsewhere.
    fn flush(&mut self, guest: Guest, is_predicted: bool, latency: u16, why: Why) {
        for behind in &mut self.stages {
            if behind.is_some_and(|other| other.number > guest.number) {
                *behind = None;
            }
        }
        let is_known = is_predicted && self.parameters.predicted == Stage::Fetch;
        let latency = if is_known { 0 } else { u64::from(latency) };
        self.resumes = (self.now + 1 + latency, why);
        self.bubble = why;
        self.kept = None;
    }

    fn extra(&self, step: &Step) -> u64 {
        let parameters = &self.parameters;
        u64::from(match (step.trap, step.kind) {
            (None, Kind::Multiply) => parameters.multiply,
            (None, Kind::Divide) => parameters.divide,
            (None, Kind::Csr) => parameters.csr,
            _ => 0,
        })
    }

    /// Whether the guest in ID has to stay there for an operand.
    fn blocked(&self) -> bool {
        let Some(step) = self.stages[ID].and_then(|guest| self.of(guest)) else { return false };
        if step.trap.is_some_and(|trap| matches!(trap.cause, Cause::Interrupt(_))) {
            return false;
        }
        let early = (step.kind == Kind::Branch && self.parameters.branch == Stage::Decode)
            || (step.kind == Kind::JumpRegister && self.parameters.jump_register == Stage::Decode);
        step.reads.iter().any(|register| *register != 0 && self.waits_for(*register, early))
    }

    /// Whether the youngest instruction ahead that makes a register has not got it ready.
    fn waits_for(&self, register: u8, early: bool) -> bool {
        for stage in [EX, MEM, WB] {
            let Some(guest) = self.stages[stage] else { continue };
            let Some(maker) = self.of(guest) else { continue };
            if maker.trap.is_some() || maker.writes != register {
                continue;
            }
            if !self.parameters.forwarding {
                return stage != WB || (stage == self.data() && guest.left > 0);
            }
            let waits = guest.step.is_some_and(|step| self.steps[step].2 > 0);
            let made = match maker.kind {
                Kind::Load => place(self.parameters.loaded),
                Kind::Multiply => place(self.parameters.multiplied),
                _ => EX,
            };
            let made = if waits { made.max(self.data()) } else { made };
            // At the end of this cycle it is there, or it was before.
            let ready = if early { stage > made } else { stage >= made && guest.left == 0 };
            return !ready;
        }
        false
    }
}

/// Which steps a predictor says are taken, from the branches before.
fn guesses(prediction: Prediction, steps: &[Fed]) -> Vec<bool> {
    let mut counters: HashMap<u32, i32> = HashMap::new();
    let mut outcomes: Vec<u32> = Vec::new();
    let mut guess = |step: &Step| {
        if step.kind != Kind::Branch || step.trap.is_some() {
            return false;
        }
        let taken = step.next != step.pc + u32::from(step.size);
        let word = step.pc / 4;
        let said = match prediction {
            Prediction::NotTaken => false,
            Prediction::Backward => step.offset <= 0,
            Prediction::OneBit { entries } => {
                counters.insert(word % entries, i32::from(taken)).unwrap_or(0) == 1
            }
            Prediction::TwoBit { entries } | Prediction::Gshare { entries } => {
                let length = entries.trailing_zeros() as usize;
                let is_global = matches!(prediction, Prediction::Gshare { .. });
                let last = outcomes.iter().rev().take(if is_global { length } else { 0 });
                let history: u32 = last.enumerate().map(|(age, outcome)| outcome << age).sum();
                let counter = counters.entry((word ^ history) % entries).or_insert(1);
                let said = *counter > 1;
                *counter = (*counter + if taken { 1 } else { -1 }).clamp(0, 3);
                said
            }
        };
        outcomes.push(u32::from(taken));
        said
    };
    steps.iter().map(|(step, ..)| guess(step)).collect()
}
