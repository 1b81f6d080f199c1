//! Sessions in which the times are alike and the waits differ.

use super::*;
use model::{Runner, Wait, WaitKind, Waits};

/// The waits of a trial whose workers are blocked or missing beside one thread for all that it lost.
pub(super) fn waits(trial: &ScaleTrial, kind: WaitKind, runner: (bool, bool)) -> Waits {
    let (idle_ns, (is_first, is_worker)) = (trial.blocked_ns.unwrap_or_default() as u64, runner);
    let still = matches!(kind, WaitKind::Timer);
    let wait = Wait {
        kind,
        what: "table (mutex)".into(),
        place: "drain".into(),
        holder: "w".into(),
        ns: idle_ns,
        idle_ns: 0,
        still_ns: if still { trial.wall_ns as u64 } else { 0 },
        turns_ns: 0,
        looks: 20,
        lasting: 10,
        renewed: 5,
    };
    let runner = Runner {
        name: "w".into(),
        is_first,
        cpu_ns: 1,
        idle_ns: if still { 0 } else { idle_ns },
        absent_ns: 0,
        alone_ns: 1,
        together_ns: u64::from(is_worker),
    };
    Waits {
        peers: Vec::new(),
        looks: 20,
        waits: vec![wait],
        runners: vec![runner],
        // The busiest worker has nearly all of it.
        cpu_each_ns: vec![trial.wall_ns as u64, 1],
        still_ns: if still { trial.wall_ns as u64 } else { 0 },
        cpus: None,
        unasked: String::new(),
    }
}

/// The same loss has the cause that the waits show, whatever the times look like.
#[test]
fn waits_decide_between_causes_whose_times_are_alike() {
    use Bottleneck as B;
    use WaitKind as W;
    for (kind, runner, right) in [
        (W::Lock, (false, true), B::Mutex),
        (W::Signal, (false, true), B::Handover),
        (W::Signal, (true, false), B::Serial),
        (W::Barrier, (false, true), B::Unequal),
        (W::Thread, (false, true), B::Unequal),
        (W::Thread, (true, true), B::Serial),
        (W::Storage, (false, true), B::Outside),
        (W::Timer, (false, true), B::Outside),
        (W::Memory, (false, true), B::Kernel),
    ] {
        let mut trials = session(Plant::Serial(0.4), 3, false);
        for trial in &mut trials {
            trial.waits = Some(Box::new(waits(trial, kind, runner)));
        }
        let levels = levels(&trials);
        let described = described(&levels, Some(CPUS as u32));
        let curve = curve::curve(&paired(&[]), &[]);
        let (cpus, copies) = (Some(CPUS as u32), Vec::new());
        let (levels, described, curve, placed) = (&levels, &described, &curve, Vec::new());
        let case = case::Case { levels, described, cpus, copies, placed, curve };
        let found = &cause::causes(&case)[0];
        assert_eq!(found.cause, right, "{kind:?} {runner:?}: {}", found.sentence);
        let names_it = matches!(kind, W::Lock | W::Storage | W::Timer | W::Memory);
        assert!(
            !names_it || found.sentence.contains("table (mutex), in drain"),
            "{}",
            found.sentence
        );
    }
}

/// Decides a session with a serial part, or what looks like one, by waits that are changed.
fn decided(kind: WaitKind, runner: (bool, bool), change: fn(&mut Waits)) -> Bottleneck {
    let mut trials = session(Plant::Serial(0.4), 3, false);
    for trial in &mut trials {
        let mut waits = waits(trial, kind, runner);
        change(&mut waits);
        trial.waits = Some(Box::new(waits));
    }
    ask(trials).causes[0].cause
}

