//! What may happen to a folder: it is in use, full, read-only, full of links.

use crate::support::{manifest, record};
use model::Manifest;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use store::{Error, Place, Writer, open};
use tempfile::TempDir;

/// Every path below a folder, links not followed.
fn tree(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(tree(&entry.path()));
        }
        found.push(entry.path());
    }
    found.sort();
    found
}

fn summary() -> model::Summary {
    model::Summary {
        format: model::SUMMARY_FORMAT,
        scruple: "0.1.0".into(),
        session: "s".into(),
        complete: true,
        trust: model::Trust::default(),
        harness: model::Harness::default(),
        meter: model::Meter::default(),
        experiments: Vec::new(),
    }
}

#[test]
fn a_new_session_needs_a_new_or_empty_folder() {
    let top = TempDir::new().unwrap();
    let dir = top.path().join("deep/down");
    drop(Writer::create(&dir, &manifest()).unwrap());
    assert!(matches!(Writer::create(&dir, &manifest()), Err(Error::NotEmpty { .. })));

    // A file called lock that is not ours stays.
    let other = top.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("lock"), "mine").unwrap();
    assert!(matches!(Writer::create(&other, &manifest()), Err(Error::NotEmpty { .. })));
    assert_eq!(fs::read_to_string(other.join("lock")).unwrap(), "mine");

    let file = top.path().join("file");
    fs::write(&file, "").unwrap();
    let text = Writer::create(&file, &manifest()).unwrap_err().to_string();
    assert!(text.contains("cannot create") && text.contains("file"), "{text}");
}

#[test]
fn a_session_has_one_writer_at_a_time() {
    let top = TempDir::new().unwrap();
    let dir = top.path().join("s");
    let mut first = Writer::create(&dir, &manifest()).unwrap();
    let text = Writer::resume(&dir).unwrap_err().to_string();
    assert!(text.contains("is being written by another scruple"), "{text}");
    first.append(&record(0)).unwrap();
    assert_eq!(open(&dir).unwrap().records, [record(0)], "reading needs no lock");
    drop(first);
    assert!(!dir.join("lock").exists());

    // What a killed process leaves is an unlocked file.
    fs::write(dir.join("lock"), "").unwrap();
    let (second, _) = Writer::resume(&dir).unwrap();
    assert!(matches!(Writer::resume(&dir), Err(Error::Busy { .. })));
    drop(second);
    assert!(!dir.join("lock").exists());
}

#[test]
fn writers_that_come_and_go_never_overlap() {
    let top = TempDir::new().unwrap();
    let dir = top.path().join("s");
    drop(Writer::create(&dir, &manifest()).unwrap());
    let inside = std::sync::atomic::AtomicU32::new(0);
    let held = std::sync::atomic::AtomicU32::new(0);
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2000 {
                    if let Ok((writer, _)) = Writer::resume(&dir) {
                        assert_eq!(inside.fetch_add(1, order), 0);
                        held.fetch_add(1, order);
                        // Long enough for another to try, if it could come in.
                        std::thread::yield_now();
                        inside.fetch_sub(1, order);
                        drop(writer);
                    }
                }
            });
        }
    });
    assert!(held.load(order) > 0);
    assert_eq!(tree(&dir), [dir.join("manifest.json"), dir.join("trials.ndjson")]);
}

/// A session with one trial, of which then something is done with the folder; returns what the writer
/// says of the next trial and where the trials are. The folder of the first is `top/s`.
fn displaced(then: impl Fn(&Path)) -> (TempDir, String, Place) {
    let top = TempDir::new().unwrap();
    let dir = top.path().join("s");
    let mut writer = Writer::create(&dir, &manifest()).unwrap();
    writer.append(&record(0)).unwrap();
    then(top.path());
    let before = tree(top.path());
    let error = writer.append(&record(1)).unwrap_err();
    let Error::Displaced { place, .. } = &error else { panic!("{error}") };
    let (place, text) = (place.clone(), error.to_string());
    assert!(writer.write_manifest(&manifest()).is_err());
    assert_eq!(tree(top.path()), before, "something was written");
    (top, text, place)
}

#[test]
fn a_folder_that_is_moved_keeps_what_it_has_and_gets_no_more() {
    let (top, error, place) = displaced(|top| fs::rename(top.join("s"), top.join("t")).unwrap());
    let trials = top.path().join("t/trials.ndjson");
    assert_eq!(place, Place::Moved(trials.clone()));
    assert!(error.contains("was moved to") && error.contains("t/trials.ndjson"), "{error}");
    assert_eq!(open(&top.path().join("t")).unwrap().records, [record(0)]);
    // Not even the lock stays.
    assert_eq!(
        tree(top.path()),
        ["t", "t/manifest.json", "t/trials.ndjson"].map(|it| top.path().join(it))
    );
}

