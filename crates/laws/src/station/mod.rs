//! A station of a queueing system, played request by request: G/G/c and what servers do beside it.
//!
//! Formulas ([`crate::queue`]) need arrivals at random and times of one distribution. A simulation
//! takes both as they are, a measured load's own above all, and says of each request when it began
//! and when it was done. It draws nothing: the same requests give the same visits, to the ns.
//!
//! What a request asks for is a [`Demand`]: to wait (for a timer, a disk, another machine), and then
//! CPU time. A [`Station`] says who serves it:
//!
//! * workers, each with one request at a time in order of coming, or as many as come;
//! * whether a wait holds its worker, as a sleeping thread is held, or not, as in an event loop;
//! * CPUs, shared equally by all that compute (egalitarian processor sharing, L. Kleinrock,
//!   *Time-shared systems: a theoretical treatment*, Journal of the ACM 14, 1967: of n requests on k
//!   CPUs each runs at the speed min(1, k/n)), or enough of them for all;
//! * whether a worker stays with its connection, as a blocking server with keep-alive does.
//!
//! Requests come at given times ([`open`]), or from connections that ask again when they are
//! answered ([`closed`]).
//!
//! Memory is in proportion to the requests that are there at once, never to all of them.

mod agenda;
mod engine;
mod feed;
mod shared;
mod summary;

use crate::Error;
use crate::error::within;
use crate::queue::count;
use engine::Engine;
pub use summary::{Summary, Times};

/// The longest time that a request may ask for, and the latest at which it may come, in ns: 104
/// days, which an `f64` still counts in whole ns.
pub const TIME_MAX_NS: u64 = 1 << 53;

/// The most CPUs.
const CPUS_MAX: u32 = 65_536;

/// What a request asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// To wait without a CPU, at first, in ns.
    pub wait_ns: u64,
    /// CPU time after that, in ns.
    pub cpu_ns: u64,
}

/// A request of an open load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// When it comes, in ns.
    pub at_ns: u64,
    /// The connection that brings it, below 1,000,000; of interest where workers stay with theirs.
    pub connection: u32,
    /// What it asks for.
    pub demand: Demand,
}

/// Where a request is while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// With a worker, which does nothing else meanwhile: a sleep in a thread.
    Held,
    /// Before it needs a worker: a timer of an event loop.
    Apart,
}

/// Who serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Workers, 1 to 1,000,000; `None` where each request has its own at once.
    pub workers: Option<u32>,
    /// Where requests wait.
    pub waiting: Waiting,
    /// CPUs that all who compute share equally, 1 to 65,536; `None` where there are enough for all.
    pub cpus: Option<u32>,
    /// Whether a worker that took a connection serves no other until that asks for nothing more.
    pub bound: bool,
}

impl Station {
    /// Makes a station of workers with one request at a time, waits included, and a CPU for each:
    /// G/G/c, first come first served. One worker is the single-threaded server.
    pub fn servers(workers: u32) -> Self {
        Station { workers: Some(workers), waiting: Waiting::Held, cpus: None, bound: false }
    }

    /// Makes a station of workers, threads or processes, on a number of CPUs.
    pub fn pool(workers: u32, cpus: u32) -> Self {
        Station { cpus: Some(cpus), ..Station::servers(workers) }
    }

    /// Makes a station with a thread, or a process, for each request, on a number of CPUs.
    pub fn worker_each(cpus: u32) -> Self {
        Station { workers: None, cpus: Some(cpus), ..Station::servers(1) }
    }

    /// Makes an event loop on that number of threads and CPUs: what waits holds no thread; what
    /// computes is not interrupted by another request of its thread.
    pub fn event_loop(threads: u32, cpus: u32) -> Self {
        Station { waiting: Waiting::Apart, ..Station::pool(threads, cpus) }
    }

    /// The same, where a worker stays with its connection.
    #[must_use]
    pub fn bound(self) -> Self {
        Station { bound: true, ..self }
    }

    fn check(&self) -> Result<(), Error> {
        if let Some(workers) = self.workers {
            count("workers", workers)?;
        }
        if let Some(cpus) = self.cpus {
            let holds = (1..=CPUS_MAX).contains(&cpus);
            within("CPUs", f64::from(cpus), holds, "between 1 and 65,536")?;
        }
        // What waits before it has a worker has a connection that has no worker yet.
        let limited = self.workers.is_some() && self.waiting == Waiting::Held;
        if !limited && self.bound {
            let right = "limited, and held by waits, where they stay with connections";
            let value = self.workers.map_or(f64::INFINITY, f64::from);
            return Err(Error::Wrong { what: "workers", value, right });
        }
        Ok(())
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was answered.
    Answered {
        /// When a worker took it, in ns.
        begun_ns: u64,
        /// When it was done, in ns.
        done_ns: u64,
    },
    /// It was still there when the simulation ended.
    Unfinished {
        /// When a worker took it, in ns; `None` if none did.
        begun_ns: Option<u64>,
    },
}

/// A request and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Its number in order of coming, from 0.
    pub number: u64,
    /// The connection that brought it.
    pub connection: u32,
    /// When it came, in ns.
    pub came_ns: u64,
    /// How it ended.
    pub end: End,
}

