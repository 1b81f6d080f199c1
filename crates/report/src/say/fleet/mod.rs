//! The machines of a fleet next to each other: the nodes first, then the machines compared.

use super::compare::{self, Compared, listed, probability};
use crate::doc::{Block, Column, Doc, Table, Text, Tone};
use crate::paint::{self, Folds};
use crate::text::bounded;
use crate::words::without_number;
use model::{ComparedQuantity, FleetResult, NodeResult, NodeStanding, Outlier, Spread};
use std::collections::HashMap;
use wording::number::{self, Parts, Terms, joined, parts, terms_of};
use wording::{counted, short, stated};

/// Where lines are few: spreads of each kind, nodes, and findings that are shown one by one.
const SPREADS_MAX: usize = 6;
const NODES_MAX: usize = 8;
const FINDINGS_MAX: usize = 4;

/// Where lines are few, the fewest that the comparison gets.
const COMPARISON_LINES_MIN: usize = 14;

/// The most nodes, and doubts, of which a page shows each; it folds what is beyond.
const ROWS_MAX: usize = 64;

/// Doubts of a node that are shown.
const DOUBTS_MAX: usize = 10;

/// Returns the result of a fleet as one self-contained page. What nodes and engines said is escaped.
pub fn page(result: &FleetResult) -> String {
    let title = format!("a fleet of {}", counted(result.nodes.len() as u64, "node"));
    let compared = result.comparison.as_ref().map(Compared::new);
    let mut doc = Doc::new(&result.scruple, "a fleet", title);
    doc.blocks = before(result, true);
    match &compared {
        Some(compared) => {
            doc.push(Block::heading(2, compared.heading()));
            doc.blocks.extend(chosen(result));
            doc.blocks.extend(compared.blocks());
        }
        None => doc.push(Block::plain(
            "Fewer than two nodes have a session that could be used: nothing is compared.",
        )),
    }
    paint::page(&doc, compare::STYLE)
}

/// Returns the result of a fleet, for a terminal of `width` columns, with ANSI colours: its nodes, which
/// are one machine, how far those of one kind lie apart, outliers, then their sessions compared with that
/// of the first as in [`compare::terminal`]. With a `height` about what fits.
pub fn terminal(result: &FleetResult, width: usize, height: Option<usize>) -> String {
    let compared = result.comparison.as_ref().map(Compared::new);
    let mut doc = Doc::new(&result.scruple, "a fleet", "");
    doc.blocks = before(result, height.is_none());
    if let Some(compared) = &compared {
        let heading = Block::heading(2, compared.heading());
        match height {
            None => {
                doc.push(heading);
                doc.blocks.extend(chosen(result));
                doc.blocks.extend(compared.blocks());
            }
            Some(_) if result.nodes.len() > NODES_MAX => doc.push(Block::small(
                "The report compares the nodes with each other and with the first.",
            )),
            Some(height) => {
                let width = bounded(width);
                let used = paint::lines(&doc.blocks, width, Folds::Closed).len() + 2;
                let room = height.saturating_sub(used).max(COMPARISON_LINES_MIN);
                doc.push(heading);
                doc.blocks.extend(compared.brief(width, room, "the report shows"));
            }
        }
    }
    paint::text(&doc, width, Folds::Closed)
}

/// Returns all that stands before the comparison; `whole` says whether lines are not few.
fn before(result: &FleetResult, whole: bool) -> Vec<Block<'static>> {
    let mut blocks = vec![Block::heading(1, head(result)), Block::small(plan(result))];
    for names in &result.same_machine {
        let text = format!(
            "{} are one machine (one kernel, one boot) under several names. What differs between them \
             is what changes from session to session. While they measured at the same time, each took \
             resources from the others.",
            some(names.iter().map(String::as_str))
        );
        blocks.push(Block::said(Tone::Care, "one machine", vec![text.into()]));
    }
    blocks.extend(nodes(result, whole));
    blocks.extend(side_by_side(result, whole));
    blocks.extend(spreads(result, whole));
    blocks.extend(outliers(result));
    blocks
}

