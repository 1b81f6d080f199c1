use super::{KEPT, SCRATCH, SESSIONS, record, without_neighbours};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A root with recorded sessions of one trial each.
fn root() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for name in SESSIONS {
        let folder = root.path().join("recorded").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("manifest.json"), manifest(name, 1, "[]")).unwrap();
        std::fs::write(folder.join("trials.ndjson"), "{\"experiment\":\"clock\"}\n").unwrap();
    }
    root
}

fn manifest(name: &str, version: u32, neighbours: &str) -> String {
    format!(
        "{{\n  \"command\": [\n    \"scruple\", \"run\", \"-r\", \"6\", \"-o\", \"{name}\"\n  ],\n  \
         \"environment\": {{\n    \"kernel\": \"6.18\",\n    \"neighbours\": {neighbours}\n  }},\n  \
         \"designs\": [\n    {{ \"id\": \"clock\", \"version\": {version} }}\n  ]\n}}\n"
    )
}

/// What a scruple of ours would do: a shell that writes a session, then `ending`.
fn binary(root: &Path, ending: &str) -> PathBuf {
    let path = root.join("scruple.sh");
    let base = manifest("$5", 2, "[\n      \"a, 3 %\",\n      \"b\"\n    ]").replace('"', "\\\"");
    let script = format!(
        "#!/bin/sh\nset -e\n[ \"$1 $2 $3 $4\" = 'run -r 6 -o' ]\nmkdir \"$5\"\n\
         printf '%s' \"{base}\" > \"$5/manifest.json\"\n\
         echo '{{\"complete\":true}}' > \"$5/summary.json\"\n\
         echo '{{\"experiment\":\"clock\",\"outcome\":{{\"kind\":\"completed\"}}}}' \
         > \"$5/trials.ndjson\"\necho page > \"$5/report.html\"\n{ending}\n"
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// The files under a folder with what they hold.
fn all(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(all(&path));
        } else {
            files.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
        }
    }
    files.sort();
    files
}

#[test]
fn the_sessions_are_replaced_by_what_cannot_be_computed_again() {
    let root = root();
    let binary = binary(root.path(), "");
    record(root.path(), None, Some(&binary)).unwrap();
    let files = all(&root.path().join("recorded"));
    assert_eq!(files.len(), SESSIONS.len() * KEPT.len(), "{files:?}");
    for name in SESSIONS {
        let folder = root.path().join("recorded").join(name);
        let found = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
        assert_eq!(found, manifest(name, 2, "[]"));
    }
}

#[test]
fn a_folder_of_its_own_leaves_the_recorded_ones_alone() {
    let root = root();
    let before = all(&root.path().join("recorded"));
    let into = root.path().join("elsewhere");
    record(root.path(), Some(&into), Some(&binary(root.path(), ""))).unwrap();
    assert_eq!(all(&root.path().join("recorded")), before);
    assert_eq!(all(&into).len(), SESSIONS.len() * KEPT.len());
}

#[test]
fn a_session_that_is_not_whole_replaces_nothing() {
    for (ending, why) in [
        ("exit 3", "did not end well"),
        ("[ $5 = base ] || exit 2", "did not end well"),
        ("echo '{\"complete\":false}' > $5/summary.json", "not complete"),
        (": > $5/trials.ndjson", "clock has no trial"),
        ("printf '{\"exper' >> $5/trials.ndjson", "is torn"),
        ("rm $5/manifest.json", "cannot read"),
    ] {
        let root = root();
        let before = all(&root.path().join("recorded"));
        let error = record(root.path(), None, Some(&binary(root.path(), ending))).unwrap_err();
        assert!(format!("{error:#}").contains(why), "{ending}: {error:#}");
        assert_eq!(all(&root.path().join("recorded")), before, "{ending}");
        assert!(!root.path().join("recorded").join(SCRATCH).exists(), "{ending}");
    }
}

#[test]
fn neighbours_go_and_nothing_else() {
    for list in ["[]", "[\n      \"one\"\n    ]", "[\n      \"]\\n    ]\"\n    ]"] {
        assert_eq!(
            without_neighbours(&manifest("base", 1, list)).unwrap(),
            manifest("base", 1, "[]")
        );
    }
    assert!(without_neighbours("{}").is_err());
    // A layout that is not ours is refused, not guessed at.
    assert!(without_neighbours("{\"environment\":{\"neighbours\":[\"a\"]}}").is_err());
}
