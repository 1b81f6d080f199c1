//! What people say, and the number that decides.

use crate::cells::{cell, factor};
use crate::factors::{Read, level_of};
use crate::place::Error;
use crate::responses::response;
use crate::table::Value;
use ask::{Terms, region};
use model::{Cell, Claim, Quantity, Response};

/// The kinds of numbers that decide claims.
const KINDS: [&str; 7] =
    ["ratio", "difference", "value", "exponent", "linearity", "proportion", "flat"];

/// The most letters of a claim's name within the study.
const ID_CHARACTERS: usize = 32;

/// What claims are about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'a, 's> {
    pub(crate) factors: &'a [Read<'s>],
    /// Those in front first.
    pub(crate) responses: &'a [Response],
}

/// All claims, in the order of the file.
pub(crate) fn read(value: &Value<'_>, about: About<'_, '_>) -> Result<Vec<Claim>, Error> {
    let mut claims: Vec<Claim> = Vec::new();
    for item in value.list("a list of claims, each under [[claims]]")? {
        for mut claim in claim(&item, about)? {
            let taken = |id: &str| claims.iter().any(|other: &Claim| other.id == id);
            let first = claim.id.clone();
            let mut n = 2;
            while taken(&claim.id) {
                claim.id = format!("{first}_{n}");
                n += 1;
            }
            claims.push(claim);
        }
    }
    Ok(claims)
}

/// A claim; one that something is flat over a factor is one for each of its levels.
fn claim(value: &Value<'_>, about: About<'_, '_>) -> Result<Vec<Claim>, Error> {
    let table = value.table("a claim")?;
    table.known(&format!("text source because note holds {}", KINDS.join(" ")))?;
    let text = |key| table.read(key, |value| value.text("a text"));
    let said = table.needed_as("text", "\"what is said\"")?.text("a text")?;
    let mut kinds = KINDS.iter().filter_map(|kind| table.get(kind));
    let Some(kind) = kinds.next() else {
        let what = format!("no number decides it; add one of {}", KINDS.join(", "));
        return Err(value.error(what));
    };
    if let Some(second) = kinds.next() {
        let what = format!("one number decides a claim, and {} stands here already", kind.name);
        return Err(second.error_at_name(what));
    }
    let holds = table.needed_as("holds", "\"< 2\", where the number lies if it is true")?;
    let (source, because, note) = (text("source")?, text("because")?, text("note")?);
    let (quantities, terms) = quantities(&kind, about)?;
    let holds_if =
        region(&holds.text("a text such as \"< 2\"")?, &terms).map_err(|what| holds.error(what))?;
    let many = quantities.len() > 1;
    let one = |(quantity, level): (Quantity, String)| {
        let text = if many { format!("{said} ({level})") } else { said.clone() };
        Claim {
            id: slug(&text),
            text,
            source: source.clone().unwrap_or("the author of the study".into()),
            mechanism: because.clone().unwrap_or_default(),
            quantity,
            holds_if,
            note: note.clone().unwrap_or_default(),
        }
    };
    Ok(quantities.into_iter().map(one).collect())
}

/// A claim's name within its study: the first of its words.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = String::new();
    for word in words {
        if !id.is_empty() && id.len() + word.len() >= ID_CHARACTERS {
            break;
        }
        if !id.is_empty() {
            id.push('_');
        }
        id.extend(word.chars().take(ID_CHARACTERS).map(|c| c.to_ascii_lowercase()));
    }
    if id.is_empty() { "claim".into() } else { id }
}

