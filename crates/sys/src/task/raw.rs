//! Children that share their parent's memory, and the barest fork.
//!
//! Each child here lives inside one block of assembly: the instruction after
//! the system call asks which side it is on, and the child's next instruction
//! is `exit_group`. It never runs compiled code, so no function returns twice.

use super::Pid;
use crate::pages::{Huge, Mapping};
use crate::{Error, Result};

/// `CLONE_CLEAR_SIGHAND` of Linux 5.5: the child starts with the default action
/// of every signal. No handler can run in it, so its stack is never written.
const CLONE_CLEAR_SIGHAND: u64 = 0x1_0000_0000;

/// Room for a signal's frame with AVX-512 and AMX state, with some to spare.
const STACK_BYTES: usize = 32 * 1024;

/// A stack for children that share the address space, kept between calls so
/// that making it is not part of what is timed.
#[derive(Debug)]
pub struct CloneStack {
    mapping: Mapping,
}

impl CloneStack {
    /// Maps a stack and touches it.
    ///
    /// # Errors
    /// `ENOMEM`.
    pub fn new() -> Result<Self> {
        let mut mapping = Mapping::new(STACK_BYTES, Huge::Never)?;
        mapping.touch(crate::pages::page_bytes());
        Ok(Self { mapping })
    }
}

/// A child by `clone(CLONE_VM | CLONE_VFORK | SIGCHLD)` that ends at once: what
/// `vfork` is in the kernel. The parent is suspended until the child has ended.
///
/// Where `vfork` lets the child borrow the parent's stack, this child has one
/// of its own (16 KiB in the caller's frame), so that no function returns
/// twice. The system call is made in assembly, as is the child's exit.
///
/// # Errors
/// `EAGAIN`, `ENOMEM`; `ENOSYS` on a CPU this room has no assembly for.
pub fn vfork_exit() -> Result<Pid> {
    #[repr(C, align(16))]
    struct Stack(std::mem::MaybeUninit<[u8; 16 * 1024]>);
    let mut stack = Stack(std::mem::MaybeUninit::uninit());
    let top = stack.0.as_mut_ptr().addr() + size_of::<Stack>();
    // The address of the stack leaves the function as a number; the compiler
    // must take it for used.
    crate::black_box(&mut stack);
    let flags = (libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD) as usize;
    // SAFETY: clone(flags, stack, 0, 0, 0). The child shares our memory but runs
    // nothing except exit_group. Should a signal reach it first, the handler's
    // frame falls onto `stack`, which lives until this function returns: and
    // this thread is suspended until the child is gone.
    let result = unsafe { clone_then_exit(libc::SYS_clone, flags, top) };
    crate::black_box(&mut stack);
    pid_of(result, "clone(CLONE_VM|CLONE_VFORK)")
}

/// A child process that shares the address space, by
/// `clone3(CLONE_VM | CLONE_CLEAR_SIGHAND, SIGCHLD)` on a stack of its own; it
/// ends by a bare `exit_group`. The parent goes on at once: wait for the pid.
///
/// # Errors
/// `ENOSYS` or `EINVAL` before Linux 5.5, `EPERM` under some seccomp filters
/// (old container engines), `EAGAIN`, `ENOMEM`.
pub fn clone_vm_exit(stack: &mut CloneStack) -> Result<Pid> {
    let slice = stack.mapping.as_mut_slice();
    let flags = libc::CLONE_VM as u64 | CLONE_CLEAR_SIGHAND;
    let arguments = CloneArguments {
        flags,
        exit_signal: libc::SIGCHLD as u64,
        stack: slice.as_mut_ptr().addr() as u64,
        stack_size: slice.len() as u64,
        ..CloneArguments::default()
    };
    // SAFETY: the child shares our memory but runs nothing except exit_group,
    // and with CLONE_CLEAR_SIGHAND no handler either, so it writes to no memory
    // at all. That the stack may be used again or unmapped while the child is
    // still on its way is harmless for the same reason.
    let result = unsafe { clone3_then_exit(&arguments) };
    pid_of(result, "clone3(CLONE_VM)")
}

