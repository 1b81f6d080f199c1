//! Why the machine stopped, in words.

use crate::step::Trap;

/// Why the machine carries out no further instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The pc left the program's instructions, as it does when `main` returns to 0.
    #[error("the pc left the program's instructions to {pc:#010x}")]
    Left {
        /// Where it went.
        pc: u32,
    },
    /// The program asked to end: `ecall` with 93 in `a7`, as on Linux. That `ecall` was a step, and
    /// no trap.
    #[error("the program exited with {status}")]
    Exited {
        /// What it said in `a0`. Linux keeps the low 8 bits.
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
