use super::*;
use crate::pages::{Huge, Mapping, page_bytes, shared};
use crate::process;
use crate::testing::{eventually, in_child};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

static SEEN: AtomicUsize = AtomicUsize::new(0);

extern "C" fn note_argument(argument: *mut c_void) -> *mut c_void {
    SEEN.store(argument.addr(), Ordering::Release);
    std::ptr::null_mut()
}

extern "C" fn count_up(_argument: *mut c_void) -> *mut c_void {
    STARTED.fetch_add(1, Ordering::AcqRel);
    std::ptr::null_mut()
}

static STARTED: AtomicU32 = AtomicU32::new(0);

#[test]
fn a_bare_thread_gets_its_argument() {
    spawn_thread(None, note_argument, 4711).unwrap().join().unwrap();
    assert_eq!(SEEN.load(Ordering::Acquire), 4711);
}

#[test]
fn stacks_may_be_small_but_not_smaller() {
    let smallest = smallest_stack_bytes();
    for stack_bytes in [None, Some(smallest.max(64 * 1024)), Some(64 << 20)] {
        spawn_thread(stack_bytes, count_up, 0).unwrap().join().unwrap();
    }
    assert!(STARTED.load(Ordering::Acquire) >= 3);
    let error = spawn_thread(Some(1), count_up, 0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "pthread_attr_setstacksize(1 bytes): Invalid argument (os error 22)"
    );
}

#[test]
fn a_dropped_thread_still_runs() {
    let before = STARTED.load(Ordering::Acquire);
    drop(spawn_thread(None, count_up, 0).unwrap());
    eventually("the detached thread's start", || STARTED.load(Ordering::Acquire) > before);
}

#[test]
fn every_kind_of_child_that_exits_exits_with_zero() {
    let mut stack = CloneStack::new().unwrap();
    for _ in 0..50 {
        let children =
            [fork_exit(false), vfork_exit(), clone_vm_exit(&mut stack), clone_fork_exit()];
        for child in children {
            let pid = match child {
                Ok(pid) => pid,
                Err(error) => {
                    // Old kernels and some seccomp filters refuse clone3.
                    assert!(error.to_string().starts_with("clone3"), "{error}");
                    println!("skipped: {error}");
                    continue;
                }
            };
            let ended = wait(pid).unwrap();
            assert_eq!((ended.code, ended.signal), (Some(0), None));
        }
    }
}

#[test]
fn a_flushing_child_runs_what_was_registered_for_the_exit() {
    static MARK: std::sync::OnceLock<crate::pages::SharedWords> = std::sync::OnceLock::new();
    extern "C" fn leave_a_mark() {
        if let Some(mark) = MARK.get() {
            mark.words()[0].fetch_add(1, Ordering::AcqRel);
        }
    }
    let mark = MARK.get_or_init(|| shared(8).unwrap());
    in_child(|| {
        // SAFETY: the function may be called at any exit of this child's.
        assert_eq!(unsafe { libc::atexit(leave_a_mark) }, 0);
        assert_eq!(wait(fork_exit(false).unwrap()).unwrap().code, Some(0));
        assert_eq!(mark.words()[0].load(Ordering::Acquire), 0);
        assert_eq!(wait(fork_exit(true).unwrap()).unwrap().code, Some(0));
        assert_eq!(mark.words()[0].load(Ordering::Acquire), 1);
    });
    // The child itself ends by `_exit`, which runs nothing.
    assert_eq!(mark.words()[0].load(Ordering::Acquire), 1);
}

