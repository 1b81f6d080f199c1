use model::{Profile, Topology};
use std::path::PathBuf;

/// What all trials of a session have in common.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the random order and the paddings come from.
    pub seed: u64,
    /// How much is measured.
    pub profile: Profile,
    /// The CPUs that trials may use, ascending.
    pub cpus: Vec<u32>,
    /// How the machine's CPUs are arranged.
    pub topology: Topology,
    /// Memory that a trial may use in all, in bytes.
    pub memory_bytes: u64,
    /// Space that a trial may use in its scratch folder, in bytes.
    pub disk_bytes: u64,
    /// A folder for the trials' files; made on demand and removed at the end. The runner works in
    /// a folder of its own in it.
    pub scratch: PathBuf,
    /// Whether to shield trials from the rest of the machine where the rights allow.
    pub shield: bool,
}
