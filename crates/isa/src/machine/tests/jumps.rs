//! Branches, jumps, and where they lead.

use super::compressed::{c_addi, c_jal, c_jalr, c_nop};
use super::*;

#[test]
fn branches_are_taken_or_not() {
    type Branch = fn(Register, Register, i32) -> u32;
    const LOW: u32 = -1_i32 as u32;
    const CASES: [(Branch, u32, u32, bool); 18] = [
        (beq, 1, 1, true),
        (beq, 1, 2, false),
        (bne, 1, 2, true),
        (bne, 2, 2, false),
        (blt, LOW, 1, true),
        (blt, 1, LOW, false),
        (blt, 1, 1, false),
        (bge, 1, LOW, true),
        (bge, 1, 1, true),
        (bge, LOW, 1, false),
        (bltu, 1, LOW, true),
        (bltu, LOW, 1, false),
        (bltu, 1, 1, false),
        (bgeu, LOW, 1, true),
        (bgeu, 1, 1, true),
        (bgeu, 1, LOW, false),
        (blt, 0x8000_0000, 0x7fff_ffff, true),
        (bltu, 0x8000_0000, 0x7fff_ffff, false),
    ];
    for (index, (branch, a, b, taken)) in CASES.into_iter().enumerate() {
        let mut machine = machine(&[branch(A0, A1, 8), nop(), nop()]);
        machine.set_register(A0, a);
        machine.set_register(A1, b);
        let step = machine.step().unwrap();
        assert_eq!(step.next, BASE + if taken { 8 } else { 4 }, "case {index}");
        assert_eq!(step.redirects(), taken);
        assert_eq!((step.kind, step.reads, step.writes), (Kind::Branch, [10, 11], 0));
    }
}

#[test]
fn a_branch_to_the_following_instruction_does_not_redirect() {
    let step = machine(&[beq(ZERO, ZERO, 4)]).step().unwrap();
    assert!(!step.redirects());
}

#[test]
fn jumps_link_to_what_follows_them() {
    let mut machine = machine(&[jal(RA, 8), nop(), jalr(A0, -4, A1), nop()]);
    machine.set_register(A1, BASE + 17);
    let (steps, _) = (machine.step().unwrap(), ());
    assert_eq!((steps.kind, steps.writes, steps.reads), (Kind::Jump, 1, [0, 0]));
    assert_eq!((machine.register(RA), machine.pc()), (BASE + 4, BASE + 8));
    let step = machine.step().unwrap();
    assert_eq!((step.kind, step.writes, step.reads), (Kind::JumpRegister, 10, [11, 0]));
    // The lowest bit of the sum is left out.
    assert_eq!((machine.register(A0), machine.pc()), (BASE + 12, BASE + 12));
}

#[test]
fn a_jump_by_the_register_that_it_writes_reads_it_first() {
    let mut machine = machine(&[jalr(A0, 0, A0), nop()]);
    machine.set_register(A0, BASE + 4);
    machine.step().unwrap();
    assert_eq!((machine.pc(), machine.register(A0)), (BASE + 4, BASE + 4));
}

#[test]
fn short_jumps_link_two_bytes_later() {
    let halves = [c_jal(4), c_nop(), c_jalr(A0), c_nop()];
    let mut machine =
        Machine::new(&Program::from_halfwords(BASE, &halves), &Setup::default()).unwrap();
    machine.set_register(A0, BASE + 6);
    let step = machine.step().unwrap();
    assert_eq!((step.size, step.next, machine.register(RA)), (2, BASE + 4, BASE + 2));
    let step = machine.step().unwrap();
    assert_eq!((step.size, step.next, machine.register(RA)), (2, BASE + 6, BASE + 6));
}

#[test]
fn instructions_lie_across_the_ends_of_words() {
    let [first, second] = halfwords(addi(A0, A0, 1));
    let halves = [c_nop(), first, second, first, second, c_nop()];
    let mut machine =
        Machine::new(&Program::from_halfwords(BASE, &halves), &Setup::default()).unwrap();
    let (steps, stopped) = all(&mut machine);
    let places: Vec<(u32, u8)> = steps.iter().map(|step| (step.pc, step.size)).collect();
    assert_eq!(places, [(BASE, 2), (BASE + 2, 4), (BASE + 6, 4), (BASE + 10, 2)]);
    assert_eq!((machine.register(A0), stopped), (2, Stopped::Left { pc: BASE + 12 }));
}

#[test]
fn a_jump_into_the_middle_of_an_instruction_finds_another_one() {
    // The second half of this `lui` is a `c.addi a0, 1`.
    let half = c_addi(A0, 1);
    let word = lui(A1, u32::from(half) << 4);
    let mut machine = machine(&[j(6), word]);
    let (steps, _) = all(&mut machine);
    assert_eq!((steps[1].pc, steps[1].size), (BASE + 6, 2));
    assert_eq!((machine.register(A0), machine.register(A1)), (1, 0));
}

#[test]
fn without_short_instructions_a_misaligned_target_traps() {
    let setup = Setup { compressed: false, ..Setup::default() };
    for (word, target) in [
        (jal(RA, 6), BASE + 6),
        (beq(ZERO, ZERO, 6), BASE + 6),
        (jalr(RA, 2, A1), BASE + 10),
        // The lowest bit is no fault, and left out.
        (jalr(RA, 3, A1), BASE + 10),
    ] {
        let mut machine = with_handler(setup, &[word], &[nop()]);
        machine.set_register(A1, BASE + 8);
        let step = machine.step().unwrap();
        assert_eq!(step.trap, Some(super::exception(Exception::InstructionMisaligned, target)));
        assert_eq!((step.pc, step.next, step.writes), (BASE, HANDLER, 0));
        assert_eq!(machine.register(RA), HOME, "a jump that traps links to nothing");
    }
    // A branch that is not taken asks nobody where it would go; with short instructions, neither.
    let step = with(setup, &[bne(ZERO, ZERO, 6)]).step().unwrap();
    assert_eq!(step.trap, None);
    assert_eq!(machine(&[jal(RA, 6)]).step().unwrap().trap, None);
}
