//! Percentiles of times of which some are only known to be longer than what had passed.

use super::Times;
use hdrhistogram::Histogram;
use model::{LoadPercentile, LoadTimes};

/// Times by value, ascending: the upper end of a bucket in ns, and how many.
pub type Counts = Vec<(u64, u64)>;

/// Times of requests that ended in a slice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// Of those whose time is known.
    pub known: Counts,
    /// Of those without an answer: what had passed by then.
    pub censored: Counts,
}

impl Counted {
    pub(super) fn of(times: &Times) -> Self {
        Self { known: counts(&times.known), censored: counts(&times.censored) }
    }

    pub(super) fn add(&mut self, other: &Counted) {
        add(&mut self.known, &other.known);
        add(&mut self.censored, &other.censored);
    }
}

/// Adds counts to others, both ascending.
pub(super) fn add(sum: &mut Counts, part: &Counts) {
    if part.is_empty() {
        return;
    }
    sum.extend(part);
    // It finds the two that are in order, and merges them.
    sum.sort();
    sum.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0 };
        same
    });
}

/// What a result shows, in percent.
pub(super) const PERCENTS: [f64; 7] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// Returns the times that given percentages of requests did not exceed, by the estimator of Kaplan
/// and Meier (*Journal of the American Statistical Association* 53, 1958) in the form in which what is
/// censored hands its weight on to all that took longer (Efron, *The two sample problem with
/// censored data*, 1967): the same number, and exact where nothing is censored.
///
/// A time is the upper end of its bucket (three digits), as of `Histogram::value_at_percentile`.
/// What was given up in the same bucket as a known time is taken to have lasted longer. `None`
/// where too many were given up to know, and where there is nothing.
///
/// `percents` ascend, from 0 to 100.
pub(super) fn percentiles(times: &Counted, percents: &[f64]) -> Vec<LoadPercentile> {
    let total: u64 = times.known.iter().chain(&times.censored).map(|(_, count)| count).sum();
    let mut found: Vec<LoadPercentile> =
        percents.iter().map(|percent| LoadPercentile { percent: *percent, ns: None }).collect();
    let mut open = found.iter_mut().peekable();
    let mut given_up = times.censored.iter().peekable();
    // The requests still waited for, how many requests each of them stands for, and those that
    // have been answered, in such units.
    let (mut waiting, mut weight, mut answered) = (total, 1.0_f64, 0.0_f64);
    for (value, known) in &times.known {
        let mut lost = 0;
        // Those of buckets below: a request of the same bucket is still waited for.
        while let Some((_, count)) = given_up.next_if(|(earlier, _)| earlier < value) {
            lost += count;
        }
        weight *= waiting as f64 / (waiting - lost) as f64;
        waiting -= lost + known;
        answered += *known as f64 * weight;
        // Rounding errors of the weights must not move a percentile to the next bucket.
        let reached = answered * (1.0 + 1e-12);
        while let Some(percentile) = open.next_if(|it| it.percent / 100.0 * total as f64 <= reached)
        {
            percentile.ns = Some(*value);
        }
    }
    found
}

/// What a result says of times.
pub(super) fn summary(times: &Times) -> LoadTimes {
    let Times { known, censored } = times;
    let any = !known.is_empty();
    let all = known.len() + censored.len();
    let least_ns = (sum_ns(known) + sum_ns(censored)) / all as f64;
    let counted = Counted::of(times);
    LoadTimes {
        count: known.len(),
        censored: censored.len(),
        min_ns: any.then(|| known.min()),
        mean_ns: (any && censored.is_empty()).then_some(least_ns),
        mean_least_ns: (all > 0).then_some(least_ns),
        max_ns: any.then(|| known.max()),
        percentiles: percentiles(&counted, &PERCENTS),
    }
}

/// The sum of what a histogram holds, to its three digits.
pub(super) fn sum_ns(histogram: &Histogram<u64>) -> f64 {
    if histogram.is_empty() { 0.0 } else { histogram.mean() * histogram.len() as f64 }
}

