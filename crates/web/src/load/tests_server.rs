//! Small servers for tests.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A server on a free port of 127.0.0.1, which ends with its value.
pub(super) struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    accepted: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

/// The default may be shorter than a test has connections.
const BACKLOG: i32 = 2048;

/// How long a server waits for a client that says nothing.
const PATIENCE: Duration = Duration::from_secs(60);

impl Server {
    /// A thread for each connection.
    pub(super) fn threads(handle: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let handle = Arc::new(handle);
        Self::start(BACKLOG, Duration::ZERO, move |stream| {
            let handle = handle.clone();
            // It ends with its connection, which the generator closes.
            std::thread::spawn(move || handle(stream));
        })
    }

    /// One connection after the other.
    pub(super) fn single(handle: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        Self::start(BACKLOG, Duration::ZERO, handle)
    }

    /// One connection after the other, the first after `pause`, with an accept queue of `backlog`.
    pub(super) fn start(
        backlog: i32,
        pause: Duration,
        handle: impl Fn(TcpStream) + Send + 'static,
    ) -> Self {
        let socket =
            socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        socket.listen(backlog).unwrap();
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().unwrap();
        let (stop, accepted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, count) = (stop.clone(), accepted.clone());
        let thread = std::thread::spawn(move || {
            std::thread::sleep(pause);
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                stream.set_write_timeout(Some(PATIENCE)).unwrap();
                count.fetch_add(1, Ordering::Relaxed);
                handle(stream);
            }
        });
        Self { address, stop, accepted, thread: Some(thread) }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Connections so far.
    pub(super) fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // It waits for a connection.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Reads a request without a body; false where there is none any more.
pub(super) fn until_asked(stream: &mut TcpStream) -> bool {
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    while !bytes.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(read @ 1..) => bytes.extend_from_slice(&piece[..read]),
            _ => return false,
        }
    }
    true
}

/// Answers, and ends the connection without a reset.
pub(super) fn answer(stream: &mut TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
}
