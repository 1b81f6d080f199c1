//! The registers by their numbers and by the names of the calling convention.

/// An integer register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register(u8);

/// The register `x0` to `x31` of that number.
///
/// # Panics
/// If there is none.
pub const fn x(number: u8) -> Register {
    assert!(number < 32, "registers are x0 to x31");
    Register(number)
}

impl Register {
    /// Its number, 0 to 31.
    pub const fn number(self) -> u8 {
        self.0
    }

    pub(super) const fn code(self) -> u32 {
        self.0 as u32
    }
}

/// Names of registers (RISC-V ABIs Specification, "Integer Register Convention").
macro_rules! names {
    ($($name:ident $number:literal $what:literal;)*) => {$(
        #[doc = concat!("`x", stringify!($number), "`: ", $what, ".")]
        pub const $name: Register = x($number);
    )*};
}

names! {
    ZERO 0 "always 0";
    RA 1 "where the function returns to";
    SP 2 "the stack pointer";
    GP 3 "the global pointer";
    TP 4 "the thread pointer";
    T0 5 "a temporary";
    T1 6 "a temporary";
    T2 7 "a temporary";
    S0 8 "kept by functions, or the frame pointer";
    S1 9 "kept by functions";
    A0 10 "the first argument, and what is returned";
    A1 11 "the second argument";
    A2 12 "an argument";
    A3 13 "an argument";
    A4 14 "an argument";
    A5 15 "an argument";
    A6 16 "an argument";
    A7 17 "an argument, and the number of a system call";
    S2 18 "kept by functions";
    S3 19 "kept by functions";
    S4 20 "kept by functions";
    S5 21 "kept by functions";
    S6 22 "kept by functions";
    S7 23 "kept by functions";
    S8 24 "kept by functions";
    S9 25 "kept by functions";
    S10 26 "kept by functions";
    S11 27 "kept by functions";
    T3 28 "a temporary";
    T4 29 "a temporary";
    T5 30 "a temporary";
    T6 31 "a temporary";
}
