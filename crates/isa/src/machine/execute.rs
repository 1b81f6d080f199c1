//! What each instruction does.

use super::{MTIME_ADDRESS, Machine, Misaligned};
use crate::csr;
use crate::decode::{Instruction, Op};
use crate::step::{Access, Cause, Exception, Interrupt, Step, Trap};

impl Machine {
    /// Does what an instruction says: what `rd` is to hold. `None` if it does not retire, with the trap
    /// in the step, or none where nothing can ever come: a `wfi`, or a jump to itself.
    #[inline(always)]
    pub(super) fn execute(&mut self, instruction: Instruction, step: &mut Step) -> Option<u32> {
        let immediate = instruction.immediate;
        let a = self.registers[usize::from(instruction.rs1 & 31)];
        let second = self.registers[usize::from(instruction.rs2 & 31)];
        // One of them is 0 unless this is a branch or a store.
        let b = second.wrapping_add(immediate);
        let address = a.wrapping_add(immediate);
        match instruction.op {
            Op::Add => Some(a.wrapping_add(b)),
            Op::Sub => Some(a.wrapping_sub(b)),
            Op::ShiftLeft => Some(a.wrapping_shl(b)),
            Op::Less => Some(u32::from((a as i32) < b as i32)),
            Op::LessUnsigned => Some(u32::from(a < b)),
            Op::Xor => Some(a ^ b),
            Op::ShiftRight => Some(a.wrapping_shr(b)),
            Op::ShiftRightSigned => Some((a as i32).wrapping_shr(b) as u32),
            Op::Or => Some(a | b),
            Op::And => Some(a & b),
            Op::AddPc => Some(step.pc.wrapping_add(immediate)),
            Op::Mul => Some(a.wrapping_mul(b)),
            Op::MulHigh => Some(high(i64::from(a as i32) * i64::from(b as i32))),
            Op::MulHighSignedUnsigned => Some(high(i64::from(a as i32) * i64::from(b))),
            Op::MulHighUnsigned => Some(((u64::from(a) * u64::from(b)) >> 32) as u32),
            Op::Div if b == 0 => Some(u32::MAX),
            Op::Div => Some((a as i32).wrapping_div(b as i32) as u32),
            Op::DivUnsigned => Some(a.checked_div(b).unwrap_or(u32::MAX)),
            Op::Rem if b == 0 => Some(a),
            Op::Rem => Some((a as i32).wrapping_rem(b as i32) as u32),
            Op::RemUnsigned => Some(a.checked_rem(b).unwrap_or(a)),
            Op::Jump => self.jump(step, immediate),
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
            Op::Atomic => self.atomic(step, immediate, a, second),
            Op::Csr => self.csr_instruction(step, immediate, a),
            Op::Fence => Some(0),
            Op::FenceInstructions => {
                self.text.refresh(&self.memory);
                Some(0)
            }
            Op::Call => self.host_call(step),
            Op::Break => self.semihosting_call(step),
            Op::Return => {
                step.next = self.leave();
                Some(0)
            }
            Op::Wait => self.wait().map(|()| 0),
            Op::Illegal => exception(step, Exception::Illegal, immediate),
            Op::Absent => exception(step, Exception::InstructionAccess, step.pc),
            Op::Cut => exception(step, Exception::InstructionAccess, step.pc.wrapping_add(2)),
            Op::SoftwareInterrupt => trap(step, Cause::Interrupt(Interrupt::Software), 0),
            Op::TimerInterrupt => trap(step, Cause::Interrupt(Interrupt::Timer), 0),
            Op::ExternalInterrupt => trap(step, Cause::Interrupt(Interrupt::External), 0),
        }
    }

    /// `jal`. `None`, and no trap, where it goes to itself and nothing can change that: the alarm never
    /// comes.
    #[inline(always)]
    fn jump(&self, step: &mut Step, offset: u32) -> Option<u32> {
        if offset == 0 && self.alarm == u64::MAX {
            return None;
        }
        self.go(step, step.pc.wrapping_add(offset))
    }

    /// Goes to a target: what the link register is to hold.
    #[inline(always)]
    fn go(&self, step: &mut Step, target: u32) -> Option<u32> {
        if target & self.alignment_mask != 0 {
            return exception(step, Exception::InstructionMisaligned, target);
        }
        Some(std::mem::replace(&mut step.next, target))
    }

    #[inline(always)]
    fn branch(&self, step: &mut Step, taken: bool, offset: u32) -> Option<u32> {
        if taken { self.go(step, step.pc.wrapping_add(offset)).map(|_| 0) } else { Some(0) }
    }

