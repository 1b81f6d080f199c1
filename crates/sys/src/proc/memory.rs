//! The memory of a process, by the kernel's own figures.

use super::path;
use crate::text::kib_field;
use crate::{Error, Pid, Result, text};

/// The memory of a process, summed over its mappings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// Resident pages, in bytes; shared ones count in full.
    pub rss_bytes: u64,
    /// Resident pages, in bytes, each divided by the number of processes that
    /// share it: only this may be summed over processes.
    pub pss_bytes: u64,
    /// Pages of this process alone, clean and dirty, in bytes: what its end
    /// would give back.
    pub uss_bytes: u64,
    /// Anonymous pages, in bytes.
    pub anonymous_bytes: u64,
    /// Memory mapped by huge pages, in bytes.
    pub huge_bytes: u64,
    /// Swapped out, in bytes.
    pub swap_bytes: u64,
}

/// The memory of process `pid`, from `smaps_rollup`, or summed from `smaps`
/// where that does not exist (before Linux 4.14). Reading walks the page
/// tables: about 3 ms per GiB of ordinary pages.
///
/// # Errors
/// `ENOENT` or `ESRCH` where the process does not exist or is a zombie;
/// unsupported where it may not be looked into.
pub fn memory(pid: Pid) -> Result<Memory> {
    let rollup = path(pid, "smaps_rollup");
    let (path, text) = match text::read(&rollup) {
        Ok(text) => (rollup, text),
        Err(error) if error.errno() == Some(libc::ENOENT) => {
            let smaps = path(pid, "smaps");
            let text = text::read(&smaps)?;
            (smaps, text)
        }
        Err(error) if error.errno() == Some(libc::EACCES) => {
            let why = "the kernel shows the memory of one's own processes only, and only if their \
                       program file may be read (chmod +r)";
            return Err(Error::unsupported(format!("read({rollup})"), why));
        }
        Err(error) => return Err(error),
    };
    parse_memory(&text)
        .ok_or_else(|| Error::unreadable(format!("read({path})"), "the process has no memory"))
}

/// What a process has resident, by the kernel's counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resident {
    /// Resident pages, in bytes; shared ones count in full.
    pub rss_bytes: u64,
    /// Those of them that no file and no shared memory is behind, in bytes.
    pub anonymous_bytes: u64,
}

/// What process `pid` has resident, from `statm`: some microseconds, whatever
/// its size. Each thread keeps some dozen pages back from the counters.
///
/// # Errors
/// `ENOENT` or `ESRCH` where the process does not exist; unreadable for a
/// zombie, which has none.
pub fn resident(pid: Pid) -> Result<Resident> {
    let path = path(pid, "statm");
    parse_statm(&text::read(&path)?, crate::pages::page_bytes() as u64)
        .ok_or_else(|| Error::unreadable(format!("read({path})"), "the process has no memory"))
}

/// The second and third numbers of a `statm` text, in pages: resident, and
/// those of it that a file or shared memory is behind.
pub(crate) fn parse_statm(text: &str, page_bytes: u64) -> Option<Resident> {
    let mut pages = text.split_ascii_whitespace().skip(1).map(str::parse::<u64>);
    let (resident, shared) = (pages.next()?.ok()?, pages.next()?.ok()?);
    let bytes = |pages: u64| pages.checked_mul(page_bytes);
    let anonymous = bytes(resident.saturating_sub(shared))?;
    Some(Resident { rss_bytes: bytes(resident)?, anonymous_bytes: anonymous })
        .filter(|resident| resident.rss_bytes > 0)
}

/// Sums the mappings of an `smaps` or `smaps_rollup` text; `None` where it
/// lists no resident memory at all.
pub fn parse_memory(text: &str) -> Option<Memory> {
    let mut memory = Memory::default();
    let mut listed = false;
    for line in text.lines() {
        let Some((key, _)) = line.split_once(':') else { continue };
        let sum = match key {
            "Rss" => {
                listed = true;
                &mut memory.rss_bytes
            }
            "Pss" => &mut memory.pss_bytes,
            "Private_Clean" | "Private_Dirty" => &mut memory.uss_bytes,
            "Anonymous" => &mut memory.anonymous_bytes,
            "AnonHugePages" | "ShmemPmdMapped" | "FilePmdMapped" | "Private_Hugetlb"
            | "Shared_Hugetlb" => &mut memory.huge_bytes,
            "Swap" => &mut memory.swap_bytes,
            _ => continue,
        };
        *sum = sum.checked_add(kib_field(line, key)?)?;
    }
    listed.then_some(memory)
}
