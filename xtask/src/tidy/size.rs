//! Functions that fit on a screen, files that fit in a head.

use super::lexer::code_only;
use super::{Fault, Tree};

/// The most lines of a function, from its `fn` to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;

/// The most lines of a file.
const FILE_LINES_MAX: usize = 600;

/// No file is longer than [`FILE_LINES_MAX`].
pub(super) fn files(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.rust() {
        let lines = file.text.lines().count();
        if lines > FILE_LINES_MAX {
            faults.push(file.fault(format!("{lines} lines, and {FILE_LINES_MAX} is the most")));
        }
    }
    faults
}

/// No function is longer than [`FUNCTION_LINES_MAX`].
pub(super) fn functions(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.rust() {
        let code = code_only(&file.text);
        let lines: Vec<&str> = code.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let Some(name) = function_name(line) else { continue };
            let length = function_lines(&lines[index..]);
            if length > FUNCTION_LINES_MAX {
                let what =
                    format!("fn {name} has {length} lines, and {FUNCTION_LINES_MAX} is the most");
                faults.push(file.fault_at(index, what));
            }
        }
    }
    faults
}

/// The name of the function that a line begins, if it begins one.
pub(super) fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    // A visibility such as `pub(crate)` or `pub(in path)`, and an ABI, whose literal is blank.
    let before = match before.trim_start().strip_prefix("pub(") {
        Some(scope) => scope.split_once(')')?.1,
        None => before,
    };
    let words = ["pub", "default", "const", "async", "safe", "unsafe", "extern"];
    let known = |word: &str| words.contains(&word.trim_end_matches('"')) || word == "\"";
    if !before.split_whitespace().all(known) {
        return None;
    }
    let name = after.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
    (!name.is_empty()).then_some(name)
}

/// The lines of the function that begins on the first line, its closing brace included; 0 if it
/// has no body. In formatted code the brace stands where the function began.
fn function_lines(lines: &[&str]) -> usize {
    let indent = indent(lines[0]);
    let mut open = false;
    for (index, line) in lines.iter().enumerate() {
        let content = line.trim();
        let outermost = self::indent(line) == indent;
        if !open && content.ends_with(';') {
            return 0;
        }
        if open && outermost && content.starts_with('}') {
            return index + 1;
        }
        if !open && content.ends_with('}') && content.contains('{') {
            return index + 1;
        }
        open |= content.ends_with('{') && outermost;
    }
    lines.len()
}

/// Returns the bytes of white space before a line.
pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::{files, function_lines, function_name, functions};

    fn long(header: &str, body: usize) -> String {
        format!("{header}\n{}}}\n", "    work();\n".repeat(body))
    }

    #[test]
    fn a_function_that_does_not_fit_on_a_screen_is_a_fault() {
        let text = format!("{}{}", long("fn fits() {", 68), long("pub(crate) fn long() {", 69));
        let faults = functions(&tree([("crates/kit/src/a.rs", &text)]));
        let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["crates/kit/src/a.rs:71: fn long has 71 lines, and 70 is the most"]);
    }

    #[test]
    fn the_end_of_a_function_is_found() {
        for (text, lines) in [
            ("fn a() {}", 1),
            ("fn a() -> u8 { 1 }", 1),
            ("fn a();", 0),
            ("fn a(\n    b: u8,\n) -> u8;\n}\n", 0),
            ("fn a(\n    b: u8,\n) -> u8 {\n    b\n}\nfn c() {}", 5),
            ("fn a<T>(b: T)\nwhere\n    T: Copy,\n{\n    b;\n}\n", 6),
            ("    fn a() {\n        if b {\n        }\n    }\n}\n", 4),
            ("fn a() {\n    let b = [1; 2];\n}\n", 3),
        ] {
            assert_eq!(function_lines(&text.lines().collect::<Vec<_>>()), lines, "{text}");
        }
    }

    #[test]
    fn a_brace_in_a_literal_or_a_comment_ends_nothing() {
        let text = format!(
            "fn a() {{\n    let text = r#\"\n}}\n\"#;\n/*\n}}\n*/\n{}}}\n",
            "    work();\n".repeat(70)
        );
        assert_eq!(functions(&tree([("a.rs", &text)])).len(), 1);
    }

    #[test]
    fn what_begins_a_function_is_told_from_what_mentions_one() {
        assert_eq!(function_name("    pub(in crate::a) async unsafe fn go(a: u8) {"), Some("go"));
        assert_eq!(function_name("unsafe extern \"  fn handler<T>("), Some("handler"));
        assert_eq!(function_name("    run: fn (u8) -> u8,"), None);
        assert_eq!(function_name("let a: fn() = b;"), None);
        assert_eq!(function_name("    call: fn name"), None);
    }

    #[test]
    fn a_file_that_does_not_fit_in_a_head_is_a_fault() {
        assert_eq!(files(&tree([("a.rs", &"\n".repeat(600))])), []);
        assert_eq!(files(&tree([("a.rs", &"\n".repeat(601))])).len(), 1);
        assert_eq!(files(&tree([("a.md", &"\n".repeat(601))])), []);
    }
}
