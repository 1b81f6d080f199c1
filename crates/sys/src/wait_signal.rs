//! Waiting for a signal: the ways that can sleep through one, and those that cannot.
//!
//! What is called in a loop here allocates nothing and looks up nothing, so that the moment between
//! a caller's look at its flag and its sleep is as short as the interface allows.

use crate::error::{check, check_number, last_errno};
use crate::{Error, Pid, Result, text};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

/// A set of signals.
#[derive(Clone, Copy)]
pub struct SignalSet {
    pub(crate) raw: libc::sigset_t,
}

impl std::fmt::Debug for SignalSet {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let members = (1..=crate::signal::highest()).filter(|signal| self.contains(*signal));
        out.debug_set().entries(members).finish()
    }
}

impl SignalSet {
    /// The set of these signals. Numbers that are no signal are left out.
    pub fn of(signals: &[i32]) -> Self {
        let mut set = Self::empty();
        for signal in signals {
            // SAFETY: the set is initialised; a number that is no signal is an error that changes
            // nothing.
            unsafe { libc::sigaddset(&raw mut set.raw, *signal) };
        }
        set
    }

    /// Whether a signal is in the set.
    pub fn contains(&self, signal: i32) -> bool {
        // SAFETY: the set is initialised and only read.
        unsafe { libc::sigismember(&raw const self.raw, signal) == 1 }
    }

    /// This set without some signals.
    #[must_use]
    pub fn without(mut self, signals: &[i32]) -> Self {
        for signal in signals {
            // SAFETY: as in `of`.
            unsafe { libc::sigdelset(&raw mut self.raw, *signal) };
        }
        self
    }

    fn empty() -> Self {
        // SAFETY: all-zero bytes are a valid sigset_t: it holds integers only.
        let mut raw: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: the set is ours; emptying it cannot fail.
        unsafe { libc::sigemptyset(&raw mut raw) };
        Self { raw }
    }
}

/// Blocks signals in the calling thread, beside those it blocks already. New threads and children
/// inherit it.
///
/// # Errors
/// None is known.
pub fn block(set: &SignalSet) -> Result<()> {
    change(libc::SIG_BLOCK, set)
}

/// Unblocks signals in the calling thread. What is pending is delivered before this returns.
///
/// # Errors
/// None is known.
pub fn unblock(set: &SignalSet) -> Result<()> {
    change(libc::SIG_UNBLOCK, set)
}

pub(crate) fn change(how: i32, set: &SignalSet) -> Result<()> {
    // SAFETY: the set outlives the call; a null old set is not written. Blocking and unblocking
    // touch no memory of ours; handlers that run meanwhile answer for themselves.
    let errno = unsafe { libc::pthread_sigmask(how, &raw const set.raw, std::ptr::null_mut()) };
    check_number(errno, || "pthread_sigmask".to_string())
}

/// What the calling thread blocks at this moment.
///
/// # Errors
/// None is known.
pub fn blocked() -> Result<SignalSet> {
    let mut set = SignalSet::empty();
    // SAFETY: a null new set only asks; the old one is ours.
    let errno =
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set.raw) };
    check_number(errno, || "pthread_sigmask".to_string())?;
    Ok(set)
}

/// `pause`: sleeps until a handler has run. A handler that ran just before does not count.
pub fn pause() {
    // SAFETY: no arguments. It always "fails" with EINTR.
    unsafe { libc::pause() };
}

/// `sigsuspend`: takes on `mask` and sleeps until a handler has run, in one step; then the earlier
/// mask is back.
pub fn suspend(mask: &SignalSet) {
    // SAFETY: the mask outlives the call. It always "fails" with EINTR.
    unsafe { libc::sigsuspend(&raw const mask.raw) };
}

/// `ppoll` of no descriptor without a time limit: takes on `mask` and sleeps until a handler has
/// run, in one step.
pub fn poll_nothing(mask: &SignalSet) {
    // SAFETY: no descriptors and no time; the mask outlives the call. It always "fails" with EINTR.
    unsafe { libc::ppoll(std::ptr::null_mut(), 0, std::ptr::null(), &raw const mask.raw) };
}

