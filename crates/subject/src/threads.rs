//! Every thread of a program with its time, its waits and its timeline.

use crate::doing::{Doing, Name, WaitId};
use crate::waits::{Asker, Named};
use model::{
    ThreadTime, WaitKind, Watched, WatchedCell, WatchedThread, WatchedWait, is_of_runtime,
};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use sys::task::Pid;

/// The most cells of a timeline. When time goes beyond them, two become one.
const CELLS_MAX: u64 = 120;

/// The length of a cell in the beginning: no look comes sooner after another.
const FIRST_CELL_NS: u64 = 1_000_000;

/// The most threads that are kept apart; further ones are summed.
const THREADS_MAX: usize = 4096;

/// The most threads that have a timeline: those that were seen first.
const TIMELINES_MAX: usize = 256;

/// The most threads and waits that are listed.
const LISTED_MAX: usize = 24;

/// Waits for more files than this are shown as one.
const FILES_MAX: usize = 4;

/// A thread that ran or was ready at least this part of what the busiest one did works; one of a process that started
/// others, twice this part of what all did.
const WORKING_PART: f64 = 0.05;

/// Where the busiest thread was busy for less than this part of its life, what it did is mostly its start, by which
/// threads do not differ.
const START_PART: f64 = 0.01;

/// The name of threads that ended between two looks, and of those beyond [`THREADS_MAX`].
const TOGETHER: Name = (0, 0);

/// Times in ns. They are signed, since an account may come late.
#[derive(Clone, Copy, Debug, Default)]
struct Time {
    running: i64,
    ready: i64,
    waiting: i64,
}

impl Time {
    fn add(&mut self, other: Time, share: f64) {
        let part = |ns: i64| (ns as f64 * share) as i64;
        self.running += part(other.running);
        self.ready += part(other.ready);
        self.waiting += part(other.waiting);
    }

    fn shown(self) -> ThreadTime {
        let positive = |ns: i64| ns.max(0) as u64;
        ThreadTime {
            running_ns: positive(self.running),
            ready_ns: positive(self.ready),
            waiting_ns: positive(self.waiting),
        }
    }

    fn busy(self) -> i64 {
        self.running + self.ready
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    time: Time,
    /// What most of the waiting time went to, by Boyer and Moore's vote.
    wait: Option<WaitId>,
    votes: i64,
}

impl Cell {
    fn vote(&mut self, wait: Option<WaitId>, ns: i64) {
        if self.wait == wait {
            self.votes += ns;
        } else if ns > self.votes {
            (self.wait, self.votes) = (wait, ns - self.votes);
        } else {
            self.votes -= ns;
        }
    }
}

#[derive(Debug, Default)]
struct Thread {
    label: String,
    time: Time,
    /// What it ran or was ready while it was the only thread, in ns: a start.
    alone: i64,
    /// Of each wait the time, in ns, and the number of looks that found it.
    waits: HashMap<Option<WaitId>, (i64, u64)>,
    cells: Vec<Cell>,
    /// The sum of the intervals that ended with a look that found it, the last of these looks, and their number.
    sighted_ns: i64,
    last_ns: u64,
    looks: u64,
    /// What it waited for at the last one; nothing if it ran or was ready.
    slept: Option<Option<WaitId>>,
}

/// All threads that were seen.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    began_ns: u64,
    cell_ns: u64,
    all: HashMap<Name, Thread>,
    /// Those that the last look found.
    living: Vec<Name>,
    /// Processes that started others.
    pub(crate) parents: HashSet<Pid>,
    /// The program has ended.
    pub(crate) is_over: bool,
    /// Threads that one look alone found, and the time of threads that had ended before a look, in ns.
    brief: u64,
    unseen_ns: i64,
}

impl Threads {
    pub(crate) fn new(began_ns: u64) -> Self {
        Threads { began_ns, cell_ns: FIRST_CELL_NS, ..Threads::default() }
    }

