//! Processes as a family: groups, signals, priorities, orphans.

mod family;

use crate::error::check;
use crate::proc::stat;
use crate::{Error, Pid, Result, text};
pub use family::{descendants, family, kill_descendants, nearest, reap_adopted};
use rustix::process::{Signal, WaitId, WaitIdOptions, set_parent_process_death_signal};
use std::num::NonZeroU64;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Of linux/sched.h; not every C library names it.
const SCHED_RESET_ON_FORK: libc::c_int = 0x4000_0000;

/// Sends `signal` to all processes of the group `pgid`. A group that has no
/// member any more is fine.
///
/// # Errors
/// `EPERM`; `EINVAL` for a signal that does not exist, or for a `pgid` of 1 or
/// less, which the kernel would take for "every process there is".
pub fn kill_group(pgid: Pid, signal: i32) -> Result<()> {
    let call = || format!("kill(group {pgid}, signal {signal})");
    if pgid <= 1 {
        return Err(Error::new(call(), libc::EINVAL));
    }
    // SAFETY: sends a signal; touches no memory of ours.
    match check(unsafe { libc::kill(-pgid, signal) }.into(), call) {
        Err(error) if error.errno() == Some(libc::ESRCH) => Ok(()),
        other => other.map(|_| ()),
    }
}

/// Sends `signal` to the process `pid`.
///
/// # Errors
/// `ESRCH` where there is no such process, `EPERM`; `EINVAL` for a signal that
/// does not exist, or for a `pid` of 0 or less, which would mean a group.
pub fn kill(pid: Pid, signal: i32) -> Result<()> {
    let call = || format!("kill(process {pid}, signal {signal})");
    if pid <= 0 {
        return Err(Error::new(call(), libc::EINVAL));
    }
    // SAFETY: sends a signal; touches no memory of ours.
    check(unsafe { libc::kill(pid, signal) }.into(), call).map(|_| ())
}

/// Makes this process the one that adopts orphaned descendants, instead of
/// init. Children do not inherit this.
///
/// # Errors
/// `EINVAL` before Linux 3.4.
pub fn become_subreaper() -> Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(Error::of("prctl(PR_SET_CHILD_SUBREAPER)"))
}

/// Has this process killed when its parent ends, exactly: when the thread that
/// forked it ends. `parent` is the number the parent had before the fork.
///
/// # Errors
/// `ESRCH` where the parent had ended before the kernel could be asked.
pub fn die_with_parent(parent: Pid) -> Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(Error::of("prctl(PR_SET_PDEATHSIG)"))?;
    // A parent that ended before the prctl can send nothing any more.
    if parent_pid() == parent {
        Ok(())
    } else {
        Err(Error::new(format!("prctl(PR_SET_PDEATHSIG, parent {parent})"), libc::ESRCH))
    }
}

/// Undoes [`die_with_parent`]: for a process that ends by itself when its parent does, after it has
/// put things in order.
///
/// # Errors
/// None is known.
pub fn outlive_parent() -> Result<()> {
    set_parent_process_death_signal(None).map_err(Error::of("prctl(PR_SET_PDEATHSIG, none)"))
}

/// Sets the niceness (-20 first, 19 last) of the calling thread; new threads
/// and children inherit it. With autogroup on it counts only inside one's own
/// session.
///
/// # Errors
/// `EACCES` or `EPERM` for a lower value without the right to it.
pub fn set_nice(nice: i32) -> Result<()> {
    rustix::process::setpriority_process(None, nice)
        .map_err(Error::of(format!("setpriority(nice {nice})")))
}

/// Lets the kernel end the sleeps of the calling thread so much later than asked for, in
/// nanoseconds (`PR_SET_TIMERSLACK`; 50,000 unless somebody changed it). What the thread starts
/// inherits it. 0 would mean the inherited value, and is taken for 1.
///
/// # Errors
/// None that the kernel documents.
pub fn set_timer_slack(slack_ns: u64) -> Result<()> {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(slack_ns.max(1)))
        .map_err(Error::of(format!("prctl(PR_SET_TIMERSLACK, {slack_ns})")))
}

/// Puts the calling thread before all ordinary ones, whatever their niceness (`SCHED_FIFO` at the
/// lowest priority). What it starts is ordinary again. Such a thread must sleep often: the kernel
/// stops it after 95 % of a second.
///
/// # Errors
/// `EPERM` without the right to it, or in a control group that has no real-time share.
pub fn set_first_in_line() -> Result<()> {
    // The kernel's `struct sched_param`.
    let priority: libc::c_int = 1;
    let policy = libc::SCHED_FIFO | SCHED_RESET_ON_FORK;
    // SAFETY: `priority` outlives the call, which only reads it. It is made without libc: musl's function
    // of this name refuses always.
    let result =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) };
    check(result, || "sched_setscheduler(SCHED_FIFO)".to_string()).map(|_| ())
}

/// The niceness of the calling thread. An error reads as 0; for one's own
/// thread there is none.
pub fn nice() -> i32 {
    rustix::process::getpriority_process(None).unwrap_or(0)
}

/// Whether the effective user is root. Root inside a container may still lack
/// rights.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The number of this process.
pub fn pid() -> Pid {
    rustix::process::getpid().as_raw_pid()
}

/// The number of the parent process; 0 if it is outside our PID namespace.
pub fn parent_pid() -> Pid {
    rustix::process::Pid::as_raw(rustix::process::getppid())
}

