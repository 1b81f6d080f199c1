//! Making the entities of concurrency: threads and processes, by every road
//! the kernel offers, each as bare as it can be.
//!
//! **Forking.** A child made by `fork` has one thread and a copy of the
//! memory, locks included: if another thread of the parent held a lock at that
//! moment, the child waits for it for ever. Trial processes are therefore
//! single-threaded when they fork. In a process with threads a child should do
//! only what POSIX calls async-signal-safe; glibc repairs its own allocator
//! and stdio in the child, other libraries do not.
//!
//! **Sharing memory.** The children of [`vfork_exit`] and [`clone_vm_exit`]
//! share the address space with their parent. They execute four instructions
//! in assembly and never run Rust, touch libc or return, so nothing of the
//! parent's state can be seen half-changed.

mod raw;
mod smallest;

use crate::error::{check_number, last_errno};
use crate::usage::Usage;
use crate::{Error, Result};
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

pub use raw::{CloneStack, clone_fork_exit, clone_vm_exit, vfork_exit};
pub use smallest::write_smallest_program;

/// The number of a process.
pub type Pid = i32;

/// Exit code of a child of [`fork_run`] whose work panicked, as Rust's own.
pub const PANIC_CODE: i32 = 101;

/// Exit code of a child of [`fork_exec`] that could not execute the program,
/// as the shell's.
pub const EXEC_FAILED_CODE: i32 = 127;

/// Most arguments that a program can be given here. A fixed array keeps the
/// allocator out of what is timed.
const MAXIMUM_ARGUMENTS: usize = 30;

/// A thread made by `pthread_create`. Dropping it without [`Thread::join`]
/// detaches it.
#[derive(Debug)]
pub struct Thread {
    id: libc::pthread_t,
}

/// Starts a thread by `pthread_create`, with nothing of Rust's around it: no
/// closure, no handle, no name, no allocation of Rust's.
///
/// `stack_bytes` is the size of its stack (`None`: glibc's default, which is
/// the soft `RLIMIT_STACK`, mostly 8 MiB). `entry` gets `argument` as a pointer
/// with that address; it must not unwind (a panic ends the process).
///
/// # Errors
/// `EINVAL` for a stack below [`smallest_stack_bytes`], `EAGAIN` where the
/// limits on threads or memory are reached.
pub fn spawn_thread(
    stack_bytes: Option<usize>,
    entry: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: usize,
) -> Result<Thread> {
    let Some(stack_bytes) = stack_bytes else { return create(std::ptr::null(), entry, argument) };
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: init makes the attributes valid; they are not moved until destroy.
    let errno = unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) };
    check_number(errno, || "pthread_attr_init".to_string())?;
    // SAFETY: the attributes were initialised above.
    let errno = unsafe { libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), stack_bytes) };
    let made = check_number(errno, || format!("pthread_attr_setstacksize({stack_bytes} bytes)"))
        .and_then(|()| create(attributes.as_ptr(), entry, argument));
    // SAFETY: initialised above and not used afterwards. Its only error is an
    // attribute that was never initialised.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    made
}

/// `pthread_create` with the given attributes (null: the defaults).
fn create(
    attributes: *const libc::pthread_attr_t,
    entry: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: usize,
) -> Result<Thread> {
    let mut id = std::mem::MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: `id` is ours, `attributes` is null or initialised by the caller
    // in this file, and `entry` is a safe function: it may be called with any
    // pointer on any thread.
    let errno = unsafe {
        libc::pthread_create(
            id.as_mut_ptr(),
            attributes,
            entry,
            std::ptr::without_provenance_mut(argument),
        )
    };
    check_number(errno, || "pthread_create".to_string())?;
    // SAFETY: where it succeeds, pthread_create has written the id.
    Ok(Thread { id: unsafe { id.assume_init() } })
}

impl Thread {
    /// Waits until the thread has returned from its entry.
    ///
    /// # Errors
    /// `EDEADLK` where a thread would wait for itself.
    pub fn join(self) -> Result<()> {
        let id = self.id;
        // The thread may be joined or detached once; Drop would do it again.
        std::mem::forget(self);
        // SAFETY: `id` came from pthread_create and was neither joined nor
        // detached, since both consume the Thread.
        let errno = unsafe { libc::pthread_join(id, std::ptr::null_mut()) };
        check_number(errno, || "pthread_join".to_string())
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // SAFETY: as in `join`. Detaching cannot fail for such an id.
        unsafe { libc::pthread_detach(self.id) };
    }
}

/// The smallest stack that `pthread_create` accepts here, in bytes. It depends
/// on the CPU: AVX-512 and AMX state must fit on it when a signal comes.
pub fn smallest_stack_bytes() -> usize {
    // SAFETY: asks libc for a number.
    let bytes = unsafe { libc::sysconf(libc::_SC_THREAD_STACK_MIN) };
    usize::try_from(bytes).unwrap_or(16 * 1024)
}