/// Who waits often and shortly for the first thread gets something from it; who waits once has no work.
#[test]
fn exchanges_are_told_from_phases_by_how_long_a_wait_lasts() {
    use Bottleneck as B;
    use WaitKind as W;
    let (alone, among) = ((true, false), (false, true));
    let exchange: fn(&mut Waits) = |all| all.waits[0].renewed = 11;
    let phase: fn(&mut Waits) = |all| all.waits[0].renewed = 0;
    assert_eq!(decided(W::Signal, alone, phase), B::Serial);
    assert_eq!(decided(W::Signal, alone, exchange), B::Handover);
    assert_eq!(decided(W::Message, alone, exchange), B::Handover);
    assert_eq!(decided(W::Message, alone, phase), B::Serial);
    assert_eq!(decided(W::Message, among, phase), B::Unequal);
    assert_eq!(decided(W::Signal, among, phase), B::Unequal);
    assert_eq!(decided(W::Hidden, among, phase), B::Unequal);
    assert_eq!(decided(W::Hidden, among, exchange), B::Handover);
    // Go's threads sleep for long while goroutines wait for a lock.
    let of_go: fn(&mut Waits) = |all| {
        (all.waits[0].what, all.waits[0].renewed) = (model::GOROUTINES.into(), 0);
    };
    assert_eq!(decided(W::Hidden, among, of_go), B::Handover);
    // Whichever of them runs, a runtime's threads hand over to one another.
    assert_eq!(decided(W::Hidden, alone, exchange), B::Handover);
    assert_eq!(decided(W::Hidden, alone, phase), B::Serial);
}

/// Workers with equal CPU times do not wait for the end of one another, and if nothing ran the one that is waited for
/// did not, either.
#[test]
fn a_join_says_what_ended_late_and_not_why() {
    let (alone, among) = ((true, false), (false, true));
    let equal: fn(&mut Waits) = |all| all.cpu_each_ns = vec![1000; 4];
    assert_eq!(decided(WaitKind::Thread, among, |_| {}), Bottleneck::Unequal);
    assert_eq!(decided(WaitKind::Thread, among, equal), Bottleneck::Unknown);
    assert_eq!(decided(WaitKind::Barrier, among, equal), Bottleneck::Unequal);
    assert_eq!(decided(WaitKind::Child, alone, equal), Bottleneck::Serial);
    let mut trials = session(Plant::Serial(0.4), 3, false);
    for trial in &mut trials {
        let mut waits = waits(trial, WaitKind::Thread, among);
        let still_ns = if trial.n > 1.0 { trial.wall_ns as u64 } else { 0 };
        (waits.still_ns, waits.waits[0].still_ns) = (still_ns, still_ns);
        trial.waits = Some(Box::new(waits));
    }
    assert_eq!(ask(trials.clone()).causes[0].cause, Bottleneck::Unknown);
    // Nobody of the program ends the wait of a thread if none runs.
    for trial in &mut trials {
        let waits = trial.waits.as_deref_mut().unwrap();
        waits.waits[0].kind = WaitKind::Hidden;
    }
    let found = &ask(trials).causes[0];
    assert_eq!(found.cause, Bottleneck::Outside);
    assert!(found.sentence.contains("table (mutex), in drain"), "{}", found.sentence);
}

/// Nothing runs while a lock is held asleep: the sleep is that of the lock, unless few wait for it.
#[test]
fn time_slept_with_a_lock_held_is_that_of_the_lock() {
    for (lock, right) in
        [(0.9, Bottleneck::Mutex), (0.5, Bottleneck::Mutex), (0.1, Bottleneck::Outside)]
    {
        let mut trials = session(Plant::Serial(0.4), 3, false);
        for trial in &mut trials {
            let mut seen = waits(trial, WaitKind::Timer, (true, false));
            let ns = seen.waits[0].ns as f64;
            let held = Wait {
                kind: WaitKind::Lock,
                ns: (lock * ns) as u64,
                still_ns: 0,
                ..seen.waits[0].clone()
            };
            seen.waits[0].ns = ((1.0 - lock) * ns) as u64;
            seen.waits.push(held);
            trial.waits = Some(Box::new(seen));
        }
        let found = &ask(trials).causes[0];
        assert_eq!(found.cause, right, "{lock}: {found:?}");
    }
}

