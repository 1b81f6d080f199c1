//! `scruple export`: a recorded session in every layout, and everything that can go wrong.

use crate::support::*;
use model::{Outcome, Record};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn recorded(name: &str) -> PathBuf {
    repository().join("recorded").join(name)
}

fn export(session: &Path, words: &[&str]) -> Output {
    scruple().arg("export").arg(session).args(words).output().unwrap()
}

/// What an export of the recorded session printed.
fn exported(words: &[&str]) -> String {
    let output = export(&recorded("base"), words);
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// What a wrong export said; it ends with code 2 and prints nothing.
fn refused(session: &Path, words: &[&str]) -> String {
    let output = export(session, words);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(output.stdout.is_empty(), "{}", said(&output));
    String::from_utf8(output.stderr).unwrap()
}

fn summary(stored: &store::Stored) -> model::Summary {
    analysis::summarise(&analysis::Input {
        scruple: "test",
        session: &stored.manifest.session,
        complete: true,
        environment: &stored.manifest.environment,
        shield: &stored.manifest.shield,
        designs: &stored.manifest.designs,
        records: &stored.records,
    })
}

/// Everything in a folder, with its bytes.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(dir).unwrap().flatten();
    entries.map(|entry| (entry.path(), std::fs::read(entry.path()).unwrap())).collect()
}

