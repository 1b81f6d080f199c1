//! Threads that work at the same time, each on the CPU it is given, in short rounds.
//!
//! A neighbour that takes a CPU away for a moment takes away the contention, too: two threads of
//! which one waits for a CPU do not meet at a lock. So the work is done in rounds that are short
//! against a time slice, each thread reads from the kernel how long it had to wait for its CPU,
//! and the rounds in which all had theirs are told from the others. Where there are more threads
//! than CPUs they take turns anyway: then there is one long round.

use kit::Stop;
use kit::model::Profile;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ScopedJoinHandle;
use sys::usage::Usage;

/// How long a round lasts, in nanoseconds: long against the microsecond by which the threads begin
/// apart, short against a time slice of some milliseconds.
const ROUND_NS: u64 = 500_000;

/// Rounds that are not kept: in them caches are filled.
const WARM_UP: usize = 2;

/// The most rounds of a trial.
const ROUNDS_MAX: usize = 500;

/// A trial goes on for this many times its time, to find rounds in which all had their CPUs.
const PATIENCE: u64 = 8;

/// The least overlap of a round in which all had their CPUs, in parts per million.
const OVERLAP_MIN_PPM: i64 = 900_000;

/// How often a thread looks for the others before it looks whether they still live.
const LOOKS: u64 = 10_000;

/// What the threads' maker has to do, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// All are warm and wait: open the timed region.
    Begin,
    /// All have worked: close it.
    End,
    /// All hold what they have: look at it.
    Look,
}

/// One thread's part of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// Its first instant, in nanoseconds of CLOCK_MONOTONIC.
    pub(crate) began_ns: u64,
    /// Its last.
    pub(crate) ended_ns: u64,
    /// Its CPU time between the two.
    pub(crate) cpu_ns: u64,
    /// Its time on a run queue between the two; 0 where the kernel keeps no account.
    pub(crate) queue_wait_ns: u64,
    /// How often it went to sleep in between.
    pub(crate) sleeps: u64,
}

impl Span {
    /// How long it lasted.
    pub(crate) fn wall_ns(&self) -> u64 {
        self.ended_ns.saturating_sub(self.began_ns)
    }
}

/// From the first thread's begin to the last one's end, in nanoseconds, 1 at least.
pub(crate) fn whole_ns(spans: &[Span]) -> u64 {
    let first_ns = spans.iter().map(|span| span.began_ns).min().unwrap_or(0);
    let last_ns = spans.iter().map(|span| span.ended_ns).max().unwrap_or(0);
    last_ns.saturating_sub(first_ns).max(1)
}

/// The least time in which all threads were at work and none waited for a CPU, as a share of the
/// time in which any was at work, in parts per million.
///
/// Nobody knows when they waited, so all of their waiting is taken off, as if no two had ever
/// waited at once. A thread that sleeps for a lock is at work; what a hypervisor takes from a CPU
/// is not seen.
pub(crate) fn overlap_ppm(spans: &[Span]) -> i64 {
    let began_ns = spans.iter().map(|span| span.began_ns).max().unwrap_or(0);
    let ended_ns = spans.iter().map(|span| span.ended_ns).min().unwrap_or(0);
    let waited_ns: u64 = spans.iter().map(|span| span.queue_wait_ns).sum();
    let together_ns = ended_ns.saturating_sub(began_ns).saturating_sub(waited_ns);
    (u128::from(together_ns) * 1_000_000 / u128::from(whole_ns(spans))) as i64
}

/// What a total is scaled to by [`per_million`], so that a fraction of a nanosecond is not lost.
pub(crate) const MILLION: u64 = 1_000_000;

/// A total of `count` operations as that of a million.
pub(crate) fn per_million(total: u64, count: u64) -> i64 {
    (u128::from(total) * u128::from(MILLION) / u128::from(count.max(1))) as i64
}

/// The clock of one thread that works.
#[derive(Debug)]
pub(crate) struct Shift {
    deadline_ns: u64,
    usage: Usage,
    queue_wait_ns: u64,
    cpu_ns: u64,
    began_ns: u64,
}

fn queue_wait_ns() -> u64 {
    sys::proc::schedstat_thread().map_or(0, |sched| sched.queue_wait_ns)
}

impl Shift {
    fn until(deadline_ns: impl FnOnce(u64) -> u64) -> Self {
        let usage = Usage::of_thread();
        let queue_wait_ns = queue_wait_ns();
        let cpu_ns = sys::clock::thread_cpu_ns();
        let began_ns = sys::clock::now_ns();
        Shift { deadline_ns: deadline_ns(began_ns), usage, queue_wait_ns, cpu_ns, began_ns }
    }

    /// Whether the time to work is over.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        sys::clock::now_ns() >= self.deadline_ns
    }

    fn end(self) -> Span {
        let ended_ns = sys::clock::now_ns();
        let cpu_ns = sys::clock::thread_cpu_ns() - self.cpu_ns;
        let queue_wait_ns = queue_wait_ns().saturating_sub(self.queue_wait_ns);
        let sleeps = Usage::of_thread().since(self.usage).voluntary_switches;
        Span { began_ns: self.began_ns, ended_ns, cpu_ns, queue_wait_ns, sleeps }
    }
}

