//! Who sends the signals: a thread of the same process, or another process. Both send by `kill` to
//! the process, so that nothing differs but where the call comes from.

use super::receiver::RESCUE;
use super::stage::{LOST, NOTICED, QUEUE_WAIT_NS, READY, SENT, SENT_NS, Stage};
use crate::support::child;
use crate::support::random::Random;
use kit::workers::{Model, queue_wait_since};
use kit::{Result, Trial};
use sys::clock::now_ns;
use sys::task::Pid;
use sys::wait_signal::{SignalSet, SleepReader, block, thread_id};

/// One signal is sent at a random moment of this time, which begins when the receiver turns to its
/// work: longer than that, and shorter than a window of 500 µs.
const SPREAD_NS: u64 = 100_000;

/// A receiver without a window that turned to its work this long ago, in nanoseconds, is asleep.
const ASLEEP_NS: u64 = 40_000;

/// How long the sender waits for the receiver to notice a signal before it looks whether the
/// receiver sleeps, and again.
const LOOK_NS: u64 = 20_000;

/// A receiver that sleeps again after this number of rescues will never notice.
const RESCUES_MAX: u32 = 1000;

/// Signals of one burst: few beside the limit on queued ones (`RLIMIT_SIGPENDING`, mostly
/// thousands).
pub(super) const BURST: u64 = 256;

/// Who is sent signals, and which.
#[derive(Debug)]
pub(super) struct Target {
    pid: Pid,
    signal: i32,
    sleep: SleepReader,
}

impl Target {
    /// The calling thread's process; its state is that of the calling thread.
    pub(super) fn this_thread(signal: i32) -> Result<Self> {
        let pid = sys::process::pid();
        Ok(Target { pid, signal, sleep: SleepReader::of(pid, thread_id())? })
    }

    /// Sends the signal to the process, by `kill`.
    fn send(&self) -> sys::Result<()> {
        sys::process::kill(self.pid, self.signal)
    }

    fn rescue(&self) -> sys::Result<()> {
        sys::process::kill(self.pid, RESCUE)
    }
}

/// How long and on which CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) limit_ns: u64,
    pub(super) rounds_max: u64,
    pub(super) seed: u64,
    pub(super) cpu: u32,
}

impl Plan {
    /// For as long as the trial may take. The sender takes another CPU than receivers that stay on one, if
    /// there is one.
    pub(super) fn of(trial: &mut Trial<'_>, rounds_max: u64) -> Result<Self> {
        let cpu = trial.other_cpu().or_else(|_| trial.one_cpu())?;
        let spec = trial.spec();
        Ok(Plan { limit_ns: spec.timed_ns, rounds_max, seed: spec.seed, cpu })
    }
}

/// Makes a sender that does `work`, runs `receive` in the calling thread meanwhile, and waits for
/// the sender's end.
pub(super) fn beside<T>(
    model: Model,
    cpu: u32,
    signal: i32,
    work: impl Fn() -> sys::Result<()> + Sync,
    receive: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let both = SignalSet::of(&[signal, RESCUE]);
    // A sender never handles what it sends.
    let whole = || {
        block(&both)?;
        sys::affinity::pin(&[cpu])?;
        work()
    };
    child::beside(model, whole, |_| receive())
}

/// Sends one signal per round, each at a random moment, and sees whether it wakes the receiver.
///
/// A receiver that is asleep **after** the signal was sent, and has not noticed it **by then**, will
/// sleep for ever: `kill` makes a receiver that it interrupts ready to run before it returns. So
/// the order of the two looks (asleep? noticed?) makes the count exact, and no time-out is in it.
/// (`S` in /proc/PID/stat would not do for "asleep": `read` from a signalfd says it a moment before
/// it finds the signal that is pending, and one in 5,000 was counted as lost. Before Linux 5.16 one
/// look at wchan is no better, see [`SleepReader`]; it takes two.)
pub(super) fn one_by_one(
    stage: Stage,
    target: &Target,
    plan: Plan,
    timed: bool,
) -> sys::Result<()> {
    let sched = sys::proc::schedstat_thread();
    let mut random = Random::new(plan.seed, 0);
    let mut begun_ns = None;
    for round in 1.. {
        while !stage.reached(READY, round) {
            std::hint::spin_loop();
        }
        let ready_ns = now_ns();
        let delay_ns = random.below(SPREAD_NS);
        while now_ns() < ready_ns + delay_ns {
            std::hint::spin_loop();
        }
        stage.set(SENT_NS, now_ns());
        target.send()?;
        let lost = follow(stage, target, round)?;
        if lost {
            stage.set(LOST, stage.get(LOST) + 1);
        } else if timed && delay_ns >= ASLEEP_NS {
            stage.keep_latency();
        }
        let since_ns = now_ns() - *begun_ns.get_or_insert(ready_ns);
        let again = round < plan.rounds_max && since_ns < plan.limit_ns;
        if !again {
            stage.set(QUEUE_WAIT_NS, queue_wait_since(sched).unwrap_or(u64::MAX));
        }
        stage.go_on(round, again);
        if !again {
            break;
        }
    }
    Ok(())
}

/// Waits until the receiver has noticed this round's signal; rescues it if it never would. Returns
/// whether the wake-up was lost.
fn follow(stage: Stage, target: &Target, round: u64) -> sys::Result<bool> {
    let mut rescues = 0;
    let mut seen_asleep = false;
    let mut look_ns = now_ns() + LOOK_NS;
    while !stage.reached(NOTICED, round) {
        std::hint::spin_loop();
        if now_ns() < look_ns {
            continue;
        }
        let sleeps = target.sleep.asleep() && !stage.reached(NOTICED, round);
        if sleeps && seen_asleep {
            target.rescue()?;
            rescues += 1;
            if rescues >= RESCUES_MAX {
                return Err(sys::Error::unsupported("kill", "the receiver sleeps on"));
            }
        }
        seen_asleep = sleeps;
        look_ns = now_ns() + LOOK_NS;
    }
    Ok(rescues > 0)
}

/// Sends bursts, each as fast as it goes once the receiver is ready for it.
pub(super) fn in_bursts(stage: Stage, target: &Target, plan: Plan) -> sys::Result<()> {
    let begun_ns = now_ns();
    for round in 1.. {
        while !stage.reached(READY, round) {
            std::thread::yield_now();
        }
        for _ in 0..BURST {
            target.send()?;
        }
        stage.set(SENT, round);
        // A receiver that noticed the last signal before it could know that it was the last sleeps.
        while !stage.reached(NOTICED, round) {
            if target.sleep.asleep() && !stage.reached(NOTICED, round) {
                target.rescue()?;
            }
            std::thread::yield_now();
        }
        let again = round < plan.rounds_max && now_ns() - begun_ns < plan.limit_ns;
        stage.go_on(round, again);
        if !again {
            break;
        }
    }
    Ok(())
}