/// `sigwait`: takes one signal of `set` that is pending, or sleeps until there is one. The calling
/// thread must block all of them.
///
/// # Errors
/// None is known.
pub fn take(set: &SignalSet) -> Result<i32> {
    let mut signal = 0;
    // SAFETY: both outlive the call.
    let errno = unsafe { libc::sigwait(&raw const set.raw, &raw mut signal) };
    check_number(errno, || "sigwait".to_string())?;
    Ok(signal)
}

/// As [`take`], but never sleeps: `None` where none is pending.
///
/// # Errors
/// None is known.
pub fn take_pending(set: &SignalSet) -> Result<Option<i32>> {
    let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    loop {
        // SAFETY: the set and the time outlive the call; a null info is not written.
        let signal = unsafe {
            libc::sigtimedwait(&raw const set.raw, std::ptr::null_mut(), &raw const none)
        };
        if signal > 0 {
            return Ok(Some(signal));
        }
        match last_errno() {
            libc::EAGAIN => return Ok(None),
            libc::EINTR => {}
            errno => return Err(Error::new("sigtimedwait", errno)),
        }
    }
}

/// A descriptor from which signals are read (`signalfd(2)`).
#[derive(Debug)]
pub struct SignalFd {
    descriptor: OwnedFd,
}

impl SignalFd {
    /// A descriptor for the signals of `set`, which the reading thread must block.
    ///
    /// # Errors
    /// `EMFILE`; `ENOSYS` in a kernel built without it.
    pub fn new(set: &SignalSet) -> Result<Self> {
        // SAFETY: the set outlives the call.
        let number = unsafe { libc::signalfd(-1, &raw const set.raw, libc::SFD_CLOEXEC) };
        check(number.into(), || "signalfd".to_string())?;
        // SAFETY: the kernel just made it for us and nobody else knows it.
        Ok(Self { descriptor: unsafe { OwnedFd::from_raw_fd(number) } })
    }

    /// Reads one signal's number, or sleeps until there is one.
    ///
    /// # Errors
    /// None is known for signals that are blocked.
    pub fn read(&self) -> Result<i32> {
        // SAFETY: all-zero bytes are a valid signalfd_siginfo: it holds integers only.
        let mut info: libc::signalfd_siginfo = unsafe { std::mem::zeroed() };
        let bytes = size_of::<libc::signalfd_siginfo>();
        loop {
            // SAFETY: `info` is ours and `bytes` long.
            let read =
                unsafe { libc::read(self.descriptor.as_raw_fd(), (&raw mut info).cast(), bytes) };
            match read {
                -1 if last_errno() == libc::EINTR => {}
                -1 => return Err(Error::new("read(signalfd)", last_errno())),
                _ => return Ok(i32::try_from(info.ssi_signo).unwrap_or(0)),
            }
        }
    }
}

/// The number of the calling thread, as the kernel has it.
pub fn thread_id() -> Pid {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::gettid() }
}

/// What /proc says of a thread's signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Masks {
    /// Bit n − 1 is set where signal n is blocked.
    pub blocked: u64,
    /// Signals queued for this user.
    pub queued: u64,
    /// The most that may be (`RLIMIT_SIGPENDING`).
    pub queue_limit: u64,
}

impl Masks {
    /// Whether a signal is blocked.
    pub fn blocks(&self, signal: i32) -> bool {
        (1..=64).contains(&signal) && self.blocked >> (signal - 1) & 1 == 1
    }
}

/// The signals of thread `thread` of this process, from /proc.
///
/// # Errors
/// `ENOENT` where there is no such thread or no /proc; a text that cannot be read.
pub fn masks_of(thread: Pid) -> Result<Masks> {
    let path = format!("/proc/self/task/{thread}/status");
    let text = text::read(&path)?;
    parse_masks(&text).ok_or_else(|| Error::unreadable(format!("read({path})"), "no signal masks"))
}

