//! Numbers as programs print them: with groups of digits, a decimal comma, prefixes and units.
//!
//! Nothing is guessed: a text that can mean two numbers is refused, with what would decide it.

use model::Decimal;

/// What kind of unit a response has, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Time,
    Size,
    Share,
    Count,
    Other,
}

/// A number that was read from a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Printed {
    /// Its digits without groups, with a decimal point, as Rust reads them.
    pub(crate) digits: String,
    /// What it is multiplied by.
    pub(crate) factor: f64,
    /// The unit that the text brought: `factor` leads to nanoseconds, bytes or ppm, whatever unit was expected.
    /// Empty without one.
    pub(crate) unit: String,
    /// The number, without its unit, is written in another way than as a plain one.
    pub(crate) is_rich: bool,
}

impl Printed {
    /// Returns the number in words, if it is no plain one in the unit that is expected, of which each is
    /// `of_unit` nanoseconds, bytes or ppm.
    pub(crate) fn words(&self, response: &str, of_unit: f64) -> Option<String> {
        let value = || self.digits.parse::<f64>().unwrap_or(f64::NAN) * self.factor;
        if self.unit.is_empty() || self.factor == of_unit {
            let number =
                if self.unit.is_empty() { value().to_string() } else { self.digits.clone() };
            return self.is_rich.then(|| format!("{number} {}", self.unit).trim_end().to_string());
        }
        Some(match Kind::of(response) {
            Kind::Time => format!("{} s", value() / 1e9),
            Kind::Size => format!("{} B", value()),
            Kind::Share => format!("{} %", value() / 1e4),
            Kind::Count | Kind::Other => value().to_string(),
        })
    }
}

impl Kind {
    fn of(response: &str) -> Kind {
        let ends = [
            ("_ns", Kind::Time),
            ("_bytes", Kind::Size),
            ("_ppm", Kind::Share),
            ("_count", Kind::Count),
        ];
        ends.into_iter().find(|(end, _)| response.ends_with(end)).map_or(Kind::Other, |it| it.1)
    }

    /// Returns what a unit or a prefix behind a number multiplies it by, and whether it is a unit. `own` is the
    /// name of the metric's unit, of which nothing else is known.
    fn factor(self, name: &str, own: &str) -> Result<(f64, bool), String> {
        let found = |table: &[(&str, f64)]| {
            table.iter().find(|(known, _)| *known == name).map(|(_, factor)| *factor)
        };
        let unknown = |hint: &str| Err(format!("has the unit “{name}”, {hint}"));
        match self {
            Kind::Time => match found(&TIMES) {
                Some(factor) => Ok((factor, true)),
                None => unknown("which is no unit of time here"),
            },
            Kind::Size if PREFIXES.iter().any(|(known, _)| *known == name) || name == "KB" => {
                unknown("which may be a power of 1000 or of 1024: print kB, MB or KiB, MiB")
            }
            Kind::Size => match found(&SIZES) {
                Some(factor) => Ok((factor, true)),
                None => unknown("which is no unit of size here"),
            },
            Kind::Share if name == "%" => Ok((1e4, true)),
            Kind::Share => unknown("not %"),
            Kind::Count | Kind::Other => match found(&PREFIXES) {
                Some(factor) => Ok((factor, false)),
                // What is counted, and "3.0x".
                None if self == Kind::Count && is_noun(name) => Ok((1.0, false)),
                None if ["x", "×"].contains(&name) => Ok((1.0, false)),
                None => match times(name, own) {
                    Some(factor) => Ok((factor, false)),
                    None if own.is_empty() => unknown("and the metric has none: set its unit"),
                    None => unknown(&format!("which is no multiple of the metric's “{own}”")),
                },
            },
        }
    }
}

