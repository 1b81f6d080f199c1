//! The experiment as data.

use super::claims::claims;
use kit::declare::{Named, cell, factor, finding, grid, ratio, remark, response, value};
use kit::model::{Cell, Center, Design, Factor, Finding, Grid, Needs, Profile, Response, Unit};
use std::time::Duration;
use web::serve::{Model, Service};

/// Workers of a pool of threads or processes.
pub(super) const POOL: u32 = 8;

/// What a request waits, where it waits.
pub(super) const SERVICE: Duration = Duration::from_millis(20);

/// What a request computes: the ratio of two servers needs many requests, not long ones.
pub(super) const COMPUTING: Duration = Duration::from_millis(5);

/// The levels of the factor `model`.
pub(super) const MODELS: [Named<Model>; 7] = [
    Named::new("single", "one thread, one connection after the other", Model::Single),
    Named::new("pool", "eight threads that each take a connection", Model::Pool(POOL)),
    Named::from(
        "thread_each",
        "a thread (with a stack of 8 MiB) for each connection",
        Profile::Quick,
        Model::ThreadPerConnection,
    ),
    Named::from(
        "fork_each",
        "a process for each connection, made by fork",
        Profile::Quick,
        Model::ForkPerRequest,
    ),
    Named::from(
        "pre_fork",
        "eight processes, made beforehand, that each take a connection",
        Profile::Quick,
        Model::PreFork(POOL),
    ),
    Named::new("event_loop", "one thread with epoll, edge-triggered", Model::EventLoop),
    Named::from(
        "tokio",
        "tokio on two threads, a task for each connection",
        Profile::Quick,
        Model::Tokio(2),
    ),
];

/// The levels of the factor `service`.
pub(super) const SERVICES: [Named<Service>; 3] = [
    Named::new(
        "wait",
        "20 ms of waiting: a sleep, or a timer of the event loop",
        Service::Wait(SERVICE),
    ),
    Named::from(
        "compute",
        "5 ms of CPU time, of the thread that serves it",
        Profile::Quick,
        Service::Compute(COMPUTING),
    ),
    Named::from("none", "nothing", Profile::Quick, Service::Nothing),
];

/// The levels of the factor `keep_alive`.
pub(super) const KEEP_ALIVE: [Named<bool>; 2] = [
    Named::new("no", "each request has a connection of its own", false),
    Named::from("yes", "a connection brings request after request", Profile::Quick, true),
];

/// How requests come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coming {
    /// As soon as an answer is there.
    Closed,
    /// At random, whatever is answered.
    Poisson,
}

/// Requests per second at random: four fifths of what one thread serves that waits 20 ms for each.
pub(super) const POISSON_PER_S: f64 = 40.0;

/// The levels of the factor `arrivals`.
pub(super) const ARRIVALS: [Named<Coming>; 2] = [
    Named::new("closed", "each connection asks again when it has its answer", Coming::Closed),
    Named::from(
        "poisson_40",
        "40 requests a second at random intervals, whatever is answered (an open loop)",
        Profile::Standard,
        Coming::Poisson,
    ),
];

/// The backlog of all servers, but where a short one is the question.
pub(super) const BACKLOG: &str = "1024";

/// The declaration.
pub(super) fn design() -> Design {
    Design {
        id: "servers".into(),
        version: 3,
        chapter: "Serving".into(),
        question: "Which model of concurrency serves how many how fast, and at what cost?".into(),
        method: METHOD.into(),
        factors: factors(),
        grids: grids(),
        responses: responses(),
        findings: findings(),
        claims: claims(),
        needs: Needs { cpus: 1, memory_bytes: 1_000_000_000, ..Needs::default() },
        precision: 0.10,
        time_limit_ms: 60_000,
        ..Design::default()
    }
}

const METHOD: &str = "A server of our own is started as a child of the trial on a CPU of its own \
    where there are two, and asked once by a real request; then the load generator (one thread, on \
    the other CPU) puts its load on it for 0.07 s in quick and 2 s in standard, or until each \
    connection can have two answers where that takes longer. The throughput of a closed loop is that \
    of whole turns, from the first answer of each connection to its last: what is under way at the \
    ends does not count. Little's law (N = X·R) checks it in each trial. All models have the same parser, the same answers of 23 \
    bytes and the same listening socket. What a server uses is read from outside, from its processes, \
    before the load and after it. Memory is that of another server of the same kind, in which as \
    many connections are held as the treatment has, 64 at least, each in the middle of its first \
    request. Timers \
    of event loops have steps of 1 ms, as epoll has: they wait up to 1 ms longer than a thread that \
    sleeps. On one CPU server and generator share it, and each slows the other down.";

