//! Searches against servers whose capacity is known, and against some that have none.

use super::refusals::broken_by;
use super::*;
use crate::refusing::refusers;
use crate::searches::{self, conduct, rules};
use crate::servers::{Scatter, Server};
use laws::station::Station;
use model::KneeBreak;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SECOND: f64 = 1e9;

fn single(ms: f64, scatter: Scatter) -> Server {
    Server::new(Station::servers(1), ms, 0.0, scatter)
}

/// Requests at random that are answered, or not, as somebody says of the number of each.
fn made_up(
    per_s: f64,
    length_ns: f64,
    seed: u64,
    mut answer: impl FnMut(usize) -> Option<u64>,
) -> Vec<MeasuredRequest> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut at, mut all) = (0.0, Vec::new());
    loop {
        at -= (1.0 - random.random::<f64>()).ln() * SECOND / per_s;
        if at >= length_ns {
            return all;
        }
        let done_ns = answer(all.len()).map(|ns| at as u64 + ns);
        all.push(MeasuredRequest { at_ns: at as u64, done_ns, ..MeasuredRequest::default() });
    }
}

/// The interval holds the truth, and is narrow, whatever the kind of the server. The battery
/// (`cargo bench -p analysis --bench knee`) does the same for more servers and seeds.
#[test]
fn the_interval_holds_the_capacity_of_a_server() {
    holds_the_capacity(0);
}

#[test]
fn the_interval_holds_the_capacity_of_a_server_again() {
    holds_the_capacity(1);
}

fn holds_the_capacity(seed: u64) {
    // μ − ln 20 / L for M/M/1; the others were computed by the battery from loads of 2,000,000 requests.
    let scattered = Server::new(Station::servers(4), 20.0, 0.0, Scatter::Erlang4);
    let slow = Server::new(Station::servers(8), 400.0, 0.0, Scatter::None);
    let shared = Server::new(Station::worker_each(2), 0.0, 2.0, Scatter::None);
    let mut covered = 0;
    for (server, limit_ms, truth) in [
        (single(5.0, Scatter::Exponential), 50.0, 200.0 - 20.0_f64.ln() / 0.04994),
        (single(5.0, Scatter::None), 50.0, 169.86),
        (single(10.0, Scatter::None), 12.0, 6.13),
        (scattered, 50.0, 140.97),
        (slow, 2000.7, 19.14),
        (shared, 20.0, 857.9),
    ] {
        let (knee, seconds) = searches::search(&server, rules(Some(limit_ms)), seed);
        let found = knee.capacity_per_s.unwrap();
        covered += u32::from(found.low <= truth && truth <= found.high);
        assert!((found.high - found.low) / found.point < 0.1, "{server:?}: {found:?}");
        assert!((found.point / truth - 1.0).abs() < 0.05, "{server:?}: {found:?} of {truth}");
        assert!(seconds <= 180.0, "{server:?}: {seconds} s");
        assert_eq!(knee.broke_by, Some(KneeBreak::ResponseTime));
    }
    assert!(covered >= 5, "{covered} of 6");
}

#[test]
fn the_limit_by_default_is_five_times_that_of_one_request() {
    let server = single(1.0, Scatter::None);
    let (knee, _) = searches::search(&server, rules(None), 1);
    let alone_ns = knee.alone_p95_ns.unwrap();
    assert!((1.03e6..1.2e6).contains(&alone_ns), "{alone_ns}");
    assert_eq!(knee.limit_ns, Some(5.0 * alone_ns));
    assert_eq!(knee.end, KneeEnd::Precise);
    assert_eq!(searches::search(&server, rules(None), 1).0, knee, "the same seed, the same search");
}

#[test]
fn constant_arrivals_break_where_the_server_is_saturated() {
    let server = single(2.0, Scatter::None);
    let rules = KneeRules { constant: true, ..rules(Some(20.0)) };
    let found = searches::search(&server, rules, 1).0.capacity_per_s.unwrap();
    assert!(found.low <= 500.0 && found.high >= 499.0, "{found:?}");
    assert!((found.point / 500.0 - 1.0).abs() < 0.02, "{found:?}");
}

