//! Virtual machines: the drill of faults in one, and a first session in each machine of a list. QEMU,
//! busybox and kernels' images are got where they are missing. Not part of `cargo xtask test`: the drill
//! takes minutes, the list an hour at most.

mod boot;
mod debian;
mod judge;
mod list;
mod page;
mod rules;
mod sentences;

use crate::shell::command;
use crate::{dist, machine, steps};
use anyhow::{Context, Result, ensure};
use clap::Args;
use std::path::{Path, PathBuf};

/// What `cargo xtask vm` is to do.
#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct Asked {
    /// Boot this image instead of this machine's newest or Debian's
    #[arg(long, value_name = "FILE", conflicts_with = "matrix")]
    kernel: Option<PathBuf>,
    /// Run a first session in each machine of a list, and check what it says
    ///
    /// Takes about five minutes for each where QEMU emulates the CPUs. docs/machines.md has the list.
    #[arg(long)]
    matrix: bool,
    /// Boot this machine of the list only
    #[arg(long, value_name = "NAME", requires = "matrix")]
    only: Option<String>,
    /// Run this static scruple in it instead of building one
    #[arg(long, value_name = "FILE", requires = "only")]
    binary: Option<PathBuf>,
    /// Boot none; judge the last answers of each machine again
    #[arg(long, requires = "matrix")]
    again: bool,
    /// Write the last answers of all machines to docs/machines.md
    #[arg(long, requires = "matrix")]
    write: bool,
}

/// Returns the exit code: 3 where something is not as it must be.
pub(crate) fn vm(root: &Path, asked: &Asked, install: bool) -> Result<u8> {
    match asked.matrix {
        true => matrix(root, asked, install),
        false => drill(root, asked.kernel.as_deref(), install),
    }
}

/// Something is not as it must be.
const MISSED: u8 = 3;

fn matrix(root: &Path, asked: &Asked, install: bool) -> Result<u8> {
    let mut faults = 0;
    for machine in list::machines(asked.only.as_deref())? {
        println!("\n== {}: {}", machine.name, machine.about);
        if !asked.again {
            let binary = match &asked.binary {
                Some(binary) => binary.clone(),
                None => dist::binary(root, machine.cpu.name, install)?,
            };
            boot::boot(root, &machine, &binary, install).with_context(|| machine.name)?;
        }
        let verdict = judge::judge(&machine, &boot::folder(root, &machine))?;
        verdict.iter().for_each(|fault| println!("   WRONG: {fault}"));
        println!("-- {}: {} wrong", machine.name, verdict.len());
        faults += verdict.len();
    }
    if asked.write {
        page::write(root, &list::machines(None)?)?;
    }
    Ok(if faults == 0 { 0 } else { MISSED })
}

/// Returns the drill's exit code.
fn drill(root: &Path, named: Option<&Path>, install: bool) -> Result<u8> {
    if std::env::consts::ARCH != "x86_64" {
        println!("-- virtual machine: SKIPPED, the drill knows x86_64 alone");
        return Ok(0);
    }
    for tool in ["machine emulator", "busybox"] {
        machine::provide(tool, install)?;
    }
    let Some(kernel) = kernel(&steps::target(root).join("vm/debian"), named, install)? else {
        println!(
            "-- virtual machine: SKIPPED, there is no kernel's image in /boot that can be read; name \
             one by --kernel FILE"
        );
        return Ok(0);
    };
    println!("-- kernel: {}", kernel.display());
    let none = "--kills 0 --trial-kills 0 --disks 0 --stops 0 --steps 0";
    let status = command(&format!("cargo bench -p lab --bench drill -- {none} --vm"))
        .arg(&kernel)
        .current_dir(root)
        .status()
        .context("cannot start cargo")?;
    Ok(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1))
}

/// The image to boot: the one that was named, the newest of this machine, or Debian's, which is unpacked in
/// `folder` and not installed.
fn kernel(folder: &Path, named: Option<&Path>, install: bool) -> Result<Option<PathBuf>> {
    if let Some(named) = named {
        ensure!(named.is_file(), "--kernel {}: there is no such file", named.display());
        return Ok(Some(std::path::absolute(named)?));
    }
    if let Some(image) = image_in(Path::new("/boot")) {
        return Ok(Some(image));
    }
    let debian = debian::kernel(folder, "bookworm", "amd64", install);
    Ok(debian.inspect_err(|why| println!("-- {why:#}")).ok())
}

/// The image with the last name that may be read.
fn image_in(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let is_image = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("vmlinuz") && std::fs::File::open(path).is_ok()
    };
    entries.filter(is_image).max()
}

#[cfg(test)]
mod tests {
    use super::{image_in, kernel};
    use std::path::Path;

    #[test]
    fn the_newest_image_is_taken_and_a_wrong_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(image_in(folder.path()), None);
        for name in ["vmlinuz-6.1.0", "vmlinuz-6.2.0", "initrd-9"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(image_in(folder.path()), Some(folder.path().join("vmlinuz-6.2.0")));
        let wrong = Some(Path::new("/nowhere/vmlinuz"));
        let error = kernel(folder.path(), wrong, false).unwrap_err().to_string();
        assert!(error.contains("/nowhere/vmlinuz"), "{error}");
    }
}
