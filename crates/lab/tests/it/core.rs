//! `scruple core`: what it shows of a program, and what it says of one that is wrong.

use crate::support::*;
use model::CoreRun;
use std::io::Write;
use std::process::{Output, Stdio};

const PAGE: &str = include_str!("../../../../docs/core.md");
const ELF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../isa/reference/gcc14-rv32imc.elf");

/// Runs `scruple core - ARGUMENTS` with a text on standard input.
fn core(text: &str, arguments: &[&str]) -> Output {
    let mut command = scruple();
    command.args(["core", "-"]).args(arguments).env("COLUMNS", "80").env("LANG", "C.UTF-8");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A file that is refused need not be read.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    child.wait_with_output().unwrap()
}

fn example(name: &str) -> String {
    let output = scruple().args(["core", "--example", name]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the block of the page that begins with a line.
fn block(begins: &str) -> &'static str {
    let start = PAGE.find(begins).unwrap();
    &PAGE[start..start + PAGE[start..].find("```").unwrap()]
}

#[test]
fn the_lessons_of_the_page_are_what_is_printed() {
    let trap = text(&core(&example("trap"), &["--pipeline", "trap"]));
    assert!(trap.contains(block("cycles 2 to 25")), "{trap}");
    assert!(trap.lines().all(|line| line.chars().count() <= 80), "{trap}");
    assert!(!trap.contains('\u{1b}'), "{trap}");
    let sizes = text(&core(&example("sort"), &["--sizes"]));
    assert!(sizes.contains(block("Misses per 1 000")), "{sizes}");
}

#[test]
fn a_program_is_shown_as_data_whose_parts_add_up() {
    let caches = ["--json", "--icache", "64,1,8", "--dcache", "64,2,8", "--set", "miss=10"];
    let output = core(&example("sort"), &caches);
    assert!(output.status.success(), "{}", said(&output));
    let run: CoreRun = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((run.status, run.failure.as_str(), run.instructions), (Some(0), "", 1977));
    assert!(run.output.starts_with("1 2 3 5 7 8 11"), "{}", run.output);
    assert_eq!(run.causes.iter().map(|cause| cause.cycles).sum::<u64>(), run.cycles);
    assert_eq!(run.functions.iter().map(|one| one.executions).sum::<u64>(), run.instructions);
    assert_eq!(run.caches.len(), 2);
    assert!(run.caches.iter().all(|cache| cache.hit_rate().unwrap() > 0.5), "{:?}", run.caches);
    // Cycles of all functions are all but the filling of the pipeline.
    let cycles: u64 = run.functions.iter().map(|one| one.cycles).sum();
    assert!(cycles <= run.cycles && run.cycles - cycles < 20, "{cycles} of {}", run.cycles);
}

/// Three stores to two lines: written back they fetch both, written through they fetch none.
#[test]
fn stores_and_the_second_level_count_as_by_hand() {
    let stores = ".data\n.align 4\nx: .space 16\n.text\nla a0, x\nsw a0, 0(a0)\nsw a0, 4(a0)\nsw a0, 8(a0)\n\
                  li a7, 93\nli a0, 0\necall";
    let caches = ["--icache", "64,1,8", "--dcache", "16,1,8", "--l2", "256,1,16"];
    let run = |writes: &str| {
        let more = ["--json", "--set", "miss=10", "--l2-miss", "50", "--writes", writes];
        let output = core(stores, &[&caches[..], &more].concat());
        let run: CoreRun = serde_json::from_slice(&output.stdout).unwrap();
        let [instructions, data, second] = &run.caches[..] else { panic!("{:?}", run.caches) };
        let asked = second.accesses - instructions.misses();
        let memory = run.causes.iter().find(|cause| cause.name == "data misses").unwrap().cycles;
        (data.misses(), data.fetched_bytes, data.written_through, asked, memory)
    };
    // The second level has lines of 16 bytes: the second line is there.
    assert_eq!(run("back"), (2, 16, 0, 2, 2 * 10 + 50));
    assert_eq!(run("through"), (3, 0, 3, 3, 0));
}

#[test]
fn an_elf_file_runs_too() {
    let output = scruple().args(["core", ELF, "--json"]).output().unwrap();
    let run: CoreRun = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((run.instructions, run.short_instructions, run.cycles), (143_467, 102_486, 163_989));
    assert_eq!(run.lines[0].line, None);
}

#[test]
fn a_program_that_fails_is_shown_as_failed_everywhere() {
    let text_of = "li a0, 3\nli a7, 93\necall";
    let output = core(text_of, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("The program failed: it exited with status 3"),
        "{}",
        text(&output)
    );
    assert!(said(&output).contains("failed: it exited with status 3"), "{}", said(&output));
    let output = core(text_of, &["--json"]);
    let run: CoreRun = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), run.status), (Some(2), Some(3)));
    assert!(run.failure.contains("status 3"), "{}", run.failure);
    let output = core("loop: addi a0, a0, 1\nj loop", &["--instructions", "1000"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output).contains("was stopped after 1000 instructions"), "{}", text(&output));
}

