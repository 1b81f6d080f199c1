//! What is written comes back, and what was torn is cut off.

use crate::scale;
use crate::support;
use crate::support::{manifest, record};
use model::{
    BLOCKS_MAX, Check, Counters, Measured, Outcome, Phase, ProcessUsage, Record, SESSION_FORMAT,
    Series, Surroundings, Treatment,
};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use store::{Error, LINE_BYTES_MAX, Pages, Place, TRIALS_BYTES_MAX, Torn, Writer, open};
use tempfile::TempDir;

fn session(records: &[Record]) -> TempDir {
    let dir = TempDir::new().unwrap();
    let mut writer = Writer::create(dir.path(), &manifest()).unwrap();
    records.iter().for_each(|record| writer.append(record).unwrap());
    dir
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn message<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("there is no error"),
        Err(error) => error.to_string(),
    }
}

prop_compose! {
    fn any_measured()(
        series in prop::collection::vec(("[a-z_]{1,9}", 1u64.., prop::collection::vec(any::<i64>(), 0..20)), 0..4),
        checks in prop::collection::vec((any::<String>(), finite(), finite(), finite()), 0..4),
        wall_ns in any::<u64>(),
        minor_faults in any::<Option<u64>>(),
        pmu in prop::collection::btree_map("[a-z]{1,5}", any::<u64>(), 0..3),
    ) -> Measured {
        Measured {
            series: series
                .into_iter()
                .map(|(response, per, values)| Series { response: response.into(), per, values })
                .collect(),
            counters: Counters { wall_ns, minor_faults, pmu: pmu.into(), ..Counters::default() },
            checks: checks
                .into_iter()
                .map(|(name, seen, low, high)| {
                    let name = name.into();
                    Check { name, seen, low, high, wants_cpus: seen < 0.0 }
                })
                .collect(),
            calibration: minor_faults.map(|ns| model::Calibration { before_ns: ns, after_ns: wall_ns }),
            exhibits: Vec::new(),
            waits: None,
        }
    }
}

fn finite() -> impl Strategy<Value = f64> {
    use prop::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    let phase = prop_oneof![Just(Phase::SettingUp), Just(Phase::Measuring), Just(Phase::Ending)];
    prop_oneof![
        any::<u32>().prop_map(|leaked| Outcome::Completed { leaked }),
        any::<String>().prop_map(|reason| Outcome::Unsupported { reason }),
        any::<String>().prop_map(|reason| Outcome::Failed { reason }),
        (any::<i32>(), phase.clone()).prop_map(|(signal, phase)| Outcome::Died { signal, phase }),
        phase.clone().prop_map(|phase| Outcome::TimedOut { phase }),
        phase.prop_map(|phase| Outcome::OutOfMemory { phase }),
        any::<String>().prop_map(|reason| Outcome::ProtocolViolated { reason }),
    ]
}

prop_compose! {
    fn any_record()(
        trial in any::<u64>(),
        block in 0..BLOCKS_MAX,
        model in prop::sample::select(vec!["thread", "process"]),
        observed in prop::collection::btree_map(any::<String>(), any::<String>(), 0..4),
        outcome in any_outcome(),
        measured in prop::option::of(any_measured()),
        spawn_to_ready_ns in any::<Option<u64>>(),
        steal_ns in any::<Option<u64>>(),
        user_ns in any::<Option<u64>>(),
        log in any::<String>(),
    ) -> Record {
        Record {
            block,
            treatment: Treatment::from_iter([("model".into(), model.into())]),
            outcome,
            observed: observed.into(),
            measured,
            process: user_ns.map(|user_ns| ProcessUsage { user_ns, ..ProcessUsage::default() }),
            spawn_to_ready_ns,
            machine: Surroundings { steal_ns, ..Surroundings::default() },
            log,
            ..record(trial)
        }
    }
}

proptest! {
    #![proptest_config(scale::at_scale(48))]

    #[test]
    fn what_is_appended_comes_back(mut records in prop::collection::vec(any_record(), 0..6)) {
        // No two are of one trial.
        for (index, record) in (0..).zip(&mut records) {
            record.block = record.block / 8 * 8 % (BLOCKS_MAX - 8) + index;
        }
        let dir = session(&records);
        let stored = open(dir.path()).unwrap();
        prop_assert_eq!(&stored.records, &records);
        prop_assert_eq!(&stored.manifest, &manifest());
        prop_assert_eq!(stored.torn, None);
        let (writer, resumed) = Writer::resume(dir.path()).unwrap();
        prop_assert_eq!(resumed, stored);
        drop(writer);
        prop_assert_eq!(names(dir.path()), ["manifest.json", "trials.ndjson"]);
    }
}

