//! Quantities, formed block by block.
//!
//! Every effect is one number per block, made of the block's own trials, so that what disturbs a
//! whole block cancels; a block that lacks a treatment is left out of the quantities that need it.
//! The estimate is the **median of the blocks' numbers** ([`crate::interval`]). The ratio of the means is also given
//! where it lies outside the interval: a slow trial moves the mean and not the median. What the number is, by kind:
//!
//! * *Value*: the level itself.
//! * *Ratio*, *Proportion*: the log-ratio of the block. Where a value is 0 or below (a count, a
//!   number after subtraction) there is no logarithm, and the ratio itself takes its place
//!   ([`ratio_of_centres`]).
//! * *Quotient*: as a ratio, of two responses at one treatment, elapsed time as measured.
//! * *Difference*: the difference in the response's unit.
//! * *Share*: the ratio of two gaps. A block whose gap has the wrong sign counts against both ends,
//!   and there is no share where the gaps are not distinguishable from 0 ([`ratio_of_centres`]).
//! * *Exponent*, *Linearity*: the least-squares slope or R² of the block, over the levels that
//!   completed in at least half of the blocks in which they were tried (a level that does not fit
//!   into memory must not cost the others their answer).
//! * *Frequency*: events among all chances, bounded by the trials (`frequency`). It is the one
//!   quantity that is not formed by block: rare events need all the trials there are.

mod alike;

use crate::session::disturbance::{DISTURBED_SHARE, Disturbed, Losses, corrected, of_corrected};
use crate::session::evidence::{Evidence, Scale};
use crate::session::likeness::likeness;
use crate::session::lost::{excess, lost};
use crate::session::sample::{ByBlock, Table, tally};
use crate::session::verdict::{Leaning, lean};
use crate::stats::frequency::{Frequency, Tally};
use crate::stats::interval::{
    BLOCKS_FREE, LEVEL, Located, centre, median_located, ratio_of_centres,
};
use crate::stats::order::mean;
use model::{
    Cell, Claim, Estimate, Finding, FindingResult, Level, Outcome, Quantity, QuantityResult,
    Record, Response, Treatment,
};
use std::collections::BTreeSet;

/// A quantity with what its trials say.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub(crate) evidence: Evidence,
    /// The name of the corrected numbers that it is formed from.
    pub(crate) carried_by: Option<String>,
    /// What the elapsed times say that were corrected.
    pub(crate) elapsed: Option<Evidence>,
    /// The same number from the means of all blocks.
    of_means: Option<f64>,
    remarks: Vec<String>,
}

impl Effect {
    /// Returns it in the words of the session's files.
    pub(crate) fn result(&self, table: &Table<'_>, quantity: &Quantity) -> QuantityResult {
        let unit = match quantity {
            Quantity::Value { .. } | Quantity::Difference { .. } => {
                let response = table.design.response(quantity.response());
                response.map(|response| response.unit.clone())
            }
            _ => None,
        };
        let tally = match &self.evidence {
            Evidence::Events(frequency) => Some(frequency.all),
            _ => None,
        };
        let estimate = self.evidence.estimate();
        let of_means = self.of_means.zip(estimate).filter(|(mean, it)| is_news(*mean, it));
        let mut remarks = self.remarks.clone();
        if let Some((ratio, estimate)) = of_means {
            remarks.push(format!(
                "the ratio of the means is {}: some trials lie far from the others",
                apart_from(ratio, &estimate)
            ));
        }
        QuantityResult {
            events: tally.map(|tally| tally.events),
            chances: tally.map(|tally| tally.chances),
            quantity: quantity.clone(),
            unit,
            estimate,
            of_means: of_means.map(|(ratio, _)| ratio),
            carried_by: self.carried_by.clone(),
            likeness: likeness(quantity, estimate.as_ref()),
            lost: lost(table, quantity),
            floor: self.evidence.floor(),
            floor_in_ten_times: self.evidence.floor_in_ten_times(),
            tagged: 0,
            untagged: None,
            remark: remarks.join("; "),
        }
    }
}

/// A ratio of means that lies less than this share of the median ratio beyond its interval is no news.
const OF_MEANS_NEWS: f64 = 0.001;

