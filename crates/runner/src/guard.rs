//! The guard: a process that does nothing until the runner dies, and then removes what the runner
//! would have removed. Without it a `kill -9` in mid-trial would leave grandchildren, cgroups and
//! scratch files behind, for nobody gets to run then.

use crate::Error;
use crate::rival::RIVAL;
use crate::scratch::Scratch;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, PipeWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use sys::cgroup::{Cgroup, Plan};
use sys::task::Pid;

/// The first argument that makes the binary a guard.
pub const GUARD: &str = "__guard";

/// How long the trial of a user's program gets to end that program, to clean up after it and to end
/// itself, when it is asked to end.
pub(crate) const UNWINDING: Duration = Duration::from_secs(10);

/// What a guard calls itself as long as its runner lives. By this name other sessions see that one
/// measures.
pub(crate) const NAME: &str = "scruple-guard";

/// What it calls itself when it cleans up.
const CLEANING: &str = "scruple-cleanup";

/// Turns this process into a guard or a rival if its first argument says so, and never returns
/// then. Call it right after the trial's own test, before anything else.
pub fn serve_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    let Some(role) = arguments.next() else { return };
    if role == GUARD {
        serve();
        sys::task::exit_now(0);
    }
    if role == RIVAL {
        let cpu = arguments.next().and_then(|text| text.to_str()?.parse().ok());
        crate::rival::serve(cpu);
        sys::task::exit_now(0);
    }
}

/// What the runner says to its guard, one line each. Paths are the system's own strings, since not every
/// path is text.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) enum Message {
    /// This process group is to be killed if the runner dies; none between two trials.
    Group(Option<Pid>),
    /// This cgroup is to be removed.
    Cgroup(OsString),
    /// Runner and guard live in groups that are to be left.
    Nest { base: OsString, home: OsString, controllers: Vec<String> },
    /// This folder is to be removed.
    Scratch(OsString),
    /// The runner has cleared up after itself.
    Done,
}

/// What the guard is to remove.
#[derive(Debug, Default)]
struct Charge {
    group: Option<Pid>,
    cgroups: Vec<PathBuf>,
    /// Where runner and guard live, if they had to make room.
    nest: Option<Plan>,
    scratch: Option<Scratch>,
}

fn serve() {
    call_itself(NAME);
    // A signal to all processes of the session must not end the one that cleans up after them; the
    // end of the runner ends it.
    let _ = sys::signal::ignore_requests_to_end();
    let mut charge = Charge::default();
    for line in BufReader::new(std::io::stdin()).lines().map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(Message::Group(group)) => charge.group = group,
            Ok(Message::Cgroup(path)) => charge.cgroups.push(path.into()),
            Ok(Message::Nest { base, home, controllers }) => {
                charge.nest = Some(Plan { base: base.into(), home: home.into(), controllers });
            }
            Ok(Message::Scratch(path)) => charge.scratch = Scratch::at(path.into()).ok(),
            Ok(Message::Done) => {
                // A group that the runner could not remove is tried again.
                charge.remove_cgroups();
                charge.leave_nest();
                return;
            }
            Err(_) => {}
        }
    }
    // End of file without a farewell: the runner is dead.
    call_itself(CLEANING);
    charge.remove();
}

/// Sets the name that the kernel lists. A guard of another name guards as well.
fn call_itself(name: &str) {
    let _ = std::fs::write("/proc/self/comm", name);
}

/// Ends what a trial has started, whichever group it is in, before the trial. One that started a
/// program of the user's outlives the runner for a moment, to do so itself and to clean up.
fn end_trial(pid: Pid) {
    let Ok(trial) = sys::pidfd::open(pid) else { return };
    // As long as it lives its number is its own.
    if let Ok(false) = sys::poll::readable(trial.as_fd(), UNWINDING) {
        let _ = sys::process::kill_descendants(pid, &[], UNWINDING);
    }
}

impl Charge {
    fn remove(&self) {
        // Nobody is left to hear of a failure here; each step stands for itself.
        if let Some(group) = self.group {
            end_trial(group);
            let _ = sys::process::kill_group(group, sys::signal::SIGKILL);
        }
        for path in &self.cgroups {
            let _ = Cgroup::at(path).kill_all();
        }
        self.remove_cgroups();
        self.leave_nest();
        if let Some(scratch) = &self.scratch {
            scratch.remove();
        }
    }

    fn leave_nest(&self) {
        if let Some(nest) = &self.nest {
            nest.clear();
        }
    }

    fn remove_cgroups(&self) {
        for path in self.cgroups.iter().rev().filter(|path| path.exists()) {
            let _ = Cgroup::at(path).remove();
        }
    }
}

/// The runner's hold on its guard.
#[derive(Debug)]
pub(crate) struct Guard {
    child: Child,
    pipe: Option<PipeWriter>,
    /// The messages that hold until the end.
    lasting: Vec<Message>,
}

impl Guard {
    /// Starts a guard with messages that are in its pipe before it lives: it knows all of them or is not
    /// there.
    pub(crate) fn start(lasting: Vec<Message>) -> Result<Self, Error> {
        let start = |cause| Error::Start { what: "guard", cause };
        let (reader, mut writer) = std::io::pipe().map_err(start)?;
        for message in &lasting {
            say(&mut writer, message).map_err(start)?;
        }
        let child = Command::new("/proc/self/exe")
            .arg(GUARD)
            .env_clear()
            .stdin(Stdio::from(reader))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .process_group(0)
            .spawn()
            .map_err(start)?;
        Ok(Guard { child, pipe: Some(writer), lasting })
    }

    pub(crate) fn pid(&self) -> Pid {
        self.child.id() as Pid
    }

    /// Starts another guard with the same messages where this one has ended. Returns whether it did.
    pub(crate) fn renew(&mut self) -> Result<bool, Error> {
        if matches!(self.child.try_wait(), Ok(None)) {
            return Ok(false);
        }
        *self = Guard::start(std::mem::take(&mut self.lasting))?;
        Ok(true)
    }

    pub(crate) fn tell(&mut self, message: Message) {
        if let Some(pipe) = &mut self.pipe {
            // It may be gone: another one gets the message before the next trial.
            let _ = say(pipe, &message);
        }
        if !matches!(message, Message::Group(_) | Message::Done) {
            self.lasting.push(message);
        }
    }
}

fn say(pipe: &mut PipeWriter, message: &Message) -> std::io::Result<()> {
    let line = serde_json::to_string(message)?;
    pipe.write_all(format!("{line}\n").as_bytes())
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.tell(Message::Done);
        self.pipe = None;
        let _ = self.child.wait();
    }
}
