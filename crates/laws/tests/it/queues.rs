//! The open stations of the room against closed forms, and those against one another.

use crate::oracle::{
    Center, Demands, md1, mm1, mm1_response_quantile, mm1_wait_quantile, mmc_response_quantile,
    mmc_wait_quantile, mva, repairman,
};
use laws::Error;
use laws::queue::Steady;
use laws::queue::many::{erlang_b, erlang_c, mmc};
use laws::queue::single::mg1;
use proptest::prelude::*;

/// Whether two numbers agree to that part.
fn near(one: f64, other: f64, part: f64) -> bool {
    (one - other).abs() <= part * one.abs().max(other.abs())
}

fn littles(station: &Steady) -> bool {
    near(station.present, station.throughput * station.response, 1e-9)
        && near(station.queued, station.throughput * station.wait, 1e-9)
}

fn same(one: &Steady, other: &Steady, part: f64) -> bool {
    near(one.throughput, other.throughput, part)
        && near(one.utilisation, other.utilisation, part)
        && near(one.queued, other.queued, part)
        && near(one.present, other.present, part)
        && near(one.wait, other.wait, part)
        && near(one.response, other.response, part)
}

#[test]
fn textbook_stations() {
    // Half busy: one job in the system, of which half waits.
    let half = mm1(5.0, 0.1);
    assert!(near(half.present, 1.0, 1e-12) && near(half.queued, 0.5, 1e-12));
    assert!(near(half.wait, 0.1, 1e-12) && near(half.response, 0.2, 1e-12));
    assert!(near(md1(5.0, 0.1).wait, 0.05, 1e-12));
    // Two servers at a = 1: C = 1/3, Wq = S/3.
    assert!(near(erlang_c(2, 1.0).unwrap(), 1.0 / 3.0, 1e-12));
    assert!(near(mmc(1.0, 1.0, 2).unwrap().wait, 1.0 / 3.0, 1e-12));
    // Erlang's table: 10 lines, 5 erlangs, 1.84 % lost.
    assert!(near(erlang_b(10, 5.0).unwrap(), 0.018_384_57, 1e-6));
    assert!(near(erlang_c(10, 5.0).unwrap(), 0.036_105_4, 1e-5));
    // Nine in ten jobs of M/M/1 stay within W ln 10.
    assert!(near(mm1_response_quantile(5.0, 0.1, 0.9), 0.2 * 10f64.ln(), 1e-12));
    assert_eq!(mm1_wait_quantile(5.0, 0.1, 0.5), 0.0);
    assert!(near(mm1_wait_quantile(5.0, 0.1, 0.9), 0.2 * 5f64.ln(), 1e-12));
}

#[test]
fn a_large_exchange_neither_overflows_nor_vanishes() {
    let busy = mmc(99_000.0, 1.0, 100_000).unwrap();
    assert!(busy.wait > 0.0 && busy.wait < 1e-3 && littles(&busy));
    assert_eq!(erlang_b(100_000, 1e-3).unwrap(), 0.0);
    assert!(near(erlang_b(3, 1e12).unwrap(), 1.0, 1e-9));
    let many = repairman(100_000, 10.0, 1e-4, 1);
    assert!(near(many.throughput, 1e4, 1e-3) || many.throughput < 1e4);
    assert!(littles(&many));
}

#[test]
fn an_unstable_queue_says_what_would_be_right() {
    for wrong in [mg1(10.0, 0.1, 1.0), mg1(11.0, 0.1, 0.0), mg1(10.0, 0.2, 1.0), mmc(20.0, 0.1, 2)]
    {
        assert!(matches!(wrong, Err(Error::Unstable { .. })), "{wrong:?}");
    }
    assert_eq!(
        mmc(30.0, 0.1, 2).unwrap_err().to_string(),
        "the queue never settles: work arrives at 30 and at most 20 can be done in the same time; \
         fewer arrivals, faster service or more servers would be right"
    );
}

