use super::super::coverage::coverage;
use super::super::queues::{Service, Source};
use super::*;

/// Slices of a second, each with times in ns.
fn load(slices: &[Vec<(u64, u64)>]) -> LoadIntervals {
    let slice =
        |known| TimeSlice { seconds: 1.0, known, censored: &[], succeeded: 7, late: 0, failed: 0 };
    let slices: Vec<TimeSlice<'_>> = slices.iter().map(|known| slice(known)).collect();
    load_intervals(&slices, &[50.0, 99.0])
}

/// The whole table is made by `cargo bench -p analysis --bench intervals`.
#[test]
fn intervals_hold_the_truth_where_times_depend_on_each_other() {
    let sources = [
        Source::Independent,
        Source::Queue(Service::Equal, 0.7),
        Source::Queue(Service::Exponential, 0.7),
        Source::Queue(Service::Uneven, 0.5),
        Source::Correlated(0.99),
    ];
    for (source, seconds) in sources.map(|source| (source, 30.0)) {
        let found = coverage(source, seconds, 100);
        for found in &found {
            // Of 100 loads, 5 have an interval without the truth, and 12 or more in one case of two hundred.
            assert!(found.below + found.above <= 11, "{source:?}: {found:?}");
        }
        let known = found.map(|found| found.known);
        assert!(known[0] >= 85 && known[1] >= 85, "{source:?}: {known:?}");
    }
}

#[test]
fn a_load_about_as_long_as_its_queues_memory_has_a_wide_interval() {
    let [mean, ..] = coverage(Source::Queue(Service::Exponential, 0.9), 10.0, 100);
    assert!(mean.known >= 95 && mean.below + mean.above <= 15, "{mean:?}");
    assert!(mean.widths / f64::from(mean.known) > 0.4, "{mean:?}");
}

#[test]
fn few_batches_or_late_requests_leave_no_interval() {
    let few = load(&vec![vec![(1_000, 5), (2_000, 5)]; BATCHES_LEAST - 1]);
    assert_eq!((few.mean_ns, few.percentiles[0].ns, few.throughput_per_s), (None, None, None));
    // Of 200 requests two took longer than p99.
    let enough = load(&vec![vec![(1_000, 5), (2_000, 5)]; 20]);
    assert!(enough.percentiles[0].ns.is_some() && enough.percentiles[1].ns.is_none());
    // A queue that grows all the time has no steady state.
    let grown: Vec<Vec<(u64, u64)>> = (1..=20).map(|ms| vec![(ms * 1_000_000, 1_000)]).collect();
    let grown = load(&grown);
    assert_eq!((grown.mean_ns, grown.percentiles[1].ns), (None, None));
    assert_eq!(load(&[]), load_intervals(&[], &[50.0, 99.0]));
}

#[test]
fn what_does_not_vary_has_an_interval_of_no_width() {
    let same = load(&vec![vec![(1_000, 500)]; 20]);
    for found in [same.mean_ns.unwrap(), same.percentiles[1].ns.unwrap()] {
        assert_eq!((found.low, found.point, found.high), (1_000.0, 1_000.0, 1_000.0));
    }
    let rate = same.throughput_per_s.unwrap();
    assert_eq!((rate.low, rate.point, rate.high), (7.0, 7.0, 7.0));
}

#[test]
fn no_error_among_many_is_a_small_share_and_not_none() {
    let of = |failed: [u64; 20]| {
        let slice = |failed| TimeSlice {
            seconds: 1.0,
            known: &[],
            censored: &[],
            succeeded: 100,
            late: 0,
            failed,
        };
        load_intervals(&failed.map(slice), &[]).errors.unwrap()
    };
    let none = of([0; 20]);
    // 1 − 0.025^(1/2000).
    assert!(
        (none.low, none.point) == (0.0, 0.0) && (none.high - 0.001_843).abs() < 1e-6,
        "{none:?}"
    );
    let mut gathered = [0; 20];
    gathered[7] = 40;
    let spread = of([2; 20]);
    let gathered = of(gathered);
    assert_eq!(spread.point, gathered.point);
    assert!(gathered.high > 2.0 * spread.high, "{spread:?} {gathered:?}");
}

#[test]
fn what_has_no_answer_has_no_mean() {
    let known = vec![(1_000, 100)];
    let slice = |censored| TimeSlice {
        seconds: 1.0,
        known: &known,
        censored,
        succeeded: 9,
        late: 0,
        failed: 0,
    };
    let lost = [(5_000, 1)];
    let mut slices = vec![slice(&[][..]); 20];
    slices[3] = slice(&lost);
    let found = load_intervals(&slices, &[50.0]);
    assert!(found.mean_ns.is_none() && found.percentiles[0].ns.is_some());
}
