//! What the folder of a fleet says, wherever it was copied to.

use crate::fleet::Cluster;
use crate::support::said;
use std::fs;
use std::process::{Command, Output};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn nodes_stand_in_the_order_of_their_numbers_and_a_copy_advises_itself() {
    let cluster = Cluster::new();
    fs::write(cluster.fake("nodes"), "m10|idle|x\nm2|idle|x\nm1|idle|x\n").unwrap();
    for node in ["m1", "m2", "m10"] {
        cluster.mode(node, &["pending"]);
    }
    let output = cluster.run(&["--nodes", "3", "--no-wait"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(stderr(&output).contains("nodes m1, m2, m10"), "{}", said(&output));
    let copy = cluster.dir.path().join("a copy");
    let copied = Command::new("cp").arg("-r").args([&cluster.folder(), &copy]).output().unwrap();
    assert!(copied.status.success());
    let status = cluster.command().args(["status", "a copy"]).output().unwrap();
    assert_eq!(status.status.code(), Some(3), "{}", said(&status));
    let printed = stderr(&status);
    assert!(printed.contains("scruple fleet collect 'a copy' --wait"), "{printed}");
    assert!(!printed.contains(&*cluster.folder().to_string_lossy()), "{printed}");
    let table = String::from_utf8(status.stdout).unwrap();
    let first: Vec<&str> = table.lines().skip(1).map(|it| it.split(' ').next().unwrap()).collect();
    assert_eq!(first, ["m1", "m2", "m10"]);
    assert_eq!(cluster.on_folder("cancel", &[]).status.code(), Some(0));
}

/// What is complete is so wherever it is copied to, also where there is no scheduler.
#[test]
fn a_complete_fleet_needs_no_scheduler() {
    let cluster = Cluster::new();
    let output = cluster.run(&["--nodes", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let nowhere = |what: &str| {
        let mut command = cluster.command();
        command.arg(what).arg(cluster.folder()).env("PATH", "/nowhere").output().unwrap()
    };
    for what in ["status", "collect"] {
        assert_eq!(nowhere(what).status.code(), Some(0), "{}", said(&nowhere(what)));
    }
}
