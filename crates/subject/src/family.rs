//! What the program leaves behind when it ends: awaited for a while, so that what it uses is
//! counted, and then killed.

use kit::Result;
use std::time::{Duration, Instant};
use sys::task::Pid;

/// How long what is killed may take to be gone.
pub(crate) const DYING: Duration = Duration::from_secs(5);

/// How often it is looked whether what was left behind has ended.
const LOOK: Duration = Duration::from_millis(1);

/// What became of the processes that outlived the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outlived {
    /// How many lived when the program had ended.
    pub(crate) processes: usize,
    /// How many had to be killed.
    pub(crate) killed: usize,
}

/// Waits for all that came of this process to end, kills what has not in time, and reaps all of
/// it: the kernel adds what a child used when it is waited for. `spared` was there before.
/// `interrupted` is asked now and then whether to make an end at once.
///
/// # Errors
/// A process that cannot be killed.
pub(crate) fn see_off(
    spared: &[Pid],
    linger: Duration,
    mut interrupted: impl FnMut() -> Result<()>,
) -> Result<Outlived> {
    let own = sys::process::pid();
    let deadline = Instant::now() + linger;
    let processes = sys::process::descendants(own, spared).len();
    loop {
        sys::process::reap_adopted(spared)?;
        interrupted()?;
        if sys::process::descendants(own, spared).is_empty() {
            sys::process::reap_adopted(spared)?;
            return Ok(Outlived { processes, killed: 0 });
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        std::thread::sleep(left.min(LOOK));
    }
    let killed = sys::process::kill_descendants(own, spared, DYING)?;
    sys::process::reap_adopted(spared)?;
    Ok(Outlived { processes, killed })
}

/// Kills and reaps whatever came of this process.
///
/// # Errors
/// A process that cannot be killed.
pub(crate) fn end_all() -> Result<()> {
    sys::process::kill_descendants(sys::process::pid(), &[], DYING)?;
    Ok(sys::process::reap_adopted(&[])?)
}
