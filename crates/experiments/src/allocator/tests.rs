use super::Round;
use super::design::{PATTERNS, Pattern, design};
use super::level::{ALLOCATORS, Calls};
use super::work::{self, Counts, LIVE, Ring, SIZES, Side, Tally};
use crate::support::crowd::{Span, Step, gather, per_million, places};
use crate::support::random::Random;
use kit::Stop;
use kit::model::Profile;
use sys::allocator::Allocator;

const TIMED_NS: u64 = 2_000_000;

fn here(count: usize) -> Vec<u32> {
    places(&sys::affinity::allowed().unwrap(), count)
}

fn fine(_: Step) -> Result<(), Stop> {
    Ok(())
}

fn sum(tallies: &[Tally]) -> Counts {
    tallies.iter().fold(Counts::default(), |sum, tally| sum.plus(tally.all))
}

#[test]
fn what_is_taken_is_given_back_or_still_there() {
    for (calls, allocator) in [
        (Calls::Plain, Allocator::of_process()),
        (Calls::BehindMutex, Allocator::behind_one_mutex()),
        (Calls::None, Allocator::of_process()),
    ] {
        for sizes in &SIZES {
            let work = |index: usize, gate: &_| {
                work::alone(allocator, calls, sizes.by, Random::new(1, index), index, gate)
            };
            let tallies = gather(&here(2), TIMED_NS, work, fine).unwrap();
            let all = sum(&tallies);
            assert_eq!((all.changed, all.refused, all.gained()), (0, 0, 0), "{calls:?}");
            assert!(all.freed > 0 && tallies.iter().all(|tally| tally.kept == 0));
            for tally in &tallies {
                let of_rounds: u64 = tally.rounds.iter().map(|(_, counts)| counts.freed).sum();
                assert!(of_rounds > 0 && of_rounds <= tally.all.freed, "{tally:?}");
            }
        }
    }
}

#[test]
fn every_block_that_is_handed_over_arrives_once_and_in_order() {
    // With as many threads as there may be, on one CPU too.
    for threads in [2, 4] {
        let rings = [Ring::new(), Ring::new()];
        let work = |index: usize, gate: &_| {
            let ring = &rings[index / 2];
            let side = Side { allocator: Allocator::of_process(), ring, seed: 7 };
            match index % 2 {
                0 => side.produce(SIZES[0].by, Random::new(1, index), index, gate),
                _ => side.consume(index, gate),
            }
        };
        let tallies = gather(&here(threads), TIMED_NS, work, fine).unwrap();
        let all = sum(&tallies);
        assert_eq!((all.changed, all.refused, all.gained()), (0, 0, 0), "{tallies:?}");
        assert!(all.freed > 0);
    }
}

#[test]
fn a_block_that_somebody_else_wrote_in_is_found() {
    let ring = Ring::new();
    let one = Side { allocator: Allocator::of_process(), ring: &ring, seed: 1 };
    // It expects the stamps of another seed.
    let other = Side { seed: 2, ..one };
    let work = |index: usize, gate: &_| match index {
        0 => one.produce(SIZES[0].by, Random::new(1, 0), index, gate),
        _ => other.consume(index, gate),
    };
    let tallies = gather(&here(2), TIMED_NS, work, fine).unwrap();
    assert!(tallies[1].all.changed > 0);
    assert_eq!(tallies[1].all.changed, tallies[1].all.freed);
}

#[test]
fn sizes_and_places_are_what_they_say() {
    assert!(LIVE.is_power_of_two(), "the lowest bits of a random word choose the place");
    assert_eq!(SIZES.map(|sizes| sizes.by.most_bytes()), [1016, 64, 65_536]);
}

#[test]
fn a_round_is_the_sum_of_its_threads() {
    let span = |began_ns, ended_ns| Span { began_ns, ended_ns, cpu_ns: 50, ..Span::default() };
    let counts = Counts { freed: 20, ..Counts::default() };
    let round = Round::of(&[span(0, 100), span(100, 200)], &[counts, counts]);
    assert_eq!(per_million(round.wall_ns, round.pairs), 5_000_000, "200 ns for 40 pairs");
    assert_eq!(per_million(round.cpu_ns, round.pairs), 2_500_000);
    assert_eq!(round.pairs_per_s(), 200_000_000, "40 pairs in 200 ns");
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
        // Whoever hands over needs somebody to hand to.
        assert!(!all.iter().any(|treatment| {
            treatment.level("threads") == Some("1") && treatment.level("pattern") == Some("handed")
        }));
    }
}

#[test]
fn every_level_has_its_code() {
    assert_eq!(PATTERNS.map(|pattern| pattern.by), [Pattern::Same, Pattern::Handed]);
    assert_eq!(ALLOCATORS.iter().filter(|level| level.by.calls == Calls::None).count(), 1);
}
