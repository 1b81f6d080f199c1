//! What goes to the screen: results on standard output, everything else on standard error.

use crate::destination;
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// Colours on a terminal, unless NO_COLOR is set or TERM is dumb
    Auto,
    Always,
    Never,
}

/// Sets the colours for both streams. `auto` leaves it to the terminal, NO_COLOR and TERM.
pub(crate) fn choose_colours(color: Color) {
    match color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
}

/// Writes a result to standard output. A reader that has had enough (`| head`) is no error.
pub(crate) fn result(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let written = writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(anyhow::anyhow!("cannot write to standard output: {error}")),
        Ok(()) => Ok(()),
    }
}

/// Writes a result for programs to standard output, as it is: JSON or a page.
pub(crate) fn data(text: &str) -> anyhow::Result<()> {
    destination::write(Path::new("-"), text)
}

/// Writes a result for people to standard output, in the letters that the terminal understands.
pub(crate) fn people(text: &str) -> anyhow::Result<()> {
    result(&letters().of_lines(text, width()))
}

/// Shows a result on standard output: as JSON where that was asked for, else in words of this width.
pub(crate) fn show(
    json: bool,
    result: &impl Serialize,
    words: impl FnOnce(usize) -> String,
) -> anyhow::Result<()> {
    match json {
        true => data(&serde_json::to_string_pretty(result)?),
        false => people(&words(width())),
    }
}

/// Returns the letters of the locale in force.
pub(crate) fn letters() -> report::Letters {
    letters_of(|name| std::env::var_os(name))
}

/// Returns the letters of the first of these variables that says something, as POSIX has it: a locale that
/// does not name UTF-8 gets ASCII. Where none is set, which POSIX reads as "C", it is nearly always
/// a container or a service whose reader knows UTF-8 (the same guess as Python's, PEP 538).
fn letters_of(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> report::Letters {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable);
    let locale = set.into_iter().find(|value| !value.is_empty());
    let names_utf8 = |locale: std::ffi::OsString| {
        let codeset = locale.to_string_lossy().to_ascii_lowercase();
        codeset.contains("utf-8") || codeset.contains("utf8")
    };
    if locale.is_none_or(names_utf8) { report::Letters::Unicode } else { report::Letters::Ascii }
}

/// Says something about the way on standard error. If nobody can hear it, the work goes on.
pub(crate) fn note(text: &str) {
    let _ = writeln!(anstream::stderr(), "{}", wording::cleaned(text));
}

/// Says that something should be known before the numbers are used.
pub(crate) fn warn(text: &str) {
    let style = Style::new().fg_color(Some(AnsiColor::Yellow.into())).bold();
    let _ = writeln!(anstream::stderr(), "{style}warning:{style:#} {}", wording::cleaned(text));
}

/// Says why the program ends without having done what was asked.
pub(crate) fn complain(error: &anyhow::Error) {
    let style = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        // Some libraries repeat their cause in their own text.
        if !text.contains(&cause) {
            let colon = if text.is_empty() { "" } else { ": " };
            text.push_str(&format!("{colon}{cause}"));
        }
    }
    let _ = writeln!(anstream::stderr(), "{style}error:{style:#} {}", wording::cleaned(&text));
}

/// Returns the word that was taken for `-h` and is longer, such as `-h2` of hey.
pub(crate) fn longer_than_help(error: &clap::Error) -> Option<String> {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let word = words.find(|word| word.starts_with("-h"))?;
    (error.kind() == clap::error::ErrorKind::DisplayHelp && word.len() > 2).then_some(word)
}

/// Says what is wrong with the command line. What was typed stands in it: a name that a shell took out
/// of somebody else's folder (`scruple report *`) may hold commands for the terminal.
pub(crate) fn complain_of_words(error: &clap::Error) {
    let words = std::env::args_os();
    if !words.into_iter().any(|word| word.to_string_lossy().contains(char::is_control)) {
        // If this fails, there is no other place to say so.
        let _ = error.print();
        return;
    }
    // Without colours: they would be indistinguishable from what was typed.
    for line in error.render().to_string().lines() {
        note(line);
    }
}

/// Returns the width to write results for: what COLUMNS asks for, else the terminal's, or 100 columns where there is
/// none.
pub(crate) fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let wide = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    asked.or_else(wide).unwrap_or(100).clamp(40, 160)
}

/// Returns the lines that the final summary may have: the terminal's, but not fewer than a summary of the
/// whole catalog needs, or a screen's worth where there is no terminal.
pub(crate) fn height() -> usize {
    let high = terminal_size::terminal_size().map(|(_, height)| usize::from(height.0));
    high.unwrap_or(50).max(40) - 3
}

/// Reports whether somebody watches standard error.
fn is_watched() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Returns a live line of this length (none: it only moves), or `None` where nobody watches.
pub(crate) fn bar(length: Option<u64>, template: &str) -> Option<ProgressBar> {
    if !is_watched() {
        return None;
    }
    let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("━╸─"));
    Some(bar)
}

#[cfg(test)]
mod tests {
    use super::letters_of;
    use report::Letters;

    #[test]
    fn the_first_variable_that_says_something_decides() {
        let letters = |set: &[(&str, &str)]| {
            letters_of(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).into())
            })
        };
        assert_eq!(letters(&[]), Letters::Unicode);
        for utf8 in ["C.UTF-8", "de_AT.utf8", "en_GB.UTF-8@euro"] {
            assert_eq!(letters(&[("LANG", utf8)]), Letters::Unicode, "{utf8}");
        }
        for other in ["C", "POSIX", "de_DE.ISO-8859-15", "ja_JP.eucJP"] {
            assert_eq!(letters(&[("LANG", other)]), Letters::Ascii, "{other}");
        }
        let all = [("LANG", "en_GB.UTF-8"), ("LC_CTYPE", ""), ("LC_ALL", "C")];
        assert_eq!(letters(&all), Letters::Ascii);
        assert_eq!(letters(&all[..2]), Letters::Unicode);
    }
}
