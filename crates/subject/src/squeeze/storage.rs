//! Storage is taken by small writes that wait until they have reached the device, in the trial's
//! own folder.

use super::Place;
use super::corunner::{CoRunner, Load};
use kit::{Result, Stop, Trial};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// What a request of a co-runner and of the reference writes, in bytes.
const CO_RUNNER_BYTES: usize = 1 << 20;
const REFERENCE_BYTES: usize = 4 << 10;

/// Their files' size, in requests.
const REQUESTS: u64 = 16;

/// File systems that keep nothing on a device: waiting for it waits for nothing.
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

struct Writer {
    file: File,
    bytes: Vec<u8>,
    at: u64,
    percent: u32,
}

impl Writer {
    fn open(name: &str, bytes: usize, percent: u32) -> Result<Self> {
        let file = sys::files::open(Path::new(name), sys::files::Sync::None)?;
        let mut writer = Writer { file, bytes: vec![7; bytes], at: 0, percent };
        for _ in 0..REQUESTS {
            writer.write()?;
        }
        writer.sync()?;
        Ok(writer)
    }

    fn write(&mut self) -> Result<()> {
        let offset = self.at % REQUESTS * self.bytes.len() as u64;
        self.at += 1;
        self.bytes[0] = self.at as u8;
        Ok(self.file.write_all_at(&self.bytes, offset)?)
    }

    fn sync(&self) -> Result<()> {
        Ok(sys::files::sync_data(&self.file)?)
    }
}

impl Load for Writer {
    fn step(&mut self) -> Result<u64, String> {
        let began = Instant::now();
        let done = self.write().and_then(|()| self.sync());
        done.map_err(|stop| match stop {
            Stop::Failed(why) | Stop::Unsupported(why) => why,
        })?;
        let rest = began.elapsed() * (100 - self.percent.min(100)) / self.percent.max(1);
        // A request may hang for long; nobody waits for the same again.
        std::thread::sleep(rest.min(Duration::from_millis(50)));
        Ok(1)
    }
}

/// Starts one co-runner that writes for `percent` of its time, on a CPU next to the program's where
/// there is one.
///
/// # Errors
/// Unsupported: the trial's folder is in memory.
pub(super) fn writers(trial: &Trial<'_>, place: &Place, percent: u32) -> Result<Vec<CoRunner>> {
    let filesystem = sys::files::filesystem(Path::new("."))?;
    kit::require!(
        !IN_MEMORY.contains(&filesystem.as_str()),
        "the session's folder is on {filesystem}, which has no storage behind it: put it on a \
             disk (--output)"
    );
    trial.need_disk(REQUESTS * (CO_RUNNER_BYTES + REFERENCE_BYTES) as u64)?;
    let how = format!(
        "writes {} KiB and waits for {filesystem}, {percent} % of the time",
        CO_RUNNER_BYTES >> 10
    );
    let writer = CoRunner::start(&place.beside, move || {
        Ok((Writer::open("squeeze", CO_RUNNER_BYTES, percent)?, how))
    })?;
    Ok(vec![writer])
}

/// The reference that is limited by storage: small requests, one after the other.
pub(super) fn requests() -> Result<impl FnMut() -> Result<u64>, Stop> {
    let mut writer = Writer::open("reference", REFERENCE_BYTES, 100)?;
    Ok(move || {
        writer.write()?;
        writer.sync()?;
        Ok(1)
    })
}
