//! Programs that compilers made, against figures that three other simulators agree on; where they
//! come from stands in `reference/README.md`.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use isa::{Machine, Program, Setup, Stopped};

const FILES: [(&str, &[u8]); 4] = [
    ("gcc14-rv32im", include_bytes!("../reference/gcc14-rv32im.elf")),
    ("gcc14-rv32imc", include_bytes!("../reference/gcc14-rv32imc.elf")),
    ("gcc12-rv32im", include_bytes!("../reference/gcc12-rv32im.elf")),
    ("gcc12-rv32imc", include_bytes!("../reference/gcc12-rv32imc.elf")),
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
    assert_eq!(stopped, Stopped::Left { pc: 0 });
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
    for (name, bytes) in FILES {
        println!("{name} {:?} {}", run(bytes, &Setup::default()), expected_sink());
    }
}
