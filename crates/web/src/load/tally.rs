//! What one thread has counted, and the sum over threads.

use super::connection::Turns;
use super::{Noted, Times};
use hdrhistogram::Histogram;
use model::LoadError;
use std::collections::BTreeMap;

/// A number of things that are there, and its integral over time, by events alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Presence {
    now: i64,
    last_ns: u64,
    /// Things × ns.
    area: i128,
}

impl Presence {
    /// Nothing is there at `start_ns`.
    pub(super) fn new(start_ns: u64) -> Self {
        Self { now: 0, last_ns: start_ns, area: 0 }
    }

    /// Goes on to `at_ns`.
    fn advance(&mut self, at_ns: u64) {
        let passed_ns = at_ns.saturating_sub(self.last_ns);
        self.area += i128::from(self.now) * i128::from(passed_ns);
        self.last_ns += passed_ns;
    }

    /// One came at `at_ns`, which may have passed a while ago.
    pub(super) fn enter(&mut self, at_ns: u64) {
        self.advance(at_ns);
        self.area += i128::from(self.last_ns) - i128::from(at_ns);
        self.now += 1;
    }

    /// One left at `at_ns`.
    pub(super) fn leave(&mut self, at_ns: u64) {
        self.advance(at_ns);
        self.area -= i128::from(self.last_ns) - i128::from(at_ns);
        self.now -= 1;
    }

    /// The integral up to `end_ns`, in things × ns.
    pub(super) fn area_by(&mut self, end_ns: u64) -> f64 {
        self.advance(end_ns);
        self.area as f64
    }
}

/// Counts, times and integrals.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// From due to answered.
    pub(super) response: Times,
    /// From sent to answered.
    pub(super) service: Times,
    /// From due to sent.
    pub(super) lateness: Times,
    /// From due to answered, less what passed between the moment at which the request was due and a
    /// connection free and its sending: the generator's own part.
    pub(super) punctual: Times,
    /// Answers by status.
    pub(super) statuses: BTreeMap<u16, u64>,
    pub(super) errors: BTreeMap<LoadError, u64>,
    pub(super) sent: u64,
    /// Of these, those that were repeated on a new connection.
    pub(super) retried: u64,
    pub(super) timed_out: u64,
    /// Of these, those whose body the server's windows of HTTP/2 kept from being sent.
    pub(super) stalled: u64,
    pub(super) in_flight: u64,
    pub(super) unsent: u64,
    /// Requests that were due before a connection was free.
    pub(super) waited: u64,
    /// Connections for which the system had no port or descriptor left.
    pub(super) exhausted: u64,
    /// What requests that failed had taken by then, in ns: from due, and from sent.
    pub(super) failed_ns: (f64, f64),
    /// Requests × ns, from due on, and from sending on.
    pub(super) present_area: f64,
    pub(super) busy_area: f64,
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    /// Connections by the SYN's repetition after which they came to be.
    pub(super) syn_backoff: BTreeMap<u32, u64>,
    /// Answers of each connection that had a request to send.
    pub(super) answers: Vec<u64>,
    /// The whole turns of each connection.
    pub(super) turns: Vec<Turns>,
    /// Each request, where that was asked for.
    pub(super) noted: Vec<Noted>,
    /// When it ended, in ns of the monotonic clock.
    pub(super) end_ns: u64,
    /// CPU time of the thread, in ns.
    pub(super) cpu_ns: u64,
    /// Elapsed time of the same, in ns.
    pub(super) wall_ns: u64,
    /// Time that the thread was ready and had no CPU, in ns, where the kernel tells.
    pub(super) queue_wait_ns: Option<u64>,
}

impl Tally {
    /// Adds what another thread has counted.
    pub(super) fn add(&mut self, other: &Tally) {
        self.response.add(&other.response);
        self.service.add(&other.service);
        self.lateness.add(&other.lateness);
        self.punctual.add(&other.punctual);
        add_each(&mut self.statuses, &other.statuses);
        add_each(&mut self.errors, &other.errors);
        add_each(&mut self.syn_backoff, &other.syn_backoff);
        self.sent += other.sent;
        self.retried += other.retried;
        self.timed_out += other.timed_out;
        self.stalled += other.stalled;
        self.in_flight += other.in_flight;
        self.unsent += other.unsent;
        self.waited += other.waited;
        self.exhausted += other.exhausted;
        self.failed_ns.0 += other.failed_ns.0;
        self.failed_ns.1 += other.failed_ns.1;
        self.present_area += other.present_area;
        self.busy_area += other.busy_area;
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.answers.extend(&other.answers);
        self.turns.extend(&other.turns);
        self.noted.extend(&other.noted);
        self.end_ns = self.end_ns.max(other.end_ns);
        self.cpu_ns += other.cpu_ns;
        self.queue_wait_ns = match (self.queue_wait_ns, other.queue_wait_ns) {
            (Some(sum), Some(part)) => Some(sum + part),
            (sum, part) => sum.or(part),
        };
    }

    /// Whole answers.
    pub(super) fn answered(&self) -> u64 {
        self.statuses.values().sum()
    }

    /// Requests that failed.
    pub(super) fn failed(&self) -> u64 {
        self.errors.values().sum()
    }
}

/// Adds counts to those of the same name.
fn add_each<K: Copy + Ord>(sum: &mut BTreeMap<K, u64>, part: &BTreeMap<K, u64>) {
    for (name, count) in part {
        *sum.entry(*name).or_default() += count;
    }
}

/// Records a time. A histogram that resizes itself takes any.
pub(super) fn record(histogram: &mut Histogram<u64>, ns: u64) {
    if histogram.record(ns).is_err() {
        histogram.saturating_record(ns);
    }
}

/// Adds a histogram to another that resizes itself.
pub(super) fn add(sum: &mut Histogram<u64>, part: &Histogram<u64>) {
    if sum.add(part).is_err() {
        for bucket in part.iter_recorded() {
            sum.saturating_record_n(bucket.value_iterated_to(), bucket.count_at_value());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_integral_counts_those_that_came_late_too() {
        let mut presence = Presence::new(100);
        presence.enter(110);
        presence.enter(120);
        presence.leave(130);
        // It was due at 125, and is heard of at 130.
        presence.enter(125);
        // From 110 to 130, from 120 and from 125 to the end, in some order.
        assert_eq!(presence.area_by(140), 20.0 + 20.0 + 15.0);
    }

    proptest! {
        #[test]
        fn an_integral_is_the_sum_of_stays(
            stays in prop::collection::vec((0_u64..1000, 0_u64..1000, 0_u64..50), 0..50),
        ) {
            // Each is heard of a while after it came, and before it leaves.
            let mut events = Vec::new();
            let mut sum = 0;
            for (came, stay, heard) in &stays {
                let leaves = came + stay;
                events.push(((came + heard).min(leaves), 0, *came));
                events.push((leaves, 1, leaves));
                sum += stay.min(&(1500_u64.saturating_sub(*came)));
            }
            events.sort_unstable();
            let mut presence = Presence::new(0);
            for (heard, leaves, at) in events {
                if heard > 1500 {
                    continue;
                }
                if leaves == 1 { presence.leave(at) } else { presence.enter(at) }
            }
            // Those heard of after the end have come after 1000 + 50 < 1500.
            prop_assert_eq!(presence.area_by(1500), sum as f64);
        }
    }
}
