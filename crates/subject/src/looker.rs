//! Looking at the program and all that came of it while they run: for what the kernel does not add
//! up itself when a process ends.
//!
//! A thread of the trial looks: at threads and at the counters of memory, which is cheap, and now
//! and then at page tables (`smaps_rollup`), which takes 3 ms for a process of 1 GB. It spends on
//! either no more than a fixed part of the time that has passed, so that the interval between two
//! looks follows from what a look costs.

use crate::memory::{Member, MemoryLooks};
use crate::waits::Asker;
use crate::worker_time::Slots;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use sys::cgroup::Throttling;
use sys::proc::{Census, Stat};
use sys::task::Pid;

/// The part of the time that looks at threads and counters may take, of one CPU.
const LOOKS_SHARE: f64 = 0.003;

/// The same where the time of the program is to be divided, which is known the better
/// the more looks there are: a program of 200 ms must be seen some ten times.
const DIVIDING_SHARE: f64 = 0.006;

/// The part of the time that glances may take, at the counters of memory or the number of threads, of one CPU.
pub(crate) const GLANCES_SHARE: f64 = 0.002;

/// The part of the time that walks through page tables may take, of one CPU.
const WALKS_SHARE: f64 = 0.002;

/// What a look at one more thread costs, and what one look may cost whatever the share is, in ns: a look at
/// thousands of threads waits until the program has run for long enough, and asks no more of them than that allows.
const THREAD_NS: u64 = 20_000;
const ONE_LOOK_NS: u64 = 2_000_000;

/// What the thread that looks takes of a CPU each time to wake up and to sleep again, in ns: a glance takes less.
const WAKE_NS: u64 = 10_000;

/// Most programs begin all their threads within this number of looks.
const HELD_UP_SELDOM: u32 = 8;

/// When the first look is due, whatever it costs: most programs have begun to work by then.
pub(crate) const FIRST_LOOK_NS: u64 = 1_000_000;

/// No look comes sooner after another: below this a look finds little that is new.
pub(crate) const SHORTEST_NS: u64 = 1_000_000;

/// What all looks together have seen.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// How many looks there were while the program ran.
    pub(crate) looks: u32,
    /// When the last of them began that found the program's own process alive; its end once that is known.
    pub(crate) until_ns: u64,
    /// CPU time that they took, in ns.
    pub(crate) cpu_ns: u64,
    /// The most processes at once.
    pub(crate) processes: usize,
    pub(crate) counted: Counted,
    pub(crate) slots: Slots,
    pub(crate) memory: MemoryLooks,
    pub(crate) waits: model::Waits,
    /// Quotas of groups that the program entered.
    pub(crate) throttling: Throttling,
    /// For how long, in ns, the threads that ran were allowed that number of CPUs together.
    pub(crate) allowed: BTreeMap<u32, u64>,
}

impl Looked {
    /// Returns what is known as the program begins.
    fn since(began: &mut Began) -> Looked {
        let slots = Slots::new(began.workers, began.at_ns, sys::proc::tick_ns());
        let slots = slots.queued_before(began.queue_wait_ns);
        let throttling = std::mem::take(&mut began.throttling);
        Looked { slots, throttling, until_ns: began.at_ns, ..Looked::default() }
    }

    /// Names what was waited for, when the program has ended: a large library takes longer than a look may.
    fn ended(mut self, mut asker: Asker) -> Looked {
        asker.end();
        self.waits = self.slots.waits(&asker);
        self.waits.cpus = self.cpus();
        self
    }

    /// Returns the number of CPUs that the running threads together were allowed for most of the time.
    pub(crate) fn cpus(&self) -> Option<u32> {
        self.allowed.iter().max_by_key(|(_, ns)| **ns).map(|(cpus, _)| *cpus)
    }
}

/// How many threads there were, as often as they were counted: more often than looks where these cost much.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// The most at once.
    pub(crate) most: usize,
    /// The time of all, in ns, and when they were counted last.
    all_ns: u64,
    last: Option<(u64, usize)>,
    /// Some look did not read all of them.
    is_crowd: bool,
}

