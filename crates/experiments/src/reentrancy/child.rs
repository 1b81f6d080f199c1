//! A process that is made to be lost: it may deadlock or destroy its heap, and is watched until it
//! has ended or stands still.

use crate::support::child;
use kit::workers::Span;
use kit::{Result, Stop, Trial};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::clock::now_ns;
use sys::task::{Ended, Pid};

/// How often a child is looked at. It is also noticed at once when it ends.
const LOOK: Duration = Duration::from_millis(2);

/// A child of which no thread ran for so long, with all of them asleep, waits for ever: none of
/// them ever sleeps for a time, and the timer that interrupts it has fired many times by then.
const STILL_NS: u64 = 12_000_000;

/// A child that has computed for so much longer than it was to is in an endless loop. It is CPU
/// time: one that a busy machine keeps from running must not look like it.
const OVERDUE_CPU_NS: u64 = 500_000_000;

/// A child that has neither ended nor stood still nor computed so much by then was kept from
/// running: nothing is known of it.
const PATIENCE_NS: u64 = 4_000_000_000;

/// Threads of a child that do the work.
pub(super) const USERS_MAX: usize = 2;

/// Words of the child on its board, before those of its users.
const CHILD_WORDS: usize = 3;

/// Words of one user: the calls done, and when it was at work.
const USER_WORDS: usize = 1 + Span::WORDS;

/// What a child says of itself, in memory that it shares with the trial: it may be unable to say
/// anything else.
#[derive(Clone, Copy)]
pub(super) struct Board {
    /// Runs of the handler that began.
    pub(super) handler_runs: &'static AtomicU64,
    /// Uses that went wrong.
    pub(super) wrong: &'static AtomicU64,
    /// Users that have arrived where all begin.
    pub(super) arrived: &'static AtomicU64,
    users: &'static [AtomicU64],
}

impl Board {
    /// A clean board.
    pub(super) fn new() -> Result<Self> {
        let words = sys::pages::shared_for_ever(CHILD_WORDS + USER_WORDS * USERS_MAX)?;
        let (own, users) = words.split_at(CHILD_WORDS);
        Ok(Board { handler_runs: &own[0], wrong: &own[1], arrived: &own[2], users })
    }

    /// The words of one user: the calls done, and those of its [`Span`].
    pub(super) fn user(&self, index: usize) -> (&'static AtomicU64, &'static [AtomicU64]) {
        let words = &self.users[USER_WORDS * index..][..USER_WORDS];
        (&words[0], &words[1..])
    }

    /// Calls done by all users.
    pub(super) fn uses(&self) -> u64 {
        (0..USERS_MAX).map(|index| self.user(index).0.load(Ordering::Acquire)).sum()
    }
}

/// What became of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It ended by itself.
    Survived,
    /// All of it slept and nothing could wake it.
    Deadlocked,
    /// It was killed by its own error (SIGSEGV, SIGABRT from libc's checks, SIGBUS), or ran in
    /// circles.
    Corrupted,
}

/// Exit code of a child that a refused system call kept from its work.
const REFUSED: i32 = 2;

/// Forks a child that does `work` for about `limit_ns`, and watches what becomes of it. It is gone
/// when this returns.
pub(super) fn observe(
    board: Board,
    limit_ns: u64,
    work: impl FnOnce() -> sys::Result<()>,
) -> Result<Fate> {
    let pid = sys::task::fork_run(|| match sys::stdio::silence().and_then(|()| work()) {
        Ok(()) => 0,
        Err(error) if error.is_unsupported() => REFUSED,
        Err(_) => 1,
    })?;
    let fate = watch(pid, board, limit_ns);
    child::end(pid);
    fate
}

/// What the end of a child means.
fn fate_of(ended: &Ended) -> Result<Fate> {
    use sys::signal::{SIGABRT, SIGBUS, SIGSEGV};
    match (ended.code, ended.signal) {
        (Some(0), _) => Ok(Fate::Survived),
        (_, Some(SIGABRT | SIGSEGV | SIGBUS)) => Ok(Fate::Corrupted),
        (Some(REFUSED), _) => Err(Stop::unsupported(format!(
            "a child needs system calls that are refused here: {}",
            sys::needed::refused_in_part().join(", ")
        ))),
        (code, signal) => Err(Stop::failed(format!(
            "a child could not do what it was to do: code {code:?}, signal {signal:?}"
        ))),
    }
}

/// Watches a child until it has ended (and takes it in) or its fate is known.
fn watch(pid: Pid, board: Board, limit_ns: u64) -> Result<Fate> {
    let descriptor = sys::pidfd::open(pid)?;
    let begun_ns = now_ns();
    let mut quiet = Quiet::new(begun_ns);
    loop {
        sys::poll::readable(descriptor.as_fd(), LOOK)?;
        if let Some(ended) = sys::task::try_wait(pid)? {
            return fate_of(&ended);
        }
        let now = now_ns();
        let sign = Sign {
            uses: board.uses(),
            handler_runs: board.handler_runs.load(Ordering::Acquire),
            cpu_ns: sys::clock::process_cpu_ns_of(pid).unwrap_or(0),
        };
        if quiet.lasts(now, sign, all_asleep(pid)) {
            return Ok(Fate::Deadlocked);
        }
        if sign.cpu_ns >= USERS_MAX as u64 * limit_ns + OVERDUE_CPU_NS {
            return Ok(Fate::Corrupted);
        }
        if now - begun_ns >= limit_ns + PATIENCE_NS {
            return Err(Stop::failed("a child got too little CPU to come to its end"));
        }
    }
}

