//! Machines and command lines that do not allow what was asked: one clear error or an honest
//! "unsupported", never a panic, a hang or a wrong number.

use crate::support::*;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn error_of(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{}", said(output));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// `scruple` started by a shell that first narrows its own world.
fn narrowed(world: &str, dir: &Path, experiments: &str) -> Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!(
            "{world} exec \"$0\" run {experiments} --profile smoke --runs 2 --output \"$1\""
        ))
        .arg(binary())
        .arg(dir)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// It did its work, or it said in one line why not.
fn assert_honest(output: &Output, dir: &Path) {
    let text = said(output);
    assert!(!text.contains("panicked"), "{text}");
    match output.status.code() {
        Some(0) => assert!(dir.join("report.html").exists(), "{text}"),
        Some(2) => assert!(text.contains("error:"), "{text}"),
        _ => panic!("{text}"),
    }
    eventually("no trial is left", || processes_with("__trial").is_empty());
}

#[test]
fn an_unknown_experiment_is_named_with_those_there_are() {
    let _alone = alone();
    let text = error_of(&scruple().args(["run", "threds"]).output().unwrap());
    assert!(text.contains("threds") && text.contains("create"), "{text}");
}

#[test]
fn a_cpu_that_is_not_there_is_named_with_those_there_are() {
    let _alone = alone();
    let text = error_of(&scruple().args(["run", "null", "--affinity", "4096"]).output().unwrap());
    assert!(text.contains("4096") && text.contains("CPU"), "{text}");
    let text = error_of(&scruple().args(["run", "null", "--affinity", "0-"]).output().unwrap());
    assert!(text.contains("--affinity 0-"), "{text}");
}

#[test]
fn one_cpu_only_is_enough_for_a_report() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let cpu = sys::affinity::allowed().unwrap()[0];
    let output = scruple()
        .args(["run", "create", "clock", "--profile", "smoke", "--runs", "2"])
        .args(["--affinity", &cpu.to_string(), "--output"])
        .arg(&dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(dir.join("report.html").exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let text = error_of(
        &scruple().args(["run", "null", "--output"]).arg(file.join("session")).output().unwrap(),
    );
    assert!(text.contains("file"), "{text}");
    let full = folder.path().join("occupied");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("precious"), "mine").unwrap();
    let text = error_of(&scruple().args(["run", "null", "--output"]).arg(&full).output().unwrap());
    assert!(text.contains("occupied"), "{text}");
    assert_eq!(std::fs::read_to_string(full.join("precious")).unwrap(), "mine");
}

#[test]
fn a_session_that_is_none_is_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let text = error_of(&scruple().arg("report").arg(folder.path()).output().unwrap());
    assert!(text.contains("manifest.json"), "{text}");
    let text = error_of(&scruple().args(["run", "--resume"]).arg(folder.path()).output().unwrap());
    assert!(text.contains("manifest.json"), "{text}");
}

#[test]
fn a_full_disk_keeps_what_was_stored() {
    let _alone = alone();
    if !is_root() {
        println!("skipped: mounting a small file system needs root");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=256k", "scruple-test"])
        .arg(folder.path())
        .status()
        .unwrap();
    if !mounted.success() {
        println!("skipped: no file system can be mounted here");
        return;
    }
    let dir = folder.path().join("session");
    let output = small_session(&dir, 2000).output().unwrap();
    let text = said(&output);
    let kept = stored_trials(&dir).len();
    let whole = std::fs::read_to_string(dir.join("trials.ndjson")).unwrap().ends_with('\n');
    let unmounted = Command::new("umount").arg(folder.path()).status().unwrap();
    assert!(unmounted.success());
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("No space left") && text.contains("--resume"), "{text}");
    assert!(kept > 0 && whole, "{kept} trials kept, whole last line: {whole}");
}

#[test]
fn low_limits_end_in_an_error_or_an_honest_report() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let worlds = [
        ("processes", "ulimit -u 20;"),
        ("descriptors", "ulimit -n 12;"),
        ("few-descriptors", "ulimit -n 5;"),
        ("memory", "ulimit -v 400000;"),
        ("little-memory", "ulimit -v 60000;"),
        ("file-size", "ulimit -f 4;"),
    ];
    for (name, world) in worlds {
        let dir = folder.path().join(name);
        assert_honest(&narrowed(world, &dir, "create"), &dir);
    }
}

#[test]
fn a_closed_standard_input_changes_nothing() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let output = narrowed("exec 0<&-;", &dir, "null");
    assert!(output.status.success(), "{}", said(&output));
    let dir = folder.path().join("all-closed");
    let output = narrowed("exec 0<&- 1>&- 2>&-;", &dir, "null");
    assert!(dir.join("report.html").exists(), "{}", said(&output));
}

#[test]
fn an_ordinary_user_gets_a_report_even_with_hidden_processes() {
    let _alone = alone();
    if !is_root() {
        println!("skipped: it is an ordinary user already; hidepid needs root");
        return;
    }
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let script = r#"
        mount --make-rprivate / && mount -o remount,hidepid=2 /proc || exit 77
        cp "$0" "$1/scruple" && chmod -R a+rwx "$1"
        exec setpriv --reuid=65534 --regid=65534 --clear-groups \
            "$1/scruple" run null create --profile smoke --runs 2 --output "$1/session"
    "#;
    let output = Command::new("unshare")
        .args(["--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script])
        .arg(binary())
        .arg(folder.path())
        .output()
        .unwrap();
    if output.status.code() == Some(77)
        || String::from_utf8_lossy(&output.stderr).contains("unshare:")
    {
        println!("skipped: /proc cannot be mounted with hidepid here");
        return;
    }
    assert!(output.status.success(), "{}", said(&output));
    assert!(folder.path().join("session/report.html").exists());
}
