//! Factors, their levels and what these stand for in a command.

use crate::place::{Error, Result};
use crate::table::Value;
use crate::{is_word, no_such};
use ask::units;
use model::measures::AGAIN;
use model::{ENTRIES_MAX, Factor, Level, SCRATCH, Subject};

/// Whether a factor's levels lie on an axis that a trend can follow.
pub(crate) fn is_axis(factor: &Factor) -> bool {
    factor.levels.len() > 2 && factor.levels.iter().all(|level| level.value.is_some())
}

const LEVELS: &str =
    "a list such as [1, 2, 4] or [\"fork\", \"pthread\"], or a range such as \"1..8\"";

/// Reads all factors, in the order of the file; what stands for their levels in a command, where that is not
/// their names, is the subject's.
pub(crate) fn read(value: &Value<'_>, subject: &mut Subject) -> Result<Vec<Factor>> {
    let table = value.table("a table of factors, such as [factors] n = [1, 2, 4]")?;
    table.entries().iter().map(|value| factor(value, subject)).collect()
}

fn factor(value: &Value<'_>, subject: &mut Subject) -> Result<Factor> {
    let name = value.name.clone();
    if !is_word(&name) {
        let what = "a factor's name must be a word of a-z, 0-9 and _, since {name} stands for it";
        return Err(value.error_at_name(what));
    }
    if name == SCRATCH || name == AGAIN {
        let what = format!("{name} has a meaning of its own; give the factor another name");
        return Err(value.error_at_name(what));
    }
    let levels = match value.is_table() {
        true => {
            let table = value.fields("a table", "levels baseline unit about label")?;
            table.needed_as("levels", LEVELS)?
        }
        false => value.clone(),
    };
    let about = value.read("about", |value| value.text("a text"))?;
    let label = value.read("label", |value| value.text("a text"))?;
    let unit = value.read("unit", |value| value.text("a text such as \"MiB\""))?;
    let mut factor = Factor {
        about: about.unwrap_or_else(|| format!("what stands for {{{name}}}")),
        baseline: String::new(),
        levels: all_levels(&levels, &name, subject)?,
        name,
        label: label.unwrap_or_default(),
        unit: None,
    };
    factor.baseline = match value.get("baseline") {
        None => factor.levels[0].name.clone(),
        Some(value) => level_of(&factor, &value)?,
    };
    if let Some(unit) = unit {
        let (unit, times) = units::unit(&unit);
        // Levels are numbers of the file's unit; an axis counts in the one that is known.
        for level in &mut factor.levels {
            level.value = level.value.map(|value| value * times);
        }
        factor.unit = Some(unit);
    }
    sort(&mut factor.levels);
    Ok(factor)
}

/// Sorts levels by their numbers, if all are numbers.
pub(crate) fn sort(levels: &mut [Level]) {
    if levels.iter().all(|level| level.value.is_some()) {
        let value = |level: &Level| level.value.unwrap_or_default();
        levels.sort_by(|a, b| value(a).total_cmp(&value(b)));
    }
}

/// Returns the factor of that name.
pub(crate) fn find<'f>(
    factors: &'f [Factor],
    name: &str,
    wrong: impl FnOnce(String) -> Error,
) -> Result<&'f Factor> {
    factors.iter().find(|factor| factor.name == name).ok_or_else(|| {
        let known = factors.iter().map(|factor| factor.name.as_str());
        wrong(match factors.len() {
            0 => format!("{name:?} is no factor; the study has no factor"),
            _ => no_such("factor", name, known),
        })
    })
}

/// The name of the level that a value of the file means.
pub(crate) fn level_of(factor: &Factor, value: &Value<'_>) -> Result<String> {
    let name = value.word("the name of a level")?;
    let by_value = || {
        let number: f64 = name.parse().ok()?;
        let same = |level: &&Level| level.name.parse() == Ok(number);
        factor.levels.iter().find(same)
    };
    match factor.level(&name).or_else(by_value) {
        Some(level) => Ok(level.name.clone()),
        None => {
            let known = factor.levels.iter().map(|level| level.name.as_str());
            Err(value.error(no_such(&format!("level of {}", factor.name), &name, known)))
        }
    }
}

