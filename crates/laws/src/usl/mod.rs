//! The universal scalability law (N. J. Gunther, *Guerrilla Capacity Planning*, Springer 2007,
//! chapters 4 to 6):
//!
//! ```text
//! X(N) = γ N / (1 + α (N − 1) + β N (N − 1))
//! ```
//!
//! γ is the throughput of one worker, α what waiting for one another costs (contention), β what
//! keeping one another informed costs (coherency: each of N workers with each other). With β = 0
//! it is Amdahl's law. It holds for workers that are alike and always busy; a limit that sets in
//! all at once, as when the CPUs are used up, is not of this shape but a [`crate::kink`].

use crate::error::{finite, positive, representable, workers};
use crate::little;
use crate::roots::quadratic;
use crate::{Error, error::not_negative};

/// A curve of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usl {
    gamma: f64,
    alpha: f64,
    beta: f64,
}

/// Where throughput is greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Peak {
    /// At n = √((1 − α)/β), above 1.
    At(f64),
    /// Throughput does not rise from n = 1 at all.
    AtOne,
    /// It rises, or stays, for ever.
    Never,
}

/// Which of the two n that give a throughput: before the peak or past it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// From n = 1 up to the peak.
    Rising,
    /// From the peak on.
    Falling,
}

impl Usl {
    /// A curve with these coefficients. Those of a fit may be slightly negative; a law of a
    /// system has them at 0 or above.
    ///
    /// # Errors
    /// If `gamma` is not above 0, or a number is not finite.
    pub fn new(gamma: f64, alpha: f64, beta: f64) -> Result<Self, Error> {
        Ok(Usl {
            gamma: positive("gamma", gamma)?,
            alpha: finite("alpha", alpha)?,
            beta: finite("beta", beta)?,
        })
    }

