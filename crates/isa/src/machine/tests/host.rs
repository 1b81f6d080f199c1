//! What the host answers, and which ends of a program are failures.

use super::*;
use crate::Symbol;

const HOSTED: Setup = Setup {
    compressed: true,
    misaligned: Misaligned::CarriedOut,
    host: true,
    stack_bytes: 1 << 16,
};

/// Words of data behind the program.
const DATA: u32 = 0x1100;

fn hosted(words: &[u32], data: &[u8], symbols: &[(&str, u32)]) -> Machine {
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let end = BASE + bytes.len() as u32;
    bytes.resize((DATA - BASE) as usize, 0);
    bytes.extend(data);
    bytes.resize((DATA - BASE) as usize + 0x100, 0);
    let mut program = Program::from_bytes(BASE, bytes);
    program.text.end = end;
    let symbol = |&(name, address): &(&str, u32)| Symbol { name: name.into(), address, size: 8 };
    program.symbols = symbols.iter().map(symbol).collect();
    Machine::new(&program, &HOSTED).unwrap()
}

/// What a call with a number and values leaves.
fn called(number: i32, values: [u32; 3], data: &[u8]) -> (Machine, Stopped) {
    let mut machine = hosted(&[addi(A7, ZERO, number), ecall()], data, &[]);
    for (register, value) in [A0, A1, A2].into_iter().zip(values) {
        machine.set_register(register, value);
    }
    let stopped = machine.run(10, |_| {});
    (machine, stopped)
}

#[test]
fn what_a_call_prints_is_kept() {
    for (number, values, written) in [
        (1, [-5_i32 as u32, 0, 0], "-5"),
        (4, [DATA, 0, 0], "to you"),
        (11, [u32::from(b'x'), 0, 0], "x"),
        (34, [0xbeef, 0, 0], "0x0000beef"),
        (35, [5, 0, 0], "0b00000000000000000000000000000101"),
        (36, [u32::MAX, 0, 0], "4294967295"),
        (64, [1, DATA + 1, 2], "o "),
        // Venus has the number in a0.
        (0, [1, 7, 0], "7"),
        (0, [4, DATA + 3, 0], "you"),
    ] {
        let (machine, stopped) = called(number, values, b"to you\0and me");
        assert_eq!(machine.output(), written.as_bytes(), "{number} {values:?}");
        assert_eq!(stopped, Stopped::Left { pc: BASE + 8 }, "{number}");
        assert_eq!(machine.failure(stopped), None);
    }
    // A file that is not open, and memory that is not there.
    for values in [[3, DATA, 1], [1, 0x9000_0000, 1], [1, DATA, u32::MAX]] {
        let (machine, _) = called(64, values, b"");
        assert_eq!((machine.output(), machine.register(A0) as i32), (&b""[..], -9));
    }
    // No more is kept than that.
    let mut machine = hosted(&[ecall(), jal(ZERO, -4)], b"0123456789", &[]);
    machine.set_register(A7, 4);
    machine.set_register(A0, DATA);
    machine.run(100_000, |_| {});
    assert_eq!(machine.output().len(), crate::OUTPUT_MAX_BYTES);
}

#[test]
fn an_exit_has_a_status() {
    for (number, values, status) in [
        (10, [3, 0, 0], 0),
        (17, [3, 0, 0], 3),
        (93, [4, 0, 0], 4),
        (94, [0, 0, 0], 0),
        (0, [10, 0, 0], 0),
        (0, [17, 5, 0], 5),
    ] {
        let (machine, stopped) = called(number, values, b"");
        assert_eq!(stopped, Stopped::Exited { status }, "{number}");
        assert_eq!(machine.failure(stopped).is_some(), status != 0);
    }
    let (machine, stopped) = called(3, [0; 3], b"");
    assert!(machine.failure(stopped).unwrap().contains("call 3 in a7 needs floating point"));
}

#[test]
fn dialogs_and_serial_ports_read_the_input_and_write() {
    let answered = |number, values, input: &[u8]| {
        let mut machine = hosted(&[addi(A7, ZERO, number), ecall()], b"how many\0?\0", &[]);
        machine.set_input(input.to_vec());
        [A0, A1, A2].into_iter().zip(values).for_each(|(r, value)| machine.set_register(r, value));
        machine.run(10, |_| {});
        let written = String::from_utf8_lossy(machine.output()).into_owned();
        (machine.register(A0) as i32, written)
    };
    assert_eq!(answered(51, [DATA, 0, 0], b"-3\n"), (-3, "how many\n".into()));
    assert_eq!(answered(50, [DATA, 0, 0], b"no\n").0, 1);
    assert_eq!(answered(56, [DATA, 7, 0], b"").1, "how many7\n");
    assert_eq!(answered(59, [DATA, DATA + 9, 0], b"").1, "how many?\n");
    let (machine, _) = called(17, [DATA, 9, 0], b"x");
    assert_eq!(machine.bytes(DATA, 2), Some(&b"/\0"[..]));
    // A port: what can be read, what is read, and what is written.
    let words = [lw(A1, 0, A0), lw(A2, 4, A0), lw(A3, 8, A0), sw(A2, 12, A0), lw(A4, 0, A0)];
    for port in [0xffff_0000, 0xffff_c000] {
        let mut machine = hosted(&words, b"", &[]);
        machine.set_input(b"k".to_vec());
        machine.set_register(A0, port);
        machine.run(10, |_| {});
        let [ready, read, free, more] = [A1, A2, A3, A4].map(|one| machine.register(one));
        assert_eq!((ready, read, free, more), (1, u32::from(b'k'), 1, 0));
        assert_eq!(machine.output(), b"k");
    }
}

