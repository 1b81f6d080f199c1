//! Where a trial's files lie, and what went to the device below.

use kit::{Result, Trial};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use sys::block::Device;

/// The file system of the trial's own folder.
#[derive(Clone, Debug)]
pub(crate) struct Storage {
    filesystem: String,
    device: Option<Device>,
}

impl Storage {
    /// Looks where the trial's folder is, and keeps the fact.
    pub(crate) fn of(trial: &mut Trial) -> Result<Self> {
        let here = Path::new(".");
        let filesystem = sys::files::filesystem(here)?;
        trial.observe("file_system", &filesystem);
        let device = sys::block::device_of(here)?;
        let device = device.written_bytes().map(|_| device);
        Ok(Storage { filesystem, device })
    }

    /// Refuses a treatment about waiting for a device where the files lie in memory.
    pub(crate) fn need_device(&self) -> Result<()> {
        kit::require!(
            !matches!(self.filesystem.as_str(), "tmpfs" | "ramfs"),
            "the trial's files lie on {}, in memory, so a synchronous write waits for nothing; \
                 keep the session on a disk",
            self.filesystem
        );
        Ok(())
    }

    /// Refuses the treatment unless so much space is free.
    pub(crate) fn need_bytes(&self, bytes: u64) -> Result<()> {
        let free = sys::files::free_bytes(Path::new("."))?;
        kit::require!(
            free >= bytes,
            "needs {} MB of free space on the file system of the session, has {} MB",
            bytes.div_ceil(1_000_000),
            free / 1_000_000
        );
        Ok(())
    }

    /// Bytes written to the device so far, by everybody; `None` where there is no such account.
    pub(crate) fn device_written_bytes(&self) -> Option<u64> {
        self.device?.written_bytes()
    }
}

/// Makes a file of `bytes` bytes whose blocks are on the device, so that overwriting it later
/// allocates nothing, and so that nothing of its making is still waiting to be written.
pub(crate) fn lay_out(path: &Path, bytes: u64) -> Result<()> {
    let file = File::create(path)?;
    let chunk = vec![1; 1 << 20];
    let mut at = 0;
    while at < bytes {
        let length = (bytes - at).min(chunk.len() as u64);
        file.write_all_at(&chunk[..length as usize], at)?;
        at += length;
    }
    file.sync_all()?;
    Ok(())
}
