//! Where requests go.

use super::{Error, system};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How long one of several addresses of a name is tried.
const TRIED: Duration = Duration::from_secs(1);

/// The longest URL that is sent.
const URL_BYTES_MAX: usize = 8192;

/// A server and what to ask it for: the parts of `http://HOST:PORT/PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Whether it is asked over TLS.
    secure: bool,
    /// Without the brackets of an IPv6 address.
    host: String,
    /// As it was stated; 80 or 443 where it was not.
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
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            other => {
                return wrong(format!("{other} is not supported; expected http:// or https://"));
            }
        };
        // What follows a number sign is for browsers.
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return wrong(
                "the URL holds a user name; give it by --basic-auth USER:PASSWORD".into(),
            );
        }
        let Some((host, port)) = host_and_port(authority) else {
            let right = "a port from 1 to 65535, such as 127.0.0.1:8080 or [::1]:8080";
            return wrong(format!("{authority:?} is no host with {right}"));
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Target { secure, host: host.into(), port, path: format!("{slash}{path}") })
    }

    /// Returns the whole URL.
    pub fn url(&self) -> String {
        format!("{}://{}{}", self.scheme(), self.authority(), self.path)
    }

    /// Reports whether it is asked over TLS.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// Returns the address that the URL names.
    pub fn address(&self) -> Address {
        let default = if self.secure { 443 } else { 80 };
        Address { host: self.host.clone(), port: self.port.unwrap_or(default) }
    }

    /// Returns the address to connect to by `HOST:PORT`, or by curl's `HOST1:PORT1:HOST2:PORT2`, whose
    /// empty parts mean any host or port and the URL's own.
    ///
    /// # Errors
    /// What would be right.
    pub fn connect_to(&self, text: &str) -> Result<Address, Error> {
        if let Some((host, Some(port))) = host_and_port(text) {
            return Ok(Address { host: host.into(), port });
        }
        let own = self.address();
        let parts = curls_parts(text).and_then(|[host, port, to, to_port]| {
            let number = |text: &str, none| match text {
                "" => Some(none),
                _ => host_and_port(&format!("h:{text}"))?.1,
            };
            let for_port = number(port, own.port)? == own.port;
            let applies = for_port && (host.is_empty() || host.eq_ignore_ascii_case(&own.host));
            let to = if to.is_empty() { own.host.as_str() } else { to };
            let there = Address { host: to.into(), port: number(to_port, own.port)? };
            Some(if applies { there } else { own.clone() })
        });
        parts.ok_or_else(|| {
            let right = "HOST:PORT or HOST1:PORT1:HOST2:PORT2, such as localhost:8443";
            Error::Plan(format!("--connect-to {text}: expected {right}"))
        })
    }

    /// Returns the host as it was stated.
    pub fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }

    /// Reports whether both are asked over the same connection.
    pub fn has_origin_of(&self, other: &Target) -> bool {
        let same_host = self.host.eq_ignore_ascii_case(&other.host);
        same_host && self.secure == other.secure && self.address().port == other.address().port
    }

    /// Returns what a `Location` of this one's answer names (RFC 3986, 5.2); `None` where it is no URL of HTTP.
    pub(super) fn follow(&self, location: &str) -> Option<Target> {
        let whole = location.split('#').next().unwrap_or_default();
        let scheme = whole.split_once("://").map(|(scheme, _)| scheme);
        if scheme.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
            return Target::parse(whole).ok();
        }
        let origin = format!("{}://{}", self.scheme(), self.authority());
        let file = self.path.split('?').next().unwrap_or_default();
        let url = match whole {
            "" => self.url(),
            _ if whole.starts_with("//") => format!("{}:{whole}", self.scheme()),
            _ if whole.starts_with('/') => format!("{origin}{}", without_dots(whole)),
            _ if whole.starts_with('?') => format!("{origin}{file}{whole}"),
            _ => {
                let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
                format!("{origin}{}", without_dots(&format!("{folder}/{whole}")))
            }
        };
        Target::parse(&url).ok()
    }

    /// Returns the host with its port where that was stated: the value of the header `Host`.
    pub(super) fn authority(&self) -> String {
        let Target { host, port, .. } = self;
        let (open, close) = if host.contains(':') { ("[", "]") } else { ("", "") };
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{open}{host}{close}{port}")
    }
}

/// Returns a path without its segments `.` and `..` (RFC 3986, 5.2.4), with its query as it is.
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            other => kept.push(other),
        }
    }
    let is_folder = path.ends_with("/.") || path.ends_with("/..");
    let end = if is_folder && !kept.is_empty() { "/" } else { "" };
    format!("/{}{end}{query}", kept.join("/"))
}

