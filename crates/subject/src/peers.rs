//! Programs that work for the one that is looked at, such as the server that it talks to: the CPU time that they
//! use meanwhile is no neighbour's.

use model::Peer;
use std::collections::{BTreeMap, HashMap};
use sys::proc::last_given;
use sys::task::Pid;

/// The most processes whose CPU time is read.
const PROCESSES_MAX: usize = 1024;

/// The CPU time of such processes since they were found.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    /// Process IDs and names that the user asked for.
    asked: Vec<String>,
    /// The ticks since the boot when this began.
    began_ticks: u64,
    last_given: Option<String>,
    known: HashMap<Pid, Known>,
}

#[derive(Debug)]
struct Known {
    name: String,
    before_ns: u64,
    now_ns: u64,
}

impl Peers {
    /// Begins with processes by their IDs, each with its descendants, and by their names.
    pub(crate) fn new(asked: &[String]) -> Self {
        let now_ns = sys::clock::now_ns() + sys::clock::suspended_ns();
        let began_ticks = now_ns / sys::proc::tick_ns().max(1);
        let mut peers = Peers { asked: asked.to_vec(), began_ticks, ..Peers::default() };
        peers.read(&[]);
        peers
    }

    /// Adds a process. What it has used before counts if it began later than this.
    pub(crate) fn add(&mut self, pid: Pid) {
        if self.known.len() >= PROCESSES_MAX || self.known.contains_key(&pid) {
            return;
        }
        let (Some(stat), Some(now_ns)) = (sys::proc::stat(pid), sys::clock::process_cpu_ns_of(pid))
        else {
            return;
        };
        let is_new = stat.start_ticks > self.began_ticks;
        let before_ns = if is_new { 0 } else { now_ns };
        self.known.insert(pid, Known { name: stat.name, before_ns, now_ns });
    }

    /// Reads their CPU time, and looks for new ones where the kernel has made processes. That of `family` is the
    /// program's already.
    pub(crate) fn read(&mut self, family: &[Pid]) {
        let given = if self.asked.is_empty() { None } else { last_given() };
        if given != self.last_given {
            self.last_given = given;
            let found: Vec<Pid> = self.asked.iter().flat_map(|asked| found(asked)).collect();
            found.into_iter().for_each(|pid| self.add(pid));
        }
        self.known.retain(|pid, _| !family.contains(pid));
        for (pid, known) in &mut self.known {
            // Of one that has ended, what was read last is known.
            if let Some(now_ns) = sys::clock::process_cpu_ns_of(*pid) {
                known.now_ns = known.now_ns.max(now_ns);
            }
        }
    }

    /// Returns the processes.
    pub(crate) fn pids(&self) -> impl Iterator<Item = Pid> {
        self.known.keys().copied()
    }

    /// Returns their CPU time by their names.
    pub(crate) fn listed(&self) -> Vec<Peer> {
        let mut all: BTreeMap<&str, u64> = BTreeMap::new();
        for known in self.known.values() {
            *all.entry(&known.name).or_default() += known.now_ns - known.before_ns;
        }
        all.into_iter().map(|(name, cpu_ns)| Peer { name: name.into(), cpu_ns }).collect()
    }
}

/// Returns the process of an ID with its descendants, or those of a name; none where there are none. This process
/// is none of them.
pub fn found(asked: &str) -> Vec<Pid> {
    let own = sys::process::pid();
    let mut all: Vec<Pid> = match asked.parse() {
        Ok(pid) if sys::proc::stat(pid).is_some() => {
            let family = sys::process::family(pid, &[own]);
            std::iter::once(pid).chain(family.into_iter().map(|(pid, _)| pid)).collect()
        }
        Ok(_) => Vec::new(),
        Err(_) => {
            let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
            let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
            let is_named = |pid: &Pid| sys::proc::thread_name(*pid, *pid).as_deref() == Some(asked);
            pids.filter(is_named).collect()
        }
    };
    all.retain(|pid| *pid != own);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    /// A child that ends with its test, however that ends.
    struct Ended(Child);

    impl Drop for Ended {
        fn drop(&mut self) {
            _ = self.0.kill();
            _ = self.0.wait();
        }
    }

    #[test]
    fn a_process_is_found_by_its_number_and_its_name_and_its_cpu_time_counts() {
        let mut command = Command::new("sh");
        command.args(["-c", "read line; while :; do :; done"]).stdin(std::process::Stdio::piped());
        let mut child = Ended(command.spawn().unwrap());
        let pid = child.0.id() as Pid;
        // Until the kernel has set its name inside exec it has its parent's.
        let begun = std::time::Instant::now();
        while sys::proc::thread_name(pid, pid).as_deref() != Some("sh") {
            assert!(begun.elapsed().as_secs() < 20);
            std::thread::yield_now();
        }
        assert!(found("sh").contains(&pid));
        assert_eq!(found(&pid.to_string()), [pid]);
        assert_eq!(found("no such program"), Vec::<Pid>::new());
        let mut peers = Peers::new(&[pid.to_string()]);
        drop(child.0.stdin.take());
        let begun = std::time::Instant::now();
        let used = loop {
            peers.read(&[]);
            let used = peers.listed();
            if used[0].cpu_ns > 0 {
                break used;
            }
            assert!(begun.elapsed().as_secs() < 20);
        };
        drop(child);
        // What it used before it ended is kept.
        peers.read(&[]);
        assert!(peers.listed()[0].cpu_ns >= used[0].cpu_ns);
        peers.read(&[pid]);
        assert_eq!(peers.listed(), Vec::new());
    }
}
