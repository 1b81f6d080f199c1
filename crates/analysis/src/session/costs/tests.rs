use super::*;
use crate::fixture::{design, task};
use model::{Cell, Design, Outcome, Part, Record};
use proptest::prelude::*;

fn cell(model: &str) -> Cell {
    Cell::new([("model", model)])
}

fn measured(response: &str, model: &str) -> Term {
    Term::Measured { response: response.into(), at: cell(model) }
}

fn part(label: &str, count: Term, each: Term) -> Part {
    Part { label: label.into(), count, each }
}

/// A process's task is its faults at the cost of one, one empty call, and what is left.
fn study() -> Design {
    let fault =
        Term::Difference { response: "cpu_ns".into(), of: cell("thread"), to: cell("empty") };
    let parts = vec![
        part("faults", measured("faults_count", "process"), fault),
        part("the call", Term::Known { value: 2.0 }, measured("task_ns", "empty")),
    ];
    let total = measured("task_ns", "process");
    let account = Account { id: "task".into(), title: "one task".into(), total, parts };
    Design { accounts: vec![account], ..design() }
}

/// One block: a fault costs 500 more or less, an empty call 100, the rest is what `total` leaves.
#[derive(Clone, Copy, Debug)]
struct Planted {
    total: i64,
    faults: i64,
    fault: i64,
    call: i64,
}

fn block(block: u32, planted: Planted) -> Vec<Record> {
    let with = |model, time: i64| task(block, model, "1", time);
    vec![
        with("process", planted.total).series("faults_count", 1, &[planted.faults]).record(),
        with("thread", 1).series("cpu_ns", 1, &[planted.fault + 40]).record(),
        with("empty", planted.call).series("cpu_ns", 1, &[40]).record(),
    ]
}

/// 20 faults at 500, two calls at 100, 3800 left of 14,000; every block drifts as a whole.
fn records(blocks: u32) -> Vec<Record> {
    let drifting = |index: u32| {
        let drift = 100 + i64::from(index * 7 % 10);
        let fault = 5 * drift;
        block(index, Planted { total: 140 * drift, faults: 20, fault, call: drift })
    };
    (0..blocks).flat_map(drifting).collect()
}

fn account(design: &Design, records: &[Record]) -> AccountResult {
    let table = Table::new(design, records.iter());
    accounts(&table).pop().unwrap()
}

#[test]
fn parts_are_counts_times_costs_and_the_rest_is_shown() {
    let found = account(&study(), &records(10));
    assert_eq!((found.unit.clone(), found.remark.as_str()), (Unit::Ns, ""));
    let [faults, call] = &found.parts[..] else { panic!("{found:?}") };
    // Blocks drift by 9 %, shares do not: 10,000 of 14,000, 200 of 14,000.
    let share = |estimate: Option<Estimate>| estimate.unwrap().point;
    assert!((share(faults.share) - 10.0 / 14.0).abs() < 1e-9);
    assert!((share(call.share) - 0.2 / 14.0).abs() < 1e-9);
    assert!((share(found.residual_share) - 3.8 / 14.0).abs() < 1e-9);
    let total = found.total.unwrap();
    assert!(total.point > 14_000.0 && total.point < 15_400.0 && total.high > total.low);
    assert_eq!((total.samples, faults.count.unwrap().point), (10, 20.0));
    assert_eq!(call.count.unwrap().low, call.count.unwrap().high);
    // A level that is doubled keeps its own centre, doubled.
    assert_eq!(call.amount.unwrap().point, 2.0 * call.each.unwrap().point);
    assert!((found.residual.unwrap().point / 38.0 - total.point / 140.0).abs() < 1.0);
}

#[test]
fn what_is_computed_alone_is_exact() {
    let mut design = study();
    let same: Vec<Record> = records(1).into_iter().chain(records(1)).collect();
    let twice = |records: &[Record]| {
        let mut records = records.to_vec();
        let half = records.len() / 2;
        records[half..].iter_mut().for_each(|record| record.block = 1);
        records
    };
    let same = twice(&same);
    let all = |found: &AccountResult| -> Vec<bool> {
        let parts = found.parts.iter().flat_map(|it| [it.count, it.each, it.amount, it.share]);
        let whole = [found.total, found.residual, found.residual_share];
        parts.chain(whole).map(|it| it.unwrap().is_exact()).collect()
    };
    assert!(all(&account(&design, &same)).iter().all(|exact| !exact));
    design.responses.iter_mut().for_each(|response| response.exact = true);
    assert!(all(&account(&design, &same)).iter().all(|exact| *exact));
    // What is said to be computed and differs is not believed.
    assert!(!account(&design, &records(2)).total.unwrap().is_exact());
}

