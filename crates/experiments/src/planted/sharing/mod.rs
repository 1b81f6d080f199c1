//! Is it seen that two threads share a cache line, or a cache and memory?

mod hog;
mod line;

use super::CHAPTER;
use crate::support::counting;
use kit::declare::{Named, cell, factor, finding, planted, ratio, remark, response, value};
use kit::model::{Cell, Design, Finding, Needs, Planted, Quantity, Region, Response, Unit};
use kit::{Experiment, Stop, Trial};

/// Is it seen that two threads share a cache line, or a cache and memory?
pub(crate) const EXPERIMENT: Experiment = Experiment { id: "planted_sharing", design, trial };

/// What two threads, each on a CPU of its own, do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pair {
    /// Both count, so many words apart.
    Count { distance_words: usize },
    /// One walks through memory that the shared cache holds; the other copies through far more, or
    /// only waits.
    Walk { hog: bool },
}

/// Words of 8 bytes between two counters that share no line, nor a pair of lines that some
/// processors fetch together.
const APART_WORDS: usize = 32;

/// The levels of the factor `pair`.
const PAIRS: [Named<Pair>; 4] = [
    Named::new(
        "count_apart",
        "each thread counts on a cache line of its own",
        Pair::Count { distance_words: APART_WORDS },
    ),
    Named::new(
        "count_one_line",
        "both threads count on one cache line, each on its own word",
        Pair::Count { distance_words: 1 },
    ),
    Named::new(
        "walk_alone",
        "one thread walks at random through memory of its own, the other one waits",
        Pair::Walk { hog: false },
    ),
    Named::new(
        "walk_hog",
        "the other thread copies through memory far larger than all caches",
        Pair::Walk { hog: true },
    ),
];

/// The least that a shared line costs: each increment has to wait for the line to come from the
/// other core, which takes tens of nanoseconds where one in the core's own cache takes a few.
const LINE_COSTS: f64 = 1.5;

/// The least that a hog costs which is felt at all. The trial sees beforehand that it is
/// ([`hog::FELT_MIN`], which is more), and says that it cannot be planted here if it is not.
const HOG_COSTS: f64 = 1.1;

const WALK: &str = "walk_ns";

fn by(pair: &str) -> Cell {
    cell([("pair", pair)])
}

fn design() -> Design {
    Design {
        id: "planted_sharing".into(),
        version: 1,
        chapter: CHAPTER.into(),
        question: "Is it seen that two threads share a cache line, or a cache and memory?".into(),
        method: "Two threads on a CPU each count with atomic increments, on one cache line or on \
                 two. In another pair of treatments one thread walks at random through memory that \
                 the last cache can hold, alone or while the other one copies through more than \
                 any cache can. That takes from it what the two share, its place in the cache or \
                 the way to memory. CPUs that share neither do not feel it: the trial looks \
                 beforehand, and says that a hog cannot be planted here."
            .into(),
        factors: vec![
            factor("pair", "what the two threads do", "count_apart").named(&PAIRS).build(),
        ],
        responses: responses(),
        findings: findings(),
        planted: answers(),
        needs: Needs { cpus: 2, memory_bytes: hog::MEMORY_BYTES_MAX, ..Needs::default() },
        precision: 0.03,
        time_limit_ms: 20_000,
        ..Design::default()
    }
}

fn responses() -> Vec<Response> {
    let mut all = counting::responses();
    all.push(
        response(WALK, "time of a walk of 4,096 steps", Unit::Ns)
            .card(
                "before the first step",
                "after the last, each of which needs what the one before it read",
                "",
                "clock_gettime(CLOCK_MONOTONIC)",
            )
            .build(),
    );
    all.push(
        response("hog_per_s", "bytes that the hog copies in a second", Unit::PerSecond)
            .card(
                "before the first walk",
                "after the last",
                "the bytes that the hog copied meanwhile, divided by the time",
                "the hog's own count",
            )
            .build(),
    );
    all
}

fn line_costs() -> Quantity {
    ratio("increment_ns", by("count_one_line"), by("count_apart"))
}

fn hog_costs() -> Quantity {
    ratio(WALK, by("walk_hog"), by("walk_alone"))
}

fn findings() -> Vec<Finding> {
    vec![
        finding("line", "On one cache line counting takes {} times as long.", line_costs()),
        finding("hog", "Beside a hog a walk through memory takes {} times as long.", hog_costs()),
        remark("strength", "The hog copies {} bytes.", value("hog_per_s", by("walk_hog"))),
    ]
}

fn answers() -> Vec<Planted> {
    vec![
        planted(
            "shared_line",
            "two counters on one cache line",
            line_costs(),
            1.0,
            Region::above(LINE_COSTS),
        ),
        planted(
            "memory_hog",
            "a second thread that copies through memory",
            hog_costs(),
            1.0,
            Region::above(HOG_COSTS),
        ),
    ]
}

fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    match trial.realise("pair", &PAIRS)? {
        Pair::Count { distance_words } => line::count(trial, distance_words),
        Pair::Walk { hog } => hog::walk(trial, hog),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{HOG_COSTS, LINE_COSTS, design, hog};

    #[test]
    fn truths_are_above_what_would_be_without() {
        let design = design();
        let low = |index: usize| design.planted[index].truth.low.unwrap();
        assert_eq!((low(0), low(1)), (LINE_COSTS, HOG_COSTS));
        assert!(design.planted.iter().all(|it| !it.truth.contains(it.without)));
        // Who passes the trial's own look is well in the truth.
        const { assert!(hog::FELT_MIN > HOG_COSTS) };
    }
}
