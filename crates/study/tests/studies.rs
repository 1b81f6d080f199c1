//! What a study file may say, what it becomes, and how it is told what is wrong with it.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use model::{Cell, Design, Pick, Profile, Quantity, Region, Stream, Unit};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use study::Around;

const AROUND: Around<'static> = Around { file: "a.toml", folder: "/study", stem: "My study!" };

fn read(text: &str) -> Result<Design, String> {
    study::read(text, &AROUND, |_| None).map_err(|error| error.to_string())
}

const SHORT: &str = r#"
command = ["./{model}", "cpu", "{n}"]
[factors]
model = ["pthread", "fork"]
n = "1..8 x2"
"#;

#[test]
fn a_short_study_is_a_whole_design() {
    let design = &read(SHORT).unwrap();
    assert_eq!(design.id, "my_study");
    assert_eq!(design.question, "What do model and n change?");
    let subject = design.subject.as_ref().unwrap();
    assert_eq!((subject.folder.as_str(), subject.shell), ("/study", false));
    // Two by four, and the baseline once more.
    let treatments = design.treatments(Profile::Smoke);
    assert_eq!(treatments.len(), 9);
    let again: Vec<_> = treatments.iter().filter(|it| design.repeats(it)).collect();
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].to_string(), "again=yes model=pthread n=1");
    assert_eq!(design.as_named(&treatments[0]).to_string(), "model=fork n=1");
    assert_eq!(design.controls.len(), 2);
    // The first answer is about the first factor, where there is most to do.
    assert_eq!(
        design.findings[0].sentence,
        "With fork: {} times the elapsed time of pthread (n 8)."
    );
    assert_eq!(design.findings.iter().filter(|finding| finding.drives).count(), 2);
    let growth =
        |quantity: &Quantity| matches!(quantity, Quantity::Exponent { over, .. } if over == "n");
    assert!(design.findings.iter().any(|finding| growth(&finding.quantity)));
    assert_eq!(design.responses[0].name, "wall_ns");
    assert_eq!(design.time_limit_ms, 60_000);
    let treatment = design.complete(&Cell::new([("model", "fork"), ("n", "8")]));
    let words = subject.arguments(&subject.command, &treatment, "/tmp").unwrap();
    assert_eq!(words, ["./fork", "cpu", "8"]);
}

#[test]
fn without_a_factor_the_command_alone_is_measured() {
    let design = read("command = [\"true\"]").unwrap();
    assert_eq!(design.question, "What does true cost?");
    assert_eq!(design.treatments(Profile::Quick).len(), 2);
    assert_eq!(design.findings[0].sentence, "Elapsed time: {}.");
    assert!(design.findings[0].drives);
}

const FULL: &str = r#"
name = "all_keys"
question = "What changes"
command = "{tool} -T {threads} < data {{literal}}"
shell = true
prepare = "rm -f out"
cleanup = [["rm", "-f", "{scratch}/x"], "sync"]
folder = "sub"
env = { LC_ALL = "C", JOBS = "{threads}" }
clear_env = true
stdin = "in.txt"
affinity = "0,2-3"
limits = { address_space = "2GiB", memory = "{memory}", cpus = 0.5 }
time_limit = "90s"
exit_codes = [0, 1]
look_every = "5ms"
linger = "2s"
workers = "{threads}"
responses = ["cpu", "ratio", "peak_pss_bytes"]
precision = "5%"
grids = [["tool", "threads"], { memory = ["64MiB", "128MiB"] }]

[factors]
tool = ["xz", { name = "fast", word = "xz -1", about = "less work" }]

[factors.threads]
levels = [4, 1, 2]
baseline = 1
unit = "count"
about = "how many work"

[factors.memory]
levels = ["128MiB", "64MiB"]

[metrics.ratio]
regex = 'ratio ([0-9.]+)'

[metrics.took]
pointer = "/took"
from = "stderr"
unit = "ms"
scale = 2
label = "own time"

[figures.time]
title = "Time over the number of threads"
shows = "wall_ns, took_ns over threads by tool where threads=1, threads=4"

[[claims]]
text = "More threads are faster."
source = "a blog"
because = "they share the work"
ratio = { of = { threads = 4 }, to = { threads = 1 }, response = "wall" }
holds = "< 1"
note = "mind the disk"

[[claims]]
text = "CPU time is flat."
flat = { over = "threads", response = "cpu_ns" }
holds = "within 25%"

[[claims]]
text = "It takes less than a second."
value = { response = "took" }
holds = "<= 1 s"
"#;

