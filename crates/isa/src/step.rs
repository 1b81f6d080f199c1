//! What the machine says of one instruction.

/// One instruction that was carried out, or that trapped.
///
/// A trapped instruction does not retire: it writes no register and no memory. An interrupt is taken
/// before the instruction at `pc`, which is fetched, not carried out, and comes again after `mret`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where the instruction lies.
    pub pc: u32,
    /// The pc afterwards: the following instruction, a target, or the handler.
    pub next: u32,
    /// Its bytes in memory, 2 or 4. 0 where nothing could be fetched.
    pub size: u8,
    /// What it does.
    pub kind: Kind,
    /// The registers that it reads; 0 (`x0`, which is never waited for) where there is none.
    pub reads: [u8; 2],
    /// The register that it writes; 0 where there is none.
    pub writes: u8,
    /// From a conditional branch or `jal` to its target, taken or not; of no meaning elsewhere.
    pub offset: i32,
    /// The access to memory that it made or tried.
    pub access: Option<Access>,
    /// The trap that was taken in its place.
    pub trap: Option<Trap>,
}

impl Step {
    /// Whether the pc goes elsewhere than to the following instruction.
    pub fn redirects(&self) -> bool {
        self.trap.is_some() || self.next != self.pc.wrapping_add(u32::from(self.size))
    }
}

/// What an instruction does, as far as time depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Integer arithmetic, `lui` and `auipc`.
    Alu,
    /// `mul`, `mulh`, `mulhsu`, `mulhu`.
    Multiply,
    /// `div`, `divu`, `rem`, `remu`.
    Divide,
    /// `lb` to `lhu`, and atomic instructions.
    Load,
    /// `sb`, `sh`, `sw`.
    Store,
    /// A conditional branch, taken or not ([`Step::redirects`]; one that is taken to the following
    /// instruction counts as not taken).
    Branch,
    /// `jal`: the target is known from the instruction alone.
    Jump,
    /// `jalr`.
    JumpRegister,
    /// Access to a control and status register.
    Csr,
    /// `fence`, `fence.i`.
    Fence,
    /// `ecall`.
    Call,
    /// `ebreak`.
    Break,
    /// `mret`.
    Return,
    /// `wfi`.
    Wait,
    /// No instruction of this machine, or nothing that could be fetched.
    Illegal,
}

/// An access to data memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Of its first byte.
    pub address: u32,
    /// 1, 2 or 4.
    pub bytes: u8,
    /// Whether it stores, as all atomic instructions but `lr.w` do, which also load.
    pub write: bool,
}

/// A trap as it was taken. `mepc` holds the `pc` of its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trap {
    /// Why.
    pub cause: Cause,
    /// What `mtval` holds: the address or the instruction, 0 where there is neither.
    pub value: u32,
}

/// Why a trap was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Cause {
    /// Because of the instruction at `mepc`.
    #[error("{0}")]
    Exception(Exception),
    /// Because of something outside of the program.
    #[error("{0}")]
    Interrupt(Interrupt),
}

impl Cause {
    /// What `mcause` holds: the code, with the highest bit set for an interrupt (RISC-V Privileged
    /// Architecture, table "Machine cause register values after trap").
    pub fn code(self) -> u32 {
        match self {
            Self::Exception(exception) => exception as u32,
            Self::Interrupt(interrupt) => 0x8000_0000 | interrupt as u32,
        }
    }
}

/// Exceptions, by their codes in `mcause`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[repr(u32)]
pub enum Exception {
    /// A jump to an address at which no instruction can lie.
    #[error("instruction address misaligned")]
    InstructionMisaligned = 0,
    /// No memory to fetch from.
    #[error("instruction access fault")]
    InstructionAccess = 1,
    /// No instruction of this machine, or a csr that is not there.
    #[error("illegal instruction")]
    Illegal = 2,
    /// `ebreak`.
    #[error("breakpoint")]
    Breakpoint = 3,
    /// A load whose address is no multiple of its size, where those are trapped.
    #[error("load address misaligned")]
    LoadMisaligned = 4,
    /// A load where no memory is.
    #[error("load access fault")]
    LoadAccess = 5,
    /// A store whose address is no multiple of its size, where those are trapped.
    #[error("store address misaligned")]
    StoreMisaligned = 6,
    /// A store where no memory is that may be written.
    #[error("store access fault")]
    StoreAccess = 7,
    /// `ecall` in machine mode.
    #[error("environment call from machine mode")]
    MachineCall = 11,
}

/// Interrupts, by their codes in `mcause` and their bits in `mie` and `mip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[repr(u32)]
pub enum Interrupt {
    /// A store to `msip` asked for it.
    #[error("software interrupt")]
    Software = 3,
    /// `mtime` has reached `mtimecmp`.
    #[error("timer interrupt")]
    Timer = 7,
    /// A device asked for it.
    #[error("external interrupt")]
    External = 11,
}
