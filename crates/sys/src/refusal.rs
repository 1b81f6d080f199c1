//! System calls that a kernel or a filter refuses as such, and what would allow one.
//!
//! A kernel may be too old for a call, and the filter of a container (seccomp) may refuse it whatever its
//! arguments. Both are seen by a call that asks for nothing. Errors of this room say so ([`crate::Error`]), so
//! this file uses nothing that returns one.

use crate::calls::numbers::number_of;
use crate::errno::last_errno;
use rustix::system::Uname;

/// The oldest Linux that has every call that all sessions need; the newest of these is `pidfd_open`.
pub const OLDEST_LINUX: &str = "5.3";

/// A system call that scruple makes and somebody may refuse.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    /// The first Linux that has it, if some kernels in use do not.
    since: &'a str,
    /// No session can do without.
    pub(crate) always: bool,
    serves: &'a str,
}

const fn always<'a>(name: &'a str, serves: &'a str) -> Call<'a> {
    Call { name, since: "", always: true, serves }
}

const fn some<'a>(name: &'a str, serves: &'a str) -> Call<'a> {
    Call { always: false, ..always(name, serves) }
}

const fn since<'a>(since: &'a str, call: Call<'a>) -> Call<'a> {
    Call { since, ..call }
}

/// Those whose refusal shows: each rejects [`NONSENSE`] for each of its arguments before it does anything. Not
/// clone: Docker's filter refuses some of its flags.
const CALLS: [Call<'static>; 47] = [
    since(OLDEST_LINUX, always("pidfd_open", "wait for the end of trials and programs")),
    always("chdir", "start trials in their folders"),
    always("clock_nanosleep", "wait"),
    always("dup2", "start trials"),
    always("eventfd2", "heed Ctrl-C"),
    always("fcntl", "talk to trials"),
    always("fdatasync", "store trials"),
    always("fsync", "store sessions"),
    always("getcwd", "know its folder"),
    always("getdents64", "read folders"),
    always("getrusage", "count CPU time and faults"),
    always("ioctl", "talk to trials"),
    always("kill", "end trials"),
    always("mkdir", "make a session's folder"),
    always("flock", "keep a second scruple from writing a session"),
    always("pipe2", "hear what trials print"),
    always("ppoll", "wait for trials and programs"),
    always("prlimit64", "know and set the limits of programs"),
    always("recvfrom", "talk to trials"),
    always("sendto", "talk to trials"),
    always("unlinkat", "remove what trials leave behind"),
    always("prctl", "find and end what trials leave behind"),
    always("sched_getaffinity", "know which CPUs it may use"),
    always("sched_setaffinity", "keep trials on their CPUs"),
    always("setpgid", "end trials with all that they start"),
    always("socketpair", "talk to trials"),
    always("wait4", "see how trials ended"),
    since("5.3", some("clone3", "start threads and processes")),
    since("5.9", some("close_range", "close what a child inherits")),
    some("epoll_create1", "load servers"),
    some("getpriority", "know its niceness"),
    some("getrandom", "seed its hash tables"),
    some("madvise", "choose the pages of memory"),
    some("memfd_create", "see what a program has not flushed"),
    some("mincore", "see which pages are in memory"),
    some("mprotect", "guard its stacks"),
    some("perf_event_open", "count cycles, misses and switches"),
    some("ptrace", "list the system calls of a program"),
    some("rt_sigsuspend", "wait for signals"),
    some("rt_sigtimedwait", "wait for signals"),
    some("sched_setscheduler", "put a thread before others"),
    some("setitimer", "send signals at their moments"),
    some("signalfd4", "wait for signals by a descriptor"),
    some("socket", "load servers"),
    some("statfs", "know the file system"),
    some("uname", "name the kernel and the machine"),
    some("timerfd_create", "send requests at their moments"),
];

/// No flag, file, address or process. -1 would be flock's `LOCK_MAND`, which the kernel accepts and warns of.
const NONSENSE: libc::c_long = -33;

