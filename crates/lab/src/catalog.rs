//! The designs of the experiments that this scruple can measure.

use anyhow::bail;
use model::Design;

/// The most experiments that an error names as being about a word.
const ABOUT_MAX: usize = 6;

/// The most names that an error lists which also says what may be meant.
const LISTED_MAX: usize = 8;

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
/// If it is not: `what` and the name, the known names that are about it or else the one that is most like it,
/// and all known names.
pub(crate) fn known(what: &str, name: &str, known: &[&str]) -> anyhow::Result<()> {
    if known.contains(&name) {
        return Ok(());
    }
    let designs = all();
    let about =
        report::experiments_about(name, &designs).into_iter().map(|design| design.id.as_str());
    let about: Vec<&str> = about.filter(|id| known.contains(id)).take(ABOUT_MAX).collect();
    let meant = ask::meant(name, known.iter().copied());
    let meant = meant.filter(|meant| about.is_empty() || about.contains(meant));
    let mut hint = meant.map_or(String::new(), |meant| format!("did you mean {meant}? "));
    if about.iter().any(|id| Some(*id) != meant) {
        hint.push_str(&format!("about it: {}. ", about.join(", ")));
    }
    match about.is_empty() || known.len() <= LISTED_MAX {
        true => bail!("{what} {name:?}; {hint}there are: {}", known.join(", ")),
        false => bail!("{what} {name:?}; {}", hint.trim_end()),
    }
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn words_that_people_use_lead_to_an_experiment() {
        let designs = designs();
        for (words, wanted) in [
            ("fork", "create"),
            ("pthreads", "create"),
            ("threads", "workers"),
            ("multiprocessing", "workers"),
            ("context switch", "switch"),
            ("coroutine", "switch"),
            ("page faults", "fault"),
            ("MESI", "false_sharing"),
            ("mutex", "counters"),
            ("race condition", "counters"),
            ("thread safety", "reentrancy"),
            ("segfault", "isolation"),
            ("SIGINT", "signals"),
            ("jemalloc", "allocator"),
            ("event loop", "servers"),
            ("asyncio", "servers"),
            ("Amdahl", "speedup"),
            ("syscall", "kernel_entry"),
            ("out of memory", "memory_limit"),
            ("rdtsc", "clock"),
            ("instruction cache", "icache"),
            ("exception", "traps"),
            ("condvar", "wake"),
            ("hugepages", "fault"),
            ("SIGCHLD", "signals"),
            ("TLB miss", "switch"),
            ("i-cache", "icache"),
            ("syscall overhead", "kernel_entry"),
            ("cache line bouncing", "false_sharing"),
            ("thread", "create"),
        ] {
            let found = report::experiments_about(words, &designs);
            let first = found.iter().take(ABOUT_MAX).any(|design| design.id == wanted);
            assert!(first, "{words}: {:?}", found.iter().map(|it| &it.id).collect::<Vec<_>>());
        }
        let error = known("no experiment is named", "fork", &["create", "null"]).unwrap_err();
        assert!(error.to_string().contains("about it: create."), "{error}");
    }
}
