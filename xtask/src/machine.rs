//! What the chores need of the machine, and how it gets there.

use crate::shell::{Run, command, on_path};
use anyhow::{Context, Result, bail, ensure};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The package managers in the order in which they are looked for, and the tools. A tool has its names
/// in the order of preference, and by package manager the packages that may bring it; those of `other`
/// are for all managers that it does not name, and `&` joins those that are needed together. `variable`
/// is one of the environment that may name it.
const LIST: &str = include_str!("tools.txt");

/// A block of a list: lines of a key and words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a>(&'a str);

/// What scruple is calibrated against.
pub(crate) const PEERS: [&str; 3] = ["perf", "stress-ng", "hyperfine"];

/// Sees to it that a tool of the list works here, and returns where it is. Where `install` is false,
/// nothing is changed.
///
/// # Errors
/// If it is not there and cannot be had: with the command to type.
pub(crate) fn provide(what: &str, install: bool) -> Result<PathBuf> {
    let tool = entries("tool").find(|tool| tool.get("tool") == what);
    provide_entry(tool.with_context(|| format!("{what} is not in the list of tools"))?, install)
}

fn provide_entry(tool: Entry<'_>, install: bool) -> Result<PathBuf> {
    let what = tool.get("tool");
    let found = || {
        let found = find(tool);
        found.inspect(|program| println!("-- {what}: {}", program.display()))
    };
    if let Some(program) = found() {
        return Ok(program);
    }
    let Some(manager) = manager() else {
        let package = tool.packages("other").next().unwrap_or_default();
        bail!("no {what}, and no package manager that I know: install {package} by hand");
    };
    let by_hand = by_hand(manager, tool);
    ensure!(install, "no {what}, and nothing is to be installed; type: {by_hand}");
    for line in commands(manager, tool, if is_root() { "" } else { "sudo -n " }) {
        println!("-- no {what} yet: {line}");
        // A mirror that is down or a package that this system does not have is no reason to
        // stop: the look for the program decides.
        let _ = command(&line)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .status()
            .with_context(|| format!("cannot start {line}; type: {by_hand}"))?;
        if let Some(program) = found() {
            return Ok(program);
        }
    }
    bail!("no {what} could be installed; type: {by_hand}")
}

/// Returns the filter that names a tool's tests; none where they see to it themselves.
pub(crate) fn tests_of(what: &str) -> Option<&'static str> {
    let tool = entries("tool").find(|tool| tool.get("tool") == what)?;
    Some(tool.get("tests")).filter(|tests| !tests.is_empty())
}

/// Reports whether a tool of the list works here.
pub(crate) fn is_here(what: &str) -> bool {
    entries("tool").any(|tool| tool.get("tool") == what && find(tool).is_some())
}

/// Returns why a tool is not here and cannot be installed, as far as that is known before it is tried, with the
/// command to type.
pub(crate) fn obstacle(what: &str, install: bool) -> Option<String> {
    let tool = entries("tool").find(|tool| tool.get("tool") == what && find(*tool).is_none())?;
    let Some(manager) = manager() else {
        let package = tool.packages("other").next().unwrap_or_default();
        return Some(format!("no package manager that I know: install {package} by hand"));
    };
    let by_hand = by_hand(manager, tool);
    if !install {
        return Some(format!("nothing is to be installed; type: {by_hand}"));
    }
    let may = is_root() || command("sudo -n true").works();
    (!may).then(|| format!("neither root nor sudo without a password; type: {by_hand}"))
}

fn manager() -> Option<Entry<'static>> {
    entries("manager").find(|entry| on_path(entry.get("manager")).is_some())
}

/// Returns the blocks of the list that are of a kind.
fn entries(kind: &str) -> impl Iterator<Item = Entry<'static>> {
    blocks(LIST, kind)
}

/// Returns the blocks of a list that have a key.
pub(crate) fn blocks<'a>(list: &'a str, key: &str) -> impl Iterator<Item = Entry<'a>> {
    list.split("\n\n").map(Entry).filter(move |entry| !entry.get(key).is_empty())
}

impl<'a> Entry<'a> {
    /// Returns the words of a key, empty where the key is missing.
    pub(crate) fn get(self, key: &str) -> &'a str {
        let mut lines = self.0.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(name, _)| *name == key).map_or("", |(_, words)| words)
    }

    /// Returns the packages that may bring the tool.
    fn packages(self, manager: &str) -> impl Iterator<Item = &'a str> {
        let own = Some(self.get(manager)).filter(|own| !own.is_empty());
        own.unwrap_or_else(|| self.get("other")).split_whitespace()
    }
}

