//! The process's `malloc` and `free`, from any provider, and what glibc reports about its own.
//!
//! Another allocator takes the place of libc's by `LD_PRELOAD`: every call of `malloc` then
//! reaches it, this room's included. Who it is can be asked of the dynamic linker.

use crate::Result;
use std::cell::UnsafeCell;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// The least size of a block here: one word, which holds its stamp.
pub const LEAST_BYTES: usize = 8;

/// `malloc` and `free`, called through pointers.
///
/// A compiler that sees a pair of `malloc` and `free` whose block nobody needs deletes both; it
/// cannot know where these pointers lead. Whichever [`Allocator`] took a block, any may give it
/// back: all of them end in the process's one `malloc` and `free`.
#[derive(Clone, Copy, Debug)]
pub struct Allocator {
    malloc: unsafe extern "C" fn(usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
}

impl Allocator {
    /// The functions that this process has.
    pub fn of_process() -> Self {
        crate::black_box(Self { malloc: libc::malloc, free: libc::free })
    }

    /// The same functions, each call of either behind one and the same mutex of pthreads.
    pub fn behind_one_mutex() -> Self {
        crate::black_box(Self { malloc: malloc_behind_mutex, free: free_behind_mutex })
    }

    /// Allocates a block of `bytes` (at least [`LEAST_BYTES`]) and marks it; `None` where the
    /// allocator refuses.
    #[inline]
    pub fn take(&self, bytes: usize, stamp: u64) -> Option<Block> {
        let bytes = bytes.max(LEAST_BYTES);
        // SAFETY: `malloc` may be called with any size.
        let start = NonNull::new(unsafe { (self.malloc)(bytes) })?.cast();
        let mut block = Block { start, bytes };
        block.mark(bytes, stamp);
        Some(block)
    }

    /// Frees a block.
    #[inline]
    pub fn give(&self, block: Block) {
        // SAFETY: a block's start came from `malloc`, and a block has one owner: it is freed once.
        unsafe { (self.free)(block.start.as_ptr().cast()) };
    }
}

/// The mutex of [`Allocator::behind_one_mutex`].
struct Mutex(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: a mutex is made to be used from several threads.
unsafe impl Sync for Mutex {}

static MUTEX: Mutex = Mutex(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));

/// # Safety
/// None beyond that of `malloc`, which has no conditions.
unsafe extern "C" fn malloc_behind_mutex(bytes: usize) -> *mut c_void {
    // SAFETY: the mutex is initialised and never moves. Its default kind has no error that could
    // occur: the thread that holds it takes no second hold of it.
    unsafe { libc::pthread_mutex_lock(MUTEX.0.get()) };
    // SAFETY: any size may be asked for.
    let start = unsafe { libc::malloc(bytes) };
    // SAFETY: locked above by this thread.
    unsafe { libc::pthread_mutex_unlock(MUTEX.0.get()) };
    start
}

/// # Safety
/// As `free`: `start` came from `malloc` and is not used any more.
unsafe extern "C" fn free_behind_mutex(start: *mut c_void) {
    // SAFETY: as in `malloc_behind_mutex`.
    unsafe { libc::pthread_mutex_lock(MUTEX.0.get()) };
    // SAFETY: the caller's promise.
    unsafe { libc::free(start) };
    // SAFETY: locked above by this thread.
    unsafe { libc::pthread_mutex_unlock(MUTEX.0.get()) };
}

/// A block from `malloc`, with a stamp in its first word. One that is dropped instead of given
/// back is lost until the process ends.
#[derive(Debug)]
#[must_use = "a block that is dropped is leaked"]
pub struct Block {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a block is a range of memory that belongs to its owner alone; `free` may be called on
// another thread than `malloc`.
unsafe impl Send for Block {}
// SAFETY: what a shared reference can do is atomic, or asks the allocator, which may be asked from
// any thread (`malloc_usable_size` is MT-Safe).
unsafe impl Sync for Block {}

impl Block {
    /// Writes the last of `bytes` bytes and then the stamp, as a program that uses its block
    /// from end to end. More bytes than the block has count as all of it.
    #[inline]
    pub fn mark(&mut self, bytes: usize, stamp: u64) {
        let last = bytes.clamp(LEAST_BYTES, self.bytes) - 1;
        // SAFETY: inside the block, which is ours and exclusively borrowed. Volatile, so that the
        // writes are made although nobody may read them.
        unsafe { self.start.as_ptr().add(last).write_volatile(stamp as u8) };
        // SAFETY: every block has a first word, and `malloc` aligns it.
        unsafe { self.start.as_ptr().cast::<u64>().write_volatile(stamp) };
    }

    /// The stamp, as it is in memory now.
    #[inline]
    pub fn stamp(&self) -> u64 {
        self.word().load(Ordering::Relaxed)
    }

    /// The first word, as a counter.
    #[inline]
    pub fn word(&self) -> &AtomicU64 {
        // SAFETY: the word is aligned, initialised, and lives as long as the block is borrowed;
        // `mark` needs an exclusive borrow, so no access beside it is not atomic.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().cast()) }
    }

