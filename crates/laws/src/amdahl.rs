//! Amdahl's law: a part of a fixed work is done by one worker at a time (G. M. Amdahl, *Validity
//! of the single processor approach to achieving large scale computing capabilities*, AFIPS Spring
//! Joint Computer Conference 1967). With the serial fraction s,
//!
//! ```text
//! S(N) = N / (1 + s (N − 1)) = 1 / (s + (1 − s) / N)
//! ```
//!
//! It holds for a work whose size does not grow with N, whose parallel part divides evenly, and
//! whose workers cost each other nothing else. It has no peak; it has a bound, 1/s.

use crate::error::{finite, fraction, positive, representable, workers};
use crate::{Error, little};

/// What is bought with n workers if `serial` (0 to 1) of the work is done by one of them alone.
///
/// # Errors
/// If n is not at least 1, or `serial` is no fraction.
pub fn speedup(serial: f64, n: f64) -> Result<f64, Error> {
    let (s, n) = (fraction("serial fraction", serial)?, workers(n)?);
    Ok(n / (1.0 + s * (n - 1.0)))
}

/// Throughput at n, of which one worker does `gamma` per unit of time.
///
/// # Errors
/// As [`speedup`]; if `gamma` is not above 0.
pub fn throughput(gamma: f64, serial: f64, n: f64) -> Result<f64, Error> {
    representable("throughput", positive("gamma", gamma)? * speedup(serial, n)?)
}

/// The time from one completion of a worker to its next, at n: N/X(N) by Little's law.
///
/// # Errors
/// As [`throughput`].
pub fn latency(gamma: f64, serial: f64, n: f64) -> Result<f64, Error> {
    little::response(n, throughput(gamma, serial, n)?)
}

/// The speedup that no number of workers reaches: 1/s. `None` if nothing is serial.
///
/// # Errors
/// If `serial` is no fraction.
pub fn bound(serial: f64) -> Result<Option<f64>, Error> {
    let s = fraction("serial fraction", serial)?;
    let bound = 1.0 / s;
    Ok(bound.is_finite().then_some(bound))
}

/// The serial fraction that a measured speedup at n tells, if nothing else cost anything: the
/// experimentally determined serial fraction e = (1/S − 1/N) / (1 − 1/N) of A. H. Karp and
/// H. P. Flatt (*Measuring parallel processor performance*, Communications of the ACM 33, 1990).
///
/// It is the inverse of [`speedup`]. A speedup above n gives a negative number, which is not
/// cut, since it says that one worker alone had a handicap (a cache too small, above all). One
/// that grows with n says that more than a serial part is lost.
///
/// # Errors
/// If n is not above 1 (one worker tells nothing of a serial part) or the speedup is not above 0.
pub fn serial_fraction(speedup: f64, n: f64) -> Result<f64, Error> {
    let s = positive("speedup", speedup)?;
    let n = workers(n)?;
    if n <= 1.0 {
        return Err(Error::Wrong { what: "n", value: n, right: "above 1" });
    }
    representable("serial fraction", (n / s - 1.0) / (n - 1.0))
}

/// The n at which a speedup is reached: N(S) = S (1 − s) / (1 − s S).
///
/// # Errors
/// If `serial` is no fraction, or no n reaches that speedup: it must be at least 1 and below 1/s.
pub fn workers_for(serial: f64, speedup: f64) -> Result<f64, Error> {
    let (s, wanted) = (fraction("serial fraction", serial)?, finite("speedup", speedup)?);
    if wanted < 1.0 || s * wanted >= 1.0 {
        let high = bound(s)?.unwrap_or(f64::MAX);
        return Err(Error::OutOfReach { what: "a speedup of", value: wanted, low: 1.0, high });
    }
    representable("n", (wanted * (1.0 - s) / (1.0 - s * wanted)).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ten_per_cent_serial_bound_the_speedup_at_ten() {
        assert!((speedup(0.1, 8.0).unwrap() - 4.705_882).abs() < 1e-6);
        assert_eq!(bound(0.1), Ok(Some(10.0)));
        assert_eq!(bound(0.0), Ok(None));
        assert_eq!(speedup(1.0, 64.0), Ok(1.0));
        assert_eq!(throughput(50.0, 0.0, 4.0), Ok(200.0));
        assert!(matches!(workers_for(0.1, 10.0), Err(Error::OutOfReach { high: 10.0, .. })));
        assert!(workers_for(0.1, 0.9).is_err());
    }

    #[test]
    fn more_than_n_is_told_as_less_than_nothing_serial() {
        // Karp and Flatt's own reading of table entries above the ideal.
        assert!(serial_fraction(4.4, 4.0).unwrap() < 0.0);
        assert!(serial_fraction(1.0, 1.0).is_err() && serial_fraction(0.0, 2.0).is_err());
    }

    proptest! {
        #[test]
        fn inverses_undo_the_formula(s in 0.0..1.0_f64, n in 1.001..1e4_f64) {
            let gained = speedup(s, n).unwrap();
            prop_assert!((serial_fraction(gained, n).unwrap() - s).abs() < 1e-9);
            // Near 1/s a speedup says little of n: compared by what n gives back.
            if let Ok(back) = workers_for(s, gained) {
                prop_assert!((speedup(s, back).unwrap() / gained - 1.0).abs() < 1e-9);
            }
            let x = throughput(7.0, s, n).unwrap();
            let held = little::present(x, latency(7.0, s, n).unwrap()).unwrap();
            prop_assert!((held / n - 1.0).abs() < 1e-12);
        }
    }
}
