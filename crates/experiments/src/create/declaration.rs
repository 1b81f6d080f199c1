//! The experiment as data: factors, grids, responses, findings. What people say of it stands in
//! `claims`.

use super::accounts::accounts;
use super::cells::{by, of_libc, of_the_copy, placed, with_memory};
use super::claims::claims;
use super::mechanism::MECHANISMS;
use super::parent::{PAGES, PLACEMENTS};
use kit::declare::{cell, factor, finding, grid, ratio, remark, response, share, value};
use kit::model::{Cell, Center, Design, Factor, Finding, Grid, Needs, Profile, Response, Unit};

/// Memory of the largest treatment: 512 MiB touched, and what the trial itself needs.
const MEMORY_BYTES: u64 = 576 << 20;

/// After this time a trial is killed: half a gigabyte that a host has to supply takes seconds.
const TIME_LIMIT_MS: u64 = 20_000;

pub(super) fn design() -> Design {
    Design {
        id: "create".into(),
        version: 2,
        chapter: "Life and death".into(),
        question: "What does it cost to create one thread or process and to wait for its end?"
            .into(),
        method: "A fresh process makes itself the parent that the treatment asks for (memory \
                 written page by page just before, open descriptors, mappings) and verifies it. \
                 Then it creates one entity that does nothing, waits for its end, and begins \
                 again. The first few are not timed. The instants are kept in memory that a fork \
                 does not copy, so that keeping them adds no fault. Nothing is printed, and the \
                 parent has one thread when it forks."
            .into(),
        factors: factors(),
        grids: grids(),
        responses: responses(),
        findings: findings(),
        claims: claims(),
        controls: Vec::new(),
        accounts: accounts(),
        needs: Needs { cpus: 1, memory_bytes: MEMORY_BYTES, ..Needs::default() },
        precision: 0.05,
        time_limit_ms: TIME_LIMIT_MS,
        ..Design::default()
    }
}

fn factors() -> Vec<Factor> {
    let mechanism = factor("mechanism", "how the entity comes into being", "pthread");
    let touched = factor("touched", "memory that the parent has written, in MiB", "0")
        .unit(Unit::Other("MiB".into()))
        .numbers(Profile::Smoke, "nothing but the program itself", &[0])
        .numbers(Profile::Quick, "MiB written page by page just before", &[64])
        .numbers(Profile::Standard, "MiB written page by page just before", &[512]);
    let descriptors = factor("descriptors", "files that the parent has open beside its own", "0")
        .numbers(Profile::Smoke, "none", &[0])
        .numbers(Profile::Standard, "descriptors of /dev/null", &[1000]);
    let mappings = factor("mappings", "mappings that the parent has beside its own", "0")
        .numbers(Profile::Smoke, "none", &[0])
        .numbers(Profile::Standard, "mappings of one page that cannot be merged", &[1000]);
    vec![
        mechanism.named(&MECHANISMS).build(),
        touched.build(),
        factor("pages", "the size of the pages of that memory", "4k").named(&PAGES).build(),
        descriptors.build(),
        mappings.build(),
        factor("placement", "where both sides run", "same").named(&PLACEMENTS).build(),
    ]
}

fn grids() -> Vec<Grid> {
    // All mechanisms but the unit costs, which do not know what their process owns.
    let units = ["call", "entry", "fault"];
    let created: Vec<&str> =
        MECHANISMS.iter().map(|named| named.name).filter(|name| !units.contains(name)).collect();
    let copied = ["pthread", "fork", "vfork"];
    // Those whose price in a large parent a claim, a finding or an account needs: writing 64 MiB
    // takes a trial longer than all else that it does.
    let grown = ["pthread", "fork", "clone_copy", "clone_vm", "posix_spawn", "fork_exec"];
    vec![
        grid(Profile::Smoke, &[("mechanism", &[])]),
        grid(Profile::Quick, &[("mechanism", &grown), ("touched", &["64"])]),
        grid(
            Profile::Quick,
            &[("mechanism", &["fork"]), ("touched", &["64"]), ("pages", &["huge"])],
        ),
        grid(Profile::Quick, &[("mechanism", &["pthread", "fork"]), ("placement", &["free"])]),
        grid(Profile::Quick, &[("mechanism", &["pool_futex"]), ("placement", &["other"])]),
        grid(Profile::Standard, &[("mechanism", &["pool_condvar"]), ("placement", &["other"])]),
        grid(Profile::Standard, &[("mechanism", &created), ("touched", &["64", "512"])]),
        grid(
            Profile::Standard,
            &[
                ("mechanism", &["pthread", "fork", "vfork", "posix_spawn"]),
                ("touched", &["64", "512"]),
                ("pages", &["huge"]),
            ],
        ),
        grid(Profile::Standard, &[("mechanism", &copied), ("descriptors", &[])]),
        grid(Profile::Standard, &[("mechanism", &copied), ("mappings", &[])]),
        grid(Profile::Standard, &[("mechanism", &created), ("placement", &["free"])]),
    ]
}