#[test]
fn hostile_numbers_are_errors() {
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0] {
        assert!(mg1(wrong, 0.1, 1.0).is_err() && mg1(1.0, wrong, 1.0).is_err(), "{wrong}");
        assert!(mmc(wrong, 0.1, 2).is_err() && mmc(1.0, wrong, 2).is_err(), "{wrong}");
        assert!(erlang_b(3, wrong).is_err() && erlang_c(3, wrong).is_err(), "{wrong}");
    }
    for wrong in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(mg1(1.0, 0.1, wrong).is_err(), "{wrong}");
    }
    assert!(mmc(1.0, 0.1, 0).is_err() && mmc(1.0, 0.1, u32::MAX).is_err());
}

#[test]
fn quantiles_of_the_response_add_up_to_its_mean() {
    // The mean is the integral of the quantile over all probabilities, by the midpoint rule.
    for (busy, servers) in [(0.3, 1), (0.8, 4), (0.75, 4), (0.95, 16)] {
        let arrivals = busy * f64::from(servers);
        let parts = 20_000;
        let mean: f64 = (0..parts)
            .map(|i| (f64::from(i) + 0.5) / f64::from(parts))
            .map(|p| mmc_response_quantile(arrivals, 1.0, servers, p))
            .sum::<f64>()
            / f64::from(parts);
        let exact = mmc(arrivals, 1.0, servers).unwrap().response;
        assert!(near(mean, exact, 1e-3), "{busy} {servers}: {mean} {exact}");
    }
}

#[test]
fn a_repairman_is_erlangs_telephone() {
    // One server: it is idle with Erlang's B(N, Z/S) (Kleinrock 1975, 3.8).
    for (n, think, service) in [(1, 1.0, 1.0), (5, 3.0, 1.0), (40, 20.0, 0.7), (200, 50.0, 1.0)] {
        let idle = erlang_b(n, think / service).unwrap();
        let busy = repairman(n, think, service, 1).utilisation;
        assert!((busy - (1.0 - idle)).abs() < 1e-9, "{n}: {busy} {idle}");
    }
    // Servers for all: nobody waits, X = N/(Z + S).
    let free = repairman(8, 3.0, 1.0, 8);
    assert!(near(free.throughput, 2.0, 1e-12) && free.wait < 1e-12);
    let batch = repairman(8, 0.0, 0.5, 2);
    assert_eq!((batch.throughput, batch.response, batch.utilisation), (4.0, 2.0, 1.0));
}

#[test]
fn a_network_of_the_textbook() {
    // Lazowska et al. 1984, 6.4: demands 0.605, 2.1, 1.35 s, think time 15 s; 1 customer.
    let stations = [Center::Queue(0.605), Center::Queue(2.1), Center::Queue(1.35)];
    let one = mva(1, 15.0, &stations);
    assert!(near(one.response, 4.055, 1e-12) && near(one.throughput, 1.0 / 19.055, 1e-12));
    // Balanced: N customers at K equal stations without thinking, X = N / ((N + K − 1) D).
    let even = mva(6, 0.0, &[Center::Queue(0.5); 3]);
    assert!(near(even.throughput, 6.0 / (8.0 * 0.5), 1e-12));
    assert!(near(even.utilisation[0], 0.75 * 2.0 * 0.5, 1e-12));
}

