//! What the next round of trials should measure.

use crate::session::diagnosis::{SHARE_NAMED, gap};
use crate::session::effect::{effect, found};
use crate::session::planted::{FINEST, asked_of_planted};
use crate::session::sample::Table;
use crate::session::verdict::{blocks_for_planted, blocks_with_one_against};
use crate::stats::order::median;
use model::{
    Claim, Design, Diagnosis, FindingResult, Headline, Planted, Quantity, QuantityResult, Record,
    Treatment,
};
use std::collections::BTreeSet;

/// A treatment is given up after this number of trials without one completed.
const ATTEMPTS: usize = 3;

/// Ends of an interval that differ by no more than this part of the point are the same number.
const AGREEMENT: f64 = 1e-12;

/// An end of a region so near to 1 asks for more than the design's precision.
const NEAR_ONE: f64 = 0.1;

/// The part of a frequency's distance from 0 or 1 that its half-width may be, on the arcsine scale:
/// none among 10/p chances has p = 0.0001 against p, which stands Hommel's correction.
const OF_A_FREQUENCY: f64 = 0.3;

/// How wide an interval that must not yet be called narrow is at least, of what is asked.
const LEAST_OPEN: f64 = 1.01;

/// Blocks that lie closer together than this, in milliseconds, are not yet enough: a host keeps a placement of
/// CPUs or a frequency for seconds.
const SPAN_MIN_MS: u64 = 10_000;

/// More treatments than this are a curve or a pool and not a comparison.
const GROUP_MAX: usize = 4;

/// The half-width that a suspect's share of a gap is asked to have, where the gap is 1: half of the
/// least share that can be named ([`SHARE_NAMED`]), so that a suspect who explains most of the gap
/// lies above that, and one who explains nothing below.
const SHARE_WIDTH: f64 = SHARE_NAMED / 2.0;

/// What the next round of trials should measure. It looks at widths, never at verdicts: stopping
/// on significance would make the error of the verdicts anything one likes.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// Relative half-width divided by the width that is asked for, the worst over the driving
    /// findings, the claims, the planted answers, the gaps to be explained and the suspects' shares
    /// of these: at most 1 is precise enough. Infinite while one of them has no interval yet (but a
    /// share, which waits for its gap); 0 without one that can still be measured.
    pub ratio: f64,
    /// Treatments whose trials would narrow the intervals that are not yet precise enough, in the
    /// order they were given.
    pub treatments: Vec<Treatment>,
    /// The first finding so far, for live progress; none while it has no number.
    pub headline: Option<FindingResult>,
    /// Whether this is an experiment that confirms an answer: it is conducted also where a number of blocks
    /// was asked for.
    pub confirms: bool,
}

/// How narrow an interval is asked to be.
#[derive(Clone, Copy, Debug)]
enum Asked<'d> {
    /// A half-width, in the terms of [`half_width`].
    Width(f64),
    /// What a planted answer needs.
    Planted(&'d Planted),
    /// [`SHARE_WIDTH`], but only while there is an interval.
    Share,
}

/// A number whose interval is to be narrow.
struct Driving<'d> {
    quantity: Quantity,
    asked: Asked<'d>,
    /// Further treatments that more blocks must have.
    with: Vec<Treatment>,
}

/// Returns all that drives. Of a diagnosis the gap's ratio drives first; and once the gap is resolved, so
/// that there are shares of it, each of these, in blocks that hold all its treatments. Where there is no
/// gap they would be infinitely wide for ever.
fn driving(design: &Design) -> Vec<Driving<'_>> {
    let precise = Asked::Width(design.precision);
    let alone = |quantity: &Quantity, asked| Driving {
        quantity: quantity.clone(),
        asked,
        with: Vec::new(),
    };
    // A suspect is compared with the others by pairs, so that all stand in the same blocks.
    let together = |one: &Diagnosis, quantity, asked| {
        let without = one.suspects.iter().map(|suspect| &suspect.without);
        let cells = without.chain([&one.whole, &one.base]);
        Driving { quantity, asked, with: cells.map(|cell| design.complete(cell)).collect() }
    };
    let findings = design.findings.iter().filter(|finding| finding.drives);
    let findings = findings.map(|finding| alone(&finding.quantity, precise));
    let width = |claim| Asked::Width(asked_of(claim, design.precision));
    let claims = design.claims.iter().map(|claim| alone(&claim.quantity, width(claim)));
    let planted = design.planted.iter().map(|one| alone(&one.quantity, Asked::Planted(one)));
    let gaps = design.diagnoses.iter().map(|one| together(one, gap(one), precise));
    let shares = design.diagnoses.iter().flat_map(|one| {
        one.suspects.iter().map(|suspect| together(one, one.share(suspect), Asked::Share))
    });
    findings.chain(claims).chain(planted).chain(gaps).chain(shares).collect()
}

