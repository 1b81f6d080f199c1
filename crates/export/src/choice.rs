//! Which part of a session is exported.

use crate::{Error, Result, Session};
use model::{Design, Response};
use std::collections::BTreeSet;

/// Which part of a session is exported; by default, all of it.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The experiments, by name; none means all.
    pub experiments: Vec<String>,
    /// The responses, by name, of whichever experiment has one; none means all.
    pub responses: Vec<String>,
}

/// An experiment with those of its responses that were chosen.
pub(crate) struct Chosen<'a> {
    pub(crate) design: &'a Design,
    pub(crate) responses: Vec<&'a Response>,
}

impl Choice {
    /// The chosen experiments in the order of the manifest; those without a chosen response are
    /// none.
    pub(crate) fn of<'a>(&self, session: &Session<'a>) -> Result<Vec<Chosen<'a>>> {
        let designs = &session.manifest.designs;
        known("experiment", &self.experiments, designs.iter().map(|design| design.id.as_str()))?;
        let chosen =
            |names: &[String], name: &str| names.is_empty() || names.iter().any(|n| n == name);
        let designs: Vec<&Design> =
            designs.iter().filter(|design| chosen(&self.experiments, &design.id)).collect();
        let responses = designs.iter().flat_map(|design| &design.responses);
        known("response", &self.responses, responses.map(|response| response.name.as_str()))?;
        let with_responses = |design: &'a Design| {
            let responses = design.responses.iter();
            let responses: Vec<&Response> =
                responses.filter(|response| chosen(&self.responses, &response.name)).collect();
            Chosen { design, responses }
        };
        let all = designs.into_iter().map(with_responses);
        Ok(all.filter(|chosen| !chosen.responses.is_empty()).collect())
    }
}

/// Every name that was asked for is there.
fn known<'a>(what: &str, asked: &[String], there: impl Iterator<Item = &'a str>) -> Result<()> {
    let there: BTreeSet<&str> = there.collect();
    match asked.iter().find(|name| !there.contains(name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let known = there.into_iter().collect::<Vec<_>>().join(", ");
            Err(Error::Refused(format!(
                "no {what} of this session is named {name:?}; there are: {known}"
            )))
        }
    }
}
