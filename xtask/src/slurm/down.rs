//! Stops a cluster and leaves nothing of it: no process, cgroup, network, socket or folder.

use super::up::HEADING;
use super::{BRIDGE, RUN_FOLDER, conf, owner, program};
use crate::shell::{Run, command, remove};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long processes may take to end when they are asked to.
const PATIENCE: Duration = Duration::from_secs(10);

/// Takes down the cluster of a folder, whatever is left of it, and removes the folder.
///
/// # Errors
/// If the folder is of no cluster, or something is still there afterwards: what.
pub(crate) fn down(dir: &Path) -> Result<()> {
    let dir = std::path::absolute(dir).context("cannot make sense of the folder's path")?;
    let text = fs::read_to_string(conf(&dir)).unwrap_or_default();
    // Somebody may have removed the folder under the cluster.
    let known = text.starts_with(HEADING) || owner().is_some_and(|own| own == dir);
    ensure!(known, "{} is the folder of no cluster", dir.display());
    if let Some(other) = owner().filter(|other| *other != dir) {
        // What there is one of is that one's.
        bail!("the cluster that is up is of {}: this one is down", other.display());
    }
    // Jobs first, so that the daemons that know them end them.
    let _ = program("scancel --user root", &dir).read();
    until(PATIENCE / 2, || in_cgroups().is_empty());
    // What a daemon has left behind, then the daemons, then what holds their networks.
    kill("-KILL", &in_cgroups());
    for last in [false, true] {
        let own = || -> Vec<u32> {
            let mut all = processes(&dir);
            all.retain(|(_, name)| (name == "tail") == last);
            all.into_iter().map(|(pid, _)| pid).collect()
        };
        kill("-TERM", &own());
        if !until(PATIENCE, || own().is_empty()) {
            kill("-KILL", &own());
            until(PATIENCE, || own().is_empty());
        }
    }
    let _ = program("ip link del", &dir).arg(BRIDGE).read();
    remove_cgroups();
    let _ = remove(Path::new(RUN_FOLDER));
    let left = left(&dir);
    ensure!(left.is_empty(), "something of the cluster is left: {}", left.join(", "));
    remove(&dir)?;
    println!("down: nothing is left");
    Ok(())
}

/// Whatever should not be there any more, in words.
fn left(dir: &Path) -> Vec<String> {
    let mut left: Vec<String> =
        processes(dir).into_iter().map(|(pid, name)| format!("process {pid} ({name})")).collect();
    left.extend(in_cgroups().iter().map(|pid| format!("process {pid} of a job")));
    left.extend(cgroups().iter().map(|path| path.display().to_string()));
    let network = Path::new("/sys/class/net").join(BRIDGE);
    let others = [network, PathBuf::from(RUN_FOLDER)];
    left.extend(others.iter().filter(|path| path.exists()).map(|path| path.display().to_string()));
    left
}

/// Processes that were started with the folder or the socket among their words, with their names. Their
/// own words tell them from everybody else's, whatever has become of their pid files.
fn processes(dir: &Path) -> Vec<(u32, String)> {
    let dir = format!("{}/", dir.display());
    let names = ["munged", "slurmctld", "slurmd", "tail"];
    let found = pids().into_iter().filter_map(|pid| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
        let own = line.contains(&dir) || line.contains(RUN_FOLDER);
        let name = Path::new(line.split('\0').next()?).file_name()?.to_str()?.to_string();
        (own && names.contains(&name.as_str())).then_some((pid, name))
    });
    found.collect()
}

fn pids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The cgroups of the nodes, the innermost first.
fn cgroups() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let root = Path::new("/sys/fs/cgroup");
    let tops = children(root).into_iter().chain([root.to_path_buf(), root.join("system.slice")]);
    for group in tops.flat_map(|top| children(&top)).filter(|group| is_of_node(group)) {
        collect(&group, &mut found);
    }
    found
}

/// `slurm_m1` in version 1, `m1_slurmstepd.scope` in version 2.
fn is_of_node(group: &Path) -> bool {
    let name = group.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let node = name.strip_prefix("slurm_").or_else(|| name.strip_suffix("_slurmstepd.scope"));
    node.and_then(|node| node.strip_prefix('m')?.parse().ok())
        .is_some_and(|number: u32| (1..=super::NODES_MAX).contains(&number))
}

fn collect(group: &Path, found: &mut Vec<PathBuf>) {
    children(group).iter().for_each(|child| collect(child, found));
    found.push(group.to_path_buf());
}

fn children(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir() && !path.is_symlink()).collect()
}

/// The processes of jobs.
fn in_cgroups() -> Vec<u32> {
    let mut all: Vec<u32> = cgroups()
        .iter()
        .filter_map(|group| fs::read_to_string(group.join("cgroup.procs")).ok())
        .flat_map(|text| text.lines().filter_map(|line| line.parse().ok()).collect::<Vec<u32>>())
        .filter(|pid| !is_daemon(*pid))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A slurmd may stand in a cgroup of its own.
fn is_daemon(pid: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim() == "slurmd"
}

fn remove_cgroups() {
    until(PATIENCE / 5, || {
        for group in cgroups() {
            // One that is still in use says so by being there afterwards.
            let _ = fs::remove_dir(group);
        }
        cgroups().is_empty()
    });
}

fn kill(signal: &str, pids: &[u32]) {
    if !pids.is_empty() {
        // One that has ended meanwhile is no error.
        command("kill").arg(signal).args(pids.iter().map(u32::to_string)).works();
    }
}

/// Whether it came to be so within that time.
pub(super) fn until(patience: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + patience;
    while !holds() {
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    true
}
