//! How small a difference an experiment can show, and where its scatter comes from.

use super::chapter::Chapter;
use super::evidence;
use crate::chart;
use crate::doc::{Block, Role, Table, Text};
use crate::format::{Terms, rough, rounded};
use crate::words::{self, capital, short};
use model::{ResponseFloor, Source, Variance};

/// A table of at most this number of responses is open from the start.
const OPEN_ROWS_MAX: usize = 6;

/// Responses shown at most.
const ROWS_MAX: usize = 60;

/// What is known of one response.
struct Known<'a> {
    response: &'a str,
    floor: Option<&'a ResponseFloor>,
    variance: Option<&'a Variance>,
}

/// Returns the answer for the headline's response in a sentence, then all responses in a table.
pub(crate) fn fineness(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let rows = known(chapter);
    let Some(first) = rows.first() else {
        return Vec::new();
    };
    let details = vec![key(), meaning(), Block::Table(table(chapter, &rows))];
    let label = "Floors and sources of scatter, by response";
    vec![
        Block::heading(3, "How small a difference shows here"),
        Block::paragraph(Role::Plain, sentence(chapter, first)),
        Block::details("", label, rows.len() <= OPEN_ROWS_MAX, details),
    ]
}

/// Returns the responses with a floor or a scatter, that of the first finding first.
fn known<'a>(chapter: &Chapter<'a>) -> Vec<Known<'a>> {
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
    let row = |response| Known {
        response,
        floor: summary.floors.iter().find(|floor| floor.response == response),
        variance: summary.variances.iter().find(|variance| variance.response == response),
    };
    let rows = names.into_iter().map(row).filter(|row| !is_computed(chapter, row));
    rows.take(ROWS_MAX).collect()
}

/// Reports whether any difference is one: what is computed does not scatter.
fn is_computed(chapter: &Chapter<'_>, row: &Known<'_>) -> bool {
    let response = chapter.design.and_then(|design| design.response(row.response));
    let scatters = row.variance.is_some_and(|variance| variance.total > 0.0);
    response.is_some_and(|response| response.exact) && !scatters
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

/// Returns what can be found in one response, and what would help.
fn sentence(chapter: &Chapter<'_>, row: &Known<'_>) -> String {
    let name = capital(&label(chapter, row.response));
    let mut text = match row.floor.map(|floor| (floor.now, floor.in_ten_times)) {
        Some((Some(now), later)) => {
            let later = later.map_or(String::new(), |later| {
                format!(", in ten times the time one of {}", floor(later))
            });
            format!(
                "{name}: a difference of {} between two treatments would be found{later}.",
                floor(now)
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
            evidence::source(variance.largest)
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
    use crate::doc::Span::{Key, Plain};
    let part = |index, text: &str| [Key(index), Plain(text.into())];
    let parts = [
        part(0, "within trials: longer trials would reduce it. "),
        part(1, "between trials: more trials would reduce it. "),
        part(2, "between blocks: drift, which cancels in comparisons."),
    ];
    Block::paragraph(Role::Small, Text(parts.into_iter().flatten().collect()))
}

fn meaning() -> Block<'static> {
    Block::paragraph(
        Role::Small,
        "Floor: for one comparison of two treatments, the median over the response's treatments. \
         Scatter: the standard deviation of a trial's number, as a share of it; the bar divides its \
         variance.",
    )
}

fn table(chapter: &Chapter<'_>, rows: &[Known<'_>]) -> Table {
    let heads = [
        "response",
        "#floor now",
        "#in ten times the time",
        "#scatter of a trial",
        "where it comes from",
    ];
    let mut table = Table::of(&heads).kind("fine", "");
    for row in rows {
        let percent = |x: Option<f64>| Text::from(x.map_or("–".to_string(), floor));
        let name = format!("{} ", capital(&label(chapter, row.response)));
        table.row([
            Text::from(name).then(Text::code(row.response)),
            percent(row.floor.and_then(|floor| floor.now)),
            percent(row.floor.and_then(|floor| floor.in_ten_times)),
            row.variance.map_or("–".into(), |variance| share(variance.total)).into(),
            row.variance.map_or("–".into(), sources),
        ]);
    }
    table
}

fn sources(variance: &Variance) -> Text {
    let parts =
        [variance.within_trials, Some(variance.between_trials), Some(variance.between_blocks)];
    let mut text = capital(evidence::source(variance.largest));
    if variance.within_trials.is_none() && variance.largest == Source::BetweenTrials {
        text.push_str(" (with what is within them)");
    }
    if !variance.remedy.is_empty() {
        text.push_str(&format!(": {}.", short(variance.remedy.trim_end_matches('.'), 400)));
    }
    let drawn = chart::shares(&parts, &["within trials", "between trials", "between blocks"]);
    Text::on_page(drawn).then(text)
}
