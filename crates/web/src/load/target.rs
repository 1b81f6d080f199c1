//! Where requests go, and the bytes of one.

use super::{Error, system};
use model::LoadPlan;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How long one of several addresses of a name is tried.
const TRIED: Duration = Duration::from_secs(1);

/// The longest URL that is sent.
const URL_BYTES_MAX: usize = 8192;

/// The longest value of a header.
const VALUE_BYTES_MAX: usize = 8192;

/// Headers that only the generator may set, since it counts on them.
const RESERVED: [&str; 3] = ["content-length", "transfer-encoding", "expect"];

/// A server and what to ask it for: the parts of `http://HOST:PORT/PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Without the brackets of an IPv6 address.
    host: String,
    /// As it was stated; 80 where it was not.
    port: Option<u16>,
    /// From its slash on, with the query.
    path: String,
}

impl Target {
    /// Takes a URL apart.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    pub fn parse(url: &str) -> Result<Self, Error> {
        let wrong = |why: String| Err(Error::Plan(why));
        if url.len() > URL_BYTES_MAX {
            return wrong(format!("the URL has more than {URL_BYTES_MAX} bytes"));
        }
        if let Some(odd) = url.chars().find(|c| !c.is_ascii_graphic()) {
            return wrong(format!(
                "the URL has {odd:?}, which must be written in its percent form"
            ));
        }
        let Some((scheme, rest)) = url.split_once("://") else {
            let right = "http://HOST:PORT/PATH, such as http://127.0.0.1:8080/";
            return wrong(format!("{url} is no URL; expected {right}"));
        };
        match scheme.to_ascii_lowercase().as_str() {
            "http" => {}
            "https" => {
                let why = "the cost of TLS would be measured with that of the server";
                return wrong(format!(
                    "https is not supported: {why}; ask its plain port by http://"
                ));
            }
            other => return wrong(format!("{other} is not supported; expected http://")),
        }
        // What follows a number sign is for browsers.
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return wrong("the URL holds a user name; give it by -H 'Authorization: …'".into());
        }
        let Some((host, port)) = host_and_port(authority) else {
            let right = "a port from 1 to 65535, such as 127.0.0.1:8080 or [::1]:8080";
            return wrong(format!("{authority:?} is no host with {right}"));
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Target { host: host.into(), port, path: format!("{slash}{path}") })
    }

    /// Returns the whole URL.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.authority(), self.path)
    }

    /// Returns the host as it was stated.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Reports whether any address of the host is another machine's.
    ///
    /// # Errors
    /// The name has no address.
    pub fn is_remote(&self) -> Result<bool, Error> {
        let found = self.addresses()?;
        Ok(found.iter().any(|address| !address.ip().to_canonical().is_loopback()))
    }

    /// Returns the host with its port where that was stated: the value of the header `Host`.
    fn authority(&self) -> String {
        let Target { host, port, .. } = self;
        let (open, close) = if host.contains(':') { ("[", "]") } else { ("", "") };
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{open}{host}{close}{port}")
    }

    /// Returns the addresses of the host, of which there is one at least.
    fn addresses(&self) -> Result<Vec<SocketAddr>, Error> {
        let found = (self.host.as_str(), self.port.unwrap_or(80)).to_socket_addrs();
        let found: Vec<SocketAddr> =
            found.map_err(system(&format!("cannot find the host {}", self.host)))?.collect();
        match found.is_empty() {
            true => Err(Error::Plan(format!("the host {} has no address", self.host))),
            false => Ok(found),
        }
    }

    /// The first of the addresses that the name resolves to at which somebody listens: `localhost` is
    /// mostly `::1` and 127.0.0.1, and many servers listen at one of them. The very first where nobody
    /// listens at any, or where there is but one, which is not tried.
    pub fn resolve(&self) -> Result<SocketAddr, Error> {
        Ok(answering(&self.addresses()?))
    }
}

/// Takes a host, without the brackets of an IPv6 address, from its port; `None` of what is neither.
fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let port = |text: &str| match text {
        "" => Some(None),
        _ if !text.bytes().all(|byte| byte.is_ascii_digit()) => None,
        _ => text.parse().ok().filter(|port| *port > 0).map(Some),
    };
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        let host_is_v6 = host.parse::<std::net::Ipv6Addr>().is_ok();
        let after = if after.is_empty() { "" } else { after.strip_prefix(':')? };
        return port(after).filter(|_| host_is_v6).map(|port| (host, port));
    }
    let (host, after) = authority.split_once(':').unwrap_or((authority, ""));
    let of_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let named = !host.is_empty() && host.chars().all(of_name);
    port(after).filter(|_| named).map(|port| (host, port))
}

/// The first address at which somebody listens, or the first.
fn answering(addresses: &[SocketAddr]) -> SocketAddr {
    let listens = |address: &&SocketAddr| TcpStream::connect_timeout(address, TRIED).is_ok();
    let found = if addresses.len() > 1 { addresses.iter().find(listens) } else { None };
    *found.unwrap_or(&addresses[0])
}

