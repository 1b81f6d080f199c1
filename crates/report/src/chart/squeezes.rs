//! What limits a command: its elasticities, ranked, and what each strength of a squeeze did.

use crate::doc::Drawing;
use crate::format::{Terms, joined, parts};
use crate::say::why::RESIDUAL;
use crate::text::{columns, padded};
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

fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

/// The bar of an elasticity of 1, in columns of a terminal.
const BAR_COLUMNS: usize = 16;

/// Elasticities, ranked.
pub(crate) struct Ranked<'a>(pub(crate) &'a Why);

impl Drawing for Ranked<'_> {
    fn svg(&self) -> Markup {
        ranked(self.0)
    }

    fn letters(&self, width: usize) -> Vec<String> {
        let squeezes = &self.0.squeezes;
        let label = squeezes.iter().map(|one| columns(one.resource.words())).max().unwrap_or(0);
        let number = |one: &SqueezeResult| {
            one.elasticity
                .as_ref()
                .map_or("too little taken".into(), |e| joined(&parts(e, Terms::Plain)))
        };
        let widest = squeezes.iter().map(|one| columns(&number(one))).max().unwrap_or(0);
        let line = |one: &SqueezeResult| {
            let mark = if one.stands { '●' } else { '○' };
            let name = padded(&capital(one.resource.words()), label);
            let filled = one.elasticity.map_or(0.0, |e| e.point * BAR_COLUMNS as f64).round();
            let room = width.saturating_sub(label + widest + 6);
            let bar = "█".repeat((filled.max(0.0) as usize).min(2 * BAR_COLUMNS).min(room));
            let number = padded(&number(one), widest);
            format!("{mark} {name}  {number}  {bar}").trim_end().to_string()
        };
        squeezes.iter().map(line).collect()
    }
}

/// How much longer a command took, by the part that was taken from it.
pub(crate) struct Strengths<'a>(pub(crate) &'a Why);

impl Strengths<'_> {
    /// Reports whether there is a strength to draw.
    pub(crate) fn any(&self) -> bool {
        self.0.squeezes.iter().any(|one| !shown(one).is_empty())
    }
}

impl Drawing for Strengths<'_> {
    fn svg(&self) -> Markup {
        strengths(self.0)
    }

    fn letters(&self, _width: usize) -> Vec<String> {
        Vec::new()
    }
}

/// Draws a bar for each resource, with its interval.
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
            // What a program does that nothing else limits.
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
            span.quiet { "– – a program that nothing else limits" }
        }
    }
}
