//! Just enough of Rust's lexis to tell code from comments and literals.

/// The text with every comment and the content of every literal replaced by spaces. Line breaks
/// stay, so that line numbers and indentation are those of the text.
pub(super) fn code_only(text: &str) -> String {
    let mut lexer = Lexer { rest: text, code: String::with_capacity(text.len()), word: false };
    while !lexer.rest.is_empty() {
        lexer.step();
    }
    lexer.code
}

/// Returns the comments and the content of the literals, with everything else replaced by spaces.
pub(super) fn prose_only(text: &str) -> String {
    let pairs = text.chars().zip(code_only(text).chars().collect::<Vec<_>>());
    pairs.map(|(of, code)| if code == of && code != '\n' { ' ' } else { of }).collect()
}

/// Returns the content of every string literal, with the line on which it begins, from 0.
pub(crate) fn literals(text: &str) -> Vec<(usize, &str)> {
    let mut lexer = Lexer { rest: text, code: String::with_capacity(text.len()), word: false };
    let mut found = Vec::new();
    let (mut line, mut seen) = (0, 0);
    while !lexer.rest.is_empty() {
        line += lexer.code[seen..].matches('\n').count();
        seen = lexer.code.len();
        let comment = lexer.rest.starts_with("//") || lexer.rest.starts_with("/*");
        if let Some((open, end)) = lexer.literal().filter(|_| !comment)
            && lexer.rest[..open].ends_with('"')
        {
            let content = lexer.rest[open..end].trim_end_matches('#');
            found.push((line, content.strip_suffix('"').unwrap_or(content)));
        }
        lexer.step();
    }
    found
}

struct Lexer<'a> {
    rest: &'a str,
    code: String,
    /// Whether what came before belongs to a word: then an `r` or a `b` does not begin a literal.
    word: bool,
}

impl Lexer<'_> {
    fn step(&mut self) {
        if self.rest.starts_with("//") {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.blank(end);
        } else if self.rest.starts_with("/*") {
            self.blank(block_comment(self.rest));
        } else if let Some((open, end)) = self.literal() {
            self.keep(open);
            self.blank(end - open);
        } else {
            self.keep(1);
        }
    }

    /// Whether a literal begins here: the bytes before its content, and those to its end.
    fn literal(&self) -> Option<(usize, usize)> {
        let bytes = self.rest.as_bytes();
        let prefix = if self.word {
            0
        } else {
            bytes.iter().take(2).take_while(|byte| b"bcr".contains(byte)).count()
        };
        let raw = bytes[..prefix].contains(&b'r');
        let hashes =
            if raw { bytes[prefix..].iter().take_while(|b| **b == b'#').count() } else { 0 };
        let open = prefix + hashes;
        match bytes.get(open) {
            Some(b'"') if raw => {
                let closing = format!("\"{}", "#".repeat(hashes));
                let content = &self.rest[open + 1..];
                let end = content.find(&closing).map_or(content.len(), |at| at + closing.len());
                Some((open + 1, open + 1 + end))
            }
            Some(b'"') => Some((open + 1, open + 1 + escaped(&self.rest[open + 1..], b'"'))),
            Some(b'\'') if !raw => {
                let content = &self.rest[open + 1..];
                is_character(content).then(|| (open + 1, open + 1 + escaped(content, b'\'')))
            }
            _ => None,
        }
    }

    /// Takes at least `bytes` bytes, to the end of a character, as they are.
    fn keep(&mut self, bytes: usize) {
        let mut taken = 0;
        for character in self.rest.chars() {
            if taken >= bytes {
                break;
            }
            self.code.push(character);
            self.word = character.is_alphanumeric() || character == '_';
            taken += character.len_utf8();
        }
        self.rest = &self.rest[taken..];
    }

    fn blank(&mut self, bytes: usize) {
        let blank = self.rest[..bytes].chars().map(|c| if c == '\n' { '\n' } else { ' ' });
        self.code.extend(blank);
        self.rest = &self.rest[bytes..];
        self.word = false;
    }
}

/// The bytes of a block comment, which may hold others.
fn block_comment(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0, 0);
    while at < bytes.len() {
        match &bytes[at..bytes.len().min(at + 2)] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The bytes to the closing quote, with it; a backslash protects what follows it.
fn escaped(content: &str, quote: u8) -> usize {
    let bytes = content.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Whether what follows a single quote is a character rather than a lifetime's name.
fn is_character(content: &str) -> bool {
    let mut characters = content.chars();
    match characters.next() {
        Some('\\') => true,
        Some(_) => characters.next() == Some('\''),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{code_only, literals, prose_only};

    #[test]
    fn comments_and_literals_are_blanked_and_lines_stay() {
        for (text, code) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */\n d */ e", "a             \n      e"),
            (r#"f("a // \" b") c"#, r#"f("          ) c"#),
            ("r#\"a \"b\n{\"# c", "r#\"    \n    c"),
            ("br\"\\\" c", "br\"   c"),
            ("b\"x\" b'y'", "b\"   b'  "),
            ("'{' 'a '\\'' x", "'   'a '    x"),
            ("var\"x\"", "var\"  "),
            ("'\u{e9}' \u{e9} \"open", "'   \u{e9} \"    "),
            ("<'a>(b: &'a str)", "<'a>(b: &'a str)"),
        ] {
            assert_eq!(code_only(text), code, "{text}");
        }
    }

    #[test]
    fn prose_is_what_code_is_not() {
        assert_eq!(prose_only("a(\"a b c\"); // d e\nf"), "   a b c\"   // d e\n ");
    }

    #[test]
    fn literals_are_found_with_their_lines() {
        let text = "// \"no\"\nf(\"one \\\"two\\\"\", 'c');\n\nr#\"three\"#";
        assert_eq!(literals(text), [(1, "one \\\"two\\\""), (3, "three")]);
    }
}
