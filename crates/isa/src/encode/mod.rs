//! Instruction words, made by functions that are named and ordered as in assembly:
//! `addi(A0, A1, 5)`, `lw(A0, 8, SP)`, `beq(A0, ZERO, -12)`.
//!
//! Encodings are those of the RISC-V Instruction Set Manual, volume I, "RV32/64G Instruction Set
//! Listings"; those of `mret` and `wfi` stand in volume II.
//! Offsets of branches and jumps are in bytes, from the instruction itself.
//!
//! # Panics
//! All functions are `const` and panic if an operand does not fit its field (its range stands with
//! the function): an instruction that says something else than was asked for would be worse. Of a
//! program that is a constant, the compiler says it.

mod register;

pub use register::*;

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

const fn r_type(opcode: u32, rd: Register, f3: u32, rs1: Register, rs2: u32, f7: u32) -> u32 {
    opcode
        | field(rd.code(), 5, 7)
        | field(f3, 3, 12)
        | field(rs1.code(), 5, 15)
        | field(rs2, 5, 20)
        | field(f7, 7, 25)
}

const fn i_type(opcode: u32, rd: Register, f3: u32, rs1: Register, immediate: i32) -> u32 {
    fits(immediate, 12);
    r_type(opcode, rd, f3, rs1, 0, 0) | part(immediate, 11, 0, 20)
}

const fn s_type(f3: u32, rs1: Register, rs2: Register, offset: i32) -> u32 {
    fits(offset, 12);
    let rest = r_type(0x23, ZERO, f3, rs1, rs2.code(), 0);
    rest | part(offset, 4, 0, 7) | part(offset, 11, 5, 25)
}

const fn b_type(f3: u32, rs1: Register, rs2: Register, offset: i32) -> u32 {
    fits(offset, 13);
    aligned(offset, 2);
    r_type(0x63, ZERO, f3, rs1, rs2.code(), 0)
        | part(offset, 11, 11, 7)
        | part(offset, 4, 1, 8)
        | part(offset, 10, 5, 25)
        | part(offset, 12, 12, 31)
}

const fn u_type(opcode: u32, rd: Register, upper: u32) -> u32 {
    assert!(upper < 1 << 20, "the operand does not fit its field");
    opcode | field(rd.code(), 5, 7) | field(upper, 20, 12)
}

const fn csr_type(rd: Register, f3: u32, csr: u16, source: u32) -> u32 {
    assert!(csr < 1 << 12, "a csr has a number below 4096");
    assert!(source < 32, "the operand does not fit its field");
    0x73 | field(rd.code(), 5, 7)
        | field(f3, 3, 12)
        | field(source, 5, 15)
        | field(csr as u32, 12, 20)
}

/// Functions of three registers, with their `funct3` and `funct7`.
macro_rules! of_registers {
    ($($name:ident $f3:literal $f7:literal)*) => {$(
        #[doc = concat!("`", stringify!($name), " rd, rs1, rs2`.")]
        pub const fn $name(rd: Register, rs1: Register, rs2: Register) -> u32 {
            r_type(0x33, rd, $f3, rs1, rs2.code(), $f7)
        }
    )*};
}

of_registers! {
    add 0 0x00  sub 0 0x20  sll 1 0x00  slt 2 0x00  sltu 3 0x00
    xor 4 0x00  srl 5 0x00  sra 5 0x20  or 6 0x00  and 7 0x00
    mul 0 0x01  mulh 1 0x01  mulhsu 2 0x01  mulhu 3 0x01
    div 4 0x01  divu 5 0x01  rem 6 0x01  remu 7 0x01
}

/// Functions of a register and a constant, with their `funct3`.
macro_rules! of_constants {
    ($($name:ident $f3:literal)*) => {$(
        #[doc = concat!("`", stringify!($name), " rd, rs1, immediate`; −2048 to 2047.")]
        pub const fn $name(rd: Register, rs1: Register, immediate: i32) -> u32 {
            i_type(0x13, rd, $f3, rs1, immediate)
        }
    )*};
}

of_constants! { addi 0  slti 2  sltiu 3  xori 4  ori 6  andi 7 }

/// Shifts by a constant, with their `funct3` and `funct7`.
macro_rules! shifts {
    ($($name:ident $f3:literal $f7:literal)*) => {$(
        #[doc = concat!("`", stringify!($name), " rd, rs1, amount`; 0 to 31.")]
        pub const fn $name(rd: Register, rs1: Register, amount: u32) -> u32 {
            assert!(amount < 32, "a register is shifted by at most 31");
            r_type(0x13, rd, $f3, rs1, amount, $f7)
        }
    )*};
}

shifts! { slli 1 0x00  srli 5 0x00  srai 5 0x20 }

/// Loads, with their `funct3`.
macro_rules! loads {
    ($($name:ident $f3:literal)*) => {$(
        #[doc = concat!("`", stringify!($name), " rd, offset(base)`; −2048 to 2047.")]
        pub const fn $name(rd: Register, offset: i32, base: Register) -> u32 {
            i_type(0x03, rd, $f3, base, offset)
        }
    )*};
}

loads! { lb 0  lh 1  lw 2  lbu 4  lhu 5 }

