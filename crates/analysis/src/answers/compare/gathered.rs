//! What all sessions say, side by side.

use super::asked::{Asked, AskedExperiment};
use super::column::Column;
use super::digest::{Digest, ExperimentDigest, TreatmentDigest};
use super::heads::SideHeads;
use crate::session::disturbance::Disturbed;
use crate::session::evidence::Evidence;
use model::{Cell, Design, Treatment, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What was kept of all sessions.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) sides: Vec<Side>,
    /// As they are asked for.
    pub(crate) experiments: Vec<Experiment>,
    /// The control, by side.
    pub(crate) control: Vec<Column>,
}

/// What was kept of a side beside its numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Side {
    pub(crate) sessions: usize,
    pub(crate) trials: u64,
    /// Sessions that are not complete.
    pub(crate) incomplete: usize,
    /// Sessions whose own A/A controls found a difference.
    pub(crate) distrusted: usize,
    /// Sessions without a control.
    pub(crate) unknown: usize,
    /// Experiments that have trials.
    pub(crate) measured: BTreeSet<String>,
}

/// One experiment on all sides.
#[derive(Debug)]
pub(crate) struct Experiment {
    pub(crate) sides: Vec<OfSide>,
    /// Each treatment by side.
    pub(crate) treatments: BTreeMap<Treatment, Vec<At>>,
}

/// One experiment on one side.
#[derive(Clone, Debug)]
pub(crate) struct OfSide {
    /// As the first session that has trials of it defines it, with what that says of treatments
    /// that lack a number.
    pub(crate) first: Option<(Arc<Design>, BTreeMap<Treatment, String>)>,
    /// One per finding that is asked for.
    pub(crate) findings: Vec<Finding>,
    /// The verdict of each claim: that of the sessions if they agree.
    pub(crate) verdicts: BTreeMap<String, Verdict>,
    pub(crate) failed_checks: BTreeSet<String>,
}

/// One finding on one side.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// The first CPU twin that carries it.
    pub(crate) carried_by: Option<String>,
    /// Whether one could in all sessions.
    pub(crate) may_be_carried: bool,
    /// For each response that can carry it, what the sessions say that say anything.
    pub(crate) by: Vec<Vec<Evidence>>,
}

/// One treatment on one side.
#[derive(Clone, Debug, Default)]
pub(crate) struct At {
    /// Whether it has a trial there.
    pub(crate) tried: bool,
    pub(crate) disturbed: Disturbed,
    /// One per response that is asked for, if it has a trial.
    pub(crate) columns: Vec<Column>,
}

impl Gathered {
    pub(crate) fn new(asked: &Asked, sides: usize) -> Self {
        let of_side = |experiment: &AskedExperiment| {
            let by = |carriers: usize| Finding {
                carried_by: None,
                may_be_carried: true,
                by: vec![Vec::new(); carriers],
            };
            let findings = experiment.findings.iter().map(|it| by(it.carriers.len()));
            OfSide {
                first: None,
                findings: findings.collect(),
                verdicts: BTreeMap::new(),
                failed_checks: BTreeSet::new(),
            }
        };
        let experiment = |asked: &AskedExperiment| Experiment {
            sides: vec![of_side(asked); sides],
            treatments: BTreeMap::new(),
        };
        Gathered {
            sides: vec![Side::default(); sides],
            experiments: asked.experiments.iter().map(experiment).collect(),
            control: vec![Column::default(); sides],
        }
    }

    /// Adds a session to a side; those of one side in their order.
    pub(crate) fn add(&mut self, asked: &Asked, heads: &[SideHeads], side: usize, digest: Digest) {
        let own = &mut self.sides[side];
        let head = &heads[side].heads[own.sessions];
        own.sessions += 1;
        own.trials += digest.trials;
        own.incomplete += usize::from(!digest.complete);
        own.distrusted += usize::from(digest.holds == Some(false));
        own.unknown += usize::from(digest.holds.is_none());
        own.measured.extend(digest.measured);
        if let Some(number) = digest.control {
            self.control[side].push(&number);
        }
        let experiments = self.experiments.iter_mut().zip(&asked.experiments);
        for ((into, asked), digest) in experiments.zip(digest.experiments) {
            if let (Some(design), Some(digest)) = (head.design(&asked.id), digest) {
                into.add(asked, side, design, digest);
            }
        }
        if self.sides.iter().all(|side| side.sessions >= 2) {
            let settling = self.experiments.iter_mut().zip(&asked.experiments);
            settling.filter(|(_, it)| it.same_levels).for_each(|(own, _)| own.settle());
        }
    }
}

