//! From a quantity to the text that means it: the inverse of [`crate::quantity`].

use crate::holds::Terms;
use crate::parse::written;
use crate::units;
use model::{Cell, Design, Quantity, Region, Term};

/// Returns the text of a quantity of a design.
pub fn quantity_text(quantity: &Quantity, design: &Design) -> String {
    text_of(quantity, quantity.response(), design)
}

/// Returns the text of a quantity with the experiment's name: it means the same in a session that
/// has several.
pub fn full_text(quantity: &Quantity, design: &Design) -> String {
    text_of(quantity, &format!("{}.{}", design.id, quantity.response()), design)
}

fn text_of(quantity: &Quantity, response: &str, design: &Design) -> String {
    let at = |cell: &Cell| item(response, cell, design);
    match quantity {
        Quantity::Value { at: cell, .. } => at(cell),
        Quantity::Ratio { of, to, .. } => format!("{} / {}", at(of), at(to)),
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

/// Returns the text of a condition: a quantity and the region in which it is to lie.
pub fn condition_text(quantity: &Quantity, region: &Region, design: &Design) -> String {
    let terms = Terms::of(quantity, design);
    let text = quantity_text(quantity, design);
    let number = |value: f64| units::number_text(value, &terms);
    match (region.low, region.high) {
        (Some(low), Some(high)) if low == high => format!("{text} = {}", number(low)),
        (Some(low), Some(high)) => match margin(low, high) {
            Some((percent, middle)) => {
                format!("{text} within {percent}% of {}", number(middle))
            }
            None => format!("{} <= {text} <= {}", number(low), number(high)),
        },
        (Some(low), None) => format!("{text} >= {}", number(low)),
        (None, Some(high)) => format!("{text} <= {}", number(high)),
        (None, None) => text,
    }
}

/// Returns the whole percentage and the middle of a region made by [`Region::about`].
fn margin(low: f64, high: f64) -> Option<(u32, f64)> {
    (1..=100).find_map(|percent| {
        let share = f64::from(percent) / 100.0;
        let middle: f64 = format!("{:.6}", high / (1.0 + share)).parse().ok()?;
        let same = middle > 0.0 && Region::about(middle, share) == Region::within(low, high);
        same.then_some((percent, middle))
    })
}

/// Returns the text of an account's term.
pub fn term_text(term: &Term, design: &Design) -> String {
    match term {
        Term::Known { value } => value.to_string(),
        Term::Measured { response, at } => item(response, at, design),
        Term::Difference { response, of, to } => {
            format!("{} - {}", item(response, of, design), item(response, to, design))
        }
    }
}

/// Returns the text of a cell: its levels, with their factors where a level alone is ambiguous.
pub fn cell_text(cell: &Cell, design: &Design) -> String {
    let level = |(factor, level): (&String, &String)| level_text(factor, level, design);
    cell.0.iter().map(level).collect::<Vec<_>>().join(", ")
}

/// Returns the text of a level, with its factor where the level alone is ambiguous.
pub(crate) fn level_text(factor: &str, level: &str, design: &Design) -> String {
    let having = design.factors.iter().filter(|factor| factor.level(level).is_some()).count();
    let is_number = level.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    if having == 1 && !is_number {
        written(level, true)
    } else {
        format!("{factor}={}", written(level, true))
    }
}

fn item(response: &str, cell: &Cell, design: &Design) -> String {
    if cell.0.is_empty() {
        response.to_string()
    } else {
        format!("{response}[{}]", cell_text(cell, design))
    }
}
