//! What is sent: the bytes of each request, made before the clock starts.

use super::http2::hpack;
use super::{Error, Target};
use model::LoadPlan;
use std::borrow::Cow;
use std::fmt;

/// The longest value of a header.
const VALUE_BYTES_MAX: usize = 8192;

/// Headers that only the generator may set, since it counts on them.
const RESERVED: [&str; 3] = ["content-length", "transfer-encoding", "expect"];

/// Headers of a connection, which HTTP/2 does not have (RFC 9113, 8.2.2).
const OF_CONNECTION: [&str; 4] = ["connection", "keep-alive", "proxy-connection", "upgrade"];

/// Who sends.
const USER_AGENT: &str = concat!("scruple/", env!("CARGO_PKG_VERSION"));

/// What a load sends that its plan does not hold: large, or not to be stored.
#[derive(Clone, Default)]
pub struct Payload {
    /// URLs of one server; none where the plan's is the only one.
    pub urls: Vec<String>,
    /// Bodies; none where all are empty.
    pub bodies: Vec<Vec<u8>>,
    /// Values of headers that the plan names and whose values no result may hold.
    pub secrets: Vec<(String, String)>,
    /// Certificate authorities that are trusted, in DER.
    pub roots: Vec<Vec<u8>>,
}

impl fmt::Debug for Payload {
    /// Shows no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = (self.urls.len(), self.bodies.len(), self.roots.len());
        f.debug_struct("Payload").field("urls, bodies, roots", &counts).finish_non_exhaustive()
    }
}

/// A [`Payload`], or the one body that is all there is to one.
#[derive(Clone, Debug)]
pub struct Sent<'a>(Cow<'a, Payload>);

impl<'a> From<&'a Payload> for Sent<'a> {
    fn from(payload: &'a Payload) -> Self {
        Self(Cow::Borrowed(payload))
    }
}

impl From<&[u8]> for Sent<'_> {
    fn from(body: &[u8]) -> Self {
        Self(Cow::Owned(Payload { bodies: vec![body.to_vec()], ..Payload::default() }))
    }
}

impl From<&Vec<u8>> for Sent<'_> {
    fn from(body: &Vec<u8>) -> Self {
        body.as_slice().into()
    }
}

impl<const N: usize> From<&[u8; N]> for Sent<'_> {
    fn from(body: &[u8; N]) -> Self {
        body.as_slice().into()
    }
}

impl std::ops::Deref for Sent<'_> {
    type Target = Payload;

    fn deref(&self) -> &Payload {
        &self.0
    }
}

/// One request as it is written: the whole of it by HTTP/1.1; the header block and the body by HTTP/2.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) bytes: Box<[u8]>,
    /// Where the body begins.
    pub(super) head: usize,
}

/// Makes the requests of a plan, and those that redirects ask for.
#[derive(Debug)]
pub(super) struct Encoder<'a> {
    plan: &'a LoadPlan,
    payload: &'a Payload,
    /// One of each URL.
    targets: Vec<Target>,
}

impl<'a> Encoder<'a> {
    /// Reads the URLs.
    ///
    /// # Errors
    /// One that is none, or of another server than the first; bodies or a number of requests other than
    /// the plan's.
    pub(super) fn new(plan: &'a LoadPlan, payload: &'a Payload) -> Result<Self, Error> {
        let first = Target::parse(&plan.url)?;
        let mut targets = Vec::with_capacity(payload.urls.len().max(1));
        for (index, url) in payload.urls.iter().enumerate() {
            let at = |why: String| Error::Plan(format!("URL {}: {why}", index + 1));
            let target = Target::parse(url).map_err(|error| at(error.to_string()))?;
            if !target.has_origin_of(&first) {
                let server = format!("{}://{}", first.scheme(), first.authority());
                return Err(at(format!("{url} is not on {server}; one load asks one server")));
            }
            targets.push(target);
        }
        if targets.is_empty() {
            targets.push(first);
        }
        let encoder = Self { plan, payload, targets };
        let longest = payload.bodies.iter().map(Vec::len).max().unwrap_or(0) as u64;
        let (count, said) = (encoder.count() as u64, u64::from(plan.options.variants));
        let wrong =
            |what: String, said: u64| Err(Error::Plan(format!("{what}, and the plan says {said}")));
        if longest != plan.body_bytes {
            return wrong(format!("the body has {longest} bytes"), plan.body_bytes);
        }
        if count != said {
            return wrong(format!("there are {count} requests"), said);
        }
        Ok(encoder)
    }

