//! Why the machine stopped, in words.

use crate::step::{Cause, Exception, Interrupt, Trap};
use std::fmt;

/// Why the machine carries out no further instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The pc left the program's instructions, as it does when `main` returns to 0.
    Left {
        /// Where it went.
        pc: u32,
    },
    /// The program asked to end: `ecall` with 93 in `a7`, as on Linux. That `ecall` was a step, and
    /// no trap.
    Exited {
        /// What it said in `a0`. Linux keeps the low 8 bits.
        status: u32,
    },
    /// As many instructions were carried out as were allowed.
    Limit,
    /// A trap was to be taken, and `mtvec` names no handler (it is 0). It was not taken.
    Unhandled {
        /// The instruction.
        pc: u32,
        /// The trap.
        trap: Trap,
    },
    /// A `wfi` waits, and nothing that is enabled in `mie` can ever come.
    Asleep {
        /// The `wfi`.
        pc: u32,
    },
    /// A jump goes to itself, as many programs end, and no interrupt can come. It is no step.
    Circles {
        /// The jump.
        pc: u32,
    },
}

impl fmt::Display for Stopped {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Left { pc } => {
                write!(out, "the pc left the program's instructions to {pc:#010x}")
            }
            Self::Exited { status } => write!(out, "the program exited with {status}"),
            Self::Limit => write!(out, "the limit of instructions was reached"),
            Self::Unhandled { pc, trap: Trap { cause, value } } => {
                write!(out, "{cause} at {pc:#010x} (mtval {value:#010x}), and mtvec is 0")
            }
            Self::Asleep { pc } => {
                write!(out, "wfi at {pc:#010x} waits, and no interrupt is enabled that can come")
            }
            Self::Circles { pc } => {
                write!(out, "the jump at {pc:#010x} goes to itself, and no interrupt can come")
            }
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exception(exception) => exception.fmt(out),
            Self::Interrupt(interrupt) => interrupt.fmt(out),
        }
    }
}

impl fmt::Display for Exception {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::InstructionMisaligned => "instruction address misaligned",
            Self::InstructionAccess => "instruction access fault",
            Self::Illegal => "illegal instruction",
            Self::Breakpoint => "breakpoint",
            Self::LoadMisaligned => "load address misaligned",
            Self::LoadAccess => "load access fault",
            Self::StoreMisaligned => "store address misaligned",
            Self::StoreAccess => "store access fault",
            Self::MachineCall => "environment call from machine mode",
        })
    }
}

impl fmt::Display for Interrupt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Software => "software interrupt",
            Self::Timer => "timer interrupt",
            Self::External => "external interrupt",
        })
    }
}
