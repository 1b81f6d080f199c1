//! The experiment as data.

use super::Writer;
use super::worker::WORKERS;
use kit::declare::{Named, cell, claim, factor, finding, frequency, grid, remark, response, value};
use kit::model::{
    Cell, Center, Claim, Design, Factor, Finding, Grid, Needs, Profile, Region, Response, Unit,
};

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Write,
    Pages,
    Crash,
}

/// The levels of the factor `act`.
pub(super) const ACTS: [Named<Act>; 3] = [
    Named::new(
        "write",
        "the worker writes 0xDEADBEEF to main's variable, and main reads; 40 workers, one after the \
         other",
        Act::Write,
    ),
    Named::new(
        "pages",
        "both write, and the physical page behind the variable is looked up from both sides before \
         and after (root only); 10 workers",
        Act::Pages,
    ),
    Named::new("crash", "the worker dereferences a null pointer", Act::Crash),
];

/// The levels of the factor `first_writer`.
pub(super) const FIRST_WRITERS: [Named<Writer>; 2] = [
    Named::new("worker", "the worker writes before main does", Writer::Worker),
    Named::new("main", "main writes before the worker does", Writer::Main),
];

const METHOD: &str = "Main has a variable on its stack, on a page that holds nothing else, and \
    hands its address to a worker: a thread, a forked process, or, as the control, a forked process \
    with the variable in a shared mapping. Both do what they are told on one CPU, one step after \
    the other; the next worker finds the variable as the first one did. \
    An equal virtual address proves nothing, since a forked child shows it as well; what counts is \
    whether the write is seen, and the number of the physical page. For the crash, main, a second \
    worker and the one that crashes live in a process of their own, and those that are left say so \
    in memory that the trial shares.";

/// The declaration.
pub(super) fn design() -> Design {
    Design {
        id: "isolation".into(),
        version: 1,
        chapter: "Life and death".into(),
        question: "Is a thread's stack private, and its crash its own affair?".into(),
        method: METHOD.into(),
        factors: factors(),
        grids: grids(),
        responses: responses(),
        findings: findings(),
        claims: claims(),
        needs: Needs {
            cpus: 1,
            memory_bytes: 2 << 20,
            privileges: vec![
                "to read the numbers of physical pages (root, CAP_SYS_ADMIN): without, sharing \
                 shows by what main reads, and who gets the copy after a fork is not seen"
                    .into(),
            ],
            ..Needs::default()
        },
        precision: 0.10,
        time_limit_ms: 10_000,
        ..Design::default()
    }
}

fn factors() -> Vec<Factor> {
    vec![
        factor("worker", "who is handed the address", "thread").named(&WORKERS).build(),
        factor("act", "what happens", "write").named(&ACTS).build(),
        factor("first_writer", "who writes to the page first", "worker")
            .named(&FIRST_WRITERS)
            .build(),
    ]
}

fn grids() -> Vec<Grid> {
    let pages = ("act", &["pages"][..]);
    vec![
        grid(Profile::Smoke, &[("worker", &[])]),
        grid(Profile::Smoke, &[("worker", &["thread", "process"]), ("act", &["crash"])]),
        grid(Profile::Smoke, &[("worker", &["process"]), pages, ("first_writer", &[])]),
        grid(Profile::Quick, &[("worker", &[]), ("act", &["crash"])]),
        grid(Profile::Quick, &[("worker", &[]), pages, ("first_writer", &[])]),
    ]
}

/// How often something is so, over the workers of a trial, of which each is a new one.
fn so(name: &str, label: &str, [from, to, source]: [&str; 3]) -> Response {
    let of = "divided by the number of workers";
    let response = response(name, label, Unit::Count).center(Center::Mean).independent();
    response.card(from, to, of, source).build()
}

fn responses() -> Vec<Response> {
    let pagemap = "/proc/self/pagemap, read by each side of itself";
    let exclusive = "/proc/self/pagemap, the bit for a page that is mapped once; main's own";
    let whole = ["before anybody writes", "after both have written", pagemap];
    let write = ["the worker's write", "main's next read", "main's own read of its variable"];
    let mut all = vec![
        so("main_sees_count", "main reads what the worker wrote", write),
        so(
            "same_address_count",
            "the variable has the same address on both sides",
            ["before the worker's write", "the same", "each side's own pointer"],
        ),
        so("address_tells_count", "an equal address meant the same memory", write),
        so(
            "of_two_before_count",
            "main's page belongs to two processes before the worker's write",
            ["before the worker's write", "the same", exclusive],
        ),
        so(
            "of_two_after_count",
            "main's page belongs to two processes after the worker's write",
            ["after the worker's write", "the same", exclusive],
        ),
        so(
            "same_page_count",
            "one physical page stands behind the address on both sides before anybody writes",
            ["before anybody writes", "the same", pagemap],
        ),
        so(
            "same_page_after_count",
            "one physical page stands behind it after both have written",
            ["after both have written", "the same", pagemap],
        ),
        so("worker_copied_count", "the worker has got another physical page", whole),
        so("main_copied_count", "main has got another physical page", whole),
        so("worker_alone_copied_count", "the worker has got another page, and main not", whole),
    ];
    all.push(
        response("survivors_count", "who is left of main and a second worker", Unit::Count)
            .card(
                "the crash of the worker",
                "its end, as main sees it, or the end of the process",
                "",
                "a word in shared memory that each sets who is left",
            )
            .build(),
    );
    all
}

