//! What an experiment's figures are about: sets of treatments that belong beside one another,
//! and the response that each shows.

use model::{Design, Estimate, Grid, Profile, Response, Treatment, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// Responses of a twin study that get a panel each.
pub(super) const TWIN_PANELS: usize = 4;

/// What was measured, by response and treatment.
pub(super) type Estimates<'a> = BTreeMap<(&'a str, &'a Treatment), Estimate>;

/// The response of the first finding; failing that, the first that was measured.
pub(super) fn main_response<'a>(
    design: &'a Design,
    estimates: &Estimates<'_>,
) -> Option<&'a Response> {
    let first = design.findings.first().and_then(|f| design.response(f.quantity.response()));
    first
        .filter(|response| is_measured(response, estimates))
        .or_else(|| design.responses.iter().find(|response| is_measured(response, estimates)))
        .or(design.responses.first())
}

/// The main response where it was measured in a set of treatments, at two of them at least, and
/// is not the same at all of them, which no chart need show; else the first of which that is true,
/// failing that one that was measured at two, or at one.
pub(super) fn response_for<'a>(
    design: &'a Design,
    estimates: &Estimates<'_>,
    main: &'a Response,
    treatments: &BTreeSet<Treatment>,
) -> &'a Response {
    let here = |response: &Response| {
        treatments.iter().filter(|t| estimates.contains_key(&(response.name.as_str(), t))).count()
    };
    let differs = |response: &Response| {
        let mut points = treatments
            .iter()
            .filter_map(|t| estimates.get(&(response.name.as_str(), t)))
            .map(|estimate| estimate.point.to_bits());
        let first = points.next();
        points.any(|other| Some(other) != first)
    };
    let all = || std::iter::once(main).chain(&design.responses);
    let best = |least: usize| all().find(|response| here(response) >= least);
    // A response that is missing at some treatments is no substitute for one that is not.
    let most = here(main).max(2);
    // What is computed may be the very same whatever a factor is, and would be drawn as flat lines.
    let follows =
        |response: &Response| !main.exact || follows_all(design, estimates, response, treatments);
    let telling = |follows: &dyn Fn(&Response) -> bool| {
        all().find(|it| here(it) >= most && differs(it) && follows(it))
    };
    telling(&follows)
        .or_else(|| telling(&|_| true))
        .or_else(|| best(2))
        .or_else(|| best(1))
        .unwrap_or(main)
}

/// Whether a response follows each factor that varies: there are two treatments which differ in
/// that factor alone, and in which it differs.
fn follows_all(
    design: &Design,
    estimates: &Estimates<'_>,
    response: &Response,
    treatments: &BTreeSet<Treatment>,
) -> bool {
    let point = |treatment: &Treatment| {
        estimates.get(&(response.name.as_str(), treatment)).map(|it| it.point.to_bits())
    };
    design.factors.iter().all(|factor| {
        let mut seen: BTreeMap<Treatment, BTreeMap<&str, Option<u64>>> = BTreeMap::new();
        for treatment in treatments {
            let mut others = treatment.clone();
            others.levels_mut().remove(&factor.name);
            let level = treatment.level(&factor.name).unwrap_or_default();
            seen.entry(others).or_default().insert(level, point(treatment));
        }
        let varies = seen.values().any(|levels| levels.len() > 1);
        let moves = |levels: &BTreeMap<&str, Option<u64>>| {
            let known: BTreeSet<u64> = levels.values().flatten().copied().collect();
            known.len() > 1
        };
        !varies || seen.values().any(moves)
    })
}

fn is_measured(response: &Response, estimates: &Estimates<'_>) -> bool {
    estimates.keys().any(|(name, _)| *name == response.name)
}

/// What tells a panel that people draw by hand: time, CPU, memory, I/O. Each list holds the
/// better choices first.
type Kind = &'static [fn(&Response) -> bool];

const TWIN_KINDS: [Kind; TWIN_PANELS] = [
    &[|r| r.name == "wall_ns", |r| r.unit == Unit::Ns && !r.name.starts_with("cpu")],
    &[|r| r.name == "cpu_ppm", |r| r.name.starts_with("cpu")],
    &[|r| r.name == "pss_bytes", |r| names_any(r, &["pss", "uss", "rss", "memory"])],
    &[|r| r.name == "written_bytes", |r| names_any(r, &["writ", "device"])],
];

