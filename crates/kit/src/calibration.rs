//! How fast the CPU is, measured beside each trial.

use model::Calibration;
use sys::black_box;

/// Steps of the loop ([`sys::arithmetic::xorshift`], 6 cycles each): 20 µs at 3 GHz. The number
/// never changes, so that the loop can be compared between trials, sessions and machines.
const STEPS: u64 = 10_000;

/// The number of passes, of which the shortest counts: interruptions only add time.
const PASSES: u32 = 3;

/// The state from which every pass begins; any but 0 takes as long.
const SEED: u64 = 88_172_645_463_325_252;

/// Times the loop in this thread: the shortest of three passes, in nanoseconds.
///
/// It allocates nothing and enters no kernel, so that it may stand right beside a timed region.
pub(crate) fn pass_ns() -> u64 {
    let one = || {
        let start_ns = sys::clock::now_ns();
        black_box(sys::arithmetic::xorshift(black_box(SEED), black_box(STEPS)));
        sys::clock::now_ns().saturating_sub(start_ns)
    };
    (0..PASSES).map(|_| one()).min().unwrap_or(0)
}

/// The calibration of a trial whose region closes now, given what was measured before it opened.
pub(crate) fn after(before_ns: u64) -> Calibration {
    Calibration { before_ns, after_ns: pass_ns() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_is_run_and_not_removed() {
        // A cycle for each of its instructions, which at 20 GHz would be this; how much longer it
        // takes is the machine's affair.
        let least_ns = 6 * STEPS / 20;
        assert!(pass_ns() >= least_ns);
        let calibration = after(5);
        assert!(calibration.before_ns == 5 && calibration.after_ns >= least_ns);
    }
}