#[test]
fn only_a_fork_makes_the_parents_next_writes_fault() {
    // In a child of its own, since a fork by another test would do the same.
    in_child(|| {
        let mut mapping = Mapping::new(256 * page_bytes(), Huge::Never).unwrap();
        mapping.touch(page_bytes());
        let faults_of_rewriting = |mapping: &mut Mapping| {
            let before = Usage::of_thread();
            mapping.touch(page_bytes());
            Usage::of_thread().since(before).minor_faults
        };
        wait(vfork_exit().unwrap()).unwrap();
        assert!(faults_of_rewriting(&mut mapping) < 16);
        if let Ok(pid) = clone_vm_exit(&mut CloneStack::new().unwrap()) {
            wait(pid).unwrap();
            assert!(faults_of_rewriting(&mut mapping) < 16);
        }
        let sleeper = fork_run(|| {
            crate::clock::sleep_ns(60_000_000_000);
            0
        })
        .unwrap();
        assert!(faults_of_rewriting(&mut mapping) >= 256);
        process::kill(sleeper, libc::SIGKILL).unwrap();
        wait(sleeper).unwrap();
    });
}

#[test]
fn codes_and_signals_are_told_apart() {
    let code = fork_run(|| 42).unwrap();
    assert_eq!(wait(code).unwrap().code, Some(42));
    let signal = fork_run(|| {
        let _ = process::kill(process::pid(), libc::SIGKILL);
        1
    })
    .unwrap();
    let ended = wait(signal).unwrap();
    assert_eq!((ended.code, ended.signal), (None, Some(libc::SIGKILL)));
}

#[test]
fn a_panic_in_a_child_is_an_exit_code() {
    let child = fork_run(|| {
        // The default hook would print, and may want a lock of a thread that
        // does not exist here.
        std::panic::resume_unwind(Box::new(()));
    })
    .unwrap();
    assert_eq!(wait(child).unwrap().code, Some(PANIC_CODE));
}

#[test]
fn a_child_is_killed_with_its_parent() {
    // A subreaper gets the orphan, and so can see by what it ended.
    in_child(|| {
        process::become_subreaper().unwrap();
        let memory = shared(8).unwrap();
        let word = &memory.words()[0];
        let parent = fork_run(|| {
            let grandchild = fork_run(|| {
                crate::clock::sleep_ns(60_000_000_000);
                0
            });
            word.store(grandchild.unwrap_or(0) as u64, Ordering::Release);
            0
        })
        .unwrap();
        assert_eq!(wait(parent).unwrap().code, Some(0));
        let grandchild = Pid::try_from(word.load(Ordering::Acquire)).unwrap();
        let ended = wait(grandchild).unwrap();
        // Code: the child saw that its parent was gone before it could ask the
        // kernel to be killed with it.
        assert!(ended.signal == Some(libc::SIGKILL) || ended.code == Some(PANIC_CODE), "{ended:?}");
    });
}

#[test]
fn programs_are_started_with_their_arguments_and_no_environment() {
    let shell = c"/bin/sh";
    // `HOME` is in no environment, so the second word is empty.
    let script = c"test \"$1$HOME\" = argument && exit 7";
    let arguments = [c"-c", script, c"name", c"argument"];
    for child in [spawn_program(shell, &arguments), fork_exec(shell, &arguments)] {
        assert_eq!(wait(child.unwrap()).unwrap().code, Some(7));
    }
}

#[test]
fn a_program_that_is_not_there_is_said_so() {
    let error = spawn_program(c"/no/such/program", &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "posix_spawn(/no/such/program): No such file or directory (os error 2)"
    );
    let child = fork_exec(c"/no/such/program", &[]).unwrap();
    assert_eq!(wait(child).unwrap().code, Some(EXEC_FAILED_CODE));
    let many = [c"x"; MAXIMUM_ARGUMENTS + 1];
    assert_eq!(spawn_program(c"/bin/true", &many).unwrap_err().errno(), Some(libc::E2BIG));
}

#[test]
fn waiting_reports_the_childs_usage() {
    let child = fork_run(|| {
        Mapping::new(300 * page_bytes(), Huge::Never).map_or(1, |mut mapping| {
            mapping.touch(page_bytes());
            0
        })
    })
    .unwrap();
    let ended = wait(child).unwrap();
    assert_eq!(ended.code, Some(0));
    assert!(ended.usage.minor_faults >= 300);
}

