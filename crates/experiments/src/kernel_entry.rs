//! What does it cost to enter the kernel and to come back?

use crate::support::passes::record_cpu_time;
use kit::{Result, Trial};
use sys::black_box;
use sys::clock::Clock;

experiment!("kernel_entry", "kernel_entry.toml");

type Measure = fn(&mut Trial<'_>) -> Result<()>;

const ENTRIES: [(&str, Measure); 5] = [
    ("empty", |trial| measure(trial, |index| sys::syscall::plain_call(index) == index)),
    ("getppid", getppid),
    ("clock_gettime_syscall", |trial| measure(trial, advances(Clock::MonotonicBySyscall))),
    ("clock_gettime_vdso", |trial| measure(trial, advances(Clock::Monotonic))),
    ("read_zero", read),
];

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let measure = trial.pick("entry", &ENTRIES)?;
    trial.pin_to_one()?;
    measure(trial)
}

/// Repeats a call in batches. A call says whether its answer was right; all must be.
fn measure(trial: &mut Trial<'_>, mut call: impl FnMut(u64) -> bool) -> Result<()> {
    let mut wrong = 0_u64;
    let (batch, batches) = trial.batches("call_ns", |count| {
        for index in 0..count {
            wrong += u64::from(!call(black_box(index)));
        }
    })?;
    record_cpu_time(trial, "call_cpu_ns", batch * batches);
    trial.check("wrong answers", wrong as f64, 0.0, 0.0);
    Ok(())
}

fn getppid(trial: &mut Trial<'_>) -> Result<()> {
    let parent = sys::process::parent_pid();
    measure(trial, |_| sys::syscall::getppid() == parent)
}

/// Reads a clock; the answer is right if it is not earlier than the one before.
fn advances(clock: Clock) -> impl FnMut(u64) -> bool {
    let mut before = 0;
    move |_| {
        let now = clock.read();
        let right = now >= before;
        before = now;
        right
    }
}

fn read(trial: &mut Trial<'_>) -> Result<()> {
    let zero = sys::syscall::open_zero()?;
    measure(trial, |_| {
        let mut byte = [1];
        sys::syscall::read_into(&zero, &mut byte) == Ok(1) && byte == [0]
    })
}

#[cfg(test)]
mod tests {
    use super::{ENTRIES, advances, design};
    use kit::model::{Profile, Quantity};
    use sys::clock::Clock;

    #[test]
    fn both_ways_to_read_the_clock_advance() {
        for clock in [Clock::Monotonic, Clock::MonotonicBySyscall] {
            let mut read = advances(clock);
            assert!((0..1000).all(&mut read));
        }
    }

    #[test]
    fn smoke_measures_what_the_headline_and_all_claims_need() {
        let design = design();
        crate::check_levels(&design, "entry", &ENTRIES);
        let all = design.treatments(Profile::Smoke);
        let needed = |quantity: &Quantity| {
            quantity.cells().iter().all(|cell| all.contains(&design.complete(cell)))
        };
        assert!(needed(&design.findings[0].quantity));
        assert!(design.claims.iter().all(|claim| needed(&claim.quantity)));
        assert!(design.responses.iter().all(|response| response.subtract.is_some()));
    }
}
