//! A fleet of machines that share nothing: the plan goes out as one file, and sessions come back as
//! folders and archives.

use crate::support::{said, scruple};
use model::{FleetResult, NodeStanding};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A fleet that was begun, beside the folders of its machines.
struct Gathered {
    dir: tempfile::TempDir,
}

impl Gathered {
    fn new(words: &[&str]) -> Self {
        let it = Gathered { dir: tempfile::tempdir().unwrap() };
        let mut run =
            it.fleet("run", &["null", "--profile", "smoke", "--seed", "7", "--no-shield"]);
        let output = run.args(["--gather", "--folder", "fleet 1"]).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains("./scruple fleet node fleet.json"), "{printed}");
        assert!(printed.contains("fleet 1' SESSION..."), "{printed}");
        it
    }

    fn fleet(&self, what: &str, words: &[&str]) -> Command {
        let mut command = scruple();
        command.current_dir(self.dir.path()).args(["fleet", what]).args(words);
        command
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("fleet 1")
    }

    /// Measures on a machine that has a copy of the plan alone; returns the folder that it leaves.
    fn machine(&self, name: &str, words: &[&str]) -> PathBuf {
        let home = self.dir.path().join(name);
        fs::create_dir(&home).unwrap();
        fs::copy(self.folder().join("fleet.json"), home.join("plan.json")).unwrap();
        let mut node = self.fleet("node", &["plan.json"]);
        let output = node.args(words).current_dir(&home).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let left = fs::read_dir(&home).unwrap().map(|it| it.unwrap().path());
        let left: Vec<PathBuf> = left.filter(|it| it.is_dir()).collect();
        assert_eq!(left.len(), 1, "only the session stays: {left:?}");
        left[0].clone()
    }

    fn collect(&self, sessions: &[&Path]) -> Output {
        self.fleet("collect", &["fleet 1"]).args(sessions).output().unwrap()
    }

    fn result(&self) -> FleetResult {
        serde_json::from_slice(&fs::read(self.folder().join("result.json")).unwrap()).unwrap()
    }

    /// The names and bytes of what the fleet holds, without what is computed from it.
    fn held(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(dir: &Path, held: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(dir).unwrap().map(|it| it.unwrap().path()) {
                match entry.is_dir() {
                    true => walk(&entry, held),
                    false => drop(held.insert(entry.clone(), fs::read(&entry).unwrap())),
                }
            }
        }
        let mut held = BTreeMap::new();
        walk(&self.folder(), &mut held);
        held.retain(|path, _| !path.ends_with("result.json") && !path.ends_with("report.html"));
        held
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Packs a folder by its name.
fn packed(folder: &Path, ending: &str, options: &[&str]) -> PathBuf {
    let (parent, name) = (folder.parent().unwrap(), folder.file_name().unwrap());
    let archive = parent.with_extension(ending);
    let mut tar = Command::new("tar");
    tar.args(options).arg("-cf").arg(&archive).arg("-C").arg(parent).arg(name);
    let output = tar.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    archive
}

fn edit(file: &Path, change: impl FnOnce(&mut Value)) {
    let mut value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    change(&mut value);
    fs::write(file, serde_json::to_vec(&value).unwrap()).unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in ["manifest.json", "trials.ndjson", "node.json"] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

#[test]
fn sessions_come_back_once_whatever_their_machines_are_called() {
    let fleet = Gathered::new(&["--nodes", "3"]);
    let status = |code| {
        let output = fleet.fleet("status", &["fleet 1"]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        said(&output)
    };
    assert!(status(3).contains("0 of 3 nodes are complete"));
    // Two machines of one name, as containers are, and one that is given another.
    let [one, two] = ["a", "b"].map(|machine| fleet.machine(machine, &["--node", "web"]));
    let named = fleet.machine("c", &[]);
    let host = sys::machine::hostname().unwrap();
    assert!(named.file_name().unwrap().to_string_lossy().starts_with(&host[..1]));
    let first = fleet.collect(&[&packed(&one, "tar.gz", &["-z"])]);
    assert_eq!(first.status.code(), Some(3), "{}", said(&first));
    assert!(stderr(&first).contains("1 taken in, 0 there already, 0 refused"), "{}", said(&first));
    let printed = status(3);
    assert!(printed.contains("1 of 3 nodes are complete\nweb  complete"), "{printed}");
    assert!(printed.contains("scruple fleet collect 'fleet 1' SESSION..."), "{printed}");
    // A folder of sessions, and an archive without compression.
    let rest = [packed(&two, "tar", &[]), named.parent().unwrap().to_path_buf()];
    let all = fleet.collect(&rest.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    assert_eq!(all.status.code(), Some(0), "{}", said(&all));
    let result = fleet.result();
    assert_eq!(result.nodes.len(), 3);
    assert!(result.nodes.iter().all(|node| node.standing == NodeStanding::Complete));
    let web: Vec<&str> = result.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(web.iter().filter(|name| name.starts_with("web.")).count(), 2, "{web:?}");
    assert_eq!(result.same_machine.len(), 1, "all ran under one kernel");
    assert_eq!(result.comparison.unwrap().sides.len(), 3);
    assert!(status(0).contains("3 of 3"));
    // The same again, as it came and as folders: nothing changes.
    let held = fleet.held();
    let again = fleet.collect(&[&rest[0], &rest[1], &one, &two]);
    assert_eq!(again.status.code(), Some(0), "{}", said(&again));
    assert!(stderr(&again).contains("0 taken in, 4 there already, 0 refused"), "{}", said(&again));
    assert_eq!(fleet.held(), held);
    // It is a side like any other fleet.
    let compared = scruple().arg("compare").args([fleet.folder(), one]).output().unwrap();
    assert_eq!(compared.status.code(), Some(0), "{}", said(&compared));
}

#[test]
fn what_does_not_belong_to_the_plan_is_named_and_the_rest_is_taken() {
    let fleet = Gathered::new(&[]);
    let good = fleet.machine("a", &["--node", "m1"]);
    let changed = |name: &str, file: &str, change: &dyn Fn(&mut Value)| {
        let session = fleet.dir.path().join(name);
        copy(&good, &session);
        edit(&session.join(file), change);
        session
    };
    let cases: [(PathBuf, &str); 6] = [
        (
            changed("fleet", "node.json", &|it| it["fleet"] = "0123456789ab".into()),
            "of fleet 012345",
        ),
        (changed("scruple", "node.json", &|it| it["scruple"] = "9".into()), "of scruple 9, not"),
        (changed("seed", "manifest.json", &|it| it["seed"] = 8.into()), "another seed"),
        (changed("name", "node.json", &|it| it["node"] = "../../m".into()), "its node"),
        (
            changed("trial", "manifest.json", &|it| it["designs"] = Value::Array(vec![])),
            "trials.ndjson, line 1: it is a trial of another session",
        ),
        (fleet.dir.path().join("nowhere"), "nowhere"),
    ];
    let mut all: Vec<&Path> = cases.iter().map(|(path, _)| path.as_path()).collect();
    let plain = fleet.dir.path().join("plain");
    copy(&good, &plain);
    fs::remove_file(plain.join("node.json")).unwrap();
    all.extend([plain.as_path(), good.as_path()]);
    let output = fleet.collect(&all);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let printed = stderr(&output);
    for (path, why) in cases.iter().chain([&(plain, "it has no node.json")]) {
        let name = path.file_name().unwrap().to_string_lossy();
        let line = printed.lines().find(|line| line.contains(&*name) && line.contains(why));
        assert!(line.is_some_and(|line| !line.contains(".partial")), "{why}: {printed}");
    }
    assert!(printed.contains("1 taken in, 0 there already, 7 refused"), "{printed}");
    assert_eq!(fleet.result().nodes.len(), 1);
    assert_eq!(fs::read_dir(fleet.folder().join(".partial")).unwrap().count(), 0);
    // One that bears the name of another replaces nothing.
    let held = fleet.held();
    edit(&good.join("manifest.json"), |it| it["environment"]["kernel"] = "9.9".into());
    let other = fleet.collect(&[&good]);
    assert_eq!(other.status.code(), Some(3), "{}", said(&other));
    let printed = stderr(&other);
    assert!(printed.contains("its manifest.json differs; nothing was replaced"), "{printed}");
    assert_eq!(fleet.held(), held);
}

#[test]
fn a_hostile_archive_writes_nothing_but_its_session() {
    let fleet = Gathered::new(&[]);
    let session = fleet.machine("a", &["--node", "m1"]);
    let nothing = |archive: &Path, why: &str| {
        let output = fleet.collect(&[archive]);
        assert_eq!(output.status.code(), Some(3), "{}", said(&output));
        assert!(stderr(&output).contains(why), "{why}: {}", said(&output));
        assert!(fleet.result().nodes.is_empty());
    };
    let file = |name: &str, content: &[u8]| {
        let path = fleet.dir.path().join(name);
        fs::write(&path, content).unwrap();
        path
    };
    nothing(&file("empty.tar", b""), "it holds no session");
    nothing(&file("text.tar", &[b'x'; 1024]), "it is no archive of tar");
    nothing(&file("cut.tar.gz", b"\x1f\x8b\x08"), "gzip finds it damaged");
    let linked = fleet.dir.path().join("linked/m1.ab.0");
    copy(&session, &linked);
    fs::remove_file(linked.join("trials.ndjson")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", linked.join("trials.ndjson")).unwrap();
    nothing(&packed(&linked, "tar", &[]), "cannot read trials.ndjson");
    let twice = packed(&session, "tar", &["--hard-dereference", "-P", "--transform=s,.*/,x/,"]);
    let append = Command::new("tar")
        .args(["-rPf"])
        .arg(&twice)
        .arg("--transform=s,.*/,x/,")
        .arg(&session)
        .output();
    assert!(append.unwrap().status.success());
    nothing(&twice, "twice");
    // Wherever it wants to be, it gets the place of its node.
    let before: Vec<_> =
        fs::read_dir(fleet.dir.path()).unwrap().map(|it| it.unwrap().path()).collect();
    let out = packed(&session, "tar", &["-P", "--transform=s,^,../../../escaped/,"]);
    let taken = fleet.collect(&[&out]);
    assert_eq!(taken.status.code(), Some(0), "{}", said(&taken));
    let after: Vec<_> =
        fs::read_dir(fleet.dir.path()).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(before.len(), after.len(), "{after:?}");
    let place = fleet.folder().join(session.file_name().unwrap());
    let mut names: Vec<_> =
        fs::read_dir(place).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["manifest.json", "node.json", "trials.ndjson"]);
}

#[test]
fn a_redacted_fleet_gets_sessions_without_the_names_of_hosts() {
    let fleet = Gathered::new(&["--redact"]);
    let session = fleet.machine("a", &[]);
    let name = session.file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with("machine."), "{name}");
    let manifest: Value =
        serde_json::from_slice(&fs::read(session.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["redacted"], true);
    let host = sys::machine::hostname().unwrap();
    assert_ne!(manifest["environment"]["host"], host);
    let collected = fleet.collect(&[&session]);
    assert_eq!(collected.status.code(), Some(0), "{}", said(&collected));
    // One that names its host is not what the plan says.
    let other = fleet.folder().parent().unwrap().join("other").join("machine.00000000aaaa.0");
    copy(&session, &other);
    edit(&other.join("manifest.json"), |manifest| manifest["redacted"] = false.into());
    edit(&other.join("node.json"), |facts| facts["job"] = "00000000aaaa".into());
    let refused = fleet.collect(&[&other]);
    assert!(stderr(&refused).contains("another wish for redaction"), "{}", said(&refused));
}

#[test]
fn words_that_do_not_fit_a_fleet_that_is_gathered_are_refused() {
    let fleet = Gathered::new(&[]);
    let error = |what: &str, words: &[&str], why: &str| {
        let output = fleet.fleet(what, words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(stderr(&output).contains(why), "{why}: {}", said(&output));
    };
    error("collect", &["fleet 1", "--complete"], "nothing was submitted for this fleet");
    error("collect", &["fleet 1", "x", "--wait"], "cannot be used with");
    error("run", &["null", "--gather", "--nodelist", "a"], "cannot be used with");
    error("run", &["null", "--gather", "--partition", "p"], "cannot be used with");
    error("node", &["fleet 1", "--node", "a b"], "--node");
    let plan = fleet.dir.path().join("old.json");
    fs::copy(fleet.folder().join("fleet.json"), &plan).unwrap();
    edit(&plan, |it| it["scruple"] = "0.0.1".into());
    error("node", &["old.json"], "the plan is of scruple 0.0.1");
    edit(&plan, |it| it["engine"] = "slurm".into());
    error("node", &["old.json"], "1 to 4096 are right");
}

/// A recorded session of one machine as that of a thousand: another name, another boot, other numbers.
fn simulated(from: &Path, to: &Path, number: u64) {
    fs::create_dir_all(to).unwrap();
    let (node, job) = (format!("n{number}"), format!("{number:012x}"));
    fs::copy(from.join("node.json"), to.join("node.json")).unwrap();
    edit(&to.join("node.json"), |it| {
        (it["node"], it["job"]) = (node.clone().into(), job.into());
    });
    fs::copy(from.join("manifest.json"), to.join("manifest.json")).unwrap();
    edit(&to.join("manifest.json"), |it| {
        for key in ["host", "boot", "machine"] {
            it["environment"][key] = node.clone().into();
        }
        it["session"] = node.into();
    });
    // Some 3 % from machine to machine, and one that is twice as slow with its second mechanism.
    let slower = 1.0 + (number * 7919 % 61) as f64 / 1000.0;
    let text = fs::read_to_string(from.join("trials.ndjson")).unwrap();
    let line = |line: &str| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        let is_b = record["treatment"].to_string().contains("\"b\"");
        let factor = if number == 777 && is_b { 2.0 * slower } else { slower };
        for series in record["measured"]["series"].as_array_mut().into_iter().flatten() {
            for value in series["values"].as_array_mut().unwrap() {
                *value = ((value.as_f64().unwrap() * factor) as i64).into();
            }
        }
        record.to_string() + "\n"
    };
    fs::write(to.join("trials.ndjson"), text.lines().map(line).collect::<String>()).unwrap();
}

#[test]
fn a_thousand_nodes_fit_into_a_page_and_a_bounded_memory() {
    let fleet = Gathered::new(&["--nodes", "1000"]);
    let session = fleet.machine("a", &[]);
    let all = fleet.dir.path().join("all");
    (1..=1000).for_each(|at| simulated(&session, &all.join(format!("{at}")), at));
    // An address space that holds the program and a small part of the sessions.
    let bounded = |words: &[&str]| {
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg("ulimit -v 1500000; exec \"$0\" fleet \"$@\"")
            .arg(crate::support::binary());
        shell.current_dir(fleet.dir.path()).args(words).output().unwrap()
    };
    let collected = bounded(&["collect", "fleet 1", "all"]);
    assert_eq!(collected.status.code(), Some(0), "{}", said(&collected));
    assert!(stderr(&collected).contains("1000 taken in"), "{}", said(&collected));
    let result = fleet.result();
    assert_eq!((result.nodes.len(), result.complete), (1000, true));
    let names: Vec<&str> = result.nodes[..11].iter().map(|node| node.name.as_str()).collect();
    assert_eq!((names[1], names[9], names[10]), ("n2", "n10", "n11"), "in the order of numbers");
    assert!(result.spreads.iter().all(|spread| spread.machines == 1000));
    let found: Vec<&str> = result.outliers.found.iter().map(|it| it.node.as_str()).collect();
    assert!(!found.is_empty() && found.iter().all(|node| *node == "n777"), "{found:?}");
    // Few are compared with the first, and the outlier is among them.
    let sides: Vec<String> =
        result.comparison.unwrap().sides.into_iter().map(|it| it.name).collect();
    assert!((3..=17).contains(&sides.len()) && sides.contains(&"n777".to_string()), "{sides:?}");
    let text = String::from_utf8(collected.stdout).unwrap();
    assert!(text.contains("All 1000 nodes measured the plan."), "{text}");
    assert!(text.lines().count() < 80, "{text}");
    let page = fs::read_to_string(fleet.folder().join("report.html")).unwrap();
    assert!(page.contains("1000 complete nodes</summary>"), "the table is folded");
    assert!(page.contains("16 are compared with the first"), "{}", page.len());
    let status = bounded(&["status", "fleet 1"]);
    assert_eq!(String::from_utf8_lossy(&status.stdout).trim(), "1000 of 1000 nodes are complete");
    // Each of them is a session like any other.
    let one = fleet.folder().join("n777.000000000309.0");
    let export = scruple().arg("export").arg(&one).output().unwrap();
    assert_eq!(export.status.code(), Some(0), "{}", said(&export));
}

/// A folder that is relative on the PATH may be anybody's.
#[test]
fn an_archive_is_unpacked_by_no_program_of_the_current_folder() {
    use std::os::unix::fs::PermissionsExt;
    let fleet = Gathered::new(&["--nodes", "1"]);
    let session = fleet.machine("a", &[]);
    let archive = packed(&session, "tar.gz", &["-z"]);
    let planted = fleet.dir.path().join("gzip");
    fs::write(&planted, "#!/bin/sh\ntouch planted\nexit 1\n").unwrap();
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!(".:{}", std::env::var("PATH").unwrap());
    let mut collect = fleet.fleet("collect", &["fleet 1"]);
    let output = collect.arg(&archive).env("PATH", path).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(!fleet.dir.path().join("planted").exists());
}
