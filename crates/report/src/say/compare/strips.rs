//! The charts: one row per number and one mark per side, for ratios to the base and for the values.

use super::item::{Entry, Item, foremost};
use crate::chart::letters::{Sheet, rows_in};
use crate::chart::{
    Cell, Scale, Ticks, Zero, across, legend_of, mark_of, percent, px, row_axis, row_grid,
    style_class,
};
use crate::doc::{Block, Drawing, Figure, Text};
use crate::text::{BOLD, Letters, paint, wrapped};
use crate::words::letter;
use maud::{Markup, html};
use model::{Estimate, Side};
use std::cmp::Ordering;
use wording::number::{Terms, joined, parts};
use wording::{counted, short};

/// Height of a row with one mark, and of each further mark, in pixels.
const HEIGHT: f64 = 26.0;
const HEIGHT_OF_MARK: f64 = 17.0;

/// The colour and mark of the base, the palette's grey; the other sides take turns in those before it.
const STYLE_OF_BASE: usize = 6;

/// The least that an axis of ratios reaches from 1, so that tiny differences do not look large; between the
/// other two it would have no more than two round ticks.
const REACH_MIN: f64 = 1.05;
const REACH_WITHOUT_TICKS: [f64; 2] = [1.5, 2.0];

/// Ratios beyond this are drawn at the end of the axis, whose arithmetic they would leave.
const LARGEST: f64 = 1e12;

/// Of the intervals' ends, the share that the axis must hold, and how far beyond the farthest point
/// it holds the others; a wilder one is cut with an arrow.
const ENDS_HELD: f64 = 0.9;
const BEYOND_POINTS: f64 = 1.5;

/// Responses whose values a chapter draws, and treatments of each, at most.
const PANELS_MAX: usize = 4;
const ROWS_MAX: usize = 8;

/// Rows over one or several axes.
pub(super) struct Strips<'c> {
    /// Whether it draws ratios to the base, not values.
    ratios: bool,
    sides: &'c [Side],
    /// Its place on the page; no two charts have the same.
    place: String,
    panels: Vec<Panel<'c>>,
}

/// Rows over a common axis.
struct Panel<'c> {
    terms: Terms<'c>,
    scale: Scale,
    items: Vec<&'c Item<'c>>,
}

/// Returns a chart of ratios, on an axis on which equal factors up and down are equally far from the middle.
pub(super) fn ratios<'c>(items: Vec<&'c Item<'c>>, sides: &'c [Side], place: String) -> Strips<'c> {
    let panel = Panel { terms: Terms::Times, scale: about_one(&items), items };
    Strips { ratios: true, sides, place, panels: vec![panel] }
}

