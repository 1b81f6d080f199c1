//! What people say of threads and processes, each with the number that decides.

use super::cells::{by, of_libc, of_the_copy, with_memory};
use kit::declare::{claim, ratio, share, value};
use kit::model::{Claim, Region};

/// How far two costs may differ and still be called the same.
const SAME: f64 = 0.25;

const WHOLE: &str = "whole_ns";

const NOTES: &str = "an OS course's notes";

const IMPLIED: &str = "implied by an OS course's notes, which give the whole gap to the copy";

pub(super) fn claims() -> Vec<Claim> {
    let mut all = process_against_thread();
    all.extend(stacks());
    all.extend(memory());
    all.extend(without_the_copy());
    all.extend(pools());
    all.push(echo());
    all
}

fn process_against_thread() -> Vec<Claim> {
    let copies = "fork duplicates the address space, a thread shares it";
    let curve = "The number is one point of a curve: it depends on the memory that the parent has \
                 touched, on how the child ends, on the CPU where it runs, and on the system.";
    vec![
        claim(
            "ratio_15_20",
            NOTES,
            "Creating a process costs 15 to 20 times as much as creating a thread (16.31 times in \
             the notes' own table).",
            copies,
        )
        .note(curve)
        .holds_if(ratio(WHOLE, by("fork"), by("pthread")), Region::within(15.0, 20.0)),
    ]
}

fn stacks() -> Vec<Claim> {
    vec![
        claim(
            "stack_is_main_cost",
            "an OS course's notes; a lecture on threads",
            "The main cost of creating a thread is allocating its stack by mmap.",
            "each thread needs a stack of its own, which is mapped and later unmapped",
        )
        .note(
            "Judged where the claim has its best chance: threads whose stack of 64 MiB is really \
             mapped and unmapped each time. It holds if half of their cost or more vanishes when \
             the stack is one that libc has kept. glibc keeps up to 40 MiB of the stacks of ended \
             threads and hands them out again, so that a loop maps no stack for most of its \
             threads: the claim stack_by_mmap of syscalls counts that.",
        )
        .holds_if(
            share(WHOLE, by("pthread_fresh_stack"), by("pthread"), by("call")),
            Region::above(0.5),
        ),
    ]
}

fn memory() -> Vec<Claim> {
    let tables = "fork copies the page tables, one entry per page that the parent has touched";
    vec![
        claim(
            "fork_grows",
            NOTES,
            "The cost of a fork grows with the parent's memory (64 MiB: by half or more).",
            tables,
        )
        .note("Memory that is mapped and was never touched has no entries and costs nothing.")
        .holds_if(ratio(WHOLE, with_memory("fork", "64"), by("fork")), Region::above(1.5)),
        claim(
            "page_tables",
            NOTES,
            "What a large parent adds to a fork is the copy of its page tables, not of its memory.",
            tables,
        )
        .note(
            "The same 64 MiB in huge pages need 512 times fewer entries. The claim holds if most \
             of what they add vanishes.",
        )
        .holds_if(
            share(
                WHOLE,
                with_memory("fork", "64"),
                with_memory("fork", "64").with("pages", "huge"),
                by("fork"),
            ),
            Region::above(0.5),
        ),
        claim(
            "thread_does_not_grow",
            NOTES,
            "The cost of a thread does not depend on the memory of its process (64 MiB: within 25 %).",
            "a thread shares the page tables",
        )
        .holds_if(
            ratio(WHOLE, with_memory("pthread", "64"), by("pthread")),
            Region::about(1.0, SAME),
        ),
        claim(
            "spawn_does_not_grow",
            "posix_spawn(3) of the Linux man-pages",
            "posix_spawn does not depend on the parent's memory (64 MiB: within 25 %).",
            "it is made of clone(CLONE_VM|CLONE_VFORK), which copies no page table",
        )
        .holds_if(
            ratio(WHOLE, with_memory("posix_spawn", "64"), by("posix_spawn")),
            Region::about(1.0, SAME),
        ),
    ]
}

fn without_the_copy() -> Vec<Claim> {
    let copy = "a bare clone3 that copies the memory and one that shares it (CLONE_VM) differ by \
                the copy, its faults included, and by next to nothing else";
    let wrapper = "fork runs libc's handlers in the parent and code of libc in the child, whose \
                   writes fault on the copy";
    vec![
        claim(
            "copy_explains_gap",
            NOTES,
            "The copy of the address space makes most of the gap between a process that libc did \
             not make and a thread.",
            copy,
        )
        .note(
            "Compared is a bare clone3 with the pthread: how much of the gap vanishes where the \
             child shares the memory. Fork costs more than a bare clone3: that part is libc's and \
             is judged by the claim libc_of_gap. The parent has touched little; finding \
             copy_of_rest_64 gives the same number for a parent with 64 MiB.",
        )
        .holds_if(of_the_copy("0"), Region::above(0.5)),
        claim(
            "libc_of_gap",
            IMPLIED,
            "What libc does around a fork makes less than half of the gap between fork and a \
             thread.",
            wrapper,
        )
        .note(
            "How much of the gap between fork and the pthread vanishes where a bare clone3 copies \
             the memory and its child ends by a bare system call. What remains is the gap that \
             copy_explains_gap divides between the copy and the rest. Finding libc_of_gap_64 gives \
             the same number for a parent with 64 MiB.",
        )
        .holds_if(of_libc("0"), Region::below(0.5)),
        claim(
            "process_without_copy",
            "common belief: a process is heavier than a thread in itself",
            "A process that shares its parent's memory still costs half as much again as a thread.",
            "a process has tables of its own for files, signals and the rest",
        )
        .holds_if(ratio(WHOLE, by("clone_vm"), by("pthread")), Region::above(1.5)),
    ]
}

fn pools() -> Vec<Claim> {
    vec![
        claim(
            "pool_amortises",
            NOTES,
            "Even 9 µs per thread is not free: a pool costs less per task than a new thread.",
            "the thread exists already; only a wake-up is left",
        )
        .note("On one CPU.")
        .holds_if(ratio(WHOLE, by("pool_futex"), by("pthread")), Region::below(1.0)),
        claim(
            "pool_anywhere",
            "an OS course's notes",
            "A pool costs less per task than a new thread also where its thread sleeps on another \
             CPU.",
            "the thread exists already; only a wake-up is left",
        )
        .note("To wake an idle CPU takes an interrupt, and in a virtual machine two exits.")
        .holds_if(
            ratio(WHOLE, by("pool_futex").with("placement", "other"), by("pthread")),
            Region::below(1.0),
        ),
    ]
}

fn echo() -> Claim {
    claim(
        "exit_writes_twice",
        "_exit(2) and fork(2) of the Linux man-pages; W. R. Stevens, Advanced Programming in the \
         UNIX Environment",
        "A child that ends in exit() writes what its parent had printed and not yet flushed.",
        "fork copies the stdio buffer, exit flushes the copy",
    )
    .note("On a terminal it does not show, since lines are flushed there one by one.")
    .holds_if(value("echoed_bytes", by("fork_exit")), Region::above(0.5))
}
