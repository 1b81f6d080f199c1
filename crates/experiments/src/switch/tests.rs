use super::footprint::{Footprint, SIZES, bytes_of, line_bytes};
use super::passing::{Calls, Events, Futexes, NUMBER, Passing, Pipes, STOP, Turn};
use super::ring::{Alone, Count, Course, Order, with_ring};
use super::timing::Tally;
use super::{KINDS, MECHANISMS, PLACEMENTS, design, wrong_tokens};
use crate::support::memory::PAGES;
use kit::model::{Design, Profile, Term, Treatment};
use kit::workers::{MODEL_LEVELS, Model};
use kit::{Result, Stop};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use sys::pages::Huge;
use sys::topology::{Cache, CacheKind};

const LAPS: u64 = 50;

fn order(model: Model, tasks: usize, bytes: usize) -> Order {
    let cpu = *sys::affinity::allowed().unwrap().last().unwrap();
    let footprint = Footprint { bytes, line_bytes: 64, huge: Huge::Never };
    Order { model, cpus: vec![cpu; tasks], footprint }
}

/// Some laps in two sessions; what the second counted. On a thread of its own, which the ring
/// pins.
fn laps(order: &Order, passing: &impl Passing) -> Result<Vec<Count>> {
    let go = || {
        with_ring(order, passing, |ring| {
            ring.enter()?;
            ring.lap()?;
            ring.leave()?;
            ring.enter()?;
            ring.lap()?;
            ring.start()?;
            for _ in 0..LAPS {
                ring.lap()?;
            }
            ring.leave()
        })
    };
    std::thread::scope(|scope| scope.spawn(go).join().unwrap())
}

fn goes_round(passing: impl Fn(usize) -> Result<Counted>) {
    for tasks in [2, 3, 8] {
        let Counted { threads, processes } = passing(tasks).unwrap();
        for (counts, due) in [(threads, 1), (processes, tasks)] {
            assert_eq!(counts.len(), tasks);
            let processes: BTreeSet<_> = counts.iter().map(|count| count.process).collect();
            assert_eq!(processes.len(), due);
            for count in &counts {
                assert_eq!((count.hops, count.wrong), (LAPS, 0), "{counts:?}");
                assert_eq!(count.lines, LAPS * 4096 / 64);
                assert!(!count.escaped);
            }
            // One CPU: the token cannot move on unless the CPU is handed on, too.
            let switches: u64 = counts.iter().map(Count::switches).sum();
            assert!(switches >= LAPS * tasks as u64 * 9 / 10, "{switches} switches");
        }
    }
}

struct Counted {
    threads: Vec<Count>,
    processes: Vec<Count>,
}

fn both<P: Passing>(tasks: usize, new: fn(usize) -> Result<P>) -> Result<Counted> {
    Ok(Counted {
        threads: laps(&order(Model::Thread, tasks, 4096), &new(tasks)?)?,
        processes: laps(&order(Model::Process, tasks, 4096), &new(tasks)?)?,
    })
}

#[test]
fn a_token_goes_round_by_pipes() {
    goes_round(|tasks| both(tasks, Pipes::new));
}

#[test]
fn a_token_goes_round_by_event_descriptors() {
    goes_round(|tasks| both(tasks, Events::new));
}

#[test]
fn a_token_goes_round_by_futexes() {
    goes_round(|tasks| both(tasks, Futexes::new));
}

#[test]
fn a_token_goes_round_by_turns() {
    goes_round(|tasks| both(tasks, Turn::new));
}

/// The laps of one task, on a thread of its own, which is pinned.
fn alone<P: Passing>(new: fn(usize) -> Result<P>, buffers: usize) -> Count {
    let order = order(Model::Process, 3, 4096);
    let go = || {
        sys::affinity::pin(&order.cpus[..1])?;
        let passing = new(3)?;
        let mut alone = Alone::new(&order, &passing, order.footprint, buffers)?;
        alone.enter()?;
        alone.lap()?;
        alone.start()?;
        for _ in 0..LAPS {
            alone.lap()?;
        }
        Ok::<_, Stop>(alone.leave()?[0])
    };
    std::thread::scope(|scope| scope.spawn(go).join().unwrap().unwrap())
}

