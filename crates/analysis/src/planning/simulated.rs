//! The formulas against what they stand for: requests, one by one, through a pool of workers and the
//! CPUs below it.

use super::tests::{Session, load, of};
use model::Load;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

const REQUESTS: usize = 200_000;

/// What can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Comes,
    Waited(usize),
    Computed(usize),
}

struct Pool {
    rate: f64,
    idle_ns: f64,
    cpu_ns: f64,
    workers: usize,
    cpus: usize,
}

/// Response times of requests that come at random, wait for a worker, wait for an exponential time
/// with it, then for a CPU, and use that for an exponential time.
fn simulate(pool: &Pool, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut scattered = move |mean: f64| -(1.0 - random.random::<f64>()).ln() * mean;
    let (mut came, mut done) = (Vec::new(), Vec::new());
    let (mut for_worker, mut for_cpu) = (VecDeque::new(), VecDeque::new());
    let (mut workers, mut cpus) = (pool.workers, pool.cpus);
    // Whole numbers of ns, which have an order.
    let mut events = BinaryHeap::from([Reverse((0_u64, Event::Comes))]);
    while let Some(Reverse((now, event))) = events.pop() {
        match event {
            Event::Comes if came.len() < REQUESTS => {
                for_worker.push_back(came.len());
                came.push(now);
                let next = now + scattered(1.0 / pool.rate) as u64;
                events.push(Reverse((next, Event::Comes)));
            }
            Event::Comes => {}
            Event::Waited(request) => for_cpu.push_back(request),
            Event::Computed(request) => {
                done.push((now - came[request]) as f64);
                workers += 1;
                cpus += 1;
            }
        }
        while workers > 0
            && let Some(request) = for_worker.pop_front()
        {
            workers -= 1;
            let end = now + scattered(pool.idle_ns) as u64;
            events.push(Reverse((end, Event::Waited(request))));
        }
        while cpus > 0
            && let Some(request) = for_cpu.pop_front()
        {
            cpus -= 1;
            let end = now + scattered(pool.cpu_ns) as u64;
            events.push(Reverse((end, Event::Computed(request))));
        }
    }
    done
}

/// The plan must not promise what requests do not get; and must not be so cautious as to say
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
            workers: planned.workers.unwrap() as usize,
            cpus: cpus as usize,
        };
        let mut times = simulate(&pool, 1);
        assert_eq!(times.len(), REQUESTS);
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        times.sort_by(f64::total_cmp);
        let p95 = times[times.len() * 95 / 100];
        let (mean, p95) = (mean / planned.response_ns.unwrap(), p95 / planned.p95_ns.unwrap());
        assert!((0.93..1.02).contains(&mean), "{rate_per_s}: mean {mean} of what was planned");
        assert!((0.7..1.01).contains(&p95), "{rate_per_s}: p95 {p95} of what was planned");
        // One worker fewer than keep the queue from growing, and it grows.
        let least = planned.workers_least.unwrap() as usize;
        let grows = |workers| {
            let times = simulate(&Pool { workers, ..pool }, 2);
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
