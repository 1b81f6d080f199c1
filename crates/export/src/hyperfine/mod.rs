//! The layout of `hyperfine --export-json`, as hyperfine 1.x writes it.

use crate::cases::{Case, each_case, is_time};
use crate::{Choice, Error, LeftOut, Session};
use analysis::{mean, median, variance};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

/// Nanoseconds in the layout's unit.
const SECOND_NS: f64 = 1e9;

#[derive(Serialize)]
struct Summary {
    results: Vec<Outcome>,
}

/// One "command". All times are in seconds.
#[derive(Serialize)]
struct Outcome {
    command: String,
    mean: Option<f64>,
    /// Standard deviation of the trials; null for a single one, as hyperfine has it.
    stddev: Option<f64>,
    median: Option<f64>,
    user: Option<f64>,
    system: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    times: Vec<f64>,
    exit_codes: Vec<i32>,
    parameters: BTreeMap<String, String>,
}

/// Writes every time of the session in the layout of `hyperfine --export-json`: one result per
/// response and treatment, one of `times` per trial, in seconds.
///
/// `times` are the numbers that scruple's estimates are made from: per operation, less the control
/// where the response subtracts one. `user` and `system` are null except for the response `wall_ns`,
/// since the kernel's accounts are of the whole timed region and not of one operation.
///
/// # Errors
/// If a name of the choice is not in the session, or if `out` fails.
pub fn hyperfine(
    session: &Session<'_>,
    choice: &Choice,
    mut out: impl Write,
) -> Result<LeftOut, Error> {
    let mut results = Vec::new();
    let left_out = each_case(session, choice, is_time, |case| results.push(outcome(case)))?;
    serde_json::to_writer_pretty(&mut out, &Summary { results })?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(left_out)
}

fn outcome(case: &Case<'_, '_>) -> Outcome {
    let times: Vec<f64> = case.values().into_iter().map(|ns| ns / SECOND_NS).collect();
    let (user, system) = cpu_times(case);
    Outcome {
        command: format!("{} {} {}", case.design.id, case.response.name, case.treatment),
        mean: mean(&times),
        stddev: variance(&times).map(f64::sqrt),
        median: median(&times),
        user,
        system,
        min: times.iter().copied().min_by(f64::total_cmp),
        max: times.iter().copied().max_by(f64::total_cmp),
        // The layout's word for "completed", which every trial with a number has.
        exit_codes: vec![0; times.len()],
        times,
        parameters: case.treatment.0.as_ref().clone(),
    }
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
    let over_trials = |response: &str| {
        let one = |(record, _): &(&model::Record, _)| case.numbers.of(record, response).value;
        let all: Option<Vec<f64>> = case.trials.iter().map(one).collect();
        Some(mean(&all?)? / SECOND_NS)
    };
    (over_trials("user_ns"), over_trials("system_ns"))
}

#[cfg(test)]
mod tests;
