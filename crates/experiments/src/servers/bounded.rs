//! What a bounded queue makes of a load: requests that it refuses are answered at once, and must not pass for
//! fast ones.

use kit::model::{LoadPercentile, LoadPlan, LoadTimes};
use web::load::{End, Error, Noted, Outcome};

/// The percentiles that a trial records.
const PERCENTS: [f64; 3] = [50.0, 75.0, 99.0];

/// The status of a refused request.
pub(super) const REFUSED: u16 = 503;

/// Carries out a load whose times are those of the requests that were served.
pub(super) fn run(load: &LoadPlan) -> Result<Outcome, Error> {
    let (mut outcome, noted) = web::load::run_noting(load, b"", &mut |_| true)?;
    outcome.result.response = times(&noted, |one| Some(one.due_ns));
    outcome.result.service = times(&noted, |one| one.sent_ns);
    Ok(outcome)
}

/// The percentiles of the times that served requests took from some moment to their answer.
fn times(noted: &[Noted], from_ns: impl Fn(&Noted) -> Option<u64>) -> LoadTimes {
    let is_served = |one: &&Noted| matches!(one.end, End::Status(status) if status < 400);
    let mut took: Vec<u64> = noted
        .iter()
        .filter(is_served)
        .filter_map(|one| one.done_ns?.checked_sub(from_ns(one)?))
        .collect();
    took.sort_unstable();
    // The nearest rank: the first time that this share of all did not exceed.
    let rank = |percent: f64| (percent / 100.0 * took.len() as f64).ceil() as usize;
    let at = |percent| LoadPercentile {
        percent,
        ns: rank(percent).checked_sub(1).and_then(|index| took.get(index)).copied(),
    };
    LoadTimes {
        count: took.len() as u64,
        percentiles: PERCENTS.map(at).to_vec(),
        ..LoadTimes::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_and_unanswered_requests_have_no_part_in_the_times() {
        let one = |due_ns, done_ns, end| Noted {
            due_ns,
            sent_ns: Some(due_ns + 5),
            done_ns,
            ended_ns: due_ns + 1000,
            connection: Some(0),
            end,
        };
        let served = (1..=200).map(|ns| one(ns, Some(2 * ns + 5), End::Status(200)));
        let refused = (0..999).map(|_| one(7, Some(8), End::Status(REFUSED)));
        let lost = (0..999).map(|_| one(7, None, End::InFlight));
        let noted: Vec<Noted> = served.chain(refused).chain(lost).collect();
        let from_due = times(&noted, |one| Some(one.due_ns));
        assert_eq!(PERCENTS.map(|at| from_due.at(at)), [Some(105), Some(155), Some(203)]);
        assert_eq!(times(&noted, |one| one.sent_ns).at(50.0), Some(100));
        assert_eq!(times(&[], |one| one.sent_ns).at(50.0), None);
    }
}
