//! The formulas against what they stand for: requests, one by one, through a pool of workers and the
//! CPUs below it ([`laws::station`]).

use super::{Session, load, of};
use laws::station::{Demand, Request, Station, open};
use model::Load;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const REQUESTS: usize = 200_000;

/// A pool, and the requests that come to it at random.
struct Pool {
    rate: f64,
    idle_ns: f64,
    cpu_ns: f64,
    workers: u32,
    cpus: u32,
}

/// Returns the response times, in the order in which the requests end. Requests come at random. What they
/// need scatters like exponential times or is equal.
fn simulate(pool: &Pool, scatter: bool, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut scattered = move |mean: f64| (-(1.0 - random.random::<f64>()).ln() * mean) as u64;
    let mut at_ns = 0;
    let requests = (0..REQUESTS).map(|_| {
        at_ns += scattered(1.0 / pool.rate);
        let mut needed = |mean| if scatter { scattered(mean) } else { mean as u64 };
        let demand = Demand { wait_ns: needed(pool.idle_ns), cpu_ns: needed(pool.cpu_ns) };
        Request { at_ns, connection: 0, demand }
    });
    let mut times = Vec::with_capacity(REQUESTS);
    let station = Station::pool(pool.workers, pool.cpus);
    let note = |visit: &laws::station::Visit| times.extend(visit.response_ns().map(|ns| ns as f64));
    open(&station, requests, note).unwrap();
    times
}

/// Plans must not promise what requests do not get, and must not be so cautious as to say
/// nothing.
#[test]
fn plans_hold_in_simulation() {
    let session = Session::new(0.0);
    for (rate_per_s, cpu_share, cpus, target_ms) in [
        (500.0, 0.3, 8, None),
        (500.0, 0.3, 4, Some(75.0)),
        (1200.0, 0.1, 3, Some(80.0)),
        (90.0, 0.9, 2, Some(250.0)),
        (40.0, 0.05, 1, Some(70.0)),
    ] {
        let stated = Load {
            rate_per_s: Some(rate_per_s),
            cpu_share,
            cpus,
            target_p95_ns: target_ms.map(|ms: f64| ms * 1e6),
            ..load()
        };
        let advice = session.plan(stated);
        let planned = of(&advice, "pool");
        assert_eq!(planned.refusal, None, "{rate_per_s}");
        let pool = Pool {
            rate: rate_per_s / 1e9,
            idle_ns: (1.0 - cpu_share) * 20e6,
            cpu_ns: planned.cpu_ns,
            workers: planned.workers.unwrap(),
            cpus,
        };
        let mut times = simulate(&pool, true, 1);
        assert_eq!(times.len(), REQUESTS);
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        times.sort_by(f64::total_cmp);
        let p95_of = |times: &[f64]| times[times.len() * 95 / 100];
        let mut equal = simulate(&pool, false, 3);
        equal.sort_by(f64::total_cmp);
        let least = p95_of(&equal) / planned.p95_least_ns.unwrap();
        assert!((0.95..1.2).contains(&least), "{rate_per_s}: p95 of equal requests {least}");
        let p95 = p95_of(&times);
        let (mean, p95) = (mean / planned.response_ns.unwrap(), p95 / planned.p95_ns.unwrap());
        assert!((0.93..1.02).contains(&mean), "{rate_per_s}: mean {mean} of what was planned");
        assert!((0.7..1.01).contains(&p95), "{rate_per_s}: p95 {p95} of what was planned");
        // One worker fewer than keep the queue from growing, and it grows.
        let least = planned.workers_least.unwrap();
        let grows = |workers| {
            let times = simulate(&Pool { workers, ..pool }, true, 2);
            let tenth = times.len() / 10;
            let (early, late) = (&times[..tenth], &times[times.len() - tenth..]);
            late.iter().sum::<f64>() / early.iter().sum::<f64>()
        };
        if least > 1 {
            let growth = grows(least - 1);
            assert!(growth > 4.0, "{rate_per_s}: {growth} with one fewer than {least}");
        }
    }
}
