//! How different do two identical treatments look?
//!
//! The A/A control: two levels that are the same in all but name. Whatever difference the
//! analysis finds between them is a difference that this machine makes out of nothing; smaller
//! ones cannot be believed in any other experiment either.

use crate::support::passes::{self, generate, leap};
use kit::declare::{Named, cell, factor, finding, ratio};
use kit::model::{Cell, Control, Design, Needs};
use kit::{Experiment, Stop, Trial};
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
    let differ = |work| ratio(passes::TIME, at(work, "b"), at(work, "a"));
    let control =
        |work| Control { response: passes::TIME.into(), a: at(work, "a"), b: at(work, "b") };
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
        responses: passes::responses("after its last"),
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
    passes::record_cpu_time(trial, passes);
    Ok(())
}

/// Times passes; returns how many.
fn timed(trial: &mut Trial<'_>, mut pass: impl FnMut() -> Result<(), Stop>) -> Result<u64, Stop> {
    trial.repeat([passes::TIME], WARM_UP, |parts| {
        let start_ns = now_ns();
        pass()?;
        parts[0] = now_ns() - start_ns;
        Ok(())
    })
}

fn arithmetic(trial: &mut Trial<'_>) -> Result<u64, Stop> {
    let mut state = 1;
    let mut generated = 0;
    let done = timed(trial, || {
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

fn system_calls(trial: &mut Trial<'_>) -> Result<u64, Stop> {
    let parent = sys::process::parent_pid();
    let mut right = 0_u64;
    let mut all = 0_u64;
    let done = timed(trial, || {
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
    let done = timed(trial, || {
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
    use super::design;
    use kit::model::Profile;

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
