//! `scruple fleet` on a scheduler of a few lines of shell (tests/fake_slurm): what is submitted, what
//! becomes of nodes that fail, what is taken and what is not.

use crate::support;
use crate::support::{eventually, interruptible, said, scruple, stored_trials};
use model::{FleetResult, NodeStanding};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A cluster of three idle nodes, and a folder for a fleet.
pub(crate) struct Cluster {
    pub(crate) dir: tempfile::TempDir,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("fake")).unwrap();
        fs::write(dir.path().join("fake/nodes"), "m1|idle|ssd\nm2|idle|ssd\nm3|idle|(null)\n")
            .unwrap();
        Cluster { dir }
    }

    pub(crate) fn fake(&self, name: &str) -> PathBuf {
        self.dir.path().join("fake").join(name)
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.dir.path().join("fleet")
    }

    /// What becomes of a node's jobs, one word per job.
    pub(crate) fn mode(&self, node: &str, modes: &[&str]) {
        fs::write(self.fake(&format!("mode.{node}")), modes.join("\n") + "\n").unwrap();
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = scruple();
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
        let fakes = [tests.join("fake_slurm")];
        let path = std::env::var_os("PATH").unwrap();
        let all = fakes.into_iter().chain(std::env::split_paths(&path));
        command
            .current_dir(self.dir.path())
            .env("PATH", std::env::join_paths(all).unwrap())
            .env("FLEET_FAKE", self.dir.path().join("fake"))
            .arg("fleet");
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Command {
        let mut command = self.command();
        command.args(["run", "null", "--profile", "smoke", "--seed", "7", "--no-shield"]);
        command.arg("--folder").arg(self.folder()).args(words);
        command
    }

    pub(crate) fn on_folder(&self, what: &str, words: &[&str]) -> Output {
        self.command().arg(what).arg(self.folder()).args(words).output().unwrap()
    }

    /// What a job of Slurm would start.
    fn node(&self, job: &str, restart: Option<&str>) -> Command {
        let mut command = self.command();
        command.arg("node").arg(self.folder()).args(["--node", "m1"]).env("SLURM_JOB_ID", job);
        restart.map(|restart| command.env("SLURM_RESTART_COUNT", restart));
        command
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.fake("calls")).unwrap_or_default()
    }

    fn submissions(&self) -> usize {
        self.calls().lines().filter(|line| line.starts_with("sbatch ")).count()
    }

    /// Whether who began the fleet knows of a job of it that is in line.
    fn is_waited_for(&self) -> bool {
        fs::read_to_string(self.folder().join("fleet.json")).is_ok_and(|it| it.contains("PENDING"))
    }

    fn result(&self) -> FleetResult {
        serde_json::from_slice(&fs::read(self.folder().join("result.json")).unwrap()).unwrap()
    }
}

