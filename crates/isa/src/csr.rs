//! Numbers of the control and status registers (RISC-V Instruction Set Manual, volume II, "CSR
//! Listing").

/// Numbers by their names.
macro_rules! numbers {
    ($($name:ident $number:literal $what:literal;)*) => {$(
        #[doc = $what]
        pub const $name: u16 = $number;
    )*
        /// All of them.
        pub(crate) const NAMES: &[(&str, u16)] = &[$((stringify!($name), $number)),*];
    };
}

numbers! {
    MSTATUS 0x300 "Whether interrupts are taken (MIE), and were before the last trap (MPIE); MPP is 3.";
    MISA 0x301 "The extensions: I, M, A and, where it is chosen, C. Writes change nothing.";
    MIE 0x304 "Which interrupts are enabled.";
    MTVEC 0x305 "Where the handler lies; with 1 added, each interrupt has an entry of its own.";
    MSTATUSH 0x310 "The high half of `mstatus`, 0.";
    MCOUNTINHIBIT 0x320 "Which counters stand still: none.";
    MSCRATCH 0x340 "The handler's own.";
    MEPC 0x341 "The instruction at which the last trap was taken.";
    MCAUSE 0x342 "Why.";
    MTVAL 0x343 "The address or the instruction that it was about.";
    MIP 0x344 "Which interrupts are pending. Writes change nothing.";
    MCYCLE 0xb00 "Cycles so far: those that a watcher counts, or one for each step.";
    MINSTRET 0xb02 "Instructions so far that did not trap.";
    MCYCLEH 0xb80 "The high half of `mcycle`.";
    MINSTRETH 0xb82 "The high half of `minstret`.";
    CYCLE 0xc00 "`mcycle`, to be read only.";
    TIME 0xc01 "`mtime`, to be read only.";
    INSTRET 0xc02 "`minstret`, to be read only.";
    CYCLEH 0xc80 "The high half of `cycle`.";
    TIMEH 0xc81 "The high half of `time`.";
    INSTRETH 0xc82 "The high half of `instret`.";
    MVENDORID 0xf11 "Whose machine this is: 0, nobody's.";
    MARCHID 0xf12 "Its architecture: 0, not registered.";
    MIMPID 0xf13 "Its version: 0, not stated.";
    MHARTID 0xf14 "The number of this hart: 0.";
    MCONFIGPTR 0xf15 "Where its configuration is described: 0, nowhere.";
}

/// MIE of [`MSTATUS`]: interrupts are taken.
pub const MSTATUS_MIE: u32 = 1 << 3;

/// MPIE of [`MSTATUS`]: they were, before the last trap.
pub const MSTATUS_MPIE: u32 = 1 << 7;

/// MPP of [`MSTATUS`], the mode before the last trap: always machine mode.
pub const MSTATUS_MPP: u32 = 3 << 11;
