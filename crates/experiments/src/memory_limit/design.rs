//! The experiment as data.

use super::shown::METHODS;
use kit::declare::{
    Named, cell, claim, difference, factor, finding, grid, proportion, ratio, remark, response,
    value,
};
use kit::model::{
    Cell, Claim, Design, Factor, Finding, Grid, Needs, Profile, Region, Response, Unit,
};
use kit::workers::MODELS;

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// Nothing.
    None,
    /// The address space of each process.
    AddressSpace,
    /// The memory of all together.
    Cgroup,
}

impl Limit {
    /// What the limit is on, in a sentence.
    pub(super) fn what(self) -> &'static str {
        match self {
            Limit::None => "nothing",
            Limit::AddressSpace => "the address space of each process (RLIMIT_AS)",
            Limit::Cgroup => "the memory of all together (cgroup)",
        }
    }
}

/// The levels of the factor `limit`.
pub(super) const LIMITS: [Named<Limit>; 3] = [
    Named::new("none", "nothing is limited", Limit::None),
    Named::from(
        "address_space",
        "RLIMIT_AS of five buffers on each process (ulimit -v)",
        Profile::Quick,
        Limit::AddressSpace,
    ),
    Named::from(
        "cgroup",
        "a memory cgroup of five buffers around all of them",
        Profile::Quick,
        Limit::Cgroup,
    ),
];

const METHOD: &str = "N workers, threads or forked processes, each fill a buffer of 220 MiB (64 in \
    quick, in a memory cgroup) and hold it; while all that are left do so, their memory is measured twice: by the method that is \
    the treatment, and by the kernel's own numbers. The method top_text does what scripts do: it \
    adds up the column RES of top's text as awk reads it. From about 1 GB on top writes 1.1g where \
    it wrote 902780 (KiB) before, and awk reads the number in front of the letter; so one process \
    that holds more than that seems to have let go of nearly all of it, while the same memory \
    spread over several processes does not. The crew lives in a process of its own, on which the \
    limit is put and verified, so that the trial stays outside and counts who is left. Buffers are \
    in huge pages where the kernel gives them, only to be filled sooner.";

/// The declaration.
pub(super) fn design() -> Design {
    Design {
        id: "memory_limit".into(),
        version: 3,
        chapter: "The process-and-thread study".into(),
        question: "Do threads crash when five of them hold 220 MB each, or does it only look so?"
            .into(),
        method: METHOD.into(),
        factors: factors(),
        grids: grids(),
        responses: responses(),
        findings: findings(),
        claims: claims(),
        controls: Vec::new(),
        accounts: Vec::new(),
        needs: Needs { cpus: 1, memory_bytes: 2_000_000_000, ..Needs::default() },
        precision: 0.05,
        time_limit_ms: 60_000,
        ..Design::default()
    }
}

fn factors() -> Vec<Factor> {
    let about = "workers, each with a buffer of 220 MiB (8 MiB in smoke)";
    vec![
        factor("model", "how the workers share an address space", "thread").named(&MODELS).build(),
        factor("count", "how many workers there are", "5")
            .numbers(Profile::Smoke, about, &[5])
            .numbers(Profile::Quick, about, &[2, 4])
            .numbers(Profile::Standard, about, &[1, 3, 6, 7, 8])
            .build(),
        factor("limit", "what is limited, to five buffers", "none").named(&LIMITS).build(),
        factor("method", "how memory is measured", "kernel").named(&METHODS).build(),
    ]
}

fn grids() -> Vec<Grid> {
    vec![
        grid(Profile::Smoke, &[("model", &[]), ("method", &["kernel"])]),
        grid(Profile::Quick, &[("model", &[]), ("count", &["2", "5"])]),
        grid(Profile::Quick, &[("count", &["4", "5"]), ("method", &["top_text"])]),
        grid(Profile::Quick, &[("model", &[]), ("limit", &["address_space", "cgroup"])]),
        grid(Profile::Standard, &[("model", &[]), ("count", &[]), ("method", &[])]),
        grid(Profile::Standard, &[("model", &[]), ("count", &[]), ("limit", &[])]),
    ]
}

fn responses() -> Vec<Response> {
    let held = "when the last worker that is left has filled its buffer";
    let while_held = "while all that are left hold what they filled";
    let counted = |name: &str, label: &str, source: &str| {
        response(name, label, Unit::Count)
            .card("the making of the crew", "the end of the last worker", "", source)
            .build()
    };
    vec![
        counted(
            "finished_count",
            "workers that finished",
            "counted by the crew: filled their buffer and lived until all were released",
        ),
        counted(
            "refused_count",
            "workers that were refused",
            "counted by the crew: mmap or the making of the worker failed",
        ),
        counted("killed_count", "workers that were killed", "wait4: ended by a signal"),
        response("shown_bytes", "memory as the method shows it", Unit::Bytes)
            .card(
                held,
                while_held,
                "what the method's reader believes to be KiB is multiplied by 1024",
                "smaps_rollup, or the column RES of top's text, summed over all processes",
            )
            .build(),
        response("true_bytes", "memory as the kernel counts it (PSS)", Unit::Bytes)
            .card(held, while_held, "", "/proc/PID/smaps_rollup, summed over all processes")
            .build(),
        response("shown_ppm", "memory shown, as a share of the truth", Unit::Ppm)
            .card(held, while_held, "shown_bytes divided by true_bytes", "both of the above")
            .build(),
        response("wall_ns", "elapsed time", Unit::Ns)
            .card(
                "before the first worker is made",
                "after the last worker is gone",
                "without the time in which memory is measured; absent if all were killed; memory \
                 is not warmed here, so no claim rests on it",
                "clock_gettime(CLOCK_MONOTONIC)",
            )
            .build(),
    ]
}

