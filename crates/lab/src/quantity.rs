//! Numbers with a unit, as people type them. A number without one is refused: half of the mistakes
//! with calculators of this kind are about what a number counts.

use ask::units;
use model::{MemoryRange, ProgramFile, Replacement, Unit, measures};

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

/// The longest time that is measured or waited in, in milliseconds: a week.
const DURATION_MAX_MS: f64 = 7.0 * 24.0 * 3600.0 * 1e3;

/// Returns the length of time in which something is measured or waited for, in milliseconds; a number without
/// a unit is one of seconds.
pub(crate) fn duration_ms(text: &str) -> Result<u64, String> {
    let ns = units::time_ns(text).or_else(|| plain(text).map(|seconds| seconds * 1e9));
    let is_number = text.trim_start().starts_with(|first: char| first.is_ascii_digit());
    match ns.filter(|_| is_number).map(|ns| (ns / 1e6).round()) {
        Some(ms @ 1.0..=DURATION_MAX_MS) => Ok(ms as u64),
        _ => Err("expected a time from 1ms to one week, such as 10s, 1.5m, 2m30s or 250ms".into()),
    }
}

/// Returns an amount of memory, such as `512MiB` or `2GB`, in bytes.
pub(crate) fn memory(text: &str) -> Result<f64, String> {
    const RIGHT: &str = "an amount of memory is a number and kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB \
         (of 1024), such as 2GiB";
    above_zero(units::in_unit(text, &Unit::Bytes).ok()).ok_or_else(|| RIGHT.into())
}

/// Returns the size of a simulated program's stack, such as `1MiB`, in bytes.
pub(crate) fn stack(text: &str) -> Result<u32, String> {
    let most = ProgramFile::MEMORY_MAX_BYTES;
    let right = || format!("a stack has a multiple of 16 bytes and at most {} MiB", most >> 20);
    let bytes = measures::bytes(text).and_then(|bytes| u32::try_from(bytes).ok());
    bytes.filter(|bytes| bytes.is_multiple_of(16) && *bytes <= most).ok_or_else(right)
}

/// Returns the size of a cache or of a line, such as `4KiB`, in bytes.
pub(crate) fn cache_bytes(text: &str) -> Result<u32, String> {
    const RIGHT: &str = "expected a size from 4 bytes to 16 MiB, such as 64 or 4KiB";
    let bytes = measures::bytes(text).and_then(|bytes| u32::try_from(bytes).ok());
    bytes.filter(|bytes| (4..=16 << 20).contains(bytes)).ok_or_else(|| RIGHT.into())
}

/// Returns the lines of a set, 0 for all lines of the cache.
pub(crate) fn ways(text: &str) -> Result<u32, String> {
    const RIGHT: &str = "expected the lines of a set, from 1 to 1024, or full";
    if text == "full" {
        return Ok(0);
    }
    let ways = text.parse().ok().filter(|ways| (1..=1024).contains(ways));
    ways.ok_or_else(|| RIGHT.into())
}

/// Returns a replacement policy by its name.
pub(crate) fn policy(text: &str) -> Result<Replacement, String> {
    let known = Replacement::ALL.into_iter().find(|policy| policy.name() == text);
    // Earlier versions of core called it by what it consists of.
    let known = known.or((text == "tree").then_some(Replacement::Plru));
    known.ok_or_else(|| "expected lru, fifo, random or plru".into())
}

/// Returns memory of a simulated program, such as `0x80000000:16MiB`.
pub(crate) fn memory_range(text: &str) -> Result<MemoryRange, String> {
    let most = ProgramFile::MEMORY_MAX_BYTES;
    let right = || {
        format!(
            "expected an address and a size of at most {} MiB, such as 0x80000000:16MiB",
            most >> 20
        )
    };
    let (address, size) = text.split_once(':').ok_or_else(right)?;
    let address = match address.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => address.parse(),
    };
    let address = address.map_err(|_| right())?;
    let bytes = measures::bytes(size).and_then(|bytes| u32::try_from(bytes).ok());
    let bytes = bytes.filter(|bytes| (1..=most).contains(bytes)).ok_or_else(right)?;
    Ok(MemoryRange { address, bytes })
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
    use super::{duration_ms, memory, rate, share, time};
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
    fn durations_are_of_seconds_unless_they_say_otherwise() {
        let of = |text| duration_ms(text).ok();
        assert_eq!((of("30"), of("30s"), of("10m")), (Some(30_000), Some(30_000), Some(600_000)));
        assert_eq!(
            (of("2h"), of("3.4s"), of("1.5m")),
            (Some(7_200_000), Some(3_400), Some(90_000))
        );
        assert_eq!((of("250ms"), of("2m30s"), of("7.5")), (Some(250), Some(150_000), Some(7_500)));
        for text in [
            "",
            "s",
            "0",
            "0s",
            "0.2ms",
            "-1",
            "-1s",
            "1y",
            "99999999999999999999",
            "8761h",
            "3ß",
            "nan",
            "NaNs",
            "inf",
            "infs",
            "1e300s",
            "2m90s",
            "1.2.3s",
            "30s2m",
        ] {
            assert!(duration_ms(text).is_err_and(|why| why.contains("2m30s")), "{text}");
        }
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
            match duration_ms(&text) {
                Ok(ms) => {
                    prop_assert!((1..=7 * 24 * 3_600_000).contains(&ms));
                    let digits = text.trim_start().starts_with(|c: char| c.is_ascii_digit());
                    prop_assert!(digits, "{text}");
                }
                Err(why) => prop_assert!(!why.is_empty()),
            }
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
