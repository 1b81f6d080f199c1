//! Loads against each other.

use crate::answers::compare::{Condition, Direction};
use crate::stats::estimate::median_estimate;
use crate::stats::interval::centre;
use model::{Estimate, GateOutcome, LoadGate, LoadNumber, LoadRow};

/// A number of a load: its value and the same with its interval.
pub type Known = (Option<f64>, Option<Estimate>);

/// Returns a number of a side, from 1, next to that of the base; each is of a single load. The interval
/// of the ratio is made of both by the method of Zou and Donner (*Construction of confidence limits about
/// effect measures*, Statistics in Medicine 27, 2008).
pub fn load_row(side: usize, number: LoadNumber, base: Known, value: Known) -> LoadRow {
    let both = base.1.zip(value.1);
    let logarithm = |it: Estimate| it.map(f64::ln);
    let positive = both.filter(|(base, value)| base.low > 0.0 && value.low > 0.0);
    let ratio = positive.map(|(base, value)| {
        let samples = base.samples.min(value.samples);
        let effect = difference(logarithm(base), logarithm(value)).map(f64::exp);
        Estimate { samples, ..effect }
    });
    let differs = both.map(|(base, value)| {
        let effect = difference(base, value);
        effect.low > 0.0 || effect.high < 0.0
    });
    let differs = ratio.map(|ratio| ratio.low > 1.0 || ratio.high < 1.0).or(differs);
    LoadRow { side, number, base: base.0, value: value.0, ratio, differs }
}

fn difference(base: Estimate, value: Estimate) -> Estimate {
    let point = value.point - base.point;
    let below = (value.point - value.low).hypot(base.high - base.point);
    let above = (value.high - value.point).hypot(base.point - base.low);
    Estimate::between(point - below, point, point + above)
}

/// Returns a number of two sides that took turns: a pair for each block.
pub fn load_row_of_blocks(number: LoadNumber, blocks: &[(f64, f64)]) -> LoadRow {
    let (base, value): (Vec<f64>, Vec<f64>) = blocks.iter().copied().unzip();
    let positive = blocks.iter().all(|(base, value)| *base > 0.0 && *value > 0.0);
    let logs: Vec<f64> = blocks.iter().map(|(base, value)| (value / base).ln()).collect();
    let ratio = centre(&logs).filter(|_| positive).map(|located| located.estimate(f64::exp));
    let differences: Vec<f64> = blocks.iter().map(|(base, value)| value - base).collect();
    let effect = centre(&differences).map(|located| located.estimate(|it| it));
    let excludes = |estimate: Estimate, nothing| estimate.low > nothing || estimate.high < nothing;
    let differs = match (ratio, effect) {
        (Some(ratio), _) => Some(excludes(ratio, 1.0)),
        (None, effect) => effect.map(|effect| excludes(effect, 0.0)),
    };
    let median = |values: &[f64]| median_estimate(values).map(|known| known.point);
    let (base, value) = (median(&base), median(&value));
    LoadRow { side: 1, number, base, value, ratio, differs }
}

/// Judges a condition by the rows of its number.
pub fn load_gate(condition: &Condition, number: LoadNumber, rows: &[LoadRow]) -> LoadGate {
    let own = rows.iter().filter(|row| row.number == number);
    let outcome = |row: &LoadRow| {
        let Some(ratio) = row.ratio else {
            // No requests without success on either side: nothing has grown.
            let none = (row.base, row.value) == (Some(0.0), Some(0.0));
            return if none { GateOutcome::Fine } else { GateOutcome::CannotTell };
        };
        let (fine, beyond) = match condition.direction {
            Direction::Above => (ratio.high < condition.edge, ratio.low > condition.edge),
            Direction::Below => (ratio.low > condition.edge, ratio.high < condition.edge),
        };
        match (fine, beyond) {
            (true, _) => GateOutcome::Fine,
            (_, true) => GateOutcome::Regression,
            _ => GateOutcome::CannotTell,
        }
    };
    let outcome = own.map(outcome).max().unwrap_or(GateOutcome::CannotTell);
    LoadGate { condition: condition.text.clone(), number, outcome }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(low: f64, point: f64, high: f64) -> Known {
        (Some(point), Some(Estimate::between(low, point, high)))
    }

    const P99: LoadNumber = LoadNumber::Percentile(99.0);

    #[test]
    fn a_ratio_has_the_interval_of_both_sides() {
        let row = load_row(1, P99, known(90.0, 100.0, 110.0), known(110.0, 120.0, 130.0));
        let ratio = row.ratio.unwrap();
        // Zou and Donner on logarithms: 1.2 / exp(√(ln(12/11)² + ln(11/10)²)).
        let below = ((12.0_f64 / 11.0).ln().powi(2) + 1.1_f64.ln().powi(2)).sqrt();
        assert!((ratio.point - 1.2).abs() < 1e-9 && (ratio.low - 1.2 / below.exp()).abs() < 1e-9);
        assert_eq!(row.differs, Some(true));
        let noise = load_row(1, P99, known(12.9e6, 14.1e6, 15.4e6), known(13.2e6, 14.6e6, 16.0e6));
        assert_eq!(noise.differs, Some(false));
        // No error on either side: a share without a ratio.
        let errors = load_row(1, LoadNumber::Errors, known(0.0, 0.0, 0.01), known(0.1, 0.2, 0.3));
        assert_eq!((errors.ratio, errors.differs), (None, Some(true)));
        let unknown = load_row(1, P99, (Some(5.0), None), known(1.0, 2.0, 3.0));
        assert_eq!((unknown.ratio, unknown.differs), (None, None));
    }

    #[test]
    fn blocks_are_paired() {
        // Blocks differ by a hundred times more than sides.
        let blocks: Vec<(f64, f64)> = (1..=10)
            .map(|block| (1e6 * f64::from(block * block), 1.1e6 * f64::from(block * block)))
            .collect();
        let row = load_row_of_blocks(P99, &blocks);
        let ratio = row.ratio.unwrap();
        assert!((ratio.low - 1.1).abs() < 1e-9 && row.differs == Some(true), "{row:?}");
        assert_eq!(load_row_of_blocks(P99, &blocks[..1]).ratio, None);
    }

    #[test]
    fn a_condition_is_decided_by_the_interval() {
        let gate = |text: &str, base, value| {
            let condition: Condition = text.parse().unwrap();
            load_gate(&condition, P99, &[load_row(1, P99, base, value)]).outcome
        };
        let base = known(99.0, 100.0, 101.0);
        assert_eq!(gate("p99 > +5%", base, known(110.0, 111.0, 112.0)), GateOutcome::Regression);
        assert_eq!(gate("p99 > +5%", base, known(100.0, 101.0, 102.0)), GateOutcome::Fine);
        assert_eq!(gate("p99 > +5%", base, known(100.0, 105.0, 110.0)), GateOutcome::CannotTell);
        assert_eq!(gate("p99 < -5%", base, known(80.0, 81.0, 82.0)), GateOutcome::Regression);
        assert_eq!(gate("p99 > +5%", base, (None, None)), GateOutcome::CannotTell);
    }
}
