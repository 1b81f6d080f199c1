use super::*;
use model::{Arrivals, LoadCounts, LoadError};
use server::{Server, answer, until_asked};
use std::io::{Read, Write};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::thread;
use sys::clock::now_ns;

#[path = "tests_end.rs"]
mod end;
#[path = "tests_http2.rs"]
mod http2;
#[path = "tests_server.rs"]
mod server;
#[path = "tests_ways.rs"]
mod ways;

/// A plan for a server that is nowhere.
pub(super) fn any_plan() -> LoadPlan {
    LoadPlan {
        url: "http://h/".into(),
        method: "GET".into(),
        headers: Vec::new(),
        body_bytes: 0,
        arrivals: Arrivals::Closed,
        connections: 1,
        keep_alive: true,
        threads: 1,
        duration_ms: Some(300),
        requests: None,
        timeout_ms: 20_000,
        drain_ms: 0,
        options: Default::default(),
    }
}

fn plan(server: &Server, arrivals: Arrivals, connections: u32) -> LoadPlan {
    LoadPlan { url: server.url(), arrivals, connections, ..any_plan() }
}

/// Carries out a plan, and checks what holds of every load.
fn load(plan: &LoadPlan) -> LoadResult {
    let mut noted = Vec::new();
    let mut log = |some: &[Noted]| {
        noted.extend_from_slice(some);
        true
    };
    let outcome = carry_out(plan, b"", &mut |_| true, Some(&mut log)).unwrap();
    let LoadResult { counts, response, service, lateness, audit, .. } = &outcome.result;
    let errors: u64 = counts.errors.values().sum();
    assert_eq!(counts.sent, counts.answered + errors + counts.timed_out + counts.in_flight);
    assert_eq!(counts.answered, counts.statuses.values().sum::<u64>());
    let given_up = counts.timed_out + counts.in_flight;
    assert_eq!((service.count, service.censored), (counts.answered, given_up));
    assert_eq!((response.count, response.censored), (counts.answered, given_up + counts.unsent));
    let punctual = &outcome.result.punctual;
    assert_eq!((punctual.count, punctual.censored), (response.count, response.censored));
    assert_eq!((lateness.count, lateness.censored), (counts.sent, counts.unsent));
    assert_eq!(noted.len() as u64, counts.sent + counts.unsent);
    let answered = noted.iter().filter(|one| one.done_ns.is_some()).count() as u64;
    assert_eq!(answered, counts.answered);
    assert_eq!(noted.iter().filter(|one| one.connection.is_none()).count() as u64, counts.unsent);
    assert!(noted.iter().all(|one| one.connection.is_none_or(|number| number < plan.connections)));
    assert_eq!(
        noted.iter().filter(|one| one.end == End::TimedOut).count() as u64,
        counts.timed_out
    );
    assert!(
        noted.iter().all(|one| one.sent_ns.is_none_or(|ns| one.due_ns <= ns && ns <= one.ended_ns))
    );
    let waited = noted.iter().filter_map(|one| one.done_ns?.checked_sub(one.due_ns)).max();
    let known = &outcome.response.known;
    assert!(known.equivalent(waited.unwrap_or(0), known.max()), "{waited:?}");
    assert!(audit.iter().all(|law| law.holds), "{audit:?}");
    let series = &outcome.result.series;
    let in_time = counts.succeeded - counts.succeeded_late;
    assert_eq!(series.iter().map(|slice| slice.succeeded).sum::<u64>(), in_time);
    assert_eq!(series.iter().map(|slice| slice.failed).sum::<u64>(), counts.unsuccessful());
    let took = noted.iter().map(|one| (one.ended_ns - one.due_ns) as f64);
    let failed = noted.iter().filter(|one| matches!(one.end, End::Failed(_))).count();
    if failed == 0 && !noted.is_empty() {
        let mean = took.sum::<f64>() / noted.len() as f64;
        let least = response.mean_least_ns.unwrap();
        assert!((least - mean).abs() <= 1e-3 * mean + 1.0, "{least} {mean}");
    }
    let throughput = in_time as f64 * 1e9 / outcome.result.elapsed_ns as f64;
    assert!((outcome.result.throughput_per_s - throughput).abs() < 1e-6 * (1.0 + throughput));
    outcome.result
}

fn percentile_ms(times: &model::LoadTimes, percent: f64) -> f64 {
    let found = times.percentiles.iter().find(|found| found.percent == percent).unwrap();
    found.ns.map_or(f64::INFINITY, |ns| ns as f64 / 1e6)
}

