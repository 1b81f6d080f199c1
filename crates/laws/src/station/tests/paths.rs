//! What holds on every path, whatever comes: against players that are slow and plain, and by laws
//! that need no distribution.

use super::super::{
    Clients, Demand, End, Request, Station, Totals, Visit, Waiting, closed, open_all,
};
use proptest::prelude::*;

/// Requests with many ties, by up to six connections.
fn requests() -> impl Strategy<Value = Vec<Request>> {
    let one = (0..40_u64, 0..60_u64, 0..60_u64, 0..6_u32);
    prop::collection::vec(one, 0..120).prop_map(|rows| {
        let mut at_ns = 0;
        let request = |(gap_ns, wait_ns, cpu_ns, connection)| {
            at_ns += gap_ns;
            Request { at_ns, connection, demand: Demand { wait_ns, cpu_ns } }
        };
        rows.into_iter().map(request).collect()
    })
}

fn stations() -> impl Strategy<Value = Station> {
    let numbers = (prop::option::of(1..6_u32), prop::option::of(1..4_u32));
    (numbers, any::<bool>(), any::<bool>()).prop_map(|(numbers, apart, bound)| {
        let (workers, cpus) = numbers;
        let limited = workers.is_some() && !apart;
        Station {
            workers,
            waiting: if apart { Waiting::Apart } else { Waiting::Held },
            cpus,
            bound: bound && limited,
        }
    })
}

/// G/G/c by its recursion: whoever comes takes the worker that is free first (J. Kiefer and J.
/// Wolfowitz, *On the theory of queues with many servers*, Transactions of the American Mathematical
/// Society 78, 1955).
fn recursion(workers: u32, requests: &[Request]) -> Vec<End> {
    let mut free_ns = vec![0; workers as usize];
    let serve = |request: &Request| {
        let first = free_ns.iter_mut().min().unwrap();
        let begun_ns = request.at_ns.max(*first);
        *first = begun_ns + request.demand.wait_ns + request.demand.cpu_ns;
        End::Answered { begun_ns, done_ns: *first }
    };
    requests.iter().map(serve).collect()
}

/// Processor sharing, each request stepped by itself: when they are done, in ns.
fn stepped(cpus: u32, requests: &[Request]) -> Vec<f64> {
    let mut done = vec![0.0; requests.len()];
    let (mut now, mut next, mut inside) = (0.0_f64, 0, Vec::<(usize, f64)>::new());
    while next < requests.len() || !inside.is_empty() {
        let speed = (f64::from(cpus) / inside.len() as f64).min(1.0);
        let shortest = inside.iter().map(|one| one.1).fold(f64::INFINITY, f64::min);
        let comes = requests.get(next).map_or(f64::INFINITY, |request| request.at_ns as f64);
        let until = comes.min(now + shortest / speed);
        for one in &mut inside {
            one.1 -= (until - now) * speed;
        }
        now = until;
        inside.retain(|(number, left)| {
            if *left <= 1e-9 {
                done[*number] = now;
            }
            *left > 1e-9
        });
        if comes <= now {
            inside.push((next, requests[next].demand.cpu_ns as f64));
            next += 1;
        }
    }
    done
}

fn done_ns(visits: &[Visit]) -> Vec<u64> {
    visits.iter().map(|visit| visit.came_ns + visit.response_ns().unwrap()).collect()
}

/// Every request is somewhere, and Little's law and the busy time hold to the ns.
fn accounts(visits: &[Visit], totals: &Totals, end_ns: u64) -> Result<(), TestCaseError> {
    let (mut stays, mut served) = (0_u128, 0_u128);
    let (mut answered, mut unfinished) = (0, 0);
    for visit in visits {
        let (left_ns, begun_ns) = match visit.end {
            End::Answered { begun_ns, done_ns } => {
                answered += 1;
                (done_ns, Some(begun_ns))
            }
            End::Unfinished { begun_ns } => {
                unfinished += 1;
                (end_ns, begun_ns)
            }
        };
        stays += u128::from(left_ns - visit.came_ns);
        served += begun_ns.map_or(0, |begun_ns| u128::from(left_ns - begun_ns));
    }
    prop_assert_eq!((stays, served), (totals.present_ns, totals.busy_ns));
    prop_assert_eq!((answered, unfinished), (totals.answered, totals.unfinished));
    prop_assert_eq!(totals.came, visits.len() as u64);
    prop_assert_eq!(totals.came, answered + unfinished);
    Ok(())
}

