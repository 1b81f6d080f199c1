//! Columns as short strings, which the page's script takes apart again.

use std::fmt::Write;

/// Digits kept of a number that is no whole one. Raw values are whole; what is not has been
/// divided, and a billionth of it is far below what any clock resolves.
const DIGITS: usize = 9;

/// The largest number up to which every whole one is its own `f64`.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Whole numbers as differences to the one before (the first to 0), with runs of one difference
/// as `difference*times`: a block's positions become `1*47`.
pub(super) fn steps(values: impl IntoIterator<Item = i128>) -> String {
    let mut before = 0;
    let mut out = String::new();
    let mut run: Option<(i128, u64)> = None;
    for value in values {
        let step = value - before;
        before = value;
        run = match run {
            Some((last, times)) if last == step => Some((last, times + 1)),
            other => {
                write_run(&mut out, other);
                Some((step, 1))
            }
        };
    }
    write_run(&mut out, run);
    out
}

fn write_run(out: &mut String, run: Option<(i128, u64)>) {
    let Some((step, times)) = run else { return };
    if !out.is_empty() {
        out.push(',');
    }
    // Writing to a string cannot fail.
    let _ = match times {
        1 => write!(out, "{step}"),
        times => write!(out, "{step}*{times}"),
    };
}

/// Numbers with commas between; nothing where there is none.
pub(super) fn numbers(values: impl IntoIterator<Item = Option<f64>>) -> String {
    let mut out = String::new();
    for (index, value) in values.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        if let Some(value) = value {
            out.push_str(&number(value));
        }
    }
    out
}

/// A number as JavaScript and a CSV reader read it: whole ones in full, others to [`DIGITS`]
/// significant digits; empty if it is not finite.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    if value.fract() == 0.0 && value.abs() <= WHOLE_MAX {
        // Minus zero is zero.
        return (value as i64).to_string();
    }
    let exact = value.to_string();
    let digits = exact.bytes().filter(u8::is_ascii_digit).count();
    if digits <= DIGITS {
        return exact;
    }
    let rounded: f64 = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    let plain = rounded.to_string();
    // Very large and very small numbers are shorter with an exponent.
    if plain.len() > DIGITS + 6 { format!("{rounded:e}") } else { plain }
}

/// The digits of [`column`]: the first 32 end a number, the others go on. None of them means anything
/// to HTML or JSON.
const DIGITS_OF_32: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/// Where a trial has no number.
const ABSENT: char = '.';

/// Scaled numbers are whole ones up to this, so that a script's arithmetic, which is that of `f64`,
/// can take sums and doubles of them without rounding.
const SCALED_MAX: f64 = (1_u64 << 51) as f64;

/// The numbers of a column in half the bytes of their decimals, with the power of ten by which they
/// were multiplied to be whole; `None` where no power makes all of them whole and small enough.
///
/// Each is written as its difference to the one before of the same treatment (the first to 0),
/// doubled, and less one if negative, in digits of base 32, the lowest first; `.` is no number, nor
/// is what is missing at the end.
/// Trials of one treatment are alike, so that the differences are shorter than the numbers.
pub(super) fn column(values: &[Option<f64>], places: &[usize]) -> Option<(String, u32)> {
    let decimals = decimals(values.iter().flatten().copied())?;
    let scale = 10_f64.powi(decimals as i32);
    let mut before = vec![0_i64; places.iter().max().map_or(0, |most| most + 1)];
    let mut out = String::new();
    for (value, place) in values.iter().zip(places) {
        let Some(value) = value else {
            out.push(ABSENT);
            continue;
        };
        let whole = (value * scale).round() as i64;
        let step = whole - before[*place];
        before[*place] = whole;
        digits(&mut out, if step >= 0 { 2 * step as u64 } else { 2 * step.unsigned_abs() - 1 });
    }
    out.truncate(out.trim_end_matches(ABSENT).len());
    Some((out, decimals))
}

fn digits(out: &mut String, mut left: u64) {
    while left >= 32 {
        out.push(char::from(DIGITS_OF_32[32 + (left % 32) as usize]));
        left /= 32;
    }
    out.push(char::from(DIGITS_OF_32[left as usize]));
}

/// The decimals that leave [`DIGITS`] digits to the smallest of the numbers; none if all are whole.
fn decimals(values: impl Iterator<Item = f64> + Clone) -> Option<u32> {
    let (mut least, mut most, mut whole) = (f64::INFINITY, 0.0_f64, true);
    for value in values.filter(|value| *value != 0.0) {
        let size = value.abs();
        (least, most) = (least.min(size), most.max(size));
        whole &= value.fract() == 0.0;
    }
    let wanted = match whole || !least.is_finite() {
        true => 0,
        false => (DIGITS as i32 - 1 - least.log10().floor() as i32).max(0),
    };
    let fits = most * 10_f64.powi(wanted) <= SCALED_MAX && wanted <= 300;
    fits.then_some(wanted as u32)
}

