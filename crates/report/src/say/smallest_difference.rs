//! How small a difference an experiment can show, and where its scatter comes from.

use super::chapter::Chapter;
use crate::chart;
use crate::doc::{Block, Span, Table, Text};
use crate::words;
use model::{Response, ResponseFloor, Source, Variance};
use std::collections::BTreeSet;
use wording::number::{Terms, or_dash, rough, share};
use wording::{capital, short};

/// Responses shown at most.
const ROWS_MAX: usize = 60;

/// What is known of one response.
struct Known<'a> {
    response: &'a Response,
    floor: Option<&'a ResponseFloor>,
    variance: Option<&'a Variance>,
}

/// Returns the answer for the headline's response in a sentence, then all responses in a table.
pub(crate) fn blocks(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let rows = known(chapter);
    let Some(first) = rows.first() else {
        return Vec::new();
    };
    vec![Block::plain(sentence(first)), key(), meaning(), Block::Table(table(&rows))]
}

/// Returns the responses with a floor or a scatter, that of the first finding first. What is computed does
/// not scatter: any difference is one.
fn known<'a>(chapter: &Chapter<'a>) -> Vec<Known<'a>> {
    let summary = chapter.summary;
    let row = |response: &'a Response| {
        let floor = summary.floors.iter().find(|floor| floor.response == response.name);
        let variance = summary.variances.iter().find(|variance| variance.response == response.name);
        let scatters = variance.is_some_and(|variance| variance.total > 0.0);
        let is_known = (floor.is_some() || variance.is_some()) && (scatters || !response.exact);
        is_known.then_some(Known { response, floor, variance })
    };
    let mut rows: Vec<Known<'_>> = chapter.design.responses.iter().filter_map(row).collect();
    let main = summary.findings.first().map(|finding| finding.result.quantity.response());
    rows.sort_by_key(|row| Some(row.response.name.as_str()) != main);
    rows.truncate(ROWS_MAX);
    rows
}

/// Where scatter comes from, in the order of [`Source`].
const SOURCES: [&str; 3] = ["within trials", "between trials", "between blocks"];

fn source(variance: &Variance) -> &'static str {
    SOURCES[variance.largest as usize]
}

fn floor(x: f64) -> String {
    rough(x, Terms::Share)
}

/// Returns what can be found in one response, and what would help.
fn sentence(row: &Known<'_>) -> String {
    let name = capital(&words::label(row.response));
    let mut text = match row.floor.map(|floor| (floor.now, floor.in_ten_times)) {
        Some((Some(now), later)) => {
            let later =
                later.map(|later| format!(", in ten times the time one of {}", floor(later)));
            format!(
                "{name}: a difference of {} between two treatments would be found{}.",
                floor(now),
                later.unwrap_or_default()
            )
        }
        Some((None, _)) => {
            format!("{name}: too few blocks to say how small a difference would be found.")
        }
        None => format!("{name}:"),
    };
    if let Some(variance) = row.variance {
        text.push_str(&format!(
            " A trial's number scatters by {}, mostly {}.",
            share(variance.total),
            source(variance)
        ));
        if !variance.remedy.is_empty() {
            let remedy = capital(variance.remedy.trim_end_matches('.'));
            text.push_str(&format!(" {}.", short(&remedy, 400)));
        }
    }
    text
}

/// Returns what the colours of the bars mean.
fn key() -> Block<'static> {
    let keys = [0, 1, 2].map(|index| Text(vec![Span::Key(index)]));
    Block::small(Text::filled(
        "{}within trials: longer trials would reduce it. {}between trials: more trials would reduce \
         it. {}between blocks: drift, which cancels in comparisons.",
        keys,
    ))
}

fn meaning() -> Block<'static> {
    Block::small(
        "Floor: for one comparison of two treatments, the median over the response's treatments. \
         Scatter: the standard deviation of a trial's number, as a share of it; the bar divides its \
         variance.",
    )
}

fn table(rows: &[Known<'_>]) -> Table {
    let heads = [
        "response",
        "#floor now",
        "#in ten times the time",
        "#scatter of a trial",
        "where it comes from",
    ];
    let mut said = BTreeSet::new();
    let cells = rows.iter().map(|row| {
        let name = format!("{} ", capital(&words::label(row.response)));
        [
            Text::from(name).then(Text::code(row.response.name.clone())),
            or_dash(row.floor.and_then(|floor| floor.now), floor).into(),
            or_dash(row.floor.and_then(|floor| floor.in_ten_times), floor).into(),
            or_dash(row.variance, |variance| share(variance.total)).into(),
            row.variance.map_or("–".into(), |variance| sources(variance, &mut said)),
        ]
    });
    Table::of(&heads).kind("fine", "").rows(cells)
}

/// Returns where scatter comes from, and what would reduce it if that was not yet said.
fn sources<'a>(variance: &'a Variance, said: &mut BTreeSet<&'a str>) -> Text {
    let parts =
        [variance.within_trials, Some(variance.between_trials), Some(variance.between_blocks)];
    let mut text = capital(source(variance));
    if variance.within_trials.is_none() && variance.largest == Source::BetweenTrials {
        text.push_str(" (with what is within them)");
    }
    if !variance.remedy.is_empty() && said.insert(&variance.remedy) {
        text.push_str(&format!(": {}.", short(variance.remedy.trim_end_matches('.'), 400)));
    }
    let drawn = chart::shares(&parts, &SOURCES);
    Text::on_page(drawn).then(text)
}
