//! The requests of `ptrace(2)`, one by one.

use crate::calls::{Call, Reader};
use crate::error::{check, last_errno};
use crate::usage::Usage;
use crate::{Error, Pid, Result};

/// `PTRACE_GET_SYSCALL_INFO` of Linux 5.3.
const GET_SYSCALL_INFO: libc::c_uint = 0x420e;

/// Words of `struct ptrace_syscall_info` with room to spare: 3 before the
/// union, 7 or 8 in it.
const INFO_WORDS: usize = 12;

/// `AUDIT_ARCH_…` of linux/audit.h for this CPU; `None` where it is not known
/// here, and every call is then taken for a native one.
const NATIVE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else if cfg!(target_arch = "riscv64") {
    Some(0xc000_00f3)
} else {
    None
};

/// What a system-call stop is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Info {
    Entry(Call),
    /// The result, or the error number.
    Exit(std::result::Result<i64, i32>),
    Other,
}

/// A request whose data is a number.
pub(super) fn plain(request: libc::c_uint, name: &str, task: Pid, data: i32) -> Result<()> {
    // SAFETY: the requests that are given here have the kernel read or write no
    // memory of ours: their data is a number (options or a signal), and the
    // address is unused.
    let result = unsafe {
        libc::ptrace(request as _, task, std::ptr::null_mut::<u8>(), data as libc::c_long)
    };
    check(result, || format!("ptrace({name}, task {task})")).map(|_| ())
}

/// Attaches to the child `pid` and stops it, with these options beside those
/// that are always set.
///
/// # Errors
/// Unsupported where tracing is forbidden; `ESRCH` where the child has ended.
pub(super) fn seize(pid: Pid, options: libc::c_int) -> Result<()> {
    let options = options | libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
    match plain(libc::PTRACE_SEIZE as _, "PTRACE_SEIZE", pid, options) {
        Err(error) if matches!(error.errno(), Some(libc::EPERM | libc::ENOSYS)) => {
            return Err(Error::unsupported(
                format!("ptrace(PTRACE_SEIZE, process {pid})"),
                "tracing is forbidden here, or the process is traced already; \
                 kernel.yama.ptrace_scope of 0 or 1, a container that allows ptrace, or the \
                 capability CAP_SYS_PTRACE would allow it",
            ));
        }
        other => other?,
    }
    plain(libc::PTRACE_INTERRUPT as _, "PTRACE_INTERRUPT", pid, 0)?;
    match wait_for(pid, true)? {
        Some(waited) if libc::WIFSTOPPED(waited.status) => Ok(()),
        _ => Err(Error::new(format!("ptrace(process {pid})"), libc::ESRCH)),
    }
}

/// A stop or an end of a task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waited {
    pub(super) task: Pid,
    pub(super) status: libc::c_int,
    /// Of the task and of the children that it has reaped, up to now.
    pub(super) usage: Usage,
}

/// Waits for a stop or an end of `task` (-1: any task that this thread traces or
/// has forked, and no other thread's child). `None` where there is none left,
/// or, without waiting, nothing to tell.
pub(super) fn wait_for(task: Pid, wait: bool) -> Result<Option<Waited>> {
    let options = libc::__WALL | libc::__WNOTHREAD | if wait { 0 } else { libc::WNOHANG };
    match crate::task::wait4(task, options) {
        Ok(waited) => Ok(waited.map(|(task, status, usage)| Waited { task, status, usage })),
        Err(libc::ECHILD) => Ok(None),
        Err(errno) => Err(Error::new("wait4", errno)),
    }
}

/// The number that goes with an event: of the task that was made, or that the
/// task had before it executed a program.
pub(super) fn event_message(task: Pid) -> Result<Pid> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the kernel writes one unsigned long to `message`.
    let result = unsafe {
        libc::ptrace(
            libc::PTRACE_GETEVENTMSG as _,
            task,
            std::ptr::null_mut::<u8>(),
            &raw mut message,
        )
    };
    check(result, || format!("ptrace(PTRACE_GETEVENTMSG, task {task})"))?;
    Pid::try_from(message)
        .map_err(|_| Error::unreadable("ptrace(PTRACE_GETEVENTMSG)", "a number that is no task"))
}

/// What the task's system-call stop is about.
///
/// # Errors
/// Unsupported before Linux 5.3.
pub(super) fn syscall_info(task: Pid) -> Result<Info> {
    let mut words = [0_u64; INFO_WORDS];
    let bytes = size_of_val(&words);
    // SAFETY: the kernel writes at most `bytes` bytes to `words`.
    let result = unsafe { libc::ptrace(GET_SYSCALL_INFO as _, task, bytes, words.as_mut_ptr()) };
    match check(result, || format!("ptrace(PTRACE_GET_SYSCALL_INFO, task {task})")) {
        Err(error) if matches!(error.errno(), Some(libc::EIO | libc::EINVAL)) => {
            Err(Error::unsupported(error.to_string(), "needs Linux 5.3 or newer"))
        }
        Err(error) => Err(error),
        Ok(_) => Ok(parse(&words)),
    }
}

