//! The one test command, step by step.

use crate::{book, duckdb, machine, slurm};
use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// One step: a title, and the command or the look that it consists of.
enum Step {
    /// `cargo` with these words.
    Cargo(&'static str, &'static [&'static str]),
    /// `cargo` with these words, where this component of the toolchain is installed.
    Component(&'static str, &'static str, &'static [&'static str]),
    /// `cargo` with these words, whose tests run the release build's scruple.
    OfRelease(&'static str, &'static [&'static str]),
}

/// Where the tests of the binary find the one that they are to run; without it they run their own.
const TESTED: &str = "SCRUPLE_TESTED";

/// How many tests of one binary run at a time, for libtest.
const TEST_THREADS: &str = "RUST_TEST_THREADS";

/// What is done, in this order; the first failure ends it.
///
/// All tests are built once, with the same features, whatever step runs them. `export/parquet` is on in
/// `export` alone: the binary is the ordinary one, which has to say that it has none.
const STEPS: [Step; 6] = [
    Step::Component("format", "rustfmt", &["fmt", "--all", "--check"]),
    Step::Component(
        "lints",
        "clippy",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--features",
            "export/parquet",
            "--",
            "-D",
            "warnings",
        ],
    ),
    // Before the tests: one of them reads the machine code of the loops out of this binary.
    Step::Cargo("release build", &["build", "--release"]),
    Step::Cargo("tests", &["test", "--workspace", "--features", "export/parquet"]),
    Step::Cargo("release binary", &["run", "--release", "--quiet", "--", "--version"]),
    Step::OfRelease(
        "the face, release build",
        &["test", "--workspace", "--features", "export/parquet", "--test", "it", "face::"],
    ),
];

/// The steps that need neither tools nor libraries that were checked.
const BEFORE_TESTS: usize = 3;

/// How long the tests of another tree may have the one cluster that there is room for.
const OTHERS_AT_MOST: Duration = Duration::from_secs(300);

/// What is tested on a cluster.
const FLEET: [&str; 7] =
    ["test", "--workspace", "--features", "export/parquet", "--test", "it", "cluster::"];

/// Prints the title of each step, with its number.
struct Titles {
    step: usize,
}

impl Titles {
    /// The steps of `STEPS`, and tools, libraries, fleet and book.
    const COUNT: usize = STEPS.len() + 4;

    fn next(&mut self, title: &str) -> Result<()> {
        self.step += 1;
        let space = if self.step == 1 { "" } else { "\n" };
        say(&format!("{space}== {}/{} {title}", self.step, Titles::COUNT))
    }
}

/// A command that runs while other steps do. What it prints goes into a file, and is shown when
/// somebody waits for its end.
struct Background {
    title: &'static str,
    child: Child,
    log: PathBuf,
    start: Instant,
}

impl Background {
    fn start(root: &Path, title: &'static str, command: &mut Command) -> Result<Self> {
        let folder = target(root).join("steps");
        std::fs::create_dir_all(&folder).context("cannot make a folder for output")?;
        let log = folder.join(format!("{title}.log"));
        let file = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        say(&format!(
            "-- {title}: runs next to the steps that follow; prints to {}",
            log.display()
        ))?;
        Ok(Background { title, child, log, start: Instant::now() })
    }

    /// Waits for the end, and prints what the command has printed.
    fn finish(mut self) -> Result<()> {
        let status = self.child.wait().context("cannot wait for a child")?;
        say(String::from_utf8_lossy(&std::fs::read(&self.log)?).trim_end())?;
        let seconds = self.start.elapsed().as_secs_f64();
        ensure!(status.success(), "step \"{}\" failed: {status}", self.title);
        say(&format!("-- {}: passed, {seconds:.1} s after it began", self.title))
    }
}

impl Drop for Background {
    /// Where another step has failed, nobody waits for this one.
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Installs the programs that the tests need.
pub(crate) fn tools(root: &Path, install: bool) -> Result<()> {
    for tool in [&machine::BROWSER, &machine::EMULATOR, &machine::PARALLEL] {
        machine::provide(tool, install)?;
    }
    duckdb::provide(root, install)
}

/// Checks everything. Output of the tools passes through as it comes.
///
/// What waits for the network runs while the compiler works.
///
/// # Errors
/// Names the first step that failed.
pub(crate) fn test(root: &Path, install: bool) -> Result<()> {
    let begin = Instant::now();
    let mut titles = Titles { step: 0 };
    let (tools, libraries) = (chore(root, "tools", install)?, chore(root, "libraries", install)?);
    for step in STEPS.iter().take(BEFORE_TESTS) {
        conduct(root, step, &mut titles)?;
    }
    titles.next("tools")?;
    tools.finish()?;
    titles.next("libraries: cargo deny")?;
    libraries.finish()?;
    for step in STEPS.iter().skip(BEFORE_TESTS) {
        conduct(root, step, &mut titles)?;
    }
    titles.next(&format!("a fleet on Slurm: cargo {}", FLEET.join(" ")))?;
    fleet(root, install)?;
    titles.next("book")?;
    book::book(root).context("step \"book\" failed")?;
    say(&format!("\nall steps passed in {:.0} s", begin.elapsed().as_secs_f64()))
}

/// Starts another chore of this program in the background.
fn chore(root: &Path, title: &'static str, install: bool) -> Result<Background> {
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command.arg(title).args((!install).then_some("--no-install")).current_dir(root);
    Background::start(root, title, &mut command)
}

fn conduct(root: &Path, step: &Step, titles: &mut Titles) -> Result<()> {
    let (title, words) = match step {
        Step::Cargo(title, words)
        | Step::Component(title, _, words)
        | Step::OfRelease(title, words) => (title, words),
    };
    titles.next(&format!("{title}: cargo {}", words.join(" ")))?;
    if let Some(reason) = reason_to_skip(step) {
        return say(&format!("-- {title}: SKIPPED, {reason}"));
    }
    let start = Instant::now();
    let mut command = Command::new(cargo());
    command.args(*words).current_dir(root);
    if let Some(threads) = test_threads() {
        command.env(TEST_THREADS, threads);
    }
    if let Step::OfRelease(..) = step {
        command.env(TESTED, target(root).join("release/scruple"));
    }
    let status = command.status().context("cannot start cargo")?;
    ensure!(status.success(), "step \"{title}\" failed: cargo {}: {status}", words.join(" "));
    say(&format!("-- {title}: passed in {:.1} s", start.elapsed().as_secs_f64()))
}

/// The tests of the fleet, on a cluster of virtual nodes that is there for them alone.
pub(crate) fn fleet(root: &Path, install: bool) -> Result<()> {
    if let Some(reason) = slurm::obstacle(install) {
        return say(&format!("-- a fleet on Slurm: SKIPPED, {reason}"));
    }
    let start = Instant::now();
    let dir = target(root).join("slurm");
    // Of an earlier time that was cut off.
    if dir.exists() || slurm::owner().is_some_and(|own| own == dir) {
        slurm::down(&dir).context("step \"a fleet on Slurm\" failed")?;
    }
    wait_for_the_cluster_of_others()?;
    slurm::up(&dir, slurm::NODES, install).context("step \"a fleet on Slurm\" failed")?;
    let tested = Command::new(cargo())
        .args(FLEET)
        .env("SCRUPLE_CLUSTER", &dir)
        .current_dir(root)
        .status()
        .context("cannot start cargo");
    let down = slurm::down(&dir).context("step \"a fleet on Slurm\" failed");
    let status = tested?;
    ensure!(
        status.success(),
        "step \"a fleet on Slurm\" failed: cargo {}: {status}",
        FLEET.join(" ")
    );
    down?;
    say(&format!("-- a fleet on Slurm: passed in {:.1} s", start.elapsed().as_secs_f64()))
}

/// There is room for one cluster on a machine, and two checks of two trees may run at once.
fn wait_for_the_cluster_of_others() -> Result<()> {
    let end = Instant::now() + OTHERS_AT_MOST;
    while let Some(other) = slurm::owner().filter(|_| Instant::now() < end) {
        say(&format!("-- a cluster is up, of {}: waiting for its end", other.display()))?;
        std::thread::sleep(OTHERS_AT_MOST / 30);
    }
    Ok(())
}

/// Twice as many tests at a time as there are CPUs, unless something else was asked for: many wait for
/// a browser, a server or a child. Those that must be alone see to it themselves.
fn test_threads() -> Option<String> {
    let cpus = std::thread::available_parallelism().ok()?.get();
    std::env::var_os(TEST_THREADS).is_none().then(|| (2 * cpus).to_string())
}

fn reason_to_skip(step: &Step) -> Option<String> {
    match step {
        Step::Cargo(..) | Step::OfRelease(..) => None,
        Step::Component(_, component, words) => {
            let answer = Command::new(cargo()).args([words[0], "--version"]).output();
            let there = answer.is_ok_and(|output| output.status.success());
            (!there).then(|| {
                format!("{component} is not installed (`rustup component add {component}`)")
            })
        }
    }
}

/// The cargo that started us, so that both use one toolchain.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The folder for what is built.
pub(crate) fn target(root: &Path) -> PathBuf {
    // Cargo reads the variable relative to the folder that it was started in.
    let named = std::env::var_os("CARGO_TARGET_DIR").filter(|name| !name.is_empty());
    let named = named.and_then(|name| std::path::absolute(name).ok());
    named.unwrap_or_else(|| root.join("target"))
}

/// Prints a line now, before a tool that we start prints its own.
fn say(line: &str) -> Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{line}").and_then(|()| out.flush()).context("cannot print")
}

#[cfg(test)]
mod tests {
    use super::{STEPS, Step, reason_to_skip};

    #[test]
    fn a_component_that_is_not_installed_is_named_with_its_remedy() {
        let step = Step::Component("", "astrolabe", &["astrolabe"]);
        let reason = reason_to_skip(&step);
        assert_eq!(
            reason.as_deref(),
            Some("astrolabe is not installed (`rustup component add astrolabe`)")
        );
    }

    #[test]
    fn warnings_are_errors_and_all_rooms_are_tested() {
        let lines = STEPS.iter().map(|step| match step {
            Step::Cargo(_, words) | Step::Component(_, _, words) | Step::OfRelease(_, words) => {
                words.join(" ")
            }
        });
        let lines: Vec<String> = lines.collect();
        let clippy = "clippy --workspace --all-targets --features export/parquet -- -D warnings";
        assert!(lines.contains(&clippy.to_string()));
        assert!(lines.contains(&"test --workspace --features export/parquet".to_string()));
    }
}
