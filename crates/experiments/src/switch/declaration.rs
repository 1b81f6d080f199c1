//! The experiment as data: factors, grids, responses, accounts. What answers its question stands
//! in `findings`, what people say of it in `claims`.

use super::cells::{of, own, ring, single};
use super::claims::claims;
use super::findings::findings;
use super::footprint::{PAGES, SIZES};
use super::{KINDS, MECHANISMS, PLACEMENTS};
use kit::declare::{account, beyond, cell, factor, grid, known, measured, part, response};
use kit::model::{
    Account, Cell, Center, Control, Design, Factor, Grid, Needs, Profile, Response, Unit,
};
use kit::workers::MODELS;

/// Memory of the largest treatment of `standard`: eight tasks with 4 MiB each, and the trial
/// itself.
const MEMORY_BYTES: u64 = 64 << 20;

/// After this time a trial is killed: laps over the last cache take milliseconds.
const TIME_LIMIT_MS: u64 = 20_000;

pub(super) fn design() -> Design {
    Design {
        id: "switch".into(),
        version: 1,
        chapter: "Switching and faulting".into(),
        question: "What does it cost to switch from one task to another?".into(),
        method:
            "Tasks on one CPU form a ring and hand a numbered token round; a hop is one task's \
                 wait for it, its walk through its memory and the hand-over. The measuring task is \
                 one of the ring; the others sleep at a gate while it talks to the runner. Hops \
                 are timed in batches of laps. Each task counts its tokens, its lines, its system \
                 calls and its CPU time itself. Memory is written when it is mapped and is then \
                 read, one byte per line of cache, in order; its size follows the caches that the \
                 kernel tells of, which a hypervisor may not tell truly. Two controls have all of it but the \
                 switches: one task makes all hops and walks the memory of all in turn (the same \
                 total footprint), or walks its own alone (lmbench's control)."
                .into(),
        factors: factors(),
        grids: grids(),
        responses: responses(),
        findings: findings(),
        accounts: accounts(),
        claims: claims(),
        controls: vec![Control { response: "hop_ns".into(), a: single("none"), b: own("none") }],
        needs: Needs {
            cpus: 1,
            memory_bytes: MEMORY_BYTES,
            privileges: vec![
                "transparent huge pages (`madvise` or `always` in \
                 /sys/kernel/mm/transparent_hugepage/enabled): without, the part of the TLB is not \
                 told from that of the caches"
                    .into(),
            ],
            ..Needs::default()
        },
        precision: 0.05,
        time_limit_ms: TIME_LIMIT_MS,
        ..Design::default()
    }
}

fn factors() -> Vec<Factor> {
    let tasks = factor("tasks", "tasks in the ring", "2")
        .numbers(Profile::Smoke, "a ping and a pong", &[2])
        .numbers(Profile::Quick, "more than the address-space identifiers that Linux keeps", &[8])
        .numbers(Profile::Standard, "a longer ring", &[3, 4, 6, 16]);
    vec![
        factor("kind", "who makes the hops", "ring").named(&KINDS).build(),
        factor("model", "what the tasks are", "process").named(&MODELS).build(),
        factor("mechanism", "how the token is handed on", "pipe").named(&MECHANISMS).build(),
        factor("working_set", "memory that a task walks at each hop", "none").named(&SIZES).build(),
        factor("pages", "the size of the pages of that memory", "4k").named(&PAGES).build(),
        tasks.build(),
        factor("placement", "where the tasks run", "same").named(&PLACEMENTS).build(),
    ]
}

fn grids() -> Vec<Grid> {
    let with_control: (&str, &[&str]) = ("kind", &["ring", "single"]);
    let bound = ["none", "half_l1", "l1", "twice_l1", "quarter_l2", "half_l2", "l2", "twice_l2"];
    vec![
        // All of a smoke session: the three kinds with and without memory, and the twin.
        grid(Profile::Smoke, &[("kind", &[]), ("working_set", &["none", "half_l2"])]),
        grid(Profile::Smoke, &[with_control, ("model", &["thread"])]),
        grid(Profile::Quick, &[("kind", &[]), ("working_set", &[])]),
        grid(Profile::Quick, &[with_control, ("model", &[]), ("tasks", &["8"])]),
        grid(Profile::Quick, &[("kind", &[]), ("working_set", &["half_l2"]), ("pages", &["huge"])]),
        grid(Profile::Quick, &[with_control, ("mechanism", &[])]),
        grid(Profile::Quick, &[("placement", &["other"])]),
        grid(
            Profile::Standard,
            &[("kind", &[]), ("working_set", &bound[1..]), ("pages", &["huge"])],
        ),
        grid(Profile::Standard, &[with_control, ("model", &[]), ("tasks", &[])]),
        grid(Profile::Standard, &[with_control, ("model", &[]), ("working_set", &bound)]),
        grid(
            Profile::Standard,
            &[with_control, ("model", &[]), ("tasks", &["8"]), ("working_set", &["quarter_l2"])],
        ),
        grid(Profile::Standard, &[with_control, ("model", &[]), ("mechanism", &[])]),
        grid(
            Profile::Standard,
            &[
                ("placement", &["other"]),
                ("model", &[]),
                ("mechanism", &["pipe", "eventfd", "futex"]),
            ],
        ),
    ]
}

const CLOCK: &str = "clock_gettime(CLOCK_MONOTONIC)";

