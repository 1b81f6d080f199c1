//! Programs of Slurm, started with lists of arguments, bounded in time and in what they say.

use crate::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use sys::program::Bounds;

/// How long a scheduler may take to answer; one that is overloaded takes tens of seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// The most bytes of an answer that are read: a queue of 20,000 jobs.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// The most bytes of what it complains about.
const COMPLAINT_BYTES_MAX: usize = 16 << 10;

/// The most characters of a complaint that are repeated.
const COMPLAINT_CHARACTERS_MAX: usize = 400;

/// What users set for their own eyes and scripts, and what a surrounding job sets, changes what the
/// programs print and what is submitted. All of it is removed, except what finds the cluster and
/// names who pays.
const FAMILIES: [&str; 5] = ["SLURM_", "SBATCH_", "SQUEUE_", "SINFO_", "SCANCEL_"];
const KEPT: [&str; 6] = [
    "SLURM_CONF",
    "SLURM_CONF_SERVER",
    "SLURM_JWT",
    "SBATCH_ACCOUNT",
    "SBATCH_QOS",
    "SBATCH_RESERVATION",
];

/// A command whose environment holds nothing that changes what it does behind its arguments.
pub(crate) fn program(name: &str) -> Command {
    let mut command = sys::program::command(name);
    for (variable, _) in std::env::vars_os() {
        let variable = variable.to_string_lossy();
        let of_family = FAMILIES.iter().any(|family| variable.starts_with(family));
        if of_family && !KEPT.contains(&variable.as_ref()) {
            command.env_remove(variable.as_ref());
        }
    }
    // What is read here is written in English and in ASCII.
    command.env("LC_ALL", "C").stdin(Stdio::null());
    command
}

/// Runs it to its end.
///
/// # Errors
/// If it cannot be started, does not end in time, or ends with a failure: with what it said.
pub(crate) fn answer(command: &mut Command) -> Result<String, Error> {
    answer_within(command, PATIENCE)
}

fn answer_within(command: &mut Command, patience: Duration) -> Result<String, Error> {
    let path = Path::new(command.get_program());
    let program = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    // Who ends scruple does not cut off a program that is submitting.
    let bounds =
        Bounds { time: Some(patience), complaint_bytes_max: COMPLAINT_BYTES_MAX, stop: &|| false };
    let (out, ended) = sys::program::answer(command, &bounds, ANSWER_BYTES_MAX)
        .map_err(|failure| Error::of(&program, failure))?;
    if !ended.status.success() {
        let complaint = one_line(&String::from_utf8_lossy(&ended.complaint));
        let ending = format!("it ended with {} and said nothing", ended.status);
        return Err(Error::of(program, if complaint.is_empty() { ending } else { complaint }));
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Joins a complaint into one line.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join("; ");
    line.chars().take(COMPLAINT_CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_does_not_answer_is_not_waited_for() {
        let mut command = program("sleep");
        command.arg("1000");
        let error = answer_within(&mut command, Duration::from_millis(50)).unwrap_err().to_string();
        assert_eq!(error, "sleep: no answer within 0 s");
        let daemon = answer(program("sh").args(["-c", "sleep 60 & echo answered"])).unwrap();
        assert_eq!(daemon, "answered\n");
    }

    #[test]
    fn a_complaint_becomes_one_line() {
        let mut command = program("sh");
        command.args(["-c", "printf 'first\\n\\n  second\\n' >&2; exit 3"]);
        assert_eq!(answer(&mut command).unwrap_err().to_string(), "sh: first; second");
        let none = answer(&mut program("no-such-engine")).unwrap_err().to_string();
        assert_eq!(none, "no-such-engine: there is no such program on the PATH");
        let silent = answer(&mut program("false")).unwrap_err().to_string();
        assert!(silent.contains("exit status: 1 and said nothing"), "{silent}");
    }

    #[test]
    fn nothing_of_the_users_changes_what_a_program_prints() {
        let command = program("squeue");
        let kept: Vec<_> = command.get_envs().filter(|(_, value)| value.is_some()).collect();
        assert_eq!(kept, [("LC_ALL".as_ref(), Some("C".as_ref()))]);
        for name in ["SQUEUE_FORMAT", "SLURM_JOB_ID", "SBATCH_EXPORT"] {
            assert!(FAMILIES.iter().any(|family| name.starts_with(family)), "{name}");
            assert!(!KEPT.contains(&name));
        }
    }
}
