//! CPU time is taken by bursts of arithmetic on each of the program's CPUs.
//!
//! The bursts begin at the same time on all of them, so that a program of fewer threads than CPUs
//! cannot step aside, and there is one in each millisecond, so that a program which waits for
//! storage most of the time is hardly ever stopped by one. Where the rights allow, they come before
//! everything else, and take what they are to; elsewhere they take what the scheduler gives.

use super::Place;
use super::corunner::{CoRunner, Load};
use kit::{Result, Stop};
use sys::clock::{now_ns, sleep_ns, thread_cpu_ns};

/// From one burst to the next, in nanoseconds.
const PERIOD_NS: u64 = 1_000_000;

/// How much CPU time that it did not get may be taken later, in periods.
const CREDIT_PERIODS: u64 = 2;

/// Steps of arithmetic between two looks at the clock: some microseconds.
const STEPS: u64 = 4096;

struct Bursts {
    /// CPU time to be taken in each period.
    share_ns: u64,
    began_ns: u64,
    cpu_began_ns: u64,
}

/// Starts one co-runner for each CPU of the program, which takes `percent` of it.
pub(super) fn co_runners(place: &Place, percent: u32) -> Result<Vec<CoRunner>> {
    let share_ns = PERIOD_NS * u64::from(percent) / 100;
    let one = |cpu: &u32| {
        CoRunner::start(&[*cpu], move || {
            let how = match sys::process::set_first_in_line() {
                Ok(()) => "bursts, first in line".to_string(),
                Err(error) => format!("bursts, at the same priority ({error})"),
            };
            Ok((Bursts { share_ns, began_ns: 0, cpu_began_ns: 0 }, how))
        })
    };
    place.program.iter().map(one).collect()
}

/// The reference that is limited by CPU time alone.
pub(super) fn compute() -> Result<impl FnMut() -> Result<u64>, Stop> {
    let mut state = 1;
    Ok(move || {
        state = sys::black_box(arithmetic(state, STEPS));
        Ok(1)
    })
}

impl Load for Bursts {
    fn step(&mut self) -> Result<u64, String> {
        let now = now_ns();
        let had_ns = thread_cpu_ns() - self.cpu_began_ns;
        // Where the scheduler keeps it waiting, it does not add a wait of its own.
        if due_ns(now - self.began_ns, had_ns, self.share_ns) < self.share_ns * CREDIT_PERIODS {
            // The same instants for all.
            sleep_ns(PERIOD_NS - now % PERIOD_NS);
        }
        let cpu_ns = thread_cpu_ns();
        let due = due_ns(now_ns() - self.began_ns, cpu_ns - self.cpu_began_ns, self.share_ns);
        let mut state = cpu_ns;
        while thread_cpu_ns() - cpu_ns < due {
            state = arithmetic(state, STEPS);
        }
        sys::black_box(state);
        Ok(1)
    }

    fn begins(&mut self) {
        (self.began_ns, self.cpu_began_ns) = (now_ns(), thread_cpu_ns());
    }
}

/// How long the next burst is to be, after so much time and so much CPU time: what is due by the
/// end of this period, with a bound on what was missed.
fn due_ns(elapsed_ns: u64, had_ns: u64, share_ns: u64) -> u64 {
    let periods = elapsed_ns / PERIOD_NS + 1;
    let owed_ns = (periods * share_ns).saturating_sub(had_ns);
    owed_ns.min(share_ns * CREDIT_PERIODS)
}

/// Computes `steps` steps of arithmetic that touch no memory.
pub(super) fn arithmetic(mut state: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    state
}

#[cfg(test)]
mod tests {
    use super::{PERIOD_NS, due_ns};

    #[test]
    fn bursts_take_their_share_and_catch_up_within_bounds() {
        let share = PERIOD_NS / 4;
        assert_eq!(due_ns(0, 0, share), share);
        // Ten periods, of which it had all that was due.
        assert_eq!(due_ns(10 * PERIOD_NS, 10 * share, share), share);
        // It had more than is due: no burst.
        assert_eq!(due_ns(10 * PERIOD_NS, 12 * share, share), 0);
        // It had nothing: not all of it at once.
        assert_eq!(due_ns(10 * PERIOD_NS, 0, share), 2 * share);
    }
}
