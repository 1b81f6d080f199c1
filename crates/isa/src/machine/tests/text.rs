//! Programs that write instructions.

use super::*;

/// Stores a word over an instruction behind it, with or without `fence.i` between.
fn overwrites(fenced: bool) -> u32 {
    let fence = if fenced { fence_i() } else { fence() };
    let mut machine = machine(&[sw(A1, 12, A2), fence, nop(), addi(A0, A0, 1)]);
    machine.set_register(A1, addi(A0, A0, 2));
    machine.set_register(A2, BASE);
    let (_, stopped) = all(&mut machine);
    assert_eq!(stopped, Stopped::Left { pc: BASE + 16 });
    // Memory has the new one in any case.
    assert_eq!(machine.bytes(BASE + 12, 4).unwrap(), addi(A0, A0, 2).to_le_bytes());
    machine.register(A0)
}

#[test]
fn an_instruction_that_is_written_is_seen_after_fence_i() {
    assert_eq!(overwrites(true), 2);
    assert_eq!(overwrites(false), 1);
}

#[test]
fn a_store_to_any_part_of_an_instruction_changes_it() {
    for (store, value, a0, a1) in [
        // The highest byte of its constant.
        (sb(A2, 15, A3), 0x10, 257, 0),
        // Its destination, which becomes `a2`.
        (sb(A2, 13, A3), 0x06, 0, 0),
        // Its second half, with a 2 in place of the 1.
        (sh(A2, 14, A3), 0x0025, 2, 0),
        // All of it, aligned or with a byte of what stands before it.
        (sw(A2, 12, A3), addi(A1, ZERO, 9), 0, 9),
        (sw(A2, 11, A3), addi(A1, ZERO, 9) << 8, 0, 9),
        // The half before it, as it was, and its first half, with `a1` as the destination.
        (sw(A2, 10, A3), 0x0593_0000, 0, 1),
    ] {
        let mut machine = machine(&[store, fence_i(), nop(), addi(A0, A0, 1)]);
        machine.set_register(A2, value);
        machine.set_register(A3, BASE);
        assert_eq!(machine.run(4, |step| assert_eq!(step.trap, None)), Stopped::Limit);
        let seen = [A0, A1].map(|register| machine.register(register));
        assert_eq!(seen, [a0, a1], "{store:#010x}");
    }
}

#[test]
fn two_halves_of_an_instruction_may_be_written_apart() {
    let words = [sh(A1, 18, A3), fence_i(), sh(A2, 16, A3), fence_i(), 0];
    let mut machine = machine(&words);
    let [first, second] = halfwords(addi(A0, ZERO, 7));
    machine.set_register(A1, second.into());
    machine.set_register(A2, first.into());
    machine.set_register(A3, BASE);
    machine.run(5, |step| assert_eq!(step.trap, None));
    assert_eq!(machine.register(A0), 7);
}
