//! The questions of docs/query.md, asked as they stand there, of tables of the recorded sessions.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::*;

/// What asks all questions of a file, and prints the answers as CSV.
const BY_PYTHON: &str = "\
import duckdb, sys
for statement in duckdb.extract_statements(open(sys.argv[1]).read()):
    answer = duckdb.execute(statement)
    for row in answer.fetchall():
        print(','.join(str(cell) for cell in row))
";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// DuckDB as a program or as a package of Python; `None` where there is neither.
fn asked(questions: &Path, folder: &Path) -> Option<String> {
    let runs = |command: &mut Command| command.output().is_ok_and(|it| it.status.success());
    let mut command = if runs(Command::new("duckdb").arg("--version")) {
        let mut command = Command::new("duckdb");
        command.arg("-csv").stdin(std::fs::File::open(questions).unwrap());
        command
    } else if runs(Command::new("python3").args(["-c", "import duckdb"])) {
        let mut command = Command::new("python3");
        command.args(["-c", BY_PYTHON]).arg(questions).stdin(Stdio::null());
        command
    } else {
        return None;
    };
    let output = command.current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_database_arrives_at_the_numbers_of_the_report() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("tables")).unwrap();
    let mut known = Vec::new();
    for name in ["base", "later"] {
        let session = repository().join("recorded").join(name);
        let table = folder.path().join(format!("tables/{name}.csv"));
        let output = scruple().arg("export").arg(&session).arg("-o").arg(table).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let page = folder.path().join("page.html");
        let output =
            scruple().args(["report", "--json", "-o"]).arg(page).arg(&session).output().unwrap();
        let summary: model::Summary = serde_json::from_slice(&output.stdout).unwrap();
        let create = summary.experiments.iter().find(|it| it.id == "create").unwrap();
        let finding = create.findings.iter().find(|it| it.id == "process_per_thread").unwrap();
        let trials = stored_trials(&session).len();
        known.push((summary.session.clone(), trials, finding.result.clone()));
    }
    let questions = repository().join("docs/examples/sessions.sql");
    let Some(answers) = asked(&questions, folder.path()) else {
        println!("NOT RUN: docs/examples/sessions.sql: no duckdb, and no python3 with duckdb");
        return;
    };
    for (session, trials, result) in known {
        let rows = answers.lines().filter(|line| line.starts_with(&session));
        let rows: Vec<Vec<&str>> = rows.map(|line| line.split(',').collect()).collect();
        let [there, ratio] = &rows[..] else { panic!("{session}: {answers}") };
        assert_eq!(there[3], trials.to_string(), "{answers}");
        // The question takes the CPU time, which is what carried the finding of the first.
        if result.carried_by.as_deref() == Some("cpu_ns") {
            let (found, truth) = (ratio[2].parse::<f64>().unwrap(), result.estimate.unwrap());
            assert!((found / truth.point - 1.0).abs() < 1e-12, "{found} is not {}", truth.point);
            assert_eq!(ratio[3], truth.samples.to_string());
            println!("ran docs/examples/sessions.sql: {found}");
        }
    }
    assert!(answers.contains("unsupported"), "{answers}");
}
