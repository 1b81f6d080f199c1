//! The drill of faults in a virtual machine: QEMU, busybox and a kernel's image, got where they are
//! missing, and the drill started with them. Not part of `cargo xtask test`: it takes minutes.

use crate::shell::{Run, command, on_path};
use crate::{machine, steps};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};

/// Debian's smallest kernel: what a virtual machine needs is built in.
const PACKAGE: &str = "linux-image-cloud-amd64";

/// Returns the drill's exit code.
pub(crate) fn vm(root: &Path, named: Option<&Path>, install: bool) -> Result<u8> {
    if std::env::consts::ARCH != "x86_64" {
        println!("-- virtual machine: SKIPPED, the drill knows x86_64 alone");
        return Ok(0);
    }
    for tool in ["machine emulator", "busybox"] {
        machine::provide(tool, install)?;
    }
    let Some(kernel) = kernel(&steps::target(root).join("vm"), named, install)? else {
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

/// The image to boot: the one that was named, one of an earlier time, the newest of this machine, or
/// Debian's, which is unpacked in `folder` and not installed.
fn kernel(folder: &Path, named: Option<&Path>, install: bool) -> Result<Option<PathBuf>> {
    if let Some(named) = named {
        ensure!(named.is_file(), "--kernel {}: there is no such file", named.display());
        return Ok(Some(std::path::absolute(named)?));
    }
    let unpacked = folder.join("kernel/boot");
    let found = || image_in(&unpacked).or_else(|| image_in(Path::new("/boot")));
    if let Some(image) = found() {
        return Ok(Some(image));
    }
    let debian = ["apt-get", "apt-cache", "dpkg-deb"];
    if !install || debian.iter().any(|name| on_path(name).is_none()) {
        return Ok(None);
    }
    println!(
        "-- no kernel's image yet: apt-get download {PACKAGE}, unpacked in {}",
        folder.display()
    );
    std::fs::create_dir_all(folder)?;
    let depends = command("apt-cache depends --no-recommends").arg(PACKAGE).read()?;
    let Some(package) = depends.lines().find_map(|line| line.trim().strip_prefix("Depends: "))
    else {
        return Ok(None);
    };
    command("apt-get download").arg(package).current_dir(folder).read()?;
    for entry in std::fs::read_dir(folder)? {
        let file = entry?.path();
        if file.extension().is_some_and(|ending| ending == "deb") {
            command("dpkg-deb -x").arg(&file).arg(folder.join("kernel")).read()?;
        }
    }
    Ok(found())
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
