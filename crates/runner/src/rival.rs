//! A rival: a loop on one CPU, against which the shield is measured.

use crate::Error;
use std::hint::black_box;
use std::process::{Child, Command, Stdio};

/// The first argument that makes the binary a rival.
pub const RIVAL: &str = "__rival";

/// How long a rival lives if nobody ends it.
const LIFE_NS: u64 = 1_000_000_000;

/// A process that wants one CPU all the time.
#[derive(Debug)]
pub(crate) struct Rival(Child);

impl Rival {
    /// Starts it on a CPU.
    pub(crate) fn start(cpu: u32) -> Result<Self, Error> {
        Command::new("/proc/self/exe")
            .arg(RIVAL)
            .arg(cpu.to_string())
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .spawn()
            .map(Rival)
            .map_err(|cause| Error::Start { what: "rival", cause })
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The rival's own code: a loop, bounded in case nobody ends it.
pub(crate) fn serve(cpu: Option<u32>) {
    let _ = sys::process::die_with_parent(sys::process::parent_pid());
    if let Some(cpu) = cpu
        && sys::affinity::pin(&[cpu]).is_err()
    {
        return;
    }
    let end_ns = sys::clock::now_ns() + LIFE_NS;
    while sys::clock::now_ns() < end_ns {
        black_box(0);
    }
}
