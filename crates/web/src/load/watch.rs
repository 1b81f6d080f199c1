//! Who watches the threads of a load: when they are ready, when the clock starts, how far they are, and when
//! somebody wants them to end.

use super::series::{Piece, Series};
use super::tally::Tally;
use super::worker::{Progress, Shared, Worker};
use super::{Before, Error, LIVE_NS, Live, Log, START_NS, system};
use model::LoadPlan;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;
use sys::Pid;
use sys::clock::now_ns;

/// Lets the threads do their work, and watches them. Returns what each came to.
pub(super) fn conduct(
    workers: Vec<(Worker<'_>, mio::Waker)>,
    watch: &mut Watch<'_>,
) -> Result<Vec<Tally>, Error> {
    thread::scope(|scope| {
        let (ready, preparing) = mpsc::channel();
        let (mut starts, mut handles) = (Vec::new(), Vec::new());
        for (mut worker, waker) in workers {
            let (start, started) = mpsc::channel();
            watch.wakers.push(waker);
            starts.push(start);
            let ready: mpsc::Sender<()> = ready.clone();
            let work = move || {
                let prepared = worker.prepare();
                drop(ready);
                // Nobody says when, if another thread could not be made.
                let start_ns: Option<u64> = started.recv().ok();
                start_ns.map(|start_ns| prepared.and_then(|()| worker.run(start_ns)))
            };
            let thread = thread::Builder::new().name("load".into()).spawn_scoped(scope, work);
            handles.push(thread.map_err(system("make a thread"))?);
        }
        drop(ready);
        watch.until_ready(&preparing);
        let start_ns = now_ns() + START_NS;
        for start in &starts {
            // A thread that is gone is found when it is joined.
            let _ = start.send(start_ns);
        }
        watch.until_gone(start_ns);
        handles.into_iter().map(join).collect()
    })
}

/// What watches the threads.
pub(super) struct Watch<'a> {
    pub(super) plan: &'a LoadPlan,
    /// When the clock starts, in ns of the monotonic clock.
    pub(super) clock_ns: u64,
    /// What was seen when it started.
    pub(super) before: Before,
    pub(super) series: Series,
    /// The server's processes.
    pub(super) pids: Vec<Pid>,
    pub(super) coming: Receiver<Piece>,
    pub(super) shared: &'a Shared,
    pub(super) progress: &'a [Progress],
    pub(super) wakers: Vec<mio::Waker>,
    pub(super) stopped: bool,
    pub(super) live: &'a mut dyn FnMut(Live) -> bool,
    pub(super) log: Option<Log<'a>>,
}

impl Watch<'_> {
    /// Waits until all threads have prepared, with which their ends of the channel go.
    fn until_ready(&mut self, preparing: &Receiver<()>) {
        while preparing.recv_timeout(Duration::from_nanos(LIVE_NS))
            != Err(RecvTimeoutError::Disconnected)
        {
            self.look(0);
        }
    }

    /// Watches until all threads have ended, with which their ends of the channel go.
    fn until_gone(&mut self, start_ns: u64) {
        let warm_up_ns = self.plan.options.warm_up_ms.saturating_mul(1_000_000);
        self.start_clock(start_ns.saturating_add(warm_up_ns));
        let (mut look_ns, mut warming) = (start_ns + LIVE_NS, warm_up_ns > 0);
        // Looks at regular moments see requests that come at regular moments always, or never.
        let mut random = ChaCha8Rng::seed_from_u64(start_ns);
        loop {
            let mut until_ns = look_ns;
            if warming {
                until_ns = until_ns.min(self.clock_ns);
            }
            match self.coming.recv_timeout(Duration::from_nanos(until_ns.saturating_sub(now_ns())))
            {
                Ok(piece) => {
                    let noted = self.series.add(piece);
                    let log = self.log.as_mut().filter(|_| !noted.is_empty());
                    if log.is_some_and(|log| !log(&noted)) {
                        self.stop();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let now_ns = now_ns();
                    if warming && now_ns >= self.clock_ns {
                        warming = false;
                        self.start_clock(self.clock_ns);
                    }
                    if now_ns >= look_ns {
                        look_ns = now_ns + random.random_range(LIVE_NS / 2..LIVE_NS * 3 / 2);
                        self.look(if warming { 0 } else { now_ns.saturating_sub(self.clock_ns) });
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
            // One that could reach nobody ends at once; the others need not go on.
            if self.shared.failed.load(Ordering::Relaxed) {
                self.stop();
            }
        }
    }

    /// The clock starts: what comes from here on is counted.
    fn start_clock(&mut self, clock_ns: u64) {
        self.clock_ns = clock_ns;
        self.before = Before::look();
        self.series = Series::new(self.plan, self.pids.clone());
    }

    /// Tells how far the load is, `passed_ns` after its start, and ends it where that is wished.
    fn look(&mut self, passed_ns: u64) {
        let sum = |count: fn(&Progress) -> &AtomicU64| {
            self.progress.iter().map(|it| count(it).load(Ordering::Relaxed)).sum()
        };
        let in_flight = sum(|it| &it.in_flight);
        let (answered, failed) = (sum(|it| &it.answered), sum(|it| &it.failed));
        if passed_ns > 0 {
            self.series.look(passed_ns, in_flight);
        }
        let [p50_ns, p95_ns] = self.series.recent();
        let elapsed = Duration::from_nanos(passed_ns);
        let live = Live { elapsed, answered, failed, in_flight, p50_ns, p95_ns };
        if !self.stopped && !(self.live)(live) {
            self.stop();
        }
    }

    fn stop(&mut self) {
        if self.stopped {
            return;
        }
        self.stopped = true;
        self.shared.stop.store(true, Ordering::Relaxed);
        for waker in &self.wakers {
            // A thread that cannot be woken looks when its next event comes.
            let _ = waker.wake();
        }
    }
}

/// What a thread came to.
fn join(handle: ScopedJoinHandle<'_, Option<Result<Tally, Error>>>) -> Result<Tally, Error> {
    let gone = || std::io::Error::other("it ended early; this is a fault of scruple");
    let ended = handle.join().ok().flatten().ok_or_else(gone);
    ended.map_err(system("a thread of the generator"))?
}
