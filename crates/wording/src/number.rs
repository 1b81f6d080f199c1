//! Numbers as people read them: a unit that fits, and no more digits than the interval carries.

use model::{Estimate, Quantity, QuantityResult, Unit};

#[cfg(test)]
mod tests;

/// A thin space that does not break: it groups digits, since a comma already separates the ends
/// of an interval.
const GROUP_SEPARATOR: char = '\u{202f}';

/// Significant digits of a number that has no interval.
const DIGITS_PLAIN: i32 = 3;

/// The most significant digits of a number that somebody wrote.
const LIMIT_DIGITS_MAX: i32 = 4;

/// What stands in the place of the interval of a number that was computed.
const EXACT: &str = "[exact]";

/// Most significant digits of any number; more cannot be read at a glance.
const DIGITS_MAX: i32 = 5;

/// Below this a number is written with a power of ten: a row of zeros cannot be counted at sight.
const TINY: f64 = 1e-4;

/// What follows a rate, its space included.
const PER_MILLION: &str = " per million";

/// What a number is measured in once it has been divided by `divisor`.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    divisor: f64,
    /// What follows the number, its space included.
    pub suffix: String,
}

/// A number and its interval, each ready to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// "12.3 µs".
    pub point: String,
    /// "[12.1, 12.6]", or "[exact]" of a number that was computed; empty where the point says it all:
    /// "at most 1.1 per million", or a number that was the same in every block.
    pub interval: String,
}

/// Below this a frequency is read per million.
const PER_MILLION_BELOW: f64 = 1e-3;

/// In which terms a quantity is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Terms<'a> {
    /// In a unit.
    In(&'a Unit),
    /// As a multiple: "8.1×".
    Times,
    /// As a percentage of a whole that is 1.
    Share,
    /// A percentage, but per million where it is small.
    Frequency,
    /// As it is.
    Plain,
}

/// Returns a value with three significant digits in a unit that fits: `12300.0` ns is "12.3 µs". Bytes
/// are counted in powers of 1000; parts per million become "%". A value that is not finite is "–".
pub fn value(x: f64, unit: &Unit) -> String {
    value_in(x, Terms::In(unit))
}

/// Returns "8.1× [7.9, 8.4]", or in a unit "12.3 µs [12.1, 12.6]", with as many digits as the width of the
/// interval supports.
pub fn estimate(estimate: &Estimate, terms: Terms<'_>) -> String {
    joined(&parts(estimate, terms))
}

/// What stands in the place of a number whose interval says next to nothing.
pub const IMPRECISE: &str = "not measured precisely enough";

/// The ends of a ratio's interval that differ by a larger factor say next to nothing of it.
const RATIO_SPAN_MAX: f64 = 4.0;

/// Reports whether the interval of a ratio says anything of it.
pub fn is_precise(ratio: &Estimate) -> bool {
    ratio.low > 0.0 && ratio.high <= RATIO_SPAN_MAX * ratio.low
}

/// Returns a ratio with its interval: "8.1× [7.9, 8.4]".
pub fn ratio(ratio: &Estimate) -> String {
    estimate(ratio, Terms::Times)
}

/// Returns what is known, as `shown` writes it, or a dash.
pub fn or_dash<T>(known: Option<T>, shown: impl Fn(T) -> String) -> String {
    known.map_or("–".into(), shown)
}

/// Returns a quantity's value in the terms that suit its kind, or why there is none. A frequency's counts
/// stand before it: "12 of 3 400 000: 3.5 per million [1.8, 6.2]".
pub fn quantity(result: &QuantityResult) -> String {
    match (result_parts(result), counts(result)) {
        (Some(parts), Some(counts)) => format!("{counts}: {}", joined(&parts)),
        (Some(parts), None) => joined(&parts),
        (None, _) => "not measured".into(),
    }
}

/// What stands with an elapsed time that is formed without what other programs took from the trials.
pub const CORRECTED: &str = "(without other programs)";

/// Returns a result's number and interval in its own terms. A frequency of none has an upper limit, and one
/// of all a lower, in place of both.
pub fn result_parts(result: &QuantityResult) -> Option<Parts> {
    let estimate = result.estimate.as_ref()?;
    let terms = terms(result);
    let mut number = match (result.events, result.chances) {
        (Some(events), Some(chances)) => rate(estimate, events, chances),
        _ => parts(estimate, terms),
    };
    // The correction stands with a number that it has moved.
    if result.carried_by.is_some() {
        number.interval = format!("{} {CORRECTED}", number.interval).trim_start().into();
    }
    Some(number)
}

