//! A program file of the user's, run once before its session begins.

use crate::ui;
use experiments::Looked;
use model::ProgramFile;

/// Hexadecimal digits of a hash that are shown; the manifest has all.
const SHOWN_DIGITS: usize = 12;

/// Lines of its output that are shown.
const SHOWN_LINES: usize = 10;

/// Runs a program once, so that what cannot run is one error and not as many failed trials. Returns the file with
/// what was seen.
pub(super) fn look(mut file: ProgramFile, content: &[u8]) -> anyhow::Result<ProgramFile> {
    let mut go_on = || sys::interrupt::requested().is_none();
    let seen = experiments::look(content, &file, &mut go_on).map_err(anyhow::Error::msg)?;
    let seen = seen.ok_or_else(|| std::io::Error::other(crate::destination::Stopped))?;
    let (text, steps, ended) = (seen.text_bytes, seen.steps, &seen.ended);
    let (bytes, digits) = (content.len(), &file.sha256[..SHOWN_DIGITS]);
    file.about = format!(
        "{text} bytes of instructions, {steps} steps, and then: {ended}; a file of {bytes} bytes, SHA-256 \
         {digits}…"
    );
    say(&file, &seen);
    Ok(file)
}

/// Says what a reader of the numbers must know of a program, and what it wrote.
fn say(ProgramFile { level, instructions_max, .. }: &ProgramFile, seen: &Looked) {
    let lines: Vec<&str> = seen.output.lines().collect();
    for line in lines.iter().take(SHOWN_LINES) {
        ui::note(&format!("{level} wrote: {}", wording::cleaned(line)));
    }
    if lines.len() > SHOWN_LINES {
        ui::note(&format!("{level} wrote {} more lines", lines.len() - SHOWN_LINES));
    }
    if seen.outside > 0 {
        let (outside, steps) = (seen.outside, seen.steps);
        ui::note(&format!(
            "{level} runs code outside of its text: {outside} of {steps} steps, in its data or where it \
             copied instructions"
        ));
    }
    if seen.reads_clock {
        ui::note(&format!(
            "{level} reads a counter of cycles or the time: each instruction counts as one cycle there; \
             without --sweep, scruple core counts the cycles of a pipeline"
        ));
    }
    match &seen.failure {
        Some(why) => ui::warn(&format!("{level} fails: {why}; all its trials will fail")),
        None if seen.goes_on => ui::note(&format!(
            "{level} goes on after {} steps, as far as it was run beforehand; if it does not end within \
             {instructions_max}, all numbers are of those",
            seen.steps
        )),
        None if seen.limited => ui::warn(&format!(
            "{level} did not end within {instructions_max} instructions: all numbers are of those, and \
             --instructions N changes how many they are"
        )),
        None => {}
    }
}
