//! The most memory that the program and all that came of it had at once.
//!
//! What is shared must be counted once (PSS), and only a walk through the page tables tells that:
//! `smaps_rollup`, 3 ms for 1 GB. So it is walked rarely, and between two walks the kernel's
//! counters are read, which cost some microseconds: what a process's *anonymous* memory has grown
//! by since the walk is its own, so that so much is added. Memory that a process has in common with
//! another by `fork` is in the counters of both from the fork on, and grows neither. Of a process
//! that is younger than the last walk nobody knows how much it inherited, but its parent never had
//! more than the peak of its resident set: what it has beyond that is its own. So the figure is
//! never more than there was, except for the some hundred KB by which the kernel's counters may be
//! off.

use std::collections::HashMap;
use sys::task::Pid;

/// What is known of the memory by looking.
#[derive(Debug, Default)]
pub(crate) struct MemoryLooks {
    /// Peak of the sum of proportional shares, in bytes; 0 before the first walk.
    pub(crate) pss_bytes: u64,
    /// Peak of the sum of resident sets, in bytes; 0 before the first look.
    pub(crate) rss_bytes: u64,
    /// The largest resident set that one process had at any time, in bytes.
    pub(crate) largest_rss_bytes: u64,
    /// How often the counters of all processes were read.
    pub(crate) counts: u32,
    /// How many walks there were.
    pub(crate) walks: u32,
    /// Why page tables cannot be walked here, where they cannot.
    pub(crate) refused: Option<String>,
    /// What a walk found, per living process.
    marks: HashMap<Pid, Mark>,
    last_walk: Option<Walk>,
    /// Resident bytes and processes at the last look.
    now_rss_bytes: u64,
    now_processes: usize,
}

/// What the last walk took.
#[derive(Clone, Copy, Debug)]
struct Walk {
    took_ns: u64,
    rss_bytes: u64,
    processes: usize,
}

/// What a walk takes per byte, in ns: 3.3 ms for 1 GB of ordinary pages on a machine at rest, three
/// times as much where others use its caches.
const WALK_NS_PER_BYTE: f64 = 0.01;

/// A living process of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) pid: Pid,
    pub(crate) parent: Pid,
}

/// Where the memory of a process stood.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    pss_bytes: u64,
    anonymous_bytes: u64,
}

/// What a process's counters say.
#[derive(Clone, Copy, Debug)]
struct Counters {
    rss_bytes: u64,
    largest_rss_bytes: u64,
    anonymous_bytes: u64,
}

impl MemoryLooks {
    /// Reads the counters of these processes.
    pub(crate) fn count(&mut self, members: &[Member]) {
        let found: Vec<(Member, Counters)> =
            members.iter().filter_map(|member| Some((*member, counters(member.pid)?))).collect();
        self.take(&found);
    }

    /// Reads the counters of the processes that were there at the last look, and nothing else of
    /// them: so little that it can be done much more often than a look. Who has come since is
    /// counted from the next look on.
    pub(crate) fn glance(&mut self) {
        let known = self.marks.iter();
        let found: Vec<(Mark, sys::proc::Resident)> = known
            .filter_map(|(pid, mark)| Some((*mark, sys::proc::resident(*pid).ok()?)))
            .collect();
        self.sum(&found);
    }

    fn sum(&mut self, found: &[(Mark, sys::proc::Resident)]) {
        if found.is_empty() {
            return;
        }
        self.counts += 1;
        let rss_bytes = found.iter().map(|(_, now)| now.rss_bytes).sum();
        self.rss_bytes = self.rss_bytes.max(rss_bytes);
        let own = |(mark, now): &(Mark, sys::proc::Resident)| {
            mark.pss_bytes as i64 + now.anonymous_bytes as i64 - mark.anonymous_bytes as i64
        };
        let sum = found.iter().map(own).fold(0, i64::saturating_add);
        if self.walks > 0 {
            // The counters of one look are not of one moment: shared memory is part of the
            // resident at least.
            let sum = u64::try_from(sum).unwrap_or(0).min(rss_bytes);
            self.pss_bytes = self.pss_bytes.max(sum);
        }
    }

    fn take(&mut self, found: &[(Member, Counters)]) {
        self.now_processes = found.len();
        self.now_rss_bytes = found.iter().map(|(_, now)| now.rss_bytes).sum();
        let largest = found.iter().map(|(_, now)| now.largest_rss_bytes).max();
        self.largest_rss_bytes = self.largest_rss_bytes.max(largest.unwrap_or(0));
        let before = std::mem::take(&mut self.marks);
        let peaks: HashMap<Pid, u64> =
            found.iter().map(|(member, now)| (member.pid, now.largest_rss_bytes)).collect();
        let mut of_all = Vec::with_capacity(found.len());
        for (member, now) in found {
            let inherited_bytes = peaks.get(&member.parent).copied().unwrap_or(u64::MAX);
            let first_seen =
                Mark { pss_bytes: 0, anonymous_bytes: now.anonymous_bytes.min(inherited_bytes) };
            let mark = before.get(&member.pid).copied().unwrap_or(first_seen);
            let Counters { rss_bytes, anonymous_bytes, .. } = *now;
            of_all.push((mark, sys::proc::Resident { rss_bytes, anonymous_bytes }));
            self.marks.insert(member.pid, mark);
        }
        self.sum(&of_all);
    }

