use super::*;
use proptest::prelude::*;

/// Points of a law without noise.
fn exact(law: Law, values: Values, ns: &[f64]) -> Vec<Point> {
    ns.iter().map(|&n| Point::new(n, law.value(&values, n))).collect()
}

const NS: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0];

fn values(fit: &Fit) -> Vec<f64> {
    fit.parameters.iter().map(|parameter| parameter.value).collect()
}

#[test]
fn exact_points_give_back_every_law() {
    for (law, truth) in [
        (Law::Linear, [3.0, 0.0, 0.0]),
        (Law::Gustafson, [3e6, 0.2, 0.0]),
        (Law::Amdahl, [3e-6, 0.1, 0.0]),
        (Law::Usl, [40.0, 0.05, 0.004]),
        (Law::Kink, [100.0, 4.0, 0.0]),
        (Law::Kink, [100.0, 5.3, 0.0]),
        (Law::ContendedKink, [100.0, 0.08, 6.0]),
        (Law::ContendedKink, [100.0, 0.08, 6.9]),
    ] {
        for region in [Region::Physical, Region::Free] {
            let fit = fit(law, &exact(law, truth, &NS), region).unwrap();
            for (found, truth) in values(&fit).iter().zip(truth) {
                assert!((found / truth - 1.0).abs() < 1e-6, "{law:?} {truth}: {found}");
            }
        }
    }
}

#[test]
fn slopes_are_the_derivatives() {
    for (law, at) in [
        (Law::Gustafson, [3.0, 0.2, 0.0]),
        (Law::Amdahl, [3.0, 0.1, 0.0]),
        (Law::Usl, [4.0, 0.05, 0.004]),
        (Law::Kink, [2.0, 4.5, 0.0]),
        (Law::ContendedKink, [2.0, 0.08, 6.5]),
    ] {
        for n in NS {
            let slopes = law.slopes(&at, n);
            for i in 0..law.coefficients().len() {
                let step = 1e-6;
                let (mut up, mut down) = (at, at);
                up[i] += step;
                down[i] -= step;
                let numeric = (law.value(&up, n) - law.value(&down, n)) / (2.0 * step);
                assert!(
                    (slopes[i] - numeric).abs() < 1e-5 * (1.0 + numeric.abs()),
                    "{law:?} {n} {i}"
                );
            }
        }
    }
}

#[test]
fn hostile_points_are_errors() {
    let good = exact(Law::Usl, [40.0, 0.05, 0.004], &NS);
    for law in Law::ALL {
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0] {
            for change in 0..3 {
                let mut points = good.clone();
                match change {
                    0 => points[2].n = wrong,
                    1 => points[2].throughput = wrong,
                    _ => points[2].weight = wrong,
                }
                for outcome in [
                    fit(law, &points, Region::Physical).map(|_| ()),
                    weighted_by_level(&points).map(|_| ()),
                    choose(&Law::ALL, &points).map(|_| ()),
                ] {
                    assert!(
                        matches!(outcome, Err(Error::Wrong { .. })),
                        "{law:?} {wrong} {change}"
                    );
                }
            }
        }
        let needed = law.levels_needed();
        let same: Vec<Point> = (0..20).map(|i| Point::new(4.0, 10.0 + f64::from(i))).collect();
        if law == Law::Linear {
            assert!(fit(law, &same, Region::Physical).is_ok());
        } else {
            let outcome = fit(law, &same, Region::Physical);
            assert!(matches!(outcome, Err(Error::TooFew { levels: 1, .. })), "{law:?}");
        }
        assert!(fit(law, &good[..needed - 1], Region::Physical).is_err(), "{law:?}");
        assert!(fit(law, &[], Region::Physical).is_err(), "{law:?}");
    }
    let few = fit(Law::Usl, &good[..2], Region::Free).unwrap_err();
    assert_eq!(
        few.to_string(),
        "Usl needs points at 3 or more different n, and more points than parameters; \
         there are 2 points at 2 n"
    );
    assert_eq!(choose(&[Law::Usl], &good[..2]), Err(Error::NoLaw));
    assert_eq!(choose(&[], &good), Err(Error::NoLaw));
}

