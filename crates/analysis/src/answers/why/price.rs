//! What taking a little of a resource costs.

use crate::stats::interval::Located;
use model::Price;

/// The part that is asked for.
const PART: f64 = 0.1;

/// How far beyond the measured strength a price is given.
const BEYOND: f64 = 1.5;

/// Returns (1 − part)^−e − 1, for the part of 10 %, or for as much as 1.5 times the strongest squeeze
/// reaches. `strongest` is −ln(1 − part) of it. `None` where nothing was taken.
pub(super) fn price(elasticity: &Located, strongest: f64) -> Option<Price> {
    let reach = 1.0 - (-BEYOND * strongest).exp();
    let part = PART.min(reach);
    if part.is_nan() || part <= 0.0 {
        return None;
    }
    let cost = |e: f64| (1.0 - part).powf(-e) - 1.0;
    Some(Price { part, cost: elasticity.estimate(cost) })
}

#[cfg(test)]
mod tests {
    use super::price;
    use crate::stats::interval::centre;

    #[test]
    fn ten_percent_of_all_it_lives_on_costs_a_ninth() {
        let one = centre(&[1.0; 8]).unwrap();
        let described = price(&one, 0.5).unwrap();
        assert_eq!(described.part, 0.1);
        assert!((described.cost.point - 1.0 / 9.0).abs() < 1e-12);
        // Little was taken: no more than 1.5 times that is shown.
        let described = price(&one, 0.02).unwrap();
        assert!((described.part - 0.0295545).abs() < 1e-6, "{}", described.part);
        assert_eq!(price(&one, 0.0), None);
    }
}
