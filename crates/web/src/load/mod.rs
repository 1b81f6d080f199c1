//! The load generator: requests at intended times, and what became of each.
//!
//! Each thread is an event loop over its share of the connections ([`worker`]). A request that
//! comes due while no connection is free stays in the schedule, which computes moments and stores
//! none, so that memory does not grow with the number of requests. An answer after the end of the
//! time, one that took too long and one that was never asked for by then are kept as censored.

mod answer;
mod connection;
mod http2;
mod request;
mod schedule;
mod series;
mod survival;
mod tally;
mod target;
mod transport;
mod verdict;
mod watch;
mod worker;

pub use http2::STREAMS_MAX;
pub use request::{Payload, Sent, check_header, check_method};
pub use schedule::due_ns;
pub use series::Slice;
pub use survival::{Counted, Counts};
pub use target::{Address, Target};
pub use transport::certificates;

use hdrhistogram::Histogram;
use model::{LoadError, LoadPlan, LoadResult, Network};
use request::Encoder;
use series::Series;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;
use sys::limits;
use tally::{Half, Tally};
use transport::Route;
use verdict::Surroundings;
use watch::{Watch, conduct};
use worker::{Job, Progress, Shared, Worker};

/// The most connections.
pub const CONNECTIONS_MAX: u32 = 65_536;

/// The most threads.
pub const THREADS_MAX: u32 = 1024;

/// The most requests that are under way at once.
const PLACES_MAX: u32 = 1 << 20;

/// The most requests per second.
const RATE_MAX: f64 = 10_000_000.0;

/// The longest time-out and duration, in ms: a year.
const TIME_MS_MAX: u64 = 366 * 24 * 3_600_000;

/// The most requests that are noted one by one: 64 bytes each.
pub const NOTED_MAX: f64 = 5e6;

/// Descriptors that a thread needs beside its connections, and the process beside its threads.
const THREAD_FILES: u64 = 8;
const PROCESS_FILES: u64 = 32;

/// Between the decision to start and the first request, so that all threads are there, in ns.
const START_NS: u64 = 2_000_000;

/// How often `live` hears, in ns.
const LIVE_NS: u64 = 100_000_000;

/// What makes a load impossible, found before the first request.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The plan cannot be carried out; what would be right is in the text.
    #[error("{0}")]
    Plan(String),
    /// The system refused something.
    #[error("{what}: {error}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        error: std::io::Error,
    },
}

/// Says what was tried when the system refused something.
fn system(what: &str) -> impl FnOnce(std::io::Error) -> Error {
    let what = what.to_string();
    move |error| Error::System { what, error }
}

/// Times as histograms of three significant digits, in ns: known, and given up.
#[derive(Clone, Debug)]
pub struct Times {
    /// Of requests whose time is known.
    pub known: Histogram<u64>,
    /// Of requests that were given up: what had passed by then.
    pub censored: Histogram<u64>,
}

impl Default for Times {
    /// No times. The histograms grow with the longest time in them, and with nothing else.
    #[expect(clippy::expect_used, reason = "three digits are what every histogram can do")]
    fn default() -> Self {
        let mut known = Histogram::new(3).expect("a histogram of three digits");
        known.auto(true);
        Self { censored: known.clone(), known }
    }
}

/// What a closed loop did in the second half of its time: the first half warms the server up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Answers per second (X). One whose request was under way when the half began, or ended, counts by the
    /// part of its time that lies within: a count of whole ones is off by up to one turn of each connection
    /// in a short time. A request without an answer does not count.
    pub per_s: f64,
    /// Requests that were there on average, those that were never answered included. By Little's law that
    /// is N = X·R with R the time that all of them were there for each answer (Little, *A proof for the
    /// queuing formula L = λW*, Operations Research 9, 1961): the number of connections if each asks again
    /// at once.
    pub in_system: f64,
}

impl Steady {
    /// Returns what was there in a half of this length, in ns; `None` without an answer.
    fn of(half: &Half, length_ns: u64) -> Option<Self> {
        let length_ns = length_ns as f64;
        (half.answers > 0.0 && length_ns > 0.0).then(|| Steady {
            per_s: half.answers * 1e9 / length_ns,
            in_system: half.present_ns / length_ns,
        })
    }
}

/// What became of a load, with its histograms.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// In numbers.
    pub result: LoadResult,
    /// A closed loop that ended with its time, in the second half of that; `None` of another, and without
    /// an answer there.
    pub steady: Option<Steady>,
    /// From due to answered.
    pub response: Times,
    /// From sent to answered.
    pub service: Times,
    /// From due to sent.
    pub lateness: Times,
    /// The load over time.
    pub slices: Vec<Slice>,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was answered, with this status.
    Status(u16),
    /// It failed.
    Failed(LoadError),
    /// It had no answer in the plan's `timeout_ms`.
    TimedOut,
    /// It had no answer when the load ended.
    InFlight,
    /// It was never sent.
    Unsent,
}

