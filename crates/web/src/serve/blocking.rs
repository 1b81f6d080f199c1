//! A conversation in a thread that waits for its peer, and the models that are made of it: one
//! thread, a pool, a thread per connection.

use super::answer::{Answer, perform};
use super::request::{Inbox, Next};
use super::{LINGER, LINGER_BYTES, LOOK, RETRY, Server};
use socket2::SockRef;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Instant;

/// The stack of a worker thread, in bytes: glibc's default on most systems, which is what "a thread
/// takes 8 MB" means.
const STACK_BYTES: usize = 8 << 20;

/// Has calls on this socket, and on those accepted from it (on Linux they inherit it), return now
/// and then, so that a waiting thread hears that the server is to end, without a system call more per
/// request.
pub(super) fn arrange(listener: &TcpListener, server: &Server) -> std::io::Result<()> {
    let socket = SockRef::from(listener);
    let look = LOOK.min(server.silence);
    socket.set_read_timeout(Some(look))?;
    socket.set_write_timeout(Some(look))
}

/// Takes one connection after the other until the server is to end, and now and then none: waits for one
/// for [`LOOK`] at most, or until a signal comes to this thread (the standard library's `accept` would
/// wait on).
pub(super) fn each(
    listener: &TcpListener,
    server: &Server,
    mut serve: impl FnMut(Option<TcpStream>),
) {
    while !server.is_over() {
        let accepted = SockRef::from(listener).accept();
        if let Err(error) = &accepted {
            let kinds =
                [ErrorKind::WouldBlock, ErrorKind::Interrupted, ErrorKind::ConnectionAborted];
            if !server.is_over() && !kinds.contains(&error.kind()) {
                // No descriptor or no memory is left: the connection stays in the queue, and asking
                // for it at once again would only burn the CPU.
                std::thread::sleep(RETRY);
            }
        }
        serve(accepted.ok().map(|(socket, _)| socket.into()));
    }
}

/// One connection after the other.
pub(super) fn single(listener: &TcpListener, server: &Server) {
    each(listener, server, |stream| {
        if let Some(stream) = stream {
            converse(&stream, server);
        }
    });
}

/// Starts that number of threads that each do as [`single`].
pub(super) fn pool(listener: &TcpListener, threads: u32, server: &Server) -> std::io::Result<()> {
    std::thread::scope(|scope| {
        let thread = || std::thread::Builder::new().stack_size(STACK_BYTES);
        let end = (0..threads)
            .try_for_each(|_| thread().spawn_scoped(scope, || single(listener, server)).map(drop))
            .and_then(|()| server.until_told());
        // The signal came to this thread: the others are woken from `accept` (on Linux).
        server.give_up();
        SockRef::from(listener).shutdown(Shutdown::Both).and(end)
    })
}

/// A thread for each connection. One for which no thread can be made is closed.
pub(super) fn thread_per_connection(listener: &TcpListener, server: &Server) {
    std::thread::scope(|scope| {
        each(listener, server, |stream| {
            if let Some(stream) = stream {
                let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
                // The thread owns the connection: if it cannot be made, that is closed.
                let _ = thread.spawn_scoped(scope, move || converse(&stream, server));
            }
        });
    });
}

/// Answers the requests of one connection until it ends.
pub(super) fn converse(stream: &TcpStream, server: &Server) {
    let mut inbox = Inbox::default();
    loop {
        let answer = match inbox.next() {
            Next::More if read(stream, &mut inbox, server) => continue,
            Next::More => return,
            Next::Garbage => Answer::to_garbage(),
            Next::Request(request) => {
                let is_served = perform(server);
                let keep_alive = server.plan.keep_alive && !server.is_over();
                let answer = if is_served { Answer::to } else { Answer::too_busy };
                answer(request, keep_alive)
            }
        };
        if !write(stream, answer.bytes, server) {
            return;
        }
        if answer.is_last {
            if !inbox.is_empty() {
                linger(stream, server);
            }
            return;
        }
    }
}

/// Whether anything could be read: not where the peer is silent for too long, or the server is to
/// end.
fn read(mut stream: &TcpStream, inbox: &mut Inbox, server: &Server) -> bool {
    patiently(server, || match stream.read(inbox.room())? {
        0 => Ok(false),
        bytes => {
            inbox.read(bytes);
            Ok(true)
        }
    })
}

/// Whether all could be written.
fn write(mut stream: &TcpStream, bytes: &[u8], server: &Server) -> bool {
    let mut left = bytes;
    while !left.is_empty() {
        let written = patiently(server, || match stream.write(left)? {
            0 => Ok(false),
            bytes => {
                left = &left[bytes..];
                Ok(true)
            }
        });
        if !written {
            return false;
        }
    }
    true
}

/// Tries again what found nothing in [`LOOK`], as long as a peer may be silent.
fn patiently(server: &Server, mut act: impl FnMut() -> std::io::Result<bool>) -> bool {
    let mut silent_since = None;
    loop {
        match act() {
            Ok(done) => return done,
            Err(error)
                if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) =>
            {
                // The first look is counted as none, since when it began is not known.
                let since = *silent_since.get_or_insert_with(Instant::now);
                if server.is_over() || since.elapsed() + LOOK >= server.silence {
                    return false;
                }
            }
            Err(_) => return false,
        }
    }
}

/// Lets the peer have the last answer. A socket that is closed with bytes unread is reset, which
/// can destroy what was sent before.
fn linger(mut stream: &TcpStream, server: &Server) {
    if stream.shutdown(Shutdown::Write).is_err() {
        return;
    }
    let (begun, mut seen, mut waste) = (Instant::now(), 0, [0; 4096]);
    while seen < LINGER_BYTES && begun.elapsed() < LINGER && !server.is_over() {
        match stream.read(&mut waste) {
            Ok(0) => return,
            Ok(bytes) => seen += bytes,
            Err(error)
                if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => {}
            Err(_) => return,
        }
    }
}
