use crate::{Cell, Region};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the interval of a ratio lies: against 1, and against a region around 1 in which two sides are
/// alike for practical purposes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Likeness {
    /// Where it lies.
    pub lies: Lies,
    /// The region that it was compared with.
    pub alike: Region,
}

/// Where an interval lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lies {
    /// Above the region.
    Above,
    /// Below the region.
    Below,
    /// Above 1, and on both sides of the region's upper end: more, but by how much is open.
    Upwards,
    /// Below 1, and on both sides of the region's lower end: less, but by how much is open.
    Downwards,
    /// In the region and on one side of 1: a difference, if a small one.
    Slight,
    /// In the region, with 1 in it.
    Alike,
    /// With 1 in it, and beyond an end of the region.
    Open,
}

impl Likeness {
    /// Compares an interval with a region that contains 1.
    pub fn of(low: f64, high: f64, alike: Region) -> Self {
        let beyond = |x: f64| !alike.contains(x);
        let lies = match (low > 1.0, high < 1.0) {
            (true, _) if beyond(low) => Lies::Above,
            (true, _) if beyond(high) => Lies::Upwards,
            (_, true) if beyond(high) => Lies::Below,
            (_, true) if beyond(low) => Lies::Downwards,
            (false, false) if beyond(low) || beyond(high) => Lies::Open,
            (false, false) => Lies::Alike,
            _ => Lies::Slight,
        };
        Likeness { lies, alike }
    }

    /// Returns the same of 1 divided by the ratio.
    #[must_use]
    pub fn turned(self) -> Self {
        let lies = match self.lies {
            Lies::Above => Lies::Below,
            Lies::Below => Lies::Above,
            Lies::Upwards => Lies::Downwards,
            Lies::Downwards => Lies::Upwards,
            same => same,
        };
        let turn = |end: Option<f64>| end.map(|end| 1.0 / end);
        Likeness { lies, alike: Region { low: turn(self.alike.high), high: turn(self.alike.low) } }
    }
}

/// Trials that a treatment lost and the others of its comparison did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lost {
    /// The treatment.
    pub at: Cell,
    /// Its trials that failed, died, ran out of memory or timed out.
    pub trials: u32,
    /// Of these, those that timed out.
    pub timed_out: u32,
    /// Its trials in all.
    pub of: u32,
    /// Lost trials of the treatment that lost the smallest share.
    pub other_trials: u32,
    /// That treatment's trials in all.
    pub other_of: u32,
}

/// How small the differences are that the ratios of a session's findings and claims can show, as shares
/// and with 80 % power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Visible {
    /// Ratios with a floor.
    pub ratios: u32,
    /// The median of their floors.
    pub median: f64,
    /// The median of the floors of the claims' verdicts; null where no claim has one.
    pub of_verdicts: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_follows_the_ends() {
        let cases = [
            (1.06, 1.20, Lies::Above),
            (0.80, 0.90, Lies::Below),
            (1.031, 1.051, Lies::Upwards),
            (0.94, 0.97, Lies::Downwards),
            (1.01, 1.04, Lies::Slight),
            (0.96, 0.99, Lies::Slight),
            (0.98, 1.02, Lies::Alike),
            (1.00, 1.02, Lies::Alike),
            (0.90, 1.01, Lies::Open),
            (0.90, 1.10, Lies::Open),
        ];
        for (low, high, lies) in cases {
            let found = Likeness::of(low, high, Region::about(1.0, 0.05));
            assert_eq!(found.lies, lies, "{low} {high}");
            let turned = Likeness::of(1.0 / high, 1.0 / low, Region::about(1.0, 0.05));
            assert_eq!(found.turned().lies, turned.lies, "{low} {high}");
        }
    }
}
