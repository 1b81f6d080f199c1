//! Numbers with a unit, as people type them. A number without one is refused: half of the mistakes
//! with calculators of this kind are about what a number counts.

use ask::units;
use model::Unit;

/// Returns a rate, such as `500/s`, `90/min` or `2000/h`, per second.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    const RIGHT: &str = "a rate is a number and /s, /min or /h, such as 500/s";
    let (number, unit) = text.split_once('/').ok_or(RIGHT)?;
    let per_s = match unit {
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(RIGHT.into()),
    };
    above_zero(plain(number)).map(|count| count / per_s).ok_or_else(|| RIGHT.into())
}

/// Returns a length of time, such as `20ms`, `1.5s` or `300us`, in nanoseconds.
pub(crate) fn time(text: &str) -> Result<f64, String> {
    const RIGHT: &str = "a time is a number and ns, us, ms, s, min or h, such as 20ms";
    above_zero(units::time_ns(text)).ok_or_else(|| RIGHT.into())
}

/// Returns a length of time in nanoseconds, of seconds where no unit is given.
pub(crate) fn time_or_seconds(text: &str) -> Option<f64> {
    units::time_ns(text).or_else(|| plain(text).map(|seconds| seconds * 1e9))
}

/// Returns an amount of memory, such as `512MiB` or `2GB`, in bytes.
pub(crate) fn memory(text: &str) -> Result<f64, String> {
    const RIGHT: &str = "an amount of memory is a number and kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB \
         (of 1024), such as 2GiB";
    above_zero(units::in_unit(text, &Unit::Bytes).ok()).ok_or_else(|| RIGHT.into())
}

/// Returns a part of a whole, such as `0.3` or `30%`.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    const RIGHT: &str = "a share is a number from 0 to 1, or 0% to 100%, such as 0.3 or 30%";
    let share = units::share(text).or_else(|| plain(text));
    share.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| RIGHT.into())
}

/// Returns a number if a computer can have that number of anything.
fn above_zero(number: Option<f64>) -> Option<f64> {
    number.filter(|number| *number > 0.0 && (1e-9..=1e21).contains(number))
}

/// Parses digits with at most one point.
pub(crate) fn plain(text: &str) -> Option<f64> {
    let plain = |c: char| c.is_ascii_digit() || c == '.';
    let typed = text.chars().all(plain) && text.starts_with(|c: char| c.is_ascii_digit());
    text.parse().ok().filter(|_| typed)
}

#[cfg(test)]
mod tests {
    use super::{memory, rate, share, time};
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_with_their_units() {
        assert_eq!((rate("500/s"), rate("90/min"), rate("7200/h")), (Ok(500.0), Ok(1.5), Ok(2.0)));
        assert_eq!((time("20ms"), time("1.5s"), time("300us")), (Ok(20e6), Ok(1.5e9), Ok(3e5)));
        assert_eq!((time("300µs"), time("2min"), time("7ns")), (Ok(3e5), Ok(120e9), Ok(7.0)));
        assert_eq!((memory("2GiB"), memory("500MB")), (Ok(2_147_483_648.0), Ok(5e8)));
        assert_eq!(
            (share("0.3"), share("30%"), share("0"), share("1")),
            (Ok(0.3), Ok(0.3), Ok(0.0), Ok(1.0))
        );
    }

    #[test]
    fn what_means_nothing_is_refused_with_what_would_be_right() {
        for bad in
            ["", "500", "500/d", "/s", "-5/s", "0/s", "inf/s", "1e3/s", "5/s/s", "+5/s", "NaN/s"]
        {
            assert!(rate(bad).is_err_and(|why| why.contains("500/s")), "{bad}");
        }
        for bad in ["", "20", "ms", "-20ms", "0s", "20S", "1.2.3s", "20ß"] {
            assert!(time(bad).is_err_and(|why| why.contains("20ms")), "{bad}");
        }
        for bad in ["", "2", "2G", "2gb", "-2GB", "0MB", "GiB", "2GiB/s"] {
            assert!(memory(bad).is_err_and(|why| why.contains("2GiB")), "{bad}");
        }
        for bad in ["", "1.5", "-0.1", "101%", "%", "half", "0,3", "nan"] {
            assert!(share(bad).is_err_and(|why| why.contains("0.3")), "{bad}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_a_sound_number_or_refused(text in prop_oneof!["[0-9.+-]{0,25}[a-zßµ/%]{0,4}", ".*"]) {
            for read in [rate, time, memory] {
                if let Ok(value) = read(&text) {
                    prop_assert!(value.is_finite() && value > 0.0, "{text}: {value}");
                }
            }
            if let Ok(value) = share(&text) {
                prop_assert!((0.0..=1.0).contains(&value));
            }
        }
    }
}
