//! A program of the user's as a trial: it is started once, without a touch, watched with all the
//! processes that come of it, and nothing of it is left when the trial ends.
//!
//! This room is what an experiment's function is for the catalog: it realises the treatment of a
//! [`model::Subject`]. It knows nothing of plans, statistics or the study's file.
//!
//! The elapsed time begins right before the program's exec, when all that prepares its process is
//! done, and ends when its own process has ended. What it leaves running is awaited for a while, so
//! that it is counted, and then killed. What the kernel adds up when a process is waited for (CPU
//! time, faults, switches, I/O) is exact; the rest is looked at while it runs ([`looker`]).

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

mod aside;
mod command;
mod doing;
mod family;
mod idle;
mod limits;
mod looker;
mod memory;
mod metrics;
mod missing;
mod notation;
mod output;
mod peers;
mod record;
mod squeeze;
mod tally;
mod text;
mod threads;
mod waits;
mod watch;
mod worker_time;

use command::Filled;
use family::Outlived;
use kit::{Result, Stop, Trial};
use limits::Groups;
use looker::{Looked, Looker};
use model::{Subject, measures};
use output::{Printed, Reading};
use std::io::Write;
use std::time::Duration;
use sys::cgroup::Throttling;
use sys::launch::Began;
use sys::proc::Io;
use sys::task::{Ended, Pid};
use sys::usage::Usage;

pub use metrics::check_pick;
pub use missing::{Lookup, Missing, looked_up, missing, named_files};
pub use peers::found as peers;
pub use tally::{Executed, Figures, Group, Killed, Made, Numbers, Tally};
pub use watch::{Show, Watch, Watching, watch};

/// How much of the end of its standard error goes to the trial's log.
const LOG_BYTES: usize = 2048;

/// How long a cleanup command may take when the runner has gone: less than it waits.
const CLEANING: Duration = Duration::from_secs(3);

/// A wait for a CPU of at least this duration is a sleep that the kernel counted as one.
const LATE_NS_MAX: u64 = 100_000_000;

/// Realises one treatment of a subject once.
///
/// # Errors
/// The program cannot be started or limited as its design says, ended in another way than it
/// expects, or did not print the work that `scruple scale` picks from it.
pub fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let spec = trial.spec().clone();
    let subject =
        spec.subject.as_deref().ok_or_else(|| Stop::failed("the order has no subject"))?;
    let scratch = std::env::current_dir()?;
    let filled = Filled::of(subject, &spec, &scratch.to_string_lossy())?;
    sys::process::become_subreaper()?;
    // This process ends by itself when its runner does, after all that it has started.
    sys::process::outlive_parent()?;
    let measured = prepare_and_measure(trial, subject, &filled);
    // What it prepared is still there, and what was left behind is not to be cleaned up around.
    let cleanup = |words: &Vec<String>| aside::run(&filled, words, "cleanup", CLEANING);
    let cleaned = filled.subject.cleanup.iter().try_for_each(cleanup);
    family::end_all()?;
    measured.and(cleaned)
}

fn prepare_and_measure(trial: &mut Trial<'_>, subject: &Subject, filled: &Filled) -> Result<()> {
    for words in &filled.subject.prepare {
        aside::run(filled, words, "prepare", Duration::ZERO)?;
    }
    let seen = measure(trial, subject, filled)?;
    // The log is for people; that nobody reads it is no fault of the program's.
    let _ = std::io::stderr().write_all(&seen.stderr.end(LOG_BYTES));
    expect_success(subject, filled, &seen)?;
    record::all(trial, &seen);
    let found = metrics::picked(&subject.metrics, &seen.stdout, &seen.stderr);
    for (metric, found) in subject.metrics.iter().zip(found) {
        let response = &metric.response;
        match found {
            Ok(found) => {
                trial.record(response, found.per, vec![found.value]);
                if let Some(read_as) = found.read_as {
                    trial.observe(&measures::read_as(response), read_as);
                }
            }
            // Without its work a trial of `scale` says nothing of throughput.
            Err(why) if response == model::SCALE_WORK => {
                return Err(Stop::failed(format!("--work: {why}")));
            }
            Err(why) => trial.observe(&measures::no_number(response), why),
        }
    }
    Ok(())
}

/// What is known of a program that has ended, with all that came of it.
struct Seen {
    began: Began,
    ended: Ended,
    ended_ns: u64,
    /// What all of it used, by the kernel's account.
    usage: Usage,
    io: Option<Io>,
    looked: Looked,
    outlived: Outlived,
    /// Where it ran, for what they counted.
    groups: Groups,
    stdout: Printed,
    stderr: Printed,
}

/// What the thread that waits for the program's end did so far.
#[derive(Clone, Copy)]
struct Own {
    queue_wait_ns: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
}

impl Own {
    /// `None` where the kernel keeps no account of waits for a CPU.
    fn now() -> Option<Self> {
        let usage = Usage::of_thread();
        Some(Own {
            queue_wait_ns: sys::proc::schedstat_thread()?.queue_wait_ns,
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
        })
    }

