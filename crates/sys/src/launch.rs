//! How a program of somebody else's is started: as a shell would, whatever the process that starts
//! it has made of itself.
//!
//! A process that measures ignores signals, blocks others, and stands on CPUs of its own. A program
//! that inherits all that behaves differently from how its user knows it: Rust ignores SIGPIPE, so
//! that `yes | head` would end in an error message.

use crate::cgroup::Cgroup;
use crate::pages::{SharedWords, shared};
use crate::usage::Usage;
use crate::{Result, clock};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::ffi::CString;
use std::io;
use std::num::NonZeroU64;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is different about the new program's process.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// The CPUs it may use; empty: those of the process that starts it.
    pub cpus: Vec<u32>,
    /// Soft and hard limit on the address space of each of its processes, in bytes.
    pub address_space_bytes: Option<u64>,
    /// The control groups it begins in.
    pub groups: Vec<Cgroup>,
    /// How late the kernel may let its sleeps end, in nanoseconds; `None`: as it is for the process
    /// that starts it. Every thread and process that comes of it inherits it.
    pub timer_slack_ns: Option<u64>,
}

/// The moment at which the program took the place of what prepared it, and what that had used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Began {
    /// On the clock of [`clock::now_ns`].
    pub at_ns: u64,
    /// What the process had used by then: the kernel counts it as the program's.
    pub usage: Usage,
    /// And what it had written by system calls, in bytes.
    pub written_bytes: u64,
    /// For how long it had waited for a CPU; 0 where the kernel keeps no account.
    pub queue_wait_ns: u64,
}

/// Hears from the new process when its program began.
#[derive(Debug)]
pub struct Start {
    words: Arc<SharedWords>,
    groups: usize,
}

/// One word for the time, one for each number of [`Usage`] that is passed on, one for the queue.
const WORDS: usize = 9;

impl Start {
    /// When the program began; `None` until it has.
    pub fn began(&self) -> Option<Began> {
        let word = |index: usize| self.words.words()[index].load(Ordering::Acquire);
        let at_ns = Some(word(0)).filter(|at_ns| *at_ns > 0)?;
        let usage = Usage {
            user_ns: word(1),
            system_ns: word(2),
            rss_peak_bytes: word(3),
            minor_faults: word(4),
            major_faults: word(5),
            voluntary_switches: word(6),
            involuntary_switches: word(7),
            ..Usage::default()
        };
        // One byte to enter each group.
        let (written_bytes, queue_wait_ns) = (self.groups as u64, word(8));
        Some(Began { at_ns, usage, written_bytes, queue_wait_ns })
    }
}

/// Has `command` start its program in a session of its own, so that it has no terminal and no
/// signal for a group of ours reaches it or a signal of its own us; with every signal at its
/// default and none blocked; and with what `launch` says. The CPUs are read back in the new
/// process.
///
/// Where one of these is refused, `spawn` fails, with the kernel's error.
///
/// # Errors
/// `ENOMEM`.
pub fn arrange(command: &mut Command, launch: &Launch) -> Result<Start> {
    let words = Arc::new(shared(WORDS * size_of::<AtomicU64>())?);
    let mut prepared = Prepared {
        cpus: launch.cpus.clone(),
        room: crate::affinity::room(),
        address_space_bytes: launch.address_space_bytes,
        groups: launch.groups.iter().filter_map(membership).collect(),
        timer_slack_ns: launch.timer_slack_ns,
        words: Arc::clone(&words),
    };
    // SAFETY: `realise` makes system calls only; all memory it uses was allocated here. It takes no
    // lock and allocates nothing, which is what a child of a process with threads must keep to.
    unsafe { command.pre_exec(move || prepared.realise()) };
    Ok(Start { words, groups: launch.groups.len() })
}

/// Has `command` report when its program began, and changes nothing else of it.
///
/// # Errors
/// `ENOMEM`.
pub fn report_begin(command: &mut Command) -> Result<Start> {
    let words = Arc::new(shared(WORDS * size_of::<AtomicU64>())?);
    let shared_words = Arc::clone(&words);
    let report = move || {
        tell(&shared_words);
        Ok(())
    };
    // SAFETY: `tell` makes system calls only and writes to memory that was allocated here. It takes no lock and
    // allocates nothing, which is what a child of a process with threads must keep to.
    unsafe { command.pre_exec(report) };
    Ok(Start { words, groups: 0 })
}

fn membership(group: &Cgroup) -> Option<CString> {
    CString::new(group.path().join("cgroup.procs").as_os_str().as_bytes()).ok()
}

/// What the child needs, allocated before the fork.
struct Prepared {
    cpus: Vec<u32>,
    /// Room for the kernel's mask of CPUs.
    room: Vec<libc::c_ulong>,
    address_space_bytes: Option<u64>,
    groups: Vec<CString>,
    timer_slack_ns: Option<u64>,
    words: Arc<SharedWords>,
}

impl Prepared {
    /// Runs in the child, between fork and exec.
    fn realise(&mut self) -> io::Result<()> {
        for group in &self.groups {
            enter(group)?;
        }
        rustix::process::setsid()?;
        default_signals();
        if !self.cpus.is_empty() {
            crate::affinity::set_and_verify(&self.cpus, &mut self.room)
                .map_err(io::Error::from_raw_os_error)?;
        }
        if let Some(bytes) = self.address_space_bytes {
            let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
            setrlimit(Resource::As, limit)?;
        }
        if let Some(slack_ns) = self.timer_slack_ns {
            rustix::thread::set_current_timer_slack(NonZeroU64::new(slack_ns))?;
        }
        tell(&self.words);
        Ok(())
    }
}