/// Makes this process the leader of a new group and returns its number.
///
/// # Errors
/// `EPERM` where it leads a session.
#[cfg(test)]
pub(crate) fn new_group() -> Result<Pid> {
    // SAFETY: integers only; touches no memory of ours.
    check(unsafe { libc::setpgid(0, 0) }.into(), || "setpgid(0, 0)".to_string())?;
    Ok(pid())
}

/// Closes all descriptors of this process from 3 on but `kept`: for a forked child, whose copies of
/// its parent's connections would else keep them open. What owned the others must not be used, nor
/// dropped, any more: the child ends by `_exit`.
///
/// # Errors
/// `ENOSYS` before Linux 5.9; `EBADF` for a kept one below 3, of which nothing is closed.
pub fn close_all_but(kept: &[BorrowedFd<'_>]) -> Result<()> {
    let mut kept: Vec<u32> = kept.iter().map(|fd| fd.as_raw_fd().unsigned_abs()).collect();
    kept.sort_unstable();
    if kept.first().is_some_and(|least| *least < 3) {
        return Err(Error::new("close_range", libc::EBADF));
    }
    let mut from = 3;
    for end in kept.into_iter().map(Some).chain([None]) {
        let last = end.map_or(u32::MAX, |end| end.saturating_sub(1));
        if from <= last {
            // SAFETY: integers only; touches no memory. That the descriptors' owners are not used
            // any more is what the documentation asks for.
            let result = unsafe { libc::syscall(libc::SYS_close_range, from, last, 0) };
            check(result, || format!("close_range({from}, {last})"))?;
        }
        from = end.map_or(u32::MAX, |end| end.saturating_add(1));
    }
    Ok(())
}

/// The process group of this process.
pub fn group() -> Pid {
    // rustix takes 0 for impossible, which is what a group led from another PID namespace has.
    // SAFETY: no argument, and it cannot fail.
    unsafe { libc::getpgrp() }
}

/// Whether the child `pid` has ended, without reaping it: its number stays
/// taken until it is waited for.
///
/// # Errors
/// `ECHILD` where `pid` is no child of this process or was reaped.
pub fn peek_exited(pid: Pid) -> Result<bool> {
    has_changed(pid, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
}

/// Whether the child `pid` was stopped and continued (SIGSTOP, then SIGCONT) since this was last
/// asked, however short the stop was. The kernel forgets it when the child ends.
///
/// # Errors
/// As [`peek_exited`].
pub fn take_continued(pid: Pid) -> Result<bool> {
    has_changed(pid, WaitIdOptions::CONTINUED)
}

/// Asks waitid, without waiting, whether the child `pid` has changed in one of the ways of `flags`.
/// Returns the number of a process as `rustix` has it; `None` for zero and negative numbers, which mean
/// groups and "any child" to the kernel.
pub(crate) fn single(pid: Pid) -> Option<rustix::process::Pid> {
    if pid > 0 { rustix::process::Pid::from_raw(pid) } else { None }
}

fn has_changed(pid: Pid, options: WaitIdOptions) -> Result<bool> {
    let call = || format!("waitid(process {pid})");
    let Some(child) = single(pid) else { return Err(Error::new(call(), libc::ECHILD)) };
    let ask = || rustix::process::waitid(WaitId::Pid(child), options | WaitIdOptions::NOHANG);
    rustix::io::retry_on_intr(ask).map(|status| status.is_some()).map_err(Error::of(call()))
}

/// The children of this process, zombies included, that are not `known`:
/// orphans that a subreaper has adopted.
///
/// The kernel's own list (`/proc/self/task/*/children`) is used where it
/// exists, else every process is asked for its parent.
pub fn adopted_children(known: &[Pid]) -> Vec<Pid> {
    let mut children = listed_children("self").unwrap_or_else(scanned_children);
    children.retain(|child| !known.contains(child));
    children.sort_unstable();
    children.dedup();
    children
}

/// The children of a process by the kernel's lists, zombies included; `None` where it keeps none
/// (`CONFIG_PROC_CHILDREN`). A process that has ended since has none.
fn listed_children(process: impl std::fmt::Display) -> Option<Vec<Pid>> {
    let mut children = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
        let path = task.path();
        match text::read(path.join("children")) {
            Ok(list) => children.extend(parse_pids(&list)),
            // A thread that has ended since has no list, and no folder either.
            Err(_) if !path.exists() => {}
            Err(_) => return None,
        }
    }
    Some(children)
}

/// Reads process ids with blanks between them. A process outside our PID namespace is listed as 0,
/// and a signal to 0 or to a negative number would go to whole groups.
pub(crate) fn parse_pids(text: &str) -> impl Iterator<Item = Pid> {
    text.split_whitespace().filter_map(|word| word.parse().ok()).filter(|pid| *pid > 0)
}

/// Children by asking every process for its parent.
fn scanned_children() -> Vec<Pid> {
    let own = pid();
    text::process_ids()
        .into_iter()
        .filter(|pid| stat(*pid).is_some_and(|stat| stat.parent == own))
        .collect()
}

/// The living members of the process group `pgid`: zombies do not count. With
/// /proc mounted `hidepid`, only processes that this user may see.
pub fn group_members(pgid: Pid) -> Vec<Pid> {
    text::process_ids()
        .into_iter()
        .filter(|pid| stat(*pid).is_some_and(|stat| stat.group == pgid && stat.is_alive()))
        .collect()
}

#[cfg(test)]
mod tests;
