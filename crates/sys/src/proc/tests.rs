use super::*;
use crate::pages::shared;
use crate::testing::{eventually, in_child};
use crate::{clock, process, task};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Texts that no parser may panic on.
const HOSTILE: [&str; 14] = [
    "",
    "\n",
    " ",
    ":",
    "()",
    ")(",
    "1 (a) R",
    "1 (a",
    "Rss:\nPss: x kB\n",
    "Rss: 99999999999999999999 kB",
    "cpu  1 2 3",
    "some avg10=0 total=-1",
    "\u{fffd}\u{fffd}(é) é",
    "Threads: 1\nCpus_allowed_list: 9999999999-0\n",
];

#[test]
fn hostile_texts_are_no_answers() {
    for text in HOSTILE {
        assert_eq!(parse_schedstat(text), None, "{text:?}");
        assert_eq!(parse_io(text), None, "{text:?}");
        assert_eq!(parse_status(text), None, "{text:?}");
        assert_eq!(parse_stat(text), None, "{text:?}");
        assert_eq!(parse_memory(text), None, "{text:?}");
        assert_eq!(parse_meminfo(text), None, "{text:?}");
        assert_eq!(parse_pressure(text), None, "{text:?}");
        assert_eq!(load::parse_machine_stat(text, 10), None, "{text:?}");
    }
}

#[test]
fn every_cut_of_a_real_text_is_survived() {
    for path in ["stat", "status", "io", "smaps", "schedstat"] {
        let Ok(text) = crate::text::read(format!("/proc/self/{path}")) else { continue };
        for end in (0..text.len().min(3000)).filter(|end| text.is_char_boundary(*end)) {
            let cut = &text[..end];
            let _ = (parse_stat(cut), parse_status(cut), parse_io(cut), parse_memory(cut));
            let _ = (parse_schedstat(cut), parse_meminfo(cut), parse_pressure(cut));
        }
    }
}

#[test]
fn a_name_with_parentheses_ends_at_the_last_one() {
    let text = "77 (a) R (b) c) S 12 34 56 0 -1 0 1 2 3 4 500 60 7 8 20 0 1 0 9000 1 2";
    let stat = parse_stat(text).unwrap();
    assert_eq!(stat.name, "a) R (b) c");
    assert_eq!((stat.state, stat.parent, stat.group, stat.session), ('S', 12, 34, 56));
    assert_eq!((stat.cpu_ticks, stat.children_ticks, stat.start_ticks), (560, 15, 9000));
}

#[test]
fn the_numbers_of_small_files_are_read() {
    let stat = parse_schedstat("10 20 30\n").unwrap();
    assert_eq!((stat.on_cpu_ns, stat.queue_wait_ns, stat.slices), (10, 20, 30));
    let later = SchedStat { on_cpu_ns: 15, queue_wait_ns: 20, slices: 31 };
    assert_eq!(later.since(stat), SchedStat { on_cpu_ns: 5, queue_wait_ns: 0, slices: 1 });
    assert_eq!(
        parse_pressure("some avg10=0.01 avg60=0.22 total=9555\nfull total=1"),
        Some(9_555_000)
    );
    let machine = load::parse_machine_stat("cpu  10 2 5 900 40 1 2 7 3 0\ncpu0 1\n", 10).unwrap();
    assert_eq!((machine.busy_ns, machine.steal_ns, machine.precise), (200, 70, false));
    let mappings = "1-2 rw\nRss: 4 kB\nPss: 2 kB\nPrivate_Clean: 1 kB\nPrivate_Dirty: 1 kB\n\
                    3-4 rw\nRss: 4 kB\nPss: 2 kB\nPrivate_Clean: 0 kB\nPrivate_Dirty: 4 kB\nAnonHugePages: 2 kB\n";
    let memory = parse_memory(mappings).unwrap();
    assert_eq!((memory.rss_bytes, memory.pss_bytes, memory.uss_bytes), (8192, 4096, 6144));
    assert_eq!((memory.huge_bytes, memory.swap_bytes), (2048, 0));
}

