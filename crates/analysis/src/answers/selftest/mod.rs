//! The grade of a machine, from what became of the answers that were planted.
//!
//! Everything known falls into one of four standings. **Wrong** is what the data contradict: a truth that is
//! excluded (after Hommel over the planted answers), something found where nothing was planted, identical
//! treatments that differ, a cause named that is not the planted one. **Missed** is what the noise hid: not
//! distinguishable from nothing, a cause not named, no interval for want of trials.
//! **Untested** is what the machine cannot realise (two threads at a time, on one CPU). All else is
//! **right**.
//!
//! One thing wrong is grade F, for then no number of this machine can be believed: noise makes
//! honest intervals wide, it does not move them off the truth. Without anything wrong the grade is
//! that of the finest planted size such that it **and all larger ones** are right: one lucky find
//! below a miss proves nothing. What was missed beside the sizes (a count that scatters, a cause
//! that was not named, an A/A control that was not measured) keeps a machine from grade A, since
//! it was not shown that it can be trusted there, and takes nothing from the sizes. What is
//! untested lowers nothing and is shown.

use crate::session::outcomes::without_fractions;
use crate::session::verdict::blocks_for;
use model::{
    AnswerStanding, CauseStanding, DiagnosisResult, ExperimentSummary, PlantedResult, Quantity,
    QuantityResult, Selftest, Standing, Summary, TrustGrade, Unit,
};
use std::cmp::Ordering;

/// Grade B reaches down to effects of this size, and C to the next.
const FINE: f64 = 0.05;
const COARSE: f64 = 0.20;

/// Sizes that differ by less than this are the same size.
const SAME_SIZE: f64 = 1e-9;

/// Returns the grade of the machine on which a session with planted answers was measured. The folder is
/// left to those who know it.
pub fn selftest(summary: &Summary) -> Selftest {
    let answers: Vec<AnswerStanding> = each(summary, |experiment| {
        experiment.planted.iter().map(|result| answer_standing(experiment, result)).collect()
    });
    // A gap whose cause nobody planted has no right answer.
    let causes: Vec<CauseStanding> = each(summary, |experiment| {
        let known = experiment.diagnoses.iter().filter(|diagnosis| diagnosis.planted.is_some());
        known.map(|result| cause_standing(experiment, result)).collect()
    });
    let controls = summary.trust.controls.clone();
    let controls_silent =
        (!controls.is_empty()).then(|| controls.iter().all(|control| !control.differs));
    let described = Marks::of(summary, &answers, &causes);
    let sizes = Sizes::of(&answers);
    let grade = grade(&described, &sizes);
    Selftest {
        scruple: summary.scruple.clone(),
        session: summary.session.clone(),
        folder: None,
        complete: summary.complete,
        grade,
        trusted: grade == Some(TrustGrade::A),
        finest: sizes.finest.filter(|_| grade != Some(TrustGrade::F)),
        sentence: sentence(grade, described.unsized_missed, &sizes),
        advice: advice(grade, &answers, &causes),
        reasons: [described.wrong, described.missed].concat(),
        untested: described.untested,
        answers,
        causes,
        controls,
        controls_silent,
    }
}

fn each<T>(summary: &Summary, of: impl Fn(&ExperimentSummary) -> Vec<T>) -> Vec<T> {
    summary.experiments.iter().flat_map(of).collect()
}

/// Returns what became of one planted answer of an experiment.
pub fn answer_standing(experiment: &ExperimentSummary, result: &PlantedResult) -> AnswerStanding {
    let (standing, why) = standing(experiment, result);
    AnswerStanding { experiment: experiment.id.clone(), result: result.clone(), standing, why }
}

