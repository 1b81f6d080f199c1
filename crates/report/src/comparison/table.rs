//! The numbers behind a chapter's charts, for those who do not see them or want to sort them.

use super::found::{Found, Size};
use super::item::Item;
use super::opening::{self, size};
use crate::format::{Parts, Terms, parts, rounded};
use crate::words::{counted, letter, short};
use maud::{Markup, html};
use model::Estimate;

/// All numbers of an experiment.
pub(super) fn table(items: &[Item<'_>], sides: usize) -> Markup {
    html! {
        details.behind {
            summary { "The numbers behind these charts: " (counted(items.len() as u64, "row")) }
            div.scroll tabindex="0" role="region" aria-label="all numbers that are compared" {
                table.wide {
                    thead {
                        tr {
                            th scope="col" { "number" }
                            @for side in 0..sides { th.number scope="col" { (letter(side)) } }
                            @for side in 1..sides {
                                th.number scope="col" { (letter(side)) " against A" }
                                th.number scope="col" { "floor" }
                                th.number scope="col" { "floor of the verdict" }
                                th.number scope="col" { "p" }
                            }
                            th scope="col" { "remark" }
                        }
                    }
                    tbody { @for item in items { (row(item, sides)) } }
                }
            }
            p.small {
                "p is two-sided and before Holm's correction; ▲ and ▼ are after it. A click on a \
                 heading sorts."
            }
        }
    }
}

fn row(item: &Item<'_>, sides: usize) -> Markup {
    html! {
        tr {
            th scope="row" { bdi { (item.full_name()) } }
            @for side in 0..sides {
                @match item.values.get(side).copied().flatten() {
                    Some(value) => (estimate(&value, item.terms())),
                    None => td { "–" },
                }
            }
            @for other in 0..sides.saturating_sub(1) {
                (against(item.found(other).as_ref(), item.terms()))
            }
            td.remark { (remarks(item)) }
        }
    }
}

fn estimate(value: &Estimate, terms: Terms<'_>) -> Markup {
    let Parts { point, interval } = parts(value, terms);
    html! {
        td data-v=(sortable(value.point)) { (point) @if !interval.is_empty() { " " span.interval { (interval) } } }
    }
}

/// What a side is against the base, its floors, its p-value. A difference that is no ratio is
/// sorted with what is no number: it is in other terms.
fn against(found: Option<&Found<'_>>, terms: Terms<'_>) -> Markup {
    let Some(found) = found else {
        return html! { td { "–" } td { "–" } td { "–" } td { "–" } };
    };
    let Parts { point, interval } = size(found, terms);
    let key = match found.size {
        Size::Ratio(ratio) => sortable(ratio.point),
        Size::Difference(_) | Size::Unformed => String::new(),
    };
    let floor = |floor: Option<f64>| {
        html! {
            @match floor {
                Some(floor) => td data-v=(sortable(floor)) { (opening::floor(found, floor, terms)) },
                None => td { "–" },
            }
        }
    };
    html! {
        td data-v=(key) {
            @if found.effect.differs { b { (found.direction()) " " (point) } } @else { (point) }
            @if !interval.is_empty() { " " span.interval { (interval) } }
        }
        (floor(found.effect.floor))
        (floor(found.effect.floor_of_verdict))
        @match found.effect.p_value {
            Some(p) => td data-v=(sortable(p)) { (probability(p)) },
            None => td { "–" },
        }
    }
}

/// Why a number is missing or to be doubted; what several sides share is said once.
fn remarks(item: &Item<'_>) -> String {
    let mut said: Vec<(String, &str)> = Vec::new();
    for (other, effect) in item.effects.iter().enumerate() {
        let remark = effect.as_ref().map_or("not measured on both", |effect| &effect.remark);
        if remark.is_empty() {
            continue;
        }
        match said.iter_mut().find(|(_, known)| *known == remark) {
            Some((letters, _)) => letters.push_str(&format!(", {}", letter(other + 1))),
            None => said.push((letter(other + 1), remark)),
        }
    }
    let alone = item.effects.len() == 1;
    let told: Vec<String> = said
        .into_iter()
        .map(|(letters, remark)| match alone {
            true => short(remark, 300),
            false => format!("{letters}: {}", short(remark, 300)),
        })
        .collect();
    told.join("; ")
}

/// A p-value; below a thousandth its size says nothing more.
pub(crate) fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { rounded(p, Terms::Plain) }
}

/// A number as a script reads it; short, since there are many.
fn sortable(x: f64) -> String {
    if x.is_finite() { format!("{x:.4e}") } else { String::new() }
}
