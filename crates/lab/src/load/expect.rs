//! Thresholds of a load: `--expect 'p99 < 50ms'`.

use super::slices::Slices;
use crate::quantity;
use ask::units;
use model::{Estimate, Expectation, Expected, LoadNumber, LoadResult};

/// Requests that tell a mean or a rate of half of its limit from one of twice, if all of them succeed.
const REQUESTS_MIN: u64 = 100;

/// The percentiles that a result has, in percent.
const PERCENTS: [f64; 7] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// A threshold and its wanted side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Threshold {
    text: String,
    number: LoadNumber,
    /// Whether the number should be less.
    less: bool,
    /// In ns, per second, or as a share.
    limit: f64,
}

/// Parses a threshold, such as `p99 < 50ms`, `errors < 0.1%` or `rate > 1000/s`.
pub(crate) fn parse(text: &str) -> Result<Threshold, String> {
    const RIGHT: &str = "expected NUMBER < LIMIT or NUMBER > LIMIT, such as 'p99 < 50ms'";
    let sign = text.find(['<', '>']).ok_or_else(|| format!("no < or > in it; {RIGHT}"))?;
    let (name, limit) = (text[..sign].trim(), text[sign + 1..].trim());
    let limit = limit.strip_prefix('=').unwrap_or(limit).trim();
    let number = number(name)?;
    Ok(Threshold {
        text: wording::cleaned(text.trim()),
        number,
        less: text[sign..].starts_with('<'),
        limit: limit_of(number, limit)?,
    })
}

/// Returns the number of a name.
pub(crate) fn number(name: &str) -> Result<LoadNumber, String> {
    let percentile = |percent: &str| PERCENTS.into_iter().find(|it| it.to_string() == percent);
    let of_succeeded = name.strip_suffix("(ok)").map(str::trim_end);
    if let Some(LoadNumber::Percentile(percent)) = of_succeeded.and_then(|name| number(name).ok()) {
        return Ok(LoadNumber::Succeeded(percent));
    }
    match name {
        "mean" => Ok(LoadNumber::Mean),
        "errors" => Ok(LoadNumber::Errors),
        "rate" => Ok(LoadNumber::Rate),
        _ => name.strip_prefix('p').and_then(percentile).map(LoadNumber::Percentile).ok_or_else(|| {
            format!(
                "unknown number {:?}; there are p50, p75, p90, p95, p99, p99.9, p99.99 (of the answers \
                 that succeeded: p99(ok)), mean, errors and rate",
                wording::short(name, 40)
            )
        }),
    }
}

/// Returns the name of a number.
pub(crate) fn name(number: LoadNumber) -> String {
    match number {
        LoadNumber::Percentile(percent) => format!("p{percent}"),
        LoadNumber::Succeeded(percent) => format!("p{percent}(ok)"),
        LoadNumber::Mean => "mean".into(),
        LoadNumber::Errors => "errors".into(),
        LoadNumber::Rate => "rate".into(),
    }
}

fn limit_of(number: LoadNumber, text: &str) -> Result<f64, String> {
    let what = name(number);
    match number {
        LoadNumber::Percentile(_) | LoadNumber::Succeeded(_) | LoadNumber::Mean => {
            quantity::time(text)
                .map_err(|_| format!("{what} needs a time with its unit, such as 50ms"))
        }
        LoadNumber::Errors => units::share(text)
            .filter(|share| *share <= 1.0)
            .ok_or_else(|| "errors needs a percentage from 0% to 100%, such as 0.1%".into()),
        LoadNumber::Rate => quantity::rate(text)
            .map_err(|_| "rate needs a rate with its unit, such as 1000/s".into()),
    }
}

