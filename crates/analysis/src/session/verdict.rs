//! From an estimate to a verdict.
//!
//! A claim names a region in which the number lies if the claim is true. Where the point lies in
//! the region the data can only support it, else only refute it; the p-value is twice the
//! one-sided one against the boundary that would have to be crossed to change that. With two
//! ends and the point between them the claim is one of *equivalence* and the larger of the two
//! p-values counts: two one-sided tests (Schuirmann, *A comparison of the two one-sided tests
//! procedure and the power approach*, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987).
//! So **"makes no difference" is a region such as 1/1.05 to 1.05**, never "no difference was
//! found"; with too few blocks it stays Inconclusive.
//!
//! The p-value is that of the exact sign test over blocks ([`crate::interval`]), so that a verdict
//! can be said in one sentence: "slower in 19 of 20 blocks". A number that is computed and the same
//! in every block has no p-value: it is certain. [`hommel`](crate::hommel()) then judges all claims of
//! the session together and asks for more than 0.05: an interval may clear the boundary and the
//! verdict still be Inconclusive. Then [`Open`] says why, and how many blocks are missing.

use crate::session::evidence::{Evidence, Side};
use crate::stats::hommel::{claim_limit, claims_that_stand, limit};
use crate::stats::interval::{BLOCKS_FREE, near};
use crate::stats::tail::binomial_at_most;
use model::{Open, OpenWhy, Quantity, Region, Verdict};

/// What one claim's own data say, before the correction for the session's other claims.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Leaning {
    /// Whether the point lies in the claim's region.
    pub(crate) holds: bool,
    /// Two-sided p-value of that; `None` for a number that is certain.
    pub(crate) p_value: Option<f64>,
    /// Blocks on the point's side of the boundary that is nearest, and all blocks.
    pub(crate) blocks: Option<(usize, usize)>,
    /// Whether the interval holds an end of the region that would have to be crossed.
    pub(crate) at_the_edge: bool,
    /// Whether the level of the blocks changed, so that its parts are judged.
    pub(crate) changed: bool,
    /// Whether trials that one side lost count against it.
    pub(crate) lost: bool,
    /// Whether elapsed time as measured says the opposite, so that there is no verdict.
    pub(crate) clocks_disagree: bool,
}

impl Leaning {
    /// Returns the verdict, given whether the p-value stands among the session's others.
    pub(crate) fn verdict(self, stands: bool) -> Verdict {
        let is_decided = (stands || self.p_value.is_none()) && !self.clocks_disagree;
        match (is_decided, self.holds) {
            (false, _) => Verdict::Inconclusive,
            (true, true) => Verdict::Supported,
            (true, false) => Verdict::Refuted,
        }
    }

    /// Towards one boundary, or several of which the worst counts.
    fn towards(holds: bool, evidence: &Evidence, boundaries: &[(f64, Side)]) -> Self {
        let p = |&(at, side): &(f64, Side)| evidence.p_value_of_claim(at, side);
        let blocks = boundaries.iter().filter_map(|(at, _)| evidence.beyond(*at));
        let estimate = evidence.estimate();
        let holds_end = |(at, _): &(f64, Side)| {
            estimate.is_some_and(|estimate| estimate.low <= *at && *at <= estimate.high)
        };
        Leaning {
            holds,
            p_value: (!evidence.is_certain()).then(|| boundaries.iter().map(p).fold(0.0, f64::max)),
            blocks: blocks.min(),
            at_the_edge: boundaries.iter().any(holds_end),
            changed: evidence.located().is_some_and(|located| located.changed_after.is_some()),
            lost: false,
            clocks_disagree: false,
        }
    }

    /// Returns the same without a verdict, since elapsed time as measured says the opposite.
    pub(crate) fn contradicted(self) -> Self {
        Leaning { p_value: None, blocks: None, clocks_disagree: true, ..self }
    }

