//! How a binary is packed.

use super::{Target, VERSION};
use crate::machine;
use crate::shell::{Run, command};
use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

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
            Kind::Tarball => format!("{}.tar.gz", top(target)),
            Kind::Debian => format!("scruple_{VERSION}_{}.deb", target.debian),
            Kind::Wheel => {
                format!("scruple-{VERSION}-py3-none-{}.whl", platforms(target.cpu).join("."))
            }
        }
    }
}

/// The folder that a tarball holds.
fn top(target: &Target) -> String {
    format!("scruple-{VERSION}-{}", target.triple)
}

/// The platforms of a wheel. A static program needs no C library, so that it runs where Python has
/// glibc and where it has musl; each platform is the oldest that pip still looks for.
fn platforms(cpu: &str) -> [String; 3] {
    ["manylinux2014", "manylinux_2_17", "musllinux_1_1"].map(|name| format!("{name}_{cpu}"))
}

/// What is installed below /usr or /usr/local, and where it is packed.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    root: &'a Path,
    target: &'a Target,
    /// Holds `bin` and `share`.
    tree: PathBuf,
    scratch: PathBuf,
    /// The time that all files are given, in seconds, so that two builds of one state are the same.
    time: String,
}

impl<'a> Stage<'a> {
    /// Lays the files out. A binary that can be started here prints the pages; for another, those of
    /// an earlier one are taken.
    pub(super) fn new(
        root: &'a Path,
        scratch: &Path,
        target: &'a Target,
        binary: &Path,
    ) -> Result<Self> {
        let pages = scratch.join("pages");
        let (scratch, folder) = (scratch.join(target.cpu), "share/doc/scruple");
        let tree = scratch.join("tree");
        place(&tree.join("bin/scruple"), &std::fs::read(binary)?)?;
        command("chmod 755").arg(tree.join("bin/scruple")).run()?;
        for (line, path) in [
            ("man", "share/man/man1/scruple.1"),
            ("completions bash", "share/bash-completion/completions/scruple"),
            ("completions zsh", "share/zsh/site-functions/_scruple"),
            ("completions fish", "share/fish/vendor_completions.d/scruple.fish"),
        ] {
            if let Some(mut command) = target.start(binary) {
                place(&pages.join(path), command.args(line.split(' ')).read()?.as_bytes())?;
            }
            let page = std::fs::read(pages.join(path));
            let none = "nothing here can start the binary, which prints its manual page";
            place(&tree.join(path), &page.context(none)?)?;
        }
        place(&tree.join(folder).join("copyright"), copyright(root)?.as_bytes())?;
        for (name, file) in [("changelog", "CHANGELOG.md"), ("LICENSE-APACHE", "LICENSE-APACHE")] {
            place(&tree.join(folder).join(name), &std::fs::read(root.join(file))?)?;
        }
        command("gzip -9n share/man/man1/scruple.1 share/doc/scruple/changelog")
            .current_dir(&tree)
            .run()?;
        let committed = command("git log -1 --format=%ct").current_dir(root).read();
        let time = std::env::var("SOURCE_DATE_EPOCH").or(committed);
        // The first that a zip can hold.
        let time = time.map_or_else(|_| "315532800".into(), |time| time.trim().to_string());
        Ok(Stage { root, target, tree, scratch, time })
    }

    /// Writes the package.
    ///
    /// # Errors
    /// If a program that packs is missing or fails.
    pub(super) fn pack(&self, kind: Kind, file: &Path, install: bool) -> Result<()> {
        match kind {
            Kind::Tarball => self.tar(&self.tree, &[format!("s,^[.],{},", top(self.target))], file),
            Kind::Debian => self.debian(file),
            Kind::Wheel => self.wheel(file, install),
        }
    }

    fn tar(&self, folder: &Path, transforms: &[String], file: &Path) -> Result<()> {
        let mut tar = command("tar --create --sort=name --owner=0 --group=0 --numeric-owner");
        tar.arg(format!("--mtime=@{}", self.time));
        tar.args(transforms.iter().map(|rule| format!("--transform={rule}")));
        tar.args(["--use-compress-program=gzip -9n", "--file"]).arg(file);
        tar.arg("-C").arg(folder).arg(".").run()
    }