/// Reads `struct ptrace_syscall_info` of linux/ptrace.h.
fn parse(words: &[u64; INFO_WORDS]) -> Info {
    let head = words[0].to_ne_bytes();
    let architecture = u32::from_ne_bytes([head[4], head[5], head[6], head[7]]);
    match head[0] {
        1 => {
            let mut arguments = [0; 6];
            arguments.copy_from_slice(&words[4..10]);
            let is_native = NATIVE.is_none_or(|native| native == architecture);
            Info::Entry(Call { number: words[3], arguments, is_native })
        }
        2 => {
            let value = words[3].cast_signed();
            let failed = words[4].to_ne_bytes()[0] != 0;
            match i32::try_from(value.wrapping_neg()) {
                Ok(errno) if failed => Info::Exit(Err(errno)),
                _ => Info::Exit(Ok(value)),
            }
        }
        _ => Info::Other,
    }
}

/// The memory of a stopped task.
#[derive(Debug, Clone, Copy)]
pub struct Memory(pub(super) Pid);

/// Bytes that `PTRACE_PEEKDATA` reads at once.
const WORD_BYTES: usize = size_of::<libc::c_long>();

impl Memory {
    /// Fills `bytes` from `address`. Word by word by `PTRACE_PEEKDATA`: a
    /// tracer may always do that, while containers forbid `process_vm_readv`.
    ///
    /// # Errors
    /// `EIO` where nothing is mapped.
    pub fn read(self, address: u64, bytes: &mut [u8]) -> Result<()> {
        for (index, part) in bytes.chunks_mut(WORD_BYTES).enumerate() {
            let word = self.word(address.wrapping_add((index * WORD_BYTES) as u64))?;
            part.copy_from_slice(&word.to_ne_bytes()[..part.len()]);
        }
        Ok(())
    }

    fn word(self, address: u64) -> Result<libc::c_long> {
        let Memory(task) = self;
        let call = || format!("ptrace(PTRACE_PEEKDATA, task {task}, {address:#x})");
        let place = usize::try_from(address).map_err(|_| Error::new(call(), libc::EIO))?;
        // SAFETY: errno's address is valid on this thread. It is cleared since
        // libc hands the word back as the result, which may be -1 in earnest.
        unsafe { *libc::__errno_location() = 0 };
        // SAFETY: the address is one of the tracee's; the kernel checks it. The
        // word is put into memory of libc's own wrapper.
        let word = unsafe {
            libc::ptrace(
                libc::PTRACE_PEEKDATA as _,
                task,
                std::ptr::without_provenance_mut::<u8>(place),
                std::ptr::null_mut::<u8>(),
            )
        };
        match last_errno() {
            0 => Ok(word),
            errno => Err(Error::new(call(), errno)),
        }
    }
}

impl Reader for Memory {
    fn text(&self, address: u64, limit: usize) -> Option<String> {
        let mut found = Vec::new();
        while found.len() < limit {
            let word = self.word(address.wrapping_add(found.len() as u64)).ok()?.to_ne_bytes();
            let end = word.iter().position(|byte| *byte == 0);
            found.extend_from_slice(&word[..end.unwrap_or(WORD_BYTES)]);
            if end.is_some() {
                break;
            }
        }
        found.truncate(limit);
        Some(String::from_utf8_lossy(&found).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(op: u8, architecture: u32) -> [u64; INFO_WORDS] {
        let mut head = [0; 8];
        head[0] = op;
        head[4..].copy_from_slice(&architecture.to_ne_bytes());
        let mut words = [0; INFO_WORDS];
        words[0] = u64::from_ne_bytes(head);
        words
    }

    #[test]
    fn an_entry_has_a_number_and_six_arguments() {
        let mut info = words(1, NATIVE.unwrap_or(0));
        info[3..10].copy_from_slice(&[56, 1, 2, 3, 4, 5, 6]);
        let Info::Entry(call) = parse(&info) else { panic!("no entry") };
        assert_eq!((call.number, call.arguments), (56, [1, 2, 3, 4, 5, 6]));
        assert!(call.is_native);
        if NATIVE.is_some() {
            info[0] = words(1, 0x4000_0003)[0];
            let Info::Entry(call) = parse(&info) else { panic!("no entry") };
            assert!(!call.is_native, "a call by the table of i386");
        }
    }

    #[test]
    fn an_exit_has_a_result_or_an_error() {
        let mut info = words(2, 0);
        info[3] = 42;
        assert_eq!(parse(&info), Info::Exit(Ok(42)));
        info[3] = (-i64::from(libc::ENOENT)).cast_unsigned();
        assert_eq!(parse(&info), Info::Exit(Ok(-i64::from(libc::ENOENT))));
        info[4] = u64::from_ne_bytes([1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(parse(&info), Info::Exit(Err(libc::ENOENT)));
        assert_eq!(parse(&words(3, 0)), Info::Other);
        assert_eq!(parse(&words(0, 0)), Info::Other);
    }

    proptest::proptest! {
        #![proptest_config(crate::hostile::scale::at_scale(256))]

        #[test]
        fn any_stop_is_read(kind in 0_u8..4, words in proptest::prelude::any::<[u64; INFO_WORDS]>()) {
            let mut words = words;
            let mut head = words[0].to_ne_bytes();
            head[0] = kind;
            words[0] = u64::from_ne_bytes(head);
            let info = parse(&words);
            proptest::prop_assert_eq!(matches!(info, Info::Entry(_)), kind == 1);
            proptest::prop_assert_eq!(matches!(info, Info::Exit(_)), kind == 2);
        }
    }
}
