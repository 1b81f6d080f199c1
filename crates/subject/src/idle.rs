//! What workers waited for, and who ran meanwhile.

use crate::doing::{Doing, Name, Since, WaitId};
use crate::threads::Threads;
use crate::waits::{Asker, Named, Names};
use model::{Runner, Wait, Waits, is_of_runtime};
use std::collections::{HashMap, HashSet};
use sys::task::Pid;

/// The most waits, threads and runners that are kept of a trial.
const KEPT_MAX: usize = 24;

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    ns: i64,
    idle_ns: i64,
    still_ns: i64,
    looks: u32,
    lasting: u32,
    renewed: u32,
}

#[derive(Clone, Debug, Default)]
struct Ran {
    label: String,
    idle_ns: i64,
    absent_ns: i64,
    alone_ns: i64,
    together_ns: i64,
}

/// What one thread was seen to wait for, and for how long nothing ran while its wait explained that.
#[derive(Debug, Default)]
struct Slept {
    waits: HashSet<WaitId>,
    still_ns: i64,
}

/// Time since a look that found all threads asleep.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    ns: i64,
    /// The sum of all threads' busy time, and the sum of the busiest's of each interval.
    busy_ns: i64,
    busiest_ns: i64,
    /// Intervals that ended with all threads asleep.
    asleep_ns: i64,
}

impl Stretch {
    /// Returns for how long no thread ran or was ready. Busy times bound it, exactly where one thread works
    /// at a time; between the bounds, what looks found decides.
    fn still_ns(self) -> i64 {
        let least = (self.ns - self.busy_ns).max(0);
        self.asleep_ns.clamp(least, (self.ns - self.busiest_ns).max(least))
    }
}

/// The sums over all looks.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    looks: u32,
    waits: HashMap<Option<WaitId>, Sum>,
    runners: HashMap<Name, Ran>,
    stretch: Stretch,
    still_ns: i64,
    /// What explained the last time in which nothing ran, and whose wait it was.
    last: Option<(Name, WaitId)>,
    slept: HashMap<Name, Slept>,
    ended_cpu_ns: Vec<u64>,
}

impl Idle {
    /// Notes an interval of `ns` that ends with a look. `absent_ns` is how long workers were missing in it.
    pub(crate) fn note(&mut self, ns: i64, threads: &[Doing], absent_ns: i64) {
        self.looks += 1;
        let ready: Vec<&Doing> = threads.iter().filter(|one| one.is_ready).collect();
        let mut idle_ns = absent_ns;
        for one in threads.iter().filter(|one| one.idle_ns != 0) {
            let sum = self.waits.entry(one.wait.map(|wait| wait.id)).or_default();
            sum.ns += one.idle_ns;
            sum.looks += 1;
            let since = |since| u32::from(one.wait.is_some_and(|wait| wait.since == since));
            sum.lasting += since(Since::Lasting);
            sum.renewed += since(Since::Renewed);
            idle_ns += one.idle_ns.max(0);
            if let Some(wait) = one.wait {
                self.slept.entry(one.name).or_default().waits.insert(wait.id);
            }
        }
        let busy_ns: i64 = threads.iter().map(|one| one.busy_ns).sum();
        // What was idle while nothing ran is nobody's.
        let beside = idle_ns as f64 / busy_ns.max(ns).max(1) as f64;
        let missing = absent_ns as f64 / busy_ns.max(ns).max(1) as f64;
        for one in threads.iter().filter(|one| one.busy_ns > 0) {
            let ran = self.runners.entry(one.name).or_default();
            ran.idle_ns += (beside * one.busy_ns as f64) as i64;
            ran.absent_ns += (missing * one.busy_ns as f64) as i64;
            ran.label.clone_from(&one.label);
            if one.is_ready {
                let alone = ready.len() == 1;
                let found_ns = if alone { &mut ran.alone_ns } else { &mut ran.together_ns };
                *found_ns += ns;
            }
        }
        self.stretch.ns += ns;
        self.stretch.busy_ns += busy_ns;
        self.stretch.busiest_ns += threads.iter().map(|one| one.busy_ns).max().unwrap_or(0);
        if ready.is_empty() {
            self.stretch.asleep_ns += ns;
            let place = |one: &&Doing| {
                let wait = one.wait;
                let outside = wait.is_some_and(|wait| wait.may_be_outside);
                (outside, wait.is_some_and(|wait| !wait.is_secondary), one.ran_ns)
            };
            let slept = threads.iter().filter(|one| one.wait.is_some()).max_by_key(place);
            self.end_stretch(slept.and_then(|one| Some((one.name, one.wait?.id))));
        }
    }

