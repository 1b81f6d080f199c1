//! A program file of the user's, run once before its session begins.

use crate::ui;
use model::ProgramFile;

/// The most programs of a session: each has some thirty treatments.
pub(super) const PROGRAMS_MAX: usize = 32;

/// Hexadecimal digits of a hash that are shown; the manifest has all.
const SHOWN_DIGITS: usize = 12;

/// A program of a session that is to begin.
pub(super) struct Program {
    pub(super) file: ProgramFile,
    pub(super) content: Vec<u8>,
    /// What is known of its making, where scruple built it.
    pub(super) origin: Option<String>,
}

/// Runs a program once, so that what cannot run is one error and not as many failed trials.
pub(super) fn look(
    level: String,
    path: String,
    content: Vec<u8>,
    sha256: String,
    instructions_max: u64,
    origin: Option<String>,
) -> anyhow::Result<Program> {
    let mut go_on = || sys::interrupt::requested().is_none();
    let seen = experiments::look(&content, instructions_max, &mut go_on);
    let seen = seen.map_err(anyhow::Error::msg)?.ok_or_else(interrupted)?;
    let (text, steps, ended) = (seen.text_bytes, seen.steps, &seen.ended);
    let (bytes, digits) = (content.len(), &sha256[..SHOWN_DIGITS]);
    let made = origin.as_ref().map(|origin| format!("{origin}; ")).unwrap_or_default();
    let about = format!(
        "{made}{text} bytes of instructions, {steps} steps, and then: {ended}; a file of {bytes} bytes, \
         SHA-256 {digits}…"
    );
    if seen.limited {
        ui::warn(&format!(
            "{level} did not end within {instructions_max} instructions: all numbers are of those, and \
             --instructions N changes how many they are"
        ));
    }
    Ok(Program {
        file: ProgramFile { level, path, sha256, about, instructions_max },
        content,
        origin,
    })
}

/// Returns the error of a command that was asked to stop before its session began.
pub(super) fn interrupted() -> anyhow::Error {
    std::io::Error::other(crate::destination::Stopped).into()
}
