//! The designs of the experiments that this scruple can measure.

use anyhow::bail;
use model::Design;

/// Returns the designs that `scruple run` measures, in the catalog's order.
pub(crate) fn designs() -> Vec<Design> {
    experiments::CATALOG.iter().map(|experiment| (experiment.design)()).collect()
}

/// Returns the designs with planted answers, which only the self-test measures.
pub(crate) fn planted() -> Vec<Design> {
    experiments::PLANTED.iter().map(|experiment| (experiment.design)()).collect()
}

/// Returns all designs that this scruple can measure.
pub(crate) fn all() -> Vec<Design> {
    designs().into_iter().chain(planted()).collect()
}

/// Returns the design with this name.
///
/// # Errors
/// If no design has it; the error lists the known names.
pub(crate) fn find(designs: &[Design], name: &str) -> anyhow::Result<Design> {
    if let Some(design) = designs.iter().find(|design| design.id == name) {
        return Ok(design.clone());
    }
    let known: Vec<&str> = designs.iter().map(|design| design.id.as_str()).collect();
    bail!("no experiment is named {name:?}; there are: {}", known.join(", "))
}

/// Returns the present design of a stored session's experiment: that of the catalog, or one made again
/// for the session's program files.
///
/// # Errors
/// If no experiment has its name.
pub(crate) fn again(stored: &Design) -> anyhow::Result<Design> {
    if stored.id == experiments::OF_PROGRAMS && !stored.programs.is_empty() {
        return Ok(experiments::design_of_programs(&stored.programs));
    }
    find(&all(), &stored.id)
}
