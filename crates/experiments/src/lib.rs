//! The catalog: for each experiment a TOML file that declares it, and the code of its trial.
//!
//! An experiment is registered by its module and one word in [`CATALOG`]. It knows the kit and
//! the kernel, and nothing of plans, files, statistics or arguments.

/// Makes an experiment of a module: of its name, the file that declares it, and the module's
/// function `trial`. Tests get the declaration from `design`.
macro_rules! experiment {
    ($id:literal, $file:literal) => {
        pub(crate) const EXPERIMENT: kit::Experiment = kit::Experiment { id: $id, design, trial };

        fn design() -> kit::model::Design {
            crate::declared($id, include_str!($file))
        }
    };
}

mod allocator;
mod clock;
mod counters;
mod create;
mod false_sharing;
mod fault;
mod footprint;
mod heap_layout;
mod icache;
mod isolation;
mod kernel_entry;
mod memory_limit;
mod null;
mod observer;
mod planted;
mod reentrancy;
mod servers;
mod signals;
mod speedup;
mod support;
mod switch;
mod syscalls;
mod traps;
mod wake;
mod workers;

pub use icache::{Looked, is_any_cache, load, look, policy, start};
pub use planted::PLANTED;

use kit::Experiment;
use kit::model::{Design, ProgramFile, Response, Treatment};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads an experiment's declaration.
///
/// # Panics
/// The declaration is wrong: a test of this room reads all of them.
fn declared(id: &str, toml: &str) -> Design {
    declared_with(id, toml, Vec::new())
}

/// Reads an experiment's declaration, which has these responses besides its own.
///
/// # Panics
/// As [`declared`].
fn declared_with(id: &str, toml: &str, responses: Vec<Response>) -> Design {
    let mut design = match study::experiment_with(id, toml, responses) {
        Ok(design) => design,
        Err(error) => panic!("{error}"),
    };
    for claim in &mut design.claims {
        claim.source = cited(&claim.source);
    }
    design
}

/// The works that claims cite, by their keys in `references.toml`.
static WORKS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let table = DeTable::parse(include_str!("references.toml")).map(Spanned::into_inner);
    let entries = table.unwrap_or_default().into_iter();
    let work = |value: Spanned<DeValue<'_>>| value.get_ref().as_str().map(String::from);
    entries.filter_map(|(key, value)| Some((key.get_ref().to_string(), work(value)?))).collect()
});

/// Returns a claim's source with the work in the place of its key. Manual pages and "often said"
/// have no key.
fn cited(source: &str) -> String {
    let end = source.find([' ', ',']).unwrap_or(source.len());
    let (key, place) = source.split_at(end);
    match (WORKS.get(key), place.trim_start_matches([' ', ','])) {
        (None, _) => source.into(),
        (Some(work), "") => work.clone(),
        (Some(work), place) => format!("{work}, {place}"),
    }
}

/// Panics unless the levels of a factor are those that a table has code for.
#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test may stop at the first surprise")]
fn check_levels<T>(design: &Design, factor: &str, table: &[(&str, T)]) {
    let factor = design.factor(factor).expect("the design has the factor");
    let declared: std::collections::BTreeSet<&str> =
        factor.levels.iter().map(|level| level.name.as_str()).collect();
    let realised: std::collections::BTreeSet<&str> = table.iter().map(|(name, _)| *name).collect();
    assert_eq!(declared, realised, "levels of {}", factor.name);
}

/// All experiments, in the order in which people read them.
pub const CATALOG: &[Experiment] = &[
    create::EXPERIMENT,
    syscalls::EXPERIMENT,
    isolation::EXPERIMENT,
    workers::EXPERIMENT,
    footprint::EXPERIMENT,
    memory_limit::EXPERIMENT,
    observer::EXPERIMENT,
    switch::EXPERIMENT,
    wake::EXPERIMENT,
    fault::EXPERIMENT,
    false_sharing::EXPERIMENT,
    counters::EXPERIMENT,
    reentrancy::EXPERIMENT,
    signals::EXPERIMENT,
    allocator::EXPERIMENT,
    heap_layout::EXPERIMENT,
    servers::EXPERIMENT,
    speedup::EXPERIMENT,
    icache::EXPERIMENT,
    traps::EXPERIMENT,
    kernel_entry::EXPERIMENT,
    clock::EXPERIMENT,
    null::EXPERIMENT,
];

/// Returns what a trial of an experiment took on average in the recorded default session, or, by hand, one with a
/// more expensive level that this session lacks, in nanoseconds; 0 of one that was not recorded.
pub fn typical_trial_ns(experiment: &str, treatment: &Treatment) -> u64 {
    let lines = include_str!("costs.tsv").lines().filter_map(|line| line.split_once('\t'));
    let own = lines.filter(|(of, _)| match of.split_once(' ') {
        None => *of == experiment,
        Some((id, level)) => id == experiment && treatment.0.values().any(|own| own == level),
    });
    own.filter_map(|(_, us)| us.parse::<u64>().ok()).max().map_or(0, |us| us * 1000)
}

/// Returns the presets of the catalog.
///
/// # Panics
/// `presets.toml` is wrong: a test of this room reads all of it.
pub fn presets() -> Vec<study::Preset> {
    let catalog: Vec<Design> = CATALOG.iter().map(|experiment| (experiment.design)()).collect();
    match study::presets(include_str!("presets.toml"), &catalog) {
        Ok(presets) => presets,
        Err(error) => panic!("{error}"),
    }
}

/// Returns the design of an experiment for some program files, of which others are compared with the first; `None`
/// if it takes none, or if no caches are chosen.
pub fn design_of_programs(id: &str, programs: &[ProgramFile]) -> Option<Design> {
    icache::design_of_programs(programs).filter(|design| design.id == id)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
