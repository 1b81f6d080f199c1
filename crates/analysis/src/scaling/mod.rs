//! How throughput follows the number of workers: the laws fitted to trials, where the rest of the
//! speedup went, what stops it, what to do, and which n to measure next.
//!
//! One number per trial throughout. docs/scaling.md says how each figure is defined.

mod account;
mod advice;
mod beyond;
mod cause;
mod curve;
mod evidence;
mod figures;
mod next;
mod paired;
mod trials;
mod words;

#[cfg(test)]
mod tests;

pub use figures::figures;
pub use next::{coarse, next};
pub use trials::{ScaleTrial, trials};
pub use words::{cause as cause_words, loss as loss_words};

use crate::mean_estimate;
use laws::fit::Law;
use laws::tail::student_quantile;
use model::{
    Design, Estimate, Record, SCALING_FORMAT, ScaleCurve, ScaleLevel, ScaleWork, Scaling, Unit,
};
pub use model::{SCALE_COPIES as COPIES, SCALE_WORK as WORK, SCALE_WORKERS as WORKERS};
use paired::paired;

/// The factor whose level "yes" marks the second of two identical treatments.
const AGAIN: &str = "again";

/// The work grows with n if at the largest n it is so many times that of the smallest: halfway, on a
/// logarithmic scale, between none and twice.
const GROWS: f64 = std::f64::consts::SQRT_2;

/// What is asked about a program, or about figures measured elsewhere.
#[derive(Clone, Debug)]
pub struct ScaleInput<'a> {
    /// Version of scruple.
    pub scruple: &'a str,
    /// The session's name.
    pub session: Option<&'a str>,
    /// The command, or the name of the file.
    pub source: String,
    /// How many CPUs the workers could use.
    pub cpus: Option<u32>,
    /// What throughput counts, with its unit; none where the whole command is the work.
    pub unit: Option<String>,
    /// The trials.
    pub trials: Vec<ScaleTrial>,
}

impl<'a> ScaleInput<'a> {
    /// What a session of `scruple scale` asks. `cpus` is how many its trials could use.
    pub fn of_session(
        scruple: &'a str,
        session: &'a str,
        cpus: usize,
        design: &Design,
        records: impl IntoIterator<Item = &'a Record>,
    ) -> Self {
        let subject = design.subject.as_ref();
        let command = subject.map(|subject| subject.command.as_slice()).unwrap_or_default();
        let words: Vec<&str> =
            command.iter().map(String::as_str).filter(|word| *word != "{copies}").collect();
        let work = design.response(WORK);
        ScaleInput {
            scruple,
            session: Some(session),
            source: words.join(" "),
            cpus: u32::try_from(cpus).ok().filter(|cpus| *cpus > 0),
            unit: work.map(|response| match &response.unit {
                Unit::Other(unit) => unit.clone(),
                _ => response.label.clone(),
            }),
            trials: trials(records, work.is_some()),
        }
    }
}

/// One number of workers with its trials.
#[derive(Clone, Debug)]
pub(crate) struct Level<'a> {
    pub(crate) n: f64,
    pub(crate) trials: Vec<&'a ScaleTrial>,
}

impl Level<'_> {
    /// A number of each trial that knows it.
    fn values(&self, of: impl Fn(&ScaleTrial) -> Option<f64>) -> Vec<f64> {
        self.trials.iter().filter_map(|trial| of(trial)).collect()
    }

    /// The mean over the trials that know it.
    fn mean(&self, of: impl Fn(&ScaleTrial) -> Option<f64>) -> Option<f64> {
        crate::mean(&self.values(of))
    }
}

/// The whole answer.
pub fn scaling(input: &ScaleInput<'_>) -> Scaling {
    let levels = levels(&input.trials);
    let grows = grows(&levels);
    let work = ScaleWork {
        unit: match &input.unit {
            Some(unit) => format!("{unit}/s"),
            None => "1/s".into(),
        },
        counted: input.unit.is_some(),
        grows,
    };
    let laws = laws_for(grows);
    let points = |of: fn(&ScaleTrial) -> Option<f64>| {
        let all = levels.iter().flat_map(|level| &level.trials);
        paired(
            &all.filter_map(|trial| Some((trial.n, trial.block, of(trial)?))).collect::<Vec<_>>(),
        )
    };
    let throughput = curve::curve(&points(ScaleTrial::throughput), &laws);
    let cpu_points = points(ScaleTrial::cpu_throughput);
    let cpu_throughput = (!cpu_points.points.is_empty()).then(|| curve::curve(&cpu_points, &laws));
    let told = told(&levels, input.cpus);
    let causes = cause::causes(&cause::Case {
        levels: &levels,
        told: &told,
        cpus: input.cpus,
        copies: input.trials.iter().filter(|trial| trial.copies > 1).collect(),
        curve: &throughput,
    });
    let advice = advice::advice(&told, &causes);
    Scaling {
        format: SCALING_FORMAT,
        scruple: input.scruple.into(),
        session: input.session.map(Into::into),
        source: input.source.clone(),
        cpus: input.cpus,
        answer: advice::answer(&told, &throughput, &causes, &work),
        remarks: advice::remarks(input, &levels, &told, &work, &throughput),
        advice,
        causes,
        levels: told,
        throughput,
        cpu_throughput,
        work,
    }
}

