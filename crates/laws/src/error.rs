//! Why a law has no answer, and the checks that every number from outside passes.

use crate::fit::law::Law;

/// Why a law has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number is out of the range in which the formula means something.
    #[error("{what} is {value}; it must be {right}")]
    Wrong {
        /// What the number is.
        what: &'static str,
        /// The number.
        value: f64,
        /// What would be right.
        right: &'static str,
    },
    /// Work arrives as fast as it can be done, or faster: the queue grows without end.
    #[error(
        "the queue never settles: work arrives at {arrivals} and at most {capacity} can be done \
         in the same time; fewer arrivals, faster service or more servers would be right"
    )]
    Unstable {
        /// Arrivals per unit of time.
        arrivals: f64,
        /// What all servers together can do per unit of time.
        capacity: f64,
    },
    /// Fitted coefficients below 0 can make the formula's denominator vanish.
    #[error("the law has no value at n = {n}: its denominator is not positive there")]
    Pole {
        /// Where it was asked for.
        n: f64,
    },
    /// There are fewer points, or fewer different n, than the law has parameters to tell.
    #[error(
        "{law:?} needs points at {needed} or more different n, and more points than parameters; there are {points} points at {levels} n"
    )]
    TooFew {
        /// The law.
        law: Law,
        /// How many points there are.
        points: usize,
        /// At how many different n.
        levels: usize,
        /// How many different n it needs.
        needed: usize,
    },
    /// The points do not determine the law's parameters.
    #[error("the points do not tell the parameters of {law:?} apart")]
    NotIdentified {
        /// The law.
        law: Law,
    },
    /// There are no repeated points, so that nothing but a model tells their noise.
    #[error("there are {points} points at {levels} n; two or more are needed at each n")]
    NoReplicates {
        /// How many points there are.
        points: usize,
        /// At how many different n.
        levels: usize,
    },
    /// No law could be fitted.
    #[error("no law can be fitted to these points")]
    NoLaw,
}

/// `value`, if it is a finite number above 0.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, Error> {
    within(what, value, value > 0.0, "a finite number above 0")
}

/// `value`, if it is a finite number of at least 0.
pub(crate) fn not_negative(what: &'static str, value: f64) -> Result<f64, Error> {
    within(what, value, value >= 0.0, "a finite number of at least 0")
}

/// `value`, if it is a number of workers: finite and at least 1, not necessarily whole.
pub(crate) fn workers(n: f64) -> Result<f64, Error> {
    within("n", n, n >= 1.0, "a finite number of at least 1")
}

/// `value`, if it is a part of a whole.
pub(crate) fn fraction(what: &'static str, value: f64) -> Result<f64, Error> {
    within(what, value, (0.0..=1.0).contains(&value), "between 0 and 1")
}

/// `value`, if it is finite and `holds`.
pub(crate) fn within(
    what: &'static str,
    value: f64,
    holds: bool,
    right: &'static str,
) -> Result<f64, Error> {
    if value.is_finite() && holds { Ok(value) } else { Err(Error::Wrong { what, value, right }) }
}

/// A result of finite inputs that are so large or small that it left the range of numbers.
pub(crate) fn representable(what: &'static str, value: f64) -> Result<f64, Error> {
    within(what, value, true, "computed from numbers of a moderate size")
}
