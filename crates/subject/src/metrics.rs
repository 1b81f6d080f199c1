//! Numbers picked from what the program prints.

use crate::notation;
use crate::output::{KEPT_BYTES, Printed};
use crate::text::shown;
use model::{Decimal, Metric, Pick, Stream};
use regex::bytes::{Regex, RegexBuilder};
use std::ops::Range;

/// How much of a text that holds no number is shown.
const SHOWN_BYTES: usize = 200;

/// The most parts of one in which a number is stored.
const PER_MAX: u64 = 1_000_000_000_000_000;

/// Up to here a float has all whole numbers (2^53).
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

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

/// What became of a metric in one trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The observation: the number times its scale and its parts.
    pub(crate) value: i64,
    /// The parts of one: as many as the metric has, or more where these lose digits.
    pub(crate) per: u64,
    /// How it was printed and what that was read as, if it is no plain number.
    pub(crate) read_as: Option<String>,
}

/// Picks all metrics from what the program printed, in their order.
///
/// An error says that nothing is found, or no number that can be stored.
pub(crate) fn picked(
    metrics: &[Metric],
    stdout: &Printed,
    stderr: &Printed,
) -> Vec<Result<Found, String>> {
    let text = |metric: &Metric| {
        let (name, printed) = match metric.from {
            Stream::Stdout => ("stdout", stdout),
            Stream::Stderr => ("stderr", stderr),
        };
        match &metric.pick {
            Pick::Regex(expression) => by_regex(expression, printed, name),
            Pick::Pointer(pointer) => by_pointer(pointer, printed, name),
        }
    };
    let texts: Vec<Result<String, String>> = metrics.iter().map(text).collect();
    // What one of the program's numbers leaves open another may show.
    let shown = notation::decimal(texts.iter().flatten().map(String::as_str));
    let found = |(metric, text): (&Metric, Result<String, String>)| {
        read(metric, &text?, metric.decimal.or(shown))
    };
    metrics.iter().zip(texts).map(found).collect()
}

fn read(metric: &Metric, text: &str, decimal: Option<Decimal>) -> Result<Found, String> {
    let shown = shown_text(text.trim());
    let printed = notation::read(text, &metric.response, &metric.unit, decimal)
        .map_err(|why| format!("“{shown}” {why}"))?;
    let in_unit = if printed.unit.is_empty() { 1.0 } else { metric.of_unit };
    let scale = printed.factor * metric.scale / in_unit;
    let (value, per) = scaled(&printed.digits, scale, metric.per.max(1))?;
    let words = printed.words(&metric.response, metric.of_unit);
    let read_as = words.map(|words| format!("“{shown}” as {words}"));
    Ok(Found { value, per, read_as })
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
    let parts = last.iter().chain([&first]).map(Vec::as_slice);
    let found = parts.filter_map(|part| Some((part, regex.captures_iter(part).last()?))).next();
    let Some((text, found)) = found else {
        let searched = format!(", of which the first and the last {KEPT_BYTES} are searched");
        let between = if last.is_some() { searched } else { String::new() };
        return Err(format!(
            "/{}/ matches nothing in the {} bytes of {name}{between}{}",
            shown_text(expression),
            printed.bytes,
            beginning(&first)
        ));
    };
    let whole = found.get(0).map_or(0..0, |whole| whole.range());
    let group = found.get(1).map_or(whole.clone(), |group| group.range());
    let number = whole_number(text, &group, &whole);
    kit::ensure!(
        number == group,
        "/{}/ takes {} out of “{}”: let the group match the whole number, as ([-+0-9.,e]+) does",
        shown_text(expression),
        shown(&text[group], SHOWN_BYTES),
        shown(&text[number], SHOWN_BYTES)
    );
    Ok(String::from_utf8_lossy(&text[group]).into_owned())
}

