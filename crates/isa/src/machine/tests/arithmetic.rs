//! Every instruction that computes, at the edges of its range.

use super::*;

const MIN: u32 = 0x8000_0000;
const MAX: u32 = 0x7fff_ffff;
const ONES: u32 = u32::MAX;

/// What a function of two registers gives, and that it reads and writes what it names.
fn of_registers(word: fn(Register, Register, Register) -> u32, a: u32, b: u32) -> (u32, Kind) {
    let mut machine = machine(&[word(A0, A1, A2)]);
    machine.set_register(A1, a);
    machine.set_register(A2, b);
    let step = machine.step().unwrap();
    assert_eq!((step.reads, step.writes), ([11, 12], 10));
    assert_eq!((step.pc, step.next, step.size), (BASE, BASE + 4, 4));
    assert_eq!((step.access, step.trap), (None, None));
    (machine.register(A0), step.kind)
}

#[test]
fn functions_of_two_registers() {
    type Case = (fn(Register, Register, Register) -> u32, u32, u32, u32);
    const CASES: [Case; 26] = [
        (add, ONES, 1, 0),
        (add, MAX, 1, MIN),
        (sub, 0, 1, ONES),
        (sub, MIN, 1, MAX),
        (sll, 1, 31, MIN),
        // The low five bits alone.
        (sll, 3, 33, 6),
        (srl, MIN, 31, 1),
        (srl, ONES, 32 + 4, 0x0fff_ffff),
        (sra, MIN, 31, ONES),
        (sra, MIN, 32, MIN),
        (sra, MAX, 30, 1),
        (slt, MIN, MAX, 1),
        (slt, MAX, MIN, 0),
        (slt, 5, 5, 0),
        (slt, ONES, 0, 1),
        (sltu, MIN, MAX, 0),
        (sltu, MAX, MIN, 1),
        (sltu, 0, ONES, 1),
        (sltu, 0, 0, 0),
        (xor, 0xff00_ff00, 0x0ff0_0ff0, 0xf0f0_f0f0),
        (or, 0xff00_ff00, 0x0ff0_0ff0, 0xfff0_fff0),
        (and, 0xff00_ff00, 0x0ff0_0ff0, 0x0f00_0f00),
        (add, 0, 0, 0),
        (sub, MIN, MIN, 0),
        (sra, ONES, 5, ONES),
        (srl, 0, 7, 0),
    ];
    for (index, (word, a, b, expected)) in CASES.into_iter().enumerate() {
        assert_eq!(of_registers(word, a, b), (expected, Kind::Alu), "case {index}");
    }
}

#[test]
fn products_and_their_high_halves() {
    type Case = (fn(Register, Register, Register) -> u32, u32, u32, u32);
    const CASES: [Case; 19] = [
        (mul, 0xffff, 0x1_0001, ONES),
        (mul, ONES, ONES, 1),
        (mul, MIN, 2, 0),
        (mul, MIN, ONES, MIN),
        (mulh, ONES, ONES, 0),
        (mulh, MIN, MIN, 0x4000_0000),
        (mulh, MIN, MAX, 0xc000_0000),
        (mulh, MAX, MAX, 0x3fff_ffff),
        (mulh, ONES, 1, ONES),
        (mulhu, ONES, ONES, 0xffff_fffe),
        (mulhu, MIN, MIN, 0x4000_0000),
        (mulhu, MIN, 2, 1),
        (mulhu, ONES, 1, 0),
        // The first with its sign, the second without.
        (mulhsu, ONES, ONES, ONES),
        (mulhsu, ONES, 1, ONES),
        (mulhsu, 1, ONES, 0),
        (mulhsu, MIN, ONES, MIN),
        (mulhsu, MAX, ONES, 0x7fff_fffe),
        (mulhsu, MIN, 2, ONES),
    ];
    for (index, (word, a, b, expected)) in CASES.into_iter().enumerate() {
        assert_eq!(of_registers(word, a, b), (expected, Kind::Multiply), "case {index}");
    }
}

