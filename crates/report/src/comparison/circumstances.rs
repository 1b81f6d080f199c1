//! What stands around the numbers: gates, facts that differ, and the control across sessions.

use super::opening::{badge, rests_on};
use super::sentence;
use super::table::probability;
use crate::format::{Terms, parts, ratio, rough};
use crate::page::note;
use crate::words::{LABEL_CHARACTERS_MAX, letter, short};
use maud::{Markup, html};
use model::{Comparison, FactRow, GateLook, GateOutcome, GateResult, Replication, Weight};

/// Comparisons that are listed of each gate.
const LOOKS_MAX: usize = 20;

/// Facts that are listed.
const FACTS_MAX: usize = 100;

/// What became of the conditions.
pub(super) fn gates(comparison: &Comparison) -> Markup {
    if comparison.gates.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="gates" {
            h2 #gates { "The conditions" }
            @for gate in &comparison.gates {
                @let (kind, mark, word) = outcome(gate.outcome);
                (note(kind, mark, word, &html! {
                    p { code { (short(&gate.condition, 300)) } }
                    p { (sentence(&gate.reason)) }
                    (looks(gate))
                }))
            }
        }
    }
}

/// Kind, mark and word of an outcome.
fn outcome(outcome: GateOutcome) -> (&'static str, &'static str, &'static str) {
    match outcome {
        GateOutcome::Fine => ("good", "✓", "fine"),
        GateOutcome::CannotTell => ("care", "?", "cannot tell"),
        GateOutcome::Regression => ("bad", "✗", "regression"),
    }
}

fn looks(gate: &GateResult) -> Markup {
    let all = &gate.looked_at;
    if all.is_empty() {
        return html! {};
    }
    html! {
        details.behind {
            summary { "What it looked at: " (crate::words::counted(all.len() as u64, "comparison")) }
            div.scroll {
                table {
                    thead {
                        tr {
                            th scope="col" { "found" }
                            th scope="col" { "experiment" }
                            th scope="col" { "response" }
                            th scope="col" { "treatment" }
                            th scope="col" { "side" }
                            th.number scope="col" { "against A" }
                            th.number scope="col" { "p" }
                        }
                    }
                    tbody { @for look in all.iter().take(LOOKS_MAX) { (one_look(look)) } }
                }
            }
            @if all.len() > LOOKS_MAX {
                p.small { "And " (all.len() - LOOKS_MAX) " that are less severe." }
            }
        }
    }
}

fn one_look(look: &GateLook) -> Markup {
    let (_, mark, word) = outcome(look.outcome);
    html! {
        tr {
            th scope="row" { (mark) " " (word) }
            td { (short(&look.experiment, 80)) }
            td { (short(&look.response, 80)) }
            td { (short(&look.treatment.to_string(), LABEL_CHARACTERS_MAX)) }
            td { (letter(look.side)) }
            td.number { @match &look.ratio { Some(found) => (ratio(found)), None => "–" } }
            td.number { (look.p_value.map_or_else(|| "–".into(), probability)) }
        }
    }
}

/// Facts that are not the same on all sides, the most harmful first.
pub(super) fn facts(comparison: &Comparison) -> Markup {
    let mut facts: Vec<&FactRow> = comparison.facts.iter().collect();
    facts.sort_by_key(|fact| std::cmp::Reverse(fact.weight));
    html! {
        section aria-labelledby="facts" {
            h2 #facts { "What else is not the same" }
            @if !comparison.alike.is_empty() {
                p {
                    @for (index, alike) in comparison.alike.iter().take(FACTS_MAX).enumerate() {
                        @if index > 0 { " " }
                        (sentence(alike))
                    }
                }
            }
            @if facts.is_empty() {
                p { "No recorded fact differs between the sides." }
            } @else {
                div.scroll tabindex="0" role="region" aria-label="facts that differ" {
                    table.differing-facts {
                        thead {
                            tr {
                                th scope="col" { "fact" }
                                @for side in 0..comparison.sides.len() {
                                    th scope="col" { (badge(side)) }
                                }
                                th scope="col" { "what it does to the comparison" }
                            }
                        }
                        tbody {
                            @for fact in facts.iter().take(FACTS_MAX) { (fact_row(comparison, fact)) }
                        }
                    }
                }
                @if facts.len() > FACTS_MAX {
                    p.small { "And " (facts.len() - FACTS_MAX) " more." }
                }
            }
        }
    }
}

fn fact_row(comparison: &Comparison, fact: &FactRow) -> Markup {
    let (kind, mark, what) = match fact.weight {
        Weight::Invalid => ("bad", "✗", "makes numbers incomparable"),
        Weight::Nuisance => ("care", "!", "moves numbers, unasked"),
        Weight::Subject => ("plain", "·", "may be what is compared"),
    };
    html! {
        tr {
            th scope="row" { (short(&fact.name, 80)) }
            @for side in 0..comparison.sides.len() {
                @let value = fact.values.get(side).map(String::as_str).unwrap_or_default();
                td data-side=(letter(side)) { @if value.is_empty() { span.quiet { "not recorded" } }
                     @else { bdi { (short(value, 300)) } } }
            }
            td.weight.(kind) { (mark) " " (what) }
        }
    }
}

/// The same computation on all sides.
pub(super) fn controls(comparison: &Comparison) -> Markup {
    html! {
        section aria-labelledby="control" {
            h2 #control { "The control across sessions" }
            p {
                "The experiment " code { "null" } " times one and the same computation. Where it "
                "differs between sides, the machine was faster or slower as a whole, and every time "
                "below has its share of that."
            }
            @for other in 0..comparison.sides.len().saturating_sub(1) {
                (control(comparison, other))
            }
        }
    }
}

fn control(comparison: &Comparison, other: usize) -> Markup {
    let side = letter(other + 1);
    let effect = comparison.controls.get(other).and_then(Option::as_ref);
    let Some(effect) = effect else {
        return note(
            "care",
            "?",
            "not known",
            &html! {
                p { "A or " (side) " did not measure the control." }
            },
        );
    };
    let (kind, mark, word) = match (&effect.ratio, effect.differs) {
        (None, _) => ("care", "?", "not known"),
        (Some(_), true) => ("care", "!", "differs"),
        (Some(_), false) => ("good", "✓", "no difference"),
    };
    note(
        kind,
        mark,
        word,
        &html! {
            p {
                @match &effect.ratio {
                    Some(found) => {
                        (side) " against A: " (parts(found, Terms::Times).point) " "
                    span.interval { (parts(found, Terms::Times).interval) }
                        @if let Some(floor) = effect.floor {
                            ", floor " (rough(floor, Terms::Share))
                        }
                        "."
                    },
                    None => { (side) " against A: no number." },
                }
                @if !effect.remark.is_empty() { " " (sentence(&effect.remark)) }
            }
            p.small {
                (rests_on(
                    effect.unit_of_replication == Replication::Trials,
                    effect.unit_of_replication == Replication::Sessions,
                ))
            }
        },
    )
}
