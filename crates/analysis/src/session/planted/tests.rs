use super::*;
use crate::fixture::{design, task};
use crate::session::need::{half_width, need};
use model::{Cell, Design, Profile, Record};

fn cell(model: &str) -> Cell {
    Cell::new([("model", model)])
}

fn ratio(of: &str) -> Quantity {
    Quantity::Ratio { response: "task_ns".into(), of: cell(of), to: cell("thread") }
}

fn answer(quantity: Quantity, without: f64, truth: Region) -> Planted {
    let (id, what) = ("answer".into(), "a delay".into());
    Planted { id, what, quantity, without, truth, size: None }
}

/// A process takes 1.2 times as long as a thread, an empty trial as long; give or take 1 %.
fn records(blocks: u32) -> Vec<Record> {
    let noise =
        |block: u32, place: u32| i64::from((block * 7 + place * 5 + place * block) % 11) - 5;
    let one = |block, model: &str, level: i64, place| {
        let value = level * (1000 + noise(block, place)) / 1000;
        task(block, model, "1", value).series("faults_count", 10, &[level / 10]).record()
    };
    let three = |block| {
        [
            one(block, "thread", 10_000, 0),
            one(block, "process", 12_000, 3),
            one(block, "empty", 10_000, 1),
        ]
    };
    (0..blocks).flat_map(three).collect()
}

fn results(answers: &[Planted], records: &[Record]) -> Vec<PlantedResult> {
    let mut design = Design { planted: answers.to_vec(), ..design() };
    design.responses.iter_mut().for_each(|it| it.exact = it.name == "faults_count");
    planted(&[Table::new(&design, records.iter())]).remove(0)
}

fn described(answer: Planted, records: &[Record]) -> [Option<bool>; 3] {
    let found = results(&[answer], records).remove(0);
    [found.holds, found.found, found.excluded]
}

const YES: Option<bool> = Some(true);
const NO: Option<bool> = Some(false);

#[test]
fn a_planted_answer_is_found_and_held() {
    let all = records(16);
    let right = answer(ratio("process"), 1.0, Region::about(1.2, 0.01));
    assert_eq!(described(right.clone(), &all), [YES, YES, NO]);
    // Wrong about the size: found, not held, and said to be so.
    let wrong = Planted { truth: Region::about(1.4, 0.01), ..right.clone() };
    assert_eq!(described(wrong, &all), [NO, YES, YES]);
    // On the other side of 1: something is there, but not what was planted.
    let inverse = Planted { truth: Region::about(0.8, 0.01), ..right.clone() };
    assert_eq!(described(inverse, &all), [NO, NO, YES]);
    // Nothing measured says nothing.
    assert_eq!(described(right, &[]), [None; 3]);
}

#[test]
fn where_nothing_was_planted_nothing_is_found() {
    let all = records(16);
    let none = answer(ratio("empty"), 1.0, Region::within(1.0, 1.0));
    assert_eq!(described(none, &all), [YES, NO, NO]);
    // What differs all the same, on either side.
    let wrong = answer(ratio("process"), 1.0, Region::within(1.0, 1.0));
    assert_eq!(described(wrong, &all), [NO, YES, YES]);
    let wrong = answer(ratio("process"), 1.5, Region::within(1.5, 1.5));
    assert_eq!(described(wrong, &all), [NO, YES, YES]);
}

#[test]
fn exact_counts_are_exact() {
    let faults =
        |of| Quantity::Ratio { response: "faults_count".into(), of: cell(of), to: cell("thread") };
    // Computed, not measured: two blocks are enough.
    let two = records(2);
    // 120 : 100 comes back from its logarithm with another last digit.
    let exact = answer(faults("process"), 1.0, Region::within(1.2, 1.2));
    assert_eq!(described(exact.clone(), &two), [YES, YES, NO]);
    let off = Planted { truth: Region::within(1.21, 1.21), ..exact };
    assert_eq!(described(off, &two), [NO, YES, YES]);
    assert_eq!(
        described(answer(faults("empty"), 1.0, Region::within(1.0, 1.0)), &two),
        [YES, NO, NO]
    );
    let at = cell("process");
    let value = Quantity::Value { response: "faults_count".into(), at };
    assert_eq!(described(answer(value, 0.0, Region::within(120.0, 120.0)), &two), [YES, YES, NO]);
}

