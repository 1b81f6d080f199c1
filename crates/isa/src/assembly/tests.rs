use super::{Assembled, DATA_ADDRESS, Mistakes, TEXT_ADDRESS, Text, alone, disassemble};
use crate::encode::*;
use crate::{Machine, Setup, Stopped};
use proptest::prelude::*;

/// Assembles one text.
pub(crate) fn assemble(
    text: &str,
    constants: &[(String, i64)],
    compressed: bool,
) -> Result<Assembled, Mistakes> {
    let text = Text { name: "a.s".into(), bytes: text.into() };
    super::assemble(&[text], constants, compressed, &alone)
}

/// Returns the words of a text.
fn words(text: &str) -> Vec<u32> {
    let program = assemble(text, &[], false).unwrap().program;
    let bytes = program.segments[0].bytes.chunks_exact(4);
    bytes.map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

fn mistakes(text: &str) -> Vec<String> {
    assemble(text, &[], false)
        .map(|_| ())
        .unwrap_err()
        .listed
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Runs a text to its end; returns what it wrote and its status.
fn run(text: &str, compressed: bool) -> (String, u32) {
    let program = assemble(text, &[], compressed).unwrap().program;
    let setup = Setup { host: true, ..Setup::default() };
    let mut machine = Machine::new(&program, &setup).unwrap();
    let stopped = machine.run(100_000, |_| {});
    let status = match stopped {
        Stopped::Exited { status } => status,
        other => panic!("{other}"),
    };
    (String::from_utf8_lossy(machine.output()).into_owned(), status)
}

#[test]
fn instructions_are_those_of_the_encoder() {
    let text = "start: add a0, a1, a2\naddi a0,a1,-5 # comment\n lw t0, 8(sp) // comment\nsw t0 -4 sp\n\
        lui a0, 0x12345; auipc a1, 1\n/* a\nlong one */ slli a0, a0, 3\nbeq a0, zero, start\n\
        bnez a0, 8\njal start\ncsrrw t0, mtvec, t1\ncsrwi mstatus, 8\namoadd.w.aqrl a0, a1, (a2)\nfence rw, rw\n\
        sub t2 t0 a0\njalr ra, 4(t0)\nmret\n lr.w a0, (a1)\nadd a0, a0, 1";
    let expected = [
        add(A0, A1, A2),
        addi(A0, A1, -5),
        lw(T0, 8, SP),
        sw(T0, -4, SP),
        lui(A0, 0x12345),
        auipc(A1, 1),
        slli(A0, A0, 3),
        beq(A0, ZERO, -28),
        bne(A0, ZERO, 8),
        jal(RA, -36),
        csrrw(T0, 0x305, T1),
        csrrwi(ZERO, 0x300, 8),
        amoadd_w(A0, A1, A2) | 3 << 25,
        0x0330_000f,
        sub(T2, T0, A0),
        jalr(RA, 4, T0),
        mret(),
        lr_w(A0, A1),
        addi(A0, A0, 1),
    ];
    assert_eq!(words(text), expected);
}

#[test]
fn pseudo_instructions_are_what_they_stand_for() {
    assert_eq!(words("li a0, 2047"), [addi(A0, ZERO, 2047)]);
    assert_eq!(words("andi a0, a1, 0xffffff0f"), [andi(A0, A1, -241)]);
    assert_eq!(words("zero: la a0, zero")[1], addi(A0, A0, 0));
    assert_eq!(words("li a0, 0x12345000"), [lui(A0, 0x12345)]);
    assert_eq!(words("li a0, -1000000"), li(A0, -1_000_000_i32 as u32));
    assert_eq!(words("li a0, 0xffffffff"), [addi(A0, ZERO, -1)]);
    assert_eq!(words(".equ N, 3*(2+1)<<1\nli a0, N"), [addi(A0, ZERO, 18)]);
    assert_eq!(
        words("nop; mv a0, a1; not a0, a1; neg a0, a1"),
        [addi(ZERO, ZERO, 0), addi(A0, A1, 0), xori(A0, A1, -1), sub(A0, ZERO, A1),]
    );
    assert_eq!(
        words("ble a0, a1, 8; bgt a0, a1, 8; blez a0, 8; bgtz a0, 8"),
        [bge(A1, A0, 8), blt(A1, A0, 8), bge(ZERO, A0, 8), blt(ZERO, A0, 8),]
    );
    assert_eq!(
        words("1: j 1f\n j 1b\n1: ret\njr t0\ncall 1b"),
        [jal(ZERO, 8), jal(ZERO, -4), jalr(ZERO, 0, RA), jalr(ZERO, 0, T0), jal(RA, -8),]
    );
    let far = DATA_ADDRESS + 4 - TEXT_ADDRESS;
    let (high, low) = ((far + 0x800) >> 12, (far << 20) as i32 >> 20);
    assert_eq!(
        words(".data\n.word 1\nx: .word 2\n.text\nlw a0, x\nsw a0, x, t0\nla a1, x")[..4],
        [auipc(A0, high), lw(A0, low, A0), auipc(T0, high), sw(A0, low - 8, T0),]
    );
    assert_eq!(
        words(".data\n.word 1\nx: .word 2\n.text\nlui a0, %hi(x)\nlw a0, %lo(x)(a0)"),
        [lui(A0, DATA_ADDRESS >> 12), lw(A0, 4, A0),]
    );
}

#[test]
fn data_are_laid_out() {
    let text = ".data\nb: .byte 1, -1, 'a', '\\n'\n.half 0x1234\n.align 2\nw: .word w, end - b, 5\n\
        s: .asciz \"h\\x41\\\"\\u00e9\"\n.ascii \"ab\"\n.space 3\nend:\n.text\nli a0, end - b\n.comm c, 8, 16\nla a0, c";
    let program = assemble(text, &[], false).unwrap().program;
    let mut expected = vec![1, 255, b'a', 10, 0x34, 0x12, 0, 0];
    expected.extend((DATA_ADDRESS + 8).to_le_bytes());
    expected.extend(31_u32.to_le_bytes());
    expected.extend(5_u32.to_le_bytes());
    expected.extend("hA\"é\0ab\0\0\0\0".bytes());
    assert_eq!(program.segments[1].bytes[..expected.len()], expected);
    assert_eq!(program.address_of("c"), Some(DATA_ADDRESS + 32));
    assert_eq!(program.address_of("end"), Some(DATA_ADDRESS + 31));
}

/// Sums an array, prints it and ends with it, by the calls of RARS and Ripes.
const SUM: &str = "
        .data
array:  .word 3, 1, 4, 1, 5
        .equ COUNT, 5
text:   .string \"sum \"
        .text
        la   a0, text
        li   a7, 4
        ecall
        la   a0, array
        li   a1, COUNT
        call sum
        mv   s0, a0
        li   a7, 1
        ecall
        mv   a0, s0
        li   a7, 93
        ecall
sum:    mv   t0, zero
loop:   beqz a1, done
        lw   t1, (a0)
        add  t0, t0, t1
        addi a0, a0, 4
        addi a1, a1, -1
        j    loop
done:   mv   a0, t0
        ret
";

#[test]
fn programs_run_in_both_sizes_alike() {
    assert_eq!(run(SUM, false), ("sum 14".into(), 14));
    assert_eq!(run(SUM, true), ("sum 14".into(), 14));
    let bytes = |compressed| assemble(SUM, &[], compressed).unwrap().program.text_bytes;
    assert_eq!(bytes(false), 92);
    assert_eq!(bytes(true), 64);
}

#[test]
fn functions_and_lines_are_known() {
    let assembled = assemble(SUM, &[], false).unwrap();
    let symbol = |address| assembled.program.symbol_at(address).map(|symbol| symbol.name.as_str());
    let sum = assembled.program.address_of("sum").unwrap();
    assert_eq!(
        (symbol(sum), symbol(sum + 4), symbol(sum + 8)),
        (Some("sum"), Some("loop"), Some("sum"))
    );
    assert_eq!(
        assembled.lines.iter().find(|(address, _)| *address == sum).map(|(_, place)| place.line),
        Some(19)
    );
    // Handlers and functions that are called by a table are functions.
    let text = "_start: la t0, h\ncsrw mtvec, t0\nlw t1, table\njalr t1\nf: nop\nl: bnez a0, l\nret\nh: mret\n.data\n\
                table: .word f";
    let symbols = assemble(text, &[], false).unwrap().program.symbols;
    let sized = symbols.iter().filter(|symbol| symbol.size > 0).map(|symbol| symbol.name.as_str());
    assert_eq!(sized.collect::<Vec<_>>(), ["_start", "f", "h", "table"]);
}

#[test]
fn the_entry_is_start_or_a_global_main_or_the_first_instruction() {
    let entry = |text| assemble(text, &[], false).unwrap().program.entry - TEXT_ADDRESS;
    assert_eq!(entry("nop\nmain: nop"), 0);
    assert_eq!(entry(".globl main\nnop\nmain: nop"), 4);
    assert_eq!(entry(".globl main\nnop\nmain: nop\n_start: nop"), 8);
    assert_eq!(entry(".word 1\nnop"), 4);
}

#[test]
fn every_mistake_is_shown_with_its_place() {
    let found = mistakes("addi a0, a1, 5000\n  lw a0\n\tfoo a0\nj nowhere\n.word \"x\"");
    let begins: Vec<&str> = found.iter().map(|what| what.split(';').next().unwrap()).collect();
    assert_eq!(
        begins,
        [
            "1:1: 5000 is not from -2048 to 2047",
            "2:3: lw takes rd, offset(rs1)",
            "3:2: there is no instruction foo",
            "4:3: nowhere is not defined: no label, constant, register or csr",
            "5:7: expected a number or a label",
        ]
    );
    for (text, wanted) in [
        ("", "no instructions"),
        (".data\n.word 1", "no instructions"),
        ("a: nop\na: nop", "defined in line 1"),
        ("beq a0, a1, far\n.space 5000\nfar: nop", "branch around a jump"),
        ("li a0, 0x123456789", "more than 32 bits"),
        ("addi $t0, $t0, 1", "no $"),
        ("fadd.s f0, f1, f2", "no floating point"),
        ("ld a0, 0(a1)", "RV64"),
        (".data\n.byte 256\n.text\nnop", "8 bits"),
        ("nop\n.string \"abc", "has no end"),
        ("/* abc", "has no end"),
        ("li a0, 'ab'", "single quotes"),
        (".macro x", "has no .endm"),
        (".endm", "ends nothing"),
        (".macro x\nx\n.endm\nx", "more than 64 deep"),
        (".macro x a:req\n.endm\nx", "the macro x takes a"),
        (".rept q\nnop\n.endr", "has no value here"),
        (".include \"b.s\"", "cannot be read"),
        ("c.addi a0, 40", "16 bits"),
        ("li a0, (((((1", "expected a )"),
        (".space 99999999999\nnop", "a number of bytes"),
        (".data\n.space 60000000\n.space 60000000\n.text\nnop", "64 MiB"),
        (".equ a, b\n.equ b, a\nli a0, a", "defined by itself"),
        ("slli a0, a0, 32", "from 0 to 31"),
        ("lui a0, 0x100000", "high 20 bits"),
        ("j 3", "odd"),
        ("la a0, a1", "a1 is not defined"),
        (".byte 1\nnop", "odd address"),
        ("j 1b", "no label 1: before"),
        ("csrr a0, 5000", "number of a csr"),
        ("mv a0, 5", "mv takes rd, rs"),
        ("li a0, 1/0", "no value"),
        ("nop nop", "takes no operands"),
        ("§", "unexpected"),
    ] {
        let found = mistakes(text).join("\n");
        assert!(found.contains(wanted), "{text:?}: {found}");
    }
    let deep = format!("li a0, {}1", "(".repeat(100_000));
    assert!(mistakes(&deep)[0].contains("too deeply"));
}

#[test]
fn text_and_instructions_are_each_others_reverse() {
    let none = |_| None;
    for text in [
        "add a0, a1, a2",
        "addi a0, a1, -5",
        "slli a0, a1, 3",
        "lw a0, -8(sp)",
        "sb a0, 3(t6)",
        "lui a0, 0x12345",
        "csrrw a0, mtvec, a1",
        "csrr a0, mepc",
        "csrw mepc, a0",
        "csrwi mstatus, 8",
        "csrrsi a0, mie, 3",
        "amoswap.w a0, a1, (a2)",
        "lr.w a0, (a1)",
        "ecall",
        "fence.i",
        "nop",
        "li a0, -1",
        "mv a0, a1",
        "ret",
        "not a0, a1",
        "neg a0, a1",
        "seqz a0, a1",
        "snez a0, a1",
        "jalr a0",
        "jr a0",
        "jalr t0, 4(a0)",
    ] {
        assert_eq!(disassemble(words(text)[0], TEXT_ADDRESS, none), text);
    }
    assert_eq!(disassemble(beq(A0, ZERO, 8), 0x100, none), "beqz a0, 0x108");
    assert_eq!(disassemble(jal(RA, -4), 0x100, |to| Some(format!("<{to}>"))), "jal <252>");
    assert_eq!(disassemble(0x4501, 0, none), "li a0, 0");
    assert_eq!(disassemble(0, 0, none), ".half 0x0000");
    assert_eq!(disassemble(0xffff_ffff, 0, none), ".word 0xffffffff");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the words: their text, where they are instructions, is assembled to what does the same.
    #[test]
    fn what_is_disassembled_can_be_assembled(word in any::<u32>()) {
        let text = disassemble(word | 3, TEXT_ADDRESS, |to| Some(format!(". + {}", to.wrapping_sub(TEXT_ADDRESS) as i32)));
        if !text.starts_with(".word") {
            let again = words(&text)[0];
            prop_assert_eq!(disassemble(again, TEXT_ADDRESS, |to| Some(format!(". + {}", to.wrapping_sub(TEXT_ADDRESS) as i32))), text);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[a-z0-9 ,()%+*/<>.:=\"'\\\\\n#;x-]{0,60}|.*") {
        let _ = assemble(&text, &[], false);
        let _ = assemble(&format!("li a0, {text}\n.word {text}"), &[], true);
    }
}

#[test]
fn memory_behind_the_data_can_be_had() {
    let text = ".data\n.word 7\n.text\nli a0, 9\nli a1, 16\necall\nmv s0, a0\nli a0, 9\necall\nsub a1, a0, s0\nli a0, 1\n\
        ecall\nsw a1, 12(s0)\nli a0, 9\nli a1, 0x7fffffff\necall\nmv a1, a0\nli a0, 1\necall\nli a0, 0x40490fdb\n\
        li a7, 2\necall\nli a0, 0\nli a7, 93\necall";
    assert_eq!(run(text, false), ("16-13.1415927".into(), 0));
}

#[test]
fn input_is_read_by_lines_numbers_and_characters() {
    let text = ".data\nbuffer: .zero 16\n.text\nli a7, 5\necall\nli a7, 1\necall\nla a0, buffer\nli a1, 4\nli a7, 8\necall\n\
        li a7, 4\necall\nli a7, 12\necall\nli a7, 11\necall\nli a0, 0\nla a1, buffer\nli a2, 16\nli a7, 63\necall\n\
        li a7, 1\necall\nli a7, 12\necall\nli a7, 93\necall";
    let program = assemble(text, &[], false).unwrap().program;
    let setup = Setup { host: true, ..Setup::default() };
    let mut machine = Machine::new(&program, &setup).unwrap();
    // A read of a file does not end with a line.
    machine.set_input(b"-42\nabcde\n0123456789abcdefg".to_vec());
    assert_eq!(machine.run(1000, |_| {}), Stopped::Exited { status: b'e'.into() });
    assert_eq!(String::from_utf8_lossy(machine.output()), "-42abcd16");
}

#[test]
fn constants_can_be_given() {
    let constants = [("BASE".to_owned(), 0x9000_0000)];
    let program = assemble("li a0, BASE", &constants, false).unwrap().program;
    assert_eq!(program.segments[0].bytes, lui(A0, 0x90000).to_le_bytes());
}

#[test]
fn the_break_is_moved_where_memory_is() {
    let moved = |bytes| {
        let text = format!(
            "li a0, 0\nli a7, 214\necall\nmv s0, a0\nli t0, {bytes}\nadd a0, a0, t0\necall\nsub a0, a0, s0\n\
             li a7, 93\necall"
        );
        run(&text, false).1
    };
    assert_eq!((moved(64), moved(0x7000_0000), moved(-64)), (64, 0, 0));
}

#[test]
fn macros_of_both_forms_are_what_they_stand_for() {
    // RARS: parameters with %, labels of their own, as many forms as there are numbers of arguments.
    let rars = ".macro down(%r, %n)\nli %r, %n\nagain: addi %r, %r, -1\nbnez %r, again\n.end_macro\n\
                .macro down(%r)\ndown(%r, 1)\n.end_macro\ndown(a0, 3)\ndown(a1)";
    let down = |r, n| [addi(r, ZERO, n), addi(r, r, -1), bne(r, ZERO, -4)];
    assert_eq!(words(rars), [down(A0, 3), down(A1, 1)].concat());
    // GNU: \\x, \\@, usual values, names, and repetitions.
    let gnu = ".macro down r, n=2\nli \\r, \\n\nagain\\@: addi \\r, \\r, -1\nbnez \\r, again\\@\n.endm\n\
               down a0\ndown n=3, r=a1\n.rept 2\nnop\n.endr\n.irp r, a0, a1\nmv \\r, zero\n.endr";
    let rest = [nop(), nop(), mv(A0, ZERO), mv(A1, ZERO)];
    assert_eq!(words(gnu), [&down(A0, 2)[..], &down(A1, 3), &rest].concat());
    let strings =
        ".macro text s\n.asciz \\s\n.ascii \"<\\s>\"\n.endm\n.data\ntext \"a b\"\n.text\nnop";
    let program = assemble(strings, &[], false).unwrap().program;
    assert_eq!(program.segments[1].bytes, b"a b\0<a b>");
}

#[test]
fn conditions_and_constants_hold_from_where_they_stand() {
    let text = ".set n, 1\n.if n == 1 && !0\nli a0, n\n.set n, n + 1\n.else\nfoo\n.endif\n\
                .if n < 2\nfoo\n.elseif n == 2\nli a0, n\n.endif\n.ifdef m\nfoo\n.else\nnop\n.endif\n\
                .eqv it a1\nmv it, zero\n#define FIVE 5\nli it, FIVE";
    let expected = [addi(A0, ZERO, 1), addi(A0, ZERO, 2), nop(), mv(A1, ZERO), addi(A1, ZERO, 5)];
    assert_eq!(words(text), expected);
}

#[test]
fn a_semicolon_separates_or_comments_by_what_follows() {
    assert_eq!(words("nop; mv a0, a1;\nnop"), [nop(), mv(A0, A1), nop()]);
    assert_eq!(words("; li a0, 5\nnop ; add the numbers\nnop ; mv a0, a1"), [nop(), nop()]);
    assert_eq!(words("nop ; don't stop\nnop"), [nop(), nop()]);
    // A mistake behind one of many is no comment.
    assert!(mistakes("nop; nop; nop; foo a0").join("").contains("foo"));
}

#[test]
fn dialects_are_understood_by_what_they_mean() {
    assert_eq!(words("ADD A0, A1, A2\nMV X5, Zero"), [add(A0, A1, A2), mv(T0, ZERO)]);
    assert_eq!(words("A0: nop\nj A0"), [nop(), jal(ZERO, -4)]);
    assert_eq!(words("move a0, a1\nb . + 4"), [mv(A0, A1), jal(ZERO, 4)]);
    assert_eq!(words("sext.b a0, a1"), [slli(A0, A1, 24), srai(A0, A0, 24)]);
    assert_eq!(words("jal,ra, . + 4"), [jal(RA, 4)]);
    assert_eq!(words(".equ IO, 0x80000010\nsw t2, IO, t1"), [lui(T1, 0x80000), sw(T2, 16, T1)]);
    let far = DATA_ADDRESS - TEXT_ADDRESS;
    assert_eq!(
        words(".data\nx: .word 1\n.text\n1: auipc a0, %pcrel_hi(x)\nlw a0, %pcrel_lo(1b)(a0)"),
        [auipc(A0, far >> 12), lw(A0, 0, A0)]
    );
    let data = |text: &str| {
        let text = format!(".data\n{text}\n.text\nnop");
        assemble(&text, &[], false).unwrap().program.segments[1].bytes.clone()
    };
    assert_eq!(data(".byte 1 -2 -3, 3,\n4, 5 - 1"), [1, 254, 253, 3, 4, 4]);
    assert_eq!(data(".byte 7:3\n.fill 2, 2, 1\n.space 2, 9"), [7, 7, 7, 1, 0, 1, 0, 9, 9]);
    assert_eq!(data(".irpc d, 12\n.byte \\d\n.endr"), [1, 2]);
    assert_eq!(data(".byte 1\n\n# more\nmore: 2, 3\n4"), [1, 2, 3, 4]);
    assert_eq!(data(".float 1.5, -2"), [0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0]);
    let program = assemble("nop\n.org 0x200\n_start: nop\n.data\n.org 0x400\n.word 1", &[], false);
    let program = program.unwrap().program;
    let places: Vec<u32> = program.segments.iter().map(|segment| segment.address).collect();
    assert_eq!((program.entry, places), (0x200, vec![TEXT_ADDRESS, 0x200, 0x400]));
}

#[test]
fn constants_are_read_as_their_dialect_reads_them() {
    // Ripes takes 12 bits that are written as bits; in decimal they are too many everywhere.
    assert_eq!(words("andi a0, a1, 0xff3\nlw a0, 0xffc(sp)"), [andi(A0, A1, -13), lw(A0, -4, SP)]);
    assert_eq!(words("li a0, 0xff3")[1], addi(A0, A0, -13));
    assert!(mistakes("andi a0, a1, 4083").join("").contains("-2048 to 2047"));
    assert_eq!(words("lui a0, -1\nlui a0, 0xfffff"), [lui(A0, 0xfffff); 2]);
    let notes = assemble("nop\nandi a0, a1, 0xff3", &[], false).unwrap().notes;
    assert_eq!(notes.iter().map(|note| note.place.line).collect::<Vec<_>>(), [2]);
    // RARS: registers before csrs, offsets behind registers, addresses without a register.
    assert_eq!(words("csrw t0, mtvec"), words("csrw mtvec, t0"));
    assert_eq!(words("jr t0, 8\njalr t0, 8"), [jalr(ZERO, 8, T0), jalr(RA, 8, T0)]);
    assert_eq!(words("sw a0, -4\nsw a0, 4(sp), t0"), [sw(A0, -4, ZERO), sw(A0, 4, SP)]);
    assert_eq!(words(".data\nx: .word 1\nf: nop\nj f"), [nop(), jal(ZERO, -4)]);
    assert_eq!(words(".eqv stop ebreak\nstop\nhalt"), [ebreak(), ebreak()]);
    let entry = |text: &str| assemble(text, &[], false).unwrap().program.entry;
    assert_eq!((entry(".text 0x400\nnop"), entry(".text 1\nnop")), (0x400, TEXT_ADDRESS));
}

#[test]
fn macros_end_early_and_have_local_names() {
    let early = ".macro one x\nli \\x, 1\n.ifc \\x, a0\n.exitm\n.endif\nnop\n.endm\none a0\none a1";
    assert_eq!(words(early), [addi(A0, ZERO, 1), addi(A1, ZERO, 1), nop()]);
    let local = ".altmacro\n.macro skip r, n\nLOCAL over\nbeqz r, over\nli r, n\nover:\n.endm\nskip a0, %1+1\nskip a1, 3";
    let skip = |r, n| [beq(r, ZERO, 8), addi(r, ZERO, n)];
    assert_eq!(words(local), [skip(A0, 2), skip(A1, 3)].concat());
    assert_eq!(words(".macro x a\nadd \\a, a2\n.endm\nx \"a0, a1\""), [add(A0, A1, A2)]);
    // A label may be called as a macro is.
    assert_eq!(
        words(".macro GO r\nli \\r, 1\n.endm\ngo:\nGO a0\nj go"),
        [addi(A0, ZERO, 1), jal(ZERO, -4)]
    );
}

#[test]
fn lines_of_the_preprocessor_of_c_are_what_they_stand_for() {
    let text = "#define TWO nop; \\\n  ONE(a0)\n#define ONE(r) li r, 1\n#ifdef NOT\nfoo\n#elif __riscv_xlen == 32\nTWO\n#endif";
    let text = Text { name: "a.S".into(), bytes: text.into() };
    let program = super::assemble(&[text], &[], false, &alone).unwrap().program;
    let expected = [nop(), addi(A0, ZERO, 1)];
    assert_eq!(program.segments[0].bytes, expected.map(u32::to_le_bytes).concat());
}

#[test]
fn bytes_of_other_encodings_stay_in_strings() {
    let text = Text {
        name: "a.s".into(),
        bytes: b".data\nt\xe9: .ascii \"\xe9\"\n.text\nla a0, t\xe9".into(),
    };
    let program = super::assemble(&[text], &[], false, &alone).unwrap().program;
    assert_eq!(program.segments[1].bytes, [0xe9]);
    assert_eq!(program.address_of("t\u{e9}"), Some(DATA_ADDRESS));
}

#[test]
fn other_files_are_bytes_or_define_what_is_missing() {
    let read = |name: &str, from: &str| match (name, from) {
        ("b.bin", "a.s") => Ok(Text { name: name.into(), bytes: vec![0, 1, 2, 3, 255] }),
        ("other", "") => Ok(Text { name: name.into(), bytes: ".globl other\nother: ret".into() }),
        _ => Err(name.into()),
    };
    let text =
        "call other\n.data\n.incbin \"b.bin\", 1, 3\n.byte 9\n.text\n.extern room 8\nla a0, room";
    let text = Text { name: "a.s".into(), bytes: text.into() };
    let assembled = super::assemble(&[text], &[], false, &read).unwrap();
    assert_eq!(assembled.program.segments[1].bytes[..4], [1, 2, 3, 9]);
    assert_eq!(assembled.files, ["a.s", "other"]);
    assert!(assembled.program.address_of("other").is_some());
}

#[test]
fn a_semicolon_of_two_meanings_is_noted() {
    let notes = |text: &str| assemble(text, &[], false).unwrap().notes.len();
    assert_eq!(notes("nop ; add the numbers\nnop ; mv a0, a1"), 1);
    assert_eq!(notes("nop; nop; nop"), 0);
    assert_eq!(notes("nop ; add the numbers"), 0);
}

#[test]
fn short_instructions_have_their_names() {
    let program = assemble(
        "c.li a0, 9\nc.addi a0, 4\nc.mv a1, a0\nc.nop\nnop\nc.lwsp a0, 4(sp)\nc.addi4spn a0, 16\nc.addi16sp 32",
        &[],
        false,
    );
    let bytes = program.unwrap().program.segments[0].bytes.clone();
    let expected: [u16; 5] = [0x4525, 0x0511, 0x85aa, 0x0001, 0x0013];
    let expected: Vec<u8> = expected.iter().flat_map(|half| half.to_le_bytes()).collect();
    assert_eq!((&bytes[..10], bytes.len()), (&expected[..], 18));
}

#[test]
fn texts_have_their_own_names_and_see_what_is_global() {
    let text = |name: &str, text: &str| Text { name: name.into(), bytes: text.into() };
    let assemble = |texts: &[Text]| super::assemble(texts, &[], false, &alone);
    let one = text("a.s", ".globl main\nmain: call other\nloop: j loop");
    let other = text("b.s", ".globl other\nloop: ret\nother: j loop");
    let program = assemble(&[one, other]).unwrap().program;
    let bytes = program.segments[0].bytes.chunks_exact(4);
    let words: Vec<u32> = bytes.map(|one| u32::from_le_bytes(one.try_into().unwrap())).collect();
    assert_eq!(words, [jal(RA, 12), jal(ZERO, 0), ret(), jal(ZERO, -4)]);
    let again = text("b.s", ".globl main\nmain: ret");
    let twice = assemble(&[again.clone(), again]);
    assert!(twice.unwrap_err().listed[0].what.contains("another file"));
}

#[test]
fn all_mistakes_are_counted() {
    let found = assemble(&"foo\n".repeat(500), &[], false).unwrap_err();
    assert_eq!((found.count, found.listed.len()), (500, 100));
}

mod gnu;
mod preprocessor;