fn all_levels(levels: &Value<'_>, factor: &str, subject: &mut Subject) -> Result<Vec<Level>> {
    let mut all: Vec<Level> = Vec::new();
    if levels.is_text() {
        let range = range(&levels.text(LEVELS)?).map_err(|what| levels.error(what))?;
        let number = |n: i64| Level { value: Some(n as f64), ..Level::new(&n.to_string(), "") };
        return Ok(range.into_iter().map(number).collect());
    }
    for value in levels.list(LEVELS)? {
        let level = if value.is_table() {
            named(&value, factor, subject)?
        } else if value.is_text() {
            Level::new(&value.text("a word")?, "")
        } else {
            let number = value.number("a word, a number, or a table { name = … }")?;
            Level { value: Some(number.value), ..Level::new(&number.text, "") }
        };
        if all.iter().any(|known| known.name == level.name) {
            return Err(value.error(format!("the level {:?} stands here twice", level.name)));
        }
        if level.name.is_empty() {
            let what = "a level needs a name; write { name = \"none\", word = \"\" } where nothing is \
                        to stand in the command";
            return Err(value.error(what));
        }
        if all.len() >= ENTRIES_MAX {
            return Err(value.error(format!("these are more than {ENTRIES_MAX} levels")));
        }
        // A person's own word is shown as it is, while the underscores of a catalog's names are spaces.
        let is_word = !level.name.starts_with(|c: char| c.is_ascii_digit());
        let label = match level.label.is_empty() && level.name.contains('_') && is_word {
            true => level.name.clone(),
            false => level.label,
        };
        all.push(Level { label, ..level });
    }
    match all.len() {
        0 => Err(levels.error("it has no level; a factor needs one at least")),
        _ => Ok(all),
    }
}

/// A level that says more than its name.
fn named(value: &Value<'_>, factor: &str, subject: &mut Subject) -> Result<Level> {
    let table = value.fields("a table { name = …, word = … }", "name word value about label")?;
    let word = table.get("word");
    let name = match (table.get("name"), table.get("value"), &word) {
        (Some(name), _, _) => name.word("a text")?,
        (None, Some(value), _) => value.number("a number")?.text,
        (None, None, Some(word)) if !word.is_list() => word.word("a text")?,
        _ => return Err(value.error("it has no name; add name = \"…\"")),
    };
    if let Some(word) = word {
        let factor = factor.to_string();
        if word.is_list() {
            let list = word.words("a list of arguments")?;
            subject.lists.entry(factor).or_default().insert(name.clone(), list);
        } else {
            let word = word.word("a text, or a list of arguments")?;
            subject.words.entry(factor).or_default().insert(name.clone(), word);
        }
    }
    let number = table.read("value", |value| value.number("a number"))?.map(|it| it.value);
    let label = table.text_or_empty("label")?;
    Ok(Level { value: number, label, ..Level::new(&name, &table.text_or_empty("about")?) })
}

const RANGE: &str = "expected a range such as \"1..8\", \"0..100 +25\" or \"1..64 x2\" (its end \
                     belongs to it), or a list of levels in [ ]";

/// The whole numbers of `1..8`, `0..100 +25` or `1..64 x2`.
fn range(text: &str) -> Result<Vec<i64>, String> {
    let whole = |text: &str| text.trim().parse::<i64>().map_err(|_| RANGE.to_string());
    let (ends, step) = match text.find(['+', 'x', '*']) {
        Some(at) => text.split_at(at),
        None => (text, "+1"),
    };
    let (low, high) = ends.split_once("..").ok_or(RANGE)?;
    let (low, high) = (whole(low)?, whole(high)?);
    let (step, by) = (step.chars().next(), whole(&step[1..])?);
    model::ensure!(low <= high, "{low} is beyond {high}: the range is empty");
    let next: Box<dyn Fn(i64) -> Option<i64>> = match step {
        Some('+') if by > 0 => Box::new(move |at: i64| at.checked_add(by)),
        Some('x' | '*') if by > 1 && low > 0 => Box::new(move |at: i64| at.checked_mul(by)),
        _ => {
            return Err("such a step never gets from one end to the other; +2 counts on, x2 \
                         doubles what is above 0"
                .into());
        }
    };
    let values = std::iter::successors(Some(low), |at| next(*at).filter(|at| *at <= high));
    let values: Vec<i64> = values.take(ENTRIES_MAX + 1).collect();
    if values.len() > ENTRIES_MAX {
        return Err(format!("these are more than {ENTRIES_MAX} levels; give a larger step"));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn a_range_holds_its_end() {
        assert_eq!(range("1..4"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(range("0 .. 100 +25"), Ok(vec![0, 25, 50, 75, 100]));
        assert_eq!(range("1..64 x2"), Ok(vec![1, 2, 4, 8, 16, 32, 64]));
        assert_eq!(range("1..10 x2"), Ok(vec![1, 2, 4, 8]));
        assert_eq!(range("-2..2 +2"), Ok(vec![-2, 0, 2]));
        let wrong = [
            "",
            "8",
            "1..",
            "8..1",
            "0..8 x2",
            "1..8 x1",
            "1..8 +0",
            "1..9999",
            "a..b",
            "1..8 +",
            "1..8é",
            "1..9223372036854775807 x9223372036854775807x",
        ];
        for text in wrong {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
