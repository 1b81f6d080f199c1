//! The cheapest ways into the kernel, for weighing the entry itself.

use crate::error::last_errno;
use crate::{Error, Pid, Result};
use std::fs::File;
use std::os::fd::AsRawFd;

/// A system call without arguments, by its number.
#[inline]
fn bare(number: libc::c_long) -> i64 {
    #[cfg(target_arch = "x86_64")]
    {
        let result: i64;
        // SAFETY: only called in this file, with calls that take no argument
        // and touch no memory. The kernel changes rax, rcx and r11.
        unsafe {
            std::arch::asm!(
                "syscall",
                inlateout("rax") number => result,
                lateout("rcx") _,
                lateout("r11") _,
                options(nostack),
            );
        }
        result
    }
    #[cfg(target_arch = "aarch64")]
    {
        let result: i64;
        // SAFETY: as on x86_64; the kernel changes x0 only.
        unsafe {
            std::arch::asm!(
                "svc #0",
                in("x8") number,
                lateout("x0") result,
                options(nostack),
            );
        }
        result
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        // SAFETY: as above.
        unsafe { libc::syscall(number) }
    }
}

/// The parent's number by a real system call, made in assembly: the cheapest
/// entry there is, and one that no library caches.
#[inline]
pub fn getppid() -> Pid {
    bare(libc::SYS_getppid) as Pid
}

/// Lets another thread that is ready go first (`sched_yield`).
#[inline]
pub fn yield_cpu() {
    bare(libc::SYS_sched_yield);
}

/// A function that is not inlined and does nothing but hand its argument back:
/// what the entry into the kernel is compared with.
#[inline(never)]
pub fn plain_call(argument: u64) -> u64 {
    crate::black_box(argument)
}

/// `/dev/zero`, to be read by [`read_into`]: the kernel fills the buffer and
/// does nothing else.
///
/// # Errors
/// Where it cannot be opened.
pub fn open_zero() -> Result<File> {
    File::open("/dev/zero").map_err(|error| Error::io("open(/dev/zero)", &error))
}

/// One `read` into `buffer`; returns the bytes read. Signals are not retried.
///
/// # Errors
/// What `read` says.
#[inline]
pub fn read_into(file: &File, buffer: &mut [u8]) -> Result<usize> {
    // SAFETY: the pointer and length are those of `buffer`, which is ours alone.
    let result = unsafe { libc::read(file.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
    usize::try_from(result).map_err(|_| Error::new("read", last_errno()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bare_calls_agree_with_libc() {
        assert_eq!(getppid(), crate::process::parent_pid());
        yield_cpu();
        assert_eq!(plain_call(7), 7);
    }

    #[test]
    fn zeros_are_read() {
        let zero = open_zero().unwrap();
        let mut buffer = [7_u8; 100];
        assert_eq!(read_into(&zero, &mut buffer), Ok(100));
        assert_eq!(buffer, [0; 100]);
    }

    #[test]
    fn a_descriptor_that_cannot_be_read_is_an_error() {
        let null = File::options().write(true).open("/dev/null").unwrap();
        let error = read_into(&null, &mut [0]).unwrap_err();
        assert_eq!(error.errno(), Some(libc::EBADF));
    }
}
