//! Whether a package works where there is nothing else.

use super::Target;
use super::packages::Kind;
use crate::machine::is_root;
use crate::shell::{Run, command, on_path, remove};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// What is tried of a program. QEMU does not emulate a system call that the last one needs, `prctl` with
/// `PR_SET_CHILD_SUBREAPER`.
const SMOKE: [&str; 3] = ["--version", "list", "run syscalls --profile smoke --time-budget 2s"];

/// Starts a command in a folder as its root, which has nothing more than the kernel's own files.
const INSIDE: &str = r#"mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" || exit 1
[ $# = 0 ] || exec chroot "$0" "$@""#;

/// Unpacks a package as its users do and tries what it brings. Returns what was tried, or why not.
///
/// # Errors
/// If it cannot be unpacked, or a command fails.
pub(super) fn attempt(kind: Kind, file: &Path, target: &Target, folder: &Path) -> Result<String> {
    if !target.is_native() && target.emulator.is_none() {
        return Ok(format!("not tried: no qemu-{} here", target.cpu));
    }
    remove(folder)?;
    for name in ["dev", "proc", "usr"] {
        std::fs::create_dir_all(folder.join(name))?;
    }
    let (usr, inside) = (folder.join("usr"), Path::new("/usr/bin/scruple"));
    match kind {
        Kind::Tarball => {
            let tar = "tar --extract --strip-components=1 --file";
            command(tar).arg(file).arg("-C").arg(&usr).run()?;
        }
        Kind::Debian if on_path("dpkg-deb").is_some() => {
            command("dpkg-deb -x").arg(file).arg(folder).run()?;
        }
        Kind::Debian => {
            let pipe = r#"ar p "$0" data.tar.gz | tar --extract --gzip -C "$1""#;
            command("sh -c").arg(pipe).arg(file).arg(folder).run()?;
        }
        Kind::Wheel if on_path("python3").is_none() => return Ok("not tried: no python3".into()),
        Kind::Wheel => install(file, target, &usr)?,
    }
    let program = folder.join("usr/bin/scruple");
    if !target.is_native() {
        let emulated = || target.start(&program).context("no emulator");
        return Ok(format!("{} under QEMU", smoke(&SMOKE[..2], folder, emulated)?));
    }
    let plain = || target.start(&program).context("no program");
    if kind == Kind::Wheel {
        return Ok(format!("{} in a virtual environment", smoke(&SMOKE, folder, plain)?));
    }
    let bare = || {
        let user = if is_root() { "" } else { "--user --map-root-user" };
        let mut command = command("timeout 300 unshare --mount --pid --fork --kill-child");
        command.args(user.split_whitespace()).args(["sh", "-c", INSIDE]).arg(folder);
        command
    };
    if let Err(error) = bare().read() {
        let said = smoke(&SMOKE, folder, plain)?;
        return Ok(format!("{said}, but not in a bare root: {error:#}"));
    }
    let said = smoke(&SMOKE, folder, || {
        let mut command = bare();
        command.arg(inside);
        Ok(command)
    });
    Ok(format!("{} in a bare root", said?))
}

/// Installs a wheel in a new virtual environment; one for another machine without asking pip whether it
/// fits this.
fn install(wheel: &Path, target: &Target, folder: &Path) -> Result<()> {
    command("python3 -m venv").arg(folder).run().context("Debian's python3-venv brings venv")?;
    let mut pip = Command::new(folder.join("bin/python3"));
    pip.args("-m pip install --quiet --disable-pip-version-check --no-index --no-deps".split(' '));
    if !target.is_native() {
        pip.args(["--only-binary", ":all:", "--platform"]);
        pip.arg(format!("manylinux2014_{}", target.cpu)).arg("--target").arg(folder);
    }
    pip.arg(wheel).run()
}

/// Runs each line, and returns their first words.
fn smoke(lines: &[&str], folder: &Path, start: impl Fn() -> Result<Command>) -> Result<String> {
    for line in lines {
        start()?.args(line.split(' ')).current_dir(folder).read()?;
    }
    let words = lines.iter().filter_map(|line| line.split(' ').next());
    Ok(words.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::smoke;
    use crate::shell::command;
    use std::path::Path;

    #[test]
    fn a_line_that_fails_is_named_with_its_complaint() {
        let folder = Path::new("/");
        assert_eq!(smoke(&["a b", "c"], folder, || Ok(command("echo"))).unwrap(), "a, c");
        let said = smoke(&["/nowhere"], folder, || Ok(command("ls"))).unwrap_err().to_string();
        assert!(said.starts_with("ls /nowhere: exit status"), "{said}");
    }
}
