//! A program of somebody else's, run to its end within bounds: of time, of what it says, and of who
//! may hold things up.

use crate::{poll, process, signal};
use rustix::fs::OFlags;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often it is looked whether it has ended, and whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What is read at once.
const PIECE_BYTES: usize = 64 << 10;

/// The most bytes that are read when the program has ended: what a pipe can hold, so that nothing of
/// what it said is lost, and another writer of the pipe cannot hold the reader up.
const REST_BYTES_MAX: usize = 1 << 20;

/// What bounds a program.
pub struct Bounds<'a> {
    /// How long it may take; none where it may take as long as it likes.
    pub time: Option<Duration>,
    /// The most bytes of what it complains about (its standard error) that are kept. The rest is read
    /// and dropped.
    pub complaint_bytes_max: usize,
    /// Asked again and again whether it is to end.
    pub stop: &'a dyn Fn() -> bool,
}

/// A program that ended by itself.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub status: ExitStatus,
    /// What it complained about.
    pub complaint: Vec<u8>,
}

/// Why a program did not come to its end. None of its processes is left, those apart that went to a
/// group of their own.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It is not there.
    #[error("there is no such program on the PATH")]
    Missing,
    /// It could not be started, or not be watched.
    #[error(transparent)]
    System(#[from] io::Error),
    /// It took longer than it may.
    #[error("no answer within {} s", .0.as_secs())]
    TooLong(Duration),
    /// It was to end.
    #[error("interrupted")]
    Stopped,
    /// Who takes what it says wanted no more.
    #[error("{0}")]
    Taker(io::Error),
}

/// Runs a program to its end and hands over what it says (its standard output), piece by piece.
///
/// It is started in a process group of its own, so that Ctrl-C at the terminal does not cut it off
/// half way: `stop` decides. Its standard input is as the caller has set it. What it leaves running
/// when it ends may hold its pipes open for ever, and is not waited for.
///
/// # Errors
/// Why it did not come to its end; a status that tells of a failure is none.
pub fn run(
    command: &mut Command,
    bounds: &Bounds<'_>,
    take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> Result<Ended, Failure> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let begun = Instant::now();
    let mut running = match command.spawn() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Failure::Missing),
        spawned => Running { child: spawned?, ended: false },
    };
    let mut says = Pipe::new(running.child.stdout.take().map(OwnedFd::from))?;
    let mut complains = Pipe::new(running.child.stderr.take().map(OwnedFd::from))?;
    let mut complaint = Vec::new();
    let mut keep = |bytes: &[u8]| {
        let room = bounds.complaint_bytes_max - complaint.len();
        complaint.extend_from_slice(&bytes[..bytes.len().min(room)]);
        Ok(())
    };
    let status = loop {
        if let Some(status) = running.child.try_wait()? {
            running.ended = true;
            break status;
        }
        if (bounds.stop)() {
            return Err(Failure::Stopped);
        }
        if let Some(limit) = bounds.time.filter(|limit| begun.elapsed() >= *limit) {
            return Err(Failure::TooLong(limit));
        }
        let open: Vec<BorrowedFd<'_>> =
            [&says, &complains].into_iter().flat_map(Pipe::open).collect();
        poll::readable_any(&open, LOOK_EVERY).map_err(io::Error::other)?;
        says.piece(take)?;
        complains.piece(&mut keep)?;
    };
    says.rest(take)?;
    complains.rest(&mut keep)?;
    Ok(Ended { status, complaint })
}

/// What a program answers, all of it, and how it ended.
///
/// # Errors
/// As [`run`]; [`Failure::Taker`] if the answer has more than `bytes_max` bytes.
pub fn answer(
    command: &mut Command,
    bounds: &Bounds<'_>,
    bytes_max: usize,
) -> Result<(Vec<u8>, Ended), Failure> {
    let mut said = Vec::new();
    let ended = run(command, bounds, &mut |bytes| {
        if said.len() + bytes.len() > bytes_max {
            return Err(io::Error::other(format!("its answer has more than {bytes_max} bytes")));
        }
        said.extend_from_slice(bytes);
        Ok(())
    })?;
    Ok((said, ended))
}

/// Where a program lies in the PATH. A folder that is named relative to where one stands is not
/// looked into: it may be anybody's.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Returns a command that starts a program of the PATH as [`find`] finds it. Where there is none, starting it
/// fails, whatever lies in the current folder.
pub fn command(name: &str) -> Command {
    let mut command = Command::new(find(name).unwrap_or_else(|| PathBuf::from("/").join(name)));
    command.arg0(name);
    command
}

/// A program that is killed with its whole group unless it has ended.
struct Running {
    child: Child,
    ended: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            if let Ok(group) = self.child.id().try_into() {
                let _ = process::kill_group(group, signal::SIGKILL);
            }
            let _ = self.child.wait();
        }
    }
}

/// The end of a pipe that is read, and never waited for.
struct Pipe(Option<File>);

impl Pipe {
    fn new(end: Option<OwnedFd>) -> Result<Self, Failure> {
        if let Some(end) = &end {
            rustix::fs::fcntl_setfl(end, OFlags::NONBLOCK).map_err(io::Error::from)?;
        }
        Ok(Pipe(end.map(File::from)))
    }

