//! What peers measure and no experiment of the catalog does: their definitions, realised by trials
//! of ours.
//!
//! It is an experiment like any other, written against `kit`, and known to this benchmark alone.

use super::{messaging, one_call, one_way, vfork};
use kit::model::Design;
use kit::{Experiment, Stop, Trial};

/// The peers' definitions.
pub(crate) const EXPERIMENT: Experiment =
    Experiment { id: "peer_definitions", design, trial: realise };

/// The response of all definitions.
pub(crate) const OPERATION_NS: &str = "operation_ns";

type Definition = fn(&mut Trial<'_>) -> Result<(), Stop>;

pub(crate) const DEFINITIONS: [(&str, Definition); 6] = [
    ("perf_syscall", one_call::by_perf),
    ("messaging_processes", messaging::processes),
    ("messaging_threads", messaging::threads),
    ("messaging_pipes", messaging::pipes),
    ("stress_vfork", vfork::by_stress_ng),
    ("stress_switch", one_way::by_stress_ng),
];

fn design() -> Design {
    match study::experiment("peer_definitions", include_str!("definitions.toml")) {
        Ok(design) => design,
        Err(error) => panic!("{error}"),
    }
}

fn realise(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let definition = trial.pick("definition", &DEFINITIONS)?;
    trial.pin_to_one()?;
    definition(trial)
}

/// Keeps the switches of all that the timed region held.
pub(crate) fn keep_switches(trial: &mut Trial<'_>, operations: u64) -> f64 {
    let counters = trial.counters_mut();
    let switches =
        counters.voluntary_switches.unwrap_or(0) + counters.involuntary_switches.unwrap_or(0);
    trial.record("switches_count", operations, vec![switches as i64]);
    switches as f64 / operations as f64
}
