//! What a number is worth, in words: how small a difference it could have shown, what kind of
//! evidence it is, and whether disturbed trials move it.

use crate::Session;
use crate::format::{self, Terms, rough, terms};
use model::{ClaimResult, Estimate, Grade, QuantityResult};
use std::collections::BTreeMap;

/// What the floors mean; said once where they stand beside verdicts.
pub(crate) const FLOOR_MEANING: &str = "The floor is the smallest difference that would have been \
    found four times in five. It is meant for one number alone, before Holm's correction over the \
    session's claims; a claim of about that size takes more blocks to decide.";

/// What the grades mean; also said once.
const GRADE_MEANING: &str = "Evidence behind a verdict: ●○○ timing only, a clock alone; \
    ●●○ software counter, the kernel or the trial counted what the claim speaks of, or that the \
    treatment was realised; ●●● PMU counter, the processor counted it.";

/// The smallest differences that a number could show, now and in ten times the time: "floor 2.1 %,
/// 0.6 % in ten times the time".
pub(crate) fn floors(result: &QuantityResult) -> Option<String> {
    let size = |floor: f64| size(floor, terms(result));
    match (result.floor, result.floor_in_ten_times) {
        (Some(now), Some(later)) => {
            Some(format!("floor {} now, {} in ten times the time", size(now), size(later)))
        }
        (Some(now), None) => Some(format!("floor {}", size(now))),
        (None, Some(later)) => Some(format!("no floor yet, {} in ten times the time", size(later))),
        (None, None) => None,
    }
}

/// The smallest difference that a claim's verdict needs: "floor of the verdict 6.3 %".
pub(crate) fn floor_of_verdict(claim: &ClaimResult) -> Option<String> {
    let floor = size(claim.floor_of_verdict?, terms(&claim.result));
    Some(format!("floor of the verdict {floor}"))
}

/// A difference in the terms of what differs: of multiples it is relative, of shares it is in
/// percentage points.
fn size(floor: f64, terms: Terms<'_>) -> String {
    match terms {
        Terms::Times => rough(floor, Terms::Share),
        Terms::Share | Terms::Frequency => {
            let text = rough(floor, terms);
            match text.strip_suffix(" %") {
                Some(number) => format!("{number} percentage points"),
                None => text,
            }
        }
        other => rough(floor, other),
    }
}

/// The mark of a grade, the more filled the better, and its word, without which it never stands.
pub(crate) fn grade(grade: Grade) -> (&'static str, &'static str) {
    match grade {
        Grade::Timing => ("●○○", "timing only"),
        Grade::Software => ("●●○", "software counter"),
        Grade::Pmu => ("●●●", "PMU counter"),
    }
}

/// The number of claims that must lack the same for it to be said once for all of them.
const COMMON_MIN: usize = 3;

/// What would raise the grade of most claims of a session, where several lack the same: it is said
/// once, and beside each claim only what is another.
pub(crate) fn raises_most<'a>(session: &Session<'a>) -> Option<&'a str> {
    let mut claims: BTreeMap<&str, usize> = BTreeMap::new();
    for claim in session.summary.experiments.iter().flat_map(|experiment| &experiment.claims) {
        if !claim.raise.is_empty() && claim.result.estimate.is_some() {
            *claims.entry(&claim.raise).or_default() += 1;
        }
    }
    let (raise, n) = claims.into_iter().max_by_key(|(_, n)| *n)?;
    (n >= COMMON_MIN).then(|| raise.trim_end_matches('.'))
}

/// What the grades mean, and what would raise most of them.
pub(crate) fn grade_meaning(session: &Session<'_>) -> String {
    match raises_most(session) {
        None => GRADE_MEANING.into(),
        Some(raise) => format!(
            "{GRADE_MEANING} What would raise most verdicts of this session, where nothing else is \
             said beside them: {}.",
            crate::words::short(&crate::words::uncapital(raise), 400)
        ),
    }
}

/// The number without tagged trials, where it lies elsewhere: "without the 3 tagged of its trials
/// 7.1× [7.0, 7.2]".
pub(crate) fn moved_by_tags(result: &QuantityResult) -> Option<String> {
    let (with, without) = (result.estimate.as_ref()?, result.untagged.as_ref()?);
    if !differs_visibly(with, without) {
        return None;
    }
    let number = format::joined(&format::parts(without, terms(result)));
    Some(format!(
        "without its {} {number}",
        crate::words::counted(result.tagged.into(), "tagged trial")
    ))
}

/// Whether leaving out tagged trials moves a number by more than half of what its interval allows
/// to one side: less than that is lost in the scatter.
pub(crate) fn differs_visibly(with: &Estimate, without: &Estimate) -> bool {
    let half_width = (with.high - with.low).abs() / 2.0;
    (with.point - without.point).abs() > half_width / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Cell, Quantity, Unit};

    fn result(quantity: Quantity, unit: Option<Unit>) -> QuantityResult {
        QuantityResult {
            of_means: None,
            quantity,
            unit,
            estimate: None,
            events: None,
            chances: None,
            carried_by: None,
            floor: Some(0.021),
            floor_in_ten_times: Some(0.0064),
            tagged: 3,
            untagged: None,
            remark: String::new(),
        }
    }

    fn cell() -> Cell {
        Cell::default()
    }

    #[test]
    fn floors_are_told_in_the_terms_of_their_number() {
        let response = || "wall_ns".to_string();
        let ratio = Quantity::Ratio { response: response(), of: cell(), to: cell() };
        let share =
            Quantity::Share { response: response(), whole: cell(), without: cell(), base: cell() };
        let value = Quantity::Value { response: response(), at: cell() };
        assert_eq!(
            floors(&result(ratio, None)).as_deref(),
            Some("floor 2.1 % now, 0.64 % in ten times the time")
        );
        assert_eq!(
            floors(&result(share, None)).as_deref(),
            Some("floor 2.1 percentage points now, 0.64 percentage points in ten times the time")
        );
        let mut nanoseconds = result(value, Some(Unit::Ns));
        (nanoseconds.floor, nanoseconds.floor_in_ten_times) = (Some(12_000.0), None);
        assert_eq!(floors(&nanoseconds).as_deref(), Some("floor 12 µs"));
        nanoseconds.floor = None;
        assert_eq!(floors(&nanoseconds), None);
    }

    #[test]
    fn a_small_move_is_not_worth_a_word() {
        let estimate = |point: f64, half: f64| Estimate {
            point,
            low: point - half,
            high: point + half,
            standard_error: None,
            level: 0.95,
            samples: 9,
        };
        assert!(!differs_visibly(&estimate(10.0, 1.0), &estimate(10.4, 1.0)));
        assert!(differs_visibly(&estimate(10.0, 1.0), &estimate(10.6, 1.0)));
        // Of a number that was the same in every trial any move is seen.
        assert!(differs_visibly(&estimate(4.0, 0.0), &estimate(3.0, 0.0)));
        assert!(!differs_visibly(&estimate(4.0, 0.0), &estimate(4.0, 0.0)));
        assert!(!differs_visibly(&estimate(f64::NAN, 1.0), &estimate(1.0, 1.0)));
    }
}
