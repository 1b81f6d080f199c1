//! Throughput over the number of workers: trials with their interval, and the fitted curve.

use super::axis::Axis;
use super::body::{Cell, Line};
use super::lines::{
    ABOVE, BELOW, HEIGHT, band_and_line, grid, landmarks, legend_of, level_axis, points_of,
    stretched, value_axis,
};
use super::px;
use super::scale::{Scale, Zero};
use crate::format::{Terms, axis_unit};
use crate::words::short;
use maud::{Markup, html};
use model::{Estimate, ScaleCurve, ScaleLevel, Unit};

/// The styles of what was measured and of the curve.
const MEASURED: usize = 0;
const FITTED: usize = 1;

/// A chart of one throughput; nothing where there is none.
pub(crate) fn throughput(
    levels: &[ScaleLevel],
    of: impl Fn(&ScaleLevel) -> Option<Estimate>,
    curve: &ScaleCurve,
    unit: &str,
    cpus: Option<u32>,
) -> Markup {
    let measured: Vec<(f64, Cell)> = levels
        .iter()
        .filter_map(|level| {
            let label = format!("n {}", level.n);
            let trials = level.trials as usize;
            Some((level.n, Cell { label, estimate: Some(of(level)?), dots: Vec::new(), trials }))
        })
        .collect();
    let fitted: Vec<(f64, Cell)> = curve.curve.iter().map(|at| (at.n, cell_of(at))).collect();
    let ends = measured.iter().chain(&fitted).filter_map(|(_, cell)| cell.estimate);
    let values = ends.flat_map(|it| [it.low, it.point, it.high]);
    let ns: Vec<f64> = measured.iter().map(|(n, _)| *n).collect();
    let (Some(y), Some(x)) = (Scale::over(values, Zero::Always), Scale::over_levels(&ns)) else {
        return html! {};
    };
    let axis = Axis {
        name: "n, the number of workers".into(),
        unit: String::new(),
        levels: ns.iter().map(|n| (*n, n.to_string())).collect(),
        landmarks: landmark(cpus, &ns),
        scale: x,
    };
    let law = curve.chosen.as_deref().map(|law| format!("fitted: {law}, with its 95 % band"));
    let lines = [
        Line { name: "measured: mean of the trials".into(), style: MEASURED, points: measured },
        Line { name: law.unwrap_or_default(), style: FITTED, points: fitted },
    ];
    draw(&axis, &y, &lines, &Unit::Other(short(unit, 24)))
}

fn cell_of(at: &model::ScaleDrawn) -> Cell {
    let estimate = Estimate {
        point: at.point,
        low: at.low,
        high: at.high,
        standard_error: None,
        level: 0.95,
        samples: 0,
    };
    Cell { label: String::new(), estimate: Some(estimate), dots: Vec::new(), trials: 0 }
}

/// Where the CPUs end, if that lies among the levels.
fn landmark(cpus: Option<u32>, ns: &[f64]) -> Vec<(f64, String)> {
    let among = |cpus: &f64| ns.iter().any(|n| n <= cpus) && ns.iter().any(|n| n >= cpus);
    let name = |cpus: f64| format!("{cpus} CPU{}", if cpus == 1.0 { "" } else { "s" });
    cpus.map(f64::from).filter(among).map(|cpus| (cpus, name(cpus))).into_iter().collect()
}

fn draw(axis: &Axis, y: &Scale, lines: &[Line; 2], unit: &Unit) -> Markup {
    let [measured, fitted] = lines;
    let terms = Terms::In(unit);
    let ticks = y.ticks(4);
    let largest = ticks.iter().copied().fold(0.0, |a: f64, b| a.max(b.abs()));
    let about = format!(
        "Chart: throughput over the number of workers. {} means of trials with their intervals, and \
         a fitted curve with its band. Arrow keys step through them; the table below holds the same \
         numbers.",
        measured.points.len()
    );
    let known = lines.iter().filter(|line| !line.points.is_empty());
    html! {
        (legend_of(known.map(|line| (line.style, line.name.as_str())), "what is drawn"))
        div.panels {
            div.panel {
                p.panel-title { b { "Throughput" } " " span.unit { (axis_unit(largest, terms)) } }
                div.plot role="img" tabindex="0" aria-label=(about) {
                    (value_axis(y, &ticks, terms))
                    svg.canvas width="100%" height=(px(ABOVE + HEIGHT + BELOW)) {
                        (grid(y, &ticks))
                        (level_axis(&axis.scale, &axis.levels))
                        (landmarks(axis))
                        svg.stretched width="100%" height=(px(ABOVE + HEIGHT))
                            viewBox=(stretched()) preserveAspectRatio="none" {
                            (band_and_line(fitted, &axis.scale, y))
                        }
                        (points_of(measured, &axis.scale, y, 0.0, unit))
                    }
                }
                p.axis-title { (axis.name) @if axis.scale.is_log() { ", log scale" } }
            }
        }
    }
}