#[test]
fn a_breakpoint_ends_a_program_or_is_skipped() {
    for (skips, steps) in [(false, 1), (true, 3)] {
        let mut machine = hosted(&[nop(), ebreak(), nop()], b"", &[]);
        machine.skip_breakpoints(skips);
        let stopped = machine.run(10, |_| {});
        assert_eq!((machine.steps(), machine.failure(stopped)), (steps, None));
    }
}

#[test]
fn a_program_with_a_handler_has_its_own_calls() {
    let mut machine = hosted(&[addi(A7, ZERO, 93), ecall(), nop(), jal(ZERO, 0)], b"", &[]);
    machine.write_csr(csr::MTVEC, BASE + 8).unwrap();
    let stopped = machine.run(10, |_| {});
    assert_eq!(stopped, Stopped::Circles { pc: BASE + 12 });
    assert_eq!((machine.csr(csr::MCAUSE), machine.failure(stopped)), (Some(11), None));
}

/// The sequence by which semihosting is asked.
fn asked(operation: u32, value: u32, data: &[u8]) -> (Machine, Stopped) {
    let words = [slli(ZERO, ZERO, 31), ebreak(), srai(ZERO, ZERO, 7), jal(ZERO, 0)];
    let mut machine = hosted(&words, data, &[]);
    // A debugger comes before a handler.
    machine.write_csr(csr::MTVEC, BASE).unwrap();
    machine.set_register(A0, operation);
    machine.set_register(A1, value);
    let stopped = machine.run(10, |_| {});
    (machine, stopped)
}

fn block<const N: usize>(words: [u32; N], rest: &[u8]) -> Vec<u8> {
    let words = words.iter().flat_map(|word| word.to_le_bytes());
    words.chain(rest.iter().copied()).collect()
}

#[test]
fn semihosting_writes_and_exits() {
    assert_eq!(asked(0x03, DATA, b"abc").0.output(), b"a");
    assert_eq!(asked(0x04, DATA, b"abc\0").0.output(), b"abc");
    let (machine, _) = asked(0x05, DATA, &block([2, DATA + 12, 2], b"abc"));
    assert_eq!((machine.output(), machine.register(A0)), (&b"ab"[..], 0));
    // To no file, and of no memory.
    let (machine, _) = asked(0x05, DATA, &block([9, DATA + 12, 2], b"abc"));
    assert_eq!((machine.output(), machine.register(A0)), (&b""[..], 2));
    assert_eq!(asked(0x05, 0x9000_0000, b"").0.register(A0), u32::MAX);
    assert_eq!(asked(0x77, 0, b"").0.register(A0), u32::MAX);
    for (operation, value, data, status) in [
        (0x18, 0x2_0026, Vec::new(), 0),
        (0x18, 0x2_0023, Vec::new(), 1),
        (0x20, DATA, block([0x2_0026, 6], b""), 6),
        (0x20, DATA, block([0x2_0023, 0], b""), 1),
    ] {
        assert_eq!(asked(operation, value, &data).1, Stopped::Exited { status });
    }
    // A debugger says what it can in a file.
    let name = b":semihosting-features";
    let opened = asked(0x01, DATA, &block([DATA + 12, 0, name.len() as u32], name)).0;
    assert_eq!(opened.register(A0), 3);
    let (machine, _) = asked(0x06, DATA, &block([3, DATA + 12, 9], b""));
    assert_eq!(machine.register(A0), 4);
    assert_eq!(machine.bytes(DATA + 12, 5), Some(&b"SHFB\x03"[..]));
    // An `ebreak` between other instructions is one.
    let mut machine = hosted(&[nop(), ebreak(), nop()], b"", &[]);
    let stopped = machine.run(10, |_| {});
    assert!(matches!(stopped, Stopped::Unhandled { pc: 0x1004, .. }), "{stopped}");
    assert_eq!(machine.failure(stopped), None);
}

/// A program that stores words at `tohost` and its high half, in the order asked for.
fn stopped_after(stores: &[(u32, i32)], data: &[u8]) -> (Machine, Stopped) {
    const TOHOST: u32 = DATA + 0x80;
    let mut words = li(A1, TOHOST).to_vec();
    for &(value, offset) in stores {
        words.extend(li(A0, value));
        words.push(sw(A0, offset, A1));
    }
    words.push(jal(ZERO, 0));
    let symbols = [("tohost", TOHOST), ("fromhost", TOHOST + 8)];
    let mut machine = hosted(&words, data, &symbols);
    let stopped = machine.run(100, |_| {});
    (machine, stopped)
}

