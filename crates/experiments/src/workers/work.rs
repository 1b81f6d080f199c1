//! What the workers do, and how much of it.

use crate::support::{arithmetic, random::Random};
use kit::model::Profile;
use kit::workers::{Refusal, Worker};
use std::ffi::CString;
use std::hint::black_box;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use sys::files::Sync;
use sys::pages::{Huge, Mapping};

/// What limits a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// The CPU.
    Cpu,
    /// Memory.
    Memory(Pattern),
    /// Files.
    Files(Way),
}

/// How a buffer is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// One byte per page is written.
    Bytes,
    /// One integer of every 1024 is incremented.
    Integers,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Each write waits for the device (O_SYNC).
    Synchronous,
    /// Writes end in the page cache.
    Buffered,
    /// A stream that is opened, written, flushed and closed each time, without fsync.
    Flushed,
    /// Each write is followed by fsync.
    Committed,
}

/// What the levels of the factor `worker` stand for.
pub(super) const WORKERS: [(&str, Work); 7] = [
    ("cpu", Work::Cpu),
    ("mem", Work::Memory(Pattern::Bytes)),
    ("mem_1024", Work::Memory(Pattern::Integers)),
    ("io_sync", Work::Files(Way::Synchronous)),
    ("io_buffered", Work::Files(Way::Buffered)),
    ("io_fflush", Work::Files(Way::Flushed)),
    ("io_fsync", Work::Files(Way::Committed)),
];

/// The size of one write.
pub(super) const WRITE_BYTES: usize = 64 << 10;

/// A worker's share of the files that are overwritten.
pub(super) const FILE_BYTES: u64 = 1 << 20;

/// The page size that the stride of the memory walk assumes: 4 KiB, as in the exercise.
pub(super) const STRIDE_BYTES: usize = 4096;

/// The number of appended writes after which the file is removed and begun anew, which bounds what
/// it takes of the disk. (Cut to nothing instead, ext4 would flush it on the next close.)
const APPENDS_PER_FILE: u64 = 64;

/// How often the buffer is walked.
const PASSES: u64 = 5;

/// How much one worker does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    /// Units of arithmetic (`cpu`).
    units: u64,
    /// The buffer (`mem`).
    memory_bytes: usize,
    /// Writes (`io`).
    writes: u64,
}

impl Amount {
    /// The amount for a kind of work at a profile.
    ///
    /// Memory is that of the published exercises from `standard` on. In `quick` it is a part of it
    /// that no cache holds either: what is claimed of the workers' time does not depend on it, and
    /// what is claimed of 1.1 GB is the subject of `memory_limit`. The computation is long beside the making
    /// of a process (15 ms in `quick` where a process costs a quarter of one), since what is claimed
    /// is about the work; the cost of making is the subject of another experiment.
    pub(super) fn of(work: Work, profile: Profile) -> Self {
        let units = profile.pick([50, 1000, 2000, 4000]);
        let memory_bytes = match (profile, work) {
            (Profile::Smoke, _) => 8 << 20,
            (_, Work::Memory(Pattern::Integers)) => 500 << 20,
            (Profile::Quick, _) => 32 << 20,
            _ => 220 << 20,
        };
        let writes = match work {
            // Into pages that are cached and dirty already: a copy of 64 KiB, a few microseconds.
            // Each worker gets several slices of a CPU that it shares: workers that end before
            // others begin show nothing of what they do to each other.
            Work::Files(Way::Buffered) => [1024, 4096, 16_384, 16_384],
            // Into new pages: tens of microseconds.
            Work::Files(Way::Flushed) => [128, 512, 2048, 2048],
            // To the device: hundreds.
            _ => [4, 48, 64, 64],
        };
        let writes = profile.pick(writes);
        Amount { units, memory_bytes, writes }
    }

    /// The most that one worker has in a file at a time, in bytes.
    pub(super) fn file_bytes(&self, way: Way) -> u64 {
        let appended = self.writes.min(APPENDS_PER_FILE) * WRITE_BYTES as u64;
        if way == Way::Flushed { appended } else { FILE_BYTES }
    }

    /// Memory that one worker holds, in bytes; 0 if its work is something else.
    pub(super) fn held_bytes(&self, work: Work) -> u64 {
        if matches!(work, Work::Memory(_)) { self.memory_bytes as u64 } else { 0 }
    }

    /// The units of work that a worker will have counted.
    pub(super) fn expected(&self, work: Work) -> u64 {
        match work {
            Work::Cpu => self.units,
            Work::Memory(_) => PASSES * self.memory_bytes.div_ceil(STRIDE_BYTES) as u64,
            Work::Files(_) => self.writes,
        }
    }
}

