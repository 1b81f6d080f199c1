//! The rate up to which a server's response time keeps a limit: where to measure next, and what the
//! trials say.
//!
//! First the rate is doubled until it breaks, and the step bisected: that says where to look. Then
//! rates around that place are measured in blocks, each in random order. Each block gives one
//! capacity, the blocks an interval: what changes from one block to the next is in it, as it would
//! not be in a search that ends where one trial happened to break.

use crate::stats::estimate::median_estimate;
use crate::stats::order::median;
use model::{Knee, KneeBreak, KneeEnd, KneeRate, KneeRules, KneeTrial, LoadPlan};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

#[cfg(test)]
mod tests;

/// How much the rate rises while it holds.
const RISE: f64 = 2.0;

/// How much it falls where the first rate broke, or is too near the knee to be called low.
const FALL: f64 = 4.0;

/// The lowest rate that is tried, per second.
const RATE_LEAST: f64 = 0.1;

/// The highest: beyond what any server of today answers.
const RATE_MOST: f64 = 4e6;

/// The search is over when the rate that breaks is at most this multiple of the one that holds.
const NEAR: f64 = 1.2;

/// The knee must be this multiple of the lowest rate, for its response time to be that of a server with
/// nothing to do. Of a queue with one server (M/M/1) at an eighth, it is 14 % longer.
const LOWEST_PART: f64 = 8.0;

/// The distance of two rates of a block, and how many lie on either side of the middle.
const STEP: f64 = 1.12;
const ASIDE: i32 = 2;

/// Trials that a block may have, whatever it finds.
const BLOCK_TRIALS_MAX: usize = 16;

/// Trials in all.
const TRIALS_MAX: usize = 1_000;

/// Blocks with which an interval may end the search.
const BLOCKS_LEAST: usize = 5;

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KneeStep {
    /// Measure this rate.
    Try {
        /// In requests per second.
        per_s: f64,
        /// The block that the trial belongs to; 0 while the knee is searched for.
        block: u32,
    },
    /// Enough is measured.
    End(KneeEnd),
}

/// What a search is judged from.
#[derive(Clone, Debug)]
pub struct KneeInput<'a> {
    /// The version of scruple that judges.
    pub scruple: &'a str,
    /// The load of the first trial.
    pub plan: &'a LoadPlan,
    /// What was asked.
    pub rules: KneeRules,
    /// The trials in their order.
    pub trials: &'a [KneeTrial],
    /// Why no more were measured.
    pub end: KneeEnd,
    /// What makes the trials doubtful.
    pub doubts: Vec<String>,
}

/// Returns the next trial, from those that were measured. The same trials and rules give the same answer,
/// and every chain of answers ends.
pub fn knee_next(rules: &KneeRules, trials: &[KneeTrial]) -> KneeStep {
    if trials.len() >= TRIALS_MAX {
        return KneeStep::End(KneeEnd::Blocks);
    }
    match trials.last().map_or(0, |last| last.block) {
        0 => search(rules, trials),
        block => in_block(rules, trials, block),
    }
}

/// Returns what the trials say.
pub fn knee(input: KneeInput<'_>) -> Knee {
    let KneeInput { scruple, plan, rules, trials, end, doubts } = input;
    let judge = Judge::new(&rules, trials);
    let rates = judge.rates();
    let broke = rates.iter().find(|rate| !mostly_held(rate));
    let held = rates.iter().take_while(|rate| mostly_held(rate)).last();
    Knee {
        format: model::KNEE_FORMAT,
        scruple: scruple.into(),
        plan: plan.clone(),
        rules,
        limit_ns: judge.limit_ns,
        lowest_p95_ns: judge.lowest_p95_ns,
        capacity_per_s: median_estimate(&judge.capacities()),
        held_per_s: held.map(|rate| rate.per_s),
        broke_per_s: broke.map(|rate| rate.per_s),
        broke_by: broke.and_then(|rate| rate.broke),
        end,
        rates,
        trials: trials.to_vec(),
        doubts,
    }
}

