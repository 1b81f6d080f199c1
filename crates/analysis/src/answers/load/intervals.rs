//! 95 % intervals of one load's numbers.
//!
//! Requests next to each other wait in the same queue, so that their times depend on each other and an
//! interval for independent ones is too narrow. Here the time is cut into batches, and numbers scatter as
//! their batches do (batch means; Schmeiser, *Batch size effects in the analysis of simulation output*,
//! Operations Research 30, 1982). Batches that still depend on their neighbours count as fewer
//! (Bayley and Hammersley, *The "effective" number of independent observations in an autocorrelated
//! time series*, JRSS Supplement 8, 1946), and where too few are left there is no interval.
//!
//! *Percentiles.* The share of requests that took longer than the percentile found scatters from batch
//! to batch; that gives the number of independent requests of the same variance (the design effect of
//! Kish, *Survey Sampling*, 1965, with the degrees of freedom as by Korn and Graubard, Survey
//! Methodology 24, 1998). Of that number, as of a binomial distribution, a share lies above the true
//! percentile; its 2.5 and 97.5 % quantiles are read off the distribution of all times.
//!
//! Lancet (Kogias and others, USENIX ATC 2019) tests whether requests are independent and refuses
//! otherwise, which is whenever there is a queue.

use super::answered_within;
use crate::stats::interval::LEVEL;
use crate::stats::tail::{NORMAL_975, binomial_at_least, binomial_at_most};
use laws::roots::bisect;
use laws::tail::student_quantile;
use model::{Estimate, LoadInterval, LoadIntervals};

/// How many batches the time is cut into.
const BATCHES: usize = 20;

/// With fewer there is no interval, nor with fewer that are independent.
const BATCHES_LEAST: usize = 10;
const EFFECTIVE_LEAST: f64 = 6.0;

/// A slice of the time of a load: the times of the requests that ended in it, as value and count,
/// ascending.
#[derive(Clone, Copy, Debug)]
pub struct TimeSlice<'a> {
    /// How long it is.
    pub seconds: f64,
    /// Response times that are known, in ns.
    pub known: &'a [(u64, u64)],
    /// What had passed of those without an answer, in ns.
    pub censored: &'a [(u64, u64)],
    /// Answers that count for the throughput.
    pub succeeded: u64,
    /// Answers like these that came after the end of the time, in the last slice.
    pub late: u64,
    /// Requests that ended without success.
    pub failed: u64,
}

/// Returns the intervals of a load's numbers from its slices, which follow each other. `percents` are
/// those of the response time.
pub fn load_intervals(slices: &[TimeSlice<'_>], percents: &[f64]) -> LoadIntervals {
    let batches = batches(slices);
    let known: Vec<(u64, u64)> = slices.iter().flat_map(|it| it.known).copied().collect();
    let censored: Vec<(u64, u64)> = slices.iter().flat_map(|it| it.censored).copied().collect();
    let answered = answered_within(&known, &censored);
    let percentile = |percent: &f64| LoadInterval {
        percent: *percent,
        ns: percentile(&batches, &answered, *percent / 100.0),
    };
    let parts = |part: fn(&TimeSlice<'_>) -> (f64, f64)| -> Vec<(f64, f64)> {
        let sums = |batch: &&[TimeSlice<'_>]| batch.iter().map(part).fold((0.0, 0.0), plus);
        batches.iter().map(sums).collect()
    };
    let mean_ns = ratio(&parts(|slice| (sum(slice.known), count(slice.known))));
    LoadIntervals {
        mean_ns: mean_ns.filter(|_| censored.is_empty()),
        percentiles: percents.iter().map(percentile).collect(),
        throughput_per_s: ratio(&parts(|slice| (slice.succeeded as f64, slice.seconds))),
        errors: errors(&parts(|slice| {
            (slice.failed as f64, (slice.failed + slice.succeeded + slice.late) as f64)
        })),
    }
}

fn plus(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0 + other.0, one.1 + other.1)
}

fn count(times: &[(u64, u64)]) -> f64 {
    times.iter().map(|(_, count)| *count as f64).sum()
}

fn sum(times: &[(u64, u64)]) -> f64 {
    times.iter().map(|(ns, count)| *ns as f64 * *count as f64).sum()
}

/// Returns the slices in batches of about the same length; none where there are too few.
fn batches<'s, 'a>(slices: &'s [TimeSlice<'a>]) -> Vec<&'s [TimeSlice<'a>]> {
    let batches = slices.len().min(BATCHES);
    if batches < BATCHES_LEAST {
        return Vec::new();
    }
    let edge = |batch: usize| batch * slices.len() / batches;
    (0..batches).map(|batch| &slices[edge(batch)..edge(batch + 1)]).collect()
}

/// How a ratio of two sums scatters.
struct Scatter {
    ratio: f64,
    standard_error: f64,
    /// Independent batches that the batches are worth.
    effective: f64,
}

