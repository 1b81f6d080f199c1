//! What happens when a function is entered again before it has returned: by another thread, or by a
//! signal handler that interrupted it.

mod child;
mod subject;

use child::{Board, Fate, Fates, USERS_MAX};
use kit::workers::{Span, overlap_ppm, queue_wait_since};
use kit::{Result, Trial};
use std::sync::atomic::Ordering;
use std::time::Duration;
use subject::{FUNCTIONS, RECORDS, Subject, caller, finish, whole_records};
use sys::clock::now_ns;
use sys::handler::Act;
use sys::signal::SIGALRM;
use sys::wait_signal::SignalSet;

experiment!("reentrancy", "reentrancy.toml");

/// Has children call a subject, on these CPUs.
type Reentry = fn(&mut Trial<'_>, Subject, &[u32]) -> Result<()>;

/// Who enters a function while somebody is in it: another thread, or a handler that interrupted the
/// caller.
const REENTRIES: [(&str, Reentry); 2] = [("thread", by_threads), ("handler", by_handler)];

/// Children of a trial, one after the other, that a handler interrupts: each lives or dies by
/// chance.
const CHILDREN: u64 = 4;

/// How often the timer interrupts.
const INTERVAL: Duration = Duration::from_micros(50);

/// How long each child works, in parts of the time that a trial's timed region may take.
const CHILD_PART: u64 = 2;

/// The most calls of one user: what is printed must fit into the scratch folder.
const USES_MAX: u64 = 60_000;

/// Calls between two looks at the clock.
const USES_AT_ONCE: u64 = 16;

/// Below this overlap two threads took turns instead of working at the same time.
const OVERLAP_MIN: f64 = 0.5;

/// Space for the records of two users and a handler.
const RECORDS_BYTES: u64 = 16 << 20;

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let subject = trial.pick("function", &FUNCTIONS)?;
    let reentry = trial.pick("reentry", &REENTRIES)?;
    if subject.leaves_records() {
        trial.need_disk(RECORDS_BYTES)?;
    }
    let cpus = trial.spec().cpus.clone();
    trial.pin(&cpus)?;
    reentry(trial, subject, &cpus)
}

/// One child whose two threads call the subject at the same time, each on a CPU of its own where
/// there are two.
fn by_threads(trial: &mut Trial<'_>, subject: Subject, cpus: &[u32]) -> Result<()> {
    let board = Board::new()?;
    let limit_ns = trial.spec().timed_ns;
    trial.begin()?;
    let fate = child::observe(board, limit_ns, || {
        let tools = subject.prepare()?;
        std::thread::scope(|scope| {
            let users: Vec<_> = (0..USERS_MAX)
                .map(|index| scope.spawn(move || use_at_once(board, tools, index, cpus, limit_ns)))
                .collect();
            let failed = Err(sys::Error::new("a thread", 0));
            users.into_iter().try_for_each(|user| user.join().unwrap_or_else(|_| failed.clone()))
        })?;
        finish(tools)
    })?;
    trial.end()?;
    record_tally(trial, tally(subject, board, fate)?.unwrap_or_default());
    let mut fates = Fates::default();
    fates.add(fate);
    fates.record(trial);
    if fate == Fate::Survived {
        record_cost(trial, board, cpus.len());
    }
    Ok(())
}

/// One of several threads: begins when all are there.
fn use_at_once(
    board: Board,
    tools: Act,
    index: usize,
    cpus: &[u32],
    limit_ns: u64,
) -> sys::Result<()> {
    if let Some(cpu) = cpus.get(index % cpus.len().max(1)) {
        sys::affinity::pin(&[*cpu])?;
    }
    board.arrived.fetch_add(1, Ordering::AcqRel);
    while board.arrived.load(Ordering::Acquire) < USERS_MAX as u64 {
        std::thread::yield_now();
    }
    use_again_and_again(board, tools, index, limit_ns);
    Ok(())
}

/// Calls the subject until the time is over.
fn use_again_and_again(board: Board, tools: Act, index: usize, limit_ns: u64) {
    let mut call = caller(tools, index);
    let (uses_done, life) = board.user(index);
    let sched = sys::proc::schedstat_thread();
    let (mut uses, mut wrong) = (0, 0);
    let span = Span::of(|| {
        let begun_ns = now_ns();
        while uses < USES_MAX && now_ns() - begun_ns < limit_ns {
            for _ in 0..USES_AT_ONCE {
                wrong += call(uses);
                uses += 1;
            }
            // Where the others see it: this process may never come to its end.
            uses_done.store(uses, Ordering::Release);
        }
    });
    // It may have slept on the other's lock: what it lacked of a CPU is its time on a run queue.
    Span { queue_wait_ns: queue_wait_since(sched), sleeps: 1, ..span }.store(life);
    board.wrong.fetch_add(wrong, Ordering::AcqRel);
}