/// One request, as it was noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    /// When it came due, in ns from the start of the load.
    pub due_ns: u64,
    /// When it was sent, or connecting for it began, in ns from the start of the load.
    pub sent_ns: Option<u64>,
    /// When its answer was whole, in ns from the start of the load; `None` if there was none by then.
    pub done_ns: Option<u64>,
    /// When it was answered or given up, in ns from the start of the load.
    pub ended_ns: u64,
    /// The number of its connection, from 0; of a request that was never sent, of none.
    pub connection: Option<u32>,
    /// How it ended.
    pub end: End,
}

/// How far a load is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Since the first request.
    pub elapsed: Duration,
    /// Answers so far.
    pub answered: u64,
    /// Requests that failed or timed out so far.
    pub failed: u64,
    /// Requests without an answer now.
    pub in_flight: u64,
    /// The median of the response times of about the last half second, in ns; `None` where it is unknown.
    pub p50_ns: Option<u64>,
    /// Their 95th percentile.
    pub p95_ns: Option<u64>,
}

/// Puts a load on a server, and returns when it is over. `sent` is the body of every request, or all that
/// the plan does not hold. `live` hears of it ten times a second, and
/// ends it early by returning false: what was measured until then is the outcome.
///
/// The load ends with the plan's time, and the answers to what came due by then, for which the plan's
/// `drain_ms` are waited; or when the plan's number of requests are answered or given up.
///
/// # Errors
/// A plan that cannot be carried out, before the first request is sent; a server that refuses every
/// attempt at connecting from the first on. All else that a server does is no error: it is counted.
pub fn run<'a>(
    plan: &LoadPlan,
    sent: impl Into<Sent<'a>>,
    live: &mut dyn FnMut(Live) -> bool,
) -> Result<Outcome, Error> {
    carry_out(plan, sent, live, None)
}

/// Where requests go that are noted: those that ended since the last time, of each thread in the order
/// of their ends. False ends the load early.
pub type Log<'a> = &'a mut dyn FnMut(&[Noted]) -> bool;

/// The same, and hands each request on a moment after its end.
///
/// # Errors
/// As [`run`].
pub fn run_logging<'a>(
    plan: &LoadPlan,
    sent: impl Into<Sent<'a>>,
    live: &mut dyn FnMut(Live) -> bool,
    log: Log<'_>,
) -> Result<Outcome, Error> {
    carry_out(plan, sent, live, Some(log))
}

/// The same, with each request noted, in the order of their coming due. Memory grows with their
/// number.
///
/// # Errors
/// As [`run`]; a plan of which more than [`NOTED_MAX`] requests are to be expected, or whose number
/// nobody knows beforehand: a closed loop without one.
pub fn run_noting<'a>(
    plan: &LoadPlan,
    sent: impl Into<Sent<'a>>,
    live: &mut dyn FnMut(Live) -> bool,
) -> Result<(Outcome, Vec<Noted>), Error> {
    check(plan)?;
    let known = [expected(plan), plan.requests.map(|most| most as f64)];
    if known.into_iter().flatten().reduce(f64::min).is_none_or(|expected| expected > NOTED_MAX) {
        return Err(Error::Plan(format!(
            "each request is to be noted, at most {NOTED_MAX} of them: state a number, a lower rate \
             or a shorter time"
        )));
    }
    let mut noted = Vec::new();
    let mut log = |some: &[Noted]| {
        noted.extend_from_slice(some);
        true
    };
    let outcome = carry_out(plan, sent, live, Some(&mut log))?;
    noted.sort_unstable_by_key(|one| (one.due_ns, one.connection));
    Ok((outcome, noted))
}

/// Requests that come due by rate and time; `None` in a closed loop or without a time.
fn expected(plan: &LoadPlan) -> Option<f64> {
    Some(plan.arrivals.per_s()? * plan.duration_ms? as f64 / 1e3)
}

