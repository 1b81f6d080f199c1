//! What became of known answers, in words that page and terminal share.

use crate::format::{Terms, parts, rounded, terms};
use crate::words;
use model::{DiagnosisResult, Estimate, PlantedResult};

/// How it stands with a known answer: the mark never stands without its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// "✓", "✗" or "?".
    pub(crate) mark: &'static str,
    /// The class that colours it: that of a verdict.
    pub(crate) kind: &'static str,
    /// Whether the interval holds the truth.
    pub(crate) held: &'static str,
    /// Whether the effect was found.
    pub(crate) found: &'static str,
}

const RIGHT: (&str, &str) = ("✓", "supported");
const WRONG: (&str, &str) = ("✗", "refuted");
const OPEN: (&str, &str) = ("?", "inconclusive");

/// A known answer's outcome. It is wrong only where chance does not explain it: one interval in
/// twenty misses the truth by design, so that a miss counts where it stays after Holm's correction.
pub(crate) fn outcome(planted: &PlantedResult) -> Outcome {
    let nothing = is_nothing(planted);
    let held = match (planted.holds, planted.excluded) {
        (Some(true), _) => "holds the truth",
        (Some(false), Some(true)) => "excludes the truth",
        (Some(false), _) => "misses it, as one in 20 may",
        (None, _) => "no interval",
    };
    let found = match (planted.found, nothing) {
        (Some(true), false) => "found",
        (Some(false), false) => "not found",
        (Some(true), true) => "found where nothing is",
        (Some(false), true) => "nothing found",
        (None, _) => "not measured",
    };
    let (mark, kind) = match (planted.holds, planted.excluded, planted.found) {
        (None, ..) | (_, _, None) => OPEN,
        (_, Some(true), _) => WRONG,
        (_, _, Some(true)) if nothing => WRONG,
        (Some(true), _, Some(found)) if found != nothing => RIGHT,
        _ => OPEN,
    };
    Outcome { mark, kind, held, found }
}

/// Whether the truth is that there is nothing to find.
pub(crate) fn is_nothing(planted: &PlantedResult) -> bool {
    planted.truth.contains(planted.without)
}

/// Where the truth lies: "2.00×", "between 1.98× and 2.02×".
pub(crate) fn truth(planted: &PlantedResult) -> String {
    let terms = terms(&planted.result);
    // As many digits as the number beside it has: a truth of 1.005 is not 1.
    let width = planted.result.estimate.map(|estimate| estimate.high - estimate.low);
    let end = |x: f64| match width {
        Some(width) if width > 0.0 && width.is_finite() => {
            let (low, high) = (x - width / 2.0, x + width / 2.0);
            let as_wide =
                Estimate { point: x, low, high, standard_error: None, level: 0.95, samples: 0 };
            parts(&as_wide, terms).point
        }
        _ => rounded(x, terms),
    };
    match (planted.truth.low, planted.truth.high) {
        (Some(low), Some(high)) if end(low) == end(high) => end(low),
        (Some(low), Some(high)) => format!("{} to {}", end(low), end(high)),
        _ => words::region(planted.truth, terms),
    }
}

/// The size of the effect, where it has one: "5 %".
pub(crate) fn size(planted: &PlantedResult) -> Option<String> {
    planted.size.map(|size| rounded(size, Terms::Share))
}

/// How it stands with a diagnosis: its mark, the class that colours it, and in words.
pub(crate) fn diagnosed(diagnosis: &DiagnosisResult) -> (&'static str, &'static str, String) {
    let name = |name: &str| words::short(name, words::LABEL_CHARACTERS_MAX);
    match (&diagnosis.named, &diagnosis.planted) {
        (Some(named), Some(planted)) if named == planted => {
            (RIGHT.0, RIGHT.1, format!("named, as planted: {}", name(named)))
        }
        (Some(named), Some(planted)) => {
            (WRONG.0, WRONG.1, format!("named: {}; planted: {}", name(named), name(planted)))
        }
        (None, Some(planted)) => {
            (OPEN.0, OPEN.1, format!("none named; planted: {}", name(planted)))
        }
        (Some(named), None) => ("→", "supported", format!("named: {}", name(named))),
        (None, None) => (OPEN.0, OPEN.1, "none named: no share is told from the others".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Cell, Quantity, QuantityResult, Region};

    fn planted(truth: Region, holds: bool, excluded: bool, found: bool) -> PlantedResult {
        let quantity = Quantity::Ratio {
            response: "wall_ns".into(),
            of: Cell::default(),
            to: Cell::default(),
        };
        PlantedResult {
            id: "delay".into(),
            what: "a wait of 5 µs".into(),
            result: QuantityResult {
                quantity,
                unit: None,
                estimate: None,
                events: None,
                chances: None,
                carried_by: None,
                floor: None,
                floor_in_ten_times: None,
                tagged: 0,
                untagged: None,
                remark: String::new(),
            },
            without: 1.0,
            truth,
            size: Some(0.05),
            holds: Some(holds),
            found: Some(found),
            excluded: Some(excluded),
        }
    }

    #[test]
    fn an_effect_must_be_found_and_sized() {
        let effect = || Region::within(1.049, 1.051);
        let mark =
            |holds, excluded, found| outcome(&planted(effect(), holds, excluded, found)).mark;
        assert_eq!(mark(true, false, true), "✓");
        assert_eq!(mark(true, false, false), "?");
        assert_eq!(mark(false, false, true), "?");
        assert_eq!(mark(false, true, true), "✗");
    }

    #[test]
    fn nothing_must_be_found_where_nothing_is() {
        let nothing = || Region::within(1.0, 1.0);
        assert_eq!(outcome(&planted(nothing(), true, false, false)).mark, "✓");
        let found = outcome(&planted(nothing(), true, false, true));
        assert_eq!((found.mark, found.found), ("✗", "found where nothing is"));
        let unmeasured =
            PlantedResult { holds: None, found: None, ..planted(nothing(), true, false, true) };
        assert_eq!(outcome(&unmeasured).mark, "?");
    }

    #[test]
    fn a_truth_without_width_is_one_number() {
        assert_eq!(truth(&planted(Region::within(2.0, 2.0), true, false, true)), "2×");
        assert_eq!(truth(&planted(Region::within(1.9, 2.1), true, false, true)), "1.9× to 2.1×");
        assert_eq!(truth(&planted(Region::above(1.5), true, false, true)), "at least 1.5×");
    }

    #[test]
    fn a_named_cause_is_right_only_if_it_was_planted() {
        let diagnosis = |named: Option<&str>, planted: Option<&str>| DiagnosisResult {
            id: "slow".into(),
            what: "two threads behind one lock".into(),
            suspects: Vec::new(),
            named: named.map(String::from),
            planted: planted.map(String::from),
        };
        let mark = |named, planted| diagnosed(&diagnosis(named, planted)).0;
        assert_eq!(mark(Some("lock"), Some("lock")), "✓");
        assert_eq!(mark(Some("cache"), Some("lock")), "✗");
        assert_eq!(mark(None, Some("lock")), "?");
        assert_eq!(mark(Some("lock"), None), "→");
    }
}