/// Returns a frequency with its interval, or of none its upper limit and of all its lower.
pub fn rate(estimate: &Estimate, events: u64, chances: u64) -> Parts {
    let (word, end) = match events {
        0 => ("at most", estimate.high),
        _ if events == chances => ("at least", estimate.low),
        _ => return parts(estimate, Terms::Frequency),
    };
    let point = format!("{word} {}", rounded(end, Terms::Frequency));
    Parts { point, interval: String::new() }
}

/// Returns how often something happened, in counts: "12 of 3 400 000", "none of 300", "all of 20".
pub fn counts(result: &QuantityResult) -> Option<String> {
    let (events, chances) = (result.events?, result.chances?);
    let counted = none_or_all(result).map_or_else(|| count(events), String::from);
    Some(format!("{counted} of {}", count(chances)))
}

/// Returns what a share leaves unexplained, in a sentence; `None` for other quantities.
pub fn rest(result: &QuantityResult) -> Option<String> {
    let Quantity::Share { .. } = result.quantity else { return None };
    let estimate = result.estimate.as_ref()?;
    let (low, high) = (1.0 - estimate.high, 1.0 - estimate.low);
    if high - low > 1.0 {
        return Some("That is no answer: the interval is wider than the gap itself.".into());
    }
    let rest =
        parts(&Estimate { point: 1.0 - estimate.point, low, high, ..*estimate }, Terms::Share);
    Some(if high <= 0.0 {
        format!("Nothing of the gap is left for another cause ({}).", joined(&rest))
    } else if low >= 1.0 {
        "It explains none of the gap.".into()
    } else {
        format!("The rest, {}, is not explained by it.", joined(&rest))
    })
}

/// Returns a finding's sentence with its number and interval in the place of `{}`. Where the sentence
/// itself goes on with "times" or "%", the number does not say so twice. Where nothing was
/// measured the place stays empty: ask for [`QuantityResult::estimate`] first.
pub fn sentence(sentence: &str, result: &QuantityResult) -> String {
    let (before, number, after) = sentence_parts(sentence, result);
    let number = number.map(|number| joined(&number)).unwrap_or_default();
    let aside = aside(result).filter(|_| !number.is_empty());
    let aside = aside.map(|aside| format!(" ({aside})")).unwrap_or_default();
    format!("{before}{number}{aside}{after}")
}

/// Returns what stands behind a frequency in a sentence: its counts; of none or all, which stand there as a word,
/// also the trials, by whose number they are known, and the limit: "of 300 in 12 trials; at most 26 %".
pub fn aside(result: &QuantityResult) -> Option<String> {
    let counts = counts(result)?;
    let Some(word) = none_or_all(result) else { return Some(counts) };
    let (limit, trials) = (result_parts(result)?.point, u64::from(result.estimate?.samples));
    let counts = counts.trim_start_matches(word).trim_start();
    Some(format!("{counts} in {}; {limit}", counted(trials, "trial")))
}

/// Returns "none" or "all" of a frequency that is one of them.
fn none_or_all(result: &QuantityResult) -> Option<&'static str> {
    match (result.events?, result.chances?) {
        (0, _) => Some("none"),
        (events, chances) if events == chances => Some("all"),
        _ => None,
    }
}

/// Returns the sentence cut at its `{}`, and what stands there.
pub fn sentence_parts<'a>(
    sentence: &'a str,
    result: &QuantityResult,
) -> (&'a str, Option<Parts>, &'a str) {
    let number = result_parts(result);
    let word = none_or_all(result).filter(|_| number.is_some());
    let word = word.map(|word| Parts { point: word.into(), interval: String::new() });
    placed(sentence, word.or(number))
}

/// Returns a sentence cut at its `{}`, and a number in the words that fit there.
pub fn placed(sentence: &str, mut number: Option<Parts>) -> (&str, Option<Parts>, &str) {
    let Some((before, after)) = sentence.split_once("{}") else { return (sentence, None, "") };
    let next = after.trim_start();
    if let Some(number) = &mut number {
        if before.is_empty() {
            number.point = crate::text::capital(&number.point);
        }
        for (said, sign) in [("times", "×"), ("×", "×"), ("%", " %"), ("per million", PER_MILLION)]
        {
            if next.starts_with(said) && number.point.ends_with(sign) {
                number.point.truncate(number.point.len() - sign.len());
            }
        }
    }
    (before, number, after)
}

