//! Speedup stacks: where the speedup went that n workers should have brought (S. Eyerman, K. Du
//! Bois and L. Eeckhout, *Speedup stacks: identifying scaling bottlenecks in multi-threaded
//! applications*, ISPASS 2012).
//!
//! n workers that are there for the time T, and do what one alone does in T₁, have n T of time, of
//! which T₁ was useful. Whatever else the workers' time went into, divided by T, is speedup lost:
//!
//! ```text
//! n = S + lost₁ + lost₂ + … + residual,   S = T₁ / T
//! ```
//!
//! The residual is what the named parts leave over, so that the parts sum to 100 % by
//! construction; a large one says that a cause is missing, a negative one that a time was counted
//! twice.

use crate::Error;
use crate::error::{finite, positive, workers};

/// A part of the lost speedup, with the caller's name for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part<Name> {
    /// What it is.
    pub name: Name,
    /// The speedup it cost, in workers; negative where it is a gain.
    pub lost: f64,
    /// The same in per cent of the ideal speedup n.
    pub percent_of_ideal: f64,
    /// The same in per cent of all that was lost; `None` where nothing was (a speedup of n or
    /// more).
    pub percent_of_loss: Option<f64>,
}

/// Where the speedup of n workers went.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack<Name> {
    /// The ideal speedup: the number of workers.
    pub ideal: f64,
    /// The speedup that was measured.
    pub speedup: f64,
    /// The same in per cent of the ideal.
    pub percent_achieved: f64,
    /// The named parts, in the caller's order.
    pub parts: Vec<Part<Name>>,
    /// What they leave over.
    pub residual: Part<()>,
}

/// A stack from speedups lost, in workers.
///
/// # Errors
/// If n is not at least 1, the speedup is not above 0, or a part is not finite.
pub fn stack<Name>(
    n: f64,
    speedup: f64,
    lost: impl IntoIterator<Item = (Name, f64)>,
) -> Result<Stack<Name>, Error> {
    let (ideal, speedup) = (workers(n)?, positive("speedup", speedup)?);
    let loss = ideal - speedup;
    let share = |lost: f64| {
        // A loss within rounding of nothing cannot be divided.
        let some = loss > 1e-9 * ideal;
        (100.0 * lost / ideal, some.then(|| 100.0 * lost / loss))
    };
    let mut parts = Vec::new();
    let mut named = 0.0;
    for (name, lost) in lost {
        named += finite("part of the lost speedup", lost)?;
        let (percent_of_ideal, percent_of_loss) = share(lost);
        parts.push(Part { name, lost, percent_of_ideal, percent_of_loss });
    }
    let left = finite("sum of the lost speedup", loss - named)?;
    let (percent_of_ideal, percent_of_loss) = share(left);
    let residual = Part { name: (), lost: left, percent_of_ideal, percent_of_loss };
    let percent_achieved = 100.0 * speedup / ideal;
    Ok(Stack { ideal, speedup, percent_achieved, parts, residual })
}

/// A stack from times: `alone` is the time T₁ that one worker needs for the work, `together` the
/// time T that n workers need for the same, and each part the time of **all** n workers that went
/// into it (at most n T).
///
/// # Errors
/// As [`stack`], and if a time is not above 0.
pub fn from_times<Name>(
    n: f64,
    alone: f64,
    together: f64,
    spent: impl IntoIterator<Item = (Name, f64)>,
) -> Result<Stack<Name>, Error> {
    let (alone, together) = (positive("time alone", alone)?, positive("time together", together)?);
    let parts = spent.into_iter().map(|(name, time)| (name, time / together));
    stack(n, alone / together, parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_named_is_the_residual() {
        // 4 workers need 5 s for 10 s of work: 2 of 4 are lost, 10 of 20 worker-seconds.
        let stack = from_times(4.0, 10.0, 5.0, [("blocked", 6.0), ("waiting", 3.0)]).unwrap();
        assert_eq!(stack.speedup, 2.0);
        let lost: Vec<f64> = stack.parts.iter().map(|part| part.lost).collect();
        assert_eq!(lost, [1.2, 0.6]);
        assert!((stack.residual.lost - 0.2).abs() < 1e-12);
        assert!((stack.parts[0].percent_of_loss.unwrap() - 60.0).abs() < 1e-9);
        assert!((stack.residual.percent_of_loss.unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(stack.percent_achieved, 50.0);
    }

    #[test]
    fn more_than_ideal_has_no_loss_to_share() {
        let better = stack(2.0, 2.5, [("cache", -0.5)]).unwrap();
        assert_eq!(better.parts[0].percent_of_loss, None);
        assert_eq!((better.parts[0].percent_of_ideal, better.residual.lost), (-25.0, 0.0));
    }

    #[test]
    fn hostile_numbers_are_errors() {
        assert!(stack::<()>(0.0, 1.0, []).is_err() && stack::<()>(2.0, f64::NAN, []).is_err());
        assert!(stack(2.0, 1.0, [((), f64::NAN)]).is_err());
        assert!(stack(2.0, 1.0, [((), f64::MAX), ((), f64::MAX)]).is_err());
        assert!(from_times::<()>(2.0, 0.0, 1.0, []).is_err());
        assert!(from_times::<()>(2.0, 1.0, 0.0, []).is_err());
    }

    proptest! {
        #[test]
        fn everything_sums_to_a_hundred(
            n in 1.0..512.0_f64, part in 0.001..1.4_f64, lost in prop::collection::vec(-3.0..9.0_f64, 0..6)
        ) {
            let stack = stack(n, n * part, lost.into_iter().map(|lost| ((), lost))).unwrap();
            let of_ideal: f64 = stack.parts.iter().map(|part| part.percent_of_ideal).sum();
            let sum = stack.percent_achieved + of_ideal + stack.residual.percent_of_ideal;
            prop_assert!((sum - 100.0).abs() < 1e-6, "{sum}");
            if let Some(rest) = stack.residual.percent_of_loss {
                let named: f64 = stack.parts.iter().filter_map(|part| part.percent_of_loss).sum();
                prop_assert!((named + rest - 100.0).abs() < 1e-4 * (1.0 + rest.abs()), "{named} {rest}");
            }
        }
    }
}
