//! How throughput follows the number of workers: the laws fitted to trials, where the rest of the
//! speedup went, what stops it, what to do, and which n to measure next.
//!
//! One number per trial throughout. docs/scaling.md says how each figure is defined.

mod account;
mod advice;
mod beyond;
mod case;
mod cause;
mod curve;
mod evidence;
mod figures;
mod input;
mod level;
mod next;
mod paired;
mod rows;
mod trials;
mod words;

#[cfg(test)]
mod tests;

pub use figures::figures;
pub use input::ScaleInput;
pub use next::{coarse, next};
pub use trials::{ScaleTrial, trials};
pub use words::{cause as cause_words, loss as loss_words};

use level::{Level, centre, laws_for, levels, ratio};
pub use model::{SCALE_COPIES as COPIES, SCALE_WORK as WORK, SCALE_WORKERS as WORKERS};
use model::{SCALING_FORMAT, ScaleLevel, ScaleWork, Scaling};
use paired::paired;

/// The work grows with n if at the largest n it is this multiple of that of the smallest: halfway, on a
/// logarithmic scale, between none and twice.
const GROWS: f64 = std::f64::consts::SQRT_2;

/// Returns the whole answer.
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
    let described = described(&levels, input.cpus);
    let causes = cause::causes(&case::Case {
        levels: &levels,
        described: &described,
        cpus: input.cpus,
        copies: input.trials.iter().filter(|trial| trial.copies > 1).collect(),
        curve: &throughput,
    });
    let advice = advice::advice(&described, &causes);
    Scaling {
        format: SCALING_FORMAT,
        scruple: input.scruple.into(),
        session: input.session.map(Into::into),
        source: input.source.clone(),
        cpus: input.cpus,
        answer: advice::answer(&described, &throughput, &causes, &work),
        remarks: advice::remarks(input, &levels, &described, &work, &throughput),
        advice,
        causes,
        levels: described,
        throughput,
        cpu_throughput,
        work,
    }
}

fn grows(levels: &[Level<'_>]) -> bool {
    let work = |level: Option<&Level<'_>>| level?.mean(|trial| Some(trial.work));
    match (work(levels.first()), work(levels.last())) {
        (Some(least), Some(most)) => most > GROWS * least,
        _ => false,
    }
}

/// Returns what is shown of each level.
fn described(levels: &[Level<'_>], cpus: Option<u32>) -> Vec<ScaleLevel> {
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
