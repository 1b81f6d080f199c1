//! Interrupts: when they are taken, in which order, and what `wfi` does.

use super::*;
use crate::{MSIP_ADDRESS, MTIME_ADDRESS, MTIMECMP_ADDRESS};
use csr::*;

const TIMER: u32 = 1 << 7;
const SOFTWARE: u32 = 1 << 3;
const EXTERNAL: u32 = 1 << 11;

fn interrupt(interrupt: Interrupt) -> Option<Trap> {
    Some(Trap { cause: Cause::Interrupt(interrupt), value: 0 })
}

/// A machine whose timer comes at a time and that takes the interrupts of a mask.
fn ready(words: &[u32], handler: &[u32], compare: u64, mask: u32) -> Machine {
    let mut machine = with_handler(Setup::default(), words, handler);
    set_compare(&mut machine, compare);
    machine.write_csr(MIE, mask).unwrap();
    machine.write_csr(MSTATUS, MSTATUS_MIE).unwrap();
    machine
}

fn set_compare(machine: &mut Machine, compare: u64) {
    machine.timer.write(MTIMECMP_ADDRESS, compare as u32, 0).unwrap();
    machine.timer.write(MTIMECMP_ADDRESS + 4, (compare >> 32) as u32, 0).unwrap();
    machine.set_alarm();
}

#[test]
fn a_timer_interrupts_before_the_instruction_of_its_time() {
    let words = [nop(), addi(A0, A0, 1), add(A0, A0, A1), nop()];
    let mut machine = ready(&words, &[nop()], 2, TIMER);
    machine.run(2, |step| assert_eq!(step.trap, None));
    let step = machine.step().unwrap();
    // Fetched, and not carried out: it has its size and its kind, and waits for nothing.
    assert_eq!((step.pc, step.next, step.size), (BASE + 8, HANDLER, 4));
    assert_eq!((step.kind, step.reads, step.writes), (Kind::Alu, [0, 0], 0));
    assert_eq!((step.trap, step.access), (interrupt(Interrupt::Timer), None));
    assert_eq!(
        [MEPC, MCAUSE, MTVAL].map(|csr| machine.csr(csr)),
        [Some(BASE + 8), Some(0x8000_0007), Some(0)]
    );
    // Closed in the handler, and noted for afterwards.
    assert_eq!(machine.csr(MSTATUS), Some(MSTATUS_MPIE | MSTATUS_MPP));
    assert_eq!(machine.step().unwrap().trap, None);
}

#[test]
fn an_interrupted_instruction_is_carried_out_after_the_return() {
    // The handler sets the timer to never.
    let handler = [addi(T0, ZERO, -1), sw(T0, 4, T1), mret()];
    let mut machine = ready(&[addi(A0, A0, 1), addi(A0, A0, 2), nop()], &handler, 1, TIMER);
    machine.set_register(T1, MTIMECMP_ADDRESS);
    let mut pcs = Vec::new();
    machine.run(6, |step| pcs.push(step.pc));
    assert_eq!(pcs, [BASE, BASE + 4, HANDLER, HANDLER + 4, HANDLER + 8, BASE + 4]);
    assert_eq!(machine.register(A0), 3);
    assert_eq!(machine.csr(MSTATUS), Some(MSTATUS_MIE | MSTATUS_MPIE | MSTATUS_MPP));
}

/// Volume II, "Privilege and Global Interrupt-Enable Stack": MIE is set to MPIE, and MPIE to 1.
#[test]
fn a_return_opens_what_was_open_and_notes_it_as_open() {
    for (before, after) in [(0, MSTATUS_MPIE), (MSTATUS_MPIE, MSTATUS_MPIE | MSTATUS_MIE)] {
        let mut machine = machine(&[mret()]);
        machine.write_csr(MSTATUS, before | MSTATUS_MIE).unwrap();
        machine.step().unwrap();
        assert_eq!(machine.csr(MSTATUS), Some(after | MSTATUS_MPP), "{before:#x}");
    }
}

#[test]
fn a_timer_that_is_not_set_anew_interrupts_again() {
    let mut machine = ready(&[nop(), nop()], &[mret()], 0, TIMER);
    let mut traps = 0;
    machine.run(10, |step| traps += u32::from(step.trap.is_some()));
    assert_eq!((traps, machine.pc()), (5, BASE));
}

#[test]
fn nothing_is_taken_that_is_closed_or_not_chosen() {
    for (mask, status) in [(0, MSTATUS_MIE), (TIMER, 0), (SOFTWARE | EXTERNAL, MSTATUS_MIE)] {
        let mut machine = ready(&[nop(), nop()], &[nop()], 0, mask);
        machine.write_csr(MSTATUS, status).unwrap();
        machine.run(2, |step| assert_eq!(step.trap, None));
        assert_eq!(machine.csr(MIP), Some(TIMER), "pending, all the same");
    }
}

