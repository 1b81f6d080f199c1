//! Handlers of signals: one that counts, and one that a timer calls and that does, on purpose, what
//! a handler should not.
//!
//! A process has one table of handlers, so all of this is state of the process. It is meant for
//! trials and for children of theirs that may be lost.

use crate::blocks::Churn;
use crate::error::{check, last_errno};
use crate::relock::Relock;
use crate::stdio::{Appender, Printing, Stream};
use crate::tokens::{Splitting, TokenLine};
use crate::{Pid, Result, wait_signal};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering};
use std::time::Duration;

/// The most threads whose signals are counted apart.
const THREADS_MAX: usize = 16;

/// Signals that [`count`]'s handler has handled.
static COUNTED: AtomicU64 = AtomicU64::new(0);
/// A caller's word in which they are also counted; null at first.
static COUNTED_INTO: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());
/// Threads whose signals are counted apart; 0 where there is none.
static THREADS: [AtomicI32; THREADS_MAX] = [const { AtomicI32::new(0) }; THREADS_MAX];
/// The signals that each of these handled.
static BY_THREAD: [AtomicU64; THREADS_MAX] = [const { AtomicU64::new(0) }; THREADS_MAX];

/// From now on a handler counts `signal` and does nothing else. System calls that sleep are
/// interrupted by it (no `SA_RESTART`).
///
/// # Errors
/// `EINVAL` for what is no signal, or for one that cannot be caught.
pub fn count(signal: i32) -> Result<()> {
    install(signal, note)
}

/// From now on `signal` interrupts system calls that sleep and does nothing else: nobody counts it.
///
/// # Errors
/// As [`count`].
pub fn interrupt(signal: i32) -> Result<()> {
    install(signal, ignore)
}

/// How many signals [`count`]'s handler has handled in this process.
pub fn counted() -> u64 {
    COUNTED.load(Ordering::Acquire)
}

/// Has signals counted in `word` too, which may lie in memory that other processes share.
pub fn count_into(word: &'static AtomicU64) {
    COUNTED_INTO.store(std::ptr::from_ref(word).cast_mut(), Ordering::Release);
}

/// Has the signals that the calling thread handles counted apart, under `index`, which must be
/// below 16.
pub fn count_this_thread(index: usize) {
    THREADS[index].store(wait_signal::thread_id(), Ordering::Release);
}

/// How many signals the thread that called itself `index` has handled.
pub fn counted_by(index: usize) -> u64 {
    BY_THREAD[index].load(Ordering::Acquire)
}

/// The number of the thread that called itself `index`; 0 while there is none.
pub fn thread_of(index: usize) -> Pid {
    THREADS[index].load(Ordering::Acquire)
}

/// The counting handler: atomics and `gettid`, which are safe in any handler.
extern "C" fn note(_signal: libc::c_int) {
    let thread = wait_signal::thread_id();
    for (known, handled) in THREADS.iter().zip(&BY_THREAD) {
        if known.load(Ordering::Acquire) == thread {
            handled.fetch_add(1, Ordering::AcqRel);
        }
    }
    COUNTED.fetch_add(1, Ordering::AcqRel);
    let word = COUNTED_INTO.load(Ordering::Acquire);
    // SAFETY: null, or a reference that lives for ever (`count_into`).
    if let Some(word) = unsafe { word.as_ref() } {
        word.fetch_add(1, Ordering::AcqRel);
    }
}

extern "C" fn ignore(_signal: libc::c_int) {}

fn install(signal: i32, handler: extern "C" fn(libc::c_int)) -> Result<()> {
    // SAFETY: what the handlers of this file do, and where that is not safe in a handler, each says
    // itself.
    unsafe { crate::signal::handle(signal, handler, 0) }
}

