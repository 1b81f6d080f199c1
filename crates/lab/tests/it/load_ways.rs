//! `scruple load` over TLS, HTTP/2 and Unix sockets, with several requests and with secrets: what the
//! command line means, and the errors.

use crate::support::{said, scruple};
use model::{LoadResult, RequestOrder};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::process::Output;
use std::sync::Arc;

const HERE: &str = "http://127.0.0.1:9/";
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

macro_rules! certificate {
    ($name:literal) => {
        include_bytes!(concat!("../../../web/src/load/certificates/", $name, ".pem"))
    };
}

fn load(words: &[&str]) -> Output {
    scruple().arg("load").args(words).output().unwrap()
}

/// The one line of an error.
fn refusal(words: &[&str]) -> String {
    let output = load(words);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {}", said(&output));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{words:?}: {text}");
    assert!(text.starts_with("error: ") && output.stdout.is_empty(), "{text}");
    text
}

fn result(words: &[&str]) -> LoadResult {
    let output = load(&[words, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{words:?}: {}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Answers each request without a body, until its client goes.
fn answer(stream: &mut (impl Read + Write)) {
    let (mut request, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        request.extend_from_slice(&piece[..count]);
        if request.ends_with(b"\r\n\r\n") {
            request.clear();
            if stream.write_all(OK).and_then(|()| stream.flush()).is_err() {
                return;
            }
        }
    }
}

/// A server over TLS, which serves as long as the test runs; its port.
fn secure(certificate: &[u8]) -> u16 {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(certificate).unwrap()],
            PrivateKeyDer::from_pem_slice(certificate!("key")).unwrap(),
        )
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let session = ServerConnection::new(config.clone()).unwrap();
            std::thread::spawn(move || answer(&mut StreamOwned::new(session, stream)));
        }
    });
    port
}

fn file(folder: &tempfile::TempDir, name: &str, bytes: &[u8]) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().into()
}

#[test]
fn a_certificate_is_trusted_or_named_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let authority = file(&folder, "authority.pem", certificate!("authority"));
    let trusted = ["-n", "20", "-c", "2", "--cacert", &authority];
    let port = secure(certificate!("localhost"));
    let url = format!("https://127.0.0.1:{port}/");
    let printed = result(&[&[&url as &str], &trusted[..]].concat());
    assert_eq!(
        (printed.counts.succeeded, printed.plan.options.cacert),
        (20, Some(authority.clone()))
    );
    let alone = refusal(&[&url, "-n", "20"]);
    assert!(alone.contains("--cacert") && alone.contains("--insecure"), "{alone}");
    assert!(result(&[&url, "-n", "20", "-c", "2", "-k"]).plan.options.insecure);
    let pace = ["-q", "500"];
    assert_eq!(result(&[&[&url as &str], &trusted[..], &pace].concat()).counts.succeeded, 20);
    let bad: [(&[u8], &str); 3] = [
        (certificate!("other"), "is not for 127.0.0.1"),
        (certificate!("expired"), "expired"),
        (certificate!("self"), "self-signed"),
    ];
    for (certificate, part) in bad {
        let url = format!("https://127.0.0.1:{}/", secure(certificate));
        for how in [&[][..], &pace, &["--json"]] {
            let printed = refusal(&[&[&url as &str], &trusted[..], how].concat());
            assert!(printed.contains(part), "{printed}");
        }
    }
    let url = format!("https://other.example:{}/", secure(certificate!("other")));
    let printed = refusal(&[&[&url as &str], &trusted[..]].concat());
    assert!(printed.contains("other.example"), "{printed}");
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap();
    let there = format!("127.0.0.1:{port}");
    let words = [&[&url as &str, "--connect-to", &there], &trusted[..]].concat();
    assert_eq!(result(&words).counts.succeeded, 20);
}

