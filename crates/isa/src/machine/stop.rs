//! Why the machine stopped, in words.

use super::{MEMORY_MAX_BYTES, Machine, TIMER_ADDRESS, TIMER_BYTES};
use crate::assembly::TEXT_ADDRESS;
use crate::csr;
use crate::encode::{A0, A7, RA, SP};
use crate::step::{Cause, Exception, Trap};

/// Why the machine carries out no further instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The pc went where no memory is, as when `main` returns, or ran off the end of the
    /// instructions.
    #[error("the pc left the program's instructions to {pc:#010x}")]
    Left {
        /// Where it went.
        pc: u32,
    },
    /// The program asked the host to end: an environment call, semihosting or `tohost`. That
    /// instruction was a step, and no trap.
    #[error("the program exited with {status}")]
    Exited {
        /// Its status; 0 is success.
        status: u32,
    },
    /// As many instructions were carried out as were allowed.
    #[error("the limit of instructions was reached")]
    Limit,
    /// A trap was to be taken, and `mtvec` names no handler (it is 0). It was not taken.
    #[error("{} at {pc:#010x} (mtval {:#010x}), and mtvec is 0", .trap.cause, .trap.value)]
    Unhandled {
        /// The instruction.
        pc: u32,
        /// The trap.
        trap: Trap,
    },
    /// A `wfi` waits, and nothing that is enabled in `mie` can ever come.
    #[error("wfi at {pc:#010x} waits, and no interrupt is enabled that can come")]
    Asleep {
        /// The `wfi`.
        pc: u32,
    },
    /// A jump goes to itself, as many programs end, and no interrupt can come. It is no step.
    #[error("the jump at {pc:#010x} goes to itself, and no interrupt can come")]
    Circles {
        /// The jump.
        pc: u32,
    },
}

/// What `--memory` is said to add, in bytes.
const MEBIBYTE: u32 = 1 << 20;

/// The most bytes of a function's frame on the stack.
const FRAME_MAX_BYTES: u32 = 1 << 16;

/// What `--stack` is said to give; more is rarely of use.
const STACK_LARGE: u32 = 16 << 20;

/// Faults without a return between them after which a program does nothing else.
const FAULTS_MAX: u64 = 16;

impl Machine {
    /// Returns why an end of the program is a failure: a status other than 0, a wild jump, an error
    /// that no handler handles. `None` if it is an end to go by.
    pub fn failure(&self, stopped: Stopped) -> Option<String> {
        match stopped {
            Stopped::Left { pc } if pc == self.text_end || pc == self.home => None,
            Stopped::Left { pc: 0 } => {
                let ra = self.register(RA);
                Some(format!(
                    "it jumped to address 0, which a null pointer or an ra that was not restored holds; ra is {ra:#010x}"
                ))
            }
            Stopped::Left { pc } => {
                let low = "; Venus and Ripes have instructions from 0 on, as `.org 0` before them does here";
                let hint = if pc < TEXT_ADDRESS { low } else { "" };
                Some(format!("it jumped to {pc:#010x}, where no memory is{hint}"))
            }
            Stopped::Exited { status: 0 } => None,
            Stopped::Exited { status } => {
                let status = status as i32;
                Some(format!("it exited with status {status}; 0 is success{}", self.first_access()))
            }
            Stopped::Unhandled { trap, .. } if trap.cause == BREAKPOINT => None,
            Stopped::Unhandled { trap, .. } => Some(format!("{stopped}{}", self.hint(trap))),
            Stopped::Limit if self.resumed.1 > FAULTS_MAX => {
                let pc = self.csr(csr::MEPC).unwrap_or_default();
                Some(format!(
                    "the instruction at {pc:#010x} traps again and again: its handler returns to it; \
                     add 4 to mepc before mret (2 for an instruction of 16 bits)"
                ))
            }
            Stopped::Limit if self.faults <= FAULTS_MAX => None,
            Stopped::Limit | Stopped::Asleep { .. } | Stopped::Circles { .. } => {
                let (pc, Trap { cause, value }) = self.fault?;
                let remedy = match self.access_fault {
                    Some((first, _)) if first == pc => self.first_access(),
                    _ => String::new(),
                };
                Some(format!(
                    "its handler never returned from a trap: {cause} at {pc:#010x} (mtval {value:#010x}){remedy}"
                ))
            }
        }
    }

