//! `cargo xtask dist`: static binaries as tarballs, Debian packages and wheels in `target/dist`, each
//! tried where there is nothing else.

mod packages;

use crate::shell::{Run, command, on_path, remove};
use crate::{machine, release, steps};
use anyhow::{Context, Result, bail, ensure};
use packages::{Kind, Stage};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The kinds of CPU as Rust names them and as Debian does.
const CPUS: [(&str, &str); 2] = [("x86_64", "amd64"), ("aarch64", "arm64")];

/// A kind of machine that can be built for here.
#[derive(Debug)]
struct Target {
    cpu: &'static str,
    debian: &'static str,
    /// The C library that is linked in.
    library: &'static str,
    triple: String,
    linker: PathBuf,
    binary: PathBuf,
    /// The words that start its programs here; none where nothing can.
    start: Option<String>,
}

/// A line of the table: the artefact, its bytes, and what became of it.
type Row = [String; 3];

/// Makes and tries everything, and prints a table of it.
///
/// # Errors
/// If nothing could be made, or something failed for a kind of machine that can be built for.
pub(crate) fn dist(root: &Path, install: bool) -> Result<()> {
    let folder = steps::target(root).join("dist");
    remove(&folder)?;
    let scratch = folder.join("scratch");
    let cannot = || format!("cannot make the folder {}", scratch.display());
    std::fs::create_dir_all(&scratch).with_context(cannot)?;
    let (mut rows, mut failures) = (Vec::<Row>::new(), 0);
    // The binary that this machine can run comes first: it prints the pages of all.
    let mut cpus = CPUS;
    cpus.sort_by_key(|(cpu, _)| *cpu != std::env::consts::ARCH);
    for cpu in cpus {
        let whole = |said| [cpu.0.to_string(), "-".to_string(), said];
        let target = match target(root, cpu, install) {
            Ok(target) => target,
            Err(missing) => {
                rows.push(whole(format!("NOT MADE: {missing:#}")));
                continue;
            }
        };
        let stage = Stage { root, scratch: &scratch, target: &target };
        if let Err(error) = build(root, &target).and_then(|()| stage.lay_out()) {
            failures += 1;
            rows.push(whole(format!("FAILED: {error:#}")));
            continue;
        }
        for kind in [Kind::Tarball, Kind::Debian, Kind::Wheel] {
            let name = kind.name(&target);
            let file = folder.join(&name);
            let packed = stage.pack(kind, &file, install);
            let tried = packed.and_then(|_| stage.attempt(&file));
            failures += usize::from(tried.is_err());
            let bytes = std::fs::metadata(&file).map_or("-".into(), |it| it.len().to_string());
            let tried = tried.unwrap_or_else(|error| format!("FAILED: {error:#}"));
            rows.push([name, bytes, format!("{}: {tried}", target.library)]);
        }
    }
    remove(&scratch)?;
    println!("\n{}", table(&rows));
    ensure!(rows.iter().any(|[_, bytes, _]| bytes != "-"), "nothing could be made, see above");
    command("sh -c").arg("sha256sum scruple* > SHA256SUMS").current_dir(&folder).run()?;
    println!("In {}, with SHA256SUMS.", folder.display());
    ensure!(failures == 0, "{failures} of these failed, see above");
    Ok(())
}

fn table(rows: &[Row]) -> String {
    let head = ["artefact", "bytes", "C library: tried"].map(str::to_string);
    let all = || [&head].into_iter().chain(rows);
    let width = all().map(|[name, ..]| name.len()).max().unwrap_or_default();
    let line = |[name, bytes, said]: &Row| format!("{name:width$}  {bytes:>9}  {said}\n");
    all().map(line).collect()
}

/// Returns why nothing can be built for a target, with what to type.
pub(crate) fn obstacle(triple: &str) -> Option<String> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let folder = Command::new(rustc).args(["--print", "target-libdir", "--target", triple]).read();
    let there = folder.is_ok_and(|folder| Path::new(folder.trim()).is_dir());
    let missing =
        || format!("no standard library of Rust for {triple}; type: rustup target add {triple}");
    (!there).then(missing)
}