fn standing(experiment: &ExperimentSummary, planted: &PlantedResult) -> (Standing, String) {
    if planted.result.estimate.is_none() {
        return unmeasured(experiment, [&planted.result]);
    }
    let nothing = is_nothing(planted);
    let counts = is_count(&planted.result);
    let (standing, why) = match (planted.found, planted.excluded, planted.holds) {
        (Some(true), _, _) if nothing => {
            (Standing::Wrong, "something was found where nothing was planted")
        }
        (_, Some(true), _) if counts => (Standing::Wrong, "the count is wrong"),
        (_, Some(true), _) => {
            (Standing::Wrong, "the true value lies outside the measured interval")
        }
        (Some(false), _, _) if nothing => (Standing::Right, ""),
        (Some(true), Some(false), Some(false)) if counts => (
            Standing::Missed,
            "the count scatters, and its interval does not contain the true value",
        ),
        (Some(true), Some(false), _) => (Standing::Right, ""),
        (Some(false), _, _) if lacks_blocks(planted) => {
            (Standing::Missed, "not found: its blocks are too few to find anything")
        }
        (Some(false), _, _) => {
            (Standing::Missed, "not found: it is indistinguishable from nothing")
        }
        _ => (Standing::Missed, "not judged"),
    };
    (standing, why.into())
}

/// Reports whether a planted answer has too few blocks to be found: fewer than any verdict takes, or an interval
/// that shows it and still no verdict.
fn lacks_blocks(planted: &PlantedResult) -> bool {
    let Some(estimate) = planted.result.estimate else { return false };
    let shows = estimate.low > planted.without || estimate.high < planted.without;
    !matches!(planted.result.quantity, Quantity::Frequency { .. })
        && (shows || estimate.samples < blocks_for(1))
}

/// Returns what became of one planted cause of an experiment.
pub fn cause_standing(experiment: &ExperimentSummary, result: &DiagnosisResult) -> CauseStanding {
    let shares = result.suspects.iter().map(|blame| &blame.share);
    let (standing, why) = match &result.named {
        Some(named) if Some(named) == result.planted.as_ref() => (Standing::Right, String::new()),
        Some(named) => (Standing::Wrong, format!("{named} was named instead")),
        None => {
            let without: Vec<&QuantityResult> =
                shares.filter(|share| share.estimate.is_none()).collect();
            let alike = "it is indistinguishable from the other suspects".to_string();
            match unmeasured(experiment, without.iter().copied()) {
                (Standing::Untested, why) => (Standing::Untested, why),
                (standing, why) => {
                    let why = if without.is_empty() { alike } else { why };
                    (standing, format!("not named: {why}"))
                }
            }
        }
    };
    CauseStanding { experiment: experiment.id.clone(), result: result.clone(), standing, why }
}

/// Returns of numbers without an interval: whether the machine refused a treatment that they need.
fn unmeasured<'a>(
    experiment: &ExperimentSummary,
    results: impl IntoIterator<Item = &'a QuantityResult>,
) -> (Standing, String) {
    let mut remark = "";
    for result in results {
        remark = &result.remark;
        // The remark names the outcome of the treatment that is missing (`Table::why_not`).
        let mut refused = experiment.outcomes.iter().filter(|it| it.outcome == "unsupported");
        let alike = without_fractions(remark);
        let known =
            |reason: &str| alike.contains(&format!("unsupported, {}", without_fractions(reason)));
        if let Some(outcome) = refused.find(|outcome| known(&outcome.reason)) {
            return (Standing::Untested, outcome.reason.clone());
        }
    }
    let colon = if remark.is_empty() { "" } else { ": " };
    (Standing::Missed, format!("not measured{colon}{remark}"))
}

/// Reports whether nothing was planted, so that nothing may be found.
fn is_nothing(planted: &PlantedResult) -> bool {
    planted.truth.contains(planted.without)
}

/// Reports whether it is a number of things, which has no noise of a clock.
fn is_count(result: &QuantityResult) -> bool {
    matches!(result.quantity, Quantity::Frequency { .. })
        || matches!(result.unit, Some(Unit::Count | Unit::Bytes))
}

/// What is wrong, missed and untested, in sentences.
struct Marks {
    wrong: Vec<String>,
    /// What was missed, effects of a known size first.
    missed: Vec<String>,
    /// What was missed and has no size.
    unsized_missed: usize,
    untested: Vec<String>,
}

