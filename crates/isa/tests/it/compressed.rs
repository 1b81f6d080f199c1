//! Makes instructions of 16 bits, named and ordered as in assembly (RISC-V Instruction Set Manual,
//! volume I, "RVC Instruction Set Listings"). They have fewer operands; those named `rd8`, `rs8` reach
//! `x8` to `x15`.

use isa::encode::{Register, SP, ZERO};

/// A field of an instruction: the low `bits` of a value, at a place.
const fn field(value: u32, bits: u32, at: u32) -> u32 {
    (value & ((1 << bits) - 1)) << at
}

/// Bits `high` down to `low` of a value, moved to a place.
const fn part(value: i32, high: u32, low: u32, at: u32) -> u32 {
    field(value as u32 >> low, high - low + 1, at)
}

/// Panics unless `value` is a signed number of `bits` bits.
const fn fits(value: i32, bits: u32) {
    let bound = 1 << (bits - 1);
    assert!(-bound <= value && value < bound, "the operand does not fit its field");
}

/// Panics unless an offset is a multiple of `bytes`.
const fn aligned(offset: i32, bytes: i32) {
    assert!(offset % bytes == 0, "the offset is not aligned");
}

const fn code(register: Register) -> u32 {
    register.number() as u32
}

/// Returns its number in the three bits that most compressed instructions have for it.
const fn short(register: Register) -> u32 {
    let number = code(register);
    assert!(8 <= number && number < 16, "this instruction reaches x8 to x15 alone");
    number - 8
}

/// Panics unless `value` is a multiple of 4 from 0 to `most`.
const fn scaled(value: i32, most: i32) {
    assert!(0 <= value && value <= most, "the operand does not fit its field");
    aligned(value, 4);
}

/// Quadrant and `funct3`, which all have.
const fn head(quadrant: u32, f3: u32) -> u32 {
    quadrant | field(f3, 3, 13)
}

const fn half(bits: u32) -> u16 {
    bits as u16
}

/// A register and a signed constant of six bits.
const fn ci(quadrant: u32, f3: u32, rd: Register, immediate: i32) -> u16 {
    fits(immediate, 6);
    let constant = part(immediate, 4, 0, 2) | part(immediate, 5, 5, 12);
    half(head(quadrant, f3) | field(code(rd), 5, 7) | constant)
}

/// Panics if the register is `x0`.
const fn not_zero(register: Register) {
    assert!(register.number() != 0, "this instruction has another meaning with x0");
}

/// `c.addi4spn rd8, immediate`: `sp` plus 4 to 1020, a multiple of 4.
pub(crate) const fn c_addi4spn(rd8: Register, immediate: i32) -> u16 {
    scaled(immediate, 1020);
    assert!(immediate != 0, "with 0 it is no instruction");
    half(
        head(0, 0)
            | field(short(rd8), 3, 2)
            | part(immediate, 5, 4, 11)
            | part(immediate, 9, 6, 7)
            | part(immediate, 2, 2, 6)
            | part(immediate, 3, 3, 5),
    )
}

const fn short_access(f3: u32, data: Register, offset: i32, base: Register) -> u16 {
    scaled(offset, 124);
    half(
        head(0, f3)
            | field(short(data), 3, 2)
            | field(short(base), 3, 7)
            | part(offset, 5, 3, 10)
            | part(offset, 2, 2, 6)
            | part(offset, 6, 6, 5),
    )
}

/// `c.lw rd8, offset(rs8)`; 0 to 124, a multiple of 4.
pub(crate) const fn c_lw(rd8: Register, offset: i32, rs8: Register) -> u16 {
    short_access(2, rd8, offset, rs8)
}

/// `c.sw source8, offset(rs8)`; 0 to 124, a multiple of 4.
pub(crate) const fn c_sw(source8: Register, offset: i32, rs8: Register) -> u16 {
    short_access(6, source8, offset, rs8)
}

/// `c.nop`.
pub(crate) const fn c_nop() -> u16 {
    ci(1, 0, ZERO, 0)
}

/// `c.addi rd, immediate`; −32 to 31, not 0, and `rd` not `x0`.
pub(crate) const fn c_addi(rd: Register, immediate: i32) -> u16 {
    not_zero(rd);
    assert!(immediate != 0, "with 0 it is a hint");
    ci(1, 0, rd, immediate)
}

const fn cj(f3: u32, offset: i32) -> u16 {
    fits(offset, 12);
    aligned(offset, 2);
    half(
        head(1, f3)
            | part(offset, 11, 11, 12)
            | part(offset, 4, 4, 11)
            | part(offset, 9, 8, 9)
            | part(offset, 10, 10, 8)
            | part(offset, 6, 6, 7)
            | part(offset, 7, 7, 6)
            | part(offset, 3, 1, 3)
            | part(offset, 5, 5, 2),
    )
}

/// `c.jal offset`, which writes `ra`; −2048 to 2046, even.
pub(crate) const fn c_jal(offset: i32) -> u16 {
    cj(1, offset)
}

/// `c.j offset`; −2048 to 2046, even.
pub(crate) const fn c_j(offset: i32) -> u16 {
    cj(5, offset)
}

/// `c.li rd, immediate`; −32 to 31, `rd` not `x0`.
pub(crate) const fn c_li(rd: Register, immediate: i32) -> u16 {
    not_zero(rd);
    ci(1, 2, rd, immediate)
}

