//! A server that answers "ok", for the documented loads.

use anyhow::{Context, Result};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";

/// Starts a server on a free port of the loopback interface, until this program ends. Returns its URL.
///
/// # Errors
/// If no port can be had.
pub(super) fn on_loopback() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen on 127.0.0.1")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = stream.set_nodelay(true);
            std::thread::spawn(move || {
                if let Ok(writer) = stream.try_clone() {
                    answer(stream, writer);
                }
            });
        }
    });
    Ok(format!("http://{address}"))
}

/// Starts the same server on a Unix socket.
///
/// # Errors
/// If the socket cannot be made.
pub(super) fn on_socket(path: &Path) -> Result<()> {
    let listener =
        UnixListener::bind(path).with_context(|| format!("cannot listen on {}", path.display()))?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                if let Ok(writer) = stream.try_clone() {
                    answer(stream, writer);
                }
            });
        }
    });
    Ok(())
}

/// Answers the requests of one connection, until the client closes it.
fn answer(reader: impl Read, mut writer: impl Write) {
    let mut reader = BufReader::new(reader);
    loop {
        let mut body = 0;
        let mut line = String::new();
        loop {
            line.clear();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let header = line.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(length) = header.strip_prefix("content-length:") {
                body = length.trim().parse().unwrap_or(0);
            }
        }
        let read = std::io::copy(&mut (&mut reader).take(body), &mut std::io::sink());
        if read.is_err() || writer.write_all(ANSWER).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ANSWER, answer, on_loopback};

    #[test]
    fn each_request_is_answered() {
        let requests = "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nhiGET / HTTP/1.1\r\n\r\n";
        let mut written = Vec::new();
        answer(requests.as_bytes(), &mut written);
        assert_eq!(written, [ANSWER, ANSWER].concat());
        assert!(on_loopback().unwrap().starts_with("http://127.0.0.1:"));
    }
}
