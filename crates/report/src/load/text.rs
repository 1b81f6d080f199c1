//! The result of a load for a terminal.

use super::sayings::{Kind, answer, sayings};
use super::{asked, percentile_name, time, time_or_unknown, times};
use crate::format::count;
use crate::text::{BAD, BOLD, CARE, DIM, bounded, columns, cut, padded, paint, paragraph};
use crate::words::short;
use model::LoadResult;

/// Columns of a row's name and of each time.
const NAME: usize = 12;
const TIME: usize = 12;

/// See [`crate::load_terminal`].
pub(crate) fn text(result: &LoadResult, width: usize) -> String {
    let width = bounded(width);
    let plan = &result.plan;
    let mut out = String::new();
    let head = format!("{} {}", short(&plan.method, 20), short(&plan.url, 400));
    out.push_str(&format!("{}\n", paint(BOLD, &cut(&head, width))));
    let asked = paragraph(&asked(plan), "", "", width);
    out.push_str(&format!("{}\n\n", paint(DIM, asked.trim_end())));
    let answer = paragraph(&answer(result), "", "", width);
    let style = if result.counts.succeeded == 0 { BAD } else { BOLD };
    out.push_str(&format!("{}\n\n", paint(style, answer.trim_end())));
    table(&mut out, result, width);
    out.push('\n');
    for saying in sayings(result) {
        let (mark, style) = match saying.kind {
            Kind::Bad => (paint(BAD, "✗"), None),
            Kind::Care => (paint(CARE, "!"), None),
            Kind::Plain => ("·".into(), None),
            Kind::Aside => (paint(DIM, "·"), Some(DIM)),
        };
        let told = paragraph(&saying.text, "", "  ", width - 2);
        let told = told.trim_end();
        let told = style.map_or(told.to_string(), |style| paint(style, told));
        out.push_str(&format!("{mark} {told}\n"));
    }
    out
}

/// The three times side by side.
fn table(out: &mut String, result: &LoadResult, width: usize) {
    let times = times(result);
    let cell = |text: &str| format!("{}{text}", " ".repeat(TIME.saturating_sub(columns(text))));
    let row = |name: &str, cells: [String; 3]| {
        let cells: String = cells.iter().map(|text| cell(text)).collect();
        cut(&format!("{}{cells}", padded(name, NAME)), width)
    };
    let heads = row("", times.map(|(name, _, _)| name.to_string()));
    out.push_str(&format!("{}\n", paint(DIM, &heads)));
    let mut line =
        |name: &str, cells: [String; 3]| out.push_str(&format!("{}\n", row(name, cells)));
    line("shortest", times.map(|(_, _, of)| time_or_unknown(of.min_ns)));
    for (index, known) in result.response.percentiles.iter().enumerate() {
        let at = |of: &model::LoadTimes| of.percentiles.get(index).and_then(|it| it.ns);
        let name = percentile_name(known.percent);
        line(&name, times.map(|(_, _, of)| time_or_unknown(at(of))));
    }
    line("longest", times.map(|(_, _, of)| time_or_unknown(of.max_ns)));
    if times.iter().all(|(_, _, of)| of.mean_ns.is_some()) {
        line("mean", times.map(|(_, _, of)| of.mean_ns.map_or("unknown".into(), time)));
    }
    line("known", times.map(|(_, _, of)| count(of.count)));
    if times.iter().any(|(_, _, of)| of.censored > 0) {
        line("given up", times.map(|(_, _, of)| count(of.censored)));
    }
    for (name, about, _) in times {
        let told = paragraph(&format!("{name}: {about}"), "  ", "    ", width);
        out.push_str(&format!("{}\n", paint(DIM, told.trim_end())));
    }
}