/// How a child ended, and what the kernel charged it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code, where it exited.
    pub code: Option<i32>,
    /// The signal that ended it, where one did.
    pub signal: Option<i32>,
    /// What it and the descendants it waited for have used.
    pub usage: Usage,
}

impl Ended {
    /// Reads the status that `wait4` gives for a process that has ended.
    pub(crate) fn of(status: libc::c_int, usage: Usage) -> Self {
        let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
        Ended { code, signal, usage }
    }
}

/// Forks a child that ends at once: by `_exit(0)`, or, with `flush`, by
/// `exit(0)`, which runs libc's `atexit` functions and flushes its stdio.
///
/// # Errors
/// `EAGAIN` where the limit on processes is reached, `ENOMEM`.
pub fn fork_exit(flush: bool) -> Result<Pid> {
    fork_with(|| {
        if flush {
            // SAFETY: `exit` in the child of a fork: libc's handlers run on
            // the child's own copy of the memory, on its only thread. Nothing
            // of Rust's hangs on them.
            unsafe { libc::exit(0) }
        }
        0
    })
}

/// Forks a child that runs `f` and ends with the code it returns, or with
/// [`PANIC_CODE`]. The child is killed when the *thread* that forked it ends.
///
/// The closure's captured values are dropped in both processes, so it should
/// borrow what removes files when dropped. See the module's words on forking.
///
/// # Errors
/// `EAGAIN` where the limit on processes is reached, `ENOMEM`.
pub fn fork_run(f: impl FnOnce() -> i32) -> Result<Pid> {
    let parent = crate::process::pid();
    fork_with(|| {
        if crate::process::die_with_parent(parent).is_err() {
            return PANIC_CODE;
        }
        // Nothing of the child's unwound state is looked at: it exits.
        catch_unwind(AssertUnwindSafe(f)).unwrap_or(PANIC_CODE)
    })
}

/// Forks a process that is no child of this one: its parent is a child that has ended, so that it
/// belongs to the nearest reaper of orphans (`PR_SET_CHILD_SUBREAPER`, else init), and its CPU time
/// and end are never counted as this process's. It stays in this process's group, runs `f`, and
/// ends with the code it returns, or with [`PANIC_CODE`]. Nobody kills it if this process dies:
/// `f` must end by itself.
///
/// # Errors
/// `EAGAIN` where the limit on processes is reached, `ENOMEM`.
pub fn fork_orphan(f: impl FnOnce() -> i32) -> Result<Pid> {
    let orphan = crate::pages::shared(size_of::<u64>())?;
    let between = fork_with(|| {
        match fork_with(|| catch_unwind(AssertUnwindSafe(f)).unwrap_or(PANIC_CODE)) {
            Ok(pid) => orphan.words()[0].store(pid.unsigned_abs().into(), Ordering::Release),
            Err(_) => return 1,
        }
        0
    })?;
    let ended = wait(between)?;
    match orphan.words()[0].load(Ordering::Acquire) {
        0 if ended.code == Some(1) => Err(Error::new("fork (of an orphan)", libc::EAGAIN)),
        0 => Err(Error::new("fork (of an orphan's parent)", libc::ECHILD)),
        pid => Ok(pid as Pid),
    }
}

/// `fork`, with `child` as all that the child does: it ends by `_exit` with the
/// code that `child` returns.
pub(crate) fn fork_with(child: impl FnOnce() -> i32) -> Result<Pid> {
    // SAFETY: `fork` itself touches no memory of ours. The child has a copy of
    // everything, runs only `child` and never returns from here; that other
    // threads' locks may be held in it is a risk of standing still, which the
    // module's documentation names, and not of unsoundness.
    match unsafe { libc::fork() } {
        -1 => Err(Error::new("fork", last_errno())),
        0 => exit_now(child()),
        pid => Ok(pid),
    }
}

/// Starts a program by `posix_spawn`, with an empty environment. `args` follow
/// `path`, which is the program's own name (`argv[0]`).
///
/// # Errors
/// `ENOENT`, `EACCES` and so on: a program that cannot be executed is an error
/// here, in the parent. `E2BIG` for more than 30 arguments.
pub fn spawn_program(path: &CStr, args: &[&CStr]) -> Result<Pid> {
    let call = || format!("posix_spawn({})", path.to_string_lossy());
    let arguments = argument_vector(path, args).ok_or_else(|| Error::new(call(), libc::E2BIG))?;
    let environment: [*mut c_char; 1] = [std::ptr::null_mut()];
    let mut pid: Pid = 0;
    // SAFETY: `path` and the arguments are C strings that outlive the call,
    // both vectors end in null, and null attributes mean the defaults.
    // posix_spawn does not write to the strings; the type says mut for history.
    let errno = unsafe {
        libc::posix_spawn(
            &raw mut pid,
            path.as_ptr(),
            std::ptr::null(),
            std::ptr::null(),
            arguments.as_ptr().cast::<*mut c_char>(),
            environment.as_ptr(),
        )
    };
    check_number(errno, call)?;
    Ok(pid)
}

