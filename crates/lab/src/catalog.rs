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
    let ids: Vec<&str> = designs.iter().map(|design| design.id.as_str()).collect();
    if let Some(preset) = experiments::presets().iter().find(|it| it.about.name == name) {
        let of: Vec<&str> = preset.designs.iter().map(|design| design.id.as_str()).collect();
        bail!("{name} is a preset (scruple run {name}); its experiments are {}", of.join(", "));
    }
    known("no experiment is named", name, &ids)?;
    Ok(designs.iter().find(|design| design.id == name).cloned().unwrap_or_default())
}

/// Checks that a name is among the known ones.
///
/// # Errors
/// If it is not: `what` and the name, the known name that is most like it, and all known names.
pub(crate) fn known(what: &str, name: &str, known: &[&str]) -> anyhow::Result<()> {
    if known.contains(&name) {
        return Ok(());
    }
    let meant = ask::meant(name, known.iter().copied());
    let meant = meant.map_or_else(String::new, |meant| format!("did you mean {meant}? "));
    bail!("{what} {name:?}; {meant}there are: {}", known.join(", "))
}

/// Returns the present design of a stored session's experiment: that of the catalog or of the session's preset,
/// or one made again for the session's program files.
///
/// # Errors
/// If no experiment has its name.
pub(crate) fn again(stored: &Design, preset: Option<&model::Preset>) -> anyhow::Result<Design> {
    let presets = experiments::presets().into_iter().filter(|it| Some(&it.about) == preset);
    let mut narrowed = presets.flat_map(|preset| preset.designs);
    if let Some(known) = narrowed.find(|design| design.id == stored.id) {
        return Ok(known);
    }
    if !stored.programs.is_empty()
        && let Some(made) = experiments::design_of_programs(&stored.id, &stored.programs)
    {
        return Ok(made);
    }
    find(&all(), &stored.id)
}
