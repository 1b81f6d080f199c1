//! What a guest told, held against the bar of the drill.

use super::super::ledger::Ledger;
use super::told::Told;

/// Holds what was told against the bar. What a guest's kernel cannot do was not looked at.
pub(crate) fn judge(told: &Told, seconds: u64, ledger: &mut Ledger) {
    let expected = told.records("trials", "whole").count();
    ledger.must(expected > 20, || format!("an undisturbed guest stored {expected} trials"));
    clean("whole", told, ledger);
    for name in ["stopped", "suspended", "unplugged"] {
        if told.lines("cannot", name).is_some() {
            ledger.tell(format!("{name}: not looked at, this guest cannot"));
            continue;
        }
        whole(name, expected, told, ledger);
        let [boot_s, wall_s] = told.clocks_s(name).unwrap_or([f64::NAN; 2]);
        let tagged = suspended_ms(name, told);
        ledger.tell(format!(
            "{name} for {seconds} s: {} trials before, {} in the end, suspended_ms {tagged:?}; from \
             before the fault to the end the guest counted {boot_s:.1} s since its boot, {wall_s:.0} s \
             by the wall",
            told.records("before", name).count(),
            told.records("trials", name).count(),
        ));
        // The longest a suspension lasts beyond what was asked is the machine's affair.
        let noticed = tagged.iter().any(|ms| *ms >= seconds * 900);
        let must = name == "suspended";
        ledger.must(noticed == must, || format!("{name}: suspended_ms is {tagged:?}"));
    }
    let halted = told.text("code", "halted");
    ledger.must(halted == "2" || told.lines("cannot", "unplugged").is_some(), || {
        format!("a session whose CPU was taken away ended with code {halted:?}")
    });
    groups(expected, told, ledger);
}

/// How long trials say that the machine was suspended meanwhile, for those that were.
fn suspended_ms(name: &str, told: &Told) -> Vec<u64> {
    let records = told.records("trials", name);
    let noticed = records.records().filter_map(|it| it["machine"]["suspended_ms"].as_u64());
    noticed.filter(|ms| *ms > 0).collect()
}

/// A session that was disturbed is whole in the end, no trial failed for it, and nothing is left.
fn whole(name: &str, expected: u64, told: &Told, ledger: &mut Ledger) {
    let (before, after) = (told.records("before", name), told.records("trials", name));
    ledger.must((1..expected).contains(&before.count()), || {
        format!("{name}: {} trials before the fault", before.count())
    });
    ledger.compare(&before, &after);
    ledger.must(after.count() == expected, || {
        format!("{name}: {} trials, and {expected} are planned", after.count())
    });
    clean(name, told, ledger);
}

fn clean(name: &str, told: &Told, ledger: &mut Ledger) {
    let code = told.text("code", name);
    ledger.must(code == "0", || {
        format!("{name}: ended with code {code:?}: {}", told.text("said", name))
    });
    for record in told.records("trials", name).records() {
        let kind = &record["outcome"]["kind"];
        ledger.must(kind == "completed" || kind == "unsupported", || format!("{name}: {kind}"));
        let reason = record["outcome"]["reason"].as_str().unwrap_or_default();
        ledger.must(!reason.contains("affinity"), || format!("{name}: {reason}"));
    }
    nothing_left(name, told, ledger);
}

fn nothing_left(name: &str, told: &Told, ledger: &mut Ledger) {
    let Some(left) = told.lines("left", name) else {
        return ledger.must(false, || format!("{name}: the guest did not come so far"));
    };
    let of = |part: fn(&str) -> bool| left.iter().filter(|line| part(line.trim())).count() as u64;
    let groups = of(|line| line.starts_with("/sys/fs/cgroup"));
    let files = of(|line| line.starts_with("/tmp"));
    ledger.left_behind(left.len() as u64 - groups - files, files, groups);
    ledger.must(left.is_empty(), || format!("{name} left {left:?}"));
}

/// Groups of version 2, in a group of the session's own, as a service manager delegates one.
fn groups(expected: u64, told: &Told, ledger: &mut Ledger) {
    if told.lines("cannot", "groups").is_some() {
        return ledger.tell("control groups: not looked at, this guest has none".into());
    }
    for name in ["scope-root", "scope-somebody"] {
        clean(name, told, ledger);
        let limited = |record: &serde_json::Value| record["treatment"]["limit"] == "cgroup";
        let records = told.records("trials", name);
        let mut limited: Vec<_> = records.records().filter(limited).collect();
        let all = limited.len();
        limited.retain(|record| record["outcome"]["kind"] == "completed");
        ledger.must(all > 0 && limited.len() == all, || {
            format!("{name}: {} of {all} trials in a memory cgroup completed", limited.len())
        });
        let shield = told.text("shield", name);
        ledger.must(shield.contains("v2 with the highest CPU weight"), || {
            format!("{name}: the shield is {shield}")
        });
        let handed = told.text("handed", name);
        ledger.must(handed.is_empty(), || format!("{name}: still handed down: {handed}"));
        ledger.tell(format!("{name}: {all} trials in a memory cgroup of version 2, all completed"));
    }
    nothing_left("halted", told, ledger);
    let swept = told.text("swept", "both");
    // Where nothing had been left the sweep was not tried.
    ledger.must(swept.parse().is_ok_and(|count: u32| count > 0), || {
        format!("a runner killed with its guard left {swept:?} cgroups")
    });
    for name in ["killed", "both"] {
        whole(name, expected, told, ledger);
    }
    ledger.tell(format!(
        "kill -9 of the runner in such a group: nothing left; at the root, with its guard: {swept} \
         cgroups left, none after the next session"
    ));
}