fn responses() -> Vec<Response> {
    let single = cell([("kind", "single")]);
    let own = cell([("kind", "self")]);
    let (from, to) = ("before a batch of laps", "after it");
    let (first, last) = ("when all have begun to count, after the warm-up", "at the last token");
    let clocks = "clock_gettime(CLOCK_THREAD_CPUTIME_ID) of each task";
    let ns = |name, label| response(name, label, Unit::Ns);
    let raw = "divided by the number of hops; nothing is subtracted";
    let net = "divided by the number of hops, less the same for one task that makes all hops' \
               system calls and walks all tasks' memory: one way, hot";
    let lmbench = "divided by the number of hops, less the same for one task that makes all hops' \
                   system calls and walks its own memory alone: one way, hot, as lmbench's lat_ctx \
                   has it (src/lat_ctx.c: the time of a lap by the number of processes, less the \
                   overhead)";
    vec![
        ns("hop_ns", "time of a hop").cpu_twin("hop_cpu_ns").card(from, to, raw, CLOCK).build(),
        ns("hop_cpu_ns", "CPU time of a hop").card(first, last, raw, clocks).build(),
        ns("switch_ns", "cost of a hop's switch")
            .subtract(single.clone())
            .cpu_twin("switch_cpu_ns")
            .card(from, to, net, CLOCK)
            .build(),
        ns("switch_cpu_ns", "CPU time of a switch")
            .subtract(single)
            .card(first, last, net, clocks)
            .build(),
        ns("lat_ctx_ns", "cost of a switch as lmbench has it")
            .subtract(own.clone())
            .cpu_twin("lat_ctx_cpu_ns")
            .card(from, to, lmbench, CLOCK)
            .build(),
        ns("lat_ctx_cpu_ns", "CPU time of a switch as lmbench has it")
            .subtract(own)
            .card(first, last, lmbench, clocks)
            .build(),
    ]
    .into_iter()
    .chain(trips())
    .chain(counts(first, last))
    .collect()
}

/// The definitions that time a round trip and subtract nothing.
fn trips() -> [Response; 4] {
    let ns = |name, label| response(name, label, Unit::Ns);
    [
        ns("round_trip_ns", "a round trip as perf bench sched pipe has it")
            .center(Center::Mean)
            .card(
                "before the first batch of laps",
                "after the last",
                "the mean over the round trips of two tasks (two hops each), nothing subtracted: \
                 hot, as perf's usecs/op (tools/perf/bench/sched-pipe.c), which perf measures \
                 wherever the scheduler puts the tasks, unless taskset holds them",
                CLOCK,
            )
            .build(),
        ns("lebench_ns", "a round trip as LEBench has it")
            .card(
                "when both tasks of a fresh ring are awake",
                "after 1000 round trips",
                "divided by 1000, nothing subtracted, and no warm-up: as LEBench (Ren et al., SOSP \
                 2019, TEST_DIR/OS_Eval.c, context_switch_test), both processes on one CPU; \
                 LEBench then takes the lowest of many that agree, and raises the priority",
                CLOCK,
            )
            .build(),
        ns("first_trip_ns", "the first round trip of a fresh ring")
            .card(
                "when all tasks of a fresh ring are awake",
                "when the token is back for the first time",
                "nothing; cold",
                CLOCK,
            )
            .build(),
        ns("call_ns", "time of a system call of the hops")
            .card(
                "before a batch of laps of one task that makes all hops",
                "after it",
                "divided by the number of its system calls",
                CLOCK,
            )
            .build(),
    ]
}

fn counts(first: &str, last: &str) -> [Response; 5] {
    let divided = "divided by the number of hops";
    let count = |name, label| response(name, label, Unit::Count).center(Center::Mean);
    let itself = "each task's own count";
    [
        count("switches_count", "context switches per hop")
            .card(first, last, divided, "getrusage(RUSAGE_THREAD) of each task: ru_nvcsw + ru_nivcsw")
            .build(),
        count("calls_count", "system calls per hop").card(first, last, divided, itself).build(),
        count("vain_calls_count", "waits in vain per hop")
            .card(
                first,
                last,
                "divided by the number of hops; a wait after which it was still not the task's turn",
                itself,
            )
            .build(),
        count("wrong_tokens_count", "tokens lost, doubled or out of turn")
            .center(Center::Sum)
            .card(first, last, "nothing", itself)
            .build(),
        response("working_set_bytes", "memory that a task walks", Unit::Bytes)
            .center(Center::Max)
            .card("set-up", "set-up", "nothing", "/sys/devices/system/cpu/cpu*/cache")
            .build(),
    ]
}

/// What a hop is made of. System calls, the switch and the walks are calibrated each in a
/// treatment of its own; what is left over is what only their meeting costs.
fn accounts() -> Vec<Account> {
    let hop = "hop_ns";
    let calls = |at: Cell| {
        part("system calls", measured("calls_count", at), measured("call_ns", single("none")))
    };
    let switches = |at: Cell| {
        part(
            "switches, at their price between two tasks without memory",
            measured("switches_count", at),
            beyond(hop, ring("none"), single("none")),
        )
    };
    let walking = |size: &str, words: &str| {
        account(
            &format!("hop_{size}"),
            &format!(
                "one hop between two processes that walk {words} each; the rest is the refill \
                      that the switch itself causes"
            ),
            measured(hop, ring(size)),
            vec![
                calls(ring(size)),
                switches(ring(size)),
                part(
                    "a walk through memory that nobody else displaces",
                    known(1.0),
                    beyond(hop, own(size), own("none")),
                ),
                part(
                    "the other task's memory in the same caches, without a switch",
                    known(1.0),
                    beyond(hop, single(size), own(size)),
                ),
            ],
        )
    };
    vec![
        walking("half_l2", "half of the L2 cache"),
        walking("l2", "as much as the L2 cache"),
        account(
            "hop_eight",
            "one hop in a ring of eight processes; the rest is what more tasks cost a switch",
            measured(hop, of("process", "8")),
            vec![calls(of("process", "8")), switches(of("process", "8"))],
        ),
    ]
}
