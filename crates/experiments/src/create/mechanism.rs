//! The ways to bring an entity into being, each with what must be seen of it.

use super::parent::Placement;
use super::pool::{self, Condvar, Futex};
use super::thread::{self, FRESH_STACK_BYTES};
use super::timing::{Tally, Times, refused, timed};
use kit::{NOOP, Result, Stop, Trial};
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use sys::clock::now_ns;
use sys::pages::{Huge, Mapping};
use sys::task::{CloneStack, Pid};

/// This program, which ends in its first statement when asked so.
const SELF: &CStr = c"/proc/self/exe";

/// The smallest program, in the trial's own folder.
const SMALLEST: &CStr = c"./smallest";

/// One way, as a level of the factor `mechanism`.
#[derive(Clone, Copy)]
pub(super) struct Mechanism {
    /// Creates and awaits entities until the time is over.
    pub(super) measure: fn(&mut Trial<'_>, Option<u32>) -> Result<Tally>,
    /// What must be seen.
    pub(super) expected: Expected,
}

/// What must be counted per operation, as ranges, on one CPU. The ranges are wide, since
/// neighbours add preemptions; they tell a mechanism that did its work from one that did not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Expected {
    /// Context switches of both sides.
    pub(super) switches: (f64, f64),
    /// Faults of the parent, of its threads included.
    pub(super) parent_faults: (f64, f64),
    /// Faults of child processes.
    pub(super) child_faults: (f64, f64),
}

/// Fewer than one in two operations.
const RARELY: (f64, f64) = (0.0, 0.5);

impl Expected {
    /// Expects `low` to `high` switches, and no faults.
    const fn switches(low: f64, high: f64) -> Self {
        Expected { switches: (low, high), parent_faults: RARELY, child_faults: RARELY }
    }

    /// With faults of the parent.
    const fn parent(self, low: f64, high: f64) -> Self {
        Expected { parent_faults: (low, high), ..self }
    }

    /// With faults of the child.
    const fn child(self, low: f64, high: f64) -> Self {
        Expected { child_faults: (low, high), ..self }
    }

    /// The same where both sides need not share one CPU: the waiting side may find that all is
    /// over before it has gone to sleep.
    pub(super) fn at(self, placement: Placement) -> Self {
        match placement {
            Placement::Same => self,
            Placement::Other(_) | Placement::Free => {
                Expected { switches: (0.0, self.switches.1), ..self }
            }
        }
    }
}

/// A function call: a preemption now and then.
const CALL: Expected = Expected::switches(0.0, 0.5);

/// A write to a page that was given back.
const FAULT: Expected = CALL.parent(0.9, 2.0);

/// The thread gets the CPU, and gives it back. The stack is new, so its pages are: at least the one that the
/// thread begins on.
const FRESH: Expected = HANDED.parent(1.0, 50.0);

/// Its stack is one that glibc kept, touched already; musl keeps none.
const THREAD: Expected = if cfg!(target_env = "gnu") { HANDED } else { FRESH };

/// Another task gets the CPU, and gives it back.
const HANDED: Expected = Expected::switches(0.9, 5.0);

/// A child on a copy of the memory: both sides write to their stacks and fault. Large memory adds
/// no fault, but the parent's page tables are write-protected again at each fork.
const COPY: Expected = Expected::switches(0.9, 8.0).parent(1.0, 50.0).child(1.0, 100.0);

/// The same without libc: the child writes nothing and only brings in the pages that it runs on,
/// which are fewer than what libc's child touches.
const BARE_COPY: Expected = COPY.child(1.0, 7.0);

/// A child that shares the memory writes nothing.
const SHARED: Expected = Expected::switches(0.9, 8.0);

/// A new program builds its memory anew: a page for its code and some for its stack at least.
const PROGRAM: Expected = Expected::switches(0.9, 50.0).parent(0.0, 50.0).child(1.0, 100.0);

/// The dynamic linker touches the pages of a large program.
const OWN_PROGRAM: Expected = PROGRAM.child(10.0, 10_000.0);

/// There and back.
const HAND_OFF: Expected = Expected::switches(1.5, 8.0);

const fn by(
    measure: fn(&mut Trial, Option<u32>) -> Result<Tally>,
    expected: Expected,
) -> Mechanism {
    Mechanism { measure, expected }
}

