//! A load over time: panels on a page, a line of bars for each number in a terminal.

use super::axis::Axis;
use super::body::{Body, Figure, Line, Panel};
use super::cell::Cell;
use super::letters::strip::colour;
use super::scale::Scale;
use crate::doc::{self, Block, Drawing};
use crate::text::{columns, cut, padded, paint};
use maud::Markup;
use model::{Card, Estimate, LoadSlice, Response, Unit};
use std::borrow::Cow;
use wording::number::{Terms, rounded};

/// Bars of a line in a terminal, lowest first.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The most bars of a line, and the widest name before them.
const BARS_MAX: usize = 60;
const NAME_MAX: usize = 17;

/// Ticks of the axis of time.
const TICKS: usize = 6;

/// A number of each slice.
struct Row {
    name: &'static str,
    unit: Unit,
    /// What it is called on a page, with others in one panel.
    panel: &'static str,
    values: Vec<Option<f64>>,
    /// Whether a bar for several slices shows the highest of them; otherwise their mean.
    highest: bool,
}

/// The numbers of a load by slice.
struct Series {
    /// The middle of each slice, in s.
    seconds: Vec<f64>,
    rows: Vec<Row>,
}

/// Returns the figure of a load over time; `None` with fewer than two slices.
pub(crate) fn load_over_time(slices: &[LoadSlice]) -> Option<Block<'static>> {
    if slices.len() < 2 {
        return None;
    }
    let length_s = (slices[0].until_ns - slices[0].from_ns) as f64 / 1e9;
    let length = rounded(length_s * 1e9, Terms::In(&Unit::Ns));
    let caption = format!(
        "A point for each {length}. A request counts at the moment of its answer, or when it was \
         given up."
    );
    let drawing = Series::of(slices);
    let figure = doc::Figure::new("The load over time", drawing, vec![caption.into()]);
    Some(Block::Figure(figure))
}

impl Series {
    fn of(slices: &[LoadSlice]) -> Self {
        let seconds = |slice: &LoadSlice| (slice.until_ns - slice.from_ns) as f64 / 1e9;
        let middle = |it: &LoadSlice| f64::midpoint(it.from_ns as f64, it.until_ns as f64) / 1e9;
        let row = |panel, name, unit, highest, of: &dyn Fn(&LoadSlice) -> Option<f64>| Row {
            name,
            unit,
            panel,
            values: slices.iter().map(of).collect(),
            highest,
        };
        let time = |name, of: fn(&LoadSlice) -> Option<u64>| {
            row("response time", name, Unit::Ns, true, &move |it| of(it).map(|ns| ns as f64))
        };
        let per_s = |name, of: fn(&LoadSlice) -> u64| {
            row("requests", name, Unit::PerSecond, false, &move |it| {
                Some(of(it) as f64 / seconds(it))
            })
        };
        let cpu = |name, of: fn(&LoadSlice) -> Option<u64>| {
            let unit = Unit::Other("CPUs".into());
            row("CPU", name, unit, false, &move |it| Some(of(it)? as f64 / 1e9 / seconds(it)))
        };
        let rows = vec![
            per_s("succeeded", |it| it.succeeded),
            per_s("failed", |it| it.failed),
            time("p50", |it| it.p50_ns),
            time("p95", |it| it.p95_ns),
            time("p99", |it| it.p99_ns),
            row("lateness", "lateness p99", Unit::Ns, true, &|it| Some(it.late_p99_ns? as f64)),
            row("connections", "connections", Unit::Count, true, &|it| {
                Some(f64::from(it.connections))
            }),
            cpu("generator's CPU", |it| Some(it.generator_cpu_ns)),
            cpu("server's CPU", |it| it.server_cpu_ns),
        ];
        let is_seen = |row: &Row| row.values.iter().flatten().any(|value| *value > 0.0);
        let rows = rows.into_iter().filter(is_seen).collect();
        Series { seconds: slices.iter().map(middle).collect(), rows }
    }

    /// Returns the figure of a page: the rows of a panel in one coordinate system.
    fn figure(&self) -> Option<Figure<'static>> {
        let last = self.seconds.last()?;
        let scale = Scale::Linear { low: 0.0, high: last + self.seconds[0] };
        let tick = |seconds: &f64| (*seconds, format!("{seconds}"));
        let axis = Axis {
            name: "time since the start".into(),
            unit: "s".into(),
            levels: scale.ticks(TICKS).iter().map(tick).collect(),
            landmarks: Vec::new(),
            scale,
        };
        let mut style = 0;
        let mut panel = |rows: &[Row]| {
            let name = rows[0].panel;
            let response = Response::new(name, name, rows[0].unit.clone(), Card::default());
            // Each has a style of its own: all panels share a legend.
            let laws = rows.iter().zip(style..).map(|(row, style)| self.line(row, style)).collect();
            style += rows.len();
            Panel { laws, heading: name.into(), ..Panel::of(Cow::Owned(response), Vec::new()) }
        };
        let panels =
            self.rows.chunk_by(|one, next| one.panel == next.panel).map(&mut panel).collect();
        let body = Body::Panels { axis: Some(axis), panels };
        let figure = Figure::bare("The load over time".into(), body);
        Some(Figure { lines_of: "what is drawn".into(), ..figure })
    }

    fn line(&self, row: &Row, style: usize) -> Line {
        let points = self.seconds.iter().zip(&row.values).filter_map(|(at, value)| {
            let value = (*value)?;
            Some((*at, Cell::alone(String::new(), Estimate::between(value, value, value), 0)))
        });
        Line { name: row.name.into(), style, points: points.collect() }
    }
}

