//! The meaning of an instruction word, decoded once and kept.
//!
//! Encodings are those of the RISC-V Instruction Set Manual, volume I, "RV32/64G Instruction Set
//! Listings". What is reserved there is illegal here, except fields of `fence` and `fence.i`, which
//! the manual asks to ignore.

use crate::expand;
use crate::step::{Interrupt, Kind};

/// What is to be done. A constant operand is in [`Instruction::immediate`]; functions of a register
/// and a constant are those of two registers with `x0` as the second, since `x0 + immediate` is the
/// constant, and `register + 0` the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Add,
    Sub,
    ShiftLeft,
    Less,
    LessUnsigned,
    Xor,
    ShiftRight,
    ShiftRightSigned,
    Or,
    And,
    AddPc,
    Mul,
    MulHigh,
    MulHighSignedUnsigned,
    MulHighUnsigned,
    Div,
    DivUnsigned,
    Rem,
    RemUnsigned,
    Jump,
    JumpRegister,
    Equal,
    NotEqual,
    BranchLess,
    NotLess,
    BranchLessUnsigned,
    NotLessUnsigned,
    LoadByte,
    LoadHalf,
    LoadWord,
    LoadByteUnsigned,
    LoadHalfUnsigned,
    StoreByte,
    StoreHalf,
    StoreWord,
    /// Whatever is done to a csr; `immediate` is the whole word.
    Csr,
    Fence,
    FenceInstructions,
    Call,
    Break,
    Return,
    Wait,
    /// `immediate` holds its bits.
    Illegal,
    /// There is no memory.
    Absent,
    /// There is no memory behind the first half of 32 bits.
    Cut,
    /// An interrupt comes before the instruction.
    SoftwareInterrupt,
    TimerInterrupt,
    ExternalInterrupt,
}

impl Op {
    /// What its time depends on.
    const fn kind(self) -> Kind {
        match self {
            Self::Jump => Kind::Jump,
            Self::JumpRegister => Kind::JumpRegister,
            Self::Equal | Self::NotEqual | Self::BranchLess | Self::NotLess => Kind::Branch,
            Self::BranchLessUnsigned | Self::NotLessUnsigned => Kind::Branch,
            Self::LoadByte | Self::LoadHalf | Self::LoadWord => Kind::Load,
            Self::LoadByteUnsigned | Self::LoadHalfUnsigned => Kind::Load,
            Self::StoreByte | Self::StoreHalf | Self::StoreWord => Kind::Store,
            Self::Mul | Self::MulHigh | Self::MulHighSignedUnsigned => Kind::Multiply,
            Self::MulHighUnsigned => Kind::Multiply,
            Self::Div | Self::DivUnsigned | Self::Rem | Self::RemUnsigned => Kind::Divide,
            Self::Csr => Kind::Csr,
            Self::Fence | Self::FenceInstructions => Kind::Fence,
            Self::Call => Kind::Call,
            Self::Break => Kind::Break,
            Self::Return => Kind::Return,
            Self::Wait => Kind::Wait,
            Self::Illegal | Self::Absent | Self::Cut => Kind::Illegal,
            _ => Kind::Alu,
        }
    }
}

/// An instruction, ready to be carried out. Registers that it does not have are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) op: Op,
    pub(crate) rd: u8,
    pub(crate) rs1: u8,
    pub(crate) rs2: u8,
    /// Bytes in memory; 0 where it could not be fetched.
    pub(crate) size: u8,
    /// What its time depends on.
    pub(crate) kind: Kind,
    pub(crate) immediate: u32,
}

impl Instruction {
    /// Where no memory is.
    pub(crate) const ABSENT: Self = Self::bare(Op::Absent, 0);

    const fn bare(op: Op, size: u8) -> Self {
        Self { op, rd: 0, rs1: 0, rs2: 0, size, kind: op.kind(), immediate: 0 }
    }

    const fn illegal(size: u8, bits: u32) -> Self {
        Self { immediate: bits, ..Self::bare(Op::Illegal, size) }
    }

