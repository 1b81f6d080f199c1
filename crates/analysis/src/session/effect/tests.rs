use super::*;
use crate::fixture::{Trial, design, task};
use model::{Design, Record, Unit};

fn cell<const N: usize>(pairs: [(&str, &str); N]) -> Cell {
    Cell::new(pairs)
}

pub(super) fn result(design: &Design, records: &[Record], quantity: Quantity) -> QuantityResult {
    let table = Table::new(design, records.iter());
    effect(&table, &quantity).result(&table, &quantity)
}

pub(super) fn ratio(of: &str, to: &str) -> Quantity {
    Quantity::Ratio {
        response: "task_ns".into(),
        of: cell([("model", of)]),
        to: cell([("model", to)]),
    }
}

/// Blocks that drift by a factor of 5, with a process at `factor` times a thread.
fn drifting(blocks: u32, factor: f64) -> Vec<Record> {
    let mut records = Vec::new();
    for block in 0..blocks {
        let thread = 100_000.0 * (1.0 + f64::from(block) * 4.0 / f64::from(blocks));
        let wobble = 1.0 + 0.001 * f64::from(block % 3);
        records.push(task(block, "thread", "1", thread as i64).record());
        records.push(task(block, "process", "1", (factor * wobble * thread) as i64).record());
    }
    records
}

#[test]
fn a_ratio_is_paired_by_block() {
    let found = result(&design(), &drifting(8, 2.0), ratio("process", "thread"));
    let estimate = found.estimate.unwrap();
    // Levels vary by a factor of 5, the paired ratio by 0.2 %.
    assert!((estimate.point / 2.002 - 1.0).abs() < 0.001, "{estimate:?}");
    assert!(estimate.high / estimate.low < 1.003);
    assert_eq!((estimate.samples, found.unit, found.carried_by), (8, None, None));
    assert_eq!(found.remark, "");
    assert!(found.floor.unwrap() < 0.002);
}

#[test]
fn a_ratio_of_means_that_tells_something_else_is_given() {
    // In two of sixteen blocks the process takes ten times as long.
    let block = |block: u32| {
        let slow = if block % 8 == 3 { 10 } else { 1 };
        let noise = i64::from(block * 7 % 11);
        let process = slow * (20_000 + 10 * noise);
        [("thread", 10_000), ("process", process)]
            .map(|(model, value)| task(block, model, "1", value).record())
    };
    let records: Vec<Record> = (0..16).flat_map(block).collect();
    let found = result(&design(), &records, ratio("process", "thread"));
    let means = found.of_means.unwrap();
    assert!((found.estimate.unwrap().point - 2.0).abs() < 0.02 && (4.2..4.3).contains(&means));
    assert!(found.remark.contains("the ratio of the means is 4.2"), "{}", found.remark);
    assert_eq!(result(&design(), &drifting(16, 2.0), ratio("process", "thread")).of_means, None);
}

#[test]
fn a_ratio_of_means_that_prints_like_the_median_is_no_news() {
    // Blocks that agree to five digits: one of them moves the mean beyond the interval, by 0.006 %.
    let block = |block: u32| {
        let process = if block == 3 { 10_010_000 } else { 10_000_000 + i64::from(block % 3) };
        [("thread", 10_000_000), ("process", process)]
            .map(|(model, value)| task(block, model, "1", value).record())
    };
    let records: Vec<Record> = (0..16).flat_map(block).collect();
    let found = result(&design(), &records, ratio("process", "thread"));
    assert_eq!(found.of_means, None, "{}", found.remark);
}

#[test]
fn a_ratio_of_positive_numbers_ends_at_0() {
    let block = |block: u32| {
        let process = if block.is_multiple_of(2) { -500 } else { 900 };
        [("thread", 1000), ("process", process)]
            .map(|(model, value)| task(block, model, "1", value).record())
    };
    let records: Vec<Record> = (0..12).flat_map(block).collect();
    let found = result(&design(), &records, ratio("process", "thread"));
    let estimate = found.estimate.unwrap();
    assert!(estimate.low == 0.0 && estimate.high > 0.8, "{estimate:?}");
}

fn fail(record: &mut Record) {
    record.measured = None;
    record.outcome = Outcome::Failed { reason: "a planted failure".into() };
}

