//! The page: the nodes first, then the machines against each other.

use super::words;
use crate::comparison;
use crate::format::{Parts, parts, terms_of};
use crate::page::{document_of, note};
use crate::words::{counted, short};
use maud::{Markup, html};
use model::{ComparedQuantity, Estimate, FleetResult, NodeResult, NodeStanding, Spread};

/// See [`crate::fleet_html`].
pub(crate) fn page(result: &FleetResult) -> String {
    let title = format!("scruple · a fleet of {}", counted(result.nodes.len() as u64, "node"));
    let opening = html! {
        header.opening {
            p.eyebrow { "scruple · a fleet" }
            h1 { (words::head(result)) }
            p.small { (plan(result)) }
            @for sentence in words::same_machines(result) {
                (note("care", "!", "one machine", &html! { p { (sentence) } }))
            }
        }
        (nodes(result))
        (side_by_side(result))
        (spreads(result))
        (outliers(result))
    };
    let body = match &result.comparison {
        Some(comparison) => comparison::body(comparison, &opening),
        None => html! {
            main.comparison {
                (opening)
                p { "Fewer than two nodes have a session that could be taken: nothing is held against \
                     anything." }
            }
        },
    };
    document_of(&result.scruple, &title, &body, comparison::STYLE)
}

/// What every node was to measure, in a sentence.
fn plan(result: &FleetResult) -> String {
    let plan = &result.plan;
    let what = match plan.experiments.as_slice() {
        [] => "all experiments".to_string(),
        some => some.iter().map(|name| short(name, 60)).collect::<Vec<_>>().join(", "),
    };
    format!("Each node: {what}, profile {}, seed {}.", plan.profile.name(), plan.seed)
}

fn nodes(result: &FleetResult) -> Markup {
    html! {
        section aria-labelledby="nodes" {
            h2 #nodes { "The nodes" }
            div.scroll tabindex="0" role="region" aria-label="what became of each node" {
                table.wide {
                    thead {
                        tr {
                            th scope="col" { "node" } th scope="col" { "what became of it" }
                            th scope="col" { "attempt" } th scope="col" { "machine" }
                            th scope="col" { "CPUs" } th scope="col" { "to be doubted" }
                        }
                    }
                    tbody { @for node in &result.nodes { (row(node)) } }
                }
            }
        }
    }
}

fn row(node: &NodeResult) -> Markup {
    let (mark, word) = words::standing(node.standing);
    let class = match node.standing {
        NodeStanding::Complete => "supported",
        NodeStanding::Waiting | NodeStanding::Running => "inconclusive",
        _ => "refuted",
    };
    html! {
        tr {
            th scope="row" { bdi { (short(&node.name, 80)) } }
            td.(class) {
                span.verdict { (mark) " " (word) }
                @if !node.reason.is_empty() { p.small { (short(&node.reason, 300)) } }
            }
            td { (words::attempt(node)) }
            td {
                @if !node.kind.is_empty() { bdi { (short(&node.host, 60)) } " · " (short(&node.kind, 120)) }
            }
            td {
                @match node.owns_all_cpus {
                    Some(true) => "all of the node's",
                    Some(false) => b { "not all of the node's" },
                    None => "–",
                }
            }
            td.remark { @for doubt in node.doubts.iter().take(10) { p.small { (short(doubt, 400)) } } }
        }
    }
}

/// Every finding on every node whose session was taken, with its interval.
fn side_by_side(result: &FleetResult) -> Markup {
    let Some(comparison) = &result.comparison else {
        return html! {};
    };
    html! {
        section aria-labelledby="side-by-side" {
            h2 #side-by-side { "Side by side" }
            p { "What each experiment asks, on each node, with its 95 % interval over trials." }
            div.scroll tabindex="0" role="region" aria-label="every finding on every node" {
                table.wide {
                    thead {
                        tr {
                            th scope="col" { "finding" }
                            @for side in &comparison.sides {
                                th.number scope="col" { bdi { (short(&side.name, 40)) } }
                            }
                        }
                    }
                    tbody {
                        @for experiment in &comparison.experiments {
                            @for finding in &experiment.findings {
                                tr {
                                    th scope="row" {
                                        bdi { (short(&experiment.id, 60)) } ": "
                                        (short(&crate::words::without_number(&finding.sentence), 300))
                                    }
                                    @for value in &finding.values { (value_cell(finding, value.as_ref())) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn value_cell(finding: &ComparedQuantity, value: Option<&Estimate>) -> Markup {
    let Some(value) = value else {
        return html! { td { "–" } };
    };
    let Parts { point, interval } =
        parts(value, terms_of(&finding.quantity, finding.unit.as_ref()));
    html! {
        td data-v=(format!("{:.4e}", value.point)) {
            (point) @if !interval.is_empty() { " " span.interval { (interval) } }
        }
    }
}

fn spreads(result: &FleetResult) -> Markup {
    if result.spreads.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="spread" {
            h2 #spread { "How far machines of one kind lie apart" }
            p {
                "Each finding is one number per machine, with its own uncertainty. The spread is the \
                 standard deviation of these numbers, relative where all are positive (of their \
                 logarithms). What noise alone would make is the root mean square of their standard \
                 errors; what is left is the machines', or what changes from one session to the next: \
                 one session per machine cannot tell these two apart."
            }
            @for (at, kind) in result.kinds.iter().enumerate() {
                @let own: Vec<&Spread> =
                    result.spreads.iter().filter(|spread| spread.kind as usize == at).collect();
                @if !own.is_empty() {
                    h3 { (kind.machines) " machines: " (short(&kind.kind, 200)) }
                    div.scroll tabindex="0" role="region" aria-label="spreads between machines" {
                        table.wide {
                            thead {
                                tr {
                                    th scope="col" { "finding" }
                                    th.number scope="col" { "machines" }
                                    th.number scope="col" { "smallest to largest" }
                                    th.number scope="col" { "spread" }
                                    th.number scope="col" { "of noise alone" }
                                    th.number scope="col" { "left for the machines" }
                                }
                            }
                            tbody { @for spread in own { (spread_row(spread)) } }
                        }
                    }
                }
            }
        }
    }
}

fn spread_row(spread: &Spread) -> Markup {
    let number = |x: Option<f64>| match x {
        Some(x) => html! { td data-v=(format!("{x:.4e}")) { (words::deviation(spread, x)) } },
        None => html! { td { "–" } },
    };
    html! {
        tr {
            th scope="row" { bdi { (short(&spread.experiment, 60)) } ": " (words::finding(spread)) }
            td data-v=(spread.machines) { (spread.machines) }
            td { (words::range(spread)) }
            (number(Some(spread.seen)))
            (number(spread.expected))
            (number(spread.between))
        }
    }
}

fn outliers(result: &FleetResult) -> Markup {
    if result.comparison.is_none() && result.spreads.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="outliers" {
            h2 #outliers { "Which machine is none like the others" }
            p { (words::rule(result)) }
            @if !result.outliers.found.is_empty() {
                ul { @for one in &result.outliers.found { li { (words::outlier(result, one)) } } }
            }
            p.small { "The rule: " (short(&result.outliers.rule, 500)) "." }
        }
    }
}
