//! What do two counters cost each other that lie on one cache line?

use crate::support::counting::{LINE_SHARED, Promise, responses};
use crate::support::party::Party;
use kit::declare::{
    Named, cell, claim, factor, finding, frequency, grid, ratio, remark, share, value,
};
use kit::model::{Cell, Claim, Design, Factor, Finding, Grid, Needs, Profile, Region, Unit};
use kit::workers::{Model, Repeated};
use kit::{Experiment, Stop, Trial};
use std::sync::atomic::{AtomicU64, Ordering};
use sys::increment::{self, Loop};
use sys::pages::SharedWords;

/// What do two counters cost each other that lie on one cache line?
pub(crate) const EXPERIMENT: Experiment = Experiment { id: "false_sharing", design, trial };

const HOW: [Named<Loop>; 5] = [
    Named::new(
        "unoptimised",
        "as compiled without optimisation: load, add, store, and the loop's index in memory, too",
        increment::unoptimised,
    ),
    Named::new("volatile", "load, add, store; the index in a register", increment::volatile),
    Named::from(
        "relaxed",
        "relaxed atomic load and store; on x86-64 one add to memory without lock",
        Profile::Standard,
        increment::relaxed,
    ),
    Named::from(
        "atomic",
        "atomic fetch_add: on x86-64 an add to memory with lock",
        Profile::Quick,
        increment::atomic,
    ),
    Named::new(
        "register",
        "in a register, stored once at the end: the control without a shared line",
        increment::register,
    ),
];

/// Counters nearer than this share a line almost everywhere, so that a round needs fewer increments
/// to be as long.
const NEAR_WORDS: usize = 8;

/// Who counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// One thread, one counter after the other.
    Serial,
    /// Two at the same time, each on a core of its own.
    Together(Model),
    /// Two on one CPU.
    OneCore,
}

const WHO: [Named<Who>; 4] = [
    Named::new("serial", "one thread counts first on one, then on the other", Who::Serial),
    Named::new("threads", "two threads on two CPUs at the same time", Who::Together(Model::Thread)),
    Named::from(
        "processes",
        "two processes on two CPUs at the same time, the counters in memory that they share",
        Profile::Quick,
        Who::Together(Model::Process),
    ),
    Named::from(
        "one_core",
        "two threads on one CPU, in turns: the control, as only one runs at a time",
        Profile::Quick,
        Who::OneCore,
    ),
];

fn design() -> Design {
    Design {
        id: "false_sharing".into(),
        version: 2,
        chapter: "Sharing".into(),
        question: "What do two counters cost each other that lie on one cache line?".into(),
        method:
            "Two counters lie in a page that all workers share, the first at its beginning, so \
                 that its place in a cache line is known. Each is incremented equally often, by \
                 loops of fixed machine code. Workers are pinned to CPUs of different cores, meet \
                 before every round, and work for half a millisecond, so that few rounds hold a \
                 preemption; from their own instants and CPU times follows for how much of a round \
                 all of them really ran. Every round counts, and a trial in which half of \
                 them were disturbed has failed. Two that share one CPU work for several time slices \
                 instead. After each round the counters are read, and must hold what was added, \
                 unless both workers count on one."
                .into(),
        factors: factors(),
        grids: grids(),
        responses: responses(),
        findings: findings(),
        claims: claims(),
        needs: Needs { cpus: 2, ..Needs::default() },
        precision: 0.05,
        time_limit_ms: 10_000,
        ..Design::default()
    }
}

fn factors() -> Vec<Factor> {
    let distance = |from, about: &str, values: &[u64]| (from, about.to_string(), values.to_vec());
    let mut distances =
        factor("distance", "from one counter to the other, in bytes", "8").unit(Unit::Bytes);
    for (from, about, values) in [
        distance(Profile::Quick, "no distance: both count on the same one", &[0]),
        distance(Profile::Smoke, "side by side", &[8]),
        distance(Profile::Standard, "within 64 bytes", &[16, 32]),
        distance(Profile::Smoke, "on the next line, where a line has 64 bytes", &[64]),
        distance(Profile::Smoke, "beyond a pair of such lines", &[128]),
        distance(Profile::Standard, "further", &[256]),
    ] {
        distances = distances.numbers(from, &about, &values);
    }
    vec![
        distances.build(),
        factor("how", "how one increment is made", "unoptimised").named(&HOW).build(),
        factor("who", "who counts", "threads").named(&WHO).build(),
    ]
}

