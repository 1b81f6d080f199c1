//! HTTP/2 against servers of which each does what its script says.

use super::server::Server;
use super::*;
use std::net::TcpStream;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A client as its server sees it.
struct Peer {
    stream: TcpStream,
}

/// A frame: its kind, flags, stream and payload.
type Frame = (u8, u8, u32, Vec<u8>);

impl Peer {
    /// Reads what a client begins with, and answers with these settings.
    fn greet(stream: TcpStream, settings: &[(u16, u32)]) -> Option<Self> {
        let mut peer = Self { stream };
        let mut preface = [0; PREFACE.len()];
        peer.stream.read_exact(&mut preface).ok()?;
        assert_eq!(preface, PREFACE);
        let settings: Vec<u8> = settings
            .iter()
            .flat_map(|(name, value)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat())
            .collect();
        peer.send(SETTINGS, 0, 0, &settings);
        Some(peer)
    }

    fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = (payload.len() as u32).to_be_bytes();
        let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
        let _ = self.stream.write_all(&[&head, payload].concat());
    }

    fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).ok()?;
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        self.stream.read_exact(&mut payload).ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Some((head[3], head[4], stream, payload))
    }

    /// The stream of the next request whose head has come.
    fn asked(&mut self) -> Option<u32> {
        loop {
            let (kind, _, stream, _) = self.next()?;
            if kind == HEADERS {
                return Some(stream);
            }
        }
    }

    /// Answers 200 and two bytes.
    fn answer(&mut self, stream: u32) {
        self.send(HEADERS, END_HEADERS, stream, &[0x20, 0x88]);
        self.send(DATA, END_STREAM, stream, b"ok");
    }
}

/// A thread for each connection, which does `script` after the settings.
fn peers(
    settings: &'static [(u16, u32)],
    script: impl Fn(&mut Peer) + Send + Sync + 'static,
) -> Server {
    Server::threads(move |stream| {
        if let Some(mut peer) = Peer::greet(stream, settings) {
            script(&mut peer);
        }
    })
}

fn plan_of(server: &Server, streams: u32, requests: u64) -> LoadPlan {
    let mut plan = plan(server, Arrivals::Closed, 1);
    (plan.options.http2, plan.options.streams) = (true, streams);
    (plan.requests, plan.duration_ms) = (Some(requests), None);
    plan
}

#[test]
fn requests_share_a_connection() {
    // It answers when four are there, the last first.
    let server = peers(&[], |peer| {
        let mut waiting = Vec::new();
        while let Some(stream) = peer.asked() {
            waiting.push(stream);
            if waiting.len() == 4 {
                waiting.drain(..).rev().for_each(|stream| peer.answer(stream));
            }
        }
    });
    let result = load(&plan_of(&server, 4, 400));
    assert_eq!((result.counts.succeeded, server.accepted()), (400, 1), "{:?}", result.counts);
    assert_eq!(result.counts.statuses, [(200, 400)].into());
    assert_eq!(result.fairness.unwrap().connections, 1);
    for arrivals in [Arrivals::Paced { per_s: 2000.0 }, Arrivals::Constant { per_s: 2000.0 }] {
        let server = peers(&[], |peer| {
            while let Some(stream) = peer.asked() {
                peer.answer(stream);
            }
        });
        let mut plan = LoadPlan { arrivals, connections: 3, ..plan_of(&server, 2, 100) };
        plan.options.preconnect = true;
        assert_eq!(load(&plan).counts.succeeded, 100);
        assert_eq!(server.accepted(), 3);
    }
}

#[test]
fn each_stream_has_a_request_all_the_time() {
    let server = peers(&[], |peer| {
        while let Some(stream) = peer.asked() {
            peer.answer(stream);
        }
    });
    let mut plan = LoadPlan { connections: 2, ..plan_of(&server, 4, 0) };
    (plan.requests, plan.duration_ms) = (None, Some(300));
    let audit = load(&plan).audit;
    let of_connections = audit.iter().find(|law| law.law == "N = c").unwrap();
    assert_eq!(of_connections.right, 8.0, "{audit:?}");
}

#[test]
fn no_more_streams_are_opened_than_the_server_allows() {
    let server = peers(&[(3, 2)], |peer| {
        // The first requests need not wait for the settings.
        let mut waiting = Vec::new();
        let mut most = 4;
        while let Some(stream) = peer.asked() {
            waiting.push(stream);
            assert!(waiting.len() <= most);
            if waiting.len() == most {
                waiting.drain(..).for_each(|stream| peer.answer(stream));
                most = 2;
            }
        }
    });
    let counts = load(&plan_of(&server, 4, 24)).counts;
    assert_eq!(counts.succeeded, 24, "{counts:?}");
    assert_eq!(server.accepted(), 1);
}

