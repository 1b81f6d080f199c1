//! The load that a command line asks for.

use super::sent;
use crate::cli::load::{LoadArgs, Open, Order};
use crate::ui;
use anyhow::{Context, bail, ensure};
use model::{Arrivals, LoadOptions, LoadPlan, RequestOrder};
use web::load::{Payload, Target};

/// Connections where none are stated: as hey and oha have it, and in an open loop enough for a
/// server that stalls, below the 1024 descriptors that most programs may open.
const CONNECTIONS: u32 = 50;
const CONNECTIONS_OPEN: u32 = 500;

/// How long requests are sent where nothing else is stated, and at each rate of a search, in ms.
const DURATION_MS: u64 = 10_000;
pub(super) const TRIAL_MS: u64 = 2_000;

/// How long answers are waited for after the end of the time where nothing else is stated, in ms.
const DRAIN_MS: u64 = 1_000;

/// A plan with all that is sent and that it does not hold.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) plan: LoadPlan,
    pub(super) body: Payload,
    pub(super) seed: u64,
}

/// Returns the plan for a command line, checked as far as the command knows.
pub(super) fn plan(args: &LoadArgs) -> anyhow::Result<Asked> {
    let urls = sent::urls(args)?;
    let target = &urls[0];
    if let Some(host) = remote_host(args, target)? {
        check_remote(args, &host)?;
    }
    let open = args.open.is_some() || args.find_knee;
    if args.open.is_some() && args.rate.is_none() && !args.find_knee {
        bail!("--open needs a rate: --rate 500, or --find-knee to find out which the server bears");
    }
    let bodies = sent::bodies(args)?;
    let body_bytes = bodies.iter().map(Vec::len).max().unwrap_or(0) as u64;
    if body_bytes > 0 && args.method == "GET" {
        ui::warn("a body is sent by GET, as hey and oha do; most servers expect it by -m POST");
    }
    if args.latency_correction {
        ui::note(
            "--latency-correction: response times always begin when a request was to come; nothing \
             changes",
        );
    }
    let connections = args.connections.unwrap_or(if open { CONNECTIONS_OPEN } else { CONNECTIONS });
    if args.threads > connections {
        let are = if connections == 1 {
            "is 1 connection"
        } else {
            &format!("are {connections} connections")
        };
        bail!("--threads {}: there {are} to share out", args.threads);
    }
    let seed = args.seed.unwrap_or_else(|| sys::clock::now_ns() & 0xffff_ffff);
    let (headers, secrets) = sent::headers(args);
    let variants = urls.len().max(bodies.len()) as u32;
    let plan = LoadPlan {
        url: sent::stored_url(&target.url()),
        method: args.method.clone(),
        headers,
        body_bytes,
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
        drain_ms: match args.drain {
            // Each rate of a search is judged by what was answered in its time.
            _ if args.find_knee => 0,
            asked => asked.unwrap_or(DRAIN_MS.min(args.timeout)),
        },
        options: options(args, target, variants, seed)?,
    };
    let roots = sent::roots(args, target.is_secure())?;
    let urls: Vec<String> = urls.iter().map(Target::url).collect();
    let urls = if urls.len() > 1 || urls[..1] != [plan.url.as_str()] { urls } else { Vec::new() };
    Ok(Asked { plan, body: Payload { urls, bodies, secrets, roots }, seed })
}

/// Returns the ways of a load that differ from one request repeated by HTTP/1.1.
fn options(
    args: &LoadArgs,
    target: &Target,
    variants: u32,
    seed: u64,
) -> anyhow::Result<LoadOptions> {
    ensure!(
        args.http2 || args.streams == 1,
        "--streams needs --http2: a connection of HTTP/1.1 carries one request at a time"
    );
    let shown = |path: &std::path::PathBuf| path.display().to_string();
    let connect_to = args.connect_to.as_ref().map(|text| target.connect_to(text)).transpose()?;
    // A closed loop asks on each connection at once. In an open one, users bring their connections unless
    // their number was stated.
    let fixed = args.rate.is_some() && args.open.is_none() && !args.find_knee;
    let stated = args.connections.is_some();
    let open = args.open.is_some() || args.find_knee;
    Ok(LoadOptions {
        http2: args.http2,
        streams: args.streams,
        insecure: args.insecure,
        cacert: args.cacert.as_ref().map(shown),
        unix_socket: args.unix_socket.as_ref().map(shown),
        connect_to: connect_to.map(|address| address.to_string()),
        variants,
        order: match args.urls_order {
            Order::InOrder => RequestOrder::InOrder,
            Order::Random => RequestOrder::Random { seed },
        },
        redirects: args.redirect,
        warm_up_ms: args.warm_up.unwrap_or(0),
        preconnect: !args.no_keep_alive && (fixed || open && stated),
    })
}

/// Returns the host that a load connects to, if that is another machine.
fn remote_host(args: &LoadArgs, target: &Target) -> anyhow::Result<Option<String>> {
    if args.unix_socket.is_some() {
        return Ok(None);
    }
    let address = match &args.connect_to {
        Some(text) => target.connect_to(text)?,
        None => target.address(),
    };
    Ok(if address.is_remote()? { Some(address.host().into()) } else { None })
}

/// Returns the same plan for another server.
pub(super) fn of_other(args: &LoadArgs, asked: &Asked, url: &str) -> anyhow::Result<LoadPlan> {
    let target = Target::parse(url).context("--against")?;
    let address = target.address();
    if address.is_remote()? {
        check_remote(args, address.host())?;
    }
    // These say where the first server is.
    let options = LoadOptions { unix_socket: None, connect_to: None, ..asked.plan.options.clone() };
    Ok(LoadPlan { url: target.url(), options, ..asked.plan.clone() })
}

/// Returns the same plan with other random intervals.
pub(super) fn with_seed(plan: &LoadPlan, seed: u64) -> LoadPlan {
    let arrivals = match plan.arrivals {
        Arrivals::Poisson { per_s, .. } => Arrivals::Poisson { per_s, seed },
        ref other => other.clone(),
    };
    LoadPlan { arrivals, ..plan.clone() }
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
