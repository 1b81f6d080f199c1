use super::*;
use crate::fixture::{design, task};
use crate::session::verdict::blocks_for;
use model::{Cell, Finding, Outcome, Profile, Region};

fn finding(id: &str, quantity: Quantity, drives: bool) -> Finding {
    Finding { id: id.into(), sentence: "{}".into(), quantity, drives }
}

fn ratio(of: &str, to: &str) -> Quantity {
    Quantity::Ratio {
        response: "task_ns".into(),
        of: Cell::new([("model", of)]),
        to: Cell::new([("model", to)]),
    }
}

fn study() -> Design {
    let mut design = design();
    design.findings = vec![
        finding("precise", ratio("process", "thread"), true),
        finding("wide", ratio("empty", "thread"), true),
        finding("idle", ratio("process", "empty"), false),
    ];
    design
}

/// process : thread varies by 0.1 %, empty : thread by a factor of 2.
fn records(blocks: u32) -> Vec<Record> {
    (0..blocks)
        .flat_map(|block| {
            let odd = i64::from(block % 2);
            [
                task(block, "thread", "1", 10_000).record(),
                task(block, "process", "1", 20_000 + 10 * i64::from(block * 2 % 5)).record(),
                task(block, "empty", "1", 1_000 + 1_000 * odd).record(),
            ]
        })
        .collect()
}

fn ask(design: &Design, records: &[Record]) -> Need {
    let records: Vec<&Record> = records.iter().collect();
    need(design, &records, &design.treatments(Profile::Smoke), 1)
}

fn models(need: &Need) -> Vec<&str> {
    need.treatments.iter().filter_map(|treatment| treatment.level("model")).collect()
}

#[test]
fn the_widest_finding_decides_and_asks_for_its_treatments() {
    let need = ask(&study(), &records(16));
    // log 0.1 and log 0.2 in turn: the interval spans both, √2 − 1 is 41 % of 5 %.
    assert!((need.ratio - (2f64.sqrt() - 1.0) / 0.05).abs() < 0.5, "{}", need.ratio);
    assert_eq!(models(&need), vec!["empty", "thread"]);
    let FindingResult { id, result, .. } = need.headline.unwrap();
    let estimate = result.estimate.unwrap();
    assert_eq!(id, "precise");
    assert!((estimate.point - 2.002).abs() < 0.002);
}

#[test]
fn the_controls_are_in_every_block_that_narrows_something() {
    let mut design = study();
    let cell = |model: &str| Cell::new([("model", model)]);
    let control = |response: &str| model::Control {
        response: response.into(),
        a: cell("process"),
        b: cell("thread"),
    };
    design.controls = vec![control("task_ns")];
    assert_eq!(models(&ask(&design, &records(16))), vec!["empty", "process", "thread"]);
    // They never keep a session going by themselves.
    design.findings.truncate(1);
    let need = ask(&design, &records(16));
    assert_eq!((need.ratio <= 1.0, models(&need)), (true, vec![]));
}

fn claim(quantity: Quantity, holds_if: Region) -> Claim {
    Claim {
        id: "claim".into(),
        text: String::new(),
        source: String::new(),
        mechanism: String::new(),
        quantity,
        holds_if,
        note: String::new(),
        shown: String::new(),
    }
}

#[test]
fn claims_ask_for_their_treatments_too() {
    let mut design = study();
    design.findings.truncate(1);
    assert!(ask(&design, &records(16)).treatments.is_empty());
    design.claims = vec![claim(ratio("empty", "thread"), Region::above(1.0))];
    let need = ask(&design, &records(16));
    assert_eq!(models(&need), vec!["empty", "thread"]);
    assert!(need.ratio > 1.0);
}