/// Rows of a CSV without line breaks in its cells: the recorded sessions have none.
fn rows(csv: &str) -> Vec<Vec<&str>> {
    csv.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

#[test]
fn the_table_has_a_row_for_every_trial_and_response() {
    let before = contents(&recorded("base"));
    let csv = exported(&[]);
    assert_eq!(contents(&recorded("base")), before, "the session was written to");
    let stored = store::open(&recorded("base")).unwrap();
    let responses = |id: &str| {
        let design = stored.manifest.designs.iter().find(|design| design.id == id);
        design.unwrap().responses.len()
    };
    let expected: usize = stored.records.iter().map(|record| responses(&record.experiment)).sum();
    assert_eq!(csv.lines().count(), expected + 1);
    let refused = csv.lines().filter(|line| line.contains(",unsupported,")).count();
    let unsupported =
        |record: &&model::Record| matches!(record.outcome, model::Outcome::Unsupported { .. });
    let trials: usize =
        stored.records.iter().filter(unsupported).map(|record| responses(&record.experiment)).sum();
    assert!(refused > 0 && refused == trials, "{refused} rows of {trials} refused trials");
    // A part of it is that part.
    let words = ["--experiment", "clock,null", "--response", "read_ns"];
    let noted = String::from_utf8(export(&recorded("base"), &words).stderr).unwrap();
    assert!(noted.contains("null has no read_ns") && !noted.contains("clock has no"), "{noted}");
    let part = exported(&words);
    let clock = stored.records.iter().filter(|record| record.experiment == "clock").count();
    assert_eq!(rows(&part).len(), clock);
    assert!(rows(&part).iter().all(|row| row[2] == "clock"));
}

#[test]
fn the_table_gives_every_estimate_of_the_summary() {
    let csv = exported(&[]);
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let place = |name: &str| head.iter().position(|one| *one == name).unwrap();
    let columns = ["experiment", "treatment", "response", "value", "unit"].map(place);
    let mut values: BTreeMap<[String; 4], Vec<f64>> = BTreeMap::new();
    for row in rows(&csv) {
        let [experiment, treatment, response, value, unit] = columns.map(|at| row[at].to_string());
        if !value.is_empty() {
            let of = values.entry([experiment, treatment, response, unit]).or_default();
            of.push(value.parse().unwrap());
        }
    }
    let stored = store::open(&recorded("base")).unwrap();
    let summary = summary(&stored);
    for (experiment, design) in summary.experiments.iter().zip(&stored.manifest.designs) {
        assert_eq!(experiment.id, design.id);
        for row in &experiment.estimates {
            let (treatment, unit) = (row.treatment.to_string(), serde_json::json!(row.unit));
            let unit = unit.as_str().or_else(|| unit["other"].as_str()).unwrap();
            let key = [experiment.id.clone(), treatment, row.response.clone(), unit.to_string()];
            let mut of = values.remove(&key).unwrap_or_default();
            let Some(estimate) = row.estimate else {
                assert!(of.len() < 2, "{key:?}");
                continue;
            };
            of.sort_by(f64::total_cmp);
            let middle = (of[(of.len() - 1) / 2] + of[of.len() / 2]) / 2.0;
            // The table has every trial as it was measured, a corrected row what others took from some.
            let is_near = (middle - estimate.point).abs() <= 1e-9 * middle.abs();
            let is_less = row.carried_by.is_some() && estimate.point < middle;
            // A row that is a frequency has all events among all chances.
            let is_among = design.is_frequency(&row.response)
                && of[0] <= estimate.point
                && estimate.point <= of[of.len() - 1];
            assert!(is_near || is_less || is_among, "{key:?}: {middle}");
            assert_eq!(of.len(), estimate.samples as usize, "{key:?}");
        }
    }
    assert!(values.is_empty(), "in the table alone: {:?}", values.keys());
}

#[test]
fn the_observations_are_all_there() {
    let csv = exported(&["--observations", "--experiment", "clock"]);
    let stored = store::open(&recorded("base")).unwrap();
    let mut series = 0;
    for record in stored.records.iter().filter(|record| record.experiment == "clock") {
        for one in &record.measured.as_ref().unwrap().series {
            series += one.values.len();
        }
    }
    let column = csv.lines().next().unwrap().split(',').position(|name| name == "observation");
    let (with, without): (Vec<Vec<&str>>, Vec<Vec<&str>>) =
        rows(&csv).into_iter().partition(|row| !row[column.unwrap()].is_empty());
    assert!(series > 1000 && with.len() == series, "{} rows of {series}", with.len());
    // A trial that did not observe a response is a row, too.
    let mut silent = 0;
    let clock = stored.manifest.designs.iter().find(|design| design.id == "clock").unwrap();
    for record in stored.records.iter().filter(|record| record.experiment == "clock") {
        let series = &record.measured.as_ref().unwrap().series;
        let observed =
            |name: &str| series.iter().any(|one| one.response == name && !one.values.is_empty());
        silent += clock.responses.iter().filter(|response| !observed(&response.name)).count();
    }
    assert_eq!(without.len(), silent);
}

#[test]
fn bencher_gets_the_numbers_of_the_summary() {
    let json: Value = serde_json::from_str(&exported(&["--format", "bencher"])).unwrap();
    let summary = summary(&store::open(&recorded("base")).unwrap());
    let mut seen = 0;
    for experiment in &summary.experiments {
        for row in &experiment.estimates {
            let name = format!("{} {}", experiment.id, row.treatment);
            let metric = &json[&name][row.response.replace('_', "-")];
            let Some(estimate) = row.estimate else {
                assert!(metric["lower_value"].is_null(), "{name} {}", row.response);
                seen += usize::from(!metric.is_null());
                continue;
            };
            assert_eq!(metric["value"], estimate.point, "{name} {}", row.response);
            assert_eq!(metric["lower_value"], estimate.low, "{name} {}", row.response);
            assert_eq!(metric["upper_value"], estimate.high, "{name} {}", row.response);
            seen += 1;
        }
    }
    let all: usize =
        json.as_object().unwrap().values().map(|it| it.as_object().unwrap().len()).sum();
    assert!(seen > 500 && seen == all, "{seen} of {all}");
}

#[test]
fn hyperfine_gets_every_time_in_seconds() {
    let output = export(&recorded("base"), &["--format", "hyperfine"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = json["results"].as_array().unwrap();
    let stored = store::open(&recorded("base")).unwrap();
    let incomplete = |record: &&Record| !matches!(record.outcome, Outcome::Completed { .. });
    let incomplete = stored.records.iter().filter(incomplete).count();
    let summary = summary(&stored);
    let times = summary.experiments.iter().flat_map(|experiment| {
        let times = experiment.estimates.iter().filter(|row| row.unit == model::Unit::Ns);
        times.map(|row| {
            let command = format!("{} {} {}", experiment.id, row.response, row.treatment);
            (command, (row.estimate.unwrap(), row.carried_by.is_some()))
        })
    });
    let times: BTreeMap<String, (model::Estimate, bool)> = times.collect();
    assert_eq!(results.len(), times.len());
    for result in results {
        let (estimate, is_corrected) = times[result["command"].as_str().unwrap()];
        let median_ns = 1e9 * result["median"].as_f64().unwrap();
        let is_near = (median_ns - estimate.point).abs() <= 1e-9 * estimate.point.abs();
        assert!(is_near || is_corrected && estimate.point < median_ns, "{result}");
        let times = result["times"].as_array().unwrap();
        assert_eq!(times.len(), estimate.samples as usize, "{result}");
        assert_eq!(result["exit_codes"].as_array().unwrap().len(), times.len());
    }
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("responses that are no times"), "{told}");
    assert!(told.contains(&format!("{incomplete} trials that did not complete")), "{told}");
}

#[test]
fn google_benchmark_gets_names_that_two_sessions_share() {
    let names = |session: &str| -> BTreeSet<String> {
        let words = ["--format", "google-benchmark", "--experiment", "create,clock"];
        let output = export(&recorded(session), &words);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let entries = json["benchmarks"].as_array().unwrap().iter();
        let names = entries.map(|entry| entry["name"].as_str().unwrap().to_string());
        // A coefficient of variation exists only where the mean is not zero.
        names.filter(|name| !name.ends_with("_cv")).collect()
    };
    let (base, later) = (names("base"), names("later"));
    assert!(base.len() > 100);
    assert_eq!(base, later, "compare.py compares what has one name");
}

#[test]
fn the_format_is_told_by_the_ending_where_it_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let base = recorded("base");
    let output = export(&base, &["--output", &path("a.CSV"), "--experiment", "null"]);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", said(&output));
    assert_eq!(
        std::fs::read_to_string(path("a.CSV")).unwrap(),
        exported(&["--format", "csv", "--experiment", "null", "-o", "-"])
    );
    let wrong = refused(&base, &["--output", &path("a.json")]);
    assert!(wrong.contains("--format hyperfine, google-benchmark or bencher"), "{wrong}");
    let wrong = refused(&base, &["--output", &path("a")]);
    assert!(wrong.contains("does not tell the format"), "{wrong}");
    assert_eq!(contents(folder.path()).len(), 1, "nothing else was left");
}

#[test]
fn wrong_names_and_folders_are_told_in_one_line() {
    let base = recorded("base");
    let one_line = |words: &[&str], parts: &[&str]| {
        let wrong = refused(&base, words);
        assert_eq!(wrong.trim_end().lines().count(), 1, "{wrong}");
        assert!(parts.iter().all(|part| wrong.contains(part)), "{wrong}");
    };
    one_line(&["--experiment", "creat"], &["\"creat\"", "create"]);
    one_line(&["--response", "none_ns"], &["no response", "\"none_ns\""]);
    let mixed = ["--observations", "--format", "bencher"];
    one_line(&mixed, &["--observations", "csv and parquet"]);
    one_line(&["--output", "/nonexistent/x.csv"], &["/nonexistent/x.csv", "No such file"]);
    assert!(refused(&base, &["--format", "xml"]).contains("google-benchmark"));
    let missing = refused(Path::new("/nonexistent"), &[]);
    assert!(missing.contains("/nonexistent"), "{missing}");
}

#[test]
fn a_full_disk_is_told_and_a_reader_may_leave() {
    let base = recorded("base");
    for format in ["csv", "hyperfine", "google-benchmark", "bencher"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = scruple();
        command.arg("export").arg(&base).args(["--format", format]);
        let output = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{format}: {}", said(&output));
        assert!(said(&output).contains("No space left"), "{format}: {}", said(&output));
        let wrong = refused(&base, &["--format", format, "--output", "/dev/full"]);
        assert!(wrong.contains("/dev/full") && wrong.contains("No space left"), "{wrong}");

        let mut command = scruple();
        command.arg("export").arg(&base).args(["--format", format]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 16];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{format}: {}", said(&output));
        assert!(output.stderr.is_empty(), "{format}: {}", said(&output));
    }
}

#[test]
fn an_export_never_replaces_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    for name in ["manifest.json", "trials.ndjson"] {
        std::fs::copy(recorded("later").join(name), dir.join(name)).unwrap();
    }
    let before = contents(dir);
    for name in ["manifest.json", "trials.ndjson", "summary.json"] {
        let path = dir.join(name).display().to_string();
        let wrong = refused(dir, &["--format", "csv", "--output", &path]);
        assert!(wrong.contains("a file of a session"), "{wrong}");
    }
    assert_eq!(contents(dir), before);
}