fn responses() -> Vec<Response> {
    // One control serves all treatments: a function call costs the same whatever its process
    // owns and wherever it runs.
    let control = cell([
        ("mechanism", "call"),
        ("touched", "0"),
        ("pages", "4k"),
        ("descriptors", "0"),
        ("mappings", "0"),
        ("placement", "same"),
    ]);
    let net = "less the same for a function call, which holds the cost of reading the clock";
    let clock = "clock_gettime(CLOCK_MONOTONIC)";
    let before = "before the creating call";
    let awaited = "when the wait for the entity's end has returned";
    let time = |name, label, from, to, corrected| {
        response(name, label, Unit::Ns).subtract(control.clone()).card(from, to, corrected, clock)
    };
    let mut all = vec![
        time("whole_ns", "time to create and to await", before, awaited, net)
            .cpu_twin("cpu_ns")
            .build(),
        time("create_ns", "time to create", before, "when that call has returned", net).build(),
        time("wait_ns", "time to await", "when the creating call has returned", awaited, net)
            .build(),
        time(
            "half_ns",
            "time of half an operation",
            before,
            awaited,
            "halved, less half of a function call: of a hand-off, the way there or back with its \
             two system calls and its switch",
        )
        .build(),
        time(
            "break_even_ns",
            "shortest task worth an entity",
            before,
            awaited,
            "nine times the whole time, less the same for a function call: with a task of this \
             length the cost is a tenth of both together",
        )
        .build(),
    ];
    all.extend(counted(&control));
    all
}

/// What is counted over the whole timed region and divided by its operations.
fn counted(control: &Cell) -> [Response; 5] {
    let first = "before the first operation of the timed region";
    let last = "after the last";
    let divided = "divided by the number of operations";
    let usage = "getrusage(RUSAGE_SELF) and getrusage(RUSAGE_CHILDREN)";
    let count = |name, label| {
        response(name, label, Unit::Count).center(Center::Mean).card(first, last, divided, usage)
    };
    [
        response("cpu_ns", "CPU time of both sides", Unit::Ns)
            .subtract(control.clone())
            .card(
                first,
                last,
                "divided by the number of operations, less the same for a call",
                usage,
            )
            .build(),
        count("parent_faults_count", "page faults of the parent").build(),
        count("child_faults_count", "page faults of the child").build(),
        count("switches_count", "context switches").build(),
        response("echoed_bytes", "text of the parent that the child writes", Unit::Bytes)
            .center(Center::Mean)
            .card(
                &format!(
                    "before the first operation, with a header of {} bytes in the parent's stdio \
                     buffer",
                    super::HEADER.len()
                ),
                "after the last",
                divided,
                "fstat of the file to which the buffer belongs",
            )
            .build(),
    ]
}

fn findings() -> Vec<Finding> {
    let mut all = costs();
    all.extend(parts_of_the_gap());
    all.extend(other_ways());
    all.extend(worth_it());
    all
}

