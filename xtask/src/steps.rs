//! The one test command, step by step.

mod elsewhere;
mod skips;

use crate::shell::{Run, command};
use crate::{book, deny, dist, duckdb, machine, slurm};
use anyhow::{Context, Result, ensure};
use skips::Skips;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Where the tests of the binary find the one that they are to run; without it they run their own.
const TESTED: &str = "SCRUPLE_TESTED";

/// How many tests of one binary run at a time, for libtest.
const TEST_THREADS: &str = "RUST_TEST_THREADS";

/// What needs neither tools nor libraries that were checked: a title, the component of the toolchain
/// that is skipped where it is missing, and the command.
const LOOKS: [(&str, &str, &str); 3] = [
    ("format", "rustfmt", "cargo fmt --all --check"),
    (
        "lints",
        "clippy",
        "cargo clippy --workspace --all-targets --features export/parquet -- -D warnings",
    ),
    // The one room whose types depend on the C library.
    (
        "musl",
        "clippy",
        "cargo clippy --package sys --target x86_64-unknown-linux-musl -- -D warnings",
    ),
];

/// One of the tests reads the machine code of the loops out of this binary, so it is built before.
const RELEASE: (&str, &str) = ("release build", "cargo build --release");

/// All tests are built once, with the same features, whatever step runs them. `export/parquet` is on in
/// `export` alone. The binary that they start is the ordinary one of the release build, which users have, and
/// which has to say that it has no Parquet.
const TESTS: (&str, &str) =
    ("tests", "cargo test --workspace --features export/parquet --no-fail-fast");

const VERSION: (&str, &str) = ("release binary", "cargo run --release --quiet -- --version");

/// What is tested on a cluster.
const FLEET: (&str, &str) =
    ("a fleet on Slurm", "cargo test --workspace --features export/parquet --test it cluster::");

/// How long the tests of another tree may have the one cluster that there is room for.
const OTHERS_AT_MOST: Duration = Duration::from_secs(300);

/// Prints the title of each step, with its number.
struct Titles {
    step: usize,
}

