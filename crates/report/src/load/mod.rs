//! What became of a load, and at which rate a server breaks: in the terminal, and as a page.

mod knee;
mod page;
mod prediction;
mod prediction_page;
mod sayings;
mod text;

pub(crate) use knee::text as knee_text;
pub(crate) use page::page;
pub(crate) use prediction::text as prediction_text;
pub(crate) use prediction_page::page as prediction_page;
pub(crate) use text::text;

use crate::format::{count, value};
use model::{Arrivals, LoadPlan, LoadResult, LoadTimes, Unit};

/// The three times of a request: what each is called, and what it is.
fn times(result: &LoadResult) -> [(&'static str, &'static str, &LoadTimes); 3] {
    [
        (
            "response",
            "from the moment it came due to its answer: what a user waits",
            &result.response,
        ),
        ("service", "from its sending to its answer: what most tools show", &result.service),
        ("lateness", "from the moment it came due to its sending", &result.lateness),
    ]
}

fn time(ns: f64) -> String {
    value(ns, &Unit::Ns)
}

fn time_or_unknown(ns: Option<u64>) -> String {
    ns.map_or("unknown".into(), |ns| time(ns as f64))
}

/// A rate as people write it: "1234", "0.52".
fn rate(per_s: f64) -> String {
    if per_s >= 100.0 { count(per_s.round() as u64) } else { value(per_s, &Unit::Count) }
}

/// "p50", "p99.9".
fn percentile_name(percent: f64) -> String {
    format!("p{percent}")
}

/// A percentile of some times; `None` where it is unknown.
fn percentile(times: &LoadTimes, percent: f64) -> Option<u64> {
    times.percentiles.iter().find(|it| it.percent == percent)?.ns
}

/// Requests that came due.
fn due(result: &LoadResult) -> u64 {
    let counts = &result.counts;
    counts.answered
        + counts.errors.values().sum::<u64>()
        + counts.timed_out
        + counts.in_flight
        + counts.unsent
}

/// How requests came, in words.
fn arrivals(plan: &LoadPlan) -> String {
    let connections = match plan.connections {
        1 => "1 connection".to_string(),
        n => format!("{} connections", count(n.into())),
    };
    match plan.arrivals {
        Arrivals::Closed => format!("closed loop, {connections}"),
        Arrivals::Paced { per_s } => {
            format!("closed loop at {} requests per second, {connections}", rate(per_s))
        }
        Arrivals::Constant { per_s } => format!(
            "open loop, {} requests per second at constant intervals, at most {connections}",
            rate(per_s)
        ),
        Arrivals::Poisson { per_s, seed } => format!(
            "open loop, {} requests per second at random intervals (Poisson, seed {seed}), at most \
             {connections}",
            rate(per_s)
        ),
    }
}

/// What all loads of several have in common, in a sentence.
fn asked_alike(plan: &LoadPlan) -> String {
    let each = if plan.keep_alive {
        "Connections are kept."
    } else {
        "Each connection is for one request."
    };
    let body = match plan.body_bytes {
        0 => String::new(),
        bytes => format!(" Each request has a body of {}.", value(bytes as f64, &Unit::Bytes)),
    };
    format!("{each}{body}")
}

/// What was asked for, in a sentence without its full stop.
fn asked(plan: &LoadPlan) -> String {
    let mut text = arrivals(plan);
    if !plan.keep_alive {
        text.push_str(", each for one request");
    }
    if plan.threads > 1 {
        text.push_str(&format!("; {} threads", plan.threads));
    }
    if plan.body_bytes > 0 {
        text.push_str(&format!("; body of {}", value(plan.body_bytes as f64, &Unit::Bytes)));
    }
    text
}