    fn open(&self) -> Option<BorrowedFd<'_>> {
        self.0.as_ref().map(AsFd::as_fd)
    }

    /// Hands over what is there, if anything is; returns how much.
    fn piece(&mut self, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> Result<usize, Failure> {
        let Some(file) = &mut self.0 else { return Ok(0) };
        let mut bytes = vec![0; PIECE_BYTES];
        match file.read(&mut bytes) {
            Ok(0) => {
                self.0 = None;
                Ok(0)
            }
            Ok(count) => take(&bytes[..count]).map(|()| count).map_err(Failure::Taker),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(0),
                _ => Err(error.into()),
            },
        }
    }

    /// Hands over what was said before the end. Nothing is said after it, so that an empty pipe is
    /// the end of it, even while another process holds it open.
    fn rest(&mut self, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> Result<(), Failure> {
        let mut read = 0;
        while read < REST_BYTES_MAX {
            match self.piece(take)? {
                0 => return Ok(()),
                count => read += count,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::null());
        command
    }

    const NEVER: &dyn Fn() -> bool = &|| false;

    /// Without an end for what ends by itself.
    const BOUNDS: Bounds<'_> = Bounds { time: None, complaint_bytes_max: 100, stop: NEVER };

    /// Whether a process is gone, or dead and not yet buried, before long.
    fn is_gone(pid: &str) -> bool {
        let stat = format!("/proc/{pid}/stat");
        (0..2000).any(|_| {
            let alive = std::fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z "));
            if alive {
                std::thread::sleep(LOOK_EVERY);
            }
            !alive
        })
    }

    #[test]
    fn all_that_it_says_is_handed_over_with_how_it_ended() {
        // More than a pipe holds, and both ways at once.
        let script = "i=0; while [ $i -lt 3000 ]; do echo 'a line of some forty bytes for the pipe'; \
                      echo 'and a complaint of some more' >&2; i=$((i+1)); done; exit 3";
        let (said, ended) = answer(&mut shell(script), &BOUNDS, 1 << 20).unwrap();
        assert_eq!(said.len(), 3000 * 40);
        assert_eq!((ended.status.code(), ended.complaint.len()), (Some(3), 100));
    }

    #[test]
    fn what_it_says_last_is_not_lost() {
        // It says the rest and ends while what it said first is being taken.
        let folder = tempfile::tempdir().unwrap();
        let (go, done) = (folder.path().join("go"), folder.path().join("done"));
        let script = format!(
            "printf first; until [ -e {go} ]; do sleep 0.01; done; printf rest; : > {done}",
            go = go.display(),
            done = done.display()
        );
        let mut said = Vec::new();
        let ended = run(&mut shell(&script), &BOUNDS, &mut |bytes| {
            if said.is_empty() {
                std::fs::write(&go, "")?;
                while !done.exists() {
                    std::thread::sleep(LOOK_EVERY);
                }
                // What is left of it is its end.
                std::thread::sleep(20 * LOOK_EVERY);
            }
            said.extend_from_slice(bytes);
            Ok(())
        });
        assert!(ended.unwrap().status.success());
        assert_eq!(String::from_utf8_lossy(&said), "firstrest");
    }

    #[test]
    fn a_program_that_never_ends_is_ended_with_what_it_started() {
        let mut said = Vec::new();
        let bounds = Bounds { time: Some(Duration::from_millis(500)), ..BOUNDS };
        // Tells its child once it is there, however late that is: the time begins anew then.
        let failure = loop {
            let mut command = shell("sleep 1000 & echo $!; wait");
            let failure = run(&mut command, &bounds, &mut |bytes| {
                said.extend_from_slice(bytes);
                Ok(())
            });
            if !said.is_empty() {
                break failure.unwrap_err();
            }
        };
        assert!(matches!(failure, Failure::TooLong(_)), "{failure}");
        let child = String::from_utf8(said).unwrap();
        assert!(is_gone(child.trim()), "{child}");
    }

    #[test]
    fn what_it_leaves_behind_may_hold_the_pipes_and_nobody_waits() {
        let script = "sleep 1000 & echo answered $!";
        let (said, ended) = answer(&mut shell(script), &BOUNDS, 100).unwrap();
        let said = String::from_utf8(said).unwrap();
        let orphan = said.trim().strip_prefix("answered ").unwrap();
        assert!(ended.status.success());
        process::kill(orphan.parse().unwrap(), signal::SIGKILL).unwrap();
        // Nor for one that never stops talking.
        let (_, ended) = answer(&mut shell("yes & exit 0"), &BOUNDS, 1 << 30).unwrap();
        assert!(ended.status.success());
    }

    #[test]
    fn an_answer_without_an_end_is_refused_and_its_program_killed() {
        let failure = answer(&mut shell("yes"), &BOUNDS, 100_000).unwrap_err();
        assert_eq!(failure.to_string(), "its answer has more than 100000 bytes");
    }

    #[test]
    fn it_ends_when_it_is_to_end() {
        let asked = std::cell::Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > 3
        };
        let bounds = Bounds { stop: &stop, ..BOUNDS };
        let failure = answer(&mut shell("sleep 1000"), &bounds, 100).unwrap_err();
        assert!(matches!(failure, Failure::Stopped), "{failure}");
    }

    #[test]
    fn what_is_not_there_is_missing_and_what_is_no_program_is_refused() {
        let missing = answer(&mut Command::new("no-such-program"), &BOUNDS, 1).unwrap_err();
        assert!(matches!(missing, Failure::Missing), "{missing}");
        let folder = tempfile::tempdir().unwrap();
        let refused = answer(&mut Command::new(folder.path()), &BOUNDS, 1).unwrap_err();
        assert!(matches!(refused, Failure::System(_)), "{refused}");
        assert!(find("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(find("no-such-program"), None);
    }
}
