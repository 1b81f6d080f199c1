//! The experiment that squeezes a command, made from its command line.

use model::squeezed;
use model::{
    BESIDE, Cell, Control, Design, Factor, Finding, Level, NOTHING, NOTHING_AGAIN, Needs, Quantity,
    Resource, Squeeze, Subject, measures,
};

/// What is asked of a command.
#[derive(Clone, Debug)]
pub struct WhyRequest<'a> {
    /// The command with its arguments, as it is.
    pub command: &'a [String],
    /// The folder in which it runs.
    pub folder: String,
    /// The resources by name; none means all.
    pub resources: &'a [String],
    /// The program's CPUs, as a list such as `1-3`.
    pub cpus: String,
    /// How many CPUs next to them are kept for co-runners.
    pub kept: usize,
    /// The time after which a trial is killed, in ms.
    pub time_limit_ms: u64,
}

/// The factor.
const FACTOR: &str = "squeeze";

/// Returns the design that takes one resource at a time from a command.
///
/// # Errors
/// If a resource has an unknown name.
pub fn why(asked: &WhyRequest<'_>) -> Result<Design, String> {
    let resources = resources(asked.resources)?;
    let squeezed = |resource: &Resource| {
        let [weak, strong] = resource.strengths().map(|percent| Squeeze::Take(*resource, percent));
        [weak.level(), strong.level()]
    };
    let design = Design {
        id: "why".into(),
        version: 1,
        chapter: "Your programs".into(),
        question: "Which resource limits this command?".into(),
        method: method(&asked.cpus, asked.kept),
        factors: vec![levels(&resources)],
        responses: measures::responses().into_iter().chain(squeezed::responses()).collect(),
        findings: resources.iter().map(|it| finding(*it, &squeezed(it)[1])).collect(),
        controls: vec![Control {
            response: measures::WALL.into(),
            a: at(NOTHING),
            b: at(NOTHING_AGAIN),
        }],
        subject: Some(Subject {
            command: asked.command.iter().map(|word| Subject::literal(word)).collect(),
            folder: Subject::literal(&asked.folder),
            cpus: asked.cpus.clone(),
            squeeze: Some(FACTOR.into()),
            ..Subject::default()
        }),
        needs: Needs { cpus: 1, ..Needs::default() },
        precision: 0.03,
        time_limit_ms: asked.time_limit_ms,
        ..Design::default()
    };
    design.check().map_err(|error| error.to_string())?;
    Ok(design)
}

fn at(level: &str) -> Cell {
    Cell::new([(FACTOR, level)])
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

fn levels(resources: &[Resource]) -> Factor {
    let mut levels = vec![
        Level::new(NOTHING, "nothing; the co-runners are there and idle"),
        Level::new(NOTHING_AGAIN, "the same again: a control"),
    ];
    if resources.iter().any(|it| it.compared_with() == BESIDE) {
        levels.push(Level::new(BESIDE, "nothing but quiet: a CPU beside it does arithmetic"));
    }
    for resource in resources {
        let squeezed = resource.strengths().map(|percent| {
            Level::new(&Squeeze::Take(*resource, percent).level(), &about(*resource, percent))
        });
        levels.extend(squeezed);
    }
    Factor {
        name: FACTOR.into(),
        about: "what is taken from the command".into(),
        levels,
        baseline: NOTHING.into(),
        unit: None,
    }
}

fn about(resource: Resource, percent: u32) -> String {
    match resource {
        Resource::Cpu => {
            format!("{percent} % of each of its CPUs, in a burst in each millisecond")
        }
        Resource::Memory => format!(
            "a co-runner beside it reads through a buffer past the last cache for {percent} % of \
             the time"
        ),
        Resource::Cache => format!(
            "a co-runner beside it walks through a buffer of the shared cache's size for \
             {percent} % of the time"
        ),
        Resource::Storage => {
            format!("a co-runner writes and waits for the device for {percent} % of the time")
        }
        Resource::Queue => format!(
            "{percent} % of four threads on each of its CPUs that wake up up to 4,000 times a second"
        ),
        Resource::Timer => format!("its sleeps may end late: short ones by {percent} %"),
    }
}

fn finding(resource: Resource, strong: &str) -> Finding {
    let words = resource.words();
    let sentence = format!("It takes {{}} times as long at {strong}, where {words} is taken.");
    let (of, to) = (at(strong), at(resource.compared_with()));
    let quantity = Quantity::Ratio { response: measures::WALL.into(), of, to };
    Finding { id: resource.name().into(), sentence, quantity, drives: true }
}

fn method(cpus: &str, kept: usize) -> String {
    let kept = match kept {
        0 => {
            "There is no CPU beside them, so that memory and cache cannot be squeezed.".to_string()
        }
        1 => "One CPU beside them is kept for co-runners.".to_string(),
        kept => format!("{kept} CPUs beside them are kept for co-runners."),
    };
    format!(
        "The command runs on the CPUs {cpus} at every level. {kept} One resource at a time is taken by \
         co-runners, at two strengths, in random order within blocks. How much is taken is measured \
         in each trial by what a small program loses that lives on nothing else; of CPU time it is \
         what the co-runners had. Memory and cache are compared with a neighbour that is as busy \
         and touches no memory, all else with co-runners that are idle."
    )
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::resources;
    use model::Resource;

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
