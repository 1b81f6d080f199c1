//! How different do two identical treatments look?
//!
//! The A/A control: two levels that are the same in all but name. Whatever difference the
//! analysis finds between them is a difference that this machine makes out of nothing; smaller
//! ones cannot be believed in any other experiment either.

use kit::declare::{Named, cell, factor, finding, ratio, response};
use kit::model::{Cell, Control, Design, Needs, Unit};
use kit::{Experiment, Stop, Trial};
use sys::black_box;
use sys::clock::now_ns;
use sys::pages::{Huge, Mapping};

/// How different do two identical treatments look?
pub(crate) const EXPERIMENT: Experiment = Experiment { id: "null", design, trial };

/// The two names of one treatment. No code looks at them.
const ORDERS: [Named<()>; 2] =
    [Named::new("a", "the treatment", ()), Named::new("b", "the same treatment", ())];

type Work = fn(&mut Trial<'_>) -> Result<u64, Stop>;

const WORKS: [Named<Work>; 3] = [
    Named::new("cpu", "100,000 steps of a linear congruential generator", arithmetic as Work),
    Named::new("kernel", "800 calls of getppid", system_calls as Work),
    Named::new("memory", "64 pages given back and written again", page_faults as Work),
];

/// Amounts of work that last about 100 µs: fixed, so that every pass does the same.
const STEPS: u64 = 100_000;
const CALLS: u32 = 800;
const PAGES: usize = 64;

/// Passes before the timed region.
const WARM_UP: u32 = 10;

fn at(work: &str, order: &str) -> Cell {
    cell([("work", work), ("order", order)])
}

fn design() -> Design {
    let differ = |work| ratio("pass_ns", at(work, "b"), at(work, "a"));
    let control = |work| Control { response: "pass_ns".into(), a: at(work, "a"), b: at(work, "b") };
    Design {
        id: "null".into(),
        version: 1,
        chapter: "The instrument".into(),
        question: "How different do two identical treatments look?".into(),
        method: "Two levels share their code, their data and their amount of work; they differ in \
                 name alone and are measured like any other two. One kind of work stays in \
                 the CPU, one enters the kernel, one faults pages in: the noise of a comparison \
                 depends on what is compared."
            .into(),
        factors: vec![
            factor("order", "which of two identical treatments", "a").named(&ORDERS).build(),
            factor("work", "what a pass consists of", "cpu").named(&WORKS).build(),
        ],
        responses: vec![
            response("pass_ns", "time of a pass", Unit::Ns)
                .cpu_twin("pass_cpu_ns")
                .card(
                    "before the first step of the pass",
                    "after its last",
                    "",
                    "clock_gettime(CLOCK_MONOTONIC)",
                )
                .build(),
            response("pass_cpu_ns", "CPU time of a pass", Unit::Ns)
                .card(
                    "before the first pass of the timed region",
                    "after the last",
                    "divided by the number of passes",
                    "getrusage(RUSAGE_SELF)",
                )
                .build(),
        ],
        findings: vec![
            finding(
                "cpu",
                "Two identical treatments that compute differ by a factor of {} here.",
                differ("cpu"),
            ),
            finding(
                "kernel",
                "Two identical treatments that call the kernel differ by a factor of {} here.",
                differ("kernel"),
            ),
            finding(
                "memory",
                "Two identical treatments that fault pages in differ by a factor of {} here.",
                differ("memory"),
            ),
        ],
        controls: vec![control("cpu"), control("kernel"), control("memory")],
        needs: Needs { cpus: 1, ..Needs::default() },
        precision: 0.02,
        time_limit_ms: 5_000,
        ..Design::default()
    }
}

fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    // The level of `order` is read by nobody: that is the point.
    let work = trial.realise("work", &WORKS)?;
    trial.pin_to_one()?;
    let passes = work(trial)?;
    let counters = trial.counters_mut();
    let cpu_ns = counters.user_ns.unwrap_or(0) + counters.system_ns.unwrap_or(0);
    trial.record("pass_cpu_ns", passes, vec![cpu_ns as i64]);
    Ok(())
}

/// Times passes; returns how many.
fn passes(trial: &mut Trial<'_>, mut pass: impl FnMut() -> Result<(), Stop>) -> Result<u64, Stop> {
    trial.repeat(["pass_ns"], WARM_UP, |parts| {
        let start_ns = now_ns();
        pass()?;
        parts[0] = now_ns() - start_ns;
        Ok(())
    })
}

fn arithmetic(trial: &mut Trial<'_>) -> Result<u64, Stop> {
    let mut state = 1;
    let mut generated = 0;
    let done = passes(trial, || {
        state = generate(state, STEPS);
        generated += STEPS;
        Ok(())
    })?;
    // The value after so many steps is known: it is what the steps make of it once more, in
    // leaps. A compiler that left some out would be found here.
    let right = f64::from(u8::from(state == leap(1, generated)));
    trial.check("the generator arrived where it had to", right, 1.0, 1.0);
    Ok(done)
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

/// The state after so many steps, by squaring the step (F. Brown, "Random number generation with
/// arbitrary strides", 1994).
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

fn system_calls(trial: &mut Trial<'_>) -> Result<u64, Stop> {
    let parent = sys::process::parent_pid();
    let mut right = 0_u64;
    let mut all = 0_u64;
    let done = passes(trial, || {
        for _ in 0..CALLS {
            right += u64::from(sys::syscall::getppid() == parent);
        }
        all += u64::from(CALLS);
        Ok(())
    })?;
    trial.check("share of calls that named the parent", right as f64 / all as f64, 1.0, 1.0);
    Ok(done)
}

fn page_faults(trial: &mut Trial<'_>) -> Result<u64, Stop> {
    let page = sys::pages::page_bytes();
    let mut memory = Mapping::new(PAGES * page, Huge::Never)?;
    let done = passes(trial, || {
        memory.discard()?;
        memory.touch(page);
        Ok(())
    })?;
    let faults = trial.counters_mut().minor_faults.unwrap_or(0);
    let per_pass = faults as f64 / done as f64;
    trial.check("faults per pass", per_pass, PAGES as f64, PAGES as f64 + 8.0);
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::{INCREMENT, MULTIPLIER, design, generate, leap};
    use kit::model::Profile;

    #[test]
    fn leaps_arrive_where_steps_do() {
        for steps in [0, 1, 2, 3, 17, 1000, 40_000] {
            assert_eq!(leap(1, steps), generate(1, steps), "{steps}");
        }
        assert_eq!(leap(1, 1), MULTIPLIER.wrapping_add(INCREMENT));
        assert_ne!(leap(1, 1000), generate(1, 999));
    }

    #[test]
    fn every_kind_of_work_has_its_control() {
        let design = design();
        for treatment in design.treatments(Profile::Smoke) {
            let compared = design
                .controls
                .iter()
                .any(|control| treatment.matches(&control.a) || treatment.matches(&control.b));
            assert!(compared, "{treatment}");
        }
        for control in &design.controls {
            assert_ne!(control.a, control.b);
            let moved = control.a.with("order", "b");
            assert_eq!(moved, control.b, "they differ in the name alone");
        }
    }
}
