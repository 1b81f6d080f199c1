//! The block × treatment table, complete or not, and its mean squares.

use crate::stats::order::{mean, median_in_place, sorted};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers beyond this many robust standard deviations are pulled in.
const WILD: f64 = 3.5;

/// The median of the absolute values of normal numbers, as a multiple of their standard deviation,
/// and their mean.
const MEDIAN_OF_NORMAL: f64 = 0.674_489_750_196_081_7;
const MEAN_OF_NORMAL: f64 = 0.797_884_560_802_865_4;

/// Sweeps of the fits at most. A complete table needs one.
const SWEEPS: usize = 200;

/// A sweep that moves nothing by more than this share of the spread is the last.
const SETTLED: f64 = 1e-6;

/// One number of the table, after its treatment and its block.
pub(super) type Cell = (usize, u32, f64);

/// A table that can be taken apart.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    /// Each with the place of its treatment and of its block.
    cells: Vec<(usize, usize, f64)>,
    /// The names of those places.
    treatments: Vec<usize>,
    blocks: Vec<u32>,
    /// How many numbers a fit of treatments and blocks determines.
    fitted: usize,
}

/// Variances of logarithms, none below 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Components {
    /// Of a trial about its treatment and block.
    pub(super) residual: f64,
    /// Of blocks.
    pub(super) blocks: f64,
}

impl Cells {
    /// Returns the table; `None` unless there are degrees of freedom for blocks and for what is left.
    /// Treatments with a single number say nothing of scatter and are left out.
    pub(super) fn new(cells: Vec<Cell>) -> Option<Self> {
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        for (treatment, ..) in &cells {
            *numbers.entry(*treatment).or_default() += 1;
        }
        numbers.retain(|_, count| *count >= 2);
        let treatments: Vec<usize> = numbers.into_keys().collect();
        let kept = cells.iter().filter(|cell| treatments.binary_search(&cell.0).is_ok());
        let blocks: BTreeSet<u32> = kept.map(|cell| cell.1).collect();
        let blocks: Vec<u32> = blocks.into_iter().collect();
        let place = |(treatment, block, value): &Cell| {
            let treatment = treatments.binary_search(treatment).ok()?;
            Some((treatment, blocks.binary_search(block).ok()?, *value))
        };
        let cells: Vec<(usize, usize, f64)> = cells.iter().filter_map(place).collect();
        if treatments.len() < 2 || blocks.len() < 2 {
            return None;
        }
        let parts = connected(&cells, treatments.len(), blocks.len());
        let fitted = treatments.len() + blocks.len() - parts;
        (cells.len() > fitted).then_some(Cells { cells, treatments, blocks, fitted })
    }

    /// Returns what medians of treatments and blocks leave of each number (Tukey, *Exploratory Data
    /// Analysis*, 1977), in the order of the cells.
    fn polished(&self) -> Vec<f64> {
        let mut left: Vec<f64> = self.cells.iter().map(|cell| cell.2).collect();
        for _ in 0..4 {
            self.sweep(&mut left, |cell| cell.0, self.treatments.len(), median_in_place);
            self.sweep(&mut left, |cell| cell.1, self.blocks.len(), median_in_place);
        }
        left
    }

    /// Subtracts from each number the centre of its group; the largest centre subtracted.
    fn sweep(
        &self,
        left: &mut [f64],
        group: fn(&(usize, usize, f64)) -> usize,
        groups: usize,
        centre: fn(&mut [f64]) -> Option<f64>,
    ) -> f64 {
        let mut members: Vec<Vec<f64>> = vec![Vec::new(); groups];
        for (cell, value) in self.cells.iter().zip(left.iter()) {
            members[group(cell)].push(*value);
        }
        let centres: Vec<f64> = members.iter_mut().map(|own| centre(own).unwrap_or(0.0)).collect();
        for (cell, value) in self.cells.iter().zip(left) {
            *value -= centres[group(cell)];
        }
        centres.iter().fold(0.0, |most, centre| most.max(centre.abs()))
    }

