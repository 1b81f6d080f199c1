//! What a command lives on: its elasticities, ranked, and what each strength of a squeeze did.

use super::note;
use crate::Session;
use crate::format::{Terms, joined, parts};
use crate::say::chapter::Chapter;
use crate::why::{MEANING, RESIDUAL, control, counted, evidence};
use crate::words::{capital, short};
use maud::{Markup, html};
use model::{Dose, Estimate, SqueezeResult, Why};

/// Height of a row, and of the picture of the strengths, in pixels.
const ROW_PX: f64 = 30.0;
const DOSES_PX: f64 = 264.0;

/// What is left free around the picture of the strengths, as parts of it.
const LEFT: f64 = 0.09;
const RIGHT: f64 = 0.96;
const TOP_PX: f64 = 14.0;
const BOTTOM_PX: f64 = 208.0;

/// The answer to what an experiment asks of a command; `None` for any other experiment.
pub(crate) fn of(session: &Session<'_>, chapter: &Chapter<'_>) -> Option<Why> {
    chapter.design?.subject.as_ref()?.squeeze.as_ref()?;
    crate::why::of(session)
}

/// The answer with its pictures and its table.
pub(super) fn squeezes(why: &Why) -> Markup {
    html! {
        p.answer { (why.answer) }
        p.small { (evidence(why)) }
        @for warning in &why.warnings {
            (note("care", "!", "Care", &html! { (short(warning, 1000)) }))
        }
        h3 { "What its time depends on" }
        (ranked(why))
        p.small { (MEANING) }
        @if why.squeezes.iter().any(|one| !shown(one).is_empty()) {
            h3 { "How strongly each was squeezed, and what came of it" }
            (strengths(why))
        }
        (table(why))
        ul.small {
            @for not in &why.not_squeezed {
                li { "Not squeezed: " (not.resource.words()) ": " (short(&not.reason, 600)) }
            }
            @for text in control(why).chain(counted(why)) { li { (capital(&text)) } }
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

/// A bar for each resource, with its interval.
fn ranked(why: &Why) -> Markup {
    let known = || {
        why.squeezes.iter().filter_map(|one| one.elasticity.as_ref()).chain(why.residual.as_ref())
    };
    // Room for the longest interval, but not for one that says nothing.
    let low = known().map(|e| e.low).fold(-0.1_f64, f64::min).max(-0.5);
    let high = known().map(|e| e.high).fold(1.1_f64, f64::max).min(2.0);
    let across = move |e: f64| ((e - low) / (high - low)).clamp(0.0, 1.0);
    let rows = why.squeezes.iter().enumerate().map(|(index, one)| {
        let kind = if one.stands { "stands" } else { "open" };
        (capital(one.resource.words()), one.elasticity.as_ref(), format!("squeeze-{index} {kind}"))
    });
    let rest = why.residual.as_ref().map(|it| (RESIDUAL.to_string(), Some(it), "rest".to_string()));
    html! {
        div.squeezes role="img" aria-label="Chart: elasticities of the command's time, ranked; the \
                                            table below holds the same numbers." {
            @for (label, e, kind) in rows.chain(rest) {
                div.squeeze {
                    div.squeeze-label { (label) }
                    svg.squeeze-bar.(kind) height=(ROW_PX) {
                        @for at in [0.0, 0.5, 1.0] {
                            line.squeeze-grid x1=(percent(across(at))) x2=(percent(across(at)))
                                y1="0" y2="100%" {}
                        }
                        @if let Some(e) = e { (bar(e, &across)) }
                    }
                    div.squeeze-value {
                        @match e {
                            Some(e) => { @let number = parts(e, Terms::Plain);
                                b { (number.point) } " " span.interval { (number.interval) } }
                            None => span.quiet { "too little taken" },
                        }
                    }
                }
            }
            div.squeeze.squeeze-axis {
                div.squeeze-label {}
                svg.squeeze-bar height="18" {
                    @for (at, word) in [(0.0, "0"), (0.5, "0.5"), (1.0, "1")] {
                        text x=(percent(across(at))) y="13" { (word) }
                    }
                }
                div.squeeze-value.unit { "elasticity" }
            }
        }
    }
}

fn bar(e: &Estimate, across: &impl Fn(f64) -> f64) -> Markup {
    let (zero, end) = (across(0.0), across(e.point));
    html! {
        rect.squeeze-fill x=(percent(zero.min(end))) width=(percent((end - zero).abs()))
            y="8" height=(ROW_PX - 16.0) {}
        line.squeeze-interval x1=(percent(across(e.low))) x2=(percent(across(e.high)))
            y1=(ROW_PX / 2.0) y2=(ROW_PX / 2.0) {}
    }
}

/// The strengths of a squeeze that can be drawn: part taken and slowing, of both the estimates.
fn shown(one: &SqueezeResult) -> Vec<(&Dose, &Estimate, &Estimate)> {
    let both = |dose| -> Option<(&Dose, &Estimate, &Estimate)> {
        let dose: &Dose = dose;
        Some((dose, dose.taken.as_ref()?, dose.slower.as_ref()?))
    };
    one.doses.iter().filter_map(both).filter(|(_, taken, _)| taken.point < 0.99).collect()
}

/// Each strength as a dot: what was taken across, how much longer it took upwards.
fn strengths(why: &Why) -> Markup {
    let all: Vec<_> = why.squeezes.iter().flat_map(shown).collect();
    let most = |of: &dyn Fn(&(&Dose, &Estimate, &Estimate)) -> f64, least: f64| {
        all.iter().map(of).fold(least, f64::max)
    };
    let taken_max = (most(&|it| it.1.high.min(0.95), 0.3) * 20.0).ceil() / 20.0;
    let slower_max = (most(&|it| it.2.high.min(1.5 * it.2.point), 1.2) * 10.0).ceil() / 10.0;
    let x = move |part: f64| LEFT + (RIGHT - LEFT) * (part / taken_max).clamp(0.0, 1.0);
    let y = move |ratio: f64| {
        let place = (ratio.max(0.5).ln() / slower_max.ln()).clamp(-0.1, 1.0);
        format!("{:.1}", BOTTOM_PX - (BOTTOM_PX - TOP_PX) * place)
    };
    let ticks = |most: f64, steps: usize| (0..=steps).map(move |i| most * i as f64 / steps as f64);
    html! {
        svg.squeeze-doses height=(DOSES_PX) role="img"
            aria-label="Chart: how much longer the command took, by the part that was taken." {
            @for part in ticks(taken_max, 4) {
                text.across x=(percent(x(part))) y=(BOTTOM_PX + 34.0) { (format!("{:.0} %", 100.0 * part)) }
            }
            text.across.unit x=(percent((LEFT + RIGHT) / 2.0)) y=(BOTTOM_PX + 50.0) { "part taken" }
            @for ratio in ticks(slower_max.ln(), 4).map(f64::exp) {
                line.squeeze-grid x1=(percent(LEFT)) x2=(percent(RIGHT)) y1=(y(ratio)) y2=(y(ratio)) {}
                text.up x=(percent(LEFT - 0.01)) y=(y(ratio)) { (format!("{ratio:.2}×")) }
            }
            // What a program does that lives on nothing else.
            @for step in 0..24 {
                @let [a, b] = [step, step + 1].map(|i| taken_max * f64::from(i) / 24.0);
                line.squeeze-whole x1=(percent(x(a))) x2=(percent(x(b)))
                    y1=(y(1.0 / (1.0 - a))) y2=(y(1.0 / (1.0 - b))) {}
            }
            @for (index, one) in why.squeezes.iter().enumerate() {
                g class={ "squeeze-" (index) } {
                    @for (dose, taken, slower) in shown(one) {
                        line x1=(percent(x(taken.point))) x2=(percent(x(taken.point)))
                            y1=(y(slower.low)) y2=(y(slower.high)) {}
                        line x1=(percent(x(taken.low))) x2=(percent(x(taken.high)))
                            y1=(y(slower.point)) y2=(y(slower.point)) {}
                        circle cx=(percent(x(taken.point))) cy=(y(slower.point)) r="5" {
                            title { (short(&dose.level, 40)) ": " (joined(&parts(taken, Terms::Share)))
                                " taken, " (joined(&parts(slower, Terms::Times))) }
                        }
                    }
                }
            }
        }
        p.small.squeeze-key {
            @for (index, one) in why.squeezes.iter().enumerate() {
                @if !shown(one).is_empty() {
                    span class={ "squeeze-" (index) } { span.squeeze-dot {} (one.resource.words()) }
                    " "
                }
            }
            span.quiet { "– – a program that lives on nothing else" }
        }
    }
}

fn table(why: &Why) -> Markup {
    let number = |estimate: Option<&Estimate>, terms: Terms<'_>| {
        estimate.map_or("–".to_string(), |estimate| joined(&parts(estimate, terms)))
    };
    html! {
        details.squeeze-table {
            summary { "The numbers of these pictures" }
            div.scroll {
                table {
                    thead { tr {
                        th scope="col" { "resource" }
                        th scope="col" { "strength" }
                        th.number scope="col" { "taken" }
                        th.number scope="col" { "time" }
                        th.number scope="col" { "elasticity" }
                    } }
                    tbody {
                        @for one in &why.squeezes {
                            tr {
                                th scope="row" { (capital(one.resource.words())) }
                                td { "all" @if !one.remark.is_empty() { "; " (one.remark) }
                                    @if one.linear == Some(false) { "; they differ" } }
                                td {} td {}
                                td.number { b { (number(one.elasticity.as_ref(), Terms::Plain)) } }
                            }
                            @for dose in &one.doses {
                                tr {
                                    td {}
                                    td { (short(&dose.level, 40)) }
                                    td.number { (number(dose.taken.as_ref(), Terms::Share)) }
                                    td.number { (number(dose.slower.as_ref(), Terms::Times)) }
                                    td.number { (number(dose.elasticity.as_ref(), Terms::Plain)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
