//! Every exception: its cause, what `mepc` and `mtval` hold, and how it ends.

use super::compressed::c_nop;
use super::*;

/// Words that are no instruction of this machine.
const ILLEGAL: [u32; 20] = [
    0xffff_ffff,
    // Funct3 and funct7 that mean nothing.
    0x0000_1067,
    0x0000_2063,
    0x0000_3003,
    0x0000_6003,
    0x0000_7003,
    0x0000_3023,
    0x0200_1013,
    0x0200_5013,
    0x4000_1033,
    0x0400_0033,
    0x0000_200f,
    // Atomic instructions that there are not, floating point, of 64 bits.
    0x1015_22af,
    0x0005_2007,
    0x0005_2027,
    0x0000_003b,
    // Other modes' returns, a call with a destination, and csr access without a kind.
    0x1020_0073,
    0x0000_00f3,
    0x3000_4073,
    // Longer than 32 bits.
    0x0000_001f,
];

#[test]
fn what_is_no_instruction_traps_with_its_bits() {
    for word in ILLEGAL {
        let mut machine = with_handler(Setup::default(), &[word], &[nop()]);
        let step = machine.step().unwrap();
        assert_eq!(step.trap, Some(exception(Exception::Illegal, word)), "{word:#010x}");
        assert_eq!((step.kind, step.size, step.next), (Kind::Illegal, 4, HANDLER));
        assert_eq!(machine.csr(csr::MTVAL), Some(word));
    }
    // Of 16 bits: all zeros, one of floating point, and a reserved one.
    for half in [0, 0x2000, 0x6101, 0x8002] {
        let mut machine = with_handler(Setup::default(), &[0xffff_0000 | half], &[nop()]);
        let step = machine.step().unwrap();
        assert_eq!(step.trap, Some(exception(Exception::Illegal, half)), "{half:#06x}");
        assert_eq!(step.size, 2);
    }
}

#[test]
fn fences_ignore_fields_that_are_reserved() {
    for word in [fence(), fence_i(), 0x8330_000f, 0x0100_000f, 0x0ff5_078f, 0xfff5_178f] {
        let step = machine(&[word]).step().unwrap();
        assert_eq!((step.kind, step.trap), (Kind::Fence, None), "{word:#010x}");
        assert_eq!((step.reads, step.writes), ([0, 0], 0));
    }
}

#[test]
fn a_trap_says_where_why_and_about_what() {
    for (word, kind, cause, value) in [
        (ecall(), Kind::Call, Exception::MachineCall, 0),
        (ebreak(), Kind::Break, Exception::Breakpoint, BASE + 4),
        (0, Kind::Illegal, Exception::Illegal, 0),
        (lw(A0, 4, ZERO), Kind::Load, Exception::LoadAccess, 4),
        (sw(A0, 4, ZERO), Kind::Store, Exception::StoreAccess, 4),
        (csrrw(A0, csr::CYCLE, A1), Kind::Csr, Exception::Illegal, csrrw(A0, csr::CYCLE, A1)),
        (csrrs(A0, 0x180, ZERO), Kind::Csr, Exception::Illegal, csrrs(A0, 0x180, ZERO)),
    ] {
        let mut machine = with_handler(Setup::default(), &[nop(), word], &[mret()]);
        machine.set_register(A0, 77);
        machine.step().unwrap();
        let step = machine.step().unwrap();
        assert_eq!((step.pc, step.kind, step.next), (BASE + 4, kind, HANDLER));
        assert_eq!(step.trap, Some(exception(cause, value)));
        assert!(step.redirects());
        // Nothing was written, and the step says so.
        assert_eq!((step.writes, machine.register(A0)), (0, 77));
        let code = cause as u32;
        assert_eq!(
            [csr::MEPC, csr::MCAUSE, csr::MTVAL].map(|csr| machine.csr(csr)),
            [Some(BASE + 4), Some(code), Some(value)]
        );
        // `mret` goes to the instruction itself, which traps again.
        let step = machine.step().unwrap();
        assert_eq!((step.kind, step.next, step.trap), (Kind::Return, BASE + 4, None));
        assert_eq!(machine.step().unwrap().trap, Some(exception(cause, value)));
        assert_eq!((machine.steps(), machine.retired()), (4, 2));
    }
}

#[test]
fn a_handler_skips_what_it_has_seen_to() {
    let handler = [csrrs(T0, csr::MEPC, ZERO), addi(T0, T0, 4), csrrw(ZERO, csr::MEPC, T0), mret()];
    let words = [ecall(), addi(A0, A0, 1), ebreak(), addi(A0, A0, 2), j(8), nop(), ret()];
    let mut machine = with_handler(Setup::default(), &words, &handler);
    let (steps, stopped) = all(&mut machine);
    assert_eq!((machine.register(A0), stopped), (3, Stopped::Left { pc: HOME }));
    assert_eq!(steps.iter().filter(|step| step.trap.is_some()).count(), 2);
}

#[test]
fn exceptions_go_to_the_base_of_a_vectored_handler() {
    let mut machine = with_handler(Setup::default(), &[ecall()], &[nop()]);
    machine.write_csr(csr::MTVEC, HANDLER | 1).unwrap();
    assert_eq!(machine.step().unwrap().next, HANDLER);
}

#[test]
fn an_instruction_whose_second_half_is_missing_traps_with_its_address() {
    let halves = [c_nop(), halfwords(nop())[0]];
    let program = Program::from_halfwords(BASE, &halves);
    let mut machine = Machine::new(&program, &Setup::default()).unwrap();
    machine.step().unwrap();
    let trap = exception(Exception::InstructionAccess, BASE + 4);
    assert_eq!(machine.step(), Err(Stopped::Unhandled { pc: BASE + 2, trap }));
    // The first half is in the text, the second beyond it, though there is memory.
    let mut program = Program::from_halfwords(BASE, &[halves[1], 0]);
    program.text.end -= 2;
    let mut machine = Machine::new(&program, &Setup::default()).unwrap();
    let trap = exception(Exception::InstructionAccess, BASE + 2);
    assert_eq!(machine.step(), Err(Stopped::Unhandled { pc: BASE, trap }));
}

#[test]
fn what_lies_between_pieces_of_text_traps() {
    let mut program = Program::from_words(BASE, &[j(12), nop()]);
    let bytes = nop().to_le_bytes().to_vec();
    program.segments.push(crate::Segment { address: BASE + 16, bytes, size: 4, writable: false });
    program.text.end = BASE + 20;
    let mut machine = Machine::new(&program, &Setup::default()).unwrap();
    machine.step().unwrap();
    let trap = exception(Exception::InstructionAccess, BASE + 12);
    assert_eq!(machine.step(), Err(Stopped::Unhandled { pc: BASE + 12, trap }));
}

#[test]
fn a_jump_to_no_memory_traps_where_there_is_a_handler() {
    let mut machine = with_handler(Setup::default(), &[jalr(RA, 0x100, ZERO)], &[mret()]);
    assert_eq!(machine.step().unwrap().next, 0x100);
    let step = machine.step().unwrap();
    assert_eq!((step.pc, step.size, step.kind, step.next), (0x100, 0, Kind::Illegal, HANDLER));
    assert_eq!(step.trap, Some(exception(Exception::InstructionAccess, 0x100)));
    assert_eq!(machine.csr(csr::MEPC), Some(0x100));
    // A handler that is not there, either, is tried until the limit.
    machine.write_csr(csr::MTVEC, 0x200).unwrap();
    assert_eq!(machine.run(1000, |_| {}), Stopped::Limit);
}
