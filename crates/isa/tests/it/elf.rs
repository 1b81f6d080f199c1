//! Files that are not what the loader needs, each with the sentence that says so.

use isa::{Error, Machine, Program, Setup, Stopped};

const FILE: &[u8] = include_bytes!("../../reference/gcc14-rv32imc.elf");

/// Where the second program header begins, which is that of the instructions.
const SEGMENT: usize = 52 + 32;

/// Where the section headers begin, and that of the symbols.
const SECTIONS: usize = 868;
const SYMBOLS: usize = SECTIONS + 5 * 40;

/// The file with bytes replaced.
fn patched(patches: &[(usize, &[u8])]) -> Vec<u8> {
    let mut file = FILE.to_vec();
    for (at, bytes) in patches {
        file[*at..at + bytes.len()].copy_from_slice(bytes);
    }
    file
}

const fn word(value: u32) -> [u8; 4] {
    value.to_le_bytes()
}

/// What is written where, and what is said of it.
const WRONG: [(usize, &[u8], &str); 18] = [
    (
        0,
        b"\x7fELG",
        "the start of the file is 0x7f454c47; it must be 0x7f454c46, which begins an ELF file",
    ),
    (
        4,
        &[2],
        "the file's class is 0x2; it must be 1, for RV32; RV64 is not supported (build with -march=rv32imac -mabi=ilp32)",
    ),
    (5, &[2], "the file's byte order is 0x2; it must be 1, the little end first"),
    (6, &[0], "the file's version is 0x0; it must be 1"),
    (
        16,
        &[3, 0],
        "the file's type is 0x3; it must be 2, an executable at fixed addresses (link with -static and -no-pie)",
    ),
    (18, &[62, 0], "the file's machine is 0x3e; it must be 0xf3, RISC-V"),
    (42, &[56, 0], "the size of a program header is 0x38; it must be 0x20"),
    (46, &[64, 0], "the size of a section header is 0x40; it must be 0x28"),
    (
        28,
        &word(0xffff_fff0),
        "the table of program headers of the ELF file cannot be read: it has 128 bytes from 4294967280 on, and the file only 1188",
    ),
    (
        32,
        &word(1000),
        "the table of section headers of the ELF file cannot be read: it has 320 bytes from 1000 on, and the file only 1188",
    ),
    (
        52,
        &word(3),
        "a program header of the ELF file cannot be read: it asks for a dynamic linker; link it with -static",
    ),
    (
        SEGMENT + 4,
        &word(2000),
        "a segment of the ELF file cannot be read: it has 274 bytes from 2000 on, and the file only 1188",
    ),
    (
        SEGMENT + 16,
        &word(0x113),
        "the segment at 0x00010000 has more bytes in the file than in memory; it must have at most as many",
    ),
    (
        SEGMENT + 20,
        &word(u32::MAX),
        "the program wants 4294967295 bytes of memory; the machine has at most 268435456",
    ),
    (
        SECTIONS + 40 + 12,
        &word(0xffff_fffe),
        "the segment at 0xfffffffe ends behind the last address; instructions must end at 0xfffffffe or before",
    ),
    (
        SYMBOLS + 24,
        &word(8),
        "the table of symbols of the ELF file cannot be read: its names are to be in section 8, which is not there",
    ),
    (
        SYMBOLS + 20,
        &word(2000),
        "the table of symbols of the ELF file cannot be read: it has 2000 bytes from 348 on, and the file only 1188",
    ),
    (
        SYMBOLS + 20,
        &word(1 << 24),
        "the number of symbols is 0x100000; it must be at most 0x10000 (strip it)",
    ),
];

