//! The process that creates: where it runs, and what it has before it does so.

use crate::support::allow_descriptors;
use crate::support::memory::{PAGES, mapped, there};
use kit::model::Relation;
use kit::{Result, Stop, Trial};
use std::fs::File;
use sys::pages::{ManyMappings, Mapping};

/// Where creator and created run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// Both on one CPU.
    Same,
    /// Each on a CPU of its own; the two have a relation.
    Other(Option<Relation>),
    /// Where the scheduler puts them.
    Free,
}

/// What the levels of the factor `placement` stand for.
pub(super) const PLACEMENTS: [(&str, Placement); 7] = [
    ("same", Placement::Same),
    ("other", Placement::Other(None)),
    ("siblings", Placement::Other(Some(Relation::Siblings))),
    ("shared_cache", Placement::Other(Some(Relation::SharedCache))),
    ("package", Placement::Other(Some(Relation::Package))),
    ("packages", Placement::Other(Some(Relation::Packages))),
    ("free", Placement::Free),
];

impl Placement {
    /// Takes the parent to its place, and returns the CPU to which a thread of the pool has to go; `None` if
    /// it stays where its creator is.
    pub(super) fn take(self, trial: &mut Trial<'_>) -> Result<Option<u32>> {
        match self {
            Placement::Same => trial.pin_to_one().map(|_| None),
            Placement::Other(relation) => {
                let [parent, partner] = trial.pair(relation)?;
                trial.pin(&[parent])?;
                Ok(Some(partner))
            }
            Placement::Free => {
                trial.need_cpus(2)?;
                let all = trial.spec().cpus.clone();
                trial.pin(&all).map(|()| None)
            }
        }
    }
}

/// Descriptors that the trial needs for itself.
const SPARE_DESCRIPTORS: u64 = 32;

/// What the parent has. It is held until the trial is over.
#[derive(Debug)]
pub(super) struct Parent {
    _memory: Option<Mapping>,
    _descriptors: Vec<File>,
    _mappings: Option<ManyMappings>,
}

impl Parent {
    /// Makes the parent what the treatment says, and proves it.
    pub(super) fn prepare(trial: &mut Trial<'_>) -> Result<Self> {
        let mappings = many_mappings(trial)?;
        let descriptors = descriptors(trial)?;
        // Last: what has just been touched is there, and not yet given back to a host.
        let memory = touched_memory(trial)?;
        Ok(Parent { _memory: memory, _descriptors: descriptors, _mappings: mappings })
    }
}

fn touched_memory(trial: &mut Trial<'_>) -> Result<Option<Mapping>> {
    let bytes = trial.number("touched")? << 20;
    let huge = trial.pick("pages", &PAGES)?;
    if bytes == 0 {
        return Ok(None);
    }
    trial.need_memory(bytes)?;
    let mut memory = mapped(bytes as usize, huge)?;
    memory.touch(sys::pages::page_bytes());
    let (resident, huge_bytes) = there(&memory, bytes, huge)?;
    trial.observe("touched_bytes", resident);
    trial.observe("touched_huge_bytes", huge_bytes);
    Ok(Some(memory))
}

fn descriptors(trial: &mut Trial<'_>) -> Result<Vec<File>> {
    let count = trial.number("descriptors")?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let needed = count + SPARE_DESCRIPTORS;
    allow_descriptors(needed)?;
    let opened: Result<Vec<File>, _> = (0..count).map(|_| File::open("/dev/null")).collect();
    let opened = opened.map_err(|error| {
        Stop::unsupported(format!("open(/dev/null): {error}: raise `ulimit -n`"))
    })?;
    let found = std::fs::read_dir("/proc/self/fd")?.count();
    trial.observe("descriptors", found);
    trial.check("open descriptors", found as f64, count as f64, needed as f64);
    Ok(opened)
}

fn many_mappings(trial: &mut Trial<'_>) -> Result<Option<ManyMappings>> {
    let count = trial.number("mappings")?;
    if count == 0 {
        return Ok(None);
    }
    let before = sys::pages::mapping_count()?;
    let mappings = sys::pages::map_many(count as usize)
        .map_err(|error| Stop::unsupported(format!("{error}: raise vm.max_map_count")))?;
    let added = sys::pages::mapping_count()? as f64 - before as f64;
    trial.observe("mappings_added", added);
    // The first may join a neighbour, and the heap may have grown meanwhile.
    trial.check("mappings added", added, count as f64 - 2.0, count as f64 + 8.0);
    Ok(Some(mappings))
}
