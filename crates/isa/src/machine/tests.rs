//! The machine against answers that were worked out by hand.

use super::{Machine, Setup, Stopped};
use crate::Program;
use crate::encode::*;

#[test]
fn a_loop_is_run_to_its_end() {
    let program = Program::from_words(
        0x1000,
        &[addi(A0, ZERO, 10), add(A1, A1, A0), addi(A0, A0, -1), bne(A0, ZERO, -8), ret()],
    );
    let mut machine = Machine::new(&program, &Setup::default()).unwrap();
    let mut pcs = Vec::new();
    assert_eq!(machine.run(1000, |step| pcs.push(step.pc)), Stopped::Left { pc: 0 });
    assert_eq!(machine.register(A1), 55);
    assert_eq!(machine.steps(), 32);
    assert_eq!(pcs[..5], [0x1000, 0x1004, 0x1008, 0x100c, 0x1004]);
}
