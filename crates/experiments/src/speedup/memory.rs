//! The workloads that live on memory: the triad of STREAM (McCalpin 1995) and a five-point stencil.
//!
//! Each worker has its part of the arrays to itself, touched first by itself. The numbers are whole
//! and small enough to be exact, so that a sample of them says whether the work was done.

use super::stage::share;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::pages::SharedWords;

/// Numbers of a row of the stencil's grid.
const COLUMNS: usize = 2048;

/// Bytes that the triad must move for each element: it reads two and writes one. The line that is
/// written is usually read first, which STREAM does not count either.
pub(super) const TRIAD_BYTES: u64 = 24;

/// Bytes that the stencil must move for each point: it reads and writes one; its neighbours come
/// from caches.
pub(super) const STENCIL_BYTES: u64 = 16;

const SCALAR: f64 = 3.0;

/// The distance between two numbers that are looked at.
const SAMPLE: usize = 97;

/// One worker's part of the triad's arrays.
#[derive(Debug)]
pub(super) struct Triad {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    passes: u64,
}

impl Triad {
    /// Makes part `index` of `workers` parts of arrays that take `bytes` together.
    pub(super) fn new(bytes: u64, index: usize, workers: usize) -> Self {
        let length = share(bytes / TRIAD_BYTES, index, workers as u64) as usize;
        let b = (0..length).map(|at| at as f64).collect();
        Triad { a: vec![1.0; length], b, c: vec![2.0; length], passes: 0 }
    }

    /// a = b + 3 c, and what was a becomes b's place. Nobody is alone at it: 0 ns.
    pub(super) fn work(&mut self) -> u64 {
        for ((a, b), c) in self.a.iter_mut().zip(&self.b).zip(&self.c) {
            *a = b + SCALAR * c;
        }
        std::mem::swap(&mut self.a, &mut self.b);
        self.passes += 1;
        0
    }

    /// Returns how many of the numbers that were looked at are not what the passes make.
    pub(super) fn wrong(&self) -> u64 {
        let added = self.passes as f64 * SCALAR * 2.0;
        let looked = self.b.iter().enumerate().step_by(SAMPLE);
        looked.filter(|(at, found)| **found != *at as f64 + added).count() as u64
    }

    /// Returns the array that the next pass reads.
    pub(super) fn read(&self) -> &[f64] {
        &self.b
    }

    /// Returns the elements of all parts of arrays of `bytes` bytes.
    pub(super) fn elements(bytes: u64) -> u64 {
        bytes / TRIAD_BYTES
    }
}

/// The rows at which the parts of the grid touch: for every worker its first and its last, twice,
/// so that one who is late reads what the other wrote a sweep before.
#[derive(Debug)]
pub(super) struct Borders {
    words: SharedWords,
}

impl Borders {
    pub(super) fn new(workers: usize) -> Result<Self, sys::Error> {
        Ok(Borders { words: sys::pages::shared(workers * 4 * COLUMNS * size_of::<u64>())? })
    }

    fn row(&self, index: usize, last: bool, sweep: u64) -> &[AtomicU64] {
        let at = (4 * index + 2 * usize::from(last) + (sweep % 2) as usize) * COLUMNS;
        &self.words.words()[at..at + COLUMNS]
    }
}

/// One worker's rows of the grid, with a row more on either side.
///
/// A sweep gives every point the mean of its four neighbours, plus one. It begins with x² − y², of
/// which every point is the mean of its neighbours; so after k sweeps every point is x² − y² + k.
#[derive(Debug)]
pub(super) struct Stencil {
    now: Vec<f64>,
    next: Vec<f64>,
    first_row: usize,
    rows: usize,
    index: usize,
    workers: usize,
    sweeps: u64,
}

fn harmonic(row: usize, column: usize) -> f64 {
    (column * column) as f64 - (row * row) as f64
}

impl Stencil {
    /// Makes part `index` of `workers` parts of a grid whose two copies take `bytes` together.
    pub(super) fn new(bytes: u64, index: usize, workers: usize, borders: &Borders) -> Self {
        let part = |index| share(Self::all_rows(bytes), index, workers as u64) as usize;
        let (first_row, rows) = ((0..index).map(part).sum(), part(index));
        let values = (0..(rows + 2) * COLUMNS).map(|at| {
            // The row before the grid's first one is row 0, the grid's own begin at 1.
            harmonic(first_row + at / COLUMNS, at % COLUMNS)
        });
        let now: Vec<f64> = values.collect();
        let next = now.clone();
        let stencil = Stencil { now, next, first_row, rows, index, workers, sweeps: 0 };
        stencil.publish(borders);
        stencil
    }

    fn all_rows(bytes: u64) -> u64 {
        bytes / STENCIL_BYTES / COLUMNS as u64
    }

    /// Points of the whole grid.
    pub(super) fn points(bytes: u64) -> u64 {
        Self::all_rows(bytes) * COLUMNS as u64
    }

