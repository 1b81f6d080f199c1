//! What becomes of a condition.

use super::column::Column;
use super::condition::{Condition, Direction};
use super::experiment::Compared;
use super::gathered::{Answers, At};
use super::heads::SideHeads;
use super::reading::{Reading, Scale};
use crate::stats::hommel::hommel;
use model::{GateLook, GateOutcome, GateResult};

/// Judges a gate; see [`GateResult`]. The error of a gate is shared over all that it looks at (Hommel): in at
/// most 5 % of cases it reports a regression where no number is beyond the edge.
pub(crate) fn gate(
    condition: &Condition,
    answers: &Answers,
    experiments: &[Compared<'_>],
    invalid: &[bool],
) -> GateResult {
    let judged = judge(condition, answers, experiments, invalid);
    let (outcome, reason, looked_at) =
        judged.unwrap_or_else(|reason| (GateOutcome::CannotTell, reason, Vec::new()));
    GateResult { condition: condition.text.clone(), outcome, reason, looked_at }
}

/// Returns what the looks say; `Err` where there is nothing to be looked at.
fn judge(
    condition: &Condition,
    answers: &Answers,
    experiments: &[Compared<'_>],
    invalid: &[bool],
) -> Result<(GateOutcome, String, Vec<GateLook>), String> {
    let id = &condition.experiment;
    let experiment = experiments.iter().find(|it| it.asked.id == *id);
    let experiment = experiment.ok_or_else(|| format!("{id} is not among what is compared"))?;
    if let Some(why) = &experiment.experiment.refused {
        return Err(format!("{id} is not compared: {why}"));
    }
    let design = experiment.asked.design.as_ref();
    let response = design.and_then(|design| condition.response_of(design));
    let response = response.ok_or_else(|| format!("{id} has no response"))?;
    for (at, SideHeads { name, .. }) in answers.questions.sides.iter().enumerate() {
        model::ensure!(answers.sides[at].measured.contains(id), "{name} did not measure {id}");
        model::ensure!(
            !invalid[at],
            "what {name} measured is another thing than what the base did: see the facts"
        );
    }
    let mut looks = looks(condition, experiment, response);
    model::ensure!(!looks.is_empty(), "no treatment that it names has {response} on both sides");
    decide(condition, &mut looks);
    // How far on the bad side it lies.
    let beyond = |it: &GateLook| match (it.ratio, condition.direction) {
        (None, _) => f64::NEG_INFINITY,
        (Some(ratio), Direction::Above) => ratio.point,
        (Some(ratio), Direction::Below) => -ratio.point,
    };
    looks.sort_by(|a, b| b.outcome.cmp(&a.outcome).then_with(|| beyond(b).total_cmp(&beyond(a))));
    let outcome = looks.iter().map(|look| look.outcome).max().unwrap_or(GateOutcome::CannotTell);
    // What nobody measured may hide anything.
    let lost = lost(condition, experiment, response);
    if outcome == GateOutcome::Fine && lost > 0 {
        let s = if lost == 1 { " was" } else { "s were" };
        let reason = format!(
            "{lost} treatment{s} measured on the base but not on every side; levels in braces restrict what it looks at"
        );
        return Ok((GateOutcome::CannotTell, reason, looks));
    }
    let reason = reason(condition, outcome, &looks, response);
    Ok((outcome, reason, looks))
}

/// Counts the treatments that it looks at of which the base has a number and some other side no trial.
fn lost(condition: &Condition, experiment: &Compared<'_>, response: &str) -> usize {
    let place = experiment.asked.place(response);
    let is_lost = |sides: &[At]| {
        let of_base = Column::at(&sides[0].columns, place);
        !of_base.is_empty() && sides.iter().any(|side| !side.tried)
    };
    let treatments = experiment.own.treatments.iter();
    treatments.filter(|(it, sides)| condition.looks_at(it) && is_lost(sides)).count()
}

fn looks(condition: &Condition, experiment: &Compared<'_>, response: &str) -> Vec<GateLook> {
    let rows = experiment.experiment.rows.iter().zip(&experiment.rows);
    let rows =
        rows.filter(|(row, _)| row.response == response && condition.looks_at(&row.treatment));
    let mut looks = Vec::new();
    for (row, readings) in rows {
        for (at, reading) in readings.iter().enumerate() {
            let Some(reading) = reading else { continue };
            let (outcome, p_value) = look(condition, reading);
            looks.push(GateLook {
                experiment: condition.experiment.clone(),
                response: response.to_string(),
                treatment: row.treatment.clone(),
                side: at + 1,
                ratio: reading.effect.ratio,
                p_value,
                outcome,
            });
        }
    }
    looks
}

/// Returns what one comparison says by itself, and its p-value against the edge. Beyond the edge it is
/// only suspected: the p-values of all looks decide.
fn look(condition: &Condition, reading: &Reading) -> (GateOutcome, Option<f64>) {
    let Some(contrast) = &reading.contrast else { return (GateOutcome::CannotTell, None) };
    let Some(ratio) = reading.effect.ratio else { return (from_nothing(condition, reading), None) };
    if contrast.is_exact() {
        let met = condition.is_met(ratio.point);
        let outcome = if met { GateOutcome::Regression } else { GateOutcome::Fine };
        return (outcome, Some(if met { 0.0 } else { 1.0 }));
    }
    let p_value = match (reading.scale, condition.is_met(ratio.point)) {
        (_, false) => 1.0,
        (Scale::Log, true) => contrast.p_value(condition.edge.ln()),
        _ => contrast.p_value_of_multiple(condition.edge),
    };
    let ends_before = match condition.direction {
        Direction::Above => ratio.high < condition.edge,
        Direction::Below => ratio.low > condition.edge,
    };
    // A count that never varies and has not changed lies at an edge of 0 %, and not beyond it.
    let is_unchanged = contrast.agrees() && !condition.is_met(ratio.point);
    let is_fine = ends_before || is_unchanged;
    let outcome = if is_fine { GateOutcome::Fine } else { GateOutcome::CannotTell };
    (outcome, Some(p_value))
}

/// Judges a number that has no ratio: a count that was 0 in all trials has grown beyond any edge if it is
/// 0 no longer.
fn from_nothing(condition: &Condition, reading: &Reading) -> GateOutcome {
    let Some(contrast) = reading.contrast.as_ref().filter(|it| it.agrees() && it.base() == 0.0)
    else {
        return GateOutcome::CannotTell;
    };
    match (condition.direction, contrast.point > 0.0) {
        (Direction::Above, true) => GateOutcome::Regression,
        (Direction::Below, true) => GateOutcome::Fine,
        (_, false) if condition.is_met(1.0) => GateOutcome::CannotTell,
        (_, false) => GateOutcome::Fine,
    }
}

fn decide(condition: &Condition, looks: &mut [GateLook]) {
    let p_values: Vec<f64> = looks.iter().filter_map(|look| look.p_value).collect();
    let judged = looks.iter_mut().filter(|look| look.p_value.is_some());
    for (look, stands) in judged.zip(hommel(&p_values)) {
        let met = look.ratio.is_some_and(|ratio| condition.is_met(ratio.point));
        if stands && met {
            look.outcome = GateOutcome::Regression;
        }
    }
}

fn reason(
    condition: &Condition,
    outcome: GateOutcome,
    looks: &[GateLook],
    response: &str,
) -> String {
    let all = looks.len();
    let (s, many) = if all == 1 { ("", "") } else { ("s", " after Hommel's correction") };
    let of = format!("{all} comparison{s} of {response}");
    let such = looks.iter().filter(|look| look.outcome == outcome).count();
    match outcome {
        GateOutcome::Regression => format!("{such} of {of} beyond the edge{many}"),
        GateOutcome::CannotTell => {
            let none = match looks.iter().filter(|look| look.ratio.is_none()).count() {
                0 => String::new(),
                missing => format!(", {missing} of them without a number"),
            };
            format!("{such} of {of} may lie beyond the edge or not{none}")
        }
        GateOutcome::Fine => {
            let before = match condition.direction {
                Direction::Above => "below",
                Direction::Below => "above",
            };
            format!("{of}: every interval ends {before} the edge")
        }
    }
}
