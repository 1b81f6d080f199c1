//! The charts of an experiment.

use super::chapter::Chapter;
use crate::chart::letters::{self, Sheet};
use crate::chart::{self, Figure};
use crate::doc::{self, Block, Drawing, Text};
use crate::text::Letters;
use crate::words::{self, capital};
use maud::{Markup, html};

/// A chart of a session.
struct Chart<'a> {
    figure: &'a Figure<'a>,
    place: String,
    letters: Letters,
}

impl Drawing for Chart<'_> {
    fn svg(&self) -> Markup {
        chart::drawn(self.figure, &self.place)
    }

    fn letters(&self, width: usize) -> Vec<String> {
        letters::drawn(self.figure, Sheet::new(width, self.letters))
    }
}

/// Returns the charts, each with an address of its own.
pub(crate) fn figures<'a>(chapter: &'a Chapter<'a>, letters: Letters) -> Vec<Block<'a>> {
    if chapter.figures.is_empty() {
        return Vec::new();
    }
    let own = words::anchor(&chapter.summary.id);
    let mut blocks = vec![Block::heading(3, "What the trials show")];
    for (index, figure) in chapter.figures.iter().enumerate() {
        let place = format!("{own}-chart-{}", index + 1);
        let drawing = Box::new(Chart { figure, place: place.clone(), letters });
        let shown = doc::Figure {
            title: capital(&words::short(&figure.title, TITLE_CHARACTERS)).into(),
            drawing,
            caption: caption(figure),
            numbers: Some(chart::numbers_behind(figure)),
            shown: false,
        };
        blocks.push(Block::Chart(place, shown));
    }
    blocks
}

/// The most characters of a title.
const TITLE_CHARACTERS: usize = 200;

/// Returns what must be known with a figure. What its marks mean is said once in a terminal, above all.
fn caption(figure: &Figure<'_>) -> Vec<Text> {
    let mut caption = vec![Text::on_page(html! { (chart::explained(figure)) })];
    if !figure.held.is_empty() {
        caption.push(format!("Held still: {}.", figure.held).into());
    }
    caption.extend(figure.clock.iter().map(|clock| clock.as_str().into()));
    if figure.left_out > 0 {
        caption.push(
            format!("{} more are in the report's table of estimates.", figure.left_out).into(),
        );
    }
    caption.extend(figure.definition.iter().map(|definition| capital(definition).into()));
    if let Some(absent) = &figure.absent {
        let lead = Text::strong(format!("{}:", capital(&absent.lead)));
        caption.push(lead.then(format!(" {}.", absent.why)));
    }
    caption
}
