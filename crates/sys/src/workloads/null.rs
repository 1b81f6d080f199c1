//! The null dereference, made in earnest.

use crate::Result;

/// Reads the word at address 0, for which the kernel ends this **process** with
/// SIGSEGV: all of its threads. Returns only where something is mapped there,
/// or with an error.
///
/// The default action is restored first: Rust's runtime has a handler for
/// SIGSEGV, which looks for an overflow of the stack. The read is made in
/// assembly, since to the compiler a null dereference is no instruction but
/// the proof that the code is never reached.
///
/// # Errors
/// What `signal` says.
pub fn dereference() -> Result<()> {
    crate::signal::heed(libc::SIGSEGV)?;
    read_null();
    Ok(())
}

#[cfg(target_arch = "x86_64")]
fn read_null() {
    // SAFETY: a read changes no memory; it faults, and the process ends.
    unsafe {
        std::arch::asm!("mov {0}, qword ptr [{0}]", inout(reg) 0_usize => _, options(nostack, readonly));
    }
}

#[cfg(target_arch = "aarch64")]
fn read_null() {
    // SAFETY: as on x86_64.
    unsafe {
        std::arch::asm!("ldr {0}, [{0}]", inout(reg) 0_usize => _, options(nostack, readonly));
    }
}

/// No assembly for this CPU: the signal that the read would bring.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn read_null() {
    // SAFETY: sends a signal; touches no memory of ours.
    unsafe { libc::raise(libc::SIGSEGV) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{limits, task};

    #[test]
    fn it_ends_the_process_by_the_signal() {
        let child = task::fork_run(|| {
            let _ = limits::disable_core_dumps();
            i32::from(dereference().is_err())
        })
        .unwrap();
        assert_eq!(task::wait(child).unwrap().signal, Some(libc::SIGSEGV));
    }

    #[test]
    fn a_thread_that_does_it_takes_its_process_with_it() {
        let child = task::fork_run(|| {
            let _ = limits::disable_core_dumps();
            let _ = std::thread::spawn(dereference).join();
            0
        })
        .unwrap();
        assert_eq!(task::wait(child).unwrap().signal, Some(libc::SIGSEGV));
    }
}