/// How important the answer of a question is: where the time does not suffice for all, the later wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The first screen shows it.
    Headline,
    /// It tells whether the session can be trusted.
    Control,
    /// A claim is judged by it.
    Claim,
    /// Anything else.
    Other,
}

/// Something that a design asks, with the treatments that answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// How important it is.
    pub rank: Rank,
    /// The treatments.
    pub treatments: Vec<Treatment>,
}

/// Returns all that a design asks, and each of the treatments given as a question of its own. A question that also
/// needs a treatment that is not given has none.
pub fn questions(design: &Design, treatments: &[Treatment]) -> Vec<Question> {
    let of = |rank: Rank, quantity: &Quantity| {
        let needed = quantity.treatments(design, treatments);
        let is_answered = !lacks(design, quantity, &needed);
        let treatments = needed.into_iter().filter(|_| is_answered).cloned().collect();
        Question { rank, treatments }
    };
    let headlines: Vec<&Quantity> =
        design.headlines.iter().flat_map(|headline| answers_of(design, headline)).collect();
    // Of a study its claims are the main answers, of an experiment without either the first finding.
    let has_none = headlines.is_empty();
    let own_claims = design.claims.iter().filter(|_| has_none).map(|claim| &claim.quantity);
    let first = design.findings.first().filter(|_| has_none && design.claims.is_empty());
    let first = first.map(|finding| &finding.quantity).into_iter();
    let headlines = headlines.into_iter().chain(own_claims).chain(first);
    let headlines = headlines.map(|one| of(Rank::Headline, one));
    let controls = design.controls.iter().map(|control| {
        let pair = [&control.a, &control.b].map(|cell| design.complete(cell));
        let treatments = treatments.iter().filter(|it| pair.contains(*it)).cloned().collect();
        Question { rank: Rank::Control, treatments }
    });
    let claims = design.claims.iter().map(|claim| of(Rank::Claim, &claim.quantity));
    let planted = design.planted.iter().map(|planted| of(Rank::Claim, &planted.quantity));
    let others = design.findings.iter().map(|finding| of(Rank::Other, &finding.quantity));
    let each =
        treatments.iter().map(|one| Question { rank: Rank::Other, treatments: vec![one.clone()] });
    controls.chain(headlines).chain(claims).chain(planted).chain(others).chain(each).collect()
}

/// Returns the numbers that a headline shows, and that decide it.
fn answers_of<'d>(design: &'d Design, headline: &'d Headline) -> Vec<&'d Quantity> {
    let names = [Some(&headline.of), headline.claim.as_ref()];
    let named = |id: &String| names.contains(&Some(id));
    let findings = design.findings.iter().filter(|it| named(&it.id)).map(|it| &it.quantity);
    findings.chain(design.claims.iter().filter(|it| named(&it.id)).map(|it| &it.quantity)).collect()
}

/// Returns the treatments that a design compares with each other, by comparison, among those given: the
/// trials of one comparison should stand together in a block.
pub fn compared(design: &Design, treatments: &[Treatment]) -> Vec<Vec<Treatment>> {
    let controls = design.controls.iter().map(|control| [&control.a, &control.b]);
    let controls = controls.map(|cells| cells.map(|cell| design.complete(cell)).to_vec());
    let driving = driving(design).into_iter().map(|one| {
        let of = one.quantity.treatments(design, treatments);
        of.into_iter().cloned().collect::<Vec<_>>()
    });
    driving.chain(controls).filter(|group| (2..=GROUP_MAX).contains(&group.len())).collect()
}

