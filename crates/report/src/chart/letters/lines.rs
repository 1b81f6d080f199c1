//! Lines over a numeric factor: a small coordinate system for each panel, two of them side by side
//! where there is room.

use super::axis::Axis;
use super::strip::{Strip, colour, mark};
use super::{Sheet, note};
use crate::chart::{Cell, LevelAxis, Line, Panel, Scale, scale_along};
use crate::text::{BOLD, DIM, columns, cut, padded, paint, wrapped};
use crate::words;
use model::Unit;
use wording::capital;
use wording::number::{Terms, joined, parts_within, value_in};

/// Lines of a coordinate system: of one that stands alone, and of several.
const HEIGHT_ALONE: usize = 12;
const HEIGHT: usize = 9;

/// The widest panel, the narrowest that has a neighbour, and the space between two.
const PANEL_MAX: usize = 88;
const PANEL_MIN: usize = 46;
const BETWEEN: usize = 3;

/// Columns of a number in the key.
const NUMBER_MAX: usize = 24;

/// What the line of a limit is made of.
const LIMIT: char = '╌';

/// All panels of a figure.
pub(super) fn draw(axis: &LevelAxis, panels: &[Panel<'_>], sheet: Sheet) -> Vec<String> {
    let inner = sheet.width.saturating_sub(2);
    let pair = panels.len() > 1 && inner >= 2 * PANEL_MIN + BETWEEN;
    let width = if pair { (inner - BETWEEN) / 2 } else { inner };
    let size = Size {
        width: width.min(PANEL_MAX),
        height: if panels.len() > 1 { HEIGHT } else { HEIGHT_ALONE },
    };
    let drawn = panels.iter().filter_map(|panel| {
        Some(draw_panel(axis, panel, scale_along(axis, panels, panel)?, size, sheet))
    });
    let drawn: Vec<Vec<String>> = drawn.collect();
    let mut lines = Vec::new();
    for (index, row) in drawn.chunks(if pair { 2 } else { 1 }).enumerate() {
        if index > 0 {
            lines.push(String::new());
        }
        lines.extend(side_by_side(row, size.width).iter().map(|line| format!("  {line}")));
    }
    if !axis.landmarks.is_empty() {
        let sizes: Vec<&str> = axis.landmarks.iter().map(|(_, name)| name.as_str()).collect();
        lines.extend(note(&format!("This machine: {}.", sizes.join(", ")), sheet));
    }
    lines
}

#[derive(Clone, Copy)]
struct Size {
    width: usize,
    /// The only one of its figure is higher than others.
    height: usize,
}

/// One panel, or two with their lines beside one another.
fn side_by_side(panels: &[Vec<String>], width: usize) -> Vec<String> {
    let most = panels.iter().map(Vec::len).max().unwrap_or(0);
    let line = |index: usize| {
        let own = panels.iter().map(|panel| panel.get(index).map_or("", String::as_str));
        let filled: Vec<String> = own.map(|own| padded(own, width)).collect();
        filled.join(&" ".repeat(BETWEEN)).trim_end().to_string()
    };
    (0..most).map(line).collect()
}

fn draw_panel(
    axis: &LevelAxis,
    panel: &Panel<'_>,
    y: Scale,
    size: Size,
    sheet: Sheet,
) -> Vec<String> {
    let terms = Terms::In(&panel.response.unit);
    let y = Axis::new(y, size.height, 4, terms);
    let words: Vec<String> = y.ticks.at.iter().map(|(_, word)| sheet.letters.of(word)).collect();
    let before = words.iter().map(|word| columns(word)).max().unwrap_or(0).min(size.width / 3);
    let cells = size.width.saturating_sub(before + 2);
    let across = Axis::of_levels(axis, panel.lines.len(), cells);
    let mut canvas = vec![Strip::new(cells); size.height];
    for limit in panel.limits.iter().filter_map(|limit| y.row(limit.value)) {
        canvas[size.height - 1 - limit] = Strip::filled(cells, LIMIT, DIM);
    }
    draw_lines(&panel.lines, &across, &y, &mut canvas);
    let title = wrapped(&title(panel, &y.ticks.unit, size), size.width);
    let mut lines: Vec<String> = title.iter().map(|line| paint(BOLD, line)).collect();
    for (index, strip) in canvas.iter().enumerate() {
        let value = size.height - 1 - index;
        let tick = y.ticks.at.iter().position(|(at, _)| y.cell(*at) == value);
        let word = tick.map_or("", |tick| words[tick].as_str());
        let word = cut(word, before);
        let edge = match tick {
            Some(_) => '┤',
            None if y.scale.has_break() && value == 1 => '╱',
            None => '│',
        };
        let lead = format!("{}{word} {edge}", " ".repeat(before.saturating_sub(columns(&word))));
        lines.push(format!("{}{}", paint(DIM, &lead), strip.painted()));
    }
    let indent = " ".repeat(before + 1);
    let [line, names] = across.drawn();
    lines.push(format!("{indent}{}{}", paint(DIM, "└"), line.painted()));
    lines.push(format!("{indent} {}", names.painted()));
    let log = if across.scale.is_log() { ", log scale" } else { "" };
    let unit = if axis.unit.is_empty() { String::new() } else { format!(", {}", axis.unit) };
    let name = wrapped(&format!("{}{unit}{log}", axis.name), size.width - before - 2);
    lines.extend(name.iter().map(|line| format!("{indent} {}", paint(DIM, line))));
    lines.extend(
        panel
            .lines
            .iter()
            .flat_map(|line| key(line, &axis.levels, &panel.response.unit, size.width, sheet)),
    );
    for limit in panel.limits.iter().filter(|limit| y.row(limit.value).is_some()) {
        let text = format!("{LIMIT} {}: {}", value_in(limit.value, terms), limit.label);
        let text = wrapped(&sheet.letters.of(&text), size.width);
        lines.extend(text.iter().map(|line| paint(DIM, line)));
    }
    lines
}

/// What stands over a panel: what tells it from its neighbours, and its unit. The response of the
/// only panel stands in the title of its figure.
fn title(panel: &Panel<'_>, unit: &str, size: Size) -> String {
    let name = match panel.heading.as_str() {
        "" if size.height == HEIGHT_ALONE => String::new(),
        "" => words::label(&panel.response),
        heading => heading.to_string(),
    };
    let comma = if name.is_empty() || unit.is_empty() { "" } else { ", " };
    format!("{}{comma}{unit}", capital(&name))
}

/// Draws lines: what connects their estimates, then all intervals, then all marks, so that nothing hides
/// these.
fn draw_lines(lines: &[Line], across: &Axis, y: &Axis, canvas: &mut [Strip]) {
    // Lines stand beside one another where there is room, so that equal values do not hide one another.
    let levels: Vec<usize> = across.ticks.at.iter().map(|(value, _)| across.cell(*value)).collect();
    let nearest = levels.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).min();
    let apart = nearest.is_none_or(|nearest| nearest > lines.len());
    let apart = apart && lines.len() / 2 <= across.side;
    let down = |value: f64| y.cells - 1 - y.cell(value);
    let place = |index: usize, (x, cell): &(f64, Cell)| {
        let shift = if apart { index as isize - (lines.len() as isize - 1) / 2 } else { 0 };
        let estimate = cell.estimate.filter(|estimate| estimate.point.is_finite())?;
        let ends = [estimate.high, estimate.low].map(down);
        Some((across.cell(*x).saturating_add_signed(shift), down(estimate.point), ends))
    };
    let places = lines.iter().enumerate().map(|(index, line)| {
        let known = line.points.iter().filter_map(|point| place(index, point));
        (line.style, known.collect::<Vec<_>>())
    });
    let places: Vec<_> = places.collect();
    for (style, known) in &places {
        for pair in known.windows(2) {
            let ((x0, y0, _), (x1, y1, _)) = (pair[0], pair[1]);
            let steps = x0.abs_diff(x1).max(y0.abs_diff(y1));
            for step in 1..steps {
                let along = step as f64 / steps as f64;
                let between = |a: usize, b: usize| {
                    (a as f64 + (b as f64 - a as f64) * along).round() as usize
                };
                canvas[between(y0, y1)].put_under(between(x0, x1), '┄', colour(*style));
            }
        }
    }
    for (style, known) in &places {
        for (at, _, [top, bottom]) in known {
            for strip in canvas.iter_mut().take(bottom + 1).skip(*top) {
                strip.put(*at, '│', colour(*style));
            }
        }
    }
    for (style, known) in &places {
        for (at, row, _) in known {
            canvas[*row].put(*at, mark(*style), colour(*style).bold());
        }
    }
}

