//! The machine: registers, memory, traps, and the step from one instruction to the next.

mod atomic;
mod control;
mod execute;
mod files;
mod host;
mod memory;
mod serial;
mod stop;
mod text;
mod timer;

use crate::encode::{RA, Register, SP};
use crate::step::{Kind, Step, Trap};
use crate::{Error, Program};
use control::Control;
use host::Host;
use memory::Memory;
use std::collections::BTreeSet;
use std::ops::Range;
use text::Text;
use timer::Timer;

pub use files::Folder;
pub use host::OUTPUT_MAX_BYTES;
pub use memory::{MEMORY_MAX_BYTES, SEGMENTS_MAX};
pub use stop::Stopped;
pub use timer::{MSIP_ADDRESS, MTIME_ADDRESS, MTIMECMP_ADDRESS, TIMER_ADDRESS, TIMER_BYTES};

/// What is done with loads and stores whose address is no multiple of their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misaligned {
    /// They are carried out, as by most application processors and by qemu.
    CarriedOut,
    /// They trap, as on most small ones.
    Trapped,
}

/// What can be chosen of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Whether it has instructions of 16 bits. Without them, a jump to an address that is no
    /// multiple of 4 traps.
    pub compressed: bool,
    /// What is done with misaligned accesses.
    pub misaligned: Misaligned,
    /// Whether a host answers environment calls, semihosting and `tohost` (docs/machine.md lists
    /// them). Without it, they trap or do nothing.
    pub host: bool,
    /// The size of the stack in bytes, a multiple of 16.
    pub stack_bytes: u32,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            compressed: true,
            misaligned: Misaligned::CarriedOut,
            host: false,
            stack_bytes: 1 << 16,
        }
    }
}

/// One hart of RV32IMA with or without C, Zicsr, Zifencei and Zicntr, in machine mode alone.
///
/// It starts at the program's entry with `sp` above a stack, an address in `ra` where no memory is, and 0 in all
/// other registers: a program returns from its entry to that address, which no null pointer is.
#[derive(Clone, Debug)]
pub struct Machine {
    pc: u32,
    registers: [u32; 32],
    memory: Memory,
    text: Text,
    control: Control,
    timer: Timer,
    /// The external interrupt is wanted.
    external: bool,
    /// Instructions and traps so far.
    steps: u64,
    /// How many of them were traps.
    trapped: u64,
    /// Cycles so far: as many as the watcher of the steps says, else one for each.
    clock: u64,
    /// The cycle from which on interrupts and the end are to be looked at.
    alarm: u64,
    /// Whether the program has read a counter of cycles or the time.
    reads_clock: bool,
    /// The register into which the step before read the clock, and what that was before the step: it is read when
    /// the instruction ends, and how long that takes is known only then.
    late: Option<(u8, u64)>,
    /// What the program said when it asked to end.
    exited: Option<u32>,
    /// The first trap by an error from which no handler has returned, with its pc.
    fault: Option<(u32, Trap)>,
    /// How many there were since the last return.
    faults: u64,
    /// The first load or store where no memory is, with its pc.
    access_fault: Option<(u32, Trap)>,
    /// The retired instructions at the last `mret`, and how often the next one trapped where the trap before had.
    resumed: (u64, u64),
    /// The stack that it starts with.
    stack: Range<u32>,
    /// Labels of its instructions.
    labels: BTreeSet<u32>,
    /// The word that `lr.w` reserved.
    reserved: Option<u32>,
    /// Where the program goes that returns from its entry.
    home: u32,
    /// Where its instructions end.
    text_end: u32,
    /// Whether its entry is a function of C, whose result is a status.
    returns_status: bool,
    /// Steps outside of its instructions.
    outside: u64,
    host: Host,
    compressed: bool,
    /// Bits that an address of an instruction does not have.
    alignment_mask: u32,
    misaligned: Misaligned,
}