fn mostly_held(rate: &KneeRate) -> bool {
    2 * rate.held > rate.trials
}

/// Trials with the limit that they are held against.
struct Judge<'a> {
    trials: &'a [KneeTrial],
    lowest_p95_ns: Option<f64>,
    limit_ns: Option<f64>,
}

impl<'a> Judge<'a> {
    fn new(rules: &KneeRules, trials: &'a [KneeTrial]) -> Self {
        let lowest = lowest(trials);
        let at = |trial: &&KneeTrial| Some(trial.per_s) == lowest;
        let lowest_p95_ns = middle(trials.iter().filter(at).map(|trial| trial.p95_ns));
        let own = lowest_p95_ns.map(|p95| p95 * KneeRules::TIMES_LOWEST);
        Judge { trials, lowest_p95_ns, limit_ns: rules.limit_ns.or(own) }
    }

    /// Returns what a trial broke by; `None` if it held.
    ///
    /// A request that was under way when the time was over is no failure unless it has taken longer
    /// than the limit by then. By Little's law that many are under way at most where the limit is
    /// kept: rate × limit.
    fn broke(&self, trial: &KneeTrial) -> Option<KneeBreak> {
        let limit = self.limit_ns.unwrap_or(0.0);
        let under_way = (trial.per_s * limit / 1e9).min(trial.open as f64);
        let counted = trial.due as f64 - under_way;
        let succeeded = trial.succeeded as f64;
        if succeeded < KneeRules::THROUGHPUT_LEAST * counted || trial.succeeded == 0 {
            return Some(KneeBreak::Throughput);
        }
        let kept = trial.p95_ns.is_some_and(|p95| p95 as f64 <= limit);
        (!kept).then_some(KneeBreak::ResponseTime)
    }

    fn rates(&self) -> Vec<KneeRate> {
        let mut rates: Vec<f64> = self.trials.iter().map(|trial| trial.per_s).collect();
        rates.sort_unstable_by(f64::total_cmp);
        rates.dedup();
        rates.into_iter().map(|per_s| self.rate(per_s)).collect()
    }

    fn rate(&self, per_s: f64) -> KneeRate {
        let own: Vec<&KneeTrial> = self.trials.iter().filter(|it| it.per_s == per_s).collect();
        let breaks: Vec<KneeBreak> = own.iter().filter_map(|trial| self.broke(trial)).collect();
        let by_time = breaks.iter().filter(|it| **it == KneeBreak::ResponseTime).count();
        let broke = match breaks.len() {
            0 => None,
            all if 2 * by_time >= all => Some(KneeBreak::ResponseTime),
            _ => Some(KneeBreak::Throughput),
        };
        let succeeded: u64 = own.iter().map(|trial| trial.succeeded).sum();
        let elapsed_ns: u64 = own.iter().map(|trial| trial.elapsed_ns).sum();
        KneeRate {
            per_s,
            trials: own.len() as u32,
            held: (own.len() - breaks.len()) as u32,
            p95_ns: middle(own.iter().map(|trial| trial.p95_ns)),
            throughput_per_s: succeeded as f64 * 1e9 / elapsed_ns.max(1) as f64,
            broke,
        }
    }

    /// Returns the capacity of each block that has one, in the order of the blocks.
    fn capacities(&self) -> Vec<f64> {
        let blocks = self.trials.iter().map(|trial| trial.block).max().unwrap_or(0);
        (1..=blocks).filter_map(|block| self.capacity(block)).collect()
    }

    /// Returns where a block's response time crosses the limit.
    ///
    /// The crossing lies between the two rates that divide those that held from those that broke with
    /// the fewest on the wrong side; where several places do that, it is the middle of theirs.
    fn capacity(&self, block: u32) -> Option<f64> {
        let mut own: Vec<&KneeTrial> = self.of_block(block).collect();
        own.sort_by(|a, b| a.per_s.total_cmp(&b.per_s));
        let held: Vec<bool> = own.iter().map(|trial| self.broke(trial).is_none()).collect();
        let wrong = |cut: usize| {
            let below = held[..cut].iter().filter(|held| !**held).count();
            below + held[cut..].iter().filter(|held| **held).count()
        };
        let fewest = (0..=own.len()).map(wrong).min()?;
        let cuts = (1..own.len()).filter(|cut| wrong(*cut) == fewest);
        let all: Vec<f64> = cuts.filter_map(|cut| self.crossing(own[cut - 1], own[cut])).collect();
        median(&all)
    }