#[test]
fn what_cannot_be_loaded_is_said_in_a_sentence() {
    for (at, bytes, expected) in WRONG {
        let error = Program::from_elf(&patched(&[(at, bytes)])).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let error = Program::from_elf(&FILE[..51]).unwrap_err();
    let expected = "the header of the ELF file cannot be read: it has 52 bytes from 0 on, and the file only 51";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn without_sections_the_executable_segment_is_the_text() {
    let program = Program::from_elf(&patched(&[(48, &[0, 0])])).unwrap();
    assert_eq!((program.text.clone(), program.symbols.len()), (0x10000..0x10112, 0));
    let mut machine = Machine::new(&program, &Setup::default()).unwrap();
    assert_eq!(machine.run(u64::MAX, |_| {}), Stopped::Left { pc: isa::HOME });
    assert_eq!(machine.steps(), 143_467);
    // A segment that may be read and not executed holds no instructions.
    let file = patched(&[(48, &[0, 0]), (SEGMENT + 24, &[4])]);
    assert_eq!(Program::from_elf(&file), Err(Error::NoText));
}

#[test]
fn a_segment_that_may_not_be_written_is_so() {
    let program = Program::from_elf(FILE).unwrap();
    let writable: Vec<bool> = program.segments.iter().map(|segment| segment.writable).collect();
    assert_eq!(writable, [false, true]);
    assert_eq!((program.segments[1].address, program.segments[1].size), (0x11114, 4));
}

#[test]
fn headers_that_name_the_same_bytes_again_and_again_are_refused_before_they_are_copied() {
    // 65 segments of 4 MiB in memory are 260 MiB; 65 of a byte are too many.
    for (size, expected) in [
        (1 << 22, "the program wants 272629760 bytes of memory; the machine has at most 268435456"),
        (1, "the number of segments is 0x41; it must be at most 64"),
    ] {
        let mut file = FILE.to_vec();
        let start = file.len() as u32;
        for number in 0..65_u32 {
            let header = [1, 0, number << 20, 0, 1, size, 5, 1];
            header.iter().for_each(|word| file.extend(word.to_le_bytes()));
        }
        file[28..32].copy_from_slice(&start.to_le_bytes());
        file[44..46].copy_from_slice(&65_u16.to_le_bytes());
        let error = Program::from_elf(&file).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

/// The file with another name for `main`, which ends where the file does.
fn with_main_named(name: &[u8]) -> Vec<u8> {
    // The names of symbols are all of the file.
    let mut file = patched(&[(SECTIONS + 6 * 40 + 16, &0_u32.to_le_bytes())]);
    let length = file.len() as u32;
    file.extend(name);
    let end = file.len() as u32;
    file[SECTIONS + 6 * 40 + 20..][..4].copy_from_slice(&end.to_le_bytes());
    let main = 348 + 13 * 16;
    file[main..main + 4].copy_from_slice(&length.to_le_bytes());
    file
}

#[test]
fn a_program_with_tohost_may_write_all_its_segments() {
    for (name, expected) in [(b"tohost", [true, true]), (b"tohosu", [false, true])] {
        let program = Program::from_elf(&with_main_named(name)).unwrap();
        let writable: Vec<bool> = program.segments.iter().map(|it| it.writable).collect();
        assert_eq!(writable, expected);
    }
}

#[test]
fn a_name_is_cut_and_need_not_be_text() {
    // Neither does the name end in the file, nor is it UTF-8.
    let program = Program::from_elf(&with_main_named(&[0xff; 400])).unwrap();
    let symbol = program.symbols.iter().find(|symbol| symbol.address == 0x100b4).unwrap();
    assert_eq!(symbol.name, "\u{fffd}".repeat(256));
}

/// Where the header of the data's segment begins.
const DATA: usize = SEGMENT + 32;

#[test]
fn bytes_also_lie_at_their_physical_address() {
    // All of the instructions, again at an address that nothing else has.
    let file = patched(&[(SEGMENT + 12, &word(0x8000_0000))]);
    let mut program = Program::from_elf(&file).unwrap();
    let image = program.segments.pop().unwrap();
    assert_eq!((image.address, image.writable), (0x8000_0000, false));
    assert_eq!(image.bytes, program.segments[0].bytes);
    let places = |program: &Program| {
        program.segments.iter().map(|it| (it.address, it.size)).collect::<Vec<_>>()
    };
    let usual = places(&Program::from_elf(FILE).unwrap());
    assert_eq!(places(&program), usual);
    // Not where something lies already, where the address is not stated, or behind the last one.
    for physical in [0x1_0100, 0, 0xffff_ff00] {
        let file = patched(&[(SEGMENT + 12, &word(physical))]);
        assert_eq!(places(&Program::from_elf(&file).unwrap()), usual, "{physical:#x}");
    }
}

#[test]
fn a_segment_that_says_nothing_may_be_written_and_executed() {
    let flags = |file: &[u8]| {
        let program = Program::from_elf(file).unwrap();
        program.segments.iter().map(|segment| segment.writable).collect::<Vec<_>>()
    };
    assert_eq!(flags(&patched(&[(SEGMENT + 24, &word(0))])), [true, true]);
    // The section of data says that it is written, whatever its segment says.
    assert_eq!(flags(&patched(&[(DATA + 24, &word(4))])), [false, true]);
    let file = patched(&[(48, &[0, 0]), (SEGMENT + 24, &word(0))]);
    assert_eq!(Program::from_elf(&file).unwrap().text, 0x10000..0x10112);
}

#[test]
fn a_text_of_any_span_is_loaded() {
    // The section of instructions says 5 MiB: more than is decoded before.
    let program = Program::from_elf(&patched(&[(SECTIONS + 40 + 20, &word(5 << 20))])).unwrap();
    assert_eq!(program.text_bytes, 5 << 20);
    let mut machine = Machine::new(&program, &Setup::default()).unwrap();
    assert_eq!(machine.run(u64::MAX, |_| {}), Stopped::Left { pc: isa::HOME });
    assert_eq!((machine.steps(), machine.outside()), (143_467, 0));
}