    fn end_stretch(&mut self, slept: Option<(Name, WaitId)>) {
        let still_ns = std::mem::take(&mut self.stretch).still_ns();
        self.last = slept.or(self.last);
        let wait = self.last.map(|(_, wait)| wait);
        self.waits.entry(wait).or_default().still_ns += still_ns;
        if let Some((name, _)) = self.last {
            self.slept.entry(name).or_default().still_ns += still_ns;
        }
        self.still_ns += still_ns;
    }

    /// Returns the elapsed time in which nothing ran, in ns, by the wait that explains it.
    pub(crate) fn still(&mut self) -> impl Iterator<Item = (Option<WaitId>, i64)> {
        self.end_stretch(None);
        self.waits.iter().map(|(id, sum)| (*id, sum.still_ns))
    }

    /// Notes the CPU time of a thread that has ended.
    pub(crate) fn ended(&mut self, cpu_ns: u64) {
        self.ended_cpu_ns.push(cpu_ns);
    }

    /// Returns all of it with names. `living` is the CPU time of threads that were there at the last look, and
    /// `first` the program's first thread.
    pub(crate) fn waits(
        &mut self,
        asker: &Asker,
        living: impl Iterator<Item = (Name, u64)>,
        first: Option<Pid>,
        threads: Option<&Threads>,
    ) -> Waits {
        self.end_stretch(None);
        let living: HashMap<Name, u64> = living.collect();
        let mut cpu_each_ns: Vec<u64> =
            living.values().chain(&self.ended_cpu_ns).copied().collect();
        cpu_each_ns.retain(|ns| *ns > 0);
        cpu_each_ns.sort_unstable_by_key(|ns| std::cmp::Reverse(*ns));
        cpu_each_ns.truncate(KEPT_MAX);
        let positive = |ns: i64| ns.max(0) as u64;
        let mut runners: Vec<Runner> = (self.runners.iter())
            .map(|(name, ran)| Runner {
                name: ran.label.clone(),
                is_first: first == Some(name.1),
                cpu_ns: living.get(name).copied().unwrap_or(0),
                idle_ns: positive(ran.idle_ns),
                absent_ns: positive(ran.absent_ns),
                alone_ns: positive(ran.alone_ns),
                together_ns: positive(ran.together_ns),
            })
            .collect();
        runners.sort_by_key(|one| std::cmp::Reverse(one.idle_ns));
        runners.truncate(KEPT_MAX);
        Waits {
            looks: self.looks,
            waits: self.listed(asker, threads),
            cpus: None,
            runners,
            cpu_each_ns,
            still_ns: positive(self.still_ns),
            peers: asker.peers(),
            unasked: asker.unasked(),
        }
    }

    /// Returns for how long nothing ran while those slept who also waited for what has a name, in ns.
    fn turns_ns(&self, name: &Named, names: &[Named]) -> u64 {
        let sleepers = self.slept.values().filter(|one| one.still_ns > 0);
        let own = sleepers.filter(|one| one.waits.iter().any(|id| names.get(*id) == Some(name)));
        own.map(|one| one.still_ns as u64).sum()
    }

