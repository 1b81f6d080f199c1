//! Servers that differ in their model of concurrency alone.
//!
//! All have the same parser and the same answers, listen on a socket made by [`listen`], and take
//! the same care of their peers:
//! * Garbage is answered by 400, and the connection ends. So is a head of more than 64 KiB, a body
//!   of more than 64 MiB, or one that is chunked. Bodies are read and thrown away.
//! * A peer that is silent for 10 s while the server waits for it is left.
//! * HTTP/1.1 connections go on unless one side says `Connection: close`, those of HTTP/1.0 only if
//!   the peer asks for it. Requests that come together are answered in their order.
//! * A connection for which nothing is left (descriptors, threads, processes) waits in the accept
//!   queue or is closed; the server goes on.

mod answer;
mod asynchronous;
mod blocking;
mod event_loop;
mod processes;
mod request;
mod reuseport;
mod running;
mod runtime;
mod slots;
#[cfg(test)]
mod tests;
mod uring;

pub use running::{Running, StartError};
pub use runtime::Runtime;

use slots::Slots;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{Error, ErrorKind, Result};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// A model of concurrency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// One thread, one connection after the other.
    Single,
    /// That number of threads, which each take a connection from the listening socket.
    Pool(u32),
    /// A thread for each connection.
    ThreadPerConnection,
    /// A process for each connection, which without keep-alive is one for each request.
    ForkPerRequest,
    /// That number of processes, made beforehand, which each take a connection from the listening
    /// socket.
    PreFork(u32),
    /// One thread with epoll. Waiting is a timer of its loop, in steps of 1 ms as epoll's.
    EventLoop,
    /// That number of threads, each with an event loop and a listening socket of its own on the same port
    /// (`SO_REUSEPORT`). The kernel spreads connections by a hash, so loops can have unequal numbers of
    /// them; a connection stays with its loop.
    ReusePort(u32),
    /// One thread with io_uring, where the system lets it be used.
    IoUring,
    /// tokio on that number of threads. Its timers also have steps of 1 ms.
    Tokio(u32),
    /// A program of another runtime, which [`Running::start_program`] starts.
    Runtime(Runtime),
}

/// What a request needs before it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Nothing.
    Nothing,
    /// To wait: a sleep where a thread may, a timer in event loops.
    Wait(Duration),
    /// CPU time, of the thread that serves it: an event loop serves nobody else meanwhile.
    Compute(Duration),
    /// To wait, and for one of N requests to compute before.
    Mixed {
        /// How long each waits.
        wait: Duration,
        /// How much CPU time some need.
        compute: Duration,
        /// One of this number of requests computes: 1 means all.
        every: u64,
    },
    /// One of a few connections to a database, for a time: a stand-in that sleeps while it holds one of
    /// them. Requests get one in the order in which they came.
    Database {
        /// How many connections there are.
        connections: u32,
        /// How long a request holds one.
        time: Duration,
        /// How many requests may wait for one: a request that finds that many is answered by 503 at once.
        queue: Option<u32>,
    },
}

impl Service {
    /// Returns how long each request waits (with a connection to the database, if it needs one), and how much CPU time one of N needs, and N.
    fn parts(self) -> (Duration, Duration, u64) {
        match self {
            Service::Nothing => (Duration::ZERO, Duration::ZERO, 1),
            Service::Wait(wait) | Service::Database { time: wait, .. } => (wait, Duration::ZERO, 1),
            Service::Compute(compute) => (Duration::ZERO, compute, 1),
            Service::Mixed { wait, compute, every } => (wait, compute, every.max(1)),
        }
    }
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

impl Plan {
    /// Returns why there is no such server, if there is none.
    fn lacks(&self) -> Option<&'static str> {
        let why = match (self.model, self.service) {
            (Model::IoUring, Service::Database { .. }) => "the loop of io_uring has no database",
            (Model::Runtime(_), Service::Database { .. }) => {
                "the programs of other runtimes have no stand-in for a database"
            }
            (Model::ReusePort(_), Service::Database { .. }) => {
                "loops with a socket each share no connections to a database here"
            }
            _ => return None,
        };
        Some(why)
    }
}

/// How long a peer may be silent while it is waited for.
const SILENCE: Duration = Duration::from_secs(10);

/// After this time at the latest, a waiting thread looks whether the server is to end.
const LOOK: Duration = Duration::from_millis(500);

/// How long a thread sleeps that waits for nothing but a signal, which wakes it.
const A_WHILE: Duration = Duration::from_secs(3600);

/// For so long nobody asks again for what the system has just refused.
const RETRY: Duration = Duration::from_millis(10);

/// How long, and for how many bytes at most, a connection is kept that ends while its peer still
/// sends, so that the peer may read the last answer.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 1 << 20;

/// What all threads of a server share.
#[derive(Debug)]
struct Server {
    plan: Plan,
    /// How long a peer may be silent.
    silence: Duration,
    /// Whether it ends because it could not be set up.
    given_up: AtomicBool,
    /// The requests that came, of all its processes.
    asked: Option<&'static [AtomicU64]>,
    /// The connections to the database.
    slots: Option<Arc<Slots>>,
}

