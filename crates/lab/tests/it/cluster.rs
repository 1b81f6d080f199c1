//! `scruple fleet` on a real Slurm: the cluster of virtual nodes that `cargo xtask slurm up` starts.
//!
//! `cargo xtask test` starts one, names its folder in SCRUPLE_CLUSTER, and stops it; where that is not
//! set, nothing is looked at.

use crate::support;
use crate::support::{assert_no_doubles, eventually, said, scruple, stored_trials};
use model::{FleetResult, NodeStanding};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// So many blocks last some seconds, so that a node can be killed in their midst.
const LONG: &str = "60";

struct Cluster {
    dir: PathBuf,
    scratch: tempfile::TempDir,
    /// The sessions' cgroups that were there before.
    groups: BTreeSet<PathBuf>,
}

/// Who kills a session with its guard, as the death of a machine does, leaves its cgroups, which that
/// machine would not have any more.
impl Drop for Cluster {
    fn drop(&mut self) {
        for group in sessions_groups().difference(&self.groups) {
            let name = group.file_name().unwrap_or_default().to_string_lossy();
            let pid = name.rsplit('-').next().unwrap_or_default();
            if !Path::new("/proc").join(pid).exists() {
                // One that is in use stays.
                let _ = fs::remove_dir(group);
            }
        }
    }
}

/// The cgroups of sessions, those within others last.
fn sessions_groups() -> BTreeSet<PathBuf> {
    fn search(dir: &Path, found: &mut BTreeSet<PathBuf>) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name().to_string_lossy().starts_with("scruple-") {
                    found.insert(entry.path());
                }
                search(&entry.path(), found);
            }
        }
    }
    let mut found = BTreeSet::new();
    search(Path::new("/sys/fs/cgroup"), &mut found);
    found
}

impl Cluster {
    /// The cluster, where there is one.
    fn find() -> Option<Self> {
        let Some(dir) = std::env::var_os("SCRUPLE_CLUSTER") else {
            println!("SCRUPLE_CLUSTER names no cluster: not looked at");
            return None;
        };
        Some(Cluster {
            dir: dir.into(),
            scratch: tempfile::tempdir().unwrap(),
            groups: sessions_groups(),
        })
    }

    fn folder(&self) -> PathBuf {
        self.scratch.path().join("fleet")
    }

    fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap();
        command
            .env("SLURM_CONF", self.dir.join("slurm.conf"))
            .env("PATH", path + ":/usr/sbin:/sbin")
            .current_dir(self.scratch.path());
        command
    }

    fn fleet(&self) -> Command {
        let mut command = self.program(&support::binary().display().to_string());
        command.arg("fleet");
        command
    }

    fn run(&self, words: &[&str]) -> Command {
        let mut command = self.fleet();
        command.args(["run", "null", "--profile", "smoke", "--seed", "7", "--no-shield"]);
        command.arg("--folder").arg(self.folder()).args(words);
        command
    }

    fn collect(&self, words: &[&str]) -> Output {
        self.fleet().arg("collect").arg(self.folder()).args(words).output().unwrap()
    }

    fn result(&self) -> FleetResult {
        serde_json::from_slice(&fs::read(self.folder().join("result.json")).unwrap()).unwrap()
    }

    /// Trials that a node's attempt has stored by now.
    fn trials_of(&self, attempt: &str) -> usize {
        let text =
            fs::read_to_string(self.folder().join(".partial").join(attempt).join("trials.ndjson"));
        text.unwrap_or_default().lines().count()
    }

    fn pid(&self, file: &str) -> i32 {
        fs::read_to_string(self.dir.join("state").join(file)).unwrap().trim().parse().unwrap()
    }

    /// Kills a node's slurmd, and nothing else.
    fn kill_slurmd(&self, node: &str) {
        sys::process::kill(self.pid(&format!("slurmd.{node}.pid")), sys::signal::SIGKILL).unwrap();
    }

    /// What the death of a machine does to a job: all of its processes are gone at once.
    fn kill_job(&self, node: &str) {
        for top in fs::read_dir("/sys/fs/cgroup").unwrap().flatten() {
            kill_all_in(&top.path().join(format!("slurm_{node}")));
        }
        kill_all_in(
            &Path::new("/sys/fs/cgroup/system.slice").join(format!("{node}_slurmstepd.scope")),
        );
    }

    /// The node comes back.
    fn revive(&self, node: &str) {
        let holder = self.pid(&format!("holder.{node}.pid")).to_string();
        let mut slurmd = self.program("nsenter");
        slurmd.args(["-t", &holder, "--net", "--uts", "slurmd", "-N", node, "-f"]);
        let output = slurmd.arg(self.dir.join("slurm.conf")).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }

    fn squeue(&self, words: &[&str]) -> String {
        let output = self.program("squeue").arg("-h").args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn wait_until_idle(&self) {
        eventually("all nodes are idle", || {
            let output = self.program("sinfo").args(["-h", "-o", "%T %D"]).output().unwrap();
            String::from_utf8_lossy(&output.stdout).trim() == "idle 3"
        });
    }
}

