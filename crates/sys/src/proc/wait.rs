//! What a thread of another process waits for: its system call, its stack, what its descriptors are.
//!
//! All of it is for any user who may trace the process: its owner, where the kernel does not narrow that
//! (`kernel.yama.ptrace_scope`: 1 leaves descendants, 2 leaves root).

use super::path;
use crate::{Pid, text};
use rustix::net::sockopt::Timeout;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The most mappings of a process that are kept.
const MAPPINGS_MAX: usize = 1 << 16;

/// What a thread was found to be doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// It runs, or is ready to.
    Running,
    /// It waits in the kernel.
    Waiting(Waiting),
    /// The kernel does not tell this user.
    Refused,
    /// There is no such thread.
    Gone,
}

/// Where a thread waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Waiting {
    /// The number of its system call; `None` in a page fault.
    pub call: Option<u64>,
    /// The arguments of the call; zeros in a page fault.
    pub arguments: [u64; 6],
    /// Its stack pointer.
    pub stack: u64,
    /// The address of its next instruction.
    pub at: u64,
}

/// Returns what a thread does (`/proc/PID/task/TID/syscall`).
pub fn doing(pid: Pid, tid: Pid) -> Doing {
    match text::read(path(pid, &format!("task/{tid}/syscall"))) {
        Ok(text) => parse_doing(&text).unwrap_or(Doing::Gone),
        Err(error) => match error.errno() {
            Some(libc::EPERM | libc::EACCES) => Doing::Refused,
            _ => Doing::Gone,
        },
    }
}

/// Parses `running`, `-1 SP PC`, or a number with six arguments, SP and PC.
pub fn parse_doing(text: &str) -> Option<Doing> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    if first == "running" {
        return Some(Doing::Running);
    }
    let call: i64 = first.parse().ok()?;
    let number = |word: &str| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
    let rest: Vec<u64> = words.map(number).collect::<Option<_>>()?;
    let (arguments, place) = match rest[..] {
        [stack, at] => ([0; 6], (stack, at)),
        [a, b, c, d, e, f, stack, at] => ([a, b, c, d, e, f], (stack, at)),
        _ => return None,
    };
    let call = u64::try_from(call).ok();
    Some(Doing::Waiting(Waiting { call, arguments, stack: place.0, at: place.1 }))
}

/// Returns the function of the kernel in which a thread waits; `None` where the kernel does not tell.
pub fn wait_channel(pid: Pid, tid: Pid) -> Option<String> {
    text::value(path(pid, &format!("task/{tid}/wchan"))).filter(|name| name != "0")
}

/// A mapping of a process's address space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// Its first address.
    pub start: u64,
    /// The address after its last one.
    pub end: u64,
    /// Where in its file it begins.
    pub offset: u64,
    /// Whether it holds code.
    pub is_code: bool,
    /// Whether the process may write to it.
    pub is_writable: bool,
    /// The device and the inode of its file, as the kernel writes them.
    pub identity: (String, u64),
    /// The file, or a name in brackets; empty for anonymous memory.
    pub file: String,
}

/// Returns the mappings of a process in the order of their addresses; empty where this user may not see them.
pub fn mappings(pid: Pid) -> Vec<Mapping> {
    parse_mappings(&text::read(path(pid, "maps")).unwrap_or_default())
}

/// Parses a maps text; lines that cannot be read are left out.
pub fn parse_mappings(text: &str) -> Vec<Mapping> {
    text.lines().take(MAPPINGS_MAX).filter_map(parse_mapping).collect()
}

fn parse_mapping(line: &str) -> Option<Mapping> {
    let mut rest = line;
    let mut word = || {
        let (word, left) = rest.trim_start().split_once(' ').unwrap_or((rest.trim_start(), ""));
        rest = left;
        word
    };
    let (range, rights, offset, device, inode) = (word(), word(), word(), word(), word());
    let (start, end) = range.split_once('-')?;
    let hex = |digits: &str| u64::from_str_radix(digits, 16).ok();
    Some(Mapping {
        start: hex(start)?,
        end: hex(end)?,
        offset: hex(offset)?,
        is_code: rights.contains('x'),
        is_writable: rights.contains('w'),
        identity: (device.to_string(), inode.parse().unwrap_or(0)),
        file: rest.trim().to_string(),
    })
}

/// The memory of a process, open for reading.
#[derive(Debug)]
pub struct Memory(File);

impl Memory {
    /// Opens the memory of process `pid`; `None` where this user may not.
    pub fn open(pid: Pid) -> Option<Self> {
        File::open(path(pid, "mem")).ok().map(Memory)
    }