#[test]
fn answers_of_a_session_share_their_error() {
    // 10 blocks that agree reach p = 0.002, which stands alone and falls among 30.
    let all = records(10);
    let near = answer(ratio("process"), 1.1, Region::about(1.2, 0.05));
    assert_eq!(described(near.clone(), &all), [YES, YES, NO]);
    let null = answer(ratio("empty"), 1.0, Region::within(1.0, 1.0));
    let many: Vec<Planted> = std::iter::once(near).chain(vec![null; 29]).collect();
    assert_eq!(results(&many, &all)[0].found, NO);
    // Over several experiments as well, each with its own answers.
    let [mut one, mut other] = [design(), design()];
    one.planted = many[..1].to_vec();
    (other.id, other.planted) = ("another".into(), many[1..].to_vec());
    let mut both = all.clone();
    both.extend(
        all.iter().cloned().map(|record| Record { experiment: "another".into(), ..record }),
    );
    let tables = [Table::new(&one, both.iter()), Table::new(&other, both.iter())];
    let found = planted(&tables);
    assert_eq!((found[0].len(), found[1].len(), found[0][0].found), (1, 29, NO));
}

#[test]
fn a_planted_answer_asks_for_half_of_its_distance() {
    let all = records(16);
    let design = design();
    let table = Table::new(&design, all.iter());
    let asked = |quantity: Quantity, without, truth| {
        let result = effect(&table, &quantity).result(&table, &quantity);
        let half = half_width(&table, &result).unwrap();
        asked_of_planted(&answer(quantity, without, truth), &result, half, 0.07)
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
    near(asked(ratio("process"), 1.0, Region::within(1.2, 1.3)), 1.2_f64.powf(1.0 / 2.0) - 1.0);
    near(asked(ratio("process"), 1.0, Region::within(0.5, 0.8)), 1.25_f64.powf(1.0 / 2.0) - 1.0);
    near(asked(ratio("process"), 1.0, Region::within(1.003, 1.1)), FINEST);
    // Nothing planted: the region's own half-width, or the design's precision.
    near(asked(ratio("empty"), 1.0, Region::about(1.0, 0.06)), 1.06_f64.powf(1.0 / 2.0) - 1.0);
    near(asked(ratio("empty"), 1.0, Region::within(1.0, 1.0)), 0.07);
    let at = cell("process");
    let value = Quantity::Value { response: "task_ns".into(), at };
    near(asked(value, 0.0, Region::within(12_000.0, 12_000.0)), 1.0 / 2.0);
    // 2000 ns, of which half is a 12th of the larger level's 12000.
    let (of, to) = (cell("process"), cell("thread"));
    let more = Quantity::Difference { response: "task_ns".into(), of, to };
    let level =
        crate::median(&table.trials("task_ns", &design.complete(&cell("process")))).unwrap();
    near(asked(more, 0.0, Region::within(2_000.0, 2_100.0)), 2_000.0 / 2.0 / level);
    let among = cell("thread");
    let seen = Quantity::Frequency { response: "task_ns".into(), among };
    let asin = |share: f64| share.sqrt().asin();
    near(asked(seen, 0.01, Region::above(0.05)), (asin(0.05) - asin(0.01)) / 2.0);
}

#[test]
fn a_planted_answer_drives_by_its_width_alone() {
    let all = records(16);
    let refs: Vec<&Record> = all.iter().collect();
    let ask = |answer: Planted| {
        let design = Design { planted: vec![answer], ..design() };
        need(&design, &refs, &design.treatments(Profile::Smoke), 1)
    };
    let wide = ask(answer(ratio("process"), 1.0, Region::within(1.2, 1.2)));
    assert!(wide.ratio > 0.0 && wide.ratio <= 1.0 && wide.treatments.is_empty(), "{wide:?}");
    let fine = ask(answer(ratio("process"), 1.0, Region::within(1.01, 1.01)));
    let levels: Vec<_> = fine.treatments.iter().filter_map(|t| t.level("model")).collect();
    assert!(fine.ratio > wide.ratio, "{} {}", fine.ratio, wide.ratio);
    assert_eq!(levels.is_empty(), fine.ratio <= 1.0);
    // Whether the number lies where it should does not matter.
    let off = ask(answer(ratio("process"), 1.0, Region::within(1.0 / 1.2, 1.0 / 1.2)));
    assert!((off.ratio - wide.ratio).abs() < 1e-9, "{} {}", off.ratio, wide.ratio);
    assert_eq!(
        ask(answer(ratio("process"), 1.0, Region::within(1.2, 1.2))).ratio,
        wide.ratio,
        "the same session asks for the same"
    );
}
