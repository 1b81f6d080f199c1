//! What is asked of a table with one row for each n, whose scatter no replicates show: whether any law describes it, and
//! whether a row is a slip.

use super::paired::by_level;
use super::words::{figure, law_name, percent};
use laws::fit::{self, Choice, Coefficient, Fit, Law, Peak, Point};
use laws::tail::{fisher_above, student_outside, student_quantile};

/// A law describes rows if they lie so much nearer to it than to a constant throughput that chance does this seldom: one
/// in a hundred, since six laws are tried.
const CHANCE: f64 = 0.01;

/// A row is a slip if chance puts one of them so far from the others' law no more often than this.
const SLIP_CHANCE: f64 = 0.001;

/// Rows that lie further from their law than this part of their mean, by standard deviation, show no slip.
const EXACT: f64 = 0.03;

/// No row that lies nearer to the law of the others is a slip.
const SLIP: f64 = 0.05;

/// No row of a constant throughput is a slip that lies within this number of standard deviations of the others.
const NEAR: f64 = 4.0;

/// So far from the least AICc a law still has some support (Burnham and Anderson 2002, 2.6).
const PLAUSIBLE_WITHIN: f64 = 7.0;

/// Of fewer rows none is a slip: the others follow too many laws.
const ROWS_MIN: usize = 6;

/// Reports whether each n has one row.
pub(super) fn is_table(points: &[(f64, f64)]) -> bool {
    by_level(points).len() == points.len()
}

/// A row that does not fit the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slip {
    /// Where it stands.
    pub(super) row: usize,
    pub(super) n: f64,
    throughput: f64,
    expected: f64,
    law: Law,
}

impl Slip {
    /// Finds the row that fits the others worst, if it is a slip.
    pub(super) fn find(points: &[(f64, f64)], laws: &[Law]) -> Option<Slip> {
        if points.len() < ROWS_MIN || !is_table(points) {
            return None;
        }
        let all = (0..points.len()).filter_map(|row| Slip::at(row, points, laws));
        let worst = all.min_by(|a, b| a.1.total_cmp(&b.1).then(b.2.total_cmp(&a.2)))?;
        (worst.1 * points.len() as f64 <= SLIP_CHANCE).then_some(worst.0)
    }

    /// Returns a row as a slip, with its probability by chance and its distance in standard errors; `None` where the
    /// others follow no law closely, or a law that describes them as well, or a constant, has room for the row.
    fn at(row: usize, points: &[(f64, f64)], laws: &[Law]) -> Option<(Slip, f64, f64)> {
        let (n, throughput) = points[row];
        let others = points.iter().enumerate().filter(|(place, _)| *place != row);
        let others: Vec<Point> = others.map(|(_, (n, x))| Point::new(*n, *x)).collect();
        let choice = fit::choose(laws, &others).ok()?;
        let mean = mean(&others);
        let spread = (squares(&others, mean) / (others.len() - 1) as f64).sqrt();
        let is_near = (throughput - mean).abs() < (SLIP * mean).max(NEAR * spread);
        if is_near && no_law(choice.fit().ok()?, &others).is_some() {
            return None;
        }
        let at = Point::new(n, throughput);
        let (expected, ..) = against(choice.fit().ok()?, at, mean)?;
        let all = plausible(&choice).map(|fitted| against(fitted, at, mean));
        let all: Vec<_> = all.collect::<Option<_>>()?;
        let (_, p, t) = all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((Slip { row, n, throughput, expected, law: choice.law() }, p, t))
    }

    /// Returns it as a sentence.
    pub(super) fn words(&self) -> String {
        format!(
            "The row n = {} does not fit the others, and is left out of the laws: it has {}, and by the {} law of \
             the others it would have {}; check it for a slip.",
            figure(self.n),
            figure(self.throughput),
            law_name(self.law),
            figure(self.expected),
        )
    }
}

