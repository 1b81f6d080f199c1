//! Throughput over the number of workers: trials with their interval, and the fitted curve.

use super::axis::Axis;
use super::body::{Cell, Line, Panel};
use super::letters::{Sheet, rows_in};
use super::lines;
use super::plain::plain_numbers;
use super::scale::{Scale, Zero};
use crate::doc::{Drawing, Table};
use crate::format::Terms;
use crate::text::Letters;
use crate::words::short;
use maud::{Markup, html};
use model::{Card, Estimate, Response, ScaleCurve, ScaleLevel, Scaling, Unit};

/// The styles of what was measured and of the curve.
const MEASURED: usize = 0;
const FITTED: usize = 1;

/// A chart of one throughput.
pub(crate) struct Throughput {
    response: Response,
    axis: Axis,
    measured: Line,
    fitted: Line,
    /// Its address on the page.
    place: &'static str,
}

impl Throughput {
    /// Returns the chart of one throughput of the levels and the law fitted to it; `None` where there is
    /// nothing to draw.
    pub(crate) fn new(
        scaling: &Scaling,
        curve: &ScaleCurve,
        of: fn(&ScaleLevel) -> Option<Estimate>,
        place: &'static str,
    ) -> Option<Throughput> {
        let measured: Vec<(f64, Cell)> = scaling
            .levels
            .iter()
            .filter_map(|level| Some((level.n, measured_at(level, scaling.cpus, of(level)?))))
            .collect();
        let ns: Vec<f64> = measured.iter().map(|(n, _)| *n).collect();
        let axis = Axis {
            name: "n, the number of workers".into(),
            unit: String::new(),
            levels: ns.iter().map(|n| (*n, n.to_string())).collect(),
            landmarks: landmark(scaling.cpus, &ns),
            scale: Scale::over_levels(&ns)?,
        };
        let law = curve.chosen.as_deref().map(|law| format!("fitted: {law}, with its 95 % band"));
        let fitted = curve.curve.iter().map(|at| (at.n, fitted_at(at))).collect();
        let unit = Unit::Other(short(&scaling.work.unit, 24));
        Some(Throughput {
            response: Response::new("throughput", "throughput", unit, Card::default()),
            axis,
            measured: Line {
                name: "measured: mean of the trials".into(),
                style: MEASURED,
                points: measured,
            },
            fitted: Line { name: law.unwrap_or_default(), style: FITTED, points: fitted },
            place,
        })
    }

    /// Returns the numbers behind the chart.
    pub(crate) fn numbers(&self) -> Table {
        let cells = self.measured.points.iter().map(|(_, cell)| cell);
        plain_numbers(["workers", "throughput", "trials"], &self.response, cells)
    }
}

fn measured_at(level: &ScaleLevel, cpus: Option<u32>, estimate: Estimate) -> Cell {
    let more = cpus.is_some_and(|cpus| level.n > f64::from(cpus));
    let label = format!("n {}{}", level.n, if more { ", more than CPUs" } else { "" });
    Cell { label, estimate: Some(estimate), dots: Vec::new(), trials: level.trials as usize }
}

fn fitted_at(at: &model::ScaleDrawn) -> Cell {
    let estimate = Some(Estimate::between(at.low, at.point, at.high));
    Cell { label: String::new(), estimate, dots: Vec::new(), trials: 0 }
}

/// Returns where the CPUs end, if that lies among the levels.
fn landmark(cpus: Option<u32>, ns: &[f64]) -> Vec<(f64, String)> {
    let among = |cpus: &f64| ns.iter().any(|n| n <= cpus) && ns.iter().any(|n| n >= cpus);
    let name = |cpus: f64| format!("{cpus} CPU{}", if cpus == 1.0 { "" } else { "s" });
    cpus.map(f64::from).filter(among).map(|cpus| (cpus, name(cpus))).into_iter().collect()
}

impl Drawing for Throughput {
    fn svg(&self) -> Markup {
        let drawn =
            [&self.measured, &self.fitted].into_iter().filter(|line| !line.points.is_empty());
        let panel = Panel {
            response: &self.response,
            heading: String::new(),
            lines: drawn.cloned().collect(),
            limits: Vec::new(),
            absent: Vec::new(),
        };
        let panels = [panel];
        html! {
            (lines::legend(&panels, "what is drawn"))
            (lines::draw(&self.axis, &panels, self.place))
        }
    }

    /// A row for each n, with the fitted law as a dot.
    fn letters(&self, width: usize) -> Vec<String> {
        let fitted_at = |n: f64| self.fitted.points.iter().find(|(at, _)| *at == n);
        let row = |(n, cell): &(f64, Cell)| {
            let law = fitted_at(*n).and_then(|(_, cell)| Some((0, cell.estimate?.point)));
            (MEASURED, Cell { dots: law.into_iter().collect(), ..cell.clone() })
        };
        let rows: Vec<(usize, Cell)> = self.measured.points.iter().map(row).collect();
        let ends = rows.iter().filter_map(|(_, cell)| cell.estimate);
        let scale = Scale::over(ends.flat_map(|it| [it.low, it.point, it.high]), Zero::Always);
        let sheet = Sheet::new(width, Letters::Unicode);
        rows_in(Terms::In(&self.response.unit), scale, &rows, &[], sheet)
    }
}
