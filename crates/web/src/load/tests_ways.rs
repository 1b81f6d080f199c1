//! Ways of a load besides one request repeated on a TCP socket: TLS, Unix sockets, redirects, several
//! requests, warming up, connections opened ahead, and connections that the server closes meanwhile.

use super::server::Server;
use super::*;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::net::TcpStream;
use std::os::unix::net::UnixListener;

const AUTHORITY: &[u8] = include_bytes!("certificates/authority.pem");
const KEY: &[u8] = include_bytes!("certificates/key.pem");
const LOCALHOST: &[u8] = include_bytes!("certificates/localhost.pem");
const OTHER: &[u8] = include_bytes!("certificates/other.pem");
const EXPIRED: &[u8] = include_bytes!("certificates/expired.pem");
const SELF: &[u8] = include_bytes!("certificates/self.pem");

type Secure = StreamOwned<ServerConnection, TcpStream>;

/// A server over TLS with a thread for each connection.
fn secure(
    certificate: &'static [u8],
    protocol: &'static [u8],
    handle: impl Fn(Secure) + Send + Sync + 'static,
) -> Server {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(certificate).unwrap()],
            PrivateKeyDer::from_pem_slice(KEY).unwrap(),
        )
        .unwrap();
    config.alpn_protocols = vec![protocol.to_vec()];
    let config = Arc::new(config);
    Server::threads(move |stream| {
        handle(StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream));
    })
}

fn polite_and_secure(certificate: &'static [u8], bytes: &'static [u8]) -> Server {
    secure(certificate, b"http/1.1", move |mut stream| {
        while asked(&mut stream) {
            if stream.write_all(bytes).and_then(|()| stream.flush()).is_err() {
                return;
            }
        }
    })
}

/// Reads up to the end of a request without a body.
fn asked(stream: &mut impl Read) -> bool {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        request.extend_from_slice(&piece[..count]);
        if request.ends_with(b"\r\n\r\n") {
            return true;
        }
    }
    false
}

fn trusting() -> Payload {
    Payload { roots: certificates(AUTHORITY).unwrap(), ..Payload::default() }
}

fn plan_for(server: &Server, requests: u64) -> LoadPlan {
    let mut plan = plan(server, Arrivals::Closed, 2);
    plan.url = plan.url.replace("http:", "https:");
    (plan.requests, plan.duration_ms) = (Some(requests), None);
    plan
}

fn succeeded(plan: &LoadPlan, payload: &Payload) -> LoadResult {
    let result = run(plan, payload, &mut |_| true).unwrap().result;
    assert_eq!(Some(result.counts.succeeded), plan.requests, "{:?}", result.counts);
    assert!(result.audit.iter().all(|law| law.holds), "{:?}", result.audit);
    result
}

#[test]
fn https_is_spoken_with_whom_is_trusted() {
    let server = polite_and_secure(LOCALHOST, OK);
    let plan = plan_for(&server, 50);
    let result = succeeded(&plan, &trusting());
    assert_eq!((server.accepted(), result.read_bytes), (2, 50 * OK.len() as u64));
    let each = LoadPlan { keep_alive: false, ..plan.clone() };
    succeeded(&each, &trusting());
    let mut ahead = LoadPlan { arrivals: Arrivals::Paced { per_s: 2000.0 }, ..plan.clone() };
    ahead.options.preconnect = true;
    succeeded(&ahead, &trusting());
    // Nobody is trusted, and anyone.
    let error = run(&plan, b"", &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("no certificate authority") && error.contains("--cacert"), "{error}");
    let mut anyone = plan;
    anyone.options.insecure = true;
    succeeded(&anyone, &Payload::default());
}

#[test]
fn a_server_of_http2_alone_is_named() {
    let server = secure(LOCALHOST, b"h2", |mut stream| {
        asked(&mut stream);
    });
    let error = run(&plan_for(&server, 2), &trusting(), &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("HTTP/1.1") && error.contains("give --http2"), "{error}");
}

#[test]
fn a_large_body_comes_whole_over_tls() {
    let body: &'static [u8] = vec![b'x'; 1_000_000].leak();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let bytes: &'static [u8] = [head.as_bytes(), body].concat().leak();
    let server = polite_and_secure(LOCALHOST, bytes);
    let result = succeeded(&plan_for(&server, 8), &trusting());
    assert_eq!(result.read_bytes, 8 * bytes.len() as u64);
    // And one is sent.
    let server = secure(LOCALHOST, b"http/1.1", |mut stream| {
        let (mut all, mut piece) = (0, [0; 16_384]);
        while let Ok(count @ 1..) = stream.read(&mut piece) {
            all += count;
            if piece[..count].ends_with(b"the end") {
                let _ = stream.write_all(OK).and_then(|()| stream.flush());
            }
        }
        assert!(all > 4 * 1_000_000);
    });
    let mut plan = LoadPlan { connections: 1, method: "POST".into(), ..plan_for(&server, 4) };
    let body = [body, b"the end"].concat();
    plan.body_bytes = body.len() as u64;
    let payload = Payload { bodies: vec![body], ..trusting() };
    succeeded(&plan, &payload);
}

