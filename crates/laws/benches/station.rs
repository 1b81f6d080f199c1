//! How many events of a simulated station one core plays in a second.
//!
//! `cargo bench -p laws --bench station [-- REQUESTS]` plays so many requests (5,000,000 if not told)
//! through stations of each kind, from draws that are made before the clock starts, three times
//! each, and prints the median. What is counted is the CPU time of the one thread, so that a
//! neighbour who takes the CPU away is not, but one who takes the cache is. An event is a request that comes, a wait that ends, or a service
//! that ends: two or three per request. It asserts nothing: a time is no test.

#![expect(clippy::unwrap_used, reason = "a benchmark should stop where it fails")]

use laws::station::{Clients, Demand, Request, Station, Summary, Totals, closed, open};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const REQUESTS: usize = 5_000_000;
const TIMES: usize = 3;
const SERVICE_NS: f64 = 1e6;

struct Draws(ChaCha8Rng);

impl Draws {
    fn exponential(&mut self, mean_ns: f64) -> u64 {
        (-(1.0 - self.0.random::<f64>()).ln() * mean_ns) as u64
    }

    /// Requests at random that keep `busy` servers busy.
    fn requests(&mut self, count: usize, busy: f64, kind: Kind) -> Vec<Request> {
        let mut at_ns = 0;
        let request = |number: usize| {
            at_ns += self.exponential(SERVICE_NS / busy);
            let demand = match kind {
                Kind::Even => Demand { wait_ns: 0, cpu_ns: SERVICE_NS as u64 },
                Kind::Exponential => Demand { wait_ns: 0, cpu_ns: self.exponential(SERVICE_NS) },
                Kind::WaitEven => {
                    Demand { wait_ns: 20 * SERVICE_NS as u64, cpu_ns: SERVICE_NS as u64 }
                }
                Kind::WaitExponential => Demand {
                    wait_ns: self.exponential(20.0 * SERVICE_NS),
                    cpu_ns: self.exponential(SERVICE_NS),
                },
            };
            Request { at_ns, connection: number as u32 % 1024, demand }
        };
        (0..count).map(request).collect()
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Even,
    Exponential,
    WaitEven,
    WaitExponential,
}

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let count = words.first().map_or(REQUESTS, |word| word.parse().unwrap());
    let mut draws = Draws(ChaCha8Rng::seed_from_u64(1));
    let single = Station::servers(1);
    println!("{count} requests each; median of {TIMES}, one core\n");
    println!("{:<58} {:>10} {:>12}", "station", "M events/s", "ns per event");
    let cases = [
        ("one server, equal times, 80 % busy", single, 0.8, Kind::Even),
        ("one server, exponential", single, 0.8, Kind::Exponential),
        ("8 servers, exponential", Station::servers(8), 6.4, Kind::Exponential),
        ("1000 servers, exponential", Station::servers(1000), 900.0, Kind::Exponential),
        ("a worker each, 2 shared CPUs, equal", Station::worker_each(2), 1.6, Kind::Even),
        (
            "a worker each, 2 shared CPUs, exponential",
            Station::worker_each(2),
            1.6,
            Kind::Exponential,
        ),
        ("a worker each, waits, 16 CPUs, equal", Station::worker_each(16), 12.8, Kind::WaitEven),
        (
            "a worker each, waits, 16 CPUs, exponential",
            Station::worker_each(16),
            12.8,
            Kind::WaitExponential,
        ),
        (
            "a pool of 500, waits, 16 CPUs, exponential",
            Station::pool(500, 16),
            12.8,
            Kind::WaitExponential,
        ),
        ("an event loop, waits, equal", Station::event_loop(1, 1), 0.8, Kind::WaitEven),
    ];
    for (name, station, busy, kind) in cases {
        let requests = draws.requests(count, busy, kind);
        row(name, || open(&station, requests.iter().copied(), |_| {}).unwrap());
    }
    let requests = draws.requests(count, 6.4, Kind::Exponential);
    row("8 servers, exponential, with all histograms", || {
        let mut summary = Summary::default();
        let totals =
            open(&Station::servers(8), requests.iter().copied(), |visit| summary.record(visit));
        assert_eq!(summary.response.count(), count as u64);
        totals.unwrap()
    });
    for (name, station, connections) in [
        ("16 connections that ask again, a pool of 8", Station::pool(8, 2), 16),
        ("100,000 connections that ask again, a pool of 500", Station::pool(500, 16), 100_000),
    ] {
        let clients = Clients { connections, requests: Some(count as u64), until_ns: None };
        row(name, || {
            closed(&station, &clients, || 0, |number| requests[number as usize].demand, |_| {})
                .unwrap()
        });
    }
}

fn row(name: &str, play: impl Fn() -> Totals) {
    let mut seconds = Vec::new();
    let mut events = 0;
    for _ in 0..TIMES {
        let start = cpu_seconds();
        let totals = std::hint::black_box(play());
        seconds.push(cpu_seconds() - start);
        events = totals.events;
    }
    seconds.sort_by(f64::total_cmp);
    let median = seconds[TIMES / 2];
    let each_ns = median * 1e9 / events as f64;
    println!("{name:<58} {:>10.1} {each_ns:>12.1}", events as f64 / median / 1e6);
}

/// CPU time of this thread so far, as the scheduler counts it.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}
