//! What carries bytes to a server: TCP or a Unix socket, in the clear or over TLS. None of it blocks.

mod tls;

pub use tls::certificates;

use super::{Error, Payload, Target};
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use model::{LoadError, LoadPlan};
use rustix::net::{RecvFlags, SendFlags};
use socket2::SockRef;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

/// Bytes read at once.
pub(super) const BUFFER_BYTES: usize = 64 << 10;

/// Encrypted bytes read at once: what they and a record that had come in part hold fits the buffer.
pub(super) const CIPHER_BYTES: usize = BUFFER_BYTES - (18 << 10);

/// Where connections go, and how.
#[derive(Debug)]
pub(super) struct Route {
    place: Place,
    tls: Option<tls::Client>,
}

#[derive(Debug)]
enum Place {
    Ip(SocketAddr),
    Unix(PathBuf),
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Ip(address) => write!(f, "{address}"),
            Place::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Route {
    /// Finds the server's address, and reads the certificates of a plan for TLS.
    ///
    /// # Errors
    /// A name without an address, a host that no certificate can name, or no certificate to trust.
    pub(super) fn new(plan: &LoadPlan, target: &Target, payload: &Payload) -> Result<Self, Error> {
        let options = &plan.options;
        let place = match (&options.unix_socket, &options.connect_to) {
            (Some(path), _) => Place::Unix(path.into()),
            (None, Some(text)) => Place::Ip(target.connect_to(text)?.resolve()?),
            (None, None) => Place::Ip(target.address().resolve()?),
        };
        let tls =
            target.is_secure().then(|| tls::Client::new(options, target.host(), &payload.roots));
        Ok(Self { place, tls: tls.transpose()? })
    }

    /// Returns the address of a TCP server.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        match &self.place {
            Place::Ip(address) => Some(*address),
            Place::Unix(_) => None,
        }
    }

    /// Whether bytes are encrypted.
    pub(super) fn is_secure(&self) -> bool {
        self.tls.is_some()
    }

    /// Begins to connect. Events tell when it has been done.
    pub(super) fn open(&self, registry: &Registry, token: Token) -> io::Result<Stream> {
        let both = Interest::READABLE | Interest::WRITABLE;
        let socket = match &self.place {
            Place::Ip(address) => {
                let mut stream = TcpStream::connect(*address)?;
                // A request of several segments must not wait for an acknowledgement of its first.
                stream.set_nodelay(true)?;
                registry.register(&mut stream, token, both)?;
                Socket::Tcp(stream)
            }
            Place::Unix(path) => {
                let mut stream = UnixStream::connect(path).map_err(|error| match error.kind() {
                    // As TCP has it, a client would wait for its turn (unix(7), EAGAIN).
                    ErrorKind::WouldBlock => io::Error::other("the socket's accept queue is full"),
                    _ => error,
                })?;
                registry.register(&mut stream, token, both)?;
                Socket::Unix(stream)
            }
        };
        match &self.tls {
            None => Ok(Stream::Plain(socket)),
            Some(client) => Ok(Stream::Tls(Box::new(client.begin(socket)?))),
        }
    }
}

/// A connected socket, or one that is being connected.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// Whether it is connected.
    fn is_connected(&self) -> io::Result<bool> {
        let (error, peer) = match self {
            Self::Tcp(stream) => (stream.take_error()?, stream.peer_addr().map(|_| ())),
            Self::Unix(stream) => (stream.take_error()?, stream.peer_addr().map(|_| ())),
        };
        match (error, peer) {
            (Some(error), _) => Err(error),
            (None, Ok(())) => Ok(true),
            (None, Err(error)) if is_pending(&error) => Ok(false),
            (None, Err(error)) => Err(error),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

/// Without libc, whose calls look before and after whether the thread is cancelled.
impl Read for Socket {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::net::recv(self, buffer, RecvFlags::empty())?.0)
    }
}

impl Write for Socket {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self, bytes, SendFlags::NOSIGNAL)?)
    }

    fn write_vectored(&mut self, bytes: &[io::IoSlice<'_>]) -> io::Result<usize> {
        // A record, as a request mostly is, is sent for less than a list of them.
        match (bytes, self) {
            ([one], socket) => socket.write(one),
            (all, Self::Tcp(stream)) => stream.write_vectored(all),
            (all, Self::Unix(stream)) => stream.write_vectored(all),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes that were read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    /// How many; 0 at the end.
    pub(super) count: usize,
    /// Whether the socket is empty: what comes later makes an event of its own (epoll(7), on
    /// edge-triggered events), unless that is the end.
    pub(super) drained: bool,
}

/// A connection's bytes.
#[derive(Debug)]
pub(super) enum Stream {
    Plain(Socket),
    Tls(Box<tls::Tls>),
}

impl Stream {
    /// Reads what there is. `cipher` is room for encrypted bytes.
    #[inline]
    pub(super) fn read(&mut self, buffer: &mut [u8], cipher: &mut [u8]) -> io::Result<Taken> {
        match self {
            Self::Plain(socket) => {
                let count = socket.read(buffer)?;
                Ok(Taken { count, drained: count < buffer.len() })
            }
            Self::Tls(tls) => tls.read(buffer, cipher),
        }
    }

    /// Writes some bytes, as soon as the connection is there.
    #[inline]
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    /// Writes what was taken and is still held here.
    #[inline]
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(tls) => match tls.flush() {
                Err(error) if is_pending(&error) => Ok(()),
                other => other,
            },
        }
    }

    /// Has the kernel acknowledge at once what has come; whether it could be asked.
    pub(super) fn acknowledge(&self) -> bool {
        match self {
            Self::Plain(Socket::Tcp(stream)) => {
                SockRef::from(stream).set_tcp_quickack(true).is_ok()
            }
            _ => false,
        }
    }

    /// Goes on connecting; whether that has been done.
    pub(super) fn connect(&mut self) -> io::Result<bool> {
        match self {
            Self::Plain(socket) => socket.is_connected(),
            Self::Tls(tls) => match tls.shake() {
                Ok(()) => Ok(true),
                Err(error) if is_pending(&error) => Ok(false),
                Err(error) => Err(error),
            },
        }
    }
}

/// Whether a socket takes nothing yet: its buffer is full, or it is not connected.
pub(super) fn is_pending(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected)
}

/// The class of an error.
pub(super) fn reason(error: &io::Error) -> LoadError {
    match error.kind() {
        ErrorKind::ConnectionRefused => LoadError::Refused,
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => LoadError::Reset,
        ErrorKind::UnexpectedEof => LoadError::Closed,
        _ if error.get_ref().is_some_and(|inner| inner.is::<tls::Fault>()) => LoadError::Tls,
        _ => LoadError::Socket,
    }
}
