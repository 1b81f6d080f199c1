//! A load over time: slices of equal length, whose number is bounded however long it lasts.

use super::survival::{self, Counted, Counts};
use super::{LIVE_NS, Noted, Times};
use hdrhistogram::Histogram;
use model::{LoadPlan, LoadSlice, LoadStall};
use sys::Pid;
use sys::clock::process_cpu_ns_of;

/// The most slices; where there are more, each two become one.
const SLICES_MAX: usize = 128;

/// How long a slice may be at first, in ns: the first that divides the time into at most [`SLICES`], or
/// the last.
const LENGTHS_NS: [u64; 5] = [50_000_000, 100_000_000, 200_000_000, 500_000_000, 1_000_000_000];
const SLICES: u64 = 100;

/// Over what time of the past a live percentile is formed, in ns, and how many looks it stands for: it
/// takes longer than a look.
const RECENT_NS: u64 = 500_000_000;
const LOOKS_PER_RECENT: u64 = 5;

/// In a shorter stall than this number of looks, the server's CPU time is unknown.
const LOOKS_PER_STALL: u64 = 3;

/// A slice with its times.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    /// In numbers.
    pub seen: LoadSlice,
    /// From due to answered.
    pub response: Counted,
    /// From due to answered, of answers with a status of 400 or above alone.
    pub refused: Counted,
    /// From sent to answered.
    pub service: Counted,
    /// From due to sent.
    pub lateness: Counted,
    /// From due to answered, without the generator's own lateness.
    pub punctual: Counted,
    /// Open connections of each thread at the end; `None` of one that had nothing to do.
    pub connections: Vec<Option<u32>>,
    /// The sum of requests in flight at some moments, and the number of moments.
    pub in_flight: (u64, u64),
}

/// What a thread did in a slice.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) thread: u32,
    /// The end of the slice, in ns after the start.
    pub(super) until_ns: u64,
    /// What belongs to response, service and punctual alike, and how many requests were sent without lateness.
    pub(super) prompt: Times,
    pub(super) prompt_sent: u64,
    pub(super) response: Times,
    pub(super) refused: Times,
    pub(super) service: Times,
    pub(super) lateness: Times,
    pub(super) punctual: Times,
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    pub(super) connections: u32,
    pub(super) cpu_ns: u64,
    pub(super) noted: Vec<Noted>,
}

/// The slices so far.
#[derive(Debug)]
pub(super) struct Series {
    length_ns: u64,
    /// When the time ends, in ns after the start.
    end_ns: u64,
    slices: Vec<Slice>,
    server: Server,
    /// When the server was looked at, in ns after the start, and its CPU time by then, in ns.
    server_looks: Vec<(u64, u64)>,
    looks: u64,
    recent: [Option<u64>; 2],
}

/// The processes that have the server's listening socket open, when they were last looked at, and the
/// CPU time that they had by then, in ns.
#[derive(Debug, Default)]
struct Server {
    pids: Vec<Pid>,
    at_ns: u64,
    cpu_ns: Option<u64>,
}

impl Server {
    fn cpu_ns(&self) -> Option<u64> {
        let all: Option<Vec<u64>> = self.pids.iter().map(|pid| process_cpu_ns_of(*pid)).collect();
        all.filter(|all| !all.is_empty()).map(|all| all.iter().sum())
    }
}

/// Returns how long the slices of a load are at first, in ns.
pub(super) fn length_ns(plan: &LoadPlan) -> u64 {
    let Some(duration_ms) = plan.duration_ms else { return LENGTHS_NS[0] };
    let duration_ns = duration_ms.saturating_mul(1_000_000);
    let fits = LENGTHS_NS.into_iter().find(|length_ns| duration_ns / length_ns <= SLICES);
    fits.unwrap_or(LENGTHS_NS[LENGTHS_NS.len() - 1])
}

impl Series {
    /// Begins the series of a load on a server whose processes are known.
    pub(super) fn new(plan: &LoadPlan, pids: Vec<Pid>) -> Self {
        let end_ns = plan.duration_ms.map_or(u64::MAX, |ms| ms.saturating_mul(1_000_000));
        let mut server = Server { pids, ..Server::default() };
        server.cpu_ns = server.cpu_ns();
        let length_ns = length_ns(plan);
        let server_looks = server.cpu_ns.map(|cpu_ns| (0, cpu_ns)).into_iter().collect();
        Self {
            length_ns,
            end_ns,
            slices: Vec::new(),
            server,
            server_looks,
            looks: 0,
            recent: [None; 2],
        }
    }