/// Text inside a JSON string, quotes included. `<`, `>` and `&` are written as escapes, so that no
/// text can end the element that holds it; neither can control characters and line separators.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A JSON array of what is JSON already.
pub(super) fn array(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    format!("[{}]", items.join(","))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use proptest::prelude::*;

    /// What the page's script does with [`steps`].
    fn unpacked(packed: &str) -> Vec<i128> {
        let mut values = Vec::new();
        let mut before = 0;
        for run in packed.split(',').filter(|run| !run.is_empty()) {
            let (step, times) = run.split_once('*').unwrap_or((run, "1"));
            for _ in 0..times.parse::<u64>().unwrap() {
                before += step.parse::<i128>().unwrap();
                values.push(before);
            }
        }
        values
    }

    #[test]
    fn runs_are_short() {
        assert_eq!(steps([0, 1, 2, 3, 9, 9, 9]), "0,1*3,6,0*2");
        assert_eq!(steps([]), "");
        assert_eq!(steps([-5]), "-5");
    }

    #[test]
    fn numbers_are_as_long_as_they_must_be() {
        let all = [0.0, -0.0, 12.0, 0.5, 1.0 / 3.0, 12_345_678.912_345, f64::NAN, 2e-9, -7.25];
        let written = numbers(all.map(Some).into_iter().chain([None]));
        assert_eq!(written, "0,0,12,0.5,0.333333333,12345678.9,,0.000000002,-7.25,");
        assert_eq!(number(1.234_567_890_123e-30), "1.23456789e-30");
        assert_eq!(number(9_007_199_254_740_991.0), "9007199254740991");
    }

    /// What the page's script does with [`column`].
    fn unpacked_column(packed: &str, decimals: u32, places: &[usize]) -> Vec<Option<f64>> {
        let mut before = vec![0.0; places.len() + 60];
        let mut letters = packed.bytes();
        let mut next = |place: usize| {
            let (mut value, mut weight) = (0.0, 1.0);
            loop {
                let letter = letters.next().filter(|letter| *letter != ABSENT as u8)?;
                let digit = DIGITS_OF_32.iter().position(|one| *one == letter).unwrap();
                value += (digit % 32) as f64 * weight;
                weight *= 32.0;
                if digit < 32 {
                    break;
                }
            }
            let step = if value % 2.0 == 1.0 { -(value + 1.0) / 2.0 } else { value / 2.0 };
            before[place] += step;
            Some(before[place] / 10_f64.powi(decimals as i32))
        };
        let values = places.iter().map(|place| next(*place)).collect();
        assert_eq!(letters.next(), None);
        values
    }

    #[test]
    fn a_column_is_short_and_says_where_nothing_is() {
        let values = [Some(100.0), None, Some(7.0), Some(101.0), Some(99.0)];
        let places = [0, 0, 1, 0, 0];
        let (packed, decimals) = column(&values, &places).unwrap();
        assert_eq!((packed.as_str(), decimals), ("oG.OCD", 0));
        assert_eq!(unpacked_column(&packed, decimals, &places), values);
        // Too far apart for one power of ten, or no number at all.
        assert_eq!(column(&[Some(1e-9 / 3.0), Some(1e9)], &[0, 0]), None);
        assert_eq!(column(&[Some(f64::NAN), Some(f64::INFINITY)], &[0, 0]), None);
        assert_eq!(column(&[Some(1e300)], &[0]), None);
        assert_eq!(column(&[], &[]), Some((String::new(), 0)));
    }

    #[test]
    fn text_cannot_end_its_element() {
        let written = text("</script><!-- \"\\ \u{1} & \u{2028}");
        assert!(!written.contains(['<', '>', '&', '\u{1}', '\u{2028}']), "{written}");
        let read: String = serde_json::from_str(&written).unwrap();
        assert_eq!(read, "</script><!-- \"\\ \u{1} & \u{2028}");
    }

    proptest! {
        #[test]
        fn steps_come_back(values in proptest::collection::vec(any::<u64>(), 0..60)) {
            let values: Vec<i128> = values.into_iter().map(i128::from).collect();
            prop_assert_eq!(unpacked(&steps(values.iter().copied())), values);
        }

        #[test]
        fn columns_come_back(
            trials in proptest::collection::vec(
                (proptest::option::of(-2_000_000_000_000_i64..2_000_000_000_000), 0..4_usize),
                0..60,
            ),
            per in proptest::sample::select(vec![1.0, 3.0, 1000.0, 4096.0]),
        ) {
            let values: Vec<Option<f64>> =
                trials.iter().map(|(value, _)| value.map(|value| value as f64 / per)).collect();
            let places: Vec<usize> = trials.iter().map(|(_, place)| *place).collect();
            if let Some((packed, decimals)) = column(&values, &places) {
                for (read, value) in unpacked_column(&packed, decimals, &places).iter().zip(values) {
                    prop_assert_eq!(read.is_some(), value.is_some());
                    let (read, value) = (read.unwrap_or_default(), value.unwrap_or_default());
                    prop_assert!((read - value).abs() <= value.abs() * 1e-8, "{} for {}", read, value);
                }
            }
        }

        #[test]
        fn any_text_comes_back(written in any::<String>()) {
            let read: String = serde_json::from_str(&text(&written)).unwrap();
            prop_assert_eq!(read, written);
        }

        #[test]
        fn numbers_come_back(value in any::<f64>()) {
            let read = number(value).parse::<f64>();
            match value.is_finite() {
                false => prop_assert!(read.is_err()),
                true => prop_assert!((read.unwrap() - value).abs() <= value.abs() * 1e-8),
            }
        }
    }
}
