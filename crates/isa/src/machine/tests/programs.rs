//! Small programs, and how a run goes on.

use super::*;

#[test]
fn a_loop_is_run_to_its_end() {
    let words = [addi(A0, ZERO, 10), add(A1, A1, A0), addi(A0, A0, -1), bne(A0, ZERO, -8), ret()];
    let mut machine = machine(&words);
    let (steps, stopped) = all(&mut machine);
    assert_eq!(stopped, Stopped::Left { pc: HOME });
    assert_eq!((machine.register(A1), machine.steps(), machine.retired()), (55, 32, 32));
    let pcs: Vec<u32> = steps.iter().map(|step| step.pc).take(5).collect();
    assert_eq!(pcs, [BASE, BASE + 4, BASE + 8, BASE + 12, BASE + 4]);
}

#[test]
fn a_run_in_pieces_is_the_same_run() {
    let words = [addi(A0, ZERO, 10), add(A1, A1, A0), addi(A0, A0, -1), bne(A0, ZERO, -8), ret()];
    let (whole, _) = all(&mut machine(&words));
    let mut machine = machine(&words);
    let mut pieces = Vec::new();
    while machine.run(3, |step| pieces.push(*step)) == Stopped::Limit {}
    assert_eq!(pieces, whole);
    assert_eq!(machine.run(0, |_| {}), Stopped::Limit);
}

#[test]
fn functions_keep_their_variables_on_the_stack() {
    // fib(n), by calling itself twice.
    let words = [
        addi(SP, SP, -16),
        sw(RA, 12, SP),
        sw(S0, 8, SP),
        sw(S1, 4, SP),
        mv(S0, A0),
        addi(T0, ZERO, 2),
        blt(A0, T0, 28),
        addi(A0, S0, -1),
        jal(RA, -32),
        mv(S1, A0),
        addi(A0, S0, -2),
        jal(RA, -44),
        add(A0, A0, S1),
        lw(RA, 12, SP),
        lw(S0, 8, SP),
        lw(S1, 4, SP),
        addi(SP, SP, 16),
        ret(),
    ];
    let mut machine = machine(&words);
    let top = machine.register(SP);
    machine.set_register(A0, 15);
    assert_eq!(machine.run(1_000_000, |_| {}), Stopped::Left { pc: HOME });
    assert_eq!((machine.register(A0), machine.register(SP)), (610, top));
}