/// Some children, one after the other, each with one thread that calls the subject and a timer
/// whose handler also calls it.
fn by_handler(trial: &mut Trial<'_>, subject: Subject, _: &[u32]) -> Result<()> {
    let boards = (0..CHILDREN).map(|_| Board::new()).collect::<Result<Vec<_>, _>>()?;
    let limit_ns = CHILD_PART * trial.spec().timed_ns;
    let mut fates = Fates::default();
    let mut runs = Vec::with_capacity(boards.len());
    trial.pin_to_one()?;
    trial.begin()?;
    let mut kept = Vec::with_capacity(boards.len());
    for board in boards {
        let fate = child::observe(board, limit_ns, || interrupted(board, subject, limit_ns))?;
        fates.add(fate);
        kept.push((fate, tally(subject, board, fate)?));
        runs.push(board.handler_runs.load(Ordering::Acquire) as i64);
    }
    trial.end()?;
    let survivors = kept.iter().filter_map(|(_, tally)| *tally);
    let sum = survivors.fold(Tally::default(), Tally::plus);
    record_tally(trial, sum);
    let fewest = runs.iter().copied().min().unwrap_or(0);
    trial.check("handler runs of the child with the fewest", fewest as f64, 1.0, 1e9);
    trial.record("handler_runs_count", 1, runs);
    fates.record(trial);
    Ok(())
}

/// The life of a child that a timer interrupts.
fn interrupted(board: Board, subject: Subject, limit_ns: u64) -> sys::Result<()> {
    let tools = subject.prepare()?;
    if subject.wants_company() {
        make_company()?;
    }
    sys::handler::every(INTERVAL, tools, board.handler_runs)?;
    use_again_and_again(board, tools, 0, limit_ns);
    sys::handler::stop()?;
    finish(tools)
}

/// Makes a thread that sleeps until the process ends, and is never interrupted: that it exists makes
/// libc take its locks.
fn make_company() -> sys::Result<()> {
    let timer = SignalSet::of(&[SIGALRM]);
    sys::wait_signal::block(&timer)?;
    std::thread::spawn(|| {
        loop {
            std::thread::park();
        }
    });
    sys::wait_signal::unblock(&timer)
}

/// Things that went wrong among those that could.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    wrong: u64,
    chances: u64,
}

impl Tally {
    fn plus(self, other: Self) -> Self {
        Tally { wrong: self.wrong + other.wrong, chances: self.chances + other.chances }
    }
}

/// What went wrong in a child; `None` for one that did not end by itself: what it had in its
/// buffers is lost, and that is counted as its fate.
fn tally(subject: Subject, board: Board, fate: Fate) -> Result<Option<Tally>> {
    if fate != Fate::Survived {
        return Ok(None);
    }
    let uses = board.uses();
    if subject.leaves_records() {
        let printed = uses + board.handler_runs.load(Ordering::Acquire);
        let whole = whole_records(&std::fs::read(RECORDS)?);
        return Ok(Some(Tally { wrong: printed.saturating_sub(whole), chances: printed }));
    }
    let wrong = board.wrong.load(Ordering::Acquire);
    Ok(Some(Tally { wrong, chances: uses * subject.chances_per_use() }))
}

fn record_tally(trial: &mut Trial<'_>, tally: Tally) {
    if tally.chances > 0 {
        trial.record("wrong_count", tally.chances, vec![tally.wrong as i64]);
    }
}

/// Records what a call cost while the other thread called, and whether the two were really at work
/// at once.
fn record_cost(trial: &mut Trial<'_>, board: Board, cpus: usize) {
    let lives: [Span; USERS_MAX] = std::array::from_fn(|index| Span::load(board.user(index).1));
    let uses = board.uses();
    trial.check("calls by two threads", uses as f64, 2.0 * USES_AT_ONCE as f64, 1e12);
    if uses == 0 {
        return;
    }
    let elapsed_ns: u64 = lives.iter().map(Span::wall_ns).sum();
    let cpu_ns: u64 = lives.iter().map(|life| life.cpu_ns).sum();
    trial.record("use_ns", uses, vec![elapsed_ns as i64]);
    trial.record("use_cpu_ns", uses, vec![cpu_ns as i64]);
    let Some(overlap_ppm) = overlap(&lives) else { return };
    trial.record_one("overlap_ppm", overlap_ppm);
    if cpus >= USERS_MAX {
        trial.check_cpus("overlap of the threads", overlap_ppm as f64 / 1e6, OVERLAP_MIN, 1.0);
    }
}

/// The least share of the whole time in which both lived and neither waited for a CPU, in parts per
/// million; absent where the kernel does not report how long they waited. A user that sleeps on the
/// other's lock is at work; two that take turns on one CPU are not at work at once.
fn overlap(lives: &[Span]) -> Option<i64> {
    lives.iter().all(|life| life.queue_wait_ns.is_some()).then(|| overlap_ppm(lives))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
