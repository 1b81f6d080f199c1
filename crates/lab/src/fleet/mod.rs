//! The same session on many machines: submitted, watched, collected.

mod begin;
mod gather;
mod live;
mod node;
mod status;
mod watch;

use crate::cli::fleet::{FleetArgs, FleetCollectArgs, FleetCommand, FleetFolderArgs};
use crate::exit::Exit;
use crate::ui;
use ::fleet::{Folder, engine, open_jobs, submit};
use model::{Fleet, FleetEngine, NodeResult, NodeStanding};
use watch::Watch;

pub(crate) fn fleet(args: &FleetArgs) -> anyhow::Result<Exit> {
    match &args.command {
        FleetCommand::Run(args) => begin::run(args),
        FleetCommand::Status(args) => status::status(args),
        FleetCommand::Collect(args) => collect(args),
        FleetCommand::Cancel(args) => cancel(args),
        FleetCommand::Node(args) => node::node(args),
    }
}

fn collect(args: &FleetCollectArgs) -> anyhow::Result<Exit> {
    let (folder, mut fleet) = Folder::open(&args.folder)?;
    if !args.complete && !args.wait {
        return gather::report(&folder, &fleet, args.json);
    }
    crate::conduct::prepare()?;
    let _lock = folder.lock()?;
    begin::must_be_reached_here(&folder, &fleet)?;
    if args.complete {
        submit_missing(&folder, &mut fleet)?;
    }
    let end = Watch::new(&folder, &mut fleet, &args.waiting)?.watch()?;
    watch::finish(&folder, &fleet, end, args.json)
}

/// Submits again for each node that has no session that could be taken. A job that never began is left
/// in line; one that was queued again after its node was lost is cancelled first, so that no node gets
/// two.
fn submit_missing(folder: &Folder, fleet: &mut Fleet) -> anyhow::Result<()> {
    let results = gather::results(folder, fleet)?;
    let is_there = |node: &NodeResult| {
        use NodeStanding::{Complete, Running, Waiting};
        matches!(node.standing, Complete | Waiting | Running)
    };
    let missing: Vec<usize> = (0..results.len()).filter(|at| !is_there(&results[*at])).collect();
    if missing.is_empty() {
        ui::note("nothing is to be submitted again");
        return Ok(());
    }
    let open = open_jobs(folder, fleet)?;
    let own = |at: &usize| fleet.nodes[*at].attempts.last().map(|attempt| attempt.job.clone());
    let last: Vec<String> =
        missing.iter().filter_map(own).filter(|job| open.contains(job)).collect();
    // A job of hosts is one for all of them, and others of it may be at work.
    if !last.is_empty() && fleet.engine == FleetEngine::Slurm {
        ui::note(&format!(
            "queued again after its node was lost, now cancelled: {}",
            last.join(", ")
        ));
        engine(fleet).cancel(fleet, &last)?;
    }
    let names: Vec<&str> = missing.iter().map(|at| fleet.nodes[*at].name.as_str()).collect();
    ui::note(&format!("submitted again: {}", names.join(", ")));
    Ok(submit(folder, fleet, &missing)?)
}

fn cancel(args: &FleetFolderArgs) -> anyhow::Result<Exit> {
    let (folder, fleet) = Folder::open(&args.folder)?;
    let jobs = open_jobs(&folder, &fleet)?;
    if jobs.is_empty() {
        ui::note("no job of this fleet is in line or at work");
        return Ok(Exit::Done);
    }
    engine(&fleet).cancel(&fleet, &jobs)?;
    ui::note(&format!("cancelled: {}", jobs.join(", ")));
    Ok(Exit::Done)
}
