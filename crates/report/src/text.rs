//! Plain text: wrapping, padding, and colours that a pipe can strip.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthChar;

/// Headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// What matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Supported; all is well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Refuted; something is wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// Undecided; look here.
pub(crate) const CARE: Style = AnsiColor::Yellow.on_default();

/// The narrowest text that is laid out; a narrower terminal wraps by itself.
pub(crate) const WIDTH_MIN: usize = 40;

/// The widest text: longer lines are hard to read.
pub(crate) const WIDTH_MAX: usize = 120;

/// A width within what is laid out.
pub(crate) fn bounded(width: usize) -> usize {
    width.clamp(WIDTH_MIN, WIDTH_MAX)
}

/// Text in a style.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// How many columns a text takes at the most: a wide character takes two, one that joins the
/// character before it none.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The columns of one character. The selector that asks for a picture (U+FE0F) makes the character
/// before it wide; its width is counted here, since that one has been counted already.
fn columns_of(c: char) -> usize {
    if c == '\u{fe0f}' { 1 } else { c.width().unwrap_or(0) }
}

/// Makes text harmless and cuts it to `most` columns; what is cut ends in "…".
pub(crate) fn cut(text: &str, most: usize) -> String {
    let text = wording::cleaned(text);
    if columns(&text) <= most {
        return text;
    }
    let mut taken = 0;
    let fits = |c: &char| {
        taken += columns_of(*c);
        taken < most
    };
    let kept: String = text.chars().take_while(fits).collect();
    if most > 0 { kept + "…" } else { kept }
}

/// Text, painted or not, filled with spaces on the right up to a width.
pub(crate) fn padded(text: &str, width: usize) -> String {
    let taken = columns(&without_colours(text));
    format!("{text}{}", " ".repeat(width.saturating_sub(taken)))
}

/// Text is not broken into narrower lines.
pub(crate) const WRAPPED_MIN: usize = 8;

/// Returns text broken at spaces into lines of at most `width` columns, made harmless to a terminal; a
/// longer word is cut.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(WRAPPED_MIN);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in wording::cleaned(text).split_whitespace() {
        if !line.is_empty() && columns(&line) + 1 + columns(word) > width {
            // A number takes its per cent sign's line.
            let number = line.rfind(' ').filter(|_| word.starts_with('%'));
            let next = number.map_or(String::new(), |at| line.split_off(at)[1..].to_string());
            lines.push(std::mem::replace(&mut line, next));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for c in word.chars() {
            if columns(&line) + columns_of(c) > width {
                lines.push(std::mem::take(&mut line));
            }
            line.push(c);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The letters that a terminal understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// All of them: its locale is UTF-8.
    Unicode,
    /// Those of ASCII alone.
    Ascii,
}

impl Letters {
    /// Text in these letters.
    pub(crate) fn of(self, text: &str) -> String {
        match self {
            Letters::Unicode => wording::cleaned(text),
            Letters::Ascii => ascii(&wording::cleaned(text)),
        }
    }

    /// Returns text for a terminal in these letters. In ASCII "µ" is "u" and "×" is "x"; a letter of a
    /// name that has no likeness is "?". Colours stay; a line that becomes longer than `width` columns
    /// loses them and is broken.
    pub fn of_lines(self, text: &str, width: usize) -> String {
        if self == Letters::Unicode {
            return text.to_string();
        }
        let lines = ascii(text).lines().map(|line| line.to_string()).collect::<Vec<_>>();
        let fitting = lines.into_iter().flat_map(|line| {
            let plain = without_colours(&line);
            if columns(&plain) <= width { vec![line] } else { wrapped(&plain, width) }
        });
        fitting.map(|line| line + "\n").collect()
    }
}

/// Text without the colours of [`paint`].
fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_string();
    let rest = parts.filter_map(|part| part.split_once('m'));
    rest.fold(first, |plain, (_, after)| plain + after)
}

/// Text of ASCII letters alone, for a terminal whose locale is not UTF-8, with as many columns as
/// before as far as that can be. What has no likeness becomes "?"; it is a name from outside.
pub(crate) fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii() => out.push(c),
            '∞' => out.push_str("inf"),
            '≤' => out.push_str("<="),
            '≥' => out.push_str(">="),
            '→' => out.push_str("->"),
            c if columns_of(c) == 0 => {}
            c => out.extend(std::iter::repeat_n(likeness(c), columns_of(c))),
        }
    }
    out
}

/// Letters of ours, and below each the ASCII letter that reads like it.
const OURS: &str = "▁▂▃▄▅▆▇█−–—─┄╌…×✗÷µ·░✓┬└│├┤“”‘’←↑▲↓▼●■◆○□◇²³ᵇ∝≈╱\u{a0}\u{202f}\u{2009}";
const ALIKE: &str = "_.,-=+%#------~xx/u..+++|||\"\"''<^^vv*#@o=%23b~~/   ";

/// The ASCII letter that reads like a letter of ours.
fn likeness(c: char) -> char {
    OURS.chars().zip(ALIKE.chars()).find(|(ours, _)| *ours == c).map_or('?', |(_, alike)| alike)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn a_number_and_its_per_cent_sign_stand_in_one_line() {
        assert_eq!(wrapped("a share of 12.5 % (all)", 16), ["a share of", "12.5 % (all)"]);
        assert_eq!(wrapped("12345678 % left", 8), ["12345678", "% left"]);
    }

    #[test]
    fn wide_and_joining_characters_take_the_columns_they_take() {
        for text in
            ["plain", "日本語", "e\u{301}", "☎\u{fe0f} 1", "a\u{200b}b", "👩\u{200d}👩\u{200d}👧"]
        {
            assert!(columns(text) >= text.width(), "{text}");
        }
        assert_eq!((columns("日本"), columns("e\u{301}"), columns("µ±")), (4, 1, 2));
        assert_eq!(padded("日本", 6), "日本  ");
    }

    #[test]
    fn text_is_cut_and_broken_by_columns() {
        assert_eq!(cut("日本語の名前", 7), "日本語…");
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("a\u{1b}[2J", 9), "a\u{fffd}[2J");
        assert_eq!(cut("abc", 0), "");
        for width in [8, 9, 13] {
            let lines = wrapped("日本語の名前は 二桁 ずつ and then some words of one", width);
            assert!(lines.iter().all(|line| line.width() <= width), "{lines:?}");
            assert_eq!(
                lines.concat().replace(' ', ""),
                "日本語の名前は二桁ずつandthensomewordsofone"
            );
        }
    }

    #[test]
    fn ascii_keeps_the_columns_and_reads_alike() {
        assert_eq!(ascii("✗ 12.3 µs [−1, 4] ≥ 2× “a” …"), "x 12.3 us [-1, 4] >= 2x \"a\" ~");
        // Neither a bound nor a change may read like a comparison that was not meant.
        assert_eq!(ascii("≤ 1, 0.8 → 2.5, ↓ ↑ ▼ ▲"), "<= 1, 0.8 -> 2.5, v ^ v ^");
        assert_eq!(ascii("名e\u{301}"), "??e");
        assert_eq!(ascii("[1, ∞]"), "[1, inf]");
    }
}
