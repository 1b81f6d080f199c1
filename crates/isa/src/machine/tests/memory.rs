//! Loads, stores, and the addresses at which there is nothing.

use super::*;
use crate::step::Access;
use crate::{Error, MEMORY_MAX_BYTES, Segment, TIMER_ADDRESS};

const DATA: u32 = 0x2000;

/// A program with eight bytes of memory that may be written, and eight that may not.
fn with_data(setup: Setup, words: &[u32]) -> Machine {
    let mut program = Program::from_words(BASE, words);
    let bytes = vec![0x81, 0x92, 0xa3, 0xb4, 0x45, 0x56, 0x67, 0x78];
    let data = Segment { address: DATA, size: 8, bytes, writable: true };
    program.segments.push(Segment { address: DATA + 0x1000, writable: false, ..data.clone() });
    program.segments.push(data);
    let mut machine = Machine::new(&program, &setup).unwrap();
    machine.set_register(A1, DATA);
    machine.set_register(A2, 0xdead_beef);
    machine
}

#[test]
fn loads_extend_what_they_load() {
    for (word, expected, address, bytes) in [
        (lb(A0, 0, A1), 0xffff_ff81, DATA, 1),
        (lb(A0, 4, A1), 0x45, DATA + 4, 1),
        (lbu(A0, 0, A1), 0x81, DATA, 1),
        (lh(A0, 2, A1), 0xffff_b4a3, DATA + 2, 2),
        (lh(A0, 4, A1), 0x5645, DATA + 4, 2),
        (lhu(A0, 2, A1), 0xb4a3, DATA + 2, 2),
        (lw(A0, 0, A1), 0xb4a3_9281, DATA, 4),
        // Misaligned ones, too.
        (lw(A0, 1, A1), 0x45b4_a392, DATA + 1, 4),
        (lh(A0, 3, A1), 0x45b4, DATA + 3, 2),
        (lw(A0, 4, A1), 0x7867_5645, DATA + 4, 4),
    ] {
        let mut machine = with_data(Setup::default(), &[word]);
        let step = machine.step().unwrap();
        assert_eq!(machine.register(A0), expected, "{word:#010x}");
        assert_eq!(step.access, Some(Access { address, bytes, write: false }));
        assert_eq!((step.kind, step.reads, step.writes), (Kind::Load, [11, 0], 10));
    }
}

#[test]
fn stores_write_as_many_bytes_as_they_say() {
    for (word, expected, address, bytes) in [
        (sb(A2, 1, A1), 0x7867_5645_b4a3_ef81_u64, DATA + 1, 1),
        (sh(A2, 2, A1), 0x7867_5645_beef_9281, DATA + 2, 2),
        (sw(A2, 4, A1), 0xdead_beef_b4a3_9281, DATA + 4, 4),
        (sw(A2, 3, A1), 0x78de_adbe_efa3_9281, DATA + 3, 4),
        (sh(A2, 3, A1), 0x7867_56be_efa3_9281, DATA + 3, 2),
    ] {
        let mut machine = with_data(Setup::default(), &[word]);
        let step = machine.step().unwrap();
        let seen = u64::from_le_bytes(machine.bytes(DATA, 8).unwrap().try_into().unwrap());
        assert_eq!(seen, expected, "{word:#010x}");
        assert_eq!(step.access, Some(Access { address, bytes, write: true }));
        assert_eq!((step.kind, step.reads, step.writes), (Kind::Store, [11, 12], 0));
    }
}

#[test]
fn what_is_not_there_traps_and_changes_nothing() {
    for (word, address, cause) in [
        (lw(A2, 8, A1), DATA + 8, Exception::LoadAccess),
        // One byte of it is there.
        (lw(A2, 7, A1), DATA + 7, Exception::LoadAccess),
        (lh(A2, -1, A1), DATA - 1, Exception::LoadAccess),
        (lb(A2, -1, A1), DATA - 1, Exception::LoadAccess),
        (lw(A2, -4, ZERO), 0xffff_fffc, Exception::LoadAccess),
        (lw(A2, -1, ZERO), 0xffff_ffff, Exception::LoadAccess),
        (sw(A2, 5, A1), DATA + 5, Exception::StoreAccess),
        (sb(A2, 8, A1), DATA + 8, Exception::StoreAccess),
        (sw(A2, 0, ZERO), 0, Exception::StoreAccess),
    ] {
        let mut machine = with_data(Setup::default(), &[word]);
        let stopped = machine.step().unwrap_err();
        let trap = super::exception(cause, address);
        assert_eq!(stopped, Stopped::Unhandled { pc: BASE, trap }, "{word:#010x}");
        assert_eq!(machine.register(A2), 0xdead_beef);
        assert_eq!(machine.bytes(DATA, 8).unwrap()[7], 0x78);
    }
}

#[test]
fn memory_that_may_not_be_written_is_read_and_keeps_its_bytes() {
    let mut machine = with_data(Setup::default(), &[lw(A0, 0, A1), sw(A2, 0, A1)]);
    machine.set_register(A1, DATA + 0x1000);
    machine.step().unwrap();
    assert_eq!(machine.register(A0), 0xb4a3_9281);
    let trap = super::exception(Exception::StoreAccess, DATA + 0x1000);
    assert_eq!(machine.step(), Err(Stopped::Unhandled { pc: BASE + 4, trap }));
}

