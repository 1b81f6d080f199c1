//! System calls, their flags, errors and signals, by name.

mod arguments;
mod cloned;
pub(crate) mod numbers;

pub use arguments::Reader;
pub(crate) use cloned::CLONE_ARGS_BYTES;
pub use cloned::{Cloned, FLAGS, Flag};
pub use numbers::{name_of, number_of};

use std::borrow::Cow;

/// A system call as it entered the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Call {
    /// Its number.
    pub number: u64,
    /// Its six arguments, used or not.
    pub arguments: [u64; 6],
    /// Whether it came by this CPU's own interface. A 32-bit program on a
    /// 64-bit kernel has another table of numbers.
    pub is_native: bool,
}

impl Call {
    /// Its name: `mmap`. A number that the table does not know is
    /// `syscall_NNN`, one of another table `foreign_syscall_NNN`.
    pub fn name(&self) -> Cow<'static, str> {
        if !self.is_native {
            return Cow::Owned(format!("foreign_syscall_{}", self.number));
        }
        name_of(self.number)
    }

    /// Whether it asks for a new thread or process.
    pub fn makes_a_task(&self) -> bool {
        matches!(self.name().as_ref(), "clone" | "clone3" | "fork" | "vfork")
    }

    /// What its arguments say, for the calls that make and end threads and
    /// processes: `8392704 bytes, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS`.
    /// Addresses are left out: they differ from one run to the next. Empty for
    /// other calls.
    pub fn describe(&self, cloned: Option<&Cloned>, reader: &dyn Reader) -> String {
        if !self.is_native {
            return String::new();
        }
        match cloned {
            Some(cloned) => cloned.to_string(),
            None => arguments::describe(&self.name(), self.arguments, reader),
        }
    }
}

/// The name of an error number: `ENOENT`. The numbers above 511 are the
/// kernel's own, which a tracer sees where a signal interrupted a call.
pub fn error_name(errno: i32) -> Cow<'static, str> {
    let own = match errno {
        512 => "ERESTARTSYS",
        513 => "ERESTARTNOINTR",
        514 => "ERESTARTNOHAND",
        516 => "ERESTART_RESTARTBLOCK",
        _ => "",
    };
    if !own.is_empty() {
        return Cow::Borrowed(own);
    }
    match syscalls::Errno::new(errno).name().filter(|_| errno < 512) {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(format!("errno_{errno}")),
    }
}

/// The name of a signal: `SIGCHLD`. Real-time signals are `signal_NN`.
pub fn signal_name(signal: i32) -> Cow<'static, str> {
    match crate::signal::name(signal) {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(format!("signal_{signal}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: libc::c_long) -> Call {
        Call { number: number as u64, arguments: [0; 6], is_native: true }
    }

    #[test]
    fn the_table_agrees_with_libc() {
        for (number, name) in [
            (libc::SYS_mmap, "mmap"),
            (libc::SYS_mprotect, "mprotect"),
            (libc::SYS_rt_sigprocmask, "rt_sigprocmask"),
            (libc::SYS_clone, "clone"),
            (libc::SYS_clone3, "clone3"),
            (libc::SYS_execve, "execve"),
            (libc::SYS_exit_group, "exit_group"),
            (libc::SYS_futex, "futex"),
            (libc::SYS_wait4, "wait4"),
            (libc::SYS_openat2, "openat2"),
        ] {
            assert_eq!(call(number).name(), name);
        }
    }

    #[test]
    fn a_number_without_a_name_is_shown_as_it_is() {
        assert_eq!(name_of(99_999), "syscall_99999");
        assert_eq!(name_of(u64::MAX), format!("syscall_{}", u64::MAX));
        let foreign = Call { is_native: false, ..call(libc::SYS_clone) };
        assert_eq!(foreign.name(), format!("foreign_syscall_{}", libc::SYS_clone));
        assert!(!foreign.makes_a_task());
        assert!(call(libc::SYS_clone3).makes_a_task() && !call(libc::SYS_mmap).makes_a_task());
    }

    #[test]
    fn errors_and_signals_have_names() {
        assert_eq!(error_name(libc::ENOENT), "ENOENT");
        assert_eq!(error_name(512), "ERESTARTSYS");
        assert_eq!(error_name(4000), "errno_4000");
        assert_eq!(signal_name(libc::SIGCHLD), "SIGCHLD");
        assert_eq!(signal_name(40), "signal_40");
    }
}
