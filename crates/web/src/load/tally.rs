//! What one thread has counted, and the sum over threads.

use super::{Noted, Times};
use hdrhistogram::Histogram;
use model::{LateEnds, LoadError, LoadStall};
use std::collections::BTreeMap;

/// Counts, and the times since they were last handed over.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// From due to answered, of requests that were sent at the moment at which they were due: all of a closed
    /// loop. They are not in the four that follow.
    pub(super) prompt: Times,
    /// How many requests were sent at that moment.
    pub(super) prompt_sent: u64,
    /// From due to answered.
    pub(super) response: Times,
    /// From due to answered, of answers with a status of 400 or above alone.
    pub(super) refused: Times,
    /// From sent to answered.
    pub(super) service: Times,
    /// From due to sent.
    pub(super) lateness: Times,
    /// From due to answered, less what passed between the moment at which the request was due and a
    /// connection free and its sending: the generator's own part.
    pub(super) punctual: Times,
    /// Answers by status.
    pub(super) statuses: BTreeMap<u16, u64>,
    /// Answers with a status below 400 after the end of the time.
    pub(super) succeeded_late: u64,
    /// Answers after the end of the time, whatever their status.
    pub(super) late_answers: u64,
    pub(super) errors: BTreeMap<LoadError, u64>,
    pub(super) sent: u64,
    /// Of these, those that were repeated on a new connection.
    pub(super) retried: u64,
    /// Answers after which the server closed a connection that was to be kept.
    pub(super) closed: u64,
    pub(super) timed_out: u64,
    /// Of these, those whose body the server's windows of HTTP/2 kept from being sent.
    pub(super) stalled: u64,
    pub(super) in_flight: u64,
    pub(super) unsent: u64,
    /// Requests that were due before a connection was free.
    pub(super) waited: u64,
    /// Connections for which the system had no port left, or no descriptor.
    pub(super) without_port: u64,
    pub(super) without_descriptor: u64,
    /// What the first error of each kind was.
    pub(super) causes: BTreeMap<LoadError, String>,
    /// Times without any answer, in ns of the monotonic clock.
    pub(super) stalls: Vec<LoadStall>,
    /// Answers whose end came as late after their beginning as a delayed acknowledgement.
    pub(super) late_ends: LateEnds,
    /// What requests that failed had taken by then, from their sending on, in ns.
    pub(super) failed_ns: f64,
    /// The time before the first request of each connection of a closed loop, in ns.
    pub(super) unstarted_ns: f64,
    /// What requests took after the end of the time, in ns.
    pub(super) late_ns: f64,
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    /// Connections by the SYN's repetition after which they came to be.
    pub(super) syn_backoff: BTreeMap<u32, u64>,
    /// Answers of each connection that had a request to send.
    pub(super) answers: Vec<u64>,
    /// The second half of the time, of a load that ends with its time.
    pub(super) half: Half,
    /// Each request, where that was asked for.
    pub(super) noted: Vec<Noted>,
    /// When its time ended, in ns of the monotonic clock, and when it stopped to wait for answers.
    pub(super) end_ns: u64,
    pub(super) drained_ns: u64,
    /// CPU time of the thread, in ns.
    pub(super) cpu_ns: u64,
    /// Elapsed time of the same, in ns.
    pub(super) wall_ns: u64,
    /// Time that the thread was ready and had no CPU, in ns, where the kernel tells.
    pub(super) queue_wait_ns: Option<u64>,
}

impl Tally {
    /// Adds what another thread has counted; times are added slice by slice.
    pub(super) fn add(&mut self, other: &Tally) {
        add_each(&mut self.statuses, &other.statuses);
        add_each(&mut self.errors, &other.errors);
        add_each(&mut self.syn_backoff, &other.syn_backoff);
        for (error, cause) in &other.causes {
            self.explain(*error, || cause.clone());
        }
        self.succeeded_late += other.succeeded_late;
        self.late_answers += other.late_answers;
        self.sent += other.sent;
        self.retried += other.retried;
        self.closed += other.closed;
        self.timed_out += other.timed_out;
        self.stalled += other.stalled;
        self.in_flight += other.in_flight;
        self.unsent += other.unsent;
        self.waited += other.waited;
        self.without_port += other.without_port;
        self.without_descriptor += other.without_descriptor;
        self.late_ends.count += other.late_ends.count;
        self.late_ends.hurried += other.late_ends.hurried;
        self.late_ends.hurried_late += other.late_ends.hurried_late;
        self.failed_ns += other.failed_ns;
        self.unstarted_ns += other.unstarted_ns;
        self.late_ns += other.late_ns;
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.answers.extend(&other.answers);
        self.half.answers += other.half.answers;
        self.half.present_ns += other.half.present_ns;
        self.end_ns = self.end_ns.max(other.end_ns);
        self.drained_ns = self.drained_ns.max(other.drained_ns);
        self.cpu_ns += other.cpu_ns;
        self.queue_wait_ns = match (self.queue_wait_ns, other.queue_wait_ns) {
            (Some(sum), Some(part)) => Some(sum + part),
            (sum, part) => sum.or(part),
        };
    }

    /// Keeps the cause of the first error of its kind.
    pub(super) fn explain(&mut self, error: LoadError, cause: impl FnOnce() -> String) {
        self.causes.entry(error).or_insert_with(cause);
    }

    /// Whole answers.
    pub(super) fn answered(&self) -> u64 {
        self.statuses.values().sum()
    }

    /// Answers with a status below 400.
    pub(super) fn succeeded(&self) -> u64 {
        self.statuses.range(..400).map(|(_, count)| count).sum()
    }

    /// Requests that failed.
    pub(super) fn failed(&self) -> u64 {
        self.errors.values().sum()
    }
}

/// What was there in the second half of a load's time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Half {
    /// Answers with a status below 400, each by the part of its request's time that lies within.
    pub(super) answers: f64,
    /// Requests that were there, answered or not, summed over time, in request-ns.
    pub(super) present_ns: f64,
}

impl Half {
    /// Adds a request that was there from one moment to another, of the half from `begin_ns` to `end_ns`, all in
    /// ns of one clock.
    pub(super) fn add(
        &mut self,
        there_ns: (u64, u64),
        begin_ns: u64,
        end_ns: u64,
        succeeded: bool,
    ) {
        let (from_ns, until_ns) = there_ns;
        let within_ns = until_ns.min(end_ns).saturating_sub(from_ns.max(begin_ns)) as f64;
        self.present_ns += within_ns;
        if succeeded {
            self.answers += within_ns / until_ns.saturating_sub(from_ns).max(1) as f64;
        }
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
