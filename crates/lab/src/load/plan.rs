//! The load that a command line asks for.

use crate::cli::load::{LoadArgs, Open};
use crate::{input, ui};
use anyhow::{Context, bail, ensure};
use model::{Arrivals, LoadPlan};
use web::load::Target;

/// Connections where none are stated: as hey and oha have it, and in an open loop enough for a
/// server that stalls, below the 1024 descriptors that most programs may open.
const CONNECTIONS: u32 = 50;
const CONNECTIONS_OPEN: u32 = 500;

/// How long requests are sent where nothing else is stated, and at each rate of a search, in ms.
const DURATION_MS: u64 = 10_000;
pub(super) const TRIAL_MS: u64 = 2_000;

/// The largest body.
const BODY_BYTES_MAX: u64 = 64 << 20;

/// A plan with the body that it sends.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) plan: LoadPlan,
    pub(super) body: Vec<u8>,
    pub(super) seed: u64,
}

/// Returns the plan for a command line, checked as far as the command knows.
pub(super) fn plan(args: &LoadArgs) -> anyhow::Result<Asked> {
    let target = Target::parse(&args.url)?;
    if target.is_remote()? {
        check_remote(args, target.host())?;
    }
    let open = args.open.is_some() || args.find_knee || args.predict.is_some();
    if args.open.is_some() && args.rate.is_none() && !args.find_knee {
        bail!("--open needs a rate: --rate 500, or --find-knee to find out which the server bears");
    }
    let body = body(args)?;
    if !body.is_empty() && args.method == "GET" {
        ui::warn("a body is sent by GET, as hey and oha do; most servers expect it by -m POST");
    }
    if args.latency_correction {
        ui::note(
            "--latency-correction: response times always begin when a request was to come; nothing \
             changes",
        );
    }
    let connections = args.connections.unwrap_or(if open { CONNECTIONS_OPEN } else { CONNECTIONS });
    if args.predict.is_some() && target.is_remote()? {
        bail!("--predict saturates the server: it asks this machine alone");
    }
    if args.threads > connections {
        let are = if connections == 1 {
            "is 1 connection"
        } else {
            &format!("are {connections} connections")
        };
        bail!("--threads {}: there {are} to share out", args.threads);
    }
    let seed = args.seed.unwrap_or_else(|| sys::clock::now_ns() & 0xffff_ffff);
    let plan = LoadPlan {
        url: target.url(),
        method: args.method.clone(),
        headers: args.headers.clone(),
        body_bytes: body.len() as u64,
        arrivals: arrivals(args, seed),
        connections,
        keep_alive: !args.no_keep_alive,
        threads: args.threads,
        duration_ms: match (args.duration, args.requests) {
            (None, None) if args.find_knee => Some(TRIAL_MS),
            (None, None) => Some(DURATION_MS),
            (asked, _) => asked,
        },
        requests: args.requests,
        timeout_ms: args.timeout,
    };
    Ok(Asked { plan, body, seed })
}

/// Checks that a load on another machine is allowed, and has a rate and a duration.
fn check_remote(args: &LoadArgs, host: &str) -> anyhow::Result<()> {
    let limit = if args.find_knee { args.time_budget } else { args.duration };
    let flag = if args.find_knee { "--time-budget" } else { "--duration" };
    ensure!(
        args.allow_remote,
        "{host} is not this machine, and a load can bring a server down: if it is yours, say \
             --allow-remote with --rate and {flag}"
    );
    if args.rate.is_none() || limit.is_none() {
        bail!("{host} is not this machine: --allow-remote needs --rate and {flag}");
    }
    Ok(())
}

fn arrivals(args: &LoadArgs, seed: u64) -> Arrivals {
    if args.find_knee {
        // Of no trial: each has its own rate.
        let per_s = args.from.or(args.rate).unwrap_or(1.0);
        return at_rate(args.open, per_s, seed);
    }
    match (args.rate, args.open) {
        (None, _) => Arrivals::Closed,
        (Some(per_s), None) => Arrivals::Paced { per_s },
        (Some(per_s), open) => at_rate(open, per_s, seed),
    }
}

/// Arrivals of an open loop; at random intervals unless others are stated.
pub(super) fn at_rate(open: Option<Open>, per_s: f64, seed: u64) -> Arrivals {
    match open {
        Some(Open::Constant) => Arrivals::Constant { per_s },
        Some(Open::Poisson) | None => Arrivals::Poisson { per_s, seed },
    }
}

fn body(args: &LoadArgs) -> anyhow::Result<Vec<u8>> {
    let Some(path) = &args.body_file else {
        return Ok(args.body.clone().unwrap_or_default().into_bytes());
    };
    input::bytes(path, BODY_BYTES_MAX).context("--body-file")
}
