//! Who gets a signal, who sleeps through it, and how many become one.

mod burst;
mod cells;
mod claims;
mod deliver;
mod design;
mod receiver;
mod sender;
mod stage;
mod wake;

use burst::Busy;
use design::{ARRIVALS, Arrival, DELIVERIES, SIGNALS, Sort};
use kit::{Experiment, Stop, Trial};
use receiver::WAYS;
use sender::SENDERS;

/// Who gets a signal, and who sleeps through it?
pub(crate) const EXPERIMENT: Experiment =
    Experiment { id: "signals", design: design::design, trial };

fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let way = trial.realise("waiter", &WAYS)?;
    let signal = match trial.realise("signal", &SIGNALS)? {
        Sort::Standard => sys::signal::SIGUSR1,
        Sort::RealTime => sys::signal::real_time(),
    };
    let window_us = trial.number("window")?;
    let sender = trial.realise("sender", &SENDERS)?;
    if let Some(blocking) = trial.realise("delivery", &DELIVERIES)? {
        return deliver::measure(trial, blocking, signal, sender);
    }
    match trial.realise("arrival", &ARRIVALS)? {
        Arrival::Single => wake::measure(trial, way, signal, window_us, sender),
        Arrival::BurstBlocked => burst::measure(trial, Busy::Blocking, way, signal, sender),
        Arrival::BurstAwake => burst::measure(trial, Busy::Waiting, way, signal, sender),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
