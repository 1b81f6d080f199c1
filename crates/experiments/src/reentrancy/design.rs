//! The experiment as data.

use super::cells::at;
use super::claims::claims;
use super::subject::FUNCTIONS;
use kit::declare::{Named, factor, finding, frequency, grid, ratio, remark, response};
use kit::model::{Center, Design, Finding, Grid, Needs, Profile, Response, Unit};

/// Who enters a function while somebody is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reentry {
    /// Another thread.
    Thread,
    /// A handler that interrupted the caller.
    Handler,
}

/// The levels of the factor `reentry`.
pub(super) const REENTRIES: [Named<Reentry>; 2] = [
    Named::new(
        "thread",
        "a second thread calls the same, on another CPU if there is one",
        Reentry::Thread,
    ),
    Named::new(
        "handler",
        "a timer interrupts the only caller every 50 µs, and its handler calls the same",
        Reentry::Handler,
    ),
];

const METHOD: &str = "Everything happens in a child that is made to be lost. Either two of its \
    threads call a function again and again at the same time, or one does and a timer interrupts \
    it every 50 microseconds, whose handler calls the same function and does nothing else. What \
    comes out is compared with what must: every token with its text and place, every line of the \
    file with what was printed, every block of the heap with the marks at its ends. A child that \
    is killed by SIGSEGV, SIGABRT or SIGBUS, or runs in circles, counts as corrupted. One of which \
    all threads are asleep while its counters and its CPU time stand still for 12 milliseconds \
    counts as deadlocked: nothing in it ever sleeps for a time, and the timer would have woken it \
    hundreds of times. It is then killed. A trial of the second kind has four children.";

pub(super) fn design() -> Design {
    Design {
        id: "reentrancy".into(),
        version: 1,
        chapter: "Sharing".into(),
        question: "What happens when a function is entered again before it has returned?".into(),
        method: METHOD.into(),
        factors: vec![
            factor("function", "what is called", "fprintf").named(&FUNCTIONS).build(),
            factor("reentry", "who enters it again", "thread").named(&REENTRIES).build(),
        ],
        grids: grids(),
        responses: responses(),
        findings: findings(),
        claims: claims(),
        needs: Needs {
            cpus: 1,
            memory_bytes: 64 << 20,
            disk_bytes: super::RECORDS_BYTES,
            ..Needs::default()
        },
        precision: 0.10,
        time_limit_ms: 20_000,
        ..Design::default()
    }
}

fn grids() -> Vec<Grid> {
    let printed = ["fprintf", "fprintf_three", "fprintf_three_held", "fputs_unlocked"];
    let interrupted = ["strtok", "strtok_r", "fprintf", "plain_lock", "recursive_lock", "malloc"];
    vec![
        grid(Profile::Smoke, &[("function", &["strtok", "strtok_r"]), ("reentry", &["thread"])]),
        grid(
            Profile::Smoke,
            &[("function", &["fprintf", "plain_lock"]), ("reentry", &["handler"])],
        ),
        grid(Profile::Quick, &[("function", &printed), ("reentry", &["thread"])]),
        grid(Profile::Quick, &[("function", &interrupted), ("reentry", &["handler"])]),
        grid(Profile::Standard, &[("function", &[]), ("reentry", &[])]),
    ]
}

fn responses() -> Vec<Response> {
    let mut all = vec![
        response("wrong_count", "calls gone wrong", Unit::Count)
            .center(Center::Mean)
            .card(
                "the first call of a child that ended by itself",
                "its last",
                "divided by what could go wrong: tokens, lines printed, blocks freed",
                "compared with what must come out, one by one",
            )
            .build(),
    ];
    let fate = |name: &str, label: &str, source: &str| {
        response(name, label, Unit::Count)
            .center(Center::Mean)
            .card(
                "the start of a child",
                "its end",
                "divided by the number of children of the trial",
                source,
            )
            .build()
    };
    all.extend([
        fate(
            "deadlocked_count",
            "children that deadlocked",
            "/proc/PID/task/*/stat, the child's CPU time, and its counters in shared memory",
        ),
        fate(
            "corrupted_count",
            "children whose memory was corrupted",
            "wait4: SIGSEGV, SIGABRT or SIGBUS; or half a second of CPU time beyond its own",
        ),
        fate("survived_count", "children that survived", "wait4"),
        response("handler_runs_count", "runs of the handler until the child's end", Unit::Count)
            .card(
                "the start of the timer",
                "the child's end, which is at the latest when its time is over",
                "",
                "counted by the handler as it begins, in shared memory",
            )
            .build(),
    ]);
    all.extend(costs());
    all
}

fn costs() -> [Response; 3] {
    let from = "a thread's first call";
    let to = "its last";
    let per = "summed over both threads, divided by their calls";
    [
        response("use_ns", "time of a call beside another thread's", Unit::Ns)
            .card(from, to, per, "clock_gettime(CLOCK_MONOTONIC)")
            .build(),
        response("use_cpu_ns", "CPU time of a call beside another thread's", Unit::Ns)
            .card(from, to, per, "clock_gettime(CLOCK_THREAD_CPUTIME_ID)")
            .build(),
        response("overlap_ppm", "time in which both threads were at work", Unit::Ppm)
            .card(
                "the first thread's first call",
                "the last thread's last",
                "less the time in which one of them was ready to run and had no CPU",
                "clock_gettime(CLOCK_MONOTONIC) and /proc/thread-self/schedstat",
            )
            .build(),
    ]
}

fn findings() -> Vec<Finding> {
    let wrong = |function, reentry| frequency("wrong_count", at(function, reentry));
    let deadlocked = |function| frequency("deadlocked_count", at(function, "handler"));
    let corrupted = |function| frequency("corrupted_count", at(function, "handler"));
    vec![
        finding(
            "strtok",
            "With two threads strtok gets {} of the tokens wrong.",
            wrong("strtok", "thread"),
        ),
        remark(
            "strtok_handler",
            "With a handler that uses it every 50 µs it gets {} of them wrong.",
            wrong("strtok", "handler"),
        ),
        remark(
            "strtok_r",
            "With two threads strtok_r gets {} of them wrong.",
            wrong("strtok_r", "thread"),
        ),
        remark(
            "three_calls",
            "Of the lines that two threads print by three fprintf each, {} come out torn.",
            wrong("fprintf_three", "thread"),
        ),
        remark(
            "held",
            "Between flockfile and funlockfile {} of them do.",
            wrong("fprintf_three_held", "thread"),
        ),
        remark(
            "held_cost",
            "A line in three calls takes {} times as long with flockfile as without.",
            ratio("use_ns", at("fprintf_three_held", "thread"), at("fprintf_three", "thread")),
        ),
        remark(
            "unlocked",
            "Of the lines that two threads print by one fputs_unlocked each, {} come out torn.",
            wrong("fputs_unlocked", "thread"),
        ),
        remark(
            "recursive",
            "A recursive lock taken in the handler deadlocks {} of the processes.",
            deadlocked("recursive_lock"),
        ),
        remark("stdio", "fprintf in the handler deadlocks {} of them.", deadlocked("fprintf")),
        remark("stdio_corrupted", "It corrupts the memory of {} of them.", corrupted("fprintf")),
        remark(
            "malloc",
            "malloc in the handler corrupts the heap of {} of the processes with one thread.",
            corrupted("malloc"),
        ),
        remark(
            "malloc_threaded",
            "With a second thread, which makes libc lock, malloc deadlocks {} of them.",
            deadlocked("malloc_threaded"),
        ),
        remark("write", "write(2) in the handler deadlocks {} of them.", deadlocked("write")),
    ]
}
