//! The limits of the shape: a committed file with a line for each number.

use super::Number;
use crate::tidy::Fault;

/// The file with the limits, from the root.
pub(super) const FILE: &str = "xtask/shape.txt";

/// A limit that is above its number by more than this share of it holds nothing.
const SLACK: f64 = 0.02;

/// A line of the file: a limit, the name of its number, and why it was raised.
#[derive(Debug, PartialEq)]
pub(super) struct Limit<'a> {
    pub(super) most: f64,
    pub(super) name: &'a str,
    reason: Option<&'a str>,
}

/// Returns the limits of a file. Lines that begin with `#` are comments.
///
/// # Errors
/// The first line that is no limit.
pub(super) fn read(text: &str) -> Result<Vec<Limit<'_>>, Fault> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let limits = lines.map(|(index, line)| {
        let place = format!("{FILE}:{}", index + 1);
        parse(line).ok_or(Fault { place, what: "write a number, and what it limits".into() })
    });
    limits.collect()
}

fn parse(line: &str) -> Option<Limit<'_>> {
    let (limit, reason) = match line.split_once('#') {
        Some((limit, reason)) => (limit, Some(reason.trim())),
        None => (line, None),
    };
    let (most, name) = limit.trim().split_once(' ')?;
    Some(Limit { most: most.parse().ok()?, name: name.trim(), reason })
}

/// How a number stands to its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Standing {
    Held,
    /// It fell, and the limit can follow.
    Below,
    /// It fell so far that the limit must follow.
    FarBelow,
    Passed,
    /// The file has no limit for it.
    Unlimited,
}

/// Returns how a number stands to its limit.
pub(super) fn standing(number: &Number, limits: &[Limit<'_>]) -> Standing {
    let fitting = fitting(number);
    match limits.iter().find(|limit| limit.name == number.name) {
        None => Standing::Unlimited,
        Some(limit) if number.value > limit.most => Standing::Passed,
        Some(limit) if limit.most > fitting + SLACK * number.value => Standing::FarBelow,
        Some(limit) if limit.most > fitting => Standing::Below,
        Some(_) => Standing::Held,
    }
}

/// Returns the least limit of a number: itself, or the next full hundred of lines.
fn fitting(number: &Number) -> f64 {
    match number.in_hundreds {
        true => (number.value / 100.0).ceil() * 100.0,
        false => number.value,
    }
}

/// Returns what is wrong with the limit of a number.
pub(super) fn fault(number: &Number, limits: &[Limit<'_>]) -> Option<Fault> {
    let Number { name, value, .. } = number;
    let limit = limits.iter().find(|limit| limit.name == *name);
    let most = limit.map_or(0.0, |limit| limit.most);
    let what = match standing(number, limits) {
        Standing::Held | Standing::Below => return None,
        Standing::FarBelow => {
            format!("{name}: {value}, and the limit is {most}; lower it: cargo xtask shape --write")
        }
        Standing::Passed if number.places.is_empty() => {
            format!("{name}: {value}, and {most} is the most")
        }
        Standing::Passed => format!(
            "{name}: {value}, and {most} is the most; cargo xtask shape --places \"{name}\" lists them"
        ),
        Standing::Unlimited => format!("{name} has no limit; add it: cargo xtask shape --write"),
    };
    Some(Fault { place: FILE.into(), what })
}

/// Returns the file with each limit lowered to its number; one that is passed stays. Numbers without a
/// limit get one, and limits without a number go.
pub(super) fn lowered(text: &str, limits: &[Limit<'_>], numbers: &[Number]) -> String {
    let comments = text.lines().take_while(|line| line.is_empty() || line.starts_with('#'));
    let mut written: String = comments.map(|line| format!("{line}\n")).collect();
    for number in numbers {
        let limit = limits.iter().find(|limit| limit.name == number.name);
        let most = limit.map_or(fitting(number), |limit| limit.most.min(fitting(number)));
        let reason = limit.and_then(|limit| limit.reason);
        let reason = reason.map_or(String::new(), |reason| format!("  # {reason}"));
        written.push_str(&format!("{most:>6} {}{reason}\n", number.name));
    }
    written
}

#[cfg(test)]
mod tests {
    use super::{Standing, lowered, read, standing};
    use crate::tidy::shape::Number;

    fn number(name: &str, value: f64) -> Number {
        let in_hundreds = name.starts_with("lines");
        Number { name: name.into(), value, rule: String::new(), places: Vec::new(), in_hundreds }
    }

    #[test]
    fn limits_are_lowered_and_never_raised() {
        let text = "# Limits.\n\n  14.5 closures\n     3 circles  # a trait is to come\n     9 gone\n   \
            900 lines\n";
        let numbers = [
            number("closures", 14.2),
            number("circles", 4.0),
            number("lines", 720.0),
            number("items", 7.0),
        ];
        let after = lowered(text, &read(text).unwrap(), &numbers);
        assert_eq!(
            after,
            "# Limits.\n\n  14.2 closures\n     3 circles  # a trait is to come\n   800 lines\n     7 items\n"
        );
        assert_eq!(lowered(&after, &read(&after).unwrap(), &numbers), after);
    }

    #[test]
    fn a_line_that_is_no_limit_is_named() {
        for (text, place) in [("# Limits.\n\n3 circles\nmany circles\n", 4), ("3\n", 1)] {
            assert_eq!(read(text).unwrap_err().place, format!("xtask/shape.txt:{place}"));
        }
    }

    #[test]
    fn a_limit_far_above_its_number_holds_nothing() {
        let limits = read("100 items\n14 formats\n9000 lines\n").unwrap();
        for (name, value, expected) in [
            ("items", 101.0, Standing::Passed),
            ("items", 100.0, Standing::Held),
            ("items", 99.0, Standing::Below),
            ("items", 98.0, Standing::FarBelow),
            ("lines", 9001.0, Standing::Passed),
            ("lines", 8901.0, Standing::Held),
            ("lines", 8900.0, Standing::Below),
            ("lines", 8700.0, Standing::FarBelow),
            ("formats", 13.0, Standing::FarBelow),
            ("circles", 0.0, Standing::Unlimited),
        ] {
            assert_eq!(standing(&number(name, value), &limits), expected, "{name} {value}");
        }
    }
}