/// Returns a line's mark and name with its first and its last number; their intervals where there is room,
/// and below the name where there is none beside it.
fn key(
    line: &Line,
    levels: &[(f64, String)],
    unit: &Unit,
    width: usize,
    sheet: Sheet,
) -> Vec<String> {
    let ends = [line.points.first(), line.points.last().filter(|_| line.points.len() > 1)];
    let numbers = |whole: bool| {
        let numbers = ends.iter().flatten().filter_map(|(x, cell)| {
            let number = parts_within(cell.estimate.as_ref()?, Terms::In(unit), NUMBER_MAX);
            let number = if whole { joined(&number) } else { number.point };
            let level = levels.iter().find(|(value, _)| value == x).map(|(_, name)| name.as_str());
            Some(sheet.letters.of(&format!("{}: {number}", level.unwrap_or_default())))
        });
        numbers.collect::<Vec<_>>().join("  ")
    };
    let name = sheet.letters.of(&line.name);
    let gap = if name.is_empty() { "" } else { "  " };
    let room = width.saturating_sub(columns(&name) + gap.len() + 2);
    let fitting = [numbers(true), numbers(false)].into_iter().find(|it| columns(it) <= room);
    let sign = paint(colour(line.style).bold(), &mark(line.style).to_string());
    if let Some(numbers) = fitting {
        return vec![format!("{sign} {name}{gap}{numbers}")];
    }
    let below = wrapped(&name, width - 2).into_iter().chain(wrapped(&numbers(false), width - 2));
    let lead = |index| if index == 0 { sign.as_str() } else { " " };
    below.enumerate().map(|(index, text)| format!("{} {text}", lead(index))).collect()
}
