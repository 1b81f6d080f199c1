//! `scruple query`: the recorded sessions asked by DuckDB, where there is one, and everything that can
//! go wrong with a DuckDB that is none.

use crate::support::*;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use sys::signal;

/// A DuckDB by its shape: it says a version, makes empty tables of the right length, and answers as it
/// is told (`ANSWER`).
const FAKE: &str = r#"#!/bin/sh
case "$1" in --version) echo "VERSION"; exit 0;; esac
question=$(cat)
case "$question" in
COPY*)
    printf '%s\n' "$question" |
        sed -n "s/^COPY .* FROM read_csv('\([^']*\)'.* TO '\([^']*\)' .*/\1 \2/p" |
        while read -r csv made; do
            echo rows
            echo $(($(wc -l < "$csv") - 1))
            : > "$made"
        done ;;
*)
    ANSWER ;;
esac
"#;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn recorded(name: &str) -> PathBuf {
    repository().join("recorded").join(name)
}

/// Folders to look for programs in, each with one DuckDB: the program, and the package of a Python. They
/// are those that `cargo xtask test` installs; none where it did not.
fn engines(folder: &Path) -> Vec<PathBuf> {
    let target = Path::new(env!("CARGO_BIN_EXE_scruple")).ancestors().nth(2).unwrap();
    let mut found = Vec::new();
    for name in ["duckdb", "python3"] {
        let program = target.join("duckdb/bin").join(name);
        if !program.exists() {
            println!("skipped: no {} (cargo xtask test installs it)", program.display());
            continue;
        }
        let place = folder.join(name);
        std::fs::create_dir(&place).unwrap();
        // Not a link: a Python finds its packages by where it lies.
        script(&place.join(name), &format!("#!/bin/sh\nexec '{}' \"$@\"\n", program.display()));
        found.push(place);
    }
    found
}