    fn is_refused(&self, address: u32, bytes: u32) -> bool {
        self.misaligned == Misaligned::Trapped && !address.is_multiple_of(bytes)
    }

    /// The `N` bytes at an address, zero extended.
    #[inline(always)]
    fn load<const N: usize>(&mut self, step: &mut Step, address: u32) -> Option<u32> {
        step.access = Some(Access { address, bytes: N as u8, write: false });
        if self.is_refused(address, N as u32) {
            return exception(step, Exception::LoadMisaligned, address);
        }
        if let Some(bytes) = self.memory.read::<N>(address) {
            let mut word = [0; 4];
            word[..N].copy_from_slice(&bytes);
            return Some(u32::from_le_bytes(word));
        }
        // The timer has words alone.
        let word = if N == 4 { self.read_timer(address, step.writes) } else { None };
        let word = word.or_else(|| self.read_port(address));
        word.or_else(|| exception(step, Exception::LoadAccess, address))
    }

    #[inline(always)]
    pub(super) fn store<const N: usize>(
        &mut self,
        step: &mut Step,
        address: u32,
        value: [u8; N],
    ) -> Option<u32> {
        step.access = Some(Access { address, bytes: N as u8, write: true });
        if self.is_refused(address, N as u32) {
            return exception(step, Exception::StoreMisaligned, address);
        }
        if self.memory.write(address, value).is_some() {
            self.text.stored(address, N as u32);
            if address & !7 == self.host.tohost {
                self.tohost_stored(address);
            }
            return Some(0);
        }
        match self.store_to_timer(address, &value).or_else(|| self.store_to_port(address, value[0]))
        {
            Some(()) => Some(0),
            None => exception(step, Exception::StoreAccess, address),
        }
    }

    #[cold]
    fn read_timer(&mut self, address: u32, register: u8) -> Option<u32> {
        let word = self.timer.read(address, self.clock)?;
        if address == MTIME_ADDRESS {
            self.note_clock(csr::TIME, register);
        }
        Some(word)
    }

    #[cold]
    fn csr_instruction(&mut self, step: &mut Step, word: u32, register: u32) -> Option<u32> {
        let done = self.access_csr(word, register);
        if done.is_some() {
            self.note_clock((word >> 20) as u16, step.writes);
        }
        done.or_else(|| exception(step, Exception::Illegal, word))
    }

    /// Notes that an instruction reads a csr into a register, if that counts cycles.
    #[cold]
    fn note_clock(&mut self, csr: u16, register: u8) {
        let is_clock = matches!(csr & 0xf7f, csr::CYCLE | csr::TIME | csr::MCYCLE);
        self.reads_clock |= is_clock;
        if is_clock && csr & 0x80 == 0 {
            // The next step attends to the low half.
            (self.late, self.alarm) = (Some((register, self.clock)), self.clock);
        }
    }

    #[cold]
    fn store_to_timer(&mut self, address: u32, value: &[u8]) -> Option<()> {
        let word = u32::from_le_bytes(*value.first_chunk()?);
        self.timer.write(address, word, self.clock)?;
        self.set_alarm();
        Some(())
    }

    /// Does to a csr what an instruction word says, with what its register holds: what `rd` is to
    /// hold. `None` if there is no such csr, or it is written and can be read only.
    fn access_csr(&mut self, word: u32, register: u32) -> Option<u32> {
        let (csr, function, field) = ((word >> 20) as u16, word >> 12 & 7, word >> 15 & 31);
        let source = if function < 4 { register } else { field };
        let old = self.csr(csr)?;
        let new = match function & 3 {
            1 => source,
            2 => old | source,
            _ => old & !source,
        };
        // To set or clear no bits by `x0` or by 0 is to read alone, which any csr allows.
        if function & 3 == 1 || field != 0 {
            self.write_csr(csr, new)?;
        }
        Some(old)
    }
}

/// Notes why an instruction does not retire.
#[inline(always)]
fn trap(step: &mut Step, cause: Cause, value: u32) -> Option<u32> {
    step.trap = Some(Trap { cause, value });
    None
}

#[inline(always)]
pub(super) fn exception(step: &mut Step, exception: Exception, value: u32) -> Option<u32> {
    trap(step, Cause::Exception(exception), value)
}

/// The high half of a product.
const fn high(product: i64) -> u32 {
    (product >> 32) as u32
}