impl Server {
    /// Makes the memory that a server's threads and processes share.
    ///
    /// # Errors
    /// If the kernel gives none.
    fn new(plan: &Plan) -> sys::Result<Self> {
        let counts = plan.service.parts().2 > 1;
        let asked = if counts { Some(sys::pages::shared_for_ever(1)?) } else { None };
        let slots = match plan.service {
            Service::Database { connections, queue, .. } => {
                Some(Arc::new(Slots::new(connections, queue)?))
            }
            _ => None,
        };
        let given_up = AtomicBool::new(false);
        Ok(Server { plan: *plan, silence: SILENCE, given_up, asked, slots })
    }

    /// The same server for tasks that may outlive this value; only what has been given up is its own.
    fn for_tasks(&self) -> Self {
        let given_up = AtomicBool::new(self.is_over());
        Server { given_up, slots: self.slots.clone(), ..*self }
    }

    /// Gives the next request the CPU time that it needs, and returns how long it is to wait then.
    fn begin(&self) -> Duration {
        let (wait, compute, every) = self.plan.service.parts();
        let number = self.asked.and_then(|asked| asked.first()).map(|asked| {
            // Of all processes of the server.
            asked.fetch_add(1, Ordering::Relaxed) + 1
        });
        if !compute.is_zero() && number.is_none_or(|number| number.is_multiple_of(every)) {
            answer::compute(self, compute);
        }
        wait
    }

    /// Whether the server is to end.
    fn is_over(&self) -> bool {
        sys::interrupt::requested().is_some() || self.given_up.load(Ordering::Relaxed)
    }

    /// Sleeps until a signal tells the process to end.
    fn until_told(&self) -> Result<()> {
        while !self.is_over() {
            self.sleep(A_WHILE)?;
        }
        Ok(())
    }

    /// Sleeps for so long, or until a signal tells the process to end.
    fn sleep(&self, time: Duration) -> Result<()> {
        match sys::interrupt::descriptor() {
            Some(woken) => sys::poll::readable(woken, time).map(drop).map_err(Error::other),
            None => Err(Error::other("signals are not noted")),
        }
    }

    fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }
}

/// A listening socket on a free port of 127.0.0.1 with this length of its accept queue, of which the
/// system takes at most `net.core.somaxconn`. Answers are sent at once (`TCP_NODELAY`, which on
/// Linux connections inherit).
///
/// # Errors
/// What the system says.
pub fn listen(backlog: u32) -> Result<TcpListener> {
    listen_for(Model::Single, backlog)
}

/// The same for a model: of [`Model::ReusePort`] others of the same user may share the port.
///
/// # Errors
/// What the system says.
pub fn listen_for(model: Model, backlog: u32) -> Result<TcpListener> {
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    listen_at(anywhere, backlog, matches!(model, Model::ReusePort(_)))
}

/// The same at an address, which other sockets of the same user may share if `is_shared`.
fn listen_at(address: SocketAddr, backlog: u32, is_shared: bool) -> Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_tcp_nodelay(true)?;
    if is_shared {
        socket.set_reuse_port(true)?;
    }
    socket.bind(&address.into())?;
    socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
    Ok(socket.into())
}

/// Serves until the process is asked to end (SIGTERM, SIGINT, SIGHUP), which takes half a second at
/// most where a peer is waited for, and the time of a request that computes. Processes that it makes end with it, threads before it returns.
///
/// It sets the process's handlers of these signals. [`Model::ForkPerRequest`] and [`Model::PreFork`]
/// fork, which is safe in a process of one thread alone, and reap whatever children the process has:
/// they want a process of their own, as [`Running`] makes it.
///
/// # Errors
/// What the system says while the server is set up; `InvalidInput` for a model of no threads or
/// processes, and for one that forks in a process of several threads.
fn run(listener: TcpListener, server: &Server) -> Result<()> {
    let model = server.plan.model;
    if matches!(model, Model::Pool(0) | Model::PreFork(0) | Model::ReusePort(0) | Model::Tokio(0)) {
        return Err(Error::new(ErrorKind::InvalidInput, "a server of no workers serves nobody"));
    }
    if matches!(model, Model::ForkPerRequest | Model::PreFork(_)) {
        processes::must_be_alone()?;
    }
    if matches!(server.plan.service, Service::Database { .. }) && server.slots.is_none() {
        return Err(Error::new(ErrorKind::OutOfMemory, "no memory that processes share"));
    }
    sys::interrupt::install().map_err(Error::other)?;
    use Model::{EventLoop, IoUring, ReusePort, Tokio};
    if !matches!(model, EventLoop | IoUring | ReusePort(_) | Tokio(_) | Model::Runtime(_)) {
        blocking::arrange(&listener, server)?;
    }
    match model {
        Model::Single => blocking::single(&listener, server),
        Model::Pool(threads) => blocking::pool(&listener, threads, server)?,
        Model::ThreadPerConnection => blocking::thread_per_connection(&listener, server),
        Model::ForkPerRequest => processes::fork_per_request(&listener, server),
        Model::PreFork(processes) => processes::pre_fork(&listener, processes, server)?,
        Model::EventLoop => event_loop::run(listener, server)?,
        Model::IoUring => uring::run(listener, server)?,
        Model::ReusePort(loops) => reuseport::run(listener, loops, server)?,
        Model::Tokio(threads) => asynchronous::run(listener, threads, server)?,
        Model::Runtime(_) => return Err(Error::new(ErrorKind::InvalidInput, "it is a program")),
    }
    Ok(())
}
