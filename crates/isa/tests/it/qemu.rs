//! The machine against qemu, instruction by instruction: the pc and all registers before each, over
//! random programs and the reference ones.
//!
//! `qemu-riscv32` is part of Debian's package qemu-user. Where it is missing these tests fail: without
//! them nobody would know that the machine does what others do.

use crate::random;
use isa::encode::{RA, SP, x};
use isa::{Machine, Program, Segment, Setup, Step, Stopped};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

const QEMU: &str = "qemu-riscv32";

/// Returns how many random programs run: the number in `PROPTEST_CASES`, or 240.
fn programs() -> u64 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(240)
}

/// What a random program runs at most: it has loops of a few rounds, one within no other.
const STEPS_MAX: u64 = 100_000;

/// A state before an instruction: its pc, and `x0` to `x31`.
type State = (u32, [u32; 32]);

/// The option by which this qemu shows every instruction; its name has changed.
fn one_by_one() -> &'static str {
    let help = Command::new(QEMU).arg("-help").output().unwrap_or_else(|error| {
        panic!("{QEMU} cannot be run ({error}); install the package qemu-user, which has it")
    });
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    if help.contains("one-insn-per-tb") { "-one-insn-per-tb" } else { "-singlestep" }
}

/// Runs a program in qemu: how it ended, and what it logged.
fn conduct(program: &Path, log: &Path) -> (ExitStatus, States) {
    let status = Command::new(QEMU)
        .args([one_by_one(), "-d", "exec,nochain,cpu", "-D"])
        .args([log, program])
        .stdin(Stdio::null())
        .status()
        .unwrap();
    (status, States { log: BufReader::new(File::open(log).unwrap()), line: String::new() })
}

/// The states of a log, one by one.
struct States {
    log: BufReader<File>,
    line: String,
}

impl States {
    /// Reads a line; false at the end.
    fn read(&mut self) -> bool {
        self.line.clear();
        self.log.read_line(&mut self.line).unwrap() > 0
    }
}

fn hex(word: &str) -> u32 {
    u32::from_str_radix(word, 16).unwrap()
}

impl Iterator for States {
    type Item = State;

    fn next(&mut self) -> Option<State> {
        let pc = loop {
            if !self.read() {
                return None;
            }
            if let Some(pc) = self.line.trim_start().strip_prefix("pc ") {
                break hex(pc.trim());
            }
        };
        let mut registers = [0; 32];
        let mut number = 0;
        while number < registers.len() {
            assert!(self.read(), "the log ends within a state");
            let mut words = self.line.split_ascii_whitespace();
            // `x10/a0   00000000`, four to a line.
            while let (Some(name), Some(value)) = (words.next(), words.next()) {
                let named = name.strip_prefix('x').and_then(|name| name.split_once('/'));
                assert_eq!(named.unwrap().0.parse(), Ok(number), "{}", self.line);
                registers[number] = hex(value);
                number += 1;
            }
        }
        Some((pc, registers))
    }
}

/// What a comparison saw.
#[derive(Debug, Default)]
struct Seen {
    steps: u64,
    short: u64,
    /// Instructions of 32 bits over the end of a word.
    straddling: u64,
    taken: u64,
    misaligned: u64,
    /// Which instructions there were, as far as bits tell them apart.
    long_forms: BTreeSet<u32>,
    short_forms: BTreeSet<u16>,
}

/// The instructions of RV32IMA without csrs, `ebreak` and those of the machine mode.
const LONG_FORMS: usize = 59;

/// Those of RV32C, without `c.ebreak`, and with `c.nop` as a `c.addi`.
const SHORT_FORMS: usize = 25;

/// The bits of an instruction that say what it does.
fn long_form(word: u32) -> u32 {
    word & match (word & 0x7f, word >> 12 & 7) {
        (0x37 | 0x17 | 0x6f, _) => 0x7f,
        (0x33, _) | (0x13, 1 | 5) => 0xfe00_707f,
        (0x2f, _) => 0xf800_707f,
        (0x73, _) => u32::MAX,
        _ => 0x707f,
    }
}

fn short_form(half: u16) -> u16 {
    match (half & 3, half >> 13) {
        // What `sp` means, and `x0` as the second register.
        (1, 3) => half & 0xe003 | u16::from(half >> 7 & 31 == 2) << 7,
        (2, 4) => half & 0xf003 | u16::from(half >> 2 & 31 == 0) << 2,
        (1, 4) if half >> 10 & 3 == 3 => half & 0xec63,
        (1, 4) => half & 0xec03,
        _ => half & 0xe003,
    }
}

