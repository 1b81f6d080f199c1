//! The laws fitted to the trials of one throughput.

use super::paired::{Paired, by_level};
use super::table;
use super::words::{figure, law_name, law_words};
use crate::stats::order;
use laws::Error;
use laws::fit::{
    self, Bootstrap, Candidate, Choice, Coefficient, Fit, Law, Parameter, Peak, Point, Reason,
    Region,
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
    fitted(trials, laws).unwrap_or_else(without_law)
}

/// Returns how intervals were formed.
fn intervals_of(again: Option<&Bootstrap>) -> String {
    if again.is_some() { "bootstrap".into() } else { "t".into() }
}

/// Returns a curve of which no law is known, for a reason.
fn without_law(reason: String) -> ScaleCurve {
    let sentence = "no law was chosen, so no curve is drawn".into();
    ScaleCurve {
        reason,
        intervals: intervals_of(None),
        peak: ScalePeak { sentence, ..ScalePeak::default() },
        ..ScaleCurve::default()
    }
}

fn fitted(trials: &Paired, laws: &[Law]) -> Result<ScaleCurve, String> {
    // The laws begin at one worker.
    let points: Vec<_> = trials.points.iter().copied().filter(|(n, _)| *n >= 1.0).collect();
    let points = &points;
    let is_table = table::is_table(points);
    let weighted = weighted(points).map_err(|error| error.to_string())?;
    let levels = by_level(points);
    let Some(least) = levels.iter().map(|(_, values)| values.len()).min() else {
        return Err("no trial completed".into());
    };
    let choice = fit::choose(laws, &weighted).map_err(|_| too_few(points.len(), levels.len()))?;
    let resample = |one: &Candidate| {
        let enough = least >= TRIALS_FOR_BOOTSTRAP;
        enough.then(|| bootstrap(one.law, &weighted)).flatten()
    };
    let again: Vec<Option<Bootstrap>> = choice.candidates.iter().map(resample).collect();
    let candidates = || choice.candidates.iter().zip(&again);
    let mut fits: Vec<ScaleFit> =
        candidates().map(|(one, again)| described(one, again.as_ref(), &levels)).collect();
    // What blocks scatter widens the height of the curve.
    let coefficients = fits.iter_mut().flat_map(|fit| &mut fit.coefficients);
    for gamma in coefficients.filter(|one| one.symbol == "γ") {
        (gamma.low, gamma.high) = widened(gamma.value, (gamma.low, gamma.high), trials);
    }
    if choice.reason == Reason::TooFewForEvidence {
        let none = without_law(too_few_to_choose(points.len(), levels.len()));
        let intervals = intervals_of(again.first().and_then(Option::as_ref));
        return Ok(ScaleCurve { fits, intervals, ..none });
    }
    let chosen = choice.law();
    allow_for_the_choice(&mut fits, law_name(chosen));
    let fitted = choice.fit().map_err(|_| too_few(points.len(), levels.len()))?;
    if let Some(none) = table::no_law(fitted, &weighted).filter(|_| is_table) {
        let intervals = intervals_of(None);
        return Ok(ScaleCurve { fits, intervals, ..without_law(none) });
    }
    let again =
        candidates().find(|(one, _)| one.law == chosen).and_then(|(_, again)| again.as_ref());
    let mut curve = ScaleCurve {
        fits,
        chosen: Some(law_name(chosen).into()),
        reason: reason(&choice),
        intervals: intervals_of(again),
        peak: peak(&choice, fitted, again, is_table),
        curve: drawn(fitted, again, trials),
    };
    if is_table {
        curve.reason += &table::scatter(fitted, &weighted);
    }
    Ok(curve)
}

/// Returns the points weighted for noise that is the same part of the throughput at each n. Where no n has
/// two, nothing is known of the noise, and all weigh alike: so published fits were made.
pub(super) fn weighted(points: &[(f64, f64)]) -> Result<Vec<Point>, Error> {
    let alike: Vec<Point> = points.iter().map(|&(n, x)| Point::new(n, x)).collect();
    let weighted = fit::weighted_by_level(&alike)?;
    Ok(if table::is_table(points) { alike } else { weighted })
}

fn too_few(trials: usize, levels: usize) -> String {
    let s = if trials == 1 { "" } else { "s" };
    format!(
        "{trials} trial{s} at {levels} n: a law needs two n or more, and more trials than coefficients"
    )
}

/// Returns why no law was chosen, where some could be fitted.
fn too_few_to_choose(trials: usize, levels: usize) -> String {
    format!("{trials} points at {levels} n are too few to choose between laws")
}

fn letter(coefficient: Coefficient) -> (&'static str, &'static str) {
    match coefficient {
        Coefficient::Gamma => ("γ", "throughput of one worker"),
        Coefficient::Serial => ("s", "serial part of the time on n workers"),
        Coefficient::Alpha => ("α", "contention: the part that only one worker does at a time"),
        Coefficient::Beta => ("β", "coherency: what each pair of workers costs"),
        Coefficient::Cores => ("c", "how many are served at a time"),
    }
}