#[test]
fn a_block_that_lacks_a_side_is_left_out() {
    let mut records = drifting(8, 2.0);
    fail(&mut records[3]);
    let found = result(&design(), &records, ratio("process", "thread"));
    assert_eq!(found.estimate.unwrap().samples, 7);
    assert_eq!(found.remark, "1 of 8 blocks do not give the number and are left out");
    // A round that measured one side only, for another question, is no gap.
    records.remove(3);
    let found = result(&design(), &records, ratio("process", "thread"));
    assert_eq!((found.estimate.unwrap().samples, found.remark.as_str()), (7, ""));
    let few = result(&design(), &drifting(4, 2.0), ratio("process", "thread"));
    assert!(few.remark.starts_with("only 4 blocks"), "{}", few.remark);
    assert_eq!(few.estimate.unwrap().samples, 4);
    let one = result(&design(), &drifting(1, 2.0), ratio("process", "thread"));
    assert_eq!(one.estimate, None);
    assert_eq!(one.remark, "only 1 block has all of its numbers, and an interval needs 2");
}

#[test]
fn a_refusal_is_told_where_the_number_is_missing() {
    let mut records = drifting(6, 2.0);
    for record in &mut records {
        if record.treatment.level("model") == Some("process") {
            record.outcome = Outcome::Unsupported { reason: "no fork here".into() };
            record.measured = None;
        }
    }
    let found = result(&design(), &records, ratio("process", "thread"));
    assert_eq!(found.estimate, None);
    assert_eq!(found.remark, "no completed trial of model=process n=1: unsupported, no fork here");
}

#[test]
fn values_and_differences_keep_their_unit() {
    let records: Vec<Record> = (0..7_u32)
        .flat_map(|block| {
            let wobble = i64::from(block);
            [
                task(block, "thread", "1", 100 + wobble).record(),
                task(block, "process", "1", 300 + 2 * wobble).record(),
            ]
        })
        .collect();
    let at = cell([("model", "thread")]);
    let value = Quantity::Value { response: "task_ns".into(), at: at.clone() };
    let value = result(&design(), &records, value);
    assert_eq!((value.estimate.unwrap().point, value.unit), (103.0, Some(Unit::Ns)));
    let difference = Quantity::Difference {
        response: "task_ns".into(),
        of: cell([("model", "process")]),
        to: at,
    };
    let difference = result(&design(), &records, difference);
    assert_eq!((difference.estimate.unwrap().point, difference.unit), (203.0, Some(Unit::Ns)));
    // Absolute, in nanoseconds: the spread of 0 to 6.
    assert!((1.0..10.0).contains(&difference.floor.unwrap()));
}

#[test]
fn a_level_below_its_control_is_below_what_can_be_resolved() {
    let mut design = design();
    design.responses[0].subtract = Some(cell([("model", "empty")]));
    let records: Vec<Record> = (0..8_u32)
        .flat_map(|block| {
            let noise = [-3, 2, 5, -6, 1, -2, 4, -1][block as usize];
            [
                task(block, "thread", "1", 100 + noise).record(),
                task(block, "empty", "1", 100).record(),
            ]
        })
        .collect();
    let value = Quantity::Value { response: "task_ns".into(), at: Cell::default() };
    let found = result(&design, &records, value);
    let estimate = found.estimate.unwrap();
    assert!(estimate.low < 0.0 && estimate.high > 0.0, "nothing is clamped: {estimate:?}");
    assert!(found.remark.contains("below what this machine can resolve"), "{}", found.remark);
    // A ratio of what may be 0 has no logarithm, and no denominator either.
    let undefined = result(
        &design,
        &records,
        Quantity::Ratio { response: "task_ns".into(), of: Cell::default(), to: Cell::default() },
    );
    assert_eq!(undefined.estimate, None);
    assert!(undefined.remark.contains("not distinguishable from 0"), "{}", undefined.remark);
}

#[test]
fn a_round_without_the_control_is_no_gap() {
    let mut design = design();
    design.responses[0].subtract = Some(cell([("model", "empty")]));
    let mut records: Vec<Record> = (0..8_i64)
        .map(|block| task(block as u32, "thread", "1", 100 + block % 3).record())
        .collect();
    records.extend((0..6).map(|block| task(block, "empty", "1", 40).record()));
    let value = Quantity::Value { response: "task_ns".into(), at: Cell::default() };
    let found = result(&design, &records, value.clone());
    assert_eq!((found.estimate.unwrap().samples, found.remark.as_str()), (6, ""));
    // Where the control failed, the block is one.
    fail(&mut records[8]);
    let found = result(&design, &records, value);
    assert!(found.remark.contains("1 of 6 blocks do not give"), "{}", found.remark);
}