    /// Returns the slice of a moment, in ns after the start. What comes after the end belongs to the
    /// last.
    fn at(&mut self, at_ns: u64) -> &mut Slice {
        let at_ns = at_ns.min(self.end_ns - 1);
        while at_ns / self.length_ns >= SLICES_MAX as u64 {
            self.length_ns *= 2;
            let all = std::mem::take(&mut self.slices);
            let mut all = all.into_iter();
            while let Some(mut slice) = all.next() {
                all.next().into_iter().for_each(|next| slice.add(next));
                self.slices.push(slice);
            }
        }
        let index = (at_ns / self.length_ns) as usize;
        if self.slices.len() <= index {
            self.slices.resize_with(index + 1, Slice::default);
        }
        &mut self.slices[index]
    }

    /// Adds what a thread did in a slice, and returns the requests that it noted.
    pub(super) fn add(&mut self, piece: Piece) -> Vec<Noted> {
        let mut connections = vec![None; piece.thread as usize + 1];
        connections[piece.thread as usize] = Some(piece.connections);
        let prompt = Counted::of(&piece.prompt);
        let with_prompt = |times: &Times| {
            let mut all = Counted::of(times);
            all.add(&prompt);
            all
        };
        let mut lateness = Counted::of(&piece.lateness);
        survival::add(
            &mut lateness.known,
            &vec![(0, piece.prompt_sent); usize::from(piece.prompt_sent > 0)],
        );
        let slice = Slice {
            seen: LoadSlice {
                succeeded: piece.succeeded,
                failed: piece.failed,
                generator_cpu_ns: piece.cpu_ns,
                ..LoadSlice::default()
            },
            response: with_prompt(&piece.response),
            refused: Counted::of(&piece.refused),
            service: with_prompt(&piece.service),
            lateness,
            punctual: with_prompt(&piece.punctual),
            connections,
            in_flight: (0, 0),
        };
        self.at(piece.until_ns - 1).add(slice);
        piece.noted
    }

    /// Looks at the server, and notes how many requests are in flight at a moment.
    pub(super) fn look(&mut self, now_ns: u64, in_flight: u64) {
        let slice = self.at(now_ns);
        slice.in_flight = (slice.in_flight.0 + in_flight, slice.in_flight.1 + 1);
        let Some((before_ns, cpu_ns)) = self.server.cpu_ns.zip(self.server.cpu_ns()) else {
            return;
        };
        self.server_looks.push((now_ns, cpu_ns));
        let (mut from_ns, until_ns) = (self.server.at_ns, now_ns.min(self.end_ns));
        let per_ns = cpu_ns.saturating_sub(before_ns) as f64 / (until_ns - from_ns).max(1) as f64;
        // What it used lies somewhere between the two looks.
        while from_ns < until_ns {
            let slice_until_ns = (from_ns / self.length_ns + 1) * self.length_ns;
            let part_ns = slice_until_ns.min(until_ns) - from_ns;
            let sum = &mut self.at(from_ns).seen.server_cpu_ns;
            *sum = Some(sum.unwrap_or(0) + (per_ns * part_ns as f64) as u64);
            from_ns += part_ns;
        }
        (self.server.at_ns, self.server.cpu_ns) = (until_ns, Some(cpu_ns));
    }

    /// Adds the CPU time of the server to stalls that are long enough for it to be known.
    pub(super) fn mark(&self, stalls: &mut [LoadStall]) {
        // What it used lies somewhere between two looks.
        let by = |at_ns: u64| {
            let next = self.server_looks.partition_point(|(look_ns, _)| *look_ns < at_ns);
            let ((a, before), (b, after)) =
                self.server_looks.get(next.checked_sub(1)?).zip(self.server_looks.get(next))?;
            Some(before + (after - before) * (at_ns - a) / (b - a).max(1))
        };
        for stall in stalls {
            if stall.until_ns - stall.from_ns >= LOOKS_PER_STALL * LIVE_NS {
                let cpu = by(stall.until_ns).zip(by(stall.from_ns.max(1)));
                stall.server_cpu_ns = cpu.map(|(until, from)| until.saturating_sub(from));
            }
        }
    }

