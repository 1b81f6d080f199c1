//! What became of the time of the workers: on a CPU, waiting for one, blocked, or not there.
//!
//! A program that was told to use n workers has n *slots*. Between two looks the n threads that
//! did or wanted most, the *busiest*, fill the slots: main fills one while it works alone, and a
//! pool's threads fill them all while main only waits. So programs whose workers come and go, as
//! `make -j`, have slots as others have. Over an interval dt, n · dt is divided into
//!
//! * running and waiting for a CPU, by the scheduler's account of the busiest (`schedstat`);
//! * *blocked*: they lived and did neither;
//! * *absent*: there were fewer of them.
//!
//! The kernel adds a wait for a CPU when it is over. So the rest of an interval after which a
//! thread is found ready to run is kept open until a look finds it asleep; who is never found again
//! had waited.
//!
//! What a thread does after the last look at it is not seen, and would count as absent. The CPU
//! time of all children, which is exact, tells how much of it was running: so much is taken from
//! absent again. Where less than [`SEEN_SHARE_MIN`] of the CPU time was seen, there is no answer.

use std::collections::HashMap;
use sys::proc::{SchedStat, Thread};
use sys::task::Pid;

/// The least part of the CPU time that must have been seen for anything to be said about the rest.
pub(crate) const SEEN_SHARE_MIN: f64 = 0.9;

/// A thread: its process, and its own number.
type Name = (Pid, Pid);

/// How the time of the slots was used, so far. Sums are signed, since an account may come late.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    workers: Option<u32>,
    began_ns: u64,
    /// The last look, and the one that is being made.
    before_ns: u64,
    now_ns: u64,
    known: HashMap<Name, Known>,
    seen: Vec<(Name, Part)>,
    on_cpu_ns: u64,
    queue_wait_ns: i64,
    blocked_ns: i64,
    lived_ns: i64,
}

/// A thread that was there at the last look.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    account: SchedStat,
    /// Time in a slot of which it is not known yet whether it waited or was blocked.
    open_ns: i64,
}

/// What one thread did between two looks.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    account: SchedStat,
    lived_ns: i64,
    busy_ns: i64,
    /// From looks before.
    open_ns: i64,
    /// It was found ready to run: it may be waiting.
    is_ready: bool,
}

impl Part {
    /// What neither running nor a wait that is over explains, from looks before included.
    fn rest_ns(&self) -> i64 {
        self.open_ns + self.lived_ns - self.busy_ns
    }

    fn wanted_ns(&self) -> i64 {
        self.busy_ns + if self.is_ready { self.rest_ns() } else { 0 }
    }
}

/// The whole of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Division {
    /// The part of the CPU time that was seen.
    pub(crate) seen_share: f64,
    /// Over all threads; `None` where too little was seen.
    pub(crate) queue_wait_ns: Option<u64>,
    /// Over the slots; `None` also where the number of workers is not known.
    pub(crate) blocked_ns: Option<u64>,
    pub(crate) absent_ns: Option<u64>,
}

impl Slots {
    pub(crate) fn new(workers: Option<u32>, began_ns: u64) -> Self {
        Slots { workers, began_ns, before_ns: began_ns, now_ns: began_ns, ..Slots::default() }
    }