impl Threshold {
    /// Decides whether a load meets it: by how many of its requests lie beyond, and else by the whole interval
    /// of its number.
    pub(super) fn judge(&self, result: &LoadResult, slices: &Slices<'_>) -> Expectation {
        let (point, found) = result.number(self.number);
        let judged = match self.number {
            LoadNumber::Percentile(percent) => {
                analysis::load_within(&slices.all(), self.limit, 1.0 - percent / 100.0)
            }
            LoadNumber::Succeeded(percent) => {
                analysis::load_within(&slices.succeeded(), self.limit, 1.0 - percent / 100.0)
            }
            LoadNumber::Errors => analysis::load_errors_within(&slices.all(), self.limit),
            LoadNumber::Mean | LoadNumber::Rate => None,
        };
        let by_count = judged.map_or(Expected::Undecided, |judged| match judged.within {
            Expected::Met if !self.less => Expected::NotMet,
            Expected::NotMet if !self.less => Expected::Met,
            within => within,
        });
        let counts = &result.counts;
        let outcome = match (by_count, self.number, found) {
            // That no request at all fails can be counted and not estimated.
            (_, LoadNumber::Errors, _) if self.limit == 0.0 && self.less => {
                if result.counts.unsuccessful() == 0 { Expected::Met } else { Expected::NotMet }
            }
            (Expected::Undecided, _, Some(found)) => self.side(&found),
            // Too short for an interval, and long enough to tell half of the limit from twice.
            (_, LoadNumber::Mean | LoadNumber::Rate, None) if counts.due() >= REQUESTS_MIN => {
                let is_far = |x: &f64| *x <= self.limit / 2.0 || *x >= self.limit * 2.0;
                let far = point.filter(is_far).filter(|_| counts.unsuccessful() == 0);
                far.map_or(Expected::Undecided, |x| self.side_of(x, x))
            }
            (by_count, ..) => by_count,
        };
        // Refusals are fast: where they are more than may lie beyond the percentile, it is theirs.
        let is_theirs = self.less && may_be_of_a_failure(self.number, counts.error_share());
        let outcome = if is_theirs { outcome.max(Expected::Undecided) } else { outcome };
        // Of those that succeed, more must be sent.
        let sent = match self.number {
            LoadNumber::Succeeded(_) => counts.due() as f64 / counts.succeeded.max(1) as f64,
            _ => 1.0,
        };
        let requests = judged.and_then(|it| it.requests).map(|n| (n as f64 * sent).ceil() as u64);
        let requests = requests.filter(|_| outcome == Expected::Undecided);
        Expectation {
            text: self.text.clone(),
            number: self.number,
            outcome,
            point,
            found,
            requests,
        }
    }

    /// Reports whether it is about requests without success.
    pub(super) fn is_about_errors(expected: &Expectation) -> bool {
        expected.number == LoadNumber::Errors
    }

    fn side(&self, found: &Estimate) -> Expected {
        self.side_of(found.low, found.high)
    }

    fn side_of(&self, low: f64, high: f64) -> Expected {
        let (below, above) = (high < self.limit, low > self.limit);
        match (below, above) {
            (true, _) => {
                if self.less {
                    Expected::Met
                } else {
                    Expected::NotMet
                }
            }
            (_, true) => {
                if self.less {
                    Expected::NotMet
                } else {
                    Expected::Met
                }
            }
            _ => Expected::Undecided,
        }
    }
}

