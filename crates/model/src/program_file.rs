use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file of the user's that trials look at, known by its content: a trial that finds another
/// content fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramFile {
    /// The level that stands for it.
    pub level: String,
    /// Its absolute path when the session was begun.
    pub path: String,
    /// SHA-256 of its content, as 64 hexadecimal digits.
    pub sha256: String,
    /// What was found in it when the session was begun, in one line.
    pub about: String,
    /// After so many instructions it is stopped.
    pub instructions_max: u64,
}

/// Hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

impl ProgramFile {
    /// Whether it can be what it says.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(crate) fn check(&self) -> Result<(), String> {
        let hexadecimal = |c: u8| matches!(c, b'0'..=b'9' | b'a'..=b'f');
        if self.sha256.len() != DIGITS || !self.sha256.bytes().all(hexadecimal) {
            return Err(format!("the SHA-256 of {} must have {DIGITS} digits", self.level));
        }
        if self.instructions_max == 0 {
            return Err(format!("{} may carry out no instruction", self.level));
        }
        Ok(())
    }
}
