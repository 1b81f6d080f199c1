//! Counters of the processor around the timed region, where there are any.

use std::collections::BTreeMap;
use sys::perf::{Counter, Event};

/// What is counted: the causes that time alone cannot tell apart.
const EVENTS: [Event; 5] = [
    Event::Cycles,
    Event::Instructions,
    Event::CacheMisses,
    Event::BranchMisses,
    Event::StalledCycles,
];

/// The number of events.
pub(crate) const EVENTS_COUNT: usize = EVENTS.len();

/// What was counted, in the order of the events; `None` of one that this machine or user may not count.
pub type Counts = [Option<u64>; EVENTS_COUNT];

/// Counters of one thread. They are not inherited: an inherited counter adds microseconds to the making of each
/// thread, which is what some trials measure. Threads that work together open their own.
#[derive(Debug)]
pub struct Pmu([Option<Counter>; EVENTS_COUNT]);

impl Pmu {
    /// Opens what this machine and user may count; on most virtual machines that is nothing.
    pub fn open() -> Self {
        Self::with(EVENTS)
    }

    fn with(events: [Event; EVENTS_COUNT]) -> Self {
        Pmu(events.map(|event| Some(Counter::open_widest(event, false).ok()?.0)))
    }

    /// Begins to count. A counter that cannot is left out in the end.
    pub fn begin(&mut self) {
        for counter in &mut self.0 {
            *counter = counter.take().filter(|counter| counter.enable().is_ok());
        }
    }

    /// Stops counting. A value is scaled up if the counter shared the processor's few with others.
    pub fn end(&self) -> Counts {
        let read = |counter: &Counter| {
            counter.disable().ok()?;
            counter.read().ok()
        };
        self.0.each_ref().map(|counter| read(counter.as_ref()?))
    }
}

/// Adds what several threads counted: only what all of them could count.
pub(crate) fn sum(all: impl IntoIterator<Item = Counts>) -> Option<Counts> {
    let add = |a: Counts, b: Counts| std::array::from_fn(|at| Some(a[at]?.saturating_add(b[at]?)));
    all.into_iter().reduce(add)
}

/// Returns counts by `perf stat`'s names for the events.
pub(crate) fn named(counts: &Counts) -> BTreeMap<String, u64> {
    let named = |(event, count): (Event, &Option<u64>)| Some((event.name().into(), (*count)?));
    EVENTS.into_iter().zip(counts).filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_what_happens_between_begin_and_end() {
        // Page faults stand in for an event of the processor: the kernel counts them everywhere.
        let mut pmu = Pmu::with([Event::PageFaults; EVENTS_COUNT]);
        let mut before = sys::pages::Mapping::new(64 * 4096, sys::pages::Huge::Never).unwrap();
        let mut within = sys::pages::Mapping::new(64 * 4096, sys::pages::Huge::Never).unwrap();
        before.touch(4096);
        pmu.begin();
        within.touch(4096);
        match pmu.end()[0] {
            Some(faults) => assert!((64..128).contains(&faults), "{faults} faults for 64 pages"),
            None => println!("skipped: this user may not count page faults"),
        }
    }

    #[test]
    fn only_what_all_could_count_is_added() {
        let one = [Some(1), Some(2), None, Some(4), None];
        let other = [Some(10), None, None, Some(u64::MAX), Some(5)];
        let sum = sum([one, other]).unwrap();
        assert_eq!(sum, [Some(11), None, None, Some(u64::MAX), None]);
        let named = named(&sum);
        assert_eq!(named.into_values().collect::<Vec<_>>(), [u64::MAX, 11]);
        assert_eq!(super::sum([]), None);
    }
}