    /// Returns what lies at an address, up to `bytes` of it: less where the mapping ends.
    pub fn read(&self, address: u64, bytes: usize) -> Vec<u8> {
        let mut buffer = vec![0; bytes];
        let read = self.0.read_at(&mut buffer, address).unwrap_or(0);
        buffer.truncate(read);
        buffer
    }

    /// Returns the 32-bit word at an address; `None` where none is mapped.
    pub fn word(&self, address: u64) -> Option<u32> {
        Some(u32::from_ne_bytes(self.read(address, 4).try_into().ok()?))
    }
}

/// Returns what a descriptor of a process refers to, as `/proc/PID/fd` names it: a path,
/// `socket:[INODE]`, `pipe:[INODE]`, `anon_inode:[eventfd]`.
pub fn descriptor(pid: Pid, number: u64) -> Option<String> {
    let link = std::fs::read_link(path(pid, &format!("fd/{number}"))).ok()?;
    Some(link.to_string_lossy().into_owned())
}

/// Returns after how long a call that reads from a socket of a process, or `writes` to it, gives up, in ns
/// (SO_RCVTIMEO, SO_SNDTIMEO); `None` where it does not, where the descriptor is no socket, and where this user may
/// not copy it.
pub fn socket_timeout(pid: Pid, number: u64, writes: bool) -> Option<u64> {
    descriptor(pid, number).filter(|link| link.starts_with("socket:"))?;
    let process = crate::pidfd::open(pid).ok()?;
    let number = i32::try_from(number).ok()?;
    let flags = rustix::process::PidfdGetfdFlags::empty();
    let socket = rustix::process::pidfd_getfd(process, number, flags).ok()?;
    let which = if writes { Timeout::Send } else { Timeout::Recv };
    let after = rustix::net::sockopt::socket_timeout(socket, which).ok()??;
    u64::try_from(after.as_nanos()).ok()
}

/// Returns the descriptors that an epoll descriptor of a process watches.
pub fn watched(pid: Pid, epoll: u64) -> Vec<u64> {
    let text = text::read(path(pid, &format!("fdinfo/{epoll}"))).unwrap_or_default();
    let targets = text.lines().filter_map(|line| line.strip_prefix("tfd:"));
    targets.filter_map(|rest| rest.split_whitespace().next()?.parse().ok()).collect()
}

/// The two ends of a TCP socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ends {
    /// The socket's number.
    pub inode: u64,
    /// Its own address and port, as the kernel writes them (hexadecimal).
    pub own: String,
    /// Those of the other end.
    pub peer: String,
    /// It waits for connections.
    pub is_listening: bool,
}

impl Ends {
    /// Returns its own port, and that of the other end.
    pub fn ports(&self) -> Option<[u16; 2]> {
        let port = |end: &str| u16::from_str_radix(end.rsplit_once(':')?.1, 16).ok();
        Some([port(&self.own)?, port(&self.peer)?])
    }

    /// Reports whether both ends have one address, which is then this machine's.
    pub fn is_local(&self) -> bool {
        let address = |end: &'_ str| end.rsplit_once(':').map(|(address, _)| address.to_string());
        address(&self.own) == address(&self.peer)
    }
}

/// Returns the TCP sockets of a process's network namespace.
pub fn tcp_sockets(pid: Pid) -> Vec<Ends> {
    let of = |name: &str| text::read(path(pid, name)).unwrap_or_default();
    ["net/tcp", "net/tcp6"].iter().flat_map(|name| parse_tcp(&of(name))).collect()
}

/// Parses a table of TCP sockets.
pub fn parse_tcp(text: &str) -> Vec<Ends> {
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let inode = words.get(9)?.parse().ok()?;
        let (own, peer) = (words.get(1)?.to_string(), words.get(2)?.to_string());
        Some(Ends { inode, own, peer, is_listening: words.get(3) == Some(&"0A") })
    };
    text.lines().skip(1).filter_map(line).collect()
}

/// An end of a pipe or socket that processes may have open.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct End {
    /// The link of its descriptors in `/proc/PID/fd`.
    pub link: String,
    /// Of a pipe, whether this end is written to; `None` means any.
    pub writes: Option<bool>,
}

/// Reports whether a descriptor of a process is only written to, or only read; `None` where it is neither, or not
/// known.
pub fn writes(pid: Pid, number: u64) -> Option<bool> {
    let text = text::read(path(pid, &format!("fdinfo/{number}"))).ok()?;
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
    match i32::from_str_radix(flags.trim(), 8).ok()? & libc::O_ACCMODE {
        libc::O_RDONLY => Some(false),
        libc::O_WRONLY => Some(true),
        _ => None,
    }
}