/// Returns the terms in which a quantity is read.
pub fn terms(result: &QuantityResult) -> Terms<'_> {
    terms_of(&result.quantity, result.unit.as_ref())
}

/// Returns the terms in which a quantity of such a unit is read.
pub fn terms_of<'a>(quantity: &Quantity, unit: Option<&'a Unit>) -> Terms<'a> {
    match (quantity, unit) {
        (quantity, _) if quantity.is_multiple() => Terms::Times,
        (Quantity::Share { .. }, _) => Terms::Share,
        (Quantity::Frequency { .. }, _) => Terms::Frequency,
        (Quantity::Exponent { .. } | Quantity::Linearity { .. }, _) => Terms::Plain,
        (Quantity::Value { .. } | Quantity::Difference { .. }, Some(unit)) => Terms::In(unit),
        _ => Terms::Plain,
    }
}

/// Returns a single number in given terms, with three significant digits.
pub fn value_in(x: f64, terms: Terms<'_>) -> String {
    written(x, terms, DIGITS_PLAIN, false)
}

/// Returns a number that somebody chose, or one where a glance is enough: three
/// significant digits, without zeros at the end: "2×", "2.1 %", "16.3×".
pub fn rounded(x: f64, terms: Terms<'_>) -> String {
    written(x, terms, DIGITS_PLAIN, true)
}

/// Returns a number that somebody wrote as the end of a region, with the digits that it takes, at most four: "1.005×",
/// "104.4 ms". One that takes more was computed, such as 1/1.05, and has three.
pub fn limit(x: f64, terms: Terms<'_>) -> String {
    let divisor = frame(terms, x).divisor;
    let is_whole = |digits: &i32| {
        let shown = x / divisor;
        let unit = 10f64.powi(digits - 1 - exponent(shown));
        ((shown * unit).round() / unit - shown).abs() <= 1e-9 * shown.abs()
    };
    let digits = (DIGITS_PLAIN..=LIMIT_DIGITS_MAX).find(is_whole);
    written(x, terms, digits.unwrap_or(DIGITS_PLAIN), true)
}

/// Returns a part of a whole that is 1, as a percentage.
pub fn share(x: f64) -> String {
    rounded(x, Terms::Share)
}

/// Returns a single number in given terms with `digits` significant ones; `trimmed`: without zeros at the end.
fn written(x: f64, terms: Terms<'_>, digits: i32, trimmed: bool) -> String {
    if x.is_nan() {
        return "–".into();
    }
    let frame = frame(terms, x);
    let shown = x / frame.divisor;
    let text = number(shown, decimals_to(shown, digits));
    // The zeros to take away stand before an exponent.
    let (digits, power) = text.split_at(text.find('e').unwrap_or(text.len()));
    let digits = match trimmed && digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    };
    format!("{digits}{power}{}", frame.suffix)
}

/// The largest share that [`rough`] tells in numbers.
const SHARE_TOLD_MAX: f64 = 100.0;

/// Returns the smallest difference that could be found, or another number that is itself no better known
/// than to a tenth: two significant digits, since three would be read as if it were. Of a share so large
/// that it means "no difference at all could be found" only that is said.
pub fn rough(x: f64, terms: Terms<'_>) -> String {
    if x == 0.0 || !x.is_finite() {
        return rounded(x, terms);
    }
    if matches!(terms, Terms::Share) && x > SHARE_TOLD_MAX {
        return format!("more than {}", rounded(SHARE_TOLD_MAX, terms));
    }
    let digits = 10f64.powi(exponent(x) - 1);
    rounded((x / digits).round() * digits, terms)
}

/// Returns a number and its interval in given terms.
pub fn parts(estimate: &Estimate, terms: Terms<'_>) -> Parts {
    parts_with(estimate, terms, 0)
}

/// Does the same with fewer digits where it would take more than `columns`.
pub fn parts_within(estimate: &Estimate, terms: Terms<'_>, columns: usize) -> Parts {
    let most = DIGITS_MAX as usize;
    let with = |fewer| parts_with(estimate, terms, fewer);
    let fits = |parts: &Parts| joined(parts).chars().count() <= columns;
    (0..most).map(with).find(fits).unwrap_or_else(|| with(most))
}

