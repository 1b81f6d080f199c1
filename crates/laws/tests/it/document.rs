//! Every answer in docs/laws.md is what the formulas give.

use crate::oracle::{Demands, md1, mm1, mm1_response_quantile, repairman};
use crate::scaling::{
    amdahl, amdahl_workers, gustafson, karp_flatt, kink_workers, universal, universal_peak,
    universal_workers,
};
use laws::fit::{Coefficient, Law, Point, Region};
use laws::queue::many;

const PAGE: &str = include_str!("../../../../docs/laws.md");

/// The answers of the page, in its order, each with its question.
fn answers() -> Vec<(&'static str, &'static str)> {
    let mut answers = Vec::new();
    let mut inside = false;
    for line in PAGE.lines() {
        inside = line == "| question | answer |" || inside && line.starts_with('|');
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if inside && !line.starts_with("|--") && cells[1] != "question" {
            answers.push((cells[1], cells[2]));
        }
    }
    answers
}

/// A number to as many digits as the page shows.
fn as_shown(value: f64, shown: &str) -> String {
    let decimals = shown.split_once('.').map_or(0, |(_, digits)| digits.len());
    format!("{value:.decimals$}").replace('-', "−")
}

fn scaling() -> Vec<f64> {
    let law = [100.0, 0.05, 0.004];
    let (rising, falling) = universal_workers(law, 500.0);
    vec![
        amdahl(0.1, 8.0),
        1.0 / 0.1,
        karp_flatt(4.706, 8.0),
        gustafson(0.1, 8.0),
        universal_peak(law),
        universal(law, universal_peak(law)),
        rising,
        falling,
        kink_workers([100.0, 0.0, 2.0], 150.0),
    ]
}

fn queues() -> Vec<f64> {
    let threads = Demands { total: 1.0, largest: 1.0, think: 9.0 };
    vec![
        1e3 * mm1(80.0, 0.01).response,
        1e3 * md1(80.0, 0.01).response,
        1e3 * many::mmc(80.0, 0.02, 2).unwrap().response,
        1e3 * mm1_response_quantile(80.0, 0.01, 0.99),
        many::erlang_c(2, 1.6).unwrap(),
        1e3 * repairman(20, 9.0, 1.0, 1).throughput,
        1e3 * threads.throughput(20.0).1,
        threads.saturation(),
    ]
}

fn fitted() -> Vec<f64> {
    let rows = include_str!("../data/raytracer.csv").lines().skip(1).take(6);
    let point = |line: &str| {
        let (n, x) = line.split_once(',').unwrap();
        Point::new(n.parse().unwrap(), x.trim().parse().unwrap())
    };
    let points: Vec<Point> = rows.map(point).collect();
    let fit = laws::fit::fit(Law::Usl, &points, Region::Free).unwrap();
    let alpha = fit.parameter(Coefficient::Alpha).unwrap();
    let beta = fit.parameter(Coefficient::Beta).unwrap();
    let peak = universal_peak([1.0, alpha.value, beta.value]);
    vec![alpha.value, alpha.low, alpha.high, peak]
}

/// The speedup stack of 4 workers who need 5 s for 10 s of work.
fn stacked() -> Vec<f64> {
    let (n, alone, together) = (4.0, 10.0, 5.0);
    let (blocked, waiting) = (6.0 / together, 3.0 / together);
    let speedup = alone / together;
    let loss = n - speedup;
    let percent = |part: f64| 100.0 * part / loss;
    vec![speedup, blocked, percent(blocked), percent(loss - blocked - waiting)]
}

#[test]
fn the_answers_of_the_page_are_computed() {
    let computed: Vec<f64> = [scaling(), queues(), fitted(), stacked()].concat();
    let shown = answers();
    assert_eq!(shown.len(), computed.len());
    let wrong: Vec<String> = shown
        .iter()
        .zip(computed)
        .filter(|((_, shown), value)| as_shown(*value, shown) != *shown)
        .map(|((question, shown), value)| format!("{question}: {shown} is {value}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_inverse_of_a_simpler_law_is_as_wrong_as_the_page_says() {
    let without = amdahl_workers(0.05, 5.0);
    assert!(PAGE.contains(&format!("would be {without:.3}.")), "{without}");
}
