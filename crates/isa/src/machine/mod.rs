//! The machine: registers, memory, traps, and the step from one instruction to the next.

mod control;
mod execute;
mod memory;
mod stop;
mod text;
mod timer;

use crate::encode::{Register, SP};
use crate::step::{Kind, Step};
use crate::{Error, Program};
use control::Control;
use memory::Memory;
use std::ops::Range;
use text::Text;
use timer::Timer;

pub use memory::{MEMORY_MAX_BYTES, SEGMENTS_MAX};
pub use stop::Stopped;
pub use text::TEXT_MAX_BYTES;
pub use timer::{MSIP_ADDRESS, MTIME_ADDRESS, MTIMECMP_ADDRESS, TIMER_ADDRESS, TIMER_BYTES};

/// What is done with loads and stores whose address is no multiple of their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misaligned {
    /// They are carried out, as by most application processors and by qemu.
    CarriedOut,
    /// They trap, as on most small ones.
    Trapped,
}

/// What happens where the pc leaves the program's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// The machine stops.
    Stops,
    /// An instruction access fault is raised.
    Traps,
}

/// What can be chosen of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Whether it has instructions of 16 bits. Without them, a jump to an address that is no
    /// multiple of 4 traps.
    pub compressed: bool,
    /// What is done with misaligned accesses.
    pub misaligned: Misaligned,
    /// What happens at the program's end.
    pub leaving: Leaving,
    /// Whether `ecall` with 93 in `a7` ends the program, as on Linux. All other calls trap.
    pub host_calls: bool,
    /// The size of the stack in bytes, a multiple of 16.
    pub stack_bytes: u32,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            compressed: true,
            misaligned: Misaligned::CarriedOut,
            leaving: Leaving::Stops,
            host_calls: false,
            stack_bytes: 1 << 16,
        }
    }
}

/// One hart of RV32IM with or without C, Zicsr, Zifencei and Zicntr, in machine mode alone.
///
/// It starts at the program's entry with `sp` above a stack and 0 in all other registers, so that a
/// program which returns from its entry goes to 0, where usually nothing is.
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
    /// The step before which interrupts and the end are to be looked at.
    alarm: u64,
    /// What the program said when it asked to end.
    exited: Option<u32>,
    compressed: bool,
    /// Bits that an address of an instruction does not have.
    alignment_mask: u32,
    misaligned: Misaligned,
    leaving: Leaving,
    host_calls: bool,
}

impl Machine {
    /// A machine with a program in its memory.
    ///
    /// # Errors
    /// If the program does not fit: more than [`SEGMENTS_MAX`] segments, more than
    /// [`MEMORY_MAX_BYTES`] of memory with the stack, instructions over more than
    /// [`TEXT_MAX_BYTES`], segments that lie over each other or over the timer, an entry or a text
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
        let text = Text::new(program.text.clone(), &memory, setup.compressed)?;
        let mut registers = [0; 32];
        registers[usize::from(SP.number())] = top;
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
            alarm: u64::MAX,
            exited: None,
            compressed: setup.compressed,
            alignment_mask,
            misaligned: setup.misaligned,
            leaving: setup.leaving,
            host_calls: setup.host_calls,
        })
    }

    /// Carries out at most `limit` steps and shows each to `observe`. Says why it stopped; where that
    /// was the limit, a further call goes on.
    pub fn run(&mut self, limit: u64, mut observe: impl FnMut(&Step)) -> Stopped {
        for _ in 0..limit {
            if let Err(stopped) = self.advance(&mut observe) {
                return stopped;
            }
        }
        Stopped::Limit
    }

    /// Carries out one instruction, or takes one trap.
    ///
    /// # Errors
    /// Why there is no further step. Nothing has changed then.
    pub fn step(&mut self) -> Result<Step, Stopped> {
        self.advance(|step| *step)
    }

    /// A step, shown to `observe` unless there is none: what that makes of it.
    // Inlined into the loop together with the observer, so that what this does not look at is not
    // computed. The step is shown in one place and never returned: as a result it would be built in
    // memory, which takes half of the speed.
    #[inline(always)]
    fn advance<T>(&mut self, observe: impl FnOnce(&Step) -> T) -> Result<T, Stopped> {
        let instruction = match self.text.at(self.pc) {
            Some(instruction) if self.steps < self.alarm => instruction,
            _ => self.attend()?,
        };
        let mut step = Step {
            pc: self.pc,
            next: self.pc.wrapping_add(u32::from(instruction.size)),
            size: instruction.size,
            kind: instruction.kind,
            reads: [instruction.rs1, instruction.rs2],
            writes: instruction.rd,
            access: None,
            trap: None,
        };
        if let Some(value) = self.execute(instruction, &mut step) {
            self.registers[usize::from(instruction.rd & 31)] = value;
            self.registers[0] = 0;
        } else {
            let trap = step.trap.ok_or(match step.kind {
                Kind::Jump => Stopped::Circles { pc: step.pc },
                _ => Stopped::Asleep { pc: step.pc },
            })?;
            step.next = self.enter(trap)?;
            step.writes = 0;
        }
        self.pc = step.next;
        self.steps += 1;
        Ok(observe(&step))
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

    /// Where the program's instructions lie.
    pub fn text(&self) -> Range<u32> {
        self.text.range()
    }

    /// Instructions carried out so far, and traps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Instructions that retired so far: steps without those in whose place a trap was taken.
    pub fn retired(&self) -> u64 {
        self.steps - self.trapped
    }

    /// The time of the timer, `mtime`: it goes on by one with each step, and by leaps where `wfi`
    /// waits.
    pub fn time(&self) -> u64 {
        self.timer.time(self.steps)
    }
}

#[cfg(test)]
mod tests;
