//! Workers that repeat work, and commands that ignore n.

use super::*;
use crate::scaling::tests::waits::waits;
use model::{Founding, WaitKind};

/// Returns trials of a program in which each worker beyond the first adds this part of one worker's CPU time.
fn adding(part: f64, levels: &[f64]) -> Vec<ScaleTrial> {
    let mut trials = session(Plant::CpusAlone, 5, false);
    trials.retain(|trial| levels.contains(&trial.n));
    for trial in &mut trials {
        let slow = trial.cpu_ns.unwrap_or_default();
        let cpu_ns = slow * (1.0 + part * (trial.n - 1.0));
        (trial.cpu_ns, trial.wall_ns) = (Some(cpu_ns), cpu_ns / trial.n.min(CPUS));
        trial.waiting_ns = Some(trial.n * trial.wall_ns - cpu_ns);
        trial.blocked_ns = Some(0.0);
    }
    trials
}

#[test]
fn workers_that_each_do_the_whole_job_are_said_to_repeat_it() {
    for (part, levels) in [
        (1.0, &[1.0, 2.0, 4.0, 8.0][..]),
        (1.0, &[1.0, 4.0]),
        (0.5, &[1.0, 2.0, 3.0, 4.0]),
        (0.25, &[1.0, 4.0, 6.0]),
    ] {
        let mut trials = adding(part, levels);
        trials.extend(on_one_cpu(&trials, part * (CPUS - 1.0)));
        let causes = ask(trials).causes;
        assert_eq!(causes[0].cause, Bottleneck::Repeated, "{part}: {causes:?}");
        assert_eq!(causes[0].standing, Founding::Consistent);
        // What is repeated n times takes n times as long beyond the CPUs: that is no cause of its own.
        assert_eq!(causes.len(), 1, "{part}: {causes:?}");
    }
}

/// Without trials on one CPU nothing tells repeating from spinning, and neither is named alone.
#[test]
fn what_each_worker_adds_alike_may_be_repeated_or_spun() {
    for part in [0.25, 0.5, 1.0] {
        let found = &ask(adding(part, &[1.0, 2.0, 4.0, 8.0])).causes;
        assert_eq!(found[0].cause, Bottleneck::Unknown, "{part}: {found:?}");
        let row = &rows::ROWS.repeated_or_busy;
        assert_eq!(found[0].remedy, row.remedy, "{part}: {found:?}");
    }
}

#[test]
fn cpu_time_that_grows_otherwise_on_one_cpu_is_not_repeated_work() {
    for (on_one, right) in [(0.0, false), (0.3, false), (1.6, false), (1.0, true)] {
        let mut trials = adding(1.0, &[1.0, 2.0, 4.0, 8.0]);
        trials.extend(on_one_cpu(&trials, on_one * (CPUS - 1.0)));
        let cause = self::cause(&trials);
        assert_eq!(cause == Bottleneck::Repeated, right, "{on_one}: {cause:?}");
    }
}

/// A lock that is spun for on one CPU costs several times as much; short of that, noise hides which it is.
#[test]
fn work_that_is_repeated_among_noise_is_never_said_to_spin() {
    for seed in 0..60 {
        let part = [0.25, 0.5, 1.0][seed as usize % 3];
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut trials = adding(part, &[1.0, 2.0, 4.0, 8.0]);
        let on_one = random.random_range(0.6..1.5);
        trials.extend(on_one_cpu(&trials, on_one * part * (CPUS - 1.0)));
        for n in [2.0, 4.0, 8.0] {
            // Two threads of one core slow each other down, up to the CPUs.
            let slowed = random.random_range(1.0..1.6);
            for trial in trials.iter_mut().filter(|trial| trial.n == n && !trial.one_cpu) {
                trial.cpu_ns = trial.cpu_ns.map(|ns| ns * slowed);
                trial.wall_ns *= slowed;
            }
        }
        let cause = self::cause(&trials);
        let is_true = [Bottleneck::Repeated, Bottleneck::Unknown, Bottleneck::SpinningOrHardware];
        assert!(is_true.contains(&cause), "{seed}, {part}, {on_one}: {cause:?}");
    }
}

#[test]
fn a_command_that_ignores_n_has_no_serial_part() {
    // Looks that are few may have missed threads.
    for (threads, looks, is_ignored) in [(1.0, 40, true), (3.0, 2, true), (1.0, 1, false)] {
        let mut trials = session(Plant::Serial(1.0), 3, false);
        for trial in &mut trials {
            let mut seen = waits(trial, WaitKind::Thread, (false, true));
            seen.looks = looks;
            trial.absent_ns = trial.blocked_ns;
            trial.blocked_ns = Some(0.0);
            (trial.threads, trial.waits) = (Some(threads), Some(Box::new(seen)));
        }
        let found = &ask(trials.clone()).causes;
        let is_named = found[0].cause == Bottleneck::Ignored && found.len() == 1;
        assert_eq!(is_named, is_ignored, "{threads}, {looks}: {found:?}");
        // A command that made more threads with more workers does not ignore n.
        for trial in &mut trials {
            trial.threads = Some(trial.n);
        }
        assert_ne!(ask(trials).causes[0].cause, Bottleneck::Ignored);
    }
}

/// Threads of a runtime are no workers: tasks that wait for one another are seen by how often threads sleep, or not at all.
/// Threads that were counted are seen, however few looks there were.
#[test]
fn workers_that_hand_over_or_are_counted_do_not_ignore_n() {
    use Bottleneck as B;
    for (what, sleeps, grows, right) in [
        (model::GOROUTINES, false, false, B::Unknown),
        (model::GOROUTINES, true, false, B::Handover),
        ("", false, true, B::Handover),
    ] {
        let mut trials = session(Plant::Serial(1.0), 3, false);
        for trial in &mut trials {
            let mut seen = waits(trial, WaitKind::Hidden, (false, true));
            (seen.waits[0].what, seen.waits[0].renewed) = (what.into(), 11);
            seen.looks = 4;
            if sleeps {
                trial.voluntary = Some(100.0 * trial.n * trial.n);
            }
            trial.threads = Some(if grows { trial.n + 1.0 } else { 4.0 });
            trial.waits = Some(Box::new(seen));
        }
        let found = &ask(trials).causes[0];
        assert_eq!(found.cause, right, "{what} {sleeps} {grows}: {found:?}");
        let is_same = found.remedy == rows::ROWS.same.remedy;
        assert_eq!(is_same, right == B::Unknown, "{found:?}");
    }
}

/// Without looks nothing tells a command that ignores n from one whose n is a small part: no cause is named.
#[test]
fn a_command_that_does_the_same_at_every_n_has_no_named_cause() {
    for threads in [1.0, 3.0] {
        let mut trials = session(Plant::Serial(1.0), 3, false);
        for trial in &mut trials {
            (trial.threads, trial.waits) = (Some(threads), None);
        }
        let found = ask(trials).causes;
        let [same] = &found[..] else { panic!("{found:?}") };
        assert_eq!((same.cause, same.standing), (Bottleneck::Unknown, Founding::Suspected));
        assert_eq!(
            same.sentence,
            rows::ROWS.same.cause("", (4.0, None), same.standing, Vec::new()).sentence
        );
    }
}