    /// Returns what `main` returned, where the program ended so and begins with it.
    pub fn returned(&self, stopped: Stopped) -> Option<i32> {
        let is_home = matches!(stopped, Stopped::Left { pc } if pc == self.home);
        (is_home && self.returns_status).then(|| self.register(A0) as i32)
    }

    /// Returns the first load or store where no memory is, in words; empty where there was none.
    fn first_access(&self) -> String {
        let Some((pc, Trap { cause, value })) = self.access_fault else { return String::new() };
        let (did, lacks) = match cause {
            Cause::Exception(Exception::StoreAccess) => ("store", "no memory can be written"),
            _ => ("load", "there is no memory"),
        };
        let block = value & !(MEBIBYTE - 1);
        let sp = self.register(SP);
        let used = self.stack.end.wrapping_sub(sp);
        let is_stack = value < self.stack.start && value.abs_diff(sp) < FRAME_MAX_BYTES;
        let remedy = match self.bytes(value, 1) {
            _ if is_stack && used <= STACK_LARGE => {
                format!(
                    "the stack has overflowed, sp is {sp:#010x}: a function calls itself without end, \
                     or --stack 16MiB gives it room"
                )
            }
            _ if is_stack && used <= MEMORY_MAX_BYTES as u32 => {
                format!("the stack has overflowed, sp is {sp:#010x}: a function calls itself without end")
            }
            Some(_) => "memory there can be read only; without --strict a text may write there, and an ELF file \
                        needs a segment that is writable"
                .into(),
            None if (TIMER_ADDRESS..TIMER_ADDRESS + TIMER_BYTES).contains(&value) => {
                "the timer has registers of 4 bytes each: docs/machine.md lists them".into()
            }
            None => format!("--memory {block:#010x}:1MiB puts memory there"),
        };
        format!(
            "; the first {did} where {lacks}: at {pc:#010x}, of address {value:#010x} ({remedy})"
        )
    }

    /// Reports whether an address lies within an instruction, from the label before it on.
    fn is_within_instruction(&self, pc: u32) -> bool {
        let mut at = self.labels.range(..=pc).next_back().copied().unwrap_or(pc);
        while at < pc {
            let half = self.bytes(at, 2).and_then(<[u8]>::first).copied().unwrap_or_default();
            at = at.saturating_add(if half & 3 == 3 { 4 } else { 2 });
        }
        at > pc
    }

    /// Returns what may help against a trap without a handler.
    fn hint(&self, Trap { cause, value }: Trap) -> String {
        match cause {
            Cause::Exception(Exception::MachineCall) => {
                let (register, number) = match self.register(A7) {
                    0 => ("a0 (a7 is 0)", self.register(A0)),
                    number => ("a7", number),
                };
                let why = match number {
                    3 | 6 | 7 | 43 | 44 | 52 | 53 | 58 | 60 => " needs floating point, which core has not",
                    _ => " is no call that core answers",
                };
                format!(
                    "; call {number} in {register}{why}; docs/machine.md lists those that it answers"
                )
            }
            Cause::Exception(Exception::Illegal) if self.is_within_instruction(self.pc) => {
                "; a jump went into the middle of an instruction of 4 bytes: check the address that it used".into()
            }
            Cause::Exception(Exception::Illegal) if value & 0x7f == 0x73 && value & 0x3000 != 0 => {
                let number = (value >> 20) as u16;
                let why = match self.csr(number) {
                    Some(_) => "can only be read",
                    None => "is none of this machine; docs/machine.md lists those that it has",
                };
                format!("; csr {number:#x} {why}")
            }
            Cause::Exception(Exception::Illegal) if value >> 16 == 0 => {
                "; the program ran on into its data: end it with an environment call (li a7, 10; ecall) or ebreak".into()
            }
            Cause::Exception(Exception::Illegal) => {
                "; this is no instruction of RV32IMAC: data, or code for another machine (compile for rv32imac, ilp32)".into()
            }
            Cause::Exception(Exception::LoadAccess | Exception::StoreAccess) => self.first_access(),
            _ => String::new(),
        }
    }
}

/// Without a handler a debugger would take over here; many small programs end so.
const BREAKPOINT: Cause = Cause::Exception(Exception::Breakpoint);