    /// The instruction that begins with `first`, as far as there is memory, on a machine with or
    /// without those of 16 bits.
    pub(crate) fn fetch(first: Option<u16>, second: Option<u16>, compressed: bool) -> Self {
        let Some(first) = first else {
            return Self::ABSENT;
        };
        if compressed && first & 3 != 3 {
            let bits = u32::from(first);
            return match expand(first).and_then(decode) {
                Some(instruction) => Self { size: 2, ..instruction },
                None => Self::illegal(2, bits),
            };
        }
        let Some(second) = second else {
            return Self::bare(Op::Cut, 0);
        };
        let word = u32::from(first) | u32::from(second) << 16;
        decode(word).unwrap_or(Self::illegal(4, word))
    }

    /// The same with an interrupt before it: fetched and not carried out, so that it waits for no
    /// register, either.
    pub(crate) fn interrupted(self, interrupt: Interrupt) -> Self {
        let op = match interrupt {
            Interrupt::Software => Op::SoftwareInterrupt,
            Interrupt::Timer => Op::TimerInterrupt,
            Interrupt::External => Op::ExternalInterrupt,
        };
        Self { kind: self.kind, ..Self::bare(op, self.size) }
    }
}

/// Bits `high` down to `low` of a word.
const fn bits(word: u32, high: u32, low: u32) -> u32 {
    (word >> low) & ((1 << (high - low + 1)) - 1)
}

/// Extends the sign of a number of `bits` bits.
const fn signed(value: u32, bits: u32) -> u32 {
    ((value << (32 - bits)) as i32 >> (32 - bits)) as u32
}

const fn i_immediate(word: u32) -> u32 {
    signed(word >> 20, 12)
}

const fn s_immediate(word: u32) -> u32 {
    signed(bits(word, 31, 25) << 5 | bits(word, 11, 7), 12)
}

const fn b_immediate(word: u32) -> u32 {
    let low = bits(word, 7, 7) << 11 | bits(word, 30, 25) << 5 | bits(word, 11, 8) << 1;
    signed(bits(word, 31, 31) << 12 | low, 13)
}

const fn j_immediate(word: u32) -> u32 {
    let low = bits(word, 19, 12) << 12 | bits(word, 20, 20) << 11 | bits(word, 30, 21) << 1;
    signed(bits(word, 31, 31) << 20 | low, 21)
}

/// What a word of 32 bits says; `None` if it is no instruction of RV32IM with Zicsr, Zifencei and
/// machine mode.
pub(crate) fn decode(word: u32) -> Option<Instruction> {
    let [rd, rs1, rs2] = [7, 15, 20].map(|at| (word >> at) as u8 & 31);
    let (function, upper) = (bits(word, 14, 12), word & 0xffff_f000);
    let new = |op, rd, rs1, rs2, immediate| {
        Some(Instruction { op, rd, rs1, rs2, size: 4, kind: op.kind(), immediate })
    };
    match word & 0x7f {
        0x37 => new(Op::Add, rd, 0, 0, upper),
        0x17 => new(Op::AddPc, rd, 0, 0, upper),
        0x6f => new(Op::Jump, rd, 0, 0, j_immediate(word)),
        0x67 if function == 0 => new(Op::JumpRegister, rd, rs1, 0, i_immediate(word)),
        0x63 => new(branch(function)?, 0, rs1, rs2, b_immediate(word)),
        0x03 => new(load(function)?, rd, rs1, 0, i_immediate(word)),
        0x23 => new(store(function)?, 0, rs1, rs2, s_immediate(word)),
        0x13 if matches!(function, 1 | 5) => {
            new(shift(function, word >> 25)?, rd, rs1, 0, u32::from(rs2))
        }
        0x13 => new(arithmetic(function, 0)?, rd, rs1, 0, i_immediate(word)),
        0x33 => new(arithmetic(function, word >> 25)?, rd, rs1, rs2, 0),
        0x0f if function == 0 => new(Op::Fence, 0, 0, 0, 0),
        0x0f if function == 1 => new(Op::FenceInstructions, 0, 0, 0, 0),
        0x73 if function == 0 => new(system(word)?, 0, 0, 0, 0),
        0x73 if function != 4 => {
            // The field of rs1 holds a register, or a constant.
            new(Op::Csr, rd, if function < 4 { rs1 } else { 0 }, 0, word)
        }
        _ => None,
    }
}