impl Scatter {
    /// Returns that of the ratio of the sums of all batches; `None` where they are too few or too alike.
    fn of(batches: &[(f64, f64)]) -> Option<Self> {
        let (above, below) = batches.iter().copied().fold((0.0, 0.0), plus);
        if batches.len() < BATCHES_LEAST || below <= 0.0 {
            return None;
        }
        let n = batches.len() as f64;
        let ratio = above / below;
        let rests: Vec<f64> = batches.iter().map(|(above, below)| above - ratio * below).collect();
        let squares: f64 = rests.iter().map(|rest| rest * rest).sum();
        let products: f64 = rests.windows(2).map(|pair| pair[0] * pair[1]).sum();
        // The correlation of neighbours is found too low by about 1/n.
        let r = if squares > 0.0 { (products / squares + 1.0 / n).max(0.0) } else { 0.0 };
        let effective = n * (1.0 - r) / (1.0 + r);
        if effective < EFFECTIVE_LEAST {
            return None;
        }
        let standard_error = (squares * n / (n - 1.0) * n / effective).sqrt() / below;
        Some(Scatter { ratio, standard_error, effective })
    }

    fn student(&self) -> f64 {
        student_quantile(self.effective - 1.0, 1.0 - LEVEL)
    }

    fn estimate(&self, low: f64, high: f64) -> Estimate {
        Estimate {
            point: self.ratio,
            low,
            high,
            standard_error: Some(self.standard_error),
            level: LEVEL,
            samples: self.effective.round() as u32,
        }
    }
}

/// Returns the ratio of the sums of all batches.
fn ratio(batches: &[(f64, f64)]) -> Option<Estimate> {
    let scatter = Scatter::of(batches)?;
    let half = scatter.student() * scatter.standard_error;
    Some(scatter.estimate((scatter.ratio - half).max(0.0), scatter.ratio + half))
}

/// Returns the number of independent draws among `all` that have the same variance, for Student's t
/// in the place of the normal distribution.
fn draws(scatter: &Scatter, all: f64) -> f64 {
    let binomial = scatter.ratio * (1.0 - scatter.ratio) / all;
    let effect = (scatter.standard_error.powi(2) / binomial).max(1.0);
    all / effect * (NORMAL_975 / scatter.student()).powi(2)
}

/// Returns the share of requests that ended without success.
fn errors(batches: &[(f64, f64)]) -> Option<Estimate> {
    let (events, all) = batches.iter().copied().fold((0.0, 0.0), plus);
    if all <= 0.0 {
        return None;
    }
    let outside = (1.0 - LEVEL) / 2.0;
    // None, or all, vary in no batch: nothing shows how such requests would gather.
    let is_same = events == 0.0 || events == all;
    let scatter = if is_same {
        Scatter { ratio: events / all, standard_error: 0.0, effective: batches.len() as f64 }
    } else {
        Scatter::of(batches)?
    };
    let draws = if is_same { all } else { draws(&scatter, all) };
    let found = scatter.ratio * draws;
    let low = bisect(0.0, scatter.ratio, |p| binomial_at_least(found, draws, p) < outside);
    let high = bisect(scatter.ratio, 1.0, |p| binomial_at_most(found, draws, p) > outside);
    let low = if events == 0.0 { 0.0 } else { low };
    let high = if events == all { 1.0 } else { high };
    Some(scatter.estimate(low, high))
}

/// Returns a percentile, `share` being that of the requests which it does not fall short of; from the
/// shares of all that were answered within a time.
fn percentile(
    batches: &[&[TimeSlice<'_>]],
    answered: &[(u64, f64)],
    share: f64,
) -> Option<Estimate> {
    let within = |wanted: f64| {
        let index = answered.partition_point(|(_, within)| *within * (1.0 + 1e-12) < wanted);
        answered.get(index).map(|(ns, _)| *ns)
    };
    let found = within(share)?;
    let longer = |batch: &&[TimeSlice<'_>]| {
        let beyond = |times: &[(u64, u64)]| -> f64 {
            times[times.partition_point(|(ns, _)| *ns <= found)..]
                .iter()
                .map(|(_, count)| *count as f64)
                .sum()
        };
        let of = |it: &TimeSlice<'_>| {
            (beyond(it.known) + beyond(it.censored), count(it.known) + count(it.censored))
        };
        batch.iter().map(of).fold((0.0, 0.0), plus)
    };
    let shares: Vec<(f64, f64)> = batches.iter().map(longer).collect();
    let scatter = Scatter::of(&shares)?;
    let all: f64 = shares.iter().map(|(_, all)| all).sum();
    let beyond = 1.0 - share;
    let draws = draws(&scatter, all);
    let outside = (1.0 - LEVEL) / 2.0;
    // Half of the probability of the number itself lies on either side.
    let at_most = |number: f64| binomial_at_most(number - 0.5, draws, beyond);
    if at_most(0.5) > outside || at_most(draws - 0.5) < 1.0 - outside {
        return None;
    }
    let fewest = bisect(0.5, beyond * draws, |number| at_most(number) < outside);
    let most = bisect(beyond * draws, draws, |number| at_most(number) < 1.0 - outside);
    let low = within(1.0 - most / draws)?;
    let high = within(1.0 - fewest / draws)?;
    Some(Estimate { point: found as f64, ..scatter.estimate(low as f64, high as f64) })
}

#[cfg(test)]
#[path = "intervals_tests.rs"]
mod tests;
