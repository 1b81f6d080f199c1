//! Do two numbers agree within a tenth?

use std::collections::BTreeMap;

/// How far two numbers may be apart.
const TENTH: f64 = 1.10;

/// A ratio with its 95 % interval over rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) point: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The rounds behind it.
    pub(crate) rounds: usize,
}

/// What the interval says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// It lies within a tenth of 1, either way.
    Within,
    /// It lies outside.
    Beyond,
    /// Neither: more rounds would tell.
    Open,
}

impl Ratio {
    /// Ours to theirs, paired by round; rounds in which one of them has no number above 0 are left
    /// out, since they have no ratio.
    pub(crate) fn of(ours: &BTreeMap<u32, f64>, theirs: &BTreeMap<u32, f64>) -> Option<Self> {
        let logs: Vec<f64> = ours
            .iter()
            .filter_map(|(round, ours)| Some((ours, theirs.get(round)?)))
            .filter(|(ours, theirs)| **ours > 0.0 && **theirs > 0.0)
            .map(|(ours, theirs)| (ours / theirs).ln())
            .collect();
        let located = analysis::interval::centre(&logs)?;
        let [point, low, high] = [located.point, located.low, located.high].map(f64::exp);
        Some(Ratio { point, low, high, rounds: logs.len() })
    }

    pub(crate) fn agreement(&self) -> Agreement {
        let (low, high) = (1.0 / TENTH, TENTH);
        if self.low >= low && self.high <= high {
            Agreement::Within
        } else if self.high < low || self.low > high {
            Agreement::Beyond
        } else {
            Agreement::Open
        }
    }
}