#[test]
fn a_certificate_that_is_not_acceptable_is_named_before_the_load() {
    for (certificate, words) in [
        (OTHER, &["is not for 127.0.0.1, only for", "other.example", "--connect-to"][..]),
        (EXPIRED, &["expired", "days ago", "--insecure"]),
        (SELF, &["self-signed", "--insecure"]),
    ] {
        let server = polite_and_secure(certificate, OK);
        for arrivals in [Arrivals::Closed, Arrivals::Paced { per_s: 100.0 }] {
            let mut plan = LoadPlan { arrivals, ..plan_for(&server, 5) };
            plan.options.preconnect = true;
            let error = run(&plan, &trusting(), &mut |_| true).unwrap_err().to_string();
            assert!(error.contains("connect to 127.0.0.1:"), "{error}");
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
            assert_eq!(error.lines().count(), 1);
        }
        let mut plan = plan_for(&server, 5);
        plan.options.insecure = true;
        succeeded(&plan, &Payload::default());
    }
}

#[test]
fn the_name_of_the_url_is_that_of_the_certificate_wherever_it_is() {
    let server = polite_and_secure(OTHER, OK);
    let mut plan = plan_for(&server, 5);
    let address = plan.url.trim_start_matches("https://").trim_end_matches('/').to_string();
    plan.url = "https://other.example/".into();
    plan.options.connect_to = Some(address);
    succeeded(&plan, &trusting());
}

#[test]
fn who_is_no_server_of_tls_is_named() {
    let refused = |server: &Server, http2: bool| {
        let mut plan = plan_for(server, 5);
        plan.options.http2 = http2;
        let error = run(&plan, &trusting(), &mut |_| true).unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        error
    };
    let plain = polite(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    let answering = Server::threads(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        answer(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    assert!(refused(&answering, false).contains("plain http://"));
    let cutting = Server::threads(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(&[22, 3, 3, 0, 100, 2, 0, 0]);
    });
    assert!(refused(&cutting, false).contains("closed the connection in the TLS handshake"));
    let old = polite_and_secure(LOCALHOST, OK);
    let why = refused(&old, true);
    assert!(why.contains("does not offer HTTP/2"), "{why}");
    // One that never answers is waited for, and given up.
    let mut plan = plan_for(&plain, 2);
    plan.timeout_ms = 50;
    assert_eq!(run(&plan, &trusting(), &mut |_| true).unwrap().result.counts.timed_out, 2);
}

#[test]
fn http2_is_agreed_on_over_tls() {
    let server = secure(LOCALHOST, b"h2", |mut stream| {
        let mut preface = [0; 24];
        if stream.read_exact(&mut preface).is_err() {
            return;
        }
        let _ = stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]);
        let mut head = [0; 9];
        while stream.read_exact(&mut head).is_ok() {
            let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
            if stream.read_exact(&mut payload).is_err() {
                return;
            }
            if head[3] == 1 {
                let answer = [&[0, 0, 1, 1, 5][..], &head[5..], &[0x88]].concat();
                let _ = stream.write_all(&answer).and_then(|()| stream.flush());
            }
        }
    });
    let mut plan = plan_for(&server, 60);
    (plan.options.http2, plan.options.streams) = (true, 3);
    succeeded(&plan, &trusting());
    assert_eq!(server.accepted(), 2);
}

#[test]
fn an_answer_that_tls_cuts_off_is_none() {
    // Without a length it ends with the connection, which TLS has a word for.
    let server = secure(LOCALHOST, b"http/1.1", |mut stream| {
        if asked(&mut stream) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhalf").and_then(|()| stream.flush());
        }
    });
    let counts = run(&plan_for(&server, 4), &trusting(), &mut |_| true).unwrap().result.counts;
    assert_eq!(counts.errors, [(LoadError::Closed, 4)].into(), "{counts:?}");
    let ending = secure(LOCALHOST, b"http/1.1", |mut stream| {
        if asked(&mut stream) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nall");
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    succeeded(&plan_for(&ending, 4), &trusting());
}

#[test]
fn a_unix_socket_is_a_server_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                while asked(&mut stream) {
                    let _ = stream.write_all(OK);
                }
            });
        }
    });
    let server = polite(OK);
    let mut plan = plan(&server, Arrivals::Closed, 2);
    (plan.requests, plan.duration_ms) = (Some(20), None);
    plan.options.unix_socket = Some(path.display().to_string());
    assert_eq!(load(&plan).counts.succeeded, 20);
    assert_eq!(server.accepted(), 0);
    plan.options.unix_socket = Some(folder.path().join("none").display().to_string());
    let error = run(&plan, b"", &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("/none: No such file"), "{error}");
}

