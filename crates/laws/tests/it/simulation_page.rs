//! Every answer in docs/simulation.md is what the simulation gives.

use laws::station::{Clients, Demand, Request, Station, Summary, closed, open};

const PAGE: &str = include_str!("../../../../docs/simulation.md");
const MS: u64 = 1_000_000;

/// The answers of the page, in its order.
fn shown() -> Vec<&'static str> {
    let table = PAGE.lines().skip_while(|line| *line != "| question | answer |").skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('|').map(str::trim).nth(2).unwrap()).collect()
}

/// Connections that ask for 10 s: the mean response of all but their first requests, in ms, and how
/// many got no answer.
fn load(station: Station, connections: u32, demand: Demand) -> (f64, usize) {
    let until_ns = Some(10_000 * MS);
    let clients = Clients { connections, requests: None, until_ns };
    let (mut summary, mut answers) = (Summary::default(), vec![0; connections as usize]);
    closed(
        &station,
        &clients,
        || 0,
        |_| demand,
        |visit| {
            answers[visit.connection as usize] += u32::from(visit.response_ns().is_some());
            if visit.number >= u64::from(connections) {
                summary.record(visit);
            }
        },
    )
    .unwrap();
    let starved = answers.iter().filter(|answers| **answers == 0).count();
    (summary.response.mean_ns().unwrap_or(0.0) / 1e6, starved)
}

fn stopped(probability: f64) -> f64 {
    let requests = (0..10_000_u64).map(|number| {
        let cpu_ns = if number == 4000 { 1000 * MS } else { 1000 };
        Request { at_ns: number * MS, connection: 0, demand: Demand { wait_ns: 0, cpu_ns } }
    });
    let mut summary = Summary::default();
    open(&Station::servers(1), requests, |visit| summary.record(visit)).unwrap();
    summary.response.quantile_ns(probability).unwrap().unwrap() as f64 / 1e6
}

#[test]
fn the_answers_of_the_page_are_those_of_the_simulation() {
    let sleep = Demand { wait_ns: 20 * MS, cpu_ns: 0 };
    let work = Demand { wait_ns: 0, cpu_ns: 20 * MS };
    let ms =
        |station: Station, connections: u32, demand: Demand| load(station, connections, demand).0;
    let answers = [
        ms(Station::servers(1), 16, sleep),
        ms(Station::servers(1), 160, sleep),
        ms(Station::pool(8, 2), 8, sleep),
        ms(Station::pool(8, 2), 16, sleep),
        ms(Station::event_loop(1, 2), 16, sleep),
        ms(Station::event_loop(1, 2), 16, work),
        ms(Station::worker_each(2), 16, work),
        load(Station::pool(8, 2).bound(), 16, sleep).1 as f64,
        stopped(0.95),
        stopped(0.99),
    ];
    let answers: Vec<String> = answers.iter().map(|answer| format!("{answer:.0}")).collect();
    assert_eq!(answers, shown());
}