/// What an entity costs, and how the parent's memory and the scheduler change it.
fn costs() -> Vec<Finding> {
    let whole = "whole_ns";
    vec![
        finding(
            "process_per_thread",
            "A process (fork, _exit, wait) costs {} times as much as a thread.",
            ratio(whole, by("fork"), by("pthread")),
        ),
        finding("thread", "A thread costs {} to create and join.", value(whole, by("pthread"))),
        finding("process", "A process costs {} to fork and await.", value(whole, by("fork"))),
        finding(
            "process_growth",
            "With 64 MiB touched by the parent, a fork costs {} times as much.",
            ratio(whole, with_memory("fork", "64"), by("fork")),
        ),
        remark(
            "process_per_thread_64",
            "In such a parent a process costs {} times as much as a thread.",
            ratio(whole, with_memory("fork", "64"), with_memory("pthread", "64")),
        ),
        remark(
            "huge_pages",
            "Huge pages take away {} of what those 64 MiB add to a fork.",
            share(
                whole,
                with_memory("fork", "64"),
                with_memory("fork", "64").with("pages", "huge"),
                by("fork"),
            ),
        ),
        remark(
            "mappings",
            "With 1000 more mappings in the parent, a fork costs {} times as much.",
            ratio(whole, by("fork").with("mappings", "1000"), by("fork")),
        ),
        remark(
            "descriptors",
            "With 1000 more open descriptors in the parent, a fork costs {} times as much.",
            ratio(whole, by("fork").with("descriptors", "1000"), by("fork")),
        ),
        remark(
            "unpinned",
            "Left to the scheduler, a process costs {} times as much as a thread.",
            ratio(whole, placed("fork", "free"), placed("pthread", "free")),
        ),
    ]
}

/// Of what the gap between a process and a thread is made: libc, the copy, and what remains.
fn parts_of_the_gap() -> Vec<Finding> {
    vec![
        remark(
            "libc_of_gap",
            "Libc, on both sides, makes {} of the gap between fork and a thread.",
            of_libc("0"),
        ),
        remark(
            "copy_of_rest",
            "Of the gap that a bare clone3 leaves, the copy of the address space makes {}.",
            of_the_copy("0"),
        ),
        remark(
            "libc_of_gap_64",
            "With 64 MiB touched by the parent, libc makes {} of the gap.",
            of_libc("64"),
        ),
        remark(
            "copy_of_rest_64",
            "Of the gap that a bare clone3 leaves there, the copy makes {}.",
            of_the_copy("64"),
        ),
        remark(
            "process_without_copy",
            "A bare process that shares its parent's memory costs {} times as much as a thread.",
            ratio("whole_ns", by("clone_vm"), by("pthread")),
        ),
    ]
}

/// What the other mechanisms cost against these two.
fn other_ways() -> Vec<Finding> {
    let whole = "whole_ns";
    vec![
        remark(
            "vfork",
            "A process that borrows its parent's memory (vfork) costs {} times as much as a thread.",
            ratio(whole, by("vfork"), by("pthread")),
        ),
        remark(
            "pool",
            "A hand-off to a waiting thread on the same CPU takes {} times as long as a new thread.",
            ratio(whole, by("pool_futex"), by("pthread")),
        ),
        remark(
            "pool_other",
            "A hand-off to a thread that sleeps on another CPU takes {} times as long as a new \
             thread.",
            ratio(whole, placed("pool_futex", "other"), by("pthread")),
        ),
        remark(
            "exit",
            "A child that ends in exit() instead of _exit() costs {} times as much.",
            ratio(whole, by("fork_exit"), by("fork")),
        ),
        remark(
            "spawn",
            "To start a program, fork and exec takes {} times as long as posix_spawn.",
            ratio(whole, by("fork_exec"), by("posix_spawn")),
        ),
        remark(
            "spawn_64",
            "From a parent with 64 MiB, fork and exec takes {} times as long as posix_spawn.",
            ratio(whole, with_memory("fork_exec", "64"), with_memory("posix_spawn", "64")),
        ),
    ]
}

/// The shortest tasks for which an entity of their own costs at most a tenth of the whole.
fn worth_it() -> Vec<Finding> {
    let shortest = |mechanism| value("break_even_ns", by(mechanism));
    vec![
        remark(
            "task_per_thread",
            "A thread of its own is worth it (costs at most 10 %) for a task of {} or more.",
            shortest("pthread"),
        ),
        remark(
            "task_per_process",
            "A process of its own is worth it for a task of {} or more.",
            shortest("fork"),
        ),
        remark(
            "task_per_hand_off",
            "A hand-off to a pool on the same CPU is worth it for a task of {} or more.",
            shortest("pool_futex"),
        ),
    ]
}
