//! A new fleet: what was asked for is checked before anything is made or submitted.

use super::watch;
use crate::cli::MeasureArgs;
use crate::cli::fleet::FleetRunArgs;
use crate::exit::Exit;
use crate::plan::Plan;
use crate::{conduct, session, ui};
use ::fleet::{Folder, expand, names};
use anyhow::{Context, bail, ensure};
use model::{FLEET_FORMAT, Fleet, FleetEngine, FleetNode, FleetPlan, FleetRequest, natural_order};
use std::path::{Path, PathBuf};

/// What a job is given beside twice the time in which it measures: to begin, to finish a block, to
/// analyse.
const GRACE_S: u64 = 300;

pub(crate) fn run(args: &FleetRunArgs) -> anyhow::Result<Exit> {
    let seed = args.measure.seed.unwrap_or_else(draw);
    let plan = plan(args, seed)?;
    let request = request(args, &plan)?;
    let engine = if args.gather { FleetEngine::Gather } else { FleetEngine::Slurm };
    let binary = match &args.binary {
        Some(path) => path.clone(),
        None => std::env::current_exe().context("cannot tell where this scruple lies")?,
    };
    let binary = text("--binary", &binary, engine)?;
    let created_unix_ms = sys::clock::unix_ms();
    let id = format!("{:012x}", (draw() << 24 ^ created_unix_ms) & 0xffff_ffff_ffff);
    let path = args.folder.clone().unwrap_or_else(|| {
        Path::new("scruple-fleets").join(store::session_name(created_unix_ms, &id[..6]))
    });
    let path = std::path::absolute(&path)
        .with_context(|| format!("cannot make sense of the path {}", path.display()))?;
    let path = text("--folder", &path, engine)?;
    let names = nodes(args, &request)?;
    conduct::prepare()?;
    let mut folder = Folder::create(Fleet {
        format: FLEET_FORMAT,
        scruple: session::VERSION.into(),
        fleet: id,
        created_unix_ms,
        command: std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        engine,
        binary,
        folder: path.clone(),
        plan,
        request,
        retries: args.retries,
        expected: args.nodes.filter(|_| args.gather),
        nodes: names.iter().map(|it| FleetNode { name: it.clone(), attempts: vec![] }).collect(),
    })?;
    let _lock = folder.lock()?;
    folder.write()?;
    if args.gather {
        return to_be_gathered(&folder);
    }
    let all = names.len();
    let places: Vec<usize> = (0..all).collect();
    folder.submit(&places).with_context(|| {
        let nodes = folder.fleet.nodes.iter();
        match nodes.filter(|node| !node.attempts.is_empty()).count() {
            0 => "nothing was submitted".to_string(),
            some => format!(
                "{some} of {all} jobs were submitted (to end them: scruple fleet cancel {path})"
            ),
        }
    })?;
    ui::note(&format!("seed {seed}, fleet {path}, nodes {}", names.join(", ")));
    if args.no_wait {
        ui::note(&watch::how_to_go_on(&folder));
        return Ok(Exit::Done);
    }
    watch::watch(&mut folder, &args.wait, args.json)
}

/// Prints what each machine of a fleet that is gathered has to run.
fn to_be_gathered(folder: &Folder) -> anyhow::Result<Exit> {
    let path = watch::shown(folder.path());
    let file = watch::shown(&folder.path().join(::fleet::FLEET_FILE));
    ui::note(&format!("seed {}, fleet {path}", folder.fleet.plan.seed));
    ui::result(&format!(
        "Copy this scruple and {file} to each machine, and run there:\n    ./scruple fleet node \
         fleet.json\nBring the folders back that this writes, or tar archives of them, and take them \
         in:\n    scruple fleet collect {path} SESSION..."
    ))?;
    Ok(Exit::Done)
}

/// Returns what every node is to measure; what no session could measure is said here and not on the nodes.
fn plan(args: &FleetRunArgs, seed: u64) -> anyhow::Result<FleetPlan> {
    let measure = &args.measure;
    let mut plan = FleetPlan {
        experiments: args.experiments.clone(),
        profile: args.profile,
        time_budget_s: measure.time_budget.map(|ms| ms as f64 / 1e3),
        blocks: measure.runs,
        seed,
        affinity: measure.affinity.clone(),
        shield: !measure.no_shield,
        redact: args.redact,
    };
    if let Some(cpus) = &plan.affinity {
        // Which CPUs there are, each node must say for itself.
        sys::affinity::parse_list(cpus)
            .map_err(|error| anyhow::anyhow!("--affinity {cpus}: {error}"))?;
    }
    let here = FleetPlan { affinity: None, ..plan.clone() };
    plan.time_budget_s = session_plan(&here, None)?.options.time_budget_s;
    Ok(plan)
}

