//! What the book shows of the recorded session is what scruple says of it.

use crate::support::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A block of output in a page stands behind a line of such a form:
/// `<!-- scruple report recorded/base: lines from "Account", 12 lines -->`. The command is run where
/// the recorded sessions are, and the block begins with the first line that holds the quoted words.
const MARK: &str = "<!-- scruple ";

const SESSIONS: [&str; 3] = ["base", "later", "threads"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Copies of the recorded sessions, so that these stay as they are.
fn recorded() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for session in SESSIONS {
        let copy = folder.path().join("recorded").join(session);
        std::fs::create_dir_all(&copy).unwrap();
        for file in ["manifest.json", "trials.ndjson"] {
            let from = root().join("recorded").join(session).join(file);
            std::fs::copy(from, copy.join(file)).unwrap();
        }
    }
    folder
}

/// What a command says into a pipe, on standard output. A gate may end with 1 or 3.
fn said_by(folder: &Path, command: &str) -> String {
    let mut words = Vec::new();
    for (index, part) in command.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace()),
            _ => words.push(part),
        }
    }
    let output = scruple().args(words).current_dir(folder).output().unwrap();
    assert_ne!(output.status.code(), Some(2), "{command}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn pages() -> Vec<(PathBuf, String)> {
    let mut folders = vec![root().join("docs/book")];
    let planning = root().join("docs/planning.md");
    let mut pages = vec![(planning.clone(), std::fs::read_to_string(planning).unwrap())];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                let text = std::fs::read_to_string(&path).unwrap();
                pages.push((path, text));
            }
        }
    }
    pages
}

/// The page with its blocks as they should be.
fn filled(page: &str, mut said: impl FnMut(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some(at) = rest.find(MARK) {
        let (before, from) = rest.split_at(at);
        let line = from.lines().next().unwrap();
        let (command, place) = line[MARK.len()..].split_once(": lines from \"").unwrap();
        let (begin, count) = place.split_once("\", ").unwrap();
        let count: usize = count.strip_suffix(" lines -->").unwrap().parse().unwrap();
        let all = said(command);
        let lines: Vec<&str> = all.lines().skip_while(|line| !line.contains(begin)).collect();
        assert!(lines.len() >= count, "{begin:?} is not what scruple {command} says");
        let old = from[line.len()..].strip_prefix("\n```text\n").unwrap();
        let end = if old.starts_with("```") { 0 } else { old.find("\n```").unwrap() + 1 };
        let block = lines[..count].join("\n");
        out.push_str(&format!("{before}{line}\n```text\n{block}\n"));
        rest = &old[end..];
    }
    out + rest
}

#[test]
fn docs_show_what_is_said_of_the_recorded_session() {
    let folder = recorded();
    let mut known = BTreeMap::new();
    let mut said = |command: &str| {
        let text = known.entry(command.to_string());
        text.or_insert_with(|| said_by(folder.path(), command)).clone()
    };
    let mut blocks = 0;
    for (path, text) in pages() {
        let right = filled(&text, &mut said);
        blocks += text.matches(MARK).count();
        if right != text && std::env::var_os("SCRUPLE_UPDATE").is_some() {
            std::fs::write(&path, &right).unwrap();
        } else {
            assert!(
                right == text,
                "{} is stale: SCRUPLE_UPDATE=1 cargo test -p lab docs\n{right}",
                path.display()
            );
        }
    }
    assert!(blocks > 3, "the book shows {blocks} blocks");
}

/// Every number with an interval in the book's own sentences is one that scruple says of the
/// recorded sessions, on the screen or in the page.
#[test]
fn docs_quote_only_numbers_of_the_recorded_session() {
    let folder = recorded();
    let mut all = said_by(folder.path(), "compare recorded/base recorded/later");
    for session in ["recorded/base", "recorded/threads"] {
        all.push_str(&said_by(folder.path(), &format!("report {session}")));
        let page = std::fs::read_to_string(folder.path().join(session).join("report.html"));
        let page = page.unwrap();
        let inner = |part| str::split_once(part, '>').map_or(part, |(_, words)| words);
        all.extend(page.split('<').map(inner));
    }
    let said = words(&all).replace('×', "");
    let mut seen = 0;
    for (path, text) in pages() {
        for quoted in intervals(&text) {
            assert!(
                said.contains(&quoted),
                "{}: {quoted} is of no recorded session",
                path.display()
            );
            seen += 1;
        }
    }
    assert!(seen > 15, "the book quotes {seen} numbers");
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What has the form `6.5 [5.9, 6.7]` in a page: the words of the number with its unit, and the
/// interval. Blocks of output are compared elsewhere.
fn intervals(page: &str) -> Vec<String> {
    let prose: String = page.split("```").step_by(2).collect();
    let prose = words(&prose.replace('`', ""));
    let mut found = Vec::new();
    for (open, _) in prose.match_indices(" [") {
        let Some(close) = prose[open..].find(']') else { continue };
        let interval = &prose[open..=open + close];
        let number = |word: &str| word.replace('−', "-").parse::<f64>().is_ok();
        let ends: Vec<&str> = interval[2..interval.len() - 1].split(", ").collect();
        if ends.len() != 2 || !ends.iter().all(|end| number(end)) {
            continue;
        }
        let mut before: Vec<&str> = prose[..open].rsplit(' ').take(2).collect();
        if before.first().is_some_and(|word| number(word)) {
            before.truncate(1);
        }
        before.reverse();
        found.push(format!("{}{interval}", before.join(" ")));
    }
    found
}

#[test]
fn numbers_and_blocks_are_found_in_pages() {
    let page = "is `6.5 [5.9,\n6.7]` times, [a link](x.md), 2 % [−6, 6], see [1] [a, b]\n```text\n\
        7 [1, 2]\n```\nand 128 µs [125, 129].";
    assert_eq!(intervals(page), ["6.5 [5.9, 6.7]", "2 % [−6, 6]", "128 µs [125, 129]"]);
    let mark = format!("{MARK}list 'a b': lines from \"two\", 2 lines -->");
    let said = |command: &str| {
        assert_eq!(command, "list 'a b'");
        "one\nnumber two\nthree\nfour\n".to_string()
    };
    let empty = format!("a\n{mark}\n```text\n```\nb\n");
    let right = format!("a\n{mark}\n```text\nnumber two\nthree\n```\nb\n");
    assert_eq!(filled(&empty, said), right);
    assert_eq!(filled(&right.replace("three", "3"), said), right);
}
