//! The tools that scruple is held against.

use super::{lat_ctx, messaging, one_call, parse};
use anyhow::{Context, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Round trips of one call of perf: about a tenth of a second.
const PIPE_LOOPS: &str = "20000";

/// Operations of one call of stress-ng: some tenths of a second.
const STRESS_OPERATIONS: &str = "15000";

/// Starts of one call of hyperfine.
const STARTS: &str = "100";

/// Starts that hyperfine makes before and does not time.
const WARM_UP: &str = "5";

/// Integers of four bytes in a line of 64.
const INTEGERS_PER_LINE: usize = 16;

/// One way to have another tool measure something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// `perf bench syscall basic`.
    PerfSyscall,
    /// `perf bench sched pipe`, with processes or threads.
    PerfPipe { threads: bool },
    /// `perf bench sched messaging`, with processes or threads, over socket pairs or pipes.
    PerfMessaging { threads: bool, pipes: bool },
    /// `stress-ng --vfork`.
    StressVfork,
    /// `stress-ng --switch --switch-method pipe`.
    StressSwitch,
    /// `hyperfine --shell=none` of this program, which ends in its first statement.
    Hyperfine,
    /// A program of our own by lat_ctx's definition, which reads one integer per line of cache, as
    /// scruple does, or all.
    OwnLatCtx { bytes: usize, by_line: bool },
    /// lmbench's `lat_ctx` itself.
    LatCtx { bytes: usize },
}

impl Peer {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Peer::PerfSyscall => "perf bench syscall basic",
            Peer::PerfPipe { threads: false } => "perf bench sched pipe",
            Peer::PerfPipe { threads: true } => "perf bench sched pipe --threaded",
            Peer::PerfMessaging { threads: false, pipes: false } => "perf bench sched messaging",
            Peer::PerfMessaging { threads: true, .. } => "perf bench sched messaging --thread",
            Peer::PerfMessaging { pipes: true, .. } => "perf bench sched messaging --pipe",
            Peer::StressVfork => "stress-ng --vfork",
            Peer::StressSwitch => "stress-ng --switch",
            Peer::Hyperfine => "hyperfine --shell=none",
            Peer::OwnLatCtx { by_line: false, .. } => "our program by lat_ctx's definition",
            Peer::OwnLatCtx { by_line: true, .. } => "the same, one integer per line",
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
            Peer::StressVfork | Peer::StressSwitch => {
                ("stress-ng", "`cargo xtask calibrate` installs it")
            }
            Peer::Hyperfine => ("hyperfine", "`cargo xtask calibrate` installs it"),
            _ => ("perf", "`cargo xtask calibrate` installs it"),
        };
        find(program).is_none().then(|| format!("{program} is not there: {help}"))
    }

    /// Lets it measure once, on the CPUs that this process may use. In nanoseconds; NaN where it
    /// says nothing.
    pub(crate) fn measure_ns(self, scratch: &Path) -> anyhow::Result<f64> {
        match self {
            Peer::PerfSyscall => {
                let loops = one_call::CALLS.to_string();
                let text = perf(&["syscall", "basic", "--loop", &loops])?;
                parse::microseconds_of_perf(&text).map(|us| us * 1e3)
            }
            Peer::PerfPipe { threads } => {
                let more: &[&str] = if threads { &["--threaded"] } else { &[] };
                let text = perf(&[&["sched", "pipe", "--loop", PIPE_LOOPS], more].concat())?;
                parse::microseconds_of_perf(&text).map(|us| us * 1e3)
            }
            Peer::PerfMessaging { threads, pipes } => {
                let loops = messaging::LOOPS.to_string();
                let mut words = vec!["sched", "messaging", "--group", "1", "--nr_loops", &loops];
                words.extend(threads.then_some("--thread"));
                words.extend(pipes.then_some("--pipe"));
                let seconds = parse::seconds_of_perf(&perf(&words)?)?;
                Ok(seconds * 1e9 / messaging::MESSAGES as f64)
            }
            Peer::StressVfork => stress_ng(scratch, "vfork", &[]),
            Peer::StressSwitch => stress_ng(scratch, "switch", &["--switch-method", "pipe"]),
            Peer::Hyperfine => hyperfine(scratch),
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
                Ok(parse::microseconds_of_lat_ctx(&said(&mut command)?) * 1e3)
            }
        }
    }
}

fn perf(words: &[&str]) -> anyhow::Result<String> {
    said(Command::new(find("perf").context("perf is gone")?).arg("bench").args(words))
}

/// One stressor alone, by the wall clock: nanoseconds of what it counts as one operation.
fn stress_ng(scratch: &Path, stressor: &str, more: &[&str]) -> anyhow::Result<f64> {
    let written = scratch.join("stress-ng.yaml");
    let mut command = Command::new(find("stress-ng").context("stress-ng is gone")?);
    command.args([&format!("--{stressor}"), "1", &format!("--{stressor}-ops"), STRESS_OPERATIONS]);
    command.args(more).args(["--timeout", "20", "--metrics-brief", "--yaml"]).arg(&written);
    said(&mut command)?;
    let yaml = std::fs::read_to_string(&written)?;
    // A later call that writes nothing must not find these numbers.
    std::fs::remove_file(&written)?;
    let rate = "bogo-ops-per-second-real-time";
    Ok(1e9 / parse::metric_of_stress_ng(&yaml, stressor, rate)?)
}

fn hyperfine(scratch: &Path) -> anyhow::Result<f64> {
    let written = scratch.join("hyperfine.json");
    let own = std::env::current_exe()?;
    let mut command = Command::new(find("hyperfine").context("hyperfine is gone")?);
    command.args(["--shell=none", "--style=none", "--warmup", WARM_UP, "--runs", STARTS]);
    command.arg("--export-json").arg(&written);
    command.arg(format!("'{}' {}", own.display(), kit::NOOP));
    said(&mut command)?;
    let json = std::fs::read_to_string(&written)?;
    std::fs::remove_file(&written)?;
    Ok(parse::median_of_hyperfine(&json)? * 1e9)
}

/// What a program printed, on either channel; an error if it failed. It has an environment as small
/// as a trial's: with the folders that cargo adds for the dynamic linker, every program that
/// hyperfine starts takes a sixth longer.
fn said(command: &mut Command) -> anyhow::Result<String> {
    let kept: Vec<(OsString, Option<OsString>)> =
        command.get_envs().map(|(name, value)| (name.into(), value.map(OsString::from))).collect();
    command.env_clear();
    command.envs(kept.into_iter().filter_map(|(name, value)| Some((name, value?))));
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    let Output { status, stdout, stderr } = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
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
