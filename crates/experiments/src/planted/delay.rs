//! Is a delay of a known length found, and how long is it said to be?

use super::CHAPTER;
use super::busy::Wait;
use crate::support::passes::{self, TIME, generate, leap};
use kit::declare::{Named, cell, difference, factor, finding, planted, sized};
use kit::model::{Cell, Control, Design, Finding, Needs, Planted, Region};
use kit::{Experiment, Stop, Trial};
use sys::clock::now_ns;

/// Is a delay of a known length found, and how long is it said to be?
pub(crate) const EXPERIMENT: Experiment = Experiment { id: "planted_delay", design, trial };

/// The levels of the factor `wait`: nanoseconds after each pass.
const WAITS: [Named<u64>; 5] = [
    Named::new("none", "no wait, by the same code", 0),
    Named::new("none_again", "the same once more, under another name", 0),
    Named::new("ns_2000", "a wait of 2,000 ns", 2_000),
    Named::new("ns_5000", "a wait of 5,000 ns", 5_000),
    Named::new("ns_20000", "a wait of 20,000 ns", 20_000),
];

/// The work of a pass: fixed, so that all trials do the same.
const STEPS: u64 = 100_000;

/// What the sizes are shares of, in nanoseconds. The work lasts about as long on a CPU of 5 GHz; one
/// that does it in another time is graded by the wait all the same, which is as long on all.
const OPERATION_NS: f64 = 100_000.0;

/// Passes before the timed region.
const WARM_UP: u32 = 10;

/// How far from its nominal length a wait may lie in truth, in nanoseconds: the loop that waits
/// ends with a branch that no processor foresees, and the median pass may be one whose wait was
/// rounded to another reading of the clock than the next one's…
const INEXACT_NS: f64 = 40.0;

/// …and, as a share of it: a longer pass is hit by more of the machine's interrupts.
const INEXACT_SHARE: f64 = 0.005;

fn by(wait: &str) -> Cell {
    cell([("wait", wait)])
}

fn design() -> Design {
    Design {
        id: "planted_delay".into(),
        version: 1,
        chapter: CHAPTER.into(),
        question: "Is a delay of a known length found, and how long is it said to be?".into(),
        method: "A pass is 100,000 steps of arithmetic, of about a nanosecond each, and then a \
                 wait that looks at the clock until a known time is over. The level without a \
                 wait reads the clocks once by the same code. Time in which others had the CPU is \
                 not counted as waited, so that the planted time is the same in wall time and in \
                 CPU time. The level without a wait is measured under two names."
            .into(),
        factors: vec![factor("wait", "the wait in each pass", "none").named(&WAITS).build()],
        responses: passes::responses("after its wait"),
        findings: findings(),
        controls: vec![Control { response: TIME.into(), a: by("none"), b: by("none_again") }],
        planted: answers(),
        needs: Needs { cpus: 1, ..Needs::default() },
        precision: 0.002,
        time_limit_ms: 5_000,
        ..Design::default()
    }
}

fn findings() -> Vec<Finding> {
    WAITS[1..]
        .iter()
        .map(|wait| {
            let sentence = match wait.by {
                0 => "The same pass under another name takes {} longer.".to_string(),
                _ => format!("With {} a pass takes {{}} longer.", wait.about),
            };
            finding(wait.name, &sentence, difference(TIME, by(wait.name), by("none")))
        })
        .collect()
}

fn answers() -> Vec<Planted> {
    WAITS[1..]
        .iter()
        .map(|wait| {
            let found = difference(TIME, by(wait.name), by("none"));
            let planted_ns = wait.by as f64;
            if wait.by == 0 {
                let truth = Region::within(0.0, 0.0);
                return planted("aa_delay", "nothing: the same twice", found, 0.0, truth);
            }
            let size = planted_ns / OPERATION_NS;
            let id = format!("delay_{:.0}", 100.0 * size);
            let inexact_ns = INEXACT_NS + INEXACT_SHARE * planted_ns;
            let truth = Region::within(planted_ns - inexact_ns, planted_ns + inexact_ns);
            sized(planted(&id, wait.about, found, 0.0, truth), size)
        })
        .collect()
}

fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let mut wait = Wait::of(trial.realise("wait", &WAITS)?);
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
    passes::record_cpu_time(trial, count);
    let right = f64::from(u8::from(state == leap(1, generated)));
    trial.check("the generator arrived where it had to", right, 1.0, 1.0);
    // Only an interrupt in the last wait makes them late by more: others can make this fail.
    let (late_ns, most_ns) = (wait.late_ns() as f64, wait.late_ns_max() as f64);
    trial.check_cpus("all waits together beyond what was asked, ns", late_ns, 0.0, most_ns);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{WAITS, design};

    #[test]
    fn sizes_and_truths_are_those_of_the_waits() {
        let design = design();
        let told: Vec<_> = design.planted.iter().map(|it| (it.id.as_str(), it.size)).collect();
        let sizes = [Some(0.02), Some(0.05), Some(0.2)];
        assert_eq!(
            told,
            [
                ("aa_delay", None),
                ("delay_2", sizes[0]),
                ("delay_5", sizes[1]),
                ("delay_20", sizes[2])
            ]
        );
        for (planted, wait) in design.planted.iter().zip(&WAITS[1..]) {
            assert!(planted.truth.contains(wait.by as f64), "{}", planted.id);
            assert_eq!(planted.truth.contains(planted.without), wait.by == 0, "{}", planted.id);
        }
    }
}
