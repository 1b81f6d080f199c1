//! Response time over the load, for models of concurrency.

use super::axis::Axis;
use super::body::{Body, Figure, Line, Panel};
use super::cell::Cell;
use super::scale::Scale;
use model::{Card, Estimate, Response, ResponseCurve, Unit};
use std::borrow::Cow;

/// Curves in one coordinate system.
const CURVES_MAX: usize = 6;

/// Ticks of the load.
const TICKS: usize = 6;

/// Returns the figure of computed response times against `load`, of the first models that have a curve;
/// `None` where there is nothing to draw.
pub(crate) fn response_by_load(
    curves: &[ResponseCurve],
    name: impl Fn(&str) -> String,
    load: &str,
    title: String,
) -> Option<Figure<'static>> {
    let drawn: Vec<_> = curves.iter().filter(|curve| curve.points.len() > 1).collect();
    let left_out = drawn.len().saturating_sub(CURVES_MAX);
    let line = |(style, curve): (usize, &&ResponseCurve)| {
        let cell = |ns: f64| Cell::alone(String::new(), Estimate::between(ns, ns, ns), 0);
        let points = curve.points.iter().map(|(x, ns)| (*x, cell(*ns))).collect();
        Line { name: name(&curve.model), style, points }
    };
    let laws: Vec<Line> = drawn.iter().take(CURVES_MAX).enumerate().map(line).collect();
    let most = laws.iter().flat_map(|line| &line.points).map(|(x, _)| *x).reduce(f64::max)?;
    let scale = Scale::over_levels(&[0.0, most])?;
    let levels = scale.ticks(TICKS).into_iter().map(|x| (x, wording::number::count(x as u64)));
    let axis = Axis {
        name: load.into(),
        unit: String::new(),
        landmarks: Vec::new(),
        levels: levels.collect(),
        scale,
    };
    let response = Response::new("response", "response time", Unit::Ns, Card::default());
    let panel = Panel { laws, ..Panel::of(Cow::Owned(response), Vec::new()) };
    let body = Body::Panels { axis: Some(axis), panels: vec![panel] };
    let figure = Figure::bare(title, body);
    Some(Figure { lines_of: "model".into(), left_out, ..figure })
}