/// Reports whether the ratio of the means lies outside the interval, by more than a reader would notice.
fn is_news(mean: f64, estimate: &Estimate) -> bool {
    let beyond = (estimate.low - mean).max(mean - estimate.high);
    beyond > OF_MEANS_NEWS * estimate.point.abs()
}

/// Returns a ratio with as many decimals as show that it lies outside an interval.
fn apart_from(ratio: f64, estimate: &Estimate) -> String {
    let beyond = (estimate.low - ratio).max(ratio - estimate.high);
    let least = if ratio < 10.0 { 2.0 } else { 0.0 };
    let digits = (1.0 - beyond.log10().floor()).clamp(least, 9.0) as usize;
    format!("{ratio:.digits$}")
}

/// Returns what a claim's effect says for or against it; without a verdict where elapsed time as measured and corrected
/// say opposite things, each significantly by itself.
pub(crate) fn leaning(table: &Table<'_>, effect: &mut Effect, claim: &Claim) -> Option<Leaning> {
    let unit = table.design.response(claim.quantity.response()).map(|response| &response.unit);
    let lean = |evidence: &Evidence| lean(&claim.quantity, evidence, claim.holds_if);
    let lost = lost(table, &claim.quantity).map_or(0, |lost| excess(&lost));
    let own = lean(&effect.evidence)?.against_lost(lost);
    let Some((elapsed, measured)) = effect.elapsed.as_ref().and_then(|it| Some((it, lean(it)?)))
    else {
        return Some(own);
    };
    let is_decided = |one: &Leaning| one.p_value.is_none_or(|p_value| p_value <= 1.0 - LEVEL);
    if own.holds == measured.holds || ![own, measured].iter().all(is_decided) {
        return Some(own);
    }
    let shown = |evidence: &Evidence| {
        let point = evidence.estimate().map_or(f64::NAN, |estimate| estimate.point);
        match &claim.quantity {
            _ if claim.quantity.is_multiple() => format!("{point:.3}×"),
            _ => wording::number::value_in(point, wording::number::terms_of(&claim.quantity, unit)),
        }
    };
    effect.remarks.push(format!(
        "elapsed time as measured and without what other programs took disagree: {} and {}",
        shown(elapsed),
        shown(&effect.evidence)
    ));
    Some(own.contradicted())
}

/// Returns what the trials say of a quantity, in the words of the session's files.
pub(crate) fn answered(table: &Table<'_>, quantity: &Quantity) -> QuantityResult {
    effect(table, quantity).result(table, quantity)
}

/// Returns a finding with what its trials say.
pub(crate) fn found(table: &Table<'_>, finding: &Finding) -> FindingResult {
    FindingResult {
        id: finding.id.clone(),
        sentence: finding.sentence.clone(),
        result: answered(table, &finding.quantity),
    }
}

/// Returns a quantity from its trials. Where others took elapsed time from too many trials of a
/// treatment ([`Disturbed::shifts`]), each trial's number is corrected, if what they took is known
/// ([`may_be_corrected`]).
///
/// What is left is the same statistic of the same operations, and keeps the trial's own sleep. CPU time
/// has neither: it is a mean over the timed region, and nothing that sleeps uses it.
pub(crate) fn effect(table: &Table<'_>, quantity: &Quantity) -> Effect {
    let response = quantity.response();
    let direct = || form(table, quantity, response);
    let Some(losses) = losses(table, quantity) else { return direct() };
    let is_any = |is: fn(Disturbed) -> bool| losses.iter().any(|one| is(one.disturbed));
    if !is_any(Disturbed::shifts) {
        return direct();
    }
    let corrected = losses
        .iter()
        .all(|one| one.is_known)
        .then(|| (form(table, quantity, &corrected(response)), corrected(response)))
        .filter(|(effect, _)| effect.evidence != Evidence::None);
    let (mut effect, what) = match corrected {
        Some((effect, name)) => {
            let elapsed = Some(direct().evidence);
            (
                Effect { carried_by: Some(name), elapsed, ..effect },
                "elapsed time less what other programs took: they ",
            )
        }
        None if is_any(Disturbed::breaks) => (direct(), "elapsed time, although other programs "),
        // Of fewer the tags tell, and what the untagged trials say.
        None => return direct(),
    };
    effect.remarks.insert(0, what.to_string() + &described(&losses));
    effect
}

