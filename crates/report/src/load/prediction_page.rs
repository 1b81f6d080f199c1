//! A server's answers beside a simulated server's, as one page that needs nothing but itself.

use super::page::{STYLE, curve_of, drawn_at, shortened, thinned};
use super::prediction::{head, kind, learned, off, remarks, times};
use super::{asked_alike, time};
use crate::PredictedCurves;
use crate::chart::{Curve, distribution_of_times};
use crate::page::{document_of, note};
use crate::words::{self, short};
use maud::{Markup, html};
use model::{LoadPrediction, PredictedLoad};

/// Percentiles that are marked in the charts: those of the tables.
const MARKED: [(&str, f64); 2] = [("p50", 0.5), ("p99", 0.99)];

/// See [`crate::prediction_page`].
pub(crate) fn page(told: &LoadPrediction, curves: &[PredictedCurves]) -> String {
    let title = format!("scruple · {}", short(&told.plan.url, 120));
    let none = PredictedCurves::default();
    let body = html! {
        main.load {
            (opening(told))
            @for (number, load) in told.loads.iter().enumerate() {
                (section(load, curves.get(number).unwrap_or(&none)))
            }
        }
        footer {
            p { "Measured by scruple " (short(&told.scruple, 40)) ". This file needs no network." }
        }
        div #tip role="status" aria-live="polite" hidden {}
    };
    document_of(&told.scruple, &title, &body, STYLE)
}

fn opening(told: &LoadPrediction) -> Markup {
    html! {
        header.opening {
            p.eyebrow { "scruple · a server beside a simulated one" }
            h1 { bdi { (short(&told.plan.url, 400)) } }
            p.lead { "Taken for " (kind(told.server)) ". " (asked_alike(&told.plan)) }
            @match &told.demand {
                Some(demand) => {
                    p { (learned(told, demand)) }
                    p {
                        "Then requests came at random. The simulated server got the very same arrivals, \
                         and knows nothing else of what was measured then."
                    }
                }
                None => p.answer { "Interrupted before it was known what a request asks for." },
            }
            (doubts(&told.doubts))
            @if !told.complete && told.demand.is_some() {
                (note("care", "!", "Look here", &html! {
                    p { "Interrupted: not all loads were measured." }
                }))
            }
        }
    }
}

fn doubts(doubts: &[String]) -> Markup {
    html! {
        @for doubt in doubts {
            (note("care", "!", "Look here", &html! { p { (words::sentence(doubt, 600)) } }))
        }
    }
}

fn section(load: &PredictedLoad, curves: &PredictedCurves) -> Markup {
    let drawn: Vec<Curve> = [("measured", &curves.measured), ("predicted", &curves.predicted)]
        .into_iter()
        .enumerate()
        .filter_map(|(style, (name, known))| curve(name, style, known, load))
        .collect();
    html! {
        section {
            h2 { (head(load)) }
            (doubts(&load.doubts))
            (table(load))
            p.beside { (remarks(load)) }
            @if !drawn.is_empty() {
                figure.figure {
                    h4 { "How long requests took" }
                    (distribution_of_times(&drawn))
                    figcaption {
                        "The part of the requests that had been answered within a time, of those \
                         answered in both. The marks are p50 and p99."
                        @if shortened(&drawn) { " What took less than 1 µs is drawn at 1 µs." }
                    }
                }
            }
        }
    }
}

fn table(load: &PredictedLoad) -> Markup {
    html! {
        div.scroll {
            table.times {
                thead {
                    tr {
                        th scope="col" { "response time" }
                        @for name in ["measured", "predicted", "off by"] {
                            th.number scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    @for (name, it) in times(load) {
                        tr {
                            th scope="row" { (name) }
                            td.number { (time(it.measured_ns)) }
                            td.number { (time(it.predicted_ns)) }
                            td.number { (off(it)) }
                        }
                    }
                }
            }
        }
    }
}

fn curve(name: &str, style: usize, known: &[(u64, f64)], load: &PredictedLoad) -> Option<Curve> {
    let within = |share: f64| known.iter().find(|(_, part)| *part >= share).map(|(ns, _)| *ns);
    let marked = MARKED
        .iter()
        .filter_map(|(name, share)| Some((*name, drawn_at(*share, within(*share)?))))
        .collect();
    let observations = usize::try_from(load.requests).unwrap_or(usize::MAX);
    let first = known.first()?.0;
    Some(Curve {
        name: name.into(),
        style,
        marked,
        ..curve_of(&thinned(known), first, observations)
    })
}
