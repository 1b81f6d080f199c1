//! The cycles of each instruction, from those of the one before it.
//!
//! WB is never held up, so that five instants say all of an instruction, and what the one before it
//! did bounds them. Stepping the stages cycle by cycle gives the same (a property test).

use super::parameters::{Error, Parameters, Stage};
use super::{Cycles, Depth, Predictor};
use crate::{Cause, Kind, Step};

/// When an instruction was where, in cycles from 0, the first fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The cycle in which it entered IF.
    pub fetch: u64,
    /// The cycle in which it entered ID.
    pub decode: u64,
    /// The cycle in which it entered EX.
    pub execute: u64,
    /// The first cycle after EX.
    pub after: u64,
    /// The first cycle after the stage in which data memory answers: MEM, or WB of four stages.
    pub memory: u64,
    /// Whether it is a branch that was predicted taken.
    pub guessed: bool,
    /// The stage at whose end fetch goes elsewhere than it went on; where the branch was mispredicted,
    /// the one that resolves it.
    pub turns: Option<Stage>,
}

/// The cycles that a step's accesses to memory take beyond those of its stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Of its fetch.
    pub instruction: u32,
    /// Of its load or store.
    pub data: u32,
}

impl Times {
    /// An instruction that leaves EX before the first cycle.
    const START: Self =
        Self { fetch: 0, decode: 0, execute: 0, after: 0, memory: 1, guessed: false, turns: None };

    /// The cycle in which the instruction entered a stage.
    pub fn enters(&self, stage: Stage, depth: Depth) -> u64 {
        match stage {
            Stage::Fetch => self.fetch,
            Stage::Decode => self.decode,
            Stage::Execute => self.execute,
            Stage::Memory => self.after,
            Stage::WriteBack if depth == Depth::Five => self.memory,
            Stage::WriteBack => self.after,
        }
    }

    /// The first cycle in which it was not there any more.
    pub fn leaves(&self, stage: Stage, depth: Depth) -> u64 {
        match stage {
            Stage::Fetch => self.decode,
            Stage::Decode => self.execute,
            Stage::Execute => self.after,
            Stage::Memory => self.memory,
            Stage::WriteBack => self.memory + u64::from(depth == Depth::Five),
        }
    }
}

/// What a redirect is booked under.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Control,
    Trap,
    Return,
}

/// Where a step goes elsewhere, how long the redirect takes, and what it is booked under.
type Redirect = (Stage, u16, Loss);

impl Parameters {
    /// How a step goes elsewhere than fetch went on. Jumps and `mret` do even if their target happens to
    /// be the following instruction.
    #[inline(always)]
    fn redirect(&self, step: &Step, guessed: bool) -> Option<Redirect> {
        let latency = &self.latency;
        match step.trap.map(|trap| trap.cause) {
            Some(Cause::Exception(_)) => return Some((self.trap, latency.trap, Loss::Trap)),
            Some(Cause::Interrupt(_)) => return Some((self.trap, latency.interrupt, Loss::Trap)),
            None => {}
        }
        let register = (self.jump_register, latency.jump_register, Loss::Control);
        let branch = (self.branch, latency.branch, Loss::Control);
        match step.kind {
            Kind::Jump => Some((self.jump, latency.jump, Loss::Control)),
            Kind::Return => Some((self.trap_return, latency.trap_return, Loss::Return)),
            Kind::JumpRegister => Some(register),
            Kind::Branch => match (guessed, step.redirects()) {
                (false, false) => None,
                // What a buffer of targets says is known in IF.
                (true, true) if self.predicted == Stage::Fetch => {
                    Some((self.predicted, 0, Loss::Control))
                }
                (true, true) => Some((self.predicted, latency.branch, Loss::Control)),
                (true, false) | (false, true) => Some(branch),
            },
            // The machine yields none such; a step written by hand that goes elsewhere for no
            // reason of its kind costs what a jump through a register does.
            _ => step.redirects().then_some(register),
        }
    }

    /// How many cycles after its own EX a result can be used in EX.
    fn delay(&self, kind: Kind) -> u64 {
        let times = Times::START;
        if !self.forwarding {
            // Written in the first half of WB and read in the second (Patterson and Hennessy).
            return times.enters(Stage::WriteBack, self.depth) + 1;
        }
        let made = match kind {
            Kind::Load => self.loaded,
            Kind::Multiply => self.multiplied,
            _ => Stage::Execute,
        };
        times.leaves(made, self.depth)
    }

    /// What a step costs by its kind alone.
    fn cost(&self, kind: Kind) -> Cost {
        let extra = match kind {
            Kind::Multiply => self.multiply,
            Kind::Divide => self.divide,
            Kind::Csr => self.csr,
            _ => 0,
        };
        let early = match kind {
            Kind::Branch => self.branch == Stage::Decode,
            Kind::JumpRegister => self.jump_register == Stage::Decode,
            _ => false,
        };
        let early = u16::from(early && self.forwarding);
        let ordinary = matches!(
            kind,
            Kind::Alu | Kind::Load | Kind::Store | Kind::Branch | Kind::Jump | Kind::JumpRegister
        );
        let behind_memory = if ordinary { 0 } else { self.behind_memory };
        Cost { extra, early, delay: self.delay(kind) as u16, behind_memory }
    }
}

