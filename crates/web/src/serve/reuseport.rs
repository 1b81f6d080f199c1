//! Several event loops, each with a listening socket of its own on the same port (`SO_REUSEPORT`). The
//! kernel chooses the socket of a new connection by a hash of its addresses and ports, however much that
//! loop has to do, and no other loop can take the connection from there.

use super::event_loop::Loop;
use super::{Server, listen_at};
use socket2::SockRef;
use std::io::{Error, ErrorKind, Result};
use std::net::TcpListener;
use std::os::fd::AsFd;

/// Serves until the process is asked to end, with that number of loops, of which the calling thread runs
/// one.
pub(super) fn run(listener: TcpListener, loops: u32, server: &Server) -> Result<()> {
    let others: Vec<Loop<'_>> = beside(&listener, loops.saturating_sub(1))?
        .into_iter()
        .map(|listener| Loop::new(listener, server))
        .collect::<Result<_>>()?;
    let own = Loop::new(listener, server)?;
    std::thread::scope(|scope| {
        let serve = |one: Loop<'_>| {
            let ended = one.serve();
            // The kernel would go on to choose a socket that nobody accepts from: all loops end.
            server.give_up();
            ended
        };
        let started = others
            .into_iter()
            .map(|one| std::thread::Builder::new().spawn_scoped(scope, move || serve(one)));
        let started: Result<Vec<_>> = started.collect();
        let threads = started.inspect_err(|_| server.give_up())?;
        let mut ended = serve(own);
        for thread in threads {
            let other = thread.join().unwrap_or_else(|_| Err(Error::other("a loop panicked")));
            ended = ended.and(other);
        }
        ended
    })
}

/// Makes that number of further listening sockets on the port of `listener`, with accept queues as long. The
/// first must share its port since it was made: the kernel refuses the others as long as connections are open
/// that were made before.
pub(super) fn beside(listener: &TcpListener, count: u32) -> Result<Vec<TcpListener>> {
    let queue = sys::accept_queue::of(listener.as_fd()).map_err(Error::other)?;
    let address = listener.local_addr()?;
    if !SockRef::from(listener).reuse_port()? {
        let what = "the loops need a listening socket that shares its port";
        return Err(Error::new(ErrorKind::InvalidInput, what));
    }
    (0..count).map(|_| listen_at(address, queue.most, true)).collect()
}
