//! An alarm that can be waited for with other events, to the nanosecond: `epoll_wait` counts in
//! milliseconds.

use crate::{Error, Result};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};

/// An alarm on `CLOCK_MONOTONIC`, closed on exec, not blocking. Its descriptor is readable once the
/// alarm has gone off.
#[derive(Debug)]
pub struct Alarm {
    timer: File,
}

impl Alarm {
    /// A new alarm that is not set.
    ///
    /// # Errors
    /// `EMFILE` or `ENFILE` beyond the limits on open files, `ENOMEM`.
    pub fn new() -> Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags);
        let timer = timer.map_err(Error::of("timerfd_create(CLOCK_MONOTONIC)"))?;
        Ok(Self { timer: File::from(timer) })
    }

    /// Sets the alarm to the moment `at_ns` of [`crate::clock::now_ns`]; it goes off at once where that has
    /// passed. What was set before is forgotten.
    ///
    /// # Errors
    /// What the kernel says; there is no known case.
    pub fn set(&self, at_ns: u64) -> Result<()> {
        // A time of 0 would disarm the timer instead of letting it go off.
        let at_ns = at_ns.max(1);
        let (seconds, rest_ns) = (at_ns / 1_000_000_000, at_ns % 1_000_000_000);
        // Both fit: there are fewer than 2⁶³ seconds in 2⁶⁴ ns.
        let it_value = Timespec { tv_sec: seconds as _, tv_nsec: rest_ns as _ };
        let setting = Itimerspec { it_interval: Timespec::default(), it_value };
        rustix::time::timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting)
            .map(|_| ())
            .map_err(Error::of(format!("timerfd_settime({at_ns} ns)")))
    }
}

impl AsRawFd for Alarm {
    fn as_raw_fd(&self) -> RawFd {
        self.timer.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use std::io::{ErrorKind, Read};

    /// Whether it has gone off since it was last asked.
    fn went_off(alarm: &Alarm) -> bool {
        match (&alarm.timer).read(&mut [0; 8]) {
            Ok(8) => true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn it_goes_off_when_it_is_due_and_not_before() {
        let alarm = Alarm::new().unwrap();
        assert!(!went_off(&alarm));
        let at_ns = clock::now_ns() + 30_000_000;
        alarm.set(at_ns).unwrap();
        crate::testing::eventually("the alarm", || {
            let off = went_off(&alarm);
            assert!(!off || clock::now_ns() >= at_ns, "it went off too early");
            off
        });
        assert!(!went_off(&alarm), "once is once");
    }

    #[test]
    fn a_moment_that_has_passed_is_now_and_a_later_setting_replaces_it() {
        let alarm = Alarm::new().unwrap();
        for past_ns in [0, 1, clock::now_ns()] {
            alarm.set(past_ns).unwrap();
            crate::testing::eventually("the alarm", || went_off(&alarm));
        }
        alarm.set(clock::now_ns() + 3_600_000_000_000).unwrap();
        assert!(!went_off(&alarm));
        alarm.set(u64::MAX).unwrap();
        assert!(!went_off(&alarm));
    }
}