#[test]
fn a_folder_in_the_place_of_another_is_nobodys_session() {
    let (top, error, place) = displaced(|top| {
        fs::rename(top.join("s"), top.join("t")).unwrap();
        drop(Writer::create(&top.join("s"), &manifest()).unwrap());
    });
    assert_eq!(place, Place::Moved(top.path().join("t/trials.ndjson")));
    assert!(error.contains("moved to"), "{error}");
    assert_eq!(open(&top.path().join("s")).unwrap().records, []);
}

#[test]
fn trials_that_are_removed_or_replaced_are_noticed() {
    let (_top, error, place) = displaced(|top| fs::remove_dir_all(top.join("s")).unwrap());
    assert_eq!(place, Place::Removed);
    assert!(error.contains("trials.ndjson was removed while"), "{error}");
    // As editors save: the content is the same, the file is another.
    let (top, error, place) = displaced(|top| {
        fs::copy(top.join("s/trials.ndjson"), top.join("new")).unwrap();
        fs::rename(top.join("new"), top.join("s/trials.ndjson")).unwrap();
    });
    assert_eq!(place, Place::Replaced);
    assert!(error.contains("was replaced by another file"), "{error}");
    assert_eq!(open(&top.path().join("s")).unwrap().records, [record(0)]);
}

#[test]
fn derived_files_are_replaced_whole() {
    let top = TempDir::new().unwrap();
    let dir = top.path().join("s");
    let mut writer = Writer::create(&dir, &manifest()).unwrap();
    // Left by a process that was killed while it wrote, longer than what comes.
    fs::write(dir.join(".report.html.new"), "x".repeat(1000)).unwrap();
    writer.pages().write_report("one").unwrap();
    writer.pages().write_report("two").unwrap();
    writer.pages().write_claims("three").unwrap();
    writer.pages().write_summary(&summary()).unwrap();
    let mut shielded = manifest();
    shielded.shield.means.push("nice -20".into());
    writer.write_manifest(&shielded).unwrap();
    assert_eq!(open(&dir).unwrap().manifest, shielded);
    assert_eq!(fs::read_to_string(dir.join("report.html")).unwrap(), "two");
    assert_eq!(fs::read_to_string(dir.join("claims.html")).unwrap(), "three");
    let text = fs::read_to_string(dir.join("summary.json")).unwrap();
    assert_eq!(serde_json::from_str::<model::Summary>(&text).unwrap(), summary());
    drop(writer);
    let names = ["claims.html", "manifest.json", "report.html", "summary.json", "trials.ndjson"];
    assert_eq!(tree(&dir), names.map(|name| dir.join(name)));
    for name in names {
        let mode = dir.join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & !0o644, 0o100_000, "{name} has mode {mode:o}");
    }
}

#[test]
fn scratch_is_private_and_goes_with_all_that_is_in_it() {
    let top = TempDir::new().unwrap();
    let dir = top.path().join("s");
    let outside = top.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "").unwrap();
    let writer = Writer::create(&dir, &manifest()).unwrap();
    writer.remove_scratch().unwrap();
    let scratch = writer.scratch().unwrap();
    assert_eq!(writer.scratch().unwrap(), scratch);
    assert_eq!(scratch, dir.join("scratch"));
    assert_eq!(scratch.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    fs::create_dir(scratch.join("sub")).unwrap();
    symlink(&outside, scratch.join("sub/link")).unwrap();
    writer.remove_scratch().unwrap();
    assert!(!scratch.exists());
    assert!(outside.join("precious").exists());

    symlink(&outside, &scratch).unwrap();
    assert!(writer.scratch().is_err(), "a link is not our folder");
}

