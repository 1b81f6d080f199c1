//! What a process inherits from its parent that moves its numbers or makes its calls fail: a
//! container's filters, a debugger, `nice`, `chrt`, `setarch`, `numactl`, a service manager's timer slack.

use crate::error::check;
use crate::{Pid, Result, affinity, proc, process, signal, text};
use rustix::fs::Mode;
use std::collections::BTreeMap;

/// The timer slack of a process that nobody gave another one, in nanoseconds (prctl(2), PR_SET_TIMERSLACK).
const SLACK_NS: u64 = 50_000;

/// What file modes lack that a trial of the catalog makes.
const UMASK: u32 = 0o022;

/// The bits of personality(2) that move addresses or numbers, with what they do.
const PERSONALITIES: [(u64, &str); 5] = [
    (0x0004_0000, "addresses are not randomised"),
    (0x0010_0000, "page 0 is mapped"),
    (0x0020_0000, "old layout of memory"),
    (0x0040_0000, "what is readable is executable"),
    (0x0400_0000, "timeouts of select stay as they were"),
];

/// The capabilities that decide what can be measured and shielded, by their numbers (capability.h).
const CAPABILITIES: [(u32, &str); 8] = [
    (12, "NET_ADMIN"),
    (14, "IPC_LOCK"),
    (19, "SYS_PTRACE"),
    (21, "SYS_ADMIN"),
    (23, "SYS_NICE"),
    (24, "SYS_RESOURCE"),
    (34, "SYSLOG"),
    (38, "PERFMON"),
];

/// The policies of get_mempolicy(2), by their numbers.
const MEMORY_POLICIES: [&str; 7] = [
    "default",
    "preferred",
    "bind",
    "interleave",
    "local",
    "preferred many",
    "weighted interleave",
];

/// The beginnings of the names of variables that change how programs run: the dynamic linker's, those of
/// allocators, of OpenMP, and of runtimes.
const VARIABLES: &str = "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_BIND_NOW GLIBC_TUNABLES MALLOC_ MIMALLOC_ \
    JE_MALLOC_CONF OMP_ GOMP_ KMP_ GOMAXPROCS GOGC GODEBUG GOMEMLIMIT JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS \
    PYTHON_ PYTHONOPTIMIZE PYTHONHASHSEED PYTHONDEVMODE NODE_OPTIONS \
    UV_THREADPOOL_SIZE RUBYOPT PERL5OPT OPENBLAS_ MKL_ RAYON_ TOKIO_ DOTNET_";

/// The most characters of such a variable's value.
const VALUE_CHARACTERS_MAX: usize = 200;

/// Gives the calling thread, and what it starts from now on, the timer slack, the scheduling policy and the
/// personality of a program that inherited nothing special, and no descriptors beyond the first three: a fork
/// copies each. What is refused stays, and [`facts`] names it.
pub fn set_usual() {
    // SAFETY: integers only; the descriptors stay open here, and are closed where another program starts.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    let _ = process::set_timer_slack(SLACK_NS);
    if policy().is_some() {
        let usual = libc::sched_param { sched_priority: 0 };
        // SAFETY: the kernel reads `usual`, which outlives the call.
        unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const usual) };
    }
    // SAFETY: it changes how later programs are laid out, and no memory of this one.
    unsafe { libc::personality(0) };
}

/// Gives this process the signals and the umask of a program that inherited nothing special. SIGPIPE and
/// SIGXFSZ stay as they are: writes then fail with an error.
///
/// # Errors
/// None is known.
pub fn set_usual_signals() -> Result<()> {
    for number in 1..=signal::highest() {
        let stays = [libc::SIGPIPE, libc::SIGXFSZ, libc::SIGKILL, libc::SIGSTOP].contains(&number);
        // libc keeps the first real-time signals for itself.
        if !stays && signal::is_ignored(number).unwrap_or(false) {
            signal::heed(number)?;
        }
    }
    rustix::process::umask(Mode::from_bits_truncate(UMASK));
    signal::unblock_all()
}

/// Stops the timers that a program keeps when it is replaced by another (setitimer(2)): their signals would end
/// this one.
pub fn stop_timers() {
    let none = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let off = libc::itimerval { it_interval: none, it_value: none };
    for timer in [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF] {
        // SAFETY: the kernel reads `off`, which outlives the call.
        unsafe { libc::setitimer(timer, &raw const off, std::ptr::null_mut()) };
    }
}

/// Reports whether /proc shows the processes of another namespace than this process is in, under other numbers.
pub fn proc_is_foreign() -> bool {
    let own = std::fs::read_link("/proc/self").ok();
    own.is_some_and(|own| own.to_str() != Some(&process::pid().to_string()))
}

/// Returns the umask of this process.
pub fn umask() -> u32 {
    let status = text::read("/proc/self/status").unwrap_or_default();
    line(&status, "Umask").and_then(|octal| u32::from_str_radix(octal, 8).ok()).unwrap_or_default()
}

