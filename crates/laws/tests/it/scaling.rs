//! The laws of n workers as formulas, with their inverses: what docs/laws.md shows and what sessions
//! with a planted law are drawn from. The room fits them by code of its own. Nothing is checked here:
//! a test gives numbers that are right.

use proptest::prelude::*;

/// Returns the speedup of n workers if the part `serial` of the work is done by one of them alone (G.
/// M. Amdahl, AFIPS Spring Joint Computer Conference 1967).
pub(crate) fn amdahl(serial: f64, n: f64) -> f64 {
    n / (1.0 + serial * (n - 1.0))
}

/// Returns the n at which Amdahl's law reaches a speedup from 1 to below `1.0 / serial`.
pub(crate) fn amdahl_workers(serial: f64, speedup: f64) -> f64 {
    speedup * (1.0 - serial) / (1.0 - serial * speedup)
}

/// Returns the serial part that follows from a measured speedup at n, the inverse of [`amdahl`] (A. H.
/// Karp and H. P. Flatt, *Measuring parallel processor performance*, Communications of the ACM 33,
/// 1990). Negative if the speedup is above n.
pub(crate) fn karp_flatt(speedup: f64, n: f64) -> f64 {
    (n / speedup - 1.0) / (n - 1.0)
}

/// Returns how much more work n workers do in the same time, of which the part `serial` is serial (J.
/// L. Gustafson, *Reevaluating Amdahl's law*, Communications of the ACM 31, 1988).
pub(crate) fn gustafson(serial: f64, n: f64) -> f64 {
    serial + (1.0 - serial) * n
}

/// Returns the throughput of n workers that wait for one another (α) and keep one another informed (β)
/// (N. J. Gunther, *Guerrilla Capacity Planning*, Springer 2007, chapters 4 to 6).
pub(crate) fn universal([gamma, alpha, beta]: [f64; 3], n: f64) -> f64 {
    gamma * n / (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0))
}

/// Returns the n at which that throughput is greatest, for a β above 0 and an α below 1 − β.
pub(crate) fn universal_peak([_, alpha, beta]: [f64; 3]) -> f64 {
    ((1.0 - alpha) / beta).sqrt()
}

/// Returns the two n at which that throughput is x, before the peak and past it: the roots of
/// x (1 + α (n − 1) + β n (n − 1)) = γ n.
pub(crate) fn universal_workers([gamma, alpha, beta]: [f64; 3], x: f64) -> (f64, f64) {
    let c = x / gamma;
    let (square, linear, constant) = (c * beta, c * (alpha - beta) - 1.0, c * (1.0 - alpha));
    let sum = -linear + (linear * linear - 4.0 * square * constant).max(0.0).sqrt();
    (2.0 * constant / sum, sum / (2.0 * square))
}

/// Returns the throughput of n workers of which `cores` are served at a time, with contention α among
/// these.
pub(crate) fn kink([gamma, alpha, cores]: [f64; 3], n: f64) -> f64 {
    let m = n.min(cores);
    gamma * m / (1.0 + alpha * (m - 1.0))
}

/// Returns the least n at which that throughput is x.
pub(crate) fn kink_workers([gamma, alpha, _]: [f64; 3], x: f64) -> f64 {
    amdahl_workers(alpha, x / gamma)
}

#[test]
fn published_figures() {
    assert!((amdahl(0.1, 8.0) - 4.705_882).abs() < 1e-6);
    // Karp and Flatt's own reading of table entries above the ideal.
    assert!(karp_flatt(4.4, 4.0) < 0.0);
    // Gustafson's table: serial parts of 0.4 to 0.8 % of the time on 1024 processors.
    assert!((gustafson(0.004, 1024.0) - 1019.908).abs() < 1e-9);
    assert!((gustafson(0.008, 1024.0) - 1015.816).abs() < 1e-9);
    // Contention 2 %, coherency 2 %: √(0.98/0.02) = 7.
    assert!((universal_peak([1.0, 0.02, 0.02]) - 7.0).abs() < 1e-12);
    let two_cores = [1.0, 2.0, 3.0, 64.0].map(|n| kink([100.0, 0.0, 2.0], n));
    assert_eq!(two_cores, [100.0, 200.0, 200.0, 200.0]);
}

#[test]
fn the_coherency_term_is_part_of_the_inverse() {
    // Contention alone would answer 5.4 for the throughput at n = 6.
    let law = [1.0, 0.02, 0.02];
    let (rising, falling) = universal_workers(law, universal(law, 6.0));
    assert!((rising - 6.0).abs() < 1e-9 && (falling - 49.0 / 6.0).abs() < 1e-9);
}

proptest! {
    #[test]
    fn inverses_undo_the_formulas(
        gamma in 1e-3..1e6_f64, part in 0.001..0.5_f64, beta in 1e-4..0.1_f64, n in 1.001..64.0_f64,
        cores in 1.0..64.0_f64, at in 0.05..0.8_f64
    ) {
        let near = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-8;
        prop_assert!(near(amdahl_workers(part, amdahl(part, n)), n));
        prop_assert!(near(karp_flatt(amdahl(part, n), n), part));
        // The serial part of the time that one worker would need for the work that n did.
        let scaled = gustafson(part, n);
        prop_assert!(near(amdahl(part / scaled, n), scaled));
        let law = [gamma, part, beta];
        let peak = universal_peak(law);
        let before = 1.0 + (peak - 1.0) * at;
        prop_assert!(near(universal_workers(law, universal(law, before)).0, before));
        prop_assert!(near(universal_workers(law, universal(law, peak / at)).1, peak / at));
        prop_assert!(universal(law, n) <= universal(law, peak) * (1.0 + 1e-12));
        let law = [gamma, part, cores];
        prop_assert!(near(kink_workers(law, kink(law, n)), n.min(cores)));
    }
}