/// Reports whether enough requests ended without success that a percentile of all may be one of these.
fn may_be_of_a_failure(number: LoadNumber, errors: Option<f64>) -> bool {
    matches!(number, LoadNumber::Percentile(percent) if errors.is_some_and(|it| it > 1.0 - percent / 100.0))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;
    use crate::load::tests::result;
    use model::{LoadCounts, LoadInterval, LoadIntervals};

    #[test]
    fn thresholds_have_a_number_a_side_and_a_unit() {
        let of = |text| parse(text).map(|it| (it.number, it.less, it.limit));
        assert_eq!(of("p99 < 50ms"), Ok((LoadNumber::Percentile(99.0), true, 50e6)));
        assert_eq!(of("p99.9<=1.5s"), Ok((LoadNumber::Percentile(99.9), true, 1.5e9)));
        assert_eq!(of("p99(ok) < 50ms"), Ok((LoadNumber::Succeeded(99.0), true, 50e6)));
        assert_eq!(of("errors < 0.1%"), Ok((LoadNumber::Errors, true, 0.001)));
        assert_eq!(of(" rate >1000/s"), Ok((LoadNumber::Rate, false, 1000.0)));
        for (text, word) in [
            ("p99", "no < or >"),
            ("p98 < 5ms", "p99.99"),
            ("p99 < 50", "unit, such as 50ms"),
            ("mean < 5/s", "unit, such as 50ms"),
            ("p99(ko) < 5ms", "p99(ok)"),
            ("mean(ok) < 5ms", "p99(ok)"),
            ("errors < 5", "percentage"),
            ("errors < 101%", "percentage"),
            ("rate > 1000", "1000/s"),
            ("< 5ms", "unknown number \"\""),
            ("p\u{1b}99 < 5ms", "unknown number"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn the_whole_interval_decides() {
        let p99 = |ends: Option<(f64, f64)>| {
            let ns = ends.map(|(low, high)| Estimate::between(low, low, high));
            let percentiles = vec![LoadInterval { percent: 99.0, ns }];
            let intervals = LoadIntervals { percentiles, ..LoadIntervals::default() };
            let outcome = |text| {
                parse(text).unwrap().judge(
                    &LoadResult { intervals: intervals.clone(), ..result() },
                    &Slices::of(&[], 0),
                )
            };
            [outcome("p99 < 50ms").outcome, outcome("p99 > 50ms").outcome]
        };
        assert_eq!(p99(Some((40e6, 49e6))), [Expected::Met, Expected::NotMet]);
        assert_eq!(p99(Some((51e6, 60e6))), [Expected::NotMet, Expected::Met]);
        assert_eq!(p99(Some((40e6, 60e6))), [Expected::Undecided; 2]);
        assert_eq!(p99(None), [Expected::Undecided; 2]);
    }

    #[test]
    fn a_percentile_of_refusals_meets_nothing() {
        let ns = Some(Estimate::between(1e5, 2e5, 3e5));
        let percentiles = vec![LoadInterval { percent: 50.0, ns }];
        let intervals = LoadIntervals { percentiles, ..LoadIntervals::default() };
        let outcome = |failed: u64, text| {
            let counts = LoadCounts { succeeded: 100, timed_out: failed, ..LoadCounts::default() };
            let result = LoadResult { counts, intervals: intervals.clone(), ..result() };
            parse(text).unwrap().judge(&result, &Slices::of(&[], 0)).outcome
        };
        assert_eq!(outcome(90, "p50 < 50ms"), Expected::Met);
        assert_eq!(outcome(300, "p50 < 50ms"), Expected::Undecided);
        assert_eq!(outcome(300, "p50 < 50us"), Expected::NotMet);
    }

    #[test]
    fn no_error_at_all_is_counted() {
        let with = |timed_out| {
            let counts = LoadCounts { timed_out, ..LoadCounts::default() };
            parse("errors <= 0%")
                .unwrap()
                .judge(&LoadResult { counts, ..result() }, &Slices::of(&[], 0))
                .outcome
        };
        assert_eq!((with(0), with(1)), (Expected::Met, Expected::NotMet));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::default()
        })]

        #[test]
        fn any_text_is_a_threshold_or_refused(text in proptest::prop_oneof![
            "(p99|mean|errors|rate|p5) ?[<>]=? ?[0-9.]{0,5}(ms|%|/s)?", ".*"
        ]) {
            match parse(&text) {
                Ok(threshold) => proptest::prop_assert!(threshold.limit.is_finite()),
                Err(why) => proptest::prop_assert!(!why.is_empty()),
            }
        }
    }
}