/// Three treatments: thread stands for the base, process for the whole, empty for the whole
/// without the suspected cause.
fn gaps(blocks: u32, whole: f64, without: f64, base: f64) -> Vec<Record> {
    (0..blocks)
        .flat_map(|block| {
            let drift = 1000.0 * (1.0 + 0.1 * f64::from(block));
            let noise = |place: u32| f64::from((block * 7 + place * 5) % 11) - 5.0;
            [
                task(block, "process", "1", (drift * whole + noise(0)) as i64).record(),
                task(block, "empty", "1", (drift * without + noise(1)) as i64).record(),
                task(block, "thread", "1", (drift * base + noise(2)) as i64).record(),
            ]
        })
        .collect()
}

fn share() -> Quantity {
    Quantity::Share {
        response: "task_ns".into(),
        whole: cell([("model", "process")]),
        without: cell([("model", "empty")]),
        base: cell([("model", "thread")]),
    }
}

#[test]
fn a_share_is_the_part_of_the_gap_that_vanishes() {
    // (10 − 7) / (10 − 5) = 0.6.
    let found = result(&design(), &gaps(9, 10.0, 7.0, 5.0), share());
    let estimate = found.estimate.unwrap();
    assert!((estimate.point - 0.6).abs() < 0.003, "{estimate:?}");
    assert!(estimate.low > 0.59 && estimate.high < 0.61);
    assert_eq!(found.unit, None);
}

#[test]
fn a_gap_that_is_not_resolved_has_no_share() {
    let found = result(&design(), &gaps(9, 10.0, 7.0, 10.0), share());
    assert_eq!(found.estimate, None);
    assert!(found.remark.contains("the gap itself is not resolved"), "{}", found.remark);
}

fn over_n(blocks: u32, of: impl Fn(u32, f64) -> f64) -> Vec<Record> {
    let levels = [("1", 1.0), ("2", 2.0), ("4", 4.0), ("8", 8.0)];
    (0..blocks)
        .flat_map(|block| levels.map(|(name, n)| (block, name, of(block, n))))
        .map(|(block, name, value)| task(block, "thread", name, value as i64).record())
        .collect()
}

fn over(kind: fn(String, String, Cell) -> Quantity) -> Quantity {
    kind("task_ns".into(), "n".into(), Cell::default())
}

fn exponent_quantity() -> Quantity {
    over(|response, over, at| Quantity::Exponent { response, over, at })
}

fn linearity_quantity() -> Quantity {
    over(|response, over, at| Quantity::Linearity { response, over, at })
}

#[test]
fn an_exponent_is_a_slope_of_logarithms() {
    let drift = |block: u32| 1e9 * (1.0 + f64::from(block));
    let records = over_n(7, |block, n| drift(block) * n.powf(1.5));
    let found = result(&design(), &records, exponent_quantity()).estimate.unwrap();
    assert!((found.point - 1.5).abs() < 1e-6, "{found:?}");
    let flat = over_n(7, |block, _| drift(block));
    let found = result(&design(), &flat, exponent_quantity());
    assert_eq!(found.estimate.unwrap().point, 0.0);
    assert_eq!(found.remark, "all 7 blocks agree to the last digit");
}

#[test]
fn linearity_is_r_squared_by_block() {
    let records = over_n(6, |block, n| 1e6 * (1.0 + f64::from(block)) * (3.0 + 2.0 * n));
    let found = result(&design(), &records, linearity_quantity()).estimate.unwrap();
    assert!((found.point - 1.0).abs() < 1e-9);
    // By hand for n² over 1, 2, 4, 8: xy = 255, xx = 28.75, yy = 4353 − 85²/4 = 2546.75 …
    let square = over_n(6, |_, n| 1e6 * n * n);
    let (xx, xy, yy) = (28.75, 585.0 - 15.0 * 85.0 / 4.0, 4369.0 - 85.0 * 85.0 / 4.0);
    let found = result(&design(), &square, linearity_quantity()).estimate.unwrap();
    assert!((found.point - xy * xy / (xx * yy)).abs() < 1e-9, "{found:?}");
}

