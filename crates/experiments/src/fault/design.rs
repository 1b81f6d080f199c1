//! The experiment as data: factors, grids, responses, findings, accounts. What people say of it
//! stands in `claims`.

use super::cells::{advised, alone, by, control, limited, limited_and_told};
use super::claims::claims;
use super::kind::{ACCESSES, ADVICES, KINDS, LIMITS, PAGES};
use kit::declare::{
    account, beyond, factor, finding, grid, known, measured, part, ratio, remark, response, share,
    value,
};
use kit::model::{
    Account, Center, Design, Factor, Finding, Grid, Needs, Profile, Quantity, Response, Unit,
};

/// The largest size, in MiB.
const LARGEST_MIB: u64 = 256;

/// After this time a trial is killed: 2048 waits for a disk that turns take 20 s.
const TIME_LIMIT_MS: u64 = 60_000;

const METHOD: &str = "A fresh process on one CPU makes a range of anonymous memory, or maps a file \
    of its own, and touches it page by page in an order laid down before: the first byte of each \
    page is read or written. Before each walk the pages are brought into the state of the \
    treatment: given back to the kernel (MADV_DONTNEED), shared with a child that is forked and \
    stands still, mapped anew, or, for a cold file, dropped from the page cache by \
    posix_fadvise(DONTNEED) on this file alone and found absent by mincore; the machine's caches \
    are never dropped. The same walk over pages that are mapped already is subtracted. The \
    footprint is walked once before, so that pages are recycled ones: memory that a virtual \
    machine's host must supply first costs several times more. The warm walk over a file is the \
    second of two equal ones, so that the page cache lies as the cold walk leaves it (the size of \
    its folios decides how many pages one fault maps). Walks in which each touch may wait for the \
    disk touch a bounded number of pages; in no order these lie 16 pages or more apart, so that \
    one fault cannot map the page of another touch. Cold is what this kernel does not have; a \
    host's or a controller's cache may still answer. Faults, waits and bytes read are the \
    kernel's own counts of the walks alone, and the sum of what was read proves that each page \
    was touched.";

pub(super) fn design() -> Design {
    Design {
        id: "fault".into(),
        version: 1,
        chapter: "Switching and faulting".into(),
        question: "What does a page fault cost, and what of it is the disk's?".into(),
        method: METHOD.into(),
        factors: factors(),
        grids: grids(),
        responses: responses(),
        findings: findings(),
        accounts: accounts(),
        claims: claims(),
        controls: Vec::new(),
        needs: Needs {
            cpus: 1,
            memory_bytes: (4 * LARGEST_MIB) << 20,
            disk_bytes: LARGEST_MIB << 20,
            privileges: vec![
                "a memory cgroup of its own (root, or the memory controller delegated): without, \
                 walks over more than the memory's limit are not measured"
                    .into(),
                "a session folder on a disk file system: in memory (tmpfs) nothing can be cold"
                    .into(),
                "transparent huge pages (`madvise` or `always` in \
                 /sys/kernel/mm/transparent_hugepage/enabled): without, their first touch is not \
                 measured"
                    .into(),
            ],
        },
        precision: 0.05,
        time_limit_ms: TIME_LIMIT_MS,
        ..Design::default()
    }
}

fn factors() -> Vec<Factor> {
    let about = "MiB of memory, or of the file";
    vec![
        factor("kind", "what is touched, and in which state", "anon_write").named(&KINDS).build(),
        factor("access", "the order of the touches", "sequential").named(&ACCESSES).build(),
        factor("advice", "what the kernel is told before", "none").named(&ADVICES).build(),
        factor("pages", "the size of the pages of anonymous memory", "4k").named(&PAGES).build(),
        factor("limit", "the limit on the trial's memory", "none").named(&LIMITS).build(),
        factor("size", "how much is walked, in MiB", "8")
            .unit(Unit::Other("MiB".into()))
            .numbers(Profile::Smoke, about, &[8])
            .numbers(Profile::Quick, about, &[16, 64])
            .numbers(Profile::Thorough, about, &[LARGEST_MIB])
            .build(),
    ]
}

