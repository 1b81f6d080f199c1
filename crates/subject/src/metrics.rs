//! Numbers picked from what the program prints.

use crate::output::{KEPT_BYTES, Printed};
use crate::text::shown;
use kit::{Result, Stop};
use model::{Metric, Pick, Stream};
use regex::bytes::{Regex, RegexBuilder};

/// How much of a text that holds no number is shown.
const SHOWN_BYTES: usize = 200;

/// The most memory that a regular expression may need compiled: what `regex` allows by itself.
const REGEX_BYTES_MAX: usize = 10 << 20;

/// Whether a number can be picked so at all: the regular expression is one, the pointer is one.
///
/// # Errors
/// A sentence that says what is wrong with it.
pub fn check_pick(pick: &Pick) -> Result<(), String> {
    match pick {
        Pick::Regex(expression) => compiled(expression).map(|_| ()),
        Pick::Pointer(pointer) if pointer.is_empty() || pointer.starts_with('/') => Ok(()),
        Pick::Pointer(pointer) => {
            Err(format!("{} is no JSON pointer: it must begin with /", shown_text(pointer)))
        }
    }
}

/// The observation of a metric: the number found, times its scale and its parts, rounded.
///
/// # Errors
/// Nothing is found, or no number that can be stored.
pub(crate) fn picked(metric: &Metric, stdout: &Printed, stderr: &Printed) -> Result<i64> {
    let (name, printed) = match metric.from {
        Stream::Stdout => ("stdout", stdout),
        Stream::Stderr => ("stderr", stderr),
    };
    let found = match &metric.pick {
        Pick::Regex(expression) => by_regex(expression, printed, name),
        Pick::Pointer(pointer) => by_pointer(pointer, printed, name),
    };
    found
        .and_then(|text| scaled(&text, metric.scale * metric.per.max(1) as f64))
        .map_err(|why| Stop::failed(format!("metric {}: {why}", metric.response)))
}

/// `^` and `$` are the ends of a line, as for grep: what is searched is a program's lines.
fn compiled(expression: &str) -> Result<Regex, String> {
    RegexBuilder::new(expression).multi_line(true).size_limit(REGEX_BYTES_MAX).build().map_err(
        |error| {
            let why = error.to_string();
            // The last line says what is wrong; those above it draw where.
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
            format!("/{}/ is no regular expression: {}", shown_text(expression), shown_text(why))
        },
    )
}

fn by_regex(expression: &str, printed: &Printed, name: &str) -> Result<String, String> {
    let regex = compiled(expression)?;
    let (first, last) = printed.kept();
    let found = last.iter().chain([&first]).find_map(|part| regex.captures_iter(part).last());
    let Some(found) = found else {
        let searched = format!(", of which the first and the last {KEPT_BYTES} are searched");
        let between = last.map_or(String::new(), |_| searched);
        return Err(format!(
            "/{}/ matches nothing in the {} bytes of {name}{between}{}",
            shown_text(expression),
            printed.bytes,
            beginning(&first)
        ));
    };
    let group = found.get(1).or_else(|| found.get(0)).map_or(&[][..], |group| group.as_bytes());
    Ok(String::from_utf8_lossy(group).into_owned())
}

fn by_pointer(pointer: &str, printed: &Printed, name: &str) -> Result<String, String> {
    let (text, rest) = printed.kept();
    kit::ensure!(
        rest.is_none(),
        "{name} has {} bytes, and JSON is read from at most {} of them: print less, or pick by \
             a regular expression",
        printed.bytes,
        2 * KEPT_BYTES
    );
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(|error| {
        format!(
            "the {} bytes of {name} are no JSON value: {error}{}",
            printed.bytes,
            beginning(&text)
        )
    })?;
    match value.pointer(pointer) {
        Some(serde_json::Value::Number(number)) => Ok(number.to_string()),
        Some(serde_json::Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(format!(
            "{} leads to what is no number: {}",
            shown_text(pointer),
            shown(other.to_string().as_bytes(), SHOWN_BYTES)
        )),
        None => Err(format!(
            "{} leads nowhere in the JSON of {name}{}",
            shown_text(pointer),
            beginning(&text)
        )),
    }
}

fn beginning(text: &[u8]) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("; it begins with “{}”", shown(text, SHOWN_BYTES))
}

fn shown_text(text: &str) -> String {
    shown(text.as_bytes(), SHOWN_BYTES)
}

