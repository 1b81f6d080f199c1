//! Threads, with the stacks that decide what they cost.

use super::timing::{Tally, Times, refused, timed};
use kit::{Result, Stop, Trial};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use sys::clock::now_ns;

/// What one means by a small stack. A CPU with wide registers may need more.
const SMALL_STACK_BYTES: usize = 16 * 1024;

/// More than glibc keeps of ended threads (40 MiB in all), so that each thread's stack is mapped
/// when it is created and unmapped when it has ended.
pub(crate) const FRESH_STACK_BYTES: usize = 64 << 20;

/// Room beyond the size asked for: the kernel rounds, and libc puts the thread's own data there.
const STACK_SPARE_BYTES: u64 = 128 * 1024;

/// Threads that have lived.
static LIVED: AtomicU64 = AtomicU64::new(0);

/// The smallest stack there is.
pub(crate) fn small_stack_bytes() -> usize {
    SMALL_STACK_BYTES.max(sys::task::smallest_stack_bytes())
}

/// With a stack of that size, or the default one.
pub(super) fn measure(trial: &mut Trial<'_>, stack_bytes: Option<usize>) -> Result<Tally> {
    let found = stack_of_a_thread(stack_bytes)?;
    trial.observe("stack_bytes", found);
    if let Some(asked) = stack_bytes {
        let asked = asked as u64;
        let high = (asked + STACK_SPARE_BYTES) as f64;
        trial.check("size of the stack in bytes", found as f64, asked as f64, high);
    }
    LIVED.store(0, Ordering::Relaxed);
    let tally = timed(trial, || joined(stack_bytes))?;
    Ok(Tally { lived: Some(LIVED.load(Ordering::Relaxed)), ..tally })
}

/// Creates one thread and waits until it has ended.
pub(super) fn joined(stack_bytes: Option<usize>) -> Result<Times> {
    let start_ns = now_ns();
    let thread = sys::task::spawn_thread(stack_bytes, live, 0).map_err(refused)?;
    let made_ns = now_ns();
    thread.join()?;
    Ok(Times { start_ns, made_ns, over_ns: now_ns() })
}

/// The life of a thread that is timed: it shows that it was.
extern "C" fn live(_: *mut c_void) -> *mut c_void {
    LIVED.fetch_add(1, Ordering::Relaxed);
    std::ptr::null_mut()
}

/// Where a thread that is looked at says on which address it stands.
static STANDS_AT: AtomicUsize = AtomicUsize::new(0);

/// 0 until that thread has spoken, 1 until it may go, then 2.
static LOOKED_AT: AtomicU32 = AtomicU32::new(0);

/// The size of the mapping on which a thread with such a stack stands, in bytes.
pub(super) fn stack_of_a_thread(stack_bytes: Option<usize>) -> Result<u64> {
    LOOKED_AT.store(0, Ordering::SeqCst);
    let thread = sys::task::spawn_thread(stack_bytes, stand_still, 0).map_err(refused)?;
    while LOOKED_AT.load(Ordering::SeqCst) == 0 {
        sys::futex::wait(&LOOKED_AT, 0, None)?;
    }
    let maps = std::fs::read_to_string("/proc/self/maps");
    LOOKED_AT.store(2, Ordering::SeqCst);
    sys::futex::wake(&LOOKED_AT, 1)?;
    thread.join()?;
    let address = STANDS_AT.load(Ordering::SeqCst);
    let maps = maps.map_err(|error| {
        Stop::unsupported(format!("the stack cannot be verified by /proc/self/maps: {error}"))
    })?;
    mapping_around(&maps, address as u64)
        .ok_or_else(|| Stop::failed("a thread's stack is not listed in /proc/self/maps"))
}

extern "C" fn stand_still(_: *mut c_void) -> *mut c_void {
    let here = 0_u8;
    STANDS_AT.store(std::ptr::from_ref(sys::black_box(&here)).addr(), Ordering::SeqCst);
    LOOKED_AT.store(1, Ordering::SeqCst);
    // An error can only be a spurious return here; the loop looks again.
    let _ = sys::futex::wake(&LOOKED_AT, 1);
    while LOOKED_AT.load(Ordering::SeqCst) != 2 {
        let _ = sys::futex::wait(&LOOKED_AT, 1, None);
    }
    std::ptr::null_mut()
}

/// The size of the mapping that holds an address, from the text of /proc/PID/maps.
pub(super) fn mapping_around(maps: &str, address: u64) -> Option<u64> {
    maps.lines().find_map(|line| {
        let (from, to) = sys::pages::mapping_range(line)?;
        (from <= address && address < to).then(|| to - from)
    })
}
