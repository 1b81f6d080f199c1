//! A child that stands at a gate until the trial lets it go, and that is never left behind; and
//! somebody, thread or process, who works beside the trial.

use super::not_made;
use kit::workers::Model;
use kit::{Result, Stop};
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::gate::SharedGate;
use sys::task::{Ended, Pid};

/// How often the trial looks whether a child died before it arrived.
const LOOK: Duration = Duration::from_millis(20);

/// A child that has arrived at its gate. One that is not waited for is killed.
#[derive(Debug)]
pub(crate) struct Child {
    pid: Pid,
    gate: SharedGate,
}

impl Child {
    /// Forks a child that lives `life`, in which it arrives at the gate, and waits until it has;
    /// `died` is the error where it ends before.
    pub(crate) fn fork(died: Stop, life: impl FnOnce(&SharedGate) -> i32) -> Result<Self> {
        let gate = SharedGate::new()?;
        let pid = sys::task::fork_run(|| life(&gate))?;
        let child = Child { pid, gate };
        if child.arrives(&child.gate)? { Ok(child) } else { Err(died) }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Waits until the child has arrived at a gate; false if it died instead.
    pub(crate) fn arrives(&self, gate: &SharedGate) -> Result<bool> {
        loop {
            if gate.arrived().load(Ordering::Acquire) != 0 {
                return Ok(true);
            }
            if sys::process::peek_exited(self.pid)? {
                // It may have arrived and died between the two looks; dead is dead.
                return Ok(false);
            }
            // A time-out or a spurious return: the loop looks again.
            let _ = sys::futex::wait_shared(gate.arrived(), 0, Some(LOOK));
        }
    }

    /// Lets it go.
    pub(crate) fn release(&self) {
        self.gate.open();
    }

    /// Lets it go, and waits for its end.
    pub(crate) fn end(self) -> Result<Ended> {
        self.release();
        Ok(sys::task::wait(self.pid)?)
    }
}

/// Makes a thread or a process that does `other`, does `own` in the calling thread meanwhile, and
/// waits for the other's end. `own` gets the process, if it is one.
pub(crate) fn beside<T>(
    model: Model,
    other: impl Fn() -> sys::Result<()> + Sync,
    own: impl FnOnce(Option<Pid>) -> Result<T>,
) -> Result<T> {
    if model == Model::Thread {
        return std::thread::scope(|scope| {
            let other =
                std::thread::Builder::new().spawn_scoped(scope, &other).map_err(not_made)?;
            let done = own(None);
            other.join().map_err(|_| Stop::failed("the thread beside this one panicked"))??;
            done
        });
    }
    let pid = sys::task::fork_run(|| i32::from(other().is_err()))?;
    let done = own(Some(pid));
    if done.is_err() {
        // It may be waiting for us. This fails only if it is gone already.
        let _ = sys::process::kill(pid, sys::signal::SIGKILL);
    }
    let ended = sys::task::wait(pid)?;
    match ended.code {
        Some(0) => done,
        _ => done.and(Err(Stop::failed(format!("the process beside this one ended: {ended:?}")))),
    }
}

/// Kills a child and takes it in, unless that was done: then its number is nobody's child of ours
/// any more.
pub(crate) fn end(pid: Pid) {
    if sys::process::peek_exited(pid).is_ok() {
        let _ = sys::process::kill(pid, sys::signal::SIGKILL);
        let _ = sys::task::wait(pid);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // After an error it must not be left; after success it is gone and reaped.
        end(self.pid);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::Child;
    use kit::Stop;
    use sys::gate::SharedGate;

    fn sharer(life: impl FnOnce(&SharedGate) -> i32) -> kit::Result<Child> {
        Child::fork(Stop::failed("it died"), life)
    }

    fn still(gate: &SharedGate) -> i32 {
        gate.arrive_and_wait();
        0
    }

    #[test]
    fn a_child_holds_still_and_is_taken_in() {
        let mut child = sharer(still).unwrap();
        let first = child.pid();
        child = sharer(still).unwrap();
        assert!(!sys::task::exists(first), "one that is replaced is killed and reaped");
        assert!(!sys::process::peek_exited(child.pid()).unwrap(), "it stands at its gate");
        let second = child.pid();
        assert_eq!(child.end().unwrap().code, Some(0));
        assert!(!sys::task::exists(second));
        drop(sharer(still).unwrap());
    }

    #[test]
    fn one_that_dies_on_the_way_is_an_error() {
        assert!(matches!(sharer(|_| 3), Err(Stop::Failed(why)) if why == "it died"));
    }
}
