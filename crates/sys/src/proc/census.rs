//! Looking again and again at the same processes and threads.

use super::path;
use super::task::{Stat, parse_schedstat, parse_stat};
use super::threads::{Thread, thread, thread_count, thread_ids};
use crate::{Pid, clock, process, text};
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The most threads whose files stay open.
const OPEN_MAX: usize = 128;

/// More than a thread's stat file holds.
const FILE_BYTES: usize = 1024;

/// A process that was found, with its threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<T> {
    /// Its number.
    pub pid: Pid,
    /// What /proc says of its first thread.
    pub stat: Stat,
    /// CPU time of all its threads, ended ones included, read before its threads were, in ns.
    pub cpu_ns: Option<u64>,
    /// Its threads, each with what was asked of it; of a zombie, the first.
    pub threads: Vec<(Thread, T)>,
    /// How many further threads it has, which were not read.
    pub unread: usize,
}

/// Finds a process's descendants with their threads as often as it is asked. Between two times in which the
/// kernel made no process or thread, none is looked for, and files stay open.
#[derive(Debug, Default)]
pub struct Census {
    of: Option<Pid>,
    spared: Vec<Pid>,
    /// The number that the kernel gave last when processes were listed last.
    last_given: Option<String>,
    has_listed: bool,
    listed: Vec<(Pid, Vec<Pid>)>,
    open: HashMap<(Pid, Pid), Files>,
    /// How many threads are read, about, if there are more of them.
    most: Option<usize>,
    /// One thread in this number is read.
    one_in: u32,
    /// Looks since processes were listed, and how many threads the last of them read.
    unlisted: u32,
    read: usize,
}

/// The files of a thread.
#[derive(Debug)]
struct Files {
    stat: File,
    schedstat: File,
}

impl Files {
    fn open(pid: Pid, tid: Pid) -> Option<Self> {
        let open = |name: &str| File::open(path(pid, &format!("task/{tid}/{name}"))).ok();
        Some(Files { stat: open("stat")?, schedstat: open("schedstat")? })
    }
}

/// Returns a number that says nothing of the place of a thread among others (Knuth's multiplicative hash).
fn scattered(tid: Pid) -> u32 {
    tid.unsigned_abs().wrapping_mul(2_654_435_769) >> 16
}

