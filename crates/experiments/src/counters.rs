//! What does a counter that several threads increment cost, and does it count correctly?

use crate::support::counting::{LINE_SHARED, LOCK_SHARED, Promise};
use crate::support::party::Party;
use kit::model::Relation;
use kit::workers::{Model, Repeated, Rounds};
use kit::{Result, Stop, Trial};
use std::sync::atomic::{AtomicU64, Ordering};
use sys::increment::{self, Locked, Loop};
use sys::pages::SharedWords;

experiment!("counters", "counters.toml");

/// A kind of counter.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// All threads count on one word.
    Global(Loop, Promise),
    /// All count on one word, under one lock.
    Locked,
    /// Each counts on a variable of its own thread.
    Local,
    /// Each counts on its own word, this number of words from the next thread's.
    Shards(Loop, usize),
}

/// Words from one padded shard to the next: 128 bytes, since some CPUs fetch lines in pairs.
const PADDED: usize = 16;

const KINDS: [(&str, Kind); 9] = [
    ("plain", Kind::Global(increment::plain, Promise::Folded)),
    ("volatile", Kind::Global(increment::volatile, Promise::Racing)),
    ("relaxed", Kind::Global(increment::relaxed, Promise::Racing)),
    ("atomic", Kind::Global(increment::atomic, Promise::Exact)),
    ("mutex", Kind::Locked),
    ("thread_local", Kind::Local),
    ("shards", Kind::Shards(increment::volatile, PADDED)),
    ("atomic_shards", Kind::Shards(increment::atomic, PADDED)),
    ("packed_shards", Kind::Shards(increment::volatile, 1)),
];

/// Where the threads run.
#[derive(Clone, Copy, Debug)]
enum Where {
    Spread,
    OneCpu,
    /// Two, on CPUs that have this in common.
    Pair(Relation),
}

const WHERE: [(&str, Where); 6] = [
    ("spread", Where::Spread),
    ("one_core", Where::OneCpu),
    ("siblings", Where::Pair(Relation::Siblings)),
    ("shared_cache", Where::Pair(Relation::SharedCache)),
    ("package", Where::Pair(Relation::Package)),
    ("packages", Where::Pair(Relation::Packages)),
];

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    increment::exact_or_why().map_err(Stop::unsupported)?;
    let kind = trial.pick("kind", &KINDS)?;
    let threads = trial.number("threads")? as usize;
    let party = match trial.pick("placement", &WHERE)? {
        Where::Spread => Party::new(trial, Model::Thread, threads, threads),
        Where::OneCpu => Party::new(trial, Model::Thread, threads, 1),
        Where::Pair(relation) => {
            kit::require!(threads == 2, "two CPUs have something in common, not {threads}");
            Party::of_two(trial, Model::Thread, Some(relation))
        }
    }?;
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
    kit::ensure!(counter.failures.load(Ordering::Relaxed) == 0, "a mutex could not be locked");
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
    /// The global, or the shards; thread-locals are also handed in here.
    words: SharedWords,
    locked: Locked,
    /// Increments of each thread in a round.
    count: u64,
    failures: AtomicU64,
}

impl Counter {
    fn new(kind: Kind, threads: usize) -> Result<Self> {
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

    /// Returns roughly how many times as long an increment takes while other threads count.
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
    use super::{Counter, KINDS, Kind, Promise, WHERE, design};
    use kit::model::Profile;
    use kit::workers::Repeated;

    fn counter(kind: Kind, threads: usize) -> Counter {
        let mut counter = Counter::new(kind, threads).unwrap();
        counter.count = 10_000;
        counter
    }

    #[test]
    fn alone_every_kind_counts_right() {
        for (name, kind) in KINDS {
            let counter = counter(kind, 1);
            (&counter).work(0, 0);
            (&counter).hand_in(0);
            assert_eq!((&counter).settle(), 10_000, "{name}");
            assert_eq!((&counter).settle(), 0, "{name} is not empty afterwards");
        }
    }

    #[test]
    fn what_promises_to_be_exact_is_among_threads() {
        for (name, kind) in KINDS {
            let counter = counter(kind, 4);
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
            assert!(found <= 40_000, "{name}");
            if counter.promise() == Promise::Exact {
                assert_eq!(found, 40_000, "{name}");
            }
        }
    }

    #[test]
    fn only_unprotected_globals_promise_nothing() {
        let racing: Vec<&str> = KINDS
            .iter()
            .filter(|(_, kind)| counter(*kind, 1).promise() != Promise::Exact)
            .map(|(name, _)| *name)
            .collect();
        assert_eq!(racing, ["plain", "volatile", "relaxed"]);
    }

    #[test]
    fn every_level_has_its_code() {
        let design = design();
        crate::check_levels(&design, "kind", &KINDS);
        crate::check_levels(&design, "placement", &WHERE);
        assert!(design.treatments(Profile::Smoke).len() <= 6);
    }
}
