//! The same session on many machines: submitted, watched, collected.

mod begin;
mod gather;
mod hidden;
mod node;
mod redacted;
mod status;
mod take;
mod watch;

use crate::cli::fleet::{FleetArgs, FleetCollectArgs, FleetCommand, FleetFolderArgs};
use crate::exit::Exit;
use crate::ui;
use ::fleet::Folder;
use anyhow::ensure;
use model::{FleetEngine, NodeResult, NodeStanding};

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
    let mut folder = Folder::open(&args.folder)?;
    if let Some(to) = &args.redact {
        return redacted::copy(&folder, to, args.json);
    }
    if folder.fleet.engine == FleetEngine::Gather {
        ensure!(
            !args.complete && !args.wait,
            "{}: nothing was submitted for this fleet; name the sessions that came back",
            args.folder.display()
        );
        let refused = take::take(&folder, &args.sessions)?;
        let exit = gather::report(&Folder::open(&args.folder)?, args.json)?;
        return Ok(if refused == 0 { exit } else { Exit::Incomplete });
    }
    ensure!(
        args.sessions.is_empty(),
        "{}: this fleet's nodes write into its folder; only one that was begun with --gather takes \
         sessions in",
        args.folder.display()
    );
    if !args.complete && !args.wait {
        return gather::report(&folder, args.json);
    }
    crate::conduct::prepare()?;
    let _lock = folder.lock()?;
    begin::must_be_reached_here(&folder)?;
    if args.complete {
        submit_missing(&mut folder)?;
    }
    watch::watch(&mut folder, &args.waiting, args.json)
}

/// Submits again for each node that has no session that could be taken. A job that never began is left
/// in line; one that was queued again after its node was lost is cancelled first, so that no node gets
/// two.
fn submit_missing(folder: &mut Folder) -> anyhow::Result<()> {
    let results = gather::results(folder)?;
    let is_there = |node: &NodeResult| {
        use NodeStanding::{Complete, Running, Waiting};
        matches!(node.standing, Complete | Waiting | Running)
    };
    let missing: Vec<usize> = (0..results.len()).filter(|at| !is_there(&results[*at])).collect();
    if missing.is_empty() {
        ui::note("nothing is to be submitted again");
        return Ok(());
    }
    let open = folder.open_jobs()?;
    let nodes = missing.iter().map(|at| &folder.fleet.nodes[*at]);
    let last = nodes.clone().filter_map(|node| Some(node.attempts.last()?.job.clone()));
    let last: Vec<String> = last.filter(|job| open.contains(job)).collect();
    // A job of hosts is one for all of them, and others of it may be at work.
    if !last.is_empty() && folder.fleet.engine == FleetEngine::Slurm {
        let jobs = last.join(", ");
        ui::note(&format!("queued again after its node was lost, now cancelled: {jobs}"));
        folder.cancel(&last)?;
    }
    let names: Vec<&str> = nodes.map(|node| node.name.as_str()).collect();
    ui::note(&format!("submitted again: {}", names.join(", ")));
    Ok(folder.submit(&missing)?)
}

fn cancel(args: &FleetFolderArgs) -> anyhow::Result<Exit> {
    let folder = Folder::open(&args.folder)?;
    let jobs = folder.open_jobs()?;
    if jobs.is_empty() {
        ui::note("no job of this fleet is in line or at work");
        return Ok(Exit::Done);
    }
    folder.cancel(&jobs)?;
    ui::note(&format!("cancelled: {}", jobs.join(", ")));
    Ok(Exit::Done)
}
