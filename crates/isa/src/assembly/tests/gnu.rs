//! What the GNU assembler, the manual and linkers define.

use super::{assemble, disassemble, mistakes, run, words};

/// Returns the bytes of a text's data.
fn data(text: &str) -> Vec<u8> {
    let program = assemble(&format!(".data\n{text}\n.text\nnop"), &[], false).unwrap().program;
    program.segments[1].bytes.clone()
}

#[test]
fn expressions_are_those_of_the_gnu_assembler() {
    // What llvm-mc writes.
    for (text, value) in [
        ("2+3<<1", 8),
        ("8>>1+1", 5),
        ("3==3", -1),
        ("2<3", -1),
        ("4>=5", 0),
        ("1+2==3", -1),
        ("1|2+4", 7),
        ("6&3+1", 3),
        ("5!0", -1),
        ("!0", 1),
        ("!5", 0),
        ("1&&2", 1),
        ("1||0&&0", 1),
        ("2*3<<1", 12),
        ("1<<4-1", 15),
        ("~1&7", 6),
        ("7^1*2", 5),
        ("1+1<3", -1),
        ("0x10|1<<2", 20),
    ] {
        assert_eq!(data(&format!(".word {text}")), i32::to_le_bytes(value), "{text}");
    }
    assert_eq!(data(".word -8>>1"), i32::to_le_bytes(-4));
    assert_eq!(data(".dword 1<<63")[7], 0x80);
}

#[test]
fn data_have_all_forms_of_the_gnu_assembler() {
    for (text, bytes) in [
        (".byte 1\n.balign 4, 0xff\n.byte 2", &[1, 0xff, 0xff, 0xff, 2][..]),
        (".byte 1\n.p2align 2, 0xee", &[1, 0xee, 0xee, 0xee]),
        (".byte 1\n.p2align 4,,3\n.byte 4", &[1, 4]),
        (".byte 1\n.balign 4, 7, 3\n.byte 4", &[1, 7, 7, 7, 4]),
        (".int 5", &[5, 0, 0, 0]),
        ("d: .byte 7, .-d, .-d", &[7, 1, 2]),
        (".uleb128 624485, 0, 127, 128", &[0xe5, 0x8e, 0x26, 0, 0x7f, 0x80, 1]),
        (".sleb128 -123456, 63, 64, -64, -65", &[0xc0, 0xbb, 0x78, 63, 0xc0, 0, 0x40, 0xbf, 0x7f]),
        (
            ".octa -2",
            &[0xfe, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255],
        ),
    ] {
        assert_eq!(data(text), bytes, "{text}");
    }
}

#[test]
fn orders_of_memory_are_in_the_instructions() {
    // What llvm-mc writes.
    for (text, word) in [
        ("fence", 0x0ff0_000f),
        ("fence r, w", 0x0210_000f),
        ("fence i, o", 0x0840_000f),
        ("fence.tso", 0x8330_000f),
        ("pause", 0x0100_000f),
        ("lr.w.aq a0, (a1)", 0x1405_a52f),
        ("sc.w.rl a0, a2, (a1)", 0x1ac5_a52f),
        ("amoadd.w.aqrl a0, a2, (a1)", 0x06c5_a52f),
    ] {
        assert_eq!(words(text), [word], "{text}");
        assert_eq!(disassemble(word, 0, |_| None), text);
    }
    assert!(mistakes("add.aq a0, a0, a0")[0].contains("no instruction add.aq"));
}

#[test]
fn names_of_other_machines_and_of_linkers_are_known() {
    for (text, said) in [
        ("csrw utvec, t0", "use mtvec"),
        ("csrr t0, sepc", "use mepc"),
        ("csrw pmpcfg0, t0", "csr that core"),
        ("csrr t0, fcsr", "csr that core"),
        ("sret", "mret"),
        ("fmadd.s f0, f1, f2, f3", "no floating point"),
        ("foo.x a0", "docs/core.md"),
        ("lr.d a0, (a1)", "RV64"),
        ("andn a0, a0, a1", "Zbb"),
        ("la a0, _board_io", "--define _board_io=VALUE"),
        ("li $v0, 5", "MIPS"),
        (".data\n.space 300000000", "300000000 is not"),
    ] {
        let all = mistakes(text);
        assert!(all[0].contains(said), "{all:?}");
    }
    let end = "li a7, 93\necall\n.data\n.word 1, 2";
    let clears = "la a0, __bss_start\nla a1, _end\nsub a0, a1, a0\n";
    assert_eq!(run(&format!("{clears}{end}"), false).1, 0);
    let copies = "la a0, _sidata\nla a1, _edata\nsub a0, a1, a0\n";
    assert_eq!(run(&format!("{copies}{end}"), false).1, 16);
    assert_eq!(run(&format!("csrr a0, mhpmcounter3\ncsrr a0, mhpmcounter31h\n{end}"), false).1, 0);
}