fn names_any(response: &Response, words: &[&str]) -> bool {
    response.unit == Unit::Bytes && words.iter().any(|word| response.name.contains(word))
}

/// One response for each of the four panels that people draw, where all four were measured;
/// else the main response and the first others of the design. Empty unless there are several.
pub(super) fn twin_responses<'a>(
    design: &'a Design,
    estimates: &Estimates<'_>,
    main: &'a Response,
) -> Vec<&'a Response> {
    let measured: Vec<&'a Response> =
        design.responses.iter().filter(|response| is_measured(response, estimates)).collect();
    let best = |kind: &Kind| {
        kind.iter().find_map(|fits| measured.iter().copied().find(|response| fits(response)))
    };
    let by_kind: Vec<&Response> = TWIN_KINDS.iter().filter_map(best).collect();
    if by_kind.len() == TWIN_PANELS {
        return by_kind;
    }
    let others = measured.iter().copied().filter(|response| response.name != main.name);
    let chosen: Vec<&Response> = std::iter::once(main).chain(others).take(TWIN_PANELS).collect();
    if chosen.len() > 1 { chosen } else { Vec::new() }
}

/// The treatments of each figure: one set per group of grids that vary the same factors, without
/// those that lie within another.
pub(super) fn groups(design: &Design, profile: Profile) -> Vec<BTreeSet<Treatment>> {
    let planned: BTreeSet<Treatment> = design.treatments(profile).into_iter().collect();
    // The second of two identical treatments is for trust, and no chart need show it; unless there
    // is nothing else.
    let first = |treatment: &Treatment| !design.repeats(treatment);
    let only_repetition = planned.iter().filter(|treatment| first(treatment)).count() < 2;
    if design.grids.is_empty() {
        return vec![planned];
    }
    let mut by_factors: Vec<(Vec<&str>, BTreeSet<Treatment>)> = Vec::new();
    for grid in design.grids.iter().filter(|grid| grid.from <= profile) {
        let mut names: Vec<&str> = grid.vary.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        let mut treatments = with_counterparts(design, grid, profile, &planned);
        treatments.retain(|treatment| only_repetition || first(treatment));
        match by_factors.iter_mut().find(|(known, _)| *known == names) {
            Some((_, set)) => set.extend(treatments),
            None => by_factors.push((names, treatments)),
        }
    }
    let sets: Vec<BTreeSet<Treatment>> = by_factors.into_iter().map(|(_, set)| set).collect();
    let within = |i: usize| {
        (0..sets.len()).any(|j| {
            j != i && sets[i].is_subset(&sets[j]) && (sets[i].len() < sets[j].len() || j < i)
        })
    };
    (0..sets.len()).filter(|i| !within(*i)).map(|i| sets[i].clone()).collect()
}

/// The treatments of one grid. What a grid adds to a design is the factor it names last: where
/// it leaves that factor's baseline to another grid, the treatments that differ in nothing but
/// this factor's baseline stand beside its own, since they are what they are compared with.
fn with_counterparts(
    design: &Design,
    grid: &Grid,
    profile: Profile,
    planned: &BTreeSet<Treatment>,
) -> BTreeSet<Treatment> {
    let alone =
        Design { grids: vec![grid.clone()], factors: design.factors.clone(), ..Design::default() };
    let own = alone.treatments(profile);
    let mut all: BTreeSet<Treatment> = own.iter().cloned().collect();
    if let Some((name, levels)) = grid.vary.last()
        && let Some(factor) = design.factor(name)
        && !levels.is_empty()
        && !levels.contains(&factor.baseline)
    {
        let baseline = model::Cell::default().with(name, &factor.baseline);
        let counterparts = own.iter().map(|treatment| treatment.with(&baseline));
        all.extend(counterparts.filter(|treatment| planned.contains(treatment)));
    }
    all
}

/// The responses that the findings of a user's program are about, in their order: each is shown, as
/// its author put it in front. The main one alone where the catalog says what is to be seen.
pub(super) fn in_front<'a>(
    design: &'a Design,
    estimates: &Estimates<'_>,
    main: &'a Response,
) -> Vec<&'a Response> {
    let mut front = vec![main];
    if design.subject.is_some() {
        for finding in &design.findings {
            if let Some(response) = design.response(finding.quantity.response())
                && is_measured(response, estimates)
                && front.iter().all(|known| known.name != response.name)
            {
                front.push(response);
            }
        }
    }
    front
}
