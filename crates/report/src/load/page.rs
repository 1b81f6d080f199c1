//! The result of a load as one page that needs nothing but itself.

use super::sayings::{Kind, Saying, answer, sayings};
use super::{arrivals, asked, due, percentile, percentile_name, time, time_or_unknown, times};
use crate::LoadCurves;
use crate::chart::{Curve, Quantile, distribution_of_times};
use crate::format::{count, value};
use crate::page::{document_of, note};
use crate::words::short;
use maud::{Markup, html};
use model::{Arrivals, LoadPlan, LoadResult, LoadTimes, Unit};

/// What the pages of loads look like beyond the report.
pub(super) const STYLE: &str = include_str!("load.css");

/// Percentiles that are marked in the chart.
const MARKED: [(&str, f64); 4] = [("p50", 50.0), ("p95", 95.0), ("p99", 99.0), ("p99.9", 99.9)];

/// Times below this are drawn at it, in ns: what is shorter is the clock's own, and would take half
/// of a logarithmic axis.
const SHORTEST_DRAWN_NS: f64 = 1e3;

/// A curve is drawn in steps of this share, and of this part of what is left in its tail.
const STEP_OF_ALL: f64 = 0.004;
const STEP_OF_TAIL: f64 = 0.8;

/// See [`crate::load_page`].
pub(crate) fn page(result: &LoadResult, curves: &LoadCurves) -> String {
    let title = format!("scruple · {}", short(&result.plan.url, 120));
    let body = html! {
        main.load {
            (opening(result))
            (all_times(result, curves))
            (asides(result))
            (facts(result))
        }
        footer {
            p {
                "Measured by scruple " (short(&result.scruple, 40)) ". This file needs no network."
            }
        }
        div #tip role="status" aria-live="polite" hidden {}
    };
    document_of(&result.scruple, &title, &body, STYLE)
}

fn opening(result: &LoadResult) -> Markup {
    let plan = &result.plan;
    html! {
        header.opening {
            p.eyebrow { "scruple · a load on a server" }
            h1 { bdi { (short(&plan.url, 400)) } }
            p.lead { (asked(plan)) "." }
            p.answer { (answer(result)) }
            @for saying in sayings(result) {
                @match saying.kind {
                    Kind::Bad => (note("bad", "✗", "Wrong", &said(&saying))),
                    Kind::Care => (note("care", "!", "Look here", &said(&saying))),
                    Kind::Plain | Kind::Aside => {},
                }
            }
        }
    }
}

fn said(saying: &Saying) -> Markup {
    html! { p { (saying.text) } }
}

fn asides(result: &LoadResult) -> Markup {
    let quiet = |saying: &Saying| matches!(saying.kind, Kind::Plain | Kind::Aside);
    html! {
        section {
            h2 { "Beside" }
            ul.notes {
                @for saying in sayings(result).iter().filter(|it| quiet(it)) { li { (saying.text) } }
            }
        }
    }
}

fn all_times(result: &LoadResult, curves: &LoadCurves) -> Markup {
    let drawn = drawn(result, curves);
    html! {
        section {
            h2 { "Times" }
            (table(result))
            @if !drawn.is_empty() {
                figure.figure {
                    h4 { "How long requests took" }
                    (distribution_of_times(&drawn))
                    figcaption {
                        "The part of the requests that had been answered (or sent: lateness) within \
                         a time. A curve that ends below 100 % ends where the rest was given up. The \
                         marks are p50, p95, p99 and p99.9."
                        @if shortened(&drawn) { " What took less than 1 µs is drawn at 1 µs." }
                    }
                }
            }
        }
    }
}

/// The numbers as a table: a row for each percentile, a column for each time.
fn table(result: &LoadResult) -> Markup {
    let times = times(result);
    let row = |name: String, of: &dyn Fn(&LoadTimes) -> String| {
        html! {
            tr {
                th scope="row" { (name) }
                @for (_, _, times) in times { td.number { (of(times)) } }
            }
        }
    };
    html! {
        div.scroll {
            table.times {
                thead {
                    tr {
                        th scope="col" { "requests" }
                        @for (name, _, _) in times { th.number scope="col" { (name) } }
                    }
                }
                tbody {
                    (row("shortest".into(), &|of| time_or_unknown(of.min_ns)))
                    @for known in &result.response.percentiles {
                        (row(percentile_name(known.percent), &|of| {
                            time_or_unknown(percentile(of, known.percent))
                        }))
                    }
                    (row("longest".into(), &|of| time_or_unknown(of.max_ns)))
                    (row("mean".into(), &|of| of.mean_ns.map_or("unknown".into(), time)))
                    (row("known".into(), &|of| count(of.count)))
                    (row("given up".into(), &|of| count(of.censored)))
                }
            }
        }
        ul.notes.what {
            @for (name, about, _) in times { li { b { (name) } ": " (about) "." } }
            @if result.response.censored > 0 {
                li {
                    "Percentiles are those of Kaplan and Meier: who was given up counts as waited \
                     for until then. A percentile that this leaves open is unknown."
                }
            }
        }
    }
}

