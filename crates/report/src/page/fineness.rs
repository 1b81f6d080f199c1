//! How small a difference an experiment can show, and where its scatter comes from.

use super::Chapter;
use crate::chart;
use crate::evidence;
use crate::format::{Terms, rough, rounded};
use crate::words::{self, capital, short};
use maud::{Markup, html};
use model::{ResponseFloor, Variance};

/// A table of at most so many responses is open from the start.
const OPEN_ROWS_MAX: usize = 6;

/// Responses shown at most.
const ROWS_MAX: usize = 60;

/// What is known of one response.
struct Row<'a> {
    response: &'a str,
    floor: Option<&'a ResponseFloor>,
    variance: Option<&'a Variance>,
}

/// The answer for the headline's response in a sentence, then all responses in a table.
pub(super) fn fineness(chapter: &Chapter<'_>) -> Markup {
    let rows = rows(chapter);
    html! {
        @if let Some(first) = rows.first() {
            h3 { "How small a difference shows here" }
            p { (sentence(chapter, first)) }
            details open[rows.len() <= OPEN_ROWS_MAX] {
                summary { "Floors and sources of scatter, by response" }
                (key())
                div.scroll { (table(chapter, &rows)) }
            }
        }
    }
}

/// The responses with a floor or a scatter, that of the first finding first.
fn rows<'a>(chapter: &Chapter<'a>) -> Vec<Row<'a>> {
    let summary = chapter.summary;
    let mut names: Vec<&str> = Vec::new();
    let main = summary.findings.first().map(|finding| finding.result.quantity.response());
    let floors = summary.floors.iter().map(|floor| floor.response.as_str());
    let variances = summary.variances.iter().map(|variance| variance.response.as_str());
    for name in floors.chain(variances) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| Some(*name) != main);
    let row = |response| Row {
        response,
        floor: summary.floors.iter().find(|floor| floor.response == response),
        variance: summary.variances.iter().find(|variance| variance.response == response),
    };
    // What is computed scatters by nothing, so that any difference is one.
    let is_computed = |row: &Row<'_>| {
        let response = chapter.design.and_then(|design| design.response(row.response));
        let scatters = row.variance.is_some_and(|variance| variance.total > 0.0);
        response.is_some_and(|response| response.exact) && !scatters
    };
    let rows = names.into_iter().map(row).filter(|row| !is_computed(row));
    rows.take(ROWS_MAX).collect()
}

fn label(chapter: &Chapter<'_>, name: &str) -> String {
    let response = chapter.design.and_then(|design| design.response(name));
    response.map_or_else(|| words::plain(name), words::label)
}

fn floor(x: f64) -> String {
    rough(x, Terms::Share)
}

fn share(x: f64) -> String {
    rounded(x, Terms::Share)
}

/// What can be found in one response, and what would help, for people.
fn sentence(chapter: &Chapter<'_>, row: &Row<'_>) -> String {
    let name = label(chapter, row.response);
    let mut text = match row.floor.map(|floor| (floor.now, floor.in_ten_times)) {
        Some((Some(now), later)) => {
            let later = later.map_or(String::new(), |later| {
                format!(", in ten times the time one of {}", floor(later))
            });
            format!(
                "{}: a difference of {} between two treatments would be found{later}.",
                capital(&name),
                floor(now)
            )
        }
        Some((None, _)) => {
            format!(
                "{}: too few blocks to say how small a difference would be found.",
                capital(&name)
            )
        }
        None => format!("{}:", capital(&name)),
    };
    if let Some(variance) = row.variance {
        text.push_str(&format!(
            " A trial's number scatters by {}, mostly {}.",
            share(variance.total),
            evidence::source(variance.largest)
        ));
        if !variance.remedy.is_empty() {
            text.push_str(&format!(" {}", stopped(&capital(&short(&variance.remedy, 400)))));
        }
    }
    text
}

/// A sentence has one full stop.
fn stopped(text: &str) -> String {
    format!("{}.", text.trim_end_matches('.'))
}

/// What the numbers in the bars mean.
fn key() -> Markup {
    html! {
        p.small.fine-key {
            (chart::key(0)) "within trials: longer trials would reduce it " br;
            (chart::key(1)) "between trials: more trials would reduce it " br;
            (chart::key(2)) "between blocks: drift, which cancels in comparisons"
        }
        p.small {
            "Floor: for one comparison of two treatments, the median over the response's \
             treatments. Scatter: the standard deviation of a trial's number, as a share of it; \
             the bar divides its variance."
        }
    }
}

fn table(chapter: &Chapter<'_>, rows: &[Row<'_>]) -> Markup {
    html! {
        table.fine {
            thead {
                tr {
                    th scope="col" { "response" }
                    th.number scope="col" { "floor now" }
                    th.number scope="col" { "in ten times the time" }
                    th.number scope="col" { "scatter of a trial" }
                    th scope="col" data-unsorted { "where it comes from" }
                }
            }
            tbody {
                @for row in rows {
                    tr {
                        th scope="row" {
                            (capital(&label(chapter, row.response))) br;
                            code { (short(row.response, 80)) }
                        }
                        @let told = |x: Option<f64>| x.map_or("–".to_string(), floor);
                        td.number { (told(row.floor.and_then(|floor| floor.now))) }
                        td.number { (told(row.floor.and_then(|floor| floor.in_ten_times))) }
                        td.number {
                            (row.variance.map_or("–".into(), |variance| share(variance.total)))
                        }
                        td.from {
                            @if let Some(variance) = row.variance { (sources(variance)) } @else { "–" }
                        }
                    }
                }
            }
        }
    }
}

fn sources(variance: &Variance) -> Markup {
    let parts =
        [variance.within_trials, Some(variance.between_trials), Some(variance.between_blocks)];
    html! {
        (chart::shares(&parts, &["within trials", "between trials", "between blocks"]))
        p.small {
            b { (capital(evidence::source(variance.largest))) }
            @if variance.within_trials.is_none() && variance.largest == model::Source::BetweenTrials {
                " (with what is within them)"
            }
            @if !variance.remedy.is_empty() { ": " (short(variance.remedy.trim_end_matches('.'), 400)) "." }
        }
    }
}
