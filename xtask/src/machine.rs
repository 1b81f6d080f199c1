//! What the chores need of the machine, and how it gets there.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A package manager, and the words that install with it.
#[derive(Debug, PartialEq, Eq)]
struct Manager {
    program: &'static str,
    /// What refreshes its list of packages, if it does not do so by itself.
    update: &'static [&'static str],
    install: &'static [&'static str],
}

const MANAGERS: [Manager; 5] = [
    Manager {
        program: "apt-get",
        update: &["update"],
        install: &["install", "-y", "--no-install-recommends"],
    },
    Manager { program: "dnf", update: &[], install: &["install", "-y"] },
    Manager { program: "pacman", update: &[], install: &["-Sy", "--noconfirm", "--needed"] },
    Manager { program: "zypper", update: &[], install: &["--non-interactive", "install"] },
    Manager { program: "apk", update: &["update"], install: &["add"] },
];

/// Something that a chore wants to find.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tool {
    /// What it is, after "no".
    what: &'static str,
    /// The variable that may name it.
    variable: Option<&'static str>,
    /// The names under which it may be installed.
    names: &'static [&'static str],
    /// The packages to try in this order, by package manager; the last line is for all others.
    packages: &'static [(&'static str, &'static [&'static str])],
}

/// A browser for the report's tests.
pub(crate) const BROWSER: Tool = Tool {
    what: "browser",
    variable: Some("CHROME"),
    names: &["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"],
    packages: &[
        // On Ubuntu the second is a snap's door, which need not open; on older Debians the first
        // is missing.
        ("apt-get", &["chromium", "chromium-browser"]),
        ("dnf", &["chromium", "chromium-headless"]),
        ("", &["chromium"]),
    ],
};

/// The emulator that the simulated core is held against.
pub(crate) const EMULATOR: Tool = Tool {
    what: "RISC-V emulator",
    variable: None,
    names: &["qemu-riscv32"],
    packages: &[("zypper", &["qemu-linux-user"]), ("apk", &["qemu-riscv32"]), ("", &["qemu-user"])],
};

/// What reaches the hosts of a fleet. The tests that need it are left out where it is not there.
pub(crate) const PARALLEL: Tool = Tool {
    what: "GNU parallel",
    variable: None,
    names: &["parallel"],
    packages: &[("pacman", &["parallel"]), ("zypper", &["gnu_parallel"]), ("", &["parallel"])],
};

/// What a virtual machine runs on.
pub(crate) const VIRTUAL: Tool = Tool {
    what: "machine emulator",
    variable: None,
    names: &["qemu-system-x86_64"],
    packages: &[
        ("dnf", &["qemu-system-x86-core"]),
        ("zypper", &["qemu-x86"]),
        ("apk", &["qemu-system-x86_64"]),
        ("", &["qemu-system-x86"]),
    ],
};

/// The programs of its guest.
pub(crate) const BUSYBOX: Tool = Tool {
    what: "busybox",
    variable: None,
    names: &["busybox"],
    packages: &[
        ("apt-get", &["busybox-static", "busybox"]),
        ("zypper", &["busybox-static"]),
        ("", &["busybox"]),
    ],
};

/// What scruple is calibrated against.
pub(crate) const PEERS: [Tool; 3] = [
    Tool {
        what: "perf",
        variable: None,
        names: &["perf"],
        // Debian has the first, Ubuntu the second, which brings the tools of its newest kernel.
        packages: &[("apt-get", &["linux-perf", "linux-tools-generic"]), ("", &["perf"])],
    },
    Tool {
        what: "stress-ng",
        variable: None,
        names: &["stress-ng"],
        packages: &[("", &["stress-ng"])],
    },
    Tool {
        what: "hyperfine",
        variable: None,
        names: &["hyperfine"],
        packages: &[("", &["hyperfine"])],
    },
];

/// Sees to it that something works here. Where `install` is false, nothing is changed.
///
/// # Errors
/// If it is not there and cannot be had: with the command to type.
pub(crate) fn provide(tool: &Tool, install: bool) -> Result<()> {
    let what = tool.what;
    if let Some(found) = find(tool) {
        println!("-- {what}: {}", found.display());
        return Ok(());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(manager) = MANAGERS.iter().find(|manager| on_path(manager.program, &path).is_some())
    else {
        let packages = tool.packages_of("");
        bail!("no {what}, and no package manager that I know: install {} by hand", packages[0]);
    };
    let by_hand = by_hand(manager, tool);
    if !install {
        bail!("no {what}, and nothing is to be installed; type: {by_hand}");
    }
    let prefix: &[&str] = if is_root() { &[] } else { &["sudo", "-n"] };
    for words in commands(manager, tool, prefix) {
        println!("-- no {what} yet: {}", words.join(" "));
        // A mirror that is down or a package that this system does not have is no reason to
        // stop: the look for the program decides.
        let _ = Command::new(words[0])
            .args(&words[1..])
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .status()
            .with_context(|| format!("cannot start {}; type: {by_hand}", words[0]))?;
        if let Some(found) = find(tool) {
            println!("-- {what}: {}", found.display());
            return Ok(());
        }
    }
    bail!("no {what} could be installed; type: {by_hand}")
}

impl Tool {
    /// The packages that may bring it.
    fn packages_of(&self, manager: &str) -> &'static [&'static str] {
        let line = self.packages.iter().find(|(of, _)| *of == manager);
        line.or(self.packages.last()).map_or(&[], |(_, packages)| packages)
    }
}