fn carry_out<'a>(
    plan: &LoadPlan,
    sent: impl Into<Sent<'a>>,
    live: &mut dyn FnMut(Live) -> bool,
    log: Option<Log<'_>>,
) -> Result<Outcome, Error> {
    check(plan)?;
    let payload: Sent<'a> = sent.into();
    let encoder = Encoder::new(plan, &payload)?;
    let requests = encoder.all()?;
    let route = Route::new(plan, encoder.target(), &payload)?;
    let threads = schedule::threads(plan);
    let files = files_needed(plan.connections, threads);
    check_files(limits::allow_files(files), plan.connections, files)?;
    let shared = Shared::default();
    shared.budget.store(plan.requests.unwrap_or(u64::MAX), Ordering::Relaxed);
    let progress: Vec<Progress> = (0..threads).map(|_| Progress::default()).collect();
    let limit_s = u32::try_from(plan.timeout_ms.div_ceil(1000)).unwrap_or(u32::MAX).min(3600);
    let syn_repeats_s = sys::netstat::syn_repeats_s(sys::netstat::syn_linear_timeouts(), limit_s);
    let (pieces, coming) = mpsc::channel();
    let connections =
        |thread: u32| plan.connections / threads + u32::from(thread < plan.connections % threads);
    let jobs = (0..threads).zip(&progress).map(|(thread, progress)| Job {
        plan,
        route: &route,
        requests: &requests,
        encoder: &encoder,
        thread,
        threads,
        first: (0..thread).map(connections).sum(),
        connections: connections(thread),
        note: log.is_some(),
        syn_repeats_s: &syn_repeats_s,
        shared: &shared,
        progress,
        slice_ns: series::length_ns(plan),
        pieces: pieces.clone(),
    });
    let workers = jobs.map(Worker::new).collect::<Result<Vec<_>, _>>()?;
    drop(pieces);
    let mut pids = route.address().map(sys::proc::listeners).unwrap_or_default();
    // The CPU time of a server in this process is the generator's too.
    pids.retain(|pid| *pid != sys::process::pid());
    let mut watch = Watch {
        plan,
        clock_ns: u64::MAX,
        before: Before::look(),
        series: Series::new(plan, pids.clone()),
        pids,
        coming,
        shared: &shared,
        progress: &progress,
        wakers: Vec::new(),
        stopped: false,
        live,
        log: log.map(|log| log as Log<'_>),
    };
    let tallies = conduct(workers, &mut watch)?;
    let (seen, stopped) = (watch.before.since(), shared.stop.load(Ordering::Relaxed));
    let seen = Surroundings { threads, stopped, ..seen };
    Ok(outcome(plan, tallies, watch.clock_ns, watch.series, seen))
}

/// Returns what the threads came to together.
fn outcome(
    plan: &LoadPlan,
    tallies: Vec<Tally>,
    start_ns: u64,
    series: Series,
    mut seen: Surroundings,
) -> Outcome {
    let mut stalls = worker::stalls::common(&tallies, start_ns);
    let stalled_ns: u64 = stalls.iter().map(|it| it.until_ns - it.from_ns).sum();
    // The host may have stopped both server and generator; others may have kept the generator's CPU.
    let waited_ns = tallies.iter().filter_map(|tally| tally.queue_wait_ns).max();
    if [seen.stolen_ns, waited_ns].iter().flatten().any(|ns| 2 * ns >= stalled_ns) {
        stalls.clear();
    }
    series.mark(&mut stalls);
    let mut sum = Tally::default();
    for tally in tallies {
        let share = tally.cpu_ns as f64 / tally.wall_ns.max(1) as f64;
        seen.busiest_share = seen.busiest_share.max(share.min(1.0));
        sum.add(&tally);
    }
    let elapsed_ns = sum.end_ns.saturating_sub(start_ns);
    let slices = series.end(elapsed_ns);
    [sum.response, sum.service, sum.lateness, sum.punctual] = series::totals(&slices);
    seen.drained_ns = sum.drained_ns.saturating_sub(start_ns);
    let mut result = verdict::result(plan, &sum, elapsed_ns, &seen, &slices);
    result.stalls = stalls;
    result.succeeded = series::succeeded(&slices).as_ref().map(survival::summary);
    let closed = matches!(plan.arrivals, model::Arrivals::Closed) && !seen.stopped;
    let half_ns = elapsed_ns.saturating_sub(plan.duration_ms.unwrap_or(0) * 500_000);
    let steady = Steady::of(&sum.half, half_ns).filter(|_| closed);
    let Tally { response, service, lateness, .. } = sum;
    Outcome { result, steady, response, service, lateness, slices }
}

/// What is looked at before a load, and once more after it.
struct Before {
    network: sys::netstat::Counters,
    machine: Option<sys::proc::MachineCpu>,
    process_cpu_ns: u64,
    /// For how long each quota has held back its group, in ns: the own group's, and those above it.
    throttled_ns: Vec<Option<u64>>,
}

impl Before {
    fn look() -> Self {
        Self {
            network: sys::netstat::counters(),
            machine: sys::proc::machine_cpu(),
            process_cpu_ns: sys::clock::process_cpu_ns(),
            throttled_ns: sys::cgroup::Quotas::of_own().throttled_ns(),
        }
    }

    /// What has changed.
    fn since(&self) -> Surroundings {
        let now = Self::look();
        let network = now.network.since(self.network);
        let own_ns = now.process_cpu_ns.saturating_sub(self.process_cpu_ns);
        let machine = now.machine.zip(self.machine);
        Surroundings {
            network: Network {
                listen_overflows: network.listen_overflows,
                listen_drops: network.listen_drops,
                syn_retransmits: network.syn_retransmits,
                retransmits: network.retransmits,
            },
            foreign_cpu_ns: machine
                .map(|(now, then)| now.busy_ns.saturating_sub(then.busy_ns).saturating_sub(own_ns)),
            stolen_ns: machine.map(|(now, then)| now.steal_ns.saturating_sub(then.steal_ns)),
            throttled_ns: (now.throttled_ns.iter().zip(&self.throttled_ns))
                .filter_map(|(now, then)| Some((*now)?.saturating_sub((*then)?)))
                .max()
                .unwrap_or_default(),
            ..Surroundings::default()
        }
    }
}

/// Whether a plan's numbers are such that it can be carried out.
fn check(plan: &LoadPlan) -> Result<(), Error> {
    let wrong = |text: String| Err(Error::Plan(text));
    if !(1..=CONNECTIONS_MAX).contains(&plan.connections) {
        return wrong(format!("{} connections: 1 to {CONNECTIONS_MAX} can be", plan.connections));
    }
    if !(1..=THREADS_MAX).contains(&plan.threads) {
        return wrong(format!("{} threads: 1 to {THREADS_MAX} can be", plan.threads));
    }
    if !(1..=TIME_MS_MAX).contains(&plan.timeout_ms) {
        return wrong(format!("a time-out of {} ms: 1 ms to a year can be", plan.timeout_ms));
    }
    if plan.duration_ms.is_some_and(|ms| !(1..=TIME_MS_MAX).contains(&ms)) {
        return wrong("a duration of 1 ms to a year can be".to_string());
    }
    match (plan.duration_ms, plan.requests) {
        (None, None) => return wrong("a duration or a number of requests is needed".to_string()),
        (_, Some(0)) => return wrong("at least one request is needed".to_string()),
        _ => {}
    }
    let rate = plan.arrivals.per_s();
    // One in a thousand seconds is the slowest of which anybody learns something.
    if let Some(rate) = rate.filter(|rate| !(0.001..=RATE_MAX).contains(rate)) {
        return wrong(format!("{rate} requests per second: 0.001 to {RATE_MAX} can be"));
    }
    check_options(plan)
}

/// Whether a plan's ways go together.
fn check_options(plan: &LoadPlan) -> Result<(), Error> {
    let options = &plan.options;
    let wrong = |text: String| Err(Error::Plan(text));
    if !(1..=STREAMS_MAX).contains(&options.streams) {
        return wrong(format!("{} streams: 1 to {STREAMS_MAX} can be", options.streams));
    }
    if plan.places() > PLACES_MAX {
        return wrong(format!("{} requests at once: 1 to {PLACES_MAX} can be", plan.places()));
    }
    if options.warm_up_ms > TIME_MS_MAX {
        return wrong("a warm-up of at most a year can be".to_string());
    }
    match options.http2 {
        true if !plan.keep_alive => {
            wrong("HTTP/2 keeps its connections; leave out --http2 or --no-keep-alive".to_string())
        }
        true if options.redirects > 0 => {
            wrong("redirects are followed by HTTP/1.1 only; leave out --http2 or --redirect".into())
        }
        false if options.streams > 1 => wrong(
            "a connection of HTTP/1.1 carries one request at a time; --streams needs --http2"
                .into(),
        ),
        _ => Ok(()),
    }
}

/// Returns the open files that this number of connections and threads takes.
fn files_needed(connections: u32, threads: u32) -> u64 {
    u64::from(connections) + u64::from(threads) * THREAD_FILES + PROCESS_FILES
}

/// Checks that `connections` can be open at once, which take `needed` files.
fn check_files(limit: Option<u64>, connections: u32, needed: u64) -> Result<(), Error> {
    match limit {
        Some(limit) if limit < needed => Err(Error::Plan(format!(
            "{connections} connections need {needed} open files, and this process may have at most \
             {limit}: raise the hard limit (ulimit -Hn {needed}) or take fewer connections"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
