//! What became of the time of the workers: on a CPU, waiting for one, blocked, or not there.
//!
//! A program that was asked to use n workers has n *slots*. Between two looks the n threads that
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
//! What a thread does after the last look at it is not seen. How much of it was running is known
//! exactly: a process's clock goes on counting threads that have ended. Such threads fill slots like
//! others, and are taken to have waited, by what they ran, as much as before. What a process ran after the
//! last look at it stands in the sum that its parent has of children that it waited for, in ticks. What that
//! lacks, the sum at the end of all tells: it is taken from absent, and what absent does not hold from
//! blocked, since a thread that ran had the slot of one that slept.
//!
//! Where threads were seen to have less than [`THREADS_SHARE_MIN`] of the CPU time, or threads and
//! processes less than [`SEEN_SHARE_MIN`], there is no answer.

#[cfg(test)]
mod tests;

use crate::doing::{Asked, Doing, Name};
use crate::idle::Idle;
use crate::threads::Threads;
use std::collections::HashMap;
use sys::proc::{SchedStat, Thread};
use sys::task::Pid;

/// The least part of the CPU time that must have been seen for anything to be said about the rest.
pub(crate) const SEEN_SHARE_MIN: f64 = 0.9;

/// The least part of it that must have been seen of threads that were there at a look.
pub(crate) const THREADS_SHARE_MIN: f64 = 0.6;

/// The name of threads that have ended.
const NOBODY: Name = (0, 0);

/// How the time of the slots was used, so far. Sums are signed, since an account may come late.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    workers: Option<u32>,
    began_ns: u64,
    /// For how long the program's process had waited for a CPU before it was the program.
    queued_before_ns: u64,
    /// How late a thread may have begun after it is said to have.
    tick_ns: u64,
    /// The program's own process.
    root: Option<Pid>,
    /// The last look, and the one that is being made.
    before_ns: u64,
    now_ns: u64,
    known: HashMap<Name, Known>,
    seen: Vec<(Name, Part)>,
    processes: HashMap<Pid, Process>,
    on_cpu_ns: u64,
    /// Of threads that had ended when it was looked, and of processes that had, beyond what was seen of them.
    ended_cpu_ns: u64,
    reaped_cpu_ns: u64,
    /// The clocks of processes that are gone, and what was reaped before the first look.
    gone_cpu_ns: u64,
    queue_wait_ns: i64,
    blocked_ns: i64,
    lived_ns: i64,
    /// The next look only notes where each account begins.
    attaches: bool,
    /// What the idle time of workers went by.
    pub(crate) idle: Idle,
    /// What each thread did, of a program whose number of workers is not known.
    pub(crate) threads: Option<Threads>,
}

/// A thread that was there at the last look.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    account: SchedStat,
    /// What it waited and ran since it was first seen, in ns.
    waited_ns: u64,
    ran_ns: u64,
    /// Time in a slot of which it is not known yet whether it waited or was blocked.
    open_ns: i64,
    /// What it waited for; nothing if it was ready.
    wait: Option<Asked>,
}

/// A process: CPU time, since it began.
#[derive(Clone, Copy, Debug, Default)]
struct Process {
    /// By its own clock, which counts threads that have ended.
    clock_ns: u64,
    /// As its threads were seen to have run.
    threads_ns: u64,
    /// What threads ran after the last look at them.
    ended_ns: u64,
    /// What children used that it has waited for, with theirs.
    reaped_ns: u64,
    is_there: bool,
}

/// What one thread did between two looks.
#[derive(Clone, Debug, Default)]
struct Part {
    /// What it calls itself.
    label: String,
    account: SchedStat,
    wait: Option<Asked>,
    lived_ns: i64,
    busy_ns: i64,
    /// In this interval.
    ready_ns: i64,
    waited_ns: u64,
    ran_ns: u64,
    /// From looks before.
    open_ns: i64,
    /// It was found ready to run: it may be waiting.
    is_ready: bool,
    has_ended: bool,
}

impl Part {
    /// What neither running nor a wait that is over explains, from looks before included.
    fn rest_ns(&self) -> i64 {
        self.open_ns + self.lived_ns - self.busy_ns
    }

