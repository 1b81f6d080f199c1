//! Whether a load stays within a limit: a test of the share of its requests that lie beyond.
//!
//! A percentile is within a limit if at most a certain share of the requests takes longer. Wald's
//! sequential probability ratio (*Sequential tests of statistical hypotheses*, Annals of Mathematical
//! Statistics 16, 1945) tells a share of half of that from one of twice, whatever the number of requests
//! at which it is looked at; between the two it decides nothing that is not plain. Requests that depend on
//! each other count as fewer, by the design effect that their slices of the time show.

use super::intervals::{Scatter, TimeSlice, count, failures, plus};
use crate::stats::tail::binomial_at_least;
use model::Expected;

/// How often a share of half, or of twice, what is allowed is taken for the other.
const ERROR: f64 = 0.02;

/// Independent requests that make one where a load is too short to show how they gather.
const EFFECT_UNKNOWN: f64 = 1.5;

/// Where every time is far below the limit, a request says more of it: of times with a tail as heavy
/// as 1/x, twice as many exceed half the limit. At most by this factor, and by the number of requests.
const FAR: f64 = 100.0;

/// What a load says of a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// Whether at most the allowed share lies beyond.
    pub within: Expected,
    /// About how many requests of the same kind would decide it; `None` where it is decided, or the share is
    /// too near to what is allowed.
    pub requests: Option<u64>,
}

/// Judges whether at most the share `allowed` of the requests takes longer than a limit. `None` where no
/// request says anything of it.
pub fn load_within(slices: &[TimeSlice<'_>], limit_ns: f64, allowed: f64) -> Option<Judged> {
    let above = |times: &[(u64, u64)]| {
        count(&times[times.partition_point(|(ns, _)| *ns as f64 <= limit_ns)..])
    };
    // One that was given up before the limit says nothing of it.
    let part = |slice: &TimeSlice<'_>| {
        let given_up = above(slice.censored);
        (above(slice.known) + given_up, count(slice.known) + given_up)
    };
    let longest = slices.iter().flat_map(|slice| slice.known).map(|(ns, _)| *ns).max()?;
    let far = (limit_ns / (longest.max(1) as f64)).clamp(1.0, FAR);
    judge(slices, part, allowed, far)
}

/// Judges whether at most the share `allowed` of the requests ends without success. `None` where none ended.
pub fn load_errors_within(slices: &[TimeSlice<'_>], allowed: f64) -> Option<Judged> {
    judge(slices, failures, allowed, 1.0)
}

fn judge(
    slices: &[TimeSlice<'_>],
    part: impl Fn(&TimeSlice<'_>) -> (f64, f64),
    allowed: f64,
    far: f64,
) -> Option<Judged> {
    let (beyond, all) = slices.iter().map(&part).fold((0.0, 0.0), plus);
    if all == 0.0 || allowed <= 0.0 || allowed >= 1.0 {
        return None;
    }
    let effect = match Scatter::of(slices, &part) {
        // None, or all: nothing shows how such requests would gather.
        _ if beyond == 0.0 || beyond == all => 1.0,
        Some(scatter) => (all / scatter.draws(all)).max(1.0),
        None => EFFECT_UNKNOWN,
    };
    let (half, twice) = (allowed / 2.0, (2.0 * allowed).min(f64::midpoint(1.0, allowed)));
    let share = beyond / all;
    let by_request =
        share * (half / twice).ln() + (1.0 - share) * ((1.0 - half) / (1.0 - twice)).ln();
    let worth = if beyond == 0.0 { far.min(all) } else { 1.0 } / effect;
    let (evidence, enough) = (by_request * worth * all, ((1.0 - ERROR) / ERROR).ln());
    // Slices with such a request, each counted once, leave nothing of how they gather.
    let slices_beyond = slices.iter().filter(|slice| part(slice).0 > 0.0).count();
    let is_plain =
        share > allowed && binomial_at_least(slices_beyond as f64, all, allowed) <= ERROR / 2.0;
    let within = match evidence {
        _ if is_plain => Expected::NotMet,
        // Neither is said against the number that is shown.
        evidence if evidence >= enough && share <= allowed => Expected::Met,
        evidence if evidence <= -enough && share >= allowed => Expected::NotMet,
        _ => Expected::Undecided,
    };
    let needed = (enough / (by_request.abs() * worth)).ceil();
    let is_told = within == Expected::Undecided && needed > all && needed <= FAR * all;
    Some(Judged { within, requests: is_told.then_some(needed as u64) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn slice(known: &[(u64, u64)]) -> TimeSlice<'_> {
        TimeSlice { seconds: 1.0, known, censored: &[], succeeded: 0, late: 0, failed: 0 }
    }

    #[test]
    fn what_is_plain_is_decided_at_once() {
        let fast = [(5_000_000, 40), (8_000_000, 40)];
        let of = |limit, allowed| load_within(&[slice(&fast)], limit, allowed).unwrap().within;
        assert_eq!(of(1e9, 0.05), Expected::Met);
        assert_eq!(of(1e6, 0.05), Expected::NotMet);
        assert_eq!(of(6e6, 0.5), Expected::Undecided);
        let refused = TimeSlice { succeeded: 143, failed: 357, ..slice(&[]) };
        let judged = load_errors_within(&[refused], 0.01);
        assert_eq!(judged.map(|it| it.within), Some(Expected::NotMet));
        assert_eq!(load_errors_within(&[slice(&[])], 0.01), None);
    }

    #[test]
    fn what_is_open_names_the_requests_that_decide_it() {
        let few = TimeSlice { succeeded: 100, ..slice(&[]) };
        let judged = load_errors_within(&[few], 0.01).unwrap();
        assert_eq!(judged.within, Expected::Undecided);
        let requests = judged.requests.unwrap();
        let more = TimeSlice { succeeded: requests, ..few };
        assert_eq!(load_errors_within(&[more], 0.01).unwrap().within, Expected::Met);
        // Where shares of half and of twice as much explain it alike, no number is in reach.
        let near = TimeSlice { succeeded: 9_892, failed: 108, ..few };
        let near = load_errors_within(&[near], 0.01).unwrap();
        assert_eq!(near.within, Expected::Undecided);
        assert!(near.requests.is_none_or(|requests| requests > 50_000), "{near:?}");
    }

    /// Loads of 20 slices whose shares of failures gather in slices: a share of half or of twice
    /// what is allowed is hardly ever taken for the other.
    #[test]
    fn gathered_failures_count_as_fewer() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let (mut wrong, mut decided) = (0, 0);
        for load in 0..1_000 {
            let (share, right) =
                if load % 2 == 0 { (0.01, Expected::Met) } else { (0.04, Expected::NotMet) };
            let slices: Vec<TimeSlice<'_>> = (0..20)
                .map(|_| {
                    let here = share * if random.random_bool(0.5) { 0.5 } else { 1.5 };
                    let failed = (0..100).filter(|_| random.random_bool(here)).count() as u64;
                    TimeSlice { succeeded: 100 - failed, failed, ..slice(&[]) }
                })
                .collect();
            let within = load_errors_within(&slices, 0.02).unwrap().within;
            wrong += usize::from(within != right && within != Expected::Undecided);
            decided += usize::from(within == right);
        }
        assert!(wrong <= 20 && decided >= 800, "{wrong} wrong, {decided} decided");
    }
}