    /// Returns the same if each of some lost trials would have spoken against it.
    pub(crate) fn against_lost(self, trials: u32) -> Self {
        let Some((agreeing, blocks)) = self.blocks else { return self };
        let all = (blocks + trials as usize) as f64;
        let found = (2.0 * binomial_at_most(all - agreeing as f64, all, 0.5)).min(1.0);
        let p_value = self.p_value.map(|p_value| p_value.max(found));
        Leaning { lost: p_value > self.p_value, p_value, ..self }
    }

    /// Returns the p-value that it would have with `more` blocks of which as many agree as of those
    /// measured. That of a frequency stays.
    fn p_value_with(&self, more: usize) -> Option<f64> {
        let Some((agreeing, blocks)) = self.blocks else { return self.p_value };
        let all = (blocks + more) as f64;
        let against = ((blocks - agreeing) as f64 * all / blocks.max(1) as f64).round();
        let enough = blocks + more >= BLOCKS_FREE;
        let found = if enough { 2.0 * binomial_at_most(against, all, 0.5) } else { 1.0 };
        self.p_value.map(|_| found.min(1.0))
    }
}

/// Returns the verdict of each claim of a session, given which way its data lean, after Hommel's
/// correction over all that have a p-value.
pub(crate) fn verdicts(leanings: &[Option<Leaning>]) -> Vec<Verdict> {
    let p_values = leanings.iter().flatten().filter_map(|leaning| leaning.p_value);
    let mut stands = claims_that_stand(&p_values.collect::<Vec<f64>>()).into_iter();
    let mut verdict = |leaning: &Leaning| {
        let stands = leaning.p_value.and_then(|_| stands.next());
        leaning.verdict(stands.unwrap_or(false))
    };
    let leanings = leanings.iter();
    leanings.map(|it| it.as_ref().map_or(Verdict::Inconclusive, &mut verdict)).collect()
}

/// A claim without a verdict points to neither side where blocks without an effect lean so far more often than this.
const LEANS_ERROR: f64 = 0.25;

/// The most further blocks that are looked ahead for an open claim: a session of minutes measures hardly
/// more.
const BLOCKS_AHEAD: usize = 60;

/// Returns why each claim without a verdict has none, and how many blocks it lacks.
pub(crate) fn open(leanings: &[Option<Leaning>], verdicts: &[Verdict]) -> Vec<Option<Open>> {
    let missing = more_blocks(leanings, verdicts);
    let alone = claim_limit(1, 1);
    let of = |((leaning, verdict), more_blocks): ((&Option<Leaning>, &Verdict), Option<u32>)| {
        (*verdict == Verdict::Inconclusive).then(|| {
            let Some(leaning) = leaning else {
                return Open { why: OpenWhy::NoNumber, leans: None, more_blocks: None };
            };
            if leaning.clocks_disagree {
                return Open { why: OpenWhy::ClocksDisagree, leans: None, more_blocks: None };
            }
            let why = match leaning.blocks {
                Some((_, blocks)) if blocks < BLOCKS_FREE => OpenWhy::FewBlocks,
                Some((agreeing, blocks)) if leaning.changed && agreeing < blocks => {
                    OpenWhy::Changed
                }
                _ if leaning.at_the_edge => OpenWhy::AtTheEdge,
                _ if leaning.lost => OpenWhy::Lost,
                _ if leaning.p_value.is_some_and(|p| p <= alone) => OpenWhy::FewAmong,
                _ => OpenWhy::FewAgree,
            };
            let by_chance = match leaning.blocks {
                Some((agreeing, blocks)) => {
                    Some(2.0 * binomial_at_most((blocks - agreeing) as f64, blocks as f64, 0.5))
                }
                None => leaning.p_value,
            };
            let is_likely = by_chance.is_none_or(|p| p <= LEANS_ERROR);
            Open { why, leans: is_likely.then(|| leaning.verdict(true)), more_blocks }
        })
    };
    leanings.iter().zip(verdicts).zip(missing).map(of).collect()
}

