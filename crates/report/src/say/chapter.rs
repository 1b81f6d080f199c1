//! An experiment with all that is shown of it.

use super::missing::{self, Measured, Missing};
use super::{evidence, scale, why};
use crate::chart::{self, Figure};
use crate::doc::Block;
use crate::{Session, words};
use model::{
    AccountResult, Design, ExperimentSummary, Profile, QuantityResult, Record, Scaling, Treatment,
    Why,
};

/// An experiment with its trials and, where they are asked for, its figures.
pub(crate) struct Chapter<'a> {
    pub(crate) summary: &'a ExperimentSummary,
    /// Absent where the manifest lost it: the numbers are shown all the same.
    pub(crate) design: Option<&'a Design>,
    pub(crate) records: Vec<&'a Record>,
    /// Those that tell what became of each treatment: [`missing::witnesses`].
    pub(crate) witnesses: Vec<&'a Record>,
    pub(crate) figures: Vec<Figure<'a>>,
    pub(crate) profile: Profile,
    /// What is said once of all claims: [`evidence::raises_most`].
    pub(crate) raises_most: Option<&'a str>,
    /// What was asked of a user's program.
    pub(crate) inquiry: Option<Inquired>,
}

/// What is said of a user's program in other words than a finding's.
pub(crate) enum Inquired {
    Limits(Box<Why>),
    Scales(Box<Scaling>),
}

impl Inquired {
    fn of(session: &Session<'_>, design: Option<&Design>) -> Option<Inquired> {
        let squeezed = design?.subject.as_ref()?.squeeze.is_some();
        let scruple = &session.summary.scruple;
        if squeezed {
            return Some(Inquired::Limits(Box::new(why::why(session)?)));
        }
        let scaling = scale::scaling(session.manifest, session.records, scruple)?;
        Some(Inquired::Scales(Box::new(scaling)))
    }

    /// Returns the answer in a sentence.
    pub(crate) fn answer(&self) -> Option<String> {
        match self {
            Inquired::Limits(why) => Some(why.answer.clone()),
            Inquired::Scales(scaling) => scaling.answer.first().cloned(),
        }
    }

    /// Returns the answer with what it rests on.
    pub(crate) fn blocks(&self) -> Vec<Block<'_>> {
        match self {
            Inquired::Limits(why) => why::blocks(why),
            Inquired::Scales(scaling) => scale::blocks(scaling),
        }
    }
}

impl<'a> Chapter<'a> {
    /// Returns an experiment of a session, without figures.
    pub(crate) fn of(session: &Session<'a>, summary: &'a ExperimentSummary) -> Chapter<'a> {
        let records = session.records_of(&summary.id);
        let design = session.design(&summary.id);
        Chapter {
            raises_most: evidence::raises_most(session),
            summary,
            inquiry: Inquired::of(session, design),
            design,
            witnesses: missing::witnesses(&records),
            records,
            figures: Vec::new(),
            profile: session.manifest.options.profile,
        }
    }

    /// Draws its figures.
    pub(crate) fn draw(&mut self, session: &Session<'_>) {
        if let Some(design) = self.design {
            let environment = &session.manifest.environment;
            self.figures =
                chart::figures(design, self.summary, &self.records, self.profile, environment);
        }
    }

    /// Returns what tells why its numbers are missing.
    pub(crate) fn measured(&self) -> Option<Measured<'_>> {
        let design = self.design?;
        Some(Measured { design, records: &self.witnesses, profile: self.profile })
    }

    /// Returns why a quantity has no number.
    pub(crate) fn missing(&self, result: &QuantityResult) -> Missing {
        missing::of_quantity(self.measured(), &result.quantity, &result.remark)
    }

    /// Returns why an account has no number.
    pub(crate) fn missing_account(&self, account: &AccountResult) -> Missing {
        missing::of_account(self.measured(), &account.id, &account.remark)
    }

    /// Returns the factors that tell its treatments apart.
    pub(crate) fn varying(&self) -> Vec<String> {
        self.design.map(|design| words::varying(design, &self.witnesses)).unwrap_or_default()
    }

    /// Returns a treatment as a row's name.
    pub(crate) fn name(&self, treatment: &Treatment, varying: &[String]) -> String {
        match self.design {
            Some(design) => words::treatment(design, treatment, varying),
            None => words::short(&treatment.to_string(), words::LABEL_CHARACTERS_MAX),
        }
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
    session.experiments().map(|summary| Chapter::of(session, summary)).collect()
}