/// Reports whether the elapsed times of a quantity can be corrected: what others took is known of each
/// treatment that it needs ([`Losses::is_known`]).
pub(crate) fn may_be_corrected(table: &Table<'_>, quantity: &Quantity) -> bool {
    losses(table, quantity).is_some_and(|all| !all.is_empty() && all.iter().all(|it| it.is_known))
}

/// Returns what others took from the trials of each treatment that a quantity needs; `None` where it is no
/// elapsed time whose CPU time is measured.
fn losses(table: &Table<'_>, quantity: &Quantity) -> Option<Vec<Losses>> {
    let response = table.design.response(quantity.response())?;
    response.cpu_twin.as_ref()?;
    if let Quantity::Frequency { .. } | Quantity::Quotient { .. } = quantity {
        return None;
    }
    let needed = table.needed(quantity);
    Some(needed.iter().map(|treatment| table.losses(&response.name, treatment)).collect())
}

/// Returns what others took from some treatments: of the typical trial of the worst of them, or from how
/// many trials where these are few.
fn described(losses: &[Losses]) -> String {
    let all = losses.iter().fold(Disturbed::default(), |all, one| all.and(one.disturbed));
    if !losses.iter().any(|one| one.disturbed.breaks()) {
        return format!(
            "used more than {:.0} % of the elapsed time of {} of {} trials",
            100.0 * DISTURBED_SHARE,
            all.bad,
            all.of
        );
    }
    let worst = losses.iter().map(|one| one.typical).fold(0.0, f64::max);
    format!("used {:.0} % of the elapsed time", 100.0 * worst)
}

/// Returns the number formed from one response, disturbed or not.
pub(crate) fn form(table: &Table<'_>, quantity: &Quantity, response: &str) -> Effect {
    // Levels may drift with the machine; ratios and all that is formed within a block should not.
    let alike = match quantity {
        Quantity::Value { .. } => table.levels_alike(response),
        Quantity::Frequency { .. } => None,
        _ => alike::alike(table),
    };
    form_given(table, quantity, response, alike)
}

/// Returns the number formed from one response, given what its experiment's blocks have in common.
pub(crate) fn form_given(
    table: &Table<'_>,
    quantity: &Quantity,
    response: &str,
    alike: Option<f64>,
) -> Effect {
    let (of_means, remarks, is_one_block) = (None, Vec::new(), false);
    let is_level = matches!(quantity, Quantity::Value { .. });
    let mut former = Former { table, response, alike, is_level, of_means, remarks, is_one_block };
    let evidence = match quantity {
        Quantity::Value { at, .. } => former.value(at),
        Quantity::Ratio { of, to, .. } => former.ratio([(response, of), (response, to)], 1.0),
        Quantity::Quotient { by, at, .. } => former.ratio([(response, at), (by, at)], 1.0),
        Quantity::Difference { of, to, .. } => former.difference(of, to),
        Quantity::Share { whole, without, base, .. } => former.share(whole, without, base),
        Quantity::Exponent { over, at, .. } => former.fit(over, at, exponent, Scale::Linear),
        Quantity::Linearity { over, at, .. } => former.fit(over, at, r_squared, Scale::Unit),
        Quantity::Proportion { over, lower, upper, at, .. } => {
            former.proportion(over, lower, upper, at)
        }
        Quantity::Frequency { among, .. } => former.frequency(among),
    };
    let evidence = evidence.unwrap_or(Evidence::None);
    let Former { of_means, remarks, .. } = former;
    Effect { evidence, carried_by: None, elapsed: None, of_means, remarks }
}

struct Former<'t> {
    table: &'t Table<'t>,
    response: &'t str,
    /// The correlation of each block with its predecessor, where the experiment shows one.
    alike: Option<f64>,
    is_level: bool,
    of_means: Option<f64>,
    remarks: Vec<String>,
    /// Whether there is one block, of computed numbers.
    is_one_block: bool,
}

