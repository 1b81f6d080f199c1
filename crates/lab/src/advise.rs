//! `scruple plan`: which model and how many workers for a stated load.
//!
//! Not to be mixed up with the plan of a session, which says what to measure (`plan`).

use crate::cli::advise::AdviseArgs;
use crate::exit::Exit;
use crate::plan::Purpose;
use crate::{destination, input, lookup, session, ui};
use analysis::{BadLoad, PlanInput};
use anyhow::{Context, anyhow, bail};
use model::{Advice, Design, Load, Manifest, Record};
use std::path::{Path, PathBuf};
use store::Stored;

pub(crate) fn advise(args: &AdviseArgs) -> anyhow::Result<Exit> {
    let html = destination::place(args.html.as_deref(), "--html")?;
    let stored = sessions(&args.sessions)?;
    let manifests: Vec<&Manifest> = stored.iter().map(|one| &one.manifest).collect();
    let names: Vec<&str> = manifests.iter().map(|it| it.session.as_str()).collect();
    let (designs, records) = merged(&stored);
    let input = PlanInput {
        scruple: session::VERSION,
        session: &names.join(", "),
        designs: &designs,
        records: &records,
        load: load(args, manifests[0])?,
    };
    let bad = |bad: BadLoad| anyhow!("{}", bad.0);
    let mut advice = analysis::plan(&input).map_err(bad)?;
    if input.load.machines.is_none() && args.workers.is_none() {
        advice.sensitivity = analysis::sensitivity(&input).map_err(bad)?;
    }
    if let Some(html) = html {
        html.put(report::advice(&advice).page().as_bytes()).context("--html")?;
    }
    if args.html.as_deref().is_some_and(input::is_standard) {
        return Ok(exit(&advice));
    }
    ui::show(args.json, &advice, |width| report::advice(&advice).text(width))?;
    Ok(exit(&advice))
}

/// Returns the sessions that were named, or the latest one.
///
/// # Errors
/// One cannot be read, or two are of different machines.
fn sessions(words: &[PathBuf]) -> anyhow::Result<Vec<Stored>> {
    let of_run = |_: &Path, it: &Manifest| Purpose::of(&it.options) == Purpose::Run;
    let dirs = match words {
        [] => vec![lookup::say("session", lookup::latest(of_run)?)],
        _ => words.iter().map(|word| lookup::named(word)).collect::<anyhow::Result<_>>()?,
    };
    let stored =
        dirs.iter().map(|dir| Ok(store::open(dir)?)).collect::<anyhow::Result<Vec<_>>>()?;
    for one in &stored {
        session::say_what_is_odd(one);
    }
    let kind = |one: &Stored| analysis::machine_kind(&one.manifest);
    if let Some(other) = stored.iter().find(|one| kind(one) != kind(&stored[0])) {
        bail!(
            "sessions {} and {} are of different machines: a plan needs the costs of one",
            stored[0].manifest.session,
            other.manifest.session
        );
    }
    Ok(stored)
}

/// Returns the experiments of all sessions with their trials; of one that several hold, those of the first.
fn merged(stored: &[Stored]) -> (Vec<Design>, Vec<Record>) {
    let (mut designs, mut records) = (Vec::<Design>::new(), Vec::new());
    for one in stored {
        let is_new = |design: &&Design| !designs.iter().any(|known| known.id == design.id);
        let new: Vec<Design> = one.manifest.designs.iter().filter(is_new).cloned().collect();
        let of_new = |record: &&Record| new.iter().any(|design| *design.id == *record.experiment);
        records.extend(one.records.iter().filter(of_new).cloned());
        designs.extend(new);
    }
    (designs, records)
}

fn load(args: &AdviseArgs, manifest: &Manifest) -> anyhow::Result<Load> {
    let of_session = manifest.environment.cpus_allowed.len() as u32;
    let cpus = match args.cpus {
        Some(cpus) => cpus,
        None => Some(of_session).filter(|cpus| *cpus > 0).context(
            "the session does not say how many CPUs its machine has: state them by --cpus",
        )?,
    };
    Ok(Load {
        rate_per_s: args.rate,
        connections: args.connections,
        machines: args.machines,
        think_ns: args.think.unwrap_or(0.0),
        service_ns: args.service,
        service_p95_ns: args.service_p95,
        cpu_share: args.cpu_share,
        memory_bytes: args.memory,
        worker_memory_bytes: args.worker_memory.unwrap_or(0.0),
        target_p95_ns: args.target_p95,
        workers: args.workers,
        headroom: args.headroom,
        cpus,
        cpus_stated: args.cpus.is_some(),
    })
}

/// Returns an answer is one that says what to take, or, of a given number of workers, that it will do.
fn exit(advice: &Advice) -> Exit {
    if advice.recommended.is_some() { Exit::Done } else { Exit::Incomplete }
}
