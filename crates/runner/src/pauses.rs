use std::time::Duration;
use sys::Pid;
use sys::cgroup::Freezers;

/// The longest wait without a look at whether the trial stands still. A look takes microseconds; a
/// trial that answers sooner is not looked at.
pub(crate) const LOOK: Duration = Duration::from_millis(100);

/// A wait that took so much longer than asked for, while the runner neither waited for a CPU nor was
/// stopped alone, stood still itself: with the trial, in a container that was paused.
const STOOD_STILL: Duration = Duration::from_millis(100);

/// The same where the kernel does not tell how long the runner waited for a CPU.
const STOOD_STILL_UNTOLD: Duration = Duration::from_secs(1);

/// The most processes of a program of the user's that a look asks.
const PROCESSES_MAX: usize = 32;

/// What was seen of a trial that stood still.
#[derive(Debug)]
pub(crate) struct Pauses {
    trial: Pid,
    /// Whether the trial only watches a program, and what is measured is below it.
    watches: bool,
    count: u32,
    /// Whether it stood still at the last look.
    now: bool,
    runner: Waits,
    freezers: Freezers,
}

/// What can keep the runner from waking up in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waits {
    /// For how long it has waited for a CPU; `None` where the kernel does not tell.
    queued: Option<Duration>,
    /// How often it was stopped and continued.
    continued: u32,
}

impl Waits {
    fn now() -> Self {
        let queued = sys::proc::schedstat_thread().map(|it| it.queue_wait_ns);
        Waits { queued: queued.map(Duration::from_nanos), continued: sys::pauses::continued() }
    }

    /// Whether a wait that took `over` longer than asked for stood still: neither a busy machine nor a
    /// stop of the runner alone explains it. The readings are of before and after.
    fn stood_still(self, after: Waits, over: Duration) -> bool {
        let explained = match self.queued.zip(after.queued) {
            Some((before, after)) => after.saturating_sub(before) + STOOD_STILL,
            None => STOOD_STILL_UNTOLD,
        };
        after.continued == self.continued && over > explained
    }
}

impl Pauses {
    pub(crate) fn new(trial: Pid, watches: bool, freezers: Freezers) -> Self {
        Pauses { trial, watches, count: 0, now: false, runner: Waits::now(), freezers }
    }

    /// Looks after a wait for `asked` that took `waited`.
    pub(crate) fn look(&mut self, asked: Duration, waited: Duration) {
        let runner = Waits::now();
        let together = self.runner.stood_still(runner, waited.saturating_sub(asked));
        self.runner = runner;
        // A stop that is over by now, as when all processes of a session are stopped and continued.
        let over = sys::process::take_continued(self.trial).unwrap_or(false);
        let still = self.stands_still();
        self.count += u32::from((together || over || still) && !self.now);
        self.now = still;
    }

    fn stands_still(&self) -> bool {
        let still = |pid| sys::pauses::is_stopped(pid) || self.freezers.hold(pid);
        let program = || sys::process::nearest(self.trial, PROCESSES_MAX);
        // Not below it: who traces a program holds it for a moment at each of its system calls.
        still(self.trial)
            || sys::pauses::is_held_by_tracer(self.trial)
            || (self.watches && program().into_iter().any(still))
    }

    /// How often the trial was seen to stand still.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_pause_is_told_from_a_busy_machine_and_from_a_stop_of_the_runner() {
        let waits = |queued, continued| Waits { queued, continued };
        let before = waits(Some(ms(7)), 1);
        assert!(before.stood_still(waits(Some(ms(8)), 1), ms(300)));
        assert!(!before.stood_still(before, ms(100)));
        // It waited for a CPU all the time.
        assert!(!before.stood_still(waits(Some(ms(300)), 1), ms(300)));
        assert!(!before.stood_still(waits(Some(ms(8)), 2), ms(2000)));
        let untold = waits(None, 0);
        assert!(!untold.stood_still(untold, ms(900)));
        assert!(untold.stood_still(untold, ms(1100)));
    }
}
