//! What does a counter cost that several threads increment, and does it count right?

use crate::support::counting::{LINE_SHARED, LOCK_SHARED, Promise, responses};
use crate::support::party::Party;
use kit::declare::{
    Named, cell, claim, factor, finding, frequency, grid, ratio, remark, share, value,
};
use kit::model::{Cell, Claim, Design, Factor, Finding, Grid, Needs, Profile, Region};
use kit::workers::{Model, Repeated, Rounds};
use kit::{Experiment, Stop, Trial};
use std::sync::atomic::{AtomicU64, Ordering};
use sys::increment::{self, Locked, Loop};
use sys::pages::SharedWords;

/// What does a counter cost that several threads increment, and does it count right?
pub(crate) const EXPERIMENT: Experiment = Experiment { id: "counters", design, trial };

/// A kind of counter.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// All threads count on one word.
    Global(Loop, Promise),
    /// All count on one word, under one lock.
    Locked,
    /// Each counts on a variable of its own thread.
    Local,
    /// Each counts on its own word, so many words from the next thread's.
    Shards(Loop, usize),
}

/// Words from one padded shard to the next: 128 bytes, since some CPUs fetch lines in pairs.
const PADDED: usize = 16;

const KINDS: [Named<Kind>; 9] = [
    Named::new(
        "plain",
        "one global, as an optimising compiler increments it in a loop: one addition of the count",
        Kind::Global(increment::plain, Promise::Folded),
    ),
    Named::new(
        "volatile",
        "one global, volatile: load, add, store",
        Kind::Global(increment::volatile, Promise::Racing),
    ),
    Named::from(
        "relaxed",
        "one global, by a relaxed atomic load and a relaxed store",
        Profile::Standard,
        Kind::Global(increment::relaxed, Promise::Racing),
    ),
    Named::new(
        "atomic",
        "one global, by an atomic fetch_add",
        Kind::Global(increment::atomic, Promise::Exact),
    ),
    Named::from("mutex", "one global, under a pthread_mutex_t", Profile::Quick, Kind::Locked),
    Named::new(
        "thread_local",
        "a variable of the thread: load, add, store; summed at the end",
        Kind::Local,
    ),
    Named::from(
        "shards",
        "a word for each thread, 128 bytes apart: load, add, store; summed at the end",
        Profile::Quick,
        Kind::Shards(increment::volatile, PADDED),
    ),
    Named::from(
        "atomic_shards",
        "the same words, by atomic fetch_add",
        Profile::Quick,
        Kind::Shards(increment::atomic, PADDED),
    ),
    Named::from(
        "packed_shards",
        "a word for each thread, 8 bytes apart: load, add, store",
        Profile::Quick,
        Kind::Shards(increment::volatile, 1),
    ),
];

/// Where the threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    Spread,
    OneCore,
}

const WHERE: [Named<Where>; 2] = [
    Named::new(
        "spread",
        "each pinned to a CPU of its own; with more threads than CPUs they share them evenly",
        Where::Spread,
    ),
    Named::new("one_core", "all pinned to one CPU", Where::OneCore),
];

fn design() -> Design {
    Design {
        id: "counters".into(),
        version: 2,
        chapter: "Sharing".into(),
        question: "What does a counter cost that several threads increment, and does it count \
                   right?"
            .into(),
        method:
            "Threads increment equally often, by loops of fixed machine code, and the sum that \
                 they find afterwards is compared with what they added: what is missing was lost. \
                 Threads with a CPU each meet before every round and work for half a millisecond. \
                 Every round counts, and a trial in which half of them were disturbed has failed. \
                 Threads that share a CPU work for several time slices, because there an increment \
                 is lost when its thread is preempted between its load and its store. Times are \
                 those of a whole round, divided by all its increments: two threads that do not \
                 disturb each other need half of one thread's time."
                .into(),
        factors: factors(),
        grids: grids(),
        responses: responses(),
        findings: findings(),
        claims: claims(),
        needs: Needs { cpus: 2, ..Needs::default() },
        precision: 0.05,
        time_limit_ms: 20_000,
        ..Design::default()
    }
}

fn factors() -> Vec<Factor> {
    vec![
        factor("kind", "how the counter is made", "volatile").named(&KINDS).build(),
        factor("threads", "how many threads count", "2")
            .numbers(Profile::Smoke, "a CPU each, where there are as many", &[1, 2])
            .numbers(Profile::Standard, "a CPU each, where there are as many", &[4])
            .numbers(Profile::Standard, "a CPU each, where there are as many", &[8])
            .build(),
        factor("placement", "where they run", "spread").named(&WHERE).build(),
    ]
}

fn grids() -> Vec<Grid> {
    let raced: &[&str] = &["volatile", "atomic"];
    vec![
        grid(Profile::Smoke, &[("kind", &[])]),
        grid(Profile::Smoke, &[("kind", &["atomic"]), ("threads", &["1"])]),
        grid(Profile::Smoke, &[("placement", &["one_core"])]),
        grid(Profile::Quick, &[("kind", &["volatile", "thread_local"]), ("threads", &["1"])]),
        grid(Profile::Standard, &[("kind", &[]), ("threads", &[])]),
        grid(Profile::Standard, &[("kind", &[]), ("placement", &["one_core"])]),
        grid(Profile::Standard, &[("kind", raced), ("threads", &[]), ("placement", &[])]),
    ]
}