fn factors() -> Vec<Factor> {
    vec![
        factor("model", "how the server does several things at a time", "single")
            .named(&MODELS)
            .build(),
        factor("service", "what a request needs before it is answered", "wait")
            .named(&SERVICES)
            .build(),
        factor("connections", "how many connections ask at the same time", "16")
            .numbers(Profile::Smoke, "connections", &[4, 16])
            .numbers(Profile::Quick, "connections", &[1])
            .numbers(Profile::Standard, "connections", &[8, 64, 256, 1000])
            .build(),
        factor("keep_alive", "whether a connection brings several requests", "no")
            .named(&KEEP_ALIVE)
            .build(),
        factor("backlog", "how long the accept queue may become", BACKLOG)
            .numbers(Profile::Smoke, "connections that wait to be accepted", &[1024])
            .numbers(Profile::Standard, "connections that wait to be accepted", &[5])
            .build(),
        factor("arrivals", "how requests come", "closed").named(&ARRIVALS).build(),
    ]
}

/// `quick` measures what claims and findings need, in trials of 0.07 s; one thread with 16
/// connections that wait would need most of a second, and is left to `standard`.
fn grids() -> Vec<Grid> {
    const MODEL: (&str, &[&str]) = ("model", &[]);
    const CONCURRENT: (&str, &[&str]) =
        ("model", &["pool", "thread_each", "fork_each", "pre_fork", "event_loop", "tokio"]);
    const CLAIMED: (&str, &[&str]) = ("model", &["pool", "thread_each", "fork_each", "event_loop"]);
    const FEW: (&str, &[&str]) = ("connections", &["1", "4", "8", "16", "64"]);
    const MANY: (&str, &[&str]) = ("connections", &["256", "1000"]);
    const KEPT: (&str, &[&str]) = ("keep_alive", &[]);
    vec![
        grid(Profile::Smoke, &[("model", &["pool", "event_loop"]), ("connections", &["4"])]),
        grid(Profile::Quick, &[CLAIMED]),
        grid(Profile::Quick, &[("connections", &["1", "4"])]),
        grid(Profile::Quick, &[("model", &["pool"]), ("connections", &["4"])]),
        grid(Profile::Quick, &[("keep_alive", &["yes"])]),
        grid(
            Profile::Quick,
            &[
                ("model", &["single", "event_loop"]),
                ("service", &["compute"]),
                ("connections", &["4"]),
            ],
        ),
        grid(Profile::Quick, &[("model", &["fork_each", "event_loop"]), ("service", &["none"])]),
        grid(Profile::Standard, &[MODEL, FEW]),
        grid(Profile::Standard, &[MODEL, ("keep_alive", &["yes"])]),
        grid(Profile::Standard, &[MODEL, ("service", &["compute"]), ("connections", &["4", "16"])]),
        grid(Profile::Standard, &[MODEL, ("service", &["none"]), KEPT]),
        grid(
            Profile::Standard,
            &[("model", &["thread_each", "fork_each", "event_loop", "tokio"]), MANY],
        ),
        grid(Profile::Standard, &[MODEL, ("backlog", &["5"])]),
        grid(Profile::Standard, &[MODEL, ("arrivals", &["poisson_40"]), ("connections", &["64"])]),
        grid(Profile::Thorough, &[CONCURRENT, ("service", &["none"]), FEW, KEPT]),
    ]
}

fn responses() -> Vec<Response> {
    let mut all = responses_of_requests();
    all.extend(responses_of_failures());
    all.extend(responses_of_costs());
    all
}

fn responses_of_requests() -> Vec<Response> {
    let of_load = "the load generator";
    let times = |name: &str, label: &str, from: &str, to: &str| {
        let given_up = "requests without an answer when the time was over count as longer than what \
             had passed (Kaplan and Meier); nothing is kept where too many are";
        response(name, label, Unit::Ns).card(from, to, given_up, of_load).build()
    };
    let (due, answered) = ("the moment at which a request is due", "its whole answer");
    vec![
        response("throughput_per_s", "answers per second", Unit::PerSecond)
            .card(
                "the first answer of each connection",
                "its last answer",
                "the sum over connections; where requests come at random, all answers by the whole \
                 time",
                of_load,
            )
            .build(),
        times("response_p50_ns", "response time, median", due, answered),
        times("response_p99_ns", "response time, 99 %", due, answered),
        times("service_p50_ns", "time from sending to answer, median", "its sending", answered),
        times("lateness_p99_ns", "lateness of sending, 99 %", due, "its sending"),
    ]
}

