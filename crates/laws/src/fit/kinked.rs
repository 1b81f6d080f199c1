//! The laws with a kink: between two neighbouring n they are smooth, so each such segment is
//! searched by itself and the best wins (Hudson 1966).

use super::smooth::{Problem, minimise};
use super::solve::{Bounds, Minimum};
use super::{LEVEL, Law, Point, Region, Values};
use crate::tail::student_quantile;

/// Places per segment at which a kink's profile is looked at.
const PLACES: u32 = 16;

/// The region of a kink's coefficients, and where the kink itself may lie.
pub(super) fn region(problem: &Problem, region: Region) -> Bounds {
    bounds(problem, region, range(problem))
}

/// Where c stands among the coefficients.
fn place(law: Law) -> usize {
    law.coefficients().len() - 1
}

/// The segments between neighbouring n in which a kink may lie: enough n below it to tell the
/// rising part, two beyond it to see that the rest is flat.
fn segments(problem: &Problem) -> impl Iterator<Item = (f64, f64)> {
    let below = if problem.law == Law::Kink { 1 } else { 3 };
    let pairs = problem.levels.len() - 1;
    problem.levels.windows(2).take(pairs - 1).skip(below - 1).map(|pair| (pair[0], pair[1]))
}

/// From where to where a kink may lie.
fn range(problem: &Problem) -> (f64, f64) {
    let all: Vec<(f64, f64)> = segments(problem).collect();
    all.first().zip(all.last()).map_or((1.0, 1.0), |(first, last)| (first.0, last.1))
}

/// The region, with c between two ends.
fn bounds(problem: &Problem, region: Region, (low, high): (f64, f64)) -> Bounds {
    let mut bounds = problem.bounds(region);
    let cores = place(problem.law);
    (bounds.low[cores], bounds.high[cores]) = (low, high);
    if problem.law == Law::ContendedKink && region == Region::Physical {
        bounds.high[1] = 1.0;
    }
    bounds
}

/// The best minimum of all segments.
pub(super) fn solve(problem: &Problem, region: Region) -> Option<Minimum> {
    let per_worker =
        problem.points.iter().map(|point| point.throughput / point.n).fold(0.0, f64::max);
    let mut best: Option<Minimum> = None;
    for (low, high) in segments(problem) {
        // A hair below the end, where the last point of the segment is still past the kink: its
        // slope by c vanishes on the end itself, and a search that stepped there could not return.
        let bounds = bounds(problem, region, (low, (high * (1.0 - 1e-13)).max(low)));
        let middle = f64::midpoint(low, high);
        let starts: &[Values] = match problem.law {
            Law::Kink => &[[per_worker, middle, 0.0]],
            _ => &[0.02, 0.4].map(|alpha| [per_worker, alpha, middle]),
        };
        let found = starts.iter().filter_map(|start| minimise(problem, start, &bounds));
        best = best.into_iter().chain(found).min_by(|a, b| a.squares.total_cmp(&b.squares));
    }
    best
}

/// The least sum of squares with the kink held at c.
fn profile(problem: &Problem, best: &Minimum, cores: f64) -> f64 {
    let bent = problem.bent(cores);
    if problem.law == Law::Kink {
        let (mut products, mut squares) = (0.0, 0.0);
        for point in &bent.points {
            products += point.weight * point.n * point.throughput;
            squares += point.weight * point.n * point.n;
        }
        let gamma = products / squares;
        let square = |p: &Point| p.weight * (p.throughput - gamma * p.n).powi(2);
        return bent.points.iter().map(square).sum();
    }
    let start = [best.values[0], best.values[1], 0.0];
    let found = bent.solve_from(&start, Region::Physical);
    found.map_or(f64::INFINITY, |minimum| minimum.squares)
}

/// The c that a test at 95 % does not refute: those whose sum of squares exceeds the least one by
/// no more than t² residual variances (Bates and Watts 1988, 6.1). The slope of the sum changes at
/// each n, so that a standard error would hold between two n only, and the number of CPUs, where
/// kinks are, is apt to be one of them.
pub(super) fn profile_interval(problem: &Problem, best: &Minimum, freedom: usize) -> (f64, f64) {
    let cores = best.values[place(problem.law)];
    let t = student_quantile(freedom as f64, 1.0 - LEVEL);
    let least = best.squares.max(problem.negligible());
    let limit = least * (1.0 + t * t / freedom as f64);
    let inside = |cores: f64| profile(problem, best, cores) <= limit;
    let (first, last) = (range(problem).0, problem.levels[problem.levels.len() - 1]);
    let mut places: Vec<f64> = Vec::new();
    for pair in problem.levels.windows(2).filter(|pair| pair[0] >= first) {
        let step = (pair[1] - pair[0]) / f64::from(PLACES);
        places.extend((0..PLACES).map(|i| pair[0] + step * f64::from(i)));
    }
    places.push(last);
    let end = |beyond: &mut dyn Iterator<Item = f64>| {
        let mut held = cores;
        for place in beyond {
            if !inside(place) {
                // Towards lower n, too: bisection asks only which side holds.
                return bisect_any(held, place, inside);
            }
            held = place;
        }
        held
    };
    let low = end(&mut places.iter().rev().copied().filter(|&place| place < cores));
    let high = end(&mut places.iter().copied().filter(|&place| place > cores));
    (low, high)
}

/// Where a condition that is true at one place and false at another turns, to 1e-9 of it.
fn bisect_any(mut holds: f64, mut fails: f64, condition: impl Fn(f64) -> bool) -> f64 {
    while (fails - holds).abs() > 1e-9 * holds.abs() {
        let middle = f64::midpoint(holds, fails);
        if condition(middle) { holds = middle } else { fails = middle }
    }
    holds
}