#[test]
fn a_server_that_is_too_slow_is_refused_at_once() {
    let (knee, seconds) = searches::search(&single(600.0, Scatter::None), rules(None), 1);
    assert_eq!((knee.end, knee.capacity_per_s), (KneeEnd::TooSlow, None));
    let roughly = knee.roughly_per_s.unwrap();
    assert!((1.0..2.2).contains(&roughly), "{roughly}");
    assert!(knee.needed_ns.unwrap() > 170.0 * SECOND && seconds < 100.0, "{seconds}");
    // With enough time it is measured.
    let patient = KneeRules { budget_ns: 1_800_000_000_000, ..rules(None) };
    let (knee, _) = searches::search(&single(600.0, Scatter::None), patient, 1);
    assert!(knee.capacity_per_s.is_some(), "{:?}", knee.end);
    // One request takes longer than the limit.
    let (knee, _) = searches::search(&single(60.0, Scatter::None), rules(Some(50.0)), 1);
    assert_eq!((knee.end, knee.trials.len()), (KneeEnd::LowestBroke, 1));
}

fn quick(requests: u64, _: f64) -> Vec<f64> {
    vec![1e6; requests as usize]
}

#[test]
fn errors_above_a_rate_break_it_whatever_the_response_time() {
    let mut seed = 0;
    // A limiter that refuses what comes beyond 700 a second.
    let limited = |per_s: f64, length_ns: f64| {
        seed += 1;
        let passes = 700.0 / per_s;
        let answer = |number: usize| {
            let passed = |number: usize| (number as f64 * passes) as u64;
            (passes >= 1.0 || passed(number + 1) > passed(number)).then_some(1_000_000)
        };
        (made_up(per_s, length_ns, seed, answer), 0.0)
    };
    let (knee, _) = conduct(rules(None), quick, limited);
    assert_eq!(knee.broke_by, Some(KneeBreak::ResponseTime), "what got no answer was too late");
    // 95 % of the requests succeed up to 737.
    let capacity = knee.capacity_per_s.unwrap();
    assert!((capacity.point / 737.0 - 1.0).abs() < 0.1, "{capacity:?}");
}

#[test]
fn a_status_of_an_error_is_no_answer() {
    let mut search = KneeSearch::new(rules(Some(50.0)));
    let mut all = made_up(1_000.0, SECOND, 1, |_| Some(1_000_000));
    let alone = searches::trial(KneeStage::Alone, 0.0, SECOND, &all);
    search.add_alone(alone, all.len() as u64);
    all.iter_mut().step_by(2).for_each(|one| one.refused = true);
    search.add(searches::trial(KneeStage::Search, 1_000.0, SECOND, &all), &all);
    let added = search.trials[1];
    assert!((added.late_part().unwrap() - 0.5).abs() < 0.01 && !added.held(), "{added:?}");
    // What comes first, and in the last 50 ms, does not count.
    assert!((added.counted as f64 / 850.0 - 1.0).abs() < 0.15, "{added:?}");
    assert_eq!(broken_by(&added), KneeBreak::Throughput);
    // One that fails half of the requests one at a time sustains nothing.
    let mut search = KneeSearch::new(rules(Some(50.0)));
    for time in 1..=ALONES_MAX {
        search.add_alone(KneeTrial { succeeded: 500, ..alone }, 1_000);
        match search.next(1e12) {
            KneeStep::Alone { per_s, .. } => {
                // A limiter may let requests pass that come more slowly.
                assert!(time < ALONES_MAX && per_s == Some(250.0), "{time}: {per_s:?}");
            }
            other => assert_eq!((other, time), (KneeStep::End(KneeEnd::LowestBroke), ALONES_MAX)),
        }
    }
}

#[test]
fn a_server_that_never_breaks_has_no_capacity_that_could_be_told() {
    let most = KneeRules { most_per_s: Some(3_000.0), ..rules(None) };
    let all_well =
        |per_s: f64, length_ns: f64| (made_up(per_s, length_ns, 1, |_| Some(1_000_000)), 0.0);
    let (knee, _) = conduct(most, quick, all_well);
    assert_eq!(
        (knee.end, knee.capacity_per_s, knee.broke_per_s),
        (KneeEnd::HighestHeld, None, None)
    );
    assert_eq!(knee.held_per_s, Some(3_000.0));
    assert!(knee.trials.iter().all(|trial| trial.per_s <= 3_000.0));
}