/// Says how many nodes have a session.
fn head(result: &FleetResult) -> String {
    let all = result.nodes.len().max(result.expected.unwrap_or_default() as usize);
    let complete = result.nodes.iter().filter(|node| node.standing == NodeStanding::Complete);
    match all - complete.clone().count() {
        0 => format!("All {} measured the plan.", counted(all as u64, "node")),
        missing => format!(
            "{} of {} measured the plan; the results exclude the other {missing}.",
            all - missing,
            counted(all as u64, "node")
        ),
    }
}

/// Says what every node was to measure.
fn plan(result: &FleetResult) -> String {
    let plan = &result.plan;
    let what = match plan.experiments.as_slice() {
        [] => "all experiments".to_string(),
        some => some.iter().map(|name| short(name, 60)).collect::<Vec<_>>().join(", "),
    };
    format!("Each node: {what}, profile {}, seed {}.", plan.profile.name(), plan.seed)
}

/// Names nodes: all of them if they are few.
fn some<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(NODES_MAX);
    let first = names.take(NODES_MAX).map(|name| short(name, 40));
    let more = (more > 0).then(|| format!("{more} more"));
    listed(&first.chain(more).collect::<Vec<_>>())
}

/// Says which nodes are compared, if not all are.
fn chosen(result: &FleetResult) -> Option<Block<'static>> {
    let complete = result.nodes.iter().filter(|node| node.standing == NodeStanding::Complete);
    let (all, sides) = (complete.count(), result.comparison.as_ref()?.sides.len());
    (sides < all).then(|| {
        Block::plain(format!(
            "Of {all} nodes {} are compared with the first: the outliers, then those that lie farthest \
             from the others in any finding. The spreads are of all nodes.",
            sides - 1
        ))
    })
}

/// Returns what became of each node. Where lines are few, of many nodes only those that did not measure
/// without doubt; on a page the others are folded.
fn nodes(result: &FleetResult, whole: bool) -> Vec<Block<'static>> {
    let are_few = result.nodes.len() <= if whole { ROWS_MAX } else { NODES_MAX };
    let is_fine =
        |node: &NodeResult| node.standing == NodeStanding::Complete && node.doubts.is_empty();
    let table = |what: &'static str| {
        Table::of(&["node", "state", "attempt", "machine", "CPUs"]).kind("wide compared", what)
    };
    let (mut shown, mut folded) = (table("what became of each node"), table("the other nodes"));
    for node in &result.nodes {
        let is_shown = are_few || !is_fine(node) && shown.rows.len() < ROWS_MAX;
        if is_shown { &mut shown } else { &mut folded }.row(node_cells(node));
    }
    let noun = if shown.rows.is_empty() { "complete node" } else { "other node" };
    let mut blocks = vec![Block::heading(2, "The nodes")];
    if !shown.rows.is_empty() {
        blocks.push(Block::Table(shown));
    } else if !whole {
        return Vec::new();
    }
    if !folded.rows.is_empty() {
        let label = counted(folded.rows.len() as u64, noun);
        blocks.push(match whole {
            true => Block::fold(label, vec![Block::Table(folded)]),
            false => Block::small(format!("{label}: in the report.")),
        });
    }
    let doubts = doubts(result);
    let left_out = Block::left_out(doubts.len(), ROWS_MAX, "more doubt", ": in result.json.");
    blocks.extend(doubts.into_iter().take(ROWS_MAX).map(|text| Block::note(Tone::Care, text)));
    blocks.extend(left_out);
    blocks
}

/// Returns what is to be doubted, each with the nodes that say it.
fn doubts(result: &FleetResult) -> Vec<String> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for node in &result.nodes {
        for doubt in node.doubts.iter().take(DOUBTS_MAX) {
            let place = *places.entry(doubt).or_insert_with(|| {
                all.push((doubt, Vec::new()));
                all.len() - 1
            });
            all[place].1.push(&node.name);
        }
    }
    let text = |(doubt, nodes): (&str, Vec<&str>)| {
        format!("{}: {}", some(nodes.into_iter()), short(doubt, 400))
    };
    all.into_iter().map(text).collect()
}

