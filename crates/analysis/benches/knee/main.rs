//! Prints how often a search for a server's capacity holds the truth, how narrow its interval is and how
//! long it takes, for simulated servers: the table of docs/load.md.
//!
//! `cargo bench -p analysis --bench knee -- [SEARCHES] [known|second|third|rows|refusing|hurried|disturbed] [PART OF A NAME]`
//! (12 searches of each server unless given).

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may stop")]

mod fresh;
#[expect(dead_code, reason = "a test uses the rest")]
#[path = "../../tests/support/refusing.rs"]
mod refusing;
#[path = "../../tests/support/searches.rs"]
mod searches;
#[path = "../../tests/support/servers.rs"]
mod servers;

use fresh::{Fresh, rows, second, third};
use laws::station::Station;
use model::Knee;
use refusing::{Refuser, refusers};
use searches::{rules, search};
use servers::{Scatter, Server};
use std::collections::HashMap;

/// Requests of the loads that the truth is computed from.
const REQUESTS: f64 = 2e6;

/// A server and the limit that is asked for, in ms; `None` for the one by default.
type Case = (&'static str, Server, Option<f64>);

/// Returns servers of every kind, from 20 to 20,000 requests per second. The estimator was made with them.
fn known() -> Vec<Case> {
    use Scatter::{Erlang4, Exponential, None as Equal, Tenth};
    let single = || Station::servers(1);
    let case = |name, station: Station, wait, cpu, scatter, limit| -> Case {
        (name, Server::new(station, wait, cpu, scatter), limit)
    };
    vec![
        case("single, 50 ms", single(), 50.0, 0.0, Equal, None),
        case("single, 5 ms", single(), 5.0, 0.0, Equal, Some(50.0)),
        case("M/M/1, 5 ms", single(), 5.0, 0.0, Exponential, Some(50.0)),
        case("M/M/1, 5 ms", single(), 5.0, 0.0, Exponential, None),
        case("M/M/1, 10 ms", single(), 10.0, 0.0, Exponential, None),
        case("M/E4/1, 20 ms", single(), 20.0, 0.0, Erlang4, None),
        case("M/H2/1, 2 ms", single(), 2.0, 0.0, Tenth(10.0), Some(50.0)),
        case("M/M/1, 0.05 ms", single(), 0.05, 0.0, Exponential, Some(5.0)),
        case("single, 0.05 ms", single(), 0.05, 0.0, Equal, Some(10.0)),
        case("single, 10 ms, tight", single(), 10.0, 0.0, Equal, Some(12.0)),
        case("pool of 4, 20 ms", Station::servers(4), 20.0, 0.0, Equal, Some(50.0)),
        case("pool of 8, 20 ms", Station::servers(8), 20.0, 0.0, Equal, None),
        case("pool of 8, 400 ms", Station::servers(8), 400.0, 0.0, Equal, None),
        case("pool of 2, 100 ms", Station::servers(2), 100.0, 0.0, Equal, Some(300.0)),
        case("pool of 100, 20 ms", Station::servers(100), 20.0, 0.0, Equal, Some(60.0)),
        case("M/M/4, 20 ms", Station::servers(4), 20.0, 0.0, Exponential, Some(100.0)),
        case("pool of 8, waits and computes", Station::pool(8, 2), 5.0, 0.2, Equal, None),
        case("a thread each, 2 ms on 2 CPUs", Station::worker_each(2), 0.0, 2.0, Equal, Some(20.0)),
        case("a thread each, 5 ms scattered", Station::worker_each(1), 0.0, 5.0, Exponential, None),
        case("event loop, 1 ms", Station::event_loop(1, 1), 0.0, 1.0, Equal, None),
        case("event loop, 20 + 0.1 ms", Station::event_loop(1, 1), 20.0, 0.1, Equal, Some(50.0)),
        case("two event loops, 0.2 ms", Station::event_loop(2, 2), 0.0, 0.2, Exponential, None),
    ]
}

/// Something whose capacity is searched for.
struct Subject {
    name: &'static str,
    search: Box<dyn Fn(u64) -> (Knee, f64)>,
    /// The capacity within a limit in ns.
    capacity: Box<dyn Fn(f64) -> f64>,
}

/// Returns servers that refuse, each searched for this time, in s, some of the trials being disturbed.
fn refusing(budget_s: f64, disturbed: f64) -> Vec<Subject> {
    let of = |server: Refuser| Subject {
        name: server.name,
        search: Box::new(move |seed| server.search(budget_s, disturbed, seed)),
        capacity: Box::new(move |_| server.capacity(REQUESTS)),
    };
    refusers().into_iter().map(of).collect()
}

fn subjects() -> [(&'static str, Vec<Subject>); 7] {
    let known = known().into_iter().map(|(name, server, limit_ms)| Subject {
        name,
        search: Box::new(move |seed| search(&server, rules(limit_ms), seed)),
        capacity: Box::new(move |limit_ns| server.capacity(limit_ns, false, REQUESTS)),
    });
    let of = |server: Fresh| {
        let same = server.clone();
        Subject {
            name: server.name,
            search: Box::new(move |seed| server.search(seed)),
            capacity: Box::new(move |limit_ns| same.capacity(limit_ns, REQUESTS)),
        }
    };
    let [second, third, rows] =
        [second(), third(), rows()].map(|all| all.into_iter().map(of).collect());
    [
        ("known", known.collect()),
        ("second", second),
        ("third", third),
        ("rows", rows),
        ("refusing", refusing(170.0, 0.0)),
        ("hurried", refusing(43.0, 0.0)),
        ("disturbed", refusing(43.0, 0.15)),
    ]
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let count: u64 = words.first().map_or(12, |text| text.parse().unwrap());
    let set = words.get(1).map_or("", String::as_str);
    let part = words.get(2).map_or("", String::as_str);
    println!(
        "| server | limit | capacity per second | held the truth | bias | scatter | width | time |\n\
         |---|---|---|---|---|---|---|---|"
    );
    for (_, subjects) in subjects().into_iter().filter(|(name, _)| name.contains(set)) {
        for subject in subjects.iter().filter(|subject| subject.name.contains(part)) {
            line(subject, count);
        }
    }
}

fn line(subject: &Subject, count: u64) {
    let mut truths: HashMap<i64, f64> = HashMap::new();
    let (mut covered, mut widths, mut ratios, mut times) = (0, Vec::new(), Vec::new(), Vec::new());
    let mut last = (0.0, 0.0);
    for seed in 0..count {
        let (knee, seconds) = (subject.search)(seed);
        times.push(seconds);
        let Some(limit_ns) = knee.limit_ns else { continue };
        // To half a per cent of the limit, which the truth hangs on.
        let key = (limit_ns.ln() * 200.0).round();
        let truth =
            *truths.entry(key as i64).or_insert_with(|| (subject.capacity)((key / 200.0).exp()));
        last = (limit_ns, truth);
        let Some(found) = knee.capacity_per_s else {
            println!("  {seed}: {:?}, roughly {:?}", knee.end, knee.roughly_per_s);
            continue;
        };
        covered += u32::from(found.low <= truth && truth <= found.high);
        widths.push((found.high - found.low) / found.point);
        ratios.push(found.point / truth - 1.0);
    }
    let middle = |values: &[f64]| analysis::median(values).unwrap_or(f64::NAN);
    println!(
        "| {} | {:.4} ms | {:.5} | {covered} of {} | {:+.1} % | {:.1} % | {:.1} % | {:.0} s, {:.0} s |",
        subject.name,
        last.0 / 1e6,
        last.1,
        widths.len(),
        100.0 * middle(&ratios),
        100.0 * analysis::variance(&ratios).unwrap_or(f64::NAN).sqrt(),
        100.0 * middle(&widths),
        middle(&times),
        times.iter().copied().fold(0.0, f64::max),
    );
}
