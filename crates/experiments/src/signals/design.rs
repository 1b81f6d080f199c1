//! The experiment as data.

use super::cells::{WIDENED, burst_blocked, single, widened};
use super::claims::claims;
use super::deliver::Blocking;
use super::receiver::WAYS;
use super::sender::SENDERS;
use kit::declare::{Named, cell, factor, finding, frequency, grid, ratio, remark, response, value};
use kit::model::{
    Cell, Center, Design, Factor, Finding, Grid, Needs, Profile, Quantity, Response, Unit,
};

/// Which sort of signal is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// SIGUSR1: pending or not.
    Standard,
    /// SIGRTMIN: queued.
    RealTime,
}

/// The levels of the factor `signal`.
pub(super) const SIGNALS: [Named<Sort>; 2] = [
    Named::new("standard", "SIGUSR1", Sort::Standard),
    Named::new("realtime", "SIGRTMIN", Sort::RealTime),
];

/// How the signals come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// One at a time, each at a random moment.
    Single,
    /// Many at once, while the receiver blocks them.
    BurstBlocked,
    /// Many at once, while the receiver waits, handles and waits again.
    BurstAwake,
}

/// The levels of the factor `arrival`.
pub(super) const ARRIVALS: [Named<Arrival>; 3] = [
    Named::new(
        "single",
        "one at a time, at a random moment of 100 µs; the receiver looks at its flag after the first \
         10 and then waits",
        Arrival::Single,
    ),
    Named::new(
        "burst_blocked",
        "256 in a row while the receiver blocks the signal; then it handles what is pending",
        Arrival::BurstBlocked,
    ),
    Named::from(
        "burst_awake",
        "256 in a row while the receiver waits, handles and waits again",
        Profile::Quick,
        Arrival::BurstAwake,
    ),
];

/// The levels of the factor `delivery`; the baseline has no second thread that could handle it.
pub(super) const DELIVERIES: [Named<Option<Blocking>>; 4] = [
    Named::new("one_thread", "only the thread that waits can handle the signal", None),
    Named::new(
        "nobody_blocks",
        "four threads sleep, and none blocks the signal",
        Some(Blocking::Nobody),
    ),
    Named::from(
        "main_blocks",
        "four threads sleep, and the main thread blocks it",
        Profile::Quick,
        Some(Blocking::Main),
    ),
    Named::from(
        "all_but_one_block",
        "four threads sleep, and all but the third block it",
        Profile::Quick,
        Some(Blocking::AllButOne),
    ),
];

const METHOD: &str = "A receiver waits for a signal in a loop, in one of the ways that programs do. \
    A sender on another CPU, a process or a thread, sends one signal by kill at a random moment and \
    sees whether the receiver notices. A receiver that the kernel shows asleep after the signal was \
    sent, at two looks in a row, and that has not noticed it by then will sleep for ever, since \
    kill makes ready to run whom it interrupts: that wake-up is counted as lost, exactly and \
    without a time-out, and another signal rescues the receiver. Since the window between the look \
    at the flag and the sleep is short by nature, levels widen it by computing in between. Bursts and processes with several threads are sent \
    signals by the same call. That a signal is blocked, or not, is read back by pthread_sigmask \
    and from /proc.";

pub(super) fn design() -> Design {
    Design {
        id: "signals".into(),
        version: 1,
        chapter: "Sharing".into(),
        question: "Who gets a signal, who sleeps through it, and how many become one?".into(),
        method: METHOD.into(),
        factors: factors(),
        grids: grids(),
        responses: responses(),
        findings: findings(),
        claims: claims(),
        needs: Needs { cpus: 2, ..Needs::default() },
        precision: 0.10,
        time_limit_ms: 10_000,
        ..Design::default()
    }
}

fn factors() -> Vec<Factor> {
    let between = "µs of computing between the look at the flag (or unblocking) and the sleep";
    let window = factor("window", between, "0")
        .unit(Unit::Other("µs".into()))
        .numbers(Profile::Smoke, "nothing: the window that the code has by nature", &[0])
        .numbers(Profile::Smoke, "the window is widened by so many µs", &[50])
        .numbers(Profile::Quick, "the window is widened by so many µs", &[5])
        .numbers(Profile::Standard, "the window is widened by so many µs", &[500]);
    vec![
        factor("waiter", "how the receiver waits", "pause").named(&WAYS).build(),
        factor("signal", "which sort of signal", "standard").named(&SIGNALS).build(),
        window.build(),
        factor("arrival", "how the signals come", "single").named(&ARRIVALS).build(),
        factor("delivery", "which threads could handle it", "one_thread")
            .named(&DELIVERIES)
            .build(),
        factor("sender", "who sends them", "process").named(&SENDERS).build(),
    ]
}

fn grids() -> Vec<Grid> {
    let safe = ["sigsuspend", "sigwait", "signalfd"];
    let four = ["pause", "sigsuspend", "sigwait", "signalfd"];
    let widened: &[&str] = &[WIDENED];
    vec![
        grid(Profile::Smoke, &[("waiter", &four), ("window", widened)]),
        grid(
            Profile::Smoke,
            &[("waiter", &["sigsuspend"]), ("signal", &[]), ("arrival", &["burst_blocked"])],
        ),
        grid(Profile::Smoke, &[("delivery", &["nobody_blocks"])]),
        grid(Profile::Quick, &[("waiter", &four), ("window", &["0"])]),
        grid(Profile::Quick, &[("waiter", &["unblock_pause"]), ("window", &["0"])]),
        grid(Profile::Quick, &[("window", &["5"])]),
        grid(Profile::Quick, &[("arrival", &["burst_awake"]), ("signal", &[])]),
        grid(Profile::Quick, &[("delivery", &["main_blocks", "all_but_one_block"])]),
        grid(Profile::Standard, &[("waiter", &[]), ("signal", &[]), ("window", &[])]),
        grid(Profile::Standard, &[("waiter", &four), ("arrival", &["burst_awake"])]),
        grid(Profile::Standard, &[("waiter", &four), ("window", &["0", WIDENED]), ("sender", &[])]),
        grid(
            Profile::Standard,
            &[("waiter", &safe), ("signal", &[]), ("arrival", &["burst_blocked", "burst_awake"])],
        ),
        grid(
            Profile::Standard,
            &[
                ("delivery", &["nobody_blocks", "main_blocks", "all_but_one_block"]),
                ("signal", &[]),
                ("sender", &[]),
            ],
        ),
    ]
}