    /// Returns where the limit is crossed between two trials. The reciprocal of the percentile is taken to
    /// fall in a straight line: for M/M/1 it is one, since p95 = ln 20 / (μ − λ).
    fn crossing(&self, below: &KneeTrial, above: &KneeTrial) -> Option<f64> {
        let speed = |trial: &KneeTrial| trial.p95_ns.map_or(0.0, |p95| 1.0 / (p95 as f64).max(1.0));
        let part = (speed(below) - 1.0 / self.limit_ns?) / (speed(below) - speed(above));
        // Where errors broke it and not time, the crossing of time says nothing.
        let part = if (0.0..=1.0).contains(&part) { part } else { 0.5 };
        Some(below.per_s + part * (above.per_s - below.per_s))
    }

    fn of_block(&self, block: u32) -> impl Iterator<Item = &'a KneeTrial> {
        self.trials.iter().filter(move |trial| trial.block == block)
    }

    /// Returns what a rate did in the search: whether it held, or `None` where that takes another trial. A
    /// rate that broke is tried again, since something else on the machine can break one trial; what
    /// can make one hold that should not is nothing.
    fn verdict(&self, per_s: f64) -> Option<bool> {
        let own = self.of_block(0).filter(|trial| trial.per_s == per_s);
        let (mut held, mut broke) = (0, 0);
        for trial in own {
            *(if self.broke(trial).is_none() { &mut held } else { &mut broke }) += 1;
        }
        match (held, broke) {
            (1.., 0) => Some(true),
            (held, broke) if held + broke >= 2 && held != broke => Some(held > broke),
            _ => None,
        }
    }
}

/// Returns the median of numbers of which an unknown one is larger than all others.
fn middle(numbers: impl Iterator<Item = Option<u64>>) -> Option<f64> {
    let numbers: Vec<f64> = numbers.map(|it| it.map_or(f64::INFINITY, |it| it as f64)).collect();
    median(&numbers).filter(|middle| middle.is_finite())
}

fn lowest(trials: &[KneeTrial]) -> Option<f64> {
    trials.iter().map(|trial| trial.per_s).reduce(f64::min)
}

/// Returns the search for the place: a bracket of a rate that holds and one that does not.
fn search(rules: &KneeRules, trials: &[KneeTrial]) -> KneeStep {
    let again = |per_s: f64| KneeStep::Try { per_s, block: 0 };
    let judge = Judge::new(rules, trials);
    let most = rules.most_per_s.unwrap_or(RATE_MOST).min(RATE_MOST);
    let Some(lowest) = lowest(trials) else { return again(rules.from_per_s.min(most)) };
    if trials.len() >= 2 && trials.iter().all(|trial| trial.succeeded == 0) {
        return KneeStep::End(KneeEnd::NoAnswer);
    }
    let mut rates = Vec::new();
    for rate in judge.rates() {
        match judge.verdict(rate.per_s) {
            None => return again(rate.per_s),
            Some(held) => rates.push((rate.per_s, held)),
        }
    }
    match bracket(&rates) {
        (None, _) if lowest / FALL < RATE_LEAST => KneeStep::End(KneeEnd::LowestBroke),
        (None, _) => again(lowest / FALL),
        (Some(held), None) if held >= most => KneeStep::End(KneeEnd::HighestHeld),
        (Some(held), None) => again((held * RISE).min(most)),
        (Some(held), Some(broke)) if broke / held > NEAR => again((held * broke).sqrt()),
        (Some(held), Some(_)) => {
            let near = rules.limit_ns.is_none() && lowest * LOWEST_PART > held;
            if near && lowest / FALL >= RATE_LEAST {
                again(lowest / FALL)
            } else {
                in_block(rules, trials, 1)
            }
        }
    }
}