#[test]
fn a_claim_asks_for_an_interval_that_fits_into_its_region() {
    let of = |region| asked_of(&claim(ratio("process", "thread"), region), 0.05);
    assert!((of(Region::above(1.0)) - 0.05).abs() < 1e-12);
    assert!((of(Region::about(1.0, 0.05)) - 0.05 / 2.0).abs() < 1e-12);
    assert!((of(Region::about(16.31, 0.5)) - 0.05).abs() < 1e-12);
    // One end: near 1 its own distance decides, down to half a percent; elsewhere the design's.
    assert!((of(Region::above(1.05)) - 1.05_f64.ln() / 2.0).abs() < 1e-12);
    assert!((of(Region::above(0.98)) + 0.98_f64.ln() / 2.0).abs() < 1e-12);
    assert!((of(Region::below(1.01)) - 0.005).abs() < 1e-12);
    assert!((of(Region::below(1.002)) - 0.005).abs() < 1e-12);
    assert!((of(Region::above(1.5)) - 0.05).abs() < 1e-12);
    let coarse = claim(ratio("process", "thread"), Region::above(1.08));
    assert!((asked_of(&coarse, 0.01) - 0.01).abs() < 1e-12);
    let value = Quantity::Value { response: "task_ns".into(), at: Cell::default() };
    assert!((asked_of(&claim(value, Region::above(0.99)), 0.05) - 0.05).abs() < 1e-12);
    let seen = Quantity::Frequency { response: "task_ns".into(), among: Cell::default() };
    let of = |region| asked_of(&claim(seen.clone(), region), 0.05);
    assert!((of(Region::above(0.01)) - 0.3 * 0.1_f64.asin()).abs() < 1e-12);
    // "Nearly always" asks as much as "hardly ever"; what lies between 0 and 1 asks for something.
    assert!((of(Region::above(0.99)) - of(Region::below(0.01))).abs() < 1e-12);
    assert!((of(Region::below(4e-6)) - 0.3 * 2e-3).abs() < 1e-8);
    assert!((of(Region::within(0.0, 1.0)) - of(Region::above(0.5))).abs() < 1e-12);
}

/// Trials with `events` among 100,000 chances each.
fn rates(trials: u32, events: i64) -> Vec<Record> {
    let trial =
        |block| task(block, "thread", "1", 1).series("faults_count", 100_000, &[events]).record();
    (0..trials).map(trial).collect()
}

#[test]
fn a_rate_per_million_can_become_precise_enough() {
    let among = Cell::new([("model", "thread")]);
    let seen = Quantity::Frequency { response: "faults_count".into(), among };
    let mut design = design();
    design.claims = vec![claim(seen.clone(), Region::below(20e-6))];
    design.responses.iter_mut().for_each(|response| response.independent = true);
    // Ten chances for each of the 50,000 that the claim allows one event: half a million.
    design.claims[0].holds_if = Region::below(6e-6);
    assert!(ask(&design, &rates(13, 0)).ratio > 1.0);
    assert!(ask(&design, &rates(20, 0)).ratio <= 1.0);
    // No more of them where many events are seen, nor fewer.
    assert!(ask(&design, &rates(13, 40)).ratio > 1.0);
    assert!(ask(&design, &rates(25, 40)).ratio <= 1.0);
    // A finding asks for as much as it would of a frequency of one half, in blocks enough.
    design.claims.clear();
    design.findings = vec![finding("rate", seen, true)];
    assert!(ask(&design, &rates(13, 1)).ratio <= 1.0);
}

#[test]
fn nothing_measured_is_infinitely_wide() {
    let need = ask(&study(), &[]);
    assert_eq!(need.ratio, f64::INFINITY);
    assert_eq!(models(&need), vec!["empty", "process", "thread"]);
    assert_eq!(need.headline, None);
}

#[test]
fn precise_enough_is_at_most_1() {
    let mut design = study();
    design.findings[1].drives = false;
    let need = ask(&design, &records(16));
    assert!(need.ratio <= 1.0 && need.ratio > 0.0, "{}", need.ratio);
    assert!(need.treatments.is_empty());
    design.findings[0].drives = false;
    assert_eq!(ask(&design, &records(16)).ratio, 0.0);
}

#[test]
fn what_cannot_be_measured_does_not_drive() {
    let mut records = records(16);
    for record in &mut records {
        if record.treatment.level("model") == Some("empty") {
            record.outcome = Outcome::Failed { reason: "always".into() };
            record.measured = None;
        }
    }
    // Two failures may be bad luck, three are given up, and one refusal is final.
    let two: Vec<Record> = records.iter().filter(|record| record.block < 2).cloned().collect();
    assert_eq!(ask(&study(), &two).ratio, f64::INFINITY);
    assert!(ask(&study(), &records).ratio < 1.0);
    let refusal = Outcome::Unsupported { reason: "not here".into() };
    let mut refused: Vec<Record> = two;
    refused.iter_mut().filter(|record| record.measured.is_none()).for_each(|record| {
        record.outcome = refusal.clone();
    });
    // (Two blocks of the others are still too few.)
    assert_eq!(models(&ask(&study(), &refused)), vec!["process", "thread"]);
    // Nor does what is not planned.
    let all: Vec<&Record> = refused.iter().collect();
    let planned: Vec<Treatment> = study().treatments(Profile::Smoke).into_iter().take(1).collect();
    assert_eq!(need(&study(), &all, &planned, 1).ratio, 0.0);
}

