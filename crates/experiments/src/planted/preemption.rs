//! Is it seen that another process took the CPU, and is the CPU time right all the same?

use crate::support::passes::{self, TIME, generate};
use kit::{Result, Stop, Trial};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::clock::{now_ns, thread_cpu_ns};
use sys::gate::SharedGate;
use sys::pages::SharedWords;
use sys::task::Pid;

experiment!("planted_preemption", "preemption.toml");

/// What the rival does meanwhile, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rival {
    Sleeps,
    Computes,
    /// It sleeps, and nobody else may come either.
    Away,
}

/// The levels of the factor `rival`.
const RIVALS: [(&str, Rival); 3] =
    [("sleeps", Rival::Sleeps), ("computes", Rival::Computes), ("away", Rival::Away)];

/// Steps of a pass: some 4 milliseconds, longer than a time slice of most kernels, so that a rival
/// falls into half of the passes or more and their median shows it.
const STEPS: u64 = 4_000_000;

/// The least share of the CPU that a rival which computes must have had: the two are equals, and
/// two equals have about a half each.
const RIVAL_SHARE_MIN: f64 = 0.25;

/// The most that a rival which sleeps may use of the CPU.
const ASLEEP_SHARE_MAX: f64 = 0.01;

/// The most of a pass that a trial may have lacked of its CPU which nobody preempted: half of what
/// makes the tag. Not that the kernel counts no switch, which is what the tag looks at, too: then
/// such a trial could never be tagged, and its answer would say nothing.
const LACKED_MAX: f64 = 0.005;

/// A rival that nobody ends, ends after this time.
const LIFE_NS: u64 = 10_000_000_000;

/// How long a rival may take to end after it was asked to.
const ENDING: Duration = Duration::from_secs(5);

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let does = trial.pick("rival", &RIVALS)?;
    trial.pin_to_one()?;
    // The shorter a trial, the likelier nobody preempts it.
    let passes: u64 = match does {
        Rival::Away => 1,
        _ => trial.spec().profile.pick([3, 6, 12, 12]),
    };
    let mut walls: Vec<i64> = Vec::with_capacity(passes as usize);
    let mut state = 1;
    let rival = Beside::fork(does)?;
    rival.wait_until_there()?;
    trial.begin()?;
    let rival_began_ns = rival.cpu_ns()?;
    let (began_ns, cpu_began_ns) = (now_ns(), thread_cpu_ns());
    for _ in 0..passes {
        let start_ns = now_ns();
        state = generate(state, STEPS);
        walls.push((now_ns() - start_ns) as i64);
    }
    let used_ns = thread_cpu_ns() - cpu_began_ns;
    let wall_ns = now_ns() - began_ns;
    let rival_cpu_ns = rival.cpu_ns()? - rival_began_ns;
    trial.end()?;
    rival.end()?;

    let rival_share = rival_cpu_ns as f64 / wall_ns as f64;
    let lacked_share = 1.0 - used_ns as f64 / wall_ns as f64;
    if does == Rival::Away && lacked_share > LACKED_MAX {
        return Err(Stop::failed(
            "somebody preempted the trial although its rival slept: stop who uses the CPU, or \
             choose a free one by --affinity",
        ));
    }
    trial.record(TIME, 1, walls);
    passes::record_cpu_time(trial, passes::CPU_TIME, passes);
    trial.record_one("rival_ppm", (rival_share * 1e6) as i64);
    passes::check_arrival(trial, state, passes * STEPS);
    let (low, high) = match does {
        Rival::Sleeps | Rival::Away => (0.0, ASLEEP_SHARE_MAX),
        Rival::Computes => (RIVAL_SHARE_MIN, 1.0),
    };
    // A third one on this CPU takes from both.
    trial.check_cpus("the rival's share of the CPU", rival_share, low, high);
    Ok(())
}

/// A rival that lives beside the trial.
///
/// It is nobody's child here, so that its CPU time counts as others' time and not as the trial's;
/// and it has ended before the trial does, so that it does not count as left behind. Of the
/// trial's shield it has as much as the trial: the two are equals.
#[derive(Debug)]
struct Beside {
    pid: Pid,
    process: OwnedFd,
    gate: SharedGate,
    /// The number of looks that the rival took at its gate.
    looks: SharedWords,
}

impl Beside {
    /// Forks it, onto the CPU that the trial is confined to.
    fn fork(does: Rival) -> Result<Self> {
        let gate = SharedGate::new()?;
        let looks = sys::pages::shared(size_of::<u64>())?;
        let pid = sys::task::fork_orphan(|| {
            gate.arrived().store(1, Ordering::Release);
            let until_ns = now_ns() + LIFE_NS;
            while gate.released().load(Ordering::Acquire) == 0 && now_ns() < until_ns {
                looks.words()[0].fetch_add(1, Ordering::Relaxed);
                if does != Rival::Computes {
                    let life = Some(Duration::from_nanos(LIFE_NS));
                    // Woken, or for no reason: the loop looks again.
                    let _ = sys::futex::wait_shared(gate.released(), 0, life);
                }
            }
            0
        })?;
        let process = sys::pidfd::open(pid)?;
        Ok(Beside { pid, process, gate, looks })
    }

    /// Waits until it is at its work.
    fn wait_until_there(&self) -> Result<()> {
        let give_up_ns = now_ns() + LIFE_NS;
        while self.looks.words()[0].load(Ordering::Relaxed) == 0 {
            kit::ensure!(now_ns() <= give_up_ns, "the rival did not begin");
            // They share one CPU.
            sys::syscall::yield_cpu();
        }
        Ok(())
    }

    /// What it has used of a CPU.
    fn cpu_ns(&self) -> Result<u64> {
        sys::clock::process_cpu_ns_of(self.pid)
            .ok_or_else(|| Stop::failed("the rival has ended before its time"))
    }

    /// Tells it to end, and waits until it has.
    fn end(&self) -> Result<()> {
        self.gate.open();
        if sys::poll::readable(self.process.as_fd(), ENDING)? {
            return Ok(());
        }
        Err(Stop::failed("the rival did not end when it was asked to"))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{Beside, RIVALS, Rival, design};

    #[test]
    fn rivals_do_what_they_should_and_end_when_told_to() {
        for does in [Rival::Sleeps, Rival::Computes, Rival::Away] {
            let rival = Beside::fork(does).unwrap();
            rival.wait_until_there().unwrap();
            let before_ns = rival.cpu_ns().unwrap();
            let until_ns = super::now_ns() + 20_000_000_000;
            // It computes for as long as it is let, however little the others leave it.
            while does == Rival::Computes && rival.cpu_ns().unwrap() < before_ns + 1_000_000 {
                assert!(super::now_ns() < until_ns, "it does not compute");
            }
            rival.end().unwrap();
        }
    }

    #[test]
    fn where_nothing_is_planted_nothing_must_be_found() {
        let design = design();
        crate::check_levels(&design, "rival", &RIVALS);
        for planted in &design.planted {
            let nothing = planted.what.starts_with("nothing");
            assert_eq!(planted.truth.contains(planted.without), nothing, "{}", planted.id);
        }
    }
}