fn script(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// A folder with a fake DuckDB that gives this answer.
fn fake(folder: &Path, version: &str, answer: &str) -> PathBuf {
    let path = folder.join("duckdb");
    script(&path, &FAKE.replace("VERSION", version).replace("ANSWER", answer));
    path
}

const GOOD: &str = "v1.4.0 (Fake) 0123456789";

/// A query whose temporary files lie in a folder of their own.
fn query(scratch: &Path) -> Command {
    let mut command = scruple();
    command.arg("query").env("TMPDIR", scratch).env_remove("LC_ALL").stdin(Stdio::null());
    command
}

fn asked(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// The one line of a refusal; nothing is on standard output.
fn refused(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(output.stdout.is_empty(), "{}", said(&output));
    String::from_utf8(output.stderr).unwrap()
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

fn summary(session: &Path, page: &Path) -> model::Summary {
    let output =
        scruple().args(["report", "--json", "-o"]).arg(page).arg(session).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_database_arrives_at_the_numbers_of_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let questions = repository().join("docs/examples/sessions.sql");
    let mut known = Vec::new();
    for name in ["base", "later"] {
        let summary = summary(&recorded(name), &folder.path().join("page.html"));
        let create = summary.experiments.iter().find(|it| it.id == "create").unwrap();
        let finding = create.findings.iter().find(|it| it.id == "process_per_thread").unwrap();
        let trials = stored_trials(&recorded(name)).len();
        known.push((summary.session.clone(), trials, finding.result.clone()));
    }
    let scratch = tempfile::tempdir().unwrap();
    for engine in engines(folder.path()) {
        let mut command = query(scratch.path());
        command.env("PATH", &engine).arg("--file").arg(&questions);
        let answers = asked(command.args([recorded("base"), recorded("later")]));
        for (session, trials, result) in &known {
            let rows = answers.lines().filter(|line| line.starts_with(session.as_str()));
            let rows: Vec<Vec<&str>> = rows.map(|line| line.split(',').collect()).collect();
            let [there, ratio] = &rows[..] else { panic!("{session}: {answers}") };
            assert_eq!(there[3], trials.to_string(), "{answers}");
            // The question takes elapsed time as it was measured.
            if result.carried_by.is_none() {
                let truth = result.estimate.unwrap();
                let found: f64 = ratio[2].parse().unwrap();
                assert!(
                    (found / truth.point - 1.0).abs() < 1e-12,
                    "{found} is not {}",
                    truth.point
                );
                assert_eq!(ratio[3], truth.samples.to_string());
                println!("asked {}: {found}", engine.display());
            }
        }
        assert!(answers.contains("unsupported"), "{answers}");
        assert!(is_empty(scratch.path()));
    }
}

/// The tables of `--schema`: their columns, with their types.
fn schema(words: &[&Path]) -> BTreeMap<String, Vec<(String, String)>> {
    let text = asked(scruple().args(["query", "--schema"]).args(words));
    let (mut tables, mut table) = (BTreeMap::<String, Vec<_>>::new(), String::new());
    for line in text.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("  ") {
            None => table = line.split(':').next().unwrap().to_string(),
            Some(line) => {
                let mut words = line.split_whitespace().map(String::from);
                let column = (words.next().unwrap(), words.next().unwrap());
                tables.entry(table.clone()).or_default().push(column);
            }
        }
    }
    tables
}

#[test]
fn the_schema_is_what_the_database_has() {
    let folder = tempfile::tempdir().unwrap();
    let session = recorded("servers");
    let told = schema(&[&session]);
    assert_eq!(
        told.keys().collect::<Vec<_>>(),
        ["estimates", "sessions", "settings", "trials", "verdicts"]
    );
    let general = schema(&[]);
    assert!(general["trials"].contains(&("factor_NAME".into(), "VARCHAR".into())), "{general:?}");
    // The export's columns, so that one page describes both.
    let csv = asked(scruple().arg("export").arg(&session));
    let mut exported: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let mut names: Vec<&str> = told["trials"].iter().map(|(name, _)| name.as_str()).collect();
    exported.sort_unstable();
    names.sort_unstable();
    assert_eq!(names, exported);
    let rows = csv.lines().count() - 1;
    for engine in engines(folder.path()) {
        for (table, columns) in &told {
            let mut command = query(folder.path());
            command.env("PATH", &engine).arg(&session);
            let described = asked(command.arg(format!("DESCRIBE {table}")));
            let mut described: Vec<(String, String)> = described
                .lines()
                .skip(1)
                .map(|line| line.split(',').map(String::from).collect::<Vec<_>>())
                .map(|cells| (cells[0].clone(), cells[1].clone()))
                .collect();
            let mut columns = columns.clone();
            described.sort();
            columns.sort();
            assert_eq!(described, columns, "{table}");
        }
        let mut command = query(folder.path());
        command.env("PATH", &engine).args([&session, &session]);
        let counted = asked(command.arg("SELECT count(*), count(DISTINCT session) FROM trials"));
        assert_eq!(counted.lines().nth(1).unwrap(), format!("{rows},1"));
    }
}

#[test]
fn every_format_holds_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let question = "SELECT 'a,b|c' AS text, NULL AS nothing, asked, seed FROM sessions";
    for engine in engines(folder.path()) {
        let answer = |format: &str| {
            let mut command = query(folder.path());
            command.env("PATH", &engine).arg(recorded("servers")).arg(question);
            asked(command.args(["--format", format]))
        };
        assert_eq!(answer("csv"), "text,nothing,asked,seed\n\"a,b|c\",,run,20261125\n");
        let json: serde_json::Value = serde_json::from_str(&answer("json")).unwrap();
        assert_eq!(json[0]["text"], "a,b|c");
        assert_eq!(
            (&json[0]["nothing"], &json[0]["asked"]),
            (&serde_json::Value::Null, &"run".into())
        );
        let markdown = answer("markdown");
        assert!(markdown.contains("a,b\\|c") && markdown.lines().count() == 3, "{markdown}");
        let table = answer("table");
        assert!(table.contains("│ a,b|c") && table.contains("varchar"), "{table}");
    }
}

/// What would do something if it were read as SQL, as a pattern of files, or as CSV.
const HOSTILE: &str = "x'); COPY (SELECT 1) TO 'pwned'; --\"*[a]?,\n=1\u{0}";

#[test]
fn what_stands_in_a_session_never_becomes_sql() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join(HOSTILE.replace('\0', ""));
    std::fs::create_dir(&dir).unwrap();
    let known = recorded("servers");
    let quoted = serde_json::to_string(HOSTILE).unwrap();
    for file in ["manifest.json", "trials.ndjson"] {
        let text = std::fs::read_to_string(known.join(file)).unwrap();
        // A factor, and a level of it.
        let text = text.replace("\"arrivals\"", &quoted).replace("\"poisson_40\"", &quoted);
        std::fs::write(dir.join(file), text).unwrap();
    }
    change_manifest(&dir, |manifest| {
        manifest["session"] = HOSTILE.into();
        manifest["environment"]["host"] = HOSTILE.into();
        manifest["environment"]["settings"][HOSTILE] = HOSTILE.into();
    });
    let rows = asked(scruple().arg("export").arg(&known)).lines().count() - 1;
    for (index, engine) in engines(folder.path()).iter().enumerate() {
        let place = folder.path().join(format!("{index}"));
        let scratch = place.join(HOSTILE.replace('\0', ""));
        std::fs::create_dir_all(&scratch).unwrap();
        let mut command = query(&scratch);
        command.env("PATH", engine).current_dir(&place).arg(&dir);
        command.args(["--format", "json"]).arg(format!(
            "SELECT count(*) AS trials, any_value(session) AS session, any_value(host) AS host \
             FROM trials; SELECT folder, host FROM sessions; \
             SELECT value FROM settings WHERE setting LIKE 'x%'; SELECT column_name AS name FROM \
             (DESCRIBE trials) WHERE column_name LIKE '%pwned%'; SELECT {rows} AS rows"
        ));
        let text = asked(&mut command);
        let answers = serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>();
        let answers: Vec<serde_json::Value> = answers.collect::<Result<_, _>>().unwrap();
        let first = &answers[0][0];
        assert_eq!(first["trials"], rows, "{text}");
        for name in ["session", "host"] {
            assert_eq!(first[name], HOSTILE, "{name}");
        }
        assert_eq!(answers[1][0]["folder"], dir.to_str().unwrap());
        assert_eq!(
            (&answers[2][0]["value"], &answers[1][0]["host"]),
            (&HOSTILE.into(), &HOSTILE.into())
        );
        assert_eq!(answers[3][0]["name"], format!("factor_{HOSTILE}"));
        // Nothing beside the scratch's own folder, which is empty again.
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 1);
        assert!(is_empty(&scratch));
    }
}

