use super::*;
use model::{FleetAttempt, FleetNode, FleetPlan, FleetRequest, Profile};
use std::os::unix::fs::symlink;

fn fleet(folder: &Path) -> Fleet {
    let node = |name: &str| FleetNode {
        name: name.into(),
        attempts: vec![FleetAttempt {
            job: "4".into(),
            submitted_unix_ms: 1,
            state: String::new(),
        }],
    };
    Fleet {
        format: FLEET_FORMAT,
        scruple: "0".into(),
        fleet: "0123456789ab".into(),
        created_unix_ms: 1,
        command: vec!["scruple".into()],
        engine: FleetEngine::Slurm,
        binary: "/usr/bin/scruple".into(),
        folder: folder.display().to_string(),
        plan: FleetPlan {
            experiments: vec!["null".into()],
            profile: Profile::Smoke,
            time_budget_s: Some(60.0),
            blocks: None,
            seed: 7,
            affinity: None,
            shield: true,
            redact: false,
        },
        request: FleetRequest { time_limit_s: 600, ..FleetRequest::default() },
        retries: 1,
        expected: None,
        nodes: vec![node("m1"), node("m2")],
    }
}

/// A fleet whose machines share nothing.
pub(crate) fn gathered(folder: &Path) -> Fleet {
    Fleet { engine: FleetEngine::Gather, nodes: Vec::new(), ..fleet(folder) }
}

#[test]
fn the_nodes_of_a_fleet_that_is_gathered_are_its_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a fleet");
    Folder::create(gathered(&path)).unwrap().write().unwrap();
    assert!(Folder::open(&path).unwrap().fleet.nodes.is_empty());
    for name in ["m10.ab.0", "m2.ab.0", "m2.cd.0", "log", "x.0"] {
        std::fs::create_dir(path.join(name)).unwrap();
    }
    let folder = Folder::open(&path).unwrap();
    let names: Vec<&str> = folder.fleet.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["m2.ab", "m2.cd", "m10"]);
    let sessions: Vec<String> =
        folder.look().unwrap().into_iter().map(|it| it.attempt.unwrap().name).collect();
    assert_eq!(sessions, ["m2.ab.0", "m2.cd.0", "m10.ab.0"]);
    // Its plan may have come by a link, and what is hidden may not have come with a copy.
    let link = dir.path().join("link.json");
    symlink(path.join(FLEET_FILE), &link).unwrap();
    let elsewhere = Folder::elsewhere(&link, &dir.path().join("out")).unwrap();
    assert_eq!(elsewhere.fleet.fleet, folder.fleet.fleet);
    std::fs::remove_dir(path.join(PARTIAL_FOLDER)).unwrap();
    assert_eq!(folder.partial().unwrap(), []);
}

#[test]
fn what_is_written_is_read_again_and_the_folder_must_be_new() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fleet");
    let own = fleet(&path);
    Folder::create(own.clone()).unwrap().write().unwrap();
    assert_eq!(Folder::open(&path).unwrap().fleet, own);
    let again = Folder::create(own.clone()).unwrap_err().to_string();
    assert!(again.contains("not empty"), "{again}");
    let script = std::fs::read_to_string(path.join("job.sh")).unwrap();
    assert_eq!(script, SCRIPT);
    assert!(!script.contains(&own.folder) && !script.contains("null"));
}

#[test]
fn two_processes_do_not_submit_for_one_fleet() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create(fleet(dir.path())).unwrap();
    let first = folder.lock().unwrap();
    assert!(folder.lock().unwrap_err().to_string().contains("another scruple"));
    drop(first);
    assert!(folder.lock().is_ok());
}

