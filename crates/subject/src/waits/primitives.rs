//! Which functions and system calls wait for what.

use model::GOROUTINES;
use model::WaitKind::{self, Barrier, Child, Hidden, Lock, Signal, Storage, Thread, Timer};

/// How to find what a system call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// This, whatever its arguments.
    Is(WaitKind, &'static str),
    /// The file of its first argument.
    File,
    /// Whatever its first argument is.
    Descriptor,
    /// What an epoll descriptor watches.
    Epoll,
    /// The descriptors in memory; none of them is a timer.
    Poll,
    /// A number of descriptors; none of them is a timer.
    Select,
    /// The lock of a file.
    FileLock,
    /// The address space.
    Memory,
    /// Something else.
    Other,
}

/// Returns how to find what a system call waits for; `None` is a page fault.
pub(super) fn of_call(name: Option<&str>) -> Call {
    match name {
        None => Call::Memory,
        Some(name) => match name {
            "nanosleep" | "clock_nanosleep" => Call::Is(Timer, "a sleep"),
            "wait4" | "waitid" | "vfork" | "clone" | "clone3" => Call::Is(Child, ""),
            "pause" | "rt_sigsuspend" | "rt_sigtimedwait" => Call::Is(Signal, "a signal"),
            "semop" | "semtimedop" => Call::Is(Signal, "a System V semaphore"),
            "msgrcv" | "msgsnd" | "mq_timedreceive" | "mq_timedsend" => {
                Call::Is(Signal, "a message queue")
            }
            "fsync" | "fdatasync" | "sync_file_range" | "syncfs" | "fallocate" | "ftruncate"
            | "getdents64" => Call::File,
            "unlink" | "unlinkat" | "rename" | "renameat" | "renameat2" | "mkdir" | "mkdirat"
            | "rmdir" | "link" | "linkat" | "symlink" | "symlinkat" | "truncate" => {
                Call::Is(Storage, "a change of a folder")
            }
            "sync" | "msync" | "io_getevents" | "io_uring_enter" => Call::Is(Storage, ""),
            "read" | "readv" | "pread64" | "preadv" | "preadv2" | "write" | "writev"
            | "pwrite64" | "pwritev" | "pwritev2" | "recvfrom" | "recvmsg" | "recvmmsg"
            | "sendto" | "sendmsg" | "sendmmsg" | "accept" | "accept4" | "connect" | "splice"
            | "sendfile" | "copy_file_range" => Call::Descriptor,
            "epoll_wait" | "epoll_pwait" | "epoll_pwait2" => Call::Epoll,
            "poll" | "ppoll" => Call::Poll,
            "select" | "pselect6" => Call::Select,
            "flock" | "fcntl" => Call::FileLock,
            "mmap" | "munmap" | "mprotect" | "mremap" | "brk" | "madvise" => Call::Memory,
            _ => Call::Other,
        },
    }
}

/// A part of a symbol, what its function waits for, and how that is called.
pub(super) type Row = (&'static str, WaitKind, &'static str);

/// Functions of languages' runtimes, found anywhere on a stack: they call those below.
pub(super) const RUNTIMES: [Row; 16] = [
    ("take_gil", Lock, GIL),
    ("PyThread_acquire_lock_timed", Hidden, "a lock, condition or queue of Python"),
    ("SemLock_acquire", Hidden, "a lock, semaphore or queue of multiprocessing"),
    ("ObjectMonitor5enter", Lock, "a Java monitor (synchronized)"),
    ("ObjectMonitor6EnterI", Lock, "a Java monitor (synchronized)"),
    ("ObjectMonitor4wait", Signal, "Object.wait of Java"),
    ("Unsafe_Park", Hidden, "a lock or queue of java.util.concurrent (LockSupport.park)"),
    ("runtime.lock2", Lock, "a lock of the Go runtime"),
    ("runtime.stopm", Hidden, GOROUTINES),
    ("runtime.notesleep", Hidden, GOROUTINES),
    ("runtime.notetsleep_internal", Hidden, GOROUTINES),
    ("lock_contended", Lock, "a mutex"),
    ("lock_exclusive_slow", Lock, "a reader-writer lock"),
    ("lock_shared_slow", Lock, "a reader-writer lock"),
    ("lock_slow", Lock, "a mutex"),
    ("thread4park", Signal, "a parked thread"),
];

