//! Random programs of RV32IMAC that always end, as ELF files.
//!
//! A program gives all registers random values, runs blocks of random instructions, adds up its
//! scratch memory, and exits with a register in `a0`. Branches and jumps go forwards or, in loops of a
//! few rounds and calls of two functions, in ways that end.

use crate::compressed::*;
use isa::encode::*;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const TEXT: u32 = 0x1_0000;
const SCRATCH: u32 = 0x10_0000;
const SCRATCH_BYTES: u32 = 512;
/// Accesses reach from the middle of the scratch memory so far, in both directions.
const REACH: i32 = 120;

/// Registers with a meaning, which no random instruction writes: two that point to the scratch memory,
/// the rounds of a loop, where functions return to, and where they lie.
const POINTER: Register = S0;
const ROUNDS: Register = S1;
const FUNCTION: Register = S2;
const KEPT: [Register; 6] = [ZERO, RA, SP, POINTER, ROUNDS, FUNCTION];

/// A seeded program under construction.
struct Writer {
    random: ChaCha8Rng,
    code: Vec<u16>,
}

impl Writer {
    fn word(&mut self, word: u32) {
        self.code.extend(halfwords(word));
    }

    fn half(&mut self, half: u16) {
        self.code.push(half);
    }

    /// What has been written since, as bytes.
    fn since(&self, start: usize) -> i32 {
        2 * (self.code.len() - start) as i32
    }

    fn below(&mut self, end: u32) -> u32 {
        self.random.random_range(0..end)
    }

    fn within(&mut self, low: i32, high: i32) -> i32 {
        self.random.random_range(low..=high)
    }

    /// Any register, to be read.
    fn source(&mut self) -> Register {
        x(self.below(32) as u8)
    }

    /// A register that may be written; now and then `x0`.
    fn target(&mut self) -> Register {
        loop {
            let register = self.source();
            if register == ZERO || !KEPT.contains(&register) {
                return register;
            }
        }
    }

    /// One that may be written and is not `x0`.
    fn real_target(&mut self) -> Register {
        loop {
            let register = self.target();
            if register != ZERO {
                return register;
            }
        }
    }

    /// One of `x10` to `x15`, which compressed instructions reach and which may be written.
    fn short_target(&mut self) -> Register {
        x(10 + self.below(6) as u8)
    }

    /// One of `x8` to `x15`.
    fn short(&mut self) -> Register {
        x(8 + self.below(8) as u8)
    }

    fn value(&mut self) -> u32 {
        const EDGES: [u32; 8] = [0, 1, 2, 31, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, u32::MAX];
        if self.below(3) == 0 {
            *EDGES.choose(&mut self.random).unwrap()
        } else {
            self.random.next_u32()
        }
    }

    fn set(&mut self, register: Register, value: u32) {
        for word in li(register, value) {
            self.word(word);
        }
    }

    /// Arithmetic of 32-bit instructions.
    fn long_arithmetic(&mut self) {
        type OfRegisters = fn(Register, Register, Register) -> u32;
        const OF_REGISTERS: [OfRegisters; 18] = [
            add, sub, sll, slt, sltu, xor, srl, sra, or, and, mul, mulh, mulhsu, mulhu, div, divu,
            rem, remu,
        ];
        const OF_CONSTANTS: [fn(Register, Register, i32) -> u32; 6] =
            [addi, slti, sltiu, xori, ori, andi];
        const SHIFTS: [fn(Register, Register, u32) -> u32; 3] = [slli, srli, srai];
        let (rd, rs1, rs2) = (self.target(), self.source(), self.source());
        let word = match self.below(8) {
            0..4 => OF_REGISTERS.choose(&mut self.random).unwrap()(rd, rs1, rs2),
            4..6 => {
                let constant = self.within(-2048, 2047);
                OF_CONSTANTS.choose(&mut self.random).unwrap()(rd, rs1, constant)
            }
            6 => {
                let amount = self.below(32);
                SHIFTS.choose(&mut self.random).unwrap()(rd, rs1, amount)
            }
            _ => {
                let upper = self.below(1 << 20);
                let what: fn(Register, u32) -> u32 =
                    *[lui, auipc].choose(&mut self.random).unwrap();
                what(rd, upper)
            }
        };
        self.word(word);
    }

