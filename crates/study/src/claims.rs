//! What people say, and the number that decides.

use crate::cells::{cell, factor};
use crate::factors::{Read, level_of};
use crate::place::Error;
use crate::responses::response;
use crate::table::{Table, Value};
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
    let keys: Vec<&str> =
        ["text", "source", "because", "note", "holds"].into_iter().chain(KINDS).collect();
    table.known(&keys)?;
    let text = |key| table.get(key).map(|it| it.text("a text")).transpose();
    let said = table
        .get("text")
        .ok_or_else(|| value.error("it has no text; add text = \"what is said\""))?
        .text("a text")?;
    let mut kinds = KINDS.iter().filter_map(|kind| table.get(kind));
    let Some(kind) = kinds.next() else {
        let what = format!("no number decides it; add one of {}", KINDS.join(", "));
        return Err(value.error(what));
    };
    if let Some(second) = kinds.next() {
        let what = format!("one number decides a claim, and {} stands here already", kind.name);
        return Err(second.error_at_name(what));
    }
    let holds = table.get("holds").ok_or_else(|| {
        value.error("it says not where the number lies if it is true; add holds = \"< 2\"")
    })?;
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
    let parts = Parts { table: &table, kind, about };
    let one = |quantity| vec![(quantity, String::new())];
    match kind.name.as_str() {
        "ratio" | "difference" => {
            table.known(&["of", "to", "response"])?;
            let response = parts.response()?;
            let (of, to) = (parts.cell("of")?, parts.cell("to")?);
            if of == to {
                return Err(kind.error("both are the same treatment; their ratio is 1"));
            }
            let terms = Terms::In(response.unit.clone());
            let response = response.name.clone();
            Ok(match kind.name.as_str() {
                "ratio" => (one(Quantity::Ratio { response, of, to }), Terms::Times),
                _ => (one(Quantity::Difference { response, of, to }), terms),
            })
        }
        "value" => {
            table.known(&["at", "response"])?;
            let response = parts.response()?;
            let terms = Terms::In(response.unit.clone());
            let (response, at) = (response.name.clone(), parts.at()?);
            Ok((one(Quantity::Value { response, at }), terms))
        }
        "flat" => parts.flat(),
        _ => parts.over_an_axis(one),
    }
}

/// The parts of a number.
struct Parts<'a, 's> {
    table: &'a Table<'s>,
    kind: &'a Value<'s>,
    about: About<'a, 's>,
}

impl<'a> Parts<'a, '_> {
    /// The response it is formed from: the first in front, where none is named.
    fn response(&self) -> Result<&'a Response, Error> {
        match self.table.get("response") {
            Some(value) => response(self.about.responses, &value),
            None => Ok(&self.about.responses[0]),
        }
    }

    fn cell(&self, key: &str) -> Result<Cell, Error> {
        let value = self.table.get(key).ok_or_else(|| {
            self.kind.error(format!("it has no {key}; add {key} = {{ FACTOR = LEVEL }}"))
        })?;
        cell(self.about.factors, &value)
    }

    fn at(&self) -> Result<Cell, Error> {
        self.table.get("at").map_or(Ok(Cell::default()), |value| cell(self.about.factors, &value))
    }

    fn over(&self) -> Result<&'a Read<'a>, Error> {
        let value = self.table.get("over").ok_or_else(|| {
            self.kind.error("it has no over; add over = \"the factor that it follows\"")
        })?;
        factor(self.about.factors, &value.text("the name of a factor")?, |what| value.error(what))
    }

    /// That a response is the same at every level of a factor: a ratio to the baseline for each.
    fn flat(&self) -> Result<(Vec<(Quantity, String)>, Terms), Error> {
        self.table.known(&["over", "at", "response"])?;
        let (response, over, at) = (self.response()?, &self.over()?.factor, self.at()?);
        let others: Vec<_> =
            over.levels.iter().filter(|level| level.name != over.baseline).collect();
        if others.is_empty() {
            return Err(self.kind.error(format!("{} has one level alone", over.name)));
        }
        let ratio = |level: &model::Level| {
            let (of, to) = (at.with(&over.name, &level.name), at.with(&over.name, &over.baseline));
            let quantity = Quantity::Ratio { response: response.name.clone(), of, to };
            (quantity, format!("{} {}", over.name, level.name))
        };
        Ok((others.into_iter().map(ratio).collect(), Terms::Times))
    }

    fn over_an_axis(
        &self,
        one: impl Fn(Quantity) -> Vec<(Quantity, String)>,
    ) -> Result<(Vec<(Quantity, String)>, Terms), Error> {
        let is_proportion = self.kind.name == "proportion";
        if is_proportion {
            self.table.known(&["over", "lower", "upper", "at", "response"])?;
        } else {
            self.table.known(&["over", "at", "response"])?;
        }
        let (response, read, at) = (self.response()?.name.clone(), self.over()?, self.at()?);
        if !is_proportion && !read.is_axis() {
            let what = format!(
                "{} needs three levels at least, all of them numbers, for a trend",
                read.factor.name
            );
            return Err(self.kind.error(what));
        }
        let over = read.factor.name.clone();
        Ok(match self.kind.name.as_str() {
            "exponent" => (one(Quantity::Exponent { response, over, at }), Terms::Plain),
            "linearity" => (one(Quantity::Linearity { response, over, at }), Terms::Plain),
            _ => {
                let (lower, upper) = (self.end(read, "lower")?, self.end(read, "upper")?);
                let quantity = Quantity::Proportion { response, over, lower, upper, at };
                (one(quantity), Terms::Times)
            }
        })
    }

    /// A level of a number.
    fn end(&self, over: &Read<'_>, key: &str) -> Result<String, Error> {
        let value = self.table.get(key).ok_or_else(|| {
            self.kind.error(format!("it has no {key}; add {key} = a level of {}", over.factor.name))
        })?;
        let name = level_of(&over.factor, &value)?;
        let above = |level: &model::Level| level.value.is_some_and(|value| value > 0.0);
        match over.factor.level(&name).filter(|level| above(level)) {
            Some(_) => Ok(name),
            None => Err(value.error("it must be a number above 0")),
        }
    }
}
