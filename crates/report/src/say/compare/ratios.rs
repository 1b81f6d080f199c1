//! The chart of ratios: one row per number, one mark per side, a logarithmic axis about 1.

use super::item::{Item, style};
use crate::chart::letters::{Sheet, rows_in};
use crate::chart::{Cell, Scale, legend_of, mark_of, percent, px, style_class};
use crate::doc::Drawing;
use crate::format::{Terms, parts, rough, rounded};
use crate::text::Letters;
use crate::words::{counted, letter, short};
use maud::{Markup, html};
use model::{Estimate, SessionEffect, Side};

/// Height of a row with one side, and of each further side, in pixels.
const HEIGHT: f64 = 26.0;
const HEIGHT_OF_SIDE: f64 = 17.0;

/// Share of the width left free at each side.
const SIDE: f64 = 0.03;

/// The least that the axis reaches from 1, so that tiny differences do not look large.
const REACH_MIN: f64 = 1.05;

/// Up to the first reach ticks stand at equal differences, up to the second at these ratios: a
/// decade's pattern would leave one tick.
const REACH_LINEAR: f64 = 1.7;
const REACH_MIDDLE: f64 = 6.0;
const MIDDLE: [f64; 9] = [0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0];

/// Of the intervals' ends, the share that the axis must hold, and how far beyond the farthest point
/// it holds the others; a wilder one is cut with an arrow.
const ENDS_HELD: f64 = 0.9;
const BEYOND_POINTS: f64 = 1.5;

/// An axis on which equal factors up and down are equally far from the middle.
#[derive(Clone, Copy, Debug)]
struct Axis {
    /// The ratio at the right end; the left end is its inverse.
    reach: f64,
    scale: Scale,
}

impl Axis {
    /// Returns an axis that holds every point, and all except the wildest ends of intervals.
    fn over(items: &[&Item<'_>]) -> Axis {
        let away = |x: f64| if x > 0.0 && x.is_finite() { x.ln().abs() } else { 0.0 };
        let ratios = || items.iter().flat_map(|item| item.ratios()).map(|(_, ratio, _)| ratio);
        let points = ratios().map(|ratio| away(ratio.point)).fold(0.0, f64::max);
        let mut ends: Vec<f64> =
            ratios().flat_map(|ratio| [away(ratio.low), away(ratio.high)]).collect();
        ends.sort_by(f64::total_cmp);
        let held = ((ends.len() as f64 * ENDS_HELD).ceil() as usize).max(1) - 1;
        let most = ends.get(held).copied().unwrap_or_default().max(points * BEYOND_POINTS);
        let farthest = ends.last().copied().unwrap_or_default().min(most);
        let reach = (points.max(farthest).min(LARGEST.ln()) * 1.06).exp().max(REACH_MIN);
        Axis { reach, scale: Scale::Log { low: 1.0 / reach, high: reach, zero: false } }
    }

    fn place(&self, ratio: f64) -> f64 {
        SIDE + (1.0 - 2.0 * SIDE) * self.scale.place(ratio)
    }

    /// Reports whether a ratio lies beyond the end of the axis.
    fn cuts(&self, ratio: f64) -> bool {
        !(ratio <= self.reach * 1.000_001 && ratio >= 0.999_999 / self.reach)
    }

    fn ticks(&self) -> Vec<f64> {
        if self.reach > REACH_MIDDLE {
            return self.scale.ticks(6);
        }
        if self.reach > REACH_LINEAR {
            return MIDDLE.into_iter().filter(|ratio| !self.cuts(*ratio)).collect();
        }
        self.linear().ticks(5)
    }

    /// Returns the axis on which equal steps are equal differences.
    fn linear(&self) -> Scale {
        Scale::Linear { low: 1.0 / self.reach, high: self.reach }
    }
}

/// Ratios beyond this are drawn at the end of the axis, whose arithmetic they would leave.
const LARGEST: f64 = 1e12;

/// A chart of some items under the headings of their groups.
pub(super) struct Ratios<'c> {
    pub(super) items: Vec<&'c Item<'c>>,
    pub(super) sides: &'c [Side],
    /// Its place on the page; no two charts have the same.
    pub(super) place: String,
}