#[test]
fn a_residual_may_be_negative_and_is_not_clamped() {
    let mut records = records(8);
    for record in &mut records {
        if record.treatment.level("model") == Some("process") {
            record.measured.as_mut().unwrap().series[0].values[0] /= 2;
        }
    }
    let found = account(&study(), &records);
    assert!(found.residual.unwrap().high < 0.0, "{:?}", found.residual);
    assert!((found.residual_share.unwrap().point + 3.2 / 7.0).abs() < 1e-9);
}

#[test]
fn a_control_is_subtracted_from_every_term() {
    let mut design = study();
    design.responses[0].subtract = Some(cell("empty"));
    let found = account(&design, &records(8));
    // The total loses a hundred and forty-th; the control itself keeps its value.
    let share = found.parts[0].share.unwrap().point;
    assert!((share - 100.0 / 139.0).abs() < 1e-9, "{share}");
    assert!((found.parts[1].share.unwrap().point - 2.0 / 139.0).abs() < 1e-9);
}

#[test]
fn only_blocks_with_all_numbers_count() {
    let mut records = records(9);
    let fails = |record: &&mut Record| {
        record.block == 3 && record.treatment.level("model") == Some("thread")
    };
    for record in records.iter_mut().filter(fails) {
        record.measured = None;
        record.outcome = Outcome::Failed { reason: "a planted failure".into() };
    }
    // A round that measured the total alone, for another question, is no gap.
    records.push(task(40, "process", "1", 9).series("faults_count", 1, &[9]).record());
    let found = account(&study(), &records);
    assert_eq!(found.total.unwrap().samples, 8);
    assert_eq!(found.remark, "1 of 9 blocks lack one of its numbers and are left out");
}

#[test]
fn what_is_missing_is_named() {
    let mut records = records(6);
    for record in &mut records {
        if record.treatment.level("model") == Some("empty") {
            record.measured = None;
            record.outcome = Outcome::Unsupported { reason: "nothing is ever empty".into() };
        }
    }
    let found = account(&study(), &records);
    assert_eq!(
        found.remark,
        "no completed trial of model=empty n=1: unsupported, nothing is ever empty"
    );
    assert_eq!((found.total, found.residual, found.residual_share), (None, None, None));
    assert_eq!(found.parts.len(), 2);
    assert!(found.parts.iter().all(|part| part.count.is_none() && part.amount.is_none()));
    assert_eq!(found.parts[0].label, "faults");
    let nothing = account(&study(), &[]);
    assert_eq!(nothing.remark.matches("no completed trial of").count(), 3, "{}", nothing.remark);
}

#[test]
fn one_block_is_too_few_and_few_are_told() {
    let one = account(&study(), &records(1));
    assert_eq!(one.remark, "1 blocks have all of its numbers, 2 are needed");
    let few = account(&study(), &records(4));
    assert!(few.remark.starts_with("only 4 blocks"), "{}", few.remark);
    assert!(few.residual.is_some());
}

#[test]
fn shares_of_a_total_that_may_be_0_are_not_given() {
    let mut records = records(8);
    for record in &mut records {
        if record.treatment.level("model") == Some("process") {
            let sign = if record.block % 2 == 0 { 1 } else { -1 };
            record.measured.as_mut().unwrap().series[0].values[0] = sign * 1000;
        }
    }
    let found = account(&study(), &records);
    assert!(found.total.is_some() && found.residual_share.is_none());
    assert!(found.parts.iter().all(|part| part.share.is_none() && part.amount.is_some()));
    assert!(found.remark.contains("not distinguishable from 0"), "{}", found.remark);
}

proptest! {
    #[test]
    fn parts_and_residual_make_up_the_total_in_every_block(
        planted in prop::collection::vec((1..1_000_000_i64, 0..500_i64, 0..5_000_i64, 0..900_i64), 2..14),
    ) {
        let blocks = planted.iter().enumerate().flat_map(|(index, &(total, faults, fault, call))| {
            block(index as u32, Planted { total, faults, fault, call })
        });
        let (records, design): (Vec<Record>, Design) = (blocks.collect(), study());
        let table = Table::new(&design, records.iter());
        let ledger = Ledger::of(&table, &design.accounts[0]).unwrap();
        prop_assert_eq!(ledger.total.values.len(), planted.len());
        for (index, &(total, faults, fault, call)) in planted.iter().enumerate() {
            let amounts: Vec<f64> = ledger.lines.iter().map(|l| l.amount.values[index]).collect();
            prop_assert_eq!(&amounts, &vec![(faults * fault) as f64, (2 * call) as f64]);
            let sum = amounts.iter().sum::<f64>() + ledger.residual.values[index];
            prop_assert!((sum - total as f64).abs() <= 1e-6 * total as f64);
        }
        // The shares of a total well above 0 are those of one whole.
        let found = account(&design, &records);
        if let (Some(residual), Some(total)) = (found.residual, found.total) {
            prop_assert!(residual.low <= residual.point && residual.point <= residual.high);
            prop_assert!(total.low <= total.high);
        }
    }
}
