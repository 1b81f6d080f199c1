//! `scruple figure`: a figure of a session in a file of its own, and what it refuses.

use crate::support::{recorded, said, scruple};
use std::path::Path;
use std::process::Output;

/// Runs `scruple figure` on the session recorded as `base`, in a folder.
fn figure(folder: &Path, words: &[&str]) -> Output {
    let session = recorded("base");
    let words = [&["figure", session.to_str().unwrap()], words].concat();
    scruple().args(words).current_dir(folder).output().unwrap()
}

/// Returns what a command that succeeds writes to a file.
fn written(folder: &Path, words: &[&str], file: &str) -> Vec<u8> {
    let output = figure(folder, &[words, &["-o", file]].concat());
    assert!(output.status.success(), "{}", said(&output));
    std::fs::read(folder.join(file)).unwrap()
}

#[test]
fn a_figure_is_written_as_the_ending_says() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let svg = written(folder, &["create-chart-1", "--width", "85mm"], "one.svg");
    let svg = String::from_utf8(svg).unwrap();
    assert!(svg.starts_with("<svg xmlns=") && svg.contains("width=\"85mm\""), "{svg}");
    let by_title = written(folder, &["cost of creating and joining", "--width", "85mm"], "two.svg");
    assert_eq!(svg.as_bytes(), by_title);
    if said(&figure(folder, &["create-chart-1", "-o", "one.png"])).contains("there is no font") {
        println!("skipped: there is no font to draw letters with");
    } else {
        assert_eq!(&written(folder, &["create-chart-1"], "one.png")[..4], b"\x89PNG");
        assert_eq!(&written(folder, &["create-chart-1"], "one.pdf")[..5], b"%PDF-");
    }
    let csv = String::from_utf8(written(folder, &["create-chart-1"], "one.csv")).unwrap();
    assert!(csv.lines().count() > 5 && csv.starts_with("mechanism,"), "{csv}");
    let head = csv.lines().next().unwrap();
    assert!(head.ends_with(",response,value,low,high,unit,trials"), "{csv}");
    let printed = figure(folder, &["create-chart-1", "--width", "85mm", "-o", "-"]);
    assert_eq!(printed.stdout.trim_ascii_end(), svg.trim_end().as_bytes());
    let listed = figure(folder, &[]);
    assert!(
        String::from_utf8_lossy(&listed.stdout).contains("create-chart-1 "),
        "{}",
        said(&listed)
    );
}

#[test]
fn an_expression_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let asked = "workers.wall_ns over count by model where worker = cpu";
    let svg = String::from_utf8(written(folder.path(), &[asked], "time.svg")).unwrap();
    for part in ["number of workers", "threads", "processes", "execution time"] {
        assert!(svg.to_lowercase().contains(part), "{part}: {svg}");
    }
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (words, part) in [
        (&["create-chart-99", "-o", "x.svg"][..], "`scruple figure` lists"),
        (&["cost of", "-o", "x.svg"], "5 figures have"),
        (&["create-chart-1", "-o", "x.gif"], ".svg, .png, .pdf and .csv"),
        (&["create-chart-1"], "-o FILE.svg"),
        (&["create-chart-1", "-o", "/nowhere/x.svg"], "/nowhere/x.svg"),
        (&["create-chart-1", "-o", "x.svg", "--width", "3mm"], "40mm"),
        (&["wall_nss over count", "-o", "x.svg"], "wall_nss"),
        (&["-o", "x.svg"], "which figure?"),
    ] {
        let output = figure(folder.path(), words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", said(&output));
        assert!(said(&output).contains(part), "{words:?}: {}", said(&output));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