/// Gustafson's law is for work that grows with the workers, and is the same curve as Amdahl's
/// nowhere else.
fn laws_for(grows: bool) -> Vec<Law> {
    let all = Law::ALL.into_iter();
    all.filter(|law| grows || *law != Law::Gustafson).collect()
}

/// The levels of n, rising; copies stand beside them.
fn levels(trials: &[ScaleTrial]) -> Vec<Level<'_>> {
    let mut order: Vec<&ScaleTrial> = trials.iter().filter(|trial| trial.copies == 1).collect();
    order.sort_by(|a, b| a.n.total_cmp(&b.n));
    let mut levels: Vec<Level<'_>> = Vec::new();
    for trial in order {
        match levels.last_mut() {
            Some(level) if level.n == trial.n => level.trials.push(trial),
            _ => levels.push(Level { n: trial.n, trials: vec![trial] }),
        }
    }
    levels
}

fn grows(levels: &[Level<'_>]) -> bool {
    let work = |level: Option<&Level<'_>>| level?.mean(|trial| Some(trial.work));
    match (work(levels.first()), work(levels.last())) {
        (Some(least), Some(most)) => most > GROWS * least,
        _ => false,
    }
}

/// What is told of each level.
fn told(levels: &[Level<'_>], cpus: Option<u32>) -> Vec<ScaleLevel> {
    let one = levels.iter().find(|level| level.n == 1.0);
    let all = levels.iter().flat_map(|level| &level.trials);
    let all = all.filter_map(|trial| Some((trial.n, trial.block, trial.throughput()?)));
    let without_blocks = paired(&all.collect::<Vec<_>>()).points;
    let at = |n: f64| -> Vec<f64> {
        without_blocks.iter().filter(|(own, _)| *own == n).map(|(_, x)| *x).collect()
    };
    let tell = |level: &Level<'_>| {
        let throughput = level.values(ScaleTrial::throughput);
        let speedup = one.and_then(|one| match level.n == 1.0 {
            true => None,
            false => ratio(&at(level.n), &at(one.n)),
        });
        ScaleLevel {
            n: level.n,
            trials: level.trials.len() as u32,
            throughput: centre(&throughput),
            cpu_throughput: centre(&level.values(ScaleTrial::cpu_throughput)),
            speedup,
            account: one.and_then(|one| account::account(level, one, cpus)),
        }
    };
    levels.iter().map(tell).collect()
}

/// The mean with its interval; of a single trial, the number alone, which has none.
pub(crate) fn centre(values: &[f64]) -> Option<Estimate> {
    let single = || {
        let &[point] = values else { return None };
        let (low, high) = (point, point);
        Some(Estimate { point, low, high, standard_error: None, level: 0.95, samples: 1 })
    };
    mean_estimate(values).or_else(single)
}

/// The ratio of two means of separate trials, with the interval of Student's t on the logarithm and
/// Welch's degrees of freedom (B. L. Welch, Biometrika 34, 1947). The relative errors of the two
/// means add in squares.
pub(crate) fn ratio(above: &[f64], below: &[f64]) -> Option<Estimate> {
    let (a, b) = (crate::mean(above)?, crate::mean(below)?);
    let point = a / b;
    let samples = above.len().min(below.len()) as u32;
    if !point.is_finite() || point <= 0.0 {
        return None;
    }
    let of = |values: &[f64], mean: f64| {
        let count = values.len() as f64;
        Some((crate::variance(values)? / (mean * mean) / count, count - 1.0))
    };
    let (Some((va, fa)), Some((vb, fb))) = (of(above, a), of(below, b)) else {
        let (low, high) = (point, point);
        return Some(Estimate { point, low, high, standard_error: None, level: 0.95, samples });
    };
    let error = (va + vb).sqrt();
    let freedom = (va + vb).powi(2) / (va * va / fa + vb * vb / fb);
    let freedom = if freedom.is_finite() { freedom.max(1.0) } else { fa + fb };
    let reach = student_quantile(freedom, 0.05) * error;
    let (low, high) = (point * (-reach).exp(), point * reach.exp());
    Some(Estimate { point, low, high, standard_error: Some(error), level: 0.95, samples })
}

/// The chosen fit's name, where there is one.
pub(crate) fn chosen(curve: &ScaleCurve) -> Option<&model::ScaleFit> {
    let name = curve.chosen.as_ref()?;
    curve.fits.iter().find(|fit| fit.law == *name)
}