/// Returns what this thread has inherited and has not changed, by a short name; what is usual is absent.
pub fn facts() -> BTreeMap<String, String> {
    let status = text::read("/proc/thread-self/status").unwrap_or_default();
    let facts = [
        ("seccomp", seccomp(&status)),
        ("tracer", tracer(&status)),
        ("capabilities", capabilities(&status)),
        ("security_label", text::value("/proc/thread-self/attr/current").and_then(|it| label(&it))),
        ("scheduling_policy", policy()),
        ("timer_slack", slack()),
        ("personality", personality()),
        ("thp_of_process", (text::field(&status, "THP_enabled") == Some(0)).then(|| "off".into())),
        ("memory_policy", memory_policy()),
        ("io_priority", io_priority()),
        ("core_scheduling", core_cookie().then(|| "a group of its own".into())),
        ("speculation", speculation(&status)),
        ("variables", variables()),
    ];
    let known = facts.into_iter().filter_map(|(name, fact)| Some((name.to_string(), fact?)));
    known.collect()
}

/// Returns the variables of the environment that change how programs run, with their values; but the one that `cargo run`
/// sets for what it has built.
fn variables() -> Option<String> {
    let cargos = std::env::var_os("CARGO_MANIFEST_DIR").map(|_| "LD_LIBRARY_PATH");
    let is_known = |name: &str| {
        let mut known = VARIABLES.split_whitespace().filter(|known| Some(*known) != cargos);
        known.any(|known| name == known || known.ends_with('_') && name.starts_with(known))
    };
    let mut all: Vec<String> = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value))
        .filter(|(name, value)| is_known(name) && !value.is_empty())
        .map(|(name, value)| {
            let value = value.to_string_lossy();
            format!("{name}={}", value.chars().take(VALUE_CHARACTERS_MAX).collect::<String>())
        })
        .collect();
    all.sort();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Returns the value of a line `NAME:\tVALUE`.
fn line<'t>(status: &'t str, name: &str) -> Option<&'t str> {
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.map(str::trim)
}

fn seccomp(status: &str) -> Option<String> {
    match (line(status, "Seccomp")?, text::field(status, "Seccomp_filters")) {
        ("0", _) => None,
        (_, None | Some(0)) => Some("filters".into()),
        (_, Some(1)) => Some("1 filter".into()),
        (_, Some(filters)) => Some(format!("{filters} filters")),
    }
}

fn tracer(status: &str) -> Option<String> {
    let pid = text::field(status, "TracerPid").filter(|pid| *pid > 0)?;
    let name = Pid::try_from(pid).ok().and_then(proc::stat).map(|stat| stat.name);
    // The tracer may live in another namespace of processes.
    Some(name.unwrap_or_else(|| "unknown".into()))
}

/// Returns which of the capabilities root lacks, or a user has.
fn capabilities(status: &str) -> Option<String> {
    let effective = u64::from_str_radix(line(status, "CapEff")?, 16).ok()?;
    let last = text::number("/proc/sys/kernel/cap_last_cap").unwrap_or(63);
    let named = |has: bool| {
        let there = CAPABILITIES.iter().filter(|(bit, _)| u64::from(*bit) <= last);
        let names = there.filter(|(bit, _)| (effective >> bit & 1 == 1) == has);
        names.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
    };
    let (text, what) = match process::is_root() {
        true => (named(false), "root without "),
        false => (named(true), ""),
    };
    (!text.is_empty()).then(|| format!("{what}{text}"))
}

/// Returns the profile or the type of a security module's label: other parts differ from container to
/// container.
fn label(label: &str) -> Option<String> {
    let label = label.trim_end_matches('\0');
    let kind = label.split(':').nth(2).unwrap_or(label).trim();
    (!["", "unconfined", "unconfined_t", "kernel"].contains(&kind)).then(|| kind.to_string())
}

fn policy() -> Option<String> {
    // SAFETY: it takes a number, and only asks.
    match unsafe { libc::sched_getscheduler(0) } & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_BATCH => Some("batch".into()),
        libc::SCHED_IDLE => Some("idle".into()),
        libc::SCHED_FIFO => Some("fifo".into()),
        libc::SCHED_RR => Some("round robin".into()),
        libc::SCHED_DEADLINE => Some("deadline".into()),
        _ => None,
    }
}

fn slack() -> Option<String> {
    // SAFETY: it only asks.
    let ns = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK, 0, 0, 0, 0) };
    let ns = u64::try_from(ns).ok().filter(|ns| *ns > 0 && *ns != SLACK_NS)?;
    Some(match ns {
        1_000_000.. => format!("{} ms", ns as f64 / 1e6),
        1_000.. => format!("{} µs", ns as f64 / 1e3),
        _ => format!("{ns} ns"),
    })
}

fn personality() -> Option<String> {
    // SAFETY: this value only asks.
    let bits = unsafe { libc::personality(0xffff_ffff) };
    let bits = u64::try_from(bits).ok().filter(|bits| *bits != 0)?;
    let known = PERSONALITIES.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, does)| *does);
    let known: Vec<&str> = known.collect();
    let does = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
    Some(format!("{bits:#x}{does}"))
}