#[test]
fn links_are_not_written_through() {
    let top = TempDir::new().unwrap();
    let (dir, victim) = (top.path().join("s"), top.path().join("victim"));
    drop(Writer::create(&dir, &manifest()).unwrap());
    fs::write(&victim, "precious").unwrap();

    // The temporary file, the file itself, the lock and the trials, each a link to elsewhere.
    symlink(&victim, dir.join(".report.html.new")).unwrap();
    symlink(&victim, dir.join("report.html")).unwrap();
    let (writer, _) = Writer::resume(&dir).unwrap();
    writer.pages().write_report("page").unwrap();
    assert!(!dir.join("report.html").symlink_metadata().unwrap().is_symlink());
    drop(writer);
    symlink(&victim, dir.join("lock")).unwrap();
    assert!(Writer::resume(&dir).is_err());
    fs::remove_file(dir.join("lock")).unwrap();
    fs::rename(dir.join("trials.ndjson"), top.path().join("moved")).unwrap();
    symlink(top.path().join("moved"), dir.join("trials.ndjson")).unwrap();
    assert!(Writer::resume(&dir).is_err());
    assert!(open(&dir).is_ok(), "reading through a link harms nobody");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");

    // The session's folder itself may be a link.
    let (real, link) = (top.path().join("real"), top.path().join("link"));
    drop(Writer::create(&real, &manifest()).unwrap());
    symlink(&real, &link).unwrap();
    Writer::resume(&link).unwrap().0.append(&record(0)).unwrap();
    assert_eq!(open(&real).unwrap().records.len(), 1);
}

#[test]
fn a_pipe_in_place_of_a_file_does_not_block() {
    let top = TempDir::new().unwrap();
    let dir = top.path().join("s");
    drop(Writer::create(&dir, &manifest()).unwrap());
    fs::remove_file(dir.join("trials.ndjson")).unwrap();
    let made = Command::new("mkfifo").arg(dir.join("trials.ndjson")).status().unwrap();
    assert!(made.success());
    assert!(open(&dir).unwrap_err().to_string().contains("not a regular file"));
    assert!(Writer::resume(&dir).is_err());
}

#[test]
fn names_in_the_manifest_lead_nowhere() {
    let top = TempDir::new().unwrap();
    let dir = top.path().join("s");
    let mut hostile = manifest();
    for name in ["../evil", "/evil", "..", "a/b", "\0"] {
        hostile.session = name.into();
        hostile.environment.host = name.into();
        hostile.options.experiments = vec![name.into()];
        let wrong = vec![model::Design { id: name.into(), ..Default::default() }];
        let refused = Writer::create(&dir, &Manifest { designs: wrong, ..hostile.clone() });
        assert!(matches!(refused, Err(Error::Inconsistent { .. })), "{refused:?}");
        assert!(!dir.exists());
        let mut writer = Writer::create(&dir, &hostile).unwrap();
        let unplanned = model::Record { experiment: name.into(), ..record(0) };
        assert!(matches!(writer.append(&unplanned), Err(Error::Unreadable { .. })));
        writer.append(&record(0)).unwrap();
        let hostile_summary = model::Summary { session: name.into(), ..summary() };
        writer.pages().write_summary(&hostile_summary).unwrap();
        writer.pages().write_report(name).unwrap();
        writer.scratch().unwrap();
        writer.remove_scratch().unwrap();
        drop(writer);
        assert_eq!(open(&dir).unwrap().manifest, hostile);
        let names = ["manifest.json", "report.html", "summary.json", "trials.ndjson"];
        let mut expected = vec![dir.clone()];
        expected.extend(names.map(|name| dir.join(name)));
        assert_eq!(tree(top.path()), expected);
        fs::remove_dir_all(&dir).unwrap();
    }
}

/// A file system of its own; it goes away with the value.
struct Mount {
    at: TempDir,
}

impl Mount {
    /// None where the rights do not allow it.
    fn new(options: &str) -> Option<Mount> {
        let at = TempDir::new().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "scruple-test"]).arg(at.path());
        match mount.output() {
            Ok(output) if output.status.success() => Some(Mount { at }),
            _ => None,
        }
    }

    fn remount(&self, options: &str) {
        let mut mount = Command::new("mount");
        mount.args(["-o", &format!("remount,{options}")]).arg(self.at.path());
        assert!(mount.status().unwrap().success());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.at.path()).status();
    }
}

