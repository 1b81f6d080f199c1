use super::rounds::{concurrency_ppm, overlap_ppm, together_ppm};
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
            assert!(
                crew.reports.iter().all(|report| report.life.ended_ns >= report.life.started_ns)
            );
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
            meeting: Meeting { arrivals: &AtomicU64::new(0), expected: 1, separate: false },
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
            let first = crew.reports.iter().map(|report| report.life.started_ns).min().unwrap();
            // The work's time is counted from when they were let go, so none began earlier.
            let last = crew.reports.iter().map(|report| report.life.ended_ns).max().unwrap();
            assert!(last - first <= crew.work_ns, "{model:?}: one began before the gate opened");
            assert!(crew.work_ns <= crew.wall_ns);
        }
    });
}

#[test]
fn a_worker_of_its_own_cpu_is_confined_to_it() {
    let cpus = here();
    for model in [Model::Thread, Model::Process] {
        alone(|| {
            let cpus = &cpus;
            let work = |worker: &Worker<'_>| {
                worker.keep(u64::from(sys::affinity::current_cpu()));
                worker.worked(sys::affinity::allowed().map_or(0, |allowed| allowed.len() as u64));
                Ok(())
            };
            // One more than there are CPUs: the last begins anew.
            let count = cpus.len() + 1;
            let crew = crew_placed(model, count, Placement::Apart(cpus), work, |_| ()).unwrap();
            for (index, report) in crew.reports.iter().enumerate() {
                assert_eq!((report.fate, report.escaped), (Fate::Done, false));
                assert_eq!((report.result, report.work), (cpus[index % cpus.len()].into(), 1));
            }
        });
    }
}

#[test]
fn a_worker_whose_cpu_does_not_exist_is_refused() {
    alone(|| {
        let placement = Placement::Apart(&[60_000]);
        let crew = crew_placed(Model::Thread, 1, placement, |_| Ok(()), |_| ()).unwrap();
        assert_eq!(crew.reports[0].fate, Fate::Refused);
    });
}

#[test]
fn nobody_passes_a_meeting_before_all_have_come() {
    for model in [Model::Thread, Model::Process] {
        // As many as there are CPUs, and many more.
        for count in [here().len(), 3 * here().len() + 1] {
            alone(|| {
                let shared = sys::pages::shared(8).unwrap();
                let come = &shared.words()[0];
                let work = |worker: &Worker<'_>| {
                    for meeting in 1..=20 {
                        come.fetch_add(1, Ordering::AcqRel);
                        worker.meet()?;
                        if come.load(Ordering::Acquire) < meeting * count as u64 {
                            return Err(Refusal::Failed);
                        }
                    }
                    Ok(())
                };
                let crew = crew(model, count, &here(), work, |_| ()).unwrap();
                assert!(crew.reports.iter().all(|report| report.fate == Fate::Done), "{model:?}");
            });
        }
    }
}

/// Counts in a word of shared memory; the sum of a round is what was found.
struct Adding<'a> {
    words: &'a [AtomicU64],
    each: u64,
}

impl Repeated for &Adding<'_> {
    fn work(&mut self, index: usize, _: u64) {
        self.words[1 + index].store(self.each, Ordering::Relaxed);
    }

    fn hand_in(&mut self, index: usize) {
        let own = self.words[1 + index].swap(0, Ordering::Relaxed);
        self.words[0].fetch_add(own, Ordering::Relaxed);
    }

    fn settle(&mut self) -> u64 {
        self.words[0].swap(0, Ordering::Relaxed)
    }
}

#[test]
fn each_round_is_settled_when_all_have_handed_in() {
    for model in [Model::Thread, Model::Process] {
        for (least, limit_ns, most) in
            [(0, 0, 1), (7, 0, 7), (1, 60_000_000_000, crate::OBSERVATIONS_MAX)]
        {
            alone(|| {
                let shared = sys::pages::shared(64).unwrap();
                let task = Adding { words: shared.words(), each: 7 };
                let pace = Pace { warm_up: 2, least, limit_ns, round_ns: 0 };
                let rounds = Rounds::new(3, pace).unwrap();
                let work = |worker: &Worker<'_>| rounds.run(worker, &mut &task);
                crew(model, 3, &here(), work, |_| ()).unwrap();
                // No time allows one round, or as many as are asked for; much time as many as are
                // kept.
                assert_eq!(rounds.count(), most, "{model:?}");
                for round in 0..most {
                    assert_eq!(rounds.found(round), 21);
                    let spans = rounds.spans(round);
                    assert_eq!(spans.len(), 3);
                    assert!(spans.iter().all(|s| 0 < s.started_ns && s.started_ns <= s.ended_ns));
                }
                assert!(rounds.spans(0)[0].ended_ns <= rounds.spans(most - 1)[0].ended_ns);
                assert_eq!([rounds.walls_ns().len(), rounds.cpus_ns().len()], [most; 2]);
                let overlaps = rounds.overlaps_ppm().into_iter().chain(rounds.concurrencies_ppm());
                assert!(overlaps.into_iter().all(|ppm| (0..=1_000_000).contains(&ppm)));
            });
        }
    }
}

/// Works until it is told to end, and remembers when that was.
struct Waiting<'a>(&'a [AtomicU64]);

