//! Every answer in docs/laws.md is what the formulas give.

use crate::oracle::{Demands, md1, mm1, mm1_response_quantile, repairman};
use laws::fit::{Coefficient, Law, Peak, Point, Region};
use laws::queue::many;
use laws::usl::{Branch, Usl};
use laws::{amdahl, gustafson, kink::Kink, stack};

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
    let curve = Usl::new(100.0, 0.05, 0.004).unwrap();
    let laws::usl::Peak::At(peak) = curve.peak() else { panic!() };
    vec![
        amdahl::speedup(0.1, 8.0).unwrap(),
        amdahl::bound(0.1).unwrap().unwrap(),
        amdahl::serial_fraction(4.706, 8.0).unwrap(),
        gustafson::scaled_speedup(0.1, 8.0).unwrap(),
        peak,
        curve.throughput(peak).unwrap(),
        curve.workers_for_throughput(500.0, Branch::Rising).unwrap(),
        curve.workers_for_throughput(500.0, Branch::Falling).unwrap(),
        Kink::new(100.0, 0.0, 2.0).unwrap().workers_for_throughput(150.0).unwrap(),
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
    let Peak::Within { n, .. } = fit.peak() else { panic!() };
    vec![alpha.value, alpha.low, alpha.high, n]
}

fn stacked() -> Vec<f64> {
    let stack = stack::from_times(4.0, 10.0, 5.0, [((), 6.0), ((), 3.0)]).unwrap();
    let blocked = stack.parts[0];
    vec![
        stack.speedup,
        blocked.lost,
        blocked.percent_of_loss.unwrap(),
        stack.residual.percent_of_loss.unwrap(),
    ]
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
    let without = amdahl::workers_for(0.05, 5.0).unwrap();
    assert!(PAGE.contains(&format!("would be {without:.3}.")), "{without}");
}
