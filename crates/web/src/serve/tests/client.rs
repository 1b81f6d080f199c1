//! The client.

use super::*;

/// A request of the usual kind.
pub(super) const GET: &str = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// An answer, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn ends(&self) -> bool {
        self.header("connection") == Some("close")
    }
}

/// A connection.
pub(super) struct Client {
    pub(super) stream: TcpStream,
    read: Vec<u8>,
}

impl Client {
    pub(super) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream, read: Vec::new() }
    }

    pub(super) fn say(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    /// The next answer. One to HEAD has no body, whatever its length.
    pub(super) fn hear(&mut self, head_only: bool) -> Answer {
        let end = loop {
            if let Some(end) = self.read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end;
            }
            assert!(self.read_more(), "closed inside a head: {:?}", self.read);
        };
        let head = String::from_utf8(self.read.drain(..end + 4).collect()).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().strip_prefix("HTTP/1.1 ").unwrap();
        let headers: Vec<(String, String)> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        let mut answer = Answer { status: status[..3].parse().unwrap(), headers, body: Vec::new() };
        let length = answer.header("content-length").unwrap().parse().unwrap();
        if !head_only {
            while self.read.len() < length {
                assert!(self.read_more(), "closed inside a body");
            }
            answer.body = self.read.drain(..length).collect();
        }
        answer
    }

    pub(super) fn ask(&mut self, text: &str) -> Answer {
        self.say(text);
        self.hear(false)
    }

    /// Whether the server ends the connection, and says nothing more.
    pub(super) fn is_left(&mut self) -> bool {
        self.read.is_empty() && !self.read_more()
    }

    /// Whether the server says nothing for so long.
    pub(super) fn hears_nothing_for(&mut self, time: Duration) -> bool {
        self.stream.set_read_timeout(Some(time)).unwrap();
        let heard = self.stream.read(&mut [0]);
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
        heard.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    fn read_more(&mut self) -> bool {
        let mut room = [0; 4096];
        let bytes = self.stream.read(&mut room).unwrap();
        self.read.extend_from_slice(&room[..bytes]);
        bytes > 0
    }
}