#[test]
fn cpu_time_is_the_twin_of_elapsed_time_alone() {
    let metrics = "[metrics.own]\nregex = '([0-9]+)'\nunit = \"ms\"";
    let design = read(&format!("command = [\"a\"]\n{metrics}")).unwrap();
    let twins = design.responses.iter().filter_map(|it| Some((&*it.name, it.cpu_twin.as_deref()?)));
    assert_eq!(twins.collect::<Vec<_>>(), [("wall_ns", "cpu_ns")]);
}

#[test]
fn a_difference_to_be_detected_sets_the_width() {
    let mut design = read("command = [\"a\"]\nprecision = \"5%\"").unwrap();
    for (text, most) in [("2%", 0.02), ("0.5 %", 0.005), ("100%", 1.0)] {
        study::detect(&mut design, text).unwrap();
        // Half of an interval must be narrower than the difference, or the point alone decides.
        assert!((most / 2.0..most).contains(&design.precision), "{text}: {}", design.precision);
    }
    let before = design.clone();
    for text in ["", "two", "0%", "-1%", "101%", "NaN%", "0.05%"] {
        let told = study::detect(&mut design, text).unwrap_err();
        assert!(told.contains("write it like 2%") && told.contains(text), "{text}: {told}");
        assert_eq!(design, before, "{text}");
    }
}

#[test]
fn every_key_has_its_place_in_the_design() {
    let design = read(FULL).unwrap();
    let subject = design.subject.clone().unwrap();
    assert_eq!((design.id.as_str(), design.question.as_str()), ("all_keys", "What changes?"));
    assert_eq!(subject.command, ["{tool} -T {threads} < data {{literal}}"]);
    assert_eq!(subject.prepare, [["/bin/sh", "-c", "rm -f out"]]);
    assert_eq!(subject.cleanup[1], ["/bin/sh", "-c", "sync"]);
    assert_eq!((subject.folder.as_str(), subject.stdin.as_str()), ("/study/sub", "/study/in.txt"));
    assert_eq!(subject.environment["JOBS"], "{threads}");
    assert!(subject.clear_environment && subject.cpus == "0,2-3");
    let limits = &subject.limits;
    assert_eq!(limits.address_space_bytes, (2_u64 << 30).to_string());
    // The subject counts in bytes, whatever the words of the factor.
    assert_eq!(limits.memory_bytes, "{memory}");
    assert_eq!(limits.cpus_quota, "0.5");
    assert_eq!((design.time_limit_ms, subject.exit_codes), (90_000, vec![0, 1]));
    assert_eq!((subject.look_every_ms, subject.linger_ms), (Some(5), 2_000));
    assert_eq!((subject.workers.as_str(), design.precision), ("{threads}", 0.05));
    let front: Vec<&str> = design.responses[..3].iter().map(|it| it.name.as_str()).collect();
    assert_eq!(front, ["cpu_ns", "ratio", "peak_pss_bytes"]);
    let threads = design.factor("threads").unwrap();
    let levels: Vec<&str> = threads.levels.iter().map(|level| level.name.as_str()).collect();
    assert_eq!((levels, threads.baseline.as_str()), (vec!["1", "2", "4"], "1"));
    assert_eq!(threads.unit, Some(Unit::Count));
    // Two by three, one more memory, and the baseline once more.
    assert_eq!(design.treatments(Profile::Quick).len(), 8);
    assert_eq!(subject.metrics[0].pick, Pick::Regex("ratio ([0-9.]+)".into()));
    assert_eq!((subject.metrics[0].per, subject.metrics[1].per), (1_000_000, 1));
    assert_eq!(subject.metrics[1].response, "took_ns");
    assert_eq!((subject.metrics[1].scale, subject.metrics[1].from), (2e6, Stream::Stderr));
    let figure = &design.figures[0];
    assert_eq!(
        (figure.id.as_str(), figure.title.as_str()),
        ("time", "Time over the number of threads")
    );
    assert_eq!(figure.plot.responses, ["wall_ns", "took_ns"]);
    assert_eq!(figure.plot.over.as_deref(), Some("threads"));
    assert_eq!(figure.plot.treatments(&design, Profile::Quick).len(), 4);
    let [faster, flat_2, flat_4, took] = design.claims.as_slice() else {
        panic!("{:?}", design.claims)
    };
    assert_eq!(
        (faster.mechanism.as_str(), faster.note.as_str()),
        ("they share the work", "mind the disk")
    );
    assert_eq!(faster.quantity.response(), "wall_ns");
    assert_eq!(
        (flat_2.text.as_str(), flat_4.id.as_str()),
        ("CPU time is flat. (threads 2)", "cpu_time_is_flat_threads_4")
    );
    assert_eq!(flat_4.holds_if, Region::within(0.8, 1.25));
    assert_eq!(
        (took.holds_if, took.source.as_str()),
        (Region::below(1e9), "the author of the study")
    );
}

