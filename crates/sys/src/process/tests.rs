use super::*;
use crate::pages::shared;
use crate::task::{self, fork_run};
use crate::testing::{eventually, in_child};
use std::sync::atomic::Ordering;

/// Sleeps until it is killed.
fn sleep_long() -> i32 {
    crate::clock::sleep_ns(60_000_000_000);
    0
}

#[test]
fn a_group_with_a_grandchild_is_found_adopted_and_killed() {
    in_child(|| {
        become_subreaper().unwrap();
        let memory = shared(8).unwrap();
        let word = &memory.words()[0];
        let leader = fork_run(|| {
            let Ok(_) = new_group() else { return 1 };
            // A plain fork: this one must outlive its parent.
            let grandchild = task::fork_with(|| {
                word.store(pid() as u64, Ordering::Release);
                sleep_long()
            });
            i32::from(grandchild.is_err())
        })
        .unwrap();
        eventually("the leader's end", || peek_exited(leader).unwrap());
        eventually("the grandchild's start", || word.load(Ordering::Acquire) != 0);
        let grandchild = Pid::try_from(word.load(Ordering::Acquire)).unwrap();
        // The leader is a zombie: not a member any more, but a child.
        assert_eq!(group_members(leader), [grandchild]);
        eventually("the adoption", || adopted_children(&[leader]) == [grandchild]);
        assert!(adopted_children(&[]).contains(&leader));
        kill_group(leader, libc::SIGKILL).unwrap();
        assert_eq!(task::wait(leader).unwrap().code, Some(0));
        assert_eq!(task::wait(grandchild).unwrap().signal, Some(libc::SIGKILL));
        assert_eq!(group_members(leader), Vec::<Pid>::new());
        assert_eq!(adopted_children(&[]), Vec::<Pid>::new());
        // Nobody is left, and that is fine.
        assert_eq!(kill_group(leader, libc::SIGKILL), Ok(()));
    });
}

#[test]
fn a_scan_finds_what_the_kernels_list_finds() {
    in_child(|| {
        let child = fork_run(sleep_long).unwrap();
        assert_eq!(scanned_children(), [child]);
        match listed_children("self") {
            Some(listed) => assert_eq!(listed, [child]),
            None => println!("skipped: this kernel keeps no list of children"),
        }
        kill(child, libc::SIGKILL).unwrap();
        task::wait(child).unwrap();
    });
}

#[test]
fn dangerous_targets_are_refused() {
    // To the kernel -1 is every process there is, and -0 our own group.
    for pgid in [1, 0, -1, -7] {
        assert_eq!(kill_group(pgid, 0).unwrap_err().errno(), Some(libc::EINVAL));
    }
    for pid in [0, -1, -7] {
        assert_eq!(kill(pid, 0).unwrap_err().errno(), Some(libc::EINVAL));
    }
    let error = kill(pid(), 4711).unwrap_err();
    assert_eq!(error.errno(), Some(libc::EINVAL));
}

#[test]
fn a_parent_that_is_gone_is_noticed() {
    in_child(|| {
        assert_eq!(die_with_parent(parent_pid()), Ok(()));
        let error = die_with_parent(pid()).unwrap_err();
        assert_eq!(error.errno(), Some(libc::ESRCH));
    });
}

#[test]
fn niceness_is_set_and_read() {
    in_child(|| {
        let before = nice();
        let wanted = (before + 3).min(19);
        set_nice(wanted).unwrap();
        assert_eq!(nice(), wanted);
        // Whether it may be lowered is a right of its own, which root may lack
        // and others may have; either way the answer must be true.
        match set_nice(-20) {
            Ok(()) => assert_eq!(nice(), -20),
            Err(error) => {
                assert!(matches!(error.errno(), Some(libc::EACCES | libc::EPERM)), "{error}");
                assert_eq!(nice(), wanted);
            }
        }
    });
}

#[test]
fn groups_are_made() {
    in_child(|| {
        assert_eq!(new_group().unwrap(), pid());
        assert_eq!(group_members(pid()), [pid()]);
    });
}

#[test]
fn a_child_knows_its_parent() {
    let parent = pid();
    let child = fork_run(|| i32::from(parent_pid() != parent)).unwrap();
    assert_eq!(task::wait(child).unwrap().code, Some(0));
}

#[test]
fn a_child_keeps_what_it_is_told_and_its_first_three_descriptors() {
    use std::os::fd::{AsFd, AsRawFd};
    let open = || std::fs::File::open("/proc/self/stat").unwrap();
    in_child(|| {
        let files = [open(), open(), open(), open()];
        close_all_but(&[files[2].as_fd(), files[0].as_fd()]).unwrap();
        let is_open = |number: i32| std::fs::read_link(format!("/proc/self/fd/{number}")).is_ok();
        let kept: Vec<bool> = files.iter().map(|file| is_open(file.as_raw_fd())).collect();
        assert!(kept == [true, false, true, false] && is_open(2), "{kept:?}");
        close_all_but(&[]).unwrap();
        assert!(!is_open(files[0].as_raw_fd()) && is_open(1));
        // Their owners must not close them again.
        std::mem::forget(files);
        assert_eq!(
            close_all_but(&[std::io::stdin().as_fd()]).unwrap_err().errno(),
            Some(libc::EBADF)
        );
    });
}

#[test]
fn the_nearest_descendants_are_bounded() {
    in_child(|| {
        let parent = fork_run(|| {
            let child = task::fork_run(sleep_long);
            let sibling = task::fork_run(sleep_long);
            if child.is_err() || sibling.is_err() { 1 } else { sleep_long() }
        })
        .unwrap();
        if std::fs::read(format!("/proc/{parent}/task/{parent}/children")).is_err() {
            println!("skipped: this kernel keeps no lists of children");
            return;
        }
        eventually("two grandchildren", || nearest(pid(), 9).len() == 3);
        let all = nearest(pid(), 9);
        assert_eq!(all[0], parent);
        assert_eq!(nearest(pid(), 2), all[..2]);
        assert_eq!(nearest(parent, 9), all[1..]);
        assert_eq!(nearest(pid(), 0), Vec::<Pid>::new());
        kill_descendants(pid(), &[], std::time::Duration::from_secs(20)).unwrap();
    });
}