#[test]
fn a_living_child_is_not_waited_for() {
    let memory = shared(8).unwrap();
    let word = &memory.words()[0];
    let child = fork_run(|| {
        while word.load(Ordering::Acquire) == 0 {
            crate::clock::sleep_ns(1_000_000);
        }
        3
    })
    .unwrap();
    assert_eq!(try_wait(child), Ok(None));
    assert!(exists(child));
    assert_eq!(process::peek_exited(child), Ok(false));
    word.store(1, Ordering::Release);
    eventually("the child's end", || process::peek_exited(child).unwrap());
    // Peeking reaps nothing.
    assert!(exists(child));
    assert_eq!(process::peek_exited(child), Ok(true));
    assert_eq!(try_wait(child).unwrap().unwrap().code, Some(3));
    assert_eq!(wait(child).unwrap_err().errno(), Some(libc::ECHILD));
    assert_eq!(process::peek_exited(child).unwrap_err().errno(), Some(libc::ECHILD));
}

#[test]
fn numbers_that_mean_groups_are_refused() {
    for pid in [0, -1, -5] {
        assert_eq!(wait(pid).unwrap_err().errno(), Some(libc::ECHILD));
        assert!(try_wait(pid).is_err());
        assert!(!exists(pid));
        assert!(process::peek_exited(pid).is_err());
    }
}

#[test]
fn an_orphan_works_and_is_nobodys_child_of_ours() {
    // In a child that reaps orphans, so that this one does not stay with the tests.
    in_child(|| {
        process::become_subreaper().unwrap();
        let word = shared(8).unwrap();
        let orphan = fork_orphan(|| {
            while word.words()[0].load(Ordering::Acquire) == 0 {
                std::hint::spin_loop();
            }
            7
        })
        .unwrap();
        assert_eq!(process::adopted_children(&[]), [orphan], "its parent is gone");
        word.words()[0].store(1, Ordering::Release);
        assert_eq!(wait(orphan).unwrap().code, Some(7));
    });
}

#[test]
fn any_child_that_has_ended_is_reaped_once() {
    in_child(|| {
        assert_eq!(try_wait_any().unwrap_err().errno(), Some(libc::ECHILD));
        let gate = shared(size_of::<u64>()).unwrap();
        let held = fork_run(|| {
            while gate.words()[0].load(Ordering::Acquire) == 0 {
                crate::clock::sleep_ns(100_000);
            }
            5
        })
        .unwrap();
        let quick = fork_run(|| 6).unwrap();
        let mut first = None;
        eventually("one has ended", || {
            first = try_wait_any().unwrap();
            first.is_some()
        });
        let (pid, ended) = first.unwrap();
        assert_eq!((pid, ended.code), (quick, Some(6)));
        assert_eq!(try_wait_any().unwrap(), None);
        gate.words()[0].store(1, Ordering::Release);
        eventually("the other has ended", || {
            try_wait_any().unwrap().is_some_and(|(pid, ended)| {
                assert_eq!((pid, ended.code), (held, Some(5)));
                true
            })
        });
        assert!(try_wait_any().is_err());
    });
}

#[test]
fn the_smallest_program_starts_and_ends_well_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("smallest");
    write_smallest_program(&file).unwrap();
    assert_eq!(write_smallest_program(&file).unwrap_err().errno(), Some(libc::EEXIST));
    let path = std::ffi::CString::new(file.into_os_string().into_encoded_bytes()).unwrap();
    for start in [spawn_program, fork_exec, spawn_program] {
        // Other tests fork meanwhile: a child of theirs may still hold the file open for writing.
        eventually("an executable file", || start(&path, &[]).is_ok_and(ended_well));
    }
}

fn ended_well(child: Pid) -> bool {
    wait(child).unwrap().code == Some(0)
}
