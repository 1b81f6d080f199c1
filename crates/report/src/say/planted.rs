//! Known answers that were put into experiments, and what became of them.

use super::chapter::Chapter;
use crate::doc::{Block, Doc, Table, Text, Tone};
use crate::words;
use model::{DiagnosisResult, Estimate, ExperimentSummary, PlantedResult, Standing};
use wording::number::{self, Terms, estimate, or_dash, parts, rounded, share, terms};
use wording::{capital, short};

/// Returns all planted answers and causes of a session: nothing where nothing was planted.
pub(crate) fn document<'a>(scruple: &str, chapters: &[Chapter<'a>]) -> Doc<'a> {
    let mut doc = Doc::new(scruple, "known answers", "known answers");
    doc.blocks.extend(answers(chapters));
    doc.blocks.extend(causes(chapters));
    doc
}

/// Returns what was planted into an experiment next to what was found.
pub(crate) fn planted(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let Some(table) = answers(std::slice::from_ref(chapter)) else {
        return Vec::new();
    };
    let meanings = meanings(chapter.summary.planted.iter());
    let about = format!("A known answer was put into each of these. {meanings}");
    let heading = Block::heading(3, "What was planted, and what was found");
    vec![heading, Block::small(about), table]
}

fn answers(chapters: &[Chapter<'_>]) -> Option<Block<'static>> {
    let mut table = Table::of(&["planted", "#truth", "#found here", "so"]).kind("planted", "");
    let all = chapters.iter().flat_map(|c| c.summary.planted.iter().map(move |one| (c, one)));
    for (chapter, planted) in all {
        let Outcome { tone, found, held } = outcome(chapter.summary, planted);
        let size = planted.size.filter(|_| !is_nothing(planted));
        let size = size.map_or(String::new(), |size| format!(" ({})", share(size)));
        let what = format!("{} {}{size}", tone.mark(), capital(&short(&planted.what, 200)));
        let number = match number::result_parts(&planted.result) {
            Some(number) => Text::number(number),
            None => chapter.missing(&planted.result).word.into(),
        };
        let so = if held.is_empty() { found.into() } else { format!("{found}; {held}") };
        table.toned(tone, [what.into(), truth(planted).into(), number, so.into()]);
    }
    (!table.rows.is_empty()).then_some(Block::Table(table))
}

/// Returns each gap of an experiment with its suspects, the largest share first.
pub(crate) fn diagnoses(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let Some(table) = causes(std::slice::from_ref(chapter)) else {
        return Vec::new();
    };
    let about = "Each suspect was removed in a treatment of its own. Its share is the part of the gap \
                 that goes away without it; shares of causes that act together need not add up to \
                 100 %. A suspect is named where its share differs from that of every other.";
    let heading = Block::heading(3, "What the gap comes from");
    let suspects = chapter.summary.diagnoses.iter().map(|one| {
        let label = format!("All suspects: {}", short(&one.what, 200));
        Block::details("", label, true, vec![suspects(chapter, one)])
    });
    [heading, Block::small(about), table].into_iter().chain(suspects).collect()
}

fn causes(chapters: &[Chapter<'_>]) -> Option<Block<'static>> {
    let heads = ["slow", "planted cause", "#largest share", "so"];
    let mut table = Table::of(&heads).kind("planted", "");
    let all = chapters.iter().flat_map(|c| c.summary.diagnoses.iter().map(move |one| (c, one)));
    for (chapter, diagnosis) in all {
        let (mark, tone, said) = diagnosed(chapter.summary, diagnosis);
        let largest = diagnosis.suspects.first().and_then(|blame| blame.share.estimate);
        let cells = [
            format!("{mark} {}", capital(&short(&diagnosis.what, 200))).into(),
            or_dash(diagnosis.planted.clone(), |cause| cause).into(),
            Text::known(largest, Terms::Share),
            said.into(),
        ];
        table.toned(tone, cells);
    }
    (!table.rows.is_empty()).then_some(Block::Table(table))
}

fn suspects(chapter: &Chapter<'_>, diagnosis: &DiagnosisResult) -> Block<'static> {
    let rows = diagnosis.suspects.iter().map(|blame| {
        let share = blame.share.estimate.map(|share| estimate(&share, Terms::Share));
        let so = [(&diagnosis.named, "named"), (&diagnosis.planted, "planted")];
        let so = so.into_iter().filter(|(name, _)| name.as_ref() == Some(&blame.suspect));
        let so: Vec<&str> = so.map(|(_, word)| word).collect();
        let share = share.unwrap_or_else(|| chapter.missing(&blame.share).word);
        [short(&blame.suspect, 120), share, so.join(" ")]
    });
    let heads = ["suspect", "#share of the gap", "so"];
    Block::Table(Table::of(&heads).kind("suspects", "").rows(rows))
}

/// How it stands with a known answer: the mark never stands without its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outcome {
    tone: Tone,
    /// Whether the effect was found.
    found: &'static str,
    /// How the interval lies to the truth; empty where there is none.
    held: &'static str,
}

/// How an interval lies to the truth, and what the word means.
const HELD: (&str, &str) = ("held", "the 95 % interval contains the true value");
const NEAR_MISS: (&str, &str) =
    ("near miss", "it misses the true value by little, as one interval in twenty does by chance");
const EXCLUDED: (&str, &str) =
    ("excluded", "it misses the true value by more than chance, over all planted answers (Hommel)");

/// Returns how a result's interval lies to the truth; `None` where there is no interval.
fn held(planted: &PlantedResult) -> Option<(&'static str, &'static str)> {
    Some(match (planted.holds?, planted.excluded) {
        (true, _) => HELD,
        (false, Some(true)) => EXCLUDED,
        (false, _) => NEAR_MISS,
    })
}

/// Returns what the words of these results mean that say how an interval lies to the truth.
pub(crate) fn meanings<'p>(results: impl Iterator<Item = &'p PlantedResult>) -> String {
    let used: Vec<&str> = results.filter_map(held).map(|(word, _)| word).collect();
    let known = [HELD, NEAR_MISS, EXCLUDED].into_iter().filter(|(word, _)| used.contains(word));
    let said = known.map(|(word, meaning)| format!("{}: {meaning}.", capital(word)));
    said.collect::<Vec<_>>().join(" ")
}

/// Returns the tone of a standing.
fn tone_of(standing: Standing) -> Tone {
    match standing {
        Standing::Right => Tone::Good,
        Standing::Wrong => Tone::Bad,
        Standing::Missed => Tone::Open,
        Standing::Untested => Tone::Absent,
    }
}

/// Returns a known answer's outcome, as the grade counts it.
fn outcome(experiment: &ExperimentSummary, planted: &PlantedResult) -> Outcome {
    let standing = analysis::answer_standing(experiment, planted).standing;
    let held = held(planted).map_or("", |(word, _)| word);
    let found = match (planted.found, is_nothing(planted)) {
        (Some(true), false) => "found",
        (Some(false), false) => "not found",
        (Some(true), true) => "false alarm",
        (Some(false), true) => "nothing found",
        (None, _) if standing == Standing::Untested => "not possible here",
        (None, _) => "not measured",
    };
    Outcome { tone: tone_of(standing), found, held }
}

/// Reports whether the truth is that there is nothing to find.
fn is_nothing(planted: &PlantedResult) -> bool {
    planted.truth.contains(planted.without)
}

/// Returns where the truth lies: "2.00×", "1.98× to 2.02×".
fn truth(planted: &PlantedResult) -> String {
    let terms = terms(&planted.result);
    // As many digits as the number beside it has: a truth of 1.005 is not 1.
    let width = planted.result.estimate.map(|estimate| estimate.high - estimate.low);
    let end = |x: f64| match width {
        Some(width) if width > 0.0 && width.is_finite() => {
            parts(&Estimate::between(x - width / 2.0, x, x + width / 2.0), terms).point
        }
        _ => rounded(x, terms),
    };
    match (planted.truth.low, planted.truth.high) {
        (Some(low), Some(high)) if end(low) == end(high) => end(low),
        (Some(low), Some(high)) => format!("{} to {}", end(low), end(high)),
        _ => words::region(planted.truth, terms),
    }
}

/// Returns how it stands with a diagnosis: its mark, its tone, and in words.
fn diagnosed(
    experiment: &ExperimentSummary,
    diagnosis: &DiagnosisResult,
) -> (&'static str, Tone, String) {
    let name =
        |name: &Option<String>| name.as_ref().map(|name| short(name, words::LABEL_CHARACTERS_MAX));
    let standing = analysis::cause_standing(experiment, diagnosis).standing;
    let tone = tone_of(standing);
    let said = match (name(&diagnosis.named), name(&diagnosis.planted)) {
        (Some(named), Some(planted)) if named == planted => format!("named, as planted: {named}"),
        (Some(named), Some(planted)) => format!("named: {named}; planted: {planted}"),
        (None, Some(planted)) if standing == Standing::Untested => {
            format!("not possible here; planted: {planted}")
        }
        (None, Some(planted)) => format!("none named; planted: {planted}"),
        // A gap whose cause nobody planted has no right answer.
        (Some(named), None) => return ("→", Tone::Good, format!("named: {named}")),
        (None, None) => {
            return (
                Tone::Open.mark(),
                Tone::Open,
                "none named: no share differs from the others".into(),
            );
        }
    };
    (tone.mark(), tone, said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Cell, Quantity, QuantityResult, Region};

    fn experiment() -> ExperimentSummary {
        crate::fixture::session(1).summary.experiments.remove(0)
    }

    fn judged(planted: &PlantedResult) -> Outcome {
        outcome(&experiment(), planted)
    }

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
                of_means: None,
                likeness: None,
                lost: None,
                quantity,
                unit: None,
                estimate: Some(Estimate {
                    point: 1.05,
                    low: 1.0,
                    high: 1.1,
                    standard_error: None,
                    level: 0.95,
                    samples: 6,
                }),
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
            |holds, excluded, found| judged(&planted(effect(), holds, excluded, found)).tone.mark();
        assert_eq!(mark(true, false, true), "✓");
        assert_eq!(mark(true, false, false), "?");
        // One interval in twenty misses the truth by design: no more than a word is made of it.
        assert_eq!(mark(false, false, true), "✓");
        assert_eq!(judged(&planted(effect(), false, false, true)).held, NEAR_MISS.0);
        assert_eq!(mark(false, true, true), "✗");
    }

    #[test]
    fn nothing_must_be_found_where_nothing_is() {
        let nothing = || Region::within(1.0, 1.0);
        assert_eq!(judged(&planted(nothing(), true, false, false)).tone.mark(), "✓");
        let found = judged(&planted(nothing(), true, false, true));
        assert_eq!((found.tone.mark(), found.found), ("✗", "false alarm"));
        let mut unmeasured = planted(nothing(), true, false, true);
        (unmeasured.result.estimate, unmeasured.holds, unmeasured.found) = (None, None, None);
        assert_eq!(judged(&unmeasured).tone.mark(), "?");
    }

    #[test]
    fn a_truth_without_width_is_one_number() {
        let truth_of = |region: Region| {
            let mut planted = planted(region, true, false, true);
            planted.result.estimate = None;
            truth(&planted)
        };
        assert_eq!(truth_of(Region::within(2.0, 2.0)), "2×");
        assert_eq!(truth_of(Region::within(1.9, 2.1)), "1.9× to 2.1×");
        assert_eq!(truth_of(Region::above(1.5)), "≥ 1.5×");
        // Beside a number it has as many digits as that.
        assert_eq!(truth(&planted(Region::within(2.0, 2.0), true, false, true)), "2.00×");
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
        let experiment = experiment();
        let mark = |named, planted| diagnosed(&experiment, &diagnosis(named, planted)).0;
        assert_eq!(mark(Some("lock"), Some("lock")), "✓");
        assert_eq!(mark(Some("cache"), Some("lock")), "✗");
        assert_eq!(mark(None, Some("lock")), "?");
        assert_eq!(mark(Some("lock"), None), "→");
    }
}