    /// Where it begins.
    pub fn address(&self) -> usize {
        self.start.as_ptr().addr()
    }

    /// The bytes that may be used, at least as many as were asked for.
    pub fn usable_bytes(&self) -> usize {
        // SAFETY: the block came from `malloc` and was not given back.
        unsafe { libc::malloc_usable_size(self.start.as_ptr().cast()) }
    }
}

/// A place where one thread leaves a block and another finds it.
#[derive(Debug, Default)]
pub struct Slot(AtomicPtr<u8>);

impl Slot {
    /// Leaves a block.
    ///
    /// # Errors
    /// The block itself, where the slot is full.
    #[inline]
    pub fn put(&self, block: Block) -> std::result::Result<(), Block> {
        let start = block.start.as_ptr();
        let empty = std::ptr::null_mut();
        match self.0.compare_exchange(empty, start, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            Err(_) => Err(block),
        }
    }

    /// Takes the block, if one is there. Its size is forgotten on the way: of what it has, only
    /// the stamp can still be marked.
    #[inline]
    pub fn take(&self) -> Option<Block> {
        // Looking first leaves the line to the other side while there is nothing.
        if self.0.load(Ordering::Relaxed).is_null() {
            return None;
        }
        let start = NonNull::new(self.0.swap(std::ptr::null_mut(), Ordering::Acquire))?;
        Some(Block { start, bytes: LEAST_BYTES })
    }
}

/// The file from which the process has a function; `None` where no library exports it.
pub fn library_of(symbol: &CStr) -> Option<PathBuf> {
    let address = address_of(symbol)?;
    // SAFETY: all-zero bytes are a valid Dl_info: it holds pointers only.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the address may be any; `info` is ours and outlives the call.
    let found = unsafe { libc::dladdr(address.as_ptr(), &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a terminated string that lives as long as the library is loaded, and no library is
    // unloaded here.
    let path = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(path.to_bytes())))
}

fn address_of(symbol: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: looks a name up among what is loaded.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) })
}

/// The version of jemalloc, if it is loaded.
pub fn jemalloc_version() -> Option<String> {
    type Mallctl =
        extern "C" fn(*const c_char, *mut *const c_char, *mut usize, *mut c_void, usize) -> c_int;
    let address = address_of(c"mallctl")?;
    // SAFETY: jemalloc(3) documents this type of `mallctl`; nobody else exports the name.
    let mallctl: Mallctl = unsafe { std::mem::transmute(address) };
    let mut version: *const c_char = std::ptr::null();
    let mut bytes = size_of::<*const c_char>();
    let errno =
        mallctl(c"version".as_ptr(), &raw mut version, &raw mut bytes, std::ptr::null_mut(), 0);
    if errno != 0 || version.is_null() {
        return None;
    }
    // SAFETY: jemalloc's own constant, a terminated string.
    Some(unsafe { CStr::from_ptr(version) }.to_string_lossy().into_owned())
}

/// The version of mimalloc, if it is loaded: 209 is 2.0.9.
pub fn mimalloc_version() -> Option<String> {
    let address = address_of(c"mi_version")?;
    // SAFETY: mimalloc.h declares it so; nobody else exports the name.
    let version: extern "C" fn() -> c_int = unsafe { std::mem::transmute(address) };
    Some(version().to_string())
}

/// The version of gperftools' tcmalloc, if it is loaded.
pub fn tcmalloc_version() -> Option<String> {
    type Version = extern "C" fn(*mut c_int, *mut c_int, *mut *const c_char) -> *const c_char;
    let address = address_of(c"tc_version")?;
    // SAFETY: gperftools/tcmalloc.h declares it so; nobody else exports the name.
    let version: Version = unsafe { std::mem::transmute(address) };
    let null = std::ptr::null_mut;
    // Its own code looks whether the pointers are null.
    let version = version(null(), null(), std::ptr::null_mut());
    // SAFETY: a constant, terminated string.
    (!version.is_null()).then(|| unsafe { CStr::from_ptr(version) }.to_string_lossy().into_owned())
}

/// How many arenas glibc's malloc has, the main one included (`malloc_info`).
///
/// # Errors
/// `ENOMEM`; unsupported with another C library.
#[cfg(target_env = "gnu")]
pub fn glibc_arenas() -> Result<usize> {
    let mut text: *mut c_char = std::ptr::null_mut();
    let mut bytes = 0_usize;
    // SAFETY: both outlive the stream, which is closed below.
    let stream = unsafe { libc::open_memstream(&raw mut text, &raw mut bytes) };
    if stream.is_null() {
        return Err(crate::Error::new("open_memstream", crate::error::last_errno()));
    }
    // SAFETY: the stream is open.
    let written = unsafe { libc::malloc_info(0, stream) };
    // SAFETY: the stream is open and not used afterwards.
    let closed = unsafe { libc::fclose(stream) };
    if text.is_null() {
        return Err(crate::Error::new("malloc_info", libc::ENOMEM));
    }
    // SAFETY: once closed, the stream has left `bytes` bytes at `text`.
    let xml = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), bytes) };
    let arenas = count_heaps(&String::from_utf8_lossy(xml));
    // SAFETY: open_memstream allocated it with malloc, and nobody refers to it any more.
    unsafe { libc::free(text.cast()) };
    match (written, closed, arenas) {
        (0, 0, 1..) => Ok(arenas),
        _ => Err(crate::Error::unreadable("malloc_info", "it lists no arena")),
    }
}

