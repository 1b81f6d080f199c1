//! The claims of an experiment next to what was measured, and what a number is worth: how small a
//! difference it could have shown, what kind of evidence it is, whether disturbed trials move it.

use super::catalog;
use super::chapter::{self, Chapter};
use super::finding;
use crate::doc::{Block, Claim, Text};
use crate::words;
use crate::{Session, chart};
use maud::Markup;
use model::{ClaimResult, Design, Estimate, Grade, OpenWhy, QuantityResult, Verdict};
use wording::number::{self, Terms, result_parts, rough, terms};
use wording::{capital, counted, short};

/// This number of claims of a chapter are shown in any case.
const FEW: usize = 3;

/// What contradicts people comes first.
const ORDER: [Verdict; 3] = [Verdict::Refuted, Verdict::Supported, Verdict::Inconclusive];

/// Returns each verdict that claims of some experiments have, with their number.
pub(crate) fn tally(chapters: &[Chapter<'_>]) -> Vec<(Verdict, usize)> {
    let claims = || chapters.iter().flat_map(|chapter| &chapter.summary.claims);
    let count = |one: Verdict| (one, claims().filter(|claim| claim.verdict == one).count());
    ORDER.into_iter().map(count).filter(|(_, n)| *n > 0).collect()
}

/// Returns how many claims have which verdict, in a sentence; `None` where there is no claim.
pub(crate) fn said(chapters: &[Chapter<'_>]) -> Option<String> {
    let all = tally(chapters);
    let kind =
        |(one, n): &(Verdict, usize)| format!("{n} {} {}", words::verdict(*one), words::mark(*one));
    let kinds: Vec<String> = all.iter().map(kind).collect();
    let claims = counted(all.iter().map(|(_, n)| *n as u64).sum(), "claim");
    let records = chapters.iter().flat_map(|chapter| chapter.records.iter().copied());
    let within = words::within(records).map_or(String::new(), |span| format!(" within {span}"));
    let said = format!("Tested{within}: {claims}, {}.", kinds.join(", "));
    (!all.is_empty()).then_some(said)
}

/// Returns how many claims of an experiment have which verdict: "✗6 ✓10".
pub(crate) fn marks(chapter: &Chapter<'_>) -> String {
    let all = tally(std::slice::from_ref(chapter));
    let marks = all.iter().map(|(one, n)| format!("{}{n}", words::mark(*one)));
    marks.collect::<Vec<_>>().join(" ")
}

/// Returns all claims of an experiment, with what the columns mean.
pub(crate) fn claims(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let claims = &chapter.summary.claims;
    if claims.is_empty() {
        return Vec::new();
    }
    let mut about =
        "Shaded: where the number would have to lie for the claim to be true. ".to_string();
    about.push_str(if chapter.design.is_exact() {
        "The numbers are computed, and have neither interval nor p."
    } else {
        "Bar: the 95 % confidence interval measured here. p is that of the sign test over blocks, \
         before Hommel's correction over all claims of the session; the floor is the smallest \
         difference that could have been found."
    });
    vec![
        Block::small(Text::on_page(maud::html! { (about) })),
        Block::Claims(claims.iter().map(|one| claim(chapter, one)).collect()),
    ]
}

/// Returns the `most` important claims of an experiment: the first that were decided, or else the first; one without a
/// number only where few have one.
pub(crate) fn key(chapter: &Chapter<'_>, most: usize) -> Vec<Claim> {
    let mut all: Vec<&ClaimResult> = chapter.summary.claims.iter().collect();
    all.sort_by_key(|claim| {
        (claim.result.estimate.is_none(), claim.verdict == Verdict::Inconclusive)
    });
    let known = all.iter().filter_map(|claim| claim.result.estimate).count();
    let most = most.min(known.max(FEW));
    all.into_iter().take(most).map(|result| claim(chapter, result)).collect()
}

/// Returns one claim with its verdict and what that rests on.
pub(crate) fn claim(chapter: &Chapter<'_>, claim: &ClaimResult) -> Claim {
    let result = &claim.result;
    let about = [("Reason given: ", &claim.mechanism), ("Note: ", &claim.note)];
    let about = about.into_iter().filter_map(|(name, text)| {
        Some(Text::strong(name).then(short(wording::stated(text)?, 1000)))
    });
    let own = words::Shown::of(chapter.design, &claim.id, terms(result)).sentence(result);
    let (number, missing, drawing) = match (&result.estimate, result_parts(result)) {
        (Some(estimate), Some(parts)) => {
            let counts = number::counts(result).map(|counts| format!("{counts}: "));
            let plain = || Text::from(counts.unwrap_or_default()).then(Text::number(parts));
            let number = own.clone().unwrap_or_else(plain);
            let strip = chart::strip(estimate, claim.holds_if, terms(result));
            (number, String::new(), strip)
        }
        _ => {
            let missing = chapter.missing(result);
            (Text::strong(capital(&missing.word)), missing.why, Markup::default())
        }
    };
    let caveat = finding::remark(result);
    Claim {
        verdict: claim.verdict,
        judged: words::judged(claim, chapter.design),
        open: open(claim, chapter.design).unwrap_or_default(),
        text: claim.text.clone(),
        source: claim.source.clone(),
        direction: own.map_or_else(|| direction(chapter, claim), |_| String::new()),
        number,
        missing,
        drawing,
        about: about.collect(),
        caveat,
        evidence: rests_on(chapter, claim),
    }
}

/// Returns what a claim's number compares; of what, where that is not what the headline is about.
fn direction(chapter: &Chapter<'_>, claim: &ClaimResult) -> String {
    let quantity = &claim.result.quantity;
    let direction = words::direction(quantity, chapter.design);
    let response = chapter.design.response(quantity.response());
    match response.filter(|_| !is_headline(chapter, claim) && quantity.cells().len() > 1) {
        Some(response) => format!("{}: {direction}", words::label(response)),
        None => direction,
    }
}

fn rests_on(chapter: &Chapter<'_>, claim: &ClaimResult) -> Vec<Text> {
    let result = &claim.result;
    let mut lines: Vec<Text> = Vec::new();
    lines.extend(number::rest(result).map(Text::from));
    lines.push(format!("{}.", capital(&words::quantity(&result.quantity, chapter.design))).into());
    if !is_headline(chapter, claim) {
        lines.extend(catalog::of_quantity(chapter, &result.quantity).map(Text::from));
    }
    lines.push(decision(claim).into());
    if result.estimate.is_some() {
        lines.push(graded(chapter, claim));
    }
    lines.extend(moved_by_tags(result).map(|it| format!("{}.", capital(&it)).into()));
    lines
}

/// Reports whether a claim is about the headline's response, whose definition stands at the top.
fn is_headline(chapter: &Chapter<'_>, claim: &ClaimResult) -> bool {
    let first = chapter.summary.findings.first().map(|finding| finding.result.quantity.response());
    first == Some(claim.result.quantity.response())
}

/// Returns what kind of evidence the verdict rests on, and what would raise it.
fn graded(chapter: &Chapter<'_>, claim: &ClaimResult) -> Text {
    let (mark, word) = grade(claim.grade);
    let text = Text::from(format!("Evidence: {mark} ")).then(Text::strong(word)).then(".");
    let link = maud::html! { " " a href="#grades" { "What would raise it" } };
    match wording::stated(claim.raise.trim_end_matches('.')) {
        None => text,
        raise if raise == chapter.raises_most => text.then(Text::on_page(link)),
        Some(raise) => text.then(format!(" Higher with: {}.", short(raise, 400))),
    }
}

/// Returns how sure the verdict is, and how small a difference could have been found.
fn decision(claim: &ClaimResult) -> String {
    let mut text = match (claim.p_value, claim.verdict) {
        (Some(p), _) => format!("{}p {}. ", agreeing(claim), p_value(p)),
        (None, Verdict::Inconclusive) => "Nothing was decided. ".into(),
        (None, _) => "Computed, so that no test is needed. ".into(),
    };
    let floors = [floors(&claim.result), floor_of_verdict(claim)];
    if let Some(floors) = wording::clauses(floors, "; ") {
        text.push_str(&format!("{}.", capital(&floors)));
    }
    text.trim_end().to_string()
}

/// What is said of blocks that depend on each other, or seem to. Of claims on independent blocks 10 of 60 had it: the
/// test of one claim errs in one of ten, and that of all numbers of an experiment in one of twenty.
const ALIKE: &str =
    "neighbours seem alike (by chance for up to 1 claim of 6), so that they count as fewer";

/// Returns how many blocks are on the side of the verdict: "19 of 20 blocks agree: ", with what counts against
/// them.
fn agreeing(claim: &ClaimResult) -> String {
    let alike = claim.independent_blocks.map(|_| ALIKE.into());
    let lost = claim.result.lost.as_ref();
    let lost = lost
        .map(|lost| format!("{} lost count against them", counted(lost.trials.into(), "trial")));
    let but = wording::clauses([alike, lost], " and ");
    let but = but.map_or(String::new(), |but| format!(", but {but}"));
    agree(claim).map_or(String::new(), |agree| format!("{agree}{but}: "))
}

/// Returns how many blocks agree: "19 of 20 blocks agree"; `None` for a frequency.
fn agree(claim: &ClaimResult) -> Option<String> {
    let all = claim.result.estimate.as_ref()?.samples;
    Some(format!("{} of {all} blocks agree", claim.agreeing_blocks?))
}

/// Returns why a claim with a number is open, and what is missing for a verdict; `None` where it is decided.
pub(crate) fn open(claim: &ClaimResult, design: &Design) -> Option<String> {
    let open = claim.open?;
    let estimate = claim.result.estimate?;
    let agree = agree(claim);
    let why = match open.why {
        OpenWhy::NoNumber => return Some("no number could refute it".into()),
        OpenWhy::ClocksDisagree => {
            return Some(
                "elapsed time as measured says the opposite of that without other programs; a quieter \
                 machine decides it"
                    .into(),
            );
        }
        OpenWhy::FewBlocks => format!("{} blocks are too few for any verdict", estimate.samples),
        OpenWhy::AtTheEdge => {
            let ends = [claim.holds_if.low, claim.holds_if.high].into_iter().flatten();
            let inside = ends.filter(|end| (estimate.low..=estimate.high).contains(end));
            let shown = words::Shown::of(design, &claim.id, terms(&claim.result));
            let ends = inside.map(|end| Some(shown.end(end)));
            let ends =
                wording::clauses(ends, " and ").map(|ends| format!("the interval contains {ends}"));
            wording::clauses([ends, agree], ", and ").unwrap_or_default()
        }
        OpenWhy::FewAgree | OpenWhy::FewAmong if claim.independent_blocks.is_some() => {
            let agree = agree.unwrap_or_default();
            format!("{agree}, but {ALIKE}")
        }
        OpenWhy::FewAgree => match agree {
            Some(agree) => format!("{agree}, too few for a verdict"),
            None => "the trials are too few for a verdict".into(),
        },
        OpenWhy::FewAmong => match agree {
            Some(agree) => format!("{agree}, too few among this session's claims"),
            None => "the trials are too few among this session's claims".into(),
        },
        OpenWhy::Lost => {
            "trials of one side gave no number, and may be its slow ones or its fast ones".into()
        }
        OpenWhy::Changed => {
            "its level seems to have changed during the session (by chance in 1 number of 20), and \
             one part alone does not decide it"
                .into()
        }
    };
    let missing = match (open.more_blocks, claim.agreeing_blocks) {
        _ if open.why == OpenWhy::Lost => "a verdict takes trials that give one".into(),
        _ if open.why == OpenWhy::Changed => "blocks of a steady level decide it".into(),
        (Some(1), _) => "1 more such block decides it".into(),
        (Some(n), _) => format!("{n} more such blocks decide it"),
        (None, Some(_)) if claim.independent_blocks.is_some() => {
            "blocks farther apart in time may decide it".into()
        }
        (None, Some(_)) => "more blocks like these leave it open".into(),
        (None, None) => "a verdict takes more trials".into(),
    };
    Some(format!("{why}; {missing}"))
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { format!("= {p:.3}") }
}

/// What the floors mean; said once where they stand beside verdicts.
pub(crate) const FLOOR_MEANING: &str = "The floor is the smallest difference that would have been \
    found four times in five. It is meant for one number alone, before Hommel's correction over the \
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
    let of_shares = matches!(terms, Terms::Share | Terms::Frequency);
    let text = rough(floor, if terms == Terms::Times { Terms::Share } else { terms });
    match text.strip_suffix(" %").filter(|_| of_shares) {
        Some(number) => format!("{number} percentage points"),
        None => text,
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

/// What the grades mean, and what would raise most of them.
pub(crate) fn grade_meaning(session: &Session<'_>) -> String {
    match chapter::raises_most(session) {
        None => GRADE_MEANING.into(),
        Some(raise) => format!(
            "{GRADE_MEANING} What would raise most verdicts of this session, where nothing else is \
             said beside them: {}.",
            wording::short(&wording::uncapital(raise), 400)
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
    let number = number::joined(&number::parts(without, terms(result)));
    Some(format!("without its {} {number}", wording::counted(result.tagged.into(), "tagged trial")))
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
            likeness: None,
            lost: None,
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