fn kill_all_in(group: &Path) {
    for entry in fs::read_dir(group).into_iter().flatten().flatten() {
        if entry.file_type().unwrap().is_dir() {
            kill_all_in(&entry.path());
        }
    }
    for pid in fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default().lines() {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        if name.trim() != "slurmd" {
            let _ = sys::process::kill(pid.parse().unwrap(), sys::signal::SIGKILL);
        }
    }
}

fn standings(result: &FleetResult) -> Vec<NodeStanding> {
    result.nodes.iter().map(|node| node.standing).collect()
}

use NodeStanding::{Complete, Lost};

#[test]
fn three_nodes_measure_the_plan_whatever_the_user_has_set() {
    let _alone = support::alone();
    let Some(cluster) = Cluster::find() else { return };
    cluster.wait_until_idle();
    let output = cluster
        .run(&["--nodes", "3"])
        .envs([("SQUEUE_FORMAT", "%u"), ("SQUEUE_SORT", "u"), ("SQUEUE_STATES", "FAILED")])
        .envs([("SINFO_FORMAT", "%u"), ("SBATCH_WAIT", "1"), ("SBATCH_ARRAY_INX", "1-5")])
        .envs([("SLURM_TIME_FORMAT", "relative"), ("SBATCH_OPEN_MODE", "truncate")])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let result = cluster.result();
    assert_eq!(standings(&result), [Complete; 3]);
    assert_eq!(result.same_machine, [["m1", "m2", "m3"]], "virtual nodes are one machine");
    for node in &result.nodes {
        assert_eq!(node.owns_all_cpus, Some(true), "{node:?}");
        assert_eq!(node.host, node.name);
        let session = cluster.folder().join(node.session.as_ref().unwrap());
        assert!(session.join("report.html").exists());
        assert_no_doubles(&stored_trials(&session));
    }
}