/// The most NUMA nodes that any kernel is built for.
const NODES_MAX: usize = 1024;

fn memory_policy() -> Option<String> {
    let (mut mode, mut mask) = (0_i32, [0_u64; NODES_MAX / 64]);
    // SAFETY: the kernel writes one number and a mask of NODES_MAX bits, which are ours.
    let asked = unsafe {
        let nowhere = std::ptr::null::<u8>();
        libc::syscall(
            libc::SYS_get_mempolicy,
            &raw mut mode,
            mask.as_mut_ptr(),
            NODES_MAX,
            nowhere,
            0,
        )
    };
    check(asked, || "get_mempolicy".into()).ok()?;
    // The upper bits are flags.
    let name = MEMORY_POLICIES.get((mode & 0xff) as usize).filter(|name| **name != "default")?;
    let has = |node: &u32| mask[*node as usize / 64] >> (node % 64) & 1 == 1;
    let nodes: Vec<u32> = (0..NODES_MAX as u32).filter(has).collect();
    Some(match nodes.is_empty() {
        true => (*name).to_string(),
        false => format!("{name}, nodes {}", affinity::format_list(&nodes)),
    })
}

/// Returns the class of an I/O priority that somebody set (ioprio_get(2)).
fn io_priority() -> Option<String> {
    // SAFETY: it takes numbers, and only asks.
    let priority = unsafe { libc::syscall(libc::SYS_ioprio_get, 1, 0) };
    match priority >> 13 {
        1 => Some(format!("real time {}", priority & 7)),
        2 if priority & 7 != 4 => Some(format!("best effort {}", priority & 7)),
        3 => Some("idle".into()),
        _ => None,
    }
}

/// Reports whether this thread shares a core only with some others (PR_SCHED_CORE).
fn core_cookie() -> bool {
    let mut cookie = 0_u64;
    // SAFETY: the kernel writes one number, which is ours.
    let asked = unsafe { libc::prctl(libc::PR_SCHED_CORE, 0, 0, 0, &raw mut cookie) };
    asked == 0 && cookie != 0
}

/// Returns which speculation of the processor is switched off for this thread alone.
fn speculation(status: &str) -> Option<String> {
    let store = line(status, "Speculation_Store_Bypass")?;
    let off = store.starts_with("thread") && store.contains("mitigated");
    off.then(|| "store bypass is off".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::in_child;

    #[test]
    fn a_status_is_read() {
        let status = "TracerPid:\t0\nSeccomp:\t2\nSeccomp_filters:\t3\nTHP_enabled:\t0\n\
                      Speculation_Store_Bypass:\tthread force mitigated\n";
        assert_eq!(seccomp(status).as_deref(), Some("3 filters"));
        assert_eq!(seccomp("Seccomp:\t2\n").as_deref(), Some("filters"));
        assert_eq!(seccomp("Seccomp:\t0\nSeccomp_filters:\t0\n"), None);
        assert_eq!((tracer(status), tracer("TracerPid:\t1\n").is_some()), (None, true));
        assert_eq!(speculation(status).as_deref(), Some("store bypass is off"));
        assert_eq!(speculation("Speculation_Store_Bypass:\tthread vulnerable\n"), None);
        assert_eq!(label("docker-default (enforce)").as_deref(), Some("docker-default (enforce)"));
        assert_eq!(label("system_u:system_r:container_t:s0:c1,c2").as_deref(), Some("container_t"));
        assert_eq!((label("unconfined"), label("")), (None, None));
    }

    /// Sets what can be set by anybody, sees it named, and sets the usual state again.
    #[test]
    fn what_is_inherited_is_named_until_it_is_set() {
        in_child(|| {
            set_usual();
            set_usual_signals().unwrap();
            let before = facts();
            process::set_timer_slack(5_000_000).unwrap();
            // SAFETY: none of these touches memory.
            unsafe {
                libc::personality(0x0004_0000);
                let batch = libc::sched_param { sched_priority: 0 };
                libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const batch);
                libc::signal(libc::SIGCHLD, libc::SIG_IGN);
            }
            let set = crate::wait_signal::SignalSet::of(&[libc::SIGUSR1]);
            crate::wait_signal::block(&set).unwrap();
            rustix::process::umask(Mode::from_bits_truncate(0o777));
            let facts = facts();
            for (name, value) in [
                ("timer_slack", "5 ms"),
                ("personality", "0x40000 (addresses are not randomised)"),
                ("scheduling_policy", "batch"),
            ] {
                assert_eq!(facts.get(name).map(String::as_str), Some(value));
            }
            set_usual();
            set_usual_signals().unwrap();
            assert_eq!(super::facts(), before);
            assert_eq!(rustix::process::umask(Mode::empty()).bits(), UMASK);
            let status = text::read("/proc/self/status").unwrap();
            assert_eq!(line(&status, "SigBlk"), Some("0000000000000000"));
            assert!(!signal::is_ignored(libc::SIGCHLD).unwrap());
        });
    }
}
