//! The laws fitted to the trials of one throughput.

use super::paired::{Paired, by_level};
use super::words::figure;
use crate::stats::order;
use laws::Error;
use laws::fit::{
    self, Bootstrap, Candidate, Choice, Coefficient, Fit, Law, Peak, Point, REACH, Reason, Region,
};
use laws::tail::student_quantile;
use model::{ScaleCoefficient, ScaleCurve, ScaleDrawn, ScaleFit, ScalePeak, ScaleResidual};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Resamplings behind a bootstrap interval: its standard error is then known to 4 %.
const ROUNDS: usize = 400;

/// The bootstrap needs this number of trials at each n ([`laws::fit::bootstrap`]).
const TRIALS_FOR_BOOTSTRAP: usize = 4;

/// Steps of the drawn curve.
const STEPS: usize = 48;

/// Fits the laws to trials without what their blocks share.
pub(super) fn curve(trials: &Paired, laws: &[Law]) -> ScaleCurve {
    let points = &trials.points;
    let nothing = |reason: String| ScaleCurve {
        fits: Vec::new(),
        chosen: None,
        reason,
        intervals: "t".into(),
        peak: ScalePeak { sentence: "no curve was fitted".into(), ..ScalePeak::default() },
        curve: Vec::new(),
    };
    let weighted = match weighted(points) {
        Ok(weighted) if !weighted.is_empty() => weighted,
        Ok(_) => return nothing("no trial completed".into()),
        Err(error) => return nothing(error.to_string()),
    };
    let choice = match fit::choose(laws, &weighted) {
        Ok(choice) => choice,
        Err(_) => return nothing(too_few(&weighted)),
    };
    let least = by_level(points).into_iter().map(|(_, values)| values.len()).min().unwrap_or(0);
    let resampled = least >= TRIALS_FOR_BOOTSTRAP;
    let fits = choice.candidates.iter().map(|one| described(one, &weighted, points, resampled));
    let mut fits: Vec<ScaleFit> = fits.collect();
    // What blocks scatter widens the height of the curve.
    let coefficients = fits.iter_mut().flat_map(|fit| &mut fit.coefficients);
    for gamma in coefficients.filter(|one| one.symbol == "γ") {
        (gamma.low, gamma.high) = widened(gamma.value, (gamma.low, gamma.high), trials);
    }
    let chosen = choice.law();
    allow_for_the_choice(&mut fits, name(chosen));
    let Ok(fitted) = choice.fit() else { return nothing(too_few(&weighted)) };
    let again = if resampled { bootstrap(chosen, &weighted) } else { None };
    ScaleCurve {
        fits,
        chosen: Some(name(chosen).into()),
        reason: reason(&choice),
        intervals: if again.is_some() { "bootstrap".into() } else { "t".into() },
        peak: peak(&choice, fitted, again.as_ref()),
        curve: drawn(fitted, again.as_ref(), trials),
    }
}

/// Returns the points weighted for noise that is the same part of the throughput at each n. Where no n has
/// two, nothing is known of the noise, and all weigh alike: so published fits were made.
pub(super) fn weighted(points: &[(f64, f64)]) -> Result<Vec<Point>, Error> {
    let alike: Vec<Point> = points.iter().map(|&(n, x)| Point::new(n, x)).collect();
    let weighted = fit::weighted_by_level(&alike)?;
    let replicated = by_level(points).iter().any(|(_, values)| values.len() > 1);
    Ok(if replicated { weighted } else { alike })
}

fn too_few(points: &[Point]) -> String {
    let mut levels: Vec<f64> = points.iter().map(|point| point.n).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    format!(
        "{} trials at {} n are too few for any law: two n or more are needed, and more trials than \
         coefficients",
        points.len(),
        levels.len()
    )
}

/// Returns what a law is called.
pub(super) fn name(law: Law) -> &'static str {
    words(law).0
}

/// Returns what a law is called, and its formula.
fn words(law: Law) -> (&'static str, &'static str) {
    match law {
        Law::Linear => ("linear", "X = γ n"),
        Law::Gustafson => ("Gustafson", "X = γ (n − s (n − 1))"),
        Law::Amdahl => ("Amdahl", "X = γ n / (1 + α (n − 1))"),
        Law::Usl => ("universal", "X = γ n / (1 + α (n − 1) + β n (n − 1))"),
        Law::Kink => ("kink", "X = γ min(n, c)"),
        Law::ContendedKink => ("kink with contention", "X = γ m / (1 + α (m − 1)), m = min(n, c)"),
    }
}