fn grids() -> Vec<Grid> {
    let control = "resident";
    let file = ["file_warm", "file_cold"];
    let random: &[&str] = &["random"];
    let advised: &[&str] = &["none", "random", "willneed", "populate"];
    let larger = &["16", "64", "256"];
    vec![
        grid(Profile::Smoke, &[("kind", &[])]),
        grid(Profile::Quick, &[("kind", &[control, "anon_write"]), ("pages", &[])]),
        grid(Profile::Quick, &[("kind", &[control, "anon_write"]), ("size", &["16"])]),
        grid(Profile::Quick, &[("kind", &[control]), ("size", &["64"])]),
        // A page at a time: by the order, by the advice, by both.
        grid(Profile::Quick, &[("kind", &file), ("access", random), ("advice", random)]),
        grid(Profile::Quick, &[("kind", &["file_cold"]), ("access", random)]),
        grid(Profile::Quick, &[("kind", &[control]), ("access", &[])]),
        grid(Profile::Quick, &[("kind", &["file_cold"]), ("advice", advised)]),
        grid(
            Profile::Quick,
            &[("kind", &["anon_write", "file_warm"]), ("advice", &["none", "populate"])],
        ),
        grid(
            Profile::Quick,
            &[
                ("kind", &["file_warm"]),
                ("limit", &["above", "below"]),
                ("size", &["64"]),
                ("advice", &["sequential"]),
            ],
        ),
        grid(Profile::Standard, &[("kind", &[]), ("access", &[])]),
        grid(
            Profile::Standard,
            &[("kind", &file), ("access", &[]), ("advice", &["none", "random"])],
        ),
        grid(Profile::Standard, &[("kind", &[]), ("size", larger)]),
        grid(
            Profile::Standard,
            &[("kind", &[control, "anon_write"]), ("pages", &[]), ("size", &[])],
        ),
        grid(Profile::Standard, &[("kind", &["file_cold"]), ("access", random), ("advice", &[])]),
        grid(Profile::Standard, &[("kind", &["file_warm"]), ("advice", &[])]),
        grid(
            Profile::Standard,
            &[
                ("kind", &["anon_read", "anon_write", "cow_file"]),
                ("advice", &["none", "populate"]),
            ],
        ),
        grid(
            Profile::Standard,
            &[
                ("kind", &["file_warm"]),
                ("limit", &["above", "below"]),
                // Half of a smaller file is what some disks read ahead: it would be thrown away
                // before it is used.
                ("size", &["64", "256"]),
                ("advice", &["none", "sequential"]),
            ],
        ),
    ]
}

fn responses() -> Vec<Response> {
    let clock = "clock_gettime(CLOCK_MONOTONIC)";
    let (first, last) = ("before the first touch", "after the last");
    let told = "before the advice";
    let net = "divided by the pages touched, less the same for pages that are mapped already";
    let divided = "divided by the pages touched";
    let time = |name, label| response(name, label, Unit::Ns);
    let mut all = vec![
        time("page_ns", "time per page").subtract(control()).card(first, last, net, clock).build(),
        time("fault_ns", "time per page where no disk is needed")
            .subtract(control())
            .cpu_twin("page_cpu_ns")
            .card(
                first,
                last,
                "the time per page, kept only for treatments that need no disk, so that CPU time may \
                 stand in for it",
                clock,
            )
            .build(),
        time("whole_ns", "time per page, advice included")
            .subtract(control())
            .card(told, last, net, clock)
            .build(),
        time("whole_cpu_ns", "CPU time per page, advice included")
            .subtract(control())
            .card(told, last, net, "clock_gettime(CLOCK_THREAD_CPUTIME_ID)")
            .build(),
        time("set_up_ns", "time of the advice per page")
            .card(told, "when it has returned", divided, clock)
            .build(),
        time("touch_ns", "time per page, the walk itself included")
            .card(first, last, divided, clock)
            .build(),
        time("page_cpu_ns", "CPU time per page")
            .subtract(control())
            .card(first, last, net, "clock_gettime(CLOCK_THREAD_CPUTIME_ID)")
            .build(),
        response("cpu_share_ppm", "share of the walk's time on a CPU", Unit::Ppm)
            .card(first, last, "CPU time divided by elapsed time, all walks", "both clocks above")
            .build(),
    ];
    all.extend(counted());
    all
}