    /// Written by hand, so that the package is the same where there is no dpkg.
    fn debian(&self, file: &Path) -> Result<()> {
        let folder = self.scratch.join("debian");
        let size = command("du --summarize --apparent-size -k").arg(&self.tree).read()?;
        let size = size.split_whitespace().next().unwrap_or_default().to_string();
        let control = control(&self.project("description")?, self.target.debian, &size);
        place(&folder.join("control/control"), control.as_bytes())?;
        place(&folder.join("debian-binary"), b"2.0\n")?;
        self.tar(&folder.join("control"), &[], &folder.join("control.tar.gz"))?;
        let rules = ["s,^[.],./usr,", "s,zsh/site-functions,zsh/vendor-completions,"];
        self.tar(&self.tree, &rules.map(str::to_string), &folder.join("data.tar.gz"))?;
        let mut ar = command("ar rcD");
        ar.arg(std::path::absolute(file)?).args(["debian-binary", "control.tar.gz", "data.tar.gz"]);
        ar.current_dir(&folder).run()
    }

    fn wheel(&self, file: &Path, install: bool) -> Result<()> {
        let zip = machine::provide("zip", install)?;
        let folder = self.scratch.join("wheel");
        let info = format!("scruple-{VERSION}.dist-info");
        let read = |name: &str| {
            let path = self.root.join(name);
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let program = format!("scruple-{VERSION}.data/scripts/scruple");
        let mut files = vec![(program.clone(), std::fs::read(self.tree.join("bin/scruple"))?)];
        for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
            files.push((format!("{info}/licenses/{name}"), read(name)?));
        }
        let python = self.project("requires-python")?;
        let metadata = metadata(&self.project("description")?, &python);
        let readme = String::from_utf8(read("README.md")?)?;
        files.push((format!("{info}/METADATA"), (metadata + &readme).into_bytes()));
        files.push((format!("{info}/WHEEL"), tags(self.target.cpu).into_bytes()));
        files.push((format!("{info}/RECORD"), record(&files, &info).into_bytes()));
        for (name, content) in &files {
            place(&folder.join(name), content)?;
        }
        let names = files.iter().map(|(name, _)| name);
        command("chmod 755").arg(folder.join(program)).run()?;
        command("touch --date")
            .arg(format!("@{}", self.time))
            .args(names.clone())
            .current_dir(&folder)
            .run()?;
        let mut zip = Command::new(zip);
        zip.args(["-q", "-X", "-9"]).arg(std::path::absolute(file)?).args(names);
        zip.env("TZ", "UTC").current_dir(&folder).run()
    }

    /// Returns a value of pyproject.toml.
    fn project(&self, key: &str) -> Result<String> {
        let file = self.root.join("pyproject.toml");
        let text = std::fs::read_to_string(&file)?;
        let mut values = text.lines().filter_map(|line| line.split_once(" = "));
        let value = values.find(|(name, _)| *name == key).map(|(_, value)| value.trim_matches('"'));
        value.map(str::to_string).with_context(|| format!("{}: no {key}", file.display()))
    }
}

/// Writes a file, and the folders that it stands in.
fn place(file: &Path, content: &[u8]) -> Result<()> {
    std::fs::create_dir_all(file.parent().unwrap_or(file))?;
    std::fs::write(file, content).with_context(|| format!("cannot write {}", file.display()))
}

/// Debian's file of licences, with the libraries that are linked in.
fn copyright(root: &Path) -> Result<String> {
    let tree = "cargo tree --locked --package lab --edges normal --prefix none --format";
    let tree = command(tree).arg("{p}: {l}").current_dir(root).read()?;
    let libraries = tree.lines().map(|line| line.trim_end_matches(" (*)"));
    // A path stands beside our own.
    let libraries: BTreeSet<_> = libraries.filter(|line| !line.contains("(/")).collect();
    let libraries: Vec<_> = libraries.into_iter().map(|line| format!(" {line}\n")).collect();
    let mit = std::fs::read_to_string(root.join("LICENSE-MIT"))?;
    let mit =
        mit.lines().map(|line| if line.is_empty() { " .".into() } else { format!(" {line}") });
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: scruple\nComment:\n These libraries are linked in, under their licences:\n{}\n\
         Files: *\nCopyright: 2026 the scruple authors\nLicense: Expat or Apache-2.0\n\n\
         License: Expat\n{}\n\nLicense: Apache-2.0\n See LICENSE-APACHE beside this file, \
         or /usr/share/common-licenses/Apache-2.0 on Debian.\n",
        libraries.concat(),
        mit.collect::<Vec<_>>().join("\n")
    ))
}

