//! Why the machine stopped, in words.

use super::Machine;
use crate::encode::{A0, A7};
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

/// Faults without a return between them after which a program does nothing else.
const FAULTS_MAX: u64 = 16;

impl Machine {
    /// Returns why an end of the program is a failure: a status other than 0, a wild jump, an error
    /// that no handler handles. `None` if it is an end to go by.
    pub fn failure(&self, stopped: Stopped) -> Option<String> {
        let status = self.register(A0) as i32;
        match stopped {
            Stopped::Left { pc } if pc == self.home && self.returns_status && status != 0 => {
                Some(format!("main returned {status}; 0 is success"))
            }
            Stopped::Left { pc } if self.ends_at(pc) => None,
            Stopped::Left { pc } => Some(format!("it jumped to {pc:#010x}, where no memory is")),
            Stopped::Exited { status: 0 } => None,
            Stopped::Exited { status } => {
                Some(format!("it exited with status {}; 0 is success", status as i32))
            }
            Stopped::Unhandled { trap, .. } if trap.cause == BREAKPOINT => None,
            Stopped::Unhandled { trap, .. } => Some(format!("{stopped}{}", self.hint(trap.cause))),
            Stopped::Limit if self.faults <= FAULTS_MAX => None,
            Stopped::Limit | Stopped::Asleep { .. } | Stopped::Circles { .. } => {
                let (pc, Trap { cause, value }) = self.fault?;
                Some(format!(
                    "its handler never returned from a trap: {cause} at {pc:#010x} (mtval {value:#010x})"
                ))
            }
        }
    }

    /// Returns what may help against a trap without a handler.
    fn hint(&self, cause: Cause) -> String {
        match cause {
            Cause::Exception(Exception::MachineCall) => {
                let number = self.register(A7);
                format!(
                    "; a7 is {number}, and the host answers 1, 2, 4, 5, 8 to 12, 17, 34 to 36, 57, 62 to 64, 80, \
                     93, 94 and 214"
                )
            }
            Cause::Exception(Exception::Illegal) => {
                "; the machine has RV32IMAC with csrs (compile for rv32imac, ilp32)".into()
            }
            Cause::Exception(Exception::LoadAccess | Exception::StoreAccess) => {
                "; the machine has the memory of the file's segments and a stack (--memory gives more)"
                    .into()
            }
            _ => String::new(),
        }
    }
}

/// Without a handler a debugger would take over here; many small programs end so.
const BREAKPOINT: Cause = Cause::Exception(Exception::Breakpoint);
