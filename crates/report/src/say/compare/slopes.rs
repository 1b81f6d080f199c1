//! Slope charts: the values themselves from side to side, one panel for each response.

use super::item::Item;
use crate::chart::letters::{Sheet, rows_in};
use crate::chart::{
    self, ABOVE, BELOW, Cell, HEIGHT, Scale, Ticks, Zero, mark_of, percent, px, style_class,
};
use crate::doc::{Block, Drawing, Figure, Text};
use crate::format::{self, Terms, parts};
use crate::text::{BOLD, Letters, paint, wrapped};
use crate::words::letter;
use maud::{Markup, html};
use model::Estimate;

/// Panels of a chapter, and lines of a panel, at most.
const PANELS_MAX: usize = 4;
const LINES_MAX: usize = 8;

/// Where the first side and the last stand, as shares of the width.
const FIRST: f64 = 0.07;
const LAST: f64 = 0.93;

/// One response.
struct Panel<'c> {
    heading: &'c str,
    terms: Terms<'c>,
    lines: Vec<&'c Item<'c>>,
    /// Whether it leaves treatments out.
    is_cut: bool,
    /// Where it stands in the comparison.
    place: usize,
}

impl Panel<'_> {
    /// Returns how far any of its treatments surely differs.
    fn surest(&self) -> f64 {
        self.lines.iter().map(|item| item.surest()).fold(0.0, f64::max)
    }

    /// Returns the axis of its values.
    fn scale(&self) -> Option<Scale> {
        let values = self.lines.iter().flat_map(|item| item.values.iter().flatten());
        let ends = values.flat_map(|value| [value.point, value.low, value.high]);
        Scale::over(ends, Zero::IfNear)
    }
}

/// Returns the slope charts of an experiment: of the responses with a difference; where none differs,
/// of the first, folded away.
pub(super) fn slopes<'c>(items: &'c [Item<'c>], sides: usize) -> Option<Block<'c>> {
    let mut panels = panels(items);
    if panels.is_empty() || sides < 2 {
        return None;
    }
    let differing = panels.iter().filter(|panel| panel.surest() > 0.0).count();
    if differing == 0 {
        panels.sort_by_key(|panel| panel.place);
    }
    panels.truncate(differing.clamp(1, PANELS_MAX));
    let title = if sides > 2 { "Values on A and the other sides" } else { "Values on A and B" };
    let mut caption = vec![Text::from(
        "Medians over trials with their 95 % intervals; an axis need not begin at 0.",
    )];
    if differing > 0 {
        let text =
            "Only treatments that differ are drawn; a solid line is a significant difference.";
        caption.push(text.into());
    }
    if differing > panels.len() || panels.iter().any(|panel| panel.is_cut) {
        caption.push("Other responses and treatments are in the table alone.".into());
    }
    let figure = Figure::new(title, Chart { panels, sides }, caption);
    Some(match differing {
        0 => Block::fold(title, vec![Block::Figure(figure)]),
        _ => Block::Figure(figure),
    })
}

/// Returns the responses with a number on two sides or more, those with a difference first; in each the
/// treatments that differ come first into the drawing.
fn panels<'c>(items: &'c [Item<'c>]) -> Vec<Panel<'c>> {
    let mut panels: Vec<Panel<'c>> = Vec::new();
    for item in items.iter().filter(|item| !item.is_finding()) {
        if item.values.iter().flatten().filter(|value| value.point.is_finite()).count() < 2 {
            continue;
        }
        match panels.last_mut() {
            Some(panel) if panel.lines[0].response == item.response => panel.lines.push(item),
            _ => panels.push(Panel {
                heading: &item.group,
                terms: item.terms(),
                lines: vec![item],
                is_cut: false,
                place: panels.len(),
            }),
        }
    }
    // Where everything is the same number, a slope shows nothing.
    panels.retain(|panel| panel.lines.iter().any(|item| moves(item)));
    for panel in &mut panels {
        // Where some differ, they alone: what lies decades away would flatten them.
        let before = panel.lines.len();
        if panel.surest() > 0.0 {
            panel.lines.retain(|item| item.differs());
        }
        let mut order: Vec<usize> = (0..panel.lines.len()).collect();
        order.sort_by(|a, b| panel.lines[*b].surest().total_cmp(&panel.lines[*a].surest()));
        order.truncate(LINES_MAX);
        order.sort_unstable();
        panel.is_cut = before > order.len();
        panel.lines = order.into_iter().map(|index| panel.lines[index]).collect();
    }
    panels.sort_by(|a, b| b.surest().total_cmp(&a.surest()));
    panels
}

/// Reports whether the values of a number are not all the same.
fn moves(item: &Item<'_>) -> bool {
    let mut points = item.values.iter().flatten().map(|value| value.point);
    let first = points.next();
    points.any(|point| Some(point) != first)
}

/// Panels next to each other.
struct Chart<'c> {
    panels: Vec<Panel<'c>>,
    sides: usize,
}

impl Drawing for Chart<'_> {
    fn svg(&self) -> Markup {
        html! { div.panels { @for panel in &self.panels { (draw(panel, self.sides)) } } }
    }

    fn letters(&self, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for panel in &self.panels {
            let heading = wrapped(panel.heading, width.saturating_sub(2));
            lines.extend(heading.iter().map(|line| format!("  {}", paint(BOLD, line))));
            let rows = panel.lines.iter().enumerate().flat_map(|(style, item)| {
                known(item, self.sides).into_iter().map(move |(side, value)| {
                    let label = format!("{} {}", letter(side), item.name);
                    (style, Cell { label, estimate: Some(value), dots: Vec::new(), trials: 0 })
                })
            });
            let rows: Vec<(usize, Cell)> = rows.collect();
            let sheet = Sheet::new(width, Letters::Unicode);
            lines.extend(rows_in(panel.terms, panel.scale(), &rows, &[], sheet));
        }
        lines
    }
}