/// Returns the plan of a node's session, which goes into a folder.
pub(super) fn session_plan(plan: &FleetPlan, output: Option<PathBuf>) -> anyhow::Result<Plan> {
    let measure = MeasureArgs {
        runs: plan.blocks,
        time_budget: plan.time_budget_s.map(|seconds| (seconds * 1e3).round() as u64),
        seed: Some(plan.seed),
        affinity: plan.affinity.clone(),
        no_shield: !plan.shield,
    };
    let redact = plan.redact;
    let args = crate::cli::PlanArgs { measure, output, redact, resume: None, dry_run: false };
    crate::plan::of_catalog(&plan.experiments, plan.profile, &args)
}

/// Returns what the engine is asked for.
fn request(args: &FleetRunArgs, plan: &FleetPlan) -> anyhow::Result<FleetRequest> {
    let mut request = FleetRequest {
        partition: args.partition.clone(),
        constraint: args.constraint.clone(),
        time_limit_s: 0,
    };
    names::request("--", &request)?;
    if args.gather {
        return Ok(request);
    }
    let budget_s = plan.time_budget_s.map(|seconds| seconds.ceil() as u64);
    let estimate = budget_s.map(|seconds| 2 * seconds + GRACE_S);
    let Some(time_limit_s) = args.time.map(|ms| ms.div_ceil(1000)).or(estimate) else {
        bail!(
            "--runs alone says nothing of the time that a job may take: --time 1h, or --time-budget"
        );
    };
    if let Some(budget) = budget_s.filter(|budget| *budget > time_limit_s) {
        bail!(
            "--time {time_limit_s}s ends the jobs before the {budget} s are up in which they measure"
        );
    }
    request.time_limit_s = time_limit_s;
    Ok(request)
}

/// Returns the nodes, each with its name.
fn nodes(args: &FleetRunArgs, request: &FleetRequest) -> anyhow::Result<Vec<String>> {
    if args.gather {
        return Ok(Vec::new());
    }
    if let Some(list) = &args.nodelist {
        return Ok(expand("--nodelist", list)?);
    }
    let wanted = args.nodes.unwrap_or(1) as usize;
    let mut usable = ::fleet::usable(request)?;
    ensure!(
        usable.len() >= wanted,
        "--nodes {wanted}: {} could be used now ({}); --nodelist names nodes to wait for",
        usable.len(),
        if usable.is_empty() { "none".into() } else { usable.join(", ") }
    );
    usable.truncate(wanted);
    usable.sort_by(|a, b| natural_order(a, b));
    Ok(usable)
}

/// Returns a path as nodes are given it, if they are.
fn text(what: &str, path: &Path, engine: FleetEngine) -> anyhow::Result<String> {
    let Some(text) = path.to_str() else {
        bail!("{what} {}: it is not UTF-8", path.display());
    };
    if engine != FleetEngine::Gather {
        names::path(what, text)?;
    }
    Ok(text.to_string())
}

/// Checks that the path by which the nodes know the folder leads to it here.
pub(super) fn must_be_reached_here(folder: &Folder) -> anyhow::Result<()> {
    let (here, there) = (folder.path(), &folder.fleet.folder);
    let same = |path: &Path| std::fs::canonicalize(path).ok();
    ensure!(
        same(here).is_some() && same(here) == same(Path::new(there)),
        "{}: the nodes know this fleet as {there}; submit for it where that path leads here",
        here.display()
    );
    Ok(())
}

/// Returns a number that no two fleets share, out of two clocks and the process.
fn draw() -> u64 {
    let mixed = sys::clock::now_ns() ^ sys::clock::unix_ms() << 20;
    let mixed = mixed.wrapping_add(u64::from(sys::process::pid().unsigned_abs()));
    // Fibonacci hashing spreads what differs in the low bits.
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}