impl Row {
    /// Returns the values in at most `cells` cells, each for about the same number of slices.
    fn cells(&self, cells: usize) -> Vec<Option<f64>> {
        let cells = cells.min(self.values.len());
        let edge = |cell: usize| cell * self.values.len() / cells;
        let of = |cell: usize| {
            let known = self.values[edge(cell)..edge(cell + 1)].iter().flatten();
            let (sum, count) = known.clone().fold((0.0, 0), |(sum, n), value| (sum + value, n + 1));
            let mean = (count > 0).then(|| sum / f64::from(count));
            if self.highest { known.copied().reduce(f64::max) } else { mean }
        };
        (0..cells).map(of).collect()
    }

    /// Returns a line of bars, the highest as high as the highest value.
    fn bars(cells: &[Option<f64>], most: f64) -> String {
        let bar = |value: &Option<f64>| match value {
            None => ' ',
            Some(value) => {
                let place = (value / most * BARS.len() as f64).ceil() as usize;
                BARS[place.clamp(1, BARS.len()) - 1]
            }
        };
        cells.iter().map(bar).collect()
    }
}

impl Drawing for Series {
    fn svg(&self) -> Markup {
        self.figure().map_or_else(Markup::default, |figure| super::drawn(&figure, "over-time"))
    }

    fn letters(&self, width: usize) -> Vec<String> {
        let named = self.rows.iter().map(|row| cut(row.name, NAME_MAX));
        let widest = named.clone().map(|name| columns(&name)).max().unwrap_or(0);
        let range = |row: &Row, cells: &[Option<f64>]| {
            let known = || cells.iter().flatten().copied();
            let (least, most) = (known().reduce(f64::min)?, known().reduce(f64::max)?);
            let [low, high] = [least, most].map(|value| rounded(value, Terms::In(&row.unit)));
            let text = if low == high { high } else { format!("{low} to {high}") };
            Some((most, text))
        };
        let lines = self.rows.iter().zip(named).filter_map(|(row, name)| {
            let (_, longest) = range(row, &row.values)?;
            let room = width.saturating_sub(widest + columns(&longest) + 4);
            let cells = row.cells(room.clamp(1, BARS_MAX));
            let (most, text) = range(row, &cells)?;
            let bars = paint(colour(0), &Row::bars(&cells, most));
            let taken = widest + 2 + cells.len();
            let text = if taken + columns(&text) + 2 <= width { text } else { String::new() };
            Some(format!("{}  {bars}  {text}", padded(&name, widest)).trim_end().to_string())
        });
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices() -> Vec<LoadSlice> {
        let slice = |index: u64| LoadSlice {
            from_ns: index * 100_000_000,
            until_ns: (index + 1) * 100_000_000,
            succeeded: if index == 7 { 0 } else { 100 },
            p50_ns: (index != 7).then_some(1_000_000),
            p99_ns: (index != 7).then_some(if index == 8 { 900_000_000 } else { 2_000_000 }),
            connections: 16,
            generator_cpu_ns: 10_000_000,
            ..LoadSlice::default()
        };
        (0..40).map(slice).collect()
    }

    #[test]
    fn a_stall_is_seen_in_letters_of_any_width() {
        let series = Series::of(&slices());
        for width in [40, 60, 120] {
            let lines = series.letters(width);
            let lines: Vec<String> =
                lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
            assert!(lines.iter().all(|line| columns(line) <= width), "{lines:?}");
            // Nothing failed, and nobody knows of the server.
            let names: Vec<&str> =
                lines.iter().filter_map(|line| line.split("  ").next()).collect();
            assert_eq!(names, ["succeeded", "p50", "p99", "connections", "generator's CPU"]);
            assert!(lines[2].contains('█') && lines[2].contains('▁'), "{lines:?}");
        }
        let wide = anstream::adapter::strip_str(&series.letters(120)[2]).to_string();
        assert!(wide.ends_with("2 ms to 900 ms") && wide.contains("▁ █"), "{wide}");
    }

    #[test]
    fn a_page_has_a_panel_for_each_kind_of_number() {
        let page = Series::of(&slices()).svg().into_string();
        assert_eq!(page.matches("class=\"panel\"").count(), 4, "{page}");
        assert!(page.contains("time since the start"), "{page}");
        assert!(load_over_time(&slices()[..1]).is_none());
    }
}