fn responses_of_failures() -> Vec<Response> {
    let count = |name: &str, label: &str, corrected: &str, source: &str| {
        response(name, label, Unit::Count)
            .center(Center::Sum)
            .card("the first request", "the end of the load", corrected, source)
            .build()
    };
    let whole = "nothing: it counts for all programs of the network namespace";
    vec![
        count("errors_count", "requests that failed or timed out", "", "the load generator"),
        count(
            "starved_count",
            "connections without any answer",
            "of connections that last",
            "the load generator",
        ),
        count(
            "overflow_count",
            "connections dropped because the accept queue was full",
            whole,
            "ListenOverflows of /proc/net/netstat",
        ),
        count(
            "syn_retransmit_count",
            "attempts to connect that were made again",
            whole,
            "TCPSynRetrans of /proc/net/netstat",
        ),
    ]
}

fn responses_of_costs() -> Vec<Response> {
    let (from, to) = ("before the load", "after it");
    let memory = |name: &str, label: &str, source: &str| {
        response(name, label, Unit::Bytes)
            .card(
                "before the first connection",
                "while all are held in the middle of their first request",
                "the difference, summed over the server's processes, divided by the connections; \
                 without the kernel's memory for sockets and processes",
                source,
            )
            .build()
    };
    vec![
        response("request_cpu_ns", "CPU time of the server per request", Unit::Ns)
            .center(Center::Mean)
            .card(
                from,
                to,
                "summed over the server's processes, ended ones included, divided by the answers; with \
                 what went into requests that were under way at the end",
                "clock_gettime on the processes' CPU clocks; getrusage of children that ended",
            )
            .build(),
        response("switches_count", "switches of the server per request", Unit::Count)
            .center(Center::Mean)
            .card(
                from,
                to,
                "times that a thread of the server was put on a CPU, divided by the answers; not \
                 kept where threads end meanwhile",
                "/proc/PID/task/*/schedstat",
            )
            .build(),
        memory("connection_bytes", "memory (PSS) per connection", "/proc/PID/smaps_rollup"),
        memory(
            "connection_virtual_bytes",
            "address space per connection",
            "VmSize of /proc/PID/status",
        ),
    ]
}

/// A model with so many connections that wait.
pub(super) fn at(model: &str, connections: &str) -> Cell {
    cell([("model", model), ("connections", connections)])
}

fn findings() -> Vec<Finding> {
    let idle = |model: &str| at(model, "16").with("service", "none");
    vec![
        finding(
            "event_loop_throughput",
            "Where 16 connections wait 20 ms for each answer, an event loop gives {} times as many \
             answers as a pool of eight threads.",
            ratio("throughput_per_s", at("event_loop", "16"), at("pool", "16")),
        ),
        finding(
            "fork_cpu",
            "A request for which a process is forked takes {} times the CPU time of one in an event \
             loop.",
            ratio("request_cpu_ns", at("fork_each", "16"), at("event_loop", "16")),
        ),
        remark(
            "thread_cpu",
            "One for which a thread is made takes {} times as much.",
            ratio("request_cpu_ns", at("thread_each", "16"), at("event_loop", "16")),
        ),
        remark(
            "event_loop_cpu",
            "An event loop that has nothing to wait for takes {} of CPU time for a connection with \
             one request.",
            value("request_cpu_ns", idle("event_loop")),
        ),
        remark(
            "thread_memory",
            "A connection that is held takes {} of memory with a thread,",
            value("connection_bytes", at("thread_each", "16")),
        ),
        remark(
            "process_memory",
            "{} with a process,",
            value("connection_bytes", at("fork_each", "16")),
        ),
        remark(
            "event_loop_memory",
            "and {} in an event loop.",
            value("connection_bytes", at("event_loop", "16")),
        ),
        remark(
            "overflows",
            "With a backlog of 5 and one thread {} connections of 16 found the accept queue full.",
            value("overflow_count", at("single", "16").with("backlog", "5")),
        ),
    ]
}