/// Returns where the number lies of which a group holds digits: beyond the group, where the expression ends with
/// it and digits of the same number stand next to it.
fn whole_number(text: &[u8], group: &Range<usize>, whole: &Range<usize>) -> Range<usize> {
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let before =
        |end: usize| text[..end].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let mut number = group.clone();
    let ends_in_digits = !group.is_empty() && before(group.end) > 0;
    let is_open = group.end == whole.end && ends_in_digits;
    // A digit that goes on is of the same number, whatever else the expression matches.
    if ends_in_digits {
        number.end += digits(&text[number.end..]);
    }
    while is_open && let [mark, rest @ ..] = &text[number.end..] {
        let sign = usize::from(matches!(rest, [b'+' | b'-', ..]));
        let more = match mark {
            b',' | b'\'' if digits(rest) == 3 => 3,
            b'.' if digits(rest) > 0 => digits(rest),
            b'_' => digits(rest),
            b'e' | b'E' if digits(&rest[sign..]) > 0 => sign + digits(&rest[sign..]),
            _ => 0,
        };
        if more == 0 {
            break;
        }
        number.end += 1 + more;
    }
    let begins = digits(&text[group.clone()]);
    if begins > 0 {
        number.start -= before(group.start);
    }
    if group.start == whole.start
        && group.start > 0
        && match text[group.start - 1] {
            b',' | b'\'' => begins == 3,
            b'.' | b'_' => begins > 0,
            _ => false,
        }
    {
        let more = before(group.start - 1);
        number.start -= if more > 0 { 1 + more } else { 0 };
    }
    number
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

/// Multiplies a number that is written as Rust does, and returns it in parts of one: `per`, or thousands of times as
/// many where digits would be lost, as far as a float has whole numbers.
fn scaled(text: &str, scale: f64, mut per: u64) -> Result<(i64, u64), String> {
    let text = text.trim();
    // A whole number that needs no scale must not lose digits on its way through a float.
    if scale == 1.0
        && let Ok(whole) = text.parse::<i64>()
        && let Some(whole) = i64::try_from(per).ok().and_then(|per| whole.checked_mul(per))
    {
        return Ok((whole, per));
    }
    let number: f64 = text.parse().map_err(|_| format!("“{}” is no number", shown_text(text)))?;
    let number = number * scale;
    let is_whole = |value: f64| (value - value.round()).abs() <= 1e-13 * value.abs();
    while !is_whole(number * per as f64)
        && per < PER_MAX
        && (number * per as f64).abs() < WHOLE_MAX / 1e3
    {
        per *= 1000;
    }
    let value = (number * per as f64).round();
    // The largest float below 2^63, so that the conversion cannot saturate.
    if value.abs() < 9_223_372_036_854_774_784.0 {
        Ok((value as i64, per))
    } else {
        Err(format!("{} times {scale} is too large a number to be stored", shown_text(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(response: &str, pick: Pick, scale: f64) -> Metric {
        Metric { response: response.into(), pick, scale, ..Metric::default() }
    }

    fn pick(pick: Pick, scale: f64, text: &[u8]) -> Result<i64, String> {
        let metric = metric("rate", pick, scale);
        let found = picked(&[metric], &Printed::of(text), &Printed::default()).remove(0);
        found.map(|found| found.value)
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
    fn no_digit_is_lost() {
        let of = |per: u64, text: &str| {
            let pick = Pick::Regex(r"\S+".into());
            let metric = Metric { per, ..metric("hits_count", pick, 1.0) };
            let found = picked(&[metric], &Printed::of(text.as_bytes()), &Printed::default());
            found.into_iter().next().unwrap().map(|found| (found.value, found.per)).unwrap()
        };
        assert_eq!(of(1, "2"), (2, 1));
        assert_eq!(of(1, "2.7"), (2700, 1000));
        assert_eq!(of(1_000_000, "2.7"), (2_700_000, 1_000_000));
        assert_eq!(of(1_000_000, "0.0000001"), (100, 1_000_000_000));
        // As far as a float has whole numbers.
        let (third, per) = of(1, "0.33333333333333333333");
        assert!((third as f64 / per as f64 - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(of(1, "123456789012.5"), (123_456_789_012_500, 1000));
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
            "/rate=(.*)/ matches nothing in the 12 bytes of stdout; it begins with \
             “speed \\u{1b}[1m3\\n”"
        );
        assert!(regex("a", 1.0, "").unwrap_err().ends_with("in the 0 bytes of stdout"));
        let why = regex("(a+)", 1.0, "aaa").unwrap_err();
        assert!(why.contains("“aaa” is no number"), "{why}");
        assert!(regex("(1,000)", 1.0, "1,000").unwrap_err().contains("may be 1000 or 1.000"));
        assert!(regex("(inf)", 1.0, "inf").unwrap_err().contains("is no number"));
        assert!(regex(r"\d.+", 1e9, "1e300").unwrap_err().contains("too large"));
    }

    #[test]
    fn a_part_of_a_number_is_no_number() {
        for (expression, text, part) in [
            (r"at ([0-9.]+)", "at 12,345 MB/s", "takes 12 out of “12,345”"),
            (r"at ([0-9.]+)", "at 1.5e-6", "takes 1.5 out of “1.5e-6”"),
            (r"(\d+)", "10_000", "takes 000 out of “10_000”"),
            (r"(\d+) files", "12,345 files", "takes 345 out of “12,345”"),
            (r"(\d+)", "416'954 us", "takes 954 out of “416'954”"),
            (r"k: (\d+)", "k: 416'954 us", "takes 416 out of “416'954”"),
            (r"k: (\d+)", "k: 3.25 s", "takes 3 out of “3.25”"),
            (r"k: \d(\d)", "k: 123 s", "takes 2 out of “123”"),
            (r"(\d+) s", "1.25 s", "takes 25 out of “1.25”"),
        ] {
            let why = regex(expression, 1.0, text).unwrap_err();
            assert!(why.contains(part), "{expression} {text}: {why}");
        }
        for (expression, text, value) in [
            (r"^(\d+),", "12,345", 12),
            (r"^(\d+)", "12,34,56", 12),
            (r"^(\d+)", "12, 345", 12),
            (r"n=(\d+)", "n=5, m=7", 5),
            (r"(\d+) eggs", "5 eggs", 5),
        ] {
            assert_eq!(regex(expression, 1.0, text), Ok(value), "{expression} {text}");
        }
    }

    #[test]
    fn the_numbers_of_a_program_decide_for_each_other() {
        let by = |name: &str| Pick::Regex(format!("{name}: (.+)"));
        let metrics =
            [metric("a_ns", by("a"), 1e6), metric("b", by("b"), 1.0), metric("c", by("c"), 1.0)];
        let found = |text: &str| {
            picked(&metrics, &Printed::of(text.as_bytes()), &Printed::default())
                .into_iter()
                .map(|found| found.map(|found| (found.value, found.read_as)))
                .collect::<Vec<_>>()
        };
        let all = found("a: 12,345\nb: 1,234,567\nc: no\n");
        assert_eq!(all[0], Ok((12_345_000_000, Some("“12,345” as 12345".into()))));
        assert_eq!(all[1], Ok((1_234_567, Some("“1,234,567” as 1234567".into()))));
        assert!(all[2].is_err());
        // A unit that is printed counts, whatever unit was expected.
        let of_unit = Metric { of_unit: 1e6, ..metric("a_ns", by("a"), 2e6) };
        let found = picked(&[of_unit], &Printed::of(b"a: 0,5 s"), &Printed::default()).remove(0);
        assert_eq!(found.unwrap().value, 1_000_000_000);
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
