//! Gustafson's law: the work grows with the workers (J. L. Gustafson, *Reevaluating Amdahl's law*,
//! Communications of the ACM 31, 1988). With s, the part of the time **on n workers** that is
//! serial,
//!
//! ```text
//! S(N) = s + (1 − s) N = N − s (N − 1)
//! ```
//!
//! It holds where each worker brings its own share of the parallel work and the serial part stays
//! as it is. Its s is not Amdahl's: [`amdahl_fraction`] turns one into the other at an n.

use crate::Error;
use crate::error::{finite, fraction, positive, representable, workers};

/// How much more work n workers do in the same time, if `serial` (0 to 1) of that time is serial.
///
/// # Errors
/// If n is not at least 1, or `serial` is no fraction.
pub fn scaled_speedup(serial: f64, n: f64) -> Result<f64, Error> {
    let (s, n) = (fraction("serial fraction", serial)?, workers(n)?);
    representable("scaled speedup", s + (1.0 - s) * n)
}

/// Throughput at n, of which one worker does `gamma` per unit of time.
///
/// # Errors
/// As [`scaled_speedup`]; if `gamma` is not above 0.
pub fn throughput(gamma: f64, serial: f64, n: f64) -> Result<f64, Error> {
    representable("throughput", positive("gamma", gamma)? * scaled_speedup(serial, n)?)
}

/// Returns the serial part of the time that follows from a scaled speedup at n: (N − S) / (N − 1).
/// Negative above the ideal, above 1 where more workers did less; neither is cut.
///
/// # Errors
/// If n is not above 1, or the speedup is not above 0.
pub fn serial_fraction(scaled_speedup: f64, n: f64) -> Result<f64, Error> {
    let (s, n) = (positive("scaled speedup", scaled_speedup)?, workers(n)?);
    if n <= 1.0 {
        return Err(Error::Wrong { what: "n", value: n, right: "above 1" });
    }
    representable("serial fraction", (n - s) / (n - 1.0))
}

/// The n at which a scaled speedup is reached: N(S) = (S − s) / (1 − s).
///
/// # Errors
/// If `serial` is no fraction or is 1, or the speedup is below 1.
pub fn workers_for(serial: f64, scaled_speedup: f64) -> Result<f64, Error> {
    let (s, wanted) =
        (fraction("serial fraction", serial)?, finite("scaled speedup", scaled_speedup)?);
    if wanted < 1.0 || s >= 1.0 {
        let high = if s >= 1.0 { 1.0 } else { f64::MAX };
        return Err(Error::OutOfReach {
            what: "a scaled speedup of",
            value: wanted,
            low: 1.0,
            high,
        });
    }
    representable("n", ((wanted - s) / (1.0 - s)).max(1.0))
}

/// Amdahl's serial fraction of the same run: the serial part of the time that **one** worker would
/// need for the work that n did, s / (s + (1 − s) N).
///
/// # Errors
/// As [`scaled_speedup`].
pub fn amdahl_fraction(serial: f64, n: f64) -> Result<f64, Error> {
    Ok(fraction("serial fraction", serial)? / scaled_speedup(serial, n)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amdahl;
    use proptest::prelude::*;

    #[test]
    fn gustafsons_own_figures() {
        // His table: serial parts of 0.4 to 0.8 % of the time on 1024 processors.
        assert!((scaled_speedup(0.004, 1024.0).unwrap() - 1019.908).abs() < 1e-9);
        assert!((scaled_speedup(0.008, 1024.0).unwrap() - 1015.816).abs() < 1e-9);
        assert!(workers_for(1.0, 2.0).is_err() && workers_for(0.5, 0.5).is_err());
        assert!(serial_fraction(2.0, 1.0).is_err());
    }

    proptest! {
        #[test]
        fn inverses_undo_the_formula(s in 0.0..0.99_f64, n in 1.001..1e4_f64) {
            let scaled = scaled_speedup(s, n).unwrap();
            prop_assert!((serial_fraction(scaled, n).unwrap() - s).abs() < 1e-9);
            prop_assert!((workers_for(s, scaled).unwrap() / n - 1.0).abs() < 1e-9);
        }

        #[test]
        fn both_laws_speak_of_the_same_run(s in 0.0..=1.0_f64, n in 1.0..1e4_f64) {
            let scaled = scaled_speedup(s, n).unwrap();
            let fixed = amdahl::speedup(amdahl_fraction(s, n).unwrap(), n).unwrap();
            prop_assert!((scaled / fixed - 1.0).abs() < 1e-9);
        }
    }
}