/// Starts a program by `fork` and `execve`, with an empty environment. `args`
/// follow `path`. A program that cannot be executed shows as a child that
/// exits with [`EXEC_FAILED_CODE`].
///
/// # Errors
/// `EAGAIN`, `ENOMEM` from `fork`; `E2BIG` for more than 30 arguments.
pub fn fork_exec(path: &CStr, args: &[&CStr]) -> Result<Pid> {
    let call = || format!("execve({})", path.to_string_lossy());
    let arguments = argument_vector(path, args).ok_or_else(|| Error::new(call(), libc::E2BIG))?;
    let environment: [*const c_char; 1] = [std::ptr::null()];
    fork_with(|| {
        // SAFETY: as in `spawn_program`; the child has copies of all of it.
        unsafe { libc::execve(path.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
        EXEC_FAILED_CODE
    })
}

/// The null-terminated vector of a program's name and arguments.
fn argument_vector(path: &CStr, args: &[&CStr]) -> Option<[*const c_char; MAXIMUM_ARGUMENTS + 2]> {
    if args.len() > MAXIMUM_ARGUMENTS {
        return None;
    }
    let mut vector = [std::ptr::null(); MAXIMUM_ARGUMENTS + 2];
    vector[0] = path.as_ptr();
    for (place, argument) in vector[1..].iter_mut().zip(args) {
        *place = argument.as_ptr();
    }
    Some(vector)
}

/// Waits until the child `pid` has ended, and reaps it. Signals that arrive
/// meanwhile do not end the wait.
///
/// # Errors
/// `ECHILD` where `pid` is no child of this process or was reaped already.
pub fn wait(pid: Pid) -> Result<Ended> {
    loop {
        // Without WNOHANG the answer is always an end; the loop only satisfies
        // the type.
        if let Some(ended) = wait_with(pid, 0)? {
            return Ok(ended);
        }
    }
}

/// Reaps the child `pid` if it has ended; `None` while it lives.
///
/// # Errors
/// As [`wait`].
pub fn try_wait(pid: Pid) -> Result<Option<Ended>> {
    wait_with(pid, libc::WNOHANG)
}

/// Reaps a child of this process that has ended, whichever; `None` while all live.
///
/// # Errors
/// `ECHILD` where this process has no child.
pub fn try_wait_any() -> Result<Option<(Pid, Ended)>> {
    wait_for(-1, libc::WNOHANG, || "wait4(any child)".to_string())
}

fn wait_with(pid: Pid, options: libc::c_int) -> Result<Option<Ended>> {
    let call = || format!("wait4(process {pid})");
    // Zero and negative numbers mean groups and "any child" to the kernel.
    if pid <= 0 {
        return Err(Error::new(call(), libc::ECHILD));
    }
    Ok(wait_for(pid, options, call)?.map(|(_, ended)| ended))
}

/// `wait4`, with `who` as the kernel understands it.
fn wait_for(
    who: libc::pid_t,
    options: libc::c_int,
    call: impl Fn() -> String,
) -> Result<Option<(Pid, Ended)>> {
    let waited = wait4(who, options).map_err(|errno| Error::new(call(), errno))?;
    Ok(waited.map(|(pid, status, usage)| (pid, Ended::of(status, usage))))
}

/// So often in a row no signals interrupt a wait: a filter of system calls does.
const INTERRUPTIONS_MAX: u32 = 1 << 20;

/// Waits for a process or a task, whatever signals come; `None` where nothing has happened yet.
///
/// # Errors
/// The kernel's error number; `EINTR` where every wait is interrupted.
pub(crate) fn wait4(
    who: libc::pid_t,
    options: libc::c_int,
) -> std::result::Result<Option<(Pid, libc::c_int, Usage)>, i32> {
    let mut status: libc::c_int = 0;
    // SAFETY: all-zero bytes are a valid rusage: it holds integers only.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let mut interruptions = 0;
    loop {
        // SAFETY: `status` and `usage` are ours and outlive the call.
        match unsafe { libc::wait4(who, &raw mut status, options, &raw mut usage) } {
            0 => return Ok(None),
            -1 if last_errno() == libc::EINTR && interruptions < INTERRUPTIONS_MAX => {
                interruptions += 1;
            }
            -1 => return Err(last_errno()),
            pid => return Ok(Some((pid, status, Usage::from_raw(&usage)))),
        }
    }
}

/// Whether a process of that number exists, also as a zombie that nobody has
/// reaped, and also if it belongs to somebody else.
pub fn exists(pid: Pid) -> bool {
    if pid <= 0 {
        return false;
    }
    // SAFETY: signal 0 asks whether the process exists and sends nothing.
    let result = unsafe { libc::kill(pid, 0) };
    result == 0 || last_errno() == libc::EPERM
}

/// Ends this process at once by `_exit`: no destructor, no `atexit`, no flush.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` never returns and runs nothing of this process.
    unsafe { libc::_exit(code) }
}

#[cfg(test)]
mod tests;
