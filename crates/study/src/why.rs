//! The experiment that squeezes a command: `why.toml` for a command line.

use crate::experiment;
use model::{BESIDE, Design, Resource, Squeeze, Subject};

/// What is asked of a command.
#[derive(Clone, Debug)]
pub struct WhyRequest<'a> {
    /// The command with its arguments, as it is.
    pub command: &'a [String],
    /// The folder in which it runs.
    pub folder: String,
    /// The resources by name; none means all.
    pub resources: &'a [String],
    /// The program's CPUs where co-runners need one beside it, as a list such as `1-3`.
    pub cpus: String,
    /// How many CPUs next to them are kept for co-runners.
    pub kept: usize,
    /// Any exit code means success.
    pub any_exit_code: bool,
    /// The time after which a trial is killed, in ms.
    pub time_limit_ms: u64,
}

/// Returns the design that takes one resource at a time from a command.
///
/// # Errors
/// If a resource has an unknown name.
pub fn why(asked: &WhyRequest<'_>) -> Result<Design, String> {
    let wanted = resources(asked.resources)?;
    let mut design = all_squeezes()?;
    let beside = wanted.iter().any(|resource| resource.compared_with() == BESIDE);
    let factor = &mut design.factors[0];
    factor.levels.retain(|level| match Squeeze::of_level(&level.name) {
        Some(Squeeze::Take(resource, _)) => wanted.contains(&resource),
        Some(Squeeze::Beside) => beside,
        _ => true,
    });
    design.findings.retain(|finding| wanted.iter().any(|it| it.name() == finding.id));
    design.subject = Some(Subject {
        command: asked.command.iter().map(|word| Subject::literal(word)).collect(),
        folder: Subject::literal(&asked.folder),
        cpus: asked.cpus.clone(),
        exit_codes: if asked.any_exit_code { Subject::any_exit_code() } else { Vec::new() },
        squeeze: Some(factor.name.clone()),
        ..Subject::default()
    });
    let method = design.method.replace("{cpus}", &asked.cpus);
    design.method = method.replace("{kept}", &kept(asked.kept));
    design.time_limit_ms = asked.time_limit_ms;
    design.check().map_err(|error| error.to_string())?;
    Ok(design)
}

/// Returns the design that takes every resource.
fn all_squeezes() -> Result<Design, String> {
    let design = experiment::measured().and_then(|responses| {
        experiment::experiment_with("why", include_str!("why.toml"), responses)
    });
    design.map_err(|error| error.to_string())
}

/// Returns the resources asked for, in their order; none named means all.
fn resources(names: &[String]) -> Result<Vec<Resource>, String> {
    if let Some(unknown) = names.iter().find(|name| Resource::of_name(name).is_none()) {
        let known = Resource::ALL.map(Resource::name).join(", ");
        return Err(format!("--squeeze {unknown}: no such resource; it is one of {known}"));
    }
    let wanted = |it: &Resource| names.is_empty() || names.iter().any(|name| name == it.name());
    Ok(Resource::ALL.into_iter().filter(wanted).collect())
}

/// Says how many CPUs are kept for co-runners.
fn kept(cpus: usize) -> String {
    match cpus {
        0 => "There is no CPU for co-runners, so that memory and cache cannot be squeezed.".into(),
        1 => "One CPU is kept for those of memory and cache.".into(),
        cpus => format!("{cpus} CPUs are kept for those of memory and cache."),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::{all_squeezes, resources};
    use model::{Cell, Quantity, Resource, Squeeze, measures::WALL};

    #[test]
    fn every_resource_has_two_strengths_and_an_answer_at_the_stronger() {
        let design = all_squeezes().unwrap();
        let levels = design.factors[0].levels.iter().map(|level| Squeeze::of_level(&level.name));
        let levels: Vec<Squeeze> = levels.map(Option::unwrap).collect();
        assert_eq!(levels[..3], [Squeeze::Nothing, Squeeze::Nothing, Squeeze::Beside]);
        let strengths = [[25, 50], [50, 100], [50, 100], [50, 100], [50, 100], [50, 75]];
        let taken = Resource::ALL.into_iter().zip(strengths);
        let taken = taken.flat_map(|(it, two)| two.map(|percent| Squeeze::Take(it, percent)));
        assert_eq!(levels[3..], taken.collect::<Vec<_>>());
        assert_eq!(design.findings.len(), Resource::ALL.len());
        for (index, resource) in Resource::ALL.into_iter().enumerate() {
            let strong = &design.factors[0].levels[4 + 2 * index].name;
            let finding = &design.findings[index];
            let at = |level: &str| Cell::new([("squeeze", level)]);
            let (of, to) = (at(strong), at(resource.compared_with()));
            assert_eq!(finding.quantity, Quantity::Ratio { response: WALL.into(), of, to });
            let words = resource.words();
            let sentence =
                format!("It takes {{}} times as long at {strong}, where {words} is taken.");
            assert_eq!((finding.id.as_str(), &finding.sentence), (resource.name(), &sentence));
        }
    }

    #[test]
    fn resources_are_named_or_all() {
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(resources(&[]).unwrap(), Resource::ALL);
        let two = resources(&names(&["memory", "cpu"])).unwrap();
        assert_eq!(two, [Resource::Cpu, Resource::Memory]);
        let why = resources(&names(&["cpu", "dsk"])).unwrap_err();
        assert!(why.contains("--squeeze dsk") && why.contains("storage"), "{why}");
    }
}
