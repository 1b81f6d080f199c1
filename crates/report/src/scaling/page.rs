//! How a program scales, at the head of its chapter.

use super::{chart, of, text};
use crate::Session;
use crate::chart::throughput;
use crate::format::{Terms, joined, parts, rounded};
use crate::words::{capital, short};
use analysis::scaling::cause_words;
use maud::{Markup, html};
use model::{Estimate, Grade, ScaleAccount, ScaleCause, ScaleCurve, ScaleLevel, Scaling};

/// Everything about the scaling of a session's program; `None` for a session of another kind.
pub(crate) fn chapter(session: &Session<'_>, id: &str) -> Option<Markup> {
    session.design(id)?.subject.as_ref()?;
    let scaling = of(session.manifest, session.records, &session.summary.scruple)?;
    Some(html! {
        (answer(&scaling))
        (curves(&scaling))
        (account(&scaling))
        (causes(&scaling))
        (laws(&scaling))
        (definitions(&scaling))
    })
}

fn answer(scaling: &Scaling) -> Markup {
    html! {
        @for (index, sentence) in scaling.answer.iter().enumerate() {
            @if index == 0 { p.answer { (short(sentence, 1000)) } }
            @else { p.further { (short(sentence, 1000)) } }
        }
        h3.quiet-heading { "What to do" }
        ul.advice { @for sentence in &scaling.advice.sentences { li { (short(sentence, 1000)) } } }
        @for remark in &scaling.remarks { p.small.scale-remark { (short(remark, 1000)) } }
    }
}

fn curves(scaling: &Scaling) -> Markup {
    html! {
        h3.quiet-heading { "Throughput over n" }
        figure.figure.scaling-curve {
            h4 { "Work by elapsed time" }
            (throughput(&scaling.levels, |level| level.throughput, &scaling.throughput, &scaling.work.unit, scaling.cpus))
            (caption(scaling, &scaling.throughput))
            (numbers(scaling, |level| level.throughput))
        }
        @if let Some(curve) = &scaling.cpu_throughput {
            figure.figure.scaling-curve {
                h4 { "Work by CPU second: what it costs" }
                (throughput(&scaling.levels, |level| level.cpu_throughput, curve, &scaling.work.unit, scaling.cpus))
                (caption(scaling, curve))
                (numbers(scaling, |level| level.cpu_throughput))
            }
        }
    }
}

fn caption(scaling: &Scaling, curve: &ScaleCurve) -> Markup {
    html! {
        figcaption {
            "Each mark is the mean of the trials at one n, with its 95 % interval; the line is the \
             chosen law. "
            (capital(&curve.peak.sentence)) "."
            @if scaling.cpus.is_some() { " The upright line is where the CPUs end." }
        }
    }
}