/// The fields of a Debian package. It depends on nothing.
fn control(description: &str, architecture: &str, kibibytes: &str) -> String {
    format!(
        "Package: scruple\nVersion: {VERSION}\nArchitecture: {architecture}\n\
         Maintainer: The scruple authors <scruple@localhost>\nInstalled-Size: {kibibytes}\n\
         Section: utils\nPriority: optional\nDescription: {description}\n \
         Controlled experiments on processes and threads, context switches, page faults,\n \
         false sharing, allocators and servers, with a report that judges common claims.\n"
    )
}

fn metadata(description: &str, python: &str) -> String {
    format!(
        "Metadata-Version: 2.4\nName: scruple\nVersion: {VERSION}\nSummary: {description}\n\
         License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-MIT\n\
         License-File: LICENSE-APACHE\nClassifier: Operating System :: POSIX :: Linux\n\
         Requires-Python: {python}\nDescription-Content-Type: text/markdown\n\n"
    )
}

/// What a wheel says of itself.
fn tags(cpu: &str) -> String {
    let tags = platforms(cpu).map(|platform| format!("Tag: py3-none-{platform}\n")).concat();
    format!("Wheel-Version: 1.0\nGenerator: cargo xtask dist\nRoot-Is-Purelib: false\n{tags}")
}

/// The list of a wheel's files, with itself, which has no digest.
fn record(files: &[(String, Vec<u8>)], info: &str) -> String {
    let line = |(name, content): &(String, Vec<u8>)| {
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(content));
        format!("{name},sha256={digest},{}\n", content.len())
    };
    files.iter().map(line).collect::<String>() + &format!("{info}/RECORD,,\n")
}

pub(super) fn hex(content: &[u8]) -> String {
    format!("{:x}", Sha256::digest(content))
}

#[cfg(test)]
mod tests {
    use super::{Kind, control, hex, metadata, record, tags};
    use crate::dist::Target;

    #[test]
    fn the_names_are_those_that_dpkg_and_pip_read() {
        let target = Target {
            cpu: "aarch64",
            debian: "arm64",
            triple: "aarch64-unknown-linux-gnu".into(),
            linker: "cc".into(),
            emulator: None,
        };
        assert_eq!(Kind::Tarball.name(&target), "scruple-0.1.0-aarch64-unknown-linux-gnu.tar.gz");
        assert_eq!(Kind::Debian.name(&target), "scruple_0.1.0_arm64.deb");
        assert_eq!(
            Kind::Wheel.name(&target),
            "scruple-0.1.0-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.\
             musllinux_1_1_aarch64.whl"
        );
    }

    #[test]
    fn a_wheel_lists_its_files_with_their_digests_and_itself_without() {
        let files = [("a/empty".to_string(), Vec::new()), ("a/b".to_string(), b"abc".to_vec())];
        assert_eq!(
            record(&files, "i"),
            "a/empty,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n\
             a/b,sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,3\ni/RECORD,,\n"
        );
        assert!(hex(b"abc").starts_with("ba7816bf8f01cfea"));
    }

    #[test]
    fn no_field_is_empty_and_each_platform_has_its_tag() {
        let said =
            control("A line", "amd64", "25") + &metadata("A line", ">=3.8") + &tags("x86_64");
        for line in said.lines().filter(|line| !line.is_empty() && !line.starts_with(' ')) {
            assert!(line.split_once(": ").is_some_and(|(_, value)| !value.is_empty()), "{line}");
        }
        assert_eq!(said.matches("\nTag: py3-none-").count(), 3);
    }
}
