//! The file of presets: questions that several experiments of the catalog answer.

use crate::experiment::{each, grid, headline, in_unit, list};
use crate::place::{Error, Source};
use crate::table::Value;
use crate::{figures, no_such};
use model::{Design, Unit};

/// A preset, and what it measures.
#[derive(Clone, Debug)]
pub struct Preset {
    /// What a session stores of it.
    pub about: model::Preset,
    /// The time to measure in, in seconds, in the profile `quick`.
    pub time_budget_s: u64,
    /// Its experiments, each with the treatments that it names.
    pub designs: Vec<Design>,
}

/// Parses the text of `presets.toml`.
///
/// # Errors
/// The first thing that is wrong with it, such as a level that no experiment of the catalog has, with its place.
pub fn presets(text: &str, catalog: &[Design]) -> Result<Vec<Preset>, Error> {
    let source = Source { file: "presets.toml", text };
    let table = source.parse()?;
    each(Value::top(source, &table).entries(), |value| preset(value, catalog))
}

fn preset(value: &Value<'_>, catalog: &[Design]) -> Result<Preset, Error> {
    let table = value.fields("a preset", "title question time_budget experiments")?;
    let about = model::Preset {
        name: value.name.clone(),
        title: table.text_of("title")?,
        question: table.text_of("question")?,
    };
    let time_budget_s = (in_unit(&table.needed("time_budget")?, &Unit::Ns)? / 1e9) as u64;
    let designs = each(table.entries_of("experiments")?, |value| narrowed(value, catalog))?;
    Ok(Preset { about, time_budget_s, designs })
}

fn narrowed(value: &Value<'_>, catalog: &[Design]) -> Result<Design, Error> {
    let table = value.fields("an experiment of a preset", "grids figures headlines")?;
    let Some(whole) = catalog.iter().find(|design| design.id == value.name) else {
        let known = catalog.iter().map(|design| design.id.as_str());
        return Err(value.error_at_name(no_such("experiment", &value.name, known)));
    };
    let mut design =
        whole.with_grids_alone(each(list(table, "grids")?, |value| grid(value, whole))?);
    design.figures.extend(figures::read(table, &design)?);
    design.headlines.extend(each(list(table, "headlines")?, |value| headline(value, &design))?);
    design.check().map_err(|error| value.error(error.what))?;
    Ok(design)
}