    /// The URL of the first request.
    pub(super) fn target(&self) -> &Target {
        &self.targets[0]
    }

    /// How many requests there are: where there are both URLs and bodies, they go together line by
    /// line, and the shorter list begins again.
    fn count(&self) -> usize {
        self.targets.len().max(self.payload.bodies.len())
    }

    /// Encodes all requests.
    ///
    /// # Errors
    /// A method or header that cannot be sent.
    pub(super) fn all(&self) -> Result<Vec<Request>, Error> {
        let one = |index: usize| {
            let body = self.body(index);
            self.encode(&self.plan.method, self.target_of(index), body)
        };
        (0..self.count()).map(one).collect()
    }

    fn target_of(&self, index: usize) -> &Target {
        &self.targets[index % self.targets.len()]
    }

    fn body(&self, index: usize) -> &[u8] {
        let bodies = &self.payload.bodies;
        if bodies.is_empty() { b"" } else { &bodies[index % bodies.len()] }
    }

    /// Returns where an answer with a `status` and a `location` to the request number `index`, or to what
    /// it was redirected to, sends the client; `None` where it is another server, which is not asked.
    pub(super) fn follow(
        &self,
        index: usize,
        before: Option<&Detour>,
        (status, location): (u16, &str),
    ) -> Option<Detour> {
        let from = before.map_or(self.target_of(index), |detour| &detour.target);
        let target = from.follow(location).filter(|target| target.has_origin_of(from))?;
        let method = before.map_or(self.plan.method.as_str(), |detour| &detour.method);
        // As the Fetch standard and curl have it; 307 and 308 repeat the request as it was.
        let becomes_get = match status {
            301 | 302 => method == "POST",
            303 => method != "HEAD",
            _ => false,
        };
        let method = if becomes_get { "GET" } else { method }.to_string();
        let bare = becomes_get || before.is_some_and(|detour| detour.bare);
        let body = if bare { b"" } else { self.body(index) };
        let request = self.encode(&method, &target, body).ok()?;
        let hops = before.map_or(0, |detour| detour.hops) + 1;
        Some(Detour { request, target, method, bare, hops })
    }