#[test]
fn a_server_that_does_not_answer_ends_the_search_at_once() {
    let silent = |per_s: f64, length_ns: f64| (made_up(per_s, length_ns, 1, |_| None), 0.0);
    let (knee, seconds) = conduct(rules(None), |_, _| Vec::new(), silent);
    assert_eq!((knee.end, knee.trials.len(), knee.limit_ns), (KneeEnd::NoAnswer, 1, None));
    assert!(seconds <= 11.0 && knee.held_per_s.is_none());
    // One that answers single requests alone.
    let (knee, seconds) = conduct(rules(None), quick, silent);
    assert!(knee.capacity_per_s.is_none() && seconds <= 180.0, "{knee:?}");
}

#[test]
fn one_disturbed_trial_changes_little() {
    let server = single(2.0, Scatter::None);
    let truth = server.capacity(20e6, false, 60e3);
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut count = 0;
    let open = |per_s: f64, length_ns: f64| {
        let mut all = server.open(per_s, false, length_ns, 500, &mut random);
        count += 1;
        if count == 4 {
            // Something stops the server for 100 ms.
            let half = all.len() / 2;
            for one in all[half..].iter_mut().take((per_s / 10.0) as usize) {
                one.done_ns = one.done_ns.map(|ns| ns + 60_000_000);
            }
        }
        (all, 0.0)
    };
    let alone = |requests: u64, _: f64| vec![2.05e6; requests as usize];
    let (knee, _) = conduct(rules(Some(20.0)), alone, open);
    let capacity = knee.capacity_per_s.unwrap();
    assert!((capacity.point / truth - 1.0).abs() < 0.05, "{capacity:?} of {truth}");
}

/// Servers that refuse what is too much: the interval holds the capacity, and nearly all of it is below. The
/// battery does the same for more seeds.
#[test]
fn the_interval_holds_the_capacity_of_a_server_that_refuses() {
    let (mut held, mut above, mut all) = (0, 0, 0);
    for (server, seed) in refusers().into_iter().flat_map(|server| [(server, 0), (server, 1)]) {
        let (knee, seconds) = server.search(43.0, 0.0, seed);
        assert!(seconds <= 43.2, "{server:?}: {seconds} s");
        assert_eq!(knee.broke_by, Some(KneeBreak::Throughput));
        let Some(found) = knee.capacity_per_s else { continue };
        assert_eq!((knee.held_per_s, knee.broke_per_s), (Some(found.low), Some(found.high)));
        let truth = server.capacity_per_s;
        all += 1;
        held += u32::from(found.low <= truth && truth <= found.high);
        above += u32::from(found.point > truth);
    }
    assert!(all >= 20 && held + 1 >= all && above <= 1, "{held} of {all}, {above} above");
}

#[test]
fn trials_that_were_disturbed_do_not_end_it_far_below() {
    let server = single(2.0, Scatter::None);
    let truth = server.capacity(20e6, false, 60e3);
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut count = 0;
    let open = |per_s: f64, length_ns: f64| {
        let mut all = server.open(per_s, false, length_ns, 500, &mut random);
        count += 1;
        if (4..=6).contains(&count) {
            let half = all.len() / 2;
            all[half..]
                .iter_mut()
                .for_each(|one| one.done_ns = one.done_ns.map(|ns| ns + 60_000_000));
        }
        (all, 0.0)
    };
    let alone = |requests: u64, _: f64| vec![2.05e6; requests as usize];
    let (knee, _) = conduct(rules(Some(20.0)), alone, open);
    let lowest = knee.trials.iter().skip(1).map(|trial| trial.per_s).fold(f64::MAX, f64::min);
    assert!(lowest > truth / 5.0, "{lowest} of {truth}");
    let capacity = knee.capacity_per_s.unwrap();
    assert!(capacity.low < truth && truth < capacity.high, "{capacity:?} of {truth}");
}

/// Loads on a server of one whose requests take `ms` at first and `slower` times as long after `after` of them.
fn slowing(ms: f64, after: usize, slower: f64) -> impl FnMut(f64, f64) -> Vec<MeasuredRequest> {
    let (mut served, mut seed) = (0, 0);
    move |per_s, length_ns| {
        seed += 1;
        let (mut free_ns, mut all) = (0, made_up(per_s, length_ns, seed, |_| Some(0)));
        for one in &mut all {
            served += 1;
            let times = if served > after { slower } else { 1.0 };
            free_ns = free_ns.max(one.at_ns) + (times * ms * 1e6) as u64;
            one.done_ns = Some(free_ns);
        }
        all
    }
}

