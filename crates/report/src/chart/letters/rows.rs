//! One row per treatment: its trials, the interval over them, the number beside them.

use super::Sheet;
use super::axis::Axis;
use super::strip::{Strip, colour, mark};
use crate::chart::{Cell, Panel, Scale, scale_of};
use crate::text::{BOLD, DIM, columns, cut, padded, paint, wrapped};
use model::Estimate;
use wording::number::{Terms, joined, parts_within};
use wording::{capital, cleaned};

/// The widest and the narrowest strip; where less is left, a row takes two lines.
const STRIP_MAX: usize = 88;
const STRIP_MIN: usize = 24;

/// The narrowest strip of a row that never takes two lines.
const BARE_MIN: usize = 12;

/// Columns of a name and of a number at most.
const NAME_MAX: usize = 44;
const NUMBER_MAX: usize = 28;

/// How the columns are shared out.
struct Layout {
    name: usize,
    strip: usize,
    /// Of all.
    width: usize,
    /// Whether the strip stands under the name and the number.
    under: bool,
}

/// All panels of a figure.
pub(super) fn panels(panels: &[Panel<'_>], sheet: Sheet) -> Vec<String> {
    let mut lines = Vec::new();
    for panel in panels {
        if !panel.heading.is_empty() {
            let heading = wrapped(&capital(&panel.heading), sheet.width.saturating_sub(2));
            lines.extend(heading.iter().map(|line| format!("  {}", paint(BOLD, line))));
        }
        let scale = scale_of(panels, panel, panel.zero_of_rows());
        let terms = Terms::In(&panel.response.unit);
        lines.extend(draw_in(terms, scale, &panel.rows(), sheet));
    }
    lines
}

/// Returns rows in any terms over their common axis.
pub(crate) fn draw_in(
    terms: Terms<'_>,
    scale: Option<Scale>,
    rows: &[(usize, Cell)],
    sheet: Sheet,
) -> Vec<String> {
    let Some(scale) = scale else {
        return vec![format!("  {}", paint(DIM, "no trial gave a number"))];
    };
    let numbers: Vec<String> = rows.iter().map(|(_, cell)| number(cell, terms, sheet)).collect();
    let names = rows.iter().map(|(_, cell)| sheet.letters.of(&cleaned(&cell.label)));
    let names: Vec<String> = names.collect();
    let layout = Layout::over(&names, &numbers, sheet.width);
    let axis = Axis::across(scale, layout.strip, terms);
    let mut lines = Vec::new();
    for (((style, cell), name), number) in rows.iter().zip(&names).zip(&numbers) {
        lines.extend(layout.row(name, &strip(*style, cell, &axis).painted(), number));
    }
    let [line, labels] = axis.drawn();
    let indent = " ".repeat(if layout.under { 4 } else { layout.name + 4 });
    // The unit stands beside the axis; where there is no room, at the end of its labels.
    let unit = cut(&axis.ticks.unit, sheet.width.saturating_sub(indent.len() + layout.strip + 2));
    lines.push(format!("{indent}{}  {}", line.painted(), paint(DIM, &unit)));
    lines.push(format!("{indent}{}", labels.painted()));
    lines
}

/// Returns rows in any terms whose axis is not drawn, for their numbers say where they lie; `│` stands at `one`.
/// Where a strip has no room there is none.
pub(crate) fn without_axis(
    terms: Terms<'_>,
    scale: Scale,
    rows: &[(usize, Cell)],
    one: Option<f64>,
    sheet: Sheet,
) -> Vec<String> {
    let longest = |texts: &[String]| texts.iter().map(|text| columns(text)).max().unwrap_or(0);
    let numbers: Vec<String> = rows.iter().map(|(_, cell)| number(cell, terms, sheet)).collect();
    let names: Vec<String> =
        rows.iter().map(|(_, cell)| sheet.letters.of(&cleaned(&cell.label))).collect();
    let (name, width) = (longest(&names), sheet.width);
    let strip_columns = width.saturating_sub(name + longest(&numbers) + 6).min(STRIP_MAX);
    let layout = Layout { name, strip: strip_columns, width, under: strip_columns < BARE_MIN };
    let axis = Axis::across(scale, strip_columns.max(1), terms);
    let mut lines = Vec::new();
    for (((style, cell), name), number) in rows.iter().zip(&names).zip(&numbers) {
        let mut drawn = strip(*style, cell, &axis);
        one.into_iter().for_each(|one| drawn.put_under(axis.cell(one), '│', DIM));
        let mut row = layout.row(name, &drawn.painted(), number);
        row.truncate(row.len() - usize::from(layout.under));
        lines.extend(row);
    }
    lines
}

impl Layout {
    fn over(names: &[String], numbers: &[String], width: usize) -> Layout {
        let longest = |texts: &[String], most: usize| {
            texts.iter().map(|text| columns(text)).max().unwrap_or(0).min(most)
        };
        let name = longest(names, NAME_MAX.min(width * 2 / 5));
        let number = longest(numbers, NUMBER_MAX).max("log scale".len());
        let beside = width.saturating_sub(name + number + 6);
        // A name is never cut where its row could take a line more.
        if beside >= STRIP_MIN && names.iter().all(|text| columns(text) <= name) {
            return Layout { name, strip: beside.min(STRIP_MAX), width, under: false };
        }
        let name = longest(names, width.saturating_sub(4));
        let strip = width.saturating_sub(4 + 2 + "log scale".len());
        Layout { name, strip, width, under: true }
    }

    fn row(&self, name: &str, strip: &str, number: &str) -> Vec<String> {
        let (point, interval) = number.split_at(number.find(" [").unwrap_or(number.len()));
        let painted = format!("{}{}", paint(BOLD, point), paint(DIM, interval));
        if !self.under {
            return vec![format!("  {}  {strip}  {painted}", padded(name, self.name))];
        }
        let room = self.width.saturating_sub(columns(number) + 4);
        if columns(name) <= room {
            return vec![format!("  {}  {painted}", padded(name, room)), format!("    {strip}")];
        }
        let name = wrapped(name, self.width.saturating_sub(2));
        let mut lines: Vec<String> = name.iter().map(|line| format!("  {line}")).collect();
        lines.push(format!("{}{painted}", " ".repeat(room + 4)));
        lines.push(format!("    {strip}"));
        lines
    }
}

/// "12.3 µs [12.1, 12.6]", with fewer digits where it is long.
fn number(cell: &Cell, terms: Terms<'_>, sheet: Sheet) -> String {
    let number = cell.estimate.as_ref().map(|e| joined(&parts_within(e, terms, NUMBER_MAX)));
    cut(&sheet.letters.of(&number.unwrap_or("–".into())), NUMBER_MAX)
}

fn strip(style: usize, cell: &Cell, axis: &Axis) -> Strip {
    let mut strip = Strip::new(axis.cells);
    for (_, value) in cell.dots.iter().filter(|(_, value)| value.is_finite()) {
        strip.put(axis.cell(*value), '·', DIM);
    }
    if let Some(Estimate { point, low, high, .. }) = cell.estimate {
        let (begin, end) = (axis.cell(low), axis.cell(high));
        for at in begin..=end {
            strip.put(at, '─', colour(style));
        }
        // An interval without an end has none drawn.
        if low.is_finite() {
            strip.put(begin, '├', colour(style));
        }
        if high.is_finite() {
            strip.put(end, '┤', colour(style));
        }
        if point.is_finite() {
            strip.put(axis.cell(point), mark(style), colour(style).bold());
        }
    }
    strip
}