    /// Notes what threads did between two looks.
    pub(crate) fn note(&mut self, from_ns: u64, now_ns: u64, threads: &[Doing]) {
        let (from, now) = (from_ns - self.began_ns, now_ns - self.began_ns);
        while now / self.cell_ns >= CELLS_MAX {
            self.widen();
        }
        let before = std::mem::take(&mut self.living);
        let is_alone = threads.iter().filter(|one| one.name != TOGETHER).count() < 2;
        for one in threads {
            let is_apart = self.all.contains_key(&one.name) || self.all.len() < THREADS_MAX;
            let has_timeline = self.all.len() < TIMELINES_MAX;
            let thread = self.all.entry(if is_apart { one.name } else { TOGETHER }).or_default();
            thread.label.clone_from(&one.label);
            let running = one.busy_ns - one.ready_ns;
            let time = Time { running, ready: one.ready_ns, waiting: one.idle_ns };
            thread.time.add(time, 1.0);
            thread.alone += if is_alone { time.busy() } else { 0 };
            let wait = one.wait.map(|wait| wait.id);
            if is_apart && one.name != TOGETHER && !one.has_ended {
                thread.sighted_ns += (now - from) as i64;
                thread.last_ns = now;
                thread.looks += 1;
                thread.slept = (!one.is_ready).then_some(wait);
                self.living.push(one.name);
            }
            if one.idle_ns != 0 {
                let (ns, found) = thread.waits.entry(wait).or_default();
                *ns += one.idle_ns;
                *found += 1;
            }
            if has_timeline || !thread.cells.is_empty() {
                spread(&mut thread.cells, (from, now), self.cell_ns, (time, wait));
            }
        }
        before.iter().for_each(|name| self.settle(name, now));
    }

    /// Adds what a thread waited after the last look that found it, if the look now did not: looks find a thread the
    /// more often the longer it lives, so that the intervals before them sum to its life, on average. One that was
    /// there for longer than since then, or among others that last, is taken to have ended with the program.
    fn settle(&mut self, name: &Name, now: u64) {
        let Some(thread) = self.all.get_mut(name).filter(|one| one.last_ns < now) else { return };
        self.brief += u64::from(thread.looks == 1 && !self.is_over);
        let Some(wait) = thread.slept else { return };
        let (seen_ns, since_ns) = (thread.time.shown().all_ns(), now - thread.last_ns);
        let is_lasting = self.brief == 0 || seen_ns > since_ns;
        let rest_ns = match self.is_over && is_lasting {
            true => since_ns as i64,
            false => (thread.sighted_ns - seen_ns as i64).clamp(0, since_ns as i64),
        };
        self.unseen_ns += rest_ns;
        thread.time.waiting += rest_ns;
        thread.waits.entry(wait).or_default().0 += rest_ns;
        if !thread.cells.is_empty() && rest_ns > 0 {
            let time = Time { waiting: rest_ns, ..Time::default() };
            let until = thread.last_ns + rest_ns as u64;
            spread(&mut thread.cells, (thread.last_ns, until), self.cell_ns, (time, wait));
        }
    }

    fn widen(&mut self) {
        self.cell_ns *= 2;
        for thread in self.all.values_mut() {
            let pairs = thread.cells.chunks(2).map(|pair| {
                let mut cell = pair[0];
                if let Some(next) = pair.get(1) {
                    cell.time.add(next.time, 1.0);
                    cell.vote(next.wait, next.votes);
                }
                cell
            });
            thread.cells = pairs.collect();
        }
    }