#[test]
fn a_last_line_torn_at_any_byte_is_reported_and_cut_off() {
    let dir = session(&[record(0), record(1)]);
    let trials = dir.path().join("trials.ndjson");
    let whole = fs::read(&trials).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for end in first..whole.len() {
        fs::write(&trials, &whole[..end]).unwrap();
        let torn = (end > first).then_some(Torn { line: 2, bytes: (end - first) as u64 });
        let stored = open(dir.path()).unwrap();
        assert_eq!((stored.records.as_slice(), stored.torn), (&[record(0)][..], torn));
        assert_eq!(fs::read(&trials).unwrap(), whole[..end], "reading changes nothing");

        let (mut writer, stored) = Writer::resume(dir.path()).unwrap();
        assert_eq!((stored.records.as_slice(), stored.torn), (&[record(0)][..], torn));
        assert_eq!(fs::read(&trials).unwrap(), whole[..first], "resuming cuts");
        if end % 16 == 0 {
            writer.append(&record(1)).unwrap();
            assert_eq!(fs::read(&trials).unwrap(), whole);
        }
    }
}

#[test]
fn a_file_cut_at_any_byte_of_any_line_is_a_prefix_of_the_session() {
    let records: Vec<Record> = (0..3).map(record).collect();
    let dir = session(&records);
    let trials = dir.path().join("trials.ndjson");
    let whole = fs::read(&trials).unwrap();
    for end in 0..=whole.len() {
        fs::write(&trials, &whole[..end]).unwrap();
        let stored = open(dir.path()).unwrap();
        let lines = whole[..end].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(stored.records, records[..lines]);
        assert_eq!(stored.torn.is_some(), end > 0 && whole[end - 1] != b'\n');
    }
}

#[test]
fn a_damaged_line_is_left_out_and_named_until_they_are_more_than_the_records() {
    let dir = session(&[record(0), record(1)]);
    let trials = dir.path().join("trials.ndjson");
    let whole = fs::read_to_string(&trials).unwrap();
    for (line, what) in [
        ("rubbish\n", "expected value (column 1)"),
        ("\n", "EOF while parsing a value"),
        ("{}\n", "missing field `trial` (column 2)"),
        ("\0\0\0\0\n", "expected value (column 1)"),
    ] {
        fs::write(&trials, whole.replacen('\n', &format!("\n{line}"), 1)).unwrap();
        let stored = open(dir.path()).unwrap();
        assert_eq!(stored.records, [record(0), record(1)]);
        let [(2, found)] = &stored.damage.first[..] else { panic!("{:?}", stored.damage) };
        assert!(found.contains("this is not a record") && found.contains(what), "{found}");
        let (mut writer, resumed) = Writer::resume(dir.path()).unwrap();
        assert_eq!(resumed, stored);
        writer.append(&record(2)).unwrap();
        drop(writer);
        let stored = open(dir.path()).unwrap();
        assert_eq!((stored.records.len(), stored.damage.lines), (3, 1));

        fs::write(&trials, whole.replacen('\n', &format!("\n{line}{line}{line}"), 1)).unwrap();
        let text = message(open(dir.path()));
        assert!(text.contains("trials.ndjson, line 2: this is not a record"), "{text}");
        assert_eq!(message(Writer::resume(dir.path())), text);
        assert_eq!(names(dir.path()), ["manifest.json", "trials.ndjson"]);
    }
}

