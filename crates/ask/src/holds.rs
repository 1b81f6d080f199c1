//! Where a claim's number lies if it is true: `< 2`, `>= 100 ms`, `= 4`, `1.5..2`, `within 5%`.

use crate::units;
use model::{Design, Quantity, Region, Unit};

/// In which terms a claim's number is read.
#[derive(Clone, Debug)]
pub enum Terms {
    /// As a multiple.
    Times,
    /// As it is.
    Plain,
    /// In a response's unit.
    In(Unit),
}

impl Terms {
    /// Returns the terms of a quantity: its response's unit, or multiples.
    pub fn of(quantity: &Quantity, design: &Design) -> Terms {
        match quantity {
            Quantity::Value { response, .. } | Quantity::Difference { response, .. } => {
                design.response(response).map_or(Terms::Plain, |it| Terms::In(it.unit.clone()))
            }
            Quantity::Exponent { .. } | Quantity::Linearity { .. } => Terms::Plain,
            _ => Terms::Times,
        }
    }
}

/// What is expected of such a text.
const FORMS: &str =
    "expected \"< 2\", \"<= 2\", \"> 2\", \">= 2\", \"= 2\", \"1.5..2\" or \"within 5% of 2\"";

/// The part of a number by which the end of "< 2" lies before 2, which a count that is 2 in each block does not meet.
const STRICT: f64 = 1e-9;

/// The region that a text means.
///
/// # Errors
/// What would be right.
pub fn region(text: &str, terms: &Terms) -> Result<Region, String> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("within") {
        return within(rest, terms);
    }
    for (sign, end) in [
        ("<=", Region::below as fn(f64) -> Region),
        (">=", Region::above),
        ("<", |x| Region::below(x - STRICT * x.abs().max(STRICT))),
        (">", |x| Region::above(x + STRICT * x.abs().max(STRICT))),
        ("==", |x| Region::within(x, x)),
        ("=", |x| Region::within(x, x)),
    ] {
        if let Some(rest) = text.strip_prefix(sign) {
            return number(rest, terms).map(end);
        }
    }
    let (low, high) = text.split_once("..").ok_or(FORMS)?;
    let unit = high.trim().trim_start_matches(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let (low, high) = (
        number(low, terms).or_else(|_| number(&format!("{} {unit}", low.trim()), terms))?,
        number(high, terms)?,
    );
    model::ensure!(low <= high, "{text:?} ends before it begins");
    Ok(Region::within(low, high))
}

fn within(rest: &str, terms: &Terms) -> Result<Region, String> {
    let (margin, of) = match rest.split_once(" of ") {
        Some((margin, of)) => (margin, Some(of)),
        None => (rest, None),
    };
    let margin = units::share(margin)
        .filter(|margin| *margin > 0.0)
        .ok_or("expected a share above 0 behind \"within\", such as \"within 5%\"")?;
    let value = match (of, terms) {
        (Some(of), _) => number(of, terms)?,
        (None, Terms::Times) => 1.0,
        (None, _) => return Err("within that of what? Such as \"within 5% of 2\"".into()),
    };
    if value <= 0.0 {
        return Err(
            "\"within … of\" needs a number above 0; name both ends instead: \"-1..1\"".into()
        );
    }
    Ok(Region::about(value, margin))
}

fn number(text: &str, terms: &Terms) -> Result<f64, String> {
    let text = text.trim();
    let plain = |found: Option<f64>| found.ok_or_else(|| format!("{text:?} is no number; {FORMS}"));
    match terms {
        Terms::Times => plain(units::multiple(text)),
        Terms::Plain => plain(text.parse().ok().filter(|x: &f64| x.is_finite())),
        Terms::In(unit) => units::in_unit(text, unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_read_in_the_terms_of_their_number() {
        let times = |text| region(text, &Terms::Times);
        assert_eq!(times("<= 2"), Ok(Region::below(2.0)));
        let below = times("< 2").unwrap();
        assert!(!below.contains(2.0) && below.contains(1.999_999_99), "{below:?}");
        assert_eq!(times(">= 1.5x"), Ok(Region::above(1.5)));
        assert_eq!(times("1.5..2"), Ok(Region::within(1.5, 2.0)));
        assert_eq!(times("within 25%"), Ok(Region::within(0.8, 1.25)));
        assert_eq!(times("within 25% of 2"), Ok(Region::within(1.6, 2.5)));
        let time = |text| region(text, &Terms::In(Unit::Ns));
        assert_eq!(time("<= 200 ms"), Ok(Region::below(2e8)));
        assert_eq!(time("1 .. 2 ms"), Ok(Region::within(1e6, 2e6)));
        assert_eq!(time("900 us..2 ms"), Ok(Region::within(9e5, 2e6)));
        assert_eq!(region("= 4", &Terms::In(Unit::Count)), Ok(Region::within(4.0, 4.0)));
        assert_eq!(region("-1..1", &Terms::Plain), Ok(Region::within(-1.0, 1.0)));
    }

    #[test]
    fn what_is_no_region_is_told_how_it_would_be_one() {
        for text in [
            "",
            "2",
            "2..1",
            "within",
            "within 5",
            "within 0%",
            "~ 2",
            "<",
            "< é",
            "..",
            "within 5% of 0",
        ] {
            let why = region(text, &Terms::Times).unwrap_err();
            assert!(!why.is_empty(), "{text}");
        }
        assert!(region("< 200", &Terms::In(Unit::Ns)).unwrap_err().contains("200 ms"));
        assert!(region("within 5%", &Terms::Plain).unwrap_err().contains("of 2"));
    }
}
