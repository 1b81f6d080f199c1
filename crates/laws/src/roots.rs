//! Roots: of quadratics, without the loss of digits of the school formula, and of anything that
//! turns once.

/// The real roots of a x² + b x + c = 0 in rising order, a ≠ 0: one of them from the sum that
/// does not cancel, the other from the product of both (Press et al., *Numerical Recipes*, 3rd
/// edition 2007, 5.6). Two equal roots where the discriminant is negative by rounding alone.
pub(crate) fn quadratic(a: f64, b: f64, c: f64) -> Option<(f64, f64)> {
    let discriminant = b * b - 4.0 * a * c;
    let rounding = 8.0 * f64::EPSILON * (b * b + (4.0 * a * c).abs());
    if discriminant < -rounding || !discriminant.is_finite() {
        return None;
    }
    let sum = -0.5 * (b + discriminant.max(0.0).sqrt().copysign(b));
    if sum == 0.0 {
        return Some((0.0, 0.0));
    }
    let (one, other) = (sum / a, c / sum);
    Some((one.min(other), one.max(other)))
}

/// Where a condition that is true at `low` and false at `high` turns: to the last digit, in
/// 200 halvings at most.
pub fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    // 200 halvings exhaust the digits of any pair of numbers met here.
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::quadratic;

    #[test]
    fn roots_keep_their_digits_when_one_is_tiny() {
        let (small, large) = quadratic(1.0, -1e9, 1.0).unwrap();
        assert!((small * 1e9 - 1.0).abs() < 1e-12 && (large / 1e9 - 1.0).abs() < 1e-12);
        assert_eq!(quadratic(1.0, 0.0, 1.0), None);
        assert_eq!(quadratic(1.0, 0.0, 0.0), Some((0.0, 0.0)));
        assert_eq!(quadratic(2.0, -4.0, 2.0), Some((1.0, 1.0)));
        assert_eq!(quadratic(f64::NAN, 1.0, 1.0), None);
    }
}
