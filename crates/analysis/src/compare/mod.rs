//! One call computes all of what `scruple compare` says.
//!
//! Sessions are compared **unpaired**: their trials have no block in common, so that what a machine
//! did meanwhile is in the difference. What was formed within a session, block by block (a finding
//! that is a ratio), has lost its own drift before it is compared; the plain rows of responses have
//! not. With several sessions on every side the session is the unit, and Welch's t over the
//! sessions' centres holds what changes from one to the next; with one session a side nothing can,
//! and the comparison says so.

mod condition;
mod contrast;
mod definitions;
mod experiment;
mod facts;
mod gate;
mod reading;

#[cfg(test)]
mod tests;

pub use condition::{Condition, Direction};
#[cfg(test)]
pub(crate) use contrast::{Arm, Contrast};

use crate::holm::holm;
use experiment::{Compared, compared};
use model::{
    COMPARISON_FORMAT, Comparison, Control, Design, Manifest, Record, SessionEffect, Side, Summary,
    Weight,
};
use reading::{Numbers, Reading, of_trials};

/// The experiment whose treatments are the same on any machine: what differs in it between
/// sessions is the machine.
const SAME_COMPUTATION: &str = "null";

/// What is to be compared.
#[derive(Clone, Copy, Debug)]
pub struct CompareInput<'a> {
    /// Version of the scruple that compares.
    pub scruple: &'a str,
    /// The base first; at least 2.
    pub sides: &'a [CompareSide<'a>],
    /// The only experiments to look at; empty means all.
    pub only: &'a [String],
    /// What is asked of the result.
    pub conditions: &'a [Condition],
}

/// One side: one session, or several of the same setting.
#[derive(Clone, Copy, Debug)]
pub struct CompareSide<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its sessions, at least one.
    pub sessions: &'a [CompareSession<'a>],
}

/// A stored session with what its trials say.
#[derive(Clone, Copy, Debug)]
pub struct CompareSession<'a> {
    /// What was measured where.
    pub manifest: &'a Manifest,
    /// Its trials, in any order.
    pub records: &'a [Record],
    /// What analysis made of them.
    pub summary: &'a Summary,
}

impl<'a> CompareSession<'a> {
    fn design(&self, id: &str) -> Option<&'a Design> {
        self.manifest.designs.iter().find(|design| design.id == id)
    }
}

impl<'a> CompareSide<'a> {
    /// The experiment as the first session that has it defines it.
    fn design(&self, id: &str) -> Option<&'a Design> {
        self.sessions.iter().find_map(|session| session.design(id))
    }
}

/// All that some sessions say of each other.
///
/// `differs` shares its error (Holm) within a family: the findings are one, what the experiments ask
/// and were declared to before anybody measured; the rows of responses are another, all that there
/// was to look at beside; the same computation is the third. Each errs in at most 5 % of
/// comparisons. Were they one, the few that are asked would pay for the hundreds that are not: of
/// 470 numbers some 40 are findings. Gates share their error over what each of them looks at.
pub fn compare(input: &CompareInput<'_>) -> Comparison {
    let mut experiments: Vec<Compared> =
        wanted(input).iter().map(|id| compared(input.sides, id)).collect();
    let mut controls = controls(input.sides);
    decide(experiments.iter_mut().flat_map(Compared::findings_mut));
    decide(experiments.iter_mut().flat_map(Compared::rows_mut));
    decide(controls.iter_mut().flatten());
    let facts = facts::facts(input.sides);
    let invalid: Vec<bool> = (0..input.sides.len()).map(|at| is_invalid(&facts, at)).collect();
    let conditions = input.conditions.iter();
    let gates =
        conditions.map(|one| gate::gate(one, input.sides, &experiments, &invalid)).collect();
    let controls: Vec<Option<SessionEffect>> =
        controls.into_iter().map(|reading| reading.map(|it| it.effect)).collect();
    let mut comparison = Comparison {
        format: COMPARISON_FORMAT,
        scruple: input.scruple.to_string(),
        sides: input.sides.iter().map(side).collect(),
        facts,
        alike: facts::alike(input.sides),
        warnings: Vec::new(),
        controls,
        experiments: experiments.into_iter().map(|one| one.told()).collect(),
        gates,
    };
    comparison.warnings = facts::warnings(input.sides, &comparison);
    comparison
}

