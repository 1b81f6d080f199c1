//! An experiment with all that is shown of it.

use super::missing::{self, Measured, Missing};
use super::{scale, why};
use crate::chart::{self, Figure};
use crate::doc::Block;
use crate::{Session, words};
use model::{
    Design, ExperimentSummary, Profile, Quantity, QuantityResult, Record, Scaling, Treatment, Why,
};
use std::collections::BTreeMap;

/// An experiment with its trials and, where they are asked for, its figures.
pub(crate) struct Chapter<'a> {
    pub(crate) summary: &'a ExperimentSummary,
    pub(crate) design: &'a Design,
    pub(crate) records: Vec<&'a Record>,
    /// One of each treatment that tells what became of it: [`missing::witnesses`].
    pub(crate) witnesses: Vec<&'a Record>,
    /// The factors that tell its treatments apart.
    pub(crate) varying: Vec<String>,
    pub(crate) figures: Vec<Figure<'a>>,
    pub(crate) profile: Profile,
    /// What is said once of all claims: [`raises_most`].
    pub(crate) raises_most: Option<&'a str>,
    /// What limits a user's program, if that was asked.
    pub(crate) why: Option<Why>,
    /// How a user's program scales, if that was asked.
    pub(crate) scaling: Option<Scaling>,
}

impl<'a> Chapter<'a> {
    /// Returns an experiment of a session, without figures; `None` where the manifest does not declare it.
    fn of(session: &Session<'a>, summary: &'a ExperimentSummary) -> Option<Chapter<'a>> {
        let design = session.manifest.designs.iter().find(|design| design.id == summary.id)?;
        let own = session.records.iter().filter(|record| record.experiment == summary.id);
        let records: Vec<&Record> = own.collect();
        let witnesses = missing::witnesses(&records);
        let subject = design.subject.as_ref();
        let squeezed = subject.is_some_and(|subject| subject.squeeze.is_some());
        Some(Chapter {
            raises_most: raises_most(session),
            summary,
            why: if squeezed { why::why(session) } else { None },
            scaling: subject.filter(|_| !squeezed).and_then(|_| {
                scale::scaling(session.manifest, session.records, &session.summary.scruple)
            }),
            design,
            varying: words::varying(design, &witnesses),
            witnesses,
            records,
            figures: Vec::new(),
            profile: session.manifest.options.profile,
        })
    }

    /// Draws its figures.
    pub(crate) fn draw(&mut self, session: &Session<'_>) {
        let (design, environment) = (self.design, &session.manifest.environment);
        self.figures =
            chart::figures(design, self.summary, &self.records, self.profile, environment);
    }

    /// Returns what is said of a user's program in other words than a finding's: the answer in a sentence.
    pub(crate) fn own_answer(&self) -> Option<&str> {
        let scaling = || self.scaling.as_ref()?.answer.first();
        self.why.as_ref().map(|why| &why.answer).or_else(scaling).map(String::as_str)
    }

    /// Reports whether it compares programs of the user's, of which neither scaling nor limits were asked.
    pub(crate) fn is_study(&self) -> bool {
        self.design.subject.is_some() && self.own_answer().is_none()
    }

    /// Returns that answer with what it rests on; nothing where a finding has the answer.
    pub(crate) fn own_blocks(&self) -> Vec<Block<'_>> {
        let scaling = self.scaling.iter().flat_map(scale::blocks);
        self.why.iter().flat_map(why::blocks).chain(scaling).collect()
    }

    /// Returns what tells why its numbers are missing.
    pub(crate) fn measured(&self) -> Measured<'_> {
        Measured { design: self.design, records: &self.witnesses, profile: self.profile }
    }

    /// Returns why a quantity has no number.
    pub(crate) fn missing(&self, result: &QuantityResult) -> Missing {
        self.measured().of_quantity(&result.quantity, &result.remark)
    }

    /// Returns what findings and claims ask for.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &'a Quantity> + use<'a> {
        let findings = self.design.findings.iter().map(|finding| &finding.quantity);
        findings.chain(self.design.claims.iter().map(|claim| &claim.quantity))
    }

    /// Returns a treatment as a row's name.
    pub(crate) fn name(&self, treatment: &Treatment) -> String {
        words::treatment(self.design, treatment, &self.varying)
    }
}

/// Returns the experiments of a session with their figures, each with as many dots as a page bears.
pub(crate) fn chapters<'a>(session: &Session<'a>) -> Vec<Chapter<'a>> {
    let mut chapters = chapters_without_figures(session);
    for chapter in &mut chapters {
        chapter.draw(session);
    }
    let figures = chapters.iter().flat_map(|chapter| &chapter.figures);
    let most = chart::dots_per_cell(figures.map(|figure| figure.cells().len()).sum());
    for figure in chapters.iter_mut().flat_map(|chapter| &mut chapter.figures) {
        figure.thin(most);
    }
    chapters
}

/// Returns the experiments of a session.
pub(crate) fn chapters_without_figures<'a>(session: &Session<'a>) -> Vec<Chapter<'a>> {
    session.summary.experiments.iter().filter_map(|summary| Chapter::of(session, summary)).collect()
}

/// The number of claims that must lack the same for it to be said once for all of them.
const COMMON_MIN: usize = 3;

/// What would raise the grade of most claims of a session, where several lack the same: it is said
/// once, and beside each claim only what is another.
pub(crate) fn raises_most<'a>(session: &Session<'a>) -> Option<&'a str> {
    let mut claims: BTreeMap<&str, usize> = BTreeMap::new();
    for claim in session.summary.experiments.iter().flat_map(|experiment| &experiment.claims) {
        if !claim.raise.is_empty() && claim.result.estimate.is_some() {
            *claims.entry(&claim.raise).or_default() += 1;
        }
    }
    let (raise, n) = claims.into_iter().max_by_key(|(_, n)| *n)?;
    (n >= COMMON_MIN).then(|| raise.trim_end_matches('.'))
}