/// Returns a process that has an end open: one of `first`, or else any other; `None` where none is found among
/// those that this user may look at.
pub fn holder_of(end: &End, first: &[Pid]) -> Option<Pid> {
    if let Some(pid) = first.iter().find(|pid| has_open(**pid, end)) {
        return Some(*pid);
    }
    let all = std::fs::read_dir("/proc").ok()?.flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<Pid>().ok());
    pids.filter(|pid| !first.contains(pid)).find(|pid| has_open(*pid, end))
}

fn has_open(pid: Pid, end: &End) -> bool {
    for entry in std::fs::read_dir(path(pid, "fd")).into_iter().flatten().flatten() {
        match std::fs::read_link(entry.path()) {
            Ok(link) if link.as_os_str() == end.link.as_str() => {
                let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
                if end
                    .writes
                    .is_none_or(|wanted| number.and_then(|it| writes(pid, it)) == Some(wanted))
                {
                    return true;
                }
            }
            // Who may not read one may read none.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return false,
            _ => {}
        }
    }
    false
}

/// Returns the process that holds a lock on the file `inode`; `None` where none is listed.
pub fn locker(inode: u64) -> Option<Pid> {
    let text = text::read("/proc/locks").ok()?;
    let held = text.lines().filter(|line| !line.contains("->"));
    let mut found = held.filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let own: u64 = words.get(5)?.rsplit(':').next()?.parse().ok()?;
        (own == inode).then(|| words.get(4)?.parse::<Pid>().ok()).flatten()
    });
    found.find(|pid| *pid > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_a_fault_and_running_are_read() {
        let call = "202 0x55 0x80 0x2 0x0 0x0 0x0 0x7ffd 0x7f00\n";
        let Some(Doing::Waiting(waiting)) = parse_doing(call) else { panic!("a call") };
        assert_eq!((waiting.call, waiting.arguments[0], waiting.at), (Some(202), 0x55, 0x7f00));
        let fault = Waiting { call: None, arguments: [0; 6], stack: 0x10, at: 0x20 };
        assert_eq!(parse_doing("-1 0x10 0x20"), Some(Doing::Waiting(fault)));
        assert_eq!(parse_doing("running\n"), Some(Doing::Running));
        for text in ["", "x", "202 0x1", "202 0x1 0x2 0x3", "-1 1 2", "1 0xg 0x1"] {
            assert_eq!(parse_doing(text), None, "{text:?}");
        }
    }

    #[test]
    fn mappings_have_files_with_spaces_and_none() {
        let text = "7f00-7f10 r-xp 00001000 08:01 42   /a file (deleted)\n\
                    8000-9000 rw-p 00000000 00:00 0 \nnonsense\n\
                    a000-b000 rw-p 00000000 00:00 0                          [heap]\n";
        let found = parse_mappings(text);
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].file.as_str(), found[0].offset), ("/a file (deleted)", 0x1000));
        assert!(found[0].is_code && !found[0].is_writable && found[1].file.is_empty());
        assert_eq!(found[2].file, "[heap]");
    }

    #[test]
    fn the_ends_of_a_pipe_are_told_apart() {
        use std::os::fd::AsRawFd;
        let (reader, writer) = std::io::pipe().unwrap();
        let pid = crate::process::pid();
        let number = |descriptor: i32| descriptor.unsigned_abs().into();
        let (reads, written) = (number(reader.as_raw_fd()), number(writer.as_raw_fd()));
        assert_eq!((writes(pid, reads), writes(pid, written)), (Some(false), Some(true)));
        let link = descriptor(pid, reads).unwrap();
        let end = |writes| End { link: link.clone(), writes: Some(writes) };
        assert_eq!(holder_of(&end(true), &[pid]), Some(pid));
        drop(writer);
        // Tests beside this one may fork while it was open.
        assert_ne!(holder_of(&end(true), &[]), Some(pid));
        assert_eq!(holder_of(&end(false), &[pid]), Some(pid));
    }

    #[test]
    fn a_sleeping_thread_of_this_process_is_found_in_its_call() {
        let (tell, hear) = std::sync::mpsc::channel();
        let (_keep, blocked) = std::sync::mpsc::channel::<()>();
        std::thread::spawn(move || {
            tell.send(crate::wait_signal::thread_id()).unwrap();
            let _ = blocked.recv();
        });
        let (pid, tid) = (crate::process::pid(), hear.recv().unwrap());
        let begun = std::time::Instant::now();
        let waiting = loop {
            match doing(pid, tid) {
                Doing::Waiting(waiting) => break waiting,
                Doing::Refused => return,
                _ => assert!(begun.elapsed().as_secs() < 20),
            }
        };
        assert!(waiting.call.is_some());
        let code = mappings(pid);
        assert!(
            code.iter().any(|one| one.is_code && one.start <= waiting.at && waiting.at < one.end)
        );
        assert_eq!(Memory::open(pid).unwrap().read(waiting.stack, 64).len(), 64);
    }
}