#[test]
fn a_tasks_own_files_are_read() {
    let own = process::pid();
    let status = status(own).unwrap();
    assert!(status.threads >= 1);
    assert!(status.rss_bytes.unwrap() <= status.rss_peak_bytes.unwrap());
    assert!(status.vm_size_bytes.unwrap() <= status.vm_peak_bytes.unwrap());
    assert!(!status.cpus_allowed.is_empty());
    match schedstat_thread() {
        Some(_) => assert!(schedstat_process(own).unwrap().slices >= 1),
        None => println!("skipped: this kernel keeps no schedstat"),
    }
    if migrations_thread().is_none() {
        println!("skipped: this kernel does not count migrations of a task");
    }
}

#[test]
fn a_thread_that_slept_was_put_on_a_cpu_again() {
    let Some(before) = schedstat_thread() else {
        println!("skipped: this kernel keeps no schedstat");
        return;
    };
    for _ in 0..5 {
        clock::sleep_ns(100_000);
    }
    assert!(schedstat_thread().unwrap().since(before).slices >= 5);
}

#[test]
fn written_bytes_are_counted() {
    use std::io::Write;
    in_child(|| {
        let Some(before) = io(process::pid()) else {
            println!("skipped: this kernel keeps no account of I/O");
            return;
        };
        let mut file = std::fs::File::options().write(true).open("/dev/null").unwrap();
        file.write_all(&[0; 5000]).unwrap();
        let after = io(process::pid()).unwrap();
        assert_eq!(after.wchar - before.wchar, 5000);
        assert_eq!(after.syscw - before.syscw, 1);
    });
}

#[test]
fn a_process_that_is_not_there_has_no_figures() {
    // Above the largest number the kernel gives out (2^22).
    let nobody = 1 << 30;
    assert_eq!(memory(nobody).unwrap_err().errno(), Some(libc::ENOENT));
    assert_eq!(status(nobody).unwrap_err().errno(), Some(libc::ENOENT));
    assert_eq!(io(nobody), None);
    assert_eq!(schedstat_process(nobody), None);
}

#[test]
fn a_zombie_has_no_memory() {
    let child = task::fork_exit(false).unwrap();
    eventually("the child's end", || process::peek_exited(child).unwrap());
    assert!(memory(child).is_err());
    assert_eq!(status(child).unwrap().rss_bytes, None);
    task::wait(child).unwrap();
}

#[test]
fn rollup_and_mappings_agree() {
    in_child(|| {
        let own = process::pid();
        let Ok(rollup) = crate::text::read(format!("/proc/{own}/smaps_rollup")) else {
            println!("skipped: this kernel has no smaps_rollup");
            return;
        };
        let whole = parse_memory(&rollup).unwrap();
        let summed =
            parse_memory(&crate::text::read(format!("/proc/{own}/smaps")).unwrap()).unwrap();
        // Reading the long text needs memory of its own.
        assert!(whole.rss_bytes.abs_diff(summed.rss_bytes) < 1 << 20);
        assert!(whole.uss_bytes.abs_diff(summed.uss_bytes) < 1 << 20);
    });
}

#[test]
fn the_machine_has_memory_and_a_load() {
    let memory = meminfo().unwrap();
    assert!(memory.total_bytes > memory.available_bytes && memory.available_bytes > 0);
    assert!(load().unwrap() >= 0.0);

    assert_eq!(pressure("../stat"), None);
    assert_eq!(pressure("cpu").is_some(), std::path::Path::new("/proc/pressure/cpu").exists());
}

/// A child that uses `cpu_ns` of CPU time, tells so, and sleeps until killed.
fn spin_in_child(cpu_ns: u64, told: &std::sync::atomic::AtomicU64) -> task::Pid {
    task::fork_run(|| {
        let _ = process::new_group();
        while clock::process_cpu_ns() < cpu_ns {
            crate::black_box(());
        }
        told.store(clock::process_cpu_ns(), Ordering::Release);
        clock::sleep_ns(60_000_000_000);
        0
    })
    .unwrap()
}