#[test]
fn a_level_that_hardly_ever_completed_costs_the_others_nothing() {
    let mut records = over_n(8, |block, n| 1e6 * (1.0 + f64::from(block)) * n);
    let hard = |record: &&mut Record| record.treatment.level("n") == Some("8") && record.block >= 3;
    records.iter_mut().filter(hard).for_each(fail);
    let found = result(&design(), &records, exponent_quantity());
    assert_eq!(found.estimate.unwrap().samples, 8);
    assert!(found.remark.contains("3 of 4 levels of n completed"), "{}", found.remark);
    // Rounds that measured one level only, for another question, cost nothing either.
    records.retain(|record| record.treatment.level("n") == Some("1") || record.block < 7);
    let found = result(&design(), &records, exponent_quantity());
    assert_eq!(found.estimate.unwrap().samples, 7);
    // With two levels left there is a slope, but no line to judge.
    records.retain(|record| matches!(record.treatment.level("n"), Some("1" | "2")));
    assert_eq!(result(&design(), &records, linearity_quantity()).estimate, None);
    assert!(result(&design(), &records, exponent_quantity()).estimate.is_some());
}

#[test]
fn a_proportion_compares_with_the_line_through_the_origin() {
    // 8 workers take 8.8 times as long as one: 1.1 of proportional.
    let drift = |block: u32| 1e6 * (1.0 + f64::from(block));
    let records = over_n(6, |block, n| drift(block) * if n > 7.0 { 8.8 } else { n });
    let quantity = Quantity::Proportion {
        response: "task_ns".into(),
        over: "n".into(),
        lower: "1".into(),
        upper: "8".into(),
        at: Cell::default(),
    };
    let found = result(&design(), &records, quantity).estimate.unwrap();
    assert!((found.point - 1.1).abs() < 1e-9);
}

#[test]
fn a_frequency_counts_observations() {
    let records: Vec<Record> = (0..4)
        .map(|block| {
            let values = if block == 0 { [1, 0, 0, 0, 0] } else { [0; 5] };
            task(block, "process", "1", 1).series("faults_count", 1, &values).record()
        })
        .collect();
    let quantity = |among| Quantity::Frequency { response: "faults_count".into(), among };
    let found = result(&design(), &records, quantity(cell([("model", "process")])));
    let estimate = found.estimate.unwrap();
    assert_eq!((estimate.point, estimate.samples), (0.05, 4));
    assert_eq!((found.events, found.chances), (Some(1), Some(20)));
    // R: binom.test(1, 20): 0.001265 to 0.248733, and wider since 4 trials may all be bursts.
    assert!(estimate.low > 0.0 && estimate.low < 0.002, "{estimate:?}");
    assert!((0.6..0.65).contains(&estimate.high), "{estimate:?}");
    assert_eq!(found.remark, "");
    let none = result(&design(), &records, quantity(cell([("model", "thread")])));
    assert_eq!((none.estimate, none.events, none.chances), (None, None, None));
    assert_eq!(none.remark, "no trial of this profile matches, or none was reached");
    let one = result(&design(), &records[..1], quantity(Cell::default()));
    assert_eq!(one.estimate, None);
    assert!(one.remark.starts_with("1 trial observed it, 2 are needed"), "{}", one.remark);
}

#[test]
fn a_rate_counts_events_among_the_operations_of_an_observation() {
    let trial = |block, per, events: &[i64]| {
        Trial::new(block)
            .at([("model", "thread"), ("n", "1")])
            .series("faults_count", per, events)
            .record()
    };
    // 12 of 3,400,000; a count below 0 or above its operations cannot be.
    let mut records: Vec<Record> = (0..6).map(|b| trial(b, 500_000, &[2])).collect();
    records.push(trial(6, 200_000, &[-3, 0]));
    let among = Quantity::Frequency { response: "faults_count".into(), among: Cell::default() };
    let found = result(&design(), &records, among.clone());
    assert_eq!((found.events, found.chances), (Some(12), Some(3_400_000)));
    let estimate = found.estimate.unwrap();
    assert!((estimate.point - 12.0 / 3.4e6).abs() < 1e-15);
    assert!(estimate.low * 3.4e6 > 5.0 && estimate.high > 0.4, "{estimate:?}");
    // Where chances are independent by construction the limits are those of Poisson.
    let mut independent = design();
    independent.responses.iter_mut().for_each(|response| response.independent = true);
    let estimate = result(&independent, &records, among.clone()).estimate.unwrap();
    assert!((estimate.low * 3.4e6 - 6.2).abs() < 0.05, "{estimate:?}");
    records.push(trial(7, 3, &[9]));
    let found = result(&design(), &records, among.clone());
    assert_eq!((found.events, found.chances), (Some(15), Some(3_400_003)));
    // All losses in one trial: they were not independent after all.
    let mut burst: Vec<Record> = (0..7).map(|b| trial(b, 500_000, &[0])).collect();
    burst.push(trial(7, 500_000, &[12]));
    let found = result(&independent, &burst, among);
    assert!(found.estimate.unwrap().low < 0.2e-6, "{found:?}");
    assert!(found.remark.starts_with("trials differ by more than chance"), "{}", found.remark);
}