/// What an observer of a step says of its cycles.
pub trait Cycles {
    /// Returns how many the step took.
    fn cycles(self) -> u64;
}

/// One cycle for each step.
impl Cycles for () {
    #[inline(always)]
    fn cycles(self) -> u64 {
        1
    }
}

impl Cycles for u64 {
    #[inline(always)]
    fn cycles(self) -> u64 {
        self
    }
}

/// Where a program goes that returns from its entry, if no memory is there.
pub const HOME: u32 = 0xffff_fffc;

/// Addresses to which a program returns, of which the first is taken where no memory is.
const HOMES: [u32; 3] = [HOME, 0x7fff_fffc, 0];

impl Machine {
    /// A machine with a program in its memory.
    ///
    /// # Errors
    /// If the program does not fit: more than [`SEGMENTS_MAX`] segments, more than
    /// [`MEMORY_MAX_BYTES`] of memory with the stack, segments that lie over each other or over the timer, an entry or a text
    /// that is not aligned, or a stack whose size is no multiple of 16.
    pub fn new(program: &Program, setup: &Setup) -> Result<Self, Error> {
        let alignment_mask = if setup.compressed { 1 } else { 3 };
        let wrong = |what, value: u32, right| Error::Wrong { what, value: value.into(), right };
        if program.entry & alignment_mask != 0 {
            let right = if setup.compressed { "even" } else { "a multiple of 4" };
            return Err(wrong("the entry", program.entry, right));
        }
        if !setup.stack_bytes.is_multiple_of(16) {
            return Err(wrong("the size of the stack", setup.stack_bytes, "a multiple of 16"));
        }
        let (memory, top) = Memory::new(program, setup.stack_bytes)?;
        let text = Text::new(program, &memory, setup.compressed)?;
        let home = HOMES.into_iter().find(|&address| memory.bytes(address, 1).is_none());
        let home = home.unwrap_or_default();
        let entry = program.symbols.iter().find(|symbol| symbol.address == program.entry);
        let mut registers = [0; 32];
        registers[usize::from(SP.number())] = top;
        registers[usize::from(RA.number())] = home;
        Ok(Self {
            pc: program.entry,
            registers,
            memory,
            text,
            control: Control::default(),
            timer: Timer::new(),
            external: false,
            steps: 0,
            trapped: 0,
            clock: 0,
            alarm: u64::MAX,
            reads_clock: false,
            late: None,
            exited: None,
            fault: None,
            faults: 0,
            access_fault: None,
            resumed: (0, 0),
            stack: top - setup.stack_bytes..top,
            labels: program.symbols.iter().map(|symbol| symbol.address).collect(),
            reserved: None,
            home,
            text_end: program.text.end,
            returns_status: entry.is_some_and(|symbol| symbol.name == "main"),
            outside: 0,
            host: Host::new(program, setup.host),
            compressed: setup.compressed,
            alignment_mask,
            misaligned: setup.misaligned,
        })
    }

    /// Carries out at most `limit` steps and shows each to `observe`, which may return the cycles that the step
    /// took: the program reads these, and else one for each step. Says why it stopped; where that was the limit, a
    /// further call goes on.
    pub fn run<T: Cycles>(&mut self, limit: u64, mut observe: impl FnMut(&Step) -> T) -> Stopped {
        for _ in 0..limit {
            if let Err(stopped) = self.advance(&mut observe) {
                return stopped;
            }
        }
        Stopped::Limit
    }

    /// Carries out one instruction, or takes one trap, in one cycle.
    ///
    /// # Errors
    /// Why there is no further step. Nothing has changed then.
    pub fn step(&mut self) -> Result<Step, Stopped> {
        let mut seen = None;
        self.advance(&mut |step: &Step| seen = Some(*step))?;
        seen.ok_or(Stopped::Limit)
    }

    /// Lets time pass after a step that took more than one cycle.
    pub fn wait_cycles(&mut self, cycles: u64) {
        self.clock += cycles;
        self.settle();
    }

