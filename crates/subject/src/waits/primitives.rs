//! Which functions and system calls wait for what.

use model::WaitKind::{self, Child, Signal, Storage, Timer};
use serde::Deserialize;
use std::sync::LazyLock;

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

/// What a function waits for, from `functions.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    #[serde(default)]
    begins: String,
    #[serde(default)]
    is: String,
    #[serde(default)]
    within: String,
    /// A part of the name of the file in which a function of that name is this one; of any, if empty.
    #[serde(default)]
    host: String,
    /// How the name of a library begins in which a wait that no function explains is this one.
    #[serde(default)]
    file: String,
    pub(super) kind: WaitKind,
    pub(super) what: String,
    /// The size of the object; `None` where no variable of the program is one.
    pub(super) bytes: Option<u64>,
    /// How far the words that are waited for lie from the object's beginning in glibc, in bytes; none where that is not
    /// known. `None` is a word at the beginning.
    #[serde(default)]
    pub(super) words: Option<Vec<u64>>,
    /// Decides for functions that it calls.
    #[serde(default)]
    outer: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Library {
    /// The versions in which the functions were seen.
    #[expect(dead_code, reason = "for readers of the table")]
    seen: String,
    functions: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    library: Vec<Library>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("functions.toml")).unwrap_or_else(|error| unreachable!("{error}"))
});

impl Row {
    fn is_of(&self, function: &str, file: &str) -> bool {
        let plain = function.trim_start_matches('_');
        let own = plain.split(['.', '@']).next().unwrap_or_default();
        let named = match (self.within.as_str(), self.begins.as_str(), self.is.as_str()) {
            ("", "", "") => false,
            ("", "", whole) => own == whole,
            ("", begins, _) => plain.starts_with(begins),
            (within, ..) => function.contains(within),
        };
        named && file.rsplit('/').next().unwrap_or_default().contains(&self.host)
    }
}

fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.library.iter().flat_map(|library| &library.functions)
}

/// Returns the row of a function in a file.
pub(super) fn of_function(function: &str, file: &str) -> Option<&'static Row> {
    rows().find(|row| row.is_of(function, file))
}

/// Returns the row of a library.
fn of_file(file: &str) -> Option<&'static Row> {
    let base = file.rsplit('/').next().unwrap_or_default();
    rows().find(|row| !row.file.is_empty() && base.starts_with(&row.file))
}

/// Returns the row that says what a thread waits for in these functions with their files, the innermost first: that
/// of a runtime's function which called the others, or the first one; else that of a library.
pub(super) fn of_functions<'a>(
    functions: impl Iterator<Item = (&'a str, &'a str)> + Clone,
) -> Option<&'static Row> {
    let by_name = functions.clone().filter_map(|(function, file)| of_function(function, file));
    let by_file = functions.filter_map(|(_, file)| of_file(file));
    let is_outer = |row: &&Row| row.outer;
    by_name
        .clone()
        .find(is_outer)
        .or_else(|| by_file.clone().find(is_outer))
        .or_else(|| by_name.clone().next())
        .or_else(|| by_file.clone().next())
}

/// The lock of CPython's interpreter.
pub(super) const GIL: &str = "CPython's GIL";

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

/// Reports whether a function belongs to a language's library, or is a system call of the C library.
pub(super) fn is_library(function: &str) -> bool {
    let known = [
        "std::",
        "core::",
        "alloc::",
        "parking_lot",
        "crossbeam",
        "flume::",
        "rayon",
        "tokio::",
        "runtime.",
        "sync.",
        "internal/",
        "crosscall",
        "x_cgo_",
        "threadentry",
        "_start",
        "start_thread",
        "execute_native_thread_routine",
        "syscall",
        "futex",
        "lll_lock",
        "gomp_",
        "sccp",
    ];
    let plain = function.trim_start_matches('_');
    known.iter().any(|part| plain.starts_with(part)) || sys::calls::number_of(plain).is_some()
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

    #[test]
    fn a_function_of_the_program_is_no_librarys() {
        let what = |function, file| of_function(function, file).map(|row| row.what.as_str());
        for (function, file, expected) in [
            ("__libc_malloc", "/lib/libc.so.6", Some("malloc's lock")),
            ("_int_free.part.0", "/bin/static", Some("malloc's lock")),
            ("free_list_lock", "/bin/own", None),
            ("malloc_lock_wait", "/bin/own", None),
            ("take_gil", "/usr/bin/python3.11", Some(GIL)),
            ("take_gil", "/bin/own", None),
            ("pthread_mutex_lock", "/lib/libc.so.6", Some("a mutex")),
        ] {
            assert_eq!(what(function, file), expected, "{function}");
        }
    }
}