/// A semaphore, or what a runtime hides, is held asleep by those who also wait for it; who feeds a queue does not. Of two
/// workers one may wait half as long as the other sleeps.
#[test]
fn what_sleepers_take_turns_to_hold_is_a_lock() {
    use Bottleneck as B;
    use WaitKind as W;
    for (kind, what, (waits_part, turns), right) in [
        (W::Signal, "pool (semaphore)", (0.7, 0.75), B::Mutex),
        (W::Signal, "pool (semaphore)", (0.7, 0.1), B::Outside),
        (W::Signal, "pool (semaphore)", (0.15, 0.75), B::Outside),
        (W::Signal, "item (condition variable)", (0.7, 0.75), B::Outside),
        (W::Hidden, "a lock of Python", (0.7, 0.75), B::Handover),
        (W::Hidden, model::GOROUTINES, (0.7, 0.75), B::Outside),
        (W::Lock, "pool (mutex)", (0.7, 0.0), B::Mutex),
    ] {
        let mut trials = session(Plant::Serial(0.4), 3, false);
        for trial in &mut trials {
            let mut seen = waits(trial, W::Timer, (true, false));
            let ns = seen.waits[0].ns as f64;
            let held = Wait {
                kind,
                what: what.into(),
                ns: (waits_part * ns) as u64,
                still_ns: 0,
                turns_ns: (turns * seen.still_ns as f64) as u64,
                ..seen.waits[0].clone()
            };
            seen.waits[0].ns = ((1.0 - waits_part) * ns) as u64;
            seen.waits.push(held);
            trial.waits = Some(Box::new(seen));
        }
        let found = &ask(trials).causes[0];
        assert_eq!(found.cause, right, "{what} {turns}: {found:?}");
    }
    let case = session(Plant::Serial(0.4), 3, false);
    let levels = levels(&case);
    let two = levels.iter().find(|level| level.n == 2.0).unwrap();
    let mut trials: Vec<ScaleTrial> = two.trials.iter().map(|trial| (*trial).clone()).collect();
    // The trials differ much: one worker of an unfair lock does all before the other.
    for (place, trial) in trials.iter_mut().enumerate() {
        let mut seen = waits(trial, W::Timer, (true, false));
        let part = [0.4, 0.6][place % 2];
        let ns = seen.waits[0].ns as f64;
        seen.waits.push(Wait {
            kind: W::Lock,
            ns: (part * ns) as u64,
            still_ns: 0,
            ..seen.waits[0].clone()
        });
        seen.waits[0].ns = ((1.0 - part) * ns) as u64;
        trial.waits = Some(Box::new(seen));
    }
    let level = level::Level { n: 2.0, trials: trials.iter().take(2).collect() };
    let held = held::Held::of(&level).unwrap();
    let waited = held.share(&[W::Timer]);
    assert_eq!(held.lock_of(waited, 2.0).map(|one| one.kind), Some(W::Lock), "{held:?}");
    assert!(held.lock_of(2.0 * waited, 4.0).is_none(), "{held:?}");
}

/// Threads that keep themselves to one CPU wait for no other programs, whatever these use.
#[test]
fn pinned_threads_are_no_victims_of_others() {
    for plant in [Plant::Pinned, Plant::PinnedInCompany] {
        for (cpus, is_pinned) in [(1, true), (4, false)] {
            let mut trials = session(plant, 3, false);
            for trial in &mut trials {
                let seen = Waits { looks: 20, cpus: Some(cpus), ..Waits::default() };
                trial.waits = Some(Box::new(seen));
            }
            let found = &ask(trials).causes[0];
            let remedy = &rows::ROWS.pinned.remedy;
            assert_eq!(found.remedy == *remedy, is_pinned, "{plant:?}, {cpus}: {found:?}");
        }
    }
}

/// More than n times one worker is no plain "nothing".
#[test]
fn a_superlinear_speedup_has_its_own_words() {
    let mut trials = session(Plant::CpusAlone, 3, false);
    trials.retain(|trial| trial.n <= CPUS);
    assert_eq!(ask(trials.clone()).causes[0].remedy, rows::ROWS.nothing.remedy);
    for trial in &mut trials {
        let (n, less) = (trial.n, 1.0 / trial.n.sqrt());
        trial.wall_ns *= less;
        trial.cpu_ns = Some(trial.wall_ns * n);
        trial.waiting_ns = Some(0.0);
    }
    let found = &ask(trials).causes[0];
    assert_eq!((found.cause, &found.remedy), (Bottleneck::Nothing, &rows::ROWS.superlinear.remedy));
}

