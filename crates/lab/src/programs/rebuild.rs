//! The carried program, built anew by whatever RISC-V compiler is installed: one program for each
//! level of optimisation, with and without compressed instructions.

use super::program::{PROGRAMS_MAX, Program, interrupted, look};
use crate::scratch::Scratch;
use crate::ui;
use anyhow::{Context, anyhow, bail, ensure};
use isa::Program as Machine;
use model::ProgramFile;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use sys::program::{Bounds, Failure};

/// A compiler, and what makes it build for a machine without an operating system.
struct Compiler {
    name: &'static str,
    /// What it is called in tables.
    short: &'static str,
    flags: &'static [&'static str],
}

/// The compilers that are looked for in PATH.
const COMPILERS: [Compiler; 5] = [
    Compiler { name: "riscv64-unknown-elf-gcc", short: "elf-gcc", flags: &[] },
    Compiler { name: "riscv32-unknown-elf-gcc", short: "elf32-gcc", flags: &[] },
    Compiler { name: "riscv-none-elf-gcc", short: "none-gcc", flags: &[] },
    Compiler {
        name: "riscv64-linux-gnu-gcc",
        short: "linux-gcc",
        flags: &["-static", "-no-pie", "-fno-pic"],
    },
    Compiler {
        name: "clang",
        short: "clang",
        flags: &["--target=riscv32-unknown-elf", "-fuse-ld=lld", "-static", "-fno-pic"],
    },
];

/// What the source is called: a linker writes it into what it makes.
const SOURCE: &str = "icache_test.c";

/// The level of the carried programs.
const CARRIED: &str = "-O2";

/// What the carried programs were built with (crates/isa/reference/README.md).
const FLAGS: [&str; 5] = [
    "-mabi=ilp32",
    "-fno-unwind-tables",
    "-fno-asynchronous-unwind-tables",
    "-fomit-frame-pointer",
    "-nostdlib",
];

/// At other levels, and by other compilers, the entry would be whatever comes first.
const ENTRY: &str = "-Wl,-e,main";

const MARCHES: [&str; 2] = ["rv32im", "rv32imc"];
const OPTIMISATIONS: [&str; 5] = [CARRIED, "-O0", "-O1", "-O3", "-Os"];

/// How long a compiler may take for one program.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The most bytes of what a compiler says, each way, that are kept.
const SAID_BYTES_MAX: usize = 1 << 16;

/// The most characters of it that are shown.
const SAID_MAX: usize = 400;

/// Returns all programs of all compilers that are there.
pub(super) fn all(like: &ProgramFile) -> anyhow::Result<Vec<Program>> {
    let there: Vec<(&Compiler, PathBuf)> = COMPILERS
        .iter()
        .filter_map(|compiler| Some((compiler, sys::program::find(compiler.name)?)))
        .collect();
    if there.is_empty() {
        let known = COMPILERS.map(|compiler| compiler.name).join(", ");
        bail!("--rebuild: no compiler for RISC-V is in PATH; there must be one of {known}");
    }
    let folder = Scratch::create("rebuild")?;
    let source = folder.path().join(SOURCE);
    std::fs::write(&source, experiments::KERNEL)
        .with_context(|| format!("cannot write {}", source.display()))?;
    let mut programs = Vec::new();
    for (compiler, path) in &there {
        match of_compiler(compiler, path, folder.path(), like) {
            Ok(made) => programs.extend(made),
            Err(_) if sys::interrupt::requested().is_some() => return Err(interrupted()),
            Err(error) => ui::warn(&format!("{} is left out: {error:#}", compiler.name)),
        }
    }
    ensure!(!programs.is_empty(), "--rebuild: no compiler that was found builds for rv32im");
    if programs.len() > PROGRAMS_MAX {
        ui::warn(&format!("of {} programs the first {PROGRAMS_MAX} are taken", programs.len()));
        programs.truncate(PROGRAMS_MAX);
    }
    Ok(programs)
}

