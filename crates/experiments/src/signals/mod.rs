//! Who gets a signal, who sleeps through it, and how many become one.

mod burst;
mod deliver;
mod receiver;
mod sender;
mod stage;
mod wake;

use burst::Busy;
use deliver::Blocking;
use kit::workers::MODEL_LEVELS;
use kit::{Stop, Trial};
use receiver::WAYS;

experiment!("signals", "signals.toml");

/// Which sort of signal is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    /// SIGUSR1: pending or not.
    Standard,
    /// SIGRTMIN: queued.
    RealTime,
}

const SIGNALS: [(&str, Sort); 2] = [("standard", Sort::Standard), ("realtime", Sort::RealTime)];

/// How the signals come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// One at a time, each at a random moment.
    Single,
    /// Many at once, while the receiver blocks them.
    BurstBlocked,
    /// Many at once, while the receiver waits, handles and waits again.
    BurstAwake,
}

const ARRIVALS: [(&str, Arrival); 3] = [
    ("single", Arrival::Single),
    ("burst_blocked", Arrival::BurstBlocked),
    ("burst_awake", Arrival::BurstAwake),
];

/// The baseline has no second thread that could handle it.
const DELIVERIES: [(&str, Option<Blocking>); 4] = [
    ("one_thread", None),
    ("nobody_blocks", Some(Blocking::Nobody)),
    ("main_blocks", Some(Blocking::Main)),
    ("all_but_one_block", Some(Blocking::AllButOne)),
];

fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let way = trial.pick("waiter", &WAYS)?;
    let signal = match trial.pick("signal", &SIGNALS)? {
        Sort::Standard => sys::signal::SIGUSR1,
        Sort::RealTime => sys::signal::real_time(),
    };
    let window_us = trial.number("window")?;
    let sender = trial.pick("sender", &MODEL_LEVELS)?;
    if let Some(blocking) = trial.pick("delivery", &DELIVERIES)? {
        return deliver::measure(trial, blocking, signal, sender);
    }
    match trial.pick("arrival", &ARRIVALS)? {
        Arrival::Single => wake::measure(trial, way, signal, window_us, sender),
        Arrival::BurstBlocked => burst::measure(trial, Busy::Blocking, way, signal, sender),
        Arrival::BurstAwake => burst::measure(trial, Busy::Waiting, way, signal, sender),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
