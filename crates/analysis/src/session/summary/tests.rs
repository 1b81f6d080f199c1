use super::*;
use crate::fixture::{design, task};
use model::{Cell, Control, Estimate, Finding, Grade, Outcome, Region, ShieldReport, Source};
use proptest::prelude::*;

fn cell(model: &str) -> Cell {
    Cell::new([("model", model)])
}

fn ratio(of: &str, to: &str) -> Quantity {
    Quantity::Ratio { response: "task_ns".into(), of: cell(of), to: cell(to) }
}

fn claim(id: &str, quantity: Quantity, holds_if: Region) -> Claim {
    Claim {
        id: id.into(),
        text: format!("{id}."),
        source: "[notes]".into(),
        mechanism: "page tables".into(),
        quantity,
        holds_if,
        note: String::new(),
        shown: String::new(),
    }
}

/// A process costs 8 threads give or take 1 %, an empty trial as much as a thread.
fn records(blocks: u32) -> Vec<Record> {
    (0..blocks)
        .flat_map(|block| {
            let drift = 10_000 + 500 * i64::from(block);
            let noise = |place: i64| (i64::from(block) * 7 + place * 5) % 11 - 5;
            [
                task(block, "thread", "1", drift * (1000 + noise(0)) / 1000).record(),
                task(block, "process", "1", 8 * drift * (1000 + noise(3)) / 1000).record(),
                task(block, "empty", "1", drift * (1000 + noise(1)) / 1000).record(),
            ]
        })
        .collect()
}

fn study() -> Design {
    let mut design = design();
    design.findings = vec![Finding {
        id: "cost".into(),
        sentence: "A process costs {} threads.".into(),
        quantity: ratio("process", "thread"),
        drives: true,
    }];
    design.claims = vec![
        claim("16 times", ratio("process", "thread"), Region::about(16.31, 0.1)),
        claim("dearer", ratio("process", "thread"), Region::above(2.0)),
        claim("no difference", ratio("empty", "thread"), Region::about(1.0, 0.05)),
        claim("slower", ratio("empty", "thread"), Region::above(1.0)),
    ];
    let (a, b) = (cell("empty"), cell("thread"));
    design.controls = vec![Control { response: "task_ns".into(), a, b }];
    design
}

fn summary(designs: &[Design], records: &[Record]) -> Summary {
    summarise(&Input {
        scruple: "0.1.0",
        session: "s",
        complete: true,
        environment: &model::Environment::default(),
        shield: &ShieldReport::default(),
        designs,
        records,
    })
}

#[test]
fn a_session_becomes_numbers_and_verdicts() {
    let records = records(11);
    let summary = summary(&[study()], &records);
    assert_eq!((summary.format, summary.complete), (SUMMARY_FORMAT, true));
    let found = &summary.experiments[0];
    assert_eq!((found.id.as_str(), found.version, found.blocks), ("made_up", 3, 11));
    assert_eq!((found.outcomes.len(), found.outcomes[0].trials), (1, 33));
    // Three treatments, and of three responses only the time was measured: the counters hold no
    // CPU time here.
    assert_eq!(found.estimates.len(), 3);
    assert_eq!(found.estimates[0].estimate.unwrap().samples, 11);
    let cost = found.findings[0].result.estimate.unwrap();
    assert!(cost.low < 8.0 && cost.high > 8.0 && cost.high / cost.low < 1.02, "{cost:?}");
    let verdicts: Vec<Verdict> = found.claims.iter().map(|claim| claim.verdict).collect();
    use Verdict::{Inconclusive, Refuted, Supported};
    assert_eq!(verdicts, vec![Refuted, Supported, Supported, Inconclusive]);
    assert!(found.claims[3].p_value.unwrap() > 0.05);
    assert!(summary.trust.holds && !summary.trust.controls[0].differs);
    let floor = summary.trust.floor.unwrap();
    assert!(floor > 0.001 && floor < 0.02, "{floor}");
    let later = summary.trust.floor_in_ten_times.unwrap();
    assert!(later < floor / 3.0 && later > floor / 5.0, "{later}");
    // One response was measured, by a clock alone, once a trial.
    assert_eq!((found.floors.len(), found.floors[0].blocks), (1, 11));
    assert!(found.floors[0].now.unwrap() < 0.02, "{:?}", found.floors);
    assert_eq!((found.variances.len(), found.variances[0].within_trials), (1, None));
    assert_eq!(found.variances[0].largest, Source::BetweenBlocks);
    assert!(found.claims.iter().all(|claim| claim.grade == Grade::Timing));
    assert!(found.claims[0].raise.starts_with("A count of what"), "{}", found.claims[0].raise);
    assert_eq!(summary.harness.trials, 33);
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
}

