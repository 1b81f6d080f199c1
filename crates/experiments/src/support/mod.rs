//! What several experiments share: where files lie, memory by the page size, programs by name,
//! numbers drawn at random, passes of arithmetic, a child that waits to be let go, workers that do
//! the same at the same time, and count.

pub(crate) mod arithmetic;
pub(crate) mod child;
pub(crate) mod counting;
pub(crate) mod memory;
pub(crate) mod party;
pub(crate) mod passes;
pub(crate) mod program;
pub(crate) mod random;
pub(crate) mod storage;

/// A word with its own pair of cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Padded(pub(crate) std::sync::atomic::AtomicU64);

/// Raises the soft limit on descriptors as far as needed.
pub(crate) fn allow_descriptors(needed: u64) -> Result<(), kit::Stop> {
    let limit = sys::limits::get(sys::limits::Resource::OpenFiles);
    if limit.soft.is_none_or(|soft| soft >= needed) {
        return Ok(());
    }
    sys::limits::set(sys::limits::Resource::OpenFiles, Some(needed)).map_err(|error| {
        kit::Stop::unsupported(format!(
            "{error}: {needed} descriptors are needed: raise `ulimit -n`"
        ))
    })
}

/// The error of a system that refuses to make a thread or a process.
pub(crate) fn not_made(error: impl std::fmt::Display) -> kit::Stop {
    kit::Stop::unsupported(format!("{error}: raise `ulimit -u` and `ulimit -v`"))
}
