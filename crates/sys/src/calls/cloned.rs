//! What `clone` and its kin are asked for.

use super::signal_name;
use std::fmt;

/// One flag of `clone`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// As in linux/sched.h.
    pub name: &'static str,
    /// Its bit.
    pub bit: u64,
    /// What the new task has by it, in a few words.
    pub means: &'static str,
}

const fn flag(name: &'static str, bit: u64, means: &'static str) -> Flag {
    Flag { name, bit, means }
}

/// Every flag of linux/sched.h, the five that make a thread first.
pub const FLAGS: [Flag; 26] = [
    flag("CLONE_VM", 0x100, "shares the memory (else: a copy)"),
    flag("CLONE_FS", 0x200, "shares root, current folder and umask"),
    flag("CLONE_FILES", 0x400, "shares the table of descriptors"),
    flag("CLONE_SIGHAND", 0x800, "shares the signal handlers"),
    flag("CLONE_THREAD", 0x1_0000, "is a thread of the same process"),
    flag("CLONE_SYSVSEM", 0x4_0000, "shares System V semaphore undo"),
    flag("CLONE_SETTLS", 0x8_0000, "gets thread-local storage of its own"),
    flag("CLONE_PARENT_SETTID", 0x10_0000, "its number is written to the maker's memory"),
    flag("CLONE_CHILD_CLEARTID", 0x20_0000, "at its end a word is cleared and a futex woken"),
    flag("CLONE_CHILD_SETTID", 0x100_0000, "its number is written to its own memory"),
    flag("CLONE_VFORK", 0x4000, "the maker stands still until it ends or executes"),
    flag("CLONE_PARENT", 0x8000, "has the maker's parent as its parent"),
    flag("CLONE_PIDFD", 0x1000, "the maker gets a descriptor of it"),
    flag("CLONE_IO", 0x8000_0000, "shares the I/O context"),
    flag("CLONE_CLEAR_SIGHAND", 0x1_0000_0000, "has the default action for every signal"),
    flag("CLONE_INTO_CGROUP", 0x2_0000_0000, "is born in another cgroup"),
    flag("CLONE_PTRACE", 0x2000, "is traced, too"),
    flag("CLONE_UNTRACED", 0x80_0000, "may not be traced with its maker"),
    flag("CLONE_NEWNS", 0x2_0000, "new mount namespace"),
    flag("CLONE_NEWCGROUP", 0x200_0000, "new cgroup namespace"),
    flag("CLONE_NEWUTS", 0x400_0000, "new host name"),
    flag("CLONE_NEWIPC", 0x800_0000, "new IPC namespace"),
    flag("CLONE_NEWUSER", 0x1000_0000, "new user namespace"),
    flag("CLONE_NEWPID", 0x2000_0000, "new PID namespace"),
    flag("CLONE_NEWNET", 0x4000_0000, "new network namespace"),
    flag("CLONE_NEWTIME", 0x80, "new time namespace"),
];

/// The low byte of `clone`'s flags is the signal at the child's end.
const SIGNAL_MASK: u64 = 0xff;

/// Bytes of `struct clone_args` that are read: flags to stack_size.
pub(crate) const CLONE_ARGS_BYTES: usize = 56;

/// What a new thread or process was asked to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cloned {
    /// The flags, without the signal.
    pub flags: u64,
    /// The signal that its parent gets when it has ended; 0 for none.
    pub exit_signal: i32,
    /// The size of the stack it is given, where the call tells (`clone3`).
    pub stack_bytes: Option<u64>,
}

impl Cloned {
    /// From `clone`'s first argument.
    pub fn by_clone(argument: u64) -> Self {
        Self {
            flags: argument & !SIGNAL_MASK,
            exit_signal: (argument & SIGNAL_MASK) as i32,
            stack_bytes: None,
        }
    }

    /// From the first bytes of `clone3`'s `struct clone_args`.
    pub(crate) fn by_clone3(bytes: &[u8; CLONE_ARGS_BYTES]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| u64::from_ne_bytes(words[index]);
        // flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size.
        Self {
            flags: word(0),
            exit_signal: i32::try_from(word(4)).unwrap_or(0),
            stack_bytes: Some(word(6)).filter(|bytes| *bytes > 0),
        }
    }

    /// What the old system call `fork` means.
    pub fn by_fork() -> Self {
        Self { flags: 0, exit_signal: libc::SIGCHLD, stack_bytes: None }
    }

    /// What the old system call `vfork` means.
    pub fn by_vfork() -> Self {
        Self { flags: (libc::CLONE_VM | libc::CLONE_VFORK) as u64, ..Self::by_fork() }
    }

