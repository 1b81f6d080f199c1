//! `scruple run icache` on program files, from the file to the report.

use crate::support::{alone, said, scruple, stored_trials};
use isa::csr::{MEPC, MTVEC};
use isa::encode::{
    A0, A7, SP, T0, ZERO, addi, auipc, csrrs, csrrw, ecall, jal, jalr, lui, lw, mret, ret, sw,
};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../isa/reference");

fn run(arguments: &[&str]) -> Output {
    scruple().args(["run", "icache"]).args(arguments).env("LC_ALL", "C.UTF-8").output().unwrap()
}

/// Two blocks of the smallest profile, into a folder.
fn measured(session: &Path, arguments: &[&str]) -> Output {
    let fixed = ["--profile", "smoke", "--runs", "2", "--no-shield", "--seed", "7", "-o"];
    run(&[&fixed[..], &[session.to_str().unwrap()], arguments].concat())
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The estimate of a response of a program in the cache of the baselines.
fn estimate(summary: &Value, response: &str, program: &str) -> f64 {
    let of = |value: &Value, key: &str, wanted: &str| value[key] == wanted;
    let experiments = summary["experiments"].as_array().unwrap();
    let own = experiments.iter().find(|it| of(it, "id", "icache")).unwrap();
    let rows = own["estimates"].as_array().unwrap();
    let row = rows.iter().find(|row| {
        let at = &row["treatment"];
        of(row, "response", response) && of(at, "program", program) && of(at, "cache_bytes", "64")
    });
    row.unwrap_or_else(|| panic!("{response} of {program}"))["estimate"]["point"].as_f64().unwrap()
}

/// An ELF file with nothing but instructions, from 0x1000 on.
fn elf(words: &[u32]) -> Vec<u8> {
    let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let size = code.len() as u32;
    let halves = |numbers: &[u16]| numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
    let whole = |numbers: &[u32]| numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
    let parts: [Vec<u8>; 7] = [
        vec![0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        halves(&[2, 243]),
        whole(&[1, 0x1000, 52, 0, 0]),
        halves(&[52, 32, 1, 40, 0, 0]),
        // One segment to load, which may be read and executed.
        whole(&[1, 84, 0x1000, 0x1000, size, size, 5, 4]),
        code,
        Vec::new(),
    ];
    parts.concat()
}

fn file(dir: &Path, name: &str, content: &[u8]) -> String {
    let path = dir.join(name);
    std::fs::write(&path, content).unwrap();
    path.display().to_string()
}

#[test]
fn the_carried_programs_give_the_same_figures_as_files() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("s");
    let files = ["gcc14-rv32im.elf", "gcc14-rv32imc.elf"].map(|name| format!("{REFERENCE}/{name}"));
    let output = measured(&session, &["--elf", &files[0], "--elf", &files[1], "--trace"]);
    assert!(output.status.success(), "{}", said(&output));
    let summary = read(&session.join("summary.json"));
    for (name, misses, text) in
        [("gcc14-rv32im.elf", 104.0, 160.0), ("gcc14-rv32imc.elf", 49.0, 94.0)]
    {
        assert_eq!(estimate(&summary, "miss_count", name), misses);
        assert_eq!(estimate(&summary, "text_bytes", name), text);
        assert_eq!(estimate(&summary, "instruction_count", name), 143_467.0);
        let trace = session.join(format!("traces/{name}.txt"));
        let trace = std::fs::read_to_string(trace).unwrap();
        assert_eq!(trace.lines().filter(|line| !line.starts_with('#')).count(), 143_467);
        assert!(trace.lines().last().unwrap().starts_with("# end: the pc left"), "{name}");
    }
    // Nothing is claimed of them, and the manifest says what they were.
    let own = &summary["experiments"].as_array().unwrap()[0];
    assert_eq!((&own["id"], own["claims"].as_array().unwrap().len()), (&"icache".into(), 0));
    let manifest = read(&session.join("manifest.json"));
    let design = &manifest["designs"].as_array().unwrap()[0];
    assert_eq!(
        design["programs"][0]["sha256"],
        "10b9658be1f6f16e9c50f52cfa0be6adaad2d7a901068a93184a59a45eac05ee"
    );
}

#[test]
fn every_cache_that_is_chosen_is_answered_exactly_by_one_run() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("s");
    let program = format!("{REFERENCE}/gcc14-rv32imc.elf");
    let chosen = "--cache-sizes 16,64,1KiB --cache-lines 8,16 --cache-ways 1,2,full \
                  --cache-policies lru,fifo,random,plru --runs 1 --no-shield -o";
    let arguments: Vec<&str> = chosen.split_whitespace().collect();
    let output = run(&[&arguments[..], &[session.to_str().unwrap(), "--elf", &program]].concat());
    assert!(output.status.success(), "{}", said(&output));
    let summary = read(&session.join("summary.json"));
    let own = &summary["experiments"].as_array().unwrap()[0];
    // One line of 16 bytes is no set of two, and 128 lines are no set of a tree.
    let caches = 4 * (3 * 3 + 3 * 3 - 1) - 1;
    assert_eq!(own["outcomes"][0]["trials"], caches);
    // Nothing is measured, so that there is no control, and one block is exact.
    assert_eq!(summary["experiments"].as_array().unwrap().len(), 1);
    let rows = own["estimates"].as_array().unwrap();
    let misses = |wanted: [(&str, &str); 4]| {
        let is = |row: &&Value| {
            row["response"] == "miss_count"
                && wanted.iter().all(|(factor, level)| row["treatment"][factor] == *level)
        };
        let found = &rows.iter().find(is).unwrap()["estimate"];
        assert_eq!((&found["low"], &found["high"]), (&found["point"], &found["point"]));
        found["point"].as_f64().unwrap()
    };
    let at = |bytes, ways, policy| {
        [("cache_bytes", bytes), ("line_bytes", "8"), ("ways", ways), ("policy", policy)]
    };
    let page = std::fs::read_to_string(session.join("report.html")).unwrap();
    assert!(page.contains("--cache-sizes 16,64,1024 --cache-lines 8,16 --cache-ways 1,2,full"));
    // The page docs/icache.md has them.
    assert_eq!(misses(at("64", "1", "lru")), 49.0);
    assert_eq!(misses(at("64", "full", "lru")), 95.0);
    assert_eq!(misses(at("16", "1", "fifo")), 51_245.0);
    // One process for all of them.
    let trials = std::fs::read_to_string(session.join("trials.ndjson")).unwrap();
    assert_eq!(trials.lines().filter(|line| line.contains("\"process\":{")).count(), 1);
}