    /// Shows the others the rows that they touch, for the next sweep.
    pub(super) fn publish(&self, borders: &Borders) {
        for (last, row) in [(false, 1), (true, self.rows)] {
            let words = borders.row(self.index, last, self.sweeps);
            for (word, value) in words.iter().zip(&self.now[row * COLUMNS..]) {
                word.store(value.to_bits(), Ordering::Relaxed);
            }
        }
    }

    /// Brings the rows on either side up to date: from a neighbour, or, at the edge, by what it is.
    fn take_borders(&mut self, borders: &Borders) {
        let below = self.index.checked_sub(1).map(|index| (index, true));
        let above = (self.index + 1 < self.workers).then_some((self.index + 1, false));
        for (row, neighbour) in [(0, below), (self.rows + 1, above)] {
            let here = &mut self.now[row * COLUMNS..(row + 1) * COLUMNS];
            match neighbour {
                Some((index, last)) => {
                    for (value, word) in here.iter_mut().zip(borders.row(index, last, self.sweeps))
                    {
                        *value = f64::from_bits(word.load(Ordering::Relaxed));
                    }
                }
                None => {
                    for (column, value) in here.iter_mut().enumerate() {
                        *value = harmonic(self.first_row + row, column) + self.sweeps as f64;
                    }
                }
            }
        }
    }

    /// One sweep. Nobody is alone at it: 0 ns.
    pub(super) fn work(&mut self, borders: &Borders) -> u64 {
        self.take_borders(borders);
        for row in 1..=self.rows {
            let at = row * COLUMNS;
            let upper = &self.now[at - COLUMNS..at];
            let here = &self.now[at..at + COLUMNS];
            let lower = &self.now[at + COLUMNS..at + 2 * COLUMNS];
            let next = &mut self.next[at..at + COLUMNS];
            for ((next, across), (upper, lower)) in next[1..COLUMNS - 1]
                .iter_mut()
                .zip(here.windows(3))
                .zip(upper[1..].iter().zip(&lower[1..]))
            {
                *next = 0.25 * (upper + lower + across[0] + across[2]) + 1.0;
            }
            next[0] = here[0] + 1.0;
            next[COLUMNS - 1] = here[COLUMNS - 1] + 1.0;
        }
        std::mem::swap(&mut self.now, &mut self.next);
        self.sweeps += 1;
        0
    }

    /// Returns how many of the points that were looked at are not what the sweeps make.
    pub(super) fn wrong(&self) -> u64 {
        let inside = COLUMNS..(self.rows + 1) * COLUMNS;
        let expected =
            |at: usize| harmonic(self.first_row + at / COLUMNS, at % COLUMNS) + self.sweeps as f64;
        inside.step_by(SAMPLE).filter(|at| self.now[*at] != expected(*at)).count() as u64
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{Borders, COLUMNS, Stencil, Triad};

    /// Two copies of 40 rows.
    const BYTES: u64 = 40 * COLUMNS as u64 * 16;

    #[test]
    fn sweeps_of_parts_are_sweeps_of_the_whole() {
        for workers in [1, 2, 3, 7] {
            let borders = Borders::new(workers).unwrap();
            let mut parts: Vec<Stencil> =
                (0..workers).map(|index| Stencil::new(BYTES, index, workers, &borders)).collect();
            for sweep in 0..5 {
                // In another order each time: nobody may depend on who comes first.
                parts.rotate_left(sweep % workers);
                for part in &mut parts {
                    part.work(&borders);
                    part.publish(&borders);
                }
            }
            assert!(parts.iter().all(|part| part.wrong() == 0 && part.sweeps == 5), "{workers}");
            assert_eq!(parts.iter().map(|part| part.rows).sum::<usize>(), 40);
        }
    }

    #[test]
    fn a_missed_sweep_or_border_is_seen() {
        let borders = Borders::new(2).unwrap();
        let mut part = Stencil::new(BYTES, 0, 2, &borders);
        let _other = Stencil::new(BYTES, 1, 2, &borders);
        part.work(&borders);
        assert_eq!(part.wrong(), 0);
        part.sweeps += 1;
        assert!(part.wrong() > 0, "one sweep less than counted");
        part.sweeps -= 1;
        // The other never showed its rows of the first sweep.
        for _ in 0..300 {
            part.work(&borders);
        }
        assert!(part.wrong() > 0, "a border that stood still");
    }

    #[test]
    fn the_triad_adds_what_it_should() {
        for workers in [1, 3] {
            for index in 0..workers {
                let mut part = Triad::new(24_000, index, workers);
                part.work();
                part.work();
                assert_eq!(part.wrong(), 0);
                part.passes = 3;
                assert!(part.wrong() > 0);
            }
        }
        assert_eq!(Triad::elements(24_000), 1000);
    }
}