/// A server with a thread for each connection that answers `answer` as long as it is asked.
fn polite(bytes: &'static [u8]) -> Server {
    Server::threads(move |mut stream| {
        while until_asked(&mut stream) {
            if stream.write_all(bytes).is_err() {
                return;
            }
        }
    })
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn many_connections_to_a_server_of_one_wait_for_all_others() {
    const CONNECTIONS: usize = 160;
    let answering = Arc::new(Mutex::new(Vec::new()));
    let log = answering.clone();
    let server = Server::single(move |mut stream| {
        if until_asked(&mut stream) {
            thread::sleep(Duration::from_millis(20));
            log.lock().unwrap().push(now_ns());
            answer(&mut stream, OK);
        }
    });
    let mut plan = plan(&server, Arrivals::Closed, CONNECTIONS as u32);
    plan.keep_alive = false;
    plan.duration_ms = Some(8000);
    let result = load(&plan);
    let answering_ns = answering.lock().unwrap().clone();
    let counts = &result.counts;
    // What was under way at the end is no answer.
    assert!(counts.answered <= answering_ns.len() as u64, "{counts:?}");
    // The end may fall between an answer and the request that follows it.
    assert!((CONNECTIONS as u64 - 1..=CONNECTIONS as u64).contains(&counts.in_flight));
    assert!(counts.errors.is_empty() && counts.timed_out == 0);
    // S as it really was, a sleep and whatever the machine added to it.
    let span_ns = answering_ns[answering_ns.len() - 1] - answering_ns[0];
    let service_s = span_ns as f64 / 1e9 / (answering_ns.len() - 1) as f64;
    assert!(service_s >= 0.020);
    let throughput = result.throughput_per_s * service_s;
    assert!((throughput - 1.0).abs() < 0.03, "{throughput} of 1 / S");
    // Who has its answer asks again behind the 159 others: 160 S, which is as long as the server took
    // for some 160 of its answers in a row. More than half of the requests were asked so, the first
    // 160 found fewer before them.
    let rounds = answering_ns.windows(CONNECTIONS + 1).map(|it| it[CONNECTIONS] - it[0]);
    let (least, most) = (rounds.clone().min().unwrap(), rounds.max().unwrap());
    let found_ns = percentile_ms(&result.response, 50.0) * 1e6;
    assert!(found_ns > 0.98 * least as f64 && found_ns < 1.02 * most as f64, "{found_ns}");
    assert!(found_ns > 0.98 * 160.0 * 20e6, "{found_ns}");
}

#[test]
fn a_port_on_which_nobody_listens_is_an_error() {
    let url = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    };
    let server = polite(OK);
    for arrivals in [
        Arrivals::Closed,
        Arrivals::Paced { per_s: 100.0 },
        Arrivals::Constant { per_s: 100.0 },
        Arrivals::Poisson { per_s: 100.0, seed: 1 },
    ] {
        let mut plan = plan(&server, arrivals, 8);
        (plan.url, plan.threads, plan.duration_ms) = (url.clone(), 2, Some(3_600_000));
        let error = run(&plan, b"", &mut |_| true).unwrap_err().to_string();
        assert!(error.contains("connect to 127.0.0.1") && error.contains("refused"), "{error}");
    }
}

#[test]
fn a_server_that_goes_away_is_refused_and_no_throughput() {
    let server = polite(OK);
    let mut plan = plan(&server, Arrivals::Closed, 4);
    // Each request needs a new connection, and a while after the start there are none.
    (plan.duration_ms, plan.keep_alive) = (Some(600), false);
    let mut server = Some(server);
    let outcome = run(&plan, b"", &mut |live| {
        if live.answered > 0 {
            drop(server.take());
        }
        true
    });
    let counts = outcome.unwrap().result.counts;
    assert!(counts.answered > 0);
    let refused = counts.errors[&LoadError::Refused];
    // No connection tries more often than every 10 ms.
    assert!((1..=4 * 60).contains(&refused), "{refused}");
}

