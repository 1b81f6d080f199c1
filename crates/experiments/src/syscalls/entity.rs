//! What the traced child makes, again and again.

use crate::create::pool::{Futex, HOME, Handing};
use crate::create::thread::{FRESH_STACK_BYTES, small_stack_bytes};
use kit::NOOP;
use std::ffi::{CStr, CString, c_void};
use sys::task::{CloneStack, Pid};

/// The program that is executed: this one, which ends in its first statement when asked so.
const SELF: &CStr = c"/proc/self/exe";

/// A function that does the given number of operations, with a call of `mark` before each and after
/// the last. It runs in the traced child.
type Life = fn(usize, &mut dyn FnMut()) -> sys::Result<()>;

/// One kind of entity, as a level of the factor `entity`.
#[derive(Clone, Copy)]
pub(super) struct Entity {
    /// Makes and awaits them.
    pub(super) live: Life,
    /// Threads and processes that one operation makes.
    pub(super) makes: usize,
    /// Those that are made before the first.
    pub(super) made_before: usize,
}

const fn one(live: Life) -> Entity {
    Entity { live, makes: 1, made_before: 0 }
}

/// What each level of the factor `entity` makes.
pub(super) const ENTITIES: [(&str, Entity); 10] = [
    ("nothing", Entity { makes: 0, ..one(|count, mark| each(count, mark, || Ok(()))) }),
    ("pthread", one(|count, mark| each(count, mark, || joined(None)))),
    ("pthread_small_stack", one(small_stack)),
    ("pthread_fresh_stack", one(fresh_stack)),
    ("std_thread", one(std_thread)),
    ("fork", one(|count, mark| each(count, mark, || awaited(sys::task::fork_exit(false)?)))),
    ("vfork", one(|count, mark| each(count, mark, || awaited(sys::task::vfork_exit()?)))),
    ("clone_vm", one(clone_vm)),
    ("posix_spawn", one(posix_spawn)),
    ("pool_futex", Entity { live: pool, makes: 0, made_before: 1 }),
];

/// Marks, and does the operation, `count` times.
fn each(
    count: usize,
    mark: &mut dyn FnMut(),
    mut operation: impl FnMut() -> sys::Result<()>,
) -> sys::Result<()> {
    for _ in 0..count {
        mark();
        operation()?;
    }
    mark();
    Ok(())
}

fn small_stack(count: usize, mark: &mut dyn FnMut()) -> sys::Result<()> {
    let bytes = small_stack_bytes();
    each(count, mark, || joined(Some(bytes)))
}

fn fresh_stack(count: usize, mark: &mut dyn FnMut()) -> sys::Result<()> {
    each(count, mark, || joined(Some(FRESH_STACK_BYTES)))
}

fn joined(stack_bytes: Option<usize>) -> sys::Result<()> {
    sys::task::spawn_thread(stack_bytes, end_at_once, 0)?.join()
}

extern "C" fn end_at_once(_: *mut c_void) -> *mut c_void {
    std::ptr::null_mut()
}

fn std_thread(count: usize, mark: &mut dyn FnMut()) -> sys::Result<()> {
    each(count, mark, || {
        let spawned = std::thread::Builder::new().spawn(|| ());
        let thread = spawned.map_err(|error| {
            sys::Error::new("spawn of a thread", error.raw_os_error().unwrap_or(0))
        })?;
        // Its only error is a panic of the thread, which has no code to panic in.
        let _ = thread.join();
        Ok(())
    })
}

fn clone_vm(count: usize, mark: &mut dyn FnMut()) -> sys::Result<()> {
    let mut stack = CloneStack::new()?;
    each(count, mark, || awaited(sys::task::clone_vm_exit(&mut stack)?))
}

fn posix_spawn(count: usize, mark: &mut dyn FnMut()) -> sys::Result<()> {
    let word = CString::new(NOOP).unwrap_or_default();
    each(count, mark, || awaited(sys::task::spawn_program(SELF, &[&word])?))
}

/// Waits for a child, which must end with code 0.
fn awaited(pid: Pid) -> sys::Result<()> {
    let ended = sys::task::wait(pid)?;
    match ended.code {
        Some(0) => Ok(()),
        code => Err(sys::Error::new(format!("a child ended with {code:?}"), 0)),
    }
}

static POOL: Futex = Futex::new();

fn pool(count: usize, mark: &mut dyn FnMut()) -> sys::Result<()> {
    let thread = sys::task::spawn_thread(None, serve, 0)?;
    // It is there, and sleeps, before the first operation.
    hand_over(1)?;
    let mut job = 1;
    each(count, mark, || {
        job += 1;
        hand_over(job)
    })?;
    POOL.give(HOME)?;
    thread.join()
}

/// Hands a numbered job over, and sleeps until it is done.
fn hand_over(job: u32) -> sys::Result<()> {
    POOL.give(job)?;
    POOL.hear(job)
}

/// The life of the pool's thread. It has nobody to tell of an error, which is a spurious return.
extern "C" fn serve(_: *mut c_void) -> *mut c_void {
    let mut last = 0;
    while last != HOME {
        let Ok(job) = POOL.take(last) else { continue };
        last = job;
        if job != HOME {
            let _ = POOL.report(job);
        }
    }
    std::ptr::null_mut()
}