fn branch(function: u32) -> Option<Op> {
    Some(match function {
        0 => Op::Equal,
        1 => Op::NotEqual,
        4 => Op::BranchLess,
        5 => Op::NotLess,
        6 => Op::BranchLessUnsigned,
        7 => Op::NotLessUnsigned,
        _ => return None,
    })
}

fn load(function: u32) -> Option<Op> {
    Some(match function {
        0 => Op::LoadByte,
        1 => Op::LoadHalf,
        2 => Op::LoadWord,
        4 => Op::LoadByteUnsigned,
        5 => Op::LoadHalfUnsigned,
        _ => return None,
    })
}

fn store(function: u32) -> Option<Op> {
    Some(match function {
        0 => Op::StoreByte,
        1 => Op::StoreHalf,
        2 => Op::StoreWord,
        _ => return None,
    })
}

/// By `funct3` and `funct7`.
fn arithmetic(function: u32, variant: u32) -> Option<Op> {
    Some(match (variant, function) {
        (0x00, 0) => Op::Add,
        (0x20, 0) => Op::Sub,
        (0x00, 1) => Op::ShiftLeft,
        (0x00, 2) => Op::Less,
        (0x00, 3) => Op::LessUnsigned,
        (0x00, 4) => Op::Xor,
        (0x00, 5) => Op::ShiftRight,
        (0x20, 5) => Op::ShiftRightSigned,
        (0x00, 6) => Op::Or,
        (0x00, 7) => Op::And,
        (0x01, 0) => Op::Mul,
        (0x01, 1) => Op::MulHigh,
        (0x01, 2) => Op::MulHighSignedUnsigned,
        (0x01, 3) => Op::MulHighUnsigned,
        (0x01, 4) => Op::Div,
        (0x01, 5) => Op::DivUnsigned,
        (0x01, 6) => Op::Rem,
        (0x01, 7) => Op::RemUnsigned,
        _ => return None,
    })
}

/// By a constant amount, by `funct3` and `funct7`; there are no products by constants.
fn shift(function: u32, variant: u32) -> Option<Op> {
    Some(match (variant, function) {
        (0x00, 1) => Op::ShiftLeft,
        (0x00, 5) => Op::ShiftRight,
        (0x20, 5) => Op::ShiftRightSigned,
        _ => return None,
    })
}

/// By the whole word: these have no operands.
fn system(word: u32) -> Option<Op> {
    Some(match word {
        0x0000_0073 => Op::Call,
        0x0010_0073 => Op::Break,
        0x3020_0073 => Op::Return,
        0x1050_0073 => Op::Wait,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::decode;
    use rvdc::Inst;

    /// All opcodes, `funct3` and `funct7`, with some registers: what is an instruction is one for an
    /// independent decoder, and the reverse.
    #[test]
    fn what_is_an_instruction_is_one_elsewhere() {
        let (mut both, mut neither) = (0, 0);
        for opcode in (3..128).step_by(4) {
            for upper in 0..1 << 10 {
                for registers in [0, 0x0015_0500, 0x0120_8f80, 0x01ff_8f80] {
                    let word = opcode | (upper & 7) << 12 | upper >> 3 << 25 | registers;
                    let Some(theirs) = theirs(word) else {
                        continue;
                    };
                    let ours = decode(word).is_some();
                    assert_eq!(ours, theirs, "{word:#010x}");
                    both += u32::from(ours);
                    neither += u32::from(!ours);
                }
            }
        }
        assert!(both > 10_000 && neither > 10_000, "{both} {neither}");
    }

    /// Whether the other decoder knows a word; `None` where it is none for this question.
    fn theirs(word: u32) -> Option<bool> {
        match (word & 0x7f, word >> 12 & 7) {
            // It has atomic instructions, and neither csrs, `fence.i` nor the machine mode.
            (0x2f | 0x73, _) | (0x0f, 1) => None,
            _ => Some(Inst::decode_normal(word).is_ok()),
        }
    }
}
