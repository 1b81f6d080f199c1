//! All that comes of a process: its children, theirs, and so on.

use super::{kill, listed_children, parse_pids};
use crate::proc::{Stat, stat};
use crate::{Error, Pid, Result, text};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// The living descendants of process `root`, without itself; zombies do not count. Those of whom
/// `spared` says so are left out, with all that came of them.
///
/// A process whose parent has ended belongs to the nearest ancestor that adopts orphans: the list
/// is complete as long as `root` is one ([`super::become_subreaper`]) and lives.
pub fn descendants(root: Pid, spared: &[Pid]) -> Vec<Pid> {
    let mut found: Vec<Pid> = family(root, spared)
        .into_iter()
        .filter(|(_, stat)| stat.is_alive())
        .map(|(pid, _)| pid)
        .collect();
    found.sort_unstable();
    found
}

/// As [`descendants`], each with what /proc says of it, and zombies among them: a zombie may have
/// living children for a moment.
pub fn family(root: Pid, spared: &[Pid]) -> Vec<(Pid, Stat)> {
    listed(root, spared).unwrap_or_else(|| scanned(root, spared))
}

/// The children of process `root`, theirs, and so on, at most `most` of them, as far as first threads
/// started them: a cheap part of [`descendants`], in which zombies count. Empty where the kernel keeps
/// no lists of children.
pub fn nearest(root: Pid, most: usize) -> Vec<Pid> {
    let mut found = vec![root];
    let mut asked = 0;
    while asked < found.len() && found.len() <= most {
        let pid = found[asked];
        asked += 1;
        let children = text::read(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        found.extend(parse_pids(&children));
    }
    found.truncate(most.saturating_add(1));
    found.split_off(1)
}

/// By the kernel's lists of children; `None` where it keeps none (`CONFIG_PROC_CHILDREN`).
fn listed(root: Pid, spared: &[Pid]) -> Option<Vec<(Pid, Stat)>> {
    let mut known: HashSet<Pid> = spared.iter().copied().chain([root]).collect();
    let mut found = Vec::new();
    let mut unasked = vec![root];
    while let Some(pid) = unasked.pop() {
        for child in listed_children(pid)?.into_iter().filter(|child| known.insert(*child)) {
            unasked.push(child);
            found.extend(stat(child).map(|stat| (child, stat)));
        }
    }
    Some(found)
}

/// By asking every process for its parent.
fn scanned(root: Pid, spared: &[Pid]) -> Vec<(Pid, Stat)> {
    let mut children: HashMap<Pid, Vec<(Pid, Stat)>> = HashMap::new();
    for pid in text::process_ids() {
        if let Some(stat) = stat(pid) {
            children.entry(stat.parent).or_default().push((pid, stat));
        }
    }
    let mut found = Vec::new();
    let mut unasked = vec![root];
    while let Some(parent) = unasked.pop() {
        for (pid, stat) in children.remove(&parent).unwrap_or_default() {
            if !spared.contains(&pid) {
                unasked.push(pid);
                found.push((pid, stat));
            }
        }
    }
    found
}

/// Kills all descendants of process `root`, which must adopt orphans, and returns how many were
/// alive when it began. They become zombies, which their parents or `root` must reap.
///
/// All are stopped first, again and again until no new one is found. A stopped process cannot start
/// another, so that this ends even with programs that start processes without end.
///
/// # Errors
/// `EPERM` for a process that runs as another user; `EBUSY` where some live after `within`.
pub fn kill_descendants(root: Pid, spared: &[Pid], within: Duration) -> Result<usize> {
    let give_up = Instant::now() + within;
    let at_first = descendants(root, spared).len();
    let mut stopped: HashSet<(Pid, u64)> = HashSet::new();
    loop {
        let found = family(root, spared);
        let new: Vec<_> = found
            .iter()
            .filter(|(pid, stat)| stat.is_alive() && !stopped.contains(&(*pid, stat.start_ticks)))
            .collect();
        if new.is_empty() || Instant::now() > give_up {
            break;
        }
        for (pid, stat) in new {
            tell(*pid, libc::SIGSTOP)?;
            stopped.insert((*pid, stat.start_ticks));
        }
    }
    loop {
        let living = descendants(root, spared);
        if living.is_empty() {
            return Ok(at_first);
        }
        if Instant::now() > give_up {
            let call = format!("kill(process {}, signal {})", living[0], libc::SIGKILL);
            return Err(Error::new(call, libc::EBUSY));
        }
        for pid in living {
            tell(pid, libc::SIGKILL)?;
        }
        // The dead take a moment: gigabytes are unmapped first.
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Reaps the children of this process that have ended, but those `spared`. An orphan's parent may reap it
/// first, and new orphans come when their parents are reaped: until there are none.
///
/// # Errors
/// As [`crate::task::try_wait`].
pub fn reap_adopted(spared: &[Pid]) -> Result<()> {
    loop {
        let mut any = false;
        for child in super::adopted_children(spared) {
            any |= crate::task::try_wait(child)?.is_some();
        }
        if !any {
            return Ok(());
        }
    }
}

/// Sends a signal to a process that may be gone by now.
fn tell(pid: Pid, signal: i32) -> Result<()> {
    match kill(pid, signal) {
        Err(error) if error.errno() == Some(libc::ESRCH) => Ok(()),
        sent => sent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{adopted_children, become_subreaper, pid};
    use crate::task;
    use crate::testing::in_child;
    use std::process::{Command, Stdio};

    fn shell(script: &str) -> std::process::Child {
        Command::new("/bin/sh").args(["-c", script]).stdin(Stdio::null()).spawn().unwrap()
    }

    fn until(what: &str, mut holds: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !holds() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn both_ways_find_children_and_theirs_and_no_others() {
        in_child(|| {
            become_subreaper().unwrap();
            let spared = shell("sleep 60 & exec sleep 60").id() as Pid;
            let mut child = shell("sleep 60 & setsid sleep 60 & exec sleep 60");
            until("five", || descendants(pid(), &[]).len() == 5);
            until("three", || descendants(pid(), &[spared]).len() == 3);
            let mut both =
                [listed(pid(), &[spared]), Some(scanned(pid(), &[spared]))].map(|found| {
                    found.unwrap_or_default().iter().map(|(pid, _)| *pid).collect::<Vec<_>>()
                });
            both.iter_mut().for_each(|pids| pids.sort_unstable());
            assert_eq!(both[0], both[1]);
            assert_eq!(both[0].len(), 3);
            assert_eq!(kill_descendants(pid(), &[], Duration::from_secs(20)), Ok(5));
            child.wait().unwrap();
        });
    }

    #[test]
    fn who_starts_processes_without_end_and_ignores_signals_ends_all_the_same() {
        in_child(|| {
            become_subreaper().unwrap();
            // Each starts another in a session of its own and ends: none of them lives for long.
            let script = "trap '' TERM INT; step() { (setsid sh -c \"$1\" x \"$1\" &); }; \
                          step 'trap \"\" TERM; sleep 0.01; (setsid sh -c \"$1\" x \"$1\" &)'; \
                          sleep 60";
            for _ in 0..4 {
                drop(shell(script));
            }
            until("some", || descendants(pid(), &[]).len() > 8);
            kill_descendants(pid(), &[], Duration::from_secs(60)).unwrap();
            for orphan in adopted_children(&[]) {
                task::wait(orphan).unwrap();
            }
            assert_eq!(adopted_children(&[]), []);
        });
    }
}
