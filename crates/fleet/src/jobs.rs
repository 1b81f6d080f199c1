//! The jobs of a fleet: submitted, looked at, and those that are open.

use crate::{Engine, Error, Folder, Hosts, Order, Seen, Slurm, Standing, standing};
use model::{Fleet, FleetAttempt, FleetEngine, FleetNode};

/// Returns the engine that starts the sessions of a fleet.
pub fn engine(fleet: &Fleet) -> &'static dyn Engine {
    match fleet.engine {
        FleetEngine::Slurm => &Slurm,
        FleetEngine::Hosts => &Hosts,
    }
}

/// Submits one job for each of the nodes at these places, and writes down each as soon as the engine
/// has it.
///
/// # Errors
/// What the engine said, or that the folder cannot be written.
pub fn submit(folder: &Folder, fleet: &mut Fleet, places: &[usize]) -> Result<(), Error> {
    let asked = fleet.clone();
    let orders: Vec<Order> = places.iter().map(|place| order(&asked, *place)).collect();
    let mut accepted = |at: usize, job: String| {
        let submitted_unix_ms = sys::clock::unix_ms();
        if let Some(node) = places.get(at).and_then(|place| fleet.nodes.get_mut(*place)) {
            node.attempts.push(FleetAttempt { job, submitted_unix_ms, state: String::new() });
        }
        folder.write(fleet)
    };
    engine(&asked).submit(&asked, &orders, &mut accepted)
}

/// Returns the words of the process that measures on a node.
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

/// Returns what became of each node, and what the engine says of its last job.
///
/// # Errors
/// What the engine said, or that the folder cannot be read.
pub fn look(folder: &Folder, fleet: &Fleet) -> Result<(Vec<Standing>, Vec<Option<String>>), Error> {
    // The engine first: what it says has ended has left its session before.
    let seen = engine(fleet).list(fleet)?;
    let (published, partial) = (folder.published(fleet)?, folder.partial(fleet)?);
    let standings = fleet.nodes.iter().map(|node| standing(node, &seen, &published, &partial));
    let states = fleet.nodes.iter().map(|node| {
        let last = &node.attempts.last()?.job;
        let own = |it: &&Seen| it.job == *last && (it.node.is_empty() || it.node == node.name);
        seen.iter().find(own).map(|job| job.state.clone())
    });
    Ok((standings.collect(), states.collect()))
}

/// Returns the jobs that are in line or at work.
///
/// # Errors
/// What the engine said, or that the folder cannot be read.
pub fn open_jobs(folder: &Folder, fleet: &Fleet) -> Result<Vec<String>, Error> {
    let (published, partial) = (folder.published(fleet)?, folder.partial(fleet)?);
    let mut jobs: Vec<String> = Vec::new();
    for job in engine(fleet).list(fleet)? {
        // As if it were the only one: an earlier one may still be there.
        let attempt =
            FleetAttempt { job: job.job.clone(), submitted_unix_ms: 0, state: String::new() };
        let node = FleetNode { name: job.node.clone(), attempts: vec![attempt] };
        let open = match standing(&node, std::slice::from_ref(&job), &[], &partial) {
            Standing::Running => {
                !published.iter().any(|it| it.job == job.job && it.node == job.node)
            }
            Standing::Waiting { .. } => true,
            _ => false,
        };
        if open && !jobs.contains(&job.job) {
            jobs.push(job.job);
        }
    }
    Ok(jobs)
}

/// Cancels the jobs that were queued again although their session is complete, and returns them: an
/// orphaned attempt may have published it.
///
/// # Errors
/// What the engine said, or that the folder cannot be read.
pub fn cancel_done(folder: &Folder, fleet: &Fleet) -> Result<Vec<String>, Error> {
    let published = folder.published(fleet)?;
    let queued = engine(fleet).list(fleet)?.into_iter().filter(|job| job.state == "PENDING");
    let jobs: Vec<String> = queued
        .map(|queued| queued.job)
        .filter(|job| published.iter().any(|done| done.job == *job))
        .collect();
    if !jobs.is_empty() {
        engine(fleet).cancel(fleet, &jobs)?;
    }
    Ok(jobs)
}