#[test]
fn one_task_makes_all_hops_by_the_same_calls() {
    for (count, calls) in [
        (alone(Pipes::new, 3), 2),
        (alone(Pipes::new, 1), 2),
        (alone(Events::new, 3), 2),
        (alone(Futexes::new, 3), 2),
        (alone(Turn::new, 1), 1),
    ] {
        assert_eq!((count.hops, count.wrong), (3 * LAPS, 0));
        assert_eq!(count.calls, Calls { all: 3 * LAPS * calls, vain: 0 });
        assert_eq!(count.lines, 3 * LAPS * 4096 / 64);
        assert!(!count.escaped);
    }
}

/// Skips a number once: what a lost token looks like.
struct Lossy {
    below: Pipes,
    passed: AtomicU32,
}

impl Passing for Lossy {
    fn give(&self, to: usize, token: u32, calls: &mut Calls) -> Result<()> {
        let skip = if self.passed.fetch_add(1, Ordering::Relaxed) == 40 { 2 } else { 0 };
        self.below.give(to, token + skip, calls)
    }

    fn take(&self, me: usize, last: u32, calls: &mut Calls) -> Result<u32> {
        self.below.take(me, last, calls)
    }
}

#[test]
fn a_token_out_of_turn_is_counted() {
    let lossy = Lossy { below: Pipes::new(2).unwrap(), passed: AtomicU32::new(0) };
    let counts = laps(&order(Model::Thread, 2, 0), &lossy).unwrap();
    // Each of the two tasks sees the gap once.
    let wrong: Vec<u64> = counts.iter().map(|count| count.wrong).collect();
    assert_eq!(wrong, [1, 1]);
    assert_eq!(wrong_tokens(&tally(counts)), 2);
}

fn tally(counts: Vec<Count>) -> Tally {
    Tally {
        first_lap_ns: 0,
        fresh_ns: None,
        batches_ns: vec![0; 5],
        batch_laps: LAPS / 5,
        lap_hops: 2,
        counts,
    }
}

#[test]
fn hops_that_are_missing_are_wrong_tokens() {
    let made = |hops| Count { hops, ..Count::default() };
    assert_eq!(wrong_tokens(&tally(vec![made(LAPS), made(LAPS)])), 0);
    assert_eq!(wrong_tokens(&tally(vec![made(LAPS), made(LAPS - 3)])), 3);
    assert_eq!(wrong_tokens(&tally(vec![made(2 * LAPS)])), 0);
    assert_eq!(wrong_tokens(&tally(vec![made(2 * LAPS + 1)])), 1);
}

#[test]
fn the_bits_of_a_token_are_apart() {
    assert_eq!((STOP | super::passing::START) & NUMBER, 0);
    assert_eq!(STOP | super::passing::START | NUMBER, u32::MAX);
}

fn cache(level: u32, kind: CacheKind, size_bytes: u64) -> Cache {
    Cache { level, kind, size_bytes, line_bytes: Some(64), shared_by: vec![0] }
}

fn machine(l1: u64, l2: u64, l3: u64) -> Vec<Cache> {
    vec![
        cache(1, CacheKind::Instruction, 7777),
        cache(1, CacheKind::Data, l1 << 10),
        cache(2, CacheKind::Unified, l2 << 10),
        cache(3, CacheKind::Unified, l3 << 10),
    ]
}

#[test]
fn sizes_follow_the_caches_of_the_machine() {
    let caches = machine(48, 2048, 32 << 10);
    assert_eq!(bytes_of("none", &caches), Ok(0));
    assert_eq!(bytes_of("half_l1", &caches), Ok(24 << 10));
    assert_eq!(bytes_of("l1", &caches), Ok(48 << 10));
    assert_eq!(bytes_of("half_l2", &caches), Ok(1 << 20));
    assert_eq!(bytes_of("twice_l2", &caches), Ok(4 << 20));
    assert_eq!(bytes_of("half_l3", &caches), Ok(16 << 20));
    assert_eq!(line_bytes(&caches), 64);
    assert_eq!(line_bytes(&[]), 64);
    assert!(bytes_of("rubbish", &caches).is_err());
}