#[test]
fn a_kept_connection_that_the_server_closed_is_no_failure() {
    // Each is closed after three answers, which nothing announces.
    let closing = || {
        Server::threads(|mut stream| {
            for _ in 0..3 {
                if !until_asked(&mut stream) || stream.write_all(OK).is_err() {
                    return;
                }
            }
            let _ = until_asked(&mut stream);
        })
    };
    let server = closing();
    let mut plan = plan(&server, Arrivals::Closed, 1);
    (plan.requests, plan.duration_ms) = (Some(12), None);
    let counts = load(&plan).counts;
    assert_eq!((counts.succeeded, counts.retried, counts.sent), (12, 3, 12), "{counts:?}");
    // Nobody knows whether the server has carried out a POST.
    plan.method = "POST".into();
    let counts = load(&plan).counts;
    assert_eq!((counts.succeeded, counts.retried), (9, 0), "{counts:?}");
    assert_eq!(counts.errors, [(LoadError::Closed, 3)].into());
    // Nor is an answer that has begun asked for again, or a request sent a third time.
    let server = Server::threads(|mut stream| {
        if until_asked(&mut stream) && stream.write_all(OK).is_ok() && until_asked(&mut stream) {
            let _ = stream.write_all(b"H");
        }
    });
    plan.method = "GET".into();
    plan.url = server.url();
    let counts = load(&plan).counts;
    assert_eq!((counts.succeeded, counts.retried), (6, 0), "{counts:?}");
}

#[test]
fn connections_are_opened_before_the_first_request() {
    let server = polite(OK);
    for arrivals in [Arrivals::Paced { per_s: 1000.0 }, Arrivals::Constant { per_s: 1000.0 }] {
        let before = server.accepted();
        let mut plan = plan(&server, arrivals, 8);
        (plan.requests, plan.duration_ms, plan.threads) = (Some(1), None, 2);
        plan.options.preconnect = true;
        assert_eq!(load(&plan).counts.succeeded, 1);
        // The kernel has connected all; the server accepts them in its own time.
        let begun = std::time::Instant::now();
        while server.accepted() - before < 8 {
            assert!(begun.elapsed() < Duration::from_secs(60), "{}", server.accepted());
            thread::sleep(Duration::from_millis(1));
        }
        plan.keep_alive = false;
        let before = server.accepted();
        load(&plan);
        assert_eq!(server.accepted() - before, 1);
    }
}

/// A server that answers by the path it is asked for, and logs the first line and the body.
fn by_path(answer_to: fn(&str) -> String) -> (Server, Arc<Mutex<Vec<String>>>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let seen = log.clone();
    let server = Server::threads(move |mut stream| {
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut piece) {
            let text = String::from_utf8_lossy(&piece[..count]).into_owned();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            let mut words = head.split(' ');
            let (method, path) = (words.next().unwrap(), words.next().unwrap());
            seen.lock().unwrap().push(format!("{method} {path} {body}").trim().to_string());
            if stream.write_all(answer_to(path).as_bytes()).is_err() {
                return;
            }
        }
    });
    (server, log)
}

#[test]
fn redirects_are_one_request() {
    let (server, log) = by_path(|path| {
        let to = match path {
            "/" => "/a",
            "/a" => "b?c",
            "/up/a/b" => "../../x/./y/../b?../c",
            "/away" => "http://192.0.2.1/",
            "/loop" => "/loop",
            _ => return String::from_utf8_lossy(OK).into_owned(),
        };
        format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
    });
    let mut plan = plan(&server, Arrivals::Closed, 1);
    (plan.requests, plan.duration_ms) = (Some(2), None);
    assert_eq!(load(&plan).counts.statuses, [(302, 2)].into());
    plan.options.redirects = 2;
    log.lock().unwrap().clear();
    let result = load(&plan);
    assert_eq!((result.counts.sent, result.counts.statuses), (2, [(200, 2)].into()));
    assert_eq!(log.lock().unwrap().join(" "), "GET / GET /a GET /b?c GET / GET /a GET /b?c");
    plan.url = format!("{}up/a/b", server.url());
    plan.requests = Some(1);
    log.lock().unwrap().clear();
    assert_eq!(load(&plan).counts.statuses, [(200, 1)].into());
    assert_eq!(log.lock().unwrap().join(" "), "GET /up/a/b GET /x/b?../c");
    for (path, requests) in [("away", 1), ("loop", 3)] {
        plan.url = format!("{}{path}", server.url());
        plan.requests = Some(1);
        log.lock().unwrap().clear();
        assert_eq!(load(&plan).counts.statuses, [(302, 1)].into(), "{path}");
        assert_eq!(log.lock().unwrap().len(), requests);
    }
}

