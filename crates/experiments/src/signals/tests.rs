use super::burst::{self, Bursts};
use super::deliver;
use super::receiver::{Receiver, Way};
use super::sender::{BURST, Plan};
use super::wake::{self, Rounds};
use super::*;
use kit::model::Profile;
use kit::workers::Model;

/// Handlers and masks are the process's: each of these tests has a process of its own, which says
/// by its exit code whether `right` held.
fn in_child(right: impl FnOnce() -> bool) {
    let child = sys::task::fork_run(|| i32::from(!right())).unwrap();
    assert_eq!(sys::task::wait(child).unwrap().code, Some(0));
}

/// A plan for a few rounds, with the sender on the first CPU.
fn plan(rounds_max: u64) -> Plan {
    let cpus = sys::affinity::allowed().unwrap();
    Plan { limit_ns: 5_000_000_000, rounds_max, seed: 7, cpu: cpus[0] }
}

/// Rounds of single signals, with the receiver on the last CPU; `None` where there is only one.
fn wakes(way: Way, signal: i32, window_ns: u64, model: Model, rounds: u64) -> Option<Rounds> {
    let cpus = sys::affinity::allowed().unwrap();
    let last = cpus.last().filter(|_| cpus.len() > 1)?;
    sys::affinity::pin(&[*last]).unwrap();
    let receiver = Receiver::new(way, signal, window_ns).unwrap();
    Some(wake::run(receiver, signal, model, plan(rounds)).unwrap())
}

#[test]
fn a_window_wider_than_the_spread_loses_the_wake_ups_of_pause() {
    in_child(|| {
        let rounds = wakes(Way::Pause, sys::signal::SIGUSR1, 5_000_000, Model::Process, 15);
        rounds.is_none_or(|rounds| {
            // A sender that has no CPU for longer than the window sends late and loses nothing.
            (rounds.rounds, rounds.handled) == (15, 15) && rounds.lost >= 5
        })
    });
}

#[test]
fn what_unblocks_before_it_sleeps_loses_them_too() {
    in_child(|| {
        let rounds = wakes(Way::UnblockPause, sys::signal::SIGUSR1, 5_000_000, Model::Thread, 15);
        rounds.is_none_or(|rounds| rounds.handled == 15 && rounds.lost >= 5)
    });
}

#[test]
fn waits_of_one_step_lose_none_in_any_window() {
    for way in [Way::Suspend, Way::Poll, Way::Wait, Way::Descriptor] {
        for signal in [sys::signal::SIGUSR1, sys::signal::real_time()] {
            for (window_ns, model) in [(0, Model::Thread), (100_000, Model::Process)] {
                in_child(|| {
                    let rounds = wakes(way, signal, window_ns, model, 12);
                    rounds.is_none_or(|rounds| {
                        (rounds.rounds, rounds.handled, rounds.lost) == (12, 12, 0)
                            && (window_ns > 0) == rounds.latencies.is_empty()
                    })
                });
            }
        }
    }
}

fn bursts(way: Way, busy: Busy, signal: i32) -> Bursts {
    let receiver = Receiver::new(way, signal, 0).unwrap();
    burst::run(receiver, busy, signal, Model::Process, plan(3)).unwrap()
}

#[test]
fn blocked_bursts_become_one_or_stay_all() {
    for (_, way) in WAYS {
        in_child(|| {
            let bursts = bursts(way, Busy::Blocking, sys::signal::SIGUSR1);
            (bursts.sent, bursts.handled) == (3 * BURST, 3)
        });
        in_child(|| {
            let bursts = bursts(way, Busy::Blocking, sys::signal::real_time());
            (bursts.sent, bursts.handled) == (3 * BURST, 3 * BURST)
        });
    }
}

#[test]
fn a_receiver_that_waits_again_handles_all_real_time_signals() {
    for (_, way) in WAYS {
        in_child(|| {
            let bursts = bursts(way, Busy::Waiting, sys::signal::real_time());
            bursts.handled == bursts.sent && bursts.notices <= bursts.sent
        });
        in_child(|| {
            let bursts = bursts(way, Busy::Waiting, sys::signal::SIGUSR1);
            (3..=bursts.sent).contains(&bursts.handled)
        });
    }
}

#[test]
fn who_blocks_a_signal_does_not_get_it() {
    for (blocking, model) in [
        (Blocking::Nobody, Model::Process),
        (Blocking::Main, Model::Thread),
        (Blocking::AllButOne, Model::Process),
    ] {
        in_child(|| {
            let delivered = deliver::run(blocking, sys::signal::SIGUSR1, model, plan(20)).unwrap();
            let handled: u64 = delivered.by_thread.iter().sum();
            let right = match blocking {
                Blocking::Nobody => true,
                Blocking::Main => delivered.by_thread[0] == 0,
                Blocking::AllButOne => delivered.by_thread == [0, 0, 20, 0],
            };
            (delivered.sent, handled) == (20, 20) && right
        });
    }
}

#[test]
fn every_level_has_its_code() {
    let design = design();
    crate::check_levels(&design, "waiter", &WAYS);
    crate::check_levels(&design, "signal", &SIGNALS);
    crate::check_levels(&design, "arrival", &ARRIVALS);
    crate::check_levels(&design, "delivery", &DELIVERIES);
    crate::check_levels(&design, "sender", &MODEL_LEVELS);
}

#[test]
fn smoke_and_quick_measure_what_the_claims_need() {
    let design = design();
    for profile in [Profile::Smoke, Profile::Quick] {
        let all = design.treatments(profile);
        for claim in &design.claims {
            let cells = claim.quantity.cells();
            let met = cells.iter().all(|cell| all.iter().any(|t| t.matches(cell)));
            assert!(met, "{profile:?} {}", claim.id);
        }
    }
}

#[test]
fn a_treatment_varies_one_thing_at_a_time() {
    // Several threads, bursts and windows are different questions: never two at once.
    let design = design();
    for treatment in design.treatments(Profile::Thorough) {
        let moved = [("arrival", "single"), ("delivery", "one_thread"), ("window", "0")];
        let count =
            moved.iter().filter(|(factor, base)| treatment.level(factor) != Some(base)).count();
        assert!(count <= 1, "{treatment}");
    }
}