proptest! {
    #[test]
    fn servers_are_the_recursion_to_the_ns(requests in requests(), workers in 1..6_u32) {
        let (visits, totals) = open_all(&Station::servers(workers), &requests).unwrap();
        let ends: Vec<End> = visits.iter().map(|visit| visit.end).collect();
        prop_assert_eq!(&ends, &recursion(workers, &requests));
        // First come, first served.
        let begun = |end: &End| match end {
            End::Answered { begun_ns, .. } => *begun_ns,
            _ => unreachable!("nobody is turned away"),
        };
        prop_assert!(ends.is_sorted_by_key(begun));
        // Two events for each.
        prop_assert_eq!(totals.events, 2 * totals.came);
    }

    #[test]
    fn shared_cpus_are_what_stepping_each_request_gives(requests in requests(), cpus in 1..4_u32) {
        let requests: Vec<Request> = requests
            .into_iter()
            .map(|one| Request { demand: Demand { wait_ns: 0, ..one.demand }, ..one })
            .collect();
        let (visits, _) = open_all(&Station::worker_each(cpus), &requests).unwrap();
        for (done, exact) in done_ns(&visits).into_iter().zip(stepped(cpus, &requests)) {
            // Told in the first whole ns after it.
            prop_assert!((-0.01..1.0).contains(&(done as f64 - exact)), "{done} {exact}");
        }
        // One CPU is never idle while anybody needs it, in whichever order it serves: the last is
        // done at the same time.
        let last = |station: Station| done_ns(&open_all(&station, &requests).unwrap().0).into_iter().max();
        let (shared, one_by_one) = (last(Station::worker_each(1)), last(Station::servers(1)));
        prop_assert!(shared.unwrap_or(0).abs_diff(one_by_one.unwrap_or(0)) <= 1);
    }

    #[test]
    fn different_stations_of_one_behaviour_are_alike(requests in requests(), workers in 1..4_u32, more in 0..3_u32) {
        let ends = |station: Station, requests: &[Request]| -> Vec<End> {
            open_all(&station, requests).unwrap().0.iter().map(|visit| visit.end).collect()
        };
        // Workers that are no more than the CPUs share none.
        prop_assert_eq!(
            ends(Station::pool(workers, workers + more), &requests),
            ends(Station::servers(workers), &requests)
        );
        // CPUs for all are none to share, and workers for all are one for each.
        let each = ends(Station::worker_each(200), &requests);
        prop_assert_eq!(&each, &ends(Station { cpus: None, ..Station::worker_each(1) }, &requests));
        prop_assert_eq!(&each, &ends(Station::servers(200), &requests));
        // What waits apart is what comes later.
        let mut later: Vec<(usize, Request)> = requests.iter().copied().enumerate().collect();
        for (_, one) in &mut later {
            one.at_ns += std::mem::take(&mut one.demand.wait_ns);
        }
        later.sort_by_key(|(_, one)| one.at_ns);
        let order: Vec<usize> = later.iter().map(|one| one.0).collect();
        let later: Vec<Request> = later.into_iter().map(|one| one.1).collect();
        let mut loops = ends(Station::event_loop(workers, workers), &requests);
        let mut servers = ends(Station::servers(workers), &later);
        // Who is ready at the same ns may change places.
        let by_end = |end: &End| match end { End::Answered { begun_ns, done_ns } => (*begun_ns, *done_ns), _ => (0, 0) };
        prop_assert_eq!(loops.len(), order.len());
        if later.windows(2).all(|two| two[0].at_ns != two[1].at_ns) {
            loops.sort_by_key(by_end);
            servers.sort_by_key(by_end);
            prop_assert_eq!(loops, servers);
        }
    }

    #[test]
    fn littles_law_holds_on_every_path(requests in requests(), station in stations()) {
        let (visits, totals) = open_all(&station, &requests).unwrap();
        let start_ns = requests.first().map_or(0, |first| first.at_ns);
        accounts(&visits, &totals, start_ns + totals.elapsed_ns)?;
        prop_assert!(visits.iter().map(|visit| visit.number).eq(0..totals.came));
        // The same again, to the last ns.
        prop_assert_eq!((visits, totals), open_all(&station, &requests).unwrap());
    }

    #[test]
    fn a_closed_loop_has_one_request_per_connection(
        station in stations(), demands in prop::collection::vec((0..60_u64, 0..60_u64), 1..20),
        connections in 1..9_u32, think_ns in 0..50_u64, asked in 0..60_u64, until_ns in prop::option::of(0..2000_u64)
    ) {
        let clients = Clients { connections, requests: Some(asked), until_ns };
        let demand = |number: u64| {
            let (wait_ns, cpu_ns) = demands[number as usize % demands.len()];
            Demand { wait_ns, cpu_ns }
        };
        let mut visits = Vec::new();
        let totals = closed(&station, &clients, || think_ns, demand, |visit| visits.push(*visit)).unwrap();
        visits.sort_by_key(|visit| visit.number);
        let start_ns = visits.first().map_or(0, |first| first.came_ns);
        accounts(&visits, &totals, start_ns + totals.elapsed_ns)?;
        prop_assert!(totals.came <= asked);
        if until_ns.is_none() {
            prop_assert_eq!((totals.came, totals.unfinished), (asked, 0));
        }
        for connection in 0..connections {
            let mut free_ns = 0;
            for visit in visits.iter().filter(|visit| visit.connection == connection) {
                prop_assert!(visit.came_ns >= free_ns);
                free_ns = match visit.end {
                    End::Answered { done_ns, .. } => done_ns + think_ns,
                    End::Unfinished { .. } => u64::MAX,
                };
            }
        }
    }
}
