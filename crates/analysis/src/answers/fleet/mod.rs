//! What the sessions of a fleet say of its machines: how far those of one kind lie apart, and which is
//! none like the others.

use crate::stats::hommel::hommel;
use crate::stats::order::{mean, median, sorted, variance};
use laws::tail::student_outside;
use model::{
    ComparedExperiment, ComparedQuantity, Comparison, Estimate, Manifest, NodeKind, Outlier,
    Outliers, Quantity, Spread,
};

/// Below this Grubbs' test mistakes what is usual for outliers (NIST/SEMATECH *e-Handbook of Statistical
/// Methods*, 1.3.5.17: not to be used for samples of six or fewer).
const MACHINES_MIN: usize = 7;

/// The test, with its source.
const RULE: &str = "Grubbs' test (Technometrics 11, 1969), two-sided, over the machines of one kind, \
for the machine farthest from the mean of each finding (of the logarithms, where all are positive); \
5 % over all findings together (Hommel). It asks for 7 machines or more, and of two outliers on one \
side it may miss both";

/// A node with its session.
#[derive(Clone, Copy, Debug)]
pub struct FleetMember<'a> {
    /// The node's name.
    pub name: &'a str,
    /// Its session.
    pub manifest: &'a Manifest,
}

/// What is said of the machines of a fleet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FleetSays {
    /// Nodes that are one machine under several names.
    pub same_machine: Vec<Vec<String>>,
    /// Nodes of one kind.
    pub kinds: Vec<NodeKind>,
    /// How far the machines of one kind lie apart.
    pub spreads: Vec<Spread>,
    /// Which is none like the others.
    pub outliers: Outliers,
    /// The places of the members: first the outliers, then by how far they lie from the others of their
    /// kind in any finding, in standard deviations, the farthest first.
    pub farthest: Vec<usize>,
}

/// Returns what the members, which are the sides of the comparison in its order, say of their machines.
///
/// Several nodes of one machine are one machine: the first of them stands for it.
pub fn fleet(members: &[FleetMember<'_>], comparison: Option<&Comparison>) -> FleetSays {
    // A kernel draws its boot's number anew each time, so that two sessions with the same one ran under
    // one kernel, whatever their nodes are called.
    let machines = grouped(members, |place, member| {
        let boot = &member.manifest.environment.boot;
        (boot.clone(), boot.is_empty().then_some(place))
    });
    let named = |places: &Vec<usize>| -> Vec<String> {
        places.iter().map(|place| members[*place].name.to_string()).collect()
    };
    let same_machine = machines.iter().map(|(_, places)| places);
    let same_machine = same_machine.filter(|places| places.len() > 1).map(named).collect();
    // Of each kind also the places of those that stand for their machines.
    let stands = |place: &usize| machines.iter().any(|(_, it)| it.first() == Some(place));
    let kinds =
        grouped(members, |_, member| kind(member.manifest)).into_iter().map(|(kind, all)| {
            let first: Vec<usize> = all.iter().copied().filter(stands).collect();
            (kind, all, first)
        });
    let kinds: Vec<(String, Vec<usize>, Vec<usize>)> = kinds.collect();
    let mut numbers = Vec::new();
    for (at, (_, _, first)) in kinds.iter().enumerate() {
        for experiment in comparison.iter().flat_map(|it| &it.experiments) {
            let findings = experiment.findings.iter();
            numbers.extend(findings.filter_map(|it| Points::of(at, first, experiment, it)));
        }
    }
    let kinds = kinds.iter().map(|(kind, places, first)| NodeKind {
        kind: kind.clone(),
        nodes: named(places),
        machines: first.len() as u32,
    });
    let outliers = outliers(members, &numbers);
    let is_outlier =
        |place: &usize| outliers.found.iter().any(|it| it.node == members[*place].name);
    let mut farthest = farthest(members.len(), &numbers);
    farthest.sort_by_key(|place| !is_outlier(place));
    FleetSays {
        same_machine,
        kinds: kinds.collect(),
        outliers,
        farthest,
        spreads: numbers.into_iter().map(|points| points.spread).collect(),
    }
}

/// Returns the places of the members that have the same key, in the order of the first of them.
fn grouped<K: PartialEq>(
    members: &[FleetMember<'_>],
    key: impl Fn(usize, &FleetMember<'_>) -> K,
) -> Vec<(K, Vec<usize>)> {
    let mut groups: Vec<(K, Vec<usize>)> = Vec::new();
    for (place, member) in members.iter().enumerate() {
        let key = key(place, member);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, places)) => places.push(place),
            None => groups.push((key, vec![place])),
        }
    }
    groups
}

/// Returns processor, CPUs and memory in words: what makes machines of one kind.
pub fn kind(manifest: &Manifest) -> String {
    let environment = &manifest.environment;
    let model = match environment.cpu_model.as_str() {
        "" => "unknown processor",
        model => model,
    };
    let gigabytes = (environment.memory_bytes as f64 / 1e9).round();
    format!("{model}, {} CPUs, {gigabytes} GB", environment.cpus_online)
}

/// One finding over the machines of one kind.
struct Points {
    spread: Spread,
    /// The member, its number in its own terms, and on the scale of the spread.
    each: Vec<(usize, Estimate, f64)>,
}

