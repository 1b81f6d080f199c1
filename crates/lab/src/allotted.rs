//! What of the machine a session uses: its CPUs, and parts of the memory and of the disk.

use std::path::Path;

/// The part of the available memory that trials may use.
const MEMORY_SHARE: f64 = 0.5;

/// The part of the free disk that trials may use.
const DISK_SHARE: f64 = 0.25;

/// Keeps this process to the CPUs of a session.
///
/// # Errors
/// The CPUs that are offline, or what the kernel refuses.
pub(crate) fn pin(cpus: &[u32]) -> anyhow::Result<()> {
    sys::affinity::pin(cpus).map_err(|error| {
        let online = sys::topology::online();
        let gone: Vec<u32> = cpus.iter().copied().filter(|cpu| !online.contains(cpu)).collect();
        match gone.is_empty() {
            true => error.into(),
            false => runner::Error::CpusGone { cpus: sys::affinity::format_list(&gone) }.into(),
        }
    })
}

/// Returns the memory, and the space where a folder is, that trials may use; both in bytes.
pub(crate) fn room(dir: &Path) -> anyhow::Result<(u64, u64)> {
    let available = sys::proc::meminfo()?.available_bytes as f64;
    let free = sys::files::free_bytes(dir)? as f64;
    Ok(((available * MEMORY_SHARE) as u64, (free * DISK_SHARE) as u64))
}
