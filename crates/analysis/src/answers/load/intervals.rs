//! 95 % intervals of one load's numbers.
//!
//! Requests next to each other wait in the same queue, so that their times depend on each other and an
//! interval for independent ones is too narrow. Here the time is cut into batches, and numbers scatter as
//! their batches do (batch means; Schmeiser, *Batch size effects in the analysis of simulation output*,
//! Operations Research 30, 1982). Batches that still depend on their neighbours count as fewer
//! (Bayley and Hammersley, *The "effective" number of independent observations in an autocorrelated
//! time series*, JRSS Supplement 8, 1946). If the slices of the time hardly depend on their neighbours,
//! they are the batches. The interval of a mean follows the skewness of its batches (Willink, *A
//! confidence interval and test for the mean of an asymmetric distribution*, Communications in
//! Statistics 34, 2005).
//!
//! A short load has a wide interval. Showing none if times seem to depend on each other would leave the
//! loads that seem calm by chance, whose intervals hold the truth less often.
//!
//! *Percentiles.* The share of requests that took longer than the percentile found scatters from batch
//! to batch; that gives the number of independent requests of the same variance (the design effect of
//! Kish, *Survey Sampling*, 1965, with the degrees of freedom as by Korn and Graubard, Survey
//! Methodology 24, 1998). Of that number, as of a binomial distribution, a share lies above the true
//! percentile; its 2.5 and 97.5 % quantiles are read off the distribution of all times. The fewer
//! independent requests took longer than a high percentile, the more the dependence of those above the
//! 90th counts, at most half.
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

/// With fewer batches there is no interval, nor with fewer that are independent.
const BATCHES_LEAST: usize = 10;
const EFFECTIVE_LEAST: f64 = 2.0;

/// Slices need no batches if they are worth at least this share of their number (a correlation of 0.11).
const INDEPENDENT: f64 = 0.8;

/// No batches count as fewer than by this correlation.
const CORRELATION_MAX: f64 = 0.95;

/// The highest percentile whose requests above it show how they gather, as a share.
const GATHER: f64 = 0.9;

/// The fewest independent requests on either side of a percentile.
const BEYOND_LEAST: f64 = 10.0;

/// The effect of dependence is taken for no less than this: it is an estimate.
const EFFECT_LEAST: f64 = 0.5;

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

/// Returns the requests of a slice that ended without success, and all that ended.
pub(super) fn failures(slice: &TimeSlice<'_>) -> (f64, f64) {
    (slice.failed as f64, (slice.failed + slice.succeeded + slice.late) as f64)
}

/// Returns the intervals of a load's numbers from its slices, which follow each other. `percents` are
/// those of the response time.
pub fn load_intervals(slices: &[TimeSlice<'_>], percents: &[f64]) -> LoadIntervals {
    let known: Vec<(u64, u64)> = slices.iter().flat_map(|it| it.known).copied().collect();
    let censored: Vec<(u64, u64)> = slices.iter().flat_map(|it| it.censored).copied().collect();
    let answered = answered_within(&known, &censored);
    let percentile = |percent: &f64| LoadInterval {
        percent: *percent,
        ns: percentile(slices, &answered, *percent / 100.0),
    };
    let mean = |slice: &TimeSlice<'_>| (sum(slice.known), count(slice.known));
    let rate = |slice: &TimeSlice<'_>| (slice.succeeded as f64, slice.seconds);
    LoadIntervals {
        succeeded: Vec::new(),
        mean_ns: ratio(slices, mean).filter(|_| censored.is_empty()),
        percentiles: percents.iter().map(percentile).collect(),
        throughput_per_s: ratio(slices, rate),
        errors: errors(slices),
    }
}

pub(super) fn plus(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0 + other.0, one.1 + other.1)
}

pub(super) fn count(times: &[(u64, u64)]) -> f64 {
    times.iter().map(|(_, count)| *count as f64).sum()
}

fn sum(times: &[(u64, u64)]) -> f64 {
    times.iter().map(|(ns, count)| *ns as f64 * *count as f64).sum()
}

/// How a ratio of two sums over slices scatters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scatter {
    ratio: f64,
    standard_error: f64,
    /// Independent batches that the batches are worth.
    effective: f64,
    skewness: f64,
}

