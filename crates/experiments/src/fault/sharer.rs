//! A child that does nothing but hold the copy of its parent's memory that fork gave it.

use kit::Stop;
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::gate::SharedGate;
use sys::task::Pid;

/// How often the parent looks whether the child died instead of arriving.
const LOOK: Duration = Duration::from_millis(20);

/// Makes such children, one at a time.
#[derive(Debug)]
pub(super) struct Sharer {
    gate: SharedGate,
    child: Option<Pid>,
}

impl Sharer {
    /// Nobody shares yet.
    pub(super) fn new() -> Result<Self, Stop> {
        Ok(Sharer { gate: SharedGate::new()?, child: None })
    }

    /// Forks a child and waits until it stands still, so that it takes no CPU and no copy later.
    pub(super) fn share(&mut self) -> Result<(), Stop> {
        self.end()?;
        self.gate.arrived().store(0, Ordering::Release);
        self.gate.released().store(0, Ordering::Release);
        let gate = &self.gate;
        let child = sys::task::fork_run(|| {
            gate.arrived().store(1, Ordering::Release);
            // An error of these is a spurious return: both sides look at the words.
            let _ = sys::futex::wake_shared(gate.arrived(), 1);
            while gate.released().load(Ordering::Acquire) == 0 {
                let _ = sys::futex::wait_shared(gate.released(), 0, None);
            }
            0
        })?;
        self.child = Some(child);
        while self.gate.arrived().load(Ordering::Acquire) == 0 {
            if sys::process::peek_exited(child)? {
                return Err(Stop::failed("the child that was to share the memory died"));
            }
            let _ = sys::futex::wait_shared(self.gate.arrived(), 0, Some(LOOK));
        }
        Ok(())
    }

    /// Lets the child go and waits for its end.
    pub(super) fn end(&mut self) -> Result<(), Stop> {
        let Some(child) = self.child.take() else { return Ok(()) };
        self.gate.released().store(1, Ordering::Release);
        let _ = sys::futex::wake_shared(self.gate.released(), 1);
        let ended = sys::task::wait(child)?;
        match ended.code {
            Some(0) => Ok(()),
            _ => Err(Stop::failed("the child that shared the memory did not end well")),
        }
    }
}

impl Drop for Sharer {
    fn drop(&mut self) {
        if let Some(child) = self.child.take() {
            let _ = sys::process::kill(child, sys::signal::SIGKILL);
            let _ = sys::task::wait(child);
        }
    }
}
