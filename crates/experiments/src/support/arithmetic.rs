//! The computation that workers are asked for: it needs a CPU and nothing else.

use std::hint::black_box;

/// Iterations in one unit of work: some tens of microseconds.
pub(crate) const ITERATIONS_PER_UNIT: u64 = 1000;

/// One unit of square roots, sines and cosines, in the manner of the published exercise, added to
/// `sum`.
///
/// Additions of floating-point numbers may not be reordered, so the compiler can neither fold the
/// loop nor drop part of it; the result must be kept by the caller.
pub(crate) fn unit(sum: f64) -> f64 {
    (1..=ITERATIONS_PER_UNIT).fold(sum, |sum, step| {
        let x = black_box(step as f64);
        sum + x.sqrt() * x.sin() * x.cos()
    })
}

#[cfg(test)]
mod tests {
    use super::unit;

    #[test]
    fn a_unit_adds_the_same_to_any_sum() {
        // The sum over 1..=1000 of sqrt(x) sin(x) cos(x), by a loop written anew.
        let mut expected = 0.0;
        for step in 1..=1000_u32 {
            expected += f64::from(step).sqrt() * (2.0 * f64::from(step)).sin() / 2.0;
        }
        assert!((unit(0.0) - expected).abs() < 1e-9);
        assert!((unit(unit(5.0)) - 5.0 - 2.0 * expected).abs() < 1e-9);
    }
}