impl Drawing for Ratios<'_> {
    fn svg(&self) -> Markup {
        let (items, sides) = (&self.items, self.sides.len());
        let axis = Axis::over(items);
        let ticks = axis.ticks();
        let grid = format!("{}-grid", self.place);
        let marks: usize = items.iter().map(|item| item.ratios().count()).sum();
        let about = format!(
            "Chart: {} with {}: ratios to A with their intervals. Arrow keys step through them; the \
             table below holds the same numbers.",
            counted(items.len() as u64, "row"),
            counted(marks as u64, "mark")
        );
        let names: Vec<String> = (1..sides).map(|at| named(at, &self.sides[at])).collect();
        let known = names.iter().enumerate().map(|(at, name)| (style(at + 1), name.as_str()));
        html! {
            (legend_of(known, "sides"))
            div.rows.ratios.many[sides > 2] role="img" tabindex="0" aria-label=(about) {
                (grid_definition(&grid, &axis, &ticks))
                @for (index, item) in items.iter().enumerate() {
                    @if index == 0 || items[index - 1].group != item.group {
                        div.row.row-group { div.row-label { (item.group) } }
                    }
                    (row(item, sides, &axis, &grid))
                }
                (feet(&axis, &ticks, sides))
            }
        }
    }

    fn letters(&self, width: usize) -> Vec<String> {
        let axis = Axis::over(&self.items);
        let scale = match axis.scale {
            scale if axis.reach > REACH_MIDDLE => scale,
            _ => axis.linear(),
        };
        let several = self.sides.len() > 2;
        let ratios = self.items.iter().flat_map(|item| {
            item.all_found().filter_map(move |(other, found)| {
                let mark = if found.effect.differs { found.direction() } else { " " };
                let side = if several { format!("{} ", letter(other + 1)) } else { String::new() };
                let label = format!("{side}{mark} {}", item.full_name());
                let estimate = Some(*item.ratio(other)?.0);
                Some((style(other + 1), Cell { label, estimate, dots: Vec::new(), trials: 0 }))
            })
        });
        let ratios: Vec<(usize, Cell)> = ratios.collect();
        rows_in(Terms::Times, Some(scale), &ratios, &[], Sheet::new(width, Letters::Unicode))
    }
}

/// Returns a side by its letter and its name.
fn named(at: usize, side: &Side) -> String {
    format!("{} {}", letter(at), short(&side.name, 60))
}

/// Returns the lines behind every row, written once.
fn grid_definition(id: &str, axis: &Axis, ticks: &[f64]) -> Markup {
    html! {
        svg.definitions width="0" height="0" aria-hidden="true" {
            defs {
                g id=(id) {
                    g.grid {
                        @for value in ticks {
                            @let at = percent(axis.place(*value));
                            line x1=(at) x2=(at) y1="0" y2="100%" {}
                        }
                    }
                    line.unity x1="50%" x2="50%" y1="0" y2="100%" {}
                }
            }
        }
    }
}

fn row(item: &Item<'_>, sides: usize, axis: &Axis, grid: &str) -> Markup {
    let others = sides.saturating_sub(1).max(1);
    let height = HEIGHT + (others - 1) as f64 * HEIGHT_OF_SIDE;
    let each = height / others as f64;
    html! {
        div.row.differs[item.differs()] {
            div.row-label { (item.name) }
            svg.strip width="100%" height=(px(height)) {
                use href={ "#" (grid) } {}
                @for (other, ratio, effect) in item.ratios() {
                    @let top = other as f64 * each;
                    (floors(effect, axis, top, each))
                    (mark(item, other, ratio, effect, axis, top + each / 2.0))
                }
            }
            div.row-value {
                @for (other, ratio, effect) in item.ratios() {
                    (number(other, sides, ratio, effect))
                }
            }
        }
    }
}

