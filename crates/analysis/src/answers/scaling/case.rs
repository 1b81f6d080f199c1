//! What the search for causes starts from.

use super::level::Level;
use super::trials::ScaleTrial;
use model::{Estimate, ScaleCurve, ScaleLevel};

/// A loss below this share of the workers' time is not looked into: an account of looks some
/// milliseconds apart, beside neighbours that nobody sees, is not finer.
pub(super) const NOTABLE: f64 = 0.05;

/// All that is known.
pub(super) struct Case<'a> {
    pub(super) levels: &'a [Level<'a>],
    pub(super) described: &'a [ScaleLevel],
    pub(super) cpus: Option<u32>,
    /// Trials of several copies at once.
    pub(super) copies: Vec<&'a ScaleTrial>,
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
