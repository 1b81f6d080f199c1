//! A thread that repeats one load on request, and is idle otherwise.

use kit::{Result, Stop};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

const IDLE: u8 = 0;
const GO: u8 = 1;
const END: u8 = 2;

/// How long a co-runner may take to get ready: it may have to touch its memory.
const READY: Duration = Duration::from_secs(20);

/// What a co-runner does again and again: one step of it, some microseconds to some milliseconds
/// long, which returns how many units of work it did. It may sleep.
pub(super) trait Load {
    /// One step.
    ///
    /// # Errors
    /// A sentence: the co-runner cannot go on.
    fn step(&mut self) -> Result<u64, String>;

    /// It goes on after it was idle.
    fn begins(&mut self) {}
}

/// What co-runners did since they began at last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    /// Units of work.
    pub(super) units: u64,
    /// CPU time.
    pub(super) cpu_ns: u64,
}

impl Done {
    pub(super) fn plus(self, other: Done) -> Done {
        Done { units: self.units + other.units, cpu_ns: self.cpu_ns + other.cpu_ns }
    }
}

#[derive(Debug, Default)]
struct Shared {
    state: AtomicU8,
    units: AtomicU64,
    cpu_ns: AtomicU64,
    failed: Mutex<Option<String>>,
}

/// A thread that takes a resource on request. It ends when this is dropped.
pub(super) struct CoRunner {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    how: String,
}

impl CoRunner {
    /// Starts one on some CPUs. `load` is made in the thread itself, which then is idle; what it
    /// says of itself is kept.
    ///
    /// # Errors
    /// No thread, or what `load` says.
    pub(super) fn start<L: Load>(
        cpus: &[u32],
        load: impl FnOnce() -> Result<(L, String)> + Send + 'static,
    ) -> Result<Self> {
        let shared = Arc::new(Shared::default());
        let (report, ready) = mpsc::channel();
        let (its, cpus) = (Arc::clone(&shared), cpus.to_vec());
        let thread = std::thread::Builder::new().name("co-runner".into()).spawn(move || {
            let made = pinned(&cpus).and_then(|()| load());
            match made {
                Ok((load, how)) => {
                    let _ = report.send(Ok(how));
                    serve(&its, load);
                }
                Err(stop) => drop(report.send(Err(stop))),
            }
        })?;
        let mut co_runner = CoRunner { shared, thread: Some(thread), how: String::new() };
        co_runner.how = ready
            .recv_timeout(READY)
            .map_err(|_| Stop::failed("a co-runner did not get ready"))??;
        Ok(co_runner)
    }

    /// What it says of itself.
    pub(super) fn how(&self) -> &str {
        &self.how
    }

    /// Lets it work.
    pub(super) fn go(&self) {
        self.tell(GO);
    }

    /// Lets it be idle, after the step that it is in.
    pub(super) fn idle(&self) {
        self.tell(IDLE);
    }

    /// Ends it and says what it did since it began at last.
    ///
    /// # Errors
    /// What made it fail.
    pub(super) fn end(mut self) -> Result<Done> {
        self.join();
        let failed = self.shared.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(why) = failed {
            return Err(Stop::failed(format!("a co-runner: {why}")));
        }
        let read = |word: &AtomicU64| word.load(Ordering::Acquire);
        Ok(Done { units: read(&self.shared.units), cpu_ns: read(&self.shared.cpu_ns) })
    }

    fn tell(&self, state: u8) {
        self.shared.state.store(state, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }

    fn join(&mut self) {
        self.tell(END);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for CoRunner {
    fn drop(&mut self) {
        self.join();
    }
}

fn pinned(cpus: &[u32]) -> Result<()> {
    // Sleeps are to be as long as asked for, whatever the trial inherited.
    sys::process::set_timer_slack(1)?;
    if cpus.is_empty() {
        return Ok(());
    }
    sys::affinity::pin(cpus).map_err(|error| Stop::unsupported(error.to_string()))
}

fn serve(shared: &Shared, mut load: impl Load) {
    let mut was = IDLE;
    let (mut units, mut cpu_began_ns) = (0, 0);
    loop {
        let state = shared.state.load(Ordering::Acquire);
        if state == GO && was != GO {
            (units, cpu_began_ns) = (0, sys::clock::thread_cpu_ns());
            load.begins();
        }
        if state != GO && was == GO {
            let cpu_ns = sys::clock::thread_cpu_ns() - cpu_began_ns;
            shared.units.store(units, Ordering::Release);
            shared.cpu_ns.store(cpu_ns, Ordering::Release);
        }
        was = state;
        match state {
            GO => match load.step() {
                Ok(done) => units += done,
                Err(why) => {
                    *shared.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                    return;
                }
            },
            END => return,
            _ => std::thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CoRunner, Done, Load};
    use kit::Stop;

    /// Fails at a step; before it each is one unit.
    struct Counted(u64);

    impl Load for Counted {
        fn step(&mut self) -> Result<u64, String> {
            self.0 = self.0.checked_sub(1).ok_or("worn out")?;
            std::thread::sleep(std::time::Duration::from_micros(100));
            Ok(1)
        }
    }

    fn co_runner(steps: u64) -> CoRunner {
        CoRunner::start(&[], move || Ok((Counted(steps), "counted".into()))).unwrap()
    }

    #[test]
    fn idle_is_idle_and_what_is_done_is_counted_from_the_last_beginning() {
        let idle = co_runner(u64::MAX);
        assert_eq!(idle.how(), "counted");
        assert_eq!(idle.end().unwrap(), Done::default());
        let worked = co_runner(u64::MAX);
        worked.go();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let done = worked.end().unwrap();
        assert!(done.units > 0 && done.cpu_ns > 0, "{done:?}");
    }

    #[test]
    fn one_that_fails_says_why_and_one_that_cannot_start_too() {
        let failing = co_runner(3);
        failing.go();
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert_eq!(failing.end(), Err(Stop::failed("a co-runner: worn out")));
        let none = CoRunner::start(&[], || Err::<(Counted, _), _>(Stop::unsupported("no disk")));
        assert_eq!(none.err(), Some(Stop::unsupported("no disk")));
    }
}
