//! How requests end, and a load.

use super::*;

#[test]
fn what_came_due_in_time_is_waited_for_and_no_mean_is_missing() {
    // Three of four answers take 5 ms and one 100 ms, so that some are under way at the end.
    let count = Arc::new(AtomicU64::new(0));
    let server = Server::threads(move |mut stream| {
        while until_asked(&mut stream) {
            let slow = count.fetch_add(1, Ordering::Relaxed) % 4 == 3;
            thread::sleep(Duration::from_millis(if slow { 100 } else { 5 }));
            if stream.write_all(OK).is_err() {
                return;
            }
        }
    });
    for arrivals in [
        Arrivals::Closed,
        Arrivals::Paced { per_s: 100.0 },
        Arrivals::Constant { per_s: 100.0 },
        Arrivals::Poisson { per_s: 100.0, seed: 3 },
    ] {
        let plan = LoadPlan { drain_ms: 60_000, threads: 2, ..plan(&server, arrivals, 8) };
        let result = load(&plan);
        let counts = &result.counts;
        assert_eq!((counts.in_flight, counts.unsent, counts.succeeded), (0, 0, counts.sent));
        let mean_ms = result.response.mean_ns.unwrap() / 1e6;
        let slow = (counts.sent / 4) as f64 / counts.sent as f64;
        assert!(mean_ms >= 0.999 * (5.0 + 95.0 * slow), "{mean_ms} {counts:?}");
        assert!(percentile_ms(&result.response, 99.0) >= 100.0);
        assert_eq!(result.elapsed_ns, 300_000_000);
        // An answer that takes 100 ms to a request of the last moments comes after the end.
        assert!(plan.arrivals != Arrivals::Closed || counts.succeeded_late > 0, "{counts:?}");
    }
}

#[test]
fn each_request_is_logged_as_it_ended() {
    let server = Server::threads(|mut stream| {
        let _ = until_asked(&mut stream) && stream.write_all(OK).is_ok();
        // The next one on this connection has no answer.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let plan = LoadPlan { timeout_ms: 50, ..plan(&server, Arrivals::Closed, 1) };
    let mut ends = Vec::new();
    let mut log = |some: &[Noted]| {
        ends.extend(some.iter().map(|one| one.end));
        ends.len() < 3
    };
    let outcome = run_logging(&plan, b"", &mut |_| true, &mut log).unwrap();
    assert_eq!(ends[..3], [End::Status(200), End::TimedOut, End::Status(200)]);
    // Who has had enough ends the load.
    assert!(outcome.result.doubts.concat().contains("before its time"), "{ends:?}");
}

#[test]
fn a_server_that_stands_still_stalls_all_connections_at_once() {
    let (count, gate) = (AtomicU64::new(0), Mutex::new(()));
    let server = Server::threads(move |mut stream| {
        while until_asked(&mut stream) {
            let open = gate.lock().unwrap();
            if count.fetch_add(1, Ordering::Relaxed) == 100 {
                thread::sleep(Duration::from_secs(1));
            }
            drop(open);
            if stream.write_all(OK).is_err() {
                return;
            }
        }
    });
    for (threads, requests) in [(1, 1_000), (2, 2_000)] {
        let plan = plan(&server, Arrivals::Closed, 8);
        let plan = LoadPlan { duration_ms: None, requests: Some(requests), threads, ..plan };
        let stalls = load(&plan).stalls;
        let long = stalls.iter().filter(|it| it.until_ns - it.from_ns >= 900_000_000);
        let long: Vec<_> = long.collect();
        // It stands still once, and the second load finds it at work.
        assert_eq!(long.len(), usize::from(threads == 1), "{stalls:?}");
        assert!(long.iter().all(|it| (it.waiting, it.released) == (8, 8)), "{stalls:?}");
    }
}

#[test]
fn an_answer_in_two_parts_is_told_from_a_late_one() {
    let in_two = Server::threads(|mut stream| {
        while until_asked(&mut stream) {
            if stream.write_all(&OK[..20]).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(40));
            let _ = stream.write_all(&OK[20..]);
        }
    });
    let late = Server::threads(|mut stream| {
        while until_asked(&mut stream) {
            thread::sleep(Duration::from_millis(40));
            if stream.write_all(OK).is_err() {
                return;
            }
        }
    });
    let late_ends = |server: &Server| {
        let plan = plan(server, Arrivals::Closed, 4);
        load(&LoadPlan { duration_ms: None, requests: Some(160), ..plan }).late_ends
    };
    let ends = late_ends(&in_two);
    // It sleeps, and no acknowledgement helps.
    assert!(ends.count >= 20 && ends.hurried == 10 && ends.hurried_late > 0, "{ends:?}");
    assert_eq!(late_ends(&late), model::LateEnds::default());
}
