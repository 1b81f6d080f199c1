use super::find::{Mount, folder_below, parse_mounts, parse_own_path};
use super::quota::quota_of;
use super::*;
use crate::hostile::damage::damaged;
use crate::pages::{Huge, Mapping, page_bytes, shared};
use crate::task::{self, fork_run};
use crate::testing::eventually;
use std::sync::atomic::Ordering;

const MOUNTINFO: &str = "\
25 30 0:22 / /sys rw,relatime shared:7 - sysfs sysfs rw
31 25 0:26 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw
34 25 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw master:12 - cgroup cgroup rw,cpu,cpuacct
35 25 0:30 / /mnt/a\\040b\\134c rw - cgroup cgroup rw,memory
36 25 0:31 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd
";

const OWN: &str =
    "12:memory:/user/one\n4:cpu,cpuacct:/docker/abc/inner\n1:name=systemd:/x\n0::/user.slice\n";

#[test]
fn hierarchies_and_own_groups_are_found() {
    let mounts = parse_mounts(MOUNTINFO);
    let folder = |mount: &Mount| folder_below(mount, &parse_own_path(OWN, mount)?);
    assert_eq!(mounts.len(), 4);
    assert_eq!(folder(&mounts[0]).unwrap(), Path::new("/sys/fs/cgroup/unified/user.slice"));
    assert!(mounts[1].has("cpu") && mounts[1].has("cpuacct") && !mounts[1].has("memory"));
    // What is mounted there is the container's own group.
    assert_eq!(folder(&mounts[1]).unwrap(), Path::new("/sys/fs/cgroup/cpu,cpuacct/inner"));
    assert_eq!(folder(&mounts[2]).unwrap(), Path::new("/mnt/a b\\c/user/one"));
    assert_eq!(folder(&mounts[3]).unwrap(), Path::new("/sys/fs/cgroup/systemd/x"));
}

#[test]
fn a_group_outside_of_the_mount_is_not_guessed() {
    let mounts = parse_mounts(MOUNTINFO);
    assert_eq!(folder_below(&mounts[1], Path::new("/elsewhere")), None);
    assert_eq!(folder_below(&mounts[0], Path::new("/../..")), None);
}

#[test]
fn hostile_tables_are_empty() {
    for text in [
        "",
        " - ",
        "1 2 3 - cgroup",
        "a - cgroup2",
        "1 2 3 / - cgroup x",
        "1 2 3 / /m\\9 rw - cgroup",
    ] {
        assert_eq!(parse_mounts(text), Vec::new(), "{text:?}");
    }
    let mount = &parse_mounts(MOUNTINFO)[0];
    for text in ["", ":", "::", "0", "0:", "x:y:z"] {
        assert_eq!(parse_own_path(text, mount), None, "{text:?}");
    }
}

#[test]
fn quotas_are_quotients() {
    assert_eq!(quota_of("150000", "100000"), Some(1.5));
    assert_eq!(quota_of("-1", "100000"), None);
    assert_eq!(quota_of("max", "100000"), None);
    assert_eq!(quota_of("1", "0"), None);
    assert!(cpu_quota().is_none_or(|cpus| cpus > 0.0));
}

#[test]
fn throttling_is_read_in_either_version() {
    let v1 = "nr_periods 12\nnr_throttled 3\nthrottled_time 41000123\nnr_bursts 0\nburst_time 0\n";
    let v2 = "usage_usec 9\nuser_usec 8\nsystem_usec 1\nnr_periods 2\nthrottled_usec 77\n";
    assert_eq!(parse_throttled_ns(v1), Some(41_000_123));
    assert_eq!(parse_throttled_ns(v2), Some(77_000));
    assert_eq!(parse_throttled_ns("throttled_usec 0\n"), Some(0));
    // The root of version 2 counts no throttling, which is not the same as none.
    assert_eq!(parse_throttled_ns("usage_usec 9\nuser_usec 8\n"), None);
    for text in ["", "throttled_usec", "throttled_usec -1", "throttled_usec 18446744073709551615"] {
        assert_eq!(parse_throttled_ns(text), None, "{text:?}");
    }
}

