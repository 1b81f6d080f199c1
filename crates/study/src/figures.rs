//! What the report draws.

use crate::place::Result;
use crate::table::Value;
use model::{Design, Figure, Profile};

/// Reads all figures, in the order of the file.
pub(crate) fn read(top: &Value<'_>, design: &Design) -> Result<Vec<Figure>> {
    top.entries_of("figures")?.iter().map(|value| figure(value, design)).collect()
}

/// Refuses a figure that would be empty whatever is measured. The design must have passed its own
/// check.
pub(crate) fn check(top: &Value<'_>, design: &Design) -> Result<()> {
    for (value, figure) in top.entries_of("figures")?.iter().zip(&design.figures) {
        if figure.plot.treatments(design, Profile::Thorough).is_empty() {
            let what = "no grid measures what it shows; add it to grids, or name other levels";
            return Err(value.error(what));
        }
    }
    Ok(())
}

fn figure(value: &Value<'_>, design: &Design) -> Result<Figure> {
    let table = value.fields("a figure { title = …, shows = … }", "title shows link words")?;
    let shows = table.needed_as("shows", "\"RESPONSE by FACTOR\"")?;
    let text = shows.text("what it shows, such as \"call_ns by entry\"")?;
    let plot = ask::plot(&text, design).map_err(|error| shows.error_within(0, error))?;
    let title = table.needed_as("title", "\"what it shows, in words\"")?.text("a text")?;
    let words = table.read("words", |words| words.words("a list of words"))?.unwrap_or_default();
    let link = table.text_or_empty("link")?;
    Ok(Figure { id: value.name.clone(), title, link, words, plot })
}
