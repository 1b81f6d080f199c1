//! Well-known causes of long response times that a load gives evidence for.

use model::{LateEnds, LoadPathology, LoadResult, LoadStall};

/// A stall of all connections is at least this many times as long as the median service time.
const STALL_MEDIANS: u64 = 5;

/// At least this number of requests wait in it.
const WAITING_LEAST: u32 = 4;

/// At least this share of them is answered soon after it: had they only been slow, they would end one by
/// one.
const RELEASED_SHARE: f64 = 0.8;

/// Delayed acknowledgements are named if at least this share of the answers ended late.
const LATE_ENDS_SHARE: f64 = 0.05;

/// Of at least this number of answers whose first part was acknowledged at once, at most this share may end
/// late nonetheless.
const HURRIED_LEAST: u64 = 5;
const HURRIED_LATE_SHARE: f64 = 0.2;

/// Returns the causes that a load gives evidence for.
pub fn load_pathologies(result: &LoadResult) -> Vec<LoadPathology> {
    let delayed = delayed_ack(result.late_ends, result.counts.answered);
    let median_ns = result.service.at(50.0);
    let stalled = median_ns.and_then(|median_ns| all_stalled(&result.stalls, median_ns));
    delayed.into_iter().chain(stalled).collect()
}

/// Returns delayed acknowledgements. That answers end 40 ms after they begin is not enough: the server may
/// sleep. That they do not where their first part is acknowledged at once is the other half of the evidence.
fn delayed_ack(ends: LateEnds, answered: u64) -> Option<LoadPathology> {
    let many = ends.count as f64 >= LATE_ENDS_SHARE * answered as f64;
    let cured = ends.hurried_late as f64 <= HURRIED_LATE_SHARE * ends.hurried as f64;
    (many && cured && ends.hurried >= HURRIED_LEAST).then_some(LoadPathology::DelayedAck(ends))
}

fn all_stalled(stalls: &[LoadStall], median_ns: u64) -> Option<LoadPathology> {
    let length_ns = |stall: &LoadStall| stall.until_ns.saturating_sub(stall.from_ns);
    let is_one = |stall: &&LoadStall| {
        length_ns(stall) >= STALL_MEDIANS * median_ns
            && stall.waiting >= WAITING_LEAST
            && f64::from(stall.released) >= RELEASED_SHARE * f64::from(stall.waiting)
    };
    let stalls: Vec<&LoadStall> = stalls.iter().filter(is_one).collect();
    let longest = stalls.iter().max_by_key(|stall| length_ns(stall))?;
    let known = stalls.iter().filter_map(|stall| Some((stall.server_cpu_ns?, length_ns(stall))));
    let (cpu_ns, ns) = known.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    Some(LoadPathology::AllStalled {
        times: stalls.len() as u32,
        longest_ns: length_ns(longest),
        total_ns: stalls.iter().map(|stall| length_ns(stall)).sum(),
        waiting: longest.waiting,
        server_cpus: (ns > 0).then(|| cpu_ns as f64 / ns as f64),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn stall(ms: u64, waiting: u32, released: u32, server_cpu_ms: Option<u64>) -> LoadStall {
        let server_cpu_ns = server_cpu_ms.map(|ms| ms * MS);
        LoadStall { from_ns: MS, until_ns: (1 + ms) * MS, waiting, released, server_cpu_ns }
    }

    #[test]
    fn requests_that_wait_together_and_go_on_together_were_stalled() {
        let stalls = [
            stall(400, 50, 48, Some(396)),
            stall(600, 40, 40, Some(594)),
            stall(200, 16, 16, None),
            // Three requests that are slow; many that end one after the other; a time that is short
            // compared with that of an answer.
            stall(500, 3, 3, None),
            stall(500, 50, 1, None),
            stall(24, 50, 50, None),
        ];
        let expected = LoadPathology::AllStalled {
            times: 3,
            longest_ns: 600 * MS,
            total_ns: 1200 * MS,
            waiting: 40,
            server_cpus: Some(0.99),
        };
        assert_eq!(all_stalled(&stalls, 5 * MS), Some(expected));
        assert_eq!(all_stalled(&stalls[3..], 5 * MS), None);
    }

    #[test]
    fn a_late_end_is_a_delayed_acknowledgement_only_if_a_prompt_one_cures_it() {
        let of = |count, hurried, hurried_late| {
            delayed_ack(LateEnds { count, hurried, hurried_late }, 1_000)
        };
        assert!(of(100, 10, 1).is_some());
        assert_eq!(of(100, 10, 9), None, "the server slept");
        assert_eq!(of(100, 0, 0), None, "it was not tried");
        assert_eq!(of(10, 10, 0), None, "one answer in a hundred");
    }
}