#[test]
fn interrupted_it_leaves_nothing_of_the_file() {
    let base = recorded("base");
    let folder = tempfile::tempdir().unwrap();
    let entries = || -> Vec<String> {
        let entries = std::fs::read_dir(folder.path()).unwrap().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
    };
    let mut interrupted = 0;
    for _ in 0..30 {
        let mut command = scruple();
        command.arg("export").arg(&base).args(["--observations", "--output"]);
        let mut child = interruptible(command.arg(folder.path().join("all.csv")));
        while entries().is_empty() && child.try_wait().unwrap().is_none() {}
        sys::process::kill(child.id() as i32, sys::signal::SIGINT).unwrap();
        let output = child.wait_with_output().unwrap();
        match output.status.code() {
            Some(0) => assert_eq!(entries(), ["all.csv"]),
            Some(3) => {
                interrupted += 1;
                assert!(said(&output).contains("interrupted"), "{}", said(&output));
                assert!(entries().is_empty(), "{:?} is left", entries());
            }
            _ => panic!("{}", said(&output)),
        }
        let _ = std::fs::remove_file(folder.path().join("all.csv"));
    }
    assert!(interrupted > 0, "no export was interrupted: this has tested nothing");
}

#[test]
#[cfg(not(feature = "parquet"))]
fn without_parquet_it_is_said_how_to_get_it() {
    let told = refused(&recorded("base"), &["--format", "parquet"]);
    assert!(told.contains("cargo build --release --features parquet"), "{told}");
    assert!(told.contains("duckdb"), "{told}");
}

