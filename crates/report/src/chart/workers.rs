//! What became of the time of n workers, as stacked bars, one for each n.

use super::{Stack, key};
use crate::doc::Drawing;
use crate::text::{DIM, columns, padded, paint};
use maud::{Markup, html};

/// A bar for each number of workers.
pub(crate) struct Workers {
    /// The names of the parts, in the order of each bar.
    pub(crate) parts: Vec<&'static str>,
    pub(crate) bars: Vec<(f64, Stack)>,
}

impl Drawing for Workers {
    fn svg(&self) -> Markup {
        html! {
            ul.legend aria-label="parts of the workers' time" {
                @for (style, part) in self.parts.iter().enumerate() { li { (key(style)) " " (part) } }
            }
            div.bars {
                @for (n, bar) in &self.bars { span.bar-name { "n " (n) } (bar.svg()) }
            }
        }
    }

    fn letters(&self, width: usize) -> Vec<String> {
        let names: Vec<String> = self.bars.iter().map(|(n, _)| format!("n {n}")).collect();
        let widest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
        let mut lines = Vec::new();
        for (name, (_, bar)) in names.iter().zip(&self.bars) {
            let mut name = padded(name, widest);
            for line in bar.letters(width.saturating_sub(widest + 2)) {
                lines.push(format!("{}  {line}", paint(DIM, &name)));
                name = padded("", widest);
            }
        }
        lines
    }
}