/// Each trial shows another of two waits of one kind: neither is sure, both together are.
#[test]
fn waits_of_one_kind_are_sure_together() {
    let mut trials = session(Plant::Serial(0.4), 3, false);
    for (place, trial) in trials.iter_mut().enumerate() {
        let mut waits = waits(trial, WaitKind::Message, (false, true));
        (waits.waits[0].what, waits.waits[0].renewed) = (format!("pipe {}", place / 7 % 3), 11);
        trial.waits = Some(Box::new(waits));
    }
    let found = &ask(trials).causes[0];
    assert_eq!(found.cause, Bottleneck::Handover, "{found:?}");
}

/// A client of one thread lacks no workers where a server has them.
#[test]
fn workers_that_a_server_has_are_not_missing() {
    for (peers, right) in [(0, Bottleneck::Serial), (1 << 40, Bottleneck::Unknown)] {
        let mut trials = session(Plant::Serial(0.4), 3, false);
        for trial in &mut trials {
            let mut waits = waits(trial, WaitKind::Thread, (true, false));
            waits.waits.clear();
            waits.peers = vec![model::Peer { name: "caddy".into(), cpu_ns: peers }];
            trial.waits = Some(Box::new(waits));
            (trial.absent_ns, trial.blocked_ns) = (trial.blocked_ns, trial.absent_ns);
        }
        assert_eq!(ask(trials).causes[0].cause, right);
    }
}

/// Workers that spin at a barrier while there is a CPU for each are seen to wait for it where there are more of them.
#[test]
fn what_workers_spin_for_is_seen_where_they_sleep() {
    let mut trials = session(Plant::SpinWhileFree, 3, false);
    for trial in trials.iter_mut().filter(|trial| trial.n > CPUS) {
        trial.waits = Some(Box::new(waits(trial, WaitKind::Barrier, (false, true))));
    }
    let found = &ask(trials).causes[0];
    assert_eq!((found.cause, found.at), (Bottleneck::Unequal, CPUS), "{found:?}");
    assert!(found.evidence.iter().any(|one| one.contains("spin while they wait")), "{found:?}");
}

/// A wait that one worker has as well is no loss of several, and idle CPUs are not used up.
#[test]
fn a_sleep_that_does_not_shorten_is_not_called_a_lack_of_cpus() {
    let mut trials = session(Plant::Serial(0.4), 3, false);
    for trial in &mut trials {
        (trial.wall_ns, trial.cpu_ns) = (1.5e8 * (trial.wall_ns / 1e9).powf(0.01), Some(1e6));
        let off_ns = trial.n * trial.wall_ns - 1e6;
        (trial.waiting_ns, trial.blocked_ns) = (Some(0.0), Some(off_ns.min(trial.wall_ns)));
        trial.absent_ns = Some((off_ns - trial.wall_ns).max(0.0));
        trial.waits = Some(Box::new(waits(trial, WaitKind::Timer, (true, false))));
    }
    let described = ask(trials);
    let causes: Vec<Bottleneck> = described.causes.iter().map(|one| one.cause).collect();
    assert!(causes.iter().all(|cause| *cause == Bottleneck::Outside), "{causes:?}");
    assert_eq!(described.causes[0].standing, model::Founding::Consistent);
}