fn described(
    candidate: &Candidate,
    again: Option<&Bootstrap>,
    levels: &[(f64, Vec<f64>)],
) -> ScaleFit {
    let (law, formula) = law_words(candidate.law);
    let described = ScaleFit {
        law: law.into(),
        formula: formula.into(),
        lack_of_fit_p: candidate.lack_of_fit.map(|lack| lack.p_value),
        refuted: candidate.refuted(),
        ..ScaleFit::default()
    };
    let fitted = match &candidate.fit {
        Ok(fitted) => fitted,
        Err(error) => return ScaleFit { missing: why_not(candidate.law, error), ..described },
    };
    let coefficient = |(one, (low, high)): (&Parameter, (f64, f64))| {
        let (symbol, meaning) = letter(one.coefficient);
        let (symbol, meaning) = (symbol.into(), meaning.into());
        ScaleCoefficient { symbol, meaning, value: one.value, low, high }
    };
    let residual = |(n, values): &(f64, Vec<f64>)| {
        let height = fitted.throughput(*n).ok()?;
        Some(ScaleResidual { n: *n, share: order::mean(values)? / height - 1.0 })
    };
    let coefficients = fitted.parameters.iter().zip(intervals(fitted, again));
    ScaleFit {
        aicc: fitted.aicc,
        coefficients: coefficients.map(coefficient).collect(),
        residuals: levels.iter().filter_map(residual).collect(),
        ..described
    }
}

/// Returns the intervals of a fit's coefficients: those of the trials resampled, where they were.
fn intervals(fitted: &Fit, again: Option<&Bootstrap>) -> Vec<(f64, f64)> {
    let own = || fitted.parameters.iter().map(|one| (one.low, one.high)).collect();
    again.map_or_else(own, Bootstrap::intervals)
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
    laws.iter().map(|law| law_name(*law)).collect::<Vec<_>>().join(", ")
}

fn reason(choice: &Choice) -> String {
    let law = law_name(choice.law());
    let refuted: Vec<Law> =
        choice.candidates.iter().filter(|one| one.refuted()).map(|one| one.law).collect();
    let out = match refuted.as_slice() {
        [] => String::new(),
        some => format!("; the scatter of the trials at each n rejects {}", list(some)),
    };
    let why = match &choice.reason {
        Reason::Only => ": all other laws are rejected".to_string(),
        Reason::Ahead { by } => format!(": its AICc is the lowest, by {} or more", figure(*by)),
        Reason::Simplest { than } => {
            format!(": {} describes the trials equally well, with more coefficients", list(than))
        }
        Reason::Tied { with } => format!("; {} describes the trials equally well", list(with)),
        Reason::Nearest { p_value } => {
            let p = if *p_value < 1e-3 { "below 0.001".to_string() } else { figure(*p_value) };
            return format!(
                "{law} is the closest, but the scatter of the trials rejects every law (p {p})"
            );
        }
        _ => return "too few trials to choose between laws".into(),
    };
    format!("{law}{why}{out}")
}

/// Returns where throughput is greatest by the chosen law, and which other law may hold as well.
fn peak(choice: &Choice, fitted: &Fit, again: Option<&Bootstrap>, is_table: bool) -> ScalePeak {
    let far = figure(fitted.largest_n);
    let is_kink = |one: &Parameter| one.coefficient == Coefficient::Cores;
    let mut peak = ScalePeak::default();
    peak.sentence = match (fitted.peak(), fitted.parameters.iter().position(is_kink)) {
        (Peak::Within { n, low, high }, _) => {
            let high = high.filter(|high| *high <= fitted.largest_n);
            (peak.n, peak.low, peak.high) = (Some(n), Some(low), high);
            let end = high.map_or(format!("beyond {far}"), figure);
            let already = if low > 1.0 { "" } else { ", if not with one worker already" };
            format!("throughput is greatest at n = {} [{}, {end}]{already}", figure(n), figure(low))
        }
        (Peak::None, Some(place)) => {
            let (low, high) = intervals(fitted, again)[place];
            format!(
                "no peak, but a kink: from n = {} [{}, {}] on throughput is flat, as far as it was \
                 measured (n up to {far})",
                figure(fitted.parameters[place].value),
                figure(low),
                figure(high)
            )
        }
        _ => {
            let nothing =
                "nothing is predicted beyond, where laws that describe the same trials differ";
            let beyond = Some(choice).filter(|_| is_table).and_then(table::extrapolated);
            format!("no peak up to n = {far}; {}", beyond.as_deref().unwrap_or(nothing))
        }
    };
    if let Reason::Tied { with } = &choice.reason {
        let (law, with) = (law_name(choice.law()), list(with));
        peak.sentence += &format!(" (by the {law} law; {with} describes the trials equally well)");
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
    let aicc = |fit: &ScaleFit| fit.aicc.filter(|_| !fit.refuted);
    let least = fits.iter().filter_map(aicc).fold(f64::INFINITY, f64::min);
    let is_plausible = |fit: &&ScaleFit| aicc(fit).is_some_and(|it| it - least <= PLAUSIBLE_WITHIN);
    let plausible: Vec<ScaleCoefficient> =
        fits.iter().filter(is_plausible).flat_map(|fit| fit.coefficients.clone()).collect();
    let own = fits.iter_mut().filter(|fit| fit.law == chosen);
    for one in own.flat_map(|fit| &mut fit.coefficients) {
        for other in plausible.iter().filter(|other| other.symbol == one.symbol) {
            (one.low, one.high) = (one.low.min(other.low), one.high.max(other.high));
        }
    }
}

fn drawn(fitted: &Fit, again: Option<&Bootstrap>, trials: &Paired) -> Vec<ScaleDrawn> {
    let points = &trials.points;
    let least = points.iter().map(|(n, _)| n.max(1.0)).fold(f64::INFINITY, f64::min);
    let step = (fitted.largest_n - least) / STEPS as f64;
    let mut places: Vec<f64> = (0..=STEPS).map(|i| least + step * i as f64).collect();
    places.extend(points.iter().map(|(n, _)| n.max(1.0)));
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
