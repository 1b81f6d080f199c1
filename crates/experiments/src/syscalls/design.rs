//! The experiment as data.

use super::entity::ENTITIES;
use super::watch::Operation;
use kit::declare::{cell, claim, factor, finding, ratio, remark, response, value};
use kit::model::{Cell, Claim, Design, Finding, Needs, Region, Response, Unit};

/// Calls that are counted by themselves, by maker and made.
pub(super) const COUNTED: [&str; 7] =
    ["mmap", "munmap", "mprotect", "madvise", "futex", "rt_sigprocmask", "rt_sigaction"];

/// Counts something of an operation.
type Count = fn(&Operation) -> usize;

/// What is counted of the first operation.
pub(super) const FIRST: [(&str, Count); 2] =
    [("first_calls_count", Operation::len), ("first_recipe_count", super::recipe)];

/// Flags that are recorded by themselves.
pub(super) const FLAG_RESPONSES: [(&str, &str); 2] =
    [("shares_memory_count", "CLONE_VM"), ("same_process_count", "CLONE_THREAD")];

const METHOD: &str = "A child makes one entity after the other, and waits for the end of each, \
    while the trial stops it and all that it makes at the entry and the exit of every system call \
    (ptrace, as strace does). It marks each beginning by a call that nothing else makes. Calls \
    are counted by name, by the maker and by what it made together; the later operations are the \
    steady state, the first one is listed by itself, since libc keeps what it allocated for it. \
    Only the trial's own instrument could add to the counts, and the level that makes nothing \
    shows what it adds. Nothing is timed: tracing slows each call many times over. It also \
    changes who comes first where two sides run at once, so that the calls of a hand-off by futex \
    vary from one operation to the next.";

/// The declaration.
pub(super) fn design() -> Design {
    Design {
        id: "syscalls".into(),
        version: 2,
        chapter: "Life and death".into(),
        question: "Which system calls make a thread, and which make a process?".into(),
        method: METHOD.into(),
        factors: vec![factor("entity", "what is made", "pthread").named(&ENTITIES).build()],
        responses: responses(),
        findings: findings(),
        claims: claims(),
        needs: Needs {
            cpus: 1,
            memory_bytes: 1 << 20,
            privileges: vec![
                "to trace one's own children (kernel.yama.ptrace_scope of 0 or 1, a container that \
                 allows ptrace): without, nothing of this experiment can be seen"
                    .into(),
            ],
            ..Needs::default()
        },
        precision: 0.05,
        time_limit_ms: 20_000,
        ..Design::default()
    }
}

fn by(entity: &str) -> Cell {
    cell([("entity", entity)])
}

const FROM: &str = "the mark before an operation";
const TO: &str = "the mark after it";
const SOURCE: &str = "ptrace(PTRACE_GET_SYSCALL_INFO)";

/// A count of each later operation.
fn steady(name: &str, label: &str) -> Response {
    let corrected = "the median over the operations after the first two";
    response(name, label, Unit::Count).card(FROM, TO, corrected, SOURCE).build()
}

/// A count of the first operation.
fn first(name: &str, label: &str) -> Response {
    let from = "the mark before the first operation of a fresh process";
    response(name, label, Unit::Count).card(from, TO, "", SOURCE).build()
}

/// Something that what was made is asked to be, or not.
fn asked(name: &str, label: &str) -> Response {
    let from = "the call that makes it";
    let corrected = "the median over the operations after the first two";
    let source = "the arguments of clone, or of clone3 in the maker's memory (PTRACE_PEEKDATA)";
    response(name, label, Unit::Count).card(from, "the same", corrected, source).build()
}

fn responses() -> Vec<Response> {
    let mut all = vec![
        steady("calls_count", "system calls, by maker and made"),
        steady("maker_calls_count", "system calls of the maker"),
        steady("made_calls_count", "system calls of what was made"),
    ];
    let labels = COUNTED.map(|name| (format!("{name}_count"), format!("calls of {name}")));
    all.extend(labels.iter().map(|(name, label)| steady(name, label)));
    all.extend([
        first("first_calls_count", "system calls of the first operation"),
        first("first_recipe_count", "calls among mmap, mprotect, rt_sigprocmask, clone3, first"),
        asked("shares_memory_count", "shares the memory (CLONE_VM), 1 or 0"),
        asked("same_process_count", "is a thread of its maker's process (CLONE_THREAD), 1 or 0"),
        asked("signals_end_count", "its parent gets a signal when it ends (SIGCHLD), 1 or 0"),
        asked("thread_flags_count", "flags of sharing asked for, of five"),
    ]);
    all
}

fn findings() -> Vec<Finding> {
    let calls = "calls_count";
    vec![
        finding(
            "thread",
            "To make a thread and to wait for its end takes {} system calls, on both sides.",
            value(calls, by("pthread")),
        ),
        finding(
            "process",
            "To fork a process and to wait for its end takes {}.",
            value(calls, by("fork")),
        ),
        remark(
            "spawn",
            "To start a program by posix_spawn takes {}.",
            value(calls, by("posix_spawn")),
        ),
        remark(
            "pool",
            "A hand-off to a waiting thread, and back, takes {}.",
            value(calls, by("pool_futex")),
        ),
        remark(
            "first",
            "The first thread of a process takes {}.",
            value("first_calls_count", by("pthread")),
        ),
        remark(
            "std",
            "A thread of Rust's standard library takes {}.",
            value(calls, by("std_thread")),
        ),
        remark("control", "Making nothing is counted as {}.", value(calls, by("nothing"))),
    ]
}

fn claims() -> Vec<Claim> {
    let lecture = "a lecture on threads";
    let stack = "pthread_create maps a stack, opens all of it but a guard page, blocks signals \
                 meanwhile, and clones";
    vec![
        claim(
            "thread_flags",
            lecture,
            "A thread is made by a clone that shares memory, folder, files and signal handlers \
             within one process: CLONE_VM, FS, FILES, SIGHAND, THREAD.",
            "to the kernel both are tasks; flags say what they share",
        )
        .holds_if(value("thread_flags_count", by("pthread")), Region::above(4.5)),
        claim(
            "process_flags",
            lecture,
            "A process is made by a clone that asks for none of these.",
            "what is not shared is copied",
        )
        .note("Instead it asks for SIGCHLD at its end. vfork and posix_spawn do share the memory.")
        .holds_if(value("thread_flags_count", by("fork")), Region::below(0.5)),
        claim(
            "thread_calls",
            lecture,
            "A thread is made by mmap, mprotect, rt_sigprocmask and clone3.",
            stack,
        )
        .note(
            "Judged where it has its best chance: the first thread of a process. Newer libcs may \
             guard the stack by madvise instead of mprotect, older ones call clone.",
        )
        .holds_if(value("first_recipe_count", by("pthread")), Region::above(3.5)),
        claim(
            "stack_by_mmap",
            "an OS course's notes; a lecture on threads",
            "Each creation of a thread allocates a stack by mmap.",
            "each thread needs a stack of its own",
        )
        .note(
            "In a loop that creates and joins threads. glibc keeps up to 40 MiB of the stacks of \
             ended threads; the level pthread_fresh_stack shows what happens beyond that.",
        )
        .holds_if(value("mmap_count", by("pthread")), Region::above(0.5)),
        claim(
            "process_calls_more",
            "often implied where processes are called heavy",
            "A process takes more system calls than a thread.",
            "the kernel has more to do for it",
        )
        .note("The number of calls tells nothing of their cost: fork is one call that copies.")
        .holds_if(ratio("calls_count", by("fork"), by("pthread")), Region::above(1.0)),
    ]
}