impl Former<'_> {
    fn say(&mut self, remark: impl Into<String>) {
        self.remarks.push(remark.into());
    }

    fn value(&mut self, at: &Cell) -> Option<Evidence> {
        let [values] = self.together([at])?;
        let located = median_located(&values);
        let holds_0 = located.as_ref().is_some_and(|it| it.low <= 0.0 && it.high >= 0.0);
        let evidence = self.located(located, Scale::Linear);
        let response = self.response();
        if holds_0 && response.is_some_and(|response| response.subtract.is_some()) {
            self.say("below what this machine can resolve: the interval holds 0");
        }
        evidence
    }

    /// Returns the ratio of two responses or treatments, divided by `expected`.
    fn ratio(&mut self, ends: [(&str, &Cell); 2], expected: f64) -> Option<Evidence> {
        let [above, below] = self.columns(ends)?;
        let means = mean(&above).zip(mean(&below)).filter(|(_, below)| *below != 0.0);
        self.of_means = means.map(|(above, below)| above / below / expected);
        if above.iter().chain(&below).all(|value| *value > 0.0) {
            let logs: Vec<f64> =
                above.iter().zip(&below).map(|(a, b)| (a / b / expected).ln()).collect();
            return self.located(centre(&logs), Scale::Log);
        }
        let below: Vec<f64> = below.iter().map(|value| value * expected).collect();
        let located = ratio_of_centres(&above, &below);
        self.remarks.push(match located {
            Some(_) => "some values are not above 0: the ratio is formed without logarithms".into(),
            None => "the divisor is not distinguishable from 0".into(),
        });
        self.located(located, Scale::Relative)
    }

    fn difference(&mut self, of: &Cell, to: &Cell) -> Option<Evidence> {
        let [of, to] = self.together([of, to])?;
        let effects: Vec<f64> = of.iter().zip(&to).map(|(a, b)| a - b).collect();
        self.located(centre(&effects), Scale::Linear)
    }

    fn share(&mut self, whole: &Cell, without: &Cell, base: &Cell) -> Option<Evidence> {
        let [whole, without, base] = self.together([whole, without, base])?;
        let minus = |b: &[f64]| whole.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let located = ratio_of_centres(&minus(&without), &minus(&base));
        if located.is_none() {
            self.say(
                "the gap itself is not resolved: its interval contains 0, so no share of it can \
                 be given",
            );
        }
        self.located(located, Scale::Linear)
    }

    fn proportion(&mut self, over: &str, lower: &str, upper: &str, at: &Cell) -> Option<Evidence> {
        let value = |level: &str| self.table.design.factor(over)?.level(level)?.value;
        let ends = value(lower).zip(value(upper)).filter(|(low, high)| *low > 0.0 && *high > 0.0);
        let Some((low, high)) = ends else {
            self.say(format!("{lower} and {upper} of {over} are not numbers above 0"));
            return None;
        };
        let ends = [&at.with(over, upper), &at.with(over, lower)];
        self.ratio(ends.map(|end| (self.response, end)), high / low)
    }

    /// Returns a number fitted to each block over the levels of a numeric factor.
    fn fit(
        &mut self,
        over: &str,
        at: &Cell,
        of: fn(&[(f64, f64)]) -> Option<f64>,
        scale: Scale,
    ) -> Option<Evidence> {
        let design = self.table.design;
        let levels = design.factor(over).map_or(&[][..], |factor| &factor.levels);
        let of_level = |level: &Level| {
            let value = level.value.filter(|value| value.is_finite())?;
            let treatment = design.complete(&at.with(over, &level.name));
            let tried = self.table.tried(self.response, &treatment);
            // A level that nobody planned is no gap in the data.
            (!tried.is_empty())
                .then(|| (value, self.table.blocks(self.response, &treatment), tried))
        };
        let mut series: Vec<(f64, ByBlock, BTreeSet<u32>)> =
            levels.iter().filter_map(of_level).collect();
        let before = series.len();
        series.retain(|(_, values, tried)| !values.is_empty() && 2 * values.len() >= tried.len());
        if series.len() < before {
            self.say(format!(
                "{} of {before} levels of {over} completed in at least half of their blocks",
                series.len()
            ));
        }
        // A round that narrows another interval measures some of the levels only.
        let blocks = common(series.iter().map(|(_, _, tried)| tried.clone()));
        let number = |block: &u32| {
            let points = series.iter().map(|(at, values, _)| Some((*at, *values.get(block)?)));
            of(&points.collect::<Option<Vec<_>>>()?)
        };
        let numbers: Vec<f64> = blocks.iter().filter_map(number).collect();
        self.left_out(blocks.len() - numbers.len(), blocks.len());
        let numbers = self.decisive(numbers);
        if numbers.len() < 2 {
            self.say(too_few(numbers.len()));
        }
        self.located(centre(&numbers), scale)
    }

    fn frequency(&mut self, among: &Cell) -> Option<Evidence> {
        let matching = self.table.treatments().into_iter().filter(|t| t.matches(among));
        let (records, treatments): (Vec<&[&Record]>, Vec<&Treatment>) =
            matching.map(|treatment| (self.table.records(treatment), treatment)).unzip();
        let tallies: Vec<Tally> =
            records.into_iter().flatten().map(|record| tally(record, self.response)).collect();
        let response = self.response();
        let independent = response.is_some_and(|response| response.independent);
        let Some(frequency) = Frequency::over(&tallies, independent) else {
            let one = tallies.iter().any(|tally| tally.chances > 0);
            self.remarks.push(match (one, treatments.first()) {
                (true, _) => {
                    "1 trial observed it, 2 are needed to see how much trials differ".into()
                }
                (false, Some(first)) => {
                    let why = self.table.why_not(first);
                    let observed = if why.starts_with(':') { " observed it" } else { "" };
                    format!("no completed trial{observed}{why}")
                }
                (false, None) => "no trial of this profile matches, or none was reached".into(),
            });
            return None;
        };
        if independent && frequency.is_by_trials() {
            self.say(
                "trials differ by more than chance, so the interval rests on the number of \
                 trials, not of single events",
            );
        }
        Some(Evidence::Events(frequency))
    }

    /// Returns the values of some treatments in the blocks that have them all, in the blocks' order;
    /// `None`, with a remark, for fewer than 2 blocks.
    fn together<const N: usize>(&mut self, cells: [&Cell; N]) -> Option<[Vec<f64>; N]> {
        self.columns(cells.map(|cell| (self.response, cell)))
    }

    /// Does the same for several responses.
    fn columns<const N: usize>(&mut self, of: [(&str, &Cell); N]) -> Option<[Vec<f64>; N]> {
        let of = of.map(|(response, cell)| (response, self.table.design.complete(cell)));
        let columns = of.each_ref().map(|(response, t)| self.table.blocks(response, t));
        for ((_, treatment), column) in of.iter().zip(&columns) {
            if column.is_empty() {
                let why = self.table.why_not(treatment);
                let named = self.table.design.as_named(treatment).to_string();
                let of = if named.is_empty() { "" } else { " of " };
                self.say(format!("no completed trial{of}{named}{why}"));
                return None;
            }
        }
        let tried = common(of.iter().map(|(response, t)| self.table.tried(response, t)));
        let all: Vec<u32> =
            tried.iter().copied().filter(|b| columns.iter().all(|c| c.contains_key(b))).collect();
        self.left_out(tried.len() - all.len(), tried.len());
        if all.len() < 2 && !(self.is_computed() && all.len() == 1) {
            self.say(too_few(all.len()));
            return None;
        }
        Some(columns.map(|column| {
            self.decisive(all.iter().filter_map(|b| column.get(b).copied()).collect())
        }))
    }

    fn response(&self) -> Option<&Response> {
        let name = of_corrected(self.response).unwrap_or(self.response);
        self.table.design.response(name)
    }

    fn is_computed(&self) -> bool {
        self.response().is_some_and(|response| response.exact)
    }

    /// Returns the numbers of a response's blocks, of which a computed one needs no second: where there is
    /// one block, another would say the same.
    fn decisive(&mut self, mut numbers: Vec<f64>) -> Vec<f64> {
        if let [number] = numbers[..]
            && self.is_computed()
        {
            numbers.push(number);
            self.is_one_block = true;
        }
        numbers
    }

    fn left_out(&mut self, lacking: usize, blocks: usize) {
        if lacking > 0 {
            self.say(format!(
                "{lacking} of {blocks} blocks do not give the number and are left out"
            ));
        }
    }

    fn located(&mut self, located: Option<Located>, scale: Scale) -> Option<Evidence> {
        let located = located?;
        let located = if self.is_one_block { located.of_one_block() } else { located };
        let computed = self.is_computed();
        let located = match (computed, self.is_level) {
            (true, _) => located,
            (false, true) => located.drifting(self.alike),
            (false, false) => located.following(self.alike),
        };
        let blocks = located.samples;
        match (located.agrees, computed) {
            (true, true) => self.say("computed, not measured"),
            (false, true) => {
                self.say("declared exact, but its blocks differ: do not rely on it");
            }
            (true, _) if blocks >= BLOCKS_FREE => {
                self.say(format!("all {blocks} blocks agree to the last digit"));
            }
            (true, _) => self.say(format!("all {blocks} blocks agree, too few for a verdict")),
            _ if blocks < BLOCKS_FREE => self.say(format!(
                "only {blocks} blocks: the interval assumes normally distributed effects"
            )),
            _ => {}
        }
        if let Some(correlation) = located.correlation {
            let of = if self.is_level { "at all treatments" } else { "in all numbers" };
            self.say(format!(
                "neighbouring blocks are alike {of} together (correlation {correlation:.2}): the interval \
                 counts {blocks} blocks as {:.0} independent ones",
                located.effective.floor()
            ));
        }
        if located.two_groups {
            self.say(
                "the blocks fall into two groups with a gap between them, and their median \
                 describes neither group alone",
            );
        }
        Some(Evidence::Blocks { located, scale, computed })
    }
}