/// `c.addi16sp immediate`; −512 to 496, a multiple of 16, not 0.
pub(crate) const fn c_addi16sp(immediate: i32) -> u16 {
    fits(immediate, 10);
    aligned(immediate, 16);
    assert!(immediate != 0, "with 0 it is no instruction");
    half(
        head(1, 3)
            | field(code(SP), 5, 7)
            | part(immediate, 9, 9, 12)
            | part(immediate, 4, 4, 6)
            | part(immediate, 6, 6, 5)
            | part(immediate, 8, 7, 3)
            | part(immediate, 5, 5, 2),
    )
}

/// `c.lui rd, upper`: bits 12 to 17, sign extended; −32 to 31, not 0; `rd` neither `x0` nor `sp`.
pub(crate) const fn c_lui(rd: Register, upper: i32) -> u16 {
    not_zero(rd);
    assert!(rd.number() != SP.number(), "with sp it is c.addi16sp");
    assert!(upper != 0, "with 0 it is no instruction");
    ci(1, 3, rd, upper)
}

const fn short_constant(f2: u32, rd8: Register, immediate: i32) -> u16 {
    let constant = part(immediate, 4, 0, 2) | part(immediate, 5, 5, 12);
    half(head(1, 4) | field(f2, 2, 10) | field(short(rd8), 3, 7) | constant)
}

/// Panics unless an amount is 1 to 31.
const fn amount_fits(amount: u32) {
    assert!(0 < amount && amount < 32, "c.slli, c.srli and c.srai shift by 1 to 31");
}

/// `c.srli rd8, amount`; 1 to 31.
pub(crate) const fn c_srli(rd8: Register, amount: u32) -> u16 {
    amount_fits(amount);
    short_constant(0, rd8, amount as i32)
}

/// `c.srai rd8, amount`; 1 to 31.
pub(crate) const fn c_srai(rd8: Register, amount: u32) -> u16 {
    amount_fits(amount);
    short_constant(1, rd8, amount as i32)
}

/// `c.andi rd8, immediate`; −32 to 31.
pub(crate) const fn c_andi(rd8: Register, immediate: i32) -> u16 {
    fits(immediate, 6);
    short_constant(2, rd8, immediate)
}

/// Functions of two short registers, with their `funct2`.
macro_rules! of_short_registers {
    ($($name:ident $what:literal $f2:literal)*) => {$(
        #[doc = concat!("`", $what, " rd8, rs8`.")]
                pub(crate) const fn $name(rd8: Register, rs8: Register) -> u16 {
            let registers = field(short(rd8), 3, 7) | field(short(rs8), 3, 2);
            half(head(1, 4) | field(3, 2, 10) | registers | field($f2, 2, 5))
        }
    )*};
}

of_short_registers! { c_sub "c.sub" 0  c_xor "c.xor" 1  c_or "c.or" 2  c_and "c.and" 3 }

const fn cb(f3: u32, rs8: Register, offset: i32) -> u16 {
    fits(offset, 9);
    aligned(offset, 2);
    half(
        head(1, f3)
            | field(short(rs8), 3, 7)
            | part(offset, 8, 8, 12)
            | part(offset, 4, 3, 10)
            | part(offset, 7, 6, 5)
            | part(offset, 2, 1, 3)
            | part(offset, 5, 5, 2),
    )
}

/// `c.beqz rs8, offset`; −256 to 254, even.
pub(crate) const fn c_beqz(rs8: Register, offset: i32) -> u16 {
    cb(6, rs8, offset)
}

/// `c.bnez rs8, offset`; −256 to 254, even.
pub(crate) const fn c_bnez(rs8: Register, offset: i32) -> u16 {
    cb(7, rs8, offset)
}

/// `c.slli rd, amount`; 1 to 31, `rd` not `x0`.
pub(crate) const fn c_slli(rd: Register, amount: u32) -> u16 {
    not_zero(rd);
    amount_fits(amount);
    half(head(2, 0) | field(code(rd), 5, 7) | field(amount, 5, 2))
}

/// `c.lwsp rd, offset`; 0 to 252, a multiple of 4; `rd` not `x0`.
pub(crate) const fn c_lwsp(rd: Register, offset: i32) -> u16 {
    not_zero(rd);
    scaled(offset, 252);
    half(
        head(2, 2)
            | field(code(rd), 5, 7)
            | part(offset, 5, 5, 12)
            | part(offset, 4, 2, 4)
            | part(offset, 7, 6, 2),
    )
}

/// `c.swsp source, offset`; 0 to 252, a multiple of 4.
pub(crate) const fn c_swsp(source: Register, offset: i32) -> u16 {
    scaled(offset, 252);
    half(head(2, 6) | field(code(source), 5, 2) | part(offset, 5, 2, 9) | part(offset, 7, 6, 7))
}

const fn cr(upper: u32, rd: Register, rs2: Register) -> u16 {
    half(head(2, 4) | field(upper, 1, 12) | field(code(rd), 5, 7) | field(code(rs2), 5, 2))
}

/// `c.jr base`, not `x0`.
pub(crate) const fn c_jr(base: Register) -> u16 {
    not_zero(base);
    cr(0, base, ZERO)
}

/// `c.jalr base`, not `x0`; writes `ra`.
pub(crate) const fn c_jalr(base: Register) -> u16 {
    not_zero(base);
    cr(1, base, ZERO)
}

/// `c.mv rd, source`, neither of them `x0`.
pub(crate) const fn c_mv(rd: Register, source: Register) -> u16 {
    not_zero(rd);
    not_zero(source);
    cr(0, rd, source)
}

/// `c.add rd, source`, neither of them `x0`.
pub(crate) const fn c_add(rd: Register, source: Register) -> u16 {
    not_zero(rd);
    not_zero(source);
    cr(1, rd, source)
}

/// `c.ebreak`.
pub(crate) const fn c_ebreak() -> u16 {
    cr(1, ZERO, ZERO)
}
