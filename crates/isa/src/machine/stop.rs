//! Why the machine stopped, in words.

use super::Machine;
use crate::assembly::TEXT_ADDRESS;
use crate::encode::{A0, A7, RA};
use crate::step::{Cause, Exception, Trap};

/// Why the machine carries out no further instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The pc went where no memory is, as when `main` returns to 0, or ran off the end of the
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

/// Faults without a return between them after which a program does nothing else.
const FAULTS_MAX: u64 = 16;

impl Machine {
    /// Returns why an end of the program is a failure: a status other than 0, a wild jump, an error
    /// that no handler handles. `None` if it is an end to go by.
    pub fn failure(&self, stopped: Stopped) -> Option<String> {
        match stopped {
            Stopped::Left { pc } if pc == self.text_end || self.is_home(pc) => None,
            Stopped::Left { pc: 0 } if self.home == 0 => {
                let ra = self.register(RA);
                Some(format!("it called address 0, a null pointer; ra is {ra:#010x}"))
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
        let is_home = matches!(stopped, Stopped::Left { pc } if self.is_home(pc));
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
        format!(
            "; the first {did} where {lacks}: at {pc:#010x}, of address {value:#010x} (--memory {block:#010x}:1MiB \
             puts memory there)"
        )
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
            Cause::Exception(Exception::Illegal) if value >> 16 == 0 => {
                "; the program ran on into its data: end it with an environment call (li a7, 10; ecall) or ebreak".into()
            }
            Cause::Exception(Exception::Illegal) => {
                "; the machine has RV32IMAC with csrs (compile for rv32imac, ilp32)".into()
            }
            Cause::Exception(Exception::LoadAccess | Exception::StoreAccess) => self.first_access(),
            _ => String::new(),
        }
    }
}

/// Without a handler a debugger would take over here; many small programs end so.
const BREAKPOINT: Cause = Cause::Exception(Exception::Breakpoint);