/// The curves that have anything to show. In a closed loop without a pace nothing can be late.
fn drawn(result: &LoadResult, curves: &LoadCurves) -> Vec<Curve> {
    let of = [&curves.response, &curves.service, &curves.lateness];
    times(result)
        .into_iter()
        .zip(of)
        .enumerate()
        .filter(|(_, ((name, _, _), _))| {
            *name != "lateness" || result.plan.arrivals != Arrivals::Closed
        })
        .filter_map(|(style, ((name, _, times), known))| curve(name, style, times, known))
        .collect()
}

pub(super) fn shortened(curves: &[Curve]) -> bool {
    curves.iter().flat_map(|curve| &curve.points).any(|point| point.value == SHORTEST_DRAWN_NS)
}

fn curve(name: &str, style: usize, times: &LoadTimes, known: &[(u64, f64)]) -> Option<Curve> {
    let known = if known.is_empty() { of_percentiles(times) } else { thinned(known) };
    let first = times.min_ns.or(known.first().map(|(ns, _)| *ns))?;
    let marked = MARKED
        .iter()
        .filter_map(|(name, percent)| {
            Some((*name, drawn_at(percent / 100.0, percentile(times, *percent)?)))
        })
        .collect();
    let observations = usize::try_from(times.count).unwrap_or(usize::MAX);
    let curve = Curve { name: name.into(), style, marked, ..curve_of(&known, first, observations) };
    (curve.points.len() > 1).then_some(curve)
}

/// The curve of one load through its points, which begins at its shortest time.
pub(super) fn curve_of(known: &[(u64, f64)], first: u64, observations: usize) -> Curve {
    let points = std::iter::once(drawn_at(0.0, first))
        .chain(known.iter().map(|(ns, share)| drawn_at(*share, *ns)))
        .collect();
    let (name, marked) = (String::new(), Vec::new());
    Curve { name, style: 0, trials: 1, of: 1, observations, points, marked }
}

/// A time in the chart, and the share of the requests that took no longer.
pub(super) fn drawn_at(share: f64, ns: u64) -> Quantile {
    let value = (ns as f64).max(SHORTEST_DRAWN_NS);
    Quantile { share, value, low: value, high: value }
}

/// The few points that a result holds itself.
fn of_percentiles(times: &LoadTimes) -> Vec<(u64, f64)> {
    let known = times.percentiles.iter().filter_map(|it| Some((it.ns?, it.percent / 100.0)));
    let last = times.max_ns.filter(|_| times.censored == 0).map(|ns| (ns, 1.0));
    known.chain(last).collect()
}

/// As many points of a curve as can be told apart.
pub(super) fn thinned(known: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let mut kept: Vec<(u64, f64)> = Vec::new();
    for (index, (ns, share)) in known.iter().enumerate() {
        let apart = kept.last().is_none_or(|(_, last)| {
            share - last >= STEP_OF_ALL || 1.0 - share <= STEP_OF_TAIL * (1.0 - last)
        });
        if apart || index + 1 == known.len() {
            kept.push((*ns, *share));
        }
    }
    kept
}

fn facts(result: &LoadResult) -> Markup {
    let plan = &result.plan;
    let counts = &result.counts;
    let fact = |name: &str, text: String| html! { div { dt { (name) } dd { (text) } } };
    let bytes = |n: u64| value(n as f64, &Unit::Bytes);
    html! {
        section {
            h2 { "What was asked, and what became of it" }
            dl.facts {
                (fact("method", short(&plan.method, 20)))
                (fact("arrivals", arrivals(plan)))
                (fact("keep-alive", if plan.keep_alive { "yes" } else { "no" }.into()))
                (fact("ends", ends(plan)))
                (fact("timeout", time(plan.timeout_ms as f64 * 1e6)))
                (fact("came due", count(due(result))))
                (fact("sent", count(counts.sent)))
                (fact("answered", count(counts.answered)))
                (fact("succeeded (status below 400)", count(counts.succeeded)))
                (fact("errors", count(counts.errors.values().sum())))
                (fact("timed out", count(counts.timed_out)))
                (fact("in flight at the end", count(counts.in_flight)))
                (fact("never sent", count(counts.unsent)))
                (fact("read", bytes(result.read_bytes)))
                (fact("written", bytes(result.written_bytes)))
                @for (name, value) in &plan.headers {
                    (fact("header", format!("{}: {}", short(name, 80), short(value, 200))))
                }
            }
        }
    }
}

/// What ends the load.
fn ends(plan: &LoadPlan) -> String {
    let duration = plan.duration_ms.map(|ms| format!("after {}", time(ms as f64 * 1e6)));
    let requests = plan.requests.map(|n| format!("after {} requests", count(n)));
    match (duration, requests) {
        (Some(duration), Some(requests)) => format!("{duration} or {requests}"),
        (duration, requests) => duration.or(requests).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::thinned;

    #[test]
    fn a_thinned_curve_keeps_its_ends_and_its_tail() {
        let known: Vec<(u64, f64)> = (1..=100_000).map(|n| (n, n as f64 / 100_000.0)).collect();
        let kept = thinned(&known);
        assert!((200..400).contains(&kept.len()), "{}", kept.len());
        assert_eq!((kept[0], kept.last()), ((1, 1e-5), Some(&(100_000, 1.0))));
        assert!(kept.iter().filter(|(_, share)| *share > 0.999).count() > 8);
        assert_eq!(thinned(&[]), []);
    }
}