/// What the timer's handler does. Each is the same thing that the interrupted code does.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    /// Nothing: the handler counts its runs.
    Nothing,
    /// Splits a line of its own into tokens.
    Split(&'static TokenLine, Splitting),
    /// Prints a record to the stream.
    Print(&'static Stream, Printing),
    /// Takes the lock and gives it back.
    Lock(&'static Relock),
    /// Allocates and frees some blocks.
    Allocate,
    /// Writes a record by `write(2)`.
    Write(&'static Appender),
}

/// The letter that the handler signs its records with.
pub const HANDLER_LETTER: u8 = b'H';

/// What the timer's handler does, and where it counts its runs; set once in a process.
static TIMED: OnceLock<(Act, &'static AtomicU64)> = OnceLock::new();

/// From now on a timer interrupts this process (by SIGALRM, every `interval` of elapsed time) and
/// its handler does `act`. Each run is counted in `runs` as it begins.
///
/// Most of these acts are not safe in a handler: that is what they are for. They may deadlock this
/// process or destroy its heap, so it should be a child that was made to be lost. Threads that are
/// not to be interrupted block SIGALRM first. Works once in a process.
///
/// # Errors
/// `EINVAL` for an interval of a second or more, or `EBUSY` where a timer was started before.
pub fn every(interval: Duration, act: Act, runs: &'static AtomicU64) -> Result<()> {
    if TIMED.set((act, runs)).is_err() {
        return Err(crate::Error::new("setitimer(a second time)", libc::EBUSY));
    }
    install(libc::SIGALRM, on_timer)?;
    set_timer(interval)
}

/// Stops the timer of [`every`]. A signal that is on its way may still come.
///
/// # Errors
/// None is known.
pub fn stop() -> Result<()> {
    set_timer(Duration::ZERO)
}

fn set_timer(interval: Duration) -> Result<()> {
    let microseconds = i64::try_from(interval.as_micros()).unwrap_or(-1);
    let time = libc::timeval { tv_sec: 0, tv_usec: microseconds };
    let timer = libc::itimerval { it_interval: time, it_value: time };
    // SAFETY: the timer outlives the call; a null old one is not written.
    let set = unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) };
    check(set.into(), || format!("setitimer({microseconds} us)")).map(|_| ())
}

/// The timer's handler.
extern "C" fn on_timer(_signal: libc::c_int) {
    let Some((act, runs)) = TIMED.get() else { return };
    let errno = last_errno();
    let number = runs.fetch_add(1, Ordering::AcqRel);
    match act {
        Act::Nothing => {}
        Act::Split(line, how) => {
            line.split(*how);
        }
        Act::Print(stream, how) => {
            // What became of it is seen in the file.
            stream.print(*how, HANDLER_LETTER, number);
        }
        Act::Lock(lock) => lock.take_and_give(),
        Act::Allocate => {
            Churn::new(number).turn();
        }
        Act::Write(file) => {
            file.write(HANDLER_LETTER, number);
        }
    }
    // SAFETY: errno's address is valid on this thread. The interrupted code may be about to read
    // it.
    unsafe { *libc::__errno_location() = errno };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::SIGUSR1;
    use crate::testing::{eventually, in_child};
    use crate::{process, task};

    #[test]
    fn the_thread_that_handled_a_signal_is_known() {
        in_child(|| {
            count(SIGUSR1).unwrap();
            count_this_thread(3);
            process::kill(process::pid(), SIGUSR1).unwrap();
            process::kill(process::pid(), SIGUSR1).unwrap();
            assert_eq!((counted(), counted_by(3), counted_by(4)), (2, 2, 0));
            assert_eq!(thread_of(3), wait_signal::thread_id());
        });
    }

    #[test]
    fn signals_are_counted_where_another_process_sees_them() {
        let memory: &'static _ = Box::leak(Box::new(crate::pages::shared(8).unwrap()));
        let child = task::fork_run(|| {
            count_into(&memory.words()[0]);
            let done = count(SIGUSR1).and_then(|()| process::kill(process::pid(), SIGUSR1));
            i32::from(done.is_err())
        })
        .unwrap();
        assert_eq!(task::wait(child).unwrap().code, Some(0));
        assert_eq!(memory.words()[0].load(Ordering::SeqCst), 1);
    }

    #[test]
    fn the_timer_calls_its_handler_until_it_is_stopped() {
        in_child(|| {
            static RUNS: AtomicU64 = AtomicU64::new(0);
            every(Duration::from_micros(200), Act::Nothing, &RUNS).unwrap();
            eventually("ten runs", || RUNS.load(Ordering::SeqCst) >= 10);
            stop().unwrap();
            assert_eq!(
                every(Duration::from_micros(200), Act::Nothing, &RUNS).unwrap_err().errno(),
                Some(libc::EBUSY)
            );
        });
    }

    #[test]
    fn what_cannot_be_caught_is_refused() {
        assert_eq!(count(libc::SIGKILL).unwrap_err().errno(), Some(libc::EINVAL));
    }
}
