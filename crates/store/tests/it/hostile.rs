//! A folder that somebody else has written, or a disk has damaged: it is read or refused in words,
//! and reading changes nothing.

use crate::damage::damaged;
use crate::scale;
use crate::support::{manifest, record};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use store::{Error, Writer, open};
use tempfile::TempDir;

/// The files of a whole session.
fn whole() -> (Vec<u8>, Vec<u8>) {
    let dir = TempDir::new().unwrap();
    let mut writer = Writer::create(dir.path(), &manifest()).unwrap();
    (0..3).for_each(|trial| writer.append(&record(trial)).unwrap());
    drop(writer);
    let read = |name| fs::read(dir.path().join(name)).unwrap();
    (read("manifest.json"), read("trials.ndjson"))
}

fn folder(manifest: &[u8], trials: &[u8]) -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("manifest.json"), manifest).unwrap();
    fs::write(dir.path().join("trials.ndjson"), trials).unwrap();
    dir
}

/// What must be true of any folder whatever.
fn examine(dir: &Path, trials: &[u8]) {
    let read = || fs::read(dir.join("trials.ndjson")).unwrap();
    let stored = open(dir);
    assert_eq!(read(), trials, "reading changes nothing");
    let lines = trials.iter().filter(|byte| **byte == b'\n').count();
    match &stored {
        Ok(stored) => {
            let told = stored.records.len() as u64 + stored.repeated + stored.damage.lines;
            assert_eq!(
                told, lines as u64,
                "every whole line is a record, repeats one, or is named"
            );
            assert!(stored.damage.lines <= stored.records.len() as u64);
            let rest = trials.rsplit(|byte| *byte == b'\n').next().unwrap_or_default().len();
            assert_eq!(stored.torn.map_or(0, |torn| torn.bytes), rest as u64);
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains(&*dir.to_string_lossy()) && text.len() < 2000, "{text}");
            if let Error::Broken { path, line, .. } = error {
                let broken = fs::read(path).unwrap();
                let lines = broken.iter().filter(|byte| **byte == b'\n').count() as u64;
                assert!(*line <= 1 + lines, "{text}");
            }
        }
    }
    // Going on with it fails where reading does, and then changes nothing either.
    match Writer::resume(dir) {
        Ok((writer, resumed)) => {
            drop(writer);
            assert_eq!(resumed, stored.unwrap());
            assert_eq!(read(), trials[..read().len()]);
            assert_eq!(open(dir).unwrap().records, resumed.records);
        }
        Err(_) => assert!(stored.is_err() && read() == trials),
    }
}

proptest! {
    #![proptest_config(scale::at_scale(128))]

    #[test]
    fn damaged_trials_are_read_or_refused(trials in damaged(vec![whole_trials()])) {
        let dir = folder(&whole_manifest(), &trials);
        examine(dir.path(), &trials);
    }

    #[test]
    fn a_damaged_manifest_is_read_or_refused(manifest in damaged(vec![whole_manifest()])) {
        let dir = folder(&manifest, b"");
        examine(dir.path(), b"");
    }
}

fn whole_manifest() -> Vec<u8> {
    whole().0
}

fn whole_trials() -> Vec<u8> {
    whole().1
}

#[test]
fn a_session_behind_itself_counts_once_and_lines_of_another_are_named() {
    let (manifest, trials) = whole();
    let both = folder(&manifest, &trials.repeat(2));
    let stored = open(both.path()).unwrap();
    assert_eq!((stored.records.len(), stored.repeated), (3, 3));
    examine(both.path(), &trials.repeat(2));
    // Another session of the same plan and seed differs in when, at the least.
    let text = String::from_utf8(trials.clone()).unwrap();
    let other = text.replacen("\"total_ns\":", "\"total_ns\":1", 2).into_bytes();
    assert_ne!(other, trials);
    let merged = [trials.clone(), other].concat();
    let two = folder(&manifest, &merged);
    // Two lines of the other one differ, and one repeats.
    let stored = open(two.path()).unwrap();
    let (4, what) = &stored.damage.first[0] else { panic!("{:?}", stored.damage) };
    assert_eq!((stored.records.len(), stored.repeated, stored.damage.lines), (3, 1, 2));
    assert!(what.contains("contradicts line 1 on the same trial (create, block 0, "), "{what}");
    assert!(what.contains("keep the lines of one"), "{what}");
    examine(two.path(), &merged);
    let manifests = folder(&manifest.repeat(2), &trials);
    assert!(matches!(open(manifests.path()), Err(Error::Broken { .. })));
    examine(manifests.path(), &trials);
}

#[test]
fn deep_nesting_is_refused_in_words() {
    let (manifest, _) = whole();
    for opening in ["[", "{\"trial\":"] {
        let deep = opening.repeat(100_000);
        let trials = folder(&manifest, format!("{deep}\n").as_bytes());
        assert!(matches!(open(trials.path()), Err(Error::Broken { line: 1, .. })));
        let manifests = folder(deep.as_bytes(), b"");
        assert!(matches!(open(manifests.path()), Err(Error::Broken { .. })));
    }
}
