//! `scruple core FILE… --sweep`: programs of the user's before many caches, as a session.

pub(crate) mod caches;
mod names;
mod program;

use crate::cli::core::CoreArgs;
use crate::cli::{MeasureArgs, PlanArgs};
use crate::exit::Exit;
use crate::inquiry;
use crate::plan::{Plan, Purpose};
use anyhow::{Context, anyhow, bail, ensure};
use caches::Choice;
use model::{Profile, ProgramFile};
use std::path::{Path, PathBuf};

/// The experiment whose programs run before caches.
const OF_CACHES: &str = "icache";

/// The most programs of a session.
const PROGRAMS_MAX: usize = 32;

pub(crate) fn sweep(args: &CoreArgs, chosen: &[Choice]) -> anyhow::Result<Exit> {
    // One block has all, since everything is computed, and nothing disturbs it.
    let measure = MeasureArgs { runs: Some(1), no_shield: true, ..MeasureArgs::default() };
    let session = PlanArgs { measure, output: args.output.clone(), ..PlanArgs::default() };
    inquiry::perform(&session, Purpose::Run, args.json, None, || {
        let programs = programs(args, chosen)?;
        let design = experiments::design_of_programs(OF_CACHES, &programs);
        let design = design.context("no program is named")?;
        design.check().map_err(|error| anyhow!("{error}"))?;
        let profile = Profile::default();
        let plan = Plan::new(Purpose::Run, vec![design], profile, &session, profile.budget_s())?;
        // Nobody knows beforehand how long a program of the user's takes.
        Ok(Plan { base_first: true, ..plan })
    })
}

/// Returns the programs that the command line names, each of which has run once.
fn programs(args: &CoreArgs, chosen: &[Choice]) -> anyhow::Result<Vec<ProgramFile>> {
    let like = ProgramFile {
        instructions_max: args.instructions,
        stack_bytes: args.stack,
        memory: args.memory,
        caches: Some(caches::caches(chosen)?),
        ..ProgramFile::default()
    };
    let count = args.files.len();
    ensure!(count <= PROGRAMS_MAX, "--sweep takes {PROGRAMS_MAX} files at most, not {count}");
    let paths = args.files.iter().map(|path| absolute(path)).collect::<anyhow::Result<Vec<_>>>()?;
    for (at, path) in paths.iter().enumerate() {
        ensure!(!paths[..at].contains(path), "{} is named twice", args.files[at].display());
    }
    let names = names::of(&paths);
    let read = paths.iter().zip(names).map(|(path, level)| {
        let (content, sha256) = kit::programs::read(path).map_err(|what| anyhow!("{what}"))?;
        let file = ProgramFile { level, path: text(path)?, sha256, ..like.clone() };
        program::look(file, &content).with_context(|| path.display().to_string())
    });
    read.collect()
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    // An empty path has none.
    std::path::absolute(path).with_context(|| format!("{:?} is no path", path.display()))
}

/// Returns a path as text, as it stands in the manifest.
fn text(path: &Path) -> anyhow::Result<String> {
    let Some(text) = path.to_str() else {
        bail!("{}: its name is no text in UTF-8; rename it", path.display());
    };
    Ok(text.to_owned())
}
