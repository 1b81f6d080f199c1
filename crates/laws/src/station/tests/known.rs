//! Answers that need no formula.

use super::super::{
    Clients, End, Request, Station, Summary, TIME_MAX_NS, Totals, Waiting, closed, open, open_all,
};
use super::{MS, at, cpu, wait};
use crate::Error;

const SECOND: u64 = 1000 * MS;

/// Connections that ask until a time, each request for the same.
fn load(station: &Station, connections: u32, demand: super::Demand) -> (Summary, Totals) {
    let until_ns = Some(100 * SECOND);
    let clients = Clients { connections, requests: None, until_ns };
    let mut summary = Summary::default();
    // The first of each connection finds a queue that is only growing.
    let totals = closed(
        station,
        &clients,
        || 0,
        |_| demand,
        |visit| {
            if visit.number >= u64::from(connections) {
                summary.record(visit);
            }
        },
    )
    .unwrap();
    (summary, totals)
}

fn all_ms(summary: &Summary) -> f64 {
    let mean_ns = summary.response.mean_ns().unwrap();
    let most_ns = summary.response.quantile_ns(1.0).unwrap().unwrap() as f64;
    assert!((most_ns / mean_ns - 1.0).abs() < 0.002, "not all alike: {mean_ns} {most_ns}");
    mean_ns / 1e6
}

#[test]
fn the_classical_picture() {
    let sleep = wait(20 * MS);
    for connections in [1, 4, 16, 160] {
        // One after the other: c × S, and 1/S answers per second, however many ask.
        let (summary, totals) = load(&Station::servers(1), connections, sleep);
        assert_eq!(all_ms(&summary), 20.0 * f64::from(connections));
        assert_eq!(totals.throughput_per_s(), Some(50.0));
        // Timers and threads that only sleep disturb nobody.
        for station in [Station::event_loop(1, 1), Station::worker_each(2)] {
            assert_eq!(all_ms(&load(&station, connections, sleep).0), 20.0);
        }
    }
    // A pool of 8: S up to 8 connections, then in batches.
    for (connections, ms) in [(1, 20.0), (8, 20.0), (16, 40.0), (64, 160.0)] {
        let (summary, totals) = load(&Station::pool(8, 2), connections, sleep);
        assert_eq!(all_ms(&summary), ms);
        assert_eq!(totals.busy_ns, u128::from(totals.elapsed_ns) * u128::from(connections.min(8)));
    }
    // With CPU work, two CPUs do two requests at a time, and nothing else helps.
    let work = cpu(20 * MS);
    for station in [Station::worker_each(2), Station::event_loop(2, 2), Station::pool(8, 2)] {
        let (summary, totals) = load(&station, 16, work);
        assert_eq!(all_ms(&summary), 160.0);
        assert_eq!(totals.throughput_per_s(), Some(100.0));
        assert_eq!(totals.cpu_ns, u128::from(totals.elapsed_ns) * 2);
    }
    assert_eq!(all_ms(&load(&Station::event_loop(1, 2), 16, work).0), 320.0);
}

#[test]
fn a_pool_that_keeps_its_connections_starves_the_others() {
    let station = Station::pool(8, 2).bound();
    let clients = Clients { connections: 16, requests: None, until_ns: Some(SECOND) };
    let (mut answers, mut never) = (vec![0; 16], Vec::new());
    let totals = closed(
        &station,
        &clients,
        || 0,
        |_| wait(20 * MS),
        |visit| match visit.end {
            End::Answered { .. } => answers[visit.connection as usize] += 1,
            End::Unfinished { begun_ns: None } => never.push(visit.connection),
            _ => {}
        },
    )
    .unwrap();
    assert_eq!((&answers[..8], &answers[8..]), (&[50; 8][..], &[0; 8][..]));
    assert_eq!(never, (8..16).collect::<Vec<u32>>());
    // The eight that are served have asked again when time is over.
    assert_eq!((totals.answered, totals.unfinished), (400, 16));
    // Who has asked for all there was leaves the worker to who waits.
    let clients = Clients { requests: Some(100), until_ns: None, ..clients };
    let mut last = Vec::new();
    let totals = closed(
        &station,
        &clients,
        || 0,
        |_| wait(20 * MS),
        |visit| {
            if visit.connection >= 8 {
                last.push(visit.came_ns + visit.response_ns().unwrap());
            }
        },
    )
    .unwrap();
    // 92 of the first eight take twelve rounds, the last of them with half the workers.
    assert_eq!((totals.answered, last.len()), (100, 8));
    assert_eq!(last, [[240 * MS; 4], [260 * MS; 4]].concat());
}

