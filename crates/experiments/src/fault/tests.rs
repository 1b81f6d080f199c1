use super::kind::{ACCESSES, ADVICES, Hint, KINDS, LIMITS, Limit, Plan, SPREAD, order, some};
use super::subject::{Subject, mark};
use super::{STRAY, design, faults_expected, reads_expected};
use crate::support::memory::PAGES;
use kit::model::{Profile, Quantity, Treatment};
use std::collections::BTreeSet;
use sys::pages::{Advice, Huge};

fn named<T: Copy>(table: &[(&str, T)], name: &str) -> T {
    table.iter().find(|(other, _)| *other == name).unwrap().1
}

fn plan(kind: &str) -> Plan {
    Plan {
        kind: named(&KINDS, kind),
        hint: Hint::None,
        huge: Huge::Never,
        limit: Limit::None,
        bytes: 8 << 20,
        order: order(false, 2048, 1),
    }
}

/// A walk over a cached file without read-ahead.
fn random(order: Vec<u32>) -> Plan {
    Plan { hint: Hint::Advice(Advice::Random), order, ..plan("file_warm") }
}

#[test]
fn an_order_has_each_page_once() {
    let sequential = order(named(&ACCESSES, "sequential"), 1000, 7);
    let random = order(named(&ACCESSES, "random"), 1000, 7);
    assert!(sequential.is_sorted());
    assert!(!random.is_sorted());
    let pages: BTreeSet<u32> = random.iter().copied().collect();
    assert_eq!(pages, (0..1000).collect());
    assert_eq!(random.len(), 1000);
    assert_eq!(random, order(true, 1000, 7));
    assert_ne!(random, order(true, 1000, 8));
    assert!(order(true, 0, 7).is_empty());
}

#[test]
fn touches_in_no_order_stand_alone() {
    for seed in 0..50 {
        let touched = some(true, 2048, 128, seed);
        assert_eq!((touched.len(), touched.is_sorted()), (128, false));
        assert!(touched.iter().all(|page| *page < 2048));
        let alone = random(touched);
        assert!(alone.touches_stand_alone());
        assert_eq!(faults_expected(&alone), (1.0 - STRAY, 1.0 + STRAY));
    }
    assert_eq!(some(true, 2048, 1000, 1).len(), 2048 / SPREAD);
    assert_eq!(some(false, 2048, 3, 1), [0, 1, 2]);
    assert!(!random(some(false, 2048, 128, 1)).touches_stand_alone());
    assert!(!random(order(true, 2048, 1)).touches_stand_alone());
    assert!(!plan("file_warm").touches_stand_alone());
    assert!(some(true, 1, 8, 1).is_empty());
}

#[test]
fn marks_tell_pages_apart_and_are_never_zero() {
    assert!((0..5000).all(|page| mark(page) != 0 && mark(page) != mark(page + 1)));
}

#[test]
fn populating_does_what_the_touch_would_do() {
    let populate = named(&ADVICES, "populate");
    assert_eq!(populate.advice(named(&KINDS, "anon_write").touch), Some(Advice::PopulateWrite));
    assert_eq!(populate.advice(named(&KINDS, "file_cold").touch), Some(Advice::PopulateRead));
    assert_eq!(Hint::None.advice(named(&KINDS, "anon_write").touch), None);
}

#[test]
fn faults_are_expected_by_kind_page_size_and_advice() {
    assert_eq!(faults_expected(&plan("resident")), (0.0, STRAY));
    assert_eq!(faults_expected(&plan("anon_write")), (1.0, 1.0 + STRAY));
    assert_eq!(faults_expected(&plan("file_warm")), (1.0 / 2048.0, 1.0 + STRAY));
    let populated = Plan { hint: Hint::Populate, ..plan("anon_write") };
    assert_eq!(faults_expected(&populated), (0.0, STRAY));
    let (low, high) = faults_expected(&Plan { huge: Huge::Always, ..plan("anon_write") });
    assert!(low > 0.0 && low < high && high < 0.1 + STRAY);
}