#[test]
fn a_planted_spinner_is_in_every_account_of_the_machine() {
    let spin_ns = 300_000_000;
    let told = shared(8).unwrap();
    let sampled = || {
        load::parse_machine_stat(&crate::text::read("/proc/stat").unwrap(), load::tick_ns())
            .unwrap()
    };
    let (before, sampled_before) = (machine_cpu().unwrap(), sampled());
    let child = spin_in_child(spin_ns, &told.words()[0]);
    eventually("the spinner's end", || told.words()[0].load(Ordering::Acquire) != 0);
    // A precise sum is exact once every running task has met a tick (10 ms).
    clock::sleep_ns(30_000_000);
    let (after, sampled_after) = (machine_cpu().unwrap(), sampled());
    process::kill(child, libc::SIGKILL).unwrap();
    task::wait(child).unwrap();

    let used_ns = told.words()[0].load(Ordering::Acquire);
    let busy_ns = after.busy_ns - before.busy_ns;
    if after.precise {
        assert!(busy_ns >= used_ns, "{busy_ns} of {used_ns} ns");
    } else {
        println!("skipped: no precise account of the machine's CPU time");
    }
    // Sampling may miss part of it, and what the host takes counts as steal.
    let seen_ns = sampled_after.busy_ns - sampled_before.busy_ns + sampled_after.steal_ns
        - sampled_before.steal_ns;
    assert!(seen_ns >= used_ns / 2, "{seen_ns} of {used_ns} ns");
    assert!(after.steal_ns >= before.steal_ns);
}

#[test]
fn a_busy_neighbour_is_named() {
    let told = shared(8).unwrap();
    let child = spin_in_child(20_000_000_000, &told.words()[0]);
    let name = parse_stat(&crate::text::read(format!("/proc/{child}/stat")).unwrap()).unwrap().name;
    // Beside many other builds it may take a while to get two ticks of CPU.
    eventually("the neighbour's work", || {
        neighbours(Duration::from_millis(100))
            .iter()
            .any(|(one, share)| *one == name && *share > 0.0)
    });
    process::kill(child, libc::SIGKILL).unwrap();
    task::wait(child).unwrap();
}

#[test]
fn shares_are_ticks_over_time_and_sorted() {
    let stat = |name: &str, cpu_ticks, start_ticks| Stat {
        name: name.to_string(),
        state: 'R',
        parent: 1,
        group: 1,
        session: 1,
        cpu_ticks,
        children_ticks: 0,
        start_ticks,
    };
    let before =
        HashMap::from([(1, stat("a", 100, 5)), (2, stat("b", 50, 5)), (3, stat("old", 90, 5))]);
    // Number 3 was given to a new process meanwhile.
    let after =
        HashMap::from([(1, stat("a", 110, 5)), (2, stat("b", 50, 5)), (3, stat("new", 20, 6))]);
    let shares = load::busiest(&before, &after, 0.05);
    assert_eq!(shares, [("new".to_string(), 1.0), ("a".to_string(), 0.5)]);
}

proptest::proptest! {
        #![proptest_config(crate::hostile::scale::at_scale(256))]

    #[test]
    fn a_damaged_account_of_the_machine_is_survived(
        text in crate::hostile::damage::damaged(crate::hostile::texts()),
        tick_ns in 1_u64..,
    ) {
        let text = String::from_utf8_lossy(&text);
        if let Some(machine) = load::parse_machine_stat(&text, tick_ns) {
            proptest::prop_assert!(!machine.precise && machine.busy_ns.is_multiple_of(tick_ns));
        }
    }
}

#[test]
fn resident_memory_is_read_in_pages() {
    let found = parse_statm("3000 500 200 10 0 90 0\n", 4096);
    let expected = Resident { rss_bytes: 500 * 4096, anonymous_bytes: 300 * 4096 };
    assert_eq!(found, Some(expected));
    // A zombie's.
    assert_eq!(parse_statm("0 0 0 0 0 0 0", 4096), None);
    for hostile in ["", "1", "1 x 2", "1 2", "1 18446744073709551615 0"] {
        assert_eq!(parse_statm(hostile, 4096), None, "{hostile}");
    }
    let own = resident(crate::process::pid()).unwrap();
    assert!(own.anonymous_bytes > 0 && own.anonymous_bytes <= own.rss_bytes);
}
