//! What the tests of this room share.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with a count of what each thread holds: that a parser takes no more
/// room than its text is a number here, and not a hope.
struct Counted;

#[global_allocator]
static ALLOCATOR: Counted = Counted;

thread_local! {
    /// Bytes that this thread allocated and did not give back; negative if it gave back others'.
    static HELD: Cell<isize> = const { Cell::new(0) };
    /// The most of them since [`most_held`] began to look.
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// Cells without a destructor need no allocation, so they may be used in here.
fn count(bytes: isize) {
    HELD.set(HELD.get() + bytes);
    MOST.set(MOST.get().max(HELD.get()));
}

// SAFETY: every call goes to the system's allocator as it came; the counting touches two plain
// cells of the calling thread and neither allocates nor unwinds (sums of sizes that are held at the
// same time do not overflow).
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promises are the ones that are asked for here.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize);
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }
}

/// The most bytes that `work` held at one time, beyond what this thread held before.
pub(crate) fn most_held(work: impl FnOnce()) -> usize {
    let before = HELD.get();
    MOST.set(before);
    work();
    usize::try_from(MOST.get() - before).unwrap_or(0)
}

/// Runs `work` in a child of its own, so that limits, groups and signal
/// handlers of the test process stay as they are; fails where `work` panics or
/// takes longer than 30 s.
pub(crate) fn in_child(work: impl FnOnce()) {
    SPEAKING_CHILDREN.call_once(let_children_speak);
    let child = crate::task::fork_run(|| {
        // SAFETY: an alarm ends the child should it ever stand still.
        unsafe { libc::alarm(30) };
        work();
        0
    })
    .unwrap();
    let ended = crate::task::wait(child).unwrap();
    assert_eq!((ended.code, ended.signal), (Some(0), None), "the work in the child failed");
}

static SPEAKING_CHILDREN: std::sync::Once = std::sync::Once::new();

/// The test harness keeps a panic's words in a buffer, which ends with a child:
/// children write theirs to the descriptor. The hook is set in the parent, once:
/// a child might wait for ever for the lock that another thread held at the fork.
fn let_children_speak() {
    let parent = crate::process::pid();
    let earlier = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |what| {
        if crate::process::pid() == parent {
            earlier(what);
        } else {
            let _ = std::fs::write("/proc/self/fd/2", format!("in a child: {what}\n"));
        }
    }));
}

/// Waits until `condition` holds; fails after 20 s.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(start.elapsed().as_secs() < 20, "{what} did not happen");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}