const TIME: &str = "increment_ns";

/// Two threads on two CPUs.
fn of(kind: &str) -> Cell {
    cell([("kind", kind)])
}

/// The trials of two threads on two CPUs.
fn among(kind: &str) -> Cell {
    cell([("kind", kind), ("threads", "2"), ("placement", "spread")])
}

fn findings() -> Vec<Finding> {
    let alone = |kind: &str| of(kind).with("threads", "1");
    let explained = |without: &str| share(TIME, of("atomic"), of(without), of("thread_local"));
    vec![
        finding(
            "contended",
            "For as many atomic increments of one word two threads together take {} times as long \
             as one alone.",
            ratio(TIME, of("atomic"), alone("atomic")),
        ),
        remark(
            "overlap",
            "Two threads that count on one atomic both had a CPU for {} of a round.",
            value("overlap_ppm", of("atomic")),
        ),
        remark(
            "lost",
            "Two threads that race for one global lose {} of their increments.",
            frequency("lost_count", among("volatile")),
        ),
        remark(
            "lost_on_one_core",
            "On one CPU they lose {}: a thread that is preempted between load and store throws \
             away what the other did in its time slice.",
            frequency("lost_count", among("volatile").with("placement", "one_core")),
        ),
        remark(
            "folded",
            "A plain global takes {} per increment: of its loop an optimising compiler leaves one \
             addition, which seldom meets another thread's.",
            value(TIME, of("plain")),
        ),
        remark(
            "folded_wrong",
            "With a plain global {} of the rounds end with a wrong sum.",
            frequency("wrong_count", among("plain")),
        ),
        remark(
            "line_alone",
            "{} of what an atomic counter costs beyond a thread-local one is the shared line: so \
             much vanishes when each thread has an atomic of its own.",
            explained("atomic_shards"),
        ),
        remark(
            "packed",
            "Shards that lie side by side take {} times as long as shards on lines of their own.",
            ratio(TIME, of("packed_shards"), of("shards")),
        ),
    ]
}

fn claims() -> Vec<Claim> {
    let lecture = "a lecture on threads (asp)";
    // One in a million: any race that is one loses far more.
    let never = Region::below(1e-6);
    vec![
        claim(
            "race_is_wrong",
            lecture,
            "A global that two threads increment without protection ends with an unpredictable \
             value.",
            "an increment is a load, an add and a store, and the other thread's store may come in \
             between",
        )
        .note(
            "It holds if more than half of the rounds end with a wrong sum. A volatile global; of \
             a plain one an optimising compiler leaves a single addition.",
        )
        .holds_if(value("wrong_count", among("volatile")), Region::above(0.5)),
        claim(
            "thread_local_is_right",
            lecture,
            "A thread-local counter never loses an increment.",
            "nobody else writes to it",
        )
        .holds_if(value("lost_count", of("thread_local")), never),
        claim(
            "atomic_is_right",
            lecture,
            "An atomic counter never loses an increment.",
            "load, add and store are one step that nothing can come between",
        )
        .holds_if(value("lost_count", of("atomic")), never),
        claim(
            "mutex_is_dearer",
            "common advice",
            "A counter under a mutex costs more than an atomic one (two threads on two CPUs).",
            "locking is an atomic operation, too, and unlocking another; who waits may sleep",
        )
        .holds_if(ratio(TIME, of("mutex"), of("atomic")), Region::above(1.0)),
        claim(
            "shards_remove_the_cost",
            "common advice",
            "One padded counter per thread, summed at the end, removes the cost of sharing.",
            "no line travels, and no instruction has to be atomic",
        )
        .note(
            "It holds if at least nine tenths of what an atomic counter costs beyond a \
             thread-local one vanish.",
        )
        .holds_if(share(TIME, of("atomic"), of("shards"), of("thread_local")), Region::above(0.9)),
    ]
}

fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    increment::exact_or_why().map_err(Stop::unsupported)?;
    let kind = trial.realise("kind", &KINDS)?;
    let threads = trial.number("threads")? as usize;
    let cpus = match trial.realise("placement", &WHERE)? {
        Where::OneCore => 1,
        Where::Spread => threads,
    };
    let party = Party::new(trial, Model::Thread, threads, cpus)?;
    let mut counter = Counter::new(kind, threads)?;
    let profile = trial.spec().profile;
    counter.count = party.count(profile, counter.contention(), |count| counter.add(0, count));
    (&counter).hand_in(0);
    (&counter).settle();
    let increments = counter.count * threads as u64;
    let promise = match counter.promise() {
        Promise::Racing if threads == 1 => Promise::Exact,
        promise => promise,
    };
    let rounds = party.count_together(trial, increments, promise, &counter)?;
    if counter.failures.load(Ordering::Relaxed) > 0 {
        return Err(Stop::failed("a mutex could not be locked"));
    }
    if promise == Promise::Racing {
        show(trial, &rounds, increments);
    }
    Ok(())
}

