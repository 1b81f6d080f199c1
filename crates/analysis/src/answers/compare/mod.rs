//! All of what `scruple compare` says.
//!
//! Sessions are compared **unpaired**: their trials have no block in common, so that what a machine
//! did meanwhile is in the difference. What was formed within a session, block by block (a finding
//! that is a ratio), has lost its own drift before it is compared; the plain rows of responses have
//! not. With several sessions on every side the session is the unit, and Welch's t over the
//! sessions' centres holds what changes from one to the next; with one session a side nothing can,
//! and the comparison says so.
//!
//! No more than one session's trials need be held at a time. The manifests alone say what is asked
//! of each session ([`Questions`]); its trials become a [`Digest`] of numbers, in which the trials
//! of a session are one number with its interval, or one number alone where the session is the unit;
//! and the digests of all sessions become the comparison ([`Answers`]).

mod asked;
mod between;
mod column;
mod condition;
mod contrast;
mod definitions;
mod digest;
mod experiment;
mod facts;
mod gate;
mod gathered;
mod heads;
mod reading;

#[cfg(test)]
mod tests;

pub use asked::Questions;
pub use condition::{Condition, Direction};
#[cfg(test)]
pub(crate) use contrast::{Arm, Contrast};
pub use gathered::{Answers, Digest};
pub use heads::{Head, Heads, SideHeads};

use crate::stats::hommel::hommel;
use crate::stats::interval::LEVEL;
use crate::stats::tail::binomial_at_least;
use experiment::{Compared, compared};
use model::{COMPARISON_FORMAT, Comparison, SessionEffect, Side};
use reading::{Reading, Readings};

impl Answers {
    /// Returns all that the sessions say of each other, in the words of the scruple that compares.
    ///
    /// `differs` shares its error (Hommel) within a family: the findings are one, what the experiments
    /// ask and were declared to before anybody measured; the rows of responses are another, all that
    /// there was to look at beside; the same computation is the third. Each errs in at most 5 % of
    /// comparisons. Were they one, the few that are asked would pay for the hundreds that are not: of
    /// 470 numbers some 40 are findings. Gates share their error over what each of them looks at.
    pub fn end(self, scruple: &str, conditions: &[Condition]) -> Comparison {
        let sides = &self.questions.sides;
        let own = self.questions.experiments.iter().zip(&self.experiments);
        let mut experiments: Vec<Compared> =
            own.map(|(asked, own)| compared(&self, asked, own)).collect();
        (0..sides.len().saturating_sub(1))
            .for_each(|side| between::allow_for(&mut experiments, side));
        let mut controls = controls(&self);
        decide(experiments.iter_mut().flat_map(|it| &mut it.findings).flatten().flatten());
        decide(experiments.iter_mut().flat_map(|it| &mut it.rows).flatten().flatten());
        experiments.iter_mut().for_each(Compared::agree);
        decide(controls.iter_mut().flatten());
        let heads: Vec<&[Head]> = sides.iter().map(|side| side.heads.as_slice()).collect();
        let invalid = facts::invalid(&heads);
        let gates =
            conditions.iter().map(|one| gate::gate(one, &self, &experiments, &invalid)).collect();
        let controls: Vec<Option<SessionEffect>> =
            controls.into_iter().map(|reading| reading.map(|it| it.effect)).collect();
        let mut comparison = Comparison {
            format: COMPARISON_FORMAT,
            scruple: scruple.to_string(),
            sides: sides.iter().zip(&self.sides).map(|(side, own)| described(side, own)).collect(),
            facts: facts::facts(&heads),
            alike: facts::alike(&heads),
            warnings: Vec::new(),
            controls,
            experiments: experiments.into_iter().map(|one| one.described()).collect(),
            gates,
        };
        comparison.warnings = facts::warnings(&self, &comparison);
        comparison
    }
}

/// Marks which readings of a family stand as differences, how large one must be to stand next to those that
/// do not, and how many trials that takes. What has no noise shares no error.
fn decide<'a>(readings: impl Iterator<Item = &'a mut Reading>) {
    let mut readings: Vec<&mut Reading> = readings.collect();
    let p_values: Vec<f64> = readings
        .iter()
        .filter(|reading| reading.has_noise())
        .filter_map(|reading| reading.effect.p_value)
        .collect();
    let stands = hommel(&p_values);
    let open = stands.iter().filter(|stands| !**stands).count();
    let mut stands = stands.into_iter();
    for reading in &mut readings {
        if reading.has_noise() {
            let stands = reading.effect.p_value.is_some() && stands.next() == Some(true);
            reading.effect.differs = stands;
            reading.effect.floor_of_verdict = reading.floor(open);
            let needed = reading.contrast.as_ref().and_then(|it| it.trials_needed(open));
            reading.effect.trials_needed = needed.map(|it| it as u32).filter(|_| !stands);
        } else {
            reading.effect.differs = reading.effect.p_value == Some(0.0);
        }
    }
}

fn described(side: &SideHeads, own: &gathered::Side) -> Side {
    let first = side.heads.iter().min_by_key(|head| head.manifest.started_unix_ms);
    Side {
        name: side.name.clone(),
        sessions: side.heads.iter().map(|it| it.manifest.session.clone()).collect(),
        host: first.map_or(String::new(), |it| it.manifest.environment.host.clone()),
        started_unix_ms: first.map_or(0, |it| it.manifest.started_unix_ms),
        trials: own.trials,
        trusted: trusted(own),
    }
}

/// Reports whether a side is to be trusted; `None` where none of them tells
/// identical treatments apart and some were not looked at. Each session does so by chance once in twenty, so
/// that of many some will: a side is distrusted where more do than chance explains (exact binomial test,
/// one-sided).
fn trusted(own: &gathered::Side) -> Option<bool> {
    let looked_at = own.sessions - own.unknown;
    let by_chance = binomial_at_least(own.distrusted as f64, looked_at as f64, 1.0 - LEVEL);
    match (own.distrusted, own.unknown) {
        // Of one session it is 1 in 20 to the last digit, or nearly.
        (1.., _) if by_chance < 1.0 - LEVEL + 1e-9 => Some(false),
        (_, 0) => Some(true),
        _ => None,
    }
}

/// Returns the same computation on each side but the base against the base.
fn controls(answers: &Answers) -> Readings {
    let others = 1..answers.sides.len();
    let Some(control) = &answers.questions.control else { return others.map(|_| None).collect() };
    let one = |side: usize| {
        let (own, base) = (&answers.control[side], &answers.control[0]);
        if !control.comparable[side] || own.is_empty() || base.is_empty() {
            return None;
        }
        let mut reading = Reading::of(own, base, true);
        let at = control.design.complete(&control.control.a);
        reading.add_remark(&format!("{} at {at}", control.response.label));
        Some(reading)
    };
    others.map(one).collect()
}