/// Returns how many of a unit one of another is that differs from it in the prefix alone: 1000 for GB/s in MB/s.
fn times(name: &str, own: &str) -> Option<f64> {
    let split = |text: &str| {
        let prefix = PREFIXES.iter().filter(|(known, _)| text.starts_with(known));
        let prefix = prefix.max_by_key(|(known, _)| known.len())?;
        Some((text[prefix.0.len()..].to_string(), prefix.1)).filter(|(rest, _)| !rest.is_empty())
    };
    let whole = |text: &str| (text.to_string(), 1.0);
    let candidates = |text: &str| [Some(whole(text)), split(text)];
    for (rest, factor) in candidates(name).into_iter().flatten() {
        for (own_rest, own_factor) in candidates(own).into_iter().flatten() {
            if rest == own_rest && !rest.is_empty() {
                return Some(factor / own_factor);
            }
        }
    }
    None
}

/// Reports whether a word may name what is counted: "threads".
fn is_noun(word: &str) -> bool {
    word.chars().count() > 2 && word.chars().all(char::is_alphabetic)
}

/// Units of time that programs print, in nanoseconds; a lone "m" may be minutes or a thousandth.
const TIMES: [(&str, f64); 23] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("μs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("sec", 1e9),
    ("seconds", 1e9),
    ("min", 60e9),
    ("h", 3600e9),
    ("usec", 1e3),
    ("usecs", 1e3),
    ("nsec", 1.0),
    ("nsecs", 1.0),
    ("msec", 1e6),
    ("msecs", 1e6),
    ("secs", 1e9),
    ("second", 1e9),
    ("nanoseconds", 1.0),
    ("microseconds", 1e3),
    ("milliseconds", 1e6),
    ("minutes", 60e9),
    ("hours", 3600e9),
];

