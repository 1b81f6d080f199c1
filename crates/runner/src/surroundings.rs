use model::Surroundings;

/// What the machine had done in all when a trial began; the difference at its end is what it did
/// beside the trial.
#[derive(Debug)]
pub(crate) struct Before {
    cpu: Option<sys::proc::MachineCpu>,
    runner_cpu_ns: u64,
    pressure: [Option<u64>; 3],
}

const RESOURCES: [&str; 3] = ["cpu", "io", "memory"];

impl Before {
    pub(crate) fn now() -> Self {
        Before {
            cpu: sys::proc::machine_cpu(),
            runner_cpu_ns: sys::clock::process_cpu_ns(),
            pressure: RESOURCES.map(sys::proc::pressure),
        }
    }

    /// What happened since, less what the trial and the runner used themselves.
    pub(crate) fn until_now(&self, trial_cpu_ns: u64) -> Surroundings {
        let runner_ns = sys::clock::process_cpu_ns() - self.runner_cpu_ns;
        let cpu = sys::proc::machine_cpu();
        let less = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        let busy_ns = less(cpu.as_ref().map(|c| c.busy_ns), self.cpu.as_ref().map(|c| c.busy_ns));
        let pressure = RESOURCES.map(sys::proc::pressure);
        Surroundings {
            foreign_cpu_ns: busy_ns.map(|busy| busy.saturating_sub(trial_cpu_ns + runner_ns)),
            steal_ns: less(cpu.as_ref().map(|c| c.steal_ns), self.cpu.as_ref().map(|c| c.steal_ns)),
            cpu_pressure_ns: less(pressure[0], self.pressure[0]),
            io_pressure_ns: less(pressure[1], self.pressure[1]),
            memory_pressure_ns: less(pressure[2], self.pressure[2]),
            throttled_ns: None,
        }
    }
}
