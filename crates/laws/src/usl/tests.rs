use super::*;
use proptest::prelude::*;

fn usl(gamma: f64, alpha: f64, beta: f64) -> Usl {
    Usl::new(gamma, alpha, beta).unwrap()
}

#[test]
fn the_peak_has_its_cases() {
    // Contention 2 %, coherency 2 %: √(0.98/0.02) = 7.
    let Peak::At(n) = usl(1.0, 0.02, 0.02).peak() else { panic!() };
    assert!((n - 7.0).abs() < 1e-12);
    assert_eq!(usl(1.0, 0.02, 0.0).peak(), Peak::Never);
    assert_eq!(usl(1.0, 0.02, -1e-4).peak(), Peak::Never);
    assert_eq!(usl(1.0, 0.0, 0.0).peak(), Peak::Never);
    // All serial: flat for ever.
    assert_eq!(usl(1.0, 1.0, 0.0).peak(), Peak::Never);
    assert_eq!(usl(1.0, 1.5, 0.0).peak(), Peak::AtOne);
    assert_eq!(usl(1.0, 0.5, 0.6).peak(), Peak::AtOne);
    assert_eq!(usl(1.0, 0.5, f64::MIN_POSITIVE * 1e-15).peak(), Peak::Never);
}

#[test]
fn limits_are_the_peak_or_the_bound() {
    let peaked = usl(100.0, 0.02, 0.02);
    let top = peaked.limit().unwrap().unwrap();
    assert!((top - peaked.throughput(7.0).unwrap()).abs() < 1e-9);
    assert_eq!(usl(100.0, 0.05, 0.0).limit(), Ok(Some(2000.0)));
    assert_eq!(usl(100.0, 0.0, 0.0).limit(), Ok(None));
    assert_eq!(usl(100.0, 2.0, 0.0).limit(), Ok(Some(100.0)));
}

#[test]
fn hostile_numbers_are_errors() {
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0] {
        assert!(Usl::new(wrong, 0.1, 0.1).is_err(), "{wrong}");
        assert!(usl(1.0, 0.1, 0.01).throughput(wrong).is_err(), "{wrong}");
        assert!(usl(1.0, 0.1, 0.01).workers_for_latency(wrong).is_err(), "{wrong}");
        assert!(usl(1.0, 0.1, 0.01).workers_for_throughput(wrong, Branch::Rising).is_err());
    }
    assert!(Usl::new(1.0, f64::NAN, 0.1).is_err() && Usl::new(1.0, 0.1, f64::NAN).is_err());
    assert!(usl(1.0, 0.1, 0.1).throughput(0.5).is_err());
    assert_eq!(usl(1.0, -0.5, 0.0).throughput(4.0), Err(Error::Pole { n: 4.0 }));
    assert!(usl(1.0, -0.1, 0.0).workers_for_throughput(2.0, Branch::Rising).is_err());
    // The sums overflow before the quotient does.
    assert!(usl(1e300, 0.1, 0.0).throughput(1e10).is_err());
    assert!(usl(1.0, 0.1, 1.0).throughput(1e200).is_err());
}

#[test]
fn a_branch_that_is_not_there_has_no_n() {
    let out = |curve: Usl, x: f64, branch| {
        matches!(curve.workers_for_throughput(x, branch), Err(Error::OutOfReach { .. }))
    };
    assert!(out(usl(1.0, 0.1, 0.0), 2.0, Branch::Falling));
    assert!(out(usl(1.0, 0.1, 0.0), 10.0, Branch::Rising));
    assert!(out(usl(1.0, 0.1, 0.01), 0.5, Branch::Rising));
    assert!(out(usl(1.0, 0.1, 0.01), 99.0, Branch::Falling));
    assert!(out(usl(1.0, 1.5, 0.0), 1.2, Branch::Rising));
    let n = usl(1.0, 1.5, 0.0).workers_for_throughput(0.9, Branch::Falling).unwrap();
    assert!((usl(1.0, 1.5, 0.0).throughput(n).unwrap() - 0.9).abs() < 1e-12);
    assert!(usl(2.0, 0.0, 0.0).workers_for_latency(0.5).is_err());
    assert!(usl(2.0, 0.1, 0.0).workers_for_latency(0.4).is_err());
}

