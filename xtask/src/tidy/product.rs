//! Which files and lines are the product, and which test it.

use super::Tree;
use super::lexer::{code_only, literals};
use super::size::indent;

/// A source of the product or of its tests, taken apart once for all counts.
pub(super) struct Source<'a> {
    pub(super) path: &'a str,
    /// The lines of the product, comments included; all others are empty.
    pub(super) product: String,
    /// The product with comments and the content of literals blanked.
    pub(super) code: String,
    /// The string literals, each with its line, from 0.
    literals: Vec<(usize, &'a str)>,
}

/// Returns the Rust sources in the order of their paths.
pub(super) fn sources(tree: &Tree) -> Vec<Source<'_>> {
    tree.rust()
        .map(|file| {
            let product =
                if is_test(&file.path) { String::new() } else { without_tests(&file.text) };
            let code = code_only(&product);
            Source { path: &file.path, product, code, literals: literals(&file.text) }
        })
        .collect()
}

impl Source<'_> {
    /// Returns the crate that the file belongs to; what is outside of `crates/` belongs to `xtask`.
    pub(super) fn room(&self) -> &str {
        let inside = self.path.strip_prefix("crates/").and_then(|path| path.split('/').next());
        inside.unwrap_or("xtask")
    }

    /// Returns the number of lines that are neither blank nor comments.
    pub(super) fn lines(&self) -> usize {
        let lines = self.product.lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
    }

    /// Returns the place of a line, counted from 0.
    pub(super) fn place(&self, index: usize) -> String {
        format!("{}:{}", self.path, index + 1)
    }

    /// Returns the literals of the product, or those of its tests.
    pub(super) fn literals(&self, of_product: bool) -> impl Iterator<Item = (usize, &str)> {
        let lines: Vec<&str> = self.product.lines().collect();
        let literals = self.literals.iter().copied();
        literals.filter(move |(index, _)| {
            let is_product = lines.get(*index).is_some_and(|line| !line.trim().is_empty());
            is_product == of_product
        })
    }
}

/// Reports whether a whole file is for tests, by its path.
fn is_test(path: &str) -> bool {
    let parts = ["/fixture", "tests_", "/simulation"];
    let ends = ["test.rs", "tests.rs", "testing.rs", "hostile.rs"];
    path.split('/').rev().skip(1).any(|folder| folder == "tests" || folder == "benches")
        || parts.iter().any(|part| path.contains(part))
        || ends.iter().any(|end| path.ends_with(end))
}

/// Returns the text with the lines of items under `#[cfg(test)]` made empty.
pub(super) fn without_tests(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut kept = String::with_capacity(text.len());
    let mut next = 0;
    for (index, line) in lines.iter().enumerate() {
        if index >= next && line.trim().starts_with("#[cfg(test)]") {
            next = index + 1 + lines_of_item(&lines[index + 1..], indent(line));
        }
        if index >= next {
            kept.push_str(line);
        }
        kept.push('\n');
    }
    kept
}

/// Returns the number of lines that the first item has, with its attributes. In formatted code it ends
/// with the semicolon of its first line, or with a brace below its first letter.
fn lines_of_item(lines: &[&str], indent_of_item: usize) -> usize {
    let before = |line: &&&str| ["#[", "//"].iter().any(|start| line.trim().starts_with(start));
    let first = lines.iter().take_while(before).count();
    if lines.get(first).is_some_and(|line| line.trim_end().ends_with(';')) {
        return first + 1;
    }
    let is_end =
        |line: &&str| indent(line) == indent_of_item && ["}", "};", "},"].contains(&line.trim());
    let rest = lines.iter().skip(first + 1).position(is_end);
    rest.map_or(lines.len(), |rest| first + 1 + rest + 1)
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::{is_test, sources, without_tests};

    #[test]
    fn lines_are_code_outside_of_tests() {
        let text = "//! Doc.\n\nfn a() {\n    // Why.\n    b();\n}\n\n#[cfg(test)]\nmod tests {\n    \
            fn c() {}\n}\nconst D: u8 = 1;\n";
        let tree = tree([("crates/kit/src/a.rs", text), ("crates/kit/src/a/tests.rs", text)]);
        let lines: Vec<usize> = sources(&tree).iter().map(super::Source::lines).collect();
        assert_eq!(lines, [4, 0]);
    }

    #[test]
    fn what_is_compiled_for_tests_alone_is_left_out() {
        for (item, kept) in [
            ("#[cfg(test)]\nmod tests;\n", "\n\n"),
            ("#[cfg(test)]\n#[path = \"a.rs\"]\n// Why.\nmod tests;\n", "\n\n\n\n"),
            ("    #[cfg(test)]\n    fn a(\n        b: u8,\n    ) {\n    }\n", "\n\n\n\n\n"),
            ("#[cfg(test)]\nuse a::{\n    b,\n};\n", "\n\n\n\n"),
            ("#[cfg(not(test))]\n", "#[cfg(not(test))]\n"),
        ] {
            assert_eq!(without_tests(&format!("{item}c\n")), format!("{kept}c\n"), "{item}");
        }
    }

    #[test]
    fn files_of_tests_are_known_by_their_paths() {
        for path in [
            "crates/kit/src/tests/a.rs",
            "crates/kit/benches/a.rs",
            "crates/kit/src/tests.rs",
            "crates/web/src/load/tests_end.rs",
            "crates/export/src/fixture.rs",
            "crates/analysis/src/simulation/mod.rs",
            "crates/sys/src/hostile.rs",
        ] {
            assert!(is_test(path), "{path}");
        }
        assert!(!is_test("crates/lab/src/selftest/mod.rs"));
    }
}