    /// Returns the names of the threads that worked.
    fn working(&self) -> impl Fn(&Name) -> bool + '_ {
        let apart = self.all.iter().filter(|(name, _)| **name != TOGETHER);
        let busiest = apart.map(|(_, one)| one).max_by_key(|one| one.beside());
        let (busy, waiting) = busiest.map_or((0, 0), |one| (one.beside(), one.time.waiting));
        let is_start = (busy as f64) < START_PART * (busy + waiting) as f64;
        let least = if is_start { 0.0 } else { WORKING_PART * busy as f64 };
        let all: i64 = self.all.values().map(Thread::beside).sum();
        move |name| {
            let is_parent = self.parents.contains(&name.0);
            let least = if is_parent && !is_start {
                least.max(2.0 * WORKING_PART * all as f64)
            } else {
                least
            };
            let own = self.all.get(name).map(Thread::beside);
            *name == TOGETHER || own.is_some_and(|own| own as f64 >= least)
        }
    }

    /// Returns the time of each wait in threads that hardly ran, in ns.
    pub(crate) fn idle(&self) -> HashMap<Option<WaitId>, i64> {
        let works = self.working();
        let mut idle = HashMap::new();
        let hardly_ran = self.all.iter().filter(|(name, _)| !works(name));
        for (id, (ns, _)) in hardly_ran.flat_map(|(_, thread)| &thread.waits) {
            *idle.entry(*id).or_default() += ns;
        }
        idle
    }

    /// Enters all that is known. `names` are those of the waits; `counted_ns` is the time of all threads of a crowd;
    /// `still` is the elapsed time in which nothing ran, by the wait that explains it.
    pub(crate) fn enter(
        &self,
        watched: &mut Watched,
        names: &[Named],
        asker: &Asker,
        counted_ns: u64,
        still: impl Iterator<Item = (Option<WaitId>, i64)>,
    ) {
        let mut list = List { names, asker, waits: Vec::new(), places: HashMap::new() };
        let is_working = self.working();
        // Threads that were not read waited as those did that were, without the first ones of processes.
        let is_of_crowd = |(pid, tid): &Name| pid != tid && (*pid, *tid) != TOGETHER;
        let crowd = self.all.iter().filter(|(name, _)| is_of_crowd(name));
        let crowd_ns: i64 = crowd.map(|(_, thread)| thread.time.waiting.max(0)).sum();
        watched.time = self.all.values().map(|one| one.time.shown()).fold(watched.time, sum);
        watched.unread_ns = counted_ns.saturating_sub(watched.time.all_ns());
        let unread = watched.unread_ns as f64 / crowd_ns.max(1) as f64;
        for (name, thread) in &self.all {
            let works = is_working(name);
            let times = if is_of_crowd(name) { 1.0 + unread } else { 1.0 };
            for (id, (ns, found)) in thread.named() {
                let wait = list.entry(id);
                let works = works && !is_of_runtime(&wait.what);
                let into = if works { &mut wait.ns } else { &mut wait.idle_ns };
                *into += (ns.max(0) as f64 * times) as u64;
                wait.found += found;
            }
        }
        watched.time.waiting_ns += watched.unread_ns;
        watched.brief_threads = self.brief;
        watched.unseen_ns = self.unseen_ns.max(0) as u64;
        still.for_each(|(id, ns)| list.entry(id).still_ns += ns.max(0) as u64);
        list.unite_files();
        let order = list.order();
        let mut threads: Vec<(&Name, &Thread)> = self.all.iter().collect();
        threads.sort_by_key(|(name, one)| (Reverse((one.time.busy(), one.time.waiting)), **name));
        watched.other_threads = threads.len().saturating_sub(LISTED_MAX) as u64;
        let place = |id: Option<WaitId>| {
            let place = list.places.get(list.name(id))?;
            order.iter().position(|one| one == place).map(|place| place as u32)
        };
        let listed = threads.iter().take(LISTED_MAX);
        watched.threads = listed.map(|(name, one)| one.shown(**name, place)).collect();
        watched.cell_ns = self.cell_ns;
        watched.waits = order.iter().map(|place| list.waits[*place].clone()).collect();
    }
}

/// Divides what a thread did from one moment to another among the cells between them.
fn spread(
    cells: &mut Vec<Cell>,
    (from, now): (u64, u64),
    cell_ns: u64,
    (time, wait): (Time, Option<WaitId>),
) {
    let (first, last) = (from / cell_ns, now.saturating_sub(1).max(from) / cell_ns);
    if cells.len() <= last as usize {
        cells.resize(last as usize + 1, Cell::default());
    }
    for place in first..=last {
        let (begin, end) = (from.max(place * cell_ns), now.min((place + 1) * cell_ns));
        let share = if now > from { (end - begin) as f64 / (now - from) as f64 } else { 1.0 };
        let cell = &mut cells[place as usize];
        cell.time.add(time, share);
        cell.vote(wait, (time.waiting.max(0) as f64 * share) as i64);
    }
}

