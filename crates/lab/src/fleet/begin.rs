//! A new fleet: what was asked for is checked before anything is made or submitted.

use super::watch::{self, Watch};
use crate::cli::MeasureArgs;
use crate::cli::fleet::FleetRunArgs;
use crate::exit::Exit;
use crate::plan::{Plan, Purpose};
use crate::{conduct, session, ui};
use ::fleet::{Folder, Slurm, expand, names};
use anyhow::{Context, bail};
use model::{FLEET_FORMAT, Fleet, FleetEngine, FleetNode, FleetPlan, FleetRequest};
use std::path::{Path, PathBuf};

/// What a job is given beside twice the time in which it measures: to begin, to finish a block, to
/// analyse.
const GRACE_S: u64 = 300;

pub(crate) fn run(args: &FleetRunArgs) -> anyhow::Result<Exit> {
    let seed = args.measure.seed.unwrap_or_else(draw);
    let plan = plan(args, seed)?;
    let request = request(args, &plan)?;
    let binary = binary(args.binary.as_deref())?;
    let created_unix_ms = sys::clock::unix_ms();
    let id = format!("{:012x}", (draw() << 24 ^ created_unix_ms) & 0xffff_ffff_ffff);
    let path = folder(args.folder.as_deref(), created_unix_ms, &id)?;
    let engine = if args.hosts.is_empty() { FleetEngine::Slurm } else { FleetEngine::Hosts };
    let nodes = nodes(args, &request)?;
    conduct::prepare()?;
    let folder = Folder::create(Path::new(&path))?;
    let mut fleet = Fleet {
        format: FLEET_FORMAT,
        scruple: session::VERSION.into(),
        fleet: id,
        created_unix_ms,
        command: std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        engine,
        binary,
        folder: path,
        plan,
        request,
        retries: args.retries,
        nodes: nodes.into_iter().map(|name| FleetNode { name, attempts: Vec::new() }).collect(),
    };
    let _lock = folder.lock()?;
    folder.write(&fleet)?;
    let all: Vec<usize> = (0..fleet.nodes.len()).collect();
    ::fleet::submit(&folder, &mut fleet, &all).with_context(|| {
        let submitted = fleet.nodes.iter().filter(|node| !node.attempts.is_empty()).count();
        match submitted {
            0 => "nothing was submitted".to_string(),
            some => format!(
                "{some} of {} jobs were submitted (to end them: scruple fleet cancel {})",
                fleet.nodes.len(),
                fleet.folder
            ),
        }
    })?;
    let names: Vec<&str> = fleet.nodes.iter().map(|node| node.name.as_str()).collect();
    ui::note(&format!("seed {seed}, fleet {}, nodes {}", fleet.folder, names.join(", ")));
    if args.no_wait {
        ui::note(&watch::how_to_go_on(&fleet));
        return Ok(Exit::Done);
    }
    let end = Watch::new(&folder, &mut fleet, &args.wait)?.watch()?;
    watch::finish(&folder, &fleet, end, args.json)
}

/// Returns what every node is to measure; what no session could measure is said here and not on the nodes.
fn plan(args: &FleetRunArgs, seed: u64) -> anyhow::Result<FleetPlan> {
    let measure = &args.measure;
    let profile = args.profile;
    let plan = FleetPlan {
        experiments: args.experiments.clone(),
        profile,
        time_budget_s: match (measure.time_budget, measure.runs) {
            (None, None) => Some(profile.budget_s()),
            (asked, _) => asked,
        },
        blocks: measure.runs,
        seed,
        affinity: measure.affinity.clone(),
        shield: !measure.no_shield,
    };
    if let Some(cpus) = &plan.affinity {
        // Which CPUs there are, each node must say for itself.
        sys::affinity::parse_list(cpus)
            .map_err(|error| anyhow::anyhow!("--affinity {cpus}: {error}"))?;
    }
    let here = FleetPlan { affinity: None, ..plan.clone() };
    session_plan(&here, None)?;
    Ok(plan)
}

/// Returns the plan of a node's session, which goes into a folder.
pub(super) fn session_plan(plan: &FleetPlan, output: Option<PathBuf>) -> anyhow::Result<Plan> {
    let measure = MeasureArgs {
        runs: plan.blocks,
        time_budget: plan.time_budget_s,
        seed: Some(plan.seed),
        affinity: plan.affinity.clone(),
        no_shield: !plan.shield,
    };
    let args = crate::cli::PlanArgs { measure, output, resume: None };
    let designs = crate::plan::choose(Purpose::Run, &plan.experiments)?;
    Plan::new(Purpose::Run, designs, plan.profile, &args, plan.profile.budget_s())
}

