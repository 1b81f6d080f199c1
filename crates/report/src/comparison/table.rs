//! The numbers behind a chapter's charts, for those who do not see them or want to sort them.

use super::item::{Item, letter};
use super::opening::direction;
use crate::format::{Parts, Terms, parts, rounded};
use crate::words::{counted, short};
use maud::{Markup, html};
use model::{Estimate, SessionEffect};

/// All numbers of an experiment.
pub(super) fn table(items: &[Item<'_>], sides: usize) -> Markup {
    html! {
        details.behind {
            summary { "The numbers behind these charts: " (counted(items.len() as u64, "row")) }
            div.scroll tabindex="0" role="region" aria-label="all numbers that are compared" {
                table.wide.sortable {
                    thead {
                        tr {
                            th scope="col" { "number" }
                            @for side in 0..sides { th.number scope="col" { (letter(side)) } }
                            @for side in 1..sides {
                                th.number scope="col" { (letter(side)) " against A" }
                                th.number scope="col" { "floor" }
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
                @let effect = item.effects.get(other).and_then(Option::as_ref);
                (against(effect))
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

/// A ratio, its floor, its p-value.
fn against(effect: Option<&SessionEffect>) -> Markup {
    let ratio = effect.and_then(|effect| Some((effect.ratio.as_ref()?, effect.differs)));
    html! {
        @match ratio {
            Some((ratio, differs)) => {
                @let Parts { point, interval } = parts(ratio, Terms::Times);
                td data-v=(sortable(ratio.point)) {
                    @if differs { b { (direction(ratio)) " " (point) } } @else { (point) }
                    @if !interval.is_empty() { " " span.interval { (interval) } }
                }
            },
            None => td { "–" },
        }
        @match effect.and_then(|effect| effect.floor) {
            Some(floor) => td data-v=(sortable(floor)) { (rounded(floor, Terms::Share)) },
            None => td { "–" },
        }
        @match effect.and_then(|effect| effect.p_value) {
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
fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { rounded(p, Terms::Plain) }
}

/// A number as a script reads it; short, since there are many.
fn sortable(x: f64) -> String {
    if x.is_finite() { format!("{x:.4e}") } else { String::new() }
}