/// Returns the highest of rising rates that held below the lowest that broke, and that one.
fn bracket(rates: &[(f64, bool)]) -> (Option<f64>, Option<f64>) {
    let below = rates.iter().take_while(|(_, held)| *held).count();
    let per_s = |rate: &(f64, bool)| rate.0;
    (rates[..below].last().map(per_s), rates.get(below).map(per_s))
}

/// Returns the next rate of a block, the first of the next block, or the end.
fn in_block(rules: &KneeRules, trials: &[KneeTrial], block: u32) -> KneeStep {
    let judge = Judge::new(rules, trials);
    let measured: Vec<&KneeTrial> = judge.of_block(block).collect();
    let missing = |per_s: &f64| !measured.iter().any(|trial| trial.per_s == *per_s);
    if let Some(per_s) = rates_of(rules, trials, block).into_iter().find(missing) {
        return KneeStep::Try { per_s, block };
    }
    if measured.len() < BLOCK_TRIALS_MAX
        && let Some(per_s) = beyond(rules, &judge, &measured)
    {
        return KneeStep::Try { per_s, block };
    }
    let capacities = judge.capacities();
    if block >= rules.blocks {
        return KneeStep::End(KneeEnd::Blocks);
    }
    let narrow = median_estimate(&capacities).is_some_and(|estimate| {
        (estimate.high - estimate.low) / 2.0 <= rules.precision * estimate.point
    });
    if narrow && capacities.len() >= BLOCKS_LEAST {
        return KneeStep::End(KneeEnd::Precise);
    }
    match rates_of(rules, trials, block + 1).first() {
        Some(per_s) => KneeStep::Try { per_s: *per_s, block: block + 1 },
        None => KneeStep::End(KneeEnd::LowestBroke),
    }
}

/// Returns the rates of a block in its own random order: those around the place that the trials before it
/// point to, and the lowest where the limit hangs on it.
fn rates_of(rules: &KneeRules, trials: &[KneeTrial], block: u32) -> Vec<f64> {
    let before = trials.iter().take_while(|trial| trial.block < block).count();
    let trials = &trials[..before];
    let judge = Judge::new(rules, trials);
    let rates: Vec<_> = judge.rates().iter().map(|it| (it.per_s, mostly_held(it))).collect();
    let (held, broke) = bracket(&rates);
    let found = held.zip(broke).map(|(held, broke)| (held * broke).sqrt());
    let Some(place) = median(&judge.capacities()).or(found) else { return Vec::new() };
    let most = rules.most_per_s.unwrap_or(RATE_MOST);
    let around = (-ASIDE..=ASIDE).map(|step| place * STEP.powi(step)).filter(|it| *it <= most);
    let mut rates: Vec<f64> = around.collect();
    rates.extend(lowest(trials).filter(|_| rules.limit_ns.is_none()));
    let seed = rules.seed ^ u64::from(block).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    rates.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    rates
}

/// Returns a rate beyond those of a block, where none of them broke, or none around the knee held.
fn beyond(rules: &KneeRules, judge: &Judge<'_>, measured: &[&KneeTrial]) -> Option<f64> {
    let lowest = lowest(judge.trials).filter(|_| rules.limit_ns.is_none());
    let around: Vec<&&KneeTrial> =
        measured.iter().filter(|trial| Some(trial.per_s) != lowest).collect();
    let rates = || around.iter().map(|trial| trial.per_s);
    if around.iter().all(|trial| judge.broke(trial).is_none()) {
        let most = rules.most_per_s.unwrap_or(RATE_MOST);
        return rates().reduce(f64::max).map(|it| it * STEP).filter(|it| *it <= most);
    }
    if around.iter().all(|trial| judge.broke(trial).is_some()) {
        let least = lowest.unwrap_or(RATE_LEAST);
        return rates().reduce(f64::min).map(|it| it / STEP).filter(|it| *it > least);
    }
    None
}