#[test]
fn physical_coefficients_are_not_negative() {
    // Better than linear: contention would have to be a gain.
    let points = exact(Law::Usl, [10.0, -0.03, 0.0005], &NS);
    let free = fit(Law::Usl, &points, Region::Free).unwrap();
    assert!((free.parameters[1].value + 0.03).abs() < 1e-6);
    let held = fit(Law::Usl, &points, Region::Physical).unwrap();
    let alpha = held.parameter(Coefficient::Alpha).unwrap();
    assert_eq!((alpha.value, alpha.standard_error, alpha.low), (0.0, None, 0.0));
    assert!(held.residual_squares > free.residual_squares);
    assert_eq!(held.parameter(Coefficient::Cores), None);
}

#[test]
fn a_peak_is_named_only_where_the_points_reach() {
    // √(0.9/0.004) = 15; √(0.9/0.0004) = 47.4.
    let near = fit(Law::Usl, &wobbly([50.0, 0.1, 0.004]), Region::Physical).unwrap();
    let Peak::Within { n, low, high } = near.peak() else { panic!("{:?}", near.peak()) };
    assert!((n - 15.0).abs() < 0.6 && low < n && high.unwrap() > n, "{n} {low} {high:?}");
    let far = fit(Law::Usl, &wobbly([50.0, 0.1, 0.0004]), Region::Physical).unwrap();
    assert!(matches!(far.peak(), Peak::Beyond { low, .. } if low > 16.0), "{:?}", far.peak());
    let amdahl = fit(Law::Amdahl, &wobbly([50.0, 0.1, 0.0]), Region::Physical).unwrap();
    assert_eq!(amdahl.peak(), Peak::None);
    // Falls from the first.
    let sinking = fit(Law::Usl, &wobbly([50.0, 0.7, 0.4]), Region::Physical).unwrap();
    assert!(
        matches!(sinking.peak(), Peak::Within { n: 1.0, low: 1.0, .. }),
        "{:?}",
        sinking.peak()
    );
    // So noisy that there may be none: the interval is open.
    let mut noisy = wobbly([50.0, 0.1, 0.004]);
    for (i, point) in noisy.iter_mut().enumerate() {
        point.throughput *= 1.0 + 0.15 * if i % 3 == 0 { 1.0 } else { -0.5 };
    }
    let open = fit(Law::Usl, &noisy, Region::Physical).unwrap();
    assert!(matches!(open.peak(), Peak::Within { high: None, .. }), "{:?}", open.peak());
}

/// Points of the scalability law with a small, fixed disturbance.
fn wobbly(values: Values) -> Vec<Point> {
    let mut points = exact(Law::Usl, values, &NS);
    for (i, point) in points.iter_mut().enumerate() {
        point.throughput *= 1.0 + if i % 2 == 0 { 0.001 } else { -0.001 };
    }
    points
}

#[test]
fn replicates_refute_before_parsimony_decides() {
    let twice = |law: Law, values: Values, part: f64| -> Vec<Point> {
        let both = |point: Point| {
            [1.0 - part, 1.0, 1.0 + part]
                .map(|f| Point { throughput: f * point.throughput, ..point })
        };
        exact(law, values, &NS).into_iter().flat_map(both).collect()
    };
    let points = twice(Law::Kink, [100.0, 4.0, 0.0], 0.01);
    let choice = choose(&Law::ALL, &points).unwrap();
    assert_eq!(choice.law(), Law::Kink);
    assert!(
        matches!(&choice.reason, Reason::Simplest { than } if than == &[Law::ContendedKink])
            || matches!(choice.reason, Reason::Ahead { .. }),
        "{:?}",
        choice.reason
    );
    let usl = choice.candidates.iter().find(|one| one.law == Law::Usl).unwrap();
    assert!(usl.refuted() && usl.lack_of_fit.unwrap().above == 5);
    assert_eq!(usl.lack_of_fit.unwrap().below, 16);
    let line =
        choose(&[Law::Linear, Law::Amdahl], &twice(Law::Kink, [100.0, 4.0, 0.0], 1e-3)).unwrap();
    assert!(
        matches!(line.reason, Reason::Nearest { p_value } if p_value < 1e-6),
        "{:?}",
        line.reason
    );
    assert_eq!(line.law(), Law::Amdahl);
    assert!(line.fit().is_ok());
    let only = choose(&[Law::Kink, Law::Linear], &points).unwrap();
    assert_eq!((only.law(), only.reason), (Law::Kink, Reason::Only));
    // The same line, whichever way it is written: the simplest.
    let all = choose(&Law::ALL, &twice(Law::Linear, [3.0, 0.0, 0.0], 0.01)).unwrap();
    assert_eq!(all.law(), Law::Linear);
}