impl Titles {
    /// Format, lints, musl, tools, release build, libraries, release binary, tests, elsewhere, fleet and book.
    const COUNT: usize = 11;

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
    fn start(title: &'static str, command: &mut Command, root: &Path) -> Result<Self> {
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

    /// Waits for the end, and prints what the command has printed. Adds what it skipped to `skipped`.
    fn finish(mut self, skipped: &mut Vec<String>) -> Result<()> {
        let status = self.child.wait().context("cannot wait for a child")?;
        let printed = std::fs::read(&self.log)?;
        let printed = String::from_utf8_lossy(&printed);
        say(printed.trim_end())?;
        let lines =
            printed.lines().filter_map(|line| line.strip_prefix("-- ")?.split_once(SKIPPED));
        skipped.extend(lines.map(|(what, reason)| format!("{what}: {reason}")));
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

/// The programs that tests need, besides DuckDB.
const TOOLS: [&str; 3] = ["browser", "RISC-V emulator", "Python with venv"];

/// Stands between what was skipped and the reason.
const SKIPPED: &str = ": SKIPPED, ";

/// Makes tests print what they print, so that their reasons for a skip are seen.
const SHOWN: [&str; 2] = ["--", "--show-output"];

/// Installs the programs that the tests need. What cannot be had is named, with a reason.
pub(crate) fn tools(root: &Path, install: bool) -> Result<()> {
    for tool in TOOLS {
        let has = match machine::obstacle(tool, install) {
            Some(reason) => Err(anyhow::anyhow!(reason)),
            None => machine::provide(tool, install).map(drop),
        };
        if let Err(error) = has {
            say(&format!("-- {tool}: not here, {error:#}"))?;
        }
    }
    if let Err(error) = duckdb::provide(root, install) {
        say(&format!("-- DuckDB: not here, {error:#}"))?;
    }
    // After Python, which brings it in seconds.
    if let Err(error) = deny::provide(root, install) {
        say(&format!("-- cargo deny: not here, {error:#}"))?;
    }
    Ok(())
}

/// What did not pass, and what was not tried.
#[derive(Default)]
struct Left {
    failed: Vec<String>,
    skipped: Vec<String>,
    /// Filters of the tests that cannot run here.
    filters: Vec<&'static str>,
}

impl Left {
    /// Takes note of a step that failed; the others go on, so that one run shows all.
    fn note(&mut self, step: Result<()>) -> Result<()> {
        if let Err(error) = step {
            say(&format!("-- FAILED: {error:#}"))?;
            self.failed.push(format!("{error:#}"));
        }
        Ok(())
    }

    /// Waits for a step that runs next to others.
    fn finish(&mut self, background: Background) -> Result<()> {
        let finished = background.finish(&mut self.skipped);
        self.note(finished)
    }

    /// Takes note of what this machine does not allow.
    fn skip(&mut self, what: &str, reason: &str) -> Result<()> {
        say(&format!("-- {what}{SKIPPED}{reason}"))?;
        self.skipped.push(format!("{what}: {reason}"));
        Ok(())
    }

    /// Takes note of what is missing and could be installed. On a machine of continuous integration nothing may
    /// be left out for that reason.
    fn lack(&mut self, what: &str, reason: &str) -> Result<()> {
        if std::env::var_os("CI").is_some() {
            self.failed.push(format!("CI is set, and {what} could be installed: {reason}"));
        }
        self.skip(what, reason)
    }

    /// Takes note of the tools that are still missing.
    fn look_for_tools(&mut self, root: &Path, install: bool) -> Result<()> {
        for tool in TOOLS.into_iter().filter(|tool| !machine::is_here(tool)) {
            let why = machine::obstacle(tool, install);
            let why = why.unwrap_or_else(|| "it could not be installed, see above".into());
            self.filters.extend(machine::tests_of(tool));
            self.lack(&format!("tests that need the {tool}"), &why)?;
        }
        if !duckdb::works(&target(root).join("duckdb")) {
            let why = duckdb::obstacle(root, install);
            let why = why.unwrap_or_else(|| "it could not be installed, see above".into());
            self.lack("tests that need DuckDB", &why)?;
        }
        Ok(())
    }

    /// Runs tests. Those that skip themselves are noted with their reasons.
    fn test(&mut self, title: &str, line: &str, command: &mut Command) -> Result<()> {
        let mut skips = Skips::default();
        let tested = conduct_heard(title, line, command, &mut skips);
        self.skipped.append(&mut skips.found);
        self.note(tested)
    }

    fn end(self, begin: Instant) -> Result<()> {
        let seconds = begin.elapsed().as_secs_f64();
        if !self.skipped.is_empty() {
            say("")?;
        }
        for skipped in &self.skipped {
            say(&format!("-- skipped: {skipped}"))?;
        }
        ensure!(self.failed.is_empty(), "after {seconds:.0} s:\n  {}", self.failed.join("\n  "));
        let but = match self.skipped.len() {
            0 => String::new(),
            count => format!(", {count} skipped"),
        };
        say(&format!("\nall steps passed in {seconds:.0} s{but}"))
    }
}

/// Checks everything. Output of the tools passes through as it comes.
///
/// What waits for the network runs while the compiler works. The release build and the lints write to
/// different folders, so each uses the CPUs that the other leaves idle. A step that fails does not end the
/// others.
///
/// # Errors
/// Names the steps that failed.
pub(crate) fn test(root: &Path, install: bool) -> Result<()> {
    let begin = Instant::now();
    let (mut titles, mut left) = (Titles { step: 0 }, Left::default());
    announce(root, install)?;
    let tools = chore(root, "tools", install)?;
    let (title, line) = RELEASE;
    let release = Background::start(title, command(line).current_dir(root), root)?;
    for (title, component, line) in LOOKS {
        titles.next(&format!("{title}: {line}"))?;
        match reason_to_skip(component, line) {
            // Parts of the toolchain come from where it came from, which this command does not ask.
            Some(reason) => left.skip(title, &reason)?,
            None => left.note(conduct(title, line, command(line).current_dir(root)))?,
        }
    }
    titles.next("tools")?;
    left.finish(tools)?;
    let libraries = deny::find(root).map(|_| chore(root, "libraries", install)).transpose()?;
    titles.next(&format!("{title}: {line}"))?;
    left.finish(release)?;
    titles.next("libraries: cargo deny")?;
    match libraries {
        Some(libraries) => left.finish(libraries)?,
        None => left.lack("libraries", "cargo-deny could not be installed, see above")?,
    }
    left.look_for_tools(root, install)?;
    let (title, line) = VERSION;
    titles.next(&format!("{title}: {line}"))?;
    left.note(conduct(title, line, command(line).current_dir(root)))?;
    let (title, line) = TESTS;
    titles.next(&format!("{title}: {line}"))?;
    let mut tests = command(line);
    if let Some(threads) = test_threads() {
        tests.env(TEST_THREADS, threads);
    }
    tests.args(SHOWN).args(left.filters.iter().flat_map(|filter| ["--skip", filter]));
    tests.env(TESTED, release_binary(root)).current_dir(root);
    left.test(title, line, &mut tests)?;
    titles.next(&format!("{}: {}", elsewhere::TITLE, elsewhere::TESTS))?;
    match elsewhere::obstacle(root) {
        Some(reason) => left.skip(elsewhere::TITLE, &reason)?,
        None => left.note(elsewhere::test(root))?,
    }
    titles.next(&format!("{}: {}", FLEET.0, FLEET.1))?;
    match fleet_obstacle(install) {
        Some(reason) if slurm::forbidden().is_none() => left.lack(FLEET.0, &reason)?,
        Some(reason) => left.skip(FLEET.0, &reason)?,
        None => left.note(fleet(root, install))?,
    }
    titles.next("book")?;
    left.note(book::book(root).context("step \"book\" failed"))?;
    left.end(begin)
}

/// Names what is missing and cannot be installed, before anything takes time.
fn announce(root: &Path, install: bool) -> Result<()> {
    let tools = TOOLS.map(|tool| (tool, machine::obstacle(tool, install)));
    let looks = LOOKS.map(|(title, component, line)| (title, reason_to_skip(component, line)));
    let others = [
        ("DuckDB", duckdb::obstacle(root, install)),
        ("cargo deny", deny::obstacle(root, install)),
        (FLEET.0, slurm::obstacle(install)),
        (elsewhere::TITLE, elsewhere::obstacle(root)),
    ];
    for (what, obstacle) in tools.into_iter().chain(looks).chain(others) {
        if let Some(reason) = obstacle {
            say(&format!("-- {what}: will be skipped, {reason}"))?;
        }
    }
    Ok(())
}

/// Returns why there can be no cluster, also after its programs were installed.
fn fleet_obstacle(install: bool) -> Option<String> {
    let first = slurm::obstacle(install);
    first.or_else(|| match slurm::provide(install) {
        Ok(()) => slurm::obstacle(install),
        Err(error) => Some(format!("{error:#}")),
    })
}

/// Starts another chore of this program in the background.
fn chore(root: &Path, title: &'static str, install: bool) -> Result<Background> {
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command.arg(title).args((!install).then_some("--no-install")).current_dir(root);
    Background::start(title, &mut command, root)
}

/// Runs a step of tests to its end, and listens for what they skip.
fn conduct_heard(title: &str, line: &str, command: &mut Command, skips: &mut Skips) -> Result<()> {
    let start = Instant::now();
    let cannot = || format!("cannot start {line}");
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(cannot)?;
    let mut printed = BufReader::new(child.stdout.take().context("no pipe of a child")?);
    let mut bytes = Vec::new();
    while printed.read_until(b'\n', &mut bytes)? > 0 {
        let text = String::from_utf8_lossy(&bytes);
        if let Some(shown) = skips.hear(text.trim_end_matches('\n')) {
            say(shown)?;
        }
        bytes.clear();
    }
    let status = child.wait().context("cannot wait for a child")?;
    ensure!(status.success(), "step \"{title}\" failed: {line}: {status}");
    say(&format!("-- {title}: passed in {:.1} s", start.elapsed().as_secs_f64()))
}

/// Runs a step to its end.
fn conduct(title: &str, line: &str, command: &mut Command) -> Result<()> {
    let start = Instant::now();
    let status = command.status().with_context(|| format!("cannot start {line}"))?;
    ensure!(status.success(), "step \"{title}\" failed: {line}: {status}");
    say(&format!("-- {title}: passed in {:.1} s", start.elapsed().as_secs_f64()))
}

/// The tests of the fleet, on a cluster of virtual nodes that is there for them alone.
pub(crate) fn fleet(root: &Path, install: bool) -> Result<()> {
    let (title, line) = FLEET;
    if let Some(reason) = slurm::obstacle(install) {
        return say(&format!("-- {title}: SKIPPED, {reason}"));
    }
    let failed = || format!("step \"{title}\" failed");
    let dir = target(root).join("slurm");
    // Of an earlier time that was cut off.
    if dir.exists() || slurm::owner().is_some_and(|own| own == dir) {
        slurm::down(&dir).with_context(failed)?;
    }
    wait_for_the_cluster_of_others()?;
    slurm::up(&dir, slurm::NODES, install).with_context(failed)?;
    let tested = conduct(
        title,
        line,
        command(line)
            .env("SCRUPLE_CLUSTER", &dir)
            .env(TESTED, release_binary(root))
            .current_dir(root),
    );
    let down = slurm::down(&dir).with_context(failed);
    tested.and(down)
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

fn reason_to_skip(component: &str, line: &str) -> Option<String> {
    let mut words = line.split_whitespace().skip_while(|word| *word != "--target");
    if let Some(missing) = words.nth(1).and_then(dist::obstacle) {
        return Some(missing);
    }
    let subcommand = line.split_whitespace().nth(1).unwrap_or_default();
    let there = command("cargo").args([subcommand, "--version"]).works();
    (!there).then(|| format!("{component} is not installed (`rustup component add {component}`)"))
}

/// The scruple of the release build.
fn release_binary(root: &Path) -> PathBuf {
    target(root).join("release/scruple")
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
    use super::{FLEET, LOOKS, RELEASE, TESTS, VERSION, reason_to_skip};

    #[test]
    fn a_component_that_is_not_installed_is_named_with_its_remedy() {
        assert_eq!(
            reason_to_skip("astrolabe", "cargo astrolabe --all").as_deref(),
            Some("astrolabe is not installed (`rustup component add astrolabe`)")
        );
        let missing = reason_to_skip("", "cargo check --target astrolabe-unknown-linux-musl");
        assert!(missing.unwrap().ends_with("rustup target add astrolabe-unknown-linux-musl"));
    }

    #[test]
    fn warnings_are_errors_and_all_rooms_are_tested() {
        let mut lines: Vec<&str> = LOOKS.iter().map(|(.., line)| *line).collect();
        lines.extend([RELEASE, TESTS, VERSION, FLEET].map(|(_, line)| line));
        for line in [
            "cargo fmt --all --check",
            "cargo clippy --workspace --all-targets --features export/parquet -- -D warnings",
            "cargo clippy --package sys --target x86_64-unknown-linux-musl -- -D warnings",
            "cargo build --release",
            "cargo test --workspace --features export/parquet --no-fail-fast",
            "cargo run --release --quiet -- --version",
        ] {
            assert!(lines.contains(&line), "{line}");
        }
    }
}