#[test]
fn traps_of_a_program_are_counted_with_what_they_lose() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("s");
    // A handler that steps over the ecall: mtvec is 0x1018.
    let handler = [csrrs(T0, MEPC, ZERO), addi(T0, T0, 4), csrrw(ZERO, MEPC, T0), mret()];
    let main = [auipc(A0, 0), addi(A0, A0, 24), csrrw(ZERO, MTVEC, A0), ecall(), ecall(), ret()];
    let path = file(dir.path(), "traps", &elf(&[&main[..], &handler].concat()));
    let fixed = ["run", "traps", "--runs", "1", "--no-shield", "--elf", &path, "-o"];
    let output = scruple().args(fixed).arg(&session).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let summary = read(&session.join("summary.json"));
    let own = &summary["experiments"].as_array().unwrap()[0];
    let rows = own["estimates"].as_array().unwrap();
    for (stage, latency, lost) in [("ID", "0", 1.0), ("WB", "0", 4.0), ("WB", "2", 6.0)] {
        for (response, wanted) in [("lost_count", lost), ("return_count", lost)] {
            let is = |row: &&Value| {
                let at = &row["treatment"];
                row["response"] == response && at["stage"] == stage && at["latency"] == latency
            };
            let row = rows.iter().find(is).unwrap();
            assert_eq!(row["estimate"]["point"], wanted, "{response} {stage} {latency}");
        }
    }
}

#[test]
fn a_file_that_changed_is_said_and_never_taken() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("s");
    let [ends, other] = [[addi(A0, A0, 1), ret()], [addi(A0, A0, 2), ret()]].map(|it| elf(&it));
    let path = file(dir.path(), "a.elf", &ends);
    assert!(measured(&session, &["--elf", &path]).status.success());
    // As if it had been interrupted in its second block.
    let trials = session.join("trials.ndjson");
    let all = std::fs::read_to_string(&trials).unwrap();
    let own = all.lines().filter(|line| line.contains("\"experiment\":\"icache\"")).count();
    let begun: Vec<&str> = all.lines().take(2).collect();
    std::fs::write(&trials, begun.join("\n") + "\n").unwrap();
    std::fs::write(&path, &other).unwrap();
    let resume = |session: &Path| {
        let session = session.display().to_string();
        scruple().args(["run", "--resume", &session]).output().unwrap()
    };
    let output = resume(&session);
    let failed = std::fs::read_to_string(&trials).unwrap();
    let refused = failed.lines().filter(|line| line.contains("begin a new session"));
    assert!(refused.count() > 0, "{}", said(&output));
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("is not the file"),
        "{}",
        said(&output)
    );
    // The report needs no file.
    std::fs::remove_file(&path).unwrap();
    let report = scruple().arg("report").arg(&session).output().unwrap();
    assert!(report.status.success(), "{}", said(&report));
    // With the file as it was a session goes on to its end.
    std::fs::write(&trials, begun.join("\n") + "\n").unwrap();
    std::fs::write(&path, &ends).unwrap();
    let output = resume(&session);
    assert!(output.status.success(), "{}", said(&output));
    let stored = stored_trials(&session);
    assert_eq!(stored.iter().filter(|(id, _, _)| id == "icache").count(), own);
    assert_eq!(read(&session.join("summary.json"))["complete"], true);
}

