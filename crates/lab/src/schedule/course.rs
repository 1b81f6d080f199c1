//! How far one experiment of a session is, and what its trials take.

use super::{BLOCKS_MAX, EXACT_BLOCKS};
use analysis::scaling::{WORKERS, coarse, is_on_one_cpu};
use analysis::{Need, Rank};
use model::{Design, Inquiry, Options, Record, Treatment};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What passes between two trials, on average of a default session: the record is written, the folder of the next one
/// made, and the machine looked at.
const BETWEEN_NS: u64 = 4_000_000;

/// The state of one experiment in this session.
#[derive(Debug)]
pub(crate) struct Course {
    pub(crate) design: Design,
    pub(crate) treatments: Vec<Treatment>,
    /// Those that every block of the base measures.
    pub(crate) base: Vec<Treatment>,
    /// What its intervals still need, if that is known since its last trial.
    pub(crate) need: Option<Need>,
    /// What it asks, each question with the places of its treatments.
    pub(super) questions: Vec<(Rank, Vec<usize>)>,
    /// The blocks of its base, were every trial to complete.
    pub(super) blocks: u32,
    /// By how many blocks one with a failed trial is replaced.
    replaced_by: u32,
    compared: Vec<Vec<Treatment>>,
    pub(super) done: BTreeMap<u32, BTreeSet<Treatment>>,
    /// Whether treatments may give way where the time does not suffice for all.
    pub(super) gives_way: bool,
    /// Whether each treatment is one of the base.
    in_base: Vec<bool>,
    /// The place of each treatment.
    places: BTreeMap<Treatment, usize>,
    /// What became of each treatment, in their order.
    seen: Vec<Seen>,
    /// Blocks in which a trial failed, each with the place of one that did.
    failed: BTreeMap<u32, usize>,
    total_ns: u64,
    /// What a trial took on average on the machine of the recorded sessions; 0 where none was recorded.
    typical_ns: u64,
    /// The longest of its trials that completed.
    longest_ns: u64,
    pub(super) trials: u64,
}

/// What became of a treatment.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    blocks: u32,
    trials: u64,
    total_ns: u64,
    has_completed: bool,
    was_refused: bool,
}

impl Course {
    pub(crate) fn new(design: Design, options: &Options) -> Self {
        let treatments = design.treatments(options.profile);
        let base = base(&treatments, options);
        let compared = analysis::compared(&design, &treatments);
        let places: BTreeMap<Treatment, usize> = treatments.iter().cloned().zip(0..).collect();
        let typical_ns = treatments.iter().map(|it| experiments::typical_trial_ns(&design.id, it));
        let typical_ns: u64 = typical_ns.sum();
        let questions = analysis::questions(&design, &treatments);
        let questions = questions.iter().map(|question| {
            (
                question.rank,
                question.treatments.iter().filter_map(|it| places.get(it).copied()).collect(),
            )
        });
        Course {
            need: None,
            questions: questions.collect(),
            gives_way: !matches!(options.inquiry, Some(Inquiry::Scale | Inquiry::Why)),
            in_base: treatments.iter().map(|it| base.contains(it)).collect(),
            places,
            blocks: base_blocks_of(&design, options),
            replaced_by: replaced_by(options),
            compared,
            done: BTreeMap::new(),
            seen: vec![Seen::default(); treatments.len()],
            failed: BTreeMap::new(),
            total_ns: 0,
            typical_ns: typical_ns.checked_div(treatments.len() as u64).unwrap_or_default(),
            longest_ns: 0,
            trials: 0,
            design,
            treatments,
            base,
        }
    }

    /// Takes note of a trial that has its record.
    pub(crate) fn note(&mut self, record: &Record) {
        let is_new = self.done.entry(record.block).or_default().insert(record.treatment.clone());
        self.total_ns = self.total_ns.saturating_add(record.total_ns);
        self.trials += 1;
        // A stranger's session may hold a treatment that its design does not have.
        let Some(&place) = self.places.get(&record.treatment) else { return };
        let seen = &mut self.seen[place];
        seen.blocks += u32::from(is_new);
        seen.trials += 1;
        seen.total_ns = seen.total_ns.saturating_add(record.total_ns);
        match record.outcome {
            model::Outcome::Completed { .. } => {
                seen.has_completed = true;
                self.longest_ns = self.longest_ns.max(record.total_ns);
            }
            model::Outcome::Unsupported { .. } => seen.was_refused = true,
            _ => {
                self.failed.entry(record.block).or_insert(place);
            }
        }
    }

