//! Loads that a station of this module stands in for the measured server of, so that the truth is
//! known.

use super::super::predict::{Observed, Pair, demand_at_saturation, outside, predict};
use super::super::{Clients, Demand, Request, Station, closed, open_all};
use super::{Draws, MS, cpu, wait};

/// A load at a third to nine tenths of what the station bears, as its clients see it: with
/// `beyond_ns` on top of each stay.
fn measured(station: &Station, busy: f64, demand: Demand, beyond_ns: u64) -> Vec<Observed> {
    let mut draws = Draws::new(7);
    let mut at_ns = 0;
    let gap_ns = (demand.wait_ns + demand.cpu_ns) as f64 / busy;
    let request = |number: u32| {
        at_ns += draws.exponential(gap_ns);
        Request { at_ns, connection: number % 64, demand }
    };
    let requests: Vec<Request> = (0..20_000).map(request).collect();
    let (visits, _) = open_all(station, &requests).unwrap();
    let observed = visits.iter().map(|visit| Observed {
        at_ns: visit.came_ns,
        done_ns: visit.response_ns().map(|ns| visit.came_ns + ns + beyond_ns),
        connection: visit.connection,
    });
    observed.collect()
}

/// What a saturated closed loop says of the station's demand.
fn calibrated(station: &Station, connections: u32, servers: u32, demand: Demand) -> f64 {
    let until_ns = Some(10_000 * MS);
    let clients = Clients { connections, requests: None, until_ns };
    let totals = closed(station, &clients, || 0, |_| demand, |_| {}).unwrap();
    demand_at_saturation(totals.throughput_per_s().unwrap(), servers).unwrap()
}

#[test]
fn one_number_from_another_load_predicts_each_request() {
    let (work, sleep) = (cpu(2 * MS), wait(2 * MS));
    for (station, servers, demand, busy) in [
        (Station::servers(1), 1, work, 0.9),
        (Station::pool(8, 2), 8, sleep, 6.0),
        (Station::worker_each(2), 2, work, 1.6),
        (Station::event_loop(2, 2), 2, work, 1.8),
        (Station::event_loop(1, 2), 64, sleep, 5.0),
    ] {
        let beyond_ns = 40_000;
        let found_ns = calibrated(&station, 64, servers, demand);
        let alone_ns = (2 * MS + beyond_ns) as f64;
        let outside_ns = outside(alone_ns, found_ns).unwrap().round() as u64;
        let guess = if demand.cpu_ns > 0 { cpu } else { wait };
        let observed = measured(&station, busy, demand, beyond_ns);
        let demand = |_| guess(found_ns.round() as u64);
        let prediction = predict(&station, &observed, demand, outside_ns).unwrap();
        let residuals = prediction.residuals.unwrap();
        assert_eq!(
            (residuals.both, residuals.measured_alone, residuals.predicted_alone),
            (20_000, 0, 0)
        );
        for pair in [residuals.mean_ns, residuals.p50_ns, residuals.p99_ns] {
            assert!(pair.error().unwrap().abs() < 0.02, "{station:?}: {residuals:?}");
        }
        assert!(residuals.each_p99 < 0.05, "{station:?}: {residuals:?}");
        assert_eq!(prediction.done_ns.len(), 20_000);
        assert_eq!(prediction.visits[5].came_ns, observed[5].at_ns);
        assert_eq!(prediction.totals.answered, 20_000);
    }
}

#[test]
fn the_wrong_model_is_seen() {
    // Computing that takes turns, where the prediction serves one after the other, and the reverse.
    let work = cpu(2 * MS);
    let observed = measured(&Station::servers(1), 0.9, work, 0);
    let right = predict(&Station::servers(1), &observed, |_| work, 0).unwrap();
    let residuals = right.residuals.unwrap();
    assert_eq!((residuals.each_p99, residuals.mean_ns.error()), (0.0, Some(0.0)));
    for wrong in [Station::worker_each(1), Station::servers(2), Station::event_loop(1, 1)] {
        let residuals = predict(&wrong, &observed, |_| work, 0).unwrap().residuals.unwrap();
        let alike = wrong == Station::event_loop(1, 1);
        assert_eq!(residuals.mean_ns.error().unwrap().abs() < 0.2, alike, "{residuals:?}");
    }
}

#[test]
fn who_was_answered_in_one_of_both_is_counted_apart() {
    let of = |at_ns: u64, done_ns: Option<u64>, connection| Observed { at_ns, done_ns, connection };
    let observed = [of(0, Some(10), 0), of(0, Some(40), 1), of(5, None, 0), of(6, None, 1)];
    // One worker for two connections: the second starves.
    let station = Station::servers(1).bound();
    let prediction = predict(&station, &observed, |_| cpu(20), 5).unwrap();
    assert_eq!(prediction.done_ns, [Some(25), None, Some(45), None]);
    let residuals = prediction.residuals.unwrap();
    assert_eq!((residuals.both, residuals.measured_alone, residuals.predicted_alone), (1, 1, 1));
    assert_eq!(residuals.mean_ns, Pair { measured: 10.0, predicted: 25.0 });
    assert_eq!((residuals.mean_ns.error(), residuals.each_p50), (Some(1.5), 1.5));
    // Nothing to compare.
    assert_eq!(predict(&station, &[], |_| cpu(1), 0).unwrap().residuals, None);
    assert_eq!(Pair { measured: 0.0, predicted: 1.0 }.error(), None);
    // An answer before the question.
    assert!(predict(&station, &[of(5, Some(4), 0)], |_| cpu(1), 0).is_err());
    // Found out of order.
    assert!(predict(&station, &[of(5, None, 0), of(4, None, 0)], |_| cpu(1), 0).is_err());
}

#[test]
fn calibration_is_the_utilisation_law() {
    // Two CPUs that do 100 per second: 20 ms each.
    assert_eq!(demand_at_saturation(100.0, 2), Ok(20e6));
    assert_eq!(outside(20.5e6, 20e6), Ok(0.5e6));
    assert_eq!(outside(19e6, 20e6), Ok(0.0));
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(demand_at_saturation(wrong, 2).is_err());
    }
    assert!(demand_at_saturation(1.0, 0).is_err() && demand_at_saturation(1e-300, 5).is_err());
    assert!(outside(f64::NAN, 1.0).is_err() && outside(1.0, -1.0).is_err());
}