/// Returns what one compiler makes of the program; said is what it makes at -O2, as the carried ones.
fn of_compiler(
    compiler: &Compiler,
    path: &Path,
    folder: &Path,
    like: &ProgramFile,
) -> anyhow::Result<Vec<Program>> {
    let version = version(path)?;
    let mut programs = Vec::new();
    let mut differences = Vec::new();
    for optimisation in OPTIMISATIONS {
        for march in MARCHES {
            if sys::interrupt::requested().is_some() {
                return Err(interrupted());
            }
            let level = format!("{}{optimisation}-{march}", compiler.short);
            let content = build(compiler, path, folder, [optimisation, march])?;
            let sha256 = sys::hash::sha256(&content);
            let origin = format!("built by {version}, {optimisation} -march={march}");
            if optimisation == CARRIED {
                differences.push(compared(&content, march)?);
            }
            // Where it lies is known when the session's folder is.
            let file = ProgramFile { level, sha256, ..like.clone() };
            let program = look(file, content, Some(origin));
            programs.push(program.with_context(|| format!("{optimisation} -march={march}"))?);
        }
    }
    ui::note(&format!(
        "{} ({version}) makes of the program at -O2: {}",
        compiler.name,
        differences.join("; ")
    ));
    Ok(programs)
}

/// Returns how a program compares with the carried ones, in words.
fn compared(content: &[u8], march: &str) -> anyhow::Result<String> {
    let own = instructions(content)?;
    let carried = experiments::carried(march);
    let file = carried.iter().find(|(_, elf)| *elf == content);
    let code = || carried.iter().find(|(_, elf)| instructions(elf).is_ok_and(|it| it == own));
    let said = match (file, file.or_else(code)) {
        (Some((of, _)), _) => format!("the same file as scruple's own ({of})"),
        (None, Some((of, _))) => format!("the same instructions as scruple's own ({of})"),
        (None, None) => "other instructions than scruple's own".into(),
    };
    Ok(format!("{march} {} bytes, {said}", own.len()))
}

/// Returns the bytes of a program's instructions.
fn instructions(elf: &[u8]) -> anyhow::Result<Vec<u8>> {
    let program = Machine::from_elf(elf)?;
    let range = program.text.clone();
    let holds = program.segments.iter().find_map(|segment| {
        let from = range.start.checked_sub(segment.address)? as usize;
        segment.bytes.get(from..from + range.len())
    });
    Ok(holds.context("its instructions lie in no segment")?.to_vec())
}

/// Returns the first line of what a compiler says of its version.
fn version(path: &Path) -> anyhow::Result<String> {
    let mut command = Command::new(path);
    command.arg("--version");
    let said = run(command)?;
    let line = said.lines().next().unwrap_or_default();
    Ok(wording::cleaned(line).trim().chars().take(100).collect())
}

fn build(
    compiler: &Compiler,
    path: &Path,
    folder: &Path,
    [optimisation, march]: [&str; 2],
) -> anyhow::Result<Vec<u8>> {
    let made = folder.join(format!("made{optimisation}-{march}.elf"));
    let exact = optimisation == CARRIED && compiler.flags.is_empty();
    let mut command = Command::new(path);
    command
        .args([optimisation, &format!("-march={march}")])
        .args(FLAGS)
        .args(compiler.flags)
        .arg("-o")
        .arg(&made)
        .args((!exact).then_some(ENTRY))
        .arg(SOURCE)
        .current_dir(folder);
    run(command).with_context(|| format!("{optimisation} -march={march}"))?;
    let (content, _) = kit::programs::read(&made).map_err(anyhow::Error::msg)?;
    Ok(content)
}

/// Runs a compiler to its end, without a shell, and returns what it printed.
fn run(mut command: Command) -> anyhow::Result<String> {
    command.env("LC_ALL", "C").stdin(Stdio::null());
    let stop = || sys::interrupt::requested().is_some();
    let bounds =
        Bounds { time: Some(TIME_LIMIT), complaint_bytes_max: SAID_BYTES_MAX, stop: &stop };
    let answer = sys::program::answer(&mut command, &bounds, SAID_BYTES_MAX);
    let (mut said, ended) = answer.map_err(|failure| match failure {
        Failure::TooLong(limit) => anyhow!("it took over {} s", limit.as_secs()),
        other => other.into(),
    })?;
    if !ended.status.success() {
        said.extend(ended.complaint);
        let said = String::from_utf8_lossy(&said);
        let wrong = said.lines().find(|line| line.contains("error")).unwrap_or(&said);
        let wrong: String = wording::cleaned(wrong.trim()).chars().take(SAID_MAX).collect();
        bail!("it ended with {}: {wrong}", ended.status);
    }
    Ok(String::from_utf8_lossy(&said).into_owned())
}