fn sum(a: ThreadTime, b: ThreadTime) -> ThreadTime {
    ThreadTime {
        running_ns: a.running_ns + b.running_ns,
        ready_ns: a.ready_ns + b.ready_ns,
        waiting_ns: a.waiting_ns + b.waiting_ns,
    }
}

impl Thread {
    /// Returns what it ran or was ready while there were others, in ns.
    fn beside(&self) -> i64 {
        self.time.busy() - self.alone
    }

    /// Returns the waits with what no look found: a thread that was woken while it was asked waited, in all
    /// likelihood, as it did when it could be asked.
    fn named(&self) -> impl Iterator<Item = (Option<WaitId>, (i64, u64))> {
        let is_known = |id: &Option<WaitId>| id.is_some();
        let known: i64 = self.waits.iter().filter(|(id, _)| is_known(id)).map(|(_, it)| it.0).sum();
        let all: i64 = self.waits.values().map(|it| it.0).sum();
        let share = (known > 0).then(|| all as f64 / known as f64);
        self.waits.iter().filter_map(move |(id, (ns, found))| match (share, id) {
            (Some(_), None) => None,
            (Some(share), _) => Some((*id, ((*ns as f64 * share) as i64, *found))),
            (None, _) => Some((*id, (*ns, *found))),
        })
    }

    fn shown(
        &self,
        (pid, tid): Name,
        place: impl Fn(Option<WaitId>) -> Option<u32>,
    ) -> WatchedThread {
        let longest = self.named().max_by_key(|(id, (ns, _))| (*ns, *id));
        let cell = |cell: &Cell| WatchedCell {
            time: cell.time.shown(),
            wait: (cell.time.waiting > 0).then(|| place(cell.wait)).flatten(),
        };
        WatchedThread {
            name: self.label.clone(),
            pid: pid.unsigned_abs(),
            tid: tid.unsigned_abs(),
            time: self.time.shown(),
            wait: longest.and_then(|(id, _)| place(id)),
            cells: self.cells.iter().map(cell).collect(),
        }
    }
}

/// Waits, those of one name in one.
struct List<'a> {
    names: &'a [Named],
    asker: &'a Asker,
    waits: Vec<WatchedWait>,
    places: HashMap<Named, usize>,
}

