//! A server in a process of its own.

use super::answer::BODY;
use super::{Model, Plan, Runtime, SILENCE, Server, run};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};
use sys::Pid;
use sys::task::Ended;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The system refused something.
    #[error("{what}: {error}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        error: std::io::Error,
    },
    /// The process of the server could not be made, or not be placed.
    #[error(transparent)]
    Process(#[from] sys::Error),
    /// It ended instead of answering.
    #[error("the server ended before it answered: {0}")]
    Ended(String),
    /// Its runtime is not installed or is too old, or its model cannot do what it is to; the text has why.
    #[error("{0}")]
    Missing(String),
    /// It did not answer in time.
    #[error("the server did not answer within {0:?}")]
    Silent(Duration),
}

fn system(what: &'static str) -> impl Fn(std::io::Error) -> StartError {
    move |error| StartError::System { what, error }
}

fn must_exist(plan: &Plan) -> Result<(), StartError> {
    plan.lacks().map_or(Ok(()), |lack| Err(StartError::Missing(lack.into())))
}

/// Exit codes of a server's process: placed elsewhere than asked, not set up, or in need of what the system does
/// not have or refuses.
const NOT_PLACED: i32 = 3;
const NOT_SET_UP: i32 = 4;
const UNSUPPORTED: i32 = 5;

/// What only one model needs.
const WITHOUT_URING: &str = "needs io_uring, Linux 5.19 or later: it is missing, switched off \
                             (kernel.io_uring_disabled), or refused by a filter of system calls as containers have";

/// How long a process may take to end after its connections have.
const LAST_BREATH: Duration = Duration::from_secs(1);

/// A server in a child process, which ends when this does: at its drop, and at the end of the thread
/// that made it.
///
/// The child is forked, and runs allocating code: make it in a process of one thread, as trials are.
/// (glibc repairs its allocator in a forked child; what else a lock of another thread may guard
/// stays locked there.)
#[derive(Debug)]
pub struct Running {
    pid: Pid,
    address: SocketAddr,
    model: Model,
    is_over: bool,
}

impl Running {
    /// Starts a server that listens on `listener` and stays on the CPUs `cpus` (none: wherever this
    /// thread may run). The child has no other descriptor of this process than the first three.
    ///
    /// # Errors
    /// Where no child can be made. [`Running::wait_until_ready`] reports whether it serves.
    pub fn start(listener: TcpListener, plan: &Plan, cpus: &[u32]) -> Result<Running, StartError> {
        Self::start_with(listener, plan, cpus, SILENCE)
    }

    /// The same with another patience for silent peers.
    ///
    /// # Errors
    /// As [`Running::start`].
    pub fn start_with(
        listener: TcpListener,
        plan: &Plan,
        cpus: &[u32],
        silence: Duration,
    ) -> Result<Running, StartError> {
        must_exist(plan)?;
        let address = listener.local_addr().map_err(system("getsockname"))?;
        // The closure owns the listener, and is dropped on this side: the port closes with the
        // child.
        let pid = sys::task::fork_run(move || {
            // Connections of this process would else stay open as long as the child lives. A kernel
            // that cannot do it leaves them so.
            let _ = sys::process::close_all_but(&[listener.as_fd()]);
            let _ = sys::interrupt::forget();
            if !cpus.is_empty() && sys::affinity::pin(cpus).is_err() {
                return NOT_PLACED;
            }
            let Ok(server) = Server::new(plan) else { return NOT_SET_UP };
            let server = Server { silence, ..server };
            match run(listener, &server) {
                Ok(()) => 0,
                Err(error) if error.kind() == ErrorKind::Unsupported => UNSUPPORTED,
                Err(_) => NOT_SET_UP,
            }
        })?;
        Ok(Running { pid, address, model: plan.model, is_over: false })
    }