    /// Returns what was waited for, alike waits in one, the longest first.
    fn listed(&self, asker: &Asker, threads: Option<&Threads>) -> Vec<Wait> {
        let hardly_ran = threads.map(Threads::idle).unwrap_or_default();
        let mut names = Names::default();
        let names = names.of(asker);
        let unknown = Named::unknown();
        let mut all: HashMap<&Named, (Sum, &str)> = HashMap::new();
        for (id, sum) in &self.waits {
            let name = id.and_then(|id| names.get(id)).unwrap_or(&unknown);
            let holder = id.map_or("", |id| asker.holder(id));
            let (into, held) = all.entry(name).or_default();
            into.ns += sum.ns;
            into.idle_ns += match is_of_runtime(&name.what) && threads.is_some() {
                true => sum.ns,
                false => hardly_ran.get(id).copied().unwrap_or_default(),
            };
            into.still_ns += sum.still_ns;
            into.looks += sum.looks;
            into.lasting += sum.lasting;
            into.renewed += sum.renewed;
            if !holder.is_empty() {
                *held = holder;
            }
        }
        let wait = |(name, (sum, holder)): (&Named, (Sum, &str))| Wait {
            turns_ns: self.turns_ns(name, names),
            kind: name.kind,
            what: name.what.clone(),
            place: name.place.clone(),
            holder: holder.into(),
            ns: sum.ns.max(0) as u64,
            idle_ns: sum.idle_ns.clamp(0, sum.ns.max(0)) as u64,
            still_ns: sum.still_ns.max(0) as u64,
            looks: sum.looks,
            lasting: sum.lasting,
            renewed: sum.renewed,
        };
        let mut waits: Vec<Wait> = all.into_iter().map(wait).collect();
        waits.retain(|wait| wait.ns + wait.still_ns > 0);
        waits.sort_by_key(|wait| std::cmp::Reverse((wait.ns.max(wait.still_ns), wait.ns)));
        waits.truncate(KEPT_MAX);
        waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doing::Asked;

    const MS: i64 = 1_000_000;

    fn thread(tid: Pid, busy_ms: i64, idle_ms: i64, is_ready: bool, wait: Option<Asked>) -> Doing {
        let (busy_ns, idle_ns) = (busy_ms * MS, idle_ms * MS);
        let label = "w".into();
        Doing {
            name: (1, tid),
            label,
            is_ready,
            has_ended: false,
            busy_ns,
            ready_ns: 0,
            idle_ns,
            ran_ns: 0,
            wait,
        }
    }

    #[test]
    fn who_ran_is_known_by_what_ran_and_not_by_the_look_alone() {
        let mut idle = Idle::default();
        // Main ran alone for 80 ms; the look finds the two workers, which ran the other 20 ms.
        let threads = [
            thread(1, 80, 0, false, None),
            thread(2, 20, 0, true, None),
            thread(3, 20, 0, true, None),
        ];
        idle.note(100 * MS, &threads, 80 * MS);
        let waits = idle.waits(&Asker::default(), std::iter::empty(), Some(1), None);
        assert!(waits.runners[0].is_first);
        assert!(waits.runners[0].idle_ns > 2 * waits.runners[1].idle_ns, "{waits:?}");
    }

    #[test]
    fn time_in_which_nothing_ran_goes_to_the_wait_that_may_end_outside() {
        let wait = |id, may_be_outside| {
            Some(Asked { id, since: Since::New, is_secondary: false, may_be_outside })
        };
        let mut idle = Idle::default();
        let threads =
            [thread(1, 10, 90, false, wait(0, true)), thread(2, 0, 100, false, wait(1, false))];
        idle.note(100 * MS, &threads, 0);
        assert_eq!((idle.still_ns, idle.waits[&Some(0)].still_ns), (90 * MS, 90 * MS));
        assert_eq!(idle.waits[&Some(1)].still_ns, 0);
        // A thread that is ready at each look may have slept between them: its clock decides.
        idle.note(100 * MS, &[thread(1, 30, 0, true, None)], 0);
        idle.note(100 * MS, &[thread(1, 30, 0, false, wait(0, true))], 0);
        assert_eq!(idle.still_ns, (90 + 140) * MS);
    }
}