/// How errors of calls begin that the kernel itself refuses with `EPERM` to a process without the right to what
/// it asks for. All others that scruple makes get this error from a filter alone.
const OF_RIGHTS: [&str; 15] = [
    "fcntl(F_SETPIPE_SZ",
    "kill",
    "mkdir",
    "open",
    "perf_event_open",
    "pread",
    "process_vm_readv",
    "ptrace",
    "read",
    "rmdir",
    "sched_setattr",
    "sched_setscheduler",
    "setpriority",
    "setrlimit",
    "write",
];

/// The name of the call in the text of an error: `pidfd_open` of `pidfd_open(77)`; glibc's fork is clone.
fn name(call: &str) -> &str {
    match call.split('(').next().unwrap_or(call).trim() {
        "fork" => "clone",
        name => name,
    }
}

/// The call that was refused, where an error says that one was. libc's functions have names like those of the
/// calls that they make: eventfd, eventfd2. What the standard library does has no call's name: there it is one
/// that is refused here in this way, if any is.
fn culprit(call: &str, errno: i32) -> Option<Call<'_>> {
    let name = name(call);
    let listed = CALLS.iter().find(|known| known.name.starts_with(name)).copied();
    let unlisted = || number_of(name).map(|_| some(name, ""));
    let stopped = || refused().find(|(known, by)| *by == errno && !is_of_rights(known.name));
    listed.or_else(unlisted).or_else(|| stopped().map(|(known, _)| *known))
}

fn is_of_rights(call: &str) -> bool {
    OF_RIGHTS.iter().any(|begin| call.starts_with(begin))
}

/// Whether an error says that this kernel lacks the call, or that something forbids it, whatever its arguments.
/// What has no call's name was stopped by one that is refused here, if any is.
pub(crate) fn is_refused(call: &str, errno: i32) -> bool {
    match errno {
        libc::ENOSYS => true,
        // A probe has a name alone, and asks for nothing that rights are needed for.
        libc::EPERM if call.contains('(') && is_of_rights(call) => false,
        libc::EPERM => culprit(call, errno).is_some(),
        _ => false,
    }
}

/// What is said after an error of a call that is refused: by what, what scruple needs it for, and what would
/// help. Empty for other errors.
pub(crate) fn remedy(call: &str, errno: i32) -> String {
    if errno == libc::EMFILE {
        return ": this process may have no more files open (ulimit -n); raise the limit".into();
    }
    if !is_refused(call, errno) {
        return String::new();
    }
    let Some(Call { name, since, serves, .. }) = culprit(call, errno) else { return String::new() };
    let by = match errno {
        libc::ENOSYS if since.is_empty() => {
            format!("this kernel lacks {name}, or a filter (seccomp) hides it")
        }
        libc::ENOSYS => {
            let here = uname();
            let here = here.as_ref().and_then(|names| names.release().to_str().ok());
            let here = here.unwrap_or("unknown");
            format!(
                "{name} needs Linux {since} (here: {here}) and no filter (seccomp) that hides it"
            )
        }
        _ => format!("a filter of system calls (seccomp) refuses {name}"),
    };
    let serves = match serves {
        "" => String::new(),
        serves => format!("; scruple needs it to {serves}"),
    };
    format!(
        ": {by}{serves}. In a container, --security-opt seccomp=unconfined, or a profile with {name}, allows it"
    )
}

/// Returns the calls that are refused here, each with its error number.
pub(crate) fn refused() -> impl Iterator<Item = (&'static Call<'static>, i32)> {
    CALLS.iter().filter_map(|call| refusal(call).map(|errno| (call, errno)))
}

