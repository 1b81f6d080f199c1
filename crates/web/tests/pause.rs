//! A server that stands still for a second of ten, as its users see it: in a process of its own, so
//! that no other test takes the CPUs.
//!
//! Of requests at a constant rate over T, those that come due in a stop of d wait for its end: a share
//! q of all requests waits d - (1 - q) T or less, p95 = 500 ms and p99 = 900 ms of 1 s in 10 s, and
//! then until the server has caught up with them. The server of these tests writes down when each
//! request came to it and when it answered, so that the truth is known for each request whatever the
//! machine does meanwhile.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use model::{Arrivals, LoadPlan, LoadResult, LoadTimes};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};
use sys::clock::now_ns;

const PER_S: u32 = 1000;
const INTERVAL_NS: u64 = 1_000_000_000 / PER_S as u64;
const WHOLE: Duration = Duration::from_secs(10);
const STOP: Duration = Duration::from_secs(1);

/// How exact a percentile is to be.
const TOLERANCE: f64 = 0.02;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the server saw of a request.
#[derive(Clone, Copy, Debug)]
struct Seen {
    came_ns: u64,
    /// Just before the answer was written, and just after it.
    answering_ns: u64,
    answered_ns: u64,
}

/// A thread for each connection. All of them stand still while somebody holds the gate.
struct Server {
    address: SocketAddr,
    gate: Arc<RwLock<()>>,
    seen: Arc<Mutex<Vec<Seen>>>,
    over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Server {
    fn start() -> Self {
        let listener = web::serve::listen(4096).unwrap();
        let address = listener.local_addr().unwrap();
        let (gate, seen) = (Arc::new(RwLock::new(())), Arc::new(Mutex::new(Vec::new())));
        let over = Arc::new(AtomicBool::new(false));
        let shared = (gate.clone(), seen.clone(), over.clone());
        let thread = thread::spawn(move || accept(&listener, &shared.0, &shared.1, &shared.2));
        Self { address, gate, seen, over, thread: Some(thread) }
    }

    /// Stands still for [`STOP`], and returns when that began and ended.
    fn stand_still(&self) -> (u64, u64) {
        let held = self.gate.write().unwrap();
        let since_ns = now_ns();
        thread::sleep(STOP);
        let until_ns = now_ns();
        drop(held);
        (since_ns, until_ns)
    }

    /// All requests in the order in which they came, when `sent` are there.
    fn all_seen(&self, sent: u64) -> Vec<Seen> {
        let begun = Instant::now();
        // A connection tells what it saw when it ends.
        while (self.seen.lock().unwrap().len() as u64) < sent {
            assert!(begun.elapsed() < PATIENCE, "requests that the server has not seen");
            thread::sleep(Duration::from_millis(5));
        }
        let mut seen = self.seen.lock().unwrap().clone();
        seen.sort_unstable_by_key(|request| request.came_ns);
        seen
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // It waits for a connection.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn accept(
    listener: &TcpListener,
    gate: &Arc<RwLock<()>>,
    seen: &Arc<Mutex<Vec<Seen>>>,
    over: &AtomicBool,
) {
    for stream in listener.incoming() {
        if over.load(Ordering::Relaxed) {
            return;
        }
        let (gate, seen, stream) = (gate.clone(), seen.clone(), stream.unwrap());
        thread::spawn(move || {
            let mine = converse(stream, &gate);
            seen.lock().unwrap().extend(mine);
        });
    }
}

/// Answers a connection until it ends.
fn converse(mut stream: TcpStream, gate: &RwLock<()>) -> Vec<Seen> {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut mine = Vec::new();
    let (mut bytes, mut length) = ([0; 1024], 0);
    loop {
        match stream.read(&mut bytes[length..]) {
            Ok(read @ 1..) => length += read,
            _ => return mine,
        }
        if !bytes[..length].ends_with(b"\r\n\r\n") {
            continue;
        }
        length = 0;
        let came_ns = now_ns();
        drop(gate.read().unwrap());
        let answering_ns = now_ns();
        let written = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        mine.push(Seen { came_ns, answering_ns, answered_ns: now_ns() });
        if written.is_err() {
            return mine;
        }
    }
}

/// The percentile of a list: the least number that so many percent do not exceed.
fn percentile(mut list: Vec<u64>, percent: f64) -> f64 {
    list.sort_unstable();
    let rank = (percent / 100.0 * list.len() as f64).ceil() as usize;
    list[rank.max(1) - 1] as f64
}

fn found(times: &LoadTimes, percent: f64) -> f64 {
    let found = times.percentiles.iter().find(|found| found.percent == percent).unwrap();
    found.ns.map_or(f64::INFINITY, |ns| ns as f64)
}

/// What a load of ten seconds comes to whose server stands still after `after`, checked against what
/// the server saw.
fn stopped_after(after: Duration, arrivals: Arrivals, connections: u32) -> LoadResult {
    let server = Server::start();
    let plan = LoadPlan {
        url: format!("http://{}/", server.address),
        method: "GET".into(),
        headers: Vec::new(),
        body_bytes: 0,
        arrivals,
        connections,
        keep_alive: true,
        threads: 1,
        duration_ms: Some(WHOLE.as_millis() as u64),
        requests: None,
        timeout_ms: PATIENCE.as_millis() as u64,
        drain_ms: 0,
        options: Default::default(),
    };
    let (result, stop) = thread::scope(|scope| {
        let stopper = scope.spawn(|| {
            thread::sleep(after);
            server.stand_still()
        });
        let result = web::load::run(&plan, b"", &mut |_| true).unwrap().result;
        (result, stopper.join().unwrap())
    });
    let counts = &result.counts;
    assert_eq!(counts.sent + counts.unsent, u64::from(PER_S) * WHOLE.as_secs());
    assert!(counts.errors.is_empty() && counts.timed_out == 0, "{counts:?}");
    let seen = server.all_seen(counts.sent);
    for percent in [95.0, 99.0] {
        check(percent, found(&result.response, percent), &seen, stop);
    }
    assert!(result.audit.iter().all(|law| law.holds), "{:?}", result.audit);
    result
}

/// Holds a percentile of the response time against what the server saw: it lies between what follows
/// from the moments before and after it wrote each answer.
fn check(percent: f64, found_ns: f64, seen: &[Seen], (since_ns, until_ns): (u64, u64)) {
    // Requests are sent in the order in which they come due; the one that came with the least delay
    // tells when the first came due (to the time that a request takes to a thread that waits for it).
    let due_ns = |place: usize, begun_ns: u64| begun_ns + place as u64 * INTERVAL_NS;
    let begun_ns =
        seen.iter().enumerate().map(|(place, it)| it.came_ns - due_ns(place, 0)).min().unwrap();
    let of = |when: fn(&Seen) -> u64| {
        let waits = seen
            .iter()
            .enumerate()
            .map(|(place, it)| when(it).saturating_sub(due_ns(place, begun_ns)));
        percentile(waits.collect(), percent)
    };
    let (low_ns, high_ns) = (of(|it| it.answering_ns), of(|it| it.answered_ns));
    // An answer is seen when the generator has a CPU and is through with those before it. Since it has
    // a request to send in each millisecond (or whenever it sees an answer, while it is behind), it has
    // not stood still for longer than the longest time in which none came to the server after the
    // stop; and an answer waits for two turns of its loop at most. On a quiet machine this is some
    // milliseconds.
    let came_after = seen.iter().map(|it| it.came_ns).filter(|came_ns| *came_ns >= until_ns);
    let after: Vec<u64> = std::iter::once(until_ns).chain(came_after).collect();
    let still_ns = after.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    // Nobody who came in the stop was answered before its end.
    let formula_ns =
        (until_ns - since_ns) as f64 - (1.0 - percent / 100.0) * WHOLE.as_nanos() as f64;
    let told = format!(
        "p{percent}: found {:.1} ms, the server saw {:.1} to {:.1} ms, a stop and nothing else makes \
         {:.1} ms; the generator stood still for {:.1} ms at most",
        found_ns / 1e6,
        low_ns / 1e6,
        high_ns / 1e6,
        formula_ns / 1e6,
        still_ns as f64 / 1e6
    );
    println!("{told}");
    assert!(low_ns > (1.0 - TOLERANCE) * formula_ns, "the server did not stop: {told}");
    assert!(found_ns > (1.0 - TOLERANCE) * low_ns, "{told}");
    assert!(found_ns < (1.0 + TOLERANCE) * high_ns + 2.0 * still_ns as f64, "{told}");
}

#[test]
fn an_open_loop_tells_what_users_wait_and_hides_nothing() {
    // Generator and server are one process here, and a second's requests wait at once.
    if let Some(limit) = sys::limits::allow_files(16_384).filter(|limit| *limit < 8_192) {
        println!("skipped: it needs 8,192 open files, and {limit} are allowed");
        return;
    }
    let arrivals = Arrivals::Constant { per_s: PER_S.into() };
    // One that comes due while the server stands still finds no connection free.
    let result = stopped_after(Duration::from_secs(3), arrivals, 4000);
    // Each is sent although nobody is answered, so that what is waited for after the sending is all
    // that was waited for but the generator's own lateness. (Who is late at the very end leaves one
    // unsent, which has no service time.)
    let (punctual, service) = (&result.punctual, &result.service);
    assert_eq!((punctual.min_ns, punctual.max_ns), (service.min_ns, service.max_ns));
    if result.counts.unsent == 0 {
        assert_eq!(punctual.percentiles, service.percentiles);
    }
    assert!(service.max_ns.unwrap() > STOP.as_nanos() as u64 / 2);
}

#[test]
fn a_closed_loop_tells_what_users_wait_and_what_it_would_have_hidden() {
    let arrivals = Arrivals::Paced { per_s: PER_S.into() };
    let result = stopped_after(Duration::from_secs(6), arrivals, 10);
    // Ten of ten thousand were under way when it stopped: all that most tools show of it.
    for percent in [95.0, 99.0] {
        let (service, response) =
            (found(&result.service, percent), found(&result.response, percent));
        assert!(service < response / 2.0, "p{percent}: {service} of {response}");
        // It is the server that lets them wait, not the generator.
        let punctual = found(&result.punctual, percent);
        assert!(punctual > 0.8 * response, "p{percent}: {punctual} of {response}");
    }
}
