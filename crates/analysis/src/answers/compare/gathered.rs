//! What all sessions say, side by side. What one session says has the same shape: a side grows by
//! adding the digests of its sessions.

use super::asked::Questions;
use super::column::Column;
use crate::session::disturbance::Disturbed;
use model::{Cell, Design, Treatment, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the sessions answer.
#[derive(Debug)]
pub struct Answers {
    pub(crate) questions: Arc<Questions>,
    pub(crate) sides: Vec<Side>,
    /// As they are asked for.
    pub(crate) experiments: Vec<Experiment>,
    /// The control, by side.
    pub(crate) control: Vec<Column>,
}

/// What a comparison keeps of the trials of one session: numbers, and hardly more than the table of
/// its estimates has.
#[derive(Debug)]
pub struct Digest {
    /// A side of this session alone.
    pub(crate) side: Side,
    /// In the order in which they are asked for; empty where there is no trial of it.
    pub(crate) experiments: Vec<(OfSide, Treatments)>,
    pub(crate) control: Column,
}

impl Digest {
    /// Returns trials with a record.
    pub fn trials(&self) -> u64 {
        self.side.trials
    }

    /// Drops all but the findings' values: what the spread over many sessions needs, and in which no
    /// two of them are compared.
    #[must_use]
    pub fn values_of_findings(mut self) -> Self {
        for (own, treatments) in &mut self.experiments {
            treatments.clear();
            own.verdicts.clear();
            own.failed_checks.clear();
            own.first.iter_mut().for_each(|(_, why_not)| why_not.clear());
            own.findings.iter_mut().flat_map(|it| &mut it.by).for_each(Column::keep_shown);
        }
        self.control = Column::default();
        self
    }

    /// Reports whether every planned trial has a record.
    pub fn is_complete(&self) -> bool {
        self.side.incomplete == 0
    }

    /// Reports whether its own A/A controls found a difference where there is none.
    pub fn is_distrusted(&self) -> bool {
        self.side.distrusted > 0
    }
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
#[derive(Clone, Debug, Default)]
pub(crate) struct OfSide {
    /// As the first session that has trials of it defines it, with what that says of treatments
    /// that lack a number, as the end of a sentence.
    pub(crate) first: Option<(Arc<Design>, BTreeMap<Treatment, String>)>,
    /// One per finding that is asked for; none without a trial.
    pub(crate) findings: Vec<Finding>,
    /// The verdict of each claim: that of the sessions if they agree.
    pub(crate) verdicts: BTreeMap<String, Verdict>,
    pub(crate) failed_checks: BTreeSet<String>,
}

/// One finding on one side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finding {
    /// The first CPU twin that carries it.
    pub(crate) carried_by: Option<String>,
    /// Whether none can in some session.
    pub(crate) by_elapsed_time: bool,
    /// The finding by each response that can carry it.
    pub(crate) by: Vec<Column>,
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

/// What one session says at its treatments.
pub(crate) type Treatments = Vec<(Treatment, At)>;

impl Answers {
    /// Begins with none.
    pub fn new(questions: &Arc<Questions>) -> Self {
        let sides = questions.sides.len();
        let experiment =
            || Experiment { sides: vec![OfSide::default(); sides], treatments: BTreeMap::new() };
        Answers {
            questions: Arc::clone(questions),
            sides: vec![Side::default(); sides],
            experiments: questions.experiments.iter().map(|_| experiment()).collect(),
            control: vec![Column::default(); sides],
        }
    }

    /// Returns what was asked.
    pub fn questions(&self) -> &Questions {
        &self.questions
    }

    /// Adds the next session of a side, in the order of its sessions.
    pub fn add(&mut self, side: usize, digest: Digest) {
        self.sides[side].add(digest.side);
        self.control[side].add(digest.control);
        for (into, (own, treatments)) in self.experiments.iter_mut().zip(digest.experiments) {
            into.sides[side].add(own);
            into.add(side, treatments);
        }
        if self.sides.iter().all(|side| side.sessions >= 2) {
            let settling = self.experiments.iter_mut().zip(&self.questions.experiments);
            settling.filter(|(_, it)| it.same_levels).for_each(|(own, _)| own.settle());
        }
    }
}

impl Side {
    fn add(&mut self, later: Side) {
        self.sessions += later.sessions;
        self.trials += later.trials;
        self.incomplete += later.incomplete;
        self.distrusted += later.distrusted;
        self.unknown += later.unknown;
        self.measured.extend(later.measured);
    }
}

impl OfSide {
    fn add(&mut self, later: OfSide) {
        self.first = self.first.take().or(later.first);
        add_each(&mut self.findings, later.findings, |into, later| {
            into.carried_by = into.carried_by.take().or(later.carried_by);
            into.by_elapsed_time |= later.by_elapsed_time;
            add_each(&mut into.by, later.by, Column::add);
        });
        for (claim, verdict) in later.verdicts {
            let agreed = self.verdicts.entry(claim).or_insert(verdict);
            if *agreed != verdict {
                *agreed = Verdict::Inconclusive;
            }
        }
        self.failed_checks.extend(later.failed_checks);
    }
}

/// Adds to each of a list what stands in its place in another.
fn add_each<T: Default>(into: &mut Vec<T>, later: Vec<T>, add: impl Fn(&mut T, T)) {
    into.resize_with(later.len().max(into.len()), T::default);
    into.iter_mut().zip(later).for_each(|(into, later)| add(into, later));
}

impl Experiment {
    fn add(&mut self, side: usize, treatments: Treatments) {
        let sides = self.sides.len();
        for (treatment, later) in treatments {
            let all = self.treatments.entry(treatment);
            let into = &mut all.or_insert_with(|| vec![At::default(); sides])[side];
            into.tried |= later.tried;
            into.disturbed = into.disturbed.and(later.disturbed);
            add_each(&mut into.columns, later.columns, Column::add);
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
                let others: Vec<&Column> =
                    others.iter().map(|it| Column::at(&it.columns, at)).collect();
                column.settle(&others);
            }
        }
    }

    /// Returns a number on a side at the treatment that a cell means there: the response by its place
    /// among those asked for.
    pub(crate) fn level(&self, side: usize, response: usize, at: &Cell) -> &Column {
        let treatment = self.sides[side].first.as_ref().map(|(design, _)| design.complete(at));
        let sides = treatment.and_then(|it| self.treatments.get(&it));
        Column::at(sides.map_or(&[], |sides| &sides[side].columns), response)
    }

    /// Returns why a side has no number at a treatment that has a trial there, as the end of a sentence.
    pub(crate) fn why_not(&self, side: usize, at: &Treatment) -> &str {
        let first = self.sides[side].first.as_ref();
        first.map_or("", |(_, why)| {
            why.get(at).map_or(crate::session::effect::NOT_REACHED, String::as_str)
        })
    }
}