const SIZES: [(&str, f64); 11] = [
    ("B", 1.0),
    ("bytes", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("kiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

const PREFIXES: [(&str, f64); 9] = [
    ("k", 1e3),
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
];

/// Reads the number of a response. `own_unit` is the name of its unit if it is none of time, size or share. `decimal` is the mark of its program's other numbers, where they show it.
///
/// # Errors
/// What the text is, and what would decide it.
pub(crate) fn read(
    text: &str,
    response: &str,
    own_unit: &str,
    decimal: Option<Decimal>,
) -> Result<Printed, String> {
    let text = normal(text);
    let kind = Kind::of(response);
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    let is_plain = text.chars().all(plain) && text.parse::<f64>().is_ok();
    if is_plain && (decimal != Some(Decimal::Comma) || grouped(&text, '.').is_none()) {
        return Ok(Printed { digits: text, factor: 1.0, unit: String::new(), is_rich: false });
    }
    if kind == Kind::Time
        && let Some(seconds) = clock(&text)
    {
        let digits = seconds.to_string();
        return Ok(Printed { digits, factor: 1e9, unit: "s".into(), is_rich: true });
    }
    let (number, power, unit) = parts(&text).ok_or("is no number, such as -1.5e3")?;
    // What is counted is whole.
    let decimal = if kind == Kind::Count { decimal.or(Some(Decimal::Point)) } else { decimal };
    let digits = format!("{}{power}", digits(number, decimal)?);
    let (factor, is_unit) =
        if unit.is_empty() { (1.0, false) } else { kind.factor(unit, own_unit)? };
    let is_rich = (!unit.is_empty() && !is_unit) || digits != format!("{number}{power}");
    let unit = if is_unit { unit.to_string() } else { String::new() };
    Ok(Printed { digits, factor, unit, is_rich })
}

/// Returns which of `.` and `,` is the decimal mark in some texts; `None` if none shows it, or if they differ.
pub(crate) fn decimal<'t>(texts: impl Iterator<Item = &'t str>) -> Option<Decimal> {
    let texts: Vec<String> = texts.map(normal).collect();
    let mut shown = texts.iter().filter_map(|text| shows(parts(text)?.0));
    let first = shown.next()?;
    shown.all(|other| other == first).then_some(first)
}

/// Returns a text without what only looks differ by: kinds of blanks, a long minus.
fn normal(text: &str) -> String {
    let blank = |c: char| matches!(c, '\u{a0}' | '\u{2009}' | '\u{202f}');
    let letter = |c: char| match c {
        '−' => '-',
        '’' => '\'',
        c if blank(c) => ' ',
        c => c,
    };
    text.chars().map(letter).collect::<String>().trim().to_string()
}

/// Splits a text into digits with their marks, a power of ten, and what follows.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = usize::from(text.starts_with(['+', '-']));
    while let Some(byte) = bytes.get(end) {
        let goes_on = match byte {
            b'0'..=b'9' => true,
            b'.' | b',' | b'_' | b'\'' => digit(end + 1),
            // A blank groups digits only where three follow, and no fourth.
            b' ' => (1..=3).all(|more| digit(end + more)) && !digit(end + 4),
            _ => false,
        };
        if !goes_on {
            break;
        }
        end += 1;
    }
    let (number, rest) = text.split_at(end);
    let power = rest.strip_prefix(['e', 'E']).map_or(0, |power| {
        let sign = usize::from(power.starts_with(['+', '-']));
        let digits = power[sign..].bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 { 1 + sign + digits } else { 0 }
    });
    let (power, unit) = rest.split_at(power);
    number.bytes().any(|byte| byte.is_ascii_digit()).then_some((number, power, unit.trim()))
}

/// Returns the decimal mark that a number shows by itself.
fn shows(number: &str) -> Option<Decimal> {
    let (points, commas) = (number.matches('.').count(), number.matches(',').count());
    match (points, commas) {
        (0, 0) => None,
        (_, 0) if points > 1 => grouped(number, '.').map(|_| Decimal::Comma),
        (0, _) if commas > 1 => grouped(number, ',').map(|_| Decimal::Point),
        (1, 0) if number.contains([' ', '\'']) || grouped(number, '.').is_none() => {
            Some(Decimal::Point)
        }
        (0, 1) if number.contains([' ', '\'']) || grouped(number, ',').is_none() => {
            Some(Decimal::Comma)
        }
        (0, _) | (_, 0) => None,
        _ if number.rfind('.') > number.rfind(',') => Some(Decimal::Point),
        _ => Some(Decimal::Comma),
    }
}

/// Returns the digits of a number with a decimal point and without groups.
fn digits(number: &str, decimal: Option<Decimal>) -> Result<String, String> {
    let is_grouped_wrongly = || "has digits in other groups than of three".to_string();
    let mark = match shows(number).or(decimal) {
        Some(mark) => mark,
        None if number.matches(',').count() == 1 => {
            let (whole, part) = (number.replace(',', ""), number.replace(',', "."));
            return Err(format!(
                "may be {whole} or {part}: set decimal = \".\" for the first, or \",\" for the \
                 second"
            ));
        }
        None => Decimal::Point,
    };
    let (mark, other) = match mark {
        Decimal::Point => ('.', ','),
        Decimal::Comma => (',', '.'),
    };
    let (whole, part) = match number.rsplit_once(mark) {
        Some((whole, part)) => (whole, format!(".{part}")),
        None => (number, String::new()),
    };
    let whole = whole.replace('_', "");
    let separators: Vec<char> =
        [other, ' ', '\''].into_iter().filter(|c| whole.contains(*c)).collect();
    let whole = match separators[..] {
        [] => whole,
        [one] => grouped(&whole, one).ok_or_else(is_grouped_wrongly)?,
        _ => return Err(is_grouped_wrongly()),
    };
    let digits = whole + &part.replace('_', "");
    if digits.parse::<f64>().is_ok() { Ok(digits) } else { Err(is_grouped_wrongly()) }
}

/// Returns the digits of a number that are grouped in threes, without the marks between them. What begins with
/// 0 is not grouped.
fn grouped(number: &str, mark: char) -> Option<String> {
    let bare = number.trim_start_matches(['+', '-']);
    let mut groups = bare.split(mark);
    let first = groups.next()?;
    let is_group = |text: &str| text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    let begins = (1..=3).contains(&first.len())
        && first.bytes().all(|byte| byte.is_ascii_digit())
        && !first.starts_with('0');
    (begins && bare.contains(mark) && groups.all(is_group))
        .then(|| number.chars().filter(|c| *c != mark).collect())
}

/// Returns the seconds of a time such as `1m30.5s`, `0:01.23` or `1:02:03`.
fn clock(text: &str) -> Option<f64> {
    let number = |text: &str| {
        let is_number = text.starts_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        text.parse::<f64>().ok().filter(|_| is_number)
    };
    if text.contains(':') {
        let parts: Vec<f64> = text.split(':').map(number).collect::<Option<_>>()?;
        return (parts.len() <= 3).then(|| parts.iter().fold(0.0, |sum, part| 60.0 * sum + part));
    }
    let text = text.strip_suffix('s')?;
    let (minutes, seconds) = text.split_once('m')?;
    let (hours, minutes) = minutes.split_once('h').unwrap_or(("0", minutes));
    Some(3600.0 * number(hours)? + 60.0 * number(minutes)? + number(seconds)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, response: &str, decimal: Option<Decimal>) -> Result<f64, String> {
        let printed = read(text, response, "", decimal)?;
        Ok(printed.digits.parse::<f64>().unwrap() * printed.factor)
    }

    #[test]
    fn numbers_are_read_in_the_notations_of_programs() {
        for (text, expected) in [
            ("12", 12.0),
            ("-1.5e3", -1500.0),
            ("1,234,567", 1_234_567.0),
            ("1.234.567", 1_234_567.0),
            ("1,234.5", 1234.5),
            ("1.234,5", 1234.5),
            ("0,00023", 0.000_23),
            ("0,123", 0.123),
            ("1234,567", 1234.567),
            ("3,5", 3.5),
            ("−3,5", -3.5),
            ("10_000", 10_000.0),
            ("12 345", 12_345.0),
            ("12\u{202f}345,6", 12_345.6),
            ("12'345.6", 12_345.6),
            ("1.2K", 1200.0),
            ("3.4 M", 3_400_000.0),
            ("2Ki", 2048.0),
            ("1,5e3", 1500.0),
        ] {
            let found = value(text, "speed", None).unwrap_or_else(|why| panic!("{text} {why}"));
            assert!((found - expected).abs() < 1e-9 * expected.abs(), "{text}: {found}");
        }
        let is_rich = |text: &str| read(text, "speed", "", None).unwrap().is_rich;
        assert!(!is_rich("1.5e6") && is_rich("1,5"));
    }

    #[test]
    fn units_count_where_the_response_has_such_units() {
        for (text, response, expected) in [
            ("5 MiB", "size_bytes", 5_242_880.0),
            ("1.5GB", "size_bytes", 1.5e9),
            ("12.5ms", "took_ns", 12.5e6),
            ("250µs", "took_ns", 250e3),
            ("0m1.25s", "took_ns", 1.25e9),
            ("1h2m3s", "took_ns", 3723e9),
            ("0:01.5", "took_ns", 1.5e9),
            ("1:02:03", "took_ns", 3723e9),
            ("45,5 %", "share_ppm", 455_000.0),
            ("12,345", "files_count", 12_345.0),
            ("1.2M", "files_count", 1.2e6),
        ] {
            let found = value(text, response, None).unwrap_or_else(|why| panic!("{text} {why}"));
            assert!((found - expected).abs() < 1e-6 * expected, "{text}: {found}");
        }
        for (text, response, why) in [
            ("1.2K", "size_bytes", "power of 1000 or of 1024"),
            ("4 KB", "size_bytes", "power of 1000 or of 1024"),
            ("5m", "took_ns", "no unit of time"),
            ("5 MiB", "speed", "set its unit"),
        ] {
            assert!(value(text, response, None).unwrap_err().contains(why), "{text}");
        }
        let words = |text: &str, response: &str, of_unit: f64| {
            read(text, response, "", None).unwrap().words(response, of_unit).unwrap_or_default()
        };
        assert_eq!(words("5 MiB", "size_bytes", 1e6), "5242880 B");
        assert_eq!(words("0m1.25s", "took_ns", 1.0), "1.25 s");
        assert_eq!(words("1,234,567", "took_ns", 1.0), "1234567");
        assert_eq!(words("0,5 ms", "took_ns", 1e6), "0.5 ms");
        assert_eq!(words("0.5 ms", "took_ns", 1e6), "");
        assert_eq!(words("1.2K", "speed", 1.0), "1200");
    }

    #[test]
    fn the_unit_that_a_metric_has_may_be_printed() {
        let value = |text: &str, response: &str, own: &str| {
            let printed = read(text, response, own, None).ok()?;
            Some(printed.digits.parse::<f64>().ok()? * printed.factor)
        };
        assert_eq!(value("1,234.5 MB/s", "speed", "MB/s"), Some(1234.5));
        assert_eq!(value("1.2 GB/s", "speed", "MB/s"), Some(1200.0));
        assert_eq!(value("2 MiB/s", "speed", "KiB/s"), Some(2048.0));
        assert_eq!(value("3.0x", "gain", "×"), Some(3.0));
        assert_eq!(value("4 threads", "threads_count", ""), Some(4.0));
        assert_eq!(value("5 op/s", "speed", "MB/s"), None);
    }

    #[test]
    fn what_can_mean_two_numbers_is_decided_by_others_or_refused() {
        let why = value("12,345", "speed", None).unwrap_err();
        assert!(why.contains("may be 12345 or 12.345"), "{why}");
        assert_eq!(value("12,345", "speed", Some(Decimal::Point)), Ok(12_345.0));
        assert_eq!(value("12,345", "speed", Some(Decimal::Comma)), Ok(12.345));
        assert_eq!(value("12.345", "speed", None), Ok(12.345));
        assert_eq!(value("12.345", "speed", Some(Decimal::Comma)), Ok(12_345.0));
        let shown = |texts: &[&str]| decimal(texts.iter().copied());
        assert_eq!(shown(&["12,345", "0.5"]), Some(Decimal::Point));
        assert_eq!(shown(&["12,345", "1,234,567"]), Some(Decimal::Point));
        assert_eq!(shown(&["12,345", "0,5"]), Some(Decimal::Comma));
        assert_eq!(shown(&["12,345", "1 000,5 ms"]), Some(Decimal::Comma));
        for texts in [&["12,345", "1.234"][..], &["12,345", "7"], &["0,5", "0.5"], &["x"]] {
            assert_eq!(shown(texts), None, "{texts:?}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in
            ["", "x", "inf", "nan", "1,2,3", "12,34,567", "1,234 567", "aaa", "1 2", "-", "1.5,"]
        {
            assert!(read(text, "speed", "", None).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::default()
        })]

        #[test]
        fn a_number_grouped_by_commas_is_itself_or_refused(number in 0_u32..2_000_000_000) {
            let plain = number.to_string();
            let mut text = String::new();
            for (index, digit) in plain.chars().enumerate() {
                if index > 0 && (plain.len() - index) % 3 == 0 {
                    text.push(',');
                }
                text.push(digit);
            }
            match value(&text, "speed", None) {
                Ok(found) => proptest::prop_assert_eq!(found, f64::from(number)),
                Err(_) => proptest::prop_assert!((1000..1_000_000).contains(&number)),
            }
        }

        #[test]
        fn any_text_is_a_number_or_an_error(text in "[-+0-9.,_' eEkKMiBms:%]{0,14}") {
            if let Ok(printed) = read(&text, "took_ns", "", None) {
                proptest::prop_assert!(printed.digits.parse::<f64>().is_ok(), "{:?}", printed);
            }
        }
    }
}