/// Returns what the next round should measure, given the records so far (of this or of all experiments),
/// the treatments that are planned, and how many verdicts the session's claims and planted answers
/// share their error among.
///
/// All need blocks enough for a verdict although one of them disagrees ([`blocks_with_one_against`]), however
/// narrow their interval is, planted answers as many as agree ([`blocks_for_planted`]). The others' blocks must
/// span [`SPAN_MIN_MS`]. What is asked to be narrow is the interval at the level of a single verdict, 99.5 %.
///
/// A finding and the gap of a diagnosis are asked to be as precise as the design says, a claim as
/// precise as [`asked_of`] says, a planted answer as [`asked_of_planted`] says, a suspect's share of a
/// gap to a sixth of that gap. One that needs a
/// treatment that is not planned, or one that did not complete in three trials or was refused as
/// unsupported, is out of reach and asks for nothing.
pub fn need(
    design: &Design,
    records: &[&Record],
    treatments: &[Treatment],
    verdicts: usize,
) -> Need {
    let table = Table::new(design, records.iter().copied());
    let mut ratio = 0.0_f64;
    let mut wanted: BTreeSet<&Treatment> = BTreeSet::new();
    let plants = design.claims.is_empty() && !design.planted.is_empty();
    let blocks =
        if plants { blocks_for_planted(verdicts) } else { blocks_with_one_against(verdicts) };
    let blocks = f64::from(blocks);
    let started = || records.iter().map(|record| record.started_unix_ms);
    let span = started().max().unwrap_or(0).saturating_sub(started().min().unwrap_or(0));
    let of_span = if span < SPAN_MIN_MS { LEAST_OPEN } else { 0.0 };
    for Driving { quantity, asked, with } in driving(design) {
        let needed = quantity.treatments(design, treatments);
        if out_of_reach(&table, &quantity, &needed) {
            continue;
        }
        let effect = effect(&table, &quantity);
        let mut result = effect.result(&table, &quantity);
        result.estimate = effect.evidence.wide_estimate();
        let own = match (half_width(&table, &result), asked) {
            (None, Asked::Share) => 0.0,
            (None, _) => f64::INFINITY,
            (Some(half), Asked::Width(width)) => half / width,
            (Some(half), Asked::Share) => half / SHARE_WIDTH,
            (Some(half), Asked::Planted(planted)) => {
                half / asked_of_planted(planted, &result, half, design.precision)
            }
        };
        let measured = result.estimate.filter(|found| !found.is_exact());
        let of_blocks = measured.map_or(0.0, |found| (blocks / f64::from(found.samples)).sqrt());
        // Two groups of blocks: an interval within one of them is not narrow but lucky.
        let of_groups = if effect.evidence.is_in_two_groups() { LEAST_OPEN } else { 0.0 };
        let of_span = match (measured, asked) {
            (None, _) | (_, Asked::Planted(_)) => 0.0,
            _ => of_span,
        };
        let own = own.max(of_blocks).max(of_groups).max(of_span);
        if own > 1.0 {
            let with = treatments.iter().filter(|t| with.contains(t) && !given_up(&table, t));
            wanted.extend(needed.into_iter().chain(with));
        }
        ratio = ratio.max(own);
    }
    // The controls keep pace: what they could have found is what the session can find.
    if !wanted.is_empty() {
        let cells = design.controls.iter().flat_map(|control| [&control.a, &control.b]);
        let controls: BTreeSet<Treatment> = cells.map(|cell| design.complete(cell)).collect();
        let with = |treatment: &&Treatment| controls.contains(*treatment);
        wanted.extend(treatments.iter().filter(with).filter(|it| !given_up(&table, it)));
    }
    let headline = design.findings.first().map(|finding| found(&table, finding));
    let headline = headline.filter(|found| found.result.estimate.is_some());
    let treatments = treatments.iter().filter(|t| wanted.contains(t)).cloned().collect();
    Need { ratio, treatments, headline, confirms: false }
}

/// Returns the half-width at which the interval of a claim's number is narrow enough: a property of the
/// claim, not of where its number lies.
///
/// An interval wider than the region can never lie in it. So for a region with two ends it is half of the
/// region's own half-width; never more than the design's precision, which is enough for most claims with one
/// end. A ratio's single end within a tenth of 1 parts "a little more" from "the same", and the precision
/// must be able to tell these: there it is half of the end's distance from 1, as a logarithm, but not below
/// 0.005. (An end that is 1 itself leaves no distance to resolve and keeps the design's precision.) For a
/// frequency it is 0.3 of the arcsine of the root of the end that lies nearest to 0 or 1: on that scale
/// ([`half_width`]) about ten chances for each that the end leaves to one event, whether events are seen or
/// not, be it one in a hundred or in a million.
pub(crate) fn asked_of(claim: &Claim, precision: f64) -> f64 {
    let ends = [claim.holds_if.low, claim.holds_if.high];
    if let Quantity::Frequency { .. } = claim.quantity {
        let distances = ends.into_iter().flatten().flat_map(|end| [end, 1.0 - end]);
        let least = distances.filter(|distance| *distance > 0.0).fold(0.5, f64::min);
        return OF_A_FREQUENCY * least.sqrt().asin();
    }
    let is_ratio = claim.quantity.is_multiple();
    let own = match (&claim.quantity, ends) {
        (_, [Some(low), Some(high)]) if is_ratio && low > 0.0 => (high / low).sqrt() - 1.0,
        (_, [Some(end), None] | [None, Some(end)])
            if is_ratio && end != 1.0 && (end - 1.0).abs() <= NEAR_ONE =>
        {
            return (end.ln().abs() / 2.0).max(FINEST).min(precision);
        }
        (Quantity::Value { .. }, [Some(low), Some(high)]) if low + high != 0.0 => {
            ((high - low) / (high + low)).abs()
        }
        (Quantity::Share { .. } | Quantity::Exponent { .. }, [Some(low), Some(high)]) => {
            (high - low) / 2.0
        }
        _ => f64::INFINITY,
    };
    (own / 2.0).min(precision)
}

