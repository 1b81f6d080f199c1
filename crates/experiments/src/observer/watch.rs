//! The watchers: what one does to learn about a job while it works.

use super::job::Waiting;
use crate::support::program;
use kit::{Result, Stop};
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use sys::perf::{Counter, Event};
use sys::task::{Ended, Pid};
use sys::tracer::{Followed, StopCounter};
use sys::usage::Usage;

/// Who watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watcher {
    /// Nobody.
    Nothing,
    /// A reader of /proc, with its period in milliseconds.
    Proc(u64),
    /// `top`, again and again.
    TopLoop,
    /// The kernel's own counters.
    PerfSoftware,
    /// A tracer of system calls.
    Tracer,
}

/// What the levels of the factor `watcher` stand for.
pub(super) const WATCHERS: [(&str, Watcher); 6] = [
    ("nothing", Watcher::Nothing),
    ("proc_100ms", Watcher::Proc(100)),
    ("proc_10ms", Watcher::Proc(10)),
    ("top_loop", Watcher::TopLoop),
    ("perf_software", Watcher::PerfSoftware),
    ("tracer", Watcher::Tracer),
];

/// The files of a process that monitors read.
const FILES: [&str; 4] = ["stat", "status", "io", "smaps_rollup"];

const TOP_LOG: &str = "top-log";

/// Longer than any job: what waits is woken by the job's end.
const JOB_END: Duration = Duration::from_secs(60);

/// Longer than two frames of top take on a busy CPU.
const TOP_END: Duration = Duration::from_secs(20);

/// What has to exist before the job is forked.
#[derive(Debug, Default)]
pub(super) struct Tools {
    top: PathBuf,
    /// What the job will inherit: they count from the moment it is let go.
    counters: Vec<Counter>,
}

/// What a watcher did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Watched {
    /// Samples taken: readings, frames, counters read, stops.
    pub(super) samples: u64,
    /// CPU time of programs that the watcher started, in ns.
    pub(super) programs_cpu_ns: u64,
    /// The job's CPU time as the kernel's counter has it, in ns; 0 where none was opened.
    pub(super) task_clock_ns: u64,
    /// How the job ended.
    pub(super) ended: Ended,
}

/// The kernel's own counters.
fn counters() -> Result<Vec<Counter>> {
    [Event::ContextSwitches, Event::Migrations, Event::PageFaults, Event::TaskClock]
        .into_iter()
        .map(|event| {
            Counter::open(event, true, false).map_err(|error| Stop::unsupported(error.to_string()))
        })
        .collect()
}

impl Watcher {
    /// Prepares what it needs.
    pub(super) fn prepare(self) -> Result<Tools> {
        Ok(match self {
            Watcher::TopLoop => Tools { top: program::top()?, ..Tools::default() },
            Watcher::PerfSoftware => Tools { counters: counters()?, ..Tools::default() },
            _ => Tools::default(),
        })
    }

    /// Starts the job and watches it to its end. The job is reaped.
    pub(super) fn watch(self, tools: &Tools, job: &Waiting) -> Result<Watched> {
        let pid = job.pid();
        let watched = |samples, programs_cpu_ns| -> Result<Watched> {
            Ok(Watched { samples, programs_cpu_ns, task_clock_ns: 0, ended: sys::task::wait(pid)? })
        };
        match self {
            Watcher::Nothing => {
                let end = sys::pidfd::open(pid)?;
                job.start();
                sys::poll::readable(end.as_fd(), JOB_END)?;
                watched(0, 0)
            }
            Watcher::Proc(interval_ms) => {
                let end = sys::pidfd::open(pid)?;
                job.start();
                let samples = read_proc(pid, end.as_fd(), Duration::from_millis(interval_ms))?;
                watched(samples, 0)
            }
            Watcher::TopLoop => {
                let end = sys::pidfd::open(pid)?;
                let log = OpenOptions::new().append(true).create(true).open(TOP_LOG)?;
                job.start();
                let programs_cpu_ns = loop_top(&tools.top, pid, &end, &log)?;
                // Counted from the text: what top has really written.
                watched(frames(&std::fs::read_to_string(TOP_LOG)?), programs_cpu_ns)
            }
            Watcher::PerfSoftware => {
                for counter in &tools.counters {
                    counter.enable()?;
                }
                job.start();
                let mut watched = watched(0, 0)?;
                for counter in &tools.counters {
                    counter.disable()?;
                    let value = counter.read()?;
                    if counter.event() == Event::TaskClock {
                        watched.task_clock_ns = value;
                    }
                    watched.samples += 1;
                }
                Ok(watched)
            }
            Watcher::Tracer => {
                let traced = StopCounter::attach(pid)?;
                job.start();
                let Followed { stops: samples, ended } = traced.follow()?;
                Ok(Watched { samples, programs_cpu_ns: 0, task_clock_ns: 0, ended })
            }
        }
    }
}

/// Reads the job's files in /proc until it has ended; returns how often all could be read.
fn read_proc(pid: Pid, end: BorrowedFd<'_>, interval: Duration) -> Result<u64> {
    let paths = FILES.map(|file| format!("/proc/{pid}/{file}"));
    let mut samples = 0;
    loop {
        // A job that ends meanwhile has no memory to tell of; that is no error, but no sample.
        let read = paths.iter().filter(|path| std::fs::read(path).is_ok()).count();
        samples += u64::from(read == paths.len());
        if sys::poll::readable(end, interval)? {
            return Ok(samples);
        }
    }
}

/// Runs `top` again and again until the job has ended; returns the CPU time of all of them.
///
/// The last one is not killed but let finish: top writes its frames at its end where its output
/// is a file, and a killed one would have written nothing.
fn loop_top(top: &Path, job: Pid, job_end: &OwnedFd, log: &File) -> Result<u64> {
    let before = Usage::of_children();
    loop {
        let child = Command::new(top)
            .args(["-b", "-n", "2", "-d", "0.1", "-p", &job.to_string()])
            .env_clear()
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(Stdio::null())
            .spawn()?;
        let mut child = Reaped(child);
        let top_end = sys::pidfd::open(child.0.id() as Pid)?;
        kit::ensure!(sys::poll::readable(top_end.as_fd(), TOP_END)?, "top did not end");
        let status = child.0.wait()?;
        // The job is not reaped yet, so top still finds its process.
        kit::require!(status.success(), "top did not do it: {status}");
        if sys::poll::readable(job_end.as_fd(), Duration::ZERO)? {
            return Ok(Usage::of_children().since(before).cpu_ns());
        }
    }
}

/// How many frames a text of top begins.
fn frames(text: &str) -> u64 {
    text.lines().filter(|line| line.starts_with("top - ")).count() as u64
}

/// A program that is killed and reaped whatever happens.
struct Reaped(Child);

impl Drop for Reaped {
    fn drop(&mut self) {
        // One that has ended and was waited for is left alone by both.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::frames;

    #[test]
    fn frames_are_counted_by_their_first_lines() {
        assert_eq!(frames(""), 0);
        assert_eq!(frames("top - 1\nTasks: 1 total\n  7 root top -b -n 2\n\ntop - 2\n"), 2);
    }
}
