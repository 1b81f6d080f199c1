//! Words of somebody else in errors of ours.

/// The most characters of an explanation: serde repeats what it did not expect.
const CHARACTERS_MAX: usize = 500;

/// Returns text without what a terminal takes for a command or what turns a line around, cut to a length
/// that can be read.
pub(crate) fn in_words(text: &str) -> String {
    let harmless = |c: char| match c {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '?',
        c if c.is_control() => '?',
        c => c,
    };
    let mut words: String = text.chars().take(CHARACTERS_MAX).map(harmless).collect();
    if words.len() < text.len() && text.chars().nth(CHARACTERS_MAX).is_some() {
        words.push('\u{2026}');
    }
    words
}

/// Returns what serde says, without the line number that means nothing inside one line.
pub(crate) fn explain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(what) => format!("{what} (column {})", error.column()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{CHARACTERS_MAX, in_words};

    #[test]
    fn nothing_is_left_that_a_terminal_obeys() {
        assert_eq!(in_words("a\u{1b}[31m\u{9b}b\u{202e}c\n"), "a?[31m?b?c?");
        assert_eq!(in_words("caf\u{e9}"), "caf\u{e9}");
        let long = in_words(&"\u{e9}".repeat(CHARACTERS_MAX + 1));
        assert_eq!(long.chars().count(), CHARACTERS_MAX + 1);
        assert!(long.ends_with('\u{2026}'));
    }
}
