//! The names of our cgroups, by which those of dead runners are found and removed.
//!
//! A runner removes its groups, or its guard does. Where both were killed the groups stay, empty, until
//! the machine restarts; the next runner in the same group sweeps them away.

use std::path::Path;
use sys::cgroup::Cgroup;
use sys::task::Pid;

const PREFIX: &str = "scruple";

/// Where the groups of runners lie: below their own groups of these controllers.
const CONTROLLERS: [&str; 2] = ["cpu", "memory"];

/// The name of a cgroup of this process: `scruple-PURPOSE-NAMESPACE-START-PID`.
///
/// A number of a process is given out again, and is another's in another PID namespace; with its
/// namespace and the moment at which it started it is not.
pub fn group_name(purpose: &str) -> String {
    let pid = sys::process::pid();
    let start = start_ticks(pid).unwrap_or(0);
    format!("{PREFIX}-{purpose}-{}-{start}-{pid}", namespace())
}

/// Removes what dead runners left in the groups that this process is in.
pub(crate) fn sweep() {
    for own in CONTROLLERS.iter().filter_map(|one| Cgroup::own(one).ok()) {
        sweep_below(&own);
    }
}

fn sweep_below(own: &Cgroup) {
    for group in own.descendants() {
        // One that somebody is in is somebody's.
        if is_left(group.path()) && group.is_deserted() {
            let _ = group.remove();
        }
    }
}

/// Whether a group has a name of ours and nobody can be at work with it: the process of that number in
/// our namespace is gone, or started at another time.
fn is_left(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let parts: Vec<&str> = name.split('-').collect();
    let [PREFIX, _purpose, of, start, pid] = parts[..] else { return false };
    let (Ok(start), Ok(pid)) = (start.parse::<u64>(), pid.parse::<Pid>()) else { return false };
    of == namespace() && start_ticks(pid) != Some(start)
}

/// When a process started, in ticks since the boot; `None` where there is none of that number.
fn start_ticks(pid: Pid) -> Option<u64> {
    sys::proc::stat(pid).map(|stat| stat.start_ticks)
}

/// Our PID namespace, as the kernel numbers it.
fn namespace() -> String {
    let link = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.to_string_lossy().chars().filter(char::is_ascii_digit).collect()
}

#[cfg(test)]
mod tests {
    use super::{group_name, is_left, namespace, start_ticks, sweep_below};
    use std::path::Path;
    use sys::cgroup::Cgroup;

    #[test]
    fn the_dead_and_their_successors_are_told_from_the_living() {
        let pid = sys::process::pid();
        let (own, start) = (namespace(), start_ticks(pid).unwrap());
        let left = |name: &str| is_left(Path::new("/somewhere").join(name).as_path());
        assert!(!own.is_empty());
        assert!(!left(&group_name("memory")), "mine");
        // A number that was given out again.
        assert!(left(&format!("scruple-memory-{own}-{}-{pid}", start + 1)));
        // Nobody's: the kernel gives no number so large.
        assert!(left(&format!("scruple-cpu-{own}-{start}-{}", i32::MAX)));
        // Not ours to judge.
        assert!(!left(&format!("scruple-cpu-1-{start}-{}", i32::MAX)), "another namespace");
        for name in ["scruple-cpu-7", "scruple", "other-cpu-1-2-3", "scruple-a-b-c-d", ""] {
            assert!(!left(name), "{name:?}");
        }
    }

    #[test]
    fn a_sweep_removes_what_is_left_and_empty() {
        let name = group_name("test");
        let Ok(top) = Cgroup::create("cpu", &name).map(Cgroup::guarded) else {
            println!("skipped: no cgroup can be made here");
            return;
        };
        let (top, own) = (top.group().clone(), namespace());
        let dead = format!("scruple-memory-{own}-1-{}", i32::MAX);
        let used = format!("scruple-quota-{own}-1-{}", i32::MAX);
        for group in [dead.as_str(), &used, &group_name("mine"), "somebody-elses"] {
            top.child(group).unwrap();
        }
        // What a trial had made in it is also removed.
        Cgroup::at(&top.path().join(&dead)).child("crew").unwrap();
        let child = sys::task::fork_run(|| {
            sys::clock::sleep_ns(60_000_000_000);
            0
        })
        .unwrap();
        Cgroup::at(&top.path().join(&used)).add(child).unwrap();
        sweep_below(&top);
        let there = |name: &str| top.path().join(name).exists();
        assert!(!there(&dead), "what is left is still there");
        assert!(there(&used) && there(&group_name("mine")) && there("somebody-elses"));
        sys::process::kill(child, sys::signal::SIGKILL).unwrap();
        sys::task::wait(child).unwrap();
        sweep_below(&top);
        assert!(!there(&used));
        top.remove_children().unwrap();
        top.remove().unwrap();
    }
}
