//! What the tests of the binary share.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than anything takes that is waited for.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder for what tests write, in the file system of what is built.
const TARGET: &str = env!("CARGO_TARGET_TMPDIR");

/// Keeps tests that measure from competing for the CPUs and for the shield.
pub(crate) fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Returns a command that runs the built binary.
pub(crate) fn scruple() -> Command {
    Command::new(binary())
}

/// Returns a path of the built binary that belongs to the calling test: all tests are threads of one
/// process, and [`processes_with`] finds a test's processes by this path.
pub(crate) fn binary() -> PathBuf {
    thread_local! { static OWN: (TempDir, PathBuf) = linked(); }
    OWN.with(|(_, path)| path.clone())
}

/// Links the built binary into a folder of its own. Where `SCRUPLE_TESTED` names another binary it is
/// that one, so that the same tests examine a release build.
fn linked() -> (TempDir, PathBuf) {
    let built = env!("CARGO_BIN_EXE_scruple").into();
    let built: PathBuf = std::env::var_os("SCRUPLE_TESTED").map_or(built, PathBuf::from);
    // Trials of some tests run as another user.
    let everyone = std::fs::Permissions::from_mode(0o755);
    let folder = tempfile::Builder::new().permissions(everyone).tempdir_in(TARGET).unwrap();
    let path = folder.path().join("scruple");
    // A link cannot reach into another file system.
    std::fs::hard_link(&built, &path).or_else(|_| std::fs::copy(&built, &path).map(drop)).unwrap();
    (folder, path)
}

/// Starts a command that is going to get SIGINT, its output kept. A shell without job control
/// starts its background jobs (`cargo test &`) with SIGINT ignored, which is inherited down to here.
pub(crate) fn interruptible(command: &mut Command) -> Child {
    sys::signal::heed(sys::signal::SIGINT).unwrap();
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// A small session of the A/A control into `dir`.
pub(crate) fn small_session(dir: &Path, blocks: u32) -> Command {
    let mut command = scruple();
    command
        .args(["run", "null", "--profile", "smoke", "--seed", "7", "--no-shield", "--output"])
        .arg(dir)
        .args(["--runs", &blocks.to_string()]);
    command
}

/// What a command said, for a failing assertion.
pub(crate) fn said(output: &Output) -> String {
    format!(
        "exit {:?}\n--- stdout\n{}\n--- stderr\n{}",
        output.status.code(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// The trials stored in a session: (experiment, block, treatment).
pub(crate) fn stored_trials(dir: &Path) -> Vec<(String, u64, String)> {
    let text = std::fs::read_to_string(dir.join("trials.ndjson")).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .map(|record| {
            (
                record["experiment"].as_str().unwrap().to_string(),
                record["block"].as_u64().unwrap(),
                record["treatment"].to_string(),
            )
        })
        .collect()
}

/// Panics if a trial stands twice.
pub(crate) fn assert_no_doubles(trials: &[(String, u64, String)]) {
    let once: BTreeSet<_> = trials.iter().collect();
    assert_eq!(once.len(), trials.len(), "a trial is stored twice");
}

/// Returns the command lines of the calling test's processes whose arguments hold a word.
pub(crate) fn processes_with(word: &str) -> Vec<String> {
    let binary = std::fs::canonicalize(binary()).unwrap();
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == binary))
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok())
        .filter(|line| line.split('\0').any(|argument| argument == word))
        .collect()
}

/// Waits for something that happens by itself, however busy the machine is.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "still not so after {} s: {what}", PATIENCE.as_secs());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// cgroups that a runner of that pid made.
pub(crate) fn cgroups_of(pid: u32) -> Vec<PathBuf> {
    fn is_of(pid: u32, name: &str) -> bool {
        name.starts_with("scruple-") && name.ends_with(&format!("-{pid}"))
    }
    fn search(dir: &Path, pid: u32, found: &mut Vec<PathBuf>) {
        let Ok(entries) = std::fs::read_dir(dir) else { return };
        for entry in entries.flatten().filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir())) {
            if is_of(pid, &entry.file_name().to_string_lossy()) {
                found.push(entry.path());
            } else {
                search(&entry.path(), pid, found);
            }
        }
    }
    let mut found = Vec::new();
    search(Path::new("/sys/fs/cgroup"), pid, &mut found);
    found
}

/// Whether the tests may do what only root may.
pub(crate) fn is_root() -> bool {
    sys::process::is_root()
}

/// Returns the folder of a recorded session.
pub(crate) fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recorded").join(name).canonicalize().unwrap()
}

/// Returns what analysis makes of a stored session.
pub(crate) fn summarised(stored: &store::Stored) -> model::Summary {
    let manifest = &stored.manifest;
    analysis::summarise(&analysis::Input {
        scruple: "test",
        session: &manifest.session,
        complete: true,
        environment: &manifest.environment,
        shield: &manifest.shield,
        designs: &manifest.designs,
        records: &stored.records,
    })
}
