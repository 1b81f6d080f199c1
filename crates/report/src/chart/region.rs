//! Where a claim says its number lies, and where it does lie: the verdict as a picture.

use super::{Scale, percent};
use maud::{Markup, html};
use model::{Estimate, Region};
use wording::number::Terms;

/// Height of the strip, in pixels.
const HEIGHT: &str = "22";

/// Free space around what is shown, as a share of its span.
const ROOM: f64 = 0.22;

/// Ratios that span more than this are drawn on a logarithmic axis.
const LOG_SPAN: f64 = 4.0;

/// The claim's region shaded, the measured interval over it.
pub(crate) fn strip(estimate: &Estimate, region: Region, terms: Terms<'_>) -> Markup {
    let axis = axis(estimate, region, terms);
    let place = |x: f64| axis.place(x);
    let low = region.low.map_or(0.0, place);
    let high = region.high.map_or(1.0, place);
    let width = (high - low).max(0.012);
    html! {
        svg.region width="100%" height=(HEIGHT) role="img"
            aria-label="the claimed range and the measured interval" {
            line.base x1="0" x2="100%" y1="11" y2="11" {}
            rect.claimed x=(percent(low)) y="3" width=(percent(width)) height="16" rx="2" {}
            line.whisker x1=(percent(place(estimate.low))) x2=(percent(place(estimate.high)))
                y1="11" y2="11" {}
            use.point href="#mark0" x=(percent(place(estimate.point))) y="11" {}
        }
    }
}

/// Returns the axis on which a claim's region and what was measured lie, with room around them.
fn axis(estimate: &Estimate, region: Region, terms: Terms<'_>) -> Scale {
    let ends =
        [Some(estimate.point), Some(estimate.low), Some(estimate.high), region.low, region.high];
    let known = || ends.into_iter().flatten().filter(|x| x.is_finite());
    let (low, high) =
        (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let ratios = matches!(terms, Terms::Times | Terms::In(_) | Terms::Frequency);
    if ratios && low > 0.0 && high / low > LOG_SPAN {
        let room = (high / low).powf(ROOM);
        return Scale::Log { low: low / room, high: high * room, zero: false };
    }
    let room = if high > low { (high - low) * ROOM } else { low.abs().max(1.0) * 0.1 };
    Scale::Linear { low: low - room, high: high + room }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(point: f64, low: f64, high: f64) -> Estimate {
        Estimate { point, low, high, standard_error: None, level: 0.95, samples: 9 }
    }

    #[test]
    fn everything_that_matters_lies_inside_the_strip() {
        let cases = [
            (estimate(7.3, 7.2, 7.7), Region::within(14.8, 17.9), Terms::Times),
            (estimate(173.0, 166.0, 183.0), Region::above(2.0), Terms::Times),
            (estimate(0.0, -1.0, 1.0), Region::below(0.5), Terms::Plain),
            (estimate(1.0, 1.0, 1.0), Region::within(1.0, 1.0), Terms::Share),
        ];
        for (estimate, region, terms) in cases {
            let axis = axis(&estimate, region, terms);
            let ends = [Some(estimate.low), Some(estimate.high), region.low, region.high];
            for x in ends.into_iter().flatten() {
                assert!(axis.place(x) > 0.0 && axis.place(x) < 1.0, "{estimate:?} {region:?} {x}");
            }
            assert!(axis.place(estimate.low) <= axis.place(estimate.point));
        }
    }

    #[test]
    fn an_end_without_limit_lies_at_the_edge() {
        let axis = axis(&estimate(2.0, 1.0, f64::INFINITY), Region::above(1.5), Terms::Times);
        assert_eq!(axis.place(f64::INFINITY), 1.0);
        assert!(axis.place(2.0) < 1.0);
    }

    #[test]
    fn a_refuted_claim_keeps_its_bar_out_of_the_shade() {
        let axis = axis(&estimate(7.3, 7.2, 7.7), Region::within(14.8, 17.9), Terms::Times);
        assert!(axis.place(7.7) < axis.place(14.8));
    }
}