    /// Returns for how long the thread waited for a CPU before it could notice the end: its only wait since
    /// `before` if it slept once and was never preempted. Else it may have waited while the program still ran, and
    /// nothing is known. Kernels from 6.12 on now and then count a whole sleep as a wait (a sleeper that is moved to
    /// another CPU before it has left its queue).
    fn late_ns(self, before: Self) -> u64 {
        let slept = self.voluntary_switches - before.voluntary_switches;
        let was_preempted = self.involuntary_switches > before.involuntary_switches;
        let waited_ns = self.queue_wait_ns.saturating_sub(before.queue_wait_ns);
        match slept == 1 && !was_preempted && waited_ns < LATE_NS_MAX {
            true => waited_ns,
            false => 0,
        }
    }
}

fn measure(trial: &mut Trial<'_>, subject: &Subject, filled: &Filled) -> Result<Seen> {
    let groups = Groups::make(trial, filled)?;
    let mut launch = limits::launch(trial, filled, &groups)?;
    let mut squeezed = squeeze::prepare(trial, subject, &launch.cpus)?;
    launch.timer_slack_ns = squeezed.as_ref().and_then(squeeze::Squeezed::timer_slack_ns);
    let mut command = filled.command()?;
    let (stdout, reading_stdout) = Reading::start()?;
    let (stderr, reading_stderr) = Reading::start()?;
    let looker = Looker::start()?;
    let throttling = Throttling::beyond_own(&groups.all());
    command.stdout(stdout).stderr(stderr);
    let start = sys::launch::arrange(&mut command, &launch)?;
    trial.begin()?;
    if let Some(squeezed) = &mut squeezed {
        squeezed.begin();
    }
    let spared = sys::process::adopted_children(&[]);
    let usage_before = Usage::of_children();
    let io_before = sys::proc::io_of_children();
    let cannot_start = format!("{} cannot be started", filled.name());
    let child = command.spawn().map_err(|error| Stop::io(cannot_start, &error))?;
    // Our ends of the pipes: the readers wait until nobody can print any more.
    drop(command);
    let began = start.began().ok_or_else(|| Stop::failed("the program never began"))?;
    let pid = child.id() as Pid;
    looker.look(looker::Began {
        at_ns: began.at_ns,
        pid,
        spared: spared.clone(),
        workers: filled.workers,
        divides: filled.workers.is_some() || subject.squeeze.is_some(),
        queue_wait_ns: began.queue_wait_ns,
        with: subject.with.clone(),
        throttling,
        every: subject.look_every_ms.map(|ms| Duration::from_millis(ms.into())),
    });
    let before = Own::now();
    aside::until_ended(pid, Duration::ZERO)?;
    let now_ns = sys::clock::now_ns();
    let late_ns = before.zip(Own::now()).map_or(0, |(before, now)| now.late_ns(before));
    let ended_ns = now_ns.saturating_sub(late_ns);
    if let Some(squeezed) = &mut squeezed {
        squeezed.end(trial)?;
    }
    let (looked, looker_parked) = looker.finish(looker::Ended { pid, at_ns: ended_ns })?;
    let ended_ns = looked.until_ns;
    let ended = sys::task::wait(pid)?;
    let linger = Duration::from_millis(subject.linger_ms.into());
    let outlived = family::see_off(&spared, linger, aside::still_wanted)?;
    let usage = Usage::of_children().since(usage_before).since(began.usage);
    let (stdout, stdout_parked) = reading_stdout.finish()?;
    let (stderr, stderr_parked) = reading_stderr.finish()?;
    let io = sys::proc::io_of_children().zip(io_before).map(|(now, then)| now.since(then));
    trial.end()?;
    drop((looker_parked, stdout_parked, stderr_parked));
    Ok(Seen { began, ended, ended_ns, usage, io, looked, outlived, groups, stdout, stderr })
}

fn expect_success(subject: &Subject, filled: &Filled, seen: &Seen) -> Result<()> {
    if let Some(bytes) = seen.groups.broken_limit_bytes() {
        let name = filled.name();
        return Err(Stop::failed(format!(
            "{name} went beyond its limit of {bytes} bytes of memory, and the kernel killed a \
             process of it"
        )));
    }
    if seen.ended.code.is_some_and(|code| subject.accepts(code)) {
        return Ok(());
    }
    let how = aside::how_it_ended(&seen.ended);
    let said = aside::last_words(&seen.stderr.end(LOG_BYTES));
    Err(Stop::failed(format!("{} {how}{said}", filled.name())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_of_the_observer_while_the_program_still_ran_is_no_delay() {
        let before = Own { queue_wait_ns: 7, voluntary_switches: 3, involuntary_switches: 1 };
        let now = Own { queue_wait_ns: 97, voluntary_switches: 4, ..before };
        assert_eq!(now.late_ns(before), 90);
        // Preempted before it slept, or woken for another reason.
        assert_eq!(Own { queue_wait_ns: 700_000_000, ..now }.late_ns(before), 0);
        assert_eq!(Own { involuntary_switches: 2, ..now }.late_ns(before), 0);
        assert_eq!(Own { voluntary_switches: 6, ..now }.late_ns(before), 0);
        // The program had ended before it slept, and another program ran meanwhile.
        assert_eq!(Own { voluntary_switches: 3, ..now }.late_ns(before), 0);
    }
}
