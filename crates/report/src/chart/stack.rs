//! What a total is made of: its parts laid end to end, with the rest that they leave.

use super::letters::accounts::{bar, length};
use super::{STYLES, percent, px, style_class};
use crate::doc::Drawing;
use crate::text::Letters;
use maud::{Markup, html};
use model::Estimate;
use wording::number::{Terms, estimate, rounded};
use wording::short;

/// Where the bar begins and ends, and where the interval of its end lies under it, in pixels.
const TOP: f64 = 2.0;
const BOTTOM: f64 = 28.0;
const UNDER: f64 = 36.0;
const HEIGHT: f64 = 44.0;

/// The least share of the width in which a number can be read.
const READABLE: f64 = 0.045;

/// A small bar in a table: its beginning and end in pixels, and the least share for a number.
const SMALL: (f64, f64) = (1.0, 19.0);
const SMALL_READABLE: f64 = 0.1;

/// A total of 1 with its parts and what they leave over. Parts are numbered as the rows of the table
/// beside it are; one below 0 has no length.
pub(crate) struct Stack {
    pub(crate) parts: Vec<(String, Estimate)>,
    pub(crate) rest: Estimate,
    pub(crate) letters: Letters,
}

impl Drawing for Stack {
    fn svg(&self) -> Markup {
        let rest = &self.rest;
        let lengths: Vec<f64> = self.parts.iter().map(|(_, share)| length(share.point)).collect();
        let end: f64 = lengths.iter().sum();
        // The parts may be more than the total; then the line of the total lies within them.
        let (early, late) = (1.0 - rest.high, 1.0 - rest.low);
        let span = [1.0, end, length(late).min(3.0)].into_iter().fold(0.0, f64::max) * 1.01;
        let place = |share: f64| percent((share / span).clamp(0.0, 1.0));
        let lengths: Vec<f64> = lengths.iter().map(|length| length / span).collect();
        let described: Vec<String> =
            self.parts.iter().map(|(label, share)| described(label, share)).collect();
        let all = format!(
            "Of the total: {}; {}.",
            described.join(", "),
            self::described("the rest", rest)
        );
        html! {
            svg.stack width="100%" height=(px(HEIGHT)) role="img" aria-label=(all) {
                (pieces(&lengths, &described, (TOP, BOTTOM), READABLE))
                @if end < 1.0 {
                    rect.rest x=(place(end)) y=(px(TOP)) width=(place(1.0 - end)) height=(px(BOTTOM - TOP)) {}
                    @if (1.0 - end) / span >= 2.0 * READABLE {
                        text x=(place(f64::midpoint(1.0, end))) y="19.5" text-anchor="middle" { "rest" }
                    }
                }
                line.total x1=(place(1.0)) x2=(place(1.0)) y1="0" y2=(px(BOTTOM + 2.0)) {}
                line.ends x1=(place(early)) x2=(place(late)) y1=(px(UNDER)) y2=(px(UNDER)) {}
                line.ends x1=(place(1.0 - rest.point)) x2=(place(1.0 - rest.point)) y1=(px(UNDER - 4.0)) y2=(px(UNDER + 4.0)) {}
            }
        }
    }

    fn letters(&self, width: usize) -> Vec<String> {
        let shares: Vec<f64> = self.parts.iter().map(|(_, share)| share.point).collect();
        bar(&shares, self.letters, width)
    }
}

/// Draws a small bar of numbered parts of a whole, each with its name; one that is not known has no
/// length, and the others are divided by their sum.
pub(crate) fn shares(parts: &[Option<f64>], names: &[&str]) -> Markup {
    let lengths: Vec<f64> = parts.iter().map(|part| part.map_or(0.0, length)).collect();
    let sum: f64 = lengths.iter().sum();
    let lengths: Vec<f64> = lengths.iter().map(|length| length / sum).collect();
    let known = parts.iter().zip(&lengths).map(|(part, length)| part.map(|_| *length));
    let described = names.iter().zip(known).map(|(name, part)| match part {
        Some(part) => format!("{name} {}", rounded(part, Terms::Share)),
        None => format!("{name} not known"),
    });
    let described: Vec<String> = described.collect();
    html! {
        @if sum > 0.0 && sum.is_finite() {
            svg.stack.shares width="100%" height="20" role="img" aria-label=(described.join(", ")) {
                (pieces(&lengths, &described, SMALL, SMALL_READABLE))
            }
        }
    }
}