    /// Returns what the thread did, of which it was idle for some time.
    fn doing(&self, name: Name, idle_ns: i64) -> Doing {
        Doing {
            name,
            label: self.label.clone(),
            is_ready: self.is_ready,
            has_ended: self.has_ended,
            busy_ns: self.busy_ns,
            ready_ns: self.ready_ns,
            idle_ns,
            ran_ns: self.ran_ns,
            wait: self.wait,
        }
    }

    fn wanted_ns(&self) -> i64 {
        self.busy_ns + if self.is_ready { self.rest_ns() } else { 0 }
    }

    /// Returns what ranks a thread among those of an interval of `ns`: what it wanted to run, unless that is
    /// next to nothing; then that it waits for more than another thread's end; then what it ran before.
    fn rank(&self, ns: i64) -> (i64, bool, u64, i64) {
        let wanted_ns = Some(self.wanted_ns()).filter(|wanted| wanted * NEXT_TO_NOTHING >= ns);
        let is_primary = self.wait.is_some_and(|wait| !wait.is_secondary);
        (wanted_ns.unwrap_or(0), is_primary, self.ran_ns, self.lived_ns)
    }
}

/// One part in this number of an interval is next to nothing: what a timer of a runtime runs.
const NEXT_TO_NOTHING: i64 = 50;

