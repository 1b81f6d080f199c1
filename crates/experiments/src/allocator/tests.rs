use super::level::{ALLOCATORS, Calls, Level};
use super::work::{Consumer, LIVE, Part, Producer, Ring, SIZES, Side, Work};
use super::{House, PATTERNS, Plan, Tally, design};
use crate::support::random::Random;
use kit::model::Profile;
use kit::workers::{Fate, Model, Pace, Placement, Refusal, Rounds, Worker, crew_placed};
use kit::{per_second, ppm};
use std::sync::atomic::AtomicU64;
use sys::allocator::Allocator;

fn rounds(threads: usize) -> Rounds {
    let pace = Pace { warm_up: 1, least: 3, limit_ns: 0, round_ns: 500_000 };
    Rounds::new(threads, pace).unwrap()
}

fn all_do<Kept>(threads: usize, work: impl Fn(&Worker<'_>) -> Result<Kept, Refusal> + Sync) {
    let cpus = sys::affinity::allowed().unwrap();
    let placement = Placement::Apart(&cpus);
    let crew = crew_placed(Model::Thread, threads, placement, work, |_| ()).unwrap();
    assert!(crew.reports.iter().all(|report| report.fate == Fate::Done));
}

/// What the threads did by a plan, and the pairs of their rounds.
fn done_by(plan: Plan) -> (Tally, u64) {
    let house = House::new(plan, rounds(plan.threads));
    all_do(plan.threads, |worker| house.work(worker));
    let pairs = (0..house.rounds.count()).map(|round| house.rounds.found(round)).sum();
    (house.tally(), pairs)
}

fn level(name: &str) -> Level {
    ALLOCATORS.iter().find(|(other, _)| *other == name).unwrap().1
}

#[test]
fn what_is_taken_is_given_back_or_still_there() {
    for name in ["glibc", "mutex_around", "none"] {
        for (_, sizes) in SIZES {
            let plan = Plan { level: level(name), threads: 2, sizes, handed: false, seed: 1 };
            let (Tally { counts, held }, pairs) = done_by(plan);
            assert_eq!((counts.changed, counts.refused), (0, 0), "{name}");
            assert_eq!((held, counts.gained()), (2 * LIVE as u64, held as i64), "{name}");
            assert!(pairs > 0 && pairs < counts.freed, "the round that warms up is no round");
        }
    }
}

#[test]
fn every_block_that_is_handed_over_arrives_once_and_in_order() {
    // With as many threads as there may be, on one CPU too.
    for threads in [2, 4] {
        let (level, sizes) = (level("glibc"), SIZES[0].1);
        let plan = Plan { level, threads, sizes, handed: true, seed: 7 };
        let (Tally { counts, held }, _) = done_by(plan);
        assert_eq!((counts.changed, counts.refused, counts.gained(), held), (0, 0, 0, 0));
        assert!(counts.freed > 0);
    }
}

#[test]
fn a_block_that_somebody_else_wrote_in_is_found() {
    let (ring, pairs, rounds) = (Ring::new(), AtomicU64::new(0), rounds(2));
    let one = Side { allocator: Allocator::of_process(), ring: &ring, seed: 1 };
    // It expects the stamps of another seed.
    let other = Side { seed: 2, ..one };
    all_do(2, |worker| {
        let mut work: Box<dyn Work> = match worker.index {
            0 => Box::new(Producer::new(one, SIZES[0].1, Random::new(1, 0))),
            _ => Box::new(Consumer::new(other)),
        };
        rounds.run(worker, &mut Part { work: &mut *work, pairs: &pairs, freed_before: 0 })?;
        work.close();
        let counts = work.counts();
        let wrong = if worker.index == 0 { 0 } else { counts.freed };
        assert_eq!(counts.changed, wrong);
        assert!(worker.index == 0 || wrong > 0);
        Ok(())
    });
}

#[test]
fn sizes_and_places_are_what_they_say() {
    assert!(LIVE.is_power_of_two(), "the lowest bits of a random word choose the place");
    assert_eq!(SIZES.map(|(_, sizes)| sizes.most_bytes()), [1016, 64, 65_536]);
}

#[test]
fn totals_become_those_of_a_million() {
    assert_eq!(ppm(200, 40), 5_000_000, "200 ns for 40 pairs");
    assert_eq!(ppm(200, 0), 200_000_000, "nothing was done: as if it were one");
    assert_eq!(per_second(40, 200), 200_000_000, "40 pairs in 200 ns");
}

#[test]
fn smoke_decides_what_needs_no_other_library() {
    let design = design();
    let smoke = design.treatments(Profile::Smoke);
    assert_eq!(smoke.len(), 8);
    for claim in design.claims.iter().filter(|claim| claim.id != "jemalloc_scales") {
        for cell in claim.quantity.cells() {
            assert!(smoke.contains(&design.complete(cell)), "{}", claim.id);
        }
    }
}

#[test]
fn the_control_stands_beside_all_it_is_subtracted_from() {
    let design = design();
    for profile in [Profile::Smoke, Profile::Quick, Profile::Standard, Profile::Thorough] {
        let all = design.treatments(profile);
        let subtract = design.response("pair_ns").unwrap().subtract.clone().unwrap();
        for treatment in all.iter().filter(|t| t.level("pattern") == Some("same")) {
            assert!(all.contains(&treatment.with(&subtract)), "{profile:?} {treatment}");
        }
        // Without an allocator there is nothing to hand over.
        assert!(!all.iter().any(|treatment| {
            treatment.level("allocator") == Some("none")
                && treatment.level("pattern") == Some("handed")
        }));
        // A thread that hands over needs another to hand to.
        assert!(!all.iter().any(|treatment| {
            treatment.level("threads") == Some("1") && treatment.level("pattern") == Some("handed")
        }));
    }
}

#[test]
fn every_level_has_its_code() {
    let design = design();
    crate::check_levels(&design, "allocator", &ALLOCATORS);
    crate::check_levels(&design, "size", &SIZES);
    crate::check_levels(&design, "placement", &crate::support::party::PAIRS);
    crate::check_levels(&design, "pattern", &PATTERNS);
    assert_eq!(ALLOCATORS.iter().filter(|(_, level)| level.calls == Calls::None).count(), 1);
}