/// A host and port to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Without the brackets of an IPv6 address.
    host: String,
    port: u16,
}

impl std::fmt::Display for Address {
    /// Writes `HOST:PORT`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl Address {
    /// Returns the host.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Reports whether any address of the host is another machine's.
    ///
    /// # Errors
    /// The name has no address.
    pub fn is_remote(&self) -> Result<bool, Error> {
        let found = self.all()?;
        Ok(found.iter().any(|address| !address.ip().to_canonical().is_loopback()))
    }

    /// Returns the addresses of the host, of which there is one at least.
    fn all(&self) -> Result<Vec<SocketAddr>, Error> {
        let found = (self.host.as_str(), self.port).to_socket_addrs();
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
        Ok(answering(&self.all()?))
    }
}

/// Takes `HOST1:PORT1:HOST2:PORT2` apart; a host may be an IPv6 address in brackets.
fn curls_parts(text: &str) -> Option<[&str; 4]> {
    let host = |text: &'_ str| -> Option<usize> {
        if text.starts_with('[') { text.find(']').map(|end| end + 1) } else { text.find(':') }
    };
    let (first, rest) = text.split_at_checked(host(text)?)?;
    let (port, rest) = rest.strip_prefix(':')?.split_once(':')?;
    let (second, rest) = rest.split_at_checked(host(rest)?)?;
    let to_port = rest.strip_prefix(':')?;
    let unbracketed =
        |text| str::strip_prefix(text, '[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    Some([unbracketed(first), port, unbracketed(second), to_port])
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use socket2::{Domain, Socket, Type};
    use std::net::TcpListener;

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
            let (host, path) = (host.into(), path.into());
            assert_eq!(parsed, Target { secure: false, host, port, path }, "{url}");
        }
        for (url, why) in [
            ("a:80", "http://HOST"),
            ("http://", "no host"),
            ("http://:80/", "no host"),
            ("http://a:0/", "port"),
            ("http://a:65536/", "port"),
            ("http://[::1", "]"),
            ("http://[::1]80/", "port"),
            ("http://u@a/", "--basic-auth"),
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
            ("HttpS://localhost:1", "https://localhost:1/"),
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
            ("ftp://localhost/", "expected http:// or https://"),
            ("localhost:80", "http://127.0.0.1:8080/"),
            ("http://user:pw@localhost/", "--basic-auth"),
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
            assert_eq!(
                Target::parse(typed).unwrap().address().is_remote().unwrap(),
                remote,
                "{typed}"
            );
        }
    }

    #[test]
    fn another_address_can_be_connected_to() {
        let target = Target::parse("https://h.example/").unwrap();
        for (text, address) in [
            ("localhost:8443", "localhost:8443"),
            ("[::1]:8443", "[::1]:8443"),
            ("h.example:443:localhost:8443", "localhost:8443"),
            ("::localhost:8443", "localhost:8443"),
            ("H.example::[::1]:", "[::1]:443"),
            ("::[::1]:9", "[::1]:9"),
            (":::8443", "h.example:8443"),
            ("other::localhost:8443", "h.example:443"),
            ("h.example:80:localhost:8443", "h.example:443"),
        ] {
            let found = target.connect_to(text).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(found.to_string(), address, "{text}");
        }
        for text in ["", "h", "h:", "h:0", "h:x", "a:1:b", "a:x:b:1", "a:1:b:99999", "[::1:1"] {
            assert!(target.connect_to(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_location_is_resolved_against_the_url() {
        let target = Target::parse("http://h:8/a/b?c").unwrap();
        for (location, url) in [
            ("/d", "http://h:8/d"),
            ("d?e#f", "http://h:8/a/d?e"),
            ("?e", "http://h:8/a/b?e"),
            ("//g/d", "http://g/d"),
            ("https://g/", "https://g/"),
            ("/d?to=http://g/", "http://h:8/d?to=http://g/"),
            ("d?to=http://g/", "http://h:8/a/d?to=http://g/"),
        ] {
            assert_eq!(target.follow(location).unwrap().url(), url, "{location}");
        }
        for location in ["ftp://h/", "/a b", "http://"] {
            assert_eq!(target.follow(location), None, "{location}");
        }
        let same = |url| Target::parse(url).unwrap().has_origin_of(&target);
        assert!(same("http://H:8/z") && !same("http://h/z") && !same("https://h:8/"));
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
