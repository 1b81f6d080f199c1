//! What a request costs the generator in CPU time, beside wrk, against the same nginx on loopback,
//! one after the other in turns: `cargo bench -p web --bench peers [-- --rounds N --seconds S]`.
//!
//! It judges nothing: it prints ratios with intervals, and what the histograms cost, in one go. Both clients have one thread, and where there
//! are two CPUs the server has one of its own.

#![expect(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

use hdrhistogram::Histogram;
use model::{Arrivals, LoadPlan};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use sys::usage::Usage;

/// The connections with which both are compared.
const CONNECTIONS: [u32; 2] = [16, 256];

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
    let missing: Vec<&str> = ["wrk", "nginx"].into_iter().filter(|it| !is_there(it)).collect();
    if !missing.is_empty() {
        println!(
            "not in PATH: {}; `apt-get install wrk nginx-light` brings both",
            missing.join(", ")
        );
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
    for connections in CONNECTIONS {
        let mut turns = Vec::new();
        for round in 0..rounds {
            // Who is first changes, so that neither has the warmer machine.
            let (ours, theirs) = if round % 2 == 0 {
                let ours = scruple(&server.url, connections, seconds);
                (ours, wrk(&server.url, connections, seconds))
            } else {
                let theirs = wrk(&server.url, connections, seconds);
                (scruple(&server.url, connections, seconds), theirs)
            };
            turns.push((ours, theirs));
        }
        report(connections, &turns);
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

/// A number behind a word of the command line.
fn option(name: &str, otherwise: u64) -> u64 {
    let mut words = std::env::args().skip_while(|word| word != name).skip(1);
    words.next().map_or(otherwise, |word| word.parse().unwrap())
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// nginx with one worker, which answers 600 bytes from memory and writes no log. It ends with its
/// value.
struct Nginx {
    child: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Nginx {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let text = "x".repeat(600);
        let configuration = format!(
            "daemon off; master_process off; worker_processes 1; pid {path}/pid; error_log stderr crit;
             events {{ worker_connections 4096; }}
             http {{ access_log off; keepalive_requests 1000000000; client_body_temp_path {path}/a;
             proxy_temp_path {path}/b; fastcgi_temp_path {path}/c; uwsgi_temp_path {path}/d;
             scgi_temp_path {path}/e;
             server {{ listen {address} backlog=4096; location / {{ return 200 \"{text}\"; }} }} }}"
        );
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, configuration).unwrap();
        let mut command = Command::new("nginx");
        command.arg("-p").arg(folder.path()).arg("-c").arg(&file).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let server = Self { child, url: format!("http://{address}/"), _folder: folder };
        let until = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < until, "nginx does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Our turn: all CPU time of this process, setting up and summing up included.
fn scruple(url: &str, connections: u32, seconds: u64) -> Turn {
    let plan = LoadPlan {
        url: url.to_string(),
        method: "GET".into(),
        headers: Vec::new(),
        body_bytes: 0,
        arrivals: Arrivals::Closed,
        connections,
        keep_alive: true,
        threads: 1,
        duration_ms: Some(seconds * 1000),
        requests: None,
        timeout_ms: 20_000,
        drain_ms: 0,
    };
    let before = Usage::of_self();
    let result = web::load::run(&plan, b"", &mut |_| true).unwrap().result;
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

/// wrk's turn.
fn wrk(url: &str, connections: u32, seconds: u64) -> Turn {
    let before = Usage::of_children();
    let output = Command::new("wrk")
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
fn report(connections: u32, turns: &[(Turn, Turn)]) {
    println!("\n{connections} connections, keep-alive     scruple         wrk   scruple : wrk");
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
