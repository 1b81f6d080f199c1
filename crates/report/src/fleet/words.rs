//! What the terminal and the page say alike.

use crate::format::{self, Terms, terms_of};
use crate::words::{counted, short};
use model::{FleetResult, NodeResult, NodeStanding, Outlier, Spread};

/// The mark and the word of what became of a node.
pub(super) fn standing(standing: NodeStanding) -> (&'static str, &'static str) {
    match standing {
        NodeStanding::Complete => ("✓", "complete"),
        NodeStanding::Refused => ("✗", "not taken"),
        NodeStanding::Waiting => ("…", "in line"),
        NodeStanding::Running => ("…", "measures"),
        NodeStanding::Lost => ("✗", "node lost"),
        NodeStanding::Failed => ("✗", "failed"),
        NodeStanding::Missing => ("✗", "missing"),
    }
}

/// Which attempt it was, and where its session lies.
pub(super) fn attempt(node: &NodeResult) -> String {
    let mut parts = Vec::new();
    if let Some(job) = &node.job {
        parts.push(format!("job {}", short(job, 40)));
    }
    if node.restart > 0 {
        parts.push(counted(u64::from(node.restart), "restart"));
    }
    if node.attempts > 1 {
        parts.push(format!("{} submissions", node.attempts));
    }
    if node.trials > 0 {
        parts.push(counted(node.trials, "trial"));
    }
    parts.join(", ")
}

/// How many nodes have a session, in a sentence.
pub(super) fn head(result: &FleetResult) -> String {
    let all = result.nodes.len();
    let complete =
        result.nodes.iter().filter(|node| node.standing == NodeStanding::Complete).count();
    match all - complete {
        0 => format!("All {} measured the plan.", counted(all as u64, "node")),
        missing => format!(
            "{complete} of {} measured the plan; {missing} did not, and what follows is without {}.",
            counted(all as u64, "node"),
            if missing == 1 { "it" } else { "them" }
        ),
    }
}

/// Which nodes are one machine, in sentences.
pub(super) fn same_machines(result: &FleetResult) -> Vec<String> {
    let told = result.same_machine.iter().map(|names| {
        let names: Vec<String> = names.iter().map(|name| short(name, 40)).collect();
        format!(
            "{} are one machine (one kernel, one boot) under several names: what differs between them \
             is what changes from session to session, and they stole from each other what they used \
             at the same time.",
            crate::comparison::joined(&names)
        )
    });
    told.collect()
}

/// A spread's terms.
pub(super) fn terms(spread: &Spread) -> Terms<'_> {
    terms_of(&spread.quantity, spread.unit.as_ref())
}

/// A standard deviation of a spread: a percentage where it is relative.
pub(super) fn deviation(spread: &Spread, x: f64) -> String {
    match spread.relative {
        true => format!("{} %", format::rounded(100.0 * x, Terms::Plain)),
        false => format::rounded(x, terms(spread)),
    }
}

/// The sentence of a finding with the middle of the machines in it.
pub(super) fn finding(spread: &Spread) -> String {
    let Some((before, after)) = spread.sentence.split_once("{}") else {
        return short(&spread.sentence, 300);
    };
    let mut middle = format::rounded(spread.median, terms(spread));
    // "6.5 times", not "6.5× times".
    let said = ["times", "×"].iter().any(|word| after.trim_start().starts_with(word));
    if let Some(bare) = middle.strip_suffix('×').filter(|_| said) {
        middle.truncate(bare.len());
    }
    short(&format!("{before}{middle}{after}"), 300)
}

/// From the smallest to the largest.
pub(super) fn range(spread: &Spread) -> String {
    let at = |x: f64| format::rounded(x, terms(spread));
    format!("{} to {}", at(spread.smallest), at(spread.largest))
}

/// An outlier in a sentence.
pub(super) fn outlier(result: &FleetResult, outlier: &Outlier) -> String {
    let Some(spread) = result.spreads.get(outlier.spread as usize) else {
        return String::new();
    };
    format!(
        "{} is none like the others in {}: {} where their middle is {}, {} standard deviations from \
         the mean (p {}). {}",
        short(&outlier.node, 60),
        short(&spread.experiment, 60),
        format::joined(&format::parts(&outlier.value, terms(spread))),
        format::rounded(spread.median, terms(spread)),
        format::rounded(outlier.distance, Terms::Plain),
        crate::comparison::probability(outlier.p_value),
        match outlier.own_noise {
            true => {
                "Its own interval reaches that middle: its session was noisy, which need not be its \
                 machine."
            }
            false => "Its own interval does not reach that middle.",
        }
    )
}

/// What the rule found, or why it found nothing, in a sentence.
pub(super) fn rule(result: &FleetResult) -> String {
    let outliers = &result.outliers;
    match (&outliers.too_few, outliers.found.len()) {
        (Some(why), _) => format!("No outlier was looked for: {}.", short(why, 200)),
        (None, 0) => format!(
            "No machine is an outlier in {}.",
            counted(u64::from(outliers.looked_at), "number")
        ),
        (None, _) => {
            format!("Of {} that were looked at:", counted(u64::from(outliers.looked_at), "number"))
        }
    }
}