/// Finds out how to build for a kind of CPU: with musl, which needs nothing of this system, or else with this
/// system's glibc.
///
/// # Errors
/// Names what is missing, with what to type.
fn target(
    root: &Path,
    (cpu, debian): (&'static str, &'static str),
    install: bool,
) -> Result<Target> {
    let [musl, gnu] = ["musl", "gnu"].map(|library| format!("{cpu}-unknown-linux-{library}"));
    let (library, triple) = match obstacle(&musl) {
        None => ("musl", musl),
        Some(_) => ("glibc", gnu),
    };
    if let Some(missing) = obstacle(&triple) {
        bail!(missing);
    }
    let native = cpu == std::env::consts::ARCH;
    let linker = match native {
        true => "cc".into(),
        false => machine::provide(&format!("linker for {cpu}"), install)?,
    };
    // Rust's target brings the library of musl.
    let file = Command::new(&linker).arg("-print-file-name=libc.a").read()?;
    ensure!(
        library == "musl" || file.starts_with('/'),
        "{} has no static C library (libc.a); Debian has it in libc6-dev or libc6-dev-{debian}-cross, \
         Fedora in glibc-static",
        linker.display()
    );
    let emulator = ["-static", ""].iter().find_map(|end| on_path(&format!("qemu-{cpu}{end}")));
    let emulator = if native { Some(PathBuf::new()) } else { emulator };
    let start = emulator.map(|emulator| format!("timeout 300 {}", emulator.display()));
    let binary = steps::target(root).join(&triple).join("release/scruple");
    Ok(Target { cpu, debian, library, triple, linker, binary, start })
}

impl Target {
    fn is_native(&self) -> bool {
        self.cpu == std::env::consts::ARCH
    }
}

/// Builds the static binary for a kind of CPU, and returns where it is.
///
/// # Errors
/// If it cannot be built for that here: names what is missing, with what to type.
pub(crate) fn binary(root: &Path, cpu: &str, install: bool) -> Result<PathBuf> {
    let known = CPUS.into_iter().find(|(name, _)| *name == cpu);
    let target = target(root, known.with_context(|| format!("{cpu} is no known CPU"))?, install)?;
    build(root, &target)?;
    Ok(target.binary)
}

/// Builds the static binary.
fn build(root: &Path, target: &Target) -> Result<()> {
    println!("-- {}: a static release build with {}", target.triple, target.library);
    let mut cargo = command("cargo build --release --locked --package lab --bin scruple --target");
    cargo.arg(&target.triple).current_dir(root);
    let flags = format!("-C target-feature=+crt-static {}", release::remapped(root));
    let name = target.triple.replace('-', "_");
    if !target.is_native() {
        cargo.env(format!("CARGO_TARGET_{}_LINKER", name.to_uppercase()), &target.linker);
    }
    // ring compiles a few C files that need no libc: any compiler for the CPU does, for musl also.
    cargo.env(format!("CC_{name}"), &target.linker);
    cargo.env("RUSTFLAGS", flags).run()?;
    let headers = command("readelf --program-headers --wide").arg(&target.binary).read()?;
    ensure!(!headers.contains("INTERP"), "{} is not static", target.binary.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{table, target};
    use std::path::Path;

    #[test]
    fn a_missing_standard_library_is_named_with_what_to_type() {
        let said = target(Path::new("/"), ("astrolabe", "astro"), false).unwrap_err().to_string();
        assert!(said.starts_with("no standard library of Rust for astrolabe"), "{said}");
        assert!(said.ends_with("rustup target add astrolabe-unknown-linux-gnu"), "{said}");
    }

    #[test]
    fn the_table_has_a_line_for_each_artefact() {
        let rows = [["a.deb", "1234", "ok"], ["aarch64", "-", "NOT MADE: x"]];
        let rows = rows.map(|row| row.map(str::to_string));
        assert_eq!(
            table(&rows),
            "artefact      bytes  C library: tried\n\
             a.deb          1234  ok\n\
             aarch64           -  NOT MADE: x\n"
        );
    }
}
