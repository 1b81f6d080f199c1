//! One call computes all of `summary.json`.

use crate::session::costs::accounts;
use crate::session::diagnosis::diagnoses;
use crate::session::effect::{Effect, answered, effect, found, leaning};
use crate::session::floors::floors;
use crate::session::grade::grade;
use crate::session::harness::harness;
use crate::session::input::Input;
use crate::session::meter::meter;
use crate::session::need::half_width;
use crate::session::outcomes::{failed_checks, outcomes, tag_counts, warnings};
use crate::session::places;
use crate::session::planted::planted;
use crate::session::sample::Table;
use crate::session::tags::Tagger;
use crate::session::untagged;
use crate::session::variance::variances;
use crate::session::verdict::{self, Leaning};
use crate::stats::hommel::hommel;
use crate::stats::order::median;
use model::{
    Cell, Claim, ClaimResult, ControlResult, Design, EstimateRow, ExperimentSummary, FindingResult,
    Open, Quantity, QuantityResult, Record, SUMMARY_FORMAT, Summary, Trust, Verdict, Visible,
};
use std::collections::{BTreeSet, HashMap};

/// Returns all that a session's trials say.
///
/// Verdicts share their error over all claims of the session, controls over all controls, planted
/// answers over all planted answers (Hommel).
pub fn summarise(input: &Input<'_>) -> Summary {
    let tagger = Tagger::over(input.designs, input.records);
    let by_experiment = by_experiment(input.records);
    let own =
        |design: &Design| by_experiment.get(design.id.as_str()).map_or(&[][..], Vec::as_slice);
    let tables: Vec<Table<'_>> = input
        .designs
        .iter()
        .map(|design| Table::new(design, own(design).iter().copied()))
        .collect();
    let mut experiments: Vec<ExperimentSummary> =
        tables.iter().map(|table| experiment(table, own(table.design), &tagger, input)).collect();
    let judged: Vec<Vec<Judged<'_>>> = tables.iter().map(judge).collect();
    let leanings: Vec<Option<Leaning>> = judged.iter().flatten().map(|one| one.leaning).collect();
    let verdicts = verdict::verdicts(&leanings);
    let open = verdict::open(&leanings, &verdicts);
    let left_open = leanings.iter().zip(&open).filter(|(leaning, open)| {
        open.is_some() && leaning.is_some_and(|leaning| leaning.p_value.is_some())
    });
    let left_open = left_open.count();
    let with_p_value = |one: &&Leaning| one.p_value.is_some();
    let claims = leanings.iter().flatten().filter(with_p_value).count();
    let mut decisions = verdicts.into_iter().zip(open);
    let own = tables.iter().zip(planted(&tables)).zip(judged);
    for (summary, ((table, planted), judged)) in experiments.iter_mut().zip(own) {
        summary.planted = planted;
        let results = judged.into_iter().zip(decisions.by_ref());
        summary.claims =
            results.map(|(judged, it)| judged.result(table, it, (left_open, claims))).collect();
    }
    untagged::fill(&mut experiments, &tables, &by_experiment, &tagger);
    let visible = visible(&experiments);
    Summary {
        format: SUMMARY_FORMAT,
        scruple: input.scruple.to_string(),
        session: input.session.to_string(),
        complete: input.complete,
        trust: Trust { visible, ..trust(&tables) },
        harness: harness(input.records),
        meter: meter(input, &tagger),
        experiments,
    }
}

/// Answers with one quantity of an experiment, as [`summarise`] would with a finding about it.
pub fn ask<'a>(
    design: &'a Design,
    records: impl IntoIterator<Item = &'a Record>,
    quantity: &Quantity,
) -> QuantityResult {
    let mut result = answered(&Table::new(design, records), quantity);
    if matches!(quantity, Quantity::Value { .. }) && design.is_frequency(quantity.response()) {
        let what = "the median of the blocks' own rates: rate(…) is the rate over all trials";
        let remarks = [what, &result.remark].into_iter().filter(|remark| !remark.is_empty());
        result.remark = remarks.collect::<Vec<_>>().join("; ");
    }
    result
}

/// Returns the records of each experiment, in the session's order: each of a dozen experiments looks at
/// its own several times.
pub(crate) fn by_experiment(records: &[Record]) -> HashMap<&str, Vec<&Record>> {
    let mut own: HashMap<&str, Vec<&Record>> = HashMap::new();
    for record in records {
        own.entry(&record.experiment).or_default().push(record);
    }
    own
}

