use super::*;
use crate::fixture::{Trial, design, task};
use model::{Cell, Phase};

#[test]
fn observations_are_divided_and_centred() {
    let record = Trial::new(0).series("task_ns", 10, &[10, 20, 90]).record();
    assert_eq!(observations(&record, "task_ns"), vec![1.0, 2.0, 9.0]);
    assert_eq!(trial_value(&record, "task_ns", Center::Median), Some(2.0));
    assert_eq!(trial_value(&record, "task_ns", Center::Mean), Some(4.0));
    assert_eq!(trial_value(&record, "task_ns", Center::Sum), Some(12.0));
    assert_eq!(trial_value(&record, "task_ns", Center::Max), Some(9.0));
    assert_eq!(trial_value(&record, "other_ns", Center::Max), None);
}

#[test]
fn batches_of_different_size_are_one_sample() {
    let record = Trial::new(0).series("task_ns", 10, &[10]).series("task_ns", 100, &[300]);
    assert_eq!(observations(&record.record(), "task_ns"), vec![1.0, 3.0]);
}

#[test]
fn counters_fill_in_for_a_missing_series() {
    let record = Trial::new(0).wall(70).cpu(60).queue(55, 5).switches(4).moved(1).record();
    let value = |name| trial_value(&record, name, Center::Median);
    assert_eq!(value("wall_ns"), Some(70.0));
    assert_eq!(value("cpu_ns"), Some(60.0));
    assert_eq!(value("on_cpu_ns"), Some(55.0));
    assert_eq!(value("queue_wait_ns"), Some(5.0));
    assert_eq!(value("involuntary_switches_count"), Some(4.0));
    assert_eq!(value("migrations_count"), Some(1.0));
    // What the kernel did not tell is absent, not 0.
    assert_eq!(value("minor_faults_count"), None);
    let own = Trial::new(0).cpu(60).series("cpu_ns", 1, &[7]).record();
    assert_eq!(trial_value(&own, "cpu_ns", Center::Median), Some(7.0));
}

#[test]
fn only_completed_trials_of_the_experiment_count() {
    let design = design();
    let mut stranger = task(1, "thread", "1", 5).record();
    stranger.experiment = "another".into();
    let died =
        task(2, "thread", "1", 5).ended(Outcome::Died { signal: 9, phase: Phase::Measuring });
    let records = [task(0, "thread", "1", 4).record(), stranger, died.record()];
    let found = samples(&design, &records, "task_ns");
    assert_eq!(found.into_values().collect::<Vec<_>>(), vec![vec![(0, 4.0)]]);
}

#[test]
fn the_control_of_the_same_block_is_subtracted_and_never_clamped() {
    let mut design = design();
    design.responses[0].subtract = Some(Cell::new([("model", "empty")]));
    let records = [
        task(0, "thread", "1", 100).record(),
        task(0, "empty", "1", 30).record(),
        task(1, "thread", "1", 110).record(),
        task(1, "empty", "1", 120).record(),
        // Without a control of its block this trial gives no number.
        task(2, "thread", "1", 105).record(),
        // The control of another cell is not its control.
        task(2, "empty", "2", 1).record(),
    ];
    let table = Table::new(&design, records.iter());
    let thread = design.complete(&Cell::default());
    assert_eq!(table.trials("task_ns", &thread), vec![70.0, -10.0]);
    assert_eq!(table.blocks("task_ns", &thread), ByBlock::from([(0, 70.0), (1, -10.0)]));
    let empty = thread.with(&Cell::new([("model", "empty")]));
    assert_eq!(table.trials("task_ns", &empty), vec![30.0, 120.0]);
}

#[test]
fn several_trials_of_a_block_become_their_mean() {
    let design = design();
    let records = [task(0, "thread", "1", 10).record(), task(0, "thread", "1", 20).record()];
    let table = Table::new(&design, records.iter());
    let thread = design.complete(&Cell::default());
    assert_eq!(table.blocks("task_ns", &thread), ByBlock::from([(0, 15.0)]));
    assert_eq!(table.trials("task_ns", &thread), vec![10.0, 20.0]);
}

#[test]
fn events_are_counted_among_chances_over_trials() {
    let mut died = task(3, "thread", "1", 1).series("faults_count", 10, &[9]).record();
    died.outcome = Outcome::Died { signal: 9, phase: Phase::Measuring };
    let records = [
        task(0, "thread", "1", 1).series("faults_count", 1, &[0, 3, 0, -1]).record(),
        task(1, "thread", "1", 1).series("faults_count", 1_000, &[2, 0]).record(),
        task(2, "thread", "1", 1).record(),
        died,
    ];
    assert_eq!(events_among(&records, "faults_count"), Some((3, 2_004)));
    assert_eq!(events_among(&records[2..], "faults_count"), None);
}
