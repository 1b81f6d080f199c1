use std::process::ExitCode;

/// How the program ends. Documented in the README and in the manual page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// A claim was refuted, or a number has changed as it must not, and a flag asked for this code.
    Refuted = 1,
    /// The command line or the machine does not allow it.
    Error = 2,
    /// Interrupted before the plan was complete; or inconclusive, and a flag asked for this code; or
    /// the self-test found that this machine cannot be trusted for some size of effect.
    Incomplete = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
