//! What became of the time of n workers, as stacked bars, one for each n.

use super::{key, percent};
use crate::doc::Drawing;
use crate::format::{Terms, joined, parts, rounded};
use crate::text::{CARE, paint};
use analysis::scaling::loss_words;
use maud::{Markup, html};
use model::{Estimate, ScaleAccount, ScaleLoss};

/// The least share of the width in which a number can be read.
const READABLE: f64 = 0.07;

/// The parts of accounts in the order in which they are laid end to end, with the letter that
/// stands for each in the terminal.
pub(crate) const PARTS: [(ScaleLoss, char); 7] = [
    (ScaleLoss::Useful, 'u'),
    (ScaleLoss::MoreCpu, 'c'),
    (ScaleLoss::Throttled, 'q'),
    (ScaleLoss::Waiting, 'w'),
    (ScaleLoss::Blocked, 'b'),
    (ScaleLoss::Absent, 'a'),
    (ScaleLoss::OffCpu, 'o'),
];

/// The columns of a bar's name and of its sum.
const NAME: usize = 8;
const SUM: usize = 12;

/// A bar for each number of workers, of the parts that matter.
pub(crate) struct Workers<'a> {
    pub(crate) known: Vec<(f64, &'a ScaleAccount)>,
    /// The parts that are not nothing everywhere, by their place in [`PARTS`].
    pub(crate) present: Vec<(usize, ScaleLoss)>,
}

impl Drawing for Workers<'_> {
    fn svg(&self) -> Markup {
        html! {
            ul.legend aria-label="parts of the workers' time" {
                @for (style, into) in &self.present { li { (key(*style)) " " (loss_words(*into)) } }
            }
            div.bars {
                @for (n, account) in &self.known { (bar(*n, account, &self.present)) }
            }
        }
    }

    fn letters(&self, width: usize) -> Vec<String> {
        let room = width.saturating_sub(NAME + SUM).clamp(10, 60);
        let line = |(n, account): &(f64, &ScaleAccount)| {
            let name = format!("n {n}");
            let sum = rounded(account.explained, Terms::Share);
            format!("{name:<NAME$}{} = {sum}", paint(CARE, &lettered(account, room)))
        };
        self.known.iter().map(line).collect()
    }
}

/// Returns a bar whose letters are shares of the whole; what is left over is dots.
fn lettered(account: &ScaleAccount, room: usize) -> String {
    let mut bar = String::new();
    let mut end = 0.0;
    for (into, letter) in PARTS {
        end += share(account, into).map_or(0.0, |share| share.point.max(0.0));
        let until = ((end * room as f64).round() as usize).min(room);
        while bar.len() < until {
            bar.push(letter);
        }
    }
    format!("{bar:.<room$}")
}

/// Returns the share of a part, with its interval.
pub(crate) fn share(account: &ScaleAccount, into: ScaleLoss) -> Option<Estimate> {
    account.parts.iter().find(|part| part.into == into).map(|part| part.share)
}

fn bar(n: f64, account: &ScaleAccount, present: &[(usize, ScaleLoss)]) -> Markup {
    let pieces: Vec<(usize, ScaleLoss, Estimate)> = present
        .iter()
        .filter_map(|(style, into)| Some((*style, *into, share(account, *into)?)))
        .collect();
    let described: Vec<String> = pieces
        .iter()
        .map(|(_, into, share)| {
            format!("{} {}", loss_words(*into), joined(&parts(share, Terms::Share)))
        })
        .collect();
    let sum: f64 = pieces.iter().map(|(_, _, share)| share.point.max(0.0)).sum();
    let whole = sum.max(1.0);
    let mut from = 0.0;
    let placed: Vec<(f64, f64, usize)> = pieces
        .iter()
        .map(|(style, _, share)| {
            let length = share.point.max(0.0) / whole;
            let at = from;
            from += length;
            (at, length, *style)
        })
        .collect();
    html! {
        span.bar-name { "n " (n) }
        svg.stack.shares width="100%" height="24" role="img" aria-label={ "n " (n) ": " (described.join(", ")) } {
            @for (index, (at, length, style)) in placed.iter().enumerate() {
                @if *length > 0.0 {
                    g class={ "s" (style) } {
                        title { (described[index]) }
                        rect.piece x=(percent(*at)) y="1" width=(percent(*length)) height="22" {}
                        @if *length >= READABLE {
                            text.piece-number x=(percent(at + length / 2.0)) y="16.5" text-anchor="middle" {
                                (rounded(length * whole, Terms::Share))
                            }
                        }
                    }
                }
            }
        }
    }
}
