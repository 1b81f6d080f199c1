//! Slope charts: the values themselves from side to side, one panel per response.

use super::item::Item;
use crate::chart::{STYLES, Scale, Zero, log_tick, mark_of, percent, px, style_class};
use crate::format::{self, Terms, axis_unit, parts, tick};
use crate::words::letter;
use maud::{Markup, html};
use model::Estimate;

/// Panels of a chapter, and lines of a panel, at most.
const PANELS_MAX: usize = 4;
const LINES_MAX: usize = 8;

/// Height of the drawing, and of the space above and below it, in pixels.
const HEIGHT: f64 = 190.0;
const ABOVE: f64 = 10.0;
const BELOW: f64 = 24.0;

/// Where the first side and the last stand, as shares of the width; names follow the last.
const FIRST: f64 = 0.07;
const LAST: f64 = 0.5;
const NAMES: f64 = 0.55;

/// Least distance between two names, in pixels.
const NAME_DISTANCE: f64 = 15.0;

/// The most characters of a name beside a line; the table has all of it.
const NAME_CHARACTERS_MAX: usize = 20;

/// One response.
struct Panel<'i, 'a> {
    heading: &'i str,
    terms: Terms<'a>,
    lines: Vec<&'i Item<'a>>,
    left_out: usize,
    /// Where it stands in the comparison.
    place: usize,
}

impl Panel<'_, '_> {
    /// How far any of its treatments surely differs.
    fn surest(&self) -> f64 {
        self.lines.iter().map(|item| item.surest()).fold(0.0, f64::max)
    }
}

/// The slope charts of an experiment: of the responses with a difference; where none differs, of
/// the first, folded away.
pub(super) fn slopes(items: &[Item<'_>], sides: usize) -> Markup {
    let mut panels = panels(items);
    if panels.is_empty() || sides < 2 {
        return html! {};
    }
    let title = if sides > 2 { "From A to the other sides" } else { "From A to B" };
    if panels[0].surest() == 0.0 {
        panels.sort_by_key(|panel| panel.place);
        panels.truncate(1);
        return html! {
            details.behind {
                summary { (title) ": the numbers themselves" }
                (figure(&panels, sides))
            }
        };
    }
    panels.retain(|panel| panel.surest() > 0.0);
    html! {
        h3 { (title) ": the numbers themselves" }
        (figure(&panels, sides))
    }
}

fn figure(panels: &[Panel<'_, '_>], sides: usize) -> Markup {
    let drawn = panels.len().min(PANELS_MAX);
    let left_out: usize = panels.iter().take(drawn).map(|panel| panel.left_out).sum();
    html! {
        figure.figure.slope-figure {
            div.panels { @for panel in panels.iter().take(drawn) { (draw(panel, sides)) } }
            figcaption {
                "Medians over trials with their 95 % intervals; an axis need not begin at 0."
                @if panels.iter().any(|panel| panel.surest() > 0.0) {
                    " Only treatments that differ are drawn, solid where a difference stands."
                }
                @if panels.len() > drawn {
                    " Drawn are the " (drawn) " of " (panels.len()) " responses with a difference \
                     that differ most."
                }
                @if left_out > 0 { " " (left_out) " more treatments are in the table alone." }
            }
        }
    }
}

/// Responses with a number on two sides or more, those with a difference first; in each the
/// treatments that differ come first into the drawing.
fn panels<'i, 'a>(items: &'i [Item<'a>]) -> Vec<Panel<'i, 'a>> {
    let mut panels: Vec<Panel<'i, 'a>> = Vec::new();
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
                left_out: 0,
                place: panels.len(),
            }),
        }
    }
    // Where everything is the same number, a slope shows nothing.
    panels.retain(|panel| panel.lines.iter().any(|item| item.moves()));
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
        panel.left_out = before - order.len();
        panel.lines = order.into_iter().map(|index| panel.lines[index]).collect();
    }
    panels.sort_by(|a, b| b.surest().total_cmp(&a.surest()));
    panels
}

fn draw(panel: &Panel<'_, '_>, sides: usize) -> Markup {
    let values = panel.lines.iter().flat_map(|item| item.values.iter().flatten());
    let ends = values.flat_map(|value| [value.point, value.low, value.high]);
    let Some(y) = Scale::over(ends, Zero::IfNear) else {
        return html! {};
    };
    let ticks = y.ticks(4);
    let largest = ticks.iter().copied().fold(0.0, |a: f64, b| a.max(b.abs()));
    let unit = if y.is_log() { "log scale".into() } else { axis_unit(largest, panel.terms) };
    let about = format!(
        "Chart: {} from side to side, {} treatments. Arrow keys step through them; the table \
         below holds the same numbers.",
        panel.heading,
        panel.lines.len()
    );
    html! {
        div.panel {
            p.panel-title {
                b { (panel.heading) }
                @if !unit.is_empty() { " " span.unit { (unit) } }
            }
            div.plot.slopes role="img" tabindex="0" aria-label=(about) {
                (value_axis(&y, &ticks, panel.terms))
                svg.canvas width="100%" height=(px(ABOVE + HEIGHT + BELOW)) {
                    (frame(&y, &ticks, sides))
                    @for (style, item) in panel.lines.iter().enumerate() {
                        (line(item, style, &y, sides))
                    }
                    (names(panel, &y, sides))
                }
            }
        }
    }
}

fn across(side: usize, sides: usize) -> f64 {
    FIRST + (LAST - FIRST) * side as f64 / (sides.max(2) - 1) as f64
}

fn down(y: &Scale, value: f64) -> f64 {
    ABOVE + (1.0 - y.place(value)) * HEIGHT
}

