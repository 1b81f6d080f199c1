//! The drill of faults can fail: what it is told, and what it counts.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(dead_code, reason = "the benchmark's main uses the rest")]

#[path = "../benches/drill/asked.rs"]
mod asked;
#[path = "../benches/drill/ledger.rs"]
mod ledger;
#[path = "../benches/drill/moments.rs"]
mod moments;

use asked::Asked;
use ledger::{Ledger, Lines};
use moments::Moments;
use std::time::Duration;

fn asked(line: &str) -> Result<Asked, String> {
    Asked::parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
}

fn line(block: u64, level: &str) -> String {
    format!(
        "{{\"experiment\":\"create\",\"block\":{block},\"treatment\":{{\"model\":\"{level}\"}}}}\n"
    )
}

fn lines(all: &[String]) -> Lines {
    Lines::from_bytes(all.concat().as_bytes())
}

#[test]
fn the_words_are_understood() {
    let told = asked("--kills 1000 --bench --disks 0 --seed 0").unwrap();
    assert_eq!((told.kills, told.disks, told.trial_kills, told.seed), (1000, 0, 20, 1));
    assert!(asked("--kill 3").unwrap_err().contains("--kill"));
    assert!(asked("--kills").unwrap_err().contains("wants a number"));
    assert!(asked("--kills -3").unwrap_err().contains("--kills -3"));
}

#[test]
fn what_is_lost_changed_or_doubled_is_counted() {
    let (a, b, c) = (line(0, "thread"), line(0, "process"), line(1, "thread"));
    let before = lines(&[a.clone(), b.clone()]);
    let counted = |after: &Lines| {
        let mut ledger = Ledger::default();
        ledger.compare(&before, after);
        (before.lost_in(after), after.doubled(), ledger.holds())
    };
    assert_eq!(counted(&lines(&[a.clone(), b.clone(), c.clone()])), (0, 0, true));
    // A torn line belongs to no trial yet.
    assert_eq!(lines(&[a.clone(), b.clone(), c[..9].to_string()]), before);
    assert_eq!(counted(&lines(std::slice::from_ref(&a))), (1, 0, false), "cut off");
    assert_eq!(counted(&lines(&[b.clone(), a.clone()])), (2, 0, false), "in another order");
    assert_eq!(counted(&lines(&[a.clone(), b.clone(), b.clone()])), (0, 1, false), "twice");
    assert_eq!(counted(&lines(&[a, b, "{}garbage\n".into()])), (0, 1, false), "no record");
}

#[test]
fn what_is_left_behind_or_wrong_misses_the_bar() {
    let empty = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::default();
    assert!(ledger.holds() && ledger.text().ends_with("the bar is held"));
    ledger.left_behind(0, 1, 0);
    assert!(!ledger.holds() && ledger.text().ends_with("THE BAR IS MISSED"));
    let mut ledger = Ledger::default();
    ledger.must_be_whole("a session", empty.path(), 3);
    assert!(!ledger.holds());
    assert!(ledger.text().contains("0 trials, and 3 are planned"), "{}", ledger.text());
}

#[test]
fn moments_come_from_the_seed_and_cover_their_range() {
    let drawn = |seed| {
        let mut moments = Moments(seed);
        (0..1000).map(|_| moments.within(Duration::from_millis(7))).collect::<Vec<_>>()
    };
    assert_eq!(drawn(3), drawn(3));
    assert_ne!(drawn(3), drawn(4));
    let mean = drawn(3).iter().sum::<Duration>() / 1000;
    // Uniform: the mean of a thousand is within 5 standard errors of the middle.
    assert!(mean.abs_diff(Duration::from_micros(3500)) < Duration::from_micros(320), "{mean:?}");
    assert!(drawn(3).iter().all(|it| *it < Duration::from_millis(7)));
}
