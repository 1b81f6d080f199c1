//! Whether the generator reports what the server itself has logged: `cargo bench -p web --bench answers
//! [-- --seconds S]`.
//!
//! * Queues (M/M/1, M/D/1, M/H2/1) at 50, 70 and 90 % of their capacity: one thread serves one connection
//!   after the other and logs when each answer was written. The time from the moment at which a request came
//!   due until then is its response time.
//! * A server with a thread for each connection of which one request in five takes 500 ms and the others
//!   5 ms, in a closed loop: its log holds the service times.

#![expect(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

use model::{Arrivals, LoadPlan};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use sys::clock::now_ns;
use web::load::Live;

/// The mean service time of a queue.
const MEAN_MS: f64 = 20.0;

/// The percentiles that are compared, in percent.
const PERCENTS: [f64; 5] = [50.0, 75.0, 95.0, 99.0, 99.9];

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A service time in ms, from two uniform numbers between 0 and 1.
type Draw = fn(f64, f64) -> f64;

fn main() {
    let after = std::env::args().skip_while(|word| word != "--seconds").nth(1);
    let seconds: u64 = after.map_or(20, |word| word.parse().unwrap());
    println!(
        "difference from the log, {seconds} s each; requests, mean, then p50 p75 p95 p99 p99.9"
    );
    let queues: [(&str, Draw); 3] = [
        ("M/M/1", |a, _| -MEAN_MS * (1.0 - a).ln()),
        ("M/D/1", |_, _| MEAN_MS),
        // One in ten takes ten times as long.
        ("M/H2/1", |a, b| MEAN_MS / 1.9 * if b < 0.1 { 10.0 } else { 1.0 } * -(1.0 - a).ln()),
    ];
    for (name, draw) in queues {
        for utilisation in [0.5, 0.7, 0.9] {
            let (address, log) = serve(draw, false);
            let per_s = utilisation * 1e3 / MEAN_MS;
            let arrivals = Arrivals::Poisson { per_s, seed: 7 };
            let plan = plan(address, arrivals, 1_000, false, seconds);
            let mut start_ns = u64::MAX;
            let mut look = |live: Live| {
                // The closest look is the one that was least disturbed.
                start_ns = start_ns.min(now_ns() - live.elapsed.as_nanos() as u64);
                true
            };
            let (outcome, noted) = web::load::run_noting(&plan, b"", &mut look).unwrap();
            let due = noted.iter().map(|one| start_ns + one.due_ns);
            let truth = log.try_iter().zip(due).map(|(logged, due)| (logged.end_ns - due) as f64);
            let truth: Vec<f64> = truth.collect();
            assert_eq!(truth.len(), noted.len());
            let found = noted.iter().map(|one| (one.ended_ns - one.due_ns) as f64).collect();
            print(&format!("{name} at {utilisation}"), truth, found);
            assert_eq!(outcome.result.counts.succeeded, outcome.result.counts.sent);
        }
    }
    let (address, log) = serve(|a, _| if a < 0.2 { 500.0 } else { 5.0 }, true);
    let plan = plan(address, Arrivals::Closed, 16, true, seconds);
    let result = web::load::run(&plan, b"", &mut |_| true).unwrap().result;
    let truth: Vec<f64> = log.try_iter().map(|logged| logged.took_ns).collect();
    assert!(truth.len() as u64 >= result.counts.answered);
    let mut found = vec![result.service.mean_ns.unwrap()];
    found.extend(PERCENTS.map(|percent| result.service.at(percent).unwrap() as f64));
    line("5 and 500 ms", truth.len(), &numbers(truth), &found);
}

fn plan(
    address: SocketAddr,
    arrivals: Arrivals,
    connections: u32,
    keep_alive: bool,
    seconds: u64,
) -> LoadPlan {
    LoadPlan {
        url: format!("http://{address}/"),
        method: "GET".into(),
        headers: Vec::new(),
        body_bytes: 0,
        arrivals,
        connections,
        keep_alive,
        threads: 1,
        duration_ms: Some(seconds * 1000),
        requests: None,
        timeout_ms: 60_000,
        drain_ms: 60_000,
        options: Default::default(),
    }
}

/// What a server notes of a request.
#[derive(Debug)]
struct Logged {
    /// When its answer was written, in ns of the monotonic clock.
    end_ns: u64,
    /// How long that was after it was read, in ns.
    took_ns: f64,
}

/// Starts a server, and returns where its log comes.
fn serve(draw: Draw, parallel: bool) -> (SocketAddr, Receiver<Logged>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (log, logged) = channel();
    std::thread::spawn(move || {
        let mut seed = 1_u64;
        for stream in listener.incoming() {
            let (stream, log) = (stream.unwrap(), log.clone());
            seed += 1;
            if parallel {
                std::thread::spawn(move || converse(stream, draw, seed << 32, &log));
            } else {
                converse(stream, draw, seed << 32, &log);
            }
        }
    });
    (address, logged)
}

/// Answers a connection until its end; one that is for one request, once.
fn converse(mut stream: TcpStream, draw: Draw, mut seed: u64, log: &Sender<Logged>) {
    let mut room = [0; 4096];
    loop {
        let read = stream.read(&mut room).unwrap_or(0);
        if read == 0 {
            return;
        }
        let begun_ns = now_ns();
        let ms = draw(uniform(&mut seed), uniform(&mut seed));
        std::thread::sleep(Duration::from_secs_f64(ms / 1e3));
        let is_last = room[..read].windows(6).any(|word| word.eq_ignore_ascii_case(b": clos"));
        if stream.write_all(ANSWER).is_err() {
            return;
        }
        let end_ns = now_ns();
        let took_ns = (end_ns - begun_ns) as f64;
        if log.send(Logged { end_ns, took_ns }).is_err() || is_last {
            return;
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014).
fn uniform(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *seed;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Returns the mean and the percentiles.
fn numbers(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    let at = |percent: f64| {
        let rank = (percent / 100.0 * times.len() as f64).ceil() as usize;
        times[rank.clamp(1, times.len()) - 1]
    };
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    [mean].into_iter().chain(PERCENTS.map(at)).collect()
}

fn print(name: &str, truth: Vec<f64>, found: Vec<f64>) {
    line(name, truth.len(), &numbers(truth), &numbers(found));
}

fn line(name: &str, requests: usize, truth: &[f64], found: &[f64]) {
    let each = truth.iter().zip(found).map(|(truth, found)| {
        format!("{:+.1} % ({:.1} ms)", 100.0 * (found / truth - 1.0), truth / 1e6)
    });
    println!("{name:<14} {requests:>6}  {}", each.collect::<Vec<_>>().join("  "));
}
