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

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn account(on_cpu_ms: u64, queue_wait_ms: u64) -> SchedStat {
        SchedStat { on_cpu_ns: on_cpu_ms * MS, queue_wait_ns: queue_wait_ms * MS, slices: 1 }
    }

    fn thread(tid: Pid, state: char, began_ns: u64, account: SchedStat) -> Thread {
        Thread { tid, name: "w".into(), state, began_ns, account }
    }

    fn look(slots: &mut Slots, at_ms: u64, threads: &[(Pid, SchedStat, char)]) {
        slots.begin(at_ms * MS);
        for (tid, account, state) in threads {
            // All began with the program.
            let thread = thread(*tid, *state, 0, *account);
            slots.see(1, &thread, *state == 'Z', None);
        }
        slots.end();
    }

    fn slots(workers: u32) -> Slots {
        Slots::new(Some(workers), 0, 0)
    }

    #[test]
    fn what_waited_before_it_was_the_program_is_left_out() {
        let mut slots = Slots::new(None, 0, 0).queued_before(30 * MS);
        slots.begin(100 * MS);
        slots.see_process(7, Some(60 * MS), 0);
        slots.see(7, &thread(7, 'R', 0, account(60, 50)), false, None);
        // Another thread of it began with the program.
        slots.see(7, &thread(8, 'S', 0, account(0, 5)), false, None);
        slots.end();
        assert_eq!(slots.queue_wait_ns, 25 * MS as i64);
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
    fn who_hands_over_between_two_looks_is_not_blocked_beside_the_other() {
        let mut slots = slots(1);
        look(&mut slots, 100, &[(1, account(95, 5), 'S'), (2, account(0, 0), 'S')]);
        look(&mut slots, 200, &[(1, account(155, 5), 'S'), (2, account(30, 10), 'S')]);
        let division = slots.division(185 * MS, 200 * MS);
        assert_eq!(division.queue_wait_ns, Some(15 * MS));
        assert_eq!((division.blocked_ns, division.absent_ns), (Some(0), Some(0)));
    }

    #[test]
    fn threads_that_have_ended_fill_slots_and_waited_as_before() {
        let mut slots = slots(2);
        let both = [(2, account(50, 50), 'R'), (3, account(50, 50), 'R')];
        slots.see_process(1, Some(100 * MS), 0);
        look(&mut slots, 100, &[(1, account(0, 0), 'S'), both[0], both[1]]);
        // Each ran 20 ms more, and was gone.
        slots.see_process(1, Some(140 * MS), 0);
        look(&mut slots, 200, &[(1, account(0, 0), 'S')]);
        let division = slots.division(140 * MS, 200 * MS);
        assert_eq!(division.seen_share, 1.0);
        assert_eq!(division.queue_wait_ns, Some((100 + 40) * MS));
        assert_eq!((division.blocked_ns, division.absent_ns), (Some(0), Some(120 * MS)));
    }

    #[test]
    fn a_thread_may_have_begun_a_tick_later_than_is_said() {
        let mut slots = Slots::new(Some(2), 0, 10 * MS);
        slots.see_process(1, Some(80 * MS), 0);
        slots.begin(100 * MS);
        let main = thread(1, 'S', 0, account(60, 0));
        let worker = thread(2, 'S', 60 * MS, account(20, 0));
        slots.see(1, &main, false, None);
        slots.see(1, &worker, false, None);
        slots.end();
        let division = slots.division(80 * MS, 100 * MS);
        assert_eq!((division.blocked_ns, division.absent_ns), (Some(50 * MS), Some(70 * MS)));
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
    fn what_was_done_before_the_first_look_at_a_running_program_does_not_count() {
        let mut slots = Slots::attached(0, 0);
        slots.see_process(1, Some(9000 * MS), 0);
        look(&mut slots, 0, &[(1, account(8000, 70), 'S'), (2, account(500, 0), 'S')]);
        slots.see_process(1, Some(9050 * MS), 0);
        look(&mut slots, 100, &[(1, account(8050, 70), 'S'), (2, account(500, 0), 'S')]);
        assert_eq!((slots.on_cpu_ns, slots.ended_cpu_ns, slots.queue_wait_ns), (50 * MS, 0, 0));
        assert_eq!(slots.blocked_ns, (50 + 100) * MS as i64);
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
    fn an_interval_shorter_than_what_ran_takes_no_memory() {
        let mut slots = slots(1);
        look(&mut slots, 100, &[(1, account(95, 0), 'S')]);
        // The end is said to be no later than the last look, and other threads ran for 40 ms since.
        slots.begin(100 * MS);
        slots.see_process(1, Some(135 * MS), 0);
        let parts = slots.ended(&HashMap::new());
        assert!((1..=1_024).contains(&parts.len()));
    }

    /// Processes live for less than from one look to the next: the parent's sum has what they ran, beyond what a look
    /// saw of one. Before the first look at a program that ran already it had others.
    #[test]
    fn what_short_lives_ran_is_known_by_their_parents_sums() {
        for (attaches, before_ms) in [(false, 0), (true, 500)] {
            let mut slots = Slots { attaches, ..Slots::new(None, 0, 0) };
            for (at_ms, reaped_ms, child) in [
                (1, 0, None),
                (100, 30, None),
                (200, 30, Some(account(40, 0))),
                // The second one ran for 10 ms more, and a third for 20 ms.
                (300, 30 + 50 + 20, None),
                (400, 100, None),
            ] {
                slots.begin(at_ms * MS);
                slots.see_process(7, Some(5 * MS), (before_ms + reaped_ms) * MS);
                slots.see(7, &thread(7, 'S', 0, account(5, 0)), false, None);
                if let Some(account) = child {
                    slots.see_process(8, Some(account.on_cpu_ns), 0);
                    slots.see(8, &thread(8, 'R', 150 * MS, account), false, None);
                }
                slots.end();
            }
            let own_ms = if attaches { 40 } else { 45 };
            assert_eq!((slots.on_cpu_ns, slots.unseen_cpu_ns()), (own_ms * MS, 60 * MS));
            let still_ns: i64 = slots.idle.still().map(|(_, ns)| ns).sum();
            assert!(still_ns <= 300 * MS as i64, "{still_ns}");
        }
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
        // It is also a wait if the thread is never seen again.
        let mut gone = slots(1);
        look(&mut gone, 100, &[(1, account(20, 0), 'R')]);
        look(&mut gone, 200, &[]);
        let division = gone.division(20 * MS, 200 * MS);
        assert_eq!((division.blocked_ns, division.queue_wait_ns), (Some(0), Some(80 * MS)));
        assert_eq!(division.absent_ns, Some(100 * MS));
    }
}