/// Returns the verdict of each claim of a session, by its name, experiment by experiment.
pub(crate) fn verdicts(tables: &[Table<'_>]) -> Vec<Vec<(String, Verdict)>> {
    let judged: Vec<Vec<Judged<'_>>> = tables.iter().map(judge).collect();
    let mut verdicts = after_hommel(&judged).into_iter();
    let mut named = |claims: &Vec<Judged<'_>>| {
        claims.iter().map(|one| one.claim.id.clone()).zip(verdicts.by_ref()).collect()
    };
    judged.iter().map(&mut named).collect()
}

fn after_hommel(judged: &[Vec<Judged<'_>>]) -> Vec<Verdict> {
    let leanings: Vec<Option<Leaning>> = judged.iter().flatten().map(|one| one.leaning).collect();
    verdict::verdicts(&leanings)
}

/// A claim with what its own data say.
struct Judged<'a> {
    claim: &'a Claim,
    effect: Effect,
    leaning: Option<Leaning>,
}

fn judge<'a>(table: &Table<'a>) -> Vec<Judged<'a>> {
    let judged = |claim: &'a Claim| {
        let mut effect = effect(table, &claim.quantity);
        let leaning = leaning(table, &mut effect, claim);
        Judged { claim, effect, leaning }
    };
    table.design.claims.iter().map(judged).collect()
}

impl Judged<'_> {
    /// Returns what is said of the claim, in a session that leaves this number of claims open, of that number.
    fn result(
        self,
        table: &Table<'_>,
        (verdict, open): (Verdict, Option<Open>),
        (left_open, claims): (usize, usize),
    ) -> ClaimResult {
        let claim = self.claim;
        let sharing = left_open + usize::from(open.is_none());
        let (grade, raise) = grade(table, &claim.quantity);
        let independent_blocks = self.effect.evidence.independent_blocks(claim.holds_if);
        // Further blocks that depend on their neighbours count as fewer: nobody knows as how many.
        let more_blocks = |open: Open| open.more_blocks.filter(|_| independent_blocks.is_none());
        let open = open.map(|open| Open { more_blocks: more_blocks(open), ..open });
        ClaimResult {
            id: claim.id.clone(),
            text: claim.text.clone(),
            source: claim.source.clone(),
            mechanism: claim.mechanism.clone(),
            result: self.effect.result(table, &claim.quantity),
            holds_if: claim.holds_if,
            verdict,
            open,
            p_value: self.leaning.and_then(|leaning| leaning.p_value),
            agreeing_blocks: self.leaning.and_then(|it| it.blocks).map(|(own, _)| own as u32),
            independent_blocks,
            floor_of_verdict: self.effect.evidence.floor_among(sharing, claims),
            note: claim.note.clone(),
            grade,
            raise,
        }
    }
}

/// Returns all of an experiment but its claims, which wait for the other experiments'.
fn experiment(
    table: &Table<'_>,
    own: &[&Record],
    tagger: &Tagger,
    input: &Input<'_>,
) -> ExperimentSummary {
    let design = table.design;
    let blocks: BTreeSet<u32> = own.iter().map(|record| record.block).collect();
    let findings: Vec<FindingResult> =
        design.findings.iter().map(|finding| found(table, finding)).collect();
    let mut warnings = warnings(design, own, blocks.len());
    warnings.extend(imprecise(table, &findings));
    warnings.extend(places::warnings(own, &input.environment.topology));
    ExperimentSummary {
        id: design.id.clone(),
        version: design.version,
        question: design.question.clone(),
        blocks: blocks.len() as u32,
        ran_on: places::ran_on(own.iter().copied()),
        outcomes: outcomes(own),
        estimates: estimates(table),
        findings,
        accounts: accounts(table),
        claims: Vec::new(),
        floors: floors(table),
        variances: variances(table, tagger),
        planted: Vec::new(),
        diagnoses: diagnoses(table),
        failed_checks: failed_checks(own),
        tags: tag_counts(tagger, own.iter().copied()),
        warnings,
    }
}

/// Returns the driving findings that are wider than the design requests.
fn imprecise(table: &Table<'_>, findings: &[FindingResult]) -> Vec<String> {
    let design = table.design;
    let driving = design.findings.iter().zip(findings).filter(|(finding, _)| finding.drives);
    driving
        .filter_map(|(finding, found)| {
            let half = half_width(table, &found.result)?;
            let times = half / design.precision;
            // What rounds to what was requested is no news.
            if times < WIDER_NEWS {
                return None;
            }
            Some(format!(
                "\"{}\" is less precise than requested: {}, {times:.1} times as wide",
                finding.sentence.replace("{}", "N"),
                plus_minus(&found.result)?
            ))
        })
        .collect()
}

/// An interval that is wider than requested by less than this factor is as wide as requested.
const WIDER_NEWS: f64 = 1.05;