    /// A look begins.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.now_ns = now_ns.max(self.before_ns);
    }

    /// A thread of process `pid` is there. One that `has_ended` did so at a moment that nobody
    /// knows: it lived, since the last look, for as long as it did something.
    pub(crate) fn see(&mut self, pid: Pid, thread: &Thread, has_ended: bool) {
        let name = (pid, thread.tid);
        let account = thread.account;
        // A number that was given to a new thread: its account is lower than the old one's.
        let is_older = |known: &Known| known.account.on_cpu_ns <= account.on_cpu_ns;
        let known = self.known.get(&name).copied().filter(is_older);
        // The program's own process began before the program did, in the trial's name.
        let began_ns = thread.began_ns.max(self.began_ns).max(self.before_ns);
        let since_ns = if known.is_some() { self.before_ns } else { began_ns };
        let known = known.unwrap_or_default();
        let did = account.since(known.account);
        self.on_cpu_ns += did.on_cpu_ns;
        self.queue_wait_ns += did.queue_wait_ns as i64;
        let busy_ns = (did.on_cpu_ns + did.queue_wait_ns) as i64;
        let lived_ns = self.now_ns.saturating_sub(since_ns) as i64;
        let part = Part {
            account,
            lived_ns: if has_ended { busy_ns } else { lived_ns },
            busy_ns,
            open_ns: known.open_ns,
            is_ready: thread.state == 'R',
        };
        self.seen.push((name, part));
    }

    /// The look is over.
    pub(crate) fn end(&mut self) {
        let mut seen = std::mem::take(&mut self.seen);
        seen.sort_unstable_by_key(|(_, part)| std::cmp::Reverse((part.wanted_ns(), part.lived_ns)));
        let mut gone = std::mem::take(&mut self.known);
        for (index, (name, part)) in seen.iter().enumerate() {
            gone.remove(name);
            let is_worker = index < self.workers.unwrap_or(0) as usize;
            let open_ns = self.settle(part, is_worker);
            self.known.insert(*name, Known { account: part.account, open_ns });
        }
        self.queue_wait_ns += gone.values().map(|known| known.open_ns.max(0)).sum::<i64>();
        self.before_ns = self.now_ns;
    }

    /// Accounts for what a thread did, and returns what has to be left open.
    fn settle(&mut self, part: &Part, is_worker: bool) -> i64 {
        if !is_worker {
            // Ready to run, it would have been among the busiest.
            self.blocked_ns += part.open_ns;
            return 0;
        }
        self.lived_ns += part.lived_ns;
        if part.is_ready {
            return part.rest_ns();
        }
        self.blocked_ns += part.rest_ns();
        0
    }

    /// The division of the slots' time, when the program has ended and `cpu_ns` is what it used in
    /// all `wall_ns` by the kernel's exact account.
    pub(crate) fn division(&self, cpu_ns: u64, wall_ns: u64) -> Division {
        let seen_share = self.on_cpu_ns as f64 / cpu_ns.max(1) as f64;
        let enough = seen_share >= SEEN_SHARE_MIN;
        let workers = self.workers.filter(|_| enough);
        let unseen_ns = cpu_ns.saturating_sub(self.on_cpu_ns);
        let slots_ns = |workers: u32| u64::from(workers) * wall_ns;
        Division {
            seen_share,
            queue_wait_ns: enough.then_some(self.queue_wait_ns.max(0) as u64),
            blocked_ns: workers.map(|_| self.blocked_ns.max(0) as u64),
            absent_ns: workers.map(|workers| {
                slots_ns(workers).saturating_sub(self.lived_ns.max(0) as u64 + unseen_ns)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn account(on_cpu_ms: u64, queue_wait_ms: u64) -> SchedStat {
        SchedStat { on_cpu_ns: on_cpu_ms * MS, queue_wait_ns: queue_wait_ms * MS, slices: 1 }
    }

    fn look(slots: &mut Slots, at_ms: u64, threads: &[(Pid, SchedStat, char)]) {
        slots.begin(at_ms * MS);
        for (tid, account, state) in threads {
            // All began with the program.
            let thread = Thread { tid: *tid, state: *state, began_ns: 0, account: *account };
            slots.see(1, &thread, *state == 'Z');
        }
        slots.end();
    }

    fn slots(workers: u32) -> Slots {
        Slots::new(Some(workers), 0)
    }

    #[test]
    fn main_fills_a_slot_while_it_works_alone_and_none_while_it_waits() {
        let mut slots = slots(2);
        // Main alone for 100 ms; then two workers, one of which waits for the other's CPU.
        look(&mut slots, 100, &[(1, account(90, 0), 'S')]);
        let workers = [(2, account(60, 40), 'S'), (3, account(40, 50), 'S')];
        look(&mut slots, 200, &[(1, account(90, 0), 'S'), workers[0], workers[1]]);
        let division = slots.division(190 * MS, 200 * MS);
        assert_eq!(division.seen_share, 1.0);
        assert_eq!(division.queue_wait_ns, Some(90 * MS));
        // Main was blocked for 10 ms, a worker for 10 ms; main's wait for its workers is no slot's.
        assert_eq!(division.blocked_ns, Some(20 * MS));
        assert_eq!(division.absent_ns, Some(100 * MS));
    }

    #[test]
    fn the_slots_are_divided_without_a_rest() {
        let mut slots = slots(2);
        look(&mut slots, 100, &[(1, account(80, 10), 'S'), (2, account(50, 0), 'S')]);
        // The second ran on for 20 ms after the look, and was gone at the next.
        look(&mut slots, 200, &[(1, account(150, 10), 'S')]);
        let cpu_ns = (150 + 50 + 20) * MS;
        let division = slots.division(cpu_ns, 200 * MS);
        let parts = [division.queue_wait_ns, division.blocked_ns, division.absent_ns];
        let sum: u64 = parts.into_iter().flatten().sum();
        assert_eq!(sum + cpu_ns, 2 * 200 * MS);
        assert_eq!(division.absent_ns, Some(80 * MS));
    }

    #[test]
    fn where_too_little_was_seen_nothing_is_said() {
        let mut slots = slots(1);
        look(&mut slots, 100, &[(1, account(89, 0), 'S')]);
        let division = slots.division(100 * MS, 200 * MS);
        assert!((division.seen_share - 0.89).abs() < 1e-9);
        assert_eq!(division.queue_wait_ns, None);
        assert_eq!((division.blocked_ns, division.absent_ns), (None, None));
        assert!(slots.division(98 * MS, 200 * MS).queue_wait_ns.is_some());
    }

    #[test]
    fn a_zombie_lived_as_long_as_it_did_something() {
        let mut slots = slots(1);
        look(&mut slots, 100, &[(1, account(30, 20), 'Z')]);
        look(&mut slots, 200, &[(1, account(30, 20), 'Z')]);
        let division = slots.division(30 * MS, 200 * MS);
        assert_eq!(division.blocked_ns, Some(0));
        assert_eq!(division.absent_ns, Some(150 * MS));
    }

    #[test]
    fn a_number_that_was_given_again_is_a_new_thread() {
        let mut slots = slots(1);
        look(&mut slots, 100, &[(1, account(80, 0), 'S')]);
        look(&mut slots, 200, &[(1, account(10, 0), 'S')]);
        assert_eq!(slots.on_cpu_ns, 90 * MS);
    }

    #[test]
    fn a_wait_that_is_not_over_is_no_block() {
        // It waits from 20 ms on; the kernel adds the wait when it is over, at 120 ms.
        let mut waiting = slots(1);
        look(&mut waiting, 100, &[(1, account(20, 0), 'R')]);
        look(&mut waiting, 200, &[(1, account(50, 100), 'S')]);
        let division = waiting.division(50 * MS, 200 * MS);
        assert_eq!(division.blocked_ns, Some(50 * MS));
        assert_eq!(division.queue_wait_ns, Some(100 * MS));
        assert_eq!(division.absent_ns, Some(0));
        // And it is a wait, too, if the thread is never seen again.
        let mut gone = slots(1);
        look(&mut gone, 100, &[(1, account(20, 0), 'R')]);
        look(&mut gone, 200, &[]);
        let division = gone.division(20 * MS, 200 * MS);
        assert_eq!((division.blocked_ns, division.queue_wait_ns), (Some(0), Some(80 * MS)));
        assert_eq!(division.absent_ns, Some(100 * MS));
    }
}