/// The numbers behind the words of the last line that an example printed.
fn ratio(printed: &str) -> Option<[f64; 3]> {
    let line = printed.lines().find(|line| line.starts_with("ratio fork/pthread "))?;
    let words: Vec<&str> = line.split(' ').collect();
    Some([words.get(2)?, words.get(4)?, words.get(6)?].map(|word| word.parse().unwrap()))
}

#[test]
fn the_examples_arrive_at_the_numbers_of_the_summary() {
    let summary = summary(&store::open(&recorded("base")).unwrap());
    let create = summary.experiments.iter().find(|it| it.id == "create").unwrap();
    let finding = create.findings.iter().find(|it| it.id == "process_per_thread").unwrap();
    // The examples take elapsed time as it was measured.
    assert_eq!(finding.result.carried_by, None);
    let truth = finding.result.estimate.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("session.csv");
    std::fs::write(&csv, exported(&[])).unwrap();
    for (program, check, file) in [
        ("python3", &["-c", "import pandas"][..], "with_pandas.py"),
        ("python3", &["-c", "import polars"][..], "with_polars.py"),
        ("Rscript", &["--version"][..], "with_base.R"),
    ] {
        let there = Command::new(program).args(check).output();
        if !there.is_ok_and(|output| output.status.success()) {
            println!("skipped: docs/examples/{file}: no {program} {}", check.join(" "));
            continue;
        }
        let example = repository().join("docs/examples").join(file);
        let output = Command::new(program).arg(&example).arg(&csv).output().unwrap();
        assert!(output.status.success(), "{file}: {}", said(&output));
        let printed = String::from_utf8(output.stdout).unwrap();
        let found = ratio(&printed).unwrap_or_else(|| panic!("{file}: {printed}"));
        for (found, truth) in found.iter().zip([truth.point, truth.low, truth.high]) {
            assert!((found / truth - 1.0).abs() < 1e-5, "{file}: {found} is not {truth}");
        }
        println!("ran docs/examples/{file}: {found:?}");
    }
}
