//! How long requests took: distribution functions in one coordinate system.

use super::{Body, Figure, Quantile, shown};
use crate::Curve;
use crate::doc::{self, Block};
use model::{Card, Estimate, Response, Unit};
use std::borrow::Cow;

/// Times below this are drawn at it, in ns: they are the clock's own, and would take half of a
/// logarithmic axis.
const SHORTEST_DRAWN_NS: f64 = 1e3;

/// A curve is drawn in steps of this share, and of this part of the rest in its tail.
const STEP_OF_ALL: f64 = 0.004;
const STEP_OF_TAIL: f64 = 0.8;

/// A percentile that is marked: its name and its share.
pub(crate) type Mark = (&'static str, f64);

/// Returns a figure of distribution functions on which some percentiles are marked; `None` without a curve.
/// Each curve has a name, and begins at the shortest time.
pub(crate) fn request_times<'c>(
    marks: &[Mark],
    curves: impl Iterator<Item = (&'static str, &'c Curve)>,
    caption: &str,
) -> Option<Block<'static>> {
    let known = curves.filter(|(_, points)| !points.is_empty()).enumerate();
    let curves: Vec<super::Curve> = known
        .map(|(style, (name, points))| {
            let mark = |(name, share): &Mark| {
                let (ns, _) = points.iter().find(|(_, part)| part >= share)?;
                Some((*name, drawn_at(*share, *ns)))
            };
            let kept = std::iter::once((points[0].0, 0.0)).chain(thinned(points));
            let marked = marks.iter().filter_map(mark).collect();
            let points = kept.map(|(ns, share)| drawn_at(share, ns)).collect();
            super::Curve {
                name: name.into(),
                style,
                trials: 1,
                of: 1,
                observations: 0,
                points,
                marked,
            }
        })
        .collect();
    let mut points = curves.iter().flat_map(|curve| &curve.points);
    let first = points.next()?;
    let mut caption = vec![caption.into()];
    if std::iter::once(first).chain(points).any(|(_, time)| time.point == SHORTEST_DRAWN_NS) {
        caption.push("Times below 1 µs are drawn at 1 µs.".into());
    }
    let response = Cow::Owned(Response::new("time", "time", Unit::Ns, Card::default()));
    let body = Body::Distributions { response, of: "requests", curves };
    let figure = Figure::bare("How long requests took".into(), body);
    let figure = Figure { lines_of: "kind of time".into(), ..figure };
    let drawn = shown(figure, "request-times".into(), None, caption);
    // The tables around it have the numbers.
    Some(Block::Figure(doc::Figure { numbers: None, ..drawn }))
}

/// Returns a place on a curve: a time, and the share of the requests that took no longer.
fn drawn_at(share: f64, ns: u64) -> Quantile {
    let value = (ns as f64).max(SHORTEST_DRAWN_NS);
    (share, Estimate::between(value, value, value))
}

/// Returns the points of a curve that a reader can distinguish.
fn thinned(points: &[(u64, f64)]) -> Curve {
    let mut kept = Curve::new();
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
