//! What the instrument itself cost.

use crate::session::outcomes::leaking_trials;
use crate::stats::order::median;
use model::{Harness, Record};

/// Returns the instrument's cost over all trials with a record: medians of times, shares of sums.
pub(crate) fn harness(records: &[Record]) -> Harness {
    let all: Vec<&Record> = records.iter().collect();
    Harness {
        trials: records.len() as u64,
        spawn_to_ready_ns: median_ns(records.iter().filter_map(|record| record.harness_ns)),
        outside_ns: median_ns(
            records.iter().filter_map(|r| Some(r.total_ns.saturating_sub(r.measuring_ns?))),
        ),
        runner_cpu_share: share(records, |r| Some((r.runner_cpu_ns?, r.measuring_ns?))),
        foreign_cpu_share: share(records, |r| Some((r.machine.foreign_cpu_ns?, r.total_ns))),
        leaking_trials: leaking_trials(&all),
    }
}

fn median_ns(values: impl Iterator<Item = u64>) -> Option<u64> {
    let values: Vec<f64> = values.map(|value| value as f64).collect();
    median(&values).map(|value| value.round() as u64)
}

/// Returns the first of two times as a share of the second, over the trials that tell both.
pub(crate) fn share(
    records: &[Record],
    times: impl Fn(&Record) -> Option<(u64, u64)>,
) -> Option<f64> {
    let (mut part_ns, mut whole_ns) = (0.0, 0.0);
    for (part, whole) in records.iter().filter_map(times) {
        part_ns += part as f64;
        whole_ns += whole as f64;
    }
    (whole_ns > 0.0).then(|| part_ns / whole_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Trial;

    #[test]
    fn costs_are_medians_and_shares_of_sums() {
        let mut records: Vec<Record> =
            (0..3).map(|block| Trial::new(block).foreign(500).record()).collect();
        records[0].harness_ns = Some(3_000);
        records[1].harness_ns = None;
        records[2].measuring_ns = Some(3_000);
        records[2].runner_cpu_ns = Some(90);
        records[1].machine.foreign_cpu_ns = None;
        let harness = harness(&records);
        assert_eq!(harness.trials, 3);
        assert_eq!(harness.spawn_to_ready_ns, Some(2_000));
        // 5000 in all less 1000, 1000 and 3000 of measuring.
        assert_eq!(harness.outside_ns, Some(4_000));
        assert!((harness.runner_cpu_share.unwrap() - 110.0 / 5_000.0).abs() < 1e-12);
        assert!((harness.foreign_cpu_share.unwrap() - 1_000.0 / 10_000.0).abs() < 1e-12);
        assert_eq!(super::harness(&[]), Harness::default());
    }
}
