//! A filter of system calls (seccomp), as a container has one: for tests of what happens where a call is
//! refused.

use crate::{Error, Result, calls};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// What a filter refuses, and with which error number.
#[derive(Debug, Clone, Copy)]
pub struct Filter<'a> {
    /// Calls by name.
    pub calls: &'a [&'a str],
    /// The last call of an older kernel; all with higher numbers are refused.
    pub newest: Option<&'a str>,
    /// The error number, or [`KILL`].
    pub errno: i32,
}

/// In the place of an error number: a process that makes the call is killed.
pub const KILL: i32 = -1;

/// Where the kernel puts the number of a call (`struct seccomp_data`).
const NUMBER_AT: u32 = 0;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const IF_GREATER: u16 = (libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

impl Filter<'_> {
    /// Has `command` start its program under the filter. Whatever comes of it is under it for good.
    ///
    /// # Errors
    /// `ENOSYS` for a name that is no call of this CPU.
    pub fn arrange(&self, command: &mut Command) -> Result<()> {
        let program = self.program()?;
        // SAFETY: `install` makes system calls only; the filter was allocated before the fork.
        unsafe { command.pre_exec(move || install(&program)) };
        Ok(())
    }

    fn program(&self) -> Result<Vec<libc::sock_filter>> {
        let step = |code, k, jump| libc::sock_filter { code, jt: 0, jf: jump, k };
        let refuse = match self.errno {
            KILL => libc::SECCOMP_RET_KILL_PROCESS,
            errno => libc::SECCOMP_RET_ERRNO | errno.unsigned_abs(),
        };
        let mut program = vec![step(LOAD, NUMBER_AT, 0)];
        for name in self.calls {
            program.extend([step(IF_EQUAL, number_of(name)?, 1), step(RETURN, refuse, 0)]);
        }
        if let Some(newest) = self.newest {
            program.extend([step(IF_GREATER, number_of(newest)?, 1), step(RETURN, refuse, 0)]);
        }
        program.push(step(RETURN, libc::SECCOMP_RET_ALLOW, 0));
        Ok(program)
    }
}

fn number_of(name: &str) -> Result<u32> {
    let number = calls::numbers::number_of(name).and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| Error::new(name, libc::ENOSYS))
}

/// Puts the calling process under a filter.
fn install(program: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
        filter: program.as_ptr().cast_mut(),
    };
    // SAFETY: integers only.
    let bound = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    if bound == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the program outlives the call, which copies it.
    let set = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program)
    };
    if set == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(filter: Filter<'_>) -> Option<i32> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "umask 077"]);
        filter.arrange(&mut command).unwrap();
        command.status().unwrap().code()
    }

    #[test]
    fn a_call_that_is_named_is_refused_and_others_are_not() {
        let filter = Filter { calls: &["umask"], newest: None, errno: libc::EPERM };
        // umask(2) has no error, so that the shell takes -1 for the old mask.
        assert_eq!(ended(filter), Some(0));
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "cd /"]);
        Filter { calls: &["chdir"], ..filter }.arrange(&mut command).unwrap();
        assert_ne!(command.status().unwrap().code(), Some(0));
        let unknown = Filter { calls: &["astrolabe"], ..filter };
        assert_eq!(unknown.program().unwrap_err().errno(), Some(libc::ENOSYS));
    }

    #[test]
    fn calls_of_newer_kernels_are_refused_together() {
        let filter = Filter { calls: &[], newest: Some("clone3"), errno: libc::ENOSYS };
        let last = filter.program().unwrap();
        assert_eq!(last.len(), 4);
        assert_eq!(ended(filter), Some(0));
    }
}
