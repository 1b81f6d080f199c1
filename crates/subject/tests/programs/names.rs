//! The names of locks, however a program was built.

use crate::bench::{measured, program, test};
use libtest_mimic::Trial as Test;
use model::WaitKind;
use std::path::Path;
use std::process::Command;

pub(crate) fn tests() -> Vec<Test> {
    vec![
        test("a_static_lock_has_its_own_name", a_static_lock_has_its_own_name),
        test("each_kind_of_lock_has_its_own_name", each_kind_of_lock_has_its_own_name),
        test("locks_of_a_namespace_stay_two", locks_of_a_namespace_stay_two),
        test("locks_of_rust_have_their_paths", locks_of_rust_have_their_paths),
        test("a_wait_that_nobody_ends_is_a_time_out", a_wait_that_nobody_ends_is_a_time_out),
        test("sleepers_of_go_wait_for_no_others", sleepers_of_go_wait_for_no_others),
        test("a_barrier_of_cpp_is_no_lock", a_barrier_of_cpp_is_no_lock),
        test(
            "a_program_that_is_replaced_keeps_its_names",
            a_program_that_is_replaced_keeps_its_names,
        ),
    ]
}

/// Builds a source with these words; `None` where this machine has no such compiler or linker.
fn built(folder: &Path, source: &str, words: &str) -> Option<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    let path = folder.join(words.replace([' ', '/'], "_"));
    let mut words = words.split(' ');
    let mut compiler = Command::new(words.next()?);
    compiler.args(words).arg("-o").arg(&path).arg(source).current_dir(folder);
    let output = compiler.output().ok()?;
    output.status.success().then(|| path.display().to_string())
}

/// Returns what threads of a program waited for that is no sleep and no end of a thread, by kind.
fn waited(words: &[&str]) -> Vec<(WaitKind, String)> {
    let record = measured(program(words));
    let waits = record.measured.expect("a measured trial").waits.expect("looks at its threads");
    let kept = waits.waits.into_iter().filter(|wait| {
        let kinds = [WaitKind::Lock, WaitKind::Signal, WaitKind::Barrier, WaitKind::Hidden];
        kinds.contains(&wait.kind)
    });
    kept.map(|wait| (wait.kind, wait.what)).collect()
}

/// Runs in which a lock that is seldom waited for is seen once at least.
const RUNS_MAX: usize = 6;

/// Checks that waits are for one of these alone, and for the first of them if it has to be seen: looks beside other
/// programs may miss it in one run.
fn check(words: &[&str], right: &[(WaitKind, &str)], is_named: bool) {
    let (kind, what) = right[0];
    let mut seen = Vec::new();
    for _ in 0..RUNS_MAX {
        let waits = waited(words);
        let is_right = |(kind, what): &(WaitKind, String)| right.contains(&(*kind, what));
        assert!(waits.iter().all(is_right), "{words:?}: {waits:?}");
        if waits.contains(&(kind, what.to_string())) || !is_named && !waits.is_empty() {
            return;
        }
        seen.extend(waits);
    }
    panic!("{words:?}: {what} was not seen, but {seen:?}");
}

fn a_static_lock_has_its_own_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = "cc -O2 -pthread";
    let mut count = 0;
    for (compiler, flags) in [
        (plain, ""),
        (plain, "-O0"),
        (plain, "-static"),
        (plain, "-no-pie"),
        (plain, "-static-pie"),
        (plain, "-flto"),
        (plain, "-Wl,-z,norelro"),
        (plain, "-Wl,-z,noseparate-code"),
        (plain, "-fno-asynchronous-unwind-tables"),
        (plain, "-fno-plt -Wl,-z,now"),
        (plain, "-fuse-ld=gold"),
        (plain, "-fuse-ld=lld"),
        (plain, "-static -fuse-ld=lld"),
        (plain, "-s"),
        ("clang -O2 -pthread", ""),
        ("clang -O2 -pthread", "-fuse-ld=lld"),
        ("musl-gcc -O2 -pthread", "-static"),
    ] {
        let words = format!("{compiler} {flags}");
        let Some(path) = built(folder.path(), "locks.c", words.trim_end()) else { continue };
        let right = [
            (WaitKind::Lock, "gate (mutex)"),
            (WaitKind::Lock, "a mutex"),
            (WaitKind::Lock, "a lock"),
        ];
        check(&[&path, "gate"], &right, flags != "-s");
        count += 1;
    }
    assert!(count > 0, "a C compiler: what links Rust is one");
}

fn each_kind_of_lock_has_its_own_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = built(folder.path(), "locks.c", "cc -O1 -pthread").expect("a C compiler");
    check(&[&path, "book"], &[(WaitKind::Lock, "book (reader-writer lock)")], true);
    check(&[&path, "slots"], &[(WaitKind::Signal, "slots (semaphore)")], true);
    // Where the word lies in the lock that is waited for is no part of its name.
    let shelf = "shelf (reader-writer lock)";
    let right = [
        (WaitKind::Lock, "shelf + 80 (reader-writer lock)"),
        // The place is not known where the library is another one.
        (WaitKind::Lock, shelf),
    ];
    check(&[&path, "shelf"], &right, false);
    // Each of the table's parts has a name of 100 bytes, 4 of padding, and a mutex of 40.
    let distance = if cfg!(target_arch = "x86_64") { "table + 392 (mutex)" } else { return };
    check(&[&path, "table"], &[(WaitKind::Lock, distance)], true);
}

