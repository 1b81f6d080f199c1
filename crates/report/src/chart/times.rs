//! How long requests took: distribution functions in one coordinate system.

use super::distributions::distribution_of_times;
use super::{Curve, Quantile};
use crate::doc::{Block, Drawing, Figure};
use maud::Markup;

/// Times below this are drawn at it, in ns: they are the clock's own, and would take half of a
/// logarithmic axis.
const SHORTEST_DRAWN_NS: f64 = 1e3;

/// A curve is drawn in steps of this share, and of this part of the rest in its tail.
const STEP_OF_ALL: f64 = 0.004;
const STEP_OF_TAIL: f64 = 0.8;

/// A percentile that is marked: its name and its share.
pub(crate) type Mark = (&'static str, f64);

/// The distributions of some times of requests.
pub(crate) struct RequestTimes {
    curves: Vec<Curve>,
    marks: &'static [Mark],
}

impl RequestTimes {
    /// Returns a chart without a curve, which marks some percentiles.
    pub(crate) fn new(marks: &'static [Mark]) -> Self {
        RequestTimes { curves: Vec::new(), marks }
    }

    /// Adds the curve through `points`: pairs of a time in ns and the share of the requests, 0 to 1, both
    /// ascending. It begins at the shortest time; without a time it is left out.
    pub(crate) fn add(&mut self, name: &str, points: &[(u64, f64)]) {
        let Some((shortest, _)) = points.first() else { return };
        let mark = |(name, share): &Mark| {
            let (ns, _) = points.iter().find(|(_, part)| part >= share)?;
            Some((*name, drawn_at(*share, *ns as f64)))
        };
        let marked = self.marks.iter().filter_map(mark).collect();
        let start = [(*shortest, 0.0)];
        let kept = start.into_iter().chain(thinned(points));
        let points = kept.map(|(ns, share)| drawn_at(share, ns as f64)).collect();
        let (name, style) = (name.into(), self.curves.len());
        self.curves.push(Curve { name, style, trials: 1, of: 1, observations: 0, points, marked });
    }

    /// Returns the figure; `None` without a curve.
    pub(crate) fn figure(self, caption: &str) -> Option<Block<'static>> {
        let mut points = self.curves.iter().flat_map(|curve| &curve.points);
        let mut caption = vec![caption.into()];
        if points.any(|point| point.value == SHORTEST_DRAWN_NS) {
            caption.push("Times below 1 µs are drawn at 1 µs.".into());
        }
        let some = !self.curves.is_empty();
        some.then(|| Block::Figure(Figure::new("How long requests took", self, caption)))
    }
}

impl Drawing for RequestTimes {
    fn svg(&self) -> Markup {
        distribution_of_times(&self.curves)
    }
}

/// Returns a place on a curve: a time, and the share of the requests that took no longer.
fn drawn_at(share: f64, ns: f64) -> Quantile {
    let value = ns.max(SHORTEST_DRAWN_NS);
    Quantile { share, value, low: value, high: value }
}

/// Returns the points of a curve that a reader can distinguish.
fn thinned(points: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let mut kept: Vec<(u64, f64)> = Vec::new();
    for (index, (ns, share)) in points.iter().enumerate() {
        let apart = kept.last().is_none_or(|(_, last)| {
            share - last >= STEP_OF_ALL || 1.0 - share <= STEP_OF_TAIL * (1.0 - last)
        });
        if apart || index + 1 == points.len() {
            kept.push((*ns, *share));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::thinned;

    #[test]
    fn a_thinned_curve_keeps_its_ends_and_its_tail() {
        let known: Vec<(u64, f64)> = (1..=100_000).map(|n| (n, n as f64 / 100_000.0)).collect();
        let kept = thinned(&known);
        assert!((200..400).contains(&kept.len()), "{}", kept.len());
        assert_eq!((kept[0], kept.last()), ((1, 1e-5), Some(&(100_000, 1.0))));
        assert!(kept.iter().filter(|(_, share)| *share > 0.999).count() > 8);
        assert_eq!(thinned(&[]), []);
    }
}
