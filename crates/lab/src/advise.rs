//! `scruple plan`: which model and how many workers for a stated load.
//!
//! Not to be mixed up with the plan of a session, which says what to measure (`plan`).

use crate::cli::advise::AdviseArgs;
use crate::exit::Exit;
use crate::plan::Purpose;
use crate::{lookup, session, ui};
use analysis::PlanInput;
use anyhow::{Context, anyhow};
use model::{Advice, Load, Manifest};
use std::path::Path;

pub(crate) fn advise(args: &AdviseArgs) -> anyhow::Result<Exit> {
    let dir = match &args.session {
        Some(word) => lookup::named(word)?,
        None => {
            let of_run = |_: &Path, it: &Manifest| Purpose::of(&it.options) == Purpose::Run;
            lookup::say("session", lookup::latest(of_run)?)
        }
    };
    let stored = store::open(&dir)?;
    session::say_what_is_odd(&stored);
    let load = load(args, &stored.manifest)?;
    let advice = analysis::plan(&PlanInput {
        scruple: session::VERSION,
        session: &stored.manifest.session,
        designs: &stored.manifest.designs,
        records: &stored.records,
        load,
    })
    .map_err(|bad| anyhow!("{}", bad.0))?;
    ui::show(args.json, &advice, |width| report::advice(&advice).text(width))?;
    Ok(exit(&advice))
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