/// The experiments in the order of the base, then what other sides alone have.
fn wanted(input: &CompareInput<'_>) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for session in input.sides.iter().flat_map(|side| side.sessions) {
        for design in &session.manifest.designs {
            let asked = input.only.is_empty() || input.only.contains(&design.id);
            if asked && !ids.contains(&design.id) {
                ids.push(design.id.clone());
            }
        }
    }
    ids
}

/// Which readings of a family stand as differences, and how large one must be to stand. What has no noise
/// shares no error.
fn decide<'a>(readings: impl Iterator<Item = &'a mut Reading>) {
    let mut readings: Vec<&mut Reading> = readings.collect();
    let p_values: Vec<f64> = readings
        .iter()
        .filter(|reading| reading.has_noise())
        .filter_map(|reading| reading.effect.p_value)
        .collect();
    let mut stands = holm(&p_values).into_iter();
    for reading in &mut readings {
        if reading.has_noise() {
            let stands = reading.effect.p_value.is_some() && stands.next() == Some(true);
            reading.effect.differs = stands;
            reading.effect.floor_of_verdict = reading.floor(p_values.len());
        } else {
            reading.effect.differs = reading.effect.p_value == Some(0.0);
        }
    }
}

/// Whether a fact makes the numbers of a side another thing than the base's.
fn is_invalid(facts: &[model::FactRow], at: usize) -> bool {
    let of = |row: &model::FactRow| row.values.get(at) != row.values.first();
    facts.iter().any(|row| row.weight == Weight::Invalid && of(row))
}

fn side(side: &CompareSide<'_>) -> Side {
    let first = side.sessions.iter().min_by_key(|session| session.manifest.started_unix_ms);
    Side {
        name: side.name.to_string(),
        sessions: side.sessions.iter().map(|it| it.manifest.session.clone()).collect(),
        host: first.map_or(String::new(), |it| it.manifest.environment.host.clone()),
        started_unix_ms: first.map_or(0, |it| it.manifest.started_unix_ms),
        trials: side.sessions.iter().map(|it| it.records.len() as u64).sum(),
        trusted: trusted(side),
    }
}

/// What the A/A controls within its sessions say of a side: what was not looked at is not known.
fn trusted(side: &CompareSide<'_>) -> Option<bool> {
    let trusts = || side.sessions.iter().map(|it| &it.summary.trust);
    let (found, unknown) = (
        trusts().any(|trust| !trust.holds && !trust.controls.is_empty()),
        trusts().any(|trust| trust.controls.is_empty()),
    );
    if found { Some(false) } else { (!unknown).then_some(true) }
}

/// The same computation on each side but the base against the base. Its two names mean one
/// treatment, so that the trials of both count.
fn controls(sides: &[CompareSide<'_>]) -> Vec<Option<Reading>> {
    let same = |side: &CompareSide<'_>| -> Option<(Control, u32)> {
        let design = side.design(SAME_COMPUTATION)?;
        Some((design.controls.first()?.clone(), design.version))
    };
    let Some((base, others)) = sides.split_first() else {
        return Vec::new();
    };
    others
        .iter()
        .map(|side| {
            let (control, version) = same(base)?;
            if same(side)?.1 != version
                || definitions::refusal(&[*base, *side], SAME_COMPUTATION).is_some()
            {
                return None;
            }
            let design = base.design(SAME_COMPUTATION)?;
            let response = design.response(&control.response)?;
            let numbers = |side: &CompareSide<'_>| -> Numbers {
                let of = |session: &CompareSession<'_>| {
                    let samples = crate::samples(design, session.records, &response.name);
                    let cells = [&control.a, &control.b].map(|cell| design.complete(cell));
                    let trials = cells.iter().filter_map(|cell| samples.get(cell)).flatten();
                    trials.map(|(_, value)| *value).collect::<Vec<f64>>()
                };
                side.sessions.iter().map(of).filter(|trials| !trials.is_empty()).collect()
            };
            let (own, base) = (numbers(side), numbers(base));
            if own.is_empty() || base.is_empty() {
                return None;
            }
            let mut reading = of_trials(&own, &base, response);
            let at = design.complete(&control.a);
            reading.add_remark(&format!("{} at {at}", response.label));
            Some(reading)
        })
        .collect()
}