/// Signs of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sign {
    uses: u64,
    handler_runs: u64,
    cpu_ns: u64,
}

/// Since when there was none.
#[derive(Debug)]
struct Quiet {
    since_ns: u64,
    last: Option<Sign>,
}

impl Quiet {
    fn new(now: u64) -> Self {
        Quiet { since_ns: now, last: None }
    }

    /// Takes note of a look; says whether nothing has moved for [`STILL_NS`].
    fn lasts(&mut self, now: u64, sign: Sign, asleep: bool) -> bool {
        if !asleep || self.last != Some(sign) {
            self.since_ns = now;
            self.last = Some(sign);
        }
        now - self.since_ns >= STILL_NS
    }
}

/// Whether every thread of a process is asleep: neither running nor ready to.
fn all_asleep(pid: Pid) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let mut states = threads.filter_map(|entry| {
        let text = std::fs::read_to_string(entry.ok()?.path().join("stat")).ok()?;
        sys::proc::parse_stat(&text).map(|stat| stat.state)
    });
    // An empty list is no evidence.
    states.next() == Some('S') && states.all(|state| state == 'S')
}

/// Fates, counted over the children of a trial: those of each [`Fate`] in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fates([u64; 3]);

impl Fates {
    /// Counts one more.
    pub(super) fn add(&mut self, fate: Fate) {
        self.0[fate as usize] += 1;
    }

    /// Keeps them: each as the share of the trial's children.
    pub(super) fn record(self, trial: &mut Trial<'_>) {
        let children = self.0.iter().sum();
        let responses = ["survived_count", "deadlocked_count", "corrupted_count"];
        for (response, count) in responses.into_iter().zip(self.0) {
            trial.record(response, children, vec![count as i64]);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    const SHORT_NS: u64 = 5_000_000;

    fn fate(work: impl FnOnce() -> sys::Result<()>) -> Result<Fate> {
        observe(Board::new().unwrap(), SHORT_NS, work)
    }

    #[test]
    fn a_child_that_ends_has_survived() {
        assert_eq!(fate(|| Ok(())), Ok(Fate::Survived));
    }

    #[test]
    fn a_child_that_waits_for_nobody_has_deadlocked() {
        let stuck = || {
            let lock = std::sync::atomic::AtomicU32::new(0);
            loop {
                sys::futex::wait(&lock, 0, None)?;
            }
        };
        assert_eq!(fate(stuck), Ok(Fate::Deadlocked));
    }

    #[test]
    fn a_child_that_works_longer_than_the_watch_is_patient_has_not() {
        let busy = || {
            let until = now_ns() + 3 * STILL_NS;
            while now_ns() < until {
                sys::black_box(until);
            }
            Ok(())
        };
        assert_eq!(fate(busy), Ok(Fate::Survived));
    }

    #[test]
    fn a_child_that_runs_in_circles_is_corrupted_and_one_that_is_kept_from_running_is_not() {
        assert_eq!(
            fate(|| loop {
                sys::black_box(0);
            }),
            Ok(Fate::Corrupted)
        );
        let stopped = || sys::process::kill(sys::process::pid(), sys::signal::SIGSTOP);
        assert!(matches!(fate(stopped), Err(Stop::Failed(_))));
    }

    #[test]
    fn a_child_that_kills_itself_is_corrupted_and_one_that_is_killed_is_a_failure() {
        let raise = |signal| move || sys::process::kill(sys::process::pid(), signal);
        assert_eq!(fate(raise(sys::signal::SIGABRT)), Ok(Fate::Corrupted));
        assert!(matches!(fate(raise(sys::signal::SIGTERM)), Err(Stop::Failed(_))));
        assert!(matches!(fate(|| Err(sys::Error::new("x", 1))), Err(Stop::Failed(_))));
    }

    #[test]
    fn only_sleep_without_any_sign_of_life_counts() {
        let sign = Sign { uses: 5, handler_runs: 7, cpu_ns: 100 };
        let mut quiet = Quiet::new(0);
        assert!(!quiet.lasts(1, sign, true));
        assert!(!quiet.lasts(STILL_NS, sign, true));
        assert!(quiet.lasts(1 + STILL_NS, sign, true));
        // A handler ran meanwhile; or it is ready to run, and only nobody lets it.
        assert!(!quiet.lasts(2 + STILL_NS, Sign { handler_runs: 8, ..sign }, true));
        assert!(!quiet.lasts(9 * STILL_NS, Sign { handler_runs: 8, ..sign }, false));
    }

    #[test]
    fn fates_are_counted() {
        let mut fates = Fates::default();
        for fate in [Fate::Survived, Fate::Deadlocked, Fate::Deadlocked, Fate::Corrupted] {
            fates.add(fate);
        }
        assert_eq!(fates, Fates([1, 2, 1]));
    }
}
