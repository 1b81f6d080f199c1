//! One node's part of a fleet: the whole session, in a folder that gets its place when it is complete.

use super::begin::session_plan;
use super::watch;
use crate::cli::fleet::FleetNodeArgs;
use crate::conduct::{self, Ending};
use crate::exit::Exit;
use crate::{session, ui};
use ::fleet::{Folder, Published, names};
use anyhow::{Context, bail, ensure};
use model::{FLEET_FORMAT, Fleet, FleetEngine, NodeFacts};
use std::fs::TryLockError;
use std::hash::{BuildHasher, RandomState};

/// What Slurm tells a process of a job: which job it is, on which node, and how often it was restarted
/// (nothing before the first time).
const JOB_VARIABLE: &str = "SLURM_JOB_ID";
const NODE_VARIABLE: &str = "SLURMD_NODENAME";
const RESTART_VARIABLE: &str = "SLURM_RESTART_COUNT";

/// What Slurm says of the CPUs that the node has for the job.
const CPUS_VARIABLE: &str = "SLURM_CPUS_ON_NODE";

/// What a machine is called whose host name is not to be stored.
const NAMELESS: &str = "machine";

/// The most characters of a host's name that a node is called by.
const NAME_CHARACTERS_MAX: usize = 60;

pub(crate) fn node(args: &FleetNodeArgs) -> anyhow::Result<Exit> {
    let folder = place(args)?;
    let fleet = &folder.fleet;
    ensure!(
        fleet.scruple == session::VERSION,
        "the plan is of scruple {}, and this is {}: use the scruple that began the fleet",
        fleet.scruple,
        session::VERSION
    );
    let own = identity(args, fleet)?;
    let (Published { job, restart, .. }, allowed) = (&own, folder.fleet.retries);
    if *restart > allowed {
        bail!("job {job} was restarted {restart} times, and {allowed} were allowed");
    }
    let workplace = folder.workplace(&own);
    let earlier = folder.published()?;
    if let Some(done) = earlier.iter().find(|it| it.node == own.node && it.job == own.job) {
        ui::note(&format!("{} is complete already: there is nothing to do", done.name));
        return Ok(Exit::Done);
    }
    conduct::prepare()?;
    let facts = facts(&folder, &own)?;
    for doubt in &facts.doubts {
        ui::warn(doubt);
    }
    let plan = session_plan(&folder.fleet.plan, Some(workplace.clone()))?;
    let mut session = conduct::begin(plan)?;
    ensure!(
        session.measure()? != Ending::Interrupted,
        "interrupted; what was measured stays in {}",
        workplace.display()
    );
    session.conclude()?;
    // Nothing may write into the folder when it gets its place.
    drop(session);
    let later = |it: &Published| it.job == own.job && it.restart > own.restart;
    ensure!(
        !folder.partial()?.iter().chain(&folder.published()?).any(later),
        "job {job} was restarted meanwhile: this attempt is an orphan, and its session stays in {}",
        workplace.display()
    );
    folder.publish(&own, &facts)?;
    ui::note(&format!("{} is complete", own.name));
    if folder.fleet.engine == FleetEngine::Gather {
        let path = watch::shown(&folder.session(&own));
        ui::note(&format!(
            "bring back {path}, or an archive of it (tar -czf {0}.tar.gz {0})",
            own.name
        ));
    }
    Ok(Exit::Done)
}

/// Returns the folder in which this node measures: the fleet's, which all nodes share, or one of this
/// machine's.
fn place(args: &FleetNodeArgs) -> anyhow::Result<Folder> {
    let path = args.fleet.display();
    let what = || format!("{path}: name the folder that all nodes share, or a copy of fleet.json");
    if args.fleet.is_dir() {
        let folder = Folder::open(&args.fleet).with_context(what)?;
        if folder.fleet.engine != FleetEngine::Gather {
            ensure!(
                args.output.is_none(),
                "--output: this fleet's nodes write into its own folder"
            );
            return Ok(folder);
        }
    }
    let output = args.output.clone().unwrap_or_else(|| ".".into());
    let folder = Folder::elsewhere(&args.fleet, &output).with_context(what)?;
    ensure!(
        folder.fleet.engine == FleetEngine::Gather,
        "{path}: only a fleet that was begun with --gather is measured without its folder"
    );
    Ok(folder)
}

