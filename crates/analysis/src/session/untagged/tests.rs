use crate::fixture::{Trial, design, response, task};
use crate::{Input, summarise};
use model::*;

fn cell(model: &str) -> Cell {
    Cell::new([("model", model)])
}

fn ratio(of: &str, to: &str) -> Quantity {
    Quantity::Ratio { response: "task_ns".into(), of: cell(of), to: cell(to) }
}

fn claim(id: &str, quantity: Quantity, holds_if: Region) -> Claim {
    Claim {
        id: id.into(),
        text: String::new(),
        source: String::new(),
        mechanism: String::new(),
        quantity,
        holds_if,
        note: String::new(),
        shown: String::new(),
    }
}

/// A process costs 2 threads; in blocks in which a trial of a process was stolen from, 4.
fn records(blocks: u32, stolen: impl Fn(u32) -> bool) -> Vec<Record> {
    (0..blocks)
        .flat_map(|block| {
            let noise = |place: i64| 10_000 + 10 * ((i64::from(block) * 7 + place * 5) % 11 - 5);
            let mut process = task(block, "process", "1", 2 * noise(3)).steal(0);
            if stolen(block) {
                process = task(block, "process", "1", 4 * noise(3)).steal(10_000_000);
            }
            [task(block, "thread", "1", noise(0)).record(), process.record()]
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
        claim("dearer", ratio("process", "thread"), Region::above(1.5)),
        claim("much dearer", ratio("process", "thread"), Region::above(2.5)),
        claim("seldom stolen", frequency(), Region::below(0.5)),
        claim("itself", ratio("thread", "thread"), Region::about(1.0, 0.01)),
    ];
    design.responses.push(response("tag_stolen_from_count", Unit::Count));
    design
}

fn frequency() -> Quantity {
    Quantity::Frequency { response: "tag_stolen_from_count".into(), among: cell("process") }
}

fn summary(design: Design, records: &[Record]) -> Summary {
    summarise(&Input {
        scruple: "0.1.0",
        session: "s",
        complete: true,
        environment: &Environment::default(),
        shield: &ShieldReport::default(),
        designs: &[design],
        records,
    })
}

#[test]
fn a_session_without_tags_has_no_second_numbers() {
    let summary = summary(study(), &records(12, |_| false));
    let found = &summary.experiments[0];
    assert!(found.estimates.iter().all(|row| (row.tagged, row.untagged) == (0, None)));
    assert_eq!((found.findings[0].result.tagged, found.findings[0].result.untagged), (0, None));
    assert!(found.claims.iter().all(|claim| !claim.result.remark.contains("tag")));
}

#[test]
fn every_number_stands_beside_that_of_the_untagged_trials() {
    // Eight of twelve blocks were disturbed, so that they carry the number.
    let summary = summary(study(), &records(12, |block| block % 3 > 0));
    let found = &summary.experiments[0];
    let cost = &found.findings[0].result;
    assert_eq!((cost.tagged, cost.estimate.unwrap().samples), (8, 12));
    assert!(cost.estimate.unwrap().point > 2.5, "{cost:?}");
    let untagged = cost.untagged.unwrap();
    assert_eq!(untagged.samples, 4);
    assert!((untagged.point - 2.0).abs() < 0.02, "{untagged:?}");
    for row in found.estimates.iter().filter(|row| row.response == "task_ns") {
        let is_process = row.treatment.level("model") == Some("process");
        assert_eq!(row.tagged, if is_process { 8 } else { 0 });
        let untagged = row.untagged.map(|estimate| estimate.samples);
        assert_eq!(untagged, is_process.then_some(4));
    }
}

#[test]
fn a_verdict_that_rests_on_tagged_trials_says_so() {
    let whole = summary(study(), &records(80, |block| block % 5 > 0));
    let claims = &whole.experiments[0].claims;
    let described: Vec<(Verdict, &str)> =
        claims.iter().map(|claim| (claim.verdict, claim.result.remark.as_str())).collect();
    assert!(
        described[0].0 == Verdict::Supported && !described[0].1.contains("without"),
        "{described:?}"
    );
    let other = "without the 64 trials that have a tag the claim would be refuted";
    assert!(
        described[1].0 == Verdict::Supported && described[1].1.ends_with(other),
        "{described:?}"
    );
    // How often time was stolen is not asked of the trials from which none was.
    let stolen = &claims[2].result;
    assert_eq!((stolen.events, stolen.chances, stolen.tagged), (Some(64), Some(80), 64));
    assert_eq!((stolen.untagged, stolen.remark.contains("without")), (None, false));
    assert_eq!((claims[3].result.tagged, claims[3].result.untagged), (0, None));
}

#[test]
fn where_every_trial_has_a_tag_there_is_no_second_number() {
    let whole = summary(study(), &records(12, |_| true));
    let claim = &whole.experiments[0].claims[1];
    assert_eq!((claim.verdict, claim.result.tagged), (Verdict::Supported, 12));
    assert_eq!(claim.result.untagged, None);
    let described = "2 verdicts rest on trials that have a tag: too few others are left to form the \
                number without them";
    assert_eq!(whole.experiments[0].warnings.last().map(String::as_str), Some(described));
}

#[test]
fn a_corrected_number_is_compared_with_its_like() {
    // Every other block has its elapsed time doubled by others and a tag for it.
    let both = |block: u32, model: &str, ns: i64| {
        let busy = block.is_multiple_of(2);
        let wall = if busy { 2 * ns } else { ns };
        let trial = Trial::new(block).at([("model", model), ("n", "1")]);
        let trial = trial.series("task_ns", 1, &[wall]).series("cpu_ns", 1, &[ns]);
        trial
            .wall(wall as u64)
            .cpu(ns as u64)
            .queue(ns as u64, (wall - ns) as u64)
            .foreign(if busy { 10 * wall as u64 } else { 0 })
            .record()
    };
    let records: Vec<Record> = (0..12)
        .flat_map(|block| {
            [both(block, "thread", 1_000), both(block, "process", 2_000 + i64::from(block))]
        })
        .collect();
    let cost = &summary(study(), &records).experiments[0].findings[0].result;
    assert_eq!(cost.carried_by.as_deref(), Some("corrected_task_ns"));
    assert_eq!((cost.tagged, cost.untagged.unwrap().samples), (12, 6));
    assert!((cost.untagged.unwrap().point - 2.005).abs() < 0.01);
}

#[test]
fn a_control_that_is_subtracted_has_its_tags_counted() {
    let mut design = study();
    design.responses[0].subtract = Some(cell("empty"));
    let mut all = records(8, |_| false);
    all.extend((0..8).map(|block| {
        let empty = task(block, "empty", "1", 100);
        if block < 2 { empty.steal(10_000_000).record() } else { empty.record() }
    }));
    let whole = summary(design, &all);
    let row = whole.experiments[0]
        .estimates
        .iter()
        .find(|row| row.response == "task_ns" && row.treatment.level("model") == Some("thread"));
    let row = row.unwrap();
    assert_eq!((row.tagged, row.untagged.unwrap().samples), (2, 6));
}

#[test]
fn nothing_that_happens_to_a_trial_touches_what_is_computed() {
    let mut design = study();
    let all = records(8, |block| block < 2);
    assert!(design.responses.len() > 1);
    design.responses[0].exact = true;
    let mixed = summary(design.clone(), &all);
    assert!(!mixed.experiments[0].tags.is_empty(), "what else is measured has its tags");
    design.responses.iter_mut().for_each(|response| response.exact = true);
    let whole = summary(design, &all);
    let experiment = &whole.experiments[0];
    assert!(experiment.tags.is_empty(), "nothing is measured");
    let rows = experiment.estimates.iter().map(|row| (row.tagged, row.untagged));
    assert!(rows.into_iter().all(|row| row == (0, None)));
    let result = &experiment.findings[0].result;
    assert_eq!((result.tagged, result.untagged), (0, None));
}
