//! Times in which no connection was answered.

use super::Worker;
use crate::load::tally::Tally;
use model::LoadStall;
use sys::clock::now_ns;

/// A shorter time without an answer is not noted, in ns.
const LEAST_NS: u64 = 20_000_000;

/// The most that are noted.
const NOTED_MAX: usize = 1_000;

/// How long a thread has had no answer.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    /// The last answer, or the start.
    since_ns: u64,
    /// For how long the thread had waited for a CPU by some moment before, in ns.
    queued_ns: u64,
    /// Requests that were sent by this moment waited in the last stall, and are counted as released until
    /// that one.
    sent_by_ns: u64,
    released_until_ns: u64,
}

impl Quiet {
    pub(super) fn since(since_ns: u64) -> Self {
        let mut quiet = Self { since_ns, ..Self::default() };
        quiet.look();
        quiet
    }

    /// Looks for how long the thread has waited for a CPU, and returns how much has come to it.
    pub(super) fn look(&mut self) -> u64 {
        let queued_ns = sys::proc::schedstat_thread().map_or(0, |it| it.queue_wait_ns);
        queued_ns.saturating_sub(std::mem::replace(&mut self.queued_ns, queued_ns))
    }
}

impl Worker<'_> {
    /// Notes that a connection is answered.
    pub(super) fn answered(&mut self, index: u32, now_ns: u64) {
        let from_ns = std::mem::replace(&mut self.quiet.since_ns, now_ns);
        // Before the first answer the generator opens its connections.
        if from_ns > self.start_ns && now_ns.saturating_sub(from_ns) >= LEAST_NS {
            self.note_stall(from_ns, now_ns);
        }
        if now_ns <= self.quiet.released_until_ns
            && self.connections[index as usize].sent_ns <= self.quiet.sent_by_ns
            && let Some(stall) = self.tally.stalls.last_mut()
        {
            stall.released += 1;
        }
    }

    #[cold]
    fn note_stall(&mut self, from_ns: u64, until_ns: u64) {
        let half_ns = (until_ns - from_ns) / 2;
        self.quiet.released_until_ns = 0;
        // Where the generator itself had no CPU, it knows nothing of the server.
        if self.quiet.look() >= half_ns || self.tally.stalls.len() >= NOTED_MAX {
            return;
        }
        let sent_by_ns = from_ns + half_ns;
        self.quiet.sent_by_ns = sent_by_ns;
        self.quiet.released_until_ns = now_ns() + half_ns;
        let waited =
            self.connections.iter().filter(|one| one.is_busy() && one.sent_ns <= sent_by_ns);
        let waiting = waited.count() as u32;
        self.tally.stalls.push(LoadStall { from_ns, until_ns, waiting, ..LoadStall::default() });
    }
}

/// Returns the times in which no thread had an answer, in ns after the start.
pub(in crate::load) fn common(tallies: &[Tally], start_ns: u64) -> Vec<LoadStall> {
    let mut threads = tallies.iter().filter(|tally| !tally.answers.is_empty());
    let mut common = threads.next().map(|tally| tally.stalls.clone()).unwrap_or_default();
    for tally in threads {
        let of_both = |one| tally.stalls.iter().filter_map(move |other| both(one, other));
        common = common.iter().flat_map(of_both).collect();
    }
    for stall in &mut common {
        stall.from_ns = stall.from_ns.saturating_sub(start_ns);
        stall.until_ns = stall.until_ns.saturating_sub(start_ns);
    }
    common
}

/// Returns the time that is in both stalls.
fn both(one: &LoadStall, other: &LoadStall) -> Option<LoadStall> {
    let (from_ns, until_ns) = (one.from_ns.max(other.from_ns), one.until_ns.min(other.until_ns));
    (until_ns >= from_ns + LEAST_NS).then(|| LoadStall {
        from_ns,
        until_ns,
        waiting: one.waiting + other.waiting,
        released: one.released + other.released,
        server_cpu_ns: None,
    })
}