#[test]
fn a_hostile_partition_is_refused_before_slurm_hears_of_it_and_an_unknown_one_by_slurm() {
    let _alone = support::alone();
    let Some(cluster) = Cluster::find() else { return };
    let before = cluster.squeue(&["-t", "all", "-o", "%i"]);
    let precious = cluster.scratch.path().join("precious");
    fs::write(&precious, "").unwrap();
    let hostile = format!("x; rm -f {}", precious.display());
    let output = cluster.run(&["--nodelist", "m1", "--partition", &hostile]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(precious.exists() && !cluster.folder().exists());
    let unknown = cluster.run(&["--nodelist", "m1", "--partition", "nowhere"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2), "{}", said(&unknown));
    assert!(
        String::from_utf8_lossy(&unknown.stderr).contains("invalid partition"),
        "{}",
        said(&unknown)
    );
    assert_eq!(cluster.squeue(&["-t", "all", "-o", "%i"]), before);
}

#[test]
fn a_node_that_dies_is_marked_and_after_its_return_completed_by_one_command() {
    let _alone = support::alone();
    let Some(cluster) = Cluster::find() else { return };
    cluster.wait_until_idle();
    let mut command =
        cluster.run(&["--nodes", "3", "--runs", LONG, "--time", "10m", "--node-wait", "2s"]);
    let child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let job = |node: usize| {
        let text = fs::read_to_string(cluster.folder().join("fleet.json")).unwrap();
        let fleet: model::Fleet = serde_json::from_str(&text).unwrap();
        fleet.nodes[node].attempts.last().unwrap().job.clone()
    };
    eventually("it is submitted", || cluster.folder().join(".partial").exists());
    eventually("m2 measures", || {
        let attempts = fs::read_dir(cluster.folder().join(".partial")).unwrap().flatten();
        let own = attempts.map(|it| it.file_name().into_string().unwrap());
        own.into_iter().any(|name| name.starts_with("m2.") && cluster.trials_of(&name) > 3)
    });
    let first = format!("m2.{}.0", job(1));
    cluster.kill_slurmd("m2");
    cluster.kill_job("m2");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert_eq!(standings(&cluster.result()), [Complete, Lost, Complete], "{}", said(&output));
    assert!(cluster.result().nodes[1].trials > 3, "what is left of it is told");
    assert_eq!(cluster.result().comparison.unwrap().sides.len(), 2);
    assert!(cluster.trials_of(&first) > 3);
    cluster.revive("m2");
    let completed = cluster.collect(&["--complete"]);
    assert_eq!(completed.status.code(), Some(0), "{}", said(&completed));
    let result = cluster.result();
    assert_eq!(standings(&result), [Complete; 3]);
    // Either Slurm restarted the job, or another one was submitted: never under the first one's name.
    let session = result.nodes[1].session.clone().unwrap();
    assert_ne!(session, first);
    for node in &result.nodes {
        let trials = stored_trials(&cluster.folder().join(node.session.as_ref().unwrap()));
        assert_no_doubles(&trials);
        assert_eq!(trials.len() as u64, node.trials);
    }
    assert_eq!(result.nodes[0].trials, result.nodes[1].trials);
    // The log of the first attempt is there still.
    let log =
        cluster.folder().join("log").join(format!("m2.{}.txt", first.split('.').nth(1).unwrap()));
    assert!(fs::read_to_string(log).unwrap().contains(&first));
}

#[test]
fn an_orphan_of_the_first_attempt_does_not_spoil_the_second() {
    let _alone = support::alone();
    let Some(cluster) = Cluster::find() else { return };
    cluster.wait_until_idle();
    let begun = cluster
        .run(&[
            "--nodelist",
            "m1",
            "--runs",
            "2000",
            "--time",
            "10m",
            "--time-budget",
            "4m",
            "--no-wait",
        ])
        .output()
        .unwrap();
    assert_eq!(begun.status.code(), Some(0), "{}", said(&begun));
    let job = cluster.squeue(&["-n", &job_name(&cluster), "-o", "%i"]).trim().to_string();
    let (orphan, second) = (format!("m1.{job}.0"), format!("m1.{job}.1"));
    eventually("it measures", || cluster.trials_of(&orphan) > 3);
    // slurmd alone: the job goes on.
    cluster.kill_slurmd("m1");
    eventually("Slurm queues the job again", || {
        cluster.squeue(&["-j", &job, "-o", "%T"]).trim() == "PENDING"
    });
    let before = cluster.trials_of(&orphan);
    eventually("the orphan goes on", || cluster.trials_of(&orphan) > before);
    cluster.revive("m1");
    eventually("the second attempt measures", || cluster.trials_of(&second) > 3);
    let (of_orphan, of_second) = (
        stored_trials(&cluster.folder().join(".partial").join(&orphan)),
        stored_trials(&cluster.folder().join(".partial").join(&second)),
    );
    assert_no_doubles(&of_second);
    assert!(!of_orphan.is_empty());
    assert_eq!(of_orphan[..3], of_second[..3], "the same plan in the same order");
    let status = cluster.fleet().arg("status").arg(cluster.folder()).output().unwrap();
    assert!(String::from_utf8_lossy(&status.stdout).contains("m1  measures"), "{}", said(&status));
    let cancelled = cluster.fleet().arg("cancel").arg(cluster.folder()).output().unwrap();
    assert_eq!(cancelled.status.code(), Some(0), "{}", said(&cancelled));
    eventually("it is cancelled", || {
        cluster.squeue(&["-j", &job, "-t", "running,pending", "-o", "%T"]).is_empty()
    });
    let collected = cluster.collect(&[]);
    assert_eq!(collected.status.code(), Some(3), "{}", said(&collected));
}

#[test]
fn a_bare_srun_gets_one_cpu_and_the_session_says_so() {
    let _alone = support::alone();
    let Some(cluster) = Cluster::find() else { return };
    if sys::topology::online().len() < 2 {
        println!("skipped: this machine has one CPU");
        return;
    }
    cluster.wait_until_idle();
    let begun = cluster.run(&["--nodelist", "m3", "--no-wait"]).output().unwrap();
    assert_eq!(begun.status.code(), Some(0), "{}", said(&begun));
    eventually("the batch step is done", || cluster.collect(&[]).status.code() == Some(0));
    cluster.wait_until_idle();
    let mut srun = cluster.program("srun");
    srun.args(["-N1", "-n1", "--exclusive", "-w", "m3"]).arg(support::binary());
    let output =
        srun.args(["fleet", "node"]).arg(cluster.folder()).args(["--node", "m3"]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("the job may use 1 of"),
        "{}",
        said(&output)
    );
}

fn job_name(cluster: &Cluster) -> String {
    let text = fs::read_to_string(cluster.folder().join("fleet.json")).unwrap();
    let fleet: model::Fleet = serde_json::from_str(&text).unwrap();
    format!("scruple-{}", fleet.fleet)
}

#[test]
fn nothing_here_takes_scruple_for_granted() {
    // So that this file fails rather than finds nothing where the binary is not built.
    assert!(scruple().arg("--version").output().unwrap().status.success());
}
