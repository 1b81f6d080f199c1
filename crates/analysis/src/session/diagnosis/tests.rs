use super::*;
use crate::fixture::{design, task};
use crate::session::need::need;
use model::{Cell, Design, Outcome, Profile, Record};

fn at(n: &str) -> Cell {
    Cell::new([("n", n)])
}

/// A gap between a process (whole) and a thread (base) at n = 1, and three suspects, removed at
/// 2, 4 and 8.
fn study() -> Design {
    let suspect = |name: &str, n: &str| Suspect {
        name: name.into(),
        without: at(n).with("model", "process"),
    };
    let diagnosis = Diagnosis {
        id: "slow".into(),
        what: "a process".into(),
        response: "task_ns".into(),
        whole: Cell::new([("model", "process")]),
        base: Cell::new([("model", "thread")]),
        suspects: vec![suspect("lock", "2"), suspect("cache", "4"), suspect("faults", "8")],
        planted: Some("cache".into()),
    };
    Design { diagnoses: vec![diagnosis], ..design() }
}

/// Blocks that drift by 10 %, with the times of the whole, of the whole without each suspect, and
/// of the base.
fn records(blocks: u32, whole: i64, without: [i64; 3], base: i64) -> Vec<Record> {
    let of_block = |block: u32| {
        let noisy = move |place: u32, value: i64| {
            let noise = i64::from((block * 7 + place * 5 + place * block) % 11) - 5;
            value * (1000 + noise) / 1000 * (10 + i64::from(block % 2)) / 10
        };
        let [lock, cache, faults] = without;
        [
            task(block, "process", "1", noisy(0, whole)).record(),
            task(block, "process", "2", noisy(3, lock)).record(),
            task(block, "process", "4", noisy(1, cache)).record(),
            task(block, "process", "8", noisy(4, faults)).record(),
            task(block, "thread", "1", noisy(2, base)).record(),
        ]
    };
    (0..blocks).flat_map(of_block).collect()
}

fn diagnosed(records: &[Record]) -> DiagnosisResult {
    let design = study();
    diagnoses(&Table::new(&design, records.iter())).remove(0)
}

#[test]
fn the_cause_of_most_of_the_gap_is_named() {
    let found = diagnosed(&records(16, 20_000, [19_000, 12_000, 20_000], 10_000));
    let order: Vec<&str> = found.suspects.iter().map(|blame| blame.suspect.as_str()).collect();
    assert_eq!(order, ["cache", "lock", "faults"]);
    let shares: Vec<f64> =
        found.suspects.iter().map(|blame| blame.share.estimate.unwrap().point).collect();
    for (share, truth) in shares.iter().zip([0.8, 0.1, 0.0]) {
        assert!((share - truth).abs() < 0.02, "{shares:?}");
    }
    assert_eq!((found.named.as_deref(), found.planted.as_deref()), (Some("cache"), Some("cache")));
}

#[test]
fn a_gap_downwards_has_a_cause_too() {
    // The whole is faster than the base: removing the cause makes it slower.
    let found = diagnosed(&records(8, 10_000, [10_500, 18_000, 10_000], 20_000));
    assert_eq!(found.named.as_deref(), Some("cache"));
}

#[test]
fn two_causes_of_one_size_are_not_told_apart() {
    let found = diagnosed(&records(8, 20_000, [15_000, 15_000, 20_000], 10_000));
    assert_eq!(found.named, None);
    assert!(found.suspects[1].share.estimate.unwrap().low > SHARE_NAMED);
}

#[test]
fn a_small_part_of_the_gap_is_no_cause_of_it() {
    let found = diagnosed(&records(8, 20_000, [20_000, 17_500, 20_000], 10_000));
    let share = found.suspects[0].share.estimate.unwrap();
    assert!(share.low > 0.1 && share.high < SHARE_NAMED, "{share:?}");
    assert_eq!(found.named, None);
}

#[test]
fn without_a_gap_nobody_is_named() {
    let found = diagnosed(&records(8, 10_000, [10_000, 9_900, 10_000], 10_000));
    assert_eq!(found.named, None);
    assert!(found.suspects.iter().all(|blame| blame.share.estimate.is_none()));
    let nothing = diagnosed(&[]);
    assert_eq!((nothing.named, nothing.suspects.len()), (None, 3));
    let one = diagnosed(&records(1, 20_000, [19_000, 12_000, 20_000], 10_000));
    assert_eq!(one.named, None);
}

#[test]
fn a_suspect_that_could_not_be_removed_may_be_the_cause() {
    let mut all = records(16, 20_000, [19_000, 12_000, 20_000], 10_000);
    for record in all.iter_mut().filter(|record| record.treatment.level("n") == Some("8")) {
        record.outcome = Outcome::Unsupported { reason: "not here".into() };
        record.measured = None;
    }
    let found = diagnosed(&all);
    assert_eq!((found.named, found.suspects[0].suspect.as_str()), (None, "cache"));
    let last = found.suspects.last().unwrap();
    assert_eq!((last.suspect.as_str(), last.share.estimate), ("faults", None));
    assert!(last.share.remark.contains("not here"), "{}", last.share.remark);
}

#[test]
fn the_gap_drives_and_takes_its_suspects_along() {
    let ask = |precision: f64, records: &[Record]| {
        let design = Design { precision, ..study() };
        let refs: Vec<&Record> = records.iter().collect();
        let need = need(&design, &refs, &design.treatments(Profile::Smoke), 1);
        let name = |t: &model::Treatment| {
            format!("{} {}", t.level("model").unwrap(), t.level("n").unwrap())
        };
        (need.ratio, need.treatments.iter().map(name).collect::<Vec<String>>())
    };
    let all = records(16, 20_000, [19_000, 12_000, 20_000], 10_000);
    let (ratio, treatments) = ask(0.0001, &all);
    assert!(ratio > 1.0);
    assert_eq!(treatments, ["process 1", "process 2", "process 4", "process 8", "thread 1"]);
    let (enough, none) = ask(0.05, &all);
    assert!(enough > 0.0 && enough <= 1.0 && none.is_empty(), "{enough}");
    // No gap has shares of no width; its own ratio is as precise as it was.
    let (no_gap, none) = ask(0.05, &records(16, 10_000, [10_000; 3], 10_000));
    assert!(no_gap <= 1.0 && none.is_empty(), "{no_gap}");
}

#[test]
fn a_suspect_whose_trials_were_disturbed_asks_for_more_of_them() {
    let design = Design { precision: 0.05, ..study() };
    let ratio = |records: &[Record]| {
        let refs: Vec<&Record> = records.iter().collect();
        let need = need(&design, &refs, &design.treatments(Profile::Smoke), 1);
        (need.ratio, need.treatments.len())
    };
    let quiet = records(16, 20_000, [19_000, 12_000, 20_000], 10_000);
    assert!(ratio(&quiet).0 <= 1.0);
    // Some trials without the cause are as slow as the whole: the gap is as precise as it was.
    let mut disturbed = quiet.clone();
    let blocks = [2, 5, 6, 9, 12];
    let is_one = |record: &Record| {
        blocks.contains(&record.block) && record.treatment.level("n") == Some("4")
    };
    disturbed.retain(|record| !is_one(record));
    disturbed.extend(blocks.map(|block| task(block, "process", "4", 20_000).record()));
    assert!(diagnosed(&disturbed).suspects[0].share.estimate.unwrap().low < 0.6);
    let (asked, treatments) = ratio(&disturbed);
    assert!(asked > 1.0 && treatments == 5, "{asked}, {treatments}");
}
