//! The timed loop of this experiment.
//!
//! It is not the kit's: after a fork every page that the parent writes is copied, so a loop that
//! keeps its observations in ordinary memory adds faults to every fork and to nothing else. Here
//! they go to shared memory, which is not copied.

use crate::support::passes::cpu_ns;
use kit::{OBSERVATIONS_MAX, Result, Stop, Trial};
use std::io::ErrorKind;
use std::sync::atomic::Ordering;
use sys::clock::now_ns;
use sys::usage::Usage;

/// Fewest operations of a trial, however slow: a median of one is no median.
const OPERATIONS_MIN: usize = 3;

/// The fewest operations before the timed region…
const WARM_UP_MIN: u64 = 2;

/// …and the most…
const WARM_UP_MAX: u64 = 32;

/// …within this part of the time that the timed region may take.
const WARM_UP_PART: u64 = 8;

/// How many times the cost of an entity its task must last for the cost to be a tenth of both
/// together: cost / (cost + task) = 1/10.
pub(super) const BREAK_EVEN: i64 = 9;

/// Words kept of one operation.
const WORDS: usize = 3;

/// The three instants of one operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Before the creating call.
    pub(super) start_ns: u64,
    /// When it had returned.
    pub(super) made_ns: u64,
    /// When the entity had been awaited.
    pub(super) over_ns: u64,
}

/// What was counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    /// Operations in the timed region.
    pub(super) operations: u64,
    /// Those and the warm-up's.
    pub(super) all_operations: u64,
    /// How many entities did their nothing, by their own count, over all operations; absent where
    /// they share no memory with this process and their exit codes say it instead.
    pub(super) lived: Option<u64>,
    /// CPU time of this process and its awaited children over the timed region.
    pub(super) cpu_ns: u64,
    /// Page faults of this process, threads included, over the timed region.
    pub(super) parent_faults: u64,
    /// Page faults of its awaited children over the timed region.
    pub(super) child_faults: u64,
    /// Context switches of all of them over the timed region, voluntary or not.
    pub(super) switches: u64,
}

/// Repeats an operation until the trial's time is over, and keeps the last durations that find
/// room. Fast operations go on as long as slow ones: what is counted over the whole region, CPU
/// time above all, is the more exact for it.
///
/// The operation must have awaited what it created when it returns its instants; it returns an
/// error if the entity did not end well.
pub(super) fn timed(
    trial: &mut Trial<'_>,
    mut operation: impl FnMut() -> Result<Times>,
) -> Result<Tally> {
    let kept = sys::pages::shared(OBSERVATIONS_MAX * WORDS * size_of::<u64>())?;
    // Touched now, so that no first touch falls into the timed region.
    kept.words().iter().for_each(|word| word.store(0, Ordering::Relaxed));
    let limit_ns = trial.spec().timed_ns;
    let warm_up = warm_up(limit_ns, &mut operation)?;
    trial.begin()?;
    let children = Usage::of_children();
    let begun_ns = now_ns();
    let mut operations = 0;
    for words in kept.words().chunks_exact(WORDS).cycle() {
        let times = operation()?;
        words[0].store(times.start_ns, Ordering::Relaxed);
        words[1].store(times.made_ns, Ordering::Relaxed);
        words[2].store(times.over_ns, Ordering::Relaxed);
        operations += 1;
        if operations >= OPERATIONS_MIN && now_ns() - begun_ns >= limit_ns {
            break;
        }
    }
    let children = Usage::of_children().since(children);
    let counters = trial.end()?.clone();
    let all: Vec<Times> = kept
        .words()
        .chunks_exact(WORDS)
        .take(operations)
        .map(|words| Times {
            start_ns: words[0].load(Ordering::Relaxed),
            made_ns: words[1].load(Ordering::Relaxed),
            over_ns: words[2].load(Ordering::Relaxed),
        })
        .collect();
    keep(trial, &all);
    let faults = counters.minor_faults.unwrap_or(0) + counters.major_faults.unwrap_or(0);
    let child_faults = children.minor_faults + children.major_faults;
    let operations = operations as u64;
    Ok(Tally {
        operations,
        all_operations: operations + warm_up,
        lived: None,
        cpu_ns: cpu_ns(&counters),
        parent_faults: faults.saturating_sub(child_faults),
        child_faults,
        switches: counters.voluntary_switches.unwrap_or(0)
            + counters.involuntary_switches.unwrap_or(0),
    })
}

/// Does the operation some times before anything is timed; returns how often.
fn warm_up(limit_ns: u64, operation: &mut impl FnMut() -> Result<Times>) -> Result<u64> {
    let begun_ns = now_ns();
    for done in 1..=WARM_UP_MAX {
        operation()?;
        if done >= WARM_UP_MIN && now_ns() - begun_ns >= limit_ns / WARM_UP_PART {
            return Ok(done);
        }
    }
    Ok(WARM_UP_MAX)
}

/// Keeps the durations between the instants.
fn keep(trial: &mut Trial<'_>, all: &[Times]) {
    let durations = |of: fn(&Times) -> u64| all.iter().map(|times| of(times) as i64).collect();
    trial.record("create_ns", 1, durations(|times| times.made_ns - times.start_ns));
    trial.record("wait_ns", 1, durations(|times| times.over_ns - times.made_ns));
    let whole: Vec<i64> = durations(|times| times.over_ns - times.start_ns);
    let break_even = whole.iter().map(|whole_ns| BREAK_EVEN * whole_ns).collect();
    // Twice the operations: half of a hand-off, there or back, is what an account can count.
    trial.record("half_ns", 2, whole.clone());
    trial.record("whole_ns", 1, whole);
    trial.record("break_even_ns", 1, break_even);
}

/// A mechanism that this kernel lacks, or that a limit forbids, is no failure of the trial.
pub(super) fn refused(error: sys::Error) -> Stop {
    let kind = error.errno().map(|errno| std::io::Error::from_raw_os_error(errno).kind());
    let help = match kind {
        // EAGAIN: what fork and pthread_create say at a limit.
        Some(ErrorKind::WouldBlock) => {
            ": raise `ulimit -u` and `ulimit -v`, or end other processes"
        }
        Some(ErrorKind::OutOfMemory) => ": free memory, or raise `ulimit -v`",
        _ if error.is_unsupported() => "",
        _ => return error.into(),
    };
    Stop::unsupported(format!("{error}{help}"))
}