    /// Returns what medians leave, with the names of treatment and block: for comparing trials.
    pub(super) fn residuals(&self) -> Vec<(usize, u32, f64)> {
        let named = |(cell, residual): (&(usize, usize, f64), f64)| {
            (self.treatments[cell.0], self.blocks[cell.1], residual)
        };
        self.cells.iter().zip(self.polished()).map(named).collect()
    }

    /// Returns the table with its wild numbers pulled in.
    fn tamed(&self) -> Vec<f64> {
        let polished = self.polished();
        let tame = pulled_in(&polished, self.fitted);
        let moved = polished.iter().zip(tame).map(|(from, to)| to - from);
        self.cells.iter().zip(moved).map(|(cell, by)| cell.2 + by).collect()
    }

    /// Returns the residual variance and the variance of blocks: Henderson's third method. With at most one
    /// number in a cell the expectation of the squares that blocks explain beyond treatments is (numbers −
    /// treatments) times the variance of blocks, and the degrees of freedom of blocks times the residual
    /// variance.
    pub(super) fn components(&self) -> Option<Components> {
        let squares = |left: &[f64]| left.iter().map(|value| value * value).sum::<f64>();
        let mut left = self.tamed();
        self.sweep(&mut left, |cell| cell.0, self.treatments.len(), |own| mean(own));
        let about_treatments = squares(&left);
        let spread = (about_treatments / left.len() as f64).sqrt();
        for _ in 0..SWEEPS {
            let blocks = self.sweep(&mut left, |cell| cell.1, self.blocks.len(), |own| mean(own));
            let treatments =
                self.sweep(&mut left, |cell| cell.0, self.treatments.len(), |own| mean(own));
            if blocks.max(treatments) <= SETTLED * spread {
                break;
            }
        }
        let freedom = self.cells.len() - self.fitted;
        let residual = squares(&left) / freedom as f64;
        let explained = (about_treatments - squares(&left)).max(0.0);
        let of_blocks = (self.fitted - self.treatments.len()) as f64;
        let weight = (self.cells.len() - self.treatments.len()) as f64;
        let blocks = ((explained - of_blocks * residual) / weight).max(0.0);
        residual.is_finite().then_some(Components { residual, blocks })
    }
}

/// Returns into how many parts a table falls between which no treatment and no block mediates.
pub(super) fn connected(cells: &[(usize, usize, f64)], treatments: usize, blocks: usize) -> usize {
    let mut part: Vec<usize> = (0..treatments + blocks).collect();
    fn root(part: &mut [usize], mut at: usize) -> usize {
        while part[at] != at {
            part[at] = part[part[at]];
            at = part[at];
        }
        at
    }
    for &(treatment, block, _) in cells {
        let (one, other) = (root(&mut part, treatment), root(&mut part, treatments + block));
        part[one] = other;
    }
    (0..part.len()).filter(|&at| part[at] == at).count()
}

/// Residuals, those beyond 3.5 robust standard deviations pulled in to that.
///
/// The standard deviation comes from the median of the absolute residuals without the `fitted`
/// smallest, since a fit by medians makes many of them 0. Where even so more than half are 0 (a
/// coarse clock, a count) it comes from their mean.
pub(super) fn pulled_in(residuals: &[f64], fitted: usize) -> Vec<f64> {
    let mut sizes = sorted(&residuals.iter().map(|r| r.abs()).collect::<Vec<_>>());
    sizes.drain(..fitted.min(sizes.len().saturating_sub(1)));
    let middle = median_in_place(&mut sizes).unwrap_or(0.0) / MEDIAN_OF_NORMAL;
    let spread = if middle > 0.0 { middle } else { mean(&sizes).unwrap_or(0.0) / MEAN_OF_NORMAL };
    residuals.iter().map(|residual| residual.clamp(-WILD * spread, WILD * spread)).collect()
}
