//! Times in which this process, or the whole machine, stood still.

use crate::Result;
use crate::error::check;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of SIGCONT that this process received.
static CONTINUED: AtomicU32 = AtomicU32::new(0);

/// So often the clocks are read for one comparison: that all are torn apart is unlikely.
const READINGS: u32 = 3;

/// From now on [`continued`] counts. Programs executed later get the default action back.
///
/// # Errors
/// None is known.
pub fn watch() -> Result<()> {
    // SAFETY: all-zero bytes are a valid sigaction (default action, empty mask).
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = note as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // Who reads or writes meanwhile need not know of it.
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the handler is async-signal-safe: it adds to an atomic. The action outlives the call.
    let set = unsafe { libc::sigaction(libc::SIGCONT, &raw const action, std::ptr::null_mut()) };
    check(set.into(), || "sigaction(SIGCONT)".to_string()).map(|_| ())
}

/// The handler. The kernel lets a stopped process go on whether or not there is one.
extern "C" fn note(_signal: libc::c_int) {
    CONTINUED.fetch_add(1, Ordering::AcqRel);
}

/// Returns how often SIGCONT has come since [`watch`]: what ends a SIGSTOP or a Ctrl-Z. (It may
/// also come to a process that was not stopped.) The kernel does not say how long a stop lasted.
pub fn continued() -> u32 {
    CONTINUED.load(Ordering::Acquire)
}

/// For how long this machine has been suspended since its boot, in ns: what `CLOCK_BOOTTIME` has
/// counted and `CLOCK_MONOTONIC` has not. A virtual machine that its host has paused does not know
/// of it, and nothing shows here.
pub fn suspended_ns() -> u64 {
    // The two are read one after the other, and this process may have to wait in between: the reading
    // counts that is the closest.
    let reading = |_| {
        let before = read(libc::CLOCK_MONOTONIC);
        let with = read(libc::CLOCK_BOOTTIME);
        let after = read(libc::CLOCK_MONOTONIC);
        (after.saturating_sub(before), with.saturating_sub(before))
    };
    (0..READINGS).map(reading).min().map_or(0, |(_, suspended)| suspended)
}

/// Whether a process is stopped (SIGSTOP).
pub fn is_stopped(pid: crate::Pid) -> bool {
    state_of(pid) == Some('T')
}

/// Whether a tracer holds a process, for the moment of a system call or for longer.
pub fn is_held_by_tracer(pid: crate::Pid) -> bool {
    state_of(pid) == Some('t')
}

fn state_of(pid: crate::Pid) -> Option<char> {
    let stat = crate::text::read(format!("/proc/{pid}/stat")).ok()?;
    crate::proc::parse_stat(&stat).map(|stat| stat.state)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that outlives the call; both clocks exist since Linux
    // 2.6.39, so the call cannot fail.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{eventually, in_child};
    use crate::{process, task};

    #[test]
    fn a_stop_is_seen_and_remembered() {
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = sleeper.id() as crate::Pid;
        assert!(!is_stopped(pid));
        process::kill(pid, libc::SIGSTOP).unwrap();
        eventually("the stop", || is_stopped(pid));
        assert!(!process::take_continued(pid).unwrap());
        process::kill(pid, libc::SIGCONT).unwrap();
        assert!(!is_stopped(pid));
        // A stop is remembered when it is over, once.
        assert!(process::take_continued(pid).unwrap());
        assert!(!process::take_continued(pid).unwrap());
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(!is_stopped(pid));
        assert!(process::take_continued(pid).is_err());
    }

    #[test]
    fn a_stop_is_noticed_when_it_is_over() {
        in_child(|| {
            watch().unwrap();
            assert_eq!(continued(), 0);
            let parent = process::pid();
            let waker = task::fork_run(|| {
                let stopped = || {
                    let text = std::fs::read_to_string(format!("/proc/{parent}/stat"));
                    text.is_ok_and(|it| {
                        it.rsplit(") ").next().is_some_and(|it| it.starts_with('T'))
                    })
                };
                while !stopped() {
                    crate::clock::sleep_ns(100_000);
                }
                i32::from(process::kill(parent, libc::SIGCONT).is_err())
            })
            .unwrap();
            process::kill(parent, libc::SIGSTOP).unwrap();
            assert_eq!(task::wait(waker).unwrap().code, Some(0));
            assert_eq!(continued(), 1);
        });
    }

    #[test]
    fn a_machine_that_was_awake_all_the_time_was_not_suspended_meanwhile() {
        let before = suspended_ns();
        crate::clock::sleep_ns(1_000_000);
        // It never becomes less. That it does not become more is a matter of the machine.
        assert!(suspended_ns() + 1_000_000_000 > before);
    }
}
