//! The null distribution of Wilcoxon's signed-rank statistic (Wilcoxon 1945).

use std::sync::OnceLock;

/// Up to so many numbers the distribution is counted out; above, the normal approximation is
/// good to less than one place in the order of the pair means (a test compares them).
const COUNTED_OUT: usize = 50;

/// Which order statistics of the n(n + 1)/2 pair means are the ends of an interval: the number
/// at `place` from either end (from 1), moved by `weight` (0 to 1) towards the next one inwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) place: usize,
    pub(crate) weight: f64,
}

/// The place of the 95 % interval's ends for `count` numbers; `None` below 6, where even the
/// outermost pair means enclose the centre with less than 95 %.
///
/// The statistic is discrete, so the coverage jumps from place to place; between the two places
/// around 95 % the ends are interpolated linearly in the coverage, which brings it near 95 %
/// (simulation: 94 to 97 % from 6 numbers up).
pub(crate) fn place(count: usize) -> Option<Place> {
    static KNOWN: [OnceLock<Option<Place>>; COUNTED_OUT + 1] =
        [const { OnceLock::new() }; COUNTED_OUT + 1];
    match KNOWN.get(count) {
        Some(known) => *known.get_or_init(|| counted_out(count)),
        None => Some(approximate(count)),
    }
}

/// P(T ≤ t) at each t, counted out by adding one rank after the other.
pub(crate) fn cumulative(count: usize) -> Vec<f64> {
    let most = count * (count + 1) / 2;
    let mut chance = vec![0.0; most + 1];
    chance[0] = 1.0;
    for rank in 1..=count {
        for total in (0..=most).rev() {
            let with = if total >= rank { chance[total - rank] } else { 0.0 };
            chance[total] = (chance[total] + with) / 2.0;
        }
    }
    let mut sum = 0.0;
    for slot in &mut chance {
        sum += *slot;
        *slot = sum;
    }
    chance
}

fn counted_out(count: usize) -> Option<Place> {
    let cumulative = cumulative(count);
    let outside = |place: usize| 2.0 * cumulative[place - 1];
    if count < 2 || outside(1) > 0.05 {
        return None;
    }
    let mut place = 1;
    while outside(place + 1) <= 0.05 {
        place += 1;
    }
    let weight = (0.05 - outside(place)) / (outside(place + 1) - outside(place));
    Some(Place { place, weight })
}

fn approximate(count: usize) -> Place {
    let n = count as f64;
    let mean = n * (n + 1.0) / 4.0;
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    // The half is the correction for continuity.
    let exact = mean - crate::tail::NORMAL_975 * deviation + 0.5;
    Place { place: exact.floor() as usize, weight: exact.fract() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_is_that_of_the_tables() {
        // Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, table A.4:
        // P(T+ >= 39) = 0.020 for n = 9, so P(T+ <= 6) = 0.027 and P(T+ <= 5) = 0.020.
        let nine = cumulative(9);
        assert!((nine[5] - 10.0 / 512.0).abs() < 1e-12);
        assert!((nine[6] - 14.0 / 512.0).abs() < 1e-12);
        assert!((nine[45] - 1.0).abs() < 1e-12);
        // Six numbers: all on one side in 1 of 64 ways.
        assert!((cumulative(6)[0] - 1.0 / 64.0).abs() < 1e-15);
    }

    #[test]
    fn places_enclose_95_percent() {
        assert_eq!(place(5), None);
        assert_eq!(place(1), None);
        // n = 6: 96.875 % at the outermost, 93.75 % one further in; 0.6 of the way is 95 %.
        let six = place(6).unwrap();
        assert_eq!(six.place, 1);
        assert!((six.weight - 0.6).abs() < 1e-12);
        // n = 9: 96.1 % at the 6th place, 94.5 % at the 7th.
        let nine = place(9).unwrap();
        assert_eq!(nine.place, 6);
        assert!((nine.weight - (0.05 - 20.0 / 512.0) / (8.0 / 512.0)).abs() < 1e-12);
    }

    #[test]
    fn the_approximation_joins_what_is_counted_out() {
        let exact = counted_out(50).unwrap();
        let near = approximate(50);
        let position = |place: Place| place.place as f64 + place.weight;
        assert!((position(exact) - position(near)).abs() < 1.0, "{exact:?} {near:?}");
        assert!(place(51).unwrap().place >= exact.place);
    }
}
