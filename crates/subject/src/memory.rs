//! The most memory that the program and all that came of it had at once.
//!
//! What is shared must be counted once (PSS), and only a walk through the page tables tells that:
//! `smaps_rollup`, 3 ms for 1 GB. So it is walked rarely, and between two walks the kernel's
//! counters are read, which cost some microseconds: what a process's *anonymous* memory has grown
//! by since the walk is its own, so that so much is added. Memory that a process has in common with
//! another by `fork` is in the counters of both from the fork on, and grows neither; a process that
//! is younger than the last walk counts with what it has grown by since it was first seen. So the
//! figure is never more than there was, but for the some hundred KB by which the kernel's counters
//! may be off.

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
    /// How many walks there were.
    pub(crate) walks: u32,
    /// Why page tables cannot be walked here, where they cannot.
    pub(crate) refused: Option<String>,
    /// What a walk found, per living process.
    marks: HashMap<Pid, Mark>,
    /// CPU time and resident bytes of the last walk.
    last_walk: Option<(u64, u64)>,
    /// Resident bytes at the last look.
    now_rss_bytes: u64,
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
    pub(crate) fn count(&mut self, pids: &[Pid]) {
        let found: Vec<(Pid, Counters)> =
            pids.iter().filter_map(|pid| Some((*pid, counters(*pid)?))).collect();
        self.take(&found);
    }

    fn take(&mut self, found: &[(Pid, Counters)]) {
        self.now_rss_bytes = found.iter().map(|(_, now)| now.rss_bytes).sum();
        self.rss_bytes = self.rss_bytes.max(self.now_rss_bytes);
        let largest = found.iter().map(|(_, now)| now.largest_rss_bytes).max();
        self.largest_rss_bytes = self.largest_rss_bytes.max(largest.unwrap_or(0));
        let before = std::mem::take(&mut self.marks);
        let mut sum = 0_i64;
        for (pid, now) in found {
            let first_seen = Mark { pss_bytes: 0, anonymous_bytes: now.anonymous_bytes };
            let mark = before.get(pid).copied().unwrap_or(first_seen);
            let grown = now.anonymous_bytes as i64 - mark.anonymous_bytes as i64;
            sum = sum.saturating_add(mark.pss_bytes as i64 + grown);
            self.marks.insert(*pid, mark);
        }
        if self.walks > 0 {
            self.pss_bytes = self.pss_bytes.max(u64::try_from(sum).unwrap_or(0));
        }
    }

    /// Walks through the page tables of these processes.
    pub(crate) fn walk(&mut self, pids: &[Pid]) {
        if self.refused.is_some() {
            return;
        }
        let before_ns = sys::clock::thread_cpu_ns();
        let (mut pss_bytes, mut rss_bytes) = (0, 0);
        for pid in pids {
            let Some(counters) = counters(*pid) else { continue };
            match sys::proc::memory(*pid) {
                Ok(memory) => {
                    pss_bytes += memory.pss_bytes;
                    rss_bytes += memory.rss_bytes;
                    let anonymous_bytes = counters.anonymous_bytes;
                    self.marks.insert(*pid, Mark { pss_bytes: memory.pss_bytes, anonymous_bytes });
                }
                Err(error) if error.is_unsupported() => {
                    self.refused = Some(error.to_string());
                    return;
                }
                // It has ended since it was seen.
                Err(_) => {}
            }
        }
        if pss_bytes == 0 {
            return;
        }
        self.walks += 1;
        self.pss_bytes = self.pss_bytes.max(pss_bytes);
        self.rss_bytes = self.rss_bytes.max(rss_bytes);
        let took_ns = sys::clock::thread_cpu_ns() - before_ns;
        self.last_walk = Some((took_ns, rss_bytes));
    }

    /// What another walk would cost, in ns of CPU time: as the last one, by the memory there is.
    pub(crate) fn walk_would_take_ns(&self) -> u64 {
        match self.last_walk {
            _ if self.refused.is_some() => u64::MAX / 2,
            None => 0,
            Some((took_ns, then_bytes)) => {
                let growth = self.now_rss_bytes as f64 / then_bytes.max(1) as f64;
                (took_ns as f64 * growth.max(1.0)) as u64
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

    #[test]
    fn between_walks_what_grows_is_added_and_what_shrinks_is_taken() {
        let mut looks = MemoryLooks { walks: 1, pss_bytes: 500, ..MemoryLooks::default() };
        looks.marks.insert(1, Mark { pss_bytes: 500, anonymous_bytes: 300 });
        looks.take(&[(1, counters(900))]);
        assert_eq!((looks.pss_bytes, looks.rss_bytes, looks.largest_rss_bytes), (1100, 1900, 1907));
        // A child that has its parent's memory in common with it, and grows by 50.
        looks.take(&[(1, counters(900)), (2, counters(900))]);
        assert_eq!(looks.pss_bytes, 1100);
        looks.take(&[(1, counters(900)), (2, counters(950))]);
        assert_eq!((looks.pss_bytes, looks.rss_bytes), (1150, 3850));
        looks.take(&[(1, counters(100)), (2, counters(950))]);
        looks.take(&[(2, counters(950))]);
        assert_eq!((looks.pss_bytes, looks.rss_bytes), (1150, 3850));
    }

    #[test]
    fn without_a_walk_there_is_no_proportional_share() {
        let mut looks = MemoryLooks::default();
        looks.take(&[(1, counters(100))]);
        looks.take(&[(1, counters(900))]);
        assert_eq!(looks.pss_bytes, 0);
        assert_eq!(looks.rss_bytes, 1900);
    }
}
