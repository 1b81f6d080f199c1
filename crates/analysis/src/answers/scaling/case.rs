//! What a session of `scale` measured, as its causes are looked for.

use super::level::Level;
use super::trials::ScaleTrial;
use model::{Estimate, ScaleCurve, ScaleLevel};

/// All that is known.
pub(super) struct Case<'a> {
    pub(super) levels: &'a [Level<'a>],
    pub(super) described: &'a [ScaleLevel],
    pub(super) cpus: Option<u32>,
    /// Trials of several copies at once.
    pub(super) copies: Vec<&'a ScaleTrial>,
    /// Trials of workers that all ran on one CPU.
    pub(super) placed: Vec<&'a ScaleTrial>,
    pub(super) curve: &'a ScaleCurve,
}

/// A level as measured and as shown.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) level: &'a Level<'a>,
    pub(super) described: &'a ScaleLevel,
}

impl<'a> Case<'a> {
    fn at(&self, place: usize) -> At<'a> {
        At { level: &self.levels[place], described: &self.described[place] }
    }

    /// Returns one worker.
    pub(super) fn one(&self) -> Option<At<'a>> {
        let place = self.levels.iter().position(|level| level.n == 1.0)?;
        Some(self.at(place))
    }

    /// Returns the most workers that all have a CPU.
    pub(super) fn within(&self) -> Option<At<'a>> {
        let cpus = f64::from(self.cpus?);
        let place = self.levels.iter().rposition(|level| level.n > 1.0 && level.n <= cpus)?;
        Some(self.at(place))
    }

    /// Returns the most workers of all, if they are more than the CPUs.
    pub(super) fn most(&self) -> Option<At<'a>> {
        let cpus = f64::from(self.cpus?);
        let place = self.levels.iter().rposition(|level| level.n > cpus.max(1.0))?;
        Some(self.at(place))
    }
}

/// Returns what n workers lack of n times one worker, as a share of it.
pub(super) fn lost(described: &ScaleLevel) -> Option<Estimate> {
    let speedup = described.speedup?;
    let of = |speedup: f64| 1.0 - speedup / described.n;
    let (low, high) = (of(speedup.high), of(speedup.low));
    Some(Estimate { point: of(speedup.point), low, high, ..speedup })
}

/// Returns the most workers measured, and what they lack.
pub(super) fn last(case: &Case<'_>) -> (f64, Option<Estimate>) {
    let n = case.levels.last().map_or(1.0, |level| level.n);
    (n, case.described.last().and_then(lost))
}
