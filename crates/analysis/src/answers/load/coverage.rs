//! How often intervals of loads hold the truth.

use super::queues::{Source, slices, three_digits};
use analysis::{TimeSlice, load_intervals};
use model::{Estimate, LoadIntervals};

/// The percentiles whose intervals are counted.
pub(crate) const PERCENTS: [f64; 3] = [50.0, 95.0, 99.0];

/// Of how many loads the interval is known, in how many of them it lies below the truth and above it,
/// and the sum of its half widths relative to the truth.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Coverage {
    pub(crate) known: u32,
    pub(crate) below: u32,
    pub(crate) above: u32,
    pub(crate) widths: f64,
}

impl Coverage {
    fn add(&mut self, found: Option<Estimate>, truth: f64) {
        let Some(found) = found else { return };
        self.known += 1;
        self.below += u32::from(found.high < truth);
        self.above += u32::from(found.low > truth);
        self.widths += (found.high - found.low) / 2.0 / truth;
    }
}

/// Returns the coverage of the mean and of [`PERCENTS`] over `loads` loads of some seconds.
pub(crate) fn coverage(source: Source, seconds: f64, loads: u64) -> [Coverage; 4] {
    let mut found = [Coverage::default(); 4];
    for seed in 0..loads {
        let intervals = intervals(source, seconds, seed);
        found[0].add(intervals.mean_ns, source.mean_ns());
        for (percentile, found) in intervals.percentiles.iter().zip(&mut found[1..]) {
            let truth = three_digits(source.percentile_ns(percentile.percent));
            found.add(percentile.ns, truth as f64);
        }
    }
    found
}

/// Returns the intervals of one load, cut as the generator cuts it.
fn intervals(source: Source, seconds: f64, seed: u64) -> LoadIntervals {
    let lengths = [0.05, 0.1, 0.2, 0.5, 1.0];
    let length =
        lengths.into_iter().find(|length| seconds / length <= 100.0).unwrap_or(seconds / 100.0);
    let number = (seconds / length).round() as usize;
    let times = slices(&source.requests(seconds, seed), seconds, number);
    let slices: Vec<TimeSlice<'_>> = times
        .iter()
        .map(|known| TimeSlice {
            seconds: length,
            known,
            censored: &[],
            succeeded: known.iter().map(|(_, count)| count).sum(),
            late: 0,
            failed: 0,
        })
        .collect();
    load_intervals(&slices, &PERCENTS)
}