#[test]
fn a_quota_that_holds_a_process_back_counts_it() {
    let Some(guard) = group_or_say("cpu", "quota") else { return };
    let group = guard.group();
    if let Err(error) = group.set_cpu_quota(0.1) {
        println!("skipped: {error}");
        return;
    }
    let child = fork_run(|| {
        loop {
            std::hint::spin_loop();
        }
    })
    .unwrap();
    group.add(child).unwrap();
    let throttled_ns =
        || parse_throttled_ns(&text::read(group.path().join("cpu.stat")).unwrap_or_default());
    // It wants a whole CPU and may have a tenth of one.
    eventually("being held back", || throttled_ns().is_some_and(|ns| ns > 1_000_000));
    // It entered the group itself, and nobody else is in it.
    let mut entered = Throttling::beyond_own(&[]);
    let mut apart = Throttling::beyond_own(std::slice::from_ref(group));
    let mut own = Throttling::beyond_own(&[]);
    eventually("being seen to be held back", || {
        entered.look(child);
        entered.worst().is_some_and(|(ns, cpus)| ns > 1_000_000 && cpus == Some(0.1))
    });
    apart.look(child);
    own.look(process::pid());
    assert_eq!((apart.groups(), own.groups()), (0, 0));
    process::kill(child, libc::SIGKILL).unwrap();
    task::wait(child).unwrap();
}

#[test]
fn the_accounts_of_our_own_quotas_never_run_backwards() {
    let quotas = Quotas::of_own();
    let (before, after) = (quotas.throttled_ns(), quotas.throttled_ns());
    assert_eq!(before.len(), after.len());
    assert!(before.iter().zip(&after).all(|(before, after)| before <= after));
    assert!(Quotas::default().throttled_ns().is_empty());
}