#[test]
fn requests_that_differ_are_sent_in_order_or_at_random() {
    let (server, log) = by_path(|_| String::from_utf8_lossy(OK).into_owned());
    let urls: Vec<String> = ["a", "b", "c"].iter().map(|path| server.url() + path).collect();
    let bodies = ["1", "2", "3"].map(|body| body.as_bytes().to_vec()).to_vec();
    let mut plan = plan(&server, Arrivals::Closed, 1);
    (plan.requests, plan.duration_ms, plan.body_bytes) = (Some(6), None, 1);
    (plan.method, plan.options.variants) = ("PUT".into(), 3);
    let payload = Payload { urls, bodies, ..Payload::default() };
    succeeded(&plan, &payload);
    let once = "PUT /a 1, PUT /b 2, PUT /c 3";
    assert_eq!(log.lock().unwrap().join(", "), format!("{once}, {once}"));
    plan.options.order = model::RequestOrder::Random { seed: 1 };
    plan.requests = Some(30);
    log.lock().unwrap().clear();
    succeeded(&plan, &payload);
    let kinds: std::collections::BTreeSet<String> = log.lock().unwrap().drain(..).collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>().join(", "), once);
}

#[test]
fn what_warms_up_is_sent_and_not_counted() {
    for arrivals in [
        Arrivals::Closed,
        Arrivals::Paced { per_s: 1000.0 },
        Arrivals::Poisson { per_s: 1000.0, seed: 3 },
    ] {
        let asked = Arc::new(AtomicU64::new(0));
        let count = asked.clone();
        let server = Server::threads(move |mut stream| {
            while until_asked(&mut stream) {
                count.fetch_add(1, Ordering::Relaxed);
                if stream.write_all(OK).is_err() {
                    return;
                }
            }
        });
        let closed = arrivals == Arrivals::Closed;
        let mut plan = plan(&server, arrivals, 3);
        (plan.requests, plan.duration_ms, plan.threads) = (Some(20), None, 2);
        plan.options.warm_up_ms = 100;
        let counts = load(&plan).counts;
        assert_eq!((counts.sent, counts.succeeded), (20, 20), "{counts:?}");
        // A closed loop asks at once; on a busy machine a schedule may sleep through its warm-up.
        let least = if closed { 21 } else { 20 };
        assert!(asked.load(Ordering::Relaxed) >= least, "{asked:?}");
        assert!(server.accepted() <= 3);
    }
    // What is slower than the warm-up is answered after the clock has started, and not counted either.
    let server = Server::threads(|mut stream| {
        while until_asked(&mut stream) {
            thread::sleep(Duration::from_millis(60));
            let _ = stream.write_all(OK);
        }
    });
    let mut plan = plan(&server, Arrivals::Closed, 2);
    (plan.requests, plan.duration_ms) = (Some(2), None);
    plan.options.warm_up_ms = 20;
    let result = load(&plan);
    assert_eq!((result.counts.sent, result.counts.succeeded), (2, 2));
    assert!(result.elapsed_ns >= 60_000_000 + 30_000_000, "{}", result.elapsed_ns);
    // Nor is what was ended before its clock started.
    plan.options.warm_up_ms = 3_600_000;
    let result = run(&plan, b"", &mut |_| false).unwrap().result;
    assert_eq!((result.counts.sent, result.counts.due()), (0, 0));
}

#[test]
fn ways_that_do_not_go_together_are_refused() {
    let server = polite(OK);
    let good = plan(&server, Arrivals::Closed, 1);
    type Change = fn(&mut LoadPlan);
    let bad: [(&str, Change); 5] = [
        ("--streams", |plan| plan.options.streams = 2),
        ("streams", |plan| plan.options.streams = 0),
        ("--redirect", |plan| (plan.options.http2, plan.options.redirects) = (true, 1)),
        ("--no-keep-alive", |plan| (plan.options.http2, plan.keep_alive) = (true, false)),
        ("1 requests", |plan| plan.options.variants = 3),
    ];
    for (word, change) in bad {
        let mut plan = good.clone();
        change(&mut plan);
        let error = run(&plan, b"", &mut |_| true).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}
