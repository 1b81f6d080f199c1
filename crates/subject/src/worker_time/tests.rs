//! Looks at programs that are made up.

use super::*;

const MS: u64 = 1_000_000;

fn account(on_cpu_ms: u64, queue_wait_ms: u64) -> SchedStat {
    SchedStat { on_cpu_ns: on_cpu_ms * MS, queue_wait_ns: queue_wait_ms * MS, slices: 1 }
}

fn thread(tid: Pid, state: char, began_ns: u64, account: SchedStat) -> Thread {
    Thread { tid, name: "w".into(), state, began_ns, account }
}

fn look(slots: &mut Slots, at_ms: u64, threads: &[(Pid, SchedStat, char)]) {
    slots.begin(at_ms * MS);
    for (tid, account, state) in threads {
        // All began with the program.
        let thread = thread(*tid, *state, 0, *account);
        slots.see(1, &thread, *state == 'Z', None);
    }
    slots.end();
}

fn slots(workers: u32) -> Slots {
    Slots::new(Some(workers), 0, 0)
}

#[test]
fn what_waited_before_it_was_the_program_is_left_out() {
    let mut slots = Slots::new(None, 0, 0).queued_before(30 * MS);
    slots.begin(100 * MS);
    slots.see_process(7, Some(60 * MS), 0);
    slots.see(7, &thread(7, 'R', 0, account(60, 50)), false, None);
    // Another thread of it began with the program.
    slots.see(7, &thread(8, 'S', 0, account(0, 5)), false, None);
    slots.end();
    assert_eq!(slots.queue_wait_ns, 25 * MS as i64);
}

#[test]
fn main_fills_a_slot_while_it_works_alone_and_none_while_it_waits() {
    let mut slots = slots(2);
    // Main alone for 100 ms; then two workers, one of which waits for the other's CPU.
    look(&mut slots, 100, &[(1, account(90, 0), 'S')]);
    let workers = [(2, account(60, 40), 'S'), (3, account(40, 50), 'S')];
    look(&mut slots, 200, &[(1, account(90, 0), 'S'), workers[0], workers[1]]);
    let division = slots.division(190 * MS, 200 * MS);
    assert_eq!(division.seen_share, 1.0);
    assert_eq!(division.queue_wait_ns, Some(90 * MS));
    // Main was blocked for 10 ms, a worker for 10 ms; main's wait for its workers is no slot's.
    assert_eq!(division.blocked_ns, Some(20 * MS));
    assert_eq!(division.absent_ns, Some(100 * MS));
}

#[test]
fn who_hands_over_between_two_looks_is_not_blocked_beside_the_other() {
    let mut slots = slots(1);
    look(&mut slots, 100, &[(1, account(95, 5), 'S'), (2, account(0, 0), 'S')]);
    look(&mut slots, 200, &[(1, account(155, 5), 'S'), (2, account(30, 10), 'S')]);
    let division = slots.division(185 * MS, 200 * MS);
    assert_eq!(division.queue_wait_ns, Some(15 * MS));
    assert_eq!((division.blocked_ns, division.absent_ns), (Some(0), Some(0)));
}

#[test]
fn threads_that_have_ended_fill_slots_and_waited_as_before() {
    let mut slots = slots(2);
    let both = [(2, account(50, 50), 'R'), (3, account(50, 50), 'R')];
    slots.see_process(1, Some(100 * MS), 0);
    look(&mut slots, 100, &[(1, account(0, 0), 'S'), both[0], both[1]]);
    // Each ran 20 ms more, and was gone.
    slots.see_process(1, Some(140 * MS), 0);
    look(&mut slots, 200, &[(1, account(0, 0), 'S')]);
    let division = slots.division(140 * MS, 200 * MS);
    assert_eq!(division.seen_share, 1.0);
    assert_eq!(division.queue_wait_ns, Some((100 + 40) * MS));
    assert_eq!((division.blocked_ns, division.absent_ns), (Some(0), Some(120 * MS)));
}

#[test]
fn a_thread_may_have_begun_a_tick_later_than_is_said() {
    let mut slots = Slots::new(Some(2), 0, 10 * MS);
    slots.see_process(1, Some(80 * MS), 0);
    slots.begin(100 * MS);
    let main = thread(1, 'S', 0, account(60, 0));
    let worker = thread(2, 'S', 60 * MS, account(20, 0));
    slots.see(1, &main, false, None);
    slots.see(1, &worker, false, None);
    slots.end();
    let division = slots.division(80 * MS, 100 * MS);
    assert_eq!((division.blocked_ns, division.absent_ns), (Some(50 * MS), Some(70 * MS)));
}

#[test]
fn the_slots_are_divided_without_a_rest() {
    let mut slots = slots(2);
    look(&mut slots, 100, &[(1, account(80, 10), 'S'), (2, account(50, 0), 'S')]);
    // The second ran on for 20 ms after the look, and was gone at the next.
    look(&mut slots, 200, &[(1, account(150, 10), 'S')]);
    let cpu_ns = (150 + 50 + 20) * MS;
    let division = slots.division(cpu_ns, 200 * MS);
    let parts = [division.queue_wait_ns, division.blocked_ns, division.absent_ns];
    let sum: u64 = parts.into_iter().flatten().sum();
    assert_eq!(sum + cpu_ns, 2 * 200 * MS);
    assert_eq!(division.absent_ns, Some(80 * MS));
}

