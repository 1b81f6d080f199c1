//! A thousand connections, again and again, and what is left of them: by the generator, which is this process,
//! and by each server that can hold so many. `cargo bench -p web --bench soak` does it for a minute.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "support/held.rs"]
mod held;

use held::{Held, resident_bytes};
use model::{Arrivals, LoadPlan, LoadResult};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use web::serve::{Model, Plan, Running, Service, listen};

const CONNECTIONS: u32 = 1000;

/// How long each request waits, so that all connections are in use at once without burning the CPUs.
const SERVICE: Duration = Duration::from_millis(100);

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is left of connections grows with each round, by no less than a page of 4 KiB for each of its 2000: one
/// round that adds less than this says that nothing is. What a round adds otherwise is malloc's arenas, some MB.
const GROWTH_BYTES: u64 = 3 << 20;
const ROUNDS: usize = 6;

fn load(address: SocketAddr, arrivals: Arrivals) -> LoadResult {
    let plan = LoadPlan {
        url: format!("http://{address}/"),
        method: "GET".into(),
        headers: Vec::new(),
        body_bytes: 0,
        arrivals,
        connections: CONNECTIONS,
        keep_alive: true,
        threads: 2,
        duration_ms: Some(700),
        requests: None,
        timeout_ms: 60_000,
        drain_ms: 0,
        options: Default::default(),
    };
    web::load::run(&plan, b"", &mut |_| true).unwrap().result
}

/// Waits until there is what there was.
fn eventually(what: &str, before: Held, now: impl Fn() -> Held) {
    let begun = Instant::now();
    while now() != before {
        assert!(begun.elapsed() < PATIENCE, "{what}: before {before}, now {}", now());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn nothing_is_left_of_a_thousand_connections() {
    // A server inherits the limit, and holds as many as the generator.
    if let Some(limit) = sys::limits::allow_files(4096).filter(|limit| *limit < 2048) {
        println!("skipped: 1,000 connections need 2,048 open files, and {limit} are allowed");
        return;
    }
    let me = [sys::process::pid()];
    for model in [Model::ThreadPerConnection, Model::EventLoop, Model::Tokio(2)] {
        let plan = Plan { model, service: Service::Wait(SERVICE), keep_alive: true };
        let mut server = Running::start(listen(4096).unwrap(), &plan, &[]).unwrap();
        server.wait_until_ready(PATIENCE).unwrap();
        let held = || (Held::by(&me), Held::by(&server.family()));
        let before = held();
        let mut resident = Vec::new();
        let grown = |resident: &[(u64, u64)], of: fn(&(u64, u64)) -> u64| {
            let rounds = resident.windows(2).map(|two| of(&two[1]).saturating_sub(of(&two[0])));
            rounds.min().unwrap_or(u64::MAX)
        };
        let is_steady = |resident: &[(u64, u64)]| {
            grown(resident, |it| it.0) <= GROWTH_BYTES && grown(resident, |it| it.1) <= GROWTH_BYTES
        };
        for round in 0..ROUNDS {
            if is_steady(&resident) {
                break;
            }
            for arrivals in [Arrivals::Closed, Arrivals::Paced { per_s: 5000.0 }] {
                let result = load(server.address(), arrivals);
                let counts = &result.counts;
                assert!(counts.errors.is_empty() && counts.timed_out == 0, "{model:?}: {counts:?}");
                // A closed loop asks on all of them before it hears of any, and one with a pace on
                // one after the other.
                assert_eq!(result.fairness.unwrap().connections, CONNECTIONS, "{model:?}");
                assert!(counts.answered > 0, "{model:?}: {counts:?}");
                eventually(&format!("{model:?}, generator, {round}"), before.0, || held().0);
                eventually(&format!("{model:?}, server, {round}"), before.1, || held().1);
            }
            resident.push((resident_bytes(&me), resident_bytes(&server.family())));
            assert!(resident[round].0 > 0 && resident[round].1 > 0, "{resident:?}");
        }
        println!("{model:?}: resident after each round, generator and server: {resident:?}");
        assert!(is_steady(&resident), "{model:?}: something grew in each round");
        assert_eq!(server.end(PATIENCE).unwrap().code, Some(0), "{model:?}");
    }
}