fn by(worker: &str) -> Cell {
    cell([("worker", worker)])
}

fn pages(worker: &str, first_writer: &str) -> Cell {
    by(worker).with("act", "pages").with("first_writer", first_writer)
}

fn crash(worker: &str) -> Cell {
    by(worker).with("act", "crash")
}

fn findings() -> Vec<Finding> {
    let sees = |worker| frequency("main_sees_count", by(worker));
    vec![
        finding(
            "thread",
            "Of what a thread writes to a variable on main's stack, main reads {}.",
            sees("thread"),
        ),
        finding(
            "process",
            "Of what a forked process writes there, main reads {}.",
            sees("process"),
        ),
        finding(
            "survivors",
            "When a thread dereferences a null pointer, {} of 2 others are left.",
            value("survivors_count", crash("thread")),
        ),
        remark(
            "process_survivors",
            "When a process does, {} of 2 others are left.",
            value("survivors_count", crash("process")),
        ),
        remark(
            "control",
            "Of what a process writes to a shared mapping, main reads {}.",
            sees("process_shared"),
        ),
        remark(
            "before",
            "Before anybody writes, a forked process and its parent have the page in common in {} \
             of cases.",
            frequency("of_two_before_count", by("process")),
        ),
        remark(
            "after",
            "After the child's write they still do in {} of cases.",
            frequency("of_two_after_count", by("process")),
        ),
        remark(
            "parent_copies",
            "If the parent writes first after a fork, it is the parent that gets another page in \
             {} of cases.",
            frequency("main_copied_count", pages("process", "main")),
        ),
    ]
}

/// What happens at least so often is said to happen always: as sure as some hundred workers of a
/// short session can make it.
const ALWAYS: f64 = 0.95;

fn claims() -> Vec<Claim> {
    let notes = "an OS course's notes";
    let shared = "the threads of a process share one address space, their stacks included";
    let copied = "after a fork both have copies of all that is private";
    let fate = "a signal that ends a thread ends its process";
    vec![
        claim(
            "thread_writes",
            notes,
            "A thread can write to another thread's stack (and does in more than 19 of 20 \
             attempts).",
            shared,
        )
        .holds_if(value("main_sees_count", by("thread")), Region::above(ALWAYS)),
        claim(
            "process_cannot",
            notes,
            "A forked process cannot change its parent's variables (it does in fewer than one of \
             20 attempts).",
            copied,
        )
        .note("Unless they lie in a shared mapping: the level process_shared.")
        .holds_if(value("main_sees_count", by("process")), Region::below(1.0 - ALWAYS)),
        claim(
            "address_proves",
            notes,
            "If both see the variable at the same virtual address, it is the same memory (in more \
             than 19 of 20 cases).",
            "an address names a place in memory",
        )
        .note(
            "The notes show by it that threads share a stack. Judged where it is put to the test, \
             with a forked process: it has the same address, too.",
        )
        .holds_if(value("address_tells_count", by("process")), Region::above(ALWAYS)),
        claim(
            "child_gets_copy",
            "common in textbooks on fork",
            "After a fork it is the child that gets the copy of a page (and not the parent, in \
             most cases).",
            "copy on write: the page is shared until one of both writes",
        )
        .note(
            "Judged where the parent writes first. The page belongs to neither: whoever writes \
             first gets a new one. The other keeps the old, except where the kernel still holds it \
             for something else and copies once more.",
        )
        .holds_if(value("worker_alone_copied_count", pages("process", "main")), Region::above(0.5)),
        claim(
            "thread_crash",
            notes,
            "A thread that crashes takes its whole process with it.",
            fate,
        )
        .holds_if(value("survivors_count", crash("thread")), Region::below(0.5)),
        claim(
            "process_crash",
            notes,
            "A child that crashes leaves its parent and its siblings alone.",
            "a signal ends one process",
        )
        .holds_if(value("survivors_count", crash("process")), Region::above(1.5)),
    ]
}