fn letter(coefficient: Coefficient) -> (&'static str, &'static str) {
    match coefficient {
        Coefficient::Gamma => ("γ", "throughput of one worker"),
        Coefficient::Serial => ("s", "serial part of the time on n workers"),
        Coefficient::Alpha => ("α", "contention: the part that one does at a time"),
        Coefficient::Beta => ("β", "coherency: what each pair of workers costs"),
        Coefficient::Cores => ("c", "how many are served at a time"),
    }
}

fn described(
    candidate: &Candidate,
    weighted: &[Point],
    points: &[(f64, f64)],
    resampled: bool,
) -> ScaleFit {
    let law = candidate.law;
    let mut described = ScaleFit {
        law: name(law).into(),
        formula: words(law).1.into(),
        coefficients: Vec::new(),
        aicc: None,
        lack_of_fit_p: candidate.lack_of_fit.map(|lack| lack.p_value),
        refuted: candidate.refuted(),
        missing: String::new(),
        residuals: Vec::new(),
    };
    let fitted = match &candidate.fit {
        Ok(fitted) => fitted,
        Err(error) => {
            described.missing = why_not(law, error);
            return described;
        }
    };
    let again = if resampled { bootstrap(law, weighted) } else { None };
    let intervals = again.map(|again| again.intervals());
    described.aicc = fitted.aicc;
    described.coefficients = fitted
        .parameters
        .iter()
        .enumerate()
        .map(|(place, one)| {
            let (symbol, meaning) = letter(one.coefficient);
            let own = (one.low, one.high);
            let (low, high) = intervals.as_ref().map_or(own, |intervals| intervals[place]);
            let (symbol, meaning) = (symbol.into(), meaning.into());
            ScaleCoefficient { symbol, meaning, value: one.value, low, high }
        })
        .collect();
    described.residuals = by_level(points)
        .into_iter()
        .filter_map(|(n, values)| {
            let height = fitted.throughput(n).ok()?;
            Some(ScaleResidual { n, share: order::mean(&values)? / height - 1.0 })
        })
        .collect();
    described
}

fn why_not(law: Law, error: &Error) -> String {
    match error {
        Error::TooFew { levels, needed, .. } if levels < needed => {
            format!("needs {needed} different n, and there are {levels}")
        }
        Error::TooFew { points, .. } => {
            format!("needs more than {} trials, and there are {points}", law.coefficients().len())
        }
        Error::NotIdentified { .. } => "these trials do not determine its coefficients".into(),
        other => other.to_string(),
    }
}

/// Returns the same draws for the same trials: an answer is the same wherever it is computed again.
fn bootstrap(law: Law, points: &[Point]) -> Option<Bootstrap> {
    let mut draws = ChaCha8Rng::seed_from_u64(0);
    let uniform = move || draws.random::<f64>();
    fit::bootstrap(law, points, Region::Physical, ROUNDS, uniform).ok()
}

fn list(laws: &[Law]) -> String {
    laws.iter().map(|law| name(*law)).collect::<Vec<_>>().join(", ")
}

fn reason(choice: &Choice) -> String {
    let law = name(choice.law());
    let refuted: Vec<Law> =
        choice.candidates.iter().filter(|one| one.refuted()).map(|one| one.law).collect();
    let out = match refuted.as_slice() {
        [] => String::new(),
        some => format!("; the scatter of the trials at each n rejects {}", list(some)),
    };
    match &choice.reason {
        Reason::Only => format!("{law}: all other laws are rejected{out}"),
        Reason::Ahead { by } => {
            format!("{law}: its AICc is the lowest, by {} or more{out}", figure(*by))
        }
        Reason::Simplest { than } => {
            format!(
                "{law}: {} describes the trials equally well, with more coefficients{out}",
                list(than)
            )
        }
        Reason::Tied { with } => {
            format!("{law}; {} describes the trials equally well{out}", list(with))
        }
        Reason::Nearest { p_value } => {
            let p = if *p_value < 1e-3 { "below 0.001".to_string() } else { figure(*p_value) };
            format!("{law} is the closest, but the scatter of the trials rejects every law (p {p})")
        }
        _ => format!("{law}: too few trials to compare the laws{out}"),
    }
}

