//! Atomic instructions, their reservation, and what they trap at.

use super::*;

/// A word behind the program.
const WORD: i32 = 0x1080;

fn prepared(words: &[u32], value: u32) -> Machine {
    let mut all = words.to_vec();
    all.resize(64, nop());
    let mut machine = machine(&all);
    machine.set_register(A1, value);
    machine.set_register(A2, WORD as u32);
    machine.memory.write(WORD as u32, 0x8000_0005_u32.to_le_bytes()).unwrap();
    machine
}

fn at_word(machine: &Machine) -> u32 {
    u32::from_le_bytes(machine.bytes(WORD as u32, 4).unwrap().try_into().unwrap())
}

#[test]
fn each_operation_returns_what_the_word_was() {
    for (word, value, stored) in [
        (amoswap_w(A0, A1, A2), 7, 7),
        (amoadd_w(A0, A1, A2), 0x8000_0000, 5),
        (amoxor_w(A0, A1, A2), 6, 0x8000_0003),
        (amoand_w(A0, A1, A2), 4, 4),
        (amoor_w(A0, A1, A2), 2, 0x8000_0007),
        (amomin_w(A0, A1, A2), 1, 0x8000_0005),
        (amomax_w(A0, A1, A2), 1, 1),
        (amominu_w(A0, A1, A2), 1, 1),
        (amomaxu_w(A0, A1, A2), 1, 0x8000_0005),
    ] {
        // aq and rl change nothing.
        for ordering in 0..4 {
            let mut machine = prepared(&[word | ordering << 25], value);
            let step = machine.step().unwrap();
            assert_eq!((machine.register(A0), at_word(&machine)), (0x8000_0005, stored));
            let access = step.access.unwrap();
            assert_eq!((access.address, access.bytes, access.write), (WORD as u32, 4, true));
            assert_eq!((step.kind, step.reads, step.writes), (Kind::Load, [12, 11], 10));
        }
    }
}

#[test]
fn a_word_is_stored_only_where_it_was_reserved() {
    let pair = [lr_w(A0, A2), sc_w(A3, A1, A2), sc_w(A4, A1, A2)];
    let mut machine = prepared(&pair, 9);
    machine.run(3, |_| {});
    assert_eq!([A0, A3, A4].map(|register| machine.register(register)), [0x8000_0005, 0, 1]);
    assert_eq!(at_word(&machine), 9);
    // Another word, or a trap between.
    let mut machine = prepared(&[lr_w(A0, A2), addi(A2, A2, 4), sc_w(A3, A1, A2)], 9);
    machine.run(3, |_| {});
    assert_eq!((machine.register(A3), at_word(&machine)), (1, 0x8000_0005));
    let mut machine = prepared(&[lr_w(A0, A2), ecall(), sc_w(A3, A1, A2)], 9);
    machine.write_csr(csr::MTVEC, BASE + 8).unwrap();
    machine.run(3, |_| {});
    assert_eq!((machine.register(A3), at_word(&machine)), (1, 0x8000_0005));
}

#[test]
fn misaligned_and_absent_words_trap() {
    for (word, misaligned, absent) in [
        (lr_w(A0, A2), Exception::LoadMisaligned, Exception::LoadAccess),
        (amoadd_w(A0, A1, A2), Exception::StoreMisaligned, Exception::StoreAccess),
    ] {
        for (address, cause) in [(WORD as u32 + 2, misaligned), (0x9000_0000, absent)] {
            let mut machine = prepared(&[word], 0);
            machine.set_register(A2, address);
            let trap = exception(cause, address);
            assert_eq!(machine.step(), Err(Stopped::Unhandled { pc: BASE, trap }));
        }
    }
    let mut machine = prepared(&[sc_w(A0, A1, A2)], 0);
    machine.set_register(A2, 1);
    let trap = exception(Exception::StoreMisaligned, 1);
    assert_eq!(machine.step(), Err(Stopped::Unhandled { pc: BASE, trap }));
}