/// Returns what a row would have by a law, how often chance puts it so far from that, and its distance in standard errors;
/// `None` where it is near, or where rows of this mean follow no law closely.
fn against(fitted: &Fit, row: Point, mean: f64) -> Option<(f64, f64, f64)> {
    let expected = fitted.throughput(row.n).ok().filter(|_| fitted.freedom >= 2)?;
    let spread = fitted.residual_deviation().max(1e-6 * expected);
    if spread > EXACT * mean || (row.throughput / expected - 1.0).abs() < SLIP {
        return None;
    }
    let freedom = fitted.freedom as f64;
    let (low, high) = fitted.interval_at(row.n).ok()?;
    let of_curve = (high - low) / 2.0 / student_quantile(freedom, 1.0 - fit::LEVEL);
    let t = (row.throughput - expected).abs() / spread.hypot(of_curve);
    Some((expected, student_outside(freedom, t), t))
}

/// Returns how far rows lie from a law, as the reason for it goes on.
pub(super) fn scatter(fitted: &Fit, points: &[Point]) -> String {
    let mean = mean(points);
    let share = 1.0 - fitted.residual_squares / squares(points, mean);
    let spread = fitted.residual_deviation() / mean;
    format!(
        "; R\u{b2} is {share:.4}, and rows lie {} from the law (standard deviation)",
        percent(spread)
    )
}

/// Returns why no law describes rows: a constant throughput with noise does as well; `None` if a law does.
pub(super) fn no_law(fitted: &Fit, points: &[Point]) -> Option<String> {
    let more = (fitted.parameters.len() as f64 - 1.0).max(1.0);
    let (own, constant) = (fitted.residual_squares, squares(points, mean(points)));
    let left = own.max(1e-24 * constant) / fitted.freedom as f64;
    let p = fisher_above(more, fitted.freedom as f64, ((constant - own) / more / left).max(0.0));
    (p >= CHANCE).then(|| {
        format!(
            "no law describes these rows: a constant throughput with noise does nearly as well (p {})",
            figure(p)
        )
    })
}

/// Reports whether a constant throughput with noise describes the rows of a table about as well as any law does.
pub(super) fn is_noise(points: &[(f64, f64)], laws: &[Law]) -> bool {
    let all: Vec<Point> = points.iter().map(|(n, x)| Point::new(*n, *x)).collect();
    let choice = fit::choose(laws, &all).ok().filter(|_| is_table(points));
    choice.is_some_and(|it| it.fit().is_ok_and(|fitted| no_law(fitted, &all).is_some()))
}

/// Returns where throughput would be greatest beyond the rows, by the universal law if it describes them.
pub(super) fn extrapolated(choice: &Choice) -> Option<String> {
    let (n, low, high) = plausible(choice).find_map(|fit| match fit.peak() {
        Peak::Beyond { n, low, high } => Some((n, low, high)),
        _ => None,
    })?;
    // A law without a peak that describes the rows as well puts it at no end.
    let is_open = plausible(choice)
        .any(|fit| fit.peak() == Peak::None && fit.parameter(Coefficient::Cores).is_none());
    let high = high.filter(|_| !is_open).map_or("no end".into(), figure);
    Some(format!(
        "extrapolated by the universal law, which no row confirms: greatest at n = {} [{}, {high}]",
        figure(n),
        figure(low)
    ))
}

/// Returns the laws that describe rows about as well as the best.
fn plausible(choice: &Choice) -> impl Iterator<Item = &Fit> {
    let heard = choice.candidates.iter().filter(|one| !one.refuted());
    let fits: Vec<&Fit> = heard.filter_map(|one| one.fit.as_ref().ok()).collect();
    let least = fits.iter().filter_map(|fit| fit.aicc).fold(f64::INFINITY, f64::min);
    fits.into_iter().filter(move |fit| fit.aicc.is_some_and(|it| it <= least + PLAUSIBLE_WITHIN))
}

fn mean(points: &[Point]) -> f64 {
    let weights: f64 = points.iter().map(|one| one.weight).sum();
    points.iter().map(|one| one.weight * one.throughput).sum::<f64>() / weights
}