    /// Returns how many blocks its base has: those that were planned, and [`replaced_by`] for each in which a trial
    /// failed of a treatment that completes elsewhere, for as many failed ones as were planned at most.
    pub(crate) fn base_blocks(&self) -> u32 {
        let is_spoilt = |place: &&usize| self.seen[**place].has_completed;
        let spoilt = self.failed.values().filter(is_spoilt).count() as u32;
        let more = spoilt.min(self.blocks).saturating_mul(self.replaced_by);
        self.blocks.saturating_add(more).min(BLOCKS_MAX)
    }

    /// Returns the first block that has no trial yet.
    pub(crate) fn next_block(&self) -> u32 {
        self.done.last_key_value().map_or(0, |(block, _)| block.saturating_add(1))
    }

    /// Returns what decides whose block beyond the base is next, the least first: what half of the next block and all
    /// beyond the base take, with `trials` trials a block. Past half as many blocks again as the base has, none of them is before another.
    pub(super) fn turn(&self, trials: usize) -> u64 {
        let (blocks, base) = (self.next_block(), self.base_blocks());
        if blocks >= base.saturating_add(base / 2) {
            return u64::MAX;
        }
        let halves = u64::from(blocks.saturating_sub(base)) * 2 + 1;
        self.cost_ns(trials).saturating_mul(halves)
    }

    /// Returns the treatments of a block that are still to be conducted, with their places in the
    /// block's order. What this machine refuses is tried in one block, not again in each; what it
    /// has done once it can do, and something else was in the way.
    pub(crate) fn missing(
        &self,
        seed: u64,
        block: u32,
        among: &[Treatment],
    ) -> Vec<(u32, Treatment)> {
        let lacking: BTreeSet<&Treatment> = self.lacking(block, among).collect();
        let id = &self.design.id;
        let order = runner::order(seed, id, block, &self.treatments, &self.compared);
        (0..).zip(order).filter(|(_, treatment)| lacking.contains(treatment)).collect()
    }

    /// Returns how many trials its base still lacks, and what they are likely to take in ns.
    pub(crate) fn rest_of_base(&self) -> (usize, u64) {
        let places = self.base.iter().filter_map(|treatment| self.places.get(treatment));
        places.fold((0, 0), |(trials, cost_ns), &place| {
            let lacking = self.lacking_of_base(place);
            (trials + lacking as usize, self.cost_of(place, lacking).saturating_add(cost_ns))
        })
    }

    /// Returns how many trials of a treatment the base still lacks.
    fn lacking_of_base(&self, place: usize) -> u32 {
        match self.in_base[place] && self.is_possible(place) {
            true => self.base_blocks().saturating_sub(self.seen[place].blocks),
            false => 0,
        }
    }

    /// Returns what the base's missing trials of a treatment are likely to take, in ns, if it has `less` blocks
    /// less.
    pub(super) fn rest_of(&self, place: usize, less: u32) -> u64 {
        let less = self.base_blocks() - self.fewer_blocks(less);
        self.cost_of(place, self.lacking_of_base(place).saturating_sub(less))
    }

    /// Returns how many blocks its base has if that of the session has `less` blocks less; one block stays.
    pub(super) fn fewer_blocks(&self, less: u32) -> u32 {
        let blocks = self.base_blocks();
        if less < blocks { blocks - less } else { blocks.min(1) }
    }

    /// Returns how many blocks of the base are complete, from the first on, in what claims and main answers need or in all.
    pub(super) fn complete_blocks(&self, all: bool) -> u32 {
        let counts = |it: &Treatment| all || self.asks_main(self.places.get(it).copied());
        let is_complete = |block: &u32| !self.lacking(*block, &self.base).any(counts);
        (0..self.base_blocks()).take_while(is_complete).count() as u32
    }

    /// Returns the least rank of its questions: what is computed takes one block, and is certain then.
    pub(super) fn least_rank(&self) -> Rank {
        if self.design.is_exact() { Rank::Claim } else { Rank::Other }
    }

    /// Reports whether a claim or a main answer needs this treatment, or any, or it is computed.
    pub(super) fn asks_main(&self, place: Option<usize>) -> bool {
        let main = self.questions.iter().filter(|(rank, _)| *rank < Rank::Other);
        let mut places = main.flat_map(|(_, places)| places);
        self.design.is_exact() || places.any(|at| place.is_none_or(|place| place == *at))
    }

    /// Reports whether this machine refuses a treatment of some.
    pub(super) fn is_refused(&self, places: &[usize]) -> bool {
        places.iter().any(|place| !self.is_possible(*place))
    }