#[test]
fn claims_of_all_experiments_share_the_error() {
    // 10 blocks that agree reach p = 0.002, which stands alone and falls among 30.
    let mut single = study();
    single.claims = vec![claim("edge", ratio("process", "thread"), Region::above(1.0))];
    let records = records(10);
    let alone = summary(&[single.clone()], &records);
    let p_value = alone.experiments[0].claims[0].p_value.unwrap();
    assert!((p_value - 2.0 / 1024.0).abs() < 1e-9, "{p_value}");
    assert_eq!(alone.experiments[0].claims[0].verdict, Verdict::Supported);
    assert_eq!(alone.experiments[0].claims[0].agreeing_blocks, Some(10));
    let mut other = study();
    other.id = "another".into();
    other.claims = vec![study().claims[3].clone(); 29];
    let mut both = records.clone();
    both.extend(records.iter().cloned().map(|mut record| {
        record.experiment = "another".into();
        record
    }));
    let together = summary(&[other, single], &both);
    let claim = &together.experiments[1].claims[0];
    assert_eq!((claim.p_value, claim.verdict), (Some(p_value), Verdict::Inconclusive));
}

#[test]
fn identical_treatments_that_differ_break_the_trust() {
    let mut records = records(10);
    for record in &mut records {
        if record.treatment.level("model") == Some("empty") {
            let series = &mut record.measured.as_mut().unwrap().series[0];
            series.values[0] = series.values[0] * 11 / 10;
        }
    }
    let trust = summary(&[study()], &records).trust;
    assert!(trust.controls[0].differs && !trust.holds);
    assert!((trust.controls[0].ratio.point - 1.1).abs() < 0.01);
}

#[test]
fn without_a_control_there_is_no_trust() {
    let mut design = study();
    design.controls.clear();
    let trust = summary(&[design], &records(10)).trust;
    assert!(!trust.holds && trust.floor.is_none() && trust.controls.is_empty());
}

#[test]
fn what_was_not_measured_is_inconclusive_and_told() {
    let records: Vec<Record> = records(4)
        .into_iter()
        .map(|mut record| {
            if record.treatment.level("model") == Some("process") {
                record.outcome = Outcome::Unsupported { reason: "no fork".into() };
                record.measured = None;
            }
            record
        })
        .collect();
    let found = &summary(&[study()], &records).experiments[0];
    assert_eq!(found.findings[0].result.estimate, None);
    assert_eq!((found.claims[0].verdict, found.claims[0].p_value), (Verdict::Inconclusive, None));
    assert_eq!(
        found.warnings,
        vec![
            "4 of 12 trials could not be made here: no fork",
            "only 4 blocks: below 6 the intervals assume a normal distribution",
        ]
    );
}

#[test]
fn an_imprecise_answer_is_told() {
    let mut design = study();
    design.precision = 0.001;
    let found = &summary(&[design], &records(10)).experiments[0];
    assert!(
        found.warnings[0]
            .ends_with("is less precise than requested: ± 0.5 % of the number, 5.5 times as wide"),
        "{:?}",
        found.warnings
    );
}