/// Volume I, "Division Operations", table "Semantics for division by zero and division overflow".
#[test]
fn quotients_and_rests_with_those_that_do_not_exist() {
    type Case = (fn(Register, Register, Register) -> u32, u32, u32, u32);
    const CASES: [Case; 20] = [
        (div, 7, 2, 3),
        (div, -7_i32 as u32, 2, -3_i32 as u32),
        (div, 7, -2_i32 as u32, -3_i32 as u32),
        (div, 7, 0, ONES),
        (div, 0, 0, ONES),
        (div, MIN, ONES, MIN),
        (divu, 7, 2, 3),
        (divu, ONES, 2, MAX),
        (divu, 7, 0, ONES),
        (divu, MIN, ONES, 0),
        (rem, 7, 2, 1),
        (rem, -7_i32 as u32, 2, ONES),
        (rem, 7, -2_i32 as u32, 1),
        (rem, 7, 0, 7),
        (rem, -7_i32 as u32, 0, -7_i32 as u32),
        (rem, MIN, ONES, 0),
        (remu, 7, 2, 1),
        (remu, ONES, 10, 5),
        (remu, ONES, 0, ONES),
        (remu, MIN, ONES, MIN),
    ];
    for (index, (word, a, b, expected)) in CASES.into_iter().enumerate() {
        assert_eq!(of_registers(word, a, b), (expected, Kind::Divide), "case {index}");
    }
}

#[test]
fn functions_of_a_register_and_a_constant() {
    for (word, a, expected) in [
        (addi(A0, A1, -1), 0, ONES),
        (addi(A0, A1, 2047), 1, 2048),
        (slti(A0, A1, -1), -2_i32 as u32, 1),
        (slti(A0, A1, -1), 0, 0),
        // The constant is extended by its sign, and then compared without one.
        (sltiu(A0, A1, -1), 5, 1),
        (sltiu(A0, A1, -1), ONES, 0),
        (sltiu(A0, A1, 1), 0, 1),
        (xori(A0, A1, -1), 0x1234_5678, 0xedcb_a987),
        (ori(A0, A1, -2048), 1, 0xffff_f801),
        (andi(A0, A1, -2048), ONES, 0xffff_f800),
        (slli(A0, A1, 31), 3, MIN),
        (slli(A0, A1, 0), 3, 3),
        (srli(A0, A1, 31), MIN, 1),
        (srai(A0, A1, 31), MIN, ONES),
        (srai(A0, A1, 4), MAX, 0x07ff_ffff),
    ] {
        let mut machine = machine(&[word]);
        machine.set_register(A1, a);
        let step = machine.step().unwrap();
        assert_eq!(machine.register(A0), expected, "{word:#010x} of {a:#x}");
        assert_eq!((step.reads, step.writes, step.kind), ([11, 0], 10, Kind::Alu));
    }
}

#[test]
fn upper_constants() {
    for (word, expected) in [
        (lui(A0, 0x12345), 0x1234_5000),
        (lui(A0, 0xf_ffff), 0xffff_f000),
        (auipc(A0, 0), BASE),
        (auipc(A0, 1), BASE + 0x1000),
        // Over the end of the address space.
        (auipc(A0, 0xf_ffff), BASE - 0x1000),
    ] {
        let mut machine = machine(&[word]);
        let step = machine.step().unwrap();
        assert_eq!(machine.register(A0), expected, "{word:#010x}");
        assert_eq!((step.reads, step.writes, step.kind), ([0, 0], 10, Kind::Alu));
    }
    for value in [0, 1, 0x7ff, 0x800, 0xfff, 0x1000, MAX, MIN, ONES, 0xffff_f800, 0x1234_5fff] {
        let mut machine = machine(&li(A0, value));
        all(&mut machine);
        assert_eq!(machine.register(A0), value, "{value:#x}");
    }
}

#[test]
fn x0_stays_0() {
    let mut machine =
        machine(&[addi(ZERO, ZERO, 5), lui(ZERO, 1), jal(ZERO, 4), add(A0, ZERO, ZERO)]);
    machine.set_register(A0, 1);
    machine.set_register(ZERO, 1);
    let (steps, _) = all(&mut machine);
    assert_eq!((machine.register(ZERO), machine.register(A0)), (0, 0));
    assert_eq!(steps[0].writes, 0);
}