#[test]
fn a_second_walk_reads_again_only_where_the_file_does_not_fit() {
    let under = |name: &str| Plan { limit: named(&LIMITS, name), ..plan("file_warm") };
    assert_eq!(reads_expected(&under("above")), (0.0, STRAY));
    assert!(reads_expected(&under("below")).0 > 0.0);
    let sequential = Plan { hint: Hint::Advice(Advice::Sequential), ..under("below") };
    assert!(reads_expected(&sequential).1 < reads_expected(&under("below")).1);
    assert!(under("below").needs_disk() && !under("above").needs_disk());
    assert_eq!(under("below").limit.bytes(8 << 20), Some(4 << 20));
    assert_eq!(under("above").limit.bytes(8 << 20), Some(32 << 20));
    assert_eq!(named(&PAGES, "4k"), Huge::Never);
}

#[test]
fn every_level_has_its_code() {
    let design = design();
    crate::check_levels(&design, "kind", &KINDS);
    crate::check_levels(&design, "access", &ACCESSES);
    crate::check_levels(&design, "advice", &ADVICES);
    crate::check_levels(&design, "pages", &PAGES);
    crate::check_levels(&design, "limit", &LIMITS);
    crate::check_levels(&design, "memory", &crate::support::memory::MEMORIES);
}

#[test]
fn quick_measures_what_claims_and_accounts_need_and_standard_all() {
    let design = design().on(&[0, 1], &crate::tests::server());
    let all = design.treatments(Profile::Quick);
    let more = design.treatments(Profile::Standard);
    let among = |all: &[Treatment], quantity: &Quantity| {
        quantity.cells().iter().all(|cell| all.contains(&design.complete(cell)))
    };
    let measured = |quantity: &Quantity| among(&all, quantity);
    for finding in &design.findings {
        let measured = measured(&finding.quantity) || !finding.drives;
        assert!(measured && among(&more, &finding.quantity), "{}", finding.id);
    }
    for claim in &design.claims {
        assert!(measured(&claim.quantity), "{}", claim.id);
    }
    for account in &design.accounts {
        let cells = account.terms().flat_map(|term| term.cells());
        for cell in cells {
            assert!(all.contains(&design.complete(cell)), "{}: {cell:?}", account.id);
        }
    }
}

#[test]
fn every_treatment_has_the_control_that_is_subtracted_from_it() {
    let design = design();
    for profile in [Profile::Smoke, Profile::Quick, Profile::Standard, Profile::Thorough] {
        let all = design.treatments(profile);
        for response in &design.responses {
            let Some(control) = &response.subtract else { continue };
            for treatment in &all {
                let control = treatment.with(control);
                assert!(all.contains(&control), "{profile:?}: no {control} for {treatment}");
            }
        }
    }
}

fn small(kind: &str) -> Plan {
    let pages = 64;
    Plan {
        bytes: pages * sys::pages::page_bytes() as u64,
        order: order(true, pages as u32, 5),
        ..plan(kind)
    }
}

#[test]
fn each_kind_of_memory_faults_as_it_says_and_adds_up() {
    for kind in ["resident", "anon_read", "anon_write", "cow_fork", "fill", "copy"] {
        let plan = small(kind);
        let mut subject = Subject::of_memory(&plan).unwrap();
        for _ in 0..3 {
            let walk = subject.walk().unwrap();
            assert!(walk.adds_up, "{kind}");
            let faults = walk.touching.minor_faults as f64;
            let (low, high) = faults_expected(&plan);
            // A test shares its process: its stack may have been marked by a neighbour's fork.
            let (low, high) = (low * 64.0, high * 64.0 + 16.0);
            assert!((low..=high).contains(&faults), "{kind}: {faults} faults");
        }
    }
}

#[test]
fn a_walk_that_never_was_does_not_add_up() {
    for kind in ["resident", "anon_read", "anon_write", "cow_fork", "fill", "copy"] {
        let plan = small(kind);
        let mut subject = Subject::of_memory(&plan).unwrap();
        assert!(!subject.seems_walked().unwrap(), "{kind}");
    }
}

#[test]
fn populated_memory_is_walked_without_a_fault() {
    let plan = Plan { hint: Hint::Populate, ..small("anon_write") };
    let mut subject = Subject::of_memory(&plan).unwrap();
    match subject.walk() {
        Err(kit::Stop::Unsupported(why)) => println!("skipped: {why}"),
        walk => {
            let walk = walk.unwrap();
            assert!(walk.adds_up);
            assert!(walk.touching.minor_faults <= 16, "{walk:?}");
            assert!(walk.whole.minor_faults >= 64, "{walk:?}");
        }
    }
}
