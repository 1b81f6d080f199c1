//! CPUs that all who compute share equally.

use super::agenda::{Agenda, NEVER};

/// What an end may be after a whole ns and still count as that.
const ROUNDING_NS: f64 = 1.0 / 1024.0;

/// k CPUs and the n requests that compute: each advances by min(1, k/n) ns of CPU time in a ns.
///
/// All advance alike, so that one number, the CPU time that any of them got since the CPUs were last
/// idle, says how far each is: a request that comes at V and asks for d is done at V + d, whatever
/// comes and goes meanwhile. That is the virtual time of fair queueing (A. Demers, S. Keshav and
/// S. Shenker, *Analysis and simulation of a fair queueing algorithm*, SIGCOMM 1989), and it costs a
/// change of order log n, where stepping each request would cost n.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// 1/k.
    share: f64,
    count: u32,
    /// Requests by the V at which they are done: bits of numbers of at least 0, which have the order
    /// of the numbers.
    ends: Agenda,
    /// V now.
    got_ns: f64,
    /// When that was computed, in ns since `idle_ns`.
    clock_ns: f64,
    /// When the CPUs were last idle. Both begin anew then, and lose no digits in a long simulation.
    idle_ns: u64,
    /// When the next is done.
    due_ns: u64,
}

impl Shared {
    pub(super) fn new(cpus: u32) -> Self {
        Shared { share: 1.0 / f64::from(cpus), due_ns: NEVER, ..Shared::default() }
    }

    /// When the next request is done, in the first whole ns after it; [`NEVER`] if none computes.
    pub(super) fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// The time that 1 ns of CPU time takes.
    fn stretch(&self) -> f64 {
        (f64::from(self.count) * self.share).max(1.0)
    }

    /// A request begins to compute. All that were done by then must have left.
    pub(super) fn enter(&mut self, now_ns: u64, slot: u32, cpu_ns: u64) {
        if self.count == 0 {
            (self.idle_ns, self.clock_ns, self.got_ns) = (now_ns, 0.0, 0.0);
        }
        // The last to leave may have been done a little after `now_ns` (see `look`).
        let clock_ns = (now_ns - self.idle_ns) as f64;
        if clock_ns > self.clock_ns {
            self.got_ns += (clock_ns - self.clock_ns) / self.stretch();
            self.clock_ns = clock_ns;
        }
        self.count += 1;
        self.ends.push((self.got_ns + cpu_ns as f64).to_bits(), slot);
        self.look();
    }

    /// Takes out a request that is done at `now_ns`.
    pub(super) fn leave(&mut self, now_ns: u64) -> Option<u32> {
        if self.due_ns > now_ns {
            return None;
        }
        // The others go on from when it was really done, which was no whole ns: nothing is lost.
        let got_ns = f64::from_bits(self.ends.key());
        self.clock_ns += (got_ns - self.got_ns).max(0.0) * self.stretch();
        self.got_ns = self.got_ns.max(got_ns);
        let slot = self.ends.pop();
        self.count -= u32::from(slot.is_some());
        self.look();
        slot
    }

    fn look(&mut self) {
        self.due_ns = NEVER;
        if self.count > 0 {
            let left_ns = (f64::from_bits(self.ends.key()) - self.got_ns).max(0.0);
            let end_ns = self.clock_ns + left_ns * self.stretch();
            // Rounding must not turn a whole ns into the next one. The cast takes what is beyond all
            // numbers for the largest.
            let whole_ns = (end_ns + (1.0 - ROUNDING_NS)) as u64;
            self.due_ns = self.idle_ns.saturating_add(whole_ns).min(NEVER - 1);
        }
    }
}