fn change_manifest(dir: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let path = dir.join("manifest.json");
    let mut manifest = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    std::fs::write(path, manifest.to_string()).unwrap();
}

#[test]
fn an_error_in_the_question_is_told_in_the_databases_words() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    for engine in engines(folder.path()) {
        for (question, word) in [("selekt 1", "selekt"), ("SELECT nope FROM trials", "nope")] {
            let mut command = query(scratch.path());
            let why = refused(command.env("PATH", &engine).arg(recorded("servers")).arg(question));
            assert!(why.starts_with("error: DuckDB: ") && why.contains(word), "{why}");
            assert!(why.contains("LINE 1:") && !why.contains("Loading resources"), "{why}");
        }
        assert!(is_empty(scratch.path()));
    }
    // A DuckDB that ends with nothing to say.
    let place = folder.path().join("fake");
    std::fs::create_dir(&place).unwrap();
    fake(&place, GOOD, "exit 7");
    let mut command = query(scratch.path());
    let why = refused(command.env("PATH", with(&place)).arg(recorded("servers")).arg("SELECT 1"));
    assert!(why.contains("exit status: 7 and said nothing"), "{why}");
}

/// A path with a folder before the machine's own programs, which a fake is made of.
fn with(folder: &Path) -> String {
    format!("{}:/usr/bin:/bin", folder.display())
}

