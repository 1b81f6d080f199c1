//! Whether servers do as the queues that they are taken for: `cargo bench -p lab --bench predict`.
//!
//! Each of the seven models is started with a service that waits and with one that computes, on a CPU
//! of its own where there are two, and `scruple load --predict --json` is asked as a user would. What
//! comes out is a table of residuals; docs/simulation.md holds one. `-- --seconds N` is the length of
//! each load (10 unless told otherwise), `-- NAME …` takes only models of that name, `-- waits` or
//! `-- computes` only that service.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may stop")]

use model::{LoadPrediction, PredictedTime};
use std::process::Command;
use std::time::Duration;
use web::serve::{Model, Plan, Running, Service};

const PATIENCE: Duration = Duration::from_secs(10);

/// A model, what it is taken for, and whether its connections bring more than one request.
const MODELS: [(&str, Model, &str, bool); 7] = [
    ("single", Model::Single, "single", false),
    ("pool", Model::Pool(8), "pool:8", false),
    ("thread-per-connection", Model::ThreadPerConnection, "each", true),
    ("fork-per-request", Model::ForkPerRequest, "each", false),
    ("pre-fork", Model::PreFork(8), "pool:8", false),
    ("event-loop", Model::EventLoop, "event-loop", true),
    ("tokio", Model::Tokio(1), "event-loop", true),
];

const SERVICES: [(&str, Service); 2] = [
    ("waits 20 ms", Service::Wait(Duration::from_millis(20))),
    ("computes 2 ms", Service::Compute(Duration::from_millis(2))),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let after = args.iter().skip_while(|arg| *arg != "--seconds").nth(1);
    let seconds: u32 = after.map_or(10, |text| text.parse().unwrap());
    let asked = |name: &str| args.iter().any(|arg| Some(arg.as_str()) == name.split(' ').next());
    let all = !MODELS.iter().any(|(name, ..)| asked(name));
    let both = !SERVICES.iter().any(|(name, _)| asked(name));
    let cpus = sys::affinity::allowed().unwrap();
    let (server_cpu, client_cpu) = (cpus[0], cpus[cpus.len() - 1]);
    sys::affinity::pin(&[client_cpu]).unwrap();
    println!("server on CPU {server_cpu}, generator on {client_cpu}, {seconds} s per load");
    println!(
        "{:<22} {:<14} {:>5} {:>8} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "model",
        "service",
        "busy",
        "requests",
        "mean, ms",
        "formula",
        "mean",
        "p50",
        "p99",
        "each",
        "doubts"
    );
    for (name, model, kind, keep_alive) in MODELS {
        if !all && !asked(name) {
            continue;
        }
        for (service_name, service) in SERVICES.into_iter().filter(|it| both || asked(it.0)) {
            let plan = Plan { model, service, keep_alive };
            match prediction(&plan, server_cpu, kind, seconds) {
                Ok(told) => print(name, service_name, &told),
                Err(why) => println!("{name:<22} {service_name:<14} {why}"),
            }
        }
    }
}

fn prediction(plan: &Plan, cpu: u32, kind: &str, seconds: u32) -> Result<LoadPrediction, String> {
    let listener = web::serve::listen(1024).unwrap();
    let mut server = Running::start(listener, plan, &[cpu]).unwrap();
    server.wait_until_ready(PATIENCE).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_scruple"));
    command.args(["load", "--predict", kind, "--json", "--server-cpus", "1", "--seed", "1"]);
    command.args(["-z", &format!("{seconds}s"), &format!("http://{}/", server.address())]);
    if !plan.keep_alive {
        command.arg("--no-keep-alive");
    }
    let output = command.output().unwrap();
    server.end(PATIENCE).unwrap();
    let told = serde_json::from_slice(&output.stdout);
    told.map_err(|_| String::from_utf8_lossy(&output.stderr).trim().to_string())
}

fn print(name: &str, service: &str, told: &LoadPrediction) {
    let percent = |time: Option<PredictedTime>| {
        let error = time.and_then(|time| time.error());
        error.map_or("-".into(), |error| format!("{:+.1} %", 100.0 * error))
    };
    if let Some(demand) = &told.demand {
        let ms = |ns: u64| ns as f64 / 1e6;
        println!(
            "{name:<22} {service:<14} alone {:.2} ms, {:.1} per second on {} connections, held by \
             {:?}; waits {:.2}, computes {:.2}, outside {:.2} ms",
            demand.alone_ns / 1e6,
            demand.throughput_per_s,
            demand.connections,
            demand.limit,
            ms(demand.wait_ns),
            ms(demand.cpu_ns),
            ms(demand.outside_ns)
        );
    }
    for load in &told.loads {
        let ms = |ns: f64| format!("{:.2}", ns / 1e6);
        println!(
            "{name:<22} {service:<14} {:>5.2} {:>8} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8}",
            load.utilisation,
            load.requests,
            load.mean.map_or("-".into(), |it| ms(it.measured_ns)),
            load.formula.as_ref().map_or("-".into(), |it| ms(it.mean_ns)),
            percent(load.mean),
            percent(load.p50),
            percent(load.p99),
            load.each_p50.map_or("-".into(), |part| format!("{:.1} %", 100.0 * part)),
            load.doubts.len(),
        );
    }
}