#[test]
fn they_are_taken_as_soon_as_they_are_opened() {
    for open in [
        csrrsi(ZERO, MSTATUS, MSTATUS_MIE),
        csrrs(ZERO, MIE, A0),
        // `mret` opens what was open before the trap.
        mret(),
    ] {
        let mut machine = ready(&[open, nop()], &[nop()], 0, TIMER);
        machine.set_register(A0, TIMER);
        machine.write_csr(MEPC, BASE + 4).unwrap();
        if open == csrrs(ZERO, MIE, A0) {
            machine.write_csr(MIE, 0).unwrap();
        } else {
            machine.write_csr(MSTATUS, MSTATUS_MPIE).unwrap();
        }
        assert_eq!(machine.step().unwrap().trap, None, "{open:#010x}");
        let step = machine.step().unwrap();
        assert_eq!((step.pc, step.trap), (BASE + 4, interrupt(Interrupt::Timer)), "{open:#010x}");
    }
}

#[test]
fn the_external_one_comes_first_then_the_software_s_then_the_timer_s() {
    let mut machine = ready(&[nop()], &[nop()], 0, TIMER | SOFTWARE | EXTERNAL);
    machine.set_external(true);
    machine.timer.write(MSIP_ADDRESS, 1, 0).unwrap();
    assert_eq!(machine.csr(MIP), Some(TIMER | SOFTWARE | EXTERNAL));
    for (expected, code) in [
        (Interrupt::External, 0x8000_000b),
        (Interrupt::Software, 0x8000_0003),
        (Interrupt::Timer, 0x8000_0007),
    ] {
        machine.pc = BASE;
        machine.write_csr(MSTATUS, MSTATUS_MIE).unwrap();
        assert_eq!(machine.step().unwrap().trap, interrupt(expected));
        assert_eq!(machine.csr(MCAUSE), Some(code));
        match expected {
            Interrupt::External => machine.set_external(false),
            _ => machine.timer.write(MSIP_ADDRESS, 0, 0).unwrap(),
        }
    }
}

#[test]
fn a_vectored_handler_has_an_entry_for_each_interrupt() {
    for (mask, offset) in [(TIMER, 28), (SOFTWARE, 12), (EXTERNAL, 44)] {
        let mut machine = ready(&[nop()], &[nop(); 12], 0, mask);
        machine.write_csr(MTVEC, HANDLER | 1).unwrap();
        machine.timer.write(MSIP_ADDRESS, 1, 0).unwrap();
        machine.set_external(true);
        assert_eq!(machine.step().unwrap().next, HANDLER + offset);
    }
}

#[test]
fn an_interrupt_comes_before_the_exception_of_its_instruction() {
    let mut machine = ready(&[ecall()], &[nop()], 0, TIMER);
    let step = machine.step().unwrap();
    assert_eq!((step.kind, step.trap), (Kind::Call, interrupt(Interrupt::Timer)));
}

#[test]
fn a_program_interrupts_itself_by_a_store() {
    let mut machine =
        ready(&[sw(A0, 0, A1), nop()], &[sw(ZERO, 0, A1), mret()], u64::MAX, SOFTWARE);
    machine.set_register(A0, 1);
    machine.set_register(A1, MSIP_ADDRESS);
    let (steps, stopped) = {
        let mut steps = Vec::new();
        let stopped = machine.run(5, |step| steps.push((step.pc, step.trap.is_some())));
        (steps, stopped)
    };
    assert_eq!(stopped, Stopped::Limit);
    let expected = [
        (BASE, false),
        (BASE + 4, true),
        (HANDLER, false),
        (HANDLER + 4, false),
        (BASE + 4, false),
    ];
    assert_eq!(steps, expected);
}

#[test]
fn the_timer_is_read_and_written_as_words() {
    let words =
        [lw(A0, 0, A1), sw(A2, 0, A1), lw(A0, 0, A1), lw(A0, 4, A1), sw(A2, 4, A1), lw(A0, 4, A1)];
    let mut machine = machine(&words);
    machine.set_register(A1, MTIME_ADDRESS);
    machine.set_register(A2, 1000);
    let mut read = || {
        machine.step().unwrap();
        machine.register(A0)
    };
    // It goes on by one with each instruction, the one that writes it included.
    assert_eq!([read(), read(), read(), read(), read(), read()], [0, 0, 1001, 0, 0, 1000]);
    assert_eq!(machine.time(), (1000 << 32) + 1005);
}