#[test]
fn every_level_has_its_code() {
    let design = design();
    crate::check_levels(&design, "kind", &KINDS);
    crate::check_levels(&design, "model", &MODEL_LEVELS);
    crate::check_levels(&design, "mechanism", &MECHANISMS);
    crate::check_levels(&design, "working_set", &SIZES);
    crate::check_levels(&design, "pages", &PAGES);
    crate::check_levels(&design, "placement", &PLACEMENTS);
}

#[test]
fn of_two_equal_sizes_the_one_of_the_smaller_profile_is_measured() {
    let design = design();
    let levels = &design.factor("working_set").unwrap().levels;
    let place = |name: &str| levels.iter().position(|level| level.name == name).unwrap();
    let order = SIZES.map(|(name, _)| (levels[place(name)].from, place(name)));
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn sizes_that_mean_nothing_or_too_much_or_the_same_are_refused() {
    assert!(bytes_of("l1", &[]).unwrap_err().contains("nothing of this machine's caches"));
    // Twice 64 KiB is a quarter of 512 KiB: the level of the smaller profile measures it.
    let caches = machine(64, 512, 8 << 10);
    assert!(bytes_of("twice_l1", &caches).unwrap_err().contains("quarter_l2"));
    assert_eq!(bytes_of("quarter_l2", &caches), Ok(128 << 10));
    // A cluster's cache of 16 MiB.
    let caches = machine(128, 16 << 10, 0);
    assert!(bytes_of("l2", &caches).unwrap_err().contains("at most"));
    assert_eq!(bytes_of("quarter_l2", &caches), Ok(4 << 20));
    // A core's cache of 4 MiB is walked twice over.
    assert_eq!(bytes_of("twice_l2", &machine(32, 4096, 0)), Ok(8 << 20));
    let only = &machine(32, 256, 0)[..3];
    assert!(bytes_of("l3", only).unwrap_err().contains("no data cache of level 3"));
}

#[test]
fn a_walk_reads_every_line_once() {
    let footprint = Footprint { bytes: 3 * 4096, line_bytes: 64, huge: Huge::Never };
    assert_eq!(footprint.build().unwrap().walk(), 3 * 64);
    let nothing = Footprint { bytes: 0, ..footprint };
    assert_eq!((nothing.build().unwrap().walk(), nothing.mapped_bytes()), (0, 0));
}

fn planned(design: &Design, profile: Profile) -> Vec<Treatment> {
    design.treatments(profile)
}

#[test]
fn quick_measures_what_claims_and_accounts_need() {
    let design = design();
    let all = planned(&design, Profile::Quick);
    let claims = design.claims.iter().flat_map(|claim| claim.quantity.cells());
    let terms = design.accounts.iter().flat_map(|account| account.terms()).flat_map(Term::cells);
    for cell in claims.chain(terms) {
        let treatment = design.complete(cell);
        assert!(all.contains(&treatment), "{treatment}");
    }
    for claim in &design.claims {
        let Some(control) = &design.response(claim.quantity.response()).unwrap().subtract else {
            continue;
        };
        for cell in claim.quantity.cells() {
            let control = design.complete(cell).with(control);
            assert!(all.contains(&control), "{}: {control}", claim.id);
        }
    }
}

#[test]
fn profiles_grow_from_the_pair_to_the_crowd() {
    let design = design();
    let of = |profile, factor: &str, level: &str| {
        planned(&design, profile).iter().filter(|t| t.level(factor) == Some(level)).count()
    };
    assert_eq!(planned(&design, Profile::Smoke).len(), 8);
    assert_eq!(of(Profile::Smoke, "working_set", "half_l2"), 3);
    assert_eq!(of(Profile::Quick, "tasks", "8"), 4);
    assert_eq!(of(Profile::Quick, "placement", "other"), 1);
    assert_eq!(of(Profile::Quick, "working_set", "half_l3"), 0);
    assert_eq!(of(Profile::Thorough, "working_set", "half_l3"), 3);
    // All ways to hand the token on, each with its control.
    for (name, _) in MECHANISMS {
        assert!(of(Profile::Quick, "mechanism", name) >= 2, "{name}");
    }
}