/// Checks that each of some arguments is refused in one sentence that says this.
fn refuses(dir: &Path, refused: &[(&[&str], &str)]) {
    for (arguments, wanted) in refused {
        let session = dir.join("never");
        let output = measured(&session, arguments);
        let told = told(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
        assert!(told.starts_with("error: ") && told.contains(wanted), "{arguments:?}: {told}");
        let line = told.lines().next().unwrap_or_default();
        assert!(line.len() > 20 && !told.contains("panicked"), "{arguments:?}: {told}");
        assert!(!session.exists(), "{arguments:?} left a session");
    }
}

#[test]
fn caches_that_cannot_be_are_one_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let good = file(dir.path(), "good", &elf(&[ret()]));
    let refused: [(&[&str], &str); 7] = [
        (&["--elf", &good, "--cache-sizes", "3"], "expected a size from 4 bytes"),
        (&["--elf", &good, "--cache-sizes", "1KiB,"], "expected a size from 4 bytes"),
        (&["--elf", &good, "--cache-ways", "0"], "from 1 to 1024, or full"),
        (&["--elf", &good, "--cache-policies", "mru"], "expected lru, fifo, random or plru"),
        (&["--elf", &good, "--cache-sizes", "48", "--cache-ways", "2"], "no cache can be built"),
        (&["--elf", &good, "--cache-lines", "8192"], "no cache can be built"),
        (&["--cache-sizes", "64"], "--elf <FILE>|--rebuild"),
    ];
    refuses(dir.path(), &refused);
}

#[test]
fn what_is_no_program_is_one_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, content: &[u8]| file(dir.path(), name, content);
    let good = put("good.elf", &elf(&[ret()]));
    let changed = |at: usize, byte: u8| {
        let mut bytes = elf(&[ret()]);
        bytes[at] = byte;
        bytes
    };
    let patched = |at: usize, word: u32| {
        let mut bytes = elf(&[ret()]);
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        put(&format!("patched{at}-{word}"), &bytes)
    };
    let [nothing, short, far, end] =
        [(76, 4), (68, 900), (56, 900), (60, u32::MAX - 1)].map(|(at, word)| patched(at, word));
    let [huge, dynamic, odd, away] =
        [(72, 1 << 30), (52, 3), (24, 0x1001), (24, 0x5000)].map(|(at, word)| patched(at, word));
    let refused: [(&[&str], &str); 34] = [
        (&["--elf", "/no/such/file"], "No such file"),
        (&["--elf", "/"], "is a folder"),
        (&["--elf", "/dev/zero"], "no regular file"),
        (&["--elf", ""], "a value is required"),
        (&["--elf", &put("empty", b"")], "header"),
        (&["--elf", &put("text", &[b'a'; 100])], "begins an ELF file"),
        (&["--elf", &put("wide", &changed(4, 2))], "RV64 is not supported"),
        (&["--elf", &put("big", &changed(5, 2))], "the little end first"),
        (&["--elf", &put("object", &changed(16, 1))], "an executable at fixed addresses"),
        (&["--elf", &put("arm", &changed(18, 40))], "RISC-V"),
        (
            &["--elf", &put("call", &elf(&[addi(A7, ZERO, 99), ecall(), ret()]))],
            "call 99 in a7 is no call",
        ),
        (&["--elf", &put("float", &elf(&[0x0000_0053]))], "illegal instruction"),
        (&["--elf", &good, "--elf", &good], "named twice"),
        (&["--elf", &good, "--rebuild"], "cannot be used with"),
        (&["--trace"], "--elf <FILE>|--rebuild"),
        (&["create", "--elf", &good], "only with icache and traps, not with create"),
        (&["traps", "--rebuild"], "only with icache, not with traps"),
        (&["--elf", &good, "--instructions", "0"], "--instructions"),
        (&["--elf", &put("version", &changed(6, 2))], "version"),
        (&["--elf", &put("headers", &changed(42, 31))], "the size of a program header"),
        (&["--elf", &nothing], "has no instructions"),
        (&["--elf", &short], "more bytes in the file than in memory"),
        (&["--elf", &far], "a segment of the ELF file cannot be read"),
        (&["--elf", &end], "behind the last address"),
        (&["--elf", &huge], "bytes of memory; the machine has at most"),
        (&["--elf", &dynamic], "dynamic linker"),
        (&["--elf", &odd], "the entry is 0x1001; it must be even"),
        (&["--elf", &away], "it carries out no instruction"),
        (&["--elf", &good, "--stack", "7"], "a multiple of 16 bytes"),
        (&["--elf", &good, "--stack", "1GiB"], "at most 128 MiB"),
        (&["--elf", &good, "--memory", "64MiB"], "expected an address and a size"),
        (&["--elf", &good, "--memory", "0x80000000:0"], "expected an address and a size"),
        (&["--elf", &good, "--memory", "0x180000000:1MiB"], "expected an address and a size"),
        (&["--memory", "0x80000000:1MiB"], "--elf <FILE>|--rebuild"),
    ];
    refuses(dir.path(), &refused);
    let alone = scruple().args(["run", "--elf", &good]).output().unwrap();
    assert!(told(&alone).contains("--elf works only with icache and traps"), "{}", said(&alone));
}