/// Returns the half-width of a quantity's interval, relative to what makes sense of it:
/// √(high/low) − 1 for ratios; relative to the point for a value; relative to the larger of the
/// two levels for a difference, which may itself be 0; as it is for shares, exponents and R², which
/// are pure numbers of the order of 1. That of a frequency is taken between the arcsines of the
/// roots of its ends: there it depends on the number of chances and hardly on the frequency, and
/// is what the same chances would give at one half (Anscombe, *The transformation of Poisson,
/// binomial and negative-binomial data*, Biometrika 35, 1948). A rate of one in a million is
/// neither precise because it is small nor hopeless because its events are few. `None` without an interval.
pub(crate) fn half_width(table: &Table<'_>, result: &QuantityResult) -> Option<f64> {
    let estimate = result.estimate?;
    let half = (estimate.high - estimate.low) / 2.0;
    // Numbers that agree may come back from logarithms with another last digit.
    if half <= AGREEMENT * estimate.point.abs().max(1e-3) {
        return Some(0.0);
    }
    let relative = match &result.quantity {
        quantity if quantity.is_multiple() && estimate.low > 0.0 => {
            (estimate.high / estimate.low).sqrt() - 1.0
        }
        quantity if quantity.is_multiple() => half / estimate.point.abs(),
        Quantity::Value { .. } => half / estimate.point.abs(),
        Quantity::Difference { response, of, to } => {
            let carrier = result.carried_by.as_ref().unwrap_or(response);
            let level = |cell| {
                let values = table.trials(carrier, &table.design.complete(cell));
                median(&values).unwrap_or(0.0).abs()
            };
            half / level(of).max(level(to))
        }
        Quantity::Frequency { .. } => {
            let arcsine = |share: f64| share.clamp(0.0, 1.0).sqrt().asin();
            (arcsine(estimate.high) - arcsine(estimate.low)) / 2.0
        }
        _ => half,
    };
    relative.is_finite().then_some(relative)
}

fn out_of_reach(table: &Table<'_>, quantity: &Quantity, planned: &[&Treatment]) -> bool {
    let is_given_up = |treatment: &&Treatment| given_up(table, treatment);
    match takes_any(quantity) {
        true => planned.iter().all(is_given_up),
        false => lacks(table.design, quantity, planned) || planned.iter().any(is_given_up),
    }
}

/// Reports whether a quantity takes whichever treatments there are.
fn takes_any(quantity: &Quantity) -> bool {
    matches!(
        quantity,
        Quantity::Exponent { .. } | Quantity::Linearity { .. } | Quantity::Frequency { .. }
    )
}

/// Reports whether a quantity needs a treatment that is not planned.
fn lacks(design: &Design, quantity: &Quantity, planned: &[&Treatment]) -> bool {
    if takes_any(quantity) {
        return planned.is_empty();
    }
    let ends = match quantity {
        Quantity::Proportion { over, lower, upper, at, .. } => {
            vec![at.with(over, lower), at.with(over, upper)]
        }
        _ => quantity.cells().into_iter().cloned().collect(),
    };
    let mut ends = ends.iter().map(|cell| design.complete(cell));
    ends.any(|end| !planned.iter().any(|treatment| **treatment == end))
}

/// Reports whether a treatment is not to be tried again: it never completed, as often as it was tried, or
/// was refused.
pub(crate) fn given_up(table: &Table<'_>, treatment: &Treatment) -> bool {
    let records = table.records(treatment);
    let refused = |record: &&Record| matches!(record.outcome, model::Outcome::Unsupported { .. });
    !records.iter().any(|record| record.measured.is_some())
        && (records.len() >= ATTEMPTS || records.iter().any(refused))
}

#[cfg(test)]
mod tests;