/// All kinds, each at the place of its number (a test holds it).
pub(super) const KINDS: [Kind; 15] = [
    Kind::Alu,
    Kind::Multiply,
    Kind::Divide,
    Kind::Load,
    Kind::Store,
    Kind::Branch,
    Kind::Jump,
    Kind::JumpRegister,
    Kind::Csr,
    Kind::Fence,
    Kind::Call,
    Kind::Break,
    Kind::Return,
    Kind::Wait,
    Kind::Illegal,
];

/// What a step costs by its kind alone, in cycles.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// Beyond the first in EX.
    extra: u16,
    /// By how much its operands are needed before EX.
    early: u16,
    /// From the end of its EX to that in which its result can be used.
    delay: u16,
    /// By how much it waits to follow a load or store.
    behind_memory: u16,
}

/// The words that instructions are fetched in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fetcher {
    bytes: u32,
    shift: u32,
    /// The word that is there.
    kept: Option<u32>,
}

impl Fetcher {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let bytes = u32::from(parameters.fetch_bytes);
        Self { bytes, shift: bytes.trailing_zeros(), kept: None }
    }

    /// How many words have to be fetched for an instruction.
    #[inline]
    pub(super) fn words(&mut self, pc: u32, size: u8) -> u64 {
        let behind_first = u32::from(size.max(1)) - 1;
        let crossed = ((pc & (self.bytes - 1)) + behind_first) >> self.shift;
        let there = self.kept == Some(pc >> self.shift);
        self.kept = Some(pc.wrapping_add(behind_first) >> self.shift);
        u64::from(crossed) + u64::from(!there)
    }

    /// What comes next is elsewhere.
    pub(super) fn forget(&mut self) {
        self.kept = None;
    }
}

/// A pipeline and what it has done so far.
#[derive(Clone, Debug)]
pub struct Pipeline {
    parameters: Parameters,
    fetcher: Fetcher,
    predictor: Predictor,
    /// Of the step before: when it entered ID and EX, and left EX and the stage of data memory.
    last: [u64; 4],
    /// Where the step before went elsewhere: the cycle of the fetch from its target.
    redirect: Option<(u64, Loss)>,
    /// Whether the step before went on to the next and did not wait for data.
    is_settled: bool,
    /// By register, the earliest cycle in which a user of its value can be in EX.
    usable: [u64; 32],
    /// The cycle after the last load or store left EX.
    accessed: u64,
    /// By kind, in the order of [`KINDS`].
    costs: [Cost; KINDS.len()],
    cycles: Cycles,
    fetches: u64,
}

impl Pipeline {
    /// An empty pipeline.
    ///
    /// # Errors
    /// If such a pipeline cannot be ([`Parameters::check`]).
    pub fn new(parameters: Parameters) -> Result<Self, Error> {
        parameters.check()?;
        Ok(Self {
            parameters,
            fetcher: Fetcher::new(&parameters),
            predictor: Predictor::new(parameters.prediction)?,
            // As if an instruction had gone just before, so that the first one waits for nothing.
            last: [0, 1, 2, 3],
            redirect: None,
            is_settled: false,
            usable: [0; 32],
            accessed: 0,
            costs: KINDS.map(|kind| parameters.cost(kind)),
            cycles: Cycles::default(),
            fetches: 0,
        })
    }

    /// The step that comes next in the program, and how many lines of the instruction cache its
    /// fetch missed; 0 without a cache. The low five bits of a register's number identify it.
    #[inline]
    pub fn step(&mut self, step: &Step, missed_lines: u8) -> Times {
        let instruction = u32::from(missed_lines) * u32::from(self.parameters.miss);
        self.step_waiting(step, Waits { instruction, data: 0 })
    }

    /// The same with the cycles that its accesses to memory wait. What traps has no data access.
    #[inline(always)]
    pub fn step_waiting(&mut self, step: &Step, waits: Waits) -> Times {
        let words = self.fetcher.words(step.pc, step.size);
        self.fetches += words;
        let cost = self.costs[step.kind as usize];
        let guessed = step.kind == Kind::Branch && self.predictor.step(step);
        let redirect = self.parameters.redirect(step, guessed);
        let turns = redirect.map(|(stage, ..)| stage);
        let is_usual = self.is_settled && words <= 1 && step.trap.is_none();
        let times = if is_usual && waits == Waits::default() {
            self.settled(step, cost)
        } else {
            self.unsettled(step, cost, words, waits)
        };
        let times = Times { guessed, turns, ..times };
        self.goes_on(step, times, cost, redirect);
        times
    }

    /// Returns the times of a step that is fetched in one cycle and waits for no memory, behind one that went
    /// on to it and did not wait either. These are most steps, and [`Pipeline::unsettled`] gives the same.
    #[inline(always)]
    fn settled(&mut self, step: &Step, cost: Cost) -> Times {
        let [last_decode, last_execute, last_after, _] = self.last;
        let execute = last_after.max(self.operands(step, cost));
        self.cycles.data += execute - last_after;
        self.cycles.execution += u64::from(cost.extra);
        self.cycles.retired += 1;
        let after = execute + 1 + u64::from(cost.extra);
        Times {
            fetch: last_decode,
            decode: last_execute,
            execute,
            after,
            memory: after + 1,
            ..Times::START
        }
    }