/// Returns where throughput is greatest by the chosen law, and which other law may hold as well.
fn peak(choice: &Choice, fitted: &Fit, again: Option<&Bootstrap>) -> ScalePeak {
    let far = figure(fitted.largest_n);
    let kink = fitted.law.coefficients().iter().position(|it| *it == Coefficient::Cores);
    let mut peak = ScalePeak::default();
    peak.sentence = match (fitted.peak(), kink) {
        (Peak::Within { n, low, high }, _) => {
            (peak.n, peak.low, peak.high) = (Some(n), Some(low), high);
            let end = high.map_or("no end".to_string(), figure);
            format!("throughput is greatest at n = {} [{}, {end}]", figure(n), figure(low))
        }
        (Peak::None, Some(place)) => {
            let one = &fitted.parameters[place];
            let (low, high) = again.map_or((one.low, one.high), |again| again.intervals()[place]);
            format!(
                "no peak, but a kink: from n = {} [{}, {}] on throughput is flat, as far as it was \
                 measured (n up to {far})",
                figure(one.value),
                figure(low),
                figure(high)
            )
        }
        _ => format!("no peak within {} × the measured range (n up to {far})", figure(REACH)),
    };
    if let Reason::Tied { with } = &choice.reason {
        let (law, with) = (name(choice.law()), list(with));
        peak.sentence += &format!(" if the law is {law}; {with} describes the trials equally well");
    }
    peak
}

/// Returns the ends of an interval of a height, with what blocks scatter added in squares, on the
/// logarithmic scale.
fn widened(point: f64, (low, high): (f64, f64), trials: &Paired) -> (f64, f64) {
    if trials.blocks < 2 || low <= 0.0 || point <= 0.0 {
        return (low, high);
    }
    let blocks = student_quantile((trials.blocks - 1) as f64, 1.0 - fit::LEVEL) * trials.error;
    let reach = |end: f64| (end / point).ln().hypot(blocks);
    (point * (-reach(low)).exp(), point * reach(high).exp())
}

/// So far from the least AICc, a law has considerably less support, but some (K. P. Burnham and D. R.
/// Anderson, *Model Selection and Multimodel Inference*, 2nd edition, Springer 2002, 2.6: 4 to 7).
const PLAUSIBLE_WITHIN: f64 = 7.0;

/// Widens the intervals of the chosen law for the choice: where another law is also plausible, each
/// coefficient that both have is in either interval. A small β that does not show is part of Amdahl's α,
/// and a kink near the largest n is hard to tell from a β.
fn allow_for_the_choice(fits: &mut [ScaleFit], chosen: &str) {
    let standing = |fit: &&ScaleFit| !fit.refuted && fit.aicc.is_some();
    let least =
        fits.iter().filter(standing).filter_map(|fit| fit.aicc).fold(f64::INFINITY, f64::min);
    let plausible: Vec<ScaleCoefficient> = fits
        .iter()
        .filter(standing)
        .filter(|fit| fit.aicc.is_some_and(|aicc| aicc - least <= PLAUSIBLE_WITHIN))
        .flat_map(|fit| fit.coefficients.clone())
        .collect();
    for one in fits.iter_mut().filter(|fit| fit.law == chosen).flat_map(|fit| &mut fit.coefficients)
    {
        for other in plausible.iter().filter(|other| other.symbol == one.symbol) {
            (one.low, one.high) = (one.low.min(other.low), one.high.max(other.high));
        }
    }
}

fn drawn(fitted: &Fit, again: Option<&Bootstrap>, trials: &Paired) -> Vec<ScaleDrawn> {
    let points = &trials.points;
    let least = points.iter().map(|(n, _)| *n).fold(f64::INFINITY, f64::min);
    let step = (fitted.largest_n - least) / STEPS as f64;
    let mut places: Vec<f64> = (0..=STEPS).map(|i| least + step * i as f64).collect();
    places.extend(points.iter().map(|(n, _)| *n));
    places.sort_by(f64::total_cmp);
    places.dedup();
    let at = |n: f64| {
        let point = fitted.throughput(n).ok()?;
        let resampled = again.and_then(|again| again.interval_at(n).ok());
        let own = resampled.or_else(|| fitted.interval_at(n).ok())?;
        let (low, high) = widened(point, own, trials);
        Some(ScaleDrawn { n, point, low, high })
    };
    places.into_iter().filter_map(at).collect()
}