fn grids() -> Vec<Grid> {
    let near_and_far = ("distance", &["8", "64"] as &[&str]);
    vec![
        grid(Profile::Smoke, &[near_and_far]),
        grid(Profile::Smoke, &[("who", &["serial"])]),
        grid(Profile::Smoke, &[("how", &["register"]), ("distance", &["64"])]),
        grid(Profile::Quick, &[("distance", &[])]),
        grid(Profile::Quick, &[("how", &["atomic"]), near_and_far]),
        grid(Profile::Quick, &[("how", &["atomic"]), ("who", &["serial"])]),
        grid(Profile::Quick, &[("who", &["processes"])]),
        grid(Profile::Quick, &[("who", &["one_core"]), near_and_far]),
        grid(Profile::Standard, &[("how", &[]), ("who", &["serial"])]),
        grid(Profile::Standard, &[("who", &["processes"]), near_and_far]),
        grid(Profile::Standard, &[("how", &[]), ("distance", &[])]),
        grid(
            Profile::Standard,
            &[("how", &["unoptimised", "atomic"]), ("who", &["processes"]), ("distance", &[])],
        ),
        grid(Profile::Standard, &[("how", &[]), ("who", &["one_core"]), near_and_far]),
    ]
}

const TIME: &str = "increment_ns";

/// Two threads, with the counters so far apart.
fn apart_by(distance: &str) -> Cell {
    cell([("distance", distance)])
}

fn by(who: &str) -> Cell {
    cell([("who", who)])
}

fn findings() -> Vec<Finding> {
    let atomic = |cell: Cell| cell.with("how", "atomic");
    vec![
        finding(
            "one_line",
            "Two threads whose counters share a line take {} times as long as with a line each.",
            ratio(TIME, apart_by("8"), apart_by("64")),
        ),
        finding(
            "line_explains",
            "{} of the gap between counting on one line and counting in registers vanishes when \
             the counters lie 64 bytes apart.",
            share(TIME, apart_by("8"), apart_by("64"), apart_by("64").with("how", "register")),
        ),
        remark(
            "overlap",
            "Two threads whose counters share a line both had a CPU for {} of a round.",
            value("overlap_ppm", apart_by("8")),
        ),
        remark(
            "atomic_line",
            "With atomic increments the shared line makes it {} times as long.",
            ratio(TIME, atomic(apart_by("8")), atomic(apart_by("64"))),
        ),
        remark(
            "atomic_serial",
            "Two threads with atomic increments on one line take {} times as long as one thread \
             that does the work of both.",
            ratio(TIME, atomic(apart_by("8")), atomic(by("serial"))),
        ),
        remark(
            "one_core",
            "On one CPU, where only one thread runs at a time, the shared line makes it {} times \
             as long (the control).",
            ratio(TIME, by("one_core"), by("one_core").with("distance", "64")),
        ),
        remark(
            "lost",
            "When both threads count on the same counter without atomics, {} of the increments \
             are lost.",
            frequency(
                "lost_count",
                apart_by("0").with("who", "threads").with("how", "unoptimised"),
            ),
        ),
    ]
}

fn claims() -> Vec<Claim> {
    let lecture = "a lecture on threads (asp)";
    let moves = "each write needs the line for itself, so that it travels between the cores";
    vec![
        claim(
            "slower_than_serial",
            lecture,
            "Two threads that count on one cache line are slower than one thread that does the \
             work of both (63 against 57 ms).",
            moves,
        )
        .note(
            "Judged with the loop as it is compiled without optimisation, which is how the \
             lecture's figures look. Where a core's store buffer gathers several increments before \
             the line has to go, the loss is smaller.",
        )
        .holds_if(ratio(TIME, apart_by("8"), by("serial")), Region::above(1.0)),
        claim(
            "apart_twice_as_fast",
            lecture,
            "With the counters apart, two threads are about twice as fast as one (33 against \
             57 ms).",
            "nothing is shared, so two cores do twice as much",
        )
        .note("Judged as half of the time, give or take 40 %.")
        .holds_if(ratio(TIME, apart_by("64"), by("serial")), Region::about(0.5, 0.40)),
        claim(
            "line_is_enough",
            lecture,
            "64 bytes apart are enough: 128 are not better (by a fifth or more).",
            "a line has 64 bytes, and what is on another line is not shared",
        )
        .note(
            "Some processors fetch lines in pairs, and some have lines of 128 bytes. The trials \
             keep this machine's line size.",
        )
        .holds_if(ratio(TIME, apart_by("128"), apart_by("64")), Region::above(0.8)),
        claim(
            "model_makes_no_difference",
            "implied by the same lecture: the hardware knows no threads",
            "Two processes that share the memory suffer as much as two threads (within 25 %).",
            "lines are shared by their physical address, whoever writes to it",
        )
        .holds_if(ratio(TIME, by("processes"), by("threads")), Region::about(1.0, 0.25)),
    ]
}

fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    increment::exact_or_why().map_err(Stop::unsupported)?;
    let add = trial.realise("how", &HOW)?;
    let who = trial.realise("who", &WHO)?;
    let distance_words = trial.number("distance")? as usize / size_of::<u64>();
    let (model, workers, cpus) = match who {
        Who::Serial => (Model::Thread, 1, 1),
        Who::Together(model) => (model, 2, 2),
        Who::OneCore => (Model::Thread, 2, 1),
    };
    let party = Party::new(trial, model, workers, cpus)?;
    let profile = trial.spec().profile;
    let near = distance_words < NEAR_WORDS && trial.level("how")? != "register";
    let contention = if near { LINE_SHARED } else { 1 };
    let pair = Pair::new(add, who, distance_words, |add| party.count(profile, contention, add))?;
    let races = distance_words == 0 && who != Who::Serial && trial.level("how")? != "atomic";
    let promise = if races { Promise::Racing } else { Promise::Exact };
    party.count_together(trial, 2 * pair.count, promise, &pair).map(|_| ())
}

/// Two counters in shared memory.
struct Pair {
    words: SharedWords,
    distance_words: usize,
    add: Loop,
    who: Who,
    /// Increments of each counter in a round.
    count: u64,
}

impl Pair {
    fn new(
        add: Loop,
        who: Who,
        distance_words: usize,
        count: impl Fn(&dyn Fn(u64)) -> u64,
    ) -> Result<Self, Stop> {
        let words = sys::pages::shared((distance_words + 1) * size_of::<u64>())?;
        let mut pair = Pair { words, distance_words, add, who, count: 0 };
        pair.count = count(&|count| add(pair.counter(0), count));
        (&pair).settle();
        Ok(pair)
    }

    /// The page begins at a line, and so does the first counter.
    fn counter(&self, index: usize) -> &AtomicU64 {
        &self.words.words()[index * self.distance_words]
    }
}

impl Repeated for &Pair {
    fn work(&mut self, index: usize, _: u64) {
        (self.add)(self.counter(index), self.count);
        if self.who == Who::Serial {
            (self.add)(self.counter(1), self.count);
        }
    }

    fn settle(&mut self) -> u64 {
        let first = self.counter(0).swap(0, Ordering::Relaxed);
        // At distance 0 this finds the first one emptied.
        first + self.counter(1).swap(0, Ordering::Relaxed)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{HOW, Pair, Who, design};
    use kit::model::Profile;
    use kit::workers::{Model, Repeated};
    use std::sync::atomic::Ordering;

    fn pair(who: Who, distance_words: usize) -> Pair {
        let add = HOW[0].by;
        Pair::new(add, who, distance_words, |add| {
            add(3);
            1000
        })
        .unwrap()
    }

    #[test]
    fn both_counters_get_the_same_whoever_counts() {
        for distance_words in [1, 2, 8, 16, 32] {
            let serial = pair(Who::Serial, distance_words);
            (&serial).work(0, 0);
            let together = pair(Who::Together(Model::Thread), distance_words);
            (&together).work(0, 0);
            (&together).work(1, 0);
            for pair in [serial, together] {
                let found = [0, 1].map(|index| pair.counter(index).load(Ordering::Relaxed));
                assert_eq!(found, [1000, 1000]);
                assert_eq!(((&pair).settle(), (&pair).settle()), (2000, 0));
            }
        }
    }

    #[test]
    fn the_first_counter_begins_a_line_and_the_other_lies_where_it_should() {
        for distance_words in [0, 1, 8, 32] {
            let pair = pair(Who::Serial, distance_words);
            let [first, other] = [0, 1].map(|index| std::ptr::from_ref(pair.counter(index)).addr());
            assert_eq!((first % 256, other - first), (0, 8 * distance_words));
        }
    }

    #[test]
    fn one_counter_for_both_is_not_counted_twice() {
        let pair = pair(Who::Serial, 0);
        (&pair).work(0, 0);
        assert_eq!((&pair).settle(), 2000);
    }

    #[test]
    fn every_distance_is_a_whole_number_of_words() {
        let design = design();
        for distance in &design.factor("distance").unwrap().levels {
            assert_eq!(distance.name.parse::<u64>().unwrap() % 8, 0);
        }
        assert!(design.treatments(Profile::Smoke).len() <= 6);
    }
}
