//! The floor that a session will have, before it begins.

use crate::stats::floor::minimum_detectable;

/// Returns the smallest relative difference between two treatments that `blocks` blocks will find with
/// 80 % power, if they are like those of the ratio whose estimate this is: the scatter of one
/// block is the standard error of the ratio's logarithm times the root of its blocks, and the
/// error of more blocks falls with their root ([`minimum_detectable`]; where blocks drift
/// it falls more slowly, so that a floor far away is a hope and a near one a forecast).
///
/// `None` without a standard error, where all blocks agreed to the last digit, or for fewer than
/// two blocks.
pub fn predict(ratio: &model::Estimate, blocks: u64) -> Option<f64> {
    let one_block = ratio.standard_error? * f64::from(ratio.samples).sqrt();
    let blocks = usize::try_from(blocks).ok()?;
    let least = minimum_detectable(one_block / (blocks as f64).sqrt(), blocks)?.exp_m1();
    least.is_finite().then_some(least)
}

#[cfg(test)]
mod tests {
    use super::predict;
    use crate::stats::floor::minimum_detectable;
    use model::Estimate;

    fn ratio(standard_error: Option<f64>, samples: u32) -> Estimate {
        Estimate { point: 1.0, low: 0.9, high: 1.1, standard_error, level: 0.95, samples }
    }

    #[test]
    fn as_many_blocks_again_give_the_floor_that_is_there() {
        let floor = minimum_detectable(0.01, 20).unwrap().exp_m1();
        assert!((predict(&ratio(Some(0.01), 20), 20).unwrap() - floor).abs() < 1e-12);
    }

    #[test]
    fn a_hundred_times_the_blocks_give_a_tenth_of_the_floor() {
        let ratio = ratio(Some(0.001), 1_000);
        let (near, far) = (predict(&ratio, 1_000).unwrap(), predict(&ratio, 100_000).unwrap());
        assert!((near / far - 10.0).abs() < 0.1, "{near} {far}");
        let two = predict(&ratio, 2).unwrap();
        assert!(two > near, "fewer blocks see less: {two}");
    }

    #[test]
    fn nothing_is_predicted_from_nothing() {
        assert_eq!(predict(&ratio(None, 20), 20), None);
        assert_eq!(predict(&ratio(Some(0.0), 20), 20), None);
        assert_eq!(predict(&ratio(Some(0.01), 20), 1), None);
        assert_eq!(predict(&ratio(Some(0.01), 20), 0), None);
        assert_eq!(predict(&ratio(Some(1e6), 2), 2), None, "no number is so large");
    }
}
