//! What a request costs the generator in CPU time, beside wrk and, by HTTP/2, h2load, against the same
//! nginx on loopback, one after the other in turns:
//! `cargo bench -p web --bench peers [-- --rounds N --seconds S --only http|post|large|https|h2c|h2]`.
//!
//! It judges nothing: it prints ratios with intervals, and what the histograms cost, in one go. Both clients have one thread, and where there
//! are two CPUs the server has one of its own.

#![expect(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

use hdrhistogram::Histogram;
use model::{Arrivals, LoadOptions, LoadPlan};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use sys::usage::Usage;

/// A way in which both are compared.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// What `--only` calls it.
    name: &'static str,
    protocol: Protocol,
    work: Work,
    connections: u32,
    /// Requests on each connection at once.
    streams: u32,
}

impl Way {
    /// A client with one request at a time on each connection.
    const fn new(name: &'static str, protocol: Protocol, work: Work, connections: u32) -> Self {
        Self { name, protocol, work, connections, streams: 1 }
    }
}

const WAYS: [Way; 10] = [
    Way::new("http", Protocol::Http, Work::Get, 1),
    Way::new("http", Protocol::Http, Work::Get, 16),
    Way::new("http", Protocol::Http, Work::Get, 256),
    Way::new("post", Protocol::Http, Work::Post, 16),
    Way::new("large", Protocol::Http, Work::Large, 16),
    Way::new("https", Protocol::Https, Work::Get, 16),
    Way::new("https", Protocol::Https, Work::Get, 256),
    Way { streams: 100, ..Way::new("h2c", Protocol::H2c, Work::Get, 1) },
    Way { streams: 10, ..Way::new("h2c", Protocol::H2c, Work::Get, 16) },
    Way { streams: 10, ..Way::new("h2", Protocol::H2, Work::Get, 16) },
];

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// 600 bytes.
    Get,
    /// 600 bytes, with [`BODY_BYTES`] in the request.
    Post,
    /// [`LARGE_BYTES`], from a file.
    Large,
}

/// The body of a request that has one.
const BODY_BYTES: usize = 1_000;

/// A long answer.
const LARGE_BYTES: usize = 100_000;

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Http,
    Https,
    H2c,
    H2,
}

impl Protocol {
    /// The client that scruple is compared with.
    fn peer(self) -> &'static str {
        if matches!(self, Self::Http | Self::Https) { "wrk" } else { "h2load" }
    }
}

/// What is compared of two turns.
type Column = fn(&Turn) -> f64;

/// What one client came to in one turn.
#[derive(Clone, Copy, Debug)]
struct Turn {
    cpu_us_per_request: f64,
    requests_per_s: f64,
    median_us: f64,
    p99_us: f64,
}

fn main() {
    let (rounds, seconds) = (option("--rounds", 10), option("--seconds", 3));
    let only = word("--only");
    if !is_there("nginx") {
        println!("not in PATH: nginx; `apt-get install wrk nginx-light nghttp2-client` brings all");
        return;
    }
    let cpus = sys::affinity::allowed().unwrap();
    let (server_cpu, client_cpu) = (cpus[0], cpus[cpus.len() - 1]);
    sys::affinity::pin(&[server_cpu]).unwrap();
    let server = Nginx::start();
    sys::affinity::pin(&[client_cpu]).unwrap();
    println!(
        "{rounds} rounds of {seconds} s each, server on CPU {server_cpu}, clients on {client_cpu}"
    );
    for way in WAYS {
        if only.as_ref().is_some_and(|only| only != way.name) {
            continue;
        }
        if !is_there(way.protocol.peer()) {
            println!("\n{}: not in PATH: {}", way.name, way.protocol.peer());
            continue;
        }
        let url = server.url(way);
        let mut turns = Vec::new();
        for round in 0..rounds {
            // Who is first changes, so that neither has the warmer machine.
            let (ours, theirs) = if round % 2 == 0 {
                let ours = scruple(&url, way, seconds);
                (ours, server.peer(&url, way, seconds))
            } else {
                let theirs = server.peer(&url, way, seconds);
                (scruple(&url, way, seconds), theirs)
            };
            turns.push((ours, theirs));
        }
        report(way, &turns);
    }
    let mut ns: Vec<f64> = (0..rounds.max(1)).map(|_| histograms_ns()).collect();
    ns.sort_by(f64::total_cmp);
    println!("\nwhat each request notes in histograms costs {:.0} ns of it", median(&ns));
}

/// What a request's four notes cost in ns: response, service, lateness, and the response as it would
/// have been without the generator's own part of that. The times are spread over four orders of magnitude, so that no counter stays in the
/// first cache.
fn histograms_ns() -> f64 {
    const REQUESTS: u64 = 4_000_000;
    let histogram = || {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        histogram.auto(true);
        histogram
    };
    let mut times = [histogram(), histogram(), histogram(), histogram()];
    let begun = sys::clock::thread_cpu_ns();
    let mut bits = 1_u64;
    for _ in 0..REQUESTS {
        for histogram in &mut times {
            // Knuth's MMIX generator: what it costs is below a nanosecond, and counted.
            bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            histogram.record(1_000 << (bits >> 61) | bits >> 54).unwrap();
        }
    }
    let took_ns = sys::clock::thread_cpu_ns() - begun;
    assert_eq!(times.iter().map(Histogram::len).sum::<u64>(), 4 * REQUESTS);
    took_ns as f64 / REQUESTS as f64
}

