//! The variable of the main thread, on a page of its own.

use super::worker::Worker;
use kit::{Result, Stop};
use std::sync::atomic::AtomicU64;
use sys::pagemap::Backing;
use sys::pages::SharedWords;

/// The largest page that any Linux uses for a stack.
const PAGE_BYTES_MAX: usize = 64 << 10;

/// Words of two such pages: one page of whatever size lies wholly within them, wherever they begin.
const WORDS: usize = 2 * PAGE_BYTES_MAX / size_of::<u64>();

/// Room for the variable in the frame of the function that holds this.
///
/// After a fork the first write to any byte of a page copies the page, and a running function
/// writes to its stack all the time: a variable among others would be copied before anybody has
/// written to *it*. So it has a page of the stack to itself.
pub(super) struct Room([AtomicU64; WORDS]);

impl Room {
    pub(super) const fn new() -> Self {
        Room([const { AtomicU64::new(0) }; WORDS])
    }

    /// The word that has a page to itself.
    pub(super) fn alone(&self) -> &AtomicU64 {
        &self.0[alone(address(&self.0[0]), sys::pages::page_bytes())]
    }
}

/// The variable for such a worker: in the room on the stack, or in shared memory.
pub(super) fn variable<'a>(
    worker: Worker,
    room: &'a Room,
    shared: &'a SharedWords,
) -> &'a AtomicU64 {
    match worker {
        Worker::Thread | Worker::Process => room.alone(),
        Worker::SharingProcess => &shared.words()[0],
    }
}

/// The first word, counted from `start`, of the first whole page after it.
pub(super) fn alone(start: usize, page_bytes: usize) -> usize {
    (start.next_multiple_of(page_bytes) - start) / size_of::<u64>()
}

/// The variable's virtual address.
pub(super) fn address(variable: &AtomicU64) -> usize {
    std::ptr::from_ref(variable).addr()
}

/// What stands behind it, as this process sees it; `None` where nothing is in memory.
pub(super) fn backing(variable: &AtomicU64) -> Result<Option<Backing>> {
    sys::pagemap::backing(address(variable)).map_err(|error| {
        Stop::unsupported(format!("{error}: physical pages cannot be distinguished here"))
    })
}

/// Whether an address lies on the main thread's stack, from the text of /proc/PID/maps.
pub(super) fn is_on_stack(maps: &str, address: u64) -> bool {
    maps.lines().filter(|line| line.ends_with("[stack]")).any(|line| {
        let range = sys::pages::mapping_range(line);
        range.is_some_and(|(from, to)| from <= address && address < to)
    })
}