#[test]
fn the_software_interrupt_is_one_bit() {
    let mut machine = machine(&[sw(A0, 0, A1), lw(A2, 0, A1)]);
    machine.set_register(A0, u32::MAX);
    machine.set_register(A1, MSIP_ADDRESS);
    machine.run(2, |_| {});
    assert_eq!((machine.register(A2), machine.csr(MIP)), (1, Some(SOFTWARE)));
    machine.pc = BASE;
    machine.set_register(A0, !1);
    machine.run(2, |_| {});
    assert_eq!((machine.register(A2), machine.csr(MIP)), (0, Some(0)));
}

#[test]
fn the_timer_has_nothing_but_its_words() {
    for word in [lb(A0, 0, A1), lh(A0, 0, A1), lw(A0, 1, A1), lw(A0, 8, A1)] {
        let mut machine = machine(&[word]);
        machine.set_register(A1, MTIME_ADDRESS);
        let stopped = machine.step().unwrap_err();
        let cause = Cause::Exception(Exception::LoadAccess);
        assert!(matches!(stopped, Stopped::Unhandled { trap, .. } if trap.cause == cause));
    }
    for word in [sb(A0, 0, A1), sh(A0, 0, A1), sw(A0, 2, A1), sw(A0, -4, A1)] {
        let mut machine = machine(&[word]);
        machine.set_register(A1, MTIME_ADDRESS);
        let stopped = machine.step().unwrap_err();
        let cause = Cause::Exception(Exception::StoreAccess);
        assert!(matches!(stopped, Stopped::Unhandled { trap, .. } if trap.cause == cause));
    }
}

#[test]
fn waiting_lets_time_run_to_the_timer() {
    let mut machine = ready(&[wfi(), nop()], &[nop()], 1_000_000, TIMER);
    let step = machine.step().unwrap();
    assert_eq!((step.kind, step.next, step.trap), (Kind::Wait, BASE + 4, None));
    assert_eq!((machine.time(), machine.steps()), (1_000_000, 1));
    // The instruction behind it is the one that is interrupted.
    let step = machine.step().unwrap();
    assert_eq!((step.pc, step.trap), (BASE + 4, interrupt(Interrupt::Timer)));
    assert_eq!(machine.csr(MEPC), Some(BASE + 4));
}

#[test]
fn waiting_ends_also_where_interrupts_are_closed() {
    let mut machine = ready(&[wfi(), nop()], &[nop()], 50, TIMER);
    machine.write_csr(MSTATUS, 0).unwrap();
    machine.run(2, |step| assert_eq!(step.trap, None));
    assert_eq!((machine.pc(), machine.time()), (BASE + 8, 51));
}

#[test]
fn waiting_for_what_is_pending_takes_no_time() {
    let mut machine = ready(&[wfi(), nop()], &[nop()], 1000, EXTERNAL | TIMER);
    machine.write_csr(MSTATUS, 0).unwrap();
    machine.set_external(true);
    machine.step().unwrap();
    assert_eq!(machine.time(), 1);
}

#[test]
fn waiting_for_nothing_stops_and_can_go_on() {
    for (compare, mask) in [(u64::MAX, TIMER), (10, 0), (10, SOFTWARE | EXTERNAL)] {
        let mut machine = ready(&[nop(), wfi(), nop()], &[nop()], compare, mask);
        assert_eq!(machine.run(10, |_| {}), Stopped::Asleep { pc: BASE + 4 });
        assert_eq!((machine.pc(), machine.steps()), (BASE + 4, 1));
        assert_eq!(machine.run(10, |_| {}), Stopped::Asleep { pc: BASE + 4 });
        machine.write_csr(MIE, EXTERNAL).unwrap();
        machine.write_csr(MSTATUS, 0).unwrap();
        machine.set_external(true);
        assert_eq!(machine.step().unwrap().next, BASE + 8);
    }
}

#[test]
fn a_time_that_runs_over_its_end_begins_anew() {
    let mut machine = ready(&[nop(); 8], &[nop()], 3, TIMER);
    machine.timer.set_time(u64::MAX - 1, 0);
    machine.write_csr(MIE, 0).unwrap();
    machine.run(2, |_| {});
    assert_eq!((machine.time(), machine.csr(MIP)), (0, Some(0)));
    machine.write_csr(MIE, TIMER).unwrap();
    machine.run(3, |step| assert_eq!(step.trap, None));
    assert_eq!(machine.step().unwrap().trap, interrupt(Interrupt::Timer));
}

#[test]
fn time_goes_on_with_the_cycles_that_a_watcher_counts() {
    let words = [
        csrrs(A0, csr::MCYCLE, ZERO),
        nop(),
        csrrs(A1, csr::TIME, ZERO),
        csrrs(A2, csr::MINSTRET, ZERO),
    ];
    let mut machine = machine(&words);
    machine.run(4, |_| 10_u64);
    let values = [A0, A1, A2].map(|register| machine.register(register));
    assert_eq!((values, machine.reads_clock()), ([9, 29, 3], true));
}