#[test]
fn half_widths_are_relative_to_what_makes_sense() {
    let design = study();
    let records = records(16);
    let table = Table::new(&design, records.iter());
    let width = |quantity: Quantity| {
        half_width(&table, &effect(&table, &quantity).result(&table, &quantity)).unwrap()
    };
    let cell = |model| Cell::new([("model", model)]);
    // 1000 and 2000 in turn: the interval of the median spans both, half of it is 500.
    let at = cell("empty");
    let value = Quantity::Value { response: "task_ns".into(), at };
    assert!((width(value) - 500.0 / 1500.0).abs() < 1e-9);
    // The same ± 500 beside a level of 10000.
    let difference =
        Quantity::Difference { response: "task_ns".into(), of: cell("thread"), to: cell("empty") };
    assert!((width(difference) - 0.05).abs() < 1e-9);
}

#[test]
fn numbers_that_agree_ask_for_as_many_blocks_as_a_verdict_takes() {
    let mut design = study();
    design.findings.truncate(1);
    let agreeing = |blocks: u32| -> Vec<Record> {
        records(2 * blocks).into_iter().filter(|record| record.block % 2 == 0).collect()
    };
    // 2/2⁹ is the first below 0.007, 2/2¹¹ below 0.0019, and 2/2¹² below 0.05/100, whatever the others do.
    assert_eq!([1, 10, 100].map(blocks_for), [9, 11, 12]);
    assert_eq!([1, 10, 100].map(blocks_with_one_against), [12, 14, 14]);
    let early = ask(&design, &agreeing(4));
    assert!((early.ratio - (12.0_f64 / 4.0).sqrt()).abs() < 1e-12);
    assert_eq!(models(&early), vec!["process", "thread"]);
    assert!(ask(&design, &agreeing(12)).treatments.is_empty());
}

#[test]
fn two_groups_of_blocks_are_not_precise() {
    let mut design = study();
    design.findings.truncate(1);
    let mut all = records(20);
    assert!(ask(&design, &all).ratio <= 1.0);
    // Three of twenty blocks are slower by 3 %: the interval is as narrow as before.
    for record in all.iter_mut().filter(|record| [3, 11, 16].contains(&record.block)) {
        if record.treatment.level("model") == Some("process") {
            record.measured.as_mut().unwrap().series[0].values[0] += 600;
        }
    }
    assert!(ask(&design, &all).ratio > 1.0);
}

/// Blocks in which the whole differs from the base by so much, all of it the suspect's, and each
/// trial by up to 2 % from the last.
fn gap_of(whole: f64, blocks: u32) -> Vec<Record> {
    let value = |block: u32, place: u32, level: f64| {
        let noise = f64::from((block * 7 + place * 5 + place * block) % 11) / 5.0 - 1.0;
        (1e6 * level * (1.0 + 0.02 * noise)) as i64
    };
    let models = [("thread", 1.0), ("process", whole), ("empty", 1.0)];
    let block = |block| {
        let trial = |(place, (model, level)): (u32, (&str, f64))| {
            task(block, model, "1", value(block, place, level)).record()
        };
        (0..).zip(models).map(trial).collect::<Vec<Record>>()
    };
    (0..blocks).flat_map(block).collect()
}

#[test]
fn a_resolved_gap_asks_for_its_shares_and_one_that_is_not_does_not() {
    let at = |model| Cell::new([("model", model)]);
    let mut design = design();
    design.diagnoses = vec![model::Diagnosis {
        id: "slow".into(),
        what: String::new(),
        response: "task_ns".into(),
        whole: at("process"),
        base: at("thread"),
        suspects: vec![model::Suspect { name: "lock".into(), without: at("empty") }],
        planted: None,
    }];
    let width = |records: &[Record], quantity: Quantity| {
        let table = Table::new(&design, records.iter());
        half_width(&table, &effect(&table, &quantity).result(&table, &quantity))
    };
    let share = || design.diagnoses[0].share(&design.diagnoses[0].suspects[0]);
    // The gap is precise enough by itself, its share is not.
    let small = gap_of(1.08, 24);
    assert!(width(&small, gap(&design.diagnoses[0])).unwrap() < design.precision);
    let asked = ask(&design, &small);
    assert!(asked.ratio > 6.0 * width(&small, share()).unwrap(), "{asked:?}");
    assert!(asked.ratio > 1.0 && models(&asked).len() == 3, "{asked:?}");
    // A large gap of the same noise has precise shares, and one of nothing has none.
    for enough in [gap_of(1.5, 24), gap_of(1.0, 24)] {
        let asked = ask(&design, &enough);
        assert!(asked.ratio <= 1.0 && asked.treatments.is_empty(), "{asked:?}");
    }
    assert_eq!(width(&gap_of(1.0, 24), share()), None);
}
