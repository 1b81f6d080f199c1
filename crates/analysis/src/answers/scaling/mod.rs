//! How throughput follows the number of workers: the laws fitted to trials, where the rest of the
//! speedup went, what stops it, what to do, and which n to measure next.
//!
//! One number per trial throughout. docs/scaling.md says how each figure is defined.

mod account;
mod advice;
mod case;
mod cause;
mod curve;
mod evidence;
mod figures;
mod grown;
mod held;
mod idle;
mod level;
mod next;
mod paired;
mod repeated;
mod rows;
mod shape;
mod table;
mod trials;
mod words;

#[cfg(test)]
mod tests;

pub use figures::figures;
pub(crate) use held::{HELD, TURNS};
pub use held::{kind_words, words as waited_for};
pub use next::{coarse, next};
pub use trials::{ScaleTrial, is_on_one_cpu, trials};
pub use words::{cause as cause_words, loss as loss_words, standing as standing_words};

use crate::session::outcomes::incomplete;
use level::{Level, centre, laws_for, levels, ratio};
use model::{Design, Estimate, Record, ScaleCurve, ScaleLevel, ScaleWork, Scaling, Unit};
pub use model::{SCALE_COPIES as COPIES, SCALE_WORK as WORK, SCALE_WORKERS as WORKERS};
use paired::{Paired, paired};

/// The work grows with n if at the largest n it is this multiple of that of the smallest: halfway, on a
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
    /// How many trials did not complete, by how they ended.
    pub incomplete: Vec<String>,
}

impl<'a> ScaleInput<'a> {
    /// Returns what figures measured elsewhere ask: `unit` is that of the throughput.
    pub fn of_figures(
        scruple: &'a str,
        source: String,
        unit: Option<String>,
        trials: Vec<ScaleTrial>,
    ) -> Self {
        let (session, cpus, incomplete) = (None, None, Vec::new());
        ScaleInput { scruple, session, source, cpus, unit, trials, incomplete }
    }

    /// Returns what a session of `scruple scale` asks. `cpus` is how many its trials could use.
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
        let records: Vec<&Record> = records.into_iter().collect();
        ScaleInput {
            scruple,
            session: Some(session),
            source: words.join(" "),
            cpus: u32::try_from(cpus).ok().filter(|cpus| *cpus > 0),
            unit: work.map(|response| match &response.unit {
                Unit::Other(unit) => unit.clone(),
                _ => response.label.clone(),
            }),
            incomplete: incomplete(&records),
            trials: trials(records, work.is_some()),
        }
    }
}

/// Returns the law that some throughputs follow, each with its n and its block.
pub fn law(trials: &[(f64, u32, f64)]) -> ScaleCurve {
    curve::curve(&paired(trials), &laws_for(false))
}

/// Returns the chosen law with its coefficients, except the height of the curve: "Amdahl, α = 0.1".
pub fn law_words(curve: &ScaleCurve) -> Option<String> {
    let chosen = curve.fits.iter().find(|fit| curve.chosen.as_ref() == Some(&fit.law))?;
    let coefficients = chosen.coefficients.iter().filter(|one| one.symbol != "γ");
    let words = coefficients.map(|one| {
        let estimate = Estimate::between(one.low, one.value, one.high);
        format!(", {} = {}", one.symbol, words::with_interval(&estimate))
    });
    Some(chosen.law.clone() + &words.collect::<String>())
}