fn node_cells(node: &NodeResult) -> [Text; 5] {
    let state = standing(node.standing);
    let reason = stated(&node.reason).map(|reason| short(reason, 300));
    let state = wording::clauses([Some(state.into()), reason], ": ").unwrap_or_default();
    let host = (node.host != node.name && !node.kind.is_empty()).then(|| short(&node.host, 60));
    let kind = stated(&node.kind).map(|kind| short(kind, 120));
    let machine = wording::clauses([host, kind], " · ").unwrap_or_default();
    let cpus = match node.owns_all_cpus {
        Some(true) => "all".into(),
        Some(false) => Text::strong("not all of the node's"),
        None => "–".into(),
    };
    [short(&node.name, 80).into(), state.into(), attempt(node).into(), machine.into(), cpus]
}

/// Returns the mark and the word of what became of a node.
fn standing(standing: NodeStanding) -> &'static str {
    match standing {
        NodeStanding::Complete => "✓ complete",
        NodeStanding::Refused => "✗ session rejected",
        NodeStanding::Waiting => "… queued",
        NodeStanding::Running => "… measuring",
        NodeStanding::Lost => "✗ node lost",
        NodeStanding::Failed => "✗ failed",
        NodeStanding::Missing => "✗ missing",
    }
}

/// Returns which attempt it was, and its trials.
fn attempt(node: &NodeResult) -> String {
    let parts = [
        node.job.as_ref().map(|job| format!("job {}", short(job, 40))),
        (node.restart > 0).then(|| counted(node.restart.into(), "restart")),
        (node.attempts > 1).then(|| format!("{} submissions", node.attempts)),
        (node.trials > 0).then(|| counted(node.trials, "trial")),
    ];
    wording::clauses(parts, ", ").unwrap_or_default()
}

/// Returns every finding on every node whose session was used, with its interval.
fn side_by_side(result: &FleetResult, whole: bool) -> Vec<Block<'static>> {
    let Some(comparison) = &result.comparison else {
        return Vec::new();
    };
    let findings = comparison.experiments.iter().flat_map(|experiment| {
        experiment.findings.iter().map(move |finding| (experiment.id.as_str(), finding))
    });
    let all: Vec<(&str, &ComparedQuantity)> = findings.collect();
    if all.is_empty() || (!whole && result.nodes.len() > NODES_MAX) {
        return Vec::new();
    }
    let mut table = Table::of(&["finding"]).kind("wide compared", "every finding on every node");
    let heads = comparison.sides.iter().map(|side| short(&side.name, 40));
    table.columns.extend(heads.map(|head| Column { head, number: true }));
    let most = if whole { usize::MAX } else { FINDINGS_MAX };
    for (experiment, finding) in all.iter().take(most) {
        let sentence = without_number(&finding.sentence);
        let name = format!("{}: {}", short(experiment, 60), short(&sentence, 300));
        let terms = terms_of(&finding.quantity, finding.unit.as_ref());
        let values = finding.values.iter().map(|value| compare::value_cell(value.as_ref(), terms));
        table.row(std::iter::once(name.into()).chain(values));
    }
    let mut blocks = vec![Block::heading(2, "Side by side"), Block::Table(table)];
    blocks.extend(Block::left_out(all.len(), most, "more finding", ": in the report."));
    blocks
}

/// Returns how far machines of one kind lie apart, the widest spread first.
fn spreads(result: &FleetResult, whole: bool) -> Vec<Block<'static>> {
    let mut blocks = Vec::new();
    for (at, kind) in result.kinds.iter().enumerate() {
        let spreads = result.spreads.iter().filter(|spread| spread.kind as usize == at);
        let mut own: Vec<&Spread> = spreads.collect();
        if own.is_empty() {
            continue;
        }
        own.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let most = if whole { usize::MAX } else { SPREADS_MAX };
        let table = Table::of(&SPREAD_HEADS)
            .kind("wide compared", "spreads between machines")
            .rows(own.iter().take(most).map(|spread| spread_cells(spread)));
        let machines = format!("{} machines: {}", kind.machines, short(&kind.kind, 200));
        blocks.extend([Block::heading(3, machines), Block::Table(table)]);
        blocks.extend(Block::left_out(own.len(), most, "more spread", ": in the report."));
    }
    if blocks.is_empty() {
        return blocks;
    }
    let about = "Each finding is one number per machine, with its own uncertainty. The spread is the \
                 standard deviation of these numbers, relative where all are positive (of their \
                 logarithms). Noise alone would make the root mean square of their standard errors. \
                 The rest is due to the machines, or to what changes from one session to the next: one \
                 session per machine cannot separate these two.";
    let heading = Block::heading(2, "How far machines of one kind lie apart");
    [heading, Block::plain(about)].into_iter().chain(blocks).collect()
}