/// The lock of CPython's interpreter.
pub(super) const GIL: &str = "CPython's GIL";

/// What malloc and its kin wait for.
pub(super) const MALLOC: &str = "malloc's lock";

/// Functions of the C library and of OpenMP: the innermost on a stack decides.
pub(super) const FUNCTIONS: [Row; 18] = [
    ("pthread_mutex_", Lock, "a mutex"),
    ("mtx_lock", Lock, "a mutex"),
    ("mtx_timedlock", Lock, "a mutex"),
    ("pthread_rwlock_", Lock, "a reader-writer lock"),
    ("pthread_barrier_wait", Barrier, "a barrier"),
    ("pthread_cond_", Signal, "a condition variable"),
    ("cnd_wait", Signal, "a condition variable"),
    ("cnd_timedwait", Signal, "a condition variable"),
    ("sem_wait", Signal, "a semaphore"),
    ("sem_timedwait", Signal, "a semaphore"),
    ("sem_clockwait", Signal, "a semaphore"),
    ("pthread_join", Thread, ""),
    ("GOMP_critical", Lock, "a critical section of OpenMP"),
    ("omp_set_lock", Lock, "a lock of OpenMP"),
    ("GOMP_", Barrier, "a barrier of OpenMP"),
    ("malloc", Lock, MALLOC),
    ("calloc", Lock, MALLOC),
    ("realloc", Lock, MALLOC),
];

/// Libraries in which a wait that no function explains has a meaning.
pub(super) const LIBRARIES: [(&str, WaitKind, &str); 3] = [
    ("libgomp", Barrier, "a barrier of OpenMP"),
    ("libomp", Barrier, "a barrier of OpenMP"),
    ("libjvm", Hidden, "a thread of the Java VM itself, or one that libjvm.so hides (no symbols)"),
];

/// Returns the row of a function of the C library.
pub(super) fn of_function(symbol: &str) -> Option<&'static Row> {
    let plain = symbol.trim_start_matches('_');
    if plain == "free" || plain.ends_with("memalign") {
        return FUNCTIONS.iter().find(|row| row.2 == MALLOC);
    }
    FUNCTIONS.iter().find(|(part, ..)| plain.starts_with(part))
}

/// Reports whether a file is a library of the language or the system: not the program whose function waits.
pub(super) fn is_runtime(file: &str) -> bool {
    let base = file.rsplit('/').next().unwrap_or_default();
    let known = [
        "libc.",
        "libc-",
        "libpthread",
        "ld-linux",
        "ld-musl",
        "libstdc++",
        "libgcc",
        "libgomp",
        "libomp",
        "libjvm",
        "libpython",
        "python",
        "java",
        "libjava",
        "[vdso]",
    ];
    known.iter().any(|name| base.starts_with(name))
}

/// Parts of the names of the kernel's functions in which a thread waits for a device.
const STORAGE_CHANNELS: [&str; 8] =
    ["folio_wait", "io_schedule", "bio_wait", "blk_", "jbd2", "log_wait", "wait_on_buffer", "nfs_"];

/// Reports whether a thread waits for a device.
pub(super) fn is_on_storage(channel: &str) -> bool {
    STORAGE_CHANNELS.iter().any(|word| channel.contains(word))
}

/// Reports whether a thread waits for the lock of a file's inode, which its writers take one after the other: the
/// kernel names the function that called the lock's.
pub(super) fn is_inode_lock(channel: &str) -> bool {
    ["_write_iter", "inode_lock", "ilock"].iter().any(|end| channel.ends_with(end))
}

/// Returns what a thread waits for in a page fault, or in a call that changes its address space.
pub(super) fn memory_words(call: Option<&str>, channel: &str) -> String {
    match (call, channel.contains("rwsem") || channel.contains("vma")) {
        (None, true) => "the lock of the address space (page fault)".into(),
        (None, false) => "a page fault".into(),
        (Some(call), _) => format!("the lock of the address space ({call})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_of_a_file_is_no_storage() {
        let lock = ["ext4_buffered_write_iter", "shmem_file_write_iter", "btrfs_inode_lock"];
        assert!(lock.iter().all(|channel| is_inode_lock(channel)));
        let storage = ["folio_wait_bit_common", "jbd2_log_wait_commit", "do_writepages", ""];
        assert!(!storage.iter().any(|channel| is_inode_lock(channel)));
    }
}