/// Returns an axis about 1 that holds every point, and all except the wildest ends of intervals.
fn about_one(items: &[&Item<'_>]) -> Scale {
    let away = |x: f64| if x > 0.0 && x.is_finite() { x.ln().abs() } else { 0.0 };
    let ratios = || items.iter().flat_map(|item| item.entries()).filter_map(|entry| entry.ratio());
    let points = ratios().map(|ratio| away(ratio.point)).fold(0.0, f64::max);
    let mut ends: Vec<f64> =
        ratios().flat_map(|ratio| [away(ratio.low), away(ratio.high)]).collect();
    ends.sort_by(f64::total_cmp);
    let held = ((ends.len() as f64 * ENDS_HELD).ceil() as usize).max(1) - 1;
    let most = ends.get(held).copied().unwrap_or_default().max(points * BEYOND_POINTS);
    let farthest = ends.last().copied().unwrap_or_default().min(most);
    let reach = (points.max(farthest).min(LARGEST.ln()) * 1.06).exp().max(REACH_MIN);
    let [without, with] = REACH_WITHOUT_TICKS;
    let high = if (without..with).contains(&reach) { with } else { reach };
    Scale::Log { low: 1.0 / high, high, zero: false }
}

/// Returns the values of the responses with a difference; where none differs, of the first, folded away.
pub(super) fn values<'c>(
    items: &'c [Item<'c>],
    sides: &'c [Side],
    place: String,
) -> Option<Block<'c>> {
    let several = |item: &&Item<'_>| {
        let points = item.values.iter().flatten().filter(|value| value.point.is_finite());
        !item.is_finding && points.count() > 1
    };
    let all: Vec<&Item<'_>> = items.iter().filter(several).collect();
    let surest = |items: &[&Item<'_>]| items.iter().map(|i| i.surest()).fold(0.0, f64::max);
    // Where everything is the same number, a chart of it shows nothing.
    let mut responses: Vec<&[&Item<'_>]> = all
        .chunk_by(|a, b| a.response == b.response)
        .filter(|items| items.iter().any(|item| moves(item)))
        .collect();
    responses.sort_by(|a, b| surest(b).total_cmp(&surest(a)));
    let differing = responses.iter().filter(|items| surest(items) > 0.0).count();
    responses.truncate(differing.clamp(1, PANELS_MAX));
    let panels = responses.into_iter().filter_map(|items| {
        // Where some differ, they alone: what lies decades away would flatten them.
        let differs = |item: &&&Item<'_>| differing == 0 || item.surest() > 0.0;
        let own = items.iter().filter(differs).copied().collect();
        let (items, _) = foremost(own, ROWS_MAX, Item::surest);
        let values = items.iter().flat_map(|item| item.values).flatten();
        let ends = values.flat_map(|value| [value.point, value.low, value.high]);
        Some(Panel { terms: items[0].terms, scale: Scale::over(ends, Zero::IfNear)?, items })
    });
    let panels: Vec<Panel<'_>> = panels.collect();
    let drawn: usize = panels.iter().map(|panel| panel.items.len()).sum();
    if drawn == 0 {
        return None;
    }
    let title =
        if sides.len() > 2 { "Values on A and the other sides" } else { "Values on A and B" };
    let mut caption = vec![Text::from(
        "Medians over trials with their 95 % intervals; an axis need not begin at 0.",
    )];
    if differing > 0 {
        caption.push("Only treatments that differ are drawn.".into());
    }
    if drawn < all.len() {
        caption.push("Other responses and treatments are in the table alone.".into());
    }
    let chart = Strips { ratios: false, sides, place, panels };
    let figure = Block::Figure(Figure::new(title, chart, caption));
    Some(if differing > 0 { figure } else { Block::fold(title, vec![figure]) })
}

/// Reports whether the values of a number are not all the same.
fn moves(item: &Item<'_>) -> bool {
    let mut points = item.values.iter().flatten().map(|value| value.point);
    let first = points.next();
    points.any(|point| Some(point) != first)
}

impl Strips<'_> {
    /// Returns the sides that have a mark in the row of an item, with what each marks.
    fn marks(&self, item: &Item<'_>) -> Vec<(usize, Estimate)> {
        let known = |side: usize| match self.ratios {
            true => item.entry(side)?.ratio(),
            false => item.value(side),
        };
        (0..self.sides.len()).filter_map(|side| Some((side, *known(side)?))).collect()
    }

    /// Reports whether a row may have more than one mark, so that each needs its letter.
    fn several(&self) -> bool {
        self.sides.len() > 2 || !self.ratios
    }

    fn row(&self, panel: &Panel<'_>, item: &Item<'_>, grid: Markup) -> Markup {
        let marks = self.marks(item);
        let each = 1.0 / marks.len().max(1) as f64;
        let height = HEIGHT + marks.len().saturating_sub(1) as f64 * HEIGHT_OF_MARK;
        let place = |x: f64| across(&panel.scale, x);
        html! {
            div.row.differs[item.surest() > 0.0] {
                div.row-label { (item.name) }
                svg.strip width="100%" height=(px(height)) {
                    (grid)
                    @if self.ratios {
                        line.unity x1="50%" x2="50%" y1="0" y2="100%" {}
                        // Within them a difference would have been missed: by itself, and as a verdict.
                        @for (at, (side, _)) in marks.iter().enumerate() {
                            @for floor in floors(item.entry(*side)) {
                                @let (low, high) = (place(1.0 / (1.0 + floor)), place(1.0 + floor));
                                rect.floor x=(percent(low)) width=(percent(high - low))
                                    y=(percent(at as f64 * each)) height=(percent(each)) {}
                            }
                        }
                    }
                    @for (at, (side, estimate)) in marks.iter().enumerate() {
                        (mark(item, *side, estimate, &panel.scale, &percent((at as f64 + 0.5) * each)))
                    }
                }
                div.row-value {
                    @for (side, estimate) in &marks {
                        @let numbers = parts(estimate, panel.terms);
                        div {
                            @if self.several() { span.side-letter { (letter(*side)) } " " }
                            @match sign(item, *side) {
                                "" => (numbers.point),
                                sign => b { (sign) " " (numbers.point) },
                            }
                            " " span.interval { (numbers.interval) }
                        }
                    }
                }
            }
        }
    }
}

