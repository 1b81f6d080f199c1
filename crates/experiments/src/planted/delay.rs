//! Is a delay of a known length found, and how long is it said to be?

use super::busy::Wait;
use crate::support::passes::{self, TIME, generate};
use kit::{Result, Trial};
use sys::clock::now_ns;

experiment!("planted_delay", "delay.toml");

/// The levels of the factor `wait`: nanoseconds after each pass.
const WAITS: [(&str, u64); 5] =
    [("none", 0), ("none_again", 0), ("ns_2000", 2_000), ("ns_5000", 5_000), ("ns_20000", 20_000)];

/// The work of a pass: fixed, so that all trials do the same.
const STEPS: u64 = 100_000;

/// Passes before the timed region.
const WARM_UP: u32 = 10;

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let mut wait = Wait::of(trial.pick("wait", &WAITS)?);
    trial.pin_to_one()?;
    let mut state = 1;
    let mut generated = 0;
    let count = trial.repeat([TIME], WARM_UP, |parts| {
        let start_ns = now_ns();
        state = generate(state, STEPS);
        wait.once();
        parts[0] = now_ns() - start_ns;
        generated += STEPS;
        Ok(())
    })?;
    passes::record_cpu_time(trial, passes::CPU_TIME, count);
    passes::check_arrival(trial, state, generated);
    // Only an interrupt in the last wait makes them late by more: others can make this fail.
    let (late_ns, most_ns) = (wait.late_ns() as f64, wait.late_ns_max() as f64);
    trial.check_cpus("all waits together beyond what was asked, ns", late_ns, 0.0, most_ns);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{WAITS, design};

    /// What the sizes are shares of: the work lasts about as long on a CPU of 5 GHz.
    const OPERATION_NS: f64 = 100_000.0;

    /// How far from its nominal length a wait may lie in truth: the loop that waits ends with a
    /// branch that no processor foresees, and the median pass may be one whose wait was rounded to
    /// another reading of the clock than the next one's…
    const INEXACT_NS: f64 = 40.0;

    /// …and, as a share of it: a longer pass is hit by more of the machine's interrupts.
    const INEXACT_SHARE: f64 = 0.005;

    #[test]
    fn sizes_and_truths_are_those_of_the_waits() {
        let design = design();
        crate::check_levels(&design, "wait", &WAITS);
        assert_eq!(design.planted.len(), WAITS.len() - 1);
        for (planted, (name, wait_ns)) in design.planted.iter().zip(&WAITS[1..]) {
            let nominal_ns = *wait_ns as f64;
            let size = (*wait_ns > 0).then_some(nominal_ns / OPERATION_NS);
            assert_eq!(planted.size, size, "{name}");
            let cells = planted.quantity.cells();
            assert_eq!(cells[0].0["wait"], **name);
            let inexact_ns = match wait_ns {
                0 => 0.0,
                _ => INEXACT_NS + INEXACT_SHARE * nominal_ns,
            };
            let truth =
                kit::model::Region::within(nominal_ns - inexact_ns, nominal_ns + inexact_ns);
            assert_eq!(planted.truth, truth, "{name}");
            assert_eq!(planted.truth.contains(planted.without), *wait_ns == 0, "{name}");
        }
    }
}
