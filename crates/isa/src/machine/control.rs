//! Control and status registers, and what follows from them: traps, their return, and when the
//! machine looks for interrupts.

use super::timer::replaced;
use super::{Machine, Stopped};
use crate::csr::*;
use crate::decode::Instruction;
use crate::step::{Cause, Exception, Interrupt, Trap};

/// What the csrs hold that is not counted elsewhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// MIE and MPIE of `mstatus`.
    enabled: bool,
    enabled_before: bool,
    /// `mie`.
    chosen: u32,
    mtvec: u32,
    mscratch: u32,
    mepc: u32,
    mcause: u32,
    mtval: u32,
    /// What is added to the cycles so far to give `mcycle`.
    cycle_offset: u64,
    /// What is added to the instructions so far to give `minstret`.
    retired_offset: u64,
}

impl Control {
    /// Whether a trap goes anywhere.
    pub(super) fn has_handler(&self) -> bool {
        self.mtvec != 0
    }
}

const fn bit(interrupt: Interrupt) -> u32 {
    1 << interrupt as u32
}

/// Interrupts in the order in which they are taken (volume II, "Machine Interrupt Registers").
const BY_PRIORITY: [Interrupt; 3] = [Interrupt::External, Interrupt::Software, Interrupt::Timer];

/// The bits that `mie` and `mip` have.
const KNOWN: u32 = bit(Interrupt::External) | bit(Interrupt::Software) | bit(Interrupt::Timer);

/// MXL of `misa` for 32 bits, with the letters I, M and A.
const MISA_IMA: u32 = 1 << 30 | 1 << 8 | 1 << 12 | 1;

/// The letter C of `misa`.
const MISA_C: u32 = 1 << 2;

impl Machine {
    /// What a csr holds; `None` if there is none of that number.
    pub fn csr(&self, number: u16) -> Option<u32> {
        let control = &self.control;
        Some(match number {
            MSTATUS => {
                let mie = if control.enabled { MSTATUS_MIE } else { 0 };
                let mpie = if control.enabled_before { MSTATUS_MPIE } else { 0 };
                mie | mpie | MSTATUS_MPP
            }
            MISA => MISA_IMA | if self.compressed { MISA_C } else { 0 },
            MIE => control.chosen,
            MTVEC => control.mtvec,
            MSCRATCH => control.mscratch,
            MEPC => control.mepc,
            MCAUSE => control.mcause,
            MTVAL => control.mtval,
            MIP => self.pending(),
            MCYCLE | CYCLE => self.cycles() as u32,
            MCYCLEH | CYCLEH => (self.cycles() >> 32) as u32,
            MINSTRET | INSTRET => self.instret() as u32,
            MINSTRETH | INSTRETH => (self.instret() >> 32) as u32,
            TIME => self.time() as u32,
            TIMEH => (self.time() >> 32) as u32,
            MSTATUSH | MCOUNTINHIBIT | MVENDORID | MARCHID | MIMPID | MHARTID | MCONFIGPTR => 0,
            // Counters of other events and what they would count: there are none, and they read 0.
            0x323..=0x33f | 0xb03..=0xb1f | 0xb83..=0xb9f => 0,
            _ => return None,
        })
    }

    /// Writes a csr as an instruction does; `None` if there is none of that number or it can be read
    /// only. What cannot be held is left out (WARL).
    pub(super) fn write_csr(&mut self, number: u16, value: u32) -> Option<()> {
        // The two highest bits of the number say so.
        if number >> 10 == 3 {
            return None;
        }
        self.csr(number)?;
        let (cycles, instret, retired) = (self.cycles(), self.instret(), self.retired());
        let control = &mut self.control;
        match number {
            MSTATUS => {
                control.enabled = value & MSTATUS_MIE != 0;
                control.enabled_before = value & MSTATUS_MPIE != 0;
            }
            MIE => control.chosen = value & KNOWN,
            // Modes 2 and 3 are reserved.
            MTVEC => control.mtvec = value & !2,
            MSCRATCH => control.mscratch = value,
            MEPC => control.mepc = value & !self.alignment_mask,
            MCAUSE => control.mcause = value,
            MTVAL => control.mtval = value,
            // The write is done after the instruction was counted, so that the following one reads
            // what was written (volume I, "Zicntr").
            MCYCLE | MCYCLEH => {
                let wanted = replaced(cycles, value, number == MCYCLEH);
                control.cycle_offset = wanted.wrapping_sub(self.clock + 1);
            }
            MINSTRET | MINSTRETH => {
                let wanted = replaced(instret, value, number == MINSTRETH);
                control.retired_offset = wanted.wrapping_sub(retired + 1);
            }
            _ => {}
        }
        self.set_alarm();
        Some(())
    }

    fn cycles(&self) -> u64 {
        self.clock.wrapping_add(self.control.cycle_offset)
    }

    fn instret(&self) -> u64 {
        self.retired().wrapping_add(self.control.retired_offset)
    }

    /// `mip`.
    fn pending(&self) -> u32 {
        let when = |is: bool, interrupt| if is { bit(interrupt) } else { 0 };
        when(self.timer.software, Interrupt::Software)
            | when(self.time() >= self.timer.compare, Interrupt::Timer)
            | when(self.external, Interrupt::External)
    }