#[test]
fn what_cannot_be_asked_for_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let urls = file(&folder, "urls", b"http://127.0.0.1:9/a\n\nhttp://127.0.0.1:8/b\n");
    let odd = file(&folder, "odd", b"http://127.0.0.1:9/a\nftp://127.0.0.1/\n");
    let empty = file(&folder, "empty", b"\n");
    let nothing = file(&folder, "nothing", b"");
    for (words, parts) in [
        (&[HERE, "-p", "2"][..], &["--streams needs --http2"][..]),
        (&[HERE, "--predict"], &["load has no --predict", "--find-knee"]),
        (&[HERE, "--vus", "3"], &["load has no --vus", "-c N"]),
        (&[HERE, "-R", "100"], &["-q RATE"]),
        (&[HERE, "-k"], &["https://"]),
        (&[HERE, "--cacert", &urls], &["https://"]),
        (&["https://127.0.0.1:9/", "--cacert", &urls], &[&urls, "BEGIN CERTIFICATE"]),
        (&["--urls-from-file", &urls], &[&urls, ":3: ", "another server"]),
        (&["--urls-from-file", &odd], &[&odd, ":2: ", "ftp"]),
        (&["--urls-from-file", &empty], &["has no URLs"]),
        (&[HERE, "-Z", &nothing], &["has no lines"]),
        (&[HERE, "--connect-to", "192.0.2.1:80"], &["192.0.2.1", "--allow-remote"]),
        (&[HERE, "--connect-to", "here"], &["expected HOST:PORT"]),
        (&[HERE, "--unix-socket", "/no/such/socket", "-n", "1"], &["/no/such/socket"]),
    ] {
        let printed = refusal(words);
        assert!(parts.iter().all(|part| printed.contains(part)), "{words:?}: {printed}");
    }
    let output = load(&[HERE, "-a", "verysecret"]);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && printed.contains("alice:secret"), "{printed}");
}

#[test]
fn secrets_are_sent_and_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let kept = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut kept, mut piece) = (Vec::new(), [0; 4096]);
        while !kept.ends_with(b"\r\n\r\n") {
            let count = stream.read(&mut piece).unwrap();
            kept.extend_from_slice(&piece[..count]);
        }
        stream.write_all(OK).unwrap();
        String::from_utf8(kept).unwrap()
    });
    let page = folder.path().join("page.html");
    let (path, page) = (path.to_str().unwrap(), page.to_str().unwrap());
    let words = [
        "-a",
        "me:sesame",
        "-H",
        "Cookie: id=7351",
        "-n",
        "1",
        "-c",
        "1",
        "--html",
        page,
        "--json",
    ];
    let output = load(&[&["http://localhost/", "--unix-socket", path], &words[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let asked = kept.join().unwrap();
    assert!(asked.contains("Authorization: Basic bWU6c2VzYW1l\r\n"), "{asked}");
    assert!(asked.contains("Cookie: id=7351\r\n"), "{asked}");
    let page = std::fs::read_to_string(page).unwrap();
    for text in [String::from_utf8(output.stdout).unwrap(), page] {
        assert!(text.contains("(not stored)"), "{text}");
        for secret in ["sesame", "bWU6c2VzYW1l", "7351"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[test]
fn requests_of_files_are_planned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(&mut stream));
        }
    });
    let urls = file(&folder, "urls", b"http://localhost/a\nhttp://localhost/b\n");
    let socket = path.to_str().unwrap();
    let words = ["--urls-from-file", &urls, "--unix-socket", socket, "-n", "9", "-c", "3"];
    let printed = result(&words);
    assert_eq!((printed.counts.succeeded, printed.plan.options.variants), (9, 2));
    assert_eq!(
        (printed.plan.url.as_str(), printed.plan.options.preconnect),
        ("http://localhost/a", false)
    );
    let more =
        ["--urls-order", "random", "--seed", "4", "-q", "900", "--warm-up", "50ms", "-r", "3"];
    let options = result(&[&words[..], &more].concat()).plan.options;
    assert_eq!(options.order, RequestOrder::Random { seed: 4 });
    assert_eq!((options.preconnect, options.warm_up_ms, options.redirects), (true, 50, 3));
}

#[test]
fn who_does_not_speak_the_protocol_is_named_in_one_line() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            // So that what it said is not lost with what it has not read.
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.read(&mut [0; 4096]);
        }
    });
    let plain = format!("http://127.0.0.1:{port}/");
    for (url, more, part) in [
        (plain.clone(), &["--http2"][..], "does not speak HTTP/2"),
        (plain.clone(), &["--http2", "-p", "8", "-q", "100"], "does not speak HTTP/2"),
        (plain.replace("http", "https"), &["-k"], "speak plain http://"),
        (plain.replace("http", "https"), &["-k", "--http2"], "speak plain http://"),
        (
            format!("https://127.0.0.1:{}/", secure(certificate!("localhost"))),
            &["-k", "--http2"],
            "does not offer HTTP/2",
        ),
    ] {
        let printed = refusal(&[&[&url as &str, "-n", "20", "-c", "2"], more].concat());
        assert!(printed.contains(part) && printed.contains("127.0.0.1"), "{more:?}: {printed}");
    }
}