/// Sleeps that workers divide among them are no loss; the start, which one thread does alone, is.
#[test]
fn sleeps_that_shorten_with_n_are_not_what_limits() {
    let mut trials = session(Plant::CpusAlone, 3, false);
    for trial in &mut trials {
        let slow = trial.wall_ns * trial.n.min(CPUS) / 1e9;
        let (start_ns, sleep_ns) = (6e7 * slow, 4e8 * slow / trial.n);
        (trial.wall_ns, trial.cpu_ns) = (start_ns + sleep_ns, Some(start_ns));
        (trial.waiting_ns, trial.blocked_ns) = (Some(0.0), Some(trial.n * sleep_ns));
        trial.absent_ns = Some((trial.n - 1.0) * start_ns);
        let mut waits = waits(trial, WaitKind::Timer, (true, false));
        (waits.still_ns, waits.waits[0].still_ns) = (sleep_ns as u64, sleep_ns as u64);
        waits.runners[0].idle_ns = trial.absent_ns.unwrap_or_default() as u64;
        trial.waits = Some(Box::new(waits));
    }
    let found = &ask(trials).causes[0];
    assert_eq!((found.cause, found.at), (Bottleneck::Serial, CPUS), "{found:?}");
}

/// Looks that found little but the first thread's wait for the end say nothing of many short sleeps.
#[test]
fn many_short_sleeps_are_not_waits_for_the_end() {
    let little: fn(&Waits, WaitKind, u64) -> Wait =
        |all, kind, ns| Wait { kind, ns, looks: 5, ..all.waits[0].clone() };
    for (kind, right) in
        [(WaitKind::Thread, Bottleneck::Unknown), (WaitKind::Lock, Bottleneck::Mutex)]
    {
        let mut trials = session(Plant::Mutex, 3, false);
        for trial in &mut trials {
            let mut seen = waits(trial, kind, (false, true));
            seen.waits = vec![little(&seen, kind, 1000)];
            trial.waits = Some(Box::new(seen));
        }
        let found = &ask(trials).causes[0];
        assert_eq!(found.cause, right, "{kind:?}: {found:?}");
    }
}

/// One number of workers shows no limit, whether no other was asked for or none completed.
#[test]
fn one_number_of_workers_does_not_scale() {
    let mut trials = session(Plant::Mutex, 3, false);
    trials.retain(|trial| trial.n == 1.0);
    let found = &ask(trials).causes[0];
    assert_eq!(found.cause, Bottleneck::Unknown);
    assert!(found.sentence.starts_with("Only n = 1 was measured"), "{}", found.sentence);
}

/// Others explain what workers waited for a CPU, and what those waited that wait for them, if they took as much.
#[test]
fn what_others_took_explains_no_more_than_that() {
    for (share, right) in [(0.07, Bottleneck::Unknown), (0.5, Bottleneck::Neighbour)] {
        let mut trials = session(Plant::Serial(0.4), 3, false);
        for trial in trials.iter_mut().filter(|trial| trial.n > 1.0) {
            let blocked = trial.blocked_ns.unwrap_or_default();
            (trial.blocked_ns, trial.waiting_ns) = (Some(0.52 * blocked), Some(0.48 * blocked));
            trial.absent_ns = Some(0.0);
            trial.foreign_ns = Some(share * trial.wall_ns * CPUS);
            trial.waits = Some(Box::new(Waits { looks: 20, ..Waits::default() }));
        }
        let found = &ask(trials).causes[0];
        assert_eq!(found.cause, right, "{share}: {found:?}");
    }
}

/// Time in which nothing ran says what for only if looks are sure of it: here the trials differ.
#[test]
fn a_wait_that_looks_are_not_sure_of_is_no_cause() {
    for (every, right) in [(9, Bottleneck::Unknown), (1, Bottleneck::Outside)] {
        let mut trials = session(Plant::Serial(0.4), 3, false);
        for (place, trial) in trials.iter_mut().enumerate() {
            let mut seen = waits(trial, WaitKind::Timer, (true, false));
            let times = if place % every == 0 { every as u64 } else { 0 };
            seen.still_ns *= times;
            seen.waits.iter_mut().for_each(|wait| {
                (wait.ns, wait.still_ns) = (wait.ns * times, wait.still_ns * times);
            });
            trial.waits = Some(Box::new(seen));
        }
        let found = &ask(trials).causes[0];
        assert_eq!(found.cause, right, "{every}: {found:?}");
    }
}