#[test]
fn without_a_database_it_is_said_how_to_get_one() {
    let folder = tempfile::tempdir().unwrap();
    let ask = |path: &Path| {
        refused(query(folder.path()).env("PATH", path).arg(recorded("servers")).arg("SELECT 1"))
    };
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let why = ask(&empty);
    assert!(
        why.contains("there is no duckdb on the PATH; there is no python3 on the PATH"),
        "{why}"
    );
    assert!(
        why.contains("`pip install duckdb-cli`") && why.contains("`pip install duckdb`"),
        "{why}"
    );
    for (version, part) in [
        (
            "v0.9.2 (Old) 3c695d7ba9",
            "it is DuckDB v0.9.2 (Old) 3c695d7ba9, and 1.0 or later is needed",
        ),
        ("a duck", "not one of DuckDB's: \"a duck\""),
    ] {
        fake(folder.path(), version, "exit 0");
        let why = ask(folder.path());
        assert!(why.contains(part) && why.contains("no python3"), "{why}");
    }
    // A Python without the package, and one with an old one.
    std::fs::remove_file(folder.path().join("duckdb")).unwrap();
    let python = folder.path().join("python3");
    script(&python, "#!/bin/sh\nexit 1\n");
    assert!(ask(folder.path()).contains("python3: it has no package duckdb"));
    script(&python, "#!/bin/sh\necho 0.8.1\n");
    assert!(ask(folder.path()).contains("python3: it is DuckDB 0.8.1"));
    // Who names one gets that one or none.
    let mut command = query(folder.path());
    command.env("PATH", with(folder.path())).args(["--duckdb", "/nowhere/duckdb"]);
    let why = refused(command.arg(recorded("servers")).arg("SELECT 1"));
    assert!(why.starts_with("error: --duckdb /nowhere/duckdb: there is no such program"), "{why}");
}

#[test]
fn wrong_words_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    fake(folder.path(), GOOD, "echo answered");
    let file = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (bytes, empty) = (file("bytes.sql", b"SELECT '\xff'"), file("empty.sql", b" \n"));
    let (session, nul) = (recorded("servers").display().to_string(), file("nul.sql", b"SELECT \0"));
    let in_it = folder.path().display().to_string();
    for (words, part) in [
        (&[session.as_str()][..], "is a folder; the question comes last"),
        (&["SELECT 1"], "no session to ask"),
        (&[&session, " "], "the question is empty"),
        (&[&in_it, "SELECT 1"], "is not a session, and holds none"),
        (&["/nowhere", "SELECT 1"], "cannot read /nowhere as a session"),
        (&[&session, "--file", "/nowhere"], "cannot read /nowhere"),
        (&[&session, "--file", "/dev/zero"], "/dev/zero has more than 1048576 bytes"),
        (&[&session, "--file", &bytes], "bytes.sql:1: not in UTF-8"),
        (&[&session, "--file", &empty], "empty.sql is empty"),
        (&[&session, "--file", &nul], "there is a NUL in it"),
        (&[&session, "-"], "standard input is empty"),
        (&[&session, "SELECT 1", "--keep", &session], "that is a session's folder"),
        (&[&session, "SELECT 1", "--keep", "/proc/none"], "--keep /proc/none: cannot write there"),
    ] {
        let mut command = query(folder.path());
        let why = refused(command.env("PATH", with(folder.path())).args(words));
        let line = why.lines().find(|line| line.starts_with("error: ")).unwrap();
        assert!(line.contains(part), "{words:?}: {why}");
    }
    let mut command = query(Path::new("/nowhere"));
    command.env("PATH", with(folder.path())).args([&session, "SELECT 1"]);
    let why = refused(&mut command);
    assert!(why.contains("cannot make a folder in /nowhere") && why.contains("TMPDIR"), "{why}");
}