/// Rounds that are shown.
const SHOWN: usize = 8;

fn show(trial: &mut Trial<'_>, rounds: &Rounds, increments: u64) {
    let rows = (0..rounds.count().min(SHOWN)).map(|round| {
        let found = rounds.found(round);
        [round as u64 + 1, increments, found, increments.saturating_sub(found)]
            .map(|number| number.to_string())
            .to_vec()
    });
    let rows = rows.collect();
    trial.exhibit("what a racing global ends with", &["round", "added", "found", "lost"], rows);
}

thread_local! {
    static LOCAL: AtomicU64 = const { AtomicU64::new(0) };
}

/// A counter of some kind, for some threads.
struct Counter {
    kind: Kind,
    /// The global, or the shards; where thread-locals are handed in, too.
    words: SharedWords,
    locked: Locked,
    /// Increments of each thread in a round.
    count: u64,
    failures: AtomicU64,
}

impl Counter {
    fn new(kind: Kind, threads: usize) -> Result<Self, Stop> {
        let words = sys::pages::shared(threads * PADDED * size_of::<u64>())?;
        let failures = AtomicU64::new(0);
        Ok(Counter { kind, words, locked: Locked::new(), count: 0, failures })
    }

    fn promise(&self) -> Promise {
        match self.kind {
            Kind::Global(_, promise) => promise,
            Kind::Locked | Kind::Local | Kind::Shards(..) => Promise::Exact,
        }
    }

    /// How many times as long an increment takes beside others, roughly.
    fn contention(&self) -> u64 {
        match self.kind {
            Kind::Locked => LOCK_SHARED,
            Kind::Shards(_, apart) if apart < PADDED => LINE_SHARED,
            Kind::Global(_, promise) if promise != Promise::Folded => LINE_SHARED,
            Kind::Global(..) | Kind::Shards(..) | Kind::Local => 1,
        }
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        &self.words.words()[index]
    }

    fn add(&self, index: usize, count: u64) {
        match self.kind {
            Kind::Global(add, _) => add(self.word(0), count),
            Kind::Locked => self.note(self.locked.increment(count).err()),
            Kind::Local => LOCAL.with(|local| increment::volatile(local, count)),
            Kind::Shards(add, apart) => add(self.word(index * apart), count),
        }
    }

    fn note<E>(&self, error: Option<E>) {
        self.failures.fetch_add(u64::from(error.is_some()), Ordering::Relaxed);
    }
}

impl Repeated for &Counter {
    fn work(&mut self, index: usize, _: u64) {
        self.add(index, self.count);
    }

    fn hand_in(&mut self, index: usize) {
        if let Kind::Local = self.kind {
            let counted = LOCAL.with(|local| local.swap(0, Ordering::Relaxed));
            self.word(index).store(counted, Ordering::Relaxed);
        }
    }

    fn settle(&mut self) -> u64 {
        if let Kind::Locked = self.kind {
            let found = self.locked.take();
            self.note(found.as_ref().err());
            return found.unwrap_or(0);
        }
        self.words.words().iter().map(|word| word.swap(0, Ordering::Relaxed)).sum()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{Counter, KINDS, Kind, Promise, design};
    use kit::model::Profile;
    use kit::workers::Repeated;

    fn counter(kind: Kind, threads: usize) -> Counter {
        let mut counter = Counter::new(kind, threads).unwrap();
        counter.count = 10_000;
        counter
    }

    #[test]
    fn alone_every_kind_counts_right() {
        for named in KINDS {
            let counter = counter(named.by, 1);
            (&counter).work(0, 0);
            (&counter).hand_in(0);
            assert_eq!((&counter).settle(), 10_000, "{}", named.name);
            assert_eq!((&counter).settle(), 0, "{} is not empty afterwards", named.name);
        }
    }

    #[test]
    fn what_promises_to_be_exact_is_among_threads() {
        for named in KINDS {
            let counter = counter(named.by, 4);
            std::thread::scope(|scope| {
                for index in 0..4 {
                    let mut counter = &counter;
                    scope.spawn(move || {
                        counter.work(index, 0);
                        counter.hand_in(index);
                    });
                }
            });
            let found = (&counter).settle();
            assert!(found <= 40_000, "{}", named.name);
            if counter.promise() == Promise::Exact {
                assert_eq!(found, 40_000, "{}", named.name);
            }
        }
    }

    #[test]
    fn only_unprotected_globals_promise_nothing() {
        let racing: Vec<&str> = KINDS
            .iter()
            .filter(|named| counter(named.by, 1).promise() != Promise::Exact)
            .map(|named| named.name)
            .collect();
        assert_eq!(racing, ["plain", "volatile", "relaxed"]);
        assert!(design().treatments(Profile::Smoke).len() <= 6);
    }
}
