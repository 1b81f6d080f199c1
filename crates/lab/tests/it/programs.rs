//! `scruple core FILE… --sweep` on program files, from the file to the report.

use crate::support::{alone, said, scruple, stored_trials};
use isa::encode::{A0, A7, SP, ZERO, addi, ecall, jal, jalr, lui, lw, ret, sw};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../isa/reference");

/// Runs programs before three small caches, into a folder.
fn measured(session: &Path, arguments: &[&str]) -> Output {
    swept(session, arguments, &["size=16,64,256", "ways=1"])
}

/// Runs programs before chosen caches, into a folder.
fn swept(session: &Path, arguments: &[&str], chosen: &[&str]) -> Output {
    let mut command = scruple();
    command.arg("core").args(arguments).arg("-o").arg(session).arg("--sweep").args(chosen);
    command.env("LC_ALL", "C.UTF-8").output().unwrap()
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
    let output = measured(&session, &[&files[0], &files[1]]);
    assert!(output.status.success(), "{}", said(&output));
    let summary = read(&session.join("summary.json"));
    for (name, misses, text) in
        [("gcc14-rv32im.elf", 104.0, 160.0), ("gcc14-rv32imc.elf", 49.0, 94.0)]
    {
        assert_eq!(estimate(&summary, "miss_count", name), misses);
        assert_eq!(estimate(&summary, "text_bytes", name), text);
        assert_eq!(estimate(&summary, "instruction_count", name), 143_467.0);
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
    let chosen = ["size=16,64,1KiB", "line=8,16", "ways=1,2,full", "policy=lru,fifo,random,plru"];
    let output = swept(&session, &[&program], &chosen);
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
    assert!(page.contains("--sweep size=16,64,1024 line=8,16 ways=1,2,full"));
    // The page docs/icache.md has them.
    assert_eq!(misses(at("64", "1", "lru")), 49.0);
    assert_eq!(misses(at("64", "full", "lru")), 95.0);
    assert_eq!(misses(at("16", "1", "fifo")), 51_245.0);
    // One process for all of them.
    let trials = std::fs::read_to_string(session.join("trials.ndjson")).unwrap();
    assert_eq!(trials.lines().filter(|line| line.contains("\"process\":{")).count(), 1);
}

#[test]
fn a_file_that_changed_is_said_and_never_taken() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("s");
    let [ends, other] = [[addi(A0, A0, 1), ret()], [addi(A0, A0, 2), ret()]].map(|it| elf(&it));
    let path = file(dir.path(), "a.elf", &ends);
    assert!(measured(&session, &[&path]).status.success());
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
        self::refused(&session, &measured(&session, arguments), wanted);
    }
}

fn refused(session: &Path, output: &Output, wanted: &str) {
    let text = told(output);
    assert_eq!(output.status.code(), Some(2), "{wanted}: {}", said(output));
    assert!(text.starts_with("error: ") && text.contains(wanted), "{wanted}: {text}");
    let line = text.lines().next().unwrap_or_default();
    assert!(line.len() > 20 && !text.contains("panicked"), "{wanted}: {text}");
    assert!(!session.exists(), "{wanted}: it left a session");
}