    /// Starts a server of another runtime, which [`Runtime::prepare`] has put into a folder.
    ///
    /// # Errors
    /// Where its program cannot be started.
    pub fn start_program(
        listener: TcpListener,
        plan: &Plan,
        runtime: Runtime,
        cpus: &[u32],
        folder: &Path,
    ) -> Result<Running, StartError> {
        must_exist(plan)?;
        let address = listener.local_addr().map_err(system("getsockname"))?;
        let pid = runtime.start(listener, plan, cpus, folder)?;
        Ok(Running { pid, address, model: Model::Runtime(runtime), is_over: false })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of its process; those that it makes are descendants of that.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Its process and all that came of it and live.
    pub fn family(&self) -> Vec<Pid> {
        let mut family = vec![self.pid];
        family.extend(sys::process::descendants(self.pid, &[]));
        family
    }

    /// Waits until it has answered a request, sent on a connection of its own, and until all its
    /// workers are there and none serves that connection any more.
    ///
    /// # Errors
    /// If it has ended, does not answer within `patience`, or answers anything but 200.
    pub fn wait_until_ready(&mut self, patience: Duration) -> Result<(), StartError> {
        let begun = Instant::now();
        match self.ask(patience) {
            Ok(true) => {}
            Ok(false) => return Err(StartError::Ended("it did not answer 200".into())),
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {
                return Err(StartError::Silent(patience));
            }
            Err(error) => return Err(self.end_or(error)?),
        }
        while !self.is_settled()? {
            if begun.elapsed() > patience {
                return Err(StartError::Silent(patience));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    /// Why it cannot be asked: mostly because it has ended, which takes a moment longer than the end
    /// of its connections.
    fn end_or(&mut self, error: std::io::Error) -> Result<StartError, StartError> {
        Ok(match self.ended_within(LAST_BREATH)? {
            Some(ended) if ended.code == Some(UNSUPPORTED) => {
                StartError::Missing(WITHOUT_URING.into())
            }
            Some(ended) => StartError::Ended(describe(&ended)),
            None => StartError::System { what: "asking the server", error },
        })
    }

    /// Waits for its end for so long.
    fn ended_within(&mut self, patience: Duration) -> sys::Result<Option<Ended>> {
        let begun = Instant::now();
        while begun.elapsed() < patience {
            if let Some(ended) = sys::task::try_wait(self.pid)? {
                self.is_over = true;
                return Ok(Some(ended));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(None)
    }

    /// Whether it has the workers that it has while nobody asks.
    fn is_settled(&self) -> sys::Result<bool> {
        let (threads, children) = match self.model {
            // A runtime has threads of its own, as many as it likes.
            Model::Runtime(_) => return Ok(true),
            Model::Single | Model::EventLoop | Model::IoUring => (1, 0),
            Model::ThreadPerConnection | Model::ForkPerRequest => (1, 0),
            Model::PreFork(processes) => (1, processes),
            Model::ReusePort(loops) => (loops, 0),
            Model::Pool(threads) | Model::Tokio(threads) => (threads + 1, 0),
        };
        let has_threads = sys::proc::status(self.pid)?.threads == u64::from(threads);
        Ok(has_threads && self.family().len() == children as usize + 1)
    }

    /// Whether a request is answered by 200.
    fn ask(&self, patience: Duration) -> std::io::Result<bool> {
        let mut stream = TcpStream::connect_timeout(&self.address, patience)?;
        stream.set_read_timeout(Some(patience))?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.take(4096).read_to_end(&mut answer)?;
        Ok(answer.starts_with(b"HTTP/1.1 200 "))
    }

    /// Returns a new connection that has had one answer, or has sent a part of its first request.
    ///
    /// # Errors
    /// Where it cannot be opened, or no answer comes within `patience`.
    pub fn connection(&self, patience: Duration, is_answered: bool) -> std::io::Result<TcpStream> {
        let mut stream = TcpStream::connect_timeout(&self.address, patience)?;
        let head = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".as_bytes();
        if !is_answered {
            stream.write_all(&head[..head.len() - 2])?;
            return Ok(stream);
        }
        stream.set_read_timeout(Some(patience))?;
        stream.write_all(head)?;
        let (mut answer, mut room) = (Vec::new(), [0; 512]);
        while !answer.ends_with(BODY.as_bytes()) {
            let read = stream.read(&mut room)?;
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            answer.extend_from_slice(&room[..read]);
        }
        Ok(stream)
    }

    /// Tells it to end, and waits until it has; kills it after `patience`. What is returned counts
    /// what it has used with all children that it has awaited.
    ///
    /// # Errors
    /// If the system does not let it be awaited.
    pub fn end(mut self, patience: Duration) -> sys::Result<Ended> {
        sys::process::kill(self.pid, sys::signal::SIGTERM)?;
        if let Some(ended) = self.ended_within(patience)? { Ok(ended) } else { self.kill() }
    }

    /// Its children are killed with it: they were forked by its only thread.
    fn kill(&mut self) -> sys::Result<Ended> {
        self.is_over = true;
        sys::process::kill(self.pid, sys::signal::SIGKILL)?;
        sys::task::wait(self.pid)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            // There is nobody left to tell.
            let _ = self.kill();
        }
    }
}

/// How a server's process ended, in words.
fn describe(ended: &Ended) -> String {
    match (ended.code, ended.signal) {
        (Some(NOT_PLACED), _) => "it was not let onto its CPUs".into(),
        (Some(NOT_SET_UP), _) => "the system refused what it needs".into(),
        (Some(code), _) => format!("exit code {code}"),
        (_, Some(signal)) => format!("signal {signal}"),
        _ => "nobody knows how".into(),
    }
}
