//! `cargo xtask shape`: numbers of the whole house that may only fall, each with a limit in a file.

mod circles;
mod items;
mod limits;
mod modules;
mod sentences;

use super::product::{self, Source};
use super::{Fault, Tree};
use anyhow::{Context, Result, anyhow};
use limits::{Limit, Standing};
use regex::Regex;
use std::collections::BTreeMap;
use std::path::Path;

/// A number of the house's shape.
struct Number {
    name: String,
    value: f64,
    /// What is counted.
    rule: String,
    /// Where each of it lies; empty for lines.
    places: Vec<String>,
    /// Whether its limit is a full hundred, so that moved code passes none.
    in_hundreds: bool,
}

/// Prints all numbers with their limits. `write` lowers the limits to the numbers.
///
/// # Errors
/// If the tree cannot be read, or the file of limits cannot be read or written.
pub(crate) fn shape(root: &Path, write: bool) -> Result<()> {
    let tree = Tree::read(root)?;
    let numbers = numbers(&tree);
    let mut text = tree.file(limits::FILE).map_or(String::new(), |file| file.text.clone());
    if write {
        let read = limits::read(&text).map_err(|fault| anyhow!("{fault}"))?;
        text = limits::lowered(&text, &read, &numbers);
        let path = root.join(limits::FILE);
        std::fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let limits = limits::read(&text).map_err(|fault| anyhow!("{fault}"))?;
    println!("number  limit");
    for number in &numbers {
        println!("{}", row(number, &limits));
    }
    Ok(())
}

/// Prints the places that one number counts.
///
/// # Errors
/// If the tree cannot be read, or nothing has this name.
pub(crate) fn places(root: &Path, name: &str) -> Result<()> {
    let numbers = numbers(&Tree::read(root)?);
    let number = numbers.iter().find(|number| number.name == name);
    let number = number.with_context(|| format!("no number is called \"{name}\""))?;
    for place in &number.places {
        println!("{place}");
    }
    Ok(())
}

/// Returns the line of a number in the table.
fn row(number: &Number, limits: &[Limit<'_>]) -> String {
    let limit = limits.iter().find(|limit| limit.name == number.name);
    let most = limit.map_or("none".into(), |limit| limit.most.to_string());
    let remark = match limits::standing(number, limits) {
        Standing::Held => "",
        Standing::Below | Standing::FarBelow => " [fell: lower the limit with --write]",
        Standing::Passed => " [above its limit]",
        Standing::Unlimited => " [no limit: add it with --write]",
    };
    let Number { name, value, rule, .. } = number;
    let rule = if rule.is_empty() { String::new() } else { format!(" ({rule})") };
    format!("{value:>6} {most:>6}  {name}{rule}{remark}")
}

/// No number of the shape is above its limit, and the file of limits has one for each of them.
pub(super) fn held(tree: &Tree) -> Vec<Fault> {
    let text = tree.file(limits::FILE).map_or("", |file| &file.text);
    let limits = match limits::read(text) {
        Ok(limits) => limits,
        Err(fault) => return vec![fault],
    };
    let numbers = numbers(tree);
    let mut faults: Vec<Fault> =
        numbers.iter().filter_map(|number| limits::fault(number, &limits)).collect();
    for limit in &limits {
        if !numbers.iter().any(|number| number.name == limit.name) {
            let what = format!("{}: nothing counts it; remove the line", limit.name);
            faults.push(Fault { place: limits::FILE.into(), what });
        }
    }
    faults
}

/// Counts everything, in the order of the file of limits.
fn numbers(tree: &Tree) -> Vec<Number> {
    let sources = product::sources(tree);
    let lines: usize = sources.iter().map(Source::lines).sum();
    let mut numbers = circles_of(&sources);
    numbers.extend([
        closures_of(&sources, lines),
        counted(
            "English below the document",
            "literals of 5 words or more in analysis, model, web and subject",
            sentences::below_the_document(&sources),
        ),
        counted(
            "public formats",
            "constants NAME_FORMAT, the versions of JSON documents",
            items::formats(&sources),
        ),
        counted("public items", "`pub` without a scope", items::public_items(&sources)),
        counted("constants", "", items::constants(&sources)),
        counted(
            "options of run",
            "its own; --color and --help are not",
            items::options_of_run(tree),
        ),
        counted("options", "of all commands", items::options(tree)),
        counted(
            "sentences in tests",
            "literals of 5 words or more in tests, benchmarks and fixtures",
            sentences::in_tests(&sources),
        ),
        docs_of(&sources),
        lines_of("lines", "of the product: no comments, blanks or tests", lines),
    ]);
    let mut rooms = BTreeMap::new();
    for source in sources.iter().filter(|source| source.lines() > 0) {
        *rooms.entry(source.room()).or_insert(0) += source.lines();
    }
    numbers.extend(
        rooms.iter().map(|(room, lines)| lines_of(&format!("lines of {room}"), "", *lines)),
    );
    numbers
}

/// Returns a number that counts places.
fn counted(name: &str, rule: &str, places: Vec<String>) -> Number {
    let value = places.len() as f64;
    Number { name: name.into(), value, rule: rule.into(), places, in_hundreds: false }
}

fn circles_of(sources: &[Source<'_>]) -> Vec<Number> {
    let circles = circles::circles(sources);
    let largest = circles.iter().max_by_key(|circle| circle.len()).cloned().unwrap_or_default();
    let circles = circles.iter().map(|circle| circle.join(" ")).collect();
    vec![
        counted("import circles", "files of a crate that name each other in a loop", circles),
        counted("files of the largest circle", "", largest),
    ]
}

fn closures_of(sources: &[Source<'_>], lines: usize) -> Number {
    let closures = items::closures(sources);
    let count = closures.len();
    let tenths = (1e4 * count as f64 / lines.max(1) as f64).round();
    let rule = format!("per 1,000 product lines; {count} in all");
    Number { value: tenths / 10.0, ..counted("closures bound by let", &rule, closures) }
}

fn docs_of(sources: &[Source<'_>]) -> Number {
    let docs = sentences::function_docs(sources);
    let with_verb = docs.count - docs.without_verb.len();
    let percent = (100.0 * with_verb as f64 / docs.count.max(1) as f64).round();
    let rule = format!("{percent} % of {} do", docs.count);
    counted("function docs that begin with no verb", &rule, docs.without_verb)
}

fn lines_of(name: &str, rule: &str, lines: usize) -> Number {
    Number { value: lines as f64, in_hundreds: true, ..counted(name, rule, Vec::new()) }
}

/// Returns a regular expression of this folder.
#[expect(clippy::expect_used, reason = "the expressions are constants, and the tests compile each")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a regular expression")
}

#[cfg(test)]
mod tests {
    use super::{held, limits, numbers};
    use crate::tidy::Fault;
    use crate::tidy::tests::tree;

    const A: &str = "crates/analysis/src/a.rs";
    const B: &str = "crates/analysis/src/b.rs";
    const TEST: &str = "crates/analysis/tests/it.rs";
    const COMMANDS: &str = "docs/commands.md";

    /// A small house: each file, and its text.
    const FILES: [(&str, &str); 4] = [
        (A, "use crate::b::B;\n"),
        (B, "\n"),
        (TEST, "\n"),
        (COMMANDS, "## For every command\n\n## run\n\n"),
    ];

    /// Returns the numbers that move, and by how much, if a file has more text.
    fn moved(path: &str, more: &str) -> Vec<String> {
        let before = numbers(&tree(FILES));
        let files = FILES.map(|(file, text)| match file == path {
            true => (file, format!("{text}{more}")),
            false => (file, text.to_string()),
        });
        let after = numbers(&tree(files.each_ref().map(|(path, text)| (*path, text.as_str()))));
        let pairs =
            before.iter().zip(&after).map(|(before, after)| (after, after.value - before.value));
        let moved = pairs.filter(|(_, change)| *change != 0.0);
        moved.map(|(number, change)| format!("{} {change:+}", number.name)).collect()
    }

    #[test]
    fn each_number_is_moved_by_what_it_counts() {
        for (path, more, expected) in [
            (B, "use crate::a::A;\n", vec!["import circles +1", "files of the largest circle +2"]),
            (B, "const C: u8 = 1;\n", vec!["constants +1"]),
            (B, "pub struct C {\n    pub d: u8,\n}\n", vec!["public items +1"]),
            (B, "f(\"one {two} 3 four five\");\n", vec!["English below the document +1"]),
            (B, "#[error(\n    \"one two three four five\"\n)]\n", vec![]),
            (
                B,
                "/// The b.\n#[inline]\nfn b() {}\n",
                vec!["function docs that begin with no verb +1"],
            ),
            (B, "/// Returns b.\nfn b() {}\n", vec![]),
            (B, "#[cfg(test)]\nconst C: &str = \"a b c d e\";\n", vec!["sentences in tests +1"]),
            (TEST, "f(\"a b c d e\", \"a b c d\");\n", vec!["sentences in tests +1"]),
            (COMMANDS, "| `-b`, `--bee` | C |\n", vec!["options of run +1", "options +1"]),
            (COMMANDS, "## plan\n| `--bee` | C |\n| `C` | D |\n", vec!["options +1"]),
        ] {
            let mut moved = moved(path, more);
            moved.retain(|number| !number.starts_with("lines"));
            assert_eq!(moved, expected, "{more}");
        }
        assert_eq!(moved(B, "// Why.\n\nfn b() {}\n"), ["lines +1", "lines of analysis +1"]);
        let format = moved(B, "pub const C_FORMAT: u8 = 1;\n");
        assert_eq!(format[..3], ["public formats +1", "public items +1", "constants +1"]);
        assert_eq!(moved(B, "let c = move |d| d;\n")[0], "closures bound by let +500");
    }

    #[test]
    fn every_number_has_a_limit_and_every_limit_a_number() {
        let fitting = limits::lowered("", &[], &numbers(&tree(FILES)));
        let [a, b, test, commands] = FILES;
        let faults = |text: &str| -> Vec<Fault> {
            held(&tree([a, b, test, commands, (limits::FILE, text)]))
        };
        assert_eq!(faults(&fitting), []);
        for (text, expected) in [
            (fitting.replace("100 lines\n", "0 lines\n"), "lines: 1, and 0 is the most"),
            (fitting.replace("100 lines\n", "200 lines\n"), "lines: 1, and the limit is 200"),
            (fitting.replace("100 lines\n", ""), "lines has no limit"),
            (format!("{fitting}3 trees\n"), "trees: nothing counts it"),
            (format!("{fitting}trees\n"), "write a number, and what it limits"),
        ] {
            let faults = faults(&text);
            assert!(faults.len() == 1 && faults[0].what.starts_with(expected), "{faults:?}");
        }
    }
}
