//! Other programs, started in one way.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the command of a line of words, without input. Arguments that may hold spaces are added
/// to it. `cargo` is the one that started us, so that both use one toolchain.
pub(crate) fn command(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let program = words.next().unwrap_or_default();
    let ours = std::env::var_os("CARGO").filter(|_| program == "cargo");
    let mut command = Command::new(ours.unwrap_or_else(|| program.into()));
    command.args(words).stdin(Stdio::null());
    command
}

/// Ways to run a command to its end.
pub(crate) trait Run {
    /// Runs it. Its output passes through.
    ///
    /// # Errors
    /// If it cannot be started, or does not end with 0.
    fn run(&mut self) -> Result<()>;

    /// Runs it and returns what it printed.
    ///
    /// # Errors
    /// If it cannot be started, or does not end with 0: with its complaint.
    fn read(&mut self) -> Result<String>;

    /// Reports whether it could be started and ended with 0. Shows nothing.
    fn works(&mut self) -> bool;
}

impl Run for Command {
    fn run(&mut self) -> Result<()> {
        let status = self.status().with_context(|| format!("cannot start {}", shown(self)))?;
        ensure!(status.success(), "{}: {status}", shown(self));
        Ok(())
    }

    fn read(&mut self) -> Result<String> {
        let output = self.output().with_context(|| format!("cannot start {}", shown(self)))?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        let status = output.status;
        ensure!(status.success(), "{}: {status}: {}", shown(self), complaint.trim());
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn works(&mut self) -> bool {
        self.read().is_ok()
    }
}

/// Returns a command as one types it.
pub(crate) fn shown(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Returns the file that starts when a program of this name is typed, if there is one.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    find_in(&std::env::var_os("PATH").unwrap_or_default(), name)
}

/// Returns the first file of this name in a list of folders.
pub(crate) fn find_in(path: &std::ffi::OsStr, name: &str) -> Option<PathBuf> {
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Removes a folder with all that is in it, if it is there.
///
/// # Errors
/// If it is still there afterwards.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Run, command, find_in};
    use std::ffi::OsStr;
    use std::path::Path;

    #[test]
    fn programs_are_looked_up_in_order() {
        let found = find_in(OsStr::new("/nowhere:/bin:/usr/bin"), "sh");
        assert_eq!(found.as_deref(), Some(Path::new("/bin/sh")));
        assert_eq!(find_in(OsStr::new("/nowhere"), "sh"), None);
    }

    #[test]
    fn a_command_that_fails_is_named_with_its_complaint() {
        assert_eq!(command("echo a  b").read().unwrap(), "a b\n");
        let said = command("ls /nowhere").read().unwrap_err().to_string();
        assert!(said.starts_with("ls /nowhere: exit status") && said.contains("No such"), "{said}");
        let said = command("/nowhere/program x").run().unwrap_err().to_string();
        assert_eq!(said, "cannot start /nowhere/program x");
        assert!(command("true").works() && !command("false").works());
    }
}