/// The barest fork: `clone3(SIGCHLD)` with a copy of the memory, and a child
/// that ends by a bare `exit_group`. The kernel's work is that of `fork`,
/// without libc's handlers on either side.
///
/// # Errors
/// As [`clone_vm_exit`], from Linux 5.3 on.
pub fn clone_fork_exit() -> Result<Pid> {
    let arguments =
        CloneArguments { exit_signal: libc::SIGCHLD as u64, ..CloneArguments::default() };
    // SAFETY: the child has a copy of the memory and runs nothing of ours
    // except exit_group (a signal's handler would run on its copy of the stack).
    let result = unsafe { clone3_then_exit(&arguments) };
    pid_of(result, "clone3(a copy)")
}

/// `struct clone_args` of linux/sched.h, first version (64 bytes, Linux 5.3).
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, Default)]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
}

/// `clone3`, with a child that exits.
///
/// # Safety
/// As [`clone_then_exit`].
unsafe fn clone3_then_exit(arguments: &CloneArguments) -> isize {
    let address = std::ptr::from_ref(arguments).addr();
    // The kernel reads the arguments through a number; keep them in memory.
    crate::black_box(arguments);
    // SAFETY: the caller's promise.
    unsafe { clone_then_exit(libc::SYS_clone3, address, size_of::<CloneArguments>()) }
}

/// The kernel's answer as a process number.
fn pid_of(result: isize, call: &str) -> Result<Pid> {
    match Pid::try_from(result) {
        Ok(pid) if pid > 0 => Ok(pid),
        _ => Err(Error::new(call, i32::try_from(-result).unwrap_or(libc::EINVAL))),
    }
}

/// Makes the system call `number(first, second, 0, 0, 0)`, which must be a kind
/// of clone. Returns the child's number or a negative error number, in the
/// parent only: the child executes `exit_group(0)`.
///
/// # Safety
/// The arguments must be valid for the call, and a child that shares memory
/// must not be able to run a signal handler on a stack that is in use.
#[cfg(target_arch = "x86_64")]
unsafe fn clone_then_exit(number: libc::c_long, first: usize, second: usize) -> isize {
    let result: isize;
    // SAFETY: the caller's promise. The child leaves this block by no way but
    // exit_group; it uses registers only. The parent sees an ordinary system
    // call, which changes rax, rcx and r11.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor edi, edi",
            "mov eax, {exit_group}",
            "syscall",
            "ud2",
            "2:",
            exit_group = const libc::SYS_exit_group,
            inlateout("rax") number as isize => result,
            in("rdi") first,
            in("rsi") second,
            in("rdx") 0_usize,
            in("r10") 0_usize,
            in("r8") 0_usize,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// As on x86_64.
///
/// # Safety
/// As on x86_64.
#[cfg(target_arch = "aarch64")]
unsafe fn clone_then_exit(number: libc::c_long, first: usize, second: usize) -> isize {
    let result: isize;
    // SAFETY: as on x86_64. The kernel keeps all registers but x0.
    unsafe {
        std::arch::asm!(
            "svc #0",
            "cbnz x0, 2f",
            "mov x8, #{exit_group}",
            "svc #0",
            "brk #1",
            "2:",
            exit_group = const libc::SYS_exit_group,
            inlateout("x8") number as isize => _,
            inlateout("x0") first as isize => result,
            in("x1") second,
            in("x2") 0_usize,
            in("x3") 0_usize,
            in("x4") 0_usize,
            options(nostack),
        );
    }
    result
}

/// No assembly for this CPU.
///
/// # Safety
/// None is needed: nothing happens.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn clone_then_exit(_number: libc::c_long, _first: usize, _second: usize) -> isize {
    -(libc::ENOSYS as isize)
}
