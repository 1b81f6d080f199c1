//! The accounts as stacked bars, one for each n.

use super::{PARTS, meaning};
use crate::chart::{key, percent};
use crate::format::{Terms, joined, parts, rounded};
use crate::words::capital;
use analysis::scaling::loss_words;
use maud::{Markup, html};
use model::{Estimate, ScaleAccount, ScaleLoss};

/// The least share of the width in which a number can be read.
const READABLE: f64 = 0.07;

/// The bars with their key and the table behind them.
pub(super) fn accounts(known: &[(f64, &ScaleAccount)]) -> Markup {
    let present: Vec<(usize, ScaleLoss)> = PARTS
        .iter()
        .map(|(into, _)| *into)
        .enumerate()
        .filter(|(_, into)| {
            known.iter().any(|(_, account)| {
                share(account, *into).is_some_and(|share| share.point.abs() >= 0.005)
            })
        })
        .collect();
    html! {
        figure.figure.accounts {
            h4 { "Where the time of n workers went" }
            ul.legend aria-label="parts of the workers' time" {
                @for (style, into) in &present { li { (key(*style)) " " (loss_words(*into)) } }
            }
            div.bars {
                @for (n, account) in known { (bar(*n, account, &present)) }
            }
            figcaption {
                "Each bar is n times the elapsed time, which is 100 %: the mean of the trials. What \
                 the parts leave over is blank, and in the table."
                @for (_, into) in &present {
                    br; b { (capital(loss_words(*into))) } ": " (meaning(*into)) "."
                }
            }
            details.behind {
                summary { "The numbers behind this chart" }
                div.scroll { (table(known, &present)) }
            }
        }
    }
}

fn share(account: &ScaleAccount, into: ScaleLoss) -> Option<Estimate> {
    account.parts.iter().find(|part| part.into == into).map(|part| part.share)
}

fn bar(n: f64, account: &ScaleAccount, present: &[(usize, ScaleLoss)]) -> Markup {
    let pieces: Vec<(usize, ScaleLoss, Estimate)> = present
        .iter()
        .filter_map(|(style, into)| Some((*style, *into, share(account, *into)?)))
        .collect();
    let told: Vec<String> = pieces
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
        svg.stack.shares width="100%" height="24" role="img" aria-label={ "n " (n) ": " (told.join(", ")) } {
            @for (index, (at, length, style)) in placed.iter().enumerate() {
                @if *length > 0.0 {
                    g class={ "s" (style) } {
                        title { (told[index]) }
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

fn table(known: &[(f64, &ScaleAccount)], present: &[(usize, ScaleLoss)]) -> Markup {
    let cell = |account: &ScaleAccount, into| match share(account, into) {
        Some(share) => joined(&parts(&share, Terms::Share)),
        None => "–".into(),
    };
    html! {
        table {
            thead {
                tr {
                    th scope="col" { "n" }
                    @for (_, into) in present { th.number scope="col" { (loss_words(*into)) } }
                    th.number scope="col" { "sum" }
                    th.number scope="col" { (loss_words(ScaleLoss::Rest)) }
                }
            }
            tbody {
                @for (n, account) in known {
                    tr {
                        th scope="row" { (n) }
                        @for (_, into) in present { td { (cell(account, *into)) } }
                        td { (rounded(account.explained, Terms::Share)) }
                        td { (cell(account, ScaleLoss::Rest)) }
                    }
                }
            }
        }
    }
}