#[test]
fn points_that_identify_no_law_choose_none() {
    let few = |law: Law, values: Values, ns: &[f64], trials: usize| {
        let points = exact(law, values, ns);
        let points: Vec<Point> = points.iter().flat_map(|it| vec![*it; trials]).collect();
        choose(&Law::ALL, &points).unwrap().reason == Reason::TooFewForEvidence
    };
    let (usl, amdahl) = ([40.0, 0.05, 0.02], [40.0, 0.1, 0.0]);
    // The law with three coefficients has no AICc, however well another fits.
    for count in 2..=5 {
        assert!(few(Law::Usl, usl, &NS[..count], 1) && few(Law::Linear, usl, &NS[..count], 1));
    }
    assert!(!few(Law::Usl, usl, &NS[..6], 1) && !few(Law::Linear, usl, &NS[..6], 1));
    // Two n, however often measured, do not tell a law with two coefficients from others.
    assert!(few(Law::Amdahl, amdahl, &NS[..2], 9) && !few(Law::Amdahl, amdahl, &NS[..4], 9));
    // With 6 rows, AICc alone would take the kink for the peak that throughput has.
    let mut peak = exact(Law::Usl, [40.0, 0.05, 0.004], &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
    for (point, noise) in peak.iter_mut().zip([0.02, -0.03, 0.01, -0.02, 0.03, -0.01]) {
        point.throughput *= 1.0 + noise;
    }
    let choice = choose(&Law::ALL, &peak).unwrap();
    assert_eq!(choice.reason, Reason::TooFewForEvidence, "{:?}", choice.law());
}

#[test]
fn lack_of_fit_needs_replicates_and_levels() {
    let points = exact(Law::Linear, [3.0, 0.0, 0.0], &NS);
    let line = fit(Law::Linear, &points, Region::Physical).unwrap();
    assert!(matches!(lack_of_fit(&line, &points), Err(Error::NoReplicates { .. })));
    let doubled: Vec<Point> = points.iter().chain(&points).copied().collect();
    assert_eq!(lack_of_fit(&line, &doubled).unwrap().p_value, 1.0);
    let one = [Point::new(1.0, 3.0), Point::new(1.0, 3.1)];
    assert!(matches!(lack_of_fit(&line, &one), Err(Error::TooFew { .. })));
}

#[test]
fn draper_and_smiths_test_by_hand() {
    // Means 10.5, 19, 33 at n = 1, 2, 3, two points each; γ = Σ n x / Σ n² = 295/28 · … by hand.
    let points: Vec<Point> =
        [(1.0, 10.0), (1.0, 11.0), (2.0, 18.0), (2.0, 20.0), (3.0, 32.0), (3.0, 34.0)]
            .map(|(n, x)| Point::new(n, x))
            .to_vec();
    let line = fit(Law::Linear, &points, Region::Physical).unwrap();
    let gamma: f64 = (10.5 + 2.0 * 19.0 + 3.0 * 33.0) / 14.0;
    assert!((line.parameters[0].value - gamma).abs() < 1e-9);
    let lack = 2.0
        * ((10.5 - gamma).powi(2) + (19.0 - 2.0 * gamma).powi(2) + (33.0 - 3.0 * gamma).powi(2));
    let pure = 0.5 + 2.0 + 2.0;
    let found = lack_of_fit(&line, &points).unwrap();
    assert!((found.ratio - (lack / 2.0) / (pure / 3.0)).abs() < 1e-9);
    assert_eq!((found.above, found.below), (2, 3));
    assert!((line.residual_squares - lack - pure).abs() < 1e-9);
}

#[test]
fn a_bootstrap_asks_for_replicates_and_sound_numbers() {
    let single = exact(Law::Amdahl, [50.0, 0.1, 0.0], &NS);
    let run = |points: &[Point], rounds: usize, number: f64| {
        bootstrap(Law::Amdahl, points, Region::Physical, rounds, || number)
    };
    assert!(matches!(run(&single, 400, 0.5), Err(Error::NoReplicates { .. })));
    let doubled: Vec<Point> = single.iter().chain(&single).copied().collect();
    assert!(matches!(run(&doubled, 10, 0.5), Err(Error::Wrong { what: "rounds", .. })));
    for wrong in [f64::NAN, 1.0, -0.5, f64::INFINITY] {
        assert!(matches!(run(&doubled, 400, wrong), Err(Error::Wrong { .. })), "{wrong}");
    }
    // Trials that agree have no scatter to resample.
    let same = run(&doubled, 200, 0.5).unwrap();
    assert_eq!(same.lost, 0);
    for ((low, high), parameter) in same.intervals().into_iter().zip(&same.fit.parameters) {
        assert!(low <= parameter.value && parameter.value <= high && high - low < 1e-6 * high);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_points_give_numbers_or_an_error(
        points in prop::collection::vec((1.0..100.0_f64, 1e-3..1e6_f64, 1e-6..1e6_f64), 0..14), free in any::<bool>()
    ) {
        let points: Vec<Point> =
            points.into_iter().map(|(n, throughput, weight)| Point { n: n.round(), throughput, weight }).collect();
        let region = if free { Region::Free } else { Region::Physical };
        for law in Law::ALL {
            let Ok(fit) = fit(law, &points, region) else { continue };
            for p in &fit.parameters {
                prop_assert!(p.value.is_finite() && p.low <= p.value && p.value <= p.high, "{law:?} {p:?}");
                prop_assert!(p.low.is_finite() && p.high.is_finite(), "{law:?} {p:?}");
                prop_assert!(free || p.value >= 0.0);
            }
            prop_assert!(fit.residual_squares.is_finite());
            if let Peak::Within { n, low, high } = fit.peak() {
                prop_assert!(low >= 1.0 && low <= n && high.is_none_or(|high| high >= n));
            }
            if let Ok((low, high)) = fit.interval_at(7.0) {
                let at = fit.throughput(7.0).unwrap();
                prop_assert!(low <= at && at <= high && low >= 0.0);
            }
        }
    }

    #[test]
    fn units_of_throughput_and_weight_do_not_matter(unit in 1e-100..1e100_f64, weight in 1e-50..1e50_f64) {
        let points = wobbly([50.0, 0.1, 0.004]);
        let other: Vec<Point> = points
            .iter()
            .map(|p| Point { n: p.n, throughput: p.throughput * unit, weight })
            .collect();
        for law in Law::ALL {
            let (one, two) = (fit(law, &points, Region::Physical), fit(law, &other, Region::Physical));
            let (one, two) = (one.unwrap(), two.unwrap());
            for (a, b) in one.parameters.iter().zip(&two.parameters) {
                let unit = if a.coefficient == Coefficient::Gamma { unit } else { 1.0 };
                prop_assert!((b.value / unit - a.value).abs() <= 1e-6 * a.value.abs(), "{law:?}");
                prop_assert!((b.low / unit - a.low).abs() <= 1e-5 * a.value.abs().max(1e-6), "{law:?}");
            }
            prop_assert!((one.aicc.unwrap() - two.aicc.unwrap()).abs() < 1e-4);
        }
    }

    #[test]
    fn points_of_any_size_neither_stop_it_nor_give_a_nan(
        points in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>()), 0..12),
        near in prop::collection::vec(1.0..1.0000001_f64, 0..8)
    ) {
        let any = points.into_iter().map(|(n, x, weight)| Point {
            n: n.abs().max(1.0),
            throughput: x.abs().max(f64::MIN_POSITIVE),
            weight: weight.abs().max(f64::MIN_POSITIVE),
        });
        let close = near.into_iter().map(|n| Point::new(n, 10.0));
        let points: Vec<Point> = any.chain(close).collect();
        for law in Law::ALL {
            for region in [Region::Physical, Region::Free] {
                let Ok(fit) = fit(law, &points, region) else { continue };
                for p in &fit.parameters {
                    prop_assert!(p.value.is_finite() && p.low <= p.value && p.value <= p.high, "{p:?}");
                }
                if let Ok(lack) = lack_of_fit(&fit, &points) {
                    prop_assert!((0.0..=1.0).contains(&lack.p_value), "{lack:?}");
                }
            }
        }
    }
}

#[test]
fn the_peak_has_its_cases() {
    // Contention 2 %, coherency 2 %: √(0.98/0.02) = 7.
    assert!((peak::highest(0.02, 0.02).unwrap() - 7.0).abs() < 1e-12);
    for never in [(0.02, 0.0), (0.02, -1e-4), (0.0, 0.0), (0.5, f64::MIN_POSITIVE * 1e-15)] {
        assert_eq!(peak::highest(never.0, never.1), None, "{never:?}");
    }
    // All serial: flat for ever.
    assert_eq!(peak::highest(1.0, 0.0), None);
    assert_eq!((peak::highest(1.5, 0.0), peak::highest(0.5, 0.6)), (Some(1.0), Some(1.0)));
}
