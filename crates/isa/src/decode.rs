//! The meaning of an instruction word, decoded once and kept.
//!
//! Encodings are those of the RISC-V Instruction Set Manual, volume I, "RV32/64G Instruction Set
//! Listings". What is reserved there is illegal here, except fields of `fence` and `fence.i`, which
//! the manual asks to ignore.

use crate::encode::*;
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
    /// `immediate` holds the whole word.
    Atomic,
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

    /// What is no instruction, or comes in its place.
    const fn bare(op: Op, size: u8) -> Self {
        Self { op, rd: 0, rs1: 0, rs2: 0, size, kind: Kind::Illegal, immediate: 0 }
    }

    const fn illegal(size: u8, bits: u32) -> Self {
        Self { immediate: bits, ..Self::bare(Op::Illegal, size) }
    }

    /// The instruction that begins with `first`, as far as there is memory, on a machine with or
    /// without those of 16 bits.
    pub(crate) fn fetch(first: Option<u16>, second: Option<u16>, compressed: bool) -> Self {
        let Some(first) = first else { return Self::ABSENT };
        if compressed && first & 3 != 3 {
            let bits = u32::from(first);
            return match expand(first).and_then(decode) {
                Some(instruction) => Self { size: 2, ..instruction },
                None => Self::illegal(2, bits),
            };
        }
        let Some(second) = second else { return Self::bare(Op::Cut, 0) };
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

/// What a word of 32 bits says; `None` if it is no instruction of RV32IMA with Zicsr, Zifencei
/// and machine mode.
pub(crate) fn decode(word: u32) -> Option<Instruction> {
    let own = fixed(word);
    let (_, op, kind) = INSTRUCTIONS.iter().find(|(known, ..)| fixed(*known) == own)?;
    let [rd, rs1, rs2] = [7, 15, 20].map(|at| (word >> at) as u8 & 31);
    let function = bits(word, 14, 12);
    let (rd, rs1, rs2, immediate) = match word & 0x7f {
        0x37 | 0x17 => (rd, 0, 0, word & 0xffff_f000),
        0x6f => (rd, 0, 0, j_immediate(word)),
        0x63 => (0, rs1, rs2, b_immediate(word)),
        0x23 => (0, rs1, rs2, s_immediate(word)),
        0x13 if is_shift(function) => (rd, rs1, 0, u32::from(rs2)),
        0x13 | 0x03 | 0x67 => (rd, rs1, 0, i_immediate(word)),
        0x33 => (rd, rs1, rs2, 0),
        // Its address is rs1 alone.
        0x2f => (rd, rs1, rs2, word),
        // The field of rs1 holds a register, or a constant.
        0x73 if function != 0 => (rd, if function < 4 { rs1 } else { 0 }, 0, word),
        _ => (0, 0, 0, 0),
    };
    Some(Instruction { op: *op, rd, rs1, rs2, size: 4, kind: *kind, immediate })
}

/// Whether a function of a register and a constant shifts, so that `funct7` stands before the amount.
const fn is_shift(function: u32) -> bool {
    matches!(function, 1 | 5)
}

/// The bits of a word that are no operands, by which it is known.
pub(crate) const fn fixed(word: u32) -> u32 {
    match word & 0x7f {
        0x37 | 0x17 | 0x6f => word & 0x7f,
        0x33 => word & 0xfe00_707f,
        // Without aq and rl; the second register of `lr.w` is 0.
        0x2f if word >> 27 == 2 => word & 0xf9f0_707f,
        0x2f => word & 0xf800_707f,
        0x13 if is_shift(bits(word, 14, 12)) => word & 0xfe00_707f,
        0x73 if bits(word, 14, 12) == 0 => word,
        _ => word & 0x707f,
    }
}

/// Every instruction, encoded with some operands; what it does, and what its time depends on.
const INSTRUCTIONS: [(u32, Op, Kind); 68] = [
    (lui(ZERO, 0), Op::Add, Kind::Alu),
    (auipc(ZERO, 0), Op::AddPc, Kind::Alu),
    (jal(ZERO, 0), Op::Jump, Kind::Jump),
    (jalr(ZERO, 0, ZERO), Op::JumpRegister, Kind::JumpRegister),
    (beq(ZERO, ZERO, 0), Op::Equal, Kind::Branch),
    (bne(ZERO, ZERO, 0), Op::NotEqual, Kind::Branch),
    (blt(ZERO, ZERO, 0), Op::BranchLess, Kind::Branch),
    (bge(ZERO, ZERO, 0), Op::NotLess, Kind::Branch),
    (bltu(ZERO, ZERO, 0), Op::BranchLessUnsigned, Kind::Branch),
    (bgeu(ZERO, ZERO, 0), Op::NotLessUnsigned, Kind::Branch),
    (lb(ZERO, 0, ZERO), Op::LoadByte, Kind::Load),
    (lh(ZERO, 0, ZERO), Op::LoadHalf, Kind::Load),
    (lw(ZERO, 0, ZERO), Op::LoadWord, Kind::Load),
    (lbu(ZERO, 0, ZERO), Op::LoadByteUnsigned, Kind::Load),
    (lhu(ZERO, 0, ZERO), Op::LoadHalfUnsigned, Kind::Load),
    (sb(ZERO, 0, ZERO), Op::StoreByte, Kind::Store),
    (sh(ZERO, 0, ZERO), Op::StoreHalf, Kind::Store),
    (sw(ZERO, 0, ZERO), Op::StoreWord, Kind::Store),
    (addi(ZERO, ZERO, 0), Op::Add, Kind::Alu),
    (slti(ZERO, ZERO, 0), Op::Less, Kind::Alu),
    (sltiu(ZERO, ZERO, 0), Op::LessUnsigned, Kind::Alu),
    (xori(ZERO, ZERO, 0), Op::Xor, Kind::Alu),
    (ori(ZERO, ZERO, 0), Op::Or, Kind::Alu),
    (andi(ZERO, ZERO, 0), Op::And, Kind::Alu),
    (slli(ZERO, ZERO, 0), Op::ShiftLeft, Kind::Alu),
    (srli(ZERO, ZERO, 0), Op::ShiftRight, Kind::Alu),
    (srai(ZERO, ZERO, 0), Op::ShiftRightSigned, Kind::Alu),
    (add(ZERO, ZERO, ZERO), Op::Add, Kind::Alu),
    (sub(ZERO, ZERO, ZERO), Op::Sub, Kind::Alu),
    (sll(ZERO, ZERO, ZERO), Op::ShiftLeft, Kind::Alu),
    (slt(ZERO, ZERO, ZERO), Op::Less, Kind::Alu),
    (sltu(ZERO, ZERO, ZERO), Op::LessUnsigned, Kind::Alu),
    (xor(ZERO, ZERO, ZERO), Op::Xor, Kind::Alu),
    (srl(ZERO, ZERO, ZERO), Op::ShiftRight, Kind::Alu),
    (sra(ZERO, ZERO, ZERO), Op::ShiftRightSigned, Kind::Alu),
    (or(ZERO, ZERO, ZERO), Op::Or, Kind::Alu),
    (and(ZERO, ZERO, ZERO), Op::And, Kind::Alu),
    (mul(ZERO, ZERO, ZERO), Op::Mul, Kind::Multiply),
    (mulh(ZERO, ZERO, ZERO), Op::MulHigh, Kind::Multiply),
    (mulhsu(ZERO, ZERO, ZERO), Op::MulHighSignedUnsigned, Kind::Multiply),
    (mulhu(ZERO, ZERO, ZERO), Op::MulHighUnsigned, Kind::Multiply),
    (div(ZERO, ZERO, ZERO), Op::Div, Kind::Divide),
    (divu(ZERO, ZERO, ZERO), Op::DivUnsigned, Kind::Divide),
    (rem(ZERO, ZERO, ZERO), Op::Rem, Kind::Divide),
    (remu(ZERO, ZERO, ZERO), Op::RemUnsigned, Kind::Divide),
    // The time of an atomic instruction is that of a load: its result comes from memory.
    (lr_w(ZERO, ZERO), Op::Atomic, Kind::Load),
    (sc_w(ZERO, ZERO, ZERO), Op::Atomic, Kind::Load),
    (amoswap_w(ZERO, ZERO, ZERO), Op::Atomic, Kind::Load),
    (amoadd_w(ZERO, ZERO, ZERO), Op::Atomic, Kind::Load),
    (amoxor_w(ZERO, ZERO, ZERO), Op::Atomic, Kind::Load),
    (amoand_w(ZERO, ZERO, ZERO), Op::Atomic, Kind::Load),
    (amoor_w(ZERO, ZERO, ZERO), Op::Atomic, Kind::Load),
    (amomin_w(ZERO, ZERO, ZERO), Op::Atomic, Kind::Load),
    (amomax_w(ZERO, ZERO, ZERO), Op::Atomic, Kind::Load),
    (amominu_w(ZERO, ZERO, ZERO), Op::Atomic, Kind::Load),
    (amomaxu_w(ZERO, ZERO, ZERO), Op::Atomic, Kind::Load),
    (fence(), Op::Fence, Kind::Fence),
    (fence_i(), Op::FenceInstructions, Kind::Fence),
    (ecall(), Op::Call, Kind::Call),
    (ebreak(), Op::Break, Kind::Break),
    (mret(), Op::Return, Kind::Return),
    (wfi(), Op::Wait, Kind::Wait),
    (csrrw(ZERO, 0, ZERO), Op::Csr, Kind::Csr),
    (csrrs(ZERO, 0, ZERO), Op::Csr, Kind::Csr),
    (csrrc(ZERO, 0, ZERO), Op::Csr, Kind::Csr),
    (csrrwi(ZERO, 0, 0), Op::Csr, Kind::Csr),
    (csrrsi(ZERO, 0, 0), Op::Csr, Kind::Csr),
    (csrrci(ZERO, 0, 0), Op::Csr, Kind::Csr),
];

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
                    let Some(theirs) = theirs(word) else { continue };
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
            // It has neither csrs, `fence.i` nor the machine mode.
            (0x73, _) | (0x0f, 1) => None,
            _ => Some(Inst::decode_normal(word).is_ok()),
        }
    }
}