/// The word behind a word of the command line.
fn word(name: &str) -> Option<String> {
    std::env::args().skip_while(|word| word != name).nth(1)
}

/// A number behind a word of the command line.
fn option(name: &str, otherwise: u64) -> u64 {
    word(name).map_or(otherwise, |word| word.parse().unwrap())
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// nginx with one worker, which answers 600 bytes from memory and writes no log. It ends with its
/// value.
struct Nginx {
    child: Child,
    addresses: [SocketAddr; 3],
    folder: tempfile::TempDir,
}

impl Nginx {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        let listeners: [TcpListener; 3] =
            std::array::from_fn(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let addresses = listeners.map(|listener| listener.local_addr().unwrap());
        let [plain, secure, h2c] = addresses;
        let certificate = include_str!("../src/load/certificates/localhost.pem");
        std::fs::write(folder.path().join("localhost.pem"), certificate).unwrap();
        let key = include_str!("../src/load/certificates/key.pem");
        std::fs::write(folder.path().join("key.pem"), key).unwrap();
        std::fs::write(folder.path().join("large"), "x".repeat(LARGE_BYTES)).unwrap();
        let body = "x".repeat(BODY_BYTES);
        let post = format!("wrk.method = \"POST\"\nwrk.body = \"{body}\"\n");
        std::fs::write(folder.path().join("post.lua"), post).unwrap();
        let text = "x".repeat(600);
        let configuration = format!(
            "daemon off; master_process off; worker_processes 1; pid {path}/pid; error_log stderr crit;
             events {{ worker_connections 4096; }}
             http {{ access_log off; keepalive_requests 1000000000; client_body_temp_path {path}/a;
             proxy_temp_path {path}/b; fastcgi_temp_path {path}/c; uwsgi_temp_path {path}/d;
             scgi_temp_path {path}/e; http2_max_concurrent_streams 1024;
             ssl_certificate {path}/localhost.pem; ssl_certificate_key {path}/key.pem;
             ssl_protocols TLSv1.3;
             server {{ listen {plain} backlog=4096; listen {secure} ssl http2 backlog=4096;
             listen {h2c} http2 backlog=4096; location / {{ return 200 \"{text}\"; }}
             location /large {{ root {path}; sendfile on; open_file_cache max=4; }} }} }}"
        );
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, configuration).unwrap();
        let mut command = Command::new("nginx");
        command.arg("-p").arg(folder.path()).arg("-c").arg(&file).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let server = Self { child, addresses, folder };
        let until = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(plain).is_err() {
            assert!(Instant::now() < until, "nginx does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }

    fn url(&self, way: Way) -> String {
        let [plain, secure, h2c] = self.addresses;
        let path = if way.work == Work::Large { "large" } else { "" };
        match way.protocol {
            Protocol::Http => format!("http://{plain}/{path}"),
            Protocol::Https | Protocol::H2 => format!("https://{secure}/{path}"),
            Protocol::H2c => format!("http://{h2c}/{path}"),
        }
    }

    /// The other client's turn.
    fn peer(&self, url: &str, way: Way, seconds: u64) -> Turn {
        match way.protocol.peer() {
            "wrk" => {
                let script = self.folder.path().join("post.lua");
                wrk(url, way.connections, seconds, (way.work == Work::Post).then_some(&script))
            }
            _ => h2load(url, way.connections, way.streams, seconds),
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Our turn: all CPU time of this process, setting up and summing up included.
fn scruple(url: &str, way: Way, seconds: u64) -> Turn {
    let options = LoadOptions {
        http2: matches!(way.protocol, Protocol::H2c | Protocol::H2),
        streams: way.streams,
        insecure: true,
        ..LoadOptions::default()
    };
    let body = vec![b'x'; if way.work == Work::Post { BODY_BYTES } else { 0 }];
    let plan = LoadPlan {
        url: url.to_string(),
        method: if body.is_empty() { "GET" } else { "POST" }.into(),
        headers: Vec::new(),
        body_bytes: body.len() as u64,
        arrivals: Arrivals::Closed,
        connections: way.connections,
        keep_alive: true,
        threads: 1,
        duration_ms: Some(seconds * 1000),
        requests: None,
        timeout_ms: 20_000,
        drain_ms: 0,
        options,
    };
    let before = Usage::of_self();
    let result = web::load::run(&plan, &body, &mut |_| true).unwrap().result;
    let cpu_us = Usage::of_self().since(before).cpu_ns() as f64 / 1e3;
    let answered = result.counts.succeeded as f64;
    assert_eq!(result.counts.succeeded, result.counts.answered);
    assert!(result.audit.iter().all(|law| law.holds), "{:?}", result.audit);
    let at =
        |index: usize| result.response.percentiles[index].ns.map_or(f64::NAN, |ns| ns as f64 / 1e3);
    Turn {
        cpu_us_per_request: cpu_us / answered,
        requests_per_s: result.throughput_per_s,
        median_us: at(0),
        p99_us: at(4),
    }
}

/// h2load's turn. It prints no percentiles.
fn h2load(url: &str, connections: u32, streams: u32, seconds: u64) -> Turn {
    let before = Usage::of_children();
    let output = Command::new("h2load")
        .args(["-t1", "-c", &connections.to_string(), "-m", &streams.to_string()])
        .args(["-D", &seconds.to_string(), url])
        .output()
        .unwrap();
    let cpu_us = Usage::of_children().since(before).cpu_ns() as f64 / 1e3;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = |end: &str| -> f64 {
        let word = text.split(end).next().and_then(|before| before.split_whitespace().last());
        word.unwrap_or_default().parse().unwrap_or_else(|_| panic!("{end}: {text}"))
    };
    Turn {
        cpu_us_per_request: cpu_us / number(" done,"),
        requests_per_s: number(" req/s"),
        median_us: f64::NAN,
        p99_us: f64::NAN,
    }
}

/// wrk's turn.
fn wrk(url: &str, connections: u32, seconds: u64, script: Option<&PathBuf>) -> Turn {
    let before = Usage::of_children();
    let script = script.map(|script| ["-s".as_ref(), script.as_os_str()]);
    let output = Command::new("wrk")
        .args(script.into_iter().flatten())
        .args([
            "-t1",
            "--latency",
            "-c",
            &connections.to_string(),
            "-d",
            &format!("{seconds}s"),
            url,
        ])
        .output()
        .unwrap();
    let cpu_us = Usage::of_children().since(before).cpu_ns() as f64 / 1e3;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let after = |name: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(name));
        line.and_then(|rest| rest.split_whitespace().next()).unwrap_or("").to_string()
    };
    let line = text.lines().find(|line| line.contains(" requests in ")).unwrap_or_default();
    let answered: f64 = line.split_whitespace().next().unwrap_or_default().parse().unwrap();
    Turn {
        cpu_us_per_request: cpu_us / answered,
        requests_per_s: after("Requests/sec:").parse().unwrap(),
        median_us: microseconds(&after("50%")),
        p99_us: microseconds(&after("99%")),
    }
}

/// A time as wrk prints it.
fn microseconds(text: &str) -> f64 {
    let units = [("us", 1.0), ("ms", 1e3), ("s", 1e6)];
    let found = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    found
        .and_then(|(number, factor)| Some(number.parse::<f64>().ok()? * factor))
        .unwrap_or(f64::NAN)
}

/// Both clients' medians and their ratio, pair by pair.
fn report(way: Way, turns: &[(Turn, Turn)]) {
    let Way { name, connections, streams, .. } = way;
    let peer = way.protocol.peer();
    println!("\n{name}, {connections} x {streams:<18} scruple {peer:>11}   scruple : {peer}");
    let rows: [(&str, Column); 4] = [
        ("CPU per request, us", |turn| turn.cpu_us_per_request),
        ("requests per second", |turn| turn.requests_per_s),
        ("median response, us", |turn| turn.median_us),
        ("p99 response, us", |turn| turn.p99_us),
    ];
    for (name, value) in rows {
        let mut ours: Vec<f64> = turns.iter().map(|(ours, _)| value(ours)).collect();
        let mut theirs: Vec<f64> = turns.iter().map(|(_, theirs)| value(theirs)).collect();
        let mut ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| a / b).collect();
        for list in [&mut ours, &mut theirs, &mut ratios] {
            list.sort_by(f64::total_cmp);
        }
        let interval = match interval_ranks(ratios.len()) {
            Some((low, high)) => format!("[{:.3}, {:.3}]", ratios[low], ratios[high]),
            None => "[too few rounds for an interval]".to_string(),
        };
        println!(
            "{name:<27} {:>11.2} {:>11.2} {:>8.3} {interval}",
            median(&ours),
            median(&theirs),
            median(&ratios)
        );
    }
}

fn median(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { (sorted[half - 1] + sorted[half]) / 2.0 }
}

/// The places of the order statistics between which the median lies with 95 % or more, by the
/// binomial distribution; none below six.
fn interval_ranks(count: usize) -> Option<(usize, usize)> {
    let total = 2_f64.powi(i32::try_from(count).ok()?);
    let (mut ways, mut below, mut low) = (1.0, 0.0, None);
    for rank in 0..count / 2 {
        below += ways / total;
        if 2.0 * below > 0.05 {
            break;
        }
        low = Some(rank);
        ways *= (count - rank) as f64 / (rank + 1) as f64;
    }
    low.map(|low| (low, count - 1 - low))
}
