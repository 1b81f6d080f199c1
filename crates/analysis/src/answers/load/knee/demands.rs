//! What each request asked of a server, as its answer shows it.
//!
//! A model of the server says when it began with a request: a pool of K workers when fewer than K of the
//! earlier ones were left, shared CPUs at once. What the server did from then until the answer is the
//! request's demand. The recursion of Kiefer and Wolfowitz (*On the theory of queues with many servers*,
//! Transactions of the American Mathematical Society 78, 1955) is read backwards for that.

use super::simulated_queue::Trace;
use laws::station::{Demand, Station};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Who serves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Workers with one request each, in the order of coming.
    Pool(u32),
    /// CPUs that all requests share equally.
    Shared(u32),
}

/// What a request asked for, in ns, and whether it came when all were busy. `None` if it is not known.
pub(super) type Asked = Option<(f64, bool)>;

impl Kind {
    pub(super) fn station(self) -> Station {
        match self {
            Kind::Pool(workers) => Station::servers(workers),
            Kind::Shared(cpus) => Station::worker_each(cpus),
        }
    }

    pub(super) fn demand(self, ns: f64) -> Demand {
        let ns = ns.max(1.0) as u64;
        match self {
            Kind::Pool(_) => Demand { wait_ns: ns, cpu_ns: 0 },
            Kind::Shared(_) => Demand { wait_ns: 0, cpu_ns: ns },
        }
    }

    /// Returns how many requests are served at full speed.
    pub(super) fn servers(self) -> f64 {
        let (Kind::Pool(servers) | Kind::Shared(servers)) = self;
        f64::from(servers)
    }

    /// Returns what each request asked for, if each response takes a time outside of the server.
    pub(super) fn demands(self, trace: &Trace, outside_ns: f64) -> Vec<Asked> {
        let done = |(due, done): (&u64, &Option<u64>)| {
            done.map(|done| ((done as f64 - outside_ns) as u64).max(*due))
        };
        let done_ns: Vec<Option<u64>> = trace.due_ns.iter().zip(&trace.done_ns).map(done).collect();
        match self {
            Kind::Pool(workers) => pool(workers as usize, &trace.due_ns, &done_ns),
            Kind::Shared(cpus) => shared(f64::from(cpus), &trace.due_ns, &done_ns),
        }
    }
}

fn pool(workers: usize, due_ns: &[u64], done_ns: &[Option<u64>]) -> Vec<Asked> {
    // The latest ends of the earlier requests, as many as there are workers: the first of them frees one.
    let mut ends: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let each = |(due, done): (&u64, &Option<u64>)| {
        let free = if ends.len() < workers { 0 } else { ends.peek().map_or(0, |end| end.0) };
        ends.push(Reverse(done.unwrap_or(u64::MAX)));
        if ends.len() > workers {
            ends.pop();
        }
        let done = done.filter(|_| free < u64::MAX)?;
        Some((done.saturating_sub(free.max(*due)) as f64, free > *due))
    };
    due_ns.iter().zip(done_ns).map(each).collect()
}

fn shared(cpus: f64, due_ns: &[u64], done_ns: &[Option<u64>]) -> Vec<Asked> {
    let comes = due_ns.iter().enumerate().map(|(number, due)| (*due, false, number));
    let ends = done_ns.iter().enumerate();
    let ends = ends.filter_map(|(number, done)| Some(((*done)?, true, number)));
    let mut events: Vec<(u64, bool, usize)> = comes.chain(ends).collect();
    events.sort();
    // What one that was there all the time would have got.
    let (mut got, mut now, mut present) = (0.0, 0, 0.0);
    let mut begun = vec![(0.0, false); due_ns.len()];
    let mut demands = vec![None; due_ns.len()];
    for (at, is_end, number) in events {
        got += (at - now) as f64 * (cpus / f64::max(present, cpus));
        now = at;
        if is_end {
            present -= 1.0;
            demands[number] = Some((got - begun[number].0, begun[number].1));
        } else {
            begun[number] = (got, present >= cpus);
            present += 1.0;
        }
    }
    demands
}

#[cfg(test)]
mod tests {
    use super::*;
    use laws::station::{Request, open_all};

    #[test]
    fn the_answers_of_a_station_show_what_was_asked() {
        for kind in [Kind::Pool(1), Kind::Pool(3), Kind::Shared(1), Kind::Shared(2)] {
            let request = |number: u64| Request {
                at_ns: number * 700_000 + number * number % 999_983,
                connection: 0,
                demand: kind.demand((500_000 + number * 7_919 % 2_000_000) as f64),
            };
            let mut requests: Vec<Request> = (0..500).map(request).collect();
            requests.sort_by_key(|it| it.at_ns);
            let (visits, _) = open_all(&kind.station(), &requests).unwrap();
            let done = |outside: u64| {
                visits
                    .iter()
                    .map(move |it| Some(it.came_ns + it.response_ns()? + outside))
                    .collect()
            };
            let due_ns = requests.iter().map(|it| it.at_ns).collect();
            let trace =
                Trace { per_s: 1.0, due_ns, done_ns: done(9_000), counted: 0..500, late: 0 };
            for (request, found) in requests.iter().zip(kind.demands(&trace, 9_000.0)) {
                let asked = (request.demand.wait_ns + request.demand.cpu_ns) as f64;
                let found = found.unwrap().0;
                assert!((found - asked).abs() < 20.0, "{kind:?}: {found} of {asked}");
            }
        }
    }

    #[test]
    fn what_was_not_answered_is_not_known() {
        let trace = |done_ns| Trace {
            per_s: 1.0,
            due_ns: vec![0, 10, 20],
            done_ns,
            counted: 0..3,
            late: 0,
        };
        let found = Kind::Pool(1).demands(&trace(vec![Some(15), None, None]), 0.0);
        assert_eq!(found, [Some((15.0, false)), None, None]);
        let found = Kind::Shared(1).demands(&trace(vec![None, Some(30), Some(40)]), 0.0);
        assert_eq!(found[0], None);
        assert_eq!(
            Kind::Pool(2).demands(&trace(vec![None, Some(15), Some(40)]), 0.0)[2],
            Some((20.0, false))
        );
    }
}
