use super::design::design;
use super::kind::{ACCESSES, ADVICES, Access, KINDS, LIMITS, Limit, PAGES, Plan, Told, order};
use super::subject::mark;
use super::{STRAY, faults_expected, reads_expected};
use kit::declare::Named;
use kit::model::{Profile, Quantity, Treatment};
use std::collections::BTreeSet;
use sys::pages::{Advice, Huge};

fn named<T: Copy>(table: &[Named<T>], name: &str) -> T {
    table.iter().find(|named| named.name == name).unwrap().by
}

fn plan(kind: &str) -> Plan {
    Plan {
        kind: named(&KINDS, kind),
        told: Told::Nothing,
        huge: Huge::Never,
        limit: Limit::None,
        bytes: 8 << 20,
        order: order(Access::Sequential, 2048, 1),
    }
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
    assert_eq!(random, order(Access::Random, 1000, 7));
    assert_ne!(random, order(Access::Random, 1000, 8));
    assert!(order(Access::Random, 0, 7).is_empty());
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
    assert_eq!(Told::Nothing.advice(named(&KINDS, "anon_write").touch), None);
}

#[test]
fn faults_are_expected_by_kind_page_size_and_advice() {
    assert_eq!(faults_expected(&plan("resident")), (0.0, STRAY));
    assert_eq!(faults_expected(&plan("anon_write")), (1.0, 1.0 + STRAY));
    assert_eq!(faults_expected(&plan("file_warm")), (1.0 / 2048.0, 1.0 + STRAY));
    let populated = Plan { told: Told::Populate, ..plan("anon_write") };
    assert_eq!(faults_expected(&populated), (0.0, STRAY));
    let (low, high) = faults_expected(&Plan { huge: Huge::Always, ..plan("anon_write") });
    assert!(low > 0.0 && low < high && high < 0.1 + STRAY);
}

#[test]
fn a_second_walk_reads_again_only_where_the_file_does_not_fit() {
    let under = |name: &str| Plan { limit: named(&LIMITS, name), ..plan("file_warm") };
    assert_eq!(reads_expected(&under("above")), (0.0, STRAY));
    assert!(reads_expected(&under("below")).0 > 0.0);
    assert!(under("below").needs_disk() && !under("above").needs_disk());
    assert_eq!(under("below").limit.bytes(8 << 20), Some(4 << 20));
    assert_eq!(under("above").limit.bytes(8 << 20), Some(32 << 20));
    assert_eq!(named(&PAGES, "4k"), Huge::Never);
}

#[test]
fn quick_measures_what_claims_and_accounts_need_and_standard_all() {
    let design = design();
    design.check().unwrap();
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