impl Counted {
    /// Notes a count, of which some threads are not read.
    pub(crate) fn note(&mut self, now_ns: u64, threads: usize, unread: usize) {
        let (then_ns, then) = self.last.replace((now_ns, threads)).unwrap_or((now_ns, threads));
        self.all_ns += now_ns.saturating_sub(then_ns) * (then + threads) as u64 / 2;
        self.most = self.most.max(threads);
        self.is_crowd |= unread > 0;
    }

    /// Returns the time of all threads of a crowd, in ns; 0 where all were read.
    pub(crate) fn crowd_ns(&self) -> u64 {
        if self.is_crowd { self.all_ns } else { 0 }
    }
}

/// The looker, before and while it looks.
#[derive(Debug)]
pub(crate) struct Looker {
    orders: Sender<Order>,
    seen: Receiver<Looked>,
}

#[derive(Debug)]
enum Order {
    /// The program began.
    Look(Began),
    /// The program, which is a zombie now, ended.
    End(Ended),
}

/// The beginning of the program.
#[derive(Debug)]
pub(crate) struct Began {
    pub(crate) at_ns: u64,
    pub(crate) pid: Pid,
    /// Children of this process that are no part of it.
    pub(crate) spared: Vec<Pid>,
    /// How many workers it was asked to use.
    pub(crate) workers: Option<u32>,
    /// Looks are to divide its time: it is asked how it scales, or what limits it.
    pub(crate) divides: bool,
    /// For how long its process had waited for a CPU by then.
    pub(crate) queue_wait_ns: u64,
    /// Programs that work for it, by process ID or name.
    pub(crate) with: Vec<String>,
    /// Quotas of groups that the program may enter.
    pub(crate) throttling: Throttling,
    /// The user's interval; none follows the cost, zero never looks but at the end.
    pub(crate) every: Option<Duration>,
}

/// The end of the program itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) pid: Pid,
    /// No look that found it alive may be later.
    pub(crate) at_ns: u64,
}

/// Keeps the thread in the process when it has done its work: what it read counts as the process's
/// own as long as it lives.
#[derive(Debug)]
#[must_use]
pub(crate) struct Parked {
    /// Its end is the sign to go.
    _orders: Sender<Order>,
}

impl Looker {
    /// Starts a thread that waits for a request to look.
    pub(crate) fn start() -> Result<Self, kit::Stop> {
        let (orders, heard) = channel();
        let (tell, seen) = channel();
        std::thread::Builder::new().name("looker".into()).spawn(move || {
            // Who does not listen any more needs no answer.
            let _ = tell.send(watch(&heard));
            while heard.recv().is_ok() {}
        })?;
        Ok(Looker { orders, seen })
    }

    /// The program has begun.
    pub(crate) fn look(&self, began: Began) {
        // A thread that died is heard of at the end.
        let _ = self.orders.send(Order::Look(began));
    }

    /// Looks a last time, at a program that has ended and was not waited for yet.
    ///
    /// # Errors
    /// The thread has died.
    pub(crate) fn finish(self, ended: Ended) -> Result<(Looked, Parked), kit::Stop> {
        let _ = self.orders.send(Order::End(ended));
        let looked = self.seen.recv().map_err(|_| kit::Stop::failed("the looker panicked"))?;
        Ok((looked, Parked { _orders: self.orders }))
    }
}