/// Returns which attempt this is.
fn identity(args: &FleetNodeArgs, fleet: &Fleet) -> anyhow::Result<Published> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if fleet.engine == FleetEngine::Gather {
        return drawn(args.node.as_deref(), fleet.plan.redact);
    }
    let node = args.node.clone().unwrap_or_default();
    let job = variable(JOB_VARIABLE)
        .with_context(|| format!("{JOB_VARIABLE} is not set: this runs in a job of Slurm"))?;
    names::node(JOB_VARIABLE, &job)?;
    if let Some(here) = variable(NODE_VARIABLE).filter(|here| *here != node) {
        bail!("this is node {here}, and the job is for {node}");
    }
    let restart = variable(RESTART_VARIABLE).unwrap_or_else(|| "0".into());
    let restart = restart
        .parse()
        .ok()
        .with_context(|| format!("{RESTART_VARIABLE} {restart:?} is no number"))?;
    ensure!(
        fleet.nodes.iter().any(|known| known.name == node),
        "{node:?} is no node of fleet {}",
        fleet.fleet
    );
    Ok(Published::new(&node, &job, restart))
}

/// Returns the one attempt of a machine that shares nothing: its job is a number that no other run draws,
/// since machines may have one name.
fn drawn(name: Option<&str>, redact: bool) -> anyhow::Result<Published> {
    let node = match name {
        Some(name) => name.to_string(),
        None if redact => NAMELESS.into(),
        None => {
            let host = sys::machine::hostname().unwrap_or_default();
            let plain = |c: &char| c.is_ascii_alphanumeric() || "_.-".contains(*c);
            let host: String = host.chars().filter(plain).take(NAME_CHARACTERS_MAX).collect();
            format!(
                "{}{host}",
                if host.starts_with(['.', '-']) || host.is_empty() { "_" } else { "" }
            )
        }
    };
    names::node("--node", &node)?;
    // The standard library seeds it from the system's random numbers.
    let number = RandomState::new().hash_one(sys::clock::unix_ms());
    Ok(Published::new(&node, &format!("{:012x}", number & 0xffff_ffff_ffff), 0))
}

/// Returns what this node says of the session that is to come.
fn facts(folder: &Folder, own: &Published) -> anyhow::Result<NodeFacts> {
    let cpus_allowed = sys::affinity::allowed()?;
    let cpus_online = sys::topology::online();
    let cpus_of_engine = std::env::var(CPUS_VARIABLE).ok().and_then(|text| text.parse().ok());
    let owns_all_cpus = cpus_online.iter().all(|cpu| cpus_allowed.contains(cpu));
    let list = sys::affinity::format_list;
    let mut doubts = Vec::new();
    if !owns_all_cpus {
        doubts.push(format!(
            "the job may use {} of the node's {} CPUs ({} of {}): what else runs there, and takes \
             caches and memory with it, is not known",
            cpus_allowed.len(),
            cpus_online.len(),
            list(&cpus_allowed),
            list(&cpus_online)
        ));
    }
    if let Some(quota) = sys::cgroup::cpu_quota().filter(|it| *it < cpus_online.len() as f64) {
        doubts.push(format!("the job may use {quota:.2} CPUs' worth of time (a quota)"));
    }
    // In a folder that several machines of one name share, another one's would look like an earlier one.
    let is_earlier = |it: &&Published| {
        folder.fleet.engine != FleetEngine::Gather && it.node == own.node && *it != own
    };
    for other in folder.partial()?.iter().filter(is_earlier) {
        if is_at_work(folder, other) {
            doubts.push(format!(
                "an earlier attempt ({}) was still at work on this node when the session began",
                other.name
            ));
        }
    }
    Ok(NodeFacts {
        format: FLEET_FORMAT,
        scruple: session::VERSION.into(),
        fleet: folder.fleet.fleet.clone(),
        node: own.node.clone(),
        job: own.job.clone(),
        restart: own.restart,
        cpus_online,
        cpus_allowed,
        cpus_of_engine,
        owns_all_cpus,
        doubts,
    })
}

/// Reports whether somebody writes an attempt's session: who does holds its lock.
fn is_at_work(folder: &Folder, attempt: &Published) -> bool {
    let lock = folder.file(attempt, store::LOCK_FILE);
    lock.is_some_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}