impl Visit {
    /// From coming to done, in ns; `None` if it was not answered.
    pub fn response_ns(&self) -> Option<u64> {
        match self.end {
            End::Answered { done_ns, .. } => Some(done_ns - self.came_ns),
            End::Unfinished { .. } => None,
        }
    }
}

/// What a simulation adds up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Requests that came. Each is in exactly one of `answered` and `unfinished`.
    pub came: u64,
    /// Those that were answered.
    pub answered: u64,
    /// Those that were still there at the end.
    pub unfinished: u64,
    /// Arrivals, ends of a wait and ends of a service: what was played.
    pub events: u64,
    /// From the first arrival to the last event, or to the time at which it was to end, in ns.
    pub elapsed_ns: u64,
    /// Requests there, summed over time, in request-ns: by Little's law the sum of all stays.
    pub present_ns: u128,
    /// Workers busy (those held by a wait included), summed over time, in worker-ns.
    pub busy_ns: u128,
    /// CPU time of those that were answered, in ns.
    pub cpu_ns: u128,
}

impl Totals {
    fn per_elapsed(&self, sum: u128) -> Option<f64> {
        (self.elapsed_ns > 0).then(|| sum as f64 / self.elapsed_ns as f64)
    }

    /// Requests there on average; `None` if no time passed.
    pub fn present(&self) -> Option<f64> {
        self.per_elapsed(self.present_ns)
    }

    /// Requests answered per second; `None` if no time passed.
    pub fn throughput_per_s(&self) -> Option<f64> {
        self.per_elapsed(u128::from(self.answered)).map(|per_ns| per_ns * 1e9)
    }
}

/// Plays requests that come at their times, whatever becomes of those before them, until all have
/// ended. Passes each to `sink` when it ends, in the order in which they end.
///
/// # Errors
/// [`Error::Wrong`] if the station or a request has a number out of its range, a request comes
/// before the one that came before it, or the station is so overloaded that it would be busy for
/// more than a hundred years.
pub fn open(
    station: &Station,
    requests: impl IntoIterator<Item = Request>,
    sink: impl FnMut(&Visit),
) -> Result<Totals, Error> {
    station.check()?;
    let feed = feed::Open::new(requests.into_iter())?;
    Engine::new(station, feed, sink).run(None)
}

/// [`open`], with the visits in the order of coming.
///
/// # Errors
/// As [`open`].
pub fn open_all(station: &Station, requests: &[Request]) -> Result<(Vec<Visit>, Totals), Error> {
    let mut visits = Vec::with_capacity(requests.len());
    let totals = open(station, requests.iter().copied(), |visit| visits.push(*visit))?;
    visits.sort_unstable_by_key(|visit| visit.number);
    Ok((visits, totals))
}

/// Connections of which each asks again when it has its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clients {
    /// Connections, 1 to 1,000,000.
    pub connections: u32,
    /// Requests of all connections together; a connection answered then asks no more. `None` if time
    /// alone ends it.
    pub requests: Option<u64>,
    /// When the simulation ends, in ns; what is there then is unfinished. `None` if the requests
    /// alone end it.
    pub until_ns: Option<u64>,
}

/// Plays connections of which each thinks, asks, and when it is answered thinks again. `think` says
/// for how many ns, in the order in which they begin to, from the time 0 on; `demand` what the request
/// of each number asks for, from 0 in the order of coming. Passes each request to `sink` when it
/// ends; at last those that are unfinished, in the order in which they came.
///
/// # Errors
/// [`Error::Wrong`] if the station, the clients, a demand or a time to think is out of its range, or
/// nothing ends the simulation.
pub fn closed(
    station: &Station,
    clients: &Clients,
    think: impl FnMut() -> u64,
    demand: impl FnMut(u64) -> Demand,
    sink: impl FnMut(&Visit),
) -> Result<Totals, Error> {
    station.check()?;
    let feed = feed::Closed::new(clients, think, demand)?;
    Engine::new(station, feed, sink).run(clients.until_ns)
}

#[cfg(test)]
mod tests;
