//! Whether servers are taken for what they are: `cargo bench -p lab --bench predict`.
//!
//! Each model is started with a service that waits and with one that computes, on a CPU of its own where there
//! are two, and `scruple load --predict auto --json` is asked as a user would. What comes out is a table of the
//! models that are consistent and of the residuals of the right one; docs/simulation.md holds one.
//! `-- --seconds N` is the length of each load (10 by default), `-- NAME …` takes only models of
//! that name, `-- waits` or `-- computes` only that service.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may stop")]

use model::{LoadPrediction, PredictedLoad, PredictedModel, PredictedTime, ServerKind};
use std::process::Command;
use std::time::Duration;
use web::serve::{Model, Plan, Running, Service};

const PATIENCE: Duration = Duration::from_secs(10);

/// A model, what it is, and whether its connections bring more than one request.
const MODELS: [(&str, Model, ServerKind, bool); 9] = [
    ("single", Model::Single, ServerKind::Single, false),
    ("pool", Model::Pool(8), ServerKind::Pool(8), false),
    ("small-pool", Model::Pool(4), ServerKind::Pool(4), false),
    ("keeping-pool", Model::Pool(8), ServerKind::Pool(8), true),
    ("thread-per-connection", Model::ThreadPerConnection, ServerKind::Each, true),
    ("fork-per-request", Model::ForkPerRequest, ServerKind::Each, false),
    ("pre-fork", Model::PreFork(8), ServerKind::Pool(8), false),
    ("event-loop", Model::EventLoop, ServerKind::EventLoop(1), true),
    ("tokio", Model::Tokio(1), ServerKind::EventLoop(1), true),
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
        "{:<22} {:<14} right? consistent models; mean and p99 of the right one",
        "model", "service"
    );
    let (mut servers, mut among, mut alone) = (0, 0, 0);
    for (name, model, kind, keep_alive) in MODELS {
        if !all && !asked(name) {
            continue;
        }
        for (service_name, service) in SERVICES.into_iter().filter(|it| both || asked(it.0)) {
            let plan = Plan { model, service, keep_alive };
            match prediction(&plan, server_cpu, seconds) {
                Ok(printed) => {
                    servers += 1;
                    let right = printed.is_consistent(kind) == Some(true);
                    among += u32::from(right);
                    let only = printed.models.iter().filter(|it| it.fault.is_none());
                    alone += u32::from(right && only.count() == 1);
                    print(name, service_name, &printed, kind);
                }
                Err(why) => println!("{name:<22} {service_name:<14} {why}"),
            }
        }
    }
    println!("of {servers} servers the right model is consistent for {among}, alone for {alone}");
}

fn prediction(plan: &Plan, cpu: u32, seconds: u32) -> Result<LoadPrediction, String> {
    let listener = web::serve::listen(1024).unwrap();
    let mut server = Running::start(listener, plan, &[cpu]).unwrap();
    server.wait_until_ready(PATIENCE).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_scruple"));
    command.args(["load", "--predict", "auto", "--json", "--server-cpus", "1", "--seed", "1"]);
    command.args(["-z", &format!("{seconds}s"), &format!("http://{}/", server.address())]);
    if !plan.keep_alive {
        command.arg("--no-keep-alive");
    }
    let output = command.output().unwrap();
    server.end(PATIENCE).unwrap();
    let printed = serde_json::from_slice(&output.stdout);
    printed.map_err(|_| String::from_utf8_lossy(&output.stderr).trim().to_string())
}

fn print(name: &str, service: &str, printed: &LoadPrediction, right: ServerKind) {
    if let Some(seen) = &printed.seen {
        println!(
            "{name:<22} {service:<14} alone {:.2} ms, {:.1} per second on {} connections, {:.3} CPUs",
            seen.alone_ns.point / 1e6,
            seen.throughput_per_s.point,
            seen.connections,
            seen.cpus_busy.unwrap_or(f64::NAN),
        );
    }
    let loads = printed.models.iter().map(|model| &model.loads);
    for load in loads.max_by_key(|loads| loads.len()).into_iter().flatten() {
        for doubt in &load.doubts {
            println!("{name:<22} {service:<14} at {:.2}: {doubt}", load.utilisation);
        }
    }
    let percent = |time: Option<PredictedTime>| {
        let error = time.and_then(|time| time.error());
        error.map_or("-".into(), |error| format!("{:+.1} %", 100.0 * error))
    };
    let errors = |model: &PredictedModel, of: fn(&PredictedLoad) -> Option<PredictedTime>| {
        model.loads.iter().map(|load| percent(of(load))).collect::<Vec<_>>().join(", ")
    };
    let is = |model: &&PredictedModel| model.server == right || model.fault.is_none();
    for model in printed.models.iter().filter(is) {
        println!(
            "{name:<22} {service:<14} {} {:?}{}: mean {}; p99 {} {}",
            if model.server == right { "right" } else { "other" },
            model.server,
            if model.bound { " (bound)" } else { "" },
            errors(model, |load| load.mean),
            errors(model, |load| load.p99),
            model.fault.map_or("consistent".into(), |fault| format!("refuted: {fault:?}")),
        );
    }
}
