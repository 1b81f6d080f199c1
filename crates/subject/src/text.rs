//! Text that a program printed, made fit for a sentence.

/// The first bytes of a text, on one line and harmless: a control character (a terminal's escape
/// sequence begins with one) shows as `\u{1b}`, what is no UTF-8 as the replacement character. What
/// was cut off is said by `…`.
pub(crate) fn shown(bytes: &[u8], bytes_max: usize) -> String {
    let cut = bytes.len() > bytes_max;
    let mut text = escaped(&bytes[..bytes.len().min(bytes_max)]);
    if cut {
        text.push('…');
    }
    text
}

/// Returns the last line that is not empty, cut to `bytes_max`.
pub(crate) fn last_line(bytes: &[u8], bytes_max: usize) -> Option<String> {
    let line = bytes
        .split(|byte| *byte == b'\n')
        .rev()
        .find(|line| line.iter().any(|byte| !byte.is_ascii_whitespace()))?;
    Some(shown(line.trim_ascii(), bytes_max))
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for character in String::from_utf8_lossy(bytes).chars() {
        // Direction marks reorder what stands around them; they are no control characters.
        let reorders = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if character.is_control() || reorders {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_do_harm_is_shown_and_not_done() {
        assert_eq!(shown(b"a\x1b[31m\nb\xff", 80), "a\\u{1b}[31m\\nb\u{fffd}");
        assert_eq!(shown("\u{202e}a".as_bytes(), 80), "\\u{202e}a");
        assert_eq!(shown(b"abcdef", 3), "abc…");
        assert_eq!(shown(b"", 3), "");
    }

    #[test]
    fn the_last_line_that_says_something() {
        assert_eq!(last_line(b"first\n last\r\n\n  \n", 80).as_deref(), Some("last"));
        assert_eq!(last_line(b" \n\n", 80), None);
        assert_eq!(last_line(b"", 80), None);
    }
}