#[test]
fn what_was_done_before_the_first_look_at_a_running_program_does_not_count() {
    let mut slots = Slots::attached(0, 0);
    slots.see_process(1, Some(9000 * MS), 0);
    look(&mut slots, 0, &[(1, account(8000, 70), 'S'), (2, account(500, 0), 'S')]);
    slots.see_process(1, Some(9050 * MS), 0);
    look(&mut slots, 100, &[(1, account(8050, 70), 'S'), (2, account(500, 0), 'S')]);
    assert_eq!((slots.on_cpu_ns, slots.ended_cpu_ns, slots.queue_wait_ns), (50 * MS, 0, 0));
    assert_eq!(slots.blocked_ns, (50 + 100) * MS as i64);
}

#[test]
fn where_too_little_was_seen_nothing_is_said() {
    let mut slots = slots(1);
    look(&mut slots, 100, &[(1, account(89, 0), 'S')]);
    let division = slots.division(100 * MS, 200 * MS);
    assert!((division.seen_share - 0.89).abs() < 1e-9);
    assert_eq!(division.queue_wait_ns, None);
    assert_eq!((division.blocked_ns, division.absent_ns), (None, None));
    assert!(slots.division(98 * MS, 200 * MS).queue_wait_ns.is_some());
}

#[test]
fn an_interval_shorter_than_what_ran_takes_no_memory() {
    let mut slots = slots(1);
    look(&mut slots, 100, &[(1, account(95, 0), 'S')]);
    // The end is said to be no later than the last look, and other threads ran for 40 ms since.
    slots.begin(100 * MS);
    slots.see_process(1, Some(135 * MS), 0);
    let parts = slots.ended(&HashMap::new());
    assert!((1..=1_024).contains(&parts.len()));
}

/// Processes live for less than from one look to the next: the parent's sum has what they ran, beyond what a look
/// saw of one. Before the first look at a program that ran already it had others.
#[test]
fn what_short_lives_ran_is_known_by_their_parents_sums() {
    for (attaches, before_ms) in [(false, 0), (true, 500)] {
        let mut slots = Slots { attaches, ..Slots::new(None, 0, 0) };
        for (at_ms, reaped_ms, child) in [
            (1, 0, None),
            (100, 30, None),
            (200, 30, Some(account(40, 0))),
            // The second one ran for 10 ms more, and a third for 20 ms.
            (300, 30 + 50 + 20, None),
            (400, 100, None),
        ] {
            slots.begin(at_ms * MS);
            slots.see_process(7, Some(5 * MS), (before_ms + reaped_ms) * MS);
            slots.see(7, &thread(7, 'S', 0, account(5, 0)), false, None);
            if let Some(account) = child {
                slots.see_process(8, Some(account.on_cpu_ns), 0);
                slots.see(8, &thread(8, 'R', 150 * MS, account), false, None);
            }
            slots.end();
        }
        let own_ms = if attaches { 40 } else { 45 };
        assert_eq!((slots.on_cpu_ns, slots.unseen_cpu_ns()), (own_ms * MS, 60 * MS));
        let still_ns: i64 = slots.idle.still().map(|(_, ns)| ns).sum();
        assert!(still_ns <= 300 * MS as i64, "{still_ns}");
    }
}

#[test]
fn a_zombie_lived_as_long_as_it_did_something() {
    let mut slots = slots(1);
    look(&mut slots, 100, &[(1, account(30, 20), 'Z')]);
    look(&mut slots, 200, &[(1, account(30, 20), 'Z')]);
    let division = slots.division(30 * MS, 200 * MS);
    assert_eq!(division.blocked_ns, Some(0));
    assert_eq!(division.absent_ns, Some(150 * MS));
}

#[test]
fn a_number_that_was_given_again_is_a_new_thread() {
    let mut slots = slots(1);
    look(&mut slots, 100, &[(1, account(80, 0), 'S')]);
    look(&mut slots, 200, &[(1, account(10, 0), 'S')]);
    assert_eq!(slots.on_cpu_ns, 90 * MS);
}

#[test]
fn a_wait_that_is_not_over_is_no_block() {
    // It waits from 20 ms on; the kernel adds the wait when it is over, at 120 ms.
    let mut waiting = slots(1);
    look(&mut waiting, 100, &[(1, account(20, 0), 'R')]);
    look(&mut waiting, 200, &[(1, account(50, 100), 'S')]);
    let division = waiting.division(50 * MS, 200 * MS);
    assert_eq!(division.blocked_ns, Some(50 * MS));
    assert_eq!(division.queue_wait_ns, Some(100 * MS));
    assert_eq!(division.absent_ns, Some(0));
    // It is also a wait if the thread is never seen again.
    let mut gone = slots(1);
    look(&mut gone, 100, &[(1, account(20, 0), 'R')]);
    look(&mut gone, 200, &[]);
    let division = gone.division(20 * MS, 200 * MS);
    assert_eq!((division.blocked_ns, division.queue_wait_ns), (Some(0), Some(80 * MS)));
    assert_eq!(division.absent_ns, Some(100 * MS));
}