proptest! {
    #[test]
    fn littles_law_and_special_cases(service in 1e-3..1e3_f64, busy in 0.001..0.999_f64, v in 0.0..5.0_f64) {
        let arrivals = busy / service;
        let exponential = mm1(arrivals, service);
        prop_assert!(littles(&exponential));
        prop_assert!(littles(&md1(arrivals, service)));
        prop_assert!(littles(&mg1(arrivals, service, v).unwrap()));
        prop_assert!(same(&mg1(arrivals, service, 1.0).unwrap(), &exponential, 1e-9));
        prop_assert!(same(&mg1(arrivals, service, 0.0).unwrap(), &md1(arrivals, service), 1e-9));
        prop_assert!(same(&mmc(arrivals, service, 1).unwrap(), &exponential, 1e-9));
    }

    #[test]
    fn more_servers_of_the_same_load_wait_less(service in 1e-3..1e3_f64, busy in 0.05..0.99_f64, c in 1u32..200) {
        let at = |c: u32| mmc(busy * f64::from(c) / service, service, c).unwrap();
        prop_assert!(littles(&at(c)));
        prop_assert!(at(c + 1).wait < at(c).wait);
        prop_assert!(near(at(c).utilisation, busy, 1e-12));
    }

    #[test]
    fn quantiles_undo_the_distribution(busy in 0.05..0.98_f64, c in 1u32..40, p in 0.0..0.9999_f64) {
        let servers = f64::from(c);
        let arrivals = busy * servers / 2.0;
        let waits = erlang_c(c, busy * servers).unwrap();
        let t = mmc_wait_quantile(arrivals, 2.0, c, p);
        let longer = waits * (-(servers - busy * servers) * t / 2.0).exp();
        let right = if p <= 1.0 - waits { t == 0.0 } else { near(longer, 1.0 - p, 1e-9) };
        prop_assert!(right, "{t} {longer}");
        let t = mmc_response_quantile(arrivals, 2.0, c, p);
        prop_assert!(t >= mmc_wait_quantile(arrivals, 2.0, c, p));
        if c == 1 {
            prop_assert!(near(t, mm1_response_quantile(arrivals, 2.0, p), 1e-6) || t < 1e-9);
            let (one, other) = (mmc_wait_quantile(arrivals, 2.0, 1, p), mm1_wait_quantile(arrivals, 2.0, p));
            prop_assert!((one - other).abs() < 1e-9 * (1.0 + one));
        }
    }

    #[test]
    fn mean_value_analysis_is_the_repairman(n in 1u32..80, think in 0.0..50.0_f64, service in 0.01..5.0_f64) {
        let network = mva(n, think, &[Center::Queue(service)]);
        let one = repairman(n, think, service, 1);
        prop_assert!(littles(&one));
        prop_assert!(near(network.throughput, one.throughput, 1e-9));
        prop_assert!(near(network.response, one.response, 1e-9));
        prop_assert!(near(network.utilisation[0], one.utilisation, 1e-9));
        // Thinking is a delay like any other.
        let delayed = mva(n, 0.0, &[Center::Delay(think), Center::Queue(service)]);
        prop_assert!(near(delayed.throughput, one.throughput, 1e-9));
    }

    #[test]
    fn closed_systems_keep_their_bounds_and_their_customers(
        n in 1u32..60, think in 0.0..20.0_f64, demands in prop::collection::vec(0.01..5.0_f64, 1..6), c in 1u32..9
    ) {
        let stations: Vec<Center> = demands.iter().map(|&demand| Center::Queue(demand)).collect();
        let network = mva(n, think, &stations);
        let there: f64 = network.present.iter().sum();
        prop_assert!(near(there + network.throughput * think, f64::from(n), 1e-9));
        let total: f64 = demands.iter().sum();
        let largest = demands.iter().copied().fold(0.0, f64::max);
        let system = Demands { total, largest, think };
        let (x, r) = (system.throughput(f64::from(n)), system.response(f64::from(n)));
        prop_assert!(x.0 <= network.throughput * (1.0 + 1e-9) && network.throughput <= x.1 * (1.0 + 1e-9));
        prop_assert!(r.0 <= network.response * (1.0 + 1e-9) && network.response <= r.1 * (1.0 + 1e-9));
        // At saturation the two upper bounds of throughput cross.
        let star = system.saturation();
        prop_assert!(near(star / (total + think), 1.0 / largest, 1e-9));
        let many = repairman(n, think, 1.0, c);
        prop_assert!(littles(&many));
        prop_assert!(near(many.present + many.throughput * think, f64::from(n), 1e-9));
    }

    #[test]
    fn any_numbers_give_a_number_or_an_error(a in any::<f64>(), s in any::<f64>(), v in any::<f64>(), n in 1u32..50) {
        let stations = [mg1(a, s, v), mmc(a, s, n)];
        for one in stations.into_iter().flatten() {
            for value in [one.throughput, one.utilisation, one.queued, one.present, one.wait, one.response] {
                prop_assert!(value.is_finite(), "{one:?}");
            }
        }
    }
}
