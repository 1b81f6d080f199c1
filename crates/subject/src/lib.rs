//! A program of the user's as a trial: it is started once, without a touch, watched with all the
//! processes that come of it, and nothing of it is left when the trial ends.
//!
//! This room is what an experiment's function is for the catalog: it realises the treatment of a
//! [`model::Subject`]. It knows nothing of plans, statistics or the study's file.

use kit::{Stop, Trial, subject as responses};
use model::{Spec, Subject};
use std::process::{Command, Stdio};

/// Realises one treatment of a subject once.
///
/// # Errors
/// The program cannot be started, or ended in another way than its design expects.
pub fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let spec = trial.spec().clone();
    let subject =
        spec.subject.as_deref().ok_or_else(|| Stop::failed("the order has no subject"))?;
    let scratch = std::env::current_dir()?;
    let scratch = scratch.to_string_lossy();
    let mut command = command(subject, &spec, &scratch)?;
    sys::process::become_subreaper()?;
    trial.begin()?;
    let begun_ns = sys::clock::now_ns();
    let mut child = command.spawn()?;
    let ended = child.wait()?;
    let wall_ns = sys::clock::now_ns() - begun_ns;
    let counters = trial.end()?;
    let cpu_ns = counters.user_ns.unwrap_or_default() + counters.system_ns.unwrap_or_default();
    if !subject.exit_codes.contains(&ended.code().unwrap_or(-1)) && !ended.success() {
        return Err(Stop::failed(format!("the program ended with {ended}")));
    }
    trial.record_one(responses::WALL, wall_ns as i64);
    trial.record_one(responses::CPU, cpu_ns as i64);
    Ok(())
}

fn command(subject: &Subject, spec: &Spec, scratch: &str) -> Result<Command, Stop> {
    let fill = |text: &String| {
        subject
            .fill(text, &spec.treatment, scratch)
            .map_err(|error| Stop::failed(error.to_string()))
    };
    let mut words = subject.command.iter().map(fill);
    let program = words.next().ok_or_else(|| Stop::failed("the command has no program"))??;
    let mut command = Command::new(program);
    for word in words {
        command.arg(word?);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null());
    Ok(command)
}