fn squares(points: &[Point], about: f64) -> f64 {
    points.iter().map(|one| one.weight * (one.throughput - about).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::level::laws_for;
    use crate::scaling::{ScaleInput, ScaleTrial, scaling};
    use model::Scaling;
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn fitted(points: &[(f64, f64)]) -> Scaling {
        let rows = points.iter().zip(0..);
        let rows = rows.map(|((n, x), row)| ScaleTrial::of_throughput(*n, *x, row));
        scaling(&ScaleInput::of_figures("test", "t".into(), None, rows.collect()))
    }

    /// Some different n, from 1 on if it is a sweep.
    fn some_n(draws: &mut impl Rng) -> Vec<f64> {
        let rows = draws.random_range(5..13);
        let sweep = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0];
        if draws.random::<bool>() {
            return sweep[..rows].to_vec();
        }
        let mut all: Vec<f64> = (0..rows).map(|_| f64::from(draws.random_range(1..65))).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    #[test]
    fn noise_gets_no_law() {
        let mut draws = ChaCha8Rng::seed_from_u64(49);
        let (mut with_law, mut falling) = (0, 0);
        for table in 0..200 {
            let reach = [0.2, 0.5, 0.8, 0.05][table % 4];
            let mut x = || 100.0 * (1.0 + reach * (2.0 * draws.random::<f64>() - 1.0));
            let heights: Vec<f64> = (0..13).map(|_| x()).collect();
            let rows: Vec<_> = some_n(&mut draws).into_iter().zip(heights).collect();
            let found = fitted(&rows);
            with_law += usize::from(found.throughput.chosen.is_some());
            falling += usize::from(found.answer.concat().contains("falls beyond"));
        }
        assert!(with_law <= 10, "{with_law} of 200");
        // Rows of noise advise no number of workers.
        let noise = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0].into_iter();
        let noise: Vec<_> = noise.zip([80.0, 120.0, 70.0, 95.0, 130.0, 60.0, 110.0]).collect();
        assert_eq!(fitted(&noise).advice.n_for_throughput, None);
        // Tables of five rows show no scatter of their own.
        assert!(falling <= 20, "{falling} of 200");
    }

    #[test]
    fn a_slip_in_an_exact_table_is_named_and_left_out() {
        let mut draws = ChaCha8Rng::seed_from_u64(7);
        let mut named = 0;
        for table in 0..40 {
            let (alpha, beta) = [(0.05, 0.0), (0.02, 0.001), (0.3, 0.0), (0.0, 0.0)][table % 4];
            let ns = [1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0];
            let height = |n: f64| 100.0 * n / (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0));
            let mut rows: Vec<(f64, f64)> =
                ns.iter().map(|n| (*n, (10.0 * height(*n)).round() / 10.0)).collect();
            assert_eq!(Slip::find(&rows, &laws_for(false)), None, "{rows:?}");
            let row = draws.random_range(0..ns.len());
            rows[row].1 *= if table % 3 == 0 { 10.0 } else { 0.1 };
            let found = Slip::find(&rows, &laws_for(false));
            named += usize::from(found.is_some_and(|slip| slip.row == row));
        }
        assert!(named >= 36, "{named} of 40");
        // A table that is flat, with noise, has none, and the last row of one that bends is none.
        let mut noise = |reach: f64| 1.0 + reach * (2.0 * draws.random::<f64>() - 1.0);
        let flat =
            |_| [1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0].map(|n| (n, 100.0 * noise(0.05)));
        let flat: Vec<_> = (0..100).map(flat).collect();
        assert!(flat.iter().all(|rows| Slip::find(rows, &laws_for(false)).is_none()), "{flat:?}");
        let ns = [1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0];
        let height = |n: f64| 100.0 * n / (1.0 + 0.01 * (n - 1.0) + 0.000_6 * n * (n - 1.0));
        let bent = (0..100).map(|_| ns.map(|n| (n, height(n) * noise(0.01))));
        let named = bent.filter(|rows| Slip::find(rows, &laws_for(false)).is_some()).count();
        assert!(named <= 1, "{named} of 100");
        // It is neither the most throughput nor advice.
        let mut rows = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(|n| (n, 1e3 * n));
        rows[6].1 *= 100.0;
        let found = fitted(&rows);
        let text = found.answer.join(" ");
        assert!(text.contains("row n = 64") && !text.contains("6400 times"), "{text}");
    }

    #[test]
    fn a_peak_beyond_the_rows_is_an_extrapolation() {
        let rows: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 24.0]
            .map(|n| (n, 1e3 * n / (1.0 + 0.02 * (n - 1.0) + 0.0005 * n * (n - 1.0))))
            .to_vec();
        // √((1 − 0.02) / 0.0005) = 44.3.
        let sentence = fitted(&rows).throughput.peak.sentence;
        assert!(sentence.contains("extrapolated") && sentence.contains("n = 44"), "{sentence}");
    }
}
