use std::process::ExitCode;

/// How the program ends. Documented in the README and in the manual page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// A claim was refuted, a number has changed as it must not, or a threshold was not met, and a flag
    /// asked for this code.
    Refuted = 1,
    /// The command line or the machine does not allow it, or a server gave no answer of use.
    Error = 2,
    /// Interrupted before the plan was complete; or inconclusive, and a flag asked for this code; or
    /// the self-test found that this machine cannot be trusted for some size of effect.
    Incomplete = 3,
    /// What was measured says nothing, and a flag asked for the code at which `git bisect run` skips a
    /// commit.
    Skip = 125,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
