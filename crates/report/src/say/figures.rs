//! The figures of a session, each as a picture that needs no page.

use super::chapter::chapters;
use super::report::source;
use super::{disturbance, experiment};
use crate::Session;
use crate::doc::{Block, Figure, Row, Span, Text};
use crate::paint::{self, Around, Sheet};
use crate::words::anchor;

/// The most characters of a name that is made from a title.
const NAME_CHARACTERS_MAX: usize = 60;

/// A figure of a session.
#[derive(Clone, Debug)]
pub struct Saved {
    /// Its name: the end of its address on the page, or made from its title.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What must be known with it, in sentences.
    pub caption: String,
    /// The figure as an SVG document; `None` where it has nothing to draw.
    pub svg: Option<String>,
    /// The numbers behind it as CSV, where it has some.
    pub csv: Option<String>,
}

/// Returns the figures of a session in the order of the page, drawn on a sheet.
pub fn figures(session: &Session<'_>, sheet: Sheet) -> Vec<Saved> {
    let chapters = chapters(session);
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for chapter in &chapters {
        blocks.extend(experiment::chapter(session, chapter, None));
    }
    blocks.extend(disturbance::over_time(session));
    let mut found = Vec::new();
    gather(&blocks, None, &mut found);
    let source = source(session);
    found.into_iter().map(|(place, figure)| saved(place, figure, &source, sheet)).collect()
}

/// Notes the figures of some blocks with their addresses on the page.
fn gather<'b, 'a>(
    blocks: &'b [Block<'a>],
    place: Option<&'b str>,
    found: &mut Vec<(Option<&'b str>, &'b Figure<'a>)>,
) {
    for block in blocks {
        match block {
            Block::Chart(place, figure) => found.push((Some(place), figure)),
            Block::Figure(figure) => found.push((place, figure)),
            Block::Fold(fold) => gather(&fold.blocks, None, found),
            Block::Section(_, inner) | Block::Chapter(_, inner) => gather(inner, None, found),
            Block::Columns(_, columns) => columns.iter().for_each(|one| gather(one, None, found)),
            _ => {}
        }
    }
}

fn saved(place: Option<&str>, figure: &Figure<'_>, source: &str, sheet: Sheet) -> Saved {
    let title = figure.title.words();
    let drawing = figure.drawing.svg().0;
    let name = match place {
        Some(place) => place.strip_prefix(&anchor("")).unwrap_or(place).to_string(),
        None => slug(&title),
    };
    let caption = figure.caption.iter().map(|text| text.0.iter().map(said).collect::<String>());
    // Where the drawing has no names for its numbered parts, they are in the table beside it.
    let numbers = figure.numbers.iter().filter(|_| figure.shown && !drawing.contains("legend"));
    let keys = numbers.flat_map(|numbers| &numbers.rows).map(key).collect();
    Saved {
        name,
        caption: caption.collect::<Vec<_>>().join(" "),
        svg: paint::picture(&drawing, &Around { title: &title, keys, source }, sheet),
        csv: figure.data.as_ref().or(figure.numbers.as_ref()).map(paint::csv),
        title,
    }
}

/// Returns the number of a part, its name and what it is.
fn key(row: &Row) -> [String; 3] {
    let words = |cell: Option<&Text>| cell.map(Text::words).unwrap_or_default();
    let first = row.cells.first();
    let number = first.and_then(|cell| match cell.0.first() {
        Some(Span::Key(index)) => Some((index + 1).to_string()),
        _ => None,
    });
    let number = number.unwrap_or_default();
    let name = words(first)[number.len()..].trim().to_string();
    [number, name, words(row.cells.last())]
}

/// Returns the words of a piece of a caption.
fn said(span: &Span) -> String {
    match span {
        Span::OnPage(markup) => {
            let plain = markup.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
            plain.replace("&amp;", "&")
        }
        other => other.words(),
    }
}

/// Returns a name made from a title: "time-of-a-fault".
fn slug(title: &str) -> String {
    let letters =
        title.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' });
    let words = letters.collect::<String>();
    let name = words.split_whitespace().collect::<Vec<_>>().join("-");
    name.chars().take(NAME_CHARACTERS_MAX).collect()
}
