//! The command of a command line as a person types it: variables before it, one text, or words.

use crate::ui;
use anyhow::{anyhow, bail};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use study::Spoken;

/// Returns the words of a command, those that set variables first. A single word that names no file is read as
/// the line of a shell.
///
/// # Errors
/// What needs a shell, with the line to type; a quotation mark that is never closed.
pub(crate) fn words(command: &[OsString], variables: &[String]) -> anyhow::Result<Vec<OsString>> {
    let texts: Option<Vec<String>> =
        command.iter().map(|word| word.to_str().map(String::from)).collect();
    let spoken = match texts.as_deref() {
        Some([line]) if !Path::new(line).exists() && !line.is_empty() => {
            study::spoken(line, &variable_of_process).map_err(|what| anyhow!(what))?
        }
        Some(words) => study::spoken_words(words),
        // What is no text is nothing that a shell would take for itself.
        None => return Ok(set(variables).chain(command.iter().cloned()).collect()),
    };
    if let Some(shell) = &spoken.shell {
        bail!(
            "the command needs a shell ({}), and scruple starts none by itself; type: {}",
            shell.what,
            line_to_type(&spoken, command.len())
        );
    }
    say_if_timed(&spoken);
    Ok(set(variables).chain(spoken.words.into_iter().map(OsString::from)).collect())
}

/// Does what [`words`] does, for what holds texts alone.
///
/// # Errors
/// As [`words`].
pub(crate) fn texts(command: &[OsString], variables: &[String]) -> anyhow::Result<Vec<String>> {
    let words = words(command, variables)?;
    Ok(words.iter().map(|word| word.to_string_lossy().into_owned()).collect())
}

/// Says that `time` was left out, if it was.
pub(crate) fn say_if_timed(spoken: &Spoken) {
    if spoken.timed {
        ui::note("time is left out: scruple measures the command after it");
    }
}

/// Returns the value of a variable of this process, if it is a text.
pub(crate) fn variable_of_process(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Parses `NAME=VALUE`.
pub(crate) fn variable(text: &str) -> Result<String, String> {
    match model::assignment(OsStr::new(text)) {
        Some(_) => Ok(text.into()),
        None => Err("expected NAME=VALUE, such as OMP_NUM_THREADS=2".into()),
    }
}

fn set(variables: &[String]) -> impl Iterator<Item = OsString> {
    variables.iter().map(OsString::from)
}

/// Returns the whole line to type, with all that stood before the command of this number of words.
fn line_to_type(spoken: &Spoken, words: usize) -> String {
    let typed: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let before = wording::command_line(&typed[..typed.len().saturating_sub(words)]);
    format!("scruple {before} {}", spoken.by_shell())
}
