//! What a comparison takes of each session, which their manifests say.

use super::definitions;
use super::heads::SideHeads;
use crate::session::disturbance::corrected;
use model::{Control, Design, Finding, Quantity, Response};
use std::sync::Arc;

/// The experiment whose treatments are the same on any machine: what differs in it between
/// sessions is the machine.
const SAME_COMPUTATION: &str = "null";

/// What is asked of some sessions, which their manifests alone say.
#[derive(Debug)]
pub struct Questions {
    pub(crate) sides: Vec<SideHeads>,
    /// The experiments in the order of the base, then what other sides alone have.
    pub(crate) experiments: Vec<AskedExperiment>,
    /// The same computation, where the base has it.
    pub(crate) control: Option<AskedControl>,
}

/// What is asked of one experiment.
#[derive(Debug)]
pub(crate) struct AskedExperiment {
    pub(crate) id: String,
    /// Why its definitions refuse it.
    pub(crate) refused: Option<String>,
    /// As the base has it; none where nothing is taken of it.
    pub(crate) design: Option<Arc<Design>>,
    /// The responses of rows, then what findings that are levels need beside them.
    pub(crate) responses: Vec<String>,
    /// The findings that all sides have.
    pub(crate) findings: Vec<AskedFinding>,
    /// Whether findings that are levels mean the same treatment by all designs, so that a number is
    /// held against numbers of the same name alone.
    pub(crate) same_levels: bool,
}

/// What is asked of one finding.
#[derive(Debug)]
pub(crate) struct AskedFinding {
    /// As the base asks it.
    pub(crate) finding: Finding,
    /// The responses that can carry it: its own, then the CPU twins that any session has for it.
    pub(crate) carriers: Vec<String>,
}

/// The control between sessions.
#[derive(Debug)]
pub(crate) struct AskedControl {
    pub(crate) design: Arc<Design>,
    pub(crate) control: Control,
    pub(crate) response: Response,
    /// For each side, whether it can be held against the base.
    pub(crate) comparable: Vec<bool>,
}

impl Questions {
    /// Asks at least 2 sides, the base first; `only` are the experiments to look at, all if it is empty.
    pub fn new(sides: Vec<SideHeads>, only: &[String]) -> Self {
        let mut ids: Vec<&str> = Vec::new();
        for design in sides.iter().flat_map(|side| &side.heads).flat_map(|it| &it.designs) {
            let asked = only.is_empty() || only.contains(&design.id);
            if asked && !ids.contains(&design.id.as_str()) {
                ids.push(&design.id);
            }
        }
        let experiments = ids.into_iter().map(|id| AskedExperiment::of(&sides, id)).collect();
        Questions { experiments, control: control(&sides), sides }
    }

    /// Returns the sides, as they were given.
    pub fn sides(&self) -> &[SideHeads] {
        &self.sides
    }

    /// Returns all sessions in the order in which they are best read, each as the place of its side and
    /// its place there: first two of every side, which settle for most numbers that the session is the
    /// unit, so that one number of each session is enough from then on.
    pub fn order(&self) -> Vec<(usize, usize)> {
        let all = || self.sides.iter().enumerate();
        let of = |part: fn(usize) -> std::ops::Range<usize>| {
            all().flat_map(move |(side, it)| part(it.heads.len()).map(move |at| (side, at)))
        };
        of(|sessions| 0..sessions.min(2)).chain(of(|sessions| sessions.min(2)..sessions)).collect()
    }
}

impl AskedExperiment {
    /// Returns the place of a response among those that are asked for; one that nothing has if it is not.
    pub(crate) fn place(&self, response: &str) -> usize {
        self.responses.iter().position(|it| it == response).unwrap_or(usize::MAX)
    }

    fn of(sides: &[SideHeads], id: &str) -> Self {
        let refused = definitions::refusal(&sides.iter().collect::<Vec<_>>(), id);
        let design = sides.first().and_then(|side| side.design(id));
        let design = design.filter(|_| refused.is_none()).cloned();
        let mut asked = AskedExperiment {
            id: id.to_string(),
            refused,
            design: design.clone(),
            responses: Vec::new(),
            findings: Vec::new(),
            same_levels: true,
        };
        let Some(design) = design else { return asked };
        asked.responses = design.responses.iter().map(|it| it.name.clone()).collect();
        let firsts: Vec<&Arc<Design>> = sides.iter().filter_map(|side| side.design(id)).collect();
        for finding in &design.findings {
            // A finding that another version of the catalog asks in another way is another finding.
            let same = |other: &&Arc<Design>| {
                let mut findings = other.findings.iter();
                findings.any(|it| it.id == finding.id && it.quantity == finding.quantity)
            };
            if firsts.iter().all(same) {
                let carriers = carriers(sides, id, &finding.quantity);
                asked.findings.push(AskedFinding { finding: finding.clone(), carriers });
            }
        }
        for AskedFinding { finding, carriers } in &asked.findings {
            // A level is what a row is.
            if let Quantity::Value { at, .. } = &finding.quantity {
                let treatment = design.complete(at);
                let same = |other: &Arc<Design>| {
                    Arc::ptr_eq(other, &design) || other.complete(at) == treatment
                };
                asked.same_levels &= all(sides, id).all(same);
                let more = carriers.iter().filter(|it| !asked.responses.contains(it));
                let more: Vec<String> = more.cloned().collect();
                asked.responses.extend(more);
            }
        }
        asked
    }
}

/// Returns an experiment as each session defines it that has it.
pub(crate) fn all<'a>(
    sides: &'a [SideHeads],
    id: &'a str,
) -> impl Iterator<Item = &'a Arc<Design>> {
    sides.iter().flat_map(|side| &side.heads).filter_map(move |head| head.design(id))
}

fn carriers(sides: &[SideHeads], id: &str, quantity: &Quantity) -> Vec<String> {
    let mut carriers = vec![quantity.response().to_string()];
    if matches!(quantity, Quantity::Frequency { .. } | Quantity::Quotient { .. }) {
        return carriers;
    }
    let response = |design: &Arc<Design>| design.response(quantity.response()).cloned();
    if all(sides, id).filter_map(response).any(|response| response.cpu_twin.is_some()) {
        carriers.push(corrected(quantity.response()));
    }
    carriers
}

fn control(sides: &[SideHeads]) -> Option<AskedControl> {
    let base = sides.first()?;
    let design = base.design(SAME_COMPUTATION)?;
    let control = design.controls.first()?.clone();
    let response = design.response(&control.response)?.clone();
    let comparable = |side: &SideHeads| {
        let own = side.design(SAME_COMPUTATION);
        own.is_some_and(|own| !own.controls.is_empty() && own.version == design.version)
            && definitions::refusal(&[base, side], SAME_COMPUTATION).is_none()
    };
    let comparable = sides.iter().map(comparable).collect();
    Some(AskedControl { design: Arc::clone(design), control, response, comparable })
}
