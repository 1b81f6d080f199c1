//! Tests of elapsed time that other programs disturb.

use super::tests::{ratio, result};
use super::*;
use crate::fixture::{Trial, design, task};
use crate::session::disturbance::{cpu_ns, lost_share};
use crate::session::verdict::{open, verdicts};

const BY_CORRECTED: Option<&str> = Some("corrected_task_ns");

/// Returns a trial of `wall` ns that used `cpu` of them and was in a run queue for the rest.
fn busy(block: u32, model: &str, wall: u64, cpu: u64) -> Trial {
    let trial = task(block, model, "1", wall as i64).wall(wall).cpu(cpu);
    trial.queue(cpu, wall.saturating_sub(cpu)).foreign(2 * wall).switches(3)
}

/// Returns blocks in which a neighbour took part of the elapsed time of the process's trials; without it
/// a process costs 7.5 threads.
fn beside_a_neighbour(blocks: u32, several_cpus: bool) -> Vec<Record> {
    let both = |block: u32| {
        let wobble = u64::from(block);
        let process = busy(block, "process", 175_000 + 9_000 * wobble, 82_500 + 100 * wobble);
        let thread = 11_000 + 10 * wobble;
        let used = if several_cpus { 2 * thread } else { thread };
        [process.record(), busy(block, "thread", thread, used).record()]
    };
    (0..blocks).flat_map(both).collect()
}

#[test]
fn what_others_took_is_taken_off_each_trial() {
    let found = result(&design(), &beside_a_neighbour(6, false), ratio("process", "thread"));
    let estimate = found.estimate.unwrap();
    assert!((estimate.point - 7.5).abs() < 0.05, "{estimate:?}");
    assert_eq!(found.carried_by.as_deref(), BY_CORRECTED);
    // The figure in the remark is the median loss of the worse treatment: about 58 %.
    let described = "elapsed time less what other programs took: they used 58 %";
    assert!(found.remark.starts_with(described), "{}", found.remark);
    // A level has its unit, whatever it is formed from.
    let at = Cell::new([("model", "process")]);
    let level = Quantity::Value { response: "task_ns".into(), at };
    let level = result(&design(), &beside_a_neighbour(6, false), level);
    assert_eq!((level.carried_by.as_deref(), level.unit), (BY_CORRECTED, Some(model::Unit::Ns)));
}

#[test]
fn one_trial_that_others_disturbed_is_told_as_one() {
    let mut records: Vec<Record> = beside_a_neighbour(12, false);
    // The neighbour is there in the first block alone.
    for record in &mut records[2..] {
        let counters = &mut record.measured.as_mut().unwrap().counters;
        counters.user_ns = Some(counters.wall_ns);
    }
    let found = result(&design(), &records, ratio("process", "thread"));
    assert_eq!(found.carried_by.as_deref(), BY_CORRECTED);
    let described = "elapsed time less what other programs took: they used more than 5 % of the \
                     elapsed time of 1 of 24";
    assert!(found.remark.starts_with(described), "{}", found.remark);
    // Where nothing can be corrected, so few are left to the tags.
    let counters = &mut records[3].measured.as_mut().unwrap().counters;
    counters.user_ns = Some(2 * counters.wall_ns);
    let found = result(&design(), &records, ratio("process", "thread"));
    assert_eq!(found.carried_by, None);
    assert!(!found.remark.contains("other programs"), "{}", found.remark);
}

#[test]
fn trials_on_several_cpus_are_not_corrected() {
    let found = result(&design(), &beside_a_neighbour(6, true), ratio("process", "thread"));
    assert!(found.estimate.unwrap().point > 15.0);
    assert_eq!(found.carried_by, None);
    assert!(found.remark.starts_with("elapsed time, although"), "{}", found.remark);
}

#[test]
fn sleep_stays_in_the_corrected_number() {
    // A process sleeps for half of its time; a neighbour takes a tenth of the thread's.
    let trial = |block: u32, model, wall: u64, waited: u64| {
        busy(block, model, wall, 18_000).queue(18_000, waited).record()
    };
    let both = |block: u32| {
        let wobble = u64::from(block * 7 % 11);
        [
            trial(block, "process", 36_000 + wobble, 0),
            trial(block, "thread", 20_000 + wobble, 2_000 + wobble),
        ]
    };
    let records: Vec<Record> = (0..12).flat_map(both).collect();
    let found = result(&design(), &records, ratio("process", "thread"));
    assert_eq!(found.carried_by.as_deref(), BY_CORRECTED);
    assert!((found.estimate.unwrap().point - 2.0).abs() < 0.01, "{found:?}");
    // By CPU time the two would be the same, and in elapsed time the neighbour counts.
    let design = design();
    let table = Table::new(&design, records.iter());
    let by = |name| form(&table, &ratio("process", "thread"), name).evidence.estimate().unwrap();
    assert!((by("cpu_ns").point - 1.0).abs() < 0.01 && (by("task_ns").point - 1.8).abs() < 0.01);
}