impl Table<'_> {
    /// Returns the blocks that were to give a response's number at a treatment, whatever became of them:
    /// those in which it was tried, and the control that is subtracted from it. A round that
    /// narrows another interval may do without the control.
    pub(crate) fn tried(&self, response: &str, treatment: &Treatment) -> BTreeSet<u32> {
        let blocks = |treatment: &Treatment| -> BTreeSet<u32> {
            self.records(treatment).iter().map(|record| record.block).collect()
        };
        let own = blocks(treatment);
        let response = self.design.response(of_corrected(response).unwrap_or(response));
        match response.and_then(|response| response.subtract.as_ref()) {
            None => own,
            Some(control) => &own & &blocks(&treatment.with(control)),
        }
    }

    /// Returns why a treatment has no number, as the end of a sentence.
    pub(crate) fn why_not(&self, treatment: &Treatment) -> String {
        match self.records(treatment).first().map(|record| &record.outcome) {
            None => NOT_REACHED.into(),
            Some(Outcome::Completed { .. }) => " measured it".into(),
            Some(outcome) => {
                let (kind, reason) = crate::session::outcomes::words(outcome);
                if reason.is_empty() { format!(": {kind}") } else { format!(": {kind}, {reason}") }
            }
        }
    }
}

/// Why a treatment without a trial has no number, as the end of a sentence.
pub(crate) const NOT_REACHED: &str = " is in this profile, or was reached";