fn parts_with(estimate: &Estimate, terms: Terms<'_>, fewer: usize) -> Parts {
    let ends = [estimate.low, estimate.high];
    if estimate.is_exact() {
        let digits = (DIGITS_MAX - fewer as i32).max(DIGITS_PLAIN);
        let point = written(estimate.point, terms, digits, true);
        return Parts { point, interval: EXACT.into() };
    }
    if is_exact(estimate) {
        return Parts { point: rounded(estimate.point, terms), interval: String::new() };
    }
    // No ratio of times or counts lies below 0: only its upper limit is known.
    if terms == Terms::Times && estimate.low <= 0.0 && estimate.high > 0.0 {
        let point = format!("less than {}", rounded(estimate.high, terms));
        return Parts { point, interval: String::new() };
    }
    let largest = ends.iter().filter(|x| x.is_finite()).fold(0.0_f64, |a, x| a.max(x.abs()));
    // An interval that reaches from a few per million to a percentage is read as percentages.
    let is_wide = terms == Terms::Frequency && largest >= PER_MILLION_BELOW;
    let reference = if estimate.point == 0.0 || is_wide { largest } else { estimate.point };
    let frame = frame(terms, reference);
    let [low, high] = ends.map(|x| x / frame.divisor);
    let point = estimate.point / frame.divisor;
    let mut decimals = decimals(point, high - low);
    // What is known not to be nothing does not read as 0, however wide its interval.
    let least = |x: f64| (-exponent(x)).clamp(0, DIGITS_MAX - 1) as usize;
    if low > 0.0 && terms != Terms::Times {
        decimals = decimals.max(least(point));
    }
    // Nor does what is not all of it as 100 %.
    if terms == Terms::Frequency && frame.divisor == 0.01 && point < 100.0 {
        decimals = decimals.max(least(100.0 - point));
    }
    if terms == Terms::Frequency && frame.suffix == PER_MILLION && point > 0.0 {
        // The interval of a few events is wide, and their rate still no round number.
        decimals = decimals.max((1 - exponent(point)).clamp(0, 9) as usize);
    }
    if terms == Terms::Times {
        decimals =
            ends.into_iter().map(|end| decimals_beside_1(end, decimals)).fold(decimals, usize::max);
    }
    let decimals = decimals.saturating_sub(fewer);
    Parts {
        point: format!("{}{}", number(point, decimals), frame.suffix),
        interval: format!("[{}, {}]", number(low, decimals), number(high, decimals)),
    }
}

/// Returns the least number of decimals, from `decimals` up, with which an end of a ratio's interval that
/// is not 1 is not printed as 1: on which side of it the end lies says which side is larger.
fn decimals_beside_1(end: f64, decimals: usize) -> usize {
    let is_seen = |decimals: &usize| {
        let half = 0.5 * 0.1_f64.powi(i32::try_from(*decimals).unwrap_or(9));
        end == 1.0 || (end - 1.0).abs() > half
    };
    let most = (DIGITS_MAX - 1) as usize;
    (decimals..=most).find(is_seen).unwrap_or(decimals)
}

/// Reports whether a number was the same in every trial, or known beforehand: there is no interval to show.
/// Ends that differ in their last binary digits only have come back from logarithms.
pub fn is_exact(estimate: &Estimate) -> bool {
    let width = estimate.high - estimate.low;
    estimate.low == estimate.high || width.abs() <= 1e-12 * estimate.point.abs()
}

/// Returns one number of an axis whose largest tick is `largest`: all ticks share one unit.
pub fn tick(x: f64, step: f64, largest: f64, terms: Terms<'_>) -> String {
    let frame = frame(terms, largest);
    let decimals = (-(step / frame.divisor).log10().floor()).clamp(0.0, 6.0) as usize;
    number(x / frame.divisor, decimals)
}

/// Returns the unit of an axis whose largest tick is `largest`, without brackets; may be empty.
pub fn axis_unit(largest: f64, terms: Terms<'_>) -> String {
    frame(terms, largest).suffix.trim().to_string()
}

/// Returns an integer with its digits in groups of three.
pub fn count(n: u64) -> String {
    number(n as f64, 0)
}