fn standings(result: &FleetResult) -> Vec<NodeStanding> {
    result.nodes.iter().map(|node| node.standing).collect()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

use NodeStanding::{Complete, Failed, Lost, Refused, Waiting};

#[test]
fn three_nodes_measure_one_plan_and_are_held_against_each_other() {
    let cluster = Cluster::new();
    // What users set for their own eyes, and what a surrounding job sets.
    let output =
        cluster.run(&["--nodes", "3", "--constraint", "ssd|(null)", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let output = cluster
        .run(&["--nodes", "3", "--partition", "bench", "--json"])
        .envs([("SQUEUE_FORMAT", "%u"), ("SQUEUE_SORT", "x"), ("SLURM_TIME_FORMAT", "x")])
        .envs([("SLURM_JOB_ID", "999"), ("SLURM_RESTART_COUNT", "7"), ("SBATCH_WAIT", "1")])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let printed: FleetResult = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, cluster.result());
    assert_eq!(standings(&printed), [Complete; 3]);
    assert!(printed.complete);
    assert_eq!(printed.same_machine, [["m1", "m2", "m3"]]);
    let comparison = printed.comparison.unwrap();
    assert_eq!(comparison.sides.len(), 3);
    assert!(comparison.experiments[0].rows.iter().all(|row| row.values.len() == 3));
    // The same order everywhere, each trial once.
    let trials = |node: &str| stored_trials(&cluster.folder().join(node));
    assert_eq!(trials("m1.1.0"), trials("m2.2.0"));
    support::assert_no_doubles(&trials("m3.3.0"));
    assert!(!trials("m1.1.0").is_empty());
    let page = fs::read_to_string(cluster.folder().join("report.html")).unwrap();
    for part in ["All 3 nodes measured the plan.", "are one machine", "compared with A"] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(fs::read_dir(cluster.folder().join(".partial")).unwrap().count(), 0);
    // A fleet is a side, its nodes the sessions of it.
    let folder = cluster.folder();
    let compared = scruple().arg("compare").arg(&folder).arg(&folder).output().unwrap();
    assert_eq!(compared.status.code(), Some(0), "{}", said(&compared));
    // Any quantity of a fleet, node by node, with the numbers of each node's own report.
    let quantity = "null.pass_ns[b, kernel] / null.pass_ns[a, kernel]";
    let asked = scruple().arg("ask").arg(&folder).args([quantity, "--json"]).output().unwrap();
    let answers: Vec<model::Asked> = serde_json::from_slice(&asked.stdout).unwrap();
    assert_eq!(answers.len(), 3, "{}", said(&asked));
    for (node, answer) in ["m1.1.0", "m2.2.0", "m3.3.0"].iter().zip(&answers) {
        let stored = store::open(&folder.join(node)).unwrap();
        let summary = support::summarised(&stored);
        let findings = summary.experiments[0].findings.iter().map(|finding| &finding.result);
        let reported: Vec<_> =
            findings.filter(|it| it.quantity == answer.result.quantity).collect();
        assert_eq!(answer.session, stored.manifest.session);
        assert_eq!(reported.len(), 1);
        assert!(answer.result.estimate.is_some(), "{node}");
        assert_eq!(reported[0].estimate, answer.result.estimate, "{node}");
    }
}

#[test]
fn what_is_submitted_are_arguments_and_a_script_that_holds_no_text_of_the_users() {
    let cluster = Cluster::new();
    let words = ["--nodelist", "m[1-2]", "--partition", "a,b", "--constraint", "ssd&big"];
    let more = ["--time", "2h", "--no-wait"];
    let output = cluster.run(&[words.as_slice(), more.as_slice()].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(cluster.submissions(), 2);
    let calls = cluster.calls();
    for part in [
        "--parsable --exclusive --nodes=1 --mem=0 --open-mode=append --requeue --export=NIL",
        "--nodelist=m2",
        "--partition=a,b --constraint=ssd&big",
        "--time=120 ",
        "/fleet/job.sh /",
        " fleet node /",
    ] {
        assert!(calls.contains(part), "{part}: {calls}");
    }
    let script = fs::read_to_string(cluster.folder().join("job.sh")).unwrap();
    assert!(script.ends_with("\nexec \"$@\"\n"));
    assert!(!["null", "ssd", "m1", "tmp"].iter().any(|word| script.contains(word)), "{script}");
    eventually("both end", || cluster.on_folder("status", &[]).status.code() == Some(0));
}

#[test]
fn a_hostile_name_is_an_error_before_anything_is_made_or_submitted() {
    let hostile = "x; rm -rf ~";
    for (option, value) in [
        ("--partition", hostile),
        ("--partition", "--wrap=id"),
        ("--constraint", "$(id)"),
        ("--nodelist", "m1;id"),
        ("--nodelist", "-m1"),
        ("--folder", "/tmp/a b"),
        ("--folder", "/tmp/%j"),
        ("--binary", "relative"),
        ("--binary", "/bin/sh -c id"),
    ] {
        let cluster = Cluster::new();
        let argument = format!("{option}={value}");
        let mut command = cluster.command();
        command.args(["run", "null", "--profile", "smoke", &argument]);
        if option != "--nodelist" {
            command.args(["--nodes", "1"]);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{argument}: {}", said(&output));
        assert!(stderr(&output).contains(option), "{argument}: {}", said(&output));
        assert_eq!(stderr(&output).lines().count(), 1, "{}", said(&output));
        assert!(!cluster.folder().exists() && !cluster.dir.path().join("scruple-fleets").exists());
        assert_eq!(cluster.calls(), "", "{argument}");
    }
}

#[test]
fn a_wrong_plan_is_an_error_here_and_not_on_the_nodes() {
    let cluster = Cluster::new();
    let error = |words: &[&str]| {
        let output = cluster.command().arg("run").args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        stderr(&output)
    };
    assert!(error(&["nul", "--nodes", "1"]).contains("no experiment or preset is named"));
    assert!(error(&["null"]).contains("--nodes"));
    assert!(error(&["null", "--nodes", "1", "--runs", "5"]).contains("--time"));
    assert!(
        error(&["null", "--nodes", "1", "--time", "1m", "--time-budget", "1h"]).contains("--time")
    );
    assert!(error(&["null", "--nodes", "1", "--affinity", "x"]).contains("--affinity"));
    assert!(error(&["null", "--nodes", "9", "--profile", "smoke"]).contains("3 could be used now"));
    assert!(error(&["null", "--hosts", "a"]).contains("--gather"));
    assert!(error(&["null", "--nodes", "1", "--account", "a"]).contains("SBATCH_ACCOUNT"));
    assert_eq!(cluster.submissions(), 0);
    fs::create_dir(cluster.folder()).unwrap();
    fs::write(cluster.folder().join("mine"), "").unwrap();
    let output = cluster.run(&["--nodes", "1"]).output().unwrap();
    assert!(stderr(&output).contains("it is not empty"), "{}", said(&output));
    let none = cluster.on_folder("status", &[]);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("holds no fleet"), "{}", said(&none));
}

#[test]
fn what_the_scheduler_refuses_is_told_in_its_words() {
    let cluster = Cluster::new();
    fs::write(cluster.fake("refuse"), "0").unwrap();
    let output = cluster.run(&["--nodes", "2"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let told = stderr(&output);
    assert!(
        told.contains("nothing was submitted: sbatch: ") && told.contains("invalid partition"),
        "{told}"
    );
    let mut command = cluster.run(&["--nodes", "2"]);
    let nowhere = command.env("PATH", "/nowhere").output().unwrap();
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(stderr(&nowhere).contains("sinfo: there is no such program"), "{}", said(&nowhere));
}

#[test]
fn what_was_submitted_before_the_scheduler_refused_is_not_forgotten() {
    let cluster = Cluster::new();
    fs::write(cluster.fake("refuse"), "2").unwrap();
    let output = cluster.run(&["--nodes", "3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let told = stderr(&output);
    assert!(
        told.contains("2 of 3 jobs were submitted (to end them: scruple fleet cancel"),
        "{told}"
    );
    fs::remove_file(cluster.fake("refuse")).unwrap();
    let completed = cluster.on_folder("collect", &["--complete"]);
    assert_eq!(completed.status.code(), Some(0), "{}", said(&completed));
    assert_eq!(cluster.submissions(), 4, "two, the refused one, and that again");
    assert!(cluster.result().nodes.iter().all(|node| node.attempts == 1));
}

#[test]
fn a_node_that_fails_is_tried_again_and_so_it_is_said() {
    let cluster = Cluster::new();
    cluster.mode("m2", &["node_fail"]);
    let output = cluster.run(&["--nodes", "3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        stderr(&output).contains("m2: lost (NODE_FAIL); submitted again, 1 of 1"),
        "{}",
        said(&output)
    );
    assert_eq!((cluster.submissions(), cluster.result().nodes[1].attempts), (4, 2));
}

#[test]
fn a_lost_node_is_marked_and_completed_by_one_command_that_submits_nothing_else() {
    let cluster = Cluster::new();
    cluster.mode("m2", &["node_fail", "node_fail"]);
    let output = cluster.run(&["--nodes", "3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(stderr(&output).contains("--complete"), "{}", said(&output));
    assert_eq!(standings(&cluster.result()), [Complete, Lost, Complete]);
    assert_eq!(cluster.result().comparison.unwrap().sides.len(), 2);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("2 of 3 nodes measured the plan")
            && text.contains("m2")
            && text.contains("✗ node lost"),
        "{text}"
    );
    assert_eq!(cluster.submissions(), 4);
    let completed = cluster.on_folder("collect", &["--complete"]);
    assert_eq!(completed.status.code(), Some(0), "{}", said(&completed));
    assert_eq!(cluster.submissions(), 5);
    assert_eq!(standings(&cluster.result()), [Complete; 3]);
    assert_eq!(cluster.result().nodes[1].session.as_deref(), Some("m2.5.0"));
    let again = cluster.on_folder("collect", &["--complete"]);
    assert_eq!((again.status.code(), cluster.submissions()), (Some(0), 5), "{}", said(&again));
}

#[test]
fn a_job_that_fails_by_itself_is_not_tried_again_and_its_last_words_are_told() {
    let cluster = Cluster::new();
    cluster.mode("m1", &["fail"]);
    cluster.mode("m3", &["empty"]);
    let output = cluster.run(&["--nodes", "3", "--retries", "5"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert_eq!(cluster.submissions(), 3);
    let result = cluster.result();
    assert_eq!(standings(&result), [Failed, Complete, Failed]);
    assert!(result.comparison.is_none(), "one side is no comparison");
    assert_eq!(result.nodes[0].reason, "failed (FAILED: NonZeroExitCode)");
    assert!(result.nodes[0].doubts[0].ends_with("error: it went wrong"), "{:?}", result.nodes[0]);
    assert_eq!(result.nodes[2].reason, "ended without a session");
}

#[test]
fn a_node_that_is_away_is_not_waited_for_for_ever() {
    let cluster = Cluster::new();
    cluster.mode("m3", &["pending"]);
    // What is said of it is read whatever the user's own squeue prints.
    let mut command = cluster.run(&["--nodes", "3", "--node-wait", "1s"]);
    let output = command.env("SQUEUE_FORMAT", "%u").env("SQUEUE_SORT", "u").output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert_eq!(standings(&cluster.result()), [Complete, Complete, Waiting]);
    assert!(cluster.result().nodes[2].reason.contains("ReqNodeNotAvail"));
    // It is in line still: nothing is submitted again.
    let again = cluster.on_folder("collect", &["--complete", "--node-wait", "1s"]);
    assert_eq!((again.status.code(), cluster.submissions()), (Some(3), 3), "{}", said(&again));
    let cancelled = cluster.on_folder("cancel", &[]);
    assert!(stderr(&cancelled).contains("cancelled: 3"), "{}", said(&cancelled));
    assert_eq!(cluster.on_folder("cancel", &[]).status.code(), Some(0));
    let status = cluster.on_folder("status", &["--json"]);
    assert_eq!(status.status.code(), Some(3));
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["nodes"][2]["state"], "CANCELLED");
    // Now there is something to submit, and the node is back.
    let completed = cluster.on_folder("collect", &["--complete"]);
    assert_eq!(
        (completed.status.code(), cluster.submissions()),
        (Some(0), 4),
        "{}",
        said(&completed)
    );
}

#[test]
fn an_interrupt_leaves_the_jobs() {
    let cluster = Cluster::new();
    cluster.mode("m1", &["pending"]);
    let child = interruptible(&mut cluster.run(&["--nodes", "1"]));
    eventually("it is waited for", || cluster.is_waited_for());
    sys::process::kill(child.id() as i32, sys::signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let printed = stderr(&output);
    assert!(printed.contains("interrupted") && printed.contains("fleet cancel"), "{printed}");
    assert!(!cluster.calls().contains("scancel"), "{}", cluster.calls());
}

#[test]
fn two_do_not_look_after_one_fleet_and_looking_is_always_allowed() {
    let cluster = Cluster::new();
    cluster.mode("m1", &["pending"]);
    let mut command = cluster.run(&["--nodes", "1"]);
    let child = interruptible(&mut command);
    eventually("it is waited for", || cluster.is_waited_for());
    let second = cluster.on_folder("collect", &["--complete"]);
    assert_eq!(second.status.code(), Some(2), "{}", said(&second));
    assert!(stderr(&second).contains("another scruple looks after this fleet"));
    assert_eq!(cluster.on_folder("status", &[]).status.code(), Some(3));
    // From another shell; the one that waits sees it and ends.
    assert_eq!(cluster.on_folder("cancel", &[]).status.code(), Some(0));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert_eq!(standings(&cluster.result()), [Failed]);
    assert_eq!(cluster.submissions(), 1, "what was cancelled is not tried again");
}

#[test]
fn a_scheduler_that_does_not_answer_for_a_while_is_asked_again() {
    let cluster = Cluster::new();
    fs::write(cluster.fake("silent"), "").unwrap();
    let mut command = cluster.run(&["--nodes", "1"]);
    let child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    eventually("its session is there", || cluster.folder().join("m1.1.0").exists());
    fs::remove_file(cluster.fake("silent")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(stderr(&output).contains("Unable to contact slurm controller"), "{}", said(&output));
}

#[test]
fn an_orphan_does_not_spoil_the_attempt_after_it() {
    let cluster = Cluster::new();
    cluster.mode("m1", &["pending"]);
    let begun = cluster.run(&["--nodelist", "m1", "--no-wait"]).output().unwrap();
    assert_eq!(begun.status.code(), Some(0), "{}", said(&begun));
    // The first attempt is cut off, and something of it goes on writing.
    let orphan = cluster.folder().join(".partial/m1.1.0");
    fs::create_dir(&orphan).unwrap();
    fs::write(orphan.join("trials.ndjson"), "half a li").unwrap();
    let lock = fs::File::create(orphan.join("lock")).unwrap();
    lock.lock().unwrap();
    let second = cluster.node("1", Some("1")).output().unwrap();
    assert_eq!(second.status.code(), Some(0), "{}", said(&second));
    fs::write(orphan.join("trials.ndjson"), "half a li, and more").unwrap();
    let collected = cluster.on_folder("collect", &[]);
    assert_eq!(collected.status.code(), Some(0), "{}", said(&collected));
    let node = &cluster.result().nodes[0];
    assert_eq!((node.restart, node.session.as_deref()), (1, Some("m1.1.1")));
    assert!(node.doubts[0].contains("an earlier attempt (m1.1.0) was still at work"), "{node:?}");
    // A third start of the same job finds it done; a late first one, too.
    for restart in [None, Some("1")] {
        let late = cluster.node("1", restart).output().unwrap();
        assert!(
            late.status.success() && stderr(&late).contains("complete already"),
            "{}",
            said(&late)
        );
    }
}

#[test]
fn an_orphan_that_ends_late_keeps_its_session_to_itself() {
    let cluster = Cluster::new();
    cluster.mode("m1", &["pending"]);
    cluster.run(&["--nodelist", "m1", "--no-wait"]).output().unwrap();
    fs::create_dir(cluster.folder().join(".partial/m1.1.1")).unwrap();
    let first = cluster.node("1", None).output().unwrap();
    assert_eq!(first.status.code(), Some(2), "{}", said(&first));
    assert!(stderr(&first).contains("this attempt is an orphan"), "{}", said(&first));
    assert!(!cluster.folder().join("m1.1.0").exists());
    // And a job that is restarted again and again ends.
    let often = cluster.node("1", Some("2")).output().unwrap();
    assert!(
        stderr(&often).contains("was restarted 2 times, and 1 were allowed"),
        "{}",
        said(&often)
    );
    for (name, value) in
        [("SLURM_RESTART_COUNT", "x"), ("SLURM_JOB_ID", "../x"), ("SLURMD_NODENAME", "m2")]
    {
        let wrong = cluster.node("1", None).env(name, value).output().unwrap();
        assert_eq!(wrong.status.code(), Some(2), "{name}: {}", said(&wrong));
    }
}

#[test]
fn a_job_with_one_cpu_of_several_says_so_and_its_session_is_marked() {
    if sys::topology::online().len() < 2 {
        println!("skipped: this machine has one CPU");
        return;
    }
    let cluster = Cluster::new();
    cluster.mode("m1", &["pending"]);
    cluster.run(&["--nodelist", "m1", "--no-wait"]).output().unwrap();
    // As a bare srun would start it.
    let mut node = cluster.node("1", None);
    let mut command = Command::new("taskset");
    command.args(["-c", "0"]).arg(node.get_program()).args(node.get_args());
    for (name, value) in node.get_envs() {
        value.map(|value| command.env(name, value));
    }
    let output = command.output().unwrap();
    assert!(stderr(&output).contains("the job may use 1 of the node's"), "{}", said(&output));
    node.env_clear();
    cluster.on_folder("collect", &[]);
    let result = cluster.result();
    assert_eq!(result.nodes[0].owns_all_cpus, Some(false));
    assert!(result.nodes[0].doubts[0].contains("the job may use 1 of"), "{result:?}");
    let page = fs::read_to_string(cluster.folder().join("report.html")).unwrap();
    assert!(page.contains("not all of the node's"));
}

#[test]
fn what_a_host_says_wrongly_is_not_taken() {
    let cluster = Cluster::new();
    let output = cluster.run(&["--nodes", "3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let refused = |file: &str, from: &str, to: &str, why: &str| {
        let path = cluster.folder().join("m2.2.0").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from} is not in {file}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let output = cluster.on_folder("collect", &[]);
        assert_eq!(output.status.code(), Some(3), "{from}: {}", said(&output));
        let result = cluster.result();
        assert_eq!(standings(&result), [Complete, Refused, Complete]);
        assert!(result.nodes[1].reason.contains(why), "{}", result.nodes[1].reason);
        assert_eq!(result.comparison.unwrap().sides.len(), 2);
        fs::write(&path, text).unwrap();
    };
    refused("node.json", "\"node\": \"m2\"", "\"node\": \"m1\"", "it is of node m1, not m2");
    refused("node.json", "{", "[", "damaged");
    refused("manifest.json", "\"seed\": 7", "\"seed\": 8", "another seed");
    refused("manifest.json", "\"scruple\": \"", "\"scruple\": \"9", "not 0.1");
    refused("manifest.json", "\"profile\": \"smoke\"", "\"profile\": \"quick\"", "another profile");
    refused("manifest.json", "\"question\": \"", "\"question\": \"Or ", "defined differently");
    // A line that is no record is left out, and named.
    let path = cluster.folder().join("m2.2.0/trials.ndjson");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen('{', "", 1)).unwrap();
    let output = cluster.on_folder("collect", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("is no record: line 1"), "{}", said(&output));
    fs::write(&path, text).unwrap();
    // A link into another place is no session.
    let (dir, elsewhere) = (cluster.folder().join("m2.2.0"), cluster.dir.path().join("elsewhere"));
    fs::rename(&dir, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &dir).unwrap();
    let output = cluster.on_folder("collect", &[]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert_eq!(standings(&cluster.result())[1], Failed);
}