/// The most threads that are taken to have run and ended between two looks, beyond those that were known.
const UNSEEN_MAX: u64 = 1_024;

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
    pub(crate) fn new(workers: Option<u32>, began_ns: u64, tick_ns: u64) -> Self {
        let (before_ns, now_ns) = (began_ns, began_ns);
        // Who works and who hardly runs matters where the number of workers is not known.
        let threads = workers.is_none().then(|| Threads::new(began_ns));
        Slots { workers, began_ns, tick_ns, before_ns, now_ns, threads, ..Slots::default() }
    }

    /// Returns the slots of a program that has run for some time: the first look notes what it did before.
    pub(crate) fn attached(began_ns: u64, tick_ns: u64) -> Self {
        Slots { attaches: true, ..Slots::new(None, began_ns, tick_ns) }
    }

    /// Leaves out what the program's process had waited for a CPU before it was the program.
    pub(crate) fn queued_before(self, queued_before_ns: u64) -> Self {
        Slots { queued_before_ns, ..self }
    }

    /// A look begins.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.now_ns = now_ns.max(self.before_ns);
    }

    /// Notes a process whose own clock says `cpu_ns`, and that has waited for children that used `reaped_ns`. Its
    /// threads follow: read after the clock, they have run more than it says, and never less. So do its children.
    pub(crate) fn see_process(&mut self, pid: Pid, cpu_ns: Option<u64>, reaped_ns: u64) {
        self.root.get_or_insert(pid);
        let process = self.processes.entry(pid).or_default();
        process.clock_ns = cpu_ns.unwrap_or(process.clock_ns);
        (process.reaped_ns, process.is_there) = (reaped_ns, true);
        if self.attaches {
            process.ended_ns = process.clock_ns;
            self.gone_cpu_ns += reaped_ns;
        }
    }

    /// Returns the CPU time of threads that had ended when it was looked, in ns.
    pub(crate) fn unseen_cpu_ns(&self) -> u64 {
        self.ended_cpu_ns + self.reaped_cpu_ns
    }

    /// Returns for how long the look that is being made looks back, in ns.
    pub(crate) fn interval_ns(&self) -> u64 {
        self.now_ns - self.before_ns
    }

    /// A thread of process `pid` is there; returns whether it ran since the last look. One that `has_ended` did so at a moment that nobody
    /// knows: it lived, since the last look, for as long as it did something.
    pub(crate) fn see(
        &mut self,
        pid: Pid,
        thread: &Thread,
        has_ended: bool,
        wait: Option<Asked>,
    ) -> bool {
        let name = (pid, thread.tid);
        let account = thread.account;
        if self.attaches {
            self.known.insert(name, Known { account, ..Known::default() });
            return false;
        }
        // A number that was given to a new thread: its account is lower than the old one's.
        let is_older = |known: &Known| known.account.on_cpu_ns <= account.on_cpu_ns;
        let known = self.known.get(&name).copied().filter(is_older);
        let is_new = known.is_none();
        let mut known = known.unwrap_or_default();
        if is_new && self.root == Some(thread.tid) {
            known.account.queue_wait_ns = self.queued_before_ns.min(account.queue_wait_ns);
        }
        let did = account.since(known.account);
        self.on_cpu_ns += did.on_cpu_ns;
        self.queue_wait_ns += did.queue_wait_ns as i64;
        self.processes.entry(pid).or_default().threads_ns += did.on_cpu_ns;
        let busy_ns = (did.on_cpu_ns + did.queue_wait_ns) as i64;
        let since_ns = match is_new {
            false => self.before_ns,
            // The program's own process began before the program did, in the trial's name.
            true if self.root == Some(thread.tid) => self.began_ns,
            // It may have begun up to a tick later than is said, and was not blocked before that.
            true => thread.began_ns.saturating_add(self.tick_ns).max(self.before_ns),
        };
        let mut lived_ns = self.now_ns.saturating_sub(since_ns) as i64;
        if is_new {
            lived_ns = lived_ns.max(busy_ns);
        }
        let is_ready = thread.state == 'R';
        let part = Part {
            label: thread.name.clone(),
            account,
            // Who has ended since waited last for what it waited for before.
            wait: wait.or(known.wait),
            lived_ns: if has_ended { busy_ns } else { lived_ns },
            busy_ns,
            ready_ns: did.queue_wait_ns as i64,
            waited_ns: known.waited_ns + did.queue_wait_ns,
            ran_ns: known.ran_ns + did.on_cpu_ns,
            open_ns: known.open_ns,
            is_ready,
            has_ended,
        };
        self.seen.push((name, part));
        did.on_cpu_ns > 0
    }

    /// The look is over.
    pub(crate) fn end(&mut self) {
        if std::mem::take(&mut self.attaches) {
            self.before_ns = self.now_ns;
            return;
        }
        let mut seen = std::mem::take(&mut self.seen);
        let mut gone = std::mem::take(&mut self.known);
        for (name, _) in &seen {
            gone.remove(name);
        }
        seen.extend(self.ended(&gone).into_iter().map(|part| (NOBODY, part)));
        let interval_ns = (self.now_ns - self.before_ns) as i64;
        seen.sort_unstable_by_key(|(_, part)| std::cmp::Reverse(part.rank(interval_ns)));
        let blocked_before_ns = self.blocked_ns;
        // Of a program whose number of workers is not known, each thread is one.
        let workers = self.workers.map_or(usize::MAX, |workers| workers as usize);
        let lived_before_ns = self.lived_ns;
        let mut doing = Vec::with_capacity(seen.len());
        // What others did is done in the slots, too: one hands over to another between two looks.
        let others_ns: i64 = seen.iter().skip(workers).map(|(_, part)| part.busy_ns).sum();
        for (index, (name, part)) in seen.iter().enumerate() {
            let is_worker = index < workers;
            let blocked_ns = self.blocked_ns;
            let open_ns = self.settle(part, is_worker);
            let Part { account, waited_ns, ran_ns, .. } = *part;
            let wait = part.wait.filter(|_| !part.is_ready);
            doing.push(part.doing(*name, self.blocked_ns - blocked_ns));
            if *name != NOBODY {
                self.known.insert(*name, Known { account, waited_ns, ran_ns, open_ns, wait });
            }
        }
        let slots_ns = self.workers.map_or(0, |workers| i64::from(workers) * interval_ns);
        let absent_ns = (slots_ns - (self.lived_ns - lived_before_ns)).max(0);
        self.idle.note(interval_ns, &doing, absent_ns);
        if let Some(threads) = &mut self.threads {
            threads.note(self.before_ns, self.now_ns, &doing);
        }
        // A thread that slept meanwhile had no slot.
        let slept_ns = others_ns.min(self.blocked_ns - blocked_before_ns).max(0);
        self.blocked_ns -= slept_ns;
        self.lived_ns += others_ns - slept_ns;
        self.queue_wait_ns += gone.values().map(|known| known.open_ns.max(0)).sum::<i64>();
        gone.values().for_each(|known| self.idle.ended(known.ran_ns));
        self.before_ns = self.now_ns;
    }

    /// What threads did since the last look that are not there any more. They ran what the clocks
    /// of their processes say beyond what was seen, and waited by that as those did before that are
    /// known to be `gone`. How long processes waited that nobody saw again is not known.
    fn ended(&mut self, gone: &HashMap<Name, Known>) -> Vec<Part> {
        let mut ran_ns = 0;
        for process in self.processes.values_mut() {
            let ended_ns = process.clock_ns.saturating_sub(process.threads_ns);
            ran_ns += ended_ns.saturating_sub(process.ended_ns);
            process.ended_ns = process.ended_ns.max(ended_ns);
        }
        let interval_ns = (self.now_ns - self.before_ns).max(1);
        let of_gone = |of: fn(&Known) -> u64| gone.values().map(of).sum::<u64>() as f64;
        let ratio = of_gone(|known| known.waited_ns) / of_gone(|known| known.ran_ns).max(1.0);
        let reaped_ns = self.reaped(interval_ns);
        self.ended_cpu_ns += ran_ns;
        self.reaped_cpu_ns += reaped_ns;
        let mut parts = ended_parts(ran_ns, gone.len(), ratio, interval_ns);
        parts.extend(ended_parts(reaped_ns, 1, 0.0, interval_ns));
        self.queue_wait_ns += parts.iter().map(|part| part.ready_ns).sum::<i64>();
        parts
    }

    /// Returns what processes ran in this interval that nobody saw, by their parents' sums. These grow by ticks, so
    /// that what is owed is divided among intervals.
    fn reaped(&mut self, interval_ns: u64) -> u64 {
        let gone = self.processes.extract_if(|_, one| !std::mem::take(&mut one.is_there));
        let gone_ns: u64 = gone.map(|(_, one)| one.clock_ns.max(one.threads_ns)).sum();
        self.gone_cpu_ns += gone_ns;
        let all_ns: u64 = self.processes.values().map(|one| one.reaped_ns).sum();
        let owed_ns = all_ns.saturating_sub(self.gone_cpu_ns + self.reaped_cpu_ns);
        owed_ns.min(interval_ns.max(owed_ns.saturating_sub(2 * self.tick_ns)))
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

    /// Returns what the workers waited for, and who ran meanwhile.
    pub(crate) fn waits(&mut self, asker: &crate::waits::Asker) -> model::Waits {
        let living = self.known.iter().map(|(name, known)| (*name, known.ran_ns));
        self.idle.waits(asker, living, self.root, self.threads.as_ref())
    }

    /// The division of the slots' time, when the program has ended and `cpu_ns` is what it used in
    /// all `wall_ns` by the kernel's exact account.
    pub(crate) fn division(&self, cpu_ns: u64, wall_ns: u64) -> Division {
        let share = |seen_ns: u64| seen_ns as f64 / cpu_ns.max(1) as f64;
        let seen_ns = self.on_cpu_ns + self.ended_cpu_ns;
        let enough = share(seen_ns) >= SEEN_SHARE_MIN && share(self.on_cpu_ns) >= THREADS_SHARE_MIN;
        let unseen_ns = cpu_ns.saturating_sub(seen_ns + self.reaped_cpu_ns) as i64;
        let idle = self.workers.filter(|_| enough).map(|workers| {
            let slots_ns = i64::from(workers) * wall_ns as i64;
            let absent_ns = slots_ns - self.lived_ns - unseen_ns;
            let blocked_ns = self.blocked_ns + absent_ns.min(0);
            (blocked_ns.max(0) as u64, absent_ns.max(0) as u64)
        });
        Division {
            seen_share: share(seen_ns),
            queue_wait_ns: enough.then_some(self.queue_wait_ns.max(0) as u64),
            blocked_ns: idle.map(|(blocked_ns, _)| blocked_ns),
            absent_ns: idle.map(|(_, absent_ns)| absent_ns),
        }
    }
}

/// Divides what threads ran that had ended among `threads` of them, or more: each waited by what it ran.
fn ended_parts(ran_ns: u64, threads: usize, ratio: f64, interval_ns: u64) -> Vec<Part> {
    if ran_ns == 0 {
        return Vec::new();
    }
    // An interval can be shorter than what ran: then its length says nothing of their number.
    let at_least = ran_ns.div_ceil(interval_ns).min(UNSEEN_MAX);
    let threads = at_least.max(threads as u64);
    let each_ns = ran_ns / threads;
    let waited_ns = ((each_ns as f64 * ratio) as u64).min(interval_ns.saturating_sub(each_ns));
    let busy_ns = (each_ns + waited_ns) as i64;
    let part = Part { lived_ns: busy_ns, busy_ns, ready_ns: waited_ns as i64, ..Part::default() };
    vec![part; threads as usize]
}
