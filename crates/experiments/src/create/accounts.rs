//! What a fork and a thread are made of: counts times unit costs, with what remains.

use super::cells::{by, with_memory};
use kit::declare::{account, beyond, known, measured, part};
use kit::model::{Account, Part};

const WHOLE: &str = "whole_ns";

pub(super) fn accounts() -> Vec<Account> {
    vec![
        account(
            "fork",
            "one fork from a bare parent: fork, _exit, wait4; what is left is what libc does beside \
             its page faults",
            measured(WHOLE, by("fork")),
            vec![
                part(
                    "a process that shares its parent's memory, made, ended and awaited: \
                     clone3(CLONE_VM)",
                    known(1.0),
                    measured(WHOLE, by("clone_vm")),
                ),
                part(
                    "the copy of the address space: what a bare clone3 costs more without CLONE_VM",
                    known(1.0),
                    beyond(WHOLE, by("clone_copy"), by("clone_vm")),
                ),
                faults(
                    "page faults of libc's child beyond those of the bare one",
                    "child_faults_count",
                ),
                faults("page faults of its parent, likewise", "parent_faults_count"),
            ],
        ),
        account(
            "fork_64",
            "one fork from a parent that has touched 64 MiB",
            measured(WHOLE, with_memory("fork", "64")),
            vec![
                part("a fork from a bare parent", known(1.0), measured(WHOLE, by("fork"))),
                part(
                    "what 64 MiB add to a bare clone3(SIGCHLD): page tables copied and taken down",
                    known(1.0),
                    beyond(WHOLE, with_memory("clone_copy", "64"), by("clone_copy")),
                ),
            ],
        ),
        account(
            "thread",
            "one thread: pthread_create, pthread_join; what is left is what the calls do in the \
             kernel, and glibc",
            measured(WHOLE, by("pthread")),
            vec![
                switches("pthread"),
                // The unit is the way there and back, without what a call does there: clone3, rseq,
                // set_robust_list, four of rt_sigprocmask, madvise, exit, futex.
                part(
                    "ways into the kernel and back: the calls that `syscalls` lists (glibc 2.36)",
                    known(10.0),
                    measured(WHOLE, by("entry")),
                ),
            ],
        ),
    ]
}

fn faults(label: &str, counted: &str) -> Part {
    part(label, beyond(counted, by("fork"), by("clone_copy")), measured(WHOLE, by("fault")))
}

/// A switch cannot be had without a call that brings it about, so its unit holds two of them.
fn switches(mechanism: &str) -> Part {
    part(
        "switches, each half of a hand-off by futex (its two system calls included)",
        measured("switches_count", by(mechanism)),
        measured("half_ns", by("pool_futex")),
    )
}
