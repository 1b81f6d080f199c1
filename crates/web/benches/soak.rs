//! A thousand connections for a long time, and what is left of them: `cargo bench -p web --bench soak
//! [-- --seconds S --connections N --model MODEL]`, where MODEL is one of thread-per-connection,
//! event-loop and tokio; all of them without it.
//!
//! It prints descriptors, threads, processes and memory of generator and server, before the load,
//! after a first short one (which makes what is made once), after the long one, and the most memory
//! that each ever had. It judges nothing; tests/thousand.rs does.

#![expect(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

#[path = "../tests/support/held.rs"]
mod held;

use held::{Held, resident_bytes};
use model::{Arrivals, LoadPlan, LoadResult};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use sys::Pid;
use web::serve::{Model, Plan, Running, Service, listen};

/// The models that can hold so many connections, by name.
const MODELS: [(&str, Model); 3] = [
    ("thread-per-connection", Model::ThreadPerConnection),
    ("event-loop", Model::EventLoop),
    ("tokio", Model::Tokio(2)),
];

/// How long each request waits: ten requests per second on each connection.
const SERVICE: Duration = Duration::from_millis(100);

/// The length of the first load.
const FIRST_S: u64 = 2;

/// How long a server may take to let go of connections that have ended.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() {
    let (seconds, connections) = (number("--seconds", 60), number("--connections", 1000));
    let asked = word("--model");
    let known: Vec<&str> = MODELS.iter().map(|(name, _)| *name).collect();
    if let Some(asked) = asked.as_deref().filter(|asked| !known.contains(asked)) {
        println!("--model {asked}: expected one of {}", known.join(", "));
        return;
    }
    println!("{connections} connections, keep-alive, closed loop, {seconds} s");
    for (name, model) in MODELS {
        if asked.as_deref().is_none_or(|asked| asked == name) {
            soak(name, model, seconds, u32::try_from(connections).unwrap());
        }
    }
}

/// What stands behind a word of the command line.
fn word(name: &str) -> Option<String> {
    std::env::args().skip_while(|word| word != name).nth(1)
}

fn number(name: &str, otherwise: u64) -> u64 {
    word(name).map_or(otherwise, |word| word.parse().unwrap())
}

fn soak(name: &str, model: Model, seconds: u64, connections: u32) {
    let plan = Plan { model, service: Service::Wait(SERVICE), keep_alive: true };
    let mut server = Running::start(listen(4096).unwrap(), &plan, &[]).unwrap();
    server.wait_until_ready(PATIENCE).unwrap();
    let before = held(&server);
    println!("\n{name}");
    tell("before", &server);
    load(server.address(), FIRST_S, connections);
    settle(&server, before);
    tell("after a first load", &server);
    let result = load(server.address(), seconds, connections);
    settle(&server, before);
    tell("after the long one", &server);
    let peak = |pid: Pid| sys::proc::status(pid).ok().and_then(|status| status.rss_peak_bytes);
    let told = |bytes: Option<u64>| bytes.map_or("unknown".into(), mebibytes);
    println!(
        "  {:<20} {:>10} generator, {:>10} server",
        "most memory ever",
        told(peak(sys::process::pid())),
        told(peak(server.pid()))
    );
    let fair = result.fairness.unwrap();
    println!(
        "  {} answers ({:.0} per second, {} to {} on each connection), {} failed, {} timed out",
        result.counts.answered,
        result.throughput_per_s,
        fair.least,
        fair.most,
        result.counts.errors.values().sum::<u64>(),
        result.counts.timed_out
    );
    for doubt in &result.doubts {
        println!("  ! {doubt}");
    }
    server.end(PATIENCE).unwrap();
}

fn load(address: SocketAddr, seconds: u64, connections: u32) -> LoadResult {
    let plan = LoadPlan {
        url: format!("http://{address}/"),
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
        options: Default::default(),
    };
    web::load::run(&plan, b"", &mut |_| true).unwrap().result
}

fn held(server: &Running) -> [Held; 2] {
    [Held::by(&[sys::process::pid()]), Held::by(&server.family())]
}

/// Waits until there is what there was, for a while.
fn settle(server: &Running, before: [Held; 2]) {
    let begun = Instant::now();
    while held(server) != before && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn tell(when: &str, server: &Running) {
    let [ours, its] = held(server);
    let memory = |pids: &[Pid]| mebibytes(resident_bytes(pids));
    println!("  {when:<20} {:>10} generator: {ours}", memory(&[sys::process::pid()]));
    println!("  {:<20} {:>10} server: {its}", "", memory(&server.family()));
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.2} MiB", bytes as f64 / f64::from(1 << 20))
}