/// Returns what a file holds now; `None` where its thread has ended.
fn text_of(file: &File) -> Option<String> {
    let mut bytes = [0; FILE_BYTES];
    let length = file.read_at(&mut bytes, 0).ok().filter(|length| *length > 0)?;
    Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

impl Census {
    /// Counts a process with its descendants, or else the descendants of this process, without `spared` and
    /// what came of them.
    pub fn new(of: Option<Pid>, spared: Vec<Pid>) -> Self {
        Census { of, spared, one_in: 1, ..Census::default() }
    }

    /// Reads about this number of threads at the most: the first of each process, and of the others a sample that
    /// stays the same as long as their number is about the same.
    pub fn sampling(self, most: usize) -> Self {
        Census { most: Some(most), ..self }
    }

    /// Finds what is there now, for much less than it costs to read it: what is made later belongs to the next look.
    /// Returns how many threads there are.
    pub fn begin(&mut self) -> usize {
        // Read before the listing: what is made meanwhile has another number.
        let given = last_given();
        let is_new = given.is_none() || given != self.last_given;
        self.has_listed = is_new && !self.has_sample();
        self.unlisted += 1;
        if self.has_listed {
            self.list();
            (self.last_given, self.unlisted) = (given, 0);
        }
        let threads = self.listed_threads();
        let times = self.most.map_or(1, |most| usize::div_ceil(threads, most.max(1)).max(1));
        self.one_in = u32::try_from(times.next_power_of_two()).unwrap_or(1);
        threads
    }

    /// Reports whether the sample of a crowd still stands for it: a listing takes longer than all that is read.
    fn has_sample(&self) -> bool {
        let is_enough = self.most.is_some_and(|most| 2 * self.read > most);
        if self.one_in == 1 || !is_enough || self.unlisted >= 8 {
            return false;
        }
        let (now, listed) = (self.count(), self.listed_threads());
        now < 2 * listed && listed < 2 * now
    }

    fn listed_threads(&self) -> usize {
        self.listed.iter().map(|(_, tids)| tids.len()).sum()
    }

    /// Returns how many threads those processes have now that were listed last: a call for each process, whatever the
    /// number of its threads.
    pub fn count(&self) -> usize {
        let counts = self.listed.iter().map(|(pid, _)| thread_count(*pid));
        counts.map(Option::unwrap_or_default).sum()
    }

    /// Reports whether processes or threads were made since the look before, so that all were listed again.
    pub fn has_listed(&self) -> bool {
        self.has_listed
    }

    /// Returns the processes that were found.
    pub fn pids(&self) -> Vec<Pid> {
        self.listed.iter().map(|(pid, _)| *pid).collect()
    }

    /// Reads all that were found and are still there, zombies among them. Each thread is asked at once when it was read: one that
    /// sleeps for some microseconds may have gone on by the time that all others were.
    pub fn take<T>(&mut self, mut ask: impl FnMut(Pid, &Thread) -> T) -> Vec<Found<T>> {
        // The kernel counts from the boot, the time in which the machine was suspended included.
        let suspended_ns = clock::suspended_ns();
        let mut all = Vec::with_capacity(self.listed.len());
        self.read = 0;
        for (pid, tids) in &mut self.listed {
            let cpu_ns = clock::process_cpu_ns_of(*pid);
            let (mut first, mut threads, mut unread) = (None, Vec::new(), 0);
            tids.retain(|tid| {
                if tid != pid && !scattered(*tid).is_multiple_of(self.one_in) {
                    unread += 1;
                    return true;
                }
                let Some((stat, thread)) = read(&mut self.open, (*pid, *tid), suspended_ns) else {
                    self.open.remove(&(*pid, *tid));
                    return false;
                };
                if tid == pid {
                    first = Some(stat);
                }
                let asked = ask(*pid, &thread);
                threads.push((thread, asked));
                true
            });
            self.read += threads.len();
            if unread > 0 {
                // The list may be that of an earlier look.
                unread = thread_count(*pid).map_or(0, |all| all.saturating_sub(threads.len()));
            }
            if let Some(stat) = first {
                all.push(Found { pid: *pid, stat, cpu_ns, threads, unread });
            }
        }
        all
    }

    fn list(&mut self) {
        let family = process::family(self.of.unwrap_or_else(process::pid), &self.spared);
        let all = self.of.into_iter().chain(family.into_iter().map(|(pid, _)| pid));
        self.listed = all.map(|pid| (pid, thread_ids(pid))).collect();
        let is_listed = |(pid, tid): &(Pid, Pid)| {
            let own = self.listed.iter().find(|(listed, _)| listed == pid);
            own.is_some_and(|(_, tids)| tids.contains(tid))
        };
        self.open.retain(|name, _| is_listed(name));
    }
}

/// Reads what a thread's files say, which stay open if few are; `None` where it is gone.
fn read(
    open: &mut HashMap<(Pid, Pid), Files>,
    (pid, tid): (Pid, Pid),
    suspended_ns: u64,
) -> Option<(Stat, Thread)> {
    let room = open.len() < OPEN_MAX;
    let known = open.get(&(pid, tid));
    let opened = if known.is_some() { None } else { Some(Files::open(pid, tid)?) };
    let files = known.or(opened.as_ref())?;
    let account = parse_schedstat(&text_of(&files.schedstat)?)?;
    let stat = parse_stat(&text_of(&files.stat)?)?;
    let thread = thread(tid, &stat, account, suspended_ns);
    if let Some(files) = opened.filter(|_| room) {
        open.insert((pid, tid), files);
    }
    Some((stat, thread))
}

/// Returns the number that the kernel gave last to a process or thread, as it stands in /proc.
pub fn last_given() -> Option<String> {
    text::read("/proc/loadavg").ok()?.split_whitespace().nth(4).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task;
    use crate::testing::in_child;
    use std::process::Command;

    fn pids(census: &mut Census) -> Vec<Pid> {
        census.begin();
        let mut pids: Vec<Pid> = census.take(|_, _| ()).iter().map(|found| found.pid).collect();
        assert!(pids.iter().all(|pid| census.pids().contains(pid)));
        pids.sort_unstable();
        pids
    }

    #[test]
    fn those_that_come_and_go_are_found_and_missed() {
        in_child(|| {
            let mut census = Census::new(None, Vec::new());
            assert_eq!(pids(&mut census), Vec::<Pid>::new());
            let mut first = Command::new("sleep").arg("60").spawn().unwrap();
            let mut second = Command::new("sleep").arg("60").spawn().unwrap();
            let expected = [first.id() as Pid, second.id() as Pid];
            assert_eq!(pids(&mut census), expected);
            assert_eq!(pids(&mut census), expected);
            first.kill().unwrap();
            first.wait().unwrap();
            assert_eq!(pids(&mut census), expected[1..]);
            let mut of = Census::new(Some(expected[1]), Vec::new());
            assert_eq!(pids(&mut of), expected[1..]);
            second.kill().unwrap();
            second.wait().unwrap();
            assert_eq!((pids(&mut census), pids(&mut of)), (Vec::new(), Vec::new()));
        });
    }

    #[test]
    fn threads_are_the_same_as_when_read_one_by_one() {
        in_child(|| {
            let own = process::pid();
            let mut census = Census::new(Some(own), Vec::new());
            for count in 1..4 {
                let (sender, receiver) = std::sync::mpsc::channel::<()>();
                std::thread::spawn(move || receiver.recv());
                assert_eq!(census.begin(), 1 + count);
                let found = census.take(|pid, thread| (pid, thread.tid));
                assert_eq!(found[0].pid, own);
                let asked: Vec<_> = found[0].threads.iter().map(|(_, asked)| *asked).collect();
                let expected: Vec<_> = thread_ids(own).into_iter().map(|tid| (own, tid)).collect();
                assert_eq!(asked, expected);
                assert_eq!(found[0].threads.len(), 1 + count);
                assert_eq!(found[0].threads[0].0.name, found[0].stat.name);
                std::mem::forget(sender);
            }
        });
    }

    #[test]
    fn of_a_crowd_a_sample_is_read_that_stays_the_same() {
        in_child(|| {
            let own = process::pid();
            let mut census = Census::new(Some(own), Vec::new()).sampling(8);
            for _ in 0..40 {
                std::thread::spawn(std::thread::park);
            }
            let mut read = || {
                let threads = census.begin();
                let found = census.take(|_, thread| thread.tid);
                let tids: Vec<Pid> = found[0].threads.iter().map(|(_, tid)| *tid).collect();
                assert_eq!((threads, tids.len() + found[0].unread, census.count()), (41, 41, 41));
                assert!(tids.contains(&own) && tids.len() < 25, "{tids:?}");
                tids
            };
            let (first, second) = (read(), read());
            assert_eq!(first, second);
        });
    }

    #[test]
    fn a_zombie_is_there_until_it_is_waited_for() {
        in_child(|| {
            let child = task::fork_exit(false).unwrap();
            let mut census = Census::new(None, Vec::new());
            crate::testing::eventually("its end", || {
                census.begin();
                census.take(|_, _| ()).first().is_some_and(|found| found.stat.state == 'Z')
            });
            assert_eq!(census.take(|_, _| ())[0].threads.len(), 1);
            task::wait(child).unwrap();
            census.begin();
            assert_eq!(census.take(|_, _| ()), []);
        });
    }
}