#[test]
fn answers_of_every_kind_are_counted_as_what_they_are() {
    let big: &[u8] = Vec::leak(
        [b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n".to_vec(), vec![b'x'; 10_000_000]]
            .concat(),
    );
    let chunked: &[u8] =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    let chunk = [b"10000\r\n".to_vec(), vec![b'x'; 0x10000], b"\r\n".to_vec()].concat();
    let big_chunked: &[u8] = Vec::leak(
        [&chunked[..chunked.len() - 12], &chunk.repeat(153), &b"0\r\nX-Last: 1\r\n\r\n"[..]]
            .concat(),
    );
    for (bytes, status) in [
        (OK, 200),
        (chunked, 200),
        (big, 200),
        (big_chunked, 200),
        (b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", 404),
        (b"HTTP/1.1 503 Busy\r\nContent-Length: 1\r\nConnection: close\r\n\r\n!", 503),
    ] {
        for (keep_alive, threads) in [(true, 1), (false, 2)] {
            let server = polite(bytes);
            let mut plan = plan(&server, Arrivals::Closed, 2);
            (plan.keep_alive, plan.threads) = (keep_alive, threads);
            (plan.requests, plan.duration_ms) = (Some(5), None);
            let result = load(&plan);
            assert_eq!(result.counts.statuses.get(&status), Some(&5), "{:?}", result.counts);
            assert_eq!(result.counts.succeeded, if status < 400 { 5 } else { 0 });
            let alone = result.succeeded.as_ref().map(|times| times.count);
            assert_eq!(alone, (status >= 400).then_some(0));
            assert!(result.read_bytes >= 5 * bytes.len() as u64);
        }
    }
}

#[test]
fn an_answer_that_comes_byte_by_byte_is_one() {
    let server = Server::threads(|mut stream| {
        if until_asked(&mut stream) {
            for byte in OK {
                let _ = stream.write_all(&[*byte]);
                thread::sleep(Duration::from_millis(1));
            }
        }
    });
    let mut plan = plan(&server, Arrivals::Closed, 1);
    (plan.requests, plan.duration_ms) = (Some(1), None);
    let result = load(&plan);
    assert_eq!(result.counts.succeeded, 1);
    assert!(result.service.min_ns.unwrap() >= OK.len() as u64 * 999_000);
}

#[test]
fn an_answer_that_comes_byte_by_byte_for_too_long_is_given_up() {
    let server = Server::threads(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
    });
    let mut plan = plan(&server, Arrivals::Closed, 2);
    plan.timeout_ms = 60;
    let counts = load(&plan).counts;
    // Each of two connections gives up four or five times in 300 ms.
    assert!((2..=2 * 5).contains(&counts.timed_out), "{counts:?}");
    assert!(counts.answered == 0 && counts.errors.is_empty(), "{counts:?}");
}

#[test]
fn a_connection_that_is_reset_is_told_from_one_that_is_closed() {
    let server = Server::threads(|mut stream| {
        if until_asked(&mut stream) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na");
            // What is closed with no time to linger is reset (socket(7), SO_LINGER).
            socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
        }
    });
    let counts = load(&plan(&server, Arrivals::Closed, 2)).counts;
    assert!(counts.errors[&LoadError::Reset] >= 2 && counts.errors.len() == 1, "{counts:?}");
    assert_eq!(counts.answered, 0);
}

/// What a server that answers `bytes` and closes comes to.
fn errors_of(bytes: &'static [u8]) -> LoadCounts {
    let server = Server::threads(move |mut stream| {
        if until_asked(&mut stream) {
            answer(&mut stream, bytes);
        }
    });
    load(&plan(&server, Arrivals::Closed, 2)).counts
}

#[test]
fn what_is_no_whole_answer_is_an_error_of_its_kind() {
    for (bytes, error) in [
        (&b""[..], LoadError::Closed),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", LoadError::Closed),
        (b"what?\r\n", LoadError::Garbage),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
            LoadError::Garbage,
        ),
    ] {
        let counts = errors_of(bytes);
        assert_eq!(counts.answered, 0);
        // Two connections, none of which tries more often than every 10 ms.
        assert!((2..=2 * 31).contains(&counts.errors[&error]), "{counts:?}");
        assert_eq!(counts.errors.len(), 1, "{counts:?}");
        assert!(counts.causes.get(&error).is_some_and(|cause| !cause.is_empty()), "{counts:?}");
    }
}

#[test]
fn a_server_without_end_cannot_hold_the_generator() {
    let headers = Server::threads(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX: ");
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    });
    let counts = load(&plan(&headers, Arrivals::Closed, 2)).counts;
    assert!(counts.errors[&LoadError::Garbage] > 0 && counts.answered == 0);
    let body = Server::threads(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    });
    let mut plan = plan(&body, Arrivals::Closed, 2);
    plan.timeout_ms = 50;
    let counts = load(&plan).counts;
    assert!(counts.timed_out > 0 && counts.answered == 0 && counts.errors.is_empty(), "{counts:?}");
}