fn at(model: &str, count: &str) -> Cell {
    cell([("model", model), ("count", count)])
}

fn by_top(model: &str, count: &str) -> Cell {
    at(model, count).with("method", "top_text")
}

fn limited(model: &str, limit: &str) -> Cell {
    cell([("model", model), ("limit", limit)])
}

fn findings() -> Vec<Finding> {
    vec![
        finding(
            "finished",
            "Of five threads that hold 220 MiB each, {} finish where nothing limits them.",
            value("finished_count", at("thread", "5")),
        ),
        finding(
            "growth_thread",
            "Five threads hold {} times five halves of what two hold, by the kernel's numbers.",
            proportion("true_bytes", "count", "2", "5", at("thread", "2")),
        ),
        finding(
            "growth_process",
            "Five processes hold {} times five halves of what two hold, by the kernel's numbers.",
            proportion("true_bytes", "count", "2", "5", at("process", "2")),
        ),
        remark(
            "text_at_four",
            "Read through top's text, four threads show {} of what they hold.",
            value("shown_ppm", by_top("thread", "4")),
        ),
        remark(
            "text_at_five",
            "Read through top's text, five threads show {} of what they hold.",
            value("shown_ppm", by_top("thread", "5")),
        ),
        remark(
            "text_of_processes",
            "Read through top's text, five processes show {} of what they hold.",
            value("shown_ppm", by_top("process", "5")),
        ),
        remark(
            "under_address_space",
            "Under RLIMIT_AS of five buffers, {} of five threads finish.",
            value("finished_count", limited("thread", "address_space")),
        ),
        remark(
            "under_cgroup",
            "In a memory cgroup of five buffers, {} of five processes finish.",
            value("finished_count", limited("process", "cgroup")),
        ),
    ]
}

fn claims() -> Vec<Claim> {
    let report_a = "report A (grs1)";
    let grows = |id: &str, model: &str| {
        claim(
            id,
            "the arithmetic of N equal buffers",
            &format!(
                "The memory of N {model} workers grows in proportion to N, up to N = 5 and 1.1 GB."
            ),
            "each worker fills a buffer of its own, and nobody gives anything back",
        )
        .holds_if(
            proportion("true_bytes", "count", "2", "5", at(model, "2")),
            Region::about(1.0, 0.05),
        )
    };
    vec![
        claim(
            "threads_crash",
            report_a,
            "Threads crash at five workers of 220 MB: the measured memory collapses.",
            "one address space is said to be too small for 1.1 GB",
        )
        .note(
            "The report's script added up the column RES of top's text. Its published figures are \
             those of a reader who takes 1.1g for 1.1 KiB; its run times went on growing.",
        )
        .holds_if(value("finished_count", at("thread", "5")), Region::below(4.5)),
        claim(
            "text_collapses",
            "the habit of adding up top's text by awk, as report A's script does (grs1)",
            "Read through top's text, the memory of threads falls to nearly nothing from four \
             workers to five.",
            "past about 1 GB top changes its unit, and the reader does not notice",
        )
        .note("Nothing falls but the number in front of the letter: see memory as the kernel counts it.")
        .holds_if(ratio("shown_bytes", by_top("thread", "5"), by_top("thread", "4")), Region::below(0.01)),
        grows("memory_linear_thread", "thread"),
        grows("memory_linear_process", "process"),
        claim(
            "address_space_is_fair",
            "the practice of limiting memory by ulimit -v",
            "RLIMIT_AS limits threads and processes alike.",
            "it is one number set before either is started",
        )
        .note(
            "The limit is on each process: N processes have it N times, N threads once, and \
             threads spend it on stacks and malloc's arenas, too.",
        )
        .holds_if(
            difference(
                "finished_count",
                limited("process", "address_space"),
                limited("thread", "address_space"),
            ),
            Region::within(-0.5, 0.5),
        ),
        claim(
            "cgroup_is_fair",
            "the practice of limiting memory by a container",
            "As many workers finish in a memory cgroup, whether they are threads or processes.",
            "the limit is on the sum of all, which is the same for both",
        )
        .note("The kernel kills processes, not threads: one process of five, or all five threads.")
        .holds_if(
            difference("finished_count", limited("process", "cgroup"), limited("thread", "cgroup")),
            Region::within(-0.5, 0.5),
        ),
    ]
}
