//! What program files are called in tables.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most bytes of a name.
const NAME_BYTES_MAX: usize = 60;

/// Returns a name for each file, all different: its own, with as many of the folders above it as it takes
/// to tell it from the others.
pub(super) fn of(paths: &[PathBuf]) -> Vec<String> {
    let most = paths.iter().map(|path| path.components().count()).max().unwrap_or(1);
    for depth in 1..=most {
        let names: Vec<String> = paths.iter().map(|path| with_folders(path, depth)).collect();
        if all_differ(&names) {
            return names;
        }
    }
    // They differ in characters that a name has not, or far away.
    (1..=paths.len()).map(|number| format!("program-{number}")).collect()
}

fn all_differ(names: &[String]) -> bool {
    let known: BTreeSet<&String> = names.iter().collect();
    known.len() == names.len()
}

/// Returns the last `depth` parts of a path in one word of letters, digits, `.`, `_`, `+` and `-`.
fn with_folders(path: &Path, depth: usize) -> String {
    let parts: Vec<String> =
        path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let last = &parts[parts.len().saturating_sub(depth)..];
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "._+-".contains(c) => c,
        _ => '_',
    };
    let name: String = last.join("-").chars().map(plain).collect();
    let name = name.trim_start_matches(['.', '-', '_']);
    // The end of a path says more than its start.
    let name = &name[name.len().saturating_sub(NAME_BYTES_MAX)..];
    let name = name.trim_start_matches(['.', '-']);
    if name.is_empty() { "program".into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::of;
    use std::path::PathBuf;

    fn names(paths: &[&str]) -> Vec<String> {
        of(&paths.iter().map(PathBuf::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_name_is_the_files_own_where_that_tells_it() {
        assert_eq!(names(&["/a/one.elf", "/b/two.elf"]), ["one.elf", "two.elf"]);
        assert_eq!(names(&["/o2/main", "/o3/main"]), ["o2-main", "o3-main"]);
        assert_eq!(names(&["/x/o2/main", "/y/o2/main"]), ["x-o2-main", "y-o2-main"]);
    }

    #[test]
    fn whatever_they_are_called_names_differ_and_are_words() {
        for paths in [
            &["/a b", "/a\tb", "/a_b"][..],
            &["/é", "/ü"],
            &["/..."],
            &["/a-1", "/a", "/a/"],
            &["/x y-1", "/x y", "/x\ny"],
        ] {
            let names = names(paths);
            let known: std::collections::BTreeSet<&String> = names.iter().collect();
            assert_eq!(known.len(), paths.len(), "{names:?}");
            for name in &names {
                let plain = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
                assert!(!name.is_empty() && name.chars().all(plain), "{name}");
                assert!(!name.starts_with(['.', '-']), "{name}");
            }
        }
        assert!(names(&[&"/x".repeat(400)])[0].len() <= 60);
    }
}