    /// Says that a source outside wants an interrupt, or no longer does.
    pub fn set_external(&mut self, pending: bool) {
        self.external = pending;
        self.set_alarm();
    }

    /// Determines anew from which cycle on there may be an interrupt to take. Whatever changes the
    /// answer calls it, so that a step has one number to compare.
    pub(super) fn set_alarm(&mut self) {
        let chosen = if self.control.enabled { self.control.chosen } else { 0 };
        self.alarm = if self.exited.is_some() || self.pending() & chosen != 0 {
            self.clock
        } else if chosen & bit(Interrupt::Timer) != 0 {
            self.clock.saturating_add(self.timer.compare.saturating_sub(self.time()))
        } else {
            u64::MAX
        };
    }

    /// What is to be carried out where there is no instruction or the alarm has come: an interrupt,
    /// or after all what was fetched (of a timer that was set anew).
    #[cold]
    pub(super) fn attend(&mut self) -> Result<Instruction, Stopped> {
        self.settle();
        if let Some(status) = self.exited {
            return Err(Stopped::Exited { status });
        }
        let instruction = match self.text.at(self.pc) {
            Some(instruction) => instruction,
            None => self.elsewhere()?,
        };
        self.set_alarm();
        let wanted = if self.control.enabled { self.pending() & self.control.chosen } else { 0 };
        let interrupt = BY_PRIORITY.into_iter().find(|&interrupt| wanted & bit(interrupt) != 0);
        Ok(interrupt.map_or(instruction, |interrupt| instruction.interrupted(interrupt)))
    }

    /// Returns the instruction at a pc outside of what was decoded before: code in other memory, which
    /// is decoded each time.
    fn elsewhere(&mut self) -> Result<Instruction, Stopped> {
        let pc = self.pc;
        let half = |address| {
            let bytes = self.memory.bytes(address, 2)?.first_chunk().copied()?;
            Some(u16::from_le_bytes(bytes))
        };
        let is_end = pc == self.text_end || pc == self.home;
        let first = half(pc).filter(|_| !is_end);
        if first.is_some() {
            self.outside += 1;
        } else if self.control.mtvec == 0 || is_end || pc == 0 {
            return Err(Stopped::Left { pc });
        }
        Ok(Instruction::fetch(first, half(pc.wrapping_add(2)), self.compressed))
    }

    /// Takes a trap at the present pc: where the handler lies.
    #[cold]
    pub(super) fn enter(&mut self, trap: Trap) -> Result<u32, Stopped> {
        let retired = self.retired();
        let control = &mut self.control;
        if control.mtvec == 0 {
            self.note_access(trap);
            return Err(Stopped::Unhandled { pc: self.pc, trap });
        }
        let is_same = control.mepc == self.pc && self.resumed.0 == retired;
        let is_exception = matches!(trap.cause, Cause::Exception(_));
        self.resumed.1 = if is_same && is_exception { self.resumed.1 + 1 } else { 0 };
        control.mepc = self.pc;
        control.mcause = trap.cause.code();
        control.mtval = trap.value;
        control.enabled_before = control.enabled;
        control.enabled = false;
        let base = control.mtvec & !3;
        let entry = match trap.cause {
            Cause::Interrupt(interrupt) if control.mtvec & 1 == 1 => 4 * interrupt as u32,
            _ => 0,
        };
        self.trapped += 1;
        self.reserved = None;
        if is_fault(trap.cause) {
            self.faults += 1;
            self.fault.get_or_insert((self.pc, trap));
        }
        self.note_access(trap);
        self.set_alarm();
        Ok(base.wrapping_add(entry))
    }

    /// Remembers the first load or store where no memory is.
    fn note_access(&mut self, trap: Trap) {
        use Exception::{LoadAccess, StoreAccess};
        if let Cause::Exception(LoadAccess | StoreAccess) = trap.cause {
            self.access_fault.get_or_insert((self.pc, trap));
        }
    }

    /// `mret`: where the program goes on.
    pub(super) fn leave(&mut self) -> u32 {
        (self.fault, self.faults) = (None, 0);
        // The `mret` itself retires after this.
        self.resumed.0 = self.retired() + 1;
        self.control.enabled = self.control.enabled_before;
        self.control.enabled_before = true;
        self.set_alarm();
        self.control.mepc
    }

    /// `wfi`: goes on if an enabled interrupt is pending, whether it will be taken or not; otherwise
    /// lets `mtime` run until the timer's is. `None` if nothing can come.
    pub(super) fn wait(&mut self) -> Option<()> {
        if self.pending() & self.control.chosen != 0 {
            return Some(());
        }
        let timer = self.control.chosen & bit(Interrupt::Timer) != 0;
        if !timer || self.timer.compare == u64::MAX {
            return None;
        }
        // It is reached when this instruction is done.
        self.timer.set_time(self.timer.compare, self.clock + 1);
        self.set_alarm();
        Some(())
    }
}

/// Whether a trap is an error unless a handler returns from it.
fn is_fault(cause: Cause) -> bool {
    match cause {
        Cause::Exception(exception) => {
            !matches!(exception, Exception::MachineCall | Exception::Breakpoint)
        }
        Cause::Interrupt(_) => false,
    }
}