/// Reports the time and what the process has used. The last act before the program: what is counted from here on is
/// the program's.
fn tell(words: &SharedWords) {
    let queue_wait_ns = queue_wait_ns().unwrap_or_default();
    let usage = Usage::of_self();
    let numbers = [
        usage.user_ns,
        usage.system_ns,
        usage.rss_peak_bytes,
        usage.minor_faults,
        usage.major_faults,
        usage.voluntary_switches,
        usage.involuntary_switches,
        queue_wait_ns,
    ];
    let words = words.words();
    for (word, value) in words[1..].iter().zip(numbers) {
        word.store(value, Ordering::Relaxed);
    }
    words[0].store(clock::now_ns(), Ordering::Release);
}

/// Returns for how long the calling thread has waited for a CPU, without allocating.
fn queue_wait_ns() -> Option<u64> {
    let file = rustix::fs::open(
        c"/proc/thread-self/schedstat",
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    );
    // Three numbers of at most 20 digits.
    let mut text = [0_u8; 64];
    let bytes = rustix::io::read(file.ok()?, &mut text).ok()?;
    Some(crate::proc::parse_schedstat(str::from_utf8(&text[..bytes]).ok()?)?.queue_wait_ns)
}

/// Moves the calling process into the group whose `cgroup.procs` this is.
fn enter(procs: &CString) -> io::Result<()> {
    let file = rustix::fs::open(procs, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    // "0" is the process that writes, in both versions.
    rustix::io::write(file, b"0")?;
    Ok(())
}

/// Every signal at its default and none blocked. What exec would keep is what is *ignored*: by the
/// lab, by Rust, and by glibc, whose posix_spawn ignores its own two signals in the new process.
fn default_signals() {
    // The kernel's own structure (handler, flags, restorer, mask; no more than 64 bytes on any
    // machine), of which zeros mean the default: libc's function would refuse libc's signals.
    let default = [0_u64; 8];
    let mask_bytes = size_of::<u64>();
    for signal in 1..=crate::signal::highest() {
        // SAFETY: the kernel reads less than `default` holds and writes nothing, and the default
        // involves no code of ours. SIGKILL and SIGSTOP are refused, and need no setting.
        unsafe {
            let nothing = std::ptr::null_mut::<u64>();
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), nothing, mask_bytes);
        }
    }
    let _ = crate::signal::unblock_all();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::in_child;

    fn said(launch: &Launch, script: &str) -> String {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        let start = arrange(&mut command, launch).unwrap();
        assert_eq!(start.began(), None);
        let before_ns = clock::now_ns();
        let output = command.output().unwrap();
        let began = start.began().unwrap();
        assert!(before_ns <= began.at_ns && began.at_ns <= clock::now_ns());
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn signals_that_we_ignore_or_block_are_at_their_defaults_there() {
        in_child(|| {
            crate::signal::ignore_requests_to_end().unwrap();
            crate::signal::ignore_file_size_signal().unwrap();
            let set = crate::wait_signal::SignalSet::of(&[libc::SIGUSR1]);
            crate::wait_signal::block(&set).unwrap();
            let status = said(&Launch::default(), "exec cat /proc/self/status");
            for field in ["SigIgn:", "SigBlk:"] {
                let line = status.lines().find(|line| line.starts_with(field)).unwrap();
                assert!(line.ends_with("\t0000000000000000"), "{line}");
            }
        });
    }

    #[test]
    fn it_leads_a_session_without_a_terminal() {
        let words = said(&Launch::default(), "cut -d' ' -f1,5,6,7 /proc/$$/stat");
        let numbers: Vec<&str> = words.split_whitespace().collect();
        assert_eq!([numbers[0], numbers[0], "0"], numbers[1..]);
    }

    #[test]
    fn cpus_and_address_space_are_set_in_the_child_alone() {
        let all = crate::affinity::allowed().unwrap();
        let last = *all.last().unwrap();
        let launch =
            Launch { cpus: vec![last], address_space_bytes: Some(1 << 30), ..Launch::default() };
        let text = said(&launch, "grep Cpus_allowed_list: /proc/$$/status; ulimit -v");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words, ["Cpus_allowed_list:", &last.to_string(), "1048576"]);
        assert_eq!(crate::affinity::allowed().unwrap(), all);
    }

    #[test]
    fn a_program_whose_begin_is_reported_stays_in_its_session() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "cut -d' ' -f6 /proc/$$/stat"]);
        let start = report_begin(&mut command).unwrap();
        let before_ns = clock::now_ns();
        let output = command.output().unwrap();
        assert!((before_ns..=clock::now_ns()).contains(&start.began().unwrap().at_ns));
        // SAFETY: it only reads a number of this process.
        let own = unsafe { libc::getsid(0) };
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), own.to_string());
    }

    #[test]
    fn what_is_refused_is_an_error_of_spawn() {
        let mut command = Command::new("/bin/true");
        let launch = Launch { cpus: vec![60_000], ..Launch::default() };
        let start = arrange(&mut command, &launch).unwrap();
        assert_eq!(command.spawn().unwrap_err().raw_os_error(), Some(libc::EINVAL));
        assert_eq!(start.began(), None);
    }
}
