//! How different do two identical treatments look?
//!
//! The A/A control: two levels that are the same in all but name. Whatever difference the
//! analysis finds between them is a difference that this machine makes out of nothing; smaller
//! ones cannot be believed in any other experiment either.

use crate::support::passes::{self, generate};
use kit::{Result, Trial};
use sys::clock::now_ns;
use sys::pages::{Huge, Mapping};

experiment!("null", "null.toml");

/// Does passes of one kind of work; returns how many.
type Work = fn(&mut Trial<'_>) -> Result<u64>;

/// What the levels of the factor `work` do.
const WORKS: [(&str, Work); 3] =
    [("cpu", arithmetic), ("kernel", system_calls), ("memory", page_faults)];

/// Amounts of work that last about 100 µs: fixed, so that every pass does the same.
const STEPS: u64 = 100_000;
const CALLS: u32 = 800;
const PAGES: usize = 64;

/// Passes before the timed region.
const WARM_UP: u32 = 10;

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    // The level of `order` is read by nobody: that is the point.
    let work = trial.pick("work", &WORKS)?;
    trial.pin_to_one()?;
    let passes = work(trial)?;
    passes::record_cpu_time(trial, passes::CPU_TIME, passes);
    Ok(())
}

/// Times passes; returns how many.
fn timed(trial: &mut Trial<'_>, mut pass: impl FnMut() -> Result<()>) -> Result<u64> {
    trial.repeat([passes::TIME], WARM_UP, |parts| {
        let start_ns = now_ns();
        pass()?;
        parts[0] = now_ns() - start_ns;
        Ok(())
    })
}

fn arithmetic(trial: &mut Trial<'_>) -> Result<u64> {
    let mut state = 1;
    let mut generated = 0;
    let done = timed(trial, || {
        state = generate(state, STEPS);
        generated += STEPS;
        Ok(())
    })?;
    // The value after these steps is known: `leap` computes it once more. A compiler that left
    // some out would be found here.
    passes::check_arrival(trial, state, generated);
    Ok(done)
}

fn system_calls(trial: &mut Trial<'_>) -> Result<u64> {
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

fn page_faults(trial: &mut Trial<'_>) -> Result<u64> {
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
    use super::{WORKS, design};
    use kit::model::Profile;

    #[test]
    fn every_kind_of_work_has_its_control() {
        let design = design();
        crate::check_levels(&design, "work", &WORKS);
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
