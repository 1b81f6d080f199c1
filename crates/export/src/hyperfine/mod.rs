//! The layout of `hyperfine --export-json`, as hyperfine 1.x writes it.

use crate::cases::{Case, each_case, is_time};
use crate::{Choice, LeftOut, Result, Session, write_json};
use analysis::{mean, median, variance};
use serde_json::{Value, json};
use std::io::Write;

/// Nanoseconds in the layout's unit.
const SECOND_NS: f64 = 1e9;

/// Writes every time of the session in the layout of `hyperfine --export-json`: one result per
/// response and treatment, one of `times` per trial, in seconds.
///
/// `times` are the numbers that scruple's estimates are made from: per operation, less the control
/// where the response subtracts one. `user` and `system` are null except for the response `wall_ns`,
/// since the kernel's accounts are of the whole timed region and not of one operation.
///
/// # Errors
/// If a name of the choice is not in the session, or if `out` fails.
pub fn hyperfine(session: &Session<'_>, choice: &Choice, out: impl Write) -> Result<LeftOut> {
    let mut results = Vec::new();
    let left_out = each_case(session, choice, is_time, |case| results.push(outcome(case)))?;
    write_json(&json!({ "results": results }), out)?;
    Ok(left_out)
}

/// Returns one "command". All times are in seconds.
fn outcome(case: &Case<'_, '_>) -> Value {
    let times: Vec<f64> = case.values().into_iter().map(|ns| ns / SECOND_NS).collect();
    let (user, system) = cpu_times(case);
    json!({
        "command": format!("{} {} {}", case.design.id, case.response.name, case.treatment),
        "mean": mean(&times),
        // Null for a single trial, as hyperfine has it.
        "stddev": variance(&times).map(f64::sqrt),
        "median": median(&times),
        "user": user,
        "system": system,
        "min": times.iter().copied().min_by(f64::total_cmp),
        "max": times.iter().copied().max_by(f64::total_cmp),
        // The layout's word for "completed", which every trial with a number has.
        "exit_codes": vec![0; times.len()],
        "times": times,
        "parameters": case.treatment.0,
    })
}

/// The means of the CPU time in user mode and in the kernel, where the response is the whole timed
/// region.
fn cpu_times(case: &Case<'_, '_>) -> (Option<f64>, Option<f64>) {
    let whole = case.response.name == "wall_ns" && case.response.subtract.is_none();
    let stored = |(record, _): &(&model::Record, _)| {
        let series = record.measured.as_ref().map(|measured| &measured.series);
        series.is_some_and(|series| series.iter().any(|one| one.response == "wall_ns"))
    };
    if !whole || case.trials.iter().any(stored) {
        return (None, None);
    }
    let over_trials = |response| Some(mean(&case.values_of(response)?)? / SECOND_NS);
    (over_trials("user_ns"), over_trials("system_ns"))
}

#[cfg(test)]
mod tests;