fn watch(heard: &Receiver<Order>) -> Looked {
    let Ok(Order::Look(mut began)) = heard.recv() else { return Looked::default() };
    let mut looked = Looked::since(&mut began);
    let (began_ns, every, spared) = (began.at_ns, began.every, &began.spared[..]);
    let cpu_before_ns = sys::clock::thread_cpu_ns();
    let mut asker = Asker::beside(&began.with);
    let mut census = Census::new(None, spared.to_vec());
    let mut looks = Budget::new(if began.divides { DIVIDING_SHARE } else { LOOKS_SHARE });
    let (mut walks, mut glances) = (Budget::new(WALKS_SHARE), Budget::new(GLANCES_SHARE));
    let mut due_ns = next_due_ns(every, began_ns, FIRST_LOOK_NS);
    loop {
        let now_ns = sys::clock::now_ns();
        let glance_ns = match every {
            // Who sets the interval sets it for all.
            Some(_) => u64::MAX,
            None => (began_ns + glances.next_ns()).max(now_ns + SHORTEST_NS),
        };
        let left_ns = due_ns.min(glance_ns).saturating_sub(now_ns);
        match heard.recv_timeout(Duration::from_nanos(left_ns)) {
            Err(RecvTimeoutError::Timeout) if glance_ns < due_ns => {
                glances.spend(|| looked.memory.glance());
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Order::Look(_)) => continue,
            Ok(Order::End(mut ended)) => {
                ended.at_ns = ended.at_ns.max(looked.until_ns);
                looked.until_ns = ended.at_ns;
                census.begin();
                look(&mut looked, &mut asker, &mut census, Some(ended), ONE_LOOK_NS);
                break;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
        let dear_ns = looks.spend(|| census.begin()) as u64 * THREAD_NS;
        let listed_ns = looks.last_ns;
        let passed_ns = sys::clock::now_ns().saturating_sub(began_ns);
        if every.is_none() && dear_ns > ONE_LOOK_NS && !looks.allows(dear_ns, passed_ns) {
            // Until then most of them may have ended.
            let again_ns = sys::clock::now_ns() + looks.pause_ns().max(SHORTEST_NS);
            due_ns = again_ns.min(began_ns + looks.would_be_within_ns(dear_ns));
            continue;
        }
        let most_ns = every.map_or(looks.left_ns(passed_ns).max(ONE_LOOK_NS), |_| u64::MAX);
        let look_ns = sys::clock::now_ns();
        let members = looks.spend(|| {
            let members = look(&mut looked, &mut asker, &mut census, None, most_ns);
            looked.memory.count(&members);
            members
        });
        if members.iter().any(|member| member.pid == began.pid) {
            looked.until_ns = look_ns;
        }
        looks.spent_once(asker.once_ns());
        if census.has_listed() {
            looks.held_up(listed_ns);
        }
        let walk_ns = looked.memory.walk_would_take_ns();
        let passed_ns = sys::clock::now_ns().saturating_sub(began_ns);
        if looked.looks == 1 || every.is_some() || walks.allows(walk_ns, passed_ns) {
            walks.spend(|| looked.memory.walk(&members, || living(spared)));
        }
        // By what the last one took: the first is dear, and must not keep the next ones away.
        due_ns = next_due_ns(every, sys::clock::now_ns(), looks.pause_ns());
    }
    looked.cpu_ns = sys::clock::thread_cpu_ns() - cpu_before_ns;
    looked.ended(asker)
}

/// Returns when the next look is due: after the user's interval, or else after a pause.
fn next_due_ns(every: Option<Duration>, from_ns: u64, pause_ns: u64) -> u64 {
    match every {
        Some(Duration::ZERO) => u64::MAX,
        Some(every) => from_ns + every.as_nanos() as u64,
        None => from_ns + pause_ns.max(SHORTEST_NS),
    }
}

/// Looks once at processes and threads, and returns the processes that live.
pub(crate) fn look(
    looked: &mut Looked,
    asker: &mut Asker,
    census: &mut Census,
    ended: Option<Ended>,
    most_ns: u64,
) -> Vec<Member> {
    let mut living = Vec::new();
    let mut threads = 0;
    let (mut unread, mut allowed) = (0, BTreeSet::new());
    let tick_ns = sys::proc::tick_ns();
    let now_ns = ended.map_or_else(sys::clock::now_ns, |ended| ended.at_ns);
    looked.slots.begin(now_ns);
    let family = census.pids();
    // One process at each look, since most programs stay in one group.
    if let Some(pid) = family.get(looked.looks as usize % family.len().max(1)) {
        looked.throttling.look(*pid);
    }
    asker.begin(family, most_ns);
    for found in census.take(|pid, thread| asker.ask(pid, thread)) {
        let pid = found.pid;
        let is_zombie = matches!(found.stat.state, 'Z' | 'X');
        if !is_zombie {
            living.push(Member { pid, parent: found.stat.parent });
        }
        let reaped_ns = found.stat.children_ticks.saturating_mul(tick_ns);
        looked.slots.see_process(pid, found.cpu_ns, reaped_ns);
        if let Some(threads) = &mut looked.slots.threads {
            threads.parents.insert(found.stat.parent);
        }
        // A zombie's main thread is no thread any more, but its account is there to be read.
        threads += found.threads.len() - usize::from(is_zombie && !found.threads.is_empty());
        unread += found.unread;
        // When the program itself ended is known.
        let at_some_time = is_zombie && ended.is_none_or(|ended| ended.pid != pid);
        for (thread, wait) in found.threads {
            if looked.slots.see(pid, &thread, at_some_time && thread.tid == pid, wait) {
                allowed.extend(sys::affinity::allowed_of(thread.tid).unwrap_or_default());
            }
        }
    }
    threads += unread;
    let interval_ns = looked.slots.interval_ns();
    if let Some(threads) = &mut looked.slots.threads {
        threads.is_over = ended.is_some();
    }
    if !allowed.is_empty() {
        *looked.allowed.entry(allowed.len() as u32).or_default() += interval_ns;
    }
    looked.slots.end();
    looked.looks += u32::from(ended.is_none());
    looked.processes = looked.processes.max(living.len() + usize::from(ended.is_some()));
    looked.counted.note(now_ns, threads + usize::from(ended.is_some()), unread);
    living
}

/// The processes that live now.
fn living(spared: &[Pid]) -> Vec<Member> {
    members(&sys::process::family(sys::process::pid(), spared))
}

fn members(family: &[(Pid, Stat)]) -> Vec<Member> {
    let living = family.iter().filter(|(_, stat)| !matches!(stat.state, 'Z' | 'X'));
    living.map(|(pid, stat)| Member { pid: *pid, parent: stat.parent }).collect()
}

/// What may be spent on a kind of look, and what was.
#[derive(Debug)]
pub(crate) struct Budget {
    share: f64,
    spent_ns: u64,
    last_ns: u64,
    /// How many of them held up the program.
    held_up: u32,
}

impl Budget {
    pub(crate) fn new(share: f64) -> Self {
        Budget { share, spent_ns: 0, last_ns: 0, held_up: 0 }
    }

    pub(crate) fn spend<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let before_ns = sys::clock::thread_cpu_ns();
        let made = work();
        self.last_ns = sys::clock::thread_cpu_ns() - before_ns + WAKE_NS;
        self.spent_ns += self.last_ns;
        made
    }

    /// Says that the last one took this much for what is the same at the next.
    pub(crate) fn spent_once(&mut self, ns: u64) {
        self.last_ns = self.last_ns.saturating_sub(ns);
    }

    /// Says that the last one followed a listing of this duration, and that both held up the program: threads that begin
    /// and end wait for the locks of a listing. If this goes on, it costs them more than the looks take
    /// (`cargo bench -p lab --bench looks`, short threads).
    fn held_up(&mut self, listed_ns: u64) {
        self.held_up += 1;
        self.last_ns = match self.held_up > HELD_UP_SELDOM {
            true => 3 * (self.last_ns + listed_ns),
            false => 2 * self.last_ns,
        };
    }

    /// Whether so much more would still be within the share of the time that has passed.
    fn allows(&self, more_ns: u64, passed_ns: u64) -> bool {
        (self.spent_ns + more_ns) as f64 <= self.share * passed_ns as f64
    }

    /// How much may still be spent when this time has passed.
    fn left_ns(&self, passed_ns: u64) -> u64 {
        ((self.share * passed_ns as f64) as u64).saturating_sub(self.spent_ns)
    }

    /// How long after the last one another like it is within the share.
    pub(crate) fn pause_ns(&self) -> u64 {
        (self.last_ns as f64 / self.share) as u64
    }

    /// How long after the beginning another like the last one is within the share.
    fn next_ns(&self) -> u64 {
        self.would_be_within_ns(self.last_ns)
    }

    /// How long after the beginning one that takes so much is within the share.
    fn would_be_within_ns(&self, more_ns: u64) -> u64 {
        ((self.spent_ns + more_ns) as f64 / self.share) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_waits_until_its_cost_is_within_the_share() {
        let budget = Budget { share: 0.005, spent_ns: 300_000, last_ns: 100_000, held_up: 0 };
        assert_eq!(budget.next_ns(), 80_000_000);
        assert_eq!(budget.pause_ns(), 20_000_000);
        assert!(budget.allows(100_000, 80_000_000));
        assert!(!budget.allows(100_001, 80_000_000));
        assert!(!budget.allows(0, 59_000_000));
    }
}