/// The commands that may bring a tool, in order.
fn commands(manager: Entry<'_>, tool: Entry<'_>, prefix: &str) -> Vec<String> {
    let (program, install) = (manager.get("manager"), manager.get("install"));
    let update = Some(manager.get("update")).filter(|word| !word.is_empty());
    let update = update.map(|word| format!("{prefix}{program} {word}"));
    let packages = tool.packages(program);
    let packages = packages.map(|package| package.replace('&', " "));
    let installs = packages.map(|package| format!("{prefix}{program} {install} {package}"));
    update.into_iter().chain(installs).collect()
}

/// One line for a person to type.
fn by_hand(manager: Entry<'_>, tool: Entry<'_>) -> String {
    let all = commands(manager, tool, if is_root() { "" } else { "sudo " });
    let keep = all.len() - tool.packages(manager.get("manager")).count() + 1;
    all[..keep].join(" && ")
}

/// A program that starts: a name on the path is not enough, since some distributions put a script
/// there that only says how to install it.
fn find(tool: Entry<'_>) -> Option<PathBuf> {
    let variable = Some(tool.get("variable")).filter(|name| !name.is_empty());
    let named = variable.and_then(std::env::var_os).map(PathBuf::from);
    let found = tool.get("names").split_whitespace().filter_map(on_path);
    named.into_iter().chain(found).find(|program| answers(program) && has_modules(program, tool))
}

/// Reports whether a program that is Python has the modules that a tool is for.
fn has_modules(program: &Path, tool: Entry<'_>) -> bool {
    let modules = tool.get("modules");
    let import = format!("import {modules}");
    modules.is_empty() || std::process::Command::new(program).args(["-c", &import]).works()
}

fn answers(program: &Path) -> bool {
    // busybox has no version to tell, but help; Icarus Verilog knows only the letter.
    ["--version", "--help", "-V"]
        .iter()
        .any(|word| std::process::Command::new(program).arg(word).works())
}

/// The owner of /proc/self is this process's effective user.
pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::{Entry, PEERS, answers, by_hand, commands, entries, find, provide_entry};
    use std::path::Path;

    fn tool(what: &str) -> Entry<'static> {
        entries("tool").find(|tool| tool.get("tool") == what).unwrap()
    }

    #[test]
    fn the_list_is_refreshed_first_and_every_package_is_tried() {
        let managers: Vec<_> = entries("manager").collect();
        assert_eq!(
            commands(managers[0], tool("browser"), "sudo -n "),
            [
                "sudo -n apt-get update",
                "sudo -n apt-get install -y --no-install-recommends chromium",
                "sudo -n apt-get install -y --no-install-recommends chromium-browser",
            ]
        );
        assert_eq!(
            commands(managers[2], tool("browser"), ""),
            ["pacman -Sy --noconfirm --needed chromium"]
        );
        let linker = commands(managers[0], tool("linker for aarch64"), "");
        assert!(linker[1].ends_with(" gcc-aarch64-linux-gnu libc6-dev-arm64-cross"), "{linker:?}");
    }

    #[test]
    fn a_person_is_told_one_line_per_manager() {
        let managers: Vec<_> = entries("manager").collect();
        assert_eq!(managers.len(), 5);
        for manager in &managers {
            let program = manager.get("manager");
            let line = by_hand(*manager, tool("browser"));
            assert!(line.contains(program) && line.ends_with(" chromium"), "{line}");
            for peer in PEERS {
                let line = by_hand(*manager, tool(peer));
                assert!(line.contains(program) && line.ends_with(peer), "{line}");
            }
        }
        assert!(by_hand(managers[4], tool("browser")).contains("apk update && "));
    }

    #[test]
    fn every_tool_of_the_list_has_names_and_packages() {
        assert_eq!(entries("tool").count(), 14);
        for tool in entries("tool") {
            assert!(!tool.get("names").is_empty() && !tool.get("other").is_empty(), "{tool:?}");
        }
        assert!(tool("browser").get("names").contains("chromium"));
    }

    #[test]
    fn what_is_missing_is_named_with_what_to_type_and_nothing_is_changed() {
        let missing = Entry("tool: astrolabe\nnames: astrolabe\nother: astrolabe");
        assert_eq!(find(missing), None);
        let said = provide_entry(missing, false).unwrap_err().to_string();
        assert!(said.starts_with("no astrolabe") && said.contains("install"), "{said}");
    }

    #[test]
    fn a_program_that_refuses_is_no_browser() {
        assert!(!answers(Path::new("/bin/false")));
        assert!(!answers(Path::new("/nowhere/chromium")));
        assert!(answers(Path::new("/bin/true")));
    }
}