/// Returns why there is no interval of this number of blocks.
fn too_few(blocks: usize) -> String {
    let found = match blocks {
        0 => "no block has".to_string(),
        _ => format!("only {blocks} block{} has", if blocks == 1 { "" } else { "s" }),
    };
    format!("{found} all of its numbers, and an interval needs 2")
}

/// Returns what all sets hold; nothing if there is none.
pub(crate) fn common(sets: impl Iterator<Item = BTreeSet<u32>>) -> BTreeSet<u32> {
    sets.reduce(|all, set| &all & &set).unwrap_or_default()
}

/// Returns slope and R² of a least-squares line; the slope is `None` if all x are the same.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    let (sum_x, sum_y) = points.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
    let (mean_x, mean_y) = (sum_x / n, sum_y / n);
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|(x, y)| f(x - mean_x, y - mean_y)).sum()
    };
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    if xx <= 0.0 {
        return None;
    }
    // A response that does not vary at all lies on a line, a horizontal one.
    let r_squared = if yy > 0.0 { xy * xy / (xx * yy) } else { 1.0 };
    Some((xy / xx, r_squared))
}

/// Returns the exponent of a block; `None` with a value not above 0 or fewer than 2 levels above 0.
fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let levels = points.iter().filter(|(level, _)| *level > 0.0);
    let logs: Vec<(f64, f64)> = levels.map(|(level, value)| (level.ln(), value.ln())).collect();
    let possible = logs.len() >= 2 && logs.iter().all(|(_, value)| value.is_finite());
    if possible { line(&logs).map(|(slope, _)| slope) } else { None }
}

/// Returns R² of a block; `None` with fewer than 3 levels, since 2 points always lie on a line.
fn r_squared(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 3 { None } else { line(points).map(|(_, r_squared)| r_squared) }
}

#[cfg(test)]
mod clocks;
#[cfg(test)]
mod tests;
