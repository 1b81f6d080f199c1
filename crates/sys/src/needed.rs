//! What every session needs of the system, and what it can do without in part.

use crate::refusal::refused;
use crate::{Error, Result, affinity, text};
use std::path::Path;

pub use crate::refusal::OLDEST_LINUX;

/// Returns the names of the calls that are refused here, and that scruple can do without in part.
pub fn refused_in_part() -> Vec<&'static str> {
    refused().filter(|(call, _)| !call.always).map(|(call, _)| call.name).collect()
}

/// Tries what every session needs: system calls, /proc and /dev/null.
///
/// # Errors
/// The first that is missing, with what would bring it.
pub fn check() -> Result<()> {
    if let Some((call, errno)) = refused().find(|(call, _)| call.always) {
        return Err(Error::new(call.name, errno));
    }
    affinity::allowed()?;
    for (path, remedy) in [
        ("/proc/self/exe", "scruple starts its trials by /proc: mount -t proc proc /proc"),
        ("/dev/null", "scruple starts its trials with it: mknod -m 666 /dev/null c 1 3"),
    ] {
        if !Path::new(path).exists() {
            return Err(Error::unsupported(
                format!("open({path})"),
                format!("it is not there; {remedy}"),
            ));
        }
    }
    text::read("/proc/meminfo").map(drop)
}