    /// Walks through the page tables of these processes. `again` says which there are afterwards:
    /// where others have come meanwhile, shared pages were divided by a number that changed, and
    /// the shares are no ground to add to.
    pub(crate) fn walk(&mut self, members: &[Member], again: impl FnOnce() -> Vec<Member>) {
        if self.refused.is_some() {
            return;
        }
        let before_ns = sys::clock::thread_cpu_ns();
        let mut found = Vec::with_capacity(members.len());
        for Member { pid, .. } in members {
            match sys::proc::memory(*pid) {
                Ok(memory) => found.push((*pid, memory)),
                Err(error) if error.is_unsupported() => {
                    self.refused = Some(error.to_string());
                    return;
                }
                // It has ended since it was seen.
                Err(_) => {}
            }
        }
        if found.is_empty() {
            return;
        }
        let rss_bytes = found.iter().map(|(_, memory)| memory.rss_bytes).sum();
        let pss_bytes = found.iter().map(|(_, memory)| memory.pss_bytes).sum();
        self.walks += 1;
        self.rss_bytes = self.rss_bytes.max(rss_bytes);
        self.pss_bytes = self.pss_bytes.max(pss_bytes);
        if again() == members {
            // Of the walk itself, since a counter would be of another moment.
            let mark = |memory: &sys::proc::Memory| Mark {
                pss_bytes: memory.pss_bytes,
                anonymous_bytes: memory.anonymous_bytes,
            };
            self.marks = found.iter().map(|(pid, memory)| (*pid, mark(memory))).collect();
        }
        let took_ns = sys::clock::thread_cpu_ns() - before_ns;
        self.last_walk = Some(Walk { took_ns, rss_bytes, processes: members.len() });
    }

    /// What another walk would cost, in ns of CPU time: as the last one, by the processes and the
    /// memory that there are now.
    pub(crate) fn walk_would_take_ns(&self) -> u64 {
        match self.last_walk {
            _ if self.refused.is_some() => u64::MAX / 2,
            None => 0,
            Some(last) => {
                let processes = self.now_processes as f64 / last.processes.max(1) as f64;
                let more_bytes = self.now_rss_bytes.saturating_sub(last.rss_bytes);
                let more_ns = more_bytes as f64 * WALK_NS_PER_BYTE;
                (last.took_ns as f64 * processes.max(1.0) + more_ns) as u64
            }
        }
    }
}

fn counters(pid: Pid) -> Option<Counters> {
    let status = sys::proc::status(pid).ok()?;
    // A zombie has none of these.
    Some(Counters {
        rss_bytes: status.rss_bytes?,
        largest_rss_bytes: status.rss_peak_bytes?,
        anonymous_bytes: status.rss_anonymous_bytes?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(anonymous_bytes: u64) -> Counters {
        let rss_bytes = anonymous_bytes + 1000;
        Counters { rss_bytes, largest_rss_bytes: rss_bytes + 7, anonymous_bytes }
    }

    /// Process 2 is a child of process 1, which is the program.
    fn of(pid: Pid, anonymous_bytes: u64) -> (Member, Counters) {
        (Member { pid, parent: pid - 1 }, counters(anonymous_bytes))
    }

    #[test]
    fn between_walks_what_grows_is_added_and_what_shrinks_is_taken() {
        let mut looks = MemoryLooks { walks: 1, pss_bytes: 500, ..MemoryLooks::default() };
        looks.marks.insert(1, Mark { pss_bytes: 500, anonymous_bytes: 300 });
        looks.take(&[of(1, 900)]);
        assert_eq!((looks.pss_bytes, looks.rss_bytes, looks.largest_rss_bytes), (1100, 1900, 1907));
        // A child that has its parent's memory in common with it, and grows by 50.
        looks.take(&[of(1, 900), of(2, 900)]);
        assert_eq!(looks.pss_bytes, 1100);
        looks.take(&[of(1, 900), of(2, 950)]);
        assert_eq!((looks.pss_bytes, looks.rss_bytes), (1150, 3850));
        looks.take(&[of(1, 100), of(2, 950)]);
        looks.take(&[of(2, 950)]);
        assert_eq!((looks.pss_bytes, looks.rss_bytes), (1150, 3850));
    }

    #[test]
    fn what_a_new_process_has_beyond_its_parents_peak_is_its_own() {
        let mut looks = MemoryLooks { walks: 1, ..MemoryLooks::default() };
        looks.marks.insert(1, Mark { pss_bytes: 500, anonymous_bytes: 300 });
        // The parent's peak is 300 + 1007.
        looks.take(&[of(1, 300), of(2, 5307)]);
        assert_eq!(looks.pss_bytes, 500 + 4000);
    }

    #[test]
    fn without_a_walk_there_is_no_proportional_share() {
        let mut looks = MemoryLooks::default();
        looks.take(&[of(1, 100)]);
        looks.take(&[of(1, 900)]);
        assert_eq!(looks.pss_bytes, 0);
        assert_eq!(looks.rss_bytes, 1900);
    }
}