/// Reads a plain number: a sign, digits, a point and digits, an exponent.
fn scaled(text: &str, scale: f64) -> Result<i64, String> {
    let text = text.trim();
    // A whole number that needs no scale must not lose digits on its way through a float.
    if scale == 1.0
        && let Ok(whole) = text.parse()
    {
        return Ok(whole);
    }
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    let number: f64 = Some(text)
        .filter(|text| text.chars().all(plain))
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| format!("“{}” is no plain number, such as -1.5e3", shown_text(text)))?;
    let value = (number * scale).round();
    // The largest float below 2^63, so that the conversion cannot saturate.
    if value.abs() < 9_223_372_036_854_774_784.0 {
        Ok(value as i64)
    } else {
        Err(format!("{} times {scale} is too large a number to be stored", shown_text(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick(pick: Pick, scale: f64, text: &[u8]) -> Result<i64, String> {
        let metric = Metric { response: "rate".into(), from: Stream::Stdout, pick, scale, per: 1 };
        picked(&metric, &Printed::of(text), &Printed::default()).map_err(|stop| match stop {
            Stop::Failed(reason) | Stop::Unsupported(reason) => reason,
        })
    }

    fn regex(expression: &str, scale: f64, text: &str) -> Result<i64, String> {
        pick(Pick::Regex(expression.into()), scale, text.as_bytes())
    }

    #[test]
    fn the_last_match_counts_by_its_group_or_as_a_whole() {
        let text = "rate: 1.5 MB/s\nrate: 2.5 MB/s\nsum 7\n";
        assert_eq!(regex(r"rate: ([\d.]+)", 1e6, text), Ok(2_500_000));
        assert_eq!(regex(r"\d+$", 1.0, text), Ok(7));
        assert_eq!(regex(r"^rate: (\S+)", 1e3, text), Ok(2500));
        assert_eq!(regex(r"(-?[\d.]+e[-+]?\d+)", 1e6, "-1.25e-3"), Ok(-1250));
        assert_eq!(regex(r"\d+", 1.0, "9007199254740993"), Ok(9_007_199_254_740_993));
    }

    #[test]
    fn an_end_behind_gigabytes_is_found_and_the_beginning_too() {
        let mut text = b"first 1\n".to_vec();
        text.resize(5 * KEPT_BYTES, b'x');
        text.extend_from_slice(b"\nlast 2\n");
        assert_eq!(pick(Pick::Regex("last (.)".into()), 1.0, &text), Ok(2));
        assert_eq!(pick(Pick::Regex("first (.)".into()), 1.0, &text), Ok(1));
        let why = pick(Pick::Regex("none".into()), 1.0, &text).unwrap_err();
        assert!(why.contains("of which the first and the last"), "{why}");
    }

    #[test]
    fn what_is_not_found_is_said_with_what_is_there() {
        let why = regex("rate=(.*)", 1.0, "speed \u{1b}[1m3\n").unwrap_err();
        assert_eq!(
            why,
            "metric rate: /rate=(.*)/ matches nothing in the 12 bytes of stdout; it begins with \
             “speed \\u{1b}[1m3\\n”"
        );
        assert!(regex("a", 1.0, "").unwrap_err().ends_with("in the 0 bytes of stdout"));
        let why = regex("(a+)", 1.0, "aaa").unwrap_err();
        assert!(why.contains("“aaa” is no plain number"), "{why}");
        assert!(regex("(1,000)", 1.0, "1,000").unwrap_err().contains("no plain number"));
        assert!(regex("(inf)", 1.0, "inf").unwrap_err().contains("no plain number"));
        assert!(regex(r"\d.+", 1e9, "1e300").unwrap_err().contains("too large"));
    }

    #[test]
    fn json_by_its_pointer() {
        let text = br#"{"jobs": [{"read": {"iops": 12.5, "name": "7"}}]}"#;
        let at = |pointer: &str| pick(Pick::Pointer(pointer.into()), 2.0, text);
        assert_eq!(at("/jobs/0/read/iops"), Ok(25));
        assert_eq!(at("/jobs/0/read/name"), Ok(14));
        assert!(at("/jobs/1").unwrap_err().contains("leads nowhere"));
        assert!(at("/jobs/0").unwrap_err().contains("is no number"));
        let why = pick(Pick::Pointer("/a".into()), 1.0, b"ready\n{}").unwrap_err();
        assert!(why.contains("no JSON value") && why.contains("ready"), "{why}");
    }

    #[test]
    fn a_pick_is_checked_before_anything_is_started() {
        assert_eq!(check_pick(&Pick::Regex("(a)".into())), Ok(()));
        assert_eq!(check_pick(&Pick::Pointer("/a".into())), Ok(()));
        let why = check_pick(&Pick::Regex("(a".into())).unwrap_err();
        assert!(why.starts_with("/(a/ is no regular expression: unclosed group"), "{why}");
        assert!(check_pick(&Pick::Pointer("a".into())).is_err());
    }
}
