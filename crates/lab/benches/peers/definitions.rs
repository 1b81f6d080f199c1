//! What peers measure and no experiment of the catalog does: their definitions, realised by trials
//! of ours.
//!
//! It is an experiment like any other, written against `kit`, and known to this benchmark alone.

use super::{messaging, one_call, one_way, vfork};
use kit::declare::{Named, factor, response};
use kit::model::{Center, Design, Needs, Unit};
use kit::{Experiment, Stop, Trial};

/// The peers' definitions.
pub(crate) const EXPERIMENT: Experiment =
    Experiment { id: "peer_definitions", design, trial: realise };

/// The response of all definitions.
pub(crate) const OPERATION_NS: &str = "operation_ns";

type Definition = fn(&mut Trial<'_>) -> Result<(), Stop>;

pub(crate) const DEFINITIONS: [Named<Definition>; 6] = [
    Named::new(
        "perf_syscall",
        "perf bench syscall basic: a million of libc's getppid in one loop",
        one_call::by_perf as Definition,
    ),
    Named::new(
        "messaging_processes",
        "perf bench sched messaging: 20 processes write to 20 processes over socket pairs",
        messaging::processes,
    ),
    Named::new("messaging_threads", "the same with threads", messaging::threads),
    Named::new("messaging_pipes", "with processes over pipes", messaging::pipes),
    Named::new(
        "stress_vfork",
        "stress-ng --vfork among 167 mappings: a table is cleared, vfork, _exit, waitpid",
        vfork::by_stress_ng,
    ),
    Named::new(
        "stress_switch",
        "stress-ng --switch: one byte into a pipe of packets that holds one of them, and no answer",
        one_way::by_stress_ng,
    ),
];

fn design() -> Design {
    Design {
        id: "peer_definitions".into(),
        version: 1,
        chapter: "The instrument".into(),
        question: "What do the peers' own definitions give when scruple realises them?".into(),
        method: "Each level repeats what the source of a peer does, statement by statement where \
                 it costs something, and times it as that peer times it. Nothing is subtracted."
            .into(),
        factors: vec![
            factor("definition", "whose", "messaging_processes").named(&DEFINITIONS).build(),
        ],
        responses: vec![
            response(OPERATION_NS, "time of the peer's operation", Unit::Ns)
                // The peers divide a whole time by a number of operations.
                .center(Center::Mean)
                .card(
                    "when the peer begins to time",
                    "when it ends",
                    "divided by the number of messages, children or writes; nothing is subtracted",
                    "clock_gettime(CLOCK_MONOTONIC)",
                )
                .build(),
            response("switches_count", "context switches of the operation", Unit::Count)
                .center(Center::Mean)
                .card(
                    "as above",
                    "as above",
                    "divided likewise",
                    "getrusage(RUSAGE_SELF) and getrusage(RUSAGE_CHILDREN)",
                )
                .build(),
        ],
        needs: Needs { cpus: 1, ..Needs::default() },
        precision: 0.05,
        time_limit_ms: 30_000,
        ..Design::default()
    }
}

fn realise(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let definition = trial.realise("definition", &DEFINITIONS)?;
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