#[test]
fn nothing_is_corrected_where_nobody_tells_who_waited() {
    // Children did the work beside a busy neighbour: did they sleep, or wait for the CPU?
    let mut records = beside_a_neighbour(12, false);
    for record in &mut records {
        let counters = &mut record.measured.as_mut().unwrap().counters;
        (counters.on_cpu_ns, counters.queue_wait_ns) = (Some(10), Some(2));
    }
    assert_eq!(result(&design(), &records, ratio("process", "thread")).carried_by, None);
    // Where the program's threads were looked at, their wait is known.
    for record in &mut records {
        let measured = record.measured.as_mut().unwrap();
        let waited = measured.counters.wall_ns as i64 - cpu_ns(&measured.counters).unwrap() as i64;
        let (response, values) = ("queue_wait_ns".into(), vec![waited.max(0)]);
        measured.series.push(model::Series { response, per: 1, values });
    }
    let found = result(&design(), &records, ratio("process", "thread"));
    assert_eq!(found.carried_by.as_deref(), BY_CORRECTED);
}

#[test]
fn the_median_of_many_operations_is_kept_where_others_stopped_few_of_them() {
    // Half of each region is lost to others, in two operations of twenty.
    let trial = |block: u32, model, ns: i64| {
        let wobble = i64::from(block * 7 % 11);
        let mut values = vec![ns + wobble; 18];
        values.extend([11 * ns; 2]);
        let wall = values.iter().sum::<i64>() as u64;
        let used = 21 * ns + 20 * wobble;
        let trial = Trial::new(block).at([("model", model), ("n", "1")]);
        let trial = trial.series("task_ns", 1, &values).series("cpu_ns", 20, &[used]);
        trial.wall(wall).cpu(used as u64).queue(10, 1).foreign(2 * wall).record()
    };
    let both = |block| [trial(block, "process", 75_000), trial(block, "thread", 10_000)];
    let records: Vec<Record> = (0..12).flat_map(both).collect();
    assert!(records.iter().all(|record| lost_share(record).unwrap() > 0.4));
    let found = result(&design(), &records, ratio("process", "thread"));
    assert_eq!((found.carried_by, found.remark.as_str()), (None, ""));
    assert!((found.estimate.unwrap().point - 7.5).abs() < 0.01);
}

#[test]
fn clocks_that_decide_opposite_ways_decide_nothing() {
    // The neighbour is in the way of the process alone, which costs as much as a thread.
    let both = |block: u32| {
        let cpu = 10_000 + u64::from(block * 7 % 11);
        let process = busy(block, "process", 8 * cpu / 5 + 20 * cpu / 100, cpu);
        [process.record(), busy(block, "thread", cpu, cpu).record()]
    };
    let records: Vec<Record> = (0..12).flat_map(both).collect();
    let design = design();
    let table = Table::new(&design, records.iter());
    let mut claim = Claim {
        id: "a".into(),
        text: String::new(),
        source: String::new(),
        mechanism: String::new(),
        quantity: ratio("process", "thread"),
        holds_if: model::Region::above(1.04),
        note: String::new(),
        shown: String::new(),
    };
    let mut found = effect(&table, &claim.quantity);
    let withheld = leaning(&table, &mut found, &claim);
    assert!(withheld.is_some_and(|it| it.clocks_disagree && it.p_value.is_none()));
    let verdicts = verdicts(&[withheld]);
    assert_eq!(verdicts, [model::Verdict::Inconclusive]);
    let open = open(&[withheld], &verdicts)[0].unwrap();
    assert_eq!((open.why, open.leans), (model::OpenWhy::ClocksDisagree, None));
    let remark = found.result(&table, &claim.quantity).remark;
    assert!(remark.ends_with("other programs took disagree: 1.800× and 1.000×"), "{remark}");
    // Both say the same of a region that holds both.
    claim.holds_if = model::Region::above(0.9);
    let mut found = effect(&table, &claim.quantity);
    assert!(leaning(&table, &mut found, &claim).unwrap().holds);
}

#[test]
fn an_undisturbed_wall_clock_carries_its_own_number() {
    let mut records = beside_a_neighbour(6, false);
    for record in &mut records {
        // The neighbour has a CPU of its own, and this trial had its own for itself.
        let counters = &mut record.measured.as_mut().unwrap().counters;
        counters.user_ns = Some(counters.wall_ns * 99 / 100);
    }
    let found = result(&design(), &records, ratio("process", "thread"));
    assert_eq!(found.carried_by, None);
    assert!(found.estimate.unwrap().point > 15.0);
    assert_eq!(found.remark, "");
}