#[test]
fn who_never_answers_times_out_and_is_censored() {
    let server = Server::threads(|mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let mut plan = plan(&server, Arrivals::Closed, 3);
    (plan.timeout_ms, plan.duration_ms) = (100, Some(450));
    let result = load(&plan);
    assert!(result.counts.timed_out >= 3 && result.counts.in_flight <= 3, "{:?}", result.counts);
    assert_eq!((result.service.count, result.throughput_per_s), (0, 0.0));
    assert!(result.service.percentiles.iter().all(|percentile| percentile.ns.is_none()));
    // Nor does a number of requests wait for ever.
    (plan.requests, plan.duration_ms) = (Some(4), None);
    assert_eq!(load(&plan).counts.timed_out, 4);
}

#[test]
fn a_server_of_one_that_keeps_a_connection_starves_the_others() {
    let server = Server::single(|mut stream| {
        while until_asked(&mut stream) {
            if stream.write_all(OK).is_err() {
                return;
            }
        }
    });
    let result = load(&plan(&server, Arrivals::Closed, 16));
    let fairness = result.fairness.unwrap();
    assert_eq!((fairness.connections, fairness.starved, fairness.median), (16, 15, 0));
    assert_eq!(fairness.most, result.counts.answered);
    assert!((fairness.index - 1.0 / 16.0).abs() < 1e-9);
    // The median of those that were answered is excellent; the requests that wait say otherwise. The
    // sixteenth is the one that is served: the end may fall between its answer and what it asks next.
    assert!((15..=16).contains(&result.counts.in_flight), "{:?}", result.counts);
}

/// A server of one that answers 20 requests of a connection, for which it takes 1 ms each, and then closes it:
/// with sixteen connections most wait at any time, and each that is served is served fast.
#[test]
fn bursts_and_starvation_make_no_throughput() {
    let serve = |bursts: bool| {
        Server::single(move |mut stream| {
            for _ in 0..if bursts { 20 } else { usize::MAX } {
                if !until_asked(&mut stream) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(1));
                if stream.write_all(OK).is_err() {
                    return;
                }
            }
        })
    };
    for bursts in [true, false] {
        let server = serve(bursts);
        let mut plan = plan(&server, Arrivals::Closed, 16);
        (plan.duration_ms, plan.drain_ms) = (Some(800), 100);
        let outcome = run(&plan, b"", &mut |_| true).unwrap();
        let steady = outcome.steady.unwrap();
        assert!(steady.per_s <= 1_060.0, "{bursts}: {steady:?}");
        assert!((steady.in_system / 16.0 - 1.0).abs() < 0.01, "{bursts}: {steady:?}");
        let server = outcome.result.server.unwrap();
        assert!(server.in_progress < 1.5, "one at a time: {server:?}");
        assert!((server.present / 16.0 - 1.0).abs() < 0.02, "{bursts}: {server:?}");
    }
}

#[test]
fn who_had_nothing_to_ask_does_not_starve() {
    let server = polite(OK);
    for (arrivals, requests) in [(Arrivals::Closed, 3), (Arrivals::Paced { per_s: 100.0 }, 4)] {
        let mut plan = plan(&server, arrivals, 10);
        (plan.requests, plan.duration_ms) = (Some(requests), None);
        let fairness = load(&plan).fairness.unwrap();
        assert_eq!(u64::from(fairness.connections), requests);
        assert_eq!((fairness.starved, fairness.least, fairness.most), (0, 1, 1));
    }
}

#[test]
fn so_many_requests_are_sent_and_no_more() {
    let server = polite(OK);
    for arrivals in [
        Arrivals::Closed,
        Arrivals::Paced { per_s: 2000.0 },
        Arrivals::Constant { per_s: 2000.0 },
        Arrivals::Poisson { per_s: 2000.0, seed: 3 },
    ] {
        for (connections, threads, keep_alive) in [(1, 1, true), (7, 3, true), (5, 2, false)] {
            let mut plan = plan(&server, arrivals.clone(), connections);
            (plan.threads, plan.keep_alive) = (threads, keep_alive);
            (plan.requests, plan.duration_ms) = (Some(203), None);
            let result = load(&plan);
            assert_eq!(result.counts.succeeded, 203, "{:?}", result.counts);
            assert_eq!((result.counts.sent, result.counts.unsent), (203, 0));
        }
    }
}