fn value_axis(y: &Scale, ticks: &[f64], terms: Terms<'_>) -> Markup {
    let largest = ticks.iter().copied().fold(0.0, |a: f64, b| a.max(b.abs()));
    let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    html! {
        svg.axis width="58" height=(px(ABOVE + HEIGHT + BELOW)) aria-hidden="true" {
            @for value in ticks {
                text x="50" y=(px(down(y, *value) + 4.0)) text-anchor="end" {
                    @if y.is_log() { (log_tick(*value, terms)) }
                    @else { (tick(*value, step, largest, terms)) }
                }
            }
        }
    }
}

fn frame(y: &Scale, ticks: &[f64], sides: usize) -> Markup {
    let end = percent(LAST + FIRST);
    html! {
        g.grid {
            @for value in ticks {
                @let at = px(down(y, *value));
                line x1="0" x2=(end) y1=(at) y2=(at) {}
            }
        }
        g.levels {
            @for side in 0..sides {
                @let at = percent(across(side, sides));
                line x1=(at) x2=(at) y1=(px(ABOVE)) y2=(px(ABOVE + HEIGHT)) {}
                text.side-name x=(at) y=(px(ABOVE + HEIGHT + 17.0)) text-anchor="middle" {
                    (letter(side))
                }
            }
        }
    }
}

/// One treatment from side to side; a side without a number is leapt over.
fn line(item: &Item<'_>, style: usize, y: &Scale, sides: usize) -> Markup {
    let known: Vec<(usize, Estimate)> = item
        .values
        .iter()
        .enumerate()
        .take(sides)
        .filter_map(|(side, value)| Some((side, (*value)?)))
        .collect();
    html! {
        g class=(style_class(style)) {
            @for pair in known.windows(2) {
                @let differs = item.ratio(pair[1].0.saturating_sub(1)).is_some_and(|(_, e)| e.differs);
                line.slope.same[!differs]
                    x1=(percent(across(pair[0].0, sides))) y1=(px(down(y, pair[0].1.point)))
                    x2=(percent(across(pair[1].0, sides))) y2=(px(down(y, pair[1].1.point))) {}
            }
            @for (side, value) in &known {
                @let at = percent(across(*side, sides));
                g.mark data-tip=(tip(item, *side, value)) {
                    line.whisker x1=(at) x2=(at) y1=(px(down(y, value.low)))
                        y2=(px(down(y, value.high))) {}
                    use.point href=(mark_of(style)) x=(at) y=(px(down(y, value.point))) {}
                }
            }
        }
    }
}

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

/// The lines' names behind their last marks, moved apart where they would touch.
fn names(panel: &Panel<'_, '_>, y: &Scale, sides: usize) -> Markup {
    let mut wanted: Vec<(usize, f64, f64)> = Vec::new();
    for (style, item) in panel.lines.iter().enumerate() {
        let last = item.values.iter().enumerate().take(sides).rev();
        let Some((side, value)) = last.filter_map(|(side, v)| Some((side, (*v)?))).next() else {
            continue;
        };
        wanted.push((style, down(y, value.point), across(side, sides)));
    }
    wanted.sort_by(|a, b| a.1.total_cmp(&b.1));
    let told = apart_from_each_other(&panel.lines);
    let places = apart(&wanted.iter().map(|(_, at, _)| *at).collect::<Vec<_>>());
    html! {
        g.names {
            @for ((style, from, side), at) in wanted.iter().zip(places) {
                g class=(style_class(*style)) {
                    line.leader x1=(percent(*side)) y1=(px(*from)) x2=(percent(NAMES - 0.01)) y2=(px(at)) {}
                    text x=(percent(NAMES)) y=(px(at + 4.0)) {
                        (brief(&told[*style % STYLES]))
                    }
                }
            }
        }
    }
}

/// The lines' names without the parts that all of them have.
fn apart_from_each_other(lines: &[&Item<'_>]) -> Vec<String> {
    const BETWEEN: &str = " · ";
    let common = |part: &&str| {
        lines.len() > 1 && lines.iter().all(|line| line.name.split(BETWEEN).any(|p| p == *part))
    };
    let name = |line: &&Item<'_>| {
        let own: Vec<&str> = line.name.split(BETWEEN).filter(|part| !common(part)).collect();
        if own.is_empty() { line.name.clone() } else { own.join(BETWEEN) }
    };
    lines.iter().map(name).collect()
}

/// A name without its middle where it is long: what tells treatments apart often stands at the end.
fn brief(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= NAME_CHARACTERS_MAX {
        return name.into();
    }
    let tail = NAME_CHARACTERS_MAX / 2;
    let head: String = letters[..NAME_CHARACTERS_MAX - tail - 1].iter().collect();
    let tail: String = letters[letters.len() - tail..].iter().collect();
    format!("{}…{}", head.trim_end(), tail.trim_start())
}

/// Ascending places moved apart to [`NAME_DISTANCE`] and back into the drawing.
fn apart(wanted: &[f64]) -> Vec<f64> {
    let mut places: Vec<f64> = Vec::with_capacity(wanted.len());
    for want in wanted {
        let least = places.last().map_or(ABOVE, |last| last + NAME_DISTANCE);
        places.push(want.max(least));
    }
    let mut most = ABOVE + HEIGHT;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - NAME_DISTANCE;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_touch_and_stay_inside() {
        for wanted in [vec![20.0, 20.0, 21.0], vec![200.0; 8], vec![10.0, 100.0, 190.0]] {
            let places = apart(&wanted);
            assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= NAME_DISTANCE - 1e-9));
            assert!(places.iter().all(|at| (ABOVE - 1e-9..=ABOVE + HEIGHT + 1e-9).contains(at)));
        }
        assert_eq!(apart(&[30.0, 90.0]), [30.0, 90.0]);
    }
}
