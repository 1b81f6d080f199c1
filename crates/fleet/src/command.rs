//! Programs of an engine, started with lists of arguments, bounded in time and in what they say.

use crate::Error;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// How long a scheduler may take to answer; one that is overloaded takes tens of seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often it is looked whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The most bytes of an answer that are read: a queue of 20,000 jobs.
const ANSWER_BYTES_MAX: u64 = 4 << 20;

/// The most bytes of what it complains about.
const COMPLAINT_BYTES_MAX: u64 = 16 << 10;

/// The most characters of a complaint that are told.
const TOLD_CHARACTERS_MAX: usize = 400;

/// What users set for their own eyes and scripts, and what a surrounding job sets, changes what the
/// programs print and what is submitted. All of it goes, but for what finds the cluster and names
/// who pays.
const FAMILIES: [&str; 9] = [
    "SLURM_",
    "SBATCH_",
    "SQUEUE_",
    "SINFO_",
    "SCANCEL_",
    "SCONTROL_",
    "SALLOC_",
    "SRUN_",
    "PARALLEL",
];
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
    let mut command = Command::new(name);
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
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |why: String| Error::Engine { program: program.clone(), why };
    // In a group of its own, Ctrl-C at the terminal does not cut it off half way.
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => failed("there is no such program on the PATH".into()),
        _ => failed(error.to_string()),
    })?;
    let out = reader(child.stdout.take(), ANSWER_BYTES_MAX);
    let complaint = reader(child.stderr.take(), COMPLAINT_BYTES_MAX);
    let deadline = Instant::now() + patience;
    let Some(status) = ended(&mut child, deadline).map_err(|error| failed(error.to_string()))?
    else {
        return Err(failed(format!("no answer within {} s", patience.as_secs())));
    };
    let complaint = told(&text(&complaint, deadline));
    if !status.success() {
        let ended = ending(status);
        return Err(failed(if complaint.is_empty() { ended } else { complaint }));
    }
    let out = text(&out, deadline);
    if out.len() as u64 >= ANSWER_BYTES_MAX {
        return Err(failed(format!("its answer has more than {ANSWER_BYTES_MAX} bytes")));
    }
    Ok(out)
}

/// How it ended; none if it had to be killed, with all that it started.
fn ended(child: &mut Child, deadline: Instant) -> std::io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            if let Ok(group) = child.id().try_into() {
                let _ = sys::process::kill_group(group, sys::signal::SIGKILL);
            }
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Reads a pipe to its end, or as far as it may, while the program runs. What it left behind may hold
/// the pipe open for ever, so nobody waits for this thread without a limit.
fn reader(pipe: Option<impl Read + Send + 'static>, most: u64) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            let mut pipe = pipe.take(most);
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    receiver
}

fn text(from: &Receiver<Vec<u8>>, deadline: Instant) -> String {
    let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_secs(1));
    String::from_utf8_lossy(&from.recv_timeout(left).unwrap_or_default()).into_owned()
}

/// A complaint in one line.
fn told(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join("; ");
    line.chars().take(TOLD_CHARACTERS_MAX).collect()
}

fn ending(status: ExitStatus) -> String {
    format!("it ended with {status} and said nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_never_ends_is_ended_with_what_it_started() {
        let mut command = program("sh");
        command.args(["-c", "sleep 1000 & echo $! >&2; wait"]);
        let told = answer_within(&mut command, Duration::from_millis(300)).unwrap_err().to_string();
        assert_eq!(told, "sh: no answer within 0 s");
    }

    #[test]
    fn a_daemon_that_keeps_the_pipe_open_does_not_hold_the_answer_up() {
        let mut command = program("sh");
        command.args(["-c", "sleep 60 & echo answered"]);
        // The pipe has no end while the other sleeps, and nobody waits for that.
        let begun = Instant::now();
        assert!(answer_within(&mut command, Duration::from_secs(2)).is_ok());
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn what_it_complains_about_is_told_in_one_line() {
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
        for name in ["SQUEUE_FORMAT", "SLURM_JOB_ID", "SBATCH_EXPORT", "PARALLEL"] {
            assert!(FAMILIES.iter().any(|family| name.starts_with(family)), "{name}");
            assert!(!KEPT.contains(&name));
        }
    }
}