fn numbers(scaling: &Scaling, of: impl Fn(&ScaleLevel) -> Option<Estimate>) -> Markup {
    let told = |estimate: Option<Estimate>, terms: Terms<'_>| match estimate {
        Some(estimate) => joined(&parts(&estimate, terms)),
        None => "–".to_string(),
    };
    html! {
        details.behind {
            summary { "The numbers behind this chart" }
            div.scroll {
                table {
                    thead {
                        tr {
                            th scope="col" { "n" }
                            th.number scope="col" { "throughput, " (short(&scaling.work.unit, 24)) }
                            th.number scope="col" { "times one worker" }
                            th.number scope="col" { "trials" }
                        }
                    }
                    tbody {
                        @for level in &scaling.levels {
                            tr {
                                th scope="row" { (level.n) }
                                td { (told(of(level), Terms::Plain)) }
                                td { (told(level.speedup, Terms::Plain)) }
                                td { (level.trials) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn account(scaling: &Scaling) -> Markup {
    let known: Vec<(f64, &ScaleAccount)> = scaling
        .levels
        .iter()
        .filter_map(|level| Some((level.n, level.account.as_ref()?)))
        .collect();
    html! {
        @if !known.is_empty() {
            h3.quiet-heading { "What became of the workers' time" }
            (chart::accounts(&known))
        }
    }
}

fn causes(scaling: &Scaling) -> Markup {
    html! {
        h3.quiet-heading { "Why it does not scale further" }
        @for cause in &scaling.causes { (one_cause(cause)) }
    }
}

fn one_cause(cause: &ScaleCause) -> Markup {
    let grade = match cause.grade {
        Grade::Timing => "timing only",
        Grade::Software => "software counters",
        Grade::Pmu => "the processor's counters",
    };
    html! {
        div.bottleneck {
            p {
                b { (capital(cause_words(cause.cause))) }
                " " span.quiet { "(evidence: " (grade) ")" }
            }
            p { (short(&cause.sentence, 1000)) "." }
            ul { @for evidence in &cause.evidence { li { (short(evidence, 1000)) } } }
        }
    }
}

fn laws(scaling: &Scaling) -> Markup {
    html! {
        h3.quiet-heading { "The laws" }
        (table(&scaling.throughput, "Fitted to throughput"))
        @if let Some(curve) = &scaling.cpu_throughput { (table(curve, "Fitted to work by CPU second")) }
    }
}

fn table(curve: &ScaleCurve, title: &str) -> Markup {
    html! {
        details.laws open[curve.chosen.is_some() && title.ends_with("throughput")] {
            summary { (title) ": " (curve.reason) }
            div.scroll {
                table {
                    thead {
                        tr {
                            th scope="col" { "law" }
                            th scope="col" { "numbers, with 95 % intervals" }
                            th.number scope="col" { "AICc" }
                            th.number scope="col" { "lack of fit, p" }
                            th scope="col" { "what it leaves at each n" }
                        }
                    }
                    tbody { @for fit in &curve.fits { (row(curve, fit)) } }
                }
            }
            p.small {
                @if curve.intervals == "bootstrap" { "Intervals are from the trials of each n, drawn again 400 times. " }
                @else { "Intervals are Student's t. " }
                "A p below 0.01 refutes a law: the scatter of the trials at each n does not explain how \
                 far it passes by them."
            }
        }
    }
}

fn row(curve: &ScaleCurve, fit: &model::ScaleFit) -> Markup {
    let chosen = curve.chosen.as_ref() == Some(&fit.law);
    html! {
        tr.chosen[chosen] {
            th scope="row" {
                (capital(&fit.law)) @if chosen { " (chosen)" }
                br; code { (fit.formula) }
            }
            @if fit.missing.is_empty() {
                td.words {
                    @for one in &fit.coefficients {
                        div title=(one.meaning) {
                            (one.symbol) " " (joined(&parts(&text::coefficient(one), Terms::Plain)))
                        }
                    }
                }
                td { (fit.aicc.map_or("–".into(), |aicc| format!("{aicc:.1}").replace('-', "−"))) }
                td {
                    (fit.lack_of_fit_p.map_or("–".into(), text::probability))
                    @if fit.refuted { br; "refuted" }
                }
                td.words {
                    @for one in &fit.residuals {
                        span.residual { "n " (one.n) ": " (rounded(one.share, Terms::Share)) } " "
                    }
                }
            } @else {
                td.words colspan="4" { (short(&fit.missing, 400)) }
            }
        }
    }
}

fn definitions(scaling: &Scaling) -> Markup {
    let work = if scaling.work.counted {
        "the work that the program says it did, by the elapsed time"
    } else {
        "1 over the elapsed time: each trial is taken to do the same work, whatever n is"
    };
    html! {
        details.definition-cards {
            summary { "How these figures are defined" }
            dl {
                dt { "Throughput" }
                dd { (work) ". The elapsed time is from just before the program's exec to its end." }
                dt { "Work by CPU second" }
                dd { "the same work by the CPU time of the program and all that came of it (getrusage)." }
                dt { "The workers' time" }
                dd {
                    "n times the elapsed time. Useful is the CPU time that one worker needed for the same \
                     work; what n workers needed beyond that is more CPU per operation. Waiting for a CPU, \
                     blocked and without a worker are looked at while it runs (schedstat of the n busiest \
                     threads), some milliseconds apart."
                }
                dt { "Intervals" }
                dd { "95 %, from trials: one number per trial, never from what happens within one." }
            }
        }
        @if let Some(worst) = worst(scaling) {
            p.small { "The parts of an account sum to " (rounded(1.0 - worst, Terms::Share)) " at the n where they miss 100 % most." }
        }
    }
}

/// The rest that lies furthest from nothing.
fn worst(scaling: &Scaling) -> Option<f64> {
    let accounts = scaling.levels.iter().filter_map(|level| level.account.as_ref());
    let rests = accounts.filter_map(|account| Some(text::rest(account)?.point));
    rests.max_by(|a, b| a.abs().total_cmp(&b.abs()))
}