/// Whatever somebody does to the two files, the next check finds it; one that leaves their content finds nothing.
#[test]
fn files_that_are_changed_while_they_are_written_are_noticed() {
    use std::os::unix::fs::{FileExt, PermissionsExt};
    type Edit = fn(&Path, &Path);
    let reopened = |path: &Path| fs::OpenOptions::new().write(true).open(path).unwrap();
    let edits: [(&str, Option<Place>, Edit); 12] = [
        ("nothing", None, |_, _| {}),
        ("chmod", None, |trials, _| {
            fs::set_permissions(trials, fs::Permissions::from_mode(0o600)).unwrap();
        }),
        ("the same content", None, |trials, manifest| {
            fs::write(trials, fs::read(trials).unwrap()).unwrap();
            fs::write(manifest, fs::read(manifest).unwrap()).unwrap();
        }),
        ("an equal manifest in its place", None, |_, manifest| {
            let other = manifest.with_extension("other");
            fs::copy(manifest, &other).unwrap();
            fs::rename(other, manifest).unwrap();
        }),
        ("cut", Some(Place::Changed), |trials, _| fs::write(trials, "").unwrap()),
        ("a line less", Some(Place::Changed), |trials, _| {
            let text = fs::read_to_string(trials).unwrap();
            fs::write(trials, text.split_once('\n').unwrap().1).unwrap();
        }),
        ("other bytes, as many", Some(Place::Changed), |trials, _| {
            let file = fs::OpenOptions::new().write(true).open(trials).unwrap();
            file.write_all_at(b"  ", 1).unwrap();
        }),
        ("a line more", Some(Place::Changed), |trials, _| {
            let text = fs::read_to_string(trials).unwrap();
            fs::write(trials, text + "foreign\n").unwrap();
        }),
        ("trials removed", Some(Place::Removed), |trials, _| fs::remove_file(trials).unwrap()),
        ("manifest removed", Some(Place::Removed), |_, manifest| {
            fs::remove_file(manifest).unwrap();
        }),
        ("manifest emptied", Some(Place::Changed), |_, manifest| fs::write(manifest, "").unwrap()),
        ("another manifest in its place", Some(Place::Changed), |_, manifest| {
            let text = fs::read_to_string(manifest).unwrap();
            fs::remove_file(manifest).unwrap();
            fs::write(manifest, text.replace("\"seed\": ", "\"seed\": 1")).unwrap();
        }),
    ];
    for (name, wanted, edit) in edits {
        let dir = session(&[record(0), record(1)]);
        let (trials, manifest) =
            (dir.path().join("trials.ndjson"), dir.path().join("manifest.json"));
        let (mut writer, _) = Writer::resume(dir.path()).unwrap();
        writer.append(&record(2)).unwrap();
        edit(&trials, &manifest);
        let found = |checked| match checked {
            Ok(()) => None,
            Err(Error::Displaced { place, .. }) => Some(place),
            Err(error) => panic!("{name}: {error}"),
        };
        assert_eq!(found(writer.must_be_whole()), wanted, "{name}");
        assert_eq!(found(writer.must_be_in_place()), wanted, "{name}");
    }
    // An edit at the very time of the last write, as far as the kernel's clock tells.
    let dir = session(&[record(0)]);
    let trials = dir.path().join("trials.ndjson");
    let (writer, _) = Writer::resume(dir.path()).unwrap();
    let file = reopened(&trials);
    let time = file.metadata().unwrap().modified().unwrap();
    file.write_all_at(b"  ", 1).unwrap();
    file.set_modified(time).unwrap();
    assert!(matches!(writer.must_be_whole(), Err(Error::Displaced { .. })));
}

#[test]
fn a_line_beyond_the_limit_is_an_error_and_not_memory() {
    let dir = session(&[record(0)]);
    let trials = dir.path().join("trials.ndjson");
    let file = fs::OpenOptions::new().append(true).open(&trials).unwrap();
    // A hole: reading it all would end this test, or the machine.
    file.set_len(TRIALS_BYTES_MAX).unwrap();
    let text = message(open(dir.path()));
    assert!(text.contains("line 2: longer than"), "{text}");
}

#[test]
fn a_file_beyond_the_limit_is_refused_by_its_length_alone() {
    let dir = session(&[record(0)]);
    let trials = dir.path().join("trials.ndjson");
    let file = fs::OpenOptions::new().append(true).open(&trials).unwrap();
    for length in [TRIALS_BYTES_MAX + 1, 1 << 40] {
        file.set_len(length).unwrap();
        let text = message(open(dir.path()));
        let told =
            format!("trials.ndjson has {length} bytes, and a session has at most 1073741824");
        assert!(text.contains(&told), "{text}");
        assert_eq!(message(Writer::resume(dir.path())), text);
        assert_eq!(file.metadata().unwrap().len(), length, "nothing was cut off");
    }
}

/// A manifest that plans the same trials from another seed or start, or of another program, is another session's.
#[test]
fn a_manifest_of_another_session_is_an_error_and_its_trials_stay() {
    let (dir, other) = (session(&[record(0), record(1)]), TempDir::new().unwrap());
    let trials = fs::read(dir.path().join("trials.ndjson")).unwrap();
    let own = manifest();
    let seed = model::Manifest { seed: 7, ..own.clone() };
    let start = model::Manifest { started_unix_ms: 1, ..own.clone() };
    let mut program = own.clone();
    program.designs[0].question = "another one?".into();
    for (number, foreign) in [seed, start, program].iter().enumerate() {
        let folder = other.path().join(number.to_string());
        drop(Writer::create(&folder, foreign).unwrap());
        fs::copy(folder.join("manifest.json"), dir.path().join("manifest.json")).unwrap();
        let text = message(open(dir.path()));
        assert!(text.contains("trials.ndjson, line 1: it is a trial of another session"), "{text}");
        assert_eq!(message(Writer::resume(dir.path())), text);
        assert_eq!(fs::read(dir.path().join("trials.ndjson")).unwrap(), trials);
    }
    // Lines of earlier versions say nothing of their manifest.
    let line = serde_json::to_string(&record(0)).unwrap() + "\n";
    fs::write(dir.path().join("trials.ndjson"), line).unwrap();
    assert_eq!(open(dir.path()).unwrap().records.len(), 1);
}