/// Whether `text` is a token of HTTP (RFC 9110, 5.6.2).
fn is_token(text: &str) -> bool {
    (1..=256).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// The bytes of a request, head and body, the same for all.
///
/// # Errors
/// A method or header that cannot be sent.
pub(super) fn request(plan: &LoadPlan, target: &Target, body: &[u8]) -> Result<Vec<u8>, Error> {
    check_method(&plan.method)?;
    let mut head = format!("{} {} HTTP/1.1\r\n", plan.method, target.path);
    let named = |name: &str| plan.headers.iter().any(|(had, _)| had.eq_ignore_ascii_case(name));
    if !named("host") {
        head += &format!("Host: {}\r\n", target.authority());
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

/// Checks that a method can be asked.
///
/// # Errors
/// What would be right.
pub fn check_method(method: &str) -> Result<(), Error> {
    match method {
        _ if !is_token(method) => Err(Error::Plan("expected a method such as GET or POST".into())),
        // Answers to CONNECT end by other rules.
        "CONNECT" | "connect" => {
            Err(Error::Plan("CONNECT asks for a tunnel and cannot be measured".into()))
        }
        _ => Ok(()),
    }
}

/// Checks that a header can be sent, and that it does not contradict what the generator sends.
///
/// # Errors
/// What is wrong with it.
pub fn check_header(name: &str, value: &str) -> Result<(), Error> {
    if !is_token(name) {
        return Err(Error::Plan(format!("{name:?} is not a valid header name")));
    }
    if RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
        return Err(Error::Plan(format!("{name} follows from the body; leave it out")));
    }
    if value.len() > VALUE_BYTES_MAX || value.chars().any(|c| c.is_control() && c != '\t') {
        let what = format!("the value of {name} is too long or has control characters");
        return Err(Error::Plan(what));
    }
    Ok(())
}

/// A header `Connection` may say what holds anyway.
fn check_connection(value: &str, keep_alive: bool) -> Result<(), Error> {
    let right = if keep_alive { "keep-alive" } else { "close" };
    if value.trim().eq_ignore_ascii_case(right) {
        return Ok(());
    }
    let text = "connections last unless --no-keep-alive is given; leave the header out";
    Err(Error::Plan(format!("-H 'Connection: {value}': {text}")))
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
            ("http://a", "a", "a", None, "/"),
            ("http://a:81/b/c?d=e#f", "a:81", "a", Some(81), "/b/c?d=e"),
            ("http://[::1]:8080/", "[::1]:8080", "::1", Some(8080), "/"),
            ("http://a?x", "a", "a", None, "/?x"),
        ] {
            let parsed = Target::parse(url).unwrap();
            assert_eq!(parsed.authority(), authority, "{url}");
            assert_eq!(parsed, Target { host: host.into(), port, path: path.into() }, "{url}");
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
    fn urls_are_taken_apart_and_whole_again() {
        for (typed, whole) in [
            ("http://127.0.0.1:8080/a?b=c#d", "http://127.0.0.1:8080/a?b=c"),
            ("HTTP://localhost", "http://localhost/"),
            ("http://localhost?x", "http://localhost/?x"),
            ("http://[::1]:9/", "http://[::1]:9/"),
            ("http://a-b.example_1:1", "http://a-b.example_1:1/"),
        ] {
            assert_eq!(Target::parse(typed).unwrap().url(), whole, "{typed}");
        }
    }

    #[test]
    fn what_is_no_url_is_told_what_would_be_right() {
        for (typed, part) in [
            ("https://localhost/", "https is not supported"),
            ("ftp://localhost/", "expected http://"),
            ("localhost:80", "http://127.0.0.1:8080/"),
            ("http://user:pw@localhost/", "Authorization"),
            ("http://", "no host"),
            ("http://:80/", "no host"),
            ("http://localhost:0/", "no host"),
            ("http://localhost:70000/", "no host"),
            ("http://localhost:+80/", "no host"),
            ("http://[::1/", "no host"),
            ("http://[evil]:80/", "no host"),
            ("http://local host/", "percent form"),
            ("http://localhost/\r\nX: y", "percent form"),
        ] {
            let why = format!("{:#}", Target::parse(typed).unwrap_err());
            assert!(why.contains(part), "{typed}: {why}");
        }
    }

    #[test]
    fn loopback_is_this_machine() {
        for (typed, remote) in [
            ("http://127.0.0.1:1/", false),
            ("http://127.8.9.10/", false),
            ("http://[::1]/", false),
            ("http://[::ffff:127.0.0.1]/", false),
            ("http://192.0.2.1/", true),
            ("http://0.0.0.0/", true),
            ("http://[2001:db8::1]/", true),
        ] {
            assert_eq!(Target::parse(typed).unwrap().is_remote().unwrap(), remote, "{typed}");
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
        assert_eq!(answering(&[one, open]), open);
        assert_eq!(answering(&[one, other]), one);
        // The only one is not tried: a server would count a connection that asks for nothing.
        listener.set_nonblocking(true).unwrap();
        while listener.accept().is_ok() {}
        assert_eq!(answering(&[open]), open);
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
                prop_assert!(target.port != Some(0) && !target.host.is_empty());
            }
        }

        #[test]
        fn any_text_is_a_url_of_one_line_or_refused(
            text in prop_oneof!["http://[a-z0-9:./?#@\\[\\]]{0,40}", ".*"],
        ) {
            if let Ok(target) = Target::parse(&text) {
                let url = target.url();
                prop_assert!(url.chars().all(|c| c.is_ascii_graphic()), "{url}");
                prop_assert_eq!(Target::parse(&url).unwrap(), target);
            }
        }
    }
}