/// Returns the whole answer.
pub fn scaling(input: &ScaleInput<'_>) -> Scaling {
    let grows = grows(&levels(&input.trials));
    let laws = laws_for(grows);
    let points = points(&input.trials);
    let slip = table::Slip::find(&points, &laws);
    // A row that is a slip is neither the most throughput nor advice.
    let is_kept = |trial: &&ScaleTrial| slip.is_none_or(|slip| slip.n != trial.n);
    let kept: Vec<ScaleTrial> = input.trials.iter().filter(is_kept).cloned().collect();
    let levels = levels(&kept);
    let described = described(&levels, input.cpus);
    let throughput = curve::curve(&without_blocks(&levels, ScaleTrial::throughput), &laws);
    let cpu_work = without_blocks(&levels, ScaleTrial::cpu_throughput);
    let causes = cause::causes(&case::Case {
        levels: &levels,
        described: &described,
        cpus: input.cpus,
        copies: input.trials.iter().filter(|trial| trial.copies > 1).collect(),
        placed: input.trials.iter().filter(|trial| trial.one_cpu).collect(),
        curve: &throughput,
    });
    let mut scaling = Scaling {
        scruple: input.scruple.into(),
        session: input.session.map(Into::into),
        source: input.source.clone(),
        cpus: input.cpus,
        work: ScaleWork {
            unit: input.unit.as_ref().map_or("1/s".into(), |unit| format!("{unit}/s")),
            counted: input.unit.is_some(),
            grows,
        },
        answer: Vec::new(),
        advice: advice::advice(&described, &causes, table::is_noise(&points, &laws)),
        causes,
        levels: described,
        throughput,
        cpu_throughput: (!cpu_work.points.is_empty()).then(|| curve::curve(&cpu_work, &laws)),
        remarks: Vec::new(),
    };
    scaling.answer = slip.iter().map(table::Slip::words).chain(advice::answer(&scaling)).collect();
    scaling.remarks = input
        .incomplete
        .iter()
        .map(|it| format!("{it}."))
        .chain(advice::remarks(&scaling, &levels))
        .collect();
    scaling
}

/// Returns each n with its throughput. The laws begin at one worker.
fn points(trials: &[ScaleTrial]) -> Vec<(f64, f64)> {
    let points = trials.iter().filter_map(|trial| Some((trial.n, trial.throughput()?)));
    points.filter(|(n, _)| *n >= 1.0).collect()
}

fn grows(levels: &[Level<'_>]) -> bool {
    let work = |level: Option<&Level<'_>>| level?.mean(|trial| Some(trial.work));
    match (work(levels.first()), work(levels.last())) {
        (Some(least), Some(most)) => most > GROWS * least,
        _ => false,
    }
}

/// Returns a throughput of all trials without what their blocks share.
fn without_blocks(levels: &[Level<'_>], of: fn(&ScaleTrial) -> Option<f64>) -> Paired {
    let all = levels.iter().flat_map(|level| &level.trials);
    let all = all.filter_map(|trial| Some((trial.n, trial.block, of(trial)?)));
    paired(&all.collect::<Vec<_>>())
}

/// Returns a mean rate, whose interval is by logarithms where Student's t would hold rates below 0.
fn rate(values: &[f64]) -> Option<Estimate> {
    let rate = centre(values)?;
    match rate.low > 0.0 {
        true => Some(rate),
        false => Some(Estimate { samples: rate.samples, ..ratio(values, &[1.0; 2])? }),
    }
}

/// Returns what is shown of each level.
fn described(levels: &[Level<'_>], cpus: Option<u32>) -> Vec<ScaleLevel> {
    let points = without_blocks(levels, ScaleTrial::throughput).points;
    let one = levels.iter().find(|level| level.n == 1.0);
    let at = |n: f64| -> Vec<f64> {
        points.iter().filter(|(own, _)| *own == n).map(|(_, x)| *x).collect()
    };
    let tell = |level: &Level<'_>| ScaleLevel {
        n: level.n,
        trials: level.trials.len() as u32,
        throughput: rate(&level.values(ScaleTrial::throughput)),
        cpu_throughput: rate(&level.values(ScaleTrial::cpu_throughput)),
        speedup: one.filter(|_| level.n != 1.0).and_then(|one| ratio(&at(level.n), &at(one.n))),
        account: one.and_then(|one| account::account(level, one, cpus)),
    };
    levels.iter().map(tell).collect()
}
