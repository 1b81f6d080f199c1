//! The command line of `scruple scale`.

use super::{PROFILES, PlanArgs, profile};
use crate::quantity;
use clap::Args;
use model::Profile;
use std::ffi::OsString;
use std::path::PathBuf;

/// The most workers that may be asked for.
const WORKERS_MAX: u64 = 1 << 16;

/// The most different numbers of workers.
const LEVELS_MAX: usize = 64;

/// The numbers of workers asked for, rising.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Levels(pub(crate) Vec<u64>);

#[derive(Debug, Args)]
pub(crate) struct ScaleArgs {
    // Every other spelling of {n} in a help text is a line break for clap.
    #[arg(help = "The command; {\u{1b}[1mn\u{1b}[0m} in it is the number of workers", value_name = "CMD", last = true, required_unless_present_any = ["fit", "resume"], conflicts_with = "resume")]
    pub(crate) command: Vec<OsString>,
    /// Set this variable in the command's environment; NAME=VALUE before the command does the same
    #[arg(long, value_name = "NAME=VALUE", value_parser = crate::spoken::variable, conflicts_with = "resume")]
    pub(crate) env: Vec<String>,
    /// Measure these numbers of workers: a range, a list, or both, such as 1..8 or 1,2,4..8
    ///
    /// [default: 1, 2, 3, 4, 6, 8, 12 … up to twice the CPUs, and at least 4]. One worker is always
    /// measured, since speedups are relative to it.
    #[arg(long, value_name = "LEVELS", value_parser = parse_levels, conflicts_with = "resume")]
    pub(crate) levels: Option<Levels>,
    /// Read the amount of work from the command's output: the first group of this regular expression,
    /// or the whole match if it has no group, at the last match
    ///
    /// Without this option, scruple assumes that each trial does the same work, whatever n is.
    #[arg(long, value_name = "REGEX", conflicts_with = "resume")]
    pub(crate) work: Option<String>,
    /// Read the work from this stream
    #[arg(long, value_enum, default_value_t = WorkFrom::Stdout, requires = "work")]
    pub(crate) work_from: WorkFrom,
    /// Name the unit of the work, such as requests
    #[arg(long, value_name = "WORD", requires = "work")]
    pub(crate) unit: Option<String>,
    /// Run separate copies at once also, one per CPU with one worker each; their loss is due to the
    /// hardware, not to locks
    ///
    /// The copies share one folder, so a file that the command writes is written by several copies at
    /// once.
    #[arg(long, conflicts_with = "resume")]
    pub(crate) copies: bool,
    /// Count the CPU time of these processes as the command's: servers that do its work, by process ID (with
    /// all descendants) or by name
    ///
    /// Processes at the other ends of the command's sockets and pipes are found without this option, where
    /// this user may look at them.
    #[arg(long, value_name = "PID|NAME", conflicts_with = "resume")]
    pub(crate) with: Vec<String>,
    /// Limit the command to this number of CPUs by a cgroup quota, as a container would
    #[arg(long, value_name = "CPUS", value_parser = parse_cpus, conflicts_with = "resume")]
    pub(crate) cpu_quota: Option<f64>,
    /// Accept any exit code of the command; a signal still fails a trial
    #[arg(short, long, conflicts_with = "resume")]
    pub(crate) ignore_failure: bool,
    /// End a trial after this time, such as 30s or 10m
    #[arg(long, value_name = "TIME", value_parser = quantity::duration_ms, default_value = "5m")]
    pub(crate) time_limit: u64,
    /// Analyse this table instead of measuring; `-` is standard input
    ///
    /// It is a table as CSV or Markdown with a number of workers and a throughput, a time or a speedup. Trials of
    /// the same number in a column trial form one block.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "env", "levels", "work", "unit", "copies", "with", "cpu_quota", "ignore_failure", "resume", "dry_run", "MeasureArgs", "output"])]
    pub(crate) fit: Option<PathBuf>,
    /// Set how much to measure
    #[arg(long, value_parser = profile(&PROFILES), default_value = "quick", conflicts_with = "resume")]
    pub(crate) profile: Profile,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    /// Print the answer as JSON, in a layout that may change with each version
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WorkFrom {
    /// Standard output
    Stdout,
    /// Standard error
    Stderr,
}

/// Parses numbers of workers: `1..8`, `1,2,4`, or both.
fn parse_levels(text: &str) -> Result<Levels, String> {
    const LIKE: &str = "expected numbers of workers such as 1..8 or 1,2,4";
    let number = |text: &str| {
        let text = text.trim();
        let value: Option<u64> = text.parse().ok().filter(|_| !text.starts_with('+'));
        match value {
            Some(value @ 1..=WORKERS_MAX) => Ok(value),
            _ => {
                Err(format!("{text:?} is not a number of workers from 1 to {WORKERS_MAX}; {LIKE}"))
            }
        }
    };
    let mut levels = Vec::new();
    for part in text.split(',') {
        let (low, high) = match part.split_once("..") {
            Some((low, high)) => (number(low)?, number(high.trim_start_matches('='))?),
            None => (number(part)?, number(part)?),
        };
        if low > high {
            return Err(format!("{part} goes down; {LIKE}"));
        }
        if (high - low) as usize >= LEVELS_MAX {
            return Err(format!("{part} is more than {LEVELS_MAX} numbers of workers"));
        }
        levels.extend(low..=high);
    }
    levels.sort_unstable();
    levels.dedup();
    match levels.len() {
        0..=LEVELS_MAX => Ok(Levels(levels)),
        many => Err(format!("{many} numbers of workers are more than {LEVELS_MAX}")),
    }
}

fn parse_cpus(text: &str) -> Result<f64, String> {
    let cpus: Option<f64> = text.parse().ok();
    cpus.filter(|cpus| (0.01..=4096.0).contains(cpus))
        .ok_or_else(|| "expected a number of CPUs from 0.01 to 4096, such as 0.5".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ranges_and_lists() {
        let of = |text: &str| parse_levels(text).map(|levels| levels.0);
        assert_eq!(of("1..4"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(of("8,1,2,2"), Ok(vec![1, 2, 8]));
        assert_eq!(of("1,4..=6, 16"), Ok(vec![1, 4, 5, 6, 16]));
        for text in ["", "0", "4..1", "1..", "a", "-1", "1,,2", "1..100000", "+1", "1..2..3", "1.5"]
        {
            assert!(of(text).is_err(), "{text}");
        }
        assert!(of("1..60,100..160").is_err());
    }

    #[test]
    fn a_quota_is_a_number_of_cpus() {
        assert_eq!(parse_cpus("0.5"), Ok(0.5));
        for text in ["", "0", "-1", "nan", "inf", "x", "1e9"] {
            assert!(parse_cpus(text).is_err(), "{text}");
        }
    }
}
