use model::Surroundings;
use sys::cgroup::Quotas;

/// What the machine had done in all when a trial began; the difference at its end is what it did
/// beside the trial.
#[derive(Debug)]
pub(crate) struct Before {
    busy_ns: Option<u64>,
    steal_ns: Option<u64>,
    runner_cpu_ns: u64,
    pressure_ns: [Option<u64>; 3],
    throttled_ns: Vec<Option<u64>>,
    suspended_ns: u64,
    continued: u32,
}

impl Before {
    pub(crate) fn now(quotas: &Quotas) -> Self {
        let cpu = sys::proc::machine_cpu();
        Before {
            busy_ns: cpu.as_ref().map(|cpu| cpu.busy_ns),
            steal_ns: cpu.map(|cpu| cpu.steal_ns),
            runner_cpu_ns: sys::clock::process_cpu_ns(),
            pressure_ns: ["cpu", "io", "memory"].map(sys::proc::pressure),
            throttled_ns: quotas.throttled_ns(),
            suspended_ns: sys::clock::suspended_ns(),
            continued: sys::pauses::continued(),
        }
    }

    /// What happened since, less what the runner used, and the trial with the programs that worked for it.
    pub(crate) fn until_now(&self, quotas: &Quotas, trial_cpu_ns: u64) -> Surroundings {
        let now = Before::now(quotas);
        let own_ns = trial_cpu_ns + (now.runner_cpu_ns - self.runner_cpu_ns);
        let less = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        let pressed = |of: usize| less(now.pressure_ns[of], self.pressure_ns[of]);
        Surroundings {
            foreign_cpu_ns: less(now.busy_ns, self.busy_ns).map(|busy| busy.saturating_sub(own_ns)),
            steal_ns: less(now.steal_ns, self.steal_ns),
            cpu_pressure_ns: pressed(0),
            io_pressure_ns: pressed(1),
            memory_pressure_ns: pressed(2),
            throttled_ns: throttled_ns(&self.throttled_ns, &now.throttled_ns),
            suspended_ms: suspended_ms(self.suspended_ns, now.suspended_ns),
            runner_pauses: now.continued.wrapping_sub(self.continued),
            // The one who waits for the trial knows.
            trial_pauses: 0,
            // The one who looks for them knows.
            other_sessions: 0,
        }
    }
}

/// For how long the worst of some quotas held its group back between two readings; `None` where
/// the kernel tells of none.
///
/// The worst and not the sum: while a group is held back those inside it are too, and the same wait
/// would count twice.
fn throttled_ns(before: &[Option<u64>], now: &[Option<u64>]) -> Option<u64> {
    let waits = before.iter().zip(now);
    waits.filter_map(|(before, now)| Some((*now)?.saturating_sub((*before)?))).max()
}

/// No suspension is shorter: devices have to go to sleep and to wake up.
const SUSPENSION_MS_MIN: u64 = 100;

/// For how long the machine was suspended between two readings. Each is made of two clocks, one read
/// after the other: what is shorter than any suspension is the moment between them.
fn suspended_ms(before_ns: u64, now_ns: u64) -> u32 {
    match now_ns.saturating_sub(before_ns) / 1_000_000 {
        0..SUSPENSION_MS_MIN => 0,
        ms => u32::try_from(ms).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::{suspended_ms, throttled_ns};

    #[test]
    fn a_suspension_is_told_from_the_moment_between_two_readings() {
        assert_eq!(suspended_ms(5_000, 99_000_000), 0);
        assert_eq!(suspended_ms(5_400, 5_000), 0);
        assert_eq!(suspended_ms(5_000, 12_300_005_000), 12_300);
        assert_eq!(suspended_ms(0, u64::MAX), u32::MAX);
    }

    #[test]
    fn the_worst_quota_counts_and_silence_is_not_none() {
        assert_eq!(throttled_ns(&[Some(5), Some(100)], &[Some(5), Some(130)]), Some(30));
        assert_eq!(throttled_ns(&[Some(5), Some(100)], &[Some(45), Some(130)]), Some(40));
        assert_eq!(throttled_ns(&[Some(5)], &[Some(5)]), Some(0));
        assert_eq!(throttled_ns(&[None, Some(1)], &[Some(9), Some(2)]), Some(1));
        assert_eq!(throttled_ns(&[Some(9)], &[Some(2)]), Some(0));
        assert_eq!(throttled_ns(&[Some(9)], &[None]), None);
        assert_eq!(throttled_ns(&[], &[]), None);
    }
}
