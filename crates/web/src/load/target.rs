//! Where requests go, and the bytes of one.

use super::Error;
use model::LoadPlan;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How long one of several addresses of a name is tried.
const TRIED: Duration = Duration::from_secs(1);

/// The parts of `http://HOST:PORT/PATH`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target<'a> {
    /// `HOST` or `HOST:PORT` as it stands in the URL: the value of the `Host` header.
    authority: &'a str,
    /// Without the brackets of an IPv6 address.
    host: &'a str,
    port: u16,
    /// From its `/`; empty where the URL ends before it.
    path: &'a str,
}

/// Headers that only the generator may set, since it counts on them.
const RESERVED: [&str; 3] = ["content-length", "transfer-encoding", "expect"];

impl<'a> Target<'a> {
    /// Reads a URL.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    pub(super) fn parse(url: &'a str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::Plan(format!("{url:?}: {why}"));
        if url.starts_with("https://") {
            return Err(wrong("TLS is not spoken here; ask the server behind it, by http://"));
        }
        let rest = url
            .strip_prefix("http://")
            .ok_or_else(|| wrong("a URL of the form http://HOST:PORT/PATH is needed"))?;
        if !url.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("spaces and other characters need percent-encoding (%20)"));
        }
        let rest = rest.split('#').next().unwrap_or(rest);
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(wrong("a name before @ is not sent; use a header Authorization"));
        }
        let (host, after) = match authority.strip_prefix('[') {
            Some(inner) => inner.split_once(']').ok_or_else(|| wrong("a ] is missing"))?,
            None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
        };
        let port = match after.strip_prefix(':') {
            Some(port) => port.parse().ok().filter(|port| *port > 0),
            None if after.is_empty() => Some(80),
            None => None,
        };
        let port = port.ok_or_else(|| wrong("the port is a number from 1 to 65535"))?;
        if host.is_empty() {
            return Err(wrong("it names no host"));
        }
        Ok(Self { authority, host, port, path })
    }

    /// The first of the addresses that the name resolves to at which somebody listens: `localhost` is
    /// mostly `::1` and 127.0.0.1, and many servers listen at one of them. The very first where nobody
    /// listens at any, or where there is but one, which is not tried.
    pub(super) fn resolve(&self) -> Result<SocketAddr, Error> {
        let what = || format!("resolve {}", self.host);
        let addresses: Vec<SocketAddr> = (self.host, self.port)
            .to_socket_addrs()
            .map_err(|error| Error::System { what: what(), error })?
            .collect();
        answering(&addresses)
            .ok_or_else(|| Error::Plan(format!("{}: it has no address", self.host)))
    }

    /// The path as it stands in a request's first line.
    fn request_path(&self) -> String {
        if self.path.starts_with('/') { self.path.to_string() } else { format!("/{}", self.path) }
    }
}

/// The first address at which somebody listens, or the first.
fn answering(addresses: &[SocketAddr]) -> Option<SocketAddr> {
    let listens = |address: &&SocketAddr| TcpStream::connect_timeout(address, TRIED).is_ok();
    let found = if addresses.len() > 1 { addresses.iter().find(listens) } else { None };
    found.or(addresses.first()).copied()
}

/// Whether `text` is a token of HTTP (RFC 9110, 5.6.2).
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// The bytes of a request, head and body, the same for all.
///
/// # Errors
/// A method or header that cannot be sent.
pub(super) fn request(plan: &LoadPlan, target: &Target<'_>, body: &[u8]) -> Result<Vec<u8>, Error> {
    if !is_token(&plan.method) || plan.method == "CONNECT" {
        return Err(Error::Plan(format!("{:?} is no method that can be asked", plan.method)));
    }
    let mut head = format!("{} {} HTTP/1.1\r\n", plan.method, target.request_path());
    let named = |name: &str| plan.headers.iter().any(|(had, _)| had.eq_ignore_ascii_case(name));
    if !named("host") {
        head += &format!("Host: {}\r\n", target.authority);
    }
    for (name, value) in &plan.headers {
        check_header(name, value)?;
        if name.eq_ignore_ascii_case("connection") {
            check_connection(value, plan.keep_alive)?;
            continue;
        }
        head += &format!("{name}: {value}\r\n");
    }
    if !body.is_empty() || ["POST", "PUT", "PATCH"].contains(&plan.method.as_str()) {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    if !plan.keep_alive {
        head += "Connection: close\r\n";
    }
    head += "\r\n";
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(body);
    Ok(bytes)
}

/// A header that can be sent, and that does not contradict what the generator sends.
fn check_header(name: &str, value: &str) -> Result<(), Error> {
    if !is_token(name) {
        return Err(Error::Plan(format!("{name:?} is no name of a header")));
    }
    if value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
        return Err(Error::Plan(format!("the header {name} holds a control character")));
    }
    if RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
        return Err(Error::Plan(format!("the header {name} follows from the body; leave it out")));
    }
    Ok(())
}

