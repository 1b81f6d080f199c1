//! Programs of several threads.

use super::{described, plain};
use model::{Record, Resource, WaitKind};

/// Plain trials of a program of two threads on two CPUs that runs for `each` of the elapsed time in each thread, of which
/// one is alone for a part, and whose threads wait for something otherwise.
fn of_two(each: [f64; 2], alone: f64, wait: (WaitKind, f64)) -> Vec<Record> {
    let mut records = plain(6, (each[0] + each[1], 0.1), wait.0, "gate (mutex)");
    for record in &mut records {
        record.observed.insert("affinity", "0-1");
        let measured = record.measured.as_mut().unwrap();
        measured.counters.queue_wait_ns = Some(0);
        measured.counters.voluntary_switches = Some(100);
        let waits = measured.waits.as_mut().unwrap();
        waits.cpus = Some(2);
        waits.cpu_each_ns = each.map(|part| (part * 1e9) as u64).to_vec();
        (waits.still_ns, waits.waits[0].still_ns) = (0, 0);
        waits.waits[0].ns = (wait.1 * 1e9) as u64;
        waits.runners = vec![model::Runner {
            name: "w".into(),
            is_first: true,
            cpu_ns: 1,
            idle_ns: 1,
            absent_ns: 0,
            alone_ns: (alone * 1e9) as u64,
            together_ns: 1,
        }];
    }
    records
}

#[test]
fn of_several_threads_their_waits_limit_and_not_the_cpu_that_they_use() {
    use WaitKind as W;
    let name = |records: &[Record]| {
        let found = described(records);
        (found.named, found.named_wait)
    };
    let cpu = (Some(Resource::Cpu), None);
    assert_eq!(name(&of_two([0.75, 0.75], 0.3, (W::Lock, 0.5))), (None, Some(W::Lock)));
    assert_eq!(name(&of_two([0.5, 0.5], 0.1, (W::Barrier, 0.9))), (None, Some(W::Barrier)));
    assert_eq!(name(&of_two([0.5, 0.5], 0.1, (W::Storage, 0.9))), (Some(Resource::Storage), None));
    // Stages that hand over run one at a time.
    assert_eq!(name(&of_two([0.5, 0.45], 0.5, (W::Message, 1.0))), cpu);
    // All CPUs are in use, one thread sets the pace, or one works alone while others wait for the end of it.
    assert_eq!(name(&of_two([0.98, 0.97], 0.0, (W::Lock, 0.04))), cpu);
    for (each, alone, wait) in [([0.98, 0.1], 0.85, 0.9), ([0.62, 0.78], 0.6, 1.2)] {
        let found = described(&of_two(each, alone, (W::Signal, wait)));
        assert_eq!((found.named, found.named_wait), cpu, "{}", found.answer);
    }
    // Idle threads of a pool wait for nothing that limits it.
    let mut pool = of_two([0.75, 0.2], 0.7, (W::Lock, 1.0));
    for record in &mut pool {
        let waits = record.measured.as_mut().unwrap().waits.as_mut().unwrap();
        waits.waits[0].idle_ns = waits.waits[0].ns;
    }
    assert_eq!(name(&pool), cpu);
}

/// Between two threads that hand over thousands of times a second, the woken one is ready for a while: that is lost by
/// the lock, which few looks find.
#[test]
fn time_around_many_short_sleeps_is_that_of_what_they_sleep_for() {
    let mut records = of_two([0.7, 0.7], 0.1, (WaitKind::Lock, 0.05));
    for record in &mut records {
        let counters = &mut record.measured.as_mut().unwrap().counters;
        (counters.queue_wait_ns, counters.voluntary_switches) = (Some(500_000_000), Some(9_000));
    }
    let found = described(&records);
    assert_eq!(found.named_wait, Some(WaitKind::Lock), "{}", found.answer);
    assert!(found.answer.contains("gate (mutex)"), "{}", found.answer);
}

/// Nothing runs while one sleeps that holds what the others wait for: it limits the program if they take turns.
#[test]
fn what_is_held_asleep_limits_and_not_the_sleep() {
    for (kind, what, turns, is_lock) in [
        (WaitKind::Signal, "pool (semaphore)", 0.7, true),
        (WaitKind::Signal, "jobs (semaphore)", 0.0, false),
        (WaitKind::Lock, "pool (mutex)", 0.0, true),
    ] {
        let mut records = plain(6, (0.01, 0.1), WaitKind::Timer, "a sleep");
        for record in &mut records {
            record.observed.insert("affinity", "0-1");
            let measured = record.measured.as_mut().unwrap();
            measured.counters.voluntary_switches = Some(100);
            let waits = measured.waits.as_mut().unwrap();
            (waits.cpus, waits.cpu_each_ns) = (Some(2), vec![4_000_000, 3_000_000, 3_000_000]);
            let still_ns = waits.still_ns;
            let turns_ns = (turns * still_ns as f64) as u64;
            let (ns, still_ns) = (2 * still_ns, 0);
            let held = model::Wait {
                kind,
                what: what.into(),
                ns,
                still_ns,
                turns_ns,
                ..waits.waits[0].clone()
            };
            waits.waits.push(held);
        }
        let found = described(&records);
        assert_eq!(found.answer.contains(what), is_lock, "{what}: {}", found.answer);
        assert_eq!(found.named == Some(Resource::Timer), !is_lock, "{what}: {}", found.answer);
    }
}

#[test]
fn threads_that_are_pinned_to_one_cpu_are_said_to_be() {
    let mut records = of_two([0.49, 0.49], 0.0, (WaitKind::Thread, 0.0));
    for record in &mut records {
        record.measured.as_mut().unwrap().waits.as_mut().unwrap().cpus = Some(1);
    }
    let found = described(&records);
    assert_eq!(found.named, Some(Resource::Cpu), "{}", found.answer);
    assert!(found.answer.contains("1 of 2 CPUs"), "{}", found.answer);
}
