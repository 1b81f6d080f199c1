//! Servers that differ in their model of concurrency alone.

use std::net::TcpListener;
use std::time::Duration;

/// A model of concurrency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// One thread, one connection after the other.
    Single,
    /// So many threads that each take a connection from the listening socket.
    Pool(u32),
    /// A thread for each connection.
    ThreadPerConnection,
    /// A process for each request.
    ForkPerRequest,
    /// So many processes, made beforehand, that each take a connection from the listening socket.
    PreFork(u32),
    /// One thread with epoll.
    EventLoop,
    /// tokio on so many threads.
    Tokio(u32),
}

/// What a request needs before it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Nothing.
    Nothing,
    /// To wait: a sleep where a thread may, a timer in event loops.
    Wait(Duration),
    /// CPU time.
    Compute(Duration),
}

/// A server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Its model.
    pub model: Model,
    /// What a request needs.
    pub service: Service,
    /// Whether a connection may bring further requests.
    pub keep_alive: bool,
}

/// A listening socket on a free port of 127.0.0.1 with this length of its accept queue.
///
/// # Errors
/// What the system says.
pub fn listen(backlog: u32) -> std::io::Result<TcpListener> {
    let _ = backlog;
    unimplemented!("a listening socket")
}

/// Serves until the process is told to end (SIGTERM). Processes that it makes end with it.
///
/// # Errors
/// What the system says while the server is set up.
pub fn serve(listener: TcpListener, plan: &Plan) -> std::io::Result<()> {
    let _ = (listener, plan);
    unimplemented!("the servers")
}