/// A text that is wrong, and how the error begins and what it holds.
const WRONG: &[(&str, &str, &str)] = &[
    ("", "a.toml:1:1: ", "no command"),
    ("command = ", "a.toml:1:", "no valid TOML"),
    ("command = [\"a\"]\n\ncomand = 1", "a.toml:3:1: comand: ", "did you mean command?"),
    ("command = [\"a\"]\nxyz = 1", "a.toml:2:1: xyz: ", "there are: name"),
    ("command = \"zstd -3 data\"", "a.toml:1:11: command: ", "[\"zstd\", \"-3\", \"data\"]"),
    ("command = []", "a.toml:1:11: command: ", "no program"),
    ("command = 3", "a.toml:1:11: command: ", "not a whole number"),
    ("command = [\"a\", true]", "a.toml:1:17: command[2]: ", "not true or false"),
    ("command = [\"a\"]\nshell = true", "a.toml:1:11: command: ", "one text"),
    ("command = [\"a\", \"{n}\"]", "a.toml:1:11: command: ", "{n} is no factor"),
    ("command = [\"a\", \"{m}\"]\nfactors.n = [1]", "a.toml:1:11: command: ", "there are: n"),
    (
        "command = [\"a\", \"{treads}\"]\nfactors.threads = [1]",
        "a.toml:1:11: command: ",
        "did you mean threads?",
    ),
    ("command = [\"a\"]\nfactors.n = [1, 2]", "a.toml:2:9: factors.n: ", "stands nowhere"),
    ("command = [\"{n}\"]\nfactors.n = []", "a.toml:2:13: factors.n: ", "no level"),
    ("command = [\"{n}\"]\nfactors.n = [1, 1]", "a.toml:2:17: factors.n[2]: ", "twice"),
    ("command = [\"{n}\"]\nfactors.n = \"8..1\"", "a.toml:2:13: factors.n: ", "empty"),
    ("command = [\"{n}\"]\nfactors.n = 3", "a.toml:2:13: factors.n: ", "expected a list"),
    ("command = [\"{n}\"]\nfactors.N = [3]", "a.toml:2:9: factors.N: ", "a-z"),
    ("command = [\"{n}\"]\nfactors.again = [3]", "a.toml:2:9: factors.again: ", "another name"),
    (
        "command = [\"{n}\"]\n[factors.n]\nlevels = [1]\nbasline = 1",
        "a.toml:4:1: factors.n.basline: ",
        "did you mean baseline?",
    ),
    (
        "command = [\"{n}\"]\n[factors.n]\nlevels = [1, 2]\nbaseline = 3",
        "a.toml:4:12: factors.n.baseline: ",
        "no level of n",
    ),
    (
        "command = [\"x{n}\"]\nfactors.n = [{ name = \"a\", word = [\"b\", \"c\"] }]",
        "a.toml:1:11: command: ",
        "argument of its own",
    ),
    ("command = [\"a\"]\ntime_limit = \"soon\"", "a.toml:2:14: time_limit: ", "no length of time"),
    ("command = [\"a\"]\ntime_limit = 30", "a.toml:2:14: time_limit: ", "such as \"30s\""),
    ("command = [\"a\"]\nlimits.memory = \"much\"", "a.toml:2:17: limits.memory: ", "512MiB"),
    (
        "command = [\"{n}\"]\nlimits.memory = \"{n}\"\nfactors.n = [\"few\"]",
        "a.toml:2:1: limits: ",
        "\"few\" is not a size",
    ),
    ("command = [\"a\"]\naffinity = \"some\"", "a.toml:2:12: affinity: ", "0,2-3"),
    (
        "command = [\"a\"]\nresponses = [\"wal\"]",
        "a.toml:2:14: responses[1]: ",
        "did you mean wall_ns?",
    ),
    ("command = [\"a\"]\nmetrics.m = {}", "a.toml:2:9: metrics.m: ", "add regex"),
    (
        "command = [\"a\"]\nmetrics.m.regex = \"[0-9\"",
        "a.toml:2:19: metrics.m.regex: ",
        "no regular expression",
    ),
    ("command = [\"a\"]\nmetrics.m.regex = \"[0-9]+\"", "a.toml:2:19: metrics.m.regex: ", "( )"),
    (
        "command = [\"a\"]\nmetrics.m.pointer = \"a/b\"",
        "a.toml:2:21: metrics.m.pointer: ",
        "begins with /",
    ),
    (
        "command = [\"a\"]\nmetrics.wall_ns = { regex = \"(1)\" }",
        "a.toml:2:1: metrics: ",
        "measured already",
    ),
    ("command = [\"a\"]\n[[claims]]\ntext = \"x\"", "a.toml:2:", "no number decides it"),
    ("command = [\"a\"]\n[[claims]]\ntext = \"x\"\nvalue = {}", "a.toml:2:", "add holds"),
    (
        "command = [\"a\"]\n[[claims]]\ntext = \"x\"\nvalue = {}\nholds = \"< 2\"",
        "a.toml:5:9: claims[1].holds: ",
        "such as 200 ms",
    ),
    (
        "command = [\"a\"]\n[[claims]]\ntext = \"x\"\nratio = { of = { n = 1 }, to = {} }\nholds = \"< 2\"",
        "a.toml:4:18: claims[1].ratio.of.n: ",
        "no factor",
    ),
    (
        "command = [\"{n}\"]\ngrids = [[\"n\"]]\nfactors.n = [1, 2]\nfactors.m = [1, 2]",
        "a.toml:4:9: factors.m: ",
        "stands nowhere",
    ),
    (
        "command = [\"{n}{m}\"]\ngrids = [[\"n\"]]\nfactors.n = [1, 2]\nfactors.m = [1, 2]\n[[claims]]\ntext = \"x\"\nratio = { of = { m = 2 }, to = { m = 1 } }\nholds = \"< 2\"",
        "a.toml:5:",
        "no grid measures",
    ),
    (
        "command = [\"{a}{b}{c}\"]\nfactors.a = \"1..200\"\nfactors.b = \"1..200\"\nfactors.c = \"1..200\"",
        "a.toml:1:1: ",
        "treatments are more than",
    ),
    (
        "command = [\"{n}\"]\nfactors.n = [1, 2]\nfigures.a = { title = \"A\", shows = \"wall by n\" }",
        "a.toml:3:37: figures.a.shows: ",
        "did you mean wall_ns?",
    ),
    (
        "command = [\"{n}\"]\nfactors.n = [1, 2]\nfigures.a = { title = \"A\", shows = \"wall_ns by m\" }",
        "a.toml:3:48: figures.a.shows: ",
        "no factor",
    ),
    (
        "command = [\"a\"]\nfigures.a = { title = \"A\", show = \"wall_ns\" }",
        "a.toml:2:28: figures.a.show: ",
        "did you mean shows?",
    ),
    ("command = [\"a\"]\nfigures.a.title = \"A\"", "a.toml:2:", "add shows = "),
    ("command = [\"a\"]\nfigures.a.shows = \"wall_ns\"", "a.toml:2:", "add title = "),
    (
        "command = [\"{n}{m}\"]\ngrids = [[\"n\"], [\"m\"]]\nfactors.n = [1, 2]\nfactors.m = [1, 2]\n[figures.a]\ntitle = \"A\"\nshows = \"wall_ns where n=2, m=2\"",
        "a.toml:5:",
        "no grid measures what it shows",
    ),
    ("name = \"My Study\"\ncommand = [\"a\"]", "a.toml:1:8: name: ", "a-z"),
    ("command = [\"a\\u0000\"]", "a.toml:1:12: command[1]: ", "zero byte"),
    ("command = [\"a\"]\nexit_codes = [256]", "a.toml:2:15: exit_codes[1]: ", "0 to 255"),
    ("command = [\"a\"]\nprecision = \"0%\"", "a.toml:2:13: precision: ", "0.1%"),
];

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, begins, holds) in WRONG {
        let error = read(text).unwrap_err();
        assert!(error.starts_with(begins) && error.contains(holds), "{text}\n{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

/// Every key that is given something of the wrong kind is named, with its line.
#[test]
fn a_value_of_the_wrong_kind_names_its_key() {
    let mut seen = 0;
    for line in FULL.lines() {
        let Some((key, _)) = line.split_once(" = ").filter(|(key, _)| !key.starts_with(' ')) else {
            continue;
        };
        let number = 1 + FULL.lines().take_while(|other| *other != line).count();
        // No key is a date.
        let wrong = FULL.replacen(&format!("\n{line}\n"), &format!("\n{key} = 1979-05-27\n"), 1);
        let error = read(&wrong).unwrap_err();
        let place = format!("a.toml:{number}:{}: ", key.len() + 4);
        assert!(error.starts_with(&place) && error.contains("not a date"), "{line}\n{error}");
        assert!(error.contains(key), "{line}\n{error}");
        seen += 1;
    }
    assert!(seen > 35, "{seen}");
}

#[test]
fn every_study_in_the_documents_is_understood() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut seen = BTreeMap::new();
    for page in ["studies.md", "book/how-to/own-programs.md", "book/how-to/assignment.md"] {
        let text = std::fs::read_to_string(docs.join(page)).unwrap();
        for block in text.split("```toml\n").skip(1) {
            let block = block.split("```").next().unwrap();
            // What shows a few keys alone is completed to a study.
            let whole = if block.contains("command =") {
                block.to_string()
            } else {
                format!(
                    "command = [\"./program\", \"{{n}}\", \"{{model}}\"]\n{}{block}",
                    completed(block)
                )
            };
            if let Err(error) = read(&whole) {
                panic!("{page}: {error}\n{whole}");
            }
            *seen.entry(page).or_insert(0) += 1;
        }
    }
    assert!(seen["studies.md"] > 8 && seen.len() > 1, "{seen:?}");
}

/// The factors that a part of a study leaves to its reader.
fn completed(block: &str) -> String {
    let mut lines = String::new();
    for (name, levels) in [("n", "[1, 2, 4, 8]"), ("model", "[\"pthread\", \"fork\"]")] {
        if !block.contains(&format!("[factors.{name}]")) && !block.contains(&format!("\n{name} = "))
        {
            lines.push_str(&format!("factors.{name} = {levels}\n"));
        }
    }
    lines
}

fn example(commands: &[&str]) -> Result<String, String> {
    let read = |line: &&str| study::spoken(line, &|_| None);
    study::example(&commands.iter().map(read).collect::<Result<Vec<_>, _>>()?, None)
}

#[test]
fn two_metrics_of_a_program_are_compared_within_a_trial() {
    let study = |claim: &str| {
        let metric = |name: &str| {
            format!("[metrics.{name}]\nregex = '{name}: (.+)'\nunit = \"ms\"\ndecimal = \",\"\n")
        };
        let head = "command = [\"./a\", \"{n}\"]\nfactors.n = [1, 2]\n";
        let claim = format!("[[claims]]\ntext = \"x\"\nholds = \"> 1\"\n{claim}\n");
        read(&[head, &metric("procs"), &metric("threads"), &claim].concat())
    };
    let claim = "quotient = { of = \"procs\", to = \"threads\", at = { n = 2 } }";
    let claim =
        &format!("{claim}\n[figures.a]\ntitle = \"a\"\nshows = \"procs_ns / threads_ns by n\"");
    let design = study(claim).unwrap();
    let expected = Quantity::Quotient {
        response: "procs_ns".into(),
        by: "threads_ns".into(),
        at: Cell::new([("n", "2")]),
    };
    assert_eq!(design.claims[0].quantity, expected);
    assert_eq!(design.figures[0].plot.divided_by.as_deref(), Some("threads_ns"));
    let metric = &design.subject.unwrap().metrics[0];
    assert_eq!((metric.of_unit, metric.decimal), (1e6, Some(model::Decimal::Comma)));
    let wrong = study("quotient = { of = \"procs\", to = \"peak_pss\" }").unwrap_err();
    assert!(wrong.to_string().contains("different units"), "{wrong}");
    let wrong = study("quotient = { of = \"procs\" }").unwrap_err();
    assert!(wrong.to_string().contains("it has no to"), "{wrong}");
}

#[test]
fn an_example_is_understood_whatever_its_commands() {
    let text = example(&["zstd -1 'a b'", "gzip -1 'a b'"]).unwrap();
    let design = read(&text).unwrap();
    let subject = design.subject.clone().unwrap();
    let treatment = design.complete(&Cell::default());
    let words = subject.arguments(&subject.command, &treatment, "").unwrap();
    assert_eq!(words, ["zstd", "-1", "a b"]);
    insta::assert_snapshot!(text);
    let long = |end: &str| format!("./solver --input {} --{end}", "a".repeat(40));
    let text = example(&[&long("threads"), &long("processes")]).unwrap();
    assert!(text.contains("--processes\", word") && !text.contains("again"), "{text}");
    let text = example(&["sort a | uniq", "sort -u a", "sort -u a"]).unwrap();
    assert!(read(&text).unwrap().subject.unwrap().shell);
    let text = example(&["OMP_NUM_THREADS=1 ./a", "time OMP_NUM_THREADS=2 ./a"]).unwrap();
    assert!(text.contains("word = [\"OMP_NUM_THREADS=2\", \"./a\"]"), "{text}");
    assert!(!read(&text).unwrap().subject.unwrap().shell);
    let text = example(&["cat <(a)", "a"]).unwrap();
    assert!(text.contains("word = \"bash -c 'cat <(a)'\""), "{text}");
    assert!(example(&["a"]).unwrap_err().contains("two commands"));
    assert!(example(&["a", "'b"]).unwrap_err().contains("never closed"));
    assert!(example(&["a", " "]).unwrap_err().contains("no word"));
}

/// Pieces that a study is made of, so that chance gets further than the first line.
fn pieces() -> impl Strategy<Value = String> {
    let words = r#"command = ["a", "{n}"]|factors.n = [1, 2]|n = "1..4"|[factors]|[factors.n]|levels = [1, "b"]|baseline = 1|[[claims]]|text = "x"|ratio = { of = { n = 2 }, to = { n = 1 } }|flat = { over = "n" }|exponent = { over = "n" }|holds = "< 2"|holds = "within 5%"|[metrics.m]|regex = "(a)"|pointer = "/a"|unit = "ms"|shell = true|command = "a {n}"|limits = { memory = "{n}" }|affinity = "{n}"|grids = [["n"]]|responses = ["wall"]|env = { A = "{n}" }|time_limit = "1s"|linger = "1s"|"#;
    let words: Vec<String> = words.split('|').map(String::from).collect();
    let line = prop_oneof![4 => proptest::sample::select(words), 1 => "[ -~é\n\"\\[{=]{0,24}"];
    proptest::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_design_or_an_error_with_a_place(text in prop_oneof![pieces(), ".*"]) {
        match study::read(&text, &AROUND, |_| None) {
            Ok(design) => prop_assert!(design.check().is_ok()),
            Err(error) => {
                prop_assert!(!error.what.is_empty());
                let place = error.place;
                prop_assert!(place.line >= 1 && place.line <= text.matches('\n').count() + 1);
            }
        }
    }

    #[test]
    fn any_commands_make_an_example_that_is_understood(
        commands in proptest::collection::vec("[ -~éß]{1,60}", 2..5),
    ) {
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        if let Ok(text) = example(&commands) {
            prop_assert!(read(&text).is_ok(), "{:?}\n{text}", read(&text));
        }
    }
}

#[test]
fn a_comparison_as_courses_ask_for_it_is_understood() {
    let spoken = |line: &str| study::spoken(line, &|_| None).unwrap();
    let text = study::course(&[spoken("./threads"), spoken("../b/processes -v")], None).unwrap();
    let around = study::Around { file: "a.toml", folder: "/a", stem: "a" };
    let design = study::read(&text, &around, |_| None).unwrap();
    assert_eq!(design.treatments(Profile::Quick).len(), 2 * 3 * 8 * 2 + 1);
    assert_eq!((design.figures.len(), design.claims.len()), (4, 3));
    // Both programs are compared for each kind of work, on one CPU and on all.
    let pairs = design.findings.iter().filter_map(|finding| match &finding.quantity {
        Quantity::Ratio { response, of, to } if response == "wall_ns" => Some((of, to)),
        _ => None,
    });
    let of = |cell: &Cell, name: &str| design.complete(cell).level(name).map(String::from);
    let compared = pairs.filter(|(of_cell, to)| of(of_cell, "program") != of(to, "program"));
    let places: BTreeSet<_> =
        compared.map(|(cell, _)| (of(cell, "work"), of(cell, "cpus"))).collect();
    assert_eq!(places.len(), 6);
    let scripts = study::course(&[spoken("python3 a.py"), spoken("python3 b.py")], None).unwrap();
    assert!(scripts.contains(r#"name = "python3 a.py""#), "{scripts}");
    for (one, other) in [("./a", "./a"), ("./a", "./b | cat"), ("./a", "./b {work} {n}")] {
        assert!(study::course(&[spoken(one), spoken(other)], None).is_err(), "{one} {other}");
    }
}
