//! Numbers with their intervals that are no treatments of a design, drawn as treatments are.

use super::body::Cell;
use super::letters::{Sheet, rows_in};
use super::{numbers, rows};
use crate::doc::{Drawing, Table, Text};
use crate::format::Terms;
use crate::text::Letters;
use maud::Markup;
use model::Response;

/// A row for each number, over a common axis.
pub(crate) struct PlainRows {
    /// What the numbers are.
    pub(crate) response: Response,
    /// What the chart shows, for those who do not see it; it also makes its address on the page.
    pub(crate) title: &'static str,
    /// Each number with its style.
    pub(crate) rows: Vec<(usize, Cell)>,
    /// What has no number, with a word that says why.
    pub(crate) absent: Vec<(String, String)>,
}

impl Drawing for PlainRows {
    fn svg(&self) -> Markup {
        let place = self.title.to_lowercase().replace(' ', "-");
        let scale = rows::scale_of(&self.response, &self.rows);
        rows::draw(&self.response, (&self.rows, &self.absent), scale, (self.title, &place, 0))
    }

    fn letters(&self, width: usize) -> Vec<String> {
        let terms = Terms::In(&self.response.unit);
        let scale = rows::scale_of(&self.response, &self.rows);
        let sheet = Sheet::new(width, Letters::Unicode);
        rows_in(terms, scale, &self.rows, &self.absent, sheet)
    }
}

/// Returns the numbers behind a chart, in the order in which it draws them: `heads` are those of the
/// names, the numbers and what each was made of.
pub(crate) fn plain_numbers<'c>(
    heads: [&str; 3],
    response: &Response,
    cells: impl Iterator<Item = &'c Cell>,
) -> Table {
    let [name, number, samples] =
        [heads[0].to_string(), format!("#{}", heads[1]), format!("#{}", heads[2])];
    let mut table = Table::of(&[&name, &number, "#95 % interval", &samples]);
    for cell in cells {
        let parts = numbers(cell, &response.unit);
        let samples = cell.trials.to_string();
        table.row([cell.label.clone(), parts.point, parts.interval, samples].map(Text::from));
    }
    table
}
