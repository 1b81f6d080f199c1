//! Runs the commands of promises in a folder of their own, and compares the screen with what is promised.

use super::list::{Promise, Sight};
use super::server;
use crate::shell::{Run, command, find_in, remove};
use crate::steps;
use anyhow::{Context, Result};
use regex::Regex;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command that runs longer is stopped, in seconds.
const SECONDS_AT_MOST: u32 = 60;

/// What is copied into the folder: commands name these paths, and `report` writes into recorded sessions.
const COPIED: [&str; 2] = ["recorded", "docs"];

/// The folder in which the commands run.
pub(super) struct Stage {
    folder: PathBuf,
    /// Where `scruple` is found first.
    path: std::ffi::OsString,
    server: String,
    other: String,
}

/// What a command has left.
pub(super) struct Screen {
    code: Option<i32>,
    output: String,
    /// Standard output, and then standard error.
    all: String,
}

impl Stage {
    /// Makes the folder anew, with the recorded sessions and two servers.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn new(root: &Path, folder: &Path, binary: &Path) -> Result<Self> {
        remove(folder)?;
        let programs = folder.join("bin");
        std::fs::create_dir_all(&programs)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        std::os::unix::fs::symlink(binary, programs.join("scruple"))?;
        for name in COPIED.iter().filter(|name| root.join(name).is_dir()) {
            command("cp -r").arg(root.join(name)).arg(folder).run()?;
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        // What `cargo xtask tools` has installed.
        let duckdb = steps::target(root).join("duckdb/bin/duckdb");
        if duckdb.is_file() {
            std::os::unix::fs::symlink(duckdb, programs.join("duckdb"))?;
        }
        let folders = [programs].into_iter().chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders)?;
        server::on_socket(&folder.join("app.sock"))?;
        let (server, other) = (server::on_loopback()?, server::on_loopback()?);
        Ok(Stage { folder: folder.to_path_buf(), path, server, other })
    }

    /// Returns why a promise cannot be tried on this machine.
    pub(super) fn obstacle(&self, promise: &Promise) -> Option<String> {
        let missing = promise.needs.iter().find(|name| match name.as_str() {
            "root" => !is_root(),
            name => find_in(&self.path, name).is_none(),
        });
        missing.map(|name| match name.as_str() {
            "root" => "this needs root".to_string(),
            name => format!("{name} is not installed"),
        })
    }

    /// Returns what does not hold after the command of a promise has ended.
    pub(super) fn faults(&self, promise: &Promise, screen: &Screen) -> Vec<String> {
        if screen.all.contains("panicked at") {
            return vec!["it panicked".into()];
        }
        match screen.code {
            Some(124) => return vec![format!("it has not ended after {SECONDS_AT_MOST} s")],
            Some(code) if promise.exit.contains(&code) => {}
            code => {
                let code = code.map_or("none".to_string(), |code| code.to_string());
                let promised: Vec<String> = promise.exit.iter().map(i32::to_string).collect();
                let last = screen.all.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("");
                let (promised, last) = (promised.join(" or "), last.trim());
                return vec![format!("exit code {code}, not {promised}: {last}")];
            }
        }
        promise.sights.iter().filter_map(|sight| self.missing(sight, screen)).collect()
    }

    /// Runs a line of the list in a shell.
    ///
    /// # Errors
    /// If no shell can be started.
    pub(super) fn run(&self, line: &str) -> Result<Screen> {
        let output = Command::new("timeout")
            .args([&SECONDS_AT_MOST.to_string(), "sh", "-c", line])
            .current_dir(&self.folder)
            .env("PATH", &self.path)
            .env("SERVER", &self.server)
            .env("OTHER", &self.other)
            .env("HOME", &self.folder)
            .env("COLUMNS", "100")
            .env("NO_COLOR", "1")
            .env("LC_ALL", "C.UTF-8")
            .stdin(std::process::Stdio::null())
            .output()
            .with_context(|| format!("cannot start {line}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&output.stderr);
        let all = format!("{text}{complaint}");
        Ok(Screen { code: output.status.code(), output: text, all })
    }

    fn missing(&self, sight: &Sight, screen: &Screen) -> Option<String> {
        match sight {
            Sight::Text(text) => {
                (!screen.shows(text)).then(|| format!("\"{text}\" is not on the screen"))
            }
            Sight::Pattern(pattern) => (!pattern.is_match(&screen.all))
                .then(|| format!("nothing on the screen matches {}", shown(pattern))),
            Sight::Json(pointer) => match serde_json::from_str::<Value>(&screen.output) {
                Ok(value) => value
                    .pointer(pointer)
                    .is_none_or(Value::is_null)
                    .then(|| format!("the JSON has no value at {pointer}")),
                Err(error) => Some(format!("it prints no JSON: {error}")),
            },
            Sight::File(name) => {
                let written = std::fs::metadata(self.folder.join(name)).map(|it| it.len());
                (!written.is_ok_and(|bytes| bytes > 0)).then(|| format!("it writes no {name}"))
            }
            Sight::Quote(_) => None,
        }
    }
}

impl Screen {
    /// Reports whether a text is on the screen, wherever its lines were broken.
    pub(super) fn shows(&self, text: &str) -> bool {
        let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        joined(&self.all).contains(&joined(text))
    }
}

/// Returns a pattern as the list has it.
pub(super) fn shown(pattern: &Regex) -> &str {
    pattern.as_str().trim_start_matches("(?m)")
}

fn is_root() -> bool {
    command("id -u").read().is_ok_and(|id| id.trim() == "0")
}
