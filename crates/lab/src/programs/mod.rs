//! Program files of the user's, for the experiment that carries programs out.

mod names;
mod rebuild;
mod trace;

use crate::cli::RunArgs;
use crate::conduct::{self, Session};
use crate::plan::{Plan, Purpose};
use crate::ui;
use anyhow::{Context, bail};
use model::{Design, Profile, ProgramFile};
use std::path::{Path, PathBuf};
use store::Beside;

/// The experiment that takes them.
const TAKES: &str = experiments::OF_PROGRAMS;

/// After so many instructions a program is stopped, unless the command line says otherwise.
const INSTRUCTIONS: u64 = 10_000_000;

/// The most programs of a session: each has some thirty treatments.
const PROGRAMS_MAX: usize = 32;

/// Hexadecimal digits of a hash that are shown; the manifest has all.
const SHOWN_DIGITS: usize = 12;

/// A program of a session that is to begin.
struct Program {
    file: ProgramFile,
    content: Vec<u8>,
    /// What is known of its making, where scruple built it.
    origin: Option<String>,
}

/// Begins the session of `scruple run`: of the catalog, or of programs of the user's.
pub(crate) fn begin(args: &RunArgs) -> anyhow::Result<Session> {
    let profile = Profile::from(args.profile);
    let mut programs = asked(args)?;
    let mut plan =
        Plan::new(Purpose::Run, &args.experiments, profile, &args.plan, profile.budget_s())?;
    if programs.is_empty() {
        return conduct::begin(plan);
    }
    if args.rebuild {
        // Their paths are part of the design, so that the folder is named before it is made.
        let dir = plan.output.take().unwrap_or_else(|| conduct::usual_folder(plan.purpose));
        for program in &mut programs {
            let name = &program.file.level;
            program.file.path = text(&place(&dir, Beside::Programs, name)?)?;
        }
        plan.output = Some(dir);
    }
    let files: Vec<ProgramFile> = programs.iter().map(|program| program.file.clone()).collect();
    let design = experiments::design_of_programs(&files);
    design.check().map_err(|error| anyhow::anyhow!("{error}"))?;
    for known in &mut plan.designs {
        if known.id == TAKES {
            *known = design.clone();
        }
    }
    // Nobody knows beforehand how long a program of the user's takes.
    plan.base_first = args.plan.measure.time_budget.is_none();
    let session = conduct::begin(plan)?;
    write_beside(&session, &programs, args)?;
    Ok(session)
}

/// What was built, and what was asked to be seen.
fn write_beside(session: &Session, programs: &[Program], args: &RunArgs) -> anyhow::Result<()> {
    use std::io::Write;
    for Program { file, content, .. } in programs.iter().filter(|it| it.origin.is_some()) {
        let (mut out, path) = session.create_beside(Beside::Programs, &file.level)?;
        out.write_all(content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if args.trace {
        for Program { file, content, .. } in programs {
            trace::write(session, file, content)?;
        }
        let folder = session.dir().join(Beside::Traces.folder());
        ui::note(&format!("what each program does, step by step: {}", folder.display()));
    }
    Ok(())
}

/// The programs that the command line names; none if it names none.
fn asked(args: &RunArgs) -> anyhow::Result<Vec<Program>> {
    let flag = match (args.elf.is_empty(), args.rebuild) {
        (false, true) => bail!("--elf and --rebuild name different programs; give one of them"),
        (false, false) => "--elf",
        (true, true) => "--rebuild",
        (true, false) => {
            let other = match (args.trace, args.instructions) {
                (true, _) => "--trace",
                (_, Some(_)) => "--instructions",
                (false, None) => return Ok(Vec::new()),
            };
            bail!("{other} goes with program files: scruple run {TAKES} --elf FILE {other}…");
        }
    };
    if let Some(other) = args.experiments.iter().find(|name| *name != TAKES) {
        let other = report::harmless(other);
        bail!("{flag} goes with {TAKES} alone, and not with {other}: scruple run {TAKES} {flag}…");
    }
    if args.experiments.is_empty() {
        bail!("{flag} goes with {TAKES}: scruple run {TAKES} {flag}…");
    }
    let instructions_max = args.instructions.unwrap_or(INSTRUCTIONS);
    if args.rebuild {
        return rebuild::all(instructions_max);
    }
    if args.elf.len() > PROGRAMS_MAX {
        bail!("--elf names {} files; a session takes {PROGRAMS_MAX} at most", args.elf.len());
    }
    let paths = args.elf.iter().map(|path| absolute(path)).collect::<anyhow::Result<Vec<_>>>()?;
    for (at, path) in paths.iter().enumerate() {
        if paths[..at].contains(path) {
            bail!("--elf {}: it is named twice", args.elf[at].display());
        }
    }
    let names = names::of(&paths);
    let read = paths.iter().zip(names).map(|(path, name)| {
        let (content, sha256) =
            kit::programs::read(path).map_err(|what| anyhow::anyhow!("--elf {what}"))?;
        let program = look(name, text(path)?, content, sha256, instructions_max, None);
        program.with_context(|| format!("--elf {}", path.display()))
    });
    read.collect()
}

/// Runs a program once, so that what cannot run is one error and not as many failed trials.
fn look(
    level: String,
    path: String,
    content: Vec<u8>,
    sha256: String,
    instructions_max: u64,
    origin: Option<String>,
) -> anyhow::Result<Program> {
    let mut go_on = || sys::interrupt::requested().is_none();
    let seen = experiments::look(&content, instructions_max, &mut go_on);
    let seen = seen.map_err(anyhow::Error::msg)?.ok_or_else(interrupted)?;
    let (text, steps, ended) = (seen.text_bytes, seen.steps, &seen.ended);
    let (bytes, digits) = (content.len(), &sha256[..SHOWN_DIGITS]);
    let made = origin.as_ref().map(|origin| format!("{origin}; ")).unwrap_or_default();
    let about = format!(
        "{made}{text} bytes of instructions, {steps} steps, and then: {ended}; a file of {bytes} bytes, \
         SHA-256 {digits}…"
    );
    if seen.limited {
        ui::warn(&format!(
            "{level} did not end within {instructions_max} instructions: all numbers are of those, and \
             --instructions N changes how many they are"
        ));
    }
    Ok(Program {
        file: ProgramFile { level, path, sha256, about, instructions_max },
        content,
        origin,
    })
}

/// Somebody asked to stop before there is a session.
fn interrupted() -> anyhow::Error {
    std::io::Error::other(crate::destination::Stopped).into()
}

/// A design that was made for program files, made anew: what a session of them goes on with.
pub(crate) fn design_again(design: &Design) -> Option<Design> {
    let own = design.id == TAKES && !design.programs.is_empty();
    own.then(|| experiments::design_of_programs(&design.programs))
}

fn place(dir: &Path, kind: Beside, name: &str) -> anyhow::Result<PathBuf> {
    absolute(&dir.join(kind.folder()).join(name))
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    // An empty path has none.
    std::path::absolute(path).with_context(|| format!("--elf {:?} is no path", path.display()))
}

/// A path as text, as it stands in the manifest.
fn text(path: &Path) -> anyhow::Result<String> {
    let Some(text) = path.to_str() else {
        bail!("--elf {}: its name is no text in UTF-8; rename it", path.display());
    };
    Ok(text.to_owned())
}