/// Returns the sides that have a value, with it.
fn known(item: &Item<'_>, sides: usize) -> Vec<(usize, Estimate)> {
    let values = item.values.iter().enumerate().take(sides);
    values.filter_map(|(side, value)| Some((side, (*value)?))).collect()
}

fn draw(panel: &Panel<'_>, sides: usize) -> Markup {
    let Some(y) = panel.scale() else {
        return html! {};
    };
    let ticks = Ticks::new(&y, 4, panel.terms);
    let about = format!(
        "Chart: {} from side to side, {} treatments. Arrow keys step through them; the table \
         below holds the same numbers.",
        panel.heading,
        panel.lines.len()
    );
    let names = panel.lines.iter().enumerate().map(|(style, item)| (style, item.name.as_str()));
    html! {
        div.panel {
            p.panel-title {
                b { (panel.heading) }
                @if let [alone] = panel.lines.as_slice() { ", " (alone.name) }
                @if !ticks.unit.is_empty() { " " span.unit { (ticks.unit) } }
            }
            (chart::legend_of(names, "treatments"))
            div.plot.slopes role="img" tabindex="0" aria-label=(about) {
                (chart::value_axis(&y, &ticks))
                svg.canvas width="100%" height=(px(ABOVE + HEIGHT + BELOW)) {
                    (chart::grid(&y, &ticks))
                    g.levels {
                        @for side in 0..sides {
                            @let at = percent(across(side, sides));
                            line x1=(at) x2=(at) y1=(px(ABOVE)) y2=(px(ABOVE + HEIGHT)) {}
                            text x=(at) y=(px(ABOVE + HEIGHT + 17.0)) { (letter(side)) }
                        }
                    }
                    @for (style, item) in panel.lines.iter().enumerate() {
                        (line(item, style, &y, sides))
                    }
                }
            }
        }
    }
}

fn across(side: usize, sides: usize) -> f64 {
    FIRST + (LAST - FIRST) * side as f64 / (sides.max(2) - 1) as f64
}

/// Returns one treatment from side to side; a side without a number is skipped.
fn line(item: &Item<'_>, style: usize, y: &Scale, sides: usize) -> Markup {
    let known = known(item, sides);
    let down = |value: f64| px(chart::down(y, value));
    html! {
        g class=(style_class(style)) {
            @for pair in known.windows(2) {
                @let differs = item.ratio(pair[1].0.saturating_sub(1)).is_some_and(|(_, e)| e.differs);
                line.slope.same[!differs]
                    x1=(percent(across(pair[0].0, sides))) y1=(down(pair[0].1.point))
                    x2=(percent(across(pair[1].0, sides))) y2=(down(pair[1].1.point)) {}
            }
            @for (side, value) in &known {
                @let at = percent(across(*side, sides));
                g.mark data-tip=(tip(item, *side, value)) {
                    line.whisker x1=(at) x2=(at) y1=(down(value.low)) y2=(down(value.high)) {}
                    use.point href=(mark_of(style)) x=(at) y=(down(value.point)) {}
                }
            }
        }
    }
}

/// Returns what a mark says when it is pointed at.
fn tip(item: &Item<'_>, side: usize, value: &Estimate) -> String {
    let numbers = parts(value, item.terms());
    let against = side.checked_sub(1).and_then(|other| item.ratio(other));
    let of_base = against.map(|(ratio, _)| format!("\n{} of A", format::ratio(ratio)));
    format!(
        "{}\n{} {} {}{}",
        item.full_name(),
        letter(side),
        numbers.point,
        numbers.interval,
        of_base.unwrap_or_default()
    )
}