    /// Returns how many claims of the design need treatments that are all there and not refused.
    pub(super) fn measured_claims(&self) -> usize {
        let claims = self.questions.iter().filter(|(rank, _)| *rank == Rank::Claim);
        claims.filter(|(_, places)| !places.is_empty() && !self.is_refused(places)).count()
    }

    fn cost_of(&self, place: usize, trials: u32) -> u64 {
        let Seen { trials: known, total_ns, .. } = self.seen[place];
        let each_ns = total_ns.checked_div(known).unwrap_or_else(|| self.cost_ns(1));
        let between_ns = if self.trials == 0 { 0 } else { BETWEEN_NS };
        each_ns.saturating_add(between_ns).saturating_mul(u64::from(trials))
    }

    /// Reports whether a treatment is among those taken, which are marked by their places.
    pub(super) fn is_taken(&self, treatment: &Treatment, taken: &[bool]) -> bool {
        self.places.get(treatment).is_some_and(|place| taken[*place])
    }

    fn is_possible(&self, place: usize) -> bool {
        self.seen[place].has_completed || !self.seen[place].was_refused
    }

    /// Returns those of some treatments that have no trial in a block, without those that this machine
    /// refuses.
    pub(super) fn lacking<'a>(
        &'a self,
        block: u32,
        among: &'a [Treatment],
    ) -> impl Iterator<Item = &'a Treatment> {
        let done = self.done.get(&block);
        among.iter().filter(move |treatment| {
            let place = self.places.get(*treatment);
            let is_done = done.is_some_and(|done| done.contains(*treatment));
            !is_done && place.is_none_or(|place| self.is_possible(*place))
        })
    }

    /// Returns how long a trial of a block that was begun in time may take when the time is up: twice as
    /// long as one took before. To end those that are a little late would leave out the slow ones.
    pub(crate) fn patience(&self) -> Duration {
        Duration::from_nanos(self.longest_ns.saturating_mul(2))
    }

    /// Returns what this number of trials is likely to take, from those that are over; 0 before the first. Recorded
    /// trials of another machine are no reason to begin nothing.
    pub(super) fn seen_cost_ns(&self, trials: usize) -> u64 {
        if self.trials == 0 { 0 } else { self.cost_ns(trials) }
    }

    /// Returns what this number of trials is likely to take, from those that are over, or from recorded ones.
    pub(crate) fn cost_ns(&self, trials: usize) -> u64 {
        let each_ns = self.total_ns.checked_div(self.trials).unwrap_or(self.typical_ns);
        each_ns.saturating_mul(trials as u64)
    }
}

/// Returns the treatments of the base: all, but where the question is how a program scales, a part of the
/// numbers of workers, and where it is what limits it, those that take nothing, unless a number of blocks was
/// asked for; the rest is measured where it narrows the answer.
fn base(treatments: &[Treatment], options: &Options) -> Vec<Treatment> {
    match options.inquiry {
        Some(Inquiry::Scale) => {}
        Some(Inquiry::Why) if options.blocks.is_none() => {
            return treatments.iter().filter(|it| analysis::why::is_plain(it)).cloned().collect();
        }
        _ => return treatments.to_vec(),
    }
    let of = |treatment: &Treatment| treatment.level(WORKERS)?.parse::<u64>().ok();
    let mut levels: Vec<u64> = treatments.iter().filter_map(of).collect();
    levels.sort_unstable();
    levels.dedup();
    let coarse = coarse(&levels, options.cpus.len() as u64);
    let is_coarse = |treatment: &&Treatment| {
        !is_on_one_cpu(treatment) && of(treatment).is_none_or(|n| coarse.contains(&n))
    };
    treatments.iter().filter(is_coarse).cloned().collect()
}

/// Returns by how many blocks one with a failed trial is replaced: none where a number of blocks was asked for. A
/// trial that one side of a study's claim lost counts against a verdict, and of 36 blocks seven may.
fn replaced_by(options: &Options) -> u32 {
    match (options.blocks, options.inquiry) {
        (Some(_), _) => 0,
        (None, Some(Inquiry::Study)) => 3,
        (None, _) => 1,
    }
}

/// Returns how many complete blocks this experiment gets first. A number of blocks that was
/// asked for is kept.
fn base_blocks_of(design: &Design, options: &Options) -> u32 {
    let first = options.first_blocks.unwrap_or_else(|| options.profile.blocks_min());
    let blocks = match options.blocks {
        None if design.is_exact() => EXACT_BLOCKS,
        None if options.inquiry == Some(Inquiry::Why) => analysis::why::PLAIN_BLOCKS,
        // A manifest that somebody else wrote may ask for more than the command line would take.
        blocks => blocks.unwrap_or(first),
    };
    blocks.min(BLOCKS_MAX)
}
