//! Compressed instructions as what they stand for.

use crate::encode::{
    self, RA, Register, SP, ZERO, add, addi, and, andi, beq, bne, jal, jalr, lui, lw, or, slli,
    srai, srli, sub, sw, x, xor,
};

/// The instruction of 32 bits that does the same as one of 16 (RISC-V Instruction Set Manual,
/// volume I, "C" Standard Extension, RV32); only what returns to the following instruction differs.
///
/// `None` for encodings that are reserved, left to custom extensions or for floating point, and for
/// halfwords that begin a longer instruction. Hints, which name `x0` or shift by 0 or add 0, are
/// carried out as the instruction whose form they have, which then does nothing, as the manual
/// recommends.
pub fn expand(half: u16) -> Option<u32> {
    let bits = u32::from(half);
    match bits & 3 {
        0 => quadrant_0(bits),
        1 => quadrant_1(bits),
        2 => quadrant_2(bits),
        _ => None,
    }
}

/// Bits `high` down to `low`, moved to a place.
const fn part(bits: u32, high: u32, low: u32, at: u32) -> i32 {
    ((bits >> low & ((1 << (high - low + 1)) - 1)) << at) as i32
}

/// Extends the sign of a number of `bits` bits.
const fn signed(value: i32, bits: u32) -> i32 {
    value << (32 - bits) >> (32 - bits)
}

/// The register in a field of five bits.
const fn register(bits: u32, at: u32) -> Register {
    x((bits >> at & 31) as u8)
}

/// The register in a field of three bits.
const fn short(bits: u32, at: u32) -> Register {
    x(8 + (bits >> at & 7) as u8)
}

/// The constant of six bits that most have.
const fn constant(bits: u32) -> i32 {
    signed(part(bits, 12, 12, 5) | part(bits, 6, 2, 0), 6)
}

fn quadrant_0(bits: u32) -> Option<u32> {
    let (data, base) = (short(bits, 2), short(bits, 7));
    let offset = part(bits, 12, 10, 3) | part(bits, 6, 6, 2) | part(bits, 5, 5, 6);
    match bits >> 13 {
        0 => {
            let high = part(bits, 12, 11, 4) | part(bits, 10, 7, 6);
            let constant = high | part(bits, 6, 6, 2) | part(bits, 5, 5, 3);
            // All zeros are illegal for ever, and so is the rest without a constant.
            (constant != 0).then(|| addi(data, SP, constant))
        }
        2 => Some(lw(data, offset, base)),
        6 => Some(sw(data, offset, base)),
        _ => None,
    }
}

fn quadrant_1(bits: u32) -> Option<u32> {
    let (rd, constant) = (register(bits, 7), constant(bits));
    match bits >> 13 {
        0 => Some(addi(rd, rd, constant)),
        1 => Some(jal(RA, jump_offset(bits))),
        2 => Some(addi(rd, ZERO, constant)),
        3 if constant == 0 => None,
        3 if rd == SP => {
            let high = part(bits, 12, 12, 9) | part(bits, 4, 3, 7);
            let low = part(bits, 5, 5, 6) | part(bits, 2, 2, 5) | part(bits, 6, 6, 4);
            Some(addi(SP, SP, signed(high | low, 10)))
        }
        3 => Some(lui(rd, constant as u32 & 0xf_ffff)),
        4 => short_arithmetic(bits),
        5 => Some(jal(ZERO, jump_offset(bits))),
        6 => Some(beq(short(bits, 7), ZERO, branch_offset(bits))),
        _ => Some(bne(short(bits, 7), ZERO, branch_offset(bits))),
    }
}

fn short_arithmetic(bits: u32) -> Option<u32> {
    let (rd, rs2) = (short(bits, 7), short(bits, 2));
    let long = bits >> 12 & 1 == 1;
    match (bits >> 10 & 3, bits >> 5 & 3) {
        // Shifts by 32 and more are custom encodings of RV32.
        (0 | 1, _) if long => None,
        (0, _) => Some(srli(rd, rd, bits >> 2 & 31)),
        (1, _) => Some(srai(rd, rd, bits >> 2 & 31)),
        (2, _) => Some(andi(rd, rd, constant(bits))),
        // With this bit they are instructions of RV64.
        _ if long => None,
        (_, 0) => Some(sub(rd, rd, rs2)),
        (_, 1) => Some(xor(rd, rd, rs2)),
        (_, 2) => Some(or(rd, rd, rs2)),
        (_, _) => Some(and(rd, rd, rs2)),
    }
}

fn quadrant_2(bits: u32) -> Option<u32> {
    let (rd, rs2) = (register(bits, 7), register(bits, 2));
    let long = bits >> 12 & 1 == 1;
    match bits >> 13 {
        0 => (!long).then(|| slli(rd, rd, bits >> 2 & 31)),
        2 if rd == ZERO => None,
        2 => {
            let offset = part(bits, 12, 12, 5) | part(bits, 6, 4, 2) | part(bits, 3, 2, 6);
            Some(lw(rd, offset, SP))
        }
        4 => match (long, rd == ZERO, rs2 == ZERO) {
            (false, true, true) => None,
            (false, _, true) => Some(jalr(ZERO, 0, rd)),
            (false, _, false) => Some(add(rd, ZERO, rs2)),
            (true, true, true) => Some(encode::ebreak()),
            (true, _, true) => Some(jalr(RA, 0, rd)),
            (true, _, false) => Some(add(rd, rd, rs2)),
        },
        6 => Some(sw(rs2, part(bits, 12, 9, 2) | part(bits, 8, 7, 6), SP)),
        _ => None,
    }
}

const fn jump_offset(bits: u32) -> i32 {
    let high = part(bits, 12, 12, 11) | part(bits, 8, 8, 10) | part(bits, 10, 9, 8);
    let middle = part(bits, 6, 6, 7) | part(bits, 7, 7, 6) | part(bits, 2, 2, 5);
    signed(high | middle | part(bits, 11, 11, 4) | part(bits, 5, 3, 1), 12)
}

const fn branch_offset(bits: u32) -> i32 {
    let high = part(bits, 12, 12, 8) | part(bits, 6, 5, 6) | part(bits, 2, 2, 5);
    signed(high | part(bits, 11, 10, 3) | part(bits, 4, 3, 1), 9)
}