    fn encode(&self, method: &str, target: &Target, body: &[u8]) -> Result<Request, Error> {
        check_method(method)?;
        let plan = self.plan;
        let mut headers: Vec<(&str, Cow<'_, str>)> = Vec::new();
        let named = |name: &str| plan.headers.iter().any(|(had, _)| had.eq_ignore_ascii_case(name));
        if !named("host") {
            headers.push(("Host", target.authority().into()));
        }
        if !named("user-agent") {
            headers.push(("User-Agent", USER_AGENT.into()));
        }
        for (name, value) in &plan.headers {
            let secret =
                self.payload.secrets.iter().find(|(had, _)| had.eq_ignore_ascii_case(name));
            let value = secret.map_or(value, |(_, secret)| secret);
            check_header(name, value)?;
            if name.eq_ignore_ascii_case("connection") {
                check_connection(value, plan.keep_alive)?;
            } else {
                headers.push((name.as_str(), value.as_str().into()));
            }
        }
        if !body.is_empty() || ["POST", "PUT", "PATCH"].contains(&method) {
            headers.push(("Content-Length", body.len().to_string().into()));
        }
        if plan.options.http2 {
            headers
                .retain(|(name, _)| !OF_CONNECTION.iter().any(|it| name.eq_ignore_ascii_case(it)));
            let (bytes, head) = hpack::request(method, target, &headers, body)?;
            return Ok(Request { bytes, head });
        }
        let mut head = format!("{method} {} HTTP/1.1\r\n", target.path());
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !plan.keep_alive {
            head += "Connection: close\r\n";
        }
        head += "\r\n";
        let bytes = [head.as_bytes(), body].concat().into_boxed_slice();
        Ok(Request { bytes, head: head.len() })
    }
}

/// Where a redirect has led.
#[derive(Debug)]
pub(super) struct Detour {
    pub(super) request: Request,
    target: Target,
    method: String,
    /// Whether the body is no longer sent.
    bare: bool,
    /// Redirects so far.
    pub(super) hops: u32,
}

/// Reports whether a request may be sent again where nobody knows whether it was carried out
/// (RFC 9110, 9.2.2).
pub(super) fn is_idempotent(method: &str) -> bool {
    ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(&method)
}

/// Whether `text` is a token of HTTP (RFC 9110, 5.6.2).
fn is_token(text: &str) -> bool {
    (1..=256).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
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
            drain_ms: 0,
            options: Default::default(),
        }
    }

    fn bytes(plan: &LoadPlan, url: &str, body: &[u8]) -> Result<String, String> {
        let body_bytes = body.len() as u64;
        let plan = LoadPlan { url: url.into(), body_bytes, ..plan.clone() };
        let sent = Sent::from(body);
        let all = Encoder::new(&plan, &sent).and_then(|encoder| encoder.all());
        let all = all.map_err(|error| error.to_string())?;
        Ok(String::from_utf8(all[0].bytes.to_vec()).unwrap())
    }

    fn agent() -> String {
        format!("User-Agent: scruple/{}\r\n", env!("CARGO_PKG_VERSION"))
    }

    #[test]
    fn a_request_is_what_the_plan_says() {
        assert_eq!(
            bytes(&plan("GET", &[("X-A", "1")], true), "http://h:1?q", b"").unwrap(),
            format!("GET /?q HTTP/1.1\r\nHost: h:1\r\n{}X-A: 1\r\n\r\n", agent())
        );
        assert_eq!(
            bytes(&plan("GET", &[("user-agent", "x")], true), "http://h", b"").unwrap(),
            "GET / HTTP/1.1\r\nHost: h\r\nuser-agent: x\r\n\r\n"
        );
        assert_eq!(
            bytes(&plan("POST", &[("host", "other")], false), "http://h/p", b"abc").unwrap(),
            format!(
                "POST /p HTTP/1.1\r\n{}host: other\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
                agent()
            )
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

    #[test]
    fn a_secret_is_sent_and_shown_nowhere() {
        let plan = plan("GET", &[("Authorization", "(not stored)")], true);
        let plan = LoadPlan { url: "http://h/".into(), ..plan };
        let secrets = vec![("authorization".to_string(), "Basic dTpw".to_string())];
        let payload = Payload { secrets, ..Payload::default() };
        let encoder = Encoder::new(&plan, &payload).unwrap();
        let text = String::from_utf8(encoder.all().unwrap()[0].bytes.to_vec()).unwrap();
        assert!(text.contains("Authorization: Basic dTpw\r\n"), "{text}");
        assert!(!format!("{payload:?}").contains("dTpw"));
    }

    #[test]
    fn urls_and_bodies_go_together_line_by_line() {
        let urls = ["http://h/a", "http://H:80/b"].map(String::from).to_vec();
        let bodies = ["1", "2", "333"].map(|body| body.as_bytes().to_vec()).to_vec();
        let payload = Payload { urls, bodies, ..Payload::default() };
        let mut plan = plan("POST", &[], true);
        plan.url = "http://h/a".into();
        (plan.body_bytes, plan.options.variants) = (3, 3);
        let all = Encoder::new(&plan, &payload).unwrap().all().unwrap();
        let texts: Vec<String> =
            all.iter().map(|one| String::from_utf8_lossy(&one.bytes).into_owned()).collect();
        for (text, (path, body)) in texts.iter().zip([("/a", "1"), ("/b", "2"), ("/a", "333")]) {
            assert!(text.starts_with(&format!("POST {path} ")) && text.ends_with(body), "{text}");
        }
        let elsewhere = Payload { urls: vec!["http://g/".into()], ..Payload::default() };
        plan.body_bytes = 0;
        let why = Encoder::new(&plan, &elsewhere).unwrap_err().to_string();
        assert!(why.contains("URL 1: http://g/ is not on http://h"), "{why}");
    }

    #[test]
    fn a_redirect_is_followed_on_the_same_server_alone() {
        let mut plan = plan("POST", &[], true);
        (plan.url, plan.body_bytes) = ("http://h/a/b".into(), 3);
        let sent = Sent::from(b"abc");
        let encoder = Encoder::new(&plan, &sent).unwrap();
        let text = |detour: &Detour| String::from_utf8_lossy(&detour.request.bytes).into_owned();
        let kept = encoder.follow(0, None, (307, "c")).unwrap();
        assert!(text(&kept).starts_with("POST /a/c ") && text(&kept).ends_with("abc"));
        let next = encoder.follow(0, Some(&kept), (302, "d")).unwrap();
        assert!(text(&next).starts_with("GET /a/d ") && text(&next).ends_with("\r\n\r\n"));
        assert_eq!((kept.hops, next.hops), (1, 2));
        let last = encoder.follow(0, Some(&next), (308, "/")).unwrap();
        assert!(text(&last).starts_with("GET / ") && text(&last).ends_with("\r\n\r\n"));
        assert!(encoder.follow(0, None, (301, "http://g/")).is_none());
    }
}
