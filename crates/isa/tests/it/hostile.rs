//! Programs and files that nobody meant: whatever they hold, the machine neither panics, nor runs past
//! its limit, nor takes more memory than it says.

use isa::encode::{A0, A1, T0, ZERO, addi, csrrw, fence_i, j, li, sw, x};
use isa::{MEMORY_MAX_BYTES, Machine, Misaligned, Program, Setup, Stopped, csr};
use proptest::prelude::*;

const FILES: [&[u8]; 2] = [
    include_bytes!("../../reference/gcc14-rv32im.elf"),
    include_bytes!("../../reference/gcc12-rv32imc.elf"),
];

const LIMIT: u64 = 2000;

/// Loads, runs and looks at everything that has a size.
fn conduct(file: &[u8]) {
    let Ok(program) = Program::from_elf(file) else {
        return;
    };
    let bytes: u64 = program.segments.iter().map(|segment| u64::from(segment.size)).sum();
    assert!(bytes <= MEMORY_MAX_BYTES);
    assert!(program.segments.iter().all(|s| s.bytes.len() <= s.size as usize));
    assert!(program.symbols.len() <= 1 << 16);
    // A byte that is no UTF-8 becomes a sign of three.
    assert!(program.symbols.iter().all(|symbol| symbol.name.len() <= 3 * 256));
    let symbol = program.symbol_at(program.entry).map(|symbol| symbol.address);
    assert!(symbol.is_none_or(|address| address <= program.entry));
    let setup = Setup { host: true, ..Setup::default() };
    if let Ok(mut machine) = Machine::new(&program, &setup) {
        run(&mut machine);
    }
}

/// Runs to the limit or an end; each step is one that the contract of a step allows.
fn run(machine: &mut Machine) -> Stopped {
    let mut count = 0;
    let mut pc = machine.pc();
    let stopped = machine.run(LIMIT, |step| {
        count += 1;
        assert_eq!(step.pc, pc, "a step begins where the one before it ended");
        assert!(matches!(step.size, 0 | 2 | 4));
        assert!(step.size > 0 || step.trap.is_some());
        assert!(step.reads.into_iter().chain([step.writes]).all(|register| register < 32));
        assert!(step.trap.is_none() || step.writes == 0);
        assert!(step.next.is_multiple_of(2));
        pc = step.next;
    });
    assert_eq!(machine.pc(), pc);
    assert_eq!(machine.steps(), count);
    assert!(machine.retired() <= count && count <= LIMIT);
    assert_eq!(machine.registers()[0], 0);
    stopped
}

/// Words of which most are instructions: any bits with an opcode.
fn word() -> impl Strategy<Value = u32> {
    const OPCODES: [u32; 17] = [
        0x2f, 0x03, 0x0f, 0x13, 0x17, 0x23, 0x33, 0x37, 0x63, 0x67, 0x6f, 0x73, 0x01, 0x02, 0x00,
        0x1f, 0x7f,
    ];
    const KNOWN: [u32; 5] = [0x0000_0073, 0x0010_0073, 0x3020_0073, 0x1050_0073, 0x0000_100f];
    prop_oneof![
        4 => (any::<u32>(), proptest::sample::select(&OPCODES[..]))
            .prop_map(|(bits, opcode)| bits & !0x7f | opcode),
        1 => any::<u32>(),
        1 => proptest::sample::select(&KNOWN[..]),
        // Accesses to the csrs that there are.
        1 => (any::<u32>(), proptest::sample::select(&[
            csr::MSTATUS, csr::MIE, csr::MTVEC, csr::MEPC, csr::MIP, csr::MCYCLE, csr::MINSTRETH,
        ][..]))
            .prop_map(|(bits, csr)| bits & 0xf_ff80 | 0x73 | u32::from(csr) << 20),
    ]
}