#[test]
fn a_trial_that_the_manifest_does_not_plan_is_an_error_that_names_its_line() {
    let dir = session(&[record(0)]);
    let trials = dir.path().join("trials.ndjson");
    let whole = fs::read_to_string(&trials).unwrap();
    for (from, to, what) in [
        ("\"create\"", "\"other\"", "experiment other is none of its manifest's"),
        ("\"create\"", "\"\\u001b[31m\"", "experiment ?[31m is none of its manifest's"),
        ("\"thread\"", "\"fibre\"", "model=fibre is no treatment of create in its manifest"),
        ("\"block\":0", "\"block\":2000", "block 2000 is beyond the last, 1999"),
        ("\"position\":0", "\"position\":4096", "position 4096 is beyond the last, 4095"),
    ] {
        let wrong = whole.replacen(from, to, 1);
        fs::write(&trials, format!("{whole}{wrong}{wrong}")).unwrap();
        let text = message(open(dir.path()));
        assert!(text.ends_with(&format!("trials.ndjson, line 2: {what}")), "{text}");
        assert_eq!(message(Writer::resume(dir.path())), text);
    }
}

#[test]
fn a_trial_beyond_the_bounds_is_not_stored() {
    let dir = TempDir::new().unwrap();
    let mut writer = Writer::create(dir.path(), &manifest()).unwrap();
    let mut shown = record(0);
    shown.measured.as_mut().unwrap().exhibits = vec![model::Exhibit {
        title: String::new(),
        columns: Vec::new(),
        rows: vec![Vec::new(); 1_000_000],
        rows_left_out: 0,
        pictured: false,
    }];
    for wrong in [
        shown,
        Record { block: BLOCKS_MAX, ..record(0) },
        Record { experiment: "other".into(), ..record(0) },
        Record { outcome: Outcome::Failed { reason: "x".repeat(100_000) }, ..record(0) },
    ] {
        assert!(matches!(writer.append(&wrong), Err(Error::Unreadable { .. })));
    }
    let mut other = manifest();
    other.designs[0].factors[0].levels.pop();
    assert!(message(writer.write_manifest(&other)).contains("plans other trials"));
    writer.append(&record(0)).unwrap();
    drop(writer);
    assert_eq!(open(dir.path()).unwrap().records, [record(0)]);
}

#[test]
fn a_manifest_that_contradicts_itself_is_an_error_that_says_how() {
    let dir = session(&[record(0)]);
    let path = dir.path().join("manifest.json");
    let whole = fs::read_to_string(&path).unwrap();
    let factor = |at: usize| {
        let mut factor = support::design().factors.remove(0);
        factor.name = format!("f{at}");
        factor
    };
    let mut exploding = manifest();
    exploding.designs[0].factors = (0..32).map(factor).collect();
    let mut twice = manifest();
    twice.designs.push(support::design());
    for (wrong, what) in [
        (exploding, "experiment create: 4294967296 treatments are more than 4096"),
        (twice, "experiment create stands in it twice"),
    ] {
        fs::write(&path, serde_json::to_vec(&wrong).unwrap()).unwrap();
        let text = message(open(dir.path()));
        assert!(text.contains(&format!("manifest.json: {what}")), "{text}");
        assert_eq!(message(Writer::resume(dir.path())), text);
    }
    let long = whole.replacen('{', &format!("{{{}", " ".repeat(store::MANIFEST_BYTES_MAX)), 1);
    fs::write(&path, long).unwrap();
    assert!(message(open(dir.path())).contains("is over 8388608 bytes"));
}

#[test]
fn a_record_that_could_not_be_read_again_is_refused() {
    let dir = TempDir::new().unwrap();
    let mut writer = Writer::create(dir.path(), &manifest()).unwrap();
    let mut endless = record(0);
    endless.measured.as_mut().unwrap().checks[0].high = f64::INFINITY;
    let text = message(writer.append(&endless));
    assert!(text.contains("could not be read again: invalid type: null, expected f64"), "{text}");
    let long = Record { log: "x".repeat(LINE_BYTES_MAX), ..record(0) };
    assert!(message(writer.append(&long)).contains("is the most"));
    writer.append(&record(0)).unwrap();
    assert_eq!(open(dir.path()).unwrap().records, [record(0)]);
}

