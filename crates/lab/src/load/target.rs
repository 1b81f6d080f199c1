//! The server that a URL names, and whether it may be asked.

use anyhow::{Context, bail};
use std::net::{IpAddr, ToSocketAddrs};

/// The longest URL that is sent.
const URL_BYTES_MAX: usize = 8192;

/// A server and what to ask it for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// Without the brackets of an IPv6 address.
    host: String,
    /// As it was typed; 80 where it was not.
    port: Option<u16>,
    /// From its slash on, with the query.
    path: String,
}

impl Target {
    /// Takes a URL apart.
    pub(super) fn of(url: &str) -> anyhow::Result<Self> {
        if url.len() > URL_BYTES_MAX {
            bail!("the URL has more than {URL_BYTES_MAX} bytes");
        }
        if let Some(odd) = url.chars().find(|c| !c.is_ascii_graphic()) {
            bail!("the URL has {odd:?}, which must be written in its percent form");
        }
        let Some((scheme, rest)) = url.split_once("://") else {
            bail!("{url} is no URL; expected such as http://127.0.0.1:8080/");
        };
        match scheme.to_ascii_lowercase().as_str() {
            "http" => {}
            "https" => bail!(
                "https is not spoken: what TLS costs would be measured with the server; ask its plain \
                 port by http://"
            ),
            other => bail!("{other} is not spoken; expected http://"),
        }
        // What follows a number sign is for browsers.
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            bail!("the URL holds a user name; give it by -H 'Authorization: …'");
        }
        let (host, port) = host_and_port(authority).with_context(|| {
            format!("{authority:?} is no host with a port, such as 127.0.0.1:8080")
        })?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Target { host: host.into(), port, path: format!("{slash}{path}") })
    }

    /// Returns the whole URL. Its port is named where it was: servers get it in the header Host.
    pub(super) fn url(&self) -> String {
        let Target { host, path, .. } = self;
        let (open, close) = if host.contains(':') { ("[", "]") } else { ("", "") };
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("http://{open}{host}{close}{port}{path}")
    }

    /// Reports whether any address of the host is another machine's.
    pub(super) fn is_remote(&self) -> anyhow::Result<bool> {
        let found = (self.host.as_str(), self.port.unwrap_or(80)).to_socket_addrs();
        let found: Vec<IpAddr> = found
            .with_context(|| format!("cannot find the host {}", self.host))?
            .map(|address| address.ip().to_canonical())
            .collect();
        if found.is_empty() {
            bail!("the host {} has no address", self.host);
        }
        Ok(found.iter().any(|ip| !ip.is_loopback()))
    }

    /// Returns the host as it was typed.
    pub(super) fn host(&self) -> &str {
        &self.host
    }
}

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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart_and_whole_again() {
        for (typed, whole) in [
            ("http://127.0.0.1:8080/a?b=c#d", "http://127.0.0.1:8080/a?b=c"),
            ("HTTP://localhost", "http://localhost/"),
            ("http://localhost?x", "http://localhost/?x"),
            ("http://[::1]:9/", "http://[::1]:9/"),
            ("http://a-b.example_1:1", "http://a-b.example_1:1/"),
        ] {
            assert_eq!(Target::of(typed).unwrap().url(), whole, "{typed}");
        }
    }

    #[test]
    fn what_is_no_url_is_told_what_would_be_right() {
        for (typed, part) in [
            ("https://localhost/", "https is not spoken"),
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
            let why = format!("{:#}", Target::of(typed).unwrap_err());
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
            assert_eq!(Target::of(typed).unwrap().is_remote().unwrap(), remote, "{typed}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::default()
        })]

        #[test]
        fn any_text_is_a_url_of_one_line_or_refused(
            text in proptest::prop_oneof!["http://[a-z0-9:./?#@\\[\\]]{0,40}", ".*"],
        ) {
            if let Ok(target) = Target::of(&text) {
                let url = target.url();
                proptest::prop_assert!(url.chars().all(|c| c.is_ascii_graphic()), "{url}");
                proptest::prop_assert_eq!(Target::of(&url).unwrap(), target);
            }
        }
    }
}
