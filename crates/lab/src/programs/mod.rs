//! Program files of the user's, for the experiment that carries programs out.

mod names;
mod program;
mod rebuild;
mod trace;

use crate::cli::RunArgs;
use crate::conduct::{self, Session};
use crate::exit::Exit;
use crate::plan::{self, Plan, Purpose};
use crate::{dry_run, environment, inquiry, lookup, session, ui};
use anyhow::{Context, bail, ensure};
use model::{Caches, ProgramFile, Replacement};
use program::{PROGRAMS_MAX, Program, look};
use std::path::{Path, PathBuf};
use store::Beside;

/// The experiment whose programs run before caches.
const OF_CACHES: &str = "icache";

/// The instructions after which a program is stopped, unless the command line says otherwise.
const INSTRUCTIONS: u64 = 10_000_000;

/// The main job: plan, measure, judge, report.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    if args.plan.dry_run {
        return dry_run::show(&planned(args)?.0, args.json);
    }
    let session = inquiry::open(&args.plan, Purpose::Run, || begin(args))?;
    inquiry::conclude(session, args.json, Some(&args.verdicts))
}

/// Begins the session of `scruple run`.
fn begin(args: &RunArgs) -> anyhow::Result<Session> {
    let (plan, programs) = planned(args)?;
    let session = conduct::begin(plan)?;
    write_beside(&session, &programs, args)?;
    Ok(session)
}

/// Returns the plan of `scruple run`, of the catalog or of programs of the user's, and these.
fn planned(args: &RunArgs) -> anyhow::Result<(Plan, Vec<Program>)> {
    let mut programs = asked(args)?;
    let mut plan = plan::of_catalog(&args.experiments, args.profile, &args.plan)?;
    if programs.is_empty() {
        return Ok((plan, programs));
    }
    if args.rebuild {
        // Their paths are part of the design, so that the folder is named before it is made.
        let dir = plan.output.take().unwrap_or_else(|| usual_folder(plan.purpose));
        for program in &mut programs {
            let place = dir.join(Beside::Programs.folder()).join(&program.file.level);
            program.file.path = text(&absolute(&place)?)?;
        }
        plan.output = Some(dir);
    }
    let files: Vec<ProgramFile> = programs.iter().map(|program| program.file.clone()).collect();
    for known in &mut plan.designs {
        if let Some(design) = experiments::design_of_programs(&known.id, &files) {
            design.check().map_err(|error| anyhow::anyhow!("{error}"))?;
            *known = design;
        }
    }
    // Nobody knows beforehand how long a program of the user's takes.
    plan.base_first = args.plan.measure.time_budget.is_none();
    Ok((plan, programs))
}

/// Writes the programs that were built, and the traces that were asked for.
fn write_beside(session: &Session, programs: &[Program], args: &RunArgs) -> anyhow::Result<()> {
    use std::io::Write;
    for Program { file, content, .. } in programs.iter().filter(|it| it.origin.is_some()) {
        let (mut out, path) = session.writer.create_beside(Beside::Programs, &file.level)?;
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

/// Returns the programs that the command line names; none if it names none.
fn asked(args: &RunArgs) -> anyhow::Result<Vec<Program>> {
    let flag = match (args.elf.is_empty(), args.rebuild) {
        (true, false) => return Ok(Vec::new()),
        (true, true) => "--rebuild",
        (false, _) => "--elf",
    };
    let takes: Vec<&str> =
        if args.rebuild { vec![OF_CACHES] } else { experiments::of_programs().collect() };
    let (known, first) = (takes.join(" and "), takes[0]);
    if let Some(other) = args.experiments.iter().find(|name| !takes.contains(&name.as_str())) {
        let other = wording::cleaned(other);
        bail!("{flag} works only with {known}, not with {other}: scruple run {first} {flag}…");
    }
    if args.experiments.is_empty() {
        bail!("{flag} works only with {known}: scruple run {first} {flag}…");
    }
    let like = ProgramFile {
        instructions_max: args.instructions.unwrap_or(INSTRUCTIONS),
        stack_bytes: args.stack,
        memory: args.memory,
        caches: caches(args)?,
        ..ProgramFile::default()
    };
    if args.rebuild {
        return rebuild::all(&like);
    }
    ensure!(
        args.elf.len() <= PROGRAMS_MAX,
        "--elf names {} files; a session takes {PROGRAMS_MAX} at most",
        args.elf.len()
    );
    let paths = args.elf.iter().map(|path| absolute(path)).collect::<anyhow::Result<Vec<_>>>()?;
    for (at, path) in paths.iter().enumerate() {
        ensure!(!paths[..at].contains(path), "--elf {}: it is named twice", args.elf[at].display());
    }
    let names = names::of(&paths);
    let read = paths.iter().zip(names).map(|(path, name)| {
        let (content, sha256) =
            kit::programs::read(path).map_err(|what| anyhow::anyhow!("--elf {what}"))?;
        let file = ProgramFile { level: name, path: text(path)?, sha256, ..like.clone() };
        look(file, content, None).with_context(|| format!("--elf {}", path.display()))
    });
    read.collect()
}

/// Returns the caches that the command line chooses; `None` if it chooses none.
fn caches(args: &RunArgs) -> anyhow::Result<Option<Caches>> {
    let (sizes, lines) = (&args.cache_sizes, &args.cache_lines);
    let (ways, policies) = (&args.cache_ways, &args.cache_policies);
    let is_chosen =
        !(sizes.is_empty() && lines.is_empty() && ways.is_empty() && policies.is_empty());
    if !is_chosen && !args.no_cycles {
        return Ok(None);
    }
    let has_caches = args.experiments.iter().any(|name| name == OF_CACHES);
    ensure!(
        has_caches,
        "caches can be chosen for {OF_CACHES} only: scruple run {OF_CACHES} --elf…"
    );
    let caches = Caches {
        bytes: or(sizes, &[256, 1024, 4096, 16384, 65536]),
        line_bytes: or(lines, &[16]),
        ways: or(ways, &[1]),
        policies: or(policies, &[Replacement::Lru]),
        cycles: !args.no_cycles,
    };
    ensure!(
        experiments::is_any_cache(&caches),
        "no cache can be built of those sizes, lines and ways: a size is lines times ways times a power of \
         two, lines are powers of two of 4 to 4096 bytes, and plru has 1, 2, 4, … or 64 ways"
    );
    Ok(Some(caches))
}

fn or<T: Copy>(chosen: &[T], usual: &[T]) -> Vec<T> {
    if chosen.is_empty() { usual.to_vec() } else { chosen.to_vec() }
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    // An empty path has none.
    std::path::absolute(path).with_context(|| format!("--elf {:?} is no path", path.display()))
}

/// Returns a path as text, as it stands in the manifest.
fn text(path: &Path) -> anyhow::Result<String> {
    let Some(text) = path.to_str() else {
        bail!("--elf {}: its name is no text in UTF-8; rename it", path.display());
    };
    Ok(text.to_owned())
}

/// Returns the folder that a session would get that begins now.
fn usual_folder(purpose: Purpose) -> PathBuf {
    let name = session::name(sys::clock::unix_ms(), &environment::look().host, purpose);
    PathBuf::from(lookup::SESSIONS).join(name)
}