/// Calls that would do something with [`NONSENSE`], with a first argument by which they only ask.
const ASKING: [(Call<'static>, libc::c_long); 1] =
    [(some("personality", "know how programs are laid out"), 0xffff_ffff)];

/// Calls beyond [`CALLS`] that a session makes at its start and that reject [`NONSENSE`].
const AT_THE_START: [Call<'static>; 4] = [
    some("get_mempolicy", "know where memory is placed"),
    some("ioprio_get", "know its priority for I/O"),
    some("sched_getscheduler", "know its scheduling policy"),
    some("setpriority", "put trials before others"),
];

/// Returns an error for the first call for which a filter here kills the process that makes it, as filters of
/// services do; `None` if none does. Children try them, so that this process goes on.
pub fn deadly() -> Option<String> {
    // Nothing of this needs a file: without a filter the kernel says so.
    // SAFETY: PR_GET_SECCOMP takes no further argument.
    if unsafe { libc::prctl(libc::PR_GET_SECCOMP) } == 0 {
        return None;
    }
    let rejecting = CALLS.iter().chain(&AT_THE_START).map(|call| (*call, NONSENSE));
    let (call, _) = rejecting.chain(ASKING).find(|(call, first)| kills(call, *first))?;
    let Call { name, serves, .. } = call;
    Some(format!(
        "a filter of system calls (seccomp) kills a process that calls {name}, and scruple needs it to {serves}. In a \
         container, --security-opt seccomp=unconfined, or a profile with {name}, allows it; in a service, \
         SystemCallFilter={name}, or SystemCallErrorNumber=EPERM, with which it is refused"
    ))
}

/// Reports whether a child that makes a call is killed for it.
fn kills(call: &Call<'_>, first: libc::c_long) -> bool {
    let Some(number) = number_of(call.name).and_then(|it| libc::c_long::try_from(it).ok()) else {
        return false;
    };
    // SAFETY: the child makes one system call that changes nothing, and ends without unwinding.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            let n = NONSENSE;
            libc::syscall(number, first, n, n, n, n, n);
            libc::_exit(0);
        }
        let mut status = 0;
        child > 0
            && libc::waitpid(child, &raw mut status, 0) == child
            && libc::WIFSIGNALED(status)
            && libc::WTERMSIG(status) == libc::SIGSYS
    }
}

/// The error number of a call that is refused here.
fn refusal(call: &Call<'_>) -> Option<i32> {
    errno_of(call).filter(|errno| matches!(*errno, libc::ENOSYS | libc::EPERM))
}

/// Whether a call of `CALLS` is refused here.
pub(crate) fn is_missing(name: &str) -> bool {
    CALLS.iter().any(|call| call.name == name && refusal(call).is_some())
}

/// The error number of a call with arguments that no call accepts.
fn errno_of(call: &Call<'_>) -> Option<i32> {
    let number = libc::c_long::try_from(number_of(call.name)?).ok()?;
    let n = NONSENSE;
    // SAFETY: each of `CALLS` looks at its arguments first and rejects these: the kernel reads and writes no
    // memory of ours, and nothing changes.
    let result = unsafe { libc::syscall(number, n, n, n, n, n, n) };
    (result == -1).then(last_errno)
}

/// Returns the names of the kernel and the machine, unless the call is refused.
pub(crate) fn uname() -> Option<Uname> {
    // rustix has no error for this call.
    (!is_missing("uname")).then(rustix::system::uname)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_rejects_nonsense() {
        const REJECTED: [i32; 7] = [
            libc::EINVAL,
            libc::EFAULT,
            libc::EBADF,
            libc::ESRCH,
            libc::E2BIG,
            libc::EAFNOSUPPORT,
            libc::EOPNOTSUPP,
        ];
        let may_be_refused = [libc::ENOSYS, libc::EPERM];
        // Some CPUs have another call in place of one of these.
        for call in CALLS.iter().filter(|call| number_of(call.name).is_some()) {
            let errno = errno_of(call).unwrap_or_else(|| panic!("{} did something", call.name));
            let known = REJECTED.contains(&errno) || may_be_refused.contains(&errno);
            assert!(known, "{}: {}", call.name, crate::calls::error_name(errno));
        }
    }

    #[test]
    fn what_no_call_is_named_for_is_put_down_to_a_filter_only_if_one_refuses_something() {
        let refuses = refused().any(|(known, by)| by == libc::EPERM && !is_of_rights(known.name));
        assert_eq!(is_refused("a system call", libc::EPERM), refuses);
        assert_eq!(remedy("a system call", libc::EPERM).is_empty(), !refuses);
        assert!(is_refused("eventfd(0)", libc::EPERM));
        assert!(remedy("eventfd(0)", libc::EMFILE).contains("ulimit -n"));
        assert_eq!(remedy("eventfd(0)", libc::EINVAL), "");
    }
}
