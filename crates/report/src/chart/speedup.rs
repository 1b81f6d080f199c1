//! Speed-up and efficiency: how many times as fast the work is as at the lowest level of the axis, beside
//! the ideal line, with the law that the trials follow.

use super::axis::Values;
use super::body::Line;
use super::cell::Cell;
use super::material::Material;
use super::shown::Shown;
use crate::words;
use model::{Card, Drawn, Estimate, Quantity, Response, Treatment, Unit};

/// The style of the ideal line.
const IDEAL: usize = 6;

/// Levels from which a law is worth drawing: a curve through two points says nothing.
const LEVELS_MIN: usize = 3;

/// The ideal line ends where it is that much higher than what was measured.
const ROOM: f64 = 1.4;

/// Parts per million, in which shares are counted.
const WHOLE: f64 = 1e6;

/// Returns what is drawn of a response in place of its values; `None` where these are drawn.
pub(super) fn response(drawn: Drawn, of: &Response) -> Option<Response> {
    let (name, unit) = match drawn {
        Drawn::Value => return None,
        Drawn::Speedup => ("speed-up", Unit::Other(String::new())),
        Drawn::Efficiency => ("efficiency", Unit::Ppm),
    };
    Some(Response::new(&format!("{name} by {}", of.name), name, unit, Card::default()))
}

/// Returns what is drawn, in a sentence.
pub(super) fn definition(drawn: Drawn, of: &Response, axis: &Values<'_>) -> String {
    let first = format!(
        "at {} {}",
        words::factor(axis.factor),
        axis.first().map_or("", |(level, _)| level)
    );
    let ends = if of.unit == Unit::PerSecond { ["at n", &first] } else { [&first, "at n"] };
    let by = if drawn == Drawn::Efficiency { "efficiency: speed-up divided by n; " } else { "" };
    let name = words::label(of);
    format!("{by}speed-up: {name} {} divided by that {}, formed in each block.", ends[0], ends[1])
}

impl Material<'_, '_> {
    /// Returns a treatment with its ratio to the lowest level of the axis; `None` without a number there.
    pub(super) fn ratio(&self, shown: &Shown<'_, '_>, treatment: &Treatment) -> Option<Cell> {
        let (axis, response) = (shown.axis?, shown.response);
        let (level, least) = axis.first()?;
        let first = treatment.with(&model::Cell::new([(axis.factor.name.as_str(), level)]));
        let n = axis.at(treatment)? / least;
        let plain = self.cell(response, treatment, shown.names);
        let mut ends = [&first, treatment].map(|it| model::Cell((*it.0).clone()));
        if response.unit == Unit::PerSecond {
            ends.reverse();
        }
        let [of, to] = ends;
        let quantity = Quantity::Ratio { response: response.name.clone(), of, to };
        let records = self.measured.records.iter().copied();
        let speedup = match first == *treatment {
            true => Some(Estimate::between(1.0, 1.0, 1.0)),
            false => analysis::ask(self.design, records, &quantity).estimate,
        };
        let times = if shown.plot.drawn == Drawn::Efficiency { WHOLE / n } else { 1.0 };
        Some(plain.with(speedup?.map(|it| it * times)))
    }

    /// Returns the laws of some lines and the ideal line, with what the laws are in a sentence.
    pub(super) fn laws(
        &self,
        shown: &Shown<'_, '_>,
        members: &[&Treatment],
        lines: &[Line],
    ) -> (Vec<Line>, Option<String>) {
        let Some((axis, (_, least))) = shown.axis.and_then(|axis| Some((axis, axis.first()?)))
        else {
            return Default::default();
        };
        let efficient = shown.plot.drawn == Drawn::Efficiency;
        let (mut laws, mut named) = (Vec::new(), Vec::new());
        for line in lines.iter().filter(|line| line.points.len() >= LEVELS_MIN) {
            let own = members.iter().filter(|it| self.style(shown, it) == line.style);
            let points = own.flat_map(|treatment| {
                let n = axis.at(treatment).unwrap_or(least) / least;
                let rate =
                    |x: f64| if shown.response.unit == Unit::PerSecond { x } else { 1.0 / x };
                let trials = self.trials(shown.response, treatment).iter();
                trials.map(move |(block, x)| (n, *block, rate(*x)))
            });
            let fitted = analysis::scaling::law(&points.collect::<Vec<_>>());
            let Some(base) = fitted.curve.first().map(|at| at.point) else { continue };
            let place = |at: &model::ScaleDrawn| {
                let times = if efficient { WHOLE / at.n } else { 1.0 } / base;
                let estimate = Estimate::between(at.low, at.point, at.high).map(|it| it * times);
                (at.n * least, Cell::alone(String::new(), estimate, 0))
            };
            let points = fitted.curve.iter().map(place).collect();
            laws.push(Line { points, ..line.clone() });
            named.extend(analysis::scaling::law_words(&fitted).map(|law| match &*line.name {
                "" => law,
                name => format!("{name}: {law}"),
            }));
        }
        laws.push(ideal(efficient, least, lines));
        let named = (!named.is_empty()).then(|| format!("Fitted laws: {}.", named.join("; ")));
        (laws, named)
    }
}

/// Returns the line on which each worker adds as much as the first one.
fn ideal(efficient: bool, least: f64, lines: &[Line]) -> Line {
    let points = || lines.iter().flat_map(|line| &line.points);
    let most = points().map(|(x, _)| *x).fold(least, f64::max);
    let high = points().filter_map(|(_, cell)| cell.estimate).map(|it| it.high).fold(1.0, f64::max);
    let ends = match efficient {
        true => [(least, WHOLE), (most, WHOLE)],
        false => [least, most.min(ROOM * high * least)].map(|x| (x, x / least)),
    };
    let at = |(x, y)| (x, Cell::alone(String::new(), Estimate::between(y, y, y), 0));
    let name = if efficient { "ideal: 100 %" } else { "ideal: n times as fast" };
    Line { name: name.into(), style: IDEAL, points: ends.map(at).into() }
}