/// Returns the bands about 1 within which a difference would have been missed: by itself, and as a verdict
/// among all others.
fn floors(effect: &SessionEffect, axis: &Axis, top: f64, height: f64) -> Markup {
    let own = effect.floor.unwrap_or_default();
    let wider = effect.floor_of_verdict.filter(|verdict| *verdict > own);
    let floors = [effect.floor, wider];
    html! {
        @for floor in floors.into_iter().flatten().filter(|floor| *floor > 0.0) {
            @let (low, high) = (axis.place(1.0 / (1.0 + floor)), axis.place(1.0 + floor));
            rect.floor x=(percent(low)) width=(percent(high - low)) y=(px(top)) height=(px(height)) {}
        }
    }
}

fn mark(
    item: &Item<'_>,
    other: usize,
    ratio: &Estimate,
    effect: &SessionEffect,
    axis: &Axis,
    y: f64,
) -> Markup {
    let style = style(other + 1);
    let at = |x: f64| percent(axis.place(x));
    html! {
        g.mark.same[!effect.differs].(style_class(style)) data-tip=(tip(item, other, ratio, effect)) {
            line.whisker x1=(at(ratio.low)) x2=(at(ratio.high)) y1=(px(y)) y2=(px(y)) {}
            @if axis.cuts(ratio.low) { (arrow(&at(ratio.low), y, "M4-4L0 0L4 4")) }
            @if axis.cuts(ratio.high) { (arrow(&at(ratio.high), y, "M-4-4L0 0L-4 4")) }
            use.point href=(mark_of(style)) x=(at(ratio.point)) y=(px(y)) {}
        }
    }
}

/// Returns the sign for an interval that goes on beyond the axis.
fn arrow(x: &str, y: f64, path: &str) -> Markup {
    html! { svg.beyond x=(x) y=(px(y)) overflow="visible" { path d=(path) {} } }
}

/// Returns what a mark says when it is pointed at.
fn tip(item: &Item<'_>, other: usize, ratio: &Estimate, effect: &SessionEffect) -> String {
    let numbers = parts(ratio, Terms::Times);
    let side = letter(other + 1);
    let found = match (effect.differs, ratio.point > 1.0) {
        (true, true) => "▲ significantly larger",
        (true, false) => "▼ significantly smaller",
        (false, _) => "no significant difference",
    };
    let share = |floor: f64| rough(floor, Terms::Share);
    let floor = match (effect.floor, effect.floor_of_verdict) {
        (Some(own), Some(corrected)) => {
            format!("; floor {}, corrected {}", share(own), share(corrected))
        }
        (Some(floor), None) | (None, Some(floor)) => format!("; floor {}", share(floor)),
        (None, None) => String::new(),
    };
    let value = |side: usize| item.value(side);
    format!(
        "{}\n{side} against A: {} {}\n{found}{}\nA {}, {side} {}",
        item.full_name(),
        numbers.point,
        numbers.interval,
        floor,
        value(0),
        value(other + 1)
    )
}

fn number(other: usize, sides: usize, ratio: &Estimate, effect: &SessionEffect) -> Markup {
    let numbers = parts(ratio, Terms::Times);
    html! {
        div {
            @if sides > 2 { span.side-letter { (letter(other + 1)) } " " }
            @if effect.differs { b { (if ratio.point > 1.0 { "▲" } else { "▼" }) " " (numbers.point) } }
            @else { (numbers.point) }
            " " span.interval { (numbers.interval) }
        }
    }
}

fn feet(axis: &Axis, ticks: &[f64], sides: usize) -> Markup {
    let side = if sides > 2 { "the other side".to_string() } else { "B".to_string() };
    html! {
        div.row.row-axis {
            div.row-label {}
            svg.strip width="100%" height="38" {
                @for value in ticks {
                    text x=(percent(axis.place(*value))) y="14" text-anchor="middle" {
                        (rounded(*value, Terms::Times))
                    }
                }
                text x="0" y="32" { "← smaller in " (side) }
                text x="100%" y="32" text-anchor="end" { "larger in " (side) " →" }
            }
            div.row-value.unit { "of A, log scale" }
        }
    }
}