#[test]
fn an_attempt_is_published_whole_and_another_ones_remains_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create(fleet(dir.path())).unwrap();
    let [orphan, second] = [0, 1].map(|restart| Published::new("m2", "4", restart));
    for attempt in [&orphan, &second] {
        std::fs::create_dir(folder.workplace(attempt)).unwrap();
    }
    let facts = NodeFacts {
        format: FLEET_FORMAT,
        scruple: "0".into(),
        fleet: folder.fleet.fleet.clone(),
        node: "m2".into(),
        job: "4".into(),
        restart: 1,
        cpus_online: vec![0, 1],
        cpus_allowed: vec![0],
        cpus_of_engine: Some(2),
        owns_all_cpus: false,
        doubts: vec!["one CPU of two".into()],
    };
    folder.publish(&second, &facts).unwrap();
    // The orphan goes on.
    std::fs::write(folder.workplace(&orphan).join("trials.ndjson"), "late").unwrap();
    assert_eq!(folder.published().unwrap(), std::slice::from_ref(&second));
    assert_eq!(folder.partial().unwrap(), [orphan]);
    assert_eq!(folder.facts(&second).unwrap(), facts);
    let left: Vec<_> = std::fs::read_dir(folder.session(&second)).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn only_folders_of_this_fleets_attempts_are_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create(fleet(dir.path())).unwrap();
    for name in
        ["m1.4.0", "m2.9.1", "m3.4.0", "m1.4", "m1.4.+1", "m1.4.01", "m1..0", "x", "m1.4.-1"]
    {
        std::fs::create_dir(dir.path().join(name)).unwrap();
    }
    symlink("/", dir.path().join("m1.5.0")).unwrap();
    std::fs::write(dir.path().join("m1.6.0"), "").unwrap();
    let found: Vec<String> = folder.published().unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(found, ["m1.4.0", "m2.9.1"]);
}

#[test]
fn a_hostile_fleet_file_is_refused_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |change: &dyn Fn(&mut Fleet)| {
        let path = tempfile::tempdir_in(dir.path()).unwrap();
        let mut folder = Folder::create(fleet(path.path())).unwrap();
        change(&mut folder.fleet);
        folder.write().unwrap();
        Folder::open(path.path()).unwrap_err().to_string()
    };
    for (change, told) in [
        (
            &(|it: &mut Fleet| it.nodes[0].name = "../../etc".into()) as &dyn Fn(&mut Fleet),
            "a node",
        ),
        (&|it| it.nodes[0].attempts[0].job = "4 --wrap".into(), "a job"),
        (&|it| it.fleet = "x; rm -rf ~/".into(), "hexadecimal"),
        (&|it| it.format = FLEET_FORMAT + 1, "use the scruple that wrote it"),
        (&|it| it.nodes.clear(), "0 nodes"),
        (&|it| it.binary = "/bin/sh -c".into(), "the binary"),
        (&|it| it.request.partition = Some("a;b".into()), "the partition"),
    ] {
        let said = refused(change);
        assert!(said.contains(told) && said.contains(FLEET_FILE), "{said}");
    }
}

#[test]
fn a_file_that_is_none_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Folder::open(dir.path()).unwrap_err().to_string().contains("holds no fleet"));
    symlink("/dev/zero", dir.path().join(FLEET_FILE)).unwrap();
    assert!(Folder::open(dir.path()).is_err());
    std::fs::remove_file(dir.path().join(FLEET_FILE)).unwrap();
    std::fs::write(dir.path().join(FLEET_FILE), vec![b' '; FILE_BYTES_MAX as usize + 1]).unwrap();
    assert!(Folder::open(dir.path()).unwrap_err().to_string().contains("more than"));
    std::fs::write(dir.path().join(FLEET_FILE), "{").unwrap();
    assert!(Folder::open(dir.path()).unwrap_err().to_string().contains("damaged"));
}

#[test]
fn the_last_words_of_a_job_are_the_end_of_its_log() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create(fleet(dir.path())).unwrap();
    let log = dir.path().join(LOG_FOLDER);
    assert_eq!(folder.last_words("m1", "4"), None);
    std::fs::write(log.join("m1.4.txt"), "x".repeat(50_000) + "\nthe last \n\n").unwrap();
    assert_eq!(folder.last_words("m1", "4").as_deref(), Some("the last"));
}
