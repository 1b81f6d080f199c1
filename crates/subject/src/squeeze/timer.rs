//! Punctual timers are taken by their slack: the kernel may end each sleep of the program later.

use super::{Place, reference_program};
use kit::Result;

/// How long the reference sleeps at a time, in nanoseconds.
const SLEEP_NS: u64 = 1_000_000;

/// Returns the slack that takes at most `percent` from the reference: a sleep becomes as long as
/// 100 / (100 − percent) of it. In nanoseconds.
pub(super) fn slack_ns(percent: u32) -> u64 {
    let percent = u64::from(percent.min(99));
    SLEEP_NS * percent / (100 - percent)
}

/// The part of its rate that a program of short sleeps loses by the slack.
pub(super) fn lost(place: &Place, slack_ns: u64) -> Result<f64> {
    reference_program::between(
        place,
        || {
            Ok(|| {
                sys::clock::sleep_ns(SLEEP_NS);
                Ok(1)
            })
        },
        |squeezed| {
            // A thread's own slack, changed between its sleeps.
            Ok(sys::process::set_timer_slack(if squeezed { slack_ns } else { 50_000 })?)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::slack_ns;

    #[test]
    fn the_slack_doubles_or_quadruples_a_sleep_of_the_reference() {
        assert_eq!(slack_ns(50), 1_000_000);
        assert_eq!(slack_ns(75), 3_000_000);
        assert!(slack_ns(100) < 1_000_000_000);
    }
}
