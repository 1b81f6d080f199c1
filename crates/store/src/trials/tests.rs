use super::Torn;
use super::{Shares, read_all};
use crate::Error;
use crate::plan::Plan;
use model::{Check, Design, Factor, Level, Measured, Outcome, Profile, Record, Series, Treatment};
use std::path::Path;

/// A plan of one experiment with two treatments.
fn plan() -> Plan {
    let level = |name: &str| Level::new(name, "");
    let model = Factor {
        name: "model".into(),
        about: String::new(),
        levels: vec![level("thread"), level("process")],
        baseline: "thread".into(),
        ..Factor::default()
    };
    let design = Design { id: "create".into(), factors: vec![model], ..Design::default() };
    Plan::with(&[design], Profile::Smoke, String::new())
}

fn record(trial: u64) -> Record {
    let model = if trial.is_multiple_of(3) { "thread" } else { "process" };
    let series = ["create_ns", "wall_ns"].map(|response| Series {
        response: response.into(),
        per: 1,
        values: vec![trial as i64; 3],
    });
    let check = Check { name: "overlap".into(), seen: 0.5, low: 0.0, high: 1.0, wants_cpus: false };
    Record {
        trial,
        experiment: "create".into(),
        block: (trial % 100) as u32,
        position: 0,
        treatment: Treatment::from_iter([("model".into(), model.into())]),
        started_unix_ms: 0,
        padding_bytes: 0,
        outcome: Outcome::Completed { leaked: 0 },
        observed: [("affinity", "1"), ("nice", "-20")].into_iter().collect(),
        measured: Some(Measured {
            series: series.into(),
            checks: vec![check],
            ..Measured::default()
        }),
        process: None,
        spawn_to_ready_ns: None,
        harness_ns: None,
        measuring_ns: None,
        total_ns: 0,
        runner_cpu_ns: None,
        machine: model::Surroundings::default(),
        log: String::new(),
    }
}

fn lines(records: &[Record]) -> String {
    let line = |record: &Record| serde_json::to_string(record).unwrap() + "\n";
    records.iter().map(line).collect()
}

/// One thread with one chunk for all, and many with many small ones.
const ALL_SHARES: [Shares; 5] = [
    Shares { threads: 1, bytes: 1 << 20 },
    Shares { threads: 1, bytes: 1 },
    Shares { threads: 2, bytes: 900 },
    Shares { threads: 5, bytes: 1 },
    Shares { threads: 64, bytes: 3_000 },
];

#[test]
fn however_the_lines_are_shared_out_the_records_stand_in_their_order() {
    let records: Vec<Record> = (0..37).map(record).collect();
    let text = lines(&records);
    for torn in ["", "{\"trial\":37,"] {
        let input = format!("{text}{torn}");
        for shares in ALL_SHARES {
            let read = read_all(input.as_bytes(), Path::new("t"), &plan(), shares).unwrap();
            assert_eq!(read.records, records, "{shares:?}");
            assert_eq!(read.whole_bytes, text.len() as u64, "{shares:?}");
            let bytes = torn.len() as u64;
            assert_eq!(read.torn, (bytes > 0).then_some(Torn { line: 38, bytes }), "{shares:?}");
        }
    }
}

#[test]
fn the_first_lines_that_are_wrong_are_those_that_are_named() {
    let records: Vec<Record> = (0..37).map(record).collect();
    let good: Vec<String> = lines(&records).lines().map(str::to_string).collect();
    for wrong in [vec![0], vec![4, 5], vec![11, 36], (0..18).collect(), (0..19).collect()] {
        let mut lines = good.clone();
        wrong.iter().for_each(|line| lines[*line] = "nonsense".into());
        let input = lines.join("\n") + "\n";
        for shares in ALL_SHARES {
            let read = read_all(input.as_bytes(), Path::new("t"), &plan(), shares);
            if wrong.len() == 19 {
                let Err(Error::Broken { line: 1, what, .. }) = read else { panic!("it was read") };
                assert!(what.contains("column"), "{what}");
                continue;
            }
            let read = read.unwrap();
            assert_eq!(read.records.len() + wrong.len(), records.len(), "{shares:?}");
            assert_eq!(read.damage.lines, wrong.len() as u64, "{shares:?}");
            let named: Vec<u64> = read.damage.first.iter().map(|(line, _)| *line).collect();
            let wanted: Vec<u64> = wrong.iter().take(10).map(|line| *line as u64 + 1).collect();
            assert_eq!(named, wanted, "{shares:?}");
        }
    }
}

/// A hundred thousand trials of a thousand treatments fit into memory because they repeat nothing.
#[test]
fn trials_share_what_they_repeat() {
    let one = |trial: u64| Record { block: trial as u32, ..record(3 * trial) };
    let records: Vec<Record> = (0..1000).map(one).collect();
    let shares = Shares { threads: 1, bytes: 4 << 20 };
    let read = read_all(lines(&records).as_bytes(), Path::new("t"), &plan(), shares).unwrap();
    assert_eq!(read.records, records);
    let (first, others) = read.records.split_first().unwrap();
    let names = |record: &Record| {
        let measured = record.measured.as_ref().unwrap();
        let series = measured.series.iter().map(|series| series.response.clone());
        let checks = measured.checks.iter().map(|check| check.name.clone());
        let observed: Vec<_> = record.observed.iter().map(|(_, value)| value.clone()).collect();
        let own = [record.experiment.clone()].into_iter();
        own.chain(series).chain(checks).chain(observed).collect::<Vec<_>>()
    };
    for other in others {
        assert!(other.treatment.is_shared_with(&first.treatment));
        assert!(
            names(other)
                .iter()
                .zip(&names(first))
                .all(|(a, b)| std::ptr::eq(a.as_str(), b.as_str())),
            "{other:?}"
        );
        let measured = other.measured.as_ref().unwrap();
        assert_eq!(measured.series.capacity(), measured.series.len());
        assert!(measured.series.iter().all(|one| one.values.capacity() == one.values.len()));
    }
    assert_eq!(read.records.capacity(), read.records.len());
}