/// Stores, with their `funct3`.
macro_rules! stores {
    ($($name:ident $f3:literal)*) => {$(
        #[doc = concat!("`", stringify!($name), " source, offset(base)`; −2048 to 2047.")]
        pub const fn $name(source: Register, offset: i32, base: Register) -> u32 {
            s_type($f3, base, source, offset)
        }
    )*};
}

stores! { sb 0  sh 1  sw 2 }

/// Atomic memory operations, with their `funct5`; neither `aq` nor `rl`, which one hart ignores.
macro_rules! atomics {
    ($($name:ident $f5:literal)*) => {$(
        #[doc = concat!("`", stringify!($name), " rd, source, (base)`.")]
        pub const fn $name(rd: Register, source: Register, base: Register) -> u32 {
            r_type(0x2f, rd, 2, base, source.code(), $f5 << 2)
        }
    )*};
}

atomics! {
    sc_w 0x03  amoswap_w 0x01  amoadd_w 0x00  amoxor_w 0x04  amoand_w 0x0c  amoor_w 0x08
    amomin_w 0x10  amomax_w 0x14  amominu_w 0x18  amomaxu_w 0x1c
}

/// `lr.w rd, (base)`.
pub const fn lr_w(rd: Register, base: Register) -> u32 {
    r_type(0x2f, rd, 2, base, 0, 0x02 << 2)
}

/// Branches, with their `funct3`.
macro_rules! branches {
    ($($name:ident $f3:literal)*) => {$(
        #[doc = concat!("`", stringify!($name), " rs1, rs2, offset`; −4096 to 4094, even.")]
        pub const fn $name(rs1: Register, rs2: Register, offset: i32) -> u32 {
            b_type($f3, rs1, rs2, offset)
        }
    )*};
}

branches! { beq 0  bne 1  blt 4  bge 5  bltu 6  bgeu 7 }

/// `lui rd, upper`: `upper`, below 2²⁰, becomes the high 20 bits.
pub const fn lui(rd: Register, upper: u32) -> u32 {
    u_type(0x37, rd, upper)
}

/// `auipc rd, upper`: `upper`, below 2²⁰, is added to the high 20 bits of the pc.
pub const fn auipc(rd: Register, upper: u32) -> u32 {
    u_type(0x17, rd, upper)
}

/// `jal rd, offset`; −1,048,576 to 1,048,574, even.
pub const fn jal(rd: Register, offset: i32) -> u32 {
    fits(offset, 21);
    aligned(offset, 2);
    0x6f | field(rd.code(), 5, 7)
        | part(offset, 19, 12, 12)
        | part(offset, 11, 11, 20)
        | part(offset, 10, 1, 21)
        | part(offset, 20, 20, 31)
}

/// `jalr rd, offset(base)`; −2048 to 2047.
pub const fn jalr(rd: Register, offset: i32, base: Register) -> u32 {
    i_type(0x67, rd, 0, base, offset)
}

/// Accesses to a csr, with their `funct3`.
macro_rules! csr_accesses {
    ($($name:ident $with_constant:ident $f3:literal)*) => {$(
        #[doc = concat!("`", stringify!($name), " rd, csr, rs1`; a csr has a number below 4096.")]
        pub const fn $name(rd: Register, csr: u16, rs1: Register) -> u32 {
            csr_type(rd, $f3, csr, rs1.code())
        }

        #[doc = concat!("`", stringify!($with_constant), " rd, csr, immediate`; 0 to 31.")]
        pub const fn $with_constant(rd: Register, csr: u16, immediate: u32) -> u32 {
            csr_type(rd, $f3 + 4, csr, immediate)
        }
    )*};
}

csr_accesses! { csrrw csrrwi 1  csrrs csrrsi 2  csrrc csrrci 3 }

/// Instructions without operands.
macro_rules! fixed {
    ($($name:ident $word:literal)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        pub const fn $name() -> u32 {
            $word
        }
    )*};
}

fixed! {
    ecall 0x0000_0073  ebreak 0x0010_0073  mret 0x3020_0073  wfi 0x1050_0073
    fence 0x0ff0_000f  fence_i 0x0000_100f
}

/// `nop`, which is `addi x0, x0, 0`.
pub const fn nop() -> u32 {
    addi(ZERO, ZERO, 0)
}

/// `mv rd, source`, which is `addi rd, source, 0`.
pub const fn mv(rd: Register, source: Register) -> u32 {
    addi(rd, source, 0)
}

/// `j offset`, which is `jal x0, offset`.
pub const fn j(offset: i32) -> u32 {
    jal(ZERO, offset)
}

/// `ret`, which is `jalr x0, 0(ra)`.
pub const fn ret() -> u32 {
    jalr(ZERO, 0, RA)
}

/// `li rd, value` in two instructions, `lui` and `addi`, whatever the value.
pub const fn li(rd: Register, value: u32) -> [u32; 2] {
    // The constant of `addi` is signed; what it takes away is added above.
    let low = ((value << 20) as i32) >> 20;
    let upper = value.wrapping_sub(low as u32) >> 12;
    [lui(rd, upper), addi(rd, rd, low)]
}

/// The two halves of an instruction of 32 bits in the order in which they lie in memory, for programs
/// that mix the two sizes.
pub const fn halfwords(word: u32) -> [u16; 2] {
    [word as u16, (word >> 16) as u16]
}
