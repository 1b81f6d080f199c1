//! How a binary is packed and tried: by `pack.sh`.

use super::{Target, VERSION};
use crate::machine;
use crate::shell::{Run, command};
use anyhow::Result;
use std::path::Path;

/// The ways to pack it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Tarball,
    Debian,
    Wheel,
}

impl Kind {
    pub(super) fn name(self, target: &Target) -> String {
        match self {
            Kind::Tarball => format!("scruple-{VERSION}-{}.tar.gz", target.triple),
            Kind::Debian => format!("scruple_{VERSION}_{}.deb", target.debian),
            Kind::Wheel => {
                format!("scruple-{VERSION}-py3-none-{}.whl", platforms(target.cpu).join("."))
            }
        }
    }
}

/// The platforms of a wheel. A static program needs no C library, so that it runs where Python has
/// glibc and where it has musl; each platform is the oldest that pip still looks for.
fn platforms(cpu: &str) -> [String; 3] {
    ["manylinux2014", "manylinux_2_17", "musllinux_1_1"].map(|name| format!("{name}_{cpu}"))
}

/// A binary, and where it is packed.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) root: &'a Path,
    pub(super) scratch: &'a Path,
    pub(super) target: &'a Target,
}

impl Stage<'_> {
    /// Lays out what is installed below /usr or /usr/local.
    ///
    /// # Errors
    /// If the binary cannot print its manual page.
    pub(super) fn lay_out(&self) -> Result<String> {
        self.script("tree", Path::new(""), Path::new(""))
    }

    /// Writes the package.
    ///
    /// # Errors
    /// If a program that packs is missing or fails.
    pub(super) fn pack(&self, kind: Kind, file: &Path, install: bool) -> Result<String> {
        match kind {
            Kind::Tarball => self.script("tarball", file, Path::new("")),
            Kind::Debian => self.script("debian", file, Path::new("")),
            Kind::Wheel => self.script("wheel", file, &machine::provide("zip", install)?),
        }
    }

    /// Unpacks a package as its users do and starts what it brings. Returns what was tried, or why not.
    ///
    /// # Errors
    /// If it cannot be unpacked, or does not work.
    pub(super) fn attempt(&self, file: &Path) -> Result<String> {
        self.script("try", file, Path::new(""))
    }

    fn script(&self, step: &str, file: &Path, zip: &Path) -> Result<String> {
        let Target { cpu, debian, triple, binary, start, .. } = self.target;
        // Two builds of one commit are the same. A zip begins with 1980.
        let committed = command("git log -1 --format=%ct").current_dir(self.root).read();
        let time = std::env::var("SOURCE_DATE_EPOCH").or(committed);
        let script = self.scratch.join("pack.sh");
        std::fs::create_dir_all(self.scratch)?;
        std::fs::write(&script, include_str!("pack.sh"))?;
        command("sh")
            .arg(script)
            .arg(step)
            .env("CARGO", command("cargo").get_program())
            .env("ROOT", self.root)
            .env("WORK", self.scratch.join(cpu))
            .env("BINARY", binary)
            .env("OUT", file)
            .env("ZIPPER", zip)
            .env("TIME", time.as_deref().map_or("315532800", str::trim))
            .envs([("VERSION", VERSION), ("CPU", cpu), ("DEBIAN", debian), ("TRIPLE", triple)])
            .env("START", start.as_deref().unwrap_or_default())
            .env("PLATFORMS", platforms(cpu).join(" "))
            .read()
            .map(|said| said.trim().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Stage};
    use crate::dist::Target;
    use crate::shell::{Run, command, on_path};
    use std::path::PathBuf;

    fn target(binary: PathBuf, start: Option<&str>) -> Target {
        Target {
            cpu: "aarch64",
            debian: "arm64",
            library: "glibc",
            triple: "aarch64-unknown-linux-gnu".into(),
            linker: "cc".into(),
            binary,
            start: start.map(str::to_string),
        }
    }

    #[test]
    fn the_names_are_those_that_dpkg_and_pip_read() {
        let target = target(PathBuf::new(), None);
        assert_eq!(Kind::Tarball.name(&target), "scruple-0.1.0-aarch64-unknown-linux-gnu.tar.gz");
        assert_eq!(Kind::Debian.name(&target), "scruple_0.1.0_arm64.deb");
        assert_eq!(
            Kind::Wheel.name(&target),
            "scruple-0.1.0-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.\
             musllinux_1_1_aarch64.whl"
        );
    }

    #[test]
    fn a_package_has_its_fields_and_files_and_a_wheel_lists_itself_without_a_digest() {
        let folder = tempfile::tempdir().unwrap();
        let (root, scratch) = (crate::root().unwrap(), folder.path().join("scratch"));
        let binary = folder.path().join("binary");
        std::fs::write(&binary, "abc").unwrap();
        // Its pages are what echo prints.
        let target = target(binary, Some("echo"));
        let stage = Stage { root: &root, scratch: &scratch, target: &target };
        stage.lay_out().unwrap();
        let file = |name: &str| folder.path().join(name);
        let text =
            |name: &str| std::fs::read_to_string(scratch.join("aarch64").join(name)).unwrap();

        stage.pack(Kind::Tarball, &file("a.tar.gz"), false).unwrap();
        let listed = command("tar --list --file").arg(file("a.tar.gz")).read().unwrap();
        let top = "scruple-0.1.0-aarch64-unknown-linux-gnu";
        for name in ["bin/scruple", "share/man/man1/scruple.1.gz", "share/doc/scruple/copyright"] {
            assert!(listed.contains(&format!("{top}/{name}\n")), "{listed}");
        }
        assert!(text("tree/share/doc/scruple/copyright").contains("\n anyhow v1."));

        stage.pack(Kind::Debian, &file("a.deb"), false).unwrap();
        let members = command("ar t").arg(file("a.deb")).read().unwrap();
        assert_eq!(members, "debian-binary\ncontrol.tar.gz\ndata.tar.gz\n");
        let zip = on_path("zip");
        stage.script("wheel", &file("a.whl"), zip.as_deref().unwrap_or("true".as_ref())).unwrap();
        assert_eq!(file("a.whl").is_file(), zip.is_some());
        let info = "wheel/scruple-0.1.0.dist-info";
        let wheel = text(&format!("{info}/WHEEL"));
        assert_eq!(wheel.matches("\nTag: py3-none-").count(), 3);
        let metadata = text(&format!("{info}/METADATA"));
        let metadata = metadata.split_once("\n\n").unwrap().0;
        for line in text("control/control").lines().chain(metadata.lines()).chain(wheel.lines()) {
            let full = line.split_once(": ").is_some_and(|(_, value)| !value.is_empty());
            assert!(full || line.starts_with(' '), "{line}");
        }
        let record = text(&format!("{info}/RECORD"));
        let lines: Vec<_> = record.lines().collect();
        assert_eq!(
            lines[0],
            "scruple-0.1.0.data/scripts/scruple,\
             sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,3"
        );
        assert_eq!((lines.len(), lines[5]), (6, "scruple-0.1.0.dist-info/RECORD,,"));
    }

    #[test]
    fn a_package_is_unpacked_and_its_program_started() {
        let folder = tempfile::tempdir().unwrap();
        let (root, scratch) = (crate::root().unwrap(), folder.path().join("scratch"));
        let file = folder.path().join("a.deb");
        let attempt = |start: Option<&str>| {
            let target = Target { cpu: "astrolabe", ..target("/bin/true".into(), start) };
            let stage = Stage { root: &root, scratch: &scratch, target: &target };
            stage.lay_out()?;
            stage.pack(Kind::Debian, &file, false)?;
            stage.attempt(&file)
        };
        let said = attempt(None).unwrap_err().to_string();
        assert!(said.ends_with("start the binary, which prints its manual page"), "{said}");
        assert_eq!(
            attempt(Some("echo")).unwrap(),
            "--version and list under QEMU, but not in a bare root"
        );
        assert_eq!(attempt(None).unwrap(), "not tried: no qemu-astrolabe here");
        let target = Target { cpu: "astrolabe", ..target("/bin/true".into(), Some("false")) };
        let stage = Stage { root: &root, scratch: &scratch, target: &target };
        assert!(stage.attempt(&file).is_err());
    }
}