/// The numbers that decide, each with the level it is about, and how they are read.
fn quantities(
    kind: &Value<'_>,
    about: About<'_, '_>,
) -> Result<(Vec<(Quantity, String)>, Terms), Error> {
    let table = kind.table("a table such as { of = { n = 8 }, to = { n = 1 } }")?;
    let parts = Parts { kind, about };
    table.known(match kind.name.as_str() {
        "ratio" | "difference" => "of to response",
        "value" => "at response",
        "proportion" => "over lower upper at response",
        _ => "over at response",
    })?;
    let Response { name, unit, .. } = parts.response()?;
    let response = name.clone();
    let (quantity, terms) = match kind.name.as_str() {
        "ratio" => {
            let (of, to) = parts.two()?;
            (Quantity::Ratio { response, of, to }, Terms::Times)
        }
        "difference" => {
            let (of, to) = parts.two()?;
            (Quantity::Difference { response, of, to }, Terms::In(unit.clone()))
        }
        "value" => (Quantity::Value { response, at: parts.at()? }, Terms::In(unit.clone())),
        "exponent" => {
            let (over, at) = (parts.axis()?, parts.at()?);
            (Quantity::Exponent { response, over, at }, Terms::Plain)
        }
        "linearity" => {
            let (over, at) = (parts.axis()?, parts.at()?);
            (Quantity::Linearity { response, over, at }, Terms::Plain)
        }
        "proportion" => {
            let (read, at) = (parts.over()?, parts.at()?);
            let (lower, upper) = (parts.end(read, "lower")?, parts.end(read, "upper")?);
            let over = read.factor.name.clone();
            (Quantity::Proportion { response, over, lower, upper, at }, Terms::Times)
        }
        _ => return Ok((parts.flat(&response)?, Terms::Times)),
    };
    Ok((vec![(quantity, String::new())], terms))
}

/// The parts of a number.
struct Parts<'a, 's> {
    kind: &'a Value<'s>,
    about: About<'a, 's>,
}

impl<'a> Parts<'a, '_> {
    /// The response it is formed from: the first in front, where none is named.
    fn response(&self) -> Result<&'a Response, Error> {
        let all = self.about.responses;
        Ok(self.kind.read("response", |value| response(all, value))?.unwrap_or(&all[0]))
    }

    fn cell(&self, key: &str) -> Result<Cell, Error> {
        cell(self.about.factors, &self.kind.needed_as(key, "{ FACTOR = LEVEL }")?)
    }

    fn at(&self) -> Result<Cell, Error> {
        let at = self.kind.read("at", |value| cell(self.about.factors, value))?;
        Ok(at.unwrap_or_default())
    }

    fn over(&self) -> Result<&'a Read<'a>, Error> {
        let value = self.kind.needed_as("over", "\"the factor that it follows\"")?;
        factor(self.about.factors, &value.text("the name of a factor")?, |what| value.error(what))
    }

    /// Two treatments that differ.
    fn two(&self) -> Result<(Cell, Cell), Error> {
        let (of, to) = (self.cell("of")?, self.cell("to")?);
        if of == to {
            return Err(self.kind.error("both are the same treatment; their ratio is 1"));
        }
        Ok((of, to))
    }

    /// The name of a factor whose levels a trend can follow.
    fn axis(&self) -> Result<String, Error> {
        let read = self.over()?;
        let name = read.factor.name.clone();
        if read.is_axis() {
            return Ok(name);
        }
        let what = format!("{name} needs three levels at least, all of them numbers, for a trend");
        Err(self.kind.error(what))
    }

    /// That a response is the same at every level of a factor: a ratio to the baseline for each.
    fn flat(&self, response: &str) -> Result<Vec<(Quantity, String)>, Error> {
        let (over, at) = (&self.over()?.factor, self.at()?);
        let others: Vec<_> =
            over.levels.iter().filter(|level| level.name != over.baseline).collect();
        if others.is_empty() {
            return Err(self.kind.error(format!("{} has one level alone", over.name)));
        }
        let ratio = |level: &model::Level| {
            let (of, to) = (at.with(&over.name, &level.name), at.with(&over.name, &over.baseline));
            let quantity = Quantity::Ratio { response: response.into(), of, to };
            (quantity, format!("{} {}", over.name, level.name))
        };
        Ok(others.into_iter().map(ratio).collect())
    }

    /// A level of a number.
    fn end(&self, over: &Read<'_>, key: &str) -> Result<String, Error> {
        let value = self.kind.needed_as(key, &format!("a level of {}", over.factor.name))?;
        let name = level_of(&over.factor, &value)?;
        let above = |level: &model::Level| level.value.is_some_and(|value| value > 0.0);
        match over.factor.level(&name).filter(|level| above(level)) {
            Some(_) => Ok(name),
            None => Err(value.error("it must be a number above 0")),
        }
    }
}
