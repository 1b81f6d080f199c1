//! Where throughput is greatest, as far as the points can tell.

use super::{Fit, Law};

/// Where throughput is greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Peak {
    /// At a number of workers that the points reach.
    Within {
        /// Where the fitted curve is highest.
        n: f64,
        /// Lower end of the 95 % interval, at least 1.
        low: f64,
        /// Upper end; `None` where the points do not exclude that there is no peak.
        high: Option<f64>,
    },
    /// The fitted curve has one beyond the largest n: an extrapolation. With n up to 8 and 3 %
    /// of noise, 42 of 100 fits of a curve whose peak is at 35.6 show no peak at all, and the rest
    /// show it anywhere.
    Beyond {
        /// Where.
        n: f64,
        /// The least n at which it may be, by the 95 % interval.
        low: f64,
        /// Upper end; `None` where the points do not exclude that there is no peak.
        high: Option<f64>,
    },
    /// The fitted curve has none. A kink has none either: from [`super::Coefficient::Cores`] on it
    /// is flat.
    None,
}

impl Fit {
    /// Where throughput is greatest.
    ///
    /// The interval is Fieller's (*Some problems in interval estimation*, Journal of the Royal
    /// Statistical Society B 16, 1954): all n at which the slope of the curve, which has the sign
    /// of 1 − α − β n², may be 0. It is exact where α and β are normal, and open to one side where
    /// β may be 0; the usual standard error of √((1 − α)/β) is neither.
    pub fn peak(&self) -> Peak {
        let [gamma, alpha, beta] = self.values;
        if self.law != Law::Usl || gamma <= 0.0 {
            return Peak::None;
        }
        let Some(n) = highest(alpha, beta) else { return Peak::None };
        let (low, high) = self.flat_between(n);
        if n > self.largest_n {
            Peak::Beyond { n, low, high }
        } else {
            Peak::Within { n, low, high }
        }
    }

    /// The n around `n` at which the slope may be 0: with u = n², those where
    /// (1 − α − β u)² ≤ t² (Vαα + 2 u Vαβ + u² Vββ).
    fn flat_between(&self, n: f64) -> (f64, Option<f64>) {
        let [_, alpha, beta] = self.around;
        let [_, [_, aa, ab], [_, _, bb]] = self.covariance;
        let t2 = self.t() * self.t();
        let square = beta * beta - t2 * bb;
        let linear = -2.0 * (1.0 - alpha) * beta - 2.0 * t2 * ab;
        let constant = (1.0 - alpha) * (1.0 - alpha) - t2 * aa;
        let root = |u: f64| u.max(1.0).sqrt();
        let roots =
            if square == 0.0 { None } else { crate::roots::quadratic(square, linear, constant) };
        let (low, high) = match roots {
            Some((small, large)) if square > 0.0 => (root(small), Some(root(large))),
            // The n where the slope may be 0 lie outside the roots, on the side of the estimate.
            Some((small, large)) if n * n <= small => {
                (1.0, Some(root(small)).filter(|_| large < 0.0))
            }
            Some((_, large)) => (root(large), None),
            None => (1.0, None),
        };
        (low.min(n), high.map(|high| high.max(n)))
    }
}

/// Returns the n at which the universal law is highest, from dX/dn = γ (1 − α − β n²) / (…)²; 1 where
/// it does not rise at all, `None` where it rises, or stays, for ever.
pub(super) fn highest(alpha: f64, beta: f64) -> Option<f64> {
    let left = 1.0 - alpha;
    if left - beta <= 0.0 && (left, beta) != (0.0, 0.0) {
        return Some(1.0);
    }
    // A β too small for a quotient is no peak that anybody will meet.
    Some((left / beta).sqrt()).filter(|n| beta > 0.0 && n.is_finite())
}