    /// γ: what one worker does per unit of time.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// α: contention, a fraction.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// β: coherency, a fraction per worker.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    fn denominator(&self, n: f64) -> f64 {
        1.0 + self.alpha * (n - 1.0) + self.beta * n * (n - 1.0)
    }

    /// X(N) in operations per unit of time.
    ///
    /// # Errors
    /// If n is not at least 1; [`Error::Pole`] where negative coefficients leave no positive
    /// denominator.
    pub fn throughput(&self, n: f64) -> Result<f64, Error> {
        let denominator = self.denominator(workers(n)?);
        if denominator.is_nan() || denominator <= 0.0 {
            return Err(Error::Pole { n });
        }
        // One that overflows would leave a throughput of nothing.
        let denominator = representable("1 / efficiency", denominator)?;
        representable("throughput", self.gamma * n / denominator)
    }

    /// X(N)/X(1).
    ///
    /// # Errors
    /// As [`Usl::throughput`].
    pub fn speedup(&self, n: f64) -> Result<f64, Error> {
        Ok(self.throughput(n)? / self.gamma)
    }

    /// R(N) = N/X(N), by Little's law: how long an operation takes where N are under way.
    ///
    /// # Errors
    /// As [`Usl::throughput`].
    pub fn latency(&self, n: f64) -> Result<f64, Error> {
        little::response(n, self.throughput(n)?)
    }

    /// Where throughput is greatest, from dX/dN = γ (1 − α − β N²) / (…)².
    pub fn peak(&self) -> Peak {
        let left = 1.0 - self.alpha;
        if left - self.beta <= 0.0 && (left, self.beta) != (0.0, 0.0) {
            Peak::AtOne
        } else if self.beta <= 0.0 {
            Peak::Never
        } else {
            let n = (left / self.beta).sqrt();
            // A β too small for a quotient is no peak that anybody will meet.
            if n.is_finite() { Peak::At(n) } else { Peak::Never }
        }
    }

    /// The greatest throughput, at the peak; without one, the bound γ/α that is not reached, or
    /// `None` if there is no bound either.
    ///
    /// # Errors
    /// As [`Usl::throughput`].
    pub fn limit(&self) -> Result<Option<f64>, Error> {
        match self.peak() {
            Peak::At(n) => self.throughput(n).map(Some),
            Peak::AtOne => Ok(Some(self.gamma)),
            Peak::Never if self.beta < 0.0 || self.alpha <= 0.0 => Ok(None),
            Peak::Never => Ok(Some(self.gamma / self.alpha).filter(|bound| bound.is_finite())),
        }
    }

    /// N(X): the n of a branch at which throughput is X. It undoes [`Usl::throughput`].
    ///
    /// From X (1 + α(N−1) + βN(N−1)) = γN, a quadratic in N whose smaller root lies on the rising
    /// branch and whose larger root lies on the falling one.
    ///
    /// # Errors
    /// [`Error::OutOfReach`] if the branch has no such throughput; [`Error::Wrong`] if it is not
    /// above 0 or a coefficient is negative, where the curve has other branches than these.
    pub fn workers_for_throughput(&self, throughput: f64, branch: Branch) -> Result<f64, Error> {
        let x = positive("throughput", throughput)?;
        self.physical()?;
        let (low, high) = self.reach(branch)?;
        // The last digits of a throughput that was computed at the end of a branch.
        let slack = 1e-12 * x;
        if x < low - slack || x > high + slack {
            return Err(Error::OutOfReach { what: "a throughput of", value: x, low, high });
        }
        let out_of_reach = Error::OutOfReach { what: "a throughput of", value: x, low, high };
        // Divided by γ, so that the size of a throughput does not matter.
        let c = x / self.gamma;
        let linear = c * (self.alpha - self.beta) - 1.0;
        let constant = c * (1.0 - self.alpha);
        let n = if self.beta == 0.0 {
            -constant / linear
        } else {
            let (square, top) = (c * self.beta, self.peak_or_one());
            let (small, large) = match quadratic(square, linear, constant) {
                Some(roots) => roots,
                None => (top, top),
            };
            match branch {
                Branch::Rising => small.min(top),
                Branch::Falling => large.max(top),
            }
        };
        if n.is_finite() && n > 0.0 { Ok(n.max(1.0)) } else { Err(out_of_reach) }
    }

    /// N(R): the n at which an operation takes R. It undoes [`Usl::latency`].
    ///
    /// # Errors
    /// [`Error::OutOfReach`] if R is less than one worker alone needs, or latency does not depend
    /// on n; [`Error::Wrong`] as for [`Usl::workers_for_throughput`].
    pub fn workers_for_latency(&self, latency: f64) -> Result<f64, Error> {
        let r = positive("latency", latency)?;
        self.physical()?;
        let ratio = representable("latency", r * self.gamma)?;
        let (low, steep) = (1.0 / self.gamma, self.alpha > 0.0 || self.beta > 0.0);
        if ratio < 1.0 - 1e-12 || !steep {
            let high = if steep { f64::MAX } else { low };
            return Err(Error::OutOfReach { what: "a latency of", value: r, low, high });
        }
        // With m = N − 1: β m² + (α + β) m − (R γ − 1) = 0, whose larger root is not negative.
        let over = (ratio - 1.0).max(0.0);
        let more = if self.beta == 0.0 {
            over / self.alpha
        } else {
            quadratic(self.beta, self.alpha + self.beta, -over).map_or(0.0, |(_, large)| large)
        };
        representable("n", 1.0 + more.max(0.0))
    }

    /// X(R): throughput where an operation takes R, N(R)/R by Little's law.
    ///
    /// # Errors
    /// As [`Usl::workers_for_latency`].
    pub fn throughput_for_latency(&self, latency: f64) -> Result<f64, Error> {
        little::throughput(self.workers_for_latency(latency)?, latency)
    }

    /// R(X): how long an operation takes on a branch where throughput is X, N(X)/X.
    ///
    /// # Errors
    /// As [`Usl::workers_for_throughput`].
    pub fn latency_for_throughput(&self, throughput: f64, branch: Branch) -> Result<f64, Error> {
        little::response(self.workers_for_throughput(throughput, branch)?, throughput)
    }

    fn physical(&self) -> Result<(), Error> {
        not_negative("alpha", self.alpha)?;
        not_negative("beta", self.beta).map(|_| ())
    }

    fn peak_or_one(&self) -> f64 {
        match self.peak() {
            Peak::At(n) => n,
            Peak::AtOne | Peak::Never => 1.0,
        }
    }

    /// The least and the greatest throughput of a branch.
    fn reach(&self, branch: Branch) -> Result<(f64, f64), Error> {
        let bound = || self.limit().map(|limit| limit.unwrap_or(f64::MAX));
        let empty = (self.gamma, self.gamma);
        Ok(match (self.peak(), branch) {
            (Peak::AtOne, Branch::Rising) | (Peak::Never, Branch::Falling) => empty,
            // Without coherency a falling curve falls to γ/α, else to 0.
            (Peak::AtOne, Branch::Falling) if self.beta == 0.0 => {
                (self.gamma / self.alpha, self.gamma)
            }
            (_, Branch::Rising) => (self.gamma, bound()?),
            (_, Branch::Falling) => (0.0, bound()?),
        })
    }
}

#[cfg(test)]
mod tests;
