use super::{Documents, LIST, Tally, hold, list, play, promises};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A tree with a README, and a scruple that is a shell script.
fn tree(readme: &str, script: &str) -> (tempfile::TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("docs")).unwrap();
    std::fs::write(root.path().join("README.md"), readme).unwrap();
    let binary = root.path().join("scruple.sh");
    std::fs::write(&binary, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
    (root, binary)
}

/// Tries a list, and returns the number of promises, of faults and of what was skipped.
fn try_all(root: &Path, binary: &Path, text: &str) -> (usize, usize, usize) {
    let documents = Documents::read(root).unwrap();
    let stage = play::Stage::new(root, &root.join("stage"), binary).unwrap();
    let mut tally = Tally::default();
    for promise in &list::read(text).unwrap() {
        hold(promise, &documents, &stage, &mut tally).unwrap();
    }
    (tally.tried, tally.faults, tally.skipped)
}

const README: &str = "# A\n\n```sh\nscruple run create     # one\n```\n\n`scruple list`: 1.5×\n";

#[test]
fn promises_hold_or_do_not() {
    let (root, binary) = tree(README, "echo '{\"a\": 1}' | tee x; echo 5 workers, 1.5× >&2");
    let run = "said: README.md\nsays: scruple run create\n";
    let list = "said: README.md\nsays: scruple list\n";
    for (text, faults) in [
        (
            format!(
                "{run}run: scruple run create\nsees: 5 workers,\nmatches: ^5 \\w+\njson: /a\nfile: x"
            ),
            0,
        ),
        (format!("{list}quotes: [0-9.]+×"), 0),
        (format!("{run}sees: 6 workers"), 1),
        (format!("{run}matches: ^workers\njson: /b\nfile: y"), 3),
        (format!("{run}exit: 1\nsees: 5"), 1),
        (format!("{run}run: scruple run create; exit 7\nexit: 7 8\nsees: 5"), 0),
        (format!("{run}run: scruple run; echo thread panicked at a.rs\nsees: thread"), 1),
        ("said: README.md\nsays: scruple run switch\nrun: scruple run\nsees: x".into(), 2),
        (format!("{list}quotes: [0-9]+ blocks"), 1),
        ("run: false".into(), 1),
    ] {
        assert_eq!(try_all(root.path(), &binary, &text).1, faults, "{text}");
    }
    let skipped = format!("{run}needs: sh astrolabe\nsees: never");
    assert_eq!(try_all(root.path(), &binary, &skipped), (0, 0, 1));
    let changed = README.replace("1.5×", "1.6×");
    std::fs::write(root.path().join("README.md"), changed).unwrap();
    assert_eq!(try_all(root.path(), &binary, &format!("{list}quotes: [0-9.]+×")).1, 1);
}

#[test]
fn a_command_that_does_not_parse_is_a_fault() {
    let help = "case \"$*\" in '--help'|'run --help') echo '  --json';; *) exit 2;; esac";
    let readme = "```sh\nscruple run --json\nscruple run --jsn\nscruple rn\n```\n`scruple x`\n";
    let (root, binary) = tree(readme, help);
    let faults = Documents::read(root.path()).unwrap().faults(&binary);
    let expected = [
        "README.md:3: scruple run --jsn: scruple run has no option --jsn",
        "README.md:4: scruple rn: scruple has no subcommand rn",
    ];
    assert_eq!(faults, expected);
}

#[test]
fn the_list_of_the_tree_names_commands_that_the_documents_show() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let promises = list::read(&std::fs::read_to_string(root.join(LIST)).unwrap()).unwrap();
    let documents = Documents::read(root).unwrap();
    for promise in &promises {
        for path in &promise.said {
            let shown = documents.find(path, &promise.says).is_some();
            assert!(shown, "{LIST}:{}: {path} shows no `{}`", promise.line, promise.says);
        }
    }
    let tried = promises.iter().filter(|promise| !promise.is_preparation()).count();
    assert!(tried >= 60, "{tried} promises");
}

#[test]
fn a_binary_that_is_not_there_is_named() {
    let error = promises(Path::new("/nowhere"), Some(Path::new("/nowhere/scruple")), None);
    assert_eq!(error.unwrap_err().to_string(), "there is no /nowhere/scruple");
}
