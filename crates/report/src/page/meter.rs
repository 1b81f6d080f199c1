//! When and how the machine was disturbed during the session.

use crate::Session;
use crate::chart::{self, Meter};
use crate::format::{Terms, count, rounded, value};
use crate::words::{self, counted, short};
use maud::{Markup, html};
use model::Unit;
use std::collections::BTreeMap;

/// Sentences that are told of one session at most, and of each no more than so much.
const RECOGNISED_MAX: usize = 20;
const RECOGNISED_CHARACTERS: usize = 400;

/// Sentences that are told at the top; the others follow under "What disturbed".
const AT_THE_TOP_MAX: usize = 4;

/// What was recognised, briefly, near the top of the page.
pub(super) fn recognised(session: &Session<'_>) -> Markup {
    let all = &session.summary.meter.recognised;
    html! {
        @if !all.is_empty() {
            (super::note("care", "!", "recognised", &html! {
                @for text in all.iter().take(AT_THE_TOP_MAX) {
                    p { (words::capital(&short(text, RECOGNISED_CHARACTERS))) }
                }
                @if all.len() > AT_THE_TOP_MAX {
                    p.small { a href="#trust" { (all.len() - AT_THE_TOP_MAX) " more" } }
                }
            }))
        }
    }
}

/// What disturbed, as a list.
pub(super) fn disturbance(session: &Session<'_>) -> Markup {
    let (harness, meter) = (&session.summary.harness, &session.summary.meter);
    let tags = tags(session);
    let share = |x: f64| rounded(x, Terms::Share);
    let of_time =
        |what: &str, x: Option<f64>| x.filter(|x| *x > 0.0).map(|x| (what.to_string(), share(x)));
    let waits: Vec<(String, String)> = [
        of_time("was stolen by the hypervisor", meter.steal_share),
        of_time("some task waited for a CPU", meter.cpu_pressure_share),
        of_time("a CPU quota held the session back", meter.throttled_share),
    ]
    .into_iter()
    .flatten()
    .collect();
    let nothing = harness.foreign_cpu_share.is_none() && tags.is_empty() && waits.is_empty();
    html! {
        ul {
            @if let Some(foreign) = harness.foreign_cpu_share {
                li { "Others used " b { (share(foreign)) } " of one CPU while trials lived." }
            }
            @for (what, share) in &waits {
                li { b { (share) } " of the trials' time " (what) "." }
            }
            @if let (Some(ns), Some(spread)) = (meter.calibration_ns, meter.calibration_spread) {
                li {
                    "A fixed loop beside each trial took " (value(ns, &Unit::Ns)) " (median); in \
                     the slowest tenth of the trials it took " b { (share(spread)) } " longer than \
                     in the fastest."
                }
            }
            @if meter.tagged > 0 {
                li { b { (count(meter.tagged)) } " of " (counted(harness.trials, "trial"))
                    " carry a tag. They are kept, and every estimate stands with and without them." }
            }
            @for (tag, trials) in tags {
                li { (short(tag, 120)) ": " (counted(trials, "trial")) " of "
                    (count(harness.trials)) ", kept and tagged." }
            }
            @if harness.leaking_trials > 0 {
                li { (counted(harness.leaking_trials, "trial"))
                    " left processes behind, which were killed." }
            }
            @for text in meter.recognised.iter().skip(AT_THE_TOP_MAX).take(RECOGNISED_MAX) {
                li { (words::capital(&short(text, RECOGNISED_CHARACTERS))) }
            }
            @if nothing { li { "Nothing was recorded that disturbed the trials." } }
        }
    }
}

/// Each tag with its trials: as the session's meter counted them, or else by experiment.
fn tags<'a>(session: &Session<'a>) -> BTreeMap<&'a str, u64> {
    let meter = &session.summary.meter;
    let by_experiment = session.experiments().flat_map(|experiment| &experiment.tags);
    let all: Vec<_> =
        if meter.tags.is_empty() { by_experiment.collect() } else { meter.tags.iter().collect() };
    let mut tags = BTreeMap::new();
    for (tag, trials) in all {
        let sum: &mut u64 = tags.entry(tag.as_str()).or_default();
        *sum = sum.saturating_add(*trials);
    }
    tags
}

/// The session over its time, with the table behind it.
pub(super) fn strip(session: &Session<'_>) -> Markup {
    html! {
        @if let Some(meter) = chart::meter(session.records) {
            figure.figure.disturbance {
                h3 { "When the machine was disturbed" }
                (chart::draw_meter(&meter))
                figcaption {
                    "Full: the median of the trials in a stretch of time; pale: the most of any of \
                     them. Shares of the trials' time; what waited may be the trial itself. The top of a lane \
                     is its most. "
                    @if meter.kinds.contains(&chart::MeterKind::Clock) {
                        "The calibration loop is a fixed piece of work just before and after each \
                         trial, told against its median: where it rises, the CPU was slower. "
                    }
                    "Pauses between trials are left out."
                }
                (table(session, &meter))
            }
        }
    }
}

fn table(session: &Session<'_>, meter: &Meter) -> Markup {
    html! {
        details.behind {
            summary { "The numbers behind this chart" }
            div.scroll tabindex="0" role="region" aria-label="disturbance over time" {
                table.wide {
                    thead {
                        tr {
                            th scope="col" { "from" }
                            @for kind in &meter.kinds {
                                th.number scope="col" { (kind.name()) br; "median, most" }
                            }
                            th.number scope="col" { "trials" }
                        }
                    }
                    tbody {
                        @for bin in meter.coarse(session.records) {
                            tr {
                                th scope="row" { (chart::meter_time(bin.from_ns)) }
                                @for (kind, pair) in meter.kinds.iter().zip(&bin.lanes) {
                                    td {
                                        @match pair {
                                            None => "–",
                                            Some((middle, most)) => {
                                                (chart::meter_told(*kind, *middle)) " "
                                                span.interval { (chart::meter_told(*kind, *most)) }
                                            }
                                        }
                                    }
                                }
                                td { (bin.trials) }
                            }
                        }
                    }
                }
            }
        }
    }
}
