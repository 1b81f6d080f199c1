//! `stress-ng --switch 1 --switch-method pipe`, as stress-switch.c of stress-ng 0.15 has it.
//!
//! A process writes single bytes into a pipe of packets (`O_DIRECT`) that holds one page and thus
//! one packet; another reads them and answers nothing. The writer sleeps when its second byte finds
//! no room, the reader when there is none to read: what stress-ng counts as one switch is one
//! write, one read and, on one CPU, the way to the reader and back.

use super::definitions::{OPERATION_NS, keep_switches};
use kit::{OBSERVATIONS_MAX, Stop, Trial};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::fs::File;
use std::io::{Read, Write};
use sys::clock::now_ns;

/// Writes in one observation.
const TOGETHER: u64 = 128;

pub(crate) fn by_stress_ng(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let errno = |errno: nix::Error| Stop::Failed(format!("the pipe of packets: {errno}"));
    let (reader, writer) = nix::unistd::pipe2(OFlag::O_DIRECT).map_err(errno)?;
    let room = fcntl(&writer, FcntlArg::F_SETPIPE_SZ(1)).map_err(errno)?;
    let page = sys::pages::page_bytes();
    trial.check("room in the pipe, in bytes", f64::from(room), page as f64, page as f64);
    let (mut reader, mut writer) = (File::from(reader), Some(File::from(writer)));
    let child = sys::task::fork_run(|| {
        writer.take();
        let mut byte = [0];
        loop {
            match reader.read(&mut byte) {
                Ok(1) => {}
                Ok(_) => return 0,
                Err(_) => return 1,
            }
        }
    })?;
    drop(reader);
    let mut pipe = writer.take().ok_or_else(|| Stop::failed("the pipe is gone"))?;
    let mut write = || -> Result<(), Stop> {
        for _ in 0..TOGETHER {
            pipe.write_all(b"_")?;
        }
        Ok(())
    };
    write()?;
    let mut values = Vec::with_capacity(OBSERVATIONS_MAX);
    let limit_ns = trial.spec().timed_ns;
    trial.begin()?;
    let begun_ns = now_ns();
    while values.len() < OBSERVATIONS_MAX && now_ns() - begun_ns < limit_ns {
        let start_ns = now_ns();
        write()?;
        values.push((now_ns() - start_ns) as i64);
    }
    // The reader ends with the pipe; what it did is counted when it is awaited.
    drop(pipe);
    let ended = sys::task::wait(child)?;
    trial.end()?;
    if ended.code != Some(0) {
        return Err(Stop::failed("the reader did not end well"));
    }
    let operations = TOGETHER * values.len() as u64;
    trial.record(OPERATION_NS, TOGETHER, values);
    keep_switches(trial, operations);
    Ok(())
}
