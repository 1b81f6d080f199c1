//! One model under one load, and what a number of workers does in it.

use laws::queue::COUNT_MAX;
use laws::queue::many::erlang_c;
use laws::{Error, little};
use model::{Estimate, Load, Refusal};

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

/// Of this number of requests one may come later: 95 % are in time.
const LATE_ONE_OF: f64 = 20.0;

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

    /// Returns it with its ends moved by a share of them.
    pub(super) fn wider(self, share: f64) -> Ends {
        Ends { low: self.low * (1.0 - share), high: self.high * (1.0 + share), ..self }
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

/// Requests and workers in the steady state, on average; the throughput per ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steady {
    pub(super) throughput: f64,
    /// Requests that are there.
    pub(super) present: f64,
    /// Workers that are busy.
    pub(super) busy: f64,
}

impl Steady {
    /// Reports whether requests wait for a worker for a short time at most, or their senders never
    /// think.
    pub(super) fn waits_little(&self, load: &Load) -> bool {
        let never_thinks = load.connections.is_some() && load.think_ns <= 0.0;
        never_thinks || self.present - self.busy <= WAIT_PART * self.busy
    }

    /// Returns the mean response time in ns, by Little's law.
    pub(super) fn response(&self) -> Result<f64, Error> {
        little::response(self.present, self.throughput)
    }

    /// Returns what this number of workers does that way.
    pub(super) fn done(&self, case: &Case<'_>, workers: u32) -> Result<Done, Error> {
        let response = self.response()?;
        Ok(Done {
            workers,
            holders: workers,
            least: 1,
            throughput: self.throughput,
            cpus: self.throughput * case.cpu_ns,
            busy: self.busy,
            wait: little::response((self.present - self.busy).max(0.0), self.throughput)?,
            response,
            p95: p95_of(response),
            rate_most: None,
        })
    }
}

/// One model with one CPU time per request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    pub(super) load: &'a Load,
    pub(super) kind: Kind,
    /// CPUs that it can use.
    pub(super) cpus: u32,
    /// CPU time of a request.
    pub(super) cpu_ns: f64,
    /// Time in which it holds a worker without needing a CPU.
    pub(super) idle_ns: f64,
}

impl<'a> Case<'a> {
    pub(super) fn new(load: &'a Load, model: &Model, added_ns: f64) -> Self {
        // Never 0, for which no queue is defined.
        let cpu_ns = (load.cpu_share * load.service_ns + added_ns).max(1e-3);
        let cpus = if model.kind == Kind::Loop { 1 } else { load.cpus };
        let idle_ns = (1.0 - load.cpu_share) * load.service_ns;
        Case { load, kind: model.kind, cpus, cpu_ns, idle_ns }
    }

    /// Returns the time that 95 % of requests stay within if all need the same, from what is done if their
    /// needs scatter like exponential times. Equal ones wait half as long (Pollaczek and Khinchine); those
    /// that wait, do so for exponential times (Kingman, *The single server queue in heavy traffic*, 1961).
    pub(super) fn p95_least(&self, done: &Done) -> f64 {
        let alone = self.idle_ns + self.cpu_ns;
        let queues = |servers, offered| erlang_c(servers, offered).unwrap_or(1.0);
        let for_worker =
            if self.kind == Kind::Pool { queues(done.workers, done.busy) } else { 0.0 };
        let waiting = for_worker.max(queues(self.cpus, done.cpus));
        // Also where no request waits at all.
        if waiting * LATE_ONE_OF <= 1.0 {
            return alone;
        }
        let wait = (done.response - alone).max(0.0) / 2.0;
        alone + wait / waiting * (waiting * LATE_ONE_OF).ln()
    }

    /// Returns the refusal of a target that is missed although no request waits for a worker, with the
    /// fewest CPUs, up to `most`, that would meet it. `p95` is the time that 95 % of the requests take
    /// with a number of CPUs.
    pub(super) fn out_of_reach(
        &self,
        (p95_ns, target): (f64, f64),
        most: u32,
        p95: impl Fn(u32) -> Result<f64, Error>,
    ) -> Result<Refusal, Error> {
        let too_long_alone = p95_of(self.idle_ns + self.cpu_ns) > target;
        let cpus_least = if too_long_alone || self.kind == Kind::Loop {
            None
        } else {
            least(self.cpus, most, |cpus| Ok(p95(cpus)? <= target))?
        };
        Ok(Refusal::Target { p95_ns, cpus_least })
    }
}

/// Returns the time that 95 % of exponential times with this mean stay within: three times the mean.
///
/// Response times have no simple distribution where one queue stands in another. That of M/M/1 is
/// exponential, with more servers fewer are late; M/M/k with the time for which a worker is held
/// missed by 16 % where the CPUs were the queue. By simulation (`tests::simulated`) 95 % came within 76 to
/// 95 % of this.
pub(super) fn p95_of(mean: f64) -> f64 {
    mean * LATE_ONE_OF.ln()
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