/// What each level of the factor `mechanism` does.
pub(super) const MECHANISMS: [(&str, Mechanism); 16] = [
    ("call", by(call, CALL)),
    ("entry", by(entry, CALL)),
    ("fault", by(fault, FAULT)),
    ("pthread", by(|trial, _| thread::measure(trial, None), THREAD)),
    (
        "pthread_small_stack",
        by(|trial, _| thread::measure(trial, Some(thread::small_stack_bytes())), THREAD),
    ),
    ("pthread_fresh_stack", by(fresh_stack, FRESH)),
    ("fork", by(|trial, _| timed(trial, || awaited(|| sys::task::fork_exit(false))), COPY)),
    ("fork_exit", by(|trial, _| timed(trial, || awaited(|| sys::task::fork_exit(true))), COPY)),
    ("clone_copy", by(|trial, _| timed(trial, || awaited(sys::task::clone_fork_exit)), BARE_COPY)),
    ("vfork", by(|trial, _| timed(trial, || awaited(sys::task::vfork_exit)), SHARED)),
    ("clone_vm", by(clone_vm, SHARED)),
    ("posix_spawn", by(|trial, _| own_program(trial, sys::task::spawn_program), OWN_PROGRAM)),
    (
        "fork_exec",
        by(|trial, _| own_program(trial, sys::task::fork_exec), OWN_PROGRAM.parent(1.0, 50.0)),
    ),
    ("posix_spawn_small", by(smallest, PROGRAM)),
    ("pool_futex", by(|trial, place| pool::measure(trial, place, &Futex::new()), HAND_OFF)),
    ("pool_condvar", by(|trial, place| pool::measure(trial, place, &Condvar::default()), HAND_OFF)),
];

/// Where no stack is kept it would be the same as the default one.
fn fresh_stack(trial: &mut Trial<'_>, _: Option<u32>) -> Result<Tally> {
    sys::machine::glibc_version()?;
    thread::measure(trial, Some(FRESH_STACK_BYTES))
}

fn call(trial: &mut Trial<'_>, _: Option<u32>) -> Result<Tally> {
    timed(trial, || {
        let start_ns = now_ns();
        sys::syscall::plain_call(start_ns);
        let made_ns = now_ns();
        Ok(Times { start_ns, made_ns, over_ns: now_ns() })
    })
}

/// A system call that does next to nothing in the kernel.
fn entry(trial: &mut Trial<'_>, _: Option<u32>) -> Result<Tally> {
    timed(trial, || {
        let start_ns = now_ns();
        sys::syscall::getppid();
        let made_ns = now_ns();
        Ok(Times { start_ns, made_ns, over_ns: now_ns() })
    })
}

/// A page fault: the kernel finds a page, clears it and maps it. A fault that copies a page
/// instead, as after a fork, does nearly the same.
fn fault(trial: &mut Trial<'_>, _: Option<u32>) -> Result<Tally> {
    let page = sys::pages::page_bytes();
    let mut memory = Mapping::new(page, Huge::Never)?;
    timed(trial, || {
        // The page goes back before the clock is read, so that the next write must fault. It is
        // the page that the kernel hands out again: recycled memory, not fresh from a host.
        memory.discard()?;
        let start_ns = now_ns();
        memory.touch(page);
        let made_ns = now_ns();
        Ok(Times { start_ns, made_ns, over_ns: now_ns() })
    })
}

fn clone_vm(trial: &mut Trial<'_>, _: Option<u32>) -> Result<Tally> {
    let mut stack = CloneStack::new()?;
    timed(trial, || awaited(|| sys::task::clone_vm_exit(&mut stack)))
}

/// A way to start a program, given its path and arguments.
type Start = fn(&CStr, &[&CStr]) -> sys::Result<Pid>;

/// Starts the smallest program there is.
fn smallest(trial: &mut Trial<'_>, _: Option<u32>) -> Result<Tally> {
    sys::task::write_smallest_program(Path::new(OsStr::from_bytes(SMALLEST.to_bytes())))?;
    timed(trial, || awaited(|| sys::task::spawn_program(SMALLEST, &[])))
}

/// Starts this program, with the argument that makes it end at once.
fn own_program(trial: &mut Trial<'_>, start: Start) -> Result<Tally> {
    let noop = CString::new(NOOP).map_err(|_| Stop::failed("the argument holds a zero byte"))?;
    timed(trial, || awaited(|| start(SELF, &[&noop])))
}

/// Creates one child and waits until it has ended with code 0.
pub(super) fn awaited(make: impl FnOnce() -> sys::Result<Pid>) -> Result<Times> {
    let start_ns = now_ns();
    let pid = make().map_err(refused)?;
    let made_ns = now_ns();
    let ended = sys::task::wait(pid)?;
    let over_ns = now_ns();
    match ended.code {
        Some(0) => Ok(Times { start_ns, made_ns, over_ns }),
        Some(code) => Err(Stop::failed(format!("a child ended with code {code} instead of 0"))),
        None => {
            let signal = ended.signal.unwrap_or(0);
            Err(Stop::failed(format!("signal {signal} ended a child")))
        }
    }
}
