//! Which of our numbers stands beside which of theirs.

use super::definitions::{self, OPERATION_NS};
use super::ours::Mine;
use super::peer::Peer;
use model::Cell;

/// One of our numbers beside a tool's.
pub(crate) struct Pair {
    /// What both are to be.
    pub(crate) what: &'static str,
    pub(crate) mine: Mine,
    pub(crate) peer: Peer,
    /// The heading of docs/calibration.md that explains why the two differ, where they do: by a
    /// pair of this table that agrees, because it has the peer's definition.
    pub(crate) explained: Option<&'static str>,
}

impl Pair {
    fn new(what: &'static str, mine: Mine, peer: Peer) -> Self {
        Pair { what, mine, peer, explained: None }
    }

    fn explained(self, anchor: &'static str) -> Self {
        Pair { explained: Some(anchor), ..self }
    }
}

/// Pairs that are measured one directly after the other.
pub(crate) struct Station {
    pub(crate) pairs: Vec<Pair>,
    /// Numbers of ours that are shown beside them.
    pub(crate) aside: Vec<(&'static str, Mine)>,
}

fn mine(experiment: &'static str, response: &'static str, at: Cell) -> Mine {
    Mine { experiment, response, at }
}

fn defined(definition: &str) -> Mine {
    mine(definitions::EXPERIMENT.id, OPERATION_NS, Cell::new([("definition", definition)]))
}

fn created(mechanism: &str) -> Mine {
    mine("create", "whole_ns", Cell::new([("mechanism", mechanism)]))
}

fn ring(response: &'static str, size: &str) -> Mine {
    mine("switch", response, Cell::new([("kind", "ring"), ("working_set", size)]))
}

/// All, in the order of the table.
pub(crate) fn stations(half_l2_bytes: Option<usize>) -> Vec<Station> {
    let alone = |pair| Station { pairs: vec![pair], aside: Vec::new() };
    let entry = mine("kernel_entry", "call_ns", Cell::new([("entry", "getppid")]));
    let mut all = vec![Station {
        pairs: vec![
            Pair::new("a system call that does next to nothing", entry, Peer::PerfSyscall)
                .explained("perf-counts-its-loop"),
            Pair::new(
                "the same with libc and the loop",
                defined("perf_syscall"),
                Peer::PerfSyscall,
            ),
        ],
        aside: Vec::new(),
    }];
    all.extend(switches(half_l2_bytes));
    all.extend(messages().map(alone));
    all.push(Station {
        pairs: vec![
            Pair::new("a vforked child, bare", created("vfork"), Peer::StressVfork)
                .explained("stress-ng-vfork-has-a-table-and-its-libraries"),
            Pair::new(
                "the same with its table and mappings",
                defined("stress_vfork"),
                Peer::StressVfork,
            ),
        ],
        aside: Vec::new(),
    });
    all.push(Station {
        pairs: vec![
            Pair::new("half a round trip by pipes", ring("hop_ns", "none"), Peer::StressSwitch)
                .explained("stress-ng-switch-counts-two-switches-as-one"),
            Pair::new("a byte one way, no answer", defined("stress_switch"), Peer::StressSwitch),
        ],
        aside: vec![(
            "context switches per operation of stress-ng --switch, by our count",
            Mine { response: "switches_count", ..defined("stress_switch") },
        )],
    });
    all.push(alone(Pair::new(
        "a program started and awaited",
        created("posix_spawn"),
        Peer::Hyperfine,
    )));
    all
}

fn switches(half_l2_bytes: Option<usize>) -> Vec<Station> {
    let round_trip = "round_trip_ns";
    let threads = ring(round_trip, "none");
    let threads = Mine { at: threads.at.with("model", "thread"), ..threads };
    let lat_ctx = |what, size, peer| Pair::new(what, ring("lat_ctx_ns", size), peer);
    let without = "one way by lat_ctx's definition, no memory";
    let with = "the same, half of the L2 cache per task";
    let own = |bytes, by_line| Peer::OwnLatCtx { bytes, by_line };
    let mut all = vec![
        Station {
            pairs: vec![
                Pair::new(
                    "a round trip of two processes",
                    ring(round_trip, "none"),
                    Peer::PerfPipe { threads: false },
                ),
                lat_ctx(without, "none", Peer::LatCtx { bytes: 0 }),
                lat_ctx(without, "none", own(0, false)),
            ],
            aside: vec![
                ("ns: a hop, nothing subtracted", ring("hop_ns", "none")),
                ("ns: one way, the same footprint subtracted", ring("switch_ns", "none")),
                ("ns: one way, one buffer subtracted, as lmbench", ring("lat_ctx_ns", "none")),
                ("ns: a round trip, hot, as perf bench sched pipe", ring(round_trip, "none")),
                ("ns: a round trip of the first 1000, as LEBench", ring("lebench_ns", "none")),
                ("ns: a round trip, the very first", ring("first_trip_ns", "none")),
            ],
        },
        Station {
            pairs: vec![Pair::new(
                "a round trip of two threads",
                threads,
                Peer::PerfPipe { threads: true },
            )],
            aside: Vec::new(),
        },
    ];
    if let Some(bytes) = half_l2_bytes {
        let all_read = lat_ctx(with, "half_l2", own(bytes, false));
        let pairs = vec![
            lat_ctx(with, "half_l2", Peer::LatCtx { bytes })
                .explained("lat_ctx-reads-every-integer"),
            all_read.explained("lat_ctx-reads-every-integer"),
            lat_ctx(with, "half_l2", own(bytes, true)),
        ];
        all.push(Station { pairs, aside: Vec::new() });
    }
    all
}

fn messages() -> [Pair; 3] {
    let one = |what, definition, threads, pipes| {
        Pair::new(what, defined(definition), Peer::PerfMessaging { threads, pipes })
    };
    [
        one("a message, 20 processes to 20", "messaging_processes", false, false),
        one("a message, 20 threads to 20", "messaging_threads", true, false),
        one("a message, the processes over pipes", "messaging_pipes", false, true),
    ]
}