fn locks_of_a_namespace_stay_two() {
    let folder = tempfile::tempdir().expect("a folder");
    for flags in ["-O2", "-O0", "-O2 -static"] {
        let words = format!("c++ -pthread {flags}");
        let Some(path) = built(folder.path(), "locks.cc", &words) else { continue };
        for name in ["bank::accounts (mutex)", "bank::ledger (mutex)"] {
            let others = ["bank::accounts (mutex)", "bank::ledger (mutex)", "a mutex"];
            let once = "bank::transfer(bool)::once (mutex)";
            let all = [name].into_iter().chain(others).chain([once]);
            let right: Vec<_> = all.map(|one| (WaitKind::Lock, one)).collect();
            check(&[&path], &right, true);
        }
    }
}

/// Each call that can wait for a limited time, of which a look sees the time and not that it is over.
fn a_wait_that_nobody_ends_is_a_time_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = built(folder.path(), "timeouts.c", "cc -O2 -pthread").expect("a C compiler");
    for how in ["cond", "sem", "epoll", "poll", "ppoll", "select", "recv", "signal"] {
        let record = measured(program(&[&path, how]));
        let waits = record.measured.expect("a measured trial").waits.expect("looks at its threads");
        let is_of = |timer: bool| {
            // A thread that goes on while it is asked is not known to wait for anything.
            let known = waits.waits.iter().filter(|one| one.kind != WaitKind::Unknown);
            let own = known.filter(|one| (one.kind == WaitKind::Timer) == timer);
            own.map(|one| one.ns.max(one.still_ns)).sum::<u64>()
        };
        let [over, others] = [true, false].map(is_of);
        assert!(over > 10 * others && over > 0, "{how}: {:?}", waits.waits);
    }
}

/// Threads of Go without a goroutine are idle, whether the program has symbols or not.
fn sleepers_of_go_wait_for_no_others() {
    let folder = tempfile::tempdir().expect("a folder");
    for flags in ["", "-ldflags=-s"] {
        let words = format!("go build {flags}");
        let Some(path) = built(folder.path(), "sleepers.go", words.trim_end()) else { continue };
        let record = measured(program(&[&path]));
        let waits = record.measured.expect("a measured trial").waits.expect("looks at its threads");
        // A thread that wakes up while it is asked is not known to wait for anything.
        let is_own = |wait: &&model::Wait| wait.ns > wait.idle_ns && wait.kind != WaitKind::Unknown;
        let own = waits.waits.iter().filter(is_own);
        let own: Vec<_> = own.map(|wait| (wait.kind, wait.what.as_str(), wait.ns)).collect();
        let slept: u64 = own.iter().filter(|one| one.0 == WaitKind::Timer).map(|one| one.2).sum();
        let all: u64 = own.iter().map(|one| one.2).sum();
        assert!(slept as f64 > 0.9 * all as f64 && slept > 0, "{flags}: {own:?}");
    }
}

/// The library keeps the words of barriers, latches and atomic variables in a table of its own.
fn a_barrier_of_cpp_is_no_lock() {
    let folder = tempfile::tempdir().expect("a folder");
    for flags in ["-O0", "-O2"] {
        let words = format!("c++ -std=c++20 -pthread {flags}");
        let Some(path) = built(folder.path(), "barrier.cc", &words) else { continue };
        for (kind, what) in waited(&[&path]) {
            assert!(kind != WaitKind::Lock && !what.contains("std::"), "{flags}: {kind:?} {what}");
        }
    }
}

/// The file at its path is another one when its symbols are read.
fn a_program_that_is_replaced_keeps_its_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = built(folder.path(), "locks.c", "cc -O2 -pthread").expect("a C compiler");
    let other = built(folder.path(), "timeouts.c", "cc -O0 -pthread").expect("a C compiler");
    let script =
        format!("cp {path} now; cp {other} new; ./now gate & sleep 0.02; mv new now; wait");
    let right = [
        (WaitKind::Lock, "gate (mutex)"),
        (WaitKind::Lock, "a mutex"),
        (WaitKind::Lock, "a lock"),
        // What the shell waits for.
        (WaitKind::Signal, "a signal"),
    ];
    // Root alone may read the file that was replaced.
    check(&["sh", "-c", &script], &right, false);
}

fn locks_of_rust_have_their_paths() {
    let folder = tempfile::tempdir().expect("a folder");
    for flags in
        ["-O", "-g", "-O -Cpanic=abort", "-O -Clink-arg=-fuse-ld=bfd", "-O -Cstrip=symbols"]
    {
        let words = format!("rustc {flags}");
        let Some(path) = built(folder.path(), "locks.rs", &words) else { continue };
        let is_named = !flags.contains("strip");
        for (mode, name) in
            [("gate", "locks::GATE (mutex)"), ("book", "locks::BOOK (reader-writer lock)")]
        {
            let mut right = vec![(WaitKind::Lock, name)];
            if !is_named {
                right.push((WaitKind::Hidden, "a lock or a signal of another thread"));
            }
            check(&[&path, mode], &right, is_named);
        }
    }
}
