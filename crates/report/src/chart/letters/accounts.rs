//! What a total is made of: its parts laid end to end, with the rest that they leave.

use super::strip::{Strip, colour};
use crate::text::{DIM, Letters, paint};
use anstyle::Style;

/// The widest bar.
const BAR_MAX: usize = 100;

/// What fills parts, in turn; in ASCII their numbers do.
const FILLS: [char; 3] = ['█', '▓', '▒'];

/// How far beyond its total a bar is drawn.
const SPAN_MAX: f64 = 3.0;

/// Returns the bar of the parts of a total, given as shares of it, and under it where the measured total
/// ends.
pub(crate) fn bar(shares: &[f64], letters: Letters, width: usize) -> Vec<String> {
    let cells = width.min(BAR_MAX);
    let (pieces, total) = cut_up(shares, cells);
    let mut strip = Strip::new(cells);
    for at in 0..total {
        strip.put(at, '░', DIM);
    }
    for (index, (from, to)) in pieces.into_iter().enumerate() {
        let digit = char::from_digit((index as u32 + 1) % 10, 10).unwrap_or('#');
        let fill = match letters {
            Letters::Unicode => FILLS[index % FILLS.len()],
            Letters::Ascii => digit,
        };
        for at in from..to {
            strip.put(at, fill, colour(index));
        }
        // Its number in its middle tells it from its neighbours where colours do not.
        if to - from >= 3 {
            strip.put(from.midpoint(to - 1), digit, colour(index).bold());
        }
    }
    let mut under = Strip::new(cells);
    let word = "100 %";
    under.write(total.saturating_sub(word.len()).min(cells - word.len()), word, Style::new());
    vec![strip.painted(), paint(DIM, under.painted().trim_end())]
}

/// Returns the length of a part, which has none where its share is below 0 or no number.
pub(crate) fn length(share: f64) -> f64 {
    if share.is_finite() { share.max(0.0) } else { 0.0 }
}

/// The cells of each part, and where the total ends. Ends are rounded and not lengths, so that
/// the whole is as long as its parts; a part below 0 has no length.
fn cut_up(shares: &[f64], cells: usize) -> (Vec<(usize, usize)>, usize) {
    let sum: f64 = shares.iter().map(|share| length(*share)).sum();
    let span = sum.clamp(1.0, SPAN_MAX);
    let place = |share: f64| (((share / span).min(1.0)) * cells as f64).round() as usize;
    let mut end = 0.0;
    let pieces = shares
        .iter()
        .map(|share| {
            let from = place(end);
            end += length(*share);
            (from, place(end))
        })
        .collect();
    (pieces, place(1.0))
}

#[cfg(test)]
mod tests {
    use super::cut_up;

    #[test]
    fn parts_lie_end_to_end_and_their_ends_are_shares() {
        assert_eq!(cut_up(&[0.5, 0.25], 100), (vec![(0, 50), (50, 75)], 100));
        // Thirds leave no gap, however they are rounded.
        assert_eq!(cut_up(&[1.0 / 3.0; 3], 100), (vec![(0, 33), (33, 67), (67, 100)], 100));
    }

    #[test]
    fn parts_beyond_the_total_stay_inside_and_the_total_lies_among_them() {
        assert_eq!(cut_up(&[1.0, 1.0], 100), (vec![(0, 50), (50, 100)], 50));
        let (pieces, total) = cut_up(&[9e99, f64::NAN, -3.0, 1.0], 60);
        assert!(pieces.iter().all(|(from, to)| from <= to && *to <= 60) && total == 20);
    }
}