#[test]
fn a_program_that_fails_is_said_to_fail_everywhere() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let good = file(dir.path(), "good", &elf(&[ret()]));
    let exits = [addi(A7, ZERO, 93), addi(A0, ZERO, 3), ecall()];
    let wild = [lui(A0, 0x90000), jalr(ZERO, 0, A0)];
    let faults = [addi(A0, A0, 1), sw(A0, 0, ZERO), ret()];
    for (name, words, why) in [
        ("exits", &exits[..], "exits failed after 3 steps: it exited with status 3"),
        ("wild", &wild, "wild failed after 2 steps: it jumped to 0x90000000, where no memory is"),
        ("faults", &faults, "faults failed after 1 steps: store access fault at 0x00001004"),
    ] {
        let path = file(dir.path(), name, &elf(words));
        let session = dir.path().join(format!("s-{name}"));
        let output = measured(&session, &["--elf", &good, "--elf", &path]);
        // The other program is measured.
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        let (error, answer) = (told(&output), String::from_utf8_lossy(&output.stdout).into_owned());
        assert!(error.contains("error: 6 of 12 trials failed") && error.contains(why), "{error}");
        assert!(error.contains(&format!("warning: {name} fails: ")), "{error}");
        let shown = answer.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(&format!("{name} failed after")), "{answer}");
        let summary = read(&session.join("summary.json"));
        assert_eq!(estimate(&summary, "instruction_count", "good"), 1.0);
        let outcomes = summary["experiments"][0]["outcomes"].as_array().unwrap();
        let failed = outcomes.iter().find(|it| it["outcome"] == "failed").unwrap();
        assert_eq!(failed["trials"], 6);
        assert!(failed["reason"].as_str().unwrap().starts_with(why), "{failed}");
    }
}

#[test]
fn a_program_gets_the_stack_and_the_memory_that_are_asked_for() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("s");
    // 68 KiB below the top of the stack, and a board's memory.
    let words = [lui(A7, 17), 0x4111_0133, lui(A0, 0x80000), lw(A7, 0, SP), lw(A0, 64, A0), ret()];
    let path = file(dir.path(), "asks", &elf(&words));
    let without = measured(&dir.path().join("without"), &["--elf", &path]);
    assert_eq!(without.status.code(), Some(2), "{}", said(&without));
    assert!(told(&without).contains("load access fault at 0x0000100c"), "{}", told(&without));
    let options = ["--stack", "128KiB", "--memory", "0x80000000:1MiB"];
    let output = measured(&session, &[&["--elf", &path], &options[..]].concat());
    assert!(output.status.success(), "{}", said(&output));
    let summary = read(&session.join("summary.json"));
    assert_eq!(estimate(&summary, "instruction_count", "asks"), 6.0);
    let report = std::fs::read_to_string(session.join("report.html")).unwrap();
    assert!(report.contains("--stack 131072") && report.contains("--memory 0x80000000:1048576"));
}

