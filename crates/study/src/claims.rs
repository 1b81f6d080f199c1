//! What people say, and the number that decides.

use crate::factors::{self, is_axis, level_of};
use crate::place::Result;
use crate::responses::response;
use crate::table::Value;
use ask::{Terms, region};
use model::{Cell, Claim, Design, Factor, Quantity};

/// The kinds of numbers that decide claims, with their keys.
const KINDS: [(&str, &str); 8] = [
    ("ratio", "of to response"),
    ("quotient", "of to at"),
    ("difference", "of to response"),
    ("value", "at response"),
    ("exponent", "over at response"),
    ("linearity", "over at response"),
    ("proportion", "over lower upper at response"),
    ("flat", "over at response"),
];

/// What the words of a claim around its number need.
pub(crate) const SHOWN_NEEDS: &str = "no place for the number; write {} where it stands, or {share} as a part of a \
     whole, {rest} as what is missing to it, {8 ×} as a multiple of an eighth";

/// The most letters of a claim's name within the study.
const ID_CHARACTERS: usize = 32;

/// All claims, in the order of the file, on the factors and responses of a design.
pub(crate) fn read(value: &Value<'_>, design: &Design) -> Result<Vec<Claim>> {
    let mut claims: Vec<Claim> = Vec::new();
    for item in value.list("a list of claims, each under [[claims]]")? {
        for mut claim in claim(&item, design)? {
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
fn claim(value: &Value<'_>, design: &Design) -> Result<Vec<Claim>> {
    let table = value.table("a claim")?;
    let names = KINDS.map(|(name, _)| name);
    table.known(&format!("text source because note shown holds {}", names.join(" ")))?;
    let text = |key| table.read(key, |value| value.text("a text"));
    let said = table.needed_as("text", "\"what is said\"")?.text("a text")?;
    let mut kinds = names.iter().filter_map(|kind| table.get(kind));
    let Some(kind) = kinds.next() else {
        let what = format!("no number decides it; add one of {}", names.join(", "));
        return Err(value.error(what));
    };
    if let Some(second) = kinds.next() {
        let what = format!("one number decides a claim, and {} stands here already", kind.name);
        return Err(second.error_at_name(what));
    }
    let holds = table.needed_as("holds", "\"< 2\", where the number lies if it is true")?;
    let (source, because, note) = (text("source")?, text("because")?, text("note")?);
    let shown = text("shown")?.unwrap_or_default();
    let (quantities, terms) = quantities(&kind, design)?;
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
            shown: shown.clone(),
        }
    };
    let claims: Vec<Claim> = quantities.into_iter().map(one).collect();
    if let Some(key) = table.get("shown").filter(|_| claims.iter().any(|one| one.shown().is_none()))
    {
        return Err(key.error(SHOWN_NEEDS));
    }
    Ok(claims)
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
fn quantities(kind: &Value<'_>, design: &Design) -> Result<(Vec<(Quantity, String)>, Terms)> {
    let table = kind.table("a table such as { of = { n = 8 }, to = { n = 1 } }")?;
    let keys = KINDS.iter().find(|(name, _)| *name == kind.name).map_or("", |(_, keys)| keys);
    table.known(keys)?;
    let parts = Parts { kind, design };
    let asked = kind.read("response", |value| response(&design.responses, value))?;
    let response = asked.unwrap_or(&design.responses[0]).name.clone();
    let quantity = match kind.name.as_str() {
        "ratio" => {
            let (of, to) = parts.two()?;
            Quantity::Ratio { response, of, to }
        }
        "quotient" => parts.quotient()?,
        "difference" => {
            let (of, to) = parts.two()?;
            Quantity::Difference { response, of, to }
        }
        "value" => Quantity::Value { response, at: parts.at()? },
        "exponent" => Quantity::Exponent { response, over: parts.axis()?, at: parts.at()? },
        "linearity" => Quantity::Linearity { response, over: parts.axis()?, at: parts.at()? },
        "proportion" => {
            let (factor, at) = (parts.over()?, parts.at()?);
            let (lower, upper) = (parts.end(factor, "lower")?, parts.end(factor, "upper")?);
            Quantity::Proportion { response, over: factor.name.clone(), lower, upper, at }
        }
        _ => return Ok((parts.flat(&response)?, Terms::Times)),
    };
    let terms = Terms::of(&quantity, design);
    Ok((vec![(quantity, String::new())], terms))
}

/// The treatment, or the treatments, that a value such as `{ n = 8, model = "fork" }` means.
fn cell(factors: &[Factor], value: &Value<'_>) -> Result<Cell> {
    let mut cell = Cell::default();
    for entry in value.table("levels by factor, such as { n = 8 }")?.entries() {
        let factor = factors::find(factors, &entry.name, |what| entry.error_at_name(what))?;
        cell = cell.with(&entry.name, &level_of(factor, &entry)?);
    }
    Ok(cell)
}

/// The parts of a number.
struct Parts<'a, 's> {
    kind: &'a Value<'s>,
    design: &'a Design,
}

impl<'a> Parts<'a, '_> {
    fn cell(&self, key: &str) -> Result<Cell> {
        cell(&self.design.factors, &self.kind.needed_as(key, "{ FACTOR = LEVEL }")?)
    }

    fn at(&self) -> Result<Cell> {
        let at = self.kind.read("at", |value| cell(&self.design.factors, value))?;
        Ok(at.unwrap_or_default())
    }

    fn over(&self) -> Result<&'a Factor> {
        let value = self.kind.needed_as("over", "\"the factor that it follows\"")?;
        let name = value.text("the name of a factor")?;
        factors::find(&self.design.factors, &name, |what| value.error(what))
    }

    /// One response divided by another at the same treatment.
    fn quotient(&self) -> Result<Quantity> {
        let named = |key| {
            let value = self.kind.needed_as(key, "\"the name of a response\"")?;
            Ok(response(&self.design.responses, &value)?.name.clone())
        };
        let quantity =
            Quantity::Quotient { response: named("of")?, by: named("to")?, at: self.at()? };
        self.design.check_units(&quantity).map_err(|what| self.kind.error(what))?;
        Ok(quantity)
    }

    /// Two treatments that differ.
    fn two(&self) -> Result<(Cell, Cell)> {
        let (of, to) = (self.cell("of")?, self.cell("to")?);
        if of == to {
            return Err(self.kind.error("both are the same treatment; their ratio is 1"));
        }
        Ok((of, to))
    }

    /// The name of a factor whose levels a trend can follow.
    fn axis(&self) -> Result<String> {
        let factor = self.over()?;
        let name = factor.name.clone();
        if is_axis(factor) {
            return Ok(name);
        }
        let what = format!("{name} needs three levels at least, all of them numbers, for a trend");
        Err(self.kind.error(what))
    }

    /// That a response is the same at every level of a factor: a ratio to the baseline for each.
    fn flat(&self, response: &str) -> Result<Vec<(Quantity, String)>> {
        let (over, at) = (self.over()?, self.at()?);
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
    fn end(&self, over: &Factor, key: &str) -> Result<String> {
        let value = self.kind.needed_as(key, &format!("a level of {}", over.name))?;
        let name = level_of(over, &value)?;
        let above = |level: &model::Level| level.value.is_some_and(|value| value > 0.0);
        match over.level(&name).filter(|level| above(level)) {
            Some(_) => Ok(name),
            None => Err(value.error("it must be a number above 0")),
        }
    }
}