    /// Whether a flag of [`FLAGS`] is set, by its name.
    pub fn has(&self, name: &str) -> bool {
        FLAGS.iter().any(|flag| flag.name == name && self.flags & flag.bit != 0)
    }

    /// Whether what is made is a thread of its maker's process.
    pub fn is_thread(&self) -> bool {
        self.has("CLONE_THREAD")
    }

    /// The names of the flags that are set; bits without a name as a number.
    pub fn names(&self) -> Vec<String> {
        let mut rest = self.flags;
        let mut names = Vec::new();
        for flag in FLAGS.iter().filter(|flag| self.flags & flag.bit != 0) {
            names.push(flag.name.to_string());
            rest &= !flag.bit;
        }
        if rest != 0 {
            names.push(format!("{rest:#x}"));
        }
        names
    }
}

impl fmt::Display for Cloned {
    /// `CLONE_VM|CLONE_VFORK|SIGCHLD`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.names();
        if self.exit_signal != 0 {
            words.push(signal_name(self.exit_signal).into_owned());
        }
        if words.is_empty() {
            words.push("0".into());
        }
        out.write_str(&words.join("|"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_has_a_bit_of_its_own_as_libc_has_it() {
        let all = FLAGS.iter().fold(0, |all, flag| all | flag.bit);
        assert_eq!(all.count_ones() as usize, FLAGS.len());
        assert!(FLAGS.iter().all(|flag| flag.bit.count_ones() == 1));
        for (name, bit) in [
            ("CLONE_VM", libc::CLONE_VM),
            ("CLONE_FS", libc::CLONE_FS),
            ("CLONE_FILES", libc::CLONE_FILES),
            ("CLONE_SIGHAND", libc::CLONE_SIGHAND),
            ("CLONE_THREAD", libc::CLONE_THREAD),
            ("CLONE_SYSVSEM", libc::CLONE_SYSVSEM),
            ("CLONE_SETTLS", libc::CLONE_SETTLS),
            ("CLONE_PARENT_SETTID", libc::CLONE_PARENT_SETTID),
            ("CLONE_CHILD_CLEARTID", libc::CLONE_CHILD_CLEARTID),
            ("CLONE_CHILD_SETTID", libc::CLONE_CHILD_SETTID),
            ("CLONE_VFORK", libc::CLONE_VFORK),
            ("CLONE_PIDFD", libc::CLONE_PIDFD),
            ("CLONE_UNTRACED", libc::CLONE_UNTRACED),
            ("CLONE_NEWPID", libc::CLONE_NEWPID),
        ] {
            let found = FLAGS.iter().find(|flag| flag.name == name).unwrap();
            assert_eq!(found.bit, bit as u64, "{name}");
        }
    }

    #[test]
    fn what_pthread_create_asks_for_is_a_thread() {
        let cloned = Cloned { flags: 0x3d_0f00, exit_signal: 0, stack_bytes: Some(8 << 20) };
        assert_eq!(
            cloned.to_string(),
            "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM|CLONE_SETTLS|\
             CLONE_PARENT_SETTID|CLONE_CHILD_CLEARTID"
        );
        assert!(cloned.is_thread() && cloned.has("CLONE_VM") && !cloned.has("CLONE_VFORK"));
    }

    #[test]
    fn fork_and_vfork_are_clones() {
        assert_eq!(Cloned::by_fork().to_string(), "SIGCHLD");
        assert_eq!(Cloned::by_vfork().to_string(), "CLONE_VM|CLONE_VFORK|SIGCHLD");
        assert_eq!(Cloned::by_clone(0x4100 | 17), Cloned::by_vfork());
        assert_eq!(Cloned::by_clone(0).to_string(), "0");
    }

    #[test]
    fn clone3_is_read_from_memory() {
        let words: [u64; 7] = [0x1_0000_0100, 1, 2, 3, 17, 0x7000, 4096];
        let mut bytes = [0; CLONE_ARGS_BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        let cloned = Cloned::by_clone3(&bytes);
        assert_eq!(cloned.to_string(), "CLONE_VM|CLONE_CLEAR_SIGHAND|SIGCHLD");
        assert_eq!(cloned.stack_bytes, Some(4096));
        let hostile = Cloned::by_clone3(&[0xff; CLONE_ARGS_BYTES]);
        assert!(hostile.names().last().is_some_and(|last| last.starts_with("0x")));
        assert_eq!(hostile.exit_signal, 0);
    }
}
