//! The tools that scruple is held against.

use crate::lat_ctx;
use anyhow::{Context, bail};
use std::path::PathBuf;
use std::process::{Command, Output};

/// Round trips of one call of perf: about a tenth of a second.
const PERF_LOOPS: &str = "20000";

/// Integers of four bytes in a line of 64.
const INTEGERS_PER_LINE: usize = 16;

/// One way to have another tool measure a switch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Peer {
    /// `perf bench sched pipe`.
    PerfProcesses,
    /// The same with threads.
    PerfThreads,
    /// A program of our own by lat_ctx's definition.
    OwnLatCtx {
        /// Memory that each process reads.
        bytes: usize,
        /// Whether it reads one integer per line of cache, as scruple does, instead of all.
        by_line: bool,
    },
    /// lmbench's `lat_ctx` itself.
    LatCtx {
        /// Memory that each process reads.
        bytes: usize,
    },
}

impl Peer {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Peer::PerfProcesses => "perf bench sched pipe",
            Peer::PerfThreads => "perf bench sched pipe --threaded",
            Peer::OwnLatCtx { by_line: false, .. } => "our own program by lat_ctx's definition",
            Peer::OwnLatCtx { by_line: true, .. } => "the same that reads one integer per line",
            Peer::LatCtx { .. } => "lmbench's lat_ctx",
        }
    }

    /// Why it cannot be had here, and what would change that; `None` if it is there.
    pub(crate) fn missing(self) -> Option<String> {
        let (program, help) = match self {
            Peer::OwnLatCtx { .. } => return None,
            Peer::LatCtx { .. } => (
                "lat_ctx",
                "install lmbench (Debian: lmbench in non-free), or build it and name its lat_ctx \
                 in LAT_CTX",
            ),
            Peer::PerfProcesses | Peer::PerfThreads => {
                ("perf", "install it (Debian: apt-get install linux-perf)")
            }
        };
        find(program).is_none().then(|| format!("{program} is not there: {help}"))
    }

    /// Lets it measure once, on the CPUs that this process may use. In nanoseconds; NaN where it
    /// says nothing.
    pub(crate) fn measure_ns(self) -> anyhow::Result<f64> {
        match self {
            Peer::PerfProcesses => perf(&[]),
            Peer::PerfThreads => perf(&["--threaded"]),
            Peer::OwnLatCtx { bytes, by_line } => {
                let own = std::env::current_exe()?;
                let mut command = Command::new(own);
                let step = if by_line { INTEGERS_PER_LINE } else { 1 };
                command.args([lat_ctx::ROLE, &bytes.to_string(), &step.to_string()]);
                let text = said(&mut command)?;
                text.trim().parse().with_context(|| format!("{text} is no number"))
            }
            Peer::LatCtx { bytes } => {
                let mut command = Command::new(find("lat_ctx").context("lat_ctx is gone")?);
                command.args(["-s", &(bytes / 1024).to_string(), "2"]);
                // Else it spends half a minute on finding these out: how long a repetition must be
                // (in microseconds), and what its clock and its loop cost.
                command.envs([("ENOUGH", "10000"), ("TIMING_O", "0"), ("LOOP_O", "0")]);
                Ok(microseconds_of_lat_ctx(&said(&mut command)?) * 1e3)
            }
        }
    }
}

fn perf(more: &[&str]) -> anyhow::Result<f64> {
    let mut command = Command::new(find("perf").context("perf is gone")?);
    command.args(["bench", "sched", "pipe", "--loop", PERF_LOOPS]).args(more);
    microseconds_of_perf(&said(&mut command)?).map(|us| us * 1e3)
}

/// The number before `usecs/op`.
fn microseconds_of_perf(text: &str) -> anyhow::Result<f64> {
    let line = text.lines().find(|line| line.contains("usecs/op"));
    let number = line.and_then(|line| line.split_whitespace().next()).map(str::parse);
    match number {
        Some(Ok(number)) => Ok(number),
        _ => bail!("perf says nothing of usecs/op: {text}"),
    }
}

/// The number behind that of the processes. lat_ctx prints none where it finds none above 0; that
/// is a result, too, and no number.
fn microseconds_of_lat_ctx(text: &str) -> f64 {
    let mut lines = text.lines().rev().filter_map(|line| line.trim().split_once(' '));
    let found = lines.find(|(processes, _)| *processes == "2");
    found.and_then(|(_, us)| us.trim().parse().ok()).unwrap_or(f64::NAN)
}

/// What a program printed, on either channel; an error if it failed.
fn said(command: &mut Command) -> anyhow::Result<String> {
    let Output { status, stdout, stderr } =
        command.output().with_context(|| format!("cannot start {command:?}"))?;
    let text = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    if !status.success() {
        bail!("{command:?} ended with {status}: {text}");
    }
    Ok(text)
}

/// A program in PATH, or where Debian hides lmbench's; LAT_CTX names another lat_ctx.
fn find(program: &str) -> Option<PathBuf> {
    if program == "lat_ctx"
        && let Some(named) = std::env::var_os("LAT_CTX")
    {
        return Some(PathBuf::from(named)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Ok(hidden) = std::fs::read_dir("/usr/lib/lmbench/bin") {
        folders.extend(hidden.flatten().map(|entry| entry.path()));
    }
    folders.into_iter().map(|folder| folder.join(program)).find(|path| path.is_file())
}
