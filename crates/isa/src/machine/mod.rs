//! The machine: registers, memory, traps, and the step from one instruction to the next.

mod control;
mod memory;
mod stop;
mod text;
mod timer;

use crate::decode::{Instruction, Op};
use crate::encode::{A0, A7, Register, SP};
use crate::step::{Access, Cause, Exception, Interrupt, Step, Trap};
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

/// The system call of Linux by which a program ends.
const EXIT: u32 = 93;

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

/// Why an instruction does not retire.
enum Halt {
    Trap(Trap),
    Stop(Stopped),
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
            match self.step() {
                Ok(step) => observe(&step),
                Err(stopped) => return stopped,
            }
        }
        Stopped::Limit
    }

    /// Carries out one instruction, or takes one trap.
    ///
    /// # Errors
    /// Why there is no further step. Nothing has changed then.
    // Inlined, so that what an observer does not look at is not computed.
    #[inline(always)]
    pub fn step(&mut self) -> Result<Step, Stopped> {
        let fetched = self.text.at(self.pc);
        if self.steps >= self.alarm
            && let Some(interrupt) = self.attend()?
            && (fetched.is_some() || self.leaving == Leaving::Traps)
        {
            return self.interrupt(fetched.unwrap_or(Instruction::ABSENT), interrupt);
        }
        match fetched {
            Some(instruction) => self.carry_out(instruction),
            None if self.leaving == Leaving::Traps => self.carry_out(Instruction::ABSENT),
            None => Err(Stopped::Left { pc: self.pc }),
        }
    }

    #[inline(always)]
    fn carry_out(&mut self, instruction: Instruction) -> Result<Step, Stopped> {
        let mut step = self.plan(instruction);
        match self.execute(instruction, &mut step) {
            Ok(value) => {
                self.registers[usize::from(instruction.rd & 31)] = value;
                self.registers[0] = 0;
            }
            Err(Halt::Stop(stopped)) => return Err(stopped),
            Err(Halt::Trap(trap)) => {
                step.next = self.enter(trap)?;
                step.writes = 0;
                step.trap = Some(trap);
            }
        }
        self.pc = step.next;
        self.steps += 1;
        Ok(step)
    }

    /// The step as it is if nothing comes in between.
    #[inline(always)]
    fn plan(&self, instruction: Instruction) -> Step {
        Step {
            pc: self.pc,
            next: self.pc.wrapping_add(u32::from(instruction.size)),
            size: instruction.size,
            kind: instruction.kind(),
            reads: [instruction.rs1, instruction.rs2],
            writes: instruction.rd,
            access: None,
            trap: None,
        }
    }

    /// Takes an interrupt before an instruction.
    #[cold]
    fn interrupt(
        &mut self,
        instruction: Instruction,
        interrupt: Interrupt,
    ) -> Result<Step, Stopped> {
        let trap = Trap { cause: Cause::Interrupt(interrupt), value: 0 };
        let next = self.enter(trap)?;
        let plan = self.plan(instruction);
        self.pc = next;
        self.steps += 1;
        // Nothing of the instruction is done, so that it waits for nothing, either.
        Ok(Step { next, reads: [0, 0], writes: 0, trap: Some(trap), ..plan })
    }

    /// Does what an instruction says: what `rd` is to hold.
    #[inline(always)]
    fn execute(&mut self, instruction: Instruction, step: &mut Step) -> Result<u32, Halt> {
        let immediate = instruction.immediate;
        let a = self.registers[usize::from(instruction.rs1 & 31)];
        let second = self.registers[usize::from(instruction.rs2 & 31)];
        // One of them is 0 unless this is a branch or a store.
        let b = second.wrapping_add(immediate);
        let address = a.wrapping_add(immediate);
        match instruction.op {
            Op::Add => Ok(a.wrapping_add(b)),
            Op::Sub => Ok(a.wrapping_sub(b)),
            Op::ShiftLeft => Ok(a.wrapping_shl(b)),
            Op::Less => Ok(u32::from((a as i32) < b as i32)),
            Op::LessUnsigned => Ok(u32::from(a < b)),
            Op::Xor => Ok(a ^ b),
            Op::ShiftRight => Ok(a.wrapping_shr(b)),
            Op::ShiftRightSigned => Ok((a as i32).wrapping_shr(b) as u32),
            Op::Or => Ok(a | b),
            Op::And => Ok(a & b),
            Op::AddPc => Ok(step.pc.wrapping_add(immediate)),
            Op::Mul => Ok(a.wrapping_mul(b)),
            Op::MulHigh => Ok(high(i64::from(a as i32) * i64::from(b as i32))),
            Op::MulHighSignedUnsigned => Ok(high(i64::from(a as i32) * i64::from(b))),
            Op::MulHighUnsigned => Ok(((u64::from(a) * u64::from(b)) >> 32) as u32),
            Op::Div if b == 0 => Ok(u32::MAX),
            Op::Div => Ok((a as i32).wrapping_div(b as i32) as u32),
            Op::DivUnsigned => Ok(a.checked_div(b).unwrap_or(u32::MAX)),
            Op::Rem if b == 0 => Ok(a),
            Op::Rem => Ok((a as i32).wrapping_rem(b as i32) as u32),
            Op::RemUnsigned => Ok(a.checked_rem(b).unwrap_or(a)),
            Op::Jump => self.go(step, step.pc.wrapping_add(immediate)),
            Op::JumpRegister => self.go(step, address & !1),
            Op::Equal => self.branch(step, a == second, immediate),
            Op::NotEqual => self.branch(step, a != second, immediate),
            Op::BranchLess => self.branch(step, (a as i32) < second as i32, immediate),
            Op::NotLess => self.branch(step, a as i32 >= second as i32, immediate),
            Op::BranchLessUnsigned => self.branch(step, a < second, immediate),
            Op::NotLessUnsigned => self.branch(step, a >= second, immediate),
            Op::LoadByte => self.load::<1>(step, address).map(|v| v as i8 as u32),
            Op::LoadHalf => self.load::<2>(step, address).map(|v| v as i16 as u32),
            Op::LoadWord => self.load::<4>(step, address),
            Op::LoadByteUnsigned => self.load::<1>(step, address),
            Op::LoadHalfUnsigned => self.load::<2>(step, address),
            Op::StoreByte => self.store(step, address, [second as u8]),
            Op::StoreHalf => self.store(step, address, (second as u16).to_le_bytes()),
            Op::StoreWord => self.store(step, address, second.to_le_bytes()),
            Op::CsrWrite | Op::CsrSet | Op::CsrClear => self.access_csr(instruction, a),
            Op::Fence => Ok(0),
            Op::FenceInstructions => {
                self.text.refresh(&self.memory);
                Ok(0)
            }
            Op::Call => self.call(),
            Op::Break => exception(Exception::Breakpoint, step.pc),
            Op::Return => {
                step.next = self.leave();
                Ok(0)
            }
            Op::Wait => self.wait().ok_or(Halt::Stop(Stopped::Asleep { pc: step.pc })).map(|()| 0),
            Op::Illegal => exception(Exception::Illegal, immediate),
            Op::Absent => exception(Exception::InstructionAccess, step.pc),
            Op::Cut => exception(Exception::InstructionAccess, step.pc.wrapping_add(2)),
        }
    }

    /// Goes to a target: what the link register is to hold.
    #[inline(always)]
    fn go(&self, step: &mut Step, target: u32) -> Result<u32, Halt> {
        if target & self.alignment_mask != 0 {
            return exception(Exception::InstructionMisaligned, target);
        }
        Ok(std::mem::replace(&mut step.next, target))
    }

    #[inline(always)]
    fn branch(&self, step: &mut Step, taken: bool, offset: u32) -> Result<u32, Halt> {
        if taken { self.go(step, step.pc.wrapping_add(offset)).map(|_| 0) } else { Ok(0) }
    }

    fn is_refused(&self, address: u32, bytes: u32) -> bool {
        self.misaligned == Misaligned::Trapped && !address.is_multiple_of(bytes)
    }

    /// The `N` bytes at an address, zero extended.
    #[inline(always)]
    fn load<const N: usize>(&mut self, step: &mut Step, address: u32) -> Result<u32, Halt> {
        step.access = Some(Access { address, bytes: N as u8, write: false });
        if self.is_refused(address, N as u32) {
            return exception(Exception::LoadMisaligned, address);
        }
        if let Some(bytes) = self.memory.read::<N>(address) {
            let mut word = [0; 4];
            word[..N].copy_from_slice(&bytes);
            return Ok(u32::from_le_bytes(word));
        }
        // The timer has words alone.
        let word = if N == 4 { self.timer.read(address, self.steps) } else { None };
        word.map_or_else(|| exception(Exception::LoadAccess, address), Ok)
    }

    #[inline(always)]
    fn store<const N: usize>(
        &mut self,
        step: &mut Step,
        address: u32,
        value: [u8; N],
    ) -> Result<u32, Halt> {
        step.access = Some(Access { address, bytes: N as u8, write: true });
        if self.is_refused(address, N as u32) {
            return exception(Exception::StoreMisaligned, address);
        }
        if self.memory.write(address, value).is_some() {
            self.text.stored(address, N as u32);
            return Ok(0);
        }
        self.store_to_timer(address, &value)
    }

    #[cold]
    fn store_to_timer(&mut self, address: u32, value: &[u8]) -> Result<u32, Halt> {
        let word = value.first_chunk().copied().map(u32::from_le_bytes);
        match word.and_then(|word| self.timer.write(address, word, self.steps)) {
            Some(()) => {
                self.set_alarm();
                Ok(0)
            }
            None => exception(Exception::StoreAccess, address),
        }
    }

    /// Reads and writes a csr: what `rd` is to hold.
    fn access_csr(&mut self, instruction: Instruction, register: u32) -> Result<u32, Halt> {
        let (csr, constant) = instruction.csr();
        // One of them is 0.
        let source = register | constant;
        let old = self.csr(csr);
        let new = old.map(|old| match instruction.op {
            Op::CsrSet => old | source,
            Op::CsrClear => old & !source,
            _ => source,
        });
        // To set or clear no bits by `x0` or by 0 is to read alone, which any csr allows.
        let reads_alone = instruction.op != Op::CsrWrite && instruction.rs1 == 0 && constant == 0;
        let written = match new {
            Some(new) if !reads_alone => self.write_csr(csr, new),
            other => other.map(|_| ()),
        };
        match (old, written) {
            (Some(old), Some(())) => Ok(old),
            _ => exception(Exception::Illegal, instruction.immediate),
        }
    }

    #[cold]
    fn call(&mut self) -> Result<u32, Halt> {
        if self.host_calls && self.register(A7) == EXIT {
            self.exited = Some(self.register(A0));
            self.set_alarm();
            return Ok(0);
        }
        exception(Exception::MachineCall, 0)
    }

    /// Where the next instruction lies.
    #[must_use]
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// What a register holds.
    #[must_use]
    pub fn register(&self, register: Register) -> u32 {
        self.registers[usize::from(register.number() & 31)]
    }

    /// What `x0` to `x31` hold.
    #[must_use]
    pub fn registers(&self) -> &[u32; 32] {
        &self.registers
    }

    /// Gives a register a value, as an argument of the program; `x0` stays 0.
    pub fn set_register(&mut self, register: Register, value: u32) {
        self.registers[usize::from(register.number() & 31)] = value;
        self.registers[0] = 0;
    }

    /// The bytes of memory from an address on; `None` where any of them is not there.
    #[must_use]
    pub fn bytes(&self, address: u32, count: usize) -> Option<&[u8]> {
        self.memory.bytes(address, count)
    }

    /// Where the program's instructions lie.
    #[must_use]
    pub fn text(&self) -> Range<u32> {
        self.text.range()
    }

    /// Instructions carried out so far, and traps taken.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Instructions that retired so far: steps without those in whose place a trap was taken.
    #[must_use]
    pub fn retired(&self) -> u64 {
        self.steps - self.trapped
    }

    /// The time of the timer, `mtime`: it goes on by one with each step, and by leaps where `wfi`
    /// waits.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.timer.time(self.steps)
    }
}

fn exception<T>(exception: Exception, value: u32) -> Result<T, Halt> {
    Err(Halt::Trap(Trap { cause: Cause::Exception(exception), value }))
}

/// The high half of a product.
const fn high(product: i64) -> u32 {
    (product >> 32) as u32
}

#[cfg(test)]
mod tests;