#[test]
fn a_table_of_the_wrong_length_is_an_error_and_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let liar = FAKE.replace("VERSION", GOOD).replace("ANSWER", "echo answered").replace(" - 1", "");
    script(&folder.path().join("duckdb"), &liar);
    let mut command = query(folder.path());
    let why =
        refused(command.env("PATH", with(folder.path())).arg(recorded("servers")).arg("SELECT 1"));
    let said = why.split_once("recorded/servers: DuckDB read ").expect(&why).1;
    let mut counts = said.split_whitespace().filter_map(|word| word.parse::<usize>().ok());
    let (read, written) = (counts.next().unwrap(), counts.next().unwrap());
    assert_eq!(read, written + 1, "{why}");
}

#[test]
fn tables_are_kept_while_their_session_is_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let [session, copy, keep, scratch] =
        ["session", "copy", "keep", "scratch"].map(|name| folder.path().join(name));
    for dir in [&session, &copy, &scratch] {
        std::fs::create_dir(dir).unwrap();
    }
    for dir in [&session, &copy] {
        for file in ["manifest.json", "trials.ndjson"] {
            std::fs::copy(recorded("servers").join(file), dir.join(file)).unwrap();
        }
    }
    // The same name, measured by another seed.
    change_manifest(&copy, |manifest| manifest["seed"] = 7.into());
    fake(folder.path(), GOOD, "echo answered");
    let ask = || -> Output {
        let mut command = query(&scratch);
        command.env("PATH", with(folder.path())).arg("--keep").arg(&keep);
        let output = command.arg(folder.path()).arg("SELECT 1").output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(output.stdout, b"answered\n");
        output
    };
    let tables = || -> Vec<(PathBuf, u64)> {
        let entries = std::fs::read_dir(&keep).unwrap().flatten();
        let mut found: Vec<_> = entries
            .map(|it| (it.path(), std::os::unix::fs::MetadataExt::ino(&it.metadata().unwrap())))
            .collect();
        found.sort();
        found
    };
    let first = ask();
    let told = String::from_utf8(first.stderr).unwrap();
    assert!(told.contains("there are several sessions called"), "{told}");
    std::fs::write(keep.join("mine.parquet"), "somebody's own").unwrap();
    let before = tables();
    assert_eq!(before.len(), 3, "{before:?}");
    ask();
    assert_eq!(tables(), before);
    // A trial fewer: that table is made anew, and the old one goes.
    let path = session.join("trials.ndjson");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.trim_end().rfind('\n').unwrap() + 1]).unwrap();
    ask();
    let after = tables();
    assert_eq!(after.len(), 3, "{after:?}");
    assert_eq!(after.iter().filter(|it| before.contains(it)).count(), 2, "{after:?}");
    // What is odd is said each time, and so not kept.
    std::fs::write(&path, text + "{\"torn").unwrap();
    for _ in 0..2 {
        let told = String::from_utf8(ask().stderr).unwrap();
        assert!(told.contains("is torn"), "{told}");
    }
    assert!(is_empty(&scratch));
}

#[test]
fn an_interrupted_question_leaves_nothing() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    fake(
        folder.path(),
        GOOD,
        &format!("echo $$ > '{0}.new'; mv '{0}.new' '{0}'; sleep 1000", pid.display()),
    );
    let mut command = query(scratch.path());
    command.env("PATH", with(folder.path())).arg(recorded("servers")).arg("SELECT 1");
    let child = interruptible(&mut command);
    let end = Instant::now() + Duration::from_secs(120);
    while !pid.exists() {
        assert!(Instant::now() < end, "it was never asked");
        std::thread::sleep(Duration::from_millis(10));
    }
    sys::process::kill(child.id().try_into().unwrap(), signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(is_empty(scratch.path()));
    let group: i32 = std::fs::read_to_string(pid).unwrap().trim().parse().unwrap();
    // They were killed; the kernel ends those that nobody waits for in its own time.
    let end = Instant::now() + Duration::from_secs(120);
    while !sys::process::group_members(group).is_empty() {
        assert!(Instant::now() < end, "it still runs");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    fake(folder.path(), GOOD, "exec yes");
    let mut command = query(scratch.path());
    command.env("PATH", with(folder.path())).arg(recorded("servers")).arg("SELECT 1");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", said(&output));
    assert!(is_empty(scratch.path()));
}
