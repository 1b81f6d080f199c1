//! The charts of an experiment.

use super::chapter::Chapter;
use crate::chart::{self, Figure};
use crate::doc::{Block, Text};
use crate::text::Letters;
use crate::words::{self, capital};
use maud::html;

/// Returns the charts, each with an address of its own.
pub(crate) fn figures<'a>(chapter: &'a Chapter<'a>, letters: Letters) -> Vec<Block<'a>> {
    if chapter.figures.is_empty() {
        return Vec::new();
    }
    let own = words::anchor(&chapter.summary.id);
    let mut blocks = vec![Block::heading(3, "What the trials show")];
    for (index, figure) in chapter.figures.iter().enumerate() {
        let place = format!("{own}-chart-{}", index + 1);
        let shown = chart::shown(figure, place.clone(), Some(letters), caption(figure));
        blocks.push(Block::Chart(place, shown));
    }
    blocks
}

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
