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
use kit::{Result, Trial};
use receiver::WAYS;

experiment!("signals", "signals.toml");

/// Tells the number of a signal.
type Number = fn() -> i32;

/// Which signal is sent: one that is pending or not, or one that is queued.
const SIGNALS: [(&str, Number); 2] =
    [("standard", || sys::signal::SIGUSR1), ("realtime", sys::signal::real_time)];

/// How the signals come: one at a time, each at a random moment, or many at once.
const ARRIVALS: [(&str, Option<Busy>); 3] = [
    ("single", None),
    ("burst_blocked", Some(Busy::Blocking)),
    ("burst_awake", Some(Busy::Waiting)),
];

/// The baseline has no second thread that could handle it.
const DELIVERIES: [(&str, Option<Blocking>); 4] = [
    ("one_thread", None),
    ("nobody_blocks", Some(Blocking::Nobody)),
    ("main_blocks", Some(Blocking::Main)),
    ("all_but_one_block", Some(Blocking::AllButOne)),
];

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let way = trial.pick("waiter", &WAYS)?;
    let signal = trial.pick("signal", &SIGNALS)?();
    let window_us = trial.number("window")?;
    let sender = trial.pick("sender", &MODEL_LEVELS)?;
    if let Some(blocking) = trial.pick("delivery", &DELIVERIES)? {
        return deliver::measure(trial, blocking, signal, sender);
    }
    match trial.pick("arrival", &ARRIVALS)? {
        None => wake::measure(trial, way, signal, window_us, sender),
        Some(busy) => burst::measure(trial, busy, way, signal, sender),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