impl Repeated for Waiting<'_> {
    fn work(&mut self, index: usize, until_ns: u64) {
        while sys::clock::now_ns() < until_ns {}
        self.0[index].fetch_add(until_ns, Ordering::Relaxed);
    }

    fn settle(&mut self) -> u64 {
        0
    }
}

#[test]
fn work_by_the_clock_is_to_end_for_all_at_the_same_time() {
    let cpus = here();
    // As many as there are CPUs, each on its own; and more, in turns.
    for count in [cpus.len(), cpus.len() + 1] {
        alone(|| {
            let pace = Pace { warm_up: 0, least: 3, limit_ns: 0, round_ns: 1_000_000 };
            let rounds = Rounds::new(count, pace).unwrap();
            let ends: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(0)).collect();
            let work = |worker: &Worker<'_>| rounds.run(worker, &mut Waiting(&ends));
            let placement = Placement::Apart(&cpus);
            let crew = crew_placed(Model::Thread, count, placement, work, |_| ()).unwrap();
            assert!(crew.reports.iter().all(|report| report.fate == Fate::Done));
            assert_eq!(rounds.count(), 3);
            let ends: Vec<u64> = ends.into_iter().map(AtomicU64::into_inner).collect();
            assert!(ends.iter().all(|end| *end == ends[0] && *end > 0), "{ends:?}");
        });
    }
}

#[test]
fn nobody_waits_for_one_who_will_not_come() {
    let cpus = here();
    for model in [Model::Thread, Model::Process] {
        for ending in ["refused", "panics", "is killed"] {
            if ending == "is killed" && model == Model::Thread {
                continue;
            }
            alone(|| {
                let work = |worker: &Worker<'_>| {
                    if worker.index > 0 {
                        return worker.meet();
                    }
                    match ending {
                        "refused" => return Err(Refusal::Refused),
                        "panics" => panic!("planted"),
                        _ => sys::process::kill(sys::process::pid(), sys::signal::SIGKILL).unwrap(),
                    }
                    Ok(())
                };
                // With a CPU for each, and without.
                for placement in [Placement::Apart(&cpus), Placement::Among(&cpus[..1])] {
                    let crew = crew_placed(model, 2, placement, work, |_| ()).unwrap();
                    assert_eq!(crew.reports[1].fate, Fate::Failed, "{model:?}: one {ending}");
                }
            });
        }
    }
}

fn span(started_ns: u64, ended_ns: u64, cpu_ns: u64) -> Span {
    Span { started_ns, ended_ns, cpu_ns, ..Span::default() }
}

#[test]
fn together_is_the_common_part_of_all_lives() {
    let lives = |lives: &[(u64, u64)]| {
        let spans: Vec<Span> = lives.iter().map(|(from, to)| span(*from, *to, 0)).collect();
        together_ppm(&spans)
    };
    assert_eq!(lives(&[(0, 100), (0, 100)]), 1_000_000);
    assert_eq!(lives(&[(0, 60), (40, 100)]), 200_000);
    assert_eq!(lives(&[(0, 40), (60, 100)]), 0);
    assert_eq!(lives(&[(0, 100), (10, 90), (20, 100)]), 700_000);
}

#[test]
fn who_lacked_a_cpu_did_not_overlap() {
    let all_ran = [span(0, 100, 100), span(0, 100, 101)];
    assert_eq!((overlap_ppm(&all_ran), concurrency_ppm(&all_ran)), (1_000_000, 1_000_000));
    // One lacked a tenth, the other a fifth, and nobody knows when.
    let some_lacked = [span(0, 100, 90), span(0, 100, 80)];
    assert_eq!((overlap_ppm(&some_lacked), concurrency_ppm(&some_lacked)), (700_000, 700_000));
    // They took turns on one CPU.
    let turns = [span(0, 100, 50), span(0, 100, 50)];
    assert_eq!((together_ppm(&turns), overlap_ppm(&turns)), (1_000_000, 0));
    assert_eq!(overlap_ppm(&[]), 0);
}

#[test]
fn who_slept_for_a_lock_lacked_only_what_it_waited_for_a_cpu() {
    let slept = Span { queue_wait_ns: Some(5), sleeps: 1, ..span(0, 100, 40) };
    assert_eq!(overlap_ppm(&[slept, span(0, 100, 100)]), 950_000);
    // Where the kernel does not tell, all that it did not run counts.
    let untold = Span { queue_wait_ns: None, ..slept };
    assert_eq!(overlap_ppm(&[untold, span(0, 100, 100)]), 400_000);
    // What a hypervisor took is on no run queue, and shows in one that never slept.
    let stolen = Span { sleeps: 0, ..slept };
    assert_eq!(overlap_ppm(&[stolen, span(0, 100, 100)]), 400_000);
}

#[test]
fn one_that_is_done_early_overlaps_less_but_was_never_alone() {
    let unfair = [span(0, 100, 100), span(0, 60, 60)];
    assert_eq!((overlap_ppm(&unfair), concurrency_ppm(&unfair)), (600_000, 1_000_000));
    // Of one that begins late the other was alone at first.
    let late = [span(0, 100, 100), span(40, 110, 70)];
    assert_eq!(concurrency_ppm(&late), 600_000);
    let one_after_the_other = [span(0, 50, 50), span(50, 100, 50)];
    assert_eq!(concurrency_ppm(&one_after_the_other), 0);
}
