//! Simulated means and shares against closed forms. A simulation is repeated with draws of its own
//! some times, and the formula must lie within four standard errors of what they come to; these are
//! held small enough that a wrong discipline could not.

use super::super::{Clients, Demand, Request, Station, Summary, closed, open};
use super::oracle::{
    Center, md1, mm1, mm1_response_quantile, mmc_response_quantile, mva, repairman,
};
use super::{Draws, cpu};
use crate::queue::many::mmc;
use crate::queue::single::mg1;

/// The mean demand, in ns.
const SERVICE: f64 = 1e6;

const REPEATS: u64 = 24;
const REQUESTS: u64 = 50_000;
/// Requests at the beginning, when the station is emptier than it will be.
const WARM: u64 = 10_000;

/// Mean and standard error over repetitions.
fn repeated(mut once: impl FnMut(&mut Draws) -> f64) -> (f64, f64) {
    let values: Vec<f64> = (0..REPEATS).map(|seed| once(&mut Draws::new(seed))).collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

#[track_caller]
fn agrees((mean, error): (f64, f64), exact: f64, teeth: f64) {
    assert!((mean - exact).abs() < 4.0 * error, "{mean}, not {exact}: {error} is the error");
    assert!(error < teeth * exact, "{error} of {exact} proves nothing");
}

/// Response times of requests that come at random and keep `busy` servers busy.
fn play(
    station: &Station,
    busy: f64,
    draws: &mut Draws,
    demand: impl Fn(&mut Draws) -> Demand,
) -> Summary {
    let mut summary = Summary::default();
    let mut now_ns = 0;
    let requests = (0..REQUESTS).map(|_| {
        now_ns += draws.exponential(SERVICE / busy);
        Request { at_ns: now_ns, connection: 0, demand: demand(draws) }
    });
    open(station, requests, |visit| {
        if visit.number >= WARM {
            summary.record(visit);
        }
    })
    .unwrap();
    summary
}

fn mean(station: Station, busy: f64, demand: impl Fn(&mut Draws) -> Demand + Copy) -> (f64, f64) {
    repeated(|draws| play(&station, busy, draws, demand).response.mean_ns().unwrap() / SERVICE)
}

#[test]
fn first_come_first_served() {
    let one = Station::servers(1);
    for busy in [0.5, 0.8] {
        let exponential = mean(one, busy, |draws| cpu(draws.exponential(SERVICE)));
        agrees(exponential, mm1(busy, 1.0).response, 0.015);
        let equal = mean(one, busy, |_| cpu(SERVICE as u64));
        agrees(equal, md1(busy, 1.0).response, 0.01);
        let scattered = mean(one, busy, |draws| cpu(draws.scattered(SERVICE)));
        // E S² = 2 (0.9 · (4/9)² + 0.1 · 6²) = 7.5556.
        let variation = (7.555_555_6_f64 - 1.0).sqrt();
        agrees(scattered, mg1(busy, 1.0, variation).unwrap().response, 0.03);
    }
    for (servers, busy) in [(2, 1.6), (8, 6.4), (40, 36.0)] {
        let many = mean(Station::servers(servers), busy, |draws| cpu(draws.exponential(SERVICE)));
        agrees(many, mmc(busy, 1.0, servers).unwrap().response, 0.015);
    }
}

#[test]
fn percentiles_of_the_response() {
    let share = |servers: u32, busy: f64, probability: f64| {
        let exact = if servers == 1 {
            mm1_response_quantile(busy, 1.0, probability)
        } else {
            mmc_response_quantile(busy, 1.0, servers, probability)
        };
        let simulated = repeated(|draws| {
            let demand = |draws: &mut Draws| cpu(draws.exponential(SERVICE));
            let summary = play(&Station::servers(servers), busy, draws, demand);
            summary.response.quantile_ns(probability).unwrap().unwrap() as f64 / SERVICE
        });
        agrees(simulated, exact, 0.02);
    };
    share(1, 0.7, 0.5);
    share(1, 0.7, 0.99);
    share(4, 3.0, 0.95);
}

#[test]
fn shared_cpus_do_not_care_for_the_distribution() {
    // M/G/1 with processor sharing: S / (1 − ρ), whatever the distribution (Kleinrock 1976, 4.4);
    // with k CPUs the number there is that of M/M/k.
    for (cpus, busy) in [(1, 0.8), (4, 3.2)] {
        let exact = mmc(busy, 1.0, cpus).unwrap().response;
        let station = Station::worker_each(cpus);
        agrees(mean(station, busy, |_| cpu(SERVICE as u64)), exact, 0.015);
        agrees(mean(station, busy, |draws| cpu(draws.exponential(SERVICE))), exact, 0.015);
        agrees(mean(station, busy, |draws| cpu(draws.scattered(SERVICE))), exact, 0.02);
    }
}

#[test]
fn a_long_request_is_slowed_down_as_a_short_one() {
    // E[T | x] = x / (1 − ρ): first come first served would give both the same wait.
    let by_length = repeated(|draws| {
        let (mut short, mut long) = (Summary::default(), Summary::default());
        let mut now_ns = 0;
        let lengths: Vec<bool> = (0..REQUESTS).map(|_| draws.even() < 0.2).collect();
        let requests = lengths.iter().map(|long| {
            now_ns += draws.exponential(SERVICE / 0.7);
            let part = if *long { 3.0 } else { 0.5 };
            Request { at_ns: now_ns, connection: 0, demand: cpu((SERVICE * part) as u64) }
        });
        open(&Station::worker_each(1), requests, |visit| {
            let kind = if lengths[visit.number as usize] { &mut long } else { &mut short };
            kind.record(visit);
        })
        .unwrap();
        long.response.mean_ns().unwrap() / short.response.mean_ns().unwrap()
    });
    agrees(by_length, 6.0, 0.01);
}

#[test]
fn waits_come_before_the_cpu_and_do_not_disturb_its_queue() {
    // What leaves a wait of any length comes as much at random as what entered it (M/G/∞).
    let demand = |draws: &mut Draws| Demand {
        wait_ns: draws.scattered(7.0 * SERVICE),
        cpu_ns: draws.exponential(SERVICE),
    };
    let exact = 7.0 + mm1(0.8, 1.0).response;
    agrees(mean(Station::event_loop(1, 1), 0.8, demand), exact, 0.015);
    agrees(mean(Station::worker_each(1), 0.8, demand), exact, 0.015);
    let exact = 7.0 + mmc(1.6, 1.0, 2).unwrap().response;
    agrees(mean(Station::event_loop(2, 2), 1.6, demand), exact, 0.015);
}

/// Answers per service time of a closed load in its steady state.
fn throughput(
    station: &Station,
    clients: (u32, f64),
    draws: &mut Draws,
    demand: impl Fn(&mut Draws) -> Demand,
) -> f64 {
    let think_ns = (clients.1 * SERVICE) as u64;
    let until_ns = Some((20_000.0 * SERVICE) as u64);
    let clients = Clients { connections: clients.0, requests: None, until_ns };
    let mut late = 0;
    let warm_ns = (2_000.0 * SERVICE) as u64;
    closed(
        station,
        &clients,
        || think_ns,
        |_| demand(draws),
        |visit| {
            let done_ns = visit.response_ns().map(|ns| visit.came_ns + ns);
            late += u64::from(done_ns.is_some_and(|done_ns| done_ns >= warm_ns));
        },
    )
    .unwrap();
    late as f64 / 18_000.0
}

#[test]
fn closed_loops_are_the_repairman_and_the_network() {
    // Machine repairmen need no distribution of the think time: here it is constant.
    for (connections, think, servers) in [(10, 8.0, 1), (20, 5.0, 4), (3, 2.5, 1)] {
        let demand = |draws: &mut Draws| cpu(draws.exponential(SERVICE));
        let station = Station::servers(servers);
        let simulated = repeated(|draws| throughput(&station, (connections, think), draws, demand));
        let exact = repairman(connections, think, 1.0, servers).throughput;
        agrees(simulated, exact, 0.005);
    }
    // Eight workers that wait and then share one CPU: a delay and a station, the workers its
    // customers, however many connections queue for them.
    let demand = |draws: &mut Draws| Demand {
        wait_ns: draws.scattered(6.0 * SERVICE),
        cpu_ns: draws.scattered(SERVICE),
    };
    let exact = mva(8, 6.0, &[Center::Queue(1.0)]).throughput;
    for connections in [8, 30] {
        let station = Station::pool(8, 1);
        let simulated = repeated(|draws| throughput(&station, (connections, 0.0), draws, demand));
        agrees(simulated, exact, 0.005);
    }
}
