//! Servers of other runtimes: those whose runtime is installed here; of the others, what they lack.

use super::client::{Client, GET};
use super::*;
use crate::serve::{Runtime, StartError};
use std::path::Path;

const RUNTIMES: [Runtime; 6] = [
    Runtime::Go,
    Runtime::JavaThreads,
    Runtime::JavaVirtual,
    Runtime::Node,
    Runtime::PythonThreads,
    Runtime::PythonAsyncio,
];

fn start_program(runtime: Runtime, folder: &Path, service: Service, keep_alive: bool) -> Running {
    let plan = Plan { model: Model::Runtime(runtime), service, keep_alive };
    let listener = listen(128).unwrap();
    let mut server = Running::start_program(listener, &plan, runtime, &[], folder).unwrap();
    server.wait_until_ready(PATIENCE).unwrap_or_else(|error| panic!("{runtime:?}: {error}"));
    server
}

#[test]
fn they_answer_compute_keep_or_end_connections_and_end_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    for runtime in RUNTIMES {
        match runtime.prepare(folder.path()) {
            Err(StartError::Missing(needs)) => {
                assert!(needs.starts_with("needs ") && needs.contains('('), "{needs}");
                continue;
            }
            prepared => prepared.unwrap(),
        }
        let wait = Service::Wait(Duration::from_millis(1));
        let server = start_program(runtime, folder.path(), wait, true);
        let mut client = Client::to(server.address());
        for _ in 0..3 {
            let answer = client.ask(GET);
            assert_eq!((answer.status, answer.body.len(), answer.ends()), (200, 23, false));
        }
        assert_eq!(server.end(PATIENCE).unwrap().code, Some(0), "{runtime:?}");

        let need = Duration::from_millis(20);
        let server = start_program(runtime, folder.path(), Service::Compute(need), false);
        let cpu = || sys::clock::process_cpu_ns_of(server.pid()).unwrap();
        let before = cpu();
        let mut client = Client::to(server.address());
        assert_eq!(client.ask(GET).status, 200, "{runtime:?}");
        assert!(client.is_left(), "{runtime:?}");
        // Java's number of steps was timed beforehand, perhaps on a slower CPU.
        let used = Duration::from_nanos(cpu() - before);
        assert!(used >= need / 4, "{runtime:?}: {used:?}");
    }
}

#[test]
fn every_tenth_request_of_a_mixture_computes() {
    let need = Duration::from_millis(30);
    let wait = Duration::from_millis(1);
    let service = Service::Mixed { wait, compute: need, every: 10 };
    let plan = Plan { service, ..plan(Model::PreFork(3)) };
    let server = start(&plan);
    let cpu = || -> u64 {
        let family = server.family();
        family.iter().filter_map(|pid| sys::clock::process_cpu_ns_of(*pid)).sum()
    };
    let before = cpu();
    // The first of the ten was asked by who waited for the server.
    for _ in 0..9 {
        assert_eq!(Client::to(server.address()).ask(GET).status, 200);
    }
    let used = Duration::from_nanos(cpu() - before);
    assert!(used >= need && used < 2 * need + Duration::from_secs(1), "{used:?}");
}
