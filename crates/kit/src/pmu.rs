//! Counters of the processor around the timed region, where there are any.

use std::collections::BTreeMap;
use sys::perf::{Counter, Event};

/// What is counted: the causes that time alone cannot tell apart.
const EVENTS: [Event; 4] =
    [Event::Cycles, Event::Instructions, Event::CacheMisses, Event::BranchMisses];

/// Counters of the trial's first thread. They are not inherited: an inherited counter adds
/// microseconds to the making of each thread, which is what some trials measure.
#[derive(Debug)]
pub(crate) struct Pmu(Vec<Counter>);

impl Pmu {
    /// Opens what this machine and user may count; on most virtual machines that is nothing.
    pub(crate) fn open() -> Self {
        Self::with(&EVENTS)
    }

    fn with(events: &[Event]) -> Self {
        let open = |event: &Event| Some(Counter::open_widest(*event, false).ok()?.0);
        Pmu(events.iter().filter_map(open).collect())
    }

    /// Begins to count. A counter that cannot is left out in the end.
    pub(crate) fn begin(&mut self) {
        self.0.retain(|counter| counter.enable().is_ok());
    }

    /// Stops counting; the values by `perf stat`'s names for the events.
    pub(crate) fn end(&self) -> BTreeMap<String, u64> {
        let read = |counter: &Counter| {
            counter.disable().ok()?;
            Some((counter.event().name().to_string(), counter.read().ok()?))
        };
        self.0.iter().filter_map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_what_happens_between_begin_and_end() {
        // Page faults stand in for an event of the processor: the kernel counts them everywhere.
        let mut pmu = Pmu::with(&[Event::PageFaults]);
        let mut before = sys::pages::Mapping::new(64 * 4096, sys::pages::Huge::Never).unwrap();
        let mut within = sys::pages::Mapping::new(64 * 4096, sys::pages::Huge::Never).unwrap();
        before.touch(4096);
        pmu.begin();
        within.touch(4096);
        let counted = pmu.end();
        match counted.get("page-faults") {
            Some(faults) => assert!((64..128).contains(faults), "{faults} faults for 64 pages"),
            None => println!("skipped: this user may not count page faults"),
        }
    }

    #[test]
    fn a_machine_without_counters_is_no_error() {
        let mut pmu = Pmu::with(&[]);
        pmu.begin();
        assert!(pmu.end().is_empty());
    }
}