#[test]
fn caches_that_cannot_be_are_one_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let good = file(dir.path(), "good", &elf(&[ret()]));
    for (chosen, wanted) in [
        (&["size=3"][..], "expected a size from 4 bytes"),
        (&["size=1KiB,"], "expected a size from 4 bytes"),
        (&["ways=0"], "from 1 to 1024, or full"),
        (&["policy=mru"], "expected lru, fifo, random or plru"),
        (&["cycles=some"], "expected cycles=on or cycles=off"),
        (&["depth=4"], "expected size=, line=, ways=, policy= or cycles="),
        (&[good.as_str()], "files come before --sweep"),
        (&["size=48", "ways=2"], "no cache can be built"),
        (&["line=8192"], "no cache can be built"),
    ] {
        let session = dir.path().join("never");
        refused(&session, &swept(&session, &[&good], chosen), wanted);
    }
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
    let refused: [(&[&str], &str); 29] = [
        (&["/no/such/file"], "No such file"),
        (&["/"], "is a folder"),
        (&["/dev/zero"], "no regular file"),
        (&[""], "a value is required"),
        (&[&put("empty", b"")], "header"),
        (&[&put("text", &[b'a'; 100])], "begins an ELF file"),
        (&[&put("wide", &changed(4, 2))], "RV64 is not supported"),
        (&[&put("big", &changed(5, 2))], "the little end first"),
        (&[&put("object", &changed(16, 1))], "an executable at fixed addresses"),
        (&[&put("arm", &changed(18, 40))], "RISC-V"),
        (&[&put("call", &elf(&[addi(A7, ZERO, 99), ecall(), ret()]))], "call 99 in a7 is no call"),
        (&[&put("float", &elf(&[0x0000_0053]))], "illegal instruction"),
        (&[&good, &good], "named twice"),
        (&[&good, "--instructions", "0"], "--instructions"),
        (&[&put("version", &changed(6, 2))], "version"),
        (&[&put("headers", &changed(42, 31))], "the size of a program header"),
        (&[&nothing], "has no instructions"),
        (&[&short], "more bytes in the file than in memory"),
        (&[&far], "a segment of the ELF file cannot be read"),
        (&[&end], "behind the last address"),
        (&[&huge], "bytes of memory; the machine has at most"),
        (&[&dynamic], "dynamic linker"),
        (&[&odd], "the entry is 0x1001; it must be even"),
        (&[&away], "it carries out no instruction"),
        (&[&good, "--stack", "7"], "a multiple of 16 bytes"),
        (&[&good, "--stack", "1GiB"], "at most 128 MiB"),
        (&[&good, "--memory", "64MiB"], "expected an address and a size"),
        (&[&good, "--memory", "0x80000000:0"], "expected an address and a size"),
        (&[&good, "--memory", "0x180000000:1MiB"], "expected an address and a size"),
    ];
    refuses(dir.path(), &refused);
    let moved = scruple().args(["run", "icache", "--elf", &good]).output().unwrap();
    assert_eq!(moved.status.code(), Some(2), "{}", said(&moved));
    let text = told(&moved);
    assert!(text.contains("--elf") && text.contains("scruple core FILE… --sweep"), "{text}");
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
        let output = measured(&session, &[&good, &path]);
        // The other program is measured.
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        let (error, answer) = (told(&output), String::from_utf8_lossy(&output.stdout).into_owned());
        assert!(error.contains("error: 3 of 6 trials failed") && error.contains(why), "{error}");
        assert!(error.contains(&format!("warning: {name} fails: ")), "{error}");
        let shown = answer.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(&format!("{name} failed after")), "{answer}");
        let summary = read(&session.join("summary.json"));
        assert_eq!(estimate(&summary, "instruction_count", "good"), 1.0);
        let outcomes = summary["experiments"][0]["outcomes"].as_array().unwrap();
        let failed = outcomes.iter().find(|it| it["outcome"] == "failed").unwrap();
        assert_eq!(failed["trials"], 3);
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
    let without = measured(&dir.path().join("without"), &[&path]);
    assert_eq!(without.status.code(), Some(2), "{}", said(&without));
    assert!(told(&without).contains("load access fault at 0x0000100c"), "{}", told(&without));
    let options = ["--stack", "128KiB", "--memory", "0x80000000:1MiB"];
    let output = measured(&session, &[&[path.as_str()], &options[..]].concat());
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
    let output = measured(&dir.path().join("s"), &[&path]);
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
    let arguments = [endless.as_str(), &circles, "--instructions", "1000"];
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
    let trials = std::fs::read_to_string(session.join("trials.ndjson")).unwrap();
    assert!(trials.contains("\"ended\":\"the limit of instructions was reached\""));
}