/// Returns half of the length of an interval: as a share of its number, or in the number's own terms.
fn plus_minus(result: &QuantityResult) -> Option<String> {
    let estimate = result.estimate?;
    let half = (estimate.high - estimate.low) / 2.0;
    let percent = 100.0 * half;
    Some(match &result.quantity {
        Quantity::Share { .. } | Quantity::Frequency { .. } => {
            format!("± {percent:.1} percentage points")
        }
        Quantity::Exponent { .. } | Quantity::Linearity { .. } => format!("± {half:.2}"),
        _ if estimate.point == 0.0 => format!("± {half}"),
        _ => format!("± {:.1} % of the number", percent / estimate.point.abs()),
    })
}

/// Returns one row per treatment and response that was measured there.
fn estimates(table: &Table<'_>) -> Vec<EstimateRow> {
    let mut rows = Vec::new();
    for treatment in table.treatments() {
        for response in &table.design.responses {
            let carried_by = table.carrier(response, treatment);
            let name = carried_by.as_ref().unwrap_or(&response.name);
            let values = table.trials(name, treatment);
            if !values.is_empty() {
                rows.push(EstimateRow {
                    treatment: treatment.clone(),
                    response: response.name.clone(),
                    unit: response.unit.clone(),
                    estimate: table.estimate(response, carried_by.as_deref(), treatment),
                    carried_by,
                    tagged: 0,
                    untagged: None,
                });
            }
        }
    }
    rows
}

/// Returns the controls of all experiments. Trust holds only if at least one control was measured and
/// none of them found a difference between identical treatments: without a control nothing is known.
pub(crate) fn trust(tables: &[Table<'_>]) -> Trust {
    let mut controls = Vec::new();
    let mut p_values = Vec::new();
    let (mut floor, mut floor_in_ten_times): (Option<f64>, Option<f64>) = (None, None);
    let worse = |a: Option<f64>, b: Option<f64>| [a, b].into_iter().flatten().reduce(f64::max);
    for table in tables {
        for control in &table.design.controls {
            let quantity = Quantity::Ratio {
                response: control.response.clone(),
                of: control.a.clone(),
                to: control.b.clone(),
            };
            let effect = effect(table, &quantity);
            let Some(ratio) = effect.evidence.estimate() else { continue };
            let side = crate::session::evidence::Side::Below;
            let same = ratio.point == 1.0;
            p_values.push(if same { 1.0 } else { effect.evidence.p_value(1.0, side) });
            floor = worse(floor, effect.evidence.floor());
            floor_in_ten_times = worse(floor_in_ten_times, effect.evidence.floor_in_ten_times());
            controls.push(ControlResult {
                experiment: table.design.id.clone(),
                response: control.response.clone(),
                at: common(&control.a, &control.b),
                ratio,
                differs: false,
            });
        }
    }
    for (control, differs) in controls.iter_mut().zip(hommel(&p_values)) {
        control.differs = differs;
    }
    let holds = !controls.is_empty() && controls.iter().all(|control| !control.differs);
    Trust { controls, holds, floor, floor_in_ten_times, visible: None }
}

/// Returns how small the differences are that the ratios of findings and claims can show; `None` where none
/// has a floor. A ratio of several sentences counts once.
fn visible(experiments: &[ExperimentSummary]) -> Option<Visible> {
    let is_ratio = |result: &&QuantityResult| result.quantity.is_multiple();
    let mut floors: Vec<f64> = Vec::new();
    let mut of_verdicts: Vec<f64> = Vec::new();
    for experiment in experiments {
        let findings = experiment.findings.iter().map(|finding| &finding.result);
        let claims = experiment.claims.iter().map(|claim| &claim.result);
        let mut known: Vec<&Quantity> = Vec::new();
        for result in findings.chain(claims).filter(is_ratio) {
            if !known.contains(&&result.quantity) {
                known.push(&result.quantity);
                floors.extend(result.floor);
            }
        }
        let claims = experiment.claims.iter().filter(|claim| is_ratio(&&claim.result));
        of_verdicts.extend(claims.filter_map(|claim| claim.floor_of_verdict));
    }
    Some(Visible {
        ratios: u32::try_from(floors.len()).unwrap_or(u32::MAX),
        median: median(&floors)?,
        of_verdicts: median(&of_verdicts),
    })
}

/// Returns the levels on which two cells agree: which of several pairs of twins this is.
fn common(a: &Cell, b: &Cell) -> Cell {
    let agreed = a.0.iter().filter(|(factor, level)| b.0.get(*factor) == Some(*level));
    Cell(agreed.map(|(factor, level)| (factor.clone(), level.clone())).collect())
}

#[cfg(test)]
mod tests;