#[test]
fn a_full_disk_is_an_error_and_harms_nothing() {
    let Some(mount) = Mount::new("size=64k") else {
        eprintln!("skipped: this user may not mount a small tmpfs");
        return;
    };
    let dir = mount.at.path().join("s");
    let mut writer = Writer::create(&dir, &manifest()).unwrap();
    writer.pages().write_report("page").unwrap();
    let large = |trial| model::Record { log: "x".repeat(3000), ..record(trial) };
    let mut stored = 0;
    let error = loop {
        match writer.append(&large(stored)) {
            Ok(()) => stored += 1,
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("trials.ndjson: No space left on device"), "{error}");
    assert!(stored > 3);
    let after = open(&dir).unwrap();
    assert_eq!((after.records.len() as u64, after.torn), (stored, None));

    let error = writer.pages().write_report(&"y".repeat(100_000)).unwrap_err().to_string();
    assert!(error.contains("report.html: No space left on device"), "{error}");
    assert_eq!(fs::read_to_string(dir.join("report.html")).unwrap(), "page");

    // Once there is room the same writer goes on.
    mount.remount("size=1m");
    writer.append(&large(stored)).unwrap();
    drop(writer);
    assert_eq!(open(&dir).unwrap().records.len() as u64, stored + 1);
    assert_eq!(tree(&dir).len(), 3);

    mount.remount("size=1m,ro");
    assert!(open(&dir).is_ok(), "a session on a medium that is read only can be read");
    let error = Writer::resume(&dir).unwrap_err().to_string();
    assert!(error.contains("lock: Read-only file system"), "{error}");
    let error = Writer::create(&mount.at.path().join("t"), &manifest()).unwrap_err().to_string();
    assert!(error.contains("cannot create") && error.contains("Read-only"), "{error}");
}

#[test]
fn what_a_kill_before_the_beginning_has_left_is_in_nobodys_way() {
    let top = TempDir::new().unwrap();
    let left = ["lock", "trials.ndjson", ".manifest.json.new"];
    for count in 0..=left.len() {
        let dir = top.path().join(count.to_string());
        fs::create_dir(&dir).unwrap();
        left[..count].iter().for_each(|name| fs::write(dir.join(name), "").unwrap());
        if count == left.len() {
            fs::write(dir.join(left[2]), "{\"format\": 1, \"scru").unwrap();
        }
        let mut writer = Writer::create(&dir, &manifest()).unwrap();
        writer.append(&record(0)).unwrap();
        drop(writer);
        assert_eq!(open(&dir).unwrap().records.len(), 1);
        assert_eq!(tree(&dir), [dir.join("manifest.json"), dir.join("trials.ndjson")]);
    }
    // What holds something, or is no file, is somebody's.
    for (name, kind) in [("trials.ndjson", "text"), ("lock", "folder"), ("trials.ndjson", "link")] {
        let dir = top.path().join(format!("{name}-{kind}"));
        fs::create_dir(&dir).unwrap();
        match kind {
            "text" => fs::write(dir.join(name), "{}\n").unwrap(),
            "folder" => fs::create_dir(dir.join(name)).unwrap(),
            _ => symlink(top.path().join("nowhere"), dir.join(name)).unwrap(),
        }
        let refused = Writer::create(&dir, &manifest());
        assert!(matches!(refused, Err(Error::NotEmpty { .. })), "{name}, a {kind}: {refused:?}");
        assert_eq!(tree(&dir), [dir.join(name)]);
    }
    // Somebody who is about to begin there is left alone.
    let dir = top.path().join("held");
    fs::create_dir(&dir).unwrap();
    let held = fs::File::create(dir.join("lock")).unwrap();
    held.lock().unwrap();
    assert!(matches!(Writer::create(&dir, &manifest()), Err(Error::Busy { .. })));
    assert_eq!(tree(&dir), [dir.join("lock")]);
}

#[test]
fn a_session_that_cannot_begin_leaves_nothing() {
    // Room for the inodes of the top and of the session's folder, the lock and the trials, but
    // not for the manifest.
    let Some(mount) = Mount::new("size=64k,nr_inodes=4") else {
        eprintln!("skipped: this user may not mount a small tmpfs");
        return;
    };
    let dir = mount.at.path().join("s");
    let error = Writer::create(&dir, &manifest()).unwrap_err().to_string();
    assert!(error.contains("manifest.json: No space left on device"), "{error}");
    assert_eq!(tree(mount.at.path()), [] as [PathBuf; 0]);
    // A folder that was there stays, as empty as it was.
    fs::create_dir(&dir).unwrap();
    assert!(Writer::create(&dir, &manifest()).is_err());
    assert_eq!(tree(mount.at.path()), [dir]);
    // Parents that were made for it go with it.
    assert!(Writer::create(&mount.at.path().join("a/b/c"), &manifest()).is_err());
    assert_eq!(tree(mount.at.path()).len(), 1);
}

#[test]
fn a_folder_that_may_not_be_written_is_named() {
    let top = TempDir::new().unwrap();
    let dir = top.path().join("s");
    drop(Writer::create(&dir, &manifest()).unwrap());
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(dir.join("probe"), "").is_ok() {
        eprintln!("skipped: permissions do not hold this user (root)");
        return;
    }
    let error = Writer::resume(&dir).unwrap_err().to_string();
    assert!(error.contains("lock: Permission denied"), "{error}");
    assert!(open(&dir).is_ok());
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
}
