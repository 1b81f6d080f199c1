//! Commands beside the program, and waiting for a process of ours while the runner may hang up.

use crate::command::{Filled, line};
use crate::text::last_line;
use kit::{Result, Stop};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use sys::task::{Ended, Pid};

/// How much of the end of a command's standard error is looked at.
const END_BYTES: u64 = 2048;

/// The most bytes that are repeated of the last line it printed.
const LINE_BYTES: usize = 300;

/// Runs a command before or after the program, and waits for it, but not for what it leaves
/// running. It gets `grace` to end when the runner hangs up.
///
/// # Errors
/// It cannot be started, or ended in another way than with exit code 0; or the runner hung up.
pub(crate) fn run(filled: &Filled, words: &[String], role: &str, grace: Duration) -> Result<()> {
    let mut command = filled.bare(words)?;
    // A file, since what it leaves running may go on printing when nobody reads any more.
    let mut printed = unnamed(Path::new("."))?;
    command.stdout(Stdio::null()).stderr(printed.try_clone()?);
    sys::launch::arrange(&mut command, &sys::launch::Launch::default())?;
    let failed = |why: String| Stop::failed(format!("{role} command “{}” {why}", line(words)));
    let child = command.spawn().map_err(|error| failed(format!("cannot be started: {error}")))?;
    let pid = child.id() as Pid;
    until_ended(pid, grace)?;
    let ended = sys::task::wait(pid)?;
    if ended.code == Some(0) {
        return Ok(());
    }
    let length = printed.metadata()?.len();
    printed.seek(SeekFrom::Start(length.saturating_sub(END_BYTES)))?;
    let mut end = Vec::new();
    printed.take(END_BYTES).read_to_end(&mut end)?;
    Err(failed(format!("{}{}", how_it_ended(&ended), last_words(&end))))
}

/// A file without a name in a folder.
fn unnamed(folder: &Path) -> std::io::Result<File> {
    let path = folder.join(format!(".scruple-stderr-{}", sys::clock::now_ns()));
    let file = OpenOptions::new().read(true).append(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Waits until a child has ended, and leaves it to be reaped.
///
/// # Errors
/// The runner hung up, and the child did not end within `grace` from then.
pub(crate) fn until_ended(pid: Pid, grace: Duration) -> Result<()> {
    let process = sys::pidfd::open(pid)?;
    let runner = std::io::stdin();
    loop {
        let both = [process.as_fd(), runner.as_fd()];
        match sys::poll::readable_any(&both, Duration::from_secs(3600))?[..] {
            [true, _] => return Ok(()),
            [_, true] if sys::poll::readable(process.as_fd(), grace)? => return Ok(()),
            [_, true] => return Err(hung_up()),
            _ => {}
        }
    }
}

/// Whether the runner still listens. It says nothing before it has its answer: what can be read is
/// the end of the talk.
///
/// # Errors
/// The runner hung up.
pub(crate) fn still_wanted() -> Result<()> {
    match sys::poll::readable(std::io::stdin().as_fd(), Duration::ZERO)? {
        true => Err(hung_up()),
        false => Ok(()),
    }
}

fn hung_up() -> Stop {
    Stop::failed("the runner hung up")
}

/// How a process ended, as the end of a sentence.
pub(crate) fn how_it_ended(ended: &Ended) -> String {
    match (ended.code, ended.signal) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}{}", named(signal)),
        (None, None) => "ended".into(),
    }
}

fn named(signal: i32) -> String {
    sys::signal::name(signal).map(|name| format!(" ({name})")).unwrap_or_default()
}

/// What it printed last, for the end of a sentence.
pub(crate) fn last_words(stderr: &[u8]) -> String {
    match last_line(stderr, LINE_BYTES) {
        Some(line) => format!("; its stderr ends with “{line}”"),
        None => String::new(),
    }
}