/// Reads the lines about signals in a status file.
pub(crate) fn parse_masks(text: &str) -> Option<Masks> {
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    let mask = |key| u64::from_str_radix(value(key)?, 16).ok();
    let (queued, queue_limit) = value("SigQ:")?.split_once('/')?;
    Some(Masks {
        blocked: mask("SigBlk:")?,
        queued: queued.parse().ok()?,
        queue_limit: queue_limit.parse().ok()?,
    })
}

/// Looks again and again whether a task is asleep, without allocating.
///
/// The state in /proc/PID/stat does not tell: a task says `S` a little before it sleeps, and may
/// still find that it need not. `wchan` is the function in which it sleeps, and since Linux 5.16 the
/// kernel names one only for a task that has left its CPU and is on no run queue (`get_wchan`). So
/// a task found asleep after something was to wake it has not been woken. Older kernels name one for
/// each task in state `S`: there only a second look, some time after the first, is as good.
#[derive(Debug)]
pub struct SleepReader {
    file: File,
}

impl SleepReader {
    /// For thread `thread` of process `pid`.
    ///
    /// # Errors
    /// Where /proc does not show it; unsupported where the kernel does not name the functions in
    /// which tasks sleep.
    pub fn of(pid: Pid, thread: Pid) -> Result<Self> {
        let reader = Self::open(pid, thread)?;
        if shows_a_sleeper()? {
            return Ok(reader);
        }
        Err(Error::unsupported(
            "read(/proc/PID/task/TID/wchan)",
            "the kernel names no function for a task that sleeps; it does with CONFIG_KALLSYMS (on \
             x86-64 from Linux 5.16 on), for processes of one's own whose program file may be read \
             (chmod +r)",
        ))
    }

    fn open(pid: Pid, thread: Pid) -> Result<Self> {
        let path = format!("/proc/{pid}/task/{thread}/wchan");
        let file = File::open(&path).map_err(|error| Error::io(format!("open({path})"), &error))?;
        Ok(Self { file })
    }

    /// Whether the task sleeps. One that is gone does not.
    pub fn asleep(&self) -> bool {
        let mut start = [0; 16];
        let read = self.file.read_at(&mut start, 0).unwrap_or(0);
        names_a_function(&start[..read])
    }
}

/// Whether the beginning of a wchan file is the name of a function and not `0`.
pub(crate) fn names_a_function(start: &[u8]) -> bool {
    start.first().is_some_and(|byte| *byte != b'0' && !byte.is_ascii_whitespace())
}

/// Whether a process that certainly sleeps is seen to. A thread of one's own would not do: the
/// kernel shows it where it hides other processes, such as those whose program may not be read.
fn shows_a_sleeper() -> Result<bool> {
    let child = crate::task::fork_run(|| {
        loop {
            // An error can only be a spurious return here.
            let _ = crate::futex::wait(&AtomicU32::new(0), 0, None);
        }
    })?;
    let seen = SleepReader::open(child, child).map(|sleeper| {
        let begun = Instant::now();
        while !sleeper.asleep() && begun.elapsed() <= SLEEPER_PATIENCE {
            std::thread::yield_now();
        }
        sleeper.asleep()
    });
    crate::process::kill(child, crate::signal::SIGKILL)?;
    crate::task::wait(child)?;
    seen
}