/// Returns for each open claim the least number of further blocks that decide it among the others.
fn more_blocks(leanings: &[Option<Leaning>], verdicts: &[Verdict]) -> Vec<Option<u32>> {
    let mut missing = vec![None; leanings.len()];
    let is_open = |at: &usize| verdicts[*at] == Verdict::Inconclusive && leanings[*at].is_some();
    let mut left: Vec<usize> = (0..leanings.len()).filter(is_open).collect();
    for more in 1..=BLOCKS_AHEAD {
        if left.is_empty() {
            break;
        }
        let later = |leaning: &Option<Leaning>| {
            leaning.map(|it| Leaning { p_value: it.p_value_with(more), ..it })
        };
        let later: Vec<Option<Leaning>> = leanings.iter().map(later).collect();
        let decided = self::verdicts(&later);
        let (now, rest): (Vec<usize>, Vec<usize>) =
            left.into_iter().partition(|at| decided[*at] != Verdict::Inconclusive);
        now.into_iter().for_each(|at| missing[at] = u32::try_from(more).ok());
        left = rest;
    }
    missing
}

/// The share of claims that a plan expects to stay open: 17 % of those of the recorded default session, whose numbers
/// lie at the edges of their regions or whose blocks disagree, and 22 % (27 of 123) on a host that was busy.
const OPEN_SHARE: f64 = 0.25;

/// Returns the fewest blocks with which a session of this number of claims decides each whose blocks agree, however
/// many of the others stay open.
pub fn blocks_for(claims: usize) -> u32 {
    blocks_that_reach(claim_limit(claims, claims), 0)
}

/// Returns the fewest blocks that are worth it: those that suffice where [`OPEN_SHARE`] of the claims stay open.
pub fn fewest_blocks_for(claims: usize) -> u32 {
    blocks_that_reach(claim_limit(1 + left_open(claims), claims), 0)
}

/// Returns the fewest blocks with which such a session decides claims of which one block disagrees.
pub(crate) fn blocks_with_one_against(claims: usize) -> u32 {
    blocks_that_reach(claim_limit(1 + left_open(claims), claims), 1)
}

/// Returns the fewest blocks with which planted answers are decided, which nobody takes home, where as many stay open.
pub fn blocks_for_planted(answers: usize) -> u32 {
    blocks_that_reach(limit(1 + left_open(answers)), 0)
}

fn left_open(of: usize) -> usize {
    (of as f64 * OPEN_SHARE).ceil() as usize
}

fn blocks_that_reach(limit: f64, against: u32) -> u32 {
    let against = f64::from(against);
    let enough = |blocks: &u32| 2.0 * binomial_at_most(against, f64::from(*blocks), 0.5) <= limit;
    (BLOCKS_FREE as u32..=BLOCKS_AHEAD as u32).find(enough).unwrap_or(BLOCKS_AHEAD as u32)
}

/// Returns which way the data lean; `None` where there is no estimate, or the region has no end that
/// a number of this kind could cross, so that nothing can refute the claim.
pub(crate) fn lean(quantity: &Quantity, evidence: &Evidence, region: Region) -> Option<Leaning> {
    let point = evidence.estimate()?.point;
    let region = crossable(quantity, region);
    let (low, high) = (region.low, region.high);
    // A quotient of whole numbers may miss one by its last digit.
    let point = [low, high].into_iter().flatten().find(|end| near(*end, point)).unwrap_or(point);
    let is_at_end = (low == Some(point) || high == Some(point)) && !evidence.is_certain();
    let towards =
        |holds, boundaries: &[(f64, Side)]| Some(Leaning::towards(holds, evidence, boundaries));
    match (low, high) {
        (None, None) => None,
        (Some(low), Some(high)) if low > high => None,
        // A number at an end is that of a count: each block that has it speaks for it.
        _ if is_at_end && evidence.located().is_some() => {
            let (p_value, agreeing) = evidence.is_just(point)?;
            let blocks = evidence.located().map(|located| (agreeing, located.samples));
            Some(Leaning {
                holds: true,
                p_value: Some(p_value),
                blocks,
                at_the_edge: false,
                changed: false,
                lost: false,
                clocks_disagree: false,
            })
        }
        (Some(low), _) if point < low => towards(false, &[(low, Side::Above)]),
        (_, Some(high)) if point > high => towards(false, &[(high, Side::Below)]),
        _ => {
            let ends = [low.map(|low| (low, Side::Below)), high.map(|high| (high, Side::Above))];
            let ends: Vec<(f64, Side)> = ends.into_iter().flatten().collect();
            towards(true, &ends)
        }
    }
}