/// What a thread did, round by round, warm-up left out.
pub(crate) type Rounds<W> = Vec<(Span, W)>;

/// What several threads did, round by round: the spans and the work of all.
pub(crate) fn by_round<W: Copy>(threads: &[&Rounds<W>]) -> Vec<(Vec<Span>, Vec<W>)> {
    let count = threads.iter().map(|rounds| rounds.len()).min().unwrap_or(0);
    (0..count).map(|round| threads.iter().map(|rounds| rounds[round]).unzip()).collect()
}

/// Whether the threads of a round may be held against each other: each had its CPU, or none could
/// expect one.
pub(crate) fn is_sound(spans: &[Span], parallel: bool) -> bool {
    !parallel || overlap_ppm(spans) >= OVERLAP_MIN_PPM
}

#[derive(Debug, PartialEq, Eq)]
enum Phase {
    Closed,
    Open { begun_ns: u64 },
    Over,
}

#[derive(Debug)]
struct State {
    arrived: usize,
    phase: Phase,
    trouble: Option<Stop>,
}

/// Where threads wait for each other.
#[derive(Debug)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
    threads: u64,
    timed_ns: u64,
    /// Each thread has a CPU of its own.
    parallel: bool,
    /// How often somebody has come to a meeting, in all meetings together.
    arrivals: AtomicU64,
    go_on: AtomicBool,
    broken: AtomicBool,
    /// The span of each thread's last round: begin, end, wait.
    spans: Vec<[AtomicU64; 3]>,
}

impl Gate {
    fn new(cpus: &[u32], timed_ns: u64) -> Self {
        let state = State { arrived: 0, phase: Phase::Closed, trouble: None };
        Gate {
            state: Mutex::new(state),
            changed: Condvar::new(),
            threads: cpus.len() as u64,
            timed_ns,
            parallel: are_apart(cpus),
            arrivals: AtomicU64::new(0),
            go_on: AtomicBool::new(true),
            broken: AtomicBool::new(false),
            spans: cpus.iter().map(|_| Default::default()).collect(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn wait_while(&self, waits: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        self.changed
            .wait_while(self.lock(), |state| waits(state))
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn break_off(&self, why: Stop) {
        self.broken.store(true, Ordering::Release);
        self.change(|state| state.trouble = Some(why));
    }

    fn await_arrivals(&self, count: usize) -> Result<(), Stop> {
        let mut state = self.wait_while(|s| s.arrived < count && s.trouble.is_none());
        state.trouble.take().map_or(Ok(()), Err)
    }

    /// A thread is warm. It works round by round once the timed region is open, and returns when
    /// what it holds was looked at, with what `round` said of each. `None` if something went wrong
    /// elsewhere.
    ///
    /// `round` works until the shift is over.
    pub(crate) fn work<W>(
        &self,
        index: usize,
        mut round: impl FnMut(&Shift) -> W,
    ) -> Option<Rounds<W>> {
        let mut done = Vec::with_capacity(ROUNDS_MAX);
        self.change(|state| state.arrived += 1);
        let begun_ns = match self.wait_while(|state| state.phase == Phase::Closed).phase {
            Phase::Open { begun_ns } => begun_ns,
            Phase::Closed | Phase::Over => return None,
        };
        if self.parallel {
            self.work_in_rounds(index, begun_ns, &mut round, &mut done)?;
        } else {
            let shift = Shift::until(|_| begun_ns + self.timed_ns);
            let did = round(&shift);
            done.push((shift.end(), did));
        }
        self.change(|state| state.arrived += 1);
        drop(self.wait_while(|state| state.phase != Phase::Over));
        Some(done)
    }

    fn work_in_rounds<W>(
        &self,
        index: usize,
        begun_ns: u64,
        round: &mut impl FnMut(&Shift) -> W,
        done: &mut Rounds<W>,
    ) -> Option<()> {
        let mut meetings = 0;
        let mut sound_ns = 0;
        for number in 0.. {
            self.meet(&mut meetings)?;
            if index == 0 && number > WARM_UP {
                sound_ns += self.sound_ns();
                let elapsed_ns = sys::clock::now_ns() - begun_ns;
                let more = sound_ns < self.timed_ns && elapsed_ns < PATIENCE * self.timed_ns;
                self.go_on.store(more && number < WARM_UP + ROUNDS_MAX, Ordering::Relaxed);
            }
            // The store above may be relaxed: a meeting orders what was before and after it.
            self.meet(&mut meetings)?;
            if !self.go_on.load(Ordering::Relaxed) {
                break;
            }
            let shift = Shift::until(|now_ns| now_ns + ROUND_NS);
            let did = round(&shift);
            let span = shift.end();
            let told = [span.began_ns, span.ended_ns, span.queue_wait_ns];
            for (word, value) in self.spans[index].iter().zip(told) {
                word.store(value, Ordering::Relaxed);
            }
            if number >= WARM_UP {
                done.push((span, did));
            }
        }
        Some(())
    }

    /// How long the last round lasted, if it was sound. Called while nobody works, and short.
    fn sound_ns(&self) -> u64 {
        let spans: Vec<Span> = self.spans.iter().map(read_span).collect();
        if is_sound(&spans, self.parallel) { whole_ns(&spans) } else { 0 }
    }

    /// Waits until all threads have come here as often as this one; by looking, not by sleeping,
    /// so that they go on within a microsecond of each other, and without ever giving the CPU away:
    /// beside busy neighbours the moment in which all have theirs must not be missed. `None` if
    /// somebody will not come.
    fn meet(&self, meetings: &mut u64) -> Option<()> {
        *meetings += 1;
        let all = *meetings * self.threads;
        self.arrivals.fetch_add(1, Ordering::AcqRel);
        let mut looks = 0_u64;
        while self.arrivals.load(Ordering::Acquire) < all {
            looks += 1;
            if looks.is_multiple_of(LOOKS) && self.broken.load(Ordering::Acquire) {
                return None;
            }
            std::hint::spin_loop();
        }
        Some(())
    }
}

fn read_span([began, ended, waited]: &[AtomicU64; 3]) -> Span {
    Span {
        began_ns: began.load(Ordering::Relaxed),
        ended_ns: ended.load(Ordering::Relaxed),
        queue_wait_ns: waited.load(Ordering::Relaxed),
        ..Span::default()
    }
}

/// Lets all threads go, however the maker leaves.
struct Dismissal<'a>(&'a Gate);

impl Drop for Dismissal<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.phase = Phase::Over);
    }
}