/// What the kernel counted, per page touched.
fn counted() -> [Response; 5] {
    let usage = "getrusage(RUSAGE_THREAD) around each walk";
    let divided = "summed over all walks, divided by the pages touched";
    let count = |name, label, unit, from| {
        response(name, label, unit)
            .center(Center::Mean)
            .card(from, "after the last touch", divided, usage)
            .build()
    };
    let touch = "before the first touch";
    let advice = "before the advice";
    [
        count("minor_count", "minor faults per page", Unit::Count, touch),
        count("major_count", "major faults per page", Unit::Count, touch),
        count("read_bytes", "bytes read from the disk per page", Unit::Bytes, advice),
        count("switches_count", "waits (voluntary switches) per page", Unit::Count, advice),
        response("walked_count", "pages touched by one walk", Unit::Count)
            .card(touch, "after the last touch", "", "the length of the order laid down before")
            .build(),
    ]
}

fn findings() -> Vec<Finding> {
    let mut all = minor();
    all.extend(major());
    all.extend(past_memory());
    all.extend(other_pages());
    all
}

/// Faults that need no disk.
fn minor() -> Vec<Finding> {
    let fault = "fault_ns";
    vec![
        finding(
            "first_touch",
            "The first write to a page of anonymous memory costs {} more than a later one.",
            value(fault, by("anon_write")),
        ),
        finding(
            "after_fork",
            "A parent that rewrites a page which a forked child still shares pays {} for it.",
            value(fault, by("cow_fork")),
        ),
        remark(
            "zero_page",
            "A fault that only has to map the page of zeros costs {}.",
            value(fault, by("anon_read")),
        ),
        remark("zeroing", "To fill a page takes {}, without a fault.", value(fault, by("fill"))),
        remark("copying", "To copy a page takes {}, without a fault.", value(fault, by("copy"))),
        remark(
            "file_copy",
            "The first write to a page of a cached file, mapped privately, costs {}.",
            value(fault, by("cow_file")),
        ),
        remark(
            "minor_file",
            "A fault that only has to map a cached page of a file costs {} (in no order, nothing \
             read ahead).",
            value(fault, alone("file_warm")),
        ),
        remark(
            "mapped_around",
            "In order, a walk over a cached file meets {} faults per page; one may map the pages \
             around it, too.",
            value("minor_count", by("file_warm")),
        ),
    ]
}

/// Faults that wait for the disk.
fn major() -> Vec<Finding> {
    let page = "page_ns";
    vec![
        remark(
            "major_per_minor",
            "A touch that is a major fault costs {} times as much as the same touch as a minor \
             one.",
            ratio(page, alone("file_cold"), alone("file_warm")),
        ),
        remark(
            "major",
            "A major fault that stands alone costs {}.",
            value(page, alone("file_cold")),
        ),
        remark(
            "disk_share",
            "The disk makes {} of a major fault's cost: so much vanishes where the page is cached.",
            share(
                page,
                alone("file_cold"),
                alone("file_warm"),
                by("resident").with("access", "random"),
            ),
        ),
        remark(
            "cpu_of_major",
            "A CPU works during {} of that time: on the request, on the switch away and back.",
            value("cpu_share_ppm", alone("file_cold")),
        ),
        remark(
            "read_ahead",
            "Reading ahead turns {} of the major faults of a walk in order into minor ones.",
            share("major_count", advised("file_cold", "random"), by("file_cold"), by("file_warm")),
        ),
        remark(
            "cold_in_order",
            "A cold file walked in order costs {} per page.",
            value(page, by("file_cold")),
        ),
        remark(
            "major_without_order",
            "Touched in no order, one page of sixteen, a cold file gives {} major faults per touch.",
            value("major_count", by("file_cold").with("access", "random")),
        ),
        remark(
            "read_too_much",
            "So walked, {} are read for each touch.",
            value("read_bytes", by("file_cold").with("access", "random")),
        ),
        remark(
            "waits_in_order",
            "In order, the walk waits {} times per page, for major faults and for pages on their way.",
            value("switches_count", by("file_cold")),
        ),
        remark(
            "willneed",
            "Told by MADV_WILLNEED, the walk over a cold file takes {} times as long, advice \
             included.",
            ratio("whole_ns", advised("file_cold", "willneed"), by("file_cold")),
        ),
    ]
}