/// Returns "1 trial", "1 234 trials".
pub fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Returns a size as caches are sold, in powers of 1024: "48 KiB".
pub fn binary(bytes: f64) -> String {
    let steps = [(1024.0 * 1024.0 * 1024.0, "GiB"), (1024.0 * 1024.0, "MiB"), (1024.0, "KiB")];
    let step = steps.into_iter().find(|(step, _)| bytes >= *step);
    let (shown, unit) = step.map_or((bytes, "B"), |(step, unit)| (bytes / step, unit));
    let text = format!("{shown:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if bytes == 0.0 { "0".into() } else { format!("{text} {unit}") }
}

/// Returns a length of time for people: "2 min 31 s".
pub fn duration_s(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, 0) => format!("{m} min"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, 0, _) => format!("{h} h"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// Returns a number with its interval behind it.
pub fn joined(parts: &Parts) -> String {
    format!("{} {}", parts.point, parts.interval).trim_end().to_string()
}

fn frame(terms: Terms<'_>, magnitude: f64) -> Frame {
    let is_below = |limit: f64| magnitude != 0.0 && magnitude.abs() < limit;
    let steps: &[(f64, &str)] = match terms {
        Terms::Plain | Terms::In(Unit::Count) => &[(1.0, "")],
        Terms::Times => &[(1.0, "×")],
        Terms::Frequency if is_below(PER_MILLION_BELOW) => &[(1e-6, PER_MILLION)],
        Terms::Share | Terms::Frequency => &[(0.01, " %")],
        Terms::In(Unit::Ppm) => &[(1e4, " %")],
        // What a compiler left of a loop has no time that a clock could tell.
        Terms::In(Unit::Ns) if is_below(1e-3) => &[(1e-6, " fs")],
        Terms::In(Unit::Ns) => &[(1.0, " ns"), (1e3, " µs"), (1e6, " ms"), (1e9, " s")],
        Terms::In(Unit::Bytes) => {
            &[(1.0, " B"), (1e3, " kB"), (1e6, " MB"), (1e9, " GB"), (1e12, " TB")]
        }
        Terms::In(Unit::PerSecond) => &[(1.0, " /s"), (1e3, " k/s"), (1e6, " M/s"), (1e9, " G/s")],
        Terms::In(unit @ Unit::Other(_)) => {
            let suffix = format!(" {}", crate::text::unit(unit)).trim_end().to_string();
            return Frame { divisor: 1.0, suffix };
        }
    };
    let fits = steps.iter().rev().find(|(least, _)| magnitude.abs() >= *least);
    let (divisor, suffix) = fits.unwrap_or(&steps[0]);
    Frame { divisor: *divisor, suffix: suffix.to_string() }
}

/// Returns digits after the point so that a third of the interval's width shows (the rounding rule of
/// the Particle Data Group, in short), within [`DIGITS_MAX`] significant digits.
fn decimals(point: f64, width: f64) -> usize {
    if !width.is_finite() || width <= 0.0 {
        return decimals_to(point, DIGITS_PLAIN);
    }
    let wanted = (-(width / 3.0).log10()).ceil() as i32;
    let most = DIGITS_MAX - 1 - exponent(point);
    wanted.min(most).clamp(0, 9) as usize
}

fn decimals_to(x: f64, digits: i32) -> usize {
    if x == 0.0 { 0 } else { (digits - 1 - exponent(x)).clamp(0, 9) as usize }
}

fn exponent(x: f64) -> i32 {
    if x == 0.0 || !x.is_finite() { 0 } else { x.abs().log10().floor() as i32 }
}

/// Returns a number with digits in groups of three from 10,000 on, a real minus sign, and no "−0".
fn number(x: f64, decimals: usize) -> String {
    if x.is_nan() {
        return "–".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "∞".into() } else { "−∞".into() };
    }
    if x == 0.0 && decimals > DIGITS_MAX as usize - 1 {
        return "0".into();
    }
    if x != 0.0 && x.abs() < TINY {
        let significant = (decimals as i32 + exponent(x)).clamp(0, 2) as usize;
        return format!("{x:.significant$e}").replace('-', "−");
    }
    let digits = format!("{:.decimals$}", x.abs());
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let is_negative = x < 0.0 && digits.bytes().any(|b| (b'1'..=b'9').contains(&b));
    let mut text = String::from(if is_negative { "−" } else { "" });
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && whole.len() > 4 && (whole.len() - index) % 3 == 0 {
            text.push(GROUP_SEPARATOR);
        }
        text.push(digit);
    }
    text + fraction
}
