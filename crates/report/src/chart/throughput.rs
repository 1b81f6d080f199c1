//! Throughput over the number of workers: trials with their interval, and the fitted curve.

use super::axis::Axis;
use super::body::{Body, Figure, Line, Panel};
use super::cell::Cell;
use super::scale::Scale;
use model::{Card, Estimate, Response, ScaleCurve, ScaleLevel, Scaling, Unit};
use std::borrow::Cow;
use wording::short;

/// The styles of what was measured and of the curve.
const MEASURED: usize = 0;
const FITTED: usize = 1;

/// Returns the figure of one throughput of the levels and the law fitted to it; `None` where there is
/// nothing to draw.
pub(crate) fn throughput(
    scaling: &Scaling,
    curve: &ScaleCurve,
    of: fn(&ScaleLevel) -> Option<Estimate>,
    title: String,
) -> Option<Figure<'static>> {
    let levels = scaling.levels.iter();
    let points: Vec<(f64, Cell)> = levels
        .filter_map(|level| Some((level.n, measured_at(level, scaling.cpus, of(level)?))))
        .collect();
    let ns: Vec<f64> = points.iter().map(|(n, _)| *n).collect();
    let levels: Vec<(f64, String)> = ns.iter().map(|n| (*n, n.to_string())).collect();
    let axis = Axis {
        name: "n, the number of workers".into(),
        unit: String::new(),
        landmarks: landmark(scaling.cpus, &levels),
        levels,
        scale: Scale::over_levels(&ns)?,
    };
    let measured = Line { name: "measured: mean of the trials".into(), style: MEASURED, points };
    let law = curve.chosen.as_deref().map(|law| format!("fitted: {law}, with its 95 % band"));
    let fitted = curve.curve.iter().map(|at| {
        let estimate = Estimate::between(at.low, at.point, at.high);
        (at.n, Cell::alone(String::new(), estimate, 0))
    });
    let law = Line { name: law.unwrap_or_default(), style: FITTED, points: fitted.collect() };
    let laws = Some(law).filter(|law| !law.points.is_empty()).into_iter().collect();
    let unit = Unit::Other(short(&scaling.work.unit, 24));
    let response = Response::new("throughput", "throughput", unit, Card::default());
    let panel = Panel { laws, ..Panel::of(Cow::Owned(response), vec![measured]) };
    let body = Body::Panels { axis: Some(axis), panels: vec![panel] };
    let figure = Figure::bare(title, body);
    Some(Figure { lines_of: "what is drawn".into(), heads: ["workers", "trials"], ..figure })
}

fn measured_at(level: &ScaleLevel, cpus: Option<u32>, estimate: Estimate) -> Cell {
    let more = cpus.is_some_and(|cpus| level.n > f64::from(cpus));
    let label = format!("n {}{}", level.n, if more { ", more than CPUs" } else { "" });
    Cell::alone(label, estimate, level.trials as usize)
}

/// Returns where the CPUs end, if that lies among the levels.
pub(super) fn landmark(cpus: Option<u32>, levels: &[(f64, String)]) -> Vec<(f64, String)> {
    let ns = levels.iter().map(|(n, _)| *n);
    let (low, high) = (ns.clone().reduce(f64::min), ns.reduce(f64::max));
    let among =
        |cpus: &f64| low.is_some_and(|it| it <= *cpus) && high.is_some_and(|it| it >= *cpus);
    let name = |cpus: f64| format!("{cpus} CPU{}", if cpus == 1.0 { "" } else { "s" });
    cpus.map(f64::from).filter(among).map(|cpus| (cpus, name(cpus))).into_iter().collect()
}
