//! The treatments that findings and claims speak of, each with a short name.

use kit::declare::cell;
use kit::model::Cell;

/// The window at which claims about the race are judged, in µs.
pub(super) const WIDENED: &str = "50";

/// Single signals to a waiter whose window is widened.
pub(super) fn widened(waiter: &str) -> Cell {
    single(waiter).with("window", WIDENED)
}

/// Single signals to a waiter.
pub(super) fn single(waiter: &str) -> Cell {
    cell([("waiter", waiter), ("arrival", "single"), ("delivery", "one_thread")])
}

/// Bursts of one sort while the receiver blocks them.
pub(super) fn burst_blocked(signal: &str) -> Cell {
    cell([("signal", signal), ("arrival", "burst_blocked")])
}
