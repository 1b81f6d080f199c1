//! Packages of other releases of Debian and for other kinds of CPU, unpacked in a folder. What is installed
//! on this machine, and its lists of packages, stay as they are.

use crate::shell::{Run, command, on_path, remove};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's smallest kernel, without the name of the CPU: what a virtual machine needs is built in.
const KERNEL: &str = "linux-image-cloud";

/// Returns the image of a release's kernel.
///
/// # Errors
/// If it cannot be had.
pub(crate) fn kernel(folder: &Path, release: &str, cpu: &str, install: bool) -> Result<PathBuf> {
    let archive = Archive::of(folder, release, cpu)?;
    let package = archive.unpacked(&format!("{KERNEL}-{cpu}"), install)?;
    let image = super::image_in(&package.join("boot"));
    image.with_context(|| format!("no kernel's image in {}", package.display()))
}

/// A release for a kind of CPU, with a folder for its lists and packages.
pub(crate) struct Archive {
    folder: PathBuf,
}

impl Archive {
    /// Prepares the folder of a release. The mirror is the one that this machine uses.
    ///
    /// # Errors
    /// If this is no Debian; if the folder cannot be written.
    pub(crate) fn of(folder: &Path, release: &str, cpu: &str) -> Result<Self> {
        let debian = ["apt-get", "apt-cache", "dpkg-deb"];
        let missing: Vec<&str> =
            debian.into_iter().filter(|name| on_path(name).is_none()).collect();
        ensure!(
            missing.is_empty(),
            "no {}: kernels come as packages of Debian",
            missing.join(", ")
        );
        let archive = Archive { folder: folder.join(format!("{release}-{cpu}")) };
        for part in ["lists/partial", "archives/partial", "root"] {
            let part = archive.folder.join(part);
            std::fs::create_dir_all(&part)
                .with_context(|| format!("cannot make the folder {}", part.display()))?;
        }
        let sites = command("apt-get indextargets --format")
            .arg("$(ORIGIN) $(REPO_URI)")
            .args(["Created-By: Packages", "Component: main"])
            .read()?;
        let site = sites.lines().find_map(|line| line.strip_prefix("Debian ")).context(
            "apt-get knows no mirror of Debian's main archive (apt-get indextargets); on another \
             distribution name a kernel by --kernel FILE",
        )?;
        let at = archive.folder.display();
        // Without a status file nothing counts as installed here.
        let config = format!(
            "Dir::State::lists \"{at}/lists\";\nDir::State::status \"/dev/null\";\n\
             Dir::Cache \"{at}\";\nDir::Etc::SourceList \"{at}/sources.list\";\n\
             Dir::Etc::SourceParts \"/dev/null\";\nAPT::Sandbox::User \"\";\n\
             APT::Architecture \"{cpu}\";\nAPT::Architectures \"{cpu}\";\n"
        );
        archive.write("apt.conf", &config)?;
        archive.write("sources.list", &format!("deb {site} {release} main\n"))?;
        Ok(archive)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let file = self.folder.join(name);
        std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
    }

    fn apt(&self, line: &str) -> Command {
        let mut command = command(line);
        command.env("APT_CONFIG", self.folder.join("apt.conf")).current_dir(&self.folder);
        command
    }

    /// Returns the folder in which a package lies unpacked, with the packages that it depends on: that of
    /// a kernel only names the newest one. Downloads them where they are not there yet.
    ///
    /// # Errors
    /// If they cannot be had.
    pub(crate) fn unpacked(&self, package: &str, install: bool) -> Result<PathBuf> {
        let root = self.folder.join("root").join(package);
        if root.is_dir() {
            return Ok(root);
        }
        ensure!(install, "{package} is to be downloaded; leave out --no-install");
        println!("-- {package}: apt-get download, unpacked in {}", root.display());
        if !self.apt("apt-cache show").arg(package).works() {
            self.apt("apt-get update -qq").read()?;
        }
        let depends = self.apt("apt-cache depends --no-recommends").arg(package).read()?;
        let needed = depends.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
        let partial = self.folder.join("partial");
        remove(&partial)?;
        std::fs::create_dir(&partial).context("cannot make a folder for packages")?;
        let mut download = self.apt("apt-get download -qq");
        download.arg(package).args(needed).current_dir(&partial).read()?;
        command("sh -c")
            .arg("for file in *.deb; do dpkg-deb -x \"$file\" . && rm \"$file\" || exit; done")
            .current_dir(&partial)
            .read()?;
        std::fs::rename(&partial, &root).context("cannot rename a folder")?;
        Ok(root)
    }
}