impl Scatter {
    /// Returns that of the sums of parts of each slice; `None` where slices are too few or too alike.
    pub(super) fn of(
        slices: &[TimeSlice<'_>],
        part: impl Fn(&TimeSlice<'_>) -> (f64, f64),
    ) -> Option<Self> {
        let batches = slices.len().min(BATCHES);
        if batches < BATCHES_LEAST {
            return None;
        }
        let parts: Vec<(f64, f64)> = slices.iter().map(part).collect();
        let edge = |batch: usize| batch * slices.len() / batches;
        let batch = |batch| &parts[edge(batch)..edge(batch + 1)];
        let batch = |index| batch(index).iter().copied().fold((0.0, 0.0), plus);
        let fine = Scatter::between(&parts)?;
        if fine.effective >= INDEPENDENT * parts.len() as f64 {
            return Some(fine);
        }
        let scatter = Scatter::between(&(0..batches).map(batch).collect::<Vec<_>>())?;
        (scatter.effective >= EFFECTIVE_LEAST).then_some(scatter)
    }

    fn between(batches: &[(f64, f64)]) -> Option<Self> {
        let (above, below) = batches.iter().copied().fold((0.0, 0.0), plus);
        if below <= 0.0 {
            return None;
        }
        let n = batches.len() as f64;
        let ratio = above / below;
        let rests: Vec<f64> = batches.iter().map(|(above, below)| above - ratio * below).collect();
        let power = |power| rests.iter().map(|rest| rest.powi(power)).sum::<f64>();
        let squares = power(2);
        if squares <= 1e-24 * above * above {
            return Some(Scatter { ratio, standard_error: 0.0, effective: n, skewness: 0.0 });
        }
        let products: f64 = rests.windows(2).map(|pair| pair[0] * pair[1]).sum();
        // It is found too low by about (1 + 4r)/n (Marriott and Pope, *Bias in the estimation of
        // autocorrelations*, Biometrika 41, 1954).
        let r = ((products / squares + 1.0 / n) / (1.0 - 4.0 / n)).clamp(0.0, CORRELATION_MAX);
        let effective = n * (1.0 - r) / (1.0 + r);
        let standard_error = (squares * n / (n - 1.0) * n / effective).sqrt() / below;
        let skewness = power(3) / n / (squares / n).powf(1.5);
        Some(Scatter { ratio, standard_error, effective, skewness })
    }

    fn student(&self) -> f64 {
        student_quantile(self.effective - 1.0, 1.0 - LEVEL)
    }

    /// Returns the number of independent draws among `all` that have the same variance, for Student's t
    /// in the place of the normal distribution.
    pub(super) fn draws(&self, all: f64) -> f64 {
        let binomial = self.ratio * (1.0 - self.ratio) / all;
        let effect = (self.standard_error.powi(2) / binomial).max(EFFECT_LEAST);
        all / effect * (NORMAL_975 / self.student()).powi(2)
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

/// Returns the ratio of the sums of parts of each slice.
fn ratio(
    slices: &[TimeSlice<'_>],
    part: impl Fn(&TimeSlice<'_>) -> (f64, f64),
) -> Option<Estimate> {
    let scatter = Scatter::of(slices, part)?;
    let bend = scatter.skewness / 6.0 / scatter.effective.sqrt();
    let bent = |t: f64| match bend.abs() < 1e-9 {
        true => t,
        false => ((1.0 + 6.0 * bend * (t - bend)).cbrt() - 1.0) / (2.0 * bend),
    };
    let t = scatter.student();
    let end = |t| scatter.ratio - bent(t) * scatter.standard_error;
    Some(scatter.estimate(end(t).max(0.0), end(-t)))
}

/// Returns the share of requests that ended without success.
fn errors(slices: &[TimeSlice<'_>]) -> Option<Estimate> {
    let scatter = Scatter::of(slices, failures)?;
    let (events, all) = slices.iter().map(failures).fold((0.0, 0.0), plus);
    let outside = (1.0 - LEVEL) / 2.0;
    // None, or all, vary in no slice: nothing shows how such requests would gather.
    let is_same = events == 0.0 || events == all;
    let draws = if is_same { all } else { scatter.draws(all) };
    let found = scatter.ratio * draws;
    let low = bisect(0.0, scatter.ratio, |p| binomial_at_least(found, draws, p) < outside);
    let high = bisect(scatter.ratio, 1.0, |p| binomial_at_most(found, draws, p) > outside);
    let low = if events == 0.0 { 0.0 } else { low };
    let high = if events == all { 1.0 } else { high };
    Some(scatter.estimate(low, high))
}

/// Returns a percentile, `share` being that of the requests which it does not fall short of; from the
/// shares of all that were answered within a time.
fn percentile(slices: &[TimeSlice<'_>], answered: &[(u64, f64)], share: f64) -> Option<Estimate> {
    let within = |wanted: f64| {
        let index = answered.partition_point(|(_, within)| *within * (1.0 + 1e-12) < wanted);
        answered.get(index).map(|(ns, _)| *ns)
    };
    let above = |times: &[(u64, u64)], limit| {
        count(&times[times.partition_point(|(ns, _)| *ns <= limit)..])
    };
    let longer = |limit: u64| {
        Scatter::of(slices, |slice| {
            let all = count(slice.known) + count(slice.censored);
            (above(slice.known, limit) + above(slice.censored, limit), all)
        })
    };
    let found = within(share)?;
    let scatter = longer(found)?;
    let exactly = |ns: u64| Estimate { point: ns as f64, ..scatter.estimate(ns as f64, ns as f64) };
    if answered.len() == 1 {
        return Some(exactly(found));
    }
    let all: f64 = slices.iter().map(|slice| count(slice.known) + count(slice.censored)).sum();
    let beyond = 1.0 - share;
    let own = scatter.draws(all);
    let other = longer(within(share.min(GATHER))?)?.draws(all);
    let weight = (BEYOND_LEAST / (beyond * own)).min(0.5);
    let draws = 1.0 / (weight / other + (1.0 - weight) / own);
    if beyond.min(share) * draws < BEYOND_LEAST {
        return None;
    }
    let outside = (1.0 - LEVEL) / 2.0;
    // Half of the probability of the number itself lies on either side.
    let at_most = |number: f64| binomial_at_most(number - 0.5, draws, beyond);
    let fewest = bisect(0.5, beyond * draws, |number| at_most(number) < outside);
    let most = bisect(beyond * draws, draws, |number| at_most(number) < 1.0 - outside);
    let [low, high] = [most, fewest].map(|number| within(1.0 - number / draws));
    Some(Estimate { low: low? as f64, high: high? as f64, ..exactly(found) })
}

#[cfg(test)]
#[path = "intervals_tests.rs"]
mod tests;
