//! A thread that exists already: what is handed to it costs no creation.

use super::timing::{Tally, Times, timed};
use crate::support::not_made;
use kit::{Result, Stop, Trial};
use std::sync::atomic::{AtomicU32, Ordering};
use sys::clock::now_ns;
use sys::condvar::Baton;

/// The number that sends the pool's thread home.
pub(crate) const HOME: u32 = u32::MAX;

/// A way to hand a numbered job to a thread and to learn that it is done.
pub(crate) trait Handing: Sync {
    /// Hands the job over.
    fn give(&self, job: u32) -> sys::Result<()>;
    /// Sleeps until there is another job than the last.
    fn take(&self, last: u32) -> sys::Result<u32>;
    /// Says that the job is done.
    fn report(&self, job: u32) -> sys::Result<()>;
    /// Sleeps until it is said that the job is done.
    fn hear(&self, job: u32) -> sys::Result<()>;
}

/// A futex alone: two words, and two system calls on each side.
#[derive(Debug)]
pub(crate) struct Futex {
    given: AtomicU32,
    done: AtomicU32,
}

impl Futex {
    pub(crate) const fn new() -> Self {
        Futex { given: AtomicU32::new(0), done: AtomicU32::new(0) }
    }
}

impl Handing for Futex {
    fn give(&self, job: u32) -> sys::Result<()> {
        self.given.store(job, Ordering::Release);
        sys::futex::wake(&self.given, 1).map(drop)
    }

    fn take(&self, last: u32) -> sys::Result<u32> {
        sleep_until(&self.given, |job| job != last)
    }

    fn report(&self, job: u32) -> sys::Result<()> {
        self.done.store(job, Ordering::Release);
        sys::futex::wake(&self.done, 1).map(drop)
    }

    fn hear(&self, job: u32) -> sys::Result<()> {
        sleep_until(&self.done, |done| done == job).map(drop)
    }
}

fn sleep_until(word: &AtomicU32, right: impl Fn(u32) -> bool) -> sys::Result<u32> {
    loop {
        let now = word.load(Ordering::Acquire);
        if right(now) {
            return Ok(now);
        }
        sys::futex::wait(word, now, None)?;
    }
}

/// POSIX's: two numbers, each under a mutex with a condition variable.
#[derive(Debug, Default)]
pub(super) struct Condvar {
    given: Baton,
    done: Baton,
}

impl Handing for Condvar {
    fn give(&self, job: u32) -> sys::Result<()> {
        self.given.pass(job)
    }

    fn take(&self, last: u32) -> sys::Result<u32> {
        self.given.await_change(last)
    }

    fn report(&self, job: u32) -> sys::Result<()> {
        self.done.pass(job)
    }

    fn hear(&self, job: u32) -> sys::Result<()> {
        self.done.await_change(job - 1).map(drop)
    }
}

/// Hands jobs over in that way.
pub(super) fn measure(
    trial: &mut Trial<'_>,
    cpu: Option<u32>,
    handing: &impl Handing,
) -> Result<Tally> {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().spawn_scoped(scope, move || work(handing, cpu));
        let worker = worker.map_err(not_made)?;
        let mut job = 0;
        let tally = timed(trial, || {
            job += 1;
            handed(handing, job)
        });
        // Whatever came of it: the thread is sent home, or the scope would wait for ever.
        handing.give(HOME)?;
        let lived = worker.join().map_err(|_| Stop::failed("the pool's thread panicked"))??;
        Ok(Tally { lived: Some(lived), ..tally? })
    })
}

/// Hands one job over and waits until it is done.
fn handed(handing: &impl Handing, job: u32) -> Result<Times> {
    let start_ns = now_ns();
    handing.give(job)?;
    let made_ns = now_ns();
    handing.hear(job)?;
    Ok(Times { start_ns, made_ns, over_ns: now_ns() })
}

/// The life of the pool's thread; returns the number of jobs it did.
///
/// A thread that may not go where it should takes no job as done in another place: it answers
/// all of them, so that nobody waits for ever, and says in the end what was wrong.
pub(super) fn work(handing: &impl Handing, cpu: Option<u32>) -> Result<u64> {
    let pinned = cpu.map_or(Ok(()), |cpu| sys::affinity::pin(&[cpu]));
    let mut jobs = 0;
    let mut last = 0;
    loop {
        last = handing.take(last)?;
        if last == HOME {
            break;
        }
        jobs += 1;
        handing.report(last)?;
    }
    pinned.map_err(|error| Stop::unsupported(error.to_string()))?;
    Ok(jobs)
}