impl Seen {
    /// Notes a step of an instruction that stood in these bytes.
    fn note(&mut self, step: &Step, bytes: &[u8]) {
        self.steps += 1;
        match *bytes {
            [a, b] => _ = self.short_forms.insert(short_form(u16::from_le_bytes([a, b]))),
            [a, b, c, d] => _ = self.long_forms.insert(long_form(u32::from_le_bytes([a, b, c, d]))),
            _ => panic!("an instruction of {} bytes", bytes.len()),
        }
        self.short += u64::from(step.size == 2);
        self.straddling += u64::from(step.size == 4 && step.pc % 4 == 2);
        self.taken += u64::from(step.redirects());
        let misaligned =
            step.access.is_some_and(|access| access.address % u32::from(access.bytes) != 0);
        self.misaligned += u64::from(misaligned);
    }
}

/// Goes through a log beside the machine; what stopped the machine once the log had ended.
fn compare(name: &str, program: &Program, states: States, seen: &mut Seen) -> (Machine, Stopped) {
    let setup = Setup { host: true, ..Setup::default() };
    let mut states = states.peekable();
    let stack = states.peek().unwrap().1[usize::from(SP.number())];
    let mut machine = Machine::new(&with_stack(program, stack), &setup).unwrap();
    machine.set_register(SP, stack);
    machine.set_register(RA, 0);
    for (number, (pc, registers)) in states.enumerate() {
        assert_eq!(machine.pc(), pc, "{name}: the pc before instruction {number}");
        if machine.registers() != &registers {
            let differs =
                |&number: &u8| machine.register(x(number)) != registers[usize::from(number)];
            let which: Vec<u8> = (0..32).filter(differs).collect();
            panic!("{name}: registers {which:?} before instruction {number} at {pc:#x}");
        }
        let step = machine.step().unwrap_or_else(|stopped| panic!("{name}: {stopped}"));
        seen.note(&step, machine.bytes(step.pc, step.size.into()).unwrap());
    }
    let stopped = machine.step().unwrap_err();
    (machine, stopped)
}

/// The program with memory where Linux put its stack, in 64 KiB that end above it.
fn with_stack(program: &Program, stack: u32) -> Program {
    let mut program = program.clone();
    let address = (stack & !0xfff) - 0xf000;
    program.segments.push(Segment { address, size: 1 << 16, writable: true, bytes: Vec::new() });
    program
}

#[test]
fn random_programs_take_the_same_way_through_the_same_states() {
    let folder = tempfile::tempdir().unwrap();
    let (path, log) = (folder.path().join("program"), folder.path().join("log"));
    let (mut seen, programs) = (Seen::default(), programs());
    for seed in 0..programs {
        let bytes = random::elf(seed);
        random::write_executable(&path, &bytes);
        let (status, states) = conduct(&path, &log);
        let name = format!("program {seed}");
        let program = Program::from_elf(&bytes).unwrap();
        let before = seen.steps;
        let (machine, stopped) = compare(&name, &program, states, &mut seen);
        let Stopped::Exited { status: low } = stopped else {
            panic!("{name}: {stopped}");
        };
        assert_eq!(status.code(), Some((low & 0xff) as i32), "{name}");
        let steps = seen.steps - before;
        assert_eq!(machine.steps(), steps);
        assert!((100..STEPS_MAX).contains(&steps), "{name}: {steps} steps");
    }
    // That the programs hold what they are there for: a generator that fails makes this test empty.
    println!("{programs} programs of {} instructions", seen.steps);
    assert!(seen.steps > 100 * programs);
    for (what, count) in [
        ("16-bit instructions", seen.short),
        ("32-bit instructions over the end of a word", seen.straddling),
        ("jumps and branches taken", seen.taken),
        ("misaligned accesses", seen.misaligned),
    ] {
        assert!(count > programs, "only {count} {what}");
    }
    assert_eq!((seen.long_forms.len(), seen.short_forms.len()), (LONG_FORMS, SHORT_FORMS));
}

#[test]
fn the_reference_programs_take_the_same_way_through_the_same_states() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    for name in ["gcc14-rv32im", "gcc14-rv32imc", "gcc12-rv32im", "gcc12-rv32imc"] {
        let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("reference/{name}.elf"));
        let bytes = std::fs::read(stored).unwrap();
        let path = folder.path().join(name);
        random::write_executable(&path, &bytes);
        let (status, states) = conduct(&path, &log);
        // It returns to address 0, where Linux has nothing.
        assert_eq!(status.signal(), Some(11), "{name}: {status}");
        let mut seen = Seen::default();
        let program = Program::from_elf(&bytes).unwrap();
        let (_, stopped) = compare(name, &program, states, &mut seen);
        assert_eq!(stopped, Stopped::Left { pc: 0 }, "{name}");
        assert_eq!(seen.steps, 143_467, "{name}");
    }
}