#[test]
fn misaligned_accesses_trap_where_that_is_chosen() {
    let setup = Setup { misaligned: Misaligned::Trapped, ..Setup::default() };
    for (word, cause, offset) in [
        (lh(A2, 1, A1), Some(Exception::LoadMisaligned), 1),
        (lhu(A2, 3, A1), Some(Exception::LoadMisaligned), 3),
        (lw(A2, 2, A1), Some(Exception::LoadMisaligned), 2),
        (sh(A2, 1, A1), Some(Exception::StoreMisaligned), 1),
        (sw(A2, 2, A1), Some(Exception::StoreMisaligned), 2),
        (lb(A2, 1, A1), None, 1),
        (lh(A2, 2, A1), None, 2),
        (sw(A2, 4, A1), None, 4),
    ] {
        let mut machine = with_data(setup, &[word]);
        let expected = cause.map(|cause| super::exception(cause, DATA + offset));
        let seen = machine.step().err().map(|stopped| match stopped {
            Stopped::Unhandled { trap, .. } => trap,
            other => panic!("{other}"),
        });
        assert_eq!(seen, expected, "{word:#010x}");
    }
}

#[test]
fn the_stack_lies_where_the_program_does_not() {
    let mut machine = machine(&[addi(SP, SP, -16), sw(A0, 12, SP), sw(A0, 16, SP)]);
    let top = machine.register(SP);
    assert_eq!(top, 0x8000_0000 - 4096);
    machine.step().unwrap();
    machine.step().unwrap();
    // Above it is nothing.
    let trap = super::exception(Exception::StoreAccess, top);
    assert_eq!(machine.step(), Err(Stopped::Unhandled { pc: BASE + 8, trap }));
    let mut program = Program::from_words(BASE, &[nop()]);
    let segment = Segment { address: 0x7fff_0000, size: 16, ..Segment::default() };
    program.segments.push(segment);
    let machine = Machine::new(&program, &Setup::default()).unwrap();
    assert_eq!(machine.register(SP), 0xff00_0000 - 4096);
}

#[test]
fn programs_that_do_not_fit_are_refused_with_what_would_be_right() {
    let segment = |address, size| Segment { address, size, ..Segment::default() };
    let most = MEMORY_MAX_BYTES as u32;
    for (segments, expected) in [
        (vec![segment(DATA, most)], "bytes of memory, its stack included; the machine has at most"),
        (vec![segment(0x1_0000, most), segment(0x1000_0000, most)], "at most 268435456"),
        (
            vec![segment(BASE, 4)],
            "the segment at 0x00001000 and the segment at 0x00001000 lie over",
        ),
        (vec![segment(0xffff_fff0, 17)], "ends behind the last address"),
        (vec![segment(TIMER_ADDRESS - 1, 2)], "the timer lie over each other at 0x02000000"),
        (vec![segment(TIMER_ADDRESS + 0xffff, 2)], "lie over each other at 0x0200ffff"),
        ((0..64).map(|n| segment(DATA + 16 * n, 1)).collect(), "number of segments is 0x41"),
        (
            vec![Segment { bytes: vec![0; 2], ..segment(DATA, 1) }],
            "the segment at 0x00002000 says more bytes than it has",
        ),
    ] {
        let mut program = Program::from_words(BASE, &[nop()]);
        program.segments.extend(segments);
        let error = Machine::new(&program, &Setup::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn entries_stacks_and_texts_that_are_wrong_are_refused() {
    let program = Program::from_words(BASE, &[nop()]);
    let new = |program: &Program, setup| Machine::new(program, &setup).map(|_| ()).unwrap_err();
    let short = Setup { compressed: false, ..Setup::default() };
    let what = |error| match error {
        Error::Wrong { what, .. } | Error::TooLarge { what, .. } => what,
        other => panic!("{other}"),
    };
    let at = |entry| Program { entry, ..program.clone() };
    assert_eq!(what(new(&at(BASE + 1), Setup::default())), "the entry");
    assert_eq!(what(new(&at(BASE + 2), short)), "the entry");
    let stack = Setup { stack_bytes: 8, ..Setup::default() };
    assert_eq!(what(new(&program, stack)), "the size of the stack");
    let text = |text| Program { text, ..program.clone() };
    assert_eq!(new(&text(BASE..BASE), Setup::default()), Error::NoText);
    let odd = new(&text(BASE + 1..BASE + 3), Setup::default());
    assert_eq!(what(odd), "the first address of the instructions");
    // A machine without a stack is one.
    assert!(Machine::new(&program, &Setup { stack_bytes: 0, ..Setup::default() }).is_ok());
}

#[test]
fn sparse_memory_is_there_where_it_is_accessed() {
    let mut words = li(A0, 0x2_0000).to_vec();
    // Over the end of a block, and in an address that nobody wrote.
    words.extend(li(A1, 0x3_fffe));
    words.extend([sw(A0, 0, A0), lw(A2, 0, A0), sw(A0, 0, A1), lw(A3, 0, A1), lw(A4, 64, A0)]);
    words.push(lw(A5, 0, ZERO));
    let mut program = Program::from_words(BASE, &words);
    program.sparse_from = Some(0x1_0000);
    let mut machine = Machine::new(&program, &Setup::default()).unwrap();
    let stopped = machine.run(100, |_| {});
    assert!(matches!(stopped, Stopped::Unhandled { .. }), "{stopped}");
    let values = [A2, A3, A4].map(|register| machine.register(register));
    assert_eq!(values, [0x2_0000, 0x2_0000, 0]);
    assert_eq!(machine.access_fault().map(|(_, address)| address), Some(0));
    assert!(machine.failure(stopped).unwrap().contains("--memory 0x00000000:1MiB"));
}
