//! Who is at the other end of a pipe or socket.

use model::WaitKind;
use sys::proc::wait::{self, End};
use sys::task::Pid;

/// Returns the process at the other end of a socket or pipe, one of `first` first, and what it is called.
pub(super) fn peer(pid: Pid, kind: WaitKind, own: &End, first: &[Pid]) -> (Option<Pid>, String) {
    let socket = |inode: u64| End { link: format!("socket:[{inode}]"), writes: None };
    let name = |pid: Option<Pid>| sys::proc::stat(pid?).map(|stat| stat.name);
    if kind == WaitKind::Pipe {
        let other = End { writes: own.writes.map(|writes| !writes), ..own.clone() };
        let holder = wait::holder_of(&other, first);
        let what =
            name(holder).map_or("a pipe".into(), |name| format!("a pipe shared with {name}"));
        return (holder, what);
    }
    let inode = own.link.split(['[', ']']).nth(1).and_then(|digits| digits.parse::<u64>().ok());
    let Some(inode) = inode else { return (None, String::new()) };
    if let Some(other) = sys::sock_diag::unix_peer(inode) {
        let holder = wait::holder_of(&socket(other), first);
        let who = name(holder).map_or(String::new(), |name| format!(" shared with {name}"));
        return (holder, format!("a Unix socket{who}"));
    }
    let sockets = wait::tcp_sockets(pid);
    let Some(own) = sockets.iter().find(|one| one.inode == inode) else {
        return (None, "a socket".into());
    };
    let port = own.ports().map_or(0, |[_, peer]| peer);
    if port == 0 {
        return (None, "a new connection".into());
    }
    let other = sockets.iter().find(|one| one.own == own.peer && one.peer == own.own);
    // Nobody holds the other end of a connection that is not accepted yet, and a short one may be gone.
    let listens = |one: &&wait::Ends| {
        own.is_local() && one.is_listening && one.ports().is_some_and(|[own, _]| own == port)
    };
    let ends = other.into_iter().chain(sockets.iter().find(listens));
    let holder = ends.filter_map(|end| wait::holder_of(&socket(end.inode), first)).next();
    let who = name(holder).map_or(String::new(), |name| format!(" ({name})"));
    (holder, format!("port {port}{who}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    /// Returns whom this process waits for at a descriptor, where `family` is the program.
    fn asked(descriptor: i32, family: &[Pid]) -> (Option<Pid>, String) {
        let (own, number) = (sys::process::pid(), u64::from(descriptor.unsigned_abs()));
        let link = wait::descriptor(own, number).unwrap();
        let is_pipe = link.starts_with("pipe:");
        let (kind, writes) = match is_pipe {
            true => (WaitKind::Pipe, wait::writes(own, number)),
            false => (WaitKind::Socket, None),
        };
        peer(own, kind, &End { link, writes }, family)
    }

    #[test]
    fn the_other_ends_of_pipes_and_sockets_are_found() {
        let own = sys::process::pid();
        let (reader, _writer) = std::io::pipe().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let _served = listener.accept().unwrap();
        let waiting = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (end, _other) = UnixStream::pair().unwrap();
        let name = sys::proc::stat(own).unwrap().name;
        let port = listener.local_addr().unwrap().port();
        let all = [
            (reader.as_raw_fd(), format!("a pipe shared with {name}")),
            (client.as_raw_fd(), format!("port {port} ({name})")),
            (waiting.as_raw_fd(), format!("port {port} ({name})")),
            (listener.as_raw_fd(), "a new connection".to_string()),
            (end.as_raw_fd(), format!("a Unix socket shared with {name}")),
        ];
        for (descriptor, expected) in all {
            for family in [&[own][..], &[]] {
                let (process, what) = asked(descriptor, family);
                // A kernel without sock_diag(7) does not tell the other end of a Unix socket.
                assert!(what == expected || what == "a socket", "{what}: {expected}");
                assert_eq!(process, what.contains(&name).then_some(own), "{what}");
            }
        }
    }
}