#[test]
fn tohost_ends_a_program_and_writes() {
    assert_eq!(stopped_after(&[(1, 0), (0, 4)], b"").1, Stopped::Exited { status: 0 });
    assert_eq!(stopped_after(&[(7, 0), (0, 4)], b"").1, Stopped::Exited { status: 3 });
    // Older tests store the low half alone, again and again.
    assert_eq!(stopped_after(&[(7, 0), (7, 0)], b"").1, Stopped::Exited { status: 3 });
    // A program that stores the low half once and then waits has ended also.
    for (value, status) in [(1, 0), (3, 1), (7, 3), (2, 1)] {
        assert_eq!(stopped_after(&[(value, 0)], b"").1, Stopped::Exited { status });
    }
    assert!(matches!(stopped_after(&[(0, 0)], b"").1, Stopped::Circles { .. }));
    let (machine, stopped) = stopped_after(&[(u32::from(b'A'), 0), (0x0101_0000, 4)], b"");
    assert_eq!((machine.output(), machine.failure(stopped)), (&b"A"[..], None));
    let call = block([64, 0, 1, 0, DATA + 64, 0, 3, 0], b"");
    let mut data = call.clone();
    data.resize(64, 0);
    data.extend(b"xyz");
    let (machine, _) = stopped_after(&[(DATA, 0), (0, 4)], &data);
    assert_eq!(machine.output(), b"xyz");
    assert_eq!(machine.bytes(DATA, 8), Some(&[3, 0, 0, 0, 0, 0, 0, 0][..]));
    assert_eq!(machine.bytes(DATA + 0x88, 4), Some(&[1, 0, 0, 0][..]));
    // A call that nobody answers.
    let (machine, _) = stopped_after(&[(DATA, 0), (0, 4)], &block([63, 0, 1, 0, 0, 0, 3, 0], b""));
    assert_eq!(machine.bytes(DATA, 8), Some(&[0xda, 255, 255, 255, 255, 255, 255, 255][..]));
}

#[test]
fn failures_are_told_from_ends() {
    let failure = |words: &[u32], symbols: &[(&str, u32)]| {
        let mut machine = hosted(words, b"", symbols);
        let stopped = machine.run(1000, |_| {});
        machine.failure(stopped)
    };
    let three = addi(A0, ZERO, 3);
    // What main or another entry returns is a result.
    assert_eq!(failure(&[three, ret()], &[]), None);
    assert_eq!(failure(&[three, ret()], &[("main", BASE)]), None);
    assert_eq!(failure(&[addi(A0, ZERO, 0), ret()], &[("main", BASE)]), None);
    // It runs off the end.
    assert_eq!(failure(&[three], &[]), None);
    let wild = failure(&[lui(A0, 0x90000), jalr(RA, 0, A0)], &[]);
    assert_eq!(wild.as_deref(), Some("it jumped to 0x90000000, where no memory is"));
    // Address 0 is no end for a call, and for a jump by a register it is one, whatever became of the stack.
    let zero = addi(A1, ZERO, 0);
    for words in [[zero, jalr(RA, 0, A1)], [zero, jalr(ZERO, 0, ZERO)]] {
        let why = failure(&words, &[("main", BASE)]);
        assert!(why.is_some_and(|why| why.contains("address 0")));
    }
    assert_eq!(failure(&[addi(SP, SP, -16), ret()], &[("main", BASE)]), None);
    let stored = failure(&[sw(A0, 0, ZERO)], &[]);
    assert!(stored.unwrap().contains("store access fault at 0x00001000"));
    // A handler that stops, and one that faults.
    let handler = |last| {
        let mut words = li(A0, BASE + 16).to_vec();
        words.extend([csrrw(ZERO, csr::MTVEC, A0), lw(A0, 4, ZERO), last]);
        words
    };
    for last in [jal(ZERO, 0), lw(A0, 8, ZERO)] {
        let why = failure(&handler(last), &[]).unwrap();
        let wanted =
            "never returned from a trap: load access fault at 0x0000100c (mtval 0x00000004)";
        assert!(why.contains(wanted), "{why}");
    }
    assert_eq!(failure(&[jal(ZERO, 0)], &[]), None);
}

#[test]
fn code_in_data_runs_and_is_counted() {
    let data: Vec<u8> = [addi(A0, ZERO, 7), jalr(ZERO, 0, A1)]
        .into_iter()
        .flat_map(|word: u32| word.to_le_bytes())
        .collect();
    let mut words = li(A2, DATA).to_vec();
    words.extend([jalr(A1, 0, A2), nop()]);
    let mut machine = hosted(&words, &data, &[]);
    assert_eq!(machine.run(10, |_| {}), Stopped::Left { pc: BASE + 16 });
    assert_eq!((machine.register(A0), machine.outside(), machine.steps()), (7, 2, 6));
}
