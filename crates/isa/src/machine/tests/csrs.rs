//! Control and status registers: what they hold, and what can be done to them.

use super::*;
use csr::*;

#[test]
fn the_six_instructions_read_and_write() {
    for (word, source, before, expected) in [
        (csrrw(A0, MSCRATCH, A1), 0b0110, 0b1100, 0b0110),
        (csrrs(A0, MSCRATCH, A1), 0b0110, 0b1100, 0b1110),
        (csrrc(A0, MSCRATCH, A1), 0b0110, 0b1100, 0b1000),
        (csrrs(A0, MSCRATCH, ZERO), 0b0110, 0b1100, 0b1100),
        (csrrwi(A0, MSCRATCH, 21), 0, 0b1100, 21),
        (csrrwi(A0, MSCRATCH, 0), 0, 0b1100, 0),
        (csrrsi(A0, MSCRATCH, 0b11), 0, 0b1100, 0b1111),
        (csrrci(A0, MSCRATCH, 0b0100), 0, 0b1100, 0b1000),
        (csrrci(A0, MSCRATCH, 0), 0, 0b1100, 0b1100),
    ] {
        let mut machine = machine(&[word]);
        machine.write_csr(MSCRATCH, before).unwrap();
        machine.set_register(A1, source);
        let step = machine.step().unwrap();
        assert_eq!(machine.csr(MSCRATCH), Some(expected), "{word:#010x}");
        assert_eq!(machine.register(A0), before);
        assert_eq!((step.kind, step.writes), (Kind::Csr, 10));
    }
    // A constant is no register that is waited for.
    assert_eq!(machine(&[csrrwi(A0, MSCRATCH, 21)]).step().unwrap().reads, [0, 0]);
    assert_eq!(machine(&[csrrw(A0, MSCRATCH, A1)]).step().unwrap().reads, [11, 0]);
}

#[test]
fn a_csr_and_the_register_that_it_is_swapped_with_may_be_one() {
    let mut machine = machine(&[csrrw(A0, MSCRATCH, A0)]);
    machine.write_csr(MSCRATCH, 5).unwrap();
    machine.set_register(A0, 6);
    machine.step().unwrap();
    assert_eq!((machine.register(A0), machine.csr(MSCRATCH)), (5, Some(6)));
}

#[test]
fn what_can_be_read_only_may_be_read_in_any_way() {
    for number in [MHARTID, MVENDORID, MARCHID, MIMPID, MCONFIGPTR, CYCLE, TIME, INSTRET] {
        for word in [csrrs(A0, number, ZERO), csrrc(A0, number, ZERO), csrrsi(A0, number, 0)] {
            assert_eq!(machine(&[word]).step().unwrap().trap, None, "{word:#010x}");
        }
        // A register other than `x0` is a write, though it holds 0, and so is `csrrw` of anything.
        for word in [csrrs(A0, number, A1), csrrw(ZERO, number, ZERO), csrrwi(ZERO, number, 0)] {
            let trap = exception(Exception::Illegal, word);
            let stopped = machine(&[word]).step();
            assert_eq!(stopped, Err(Stopped::Unhandled { pc: BASE, trap }), "{word:#010x}");
        }
    }
}

#[test]
fn csrs_that_are_not_there_are_illegal() {
    // `fflags`, `vl`, `sstatus`, `satp`, `medeleg`, `mcounteren`, `pmpcfg0`, `tselect`, `dcsr`.
    for number in [0x001, 0xc20, 0x100, 0x180, 0x302, 0x306, 0x3a0, 0x7a0, 0x7b0] {
        let word = csrrs(A0, number, ZERO);
        let trap = exception(Exception::Illegal, word);
        assert_eq!(machine(&[word]).step(), Err(Stopped::Unhandled { pc: BASE, trap }));
    }
    // Counters of other events are there, and count nothing.
    for number in [0x323, 0x33f, 0xb03, 0xb1f, 0xb83, 0xb9f] {
        let mut machine = machine(&[csrrwi(A0, number, 5), csrrs(A0, number, ZERO)]);
        machine.run(2, |_| {});
        assert_eq!((machine.register(A0), machine.retired()), (0, 2));
    }
}

#[test]
fn what_cannot_be_held_is_left_out() {
    const ALL: u32 = u32::MAX;
    for (number, expected) in [
        (MSTATUS, MSTATUS_MIE | MSTATUS_MPIE | MSTATUS_MPP),
        (MSTATUSH, 0),
        (MISA, 0x4000_1105),
        (MIE, 0x888),
        (MTVEC, 0xffff_fffd),
        (MSCRATCH, ALL),
        (MEPC, 0xffff_fffe),
        (MCAUSE, ALL),
        (MTVAL, ALL),
        (MCOUNTINHIBIT, 0),
    ] {
        let mut machine = machine(&[nop()]);
        machine.write_csr(number, ALL).unwrap();
        assert_eq!(machine.csr(number), Some(expected), "{number:#x}");
        machine.write_csr(number, 0).unwrap();
        let least = match number {
            MSTATUS => MSTATUS_MPP,
            MISA => 0x4000_1105,
            _ => 0,
        };
        assert_eq!(machine.csr(number), Some(least), "{number:#x}");
    }
    let mut machine = with(Setup { compressed: false, ..Setup::default() }, &[nop()]);
    machine.write_csr(MEPC, ALL).unwrap();
    assert_eq!([MISA, MEPC].map(|csr| machine.csr(csr)), [Some(0x4000_1101), Some(0xffff_fffc)]);
}

#[test]
fn pending_interrupts_are_not_written_by_instructions() {
    let mut machine = machine(&[csrrw(ZERO, MIP, A0), csrrs(A1, MIP, ZERO)]);
    machine.set_register(A0, u32::MAX);
    machine.run(2, |_| {});
    assert_eq!(machine.register(A1), 0);
}

#[test]
fn counters_count_what_came_before() {
    let words = [nop(), csrrs(A0, MCYCLE, ZERO), csrrs(A1, MINSTRET, ZERO), csrrs(A2, TIME, ZERO)];
    let mut machine = machine(&words);
    machine.run(4, |_| {});
    assert_eq!([A0, A1, A2].map(|register| machine.register(register)), [1, 2, 3]);
}

#[test]
fn traps_are_cycles_and_not_instructions() {
    let handler = [csrrs(A0, MCYCLE, ZERO), csrrs(A1, MINSTRET, ZERO)];
    let mut machine = with_handler(Setup::default(), &[nop(), ecall()], &handler);
    machine.run(4, |_| {});
    assert_eq!([A0, A1].map(|register| machine.register(register)), [2, 2]);
    assert_eq!((machine.steps(), machine.retired()), (4, 3));
}

#[test]
fn a_counter_goes_on_from_what_was_written() {
    for (low, high) in [(MCYCLE, MCYCLEH), (MINSTRET, MINSTRETH)] {
        let words = [
            csrrw(ZERO, high, A0),
            csrrw(ZERO, low, A1),
            csrrs(A2, low, ZERO),
            csrrs(A3, high, ZERO),
            csrrs(A4, low, ZERO),
        ];
        let mut machine = machine(&words);
        machine.set_register(A0, 7);
        machine.set_register(A1, u32::MAX);
        machine.run(5, |_| {});
        // The following instruction reads what was written, the next one more, over to the high half.
        let read = [A2, A3, A4].map(|register| machine.register(register));
        assert_eq!(read, [u32::MAX, 8, 1], "{low:#x}");
    }
}
