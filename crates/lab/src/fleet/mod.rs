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
use ::fleet::{Engine, Folder, Hosts, Order, Slurm};
use model::{Fleet, FleetAttempt, FleetEngine, NodeResult, NodeStanding};
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

/// What starts the sessions of a fleet.
fn engine(fleet: &Fleet) -> &'static dyn Engine {
    match fleet.engine {
        FleetEngine::Slurm => &Slurm,
        FleetEngine::Hosts => &Hosts,
    }
}

/// Submits one job for each of the nodes at these places, and writes down each as soon as the engine
/// has it.
fn submit(folder: &Folder, fleet: &mut Fleet, places: &[usize]) -> anyhow::Result<()> {
    let asked = fleet.clone();
    let orders: Vec<Order> = places.iter().map(|place| order(&asked, *place)).collect();
    let mut accepted = |at: usize, job: String| {
        let submitted_unix_ms = sys::clock::unix_ms();
        if let Some(node) = places.get(at).and_then(|place| fleet.nodes.get_mut(*place)) {
            node.attempts.push(FleetAttempt { job, submitted_unix_ms, state: String::new() });
        }
        folder.write(fleet)
    };
    engine(&asked).submit(&asked, &orders, &mut accepted)?;
    Ok(())
}

/// The words of the process that measures on a node.
fn order(fleet: &Fleet, place: usize) -> Order {
    let node = fleet.nodes[place].name.clone();
    let mut words: Vec<String> =
        [&fleet.binary, "fleet", "node", &fleet.folder].map(String::from).to_vec();
    match fleet.engine {
        FleetEngine::Slurm => words.extend(["--node".into(), node.clone()]),
        // All hosts get the same words.
        FleetEngine::Hosts => words.extend(["--host".into(), Hosts::next_job(fleet)]),
    }
    Order { node, words }
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
    let open = watch::open_jobs(folder, fleet)?;
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
    submit(folder, fleet, &missing)
}

fn cancel(args: &FleetFolderArgs) -> anyhow::Result<Exit> {
    let (folder, fleet) = Folder::open(&args.folder)?;
    let jobs = watch::open_jobs(&folder, &fleet)?;
    if jobs.is_empty() {
        ui::note("no job of this fleet is in line or at work");
        return Ok(Exit::Done);
    }
    engine(&fleet).cancel(&fleet, &jobs)?;
    ui::note(&format!("cancelled: {}", jobs.join(", ")));
    Ok(Exit::Done)
}