#[test]
fn what_a_leaving_server_has_not_looked_at_is_repeated() {
    let server = peers(&[], |peer| {
        let mut last = 0_u32;
        for _ in 0..2 {
            let Some(stream) = peer.asked() else { return };
            peer.answer(stream);
            last = stream;
        }
        if peer.asked().is_some() {
            peer.send(GOAWAY, 0, 0, &[last.to_be_bytes(), [0; 4]].concat());
        }
        while peer.next().is_some() {}
    });
    let plan = LoadPlan { method: "POST".into(), ..plan_of(&server, 1, 8) };
    let counts = load(&plan).counts;
    assert_eq!((counts.succeeded, counts.retried, server.accepted()), (8, 3, 4), "{counts:?}");
    // What it has looked at is answered on the connection that it leaves.
    let server = peers(&[], |peer| {
        let (Some(first), Some(second)) = (peer.asked(), peer.asked()) else { return };
        peer.send(GOAWAY, 0, 0, &[second.to_be_bytes(), [0; 4]].concat());
        [second, first].into_iter().for_each(|stream| peer.answer(stream));
        while peer.next().is_some() {}
    });
    let counts = load(&plan_of(&server, 2, 6)).counts;
    assert_eq!((counts.succeeded, counts.retried, server.accepted()), (6, 0, 3), "{counts:?}");
    // Nobody waits for a server that refuses every stream.
    let server = peers(&[], |peer| {
        while let Some(stream) = peer.asked() {
            peer.send(RST_STREAM, 0, stream, &7_u32.to_be_bytes());
        }
    });
    let counts = load(&plan_of(&server, 2, 6)).counts;
    assert_eq!((counts.retried, counts.errors), (6, [(LoadError::StreamReset, 6)].into()));
}

#[test]
fn a_stream_that_is_reset_fails_alone() {
    let server = peers(&[], |peer| {
        let mut number = 0;
        while let Some(stream) = peer.asked() {
            number += 1;
            match number % 2 {
                0 => peer.answer(stream),
                _ => peer.send(RST_STREAM, 0, stream, &2_u32.to_be_bytes()),
            }
        }
    });
    let counts = load(&plan_of(&server, 1, 20)).counts;
    assert_eq!(counts.errors, [(LoadError::StreamReset, 10)].into());
    assert_eq!((counts.succeeded, server.accepted()), (10, 1));
}

#[test]
fn a_body_is_sent_as_the_windows_let_it() {
    let received = Arc::new(AtomicU64::new(0));
    let count = received.clone();
    let server = peers(&[(4, 1000)], move |peer| {
        while let Some((kind, flags, stream, payload)) = peer.next() {
            if kind != DATA {
                continue;
            }
            count.fetch_add(payload.len() as u64, Ordering::Relaxed);
            if flags & END_STREAM != 0 {
                peer.answer(stream);
            } else {
                let more = (payload.len() as u32).to_be_bytes();
                peer.send(WINDOW_UPDATE, 0, stream, &more);
                peer.send(WINDOW_UPDATE, 0, 0, &more);
            }
        }
    });
    let body = vec![b'x'; 300_000];
    let mut plan = plan_of(&server, 3, 6);
    (plan.method, plan.body_bytes) = ("POST".into(), 300_000);
    let result = run(&plan, &body, &mut |_| true).unwrap().result;
    assert_eq!(result.counts.succeeded, 6);
    assert_eq!(received.load(Ordering::Relaxed), 6 * 300_000);
    assert!(result.audit.iter().all(|law| law.holds), "{:?}", result.audit);
}

