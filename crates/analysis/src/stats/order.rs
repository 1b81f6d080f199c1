//! Order statistics and moments of a sample.

use laws::tail::student_outside;

/// Returns the probability that numbers without a trend rise or fall as much in their order, by the test of Mann and
/// Kendall (H. B. Mann, Econometrica 13, 1945).
pub(crate) fn trend(values: &[f64]) -> f64 {
    let later =
        |place: usize| values[place + 1..].iter().map(move |after| after.total_cmp(&values[place]));
    let rises: i32 = (0..values.len()).flat_map(later).map(|order| order as i32).sum();
    let n = values.len() as f64;
    let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    let z = (f64::from(rises.abs()) - 1.0).max(0.0) / variance.sqrt();
    student_outside(f64::from(u32::MAX), z)
}

/// Reports whether neighbours among numbers differ as others do: J. von Neumann's ratio of their squared differences to
/// all squares (Annals of Mathematical Statistics 12, 1941), 2 by chance, is at least 1.
pub(crate) fn is_without_order(values: &[f64]) -> bool {
    let mean = mean(values).unwrap_or_default();
    let steps: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    steps >= squares
}

/// Returns a copy in ascending order, without the numbers that are not finite.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Returns the quantile at `p` (0 to 1) of numbers in ascending order: definition 7 of Hyndman and Fan
/// (*Sample quantiles in statistical packages*, The American Statistician 50, 1996), linear
/// between the order statistics at (n − 1)p. `None` for an empty slice or a `p` outside 0..=1.
pub fn quantile(ascending: &[f64], p: f64) -> Option<f64> {
    if ascending.is_empty() || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let place = (ascending.len() - 1) as f64 * p;
    let below = place.floor() as usize;
    let above = (below + 1).min(ascending.len() - 1);
    let weight = place - place.floor();
    Some(ascending[below] + weight * (ascending[above] - ascending[below]))
}

/// Returns the median: the middle number, or the mean of the two in the middle. `None` for an empty
/// slice.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut scratch = values.to_vec();
    median_in_place(&mut scratch)
}

/// Returns the same, reordering the slice instead of copying it: linear in its length, since a trial may
/// hold thousands of observations.
pub(crate) fn median_in_place(values: &mut [f64]) -> Option<f64> {
    let count = values.len();
    if count == 0 {
        return None;
    }
    let (below, &mut upper, _) = values.select_nth_unstable_by(count / 2, f64::total_cmp);
    if count % 2 == 1 {
        return Some(upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
    Some((lower + upper) / 2.0)
}

/// Returns the arithmetic mean; `None` for an empty slice.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the variance of a sample, with n − 1 below the line; `None` for fewer than 2 numbers.
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    Some(squares / (values.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_definition_7() {
        // R: quantile(c(1, 3, 4, 8, 10), c(0, .1, .25, .5, .9, 1), type = 7)
        let ascending = [1.0, 3.0, 4.0, 8.0, 10.0];
        let wanted = [(0.0, 1.0), (0.1, 1.8), (0.25, 3.0), (0.5, 4.0), (0.9, 9.2), (1.0, 10.0)];
        for (p, value) in wanted {
            assert!((quantile(&ascending, p).unwrap() - value).abs() < 1e-12, "{p}");
        }
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&ascending, 1.5), None);
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn the_variance_has_n_minus_1_below_the_line() {
        assert_eq!(variance(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]), Some(32.0 / 7.0));
        assert_eq!(variance(&[2.0]), None);
    }
}