#[test]
fn a_refused_frequency_says_why() {
    let refused = Outcome::Unsupported { reason: "needs 2 CPUs".into() };
    let records = [task(0, "thread", "1", 1).ended(refused).record()];
    let among = Quantity::Frequency { response: "faults_count".into(), among: Cell::default() };
    assert_eq!(
        result(&design(), &records, among.clone()).remark,
        "no completed trial observed it: unsupported, needs 2 CPUs"
    );
    let without = [task(0, "thread", "1", 1).record()];
    let remark = result(&design(), &without, among).remark;
    assert_eq!(remark, "no completed trial measured it");
}

#[test]
fn counts_that_never_vary_have_no_width() {
    let count = |block, model, faults| {
        Trial::new(block)
            .at([("model", model), ("n", "1")])
            .series("faults_count", 1, &[faults])
            .record()
    };
    let records: Vec<Record> =
        (0..2).flat_map(|block| [count(block, "process", 16), count(block, "thread", 0)]).collect();
    let of = cell([("model", "process")]);
    let difference =
        Quantity::Difference { response: "faults_count".into(), of, to: Cell::default() };
    let found = result(&design(), &records, difference);
    let estimate = found.estimate.unwrap();
    assert_eq!((estimate.low, estimate.point, estimate.high), (16.0, 16.0, 16.0));
    assert_eq!(
        (found.remark.as_str(), found.floor),
        ("all 2 blocks agree, too few for a verdict", None)
    );
    // Zero has no logarithm: 0 / 16 is a ratio as it is.
    let ratio = Quantity::Ratio {
        response: "faults_count".into(),
        of: Cell::default(),
        to: cell([("model", "process")]),
    };
    let found = result(&design(), &records, ratio);
    assert_eq!(found.estimate.unwrap().point, 0.0);
}

/// The made-up design with a `task_ns` that is computed, or only said to be.
fn computed() -> Design {
    let mut design = design();
    design.responses[0].exact = true;
    design
}

#[test]
fn what_is_computed_is_exact_and_one_block_decides() {
    let both = |block| [("thread", 160), ("process", 94)].map(|(m, v)| task(block, m, "1", v));
    let records: Vec<Record> = (0..1).flat_map(both).map(Trial::record).collect();
    let found = result(&computed(), &records, ratio("process", "thread"));
    let estimate = found.estimate.unwrap();
    assert!(estimate.is_exact() && estimate.low == estimate.point, "{estimate:?}");
    assert_eq!((estimate.high, estimate.standard_error), (estimate.point, None));
    assert!((estimate.point - 0.5875).abs() < 1e-12);
    assert_eq!((found.remark.as_str(), found.floor), ("computed, not measured", None));
    let design = computed();
    let table = Table::new(&design, records.iter());
    let evidence = effect(&table, &ratio("process", "thread")).evidence;
    assert!(evidence.is_certain());
    assert_eq!(estimate.samples, 1);
    // Of the same numbers from a clock two blocks decide nothing.
    let records: Vec<Record> = (0..2).flat_map(both).map(Trial::record).collect();
    let timed = result(&self::design(), &records, ratio("process", "thread"));
    assert!(!timed.estimate.unwrap().is_exact() && timed.remark.contains("too few"), "{timed:?}");
}

#[test]
fn what_is_declared_exact_and_differs_is_not_believed() {
    let both = |block| [("thread", 160), ("process", 94 + i64::from(block))];
    let trials = |block| both(block).map(|(m, v)| task(block, m, "1", v).record());
    let records: Vec<Record> = (0..2).flat_map(trials).collect();
    let found = result(&computed(), &records, ratio("process", "thread"));
    assert!(!found.estimate.unwrap().is_exact());
    assert!(found.remark.contains("its blocks differ"), "{}", found.remark);
}