#[test]
fn what_cannot_be_run_is_refused_in_one_line() {
    for (program, arguments, wanted) in [
        ("", &[][..], "is empty"),
        ("\0\u{1}", &[], "neither an ELF file nor a text"),
        ("\u{7f}ELF", &[], "the header of the ELF file cannot be read"),
        ("# nothing", &[], "has no instructions"),
        (".data\n.word 1", &[], "has no instructions"),
        ("foo a0", &[], "standard input:1:1: there is no instruction foo"),
        ("nop\nadd a0", &[], ":2:1: add takes rd, rs1, rs2"),
        ("foo\nbar", &[], "2 mistakes"),
        ("j nowhere", &[], "nowhere is not defined"),
        ("lw a0, 0(zero)", &["--strict"], "of address 0x00000000 (--memory 0x00000000:1MiB"),
        ("nop\nlw a0, 0(zero)", &["--strict"], "; line 2"),
        ("la a0, end\nsw a0, 0(a0)\nend: nop", &["--strict"], "store access fault"),
        (".include \"nowhere.s\"", &[], "nowhere.s is not there"),
        ("li a0, 64\njr a0", &[], "where no memory is"),
        ("li a7, 77\necall", &[], "call 77 in a7"),
        (".word 0\nnop", &["--stack", "17"], "--stack"),
        ("nop", &["--pipeline", "5..1"], "100..160"),
        ("nop", &["--set", "branch=XX"], "branch takes"),
        ("nop", &["--set", "speed=1"], "expected NAME=VALUE"),
        ("nop", &["--set", "depth=4"], "four stages"),
        ("nop", &["--icache", "1KiB,3,16"], "sets of 3 ways"),
        ("nop", &["--dcache", "48,full,8", "--policy", "tree"], "--dcache"),
        ("nop", &["--icache", "64,1,16", "--l2", "64,1,8"], "--l2: lines of 8 bytes"),
        ("nop", &["--l2-miss", "5"], "--l2"),
        ("nop", &["--instructions", "0"], "--instructions"),
        ("nop", &["--define", "X"], "--define"),
        ("nop", &["--input", "/nonexistent"], "--input"),
        ("nop", &["--html", "/nonexistent/x.html"], "--html"),
        ("nop", &["--html", "-", "--json"], "each want standard output"),
        ("nop", &["--memory", "0:1GiB"], "--memory"),
        (".data\n.space 0x3ffffff\n.space 9", &[], "64 MiB"),
    ] {
        let output = core(program, arguments);
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{program:?} {arguments:?}: {complaint}");
        let lines = complaint.lines().filter(|line| line.starts_with("error:")).count();
        assert_eq!(lines, 1, "{program:?} {arguments:?}: {complaint}");
        assert!(complaint.contains(wanted), "{program:?} {arguments:?}: {complaint}");
    }
    let output = scruple().args(["core", "/"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn a_page_needs_nothing_but_itself_and_is_bounded() {
    let caches = ["--icache", "64,2,8", "--dcache", "64,1,8", "--html", "-"];
    let page = text(&core(&(example("sort") + "# </script><b>"), &caches));
    assert!(page.starts_with("<!DOCTYPE html>") && page.len() < 3_000_000, "{}", page.len());
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("{{"));
    let data = page.split(r#"id="data">"#).nth(1).unwrap().split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let recording = &data["recording"];
    assert_eq!(recording["stages"].as_array().unwrap().len(), 5);
    let rows = recording["rows"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| row["fate"] == "r").count(), 1977);
    // A program without an end fills a page of the same size.
    let page = text(&core(
        "loop: addi a0, a0, 1\nsw a0, -4(sp)\nj loop",
        &["--html", "-", "--instructions", "100000"],
    ));
    assert!(
        page.contains("2000 instructions are held") && page.len() < 3_000_000,
        "{}",
        page.len()
    );
}

/// Runs `scruple core` in a folder with some files in it.
fn core_of(files: &[(&str, &[u8])], arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let mut command = scruple();
    command.arg("core").args(arguments).current_dir(folder.path());
    command.stdin(Stdio::null()).output().unwrap()
}

#[test]
fn files_are_assembled_together_whatever_their_encoding() {
    let main = b".globl main\n.import lib/b.s\n.text\nmain: # n\xe3o\nli a0, 20\njal twice\nmv a1, a0\nli a0, 1\necall\n\
                 loop: li a0, 10\necall";
    let twice = b".include \"macros.s\"\n.globl twice\ntwice: add a0, a0, a0\nloop: leave\n";
    let macros = b".macro leave\nret\n.end_macro\n";
    let files: [(&str, &[u8]); 3] = [("a.s", main), ("lib/b.s", twice), ("lib/macros.s", macros)];
    for arguments in [&["a.s"][..], &["a.s", "lib/b.s"]] {
        let output = core_of(&files, &[arguments, &["--json"]].concat());
        let run: CoreRun = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((run.output.as_str(), run.failure.as_str()), ("40", ""), "{}", said(&output));
    }
    // A mistake is in the file that has it.
    let files: [(&str, &[u8]); 2] = [("a.s", b"nop\n.include \"b.s\""), ("b.s", b"nop\nfoo")];
    assert!(said(&core_of(&files, &["a.s"])).contains("b.s:2:1: there is no instruction foo"));
}

#[test]
fn functions_of_c_folders_and_arguments_are_supplied() {
    let run = |output: &Output| -> CoreRun { serde_json::from_slice(&output.stdout).unwrap() };
    let prints = ".data\nf: .asciz \"%d|%4d|%-3d|%04d|%x|%c|%s|%%\"\nr: .asciz \"%d %s\"\nb: .space 16\nn: .word 0\n.text\n\
                  .globl main\nmain: addi sp, sp, -16\nsw ra, 12(sp)\nla a0, r\nla a1, n\nla a2, b\ncall scanf\n\
                  la a0, f\nlw a1, n\nmv a2, a1\nli a3, 5\nmv a4, a1\nli a5, 0xbe\nli a6, 'z'\nla a7, b\ncall printf\n\
                  lw ra, 12(sp)\naddi sp, sp, 16\nret";
    let files: [(&str, &[u8]); 2] = [("a.s", prints.as_bytes()), ("in", b" -42 word\n")];
    let output = core_of(&files, &["a.s", "--input", "in", "--json"]);
    assert_eq!(run(&output).output, "-42| -42|5  |-042|be|z|word|%");
    assert!(said(&output).contains("no file defines printf"), "{}", said(&output));
    // The one file beside the program that defines a function comes before the library.
    let files: [(&str, &[u8]); 3] = [
        ("a.s", b"main: li a0, 1\njal abs\nli a7, 1\necall\nli a7, 10\necall"),
        ("b.s", b"abs: li a0, 9\nret"),
        ("c.s", b"main: nop\nabs: li a0, 8\nret"),
    ];
    let output = core_of(&files, &["a.s", "--json"]);
    assert_eq!(run(&output).output, "9", "{}", said(&output));
    assert!(said(&output).contains("abs is that of b.s"), "{}", said(&output));
    // Folders of included files, bytes of a file, and arguments.
    let main = b".include \"leave.s\"\n.data\nd: .incbin \"d.bin\"\n.text\nmain: mv s0, a0\nlw a0, 8(a1)\nli a7, 4\necall\n\
                 mv a0, s0\nli a7, 1\necall\nlbu a0, d\nli a7, 1\necall\nleave";
    let leave = b".macro leave\nli a7, 10\necall\n.end_macro";
    let files: [(&str, &[u8]); 3] = [("a.s", main), ("lib/leave.s", leave), ("lib/d.bin", b"\0")];
    let output = core_of(&files, &["a.s", "-I", "lib", "--args", "one two", "--json"]);
    assert_eq!(run(&output).output, "two30", "{}", said(&output));
    assert!(said(&core_of(&files, &["a.s"])).contains("--include DIR"));
    // A breakpoint ends the program, or it goes on.
    let stops = "nop\nebreak\nli a0, 7\nli a7, 1\necall";
    let ended = run(&core(stops, &["--json"]));
    assert!(
        ended.ended.contains("line 2") && ended.ended.contains("--skip-ebreak"),
        "{}",
        ended.ended
    );
    assert_eq!((ended.output.as_str(), ended.failure.as_str()), ("", ""));
    assert_eq!(run(&core(stops, &["--json", "--skip-ebreak"])).output, "7");
}

#[test]
fn what_a_program_reads_in_vain_is_said_in_a_line() {
    let reads = "li a7, 5\necall\nli a7, 10\necall";
    let complaint = said(&core(reads, &[]));
    assert!(complaint.contains("--input FILE"), "{complaint}");
    // What it writes to a file it can read again, and a file that is not there is named.
    let files = ".data\nname: .string \"out.txt\"\nnone: .string \"none.txt\"\nb: .space 4\n.text\nla a0, name\nli a1, 1\n\
                 li a7, 1024\necall\nmv s0, a0\nla a1, name\nli a2, 3\nli a7, 64\necall\nmv a0, s0\nli a7, 57\necall\n\
                 la a0, name\nli a1, 0\nli a7, 1024\necall\nla a1, b\nli a2, 4\nli a7, 63\necall\nli a7, 1\necall\n\
                 la a0, b\nli a7, 4\necall\nla a0, none\nli a1, 0\nli a7, 1024\necall\nli a7, 10\necall";
    let output = core(files, &["--json"]);
    let run: CoreRun = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(run.output, "3out");
    let complaint = said(&output);
    assert!(complaint.contains("could not open none.txt"), "{complaint}");
    assert!(complaint.contains("wrote 3 bytes to out.txt"), "{complaint}");
}

#[test]
fn without_hazards_instructions_read_old_values() {
    let run = |between: &str, more: &[&str]| {
        let text = format!(
            ".data\nd: .word 7\n.text\nlui t1, 0x10000\nnop\nnop\nlw t0, 0(t1)\n{between}mv a0, t0\nnop\nnop\nli a7, 1\necall"
        );
        let output = core(&text, &[&["--json"], more].concat());
        let run: CoreRun = serde_json::from_slice(&output.stdout).unwrap();
        (run.output, run.cycles, said(&output).contains("mv a0, t0` in line 8 reads t0 = 0"))
    };
    let none = ["--set", "hazards=none"];
    let neither = ["--set", "hazards=none", "--set", "forwarding=off"];
    let (right, waits, _) = run("", &[]);
    // With forwarding the loaded value comes one instruction too late, without it two.
    assert_eq!(right, "7");
    assert_eq!(run("", &none), ("0".into(), waits - 1, true));
    assert_eq!(run("nop\n", &none), ("7".into(), waits, false));
    assert_eq!(run("nop\n", &neither).0, "0");
    assert_eq!(run("nop\nnop\n", &neither).0, "7");
    assert_eq!(run("", &["--set", "forwarding=off"]).0, "7");
    // The lesson of the page.
    for (more, cycles, prints) in [
        (&[][..], "2,888", "1 2 3 5 7 8 11 12"),
        (&["--set", "forwarding=off"], "3,338", "1 2 3 5 7 8 11 12"),
        (&none, "1,975", "2 1 5 3 42 19 25 14"),
        (&neither, "382", "0 0 0 0 0 0 0 0"),
    ] {
        let output = core(&example("sort"), &[&["--json"], more].concat());
        let run: CoreRun = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(run.cycles.to_string(), cycles.replace(',', ""));
        assert!(run.output.starts_with(prints), "{}", run.output);
        assert!(PAGE.contains(&format!("| {cycles} | `{prints} …` |")));
    }
    let drawn =
        text(&core("li t0, 1\nmv a0, t0", &[&neither[..], &["--pipeline", "0..9"]].concat()));
    assert!(drawn.contains("mv a0, t0") && !drawn.contains("takes t0"), "{drawn}");
}

/// The cycles between two reads of the counter are those of the instructions between them, on each pipeline.
#[test]
fn a_program_reads_the_cycles_of_the_pipeline() {
    let reads = |body: &str| {
        format!("rdcycle s0\n{body}\nrdcycle s1\nsub a0, s1, s0\nli a7, 1\necall\nli a7, 10\necall")
    };
    let run = |text: &str, more: &[&str]| -> CoreRun {
        serde_json::from_slice(&core(text, &[&["--json"], more].concat()).stdout).unwrap()
    };
    let bodies =
        ["nop", "div a1, a2, a3", "lw a1, 0(sp)\nadd a1, a1, a1", "beq zero, zero, 1f\nnop\n1:"];
    for preset in ["textbook", "cv32e40p", "ultraembedded"] {
        for body in bodies {
            let more = ["--core", preset];
            let (with, without) = (run(&reads(body), &more), run(&reads(""), &more));
            let read = |run: &CoreRun| run.output.parse::<u64>().unwrap();
            assert_eq!(
                read(&with) - read(&without),
                with.cycles - without.cycles,
                "{preset}: {body}"
            );
        }
    }
    let counted = run("rdinstret s0\nnop\nrdinstret s1\nsub a0, s1, s0\nli a7, 1\necall", &[]);
    assert_eq!(counted.output, "2");
}

/// Runs a program and returns it as data.
fn run_of(text: &str, arguments: &[&str]) -> CoreRun {
    let output = core(text, &[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)))
}

/// Returns a program that calls a function of C with a format and some arguments.
fn calls_printf(format: &str, arguments: &str) -> String {
    format!(
        ".data\nf: .asciz \"{format}\"\nhey: .asciz \"hey\"\n.text\nla a0, f\n{arguments}\ncall printf\nli a7, 10\necall"
    )
}

#[test]
fn functions_of_c_do_what_c_defines() {
    // What the C library of the GNU project writes.
    for (format, arguments, written) in [
        ("%o|%#o|%#x", "li a1, 8\nli a2, 8\nli a3, 255", "10|010|0xff"),
        ("%+d|% d|%.3d", "li a1, 5\nli a2, 5\nli a3, 7", "+5| 5|007"),
        ("%8.3d|%-8.3d|%08d", "li a1, 7\nli a2, 7\nli a3, -42", "     007|007     |-0000042"),
        ("%.2s|%*d|%-*d|", "la a1, hey\nli a2, 4\nli a3, 7\nli a4, 3\nli a5, 7", "he|   7|7  |"),
        ("%hhd|%hu|%#010x", "li a1, 200\nli a2, -1\nli a3, 255", "-56|65535|0x000000ff"),
        ("%lld|%d", "li a2, 0\nli a3, -256\nli a4, 3", "-1099511627776|3"),
        ("%.0d|%.0x|%5c|%%", "li a1, 0\nli a2, 0\nli a3, 65", "||    A|%"),
    ] {
        let run = run_of(&calls_printf(format, arguments), &[]);
        assert_eq!((run.output.as_str(), run.failure.as_str()), (written, ""), "{format}");
    }
    let run = run_of(&calls_printf("%f", ""), &[]);
    assert!(run.output.contains("does not answer %f"), "{}", run.output);
    assert_eq!(run.status, Some(127));
    for (text, value) in [(" 42", 42), ("\\t7", 7), ("+5", 5), ("-5x", -5), ("- 5", 0)] {
        let atoi = format!(
            ".data\nt: .asciz \"{text}\"\n.text\nla a0, t\ncall atoi\nli a7, 1\necall\nli a7, 10\necall"
        );
        assert_eq!(run_of(&atoi, &[]).output, value.to_string(), "{text}");
    }
    let reads = ".data\nf: .asciz \"%d %x %2i%*d %s\"\ng: .asciz \"%d %d %d %d %s %d\"\nn: .word 0, 0, 0\nw: .space 8\n\
                 .text\nla a0, f\nla a1, n\naddi a2, a1, 4\naddi a3, a1, 8\nla a4, w\ncall scanf\nmv s0, a0\n\
                 call getchar\nmv a6, a0\nlw a2, n\nlw a3, n+4\nlw a4, n+8\nla a5, w\nmv a1, s0\nla a0, g\n\
                 call printf\nli a7, 10\necall";
    let files: [(&str, &[u8]); 2] = [("a.s", reads.as_bytes()), ("in", b"-12 ff 0179\tword!\n")];
    let output = core_of(&files, &["a.s", "--input", "in", "--json"]);
    let run: CoreRun = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(run.output, "4 -12 255 1 word! 10", "{}", said(&output));
}

#[test]
fn each_remedy_works_where_it_is_named() {
    let deep = "_start: li a0, 100000\ncall f\nli a7, 10\necall\nf: addi sp, sp, -16\nsw ra, (sp)\naddi a0, a0, -1\n\
                beqz a0, 1f\ncall f\n1: lw ra, (sp)\naddi sp, sp, 16\nret";
    let failure = run_of(deep, &["--strict"]).failure;
    assert!(failure.contains("--stack 16MiB"), "{failure}");
    assert_eq!(run_of(deep, &["--strict", "--stack", "16MiB"]).failure, "");
    let endless = "_start: addi sp, sp, -2048\nsw ra, (sp)\ncall _start";
    for arguments in [&[][..], &["--strict", "--stack", "16MiB"]] {
        let failure = run_of(endless, arguments).failure;
        assert!(failure.contains("calls itself without end"), "{failure}");
        assert!(!failure.contains("--stack") && !failure.contains("--memory"), "{failure}");
    }
    let stores = "_start: la a0, _start\nsw a0, (a0)\nli a7, 10\necall";
    let failure = run_of(stores, &["--strict"]).failure;
    assert!(failure.contains("without --strict") && !failure.contains("--memory"), "{failure}");
    assert_eq!(run_of(stores, &[]).failure, "");
    let loads = "nop\nlw a0, 64(zero)\nli a7, 10\necall";
    let failure = run_of(loads, &["--strict"]).failure;
    assert!(failure.contains("--memory 0x00000000:1MiB"), "{failure}");
    assert_eq!(run_of(loads, &["--strict", "--memory", "0x00000000:1MiB"]).failure, "");
    for (text, cause) in [
        ("_start: la t0, f\njr 2(t0)\nf: li a0, 1\nli a1, 1", "middle of an instruction"),
        ("nop\ncsrr t0, 0x7c0", "csr 0x7c0 is none"),
        ("nop\ncsrw cycle, t0", "csr 0xc00 can only"),
        ("nop\nli t0, 0\njalr t0", "address 0"),
        ("main: li ra, 0\nret", "was not restored"),
        ("nop\n.word 0", "ran on into"),
    ] {
        let failure = run_of(text, &[]).failure;
        assert!(failure.contains(cause), "{text}: {failure}");
    }
    let handles = "_start: la t0, h\ncsrw mtvec, t0\necall\nli t0, 0\ncsrw mtvec, t0\nli a7, 10\necall\nh: mret";
    let failure = run_of(handles, &["--instructions", "1000"]).failure;
    assert!(failure.contains("add 4 to mepc"), "{failure}");
    let adds = "h: csrr t0, mepc\naddi t0, t0, 4\ncsrw mepc, t0\nmret";
    assert_eq!(run_of(&handles.replace("h: mret", adds), &["--instructions", "1000"]).failure, "");
}