impl List<'_> {
    fn name(&self, id: Option<WaitId>) -> &Named {
        static UNKNOWN: Named = Named::unknown();
        id.and_then(|id| self.names.get(id)).unwrap_or(&UNKNOWN)
    }

    fn entry(&mut self, id: Option<WaitId>) -> &mut WatchedWait {
        let name = self.name(id).clone();
        let next = self.waits.len();
        let place = *self.places.entry(name.clone()).or_insert(next);
        if place == next {
            let Named { kind, what, place } = name;
            self.waits.push(WatchedWait { kind, what, place, ..WatchedWait::default() });
        }
        if let Some(holder) = id.map(|id| self.asker.holder(id)).filter(|held| !held.is_empty()) {
            self.waits[place].holder = holder.into();
        }
        &mut self.waits[place]
    }

    /// Makes one wait of those for files, if there are many.
    fn unite_files(&mut self) {
        let is_file =
            |wait: &WatchedWait| wait.kind == WaitKind::Storage && wait.what.starts_with('/');
        let files: Vec<usize> =
            (0..self.waits.len()).filter(|place| is_file(&self.waits[*place])).collect();
        if files.len() <= FILES_MAX {
            return;
        }
        let into = files[0];
        for file in &files[1..] {
            let WatchedWait { ns, idle_ns, still_ns, found, .. } =
                std::mem::take(&mut self.waits[*file]);
            let all = &mut self.waits[into];
            all.ns += ns;
            all.idle_ns += idle_ns;
            all.still_ns += still_ns;
            all.found += found;
        }
        self.waits[into].what = format!("storage ({} files)", files.len());
        self.waits[into].place = String::new();
        for place in self.places.values_mut().filter(|place| files.contains(place)) {
            *place = into;
        }
    }

    /// Returns the places of those that are listed, the longest first.
    fn order(&self) -> Vec<usize> {
        let all = |place: &usize| Reverse(self.waits[*place].ns + self.waits[*place].idle_ns);
        let length = |place: &usize| {
            let WatchedWait { ns, idle_ns, still_ns, what, place, .. } = &self.waits[*place];
            (Reverse((*ns, *still_ns, *idle_ns)), what, place)
        };
        let is_long = |place: &usize| {
            let wait = &self.waits[*place];
            wait.ns + wait.idle_ns + wait.still_ns > 0
        };
        let mut order: Vec<usize> = (0..self.waits.len()).filter(is_long).collect();
        order.sort_by_key(all);
        order.truncate(LISTED_MAX);
        order.sort_by(|a, b| length(a).cmp(&length(b)));
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doing::{Asked, Since};

    const MS: u64 = 1_000_000;

    fn doing(tid: i32, busy_ms: i64, idle_ms: i64, wait: Option<WaitId>) -> Doing {
        let asked =
            |id| Asked { id, since: Since::New, is_secondary: false, may_be_outside: false };
        Doing {
            name: (1, tid),
            label: "w".into(),
            is_ready: false,
            has_ended: false,
            busy_ns: busy_ms * MS as i64,
            ready_ns: 0,
            idle_ns: idle_ms * MS as i64,
            ran_ns: 0,
            wait: wait.map(asked),
        }
    }

    fn named(kind: WaitKind, what: &str) -> Named {
        Named { kind, what: what.into(), place: String::new() }
    }

    fn entered(threads: &Threads, names: &[Named]) -> Watched {
        entered_of(threads, names, 0)
    }

    fn entered_of(threads: &Threads, names: &[Named], counted_ns: u64) -> Watched {
        let mut watched = Watched::default();
        threads.enter(&mut watched, names, &Asker::default(), counted_ns, std::iter::empty());
        watched
    }

    #[test]
    fn what_no_look_found_is_divided_as_what_was_found() {
        let mut threads = Threads::new(0);
        threads.note(0, 100 * MS, &[doing(1, 40, 60, Some(0)), doing(2, 0, 100, Some(1))]);
        threads.note(100 * MS, 200 * MS, &[doing(1, 70, 30, None), doing(2, 0, 100, Some(1))]);
        let names = [named(WaitKind::Lock, "a"), named(WaitKind::Thread, "")];
        let watched = entered(&threads, &names);
        let [lock, join] = &watched.waits[..] else { panic!("{watched:?}") };
        assert_eq!((lock.ns, lock.idle_ns, lock.found), (90 * MS, 0, 1));
        assert_eq!((join.ns, join.idle_ns, join.found), (0, 200 * MS, 2));
        let places: Vec<_> = watched.threads.iter().map(|one| (one.tid, one.wait)).collect();
        assert_eq!(places, [(1, Some(0)), (2, Some(1))]);
        assert_eq!(watched.time.all_ns(), 400 * MS);
    }

    /// A thread that lives for 10 ms is found by one look in three that are 30 ms apart: what it waited is as much as all
    /// of them did, on average.
    #[test]
    fn threads_that_live_shortly_count_for_those_that_no_look_found() {
        let mut threads = Threads::new(0);
        for look in 0..30_u64 {
            let mut found = vec![doing(1, 0, 30, Some(1))];
            // Each lives from one multiple of 10 ms to the next; looks find it halfway.
            if look % 3 == 0 {
                found.push(doing(100 + look as i32, 0, 5, Some(0)));
            }
            threads.note(look * 30 * MS, (look + 1) * 30 * MS, &found);
        }
        let watched = entered(&threads, &[named(WaitKind::Timer, "a"), named(WaitKind::Child, "")]);
        let waited = |kind| {
            let own = watched.waits.iter().filter(|wait| wait.kind == kind);
            own.map(|wait| wait.ns + wait.idle_ns).sum::<u64>() / MS
        };
        assert_eq!((waited(WaitKind::Timer), waited(WaitKind::Child)), (10 * 30, 900));
        assert_eq!((watched.brief_threads, watched.unseen_ns), (10, 10 * 25 * MS));
    }

    #[test]
    fn threads_that_are_not_read_wait_as_those_that_are() {
        let mut threads = Threads::new(0);
        let crowd: Vec<Doing> =
            (1..=4).map(|tid| doing(tid, 0, 100, Some(usize::from(tid == 4)))).collect();
        threads.note(0, 100 * MS, &crowd);
        // The program ends: who was there at the last look is taken to have been there until then.
        threads.is_over = true;
        threads.note(100 * MS, 200 * MS, &[]);
        let names = [named(WaitKind::Timer, "a"), named(WaitKind::Lock, "b")];
        let watched = entered_of(&threads, &names, (4 + 30) * 200 * MS);
        assert_eq!(watched.time.waiting_ns, (4 + 30) * 200 * MS);
        assert_eq!(watched.unread_ns, 30 * 200 * MS);
        let crowd_of = |wait: &WatchedWait| (wait.ns + wait.idle_ns) / MS;
        // The first thread of the process stands for itself alone.
        let all: Vec<u64> = watched.waits.iter().map(crowd_of).collect();
        assert_eq!(all, [200 + 2 * (200 + 2000), 200 + 2000]);
    }

    /// What a thread did before there were others is no work beside them, nor is what a process does for those that it
    /// starts: the time that both wait meanwhile is idle.
    #[test]
    fn who_starts_others_is_idle_while_they_work() {
        for (is_parent, busy_ms) in [(false, 0), (true, 8)] {
            let mut threads = Threads::new(0);
            threads.parents.extend(is_parent.then_some(1));
            threads.note(0, 100 * MS, &[doing(1, 90, 10, None)]);
            for look in 1..6 {
                let worker = Doing { name: (2, 2), ..doing(2, 90, 10, Some(1)) };
                let waits = doing(1, busy_ms, 100 - busy_ms, Some(0));
                threads.note(look * 100 * MS, (look + 1) * 100 * MS, &[waits, worker]);
            }
            let names = [named(WaitKind::Event, "a"), named(WaitKind::Pipe, "b")];
            let watched = entered(&threads, &names);
            let idle: Vec<bool> = watched.waits.iter().map(|wait| wait.idle_ns > wait.ns).collect();
            assert_eq!(idle, [false, true], "{watched:?}");
        }
    }

    #[test]
    fn timelines_keep_their_time_when_cells_are_united() {
        let mut threads = Threads::new(0);
        for look in 0..50 {
            threads.note(look * 7 * MS, (look + 1) * 7 * MS, &[doing(1, 3, 4, Some(0))]);
        }
        let watched = entered(&threads, &[named(WaitKind::Lock, "a")]);
        let [thread] = &watched.threads[..] else { panic!("{watched:?}") };
        assert_eq!(watched.cell_ns, 4 * MS);
        assert_eq!(thread.cells.len() as u64, (350_u64).div_ceil(4));
        let sum: u64 = thread.cells.iter().map(|cell| cell.time.all_ns()).sum();
        assert!(sum.abs_diff(350 * MS) < 1000, "{sum}");
        assert!(thread.cells.iter().all(|cell| cell.wait == Some(0)));
    }

    #[test]
    fn many_files_are_one_wait_and_many_threads_one_row() {
        let mut threads = Threads::new(0);
        let names: Vec<Named> =
            (0..9).map(|file| named(WaitKind::Storage, &format!("/file{file}"))).collect();
        let all: Vec<Doing> =
            (0..5000).map(|tid| doing(tid, 1, 1, Some(tid as usize % 9))).collect();
        threads.note(0, 2 * MS, &all);
        let watched = entered(&threads, &names);
        let [files] = &watched.waits[..] else { panic!("{:?}", watched.waits) };
        assert_eq!((files.what.as_str(), files.ns), ("storage (9 files)", 5000 * MS));
        assert_eq!(watched.threads.len(), LISTED_MAX);
        assert_eq!(watched.threads[0].pid, 0, "the sum of those beyond the most");
        assert!(watched.threads.iter().all(|one| one.wait == Some(0)));
    }
}