    /// Arithmetic of 16-bit instructions.
    fn short_arithmetic(&mut self) {
        let (rd, rd8) = (self.real_target(), self.short_target());
        let (rs8, amount) = (self.short(), 1 + self.below(31));
        let source = x(1 + self.below(31) as u8);
        let constant = self.within(-32, 31);
        // Some have no meaning with 0.
        let upper = if constant == 0 { 1 } else { constant };
        let half = match self.below(16) {
            0 => c_addi(rd, upper),
            1 => c_li(rd, constant),
            2 => c_lui(rd, upper),
            3 => c_srli(rd8, amount),
            4 => c_srai(rd8, amount),
            5 => c_andi(rd8, constant),
            6 => c_sub(rd8, rs8),
            7 => c_xor(rd8, rs8),
            8 => c_or(rd8, rs8),
            9 => c_and(rd8, rs8),
            10 => c_slli(rd, amount),
            11 => c_mv(rd, source),
            12 => c_addi4spn(rd8, 4 * self.within(1, 255)),
            13 => {
                // Back at once: what follows finds its memory there.
                let step = 16 * self.within(1, 31);
                self.half(c_addi16sp(-step));
                c_addi16sp(step)
            }
            _ => c_add(rd, source),
        };
        self.half(half);
    }

    fn atomic(&mut self, target: Register, source: Register, base: Register) {
        const ATOMICS: [fn(Register, Register, Register) -> u32; 9] = [
            amoswap_w, amoadd_w, amoxor_w, amoand_w, amoor_w, amomin_w, amomax_w, amominu_w,
            amomaxu_w,
        ];
        let word = ATOMICS.choose(&mut self.random).unwrap()(target, source, base);
        self.word(word);
    }

    /// Loads and stores, more than half of them aligned.
    fn access(&mut self) {
        const LOADS: [fn(Register, i32, Register) -> u32; 5] = [lb, lh, lw, lbu, lhu];
        const STORES: [fn(Register, i32, Register) -> u32; 3] = [sb, sh, sw];
        let base = *[POINTER, SP].choose(&mut self.random).unwrap();
        let offset = self.within(-REACH, REACH) & if self.below(2) == 0 { !0 } else { !3 };
        let scaled = 4 * self.within(0, 31);
        let (target, source) = (self.target(), self.source());
        let (target8, source8, real) = (self.short_target(), self.short(), self.real_target());
        match self.below(12) {
            0..3 => {
                let word = LOADS.choose(&mut self.random).unwrap()(target, offset, base);
                self.word(word);
            }
            3..6 => {
                let word = STORES.choose(&mut self.random).unwrap()(source, offset, base);
                self.word(word);
            }
            6 => self.half(c_lw(target8, scaled, POINTER)),
            7 => self.half(c_sw(source8, scaled, POINTER)),
            8 => self.half(c_lwsp(real, scaled)),
            9 => self.atomic(target, source, base),
            10 => {
                // One that fails, and one that is carried out.
                self.word(sc_w(target, source, base));
                self.word(lr_w(target, base));
                self.word(sc_w(real, source, base));
            }
            _ => self.half(c_swsp(source, scaled)),
        }
    }

    /// An instruction that goes to the following one.
    fn plain(&mut self) {
        match self.below(12) {
            0..4 => self.long_arithmetic(),
            4..8 => self.short_arithmetic(),
            8..11 => self.access(),
            _ => {
                let word = *[fence(), fence_i(), nop()].choose(&mut self.random).unwrap();
                self.word(word);
            }
        }
    }

    fn plains(&mut self, most: u32) {
        for _ in 0..1 + self.below(most) {
            self.plain();
        }
    }

    /// Code that was written from somewhere on, taken back, for something to stand before it.
    fn taken(&mut self, write: impl FnOnce(&mut Self)) -> Vec<u16> {
        let start = self.code.len();
        write(self);
        self.code.split_off(start)
    }

    /// A branch or a jump over some instructions.
    fn forwards(&mut self) {
        const BRANCHES: [fn(Register, Register, i32) -> u32; 6] = [beq, bne, blt, bge, bltu, bgeu];
        let skipped = self.taken(|writer| writer.plains(6));
        let bytes = 2 * skipped.len() as i32;
        let (rs1, rs2, rs8, target) = (self.source(), self.source(), self.short(), self.target());
        match self.below(9) {
            0..3 => {
                let word = BRANCHES.choose(&mut self.random).unwrap()(rs1, rs2, bytes + 4);
                self.word(word);
            }
            3 => self.half(c_beqz(rs8, bytes + 2)),
            4 => self.half(c_bnez(rs8, bytes + 2)),
            5 => self.word(jal(target, bytes + 4)),
            6 => self.half(c_j(bytes + 2)),
            7 => self.half(c_jal(bytes + 2)),
            _ => {
                let through = self.real_target();
                self.word(auipc(through, 0));
                self.word(jalr(target, bytes + 8, through));
            }
        }
        self.code.extend(skipped);
    }

    /// Some instructions a few times.
    fn rounds(&mut self) {
        let rounds = self.within(1, 6);
        self.half(c_li(ROUNDS, rounds));
        let start = self.code.len();
        self.plains(8);
        self.forwards();
        self.half(c_addi(ROUNDS, -1));
        let back = -self.since(start);
        // Far ones do not fit into the short branch.
        if back > -250 && self.below(2) == 0 {
            self.half(c_bnez(ROUNDS, back));
        } else {
            self.word(bne(ROUNDS, ZERO, back));
        }
    }

