//! All 65,536 halfwords against an independent decoder.

use crate::compressed::*;
use isa::encode::*;
use isa::expand;
use rvdc::{Inst, Reg};

/// What the other decoder says of a halfword, corrected where the manual decides against it.
fn theirs(half: u16) -> Option<Inst> {
    let decoded = Inst::decode_compressed(half).ok();
    match (half, decoded) {
        // `c.addi16sp` with 0 is reserved (volume I, "Integer Register-Immediate Operations" of C).
        (0x6101, _) => None,
        // "C.ANDI … computes the bitwise AND of the value in register rd′ and the sign-extended 6-bit
        // immediate"; the sign is not extended there.
        (_, Some(Inst::Andi { imm, dest, src1 })) if imm & 0x20 != 0 => {
            Some(Inst::Andi { imm: imm | !0x3f, dest, src1 })
        }
        (_, decoded) => decoded,
    }
}

#[test]
fn every_halfword_is_what_an_independent_decoder_says() {
    let mut instructions = 0;
    for half in 0..=u16::MAX {
        let ours = expand(half);
        if half & 3 == 3 {
            assert_eq!(ours, None, "{half:#06x} begins a longer instruction");
            continue;
        }
        let read = ours.map(|word| Inst::decode_normal(word).unwrap());
        assert_eq!(read, theirs(half), "{half:#06x}");
        instructions += u32::from(ours.is_some());
    }
    // Of three quadrants of 16,384 each. Counted once, to see what moves.
    assert_eq!(instructions, INSTRUCTIONS);
}

/// What is refused, by the tables of the manual: in quadrant 0 the `funct3` 1, 3, 4, 5 and 7, and
/// `c.addi4spn` with 0; in quadrant 1 `c.lui` with 0, shifts by more than 31, and what is of RV64; in
/// quadrant 2 `c.slli` by more than 31, `c.lwsp` to `x0`, `c.jr` by `x0`, and floating point.
const INSTRUCTIONS: u32 = {
    let quadrant_0 = 2048 - 8 + 2 * 2048;
    let quadrant_1 = 8 * 2048 - 32 - 2 * 256 - 256;
    let quadrant_2 = 1024 + (2048 - 64) + (2048 - 1) + 2048;
    quadrant_0 + quadrant_1 + quadrant_2
};

#[test]
fn the_other_decoder_is_corrected_where_it_is_wrong_and_nowhere_else() {
    let corrected = (0..=u16::MAX)
        .filter(|half| half & 3 != 3 && theirs(*half) != Inst::decode_compressed(*half).ok());
    assert_eq!(corrected.count(), 1 + 256);
    let [dest, src1] = [Reg::S0; 2];
    assert_eq!(theirs(c_andi(S0, -32)), Some(Inst::Andi { imm: -32_i32 as u32, dest, src1 }));
}

/// Every short instruction of the writer is the long one that it stands for.
#[test]
fn what_is_written_short_is_read_long() {
    let same =
        |half: u16, word: u32| assert_eq!(expand(half), Some(word), "{half:#06x} {word:#010x}");
    for number in 1..32 {
        let rd = x(number);
        for constant in -32..32 {
            same(c_li(rd, constant), addi(rd, ZERO, constant));
            if constant != 0 {
                same(c_addi(rd, constant), addi(rd, rd, constant));
            }
            if constant != 0 && rd != SP {
                same(c_lui(rd, constant), lui(rd, constant as u32 & 0xf_ffff));
            }
        }
        for amount in 1..32 {
            same(c_slli(rd, amount), slli(rd, rd, amount));
        }
        for offset in (0..256).step_by(4) {
            same(c_lwsp(rd, offset), lw(rd, offset, SP));
            same(c_swsp(rd, offset), sw(rd, offset, SP));
        }
        for other in (1..32).map(x) {
            same(c_mv(rd, other), add(rd, ZERO, other));
            same(c_add(rd, other), add(rd, rd, other));
        }
        same(c_jr(rd), jalr(ZERO, 0, rd));
        same(c_jalr(rd), jalr(RA, 0, rd));
    }
    same(c_nop(), nop());
    same(c_ebreak(), ebreak());
    same(c_swsp(ZERO, 8), sw(ZERO, 8, SP));
}

#[test]
fn what_is_written_short_with_short_registers_is_read_long() {
    let same =
        |half: u16, word: u32| assert_eq!(expand(half), Some(word), "{half:#06x} {word:#010x}");
    for rd in (8..16).map(x) {
        for amount in 1..32 {
            same(c_srli(rd, amount), srli(rd, rd, amount));
            same(c_srai(rd, amount), srai(rd, rd, amount));
        }
        for constant in -32..32 {
            same(c_andi(rd, constant), andi(rd, rd, constant));
        }
        for constant in (4..1024).step_by(4) {
            same(c_addi4spn(rd, constant), addi(rd, SP, constant));
        }
        for offset in (-256..256).step_by(2) {
            same(c_beqz(rd, offset), beq(rd, ZERO, offset));
            same(c_bnez(rd, offset), bne(rd, ZERO, offset));
        }
        for other in (8..16).map(x) {
            same(c_sub(rd, other), sub(rd, rd, other));
            same(c_xor(rd, other), xor(rd, rd, other));
            same(c_or(rd, other), or(rd, rd, other));
            same(c_and(rd, other), and(rd, rd, other));
            for offset in (0..128).step_by(4) {
                same(c_lw(rd, offset, other), lw(rd, offset, other));
                same(c_sw(rd, offset, other), sw(rd, offset, other));
            }
        }
    }
    for offset in (-2048..2048).step_by(2) {
        same(c_j(offset), jal(ZERO, offset));
        same(c_jal(offset), jal(RA, offset));
    }
    for constant in (-512..512).step_by(16).filter(|constant| *constant != 0) {
        same(c_addi16sp(constant), addi(SP, SP, constant));
    }
}

/// An operand that does not fit is a panic, not another instruction.
#[test]
fn an_operand_that_does_not_fit_is_refused() {
    let refused: [fn() -> u32; 12] = [
        || addi(A0, A0, 2048),
        || addi(A0, A0, -2049),
        || slli(A0, A0, 32),
        || lui(A0, 1 << 20),
        || beq(A0, A0, 3),
        || beq(A0, A0, 4096),
        || jal(RA, 1 << 20),
        || csrrwi(ZERO, 0x300, 32),
        || csrrw(ZERO, 4096, A0),
        || u32::from(c_lw(A0, 2, A1)),
        || u32::from(c_lw(T0, 4, A1)),
        || u32::from(c_addi(A0, 0)),
    ];
    for (index, refused) in refused.into_iter().enumerate() {
        assert!(std::panic::catch_unwind(refused).is_err(), "case {index}");
    }
}
