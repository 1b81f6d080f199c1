//! Sentences, lists, plurals and dates; text from outside, made harmless to read.

use model::{Moment, Unit};

#[cfg(test)]
mod tests;

/// The most characters of a unit's name.
const UNIT_CHARACTERS_MAX: usize = 24;

/// Returns text from outside, made harmless to read: control characters and those that turn the
/// direction of text around become "�", and what is longer than `most` characters ends in "…".
pub fn short(text: &str, most: usize) -> String {
    let mut shortened: String = text.chars().take(most + 1).map(harmless).collect();
    if shortened.chars().count() > most {
        shortened = shortened.chars().take(most.saturating_sub(1)).collect();
        shortened.push('…');
    }
    shortened
}

/// Returns text from outside, bounded and made harmless; it begins and ends as a sentence does.
pub fn sentence(text: &str, most: usize) -> String {
    let mut text = capital(&short(text, most));
    if text.ends_with(|last: char| last.is_alphanumeric() || "])%".contains(last)) {
        text.push('.');
    }
    text
}

/// Returns text from outside in one line, without what a terminal would obey, whatever its length.
pub fn cleaned(text: &str) -> String {
    text.chars().map(harmless).collect()
}

/// Returns text of several lines from outside, made harmless and bounded; its newlines stay.
pub fn lines(text: &str, most: usize) -> String {
    text.split('\n').map(|line| short(line, most)).collect::<Vec<_>>().join("\n")
}

fn harmless(c: char) -> char {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    match c {
        '\t' | '\n' => ' ',
        c if c.is_control() || turns => '\u{fffd}',
        c => c,
    }
}

/// Returns those sentences that there are, one after the other.
pub fn sentences(all: impl IntoIterator<Item = Option<String>>) -> String {
    clauses(all, " ").unwrap_or_default()
}

/// Returns those parts of a sentence that there are; `None` where there is none.
pub fn clauses(all: impl IntoIterator<Item = Option<String>>, separator: &str) -> Option<String> {
    all.into_iter().flatten().reduce(|all, next| all + separator + &next)
}

/// Returns text unless it is empty.
pub fn stated(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// Returns "a, b and c".
pub fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns text with a capital at its beginning, as a sentence has.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Returns text without a capital at its beginning, as a sentence within another has.
pub fn uncapital(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    if letters.as_str().starts_with(char::is_uppercase) {
        return text.to_string();
    }
    first.to_lowercase().chain(letters).collect()
}

/// Returns the unit's name in words.
pub fn unit(unit: &Unit) -> String {
    match unit {
        Unit::PerSecond => "per second".into(),
        unit => short(unit.name(), UNIT_CHARACTERS_MAX),
    }
}

/// Returns a command line as a shell would take it.
pub fn command_line(words: &[String]) -> String {
    let (variables, command) = model::split_assignments(words);
    let set = variables.iter().filter_map(|word| word.split_once('='));
    let set = set.map(|(name, value)| format!("{name}={}", quoted(value)));
    set.chain(command.iter().map(|word| quoted(word))).collect::<Vec<_>>().join(" ")
}

/// Returns one word of a command line as a shell would take it.
pub fn quoted(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%{}".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Returns a moment as "2026-11-20 13:09 UTC", from milliseconds since 1970.
pub fn moment(unix_ms: u64) -> String {
    let Moment { year, month, day, hour, minute, .. } = Moment::of_unix_ms(unix_ms);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}