/// As above.
///
/// # Errors
/// Always.
#[cfg(not(target_env = "gnu"))]
pub fn glibc_arenas() -> Result<usize> {
    crate::machine::glibc_version().map(|_| 0)
}

/// The arenas that the XML of `malloc_info` lists.
#[cfg(any(target_env = "gnu", test))]
fn count_heaps(xml: &str) -> usize {
    xml.matches("<heap nr=").count()
}

/// Whether glibc's malloc keeps freed blocks in a cache of the thread (tcache): then a block that
/// is freed still counts as in use by its arena. Ask while no other thread allocates. `None` with
/// another C library.
pub fn glibc_caches_per_thread() -> Option<bool> {
    #[cfg(target_env = "gnu")]
    {
        // Too large for the lists of smallest blocks ("fastbins"), which also count as in use.
        const BYTES: usize = 700;
        let allocator = Allocator::of_process();
        let block = allocator.take(BYTES, 0)?;
        // SAFETY: takes no argument and returns numbers.
        let held = unsafe { libc::mallinfo() }.uordblks;
        allocator.give(block);
        // SAFETY: as above.
        let given_back = unsafe { libc::mallinfo() }.uordblks;
        Some(held == given_back)
    }
    #[cfg(not(target_env = "gnu"))]
    {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_keep_their_stamps_and_can_be_given_back_by_either() {
        let (plain, guarded) = (Allocator::of_process(), Allocator::behind_one_mutex());
        let mut blocks: Vec<(Block, u64)> = (0..1000)
            .map(|stamp: u64| {
                let from = if stamp.is_multiple_of(2) { plain } else { guarded };
                (from.take(stamp as usize, stamp).unwrap(), stamp)
            })
            .collect();
        for (index, (block, stamp)) in blocks.iter_mut().enumerate() {
            assert_eq!(block.stamp(), *stamp);
            assert_eq!(block.address() % 8, 0);
            assert!(block.usable_bytes() >= index.max(LEAST_BYTES));
            block.mark(usize::MAX, !*stamp);
            assert_eq!(block.stamp(), !*stamp);
        }
        for (index, (block, _)) in blocks.into_iter().enumerate() {
            if index % 3 == 0 { plain.give(block) } else { guarded.give(block) }
        }
    }

    #[test]
    fn what_cannot_be_had_is_none() {
        assert!(Allocator::of_process().take(isize::MAX as usize, 0).is_none());
        assert!(Allocator::behind_one_mutex().take(isize::MAX as usize, 0).is_none());
    }

    #[test]
    fn a_slot_holds_one_block_and_hands_it_to_another_thread() {
        let allocator = Allocator::of_process();
        let slot = Slot::default();
        assert!(slot.take().is_none());
        slot.put(allocator.take(64, 1).unwrap()).unwrap();
        let refused = slot.put(allocator.take(64, 2).unwrap()).unwrap_err();
        assert_eq!(refused.stamp(), 2);
        allocator.give(refused);
        let found = std::thread::scope(|scope| {
            scope.spawn(|| slot.take().map(|block| (block.stamp(), block))).join().unwrap()
        });
        let (stamp, block) = found.unwrap();
        assert_eq!(stamp, 1);
        allocator.give(block);
        assert!(slot.take().is_none());
    }

    #[test]
    fn a_block_is_a_counter_for_two_threads() {
        let allocator = Allocator::of_process();
        let block = allocator.take(8, 0).unwrap();
        let word = block.word();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        word.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(block.stamp(), 2000);
        allocator.give(block);
    }

    #[test]
    fn the_linker_knows_whose_a_function_is() {
        let libc = library_of(c"malloc").unwrap();
        assert_eq!(library_of(c"free"), Some(libc));
        assert_eq!(library_of(c"no_library_has_this_name"), None);
    }

    #[test]
    fn arenas_are_counted() {
        assert_eq!(count_heaps("<malloc><heap nr=\"0\">\n</heap><heap nr=\"1\"></heap>"), 2);
        assert_eq!(count_heaps(""), 0);
        if cfg!(target_env = "gnu") {
            assert!(glibc_arenas().unwrap() >= 1);
        }
    }

    #[test]
    fn what_is_not_loaded_has_no_version() {
        // The tests run with libc's own allocator.
        assert_eq!(jemalloc_version().is_some(), library_of(c"mallctl").is_some());
        assert_eq!(mimalloc_version().is_some(), library_of(c"mi_version").is_some());
        assert_eq!(tcmalloc_version().is_some(), library_of(c"tc_version").is_some());
    }
}
