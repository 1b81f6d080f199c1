//! Whether an experiment is the same thing on all sides.

use super::heads::SideHeads;
use model::{Center, Design, Factor, Response};
use std::sync::Arc;

const NOT_BY_BASE: &str = "the base did not measure it";

/// Returns why an experiment cannot be compared, as far as its definitions say; `None` where it can.
///
/// Its version says that its numbers may have moved. A definition that differs although the version
/// does not is no less another measure: then nobody remembered to raise it.
pub(crate) fn refusal(sides: &[&SideHeads], id: &str) -> Option<String> {
    let Some(first) = sides.first()?.design(id) else { return Some(NOT_BY_BASE.into()) };
    let mut heads = sides.iter().flat_map(|side| side.heads.iter().map(move |it| (side, it)));
    heads.find_map(|(side, head)| {
        let design = head.design(id).filter(|design| !Arc::ptr_eq(first, design))?;
        if design.version != first.version {
            let (was, is) = (first.version, design.version);
            return Some(format!(
                "its design has version {was} in one session and {is} in another: the numbers do not measure the same thing"
            ));
        }
        let (what, side, session) =
            (difference(first, design)?, &side.name, &head.manifest.session);
        Some(format!(
            "{what} is defined in another way in {side} ({session}), under the same version of the \
             design"
        ))
    })
}

/// Returns why an experiment cannot be compared, as far as its trials say; for each side, the base first,
/// whether it has any.
pub(crate) fn unmeasured(measured: &[bool]) -> Option<String> {
    match measured.split_first()? {
        (false, _) => Some(NOT_BY_BASE.into()),
        (true, others) if !others.contains(&true) => Some("only the base measured it".into()),
        _ => None,
    }
}

/// Returns the first thing by which two designs of one version differ, of what both of them name.
fn difference(one: &Design, other: &Design) -> Option<String> {
    let factors = one.factors.iter().filter_map(|a| Some((a, other.factor(&a.name)?)));
    for (a, b) in factors {
        if let Some(level) = other_meaning(a, b) {
            return Some(format!("the level {level} of the factor {}", a.name));
        }
    }
    let responses = one.responses.iter().filter_map(|a| Some((a, other.response(&a.name)?)));
    for (a, b) in responses {
        if identity(a) != identity(b) {
            return Some(format!("the response {}", a.name));
        }
    }
    None
}

/// Returns what makes a response what it is: from where to where, in which unit, how the observations of a
/// trial become its number, and what is subtracted. Its label is only a word for it.
fn identity(response: &Response) -> (&model::Card, &model::Unit, Center, Option<&model::Cell>) {
    (&response.card, &response.unit, response.center, response.subtract.as_ref())
}

fn other_meaning<'a>(one: &'a Factor, other: &Factor) -> Option<&'a str> {
    let common = one.levels.iter().filter_map(|a| Some((a, other.level(&a.name)?)));
    let mut differing = common.filter(|(a, b)| a.about != b.about || a.value != b.value);
    differing.next().map(|(level, _)| level.name.as_str())
}
