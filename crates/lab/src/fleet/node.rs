//! One node's part of a fleet: the whole session, in a folder that gets its place when it is complete.

use super::begin::session_plan;
use crate::cli::fleet::FleetNodeArgs;
use crate::conduct::{self, Ending};
use crate::exit::Exit;
use crate::{session, ui};
use ::fleet::{
    Folder, HOST_VARIABLE, JOB_VARIABLE, NODE_VARIABLE, Published, RESTART_VARIABLE, names,
};
use anyhow::{Context, bail};
use model::{FLEET_FORMAT, Fleet, NodeFacts};
use std::fs::{File, TryLockError};

/// What Slurm says of the CPUs that the node has for the job.
const CPUS_VARIABLE: &str = "SLURM_CPUS_ON_NODE";

pub(crate) fn node(args: &FleetNodeArgs) -> anyhow::Result<Exit> {
    let (folder, fleet) = Folder::open(&args.folder)
        .context("the fleet's folder must be the same on all nodes, under one path")?;
    let own = identity(args, &fleet)?;
    if own.restart > fleet.retries {
        bail!(
            "job {} was restarted {} times, and {} were allowed",
            own.job,
            own.restart,
            fleet.retries
        );
    }
    let earlier = folder.published(&fleet)?;
    if let Some(done) = earlier.iter().find(|it| it.node == own.node && it.job == own.job) {
        ui::note(&format!("{} is complete already: there is nothing to do", done.name));
        return Ok(Exit::Done);
    }
    conduct::prepare()?;
    let facts = facts(&folder, &fleet, &own)?;
    for doubt in &facts.doubts {
        ui::warn(doubt);
    }
    let mut session = conduct::begin(session_plan(&fleet.plan, Some(folder.workplace(&own)))?)?;
    let ending = session.measure()?;
    if ending == Ending::Interrupted {
        bail!("interrupted; what was measured stays in {}", folder.workplace(&own).display());
    }
    session.conclude()?;
    // Nothing may write into the folder when it gets its place.
    drop(session);
    let later = |it: &Published| it.job == own.job && it.restart > own.restart;
    if folder.partial(&fleet)?.iter().chain(&folder.published(&fleet)?).any(later) {
        bail!(
            "job {} was restarted meanwhile: this attempt is an orphan, and its session stays in {}",
            own.job,
            folder.workplace(&own).display()
        );
    }
    folder.publish(&own, &facts)?;
    ui::note(&format!("{} is complete", own.name));
    Ok(Exit::Done)
}

/// Returns which attempt this is.
fn identity(args: &FleetNodeArgs, fleet: &Fleet) -> anyhow::Result<Published> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let (node, job, restart) = if let Some(job) = &args.host {
        names::node("--host", job)?;
        let host = variable(HOST_VARIABLE)
            .with_context(|| format!("{HOST_VARIABLE} is not set: parallel sets it"))?;
        (host, job.clone(), 0)
    } else {
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
        (node, job, restart)
    };
    if !fleet.nodes.iter().any(|known| known.name == node) {
        bail!("{node:?} is no node of fleet {}", fleet.fleet);
    }
    Ok(Published::new(&node, &job, restart))
}

/// Returns what this node says of the session that is to come.
fn facts(folder: &Folder, fleet: &Fleet, own: &Published) -> anyhow::Result<NodeFacts> {
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
    for other in folder.partial(fleet)?.iter().filter(|it| it.node == own.node && *it != own) {
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
        fleet: fleet.fleet.clone(),
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
    let lock = folder.workplace(attempt).join(store::LOCK_FILE);
    let is_file = std::fs::symlink_metadata(&lock).is_ok_and(|it| it.is_file());
    let file = if is_file { File::open(&lock).ok() } else { None };
    file.is_some_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}
