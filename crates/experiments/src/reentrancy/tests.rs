use super::*;
use kit::model::Profile;
use sys::stdio::Printing;
use sys::tokens::Splitting;

/// A life that waited for a CPU for that time.
fn life(started_ns: u64, ended_ns: u64, waited: u64) -> Span {
    Span { started_ns, ended_ns, cpu_ns: 0, queue_wait_ns: Some(waited), sleeps: 1 }
}

#[test]
fn overlap_is_common_time_in_which_nobody_waited_for_a_cpu() {
    assert_eq!(overlap(&[life(0, 100, 0), life(0, 100, 0)]), Some(1_000_000));
    assert_eq!(overlap(&[life(0, 60, 0), life(40, 100, 0)]), Some(200_000));
    assert_eq!(overlap(&[life(0, 100, 10), life(0, 100, 15)]), Some(750_000));
    assert_eq!(overlap(&[life(0, 100, 50), life(0, 100, 50)]), Some(0));
    assert_eq!(overlap(&[life(0, 40, 0), life(60, 100, 0)]), Some(0));
    let unknown = Span { queue_wait_ns: None, ..life(0, 100, 0) };
    assert_eq!(overlap(&[unknown, life(0, 100, 0)]), None);
}

/// A child's board after `limit_ns` of a subject that a timer interrupts, and its fate.
fn interrupted_child(subject: Subject, limit_ns: u64) -> (Board, Fate) {
    let board = Board::new().unwrap();
    let fate = child::observe(board, limit_ns, || interrupted(board, subject, limit_ns)).unwrap();
    (board, fate)
}

#[test]
fn a_plain_lock_deadlocks_in_a_handler_sooner_or_later() {
    // Two seconds of some 40,000 interruptions, of which one is enough.
    let (board, fate) = interrupted_child(Subject::Lock { recursive: false }, 2_000_000_000);
    assert_eq!(fate, Fate::Deadlocked);
    assert!(board.handler_runs.load(Ordering::SeqCst) >= 1);
    assert_eq!(tally(Subject::Lock { recursive: false }, board, fate).unwrap(), None);
}

#[test]
fn a_place_of_ones_own_survives_a_handler() {
    let subject = Subject::Split(Splitting::Own);
    let (board, fate) = interrupted_child(subject, 20_000_000);
    assert_eq!(fate, Fate::Survived);
    let tally = tally(subject, board, fate).unwrap().unwrap();
    assert_eq!(tally.wrong, 0);
    assert!(tally.chances >= 8 && board.handler_runs.load(Ordering::SeqCst) >= 1);
}

#[test]
fn a_sleeping_companion_lets_the_child_end() {
    let (board, fate) = interrupted_child(Subject::Allocate { threaded: true }, 1);
    // One batch of calls and perhaps one interruption: it may deadlock, but never hang the trial.
    assert!(matches!(fate, Fate::Survived | Fate::Deadlocked | Fate::Corrupted));
    assert!(board.uses() <= USES_AT_ONCE);
}

#[test]
fn every_level_has_its_code() {
    let design = design();
    crate::check_levels(&design, "function", &FUNCTIONS);
    crate::check_levels(&design, "reentry", &REENTRIES);
}

#[test]
fn what_a_claim_compares_is_measured_in_quick() {
    let design = design();
    let all = design.treatments(Profile::Quick);
    for claim in &design.claims {
        for cell in claim.quantity.cells() {
            assert!(all.iter().any(|t| t.matches(cell)), "{}: {cell:?}", claim.id);
        }
    }
}

#[test]
fn only_functions_that_print_leave_records() {
    let leaving = FUNCTIONS.iter().filter(|(_, subject)| subject.leaves_records()).count();
    assert_eq!(leaving, 6);
    assert!(Subject::Print(Printing::TextUnlocked).leaves_records());
}