/// Draws parts end to end. Lengths are shares of the width; each part is described where it is pointed
/// at, and has its number where its length is at least `readable`.
fn pieces(
    lengths: &[f64],
    described: &[String],
    (top, bottom): (f64, f64),
    readable: f64,
) -> Markup {
    let mut from = 0.0;
    html! {
        @for (index, (length, described)) in lengths.iter().zip(described).enumerate() {
            @if *length > 0.0 {
                g class=(style_class(index)) {
                    title { (described) }
                    rect.piece x=(percent(from)) y=(px(top)) width=(percent(*length)) height=(px(bottom - top)) {}
                    @if *length >= readable {
                        text.piece-number x=(percent(from + length / 2.0)) y=(px(f64::midpoint(top, bottom) + 4.5))
                            text-anchor="middle" { (index + 1) }
                    }
                }
            }
            ({ from += length; "" })
        }
    }
}

fn described(label: &str, share: &Estimate) -> String {
    format!("{} {}", short(label, 120), estimate(share, Terms::Share))
}

/// The colour and the number by which a row of the table is known in the bar.
pub(crate) fn key(index: usize) -> Markup {
    html! { span.key.(style_class(index % STYLES)) aria-hidden="true" { (index + 1) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(point: f64) -> Estimate {
        let (low, high) = (point - 0.02, point + 0.02);
        Estimate { point, low, high, standard_error: None, level: 0.95, samples: 9 }
    }

    fn drawn(shares: &[f64]) -> String {
        let parts = shares.iter().map(|&point| ("part".into(), share(point))).collect();
        let rest = share(1.0 - shares.iter().sum::<f64>());
        Stack { parts, rest, letters: Letters::Unicode }.svg().into_string()
    }

    /// The widths of the bar's pieces and of its rest, in per cent.
    fn widths(svg: &str) -> Vec<f64> {
        svg.split("<rect")
            .skip(1)
            .filter_map(|rect| {
                let width = rect.split("width=\"").nth(1)?.split('%').next()?;
                width.parse().ok()
            })
            .collect()
    }

    #[test]
    fn lengths_are_shares_of_the_total() {
        let found = widths(&drawn(&[0.5, 0.25]));
        assert_eq!(found.len(), 3);
        for (width, share) in found.iter().zip([0.5, 0.25, 0.25]) {
            assert!((width / 100.0 - share / 1.01).abs() < 1e-3, "{found:?}");
        }
    }

    #[test]
    fn a_small_bar_is_filled_whatever_its_parts_add_up_to() {
        let svg = shares(&[None, Some(0.3), Some(0.1)], &["a", "b", "c"]).into_string();
        assert_eq!(widths(&svg), [75.0, 25.0]);
        assert!(svg.contains("aria-label=\"a not known, b 75 %, c 25 %\""), "{svg}");
        assert_eq!(shares(&[Some(0.0), Some(f64::NAN)], &["a", "b"]).into_string(), "");
    }

    #[test]
    fn parts_beyond_the_total_have_no_rest_and_stay_inside() {
        let svg = drawn(&[0.9, 0.4]);
        let found = widths(&svg);
        assert_eq!(found.len(), 2);
        assert!(found.iter().sum::<f64>() <= 100.0);
        // The line of the total stands within the bar.
        assert!(svg.contains("x1=\"75."), "{svg}");
    }

    #[test]
    fn a_part_below_zero_has_no_length_and_is_told_in_words() {
        let svg = drawn(&[-0.1, 0.6]);
        assert_eq!(widths(&svg).len(), 2);
        assert!(svg.contains("part −10 % [−12, −8]"), "{svg}");
    }
}