#[test]
fn a_window_that_stays_shut_is_a_time_out() {
    let server = peers(&[(4, 0)], |peer| while peer.next().is_some() {});
    let mut plan = plan_of(&server, 2, 4);
    // More than the window that a connection begins with.
    (plan.method, plan.body_bytes, plan.timeout_ms) = ("POST".into(), 100_000, 50);
    let result = run(&plan, &vec![b'x'; 100_000], &mut |_| true).unwrap().result;
    let counts = result.counts;
    assert_eq!((counts.timed_out, counts.answered), (4, 0), "{counts:?}");
    let doubts = result.doubts.concat();
    assert!(doubts.contains("4 requests timed out because the server did not take"), "{doubts}");
    // A server that says nothing at all is asked on new connections.
    let silent = Server::threads(|mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let mut plan = plan_of(&silent, 2, 6);
    plan.timeout_ms = 50;
    assert_eq!(load(&plan).counts.timed_out, 6);
    assert!(silent.accepted() > 1);
}

#[test]
fn what_is_no_answer_is_garbage() {
    type Say = fn(&mut Peer, u32);
    let bad: [(&str, Say); 15] = [
        ("a body before its head", |peer, stream| peer.send(DATA, END_STREAM, stream, b"x")),
        ("no status", |peer, stream| peer.send(HEADERS, 5, stream, b"\x00\x01a\x01b")),
        ("a dynamic table", |peer, stream| peer.send(HEADERS, 5, stream, &[0xbe])),
        ("a stream never opened", |peer, _| peer.send(HEADERS, 5, 4001, &[0x88])),
        ("an even stream", |peer, _| peer.send(HEADERS, 5, 2, &[0x88])),
        ("a frame in a block", |peer, stream| {
            peer.send(HEADERS, 0, stream, &[0x88]);
            peer.send(PING, 0, 0, &[0; 8]);
        }),
        ("padding beyond the frame", |peer, stream| peer.send(HEADERS, 5 | 8, stream, &[9, 0x88])),
        ("padding beyond DATA", |peer, stream| {
            peer.send(HEADERS, END_HEADERS, stream, &[0x88]);
            peer.send(DATA, END_STREAM | 8, stream, &[200, b'o', b'k']);
        }),
        ("content too short", |peer, stream| {
            peer.send(HEADERS, END_HEADERS, stream, b"\x88\x0f\x0d\x0210");
            peer.send(DATA, END_STREAM, stream, b"ok");
        }),
        ("content too long", |peer, stream| {
            peer.send(HEADERS, END_HEADERS, stream, b"\x88\x0f\x0d\x012");
            peer.send(DATA, 0, stream, b"more");
        }),
        ("a push", |peer, stream| peer.send(5, END_HEADERS, stream, &[0, 0, 0, 2, 0x88])),
        ("a window without end", |peer, _| peer.send(WINDOW_UPDATE, 0, 0, &[0x7f, 255, 255, 255])),
        ("a window by nothing", |peer, _| peer.send(WINDOW_UPDATE, 0, 0, &[0; 4])),
        ("a frame too long", |peer, _| peer.send(99, 0, 0, &[0; 16_385])),
        ("half a SETTINGS", |peer, _| peer.send(SETTINGS, 0, 0, &[0; 5])),
    ];
    for (what, say) in bad {
        let server = peers(&[], move |peer| {
            if let Some(stream) = peer.asked() {
                say(peer, stream);
                while peer.next().is_some() {}
            }
        });
        let counts = load(&LoadPlan { timeout_ms: 500, ..plan_of(&server, 1, 1) }).counts;
        assert_eq!(counts.errors, [(LoadError::Garbage, 1)].into(), "{what}");
    }
}

#[test]
fn content_of_the_stated_length_is_an_answer_whatever_follows_on_others() {
    // Of three requests on one connection one is malformed, and fails alone.
    let server = peers(&[], |peer| {
        let mut number = 0;
        while let Some(stream) = peer.asked() {
            number += 1;
            let stated = if number % 3 == 0 { b'3' } else { b'2' };
            peer.send(HEADERS, END_HEADERS, stream, &[0x88, 0x0f, 0x0d, 1, stated]);
            // Its padding is no content.
            peer.send(DATA, 8, stream, &[2, b'o', 0, 0]);
            peer.send(DATA, END_STREAM, stream, b"k");
        }
    });
    let counts = load(&plan_of(&server, 1, 30)).counts;
    assert_eq!((counts.succeeded, server.accepted()), (20, 1), "{counts:?}");
    assert_eq!(counts.errors, [(LoadError::Garbage, 10)].into());
    // The answer to HEAD states the length of another.
    let head = peers(&[], |peer| {
        while let Some(stream) = peer.asked() {
            peer.send(HEADERS, END_HEADERS | END_STREAM, stream, b"\x88\x0f\x0d\x0299");
        }
    });
    let plan = LoadPlan { method: "HEAD".into(), ..plan_of(&head, 1, 4) };
    assert_eq!(load(&plan).counts.succeeded, 4);
}

#[test]
fn the_cause_of_a_refusal_is_what_the_server_says() {
    type Say = fn(&mut Peer, u32);
    let refusals: [(&str, Say); 3] = [
        ("GOAWAY, INTERNAL_ERROR go away", |peer, _| {
            peer.send(GOAWAY, 0, 0, &[&[0, 0, 0, 0, 0, 0, 0, 2], &b"go away"[..]].concat());
        }),
        ("REFUSED_STREAM", |peer, stream| peer.send(RST_STREAM, 0, stream, &[0, 0, 0, 7])),
        ("ENHANCE_YOUR_CALM", |peer, stream| peer.send(RST_STREAM, 0, stream, &[0, 0, 0, 11])),
    ];
    for (cause, say) in refusals {
        let server = peers(&[], move |peer| {
            while let Some(stream) = peer.asked() {
                say(peer, stream);
            }
        });
        let counts = load(&plan_of(&server, 1, 2)).counts;
        assert_eq!(counts.causes, [(LoadError::StreamReset, cause.to_string())].into());
    }
    // A connection that is closed after that was closed for it.
    let server = peers(&[], |peer| {
        if let Some(stream) = peer.asked() {
            peer.send(GOAWAY, 0, 0, &[stream.to_be_bytes(), [0, 0, 0, 11]].concat());
        }
    });
    let causes = load(&plan_of(&server, 1, 2)).counts.causes;
    // With a request still on its way to it, a closed connection is reset.
    let ends = [LoadError::Closed, LoadError::Reset];
    let is_it = |(error, cause): (&LoadError, &String)| {
        ends.contains(error) && cause == "GOAWAY, ENHANCE_YOUR_CALM"
    };
    assert!(!causes.is_empty() && causes.iter().all(is_it), "{causes:?}");
}

#[test]
fn odd_answers_are_answers() {
    type Say = fn(&mut Peer, u32);
    let good: [(u16, Say); 4] = [
        (200, |peer, stream| {
            peer.send(HEADERS, END_HEADERS, stream, b"\x08\x03103");
            peer.send(HEADERS, END_HEADERS, stream, &[0x88]);
            peer.send(HEADERS, END_HEADERS | END_STREAM, stream, b"\x00\x01a\x01b");
        }),
        (404, |peer, stream| peer.send(HEADERS, END_HEADERS | END_STREAM, stream, &[0x8d])),
        (204, |peer, stream| {
            // In pieces, with padding and a priority, after a ping and a frame nobody knows.
            peer.send(PING, 0, 0, &[7; 8]);
            peer.send(77, 0, 0, b"?");
            peer.send(HEADERS, END_STREAM | 8 | 0x20, stream, &[1, 0, 0, 0, 0, 9, 0x89, 0]);
            peer.send(9, END_HEADERS, stream, b"\x00\x01a\x01b");
        }),
        (200, |peer, stream| {
            peer.send(HEADERS, END_HEADERS, stream, &[0x88]);
            peer.send(DATA, 8, stream, &[&[200_u8], &[0; 300][..]].concat());
            for byte in 0..9 {
                let head = [[0, 0, 0, DATA, END_STREAM], [0; 5]].concat();
                let bytes = [&head[..5], &stream.to_be_bytes()].concat();
                let _ = peer.stream.write_all(&bytes[byte..=byte]);
                thread::sleep(Duration::from_millis(1));
            }
        }),
    ];
    for (status, say) in good {
        let server = peers(&[], move |peer| {
            while let Some(stream) = peer.asked() {
                say(peer, stream);
            }
        });
        let counts = load(&plan_of(&server, 1, 3)).counts;
        assert_eq!(counts.statuses, [(status, 3)].into(), "{counts:?}");
    }
}

#[test]
fn who_does_not_speak_it_is_no_server() {
    let plain = Server::threads(|mut stream| {
        let mut preface = [0; 24];
        let _ = stream.read_exact(&mut preface);
        answer(&mut stream, b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    });
    let closing = Server::threads(|mut stream| {
        let _ = stream.read_exact(&mut [0; 24]);
    });
    for server in [plain, closing] {
        let error = run(&plan_of(&server, 2, 9), b"", &mut |_| true).unwrap_err().to_string();
        assert!(error.contains("connect to 127.0.0.1:"), "{error}");
        assert!(error.contains("does not speak HTTP/2"), "{error}");
    }
}

#[test]
fn a_server_that_closes_in_mid_load_fails_what_it_had() {
    let server = peers(&[], |peer| {
        for _ in 0..5 {
            let Some(stream) = peer.asked() else { return };
            peer.answer(stream);
        }
        if let Some(stream) = peer.asked() {
            peer.send(HEADERS, END_HEADERS, stream, &[0x88]);
        }
    });
    let counts = load(&plan_of(&server, 1, 18)).counts;
    assert_eq!(counts.errors, [(LoadError::Closed, 3)].into(), "{counts:?}");
    assert_eq!((counts.succeeded, counts.retried), (15, 0));
}