    /// Instructions that return to where they were called from; where they begin.
    fn function(&mut self) -> usize {
        let start = self.code.len();
        self.plains(8);
        self.forwards_without_link();
        if self.below(2) == 0 {
            self.word(ret())
        } else {
            self.half(c_jr(RA))
        }
        start
    }

    /// A branch in a function, whose return address no jump may overwrite.
    fn forwards_without_link(&mut self) {
        let skipped = self.taken(|writer| writer.plains(3));
        let (rs1, rs2) = (self.source(), self.source());
        self.word(bltu(rs1, rs2, 2 * skipped.len() as i32 + 4));
        self.code.extend(skipped);
    }

    fn call(&mut self, functions: [usize; 2]) {
        let function = *functions.choose(&mut self.random).unwrap();
        let back = -self.since(function);
        match self.below(3) {
            0 if back >= -2048 => self.half(c_jal(back)),
            1 => {
                self.word(auipc(FUNCTION, 0));
                self.call_from_here(back);
            }
            _ => self.word(jal(RA, back)),
        }
    }

    /// Calls what lies so far from the pc that `FUNCTION` holds.
    fn call_from_here(&mut self, back: i32) {
        if back >= -2048 && self.below(2) == 0 {
            self.word(jalr(RA, back, FUNCTION));
        } else {
            for word in li(RA, back as u32) {
                self.word(word);
            }
            self.half(c_add(FUNCTION, RA));
            self.half(c_jalr(FUNCTION));
        }
    }

    /// All of it.
    fn program(&mut self) {
        // The jump over the functions is written when it is known how long they are.
        self.word(nop());
        let functions = [self.function(), self.function()];
        let over = self.since(0);
        self.code[..2].copy_from_slice(&halfwords(jal(ZERO, over)));
        for number in 1..32 {
            let value = self.value();
            self.set(x(number), value);
        }
        self.set(POINTER, SCRATCH + SCRATCH_BYTES / 2);
        self.set(SP, SCRATCH + SCRATCH_BYTES / 2);
        for _ in 0..30 {
            match self.below(6) {
                0..3 => self.plains(5),
                3 => self.forwards(),
                4 => self.rounds(),
                _ => self.call(functions),
            }
        }
        self.ending();
    }

    /// Adds up the scratch memory into a register, and exits with it.
    fn ending(&mut self) {
        self.set(POINTER, SCRATCH);
        self.set(ROUNDS, SCRATCH + SCRATCH_BYTES);
        let start = self.code.len();
        self.half(c_lw(A5, 0, POINTER));
        self.word(slli(A4, A0, 1));
        self.half(c_add(A0, A4));
        self.half(c_add(A0, A5));
        self.half(c_addi(POINTER, 4));
        let back = -self.since(start);
        self.word(bltu(POINTER, ROUNDS, back));
        self.word(addi(A7, ZERO, 93));
        self.word(ecall());
    }
}

/// The program of a seed, as an ELF file without sections: headers and instructions in one segment,
/// scratch memory with random bytes in another.
pub(crate) fn elf(seed: u64) -> Vec<u8> {
    let mut writer = Writer { random: ChaCha8Rng::seed_from_u64(seed), code: Vec::new() };
    writer.program();
    let code: Vec<u8> = writer.code.iter().flat_map(|half| half.to_le_bytes()).collect();
    const HEADERS: u32 = 52 + 2 * 32;
    let text_bytes = HEADERS + code.len() as u32;
    // A segment's place in the file and in memory are the same within a page.
    let scratch_at = text_bytes.next_multiple_of(4096);
    let mut file = vec![0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let half = |file: &mut Vec<u8>, value: u16| file.extend(value.to_le_bytes());
    let words = |file: &mut Vec<u8>, values: &[u32]| {
        values.iter().for_each(|value| file.extend(value.to_le_bytes()));
    };
    half(&mut file, 2);
    half(&mut file, 243);
    // Version, entry, program headers, no sections, RVC.
    words(&mut file, &[1, TEXT + HEADERS, 52, 0, 1]);
    for value in [52, 32, 2, 40, 0, 0] {
        half(&mut file, value);
    }
    words(&mut file, &[1, 0, TEXT, TEXT, text_bytes, text_bytes, 5, 4096]);
    words(&mut file, &[1, scratch_at, SCRATCH, SCRATCH, SCRATCH_BYTES, SCRATCH_BYTES, 6, 4096]);
    file.extend(code);
    file.resize(scratch_at as usize, 0);
    file.extend((0..SCRATCH_BYTES).map(|_| writer.random.random::<u8>()));
    file
}

/// Writes a file that may be executed.
pub(crate) fn write_executable(path: &Path, bytes: &[u8]) {
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o755).open(path).unwrap();
    file.write_all(bytes).unwrap();
}