/// Which part of which file a worker writes: always [`FILE_BYTES`], so that a shared file differs
/// from files of one's own in the file alone, and not in how much is touched.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The file.
    pub(super) path: PathBuf,
    /// Where the worker's part of it begins.
    pub(super) offset_bytes: u64,
}

/// Does one worker's work; what it returns is held until memory has been read.
pub(super) fn labour(
    worker: &Worker<'_>,
    work: Work,
    amount: &Amount,
    place: &Place,
    seed: u64,
) -> Result<Option<Mapping>, Refusal> {
    match work {
        Work::Cpu => {
            compute(worker, amount.units);
            Ok(None)
        }
        Work::Memory(pattern) => walk(worker, pattern, amount.memory_bytes).map(Some),
        Work::Files(way) => {
            let random = Random::new(seed, worker.index);
            // Whatever a file system refuses is a failure of the trial, not of the treatment.
            write(worker, way, amount.writes, place, random).map_err(|_| Refusal::Failed)?;
            Ok(None)
        }
    }
}

fn compute(worker: &Worker<'_>, units: u64) {
    let mut x = black_box(worker.index as f64);
    for _ in 0..units {
        x = arithmetic::unit(x);
        worker.glance();
    }
    worker.keep(x.to_bits());
    worker.worked(units);
}

fn walk(worker: &Worker<'_>, pattern: Pattern, bytes: usize) -> Result<Mapping, Refusal> {
    let mut buffer = Mapping::new(bytes, Huge::Never).map_err(|_| Refusal::Refused)?;
    let touched = bytes.div_ceil(STRIDE_BYTES) as u64;
    for _ in 0..PASSES {
        match pattern {
            Pattern::Bytes => buffer.touch(STRIDE_BYTES),
            Pattern::Integers => {
                for word in buffer.as_mut_words().iter_mut().step_by(STRIDE_BYTES / 8) {
                    *word = black_box(*word).wrapping_add(1);
                }
            }
        }
        worker.worked(touched);
        worker.glance();
    }
    Ok(buffer)
}

fn write(
    worker: &Worker<'_>,
    way: Way,
    writes: u64,
    place: &Place,
    mut random: Random,
) -> std::io::Result<()> {
    let chunk = [worker.index as u8 + 1; WRITE_BYTES];
    if way == Way::Flushed {
        return append(worker, writes, place, &chunk);
    }
    let sync = if way == Way::Synchronous { Sync::Full } else { Sync::None };
    let file = sys::files::open(&place.path, sync).map_err(std::io::Error::other)?;
    let slots = FILE_BYTES / WRITE_BYTES as u64;
    for _ in 0..writes {
        let slot = random.below(slots);
        file.write_all_at(&chunk, place.offset_bytes + slot * WRITE_BYTES as u64)?;
        if way == Way::Committed {
            file.sync_all()?;
        }
        worker.worked(1);
        worker.glance();
    }
    Ok(())
}

fn append(worker: &Worker<'_>, writes: u64, place: &Place, chunk: &[u8]) -> std::io::Result<()> {
    let path = CString::new(place.path.as_os_str().as_bytes())?;
    for done in 1..=writes {
        sys::stdio::append_flushed(&path, chunk).map_err(std::io::Error::other)?;
        if done.is_multiple_of(APPENDS_PER_FILE) {
            match std::fs::remove_file(&place.path) {
                // Of a shared file, somebody else was first.
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        worker.worked(1);
        worker.glance();
    }
    Ok(())
}

/// Returns what a worker's sum must be after `units` units of computation if nothing was left out.
pub(super) fn expected_sum(index: usize, units: u64) -> f64 {
    index as f64 + units as f64 * arithmetic::unit(0.0)
}

#[cfg(test)]
mod tests {
    use super::{Amount, Pattern, WORKERS, Work};
    use kit::model::Profile;

    #[test]
    fn five_workers_pass_a_gibibyte_from_standard_on() {
        for profile in [Profile::Standard, Profile::Thorough] {
            let held = Amount::of(Work::Memory(Pattern::Bytes), profile)
                .held_bytes(Work::Memory(Pattern::Bytes));
            assert!(4 * held < 1 << 30 && 5 * held > 1 << 30);
        }
    }

    #[test]
    fn every_kind_of_work_counts_something() {
        for (level, work) in WORKERS {
            for profile in [Profile::Smoke, Profile::Quick, Profile::Thorough] {
                assert!(Amount::of(work, profile).expected(work) > 0, "{level}");
            }
        }
    }
}
