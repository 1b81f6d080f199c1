//! The arguments of the calls that make and end threads and processes, in words.

use crate::signal::named;

/// Reads the memory of the process whose call is described.
pub trait Reader {
    /// Up to `limit` bytes of the text that ends in a zero byte at `address`;
    /// `None` where it cannot be read.
    fn text(&self, address: u64, limit: usize) -> Option<String>;
}

/// The most bytes of a path that are shown.
const PATH_BYTES_MAX: usize = 64;

/// A number's name in a table.
type Names = &'static [(i32, &'static str)];

const PROTECTIONS: Names = &named![PROT_READ PROT_WRITE PROT_EXEC];

const MAPPINGS: Names = &named![
    MAP_SHARED MAP_PRIVATE MAP_FIXED MAP_ANONYMOUS MAP_STACK MAP_NORESERVE MAP_DENYWRITE MAP_POPULATE
];

const ADVICES: Names = &named![MADV_DONTNEED MADV_FREE MADV_DONTFORK MADV_HUGEPAGE MADV_NOHUGEPAGE];

/// Those that libc does not name.
const NEW_ADVICES: Names = &[(102, "MADV_GUARD_INSTALL"), (103, "MADV_GUARD_REMOVE")];

const FUTEXES: Names = &named![FUTEX_WAIT FUTEX_WAKE FUTEX_WAIT_BITSET FUTEX_WAKE_BITSET];

const MASKINGS: Names = &named![SIG_BLOCK SIG_UNBLOCK SIG_SETMASK];

/// Describes the call's arguments; empty where nothing is known of them.
pub(super) fn describe(name: &str, arguments: [u64; 6], reader: &dyn Reader) -> String {
    let [first, second, third, fourth, ..] = arguments;
    // The kernel takes these arguments as 32-bit numbers, and looks at nothing above.
    let low = |argument: u64| argument as i32;
    match name {
        "mmap" => format!(
            "{second} bytes, {}, {}",
            bits(PROTECTIONS, low(third), "PROT_NONE"),
            bits(MAPPINGS, low(fourth), "0")
        ),
        "munmap" => format!("{second} bytes"),
        "mprotect" => format!("{second} bytes, {}", bits(PROTECTIONS, low(third), "PROT_NONE")),
        "madvise" => {
            format!("{second} bytes, {}", one(&[ADVICES, NEW_ADVICES].concat(), low(third)))
        }
        "futex" => {
            let kind = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
            one(FUTEXES, low(second) & !kind)
        }
        "rt_sigprocmask" if second == 0 => "asks".into(),
        "rt_sigprocmask" => one(MASKINGS, low(first)),
        "rt_sigaction" => super::signal_name(low(first)).into_owned(),
        "exit" | "exit_group" => low(first).to_string(),
        "execve" => reader.text(first, PATH_BYTES_MAX).unwrap_or_default(),
        _ => String::new(),
    }
}

/// The names of the bits that are set, and what has no name as a number.
fn bits(names: Names, value: i32, none: &str) -> String {
    let mut rest = value;
    let mut words = Vec::new();
    for (bit, name) in names.iter().filter(|(bit, _)| value & bit == *bit) {
        words.push((*name).to_string());
        rest &= !bit;
    }
    if rest != 0 {
        words.push(format!("{rest:#x}"));
    }
    if words.is_empty() { none.to_string() } else { words.join("|") }
}

/// The name of a number, or the number.
fn one(names: &[(i32, &str)], value: i32) -> String {
    let found = names.iter().find(|(number, _)| *number == value);
    found.map_or_else(|| value.to_string(), |(_, name)| (*name).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Memory;

    impl Reader for Memory {
        fn text(&self, address: u64, limit: usize) -> Option<String> {
            (address == 7).then(|| "/usr/bin/true"[..limit.min(13)].to_string())
        }
    }

    fn said(name: &str, arguments: [i32; 4]) -> String {
        let [a, b, c, d] = arguments.map(|argument| argument as u64);
        describe(name, [a, b, c, d, 0, 0], &Memory)
    }

    #[test]
    fn the_making_of_a_stack_is_told_in_words() {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
        assert_eq!(
            said("mmap", [0, 8_392_704, 0, flags]),
            "8392704 bytes, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_STACK"
        );
        assert_eq!(said("mprotect", [1, 4096, 3, 0]), "4096 bytes, PROT_READ|PROT_WRITE");
        assert_eq!(said("madvise", [1, 4096, libc::MADV_DONTNEED, 0]), "4096 bytes, MADV_DONTNEED");
    }

    #[test]
    fn the_others_too_and_unknown_values_stay_numbers() {
        let private = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        assert_eq!(said("futex", [1, private, 0, 0]), "FUTEX_WAIT");
        assert_eq!(said("futex", [1, 77, 0, 0]), "77");
        assert_eq!(said("rt_sigprocmask", [libc::SIG_SETMASK, 1, 0, 0]), "SIG_SETMASK");
        assert_eq!(said("rt_sigprocmask", [libc::SIG_SETMASK, 0, 1, 0]), "asks");
        assert_eq!(said("execve", [7, 0, 0, 0]), "/usr/bin/true");
        assert_eq!(said("execve", [8, 0, 0, 0]), "");
        assert_eq!(said("mprotect", [1, 1, 0x4000_0001, 0]), "1 bytes, PROT_READ|0x40000000");
        assert_eq!(said("getppid", [1, 2, 3, 4]), "");
    }
}
