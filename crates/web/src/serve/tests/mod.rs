//! Every model, from outside: by a client that knows TCP alone.

use super::{Model, Plan, Running, SILENCE, Service, StartError, listen, listen_for};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

mod client;
mod database;
mod ending;
mod models;
mod reuseport;
mod runtimes;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

const ALL: [Model; 9] = [
    Model::Single,
    Model::Pool(3),
    Model::ThreadPerConnection,
    Model::ForkPerRequest,
    Model::PreFork(3),
    Model::EventLoop,
    Model::IoUring,
    Model::ReusePort(2),
    Model::Tokio(2),
];

/// All models of our own that this system lets us have.
fn models() -> Vec<Model> {
    ALL.into_iter().filter(|model| *model != Model::IoUring || has_io_uring()).collect()
}

fn has_io_uring() -> bool {
    let mut server = Running::start(listen(1).unwrap(), &plan(Model::IoUring), &[]).unwrap();
    match server.wait_until_ready(PATIENCE) {
        Err(StartError::Missing(needs)) => {
            assert!(needs.contains("io_uring"), "{needs}");
            false
        }
        ready => {
            ready.unwrap();
            true
        }
    }
}

fn plan(model: Model) -> Plan {
    Plan { model, service: Service::Nothing, keep_alive: true }
}

fn start(plan: &Plan) -> Running {
    start_with(plan, SILENCE)
}

fn start_with(plan: &Plan, silence: Duration) -> Running {
    let listener = listen_for(plan.model, 128).unwrap();
    let mut server = Running::start_with(listener, plan, &[], silence).unwrap();
    server.wait_until_ready(PATIENCE).unwrap();
    server
}

/// Waits until something holds.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
