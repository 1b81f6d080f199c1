//! Passes of the same arithmetic, by the wall clock and by CPU time.

use kit::Trial;
use kit::model::Counters;
use sys::black_box;

/// The response that passes are timed in.
pub(crate) const TIME: &str = "pass_ns";

/// The response of their CPU time.
pub(crate) const CPU_TIME: &str = "pass_cpu_ns";

/// Records the CPU time of a number of passes or calls, which were all of the timed region.
pub(crate) fn record_cpu_time(trial: &mut Trial<'_>, response: &str, passes: u64) {
    let cpu_ns = cpu_ns(trial.counters_mut());
    trial.record(response, passes, vec![cpu_ns as i64]);
}

/// The CPU time of the timed region, 0 where the kernel does not say.
pub(crate) fn cpu_ns(counters: &Counters) -> u64 {
    counters.user_ns.unwrap_or(0) + counters.system_ns.unwrap_or(0)
}

/// Checks that the generator of [`generate`] is where that number of steps leads it from 1.
pub(crate) fn check_arrival(trial: &mut Trial<'_>, state: u64, steps: u64) {
    let right = f64::from(u8::from(state == leap(1, steps)));
    trial.check("the generator arrived where it had to", right, 1.0, 1.0);
}

const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1_442_695_040_888_963_407;

/// Steps of the generator of Knuth's MMIX: each needs the one before, so that neither the CPU
/// nor the compiler can do two at a time.
pub(crate) fn generate(mut state: u64, steps: u64) -> u64 {
    for _ in 0..black_box(steps) {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        // The compiler may not unroll this into leaps.
        state = black_box(state);
    }
    state
}

/// Returns the state after `steps` steps, by squaring the step (F. Brown, "Random number generation
/// with arbitrary strides", 1994).
pub(crate) fn leap(state: u64, mut steps: u64) -> u64 {
    let (mut multiplier, mut increment) = (MULTIPLIER, INCREMENT);
    let (mut all_multiplier, mut all_increment) = (1_u64, 0_u64);
    while steps > 0 {
        if steps % 2 == 1 {
            all_multiplier = all_multiplier.wrapping_mul(multiplier);
            all_increment = all_increment.wrapping_mul(multiplier).wrapping_add(increment);
        }
        increment = multiplier.wrapping_add(1).wrapping_mul(increment);
        multiplier = multiplier.wrapping_mul(multiplier);
        steps /= 2;
    }
    all_multiplier.wrapping_mul(state).wrapping_add(all_increment)
}

#[cfg(test)]
mod tests {
    use super::{INCREMENT, MULTIPLIER, generate, leap};

    #[test]
    fn leaps_arrive_where_steps_do() {
        for steps in [0, 1, 2, 3, 17, 1000, 40_000] {
            assert_eq!(leap(1, steps), generate(1, steps), "{steps}");
        }
        assert_eq!(leap(1, 1), MULTIPLIER.wrapping_add(INCREMENT));
        assert_ne!(leap(1, 1000), generate(1, 999));
    }
}
