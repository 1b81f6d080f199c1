//! The guard: a process that does nothing until the runner dies, and then removes what the runner
//! would have removed. Without it a `kill -9` in mid-trial would leave grandchildren, cgroups and
//! scratch files behind, for nobody gets to run then.

use crate::Error;
use crate::launch::UNWINDING;
use crate::rival::RIVAL;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, PipeWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use sys::cgroup::{Cgroup, Plan};
use sys::task::Pid;

/// The first argument that makes the binary a guard.
pub const GUARD: &str = "__guard";

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

/// Reads a path as it was sent: as bytes, since not every path is text.
fn path_of(sent: &Value) -> Option<PathBuf> {
    let bytes: Option<Vec<u8>> =
        sent.as_array()?.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect();
    Some(PathBuf::from(OsString::from_vec(bytes?)))
}

fn nest_of(sent: &Value) -> Option<Plan> {
    let names = sent.get("controllers")?.as_array()?;
    Some(Plan {
        base: path_of(sent.get("base")?)?,
        home: path_of(sent.get("home")?)?,
        controllers: names.iter().filter_map(|name| Some(name.as_str()?.to_string())).collect(),
    })
}

/// What the guard is to remove.
#[derive(Debug, Default)]
struct Charge {
    group: Option<Pid>,
    cgroups: Vec<PathBuf>,
    /// Where runner and guard live, if they had to make room.
    nest: Option<Plan>,
    scratch: Option<PathBuf>,
}

fn serve() {
    // A signal to all processes of the session must not end the one that cleans up after them; the
    // end of the runner ends it.
    let _ = sys::signal::ignore_requests_to_end();
    let mut charge = Charge::default();
    for line in BufReader::new(std::io::stdin()).lines().map_while(Result::ok) {
        let Ok(sent) = serde_json::from_str::<Value>(&line) else { continue };
        if sent.get("done").is_some() {
            // The runner has cleared up after itself; a group it could not remove is tried again.
            charge.remove_cgroups();
            charge.leave_nest();
            return;
        }
        if let Some(group) = sent.get("group") {
            charge.group = group.as_i64().and_then(|pid| Pid::try_from(pid).ok());
        }
        charge.cgroups.extend(sent.get("cgroup").and_then(path_of));
        if let Some(nest) = sent.get("nest").and_then(nest_of) {
            charge.nest = Some(nest);
        }
        if let Some(path) = sent.get("scratch").and_then(path_of) {
            charge.scratch = Some(path);
        }
    }
    // End of file without a farewell: the runner is dead.
    charge.remove();
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
            let _ = std::fs::remove_dir_all(scratch);
            if let Some(shared) = scratch.parent() {
                // Not if another runner's folder is in it by now.
                let _ = std::fs::remove_dir(shared);
            }
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
}

impl Guard {
    pub(crate) fn start() -> Result<Self, Error> {
        let start = |cause| Error::Start { what: "guard", cause };
        let (reader, writer) = std::io::pipe().map_err(start)?;
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
        Ok(Guard { child, pipe: Some(writer) })
    }

    pub(crate) fn pid(&self) -> Pid {
        self.child.id() as Pid
    }

    /// From now on the process group is to be killed if the runner dies.
    pub(crate) fn watch(&mut self, group: Option<Pid>) {
        self.tell(&json!({ "group": group }));
    }

    pub(crate) fn scratch(&mut self, path: &Path) {
        self.tell(&json!({ "scratch": path.as_os_str().as_bytes() }));
    }

    pub(crate) fn cgroup(&mut self, path: &Path) {
        self.tell(&json!({ "cgroup": path.as_os_str().as_bytes() }));
    }

    pub(crate) fn nest(&mut self, nest: &Plan) {
        let (base, home) = (nest.base.as_os_str().as_bytes(), nest.home.as_os_str().as_bytes());
        self.tell(&json!({
            "nest": { "base": base, "home": home, "controllers": nest.controllers }
        }));
    }

    fn tell(&mut self, what: &Value) {
        if let Some(pipe) = &mut self.pipe {
            // The guard may be gone; the session is still worth finishing.
            let _ = pipe.write_all(format!("{what}\n").as_bytes());
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.tell(&json!({ "done": true }));
        self.pipe = None;
        let _ = self.child.wait();
    }
}
