//! Text as statements of words, numbers and signs.

use super::text::{encode, raw};
use super::{Mistake, Place};

/// A word, a number or a sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Number(i64),
    /// A number that is written as bits, in hexadecimal or in binary digits.
    Bits(i64),
    /// A number with a point or an exponent.
    Real(f64),
    /// `1b` or `1f`: the label of that number before or behind.
    Local(u32, bool),
    Text(Vec<u8>),
    /// A sign; those of two characters have letters ([`SIGNS`]), and so has a `-` that stands before a number and
    /// behind a space, `u`.
    Sign(char),
}

/// Signs of two characters.
const SIGNS: [(&str, char); 9] = [
    ("<<", 'l'),
    (">>", 'r'),
    ("==", 'e'),
    ("!=", 'n'),
    ("<>", 'n'),
    ("<=", 'm'),
    (">=", 'g'),
    ("&&", 'a'),
    ("||", 'o'),
];

/// A token, and where it begins.
pub(super) type Placed = (Token, Place);

/// Reports whether a character may be part of a name or a number.
pub(super) fn is_part(c: char) -> bool {
    c.is_alphanumeric() || "_.$@".contains(c) || raw(c).is_some()
}

/// Returns how many bytes a string or a character between quotes has, at whose first quote the text begins: up to
/// the end of the line where it has no end.
pub(super) fn quoted_bytes(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return if text.starts_with('"') { at } else { 1 },
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            // An apostrophe is a quote only around one character.
            _ if text.starts_with('\'') && at > 8 => return 1,
            _ if text.starts_with(c) && at > 1 => return at + 1,
            '"' if text.starts_with(c) => return at + 1,
            _ => {}
        }
    }
    if text.starts_with('"') { text.len() } else { 1 }
}

/// Returns the tokens of a statement that begins at a place.
pub(super) fn tokens(text: &str, place: Place) -> Result<Vec<Placed>, Mistake> {
    let mut reader = Reader::new(text, place);
    let mut all = Vec::new();
    loop {
        let place = reader.place;
        match reader.token() {
            Ok(Some(token)) => all.push((token, place)),
            Ok(None) if reader.rest.is_empty() => return Ok(all),
            Ok(None) => {}
            Err(what) => return Err(Mistake { place, what }),
        }
    }
}