    /// Returns the times of any step.
    #[inline(never)]
    fn unsettled(&mut self, step: &Step, cost: Cost, words: u64, waits: Waits) -> Times {
        let miss = u64::from(waits.instruction);
        let again = words.saturating_sub(1);
        let is_trap = step.trap.is_some();
        let extra = if is_trap { 0 } else { u64::from(cost.extra) };
        let wait = if is_trap { 0 } else { u64::from(waits.data) };

        let [last_decode, last_execute, last_after, last_memory] = self.last;
        let fetch = self.redirect.map_or(last_decode, |(resumes, _)| resumes);
        let decode = (fetch + 1 + again + miss).max(last_execute);
        let arrives = (decode + 1).max(last_after);
        let execute = arrives.max(self.operands(step, cost));
        let done = execute + 1 + extra;
        let after = done.max(last_memory);
        let memory = after + 1 + wait;

        // The cycles in which EX was empty because nothing came to it. Causes in IF follow each other
        // in time, redirect, miss, second fetch; what EX did meanwhile hides the first of them.
        let late = (decode + 1).saturating_sub(last_after);
        let cycles = &mut self.cycles;
        if late > 0 {
            let fetching = late.min(again);
            let missing = (late - fetching).min(miss);
            match self.redirect {
                Some((_, Loss::Control)) => cycles.control += late - fetching - missing,
                Some((_, Loss::Trap)) => cycles.trap += late - fetching - missing,
                Some((_, Loss::Return)) => cycles.trap_return += late - fetching - missing,
                None => {}
            }
            cycles.fetch += fetching;
            cycles.miss += missing;
        }
        let blocked = execute - arrives;
        cycles.data += blocked;
        // What a step waits for data is lost at once, as nobody may come behind it.
        cycles.memory += wait;
        if last_memory > last_after + 1 {
            // The step before did: the cycles in which it holds up this one. Where this one waits for an
            // operand meanwhile, that is the cause.
            let waiting = execute.min(last_memory).saturating_sub(arrives.max(last_after + 1));
            let waiting = waiting.min(blocked);
            cycles.data -= waiting;
            cycles.memory =
                cycles.memory + waiting + (after - done) - (last_memory - last_after - 1);
        }
        cycles.execution += extra;
        cycles.fill = u64::from(self.parameters.depth.stages()) - 1;
        if is_trap {
            cycles.trapped += 1;
        } else {
            cycles.retired += 1;
        }
        Times { fetch, decode, execute, after, memory, ..Times::START }
    }

    /// The earliest cycle in which a step's operands let it be in EX.
    #[inline]
    fn operands(&self, step: &Step, cost: Cost) -> u64 {
        // An interrupted instruction is fetched and not carried out.
        if !self.parameters.hazards
            || step.trap.is_some_and(|trap| matches!(trap.cause, Cause::Interrupt(_)))
        {
            return 0;
        }
        // One by one: read together, they would wait for the two stores of the machine.
        let first = self.usable[usize::from(step.reads[0] & 31)];
        let second = self.usable[usize::from(step.reads[1] & 31)];
        let ready = first.max(second) + u64::from(cost.early);
        ready.max(self.accessed + u64::from(cost.behind_memory))
    }

    /// Notes what the next step has to know of this one.
    // Inlined: the instants would go through memory, and every step wait for those of the last.
    #[inline(always)]
    fn goes_on(&mut self, step: &Step, times: Times, cost: Cost, redirect: Option<Redirect>) {
        let waited = times.memory - times.after - 1;
        if step.trap.is_none() && step.writes & 31 != 0 {
            // A value that is waited for comes with its line, wherever another would come.
            let delay = u64::from(if waited > 0 { cost.delay.max(1) } else { cost.delay });
            self.usable[usize::from(step.writes & 31)] = times.after + delay + waited;
        }
        if step.trap.is_none() && matches!(step.kind, Kind::Load | Kind::Store) {
            self.accessed = times.after;
        }
        self.redirect = redirect.map(|(stage, latency, loss)| {
            (times.leaves(stage, self.parameters.depth) + u64::from(latency), loss)
        });
        if self.redirect.is_some() {
            self.fetcher.forget();
        }
        self.is_settled = redirect.is_none() && waited == 0;
        self.last = [times.decode, times.execute, times.after, times.memory];
    }

    /// How its branches were predicted.
    pub fn predictor(&self) -> &Predictor {
        &self.predictor
    }

    /// Cycles by cause, from the first fetch to the write-back of the last step. What the last step
    /// loses behind it is not in it: nothing came after.
    pub fn cycles(&self) -> &Cycles {
        &self.cycles
    }

    /// What is built.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// How many fetch words were fetched, without those of the wrong path.
    pub fn fetches(&self) -> u64 {
        self.fetches
    }
}