impl Drawing for Strips<'_> {
    fn svg(&self) -> Markup {
        let items = || self.panels.iter().flat_map(|panel| &panel.items);
        let marks = items().flat_map(|item| self.marks(item));
        let sides: std::collections::BTreeSet<usize> =
            marks.clone().map(|(side, _)| side).collect();
        let name =
            |side: &usize| format!("{} {}", letter(*side), short(&self.sides[*side].name, 60));
        let names: Vec<(usize, String)> =
            sides.iter().map(|side| (style(*side), name(side))).collect();
        let about = format!(
            "Chart: {} with {}: {} with their intervals. Arrow keys step through them; the table \
             below holds the same numbers.",
            counted(items().count() as u64, "row"),
            counted(marks.count() as u64, "mark"),
            if self.ratios { "ratios to A" } else { "values from side to side" }
        );
        html! {
            (legend_of(names.iter().map(|(style, name)| (*style, name.as_str())), "sides"))
            div.rows.strips.ratios[self.ratios].values[!self.ratios].many[self.several()]
                role="img" tabindex="0" aria-label=(about) {
                @for (number, panel) in self.panels.iter().enumerate() {
                    @let ticks = Ticks::new(&panel.scale, 6, panel.terms);
                    @let place = format!("{}-{number}", self.place);
                    @for (index, item) in panel.items.iter().enumerate() {
                        @if index == 0 || panel.items[index - 1].group != item.group {
                            div.row.row-group { div.row-label { (item.group) } }
                        }
                        (self.row(panel, item, row_grid(&panel.scale, &ticks, &place, index)))
                    }
                    (row_axis(&panel.scale, &ticks))
                }
            }
        }
    }

    fn letters(&self, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for panel in &self.panels {
            if !self.ratios {
                let heading = wrapped(&panel.items[0].group, width.saturating_sub(2));
                lines.extend(heading.iter().map(|line| format!("  {}", paint(BOLD, line))));
            }
            let rows = panel.items.iter().flat_map(|item| {
                let name = if self.ratios { item.full_name() } else { item.name.clone() };
                self.marks(item).into_iter().map(move |(side, estimate)| {
                    let of_side = if self.several() { letter(side) + " " } else { String::new() };
                    let label = format!("{of_side}{:1} {name}", sign(item, side));
                    (style(side), Cell::alone(label, estimate, 0))
                })
            });
            let rows: Vec<(usize, Cell)> = rows.collect();
            let sheet = Sheet::new(width, Letters::Unicode);
            lines.extend(rows_in(panel.terms, Some(panel.scale), &rows, sheet));
        }
        lines
    }
}

/// Returns the colour and mark of a side.
fn style(side: usize) -> usize {
    side.checked_sub(1).map_or(STYLE_OF_BASE, |other| other % STYLE_OF_BASE)
}

/// Returns the mark of a side that differs.
fn sign(item: &Item<'_>, side: usize) -> &'static str {
    item.entry(side).map_or("", |entry| entry.mark())
}

/// Returns the differences that would have been missed.
fn floors(entry: Option<Entry<'_>>) -> impl Iterator<Item = f64> {
    let floors = entry.map(|entry| [entry.effect.floor, entry.effect.floor_of_verdict]);
    floors.into_iter().flatten().flatten().filter(|floor| *floor > 0.0)
}

fn mark(item: &Item<'_>, side: usize, estimate: &Estimate, scale: &Scale, y: &str) -> Markup {
    let at = |x: f64| percent(across(scale, x));
    let ends = [(estimate.low, "M4-4L0 0L4 4"), (estimate.high, "M-4-4L0 0L-4 4")];
    html! {
        g.mark.same[side > 0 && sign(item, side).is_empty()].(style_class(style(side))) data-tip=(tip(item, side)) {
            line.whisker x1=(at(estimate.low)) x2=(at(estimate.high)) y1=(y) y2=(y) {}
            // An interval that goes on beyond the axis.
            @for (end, path) in ends.into_iter().filter(|(end, _)| !scale.holds(*end)) {
                svg.beyond x=(at(end)) y=(y) overflow="visible" { path d=(path) {} }
            }
            use.point href=(mark_of(style(side))) x=(at(estimate.point)) y=(y) {}
        }
    }
}

/// Returns what a mark says when it is pointed at.
fn tip(item: &Item<'_>, side: usize) -> String {
    let name = letter(side);
    let mut lines = vec![item.full_name()];
    if let Some(entry) = item.entry(side) {
        let found = match entry.direction() {
            Ordering::Greater => "▲ significantly larger",
            Ordering::Less => "▼ significantly smaller",
            Ordering::Equal => "no significant difference",
        };
        let floors = [("floor", entry.effect.floor), ("corrected", entry.effect.floor_of_verdict)];
        let floors =
            floors.into_iter().filter_map(|(word, floor)| Some((word, entry.floor(floor?))));
        let floors: String = floors.map(|(word, floor)| format!("; {word} {floor}")).collect();
        lines.push(format!("{name} against A: {}", joined(&entry.parts())));
        lines.push(format!("{found}{floors}"));
    }
    let sides = if side == 0 { vec![0] } else { vec![0, side] };
    let values = sides.into_iter().filter_map(|side| Some((side, item.value(side)?)));
    lines
        .extend(values.map(|(side, value)| {
            format!("{} {}", letter(side), joined(&parts(value, item.terms)))
        }));
    lines.join("\n")
}
