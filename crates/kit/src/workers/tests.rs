use super::*;
use std::sync::atomic::AtomicBool;

fn here() -> Vec<u32> {
    sys::affinity::allowed().unwrap()
}

/// Runs `body` in a process of its own: a crew of processes must not be forked from a test
/// program that has other threads in the middle of something.
fn alone(body: impl FnOnce()) {
    let child = sys::task::fork_run(|| {
        body();
        0
    })
    .unwrap();
    let ended = sys::task::wait(child).unwrap();
    assert_eq!((ended.code, ended.signal), (Some(0), None), "what the child asserts is in its log");
}

#[test]
fn both_models_do_and_report_the_same_work() {
    for model in [Model::Thread, Model::Process] {
        alone(|| {
            let work = |worker: &Worker<'_>| {
                worker.worked(worker.index as u64 + 1);
                Ok(())
            };
            let crew = crew(model, 4, &here(), work, |pids| {
                assert_eq!(pids.len(), if model == Model::Process { 4 } else { 0 });
            })
            .unwrap();
            let work: Vec<u64> = crew.reports.iter().map(|report| report.work).collect();
            assert_eq!(work, [1, 2, 3, 4]);
            assert!(crew.reports.iter().all(|report| report.fate == Fate::Done));
            assert!(crew.reports.iter().all(|report| !report.escaped));
            assert!(crew.reports.iter().all(|report| report.ended_ns >= report.started_ns));
            assert_eq!(crew.killed, 0);
            assert!(crew.wall_ns > 0);
        });
    }
}

#[test]
fn what_a_worker_keeps_is_there_while_the_crew_is_held_and_gone_afterwards() {
    struct Kept<'a>(&'a AtomicU64);
    impl Drop for Kept<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::AcqRel);
        }
    }
    for model in [Model::Thread, Model::Process] {
        alone(|| {
            let shared = sys::pages::shared(8).unwrap();
            let alive = &shared.words()[0];
            let work = |_: &Worker<'_>| {
                alive.fetch_add(1, Ordering::AcqRel);
                Ok(Kept(alive))
            };
            crew(model, 3, &here(), work, |_| assert_eq!(alive.load(Ordering::Acquire), 3))
                .unwrap();
            assert_eq!(alive.load(Ordering::Acquire), 0);
        });
    }
}

#[test]
fn a_refusal_a_failure_and_a_panic_are_told_apart() {
    for model in [Model::Thread, Model::Process] {
        alone(|| {
            let work = |worker: &Worker<'_>| match worker.index {
                0 => Ok(()),
                1 => Err(Refusal::Refused),
                2 => Err(Refusal::Failed),
                _ => panic!("planted"),
            };
            let crew = crew(model, 4, &here(), work, |_| ()).unwrap();
            let fates: Vec<Fate> = crew.reports.iter().map(|report| report.fate).collect();
            assert_eq!(fates, [Fate::Done, Fate::Refused, Fate::Failed, Fate::Failed]);
        });
    }
}

#[test]
fn a_worker_that_is_killed_is_not_waited_for() {
    alone(|| {
        let work = |worker: &Worker<'_>| {
            if worker.index == 1 {
                let _ = sys::process::kill(sys::process::pid(), sys::signal::SIGKILL);
            }
            Ok(())
        };
        let crew =
            crew(Model::Process, 3, &here(), work, |pids| assert_eq!(pids.len(), 2)).unwrap();
        let fates: Vec<Fate> = crew.reports.iter().map(|report| report.fate).collect();
        assert_eq!(fates, [Fate::Done, Fate::Killed, Fate::Done]);
        assert_eq!(crew.killed, 1);
    });
}

#[test]
fn one_that_was_killed_after_its_work_does_not_hide_one_that_still_works() {
    alone(|| {
        let shared = sys::pages::shared(16).unwrap();
        let victim = &shared.words()[0];
        let done = &shared.words()[1];
        let work = |worker: &Worker<'_>| {
            if worker.index == 0 {
                victim.store(sys::process::pid() as u64, Ordering::Release);
                return Ok(());
            }
            while victim.load(Ordering::Acquire) == 0 {
                std::hint::spin_loop();
            }
            // Long enough for the first to have arrived and to be killed while held.
            sys::clock::sleep_ns(30_000_000);
            let _ = sys::process::kill(victim.load(Ordering::Acquire) as Pid, sys::signal::SIGKILL);
            sys::clock::sleep_ns(100_000_000);
            done.store(1, Ordering::Release);
            Ok(())
        };
        let held = AtomicBool::new(false);
        let crew = crew(Model::Process, 2, &here(), work, |_| {
            assert_eq!(done.load(Ordering::Acquire), 1);
            held.store(true, Ordering::Release);
        })
        .unwrap();
        assert!(held.load(Ordering::Acquire));
        assert_eq!(crew.killed, 1);
        assert_eq!(crew.reports[0].fate, Fate::Done);
    });
}

#[test]
fn the_time_in_which_the_crew_is_watched_is_not_its_wall_time() {
    alone(|| {
        let watch_ns = 200_000_000;
        let begun_ns = sys::clock::now_ns();
        let crew = crew(Model::Thread, 2, &here(), |_| Ok(()), |_| sys::clock::sleep_ns(watch_ns))
            .unwrap();
        let all_ns = sys::clock::now_ns() - begun_ns;
        assert!(crew.wall_ns + watch_ns <= all_ns);
    });
}

#[test]
fn a_worker_found_outside_its_cpus_has_escaped() {
    alone(|| {
        // No such CPU: wherever the worker is, it is not there.
        let crew = crew(Model::Process, 1, &[65_535], |_| Ok(()), |_| ()).unwrap();
        assert!(crew.reports[0].escaped);
    });
}

#[test]
fn a_crew_of_nobody_is_done_at_once() {
    let crew = crew(Model::Thread, 0, &here(), |_| Ok(()), |_| ()).unwrap();
    assert!(crew.reports.is_empty());
}

#[test]
fn an_error_while_workers_wait_lets_them_go() {
    let start = SharedGate::new().unwrap();
    let gate = SharedGate::new().unwrap();
    std::thread::scope(|scope| {
        let made = Made {
            start: &start,
            gate: &gate,
            words: &[],
            threads: 1,
            processes: Vec::new(),
            ended: Vec::new(),
        };
        scope.spawn(|| {
            while gate.released().load(Ordering::Acquire) == 0 {
                let _ = sys::futex::wait_shared(gate.released(), 0, None);
            }
        });
        drop(made);
    });
    assert_eq!(gate.released().load(Ordering::Acquire), 1);
}

#[test]
fn nobody_begins_before_all_are_there() {
    alone(|| {
        for model in [Model::Thread, Model::Process] {
            let crew = crew(model, 4, &here(), |_| Ok(()), |_| ()).unwrap();
            let first = crew.reports.iter().map(|report| report.started_ns).min().unwrap();
            // The work's time is counted from when they were let go, so none began earlier.
            let last = crew.reports.iter().map(|report| report.ended_ns).max().unwrap();
            assert!(last - first <= crew.work_ns, "{model:?}: one began before the gate opened");
            assert!(crew.work_ns <= crew.wall_ns);
        }
    });
}
