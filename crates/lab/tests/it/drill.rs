//! The drill of faults can fail: what it is told, and what it counts.

#![expect(dead_code, reason = "the benchmark's main uses the rest")]

#[path = "../../benches/drill/asked.rs"]
mod asked;
#[path = "../../benches/drill/ledger.rs"]
mod ledger;
#[path = "../../benches/drill/moments.rs"]
mod moments;
#[path = "../../benches/drill/vm"]
mod vm {
    pub(crate) mod judge;
    pub(crate) mod told;
}

use self::asked::Asked;
use self::ledger::{Ledger, Lines};
use self::moments::Moments;
use self::vm::judge::judge;
use self::vm::told::Told;
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
    assert_eq!(asked("--vm image --kills 1").unwrap().vm.as_deref(), Some("image"));
    let told = asked("--guard-kills 7 --folders 9").unwrap();
    assert_eq!((told.guard_kills, told.folders), (7, 9));
    assert!(asked("--vm").unwrap_err().contains("kernel"));
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

/// What a guest tells of a session in which all went as it must.
fn told(name: &str, suspended_ms: u64) -> String {
    let lines = |count: u64| -> String {
        let record = |block| {
            format!(
                "{{\"experiment\":\"create\",\"block\":{block},\"treatment\":{{\"limit\":\"cgroup\"}},\
                 \"outcome\":{{\"kind\":\"completed\"}},\"machine\":{{\"suspended_ms\":{suspended_ms}}}}}\r\n"
            )
        };
        (0..count).map(record).collect()
    };
    format!(
        "@before {name}\r\n{}@clocks {name} 3.5 100\r\n@clocks {name} 6.75 113\r\n@code {name} 0\r\n\
         @trials {name}\r\n{}@said {name}\r\nfine\r\n@left {name}\r\n@over {name}\r\n",
        lines(8),
        lines(30),
    )
}

fn guest() -> String {
    let mut text = String::from("boot noise\r\n");
    for name in ["whole", "stopped", "unplugged", "scope-root", "scope-somebody", "killed", "both"]
    {
        text.push_str(&told(name, 0));
    }
    text.push_str(&told("suspended", 10_000));
    for name in ["scope-root", "scope-somebody"] {
        text.push_str(&format!(
            "@shield {name}\nv2 with the highest CPU weight\n@handed {name} \n"
        ));
    }
    text + "@code halted 2\n@left halted\n@swept both 3\n@end all\n"
}

#[test]
fn what_a_guest_tells_is_taken_apart() {
    let told = Told::of(&guest());
    assert_eq!(told.records("trials", "whole").count(), 30);
    assert_eq!(told.lines("left", "whole"), Some([].as_slice()));
    assert_eq!(told.lines("left", "nowhere"), None);
    assert_eq!(told.text("code", "halted"), "2");
    assert_eq!(told.clocks_s("stopped"), Some([3.25, 13.0]));
    assert_eq!(told.clocks_s("halted"), None);
}

#[test]
fn a_guest_in_which_anything_went_wrong_misses_the_bar() {
    let judged = |text: &str| {
        let mut ledger = Ledger::default();
        judge(&Told::of(text), 10, &mut ledger);
        (ledger.holds(), ledger.text())
    };
    let good = guest();
    let (holds, why) = judged(&good);
    assert!(holds, "{why}");
    let planted = [
        ("@code stopped 0", "@code stopped 2"),
        ("@code halted 2", "@code halted 0"),
        ("@left suspended\r\n", "@left suspended\r\n7 root /proc/self/exe __guard\r\n"),
        ("@left both\r\n", "@left both\r\n/sys/fs/cgroup/scope-both/scruple-memory-1-2-3\r\n"),
        ("@left halted\n", "@left halted\n/tmp/session/scratch\n"),
        ("@left killed\r\n", ""),
        ("\"suspended_ms\":10000", "\"suspended_ms\":0"),
        ("@handed scope-root ", "@handed scope-root memory"),
        ("v2 with the highest", "nothing with the highest"),
        ("@swept both 3", "@swept both 0"),
        ("{\"kind\":\"completed\"}", "{\"kind\":\"failed\"}"),
        ("{\"kind\":\"completed\"}", "{\"kind\":\"unsupported\",\"reason\":\"--affinity\"}"),
        ("\"block\":29", "\"block\":28"),
        ("\"block\":7", "\"block\":70"),
    ];
    for (from, to) in planted {
        let text = match from.starts_with("\"block\"") {
            // In one place alone.
            true => good.replacen(from, to, 3),
            false => good.replace(from, to),
        };
        assert_ne!(text, good, "{from}");
        assert!(!judged(&text).0, "{from} -> {to}");
    }
}