#[test]
fn the_coherency_term_is_part_of_the_inverse() {
    // Contention alone would answer 5.4 for the throughput at n = 6.
    let curve = usl(1.0, 0.02, 0.02);
    let x = curve.throughput(6.0).unwrap();
    assert!((curve.workers_for_throughput(x, Branch::Rising).unwrap() - 6.0).abs() < 1e-9);
    assert!((curve.workers_for_throughput(x, Branch::Falling).unwrap() - 49.0 / 6.0).abs() < 1e-9);
}

fn curves() -> impl Strategy<Value = Usl> {
    let beta = prop_oneof![1 => Just(0.0), 4 => 1e-7..0.3_f64];
    (1e-6..1e9_f64, 0.0..0.99_f64, beta).prop_map(|(gamma, alpha, beta)| usl(gamma, alpha, beta))
}

proptest! {
    #[test]
    fn n_of_x_undoes_x_of_n(curve in curves(), n in 1.0..500.0_f64) {
        let x = curve.throughput(n).unwrap();
        let falling = match curve.peak() {
            Peak::At(peak) => n > peak,
            Peak::AtOne => true,
            Peak::Never => false,
        };
        let branch = if falling { Branch::Falling } else { Branch::Rising };
        let back = curve.workers_for_throughput(x, branch).unwrap();
        // Near the peak n is ill-determined by X, so what counts is what it gives back.
        prop_assert!((curve.throughput(back).unwrap() / x - 1.0).abs() < 1e-9, "{back} for {n}");
        let r = curve.latency_for_throughput(x, branch).unwrap();
        prop_assert!((x * r / back - 1.0).abs() < 1e-9);
    }

    #[test]
    fn away_from_the_peak_n_itself_comes_back(alpha in 0.0..0.5_f64, beta in 1e-4..0.1_f64, at in 0.05..0.8_f64) {
        let curve = usl(40.0, alpha, beta);
        let Peak::At(peak) = curve.peak() else { panic!() };
        for n in [1.0 + (peak - 1.0) * at, peak / at] {
            let branch = if n > peak { Branch::Falling } else { Branch::Rising };
            let back = curve.workers_for_throughput(curve.throughput(n).unwrap(), branch).unwrap();
            prop_assert!((back / n - 1.0).abs() < 1e-9, "{back} for {n}");
        }
    }

    #[test]
    fn latency_is_littles(curve in curves(), n in 1.0..500.0_f64) {
        let (x, r) = (curve.throughput(n).unwrap(), curve.latency(n).unwrap());
        prop_assert!((x * r / n - 1.0).abs() < 1e-9);
        // Where latency hardly depends on n, it says nothing of n.
        if curve.latency(2.0).unwrap() > 1.0001 * curve.latency(1.0).unwrap() {
            let back = curve.workers_for_latency(r).unwrap();
            prop_assert!((back / n - 1.0).abs() < 1e-8, "{back} for {n}");
            prop_assert!((curve.throughput_for_latency(r).unwrap() / x - 1.0).abs() < 1e-8);
        }
    }

    #[test]
    fn nothing_is_more_than_the_peak(curve in curves(), n in 1.0..1e4_f64) {
        if let Some(limit) = curve.limit().unwrap() {
            prop_assert!(curve.throughput(n).unwrap() <= limit * (1.0 + 1e-12));
        }
    }

    #[test]
    fn any_numbers_give_a_number_or_an_error(
        g in any::<f64>(), a in any::<f64>(), b in any::<f64>(), n in any::<f64>()
    ) {
        if let Ok(curve) = Usl::new(g, a, b) {
            for value in [
                curve.throughput(n), curve.latency(n), curve.speedup(n),
                curve.workers_for_latency(n),
                curve.workers_for_throughput(n, Branch::Rising),
                curve.workers_for_throughput(n, Branch::Falling),
            ].into_iter().flatten() {
                prop_assert!(value.is_finite());
            }
            if let Ok(Some(limit)) = curve.limit() {
                prop_assert!(limit.is_finite());
            }
        }
    }
}
