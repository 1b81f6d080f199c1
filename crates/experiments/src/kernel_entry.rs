//! What does it cost to enter the kernel and to come back?

use kit::declare::{Named, cell, claim, factor, finding, ratio, remark, response, value};
use kit::model::{Cell, Claim, Design, Finding, Needs, Profile, Region, Response, Unit};
use kit::{Experiment, Stop, Trial};
use sys::black_box;
use sys::clock::Clock;

/// What does it cost to enter the kernel and to come back?
pub(crate) const EXPERIMENT: Experiment = Experiment { id: "kernel_entry", design, trial };

type Measure = fn(&mut Trial<'_>) -> Result<(), Stop>;

const ENTRIES: [Named<Measure>; 5] = [
    Named::new("empty", "a call of a function that does nothing: the control", empty as Measure),
    Named::new("getppid", "getppid by a bare system call", getppid as Measure),
    Named::new(
        "clock_gettime_syscall",
        "clock_gettime by a real system call",
        clock_by_syscall as Measure,
    ),
    Named::new(
        "clock_gettime_vdso",
        "clock_gettime through the vDSO, as libc does it",
        clock_by_vdso as Measure,
    ),
    Named::from("read_zero", "read of one byte of /dev/zero", Profile::Quick, read as Measure),
];

fn by(entry: &str) -> Cell {
    cell([("entry", entry)])
}

fn design() -> Design {
    Design {
        id: "kernel_entry".into(),
        version: 1,
        chapter: "The instrument".into(),
        question: "What does it cost to enter the kernel and to come back?".into(),
        method: "One call is repeated in a loop, in batches long enough for the clock. The \
                 control is the same loop around a function that does nothing and may not be \
                 inlined. getppid does next to nothing in the kernel, so that what is left is the \
                 way there and back, with the kernel's guards against attacks on the CPU. Each \
                 call's answer is looked at."
            .into(),
        factors: vec![factor("entry", "what is called", "getppid").named(&ENTRIES).build()],
        responses: responses(),
        findings: findings(),
        claims: claims(),
        needs: Needs { cpus: 1, ..Needs::default() },
        precision: 0.03,
        time_limit_ms: 5_000,
        ..Design::default()
    }
}

fn responses() -> Vec<Response> {
    let net = "divided by the number of calls, less the same for a function that does nothing";
    vec![
        response("call_ns", "time of a call", Unit::Ns)
            .subtract(by("empty"))
            .cpu_twin("call_cpu_ns")
            .card("before a batch", "after it", net, "clock_gettime(CLOCK_MONOTONIC)")
            .build(),
        response("call_cpu_ns", "CPU time of a call", Unit::Ns)
            .subtract(by("empty"))
            .card(
                "before the first batch of the timed region",
                "after the last",
                net,
                "getrusage(RUSAGE_SELF)",
            )
            .build(),
    ]
}

fn findings() -> Vec<Finding> {
    let time = "call_ns";
    vec![
        finding("entry", "To enter the kernel and come back takes {}.", value(time, by("getppid"))),
        finding(
            "vdso",
            "Reading the clock by a system call takes {} times as long as through the vDSO.",
            ratio(time, by("clock_gettime_syscall"), by("clock_gettime_vdso")),
        ),
        remark("control", "A function call in the same loop takes {}.", value(time, by("empty"))),
        remark("read", "Reading one byte of /dev/zero takes {}.", value(time, by("read_zero"))),
    ]
}

fn claims() -> Vec<Claim> {
    vec![
        claim(
            "about_100",
            "a common textbook figure",
            "A system call costs about 100 ns (50 to 200).",
            "a change of privilege, of stack and of some tables",
        )
        .note("The kernel's guards against attacks on the CPU can double the figure.")
        .holds_if(value("call_ns", by("getppid")), Region::within(50.0, 200.0)),
        claim(
            "vdso_ten_times",
            "often said of the vDSO",
            "The vDSO is an order of magnitude cheaper than the system call (10 times or more).",
            "it saves the way into the kernel, and only the reading of the counter is left",
        )
        .holds_if(
            ratio("call_ns", by("clock_gettime_syscall"), by("clock_gettime_vdso")),
            Region::above(10.0),
        ),
    ]
}

fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let measure = trial.realise("entry", &ENTRIES)?;
    trial.pin_to_one()?;
    measure(trial)
}

/// Repeats a call in batches. A call says whether its answer was right; all must be.
fn measure(trial: &mut Trial<'_>, mut call: impl FnMut(u64) -> bool) -> Result<(), Stop> {
    let mut wrong = 0_u64;
    let (batch, batches) = trial.batches("call_ns", |count| {
        for index in 0..count {
            wrong += u64::from(!call(black_box(index)));
        }
    })?;
    let counters = trial.counters_mut();
    let cpu_ns = counters.user_ns.unwrap_or(0) + counters.system_ns.unwrap_or(0);
    trial.record("call_cpu_ns", batch * batches, vec![cpu_ns as i64]);
    trial.check("wrong answers", wrong as f64, 0.0, 0.0);
    Ok(())
}

fn empty(trial: &mut Trial<'_>) -> Result<(), Stop> {
    measure(trial, |index| sys::syscall::plain_call(index) == index)
}

fn getppid(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let parent = sys::process::parent_pid();
    measure(trial, |_| sys::syscall::getppid() == parent)
}

fn clock_by_syscall(trial: &mut Trial<'_>) -> Result<(), Stop> {
    measure(trial, advances(Clock::MonotonicBySyscall))
}

fn clock_by_vdso(trial: &mut Trial<'_>) -> Result<(), Stop> {
    measure(trial, advances(Clock::Monotonic))
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

fn read(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let zero = sys::syscall::open_zero()?;
    measure(trial, |_| {
        let mut byte = [1];
        sys::syscall::read_into(&zero, &mut byte) == Ok(1) && byte == [0]
    })
}

#[cfg(test)]
mod tests {
    use super::{advances, design};
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
        let all = design.treatments(Profile::Smoke);
        let needed = |quantity: &Quantity| {
            quantity.cells().iter().all(|cell| all.contains(&design.complete(cell)))
        };
        assert!(needed(&design.findings[0].quantity));
        assert!(design.claims.iter().all(|claim| needed(&claim.quantity)));
        assert!(design.responses.iter().all(|response| response.subtract.is_some()));
    }
}
