//! Why the machine stops, and what it says of it.

use super::*;

const HOSTED: Setup = Setup {
    compressed: true,
    misaligned: Misaligned::CarriedOut,
    host: true,
    stack_bytes: 1 << 16,
};

#[test]
fn an_exit_is_carried_out_and_ends_the_program() {
    let words = [addi(A7, ZERO, 93), addi(A0, ZERO, -3), ecall(), nop()];
    let mut machine = with(HOSTED, &words);
    let (steps, stopped) = all(&mut machine);
    assert_eq!(stopped, Stopped::Exited { status: -3_i32 as u32 });
    assert_eq!(steps.len(), 3);
    assert_eq!((steps[2].kind, steps[2].trap, steps[2].next), (Kind::Call, None, BASE + 12));
    // It stays ended.
    assert_eq!(machine.step(), Err(stopped));
    machine.set_external(true);
    assert_eq!(machine.run(1, |_| {}), stopped);
    assert_eq!((machine.steps(), machine.retired()), (3, 3));
}

#[test]
fn other_calls_and_other_machines_trap() {
    for (setup, number) in [(HOSTED, 3), (Setup::default(), 93)] {
        let mut machine = with(setup, &[addi(A7, ZERO, number), ecall()]);
        let trap = exception(Exception::MachineCall, 0);
        assert_eq!(machine.run(10, |_| {}), Stopped::Unhandled { pc: BASE + 4, trap });
    }
}

#[test]
fn an_unhandled_trap_changes_nothing() {
    let mut machine = machine(&[nop(), ebreak()]);
    let trap = exception(Exception::Breakpoint, BASE + 4);
    for _ in 0..2 {
        assert_eq!(machine.run(10, |_| {}), Stopped::Unhandled { pc: BASE + 4, trap });
        assert_eq!((machine.pc(), machine.steps()), (BASE + 4, 1));
        assert_eq!(machine.csr(csr::MEPC), Some(0));
    }
    // With a handler it goes on.
    machine.write_csr(csr::MTVEC, BASE).unwrap();
    assert_eq!(machine.step().unwrap().next, BASE);
}

#[test]
fn an_unhandled_interrupt_is_named_as_one() {
    let mut machine = machine(&[nop()]);
    machine.set_external(true);
    machine.write_csr(csr::MIE, 1 << 11).unwrap();
    machine.write_csr(csr::MSTATUS, csr::MSTATUS_MIE).unwrap();
    let stopped = machine.step().unwrap_err();
    assert_eq!(
        stopped.to_string(),
        "external interrupt at 0x00001000 (mtval 0x00000000), and mtvec is 0"
    );
}

#[test]
fn the_text_is_left_at_both_ends() {
    for (word, pc) in
        [(jal(RA, -4), BASE - 4), (jal(RA, 4), BASE + 4), (jalr(RA, -2, ZERO), u32::MAX - 1)]
    {
        let mut machine = machine(&[word]);
        assert_eq!(machine.run(10, |_| {}), Stopped::Left { pc });
        assert_eq!((machine.pc(), machine.steps()), (pc, 1));
    }
}

#[test]
fn each_reason_is_a_sentence() {
    for (stopped, text) in [
        (Stopped::Left { pc: 0 }, "the pc left the program's instructions to 0x00000000"),
        (Stopped::Exited { status: 3 }, "the program exited with 3"),
        (Stopped::Limit, "the limit of instructions was reached"),
        (
            Stopped::Unhandled { pc: 0x10, trap: exception(Exception::LoadAccess, 0x20) },
            "load access fault at 0x00000010 (mtval 0x00000020), and mtvec is 0",
        ),
        (
            Stopped::Asleep { pc: 0x10 },
            "wfi at 0x00000010 waits, and no interrupt is enabled that can come",
        ),
    ] {
        assert_eq!(stopped.to_string(), text);
    }
}

#[test]
fn a_jump_to_itself_ends_the_program_unless_an_interrupt_may_come() {
    let mut machine = machine(&[nop(), jal(ZERO, 0)]);
    let stopped = Stopped::Circles { pc: BASE + 4 };
    assert_eq!(machine.run(10, |_| {}), stopped);
    assert_eq!((machine.run(10, |_| {}), machine.steps()), (stopped, 1));
    assert!(stopped.to_string().contains("goes to itself"));
    // Where the timer's interrupt is going to come, the jump is one like any other.
    let timer = Interrupt::Timer;
    machine.write_csr(csr::MIE, 1 << timer as u32 | 1 << Interrupt::External as u32).unwrap();
    machine.write_csr(csr::MSTATUS, csr::MSTATUS_MIE).unwrap();
    assert_eq!(machine.run(10, |_| {}), stopped, "mtimecmp says never");
    machine.timer.compare = 8;
    machine.set_alarm();
    assert_eq!(machine.run(5, |_| {}), Stopped::Limit);
    let trap = Trap { cause: Cause::Interrupt(timer), value: 0 };
    assert_eq!(machine.run(5, |_| {}), Stopped::Unhandled { pc: BASE + 4, trap });
    assert_eq!(machine.steps(), 8);
}
