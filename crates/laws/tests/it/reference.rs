//! Fits that others made of published data, reproduced; the figures and their sources stand in
//! `data/README.md`.

use laws::fit::{Coefficient, Fit, Law, Parameter, Peak, Point, Region, fit};

fn points(csv: &str) -> Vec<Point> {
    let point = |line: &str| {
        let (n, x) = line.split_once(',').unwrap();
        Point::new(n.trim().parse().unwrap(), x.trim().parse().unwrap())
    };
    csv.lines().skip(1).map(point).collect()
}

fn parameter(fit: &Fit, coefficient: Coefficient) -> &Parameter {
    fit.parameter(coefficient).unwrap()
}

/// α, β, γ and the residual sum of squares to a relative 1e-5 of those published.
fn assert_is(fit: &Fit, alpha: f64, beta: f64, gamma: f64, squares: f64) {
    for (what, found, wanted) in [
        ("alpha", parameter(fit, Coefficient::Alpha).value, alpha),
        ("beta", parameter(fit, Coefficient::Beta).value, beta),
        ("gamma", parameter(fit, Coefficient::Gamma).value, gamma),
        ("squares", fit.residual_squares, squares),
    ] {
        assert!((found - wanted).abs() <= 1e-5 * wanted, "{what} is {found}, not {wanted}");
    }
}

fn peak(fit: &Fit) -> f64 {
    let Peak::Within { n, .. } = fit.peak() else { panic!("{:?}", fit.peak()) };
    n
}

#[test]
fn the_sparccenter() {
    for region in [Region::Free, Region::Physical] {
        let fit = fit(Law::Usl, &points(include_str!("../data/specsdm91.csv")), region).unwrap();
        assert_is(&fit, 0.027_728_48, 1.043_654_8e-4, 89.995_233, 27_453.72);
        assert!((peak(&fit) - 96.52).abs() < 0.005);
    }
}

#[test]
fn the_ray_tracer_of_six_rows_shows_no_contention_that_is_significant() {
    let rows = &points(include_str!("../data/raytracer.csv"))[..6];
    let six = fit(Law::Usl, rows, Region::Free).unwrap();
    assert_is(&six, 0.024_444_04, 1.626_809e-3, 20.856_045, 10.091_882);
    let alpha = parameter(&six, Coefficient::Alpha);
    // t(0.975, 3), not t(0.95, 5) as one published package has it.
    assert!((alpha.low + 0.0023).abs() < 5e-5, "{alpha:?}");
    assert!((alpha.high - 0.0511).abs() < 5e-5, "{alpha:?}");
    assert!((alpha.high - alpha.value) / alpha.standard_error.unwrap() > 3.18);
    // √((1 − α)/β) = 24.49 lies beyond the rows, and all eleven show none up to 64.
    assert!(matches!(six.peak(), Peak::Beyond { .. }), "{:?}", six.peak());
}

#[test]
fn the_whole_ray_tracer_has_no_peak() {
    let all = points(include_str!("../data/raytracer.csv"));
    let fit = fit(Law::Usl, &all, Region::Physical).unwrap();
    assert_is(&fit, 0.057_770_8, 0.0, 21.8488, 697.24);
    assert_eq!(fit.peak(), Peak::None);
    let amdahl = laws::fit::fit(Law::Amdahl, &all, Region::Physical).unwrap();
    assert!((amdahl.residual_squares / fit.residual_squares - 1.0).abs() < 1e-9);
    assert_eq!(parameter(&fit, Coefficient::Beta).standard_error, None);
}

#[test]
fn the_synthetic_law_gives_back_its_coefficients() {
    let fit = fit(Law::Usl, &points(include_str!("../data/synthetic.csv")), Region::Free).unwrap();
    for (found, wanted) in [
        (parameter(&fit, Coefficient::Alpha).value, 0.020_005_76),
        (parameter(&fit, Coefficient::Beta).value, 0.019_999_67),
        (parameter(&fit, Coefficient::Gamma).value, 1.000_005_1),
    ] {
        assert!((found - wanted).abs() <= 1e-6 * wanted, "{found} {wanted}");
    }
    // Three digits of it are published.
    assert!((fit.residual_squares / 2.73e-10 - 1.0).abs() < 0.002, "{}", fit.residual_squares);
    assert!((peak(&fit) - 7.0).abs() < 0.005);
}