#[test]
fn an_empty_session_is_a_summary_too() {
    let summary = summary(&[study()], &[]);
    assert_eq!(summary.experiments[0].blocks, 0);
    assert!(summary.experiments[0].claims.iter().all(|c| c.verdict == Verdict::Inconclusive));
    assert!(!summary.trust.holds);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn the_order_of_records_is_irrelevant(seed in 0..1000_usize) {
        let forwards = records(8);
        let mut shuffled = forwards.clone();
        for index in 0..shuffled.len() {
            let other = (index * 31 + seed * 17) % shuffled.len();
            shuffled.swap(index, other);
        }
        let (a, b) = (summary(&[study()], &forwards), summary(&[study()], &shuffled));
        prop_assert_eq!(&a.experiments[0].claims, &b.experiments[0].claims);
        prop_assert_eq!(&a.experiments[0].findings, &b.experiments[0].findings);
        prop_assert_eq!(&a.trust, &b.trust);
    }
}

#[test]
fn a_level_that_is_computed_is_the_number_itself() {
    let mut design = design();
    design.responses[0].exact = true;
    let level = |values: &[i64]| {
        let trials = (0..).zip(values).map(|(block, value)| task(block, "thread", "1", *value));
        let records: Vec<Record> = trials.map(|trial| trial.record()).collect();
        let table = Table::new(&design, records.iter());
        let row = estimates(&table).into_iter().find(|row| row.response == "task_ns");
        row.unwrap().estimate
    };
    assert_eq!(level(&[143_467; 2]), Some(Estimate::exactly(143_467.0, 2)));
    assert_eq!(level(&[143_467]), Some(Estimate::exactly(143_467.0, 1)));
    assert!(!level(&[143_467, 143_468]).unwrap().is_exact());
}

#[test]
fn the_floors_of_the_ratios_are_summed_up_once_each() {
    let found = summary(&[study()], &records(10));
    let visible = found.trust.visible.unwrap();
    let experiment = &found.experiments[0];
    let ratio = |result: &&QuantityResult| matches!(result.quantity, Quantity::Ratio { .. });
    let findings = experiment.findings.iter().map(|finding| &finding.result);
    let claims = experiment.claims.iter().map(|claim| &claim.result);
    let all: Vec<&QuantityResult> = findings.chain(claims).filter(ratio).collect();
    let floors: Vec<f64> = all.iter().filter_map(|result| result.floor).collect();
    assert!(visible.ratios >= 1 && visible.ratios as usize <= floors.len(), "{visible:?}");
    assert!(floors.iter().any(|floor| *floor <= visible.median));
    assert!(floors.iter().any(|floor| *floor >= visible.median));
    assert!(all.iter().all(|result| result.likeness.is_some() == result.estimate.is_some()));
}

#[test]
fn two_responses_of_a_trial_are_divided_within_it() {
    // What disturbs a trial is in both.
    let trial = |block: u32| {
        let slow = 1_000 * (1 + i64::from(block % 3));
        task(block, "thread", "1", 3 * slow + i64::from(block % 2)).series("own_ns", 1, &[slow])
    };
    let records: Vec<Record> = (0..12).map(|block| trial(block).record()).collect();
    let mut design = design();
    let own = model::Response { name: "own_ns".into(), ..design.responses[0].clone() };
    design.responses.push(own);
    let quotient = |by: &str| Quantity::Quotient {
        response: "task_ns".into(),
        by: by.into(),
        at: Cell::new([("n", "1")]),
    };
    let result = ask(&design, &records, &quotient("own_ns"));
    let estimate = result.estimate.unwrap();
    assert!((estimate.point - 3.0).abs() < 0.001 && estimate.high < 3.01, "{estimate:?}");
    assert_eq!((result.unit, result.likeness.is_some()), (None, true));
    let nothing = ask(&design, &records, &quotient("wall_ns"));
    assert!(nothing.estimate.is_none() && !nothing.remark.is_empty(), "{nothing:?}");
}