/// The commands that may bring a tool, in order.
fn commands<'a>(manager: &Manager, tool: &Tool, prefix: &[&'a str]) -> Vec<Vec<&'a str>> {
    let line = |words: &[&'static str], package: Option<&'static str>| {
        let mut line = prefix.to_vec();
        line.push(manager.program);
        line.extend(words);
        line.extend(package);
        line
    };
    let update = (!manager.update.is_empty()).then(|| line(manager.update, None));
    let installs = tool.packages_of(manager.program).iter();
    let installs = installs.map(|package| line(manager.install, Some(package)));
    update.into_iter().chain(installs).collect()
}

/// One line for a person to type.
fn by_hand(manager: &Manager, tool: &Tool) -> String {
    let prefix: &[&str] = if is_root() { &[] } else { &["sudo"] };
    let all = commands(manager, tool, prefix);
    let keep = all.len() - tool.packages_of(manager.program).len() + 1;
    let lines: Vec<String> = all.iter().take(keep).map(|words| words.join(" ")).collect();
    lines.join(" && ")
}

/// A program that starts: a name on the path is not enough, since some distributions put a script
/// there that only says how to install it.
pub(crate) fn find(tool: &Tool) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = tool.variable.and_then(std::env::var_os).map(PathBuf::from);
    let found = tool.names.iter().filter_map(|name| on_path(name, &path));
    named.into_iter().chain(found).find(|program| answers(program))
}

fn answers(program: &Path) -> bool {
    let answers_to = |word| {
        let said = Command::new(program).arg(word).stdin(Stdio::null()).output();
        said.is_ok_and(|output| output.status.success())
    };
    // busybox has no version to tell, but help.
    answers_to("--version") || answers_to("--help")
}

pub(crate) fn on_path(name: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The owner of /proc/self is this process's effective user.
pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::{
        BROWSER, MANAGERS, PEERS, Tool, answers, by_hand, commands, find, on_path, provide,
    };
    use std::ffi::OsStr;
    use std::path::Path;

    #[test]
    fn the_list_is_refreshed_first_and_every_package_is_tried() {
        let lines: Vec<String> = commands(&MANAGERS[0], &BROWSER, &["sudo", "-n"])
            .iter()
            .map(|words| words.join(" "))
            .collect();
        assert_eq!(
            lines,
            [
                "sudo -n apt-get update",
                "sudo -n apt-get install -y --no-install-recommends chromium",
                "sudo -n apt-get install -y --no-install-recommends chromium-browser",
            ]
        );
        assert_eq!(
            commands(&MANAGERS[2], &BROWSER, &[]),
            [["pacman", "-Sy", "--noconfirm", "--needed", "chromium"]]
        );
    }

    #[test]
    fn a_person_is_told_one_line_per_manager() {
        for manager in &MANAGERS {
            let line = by_hand(manager, &BROWSER);
            assert!(line.contains(manager.program) && line.ends_with(" chromium"), "{line}");
            for peer in &PEERS {
                let line = by_hand(manager, peer);
                assert!(line.contains(manager.program) && line.ends_with(peer.what), "{line}");
            }
        }
        assert!(by_hand(&MANAGERS[4], &BROWSER).contains("apk update && "));
    }

    #[test]
    fn programs_are_looked_up_in_order() {
        let found = on_path("sh", OsStr::new("/nowhere:/bin:/usr/bin"));
        assert_eq!(found.as_deref(), Some(Path::new("/bin/sh")));
        assert_eq!(on_path("sh", OsStr::new("/nowhere")), None);
        assert!(BROWSER.names.contains(&"chromium"));
    }

    #[test]
    fn what_is_missing_is_named_with_what_to_type_and_nothing_is_changed() {
        let missing = Tool {
            what: "astrolabe",
            variable: None,
            names: &["astrolabe"],
            packages: &[("", &["astrolabe"])],
        };
        assert_eq!(find(&missing), None);
        let said = provide(&missing, false).unwrap_err().to_string();
        assert!(said.starts_with("no astrolabe") && said.contains("install"), "{said}");
    }

    #[test]
    fn a_program_that_refuses_is_no_browser() {
        assert!(!answers(Path::new("/bin/false")));
        assert!(!answers(Path::new("/nowhere/chromium")));
        assert!(answers(Path::new("/bin/true")));
    }
}