#[test]
fn what_came_due_is_sent_or_said_to_be_unsent() {
    // One connection that is answered after 50 ms cannot carry 200 requests per second.
    let server = Server::threads(|mut stream| {
        while until_asked(&mut stream) {
            thread::sleep(Duration::from_millis(50));
            if stream.write_all(OK).is_err() {
                return;
            }
        }
    });
    let result = load(&plan(&server, Arrivals::Constant { per_s: 200.0 }, 1));
    let response = &result.response;
    assert!(response.mean_ns.is_none() && response.mean_least_ns.is_some(), "{response:?}");
    // Due at 0, 5, 10 … 295 ms.
    assert_eq!(result.counts.sent + result.counts.unsent, 60);
    assert!(result.counts.unsent >= 50, "{:?}", result.counts);
    assert_eq!(result.elapsed_ns, 300_000_000);
    let doubts = result.doubts.concat();
    assert!(doubts.contains("the loop was not open"), "{doubts}");
}

#[test]
fn an_open_loop_opens_what_it_needs() {
    if let Some(limit) = limits::allow_files(4096).filter(|limit| *limit < 2048) {
        println!("skipped: it needs 2,048 open files, and {limit} are allowed");
        return;
    }
    let server = Server::threads(|mut stream| {
        while until_asked(&mut stream) {
            thread::sleep(Duration::from_millis(50));
            if stream.write_all(OK).is_err() {
                return;
            }
        }
    });
    let mut plan = plan(&server, Arrivals::Constant { per_s: 200.0 }, 1000);
    (plan.requests, plan.duration_ms) = (Some(200), None);
    let result = load(&plan);
    assert_eq!((result.counts.sent, result.counts.unsent), (200, 0));
    let opened = server.accepted();
    assert!((10..=200).contains(&opened), "{opened}");
    // However late the generator is, two hundred requests do not take a thousand connections.
    assert!(!result.doubts.concat().contains("the loop was not open"), "{:?}", result.doubts);
}

#[test]
fn a_full_accept_queue_is_told_from_a_slow_server() {
    // It accepts nobody for half a second. The kernel drops the SYNs for which its queue has no room
    // (it holds one more than its length), and those who sent them try again after a second.
    let server = Server::start(5, Duration::from_millis(500), |mut stream| {
        if until_asked(&mut stream) {
            answer(&mut stream, OK);
        }
    });
    let mut plan = plan(&server, Arrivals::Closed, 16);
    // Some are dropped more than once, and would take 7 or 15 s.
    (plan.requests, plan.duration_ms) = (Some(16), Some(2900));
    plan.keep_alive = false;
    let result = load(&plan);
    assert!(result.counts.succeeded > 0, "{:?}", result.counts);
    let network = &result.network;
    assert!(network.listen_overflows.is_none_or(|count| count >= 16 - 6), "{network:?}");
    assert!(network.listen_drops.is_none_or(|count| count >= 16 - 6), "{network:?}");
    assert!(network.syn_retransmits.is_none_or(|count| count >= 16 - 6), "{network:?}");
    let modes = &result.syn_backoff;
    assert!(modes.iter().any(|mode| mode.seconds <= 2 && mode.requests > 0), "{modes:?}");
}

#[test]
fn a_load_ends_when_it_is_told_to() {
    let server = polite(OK);
    let mut plan = plan(&server, Arrivals::Closed, 2);
    plan.duration_ms = Some(3_600_000);
    let mut heard = 0;
    let outcome = run(&plan, b"", &mut |live| {
        heard += 1;
        assert!(live.in_flight <= 2);
        heard < 3
    });
    let result = outcome.unwrap().result;
    assert!(result.counts.answered > 0 && heard == 3);
    assert!(result.doubts.iter().any(|doubt| doubt.contains("before its time")));
}

#[test]
fn a_body_is_sent_whole() {
    let received = Arc::new(AtomicU64::new(0));
    let count = received.clone();
    let server = Server::threads(move |mut stream| {
        let mut bytes = Vec::new();
        let mut piece = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut piece) {
            bytes.extend_from_slice(&piece[..read]);
            if bytes.ends_with(b"end") {
                count.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                bytes.clear();
                let _ = stream.write_all(OK);
            }
        }
    });
    let mut body = vec![b'x'; 3_000_000];
    body.extend_from_slice(b"end");
    let mut plan = plan(&server, Arrivals::Closed, 2);
    plan.method = "POST".into();
    (plan.body_bytes, plan.requests, plan.duration_ms) = (body.len() as u64, Some(4), None);
    let result = run(&plan, &body, &mut |_| true).unwrap().result;
    assert_eq!(result.counts.succeeded, 4);
    assert_eq!(result.written_bytes, received.load(Ordering::Relaxed));
}