#[test]
fn what_a_program_writes_is_shown() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let words = [addi(A7, ZERO, 1), addi(A0, ZERO, 42), ecall(), addi(A7, ZERO, 10), ecall()];
    let path = file(dir.path(), "prints", &elf(&words));
    let output = measured(&dir.path().join("s"), &["--elf", &path]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(told(&output).contains("prints wrote: 42"), "{}", told(&output));
}

#[test]
fn a_program_without_an_end_is_stopped_and_that_is_said() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let endless = file(dir.path(), "endless", &elf(&[addi(A0, A0, 1), jal(ZERO, -4)]));
    let circles = file(dir.path(), "circles", &elf(&[addi(A0, A0, 1), jal(ZERO, 0)]));
    let session = dir.path().join("s");
    let arguments = ["--elf", &endless, "--elf", &circles, "--instructions", "1000", "--trace"];
    let output = measured(&session, &arguments);
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        told(&output).contains("endless did not end within 1000 instructions"),
        "{}",
        told(&output)
    );
    let summary = read(&session.join("summary.json"));
    assert_eq!(estimate(&summary, "instruction_count", "endless"), 1000.0);
    assert_eq!(estimate(&summary, "instruction_count", "circles"), 1.0);
    let last = |name: &str| {
        let path = session.join(format!("traces/{name}.txt"));
        std::fs::read_to_string(path).unwrap().lines().last().unwrap().to_owned()
    };
    assert!(last("endless").starts_with("# cut: 1000 steps are the most"), "{}", last("endless"));
    assert!(last("circles").contains("goes to itself"), "{}", last("circles"));
    let trials = std::fs::read_to_string(session.join("trials.ndjson")).unwrap();
    assert!(trials.contains("\"ended\":\"the limit of instructions was reached\""));
}

/// A folder for PATH with a compiler of that name, which does what a script says.
fn with_compiler(dir: &Path, script: &str) -> PathBuf {
    let bin = dir.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let path = bin.join("riscv64-unknown-elf-gcc");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    bin
}

/// Like a compiler: the carried program for the architecture asked for, and a version.
const COPIES: &str = r#"
[ "$1" = --version ] && { echo "made up 1.0"; exit; }
while [ $# -gt 1 ]; do
    case "$1" in -march=*) march="${1#-march=}";; -o) out="$2";; esac
    shift
done
[ "$1" = icache_test.c ] && grep -q noinline "$1" || { echo "error: no source"; exit 1; }
/bin/cp "$REFERENCE/gcc12-$march.elf" "$out""#;

#[test]
fn what_a_compiler_makes_is_compared_and_runs() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("s");
    let rebuilt = |script: &str| {
        let bin = with_compiler(dir.path(), script);
        let session = session.to_str().unwrap();
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let fixed = ["run", "icache", "--rebuild", "--profile", "smoke", "--runs", "1"];
        let mut command = scruple();
        command.args(fixed).args(["--no-shield", "-o", session]);
        command.env("REFERENCE", REFERENCE).env("PATH", path).output().unwrap()
    };
    let output =
        rebuilt("[ \"$1\" = --version ] && echo one || { echo 'x.c:1: error: bad'; exit 1; }");
    if !told(&output).contains("no compiler that was found") {
        // Another compiler is installed on this machine, and the session is its own.
        assert!(told(&output).contains("riscv64-unknown-elf-gcc is left out"), "{}", said(&output));
        std::fs::remove_dir_all(&session).unwrap();
    }
    assert!(told(&output).contains("x.c:1: error: bad"), "{}", said(&output));
    let output = rebuilt(COPIES);
    assert!(output.status.success(), "{}", said(&output));
    let wanted = "rv32im 160 bytes, the same file as scruple's own (GCC 12.2, -O2); rv32imc 92";
    assert!(told(&output).contains(wanted), "{}", said(&output));
    let built = session.join("programs/elf-gcc-O2-rv32imc");
    let carried = format!("{REFERENCE}/gcc12-rv32imc.elf");
    assert_eq!(std::fs::read(built).unwrap(), std::fs::read(carried).unwrap());
    let trials = std::fs::read_to_string(session.join("trials.ndjson")).unwrap();
    assert!(trials.contains("elf-gcc-Os-rv32im\"") && !trials.contains("\"failed\""));
}

#[test]
fn without_a_compiler_there_is_nothing_to_rebuild() {
    let dir = tempfile::tempdir().unwrap();
    let output = scruple()
        .args(["run", "icache", "--rebuild"])
        .env("PATH", dir.path())
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(told(&output).contains("no compiler for RISC-V is in PATH"), "{}", said(&output));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