    /// Returns the median and the 95th percentile of the latest response times, in ns.
    pub(super) fn recent(&mut self) -> [Option<u64>; 2] {
        self.looks += 1;
        if self.looks.is_multiple_of(LOOKS_PER_RECENT) {
            let slices = (RECENT_NS / self.length_ns).max(1) as usize;
            let mut recent = Counted::default();
            self.slices.iter().rev().take(slices).for_each(|slice| recent.add(&slice.response));
            let found = survival::percentiles(&recent, &[50.0, 95.0]);
            self.recent = [found[0].ns, found[1].ns];
        }
        self.recent
    }

    /// Returns the slices of a load that took `elapsed_ns`.
    pub(super) fn end(mut self, elapsed_ns: u64) -> Vec<Slice> {
        let mut open: Vec<u32> = Vec::new();
        for (index, slice) in self.slices.iter_mut().enumerate() {
            let from_ns = index as u64 * self.length_ns;
            // A thread that does nothing opens and closes nothing.
            open.resize(open.len().max(slice.connections.len()), 0);
            for (open, found) in open.iter_mut().zip(&slice.connections) {
                *open = found.unwrap_or(*open);
            }
            let p99_of = |times: &Counted| survival::percentiles(times, &[99.0])[0].ns;
            let found = survival::percentiles(&slice.response, &[50.0, 95.0, 99.0]);
            slice.seen = LoadSlice {
                from_ns,
                until_ns: (from_ns + self.length_ns).min(elapsed_ns.max(from_ns + 1)),
                p50_ns: found[0].ns,
                p95_ns: found[1].ns,
                p99_ns: found[2].ns,
                late_p99_ns: p99_of(&slice.lateness),
                connections: open.iter().sum(),
                ..slice.seen.clone()
            };
        }
        self.slices
    }
}

impl Slice {
    /// Returns the response times of answers with a status below 400, by value.
    #[must_use]
    pub fn succeeded(&self) -> Counts {
        let mut times = self.response.known.clone();
        for (ns, refused) in &self.refused.known {
            if let Ok(index) = times.binary_search_by_key(ns, |(ns, _)| *ns) {
                times[index].1 = times[index].1.saturating_sub(*refused);
            }
        }
        times.retain(|(_, count)| *count > 0);
        times
    }

    /// Adds a slice that follows, or that another thread did.
    fn add(&mut self, other: Slice) {
        self.seen.succeeded += other.seen.succeeded;
        self.seen.failed += other.seen.failed;
        self.seen.generator_cpu_ns += other.seen.generator_cpu_ns;
        self.seen.server_cpu_ns = match (self.seen.server_cpu_ns, other.seen.server_cpu_ns) {
            (Some(sum), Some(part)) => Some(sum + part),
            (sum, part) => sum.or(part),
        };
        self.response.add(&other.response);
        self.refused.add(&other.refused);
        self.service.add(&other.service);
        self.lateness.add(&other.lateness);
        self.punctual.add(&other.punctual);
        let threads = self.connections.len().max(other.connections.len());
        self.connections.resize(threads, None);
        for (sum, part) in self.connections.iter_mut().zip(other.connections) {
            *sum = part.or(*sum);
        }
        self.in_flight.0 += other.in_flight.0;
        self.in_flight.1 += other.in_flight.1;
    }
}

/// Returns the times of all slices: response, service, lateness, and response without the generator's
/// own lateness.
pub(super) fn totals(slices: &[Slice]) -> [Times; 4] {
    let of = |which: fn(&Slice) -> &Counted| {
        let mut times = Times::default();
        for slice in slices {
            let Counted { known, censored } = which(slice);
            known.iter().for_each(|(ns, count)| record(&mut times.known, *ns, *count));
            censored.iter().for_each(|(ns, count)| record(&mut times.censored, *ns, *count));
        }
        times
    };
    [of(|it| &it.response), of(|it| &it.service), of(|it| &it.lateness), of(|it| &it.punctual)]
}