/// What held before says more than a queue that no answer leaves.
#[test]
fn a_server_that_stops_has_no_capacity_far_below_what_it_held() {
    for after in [60, 100, 150, 200, 250, 300] {
        let mut loads = slowing(2.0, after, 1e6);
        let open = |per_s: f64, length_ns: f64| (loads(per_s, length_ns), 0.0);
        let alone = |requests: u64, _: f64| vec![20e6; requests as usize];
        let asked = KneeRules { budget_ns: 10_000_000_000, ..rules(None) };
        let (knee, _) = conduct(asked, alone, open);
        let held = knee.held_per_s.unwrap_or(0.0);
        let found = knee.capacity_per_s.map(|it| it.high).or(knee.roughly_per_s);
        assert!(found.is_none_or(|found| found >= held / 2.0), "{after}: {held} and {found:?}");
    }
}

#[test]
fn a_server_that_slows_down_is_said_to() {
    let search = |after, slower: f64| {
        let mut loads = slowing(2.0, after, slower);
        let open = |per_s: f64, length_ns: f64| (loads(per_s, length_ns), 0.0);
        let mut asked = 0;
        let alone = |requests: u64, _: f64| {
            asked += 1;
            let times = if asked > 1 && after < usize::MAX { slower } else { 1.0 };
            vec![times * 2e6; requests as usize]
        };
        conduct(KneeRules { budget_ns: 60_000_000_000, ..rules(Some(20.0)) }, alone, open)
    };
    let (knee, seconds) = search(2_000, 1.5);
    assert_eq!(knee.slowed_ns, Some([2_000_000, 3_000_000]), "{knee:?}");
    assert_eq!(knee.trials.last().map(|trial| trial.stage), Some(KneeStage::Alone));
    assert!(seconds <= 65.0, "{seconds}");
    let (knee, _) = search(usize::MAX, 1.5);
    assert!(knee.slowed_ns.is_none() && knee.capacity_per_s.is_some(), "{knee:?}");
}

#[test]
fn no_capacity_lies_where_more_requests_fail_than_may() {
    // A queue of one server that also fails one request in ten from 300 per second on.
    let mut loads = slowing(2.0, usize::MAX, 1.0);
    let open = |per_s: f64, length_ns: f64| {
        let mut all = loads(per_s, length_ns);
        if per_s > 300.0 {
            all.iter_mut().step_by(10).for_each(|one| one.refused = true);
        }
        (all, 0.0)
    };
    let alone = |requests: u64, _: f64| vec![2e6; requests as usize];
    let (knee, _) = conduct(rules(Some(20.0)), alone, open);
    let found = knee.capacity_per_s;
    assert!(found.is_none_or(|found| found.point <= 306.0), "{found:?}");
    assert!(knee.held_per_s.is_none_or(|held| held <= 300.0), "{:?}", knee.held_per_s);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        failure_persistence: None,
        cases: 16,
        ..proptest::prelude::ProptestConfig::default()
    })]

    #[test]
    fn a_search_ends_whatever_the_server_does(
        answers in proptest::collection::vec(proptest::option::of(1u64..200_000_000), 1..60),
        alone_ns in 1e3..1e8f64,
        limit in proptest::option::of(1e3..1e8f64),
        most in proptest::option::of(0.5..1e3f64),
    ) {
        let limit_ns = limit;
        let rules = KneeRules { limit_ns, most_per_s: most.or(Some(1e3)), ..rules(None) };
        let mut turn = 0;
        let open = |per_s: f64, length_ns: f64| {
            let all = made_up(per_s, length_ns.min(20.0 * SECOND), 1, |_| {
                turn += 1;
                answers[(turn / 97) % answers.len()]
            });
            (all, 0.0)
        };
        let (knee, seconds) = conduct(rules, |n, _| vec![alone_ns; n as usize], open);
        proptest::prop_assert!(knee.trials.len() <= TRIALS_MAX && seconds <= 180.0);
        for trial in knee.trials.iter().filter(|it| it.stage != KneeStage::Alone) {
            proptest::prop_assert!(trial.per_s > 0.0 && trial.per_s <= most.unwrap_or(1e3));
            proptest::prop_assert!(trial.late <= trial.counted && trial.counted <= trial.due);
        }
        if let Some(capacity) = knee.capacity_per_s {
            proptest::prop_assert!(capacity.low <= capacity.high && capacity.point > 0.0);
        }
    }
}