/// Returns a region without the ends that the quantity cannot cross anyway: no ratio of positive numbers
/// lies below 0, no frequency above 1.
fn crossable(quantity: &Quantity, region: Region) -> Region {
    let (least, most) = match quantity {
        Quantity::Frequency { .. } | Quantity::Linearity { .. } => (Some(0.0), Some(1.0)),
        _ => (None, None),
    };
    Region {
        low: region.low.filter(|low| least.is_none_or(|least| *low > least)),
        high: region.high.filter(|high| most.is_none_or(|most| *high < most)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::evidence::Scale;
    use crate::stats::frequency::{Frequency, Tally};
    use crate::stats::interval::centre;
    use model::Cell;
    use proptest::prelude::*;

    fn ratio() -> Quantity {
        let cell = Cell::default();
        Quantity::Ratio { response: "task_ns".into(), of: cell.clone(), to: cell }
    }

    fn evidence(ratios: &[f64]) -> Evidence {
        let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
        let located = centre(&logs).unwrap();
        Evidence::Blocks { located, scale: Scale::Log, computed: false }
    }

    const TWO: [f64; 8] = [2.0, 2.02, 1.97, 2.05, 1.99, 2.01, 1.98, 2.03];
    /// Reports whether it is the p-value of eight blocks of eight.
    fn all_of_eight(leaning: &Leaning) -> bool {
        (leaning.p_value.unwrap() - 2.0 / 256.0).abs() < 1e-12
    }

    #[test]
    fn a_clear_number_supports_or_refutes() {
        let clear = evidence(&TWO);
        let above = lean(&ratio(), &clear, Region::above(1.5)).unwrap();
        assert!(all_of_eight(&above));
        assert_eq!((above.holds, above.blocks), (true, Some((8, 8))));
        assert_eq!(above.verdict(true), Verdict::Supported);
        assert_eq!(above.verdict(false), Verdict::Inconclusive);
        let below = lean(&ratio(), &clear, Region::below(1.5)).unwrap();
        assert!(!below.holds && below.p_value == above.p_value);
        assert_eq!(below.verdict(true), Verdict::Refuted);
        let high = lean(&ratio(), &clear, Region::above(3.0)).unwrap();
        assert!(!high.holds && all_of_eight(&high));
    }

    #[test]
    fn no_difference_is_equivalence() {
        let same = [1.0, 1.01, 0.99, 1.004, 0.996, 1.002, 0.998, 1.006];
        let region = Region::about(1.0, 0.05);
        let leaning = lean(&ratio(), &evidence(&same), region).unwrap();
        assert!(leaning.holds && all_of_eight(&leaning));
        // The wider the noise, the less it is equivalence: absence of evidence does not count.
        let noisy = [1.0, 1.4, 0.7, 1.2, 0.8, 1.1, 0.9, 1.05];
        let leaning = lean(&ratio(), &evidence(&noisy), region).unwrap();
        assert!(leaning.holds && leaning.p_value.unwrap() > 0.05);
        assert_eq!(leaning.blocks, Some((4, 8)));
        // The larger of the two one-sided p-values counts.
        let near = lean(&ratio(), &evidence(&TWO), Region::within(1.975, 50.0)).unwrap();
        let alone = lean(&ratio(), &evidence(&TWO), Region::above(1.975)).unwrap();
        assert_eq!(near, alone);
    }

    #[test]
    fn ends_that_cannot_be_crossed_do_not_count() {
        let among = Cell::default();
        let frequency = Quantity::Frequency { response: "escaped_count".into(), among };
        let trial = Tally { events: 0, chances: 500 };
        let none = Evidence::Events(Frequency::over(&[trial; 20], false).unwrap());
        let rare = lean(&frequency, &none, Region::within(0.0, 0.5)).unwrap();
        assert!(rare.holds && rare.p_value.unwrap() < 0.001 && rare.blocks.is_none());
        assert_eq!(lean(&frequency, &none, Region::within(0.0, 1.0)), None);
        assert_eq!(lean(&ratio(), &Evidence::None, Region::above(1.0)), None);
        assert_eq!(lean(&ratio(), &evidence(&TWO), Region::within(3.0, 2.0)), None);
        let free = Region { low: None, high: None };
        assert_eq!(lean(&ratio(), &evidence(&TWO), free), None);
    }

    #[test]
    fn a_region_of_one_number_is_decided_by_the_blocks_that_have_it() {
        let counts = |values: &[f64]| {
            let located = centre(values).unwrap();
            Evidence::Blocks { located, scale: Scale::Linear, computed: false }
        };
        let nine = lean(&ratio(), &counts(&[4.0; 9]), Region::within(4.0, 4.0)).unwrap();
        assert!(nine.holds && nine.p_value.unwrap() < 0.005 && nine.blocks == Some((9, 9)));
        let torn = [4.0, 4.0, 5.0, 4.0, 3.0, 4.0, 4.0, 5.0, 4.0];
        let torn = lean(&ratio(), &counts(&torn), Region::within(4.0, 4.0)).unwrap();
        assert!(torn.holds && torn.p_value.unwrap() > 0.05 && torn.blocks == Some((6, 9)));
        let other = lean(&ratio(), &counts(&[5.0; 9]), Region::within(4.0, 4.0)).unwrap();
        assert!(!other.holds && other.p_value.unwrap() < 0.005);
        // 140 ÷ 7 by logarithms is 20 except for the last digit.
        let twenty = evidence(&[140.0_f64.ln().exp() / 7.0_f64.ln().exp(); 9]);
        for region in [Region::above(20.0), Region::below(20.0), Region::within(20.0, 20.0)] {
            let leaning = lean(&ratio(), &twenty, region).unwrap();
            assert!(leaning.holds && leaning.p_value.unwrap() < 0.005, "{region:?} {leaning:?}");
        }
    }

    #[test]
    fn a_computed_number_is_certain() {
        let located = centre(&[4.0, 4.0]).unwrap();
        let computed = Evidence::Blocks { located, scale: Scale::Linear, computed: true };
        let leaning = lean(&ratio(), &computed, Region::above(3.0)).unwrap();
        assert_eq!((leaning.p_value, leaning.verdict(false)), (None, Verdict::Supported));
    }

    proptest! {
        #[test]
        fn what_is_decided_the_interval_shows(
            logs in prop::collection::vec(-0.5..0.5_f64, 2..40),
            low in 0.5..1.5_f64,
            width in 0.01..1.0_f64,
        ) {
            let located = centre(&logs).unwrap();
            let evidence = Evidence::Blocks { located, scale: Scale::Log, computed: false };
            let estimate = evidence.estimate().unwrap();
            let (high, region) = (low + width, Region::within(low, low + width));
            let leaning = lean(&ratio(), &evidence, region).unwrap();
            let p_value = leaning.p_value.unwrap();
            prop_assert!(p_value >= 0.999 * 2f64.powi(1 - logs.len() as i32));
            let inside = estimate.low >= low && estimate.high <= high;
            let outside = estimate.low > high || estimate.high < low;
            if p_value <= 0.05 {
                let shown = if leaning.holds { inside } else { outside };
                prop_assert!(shown);
            }
        }
    }
}