impl Marks {
    fn of(summary: &Summary, answers: &[AnswerStanding], causes: &[CauseStanding]) -> Marks {
        // What is large and missed weighs more than what is small and missed; what has no size is last.
        let mut by_size: Vec<&AnswerStanding> = answers.iter().collect();
        by_size
            .sort_by(|a, b| b.result.size.partial_cmp(&a.result.size).unwrap_or(Ordering::Equal));
        let said = |wanted: Standing| -> Vec<String> {
            let answers = by_size.iter().filter(|it| it.standing == wanted);
            let causes = causes.iter().filter(|it| it.standing == wanted).map(cause_said);
            answers.map(|it| answer_said(it)).chain(causes).collect()
        };
        let mut wrong = said(Standing::Wrong);
        let differing = summary.trust.controls.iter().filter(|control| control.differs);
        wrong.extend(differing.map(|control| {
            let (experiment, response) = (&control.experiment, &control.response);
            format!("{experiment}: identical treatments differ in {response}")
        }));
        let mut missed = said(Standing::Missed);
        if summary.trust.controls.is_empty() {
            missed.push("the A/A control was not measured".into());
        }
        let is_sized = |it: &&AnswerStanding| it.result.size.is_some();
        let of_a_size = answers.iter().filter(is_sized);
        let sized = of_a_size.filter(|it| it.standing == Standing::Missed).count();
        let (unsized_missed, untested) = (missed.len() - sized, untested(answers, causes));
        Marks { wrong, missed, unsized_missed, untested }
    }
}

/// Returns what the machine cannot realise: one line for all that an experiment lacks for one reason.
fn untested(answers: &[AnswerStanding], causes: &[CauseStanding]) -> Vec<String> {
    let answers = answers.iter().map(|it| (it.standing, &it.experiment, &it.why, &it.result.what));
    let causes = causes.iter().map(|it| (it.standing, &it.experiment, &it.why, &it.result.what));
    let mut lacking: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for (standing, experiment, why, what) in answers.chain(causes) {
        if standing != Standing::Untested {
            continue;
        }
        match lacking.iter_mut().find(|(of, reason, _)| of == experiment && reason == why) {
            Some((_, _, all)) => all.push(what),
            None => lacking.push((experiment, why, vec![what])),
        }
    }
    let said = |(of, why, all): (&str, &str, Vec<&str>)| format!("{of}: {}: {why}", all.join("; "));
    lacking.into_iter().map(said).collect()
}

fn answer_said(answer: &AnswerStanding) -> String {
    let size = answer.result.size.map(|size| format!(" ({})", percent(size))).unwrap_or_default();
    format!("{}: {}{size}: {}", answer.experiment, answer.result.what, answer.why)
}

fn cause_said(cause: &CauseStanding) -> String {
    let planted = cause.result.planted.as_deref().unwrap_or_default();
    format!("{}: {} (cause: {planted}): {}", cause.experiment, cause.result.what, cause.why)
}

/// The sizes of effects that were tested, and how far down they are right.
struct Sizes {
    largest: Option<f64>,
    smallest: Option<f64>,
    finest: Option<f64>,
    /// Whether no size was found, and the largest has too few blocks to be found.
    lack_blocks: bool,
}

