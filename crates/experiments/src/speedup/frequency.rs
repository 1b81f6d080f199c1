//! The same work without turbo, where that can be had for a trial alone.

use crate::support::passes::generate;
use kit::{Result, Stop};
use sys::clock::now_ns;

/// Steps that are timed to see how fast a CPU is, and how often.
const STEPS: u64 = 1_000_000;
const TIMES: usize = 7;

/// A CPU that heeds the cap is slower by this factor at least, or no turbo was to be had.
const SLOWER: f64 = 1.02;

/// Caps this thread and those it will make at the `nominal` frequency, if that is asked for, and
/// verifies that the CPU heeds it.
///
/// The switches for turbo belong to the whole machine and would stay as a killed trial left them, so
/// they are not touched.
pub(super) fn realise(nominal: bool, cpu: u32) -> Result<()> {
    if !nominal {
        return Ok(());
    }
    let Some(nominal) = sys::uclamp::without_turbo(cpu) else {
        return Err(Stop::unsupported(
            "the frequency cannot be set here: the kernel shows no cpufreq with a nominal and a \
             higher frequency (a virtual machine's frequency is set by its host); take a machine \
             that has one, or measure two sessions with turbo on and off, and compare them",
        ));
    };
    let free_ns = step_time_ns();
    sys::uclamp::cap(nominal)?;
    heeded(free_ns, step_time_ns(), &sys::topology::governor(cpu).unwrap_or("none".into()))
}

fn heeded(free_ns: u64, capped_ns: u64, governor: &str) -> Result<()> {
    if capped_ns as f64 >= SLOWER * free_ns as f64 {
        return Ok(());
    }
    Err(Stop::unsupported(format!(
        "asked for no more than the nominal frequency, the CPU is not slower: the governor \
         {governor} ignores it (schedutil does not), or turbo is off already; or measure two \
         sessions with turbo on and off, and compare them"
    )))
}

/// The middle one of some times, in nanoseconds; the first ones, in which the governor follows, are
/// among them.
fn step_time_ns() -> u64 {
    let mut times = [0; TIMES];
    for time in &mut times {
        let begun_ns = now_ns();
        sys::black_box(generate(1, STEPS));
        *time = now_ns() - begun_ns;
    }
    times.sort_unstable();
    times[TIMES / 2]
}

#[cfg(test)]
mod tests {
    use super::{heeded, realise};
    use kit::Stop;

    #[test]
    fn a_cap_without_effect_is_no_treatment() {
        assert_eq!(heeded(1000, 1300, "schedutil"), Ok(()));
        for capped_ns in [900, 1000, 1019] {
            match heeded(1000, capped_ns, "performance") {
                Err(Stop::Unsupported(why)) => assert!(why.contains("performance"), "{why}"),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(realise(false, 0), Ok(()));
    }

    #[test]
    fn what_this_machine_refuses_says_why() {
        let result = std::thread::spawn(|| realise(true, 0)).join();
        match result {
            Ok(Ok(())) => {}
            Ok(Err(Stop::Unsupported(why))) => {
                assert!(why.contains("turbo") || why.contains("UCLAMP"))
            }
            other => panic!("{other:?}"),
        }
    }
}
