//! Texts that are a length of time, a size, or a number in the unit of a response.

use model::Unit;

/// Names of units of time, each with its nanoseconds.
const TIMES: [(&str, f64); 8] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
    ("m", 60e9),
    ("h", 3600e9),
];

/// Names of units of size, each with its bytes.
const SIZES: [(&str, f64); 10] = [
    ("B", 1.0),
    ("bytes", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TB", 1e12),
    ("TiB", 1_099_511_627_776.0),
];

/// A number and what follows it, without space between.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
    let mut end = text.find(|c: char| !is_number(c)).unwrap_or(text.len());
    // "1e-3" is a number; "1e" would be one of a unit "e".
    if let Some(power) = text[end..].strip_prefix(['e', 'E']) {
        let digits = power.trim_start_matches(['-', '+']);
        let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        if length > 0 {
            end = text.len() - digits.len() + length;
        }
    }
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok().filter(|x: &f64| x.is_finite())?;
    Some((number, unit.trim()))
}

/// A length of time such as `30s`, `1.5 ms` or `2m30s`, in nanoseconds; a unit must stand behind each number.
pub fn time_ns(text: &str) -> Option<f64> {
    let (number, rest) = split(text)?;
    let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    let (unit, below) = rest.split_at(end);
    let largest = factor(&TIMES, unit)?;
    let below = below.trim_start();
    let more = match below {
        "" => 0.0,
        // From the largest unit down, as people write it: 30s2m is a mistake.
        _ => time_ns(below).filter(|ns| *ns < largest)?,
    };
    (number >= 0.0).then_some(number * largest + more)
}

/// A share such as `5%` or `5 %`, as a part of 1.
pub fn share(text: &str) -> Option<f64> {
    let (number, unit) = split(text)?;
    (unit == "%" && number >= 0.0).then_some(number / 100.0)
}

/// What a unit's number is multiplied by, from one of the tables.
fn factor(table: &[(&str, f64)], unit: &str) -> Option<f64> {
    table.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor)
}

/// The unit of a response that has a user's unit, and what its numbers are multiplied by.
pub fn unit(text: &str) -> (Unit, f64) {
    if let Some(factor) = factor(&TIMES, text) {
        return (Unit::Ns, factor);
    }
    if let Some(factor) = factor(&SIZES, text) {
        return (Unit::Bytes, factor);
    }
    match text {
        "count" => (Unit::Count, 1.0),
        "%" => (Unit::Ppm, 1e4),
        "ppm" => (Unit::Ppm, 1.0),
        "/s" | "per second" => (Unit::PerSecond, 1.0),
        other => (Unit::Other(other.to_string()), 1.0),
    }
}

/// A number in the unit of a response, in what it is stored in: `200 ms` is 2e8 of nanoseconds.
///
/// # Errors
/// What would be right.
pub fn in_unit(text: &str, unit: &Unit) -> Result<f64, String> {
    let (number, name) = split(text).ok_or_else(|| format!("{text:?} is no number"))?;
    let find = |table: &[(&str, f64)], like: &str| {
        let found = factor(table, name).map(|factor| number * factor);
        found.ok_or_else(|| format!("write {text:?} with one of its units, such as {like}"))
    };
    match unit {
        Unit::Ns => find(&TIMES, "200 ms"),
        Unit::Bytes => find(&SIZES, "64 MiB"),
        Unit::Ppm => find(&[("%", 1e4), ("ppm", 1.0)], "95 %"),
        Unit::PerSecond => find(&[("/s", 1.0), ("", 1.0)], "100 /s"),
        Unit::Count => find(&[("", 1.0)], "4").map_err(|_| format!("{text:?} is no plain number")),
        Unit::Other(own) if name == own => Ok(number),
        Unit::Other(_) => {
            find(&[("", 1.0)], "4").map_err(|_| format!("{text:?} is no number in its unit"))
        }
    }
}

/// A multiple such as `2`, `2x` or `150%`.
pub fn multiple(text: &str) -> Option<f64> {
    match split(text)? {
        (number, "" | "x" | "×" | "times") => Some(number),
        (number, "%") => Some(number / 100.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_with_their_units() {
        assert_eq!(time_ns("30s"), Some(30e9));
        assert_eq!(time_ns("1.5 ms"), Some(1.5e6));
        assert_eq!(time_ns("1e-3 s"), Some(1e6));
        assert_eq!((time_ns("2m30s"), time_ns("1 h 1.5 min")), (Some(150e9), Some(3690e9)));
        for text in
            ["30", "s", "", "-1s", "1 parsec", "1e", "30s2m", "2m90s", "2m30", "2m-3s", "1m1m"]
        {
            assert_eq!(time_ns(text), None, "{text}");
        }
        assert_eq!(share("5%"), Some(0.05));
        assert_eq!(share("5"), None);
        assert_eq!(in_unit("200 ms", &Unit::Ns), Ok(2e8));
        assert_eq!(in_unit("64MiB", &Unit::Bytes), Ok(67_108_864.0));
        assert_eq!(in_unit("95 %", &Unit::Ppm), Ok(950_000.0));
        assert_eq!(in_unit("4", &Unit::Count), Ok(4.0));
        assert_eq!(in_unit("4 MB/s", &Unit::Other("MB/s".into())), Ok(4.0));
        assert!(in_unit("200", &Unit::Ns).is_err_and(|why| why.contains("such as 200 ms")));
        assert!(in_unit("4 ms", &Unit::Count).is_err());
        assert_eq!(multiple("1.5x"), Some(1.5));
        assert_eq!(multiple("150 %"), Some(1.5));
        assert_eq!(multiple("2 s"), None);
        assert_eq!(unit("ms"), (Unit::Ns, 1e6));
        assert_eq!(unit("MB/s"), (Unit::Other("MB/s".into()), 1.0));
    }
}
