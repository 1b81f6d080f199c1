//! For a terminal.

use super::words;
use crate::comparison;
use crate::format::{self, terms_of};
use crate::text::{BAD, BOLD, CARE, DIM, GOOD, bounded, columns, padded, paint, wrapped};
use crate::words::short;
use model::{ComparedQuantity, FleetResult, NodeResult, NodeStanding, Spread};

/// Spreads that are told where a screen must do.
const SPREADS_MAX: usize = 6;

/// Nodes that are told one by one, beside each other and against the first, where a screen must do.
const NODES_MAX: usize = 8;

/// Findings that are told node by node where a screen must do.
const FINDINGS_MAX: usize = 4;

/// Lines that the comparison gets at the least where a screen must do.
const COMPARISON_LINES_MIN: usize = 14;

/// See [`crate::fleet_text`].
pub(crate) fn text(result: &FleetResult, width: usize, height: Option<usize>) -> String {
    let width = bounded(width);
    let head = wrapped(&words::head(result), width);
    let mut lines: Vec<String> = head.iter().map(|line| paint(BOLD, line)).collect();
    let nodes = nodes(result, width, height);
    if !nodes.is_empty() {
        lines.push(String::new());
        lines.extend(nodes);
    }
    for sentence in words::same_machines(result) {
        lines.extend(marked(CARE, "!", &sentence, width));
    }
    lines.extend(side_by_side(result, width, height));
    lines.extend(spreads(result, width, height));
    lines.extend(outliers(result, width));
    let mut told = lines.join("\n") + "\n";
    if let Some(comparison) = &result.comparison {
        if is_too_much(result, height) {
            told.push_str("\nEach node beside the others, and against the first: in the report.\n");
            return told;
        }
        let room =
            height.map(|height| height.saturating_sub(lines.len()).max(COMPARISON_LINES_MIN));
        told.push('\n');
        told.push_str(&comparison::terminal_text(comparison, width, room));
    }
    told
}

/// Whether there are more nodes than a screen could tell one by one.
fn is_too_much(result: &FleetResult, height: Option<usize>) -> bool {
    height.is_some() && result.nodes.len() > NODES_MAX
}

fn nodes(result: &FleetResult, width: usize, height: Option<usize>) -> Vec<String> {
    let name_columns =
        result.nodes.iter().map(|node| columns(&node.name)).max().unwrap_or(0).min(30);
    let mut lines = Vec::new();
    let whole =
        |node: &&NodeResult| node.standing == NodeStanding::Complete && node.doubts.is_empty();
    // Of many, those are told of which there is something to tell.
    let told_all = !is_too_much(result, height);
    for node in result.nodes.iter().filter(|node| told_all || !whole(node)) {
        let (mark, word) = words::standing(node.standing);
        let style = match node.standing {
            NodeStanding::Complete => GOOD,
            NodeStanding::Waiting | NodeStanding::Running => CARE,
            _ => BAD,
        };
        let name = padded(&short(&node.name, name_columns), name_columns);
        let rest = [words::attempt(node), node.kind.clone()];
        let rest: Vec<&str> = rest.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
        let room = width.saturating_sub(name_columns + columns(word) + 8);
        lines.push(format!(
            "{} {name}  {word}  {}",
            paint(style, mark),
            paint(DIM, &short(&rest.join(" · "), room))
        ));
        let reason = (!node.reason.is_empty()).then_some(&node.reason);
        for doubt in reason.into_iter().chain(&node.doubts) {
            for line in wrapped(doubt, width.saturating_sub(6)) {
                lines.push(paint(CARE, &format!("    {line}")));
            }
        }
    }
    lines
}

fn marked(style: anstyle::Style, mark: &str, text: &str, width: usize) -> Vec<String> {
    let lines = wrapped(text, width.saturating_sub(2));
    let told = lines
        .iter()
        .enumerate()
        .map(|(at, line)| paint(style, &format!("{} {line}", if at == 0 { mark } else { " " })));
    told.collect()
}

/// The experiments' findings on each node, with their intervals.
fn side_by_side(result: &FleetResult, width: usize, height: Option<usize>) -> Vec<String> {
    let Some(comparison) = &result.comparison else {
        return Vec::new();
    };
    let all: Vec<(&str, &ComparedQuantity)> = comparison
        .experiments
        .iter()
        .flat_map(|it| it.findings.iter().map(move |finding| (it.id.as_str(), finding)))
        .collect();
    if all.is_empty() || is_too_much(result, height) {
        return Vec::new();
    }
    let most = if height.is_some() { FINDINGS_MAX } else { usize::MAX };
    let mut lines = vec![String::new(), paint(BOLD, "Side by side")];
    for (experiment, finding) in all.iter().take(most) {
        let sentence = format!("{experiment}: {}", crate::words::without_number(&finding.sentence));
        lines.push(format!("  {}", short(&sentence, width.saturating_sub(2))));
        let terms = terms_of(&finding.quantity, finding.unit.as_ref());
        let values = comparison.sides.iter().zip(&finding.values).map(|(side, value)| {
            let number =
                value.map_or("–".into(), |it| format::joined(&format::parts(&it, terms)));
            format!("{} {number}", short(&side.name, 30))
        });
        let values = values.collect::<Vec<_>>().join(" · ");
        let values = wrapped(&values, width.saturating_sub(4));
        lines.extend(values.iter().map(|line| format!("    {line}")));
    }
    if all.len() > most {
        lines.push(paint(DIM, &format!("  and {} more, in the report", all.len() - most)));
    }
    lines
}

/// The widest first: what the machines themselves differ in beyond their noise.
fn spreads(result: &FleetResult, width: usize, height: Option<usize>) -> Vec<String> {
    if result.spreads.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new()];
    let head = "How far machines of one kind lie apart (standard deviation between them; in brackets \
                what noise alone would make)";
    lines.extend(wrapped(head, width).iter().map(|line| paint(BOLD, line)));
    for (at, kind) in result.kinds.iter().enumerate() {
        let mut own: Vec<&Spread> =
            result.spreads.iter().filter(|spread| spread.kind as usize == at).collect();
        if own.is_empty() {
            continue;
        }
        let machines = format!("{} machines: {}", kind.machines, kind.kind);
        lines.push(format!("  {}", paint(DIM, &short(&machines, width.saturating_sub(2)))));
        own.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let most = if height.is_some() { SPREADS_MAX } else { usize::MAX };
        for spread in own.iter().take(most) {
            let noise = spread.expected.map_or("not known".into(), |x| words::deviation(spread, x));
            let number = format!("{} ({noise})", words::deviation(spread, spread.seen));
            let number = padded(&number, 20);
            let room = width.saturating_sub(26);
            let text = format!("{}: {}", spread.experiment, words::finding(spread));
            lines.push(format!("  {number}  {}", short(&text, room)));
        }
        if own.len() > most {
            lines.push(paint(DIM, &format!("  and {} more, in the report", own.len() - most)));
        }
    }
    lines
}

/// Relative spreads before the others, since those have no common terms.
fn size(spread: &Spread) -> f64 {
    if spread.relative { 1.0 + spread.between.unwrap_or(spread.seen) } else { 0.0 }
}

fn outliers(result: &FleetResult, width: usize) -> Vec<String> {
    if result.comparison.is_none() && result.spreads.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new()];
    lines.extend(wrapped(&words::rule(result), width));
    for outlier in &result.outliers.found {
        lines.extend(marked(CARE, "!", &words::outlier(result, outlier), width));
    }
    lines
}
