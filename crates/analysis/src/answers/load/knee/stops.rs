//! The times in which a server does nothing though requests are there: a garbage collection, a checkpoint, a
//! quota of CPU time that is used up.
//!
//! Demands of single requests cannot say that all stand still at once. So stops are taken out of the clock, which
//! then shows the time that the server worked.

use super::simulated_queue::Trace;

/// A time without an answer is a stop if at least `LEAST` are as long, and by chance at most this part of them. There
/// is at most one for `ANSWERS_LEAST` answers: what is more frequent is how the server works.
const LEAST: usize = 3;
const BY_CHANCE: f64 = 0.1;
const ANSWERS_LEAST: usize = 200;

/// The lengths that are tried, from the longest time without an answer down, as a factor, and how many.
const SHORTER: f64 = 0.8;
const TRIED: usize = 20;

/// The stops of one trial.
#[derive(Clone, Debug, Default)]
pub(super) struct Stops {
    /// When each began, on the clock and in the time that it worked, and how long it lasted, in ns.
    all: Vec<(u64, u64, u64)>,
}

impl Stops {
    /// Takes stops that begin at some times, ascending, and do not overlap.
    pub(super) fn new(stops: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut before = 0;
        let each = |(at, length): (u64, u64)| {
            let worked = at - before;
            before += length;
            (at, worked, length)
        };
        Stops { all: stops.into_iter().map(each).collect() }
    }

    /// Returns the time that it worked until some time on the clock.
    pub(super) fn worked(&self, ns: u64) -> u64 {
        let begun = self.all.partition_point(|stop| stop.0 < ns);
        let Some((at, worked, length)) = begun.checked_sub(1).map(|last| self.all[last]) else {
            return ns;
        };
        worked + (ns - at).saturating_sub(length)
    }

    /// Returns the time on the clock when it has worked for some time.
    pub(super) fn clock(&self, worked_ns: u64) -> u64 {
        let begun = self.all.partition_point(|stop| stop.1 < worked_ns);
        let Some((at, worked, length)) = begun.checked_sub(1).map(|last| self.all[last]) else {
            return worked_ns;
        };
        at + length + (worked_ns - worked)
    }

    /// Returns for how long it worked before each, since the one before, and how long each lasted; `rest_ns` is
    /// carried from the trial before to the next, which lasts until `end_ns`.
    pub(super) fn spells(&self, rest_ns: &mut u64, end_ns: u64) -> Vec<(u64, u64)> {
        let mut before = 0;
        let each = |(_, worked, length): &(u64, u64, u64)| {
            let spell = worked - before + std::mem::take(rest_ns);
            before = *worked;
            (spell, *length)
        };
        let spells = self.all.iter().map(each).collect();
        *rest_ns += self.worked(end_ns).saturating_sub(before);
        spells
    }
}

/// Returns the times without an answer while requests were there: when each began, and its length.
pub(super) fn gaps(due_ns: &[u64], done_ns: &[Option<u64>]) -> Vec<(u64, u64)> {
    let answered = due_ns.iter().zip(done_ns).filter_map(|(due, done)| Some((*due, (*done)?)));
    let mut events: Vec<(u64, bool)> =
        answered.flat_map(|(due, done)| [(due, false), (done.max(due), true)]).collect();
    events.sort_unstable();
    let (mut present, mut since, mut gaps) = (0_u32, 0, Vec::new());
    for (at, is_end) in events {
        if is_end {
            gaps.push((since, at - since));
            present -= 1;
            since = at;
        } else {
            since = if present == 0 { at } else { since };
            present += 1;
        }
    }
    gaps
}

/// Returns the stops of each trial, if a server without stops would make such times without an answer as in
/// `shuffled`. Empty where there are none.
pub(super) fn found(traces: &[&Trace], shuffled: &[Vec<u64>]) -> Vec<Stops> {
    let gaps: Vec<Vec<(u64, u64)>> =
        traces.iter().map(|it| gaps(&it.due_ns, &it.done_ns)).collect();
    let lengths = || gaps.iter().flatten().map(|gap| gap.1);
    let Some(longest) = lengths().max() else { return Vec::new() };
    let is_stop = |least: &u64| {
        let count = lengths().filter(|ns| ns >= least).count();
        let chance = shuffled.iter().flatten().filter(|ns| *ns >= least).count() as f64;
        count >= LEAST && chance <= BY_CHANCE * (count * shuffled.len()) as f64
    };
    let tried = (0..TRIED as i32).map(|times| (longest as f64 * SHORTER.powi(times)) as u64);
    let Some(least) = tried.filter(is_stop).min() else { return Vec::new() };
    if lengths().filter(|ns| *ns >= least).count() * ANSWERS_LEAST > lengths().count() {
        return Vec::new();
    }
    // A stop begins somewhere in a time without an answer as there are others.
    let others = || lengths().filter(|ns| *ns < least).map(|ns| ns as f64);
    let around = others().map(|ns| ns * ns).sum::<f64>() / others().sum::<f64>().max(1.0);
    let around = (around as u64).min(least);
    let stop =
        |(at, length): &(u64, u64)| (*length >= least).then(|| (at + around / 2, length - around));
    gaps.iter().map(|of| Stops::new(of.iter().filter_map(stop))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_and_clock_are_each_others_inverse_outside_of_stops() {
        let stops = Stops::new([(10, 5), (40, 20)]);
        for (clock, worked) in [(0, 0), (10, 10), (12, 10), (15, 10), (16, 11), (40, 35), (61, 36)]
        {
            assert_eq!(stops.worked(clock), worked, "{clock}");
        }
        for (worked, clock) in [(0, 0), (10, 10), (11, 16), (35, 40), (36, 61)] {
            assert_eq!(stops.clock(worked), clock, "{worked}");
        }
        let mut rest = 7;
        assert_eq!(stops.spells(&mut rest, 100), [(17, 5), (25, 20)]);
        assert_eq!(rest, 40);
    }

    #[test]
    fn a_gap_is_a_time_with_requests_and_without_an_answer() {
        let (due, done) = ([0, 5, 100, 200], [Some(10), Some(30), Some(101), None]);
        assert_eq!(gaps(&due, &done), [(0, 10), (10, 20), (100, 1)]);
    }

    #[test]
    fn only_gaps_that_chance_does_not_make_are_stops() {
        let due_ns: Vec<u64> = (0..10_000).map(|n| n * 10).collect();
        // Each hundredth of a part of them is answered with those before it.
        let is_late = |n: u64| n < 10_000 && !n.is_multiple_of(1_000);
        let done = |n: &u64| Some(n + if is_late(*n) { 1_000 - n % 1_000 } else { 10 });
        let done_ns: Vec<Option<u64>> = due_ns.iter().map(done).collect();
        let trace = Trace { per_s: 1.0, counted: 0..10_000, late: 0, due_ns, done_ns };
        let ordinary = vec![vec![10; 1_000]; 20];
        let of = found(&[&trace], &ordinary);
        assert_eq!(of[0].all.len(), 10, "{of:?}");
        let long = vec![vec![1_000; 5]; 20];
        assert!(found(&[&trace], &long).is_empty());
        assert!(found(&[], &ordinary).is_empty());
    }
}
