//! One model under one load, and what a number of workers does in it.

use laws::Error;
use laws::queue::COUNT_MAX;
use model::{Estimate, Load};

/// The most workers that a plan has.
pub const WORKERS_MAX: u32 = COUNT_MAX / 10;

/// The most CPUs of a machine.
pub const CPUS_MAX: u32 = 4096;

/// Without a target there are workers enough when a request waits for one for at most this part of
/// the time it then keeps it. Connections that never think wait for something with any number of workers.
pub(super) const WAIT_PART: f64 = 0.1;

/// Without a target there are workers enough for some connections when they do this part of what
/// one worker for each connection would.
pub(super) const THROUGHPUT_PART: f64 = 0.95;

/// Requests that are counted in a play at least.
pub(super) const COUNTED: u64 = 20_000;

/// How a model makes its workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A fixed number, made before.
    Pool,
    /// One for each request, or each connection.
    Each,
    /// One thread that serves all, on one CPU.
    Loop,
}

/// A number and the ends of its interval, of which the high one makes a plan worse.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Ends {
    pub(super) low: f64,
    pub(super) point: f64,
    pub(super) high: f64,
}

impl Ends {
    pub(super) fn of(estimate: &Estimate) -> Ends {
        Ends { low: estimate.low, point: estimate.point, high: estimate.high }
    }

    /// Returns the sum with `times` the other.
    pub(super) fn plus(self, other: Ends, times: f64) -> Ends {
        // A cost that was measured below 0 is one that the machine could not resolve.
        let add = |a: f64, b: f64| a + times * b.max(0.0);
        Ends {
            low: add(self.low, other.low),
            point: add(self.point, other.point),
            high: add(self.high, other.high),
        }
    }
}

/// A model with what it adds to a request, and what a worker of it takes.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) added_ns: Ends,
    /// Memory of a worker, or of a connection of a model that has a few workers for all.
    /// `None` where it is unknown.
    pub(super) memory_bytes: Option<Ends>,
    /// Memory of the server without connections; 0 where it was not measured.
    pub(super) base_bytes: Ends,
    /// Memory of a connection that stays open and occupies no worker; 0 where a worker's is all.
    pub(super) open_bytes: Ends,
}

/// What a number of workers does under the load; times in ns, rates per ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) workers: u32,
    /// Workers, or connections of an event loop, that take memory.
    pub(super) holders: u32,
    pub(super) least: u32,
    pub(super) throughput: f64,
    /// CPUs that are busy on average.
    pub(super) cpus: f64,
    /// Workers that are busy on average.
    pub(super) busy: f64,
    pub(super) wait: f64,
    pub(super) response: f64,
    pub(super) p95: f64,
    pub(super) rate_most: Option<f64>,
}

/// How much the service times of requests scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Spread {
    /// All are equal.
    Equal,
    /// They are exponentially distributed.
    Exponential,
    /// Their logarithms are normally distributed, with this standard deviation.
    Lognormal(f64),
}

impl Spread {
    /// Returns that of times whose 95th percentile is this multiple of their mean, 1 to [`SPREAD_MAX`].
    pub(super) fn of(multiple: f64) -> Self {
        // p95 / mean = exp(z σ − σ² / 2), of which the smaller σ is the solution.
        let root = (NORMAL_95.powi(2) - 2.0 * multiple.ln()).max(0.0).sqrt();
        Spread::Lognormal(NORMAL_95 - root)
    }
}

/// The 95th percentile of the normal distribution, and the highest multiple of the mean that the 95th
/// percentile of a lognormal one can be, exp(z² / 2), rounded down.
const NORMAL_95: f64 = 1.644_853_6;
pub(super) const SPREAD_MAX: f64 = 3.8;

/// One model with one CPU time per request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    pub(super) load: &'a Load,
    pub(super) kind: Kind,
    /// CPUs that it can use.
    pub(super) cpus: u32,
    /// CPU time of a request, and what of it the model adds.
    pub(super) cpu_ns: f64,
    pub(super) added_ns: f64,
    /// Time in which it holds a worker without needing a CPU.
    pub(super) idle_ns: f64,
    pub(super) spread: Spread,
    /// Requests that are counted in each play at least.
    pub(super) counted: u64,
    /// Whether the highest rate is looked for that the workers bear.
    pub(super) margin: bool,
}

impl<'a> Case<'a> {
    pub(super) fn new(load: &'a Load, model: &Model, added_ns: f64) -> Self {
        // Never 0, for which no queue is defined.
        let cpu_ns = (load.cpu_share * load.service_ns + added_ns).max(1e-3);
        let cpus = if model.kind == Kind::Loop { 1 } else { load.cpus };
        let idle_ns = (1.0 - load.cpu_share) * load.service_ns;
        let stated = load.service_p95_ns.map(|p95_ns| Spread::of(p95_ns / load.service_ns));
        Case {
            load,
            kind: model.kind,
            cpus,
            cpu_ns,
            added_ns: added_ns.clamp(0.0, cpu_ns),
            idle_ns,
            spread: stated.unwrap_or(Spread::Exponential),
            counted: COUNTED,
            margin: false,
        }
    }
}

/// Returns the least whole number from `low` up to `high` for which something holds that goes on holding
/// above it; `None` if it does not at `high`.
pub(super) fn least(
    low: u32,
    high: u32,
    mut holds: impl FnMut(u32) -> Result<bool, Error>,
) -> Result<Option<u32>, Error> {
    let (mut low, mut step, mut top) = (low, 1_u32, low);
    // The answer is often near: looked for in growing steps first.
    while !holds(top)? {
        if top >= high {
            return Ok(None);
        }
        low = top + 1;
        top = top.saturating_add(step).min(high);
        step = step.saturating_mul(2);
    }
    while low < top {
        let middle = low + (top - low) / 2;
        if holds(middle)? { top = middle } else { low = middle + 1 }
    }
    Ok(Some(top))
}