impl Experiment {
    fn add(
        &mut self,
        asked: &AskedExperiment,
        side: usize,
        design: &Arc<Design>,
        digest: ExperimentDigest,
    ) {
        let sides = self.sides.len();
        let own = &mut self.sides[side];
        own.first.get_or_insert_with(|| {
            let why = |it: &TreatmentDigest| Some((it.treatment.clone(), it.why_not.clone()?));
            (Arc::clone(design), digest.treatments.iter().filter_map(why).collect())
        });
        for (into, finding) in own.findings.iter_mut().zip(digest.findings) {
            into.carried_by = into.carried_by.take().or(finding.carried_by);
            into.may_be_carried &= finding.may_be_carried;
            for (into, evidence) in into.by.iter_mut().zip(finding.by) {
                if evidence != Evidence::None {
                    into.push(evidence);
                }
            }
        }
        for (claim, verdict) in digest.verdicts {
            let agreed = own.verdicts.entry(claim).or_insert(verdict);
            if *agreed != verdict {
                *agreed = Verdict::Inconclusive;
            }
        }
        own.failed_checks.extend(digest.failed_checks);
        for it in digest.treatments {
            let all = self.treatments.entry(it.treatment);
            let into = &mut all.or_insert_with(|| vec![At::default(); sides])[side];
            into.tried = true;
            into.disturbed = into.disturbed.and(it.disturbed);
            into.columns.resize_with(asked.responses.len(), Column::default);
            for (column, number) in into.columns.iter_mut().zip(&it.numbers) {
                number.iter().for_each(|number| column.push(number));
            }
        }
    }

    /// Drops what no effect can need any more, however many sessions follow.
    fn settle(&mut self) {
        for sides in self.treatments.values_mut() {
            let Some((base, others)) = sides.split_first_mut() else { continue };
            for (at, column) in base.columns.iter_mut().enumerate() {
                for other in others.iter_mut().filter_map(|it| it.columns.get_mut(at)) {
                    other.settle(&[column]);
                }
                let others: Option<Vec<&Column>> =
                    others.iter().map(|it| it.columns.get(at)).collect();
                if let Some(others) = others {
                    column.settle(&others);
                }
            }
        }
    }

    /// Returns the treatments that have a trial on a side.
    pub(crate) fn treatments(&self, side: usize) -> BTreeSet<&Treatment> {
        let tried = |it: &(&Treatment, &Vec<At>)| it.1[side].tried;
        self.treatments.iter().filter(tried).map(|(treatment, _)| treatment).collect()
    }

    /// Returns a number at a treatment on a side: the response by its place among those asked for.
    pub(crate) fn column(&self, side: usize, response: usize, at: &Treatment) -> Option<&Column> {
        self.treatments.get(at)?[side].columns.get(response)
    }

    /// Returns the same at the treatment that a cell means on that side.
    pub(crate) fn level(&self, side: usize, response: usize, at: &Cell) -> Option<&Column> {
        let (design, _) = self.sides[side].first.as_ref()?;
        self.column(side, response, &design.complete(at))
    }

    /// Returns why a side has no number at a treatment that has a trial there, as the end of a sentence.
    pub(crate) fn why_not(&self, side: usize, at: &Treatment) -> String {
        let Some((_, why)) = &self.sides[side].first else {
            return String::new();
        };
        why.get(at).cloned().unwrap_or_else(|| crate::session::effect::NOT_REACHED.into())
    }
}

impl Finding {
    /// Returns what the sessions say of it, formed from one of the responses that can carry it.
    pub(crate) fn evidence(&self, carrier: usize) -> &[Evidence] {
        self.by.get(carrier).map_or(&[], Vec::as_slice)
    }
}
