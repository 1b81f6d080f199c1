//! What totals are made of: counts times unit costs, and what they leave over.

use super::Chapter;
use crate::chart::{self, Piece};
use crate::format::{Terms, parts};
use crate::words::{self, short};
use maud::{Markup, html};
use model::{AccountResult, Estimate, PartResult};

/// All accounts of an experiment.
pub(super) fn accounts(chapter: &Chapter<'_>) -> Markup {
    let accounts = &chapter.summary.accounts;
    html! {
        @if !accounts.is_empty() {
            h3 { "What it is made of" }
            p.small {
                @if accounts.iter().all(is_exact) {
                    "Counts times unit costs, computed as the total is. The rest is what the parts \
                     do not explain."
                } @else {
                    "Counts times unit costs, measured in the same blocks as the total and \
                     multiplied block by block. The rest is what the parts do not explain. Each line \
                     has its own centre, so that lines need not add up to the last digit."
                }
            }
            @for account in accounts { (one(chapter, account)) }
        }
    }
}

/// Whether it was computed, not measured.
fn is_exact(account: &AccountResult) -> bool {
    account.total.as_ref().is_some_and(Estimate::is_exact)
}

fn one(chapter: &Chapter<'_>, account: &AccountResult) -> Markup {
    let title = words::capital(&short(&account.title, 200));
    html! {
        figure.figure.account {
            h4 { (title) }
            @if account.total.is_none() {
                @let missing = chapter.missing_account(account);
                (super::note("care", "–", &missing.word, &html! {
                    p { "There is no account: " (short(&missing.why, 1000)) "." }
                }))
            } @else {
                (bar(account))
                div.scroll { (table(account)) }
                @if !account.remark.is_empty() {
                    p.small { (words::capital(&short(&account.remark, 1000))) "." }
                }
            }
        }
    }
}

/// The bar, where the total has shares.
fn bar(account: &AccountResult) -> Markup {
    let pieces: Option<Vec<Piece<'_>>> = account
        .parts
        .iter()
        .map(|part| Some(Piece { label: &part.label, share: part.share? }))
        .collect();
    html! {
        @if let (Some(pieces), Some(rest)) = (pieces, &account.residual_share) {
            (chart::stack(&pieces, rest))
            p.small.stack-about {
                "Upright line: the total. Under the bar: where its parts end"
                @if !is_exact(account) { ", with the 95 % interval" }
                "."
            }
        }
    }
}

fn table(account: &AccountResult) -> Markup {
    let rest = match &account.residual {
        Some(residual) if residual.high < 0.0 => "the rest: its parts are more than the total",
        _ => "the rest: explained by none of these",
    };
    html! {
        table.sums {
            thead {
                tr {
                    th scope="col" { "part" }
                    th.number scope="col" { "count" }
                    th.number scope="col" { "× each" }
                    th.number scope="col" { "= amount" }
                    th.number scope="col" { "share of the total" }
                }
            }
            tbody {
                @for (index, part) in account.parts.iter().enumerate() {
                    (row(account, index, part))
                }
                tr.rest {
                    th scope="row" colspan="3" { (rest) }
                    (amount("product", account.residual.as_ref(), Terms::In(&account.unit)))
                    (amount("share", account.residual_share.as_ref(), Terms::Share))
                }
                tr.total {
                    th scope="row" colspan="3" {
                        "in all" @if !is_exact(account) { ", as measured" }
                    }
                    (amount("product", account.total.as_ref(), Terms::In(&account.unit)))
                    td.number.share { "100 %" }
                }
            }
        }
    }
}

fn row(account: &AccountResult, index: usize, part: &PartResult) -> Markup {
    let unit = Terms::In(&account.unit);
    html! {
        tr {
            th scope="row" { (chart::key(index)) " " (short(&part.label, 120)) }
            (amount("count", part.count.as_ref(), Terms::Plain))
            (amount("each", part.each.as_ref(), unit))
            (amount("product", part.amount.as_ref(), unit))
            (amount("share", part.share.as_ref(), Terms::Share))
        }
    }
}

/// A number with its interval under it. One that was known beforehand, or the same in every block,
/// has none.
fn amount(column: &str, estimate: Option<&Estimate>, terms: Terms<'_>) -> Markup {
    html! {
        td.number.(column) {
            @match estimate {
                None => "–",
                Some(e) => {
                    @let number = parts(e, terms);
                    (number.point)
                    // Above them stands that all are computed.
                    @if !e.is_exact() { " " span.interval { (number.interval) } }
                }
            }
        }
    }
}