impl Sizes {
    fn of(answers: &[AnswerStanding]) -> Sizes {
        let lacks_blocks =
            |it: &AnswerStanding| it.standing == Standing::Missed && lacks_blocks(&it.result);
        let mut tested: Vec<(f64, bool)> = answers
            .iter()
            .filter(|it| it.standing != Standing::Untested && !is_nothing(&it.result))
            .filter_map(|it| Some((it.result.size?.abs(), it.standing == Standing::Right)))
            .filter(|(size, _)| size.is_finite())
            .collect();
        tested.sort_by(|a, b| b.0.total_cmp(&a.0));
        let same = |a: &(f64, bool), b: &(f64, bool)| a.0 - b.0 <= SAME_SIZE;
        let right = tested.chunk_by(same).take_while(|chunk| chunk.iter().all(|(_, right)| *right));
        let finest = right.last().and_then(|chunk| chunk.last()).map(|(size, _)| *size);
        let is_largest = |it: &&AnswerStanding| {
            let largest = tested.first().map_or(f64::INFINITY, |(size, _)| *size);
            it.result.size.is_some_and(|size| size.abs() >= largest - SAME_SIZE)
        };
        Sizes {
            lack_blocks: finest.is_none() && answers.iter().filter(is_largest).any(lacks_blocks),
            largest: tested.first().map(|(size, _)| *size),
            smallest: tested.last().map(|(size, _)| *size),
            finest,
        }
    }

    fn all_right(&self) -> bool {
        let same = |(a, b): (f64, f64)| (a - b).abs() <= SAME_SIZE;
        self.finest.zip(self.smallest).is_some_and(same)
    }
}

fn grade(described: &Marks, sizes: &Sizes) -> Option<TrustGrade> {
    if !described.wrong.is_empty() {
        return Some(TrustGrade::F);
    }
    sizes.smallest.filter(|_| !sizes.lack_blocks)?;
    let down_to = |size: f64| sizes.finest.is_some_and(|finest| finest <= size + SAME_SIZE);
    Some(if sizes.all_right() && described.unsized_missed == 0 {
        TrustGrade::A
    } else if down_to(FINE) {
        TrustGrade::B
    } else if down_to(COARSE) {
        TrustGrade::C
    } else {
        TrustGrade::D
    })
}

/// Returns for which sizes the machine can be trusted. What stands in the way is in the reasons.
fn sentence(grade: Option<TrustGrade>, unsized_missed: usize, sizes: &Sizes) -> String {
    if grade == Some(TrustGrade::F) {
        return "This machine cannot be trusted for effects of any size.".into();
    }
    let Some(largest) = sizes.largest else {
        return "No effect of a known size was measured, so it is unknown for which sizes this \
        machine can be trusted."
            .into();
    };
    if sizes.lack_blocks {
        return "The blocks are too few to find an effect of any size, so it is unknown for which \
        sizes this machine can be trusted."
            .into();
    }
    let Some(finest) = sizes.finest.map(percent) else {
        return format!(
            "This machine cannot be trusted for effects of {} and less, the largest that was \
             planted.",
            percent(largest)
        );
    };
    let can = format!("This machine can be trusted for effects of {finest} and more");
    match (sizes.all_right(), unsized_missed) {
        (true, 0) => format!("{can}, the finest that was planted."),
        (true, _) => format!("{can}, but not for all that was planted."),
        (false, _) => format!("{can}, but not for smaller ones."),
    }
}

fn advice(
    grade: Option<TrustGrade>,
    answers: &[AnswerStanding],
    causes: &[CauseStanding],
) -> String {
    let wrong = |it: &&AnswerStanding| it.standing == Standing::Wrong;
    let count = answers.iter().filter(wrong).any(|it| is_count(&it.result.result));
    let cause = causes.iter().any(|it| it.standing == Standing::Wrong);
    match grade {
        Some(TrustGrade::A) => "",
        Some(TrustGrade::F) if count || cause => {
            "Repeat it. If the same is contradicted again, scruple errs on this machine: please \
             report it with the session's folder."
        }
        Some(TrustGrade::F) => {
            "Repeat it: chance alone contradicts something in at most one of ten self-tests. If \
             the same is contradicted again, scruple errs on this machine: please report it with \
             the session's folder."
        }
        Some(_) => {
            "Give it more time (--time-budget), a quieter machine or other CPUs (--affinity); \
             scruple doctor says what disturbs here."
        }
        None => "Let it measure all that can be planted, and longer (--time-budget).",
    }
    .into()
}

/// Returns a share for people: "2 %", "0.5 %".
fn percent(share: f64) -> String {
    let digits = format!("{:.2}", 100.0 * share);
    format!("{} %", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests;
