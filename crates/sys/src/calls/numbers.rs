//! The numbers of system calls in this CPU's own table.

use std::borrow::Cow;

/// Returns the name of the system call of that number in this CPU's own table.
pub fn name_of(number: u64) -> Cow<'static, str> {
    let known = usize::try_from(number).ok().and_then(syscalls::Sysno::new);
    match known {
        Some(known) => Cow::Borrowed(known.name()),
        None => Cow::Owned(format!("syscall_{number}")),
    }
}

/// Above all numbers of calls.
const CALLS_MAX: u64 = 1024;

/// Returns the number of a system call in this CPU's own table.
pub fn number_of(name: &str) -> Option<u64> {
    (0..CALLS_MAX).find(|number| name_of(*number) == name)
}
