//! The command line of `scruple waits`.

use crate::quantity;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes: 0 done, whatever the command's own exit code was; 2 usage or \
environment error.";

/// Show what a program's threads wait for
///
/// scruple looks at all threads of the command and of its child processes while they run. It shows how
/// long each ran, was ready without a CPU, and waited, and names what they waited for: a lock by its
/// symbol, a file, a socket with its peer, a child process, a timer. It needs neither root nor hardware
/// counters, and does not stop the threads. It looks as often as 1 % of one CPU allows.
///
/// Input, output and environment pass through unchanged. The result follows on standard output, after
/// the command's own output; with --json or --html -, the command's output goes to standard error.
///
/// With --pid it watches a process that runs already, until it ends, --for is over, or Ctrl-C. The
/// process goes on.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct WaitsArgs {
    /// Watch this process and its descendants instead of a command
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "command")]
    pub(crate) pid: Option<u32>,
    /// Set this variable in the command's environment; NAME=VALUE before the command does the same
    #[arg(long, value_name = "NAME=VALUE", value_parser = crate::spoken::variable, conflicts_with = "pid")]
    pub(crate) env: Vec<String>,
    /// Stop watching after this time, such as 10s
    #[arg(long = "for", value_name = "TIME", value_parser = quantity::duration_ms)]
    pub(crate) limit: Option<u64>,
    /// Print the result as JSON, in a layout that may change with each version
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the result as one HTML file also, which works offline; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// The command with its arguments
    #[arg(
        value_name = "COMMAND",
        required_unless_present = "pid",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) command: Vec<OsString>,
}
