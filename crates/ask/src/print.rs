//! From a quantity to the text that means it: the inverse of [`crate::quantity`].

use crate::parse::written;
use model::{Cell, Design, Quantity};

/// Returns the text of a quantity with the experiment's name: it means the same in a session that
/// has several.
pub fn full_text(quantity: &Quantity, design: &Design) -> String {
    let of = |response: &str, cell: &Cell| match cell_text(cell, design) {
        levels if levels.is_empty() => format!("{}.{response}", design.id),
        levels => format!("{}.{response}[{levels}]", design.id),
    };
    let at = |cell: &Cell| of(quantity.response(), cell);
    match quantity {
        Quantity::Value { at: cell, .. } => at(cell),
        Quantity::Ratio { of, to, .. } => format!("{} / {}", at(of), at(to)),
        Quantity::Quotient { by, at: cell, .. } => format!("{} / {}", at(cell), of(by, cell)),
        Quantity::Difference { of, to, .. } => format!("{} - {}", at(of), at(to)),
        Quantity::Share { whole, without, base, .. } => {
            let whole = at(whole);
            format!("share({whole} - {} of {whole} - {})", at(without), at(base))
        }
        Quantity::Exponent { over, at: cell, .. } => format!("growth({} over {over})", at(cell)),
        Quantity::Linearity { over, at: cell, .. } => {
            format!("linearity({} over {over})", at(cell))
        }
        Quantity::Proportion { over, lower, upper, at: cell, .. } => {
            let (lower, upper) = (written(lower, false), written(upper, false));
            format!("proportion({} over {over}, {lower} to {upper})", at(cell))
        }
        Quantity::Frequency { among, .. } => format!("rate({})", at(among)),
    }
}

/// Returns the text of a cell: its levels, with their factors where a level alone is ambiguous.
pub(crate) fn cell_text(cell: &Cell, design: &Design) -> String {
    let level = |(factor, level): (&String, &String)| level_text(factor, level, design);
    cell.0.iter().map(level).collect::<Vec<_>>().join(", ")
}

/// Returns the text of a level, with its factor where the level alone is ambiguous.
fn level_text(factor: &str, level: &str, design: &Design) -> String {
    let having = design.factors.iter().filter(|factor| factor.level(level).is_some()).count();
    let is_number = level.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    if having == 1 && !is_number {
        written(level, true)
    } else {
        format!("{factor}={}", written(level, true))
    }
}
