//! `scruple ask`: its arguments.

use clap::Args;
use std::path::PathBuf;

/// Compute any quantity of a session, with its interval
///
/// A quantity is a response at some levels, or a combination: a ratio (/), a difference (-),
/// growth(… over FACTOR), linearity(…), proportion(…), share(…) or rate(…). A factor that is not named
/// has its baseline level. docs/quantities.md has the grammar; `scruple explain EXPERIMENT` lists the
/// names.
///
/// The exit code is 3 if a session has no answer; the output gives the reason.
#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct AskArgs {
    /// Sessions, or folders of sessions [default: the latest session]
    #[arg(value_name = "SESSION")]
    pub(crate) sessions: Vec<PathBuf>,
    /// The quantity, such as 'create.whole_ns[fork] / create.whole_ns[pthread]'
    #[arg(value_name = "QUANTITY", required = true)]
    pub(crate) quantity: String,
    /// Print the answers as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