#[test]
fn a_session_without_trials_is_a_session() {
    let dir = session(&[]);
    assert_eq!(open(dir.path()).unwrap().records, []);
    assert_eq!(Writer::resume(dir.path()).unwrap().1.records, []);
}

#[test]
fn what_is_no_session_is_told_apart() {
    let dir = session(&[record(0)]);
    let file = dir.path().join("manifest.json");
    assert!(message(open(&file)).contains("give the session's folder"));
    assert!(message(open(&dir.path().join("absent"))).contains("No such file"));

    fs::write(&file, "").unwrap();
    assert!(message(open(dir.path())).contains("manifest.json, line 1: this is not a session's"));
    fs::write(&file, "[1, 2]").unwrap();
    assert!(message(open(dir.path())).contains("not a session's manifest"));
    fs::write(&file, r#"{"format": 0}"#).unwrap();
    assert!(message(open(dir.path())).contains("format 0"));
    fs::write(&file, r#"{"format": 1}"#).unwrap();
    assert!(message(open(dir.path())).contains("missing field `scruple`"));

    fs::remove_file(&file).unwrap();
    assert!(message(open(dir.path())).contains("it has no manifest.json"));
    assert!(message(Writer::resume(dir.path())).contains("it has no manifest.json"));
    assert_eq!(names(dir.path()), ["trials.ndjson"], "no lock was put there");

    let dir = session(&[record(0)]);
    fs::remove_file(dir.path().join("trials.ndjson")).unwrap();
    assert!(message(open(dir.path())).contains("cannot read"));
}

#[test]
fn a_newer_format_is_named() {
    let dir = session(&[record(0)]);
    let newer = format!(r#"{{"format": {}, "unheard_of": []}}"#, SESSION_FORMAT + 1);
    fs::write(dir.path().join("manifest.json"), newer).unwrap();
    let text = message(open(dir.path()));
    assert!(text.contains("has session format 2, and this scruple reads up to 1"), "{text}");
    assert!(matches!(Writer::resume(dir.path()), Err(Error::Newer { found: 2, .. })));
}

#[test]
fn a_trial_that_ended_in_two_ways_counts_once_in_the_first_and_one_that_is_repeated_counts_once() {
    let failed = Record { outcome: Outcome::Failed { reason: "x".into() }, ..record(0) };
    let other = Record {
        treatment: Treatment::from_iter([("model".into(), "process".into())]),
        ..record(0)
    };
    let read = |records: &[Record]| open(session(records).path());
    let stored = read(&[failed.clone(), other.clone(), record(1), failed.clone(), failed.clone()]);
    let stored = stored.unwrap();
    assert_eq!(stored.records, [failed.clone(), other, record(1)]);
    assert_eq!(stored.repeated, 2);
    let contradicted = read(&[failed.clone(), record(1), record(0)]).unwrap();
    assert_eq!(contradicted.records, [failed.clone(), record(1)]);
    assert_eq!((contradicted.damage.lines, contradicted.damage.first[0].0), (1, 3));
    let longer = Record { total_ns: 1, ..record(0) };
    let Err(Error::Broken { line: 2, .. }) = read(&[failed, record(0), longer]) else {
        panic!("it failed and it completed")
    };
}

/// Who renders a session anew replaces what is derived from it, and reads no trial for it.
#[test]
fn pages_are_replaced_without_touching_the_trials() {
    let dir = session(&[record(0)]);
    let trials = dir.path().join("trials.ndjson");
    let torn = [fs::read(&trials).unwrap(), b"{\"trial\":1,".to_vec()].concat();
    fs::write(&trials, &torn).unwrap();
    let pages = Pages::of(dir.path()).unwrap();
    pages.write_report("a page").unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("report.html")).unwrap(), "a page");
    let busy = Writer::resume(dir.path()).unwrap_err().to_string();
    assert!(busy.contains("is being written by another scruple"), "{busy}");
    drop(pages);
    assert_eq!(fs::read(&trials).unwrap(), torn);
    let (writer, _) = Writer::resume(dir.path()).unwrap();
    let busy = Pages::of(dir.path()).unwrap_err().to_string();
    assert!(busy.contains("is being written by another scruple"), "{busy}");
    drop(writer);

    let empty = tempfile::tempdir().unwrap();
    let error = Pages::of(empty.path()).unwrap_err().to_string();
    assert!(error.contains("it has no manifest.json"), "{error}");
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
}
