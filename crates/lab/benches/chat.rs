//! Whether a plan's servers take the memory and the time that it says: `cargo bench -p lab --bench chat --
//! SESSION`, with a session of `scruple run servers`.
//!
//! The load is that of docs/notes/threads-or-async.md: 1,000 connections, a message a minute on each, 20 ms
//! of waiting and 0.2 ms of CPU time for each message, two CPUs. For every model of the answer this starts
//! its server, opens the connections, each with one message, and keeps them open while `scruple load` sends
//! messages at the rate of all of them on ten more (`-- SESSION --seconds N`, 60 by
//! default; `--only MODEL` measures one).

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may stop")]

use model::{Advice, LoadResult, Staffing};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use web::serve::{Model, Plan, Running, Runtime, Service, listen};

const CONNECTIONS: usize = 1000;
const PATIENCE: Duration = Duration::from_secs(30);
/// Lazy RCU callbacks free memory up to 10 s later.
const REST: Duration = Duration::from_secs(12);
const WAIT: Duration = Duration::from_millis(20);
const COMPUTE: Duration = Duration::from_micros(200);

const MODELS: [(&str, Model); 11] = [
    ("thread", Model::ThreadPerConnection),
    ("process", Model::ForkPerRequest),
    ("event_loop", Model::EventLoop),
    ("io_uring", Model::IoUring),
    ("tokio", Model::Tokio(2)),
    ("go", Model::Runtime(Runtime::Go)),
    ("java_threads", Model::Runtime(Runtime::JavaThreads)),
    ("java_virtual", Model::Runtime(Runtime::JavaVirtual)),
    ("node", Model::Runtime(Runtime::Node)),
    ("python_threads", Model::Runtime(Runtime::PythonThreads)),
    ("python_asyncio", Model::Runtime(Runtime::PythonAsyncio)),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let after = args.iter().skip_while(|arg| *arg != "--seconds").nth(1);
    let seconds: u32 = after.map_or(60, |text| text.parse().unwrap());
    let only = args.iter().skip_while(|arg| *arg != "--only").nth(1);
    let Some(session) = args.first() else {
        println!("name a session of `scruple run servers`");
        return;
    };
    let advice = plan(session);
    let programs = tempfile::tempdir().unwrap();
    println!(
        "{:<16} {:>8} {:>16}   {:>10} {:>16}   of the kernel",
        "model", "p95, ms", "planned", "memory, MB", "planned"
    );
    let is_asked = |one: &&Staffing| only.is_none_or(|only| *only == one.model);
    for staffing in advice.models.iter().filter(|one| one.refusal.is_none()).filter(is_asked) {
        // A pool that serves connections in turn is no server for connections that stay open.
        let Some((_, model)) = MODELS.iter().find(|(name, _)| *name == staffing.model) else {
            continue;
        };
        match measured(*model, programs.path(), seconds) {
            Ok((p95_ns, bytes, kernel)) => print(staffing, p95_ns, bytes, kernel),
            Err(why) => println!("{:<16} {why}", staffing.model),
        }
    }
}

fn plan(session: &str) -> Advice {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scruple"));
    command.args(["plan", session, "--connections", "1000", "--think", "60s", "--json"]);
    command.args([
        "--service",
        "20.2ms",
        "--cpu-share",
        "0.0099",
        "--memory",
        "1GB",
        "--cpus",
        "2",
    ]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// Returns the 95th percentile of the response time, in ns, and the memory of the server and the kernel's
/// part of it, in bytes.
fn measured(model: Model, programs: &Path, seconds: u32) -> Result<(u64, i64, i64), String> {
    let service = Service::Mixed { wait: WAIT, compute: COMPUTE, every: 1 };
    let plan = Plan { model, service, keep_alive: true };
    let listener = listen(4096).unwrap();
    let started = match model {
        Model::Runtime(runtime) => runtime
            .prepare(programs)
            .and_then(|()| Running::start_program(listener, &plan, runtime, &[], programs)),
        // A silent connection is not left for an hour.
        _ => Running::start_with(listener, &plan, &[], Duration::from_secs(3600)),
    };
    let mut server = started.map_err(|error| error.to_string())?;
    server.wait_until_ready(PATIENCE).map_err(|error| error.to_string())?;
    let kernel_before = kernel_bytes_at_rest();
    let held: Vec<_> =
        (0..CONNECTIONS).map(|_| server.connection(PATIENCE, true).unwrap()).collect();
    // Nothing else happens meanwhile; in a minute of load other programs would add to it.
    let mut kernel = kernel_bytes() - kernel_before;
    let mut command = Command::new(env!("CARGO_BIN_EXE_scruple"));
    command.args(["load", "-c", "10", "-q", &format!("{}/min", CONNECTIONS), "--json"]);
    command.args(["-z", &format!("{seconds}s"), &format!("http://{}/", server.address())]);
    let output = command.output().unwrap();
    let result: LoadResult = serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).trim().to_string())?;
    let mut own = 0;
    for pid in server.family() {
        own += sys::proc::memory(pid).unwrap().pss_bytes as i64;
        kernel += sys::proc::status(pid).unwrap().page_tables_bytes.unwrap_or(0) as i64;
    }
    drop(held);
    server.end(PATIENCE).unwrap();
    Ok((result.response.at(95.0).ok_or("too few answers")?, own + kernel, kernel))
}

/// Returns the kernel's memory once it no longer frees what the last server left. Root can have it give up
/// what it keeps for the next objects of a kind.
fn kernel_bytes_at_rest() -> i64 {
    for cache in std::fs::read_dir("/sys/kernel/slab").into_iter().flatten().flatten() {
        let _ = std::fs::write(cache.path().join("shrink"), "1");
    }
    let mut last = kernel_bytes();
    for _ in 0..5 {
        std::thread::sleep(REST);
        let now = kernel_bytes();
        let moved = (now - last).abs();
        last = now;
        if moved < 64 << 10 {
            break;
        }
    }
    last
}

fn kernel_bytes() -> i64 {
    let machine = sys::proc::meminfo().unwrap();
    (machine.kernel_stack_bytes.unwrap_or(0) + machine.slab_bytes.unwrap_or(0)) as i64
}

fn print(staffing: &Staffing, p95_ns: u64, bytes: i64, kernel: i64) {
    let planned = |least: Option<f64>, most: Option<f64>, unit: f64| {
        let at = |it: Option<f64>| it.map_or("unknown".into(), |it| format!("{:.1}", it / unit));
        format!("{} to {}", at(least), at(most))
    };
    println!(
        "{:<16} {:>8.1} {:>16}   {:>10.1} {:>16}   {:.1}",
        staffing.model,
        p95_ns as f64 / 1e6,
        planned(staffing.p95_least_ns, staffing.p95_ns, 1e6),
        bytes as f64 / 1e6,
        planned(staffing.memory_least_bytes, staffing.memory_bytes, 1e6),
        kernel as f64 / 1e6
    );
}
