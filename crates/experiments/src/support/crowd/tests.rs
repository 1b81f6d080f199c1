use super::*;
use std::sync::atomic::AtomicUsize;

const TIMED_NS: u64 = 2_000_000;

fn here(count: usize) -> Vec<u32> {
    places(&sys::affinity::allowed().unwrap(), count)
}

/// Works as long as it may, and counts the looks at the clock.
fn look_on(shift: &Shift) -> u64 {
    let mut looks = 1;
    while !shift.is_over() {
        looks += 1;
    }
    looks
}

#[test]
fn all_are_warm_before_any_works_and_held_while_they_are_looked_at() {
    let (warm, left) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut steps = Vec::new();
    let body = |index: usize, gate: &Gate| {
        warm.fetch_add(1, Ordering::SeqCst);
        let rounds = gate.work(index, |shift| {
            assert_eq!(warm.load(Ordering::SeqCst), 4);
            look_on(shift)
        })?;
        left.fetch_add(1, Ordering::SeqCst);
        Some((index, sys::affinity::allowed().unwrap(), rounds))
    };
    let cpus = here(4);
    let results = gather(&cpus, TIMED_NS, body, |step| {
        assert_eq!(left.load(Ordering::SeqCst), 0, "{step:?}");
        steps.push(step);
        Ok(())
    })
    .unwrap();
    assert_eq!(steps, [Step::Begin, Step::End, Step::Look]);
    for (place, (index, allowed, rounds)) in results.iter().enumerate() {
        assert_eq!((place, allowed.as_slice()), (*index, &cpus[place..=place]));
        assert!(rounds.iter().all(|(span, looks)| span.ended_ns > span.began_ns && *looks > 0));
    }
}

#[test]
fn threads_with_cpus_of_their_own_work_in_as_many_rounds_each_and_together() {
    let cpus = sys::affinity::allowed().unwrap();
    let count = cpus.len().min(2);
    let body = |index: usize, gate: &Gate| gate.work(index, look_on);
    let threads = gather(&here(count), TIMED_NS, body, |_| Ok(())).unwrap();
    assert!(threads.iter().all(|rounds| !rounds.is_empty()));
    assert!(threads.iter().all(|rounds| rounds.len() == threads[0].len()));
    let rounds = by_round(&threads.iter().collect::<Vec<_>>());
    for pair in rounds.windows(2) {
        let ended = pair[0].0.iter().map(|span| span.ended_ns).max().unwrap();
        assert!(pair[1].0.iter().all(|span| span.began_ns >= ended), "a round before the last");
    }
}

#[test]
fn more_threads_than_cpus_have_one_round_that_ends_for_all_at_once() {
    let cpus = here(sys::affinity::allowed().unwrap().len() + 1);
    let body = |index: usize, gate: &Gate| gate.work(index, look_on);
    let threads = gather(&cpus, TIMED_NS, body, |_| Ok(())).unwrap();
    assert!(threads.iter().all(|rounds| rounds.len() == 1));
    let [(spans, _)] = &by_round(&threads.iter().collect::<Vec<_>>())[..] else {
        panic!("one round was expected");
    };
    assert!(is_sound(spans, false), "nobody could expect a CPU of its own");
}

#[test]
fn a_region_that_cannot_be_opened_lets_all_go() {
    let body = |index: usize, gate: &Gate| gate.work(index, look_on);
    let stop = gather(&here(3), 0, body, |_| Err(Stop::failed("planted"))).unwrap_err();
    assert_eq!(stop, Stop::failed("planted"));
}

#[test]
fn a_thread_that_panics_is_not_waited_for() {
    for in_a_round in [false, true] {
        let body = |index: usize, gate: &Gate| {
            assert!(in_a_round || index != 1, "planted");
            gate.work(index, |shift| {
                assert!(index != 1, "planted");
                look_on(shift)
            })
        };
        let stop = gather(&here(2), TIMED_NS, body, |_| Ok(())).unwrap_err();
        assert_eq!(stop, Stop::failed("a thread panicked"));
    }
}

#[test]
fn a_cpu_that_is_not_there_is_unsupported() {
    let body = |index: usize, gate: &Gate| gate.work(index, look_on);
    let stop = gather(&[60_000], 0, body, |_| Ok(())).unwrap_err();
    assert!(matches!(stop, Stop::Unsupported(_)), "{stop:?}");
}

#[test]
fn places_use_every_cpu_before_one_twice() {
    let cpus = sys::affinity::allowed().unwrap();
    let all: BTreeSet<u32> = places(&cpus, cpus.len()).into_iter().collect();
    assert_eq!(all.len(), cpus.len());
    assert!(are_apart(&places(&cpus, cpus.len())));
    assert!(!are_apart(&places(&cpus, cpus.len() + 1)));
    assert_eq!(places(&cpus, 1), [*cpus.last().unwrap()]);
    assert_eq!(places(&cpus, cpus.len() + 1).last(), cpus.last());
    assert!(places(&[], 3).is_empty());
}

#[test]
fn overlap_is_the_common_part_of_all_spans_less_what_was_waited_for() {
    let spans = |all: &[(u64, u64, u64)]| -> Vec<Span> {
        let span = |&(began_ns, ended_ns, queue_wait_ns): &(u64, u64, u64)| Span {
            began_ns,
            ended_ns,
            queue_wait_ns,
            ..Span::default()
        };
        all.iter().map(span).collect()
    };
    assert_eq!(overlap_ppm(&spans(&[(0, 100, 0), (0, 100, 0)])), 1_000_000);
    assert_eq!(overlap_ppm(&spans(&[(0, 60, 0), (40, 100, 0)])), 200_000);
    assert_eq!(overlap_ppm(&spans(&[(0, 40, 0), (60, 100, 0)])), 0);
    assert_eq!(overlap_ppm(&spans(&[(0, 100, 30), (0, 100, 20)])), 500_000);
    assert_eq!(overlap_ppm(&spans(&[(0, 100, 80), (0, 100, 80)])), 0);
    assert_eq!(overlap_ppm(&spans(&[(0, 100, 5)])), 950_000);
    assert_eq!(whole_ns(&spans(&[(5, 40, 0), (60, 100, 0)])), 95);
    assert_eq!(whole_ns(&[]), 1);
    assert!(is_sound(&spans(&[(0, 100, 4), (0, 100, 6)]), true));
    assert!(!is_sound(&spans(&[(0, 100, 5), (0, 100, 6)]), true));
    assert!(is_sound(&spans(&[(0, 100, 90), (0, 100, 90)]), false));
}
