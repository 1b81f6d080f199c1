//! Texts for the preprocessor of C; what they become is what cpp makes of them.

use super::{Machine, Setup, Stopped, Text, alone, assemble};
use crate::assembly;

/// Returns the status with which a text for the preprocessor of C exits, and what was noted.
fn preprocessed(text: &str) -> (u32, usize) {
    let text = Text { name: "a.S".into(), bytes: text.into() };
    let assembled = assembly::assemble(&[text], &[], false, &alone).unwrap();
    let setup = Setup { host: true, stack_bytes: 1 << 12, ..Setup::default() };
    let mut machine = Machine::new(&assembled.program, &setup).unwrap();
    let Stopped::Exited { status } = machine.run(1000, |_| {}) else { panic!("no exit") };
    (status, assembled.notes.len())
}

#[test]
fn the_macros_of_c_need_no_semicolon_of_the_author() {
    let end = "\n li a7, 93\n ecall\n";
    for (text, status) in [
        ("#define SQ(d, s) mul d, s, s\n li a0, 3\n SQ(a0, a0)", 9),
        ("#define F(d) li d, 1; \\\n addi d, d, 2; \\\n addi d, d, 3\n F(a0)", 6),
        ("#define EMPTY\n li a0, 4\n EMPTY\n", 4),
        ("#define REG(n) a ## n\n li REG(0), 5", 5),
        ("#define OFF(n) (n*4)\n li a0, OFF(2)+1", 9),
        // What holds is -1 for the assembler, and 1 for the preprocessor.
        ("#define MAX(a, b) ((a)*((a)>(b))+(b)*((b)>=(a)))\n li a0, -MAX(2, 7)", 7),
        ("#if (3 == 3) + 2+3<<1 == 12 && (0 ? 0 : 1) && 1UL && !UNKNOWN\n li a0, 1\n#endif", 1),
        ("#if 0\n it's junk\n#elif 0\n#else\n# if 1\n li a0, 1\n# endif\n#endif", 1),
        ("#define A B\n#define B A\n.equ A, 7\n li a0, A", 7),
        (
            "#define X 1\n#define S(x) #x\n#define T(x) S(x)\n .data\nt: .ascii T(X), S(X)\n .text\n lh a0, t",
            0x5831,
        ),
        (
            "#define CAT(a, b) a##b\n#define XCAT(a, b) CAT(a, b)\n#define N 1\nt1: XCAT(l, i) a0, 2\n j XCAT(t, 2)\n t2:",
            2,
        ),
        ("#define A F(A)\n#define F(x) x\n.equ A, 5\n li a0, A", 5),
        ("#define F(x) G(x) + 1\n#define G(x) (x * 2)\n li a0, F(G(F(1)))", 9),
        ("#define CALL(f, ...) f(__VA_ARGS__)\n#define LI(r, v) li r, v\n CALL(LI, a0,\n 5)", 5),
        (
            "#define L(x, ...) .byte x, ##__VA_ARGS__\n .data\nt: L(1)\n L(2, 3)\n .text\n lbu a0, t + 2",
            3,
        ),
        ("# error handling\n# else include what is left\n li a0, 4\n # if", 4),
        ("/* a #define X\n */ #define Y 4 // four\n li a0, Y # don't; Y(", 4),
        ("#define DO(n, code...) li a1, n; code\n DO(3, add a0, zero, a1)", 3),
        ("#define DO(n, code...) li a1, n; code\n DO(3, nop; \\\n nop;\n add a0, zero, a1)", 3),
        ("#define ONE nop; li a0, 1\n#define TWO ONE; addi\n TWO a0, a0, 1", 2),
        ("#define S(x) .string #x\n .data\nt: S(A)\n .text\n lbu a0, t", 65),
        ("#define B (A+4)\n#define A 2\n li a0, B", 6),
        ("#if defined(X) || !defined(Y) && __riscv_xlen == 32\n li a0, 1\n#endif", 1),
        ("#ifdef __riscv\n li a0, 1\n#else\n li a0, 2\n#endif", 1),
        ("#define X t0\n#ifdef X\n li a0, 1\n#endif\n#undef X\n#ifdef X\n li a0, 2\n#endif", 1),
    ] {
        assert_eq!(preprocessed(&format!("{text}{end}")), (status, 0), "{text}");
    }
}

#[test]
fn mistakes_of_the_preprocessor_have_their_lines() {
    for (text, mistake) in [
        ("#define F(x) x\n nop\n F(1, 2)", "3:1: the macro F"),
        ("#define F(x) x\n F(1", "2:1: the arguments"),
        ("#if 1 +\n#endif", "1:3: expected"),
        ("#if 1\n#error no board\n#endif", "2:1: no board"),
        ("#define A A A\n#define B A A\n#define 5\n nop", "3:1: expected #define"),
        ("nop\n#include \"none.h\"", "2:1: none.h cannot"),
    ] {
        let text = Text { name: "a.S".into(), bytes: text.into() };
        let mistakes = assembly::assemble(&[text], &[], false, &alone).unwrap_err();
        let first = mistakes.listed[0].to_string();
        assert!(first.starts_with(mistake), "{first}");
    }
    let nested = |n: u32| format!("#define X{n} X{} X{}\n", n + 1, n + 1);
    let bomb: String = (0..40).map(nested).collect::<String>() + " .byte X0";
    let text = Text { name: "a.S".into(), bytes: bomb.into() };
    let mistakes = assembly::assemble(&[text], &[], false, &alone).unwrap_err();
    assert!(mistakes.listed[0].what.contains("too much text"));
}

#[test]
fn a_macro_of_c_in_a_text_of_another_kind_is_noted() {
    let mistakes = assemble("#define SQ(d) mul d, d, d\nSQ(a0)", &[], false).unwrap_err();
    assert!(mistakes.notes[0].to_string().starts_with("1:1: files whose"));
}
