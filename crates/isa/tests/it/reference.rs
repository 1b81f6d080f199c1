//! Programs that compilers made, against figures that three other simulators agree on; where they
//! come from stands in `reference/README.md`.

use crate::compressed::c_addi;
use isa::encode::SP;
use isa::{Cause, Exception, Machine, Misaligned, Program, Setup, Stopped};

const FILES: [&[u8]; 4] = [
    include_bytes!("../../reference/gcc14-rv32im.elf"),
    include_bytes!("../../reference/gcc14-rv32imc.elf"),
    include_bytes!("../../reference/gcc12-rv32im.elf"),
    include_bytes!("../../reference/gcc12-rv32imc.elf"),
];

/// What a run of a program adds up to.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    text_bytes: u32,
    steps: u64,
    short: u64,
    sink: u32,
}

fn run(bytes: &[u8], setup: &Setup) -> Seen {
    let program = Program::from_elf(bytes).unwrap();
    let mut machine = Machine::new(&program, setup).unwrap();
    let mut short = 0;
    let stopped = machine.run(1_000_000, |step| short += u64::from(step.size == 2));
    assert_eq!(stopped, Stopped::Left { pc: isa::HOME });
    let sink = machine.bytes(program.address_of("sink").unwrap(), 4).unwrap();
    Seen {
        text_bytes: program.text.end - program.text.start,
        steps: machine.steps(),
        short,
        sink: u32::from_le_bytes(sink.try_into().unwrap()),
    }
}

/// What `sink` holds in the end, by the C source.
fn expected_sink() -> u32 {
    fn kernel(mut x: u32) -> u32 {
        let mut s = 0_u32;
        for _ in 0..1024 {
            s = s.wrapping_add(if x & 1 == 1 { 3 } else { 7 });
            s ^= x << 1;
            s = s.wrapping_add(5);
            s ^= x >> 2;
            s = s.wrapping_add(9);
            x = x.wrapping_add(s);
        }
        s
    }
    (0..10).map(kernel).fold(0, u32::wrapping_add)
}

#[test]
fn the_reference_programs_do_what_they_are_known_to() {
    let sink = expected_sink();
    for (name, bytes, text_bytes, short) in [
        ("gcc14-rv32im", FILES[0], 160, 0),
        ("gcc14-rv32imc", FILES[1], 94, 102_486),
        ("gcc12-rv32im", FILES[2], 160, 0),
        // How many are short is told of the other compiler's alone; this is what qemu's trace has.
        ("gcc12-rv32imc", FILES[3], 92, 112_726),
    ] {
        let expected = Seen { text_bytes, steps: 143_467, short, sink };
        assert_eq!(run(bytes, &Setup::default()), expected, "{name}");
    }
}

#[test]
fn a_machine_without_short_instructions_runs_programs_without_them() {
    let setup = Setup { compressed: false, ..Setup::default() };
    assert_eq!(run(FILES[0], &setup).steps, 143_467);
    assert_eq!(run(FILES[2], &setup).steps, 143_467);
    let program = Program::from_elf(FILES[1]).unwrap();
    let stopped = Machine::new(&program, &setup).unwrap().run(1000, |_| {});
    // `c.addi sp, -16` and the halfword behind it, the first of `main`.
    let Stopped::Unhandled { pc: 0x100b4, trap } = stopped else {
        panic!("{stopped}");
    };
    assert_eq!(trap.cause, Cause::Exception(Exception::Illegal));
    assert_eq!(trap.value & 0xffff, u32::from(c_addi(SP, -16)));
}

#[test]
fn misaligned_accesses_do_not_occur_in_them() {
    let setup = Setup { misaligned: Misaligned::Trapped, ..Setup::default() };
    for bytes in FILES {
        assert_eq!(run(bytes, &setup).steps, 143_467);
    }
}

#[test]
fn their_symbols_are_read() {
    let program = Program::from_elf(FILES[1]).unwrap();
    assert_eq!((program.entry, program.text.clone()), (0x100b4, 0x100b4..0x10112));
    let named = |name: &str| {
        let symbol = program.symbols.iter().find(|symbol| symbol.name == name).unwrap();
        (symbol.address, symbol.size)
    };
    assert_eq!(named("main"), (0x100b4, 48));
    assert_eq!(named("kernel"), (0x100e4, 46));
    assert_eq!(named("sink"), (0x11114, 4));
    assert!(program.symbols.is_sorted_by_key(|symbol| symbol.address));
    // `_start` is asked for and not there.
    assert_eq!(program.address_of("_start"), None);
    // Neither sections, files nor the marks between instructions and data.
    assert!(program.symbols.iter().all(|s| !s.name.starts_with('$') && !s.name.ends_with(".c")));
    assert_eq!(program.symbol_at(0x100b4).unwrap().name, "main");
    assert_eq!(program.symbol_at(0x100e3).unwrap().name, "main");
    assert_eq!(program.symbol_at(0x10111).unwrap().name, "kernel");
    // Where three begin, of which two are marks.
    assert_eq!(program.symbol_at(0x11114).unwrap().name, "sink");
    assert_eq!(program.symbol_at(0x10000), None);
}