/// A text of which the first characters were read.
pub(super) struct Reader<'a> {
    pub(super) rest: &'a str,
    pub(super) place: Place,
    is_behind_space: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(rest: &'a str, place: Place) -> Self {
        Self { rest, place, is_behind_space: true }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        self.place.column += 1;
        if c == '\n' {
            self.place = Place { line: self.place.line + 1, column: 1, ..self.place };
        }
        Some(c)
    }

    /// Skips the characters for which a condition holds, and returns them.
    pub(super) fn skip(&mut self, is_wanted: impl Fn(char) -> bool) -> &'a str {
        let before = self.rest;
        while self.peek().is_some_and(&is_wanted) {
            self.next();
        }
        &before[..before.len() - self.rest.len()]
    }

    /// Returns the next token; none where a comment or a space was skipped, or at the end.
    fn token(&mut self) -> Result<Option<Token>, String> {
        let Some(c) = self.peek() else { return Ok(None) };
        let is_behind_space = self.is_behind_space;
        self.is_behind_space = c.is_whitespace();
        let double = SIGNS.iter().find(|(text, _)| self.rest.starts_with(text));
        match c {
            // A mark of the order of bytes, and spaces without a width.
            _ if c.is_whitespace() || c == '\u{feff}' || c == '\u{200b}' => {
                self.next();
                return Ok(None);
            }
            '0'..='9' => return self.number().map(Some),
            '"' => return self.string().map(|bytes| Some(Token::Text(bytes))),
            '\'' => return self.character().map(|value| Some(Token::Number(value))),
            _ if let Some((_, sign)) = double => {
                self.next();
                self.next();
                return Ok(Some(Token::Sign(*sign)));
            }
            _ if is_part(c) => {
                let text = self.skip(is_part);
                let real = text.parse().ok().filter(|_| text.starts_with('.'));
                return Ok(Some(real.map_or_else(|| Token::Name(text.into()), Token::Real)));
            }
            '-' if is_behind_space && self.rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                self.next();
                return Ok(Some(Token::Sign('u')));
            }
            _ if ",():+-*/|&^~%=<>!?".contains(c) => {}
            _ => return Err(format!("unexpected {c:?}")),
        }
        self.next();
        Ok(Some(Token::Sign(c)))
    }

    fn number(&mut self) -> Result<Token, String> {
        let before = self.rest;
        let text = self.skip(is_part);
        let is_hex = text.starts_with("0x") || text.starts_with("0X");
        // The exponent of a number with a point may have a sign.
        if !is_hex && text.ends_with(['e', 'E']) && self.rest.starts_with(['-', '+']) {
            self.next();
            self.skip(is_part);
        }
        let text = &before[..before.len() - self.rest.len()];
        match text.parse::<f64>() {
            Ok(value) if !is_hex && text.contains(['.', 'e', 'E']) => Ok(Token::Real(value)),
            _ => number(text),
        }
    }

    fn string(&mut self) -> Result<Vec<u8>, String> {
        self.next();
        let mut bytes = Vec::new();
        loop {
            match self.peek() {
                None | Some('\n') => {
                    return Err("the string that begins here has no end: \"".into());
                }
                Some('"') => {
                    self.next();
                    return Ok(bytes);
                }
                Some('\\') => self.escape(&mut bytes)?,
                Some(c) => {
                    self.next();
                    encode(c, &mut bytes);
                }
            }
        }
    }

    fn character(&mut self) -> Result<i64, String> {
        self.next();
        let mut bytes = Vec::new();
        match self.peek() {
            Some('\\') => self.escape(&mut bytes)?,
            Some(c) if c != '\n' && c != '\'' => {
                self.next();
                encode(c, &mut bytes);
            }
            _ => return Err("expected a character between single quotes, such as 'a'".into()),
        }
        let (&[byte], Some('\'')) = (bytes.as_slice(), self.peek()) else {
            return Err(
                "expected one character of one byte between single quotes, such as 'a'".into()
            );
        };
        self.next();
        Ok(byte.into())
    }

    /// Reads what follows a backslash.
    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), String> {
        self.next();
        let c = self.peek().unwrap_or('\n');
        let digits = |rest: &str, radix: u32, most: usize| -> usize {
            rest.chars().take(most).take_while(|c| c.is_digit(radix)).count()
        };
        // Where the digits begin, how many there may be, and their base.
        let (skipped, most, radix) = match c {
            'x' => (1, 2, 16),
            'u' => (1, 4, 16),
            '0'..='7' => (0, 3, 8),
            _ => {
                let known = b"n\nt\tr\ra\x07b\x08f\x0cv\x0be\x1b";
                // What is no escape is itself.
                let found = known.chunks_exact(2).find(|pair| char::from(pair[0]) == c);
                self.next();
                match found {
                    Some(pair) => bytes.push(pair[1]),
                    None => encode(c, bytes),
                }
                return Ok(());
            }
        };
        let count = digits(&self.rest[skipped..], radix, most);
        let value = u32::from_str_radix(&self.rest[skipped..skipped + count], radix);
        let value = value.map_err(|_| format!("\\{c} needs digits"))?;
        for _ in 0..skipped + count {
            self.next();
        }
        match c {
            'u' => bytes.extend(char::from_u32(value).unwrap_or('\u{fffd}').to_string().bytes()),
            _ => bytes.push(value as u8),
        }
        Ok(())
    }
}

/// Reads a number, or the name of a local label, such as `1f`.
fn number(text: &str) -> Result<Token, String> {
    let bad = || format!("{text} is no number; 42, 0x2a, 0b101010 and 052 are the same one");
    if let Some(digits) = text.strip_suffix(['b', 'f'])
        && let Ok(number) = digits.parse()
    {
        return Ok(Token::Local(number, text.ends_with('b')));
    }
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (lower.as_str(), 10),
    };
    let value = u64::from_str_radix(digits, radix).map_err(|error| match error.kind() {
        std::num::IntErrorKind::PosOverflow => {
            format!("{text} has more than 64 bits; .dword takes them in parts")
        }
        _ => bad(),
    })?;
    let token = if matches!(radix, 2 | 16) { Token::Bits } else { Token::Number };
    Ok(token(value as i64))
}