#[test]
fn requests_of_one_connection_follow_one_another() {
    let of = |connection: u32, at_ns: u64| Request { at_ns, connection, demand: wait(10) };
    let requests = [of(0, 0), of(0, 1), of(1, 2), of(0, 50), of(2, 60)];
    let done = |station: &Station| -> Vec<Option<u64>> {
        let (visits, totals) = open_all(station, &requests).unwrap();
        assert_eq!(totals.came, totals.answered + totals.unfinished);
        visits.iter().map(|visit| visit.response_ns().map(|ns| visit.came_ns + ns)).collect()
    };
    let two = Station::servers(2);
    assert_eq!(done(&two), [Some(10), Some(11), Some(20), Some(60), Some(70)]);
    // With two workers for three connections the third waits for ever.
    assert_eq!(done(&two.bound()), [Some(10), Some(20), Some(12), Some(60), None]);
}

#[test]
fn a_server_that_stops_for_a_second_of_ten() {
    // A thousand requests per second; the one that comes at 4 s finds the server stopped for 1 s.
    let requests = (0..10_000_u64)
        .map(|number| at(number * MS, cpu(if number == 4000 { SECOND } else { 1000 })));
    let mut summary = Summary::default();
    open(&Station::servers(1), requests, |visit| summary.record(visit)).unwrap();
    let quantile_ms = |p: f64| summary.response.quantile_ns(p).unwrap().unwrap() as f64 / 1e6;
    for (p, ms) in [(0.95, 500.0), (0.99, 900.0)] {
        assert!((quantile_ms(p) / ms - 1.0).abs() < 0.02, "{p}: {}", quantile_ms(p));
    }
    assert!(quantile_ms(0.5) < 0.01);
}

#[test]
fn what_cannot_be_is_an_error() {
    let says = |station: Station| {
        let error = open(&station, [at(0, cpu(1))], |_| {}).unwrap_err();
        assert!(matches!(error, Error::Wrong { .. }));
        error.to_string()
    };
    assert_eq!(says(Station::servers(0)), "workers is 0; it must be between 1 and 1,000,000");
    assert!(says(Station::servers(1_000_001)).starts_with("workers is 1000001"));
    assert!(says(Station::worker_each(0)).starts_with("CPUs is 0"));
    assert!(says(Station::worker_each(1).bound()).starts_with("workers is inf"));
    let one = Station::servers(1);
    let fails = |requests: &[Request]| open_all(&one, requests).is_err();
    assert!(fails(&[at(5, cpu(1)), at(4, cpu(1))]) && !fails(&[at(5, cpu(1)), at(5, cpu(1))]));
    assert!(fails(&[at(TIME_MAX_NS + 1, cpu(1))]) && fails(&[at(0, cpu(TIME_MAX_NS + 1))]));
    assert!(fails(&[at(0, wait(u64::MAX))]));
    assert!(fails(&[Request { connection: 1_000_000, ..Request::default() }]));
    // 600 times 104 days, one after the other.
    let full = vec![at(TIME_MAX_NS, cpu(TIME_MAX_NS)); 600];
    let error = open_all(&one, &full).unwrap_err().to_string();
    assert!(error.contains("146 years"), "{error}");
    assert!(open_all(&Station::worker_each(1), &full).is_err());
    assert!(open_all(&Station::worker_each(600), &full).is_ok());

    let clients = Clients { connections: 1, requests: Some(1), until_ns: None };
    let fails = |clients: Clients| closed(&one, &clients, || 0, |_| cpu(1), |_| {}).is_err();
    assert!(!fails(clients));
    assert!(fails(Clients { connections: 0, ..clients }));
    assert!(fails(Clients { connections: 1_000_001, ..clients }));
    assert!(fails(Clients { requests: None, ..clients }));
    assert!(closed(&one, &clients, || u64::MAX, |_| cpu(1), |_| {}).is_err());
    assert!(fails(Clients { until_ns: Some(u64::MAX), ..clients }));
    assert!(closed(&one, &clients, || 0, |_| cpu(u64::MAX), |_| {}).is_err());
}

#[test]
fn nothing_to_do_takes_no_time() {
    let totals = open(&Station::servers(1), [], |_| {}).unwrap();
    assert_eq!(totals, Totals::default());
    assert_eq!(totals.present(), None);
    let clients = Clients { connections: 3, requests: Some(0), until_ns: None };
    let totals = closed(&Station::servers(1), &clients, || 0, |_| cpu(1), |_| {}).unwrap();
    assert_eq!(totals, Totals::default());
    // Requests that ask for nothing are answered when they come, and end.
    let clients = Clients { requests: Some(50), ..clients };
    for station in [Station::servers(1), Station::worker_each(1), Station::pool(2, 1)] {
        let totals = closed(&station, &clients, || 0, |_| cpu(0), |_| {}).unwrap();
        assert_eq!((totals.answered, totals.elapsed_ns), (50, 0));
    }
    let idle = Summary::default();
    assert_eq!((idle.response.mean_ns(), idle.response.count()), (None, 0));
    assert_eq!(idle.response.quantile_ns(0.5), Ok(None));
    assert!(idle.response.quantile_ns(1.5).is_err());
    assert_eq!(Station::event_loop(1, 1).waiting, Waiting::Apart);
}
