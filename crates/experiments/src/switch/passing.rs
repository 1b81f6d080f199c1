//! How a task hands the token to the next one, and waits for its own turn.

use kit::{Result, Stop};
use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::Ordering;
use sys::shared_futexes::SharedFutexes;

/// The bit that sends a token's receivers out of the ring.
pub(super) const STOP: u32 = 1 << 31;

/// The bit that makes a token's receivers count from here on.
pub(super) const START: u32 = 1 << 30;

/// The number of a token, without these bits.
pub(super) const NUMBER: u32 = START - 1;

/// The token that a task is thought to have had before the first lap. The measuring task, which
/// begins each lap, had the one that follows the last task's.
pub(super) fn before_the_first(task: usize, tasks: usize) -> u32 {
    (if task == 0 { tasks } else { task }) as u32
}

/// System calls that a task made for its hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Calls {
    /// All of them.
    pub(super) all: u64,
    /// Those after which it was still not the task's turn.
    pub(super) vain: u64,
}

/// A way to hand a numbered token to a task. The number says to whom: its remainder by the number
/// of tasks.
pub(super) trait Passing: Sync {
    /// Hands the token to a task.
    fn give(&self, to: usize, token: u32, calls: &mut Calls) -> Result<()>;
    /// Waits for a token other than `last`, the one that this task had before.
    fn take(&self, me: usize, last: u32, calls: &mut Calls) -> Result<u32>;
}

/// One pipe per task, and four bytes per token, as lmbench and perf have it.
#[derive(Debug)]
pub(super) struct Pipes(Vec<(PipeReader, PipeWriter)>);

impl Pipes {
    pub(super) fn new(tasks: usize) -> Result<Self> {
        let pipes: std::io::Result<Vec<_>> = (0..tasks).map(|_| std::io::pipe()).collect();
        let pipes = pipes.map(Pipes);
        pipes.map_err(|error| Stop::unsupported(format!("pipe: {error}: raise `ulimit -n`")))
    }
}

impl Passing for Pipes {
    #[inline]
    fn give(&self, to: usize, token: u32, calls: &mut Calls) -> Result<()> {
        calls.all += 1;
        whole((&self.0[to].1).write(&token.to_ne_bytes())?, 4)
    }

    #[inline]
    fn take(&self, me: usize, _last: u32, calls: &mut Calls) -> Result<u32> {
        let mut bytes = [0; 4];
        calls.all += 1;
        whole((&self.0[me].0).read(&mut bytes)?, 4)?;
        Ok(u32::from_ne_bytes(bytes))
    }
}

/// One event descriptor per task: its number is the token.
#[derive(Debug)]
pub(super) struct Events(Vec<File>);

impl Events {
    pub(super) fn new(tasks: usize) -> Result<Self> {
        let events: sys::Result<Vec<File>> = (0..tasks).map(|_| sys::eventfd::new()).collect();
        let events = events.map(Events);
        events.map_err(|error| Stop::unsupported(format!("{error}: raise `ulimit -n`")))
    }
}

impl Passing for Events {
    #[inline]
    fn give(&self, to: usize, token: u32, calls: &mut Calls) -> Result<()> {
        calls.all += 1;
        whole((&self.0[to]).write(&u64::from(token).to_ne_bytes())?, 8)
    }

    #[inline]
    fn take(&self, me: usize, _last: u32, calls: &mut Calls) -> Result<u32> {
        let mut bytes = [0; 8];
        calls.all += 1;
        whole((&self.0[me]).read(&mut bytes)?, 8)?;
        u32::try_from(u64::from_ne_bytes(bytes))
            .map_err(|_| Stop::failed("several tokens were added up in one event descriptor"))
    }
}

/// A transfer that was cut short is an error: a token is whole or nothing.
#[inline]
fn whole(moved: usize, asked: usize) -> Result<()> {
    if moved == asked {
        return Ok(());
    }
    Err(Stop::failed(format!("{moved} of {asked} bytes of a token went through")))
}

/// One futex word per task. Threads also use the calls that processes need, so that the
/// twins differ in the address space alone.
#[derive(Debug)]
pub(super) struct Futexes(SharedFutexes);

impl Futexes {
    pub(super) fn new(tasks: usize) -> Result<Self> {
        let boxes = SharedFutexes::new(tasks)?;
        for task in 0..tasks {
            boxes.word(task).store(before_the_first(task, tasks), Ordering::Release);
        }
        Ok(Futexes(boxes))
    }
}

impl Passing for Futexes {
    #[inline]
    fn give(&self, to: usize, token: u32, calls: &mut Calls) -> Result<()> {
        let word = self.0.word(to);
        word.store(token, Ordering::Release);
        calls.all += 1;
        sys::futex::wake_shared(word, 1)?;
        Ok(())
    }

    /// Calls the kernel at least once, also where the token is there already, as reading a pipe
    /// does: one wake and one wait per hop, whichever comes first.
    #[inline]
    fn take(&self, me: usize, last: u32, calls: &mut Calls) -> Result<u32> {
        let word = self.0.word(me);
        loop {
            calls.all += 1;
            sys::futex::wait_shared(word, last, None)?;
            let token = word.load(Ordering::Acquire);
            if token != last {
                return Ok(token);
            }
            calls.vain += 1;
        }
    }
}

/// One word for all: it says whose turn it is. A task that runs out of turn yields again.
#[derive(Debug)]
pub(super) struct Turn {
    word: SharedFutexes,
    tasks: u32,
}

impl Turn {
    pub(super) fn new(tasks: usize) -> Result<Self> {
        let tasks = u32::try_from(tasks).map_err(|_| Stop::failed("too many tasks"))?;
        Ok(Turn { word: SharedFutexes::new(1)?, tasks })
    }
}

impl Passing for Turn {
    #[inline]
    fn give(&self, _to: usize, token: u32, calls: &mut Calls) -> Result<()> {
        self.word.word(0).store(token, Ordering::Release);
        calls.all += 1;
        sys::syscall::yield_cpu();
        Ok(())
    }

    #[inline]
    fn take(&self, me: usize, last: u32, calls: &mut Calls) -> Result<u32> {
        loop {
            let token = self.word.word(0).load(Ordering::Acquire);
            if token != last && ((token & NUMBER) % self.tasks) as usize == me {
                return Ok(token);
            }
            calls.all += 1;
            calls.vain += 1;
            sys::syscall::yield_cpu();
        }
    }
}
