//! Words that have no place in the sources.

use super::lexer::code_only;
use super::product::without_tests;
use super::{Fault, SourceFile, Tree};

/// Rooms that may print.
const PRINTING_ROOMS: [&str; 2] = ["crates/lab/", "xtask/"];

const PRINT_MACROS: [&str; 4] = ["println!", "eprintln!", "print!", "eprint!"];

/// Marks of unfinished work. In pieces, so that this file does not hold them.
fn unfinished_marks() -> [String; 6] {
    [("TO", "DO"), ("FIX", "ME"), ("X", "XX"), ("to", "do!"), ("unimple", "mented!"), ("db", "g!")]
        .map(|(start, end)| format!("{start}{end}"))
}

/// Folders of the machines on which this was written. In pieces, for the same reason.
fn developer_folders() -> [String; 3] {
    ["root", "home", "work"].map(|name| format!("/{name}/"))
}

/// No mark of unfinished work.
pub(super) fn unfinished(tree: &Tree) -> Vec<Fault> {
    let endings = [".rs", ".toml", ".sh", ".md", ".ci/run"];
    let written = tree.files.iter().filter(|file| endings.iter().any(|e| file.path.ends_with(e)));
    written.flat_map(|file| mentions(file, &file.text, &unfinished_marks(), "finish it")).collect()
}

/// No test is switched off and no lint is silenced without a reason.
pub(super) fn attributes(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.rust() {
        for (index, line) in code_only(&file.text).lines().enumerate() {
            let attribute = line.contains("#[") || line.contains("#![");
            if attribute && line.contains("[ignore") {
                faults.push(file.fault_at(index, "a test that does not run proves nothing"));
            }
            if attribute && (line.contains("[allow(") || line.contains(" allow(")) {
                faults.push(file.fault_at(index, "write #[expect(lint, reason = \"…\")]"));
            }
        }
    }
    faults
}

/// Only the rooms that talk to people print.
pub(super) fn printing(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.rust().filter(|file| !may_print(&file.path)) {
        let code = without_tests(&code_only(&file.text));
        let macros = PRINT_MACROS.map(String::from);
        faults.extend(mentions(file, &code, &macros, "only lab prints; hand the text up"));
    }
    faults
}

fn may_print(path: &str) -> bool {
    PRINTING_ROOMS.iter().any(|room| path.starts_with(room))
        || path.contains("/tests/")
        || path.contains("/benches/")
        || path.ends_with("/tests.rs")
        || path.ends_with("/build.rs")
}

/// No path that exists on a developer's machine only.
pub(super) fn developer_paths(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in &tree.files {
        faults.extend(mentions(file, &file.text, &developer_folders(), "not on every machine"));
    }
    faults
}

/// Where the words stand in a text by themselves, not inside a longer word or path.
fn mentions(file: &SourceFile, text: &str, words: &[String], remedy: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for word in words {
            if line.match_indices(word.as_str()).any(|(at, _)| stands_alone(line, at, word)) {
                faults.push(file.fault_at(index, format!("{word}: {remedy}")));
            }
        }
    }
    faults
}

fn stands_alone(line: &str, at: usize, word: &str) -> bool {
    let within = |c: char| c.is_alphanumeric() || c == '_';
    let path = word.starts_with('/');
    let before = line[..at].chars().next_back();
    let after = line[at + word.len()..].chars().next();
    let joined = |c: char| within(c) || (path && "./~-}*)".contains(c));
    !before.is_some_and(joined) && (!word.ends_with(within) || !after.is_some_and(within))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::{attributes, developer_folders, developer_paths};
    use super::{printing, unfinished, unfinished_marks};

    #[test]
    fn unfinished_work_is_a_fault_wherever_people_read() {
        for mark in unfinished_marks() {
            let text = format!("a\n// {mark} b\n");
            for path in ["crates/kit/src/a.rs", "Cargo.toml", "a.sh", "docs/a.md", ".ci/run"] {
                let faults = unfinished(&tree([(path, &text)]));
                assert_eq!(places(&faults), [format!("{path}:2")], "{mark}");
            }
            let inside = format!("a{mark} b\n");
            assert_eq!(unfinished(&tree([("a.rs", &inside)])), []);
        }
        assert_eq!(unfinished(&tree([("a.sh", &format!("mktemp a.{}", "X".repeat(6)))])), []);
    }

    #[test]
    fn silenced_lints_and_tests_are_faults() {
        for line in [
            "#[allow(dead_code)]",
            "#![allow(unused)]",
            "#[cfg_attr(test, allow(unused))]",
            "    #[ignore]",
            "#[ignore = \"slow\"]",
        ] {
            let faults = attributes(&tree([("a.rs", &format!("fn a() {{}}\n{line}\n"))]));
            assert_eq!(places(&faults), ["a.rs:2"], "{line}");
        }
        let fine =
            "#[expect(dead_code, reason = \"#[allow(x)]\")]\n// #[ignore]\nlet a = allow(b);";
        assert_eq!(attributes(&tree([("a.rs", fine)])), []);
    }

    #[test]
    fn only_lab_and_xtask_print() {
        let text = "fn a() {\n    eprintln!();\n    std::print!(\"\");\n}\n";
        assert_eq!(
            places(&printing(&tree([("crates/kit/src/a.rs", text)]))),
            ["crates/kit/src/a.rs:2", "crates/kit/src/a.rs:3"]
        );
        let fine = [
            "crates/lab/src/a.rs",
            "xtask/src/a.rs",
            "crates/kit/tests/a.rs",
            "crates/kit/benches/a.rs",
        ];
        for path in fine {
            assert_eq!(printing(&tree([(path, text)])), [], "{path}");
        }
        let fine = "// println!\nconst A: &str = \"println!\";\nmacro_rules! pretty_print { () => {} }\n\
            #[cfg(test)]\nuse a::{\n    b,\n};\n#[cfg(test)]\nmod tests {\n    fn a() {\n        println!();\n    }\n}\n";
        assert_eq!(printing(&tree([("crates/kit/src/a.rs", fine)])), []);
        let after = format!("{fine}fn b() {{\n    println!();\n}}\n");
        assert_eq!(printing(&tree([("crates/kit/src/a.rs", &after)])).len(), 1);
    }

    #[test]
    fn paths_of_one_machine_are_faults() {
        for folder in developer_folders() {
            let faults = developer_paths(&tree([("docs/a.md", &format!("see `{folder}main`\n"))]));
            assert_eq!(places(&faults), ["docs/a.md:1"]);
            let inside = format!("src{folder}a ../a{folder}b\n");
            assert_eq!(developer_paths(&tree([("docs/a.md", &inside)])), []);
        }
    }
}