/// Returns what a histogram holds.
fn counts(histogram: &Histogram<u64>) -> Counts {
    histogram.iter_recorded().map(|it| (it.value_iterated_to(), it.count_at_value())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(known: &[u64], censored: &[u64]) -> Times {
        let mut times = Times::default();
        known.iter().for_each(|ns| times.known.record(*ns).unwrap());
        censored.iter().for_each(|ns| times.censored.record(*ns).unwrap());
        times
    }

    fn at(times: &Times, percents: &[f64]) -> Vec<Option<u64>> {
        let counted = Counted { known: counts(&times.known), censored: counts(&times.censored) };
        percentiles(&counted, percents).iter().map(|found| found.ns).collect()
    }

    #[test]
    fn the_remission_times_of_freireich_by_hand() {
        // Weeks of remission under 6-mercaptopurine (Freireich and others, Blood 21, 1963), the
        // example of most textbooks: S = 0.857 at 6, 0.807 at 7, 0.753 at 10, 0.690 at 13, 0.627 at
        // 16, 0.538 at 22, 0.448 at 23, and nothing known beyond.
        let times = times(
            &[6, 6, 6, 7, 10, 13, 16, 22, 23],
            &[6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35],
        );
        let percents = [14.2, 14.3, 19.2, 19.4, 24.6, 24.8, 31.3, 46.1, 46.3, 50.0, 55.1, 55.3];
        let expected = [6, 7, 7, 10, 10, 13, 16, 22, 23, 23, 23];
        let found = at(&times, &percents);
        assert_eq!(found[..11], expected.map(Some));
        assert_eq!(found[11], None);
    }

    #[test]
    fn nothing_is_known_of_nothing_and_of_what_was_given_up() {
        assert_eq!(at(&times(&[], &[]), &[0.0, 50.0, 100.0]), [None; 3]);
        assert_eq!(at(&times(&[], &[5, 6]), &[50.0]), [None]);
        // Given up late, half of them: the other half's times are the lower percentiles.
        let half = times(&[10, 10], &[900, 900]);
        assert_eq!(at(&half, &[0.0, 50.0, 50.1, 100.0]), [Some(10), Some(10), None, None]);
        // Given up at once: they say nothing.
        assert_eq!(at(&times(&[10, 20], &[0, 0, 0]), &[50.0, 100.0]), [Some(10), Some(20)]);
    }

    #[test]
    fn a_mean_is_a_lower_bound_where_any_was_given_up() {
        let whole = summary(&times(&[1, 2, 6], &[]));
        assert_eq!((whole.count, whole.min_ns, whole.max_ns), (3, Some(1), Some(6)));
        assert_eq!(whole.mean_ns, Some(3.0));
        let cut = summary(&times(&[1, 2, 6], &[7]));
        assert_eq!((cut.mean_ns, cut.mean_least_ns, cut.censored), (None, Some(4.0), 1));
        let none = summary(&times(&[], &[]));
        assert_eq!((none.min_ns, none.mean_ns, none.mean_least_ns), (None, None, None));
    }

    proptest! {
        #[test]
        fn without_censoring_they_are_the_ordinary_ones(
            mut known in prop::collection::vec(0_u64..1 << 40, 1..400),
            mut parts in prop::collection::vec(1_u64..=10_000, 1..20),
        ) {
            let times = times(&known, &[]);
            known.sort_unstable();
            parts.sort_unstable();
            let percents: Vec<f64> = parts.iter().map(|part| *part as f64 / 100.0).collect();
            for (part, found) in parts.iter().zip(at(&times, &percents)) {
                let rank = (part * known.len() as u64).div_ceil(10_000);
                let exact = known[rank as usize - 1];
                prop_assert_eq!(found, Some(times.known.highest_equivalent(exact)));
            }
        }

        #[test]
        fn censoring_never_shortens_and_they_ascend(
            known in prop::collection::vec(0_u64..100_000, 1..200),
            censored in prop::collection::vec(0_u64..100_000, 0..200),
        ) {
            let percents: Vec<f64> = (0..=100).map(f64::from).collect();
            let plain = at(&times(&known, &[]), &percents);
            let found = at(&times(&known, &censored), &percents);
            for (found, plain) in found.iter().zip(&plain) {
                // `None` is beyond all that is known.
                prop_assert!(found.is_none_or(|ns| Some(ns) >= *plain));
            }
            let known: Vec<u64> = found.iter().flatten().copied().collect();
            prop_assert!(known.is_sorted());
            prop_assert!(found.iter().is_sorted_by_key(|ns| ns.is_none()));
        }

        #[test]
        fn it_is_the_product_of_kaplan_and_meier(
            known in prop::collection::vec(0_u64..30, 1..40),
            censored in prop::collection::vec(0_u64..30, 0..40),
            percent in 1_u32..100,
        ) {
            let at_least = |list: &[u64], ns: u64| list.iter().filter(|it| **it >= ns).count();
            let mut survival = 1.0;
            let mut expected = None;
            for ns in 0..30 {
                let risk = at_least(&known, ns) + at_least(&censored, ns);
                let events = known.iter().filter(|it| **it == ns).count();
                if risk > 0 {
                    survival *= 1.0 - events as f64 / risk as f64;
                }
                let wanted = 1.0 - f64::from(percent) / 100.0;
                if events > 0 && expected.is_none() && survival <= wanted + 1e-9 {
                    expected = Some(ns);
                }
            }
            let found = at(&times(&known, &censored), &[f64::from(percent)]);
            prop_assert_eq!(found, [expected]);
        }
    }
}
