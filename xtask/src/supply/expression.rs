//! Expressions of licences: SPDX 2.3, annex D, with the `/` that crates of old have for OR.

/// Whether somebody who accepts these licences may take what is under this expression; `None` if it
/// is none.
pub(super) fn allows(expression: &str, accepted: &[String]) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, accepted };
    let allows = reader.any()?;
    reader.words.is_empty().then_some(allows)
}

struct Reader<'a> {
    words: &'a [&'a str],
    accepted: &'a [String],
}

impl Reader<'_> {
    /// Terms with OR between them.
    fn any(&mut self) -> Option<bool> {
        let mut allows = self.all()?;
        while self.takes("OR") {
            allows |= self.all()?;
        }
        Some(allows)
    }

    /// Licences with AND between them, which binds closer.
    fn all(&mut self) -> Option<bool> {
        let mut allows = self.one()?;
        while self.takes("AND") {
            allows &= self.one()?;
        }
        Some(allows)
    }

    /// A licence, with its exception if it has one, or an expression in brackets.
    fn one(&mut self) -> Option<bool> {
        if self.takes("(") {
            let inner = self.any()?;
            return self.takes(")").then_some(inner);
        }
        let mut licence = self.name()?.to_string();
        if self.takes("WITH") {
            licence = format!("{licence} WITH {}", self.name()?);
        }
        Some(self.accepted.contains(&licence))
    }

    fn name(&mut self) -> Option<&str> {
        let (first, rest) = self.words.split_first()?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-.+:".contains(c);
        let word = ["OR", "AND", "WITH"].contains(first);
        if word || !first.chars().all(is_name) {
            return None;
        }
        self.words = rest;
        Some(first)
    }

    fn takes(&mut self, word: &str) -> bool {
        match self.words.split_first() {
            Some((first, rest)) if *first == word => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::allows;

    #[test]
    fn expressions_are_read_as_they_bind() {
        let accepted = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"].map(String::from);
        for (expression, allowed) in [
            ("MIT", Some(true)),
            ("GPL-3.0-only", Some(false)),
            ("GPL-3.0-only OR MIT", Some(true)),
            ("Unlicense/MIT", Some(true)),
            ("Apache-2.0 / MIT", Some(true)),
            ("MIT AND GPL-3.0-only", Some(false)),
            ("GPL-3.0-only AND MIT OR MIT", Some(true)),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", Some(true)),
            ("MIT AND (Apache-2.0 OR ISC)", Some(false)),
            ("Apache-2.0", Some(false)),
            ("Apache-2.0 WITH LLVM-exception OR Apache-2.0", Some(true)),
            ("", None),
            ("MIT OR", None),
            ("(MIT", None),
            ("MIT)", None),
            ("MIT Apache-2.0", None),
            ("MIT WITH", None),
            ("see LICENSE", None),
        ] {
            assert_eq!(allows(expression, &accepted), allowed, "{expression}");
        }
    }
}
