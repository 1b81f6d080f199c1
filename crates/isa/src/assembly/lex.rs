//! Text as statements of words, numbers and signs.

use super::{Mistake, Place};

/// A word, a number or a sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Number(i64),
    /// `1b` or `1f`: the label of that number before or behind.
    Local(u32, bool),
    Text(Vec<u8>),
    /// A sign; `l` and `r` are `<<` and `>>`.
    Sign(char),
}

/// A token, and where it begins.
pub(super) type Placed = (Token, Place);

/// Returns the statements of a text, which end with a line or a `;`; comments are left out.
pub(super) fn statements(text: &str, mistakes: &mut Vec<Mistake>) -> Vec<Vec<Placed>> {
    let mut reader = Reader { rest: text, place: Place { line: 1, column: 1 } };
    let mut all = Vec::new();
    let mut statement = Vec::new();
    loop {
        let place = reader.place;
        match reader.token() {
            Ok(Some(Token::Sign('\n' | ';'))) => all.push(std::mem::take(&mut statement)),
            Ok(Some(token)) => statement.push((token, place)),
            Ok(None) if reader.rest.is_empty() => break,
            Ok(None) => {}
            Err(what) => {
                mistakes.push(Mistake { place, what });
                // The rest of the line would be misread.
                reader.skip(|c| c != '\n');
                statement.clear();
            }
        }
    }
    all.push(statement);
    all.retain(|statement| !statement.is_empty());
    all
}

struct Reader<'a> {
    rest: &'a str,
    place: Place,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        self.place = match c {
            '\n' => Place { line: self.place.line + 1, column: 1 },
            _ => Place { column: self.place.column + 1, ..self.place },
        };
        Some(c)
    }

    /// Skips the characters for which a condition holds, and returns them.
    fn skip(&mut self, is_wanted: impl Fn(char) -> bool) -> &'a str {
        let before = self.rest;
        while self.peek().is_some_and(&is_wanted) {
            self.next();
        }
        &before[..before.len() - self.rest.len()]
    }

    /// Returns the next token; none where a comment or a space was skipped, or at the end.
    fn token(&mut self) -> Result<Option<Token>, String> {
        let Some(c) = self.peek() else { return Ok(None) };
        let is_part = |c: char| c.is_alphanumeric() || "_.$@".contains(c);
        match c {
            '\n' | ';' => {}
            _ if c.is_whitespace() || c == '\u{feff}' => {
                self.next();
                return Ok(None);
            }
            '#' => {
                self.skip(|c| c != '\n');
                return Ok(None);
            }
            '/' if self.rest.starts_with("//") => {
                self.skip(|c| c != '\n');
                return Ok(None);
            }
            '/' if self.rest.starts_with("/*") => {
                let Some(end) = self.rest.find("*/") else {
                    self.skip(|_| true);
                    return Err("the comment that begins here has no end: */".into());
                };
                let left = self.rest.len() - end - 2;
                while self.rest.len() > left {
                    self.next();
                }
                return Ok(None);
            }
            '0'..='9' => return number(self.skip(is_part)).map(Some),
            '"' => return self.string().map(|bytes| Some(Token::Text(bytes))),
            '\'' => return self.character().map(|value| Some(Token::Number(value))),
            '<' | '>' if self.rest[1..].starts_with(c) => {
                self.next();
                self.next();
                return Ok(Some(Token::Sign(if c == '<' { 'l' } else { 'r' })));
            }
            _ if is_part(c) => return Ok(Some(Token::Name(self.skip(is_part).into()))),
            _ if ",():+-*/|&^~%=".contains(c) => {}
            _ => return Err(format!("unexpected {c:?}")),
        }
        self.next();
        Ok(Some(Token::Sign(c)))
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
                    bytes.extend(c.to_string().bytes());
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
                bytes.extend(c.to_string().bytes());
            }
            _ => return Err("expected a character between single quotes, such as 'a'".into()),
        }
        let (&[byte], Some('\'')) = (bytes.as_slice(), self.peek()) else {
            return Err("expected one character of ASCII between single quotes, such as 'a'".into());
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
                let known = [
                    ('n', 10),
                    ('t', 9),
                    ('r', 13),
                    ('\\', 92),
                    ('"', 34),
                    ('\'', 39),
                    ('a', 7),
                    ('b', 8),
                    ('f', 12),
                    ('v', 11),
                    ('e', 27),
                ];
                let found = known.iter().find(|(letter, _)| *letter == c);
                let (_, byte) = found.ok_or(
                    r#"unknown escape; \n, \t, \r, \0, \\, \", \', \x41 and \u00e4 are known"#,
                )?;
                self.next();
                bytes.push(*byte);
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
    let value = i64::from_str_radix(digits, radix).map_err(|_| bad())?;
    if value > u32::MAX.into() {
        return Err(format!("{text} has more than 32 bits"));
    }
    Ok(Token::Number(value))
}