#[test]
fn requests_are_noted_where_their_number_is_bounded() {
    let server = polite(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let refused = |plan: &LoadPlan| run_noting(plan, b"", &mut |_| true).is_err();
    let closed = plan(&server, Arrivals::Closed, 2);
    assert!(refused(&closed));
    let endless = Arrivals::Constant { per_s: 1e7 };
    let ten_s = Some(10_000);
    assert!(refused(&LoadPlan { duration_ms: ten_s, ..plan(&server, endless.clone(), 2) }));
    let few = LoadPlan { requests: Some(5), ..plan(&server, endless, 2) };
    let (outcome, noted) = run_noting(&few, b"", &mut |_| true).unwrap();
    assert_eq!((outcome.result.counts.sent + outcome.result.counts.unsent, noted.len()), (5, 5));
    let counted = LoadPlan { requests: Some(7), ..closed };
    assert_eq!(run_noting(&counted, b"", &mut |_| true).unwrap().1.len(), 7);
}

#[test]
fn a_plan_that_cannot_be_is_refused() {
    let server = polite(OK);
    let good = plan(&server, Arrivals::Closed, 1);
    for (bad, word) in [
        (LoadPlan { connections: 0, ..good.clone() }, "connections"),
        (LoadPlan { connections: 65_537, ..good.clone() }, "connections"),
        (LoadPlan { threads: 0, ..good.clone() }, "threads"),
        (LoadPlan { timeout_ms: 0, ..good.clone() }, "time-out"),
        (LoadPlan { duration_ms: None, ..good.clone() }, "duration"),
        (LoadPlan { requests: Some(0), ..good.clone() }, "one request"),
        (LoadPlan { body_bytes: 3, ..good.clone() }, "body"),
        (
            LoadPlan { arrivals: Arrivals::Constant { per_s: f64::NAN }, ..good.clone() },
            "per second",
        ),
        (LoadPlan { arrivals: Arrivals::Paced { per_s: 0.0 }, ..good.clone() }, "per second"),
    ] {
        let error = run(&bad, b"", &mut |_| true).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let needed = files_needed(1000, 2);
    let error = check_files(Some(256), 1000, needed).unwrap_err().to_string();
    assert!(error.contains("1048") && error.contains("ulimit -Hn"), "{error}");
    assert!(check_files(Some(1048), 1000, needed).is_ok());
    assert!(check_files(None, 65_536, files_needed(65_536, 9)).is_ok());
}

#[test]
fn half_of_a_time_knows_the_rate_and_how_many_were_there() {
    // Sixteen connections share eight threads that take 20.3 ms: the first eight have their first
    // answer after one batch, the others after two, and then each has one every 40.6 ms.
    let (batch_ns, end_ns) = (20_300_000_u64, 120_000_000);
    let sixteen = |starved: u64| {
        let mut half = tally::Half::default();
        for place in 0..16 {
            let mut from_ns = 0;
            let mut until_ns = (1 + place / 8) * batch_ns;
            while from_ns < end_ns {
                let answered = place >= starved;
                half.add((from_ns, until_ns), end_ns / 2, end_ns, answered);
                (from_ns, until_ns) = (until_ns, until_ns + 2 * batch_ns);
            }
        }
        Steady::of(&half, end_ns / 2).unwrap()
    };
    let steady = sixteen(0);
    // Counted in 120 ms it would be 40 answers, 333 per second.
    assert!((steady.per_s - 8.0e9 / batch_ns as f64).abs() < 1e-6, "{steady:?}");
    assert!((steady.in_system - 16.0).abs() < 1e-9, "{steady:?}");
    // Those that starve are there, and add nothing to the throughput.
    let starved = sixteen(4);
    assert!((starved.per_s - 0.75 * steady.per_s).abs() < 1e-6, "{starved:?}");
    assert!((starved.in_system - 16.0).abs() < 1e-9, "{starved:?}");
    assert_eq!(Steady::of(&tally::Half::default(), 1), None);
}