/// Has one thread per entry of `cpus`, pinned to that CPU, do `body`, which must pass
/// [`Gate::work`] once and return what that tells it to. The threads work for `timed_ns`, or
/// longer where they are disturbed. Returns what the bodies returned, in order.
pub(crate) fn gather<R: Send>(
    cpus: &[u32],
    timed_ns: u64,
    body: impl Fn(usize, &Gate) -> Option<R> + Sync,
    mut step: impl FnMut(Step) -> Result<(), Stop>,
) -> Result<Vec<R>, Stop> {
    let gate = Gate::new(cpus, timed_ns);
    let (gate, body) = (&gate, &body);
    std::thread::scope(|scope| {
        let dismissal = Dismissal(gate);
        let mut threads = Vec::with_capacity(cpus.len());
        for (index, cpu) in cpus.iter().enumerate() {
            let life = move || live(gate, *cpu, || body(index, gate));
            let made = std::thread::Builder::new().spawn_scoped(scope, life).map_err(|error| {
                Stop::unsupported(format!(
                    "thread {} of {} was refused: {error}; a limit on threads or memory (ulimit \
                     -u, a cgroup) is too low",
                    index + 1,
                    cpus.len()
                ))
            });
            threads.push(made?);
        }
        gate.await_arrivals(cpus.len())?;
        step(Step::Begin)?;
        let begun_ns = sys::clock::now_ns();
        gate.change(|state| state.phase = Phase::Open { begun_ns });
        gate.await_arrivals(2 * cpus.len())?;
        step(Step::End)?;
        step(Step::Look)?;
        drop(dismissal);
        let ended = |thread: ScopedJoinHandle<'_, Option<R>>| thread.join().ok().flatten();
        let lost = || Stop::failed("a thread ended without a result");
        threads.into_iter().map(|thread| ended(thread).ok_or_else(lost)).collect()
    })
}

/// One thread, from its place to its end. One that never arrived would be waited for.
fn live<R>(gate: &Gate, cpu: u32, body: impl FnOnce() -> Option<R>) -> Option<R> {
    if let Err(error) = sys::affinity::pin(&[cpu]) {
        gate.break_off(Stop::unsupported(format!("{error}: choose other CPUs by --affinity")));
        return None;
    }
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        gate.break_off(Stop::failed("a thread panicked"));
        None
    })
}

/// CPUs for `count` threads, in turn: the last ones first, since interrupts gather on the first,
/// and one of each core before a second one.
pub(crate) fn places(cpus: &[u32], count: usize) -> Vec<u32> {
    let mut cores = BTreeSet::new();
    let (first, second): (Vec<u32>, Vec<u32>) =
        cpus.iter().rev().partition(|cpu| cores.insert(sys::topology::core_siblings(**cpu)));
    let order = [first, second].concat();
    (0..count).filter_map(|index| order.get(index % order.len().max(1)).copied()).collect()
}

/// Whether no CPU is named twice.
pub(crate) fn are_apart(cpus: &[u32]) -> bool {
    cpus.iter().collect::<BTreeSet<_>>().len() == cpus.len()
}

/// What a trial says whose rounds were all disturbed. It has failed, so that it is tried again in
/// the next block; `smoke`, which has no next one to speak of, cannot do it here.
pub(crate) fn all_disturbed(rounds: usize, profile: Profile) -> Stop {
    let why = format!(
        "in none of {rounds} rounds did all threads have a CPU for {} % of the time: others use \
         the CPUs; stop them, or choose CPUs that are free by --affinity",
        OVERLAP_MIN_PPM / 10_000
    );
    if profile == Profile::Smoke { Stop::unsupported(why) } else { Stop::failed(why) }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