fn responses() -> Vec<Response> {
    let mut all = vec![
        response("lost_count", "wake-ups lost", Unit::Count)
            .center(Center::Mean)
            .card(
                "the moment the receiver is about to wait for a signal",
                "the moment it has noticed the signal, or sleeps although it was sent",
                "divided by the number of signals, which come one at a time",
                "/proc/PID/task/TID/wchan, and the receiver's own word in shared memory",
            )
            .build(),
        response("latency_ns", "time from kill to the waiter's going on", Unit::Ns)
            .card(
                "before kill",
                "when the wait for the signal has returned, on another CPU",
                "only of signals sent long after the receiver went to sleep",
                "clock_gettime(CLOCK_MONOTONIC), on both sides",
            )
            .build(),
        response("overlap_ppm", "time in which receiver and sender were at work", Unit::Ppm)
            .card(
                "the receiver's first wait",
                "its last",
                "less the time in which one of them was ready to run and had no CPU",
                "clock_gettime(CLOCK_MONOTONIC) and /proc/thread-self/schedstat",
            )
            .build(),
    ];
    all.extend(shares());
    all
}

fn shares() -> [Response; 4] {
    let burst = "the first signal of a burst";
    let pending = "nothing of it is pending any more";
    let per = "divided by the number of signals sent";
    let count = |name: &str, label: &str| response(name, label, Unit::Count).center(Center::Mean);
    [
        count("merged_count", "signals never handled, since one like them was pending")
            .card(burst, pending, per, "sent by one side, less handled by the other")
            .build(),
        count("notices_count", "times that the waiting loop found something new")
            .card(burst, pending, per, "counted by the loop after each wait")
            .build(),
        count("main_count", "signals handled by the main thread")
            .card(
                "the first signal to the process",
                "the last",
                per,
                "counted by the handler, by gettid",
            )
            .build(),
        response("receivers_count", "threads that handled any", Unit::Count)
            .card("the first signal to the process", "the last", "", "as main_count")
            .build(),
    ]
}

fn findings() -> Vec<Finding> {
    let lost = |at: Cell| frequency("lost_count", at);
    let merged = |waiter: &str, arrival: &str| {
        frequency(
            "merged_count",
            cell([("waiter", waiter), ("arrival", arrival), ("signal", "standard")]),
        )
    };
    let mut all = vec![
        finding(
            "pause_50",
            "With 50 µs between its look and its sleep, a pause() loop sleeps through {} of the \
             signals.",
            lost(widened("pause")),
        ),
        remark(
            "pause_5",
            "With 5 µs it sleeps through {} of them.",
            lost(single("pause").with("window", "5")),
        ),
        remark(
            "pause_0",
            "With nothing in between it sleeps through {} of them.",
            lost(single("pause").with("window", "0")),
        ),
        remark(
            "unblock_pause_0",
            "With the signal blocked during the look, and nothing between unblocking and pause(), \
             it sleeps through {} of them: all that came while it was blocked.",
            lost(single("unblock_pause").with("window", "0")),
        ),
        remark("sigsuspend", "sigsuspend sleeps through {} of them.", lost(single("sigsuspend"))),
        remark("sigwait", "sigwait sleeps through {} of them.", lost(single("sigwait"))),
        remark("signalfd", "A signalfd sleeps through {} of them.", lost(single("signalfd"))),
        remark(
            "merged_blocked",
            "Of standard signals sent in a burst while they are blocked, {} are never handled.",
            frequency("merged_count", burst_blocked("standard")),
        ),
        remark(
            "merged_pause",
            "Of a burst to a process that handles signals as they come, {} are never handled.",
            merged("pause", "burst_awake"),
        ),
        remark(
            "noticed_pause",
            "Of a burst of real-time signals the pause() loop notices {} after waking.",
            frequency(
                "notices_count",
                cell([("waiter", "pause"), ("arrival", "burst_awake"), ("signal", "realtime")]),
            ),
        ),
    ];
    all.extend(delivered());
    all.extend(latencies());
    all
}

fn delivered() -> [Finding; 2] {
    let of = |delivery: &str| frequency("main_count", cell([("delivery", delivery)]));
    [
        remark(
            "main",
            "Where no thread blocks it, {} of the signals to the process go to the main thread.",
            of("nobody_blocks"),
        ),
        remark("main_blocked", "Where it blocks them, {} do.", of("main_blocks")),
    ]
}

fn latencies() -> [Finding; 2] {
    let at = |waiter: &str| cell([("waiter", waiter)]);
    let slower = |waiter: &str| -> Quantity { ratio("latency_ns", at(waiter), at("sigwait")) };
    [
        remark(
            "latency",
            "From kill until a sleeper in sigwait on another CPU goes on it takes {}.",
            value("latency_ns", at("sigwait")),
        ),
        remark(
            "handler_latency",
            "Until one in sigsuspend goes on, whose handler must run first, it takes {} times as \
             long.",
            slower("sigsuspend"),
        ),
    ]
}