/// A guarded group for a test, or `None` with the reason printed.
fn group_or_say(controller: &str, name: &str) -> Option<Guard> {
    let name = format!("scruple-test-{name}-{}", process::pid());
    match Cgroup::create(controller, &name) {
        Ok(group) => Some(group.guarded()),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

#[test]
fn a_group_is_made_filled_emptied_and_removed() {
    let Some(guard) = group_or_say("cpu", "life") else { return };
    let group = guard.group().clone();
    group.set_cpu_weight_max().unwrap();
    let (file, value) = match group.version() {
        Version::V1 => ("cpu.shares", 262_144),
        Version::V2 => ("cpu.weight", 10_000),
    };
    assert_eq!(text::number(group.path().join(file)), Some(value));
    let inner = group.child("inner").unwrap();
    let child = fork_run(|| {
        crate::clock::sleep_ns(60_000_000_000);
        0
    })
    .unwrap();
    inner.add(child).unwrap();
    assert_eq!(inner.processes(), [child]);
    assert_eq!(group.processes(), Vec::<Pid>::new());
    group.kill_all().unwrap();
    assert_eq!(task::wait(child).unwrap().signal, Some(libc::SIGKILL));
    guard.end().unwrap();
    assert!(!group.path().exists());
    // Once more is fine.
    group.remove().unwrap();
}

#[test]
fn a_dropped_guard_leaves_nothing() {
    let Some(guard) = group_or_say("pids", "guard") else { return };
    let path = guard.group().path().to_path_buf();
    let child = fork_run(|| {
        crate::clock::sleep_ns(60_000_000_000);
        0
    })
    .unwrap();
    guard.group().add(child).unwrap();
    // A zombie keeps its group busy until it is reaped.
    let reaper = std::thread::spawn(move || task::wait(child));
    drop(guard);
    assert_eq!(reaper.join().unwrap().unwrap().signal, Some(libc::SIGKILL));
    assert!(!path.exists());
}

#[test]
fn a_memory_limit_kills_who_exceeds_it() {
    let Some(guard) = group_or_say("memory", "limit") else { return };
    let group = guard.group();
    let limit = 32 << 20;
    group.set_memory_limit(limit).unwrap();
    assert_eq!(group.memory_limit(), Some(limit));
    assert_eq!(group.oom_kills(), Some(0));
    let (shared, page) = (shared(8).unwrap(), page_bytes());
    let go = &shared.words()[0];
    let child = fork_run(|| {
        while go.load(Ordering::Acquire) == 0 {
            crate::clock::sleep_ns(1_000_000);
        }
        Mapping::new(3 * limit as usize, Huge::Never).map_or(1, |mut mapping| {
            mapping.touch(page);
            0
        })
    })
    .unwrap();
    group.add(child).unwrap();
    go.store(1, Ordering::Release);
    assert_eq!(task::wait(child).unwrap().signal, Some(libc::SIGKILL));
    eventually("the count of the kill", || group.oom_kills() == Some(1));
    if let Some(peak) = group.memory_peak() {
        assert!(peak <= limit && peak > limit / 2, "{peak}");
    }
    guard.end().unwrap();
}

#[test]
fn names_that_leave_the_group_are_refused() {
    let Ok(own) = Cgroup::own("cpu").or_else(|_| Cgroup::own("memory")) else {
        println!("skipped: no control groups here");
        return;
    };
    for name in ["", "..", ".", "a/b", "/", "a\nb"] {
        assert_eq!(own.child(name).unwrap_err().errno(), Some(libc::EINVAL), "{name:?}");
    }
    assert!(Cgroup::own("no such controller").unwrap_err().is_unsupported());
}

#[test]
fn a_group_that_holds_us_is_recognised() {
    let Ok(own) = Cgroup::own("cpu").or_else(|_| Cgroup::own("memory")) else {
        println!("skipped: no control groups here");
        return;
    };
    // `kill_all` and `remove` ask this first. They are not tried here: were the
    // answer wrong, they would end this machine's session.
    assert!(own.holds_us());
    let elsewhere = Cgroup { path: own.path().join("no-such-group"), version: own.version() };
    assert!(!elsewhere.holds_us());
}

/// A group of version 2 for a test of what only that version forbids. Where version 1 has the ordinary
/// controllers, a hierarchy of version 2 may still have this one.
const RARE: &str = "hugetlb";

#[test]
fn a_group_that_holds_a_process_hands_nothing_down_until_we_nest() {
    let Some(guard) = group_or_say(RARE, "nest") else { return };
    if guard.group().version() != Version::V2 {
        println!("skipped: {RARE} is a controller of version 1 here");
        return;
    }
    let group = guard.group().clone();
    crate::testing::in_child(move || {
        group.add(process::pid()).unwrap();
        let family = fork_run(|| {
            crate::clock::sleep_ns(60_000_000_000);
            0
        })
        .unwrap();
        // What is to be mended: this is so on every machine whose sessions have groups of their own.
        assert_eq!(Cgroup::create(RARE, "refused").unwrap_err().errno(), Some(libc::EBUSY));
        let plan = || Plan::below_own(&[RARE], "home").unwrap();
        assert_eq!(plan().home, group.path().join("home"));
        // Nobody else is moved.
        let refused = plan().settle(&[]).unwrap_err();
        assert_eq!(refused.errno(), Some(libc::EBUSY), "{refused}");
        assert!(refused.to_string().contains(&family.to_string()), "{refused}");
        assert!(!group.path().join("home").exists());

        let nest = plan().settle(&[family]).unwrap();
        assert_eq!(nest.base(), group);
        assert_eq!(group.processes(), Vec::<Pid>::new());
        let inner = nest.base().child_for(RARE, "inner").unwrap();
        assert!(inner.path().join("hugetlb.2MB.max").exists());
        inner.remove().unwrap();
        drop(nest);
        assert_eq!(group.descendants(), Vec::new());
        assert!(group.processes().contains(&process::pid()));

        // Somebody else clears it away, as a guard does for a runner that is dead.
        let told = plan();
        std::mem::forget(told.clone().settle(&[family]).unwrap());
        told.clear();
        assert_eq!(group.descendants(), Vec::new());
        assert_eq!(group.processes(), [process::pid()]);
        assert_eq!(task::wait(family).unwrap().signal, Some(libc::SIGKILL));
    });
    guard.end().unwrap();
}

#[test]
fn a_root_and_version_1_need_no_nest() {
    let needed = Plan::below_own(&["cpu", "memory"], "nest");
    let version = Cgroup::own("cpu").or_else(|_| Cgroup::own("memory")).map(|own| own.version());
    assert!(needed.is_none() || version.is_ok_and(|version| version == Version::V2), "{needed:?}");
    assert_eq!(Plan::below_own(&["no such controller"], "nest"), None);
}

#[test]
fn a_group_is_deserted_when_those_below_it_are() {
    let Some(guard) = group_or_say("cpu", "deserted") else { return };
    let inner = guard.group().child("inner").unwrap();
    assert!(guard.group().is_deserted());
    let child = fork_run(|| {
        crate::clock::sleep_ns(60_000_000_000);
        0
    })
    .unwrap();
    inner.add(child).unwrap();
    assert!(!guard.group().is_deserted());
    process::kill(child, libc::SIGKILL).unwrap();
    task::wait(child).unwrap();
    eventually("being deserted", || guard.group().is_deserted());
    guard.end().unwrap();
}

proptest::proptest! {
        #![proptest_config(crate::hostile::scale::at_scale(256))]

    #[test]
    fn damaged_mounts_and_paths_lead_nowhere_else(
        mounts in damaged(crate::hostile::texts()),
        own in damaged(crate::hostile::texts()),
    ) {
        let [mounts, own] = [mounts, own].map(|text| String::from_utf8_lossy(&text).into_owned());
        for mount in find::parse_mounts(&mounts) {
            let Some(path) = find::parse_own_path(&own, &mount) else { continue };
            let Some(folder) = find::folder_below(&mount, &path) else { continue };
            proptest::prop_assert!(folder.starts_with(&mount.folder), "{folder:?}: {mount:?}");
        }
    }
}