    /// Adds to what was read of the clock the cycles for which the instruction waited.
    fn settle(&mut self) {
        if let Some((register, from)) = self.late.take() {
            let waited = (self.clock - from).saturating_sub(1);
            let value = &mut self.registers[usize::from(register & 31)];
            *value = value.wrapping_add(waited as u32);
            self.registers[0] = 0;
        }
    }

    /// A step, shown to `observe` unless there is none.
    // Inlined into the loop together with the observer, so that what this does not look at is not
    // computed. The step is shown in one place and never returned: as a result it would be built in
    // memory, which takes half of the speed.
    #[inline(always)]
    fn advance<T: Cycles>(&mut self, observe: &mut impl FnMut(&Step) -> T) -> Result<(), Stopped> {
        let instruction = match self.text.at(self.pc) {
            Some(instruction) if self.clock < self.alarm => instruction,
            _ => self.attend()?,
        };
        let mut step = Step {
            pc: self.pc,
            next: self.pc.wrapping_add(u32::from(instruction.size)),
            size: instruction.size,
            kind: instruction.kind,
            reads: [instruction.rs1, instruction.rs2],
            writes: instruction.rd,
            offset: instruction.immediate as i32,
            access: None,
            trap: None,
        };
        if let Some(value) = self.execute(instruction, &mut step) {
            self.registers[usize::from(instruction.rd & 31)] = value;
            self.registers[0] = 0;
        } else {
            let trap = step.trap.ok_or_else(|| self.waits(&step))?;
            step.next = self.enter(trap)?;
            step.writes = 0;
        }
        self.pc = step.next;
        self.steps += 1;
        self.clock += observe(&step).cycles();
        Ok(())
    }

    /// Returns why there is nothing behind a `wfi` or a jump to itself.
    #[cold]
    fn waits(&mut self, step: &Step) -> Stopped {
        match (self.verdict(), step.kind) {
            (Some(status), _) => Stopped::Exited { status },
            (None, Kind::Jump) => Stopped::Circles { pc: step.pc },
            (None, _) => Stopped::Asleep { pc: step.pc },
        }
    }

    /// Where the next instruction lies.
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// What a register holds.
    pub fn register(&self, register: Register) -> u32 {
        self.registers[usize::from(register.number() & 31)]
    }

    /// What `x0` to `x31` hold.
    pub fn registers(&self) -> &[u32; 32] {
        &self.registers
    }

    /// Gives a register a value, as an argument of the program; `x0` stays 0.
    pub fn set_register(&mut self, register: Register, value: u32) {
        self.registers[usize::from(register.number() & 31)] = value;
        self.registers[0] = 0;
    }

    /// The bytes of memory from an address on; `None` where any of them is not there.
    pub fn bytes(&self, address: u32, count: usize) -> Option<&[u8]> {
        self.memory.bytes(address, count)
    }

    /// Steps so far whose instructions lay outside of the program's text: in its data, in the stack, or
    /// where it copied them.
    pub fn outside(&self) -> u64 {
        self.outside
    }

    /// Reports whether the program has read a counter of cycles or the time.
    pub fn reads_clock(&self) -> bool {
        self.reads_clock
    }

    /// Returns the address of the first load or store where no memory is, and the instruction's.
    pub fn access_fault(&self) -> Option<(u32, u32)> {
        self.access_fault.map(|(pc, trap)| (pc, trap.value))
    }

    /// Instructions carried out so far, and traps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Instructions that retired so far: steps without those in whose place a trap was taken.
    pub fn retired(&self) -> u64 {
        self.steps - self.trapped
    }

    /// The time of the timer, `mtime`: it goes on with the cycles, and by leaps where `wfi` waits.
    pub fn time(&self) -> u64 {
        self.timer.time(self.clock)
    }
}

#[cfg(test)]
mod tests;
