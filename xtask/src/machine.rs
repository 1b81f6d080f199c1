//! What the tests need of the machine, and how it gets there.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The names under which a browser for the report's tests may be installed.
const BROWSERS: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];

/// A package manager, and the words that install a browser with it.
#[derive(Debug, PartialEq, Eq)]
struct Manager {
    program: &'static str,
    /// What refreshes its list of packages, if it does not do so by itself.
    update: &'static [&'static str],
    install: &'static [&'static str],
    /// The packages to try, in this order.
    packages: &'static [&'static str],
}

const MANAGERS: [Manager; 5] = [
    Manager {
        program: "apt-get",
        update: &["update"],
        install: &["install", "-y", "--no-install-recommends"],
        // On Ubuntu the second is a snap's door, which need not open; on older Debians the first
        // is missing.
        packages: &["chromium", "chromium-browser"],
    },
    Manager {
        program: "dnf",
        update: &[],
        install: &["install", "-y"],
        packages: &["chromium", "chromium-headless"],
    },
    Manager {
        program: "pacman",
        update: &[],
        install: &["-Sy", "--noconfirm", "--needed"],
        packages: &["chromium"],
    },
    Manager {
        program: "zypper",
        update: &[],
        install: &["--non-interactive", "install"],
        packages: &["chromium"],
    },
    Manager { program: "apk", update: &["update"], install: &["add"], packages: &["chromium"] },
];

/// Sees to it that the tests find what they need: a browser that works. Where `install` is false,
/// nothing is changed.
///
/// # Errors
/// If there is none and it cannot be had: with the command to type.
pub(crate) fn provide(install: bool) -> Result<()> {
    if let Some(browser) = find_browser() {
        println!("-- a browser: {}", browser.display());
        return Ok(());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(manager) = MANAGERS.iter().find(|manager| on_path(manager.program, &path).is_some())
    else {
        bail!("no browser, and no package manager that I know: install chromium by hand");
    };
    let by_hand = by_hand(manager);
    if !install {
        bail!("no browser, and nothing is to be installed; type: {by_hand}");
    }
    let prefix: &[&str] = if is_root() { &[] } else { &["sudo", "-n"] };
    for words in commands(manager, prefix) {
        println!("-- no browser yet: {}", words.join(" "));
        // A mirror that is down or a package that this system does not have is no reason to
        // stop: the look for a browser decides.
        let _ = Command::new(words[0])
            .args(&words[1..])
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .status()
            .with_context(|| format!("cannot start {}; type: {by_hand}", words[0]))?;
        if let Some(browser) = find_browser() {
            println!("-- a browser: {}", browser.display());
            return Ok(());
        }
    }
    bail!("no browser could be installed; type: {by_hand}")
}

/// The commands that may bring a browser, in order.
fn commands<'a>(manager: &Manager, prefix: &[&'a str]) -> Vec<Vec<&'a str>> {
    let line = |words: &[&'static str], package: Option<&'static str>| {
        let mut line = prefix.to_vec();
        line.push(manager.program);
        line.extend(words);
        line.extend(package);
        line
    };
    let update = (!manager.update.is_empty()).then(|| line(manager.update, None));
    let installs = manager.packages.iter().map(|package| line(manager.install, Some(package)));
    update.into_iter().chain(installs).collect()
}

/// One line for a person to type.
fn by_hand(manager: &Manager) -> String {
    let prefix: &[&str] = if is_root() { &[] } else { &["sudo"] };
    let keep = commands(manager, prefix).len() - manager.packages.len() + 1;
    let lines: Vec<String> =
        commands(manager, prefix).iter().take(keep).map(|words| words.join(" ")).collect();
    lines.join(" && ")
}

/// A browser that starts: a name on the path is not enough, since some distributions put a
/// script there that only says how to install it.
fn find_browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::var_os("CHROME").map(PathBuf::from);
    let found = BROWSERS.iter().filter_map(|name| on_path(name, &path));
    named.into_iter().chain(found).find(|program| answers(program))
}

fn answers(program: &Path) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|output| output.status.success())
}

fn on_path(name: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The owner of /proc/self is this process's effective user.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::{BROWSERS, MANAGERS, answers, by_hand, commands, on_path};
    use std::ffi::OsStr;
    use std::path::Path;

    #[test]
    fn the_list_is_refreshed_first_and_every_package_is_tried() {
        let lines: Vec<String> =
            commands(&MANAGERS[0], &["sudo", "-n"]).iter().map(|words| words.join(" ")).collect();
        assert_eq!(
            lines,
            [
                "sudo -n apt-get update",
                "sudo -n apt-get install -y --no-install-recommends chromium",
                "sudo -n apt-get install -y --no-install-recommends chromium-browser",
            ]
        );
        assert_eq!(
            commands(&MANAGERS[2], &[]),
            [["pacman", "-Sy", "--noconfirm", "--needed", "chromium"]]
        );
    }

    #[test]
    fn a_person_is_told_one_line_per_manager() {
        for manager in &MANAGERS {
            let line = by_hand(manager);
            assert!(line.contains(manager.program) && line.ends_with(" chromium"), "{line}");
        }
        assert!(by_hand(&MANAGERS[4]).contains("apk update && "));
    }

    #[test]
    fn programs_are_looked_up_in_order() {
        let found = on_path("sh", OsStr::new("/nowhere:/bin:/usr/bin"));
        assert_eq!(found.as_deref(), Some(Path::new("/bin/sh")));
        assert_eq!(on_path("sh", OsStr::new("/nowhere")), None);
        assert!(BROWSERS.contains(&"chromium"));
    }

    #[test]
    fn a_program_that_refuses_is_no_browser() {
        assert!(!answers(Path::new("/bin/false")));
        assert!(!answers(Path::new("/nowhere/chromium")));
        assert!(answers(Path::new("/bin/true")));
    }
}
