//! A program of the user's as a trial: it is started once, without a touch, watched with all the
//! processes that come of it, and nothing of it is left when the trial ends.
//!
//! This room is what an experiment's function is for the catalog: it realises the treatment of a
//! [`model::Subject`]. It knows nothing of plans, statistics or the study's file.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

mod aside;
mod command;
mod family;
mod metrics;
mod output;
mod text;

use command::Filled;
use family::Outlived;
use kit::{Stop, Trial, subject as responses};
use output::{Printed, Reading};
use std::io::Write;
use std::time::Duration;
use sys::task::Ended;
use sys::usage::Usage;

pub use metrics::check_pick;

/// How much of the end of its standard error goes to the trial's log.
const LOG_BYTES: usize = 2048;

/// How long a cleanup command may take when the runner has gone: less than it waits.
const CLEANING: Duration = Duration::from_secs(3);

/// Realises one treatment of a subject once.
///
/// # Errors
/// The program cannot be started or limited as its design says, ended in another way than it
/// expects, or did not print what is to be picked from it.
pub fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
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
    let cleaned = filled.cleanup.iter().try_for_each(cleanup);
    family::end_all()?;
    measured.and(cleaned)
}

fn prepare_and_measure(
    trial: &mut Trial<'_>,
    subject: &model::Subject,
    filled: &Filled,
) -> Result<(), Stop> {
    for words in &filled.prepare {
        aside::run(filled, words, "prepare", Duration::ZERO)?;
    }
    let seen = measure(trial, subject, filled)?;
    let end_of_stderr = seen.stderr.end(LOG_BYTES);
    // The log is for people; that nobody reads it is no fault of the program's.
    let _ = std::io::stderr().write_all(&end_of_stderr);
    expect_success(subject, filled, &seen)?;
    record(trial, &seen);
    for metric in &subject.metrics {
        let value = metrics::picked(metric, &seen.stdout, &seen.stderr)?;
        trial.record(&metric.response, metric.per.max(1), vec![value]);
    }
    Ok(())
}

/// What is known of a program that has ended, with all that came of it.
struct Seen {
    ended: Ended,
    wall_ns: u64,
    usage: Usage,
    outlived: Outlived,
    stdout: Printed,
    stderr: Printed,
}

fn measure(trial: &mut Trial<'_>, subject: &model::Subject, filled: &Filled) -> Result<Seen, Stop> {
    let mut command = filled.command()?;
    let (stdout, reading_stdout) = Reading::start()?;
    let (stderr, reading_stderr) = Reading::start()?;
    command.stdout(stdout).stderr(stderr);
    let launch = sys::launch::Launch {
        cpus: filled.cpus.clone().unwrap_or_default(),
        address_space_bytes: filled.address_space_bytes,
        groups: Vec::new(),
    };
    let start = sys::launch::arrange(&mut command, &launch)?;
    // What the prepare commands left running, a server perhaps, is no part of the program.
    let spared = sys::process::adopted_children(&[]);
    trial.begin()?;
    // Here co-runners begin.
    let usage_before = Usage::of_children();
    let child = command.spawn().map_err(|error| cannot_start(filled, &error))?;
    // Our ends of the pipes: the readers wait until nobody can print any more.
    drop(command);
    let pid = child.id() as sys::task::Pid;
    aside::until_ended(pid, Duration::ZERO)?;
    let ended_ns = sys::clock::now_ns();
    let ended = sys::task::wait(pid)?;
    let linger = Duration::from_millis(subject.linger_ms.into());
    let outlived = family::see_off(&spared, linger, aside::still_wanted)?;
    // Here co-runners end.
    let began = start.began().ok_or_else(|| Stop::failed("the program never began"))?;
    let usage = Usage::of_children().since(usage_before).since(began.usage);
    let stdout = reading_stdout.finish()?;
    let stderr = reading_stderr.finish()?;
    trial.end()?;
    let wall_ns = ended_ns.saturating_sub(began.at_ns);
    Ok(Seen { ended, wall_ns, usage, outlived, stdout, stderr })
}

fn cannot_start(filled: &Filled, error: &std::io::Error) -> Stop {
    Stop::failed(format!("{} cannot be started: {error}", filled.name()))
}

fn expect_success(subject: &model::Subject, filled: &Filled, seen: &Seen) -> Result<(), Stop> {
    let expected = match subject.exit_codes[..] {
        [] => seen.ended.code == Some(0),
        ref codes => seen.ended.code.is_some_and(|code| codes.contains(&code)),
    };
    if expected {
        return Ok(());
    }
    let how = aside::how_it_ended(&seen.ended);
    let said = aside::last_words(&seen.stderr.end(LOG_BYTES));
    Err(Stop::failed(format!("{} {how}{said}", filled.name())))
}

fn record(trial: &mut Trial<'_>, seen: &Seen) {
    let usage = &seen.usage;
    trial.observe("exit_code", seen.ended.code.unwrap_or_default());
    trial.observe("outlived", seen.outlived.processes);
    trial.observe("killed", seen.outlived.killed);
    trial.observe("stdout_bytes", seen.stdout.bytes);
    trial.observe("stderr_bytes", seen.stderr.bytes);
    let share_ppm = usage.cpu_ns() as f64 / seen.wall_ns.max(1) as f64 * 1e6;
    for (response, value) in [
        (responses::WALL, seen.wall_ns),
        (responses::CPU, usage.cpu_ns()),
        (responses::CPU_SHARE, share_ppm.round() as u64),
        (responses::MINOR_FAULTS, usage.minor_faults),
        (responses::MAJOR_FAULTS, usage.major_faults),
        (responses::VOLUNTARY, usage.voluntary_switches),
        (responses::INVOLUNTARY, usage.involuntary_switches),
    ] {
        trial.record_one(response, i64::try_from(value).unwrap_or(i64::MAX));
    }
}
