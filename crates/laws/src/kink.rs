//! Throughput that rises until something is used up all at once, and is flat from there on:
//!
//! ```text
//! X(N) = γ m / (1 + α (m − 1)),  m = min(N, c)
//! ```
//!
//! c is how many workers the resource serves at a time: CPUs, a quota's worth of CPUs, the slots of
//! a pool. α is what those that are served cost each other; with α = 0 it is the plain
//! X = γ min(N, c) of an ideal machine, the upper bound of operational analysis (Denning and Buzen,
//! ACM Computing Surveys 10, 1978) with no think time. It holds where workers past c only wait.

use crate::error::{fraction, positive, representable, workers};
use crate::{Error, little};

/// A curve with a kink.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kink {
    gamma: f64,
    alpha: f64,
    cores: f64,
}

impl Kink {
    /// A curve that rises to `cores` (at least 1, not necessarily whole: a CPU quota is not), with
    /// contention `alpha` (0 to 1) among the workers up to there.
    ///
    /// # Errors
    /// If `gamma` is not above 0, `alpha` no fraction, or `cores` less than 1.
    pub fn new(gamma: f64, alpha: f64, cores: f64) -> Result<Self, Error> {
        let gamma = positive("gamma", gamma)?;
        let alpha = fraction("alpha", alpha)?;
        if !(cores.is_finite() && cores >= 1.0) {
            return Err(Error::Wrong { what: "cores", value: cores, right: "at least 1" });
        }
        Ok(Kink { gamma, alpha, cores })
    }

    /// γ: what one worker does per unit of time.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// α: contention below the kink, a fraction.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// c: where the kink is.
    pub fn cores(&self) -> f64 {
        self.cores
    }

    /// X(N) in operations per unit of time.
    ///
    /// # Errors
    /// If n is not at least 1.
    pub fn throughput(&self, n: f64) -> Result<f64, Error> {
        let m = workers(n)?.min(self.cores);
        representable("throughput", self.gamma * m / (1.0 + self.alpha * (m - 1.0)))
    }

    /// R(N) = N/X(N), by Little's law.
    ///
    /// # Errors
    /// As [`Kink::throughput`].
    pub fn latency(&self, n: f64) -> Result<f64, Error> {
        little::response(n, self.throughput(n)?)
    }

    /// The throughput from the kink on.
    ///
    /// # Errors
    /// If it leaves the range of numbers.
    pub fn limit(&self) -> Result<f64, Error> {
        self.throughput(self.cores)
    }

    /// The least n at which throughput is X.
    ///
    /// # Errors
    /// [`Error::OutOfReach`] if X is below that of one worker or above that of the kink.
    pub fn workers_for_throughput(&self, throughput: f64) -> Result<f64, Error> {
        let x = positive("throughput", throughput)?;
        let (low, high) = (self.throughput(1.0)?, self.limit()?);
        let slack = 1e-12 * x;
        if x < low - slack || x > high + slack {
            return Err(Error::OutOfReach { what: "a throughput of", value: x, low, high });
        }
        let c = x / self.gamma;
        let left = 1.0 - self.alpha * c;
        // All serial: one worker gives all there is.
        let n = if left <= 0.0 { 1.0 } else { c * (1.0 - self.alpha) / left };
        Ok(n.clamp(1.0, self.cores))
    }

    /// The n at which an operation takes R: past the kink n = R X(c), before it the contention's.
    ///
    /// # Errors
    /// [`Error::OutOfReach`] if R is less than one worker alone needs, or if latency is the same
    /// for all n below the kink and R is that one: then no single n answers.
    pub fn workers_for_latency(&self, latency: f64) -> Result<f64, Error> {
        let r = positive("latency", latency)?;
        let (first, at_kink) = (self.latency(1.0)?, self.latency(self.cores)?);
        if r > at_kink {
            return representable("n", r * self.limit()?);
        }
        if r < first * (1.0 - 1e-12) || (self.alpha == 0.0 && self.cores > 1.0) {
            let (low, high) = (first, f64::MAX);
            return Err(Error::OutOfReach { what: "a latency of", value: r, low, high });
        }
        if self.alpha == 0.0 {
            return Ok(1.0);
        }
        Ok((1.0 + (r * self.gamma - 1.0) / self.alpha).clamp(1.0, self.cores))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_cores_give_twice_and_no_more() {
        let curve = Kink::new(100.0, 0.0, 2.0).unwrap();
        let at = |n| curve.throughput(n).unwrap();
        assert_eq!([at(1.0), at(2.0), at(3.0), at(64.0)], [100.0, 200.0, 200.0, 200.0]);
        assert_eq!(curve.latency(8.0), Ok(0.04));
        assert_eq!(curve.workers_for_throughput(150.0), Ok(1.5));
        assert!(curve.workers_for_throughput(201.0).is_err());
        assert!(curve.workers_for_throughput(99.0).is_err());
        assert_eq!(curve.workers_for_latency(0.04), Ok(8.0));
        assert!(curve.workers_for_latency(0.01).is_err(), "n = 1 and n = 2 both give it");
        assert!(curve.workers_for_latency(0.009).is_err());
    }

    #[test]
    fn hostile_numbers_are_errors() {
        for wrong in [f64::NAN, f64::INFINITY, 0.0, -1.0, 0.5] {
            assert!(Kink::new(1.0, 0.0, wrong).is_err(), "{wrong}");
            assert!(Kink::new(1.0, 0.0, 2.0).unwrap().throughput(wrong).is_err(), "{wrong}");
        }
        assert!(Kink::new(0.0, 0.0, 2.0).is_err() && Kink::new(1.0, 1.1, 2.0).is_err());
    }

    proptest! {
        #[test]
        fn inverses_undo_the_formula(
            gamma in 1e-3..1e6_f64, alpha in 0.001..0.95_f64, cores in 1.0..64.0_f64, n in 1.0..200.0_f64
        ) {
            let curve = Kink::new(gamma, alpha, cores).unwrap();
            let (x, r) = (curve.throughput(n).unwrap(), curve.latency(n).unwrap());
            prop_assert!((x * r / n - 1.0).abs() < 1e-9);
            let least = curve.workers_for_throughput(x).unwrap();
            prop_assert!((least / n.min(cores) - 1.0).abs() < 1e-8);
            prop_assert!((curve.workers_for_latency(r).unwrap() / n - 1.0).abs() < 1e-8);
        }

        #[test]
        fn any_numbers_give_a_number_or_an_error(
            g in any::<f64>(), a in any::<f64>(), c in any::<f64>(), n in any::<f64>()
        ) {
            if let Ok(curve) = Kink::new(g, a, c) {
                let all = [
                    curve.throughput(n), curve.latency(n), curve.limit(),
                    curve.workers_for_latency(n), curve.workers_for_throughput(n),
                ];
                for value in all.into_iter().flatten() {
                    prop_assert!(value.is_finite());
                }
            }
        }
    }
}