/// Returns the response times of answers with a status below 400; `None` where all had one.
pub(super) fn succeeded(slices: &[Slice]) -> Option<Times> {
    slices.iter().find(|slice| !slice.refused.known.is_empty())?;
    let mut times = Times::default();
    for (ns, count) in slices.iter().flat_map(Slice::succeeded) {
        record(&mut times.known, ns, count);
    }
    Some(times)
}

/// Records a time several times. A histogram that resizes itself takes any.
fn record(histogram: &mut Histogram<u64>, ns: u64, count: u64) {
    if histogram.record_n(ns, count).is_err() {
        histogram.saturating_record_n(ns, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(until_ms: u64, thread: u32, ns: &[u64]) -> Piece {
        let mut response = Times::default();
        ns.iter().for_each(|ns| response.known.record(*ns).unwrap());
        Piece {
            thread,
            until_ns: until_ms * 1_000_000,
            prompt: Times::default(),
            prompt_sent: 0,
            refused: Times::default(),
            service: response.clone(),
            lateness: Times::default(),
            punctual: response.clone(),
            response,
            succeeded: ns.len() as u64,
            failed: 1,
            connections: 3,
            cpu_ns: 7,
            noted: Vec::new(),
        }
    }

    fn plan(duration_ms: Option<u64>) -> LoadPlan {
        LoadPlan { duration_ms, ..crate::load::tests::any_plan() }
    }

    #[test]
    fn slices_are_short_in_a_short_load_and_a_second_in_a_long_one() {
        let of = |ms| length_ns(&plan(Some(ms))) / 1_000_000;
        assert_eq!([of(300), of(2_000), of(10_000), of(60_000)], [50, 50, 100, 1000]);
        assert_eq!((of(86_400_000), length_ns(&plan(None)) / 1_000_000), (1000, 50));
    }

    #[test]
    fn threads_are_summed_and_what_comes_after_the_end_is_in_the_last_slice() {
        let mut series = Series::new(&plan(Some(250)), Vec::new());
        for (until_ms, thread) in [(50, 0), (50, 1), (100, 0), (250, 0), (400, 1)] {
            series.add(piece(until_ms, thread, &[1_000, 2_000]));
        }
        series.look(40_000_000, 4);
        series.look(390_000_000, 2);
        let slices = series.end(250_000_000);
        let seen: Vec<&LoadSlice> = slices.iter().map(|slice| &slice.seen).collect();
        assert_eq!(seen.len(), 5);
        assert_eq!(seen.iter().map(|it| it.succeeded).collect::<Vec<_>>(), [4, 2, 0, 0, 4]);
        // A thread that had nothing to do keeps its connections.
        assert!(seen.iter().all(|it| it.connections == 6), "{seen:?}");
        assert_eq!((seen[4].from_ns, seen[4].until_ns), (200_000_000, 250_000_000));
        assert_eq!((seen[0].p50_ns, seen[2].p50_ns), (Some(1_000), None));
        assert_eq!((slices[0].in_flight, slices[4].in_flight), ((4, 1), (2, 1)));
        let [response, ..] = totals(&slices);
        assert_eq!((response.known.len(), response.known.max()), (10, 2_000));
    }

    #[test]
    fn a_long_load_has_no_more_slices_than_a_short_one() {
        let mut series = Series::new(&plan(None), Vec::new());
        let pieces = 10_000;
        for index in 1..=pieces {
            series.add(piece(index * 50, 0, &[index, 5_000]));
        }
        let slices = series.end(pieces * 50_000_000);
        assert!((SLICES_MAX / 2..=SLICES_MAX).contains(&slices.len()), "{}", slices.len());
        assert_eq!(slices.iter().map(|it| it.seen.succeeded).sum::<u64>(), 2 * pieces);
        let lengths = slices.iter().map(|it| it.seen.until_ns - it.seen.from_ns);
        assert!(lengths.take(slices.len() - 1).all(|ns| ns == slices[0].seen.until_ns));
        assert!(slices[0].response.known.is_sorted());
        let of_5_us = slices[0].response.known.iter().find(|(ns, _)| *ns >= 5_000);
        assert!(of_5_us.is_some_and(|(_, n)| *n >= 64), "{of_5_us:?}");
    }
}