/// A header `Connection` may say what holds anyway.
fn check_connection(value: &str, keep_alive: bool) -> Result<(), Error> {
    let right = if keep_alive { "keep-alive" } else { "close" };
    if value.trim().eq_ignore_ascii_case(right) {
        return Ok(());
    }
    let text = "whether connections last is chosen by the plan's keep-alive, not by a header";
    Err(Error::Plan(format!("Connection: {value}: {text}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Arrivals;
    use proptest::prelude::*;
    use socket2::{Domain, Socket, Type};
    use std::net::TcpListener;

    fn plan(method: &str, headers: &[(&str, &str)], keep_alive: bool) -> LoadPlan {
        LoadPlan {
            url: String::new(),
            method: method.into(),
            headers: headers.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect(),
            body_bytes: 0,
            arrivals: Arrivals::Closed,
            connections: 1,
            keep_alive,
            threads: 1,
            duration_ms: Some(1),
            requests: None,
            timeout_ms: 1,
        }
    }

    fn bytes(plan: &LoadPlan, url: &str, body: &[u8]) -> Result<String, String> {
        let target = Target::parse(url).map_err(|error| error.to_string())?;
        let bytes = request(plan, &target, body).map_err(|error| error.to_string())?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn parts_of_urls() {
        for (url, authority, host, port, path) in [
            ("http://a", "a", "a", 80, ""),
            ("http://a:81/b/c?d=e#f", "a:81", "a", 81, "/b/c?d=e"),
            ("http://[::1]:8080/", "[::1]:8080", "::1", 8080, "/"),
            ("http://a?x", "a", "a", 80, "?x"),
        ] {
            let parsed = Target::parse(url).unwrap();
            assert_eq!(parsed, Target { authority, host, port, path }, "{url}");
        }
        for (url, why) in [
            ("https://a/", "TLS"),
            ("a:80", "http://HOST"),
            ("http://", "no host"),
            ("http://:80/", "no host"),
            ("http://a:0/", "port"),
            ("http://a:65536/", "port"),
            ("http://[::1", "]"),
            ("http://[::1]80/", "port"),
            ("http://u@a/", "Authorization"),
            ("http://a/b c", "percent"),
            ("http://a/\r\nX: y", "percent"),
        ] {
            let error = Target::parse(url).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn the_address_at_which_somebody_listens_is_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let open = listener.local_addr().unwrap();
        // Taken, so that nobody else listens there meanwhile.
        let taken = || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
            let address = socket.local_addr().unwrap().as_socket().unwrap();
            (socket, address)
        };
        let ((_one, one), (_other, other)) = (taken(), taken());
        assert_eq!(answering(&[one, open]), Some(open));
        assert_eq!(answering(&[one, other]), Some(one));
        assert_eq!(answering(&[]), None);
        // The only one is not tried: a server would count a connection that asks for nothing.
        listener.set_nonblocking(true).unwrap();
        while listener.accept().is_ok() {}
        assert_eq!(answering(&[open]), Some(open));
        assert!(listener.accept().is_err());
    }

    #[test]
    fn a_request_is_what_the_plan_says() {
        assert_eq!(
            bytes(&plan("GET", &[("X-A", "1")], true), "http://h:1?q", b"").unwrap(),
            "GET /?q HTTP/1.1\r\nHost: h:1\r\nX-A: 1\r\n\r\n"
        );
        assert_eq!(
            bytes(&plan("POST", &[("host", "other")], false), "http://h/p", b"abc").unwrap(),
            "POST /p HTTP/1.1\r\nhost: other\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc"
        );
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        for (method, header) in [
            ("G T", ("a", "b")),
            ("", ("a", "b")),
            ("CONNECT", ("a", "b")),
            ("GET", ("a b", "c")),
            ("GET", ("a", "b\r\nc: d")),
            ("GET", ("Content-Length", "3")),
            ("GET", ("Connection", "close")),
            ("GET", ("Connection", "upgrade")),
        ] {
            assert!(bytes(&plan(method, &[header], true), "http://h/", b"").is_err(), "{header:?}");
        }
        assert!(
            bytes(&plan("GET", &[("connection", "Keep-Alive")], true), "http://h/", b"").is_ok()
        );
    }

    proptest! {
        #[test]
        fn any_url_is_read_or_refused(url in "(http://)?\\PC{0,40}") {
            if let Ok(target) = Target::parse(&url) {
                prop_assert!(target.port > 0 && !target.host.is_empty());
            }
        }
    }
}