impl Points {
    /// Returns how the machines of a kind differ in a finding; `None` where fewer than two machines have a
    /// number, or it is computed and has no scatter.
    fn of(
        kind: usize,
        members: &[usize],
        experiment: &ComparedExperiment,
        finding: &ComparedQuantity,
    ) -> Option<Self> {
        let value = |place: &usize| Some((*place, finding.values.get(*place).copied().flatten()?));
        let values: Vec<(usize, Estimate)> = members.iter().filter_map(value).collect();
        let finite = values.iter().all(|(_, it)| it.point.is_finite() && !it.is_exact());
        if values.len() < 2 || !finite {
            return None;
        }
        let relative =
            has_logarithm(&finding.quantity) && values.iter().all(|(_, value)| value.point > 0.0);
        let scaled = |x: f64| if relative { x.ln() } else { x };
        let each: Vec<(usize, Estimate, f64)> =
            values.iter().map(|(place, it)| (*place, *it, scaled(it.point))).collect();
        let scale: Vec<f64> = each.iter().map(|(_, _, x)| *x).collect();
        let seen = variance(&scale)?.sqrt();
        let expected = expected(&values, relative, &finding.quantity);
        let points = sorted(&each.iter().map(|(_, it, _)| it.point).collect::<Vec<_>>());
        let spread = Spread {
            kind: kind as u32,
            experiment: experiment.id.clone(),
            finding: finding.id.clone(),
            sentence: finding.sentence.clone(),
            quantity: finding.quantity.clone(),
            unit: finding.unit.clone(),
            machines: each.len() as u32,
            median: median(&points)?,
            smallest: *points.first()?,
            largest: *points.last()?,
            relative,
            seen,
            expected,
            between: expected.map(|noise| (seen.powi(2) - noise.powi(2)).max(0.0).sqrt()),
        };
        Some(Points { spread, each })
    }

    /// Returns the member that is farthest from the mean, as an outlier that has still to stand: with its
    /// distance in standard deviations, and the p-value of the test (an upper bound that is exact where
    /// it is small). `at` is the place of the spread among all.
    fn grubbs(&self, members: &[FleetMember<'_>], at: usize) -> Option<Outlier> {
        let scale: Vec<f64> = self.each.iter().map(|(_, _, x)| *x).collect();
        let centre = mean(&scale)?;
        let (n, deviation) = (scale.len() as f64, self.spread.seen);
        if scale.len() < MACHINES_MIN || deviation <= 0.0 {
            return None;
        }
        let (place, value, x) = self
            .each
            .iter()
            .max_by(|a, b| (a.2 - centre).abs().total_cmp(&(b.2 - centre).abs()))?;
        let distance = (x - centre).abs() / deviation;
        let rest = ((n - 1.0).powi(2) / n - distance.powi(2)).max(0.0);
        let t = distance * (n - 2.0).sqrt() / rest.sqrt();
        Some(Outlier {
            node: members[*place].name.to_string(),
            spread: at as u32,
            value: *value,
            own_noise: (value.low..=value.high).contains(&self.spread.median),
            distance,
            p_value: (n * student_outside(n - 2.0, t)).min(1.0),
        })
    }
}

/// Reports whether a quantity is read as a multiple, where it is positive.
fn has_logarithm(quantity: &Quantity) -> bool {
    quantity.is_multiple() || matches!(quantity, Quantity::Value { .. })
}

/// Returns the root of the mean square of the numbers' own standard errors, on the scale of the spread.
fn expected(values: &[(usize, Estimate)], relative: bool, quantity: &Quantity) -> Option<f64> {
    // The standard error of a ratio is on the scale of logarithms already.
    let of_ratio = quantity.is_multiple();
    let square = |(_, value): &(usize, Estimate)| {
        let error = value.standard_error?;
        let error = match (relative, of_ratio) {
            (true, false) => error / value.point,
            (false, true) => error * value.point,
            _ => error,
        };
        Some(error.powi(2))
    };
    let squares: Vec<f64> = values.iter().map(square).collect::<Option<_>>()?;
    mean(&squares).map(f64::sqrt)
}

/// Returns the places of the members by their largest distance in any finding, the farthest first; those
/// without a number come last.
fn farthest(members: usize, numbers: &[Points]) -> Vec<usize> {
    let mut distances = vec![f64::NEG_INFINITY; members];
    for points in numbers.iter().filter(|points| points.spread.seen > 0.0) {
        let scale: Vec<f64> = points.each.iter().map(|(_, _, x)| *x).collect();
        let Some(centre) = mean(&scale) else { continue };
        for (place, _, x) in &points.each {
            let distance = (x - centre).abs() / points.spread.seen;
            distances[*place] = distances[*place].max(distance);
        }
    }
    let mut places: Vec<usize> = (0..members).collect();
    places.sort_by(|a, b| distances[*b].total_cmp(&distances[*a]));
    places
}

fn outliers(members: &[FleetMember<'_>], numbers: &[Points]) -> Outliers {
    let tested = numbers.iter().enumerate().filter_map(|(at, it)| it.grubbs(members, at));
    let tested: Vec<Outlier> = tested.collect();
    let looked_at = tested.len() as u32;
    let stands = hommel(&tested.iter().map(|it| it.p_value).collect::<Vec<f64>>());
    let found = tested.into_iter().zip(stands).filter(|(_, stands)| *stands);
    let mut found: Vec<Outlier> = found.map(|(outlier, _)| outlier).collect();
    found.sort_by(|a, b| a.p_value.total_cmp(&b.p_value));
    let most = numbers.iter().map(|points| points.each.len()).max().unwrap_or_default();
    let too_few = (looked_at == 0).then(|| match most {
        0 => "no finding was measured on two machines of one kind".to_string(),
        most => {
            format!("at most {most} machines of one kind, and the rule asks for {MACHINES_MIN}")
        }
    });
    Outliers { rule: RULE.into(), looked_at, too_few, found }
}

#[cfg(test)]
mod tests;