/// A file that does not fit into the memory there is.
fn past_memory() -> Vec<Finding> {
    vec![
        remark(
            "past_memory",
            "A second walk over a file of twice the memory's limit takes {} times as long as one \
             over a file that fits.",
            ratio("touch_ns", limited_and_told("below"), limited_and_told("above")),
        ),
        remark(
            "share_past_memory",
            "It spends {} of its time on a CPU.",
            value("cpu_share_ppm", limited_and_told("below")),
        ),
        remark(
            "untold_past_memory",
            "Not told by MADV_SEQUENTIAL that it goes in order, it reads {} for each page.",
            value("read_bytes", limited("below")),
        ),
    ]
}

/// The first touch of so many MiB in huge pages, to the same in ordinary ones.
fn first_touch_huge(size: &str) -> Quantity {
    let at = by("anon_write").with("size", size);
    ratio("fault_ns", at.with("pages", "huge"), at)
}

/// Huge pages, and pages mapped beforehand.
fn other_pages() -> Vec<Finding> {
    vec![
        remark(
            "huge",
            "With huge pages the first touch of 8 MiB takes {} times as long…",
            first_touch_huge("8"),
        ),
        remark("huge_64", "…and that of 64 MiB {} times as long.", first_touch_huge("64")),
        remark(
            "populate",
            "Where it is mapped beforehand by MADV_POPULATE_WRITE, the first touch takes {} times \
             the CPU time, advice included.",
            ratio("whole_cpu_ns", advised("anon_write", "populate"), by("anon_write")),
        ),
        remark(
            "populate_file",
            "A walk over a cached file that is mapped beforehand by MADV_POPULATE_READ takes {} \
             times the CPU time, advice included.",
            ratio("whole_cpu_ns", advised("file_warm", "populate"), by("file_warm")),
        ),
    ]
}

/// What faults are made of. Where nothing waits it is told in CPU time, which neighbours leave as it
/// is.
fn accounts() -> Vec<Account> {
    let larger = by("anon_write").with("size", "16");
    let cpu = "page_cpu_ns";
    let zero_page =
        || part("a fault that maps the page of zeros", known(1.0), measured(cpu, by("anon_read")));
    vec![
        account(
            "first_touch",
            "the CPU time of the first write to a page, of 16 MiB",
            measured(cpu, larger.clone()),
            vec![part(
                "faults, each at its cost in 8 MiB",
                measured("minor_count", larger),
                measured(cpu, by("anon_write")),
            )],
        ),
        account(
            "inside_first_touch",
            "the CPU time of one fault of a first write; what is left is finding a page and \
             charging it to its owner",
            measured(cpu, by("anon_write")),
            vec![zero_page(), part("filling a page", known(1.0), measured(cpu, by("fill")))],
        ),
        account(
            "inside_copy",
            "the CPU time of one page rewritten after a fork; what is left is undoing the old \
             mapping",
            measured(cpu, by("cow_fork")),
            vec![
                zero_page(),
                part(
                    "finding and zeroing a page",
                    known(1.0),
                    beyond(cpu, by("anon_write"), by("anon_read")),
                ),
                part("copying a page instead", known(1.0), beyond(cpu, by("copy"), by("fill"))),
            ],
        ),
        cold_in_order(),
    ]
}

/// Here the walk waits, and time is elapsed time.
fn cold_in_order() -> Account {
    let populated = |kind: &str| advised(kind, "populate");
    account(
        "cold_in_order",
        "a page of a cold file, walked in order; what is left is what asking for a few at a time \
         costs or saves",
        measured("touch_ns", by("file_cold")),
        vec![
            part(
                "a page's way from the disk, where all are asked for at once (MADV_POPULATE_READ)",
                known(1.0),
                beyond("whole_ns", populated("file_cold"), populated("file_warm")),
            ),
            part(
                "faults on cached pages, some of which map several",
                measured("minor_count", by("file_cold")),
                measured("page_ns", alone("file_warm")),
            ),
            part("the walk itself", known(1.0), measured("touch_ns", by("resident"))),
        ],
    )
}