fn setup() -> impl Strategy<Value = Setup> {
    (any::<[bool; 3]>(), 0..4_u32).prop_map(|([compressed, carried_out, host], stack)| Setup {
        compressed,
        misaligned: if carried_out { Misaligned::CarriedOut } else { Misaligned::Trapped },
        host,
        stack_bytes: 4096 * stack,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1000)
    ))]

    #[test]
    fn any_words_are_run(
        words in proptest::collection::vec(word(), 1..60),
        setup in setup(),
        base in proptest::sample::select(&[0, 0x1000, 0x0200_0000 - 256, 0x7fff_f000, 0xffff_ff00_u32][..]),
        registers in any::<[u32; 31]>(),
        handled in any::<bool>(),
    ) {
        let mut all = Vec::new();
        if handled {
            all.extend(li(T0, base.max(4)));
            all.push(csrrw(ZERO, csr::MTVEC, T0));
        }
        all.extend(words);
        let program = Program::from_words(base, &all);
        if let Ok(mut machine) = Machine::new(&program, &setup) {
            for (number, value) in (1..).zip(registers) {
                // Half of them are addresses of the program.
                let value = if value & 1 == 0 { base.wrapping_add(value >> 24) } else { value };
                machine.set_register(x(number), value);
            }
            machine.set_external(registers[0] & 2 == 0);
            run(&mut machine);
        }
    }

    #[test]
    fn any_halfwords_are_run(halves in any::<Vec<u16>>(), compressed in any::<bool>()) {
        let program = Program::from_halfwords(0x1000, &halves);
        if let Ok(mut machine) = Machine::new(&program, &Setup { compressed, ..Setup::default() }) {
            run(&mut machine);
        }
    }

    #[test]
    fn any_bytes_behind_a_header_are_loaded_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..2000),
        keep in 0..84_usize,
    ) {
        let mut file = FILES[1][..keep].to_vec();
        file.extend(bytes);
        conduct(&file);
    }

    #[test]
    fn files_with_some_other_bytes_are_loaded_or_refused(
        which in 0..FILES.len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let mut file = FILES[which].to_vec();
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        conduct(&file);
    }

    #[test]
    fn files_with_other_numbers_in_their_tables_are_loaded_or_refused(
        which in 0..FILES.len(),
        changes in proptest::collection::vec(
            (any::<prop::sample::Index>(), prop_oneof![any::<u32>(), 0..4096_u32, 0xffff_f000..=u32::MAX]),
            1..4,
        ),
    ) {
        let mut file = FILES[which].to_vec();
        // The header with the program headers, the symbols, and the section headers.
        let tables: Vec<usize> = (24..52 + 128).chain(348..652).chain(868..file.len() - 4).step_by(4).collect();
        for (at, value) in changes {
            let at = tables[at.index(tables.len())];
            file[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        conduct(&file);
    }
}

#[test]
fn files_that_end_early_are_loaded_or_refused() {
    for file in FILES {
        (0..file.len()).for_each(|end| conduct(&file[..end]));
    }
}

#[test]
fn files_with_any_one_byte_at_its_extremes_are_loaded_or_refused() {
    for file in FILES {
        for at in 0..file.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut file = file.to_vec();
                file[at] = byte;
                conduct(&file);
            }
        }
    }
}

#[test]
fn what_writes_all_of_its_text_again_and_again_is_bounded() {
    const TEXT_BYTES: u32 = 4 << 20;
    // Each round stores to its two ends and asks for `fence.i`.
    let mut program =
        Program::from_words(0, &[sw(A0, 0, A1), sw(A0, 256, ZERO), fence_i(), j(-12)]);
    program.segments[0].size = TEXT_BYTES;
    program.text.end = TEXT_BYTES;
    let mut machine = Machine::new(&program, &Setup::default()).unwrap();
    machine.set_register(A0, addi(A0, A0, 1));
    machine.set_register(A1, TEXT_BYTES - 4);
    assert_eq!(machine.run(100_000, |_| {}), Stopped::Limit);
}