/// Returns what the engine is asked for.
fn request(args: &FleetRunArgs, plan: &FleetPlan) -> anyhow::Result<FleetRequest> {
    for (what, value) in
        [("--account", &args.account), ("--qos", &args.qos), ("--reservation", &args.reservation)]
    {
        value.iter().try_for_each(|value| names::word(what, value))?;
    }
    args.partition.iter().try_for_each(|it| names::partitions("--partition", it))?;
    args.constraint.iter().try_for_each(|it| names::constraint("--constraint", it))?;
    let estimate = plan.time_budget_s.map(|seconds| 2 * seconds + GRACE_S);
    let Some(time_limit_s) = args.time.or(estimate) else {
        bail!(
            "--runs alone says nothing of the time that a job may take: --time 1h, or --time-budget"
        );
    };
    if plan.time_budget_s.is_some_and(|budget| budget > time_limit_s) {
        bail!(
            "--time {time_limit_s}s ends the jobs before the {} s are up in which they measure",
            plan.time_budget_s.unwrap_or_default()
        );
    }
    Ok(FleetRequest {
        partition: args.partition.clone(),
        constraint: args.constraint.clone(),
        account: args.account.clone(),
        qos: args.qos.clone(),
        reservation: args.reservation.clone(),
        time_limit_s,
    })
}

/// Returns the nodes, each with its name.
fn nodes(args: &FleetRunArgs, request: &FleetRequest) -> anyhow::Result<Vec<String>> {
    if !args.hosts.is_empty() {
        return hosts(&args.hosts);
    }
    if let Some(list) = &args.nodelist {
        return Ok(expand("--nodelist", list)?);
    }
    let wanted = args.nodes.unwrap_or(1) as usize;
    let usable = Slurm::usable(request)?;
    if usable.len() < wanted {
        let names: Vec<&str> = usable.iter().map(|node| node.name.as_str()).collect();
        bail!(
            "--nodes {wanted}: {} could be used now ({}); --nodelist names nodes to wait for",
            usable.len(),
            if names.is_empty() { "none".into() } else { names.join(", ") }
        );
    }
    let mut chosen: Vec<String> = usable.into_iter().take(wanted).map(|node| node.name).collect();
    chosen.sort();
    Ok(chosen)
}

fn hosts(asked: &[String]) -> anyhow::Result<Vec<String>> {
    let mut hosts: Vec<String> = Vec::new();
    for host in asked {
        names::host("--hosts", host)?;
        if hosts.contains(host) {
            bail!("--hosts: {host} stands there twice");
        }
        hosts.push(host.clone());
    }
    if hosts.len() > ::fleet::NODES_MAX {
        bail!("--hosts: a fleet has at most {} hosts", ::fleet::NODES_MAX);
    }
    Ok(hosts)
}

/// Returns the program that the nodes start.
fn binary(asked: Option<&Path>) -> anyhow::Result<String> {
    let path = match asked {
        Some(path) => path.to_path_buf(),
        None => std::env::current_exe().context("cannot tell where this scruple lies")?,
    };
    text("--binary", &path)
}

fn folder(asked: Option<&Path>, unix_ms: u64, id: &str) -> anyhow::Result<String> {
    let path = match asked {
        Some(path) => path.to_path_buf(),
        None => Path::new("scruple-fleets").join(store::session_name(unix_ms, &id[..6])),
    };
    let path = std::path::absolute(&path)
        .with_context(|| format!("cannot make sense of the path {}", path.display()))?;
    text("--folder", &path)
}

fn text(what: &str, path: &Path) -> anyhow::Result<String> {
    let Some(text) = path.to_str() else {
        bail!("{what} {}: it is not UTF-8", path.display());
    };
    names::path(what, text)?;
    Ok(text.to_string())
}

/// Checks that the path by which the nodes know the folder leads to it here.
pub(super) fn must_be_reached_here(folder: &Folder, fleet: &Fleet) -> anyhow::Result<()> {
    let same = |path: &Path| std::fs::canonicalize(path).ok();
    if same(folder.path()).is_none() || same(folder.path()) != same(Path::new(&fleet.folder)) {
        bail!(
            "{}: the nodes know this fleet as {}; submit for it where that path leads here",
            folder.path().display(),
            fleet.folder
        );
    }
    Ok(())
}

/// Returns a number that no two fleets share, out of two clocks and the process.
fn draw() -> u64 {
    let mixed = sys::clock::now_ns() ^ sys::clock::unix_ms() << 20;
    let mixed = mixed.wrapping_add(u64::from(sys::process::pid().unsigned_abs()));
    // Fibonacci hashing spreads what differs in the low bits.
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}