/// The columns of spreads.
const SPREAD_HEADS: [&str; 6] =
    ["finding", "#machines", "#spread", "#of noise alone", "#left for the machines", "#range"];

fn spread_cells(spread: &Spread) -> [Text; 6] {
    let number =
        |x: Option<f64>| x.map_or("–".into(), |x| Text::from(deviation(spread, x)).sorted(x));
    let at = |x: f64| number::rounded(x, terms(spread));
    [
        format!("{}: {}", short(&spread.experiment, 60), finding(spread)).into(),
        spread.machines.to_string().into(),
        number(Some(spread.seen)),
        number(spread.expected),
        number(spread.between),
        format!("{} to {}", at(spread.smallest), at(spread.largest)).into(),
    ]
}

/// Returns what spreads are ordered by: relative ones come first, since the others have no common terms.
fn size(spread: &Spread) -> f64 {
    if spread.relative { 1.0 + spread.between.unwrap_or(spread.seen) } else { 0.0 }
}

/// Returns a spread's terms.
fn terms(spread: &Spread) -> Terms<'_> {
    terms_of(&spread.quantity, spread.unit.as_ref())
}

/// Returns a standard deviation of a spread: a percentage where it is relative.
fn deviation(spread: &Spread, x: f64) -> String {
    match spread.relative {
        true => number::share(x),
        false => number::rounded(x, terms(spread)),
    }
}

/// Returns the sentence of a finding with the median of the machines in it.
fn finding(spread: &Spread) -> String {
    let point = number::rounded(spread.median, terms(spread));
    let median = Some(Parts { point, interval: String::new() });
    let (before, median, after) = number::placed(&spread.sentence, median);
    short(&format!("{before}{}{after}", median.map_or(String::new(), |it| it.point)), 300)
}

/// Returns the machines that are unlike the others, or why none was looked for.
fn outliers(result: &FleetResult) -> Vec<Block<'static>> {
    if result.comparison.is_none() && result.spreads.is_empty() {
        return Vec::new();
    }
    let outliers = &result.outliers;
    let numbers = counted(u64::from(outliers.looked_at), "number");
    let answer = match (&outliers.too_few, outliers.found.len()) {
        (Some(why), _) => format!("No outlier was looked for: {}.", short(why, 200)),
        (None, 0) => format!("No machine is an outlier in {numbers}."),
        (None, found) => format!("Outliers in {found} of {numbers}:"),
    };
    let mut blocks = vec![Block::heading(2, "Outliers"), Block::plain(answer)];
    let found = outliers.found.iter().filter_map(|one| outlier(result, one));
    blocks.extend(found.map(|text| Block::note(Tone::Care, text)));
    let rule = format!("The rule: {}.", short(&outliers.rule, 500));
    blocks.push(Block::small(rule));
    blocks
}

/// Returns an outlier in a sentence; `None` where its spread is missing.
fn outlier(result: &FleetResult, outlier: &Outlier) -> Option<String> {
    let spread = result.spreads.get(outlier.spread as usize)?;
    Some(format!(
        "{} differs from the other machines in {}: {}, where their median is {}; {} standard \
         deviations from the mean (p {}). {}",
        short(&outlier.node, 60),
        short(&spread.experiment, 60),
        joined(&parts(&outlier.value, terms(spread))),
        number::rounded(spread.median, terms(spread)),
        number::rounded(outlier.distance, Terms::Plain),
        probability(outlier.p_value),
        match outlier.own_noise {
            true => {
                "Its own interval reaches that median: its session was noisy, which need not be due \
                 to the machine."
            }
            false => "Its own interval does not reach that median.",
        }
    ))
}

#[cfg(test)]
mod tests;