/// A process that is to sleep at once does so within this time, also on a busy machine.
const SLEEPER_PATIENCE: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handler;
    use crate::signal::{SIGUSR1, SIGUSR2, real_time};
    use crate::testing::in_child;
    use crate::{process, task};
    use std::sync::atomic::Ordering;

    /// A child that has a handler and a blocked SIGUSR1 sends itself `count` signals, and handles
    /// them once it unblocks them.
    fn handled_of(signal: i32, count: u64) -> u64 {
        let before = handler::counted();
        handler::count(signal).unwrap();
        let set = SignalSet::of(&[signal]);
        block(&set).unwrap();
        assert!(blocked().unwrap().contains(signal));
        let masks = masks_of(thread_id()).unwrap();
        assert!(masks.blocks(signal));
        for _ in 0..count {
            process::kill(process::pid(), signal).unwrap();
        }
        assert_eq!(handler::counted(), before, "blocked");
        unblock(&set).unwrap();
        assert!(!blocked().unwrap().contains(signal));
        handler::counted() - before
    }

    #[test]
    fn blocked_standard_signals_become_one_and_real_time_signals_queue() {
        in_child(|| {
            assert_eq!(handled_of(SIGUSR1, 20), 1);
            assert_eq!(handled_of(real_time(), 20), 20);
        });
    }

    #[test]
    fn a_pending_signal_is_taken_in_every_safe_way() {
        in_child(|| {
            handler::count(SIGUSR1).unwrap();
            let set = SignalSet::of(&[SIGUSR1]);
            let open = blocked().unwrap().without(&[SIGUSR1]);
            block(&set).unwrap();
            let send = || process::kill(process::pid(), SIGUSR1).unwrap();
            send();
            suspend(&open);
            send();
            poll_nothing(&open);
            assert_eq!(handler::counted(), 2);
            assert!(blocked().unwrap().contains(SIGUSR1), "the mask is back");
            send();
            assert_eq!(take(&set).unwrap(), SIGUSR1);
            assert_eq!(take_pending(&set).unwrap(), None);
            send();
            assert_eq!(take_pending(&set).unwrap(), Some(SIGUSR1));
            let descriptor = SignalFd::new(&set).unwrap();
            send();
            assert_eq!(descriptor.read().unwrap(), SIGUSR1);
            assert_eq!(handler::counted(), 2, "no handler ran for those taken");
        });
    }

    #[test]
    fn a_signal_handled_before_pause_does_not_end_it() {
        let memory = crate::pages::shared(16).unwrap();
        let child = task::fork_run(|| {
            let word = &memory.words()[0];
            if handler::count(SIGUSR1).and_then(|()| handler::count(SIGUSR2)).is_err() {
                return 2;
            }
            let _ = process::kill(process::pid(), SIGUSR1);
            word.store(handler::counted(), Ordering::SeqCst);
            pause();
            // Only a second signal ends it.
            i32::from(handler::counted() != 2)
        })
        .unwrap();
        let state = SleepReader::of(child, child).unwrap();
        crate::testing::eventually("its sleep", || {
            memory.words()[0].load(Ordering::SeqCst) == 1 && state.asleep()
        });
        process::kill(child, SIGUSR2).unwrap();
        assert_eq!(task::wait(child).unwrap().code, Some(0));
    }

    #[test]
    fn masks_are_read_and_hostile_texts_are_none() {
        let text = "Name:\tx\nSigQ:\t3/96027\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000000200\n\
                    SigBlk:\t0000000200000200\n";
        let masks = parse_masks(text).unwrap();
        assert_eq!((masks.queued, masks.queue_limit), (3, 96_027));
        assert!(masks.blocks(10) && masks.blocks(34) && !masks.blocks(9) && !masks.blocks(0));
        assert!(!masks.blocks(65));
        for broken in ["", "SigQ: 3", "SigQ:\t3/x\nShdPnd:\t0\nSigBlk:\t0\n", "SigBlk: zz\n"] {
            assert_eq!(parse_masks(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn who_runs_is_not_asleep() {
        let own = SleepReader::of(process::pid(), thread_id()).unwrap();
        assert!(!own.asleep());
        let child = task::fork_run(|| 0).unwrap();
        let gone = SleepReader::of(child, child).unwrap();
        task::wait(child).unwrap();
        assert!(!gone.asleep());
    }

    #[test]
    fn a_zero_names_no_function() {
        assert!(names_a_function(b"__x64_sys_pause"));
        assert!(!names_a_function(b"0") && !names_a_function(b"0\n") && !names_a_function(b""));
    }

    #[test]
    fn sets_hold_what_they_are_given() {
        let set = SignalSet::of(&[SIGUSR1, SIGUSR2, -1, 4096]);
        assert!(set.contains(SIGUSR1) && set.contains(SIGUSR2) && !set.contains(libc::SIGTERM));
        let less = set.without(&[SIGUSR2]);
        assert_eq!(format!("{less:?}"), format!("{{{SIGUSR1}}}"));
    }
}
